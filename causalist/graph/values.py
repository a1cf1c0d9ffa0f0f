"""What a chain of names means where it stands: by scope, imports, bases and light types; never by namesakes.

A chain is read from left to right; each step is a definition, an instance of a type, a module, something external, or
unknown. Which edges follow from it, and what is guessed where nothing is known, is decided in `resolve`.
"""

from dataclasses import dataclass, field

from causalist.graph.names import FileNames, Found, Program
from causalist.graph.overloads import UNCOUNTED
from causalist.graph.shapes import BUILTIN, HOLDERS, UNKNOWN, Shapes, Value, split_marks, split_type
from causalist.graph.visible import (
    around,
    array_of,
    assigned_function,
    deep_member,
    enum_constant,
    is_type_parameter,
    named_self,
    of_found,
    starred,
    super_constructor,
    super_member,
    visible_member,
)
from causalist.model.facts import MODULE_SCOPE, Binding, Import
from causalist.model.language import LanguageSettings
from causalist.model.symbols import NodeKind

_MOST_SCOPES = 40  # definitions around a name that are looked into, from the inside
_DEEPEST = 6  # assignments that are followed to find the type of a name


@dataclass(slots=True)
class Values(Shapes):
    """The values of chains in all files of a program. `read_attributes` has to be called when its bases are known."""

    program: Program
    derived_from_outside: set[int] = field(default_factory=set)  # types with a base that is not of the repository
    _values: dict[tuple[int, int, str, str | None], Value | None] = field(default_factory=dict)
    _busy: set[tuple[int, int, str, str | None]] = field(default_factory=set)
    _held_by: set[int] = field(default_factory=set)  # constants and fields whose content is being looked into
    _attributes: dict[int, dict[str, tuple[int, Binding]]] = field(default_factory=dict)

    def read_attributes(self) -> None:
        """Forgets what was found without bases, and collects the attributes that types are given."""
        self.forget()
        for file, names in enumerate(self.program.files):
            for scope, bindings in names.bindings.items():
                for target_name, binding in bindings.items():
                    if target_name.startswith("."):
                        owner = self.program.enclosing_owner(names.first + scope) if scope >= 0 else -1
                        if owner >= 0:
                            self._attributes.setdefault(owner, {}).setdefault(target_name[1:], (file, binding))

    def forget(self) -> None:
        """Forgets all values: something that they depend on has changed."""
        self._values.clear()

    def of_chain(self, file: int, scope: int, chain: str, called: str | None = None) -> Value | None:
        """The value of a chain. None: no such name, or a known receiver without that member; "unknown-member": the
        receiver is not known, so that nothing can be known of its member. `called` are the arguments of a call, None
        where the chain is not what is called."""
        key = (file, scope, chain, called)
        if key in self._values:
            return self._values[key]
        if key in self._busy or len(self._busy) > 40:
            return None
        self._busy.add(key)
        value = self._walk(file, scope, chain, called)
        self._busy.discard(key)
        self._values[key] = value
        return value

    def _walk(self, file: int, scope: int, chain: str, called: str | None) -> Value | None:
        names = self.program.files[file]
        settings = names.settings
        if settings is None:
            return None
        if chain.startswith("<"):  # an expression that is said to be of a type
            said, _, rest = chain[1:].partition(">")
            return self._along(file, self._declared(file, scope, said, "annotation"), rest.split("."), 1, called)
        parts = chain.split(".")
        head = parts[0]
        unknown = Value("unknown-member", -1, "") if len(parts) > 1 else None
        if head == "?":
            return unknown
        bare, marks = split_marks(head)
        value: Value | None
        if head in settings.names.super_names or (bare in settings.names.super_names and head.endswith("()")):
            if head.endswith("()") and head not in settings.names.super_names:
                return None
            owner = self._owner(names, scope)
            if owner < 0 or len(parts) == 1:
                return super_constructor(self.program, owner, called) if owner >= 0 else None
            value = Value("super", owner, "super")
        elif bare in settings.names.self_names and (owner := self._owner(names, scope)) >= 0:
            value = Value("instance", owner, "self")
            if marks and settings.names.constructors:  # the class, by its own name inside of it
                value = value._replace(rule="constructed") if marks == ["()"] else UNKNOWN
            else:
                value = self._marked(value, marks)
        else:
            value = self._lookup(file, scope, bare, _arguments(head, called if len(parts) == 1 else None))
            if value is None and settings.names.all_declared:
                return self._declared_elsewhere(file, settings, parts, called)
            value = self._marked(value, marks)
        return self._along(file, value, parts, 1, called)

    def _declared_elsewhere(
        self, file: int, settings: LanguageSettings, parts: list[str], called: str | None
    ) -> Value | None:
        """A chain whose first name nothing around declares: it begins with a package, or comes from outside."""
        found = self.program.declared.prefix(settings.name, parts, self.program.files[file].path)
        if found is None:
            return BUILTIN if len(parts) > 1 else None
        value = self._marked(Value("definition", found[0], "import"), split_marks(parts[found[1] - 1])[1])
        return self._along(file, value, parts, found[1], called)

    def _along(
        self, file: int, value: Value | None, parts: list[str], first: int, called: str | None = None
    ) -> Value | None:
        """What the chain `parts` means if everything before its part number `first` is `value`."""
        unknown = Value("unknown-member", -1, "")
        i = first
        while i < len(parts):
            if value is None or value.kind == "local":
                return unknown
            if value.kind in ("external", "builtin") or value.kind in HOLDERS:
                return value if value.kind not in HOLDERS else BUILTIN
            part = parts[i]
            i += 1
            arguments = _arguments(part, called if i == len(parts) else None)
            bare, marks = split_marks(part)
            step = self._attribute(file, value, bare, ".".join(parts[:i]), arguments)
            if step is None and value.kind == "definition":
                step, i = deep_member(self.program, value.number, parts, i)
                part = parts[i - 1]
                marks = split_marks(part)[1]
            if step is None and value.kind == "definition" and self._invokes(file, part):
                step = value
            if step is None:
                # A known receiver without that member: dynamic, or inherited from outside. No candidates either.
                return unknown if self._is_open(value) else None
            value = self._marked(step, marks)
        return value

    def _invokes(self, file: int, part: str) -> bool:
        settings = self.program.files[file].settings
        return settings is not None and part.rstrip("()") in settings.names.invokers

    def _is_open(self, value: Value) -> bool:
        """Whether a value may have members that its definition does not show: its type is not known, or it is `self`
        in a class all of whose bases are known, so that only a class derived from it can have the member."""
        program = self.program
        if value.kind == "definition":
            return program.is_value(value.number) and self.held_by(value.number) is None
        if value.kind == "instance" and value.rule == "self":
            settings = program.files[program.file_of[value.number]].settings
            if settings is not None and (settings.names.all_declared or not settings.names.super_names):
                return False  # no type can be derived from it without being seen
            return not any(base in self.derived_from_outside for base in program.linear_bases(value.number))
        return False

    def _owner(self, names: FileNames, scope: int) -> int:
        return self.program.enclosing_owner(names.first + scope) if scope >= 0 else -1

    def _lookup(self, file: int, scope: int, name: str, called: str | None = None) -> Value | None:
        """A bare name, from the innermost scope outwards; None for builtins and unknown globals."""
        program = self.program
        names = program.files[file]
        definitions = names.facts.definitions
        settings = names.settings
        assert settings is not None
        first = True
        for _ in range(_MOST_SCOPES):
            if scope == MODULE_SCOPE:
                break
            definition = definitions[scope]
            is_type = program.is_type(names.first + scope)
            if is_type and settings.names.members_are_visible:
                value = visible_member(program, names.first + scope, name, called)
                if value is not None:
                    return value
                # A type parameter, or a variable of an initialiser.
                binding = names.bindings.get(scope, {}).get(name)
                if binding is not None and called is None:
                    return self._bound(file, binding, name)
            elif not is_type or first or settings.names.class_scope_is_visible:
                own = names.by_qualname.get(f"{definition.qualname}.{name}")
                if own is not None and program.parent(own) == names.first + scope:
                    return Value("definition", own, "same-file")
                entry = names.imports.get(scope, {}).get(name)
                if entry is not None:
                    return self._imported(file, entry)
                binding = names.bindings.get(scope, {}).get(name)
                is_variable = called is None or not settings.names.callables_apart
                if binding is not None and not is_type and is_variable:
                    return self._bound(file, binding, name)
            first = False
            scope = definition.parent
        own = names.by_qualname.get(name)
        entry = names.imports.get(MODULE_SCOPE, {}).get(name)
        if own is not None and (entry is None or not program.is_value(own)):
            return Value("definition", own, "same-file")
        if entry is not None:
            return self._imported(file, entry, called)
        binding = names.bindings.get(MODULE_SCOPE, {}).get(name)
        if binding is not None:
            return self._bound(file, binding, name)
        shared = program.packages.definition(file, name, program.files)
        if shared is not None:
            return Value("definition", shared, "package-scope")
        found = starred(program, file, name, called)
        return self._of_found(found, "star-import") if found is not None else None

    def _imported(self, file: int, entry: Import, called: str | None = None) -> Value | None:
        found = self.program.follow(file, entry, called)
        if found is None:
            return UNKNOWN  # imported from here, but made in a way that cannot be seen
        if found.rule == "dotted":
            return Value("dotted", file, "path", entry.module)
        return self._of_found(found, "")

    def _of_found(self, found: Found, rule: str) -> Value:
        if found.kind == "value":
            made = self.of_chain(found.number, MODULE_SCOPE, found.name)
            # What is not known of the value may still be known of the file that makes it.
            return made if made is not None and made.kind == "instance" else Value("module", found.number, "import")
        return of_found(found, rule)

    def _attribute(self, file: int, value: Value, name: str, so_far: str, called: str | None = None) -> Value | None:
        program = self.program
        if value.kind == "dotted":
            if name and (so_far == value.name or value.name.startswith(so_far + ".")):
                names = program.files[file]
                assert names.settings is not None
                target = program.modules.resolve(names.path, so_far, 0, names.settings.modules)
                if so_far == value.name and target.file >= 0:
                    return Value("module", target.file, "path")
                return value
            names = program.files[file]
            assert names.settings is not None
            package = so_far.rpartition(".")[0]
            target = program.modules.resolve(names.path, package, 0, names.settings.modules)
            return (
                self._attribute(file, Value("module", target.file, "path"), name, so_far) if target.file >= 0 else None
            )
        if value.kind == "module":
            found = program.exported(value.number, name)
            if found is None:
                if name == "default":
                    return value
                whole = self.default_of(value)
                return self._attribute(file, whole, name, so_far) if whole is not None else None
            return self._of_found(found, "module-attribute" if found.kind == "definition" else "")
        if value.kind == "definition":
            return self._definition_attribute(value, name, called)
        if value.kind in ("instance", "super"):
            return self._instance_attribute(value, name, called)
        return None

    def default_of(self, module: Value) -> Value | None:
        """What a file puts in the place of its module, where the language can: `module.exports = f`."""
        settings = self.program.files[module.number].settings
        if settings is None or not settings.modules.require:
            return None
        found = self.program.exported(module.number, "default")
        whole = self._of_found(found, "") if found is not None else None
        return whole if whole is not None and whole.kind in ("definition", "instance") else None

    def _definition_attribute(self, value: Value, name: str, called: str | None) -> Value | None:
        program = self.program
        definition = program.definition_of[value.number]
        if program.is_type(value.number):
            number, inherited = program.find_member(value.number, name, called=called)
            if number >= 0:
                return Value("definition", number, "inherited" if inherited else "class-attribute")
            return named_self(program, value.number, name)
        number = program.member(value.number, name, called)
        if number >= 0:
            return Value("definition", number, "object-member")
        if definition.kind not in (NodeKind.CONSTANT, NodeKind.FIELD, NodeKind.METHOD):
            return None
        if value.number in self._held_by or len(self._held_by) >= _DEEPEST:
            return None  # `a = b` and `b = a`, or a longer way than anybody writes
        self._held_by.add(value.number)
        found = self._held_attribute(value.number, name, called)
        self._held_by.discard(value.number)
        if found is not None and found.kind == "definition" and definition.kind != NodeKind.CONSTANT:
            return found._replace(rule="attribute-type")
        return found

    def _held_attribute(self, holder: int, name: str, called: str | None) -> Value | None:
        """Attribute `name` of what a constant, field or property holds."""
        made = self.held_by(holder)
        if made is None or made.kind in ("external", "builtin"):
            return made
        return self._attribute(self.program.file_of[holder], made, name, name, called)

    def _instance_attribute(self, value: Value, name: str, called: str | None) -> Value | None:
        program = self.program
        if value.kind == "super":
            return super_member(program, value.number, name, called)
        number, inherited = program.find_member(value.number, name, called=called)
        if number >= 0:
            rule = value.rule
            if rule == "self" and inherited:
                rule = "inherited"
            return Value("definition", number, rule)
        for base in program.linear_bases(value.number):
            entry = self._attributes.get(base, {}).get(name)
            if entry is not None:
                function = assigned_function(self.program, entry[0], entry[1])
                if function >= 0:
                    return Value("definition", function, value.rule)
                held = self._bound(entry[0], entry[1], name)
                if held.kind == "instance":
                    return held._replace(rule="attribute-type")
                return held
        return None

    # -- light types

    def _bound(self, file: int, binding: Binding, name: str) -> Value:
        """What a variable, parameter or attribute holds, by its annotation or by what it was made of."""
        settings = self.program.files[file].settings
        if binding.type and settings is not None and settings.names.class_scope_is_visible:
            return self._declared(file, binding.scope, binding.type, "annotation")
        if binding.type:
            # Annotations of parameters are read around the function; those of local names may name what is local.
            held = self._declared(file, around(self.program, file, binding), binding.type, "annotation")
            return held if held.kind != "builtin" else self._declared(file, binding.scope, binding.type, "annotation")
        if binding.value and binding.value != name and len(self._busy) < _DEEPEST * 4:
            made = self.of_chain(file, binding.scope, binding.value)
            if made is not None and made.kind != "unknown-member":
                return made
        return UNKNOWN

    def _declared(self, file: int, scope: int, type_name: str, rule: str) -> Value:
        """An instance of the type that an annotation names in `scope`, or what holds such instances."""
        if type_name.endswith("[]"):
            return array_of(self._declared(file, scope, type_name.removesuffix("[]"), rule))
        shape, held = split_type(type_name)
        if shape:
            # What a range counts with is a number unless the type says otherwise.
            nameless = [UNKNOWN, BUILTIN] if shape == "items" else [UNKNOWN] * len(held)
            parts = tuple(
                self._declared(file, scope, each, rule) if each else other
                for each, other in zip(held, nameless, strict=True)
            )
            return Value(shape, -1, rule, parts=parts)
        declared = self.of_chain(file, scope, type_name)
        settings = self.program.files[file].settings
        if settings is not None and settings.names.all_declared:  # a type parameter is what its bound is, or any object
            if declared is not None and declared.kind == "instance":
                return declared._replace(rule=rule)
            declared = declared if declared is not None and declared.kind != "local" else BUILTIN
        if declared is None:
            return UNKNOWN if is_type_parameter(self.program, file, scope, type_name) else BUILTIN
        if declared.kind == "definition" and self.program.is_like_a_type(declared.number):
            return Value("instance", declared.number, rule)
        return declared if declared.kind in ("external", "builtin") else UNKNOWN

    def held_by(self, definition: int) -> Value | None:
        """What a constant or field holds, as far as it can be told."""
        program = self.program
        file = program.file_of[definition]
        names = program.files[file]
        facts = program.definition_of[definition]
        scope, key = facts.parent, facts.name
        for target in (key, f".{key}"):
            binding = names.bindings.get(scope, {}).get(target)
            if binding is not None:
                held = self._bound(file, binding, key)
                if held.kind in ("instance", "external", "builtin", "module") or held.kind in HOLDERS:
                    return held
                if held.kind == "definition" and held.number != definition:
                    return held
        return enum_constant(program, definition)

    def _called(self, value: Value | None) -> Value | None:
        """What calling a value gives: an instance of a class, or of the type that a function says it returns."""
        if value is None or value.kind in ("external", "builtin"):
            return value
        if value.kind == "module":
            value = self.default_of(value)
        if value is not None and value.kind in ("callable", "instance"):
            return self._result(value)
        if value is None or value.kind != "definition":
            return UNKNOWN
        program = self.program
        if program.is_type(value.number):
            return Value("instance", value.number, "constructed")
        file = program.file_of[value.number]
        names = program.files[file]
        returned = names.returns.get(value.number - names.first)
        if not returned and self._is_held(value):
            return self._result(value)
        if any(
            names.returns.get(each - names.first) != returned for each in program.overloads(value.number, UNCOUNTED)
        ):
            return UNKNOWN
        if not returned:
            makes = program.is_constructor(value.number)
            return Value("instance", value.number, "constructed") if makes else UNKNOWN
        owner = program.enclosing_type(value.number)
        if returned in ("Self", "this") and owner >= 0:
            return Value("instance", owner, "return-type")
        return self._declared(file, value.number - names.first, returned, "return-type")


def _arguments(part: str, called: str | None) -> str | None:
    """The arguments of a part of a chain: those of the call for its last part, not known for parts inside."""
    return UNCOUNTED if "()" in part else called
