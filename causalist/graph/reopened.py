"""Languages in which a type may be declared again, in the same file or another, and is one type with all members of
its declarations; and in which naming a function calls it.

Each declaration is a definition of its own. The first one stands for the type where something is known of it as a
whole; of several members with one name those of the same declaration's file come first, then the first of a file that
is no test or example.
"""

from typing import TYPE_CHECKING

from causalist.graph import receivers
from causalist.graph.found import Value
from causalist.graph.roles import role_of
from causalist.model.symbols import CALLABLE_KINDS, TYPE_KINDS, NodeKind, Role

if TYPE_CHECKING:
    from causalist.graph.names import Program
    from causalist.graph.values import Values

_ASIDE = frozenset({Role.TEST, Role.EXAMPLE, Role.DOCS, Role.VENDORED})


def join_types(program: "Program") -> None:
    """Fills `canonical` and `attached` of a program."""
    files = [i for i, f in enumerate(program.files) if f.settings is not None and f.settings.modules.reopened]
    files.sort(key=lambda i: role_of(program.files[i].path) in _ASIDE)
    declared: dict[tuple[str, str], list[int]] = {}
    for file in files:
        names = program.files[file]
        for local, definition in enumerate(names.facts.definitions):
            if definition.kind in TYPE_KINDS or definition.kind == NodeKind.NAMESPACE:
                declared.setdefault((_family(program, file), definition.qualname), []).append(names.first + local)
    for group in declared.values():
        program.canonical.update(dict.fromkeys(group, group[0]))
    for file in files:
        names = program.files[file]
        for local, definition in enumerate(names.facts.definitions):
            group = declared.get((_family(program, file), definition.qualname.rpartition(".")[0]), [])
            if group and (len(group) > 1 or program.parent(names.first + local) != group[0]):
                program.attached.setdefault((group[0], definition.name), names.first + local)


def join_bases(program: "Program") -> None:
    """Gives each declaration of a type the bases of all."""
    together: dict[int, list[int]] = {}
    for number, first in program.canonical.items():
        bases = [each for each in program.bases(number) if program.canonical.get(each, each) != first]
        if bases:
            together.setdefault(first, []).extend(bases)
    for number, first in program.canonical.items():
        if first in together:
            program.set_bases(number, list(dict.fromkeys(together[first])))


def ran(values: "Values", value: Value | None) -> Value | None:
    """What a function gives whose name stands for a call of it; any other value as it is."""
    if value is None or value.kind != "definition":
        return value
    is_function = values.program.definition_of[value.number].kind in CALLABLE_KINDS
    return receivers.called(values, value) if is_function else value


def _family(program: "Program", file: int) -> str:
    settings = program.files[file].settings
    return settings.family if settings is not None else ""
