"""A file that changed and looks the same from all others (`model.interface`), put into the tables of a program.

What other files are told stays as it is; only places, documentation and what stands in bodies are others.
"""

from dataclasses import fields

from causalist.graph.file_symbols import FileNames, file_names
from causalist.graph.program.program import Program
from causalist.model.facts import FileFacts


def is_by_itself(program: Program, number: int) -> bool:
    """Whether the tables of a file follow from its own facts. In some languages imports of other files hold in it."""
    settings = program.files[number].settings
    return settings is None or not (settings.modules.above or settings.modules.projects)


def replace_file(program: Program, number: int, facts: FileFacts) -> None:
    """Puts `facts` in the place of those of a file that `is_by_itself`; they have the same interface."""
    names = program.files[number]
    if len(facts.definitions) != len(names.facts.definitions):
        raise ValueError("a file with other definitions does not look the same")
    # Others refer to this very object.
    made = file_names(names.path, facts, names.first, names.settings)
    for field in fields(FileNames):
        setattr(names, field.name, getattr(made, field.name))
    if names.has_folders:
        program.name_packages(names)
    program.definition_of[names.first : names.first + len(facts.definitions)] = facts.definitions
