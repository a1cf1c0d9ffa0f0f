"""Names of languages with block scope: which declaration a name means where it stands.

The captures of one declaration are read together when it ends, so that several names may share one type or take the
results of one call, and so that `x := x.next()` means the outer x on its right. Every local name is spelled with the
number of its declaration (`x~1`), in bindings as in the chains that use it: a function may declare x in ten blocks with
ten types, and what is not spelled so is no local name. The receiver of a method is spelled as `names.self` says.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from causalist.model.facts import MODULE_SCOPE, Binding
from causalist.parse.syntax import prefix_types as prefixed
from causalist.parse.syntax.captures import Tag
from causalist.parse.syntax.scopes import Scopes

_HEAD = re.compile(r"[^\W\d]\w*")
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*(?![\w.:])")  # but not the name of a field
_LONGEST = 4000  # bytes of a type or value that are looked at
_NEVER = sys.maxsize
_NOBODY = "_"
_ANYTHING = "any"  # the type of a type parameter that is not constrained to a named type: nothing has members of it


@dataclass(slots=True)
class _Version:
    """One declaration of a local name, until byte `until`; `block` tells blocks apart. A type parameter is spelled as
    what its constraint names."""

    until: int
    block: int
    spelled: str
    is_parameter: bool = False


@dataclass(slots=True)
class _Open:
    """A declaration while the sweep is inside of it."""

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


class Declarations:
    """Reads the captures of declarations and blocks; `next_end` is the byte at which `close` has something to do."""

    def __init__(self, scopes: Scopes, bindings: list[Binding]) -> None:
        self.next_end = _NEVER
        self.taken = -1  # start of the last name that is declared or that means a member, hence no use
        self.handed_on = -1  # start of the last chain that is used as a value
        self._scopes = scopes
        self._bindings = bindings
        self._types = scopes.settings.types
        self._self_name = next(iter(scopes.settings.names.self_names), "")
        self._open: list[_Open] = []
        self._blocks: list[tuple[int, int]] = []  # end, start
        self._switches: list[tuple[int, str]] = []  # end, the name that each case declares
        self._versions: dict[str, list[_Version]] = {}
        self._last: tuple[str, list[str]] = "", []  # type and values of the last declaration
        self._numbers: dict[tuple[int, str], int] = {}

    @property
    def is_inside(self) -> bool:
        """Whether a block is open."""
        return bool(self._blocks)

    def handlers(self) -> dict[Tag, Callable[[int, int, int], None]]:
        """What reads each capture of declarations: start byte, end byte and tag in."""
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
        """Ends what ends at or before `position`, declarations before the blocks that they stand in."""
        while self._open and self._open[-1].end <= position:
            self._finish(self._open.pop())
        while self._blocks and self._blocks[-1][0] <= position:
            self._blocks.pop()
        while self._switches and self._switches[-1][0] <= position:
            self._switches.pop()
        self._set_next_end()

    def _set_next_end(self) -> None:
        self.next_end = min(
            self._open[-1].end if self._open else _NEVER, self._blocks[-1][0] if self._blocks else _NEVER
        )

    # -- captures

    def on_block(self, start: int, end: int, tag: int) -> None:
        self._blocks.append((end, start))
        self._set_next_end()

    def on_declaration(self, start: int, end: int, tag: int) -> None:
        frames = self._scopes.frames
        defined = bool(frames) and (frames[-1].start, frames[-1].end) == (start, end) and frames[-1].scope >= 0
        is_function = defined and frames[-1].index == frames[-1].scope
        until, block = self._around(start)
        self._open.append(_Open(end, self._scopes.binding_scope(), until, block, is_function))
        self._set_next_end()

    def on_repeat(self, start: int, end: int, tag: int) -> None:
        """A constant without a value has the type and value of the one before."""
        if self._open:
            self._open[-1].type, self._open[-1].values = self._last[0], [*self._last[1]]

    def on_key(self, start: int, end: int, tag: int) -> None:
        self.taken = start

    def on_handed_on(self, start: int, end: int, tag: int) -> None:
        self.handed_on = start

    def on_name(self, start: int, end: int, tag: int) -> None:
        self.taken = start
        if self._open:
            self._open[-1].names.append((self._scopes.text(start, end), Tag(tag), start))

    def on_type(self, start: int, end: int, tag: int) -> None:
        if self._open:
            self._open[-1].type = self.type_of(start, end)

    def on_value(self, start: int, end: int, tag: int) -> None:
        if self._open:
            opened = self._open[-1]
            made = self._constrained(prefixed.type_of_literal(self._text(start, end)), start)
            chain = "" if made else self.chain_of(start, end)
            if tag == Tag.DECLARATION_ITEMS:
                opened.items, opened.types = chain, [*prefixed.key_and_item(made)]
            else:
                opened.values.append(chain)
                opened.types.append(made)

    def on_embedded(self, start: int, end: int, tag: int) -> None:
        """A member that has the name of its type."""
        scope = self._scopes.binding_scope()
        written = self.type_of(start, end)
        if written and scope >= 0:
            name = written.rpartition(".")[2]
            self._bindings.append(Binding(scope, f".{name}", written, "", self._scopes.row(start)))

    def on_switch(self, start: int, end: int, tag: int) -> None:
        self._switches.append((end, ""))
        self.on_block(start, end, tag)

    def on_alias(self, start: int, end: int, tag: int) -> None:
        """The name that each case of the open switch declares anew; elsewhere it is what is switched upon."""
        if self._switches:
            self._switches[-1] = (self._switches[-1][0], self._scopes.text(start, end))

    def on_subject(self, start: int, end: int, tag: int) -> None:
        if self._switches and self._switches[-1][1]:
            until, block = self._around(start)
            chain = self.chain_of(start, end)
            self._declare(self._switches[-1][1], self._scopes.binding_scope(), until, block, "", chain, start)

    def on_case(self, start: int, end: int, tag: int) -> None:
        if self._switches and self._switches[-1][1]:
            until, block = self._around(start)
            scope = self._scopes.binding_scope()
            self._declare(self._switches[-1][1], scope, until, block, self.type_of(start, end), "", start)

    def on_type_parameter(self, start: int, end: int, tag: int) -> None:
        until, block = self._around(start)
        self._versions.setdefault(self._scopes.text(start, end), []).append(_Version(until, block, "", True))

    # -- what others ask

    def define(self, name: str, start: int) -> None:
        """A function or type that is defined inside of a function: its name means it until the block around ends."""
        frame = self._scopes.frames[-1]
        if frame.outer_scope == MODULE_SCOPE:
            return
        ends = [b for b in self._blocks if b[0] >= frame.end and b[1] <= frame.start]
        outer = self._scopes.frames[-2] if len(self._scopes.frames) > 1 else frame
        until, block = min([*ends, (outer.end, outer.start)])
        self._versions.setdefault(name, []).append(_Version(until, block, name))

    def chain_of(self, start: int, end: int) -> str:
        """The chain of the expression at `start`, its local head spelled."""
        return self.spell(prefixed.chain_of(self._text(start, end), self._types), start)

    def spell(self, chain: str, position: int) -> str:
        """`chain` with its head as the declaration that is visible at `position` has it."""
        head = _HEAD.match(chain)
        version = self.visible(head[0], position) if head else None
        if head is None or version is None:
            return chain
        rest = chain[head.end() :]
        if version.is_parameter and not version.spelled:
            return f"?.{rest.partition('.')[2]}" if "." in rest else ""
        return version.spelled + rest

    def type_of(self, start: int, end: int) -> str:
        """The type that is written at `start`, its type parameters as what their constraints name."""
        written = self._constrained(prefixed.type_of(self._text(start, end)), start)
        return written if _HEAD.search(written) else ""

    def _text(self, start: int, end: int) -> str:
        return self._scopes.text(start, min(end, start + _LONGEST))

    def _constrained(self, written: str, start: int) -> str:
        """A type with its type parameters as what their constraints name."""

        def constrained(matched: re.Match[str]) -> str:
            version = self.visible(matched[0].partition(".")[0], start)
            if version is None or not version.is_parameter:
                return matched[0]
            return version.spelled or _ANYTHING

        return _DOTTED.sub(constrained, written)

    def made_of(self, start: int, end: int) -> str:
        """The type that a named type is made of; "?" for one that no name tells."""
        return self.type_of(start, end) or "?"

    def is_local(self, name: str, position: int) -> bool:
        """Whether a name means a parameter or variable, rather than something that is defined."""
        version = self.visible(name, position)
        return version is not None and version.spelled != name

    def visible(self, name: str, position: int) -> _Version | None:
        """The declaration that a name means at `position`. Positions have to rise from call to call."""
        versions = self._versions.get(name)
        while versions and versions[-1].until <= position:
            versions.pop()
        return versions[-1] if versions else None

    # -- the end of a declaration

    def _around(self, position: int) -> tuple[int, int]:
        """(end, start) of the innermost block or definition that a name declared at `position` is visible in."""
        around = [(_NEVER, -1), *(b for b in self._blocks[-1:] if b[0] > position)]
        for frame in reversed(self._scopes.frames):
            if frame.index < 0 or frame.scope == frame.index:
                around.append((frame.end, frame.start))
                break
        return min(around)

    def _finish(self, declaration: _Open) -> None:
        if declaration.is_definition:
            return
        self._last = declaration.type, declaration.values
        names, values = declaration.names, declaration.values
        for i, (name, tag, start) in enumerate(names):
            if declaration.items:
                value = f"{declaration.items}[]" if i == 1 else f"{declaration.items}[k]"
            elif len(values) == 1 and len(names) > 1:
                value = f"{values[0]}:{i}" if values[0] else ""
            else:
                value = values[i] if i < len(values) else ""
            row = self._scopes.row(start)
            written = declaration.type
            if not written and i < len(declaration.types) and len(names) <= len(declaration.types):
                written = declaration.types[i]
            if tag == Tag.DECLARATION_MEMBER:
                self._bindings.append(Binding(declaration.scope, f".{name}", written, value, row))
            elif name != _NOBODY:
                spelled = self._self_name if tag == Tag.DECLARATION_SELF else ""
                if tag == Tag.DECLARATION_PARAMETER:
                    parameter = _Version(declaration.until, declaration.block, declaration.type, True)
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
        before = self.visible(name, until - 1)
        if before is not None and before.block == block and not before.is_parameter:
            spelled = before.spelled  # `x, err := f()` after `err` was declared in the same block
        else:
            if not spelled:
                number = self._numbers[scope, name] = self._numbers.get((scope, name), 0) + 1
                spelled = f"{name}~{number}"
            self._versions.setdefault(name, []).append(_Version(until, block, spelled))
        if spelled != self._self_name:
            self._bindings.append(Binding(scope, spelled, written, value, self._scopes.row(start)))
