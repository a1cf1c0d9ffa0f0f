"""What a name may mean where types and values have names of their own, and objects methods of their own."""

from causalist.graph.program.program import Program
from causalist.model.symbols import NodeKind


def as_type(program: Program, definition: int) -> int:
    """The type that has the name of a value, where both may have it; else the definition itself."""
    names = program.files[program.file_of[definition]]
    return names.types.get(program.definition_of[definition].qualname, definition) if names.types else definition


def is_mere_type(program: Program, definition: int) -> bool:
    """Whether it is nothing that can be called, in a language that keeps types apart from values."""
    settings = program.files[program.file_of[definition]].settings
    kind = program.definition_of[definition].kind
    return settings is not None and settings.names.types_apart and kind in (NodeKind.INTERFACE, NodeKind.TYPE)


def is_alias(program: Program, definition: int) -> bool:
    """Whether it is a name for a type that is written out elsewhere, not a type to derive from."""
    return program.definition_of[definition].kind == NodeKind.TYPE and is_mere_type(program, definition)


def is_object_method(program: Program, definition: int) -> bool:
    """Whether it is known to the object alone that holds it: no bare name means it."""
    if program.definition_of[definition].kind != NodeKind.METHOD:
        return False
    parent = program.parent(definition)
    return parent < 0 or not program.is_type(parent)


def is_constructor(program: Program, definition: int) -> bool:
    """Whether it is a function that makes objects: where members are put behind a function, it has some."""
    names = program.files[program.file_of[definition]]
    if names.settings is None or not names.settings.names.assigned_infixes:
        return False
    return program.definition_of[definition].qualname in names.holders or len(program.linear_bases(definition)) > 1
