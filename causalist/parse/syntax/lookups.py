"""Values that are asked for by a literal name: environment variables and keys of a configuration.

Text is searched for the few words by which a language asks; what is found counts if the syntax tree has a name there,
no comment and no string. The tree is not walked, so that files without such words cost next to nothing.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

import tree_sitter

from causalist.model.facts import MODULE_SCOPE, Definition, Lookup
from causalist.model.language import LookupSettings
from causalist.model.symbols import NodeKind

_BEFORE = re.compile(rb"(?:\w+\s*(?:\.|::)\s*)*$")  # what the word is taken from
_LONGEST_BEFORE = 100
_NO_NAMES = ("comment", "string", "text", "content", "fragment")  # in the types of nodes that are no code


def read_lookups(
    settings: Sequence[LookupSettings], tree: tree_sitter.Tree, data: bytes, definitions: Sequence[Definition]
) -> tuple[Lookup, ...]:
    """All of a file, by position."""
    found = []
    for number, each in enumerate(settings):
        if each.word.encode() in data:
            for start, key, writes in _found(each, data):
                node = tree.root_node.descendant_for_byte_range(start, start + 1)
                if node is not None and not any(word in node.type for word in _NO_NAMES):
                    scope = _scope_at(definitions, start)
                    found.append((start, Lookup(scope, number, _head(data, start), key, node.start_point[0], writes)))
    return tuple(lookup for _, lookup in sorted(found))


def _found(each: LookupSettings, data: bytes) -> Iterator[tuple[int, str, int]]:
    """(start of the word, key, whether it is set) for each place."""
    written = set()
    for writes, pattern in ((1, each.written), (0, each.read)):
        if pattern:
            for matched in _compiled(each.word, pattern).finditer(data):
                if matched.start() not in written:
                    written.add(matched.start())
                    yield matched.start(), matched["key"].decode("utf-8", "replace"), writes


@cache
def _compiled(word: str, pattern: str) -> "re.Pattern[bytes]":
    return re.compile((re.escape(word) + pattern).encode())


def _head(data: bytes, start: int) -> str:
    """The first name of the chain in which the word stands."""
    first = max(0, start - _LONGEST_BEFORE)
    matched = _BEFORE.search(data[first:start])
    before = matched[0] if matched else b""
    if not before:
        return ""
    head = re.match(rb"\w+", before)
    return head[0].decode("utf-8", "replace") if head else ""


def _scope_at(definitions: Sequence[Definition], byte: int) -> int:
    """The innermost definition around a byte that is no value."""
    found = MODULE_SCOPE
    for number, each in enumerate(definitions):
        if each.start_byte <= byte < each.end_byte and each.kind not in (NodeKind.CONSTANT, NodeKind.FIELD):
            found = number
    return found
