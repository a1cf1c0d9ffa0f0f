"""Text of a file in which routes are searched, arguments of calls, literals, and paths that clients ask for.

In: the bytes of a file, its syntax tree and its definitions. Out: matches in code, arguments, `RouteFact` facts, and
references by the labels of a build.
"""

import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, TypeVar

import tree_sitter

from causalist._internal.lazy import lazy_regex
from causalist.model.facts import (
    MODULE_SCOPE,
    Binding,
    Call,
    Definition,
    Import,
    ImportKind,
    Reference,
    RouteFact,
    RouteForm,
)
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind
from causalist.model.type_notation import STRING_TARGET

ANY = "ANY"  # the method of a route that handles all
MAX_ARGUMENT_BYTES = 4_000  # of one call: a longer one is read up to there
_MAX_ARGUMENTS = 12
_BLOCK_BYTES, _MAX_DEPTH = 1024, 1000  # open brackets; each level costs a step in the tree
_OPENED, _CLOSED = (b"(", b"[", b"{"), (b")", b"]", b"}")
_ARGUMENT_READINGS = 8
_NO_CODE = ("comment", "string", "text", "content", "fragment")  # in the types of nodes that are no code
_DECORATOR = lazy_regex(r"decorator|annotation|attribute_|modifiers")  # types of nodes
MAX_RECEIVER_BYTES = 200
_NAME_BYTES = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$"
_OPENING, _CLOSING = b"([{", b")]}"
_CHAIN = lazy_regex(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)*")
_STRING = lazy_regex(r"""(?:[rRbuUfF$@]{0,2})(?P<quote>"{3}|'{3}|["'`])(?P<text>.*?)(?P=quote)$""", re.DOTALL)

_NAMED_TEXT = lazy_regex(rb"(?<![\w.])(?=(\w+)\s*(?::[^=\n]{1,40})?=\s*[\"'`]([^\"'`$\n]*)[\"'`])")
_DECORABLE_KINDS = CALLABLE_KINDS | TYPE_KINDS


class Argument(NamedTuple):
    """Argument of a call: its text without spaces around it, and where it starts and ends, in bytes."""

    text: str
    start: int
    end: int


class MemberCall(NamedTuple):
    """Call of a member: the chain before the dot, or `)` for a call there, and where all of it starts.

    `name` and `arguments` are the bytes where the name of the member and its arguments start.
    """

    receiver: str
    verb: str
    start: int
    name: int
    arguments: int


class RouteText:
    """Text of a file in which routes are searched."""

    def __init__(self, data: bytes, tree: tree_sitter.Tree, definitions: Sequence[Definition]) -> None:
        self.data = data
        self.definitions = definitions
        self.root = tree.root_node
        self._left_to_read = 0
        self.renew()

    def renew(self) -> "RouteText":
        """Return the text itself, of whose arguments as much may be read again as at first."""
        self._left_to_read = _ARGUMENT_READINGS * len(self.data) + MAX_ARGUMENT_BYTES
        return self

    @cached_property
    def _line_feeds(self) -> list[int]:
        return [match.start() for match in re.finditer(b"\n", self.data)]

    def row(self, byte: int) -> int:
        """Return the 0-based row of a byte."""
        return bisect_left(self._line_feeds, byte)

    def text(self, start: int, end: int) -> str:
        """Return the text between two bytes."""
        return self.data[start:end].decode("utf-8", "replace")

    def node(self, byte: int) -> tree_sitter.Node:
        """Return the smallest node of the tree around a byte."""
        return self.root.descendant_for_byte_range(byte, byte + 1) or self.root

    @cached_property
    def _deep_blocks(self) -> list[bool]:
        """Return, per block, True if it starts in so many open brackets that a search of the tree takes long there.

        Return an empty list if no block does.
        """
        depth, result = 0, list[bool]()
        for start in range(0, len(self.data), _BLOCK_BYTES):
            result.append(depth > _MAX_DEPTH)
            end = start + _BLOCK_BYTES
            depth += sum(self.data.count(each, start, end) for each in _OPENED)
            depth = max(0, depth - sum(self.data.count(each, start, end) for each in _CLOSED))
        return result if any(result) else []

    def is_code(self, byte: int) -> bool:
        """Return True if no comment and no string covers this byte; False where that takes long to tell."""
        if self._deep_blocks and self._deep_blocks[min(byte // _BLOCK_BYTES, len(self._deep_blocks) - 1)]:
            return False
        node = self.root.descendant_for_byte_range(byte, byte + 1)
        return node is not None and not any(word in node.type for word in _NO_CODE)

    def calls(self, pattern: "re.Pattern[bytes]") -> Iterator["MemberCall"]:
        """Yield the calls of members in code, of a pattern that starts at the dot and has a group `verb`."""
        for match in pattern.finditer(self.data):
            receiver, start = self._receiver(match.start())
            if receiver:
                yield MemberCall(receiver, match["verb"].decode(), start, match.start("verb"), match.end())

    def _receiver(self, dot: int) -> tuple[str, int]:
        """Return the chain before a dot and where it starts; `)` where that is a call or on a line before."""
        data, first = self.data, dot
        if data[dot - 1 : dot].isspace():
            return ")", dot
        while True:
            end = first
            while end > 0 and data[end - 1] in b" \t\r\n?":
                end -= 1
            start = end
            while start > 0 and (data[start - 1] in _NAME_BYTES):
                start -= 1
            if start == end:
                return (")", dot) if first == dot and end > 0 else ("", dot)
            first = start
            before = start
            while before > 0 and data[before - 1] in b" \t\r\n":
                before -= 1
            is_ellipsis = data[before - 2 : before] == b".."
            if before == 0 or data[before - 1] != 46 or is_ellipsis or dot - start > MAX_RECEIVER_BYTES:
                break
            if b"\n" in data[before:start] and not self.is_code(before - 1):
                break  # the dot ends a comment above
            first = before - 1
        text = data[first:dot].decode("utf-8", "replace")
        return re.sub(r"[\s?]", "", text), first

    def matches(self, pattern: "re.Pattern[bytes]", group: str | int = 0) -> Iterator["re.Match[bytes]"]:
        """Yield the matches whose group starts in code."""
        for match in pattern.finditer(self.data):
            if self.is_code(match.start(group)):
                yield match

    def literal(self, text: str) -> str | None:
        """Return `literal` of a text, with the values of constants of this file that are put into it."""
        for name in re.findall(r"\{(\w+)\}", text):
            values = self._texts_by_name.get(name, ())
            if len(values) == 1:
                text = re.sub(rf"\$?\{{{name}\}}", values[0].replace("\\", ""), text)
        return literal(text)

    @cached_property
    def _texts_by_name(self) -> dict[str, list[str]]:
        """Texts that names are given, by name, in the order of the file."""
        texts: dict[str, list[str]] = {}
        for name, text in _NAMED_TEXT.findall(self.data):
            texts.setdefault(name.decode("utf-8", "replace"), []).append(text.decode("utf-8", "replace"))
        return texts

    @cached_property
    def _scopes(self) -> tuple[list[int], list[tuple[int, int, int]]]:
        """Starts of definitions that can be scopes; (number, end, place of the nearest before it that ends later)."""
        starts: list[int] = []
        rows: list[tuple[int, int, int]] = []
        for number, each in enumerate(self.definitions):
            if each.kind not in (NodeKind.CONSTANT, NodeKind.FIELD):
                before = len(rows) - 1
                while before >= 0 and rows[before][1] <= each.end_byte:
                    before = rows[before][2]
                starts.append(each.start_byte)
                rows.append((number, each.end_byte, before))
        return starts, rows

    def scope(self, byte: int) -> int:
        """Return the innermost definition around a byte, constants and fields aside, or MODULE_SCOPE."""
        starts, rows = self._scopes
        index = bisect_right(starts, byte) - 1
        while index >= 0:
            number, end, before = rows[index]
            if byte < end:
                return number
            index = before
        return MODULE_SCOPE

    @cached_property
    def members(self) -> dict[tuple[int, str], int]:
        """First definition of each name in each definition, by the number of the outer one and the name."""
        members: dict[tuple[int, str], int] = {}
        for number, each in enumerate(self.definitions):
            members.setdefault((each.parent, each.name), number)
        return members

    def owner_at(self, byte: int) -> int:
        """Return the definition that the decorator or annotation at a byte belongs to, or -1.

        It begins with its decorators in most languages. In others it is the next node behind them.
        """
        node = self.root.descendant_for_byte_range(byte, byte + 1)
        while node is not None and not _DECORATOR.search(node.type):
            node = node.parent
        while node is not None and node.parent is not None and _DECORATOR.search(node.parent.type):
            node = node.parent
        if node is None:
            return -1
        behind = node.next_named_sibling
        while behind is not None and (_DECORATOR.search(behind.type) or "comment" in behind.type):
            behind = behind.next_named_sibling
        around = node.parent
        starts = [each.start_byte for each in (behind, around, around and around.parent) if each is not None]
        for start in starts:
            for number in self._decorable.get(start, ()):
                if self.definitions[number].end_byte > byte:
                    return number
        return -1

    @cached_property
    def _decorable(self) -> dict[int, list[int]]:
        """Callables and types by the byte where they start."""
        definitions: dict[int, list[int]] = {}
        for number, each in enumerate(self.definitions):
            if each.kind in _DECORABLE_KINDS:
                definitions.setdefault(each.start_byte, []).append(number)
        return definitions

    def arguments(self, start: int, limit: int = MAX_ARGUMENT_BYTES) -> tuple[list[Argument], int]:
        """Return the arguments behind the opening bracket that ends at `start`, and the byte behind the closing one.

        At most `limit` bytes are read, and for all calls of the file `_ARGUMENT_READINGS` times its bytes, because
        calls that are not closed reach into those behind them.
        """
        data, arguments, first = self.data, list[Argument](), start
        depth, position, end = 0, start, min(len(self.data), start + min(limit, self._left_to_read))
        while position < end:
            byte = data[position]
            if byte in b"\"'`":
                position = _skip_string(data, position, end)
                continue
            if byte in _OPENING:
                depth += 1
            elif byte in _CLOSING:
                if not depth:
                    break
                depth -= 1
            elif byte == 44 and not depth and len(arguments) < _MAX_ARGUMENTS:  # a comma
                arguments.append(self._argument(first, position))
                first = position + 1
            position += 1
        self._left_to_read -= position - start
        if data[first:position].strip():
            arguments.append(self._argument(first, position))
        return arguments, position + 1

    def _argument(self, start: int, end: int) -> Argument:
        raw = self.data[start:end]
        start += len(raw) - len(raw.lstrip())
        return Argument(raw.strip().decode("utf-8", "replace"), start, start + len(raw.strip()))


# The type of a name, `Order{Item}`, the class that its value makes, `Order()`, or a type that is stated, `<Order>`.
_OF_OBJECT = lazy_regex(r"^\$?this(?:\.|->)")
_BOUND = lazy_regex(r"(?P<made>[A-Z][\w\\.]*)(?:\{[^{}]*\})?(?P<call>\(\))?|<(?P<stated>[A-Z][\w\\.]*)(?:\{[^{}]*\})?>")


class BoundTypes:
    """Types of the names in a file, as far as a binding says or makes them."""

    def __init__(self, source: RouteText, bindings: Iterable[Binding]) -> None:
        self._definitions = source.definitions
        self._bindings = bindings
        self._bound: dict[tuple[int, str], Binding] = {}

    def type_of(self, name: str, scope: int) -> str:
        """Return the type of a name or of an attribute of the object, "" if it is not known or no class."""
        if not self._bound:
            for each in self._bindings:
                self._bound.setdefault((each.scope, each.target), each)
        name = _OF_OBJECT.sub(".", name)
        while True:
            bound = self._bound.get((scope, name))
            if bound is not None:
                match = _BOUND.fullmatch(bound.type or bound.value)
                is_type = match is not None and bool(bound.type or match["call"] or match["stated"])
                return str(match["made"] or match["stated"]) if match is not None and is_type else ""
            if scope == MODULE_SCOPE:
                return ""
            scope = self._definitions[scope].parent


def _skip_string(data: bytes, start: int, end: int) -> int:
    """Return the byte behind the string that starts at `start`."""
    quote = data[start : start + 1]
    position = start + 1
    while position < end:
        if data[position] == 92:  # a backslash
            position += 2
            continue
        if data[position : position + 1] == quote:
            return position + 1
        if data[position] == 10 and quote != b"`":
            return position  # an apostrophe, or a string that is not closed
        position += 1
    return end


def literal(text: str) -> str | None:
    """Return the text of a string literal, with `{}` for what is put into it, or None if it is something else.

    >>> literal('"/users"'), literal("`${base}/users/${id}`"), literal('f"/users/{id}"'), literal("base + '/x'")
    ('/users', '{}/users/{}', '/users/{}', None)
    """
    matched = _STRING.match(text)
    if matched is None or matched["quote"] in matched["text"]:
        return None
    content, prefix = matched["text"], text[: matched.start("quote")].lower()
    if matched["quote"] == "`":
        content = re.sub(r"\$\{[^}]*\}", "{}", content)
    elif "f" in prefix or "$" in prefix:
        content = re.sub(r"\{[^}]*\}", "{}", content)
    return None if "\n" in content else content


def path_or_constant(text: str | None) -> str | None:
    """Return the text of a string literal, `=` and the name of a constant, or None.

    >>> path_or_constant('"/users"'), path_or_constant("settings.API"), path_or_constant("base() + x")
    ('/users', '=settings.API', None)
    """
    path = literal(text or "")
    name = chain(text or "") if path is None else ""
    return f"={name}" if name and "(" not in (text or "") else path


def chain(text: str) -> str:
    """Return the dotted chain that an argument is, without calls behind it, or "".

    >>> chain("users.show"), chain("views.V.as_view()"), chain("require('./x')"), chain("(req, res) => 1")
    ('users.show', 'views.V.as_view', '', '')
    """
    matched = _CHAIN.match(text)
    if matched is None or matched[0] in ("require", "import", "function", "async", "lambda", "new", "func", "move"):
        return ""
    rest = text[matched.end() :].strip()
    return matched[0].replace("::", ".").replace("->", ".") if not rest or rest.startswith("(") else ""


def keyword(arguments: Sequence[Argument], *names: str) -> str | None:
    """Return the text of the first keyword argument with one of these names, or None."""
    for each in arguments:
        matched = re.match(r"(\w+)\s*[=:](?![=:])\s*", each.text)
        if matched and matched[1] in names:
            return each.text[matched.end() :]
    return None


# -- requests by clients, in any language

# Last words of what a client of HTTP is called. Those of tests are the most frequent.
_CLIENT_NAMES = """
axios http https api client request requests session ajax got ky superagent supertest agent httpx fetcher apiclient
httpclient restclient webclient testclient resttemplate instance mockmvc webtestclient
"""
_CLIENTS = frozenset(_CLIENT_NAMES.split())


def is_client(receiver: str) -> bool:
    """Return True if what a chain names is called like a client of HTTP.

    >>> [is_client(each) for each in ("self.client", "request(app)", "router", "this.http", "$", "fetchApi")]
    [True, True, False, True, True, True]
    """
    if receiver in ("$", "jQuery"):
        return True
    last = receiver.split("(")[0].rpartition(".")[2].lower().lstrip("_$")
    return last in _CLIENTS or last.endswith(("client", "_http")) or last.startswith(("fetch", "axios"))


def requested_path(text: str | None) -> str:
    """Return the path of a request as routes have it, or "" if none is certain.

    A host of this machine and a base that is put in are left out, as are queries and what is put in behind a word.
    Other hosts are other programs.

    >>> requested_path("{}/users/{}?x=1"), requested_path("http://localhost:80/a"), requested_path("https://x.io/a")
    ('/users/{}', '/a', '')
    >>> requested_path("/users{}"), requested_path("/report-{}")
    ('/users', '/report-{}')
    """
    if not text:
        return ""
    matched = re.match(r"https?://([^/]*)(.*)", text)
    if matched:
        if not re.match(r"(localhost|127\.0\.0\.1|testserver|test|\{\})(:|$)", matched[1]):
            return ""
        text = matched[2]
    text = re.sub(r"^\{\}(?=/)", "", text)
    text = re.sub(r"(?<=[A-Za-z0-9])\{\}$", "", re.split(r"[?#]", text)[0])
    return text if text.startswith("/") and " " not in text and len(text) <= 300 else ""


def excepted_routes(text: str) -> Iterator[str]:
    """Yield `METHOD /path` of each route in a list, without a method for all.

    >>> list(excepted_routes("'health', { path: 'x/:id', method: RequestMethod.GET }"))
    [' /health', 'GET /x/:id']
    """
    for each in re.finditer(r"""\{[^{}'"`]*["'`][^{}]*\}|["'`]([^"'`\n]*)["'`]""", text):
        path = each[1] or (re.findall(r"""\bpath\s*:\s*["'`]([^"'`]*)""", each[0]) or [""])[0]
        method = re.search(r"RequestMethod\.(?!ALL)([A-Z]+)", each[0])
        yield f"{method[1] if method else ''} /{path.strip('/')}"


# -- names of routes

# Calls of Django, Flask and Starlette that give the path of a route by its name, in code and in templates.
PY_LINK = lazy_regex(
    rb"(?<!\w)(?P<verb>reverse|reverse_lazy|redirect|resolve_url|url_for|url_path_for)"
    rb"\(\s*(?:viewname\s*=\s*)?[\"'](?P<name>[\w.:-]+)[\"']"
)
PY_LINKING = (b"reverse", b"redirect(", b"resolve_url(", b"url_for(", b"url_path_for(")  # one of it is in such a link
# A helper of Rails, `edit_user_path`; what else has a name like that is given a value or a body somewhere in the file.
_RAILS_LINK = lazy_regex(
    rb"(?<![\w.@$:\"'/-])(?:(?:[\w.]+\.)?(?:main_app|helpers?|view_context|url_helpers|routes)\.)?"
    rb"(?P<name>[a-z]\w*)_(?:path|url)\b(?![?!:]|\s*=(?![=~>]))"
)
_OWN_PATH = lazy_regex(
    rb"\b(?:def (?:self\.)?|attr_\w+[ (]:)(\w+_(?:path|url))\b|\b(\w+_(?:path|url))(?:\s*(?:\|\|)?=(?![=~>])|:(?!:))"
    rb"|[|,(]\s*(\w+_(?:path|url))\s*\|"
)
_RAILS_METHOD = lazy_regex(rb"method:?\s*(?:=>)?\s*:?[\"']?(get|post|put|patch|delete)\b")
_RAILS_ASKING = lazy_regex(rb"(?:^|[\s(])(get|post|put|patch|delete|head)[ (]\s*$")
_RAILS_FORM = lazy_regex(rb"\b(?:form_with|form_for|form_tag|button_to|simple_form_for)\b")
_MAX_LINE_BYTES = 300  # behind a helper in which options are searched


def linked_name(match: "re.Match[bytes]") -> str:
    """Return the name of a route that a match of `PY_LINK` names, with `:` between its parts."""
    name = match["name"].decode()
    return name.replace(".", ":") if match["verb"].startswith(b"url_") else name


def rails_links(data: bytes) -> Iterator[tuple[int, str, str]]:
    """Yield (byte, name of a route, method of HTTP) of each helper of Rails for the path of a route.

    >>> list(rails_links(b"redirect_to edit_user_path(user)")), list(rails_links(b"delete user_url(1)"))
    ([(12, 'edit_user', 'GET')], [(7, 'user', 'DELETE')])
    """
    if b"_path" not in data and b"_url" not in data:
        return
    own = {name for names in _OWN_PATH.findall(data) for name in names}
    for match in _RAILS_LINK.finditer(data):
        if match[0].rpartition(b".")[2] in own:
            continue
        before = data[data.rfind(b"\n", 0, match.start()) + 1 : match.start()]
        after = data[match.end() : match.end() + _MAX_LINE_BYTES].partition(b"\n")[0]
        method = _RAILS_ASKING.search(before) or _RAILS_METHOD.search(after) or _RAILS_METHOD.search(before)
        verb = method[1].decode().upper() if method else "POST" if _RAILS_FORM.search(before) else "GET"
        yield match.start("name"), match["name"].decode(), verb


# Of the inflections of Rails those that routes meet: ends of plurals, and what stands for them. The first fits.
SINGULARS = tuple(
    (lazy_regex(pattern), put)
    for pattern, put in (
        (r"^(equipment|information|rice|money|species|series|fish|sheep|jeans|police|news)$", r"\1"),
        (r"(^|_)(pe)ople$", r"\1\2rson"), (r"(^|_)((?:wo)?m)en$", r"\1\2an"), (r"children$", "child"),
        (r"(ss)$", r"\1"), (r"(database)s$", r"\1"), (r"(quiz)zes$", r"\1"), (r"(matr)ices$", r"\1ix"),
        (r"(vert|ind)ices$", r"\1ex"), (r"(alias|status)(es)?$", r"\1"), (r"(cris|test)(is|es)$", r"\1is"),
        (r"(shoe|move)s$", r"\1"), (r"(o)es$", r"\1"), (r"(bus)(es)?$", r"\1"), (r"(x|ch|ss|sh)es$", r"\1"),
        (r"(m)ovies$", r"\1ovie"), (r"(s)eries$", r"\1eries"), (r"([^aeiouy]|qu)ies$", r"\1y"), (r"([lr])ves$", r"\1f"),
        (r"(tive|hive)s$", r"\1"), (r"([^f])ves$", r"\1fe"), (r"(^analy)(sis|ses)$", r"\1sis"),
        (r"(naly|ba|diagno|parenthe|progno|synop|the)(sis|ses)$", r"\1sis"), (r"([ti])a$", r"\1um"), (r"s$", ""),
    )
)  # fmt: skip
PLURALS = tuple(
    (lazy_regex(pattern), put)
    for pattern, put in (
        (r"^(equipment|information|rice|money|species|series|fish|sheep|jeans|police|news)$", r"\1"),
        (r"(pe)rson$", r"\1ople"), (r"(^|_)(m)an$", r"\1\2en"), (r"child$", "children"), (r"(quiz)$", r"\1zes"),
        (r"(matr|vert|ind)(ix|ex)$", r"\1ices"), (r"(x|ch|ss|sh)$", r"\1es"), (r"([^aeiouy]|qu)y$", r"\1ies"),
        (r"sis$", "ses"), (r"([ti])um$", r"\1a"), (r"(alias|status|bus)$", r"\1es"), (r"s$", "s"), (r"$", "s"),
    )
)  # fmt: skip


def inflect(name: str, rules: "Sequence[tuple[re.Pattern[str], str]]") -> str:
    """Return a name whose end is exchanged by the first rule that fits.

    >>> [inflect(each, SINGULARS) for each in ("users", "categories", "statuses", "series", "people")]
    ['user', 'category', 'status', 'series', 'person']
    """
    for pattern, put in rules:
        if pattern.search(name):
            return pattern.sub(put, name, count=1)
    return name


# -- computed names

# Where a member of the object itself is looked up by a name, in each family; the name is a literal or a variable.
_LOOKED_UP: dict[str, "re.Pattern[bytes]"] = {
    "python": lazy_regex(rb"\bgetattr\(\s*(?:self|cls|type\(self\)|self\.__class__)\s*,\s*(?P<name>[^\n]{1,200})"),
    "ecmascript": lazy_regex(rb"\bthis\[\s*(?P<name>[^\]\n]{1,200})\]"),
    # What may stand before it is asked for behind the first letter: expressions that begin with letters are searched
    # several times as fast.
    "ruby": lazy_regex(
        rb"(?:s(?<![.\w]s)(?:end|elf\.(?:public_)?(?:send|__send__|method))"
        rb"|p(?<![.\w]p)ublic_(?:send|__send__|method)|_(?<![.\w]_)_send__|m(?<![.\w]m)ethod)"
        rb"[ (]\s*(?P<name>[^\n]{1,200})"
    ),
    "php": lazy_regex(rb"\$this->(?:\{\s*(?P<name>[^}\n]{1,200})\}|(?P<held>\$\w+))\s*\("),
}
_LOOKING_UP = {
    "python": (b"getattr(",),
    "ecmascript": (b"this[",),
    "ruby": (b"send", b"method"),
    "php": (b"->{", b"->$"),
}
# A literal that begins the name, and what is put behind it: `"visit_" + x`, `f"visit_{x}"`, `"visit_%s" % x`.
_BEGUN = lazy_regex(
    r"""[:fFrRbBuU]{0,2}(?P<quote>["'`])(?P<prefix>[A-Za-z_$][\w$]{1,60}?)(?:(?P=quote)\s*[+.]|%|\{|\$\{|\$\w|#\{)"""
)
_VARIABLE = lazy_regex(r"\$?[A-Za-z_]\w*")
_MAX_BEFORE = 1_500  # bytes before a look-up in which its name is given a value


def read_computed_names(family: str, source: RouteText) -> Iterator[tuple[int, RouteFact]]:
    """Yield the start and fact of each look-up of a member by a name of which the beginning is known."""
    pattern = _LOOKED_UP.get(family)
    if pattern is None or not any(word in source.data for word in _LOOKING_UP[family]):
        return
    for match in pattern.finditer(source.data):
        name = (match["name"] or match.groupdict().get("held") or b"").decode("utf-8", "replace")
        scope = source.scope(match.start())
        begun = _BEGUN.match(name)
        variable = _VARIABLE.match(name) if begun is None else None
        if variable is not None and scope >= 0:
            first = max(source.definitions[scope].start_byte, match.start() - _MAX_BEFORE)
            given = rf"(?<![\w$.]){re.escape(variable[0])}\s*=\s*([^=\n][^\n]{{1,200}})"
            values = re.findall(given, source.text(first, match.start()))
            begun = _BEGUN.match(values[-1]) if values else None
        if begun is not None and scope >= 0 and source.is_code(match.start()):
            yield route_at(source, match.start(), RouteForm.DISPATCH, path=begun["prefix"], scope=scope)


# -- facts


def route_at(
    source: RouteText,
    byte: int,
    form: RouteForm,
    *,
    receiver: str = "",
    method: str = "",
    path: str = "",
    handler: str = "",
    definition: int = -1,
    scope: int | None = None,
    name: str = "",
) -> tuple[int, RouteFact]:
    """Return a byte and the fact that stands there."""
    scope = source.scope(byte) if scope is None else scope
    verb = {"DEL": "DELETE", "ALL": ANY}.get(method.upper(), method.upper())
    return byte, RouteFact(scope, int(form), receiver, verb, path, handler, definition, source.row(byte), name)


# What a value is given to, before it.
_NAMED_VALUE = lazy_regex(
    rb"(?:(?<![\w$.])(?P<name>[\w$]+)\s*(?::[^=;\n]{0,60})?=|module\.exports\s*=|export\s+default)"
    rb"\s*(?:await\s+|new\s+)*$"
)


def name_of_value(source: RouteText, start: int) -> str:
    """Return the name that the value at `start` is given: `default` for what the file exports as a whole."""
    before = _NAMED_VALUE.search(source.data[max(0, start - 120) : start])
    return "" if before is None else (before["name"] or b"default").decode("utf-8", "replace")


def add_path(prefix: str, path: str) -> str:
    """Return a path below another.

    >>> add_path("/api/", "/users"), add_path("", "users"), add_path("/api", "/")
    ('/api/users', '/users', '/api')
    """
    inner = path.strip("/")
    return f"{prefix.rstrip('/')}/{inner}" if inner else prefix or "/"


_LABEL = re.compile(
    rb"""(?P<quote>["'])(?P<name>(?:@{0,2}[\w.+~-]{0,80}//|:)[\w.+@=,~/:-]{1,300}|[\w+-][\w.+@/-]{0,200}\.[A-Za-z]\w{0,19})(?P=quote)"""
)
_NO_LABEL = re.compile(rb"(?:\bload\s*\(|\bname\s*=)\s*$")  # before a string
_MAX_LABELS = 4_000  # of one file


def read_labels(source: RouteText) -> Iterator[Reference]:
    """Yield a reference for each string that may be the label of a target or a file, `STRING_TARGET` before it."""
    for match in itertools.islice(_LABEL.finditer(source.data), _MAX_LABELS):
        at = match.start()
        if source.node(at).type == "string_start" and not _NO_LABEL.search(source.data, max(at - 60, 0), at):
            yield Reference(source.scope(at), f"{STRING_TARGET}{match['name'].decode()}", source.row(at))


_LAZY_IMPORT = lazy_regex(rb"import\(\s*(?:/\*[^*]*\*/\s*)*([\"'`])(?P<module>[^\"'`\n$]+)\1\s*,?\s*\)(?!\s*\.)")


def read_lazy_imports(source: RouteText) -> Iterator[tuple[Import, Reference]]:
    """Yield an import of what a module exports by default, and its use, for each `() => import("./Page")`."""
    for match in source.matches(_LAZY_IMPORT) if b"import(" in source.data else ():
        if not source.data[max(0, match.start() - 40) : match.start()].rstrip().endswith((b"=>", b"return")):
            continue
        scope, row, name = source.scope(match.start()), source.row(match.start()), f"default${match.start()}"
        module = match["module"].decode("utf-8", "replace")
        yield Import(scope, ImportKind.DEFAULT, module, 0, "default", name, row), Reference(scope, name, row)


_Use = TypeVar("_Use", Call, Reference)


def in_targets(uses: Iterable[_Use], definitions: Sequence[Definition]) -> list[_Use]:
    """Return uses, those in the rows of a target of a build as uses by it. A constant is named ahead of its value."""
    target_at: dict[int, int] = {}
    for number, each in enumerate(definitions):
        is_named_ahead = each.signature[len(each.name) :].lstrip()[:1] == "=" and each.signature.startswith(each.name)
        if each.kind == NodeKind.CONSTANT and not is_named_ahead:
            target_at.update(dict.fromkeys(range(each.start_row, each.end_row + 1), number))
    return [each._replace(scope=target_at.get(each.row, -1)) if each.scope == MODULE_SCOPE else each for each in uses]


CHANNEL = "channel"  # the kind of names of channels of Go
_CHANNEL_NAME = rb"(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?)"
# Expressions begin with letters or marks, which is searched many times as fast as what looks behind.
_CHANNELS = (
    (lazy_regex(rb" <- "), RouteForm.EMIT),
    (lazy_regex(rb"close\(" + _CHANNEL_NAME + rb"\)"), RouteForm.EMIT),
    (lazy_regex(rb"<-" + _CHANNEL_NAME + rb"(?![\w.(\[])"), RouteForm.LISTEN),
    (lazy_regex(rb"range (?=\w+\.\w+ \{)" + _CHANNEL_NAME), RouteForm.LISTEN),
)
_SENT_TO = lazy_regex(rb"(?<![\w.])" + _CHANNEL_NAME + rb"$")
# Where a function declares a name of its own.
_LOCAL = r"(?<![\w.])(?:var\s+%s\b|%s\b(?:\s*,\s*\w+)*\s*:=|\w+\s*,\s*%s\s*:=)"
_TYPED = r"(?<![\w.])%s \*?([A-Za-z_]\w*)[,)]"  # a receiver or parameter, and its type in the same package
_GIVEN = r"[(,]\s*(?:\w+,\s*)*%s[ ,]"
_MAX_AROUND_BYTES = 10_000  # before a name, in which that may be declared
_NO_CHANNELS = (b"case", b"return", b"chan")


def read_channels(source: RouteText) -> Iterator[tuple[int, RouteFact]]:
    """Yield what is sent to channels of Go, and what takes it: `Type.field`, or what may be a variable of a package."""
    data = source.data
    for pattern, form in _CHANNELS if b"<-" in data or b"chan " in data else ():
        for found in source.matches(pattern):
            match = found if found.re.groups else _SENT_TO.search(data, max(0, found.start() - 100), found.start())
            if match is None or (found[0][:1] == b"c" and data[found.start() - 1] in _NAME_BYTES + b"."):
                continue  # `c.close(x)`
            byte = match.start("name")
            outer = scope = source.scope(byte)
            while outer >= 0 and source.definitions[outer].parent >= 0:
                outer = source.definitions[outer].parent
            if outer < 0 or match["name"] in _NO_CHANNELS:
                continue
            start = source.definitions[outer].start_byte
            around = data[max(start, byte - _MAX_AROUND_BYTES) : byte].decode("utf-8", "replace")
            given = source.definitions[outer].signature
            head, dot, member = match["name"].decode().partition(".")
            is_local = re.search(_LOCAL.replace("%s", head), around) is not None
            typed = re.search(_TYPED % head, given) if dot and not is_local else None
            if typed is not None or not (dot or is_local or re.search(_GIVEN % head, given)):
                path = f"{typed[1]}.{member}" if typed is not None else head
                definition = scope if form == RouteForm.LISTEN else -1
                yield route_at(source, byte, form, path=path, definition=definition, name=CHANNEL)
