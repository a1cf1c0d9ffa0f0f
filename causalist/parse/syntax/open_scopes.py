"""State of the pass over one file: its text, open definitions, and names that are local so far.

The pass pushes and pops frames; the readers of bindings and imports ask for the current scope. `Scopes` knows no
capture.

Joins: languages that join names with other marks than a dot get the same bytes with dots, as long as before:
`$this->door::open()` becomes `$this .door .open()`. This includes strings and comments; their displayed text comes from
the original bytes.

Block scope: the captures of one declaration are read together when it ends. Several names may share one type or the
results of one call, and `x := x.next()` means the outer x on its right. Every local name is spelled with the number of
its declaration (`x~1`) in bindings and chains, because a function may declare x in ten blocks with ten types. A name
without a number is not local. The receiver of a method is spelled as `names.self` says.
"""

import re
import sys
from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property
from typing import Any

from causalist._internal.lazy import dataclass, field, lazy_regex
from causalist.model.facts import MODULE_SCOPE, Binding
from causalist.model.language_settings import LanguageSettings
from causalist.model.node_ids import CALLABLE_KINDS, NodeKind
from causalist.parse.syntax import go_like_types as prefixed
from causalist.parse.syntax.capture_names import Tag
from causalist.parse.syntax.chains import with_members
from causalist.parse.syntax.go_like_types import wanted_type
from causalist.parse.syntax.shadowed_names import (
    LocalNames,
    OpenedModules,
    ShadowedNames,
    with_dots,
    with_keys_as_members,
)


def move_last(rows: list[Any], scope: int, to: int) -> None:
    """Give the last rows, as far as they begin with one scope, another scope."""
    for i in range(len(rows) - 1, -1, -1):
        if rows[i][0] != scope:
            return
        rows[i] = tuple.__new__(type(rows[i]), (to, *rows[i][1:]))


_SPACED = lazy_regex(rb"([ \t]*)(%)[ \t]+(?=[a-z])")  # a separator with spaces around it
_BLANK = lazy_regex(rb"(?:\s|//[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/)*")
_MAX_BLANK_BYTES = 2000
_MAX_LINE_BYTES = 200  # bytes of a line that are looked at

ANONYMOUS = "default"  # the name of the default export of a file
VALUE_KINDS = frozenset({NodeKind.CONSTANT, NodeKind.FIELD})


@dataclass(slots=True)
class Frame:
    """Open definition or holder.

    `index` is MODULE_SCOPE for a holder. `scope` is the scope of uses inside. `prefix` is the first part of the
    qualified names of definitions inside.
    """

    start: int
    end: int
    index: int
    scope: int
    outer_scope: int
    prefix: str
    name_start: int = -1
    has_name: bool = False
    holds: bool = False  # gives its name to definitions inside although it is no scope
    body: int = -1
    owner: str = ""  # the type of the definitions inside, if its own definition is elsewhere
    extends: str = ""  # the type that the functions inside are called on
    generics: list[int] = field(default_factory=list)  # bindings of its type parameters, for definitions inside


@dataclass(slots=True)
class DefinitionDraft:
    """Definition whose name, body and documentation are not complete yet."""

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
    is_annotated: bool = False  # it has a return annotation
    owner: str = ""  # the type that it belongs to, if that is defined elsewhere
    extends: bool = False  # its first parameter says so
    signature: str = ""  # if it is not the text before the body
    is_test: bool = False  # it says so itself
    is_named_behind: bool = False  # its name follows its body
    parameters: list[str] | None = None  # annotations, in languages with overloads
    counts_clauses: bool = False  # they are those of a clause already
    is_declared: bool = False  # overloads stand before it, which say what it takes and returns
    last_start: int = -1  # where the last of them starts, with decorators


class Scopes:
    """Text of the file and the stack of open definitions.

    `source` is the original text. `data` is the text for names and chains: the source with dots for other separators.
    """

    def __init__(self, source: bytes, settings: LanguageSettings) -> None:
        self.source = source
        folded = _SPACED.sub(lambda m: m[2].rjust(len(m[0])), source.lower()) if settings.names.folded else source
        spelled = with_keys_as_members(folded) if settings.names.keys else folded
        data = self.data = with_dots(spelled, settings.names.name_separators)
        self.settings = settings
        self.frames: list[Frame] = []
        self.drafts: list[DefinitionDraft] = []
        self.receivers: dict[int, tuple[int, int]] = {}  # start of a part of a cascade -> range of what it is for
        self.shadows = ShadowedNames() if settings.names.rebinding else None
        self.opened = OpenedModules() if settings.modules.mentioned else None
        separator = settings.names.path_separator if settings.names.rebinding else ""
        self._path_head = re.compile(rb"[&*\s]*\w+" + re.escape(separator.encode())) if separator else None
        self._newlines = [m.start() for m in re.finditer(rb"\n", data)]
        self._starts_at_body = settings.names.scope_starts_at_body
        self._block_scopes = settings.names.block_scopes
        marks = sorted(settings.names.attribute_sigils, key=lambda each: (-len(each), each))
        self._attributes = (
            re.compile(rf"(?<![\w@$])(?:{'|'.join(map(re.escape, marks))})(?=[^\W\d])") if marks else None
        )
        self.local_names = LocalNames(settings)
        self.lambdas = self.local_names.lambdas
        self._counts: dict[str, int] = {}
        waiting = "|".join(
            re.escape(word) for word in sorted(settings.names.transparent_keywords, key=lambda w: (-len(w), w))
        )
        self._waiting = re.compile(rf"(?:(?:{waiting})\s+)+".encode()) if waiting else None

        defaults = "|".join(map(re.escape, settings.names.default_operators))
        self._declaring = tuple(word.encode() for word in settings.names.declaring)
        self._overload = re.compile((settings.names.overload_pattern or "(?!)").encode())
        self._has_overloads = bool(settings.names.overload_pattern) or settings.names.bodiless_overloads
        self._default_signs = tuple(sign.encode() for sign in settings.names.default_operators)
        self._default = re.compile(rf"\s*+(?:{defaults})[^{{}}]*+$".encode()) if defaults else None

    @cached_property
    def macro_names(self) -> frozenset[str]:
        """The names of all macros of the file, for when it has been read."""
        return frozenset(each.name for each in self.drafts if each.kind is NodeKind.MACRO)

    def text(self, start: int, end: int) -> str:
        """Return the text of a range of `data`."""
        return self.data[start:end].decode("utf-8", "replace")

    def skip_waiting(self, start: int, end: int) -> int:
        """Return the start of an expression behind words that do not change its meaning."""
        matched = self._waiting.match(self.data, start, end) if self._waiting is not None else None
        return matched.end() if matched else start

    def end_before_default(self, start: int, end: int) -> int:
        """Return the end of the part of a value before what stands for it where there is none: `a` of `a ?: b`."""
        if self._default is None or not any(self.data.find(sign, start, end) >= 0 for sign in self._default_signs):
            return end
        default = self._default.search(self.data, start, end)
        return default.start() if default else end

    def await_call(self, start: int, end: int, bindings: list[int]) -> None:
        """Note bindings whose value is a call of which it is known later what it gives."""
        call = self.skip_waiting(start, end), self.end_before_default(start, end)
        self.local_names.awaited[call] = bindings

    def place_in_tuple(self, pattern: int, start: int) -> str:
        """Return the number of a name in a pattern of a tuple, `?` in a pattern inside of it; "" without a pattern."""
        before = self.data[pattern:start] if pattern >= 0 else b""
        return "" if not before else str(before.count(b",")) if before.count(b"(") == 1 else "?"

    def original_text(self, start: int, end: int) -> str:
        """Return the original text of a range."""
        return self.source[start:end].decode("utf-8", "replace")

    def compact(self, start: int, end: int) -> str:
        """Return the text of a range without white space."""
        return "".join(self.text(start, end).split())

    def row(self, byte: int) -> int:
        """Return the row of a byte."""
        return bisect_right(self._newlines, byte - 1) if byte else 0

    def spell_attributes(self, text: str) -> str:
        """Return an expression with marked attributes as members of the object: `@a` as `self.a`, and `:a` as `a`."""
        if self._attributes is None:
            return text
        return self._attributes.sub(f"{self.settings.names.self_names[0]}.", text).removeprefix(":")

    def is_blank(self, start: int, end: int) -> bool:
        """Return True if the range is short and has only white space and comments."""
        return start <= end <= start + _MAX_BLANK_BYTES and bool(_BLANK.fullmatch(self.data, start, end))

    def use_scope(self) -> int:
        """Return the scope of a use: the innermost definition that is code, seen from inside its body."""
        if not self.frames:
            return MODULE_SCOPE
        frame = self.frames[-1]
        if self._starts_at_body and frame.body < 0:
            return frame.outer_scope
        return frame.scope

    def binding_scope(self) -> int:
        """Return the scope of a bound name. Parameters stand before the body but belong to the function."""
        for frame in reversed(self.frames):
            if frame.index >= 0 and self.drafts[frame.index].kind not in VALUE_KINDS:
                return frame.index
        return MODULE_SCOPE

    def is_conversion(self, start: int) -> bool:
        """Return True if the name that starts there is the type that a conversion of C++ gives."""
        return bool(self.settings.types.operators) and self.data.endswith(b"operator ", 0, start)

    def clean_name(self, name: str) -> str:
        """Return the defined name for an assignment to `name`.

        `exports.f` is f, `A.prototype.m` is A.m, and `module.exports` is the whole file.
        """
        names = self.settings.names
        if name[:1] == "`" == name[-1:] and len(name) > 2:
            return name[1:-1].replace(".", "")  # any words
        if names.assigned_infixes:
            name = with_members(name)
        name = "".join(name.split())
        quotes = "\"':" if name[:1] in "\"'" else ":"  # a name may end with a quote
        name = name.strip(quotes).removeprefix("r#")
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
        """Return the name of a variable in bindings.

        With block scopes, a name that one function declares again gets a number.
        """
        if not self._block_scopes or scope < 0 or name.startswith(".") or name in self.settings.names.self_names:
            return name
        return self.local_names.declare(scope, name)

    def is_local(self, name: str) -> bool:
        """Return True if an open definition declares this name so far, or a lambda that need not declare it."""
        return self.local_names.is_declared(name, self.frames)

    def spell_current(self, chain: str) -> str:
        """Return a chain with its first name spelled as its innermost declaration so far."""
        names = self.local_names
        return names.spell(chain, self.frames) if chain and (names.declared or names.lambdas) else chain

    def count(self, key: str) -> int:
        """Return the number of calls for the same key, this one included."""
        self._counts[key] = self._counts.get(key, 0) + 1
        return self._counts[key]

    def with_wanted_type(self, start: int, end: int) -> str:
        """Return the text of a callee, behind the type that is wanted there if it begins with a dot."""
        text = self.text(start, end).lstrip("!")  # a sign that some grammars take for the mark of a type
        if not (text.startswith(".") and self.settings.modules.beside):
            return text
        scope = self.use_scope()
        return wanted_type(self.data, start, self.drafts[scope].returns if scope >= 0 else "") + text

    def own_chain(self, chain: str, position: int) -> str:
        """Return a chain with its head as the variable that is visible at `position`.

        The head before a path separator, as in `path::join`, is a module or type, even if a variable has its name.
        """
        if self.opened is not None:
            return self.in_opened(chain, position)
        if self.shadows is None or not chain:
            return self.spell_current(chain)
        if self._path_head is not None and self._path_head.match(self.data, position):
            return chain
        return self.shadows.own_chain(self.binding_scope(), chain, position)

    def in_opened(self, chain: str, position: int) -> str:
        """Return a chain with the modules before it that are opened around `position` for a part of an expression."""
        return self.opened.spell(chain, position) if self.opened is not None else chain

    def takes_name(self, frame: Frame) -> bool:
        """Return True if the open definition has no name yet, or only that of the whole file."""
        is_whole = frame.index >= 0 and frame.body < 0 and self.drafts[frame.index].name == ANONYMOUS
        return is_whole or not frame.has_name

    def follows_code(self, start: int) -> bool:
        """Return True if there is code before `start` in its line."""
        before = self.data[max(0, start - _MAX_LINE_BYTES) : start]
        return bool(before[before.rfind(b"\n") + 1 :].strip())

    def _declares(self, draft: DefinitionDraft) -> bool:
        """Return True if a definition only says what others define."""
        return self.data.startswith(self._declaring, draft.start)

    def joins_last(self, frame: Frame, name: str) -> bool:
        """Merge the open definition into the previous one and return True if that is an overload or a clause of it."""
        has_clauses = self.settings.names.clauses
        if not (has_clauses or self._has_overloads) or frame.index != len(self.drafts) - 1 or frame.index < 0:
            return False
        own = self.drafts[frame.index]
        # All drafts between a definition and its parent are inside of the parent.
        number = next((i for i in range(frame.index - 1, own.parent, -1) if self.drafts[i].parent == own.parent), -1)
        before = self.drafts[number] if number >= 0 else own
        if number < 0 or (before.name, before.kind) != (name, own.kind) or own.kind not in CALLABLE_KINDS:
            return False
        if before.qualname != (f"{own.prefix}.{name}" if own.prefix else name):
            return False  # of another type
        if has_clauses:
            if self._declares(own) != self._declares(before):
                return False
            frame.body = frame.start
        elif not self._is_overload(before):
            return False
        else:
            # The last of them has the body, and what is known of its callers is in the first.
            before.start, before.body, before.is_declared = own.start, -1, True
            before.last_start = own.span_start
            before.doc = own.doc or before.doc
        self.drafts.pop()
        before.end = own.end
        frame.index = frame.scope = number
        frame.has_name, frame.prefix = True, before.qualname
        return True

    def _is_overload(self, draft: DefinitionDraft) -> bool:
        """Return True if a definition is one of the declarations of what the next one of its name defines."""
        if self.settings.names.bodiless_overloads:
            return draft.body < 0
        start = draft.last_start if draft.last_start >= 0 else draft.span_start
        return self._overload.match(self.data, start, draft.end) is not None

    def set_name(self, frame: Frame, name: str) -> None:
        """Set the name of the open definition or holder, and the prefix of definitions inside."""
        frame.has_name = True
        prefix = frame.prefix if frame.index < 0 else self.drafts[frame.index].prefix
        qualname = f"{prefix}.{name}" if prefix else name
        is_deep = prefix.count(".") >= _MAX_PREFIX_DOTS
        if frame.index < 0:
            frame.prefix = prefix if is_deep else qualname
            return
        draft = self.drafts[frame.index]
        draft.name, draft.qualname = name, qualname
        if (frame.holds or draft.kind not in VALUE_KINDS) and not is_deep:
            frame.prefix = qualname


_DECLARATION_HEAD = lazy_regex(r"[^\W\d]\w*")
_DOTTED = lazy_regex(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*(?![\w.:])")  # but not the name of a field
# In the names before the one of a definition. What is deeper is named as if it stood in the last one that is named.
_MAX_PREFIX_DOTS = 24
_MAX_EXPRESSION_BYTES = 4000  # bytes of a type or value that are looked at
_NEVER = sys.maxsize
_NOBODY = "_"
_ANYTHING = "any"  # the type of a type parameter that is not constrained to a named type: nothing has members of it


@dataclass(slots=True)
class _LocalVersion:
    """Declaration of a local name, valid until byte `until`.

    `block` is the start of its block. A type parameter is spelled as the type that its constraint names.
    """

    until: int
    block: int
    spelled: str
    is_parameter: bool = False


@dataclass(slots=True)
class _OpenDeclaration:
    """Declaration during the pass over its captures."""

    end: int
    scope: int
    until: int
    block: int
    is_definition: bool
    names: list[tuple[str, Tag, int]] = field(default_factory=list)
    type: str = ""
    values: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)  # of each value whose type has no name
    items: str = ""


class BlockScopes:
    """Reader of the captures of declarations and blocks.

    `next_end` is the next byte at which `close` has work to do.
    """

    def __init__(self, scopes: Scopes, bindings: list[Binding]) -> None:
        self.next_end = _NEVER
        self.taken = -1  # start of the last name that is declared or that means a member, hence no use
        self.handed_on = -1  # start of the last chain that is used as a value
        self._scopes = scopes
        self._bindings = bindings
        self._types = scopes.settings.types
        self._self_name = next(iter(scopes.settings.names.self_names), "")
        self._open: list[_OpenDeclaration] = []
        self._blocks: list[tuple[int, int]] = []  # end, start
        self._switches: list[tuple[int, str]] = []  # end, the name that each case declares
        self._versions: dict[str, list[_LocalVersion]] = {}
        self._last: tuple[str, list[str]] = "", []  # type and values of the last declaration
        self._numbers: dict[tuple[int, str], int] = {}

    @property
    def is_inside(self) -> bool:
        """Return True if a block is open."""
        return bool(self._blocks)

    def handlers(self) -> dict[Tag, Callable[[int, int, int], None]]:
        """Return the handler of each capture of declarations, a function of start byte, end byte and tag."""
        names = (Tag.DECLARATION_NAME, Tag.DECLARATION_MEMBER, Tag.DECLARATION_SELF, Tag.DECLARATION_PARAMETER)
        return {
            Tag.BLOCK: self.on_block,
            Tag.DECLARATION: self.on_declaration,
            **dict.fromkeys(names, self.on_name),
            Tag.DECLARATION_REPEAT: self.on_repeat,
            Tag.DECLARATION_EMBEDDED: self.on_embedded,
            Tag.DECLARATION_TYPE: self.on_type,
            Tag.DECLARATION_VALUE: self.on_value,
            Tag.DECLARATION_ITEMS: self.on_value,
            Tag.DECLARATION_SWITCH: self.on_switch,
            Tag.DECLARATION_ALIAS: self.on_alias,
            Tag.DECLARATION_SUBJECT: self.on_subject,
            Tag.DECLARATION_CASE: self.on_case,
            Tag.TYPE_PARAMETER: self.on_type_parameter,
            Tag.KEY: self.on_key,
            Tag.REFERENCE_VALUE: self.on_handed_on,
        }

    def close(self, position: int) -> None:
        """Close all that ends at or before `position`, declarations before the blocks around them."""
        while self._open and self._open[-1].end <= position:
            self._finish(self._open.pop())
        while self._blocks and self._blocks[-1][0] <= position:
            self._blocks.pop()
        while self._switches and self._switches[-1][0] <= position:
            self._switches.pop()
        self._scopes.local_names.close(position)
        self._set_next_end()

    def open_region(self, end: int) -> None:
        """Open a region of the scopes, which `close` closes."""
        self._scopes.local_names.regions.append(end)
        self._set_next_end()

    def _set_next_end(self) -> None:
        regions = self._scopes.local_names.regions
        self.next_end = min(
            self._open[-1].end if self._open else _NEVER,
            self._blocks[-1][0] if self._blocks else _NEVER,
            regions[-1] if regions else _NEVER,
        )

    # -- captures

    def on_block(self, start: int, end: int, tag: int) -> None:
        """Open a block."""
        self._blocks.append((end, start))
        self._set_next_end()

    def on_declaration(self, start: int, end: int, tag: int) -> None:
        """Open a declaration."""
        frames = self._scopes.frames
        defined = bool(frames) and (frames[-1].start, frames[-1].end) == (start, end) and frames[-1].scope >= 0
        is_function = defined and frames[-1].index == frames[-1].scope
        until, block = self._enclosing_block(start)
        self._open.append(_OpenDeclaration(end, self._scopes.binding_scope(), until, block, is_function))
        self._set_next_end()

    def on_repeat(self, start: int, end: int, tag: int) -> None:
        """Give a constant without a value the type and value of the one before."""
        if self._open:
            self._open[-1].type, self._open[-1].values = self._last[0], [*self._last[1]]

    def on_key(self, start: int, end: int, tag: int) -> None:
        """Record the key of a composite literal: it is no use of a name."""
        self.taken = start

    def on_handed_on(self, start: int, end: int, tag: int) -> None:
        """Record the start of a chain that is used as a value."""
        self.handed_on = start

    def on_name(self, start: int, end: int, tag: int) -> None:
        """Add a name to the open declaration."""
        self.taken = start
        if self._open:
            self._open[-1].names.append((self._scopes.text(start, end), Tag(tag), start))

    def on_type(self, start: int, end: int, tag: int) -> None:
        """Set the type of the open declaration."""
        if self._open:
            self._open[-1].type = self.type_of(start, end)

    def on_value(self, start: int, end: int, tag: int) -> None:
        """Add a value to the open declaration, or set the collection that it ranges over."""
        if self._open:
            opened = self._open[-1]
            made = self._apply_constraints(prefixed.type_of_literal(self._text(start, end)), start)
            chain = "" if made else self.chain_of(start, end)
            if tag == Tag.DECLARATION_ITEMS:
                opened.items, opened.types, opened.end = chain, [*prefixed.key_and_item(made)], end
                self._set_next_end()  # its names are there in the body of the loop
            else:
                opened.values.append(chain)
                opened.types.append(made)

    def on_embedded(self, start: int, end: int, tag: int) -> None:
        """Bind an embedded member, which has the name of its type."""
        scope = self._scopes.binding_scope()
        written = self.type_of(start, end)
        if written and scope >= 0:
            name = written.rpartition(".")[2]
            self._bindings.append(Binding(scope, f".{name}", written, "", self._scopes.row(start)))

    def on_switch(self, start: int, end: int, tag: int) -> None:
        """Open a switch, which is a block too."""
        self._switches.append((end, ""))
        self.on_block(start, end, tag)

    def on_alias(self, start: int, end: int, tag: int) -> None:
        """Record the name that each case of the open switch declares again."""
        if self._switches:
            self._switches[-1] = (self._switches[-1][0], self._scopes.text(start, end))

    def on_subject(self, start: int, end: int, tag: int) -> None:
        """Declare the alias of the open switch with the value of its subject."""
        if self._switches and self._switches[-1][1]:
            until, block = self._enclosing_block(start)
            chain = self.chain_of(start, end)
            self._declare(self._switches[-1][1], self._scopes.binding_scope(), until, block, "", chain, start)

    def on_case(self, start: int, end: int, tag: int) -> None:
        """Declare the alias of the open switch with the type of this case."""
        if self._switches and self._switches[-1][1]:
            until, block = self._enclosing_block(start)
            scope = self._scopes.binding_scope()
            self._declare(self._switches[-1][1], scope, until, block, self.type_of(start, end), "", start)

    def on_type_parameter(self, start: int, end: int, tag: int) -> None:
        """Declare a type parameter whose constraint is unknown."""
        until, block = self._enclosing_block(start)
        self._versions.setdefault(self._scopes.text(start, end), []).append(_LocalVersion(until, block, "", True))

    # -- queries of other readers

    def define(self, name: str, start: int) -> None:
        """Declare a function or type inside of a function, until the enclosing block ends."""
        frame = self._scopes.frames[-1]
        if frame.outer_scope == MODULE_SCOPE:
            return
        ends = [b for b in self._blocks if b[0] >= frame.end and b[1] <= frame.start]
        outer = self._scopes.frames[-2] if len(self._scopes.frames) > 1 else frame
        until, block = min([*ends, (outer.end, outer.start)])
        self._versions.setdefault(name, []).append(_LocalVersion(until, block, name))

    def chain_of(self, start: int, end: int) -> str:
        """Return the chain of the expression at `start`, with its local head spelled."""
        return self.spell(prefixed.chain_of(self._text(start, end), self._types), start)

    def spell(self, chain: str, position: int) -> str:
        """Return `chain` with its head spelled as the declaration visible at `position`."""
        head = _DECLARATION_HEAD.match(chain)
        version = self.visible_declaration(head[0], position) if head else None
        if head is None or version is None:
            return chain
        rest = chain[head.end() :]
        if version.is_parameter and not version.spelled:
            return f"?.{rest.partition('.')[2]}" if "." in rest else ""
        return version.spelled + rest

    def type_of(self, start: int, end: int) -> str:
        """Return the type written at `start`, with type parameters as the types of their constraints."""
        written = self._apply_constraints(prefixed.type_of(self._text(start, end), self._types), start)
        return written if _DECLARATION_HEAD.search(written) else ""

    def _text(self, start: int, end: int) -> str:
        return prefixed.respell(self._scopes.text(start, min(end, start + _MAX_EXPRESSION_BYTES)), self._types)

    def _apply_constraints(self, written: str, start: int) -> str:
        """Return a type with type parameters as the types of their constraints."""

        def constrain(matched: re.Match[str]) -> str:
            version = self.visible_declaration(matched[0].partition(".")[0], start)
            if version is None or not version.is_parameter:
                return matched[0]
            return version.spelled or _ANYTHING

        return _DOTTED.sub(constrain, written)

    def underlying_type_of(self, start: int, end: int) -> str:
        """Return the underlying type of a named type, or "?" if it has no name."""
        return self.type_of(start, end) or "?"

    def is_local(self, name: str, position: int) -> bool:
        """Return True if a name means a parameter or variable rather than a definition."""
        version = self.visible_declaration(name, position)
        return version is not None and version.spelled != name

    def visible_declaration(self, name: str, position: int) -> _LocalVersion | None:
        """Return the declaration of a name at `position`. Positions have to rise from call to call."""
        versions = self._versions.get(name)
        while versions and versions[-1].until <= position:
            versions.pop()
        return versions[-1] if versions else None

    # -- the end of a declaration

    def _enclosing_block(self, position: int) -> tuple[int, int]:
        """Return (end, start) of the innermost block or definition that encloses `position`."""
        around = [(_NEVER, -1), *(b for b in self._blocks[-1:] if b[0] > position)]
        for frame in reversed(self._scopes.frames):
            if frame.index < 0 or frame.scope == frame.index:
                around.append((frame.end, frame.start))
                break
        return min(around)

    def _finish(self, declaration: _OpenDeclaration) -> None:
        if declaration.is_definition:
            return
        self._last = declaration.type, declaration.values
        names, values = declaration.names, declaration.values
        for i, (name, tag, start) in enumerate(names):
            if declaration.items:
                value = f"{declaration.items}[]" if (i == 1) != self._types.items_first else f"{declaration.items}[k]"
            elif len(values) == 1 and len(names) > 1:
                value = f"{values[0]}:{i}" if values[0] else ""
            else:
                value = values[i] if i < len(values) else ""
            written = declaration.type
            if not written and i < len(declaration.types) and len(names) <= len(declaration.types):
                written = declaration.types[i]
            if tag == Tag.DECLARATION_MEMBER:
                self._bindings.append(Binding(declaration.scope, f".{name}", written, value, self._scopes.row(start)))
            elif name != _NOBODY:
                spelled = self._self_name if tag == Tag.DECLARATION_SELF else ""
                if tag == Tag.DECLARATION_PARAMETER:
                    parameter = _LocalVersion(declaration.until, declaration.block, declaration.type, True)
                    self._versions.setdefault(name, []).append(parameter)
                    continue
                self._declare(
                    name,
                    declaration.scope,
                    declaration.until,
                    declaration.block,
                    written,
                    value,
                    start,
                    spelled,
                )

    def _declare(
        self,
        name: str,
        scope: int,
        until: int,
        block: int,
        written: str,
        value: str,
        start: int,
        spelled: str = "",
    ) -> None:
        if scope == MODULE_SCOPE and until == _NEVER:
            self._bindings.append(Binding(scope, name, written, value, self._scopes.row(start)))
            return
        before = self.visible_declaration(name, until - 1)
        if before is not None and before.block == block and not before.is_parameter:
            spelled = before.spelled  # `x, err := f()` after `err` was declared in the same block
        else:
            if not spelled:
                number = self._numbers[scope, name] = self._numbers.get((scope, name), 0) + 1
                spelled = f"{name}~{number}"
            self._versions.setdefault(name, []).append(_LocalVersion(until, block, spelled))
        if spelled != self._self_name:
            self._bindings.append(Binding(scope, spelled, written, value, self._scopes.row(start)))
