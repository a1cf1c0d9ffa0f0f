"""Types that may be declared again, in the same file or another, and are one type with all members of its declarations.

Each declaration is a definition of its own. The first one, in the order of the files, those of tests and examples last,
stands for the type where something is known of it as a whole. A member is looked for in the declaration that was
found, and then in all of them in that order.
"""

import posixpath
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from causalist.graph.file_symbols import FileNames
from causalist.model.facts import Definition
from causalist.model.language import LanguageSettings
from causalist.model.roles import role_of
from causalist.model.symbols import CALLABLE_KINDS, TYPE_KINDS, NodeKind, Role

if TYPE_CHECKING:
    from causalist.graph.program.program import Program

_ASIDE = frozenset({Role.TEST, Role.EXAMPLE, Role.DOCS, Role.VENDORED})


def join_types(program: "Program") -> None:
    """Fills `canonical` of a program, and `attached` with the members of all declarations."""
    files = [names for names in program.files if names.settings is not None and _has_several(names.settings)]
    files.sort(key=lambda names: role_of(names.path) in _ASIDE)
    declared: dict[tuple[str, str], list[int]] = {}
    for names in files:
        for local, definition in enumerate(names.facts.definitions):
            if _is_open(names, definition):
                declared.setdefault(_key(names, definition.qualname), []).append(names.first + local)
    for group in declared.values():
        program.canonical.update(dict.fromkeys(group, group[0]))
    for names in files:
        assert names.settings is not None
        for local, definition in enumerate(names.facts.definitions):
            group = declared.get(_key(names, definition.qualname.rpartition(".")[0]), [])
            parent = program.parent(names.first + local)
            is_inside = bool(group) and program.canonical.get(parent) == group[0]
            # `module Shop.Door` is known as the `Door` of `Shop` although it does not stand in it.
            is_named_so = bool(group) and not is_inside and names.settings.modules.reopened
            if is_named_so or (is_inside and (len(group) > 1 or parent != group[0])):
                program.attached.setdefault((group[0], definition.name), []).append(names.first + local)


def join_bases(program: "Program") -> None:
    """Gives each declaration of a type the bases of all."""
    together: dict[int, dict[int, None]] = {}
    for number, first in program.canonical.items():
        others = [each for each in program.bases(number) if program.canonical.get(each, each) != first]
        if others:
            together.setdefault(first, {}).update(dict.fromkeys(others))
    bases = {first: list(several) for first, several in together.items()}
    for number, first in program.canonical.items():
        if first in bases:
            program.set_bases(number, bases[first])


def overloads_of(program: "Program", function: int) -> tuple[list[int], list[int]]:
    """The functions that have the name of `function` where it is declared, in all declarations of its type; and those
    that are attached to the type. Nothing where functions of one name are not told apart."""
    definition = program.definition_of[function]
    same = program.files[program.file_of[function]].callables.get(definition.qualname, [])
    if function in program.extended:
        return [each for each in same if program.extended.get(each) == program.extended[function]], []
    owner = program.owner_of.get(function, program.parent(function))
    first = program.canonical.get(owner, owner)
    elsewhere = program.attached.get((first, definition.name), []) if same else []
    elsewhere = [each for each in elsewhere if program.definition_of[each].kind in CALLABLE_KINDS]
    return (elsewhere, []) if elsewhere and owner in program.canonical else (same, elsewhere)


def _has_several(settings: LanguageSettings) -> bool:
    return settings.modules.reopened or bool(settings.names.parts)


def _is_open(names: FileNames, definition: Definition) -> bool:
    """Whether there may be other declarations of what is defined."""
    assert names.settings is not None
    if names.settings.modules.reopened:
        return definition.kind in TYPE_KINDS or definition.kind == NodeKind.NAMESPACE
    return definition.kind in TYPE_KINDS and re.match(names.settings.names.parts, definition.signature) is not None


def _key(names: FileNames, qualname: str) -> tuple[str, str]:
    """What declarations of one type have in common: the family of their languages, and the name with its package."""
    assert names.settings is not None
    return names.settings.family, f"{names.facts.package}.{qualname}"


def as_one(program: "Program", found: Sequence[int]) -> Sequence[int]:
    """Of declarations of one type the one that a use of its name means: that in the file which is called like the type,
    or else the first. Several types stay several."""
    if len(found) < 2 or len({program.canonical.get(each, each) for each in found}) > 1:
        return found
    name = f"{program.definition_of[found[0]].name}."
    files = [posixpath.basename(program.files[program.file_of[each]].path) for each in found]
    called_so = [
        each for each, file in zip(found, files, strict=True) if file.startswith(name) and file.count(".") == 1
    ]
    return called_so[:1] or found[:1]
