"""Parts of definitions that their own node does not contain, names of handlers, signatures, and declared types.

In: captures of names after a body, bases, implemented traits and leading attributes. Out: names of definitions, `Base`
and `Implementation` facts, test marks. The signature of a definition is its text before the body, on one line.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from causalist._internal.lazy import dataclass, field, lazy_regex
from causalist.model.facts import Base, Call, Definition, Export, Implementation
from causalist.model.node_ids import DECLARED, SEVERAL, TYPE_KINDS, NodeKind
from causalist.model.type_notation import OPTIONAL, bytes_of_kind, closing_bracket, split_top
from causalist.parse.syntax.capture_names import Event, Tag
from causalist.parse.syntax.chains import chain_of, type_name
from causalist.parse.syntax.doc_comments import calls_of_parameters, without_annotations, without_comment
from causalist.parse.syntax.open_scopes import DefinitionDraft, Frame, Scopes

_MAX_TYPE_BYTES = 200  # bytes of a type


def find_late_names(events: Sequence[Event]) -> dict[tuple[int, int], tuple[int, int]]:
    """Return the range of a definition -> the range of its first name after the body."""
    names: dict[tuple[int, int], tuple[int, int]] = {}
    open_: list[tuple[int, int]] = []
    for start, minus_end, tag in events:
        while open_ and open_[-1][1] <= start:
            open_.pop()
        if tag == Tag.NAME_BEHIND and open_:
            names.setdefault(open_[-1], (start, -minus_end))
        elif Tag.NAMESPACE <= tag <= Tag.CONSTANT:
            open_.append((start, -minus_end))
    return names


def name_by_base(scopes: Scopes, frame: Frame, start: int, base: str) -> Base:
    """Name the body of a type without a name by its base type and a number. Return the `Base`."""
    draft = scopes.drafts[frame.index]
    name = base.rpartition(".")[2]
    scopes.set_name(frame, f"{name}${scopes.count(f'{draft.prefix}.{name}')}")
    frame.body = draft.body = frame.start
    draft.signature = f"new {base}()"
    return Base(frame.index, base, False, scopes.row(start))


@dataclass(slots=True)
class LateNames:
    """Names and types that a definition does not have at its beginning."""

    scopes: Scopes
    behind: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)  # as `find_late_names` gives them
    ahead: str = ""  # the type that the next alias names

    def name(self, frame: Frame) -> None:
        """Name a definition that was just opened, if its name follows its body."""
        span = self.behind.get((frame.start, frame.end))
        if span is not None:
            frame.name_start, self.scopes.drafts[frame.index].is_named_behind = span[0], True
            self.scopes.set_name(frame, self.scopes.clean_name(self.scopes.text(*span)))

    def move_to_outer_scope(self) -> None:
        """Give the open definition the prefix of the type around it: it is a sibling of that type."""
        frames = self.scopes.frames
        around = frames[-2].index if len(frames) > 1 else -1
        if around >= 0 and frames[-1].index >= 0:
            self.scopes.drafts[frames[-1].index].prefix = self.scopes.drafts[around].prefix

    def on_extended(self, start: int, end: int, tag: int) -> None:
        """Record the type that the open function, or those in the open block, are for: that of the first parameter."""
        frame = self.scopes.frames[-1] if self.scopes.frames else None
        text = self.scopes.text(start, min(end, start + _MAX_TYPE_BYTES))
        owner = type_name(text, self.scopes.settings.types) or (text if text.isidentifier() else "")
        is_type = frame is not None and frame.index >= 0 and self.scopes.drafts[frame.index].kind in TYPE_KINDS
        if frame is not None and owner and (is_type or (frame.index < 0 and frame.holds)):
            frame.extends = owner
        elif frame is not None and frame.index >= 0 and frame.body < 0 and owner:
            draft = self.scopes.drafts[frame.index]
            draft.owner, draft.extends = owner, True

    def on_returns(self, start: int, end: int, tag: int) -> None:
        """Record the type that the next alias names."""
        self.ahead = type_name(self.scopes.text(start, min(end, start + _MAX_TYPE_BYTES)), self.scopes.settings.types)

    def take_returns(self) -> str:
        """Return the type that the open alias names, or "" if it is not known."""
        taken, self.ahead = self.ahead, ""
        return taken


_MAX_NAME_BYTES = 200


class BaseReader:
    """Reader of the captures of bases. `bases` is complete after `finish`."""

    def __init__(self, scopes: Scopes) -> None:
        self.bases: list[Base] = []
        self._scopes = scopes
        self._deriving = ""  # the type of the next base, if the base is outside of the type
        self._derived: list[tuple[str, str, int]] = []  # (name, base, row) of those
        self._mixed_in: list[Base] = []

    def on_base(self, start: int, end: int, tag: int) -> bool:
        """Return True if the base is a name. Otherwise its parts are ordinary uses."""
        chain, row, frames = chain_of(self._scopes.text(start, end)), self._scopes.row(start), self._scopes.frames
        if self._deriving:
            self._derived.append((self._deriving, self._scopes.clean_name(chain) if chain else "", row))
            self._deriving = ""
        elif frames and frames[-1].index >= 0:
            if not chain and self._scopes.settings.types.prefixed:
                # A set of types, which has no name.
                self.bases.append(Base(frames[-1].index, "?", False, row))
                return False
            if chain:
                chain = self._with_arguments(start, end, chain)
                into = self._mixed_in if tag == Tag.BASE_MIXIN else self.bases
                into.append(Base(frames[-1].index, chain, tag == Tag.IMPLEMENTS, row))
        return True

    def _with_arguments(self, start: int, end: int, chain: str) -> str:
        """Return a base with its type arguments, which may stand behind it, in languages that keep those."""
        settings = self._scopes.settings.types
        if not settings.generic:
            return chain
        text = self._scopes.text(start, end + _MAX_NAME_BYTES)
        brackets = text.replace("<", "(").replace(">", ")")
        opened = brackets.find("(")
        closed = closing_bracket(brackets, opened) if 0 <= opened <= end - start else -1
        written = type_name(text[: closed + 1], settings) if closed > 0 else ""
        return written if written.startswith(f"{chain}{{") else chain

    def on_base_of(self, start: int, end: int, tag: int) -> None:
        """Record the type of the next base, for a base outside of its type."""
        self._deriving = self._scopes.clean_name(self._scopes.text(start, min(end, start + _MAX_NAME_BYTES)))

    def finish(self) -> None:
        """Add the bases that a separate statement gives to a class or function.

        A mixin comes first, because its members hide members of what the type extends.
        """
        index_by_name: dict[str, int] = {}
        for i, draft in enumerate(self._scopes.drafts):
            if draft.kind in (NodeKind.CLASS, NodeKind.FUNCTION):
                index_by_name.setdefault(draft.qualname, i)
        self.bases += [
            Base(index_by_name[n], base, False, row) for n, base, row in self._derived if base and n in index_by_name
        ]
        self.bases[:0] = self._mixed_in


class _Block(NamedTuple):
    frame: Frame
    trait: str
    first: int
    row: int


class ImplementationReader:
    """Reader of the captures of traits that a holder implements for its owner."""

    def __init__(self, scopes: Scopes) -> None:
        self._scopes = scopes
        self._blocks: list[_Block] = []

    def on_trait(self, start: int, end: int, tag: int) -> None:
        """Record the trait of the open block."""
        frames = self._scopes.frames
        trait = type_name(self._scopes.text(start, end))
        if frames and frames[-1].index < 0 and trait:
            self._blocks.append(_Block(frames[-1], trait, len(self._scopes.drafts), self._scopes.row(start)))

    def list_implementations(self) -> list[Implementation]:
        """Return all implementations, without blocks that belong to the trait itself.

        Such a block implements the trait for every type, which is no fact about one type.
        """
        starts = [draft.start for draft in self._scopes.drafts]
        return [
            Implementation(
                block.frame.scope,
                block.frame.owner,
                block.trait,
                block.first,
                bisect_left(starts, block.frame.end),
                block.row,
            )
            for block in self._blocks
            if block.frame.owner and block.frame.owner != block.trait
        ]


_MAX_ATTRIBUTE_BYTES = 200  # bytes of an attribute that are looked at


class LeadingAttributes:
    """Attributes before the next definition. Some of them mark a test."""

    def __init__(self, scopes: Scopes) -> None:
        self._scopes = scopes
        self._start, self._end = -1, -1
        self._test_end = -1  # end of the last that makes a test
        mark = scopes.settings.tests.mark
        self._mark = re.compile(mark, re.DOTALL) if mark else None

    def on_lead(self, start: int, end: int) -> None:
        """Record an attribute, and its test mark if it has one."""
        follows = self._end >= 0 and self._scopes.is_blank(self._end, start)
        self._start, self._end = self._start if follows else start, end
        if self._mark is not None and self._mark.fullmatch(
            self._scopes.text(start, min(end, start + _MAX_ATTRIBUTE_BYTES))
        ):
            self._test_end = end

    def claim(self, start: int, span_start: int) -> tuple[int, bool]:
        """Return (start of the attributes of a definition at `start`, True if they mark a test)."""
        if 0 <= self._start <= span_start and self._scopes.is_blank(self._end, start):
            return self._start, self._start < self._test_end
        return span_start, False


_MAX_TITLE_CHARACTERS = 80
_MAX_CALLEE_BYTES = 240  # bytes before the arguments that are looked at
_MAX_TABLE_BYTES = 8000  # bytes of the table that a test is run with
_CHAIN_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$.?!")
_DOT = ord(".")
_CALLEE_AHEAD = lazy_regex(rb"((?:[\w@]+\s*\.\s*)*@?\w+[?!]?)(?=[\s(])")
_WAITING = b"await "
_TITLE = lazy_regex(
    r"""\(?\s*(?:"(?P<double>(?:[^"\\\n]|\\.)*)"|'(?P<single>(?:[^'\\\n]|\\.)*)'|`(?P<raw>(?:[^`\\]|\\.)*)`"""
    r"""|(?P<constant>[A-Z][\w$]*(?:\.[A-Z]\w*)+|[A-Z][A-Z\d_]+)\s*,)""",
    re.DOTALL,
)
_MAX_TITLE_BYTES = 800
_ESCAPED = lazy_regex(r"\\([^nrtv])", re.DOTALL)
_ESCAPED_SPACE = lazy_regex(r"(?<!\\)\\[nrtv]")
_ADDRESS = lazy_regex(r"\w+://")  # it is asked for over a network, and the function takes the answer
_WORD = lazy_regex(r"[\w$]+")
_MATCHING = {b")": b"(", b"`": b"`"}


def _end_of_code(data: bytes, lowest: int, end: int) -> int:
    """Return `end` without the white space before it."""
    while end > lowest and data[end - 1 : end].isspace():
        end -= 1
    return end


class _Callee(NamedTuple):
    """Chain of names that is called, where it starts, and where its arguments do."""

    chain: str
    start: int
    arguments: int


class HandlerName(NamedTuple):
    """Name of a handler, and where the call that it is given to starts."""

    name: str
    start: int


class HandlerNames:
    """Names of handlers: the last name of the callee, and the string: `post documents.archive`."""

    def __init__(self, scopes: Scopes) -> None:
        self._scopes = scopes
        settings = scopes.settings.handlers
        self._verbs = frozenset((*settings.verbs, *settings.tests))
        self._modifiers = frozenset(settings.modifiers)
        self._substitutions = settings.substitutions

    def read(self, start: int) -> HandlerName | None:
        """Return the name of the handler among the arguments at `start`, or None if their call registers none."""
        called = self._callee(start) if self._scopes.data[start : start + 1] == b"(" else self._callee_ahead(start)
        if called is None:
            return None
        names = _WORD.findall(called.chain)
        while names[-1] in self._modifiers and len(names) > 1:
            names.pop()
        title = self._title(called.arguments) if names[-1] in self._verbs else ""
        return HandlerName(f"{names[-1]} {title}", called.start) if title else None

    def _callee_ahead(self, start: int) -> _Callee | None:
        """Return the callee of a call that is read as a whole."""
        matched = _CALLEE_AHEAD.match(self._scopes.data, start, start + _MAX_CALLEE_BYTES)
        return _Callee(self._scopes.text(*matched.span(1)), start, matched.end()) if matched else None

    def _callee(self, start: int) -> _Callee | None:
        """Return the callee before these arguments."""
        data, lowest = self._scopes.data, max(0, start - _MAX_TABLE_BYTES)
        end = _end_of_code(data, lowest, start)
        opener = _MATCHING.get(data[end - 1 : end])
        if opener is not None:  # a table that a test is run with, or a condition
            end = self._opening(end - 1, opener)
        elif data[end - 1 : end] == b">":  # its types
            end = data.rfind(b"<", lowest, end)
        lowest = max(0, end - _MAX_CALLEE_BYTES)
        first = end
        while first > lowest and data[first - 1] in _CHAIN_BYTES:
            first -= 1
            if data[first] == _DOT:  # it may begin a line
                before = _end_of_code(data, lowest, first)
                first = before if data[before - 1 : before].isalnum() else first
        chain = self._scopes.text(first, end).lstrip(".?!")
        words = _WORD.findall(chain)
        if not words or (opener is not None and words[-1] not in self._modifiers):
            return None
        first = end - len(chain)  # in ASCII
        first -= len(_WAITING) if data.endswith(_WAITING, 0, first) else 0
        return _Callee(chain, first, start)

    def _opening(self, end: int, opener: bytes) -> int:
        """Return where the bracket or quote that ends at `end` is opened, or -1."""
        data, lowest = self._scopes.data, max(0, end - _MAX_TABLE_BYTES)
        if opener == b"`":
            return data.rfind(opener, lowest, end)
        depth = 1
        for position in range(end - 1, lowest - 1, -1):
            depth += (data[position] == 41) - (data[position] == 40)
            if not depth:
                return position
        return -1

    def _title(self, start: int) -> str:
        """Return the string or constant that comes first in these arguments, on one line, or ""."""
        matched = _TITLE.match(self._scopes.original_text(start, start + _MAX_TITLE_BYTES))
        if matched is None or any(mark in matched[0] for mark in self._substitutions):
            return ""
        text = " ".join(_ESCAPED.sub(r"\1", _ESCAPED_SPACE.sub(" ", matched[matched.lastindex or 0])).split())
        if _ADDRESS.match(text):
            return ""
        return text if len(text) <= _MAX_TITLE_CHARACTERS else text[: _MAX_TITLE_CHARACTERS - 1].rstrip() + "…"


_MAX_SIGNATURE_CHARACTERS = 240
_OPEN_ENDS = (",", "(")  # of a line that goes on in the next
_ANNOTATED = (b"@", b"#", b"[")  # begins a definition with annotations
_MAX_ANNOTATION_BYTES = 20_000


_MAX_LEADING_BYTES = 80  # of words before a definition


def signature_of(draft: DefinitionDraft, scopes: Scopes) -> str:
    """Return the signature of a definition on one line, cut to `_MAX_SIGNATURE_CHARACTERS` characters."""
    if draft.signature:
        return draft.signature
    typed_before = scopes.settings.types.before_names or scopes.settings.types.annotation_before_name
    start = draft.span_start if typed_before or scopes.settings.names.bare_calls else draft.start
    if scopes.settings.types.prefixed and scopes.data[draft.span_start : start].strip().isalpha():
        start = draft.span_start  # the keyword before the only name of a declaration
    if (leading := scopes.settings.names.leading) and (
        words := re.search(rf"(?:{leading})\s*$", scopes.text(max(0, start - _MAX_LEADING_BYTES), start))
    ):
        start -= len(words[0].encode("utf-8"))
    may_be_annotated = typed_before or scopes.settings.names.members_are_visible
    if may_be_annotated and scopes.source[start : start + 1] in _ANNOTATED and not scopes.settings.types.messages:
        whole = scopes.source[start : min(draft.end, start + _MAX_ANNOTATION_BYTES)].decode("utf-8", "surrogateescape")
        start += len(whole.removesuffix(without_annotations(whole)).encode("utf-8", "surrogateescape"))
    end = draft.body if draft.body >= 0 else min(draft.end, max(start, draft.start) + _MAX_SIGNATURE_CHARACTERS)
    text = scopes.original_text(start, min(end, start + 4 * _MAX_SIGNATURE_CHARACTERS))
    if draft.body < 0:
        text = _first_lines(text)
    if any(mark in text for mark in scopes.settings.comments.line):
        text = "\n".join(without_comment(line, scopes.settings.comments.line) for line in text.split("\n"))
    text = " ".join(text.split())
    text = _without_opener(text)
    if draft.is_named_behind:
        text = f"{text} {draft.name}"
    if draft.kind is NodeKind.MACRO and draft.body >= 0 and scopes.settings.modules.headers:
        calls = calls_of_parameters(text, scopes.original_text(draft.body, draft.end), scopes.macro_names)
        text = " … ".join([text.rstrip(" \\"), *([", ".join(calls)] if calls else ())])
    return text if len(text) <= _MAX_SIGNATURE_CHARACTERS else text[: _MAX_SIGNATURE_CHARACTERS - 1] + "…"


_REMARK_OF_METHOD = lazy_regex(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_FIRST_WORD = lazy_regex(r"[^\W\d]\w*")


def selector_of(text: str) -> str:
    """Return the selector of a method by its text up to its body.

    >>> selector_of("- (Foo *)run:(int)x with: (id<P>)y, ...;"), selector_of("+ make {"), selector_of("- (void) a:b :c")
    ('run:with:', 'make', 'a::')
    """
    text = _REMARK_OF_METHOD.sub(" ", text).lstrip("+- \t\n")
    plain, position = "", 0
    while position < len(text) and text[position] not in "{;":
        if text[position] == "(":
            position = closing_bracket(text, position) + 1
            if not position:
                break
            plain += " "
        else:
            plain += text[position]
            position += 1
    if ":" not in plain:
        word = _FIRST_WORD.search(plain)
        return word[0] if word else ""
    words = [part.split() for part in plain.split(":")[:-1]]
    return "".join(f"{each[-1] if each[int(i > 0) :] else ''}:" for i, each in enumerate(words))


def _without_opener(text: str) -> str:
    """Return a signature without the opening of a body behind it.

    >>> [_without_opener(each) for each in ("def f():", "f = (a) => {", "int a = 1")]
    ['def f()', 'f = (a)', 'int a = 1']
    """
    while True:
        text = text.rstrip()
        if text.endswith("=>"):
            text = text[:-2]
        elif text.endswith((":", "{", "=")):
            text = text[:-1]
        else:
            return text


def _first_lines(text: str) -> str:
    r"""Return the first line, and further ones until its parentheses are closed.

    >>> _first_lines("Get(a int,\n  b int) error\nPut()"), _first_lines("a = 1\nb = 2")
    ('Get(a int,\n  b int) error', 'a = 1')
    """
    line, _, rest = text.partition("\n")
    while rest and line.count("(") > line.count(")") and line.rstrip().endswith(_OPEN_ENDS):
        more, _, rest = rest.partition("\n")
        line = f"{line}\n{more}"
    return line


_SPECIFIC = lazy_regex(
    rb"^[ \t]*(?:module[ \t]+)?procedure\b[ \t]*(?:::)?([\w \t,]+)$"
    rb"|^(?![ \t]*end\b)(?:[^\n']*[ \t])?(?:subroutine|function)[ \t]+(\w+)",
    re.MULTILINE,
)
_END_OF_INTERFACE = lazy_regex(rb"^[ \t]*end[ \t]*interface\b", re.MULTILINE)
_CONTINUED = lazy_regex(rb"&[ \t]*\n\s*&?")
_RENAMED = lazy_regex(rb"\w+\s*=>\s*(.*)", re.S)
_STATEMENTS = (b"procedure", b"generic")
_LIKE = lazy_regex(rb"procedure\s*\(\s*(\w+)")
_OWN_NAMES = lazy_regex(rb"\w+")
# The branches of a condition may stand inside of a statement: all of them are read.
_COMMENTS = lazy_regex(rb"![^\n]*|^[ \t]*#[^\n]*\n", re.MULTILINE)


def read_specifics(data: bytes, definitions: Sequence[Definition]) -> Iterator[Export]:
    """Yield the procedures that other names stand for, in languages where several may have one name.

    `local` is a procedure as it is written there: after a minus if it does not get the object that it is called on,
    after a dot if it is a member of the type around, and after "=" if the type only says that it is like that one.
    `exported` begins with `SEVERAL`. `data` is in small letters.
    """
    for definition in definitions:
        if definition.kind not in (NodeKind.FUNCTION, NodeKind.METHOD):
            continue
        start, mark = definition.start_byte, ""
        if definition.end_byte - start > _MAX_TABLE_BYTES:
            continue
        end = definition.end_byte
        if data.startswith(b"interface", start) and (
            closed := _END_OF_INTERFACE.search(data, start, start + _MAX_TABLE_BYTES)
        ):
            end = closed.end()  # a condition inside of a statement ends it too early
        text = _CONTINUED.sub(b"", _COMMENTS.sub(b"", data[start:end]))
        if definition.kind == NodeKind.METHOD:
            statement = data[max(data.rfind(word, 0, start) for word in _STATEMENTS) : start]
            mark = "-" if b"nopass" in statement else "." if statement.startswith(b"generic") else ""
            renamed = _RENAMED.match(text)
            names = _OWN_NAMES.findall(renamed[1] if renamed else text)
            if b"deferred" in statement and (like := _LIKE.match(statement)):
                mark, names = "=", [like[1]]
        elif text.startswith(b"interface"):
            names = [name for each in _SPECIFIC.finditer(text) for name in _OWN_NAMES.findall(each[1] or each[2])]
        else:
            continue
        for name in dict.fromkeys(names):
            yield Export(f"{mark}{name.decode()}", f"{SEVERAL}{definition.qualname}", definition.start_row)


_INTERFACE = lazy_regex(rb"[ \t]*(?P<end>end[ \t]*)?(?:abstract[ \t]+)?interface\b")
_INNER = lazy_regex(r"\s*(?P<end>end\s*)?(?:type\b(?!\s*\()|(?:abstract\s+)?interface\b)(?!\s+is\b)")
_TYPED_FUNCTION = lazy_regex(r"(?:\b(?:pure|impure|elemental|recursive|module)\s++)*+(.*?)(?:\n\s*+)?\bfunction\b")
_NAMED_RESULT = lazy_regex(r"\bresult\s*\(\s*(\w+)")
_DOUBLE = {
    "doubleprecision": "real(8)",
    "doublecomplex": "complex(8)",
    "complex*16": "complex(8)",
    "complex*8": "complex(4)",
}
_OF_CHARACTERS = lazy_regex(r"character\((?:[^()]*,)?kind=(\w+)(?:,[^()]*)?\)")
_OF_TYPE = lazy_regex(r"(?:type|class)\((\w+|\*)\)")
_OF_KIND = lazy_regex(r"(?<=\w)(?:\((?:kind=)?((?:[\w*:=.]|\([^()]*\))+)\)|\*(\d+))$")
# Declarations without colons, and other statements that make arrays.
_UNMARKED = lazy_regex(
    r"\s*(?:(?P<type>(?:integer|real|complex|logical|double\s*precision|character)"
    r"(?:\s*\*\s*(?:\d+|\(\*\))|\s*\([^()]*\))?)(?:(?<=\))\s*|\s+)(?!function\b)(?P<names>[a-z]\w*\s*(?:[(,*].*)?$)|(?:dimension|common|allocatable|pointer|target|save)\b)"
)
_TYPES = ("integer", "real", "complex", "logical", "character", "double", "type(", "class(")
_NAMED_KIND = lazy_regex(r"(\w+)\((\w+)\)(.*)")


class TypeStatements(NamedTuple):
    """Types that declarations in the body of a definition give to names, as `real(wp)[2]`.

    The kind of a type stands in parentheses, its rank in brackets; an optional parameter ends with `OPTIONAL`.
    """

    of_names: dict[tuple[int, str], str]  # (definition, name) -> type, "" of what is a procedure
    parameters: list[tuple[int, tuple[str, ...]]]  # of functions
    returns: list[tuple[int, str]]
    kinds: dict[int, dict[str, str]]  # definition -> constants that it declares, which may be kinds


def read_declared_types(data: bytes, definitions: Sequence[Definition]) -> TypeStatements:
    """Return the types that a file declares where types are declared by statements; `data` is in small letters."""
    result = TypeStatements({}, [], [], {})
    first_inside: dict[int, int] = {}  # definition -> where the first procedure in it starts, behind all declarations
    for definition in definitions:
        if definition.kind == NodeKind.FUNCTION and not data.startswith(b"interface", definition.start_byte):
            first_inside.setdefault(definition.parent, definition.start_byte)
    for number, definition in enumerate(definitions):
        if definition.kind not in (NodeKind.FUNCTION, NodeKind.NAMESPACE, NodeKind.CLASS, NodeKind.TYPE):
            continue
        text = _CONTINUED.sub(
            b"", _COMMENTS.sub(b"", data[definition.start_byte : first_inside.get(number, definition.end_byte)])
        )
        head, *lines = text.decode("utf-8", "replace").split("\n")
        if head.lstrip().startswith("interface"):
            continue
        own: dict[str, str] = {}
        kinds = {**result.kinds.get(definition.parent, {})}
        shaped: set[str] = set()  # arrays by other statements than those that say their types
        depth = 0
        for line in lines:
            if inner := _INNER.match(line):
                depth += -1 if inner["end"] else 1
            written, declares, declared = line.partition("::")
            if depth == 0 and written.strip() == "contains":
                break
            if not declares and depth == 0 and (old := _UNMARKED.match(line)):
                if old["names"]:
                    written, declares, declared = old["type"], "::", old["names"]
                else:
                    shaped.update(re.findall(r"(\w+)\s*\(", line))
            if declares and depth == 0:
                own.update(_declared_types(written, declared.replace("=>", "=")))
                if definition.kind == NodeKind.FUNCTION and "parameter" in written:
                    kinds.update(each.replace(" ", "").partition("=")[::2] for each in split_top(declared, ","))
        if kinds:
            result.kinds[number] = kinds
        for name, type_ in own.items() if kinds else ():
            if (named_kind := _NAMED_KIND.fullmatch(type_)) and (kind := kinds.get(named_kind[2])):
                own[name] = f"{named_kind[1]}({bytes_of_kind(kind) or kind}){named_kind[3]}"
        for name in shaped & own.keys():
            del own[name]
        result.of_names.update(((number, name), type_.removesuffix(OPTIONAL)) for name, type_ in own.items())
        is_procedure = definition.kind in (NodeKind.FUNCTION, NodeKind.TYPE)
        if not is_procedure or head.lstrip().startswith(("program", "module procedure")):
            continue
        named = re.search(rf"\b{definition.name}\s*\(([^()]*)\)", head)
        names = [each.strip() for each in named[1].split(",") if each.strip()] if named else []
        result.parameters.append((number, tuple(f"{name}:{own.get(name, '')}" for name in names)))
        if typed := _TYPED_FUNCTION.match(head):
            of_result = _NAMED_RESULT.search(head)
            name = of_result[1] if of_result else definition.name
            written = typed[1].rstrip()
            type_ = (
                own.get(name) or dict(_declared_types(written, name)).get(name, "") if written or name in own else ""
            )
            if type_:
                result.returns.append((number, type_))
    return result


_DECLARED_HEAD = lazy_regex(rb"(?P<before>[^\n!'\"]*?)\b(?:subroutine|function)[ \t]+(?P<name>\w+)")
_DECLARED_END = lazy_regex(rb"[ \t]*end\b(?![ \t]*(?:type|enum)\b)")


def read_declared_procedures(data: bytes, definitions: Sequence[Definition]) -> Iterator[Export]:
    """Yield the procedures of which a module declares the parameters and a submodule has the body.

    `exported` is the qualified name behind `DECLARED`. `local` has the types of names and of the result, as
    `TypeStatements` has them: `a:real(wp)[1];n:integer=>a;n>real(wp)`. `data` is in small letters.
    """
    inside = rows_of_interfaces(data)
    if not inside:
        return
    modules = [each for each in definitions if each.kind == NodeKind.NAMESPACE]
    start, begun, first = 0, None, 0
    for row, line in enumerate(data.split(b"\n")):
        if row in inside and begun is None:
            head = _DECLARED_HEAD.match(line)
            if head and b"module" in head["before"].split():
                begun, first = head["name"].decode("utf-8", "replace"), start
        elif begun is not None and _DECLARED_END.match(line):
            around = next((each for each in modules if each.start_byte <= first < each.end_byte), None)
            if around is not None and not around.signature.lower().startswith("submodule"):
                body = around._replace(parent=-1, name=begun, kind=NodeKind.FUNCTION, start_byte=first, end_byte=start)
                yield Export(
                    _join_declared(read_declared_types(data, [body])), f"{DECLARED}{around.qualname}.{begun}", row
                )
            begun = None
        start += len(line) + 1


def _join_declared(types: TypeStatements) -> str:
    names = ";".join(f"{name}:{type_}" for (_, name), type_ in types.of_names.items() if type_)
    parameters = ";".join(each for _, taken in types.parameters for each in taken)
    return f"{names}>{parameters}>{''.join(type_ for _, type_ in types.returns)}"


_MAX_CHECKS = 9  # in one another
_CHECK = lazy_regex(
    r"\s*(?:\w+\s*:\s*)?(?:select\s+type\s*\(\s*(?:(?P<name>\w+)\s*=>.*|(?P<plain>\w+)\s*\))"
    r"|(?:type|class)\s+is\s*\(\s*(?P<type>\w+)\s*\)|(?P<default>class\s+default)|(?P<select>select\b)|(?P<end>end\s*select\b))"
)


def with_checked_types(data: bytes, calls: Iterable[Call]) -> Iterator[Call]:
    """Yield calls, those of members of a name whose type the block around checks as ones of that type."""
    text = data.decode("utf-8", "replace")
    checked: dict[int, dict[str, str]] = {}  # row -> names with their types
    open_: list[list[str]] = []
    for row, line in enumerate(text.split("\n")) if "select" in text else ():
        for statement in line.split(";"):
            if matched := _CHECK.match(statement):
                if matched["end"]:
                    open_ = open_[:-1]
                elif matched["type"] or matched["default"]:
                    open_[-1:] = [[each[0], matched["type"] or ""] for each in open_[-1:]]
                elif len(open_) < _MAX_CHECKS:
                    open_.append([matched["name"] or matched["plain"] or "", ""])
        if any(type_ for _, type_ in open_):
            checked[row] = {name: type_ for name, type_ in open_ if type_}

    def spell(chain: str, row: int) -> str:
        head, dot, rest = chain.partition(".")
        type_ = checked.get(row, {}).get(head, "") if dot else ""
        return f"<{type_}>.{rest}" if type_ else chain

    for call in calls:
        if call.row not in checked:
            yield call
            continue
        values = ",".join(spell(each, call.row) for each in call.values.split(","))
        yield call._replace(callee=spell(call.callee, call.row), values=values)


def rows_of_interfaces(data: bytes) -> set[int]:
    """Return the rows in which the parameters of procedures are declared that are defined elsewhere."""
    rows: set[int] = set()
    is_inside = False
    for row, line in enumerate(data.split(b"\n") if b"interface" in data else ()):
        if matched := _INTERFACE.match(line):
            is_inside = not matched["end"]
        if is_inside:
            rows.add(row)
    return rows


def _declared_types(written: str, declared: str) -> Iterator[tuple[str, str]]:
    """Yield (name, type) of the names in a declaration; the type of what is a procedure is "".

    >>> list(_declared_types("real(kind=wp), dimension(:,:), optional ", "a, b(3)"))
    [('a', 'real(wp)[2]='), ('b', 'real(wp)[1]=')]
    """
    first, *further = (each.strip() for each in split_top(written, ","))
    kind = "".join(first.split())
    if not kind.startswith(_TYPES):
        return
    inner = _OF_TYPE.fullmatch(kind)
    characters = _OF_CHARACTERS.fullmatch(kind)
    of_text = f"character({characters[1]})" if characters else "character"
    kind = _DOUBLE.get(kind, kind)
    kind = inner[1] if inner else of_text if kind.startswith("character") else _OF_KIND.sub(r"(\1\2)", kind)
    shape = next((each.partition("(")[2] for each in further if each.startswith("dimension")), None)
    optional = OPTIONAL if "optional" in further else ""
    for each in split_top(declared, ","):
        name, bracket, own = each.partition("=")[0].partition("(")
        extents = own if bracket else shape
        rank = f"[{extents.count(',') + 1}]" if extents is not None else ""
        yield name.strip(), "" if "external" in further else f"{kind}{rank}{optional}"
