"""Names by modules that no import names: those that a file opens or includes, and other names of modules.

In: a name that nothing around declares, or a member that a module lacks. Out: its value, or None. Only for languages in
which naming a module is importing it. The last module that is opened around a name counts first. A module that includes
another has all of its members, also where a functor makes the other.

Declarative regions are looked up here as well: what a name may mean by what is around it, and what that uses.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from causalist.graph.file_symbols import FileSymbols
from causalist.graph.infer.base import InferenceBase
from causalist.graph.overload_fit import NamedThing, RegionCandidate, RegionPlace, steps_of
from causalist.graph.program import Program
from causalist.graph.resolution_results import BUILTIN, UNKNOWN, Value, ValueKind, value_of_resolution
from causalist.graph.rules import RuleName
from causalist.model.facts import MODULE_SCOPE, Binding, Import, ImportKind
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind
from causalist.model.type_notation import LAMBDA_VALUE

_MODULES = (ValueKind.MODULE, ValueKind.DEFINITION, ValueKind.PARTIAL_PACKAGE)
_NOTHING = (ValueKind.BUILTIN, ValueKind.EXTERNAL, ValueKind.UNKNOWN, ValueKind.UNKNOWN_MEMBER)
_MAX_OPEN = 12  # modules that are looked into, each for the sake of the one before


@dataclass(slots=True, eq=False)
class MentionedModules:
    """Look-ups in modules that are opened or included."""

    program: Program
    inference: InferenceBase
    _open: set[tuple[int, int, str]] = field(default_factory=set)  # (file, number of the statement, name)

    def is_for(self, file: int) -> bool:
        """Return True for a file in whose language naming a module imports it."""
        settings = self.program.files[file].settings
        return settings is not None and settings.modules.mentioned

    def find_at_top(self, file: int, scope: int, name: str, called: str | None) -> Value | None:
        """Return what a name means that nothing around `scope` declares but the file itself, or a module it names."""
        symbols = self.program.files[file]
        last = symbols.by_qualname.get(name)
        own = self.find_before(symbols, scope, last) if last is not None else None
        if own is not None:
            return Value(ValueKind.DEFINITION, own, RuleName.SAME_FILE)
        entry = symbols.imports.get(MODULE_SCOPE, {}).get(name)
        resolution = self.program.follow_import(file, entry) if entry is not None else None
        if entry is not None and resolution is not None and resolution.rule == "dotted":
            return Value(ValueKind.PARTIAL_PACKAGE, file, RuleName.PATH, entry.module.partition(".")[0])
        value = value_of_resolution(resolution, "") if resolution is not None else None
        if value is not None and value.kind is not ValueKind.EXTERNAL:
            return value
        binding = symbols.bindings.get(MODULE_SCOPE, {}).get(name)
        if binding is not None and binding.value:
            return self.inference.infer_chain(file, MODULE_SCOPE, binding.value)
        # One without a value may be of a function without a name, elsewhere in the file.
        return self.find_opened(file, scope, name, called) or value or (UNKNOWN if binding is not None else None)

    def find_before(self, symbols: FileSymbols, scope: int, last: int) -> int | None:
        """Return which of the definitions with the qualified name of `last` a name means in `scope`.

        It is the last one before that is seen from there and is no method.
        """
        qualname = symbols.facts.definitions[last - symbols.first].qualname
        for number in reversed(symbols.redefined.get(qualname, (last,))):
            if not self.program.is_object_method(number) and not self._is_unseen(symbols, scope, number):
                return number
        return None

    def _is_unseen(self, symbols: FileSymbols, scope: int, definition: int) -> bool:
        """Return True if `scope` is in a definition that does not see its own name, or in one that stands before."""
        definitions, local = symbols.facts.definitions, definition - symbols.first
        own, beside = definitions[local], MODULE_SCOPE
        while scope not in (MODULE_SCOPE, local, own.parent):
            beside, scope = scope, definitions[scope].parent
        if scope != local and (scope != own.parent or beside == MODULE_SCOPE):
            return False
        if scope != local and own.start_row <= definitions[beside].start_row:
            return False
        assert symbols.settings is not None
        is_again = scope != local and own.qualname in symbols.redefined
        return is_again or re.match(symbols.settings.names.unseen, own.signature) is not None

    def find_opened(self, file: int, scope: int, name: str, called: str | None) -> Value | None:
        """Return what a name means that a module opened around `scope` brings."""
        around, definitions = {scope, MODULE_SCOPE}, self.program.files[file].facts.definitions
        while scope != MODULE_SCOPE:
            scope = definitions[scope].parent
            around.add(scope)
        value = self._find(file, around, name, called, (ImportKind.STAR, ImportKind.REEXPORT_ALL))
        return value._replace(rule=RuleName.STAR_IMPORT) if value is not None else None

    def find_member(self, file: int, scope: int, name: str, called: str | None) -> Value | None:
        """Return what a module has under a name that no definition in it has: another name, or an included member.

        `scope` is the number of the module among the definitions of its file, or that of the file itself.
        """
        binding = self.program.files[file].bindings.get(scope, {}).get(name)
        if binding is not None and binding.value and name[:1].isupper():
            key = (file, -1, name)
            if key in self._open:
                return None
            self._open.add(key)
            value = self.inference.infer_chain(file, scope, binding.value)
            self._open.discard(key)
            return value
        member = self._find(file, {scope}, name, called, (ImportKind.REEXPORT_ALL,))
        return member._replace(rule=RuleName.RE_EXPORT) if member is not None else None

    def find_inside(self, file: int, scope: int, chain: str, called: str | None) -> Value | None:
        """Return what a chain means of which modules are opened for a part of an expression, the innermost first."""
        symbols, (keys, _, rest) = self.program.files[file], chain.partition(".")
        for target in (f"{LAMBDA_VALUE}{key}" for key in keys[1:].split(LAMBDA_VALUE) if rest):
            at = scope
            while at != MODULE_SCOPE and target not in symbols.bindings.get(at, {}):
                at = symbols.facts.definitions[at].parent
            opened, key = symbols.bindings.get(at, {}).get(target), (file, -2, f"{target}.{rest}")
            if opened is None or key in self._open or len(self._open) > _MAX_OPEN:
                continue
            self._open.add(key)
            module = self.inference.infer_chain(file, at, opened.value)
            value = self._member_of(file, module, opened.value, rest, called)
            self._open.discard(key)
            if value is not None:
                return value._replace(rule=RuleName.STAR_IMPORT) if "." not in rest else value
        return self.inference.infer_chain(file, scope, rest, called) if rest else UNKNOWN

    def find_in_library(self, library: Value, name: str) -> Value:
        """Return the module of a library that no file stands for."""
        module = self.inference.name_lookup.find_dotted_module(library.number, f"{library.name}.{name}")
        return module or BUILTIN

    def _find(
        self, file: int, scopes: set[int], name: str, called: str | None, kinds: tuple[ImportKind, ...]
    ) -> Value | None:
        stars = self.program.files[file].stars
        for at in range(len(stars) - 1, -1, -1):
            star, key = stars[at], (file, at, name)
            if star.kind not in kinds or star.scope not in scopes or key in self._open or len(self._open) > _MAX_OPEN:
                continue
            self._open.add(key)
            module = self.inference.infer_chain(file, star.scope, star.module)
            value = self._member_of(file, module, star.module, name, called)
            self._open.discard(key)
            if value is not None:
                return value
        return None

    def _member_of(self, file: int, module: Value | None, name: str, chain: str, called: str | None) -> Value | None:
        """Return the value of a chain in a module of that name; None unless it is known."""
        if module is None or module.kind not in _MODULES:
            return None
        value = self.inference.follow_members(file, module, [name, *chain.split(".")], 1, called)
        return value if value is not None and value.kind not in _NOTHING else None


_MAX_SUBTYPES, _MAX_TYPES_ABOVE, _MAX_ALIASES = 10, 20, 8
ANYTHING, TYPES, UNITS = 0, 1, 2  # what a name is looked up as; units are found without what is used
MAX_NAMES_OPEN = 12  # names that are read for the sake of one
_LIKE_INTEGER = {"natural": "integer", "positive": "integer"}


@dataclass(slots=True, eq=False)
class RegionNames:
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
        if type_ == "~string":
            return named._replace(type="~character")
        return named._replace(type="?")

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
        if type_.startswith("^"):
            return type_[1:]
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

    def actuals_of(self, number: int) -> list[str]:
        """Return the types that an instance gives to what it is an instance of."""
        raise NotImplementedError

    def type_of_binding(self, file: int, binding: Binding, depth: int) -> str:
        """Return the type of what a function binds."""
        raise NotImplementedError

    def choose(
        self,
        place: RegionPlace,
        candidates: Sequence[RegionCandidate],
        given: Sequence[str],
        wanted: str,
        depth: int = 0,
    ) -> list[RegionCandidate]:
        """Return those candidates that take what is given best, a declaration and its body as one."""
        raise NotImplementedError

    def follow_aliases(self, number: int) -> list[int]:
        """Return the subprograms that one is another name or an instance of; itself where those are from outside."""
        raise NotImplementedError
