"""Where a sweep stands in its file: the text, the open definitions, and the definitions found so far.

The sweep pushes and pops frames; bindings and imports ask in which scope they are. Nothing here knows a capture.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from causalist.model.facts import MODULE_SCOPE
from causalist.model.language import LanguageSettings
from causalist.model.symbols import CALLABLE_KINDS, NodeKind
from causalist.parse.syntax.joins import with_dots
from causalist.parse.syntax.shadows import Shadows

_BLANK = re.compile(rb"(?:\s|//[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/)*")
_LONGEST_BLANK = 2000
_HEAD = re.compile(r"[\w$]+")
_LONGEST_LINE = 200  # bytes of a line that are looked at

ANONYMOUS = "default"  # the name of what a file exports as a whole
VALUE_KINDS = frozenset({NodeKind.CONSTANT, NodeKind.FIELD})


@dataclass(slots=True)
class Frame:
    """An open definition or holder. `index` is MODULE_SCOPE for a holder; `scope` is where uses inside belong,
    `prefix` what the names of definitions inside start with."""

    start: int
    end: int
    index: int
    scope: int
    outer_scope: int
    prefix: str
    name_start: int = -1
    named: bool = False
    holds: bool = False  # gives its name to what is inside although it is no scope
    body: int = -1
    owner: str = ""  # the type that what is inside belongs to, where it stands elsewhere
    generics: list[int] = field(default_factory=list)  # bindings of its type parameters, for what stands inside


@dataclass(slots=True)
class Draft:
    """A definition while its name, body and documentation are still to come."""

    kind: NodeKind
    parent: int
    start: int
    end: int
    span_start: int
    prefix: str
    name: str = ""
    qualname: str = ""
    body: int = -1
    doc: str = ""
    text_start: int = -1  # where the comment above starts
    returns: str = ""
    is_property: bool = False  # called by being named
    is_annotated: bool = False  # says what it returns
    owner: str = ""  # the type that it belongs to, where that stands elsewhere
    extends: bool = False  # its first parameter says so
    signature: str = ""  # where it is not what stands before the body
    is_test: bool = False  # it says so itself
    is_named_behind: bool = False  # its name stands behind its body
    parameters: list[str] | None = None  # annotations, where functions of one name are told apart by them


class Scopes:
    """The file's text and the stack of what is open in it.

    `data` is what names and chains are read from: `source`, with dots where the language joins names otherwise."""

    def __init__(self, source: bytes, settings: LanguageSettings) -> None:
        self.source = source
        data = self.data = with_dots(source, settings.names.joins)
        self.settings = settings
        self.frames: list[Frame] = []
        self.drafts: list[Draft] = []
        self.shadows = Shadows() if settings.names.rebinding else None
        separator = settings.names.path_separator if settings.names.rebinding else ""
        self._path_head = re.compile(rb"[&*\s]*\w+" + re.escape(separator.encode())) if separator else None
        self._newlines = [m.start() for m in re.finditer(rb"\n", data)]
        self._starts_at_body = settings.names.scope_starts_at_body
        self._block_scopes = settings.names.block_scopes
        marks = sorted(settings.names.attribute_sigils, key=lambda each: (-len(each), each))
        self._attributes = (
            re.compile(rf"(?<![\w@$])(?:{'|'.join(map(re.escape, marks))})(?=[^\W\d])") if marks else None
        )
        self._locals: dict[tuple[int, str], int] = {}  # (scope, name) -> how often it is declared there so far
        self._counts: dict[str, int] = {}
        waiting = "|".join(re.escape(word) for word in sorted(settings.names.waiting, key=lambda w: (-len(w), w)))
        self._waiting = re.compile(rf"(?:(?:{waiting})\s+)+".encode()) if waiting else None

    def text(self, start: int, end: int) -> str:
        return self.data[start:end].decode("utf-8", "replace")

    def without_waiting(self, start: int, end: int) -> int:
        """Where an expression begins behind the words that change nothing of what it means."""
        matched = self._waiting.match(self.data, start, end) if self._waiting is not None else None
        return matched.end() if matched else start

    def written(self, start: int, end: int) -> str:
        """The text as it stands in the file."""
        return self.source[start:end].decode("utf-8", "replace")

    def compact(self, start: int, end: int) -> str:
        """The text without white space."""
        return "".join(self.text(start, end).split())

    def row(self, byte: int) -> int:
        return bisect_right(self._newlines, byte - 1) if byte else 0

    def spelled(self, text: str) -> str:
        """An expression with attributes of the object itself as members of it, where the language marks them."""
        if self._attributes is None:
            return text
        return self._attributes.sub(f"{self.settings.names.self_names[0]}.", text)

    def blank(self, start: int, end: int) -> bool:
        """Whether nothing but white space, comments and closing brackets stand there, and not much of it."""
        return start <= end <= start + _LONGEST_BLANK and bool(_BLANK.fullmatch(self.data, start, end))

    def use_scope(self) -> int:
        """Where a use belongs: the innermost definition that is code, seen from inside its body."""
        if not self.frames:
            return MODULE_SCOPE
        frame = self.frames[-1]
        if self._starts_at_body and frame.body < 0:
            return frame.outer_scope
        return frame.scope

    def binding_scope(self) -> int:
        """Where a bound name belongs. Parameters stand before the body but belong to the function."""
        for frame in reversed(self.frames):
            if frame.index >= 0 and self.drafts[frame.index].kind not in VALUE_KINDS:
                return frame.index
        return MODULE_SCOPE

    def clean_name(self, name: str) -> str:
        """The name of what is assigned to `name`: `exports.f` is f, `A.prototype.m` A.m, `module.exports` the whole."""
        names = self.settings.names
        if name[:1] == "`" == name[-1:] and len(name) > 2:
            return name[1:-1].replace(".", "")  # any words
        name = "".join(name.split()).strip("\"':").removeprefix("r#")
        for prefix in names.assigned_prefixes:
            if name.startswith(prefix):
                name = name[len(prefix) :]
                break
            if name == prefix[:-1] and prefix.endswith("exports."):
                return ANONYMOUS
        for infix in names.assigned_infixes:
            name = name.replace(infix + ".", ".").removesuffix(infix)
        return name or ANONYMOUS

    def declare(self, scope: int, name: str) -> str:
        """The name of a variable among the bindings: where blocks are scopes, a name that is declared again in one
        function gets a number."""
        if not self._block_scopes or scope < 0 or name.startswith("."):
            return name
        times = self._locals[scope, name] = self._locals.get((scope, name), 0) + 1
        return name if times == 1 else f"{name}#{times}"

    def is_local(self, name: str) -> bool:
        return any((frame.index, name) in self._locals for frame in self.frames)

    def current(self, chain: str) -> str:
        """A chain with its first name as the innermost declaration before it is called."""
        if not self._locals or not chain:
            return chain
        matched = _HEAD.match(chain)
        if not matched:
            return chain
        for frame in reversed(self.frames):
            times = self._locals.get((frame.index, matched[0]), 0)
            if times:
                return chain if times == 1 else f"{matched[0]}#{times}{chain[matched.end() :]}"
        return chain

    def count(self, key: str) -> int:
        """How often this was asked for the same key, this time included."""
        self._counts[key] = self._counts.get(key, 0) + 1
        return self._counts[key]

    def own_chain(self, chain: str, position: int) -> str:
        """A chain as it is kept: its head is the variable that it means at `position`, where names are bound again.
        What stands before a separator of paths, `path::join`, is a module or a type, whatever variable has its name."""
        if self.shadows is None or not chain:
            return self.current(chain)
        if self._path_head is not None and self._path_head.match(self.data, position):
            return chain
        return self.shadows.own_chain(self.binding_scope(), chain, position)

    def takes_name(self, frame: Frame) -> bool:
        """Whether what is open waits for its name: it has none, or none but that of the whole file."""
        is_whole = frame.index >= 0 and frame.body < 0 and self.drafts[frame.index].name == ANONYMOUS
        return is_whole or not frame.named

    def follows_code(self, start: int) -> bool:
        """Whether anything stands before `start` in its line."""
        before = self.data[max(0, start - _LONGEST_LINE) : start]
        return bool(before[before.rfind(b"\n") + 1 :].strip())

    def joins_last(self, frame: Frame, name: str) -> bool:
        """Whether what is open is another clause of the definition before it; from then on it is that one."""
        if not self.settings.names.clauses or frame.index != len(self.drafts) - 1 or frame.index < 0:
            return False
        own = self.drafts[frame.index]
        # Everything between a definition and the one that it stands in, stands in the latter, too.
        before = next((i for i in range(frame.index - 1, own.parent, -1) if self.drafts[i].parent == own.parent), -1)
        if before < 0 or (self.drafts[before].name, self.drafts[before].kind) != (name, own.kind):
            return False
        if own.kind not in CALLABLE_KINDS:
            return False
        self.drafts.pop()
        self.drafts[before].end = own.end
        frame.index = frame.scope = before
        frame.named, frame.body, frame.prefix = True, frame.start, self.drafts[before].qualname
        return True

    def set_name(self, frame: Frame, name: str) -> None:
        frame.named = True
        prefix = frame.prefix if frame.index < 0 else self.drafts[frame.index].prefix
        qualname = f"{prefix}.{name}" if prefix else name
        if frame.index < 0:
            frame.prefix = qualname
            return
        draft = self.drafts[frame.index]
        draft.name, draft.qualname = name, qualname
        if frame.holds or draft.kind not in VALUE_KINDS:
            frame.prefix = qualname
