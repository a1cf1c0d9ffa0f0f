"""Uses of names: captures of calls and names in, `Call` and `Reference` facts out.

A name in a chain that is called as a whole is no use of its own; what stands before a byte that was read is left out.
"""

import re

from causalist.model.facts import Call, Reference
from causalist.parse.syntax.bindings import BindingReader
from causalist.parse.syntax.calls import CallReader
from causalist.parse.syntax.captures import Tag
from causalist.parse.syntax.chains import chain_of, last_of_chain, type_name
from causalist.parse.syntax.declarations import Declarations
from causalist.parse.syntax.imports import ImportReader
from causalist.parse.syntax.scopes import Scopes
from causalist.parse.syntax.tokens import callee_before
from causalist.parse.syntax.typed_expressions import callee_of

_LONGEST_CHAIN = 1000  # bytes of a chain that is called or used
_LONGEST_NAME = 200
_GAP_BEFORE = 8  # bytes of "(await " before a call that imports
_CHAIN = re.compile(rb"\.?[\w$]+(?:\s*\??\.\s*[\w$]+)*")
_CONSTANTS = re.compile(rb"\.?[A-Z]\w*(?:\s*\.\s*[A-Z]\w*)*")
_PATH = re.compile(rb"[\w$]+(?:(?:\s*\.\s*|::)[\w$]+)*")
# A pair of an object, or a type, and the name of a method; "::" may have been read as a dot.
_COUNTED = re.compile(r"([\w.]+[?!]?)\s*/\s*\d+")  # a function by the number of its arguments
_WRITTEN_TYPE = re.compile(r"(?<![\w.:])((?:[A-Z]\w*\.)*[a-z_]\w*)\(")
_PAIR = re.compile(
    r"""(?:\[|\w+\s*\()\s*(?:(?P<variable>\$\w+)|(?P<type>[\w\\.]+?)\s*(?:::|\.)\s*class)\s*,"""
    r"""\s*["'](?P<name>\w+)["'][\s,]*[\])]"""
)


class UseReader:
    """Reads the captures of uses. `calls` is complete when the sweep is; `references` are to be asked for then."""

    def __init__(self, scopes: Scopes, named: BindingReader, modules: ImportReader, declared: Declarations) -> None:
        self.calls: list[Call] = []
        self.whole_calls = CallReader(scopes, self.calls)
        self.taken = -1  # start of the last name that is not a use
        self._scopes = scopes
        self._settings = scopes.settings
        self._named = named
        self._modules = modules
        self._declared = declared
        self._prefixed = scopes.settings.types.prefixed
        self._sigil = scopes.settings.names.sigil.encode()
        self._bare_calls = scopes.settings.names.bare_calls
        self._signs = frozenset(sign.encode() for sign in scopes.settings.names.signs)
        self._builtin_names = frozenset(scopes.settings.builtin_names)
        self._kept: list[Reference] = []  # where scopes are blocks, which uses are local is known at once
        self._call_starts: list[int] = []
        self._spans: list[tuple[int, int, int]] = []  # scope, start, end of names that may be uses
        self._passed_on: list[Reference] = []  # functions that are named in order to be called by others
        self.skipped_to = -1  # uses before this byte are not kept: they belong to a callee that was read whole, for one
        self.called = (-1, -1)  # the last callee
        self.plain_callee = -1  # start of the last invoked chain of names

    def skip(self, end: int) -> None:
        """Uses before this byte are not kept."""
        self.skipped_to = max(self.skipped_to, end)

    def references(self) -> list[Reference]:
        """Uses of names that this file defines or imports; others lead nowhere and are not kept."""
        if self._prefixed:
            return self._kept
        known = {entry.alias or entry.module.partition(".")[0] for entry in self._modules.imports}
        known.update(draft.name for draft in self._scopes.drafts)
        known.update(name for name, _ in self._scopes.settings.modules.relative)
        names = self._scopes.settings.names
        separator = names.path_separator
        chains = _CONSTANTS if self._bare_calls else _PATH if separator and not names.joins else _CHAIN
        # Where files share a scope, a name that this file does not know may be another's; locals are left out before.
        filtered = not (names.block_scopes or self._scopes.settings.modules.namespaces)
        result = [*self._passed_on]
        for scope, start, end in self._spans:
            name = self._scopes.text(start, end)
            # `Self::open`; a `self` in front of a dot is an `Access`.
            own = separator and name in names.self_names and self._scopes.data.startswith(separator.encode(), end)
            if not filtered or own or name in known:
                chain = self._chain_at(start, end, chains)
                if chain and chain not in names.self_names:
                    chain = chain.replace(separator, ".") if separator else chain
                    result.append(Reference(scope, chain, self._scopes.row(start)))
        return result

    def _chain_at(self, start: int, end: int, chains: "re.Pattern[bytes]" = _CHAIN) -> str:
        matched = chains.match(self._scopes.data, start, max(end, start + _LONGEST_CHAIN))
        return re.sub(r"[\s?]+", "", self._scopes.text(start, matched.end())) if matched else ""

    def _keep(self, chain: str, start: int, row_at: int) -> None:
        self.calls.append(Call(self._scopes.use_scope(), chain, self._scopes.row(row_at)))
        self._call_starts.append(start)

    def on_call(self, start: int, end: int, tag: int) -> None:
        if self._settings.names.clauses and (start == self.taken or start < self.skipped_to):
            return  # what looks like a call is the head of a definition
        self.called = (start, end)
        if end - start > _LONGEST_CHAIN:  # only the end is decoded: chains of calls hold one another
            chain = last_of_chain(self._scopes.text(end - _LONGEST_NAME, end))
        elif self._prefixed:
            chain = self._declared.chain_of(start, end)
        elif self._settings.shapes.sequences:
            chain = callee_of(self._scopes.text(start, end), self._settings.shapes)
        else:
            chain = self._scopes.own_chain(
                chain_of(self._scopes.text(start, end), bool(self._settings.types.containers)), start
            )
        if chain and self._signs and self._scopes.data[end - 1 : end] in self._signs:
            chain += self._scopes.text(end - 1, end)
        if chain:
            self._keep(chain, start, max(end - 1, start))
            if not any(mark in chain for mark in "(?["):
                self.skip(end)

    def on_require_module(self, start: int, end: int, tag: int) -> None:
        """What is done with a module on the spot, `require("m").f()`, is done with a name that nobody else can have."""
        called = self._modules.on_require_module(start, end)
        if not called:
            return
        head, at = called
        for i in range(len(self.calls) - 1, -1, -1):
            if self._call_starts[i] < at - _GAP_BEFORE:
                break
            call = self.calls[i]
            if call.callee.startswith(f"{head}()"):
                alias = self._modules.name_inline(call.scope)
                self.calls[i] = call._replace(callee=alias + call.callee[len(head) + 2 :])

    def on_invoked_name(self, start: int, end: int, tag: int) -> None:
        begin, chain = self.whole_calls.on_name(start, end, tag == Tag.INVOKED_TYPE)
        plain = chain and "(" not in chain and chain[0] not in "?<"
        self.plain_callee = begin if plain else -1
        # Where all that follows a type is a call, `User.find(1)`, what is called is often inherited from outside.
        until = end if self._bare_calls else len(self._scopes.data)
        while self._spans and (begin if plain and not self._bare_calls else start) <= self._spans[-1][1] < until:
            self._spans.pop()  # the names of a chain that is called
        self.skip(end)

    def on_arguments(self, start: int, end: int, tag: int) -> None:
        name = self.whole_calls.on_arguments(start, end)
        if name is not None:
            self.on_invoked_name(*name, Tag.INVOKED_NAME)

    def on_word(self, start: int, end: int, tag: int) -> None:
        is_other = start in (self.taken, self._named.taken) or start < self.skipped_to
        if not is_other and self._modules.group is None:
            self.whole_calls.on_word(start, end)

    def finish(self) -> None:
        """Completes the calls; bindings have to be known."""
        self.whole_calls.finish()
        self.calls += self.whole_calls.words({(b.scope, b.target) for b in self._named.bindings})

    def on_further(self, start: int, end: int, tag: int) -> None:
        """Arguments behind the list of a call, or in the place of one."""
        if not self.whole_calls.on_further(start, end):
            if not self.whole_calls.is_listed():
                self.on_arguments(start, end, Tag.CALL_ARGUMENTS)
            self.whole_calls.on_argument(start, end, Tag.CALL_ARGUMENT)

    def on_callable(self, start: int, end: int, tag: int) -> None:
        text = self._scopes.text(start, min(end, start + _LONGEST_CHAIN))
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
            self._passed_on.append(Reference(self._scopes.use_scope(), bare, self._scopes.row(start)))
        if chain:
            self._passed_on.append(
                Reference(
                    self._scopes.use_scope(), f"{self._scopes.current(chain)}::{name.strip()}", self._scopes.row(start)
                )
            )

    def on_types(self, start: int, end: int, tag: int) -> None:
        """Types that are written as calls are."""
        for named in _WRITTEN_TYPE.finditer(self._scopes.text(start, end)):
            self._hand_on(named[1], start, end)

    def _hand_on(self, chain: str, start: int, end: int) -> None:
        self._passed_on.append(Reference(self._scopes.use_scope(), chain, self._scopes.row(start)))
        self.skip(end)

    def on_macro(self, start: int, end: int, tag: int) -> None:
        chain = chain_of(self._scopes.text(start, min(end, start + _LONGEST_NAME)))
        if chain and start >= self.skipped_to:
            self._keep(f"{chain}!", start, start)
            self.skip(end)

    def on_token_call(self, start: int, end: int, tag: int) -> None:
        first, chain = callee_before(self._scopes.data, start)
        if not chain or first < self.skipped_to:
            return
        while self._spans and self._spans[-1][1] >= first:
            self._spans.pop()
        self._keep(self._scopes.own_chain(chain, first), start, start)
        self.skip(start)

    def _on_scoped_reference(self, start: int, end: int) -> None:
        data, declared = self._scopes.data, self._declared
        if start in (self.taken, declared.taken) or start < self.skipped_to or self._modules.group is not None:
            return
        if start and data[start - 1] == 46 and data[start - 3 : start] != b"...":
            return
        name = self._scopes.text(start, end)
        # A member of a local name is kept where it is handed on: a method that somebody else will call.
        handed_on = start == declared.handed_on and data[end : end + 1] == b"."
        if handed_on or not (name in self._builtin_names or declared.is_local(name, start)):
            chain = declared.spell(self._chain_at(start, end), start)
            if chain:
                self._kept.append(Reference(self._scopes.use_scope(), chain, self._scopes.row(start)))

    def on_reference(self, start: int, end: int, tag: int) -> None:
        if self._prefixed:
            self._on_scoped_reference(start, end)
            return
        if start in (self.taken, self._named.taken) or start < self.skipped_to or self._modules.group is not None:
            return
        data = self._scopes.data
        if start and (data[start - 1] == 46 or data[start - 2 : start] == b"::"):  # a member of what stands before
            return
        names = self._settings.names
        if self._sigil:
            if data.endswith(self._sigil, 0, start):
                return  # a variable
            if self._spans and self._spans[-1][1] == start:
                return  # the first part of a name that was captured whole
        if names.block_scopes and self._scopes.is_local(self._scopes.text(start, end)):
            return
        if data[end : end + 1] == b"=" and data[end + 1 : end + 2] not in (b"=", b">"):
            return  # the name of a keyword argument
        if names.rebinding:
            name = self._scopes.text(start, end)
            if self._scopes.own_chain(name, start) != name:
                return  # a variable
        self._spans.append((self._scopes.use_scope(), start, end))
