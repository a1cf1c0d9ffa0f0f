"""Objects that are no symbols themselves but hold some: what a file exports, literals, what a function returns.

`Value.kind` "holder" is an object known by the qualified name that its members begin with: `number` is the file, `name`
that beginning, "" for members that stand at the top of the file. Each function answers one question of `values`.
"""

from typing import TYPE_CHECKING

from causalist.graph.infer import annotations as receivers
from causalist.graph.infer import containers as shaped
from causalist.graph.program.program import Program
from causalist.graph.rules import RuleName
from causalist.graph.values import UNKNOWN, Value
from causalist.model.facts import MODULE_SCOPE, Binding
from causalist.model.symbols import NodeKind

if TYPE_CHECKING:
    from causalist.graph.infer.inference import Values

_WHOLE = "default"  # what a file exports in place of itself


def own_exports(values: "Values", file: int, scope: int, chain: str, called: str | None) -> Value | None:
    """What a chain means that begins with the exports of its own file: `exports.f`, `module.exports.f`."""
    names = values.program.files[file]
    prefixes = names.settings.names.assigned_prefixes if names.settings is not None else ()
    for prefix in prefixes:
        if prefix.endswith("exports.") and chain.startswith(prefix):
            head = chain.partition(".")[0]
            binding = names.bindings.get(MODULE_SCOPE, {}).get(head)
            is_theirs = binding is not None and binding.value == _WHOLE  # `exports = module.exports = f`
            if not is_theirs and values.lookup(file, scope, head) is not None:
                return None  # a name like any other
            found = values.along(
                file, Value("module", file, RuleName.SAME_FILE), chain[len(prefix) :].split("."), 0, called
            )
            if found is None or found.kind != "definition" or found.rule != RuleName.MODULE_ATTRIBUTE:
                return found
            return found._replace(
                rule=RuleName.SAME_FILE if values.program.file_of[found.number] == file else RuleName.IMPORT
            )
    return None


def around_method(program: Program, definition: int) -> Value | None:
    """The object literal that a function stands in as a method, which is what `this` means there."""
    names = program.files[program.file_of[definition]]
    facts = program.definition_of[definition]
    if facts.kind != NodeKind.METHOD or names.settings is None or not names.settings.names.assigned_infixes:
        return None
    return Value("holder", program.file_of[definition], RuleName.SELF, facts.qualname.rpartition(".")[0])


def member(values: "Values", holder: Value, name: str) -> Value | None:
    """A function that the object holds, or what it is said to hold."""
    program = values.program
    names = program.files[holder.number]
    number = names.by_qualname.get(f"{holder.name}.{name}" if holder.name else name, -1)
    if number >= 0 and program.definition_of[number].kind == NodeKind.METHOD:
        return Value("definition", number, holder.rule)
    for said in holder.type[1:-1].split(","):
        key, _, chain = said.partition(":")
        if key == name and holder.also:
            return receivers.given(values, holder.number, holder.also[0] - names.first, chain or key)
    return UNKNOWN if "..." in holder.type else None


def attributes(values: "Values") -> dict[int, dict[str, list[tuple[int, Binding]]]]:
    """What types, functions and objects are given by assignment: definition -> name -> (file, binding) of each. Of what
    stands in them, `this.m = …`, the first that tells something is first, before what they are given from outside:
    `A.prototype.m = f`."""
    program = values.program
    found: dict[int, dict[str, list[tuple[int, Binding]]]] = {}
    outside: list[tuple[int, Binding]] = []
    for file, names in enumerate(program.files):
        for scope, target in dict.fromkeys((b.scope, b.target) for b in names.facts.bindings if "." in b.target):
            binding = names.bindings[scope][target]
            if target.startswith("."):
                owner = program.enclosing_owner(names.first + scope) if scope >= 0 else -1
                if owner < 0:
                    continue
                owner = program.canonical.get(owner, owner)
                known = found.setdefault(owner, {}).setdefault(target[1:], [])
                if known and not (known[0][1].type or known[0][1].value):
                    known.pop()
                known.append((file, binding))
            elif _is_outside(binding) and binding.value:
                outside.append((file, binding))
    for file, binding in outside:
        owner_name, _, name = binding.target.rpartition(".")
        value = values.of_chain(file, binding.scope, owner_name)
        if value is not None and value.kind == "definition":
            found.setdefault(value.number, {}).setdefault(name, [(file, binding)])
    return found


def attribute(values: "Values", value: Value, name: str) -> Value | None:
    """What an attribute of an instance holds that its type or a base of it is given by assignment."""
    program = values.program
    for base in program.linear_bases(value.number):
        entries = values.assigned(base, name)
        if not entries or (_is_outside(entries[0][1]) and program.is_value(base)):
            continue  # who calls a function of an object that is no class can put another in its place
        file, binding = entries[0]
        if _is_outside(binding):
            return assigned(values, base, name)
        if program.files[file].is_shaped:
            return shaped.by_rule(shaped.bound(values, file, binding, name, entries[1:]), RuleName.ATTRIBUTE_TYPE)
        function = values.name_lookup.find_assigned_function(file, binding)
        if function >= 0:
            return Value("definition", function, value.rule)
        held = receivers.bound(values, file, binding, binding.target)
        return held._replace(rule=RuleName.ATTRIBUTE_TYPE) if held.kind in ("instance", "many") else held
    return None


def assigned(values: "Values", owner: int, name: str) -> Value | None:
    """What a member holds that is given from outside of `owner`."""
    entries = values.assigned(owner, name)
    if not entries or not _is_outside(entries[0][1]):
        return None
    file, binding = entries[0]
    held = receivers.bound(values, file, binding, binding.target)
    rules = {"definition": RuleName.OBJECT_MEMBER, "instance": RuleName.ATTRIBUTE_TYPE, "many": RuleName.ATTRIBUTE_TYPE}
    return held._replace(rule=rules.get(held.kind, held.rule))


def _is_outside(binding: Binding) -> bool:
    return "." in binding.target[1:]
