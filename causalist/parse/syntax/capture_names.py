"""Capture names that queries of a grammar may use, in reading order of captures with one range.

The names follow tree-sitter's tags (`@definition.function`, `@reference.call`, `@name`, `@doc`); the rest is for
imports and bindings. docs/adding-a-language.md describes each.

Some grammars have the parts of an expression, of a type, or of a definition in a row, without a node around them:
`a`, `.b`, `(1)`. `JoinedNodes` finds the whole ones, and events are those of nodes around them.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum, auto
from functools import cache

import tree_sitter

from causalist._internal.lazy import lazy_regex
from causalist.model.node_ids import NodeKind

Event = tuple[int, int, int]  # start byte, minus end byte, Tag


class Tag(IntEnum):
    """Number of a capture. The smaller number comes first if two captures have the same range.

    A body comes before everything, since a body of one statement has the range of that statement.
    """

    BODY = auto()
    SPAN = auto()
    NAMESPACE = auto()
    CLASS = auto()
    INTERFACE = auto()
    STRUCT = auto()
    ENUM = auto()
    TRAIT = auto()
    METHOD = auto()
    FUNCTION = auto()
    MACRO = auto()
    TYPE = auto()
    FIELD = auto()
    CONSTANT = auto()
    PROPERTY = auto()
    HOLDER = auto()
    REEXPORT = auto()
    IMPORT = auto()
    EXPORT = auto()
    IMPORT_STAR = auto()
    IMPORT_MODULE = auto()
    IMPORT_FROM = auto()
    IMPORT_NAME = auto()
    IMPORT_ALIAS = auto()
    IMPORT_AHEAD = auto()
    IMPORT_DEFAULT = auto()
    IMPORT_NAMESPACE = auto()
    OWNER = auto()
    NAME = auto()
    NAME_SELECTOR = auto()
    NAME_BEHIND = auto()
    NAME_OUTER = auto()
    DOC = auto()
    COMMENT = auto()
    PACKAGE = auto()
    RETURNS = auto()
    RETURNED = auto()
    RETURNED_EARLY = auto()
    BASE = auto()
    IMPLEMENTS = auto()
    BINDING_PATTERN = auto()
    BINDING_KEY = auto()
    BINDING_PROPERTY = auto()
    BINDING = auto()
    BINDING_ITEM = auto()
    BINDING_TYPE = auto()
    BINDING_VALUE = auto()
    PLACE = auto()
    PLACE_VALUE = auto()
    PLACE_ELEMENTS = auto()
    PLACE_ENTERED = auto()
    PLACE_CAUGHT = auto()
    NARROWED = auto()
    NARROWED_TYPE = auto()
    NARROWED_GUARD = auto()
    NARROWED_GUARDED = auto()
    YIELDED = auto()
    ALIASED = auto()
    GLOBAL = auto()
    EXPORTS = auto()
    EXPORTS_OBJECT = auto()
    EXPORTS_KEY = auto()
    EXPORTS_ITEM = auto()
    EXPORTS_VALUE = auto()
    EXPORT_DEFAULT = auto()
    CALL = auto()
    REQUIRE = auto()
    REQUIRE_MODULE = auto()
    BLOCK = auto()
    DECLARATION = auto()
    DECLARATION_NAME = auto()
    DECLARATION_MEMBER = auto()
    DECLARATION_EMBEDDED = auto()
    DECLARATION_SELF = auto()
    DECLARATION_TYPE = auto()
    DECLARATION_VALUE = auto()
    DECLARATION_ITEMS = auto()
    DECLARATION_SWITCH = auto()
    DECLARATION_ALIAS = auto()
    DECLARATION_CASE = auto()
    DECLARATION_SUBJECT = auto()
    DECLARATION_PARAMETER = auto()
    DECLARATION_REPEAT = auto()
    TYPE_PARAMETER = auto()
    KEY = auto()
    REFERENCE_VALUE = auto()
    LEAD = auto()
    OWNER_TRAIT = auto()
    OWNER_EXTENDED = auto()
    REFERENCE_TYPES = auto()
    BINDING_STATEMENT = auto()
    BINDING_GENERIC = auto()
    BINDING_POSITION = auto()
    IMPORT_TREE = auto()
    IMPORT_PATH = auto()
    BINDING_ELEMENTS = auto()
    BINDING_MATCH = auto()
    BINDING_SUBJECT = auto()
    BINDING_MATCHED = auto()
    BINDING_RECEIVER = auto()
    BINDING_HANDED = auto()
    BINDING_VARIANT = auto()
    BINDING_PAYLOAD = auto()
    MACRO_CALL = auto()
    TOKEN_CALL = auto()
    REFERENCE = auto()
    ERROR = auto()
    LINK = auto()
    BASE_OF = auto()
    CALL_ARGUMENT = auto()
    CASCADE = auto()
    INVOCATION = auto()
    MESSAGE = auto()
    INVOKED_NAME = auto()
    NAME_CONSTRUCTOR = auto()
    PARAMETER = auto()
    PARAMETER_REST = auto()
    REFERENCE_CALLABLE = auto()
    REFERENCE_SYMBOL = auto()
    REFERENCE_DELEGATE = auto()
    NAME_FOR = auto()
    INVOKED_TYPE = auto()
    CALL_ARGUMENTS = auto()
    NAME_NUMBERED = auto()
    BASE_MIXIN = auto()
    BINDING_ELEMENT = auto()
    WRITTEN = auto()
    MEMBER = auto()
    CALL_WORD = auto()
    CALL_FURTHER = auto()
    PACKAGE_FURTHER = auto()
    RETURNS_AHEAD = auto()
    PARAMETER_OPTIONAL = auto()
    DOC_LEAD = auto()
    HANDLER_BODY = auto()  # of the call around, where a body is one call
    HANDLER = auto()
    REGION = auto()
    LAMBDA = auto()
    CHECKED_TYPE = auto()
    BINDING_OUT = auto()
    IMPORT_WITHIN = auto()
    BINDING_LOCAL = auto()
    RETURNS_WITHIN = auto()
    ONWARD = auto()
    WORD = auto()


DEFINITION_KINDS: dict[Tag, NodeKind] = {tag: NodeKind[tag.name] for tag in Tag if Tag.NAMESPACE <= tag <= Tag.CONSTANT}
IMPORT_PARTS = tuple(tag for tag in Tag if Tag.IMPORT_STAR <= tag <= Tag.IMPORT_NAMESPACE)

TAG_OF_CAPTURE: dict[str, Tag] = {
    "span": Tag.SPAN,
    "lead": Tag.LEAD,
    **{f"definition.{tag.name.lower()}": tag for tag in DEFINITION_KINDS},
    "definition.handler": Tag.HANDLER,
    "handler.body": Tag.HANDLER_BODY,
    "property": Tag.PROPERTY,
    "holder": Tag.HOLDER,
    "import": Tag.IMPORT,
    "import.reexport": Tag.REEXPORT,
    "import.star": Tag.IMPORT_STAR,
    "import.module": Tag.IMPORT_MODULE,
    "import.from": Tag.IMPORT_FROM,
    "import.name": Tag.IMPORT_NAME,
    "import.alias": Tag.IMPORT_ALIAS,
    "import.alias.ahead": Tag.IMPORT_AHEAD,
    "import.default": Tag.IMPORT_DEFAULT,
    "import.namespace": Tag.IMPORT_NAMESPACE,
    "import.tree": Tag.IMPORT_TREE,
    "import.within": Tag.IMPORT_WITHIN,
    "import.path": Tag.IMPORT_PATH,
    "export": Tag.EXPORT,
    "export.default": Tag.EXPORT_DEFAULT,
    "exports": Tag.EXPORTS,
    "exports.object": Tag.EXPORTS_OBJECT,
    "exports.key": Tag.EXPORTS_KEY,
    "exports.item": Tag.EXPORTS_ITEM,
    "exports.value": Tag.EXPORTS_VALUE,
    "name": Tag.NAME,
    "name.constructor": Tag.NAME_CONSTRUCTOR,
    "name.numbered": Tag.NAME_NUMBERED,
    "name.selector": Tag.NAME_SELECTOR,
    "name.behind": Tag.NAME_BEHIND,
    "name.outer": Tag.NAME_OUTER,
    "owner": Tag.OWNER,
    "owner.implements": Tag.OWNER_TRAIT,
    "owner.extended": Tag.OWNER_EXTENDED,
    "reference.types": Tag.REFERENCE_TYPES,
    "package": Tag.PACKAGE,
    "package.further": Tag.PACKAGE_FURTHER,
    "body": Tag.BODY,
    "doc": Tag.DOC,
    "doc.lead": Tag.DOC_LEAD,
    "comment": Tag.COMMENT,
    "returns": Tag.RETURNS,
    "returns.ahead": Tag.RETURNS_AHEAD,
    "returns.within": Tag.RETURNS_WITHIN,
    "returned": Tag.RETURNED,
    "returned.early": Tag.RETURNED_EARLY,
    "parameter": Tag.PARAMETER,
    "parameter.rest": Tag.PARAMETER_REST,
    "parameter.optional": Tag.PARAMETER_OPTIONAL,
    "base": Tag.BASE,
    "base.of": Tag.BASE_OF,
    "base.implements": Tag.IMPLEMENTS,
    "base.mixin": Tag.BASE_MIXIN,
    "binding": Tag.BINDING,
    "binding.item": Tag.BINDING_ITEM,
    "binding.pattern": Tag.BINDING_PATTERN,
    "binding.key": Tag.BINDING_KEY,
    "binding.property": Tag.BINDING_PROPERTY,
    "binding.type": Tag.BINDING_TYPE,
    "binding.value": Tag.BINDING_VALUE,
    "block": Tag.BLOCK,
    "declaration": Tag.DECLARATION,
    "declaration.name": Tag.DECLARATION_NAME,
    "declaration.member": Tag.DECLARATION_MEMBER,
    "declaration.embedded": Tag.DECLARATION_EMBEDDED,
    "declaration.self": Tag.DECLARATION_SELF,
    "declaration.type": Tag.DECLARATION_TYPE,
    "declaration.value": Tag.DECLARATION_VALUE,
    "declaration.items": Tag.DECLARATION_ITEMS,
    "declaration.switch": Tag.DECLARATION_SWITCH,
    "declaration.alias": Tag.DECLARATION_ALIAS,
    "declaration.case": Tag.DECLARATION_CASE,
    "declaration.subject": Tag.DECLARATION_SUBJECT,
    "declaration.parameter": Tag.DECLARATION_PARAMETER,
    "declaration.repeat": Tag.DECLARATION_REPEAT,
    "type.parameter": Tag.TYPE_PARAMETER,
    "key": Tag.KEY,
    "binding.statement": Tag.BINDING_STATEMENT,
    "binding.generic": Tag.BINDING_GENERIC,
    "binding.position": Tag.BINDING_POSITION,
    "binding.elements": Tag.BINDING_ELEMENTS,
    "binding.element": Tag.BINDING_ELEMENT,
    "binding.match": Tag.BINDING_MATCH,
    "binding.subject": Tag.BINDING_SUBJECT,
    "binding.matched": Tag.BINDING_MATCHED,
    "binding.receiver": Tag.BINDING_RECEIVER,
    "binding.handed": Tag.BINDING_HANDED,
    "binding.variant": Tag.BINDING_VARIANT,
    "binding.payload": Tag.BINDING_PAYLOAD,
    "place": Tag.PLACE,
    "place.value": Tag.PLACE_VALUE,
    "place.elements": Tag.PLACE_ELEMENTS,
    "place.entered": Tag.PLACE_ENTERED,
    "place.caught": Tag.PLACE_CAUGHT,
    "narrowed": Tag.NARROWED,
    "narrowed.type": Tag.NARROWED_TYPE,
    "narrowed.guard": Tag.NARROWED_GUARD,
    "narrowed.guarded": Tag.NARROWED_GUARDED,
    "yielded": Tag.YIELDED,
    "aliased": Tag.ALIASED,
    "global": Tag.GLOBAL,
    "require": Tag.REQUIRE,
    "require.module": Tag.REQUIRE_MODULE,
    "reference.call": Tag.CALL,
    "call": Tag.INVOCATION,
    "link": Tag.LINK,
    "link.of": Tag.LINK,
    "link.call": Tag.INVOCATION,
    "cascade": Tag.CASCADE,
    "definition.apart": Tag.LINK,
    "body.apart": Tag.BODY,
    "call.message": Tag.MESSAGE,
    "call.name": Tag.INVOKED_NAME,
    "call.type": Tag.INVOKED_TYPE,
    "call.arguments": Tag.CALL_ARGUMENTS,
    "call.argument": Tag.CALL_ARGUMENT,
    "call.word": Tag.CALL_WORD,
    "call.further": Tag.CALL_FURTHER,
    "reference.value": Tag.REFERENCE_VALUE,
    "reference.macro": Tag.MACRO_CALL,
    "reference.token": Tag.TOKEN_CALL,
    "reference": Tag.REFERENCE,
    "reference.callable": Tag.REFERENCE_CALLABLE,
    "reference.symbol": Tag.REFERENCE_SYMBOL,
    "reference.delegate": Tag.REFERENCE_DELEGATE,
    "name.for": Tag.NAME_FOR,
    "written": Tag.WRITTEN,
    "member": Tag.MEMBER,
    "lambda": Tag.LAMBDA,
    "region": Tag.REGION,
    "binding.local": Tag.BINDING_LOCAL,
    "binding.out": Tag.BINDING_OUT,
    "checked.type": Tag.CHECKED_TYPE,
    "onward": Tag.ONWARD,
    "word": Tag.WORD,
    "error": Tag.ERROR,
}


_NO_EVENTS = frozenset({"onward", "word"})  # they say how far other captures of their nodes reach
_WORD = lazy_regex(rb"\S+")


# Captures of the first part of an expression or type, which mean the whole one.
_WHOLE = frozenset(
    {
        "base", "base.implements", "base.mixin", "binding.elements", "binding.subject", "binding.type", "binding.value",
        "checked.type", "narrowed.type", "owner.extended", "parameter", "returned", "returns",
    }
)  # fmt: skip
_LINKS = ("link", "link.call")
_PARTS = frozenset({"link", "link.of", "definition.apart"})  # captures that are no events


class JoinedNodes:
    """Expressions, types and definitions whose parts stand in a row. Positions are bytes."""

    def __init__(self, captures: Mapping[str, Sequence[tree_sitter.Node]]) -> None:
        self.receivers: dict[int, tuple[int, int]] = {}  # start of a part of a cascade -> range of what it is for
        remarks = {node.start_byte for node in captures.get("comment", ())}
        before = ((n.start_byte, n.end_byte) for n in captures.get("link.of", ()))
        self._before = {end: start for start, end in before if start not in remarks}
        links = sorted({(n.start_byte, n.end_byte) for name in _LINKS for n in captures.get(name, ())})
        cascades = sorted({(n.start_byte, n.end_byte) for n in captures.get("cascade", ())})
        for start, end in (*links, *cascades):  # a remark may follow
            self._before.setdefault(end, start)
        self._ends = sorted(self._before)
        self._starts: dict[int, int] = {}  # end of a part -> start of the whole up to there
        self._whole_ends: dict[tuple[int, int], int] = {}  # range of a first part -> end of the whole
        self._parts: set[int] = set()  # starts of further parts
        first_ends: dict[int, int] = {}
        for start, end in links:
            if (at := self._end_before(start)) < 0:
                continue
            first = self._starts.get(at, self._before[at])
            first_end = first_ends.setdefault(first, at)
            self._starts[end] = first
            self._whole_ends[first, first_end] = end
            self._parts.add(start)
        of_cascades: dict[int, tuple[int, int]] = {}  # by the end of a part
        for start, end in cascades:
            if (at := self._end_before(start)) >= 0:
                first = self._starts.get(at, self._before[at])
                self.receivers[start] = of_cascades[end] = of_cascades.get(at, (first, at))
        bodies = sorted({(n.start_byte, n.end_byte) for n in captures.get("body.apart", ())})
        self._definition_ends: dict[int, int] = {}  # end of the head of a definition -> end of its body
        for end in {node.end_byte for node in captures.get("definition.apart", ())}:
            if (i := bisect_left(bodies, (end, end))) < len(bodies):
                self._definition_ends[end] = bodies[i][1]

    def _end_before(self, start: int) -> int:
        """Return the end of the part before the one that starts there, or -1."""
        i = bisect_right(self._ends, start) - 1
        return self._ends[i] if i >= 0 else -1

    def events_of(self, name: str, tag: int, nodes: Sequence[tree_sitter.Node]) -> list[Event]:
        """Return the events of the nodes with the capture `name`."""
        if name in _PARTS:
            return []
        ranges = [(node.start_byte, node.end_byte) for node in nodes]
        if name == "link.call":
            return [(self._starts[end], -end, tag) for _, end in ranges if end in self._starts]
        if name in _WHOLE:
            whole = self._whole_ends
            return [(start, -whole.get((start, end), end), tag) for start, end in ranges if start not in self._parts]
        if name.startswith("definition.") or name == "property":
            ends = self._definition_ends
            return [(start, -ends.get(end, end), tag) for start, end in ranges]
        return [(start, -end, tag) for start, end in ranges]


def events_of(
    captures: Mapping[str, Sequence[tree_sitter.Node]],
    n_bytes: int,
    end_byte: int,
    data: bytes = b"",
    links: JoinedNodes | None = None,
) -> list[Event]:
    """Return the captures in file order, outer ones before inner ones; with `links`, those of whole expressions.

    Where the tree ends at an `end_byte` after the `n_bytes` of the file, for input that was added, captures of that are
    cut or left out. `data` is the text of the file.
    """
    events: list[Event] = []
    for name, nodes in captures.items():
        if name[0] == "_" or name in _NO_EVENTS:
            continue  # only a predicate of the query asks for it
        tag = int(TAG_OF_CAPTURE[name])
        if links is not None:
            events += links.events_of(name, tag, nodes)
            continue
        events += [(node.start_byte, -node.end_byte, tag) for node in nodes]
    if listed := {(node.start_byte, -node.end_byte) for node in captures.get("word", ())}:
        events = [each for event in events for each in (_words(event, data) if event[:2] in listed else (event,))]
    if ends := _ends_onward(captures.get("onward", ())):
        events = [
            (start, -ends.get((start, -minus_end), -minus_end) if tag in DEFINITION_KINDS else minus_end, tag)
            for start, minus_end, tag in events
        ]
    if end_byte > n_bytes:
        cut = ((start, max(minus_end, -n_bytes), tag) for start, minus_end, tag in events)
        events = [event for event in cut if event[0] < -event[1]]
    events.sort()
    return events


def _words(event: Event, data: bytes) -> list[Event]:
    """Return an event for each word in the range of one."""
    return [(word.start(), -word.end(), event[2]) for word in _WORD.finditer(data, event[0], -event[1])]


def _ends_onward(nodes: Iterable[tree_sitter.Node]) -> dict[tuple[int, int], int]:
    """Return the ranges of nodes that hold what stands behind them -> where that ends.

    It ends at the next of these nodes, or with what is around.
    """
    inside: dict[int, tuple[int, dict[int, int]]] = {}  # what is around -> its end, and the ranges in it
    for node in nodes:
        around = node.parent
        if around is not None:
            inside.setdefault(around.id, (around.end_byte, {}))[1][node.start_byte] = node.end_byte
    ends: dict[tuple[int, int], int] = {}
    for last, ranges in inside.values():
        starts = sorted(ranges)
        for start, end in zip(starts, [*starts[1:], last], strict=True):
            ends[start, ranges[start]] = end
    return ends


ATTRIBUTES_AHEAD = lazy_regex(rb"(?:\[<(?:[^>\n]|>(?!\]))*+>\]\s*+|//[^\n]*+\n\s*+)++")
_FIRST_ON_LINE = lazy_regex(rb"( *)(?:(?:type|and)\b[^\n]*)?")
_WHOLE_FILE = lazy_regex(rb"(?:\[<(?:[^>\n]|>(?!\]))*+>\]\s*+)*+module\b[^=\n]*+\n")


def end_by_layout(data: bytes, start: int, end: int, around: int) -> int:
    r"""Return where a definition ends that the grammar may have ended elsewhere: before what is indented no more.

    It is no further than `around`, the end of what it stands in. Up to there, what does not begin its line keeps `end`.

    >>> data = b"module A =\n  let f = 1\n\n  let g = 2\nmodule B =\n"
    >>> end_by_layout(data, 0, 22, len(data)), end_by_layout(data, 13, 40, len(data))
    (35, 23)
    """
    end = min(end, around)
    first = _FIRST_ON_LINE.fullmatch(data, data.rfind(b"\n", 0, start) + 1, start)
    if first is None:
        return end
    if _WHOLE_FILE.match(data, start):
        return around
    behind = _compile_layout(len(first[1])).search(data, max(start, end - 1), around)
    end = max(end, behind.start() if behind is not None else around)
    ahead = ATTRIBUTES_AHEAD.match(data, start)
    beside = _compile_sibling(len(first[1])).search(data, ahead.end() if ahead is not None else start, end)
    return beside.start() if beside is not None else end


@cache
def _compile_layout(indent: int) -> "re.Pattern[bytes]":
    """Return what a line begins with that is indented by `indent` spaces at most and is code."""
    return re.compile(rb"\n {0,%d}(?![ \t\r\n]|//|\(\*|#)" % indent)


@cache
def _compile_sibling(indent: int) -> "re.Pattern[bytes]":
    """Return what a definition begins with that is indented by `indent` spaces at most."""
    return re.compile(rb"\n {0,%d}(?:(?:let|type|module|namespace|open|exception|member|override)\b|\[<)" % indent)
