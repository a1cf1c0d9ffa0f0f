"""Uses of names -> the definitions that they may mean.

What a chain of names means is asked of `values`. An unknown receiver gives a candidate set, and only for names that no
builtin type has; everything else that is unknown gives nothing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from causalist.graph.arguments import nearest
from causalist.graph.guesses import Guesses
from causalist.graph.imports.includes import InclusionGraph
from causalist.graph.imports.packages import share_imports
from causalist.graph.infer import annotations as receivers
from causalist.graph.infer import containers as shaped
from causalist.graph.infer.base import split_type
from causalist.graph.infer.inference import Values
from causalist.graph.program.name_lookup import NameLookup, has_receiver_parameters
from causalist.graph.program.overloads import IS_TYPE, UNCOUNTED, best_overloads
from causalist.graph.program.partial_types import PartialTypes
from causalist.graph.program.program import Program
from causalist.graph.rules import MAX_CANDIDATES, RuleName
from causalist.graph.values import Value
from causalist.model.facts import MODULE_SCOPE, Implementation
from causalist.model.symbols import CALLABLE_KINDS, TYPE_KINDS, NodeKind


class Target(NamedTuple):
    """A definition that a use may mean; `candidates` says how many share the doubt."""

    definition: int
    rule: str
    candidates: int


class Derived(NamedTuple):
    """A type and a definition that it is made of, which `file` says: in the base at `place` of its facts, or in the
    block at `place` that implements something."""

    owner: int
    target: Target
    implements: bool
    file: int
    place: int
    is_block: bool


@dataclass(slots=True)
class Resolver:
    """Resolves uses in all files of a program."""

    program: Program
    builtin_methods: Mapping[str, frozenset[str]]  # by language
    values: Values = field(init=False)
    guesses: Guesses = field(init=False)
    name_lookup: NameLookup = field(init=False)
    partial_types: PartialTypes = field(init=False)

    def __post_init__(self) -> None:
        self.partial_types = PartialTypes(self.program)
        self.partial_types.join_types()
        share_imports(self.program.files, self.program.declared)
        self.program.inclusion = InclusionGraph.from_files(self.program.files, self.program.modules.number)
        self.values = Values(self.program)
        self.guesses = Guesses(self.program)
        self.name_lookup = self.values.name_lookup

    def prepare(self) -> list[Derived]:
        """Resolves all bases, so that members are found along them, and returns those that are found."""
        self._attach_members()
        for owner, stands_for in self._made_of().items():
            self.program.set_bases(owner, stands_for)
        implemented = [each for file in range(len(self.program.files)) for each in self._implementations(file)]
        delegates = self._delegates()
        found, missed = self._resolve_bases(
            [(file, i) for file, f in enumerate(self.program.files) for i in range(len(f.facts.bases))]
        )
        again = [each for each in missed if self._sees_members(each[0])]
        if again:  # a base may be a member of another base
            self.values.forget()
            more, again = self._resolve_bases(again)
            found += more
            missed = [each for each in missed if not self._sees_members(each[0])] + again
        superclasses: set[int] = set()  # types with one from outside
        for file, place in missed:
            base = self.program.files[file].facts.bases[place]
            owner = self.program.files[file].first + base.definition
            self.values.derived_from_outside.add(owner)
            if not base.implements:
                superclasses.add(owner)
        more_bases: dict[int, list[int]] = {}
        for each in implemented:
            more_bases.setdefault(each.owner, []).append(each.target.definition)
        for owner, held in delegates:
            more_bases.setdefault(owner, []).append(held)
        for owner, numbers in more_bases.items():
            self.program.set_bases(owner, [*self.program.bases_of(owner), *numbers])
        self.partial_types.join_bases()
        self._find_contracts(superclasses)
        self.values.read_attributes()
        return [*found, *implemented]

    def _find_contracts(self, derived: set[int]) -> None:
        """Where interfaces give a class nothing, what a class with a superclass from outside lacks comes from there.
        `derived` are the types whose own superclass is not of the repository."""
        program = self.program
        kinds = [definition.kind for definition in program.definition_of]
        for owner, kind in enumerate(kinds):
            settings = program.files[program.file_of[owner]].settings
            if kind != NodeKind.CLASS or settings is None or not settings.types.contracts:
                continue
            bases = program.linear_bases(owner)
            interfaces = frozenset(base for base in bases if kinds[base] == NodeKind.INTERFACE)
            if interfaces and not derived.isdisjoint(bases):
                program.contracts[owner] = interfaces

    def current_row(self, derived: Derived) -> int:
        """Where it is said, as the facts of that file are now."""
        facts = self.program.files[derived.file].facts
        if not derived.is_block:
            return facts.bases[derived.place].row
        if self.program.file_of[derived.owner] == derived.file:
            return facts.implementations[derived.place].row
        return self.program.definition_of[derived.owner].start_row

    def clear_cache(self) -> None:
        """Forgets what was looked up for other files."""
        self.values.known.clear()
        self.program.known_exports.clear()
        self.program.tree_paths.clear_cache()

    def discard(self) -> None:
        """Forgets all of a look-up that did not come back."""
        self.clear_cache()
        self.values.forget()

    def blocks(self) -> Iterator[tuple[int, int, int]]:
        """(trait, first, end) of the definitions in each block that implements a trait of the repository."""
        for file, names in enumerate(self.program.files):
            for block in names.facts.implementations:
                trait = self._type_at(file, block.scope, block.trait)
                if trait >= 0:
                    yield trait, names.first + block.first, names.first + block.end

    def _resolve_bases(self, bases: list[tuple[int, int]]) -> tuple[list[Derived], list[tuple[int, int]]]:
        """(what `prepare` returns, what is not found) of bases by their files and places; the program knows those
        found."""
        found: list[Derived] = []
        missed: list[tuple[int, int]] = []
        for file, place in bases:
            names = self.program.files[file]
            base = names.facts.bases[place]
            owner = names.first + base.definition
            value = self._outside_of(owner, file, names.facts.definitions[base.definition].parent, base.name)
            if value is not None and value.kind == "module":  # a file that is a class as a whole
                value = self.values.default_of(value)
            if value is not None and value.kind == "definition":
                is_class = self.program.definition_of[owner].kind == NodeKind.CLASS and not base.implements
                if not is_class:
                    value = value._replace(number=self.program.as_type(value.number))
                elif self.program.is_type_only(value.number):
                    value = None
            if value is not None and value.kind == "definition" and value.number != owner:
                found.append(Derived(owner, Target(value.number, value.rule, 1), base.implements, file, place, False))
            else:
                missed.append((file, place))
        numbers: dict[int, list[int]] = {}
        for each in found:
            numbers.setdefault(each.owner, []).append(each.target.definition)
        for owner, derived in numbers.items():
            self.program.set_bases(owner, [*self.program.bases_of(owner), *derived])
        return found, missed

    def _outside_of(self, owner: int, file: int, scope: int, name: str) -> Value | None:
        """What the name of a base of `owner` means: never `owner` itself, but what has that name further out."""
        value = self.values.of_chain(file, scope, name)
        names = self.program.files[file]
        while value is not None and value.kind == "definition" and value.number == owner and scope != MODULE_SCOPE:
            scope = names.facts.definitions[scope].parent
            if scope == MODULE_SCOPE or not self.program.is_type(names.first + scope):
                value = self.values.of_chain(file, scope, name)
        return value

    def _sees_members(self, file: int) -> bool:
        settings = self.program.files[file].settings
        return settings is not None and settings.names.members_are_visible

    def _made_of(self) -> dict[int, list[int]]:
        """The types that named types stand for: members are looked for there too, although nothing is extended."""
        found: dict[int, list[int]] = {}
        for number in sorted(self.program.named_types):
            file = self.program.file_of[number]
            names = self.program.files[file]
            position = number - names.first
            written, scope = names.returns[position], names.facts.definitions[position].parent
            value = self.values.of_chain(file, scope, written) if not split_type(written)[0] else None
            if value is not None and value.kind == "definition" and value.number != number:
                found[number] = [value.number]
        return found

    def _implementations(self, file: int) -> list[Derived]:
        """As `prepare`, for what types implement in blocks that stand outside of them."""
        names = self.program.files[file]
        found: list[Derived] = []
        for place, block in enumerate(names.facts.implementations):
            owner = self._type_at(file, block.scope, block.type)
            trait = self._type_at(file, block.scope, block.trait)
            if owner < 0:
                self._give(file, block, trait)
                continue
            if trait < 0 or trait == owner:
                self.values.derived_from_outside.add(owner)
                continue
            value = self.values.of_chain(file, block.scope, block.trait)
            rule = value.rule if value is not None else RuleName.SAME_FILE
            found.append(Derived(owner, Target(trait, rule, 1), True, file, place, True))
        return found

    def _give(self, file: int, block: Implementation, trait: int) -> None:
        """Notes the methods that a trait of the repository gives to a type of which it has no definition."""
        names = self.program.files[file]
        for local in range(block.first, block.end if trait >= 0 else block.first):
            given = self.program.foreign.setdefault((trait, names.facts.definitions[local].name), {})
            given.setdefault(block.type.rpartition(".")[2], names.first + local)

    def _type_at(self, file: int, scope: int, name: str) -> int:
        """The type that a name means in a scope, other names for types looked through, or -1."""
        value = self.values.of_chain(file, scope, name)
        if value is None or value.kind != "definition":
            return -1
        if self.program.is_type_like(value.number):
            return value.number
        meant = receivers.aliased(self.values, value.number)
        return meant.number if meant is not None and meant.kind == "instance" else -1

    def _delegates(self) -> list[tuple[int, int]]:
        """(type, another type in which its members are looked for, too) by the types inside of it that say so."""
        found = []
        for (owner, name), (member, *_) in self.program.attached.items():
            settings = self.program.files[self.program.file_of[member]].settings
            if settings is not None and name in settings.types.delegates:
                value = receivers.aliased(self.values, member)
                if value is not None and value.kind == "instance" and value.number != owner:
                    found.append((owner, value.number))
        for names in self.program.files:
            inside = names.settings.types.delegates if names.settings is not None else ()
            for local, definition in enumerate(names.facts.definitions if inside else ()):
                if definition.name in inside and definition.kind in TYPE_KINDS and definition.parent >= 0:
                    found.append((names.first + definition.parent, names.first + local))
        return found

    def _attach_members(self) -> None:
        """Finds the types of members that do not stand inside of them, before any chain asks for a member."""
        program = self.program
        for file, names in enumerate(program.files):
            for local, owner in names.facts.owners:
                member = names.first + local
                parent = names.facts.definitions[local].parent
                if has_receiver_parameters(names.settings) and parent >= 0:
                    self.name_lookup.add_extension(member, self._type_at(file, local, owner), owner)
                    continue
                found = self._type_at(file, parent, owner)
                if found < 0:
                    continue
                program.attach_member(member, found)
                if program.definition_of[found].kind == NodeKind.TRAIT:
                    program.for_all.add(found)
                for name, binding in names.bindings.get(local, {}).items():
                    if binding.type and "'" not in name:  # a type parameter: variables have names of their own
                        program.bounds.setdefault((found, name), (file, binding))
        self.values.forget()

    def resolve(
        self, file: int, scope: int, chain: str, *, guess: bool, arguments: str = UNCOUNTED, values: str = ""
    ) -> tuple[list[Target], str]:
        """(targets, external package or "") of a use of `chain` in `scope` of `file`; `guess` for what is called.
        `arguments` and `values` are as `Call` has them."""
        passed_on = "::" in chain
        chain = chain.replace("::", ".")
        called = (guess and arguments != IS_TYPE) or passed_on
        value = self.values.of_chain(file, scope, chain, arguments if called else None)
        if passed_on and value is None and chain.endswith(".new"):
            chain = chain.removesuffix(".new")
            value = self.values.of_chain(file, scope, chain)
        is_open = value is not None and value.kind in ("unknown-member", "builtin", "external")
        if called and is_open and value is not None and self.program.tree_paths.tree.has_file(file):
            receiver, _, method = chain.rpartition(".")
            is_value = receiver and not receiver.rpartition(".")[2][:1].isupper()  # else a type by its name
            if is_value and method not in self.builtin_methods.get(self._language(file), ()):
                value = receivers.extension(self.values, file, scope, value, method) or value
        if called and (value is None or is_open) and self.name_lookup.has_package_extension(chain):
            given = self.name_lookup.find_package_extensions(file, chain, arguments, value)
            if given:
                return [Target(each, rule, len(given)) for each, rule in given], ""
        if called and (value is None or is_open) and self.program.extended:
            given = self.name_lookup.find_extensions_of_external(file, chain, arguments, value)
            if given:
                return [Target(each, rule, len(given)) for each, rule in given], ""
        if not guess and "." in chain and (value is None or value.kind == "unknown-member"):
            # At least what holds the member is used: the last name but one, or else the first.
            holder, first = chain.rpartition(".")[0], chain.partition(".")[0]
            value = self.values.of_chain(file, scope, holder)
            if value is None or value.kind == "unknown-member":
                value = self.values.of_chain(file, scope, first)
        if value is None:
            return [], ""
        if value.kind == "module" and guess:  # a module that is called is what it exports as a whole
            value = self.values.default_of(value) or value
        named: list[Target] = []
        if guess and self.program.files[file].is_shaped:
            held = shaped.called_instead(self.values, value)
            if held is not None and value.kind == "definition" and self.program.is_value(value.number):
                named = [Target(value.number, value.rule, 1)]
            value = held or value
            if value.kind == "union":
                settings = self.program.files[file].settings
                assert settings is not None
                several, n_possible = shaped.called(value, settings, chain.rpartition(".")[2])
                if len(several) > 1 and "." not in chain and "[" not in chain:  # no receiver: each is called some time
                    return [*(Target(part.number, RuleName.ALTERNATIVE, 1) for part in several), *named], ""
                return [*(Target(part.number, part.rule, n_possible) for part in several), *named], ""
        if value.kind == "definition":
            program = self.program
            if not called:
                every = program.packages.find_variants(value.number, program.file_of[value.number], file, program.files)
                variants = self.partial_types.select_declaration(every)
                return [Target(number, value.rule, len(variants)) for number in variants], ""
            if program.is_type_only(value.number):
                return [], ""  # a value of that name is not the repository's
            functions = program.select_overloads(self._called(value.number), arguments)
            if values:
                functions = nearest(self.values, (file, scope), functions, arguments, values)
            if len(functions) > MAX_CANDIDATES:
                return [], ""
            if len(functions) == 1 and program.parent(functions[0]) not in program.canonical:
                (number,) = functions
                of_file, fitting = program.file_of[number], self._fitting(number, arguments)
                functions = program.packages.find_variants(number, of_file, file, program.files, fitting)
            return [*(Target(each, value.rule, len(functions)) for each in functions), *named], ""
        if value.kind == "external":
            return [], value.name
        if value.kind == "instance" and called and (method := self._call_method(file)):
            number, _ = self.program.find_member(value.number, method)
            return ([Target(number, value.rule, 1)] if number >= 0 else []), ""
        if value.kind == "instance" and guess and self._names_own_class(file, value, chain):
            return [Target(value.number, RuleName.SELF, 1)], ""
        if value.kind != "unknown-member" or not guess:
            return [], ""
        name = chain.rpartition(".")[2]
        if name in self.builtin_methods.get(self._language(file), ()) or name.startswith("__"):
            return [], ""
        return [Target(*each) for each in self.guesses.of(file, chain, arguments)], ""

    def _fitting(self, definition: int, arguments: str) -> Callable[[Sequence[int]], Sequence[int]] | None:
        """What takes out of functions of one name those that a call may mean, where arguments tell them apart."""
        program = self.program
        settings = program.files[program.file_of[definition]].settings
        if settings is None or not settings.names.has_overloads:
            return None
        literals, kinds = program.literals[settings.name], program.definition_of
        return lambda several: best_overloads(
            [each for each in several if kinds[each].kind in CALLABLE_KINDS] or several,
            program.parameters,
            arguments,
            literals,
        )

    def is_unknown(self, file: int, scope: int, chain: str, arguments: str) -> bool:
        """Whether a called chain for which `resolve` found nothing may mean anything of its last name."""
        # The same question as there, whose answer is known.
        value = self.values.of_chain(file, scope, chain.replace("::", "."), None if arguments == IS_TYPE else arguments)
        return value is not None and value.kind in ("unknown-member", "local")

    def _called(self, definition: int) -> int:
        """What runs when `definition` is called: of a constant that is another name of a function, the function."""
        settings = self.program.files[self.program.file_of[definition]].settings
        if self.program.definition_of[definition].kind != NodeKind.CONSTANT or settings is None:
            return definition
        if settings.types.prefixed:  # a variable, which is there to be given another function
            return definition
        held = self.values.held_by(definition)
        return held.number if held is not None and held.kind == "definition" else definition

    def _call_method(self, file: int) -> str:
        settings = self.program.files[file].settings
        return settings.names.call_method if settings is not None else ""

    def _names_own_class(self, file: int, value: Value, chain: str) -> bool:
        settings = self.program.files[file].settings
        is_trait = self.program.definition_of[value.number].kind == NodeKind.TRAIT  # its values may be functions
        if settings is None or is_trait or settings.types.prefixed:  # there the receiver is a value
            return False
        if chain in settings.names.self_names:
            return self.program.is_type(value.number)
        return (
            value.rule == RuleName.SELF and "." not in chain and bool(settings.names.assigned_infixes)
        )  # `const C = this`

    def _language(self, file: int) -> str:
        settings = self.program.files[file].settings
        return settings.name if settings else ""
