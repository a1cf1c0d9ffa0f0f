"""Types that may be declared again, in the same file or another, and are one type with all members of its declarations.

Each declaration is a definition of its own. The first one, in the order of the files, those of tests and examples last,
stands for the type where something is known of it as a whole. A member is looked for in the declaration that was
found, and then in all of them in that order.
"""

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass

from causalist.graph.file_symbols import FileSymbols
from causalist.graph.program.program import Program
from causalist.model.facts import Definition
from causalist.model.language import LanguageSettings
from causalist.model.roles import role_of
from causalist.model.symbols import TYPE_KINDS, NodeKind, Role

_LAST_ROLES = frozenset({Role.TEST, Role.EXAMPLE, Role.DOCS, Role.VENDORED})


@dataclass(frozen=True, slots=True)
class PartialTypes:
    """The types of a program that have several declarations."""

    program: Program

    def join_types(self) -> None:
        """Fill `canonical` of the program, and `attached` with the members of all declarations."""
        program = self.program
        files = [
            symbols
            for symbols in program.files
            if symbols.settings is not None and _has_partial_types(symbols.settings)
        ]
        files.sort(key=lambda symbols: role_of(symbols.path) in _LAST_ROLES)
        declared: dict[tuple[str, str], list[int]] = {}
        for symbols in files:
            for local, definition in enumerate(symbols.facts.definitions):
                if _is_open(symbols, definition):
                    declared.setdefault(_key(symbols, definition.qualname), []).append(symbols.first + local)
        for group in declared.values():
            program.canonical.update(dict.fromkeys(group, group[0]))
        for symbols in files:
            assert symbols.settings is not None
            for local, definition in enumerate(symbols.facts.definitions):
                group = declared.get(_key(symbols, definition.qualname.rpartition(".")[0]), [])
                parent = program.parent(symbols.first + local)
                is_inside = bool(group) and program.canonical.get(parent) == group[0]
                # `module Shop.Door` is known as the `Door` of `Shop` although it does not stand in it.
                is_named_so = bool(group) and not is_inside and symbols.settings.modules.reopened
                if is_named_so or (is_inside and (len(group) > 1 or parent != group[0])):
                    program.attached.setdefault((group[0], definition.name), []).append(symbols.first + local)

    def join_bases(self) -> None:
        """Give each declaration of a type the bases of all."""
        program = self.program
        together: dict[int, dict[int, None]] = {}
        for number, first in program.canonical.items():
            others = [each for each in program.bases_of(number) if program.canonical.get(each, each) != first]
            if others:
                together.setdefault(first, {}).update(dict.fromkeys(others))
        bases = {first: list(several) for first, several in together.items()}
        for number, first in program.canonical.items():
            if first in bases:
                program.set_bases(number, bases[first])

    def select_declaration(self, found: Sequence[int]) -> Sequence[int]:
        """Return, of declarations of one type, the one that a use of its name means.

        It is the one in the file which is called like the type, else the first. Several types stay several.
        """
        program = self.program
        if len(found) < 2 or len({program.canonical.get(each, each) for each in found}) > 1:
            return found
        name = f"{program.definition_of[found[0]].name}."
        files = [posixpath.basename(program.files[program.file_of[each]].path) for each in found]
        called_so = [
            each for each, file in zip(found, files, strict=True) if file.startswith(name) and file.count(".") == 1
        ]
        return called_so[:1] or found[:1]


def _has_partial_types(settings: LanguageSettings) -> bool:
    return settings.modules.reopened or bool(settings.names.partial_type_pattern)


def _is_open(symbols: FileSymbols, definition: Definition) -> bool:
    """Return True if a type may have further declarations."""
    assert symbols.settings is not None
    if symbols.settings.modules.reopened:
        return definition.kind in TYPE_KINDS or definition.kind == NodeKind.NAMESPACE
    return (
        definition.kind in TYPE_KINDS
        and re.match(symbols.settings.names.partial_type_pattern, definition.signature) is not None
    )


def _key(symbols: FileSymbols, qualname: str) -> tuple[str, str]:
    """Return the language family and the qualified name of a type, which all its declarations share."""
    assert symbols.settings is not None
    return symbols.settings.family, f"{symbols.facts.package}.{qualname}"
