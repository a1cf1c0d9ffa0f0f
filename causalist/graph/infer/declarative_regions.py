"""Calls in languages of declarative regions: subprograms that a name may mean, and the one that takes what is given.

In: a call, with what is known of the values that it is given and of what it is wanted for. Out: the definitions that it
runs. A declaration and its body are one; a name that renames a subprogram, or that is an instance of a generic one,
means that one.
"""

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from causalist.graph.infer.region_names import (
    ELEMENTS,
    FAR,
    MAX_NAMES_OPEN,
    NamedThing,
    RegionCandidate,
    RegionNames,
    RegionPlace,
    RegionTypes,
)
from causalist.graph.resolution_results import Value, ValueKind
from causalist.graph.rules import RuleName
from causalist.model.facts import MODULE_SCOPE, Binding
from causalist.model.node_ids import CALLABLE_KINDS, NodeKind
from causalist.model.type_notation import split_top

TYPED = "\1"  # before a type that stands for a value
_BUILTIN_TEXTS = frozenset({"#s", "#c", "~string", "~character"})
_WORD_SIGNS = frozenset({"mod", "rem", "and", "or", "xor", "not", "abs"})


@dataclass(slots=True, eq=False)
class DeclarativeRegions(RegionNames):
    """Calls of what regions declare, and what names in them mean to others."""

    fit: RegionTypes = field(init=False)
    _profiles: dict[int, tuple[str, ...]] = field(default_factory=dict)
    # (region, name of a subprogram) -> names of parameters -> [number of those, of which so many are declarations]
    _namesakes: dict[tuple[str, str], dict[tuple[str, ...], list[int]]] = field(default_factory=dict)
    _alike_by_name: dict[tuple[str, str], dict[tuple[str, ...], list[int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.fit = RegionTypes(self.types, self.types_above, self.reached_type)

    def clear_cache(self) -> None:
        """Forget what was looked up, and what bodies declare."""
        RegionNames.clear_cache(self)
        self._profiles.clear()
        self._namesakes.clear()
        self._alike_by_name.clear()

    def actuals_of(self, number: int) -> list[str]:
        """Return the types that an instance gives to what it is an instance of."""
        _, bracket, inside = self.stated_text(number).rstrip(";").partition("(")
        file, local = self.place(number)
        around = self.program.files[file].facts.definitions[local].parent
        written = (each.rpartition("=")[2] for each in split_top(inside[:-1], ";")) if bracket else ()
        return [self.type_of(file, around, each) for each in written]

    def type_of_binding(self, file: int, binding: Binding, depth: int) -> str:
        """Return the type of what a function binds."""
        if binding.type.startswith("("):  # a subprogram that a generic unit takes
            file = int(binding.value or file)
            return self.type_of(file, binding.scope, binding.type[1:]) if len(binding.type) > 1 else "?"
        if binding.type:
            return self.type_of(file, binding.scope, binding.type)
        key = file, binding.scope, binding.target
        if not binding.value or key in self.open:
            return "?"
        self.open.add(key)
        if binding.value.startswith("@"):
            named = self.name_of(file, binding.scope, binding.value[1:], depth + 1)
            type_ = self.element_of_object(named, "").type if named is not None and named.kind == "object" else "?"
        else:
            type_ = self.value_type(file, binding.scope, binding.value, depth + 1)
        self.open.discard(key)
        return type_

    def value_type(self, file: int, scope: int, value: str, depth: int = 0) -> str:
        """Return the type of a value as `RegionReader` writes it."""
        if value[:1] in ("#", "?") or not value or depth > MAX_NAMES_OPEN:
            return value or "?"
        if value.startswith("^<"):
            return f"^{self.type_of(file, scope, value[2:-1])}"
        sign, bracket, inside = value.partition("(")
        if bracket and (not sign[:1].isalpha() or sign in _WORD_SIGNS) and sign[:1] != "<":
            return self._type_of_operator(file, scope, sign, split_top(inside[:-1], ";"), depth)
        if value in ("true", "false"):
            return "#b"
        if "ascii." in value or "latin_1." in value:
            return "~character"
        named = self.name_of(file, scope, value, depth + 1)
        if named is None or named.kind == "outside":
            made = re.match(r"(?:[\w.]+\.)?to_(string|unbounded_string)\b", value)
            return f"~{made[1]}" if made else "?"
        if named.kind == "type":
            return self.base_of(named.type)  # the object of which an aspect says something
        return named.type if named.kind == "object" else "?"

    def _type_of_operator(self, file: int, scope: int, sign: str, values: Sequence[str], depth: int) -> str:
        types = [self.value_type(file, scope, each, depth + 1) for each in values]
        declared = self.find(file, scope, sign) if depth <= MAX_NAMES_OPEN else []
        own = [each for each in declared if isinstance(each, RegionCandidate)]
        if len(types) == 1:
            return self._type_by_operator((file, scope), own, types, depth) or types[0]
        result = types[0]
        for each in types[1:]:
            made = self._type_by_operator((file, scope), own, (result, each), depth)
            result = made or _type_of_both(sign, result, each, self.types)
        return result

    def _type_by_operator(
        self, place: RegionPlace, declared: Sequence[RegionCandidate], types: Sequence[str], depth: int
    ) -> str:
        """Return the type that an operator of the repository gives for these, or ""."""
        if not declared or "?" in types or all(each in _BUILTIN_TEXTS for each in types[-2:] if len(types) > 1):
            return ""
        given = [f"{TYPED}{each}" for each in types]
        chosen = self.choose(place, declared, given, "", depth + 1, is_certain=True)
        results = {self.result_of(each.number) for each in chosen}
        return results.pop() if len(results) == 1 else ""

    def _wanted_type(self, file: int, scope: int, wanted: str, depth: int) -> str:
        if wanted.startswith(":"):
            return self.type_of(file, scope, wanted[1:])
        if wanted.startswith("="):
            return self.value_type(file, scope, wanted[1:], depth)
        if wanted == "return":
            definitions = self.program.files[file].facts.definitions
            while scope != MODULE_SCOPE and definitions[scope].kind not in CALLABLE_KINDS:
                scope = definitions[scope].parent
            return self.result_of(self.program.files[file].first + scope) if scope != MODULE_SCOPE else "?"
        if wanted.startswith("|"):
            _, callee, place, n = wanted.split("|")
            found, shift = self._candidates(file, scope, callee, depth + 1)[:2]
            types: set[str] = set()
            for each in found:
                if not isinstance(each, RegionCandidate):
                    return "?"
                taken = self.program.parameters.get(each.number, ())[shift:]
                if len(taken) < int(n):
                    continue
                named = {one.partition(":")[0]: one.partition(":")[2] for one in taken}
                text = named.get(place, "") if not place.isdigit() else taken[int(place)].partition(":")[2]
                types.add(self.type_of(*self.place(each.number), text.rstrip("=")))
            return types.pop() if len(types) == 1 else "?"
        return "?"

    def _candidates(
        self, file: int, scope: int, chain: str, depth: int = 0, spelled: str = ""
    ) -> tuple[list[RegionCandidate | Binding], int, NamedThing | None]:
        """Return what a chain may mean, how many parameters what stands before the last name is, and that."""
        head, _, name = chain.rpartition(".")
        if not head:
            return self.find(file, scope, name), 0, None
        before = self.name_of(file, scope, spelled or head, depth)
        if before is None or before.kind == "outside":
            return [], 0, before
        found = self.members_of(file, before, name)
        is_prefixed = before.kind == "object" and any(
            (around := self.program.parent(each.number)) >= 0 and not self.program.is_type(around)
            for each in found
            if self.is_overloadable(each.number)
        )
        return [*found], int(is_prefixed), before

    def resolve(
        self, file: int, scope: int, chain: str, given: tuple[str, str] | None
    ) -> tuple[list[tuple[int, str, int]], str]:
        """Return what `Resolver.resolve` does, of a name or of a call with its arguments and their values."""
        if given is not None:
            return self.resolve_call(file, scope, chain, *given)
        return self.resolve_name(file, scope, chain)

    def resolve_call(
        self, file: int, scope: int, chain: str, arguments: str, values: str
    ) -> tuple[list[tuple[int, str, int]], str]:
        """Return what a call may run, as (definition, rule, number of candidates), and the package outside, or ""."""
        given = split_top(values, ",") if values else []
        wanted = given.pop()[1:] if given and given[-1].startswith(">") else ""
        if wanted == "unit":
            return self._find_units(file, scope, chain), ""
        wanted, _, spelled = wanted.partition("@")
        found, shift, before = self._candidates(file, scope, chain, spelled=spelled)
        if before is not None and before.kind == "outside":
            return [], before.type
        if not found and "." not in chain:
            found = self._beside_arguments(file, scope, chain, values)
        if not found or isinstance(found[0], Binding):
            return [], ""
        callables = [each for each in found if isinstance(each, RegionCandidate)
                     and self.program.definition_of[each.number].kind in CALLABLE_KINDS]  # fmt: skip
        if not callables:
            first = found[0]
            is_value = self.program.is_value(first.number) and not self.is_literal(first.number)
            return ([(first.number, first.rule, 1)] if is_value else []), ""
        given += ["?"] * (len(arguments.strip("-=")) - len(given))
        if shift and before is not None:
            given.insert(0, f"\0{before.type}")
        is_prefix = wanted.startswith(".") and not given
        if is_prefix and any(self._is_around(file, scope, each.number) for each in callables):
            return [], ""  # whose parameter or variable follows
        is_named = before is not None and before.kind in ("region", "type")
        chosen = self.choose((file, scope), callables, given, wanted, is_certain=not is_named)
        literals = [each for each in found if isinstance(each, RegionCandidate) and self.is_literal(each.number)]
        if literals and not arguments and wanted != "-":
            return [], ""
        results: dict[int, str] = {}
        for each in chosen:
            for number in self._running(each.number, file):
                results.setdefault(number, each.rule)
        return [(number, rule, len(results)) for number, rule in results.items()], ""

    def _find_units(self, file: int, scope: int, chain: str) -> list[tuple[int, str, int]]:
        """Return the entities of a name, those in the nearest folder; else the component that is declared."""
        if not self._is_ready:
            self._prepare()
        kinds, files, own = self.program.definition_of, self.program.files, self.program.files[file].path
        entities = [
            each
            for each in self.members.get("", {}).get(chain.rpartition(".")[2], ())
            if kinds[each].kind == NodeKind.CLASS
        ]
        near = {each: _common(files[self.program.file_of[each]].path, own) for each in entities}
        entities = [each for each in entities if near[each] == max(near.values())]
        found = entities or [
            each.number
            for each in self._candidates(file, scope, chain)[0]
            if isinstance(each, RegionCandidate) and kinds[each.number].kind == NodeKind.INTERFACE
        ]
        return [(each, self._rule_of(each, file), len(found)) for each in found]

    def _rule_of(self, number: int, file: int) -> str:
        return RuleName.SAME_FILE if self.program.file_of[number] == file else RuleName.IMPORT

    def _is_around(self, file: int, scope: int, number: int) -> bool:
        symbols = self.program.files[file]
        while scope != MODULE_SCOPE:
            if self.full[symbols.first + scope] == self.full[number]:
                return True
            scope = symbols.facts.definitions[scope].parent
        return False

    def _beside_arguments(self, file: int, scope: int, name: str, values: str) -> list[RegionCandidate | Binding]:
        """Return operations that a type has from one above, which are visible where the type is."""
        for value in split_top(values, ",") if values else []:
            type_ = self.value_type(file, scope, value.partition("=")[2] if "=" in value[1:] else value)
            for above in self.types_above(self.reached_type(type_))[1:]:
                beside = self.members.get(above.rpartition(".")[0], {}).get(name, ())
                own = [n for n in beside if self.program.definition_of[n].kind in CALLABLE_KINDS]
                if own := [n for n in own if self.mentions(n, above)]:
                    return [RegionCandidate(each, RuleName.INHERITED) for each in own]
        return []

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
        groups: dict[tuple[str, ...], RegionCandidate] = {}
        for each in candidates:
            groups.setdefault(self._profile(each.number), each)
        several = list(groups.values())
        if self._has_bodies_first(place[0]):
            several = self._drop_hidden(several)
        is_statement = wanted == "-"
        several = [each for each in several if self._has_result(each.number) != is_statement]
        if not several:
            return []
        types = {value: self._given_type(place, value, depth) for value in given}
        fits: list[tuple[int, RegionCandidate]] = []
        loose: list[tuple[int, RegionCandidate]] = []
        for each in several:
            far, is_counted = self._distance(each.number, given, types)
            if far is not None:
                fits.append((far, each))
            elif is_counted:
                loose.append((0, each))
        if not fits and is_certain:  # of a package from outside, or a parameter of a generic unit
            return []
        fits = fits or loose or [(0, each) for each in several]
        if len(fits) > 1 and wanted.startswith("."):
            having = [each for each in fits if self._has_member(place[0], each[1].number, wanted[1:])]
            fits = having or fits
        elif len(fits) > 1 and wanted and not is_statement:
            type_ = self._wanted_type(*place, wanted, depth)
            by_result = [
                (far + extra, each)
                for far, each in fits
                if (extra := self.fit.distance(self.result_of(each.number), type_)) is not None
            ]
            fits = by_result or fits
        nearest = min(far for far, _ in fits)
        return [each for far, each in fits if far == nearest]

    def _has_bodies_first(self, file: int) -> bool:
        settings = self.program.files[file].settings
        return settings is not None and settings.names.bodies_first

    def _drop_hidden(self, candidates: Sequence[RegionCandidate]) -> list[RegionCandidate]:
        """Return those candidates that no inner one hides, which takes and gives the same."""
        seen: dict[tuple[str, ...], RegionCandidate] = {}
        for each in candidates:
            itself = self._itself(each.number)
            taken = [one.rstrip("=").partition(":")[2] for one in self.program.parameters.get(itself, ())]
            key = tuple(self._told_apart(itself, type_) for type_ in (*taken, self.result_text(itself)))
            first = seen.setdefault(key, each)
            regions = {self.full[one.number].rpartition(".")[0] for one in (first, each)}
            if len(regions) > 1 and first.rule == RuleName.STAR_IMPORT:
                seen[(*key, str(each.number))] = each  # of two packages that are used
        return list(seen.values())

    def _has_member(self, file: int, number: int, name: str) -> bool:
        """Return True if what a function gives has a member of that name."""
        type_ = self.result_of(number)
        return type_ == "?" or bool(self.members_of(file, NamedThing("object", type_), name))

    def _given_type(self, place: RegionPlace, value: str, depth: int) -> str:
        if value[:1] in ("\0", TYPED):
            return value[1:]
        name, mark, rest = value.partition("=")
        return self.value_type(*place, rest if mark and name.isidentifier() else value, depth + 1)

    def _has_result(self, number: int) -> bool:
        if self.result_text(number):
            return True
        signature = self.program.definition_of[number].signature.lower()
        if signature.startswith("alias "):
            further = self._itself(number)
            return further != number and self._has_result(further)
        return re.match(r"(?:(?:not\s+)?overriding\s+)?function\b", signature) is not None

    def _profile(self, number: int) -> tuple[str, ...]:
        """Return the names and types of parameters, and the result: alike for a declaration and its body."""
        parts = self.program.parameters.get(itself := self._itself(number))
        full = self.full[number]
        if parts is None:
            return (full, str(number))
        known = self._profiles.get(number)
        if known is None:
            names = self._names(number)
            around = self.program.parent(number)
            region = f"#{around}" if f"#{around}" in self.members else full.rpartition(".")[0]
            counts = self._count_namesakes(region, self.program.definition_of[number].name)
            n_alike, n_declared = counts.get(tuple(names), (0, 0))
            written = [each.rstrip("=").partition(":")[::2] for each in parts]
            written.append(("", self.result_text(itself)))
            if n_declared == 1 and n_alike == 2:  # a declaration and its body
                known = (full, *names)
            else:
                known = (full, *(f"{name}:{self._told_apart(itself, type_)}" for name, type_ in written))
            self._profiles[number] = known
        return known

    def _count_namesakes(self, region: str, name: str) -> dict[tuple[str, ...], list[int]]:
        """Return [how many of one name in a region, how many of these are declarations] by the names of parameters."""
        counts = self._namesakes.get((region, name))
        if counts is None:
            counts = self._namesakes[region, name] = {}
            for each in self.members.get(region, {}).get(name, ()):
                count = counts.setdefault(tuple(self._names(each)), [0, 0])
                count[0] += 1
                count[1] += self.stated_text(each).endswith(";")
        return counts

    def _names(self, number: int) -> list[str]:
        return [each.partition(":")[0] for each in self.program.parameters.get(self._itself(number), ())]

    def _itself(self, number: int) -> int:
        """Return the subprogram of which one is an alias, or itself."""
        if self.program.definition_of[number].signature[:6].lower() != "alias " or (number, "itself") in self.open:
            return number
        self.open.add((number, "itself"))
        (further,) = self.follow_aliases(number)
        self.open.discard((number, "itself"))
        return further

    def _told_apart(self, number: int, written: str) -> str:
        type_ = self.type_of(*self.place(number), written) if written else ""
        return type_ if type_ not in ("?", "<>") else written.rpartition(".")[2]

    def _distance(self, number: int, given: Sequence[str], types: dict[str, str]) -> tuple[int | None, bool]:
        """Return the distance of parameters from what is given, None if they do not fit, and if their number does."""
        number = self._itself(number)  # which has the names of parameters
        parameters = self.program.parameters.get(number)
        if parameters is None:  # an instance
            further = self.follow_aliases(number)
            number = further[0]
            parameters = self.program.parameters.get(number)
            if parameters is None:
                actuals = self.actuals_of(further[0])
                n_far = sum(types[value] not in actuals for value in given)
                return FAR * (1 + n_far), True
        taken = [each.partition(":")[::2] for each in parameters]
        open_ = dict(taken)
        total = 0
        n_prefixed = sum(each[:1] == "\0" for each in given)
        is_alone = all(type_.endswith("=") for _, type_ in taken[n_prefixed:])
        if len(taken) == n_prefixed < len(given) and is_alone and self.result_text(number):
            return 50, True  # an element of what it gives
        fits = True
        for position, value in enumerate(given):
            name, mark, _ = value.partition("=")
            if not (mark and name.isidentifier()):
                if position >= len(taken):
                    return None, False
                name = taken[position][0]
            written = open_.pop(name, None)
            if written is None:
                return None, False
            far = self.fit.distance(
                types[value], self.type_of(*self.place(number), written.rstrip("=")), value[:1] == "\0"
            )
            if far is None:
                fits = False
            total += far or 0
        if any(not each.endswith("=") for each in open_.values()):
            return None, False
        return (total if fits else None), True

    # -- what runs

    def follow_aliases(self, number: int) -> list[int]:
        """Return the subprograms that one is another name or an instance of; itself where those are from outside."""
        seen: set[int] = set()
        while number not in seen:
            seen.add(number)
            matched = re.search(r"[=+]([^(]+)", self.stated_text(number).rstrip(";!"))
            if matched is None:
                return [number]
            file, local = self.place(number)
            around = self.program.files[file].facts.definitions[local].parent
            found, _, _ = self._candidates(file, around, matched[1])
            several = [each for each in found if isinstance(each, RegionCandidate) and each.number != number
                       and self.program.definition_of[each.number].kind in CALLABLE_KINDS]  # fmt: skip
            if not several:
                return [number]
            own = self.program.parameters.get(number)
            if own is not None and "+" not in self.stated_text(number):
                alike = {self._profile(each.number): each for each in reversed(several)}.values()
                counted = [each for each in alike if len(self.program.parameters.get(each.number, own)) == len(own)]
                fitting = [each for each in counted if self._takes_like(each.number, number)]
                several = fitting or (counted if len(counted) == 1 else [])
                if not several:
                    return [number]  # of what a type has from one that is outside
            number = several[0].number
        return [number]

    def _takes_like(self, one: int, other: int) -> bool:
        first, second = self.program.parameters.get(one, ()), self.program.parameters.get(other, ())
        if len(first) != len(second):
            return False
        types = [
            [self.type_of(*self.place(number), each.partition(":")[2].rstrip("=")) for each in taken]
            for number, taken in ((one, first), (other, second))
        ]
        return types[0] == types[1] and self.result_of(one) == self.result_of(other)

    def _running(self, number: int, file: int) -> list[int]:
        """Return the definition that runs: the body of what is declared, or of what it is another name of."""
        alike = self._alike(number)
        if not any(self.stated_text(each).endswith(";") for each in alike):
            (number,) = self.follow_aliases(number)
            alike = self._alike(number)
        bodies = [each for each in alike if not self.stated_text(each).endswith(";")]
        bodies = [each for each in bodies if self._itself(each) == each] or bodies or [number]
        if self._has_bodies_first(file) and (beside := [n for n in bodies if self.program.file_of[n] == file]):
            return beside[:1]  # of packages that are written twice
        own = self.program.files[self.program.file_of[number]].path
        return [
            min(bodies, key=lambda each: (-_common(self.program.files[self.program.file_of[each]].path, own), each))
        ]

    def _alike(self, number: int) -> list[int]:
        """Return the declarations and bodies of a subprogram."""
        profile, around = self._profile(number), self.program.parent(number)
        is_local = around >= 0 and self.program.definition_of[around].kind in CALLABLE_KINDS
        region = f"#{around}" if is_local else self.full[number].rpartition(".")[0]
        name, kinds = self.program.definition_of[number].name, self.program.definition_of
        members = self.members.get(region, {}).get(name)
        if members is None:
            return [number]
        by_profile = self._alike_by_name.get((region, name))
        if by_profile is None:
            by_profile = {}
            for each in members:
                if kinds[each].kind in CALLABLE_KINDS:
                    by_profile.setdefault(self._profile(each), []).append(each)
            self._alike_by_name[region, name] = by_profile
        return by_profile.get(profile, [])

    def infer(self, file: int, scope: int, chain: str) -> Value | None:
        """Return the value of a chain, as far as it is a definition, an object of a type, or from outside."""
        named = self.name_of(file, scope, chain)
        if named is None:
            return None
        if named.kind == "outside":
            return Value(ValueKind.EXTERNAL, -1, RuleName.EXTERNAL, named.type)
        if named.number >= 0 and ("(" not in chain):
            return Value(ValueKind.DEFINITION, named.number, named.rule)
        number = self.number_of(self.reached_type(named.type))
        return Value(ValueKind.INSTANCE, number, RuleName.ANNOTATION) if number >= 0 else None

    def resolve_name(self, file: int, scope: int, chain: str) -> tuple[list[tuple[int, str, int]], str]:
        """Return what a name means that is no call; subprograms only where they are handed on (`::`)."""
        handed = chain.startswith("::")
        chain = chain.removeprefix("::")
        found, _, before = self._candidates(file, scope, chain)
        if before is not None and before.kind == "outside":
            return [], before.type
        if not found or isinstance(found[0], Binding):
            return [], ""
        numbers = [(each.number, each.rule) for each in found if isinstance(each, RegionCandidate)]
        callables = [each for each in numbers if self.program.definition_of[each[0]].kind in CALLABLE_KINDS]
        if not callables:
            return [(*numbers[0], 1)], ""
        if not handed:
            return [], ""
        results: dict[int, str] = {}
        for number, rule in callables:
            results.setdefault(self._running(number, file)[0], rule)
        return [(number, rule, len(results)) for number, rule in results.items()], ""


def _type_of_both(sign: str, first: str, second: str, declared: Container[str]) -> str:
    """Return the type that an operator of the language gives for two."""
    pair = first, second
    if sign == "&" and (vectors := [each for each in pair if each in ELEMENTS and each.startswith("~v_")]):
        return vectors[0]
    is_text = "~string" in pair or "#s" in pair
    if sign == "&" and not is_text and any(each in ("#l", "#v", "#x") or each.startswith("~v_") for each in pair):
        return "?"
    if sign == "&":
        if "~unbounded_string" in pair:
            return "~unbounded_string"
        arrays = [each for each in pair if each in declared]
        return arrays[0] if arrays else "?" if "?" in pair else "~string"
    known = [each for each in pair if each[:1] not in ("#", "?")]
    if len(set(known)) > 1 and any(each.startswith("~v_") for each in known):  # `2.0 * 10 ns`
        return "~time" if "~time" in known else "?"
    return known[0] if known else "?" if "?" in pair else first


def _common(one: str, other: str) -> int:
    """Return the number of folders that two paths have in common, from the start."""
    shared = 0
    for first, second in zip(one.split("/"), other.split("/"), strict=False):
        if first != second:
            break
        shared += 1
    return shared
