"""One pass over the sorted captures of a file: captures in, definitions, uses, imports and bindings out.

Captures are sorted by (start, longest first), so that a definition comes before everything inside of it and a stack
of open definitions knows the scope of each use. The syntax tree is not asked again: texts are cut from the bytes by
range, which costs half of climbing parents and decoding nodes.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import tree_sitter

from causalist.model.facts import (
    MODULE_SCOPE,
    Base,
    Binding,
    Call,
    Definition,
    Diagnostic,
    Export,
    Import,
    ImportKind,
    Reference,
)
from causalist.model.language import LanguageSettings
from causalist.model.symbols import TYPE_KINDS, NodeKind
from causalist.parse.captures import DEFINITION_KINDS, TAG_OF_CAPTURE, Tag
from causalist.parse.chains import chain_of, type_name
from causalist.parse.docs import comment_line, file_comment_line, string_line
from causalist.parse.imports import ImportGroup

Event = tuple[int, int, int]  # start byte, minus end byte, Tag
_Handler = Callable[[int, int, int], None]  # start byte, end byte, Tag

_CHAIN_BYTES = re.compile(rb"[\w$]+(?:\s*\??\.\s*[\w$]+)*")
_OBJECT_ENTRY = re.compile(r"[{,]\s*([\w$]+)\s*(?::\s*([\w$.]+)\s*)?(?=[,}])")
_LONGEST_SIGNATURE = 240
_LONGEST_VALUE = 2000  # bytes of a bound value that are looked at


@dataclass(slots=True)
class _Frame:
    """An open definition or holder. `index` is MODULE_SCOPE for a holder; `scope` is where calls inside belong."""

    start: int
    end: int
    index: int
    scope: int
    outer_scope: int
    prefix: str
    named: bool
    body: int = -1


@dataclass(slots=True)
class _Draft:
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
    returns: str = ""
    is_property: bool = False  # called by naming it


class Sweep:
    """The state of one pass. Call `run` once, then read the lists."""

    def __init__(self, data: bytes, settings: LanguageSettings) -> None:
        self.data = data
        self.settings = settings
        self.newlines = [m.start() for m in re.finditer(rb"\n", data)]
        self.drafts: list[_Draft] = []
        self.bases: list[Base] = []
        self.calls: list[Call] = []
        self.references: list[tuple[int, int, int]] = []
        self.imports: list[Import] = []
        self.exports: list[Export] = []
        self.bindings: list[Binding] = []
        self.errors: list[int] = []
        self.doc = ""
        self._frames: list[_Frame] = []
        self._globals: set[tuple[int, str]] = set()
        self._group: ImportGroup | None = None
        self._span: tuple[int, int] | None = None
        self._comment = (-1, -1, -1, -1)  # start byte, end byte, first row, last row of the last comment block
        self._taken = -1  # start of the last name that is not a use
        self._chain_end = -1  # uses before this byte belong to a callee that was read whole
        self._binding_end = -1
        self._type_end = -1
        self._pattern: tuple[int, list[tuple[int, str]]] | None = None
        self._key = ""
        self._value: tuple[int, str, list[tuple[int, str]]] | None = None
        self._exports: tuple[int, str] | None = None
        self._require = -1

    def run(self, captures: Mapping[str, Sequence[tree_sitter.Node]]) -> None:
        """Reads all captures of the file's combined query."""
        events: list[Event] = []
        for name, nodes in captures.items():
            tag = int(TAG_OF_CAPTURE[name])
            events += [(node.start_byte, -node.end_byte, tag) for node in nodes]
        events.sort()
        handlers = {int(tag): handler for tag, handler in self._handlers().items()}
        frames = self._frames
        previous: Event = (-1, -1, -1)
        for event in events:
            if event == previous:
                continue
            previous = event
            start = event[0]
            while frames and frames[-1].end <= start:
                frames.pop()
            if self._group is not None and self._group.end <= start:
                self._close_group()
            handlers[event[2]](start, -event[1], event[2])
        if self._group is not None:
            self._close_group()
        if self._globals:
            self.bindings = [b for b in self.bindings if (b.scope, b.target) not in self._globals]

    def definitions(self) -> list[Definition]:
        return [
            Definition(
                name=d.name.rpartition(".")[2],
                qualname=d.qualname,
                kind=int(d.kind),
                parent=d.parent,
                start_byte=d.span_start,
                end_byte=d.end,
                start_row=self.row(d.span_start),
                end_row=self.row(max(d.end - 1, d.start)),
                signature=self._signature(d),
                doc=d.doc,
            )
            for d in self.drafts
        ]

    def returns(self) -> list[tuple[int, str]]:
        return [(i, d.returns) for i, d in enumerate(self.drafts) if d.returns]

    def local_references(self) -> list[Reference]:
        """Uses of names that this file binds at its top or imports; others lead nowhere and are not kept."""
        known = {i.alias or i.module.partition(".")[0] for i in self.imports}
        known.update(d.name for d in self.drafts)
        result = []
        for scope, start, end in self.references:
            if self.text(start, end) in known:
                matched = _CHAIN_BYTES.match(self.data, start)
                if matched:
                    chain = re.sub(r"[\s?]+", "", self.text(start, matched.end()))
                    result.append(Reference(scope, chain, self.row(start)))
        return result

    def text(self, start: int, end: int) -> str:
        return self.data[start:end].decode("utf-8", "replace")

    def row(self, byte: int) -> int:
        return bisect_right(self.newlines, byte - 1) if byte else 0

    # -- scopes

    def _scope(self) -> int:
        """Where a use belongs: the innermost definition that is code, seen from inside its body."""
        if not self._frames:
            return MODULE_SCOPE
        frame = self._frames[-1]
        if self.settings.names.scope_starts_at_body and frame.body < 0:
            return frame.outer_scope
        return frame.scope

    def _handlers(self) -> dict[Tag, _Handler]:
        handlers: dict[Tag, _Handler] = {
            Tag.SPAN: self._on_span,
            Tag.PROPERTY: self._on_property,
            Tag.HOLDER: self._on_holder,
            Tag.REEXPORT: self._on_group,
            Tag.IMPORT: self._on_group,
            Tag.EXPORT: self._on_group,
            Tag.NAME: self._on_name,
            Tag.BODY: self._on_body,
            Tag.DOC: self._on_doc,
            Tag.COMMENT: self._on_comment,
            Tag.RETURNS: self._on_returns,
            Tag.BASE: self._on_base,
            Tag.IMPLEMENTS: self._on_base,
            Tag.BINDING: self._on_binding,
            Tag.BINDING_ITEM: self._on_binding,
            Tag.BINDING_PROPERTY: self._on_binding,
            Tag.BINDING_PATTERN: self._on_pattern,
            Tag.BINDING_KEY: self._on_key,
            Tag.BINDING_TYPE: self._on_type,
            Tag.BINDING_VALUE: self._on_value,
            Tag.GLOBAL: self._on_global,
            Tag.EXPORTS: self._on_exports,
            Tag.EXPORTS_VALUE: self._on_exports_value,
            Tag.EXPORT_DEFAULT: self._on_export_default,
            Tag.CALL: self._on_call,
            Tag.REQUIRE: self._on_require,
            Tag.REQUIRE_MODULE: self._on_require_module,
            Tag.REFERENCE: self._on_reference,
            Tag.ERROR: self._on_error,
        }
        handlers.update(dict.fromkeys(DEFINITION_KINDS, self._on_definition))
        handlers.update({tag: self._on_import_part for tag in Tag if Tag.IMPORT_STAR <= tag <= Tag.IMPORT_NAMESPACE})
        return handlers

    def _on_span(self, start: int, end: int, tag: int) -> None:
        if self._span is None or end > self._span[1]:
            self._span = (start, end)

    def _on_definition(self, start: int, end: int, tag: int) -> None:
        frames = self._frames
        if frames and frames[-1].start == start and frames[-1].end == end:
            return  # the same node under a kind that comes first
        parent, scope, prefix = MODULE_SCOPE, MODULE_SCOPE, ""
        if frames:
            parent, scope, prefix = self._enclosing(frames[-1])
        kind = DEFINITION_KINDS[Tag(tag)]
        if kind is NodeKind.FUNCTION and parent >= 0 and self.drafts[parent].kind in TYPE_KINDS:
            kind = NodeKind.METHOD
        span_start = start
        if self._span is not None and self._span[0] <= start and end <= self._span[1]:
            span_start = self._span[0]
        self._span = None
        index = len(self.drafts)
        draft = _Draft(kind, parent, start, end, span_start, prefix)
        first_row = self.row(span_start)
        if self.settings.comments.doc == "comment" and first_row - 1 <= self._comment[3] <= first_row:
            draft.doc = comment_line(self.text(self._comment[0], self._comment[1]))
        self.drafts.append(draft)
        is_value = kind in (NodeKind.CONSTANT, NodeKind.FIELD)
        frames.append(_Frame(start, end, index, scope if is_value else index, scope, prefix if is_value else "", False))

    def _enclosing(self, frame: _Frame) -> tuple[int, int, str]:
        """(parent definition, scope of uses, prefix of names) for what stands inside `frame`."""
        return frame.scope if frame.prefix == "" or frame.scope >= 0 else MODULE_SCOPE, frame.scope, frame.prefix

    def _on_holder(self, start: int, end: int, tag: int) -> None:
        frames = self._frames
        if frames and frames[-1].start == start and frames[-1].end == end:
            frame = frames[-1]  # a constant or field that holds an object: it names what is inside
            frame.prefix = self.drafts[frame.index].qualname
            return
        scope, prefix = (frames[-1].scope, frames[-1].prefix) if frames else (MODULE_SCOPE, "")
        frames.append(_Frame(start, end, MODULE_SCOPE, scope, scope, prefix, False, start))

    def _on_property(self, start: int, end: int, tag: int) -> None:
        if self._frames and self._frames[-1].index >= 0 and self._frames[-1].end == end:
            self.drafts[self._frames[-1].index].is_property = True

    def _on_name(self, start: int, end: int, tag: int) -> None:
        self._taken = start
        if not self._frames or self._frames[-1].named:
            return
        frame = self._frames[-1]
        frame.named = True
        self._set_name(frame, self._clean_name(self.text(start, end)))

    def _set_name(self, frame: _Frame, name: str) -> None:
        qualname = f"{frame_prefix}.{name}" if (frame_prefix := self._outer_prefix(frame)) else name
        if frame.index < 0:
            frame.prefix = qualname
            return
        draft = self.drafts[frame.index]
        draft.name, draft.qualname = name, qualname
        if draft.kind not in (NodeKind.CONSTANT, NodeKind.FIELD):
            frame.prefix = qualname

    def _outer_prefix(self, frame: _Frame) -> str:
        return frame.prefix if frame.index < 0 else self.drafts[frame.index].prefix

    def _clean_name(self, name: str) -> str:
        names = self.settings.names
        name = "".join(name.split()).strip("\"'")
        for prefix in names.assigned_prefixes:
            if name.startswith(prefix):
                name = name[len(prefix) :]
                break
            if name == prefix[:-1] and "." in name:
                return "default"
        for infix in names.assigned_infixes:
            name = name.replace(infix + ".", ".")
        return name or "default"

    def _name_anonymous(self, frame: _Frame) -> None:
        frame.named = True
        self._set_name(frame, "default")

    def _on_body(self, start: int, end: int, tag: int) -> None:
        if self._frames and self._frames[-1].body < 0:
            frame = self._frames[-1]
            if not frame.named:
                self._name_anonymous(frame)
            frame.body = start
            if frame.index >= 0:
                self.drafts[frame.index].body = start

    def _on_doc(self, start: int, end: int, tag: int) -> None:
        line = string_line(self.text(start, min(end, start + 2000)))
        if self._frames and self._frames[-1].index >= 0:
            self.drafts[self._frames[-1].index].doc = line
        else:
            self.doc = self.doc or line

    def _on_comment(self, start: int, end: int, tag: int) -> None:
        first, last = self.row(start), self.row(max(end - 1, start))
        if first == self._comment[3] + 1 and self.data[start : start + 2] == b"//":
            self._comment = (self._comment[0], end, self._comment[2], last)
        else:
            self._comment = (start, end, first, last)
        if not self.drafts and not self.doc and first <= 5:
            self.doc = file_comment_line(self.text(start, end))

    def _on_returns(self, start: int, end: int, tag: int) -> None:
        if self._frames and self._frames[-1].index >= 0 and self._frames[-1].body < 0:
            self.drafts[self._frames[-1].index].returns = type_name(self.text(start, min(end, start + 200)))

    def _on_base(self, start: int, end: int, tag: int) -> None:
        if self._frames and self._frames[-1].index >= 0:
            chain = chain_of(self.text(start, end))
            if chain:
                self.bases.append(Base(self._frames[-1].index, chain, tag == Tag.IMPLEMENTS, self.row(start)))
        # The name is a use as well, found again as a reference; the edge for the base says more.
        self._chain_end = max(self._chain_end, end)

    # -- imports and exports

    def _on_group(self, start: int, end: int, tag: int) -> None:
        if self._group is None:
            self._group = ImportGroup(Tag(tag), end, self._scope(), self.row(start))

    def _on_import_part(self, start: int, end: int, tag: int) -> None:
        if self._group is not None:
            self._group.parts.append((Tag(tag), "".join(self.text(start, end).split()).strip("\"'"), self.row(start)))

    def _close_group(self) -> None:
        assert self._group is not None
        imports, exports = self._group.finish()
        self.imports += imports
        self.exports += exports
        self._group = None
        self._span = None

    def _on_exports(self, start: int, end: int, tag: int) -> None:
        left = "".join(self.text(start, min(end, start + 200)).split())
        for prefix in self.settings.names.assigned_prefixes:
            if prefix.endswith("exports.") and (left.startswith(prefix) or left == prefix[:-1]):
                self._exports = (end, left[len(prefix) :] or "default")
                return

    def _on_exports_value(self, start: int, end: int, tag: int) -> None:
        if self._exports is None or not 0 <= start - self._exports[0] <= 4:
            return
        name, row = self._exports[1], self.row(start)
        self._exports = None
        value = self.text(start, min(end, start + _LONGEST_VALUE))
        if value.startswith("{"):
            self.exports += [Export(m[2] or m[1], m[1], row) for m in _OBJECT_ENTRY.finditer(value)]
        else:
            self.exports.append(Export(chain_of(value), name, row))

    def _on_export_default(self, start: int, end: int, tag: int) -> None:
        chain = chain_of(self.text(start, min(end, start + _LONGEST_VALUE)))
        if chain and not chain.endswith(")"):
            self.exports.append(Export(chain, "default", self.row(start)))

    def _on_require(self, start: int, end: int, tag: int) -> None:
        called = self.text(start, min(end, start + 40))
        self._require = start if called in (self.settings.modules.require, "import") else -1

    def _on_require_module(self, start: int, end: int, tag: int) -> None:
        if self._require < 0:
            return
        module, scope, row = self.text(start, end), self._scope(), self.row(start)
        value = self._value
        if value is None or value[0] != self._require or not value[1].startswith(f"{self.settings.modules.require}()"):
            self.imports.append(Import(scope, ImportKind.SIDE_EFFECT, module, 0, "", "", row))
            return
        member = value[1].partition("().")[2]
        for position, key in value[2]:
            alias = self.bindings[position].target
            name = ".".join(part for part in (member, key) if part)
            kind = ImportKind.NAME if name else ImportKind.MODULE
            self.imports.append(Import(scope, kind, module, 0, name, alias, row))
        gone = {position for position, _ in value[2]}
        self.bindings = [b for i, b in enumerate(self.bindings) if i not in gone]
        self._value = None

    # -- names that get values

    def _on_pattern(self, start: int, end: int, tag: int) -> None:
        self._pattern = (end, [])

    def _on_key(self, start: int, end: int, tag: int) -> None:
        self._key = self.text(start, end)

    def _on_binding(self, start: int, end: int, tag: int) -> None:
        self._taken = start
        name = "".join(self.text(start, min(end, start + 200)).split())
        scope = self._binding_scope()
        if tag == Tag.BINDING_PROPERTY:
            name = f".{name}"
        else:
            head, dot, rest = name.partition(".")
            if dot:
                if head not in self.settings.names.self_names or "." in rest or "(" in rest or "[" in rest:
                    return
                name = f".{rest}"
        if self._pattern is not None and end <= self._pattern[0]:
            self._pattern[1].append((len(self.bindings), self._key or name))
        self._key = ""
        self._binding_end = end if tag != Tag.BINDING_ITEM else -1
        self._type_end = -1
        self.bindings.append(Binding(scope, name, "", "", self.row(start)))

    def _binding_scope(self) -> int:
        """Parameters stand before the body but belong to the function."""
        for frame in reversed(self._frames):
            if frame.index >= 0 and self.drafts[frame.index].kind not in (NodeKind.CONSTANT, NodeKind.FIELD):
                return frame.index
        return MODULE_SCOPE

    def _on_type(self, start: int, end: int, tag: int) -> None:
        if self._binding_end >= 0 and 0 < start - self._binding_end <= 4:
            name = type_name(self.text(start, min(end, start + 200)))
            self.bindings[-1] = self.bindings[-1]._replace(type=name)
            self._type_end = end

    def _on_value(self, start: int, end: int, tag: int) -> None:
        targets: list[tuple[int, str]] = []
        if self._pattern is not None and 0 < start - self._pattern[0] <= 4:
            targets = self._pattern[1]
            self._pattern = None
        elif self._binding_end >= 0 and 0 < start - max(self._binding_end, self._type_end) <= 4 and self.bindings:
            targets = [(len(self.bindings) - 1, "")]
        self._binding_end = -1
        if not targets:
            return
        chain = chain_of(self.text(start, min(end, start + _LONGEST_VALUE)))
        self._value = (start, chain, targets)
        for position, key in targets:
            value = f"{chain}.{key}" if key and chain else chain
            self.bindings[position] = self.bindings[position]._replace(value=value)

    def _on_global(self, start: int, end: int, tag: int) -> None:
        self._globals.add((self._binding_scope(), self.text(start, end)))
        self._taken = start

    # -- uses

    def _on_call(self, start: int, end: int, tag: int) -> None:
        chain = chain_of(self.text(start, end))
        if chain:
            self.calls.append(Call(self._scope(), chain, self.row(max(end - 1, start))))
            if "(" not in chain and "?" not in chain:
                self._chain_end = max(self._chain_end, end)

    def _on_reference(self, start: int, end: int, tag: int) -> None:
        if start == self._taken or start < self._chain_end or self._group is not None:
            return
        data = self.data
        if start and data[start - 1] == 46:  # a member of what stands before the dot
            return
        if data[end : end + 1] == b"=" and data[end + 1 : end + 2] not in (b"=", b">"):
            return  # the name of a keyword argument
        self.references.append((self._scope(), start, end))

    def _on_error(self, start: int, end: int, tag: int) -> None:
        self.errors.append(self.row(start))

    def _signature(self, draft: _Draft) -> str:
        end = draft.body if draft.body >= 0 else min(draft.end, draft.start + _LONGEST_SIGNATURE)
        text = self.text(draft.start, min(end, draft.start + 4 * _LONGEST_SIGNATURE))
        if draft.body < 0:
            text = text.partition("\n")[0]
        text = " ".join(text.split()).rstrip(" :{=>").rstrip()
        return text if len(text) <= _LONGEST_SIGNATURE else text[: _LONGEST_SIGNATURE - 1] + "…"

    def diagnostics(self) -> list[Diagnostic]:
        if not self.errors:
            return []
        row = min(self.errors)
        many = f"{len(self.errors)} places" if len(self.errors) > 1 else "one place"
        return [Diagnostic("syntax-error", f"{many} could not be parsed, the first in line {row + 1}", row)]
