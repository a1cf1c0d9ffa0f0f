"""What a step of a chain may be, and what names mean by where they stand: in a type, behind a wildcard import.

Nothing here follows values; `values` does, and asks here.
"""

from causalist.graph.infer.base import HOLDERS
from causalist.graph.program.program import Program
from causalist.graph.values import BUILTIN, Found, Value
from causalist.model.facts import MODULE_SCOPE, Binding
from causalist.model.language import ModuleSystem
from causalist.model.symbols import NodeKind


def of_found(found: Found, rule: str) -> Value:
    return Value(found.kind, found.number, rule or found.rule, found.name)


def dotted(program: Program, file: int, name: str) -> Value | None:
    """The module that a dotted name means in a file, or None."""
    names = program.files[file]
    assert names.settings is not None
    target = program.modules.resolve(names.path, name, 0, names.settings.modules)
    return Value("module", target.file, "path") if target.file >= 0 else None


def visible_member(program: Program, owner: int, name: str, called: str | None) -> Value | None:
    """What a bare name inside of the type `owner` means, if that is a member of it."""
    number, inherited = program.find_member(owner, name, called=called)
    if number < 0:
        return None
    if program.is_type(number) and not inherited:
        is_here = program.file_of[number] == program.file_of[owner]
        return Value("definition", number, "same-file" if is_here else "package-scope")
    return Value("definition", number, "inherited" if inherited else "self")


def named_self(program: Program, owner: int, name: str) -> Value | None:
    """`Outer.this` and `Outer.super` inside of a type in Outer; `Interface.super` is the interface itself."""
    settings = program.files[program.file_of[owner]].settings
    if settings is None or not settings.names.members_are_visible:
        return None
    is_interface = program.definition_of[owner].kind == NodeKind.INTERFACE
    if name in settings.names.super_names:
        return Value("instance" if is_interface else "super", owner, "super")
    return Value("instance", owner, "self") if name in settings.names.self_names else None


def array_of(element: Value) -> Value:
    """An array of such values."""
    held = element if element.kind == "instance" or element.kind in HOLDERS else BUILTIN
    return Value("items", -1, element.rule, parts=(held, BUILTIN))


def super_member(program: Program, owner: int, name: str, called: str | None) -> Value | None:
    """What `super.name` means in `owner`. Interfaces and traits are not what `super` means, hence nothing if the
    superclass is not of the repository."""
    settings = program.files[program.file_of[owner]].settings
    is_mixed_in = settings is not None and settings.names.super_same  # what is mixed in comes before what is extended
    beside = (NodeKind.INTERFACE,) if is_mixed_in else (NodeKind.INTERFACE, NodeKind.TRAIT)
    above = [b for b in program.bases(owner) if program.definition_of[b].kind not in beside]
    if len(above) == len(program.bases(owner)):
        number, _ = program.find_member(owner, name, skip_own=True, called=called)
        return Value("definition", number, "super") if number >= 0 else None
    for base in above:
        number, _ = program.find_member(base, name, called=called)
        if number >= 0:
            return Value("definition", number, "super")
    return None


def super_constructor(program: Program, owner: int, called: str | None) -> Value | None:
    """What calling `super` itself runs: a constructor of the class right above `owner`, or else that class, whatever
    it has inherited."""
    settings = program.files[program.file_of[owner]].settings
    for base in program.bases(owner):
        if program.definition_of[base].kind == NodeKind.INTERFACE:
            continue
        for constructor in settings.names.constructors if settings is not None else ():
            number, inherited = program.find_member(base, constructor, called=called)
            if number >= 0 and not inherited:
                return Value("definition", number, "super")
        return Value("definition", base, "super")
    return None


def enum_constant(program: Program, definition: int) -> Value | None:
    """The instance that a constant of an enum is."""
    enum = program.parent(definition)
    is_one = enum >= 0 and program.definition_of[enum].kind == NodeKind.ENUM
    if is_one and program.definition_of[definition].kind == NodeKind.FIELD:
        return Value("instance", enum, "attribute-type")
    return None


def deep_member(program: Program, owner: int, parts: list[str], i: int) -> tuple[Value | None, int]:
    """A member of a member that is no symbol by itself, `a.b.c` where only a and a.b.c are, and the part after."""
    for end in range(i + 1, len(parts) + 1):
        number = program.member(owner, ".".join(parts[i - 1 : end]).rstrip("()"))
        if number >= 0:
            return Value("definition", number, "object-member"), end
    return None, i


def assigned_function(program: Program, file: int, binding: Binding) -> int:
    """The definition that `this.name = function` makes where it stands, or -1."""
    if binding.type or binding.value or binding.scope == MODULE_SCOPE:
        return -1
    names = program.files[file]
    holder = names.facts.definitions[binding.scope].qualname
    return names.by_qualname.get(f"{holder}{binding.target}", -1)


def starred(program: Program, file: int, name: str, called: str | None) -> Found | None:
    """What a name means that a wildcard import brings."""
    names = program.files[file]
    declared = names.settings is not None and names.settings.modules.system is ModuleSystem.DECLARED
    for star in names.stars:
        if declared:
            member = program.follow(file, star._replace(name=name), called)
            if member is not None and member.kind == "definition":
                return member
            continue
        target, _ = program.target_module(file, star)
        if target < 0:
            continue
        listed = program.files[target].facts.wildcard_exports
        if (listed is not None and name not in listed) or (listed is None and name.startswith("_")):
            continue
        found = program.exported(target, name)
        if found is not None:
            return found
    if declared and names.settings is not None and names.settings.modules.above:
        package = names.facts.package
        while package:
            package = package.rpartition(".")[0]
            above = program.declared.find(names.settings.family, f"{package}.{name}".lstrip("."), names.path)
            if above is not None:
                return Found("definition", above[1], "package-scope")
    return None


def around(program: Program, file: int, binding: Binding) -> int:
    """Annotations are read in the scope around the function whose parameters they stand at."""
    if binding.scope == MODULE_SCOPE:
        return MODULE_SCOPE
    return program.files[file].facts.definitions[binding.scope].parent
