"""One pass over the sorted captures of a file: captures in, facts out.

Captures are sorted by (start, longest first): a definition comes before everything inside of it, and a stack of open
definitions knows the scope of each use. Texts are cut from the bytes by range, which costs half of climbing to parents
in the syntax tree and decoding nodes.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MethodType
from typing import cast

import tree_sitter

from causalist.model.facts import MODULE_SCOPE, Binding, Definition, Export
from causalist.model.language_settings import LanguageSettings
from causalist.model.node_ids import CALLABLE_KINDS, OPENED, TYPE_KINDS, NodeKind, escape_name
from causalist.model.type_notation import OPTIONAL, PREDICATE, split_generic
from causalist.parse.syntax.accesses import AccessReader
from causalist.parse.syntax.argument_forms import add_clause, named_type
from causalist.parse.syntax.arguments import declared_type
from causalist.parse.syntax.bases_and_signatures import (
    BaseReader,
    HandlerNames,
    ImplementationReader,
    LateNames,
    LeadingAttributes,
    find_late_names,
    name_by_base,
    selector_of,
    signature_of,
)
from causalist.parse.syntax.bindings import BindingReader
from causalist.parse.syntax.capture_names import (
    ATTRIBUTES_AHEAD,
    DEFINITION_KINDS,
    IMPORT_PARTS,
    TAG_OF_CAPTURE,
    Event,
    JoinedNodes,
    Tag,
    end_by_layout,
    events_of,
)
from causalist.parse.syntax.chains import array_type_name, type_name
from causalist.parse.syntax.doc_comments import (
    DocTypeReader,
    comment_doc,
    comment_line,
    file_comment_line,
    read_pod,
    string_line,
)
from causalist.parse.syntax.go_like_types import read_method_types
from causalist.parse.syntax.imports import ImportReader, read_delegate
from causalist.parse.syntax.open_scopes import (
    ANONYMOUS,
    VALUE_KINDS,
    BlockScopes,
    DefinitionDraft,
    Frame,
    Scopes,
    move_last,
)
from causalist.parse.syntax.shadowed_names import count_parameters, find_held_prototypes
from causalist.parse.syntax.typed_expressions import PlaceReader
from causalist.parse.syntax.uses import UseReader
from causalist.parse.syntax.whole_calls import parameter_type

_MAX_HEAD_BYTES = 2000  # bytes of a member in which its parameters are looked for
_NO_WORD = re.compile(r"\W")
_PREDICATE = re.compile(r"(?:asserts\s+)?[\w$]+\s+is\s+")  # `x is T`
_Handler = Callable[[int, int, int], None]  # start byte, end byte, Tag
# By what it depends on: tag -> number of a reader, and its method. To bind the few that a file needs takes less time.
_METHODS: dict[tuple[bool, bool], dict[int, tuple[int, Callable[..., None]]]] = {}


class FactCollector:
    """State of one pass. Call `run` once, then read the lists."""

    def __init__(self, data: bytes, settings: LanguageSettings) -> None:
        self.data = data
        self.settings = settings
        self.errors: list[int] = []
        self.doc = ""
        self.package = ""
        self.scopes = Scopes(data, settings)
        self.binding_reader = BindingReader(self.scopes)
        self.block_scopes = BlockScopes(self.scopes, self.binding_reader.bindings)
        self.import_reader = ImportReader(self.scopes, self.binding_reader)
        self.use_reader = UseReader(self.scopes, self.binding_reader, self.import_reader, self.block_scopes)
        self.access_reader = AccessReader(
            self.scopes, self.binding_reader, self.import_reader, self.use_reader, self.block_scopes
        )
        self.drafts = self.scopes.drafts
        self.text, self.row = self.scopes.text, self.scopes.row
        self._frames = self.scopes.frames
        self.base_reader = BaseReader(self.scopes)
        self.bases = self.base_reader.bases
        self._doc_types = DocTypeReader(self.scopes, self.binding_reader.bindings, self.use_reader.calls)
        self._implementations = ImplementationReader(self.scopes)
        self.implementations = self._implementations.list_implementations
        self._span: tuple[int, int] | None = None
        self._attributes = LeadingAttributes(self.scopes)
        self._late_names = LateNames(self.scopes)
        self._handler_names = HandlerNames(self.scopes)
        self._doc_start = -1  # start of the last comment that documents its enclosing definition
        self._comment = (-1, -1, -9, -9)  # start byte, end byte, first row, last row of the last comment block
        self._comment_taken = -1  # start byte of the last comment whose words went to a definition
        self._line_marks = tuple(mark.encode() for mark in settings.comments.line)
        self._prefixed = settings.types.prefixed
        self._sigil = settings.names.sigil
        # The name of constructors, where they are written with the name of their type.
        names = settings.names
        self._constructor = names.constructors[0] if names.constructors and "*" in names.initializers else ""
        self._is_laid_out = False  # broken code whose indentation says where definitions end
        self._namespaces: list[tuple[int, str]] = []  # number of the first definition, and name, of further ones
        self._unnamed = dict(settings.names.unnamed)
        self._held = dict(settings.types.held)

    def run(self, captures: Mapping[str, Sequence[tree_sitter.Node]], end_byte: int) -> None:
        """Read all captures of the combined query of the file, whose tree ends at `end_byte`."""
        self._is_laid_out = self.settings.modules.opened and "error" in captures
        links = JoinedNodes(captures) if "link.of" in captures or "body.apart" in captures else None
        events = events_of(captures, len(self.data), end_byte, self.scopes.source, links)
        if links is not None:
            self.scopes.receivers = links.receivers
        if "name.behind" in captures:
            self._late_names.behind = find_late_names(events)
        handlers = self._handlers_of(captures)
        frames, modules, declared, uses = self._frames, self.import_reader, self.block_scopes, self.use_reader
        reference = int(Tag.REFERENCE)
        previous: Event = (-1, -1, -1)
        for event in events:
            start, _, tag = event
            # Most captures are names, and most names belong to something that is read already.
            if (tag == reference and start < uses.skipped_to) or event == previous:
                continue
            previous = event
            if declared.next_end <= start:
                declared.close(start)
            while frames and frames[-1].end <= start:
                frames.pop()
            if modules.group is not None and modules.group.end <= start:
                self._close_group()
            handlers[tag](start, -event[1], tag)
        declared.close(len(self.data))
        if modules.group is not None:
            self._close_group()
        self.base_reader.finish()
        self._doc_types.finish()
        self.import_reader.add_types(self._doc_types.imports)
        self.import_reader.finish()
        self.use_reader.finish()
        self.access_reader.finish()
        self.binding_reader.finish()

    def definitions(self) -> list[Definition]:
        """Return the definitions, in file order."""
        told = read_pod(self.scopes.source) if self.settings.comments.doc == "pod" else {}
        return [
            Definition(
                # In broken source the parser may put in a name that has no text.
                name=d.name if d.kind is NodeKind.HANDLER else d.name.rpartition(".")[2] or ANONYMOUS,
                qualname=d.qualname or ".".join(part for part in (d.prefix, ANONYMOUS) if part),
                kind=int(d.kind),
                parent=d.parent,
                start_byte=d.span_start,
                end_byte=d.end,
                start_row=self.row(d.span_start),
                end_row=self.row(max(d.end - 1, d.start)),
                signature=signature_of(d, self.scopes),
                doc=d.doc or told.get(d.qualname if d.kind in TYPE_KINDS else d.name, ""),
                text_byte=d.text_start if d.text_start >= 0 else d.span_start,
            )
            for d in self.drafts
        ]

    def owners(self) -> list[tuple[int, str]]:
        """Return (definition, type it belongs to) for definitions outside of their type."""
        prototypes = find_held_prototypes(self.binding_reader.bindings, self.settings.names.assigned_infixes)
        if prototypes:  # `const p = A.prototype; p.m = function`: m is of A
            for draft in self.drafts:
                holder, dot, name = draft.qualname.partition(".")
                if dot and "." not in name and draft.parent == MODULE_SCOPE and holder in prototypes:
                    draft.owner = prototypes[holder]
        return [(i, d.owner) for i, d in enumerate(self.drafts) if d.owner]

    def parameters(self) -> list[tuple[int, tuple[str, ...]]]:
        """Return (definition, annotations of its parameters) for definitions that may be overloaded.

        Which parameters may be left out a header says, if it declares a function that is defined outside of its type;
        of one that no other file sees, or that leaves out some of them itself, its definition says it.
        """
        has_headers = bool(self.settings.modules.headers)
        if self.settings.names.applied:
            return list(self._numbers_of_parameters())

        def is_open(d: DefinitionDraft) -> bool:
            """Return True if a header may say which parameters of a function may be left out."""
            if not has_headers or d.parent >= 0 or self.data.startswith(b"static", d.start):
                return False
            return not any(each.endswith(OPTIONAL) for each in d.parameters or ())

        return [
            (
                i,
                tuple(
                    f"{each}{OPTIONAL}" if may_be_left_out and each[-1:] not in (OPTIONAL, ".") else each
                    for each in own
                ),
            )
            for i, d in enumerate(self.drafts)
            if d.parameters is not None
            for own, may_be_left_out in ((self._own_parameters(d), is_open(d)),)
        ]

    def _numbers_of_parameters(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield what `parameters` returns for members that share a name, by the brackets behind their names."""
        members = [i for i, d in enumerate(self.drafts) if d.kind is NodeKind.METHOD]
        times = Counter(self.drafts[i].qualname for i in members)
        for i in members:
            draft = self.drafts[i]
            if times[draft.qualname] < 2:
                continue
            opening = re.compile(rb"\b%s(?:<[^<>()\n]*>)?\s*(?=\()" % re.escape(draft.name.encode()))
            head = opening.search(self.data, draft.start, min(draft.end, draft.start + _MAX_HEAD_BYTES))
            if head is not None:
                n, n_optional = count_parameters(self.data, head.end())
                yield i, ("",) * (n - n_optional) + (OPTIONAL,) * n_optional

    def _own_parameters(self, draft: DefinitionDraft) -> list[str]:
        """Return the parameters that callers give; the first of a function that extends a type may stand before it."""
        parameters = draft.parameters or []
        if not draft.extends or not parameters:
            return parameters
        return [f"{parameters[0]}{OPTIONAL}", *parameters[1:]] if self.settings.types.listed else parameters[1:]

    def list_opened(self) -> Iterator[Export]:
        """Yield what `open` has to know: further namespaces, and modules and types by the attributes before them.

        `exported` has, behind `OPENED`, the first definition of a namespace, whose name is `local`, or a definition and
        "+" if it opens itself, "-" if its members are never named alone; "" if the file is a module that has no head.
        """
        if not self.settings.modules.opened:
            return
        if not self.package and not any(d.kind is NodeKind.NAMESPACE and d.body < 0 for d in self.drafts):
            yield Export("", OPENED, 0)
        for first, name in self._namespaces:
            yield Export(name, f"{OPENED}{first}", 0)
        for i, draft in enumerate(self.drafts):
            ahead = ATTRIBUTES_AHEAD.match(self.data, draft.span_start)
            if ahead is not None and (draft.kind is NodeKind.NAMESPACE or draft.kind in TYPE_KINDS):
                mark = "+" if b"AutoOpen" in ahead[0] else "-" if b"RequireQualifiedAccess" in ahead[0] else ""
                if mark:
                    yield Export(mark, f"{OPENED}{i}{mark}", self.row(draft.start))

    def returns(self) -> list[tuple[int, str]]:
        """Return (definition, return type) for definitions with a known one."""
        return [(i, d.returns) for i, d in enumerate(self.drafts) if d.returns]

    def _handlers_of(self, captures: Iterable[str]) -> dict[int, _Handler]:
        """Return the handlers of these captures. Most languages have a third of them, and most files fewer."""
        kind = bool(self.settings.shapes.sequences), self._prefixed
        places = [PlaceReader(self.scopes, self.binding_reader.bindings)] if kind[0] else []
        readers = (
            self, self.import_reader, self.use_reader, self.use_reader.whole_calls, self.block_scopes,
            self.base_reader, self._implementations, self._late_names, self.binding_reader, self.access_reader, *places,
        )  # fmt: skip
        methods = _METHODS.get(kind)
        if methods is None:
            numbers = {id(reader): number for number, reader in enumerate(readers)}
            bound = ((tag, cast(MethodType, handler)) for tag, handler in self._handlers(places).items())
            methods = _METHODS[kind] = {int(tag): (numbers[id(each.__self__)], each.__func__) for tag, each in bound}
        tags = (int(TAG_OF_CAPTURE[name]) for name in captures if name[0] != "_")
        return {tag: MethodType(methods[tag][1], readers[methods[tag][0]]) for tag in tags if tag in methods}

    def _handlers(self, places: Sequence[PlaceReader]) -> dict[Tag, _Handler]:
        handlers: dict[Tag, _Handler] = {
            Tag.SPAN: self._on_span,
            Tag.LEAD: self._on_lead,
            Tag.PROPERTY: self._on_property,
            Tag.HOLDER: self._on_holder,
            Tag.REEXPORT: self.import_reader.on_group,
            Tag.IMPORT: self.import_reader.on_group,
            Tag.EXPORT: self.import_reader.on_group,
            Tag.OWNER: self._on_owner,
            Tag.OWNER_TRAIT: self._implementations.on_trait,
            Tag.OWNER_EXTENDED: self._late_names.on_extended,
            Tag.NAME: self._on_name,
            Tag.NAME_BEHIND: self._on_name_behind,
            Tag.NAME_SELECTOR: self._on_selector,
            Tag.NAME_OUTER: self._on_name_outer,
            Tag.RETURNS_AHEAD: self._late_names.on_returns,
            Tag.PACKAGE: self._on_package,
            Tag.PACKAGE_FURTHER: self._on_package,
            Tag.BODY: self._on_body,
            Tag.DOC: self._on_doc,
            Tag.DOC_LEAD: self._on_comment,
            Tag.COMMENT: self._on_comment,
            Tag.NAME_CONSTRUCTOR: self._on_constructor,
            Tag.NAME_NUMBERED: self._on_numbered,
            Tag.RETURNS: self._on_returns,
            Tag.PARAMETER: self._on_parameter,
            Tag.PARAMETER_REST: self._on_parameter,
            Tag.PARAMETER_OPTIONAL: self._on_parameter,
            Tag.BASE: self._on_base,
            Tag.IMPLEMENTS: self._on_base,
            Tag.BASE_OF: self.base_reader.on_base_of,
            Tag.BASE_MIXIN: self._on_base,
            Tag.BINDING_STATEMENT: self._on_block,
            Tag.BLOCK: self._on_block,
            Tag.BINDING_LOCAL: self._on_local,
            Tag.IMPORT_WITHIN: self.import_reader.on_within,
            Tag.EXPORTS: self.import_reader.on_exports,
            Tag.EXPORTS_OBJECT: self.import_reader.on_exports_object,
            Tag.EXPORTS_KEY: self.import_reader.on_exports_key,
            Tag.EXPORTS_ITEM: self.import_reader.on_exports_item,
            Tag.EXPORTS_VALUE: self.import_reader.on_exports_value,
            Tag.EXPORT_DEFAULT: self.import_reader.on_export_default,
            Tag.CALL: self.use_reader.on_call,
            Tag.MESSAGE: self.use_reader.on_message,
            Tag.INVOCATION: self.use_reader.whole_calls.on_call,
            Tag.CASCADE: self.use_reader.whole_calls.on_cascade,
            Tag.CALL_ARGUMENT: self.use_reader.whole_calls.on_argument,
            Tag.CALL_WORD: self.use_reader.on_word,
            Tag.CALL_FURTHER: self.use_reader.on_further,
            Tag.MACRO_CALL: self.use_reader.on_macro,
            Tag.TOKEN_CALL: self.use_reader.on_token_call,
            Tag.IMPORT_TREE: self.import_reader.on_part,
            Tag.IMPORT_PATH: self.import_reader.on_path,
            Tag.REQUIRE: self.import_reader.on_require,
            Tag.REQUIRE_MODULE: self.use_reader.on_require_module,
            Tag.REFERENCE: self.use_reader.on_reference,
            Tag.REFERENCE_CALLABLE: self.use_reader.on_callable,
            Tag.REFERENCE_SYMBOL: self.use_reader.on_symbol,
            Tag.REFERENCE_DELEGATE: self._on_delegate,
            Tag.NAME_FOR: self._on_name_for,
            Tag.REFERENCE_TYPES: self.use_reader.on_types,
            Tag.HANDLER: self._on_handler,
            Tag.HANDLER_BODY: self._on_handler_body,
            Tag.ERROR: self._on_error,
            Tag.LAMBDA: self.use_reader.on_lambda,
            Tag.REGION: self._on_region,
            Tag.BINDING_OUT: self.use_reader.on_out,
            Tag.RETURNS_WITHIN: self._on_returns_within,
            Tag.CHECKED_TYPE: self._on_checked_type,
        }
        handlers.update(self.binding_reader.handlers() | self.access_reader.handlers())
        for reader in places:
            handlers.update(reader.handlers())
        handlers.update(dict.fromkeys(DEFINITION_KINDS, self._on_definition))
        if self._prefixed:
            handlers.update(self.block_scopes.handlers())
        handlers.update(dict.fromkeys(IMPORT_PARTS, self.import_reader.on_part))
        return handlers

    def _on_span(self, start: int, end: int, tag: int) -> None:
        if self._span is None or end > self._span[1]:
            self._span = (start, end)

    def _on_lead(self, start: int, end: int, tag: int) -> None:
        self._attributes.on_lead(start, end)
        self.use_reader.skip(end)  # its names are for the compiler

    def _on_block(self, start: int, end: int, tag: int) -> None:
        if self.scopes.opened is not None:
            self.scopes.opened.on_block(start, end)
        elif self.scopes.shadows is not None:
            if tag == Tag.BLOCK:
                self.scopes.shadows.on_block(start, end)
            else:
                self.scopes.shadows.on_statement(end)

    def _on_local(self, start: int, end: int, tag: int) -> None:
        if self.scopes.opened is not None:
            self.scopes.opened.on_pattern(self.data, start, end)

    def _on_definition(self, start: int, end: int, tag: int) -> None:
        frames = self._frames
        if frames and frames[-1].start == start and frames[-1].end == end:
            return  # the same node under a kind that comes first
        if start == end:
            return  # the parser put it in where the source is broken
        parent, scope, prefix = MODULE_SCOPE, MODULE_SCOPE, ""
        if frames:
            parent, scope, prefix = frames[-1].scope, frames[-1].scope, frames[-1].prefix
        if self._prefixed and parent < 0 and self.block_scopes.is_inside:
            return  # local to a function without a name, to which nothing can belong
        kind = DEFINITION_KINDS[Tag(tag)]
        if kind in TYPE_KINDS and self.settings.modules.flat:
            prefix = ""
        if self.settings.modules.opened and parent >= 0 and self.drafts[parent].kind is NodeKind.TYPE:
            return  # `type A = B`, which may be the only case of a union
        if self._is_laid_out:
            end = end_by_layout(self.data, start, end, frames[-1].end if frames else len(self.data))
        if kind is NodeKind.FUNCTION and parent >= 0 and self.drafts[parent].kind in TYPE_KINDS:
            kind = NodeKind.METHOD
        span_start = start
        if self._span is not None and self._span[0] <= start and end <= self._span[1]:
            before = self.data[self._span[0] : start]
            if before.startswith((b"@", b"template")) or b"=" not in before:  # of this definition, not around it
                span_start = self._span[0]
        self._span = None
        span_start, is_test = self._attributes.claim(start, span_start)
        index = len(self.drafts)
        draft = DefinitionDraft(kind, parent, start, end, span_start, prefix, is_test=is_test)
        if frames and (frames[-1].index < 0 or frames[-1].extends):
            draft.owner = frames[-1].owner or frames[-1].extends
        above = any(row - 1 <= self._comment[3] <= row for row in (self.row(span_start), self.row(start)))
        if above:
            draft.doc = comment_doc(self.settings.comments.doc, self.data, self._comment[0], self._comment[1])
            around = frames[-1].start if frames else 0
            if around <= self._comment[0] < span_start and self._comment[0] != self._comment_taken:
                draft.text_start = self._comment_taken = self._comment[0]
        if above or (self._comment[1] > 0 and self.data[self._comment[1] : span_start].isspace()):
            self._doc_types.on_definition(index, self._comment[0], self._comment[1])
        self.drafts.append(draft)
        if kind in CALLABLE_KINDS and self.settings.names.has_overloads:
            draft.parameters = []
        if kind is NodeKind.TYPE:
            draft.returns = self._late_names.take_returns()
        if frames and frames[-1].generics:
            self.binding_reader.hand_down(frames[-1].generics, index)
        inside = MODULE_SCOPE if kind in VALUE_KINDS else index
        frames.append(Frame(start, end, index, scope if inside < 0 else inside, scope, prefix if inside < 0 else ""))
        self._late_names.name(frames[-1])
        made = self.use_reader.whole_calls.type_of_body(end) if kind in TYPE_KINDS else None
        if made is not None:
            self.bases.append(name_by_base(self.scopes, frames[-1], *made))

    def _on_handler(self, start: int, end: int, tag: int) -> None:
        """Open the arguments of a call as a definition if they are those of a handler."""
        frames = self._frames
        if frames and frames[-1].index >= 0 and (frames[-1].start, frames[-1].end) == (start, end):
            return
        scope = frames[-1].scope if frames else MODULE_SCOPE
        around = self.drafts[scope] if scope != MODULE_SCOPE else None
        named = self._handler_names.read(start)
        if named is None:
            return
        if around is not None and around.kind is not NodeKind.HANDLER and self.row(start) == self.row(end - 1):
            return  # a line of what it stands in
        prefix = around.qualname if around is not None else ""
        draft = DefinitionDraft(NodeKind.HANDLER, scope, named.start, end, named.start, prefix, name=named.name)
        draft.qualname = f"{prefix}.{escape_name(named.name)}" if prefix else escape_name(named.name)
        if self.row(named.start) - 1 <= self._comment[3] <= self.row(named.start):
            draft.doc = comment_doc(self.settings.comments.doc, self.data, self._comment[0], self._comment[1])
            outer = frames[-1].start if frames else 0
            if outer <= self._comment[0] < named.start and self._comment[0] != self._comment_taken:
                draft.text_start = self._comment_taken = self._comment[0]
        index = len(self.drafts)
        self.drafts.append(draft)
        frames.append(Frame(start, end, index, index, scope, draft.qualname, has_name=True))

    def _on_handler_body(self, start: int, end: int, tag: int) -> None:
        frame = self._frames[-1] if self._frames else None
        if frame is not None and frame.index >= 0 and frame.body < 0:
            draft = self.drafts[frame.index]
            if draft.kind is NodeKind.HANDLER:
                frame.body = draft.body = start

    def _on_holder(self, start: int, end: int, tag: int) -> None:
        frames = self._frames
        if frames and frames[-1].start == start and frames[-1].end == end:
            frames[-1].holds = True  # a constant or field with an object value: its name prefixes the members
            return
        scope, prefix = (frames[-1].scope, frames[-1].prefix) if frames else (MODULE_SCOPE, "")
        frames.append(Frame(start, end, MODULE_SCOPE, scope, scope, prefix, holds=True, body=start))

    def _on_property(self, start: int, end: int, tag: int) -> None:
        if self._frames and self._frames[-1].index >= 0 and self._frames[-1].start == start:
            self.drafts[self._frames[-1].index].is_property = True

    def _on_owner(self, start: int, end: int, tag: int) -> None:
        """Record the type of the open definition or holder, written before its name or in place of it."""
        if not self._frames:
            return
        frame, owner = self._frames[-1], type_name(self.text(start, end))
        if not owner or (frame.index < 0 and frame.owner) or (frame.index >= 0 and frame.has_name):
            return  # of a declaration inside
        last = owner.rpartition(".")[2]
        if frame.index < 0:
            frame.owner = owner
            if not frame.has_name:
                self.scopes.set_name(frame, last)
            return
        draft = self.drafts[frame.index]
        draft.owner = f"{draft.owner}.{owner}" if draft.owner else owner
        draft.prefix = f"{draft.prefix}.{last}" if draft.prefix else last

    def _on_package(self, start: int, end: int, tag: int) -> None:
        name = self.scopes.compact(start, end)
        if self.package and tag == Tag.PACKAGE and self.settings.modules.opened:
            self._namespaces.append((len(self.drafts), name))
        self.package = f"{self.package}.{name}" if tag == Tag.PACKAGE_FURTHER else self.package or name
        self.use_reader.taken = start
        above = self.row(start) - 1 <= self._comment[3]
        comment = self.scopes.original_text(*self._comment[:2]) if above else ""
        if above and (self._prefixed or comment.startswith("/**")):
            self.doc = self.doc or file_comment_line(comment)

    def _on_delegate(self, start: int, end: int, tag: int) -> None:
        """Record the call that a definition stands for: `defdelegate f(x), to: M, as: :g`."""
        frame = self._frames[-1] if self._frames else None
        if frame is None or frame.index < 0:
            return
        if chain := read_delegate(self.text(start, min(end, start + 400))):
            self.use_reader.keep_call(frame.index, chain, start)

    def _on_name_for(self, start: int, end: int, tag: int) -> None:
        """Add the type to the name of what implements something for it: `defimpl P, for: T` is P.T."""
        frame = self._frames[-1] if self._frames else None
        if frame is not None and frame.index >= 0 and frame.has_name:
            self.scopes.set_name(frame, f"{self.drafts[frame.index].name}.{self.text(start, end)}")

    def _on_name(self, start: int, end: int, tag: int) -> None:
        self.use_reader.taken = start
        if not self._frames or not self.scopes.takes_name(self._frames[-1]):
            return
        frame = self._frames[-1]
        frame.name_start = start
        text = "operator_" * self.scopes.is_conversion(start) + self.text(start, end)
        is_type = frame.index >= 0 and self.drafts[frame.index].kind in TYPE_KINDS
        if self.settings.preprocessor.blank and self.scopes.data[start - 1 : start] == b'"':
            text = _NO_WORD.sub("_", text)  # of a test that a text names
        if self._sigil and frame.index >= 0 and self.drafts[frame.index].kind == NodeKind.FIELD:
            text = text.removeprefix(self._sigil)
        name = self.scopes.clean_name(self._unnamed.get(text, text) if is_type else text)
        if self._constructor and frame.index >= 0 < len(self._frames) - 1 and (around := self._frames[-2].index) >= 0:
            own, type_ = self.drafts[frame.index], self.drafts[around]
            is_made = own.kind == NodeKind.METHOD and type_.kind in TYPE_KINDS and type_.name.lower() == name.lower()
            name = self._constructor if is_made else name
        if frame.index < 0 and name == ANONYMOUS:
            frame.has_name = True  # an object that is exported as a whole: its members belong to the file
        elif self.scopes.joins_last(frame, name):
            # What stands before the name was read in the scope of a definition that is none: `(A x) <+> (B y) = …`.
            uses = self.use_reader
            for rows in (uses.calls, uses.spans, uses.passed_on, self.binding_reader.bindings):
                move_last(rows, len(self.drafts), frame.index)
        else:
            self.scopes.set_name(frame, name)
            if self._prefixed and frame.index == frame.scope and self.drafts[frame.index].kind != NodeKind.METHOD:
                self.block_scopes.define(name, start)
        if self.settings.names.clauses and frame.index >= 0:
            add_clause(self.drafts[frame.index], self.data, end)
        if self.settings.names.dispatched:
            self._read_method(end)

    def _read_method(self, end: int) -> None:
        """Record what the open method takes and gives, whose name ends there."""
        draft = self.drafts[self._frames[-1].index] if self._frames[-1].index >= 0 else None
        if draft is not None and draft.kind in CALLABLE_KINDS:
            draft.parameters, draft.returns = read_method_types(self.data, end)

    def _on_name_behind(self, start: int, end: int, tag: int) -> None:
        self.use_reader.taken = start  # it was read where the definition begins

    def _on_selector(self, start: int, end: int, tag: int) -> None:
        """Name the method that is captured as a whole by its labels."""
        if self._frames and (name := selector_of(self.text(start, min(end, start + 1000)))):
            self.scopes.set_name(self._frames[-1], name)

    def _on_name_outer(self, start: int, end: int, tag: int) -> None:
        self._late_names.move_to_outer_scope()
        self._on_name(start, end, tag)

    def _on_constructor(self, start: int, end: int, tag: int) -> None:
        self.use_reader.taken = start
        if self._frames and not self._frames[-1].has_name:
            self._frames[-1].name_start = start
            names = self.settings.names
            self.scopes.set_name(self._frames[-1], names.call_method if names.dispatched else names.constructors[0])
            if names.dispatched:
                self._read_method(end)

    def _on_numbered(self, start: int, end: int, tag: int) -> None:
        """Name a definition without a name by the capture that creates it."""
        if self._frames and not self._frames[-1].has_name and self._frames[-1].index >= 0:
            prefix, word = self.drafts[self._frames[-1].index].prefix, self.text(start, end)
            self.scopes.set_name(self._frames[-1], f"{word}${self.scopes.count(f'{prefix}.{word}')}")

    def _on_body(self, start: int, end: int, tag: int) -> None:
        if self._frames and self._frames[-1].body < 0:
            frame = self._frames[-1]
            if not frame.has_name:
                self.scopes.set_name(frame, ANONYMOUS)
            frame.body = start
            if frame.index >= 0:
                self.drafts[frame.index].body = start

    def _on_doc(self, start: int, end: int, tag: int) -> None:
        text = self.scopes.original_text(start, min(end, start + 2000))
        if text.startswith((*self.settings.comments.line, "/*")):
            line, self._doc_start = comment_line(text), start
        else:
            line = string_line(text.removeprefix("~"))
        if self._frames and self._frames[-1].index >= 0:
            draft = self.drafts[self._frames[-1].index]
            draft.doc = draft.doc or line
        else:
            self.doc = self.doc or line

    def _on_comment(self, start: int, end: int, tag: int) -> None:
        if start == self._doc_start:
            return
        if tag == Tag.COMMENT and self.scopes.follows_code(start):
            return  # a trailing comment is about its own line, not about the next one
        first, last = self.row(start), self.row(max(end - 1, start))
        around = self._frames[-1].index if self._frames and self._frames[-1].has_name else MODULE_SCOPE
        if around >= 0 and self.settings.comments.open_body and self.drafts[around].kind in CALLABLE_KINDS:
            self._on_body(start, end, tag)
        if first == self._comment[3] + 1 and self.data.startswith(self._line_marks, start):
            self._comment = (self._comment[0], end, self._comment[2], last)
        else:
            self._comment = (start, end, first, last)
        if not self.drafts and not self.doc and first <= 5:
            self.doc = file_comment_line(self.scopes.original_text(start, end))
        self._doc_types.on_comment(start, end)

    def _on_returns(self, start: int, end: int, tag: int) -> None:
        if self._frames and self._frames[-1].index >= 0 and self._frames[-1].body < 0:
            draft, settings = self.drafts[self._frames[-1].index], self.settings.types
            self.binding_reader.is_annotated(self._frames[-1].index)
            if draft.is_declared and draft.returns:
                return
            if settings.prefixed:
                read_type = (
                    self.block_scopes.underlying_type_of if draft.kind == NodeKind.TYPE else self.block_scopes.type_of
                )
                draft.returns = read_type(start, end)
            else:
                is_pointed = settings.literals and self.settings.modules.headers
                read = named_type if is_pointed else array_type_name if settings.before_names else type_name
                text = self.text(start, min(end, start + 200))
                predicate = _PREDICATE.match(text) if settings.casts else None
                name = self.scopes.spell_current(read(text[predicate.end() :] if predicate else text, settings))
                draft.returns = f"{PREDICATE}{name}" if predicate and name else name

    def _on_parameter(self, start: int, end: int, tag: int) -> None:
        if tag == Tag.PARAMETER_REST and self.settings.types.before_names:
            self.binding_reader.on_rest(start, end)
        mark = OPTIONAL if tag == Tag.PARAMETER_OPTIONAL else "..." if tag == Tag.PARAMETER_REST else ""
        last = self._frames[-1] if self._frames else None
        parameters = self.drafts[last.index].parameters if last is not None and last.body < 0 else None
        if mark == "..." and parameters is not None and self.settings.modules.headers:
            parameters.append(mark)
        elif parameters is not None and mark and (mark == OPTIONAL or not self.settings.types.before_names):
            parameters[-1:] = [each + mark for each in parameters[-1:]]  # of the parameter that was captured before
        elif parameters is not None and self.settings.modules.headers:
            name = declared_type(self.text(start, min(end, start + 200)))
            if name != "void":
                parameters.append(name)
        elif parameters is not None:
            text = parameter_type(self.text(start, min(end, start + 200)), self.settings)
            parameters.append("" if self._sigil and text.startswith(self._sigil) else text + mark)  # it has no type

    def _on_base(self, start: int, end: int, tag: int) -> None:
        if not self.base_reader.on_base(start, end, tag):
            return
        base = self.bases[-1] if self.bases and self._held else None
        if base is not None and (member := self._held.get(base.name.partition("{")[0].rpartition(".")[2])):
            arguments = split_generic(base.name)[1]
            if arguments and arguments[-1]:
                binding = Binding(base.definition, member, arguments[-1], "", self.row(start))
                self.binding_reader.bindings.append(binding)
        # The name is a use as well, found again as a reference; the edge for the base says more.
        self.use_reader.skip(end)

    def _close_group(self) -> None:
        self.import_reader.close_group()
        self._span = None

    def _on_region(self, start: int, end: int, tag: int) -> None:
        self.block_scopes.open_region(end)

    def _on_checked_type(self, start: int, end: int, tag: int) -> None:
        """Bind the subject of the enclosing match, a name, to the type that its case checks."""
        name, scope = self.binding_reader.subject_at(start).partition("#")[0], self.scopes.binding_scope()
        if name.isidentifier() and scope >= 0:
            checked = type_name(self.text(start, min(end, start + 200)), self.settings.types)
            declared = self.scopes.declare(scope, name)
            self.binding_reader.bindings.append(Binding(scope, declared, checked, "", self.row(start)))

    def _on_returns_within(self, start: int, end: int, tag: int) -> None:
        """Set what the last method gives, where a call that makes it says so behind its name, or one in its body."""
        draft, is_relation = self.drafts[-1] if self.drafts else None, bool(self.settings.types.queries)
        if draft is None or draft.kind is not NodeKind.METHOD:
            return
        if is_relation or (draft.body < 0 and not draft.returns):
            draft.returns = type_name(self.text(start, min(end, start + 200)), self.settings.types)

    def _on_error(self, start: int, end: int, tag: int) -> None:
        self.errors.append(self.row(start))
