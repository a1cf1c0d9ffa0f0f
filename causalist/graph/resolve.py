"""Chains of names -> definitions, by scope, imports, bases and light types; never by a search for namesakes.

`Resolver.resolve` walks a chain from left to right and keeps what each step is: a definition, an instance of a type,
a module, something external, or unknown. An unknown receiver gives a candidate set, and only for names that no
builtin type has; everything else that is unknown gives nothing.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from causalist.graph.names import FileNames, Found, Program
from causalist.graph.rules import MOST_CANDIDATES
from causalist.model.facts import MODULE_SCOPE, Binding, Import
from causalist.model.symbols import NodeKind

_DEEPEST = 6  # assignments that are followed to find the type of a name


class Value(NamedTuple):
    """What a part of a chain is. `kind`: "definition", "instance" (of the type `number`), "module", "dotted" (a package
    of which only longer names are modules), "external", "local" (a variable that nothing is known of)."""

    kind: str
    number: int
    rule: str
    name: str = ""


class Target(NamedTuple):
    """A definition that a use may mean; `candidates` says how many share the doubt."""

    definition: int
    rule: str
    candidates: int


_UNKNOWN = Value("local", -1, "")


@dataclass(slots=True)
class Resolver:
    """Resolves uses in all files of a program."""

    program: Program
    builtin_methods: frozenset[str]
    _values: dict[tuple[int, int, str], Value | None] = field(default_factory=dict)
    _busy: set[tuple[int, int, str]] = field(default_factory=set)
    _attributes: dict[int, dict[str, tuple[int, Binding]]] = field(default_factory=dict)

    def prepare(self) -> list[tuple[int, Target, bool, int]]:
        """Resolves all bases, so that members are found along them.

        Returns (class, base, implements, row) for each resolved base.
        """
        found: list[tuple[int, Target, bool, int]] = []
        for file, names in enumerate(self.program.files):
            for base in names.facts.bases:
                owner = names.first + base.definition
                scope = names.facts.definitions[base.definition].parent
                value = self._chain(file, scope, base.name)
                if value is not None and value.kind == "definition" and value.number != owner:
                    found.append((owner, Target(value.number, value.rule, 1), base.implements, base.row))
        bases: dict[int, list[int]] = {}
        for owner, target, _, _ in found:
            bases.setdefault(owner, []).append(target.definition)
        for owner, numbers in bases.items():
            self.program.set_bases(owner, numbers)
        self._values.clear()  # chains that went through a class before its bases were known
        for file, names in enumerate(self.program.files):
            for scope, bindings in names.bindings.items():
                for target_name, binding in bindings.items():
                    if target_name.startswith("."):
                        owner = self.program.enclosing_owner(names.first + scope) if scope >= 0 else -1
                        if owner >= 0:
                            self._attributes.setdefault(owner, {}).setdefault(target_name[1:], (file, binding))
        return found

    def resolve(self, file: int, scope: int, chain: str, *, guess: bool) -> tuple[list[Target], str]:
        """(targets, external package or "") of a use of `chain` in `scope` of `file`."""
        value = self._chain(file, scope, chain)
        if value is not None:
            if value.kind == "definition":
                return [Target(value.number, value.rule, 1)], ""
            if value.kind == "external":
                return [], value.name
            if value.kind != "unknown-member":
                return [], ""
        if not guess or "." not in chain:
            return [], ""
        name = chain.rpartition(".")[2]
        if name in self.builtin_methods or name.startswith("__"):
            return [], ""
        language = self._family(file)
        candidates = [
            d for d in self.program.methods.get(name, ()) if self._family(self.program.file_of[d]) == language
        ]
        if not 0 < len(candidates) <= MOST_CANDIDATES:
            return [], ""
        return [Target(d, "name-only", len(candidates)) for d in candidates], ""

    def _family(self, file: int) -> str:
        settings = self.program.files[file].settings
        return settings.name if settings else ""

    # -- chains

    def _chain(self, file: int, scope: int, chain: str) -> Value | None:
        """The value of a chain; None where nothing can be known, "unknown-member" where only the last name is not."""
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
        elif bare in settings.names.self_names and head == bare:
            owner = self._owner(names, scope)
            value = Value("instance", owner, "self") if owner >= 0 else None
            if value is None:
                value = self._lookup(file, scope, bare)
        else:
            value = self._lookup(file, scope, bare)
            for _ in range(head.count("()")):
                value = self._called(value)
        for i, part in enumerate(parts[1:], 1):
            if value is None or value.kind == "local":
                return unknown
            if value.kind == "external":
                return value
            name = part.rstrip("()")
            step = self._attribute(file, value, name, ".".join(parts[: i + 1]))
            if step is None:
                closed = value.kind in ("module", "definition") and i == len(parts) - 1
                # A known receiver without that member: dynamic, or inherited from outside. No candidates either.
                return None if closed or value.kind in ("instance", "super") else unknown
            value = step
            for _ in range(part.count("()")):
                value = self._called(value)
        return value

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
        if own is not None:
            return Value("definition", own, "same-file")
        entry = names.imports.get(MODULE_SCOPE, {}).get(name)
        if entry is not None:
            return self._imported(file, entry)
        binding = names.bindings.get(MODULE_SCOPE, {}).get(name)
        if binding is not None:
            return self._bound(file, binding, name)
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
            return _UNKNOWN  # imported from here, but made in a way that cannot be seen
        if found.rule == "dotted":
            return Value("dotted", file, "path", entry.module)
        return self._of_found(found, "")

    @staticmethod
    def _of_found(found: Found, rule: str) -> Value:
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
            if found is None and name == "default":
                return value
            return self._of_found(found, "module-attribute" if found.kind == "definition" else "") if found else None
        if value.kind == "definition":
            return self._definition_attribute(value, name)
        if value.kind in ("instance", "super"):
            return self._instance_attribute(value, name)
        return None

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
        if definition.kind in (NodeKind.CONSTANT, NodeKind.FIELD):
            made = self._type_of_value(value.number)
            if made is not None:
                found = self._attribute(program.file_of[value.number], made, name, name)
                if found is not None and found.kind == "definition" and definition.kind == NodeKind.FIELD:
                    return found._replace(rule="attribute-type")
                return found
        return None

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
                held = self._bound(entry[0], entry[1], name)
                if held.kind == "instance":
                    return held._replace(rule="attribute-type")
                return held
        return None

    # -- light types

    def _bound(self, file: int, binding: Binding, name: str) -> Value:
        """What a variable, parameter or attribute holds, by its annotation or by what it was made of."""
        if binding.type:
            declared = self._chain(file, self._around(file, binding), binding.type)
            if declared is not None and declared.kind == "definition" and self.program.is_type(declared.number):
                return Value("instance", declared.number, "annotation")
            if declared is not None and declared.kind == "external":
                return declared
            return _UNKNOWN
        if binding.value and binding.value != name and len(self._busy) < _DEEPEST * 4:
            made = self._chain(file, binding.scope, binding.value)
            if made is not None and made.kind != "unknown-member":
                return made
        return _UNKNOWN

    def _around(self, file: int, binding: Binding) -> int:
        """Annotations are read in the scope around the function whose parameters they stand at."""
        if binding.scope == MODULE_SCOPE:
            return MODULE_SCOPE
        return self.program.files[file].facts.definitions[binding.scope].parent

    def _type_of_value(self, definition: int) -> Value | None:
        """The instance that a constant or field holds."""
        program = self.program
        file = program.file_of[definition]
        names = program.files[file]
        facts = program.definition_of[definition]
        scope, key = facts.parent, facts.name
        for target in (key, f".{key}"):
            binding = names.bindings.get(scope, {}).get(target)
            if binding is not None:
                held = self._bound(file, binding, key)
                if held.kind in ("instance", "external", "module"):
                    return held
                if held.kind == "definition" and held.number != definition:
                    return held
        return None

    def _called(self, value: Value | None) -> Value | None:
        """What calling a value gives: an instance of a class, or of the type that a function says it returns."""
        if value is None or value.kind == "external":
            return value
        if value.kind != "definition":
            return _UNKNOWN
        program = self.program
        if program.is_type(value.number):
            return Value("instance", value.number, "constructed")
        file = program.file_of[value.number]
        names = program.files[file]
        returned = names.returns.get(value.number - names.first)
        if not returned:
            return _UNKNOWN
        owner = program.enclosing_type(value.number)
        if returned in ("Self", "this") and owner >= 0:
            return Value("instance", owner, "return-type")
        declared = self._chain(file, names.facts.definitions[value.number - names.first].parent, returned)
        if declared is not None and declared.kind == "definition" and program.is_type(declared.number):
            return Value("instance", declared.number, "return-type")
        return declared if declared is not None and declared.kind == "external" else _UNKNOWN
