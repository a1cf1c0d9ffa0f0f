"""Uses of names: captures of calls and names in, `Call` and `Reference` facts out.

A name in a chain that is called as a whole is no use of its own: uses before the end of text that was read are skipped.

Some grammars have one node for a call, whose receiver is often the call that was just read; its chain is known, so that
a long chain costs no more than its parts. Arguments are counted, and literals among them noted, which distinguishes
overloads. Calls among unparsed tokens, such as the arguments of a macro, are read from the text.

In VHDL a name alone may be a call, and so is an instance of an entity: `DesignReader` reads both.
"""

import re
from collections.abc import Mapping, Sequence

import tree_sitter

from causalist._internal.lazy import lazy_regex
from causalist.model.facts import MODULE_SCOPE, Call, Definition, Import, ImportKind, Reference
from causalist.model.node_ids import CALLABLE_KINDS
from causalist.model.type_notation import PLACE, element_of
from causalist.parse.syntax.argument_forms import (
    DesignNotation,
    RegionFacts,
    arguments_by_space,
    call_that_ended,
    callee_of_bracket,
    listed_arguments,
    start_of_chain,
)
from causalist.parse.syntax.arguments import (
    arguments_at,
    callee_before,
    chain_of_operation,
    letters_and_values,
    made_before,
    typed_arguments,
)
from causalist.parse.syntax.bindings import BindingReader
from causalist.parse.syntax.capture_names import Tag
from causalist.parse.syntax.chains import chain_of, last_of_chain, read_message, type_name
from causalist.parse.syntax.go_like_types import given_arguments
from causalist.parse.syntax.imports import ImportReader
from causalist.parse.syntax.open_scopes import BlockScopes, Scopes
from causalist.parse.syntax.shadowed_names import MAX_VALUE_DEPTH
from causalist.parse.syntax.typed_expressions import callee_of
from causalist.parse.syntax.whole_calls import CallReader, OperandReader

_MAX_NAME_BYTES = 200
_MAX_CALLEE_CHARACTERS = 600  # characters of a chain that is kept whole

_TAG = lazy_regex(rb"[a-z][\w-]*[\s/>]")
_MAX_MESSAGE_BYTES = 4000  # bytes of a message that are read
_MAX_CHAIN_BYTES = 1000  # bytes of a chain that is called or used
_MAX_WAITING_BYTES = 8  # bytes of "(await " before a call that imports
_CHAIN = lazy_regex(rb"\.?[\w$]+(?:\s*\??\.\s*[\w$]+)*")
_HEAD = lazy_regex(r"\w*")
# What a variable of Python is given that has no special method of the repository.
_BUILTIN_VALUE = lazy_regex(r"$|[\[{(]|<?(?:str|int|bool|bytes|float|list|dict|set|tuple|None|object|Any)\b")
_CONSTANTS = lazy_regex(rb"\.?[A-Z]\w*(?:\s*\.\s*[A-Z]\w*)*")
_ENDS_CHAIN = frozenset(bytes((byte,)) for byte in b"(),;<>[]{}=+-*/&|!^%")  # behind a name that no chain goes on from
_PATH = lazy_regex(rb"[\w$]+(?:(?:\s*\.\s*|::)[\w$]+)*")
# A pair of an object, or a type, and the name of a method; "::" may have been read as a dot.
_SENT = lazy_regex(r"(?:([\w@]+(?:\.\w+)*)&?\.)?(?:send|public_send|__send__|method|instance_method)\s*\(?\s*$")
_COUNTED = lazy_regex(r"([\w.]+[?!]?)\s*/\s*\d+")  # a function by the number of its arguments
_WRITTEN_TYPE = lazy_regex(r"(?<![\w.:])((?:[A-Z]\w*\.)*[a-z_]\w*)\(")
_PAIR = lazy_regex(
    r"""(?:\[|\w+\s*\()\s*(?:(?P<variable>\$\w+)|(?P<type>[\w\\.]+?)\s*(?:::|\.)\s*class)\s*,"""
    r"""\s*["'](?P<name>\w+)["'][\s,]*[\])]"""
)


class UseReader:
    """Reader of the captures of uses.

    `calls` is complete when the pass is. Call `references` after that.
    """

    def __init__(self, scopes: Scopes, named: BindingReader, modules: ImportReader, declared: BlockScopes) -> None:
        self.calls: list[Call] = []
        self.whole_calls = CallReader(scopes, self.calls)
        has_operands = bool(scopes.settings.names.special_method_prefix)
        self.operands = OperandReader(scopes) if has_operands else None
        self.taken = -1  # start of the last name that is not a use
        self._scopes = scopes
        self._settings = scopes.settings
        self._named, self._modules, self._declared = named, modules, declared
        names, types, spell = scopes.settings.names, scopes.settings.types, scopes.spell_current
        self._prefixed, self._bare_calls = types.prefixed, names.bare_calls
        self._is_behind = types.prefixed and bool(names.name_separators)  # a member that is called has no node
        self._has_elements, self._sigil = bool(names.assigned_infixes), names.sigil.encode()
        self._has_blocks, self._rebinds = names.block_scopes, names.rebinding
        given = (lambda data, end: given_arguments(data, end, spell)) if names.dispatched else None
        grouped = (lambda data, end: listed_arguments(data, end, types, declared.spell)) if names.grouped else given
        self._read_given = typed_arguments if types.called_elements else grouped
        self._lists_arguments = types.listed or bool(types.literals and scopes.settings.modules.headers)
        self._is_never_overloaded = re.compile(scopes.settings.names.never_overloaded or "(?!)").fullmatch
        self._signs = frozenset(sign.encode() for sign in scopes.settings.names.name_suffixes)
        self._builtin_names = frozenset(scopes.settings.builtin_names)
        self._kept: list[Reference] = []  # where scopes are blocks, which uses are local is known at once
        self._call_starts: list[int] = []
        self._counted: list[tuple[int, int, int]] = []  # number, start and end of callees whose arguments are counted
        self.spans: list[tuple[int, int, int]] = []  # scope, start, end of names that may be uses
        self.passed_on: list[Reference] = []  # functions that are named in order to be called by others
        self._ended: dict[int, str] = {}  # end of a list of arguments -> chain of the call
        self.skipped_to = -1  # uses before this byte are not kept: they belong to a callee that was read whole, for one
        self.called = (-1, -1)  # the last callee
        self.plain_callee = -1  # start of the last invoked chain of names

    def skip(self, end: int) -> None:
        """Skip uses before this byte."""
        self.skipped_to = max(self.skipped_to, end)

    def references(self) -> list[Reference]:
        """Return the uses of names that this file defines or imports. Other names resolve to nothing."""
        if self._prefixed:
            return self._kept
        declared = {entry.alias or entry.module.partition(".")[0] for entry in self._modules.imports}
        declared.update((d.name for d in self._scopes.drafts), (n for n, _ in self._scopes.settings.modules.relative))
        names = self._scopes.settings.names
        separator = names.path_separator
        chains = _CONSTANTS if self._bare_calls else _PATH if separator and not names.name_separators else _CHAIN
        # Where files share a scope, a name that this file does not know may be another's; locals are left out before.
        filtered = not (names.block_scopes or self._settings.modules.shares_names)
        result, data = [*self.passed_on], self._scopes.data
        may_be_whole = chains is not _CONSTANTS
        for scope, start, end in self.spans:
            name = self._scopes.text(start, end)
            # `Self::open`; a `self` in front of a dot is an `Access`.
            own = separator and name in names.self_names and data.startswith(separator.encode(), end)
            if not filtered or own or name in declared:
                is_whole = (
                    may_be_whole and data[end : end + 1] in _ENDS_CHAIN and name.isascii() and name.isidentifier()
                )
                chain = name if is_whole else self._chain_at(start, end, chains)
                if chain and chain not in names.self_names:
                    chain = chain.replace(separator, ".") if separator else chain
                    result.append(Reference(scope, self._scopes.in_opened(chain, start), self._scopes.row(start)))
        return result

    def _chain_at(self, start: int, end: int, chains: "re.Pattern[bytes]" = _CHAIN) -> str:
        matched = chains.match(self._scopes.data, start, max(end, start + _MAX_CHAIN_BYTES))
        chain = self._scopes.text(start, matched.end()) if matched else ""
        return chain if chain.isidentifier() else re.sub(r"[\s?]+", "", chain)

    def _keep(self, chain: str, start: int, row_at: int, given: tuple[str, str] | None = None) -> None:
        self.calls.append(Call(self._scopes.use_scope(), chain, self._scopes.row(row_at), *(given or ())))
        self._call_starts.append(start)

    def keep_call(self, scope: int, chain: str, start: int) -> None:
        """Record a call that is not written as one."""
        self.calls.append(Call(scope, chain, self._scopes.row(start)))
        self._call_starts.append(start)

    def on_call(self, start: int, end: int, tag: int) -> None:
        """Record a call by the chain of its callee."""
        is_array = self._lists_arguments and self._scopes.data[end : end + 2].lstrip()[:1] == b"*"  # `new T*[n]`
        is_head = start == self.taken or start < self.skipped_to or self._scopes.data[start - 1 : start] == b"@"
        if is_array or ((self._settings.names.clauses or self._settings.names.dispatched) and is_head):
            return  # it makes no T; the head of a definition and an attribute such as `@type` look like calls
        if self._has_elements and self._scopes.data[start - 1 : start] == b"<" and _TAG.match(self._scopes.data, start):
            self.skip(end)  # an element of HTML, whatever else has its name
            return
        if self._is_behind:
            start = start_of_chain(self._scopes.data, start)
        self.called = (start, end)
        if end - start > _MAX_CHAIN_BYTES:  # only the end is decoded: chains of calls hold one another
            chain = last_of_chain(self._scopes.text(end - _MAX_NAME_BYTES, end))
        elif self._prefixed:
            chain = self._declared.chain_of(start, end)
        elif self._settings.shapes.sequences:
            chain = callee_of(self._scopes.text(start, end), self._settings.shapes)
        else:
            sign = self._scopes.data[end - 1 : end] in self._signs
            text = self._scopes.with_wanted_type(start, end - sign)
            chain = self._scopes.own_chain(chain_of_operation(text, self._settings.types), start)
            if chain and sign:
                chain += self._scopes.text(end - 1, end)
        if chain and not (self._lists_arguments and self._scopes.data.startswith((b"*", b" *"), end)):  # new T*[n]
            is_listed = self._lists_arguments and not self._is_never_overloaded(chain)
            given = letters_and_values(self._scopes.data, end, self._settings.types) if is_listed else None
            given = self._read_given(self._scopes.data, end) if self._read_given is not None else given
            given = (arguments_by_space(self._scopes.data, end), "") if self._settings.names.applied else given
            self._keep(chain, start, max(end - 1, start), given)
            if self.operands is not None:
                self.operands.read_result(start, chain)
            if self._settings.names.clauses:
                self._counted.append((len(self.calls) - 1, start, end))
            if not any(mark in chain for mark in "(?["):
                self.skip(end)

    def on_message(self, start: int, end: int, tag: int) -> None:
        """Record a message by the chain of its receiver and its selector."""
        text = self._scopes.text(start, min(end, start + _MAX_MESSAGE_BYTES))
        if (read := read_message(text, self._settings.types)) is not None:
            receiver, selector, _ = read
            chain = receiver if len(receiver) < _MAX_CALLEE_CHARACTERS else "?"
            self._keep(self._scopes.own_chain(f"{chain}.{selector}", start), start, start)

    def on_require_module(self, start: int, end: int, tag: int) -> None:
        """Bind a module that is used at once, as in `require("m").f()`, to a name of its own."""
        called = self._modules.on_require_module(start, end)
        if not called:
            return
        head, at = called
        for i in range(len(self.calls) - 1, -1, -1):
            if self._call_starts[i] < at - _MAX_WAITING_BYTES:
                break
            call = self.calls[i]
            if call.callee.startswith(f"{head}()"):
                alias = self._modules.name_inline(call.scope)
                self.calls[i] = call._replace(callee=alias + call.callee[len(head) + 2 :])

    def on_invoked_name(self, start: int, end: int, tag: int) -> None:
        """Record the name of the open call, and drop the names of its callee from the uses."""
        begin, chain = self.whole_calls.on_name(start, end, tag == Tag.INVOKED_TYPE)
        plain = chain and "(" not in chain and chain[0] not in "?<"
        self.plain_callee = begin if plain else -1
        # If every member of a type is a call, as in `User.find(1)`, callees are often inherited from outside.
        until = end if self._bare_calls else len(self._scopes.data)
        while self.spans and (begin if plain and not self._bare_calls else start) <= self.spans[-1][1] < until:
            self.spans.pop()  # the names of a chain that is called
        self.skip(end)

    def on_arguments(self, start: int, end: int, tag: int) -> None:
        """Begin the arguments of a call, and read the name before them if the call has none."""
        name = self.whole_calls.on_arguments(start, end)
        if name is not None:
            self.on_invoked_name(*name, Tag.INVOKED_NAME)

    def on_word(self, start: int, end: int, tag: int) -> None:
        """Record a single name that may be a call."""
        is_other = start in (self.taken, self._named.taken) or start < self.skipped_to
        if not is_other and self._modules.group is None:
            self.whole_calls.on_word(start, end)

    def finish(self) -> None:
        """Complete the calls. Bindings have to be known."""
        self.whole_calls.finish()
        names = {draft.name for draft in self._scopes.drafts} if self._counted else ()
        for number, start, end in self._counted:
            # A component of a template is a call with 0 behind its name.
            call, brackets = self.calls[number], self._scopes.data.startswith((b"(", b" 0"), end)
            if brackets or call.callee in names or "." in call.callee:
                arguments = arguments_at(self._scopes.data, start, end)
                self.calls[number] = Call(call.scope, call.callee, call.row, arguments)
        self.calls += self.whole_calls.words({(b.scope, b.target) for b in self._named.bindings})
        if self.operands is not None:
            told = (b for b in self._named.bindings if not _BUILTIN_VALUE.match(b.type or b.value))
            bound = {(b.scope, _HEAD.match(b.target)[0]) for b in told}  # type: ignore[index]
            known = {*self._settings.names.self_names, *(draft.name for draft in self._scopes.drafts)}
            # A class that is imported has its own name where it is no call: `List[int]`, `Path | None`.
            imported = (entry.alias or entry.module.partition(".")[0] for entry in self._modules.imports)
            known.update(f"{each}()" if each[:1].isupper() else each for each in imported)
            self.calls += self.operands.calls_on(known, bound)

    def on_further(self, start: int, end: int, tag: int) -> None:
        """Record arguments after the argument list of a call, or in place of it."""
        if not self.whole_calls.on_further(start, end):
            if not self.whole_calls.is_listed():
                self.on_arguments(start, end, Tag.CALL_ARGUMENTS)
            self.whole_calls.on_argument(start, end, Tag.CALL_ARGUMENT)

    def on_out(self, start: int, end: int, tag: int) -> None:
        """Bind a variable that a call sets to what the parameter in its place is of."""
        call = self.whole_calls.open_call()
        if call is None or not call.spelled:
            return
        on, _, method = call.spelled.rpartition(".")
        is_element = method in self._settings.types.setting
        value = element_of(on) if is_element else f"{call.spelled}.{PLACE}{len(call.arguments) - 1}"
        self._named.tell(start, value)

    def on_lambda(self, start: int, end: int, tag: int) -> None:
        """Open a function without a name, which declares names for itself."""
        self.whole_calls.on_lambda(start, end)
        self._declared.open_region(end)

    def on_callable(self, start: int, end: int, tag: int) -> None:
        """Record a function or method that is passed as a value."""
        text = self._scopes.text(start, min(end, start + _MAX_CHAIN_BYTES))
        if self._settings.names.name_separators:
            text = text.replace(" .", "::")  # as such a separator is read
        if self._settings.names.object_first:  # `@a.b`
            text = "::".join(filter(None, text.removeprefix("@").strip().rpartition(".")[::2]))
        counted = _COUNTED.fullmatch(text)
        if counted:
            self._hand_on(counted[1], start, end)
            return
        pair = _PAIR.fullmatch(text)
        receiver, name = pair.group("variable", "name") if pair else text.rpartition("::")[::2]
        if pair and receiver is None:
            receiver = pair["type"]
        chain = type_name(receiver, self._settings.types) or chain_of(receiver)
        if not chain and (bare := text.lstrip(" .:")).isidentifier():  # `::f`, which may have been read with a dot
            self.passed_on.append(Reference(self._scopes.use_scope(), bare, self._scopes.row(start)))
        if chain:
            whole = f"{self._scopes.spell_current(chain)}::{name.strip()}"
            self.passed_on.append(Reference(self._scopes.use_scope(), whole, self._scopes.row(start)))

    def on_symbol(self, start: int, end: int, tag: int) -> None:
        """Record a method that is named by a symbol: called by `send` and `&:m`, else handed on to a macro."""
        name = self._scopes.text(start, end).lstrip(":&").strip("\"'")
        before = self._scopes.text(max(0, start - _MAX_NAME_BYTES), start)
        sent = _SENT.search(before)
        scope, row = self._scopes.use_scope(), self._scopes.row(start)
        if sent is not None:
            receiver = sent[1] or ""
            self.keep_call(scope, f"{receiver}.{name}" if receiver and receiver != "self" else name, start)
        elif before.endswith("&"):
            self.keep_call(scope, f"?.{name}", start)
        else:
            self.passed_on.append(Reference(scope, f"{self._settings.names.self_names[0]}::{name}", row))

    def on_types(self, start: int, end: int, tag: int) -> None:
        """Record types that are written like calls."""
        for named in _WRITTEN_TYPE.finditer(self._scopes.text(start, end)):
            self._hand_on(named[1], start, end)

    def _hand_on(self, chain: str, start: int, end: int) -> None:
        self.passed_on.append(Reference(self._scopes.use_scope(), chain, self._scopes.row(start)))
        self.skip(end)

    def on_macro(self, start: int, end: int, tag: int) -> None:
        """Record the call of a macro."""
        chain = chain_of(self._scopes.text(start, min(end, start + _MAX_NAME_BYTES)))
        if chain and start >= self.skipped_to:
            self._keep(f"{chain}!", start, start)
            self.skip(end)

    def on_token_call(self, start: int, end: int, tag: int) -> None:
        """Record a call among unparsed tokens, or that of a list of arguments."""
        if self._settings.modules.file_classes:
            self._on_list(start, end)
            return
        first, chain = callee_before(self._scopes.data, start)
        if not chain or first < self.skipped_to:
            return
        while self.spans and self.spans[-1][1] >= first:
            self.spans.pop()
        given = letters_and_values(self._scopes.data, start, self._settings.types) if self._lists_arguments else None
        if self._lists_arguments and chain.startswith("?.") and (made := made_before(self._scopes.data, first)):
            chain = f"{made}(){chain[1:]}"
        self._keep(self._scopes.own_chain(chain, first), start, start, given)
        self.skip(start)

    def _on_list(self, start: int, end: int) -> None:
        """Record the call of what stands before a list of arguments."""
        scopes = self._scopes
        first, chain = callee_of_bracket(scopes.data, start, self._ended, self._settings.types)
        scope = scopes.use_scope()
        if chain in self._settings.names.super_names and scope >= 0:  # what the function around overrides
            chain = f"{chain}.{scopes.drafts[scope].name}"
        chain = scopes.own_chain(chain, first) if chain[:1] != "?" else chain
        self._ended[end] = call_that_ended(chain)
        if chain:
            while self.spans and self.spans[-1][1] >= first:
                self.spans.pop()
            self._keep(chain, start, max(start - 1, first))
            self.skip(start)

    def _on_scoped_reference(self, start: int, end: int) -> None:
        data, declared = self._scopes.data, self._declared
        if start in (self.taken, declared.taken) or start < self.skipped_to or self._modules.group is not None:
            return
        if start and data[start - 1] == 46 and data[start - 3 : start] != b"...":
            return
        if self._is_behind and (found := _CHAIN.match(data, start)) and data.startswith(b"(", found.end()):
            return  # what is before a bracket is called
        name = self._scopes.text(start, end)
        # A member of a local name is kept where it is handed on: a method that other code will call.
        handed_on = start == declared.handed_on and data[end : end + 1] == b"."
        if handed_on or not (name in self._builtin_names or declared.is_local(name, start)):
            chain = declared.spell(self._chain_at(start, end), start)
            if chain:
                self._kept.append(Reference(self._scopes.use_scope(), chain, self._scopes.row(start)))

    def on_reference(self, start: int, end: int, tag: int) -> None:
        """Record a name that may be a use."""
        if self._prefixed:
            self._on_scoped_reference(start, end)
            return
        if start < self.skipped_to or start in (self.taken, self._named.taken) or self._modules.group is not None:
            return
        scopes, data = self._scopes, self._scopes.data
        if self.operands is not None:
            self.operands.read(start, end)
        before = data[start - 1] if start else 0
        if before == 46 or (before == 58 and start > 1 and data[start - 2] == 58):  # "." or "::"
            return  # a member of the chain before
        if self._sigil:
            if data.endswith(self._sigil, 0, start):
                return  # a variable
            if self.spans and self.spans[-1][1] == start:
                return  # the first part of a name that was captured whole
        name = ""
        if self._has_blocks:
            name = scopes.text(start, end)
            if scopes.local_names.is_declared(name, scopes.frames):
                return
        if data.startswith(b"=", end) and not data.startswith((b"==", b"=>"), end):
            return  # the name of a keyword argument
        if self._rebinds and scopes.own_chain(name := name or scopes.text(start, end), start) != name:
            return  # a variable
        self.spans.append((scopes.use_scope(), start, end))


_TYPES_BY_DEFINITION = {
    "record_type_definition": "record", "enumeration_type_definition": "enum", "physical_type_definition": "record",
    "protected_type_declaration": "record", "protected_type_body": "!", "file_type_definition": "record",
}  # fmt: skip
_FIXED_LIBRARIES = ("ieee", "std")  # which are never of the repository
# Nodes whose first name, or only one, is no expression.
_NO_EXPRESSIONS = frozenset({
    "subtype_indication", "function_specification", "procedure_specification", "architecture_definition",
    "instantiated_unit", "component_instantiation_statement", "package_instantiation_declaration", "signature",
    "allocator", "alias_declaration", "entity_aspect", "configuration_head", "configuration_declaration",
    "component_specification", "secondary_unit_declaration", "index_subtype_definition", "context_reference",
    "attribute_declaration", "file_type_definition",
})  # fmt: skip


class DesignReader(RegionFacts):
    """Reader of names in VHDL: calls with what they are given, instances of entities and components, and types.

    An architecture goes on where its entity ends, and is named as a part of it.
    """

    kinds = (
        "_library", "_used", "_declared", "_body", "_block", "_instance", "_type", "_heading", "_object", "_loop",
        "_assigned", "_result", "_unit", "_term",
    )  # fmt: skip
    _notation: DesignNotation

    def __init__(self, data: bytes, definitions: list[Definition]) -> None:
        super().__init__(data, definitions, DesignNotation(data))
        self._notation.own.update(each.name for each in definitions)

    def read(self, captures: Mapping[str, Sequence[tree_sitter.Node]]) -> None:
        """Read all nodes in the order of the file, outer ones first."""
        for node in captures.get("_architecture", ()):
            self._name_architecture(node)
        super().read(captures)
        for name in sorted(self._notation.units):
            self.imports.append(Import(MODULE_SCOPE, ImportKind.MODULE, name, 0, "", "", 0))

    def _name_architecture(self, node: tree_sitter.Node) -> None:
        """Name an architecture, and what it has, behind its entity."""
        of = self._notation.parts(node.child_by_field_name("entity") or node)
        number = self._own(node)
        end = number
        while 0 <= end < len(self._definitions) and self._definitions[end].start_byte < node.end_byte:
            each = self._definitions[end]
            self._definitions[end] = each._replace(qualname=f"{of[-1]}.{each.qualname}")
            end += 1

    def _own(self, node: tree_sitter.Node) -> int:
        """Return the definition that a node is, or -1."""
        number = self._scope(node.start_byte)
        return number if number >= 0 and self._definitions[number].start_byte == node.start_byte else MODULE_SCOPE

    # -- declarations

    def _on_library(self, node: tree_sitter.Node) -> None:
        names = self._notation.text(node).removeprefix("library").strip(" \t\r\n;")
        self._notation.libraries.update({each.strip() for each in names.split(",")}.difference(_FIXED_LIBRARIES))

    def _on_used(self, node: tree_sitter.Node) -> None:
        row, scope = self._row(node.start_byte), self._scope(node.start_byte)
        if node.type == "context_reference":
            name = self._notation.text(node).removeprefix("context").strip(" \t\r\n;").rpartition(".")[2]
            self.imports.append(Import(scope, ImportKind.MODULE, name, 0, "", "", row))
            self.imports.append(Import(scope, ImportKind.STAR, name, 0, "*", "", row))
            return
        for each in [each for part in node.children if part.is_named for each in part.children if each.is_named]:
            names = [self._notation.text(child) for child in each.children if child.is_named]
            if (len(names) > 2 and names[0] not in _FIXED_LIBRARIES) or (
                len(names) == 2 and names[0] in self._notation.libraries and names[0] not in _FIXED_LIBRARIES
            ):
                names = names[1:]
            module = ".".join(names[:-1]) if len(names) > 1 else "".join(names)
            self.imports.append(Import(scope, ImportKind.MODULE, module, 0, "", "", row))
            if len(names) > 1:
                self.imports.append(Import(scope, ImportKind.STAR, module, 0, "*", "", row))

    def _on_declared(self, node: tree_sitter.Node) -> None:
        """Mark what is only declared here."""
        if (number := self._own(node)) >= 0:
            self.returns[number] = ";"

    def _on_body(self, node: tree_sitter.Node) -> None:
        """Mark the body of a package, which others do not see, and a context, which has but use clauses."""
        if (number := self._own(node)) >= 0:
            self.returns[number] = "@" if node.type == "context_declaration" else "!"

    def _on_instance(self, node: tree_sitter.Node) -> None:
        """Read another name, or an instance of a package or subprogram that is generic."""
        number = self._own(node)
        name = next((each for each in node.children if each.type == "name"), None)
        if name is None:
            return
        path, type_ = self._notation.path(name), self._notation.mark_of(node)
        if number >= 0:
            is_alias = node.type == "alias_declaration"
            self.returns[number] = f"{self._read_signature(number, name)}{'=' if is_alias else '+'}{path}"
            self.references.append(Reference(self._definitions[number].parent, f"::{path}", self._row(name.start_byte)))
            return
        for each in node.children:
            if each.type == "identifier":
                value = self._values.get(each.start_byte, MODULE_SCOPE)
                if value >= 0:
                    self.returns[value] = type_ or f"={path}"
                else:
                    self._bind(
                        self._scope(node.start_byte), each, type_, "" if type_ else self._notation.chain(name, 1)
                    )
                break

    def _read_signature(self, number: int, name: tree_sitter.Node) -> str:
        """Set what another name of a subprogram takes, and return what it gives."""
        signature = next((each for each in name.children if each.type == "signature"), None)
        if signature is None:
            return ""
        words = [each.type for each in signature.children]
        end = words.index("return") if "return" in words else len(words)
        taken = [self._notation.path(each) for each in signature.children[:end] if each.type == "name"]
        self.parameters[number] = tuple(f"{place}:{type_}=" for place, type_ in enumerate(taken))
        given = [self._notation.path(each) for each in signature.children[end:] if each.type == "name"]
        return given[0] if given else ""

    def _on_type(self, node: tree_sitter.Node) -> None:
        number = self._own(node)
        if number < 0:
            return
        text = ""
        for each in node.children:
            text = _TYPES_BY_DEFINITION.get(each.type, text)
            if each.type == "array_type_definition":
                text = f"[]{self._notation.mark_of(each)}"
            elif each.type == "access_type_definition":
                text = f"^{self._notation.mark_of(each)}"
            elif each.type == "range_constraint":
                text = "#r" if "." in self._notation.text(each) else "#i"
        self.returns[number] = f"={self._notation.mark_of(node)}" if node.type == "subtype_declaration" else text

    def _on_heading(self, node: tree_sitter.Node) -> None:
        number = self._own(node)
        if number < 0 or self._definitions[number].kind not in CALLABLE_KINDS:
            return
        taken: list[str] = []
        part = next((each for each in node.children if each.type == "parameter_list_specification"), None)
        listed = next((each for each in part.children if each.type == "interface_list"), None) if part else None
        for each in listed.children if listed is not None else ():
            names = next((child for child in each.children if child.type == "identifier_list"), None)
            type_ = self._notation.mark_of(each)
            mode = next((child for child in each.children if child.type == "simple_mode_indication"), each)
            is_optional = any(child.type == "initialiser" for child in (*each.children, *mode.children))
            for name in names.children if names is not None else ():
                if name.is_named and name.type != "line_comment":
                    taken.append(f"{self._notation.text(name)}:{type_}{'=' if is_optional else ''}")
                    self._bind(number, name, type_, "")
        self.parameters[number] = tuple(taken)
        if node.type == "function_specification":
            self.returns[number] = self._notation.mark_of(node) + self.returns.get(number, "")

    def _on_object(self, node: tree_sitter.Node) -> None:
        names = next((each for each in node.children if each.type == "identifier_list"), None)
        around = node.parent.parent if node.parent is not None else None
        if names is None or (around is not None and around.type == "parameter_list_specification"):
            return
        inside = around.parent.type if around is not None and around.parent is not None else ""
        type_ = self._notation.mark_of(node)
        for name in names.children:
            number = self._values.get(name.start_byte)
            if number is not None:
                self.returns[number] = type_
            elif name.is_named and inside != "component_body" and node.type != "element_declaration":
                self._bind(self._scope(node.start_byte), name, type_, "")
        start = next((each for each in node.children if each.type == "initialiser"), None)
        if start is not None and type_:
            self._want(start.children[-1], f":{type_}")

    def _on_loop(self, node: tree_sitter.Node) -> None:
        name = next((each for each in node.children if each.type == "identifier"), None)
        over = node.children[-1]
        if name is not None:
            is_type = over.type == "simple_expression" and "'" not in self._notation.text(over)
            type_ = self._notation.text(over) if is_type and self._notation.text(over).isidentifier() else ""
            first = over.children[0] if over.type == "simple_range" else None
            value = self._notation.value(first, 1) if first is not None else "#i"
            self._bind(self._scope(node.start_byte), name, type_, "" if type_ else value)

    # -- uses

    def _want(self, expression: tree_sitter.Node, wanted: str) -> None:
        """Note what an expression is wanted for if it is one name, in brackets or not."""
        for _ in range(MAX_VALUE_DEPTH + 2):
            self._wanted[expression.start_byte, expression.end_byte] = wanted
            inside = [each for each in expression.children if each.is_named]
            if len(inside) != 1 or expression.type == "name":
                break
            (expression,) = inside

    def _on_assigned(self, node: tree_sitter.Node) -> None:
        named = [each for each in node.children if each.is_named]
        if named and named[0].type == "name":
            self._want(named[-1], f"={self._notation.chain(named[0], 1)}")

    def _on_result(self, node: tree_sitter.Node) -> None:
        named = [each for each in node.children if each.is_named]
        if named:
            self._want(named[-1], "return")

    def _on_unit(self, node: tree_sitter.Node) -> None:
        """Record an instance as a call of its entity or component."""
        unit = next((each for each in node.children if each.type == "instantiated_unit"), node)
        for kind in ("entity", "component", "configuration"):
            name = unit.child_by_field_name(kind)
            if name is not None:
                chain = ".".join(self._notation.parts(name))
                self.calls.append(Call(self._scope(node.start_byte), chain, self._row(name.end_byte - 1), "", ">unit"))
                return

    def _on_term(self, node: tree_sitter.Node) -> None:
        around = node.parent
        if around is None or around.type in _NO_EXPRESSIONS:
            return
        is_first = around.children[0] == node
        if is_first and around.type == "association_element" and len(around.children) > 1:
            return  # the name of what is given
        groups = self._notation.groups(node)
        if not groups or groups[0][1].type.startswith(("library_constant_std", "library_constant_bool", "operator_")):
            return
        is_statement = around.type.endswith("procedure_call_statement")
        wanted = "-" if is_statement else self._wanted.get((node.start_byte, node.end_byte), "")
        is_written = is_first and around.type.endswith("assignment")
        for at, (sign, part) in enumerate(groups):
            behind = groups[at + 1][0] if at + 1 < len(groups) else ""
            if sign == "'":
                break
            if sign not in ("", ".") or part.type == "ALL":
                continue
            if behind == "(":
                self._keep(groups[: at + 1], groups[at + 1][1], wanted if at + 2 == len(groups) else "")
            elif behind == "" and not is_written:
                self._keep(groups, None, wanted)
            elif behind == ":" or (is_written and behind == ""):
                self._keep(groups[: at + 1], None, ".")

    def _keep(
        self, groups: Sequence[tuple[str, tree_sitter.Node]], given_in: tree_sitter.Node | None, wanted: str
    ) -> None:
        last = groups[-1][1]
        chain = self._notation.spell(groups, 0)
        if last.type == "library_type" or (len(groups) == 1 and last.type.startswith("library_") and given_in is None):
            return
        given = list(self._notation.arguments(given_in, MAX_VALUE_DEPTH)) if given_in is not None else []
        for place, (name, _, expression) in enumerate(given):
            if expression is not None:
                self._want(expression, f"|{chain}|{name or place}|{len(given)}")
        if any(sign == "(" for sign, _ in groups):
            wanted = f"{wanted}@{self._notation.spell(groups[:-1], 2)}".replace(",", "")
        written = [value.replace(",", "") for _, value, _ in given] + ([f">{wanted}"] if wanted else [])
        self.calls.append(
            Call(
                self._scope(groups[0][1].start_byte),
                chain,
                self._row(last.start_byte),
                "?" * len(given),
                ",".join(written),
            )
        )
