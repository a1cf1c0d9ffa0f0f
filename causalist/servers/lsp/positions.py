"""Positions in an editor's text: characters and bytes, where definitions stand, and the node at a position.

The index has the positions while a document equals its indexed version. Otherwise the document is parsed by itself,
which is fast, so that lenses stay above their definitions during typing.

A line ends at LF, CR LF or CR. The protocol counts characters of a line in units of the negotiated encoding (UTF-16 by
default); Causalist counts bytes of UTF-8. A position after the end of its line means the end, and one inside a
character means its start.
"""

import re
from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types

from causalist.model.graph import EdgeKind
from causalist.model.symbols import CALLABLE_KINDS, TYPE_KINDS, NodeKind, file_id, split_id, symbol_id, unescape_name

if TYPE_CHECKING:
    from causalist.model.facts import FileFacts
    from causalist.pipeline.repository import Repository

_LINE_END = re.compile(rb"\r\n|\n|\r")
# Documents may hold lone surrogates, because JSON can.
_ERRORS = "surrogatepass"


class DocumentText:
    """Content of a document in UTF-8, with positions in units of `encoding`."""

    def __init__(self, data: bytes, encoding: types.PositionEncodingKind | str = types.PositionEncodingKind.Utf16):
        self.data = data
        self.encoding = encoding
        self._starts: list[int] | None = None

    @property
    def starts(self) -> list[int]:
        """Start byte of each line, ascending; the first is 0."""
        if self._starts is None:
            self._starts = [0, *(match.end() for match in _LINE_END.finditer(self.data))]
        return self._starts

    def position(self, byte: int) -> types.Position:
        """Return the position of a byte."""
        byte = max(0, min(byte, len(self.data)))
        line = bisect_right(self.starts, byte) - 1
        return types.Position(line, self._units(self.data[self.starts[line] : byte]))

    def range(self, start: int, end: int) -> types.Range:
        """Return the range of the bytes `start` up to `end`."""
        return types.Range(self.position(start), self.position(end))

    def byte(self, position: types.Position) -> int:
        """Return the byte of a position, which may be out of range."""
        if position.line < 0:
            return 0
        if position.line >= len(self.starts):
            return len(self.data)
        start, end = self.line(position.line)
        text = self.data[start:end]
        if self.encoding == types.PositionEncodingKind.Utf8:
            byte = min(max(0, position.character), len(text))
            while 0 < byte < len(text) and 0x80 <= text[byte] < 0xC0:
                byte -= 1
            return start + byte
        if text.isascii():
            return start + min(max(0, position.character), len(text))
        units = byte = 0
        is_wide = self.encoding == types.PositionEncodingKind.Utf16
        for character in text.decode("utf-8", _error_handler(text)):
            units += 2 if is_wide and character > "\uffff" else 1
            if units > position.character:
                break
            byte += len(character.encode("utf-8", _ERRORS))
        return start + byte

    def line(self, number: int) -> tuple[int, int]:
        """Return the first byte of a line and the byte after its last character."""
        start = self.starts[number]
        if number + 1 == len(self.starts):
            return start, len(self.data)
        end = self.starts[number + 1]
        return start, start + len(self.data[start:end].rstrip(b"\r\n"))

    def edited(self, change: types.TextDocumentContentChangeEvent) -> "DocumentText":
        """Return the text after a change."""
        new = change.text.encode("utf-8", _ERRORS)
        if isinstance(change, types.TextDocumentContentChangePartial):
            start, end = self.byte(change.range.start), self.byte(change.range.end)
            start, end = min(start, end), max(start, end)
            new = self.data[:start] + new + self.data[end:]
        return DocumentText(new, self.encoding)

    def _units(self, text: bytes) -> int:
        if self.encoding == types.PositionEncodingKind.Utf8 or text.isascii():
            return len(text)
        decoded = text.decode("utf-8", _error_handler(text))
        if self.encoding == types.PositionEncodingKind.Utf32:
            return len(decoded)
        return len(decoded) + sum(character > "\uffff" for character in decoded)


def encode_text(content: str, encoding: types.PositionEncodingKind | str) -> DocumentText:
    """Return the text of a document as it was opened."""
    return DocumentText(content.encode("utf-8", _ERRORS), encoding)


def _error_handler(text: bytes) -> str:
    """Return the decoding error handler for lone surrogates, or for text in another encoding."""
    try:
        text.decode("utf-8", _ERRORS)
    except UnicodeDecodeError:
        return "replace"
    return _ERRORS


SHOWN_KINDS = CALLABLE_KINDS | TYPE_KINDS
_WORD = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_REPEATED = re.compile(r"~\d+$")
# Decorators and attributes above a definition.
_ATTRIBUTE = re.compile(rb"\s*(@|#\[)")
_MAX_DOCUMENTS = 16  # documents with cached facts


class PlacedDefinition(NamedTuple):
    """Definition with its id and the byte spans of itself and of its name."""

    node: str
    kind: NodeKind
    start: int
    end: int
    name: tuple[int, int]


class DefinitionLocator:
    """Definitions in texts, with a cache of the last ones. Safe for several threads."""

    def __init__(self) -> None:
        self._parsed: dict[tuple[str, str], FileFacts] = {}

    def definitions(self, repository: "Repository | None", path: str, text: DocumentText) -> list[PlacedDefinition]:
        """Return the definitions of a file in the order of their lines, without fields and parameters."""
        if repository is not None and is_indexed(repository, path, text):
            nodes = repository.index.graph.nodes
            file = nodes.ids.position(file_id(path))
            inside = nodes.ids.prefix_range(f"{file_id(path)}::")
            found = [
                (
                    nodes.ids[n],
                    NodeKind(int(nodes.kinds[n])),
                    int(nodes.start_bytes[n]),
                    int(nodes.end_bytes[n]),
                    nodes.signatures[n],
                )
                for n in inside
                if nodes.files[n] == file
            ]
        else:
            seen: Counter[str] = Counter()
            found = []
            for each in self.facts(path, text).definitions:
                node = symbol_id(path, each.qualname)
                seen[node] += 1
                repeated = f"~{seen[node]}" if seen[node] > 1 else ""
                kind = NodeKind(each.kind)
                found.append((f"{node}{repeated}", kind, each.start_byte, each.end_byte, each.signature))
        found.sort(key=lambda each: (each[2], -each[3], each[0]))
        return [
            PlacedDefinition(node, kind, start, end, find_name_span(text, start, end, node, signature))
            for node, kind, start, end, signature in found
        ]

    def facts(self, path: str, text: DocumentText) -> "FileFacts":
        """Return the facts of a text, parsed by itself."""
        from causalist.parse import parse_file
        from causalist.source import blob_hash

        key = path, blob_hash(text.data)
        facts = self._parsed.get(key)
        if facts is None:
            facts = parse_file(path, text.data)
            while len(self._parsed) >= _MAX_DOCUMENTS:
                self._parsed.pop(next(iter(self._parsed)), None)
            self._parsed[key] = facts
        return facts

    def node_at(
        self, repository: "Repository", path: str, text: DocumentText, position: types.Position
    ) -> tuple[str, types.Range] | None:
        """Return the definition named or used at a position, and the range of the word; else None."""
        byte = text.byte(position)
        word = word_at(text, byte)
        if word is None:
            return None
        name, start, end = word
        placed = self.definitions(repository, path, text)
        around = [each for each in placed if each.start <= byte <= each.end]
        around.sort(key=lambda each: (each.end - each.start, each.node))
        for each in placed:
            if each.name == (start, end):
                known = repository.index.graph.nodes.ids.position(each.node) >= 0
                return (each.node, text.range(start, end)) if known else None
        names = {name} | {i.name for i in self.facts(path, text).imports if i.alias == name and i.name}
        for source in [*(each.node for each in around), str(file_id(path))]:
            target = _target_on_line(repository, source, names, position.line)
            if target is not None:
                return target, text.range(start, end)
        return None


def is_indexed(repository: "Repository", path: str, text: DocumentText) -> bool:
    """Return True if the index was built from exactly this text."""
    from causalist.source import blob_hash

    manifest = repository.index.manifest
    position = manifest.paths.position(path)
    return position >= 0 and manifest.blobs[position] == blob_hash(text.data)


def last_name(node: str) -> str:
    """Return the own name of a definition.

    >>> last_name("src/a.py::C.m~2"), last_name("src/a.py")
    ('m', 'a.py')
    """
    path, symbol = split_id(node)
    if symbol is None:
        return path.rpartition("/")[2]
    return unescape_name(_REPEATED.sub("", symbol).rpartition(".")[2])


def code_names(node: str) -> tuple[str, ...]:
    """Return the words by which code may name a definition, most likely first.

    In many languages, a constructor has the name of its type, and an anonymous class that of its base.

    >>> code_names("A.java::Cart.constructor~2"), code_names("A.java::Cart.make.Item$1"), code_names("a.py::f")
    (('constructor', 'Cart'), ('Item$1', 'Item'), ('f',))
    """
    own = last_name(node)
    outer = _REPEATED.sub("", node).rpartition("::")[2].rpartition(".")[0].rpartition(".")[2]
    if own == "constructor" and outer:
        return own, *dict.fromkeys((outer, outer.partition("$")[0]))
    return tuple(dict.fromkeys((own, own.partition("$")[0] or own)))


def find_name_span(text: DocumentText, start: int, end: int, node: str, signature: str = "") -> tuple[int, int]:
    """Return the byte span of a definition's name; an empty span at its start without a name."""
    data = text.data
    # The start of the signature separates the definition from its decorators.
    head = signature.encode("utf-8", "surrogatepass")
    words = [_word_pattern(name) for name in code_names(node)]
    for word in words:
        in_head = word.search(head)
        if in_head is not None:
            at = data.find(head[: in_head.end()], start, end)
            if at >= 0:
                return at + in_head.start(), at + in_head.end()
    first = start
    while _ATTRIBUTE.match(data, first, end):
        line = data.find(b"\n", first, end)
        if line < 0:
            break
        first = line + 1
    for word in words:
        found = word.search(data, first, end)
        if found is not None:
            return found.span()
    indent = len(data[start:end]) - len(data[start:end].lstrip())
    return start + indent, start + indent


def use_ranges(text: DocumentText, first_line: int, n: int, node: str, end: int) -> list[types.Range]:
    """Return up to `n` ranges that name a definition, from a line (0-based) up to byte `end`.

    If the first line contains none of its names, return that line.
    """
    if first_line >= len(text.starts):
        return [types.Range(types.Position(first_line, 0), types.Position(first_line, 0))]
    start, line_end = text.line(first_line)
    for word in map(_word_pattern, code_names(node)):
        if word.search(text.data, start, line_end):
            spans = [match.span() for match in word.finditer(text.data, start, max(end, line_end))]
            return [text.range(*span) for span in spans[:n]]
    indent = len(text.data[start:line_end]) - len(text.data[start:line_end].lstrip())
    return [text.range(start + indent, line_end)]


def _word_pattern(name: str) -> re.Pattern[bytes]:
    """Return an expression for a name as a whole word. The mark of a variable may precede it."""
    raw = re.escape(name.encode("utf-8", "surrogatepass"))
    return re.compile(rb"(?<![\w$])" + raw + rb"(?![\w$])|(?<=(?<!\w)\$)" + raw + rb"(?!\w)")


def _target_on_line(repository: "Repository", source: str, names: set[str], line: int) -> str | None:
    """Return the node that a node uses under one of these names: on that line first, then by confidence."""
    graph = repository.index.graph
    node = graph.nodes.ids.position(source)
    if node < 0:
        return None
    found = []
    for number in graph.outgoing(node):
        target = int(graph.edges.targets[number])
        if graph.edges.kinds[number] == EdgeKind.CONTAINS or graph.kind(target) in (
            NodeKind.EXTERNAL, NodeKind.FILE, NodeKind.PASSAGE,
        ):  # fmt: skip
            continue
        target_id = graph.nodes.ids[target]
        if not names.isdisjoint(code_names(target_id)):
            elsewhere = int(graph.edges.rows[number]) != line
            found.append((elsewhere, -float(graph.edges.confidences[number]), target_id))
    return min(found)[2] if found else None


def word_at(text: DocumentText, byte: int) -> tuple[str, int, int] | None:
    """Return the word at or right before a byte, and its span."""
    line = text.position(byte).line
    start, end = text.line(line)
    content = text.data[start:end].decode("utf-8", "replace")
    if len(content.encode("utf-8", "replace")) != end - start:
        return None  # not in UTF-8
    for match in _WORD.finditer(content):
        first = start + len(content[: match.start()].encode())
        last = first + len(match[0].encode())
        if first <= byte <= last:
            return match[0], first, last
    return None
