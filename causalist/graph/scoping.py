"""In which scope a chain of names has to be read: the same chain means the same in all functions that give its first
name nothing, and `self.x` the same in all methods of a type, so that it is read once for all of them."""

from causalist.graph import shaped
from causalist.graph.names import Program
from causalist.graph.shapes import split_part

_IN_TYPE = -2  # and below: the scopes of types as such


def scope_in(owner: int) -> int:
    """The scope that stands for all methods of a type."""
    return _IN_TYPE - owner


def type_of(scope: int) -> int:
    """The type whose methods a scope stands for, or -1."""
    return _IN_TYPE - scope


def deciding_scope(program: Program, file: int, scope: int, chain: str) -> int:
    """The scope, of `scope` and those around it, in which a chain can be read with the same result."""
    names = program.files[file]
    if scope < 0 or names.settings is None or chain[:1] in "<?.":
        return scope
    own, head = names.settings.names, chain.partition(".")[0]
    bare = split_part(head, names.settings.types, names.settings.shapes)[0]
    if head in own.super_names or bare in own.super_names:
        return scope
    if bare in own.self_names:
        owner = shaped.self_type(program, names, scope, bare)
        return scope_in(owner) if owner >= 0 else scope
    # Where modules are a tree, the innermost of them is looked for from the scope itself.
    return scope if program.paths.tree.has(file) else names.deciding_scope(scope, bare)
