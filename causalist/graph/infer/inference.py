"""What a chain of names means where it stands: by scope, imports, bases and light types; never by namesakes.

A chain is read from left to right; each step is a definition, an instance of a type, a module, something external, or
unknown. Which edges follow from it, and what is guessed where nothing is known, is decided in `resolve`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from causalist.graph.imports.packages import can_be_package_prefix
from causalist.graph.infer import annotations as receivers
from causalist.graph.infer import containers as shaped
from causalist.graph.infer import objects, records
from causalist.graph.infer.base import Shapes, split_part
from causalist.graph.infer.scoping import deciding_scope, forget_scopes, type_of
from causalist.graph.program.name_lookup import NameLookup
from causalist.graph.program.overloads import UNCOUNTED, arguments_of
from causalist.graph.program.program import Program
from causalist.graph.rules import RuleName
from causalist.graph.values import BUILTIN, HOLDERS, UNKNOWN, UNKNOWN_MEMBER, Resolution, Value, value_of_resolution
from causalist.model.facts import MODULE_SCOPE, Binding, Import
from causalist.model.language import ShapeSettings, TypeSettings
from causalist.model.symbols import NodeKind

_MOST_SCOPES = 40  # definitions around a name that are looked into, from the inside
_DEEPEST = 6  # assignments that are followed to find the type of a name
_HELD = RuleName.ATTRIBUTE_TYPE


@dataclass(slots=True)
class Values(Shapes):
    """The values of chains in all files of a program. `read_attributes` has to be called when its bases are known."""

    program: Program
    name_lookup: NameLookup = field(init=False)
    derived_from_outside: set[int] = field(default_factory=set)  # types with a base that is not of the repository
    known: dict[tuple[int, int, str, str | None], Value | None] = field(default_factory=dict)
    _busy: set[tuple[int, int, str, str | None]] = field(default_factory=set)
    unfolding: set[object] = field(default_factory=set)  # aliases and bounds being followed: one may lead to itself
    _held_by: set[int] = field(default_factory=set)  # constants and fields whose content is being looked into
    attributes: dict[int, dict[str, list[tuple[int, Binding]]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.name_lookup = NameLookup(self.program)

    def read_attributes(self) -> None:
        """Forgets what was found without bases, and collects the attributes that types are given."""
        self.forget()
        self.attributes = objects.attributes(self)
        self.forget()  # what was looked up for their sake did not know them all

    def assigned(self, owner: int, name: str) -> Sequence[tuple[int, Binding]]:
        """(file, binding) wherever a type is given an attribute, what tells most of it first."""
        return self.attributes.get(self.program.canonical.get(owner, owner), {}).get(name, ())

    @property
    def depth(self) -> int:
        """How many chains are being read, each for the sake of the one before."""
        return len(self._busy)

    def forget(self) -> None:
        """Forgets all values: something that they depend on has changed."""
        for each in (self.known, self._busy, self.unfolding, self._held_by):
            each.clear()
        forget_scopes(self.program)

    def of_chain(self, file: int, scope: int, chain: str, called: str | None = None) -> Value | None:
        """The value of a chain. None: no such name, or a known receiver without that member; "unknown-member": nothing
        is known of the receiver, nor of its member. `called` are the arguments of a call, None where it is none."""
        key = (file, scope, chain, called)
        if key in self.known:
            return self.known[key]
        if key in self._busy or len(self._busy) > 40:
            return None
        outer = deciding_scope(self.program, file, scope, chain)
        if outer != scope:
            value = self.of_chain(file, outer, chain, called)
        else:
            self._busy.add(key)
            value = self._walk(file, scope, chain, called)
            self._busy.discard(key)
        self.known[key] = value
        return value

    def _walk(self, file: int, scope: int, chain: str, called: str | None) -> Value | None:
        names = self.program.files[file]
        settings = names.settings
        if settings is None:
            return None
        if chain.startswith("<"):  # an expression that is said to be of a type
            said, _, rest = chain[1:].partition(">")
            return self.along(
                file, receivers.declared(self, file, scope, said, RuleName.ANNOTATION), rest.split("."), 1, called
            )
        parts = receivers.with_own_class(self.program, names, scope, chain).split(".")
        head = parts[0]
        unknown = UNKNOWN_MEMBER if len(parts) > 1 else None
        if head == "?":
            return unknown
        if len(parts) > 1 and (exported := objects.own_exports(self, file, scope, chain, called)) is not None:
            return exported
        bare, marks = split_part(head, settings.types, settings.shapes)
        value: Value | None
        if head in settings.names.super_names or (bare in settings.names.super_names and head.endswith("()")):
            if head.endswith("()") and head not in settings.names.super_names:
                return None
            owner = self.program.enclosing_owner(names.first + scope) if scope >= 0 else -1
            if owner < 0 or len(parts) == 1:
                return self.name_lookup.find_super_constructor(owner, called) if owner >= 0 else None
            value = Value("super", owner, RuleName.SUPER)
        elif not head:
            return self._declared_elsewhere(file, parts, called, None)
        elif (owner := type_of(scope)) >= 0:
            value = Value("instance", owner, RuleName.SELF)
            if marks and (settings.names.constructors or bare[:1].isupper()):  # the class, by its own name inside of it
                value = value._replace(rule=RuleName.CONSTRUCTED) if marks == ["()"] else UNKNOWN
            else:
                value = self._make(value, marks, settings.shapes)
        elif bare in settings.names.self_names and scope >= 0 and settings.names.assigned_infixes:
            value = objects.around_method(self.program, self.program.outermost_function(names.first + scope))
        else:
            value = self.lookup(
                file, scope, bare, arguments_of(head, called if len(parts) == 1 else None), len(parts) > 1
            )
            if value is None and settings.names.sigil and bare.startswith(settings.names.sigil):
                value = UNKNOWN
            if settings.names.all_declared and (value is None or can_be_package_prefix(settings, value, parts)):
                return self._declared_elsewhere(file, parts, called, value)
            value = self._make(value, marks, settings.shapes)
        return self.along(file, value, parts, 1, called)

    def _make(self, value: Value | None, marks: list[str], shapes: ShapeSettings) -> Value | None:
        if marks and shapes.sequences:
            return shaped.marked(self, shapes, value, marks)
        return self._marked(value, marks)

    def _declared_elsewhere(
        self, file: int, parts: list[str], called: str | None, otherwise: Value | None
    ) -> Value | None:
        """A chain whose first name nothing around declares: it begins with a package, or comes from outside."""
        names = self.program.files[file]
        assert names.settings is not None
        found = self.name_lookup.find_path(names, parts)
        if found is None:
            is_method = names.settings.names.bare_calls and not parts[0][:1].isupper()  # of a base that is not here
            return otherwise or (None if len(parts) == 1 else UNKNOWN_MEMBER if is_method else BUILTIN)
        value = self._marked(
            Value("definition", found[0], self.name_lookup.rule_of_path(file, found[0])),
            split_part(parts[found[1] - 1], names.settings.types)[1],
        )
        return self.along(file, value, parts, found[1], called)

    def along(
        self, file: int, value: Value | None, parts: list[str], first: int, called: str | None = None
    ) -> Value | None:
        """What the chain `parts` means if everything before its part number `first` is `value`."""
        unknown, i, settings = UNKNOWN_MEMBER, first, self.program.files[file].settings
        bare_calls = settings is not None and settings.names.bare_calls
        types = settings.types if settings is not None else TypeSettings()
        shapes = settings.shapes if settings is not None else ShapeSettings()
        while i < len(parts):
            if (value := receivers.run_by_name(self, value) if bare_calls else value) is None or value.kind == "local":
                return unknown
            if value.kind in ("external", "builtin"):
                return value
            if value.kind in HOLDERS and not shapes.sequences:
                return BUILTIN
            part = parts[i]
            i += 1
            if value.kind == "definition" and settings is not None and f".{part}" in settings.names.assigned_infixes:
                continue  # `A.prototype.m`: a member of A like any other
            name = part.rstrip("()[]") or part
            given = called if i == len(parts) else None
            arguments = arguments_of(part, UNCOUNTED if given is None and bare_calls else given)
            bare, marks = split_part(part, types, shapes)
            if types.keeping:
                step = receivers.of_collection(self, types, value, name)
                if step is not None:
                    value = step
                    continue
            step = self._attribute(file, value, bare, ".".join(parts[:i]), arguments, i < len(parts))
            if step is None and arguments is not None:
                step = receivers.passed_on(self, types, value, name)
                if step is not None:
                    value = step
                    continue
            if step is None and value.kind == "definition":
                step, i = self.name_lookup.find_deep_member(value.number, parts, i)
                part = parts[i - 1]
                marks = split_part(part, types, shapes)[1]
            invokes = settings is not None and part.rstrip("()") in settings.names.invokers
            if step is None and value.kind == "definition" and invokes:
                step = value
            if step is None:
                # A known receiver without that member: dynamic, or inherited from outside. No candidates either.
                return unknown if receivers.is_open(self, value) else None
            value = self._make(step, marks, shapes)
        return receivers.run_by_name(self, value) if bare_calls and called is None else value

    def lookup(self, file: int, scope: int, name: str, called: str | None = None, path: bool = False) -> Value | None:
        """A bare name, from the innermost scope outwards; None for builtins and unknown globals."""
        program = self.program
        names = program.files[file]
        definitions = names.facts.definitions
        settings = names.settings
        assert settings is not None
        first, is_outside, innermost, tree = True, False, scope, program.tree_paths.tree.has_file(file)
        for _ in range(_MOST_SCOPES):
            if scope == MODULE_SCOPE:
                break
            definition = definitions[scope]
            if tree and definition.kind == NodeKind.NAMESPACE:
                break
            is_type = program.is_type(names.first + scope)
            if is_type and is_outside and settings.names.bare_calls and not name[:1].isupper():
                pass  # of the types around the type only constants are visible
            elif is_type and settings.names.members_are_visible:
                value = self.name_lookup.find_member_in_scope(names.first + scope, name, called)
                if value is not None:
                    return value
                # A type parameter, or a variable of an initialiser.
                binding = names.bindings.get(scope, {}).get(name)
                if binding is not None and called is None:
                    return receivers.bound(self, file, binding, name)
            elif not is_type or first or settings.names.class_scope_is_visible:
                own = names.by_qualname.get(f"{definition.qualname}.{name}")
                if own is not None and program.parent(own) == names.first + scope and not program.is_object_method(own):
                    return Value("definition", own, RuleName.SAME_FILE)
                entry = names.imports.get(scope, {}).get(name)
                if entry is not None:
                    return self._imported(file, entry)
                binding = names.bindings.get(scope, {}).get(name)
                is_variable = called is None or not settings.names.callables_apart
                if binding is not None and not is_type and is_variable:
                    return receivers.bound(self, file, binding, name)
            owner = program.owner_of.get(names.first + scope, -1) if settings.names.members_are_visible else -1
            if owner >= 0 and (value := self.name_lookup.find_member_in_scope(owner, name, called)) is not None:
                return value
            first, is_outside = False, is_outside or is_type
            scope = definition.parent
        if tree:
            found = program.tree_paths.find_visible(file, innermost, name, path)
            return self._of_found(found, "") if found is not None else None
        own = names.by_qualname.get(name)
        entry = names.imports.get(MODULE_SCOPE, {}).get(name)
        if own is not None and program.is_object_method(own) and settings.names.assigned_infixes:
            own = None
        if own is not None and (entry is None or not program.is_value(own)):
            return Value("definition", own, RuleName.SAME_FILE)
        if entry is not None:
            return self._imported(file, entry, called)
        binding = names.bindings.get(MODULE_SCOPE, {}).get(name)
        if binding is not None:
            return receivers.bound(self, file, binding, name)
        shared = self.name_lookup.find_in_package(names, name)
        if shared is not None:
            return shared
        found = self.name_lookup.find_star_import(file, name, called)
        return (
            self._of_found(found, RuleName.STAR_IMPORT) if found is not None else shaped.builtin(settings.shapes, name)
        )

    def _imported(self, file: int, entry: Import, called: str | None = None) -> Value | None:
        found = self.program.follow_import(file, entry, called)
        if found is None:
            return UNKNOWN  # imported from here, but made in a way that cannot be seen
        if found.rule == "dotted":
            return Value("dotted", file, RuleName.PATH, entry.module)
        return self._of_found(found, "")

    def _of_found(self, found: Resolution, rule: str) -> Value:
        if found.kind == "value":
            made = self.of_chain(found.number, MODULE_SCOPE, found.name)
            if self.program.files[found.number].is_shaped:
                return made or UNKNOWN
            # What is not known of the value may still be known of the file that makes it.
            return (
                made if made is not None and made.kind == "instance" else Value("module", found.number, RuleName.IMPORT)
            )
        return value_of_resolution(found, rule)

    def _attribute(
        self, file: int, value: Value, name: str, so_far: str, called: str | None = None, path: bool = False
    ) -> Value | None:
        program = self.program
        if program.tree_paths.as_module(value.kind, value.number) is not None:
            inner = program.tree_paths.follow_name(Resolution(value.kind, value.number, value.rule), name, path)
            return self._of_found(inner, "") if inner is not None else None
        if value.kind == "union":
            return shaped.union_of(
                part if part.kind == "external" else self._attribute(file, part, name, so_far, called, path)
                for part in value.parts
            )
        if value.kind in HOLDERS:
            settings = program.files[file].settings
            return shaped.method_of(settings.shapes, value, name) if settings is not None else BUILTIN
        if value.kind == "dotted":
            if name and (so_far == value.name or value.name.startswith(so_far + ".")):
                return (self.name_lookup.find_dotted_module(file, so_far) if so_far == value.name else None) or value
            package = self.name_lookup.find_dotted_module(file, so_far.rpartition(".")[0])
            return self._attribute(file, package, name, so_far) if package is not None else None
        if value.kind == "module":
            found = program.find_exported(value.number, name)
            if found is None:
                if name == "default":
                    return value
                whole = self.default_of(value)
                return self._attribute(file, whole, name, so_far) if whole is not None else None
            return self._of_found(found, RuleName.MODULE_ATTRIBUTE if found.kind == "definition" else "")
        if value.kind == "definition":
            return self._definition_attribute(value, name, called)
        if value.kind == "holder":
            return objects.member(self, value, name)
        if value.kind == "record":
            return records.member(self, file, value, name, called)
        if value.kind in ("instance", "super"):
            own = self._instance_attribute(value, name, called)
            return own if own is not None else self.name_lookup.find_extension_member(file, value, name, called)
        return None

    def default_of(self, module: Value) -> Value | None:
        """What a file puts in the place of its module, where the language can: `module.exports = f`."""
        settings = self.program.files[module.number].settings
        if settings is None or not settings.modules.require:
            return None
        found = self.program.find_exported(module.number, "default")
        whole = self._of_found(found, "") if found is not None else None
        return whole if whole is not None and whole.kind in ("definition", "instance", "holder") else None

    def _definition_attribute(self, value: Value, name: str, called: str | None) -> Value | None:
        program = self.program
        held = receivers.aliased(self, value.number) or receivers.payload(self, value.number, name)
        if held is not None and held.kind == "instance" and program.definition_of[value.number].kind == NodeKind.TYPE:
            return self._attribute(program.file_of[value.number], held, name, name, called)
        if held is not None:
            return held
        definition = program.definition_of[value.number]
        if program.is_type(value.number):
            number, inherited = program.find_member(value.number, name, called=called)
            if number >= 0:
                return Value("definition", number, RuleName.INHERITED if inherited else RuleName.CLASS_ATTRIBUTE)
            return objects.assigned(self, value.number, name) or self.name_lookup.find_outer_self(value.number, name)
        number = program.find_own_member(value.number, name, called)
        if number >= 0:
            return Value("definition", number, RuleName.OBJECT_MEMBER)
        if (assigned := objects.assigned(self, value.number, name)) is not None:
            return assigned
        if definition.kind not in (NodeKind.CONSTANT, NodeKind.FIELD, NodeKind.METHOD):
            return None
        if value.number in self._held_by or len(self._held_by) >= _DEEPEST:
            return None  # `a = b` and `b = a`, or a longer way than anybody writes
        self._held_by.add(value.number)
        found = self.held_by(value.number)
        if found is not None and found.kind not in ("external", "builtin"):
            found = self._attribute(program.file_of[value.number], found, name, name, called)
        self._held_by.discard(value.number)
        if found is not None and found.kind in ("definition", "union") and definition.kind != NodeKind.CONSTANT:
            return found._replace(rule=_HELD, parts=tuple(each._replace(rule=_HELD) for each in found.parts))
        return found

    def _instance_attribute(self, value: Value, name: str, called: str | None) -> Value | None:
        for also in value.also:
            found = self._instance_attribute(value._replace(also=()), name, called)
            if found is not None:
                return found
            value = value._replace(number=also)
        program = self.program
        if called is None and value.kind == "instance":
            hidden = program.find_hidden_field(value.number, name)
            if hidden >= 0:
                return Value("definition", hidden, value.rule)
        if value.kind == "super":
            return self.name_lookup.find_super_member(value.number, name, called)
        number, inherited = program.find_member(value.number, name, called=called)
        if number >= 0:
            return Value(
                "definition", number, RuleName.INHERITED if inherited and value.rule == RuleName.SELF else value.rule
            )
        return objects.attribute(self, value, name)

    # -- light types

    def held_by(self, definition: int) -> Value | None:
        """What a constant or field holds, as far as it can be told."""
        return receivers.held_by(self, definition)

    def content(self, value: Value) -> Value | None:
        """What a constant, field or property holds; None of all else, and where that leads back to it."""
        kind = self.program.definition_of[value.number].kind
        if not (self.program.is_value(value.number) or kind == NodeKind.METHOD):
            return None
        return self._content(value.number)

    def _called(self, value: Value | None) -> Value | None:
        return receivers.called(self, value)

    def _declared(self, file: int, scope: int, type_name: str, rule: str) -> Value:
        return receivers.declared(self, file, scope, type_name, rule)
