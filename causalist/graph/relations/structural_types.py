"""Which types implement which interfaces, where nobody says so: a type that has all methods of an interface does.

Methods are compared by name and by the types that their signatures name, without the names of parameters. Methods that
a type is given by what it embeds count, as far as that is in the repository or in the language's table of its standard
library. An interface that embeds any other asks for methods that nobody here knows, so nothing is said of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from causalist.graph.program.program import Program
from causalist.graph.relations.outside_types import OutsideTypes, defined, outside_bases
from causalist.graph.relations.signature_types import CUT, DOTTED, comparable
from causalist.model.facts import MODULE_SCOPE
from causalist.model.symbols import NodeKind

_MOST_METHODS = 200
_MOST_NAMES = 8  # names for one type, of which each stands for the next


@dataclass(slots=True)
class _Methods:
    """Methods of all types. Those of types outside of the repository have negative numbers."""

    program: Program
    known: OutsideTypes
    signatures: dict[int, str] = field(default_factory=dict)
    _outside: dict[tuple[str, str], int] = field(default_factory=dict)

    def of_outside(self, name: str) -> dict[str, int]:
        result = {}
        for method, signature in self.known.methods(name).items():
            number = self._outside.setdefault((name, method), -1 - len(self._outside))
            self.signatures[number] = signature
            result[method] = number
        return result

    def signature(self, number: int, name: str) -> str:
        if number not in self.signatures:
            known_as = partial(self._meaning, self.program.file_of[number])
            self.signatures[number] = comparable(self.program.definition_of[number].signature, name, known_as)
        return self.signatures[number]

    def _meaning(self, file: int, written: str) -> str:
        """A name for a type that is the same in all files: a definition's number, or the package and the name."""
        program = self.program
        for _ in range(_MOST_NAMES):
            head, dot, last = written.partition(".")
            if not dot:
                number = defined(program, file, head)
            else:
                entry = program.files[file].imports.get(MODULE_SCOPE, {}).get(head)
                if entry is None:
                    return written
                target, _ = program.target_module(file, entry)
                number = program.packages.definition(target, last, program.files) if target >= 0 else None
                if number is None:
                    return self.known.known_as(f"{entry.module}.{last}")
            if number is None:
                return written
            other = self._other_name(number)
            if not other:
                return f"#{number}"
            file, written = program.file_of[number], other
        return written

    def _other_name(self, number: int) -> str:
        """The type that a definition only gives another name to: `type A = p.B`."""
        definition = self.program.definition_of[number]
        if definition.kind != NodeKind.TYPE or "=" not in definition.signature:
            return ""
        names = self.program.files[self.program.file_of[number]]
        other = names.returns.get(number - names.first, "")
        return other if DOTTED.fullmatch(other) else ""


def implementations(program: Program, derived_from_outside: set[int]) -> Iterator[tuple[int, int]]:
    """(type, interface) in the order of their numbers."""
    if not any(names.settings is not None and names.settings.types.structural for names in program.files):
        return
    listed = dict(each for names in program.files if names.settings for each in names.settings.types.outside)
    methods = _Methods(program, OutsideTypes(listed))
    outside, unknown = outside_bases(program, methods.known)
    unknown |= derived_from_outside.difference(outside)
    interfaces: list[tuple[int, dict[str, int]]] = []
    having: dict[str, list[int]] = {}  # name of a method -> types that have it
    methods_of: dict[int, dict[str, int]] = {}
    members = methods_of_types(program)
    for number, definition in enumerate(program.definition_of):
        settings = program.files[program.file_of[number]].settings
        if settings is None or not settings.types.structural or not program.is_type(number):
            continue
        bases = program.linear_bases(number)
        found: dict[str, int] = {}
        for base in bases:
            for name, method in members.get(base, {}).items():
                found.setdefault(name, method)
        for base in bases:
            for given in outside.get(base, ()):
                for name, method in methods.of_outside(given).items():
                    found.setdefault(name, method)
        stands_for_one = definition.kind == NodeKind.TYPE and number in outside
        is_interface = any(program.definition_of[b].kind == NodeKind.INTERFACE for b in (bases[0], bases[-1]))
        if definition.kind == NodeKind.INTERFACE or stands_for_one:
            if 0 < len(found) <= _MOST_METHODS and not unknown.intersection(bases):
                interfaces.append((number, found))
        elif not (definition.kind == NodeKind.TYPE and (is_interface or "=" in definition.signature)):
            methods_of[number] = found
            for name in found:
                having.setdefault(name, []).append(number)
    for interface, wanted in interfaces:
        rarest = min(wanted, key=lambda name: (len(having.get(name, ())), name))
        for each in having.get(rarest, ()):
            if program.packages.is_asked_for(program.file_of[interface], program.file_of[each]):
                continue
            if _has_all(methods, methods_of[each], wanted):
                yield each, interface


def methods_of_types(program: Program) -> dict[int, dict[str, int]]:
    """The methods of each type, by name."""
    result: dict[int, dict[str, int]] = {}
    for number, definition in enumerate(program.definition_of):
        if definition.kind == NodeKind.METHOD:
            owner = program.owner_of.get(number, program.parent(number))
            if owner >= 0:
                result.setdefault(owner, {}).setdefault(definition.name, number)
    return result


def _has_all(methods: _Methods, own: dict[str, int], wanted: dict[str, int]) -> bool:
    for name, asked in wanted.items():
        had = own.get(name)
        if had is None:
            return False
        if not name[0].isupper() and not _in_one_package(methods.program, had, asked):
            return False  # nobody else can have a method that only this package sees
        a, b = methods.signature(had, name), methods.signature(asked, name)
        if a != b and CUT not in a + b:
            return False
    return True


def _in_one_package(program: Program, a: int, b: int) -> bool:
    if a < 0 or b < 0:
        return a == b
    package_of = program.packages.package_of
    return package_of[program.file_of[a]] == package_of[program.file_of[b]]
