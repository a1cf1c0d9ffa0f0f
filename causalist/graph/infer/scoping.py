"""In which scope a chain of names has to be read: the same chain means the same in all functions that give its first
name nothing, and `self.x` the same in all methods of a type, so that it is read once for all of them."""

from causalist.graph.infer import containers as shaped
from causalist.graph.infer.base import split_part
from causalist.graph.program.program import Program

_IN_TYPE = -2  # and below: the scopes of types as such


def scope_in(owner: int) -> int:
    """The scope that stands for all methods of a type."""
    return _IN_TYPE - owner


def type_of(scope: int) -> int:
    """The type whose methods a scope stands for, or -1."""
    return _IN_TYPE - scope


def deciding_scope(program: Program, file: int, scope: int, chain: str) -> int:
    """The scope, of `scope` and those around it, in which a chain can be read with the same result."""
    if scope < 0:
        return scope
    names, head = program.files[file], chain.partition(".")[0]
    key = scope, head
    known = names.decided.get(key)
    if known is None:
        known = names.decided[key] = _decide(program, file, scope, head)
    return known


def _decide(program: Program, file: int, scope: int, head: str) -> int:
    names = program.files[file]
    if names.settings is None or head[:1] in "<?":
        return scope
    own = names.settings.names
    bare = split_part(head, names.settings.types, names.settings.shapes)[0]
    if head in own.super_names or bare in own.super_names:
        return scope
    if bare in own.self_names:
        owner = shaped.self_type(program, names, scope, bare)
        return scope_in(owner) if owner >= 0 else scope
    # Where modules are a tree, the innermost of them is looked for from the scope itself.
    return scope if program.tree_paths.tree.has_file(file) else names.deciding_scope(scope, bare)


def forget_scopes(program: Program) -> None:
    """Something that the scopes depend on has changed: which type a member belongs to."""
    for names in program.files:
        names.decided.clear()
