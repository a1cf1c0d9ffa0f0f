"""Methods that override or implement others, and interfaces that types implement without saying so.

In: a program whose bases are known, and the language's table of its standard library. Out: pairs of methods with the
rule that found them, and pairs (type, interface). Methods of bases are found by name, those of traits by the block that
they stand in, those of interfaces that no type names by the set of methods.

A method overrides the nearest one of each base that has it, so that a chain of overriding methods is a chain of edges.
Methods that cannot be overridden are left out: constructors, private and static methods, as the language's settings
say. Where functions of one name are told apart by their parameters, an overriding method has the same ones.

A type implements an interface if it has all its methods. Methods are compared by name and by the types that their
signatures name, without the names of parameters, each type by the one name that it has everywhere. Methods of
embedded types count if these are in the repository or in the table. An interface that embeds any other type asks for
unknown methods, so no type is said to implement it.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import NamedTuple

from causalist._internal.lazy import dataclass, field, lazy_regex
from causalist.graph.overload_fit import without_optional_marks
from causalist.graph.program import Program
from causalist.graph.rules import RuleName
from causalist.model.facts import MODULE_SCOPE
from causalist.model.language_settings import LanguageSettings
from causalist.model.node_ids import CALLABLE_KINDS, NodeKind
from causalist.model.type_notation import closing_bracket, split_outside

_BRACKET_OR_COMMA = lazy_regex(r"[()\[\]{},]")
_NAMED = lazy_regex(r"([^\W\d]\w*)\s+(\S.*)")
_TYPE_WORDS = frozenset({"chan", "func", "map", "struct", "interface"})
_TYPE_NAME = lazy_regex(r"[^\W\d]\w*(?:\.[^\W\d]\w*)?")
_FUNCTION = lazy_regex(r"\bfunc\s*\(")
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
        signatures = self._methods.get(name)
        if signatures is None:
            signatures = {}
            for entry in self.listed.get(name, ()) if depth < _MAX_DEPTH else ():
                if "(" in entry:
                    method = entry.removeprefix(_CONCRETE).partition("(")[0]
                    signatures[method] = comparable_signature(entry, method, self._table_name)
                else:
                    signatures.update(self.methods(entry, depth + 1))
            self._methods[name] = signatures
        return signatures

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
                return False  # other packages cannot have a method that only this package sees
            a, b = self.signature(had, name), self.signature(signature, name)
            if a != b and _CUT not in a + b:
                return False
        return True


@dataclass(frozen=True, slots=True)
class StructuralTypes:
    """The types of a program that implement interfaces by having their methods."""

    program: Program

    def _standard_bases(self, standard_types: StandardTypes) -> tuple[dict[int, list[str]], set[int]]:
        """Return standard types by the type that embeds or is made of them, and types with an unknown base."""
        ids_by_type: dict[int, list[str]] = {}
        unknown: set[int] = set()
        for file, symbols in enumerate(self.program.files):
            if symbols.settings is None or not symbols.settings.types.structural:
                continue
            for base in symbols.facts.bases:
                name = self._external_name(file, base.name)
                if name in standard_types:
                    ids_by_type.setdefault(symbols.first + base.definition, []).append(name)
                elif name:
                    unknown.add(symbols.first + base.definition)
        for number in sorted(self.program.named_types):
            file = self.program.file_of[number]
            symbols = self.program.files[file]
            name = self._external_name(file, symbols.returns.get(number - symbols.first, ""))
            if (
                name in standard_types
                and standard_types.is_interface(name)
                and "=" not in self.program.definition_of[number].signature
            ):
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
            method_by_name: dict[str, int] = {}
            for base in bases:
                for name, method in members.get(base, {}).items():
                    method_by_name.setdefault(name, method)
            for base in bases:
                for included in outside.get(base, ()):
                    for name, method in methods.methods_of_standard_type(included).items():
                        method_by_name.setdefault(name, method)
            stands_for_one = definition.kind == NodeKind.TYPE and number in outside
            is_interface = any(self.program.definition_of[b].kind == NodeKind.INTERFACE for b in (bases[0], bases[-1]))
            if definition.kind == NodeKind.INTERFACE or stands_for_one:
                if 0 < len(method_by_name) <= _MAX_METHODS and not unknown.intersection(bases):
                    interfaces.append((number, method_by_name))
            elif not (definition.kind == NodeKind.TYPE and (is_interface or "=" in definition.signature)):
                methods_of[number] = method_by_name
                for name in method_by_name:
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


_WORD = lazy_regex(r"\w+")
_MANY_BASES = 20  # of one type: they are searched only for a name that another method has


class Override(NamedTuple):
    """Method that overrides or implements another, `base`; both are numbers of definitions."""

    method: int
    base: int
    rule: str


@dataclass(frozen=True, slots=True)
class OverrideFinder:
    """Finder of the methods of a program that override or implement others."""

    program: Program

    def find(
        self,
        blocks: Iterable[tuple[int, int, int]],
        by_method_set: Iterable[tuple[int, int]],
        only: Collection[int] | None = None,
    ) -> Iterator[Override]:
        """Yield all overrides, by rule, then by the number of the method.

        With `only`, at least those of methods in these files are found. `blocks` are (trait, first, end): the
        definitions of a block that implements a trait. `by_method_set` are (type, interface) where no code says that
        one implements the other.
        """
        yield from self._overrides_of_bases(range(len(self.program.files)) if only is None else sorted(only))
        for trait, first, end in blocks:
            for method in range(first, end):
                base = self.program.find_own_member(trait, self.program.definition_of[method].name)
                if base >= 0 and base != method and self._is_callable(method) and self._is_callable(base):
                    yield Override(method, base, RuleName.TRAIT_METHOD)
        yield from self._overrides_of_method_sets(by_method_set)

    def _overrides_of_bases(self, files: Iterable[int]) -> Iterator[Override]:
        program = self.program
        tables = (program.files[each] for each in files)
        methods = (numbered for symbols in tables for numbered in enumerate(symbols.facts.definitions, symbols.first))
        for number, definition in methods:
            if definition.kind not in (NodeKind.METHOD, NodeKind.FUNCTION):
                continue
            settings = program.files[program.file_of[number]].settings
            owner = self._owner(number)
            if owner < 0 or settings is None or settings.types.structural or not program.bases_of(owner):
                continue
            if program.definition_of[owner].kind == NodeKind.TRAIT or self._is_never_overridden(number, settings):
                continue
            base_by_method: dict[int, int] = {}  # the method found -> the base that has it
            has_namesakes = len(program.methods.get(definition.name, ())) > 1
            for base in program.bases_of(owner):
                line = program.linear_bases(base)
                for each in line if has_namesakes or len(line) < _MANY_BASES else ():
                    method = self._overridden_in(number, each, settings) if each != owner else -1
                    if method >= 0:
                        base_by_method.setdefault(method, each)
                        break
            for method, base in base_by_method.items():
                # What a nearer method overrides itself is overridden through that one.
                nearer = (other for other in base_by_method.values() if other != base)
                if method != number and not any(base in program.linear_bases(other) for other in nearer):
                    yield Override(number, method, RuleName.BASE_METHOD)

    def _owner(self, number: int) -> int:
        """Return the type, constructor or implementing module that a function is a method of.

        It is -1 for none and for functions in blocks.
        """
        parent = self.program.parent(number)
        if parent >= 0:
            return parent if self.program.is_type(parent) or self.program.bases_of(parent) else -1
        if number in self.program.owner_of or "." not in self.program.definition_of[number].qualname:
            return -1
        owner = self.program.enclosing_owner(number)
        return owner if owner != number else -1

    def _is_never_overridden(self, number: int, settings: LanguageSettings) -> bool:
        """Return True for a method that cannot be overridden and overrides nothing."""
        definition = self.program.definition_of[number]
        if definition.name in settings.names.constructors:
            return True
        if settings.names.private and re.fullmatch(settings.names.private, definition.name):
            return True
        before = definition.signature.partition(definition.name)[0]
        return not set(settings.names.no_override_keywords).isdisjoint(_WORD.findall(before))

    def _overridden_in(self, number: int, base: int, settings: LanguageSettings) -> int:
        """Return the method of `base` itself that the method `number` overrides, or -1."""
        name = self.program.definition_of[number].name
        if self.program.definition_of[base].kind == NodeKind.NAMESPACE and settings.names.declaring:
            wanted = self.program.find_own_member(base, name)  # other functions of a module stay its own
            is_wanted = self.program.definition_of[wanted].signature.startswith(settings.names.declaring)
            return wanted if wanted >= 0 and is_wanted else -1
        symbols = self.program.files[self.program.file_of[base]]
        same = symbols.callables.get(f"{self.program.definition_of[base].qualname}.{name}")
        if same is None or self.program.parameters.get(number) is None:
            overridden = self.program.find_own_member(base, name)
            return overridden if overridden >= 0 and self._is_overridable(overridden, settings) else -1
        fitting = [m for m in same if self._is_overridable(m, settings) and self._has_same_parameters(number, m)]
        own = without_optional_marks(self.program.parameters[number])
        chosen = [m for m in fitting if without_optional_marks(self.program.parameters[m]) == own] or fitting
        return chosen[0] if len(chosen) == 1 else -1

    def _is_overridable(self, number: int, settings: LanguageSettings) -> bool:
        return self._is_callable(number) and not self._is_never_overridden(number, settings)

    def _is_callable(self, number: int) -> bool:
        return self.program.definition_of[number].kind in CALLABLE_KINDS

    def _has_same_parameters(self, method: int, base: int) -> bool:
        """Return True if both take the same types; a type parameter of the base or its type matches any type."""
        own, others = (
            without_optional_marks(self.program.parameters[method]),
            without_optional_marks(self.program.parameters.get(base)),
        )
        if own is None or others is None or len(own) != len(others):
            return False
        return all(
            _last_name(a) == _last_name(b) or self._is_type_parameter(base, b) for a, b in zip(own, others, strict=True)
        )

    def _is_type_parameter(self, method: int, written: str) -> bool:
        symbols = self.program.files[self.program.file_of[method]]
        name = (_WORD.match(written) or [""])[0]
        scope = method - symbols.first
        while scope != MODULE_SCOPE:
            definition = symbols.facts.definitions[scope]
            binding = symbols.bindings.get(scope, {}).get(name)
            if binding is not None:
                return True
            scope = definition.parent
        return False

    def _overrides_of_method_sets(self, implemented: Iterable[tuple[int, int]]) -> Iterator[Override]:
        implemented = list(implemented)
        members = StructuralTypes(self.program).methods_of_types() if implemented else {}

        def all_methods(owner: int) -> dict[str, int]:
            methods: dict[str, int] = {}
            for base in self.program.linear_bases(owner):
                for name, method in members.get(base, {}).items():
                    methods.setdefault(name, method)
            return methods

        sets: dict[int, dict[str, int]] = {}
        for owner, interface in implemented:
            for each in (owner, interface):
                if each not in sets:
                    sets[each] = all_methods(each)
            for name, base in sets[interface].items():
                method = sets[owner].get(name, base)
                if method != base:
                    yield Override(method, base, RuleName.METHOD_SET)


def _last_name(written: str) -> str:
    """Return a type without the package or type that qualifies it."""
    return written.removesuffix("...").rpartition(".")[2] + ("..." if written.endswith("...") else "")
