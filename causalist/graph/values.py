"""What a chain of names means where it stands: by scope, imports, bases and light types; never by namesakes.

A chain is read from left to right; each step is a definition, an instance of a type, a module, something external, or
unknown. Which edges follow from it, and what is guessed where nothing is known, is decided in `resolve`.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from causalist.graph.names import FileNames, Found, Program
from causalist.model.facts import MODULE_SCOPE, Binding, Import
from causalist.model.symbols import NodeKind

_DEEPEST = 6  # assignments that are followed to find the type of a name


class Value(NamedTuple):
    """What a part of a chain is. `kind`: "definition", "instance" (of the type `number`), "super", "module", "dotted"
    (a package of which only longer names are modules), "external", "builtin" (of a type that no file defines), "local"
    (a variable that nothing is known of)."""

    kind: str
    number: int
    rule: str
    name: str = ""


UNKNOWN = Value("local", -1, "")
_BUILTIN = Value("builtin", -1, "")


@dataclass(slots=True)
class Values:
    """The values of chains in all files of a program. `read_attributes` has to be called when its bases are known."""

    program: Program
    derived_from_outside: set[int] = field(default_factory=set)  # types with a base that is not of the repository
    _values: dict[tuple[int, int, str], Value | None] = field(default_factory=dict)
    _busy: set[tuple[int, int, str]] = field(default_factory=set)
    _held: set[int] = field(default_factory=set)  # constants and fields whose content is being looked into
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

    def of_chain(self, file: int, scope: int, chain: str) -> Value | None:
        """The value of a chain. None: no such name, or a known receiver without that member; "unknown-member": the
        receiver is not known, so that nothing can be known of its member."""
        key = (file, scope, chain)
        if key in self._values:
            return self._values[key]
        if key in self._busy or len(self._busy) > 40:
            return None
        self._busy.add(key)
        value = self._walk(file, scope, chain)
        self._busy.discard(key)
        self._values[key] = value
        return value

    def _walk(self, file: int, scope: int, chain: str) -> Value | None:
        names = self.program.files[file]
        settings = names.settings
        if settings is None:
            return None
        parts = chain.split(".")
        head = parts[0]
        unknown = Value("unknown-member", -1, "") if len(parts) > 1 else None
        if head == "?":
            return unknown
        bare = head.rstrip("()")
        value: Value | None
        if head in settings.names.super_names or (bare in settings.names.super_names and head.endswith("()")):
            if head.endswith("()") and head not in settings.names.super_names:
                return None
            owner = self._owner(names, scope)
            if owner < 0 or len(parts) == 1:
                return self._super_constructor(names, owner, settings.names.constructors) if owner >= 0 else None
            value = Value("super", owner, "super")
        elif bare in settings.names.self_names and (owner := self._owner(names, scope)) >= 0:
            value = Value("instance", owner, "self")
            if head != bare:  # the class, by its own name inside of it
                value = value._replace(rule="constructed") if head == f"{bare}()" else UNKNOWN
        else:
            value = self._lookup(file, scope, bare)
            for _ in range(head.count("()")):
                value = self._called(value)
        return self._along(file, value, parts, 1)

    def _along(self, file: int, value: Value | None, parts: list[str], first: int) -> Value | None:
        """What the chain `parts` means if everything before its part number `first` is `value`."""
        unknown = Value("unknown-member", -1, "")
        i = first
        while i < len(parts):
            if value is None or value.kind == "local":
                return unknown
            if value.kind in ("external", "builtin"):
                return value
            part = parts[i]
            i += 1
            step = self._attribute(file, value, part.rstrip("()"), ".".join(parts[:i]))
            if step is None and value.kind == "definition":
                step, i = self._deep_member(value.number, parts, i)
                part = parts[i - 1]
            if step is None and value.kind == "definition" and self._invokes(file, part):
                step = value
            if step is None:
                # A known receiver without that member: dynamic, or inherited from outside. No candidates either.
                return unknown if self._is_open(value) else None
            value = step
            for _ in range(part.count("()")):
                value = self._called(value)
        return value

    def _invokes(self, file: int, part: str) -> bool:
        settings = self.program.files[file].settings
        return settings is not None and part.rstrip("()") in settings.names.invokers

    def _deep_member(self, owner: int, parts: list[str], i: int) -> tuple[Value | None, int]:
        """A member of a member that is no symbol by itself, `a.b.c` where only a and a.b.c are, and the part after."""
        for end in range(i + 1, len(parts) + 1):
            number = self.program.member(owner, ".".join(parts[i - 1 : end]).rstrip("()"))
            if number >= 0:
                return Value("definition", number, "object-member"), end
        return None, i

    def _is_open(self, value: Value) -> bool:
        """Whether a value may have members that its definition does not show: its type is not known, or it is `self`
        in a class all of whose bases are known, so that only a class derived from it can have the member."""
        program = self.program
        if value.kind == "definition":
            return program.is_value(value.number) and self.held_by(value.number) is None
        if value.kind == "instance" and value.rule == "self":
            return not any(base in self.derived_from_outside for base in program.linear_bases(value.number))
        return False

    def _owner(self, names: FileNames, scope: int) -> int:
        return self.program.enclosing_owner(names.first + scope) if scope >= 0 else -1

    def _super_constructor(self, names: FileNames, owner: int, constructors: tuple[str, ...]) -> Value | None:
        for constructor in constructors:
            number, _ = self.program.find_member(owner, constructor, skip_own=True)
            if number >= 0:
                return Value("definition", number, "super")
        bases = self.program.linear_bases(owner)
        return Value("definition", bases[1], "super") if len(bases) > 1 else None

    def _lookup(self, file: int, scope: int, name: str) -> Value | None:
        """A bare name, from the innermost scope outwards; None for builtins and unknown globals."""
        program = self.program
        names = program.files[file]
        definitions = names.facts.definitions
        settings = names.settings
        assert settings is not None
        first = True
        while scope != MODULE_SCOPE:
            definition = definitions[scope]
            is_type = program.is_type(names.first + scope)
            if not is_type or first or settings.names.class_scope_is_visible:
                own = names.by_qualname.get(f"{definition.qualname}.{name}")
                if own is not None and program.parent(own) == names.first + scope:
                    return Value("definition", own, "same-file")
                entry = names.imports.get(scope, {}).get(name)
                if entry is not None:
                    return self._imported(file, entry)
                binding = names.bindings.get(scope, {}).get(name)
                if binding is not None and not is_type:
                    return self._bound(file, binding, name)
            first = False
            scope = definition.parent
        own = names.by_qualname.get(name)
        entry = names.imports.get(MODULE_SCOPE, {}).get(name)
        if own is not None and (entry is None or not program.is_value(own)):
            return Value("definition", own, "same-file")
        if entry is not None:
            return self._imported(file, entry)
        binding = names.bindings.get(MODULE_SCOPE, {}).get(name)
        if binding is not None:
            return self._bound(file, binding, name)
        shared = program.packages.definition(file, name, program.files)
        if shared is not None:
            return Value("definition", shared, "package-scope")
        return self._starred(file, names, name)

    def _starred(self, file: int, names: FileNames, name: str) -> Value | None:
        for star in names.stars:
            target, _ = self.program.target_module(file, star)
            if target < 0:
                continue
            listed = self.program.files[target].facts.wildcard_exports
            if (listed is not None and name not in listed) or (listed is None and name.startswith("_")):
                continue
            found = self.program.exported(target, name)
            if found is not None:
                return self._of_found(found, "star-import")
        return None

    def _imported(self, file: int, entry: Import) -> Value | None:
        found = self.program.follow(file, entry)
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
        return Value(found.kind, found.number, rule or found.rule, found.name)

    def _attribute(self, file: int, value: Value, name: str, so_far: str) -> Value | None:
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
            return self._definition_attribute(value, name)
        if value.kind in ("instance", "super"):
            return self._instance_attribute(value, name)
        return None

    def default_of(self, module: Value) -> Value | None:
        """What a file puts in the place of its module, where the language can: `module.exports = f`."""
        settings = self.program.files[module.number].settings
        if settings is None or not settings.modules.require:
            return None
        found = self.program.exported(module.number, "default")
        whole = self._of_found(found, "") if found is not None else None
        return whole if whole is not None and whole.kind in ("definition", "instance") else None

    def _definition_attribute(self, value: Value, name: str) -> Value | None:
        program = self.program
        definition = program.definition_of[value.number]
        if program.is_type(value.number):
            number, inherited = program.find_member(value.number, name)
            if number >= 0:
                return Value("definition", number, "inherited" if inherited else "class-attribute")
            return None
        number = program.member(value.number, name)
        if number >= 0:
            return Value("definition", number, "object-member")
        if definition.kind not in (NodeKind.CONSTANT, NodeKind.FIELD, NodeKind.METHOD):
            return None
        if value.number in self._held or len(self._held) >= _DEEPEST:
            return None  # `a = b` and `b = a`, or a longer way than anybody writes
        self._held.add(value.number)
        found = self._held_attribute(value.number, name)
        self._held.discard(value.number)
        if found is not None and found.kind == "definition" and definition.kind != NodeKind.CONSTANT:
            return found._replace(rule="attribute-type")
        return found

    def _held_attribute(self, holder: int, name: str) -> Value | None:
        """Attribute `name` of what a constant, field or property holds."""
        made = self.held_by(holder)
        if made is None or made.kind in ("external", "builtin"):
            return made
        return self._attribute(self.program.file_of[holder], made, name, name)

    def _instance_attribute(self, value: Value, name: str) -> Value | None:
        program = self.program
        if value.kind == "super":
            number, _ = program.find_member(value.number, name, skip_own=True)
            return Value("definition", number, "super") if number >= 0 else None
        number, inherited = program.find_member(value.number, name)
        if number >= 0:
            rule = value.rule
            if rule == "self" and inherited:
                rule = "inherited"
            return Value("definition", number, rule)
        for base in program.linear_bases(value.number):
            entry = self._attributes.get(base, {}).get(name)
            if entry is not None:
                function = self._assigned_function(entry[0], entry[1])
                if function >= 0:
                    return Value("definition", function, value.rule)
                held = self._bound(entry[0], entry[1], name)
                if held.kind == "instance":
                    return held._replace(rule="attribute-type")
                return held
        return None

    def _assigned_function(self, file: int, binding: Binding) -> int:
        """The definition that `this.name = function` makes where it stands, or -1."""
        if binding.type or binding.value or binding.scope == MODULE_SCOPE:
            return -1
        names = self.program.files[file]
        around = names.facts.definitions[binding.scope].qualname
        return names.by_qualname.get(f"{around}{binding.target}", -1)

    # -- light types

    def _bound(self, file: int, binding: Binding, name: str) -> Value:
        """What a variable, parameter or attribute holds, by its annotation or by what it was made of."""
        if binding.type:
            # Annotations of parameters are read around the function; those of local names may name what is local.
            held = self._declared(file, self._around(file, binding), binding.type, "annotation")
            return held if held.kind != "builtin" else self._declared(file, binding.scope, binding.type, "annotation")
        if binding.value and binding.value != name and len(self._busy) < _DEEPEST * 4:
            made = self.of_chain(file, binding.scope, binding.value)
            if made is not None and made.kind != "unknown-member":
                return made
        return UNKNOWN

    def _declared(self, file: int, scope: int, type_name: str, rule: str) -> Value:
        """An instance of the type that an annotation names in `scope`."""
        declared = self.of_chain(file, scope, type_name)
        if declared is None:
            return UNKNOWN if self._is_type_parameter(file, scope, type_name) else _BUILTIN
        if declared.kind == "definition" and self.program.is_like_a_type(declared.number):
            return Value("instance", declared.number, rule)
        return declared if declared.kind == "external" else UNKNOWN

    def _is_type_parameter(self, file: int, scope: int, name: str) -> bool:
        """Whether a definition around binds the name, be it a class, whose own names are not visible otherwise."""
        names = self.program.files[file]
        while scope != MODULE_SCOPE:
            if name in names.bindings.get(scope, {}):
                return True
            scope = names.facts.definitions[scope].parent
        return False

    def _around(self, file: int, binding: Binding) -> int:
        """Annotations are read in the scope around the function whose parameters they stand at."""
        if binding.scope == MODULE_SCOPE:
            return MODULE_SCOPE
        return self.program.files[file].facts.definitions[binding.scope].parent

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
                if held.kind in ("instance", "external", "builtin", "module"):
                    return held
                if held.kind == "definition" and held.number != definition:
                    return held
        return None

    def _called(self, value: Value | None) -> Value | None:
        """What calling a value gives: an instance of a class, or of the type that a function says it returns."""
        if value is None or value.kind in ("external", "builtin"):
            return value
        if value.kind == "module":
            value = self.default_of(value)
        if value is None or value.kind != "definition":
            return UNKNOWN
        program = self.program
        if program.is_type(value.number):
            return Value("instance", value.number, "constructed")
        file = program.file_of[value.number]
        names = program.files[file]
        returned = names.returns.get(value.number - names.first)
        if not returned:
            makes = program.is_constructor(value.number)
            return Value("instance", value.number, "constructed") if makes else UNKNOWN
        owner = program.enclosing_type(value.number)
        if returned in ("Self", "this") and owner >= 0:
            return Value("instance", owner, "return-type")
        return self._declared(file, value.number - names.first, returned, "return-type")
