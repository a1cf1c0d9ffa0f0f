"""Types of which the parts stand in several files: each part has the members and the bases of all."""

import re

from causalist.graph.names import Program
from causalist.model.symbols import TYPE_KINDS


def groups(program: Program) -> list[tuple[int, ...]]:
    """The parts of each type that says that it has several."""
    found = []
    for same in program.declared.types.values():
        settings = program.files[same[0][0]].settings
        if len(same) < 2 or settings is None or not settings.names.parts:
            continue
        definitions = [(number, program.definition_of[number]) for _, number in same]
        parts = [n for n, d in definitions if d.kind in TYPE_KINDS and re.match(settings.names.parts, d.signature)]
        if len(parts) > 1:
            found.append(tuple(parts))
    return found


def share_members(program: Program) -> None:
    """Makes the members of each part members of the others."""
    for parts in groups(program):
        for part in parts:
            names = program.files[program.file_of[part]]
            for local, definition in enumerate(names.facts.definitions):
                if definition.parent == part - names.first:
                    for other in parts:
                        if other != part:
                            program.attached.setdefault((other, definition.name), names.first + local)


def share_bases(program: Program) -> None:
    """Gives each part the bases of all."""
    for parts in groups(program):
        every = dict.fromkeys(base for part in parts for base in program.bases(part))
        for part in parts:
            program.set_bases(part, [base for base in every if base not in parts])
