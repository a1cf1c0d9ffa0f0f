"""Interfaces that types implement without saying so, by having all their methods.

In: a program and the language's table of its standard library. Out: pairs (type, interface). Methods are compared by
name and by the types that their signatures name, without the names of parameters, each type by the one name that it has
everywhere. Methods that a type is given by what it embeds count, as far as that is in the repository or in the table.
An interface that embeds any other asks for methods that nobody here knows, so nothing is said of it.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from causalist.graph.program.program import Program
from causalist.model.facts import MODULE_SCOPE
from causalist.model.symbols import NodeKind
from causalist.model.type_notation import closing_bracket, split_outside

_BRACKET_OR_COMMA = re.compile(r"[()\[\]{},]")
_NAMED = re.compile(r"([^\W\d]\w*)\s+(\S.*)")
_TYPE_WORDS = frozenset({"chan", "func", "map", "struct", "interface"})
_TYPE_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)?")
_FUNCTION = re.compile(r"\bfunc\s*\(")
_CUT = "…"  # ends a signature that is not kept as a whole


def comparable_signature(signature: str, name: str, canonical: Callable[[str], str] = str) -> str:
    """Return the types of parameters and results in a method's signature.

    `canonical` gives a type's name one meaning everywhere.

    >>> comparable_signature("func (s *S) Get(a, b int, f func(x int) error) (*p.T, error)", "Get")
    '(int,int,func(int)(error))(*p.T,error)'
    >>> comparable_signature("Get(int, int, func(x int) error) (t *p.T, err error)", "Get")
    '(int,int,func(int)(error))(*p.T,error)'
    """
    matched = re.search(rf"(?:^|\)\s*|\s){re.escape(name)}\(", signature)
    if matched is None or _CUT in signature:
        return _CUT
    return _function_types(signature[matched.end() - 1 :], canonical)


def _function_types(text: str, canonical: Callable[[str], str]) -> str:
    """Return the parameter and result types of a signature such as `(a, b A) (c C)`."""
    end = closing_bracket(text, 0)
    if end < 0:
        end = len(text)
    results = text[end + 1 :].strip()
    if results.startswith("(") and closing_bracket(results, 0) == len(results) - 1:
        results = results[1:-1]
    return f"({_types(text[1:end], canonical)})({_types(results, canonical)})"


def _types(text: str, canonical: Callable[[str], str]) -> str:
    parts = [part for part in map(str.strip, split_outside(text, ",", _BRACKET_OR_COMMA)) if part]
    named = [_NAMED.fullmatch(part) for part in parts]
    if any(n and n[1] not in _TYPE_WORDS for n in named):
        written = ""
        types: list[str] = []
        for part, name in zip(reversed(parts), reversed(named), strict=True):
            written = name[2] if name and name[1] not in _TYPE_WORDS else written or part
            types.insert(0, written)
        parts = types
    return ",".join(_plain_type(part, canonical) for part in parts)


def _plain_type(text: str, canonical: Callable[[str], str]) -> str:
    inner = _FUNCTION.search(text)
    if inner:
        before, rest = text[: inner.start()], text[inner.end() - 1 :]
        return f"{_plain_type(before, canonical)}func{_function_types(rest, canonical)}"
    text = re.sub(r"\s*([()\[\]{},])\s*", r"\1", text.replace("interface{}", "any").replace("interface {}", "any"))
    return _TYPE_NAME.sub(lambda matched: canonical(matched[0]), text)


_CONCRETE = "func "  # before the methods of a type that is no interface
_MAX_DEPTH = 8  # types that have the methods of others


@dataclass(slots=True)
class StandardTypes:
    """Types of the standard library, from the settings of a language.

    `listed` maps types, by the path of their package and their name, to the methods and types that they have.
    """

    listed: dict[str, tuple[str, ...]]
    _folders: dict[str, str] = field(init=False)
    _methods: dict[str, dict[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        paths = (name.rpartition(".")[0] for name in self.listed)
        self._folders = {path.rpartition("/")[2]: path for path in paths if "/" in path}

    def __contains__(self, name: str) -> bool:
        return name in self.listed

    def is_interface(self, name: str) -> bool:
        """Return True if the listed type is an interface."""
        return not any(entry.startswith(_CONCRETE) for entry in self.listed[name])

    def canonical_name(self, name: str) -> str:
        """Return the name of the type that an alias stands for, or the name itself.

        >>> known = StandardTypes({"os.FileInfo": ("io/fs.FileInfo",), "io/fs.FileInfo": ("IsDir() bool",)})
        >>> known.canonical_name("os.FileInfo"), known.canonical_name("io/fs.FileInfo"), known.methods("os.FileInfo")
        ('io/fs.FileInfo', 'io/fs.FileInfo', {'IsDir': '()(bool)'})
        """
        entries = self.listed.get(name, ())
        return entries[0] if len(entries) == 1 and "(" not in entries[0] else name

    def methods(self, name: str, depth: int = 0) -> dict[str, str]:
        """Return the signatures of the type's methods by name, in the form of `comparable_signature`."""
        found = self._methods.get(name)
        if found is None:
            found = {}
            for entry in self.listed.get(name, ()) if depth < _MAX_DEPTH else ():
                if "(" in entry:
                    method = entry.removeprefix(_CONCRETE).partition("(")[0]
                    found[method] = comparable_signature(entry, method, self._table_name)
                else:
                    found.update(self.methods(entry, depth + 1))
            self._methods[name] = found
        return found

    def _table_name(self, name: str) -> str:
        """Return the table's name of a type that a signature names by the last part of its package's path."""
        head, dot, last = name.partition(".")
        return self.canonical_name(f"{self._folders.get(head, head)}{dot}{last}")


_MAX_METHODS = 200
_MAX_ALIASES = 8  # names for one type, of which each stands for the next


@dataclass(slots=True)
class _MethodSignatures:
    """Comparable signatures of the methods of all types.

    Methods of types outside of the repository have negative numbers.
    """

    types: "StructuralTypes"
    known: StandardTypes
    signatures: dict[int, str] = field(default_factory=dict)
    _standard_methods: dict[tuple[str, str], int] = field(default_factory=dict)

    def methods_of_standard_type(self, name: str) -> dict[str, int]:
        result = {}
        for method, signature in self.known.methods(name).items():
            number = self._standard_methods.setdefault((name, method), -1 - len(self._standard_methods))
            self.signatures[number] = signature
            result[method] = number
        return result

    def signature(self, number: int, name: str) -> str:
        if number not in self.signatures:
            definition = self.types.program.definition_of[number]
            canonical = partial(self._canonical_name, self.types.program.file_of[number])
            self.signatures[number] = comparable_signature(definition.signature, name, canonical)
        return self.signatures[number]

    def _canonical_name(self, file: int, written: str) -> str:
        """Return a name for a type that is the same in all files: a definition's number, or package and name."""
        program = self.types.program
        for _ in range(_MAX_ALIASES):
            head, dot, last = written.partition(".")
            if not dot:
                number = self.types.find_definition(file, head)
            else:
                entry = program.files[file].imports.get(MODULE_SCOPE, {}).get(head)
                if entry is None:
                    return written
                target, _ = program.target_module(file, entry)
                number = program.packages.find_definition(target, last, program.files) if target >= 0 else None
                if number is None:
                    return self.known.canonical_name(f"{entry.module}.{last}")
            if number is None:
                return written
            other = self._other_name(number)
            if not other:
                return f"#{number}"
            file, written = program.file_of[number], other
        return written

    def _other_name(self, number: int) -> str:
        """Return the type that a definition is an alias of: `type A = p.B`."""
        program = self.types.program
        definition = program.definition_of[number]
        if definition.kind != NodeKind.TYPE or "=" not in definition.signature:
            return ""
        symbols = program.files[program.file_of[number]]
        other = symbols.returns.get(number - symbols.first, "")
        return other if _TYPE_NAME.fullmatch(other) else ""

    def has_all(self, own: dict[str, int], wanted: dict[str, int]) -> bool:
        """Return True if a type with the methods `own` implements an interface with the methods `wanted`."""
        for name, signature in wanted.items():
            had = own.get(name)
            if had is None:
                return False
            if not name[0].isupper() and not self.types.are_in_one_package(had, signature):
                return False  # nobody else can have a method that only this package sees
            a, b = self.signature(had, name), self.signature(signature, name)
            if a != b and _CUT not in a + b:
                return False
        return True


@dataclass(frozen=True, slots=True)
class StructuralTypes:
    """The types of a program that implement interfaces by having their methods."""

    program: Program

    def _standard_bases(self, known: StandardTypes) -> tuple[dict[int, list[str]], set[int]]:
        """Return standard types by the type that embeds or is made of them, and types with an unknown base."""
        ids_by_type: dict[int, list[str]] = {}
        unknown: set[int] = set()
        for file, symbols in enumerate(self.program.files):
            if symbols.settings is None or not symbols.settings.types.structural:
                continue
            for base in symbols.facts.bases:
                name = self._external_name(file, base.name)
                if name in known:
                    ids_by_type.setdefault(symbols.first + base.definition, []).append(name)
                elif name:
                    unknown.add(symbols.first + base.definition)
        for number in sorted(self.program.named_types):
            file = self.program.file_of[number]
            symbols = self.program.files[file]
            name = self._external_name(file, symbols.returns.get(number - symbols.first, ""))
            if name in known and known.is_interface(name) and "=" not in self.program.definition_of[number].signature:
                ids_by_type.setdefault(number, []).append(name)
        return ids_by_type, unknown

    def _external_name(self, file: int, written: str) -> str:
        """Return the qualified name of an external type by its package path; "" for a type of the repository."""
        head, dot, last = written.partition(".")
        if not dot:
            return "" if self.find_definition(file, head) is not None else head
        entry = self.program.files[file].imports.get(MODULE_SCOPE, {}).get(head)
        if entry is None or self.program.target_module(file, entry)[0] >= 0:
            return ""
        return f"{entry.module}.{last}"

    def find_definition(self, file: int, name: str) -> int | None:
        """Return the definition of an unqualified name, in this package or one imported as a whole."""
        number = self.program.packages.find_definition(file, name, self.program.files)
        for star in self.program.files[file].stars if number is None else ():
            target, _ = self.program.target_module(file, star)
            number = self.program.packages.find_definition(target, name, self.program.files) if target >= 0 else None
            if number is not None:
                break
        return number

    def find_implementations(self, derived_from_outside: set[int]) -> Iterator[tuple[int, int]]:
        """Yield (type, interface) in the order of their numbers."""
        if not any(
            symbols.settings is not None and symbols.settings.types.structural for symbols in self.program.files
        ):
            return
        method_sets = dict(
            each for symbols in self.program.files if symbols.settings for each in symbols.settings.types.outside
        )
        methods = _MethodSignatures(self, StandardTypes(method_sets))
        outside, unknown = self._standard_bases(methods.known)
        unknown |= derived_from_outside.difference(outside)
        interfaces: list[tuple[int, dict[str, int]]] = []
        having: dict[str, list[int]] = {}  # name of a method -> types that have it
        methods_of: dict[int, dict[str, int]] = {}
        members = self.methods_of_types()
        for number, definition in enumerate(self.program.definition_of):
            settings = self.program.files[self.program.file_of[number]].settings
            if settings is None or not settings.types.structural or not self.program.is_type(number):
                continue
            bases = self.program.linear_bases(number)
            found: dict[str, int] = {}
            for base in bases:
                for name, method in members.get(base, {}).items():
                    found.setdefault(name, method)
            for base in bases:
                for included in outside.get(base, ()):
                    for name, method in methods.methods_of_standard_type(included).items():
                        found.setdefault(name, method)
            stands_for_one = definition.kind == NodeKind.TYPE and number in outside
            is_interface = any(self.program.definition_of[b].kind == NodeKind.INTERFACE for b in (bases[0], bases[-1]))
            if definition.kind == NodeKind.INTERFACE or stands_for_one:
                if 0 < len(found) <= _MAX_METHODS and not unknown.intersection(bases):
                    interfaces.append((number, found))
            elif not (definition.kind == NodeKind.TYPE and (is_interface or "=" in definition.signature)):
                methods_of[number] = found
                for name in found:
                    having.setdefault(name, []).append(number)
        for interface, wanted in interfaces:
            rarest = min(wanted, key=lambda name: (len(having.get(name, ())), name))
            for each in having.get(rarest, ()):
                if self.program.packages.is_asked_for(self.program.file_of[interface], self.program.file_of[each]):
                    continue
                if methods.has_all(methods_of[each], wanted):
                    yield each, interface

    def methods_of_types(self) -> dict[int, dict[str, int]]:
        """Return the methods of each type, by name."""
        result: dict[int, dict[str, int]] = {}
        for number, definition in enumerate(self.program.definition_of):
            if definition.kind == NodeKind.METHOD:
                owner = self.program.owner_of.get(number, self.program.parent(number))
                if owner >= 0:
                    result.setdefault(owner, {}).setdefault(definition.name, number)
        return result

    def are_in_one_package(self, a: int, b: int) -> bool:
        """Return True if two methods belong to one package; the package of an external method contains it alone."""
        if a < 0 or b < 0:
            return a == b
        package_of = self.program.packages.package_of
        return package_of[self.program.file_of[a]] == package_of[self.program.file_of[b]]
