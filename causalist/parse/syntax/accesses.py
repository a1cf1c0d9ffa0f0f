"""Accesses of members and variables: captures in, `Access` and `Lookup` facts out.

A plain name that is used is a `Reference` already. Accesses are chains that begin with a local name or `self`, and
everything that is assigned. The receiver of a call is part of the chain of the call.

Lookups are values that code requests by a literal name: environment variables and configuration keys. The text is
searched for the few words of such requests. A match counts if the syntax tree has a name there, not a comment or
string. The tree is not walked, so that files without such words cost next to nothing.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import tree_sitter

from causalist.model.facts import MODULE_SCOPE, Access, AccessKind, Definition, Lookup
from causalist.model.language_settings import LookupSettings
from causalist.model.node_ids import NodeKind
from causalist.parse.syntax.bindings import BindingReader
from causalist.parse.syntax.capture_names import Tag
from causalist.parse.syntax.chains import chain_of
from causalist.parse.syntax.imports import ImportReader
from causalist.parse.syntax.open_scopes import BlockScopes, Scopes
from causalist.parse.syntax.uses import UseReader

_MAX_PENDING_BINDINGS = 4  # bindings whose type or value may follow
_MAX_CHAIN_BYTES = 200  # bytes of a chain that is read
_MIXED = re.compile(rb"[(\[<{]")  # calls and elements, of which nothing is said here
_MARKS = re.compile(r"[(?\[<:!]")
_BARE = re.compile(rb"[^\W\d]\w*")
_HEAD = re.compile(rb"\$?" + _BARE.pattern)
_UPDATED = re.compile(rb"\s*(?:\+\+|--|(?:[-+*/%&|^@]|<<|>>>?|\*\*|//|\?\?|&&|\|\|)=)")
_OWN = re.compile(r"['#~]\d+$")  # number of a variable that shares its name with others


class AccessReader:
    """Reader of accesses.

    `accesses` is complete after `finish`, which runs before bindings are finished.
    """

    def __init__(
        self, scopes: Scopes, named: BindingReader, modules: ImportReader, uses: UseReader, declared: BlockScopes
    ) -> None:
        self.accesses: list[Access] = []
        self._scopes = scopes
        self._named = named
        self._modules = modules
        self._uses = uses
        self._declared = declared
        self._settings = scopes.settings
        self._own_names = frozenset((*scopes.settings.names.self_names, *scopes.settings.names.super_names))
        self._kept: list[tuple[int, Access]] = []  # start byte
        self._bare: list[Access] = []  # names that get a value, to be looked at again at the end
        self._assigned: Counter[tuple[int, str]] = Counter()  # bindings that declare nothing
        self._written = (-1, -1)
        self._read_from = -1  # start of the last chain that is kept whole
        self._informative: set[str] = set()  # names with a known type or value so far
        self._n_seen = 0  # bindings that were looked at for that

    def handlers(self) -> dict[Tag, Callable[[int, int, int], None]]:
        """Return the handlers of the captures of accesses."""
        return {
            Tag.INVOKED_NAME: self.on_invoked,
            Tag.INVOKED_TYPE: self.on_invoked,
            Tag.CALL_ARGUMENTS: self.on_invoked,
            Tag.WRITTEN: self.on_written,
            Tag.MEMBER: self.on_member,
        }

    def on_written(self, start: int, end: int, tag: int) -> None:
        """Record a write to a name or to one of its elements."""
        self._written = (start, end)
        scopes, frames = self._scopes, self._scopes.frames
        if end - start > _MAX_CHAIN_BYTES or not _BARE.fullmatch(scopes.data, start, end):
            return
        if frames and frames[-1].name_start == start:
            return  # the name of a definition
        names, is_bound = self._settings.names, self._named.taken == start
        if is_bound and not (names.assigned_outside or self._named.has_globals):
            return  # a name of the function or file itself
        name = scopes.text(start, end)
        if self._settings.types.prefixed:
            is_local = self._declared.is_local(name, start)
        elif names.block_scopes:
            is_local = scopes.is_local(name)
        else:
            is_local = scopes.own_chain(name, start) != name
        if not is_local:
            access = Access(scopes.use_scope(), name, scopes.row(start), self._kind(end))
            if is_bound or names.assigned_outside:
                self._bare.append(access)
                self._assigned[scopes.binding_scope(), name] += is_bound
            else:
                self._kept.append((start, access))

    def on_member(self, start: int, end: int, tag: int) -> None:
        """Record a chain that begins with a local name or `self`."""
        uses, scopes = self._uses, self._scopes
        if start < uses.skipped_to or (start, end) == uses.called or start == self._read_from:
            return
        if self._modules.group is not None or end - start > _MAX_CHAIN_BYTES:
            return
        if _MIXED.search(scopes.data, start, end) or (self._written != (start, end) and not self._may_tell(start)):
            return
        if self._settings.types.prefixed:
            chain = self._declared.chain_of(start, end)
        else:
            chain = scopes.own_chain(chain_of(scopes.text(start, end)), start)
        if "." not in chain or _MARKS.search(chain):
            return
        self._read_from = start
        kind = self._kind(end) if self._written == (start, end) else AccessKind.READ
        if kind == AccessKind.READ and self._settings.names.block_scopes:
            head = chain.partition(".")[0]
            if head not in self._own_names and not scopes.is_local(_OWN.sub("", head)):
                return  # a reference
        self._kept.append((start, Access(scopes.use_scope(), chain, scopes.row(start), kind)))

    def _may_tell(self, start: int) -> bool:
        """Return True if the first name of a chain can matter. Most cannot and are skipped early."""
        matched = _HEAD.match(self._scopes.data, start)
        if matched is None:
            return False
        head = matched[0].decode()
        if head in self._own_names or head in self._informative or self._settings.types.prefixed:
            return True
        bindings = self._named.bindings
        # Types and values of the last names may have arrived since.
        for binding in bindings[max(0, self._n_seen - _MAX_PENDING_BINDINGS) :]:
            if binding.type or binding.value:
                self._informative.add(_OWN.sub("", binding.target))
        self._n_seen = len(bindings)
        return head in self._informative

    def on_invoked(self, start: int, end: int, tag: int) -> None:
        """Read a call in grammars in which a callee begins before its name, and drop the member read before."""
        uses = self._uses
        uses.plain_callee = -1
        read = uses.on_arguments if tag == Tag.CALL_ARGUMENTS else uses.on_invoked_name
        read(start, end, tag)
        while uses.plain_callee >= 0 and self._kept and self._kept[-1][0] >= uses.plain_callee:
            self._kept.pop()

    def finish(self) -> None:
        """Keep all accesses except references: reads of chains whose first name is defined or imported here."""
        typed_names = {_OWN.sub("", b.target) for b in self._named.bindings if b.type or b.value}
        declared = {entry.alias or entry.module.partition(".")[0] for entry in self._modules.imports}
        declared.update(draft.name for draft in self._scopes.drafts)
        bound = Counter((b.scope, b.target) for b in self._named.bindings) if self._bare else Counter()
        result = [a for a in self._bare if self._means_outer(a, bound)]
        for _, access in self._kept:
            written = access.name.partition(".")[0]
            head = _OWN.sub("", written)
            is_reference = written == head and head in declared
            if access.how != AccessKind.READ or head in self._own_names or (head in typed_names and not is_reference):
                result.append(access)
        self.accesses = sorted(result, key=lambda a: (a.row, a.scope, a.name, a.how))

    def _means_outer(self, access: Access, bound: "Counter[tuple[int, str]]") -> bool:
        """Return True if a name that a function assigns belongs to an outer scope."""
        if self._named.is_global(access.scope, access.name):
            return True
        if not self._settings.names.assigned_outside:
            return False
        scope = access.scope
        while scope != MODULE_SCOPE:
            if bound[scope, access.name] > self._assigned[scope, access.name]:
                return False
            scope = self._scopes.drafts[scope].parent
        return True

    def _kind(self, end: int) -> AccessKind:
        return AccessKind.UPDATE if _UPDATED.match(self._scopes.data, end) else AccessKind.WRITE


_BEFORE = re.compile(rb"(?:\w+\s*(?:\.|::)\s*)*$")  # the chain before the word
_MAX_PREFIX_BYTES = 100
_NO_NAMES = ("comment", "string", "text", "content", "fragment")  # in the types of nodes that are no code


def read_lookups(
    settings: Sequence[LookupSettings], tree: tree_sitter.Tree, data: bytes, definitions: Sequence[Definition]
) -> tuple[Lookup, ...]:
    """Return all lookups of a file, by position."""
    lookups = []
    for number, setting in enumerate(settings):
        if setting.word.encode() in data:
            for start, key, writes in _find_lookups(setting, data):
                node = tree.root_node.descendant_for_byte_range(start, start + 1)
                if node is not None and not any(word in node.type for word in _NO_NAMES):
                    scope = _scope_at(definitions, start)
                    lookups.append(
                        (start, Lookup(scope, number, _first_name(data, start), key, node.start_point[0], writes))
                    )
    return tuple(lookup for _, lookup in sorted(lookups))


def _find_lookups(each: LookupSettings, data: bytes) -> Iterator[tuple[int, str, int]]:
    """Yield (start of the word, key, 1 if it is set) for each match."""
    written = set()
    for writes, pattern in ((1, each.written), (0, each.read)):
        if pattern:
            for matched in _compile_lookup(each.word, pattern).finditer(data):
                if matched.start() not in written:
                    written.add(matched.start())
                    yield matched.start(), matched["key"].decode("utf-8", "replace"), writes


@cache
def _compile_lookup(word: str, pattern: str) -> "re.Pattern[bytes]":
    return re.compile((re.escape(word) + pattern).encode())


def _first_name(data: bytes, start: int) -> str:
    """Return the first name of the chain in which the word occurs."""
    first = max(0, start - _MAX_PREFIX_BYTES)
    matched = _BEFORE.search(data[first:start])
    before = matched[0] if matched else b""
    if not before:
        return ""
    head = re.match(rb"\w+", before)
    return head[0].decode("utf-8", "replace") if head else ""


def _scope_at(definitions: Sequence[Definition], byte: int) -> int:
    """Return the innermost definition around a byte, constants and fields aside."""
    scope = MODULE_SCOPE
    for number, each in enumerate(definitions):
        if each.start_byte <= byte < each.end_byte and each.kind not in (NodeKind.CONSTANT, NodeKind.FIELD):
            scope = number
    return scope
