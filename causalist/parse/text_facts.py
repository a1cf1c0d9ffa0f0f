"""Facts that are read from the text of a file rather than by queries: fixtures, strings, kept functions.

In: the text of a file, its syntax tree and its definitions. Out: an `Export` for each fixture, `fixture:` and its name
(that of a fixture in a class has the class before it), and a `Reference` for each string that may be the dotted name of
a definition: `patch("app.views.send")`, entries of settings, entry points of packages.
"""

import re
from collections.abc import Iterator, Sequence
from posixpath import basename

import tree_sitter

from causalist.model.facts import MODULE_SCOPE, Binding, Definition, Export, Import, Reference
from causalist.model.symbols import CALLABLE_KINDS, FIXTURE_PREFIX
from causalist.model.type_notation import KEPT, STRING_TARGET
from causalist.parse.routes.source import RouteText, keyword, literal

_FIXTURE = re.compile(rb"@(?:\w+\.)*\w*(?P<name>fixture)\b(?P<call>\s*\()?")
_DOTTED = re.compile(
    rb"""(?<![\w"'])(?P<quote>["'])(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?::[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)?"""
    rb"""|[A-Za-z_]\w*:[A-Za-z_]\w*)(?P=quote)(?!["'])"""
)
# Ends of strings that are names of files or hosts.
_NO_NAMES = re.compile(
    rb"\.(?:py|txt|md|rst|html?|json|ya?ml|toml|cfg|ini|xml|csv|js|css|png|jpe?g|svg|com|org|net|io|log|db|sql)$"
)
_MAX_STRINGS = 400  # of one file
_ENTRY_POINT = re.compile(
    rb"""^\s*"?[\w.-]+"?\s*=\s*["']?(?P<name>[A-Za-z_][\w.]*:[A-Za-z_][\w.]*)["']?\s*$""", re.MULTILINE
)
_MANIFESTS = ("pyproject.toml", "setup.cfg", "entry_points.txt")


def read_fixtures(tree: tree_sitter.Tree, data: bytes, definitions: Sequence[Definition]) -> list[Export]:
    """Return the fixtures that decorators make, in the order of the file."""
    if b"fixture" not in data:
        return []
    source, found = RouteText(data, tree, definitions), list[Export]()
    for match in source.matches(_FIXTURE, "name"):
        number = source.decorated(match.start("name"))
        if number < 0:
            continue
        arguments = source.arguments(match.end())[0] if match["call"] else []
        definition = definitions[number]
        name = literal(keyword(arguments, "name") or "") or definition.name
        holder = definition.qualname.rpartition(".")[0]
        exported = f"{holder}.{name}" if holder else name
        found.append(Export(definition.qualname, f"{FIXTURE_PREFIX}{exported}", definition.start_row))
    return found


def read_string_targets(data: bytes, tree: tree_sitter.Tree, definitions: Sequence[Definition]) -> Iterator[Reference]:
    """Yield a reference for each string that may be the dotted name of a definition, `STRING_TARGET` before it."""
    source = RouteText(data, tree, definitions)
    for n, match in enumerate(_DOTTED.finditer(data)):
        if n >= _MAX_STRINGS:
            return
        if not _NO_NAMES.search(match["name"]):
            at = match.start("name")
            yield Reference(source.scope(at), f"{STRING_TARGET}{match['name'].decode()}", source.row(at))


def read_entry_points(path: str, data: bytes) -> tuple[Reference, ...]:
    """Return references to the functions that a manifest of a package names as entry points."""
    if basename(path) not in _MANIFESTS:
        return ()
    return tuple(
        Reference(MODULE_SCOPE, f"{STRING_TARGET}{match['name'].decode()}", data.count(b"\n", 0, match.start("name")))
        for match in _ENTRY_POINT.finditer(data)
    )


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
