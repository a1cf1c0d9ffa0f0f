"""Functions that are kept under a name: fields of structures and members of object literals that hold a function.

In: the text of a file, its syntax tree, its definitions and imports. Out: a `Binding` for each, of the target
`*.name`: `{ run: start }` keeps start as run, and so does `ops.run = start`. A call of `x.run()` on what nobody knows
may mean it.
"""

import re
from collections.abc import Sequence

import tree_sitter

from causalist.model.facts import MODULE_SCOPE, Binding, Definition, Import
from causalist.model.symbols import CALLABLE_KINDS
from causalist.model.type_notation import KEPT
from causalist.parse.routes.source import RouteText


def _is_kept(key: tree_sitter.Node) -> bool:
    """Return True for the name of a member that is given a value; patterns take one."""
    around = key.parent
    if around is not None and around.type in ("field_designator", "field_expression"):
        around = around.parent
    return around is not None and around.type in ("pair", "initializer_pair", "assignment_expression")


_MAX_KEPT = 400  # of one file
_PATTERNS = {
    "ecmascript": re.compile(rb"(?<=[{,\s])(?P<key>[A-Za-z_$][\w$]*)\s*:\s*(?P<value>[A-Za-z_$][\w$]*)\s*(?=[,}])"),
    "c": re.compile(rb"(?:\.|->)(?P<key>[A-Za-z_]\w*)\s*=\s*&?(?P<value>[A-Za-z_]\w*)\s*(?=[,};])"),
}
_FAMILIES = {"c": "c", "cpp": "c", "ecmascript": "ecmascript"}


def read_kept_functions(
    family: str, tree: tree_sitter.Tree, data: bytes, definitions: Sequence[Definition], imports: Sequence[Import]
) -> list[Binding]:
    """Return the functions of this file, and imported names, that are kept under a name, in order."""
    pattern = _PATTERNS.get(_FAMILIES.get(family, ""))
    if pattern is None:
        return []
    known = {each.name for each in definitions if each.kind in CALLABLE_KINDS}
    known.update(each.alias for each in imports if each.alias)
    if not known:
        return []
    source, found = RouteText(data, tree, definitions), list[Binding]()
    for match in pattern.finditer(data):
        value = match["value"].decode()
        if value in known and _is_kept(source.node(match.start("key"))):
            row = source.row(match.start("key"))
            found.append(Binding(MODULE_SCOPE, f"{KEPT}{match['key'].decode()}", "", value, row))
            if len(found) >= _MAX_KEPT:
                break
    return list(dict.fromkeys(found))
