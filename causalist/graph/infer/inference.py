"""Inferred value of a chain of names: by scope, imports, bases and light types; never by namesakes.

A chain is read from left to right; each step is a definition, an instance of a type, a module, something external, or
unknown. The resolver decides which edges follow, and what is guessed where nothing is known.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from causalist.graph.file_symbols import FileSymbols
from causalist.graph.imports.declared_packages import can_be_package_prefix
from causalist.graph.infer.annotations_and_members import AnnotationTypes, MemberTypes
from causalist.graph.infer.base import MAX_OPEN_HOLDERS, InferenceBase, NameBindings, member_of_library
from causalist.graph.infer.containers import ContainerTypes, checked_value, is_taken_from_bare_collection, method_of
from causalist.graph.infer.declarative_regions import DeclarativeRegions
from causalist.graph.infer.method_dispatch import MethodDispatch, choose_operator
from causalist.graph.infer.model_queries import ModelQueries
from causalist.graph.infer.unimported_modules import MentionedModules
from causalist.graph.name_lookup import NameLookup
from causalist.graph.overload_fit import arguments_of
from causalist.graph.program import Program
from causalist.graph.resolution_results import (
    BUILTIN,
    HOLDERS,
    QUERY,
    RESOLUTION_KINDS,
    UNKNOWN,
    UNKNOWN_MEMBER,
    Resolution,
    ResolutionKind,
    Value,
    ValueKind,
    value_of_resolution,
)
from causalist.graph.rules import RuleName
from causalist.model.facts import MODULE_SCOPE, UNCOUNTED, Binding, Import
from causalist.model.language_settings import ShapeSettings, TypeSettings
from causalist.model.node_ids import CALLABLE_KINDS, NodeKind, accessor_names
from causalist.model.type_notation import (
    ABOVE,
    GIVEN,
    LAMBDA_VALUE,
    NARROWED,
    OWN_OBJECT,
    PLACE,
    STRING_KEY,
    Mark,
    split_chain_part,
)

_MAX_SCOPES = 40  # definitions around a name that are looked into, from the inside
_MAX_OPEN_CHAINS = 40  # each read for the sake of the one before
_CONTENT_RULE = RuleName.ATTRIBUTE_TYPE
_IN_TYPE = -2  # and below: scopes that stand for all methods of a type
_OF_LAMBDA = re.compile(rf"(?:{OWN_OBJECT}|{GIVEN}(?:-\d+)?)$")


@dataclass(slots=True, eq=False)
class Inference(InferenceBase):
    """Values of chains in all files of a program. Call `read_attributes` when its bases are known."""

    program: Program
    name_lookup: NameLookup = field(init=False)
    queries: ModelQueries = field(init=False)
    containers: ContainerTypes = field(init=False)
    annotations: AnnotationTypes = field(init=False)
    members: MemberTypes = field(init=False)
    mentioned: MentionedModules = field(init=False)
    dispatch: MethodDispatch = field(init=False)
    regions: DeclarativeRegions = field(init=False)
    derived_from_outside: set[int] = field(default_factory=set)  # types with a base that is not of the repository
    known: dict[tuple[int, int, str, str | None], Value | None] = field(default_factory=dict)
    large_names: dict[tuple[int, int, str, int], NameBindings] = field(default_factory=dict)
    n_cut: int = 0  # how often a chain was given up because it leads back to itself, or too many are open
    _open_chains: set[tuple[int, int, str, str | None]] = field(default_factory=set)
    unfolding: set[object] = field(default_factory=set)  # aliases and bounds being followed: one may lead to itself
    _open_holders: set[int] = field(default_factory=set)  # constants and fields whose content is being looked into
    attributes: dict[int, dict[str, list[tuple[int, Binding]]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.name_lookup = NameLookup(self.program)
        self.queries = ModelQueries(self, self.program)
        self.containers = ContainerTypes(self)
        self.annotations = AnnotationTypes(self, self.containers)
        self.members = MemberTypes(self, self.containers, self.annotations)
        self.mentioned = MentionedModules(self.program, self)
        self.dispatch = MethodDispatch(self.program)
        self.regions = DeclarativeRegions(self.program)

    def release_tables(self) -> None:
        """Drop the parts that refer back to this object, so that its last use frees it. It can infer nothing then."""
        del self.regions.fit  # it has methods of the regions
        del self.queries, self.containers, self.annotations, self.members, self.mentioned, self.dispatch, self.regions

    def read_attributes(self) -> None:
        """Forget what was found without bases, and collect the attributes that types are given."""
        self.clear_cache()
        self.attributes = self.members.collect_assignments()
        self.containers.add_decorated(self.attributes)
        self.clear_cache()  # what was looked up for their sake did not know them all

    def assignments_of(self, owner: int, name: str) -> Sequence[tuple[int, Binding]]:
        """Return (file, binding) wherever a type is given an attribute, one with a type or value first."""
        return self.attributes.get(self.program.canonical.get(owner, owner), {}).get(name, ())

    @property
    def depth(self) -> int:
        """Number of chains that are being read, each for the sake of the one before."""
        return len(self._open_chains)

    def clear_cache(self) -> None:
        """Forget all values, since something that they depend on has changed."""
        for each in (self.known, self.large_names, self._open_chains, self.unfolding, self._open_holders):
            each.clear()
        self.mentioned.opened.clear()
        self.queries.models.clear()
        self.containers.held_names.clear()
        self.dispatch.clear()
        self.regions.clear_cache()
        for symbols in self.program.files:
            symbols.decided.clear()

    def infer_chain(self, file: int, scope: int, chain: str, called: str | None = None) -> Value | None:
        """Return the value of a chain; None for an unknown name, or a known receiver without that member.

        A value of kind `UNKNOWN_MEMBER` says that nothing is known of the receiver. `called` are a call's arguments.
        """
        key = (file, scope, chain, called)
        known = self.known
        if key in known:
            return known[key]
        if key in self._open_chains or len(self._open_chains) > _MAX_OPEN_CHAINS:
            self.n_cut += 1
            return None
        symbols = self.program.files[file]
        if symbols.settings is not None and symbols.settings.names.regions:
            return known.setdefault(key, self.regions.infer(file, scope, chain))
        checked = symbols.find_checked(scope, chain) if symbols.checked else ""
        outer = scope if checked or scope < 0 else self.deciding_scope(file, scope, chain)
        if outer != scope:
            value = self.infer_chain(file, outer, chain, called)
        else:
            self._open_chains.add(key)
            value = (self._walk_checked if checked else self._walk_chain)(file, scope, chain, called)
            self._open_chains.discard(key)
        known[key] = value
        return value

    def _walk_checked(self, file: int, scope: int, chain: str, called: str | None) -> Value | None:
        """Return the value of a chain that begins with a member whose type the function checks."""
        checked = self.program.files[file].find_checked(scope, chain)
        own, checks = self.infer_chain(file, scope, checked), self.annotations.checks_of(file, scope, checked)
        if own is not None and own.kind is ValueKind.DEFINITION:
            content = self.content_of_value(own)
            own = content.with_rule(_CONTENT_RULE) if content is not None else None
        parts = chain[len(checked) :].split(".")
        return self.follow_members(file, checked_value(own, checks) if checks is not None else own, parts, 1, called)

    def _walk_chain(self, file: int, scope: int, chain: str, called: str | None) -> Value | None:
        symbols = self.program.files[file]
        if (settings := symbols.settings) is None:
            return None
        if settings.names.dispatched:
            return self.dispatch.find_value(file, scope, chain)
        if settings.names.labeled and (PLACE in chain or chain.startswith(".")):
            return self.of_labeled(file, scope, chain, called)
        if ";" in chain and (PLACE in chain or _OF_LAMBDA.search(chain)):
            return self.of_parameter(file, scope, *chain.rpartition(".")[::2])
        if chain.startswith("<"):  # an expression that is said to be of a type
            annotation, _, rest = chain[1:].partition(">")
            if annotation.startswith(ABOVE):
                base = self.infer_chain(file, scope, annotation.removeprefix(ABOVE))
                is_type = base is not None and base.kind is ValueKind.DEFINITION and self.program.is_type(base.number)
                above = Value(ValueKind.SUPER, base.number, RuleName.SUPER) if base is not None and is_type else UNKNOWN
                return self.follow_members(file, above, rest.split("."), 1, called)
            typed = self.annotations.infer_annotation(file, scope, annotation, RuleName.ANNOTATION)
            return self.follow_members(file, typed, rest.split("."), 1, called)
        if chain.startswith(LAMBDA_VALUE):
            inside = self.mentioned.find_inside if settings.modules.mentioned else self._inside_lambda
            return inside(file, scope, chain, called)
        parts = self._with_own_class(symbols, scope, chain).split(".")
        head, unknown = parts[0], UNKNOWN_MEMBER if len(parts) > 1 else None
        if head == "?":
            return unknown
        named = self.mentioned.opened.find_chain(file, scope, parts) if settings.modules.opened else None
        if named is not None and len(parts) > 1:
            marks = split_chain_part(parts[named[1] - 1], settings.types, settings.shapes)[1]
            made = self._apply_marks(named[0], marks, settings.shapes)
            return self.follow_members(file, made, parts, named[1], called)
        if len(parts) > 1 and (exported := self.members.own_export(file, scope, chain, called)) is not None:
            return exported
        bare, marks = split_chain_part(head, settings.types, settings.shapes)
        value: Value | None
        if head in settings.names.super_names or (bare in settings.names.super_names and head.endswith("()")):
            if head.endswith("()") and head not in settings.names.super_names:
                return None
            owner = self.program.enclosing_owner(symbols.first + scope) if scope >= 0 else -1
            if owner < 0 or len(parts) == 1:
                return self.name_lookup.find_super_constructor(owner, called) if owner >= 0 else None
            value = Value(ValueKind.SUPER, owner, RuleName.SUPER)
        elif not head or (settings.modules.flat and self.name_lookup.begins_with_package(symbols, parts)):
            return self._declared_elsewhere(file, parts, called, None)
        elif (owner := _IN_TYPE - scope) >= 0:
            value = Value(ValueKind.INSTANCE, owner, RuleName.SELF)
            if marks and (settings.names.constructors or bare[:1].isupper()):  # the class, by its own name inside of it
                value = value._replace(rule=RuleName.CONSTRUCTED) if marks == [Mark.CALL] else UNKNOWN
            else:
                value = self._apply_marks(value, marks, settings.shapes)
        elif (checks := symbols.bindings.get(scope, {}).get(f"{NARROWED}{bare}")) and bare in settings.names.self_names:
            owner = self._type_of_self(symbols, scope, bare)
            itself = Value(ValueKind.INSTANCE, owner, RuleName.SELF) if owner >= 0 else UNKNOWN
            checked = self.annotations.infer_annotation(file, checks.scope, checks.type, RuleName.ANNOTATION)
            value = self._apply_marks(checked_value(itself, checked), marks, settings.shapes)
        elif bare in settings.names.self_names and scope >= 0 and settings.names.assigned_infixes:
            value = self.containers.object_of_method(self.program.outermost_function(symbols.first + scope))
        else:
            value = self.lookup_name(
                file, scope, bare, arguments_of(head, called if len(parts) == 1 else None), len(parts) > 1
            )
            if value is None and settings.names.call_method and settings.names.callables_apart:
                bare_value = self.lookup_name(file, scope, bare, None, len(parts) > 1)  # an object that is called
                value = bare_value if bare_value is not None and bare_value.kind is ValueKind.INSTANCE else None
            if value is None and bare in settings.types.queries and scope >= 0:
                value, marks = self.queries.of_own_class(symbols.first + scope), marks[1:]
            is_variable = value is None and settings.names.sigil and bare.startswith(settings.names.sigil)
            value = UNKNOWN if is_variable else value
            if settings.modules.headers and len(parts) > 1:
                value = self.class_of_constructor(value) if value is not None else None
            if settings.names.all_declared and (value is None or can_be_package_prefix(settings, value, parts)):
                return self._declared_elsewhere(file, parts, called, value)
            value = self._apply_marks(value, marks, settings.shapes)
        member = self.follow_members(file, value, parts, 1, called)
        is_lost = member is None or member.kind is ValueKind.UNKNOWN_MEMBER
        if is_lost and bare in settings.names.own_class and value is not None and value.kind is ValueKind.INSTANCE:
            member = self.follow_members(file, value._replace(kind=ValueKind.DEFINITION), parts, 1, called) or member
        return member

    def _inside_lambda(self, file: int, scope: int, chain: str, called: str | None) -> Value | None:
        """Return the value of a chain that begins with a value of a lambda, or may be a member of its own object."""
        head, _, rest = chain.partition(".")
        keys = head.rstrip("!^")[1:].split(LAMBDA_VALUE)
        parts = ["", *rest.split(".")] if rest else [""]
        if not rest and head[-1] not in "!^":
            return UNKNOWN  # whatever the name behind it is a member of
        symbols = self.program.files[file]
        builtin = symbols.settings.builtin_methods if symbols.settings is not None else ()
        for key in keys:
            target, at = f"{LAMBDA_VALUE}{key}", scope
            while at != MODULE_SCOPE and target not in symbols.bindings.get(at, {}):
                at = symbols.facts.definitions[at].parent
            binding = symbols.bindings.get(at, {}).get(target)
            value = self.annotations.binding_value(file, binding, target) if binding is not None else UNKNOWN
            if value.kind is ValueKind.DEFINITION:
                value = self.content_of_value(value) or UNKNOWN
            if head.endswith("^"):
                is_known = value.kind is ValueKind.INSTANCE
                value = value._replace(kind=ValueKind.COLLECTION) if is_known else BUILTIN
                return self.follow_members(file, value, parts, 1, called)
            if head.endswith("!"):
                return self.follow_members(file, value, parts, 1, called)
            if value.kind is ValueKind.UNKNOWN:
                continue
            name = parts[1].rstrip("()[]")
            if value.kind is ValueKind.INSTANCE:
                arguments = arguments_of(parts[1], called if len(parts) == 2 else None)
                if self._follow_member(file, value, name, name, arguments) is not None:
                    return self.follow_members(file, value, parts, 1, called)
            elif value.kind is not ValueKind.UNKNOWN_MEMBER and name in builtin:
                return value
        return self.infer_chain(file, scope, rest, called)

    def _apply_marks(self, value: Value | None, marks: list[str], shapes: ShapeSettings) -> Value | None:
        if marks and shapes.sequences:
            return self.containers.apply_marks(shapes, value, marks)
        return self._apply_simple_marks(value, marks)

    def _declared_elsewhere(
        self, file: int, parts: list[str], called: str | None, otherwise: Value | None
    ) -> Value | None:
        """Return the value of a chain whose first name nothing around declares: a package or something external."""
        symbols = self.program.files[file]
        assert symbols.settings is not None
        declaration = self.name_lookup.find_path(symbols, parts)
        if declaration is None and self.program.is_mixed and (facade := self.name_lookup.find_facade(symbols, parts)):
            return self.follow_members(
                file, Value(ValueKind.MODULE, facade[0], RuleName.IMPORT), parts, facade[1], called
            )
        if declaration is None:
            is_class = parts[0][:1].isupper() or (symbols.settings.modules.flat and f"_{parts[0]}".isidentifier())
            is_method = symbols.settings.inherits_names and not is_class  # of a base that is not here
            return otherwise or (None if len(parts) == 1 else UNKNOWN_MEMBER if is_method else BUILTIN)
        value = self._apply_simple_marks(
            Value(ValueKind.DEFINITION, declaration[0], self.name_lookup.rule_of_path(file, declaration[0])),
            split_chain_part(parts[declaration[1] - 1], symbols.settings.types)[1],
        )
        return self.follow_members(file, value, parts, declaration[1], called)

    def follow_members(
        self, file: int, value: Value | None, parts: list[str], first: int, called: str | None = None
    ) -> Value | None:
        """Return the value of the chain `parts` if everything before its part number `first` is `value`."""
        unknown, i, settings = UNKNOWN_MEMBER, first, self.program.files[file].settings
        bare_calls = settings is not None and settings.names.bare_calls
        types, shapes = (settings.types, settings.shapes) if settings is not None else (TypeSettings(), ShapeSettings())
        while i < len(parts):
            if bare_calls or types.queries:
                value = self.annotations.run_by_name(value, not bare_calls)
            if value is None or value.kind is ValueKind.UNKNOWN:
                return unknown
            if value.kind in (ValueKind.EXTERNAL, ValueKind.BUILTIN):
                if value.type and value.kind is ValueKind.BUILTIN and settings is not None and settings.modules.headers:
                    value, i = member_of_library(types, value, parts[i]), i + 1
                    continue
                if is_taken_from_bare_collection(shapes, value, parts[i]):
                    return unknown if i + 1 < len(parts) else UNKNOWN
                return value
            if value.kind in HOLDERS and not shapes.sequences:
                if value.kind is ValueKind.TUPLE and parts[i].removesuffix("()") in types.unwrap_methods:
                    i += 1
                    continue
                if value.kind is not ValueKind.TUPLE or value.place_of(parts[i].rstrip("()[]")) < 0:
                    return BUILTIN
            part = parts[i]
            if is_keyed := part.startswith(STRING_KEY):
                part = self.containers.keyed_part(value, part)
                parts = [*parts[:i], part, *parts[i + 1 :]]
            i += 1
            if (
                value.kind is ValueKind.DEFINITION
                and settings is not None
                and f".{part}" in settings.names.assigned_infixes
            ):
                continue  # `A.prototype.m`: a member of A like any other
            name, known_arguments = part.rstrip("()[]") or part, called if i == len(parts) else None
            arguments = arguments_of(part, UNCOUNTED if known_arguments is None and bare_calls else known_arguments)
            bare, marks = split_chain_part(part, types, shapes)
            if types.collection_methods:
                is_run = bool(marks) or i < len(parts) or (bare_calls and called is None)
                step = self.members.collection_member(types, value, name, is_run)
                if step is not None:
                    value = step
                    continue
            step = self._follow_member(file, value, bare, ".".join(parts[:i]), arguments, i < len(parts))
            if step is None and (arguments is not None or name in types.unwrap_properties):
                step = self.members.passthrough_type(types, value, name)
                if step is not None:
                    value = step
                    continue
            if step is None and value.kind is ValueKind.DEFINITION:
                step, i = self.name_lookup.find_deep_member(value.number, parts, i)
                marks = split_chain_part(part := parts[i - 1], types, shapes)[1]
            is_open = step is None or (arguments is not None and step.kind is ValueKind.UNKNOWN)
            if is_open and settings is not None and settings.names.accessors and self.program.is_mixed:
                accessed = self._accessed_member(file, value, bare, arguments)
                if accessed is not None:
                    step = accessed
                    is_run = bool(marks) and step.kind is ValueKind.DEFINITION
                    if i < len(parts) and not marks:
                        step = self.annotations.run_by_name(step)
                    value = self._apply_marks(step, marks[1:] if is_run else marks, shapes)
                    continue
            invokes = settings is not None and part.rstrip("()") in settings.names.invokers
            step = value if step is None and value.kind is ValueKind.DEFINITION and invokes else step
            if step is None and (is_keyed or types.makers):
                step = UNKNOWN if is_keyed or part[:1] == "$" else self.find_autoload(value)
            if step is None:
                # A known receiver without that member: dynamic, or inherited from outside. No candidates either.
                is_guess = value.rule == RuleName.LIKE_NAMED
                return unknown if is_guess or self.members.can_have_more_members(value, i < len(parts)) else None
            makes = bool(types.makers) and known_arguments is None
            rule = self.annotations.receiver_rule(step) if makes or marks[:1] == [Mark.CALL] else ""
            if rule and (itself := self.infer_returned_object(value, rule)) is not None:
                value = self._apply_marks(itself, marks[1:], shapes) if marks[1:] else itself
                continue
            value = self.or_own_class(value, step, self._apply_marks(step, marks, shapes), makes)
        return self.annotations.run_by_name(value) if bare_calls and called is None else value

    def _accessed_member(self, file: int, value: Value, name: str, called: str | None) -> Value | None:
        """Return the member of a type of another language by the name of its accessor, or the accessor itself."""
        program = self.program
        if value.kind is ValueKind.MODULE:
            accessor = program.facade_member(value.number, name, called)
            return Value(ValueKind.DEFINITION, accessor, RuleName.MODULE_ATTRIBUTE) if accessor >= 0 else None
        if value.kind not in (ValueKind.INSTANCE, ValueKind.DEFINITION):
            return None
        for each in accessor_names(name, called is not None):
            step = self._follow_member(file, value, each, each, None if called is not None else UNCOUNTED)
            if step is not None and step.kind is ValueKind.DEFINITION:
                settings = program.files[program.file_of[step.number]].settings
                if settings is not program.files[file].settings:
                    return step
        return None

    def lookup_name(
        self, file: int, scope: int, name: str, called: str | None = None, path: bool = False
    ) -> Value | None:
        """Look up a bare name from the innermost scope outwards; None for builtins and unknown globals."""
        program = self.program
        symbols = program.files[file]
        definitions = symbols.facts.definitions
        settings = symbols.settings
        assert settings is not None
        first, is_outside, innermost, tree = True, False, scope, program.tree_paths.tree.has_file(file)
        for _ in range(_MAX_SCOPES):
            if scope == MODULE_SCOPE:
                break
            definition = definitions[scope]
            if (tree or settings.modules.opened) and definition.kind == NodeKind.NAMESPACE:
                break
            is_type = program.is_type(symbols.first + scope)
            if is_type and is_outside and settings.names.bare_calls and not name[:1].isupper():
                pass  # of the types around the type only constants are visible
            elif is_type and settings.names.members_are_visible:
                value = self.name_lookup.find_member_in_scope(symbols.first + scope, name, called, first)
                if value is not None:
                    return self._of_own_type(symbols.first + scope, value)
                # A type parameter, or a variable of an initializer.
                binding = symbols.bindings.get(scope, {}).get(name)
                if binding is not None and (called is None or settings.modules.pasted):
                    return self.annotations.binding_value(file, binding, name)
            elif not is_type or (first and not settings.modules.labels) or settings.names.class_scope_is_visible:
                own = symbols.by_qualname.get(f"{definition.qualname}.{name}")
                if own is not None and settings.names.unseen:
                    own = self.mentioned.find_before(symbols, innermost, own)
                if (
                    own is not None
                    and program.parent(own) == symbols.first + scope
                    and not program.is_object_method(own)
                ):
                    return Value(ValueKind.DEFINITION, own, RuleName.SAME_FILE)
                entry = symbols.imports.get(scope, {}).get(name)
                if entry is not None:
                    return self.value_of_import(file, entry)
                binding = symbols.bindings.get(scope, {}).get(name)
                is_variable = called is None or not settings.names.callables_apart
                if binding is not None and (not is_type or settings.modules.opened) and is_variable:
                    return self.annotations.binding_value(file, binding, name)
            owner = program.owner_of.get(symbols.first + scope, -1) if settings.names.members_are_visible else -1
            if owner >= 0 and (value := self.name_lookup.find_member_in_scope(owner, name, called)) is not None:
                return value
            first, is_outside = False, is_outside or is_type
            scope = definition.parent
        if tree:
            resolution = program.tree_paths.find_visible(file, innermost, name, path)
            return self._value_of_resolution(resolution, "") if resolution is not None else None
        if settings.modules.mentioned:
            return self.mentioned.find_at_top(file, innermost, name, called)
        if settings.modules.opened:
            return self.mentioned.opened.find_name(file, innermost, name)
        own = symbols.by_qualname.get(name)
        entry = symbols.imports.get(MODULE_SCOPE, {}).get(name)
        if own is not None and program.is_object_method(own) and settings.names.assigned_infixes:
            own = None
        if own is not None and (entry is None or not program.is_value(own)):
            itself = Value(ValueKind.DEFINITION, own, RuleName.SAME_FILE)
            if entry is None or called is None or not (symbols.is_shaped and symbols.has_visible_imports):
                return itself
            return self.name_lookup.with_twin(itself, self.value_of_import(file, entry))
        if entry is not None:
            return self.value_of_import(file, entry, called)
        binding = symbols.bindings.get(MODULE_SCOPE, {}).get(name)
        if binding is not None:
            return self.annotations.binding_value(file, binding, name)
        shared = self.name_lookup.find_in_package(symbols, name, innermost)
        if shared is not None:
            return shared
        resolution = self.name_lookup.find_star_import(file, name, called)
        if resolution is not None:
            return self._value_of_resolution(resolution, RuleName.STAR_IMPORT)
        return BUILTIN if name in settings.shapes.builtins else None

    def value_of_import(self, file: int, entry: Import, called: str | None = None) -> Value | None:
        """Return what an import of a file brings under its local name."""
        resolution = self.program.follow_import(file, entry, called)
        if resolution is None:
            return UNKNOWN  # imported from here, but made in a way that cannot be seen
        if resolution.rule == "dotted":
            return Value(ValueKind.PARTIAL_PACKAGE, file, RuleName.PATH, entry.module)
        return self._value_of_resolution(resolution, "")

    def _value_of_resolution(self, resolution: Resolution, rule: str) -> Value:
        if resolution.kind is ResolutionKind.VALUE:
            made = self.infer_chain(resolution.number, MODULE_SCOPE, resolution.name)
            if self.program.files[resolution.number].is_shaped:
                return made or UNKNOWN
            if made is not None and made.kind in (ValueKind.INSTANCE, ValueKind.DEFINITION):
                return made
            # What is not known of the value may still be known of the file that makes it.
            return Value(ValueKind.MODULE, resolution.number, RuleName.IMPORT)
        return value_of_resolution(resolution, rule)

    def _follow_member(
        self, file: int, value: Value, name: str, so_far: str, called: str | None = None, path: bool = False
    ) -> Value | None:
        program = self.program
        resolution_kind = RESOLUTION_KINDS.get(value.kind)
        if resolution_kind is not None and program.tree_paths.as_module(resolution_kind, value.number) is not None:
            module = Resolution(resolution_kind, value.number, value.rule)
            inner = program.tree_paths.follow_name(module, name, path)
            return self._value_of_resolution(inner, "") if inner is not None else None
        if value.kind is ValueKind.UNION:
            found = Value.union(
                part if part.kind is ValueKind.EXTERNAL else self._follow_member(file, part, name, so_far, called, path)
                for part in value.parts
            )
            is_query = any(part.type == QUERY for part in value.parts)
            return self.queries.member_of(file, value, name, found) if is_query else found
        if value.kind is ValueKind.TUPLE and (place := value.place_of(name)) >= 0:
            return value.parts[place]
        if value.kind in HOLDERS:
            settings = program.files[file].settings
            return method_of(settings.shapes, value, name) if settings is not None else BUILTIN
        if value.kind is ValueKind.PARTIAL_PACKAGE and self.mentioned.is_for(value.number):
            return self.mentioned.find_in_library(value, name)
        if value.kind is ValueKind.PARTIAL_PACKAGE:
            if name and (so_far == value.name or value.name.startswith(so_far + ".")):
                return (self.name_lookup.find_dotted_module(file, so_far) if so_far == value.name else None) or value
            package = self.name_lookup.find_dotted_module(file, so_far.rpartition(".")[0])
            return self._follow_member(file, package, name, so_far) if package is not None else None
        if value.kind is ValueKind.MODULE:
            if program.is_facade(value.number):
                return None
            resolution = program.find_exported(value.number, name)
            if resolution is None and self.mentioned.is_for(value.number):
                return self.mentioned.find_member(value.number, MODULE_SCOPE, name, called)
            if resolution is None:
                if name == "default":
                    return value
                module_value = self.default_export(value)
                return self._follow_member(file, module_value, name, so_far) if module_value is not None else None
            return self._value_of_resolution(
                resolution, RuleName.MODULE_ATTRIBUTE if resolution.kind is ResolutionKind.DEFINITION else ""
            )
        if value.kind is ValueKind.DEFINITION:
            return self.queries.with_instances(value, name, self._member_of_definition(value, name, called))
        if value.kind is ValueKind.OBJECT:
            return self.containers.store_member(value, name) or self.members.object_member(value, name)
        if value.kind is ValueKind.RECORD:
            return self.containers.record_member(file, value, name, called)
        if value.kind in (ValueKind.INSTANCE, ValueKind.SUPER):
            own = self._member_of_instance(value, name, called)
            settings = program.files[program.file_of[value.number]].settings
            if own is not None and settings is not None and settings.types.generic and value.kind is ValueKind.INSTANCE:
                own = self.with_arguments(value, own)
            own = choose_operator(self, value, name, own) if name.startswith("operator") else own
            own = own if own is not None else self.pointed_member(file, value, name, called)
            is_missing = own is None or (bool(program.extended) and self.is_held(own))  # a value is not called
            return (self.name_lookup.find_extension_member(file, value, name, called) or own) if is_missing else own
        return None

    def find_opened_type(self, file: int, scope: int, name: str) -> Value | None:
        """Return the type that a name means, in languages whose files open what they use."""
        return self.mentioned.opened.find_type(file, scope, name)

    def default_export(self, module: Value) -> Value | None:
        """Return the value that a file puts in the place of its module: `module.exports = f`."""
        settings = self.program.files[module.number].settings
        if settings is None or not settings.modules.require:
            return None
        resolution = self.program.find_exported(module.number, "default")
        exported = self._value_of_resolution(resolution, "") if resolution is not None else None
        kinds = (ValueKind.DEFINITION, ValueKind.INSTANCE, ValueKind.OBJECT)
        return exported if exported is not None and exported.kind in kinds else None

    def _member_of_definition(self, value: Value, name: str, called: str | None) -> Value | None:
        program = self.program
        content = self.annotations.resolve_alias(value.number) or self.members.variant_payload(value.number, name)
        is_alias = program.definition_of[value.number].kind == NodeKind.TYPE
        if content is not None and content.kind in (ValueKind.INSTANCE, ValueKind.UNION) and is_alias:
            return self._follow_member(program.file_of[value.number], content, name, name, called)
        if content is not None:
            return content
        definition = program.definition_of[value.number]
        if program.is_type(value.number):
            number, inherited = program.find_member(value.number, name, called=called)
            if number >= 0:
                return Value(
                    ValueKind.DEFINITION, number, RuleName.INHERITED if inherited else RuleName.CLASS_ATTRIBUTE
                )
            return (
                self.members.member_from_outside(value.number, name)
                or self.name_lookup.find_outer_self(value.number, name)
                or self._member_of_metaclass(value.number, name, called)
            )
        number = program.find_own_member(value.number, name, called)
        if number >= 0:
            return Value(ValueKind.DEFINITION, number, RuleName.OBJECT_MEMBER)
        if definition.kind == NodeKind.NAMESPACE and self.mentioned.is_for(file := program.file_of[value.number]):
            return self.mentioned.find_member(file, value.number - program.files[file].first, name, called)
        if (assigned := self.members.member_from_outside(value.number, name)) is not None:
            return assigned
        if definition.kind in CALLABLE_KINDS and (made := self.containers.decorated_value(value.number)) is not None:
            return self._follow_member(program.file_of[value.number], made, name, name, called)
        if not self._may_hold(value.number):
            return None
        if value.number in self._open_holders or len(self._open_holders) >= MAX_OPEN_HOLDERS:
            return None  # `a = b` and `b = a`, or a longer chain than real code has
        self._open_holders.add(value.number)
        member = self.annotations.content_of_member(value) or self._result_of_getter(value)
        if member is not None and member.kind not in (ValueKind.EXTERNAL, ValueKind.BUILTIN):
            member = self._follow_member(program.file_of[value.number], member, name, name, called)
        self._open_holders.discard(value.number)
        if (
            member is not None
            and member.kind in (ValueKind.DEFINITION, ValueKind.UNION)
            and definition.kind != NodeKind.CONSTANT
        ):
            return member._replace(
                rule=_CONTENT_RULE, parts=tuple(each._replace(rule=_CONTENT_RULE) for each in member.parts)
            )
        return member

    def _member_of_instance(self, value: Value, name: str, called: str | None) -> Value | None:
        for also in value.also:
            member = self._member_of_instance(value._replace(also=()), name, called)
            if member is not None:
                return member
            value = value._replace(number=also)
        program = self.program
        if called is None and value.kind is ValueKind.INSTANCE:
            hidden = program.find_hidden_field(value.number, name)
            if hidden >= 0:
                return Value(ValueKind.DEFINITION, hidden, value.rule)
        if value.kind is ValueKind.SUPER:
            return self.name_lookup.find_super_member(value.number, name, called)
        number, inherited = program.find_member(value.number, name, called=called)
        is_open = called is not None and value.rule == RuleName.SELF
        if is_open and program.files[program.file_of[value.number]].is_shaped and self.containers.is_unset(number):
            assigned = self.members.assigned_attribute(value, name)
            if assigned is None and (below := self.containers.attribute_below(value.number, name)) is not None:
                return below
        if number >= 0:
            return Value(
                ValueKind.DEFINITION,
                number,
                RuleName.INHERITED if inherited and value.rule == RuleName.SELF else value.rule,
            )
        return self.members.assigned_attribute(value, name)

    # -- light types

    def content_of(self, definition: int) -> Value | None:
        """Return the value that a constant or field holds; None where it is not known."""
        return self.annotations.content_of(definition)

    def infer_annotation(self, file: int, scope: int, name: str, rule: str) -> Value:
        """Return an instance of the type that an annotation names in `scope`, or a collection of such."""
        return self.annotations.infer_annotation(file, scope, name, rule)

    def type_arguments(self, value: Value, owner: int) -> dict[str, Value]:
        """Return what the type parameters of `owner` stand for in a value of that type or of one below it."""
        return self.annotations.type_arguments(value, owner)

    def resolve_alias(self, definition: int) -> Value | None:
        """Return the type that another name is given to; None for other definitions, and where it is not known."""
        return self.annotations.resolve_alias(definition)

    def call_result(self, value: Value | None) -> Value | None:
        """Return what calling a value gives."""
        return self.annotations.call_result(value)

    def content_of_call(self, value: Value) -> Value | None:
        """Return what runs when a constant, field or property is called; None where that is not known."""
        return self.containers.content_of_call(value)

    def trait_method(self, file: int, scope: int, value: Value, name: str) -> Value | None:
        """Return the method that a trait gives to a receiver of which the repository has no type."""
        return self.members.trait_method(file, scope, value, name)

    # -- scopes

    def deciding_scope(self, file: int, scope: int, chain: str) -> int:
        """Return the scope, of `scope` and those around it, in which a chain can be read with the same result.

        It is read once for all functions that give its first name nothing, and `self.x` once for all methods of a type.
        """
        if scope < 0:
            return scope
        symbols, head = self.program.files[file], chain.partition(".")[0]
        key = scope, head
        cached = symbols.decided.get(key)
        if cached is None:
            cached = symbols.decided[key] = self._decide_scope(file, symbols, scope, head)
        return cached

    def _decide_scope(self, file: int, symbols: FileSymbols, scope: int, head: str) -> int:
        if symbols.settings is None or head[:1] in "<?;":
            return scope
        own = symbols.settings.names
        bare = split_chain_part(head, symbols.settings.types, symbols.settings.shapes)[0]
        if head in own.super_names or bare in own.super_names:
            return scope
        if bare in own.self_names:
            if f"{NARROWED}{bare}" in symbols.bindings.get(scope, {}):
                return scope
            owner = self._type_of_self(symbols, scope, bare)
            return _IN_TYPE - owner if owner >= 0 else scope
        # Where modules are a tree, the innermost of them is looked for from the scope itself.
        return scope if self.program.tree_paths.tree.has_file(file) else symbols.deciding_scope(scope, bare)
