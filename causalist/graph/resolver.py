"""Uses of names -> the definitions that they may mean.

`Inference` gives the value of a chain. An unknown receiver gives name candidates, and only for names that no builtin
type has; everything else that is unknown gives nothing.
"""

import re
from collections.abc import Container, Iterator
from typing import NamedTuple

from causalist._internal.lazy import dataclass, field
from causalist.graph.added_members import PartialTypes
from causalist.graph.candidate_choice import NameCandidates, OverloadChooser
from causalist.graph.file_symbols import open_inner_namespaces
from causalist.graph.function_variants import SpecificProcedures, TwinChooser, find_called, made_value, type_of
from causalist.graph.imports.declared_packages import share_imports
from causalist.graph.imports.package_scope import InclusionGraph, share_with_parts
from causalist.graph.infer.inference import Inference
from causalist.graph.infer.unimported_modules import ProcedureGroups, value_of_holder
from causalist.graph.labeled_overloads import find_method, select_labeled
from causalist.graph.name_lookup import NameLookup, has_receiver_parameters
from causalist.graph.overload_fit import is_made_by, misfit
from causalist.graph.program import Program
from causalist.graph.resolution_results import Value, ValueKind, callable_parts
from causalist.graph.rules import MAX_CANDIDATES, RuleName
from causalist.model.facts import IS_TYPE, MODULE_SCOPE, UNCOUNTED, ArgumentKind, Implementation
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind
from causalist.model.type_notation import KEPT, LAMBDA_VALUE, STRING_KEY, Shape, split_generic, split_type


class Target(NamedTuple):
    """A definition that a use may mean; `candidates` says how many share the doubt."""

    definition: int
    rule: str
    candidates: int


class BaseLink(NamedTuple):
    """A type and what it derives from, as `file` says in its base or block of an implementation number `place`."""

    owner: int
    target: Target
    implements: bool
    file: int
    place: int
    is_block: bool


@dataclass(slots=True)
class Resolver:
    """Resolution of uses in all files of a program."""

    program: Program
    inference: Inference = field(init=False)
    overloads: "OverloadChooser" = field(init=False)
    specifics: SpecificProcedures = field(init=False)
    twins: "TwinChooser" = field(init=False)
    kept: "KeptFunctions" = field(init=False)
    name_candidates: "NameCandidates" = field(init=False)
    name_lookup: NameLookup = field(init=False)
    partial_types: PartialTypes = field(init=False)

    def __post_init__(self) -> None:
        self.partial_types = PartialTypes(self.program)
        self.partial_types.join_types()
        share_imports(self.program.files, self.program.declared)
        share_with_parts(self.program.files, self.program.packages.library_of)
        open_inner_namespaces(self.program.files)
        loaded = InclusionGraph.from_files(self.program.files, self.program.modules.number)
        self.program.inclusion = self.program.packages.loaded = loaded
        self.inference = Inference(self.program)
        self.name_candidates = NameCandidates(self.program)
        self.overloads = OverloadChooser(self.inference)
        self.specifics = SpecificProcedures(self.inference)
        self.twins = TwinChooser(self.program)
        self.kept = KeptFunctions(self)
        self.name_lookup = self.inference.name_lookup

    def prepare(self) -> list[BaseLink]:
        """Resolve all bases, so that members are found along them, and return those that are found."""
        self._attach_members()
        for owner, stands_for in self._bases_of_named_types().items():
            self.program.set_bases(owner, stands_for)
        implemented = [each for file in range(len(self.program.files)) for each in self._find_implementations(file)]
        delegates = self._find_delegates()
        derived, missed = self._resolve_bases(
            [(file, i) for file, f in enumerate(self.program.files) for i in range(len(f.facts.bases))]
        )
        again = [each for each in missed if self._sees_members(each[0])]
        if again:  # a base may be a member of another base
            self.inference.clear_cache()
            more, again = self._resolve_bases(again)
            derived += more
            missed = [each for each in missed if not self._sees_members(each[0])] + again
        superclasses: set[int] = set()  # types with one from outside
        for file, index in missed:
            base = self.program.files[file].facts.bases[index]
            owner = self.program.files[file].first + base.definition
            self.inference.derived_from_outside.add(owner)
            if not base.implements:
                superclasses.add(owner)
        more_bases: dict[int, list[int]] = {}
        for each in implemented:
            more_bases.setdefault(each.owner, []).append(each.target.definition)
        for owner, content in delegates:
            more_bases.setdefault(owner, []).append(content)
        for owner, numbers in more_bases.items():
            self.program.set_bases(owner, [*self.program.bases_of(owner), *numbers])
        self.partial_types.join_bases()
        self._find_contracts(superclasses)
        self.inference.read_attributes()
        return [*derived, *implemented]

    def _find_contracts(self, derived: set[int]) -> None:
        """Note interfaces of classes whose superclass is from outside, in languages where they give a class nothing.

        What such a class lacks comes from there. `derived` are types whose own superclass is not of the repository.
        """
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

    def current_row(self, derived: BaseLink) -> int:
        """Return the row of a base or block, as the facts of that file are now."""
        facts = self.program.files[derived.file].facts
        if not derived.is_block:
            return facts.bases[derived.place].row
        if self.program.file_of[derived.owner] == derived.file:
            return facts.implementations[derived.place].row
        return self.program.definition_of[derived.owner].start_row

    def clear_cache(self) -> None:
        """Forget what was looked up for other files."""
        self.inference.known.clear()
        self.inference.dispatch.clear()
        self.inference.regions.clear_cache()
        self.program.known_exports.clear()
        self.program.tree_paths.clear_cache()

    def release_tables(self) -> None:
        """Drop references back to tables, so that the last use of the program frees it."""
        self.inference.release_tables()
        del self.kept

    def discard(self) -> None:
        """Forget all of a look-up that did not come back."""
        self.clear_cache()
        self.inference.clear_cache()

    def blocks(self) -> Iterator[tuple[int, int, int]]:
        """Yield (trait, first, end) of the definitions in each block that implements a trait of the repository."""
        for file, symbols in enumerate(self.program.files):
            for block in symbols.facts.implementations:
                trait = self._type_at(file, block.scope, block.trait)
                if trait >= 0:
                    yield trait, symbols.first + block.first, symbols.first + block.end

    def _resolve_bases(self, bases: list[tuple[int, int]]) -> tuple[list[BaseLink], list[tuple[int, int]]]:
        """Return (what `prepare` returns, what is not found) of bases by their files and places.

        The program knows those found afterwards.
        """
        resolved: list[BaseLink] = []
        missed: list[tuple[int, int]] = []
        for file, index in bases:
            symbols = self.program.files[file]
            base = symbols.facts.bases[index]
            owner = symbols.first + base.definition
            value = self._infer_base(owner, file, symbols.facts.definitions[base.definition].parent, base.name)
            if value is not None and value.kind is ValueKind.MODULE:  # a file that is a class as a whole
                value = self.inference.default_export(value)
            if value is not None and value.kind is ValueKind.DEFINITION:
                is_class = self.program.definition_of[owner].kind == NodeKind.CLASS and not base.implements
                if not is_class:
                    value = value._replace(number=self.program.as_type(value.number))
                elif self.program.is_type_only(value.number):
                    value = None
            if value is not None and value.kind is ValueKind.DEFINITION and value.number != owner:
                resolved.append(
                    BaseLink(owner, Target(value.number, value.rule, 1), base.implements, file, index, False)
                )
            else:
                missed.append((file, index))
        numbers: dict[int, list[int]] = {}
        for link in resolved:
            numbers.setdefault(link.owner, []).append(link.target.definition)
            made: Value | None = None
            if self._makes_objects(link.target.definition):  # `extends mixin(Base)`: of the class that it gives
                made = self.inference.call_result(Value(ValueKind.DEFINITION, link.target.definition, ""))
            elif (
                self._sees_members(link.file)
                and self.program.definition_of[link.target.definition].kind == NodeKind.TYPE
            ):
                if (named := self.inference.resolve_alias(link.target.definition)) is not None:
                    made = named._replace(kind=ValueKind.DEFINITION) if named.kind is ValueKind.INSTANCE else None
            elif self.program.is_value(link.target.definition):  # a class under another name
                made = self.inference.content_of(link.target.definition)
            if made is not None and made.kind is ValueKind.DEFINITION and self.program.is_type(made.number):
                numbers[link.owner].append(made.number)
        for owner, derived in numbers.items():
            self.program.set_bases(owner, [*self.program.bases_of(owner), *derived])
        return resolved, missed

    def _infer_base(self, owner: int, file: int, scope: int, name: str) -> Value | None:
        """Return the value of the name of a base of `owner`: not `owner` itself, but what has that name further out."""
        name, arguments = split_generic(name)
        value = self.inference.infer_chain(file, scope, name)
        settings = self.program.files[file].settings
        if value is None and settings is not None and settings.names.bare_calls:  # what stands in it, mixed in there
            value = self.inference.infer_chain(file, owner - self.program.files[file].first, name)
        if value is not None and value.kind is ValueKind.DEFINITION:
            value = value._replace(number=self.program.of_arity(value.number, len(arguments)))
        symbols = self.program.files[file]
        while (
            value is not None and value.kind is ValueKind.DEFINITION and value.number == owner and scope != MODULE_SCOPE
        ):
            scope = symbols.facts.definitions[scope].parent
            if scope == MODULE_SCOPE or not self.program.is_type(symbols.first + scope):
                value = self.inference.infer_chain(file, scope, name)
        if value is not None and value.kind is ValueKind.DEFINITION and value.number == owner:
            # The class that the file imports under the name, which it has until the new one is made.
            entry = symbols.imports.get(MODULE_SCOPE, {}).get(name)
            value = self.inference.value_of_import(file, entry) if entry is not None else value
        return value

    def _sees_members(self, file: int) -> bool:
        settings = self.program.files[file].settings
        return settings is not None and settings.names.members_are_visible

    def _bases_of_named_types(self) -> dict[int, list[int]]:
        """Return the types that named types stand for, in which members are looked for, too."""
        result: dict[int, list[int]] = {}
        for number in sorted(self.program.named_types):
            file = self.program.file_of[number]
            symbols = self.program.files[file]
            position = number - symbols.first
            returns, scope = symbols.returns[position], symbols.facts.definitions[position].parent
            value = self.inference.infer_chain(file, scope, returns) if split_type(returns)[0] is Shape.NONE else None
            if value is not None and value.kind is ValueKind.DEFINITION and value.number != number:
                result[number] = [value.number]
        return result

    def _find_implementations(self, file: int) -> list[BaseLink]:
        """Return what `prepare` does, for what types implement in blocks that stand outside of them."""
        symbols = self.program.files[file]
        result: list[BaseLink] = []
        for index, block in enumerate(symbols.facts.implementations):
            owner = self._type_at(file, block.scope, block.type)
            trait = self._type_at(file, block.scope, block.trait)
            if owner < 0:
                self._note_trait_methods(file, block, trait)
                continue
            if trait < 0 or trait == owner:
                self.inference.derived_from_outside.add(owner)
                continue
            value = self.inference.infer_chain(file, block.scope, block.trait)
            rule = value.rule if value is not None else RuleName.SAME_FILE
            result.append(BaseLink(owner, Target(trait, rule, 1), True, file, index, True))
        return result

    def _note_trait_methods(self, file: int, block: Implementation, trait: int) -> None:
        """Note the methods that a trait of the repository gives to a type of which it has no definition."""
        symbols = self.program.files[file]
        for local in range(block.first, block.end if trait >= 0 else block.first):
            methods = self.program.foreign.setdefault((trait, symbols.facts.definitions[local].name), {})
            methods.setdefault(block.type.rpartition(".")[2], symbols.first + local)

    def _type_at(self, file: int, scope: int, name: str) -> int:
        """Return the type that a name means in a scope, aliases followed, or -1."""
        name, arguments = split_generic(name) if "{" in name else (name, [])
        value = self.inference.infer_chain(file, scope, name)
        if value is None or value.kind is not ValueKind.DEFINITION:
            return -1
        if self.program.is_type_like(value.number):
            return self.program.of_arity(value.number, len(arguments))
        if self._makes_objects(value.number):
            return value.number
        aliased = self.inference.resolve_alias(value.number)
        return aliased.number if aliased is not None and aliased.kind is ValueKind.INSTANCE else -1

    def _makes_objects(self, definition: int) -> bool:
        """Return True for a function of a language in which functions have prototypes."""
        settings = self.program.files[self.program.file_of[definition]].settings
        is_function = self.program.definition_of[definition].kind == NodeKind.FUNCTION
        return is_function and settings is not None and bool(settings.names.assigned_infixes)

    def _find_delegates(self) -> list[tuple[int, int]]:
        """Return (type, other type in which its members are looked for, too) by the types inside of it that say so."""
        result = []
        for (owner, name), (member, *_) in self.program.attached.items():
            settings = self.program.files[self.program.file_of[member]].settings
            if settings is not None and name in settings.types.delegates:
                value = self.inference.resolve_alias(member)
                if value is not None and value.kind is ValueKind.INSTANCE and value.number != owner:
                    result.append((owner, value.number))
        for symbols in self.program.files:
            delegates = symbols.settings.types.delegates if symbols.settings is not None else ()
            for local, definition in enumerate(symbols.facts.definitions if delegates else ()):
                if definition.name in delegates and definition.kind in TYPE_KINDS and definition.parent >= 0:
                    result.append((symbols.first + definition.parent, symbols.first + local))
        return result

    def _attach_members(self) -> None:
        """Find the types of members that do not stand inside of them, before any chain asks for a member."""
        program = self.program
        outside = [
            (file, local, owner, symbols.facts.definitions[local].kind in TYPE_KINDS)
            for file, symbols in enumerate(program.files)
            for local, owner in symbols.facts.owners
        ]
        outside.sort(key=lambda each: (0, each[2].count(".")) if each[3] else (1, 0))  # types have members themselves
        for file, local, owner, is_type in outside:
            symbols = program.files[file]
            member = symbols.first + local
            parent = symbols.facts.definitions[local].parent
            if has_receiver_parameters(symbols.settings) and parent >= 0:
                self.name_lookup.add_extension(member, self._type_at(file, local, owner), owner)
                continue
            outer_type = self._type_at(file, parent, owner)
            if outer_type < 0:
                continue
            suite = symbols.settings.tests.suite if symbols.settings is not None else ""
            if suite and (test := re.match(suite, symbols.facts.definitions[local].signature)):
                if not test["apart"]:
                    program.owner_of[member] = outer_type
                continue
            program.attach_member(member, outer_type)
            if is_type:
                self.inference.clear_cache()
            if program.definition_of[outer_type].kind == NodeKind.TRAIT:
                program.for_all.add(outer_type)
            for name, binding in symbols.bindings.get(local, {}).items():
                if binding.type and "'" not in name:  # a type parameter: variables have names of their own
                    program.bounds.setdefault((outer_type, name), (file, binding))
        self.inference.clear_cache()

    def resolve(
        self, file: int, scope: int, chain: str, *, guess: bool, arguments: str = UNCOUNTED, values: str = ""
    ) -> tuple[list[Target], str]:
        """Return (targets, external package or "") of a use of `chain`; `guess` for what is called.

        `arguments` and `values` are as `Call` has them.
        """
        settings = self.program.files[file].settings
        names = settings.names if settings is not None else None
        lists_arguments = settings is not None and bool(settings.modules.headers)
        if names is not None and names.regions:
            meant, outside = self.inference.regions.resolve(file, scope, chain, (arguments, values) if guess else None)
            return [Target(*each) for each in meant], outside
        if names is not None and names.dispatched and guess and arguments != IS_TYPE:
            meant, outside = self.inference.dispatch.choose(file, scope, chain, arguments, values)
            return [Target(*each) for each in meant], outside
        dispatches = names is not None and names.object_first
        passed_on = "::" in chain or (dispatches and not guess)  # elsewhere, naming a function calls it
        chain = chain.replace("::", ".")
        called = (guess and arguments != IS_TYPE) or passed_on
        fitting = arguments if called else None
        if called and lists_arguments:
            fitting = UNCOUNTED  # a member hides those of bases whatever it takes
        value = self.inference.infer_chain(file, scope, chain, fitting)
        if dispatches and called and "." not in chain:
            value, chain = find_method(self.inference, (file, scope), chain, values, value)
        if passed_on and value is None and chain.endswith(".new"):
            chain = chain.removesuffix(".new")
            value = self.inference.infer_chain(file, scope, chain)
        if value is None and called and values and "." not in chain and lists_arguments:
            value = self._beside_arguments(file, scope, chain, values)
        is_opened = settings is not None and settings.modules.mentioned
        is_open = value is not None and value.kind in (ValueKind.UNKNOWN_MEMBER, ValueKind.BUILTIN, ValueKind.EXTERNAL)
        if called and is_open and value is not None and self.program.tree_paths.tree.has_file(file):
            receiver, _, method = chain.rpartition(".")
            is_value = receiver and not receiver.rpartition(".")[2][:1].isupper()  # else a type by its name
            if is_value and method not in self._builtin_of(file):
                value = self.inference.trait_method(file, scope, value, method) or value
        if chain.startswith(LAMBDA_VALUE) and ("." not in (bare := chain.partition(".")[2]) or is_opened):
            is_imported = value is not None and value.kind is ValueKind.EXTERNAL  # no extension of what is around
            chain = bare if is_imported or is_opened else chain
        if called and (value is None or is_open) and "." in chain:
            own = self.name_lookup.find_own_extension(file, scope, chain, "")
            if len(own) > 1 and (on := self.inference.infer_chain(file, scope, chain.rpartition(".")[0])) is not None:
                if on.kind is ValueKind.DEFINITION:
                    on = self.inference.content_of_value(on) or on
                is_own = on.kind is ValueKind.INSTANCE
                receiver = self.program.definition_of[on.number].name if is_own else on.type
                own = self.name_lookup.find_own_extension(file, scope, chain, receiver)
            if own:
                return [Target(each, rule, len(own)) for each, rule in own], ""
        if called and (value is None or is_open) and self.name_lookup.has_package_extension(chain):
            extensions = self.name_lookup.find_package_extensions(file, chain, arguments, value, values)
            if extensions:
                return [Target(each, rule, len(extensions)) for each, rule in extensions], ""
        if called and (value is None or is_open) and self.program.extended:
            extensions = self.name_lookup.find_extensions_of_external(file, chain, arguments, value)
            if extensions:
                return [Target(each, rule, len(extensions)) for each, rule in extensions], ""
        is_outside = called and (value is None or is_open) and "." in chain and self._sends_messages(file)
        if is_outside and (only := self.name_candidates.find_selector(file, chain)):
            return [Target(*each) for each in only], ""
        if not guess and "." in chain and (value is None or value.kind is ValueKind.UNKNOWN_MEMBER):
            value = value_of_holder(self.inference, file, scope, chain)
        if value is None or (value.kind is ValueKind.BUILTIN and value.type == "Function"):
            # A function may have been given the members of an object, which then has its name.
            return self._find_in_named_object(file, chain) if called else [], ""
        if value.kind is ValueKind.MODULE and guess:  # a module that is called is what it exports as a whole
            value = self.inference.default_export(value) or value
        constants: list[Target] = []
        call_method = names.call_method if names is not None else ""
        value = made_value(self.inference, value, names) if called and names is not None and call_method else value
        if guess and self.program.files[file].is_shaped:
            content = self.inference.content_of_call(value)
            if content is not None and value.kind is ValueKind.DEFINITION and self.program.is_value(value.number):
                constants = [Target(value.number, value.rule, 1)]
            elif content is None and value.kind is ValueKind.DEFINITION and self.program.is_value(value.number):
                content_value = self.inference.content_of_value(value)
                if content_value is not None and content_value.kind is ValueKind.INSTANCE and call_method:
                    constants = [Target(value.number, value.rule, 1)]
                    content = content_value
            value = content or value
            if value.kind is ValueKind.UNION:
                assert settings is not None
                several, n_possible = callable_parts(value, settings, chain.rpartition(".")[2])
                if len(several) > 1 and "." not in chain and "[" not in chain:  # no receiver: each is called some time
                    return [*(Target(part.number, RuleName.ALTERNATIVE, 1) for part in several), *constants], ""
                is_made = len(several) == n_possible > 1 and all(p.rule == RuleName.CONSTRUCTED for p in several)
                if is_made and "[" not in chain:  # a receiver that is made in one of several ways
                    return [*(Target(part.number, RuleName.ALTERNATIVE, 1) for part in several), *constants], ""
                return [*(Target(part.number, part.rule, n_possible) for part in several), *constants], ""
        if value.kind is ValueKind.UNION and called and lists_arguments:
            return [Target(*each) for each in self.twins.choose_in_branches(value, arguments)], ""
        is_overloaded = lists_arguments or (names is not None and names.curried and chain not in names.self_names)
        if value.kind is ValueKind.INSTANCE and called and is_overloaded:
            number, _ = self.program.find_member(value.number, call_method)
            if number >= 0 and not self._is_passed_through(file, chain):  # one of the overloads of the operator
                value, chain = value._replace(kind=ValueKind.DEFINITION, number=number), f"{chain}.()"
        if value.kind is ValueKind.DEFINITION:
            program = self.program
            if not called:
                if arguments == IS_TYPE and not (value := type_of(self.inference, (file, scope), chain, value, values)):
                    return [], ""
                every = program.packages.find_variants(value.number, program.file_of[value.number], file, program.files)
                variants = self.partial_types.select_declaration(every)
                return [Target(number, value.rule, len(variants)) for number in variants], ""
            if program.is_type_only(value.number):
                return [], ""  # a value of that name is not the repository's
            if lists_arguments:
                value = self._in_own_namespace(file, scope, chain, value)
                if self.twins.is_of_library(value.number):
                    return [], ""
            meant_by_name = self._factory_of(file, value.number, arguments)
            functions = program.select_overloads(self._callee_of(meant_by_name), arguments)
            if self._has_clauses(file):  # a function is its name and the number of its arguments
                functions = [
                    each for each in functions if misfit(program.parameters.get(each), arguments, {}) is not None
                ]
            if names is not None and names.labeled and program.definition_of[functions[0]].kind in CALLABLE_KINDS:
                functions, values = select_labeled(self.overloads, (file, scope), functions, (arguments, values)), ""
            by_form = ArgumentKind.FUNCTION in arguments or (settings and settings.types.inferred_by_arguments)
            if values or (by_form and len(functions) > 1) or (lists_arguments and (arguments or "." in chain)):
                functions, value = self.overloads.select_nearest((file, scope), functions, arguments, values, value)
            is_told = 0 < len(functions) <= MAX_CANDIDATES or meant_by_name == value.number  # which overload is meant
            if len(functions := functions if is_told else [value.number]) > MAX_CANDIDATES:
                return [], ""
            if functions and self._has_specifics(functions[0]):
                functions = self._choose_specific((file, scope), functions[0], arguments, values, chain)
            if len(functions) == 1 and program.parent(functions[0]) not in program.canonical:
                (number,) = functions
                of_file, chosen = program.file_of[number], self.twins.filter_of(number, arguments)
                is_linked = self.lists_arguments(of_file) and program.parent(number) < 0 > program.owner_of.get(
                    number, -1
                )
                functions = program.packages.find_variants(number, of_file, file, program.files, chosen, is_linked)
                if is_linked and value.rule == RuleName.SAME_FILE and program.file_of[functions[0]] != file:
                    value = value._replace(rule=RuleName.PACKAGE_SCOPE)
            if len(functions) > 1 and self._sends_messages(file):
                functions = self._of_receiver(file, scope, chain, functions)
            chosen_functions = self.twins.choose((file, scope), chain, functions, (arguments, values), value.rule)
            return [*(Target(*each) for each in chosen_functions), *constants], ""
        if value.kind is ValueKind.EXTERNAL or (value.kind is ValueKind.CALLABLE and value.name):
            return [], value.name
        if value.kind is ValueKind.INSTANCE and called and self._is_passed_through(file, chain):
            return constants, value.name
        if value.kind is ValueKind.COLLECTION and called:
            return constants, value.name
        if value.kind is ValueKind.INSTANCE and called and call_method:
            number = find_called(self.program, value.number, call_method)
            is_class = self._names_own_class(file, value, chain) and (number < 0 or self._means_class(file, chain))
            if not is_class:
                return [*([Target(number, value.rule, 1)] if number >= 0 else []), *constants], ""
        if value.kind is ValueKind.INSTANCE and called and self._makes(file, chain):
            return [Target(value.number, value.rule, 1)], ""  # no class of the repository has that constructor
        if value.kind is ValueKind.INSTANCE and guess and self._names_own_class(file, value, chain):
            return [Target(value.number, RuleName.SELF, 1)], ""
        if value.kind is not ValueKind.UNKNOWN_MEMBER or not guess:
            return [], ""
        chain = chain.partition(".")[2] if chain.startswith(LAMBDA_VALUE) else chain
        name = chain.rpartition(".")[2]
        if name.startswith(STRING_KEY):
            return [], ""  # whatever a table holds
        if name in self._builtin_of(file) or name.startswith("__"):
            return self._find_in_named_object(file, chain), ""
        return [Target(*each) for each in self.name_candidates.find(file, chain, arguments)], ""

    def lists_arguments(self, file: int) -> bool:
        """Return True if what a called name means does not depend on arguments; they choose between its overloads."""
        settings = self.program.files[file].settings
        return settings is not None and bool(settings.modules.headers)

    def _in_own_namespace(self, file: int, scope: int, chain: str, value: Value) -> Value:
        """Return what a name found in another namespace of the file means in those around `scope` or used whole."""
        symbols, program = self.program.files[file], self.program
        if scope < 0 or len(symbols.opened_namespaces) < 2 or "(" in chain or "[" in chain:
            return value
        qualname = program.definition_of[value.number].qualname
        namespace, around = qualname.removesuffix(f".{chain}"), symbols.facts.definitions[scope].qualname
        if namespace == qualname or f"{around}.".startswith(f"{namespace}."):
            return value
        if any(entry.module == namespace for entry in symbols.stars):
            return value
        above = [around[: at.start()] for at in re.finditer(r"\.", around)][::-1]
        for each in (*above, *(star.module for star in symbols.stars if not star.alias)):
            own = symbols.by_qualname.get(f"{each}.{chain}")
            if own is None:
                own = program.packages.find_definition(file, f"{each}.{chain}", program.files)
            if own is not None:
                return value._replace(number=own, rule=self.name_lookup.rule_of_path(file, own))
        return value

    def _beside_arguments(self, file: int, scope: int, name: str, values: str) -> Value | None:
        """Return the function of a namespace that holds the type of an argument, which need not be named in a call."""
        program = self.program
        for each in values.split(","):
            value = self.inference.infer_chain(file, scope, each.lstrip("&*")) if each else None
            if value is not None and self.inference.is_held(value):
                value = self.inference.content_of_value(value)
            around = program.definition_of[value.number].qualname if value and value.kind is ValueKind.INSTANCE else ""
            while "." in around:
                around = around.rpartition(".")[0]
                found = program.packages.find_definition(file, f"{around}.{name}", program.files)
                if found is not None and program.definition_of[found].kind == NodeKind.FUNCTION:
                    return Value(ValueKind.DEFINITION, found, self.name_lookup.rule_of_path(file, found))
        return None

    def _sends_messages(self, file: int) -> bool:
        settings = self.program.files[file].settings
        return settings is not None and settings.types.messages

    def _of_receiver(self, file: int, scope: int, chain: str, methods: list[int]) -> list[int]:
        """Return those of the methods for one message that a class has itself, or that its instances have."""
        receiver, definitions = chain.rpartition(".")[0], self.program.definition_of
        if receiver in ("self", "super") and scope >= 0:
            around = self.program.outermost_function(self.program.files[file].first + scope)
            sign = definitions[around].signature[:1]
        else:
            value = self.inference.infer_chain(file, scope, receiver)
            is_class = value is not None and value.kind is ValueKind.DEFINITION and self.program.is_type(value.number)
            sign = "+" if is_class or receiver.endswith(".class()") else "-"
        return [each for each in methods if definitions[each].signature[:1] == sign] or methods

    def _find_in_named_object(self, file: int, chain: str) -> list[Target]:
        return [Target(*each) for each in self.name_candidates.find_in_named_object(file, chain)]

    def _has_clauses(self, file: int) -> bool:
        settings = self.program.files[file].settings
        return settings is not None and settings.names.clauses

    def _factory_of(self, file: int, definition: int, arguments: str) -> int:
        """Return the function that a call of a type by its name runs where the constructor cannot be meant.

        It is a function of the type's name beside it, or the operator of its companion. Otherwise return `definition`.
        """
        program = self.program
        at, called = program.file_of[definition], program.definition_of[definition]
        settings = program.files[at].settings
        if settings is None or not settings.names.callables_apart or called.kind not in TYPE_KINDS:
            return definition
        beside = program.files[at].callables.get(called.qualname, ()) if settings.modules.holds_functions else ()
        fitting = [each for each in beside if misfit(program.parameters.get(each), arguments, {}) is not None]
        if fitting and not is_made_by(called.signature, arguments):
            return fitting[0]
        call_method, is_case = settings.names.call_method, called.signature.lstrip().startswith("case ")
        if settings.names.curried and arguments not in (UNCOUNTED, IS_TYPE):  # without `new`
            operator = program.find_own_member(definition, call_method, arguments)
            is_made = is_case and is_made_by(called.signature, arguments, program.parameters.get(operator))
            return operator if operator >= 0 and not is_made else definition
        if file == at or not _NOT_MADE.search(called.signature):
            return definition
        for name in settings.types.delegates:
            companion = program.find_own_member(definition, name)
            if companion >= 0 and (operator := program.find_own_member(companion, call_method, arguments)) >= 0:
                return operator
        return definition

    def is_unknown(self, file: int, scope: int, chain: str, arguments: str) -> bool:
        """Return True if a called chain that `resolve` could not resolve may denote any definition of its last name."""
        # The same question as there, whose answer is known.
        fitting = None if arguments == IS_TYPE else UNCOUNTED if self.lists_arguments(file) else arguments
        value = self.inference.infer_chain(file, scope, chain.replace("::", "."), fitting)
        return value is not None and value.kind in (ValueKind.UNKNOWN_MEMBER, ValueKind.UNKNOWN)

    def _callee_of(self, definition: int) -> int:
        """Return what runs when `definition` is called: the function that a constant is another name of, or itself."""
        settings = self.program.files[self.program.file_of[definition]].settings
        kind = self.program.definition_of[definition].kind
        if kind == NodeKind.TYPE and settings is not None and (settings.modules.headers or settings.modules.pasted):
            made = self.inference.resolve_alias(definition)
            return made.number if made is not None and made.kind is ValueKind.INSTANCE else definition
        if kind != NodeKind.CONSTANT or settings is None:
            return definition
        if settings.types.prefixed and "::" not in self.program.definition_of[definition].signature:
            return definition  # a variable, which is there to be given another function
        content = self.inference.content_of(definition)
        return content.number if content is not None and content.kind is ValueKind.DEFINITION else definition

    def _is_passed_through(self, file: int, chain: str) -> bool:
        """Return True if the value of a chain is that of its receiver, or an element of it, by a method of no type."""
        settings = self.program.files[file].settings
        name = chain.rpartition(".")[2]
        return settings is not None and (name in settings.types.unwrap_methods or name in settings.types.elements)

    def _makes(self, file: int, chain: str) -> bool:
        settings = self.program.files[file].settings
        return settings is not None and chain.rpartition(".")[2] in settings.types.makers

    def _means_class(self, file: int, chain: str) -> bool:
        settings = self.program.files[file].settings
        return settings is not None and chain in settings.names.own_class

    def _names_own_class(self, file: int, value: Value, chain: str) -> bool:
        settings = self.program.files[file].settings
        is_trait = self.program.definition_of[value.number].kind == NodeKind.TRAIT  # its values may be functions
        # With the last two the receiver is a value.
        if settings is None or is_trait or settings.types.prefixed or settings.names.object_first:
            return False
        if chain in settings.names.self_names:
            return self.program.is_type(value.number)
        # `const C = this`
        return value.rule == RuleName.SELF and "." not in chain and bool(settings.names.assigned_infixes)

    def _choose_specific(
        self, place: tuple[int, int], function: int, arguments: str, values: str, chain: str
    ) -> list[int]:
        settings = self.program.files[self.program.file_of[function]].settings
        if settings is not None and settings.names.grouped:
            return ProcedureGroups(self.inference).choose(place, function, values)
        return self.specifics.choose(place, function, arguments, values, chain)

    def _has_specifics(self, function: int) -> bool:
        return bool(self.program.files[self.program.file_of[function]].specifics)

    def _builtin_of(self, file: int) -> Container[str]:
        settings = self.program.files[file].settings
        return settings.builtin_methods if settings else ()


_NOT_MADE = re.compile(r"\bprivate\s+constructor\b|\b(?:abstract|sealed|interface)\b")


@dataclass(slots=True)
class KeptFunctions:
    """Functions that structures and objects keep under a name, for calls of that name on unknown receivers."""

    resolver: Resolver
    _by_name: dict[tuple[str, str], list[tuple[int, str]]] | None = None  # (family, name) -> (file, chain)

    def find(self, file: int, chain: str) -> tuple[int, ...]:
        """Return the functions that a called chain may mean by its last name; none where too many may be meant.

        In languages where files see only what they import, these are those that the file or one that it imports keeps.
        """
        receiver, _, name = chain.rpartition(".")
        program = self.resolver.program
        settings = program.files[file].settings
        if not receiver or settings is None or name in settings.builtin_methods:
            return ()
        if self._by_name is None:
            self._by_name = {}
            for number, symbols in enumerate(program.files):
                for binding in symbols.facts.bindings if symbols.settings is not None else ():
                    if binding.target.startswith(KEPT) and symbols.settings is not None:
                        key = symbols.settings.family, binding.target.removeprefix(KEPT)
                        self._by_name.setdefault(key, []).append((number, binding.value))
        kept = self._by_name.get((settings.family, name), ())
        if kept and not settings.modules.headers:
            visible = self.resolver.name_candidates.visible_files(file)
            kept = [each for each in kept if each[0] in visible]
        functions: dict[int, None] = {}
        for at, value in kept:
            callee = self.resolver.inference.infer_chain(at, MODULE_SCOPE, value)
            number = callee.number if callee is not None and callee.kind is ValueKind.DEFINITION else -1
            if number >= 0 and program.definition_of[number].kind in CALLABLE_KINDS:
                functions[number] = None
        return tuple(functions) if len(functions) <= MAX_CANDIDATES else ()
