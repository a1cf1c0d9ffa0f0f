"""Meanings of names in languages of declarative regions: what packages, subprograms and blocks around declare.

In: a chain of names in a scope of a file. Out: the definition, object, region or type that it means, or what is from
outside. Types are compared by what is declared of them.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from causalist.graph.program import Program
from causalist.graph.rules import RuleName
from causalist.model.facts import MODULE_SCOPE, Binding, Import, ImportKind
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind
from causalist.model.type_notation import split_top

_UNIVERSAL = {"#b": "~boolean", "#a": "~address"}
_TEXTS = ("~string", "~wide_string", "~wide_wide_string")
_NUMBERS = re.compile(
    r"~(?:.*(?:integer|natural|positive|unsigned|int|size|count|offset|index|byte|word|bits?)(?:_?\d+)?(?:_t)?"
    r"|u?int\d+.*)"
)
_REALS = re.compile(r"~.*(?:float|duration|real|double).*")
_PLAIN_TYPES = frozenset(f"~{each}" for each in (
    "boolean", "character", "duration", "float", "integer", "long_float", "long_integer", "long_long_float",
    "long_long_integer", "short_integer", "string", "unbounded_string", "wide_character", "wide_string",
    "wide_wide_character", "wide_wide_string", "address", "unsigned_8", "unsigned_16", "unsigned_32", "unsigned_64",
    "integer_8", "integer_16", "integer_32", "integer_64", "stream_element_array", "stream_element", "time",
    "stream_element_offset", "file_type", "count_type", "exception_occurrence", "unbounded_wide_wide_string",
    "v_bit", "v_bits", "v_line", "v_real", "v_severity", "v_sgd", "v_sl", "v_slv", "v_text", "v_uns",
))  # fmt: skip
ELEMENTS = {"~string": "~character", "~v_slv": "~v_sl", "~v_uns": "~v_sl", "~v_sgd": "~v_sl", "~v_bits": "~v_bit"}
FAR = 3  # distance of a type that may be another name


RegionPlace = tuple[int, int]  # a file and a scope in it


class NamedThing(NamedTuple):
    """Meaning of a part of a chain: a definition, an object, a package, a type, or something from outside."""

    kind: str  # "definition", "object", "region", "type", "outside"
    type: str = ""  # of an object; the qualified name of a region or type; the name of something outside
    number: int = -1
    rule: str = RuleName.SAME_FILE


class RegionCandidate(NamedTuple):
    """A definition that a name may mean, and the rule by which."""

    number: int
    rule: str


@dataclass(slots=True, eq=False)
class RegionTypes:
    """Types of a language of declarative regions, as far as their distance from one another depends on it.

    `stated` is what is declared of a type, with the place. `above` gives a type and those that it derives from, and
    `dereferenced` the type that an access leads to. Types are written as `RegionNotation` says, external ones with "~".
    """

    stated: Mapping[str, tuple[str, tuple[int, int]]]
    above: Callable[[str], list[str]]
    dereferenced: Callable[[str], str]

    def distance(self, given: str, taken: str, is_prefix: bool = False) -> int | None:
        """Return the distance of a type that is given from one that is taken; None if it does not fit."""
        if given == taken:
            return 0
        if is_prefix:
            given, taken = self.dereferenced(given), self.dereferenced(taken)
            if given == taken:
                return 0
        if "?" in (given, taken) or given == "<>":
            return 2
        if taken == "<>":
            return 1
        text = self.stated.get(taken, ("",))[0]
        is_known = taken in self.stated
        if is_known:
            root = self.above(taken)[-1]
            text = self.stated[root][0]
        if given.startswith("#"):
            return self._distance_of_literal(given, taken, text, is_known)
        if taken.startswith("#"):
            return self.distance(taken, given)
        if is_known and given in self.stated:
            above = self.above(given)
            if taken in above:
                return above.index(taken)
        is_access = given.startswith("^") or self.stated.get(given, ("",))[0].startswith("^")
        if is_access and (taken.startswith("^") or text.startswith("^")):
            one, other = self.dereferenced(given), self.dereferenced(taken)
            if one == other or {"?", "<>"} & {one, other}:
                return 1
            return 1 + self.above(one).index(other) if other in self.above(one) else None
        if is_access or taken.startswith("^"):
            other = taken if is_access else given
            return FAR if other.startswith("~") and other not in _PLAIN_TYPES else None
        if given.startswith("~") and taken.startswith("~"):
            return None if given in _PLAIN_TYPES and taken in _PLAIN_TYPES else FAR + 3
        if given.startswith("[]") or taken.startswith("[]"):
            return FAR
        root_text = self.stated[self.above(given)[-1]][0] if given in self.stated and taken.startswith("~") else ""
        if root_text.startswith("new ") and taken not in _PLAIN_TYPES:  # of a type from outside
            return 1 if root_text.rpartition(".")[2].endswith(taken[1:]) else FAR + 3
        return None

    def _distance_of_literal(self, given: str, taken: str, text: str, is_known: bool) -> int | None:
        is_access = text.startswith("^") or taken.startswith("^")
        outside = None if is_known or is_access or taken in _PLAIN_TYPES else FAR
        base = f"~{text[4:].rpartition('.')[2]}" if text.startswith("new ") else "" if is_known else taken
        match given:
            case "#i":
                is_number = text == given or base in ("~integer", "~natural", "~positive")
                return 0 if is_number else 1 if _NUMBERS.fullmatch(base) else outside
            case "#r":
                is_real = text == given or _REALS.fullmatch(base)
                return 0 if is_real else None if _NUMBERS.fullmatch(base) else outside
            case "#n" | "#p":
                return 0 if is_access else outside
            case "#g":
                if is_known:
                    return 0 if text in ("", "record") or text.startswith(("[]", "new ")) else None
                return FAR if outside or "string" in taken or "array" in taken else None
            case "#s":
                if base in _TEXTS:
                    return _TEXTS.index(base)
                return 1 if text.startswith("[]") else outside
            case "#v" | "#x":  # "01"
                return 0 if base in ELEMENTS else 1 if text.startswith("[]") else outside
            case "#l":  # '0'
                return 0 if base in ELEMENTS.values() else 2 if text == "enum" else None
            case "#c":
                return 0 if base == "~character" else 2 if text == "enum" or "character" in taken else None
        return 0 if base == _UNIVERSAL.get(given) else outside


def steps_of(chain: str) -> list[tuple[str, str | None]]:
    """Return the names of a chain, each with what it is given, or None.

    >>> steps_of("a.b(x;c.d).e()")
    [('a', None), ('b', 'x;c.d'), ('e', '')]
    """
    steps: list[tuple[str, str | None]] = []
    for part in split_top(chain, "."):
        name, bracket, rest = part.partition("(")
        steps.append((name, rest.partition(")(")[0].removesuffix(")") if bracket else None))
    return steps


_MAX_SUBTYPES, _MAX_TYPES_ABOVE, _MAX_ALIASES = 10, 20, 8
ANYTHING, TYPES, UNITS = 0, 1, 2  # what a name is looked up as; units are found without what is used
MAX_NAMES_OPEN = 12  # names that are read for the sake of one
_LIKE_INTEGER = {"natural": "integer", "positive": "integer"}


@dataclass(slots=True, eq=False)
class RegionNames(ABC):
    """Look-ups in languages whose packages, subprograms and types are regions of declarations.

    A region goes on in other files: the body of a package sees what its specification declares, and so does a child.
    Names of subprograms may be overloaded: all that are visible count, and what a call is given chooses.
    """

    program: Program
    _is_ready: bool = False
    members: dict[str, dict[str, list[int]]] = field(default_factory=dict)  # region -> name -> definitions
    full: dict[int, str] = field(default_factory=dict)  # definition -> its name with those of all regions around
    _regions: dict[str, list[int]] = field(default_factory=dict)  # namespaces, tasks and protected types
    types: dict[str, tuple[str, RegionPlace]] = field(default_factory=dict)  # what is declared of a type, and where
    _stars: dict[str, list[tuple[int, Import]]] = field(default_factory=dict)  # region -> packages that it uses
    _formals: dict[str, dict[str, Binding]] = field(default_factory=dict)  # region -> subprograms that it takes
    _files_of: dict[str, list[int]] = field(default_factory=dict)  # by the unit that they hold
    _in_sight: dict[int, set[str]] = field(default_factory=dict)  # file -> units that it may name
    _bound: dict[RegionPlace, dict[str, Binding]] = field(default_factory=dict)
    open: set[object] = field(default_factory=set)
    n_cut: int = 0  # how often something was given up because it leads back to itself
    _known: dict[tuple[int, int, str, int], list[RegionCandidate | Binding]] = field(default_factory=dict)
    _known_types: dict[tuple[int, int, str], str] = field(default_factory=dict)

    def is_for(self, file: int) -> bool:
        """Return True for a file in such a language."""
        settings = self.program.files[file].settings
        return settings is not None and settings.names.regions

    def clear_cache(self) -> None:
        """Forget what was looked up, and what bodies declare."""
        for each in (self._bound, self._known, self._known_types, self.open):
            each.clear()

    def _prepare(self) -> None:
        self._is_ready = True
        for file, symbols in enumerate(self.program.files):
            if not self.is_for(file):
                continue
            outer = symbols.facts.package
            unit = outer or (symbols.facts.definitions[0].qualname if symbols.facts.definitions else "")
            self._files_of.setdefault(unit, []).append(file)
            definitions = symbols.facts.definitions
            for local, definition in enumerate(definitions):
                number = symbols.first + local
                name = f"{outer}.{definition.qualname}" if outer else definition.qualname
                self.full[number] = name
                around = definition.parent
                if around >= 0 and definitions[around].kind in CALLABLE_KINDS:
                    region = f"#{symbols.first + around}"
                else:
                    region = name.rpartition(".")[0]
                self.members.setdefault(region, {}).setdefault(name.rpartition(".")[2], []).append(number)
                text = symbols.returns.get(local, "")
                if text == "<>" and region.startswith("#"):  # which the body of a generic subprogram sees
                    outer_name = name.rpartition(".")[0]
                    self.members.setdefault(outer_name, {}).setdefault(definition.name, []).append(number)
                if definition.kind == NodeKind.NAMESPACE:
                    self._regions.setdefault(name, []).append(number)
                elif definition.kind in TYPE_KINDS or definition.kind == NodeKind.TYPE:
                    self._regions.setdefault(name, []).append(number)
                    known = self.types.get(name)
                    if known is None or known[0] in ("", "record"):
                        self.types[name] = text, (file, definition.parent)
            for binding in symbols.facts.bindings:
                if binding.scope >= 0 and binding.type.startswith("("):
                    formals = self._formals.setdefault(self.full[symbols.first + binding.scope], {})
                    formals.setdefault(binding.target, binding._replace(value=str(file)))
            for star in symbols.stars:
                scope = star.scope
                if scope != MODULE_SCOPE and definitions[scope].kind in CALLABLE_KINDS:
                    continue
                for top in (scope,) if scope != MODULE_SCOPE else range(len(definitions)):
                    if scope != MODULE_SCOPE or definitions[top].parent == MODULE_SCOPE:
                        self._stars.setdefault(self.full[symbols.first + top], []).append((file, star))

    def _bindings(self, file: int, scope: int) -> dict[str, Binding]:
        key = file, scope
        if (found := self._bound.get(key)) is None:
            by_scope: dict[int, dict[str, Binding]] = {}
            for each in self.program.files[file].facts.bindings:
                by_scope.setdefault(each.scope, {}).setdefault(each.target, each)
            for at in range(MODULE_SCOPE, len(self.program.files[file].facts.definitions)):
                self._bound[file, at] = by_scope.get(at, {})
            found = self._bound.get(key, {})
        return found

    def place(self, number: int) -> RegionPlace:
        """Return the place in which what a definition states is read."""
        file = self.program.file_of[number]
        return file, number - self.program.files[file].first

    def stated_text(self, number: int) -> str:
        """Return what a definition states of types: `RegionReader` says how."""
        file, local = self.place(number)
        return self.program.files[file].returns.get(local, "")

    def _is_body(self, number: int) -> bool:
        return self.stated_text(number).endswith("!")

    def find(self, file: int, scope: int, name: str, how: int = ANYTHING) -> list[RegionCandidate | Binding]:
        """Return what a name may mean: several subprograms, or one other definition, or what a function binds."""
        if not self._is_ready:
            self._prepare()
        key = file, scope, name, how
        if (known := self._known.get(key)) is None:
            n_cut = self.n_cut
            known = self._find(file, scope, name, how)
            if n_cut == self.n_cut or not self.open:
                self._known[key] = known
        return known

    def _find(self, file: int, scope: int, name: str, how: int) -> list[RegionCandidate | Binding]:
        symbols, definitions = self.program.files[file], self.program.files[file].facts.definitions
        found: list[RegionCandidate | Binding] = []
        stars: list[tuple[int, Import]] = []
        at, outermost = scope, ""
        own_scopes = {MODULE_SCOPE}
        while at != MODULE_SCOPE:
            own_scopes.add(at)
            definition, number = definitions[at], symbols.first + at
            outermost = self.full[number]
            binding = self._bindings(file, at).get(name) if how == ANYTHING else None
            if binding is not None and not binding.type.startswith("("):
                return found or [binding]
            for region in (f"#{number}", outermost) if definition.kind in CALLABLE_KINDS else (outermost,):
                if self._take(file, found, self.members.get(region, {}).get(name, ()), RuleName.PACKAGE_SCOPE):
                    return found
            if binding := self._formals.get(outermost, {}).get(name):
                return found or [binding]
            if definition.kind not in CALLABLE_KINDS:
                stars += self._stars_of(file, outermost)
            at = definition.parent
        region = symbols.facts.package or outermost.rpartition(".")[0]
        while region:
            if self._take(file, found, self.members.get(region, {}).get(name, ()), RuleName.PACKAGE_SCOPE):
                return found
            stars += self._stars_of(file, region)
            region = region.rpartition(".")[0]
        stars += [(file, star) for star in symbols.stars if star.scope in own_scopes]
        stars = stars if how != UNITS else []
        if not found and name in self.members.get("", {}):
            self._take(file, found, self.members[""][name], RuleName.IMPORT)
            if found and self.program.definition_of[found[0].number].kind == NodeKind.NAMESPACE:  # type: ignore[union-attr]
                return found
        is_hidden = bool(found)
        seen: set[str] = set()
        for at_file, star in stars:
            used = self._region_of(at_file, star.scope, star.module)
            if used and used not in seen:
                seen.add(used)
                if self.stated_text(self.number_of(used)) == "@":  # which holds use clauses
                    stars += self._stars.get(used, ())
                members = self._visible(used, name)
                callables = [each for each in members if self.is_overloadable(each)]
                if callables or not is_hidden:
                    self._take(file, found, callables or members, RuleName.STAR_IMPORT)
        return found

    def _stars_of(self, file: int, region: str) -> Iterator[tuple[int, Import]]:
        for at, star in self._stars.get(region, ()):
            own = self.program.files[at].facts.definitions
            scope = star.scope if star.scope != MODULE_SCOPE else 0
            if at == file or not self._is_body(self.program.files[at].first + scope) or scope >= len(own):
                yield at, star

    def _visible(self, region: str, name: str) -> list[int]:
        """Return the members of a package that others see."""
        members = self.members.get(region, {}).get(name, ())
        kinds = self.program.definition_of
        declared = [
            each
            for each in members
            if (around := self.program.parent(each)) < 0
            or not self._is_body(around)
            or kinds[each].kind in CALLABLE_KINDS
        ]
        shown = [each for each in declared if (p := self.program.parent(each)) < 0 or not self._is_body(p)]
        return declared if shown else []

    def is_overloadable(self, number: int) -> bool:
        """Return True for a subprogram and a literal of an enumeration."""
        return self.program.definition_of[number].kind in CALLABLE_KINDS or self.is_literal(number)

    def is_literal(self, number: int) -> bool:
        """Return True for a literal of an enumeration."""
        around = self.program.definition_of[number]
        return around.kind == NodeKind.FIELD and not self.stated_text(number)

    def _is_in_sight(self, file: int, number: int) -> bool:
        """Return True for what is no unit of its own, and for units that a file, or what it goes on from, names."""
        symbols = self.program.files[self.program.file_of[number]]
        if symbols.facts.package or self.program.parent(number) >= 0 or symbols is self.program.files[file]:
            return True
        if (units := self._in_sight.get(file)) is None:
            own = self.program.files[file].facts.package or self._unit_of(file)
            units = self._in_sight[file] = set()
            files = {file}
            for end in [*(at for at, sign in enumerate(own) if sign == "."), len(own)]:
                units.add(own[:end])
                files.update(self._files_of.get(own[:end], ()))
            for at in files:
                for entry in self.program.files[at].facts.imports:
                    if entry.kind == ImportKind.MODULE:
                        name = entry.module
                        units.update(name[:end] for end, sign in enumerate(name) if sign == ".")
                        units.add(name)
        return self.full[number] in units

    def _take(self, file: int, found: list[RegionCandidate | Binding], members: Sequence[int], rule: str) -> bool:
        """Add members of a region to what is found; return True if nothing further out can be meant."""
        for each in members:
            if not self._is_in_sight(file, each):
                continue
            own = RuleName.SAME_FILE if self.program.file_of[each] == file else rule
            if self.is_overloadable(each):
                found.append(RegionCandidate(each, own))
            elif not found:
                found.append(RegionCandidate(each, own))
                return True
            else:
                return True
        return False

    def _region_of(self, file: int, scope: int, chain: str) -> str:
        """Return the qualified name of the package that a use clause names, or ""."""
        key = (file, scope, chain, "region")
        if key in self.open:
            self.n_cut += 1
            return ""
        self.open.add(key)
        named = self.name_of(file, scope, chain, how=UNITS) or self.name_of(file, scope, chain, how=TYPES)
        self.open.discard(key)
        return named.type if named is not None and named.kind == "region" else ""

    def _follow_package(self, number: int) -> str:
        """Return the qualified name of a package, of another name or an instance the one that it stands for."""
        for _ in range(_MAX_ALIASES):
            text = self.stated_text(number)
            if text[:1] not in ("=", "+"):
                return self.full[number]
            file, local = self.place(number)
            around = self.program.files[file].facts.definitions[local].parent
            key = number, "alias"
            if key in self.open:
                self.n_cut += 1
                return ""
            self.open.add(key)
            named = self.name_of(file, around, text[1:].partition("(")[0], how=TYPES)
            self.open.discard(key)
            return named.type if named is not None and named.kind == "region" else ""
        return ""

    def name_of(self, file: int, scope: int, chain: str, depth: int = 0, how: int = ANYTHING) -> NamedThing | None:
        """Return what a chain means, the last part included; None if that is not known."""
        if depth > MAX_NAMES_OPEN:
            return None
        if chain.startswith("<"):
            inside, _, rest = chain[1:].partition(">")
            named: NamedThing | None = NamedThing("object", self.type_of(file, scope, inside))
            steps = steps_of(rest.removeprefix(".")) if rest else []
        else:
            steps = steps_of(chain)
            named = self._first(file, scope, *steps[0], depth, how) if steps else None
            steps = steps[1:]
        for step in steps:
            if named is None:
                return None
            named = self._next(file, scope, named, *step, depth)
        return named

    def _first(self, file: int, scope: int, name: str, given: str | None, depth: int, how: int) -> NamedThing | None:
        name, _, attribute = name.partition("'")
        found = self.find(file, scope, name, how)
        named = self._of_found(file, scope, found, given, depth)
        if named is None and not found:
            with_units = [each for each in self.program.files[file].facts.imports if each.module.split(".")[0] == name]
            named = NamedThing("outside", name) if with_units else None
        if named is not None and attribute:
            if named.kind == "type":
                return NamedThing("object", self.base_of(named.type))
            return named if named.kind == "object" and attribute not in ("first", "last") else None
        return named

    def _of_found(
        self, file: int, scope: int, found: Sequence[RegionCandidate | Binding], given: str | None, depth: int
    ) -> NamedThing | None:
        if not found:
            return None
        first = found[0]
        if isinstance(first, Binding):
            type_ = self.type_of_binding(file, first, depth)
            return self.element_of_object(NamedThing("object", type_), given)
        callables = [each for each in found if isinstance(each, RegionCandidate)
                     and self.program.definition_of[each.number].kind in CALLABLE_KINDS]  # fmt: skip
        if not callables:
            return self._of_definition(first.number, first.rule, given)
        values = [each for each in (given or "").split(";") if each]
        chosen = self.choose((file, scope), callables, values, "", depth=depth + 1)
        if not chosen:
            return None
        types = {self.result_of(each.number) for each in chosen}
        type_ = types.pop() if len(types) == 1 else "?"
        named = NamedThing("object", type_, chosen[0].number, chosen[0].rule)
        return (
            self.element_of_object(named, given)
            if given and not self.program.parameters.get(chosen[0].number)
            else named
        )

    def _of_definition(self, number: int, rule: str, given: str | None) -> NamedThing | None:
        definition = self.program.definition_of[number]
        if definition.kind == NodeKind.NAMESPACE:
            region = self._follow_package(number)
            if region:
                return NamedThing("region", region, number, rule)
            return NamedThing("outside", self.stated_text(number)[1:].partition("(")[0], number, rule)
        if definition.kind in TYPE_KINDS or definition.kind == NodeKind.TYPE:
            name = self.full[number]
            if given is not None:
                return NamedThing("object", self.base_of(name), number, rule)
            return NamedThing("type", name, number, rule)
        file, local = self.place(number)
        around = self.program.files[file].facts.definitions[local].parent
        if self.is_literal(number):
            return NamedThing("object", self.full[self.program.parent(number)] if around >= 0 else "?", number, rule)
        return self.element_of_object(
            NamedThing("object", self.type_of(file, around, self.stated_text(number)), number, rule), given
        )

    def element_of_object(self, named: NamedThing, given: str | None) -> NamedThing:
        """Return an element of an object if it is given an index."""
        if given is None:
            return named
        type_ = self.reached_type(named.type)
        text, place = self.types.get(type_, ("", (-1, MODULE_SCOPE)))
        if type_.startswith("[]"):
            return named._replace(type=type_[2:])
        if text.startswith("[]"):
            return named._replace(type=self.type_of(*place, text[2:]))
        return named._replace(type=ELEMENTS.get(type_, "?"))

    def reached_type(self, type_: str) -> str:
        """Return the type that accesses lead to, or the type itself."""
        for _ in range(3):
            further = self.pointed_type(type_)
            if further == type_:
                break
            type_ = further
        return type_

    def pointed_type(self, type_: str) -> str:
        """Return the type that an access leads to, or the type itself."""
        if type_.startswith("^") or type_ == "~v_line":
            return type_[1:] if type_.startswith("^") else "~string"
        text, place = self.types.get(type_, ("", (-1, MODULE_SCOPE)))
        return self.type_of(*place, text[1:]) if text.startswith("^") and text != "^" else type_

    def _next(
        self, file: int, scope: int, named: NamedThing, name: str, given: str | None, depth: int
    ) -> NamedThing | None:
        if named.kind == "outside":
            return NamedThing("outside", f"{named.type}.{name}")
        if name == "all":
            return self.element_of_object(named._replace(type=self.pointed_type(named.type)), given)
        found = self.members_of(file, named, name)
        if not found:
            return None
        return self._of_found(file, scope, found, given, depth)

    def members_of(self, file: int, named: NamedThing, name: str) -> list[RegionCandidate]:
        """Return what a name may mean behind a package, a task, or an object of some type."""
        if named.kind in ("region", "type"):
            members = list(self.members.get(named.type, {}).get(name, ()))
            if named.kind == "region":
                shown = self._visible(named.type, name)
                members = shown or members
                if not members:
                    members = self._find_inherited(named.type, name)
            members = [each for each in members if self._is_in_sight(file, each)]
            return [RegionCandidate(each, RuleName.MODULE_ATTRIBUTE) for each in members]
        if named.kind != "object":
            return []
        inside = self._unit_of(file)
        for type_ in self.types_above(self.reached_type(named.type)):
            around = type_.rpartition(".")[0]
            own = self.members.get(type_, {}).get(name, ())
            is_seen = not around or f"{inside}.".startswith(f"{around}.")  # what is private, too
            if own and is_seen:
                return [RegionCandidate(each, RuleName.ANNOTATION) for each in own]
            beside = self._operations(around, name, type_)
            if not beside and (number := self.number_of(type_)) >= 0:  # in a function
                beside = self._operations(f"#{self.program.parent(number)}", name, type_)
            if beside or own:
                return [RegionCandidate(each, RuleName.ANNOTATION) for each in beside or own]
        return []

    def _unit_of(self, file: int) -> str:
        """Return the qualified name of the outermost definition of a file."""
        symbols = self.program.files[file]
        return self.full[symbols.first] if symbols.facts.definitions else ""

    def _operations(self, region: str, name: str, type_: str) -> list[int]:
        """Return the subprograms of a region that take an object of a type first."""
        members = self.members.get(region, {}).get(name, ())
        kinds = self.program.definition_of
        return [each for each in members if kinds[each].kind in CALLABLE_KINDS and self._takes_first(each, type_)]

    def _find_inherited(self, region: str, name: str) -> list[int]:
        """Return the operations that types of a package have from the types that they derive from."""
        for names in list(self.members.get(region, {}).values()):
            for each in names:
                full = self.full[each]
                if not self.types.get(full, ("",))[0].startswith("new "):
                    continue
                for above in self.types_above(full)[1:]:
                    beside = self.members.get(above.rpartition(".")[0], {}).get(name, ())
                    own = [n for n in beside if self.program.definition_of[n].kind in CALLABLE_KINDS]
                    own = [n for n in own if self.mentions(n, above)]
                    if own:
                        return own
        return []

    def mentions(self, number: int, type_: str) -> bool:
        """Return True if a subprogram takes or gives a type of that name."""
        last = type_.rpartition(".")[2]
        return any(
            each.partition(":")[2].rstrip("='").lstrip("^").rpartition(".")[2] == last
            for each in (*self.program.parameters.get(number, ()), f":{self.result_text(number)}")
        )

    def _takes_first(self, number: int, type_: str) -> bool:
        parameters = self.program.parameters.get(number, ())
        if not parameters:
            return False
        first = self.type_of(*self.place(number), parameters[0].partition(":")[2].rstrip("="))
        return self.reached_type(first) == type_

    def number_of(self, type_: str) -> int:
        """Return the first definition of a type, or -1."""
        return self._regions[type_][0] if type_ in self._regions else -1

    def type_of(self, file: int, scope: int, written: str) -> str:
        """Return the type that is written in a place: its qualified name, or one that says what is known of it."""
        key = file, scope, written
        if (known := self._known_types.get(key)) is None:
            if ("type", *key) in self.open:
                self.n_cut += 1
                return "?"
            n_cut = self.n_cut
            self.open.add(("type", *key))
            known = self._type_of(file, scope, written)
            self.open.discard(("type", *key))
            if n_cut == self.n_cut or not self.open:
                self._known_types[key] = known
        return known

    def _type_of(self, file: int, scope: int, written: str) -> str:
        written = written.rstrip(";!'")
        if written.startswith("#") or not written:
            return written or "?"
        if written == "!":
            return "~exception_occurrence"
        for mark in ("^", "[]"):
            if written.startswith(mark):
                inside = written[len(mark) :]
                return mark + (self.type_of(file, scope, inside) if inside else "")
        named = self.name_of(file, scope, written, how=TYPES)
        if named is not None and named.kind == "type":
            return self.base_of(named.type)
        if named is not None and named.kind not in ("outside",):
            return "?"
        last = written.rpartition(".")[2]
        return f"~{_LIKE_INTEGER.get(last, last)}"

    def base_of(self, type_: str) -> str:
        """Return the type of which another is a subtype, or "<>" for a parameter of a generic unit."""
        for _ in range(_MAX_SUBTYPES):
            text, place = self.types.get(type_, ("", (-1, MODULE_SCOPE)))
            if text == "<>":
                return "<>"
            if not text.startswith("="):
                return type_
            return self.type_of(*place, text[1:])
        return type_

    def types_above(self, type_: str) -> list[str]:
        """Return a type and those that it derives from."""
        found = [type_]
        while len(found) < _MAX_TYPES_ABOVE:
            text, place = self.types.get(found[-1], ("", (-1, MODULE_SCOPE)))
            if not text.startswith("new "):
                break
            above = self.type_of(*place, text[4:])
            if above in found or above not in self.types:
                break
            found.append(above)
        return found

    def result_text(self, number: int) -> str:
        """Return the type that a function gives, as written, or ""."""
        return re.split(r"[=+;!]", self.stated_text(number), maxsplit=1)[0]

    def result_of(self, number: int) -> str:
        """Return the type that a function gives."""
        written = self.result_text(number)
        if not written:
            further = self.follow_aliases(number) if self.program.parameters.get(number) is None else [number]
            if further[0] == number and "unchecked_conversion(" in self.stated_text(number):
                return (self.actuals_of(number) or ["?"])[-1]
            return self.result_of(further[0]) if further[0] != number else "?"
        return self.type_of(*self.place(number), written)

    @abstractmethod
    def actuals_of(self, number: int) -> list[str]:
        """Return the types that an instance gives to what it is an instance of."""

    @abstractmethod
    def type_of_binding(self, file: int, binding: Binding, depth: int) -> str:
        """Return the type of what a function binds."""

    @abstractmethod
    def choose(
        self,
        place: RegionPlace,
        candidates: Sequence[RegionCandidate],
        given: Sequence[str],
        wanted: str,
        depth: int = 0,
        is_certain: bool = False,
    ) -> list[RegionCandidate]:
        """Return those candidates that take what is given best, a declaration and its body as one."""

    @abstractmethod
    def follow_aliases(self, number: int) -> list[int]:
        """Return the subprograms that one is another name or an instance of; itself where those are from outside."""
