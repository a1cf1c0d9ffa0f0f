"""Language server protocol over two pipes: message framing, positions in documents, and pygls with stricter handling.

A message is a header with its length, an empty line, and that many bytes. Noise before a header is skipped, and so is a
body that is too long, so that the next message can be read. Every request gets a response, even if it is malformed,
early, late or unknown; every failure is one sentence. Documents are kept as `DocumentText`. Threads read and write, so
that a client that does not read cannot stop the server.

A line ends at LF, CR LF or CR. The protocol counts characters of a line in units of the negotiated encoding (UTF-16 by
default); Causalist counts bytes of UTF-8. A position after the end of its line means the end, and one inside a
character means its start. The index has the positions of definitions while a document equals its indexed version.
Otherwise the document is parsed by itself, which is fast, so that lenses stay above their definitions during typing.
"""

import asyncio
import json
import logging
import os
import queue
import re
import threading
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import JsonRPCRequestMessage, LanguageServerProtocol, lsp_method

from causalist.model.graph import EdgeKind
from causalist.model.node_ids import (
    CALLABLE_KINDS,
    TYPE_KINDS,
    NodeKind,
    file_id,
    last_name,
    split_id,
    symbol_id,
    unescape_name,
)
from causalist.servers.protocol_pipes import Pipes

if TYPE_CHECKING:
    from cattrs import Converter
    from pygls.lsp.server import LanguageServer

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

    def apply_change(self, change: types.TextDocumentContentChangeEvent) -> "DocumentText":
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
            definitions = [
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
            definitions = []
            for each in self.facts(path, text).definitions:
                node = symbol_id(path, each.qualname)
                seen[node] += 1
                repeated = f"~{seen[node]}" if seen[node] > 1 else ""
                kind = NodeKind(each.kind)
                definitions.append((f"{node}{repeated}", kind, each.start_byte, each.end_byte, each.signature))
        definitions.sort(key=lambda each: (each[2], -each[3], each[0]))
        return [
            PlacedDefinition(node, kind, start, end, find_name_span(text, start, end, node, signature))
            for node, kind, start, end, signature in definitions
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
                is_indexed = repository.index.graph.nodes.ids.position(each.node) >= 0
                return (each.node, text.range(start, end)) if is_indexed else None
        names = {name} | {i.name for i in self.facts(path, text).imports if i.alias == name and i.name}
        for source in [*(each.node for each in around), str(file_id(path))]:
            target = _target_on_line(repository, source, names, position.line)
            if target is not None:
                return target, text.range(start, end)
        return None

    def node_around(self, repository: "Repository", path: str, text: DocumentText, line: int) -> str | None:
        """Return the innermost known definition that has a line; else None."""
        around = [
            (each.end - each.start, each.node)
            for each in self.definitions(repository, path, text)
            if text.position(each.start).line <= line <= text.position(each.end).line
            and repository.index.graph.nodes.ids.position(each.node) >= 0
        ]
        return min(around)[1] if around else None


def is_indexed(repository: "Repository", path: str, text: DocumentText) -> bool:
    """Return True if the index was built from exactly this text."""
    from causalist.source import blob_hash

    manifest = repository.index.manifest
    position = manifest.paths.position(path)
    return position >= 0 and manifest.blobs[position] == blob_hash(text.data)


def display_name(node: str) -> str:
    """Return the own name of a definition or file.

    >>> display_name("src/a.py::C.m~2"), display_name("src/a.py")
    ('m', 'a.py')
    """
    path, symbol = split_id(node)
    return path.rpartition("/")[2] if symbol is None else unescape_name(last_name(node))


def code_names(node: str) -> tuple[str, ...]:
    """Return the words by which code may name a definition, most likely first.

    In many languages, a constructor has the name of its type, and an anonymous class that of its base.

    >>> code_names("A.java::Cart.constructor~2"), code_names("A.java::Cart.make.Item$1"), code_names("a.py::f")
    (('constructor', 'Cart'), ('Item$1', 'Item'), ('f',))
    """
    own = display_name(node)
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
        match = word.search(data, first, end)
        if match is not None:
            return match.span()
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
    targets = []
    for number in graph.outgoing(node):
        target = int(graph.edges.targets[number])
        if graph.edges.kinds[number] == EdgeKind.CONTAINS or graph.kind(target) in (
            NodeKind.EXTERNAL, NodeKind.FILE, NodeKind.PASSAGE,
        ):  # fmt: skip
            continue
        target_id = graph.nodes.ids[target]
        if not names.isdisjoint(code_names(target_id)):
            elsewhere = int(graph.edges.rows[number]) != line
            targets.append((elsewhere, -float(graph.edges.confidences[number]), target_id))
    return min(targets)[2] if targets else None


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


# Editors send whole documents; the index accepts a few megabytes per file.
MAX_BODY_BYTES = 64_000_000  # bytes
_MAX_HEADER_BYTES = 8_192
_LENGTH = re.compile(rb"^content-length[ \t]*:[ \t]*(\d{1,12})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_END_OF_HEADER = re.compile(rb"\r?\n\r?\n")
_CHUNK = 1 << 16


def read_bodies(read: Callable[[int], bytes]) -> Iterator[bytes | None]:
    r"""Yield the bodies of messages until `read` returns b""; None stands for a body that is too long.

    >>> from io import BytesIO
    >>> list(read_bodies(BytesIO(b"noise\r\nContent-Length: 2\r\n\r\n{}Content-Length: 3\n\nabc").read1))
    [b'{}', b'abc']
    """
    kept = bytearray()
    while True:
        end = _END_OF_HEADER.search(kept)
        if end is None:
            del kept[:-_MAX_HEADER_BYTES]
            chunk = read(_CHUNK)
            if not chunk:
                return
            kept += chunk
            continue
        length = _LENGTH.search(bytes(kept[: end.start()]))
        del kept[: end.end()]
        if length is None:
            continue
        wanted = int(length[1])
        is_kept = wanted <= MAX_BODY_BYTES
        body = bytearray(kept[:wanted])
        del kept[:wanted]
        missing = wanted - len(body)
        while missing:
            chunk = read(min(missing, _CHUNK))
            if not chunk:
                return
            missing -= len(chunk)
            if is_kept:
                body += chunk
        yield bytes(body) if is_kept else None


def frame_message(body: bytes) -> bytes:
    """Return a body with its header."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


# Prefix of Causalist's own requests. Their parameters stay plain JSON.
OWN_METHODS = "causalist/"
# seconds to write the last answers at exit
_FLUSH_SECONDS = 0.5

_PARSE_ERROR = int(types.ErrorCodes.ParseError)
_INVALID_REQUEST = int(types.ErrorCodes.InvalidRequest)
_INVALID_PARAMS = int(types.ErrorCodes.InvalidParams)
_NOT_INITIALIZED = int(types.ErrorCodes.ServerNotInitialized)


class RequestFailed(JsonRpcException):
    """A valid request that cannot be answered."""

    CODE = int(types.LSPErrorCodes.RequestFailed)
    MESSAGE = "Request failed"


class Protocol(LanguageServerProtocol):
    """One connection. `documents` are the open documents by URI.

    `changed` is called with the URI of each document that is opened, edited or closed.
    """

    def __init__(self, server: "LanguageServer", converter: "Converter") -> None:
        super().__init__(server, converter)
        self.documents: dict[str, DocumentText] = {}
        self.changed: Callable[[str], None] = lambda uri: None
        self.exit_code: int | None = None
        self._is_initialized = False

    def take(self, body: bytes | None) -> None:
        """Handle one message, or answer an invalid one."""
        if body is None:
            return self._refuse(None, _INVALID_REQUEST, "the message is too long")
        try:
            document = json.loads(body)
        except (ValueError, RecursionError):
            return self._refuse(None, _PARSE_ERROR, "the message is not JSON in UTF-8, or is nested too deeply")
        if not isinstance(document, dict) or document.get("jsonrpc") != "2.0":
            return self._refuse(_id_of(document), _INVALID_REQUEST, "the message is JSON but not JSON-RPC 2.0")
        id, method = _id_of(document), document.get("method")
        if method is None:
            return self._take_response(document, id)
        if not isinstance(method, str) or ("id" in document and id is None):
            return self._refuse(id, _INVALID_REQUEST, "the id or the method of the request has a wrong type")
        if method == types.INITIALIZE and self._is_initialized:
            return self._refuse(id, _INVALID_REQUEST, "the server is initialized already")
        if not self._is_initialized and method not in (types.INITIALIZE, types.EXIT):
            return None if id is None else self._refuse(id, _NOT_INITIALIZED, "the first request must be initialize")
        if self._shutdown and method != types.EXIT:
            return None if id is None else self._refuse(id, _INVALID_REQUEST, "the server is shutting down")
        self._take_call(document, method, id)
        return None

    def _take_call(self, document: dict[str, Any], method: str, id: int | str | None) -> None:
        document.setdefault("params", None)
        try:
            if method.startswith(OWN_METHODS) and id is not None:
                message: Any = JsonRPCRequestMessage(id, method, "2.0", document["params"])
            else:
                message = self.structure_message(document)
            self._is_initialized = self._is_initialized or method == types.INITIALIZE
            # The library lets some parameters of a wrong type through, such as an object as id of `$/cancelRequest`.
            # Its error would end the thread that reads, and no client would get an answer.
            self.handle_message(message)
        except Exception as error:
            logging.getLogger(__name__).debug("malformed %s: %s", method, error)
            if id is not None:
                self._refuse(id, _INVALID_PARAMS, f"the parameters of {method[:100]} are invalid")

    def _take_response(self, document: dict[str, Any], id: int | str | None) -> None:
        future = self._request_futures.get(id) if id is not None else None
        # The library keeps its own requests and the tasks that answer the client's in one table.
        if future is None or future.done() or isinstance(future, asyncio.Task):
            return
        with suppress(Exception):
            self.handle_message(self.structure_message(document))
        if not future.done():  # the response is malformed
            future.set_exception(RequestFailed("the client's response is malformed"))

    def _refuse(self, id: int | str | None, code: int, message: str) -> None:
        """Send an error as plain JSON: the library's type has no null for an id."""
        error = {"code": code, "message": message}
        self._send_data({"jsonrpc": "2.0", "id": id, "error": error})

    # -- replacements of the library's handlers

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Store the text of an opened document."""
        document = params.text_document
        self.documents[document.uri] = encode_text(document.text, self._encoding())
        self.changed(document.uri)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Apply changes to an open document."""
        uri = params.text_document.uri
        text = self.documents.get(uri)
        for change in params.content_changes:
            if text is not None:
                text = text.apply_change(change)
            elif not isinstance(change, types.TextDocumentContentChangePartial):
                text = encode_text(change.text, self._encoding())
        if text is not None:
            self.documents[uri] = text
            self.changed(uri)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Forget a closed document."""
        if self.documents.pop(params.text_document.uri, None) is not None:
            self.changed(params.text_document.uri)

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_: Any) -> Generator[Any, Any, None]:
        """Set the exit code: 0 after a shutdown request, else 1."""
        self.exit_code = 0 if self._shutdown else 1
        yield from ()

    def _encoding(self) -> types.PositionEncodingKind | str:
        return self.workspace.position_encoding or types.PositionEncodingKind.Utf16


def _id_of(document: object) -> int | str | None:
    request_id = document.get("id") if isinstance(document, dict) else None
    is_id = isinstance(request_id, str) or (isinstance(request_id, int) and not isinstance(request_id, bool))
    return request_id if is_id else None


async def run(protocol: Protocol, pipes: Pipes) -> int:
    """Read and answer until the client exits, closes the pipe or stops reading; return an exit code."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    writer = _Writer(pipes.writing, partial(loop.call_soon_threadsafe, ended.set))
    protocol.set_writer(writer)

    async def take(body: bytes | None) -> None:
        protocol.take(body)
        if protocol.exit_code is not None:
            ended.set()

    def read_all() -> None:
        with suppress(OSError, RuntimeError):
            for body in read_bodies(partial(os.read, pipes.reading)):
                # One at a time: unread input stays in the pipe.
                asyncio.run_coroutine_threadsafe(take(body), loop).result()
                if protocol.exit_code is not None:
                    return
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=read_all, daemon=True).start()
    await ended.wait()
    writer.close()
    return protocol.exit_code or 0


class _Writer:
    """Writer in a thread of its own; `lost` is called if the reader is gone."""

    def __init__(self, descriptor: int, lost: Callable[[], object]) -> None:
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write_all, args=(descriptor, lost), daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        """Queue data."""
        self._queue.put(data)

    def close(self) -> None:
        """Wait for a limited time until everything is written."""
        self._queue.put(None)
        self._thread.join(_FLUSH_SECONDS)

    def _write_all(self, descriptor: int, lost: Callable[[], object]) -> None:
        with suppress(OSError, RuntimeError):
            while (data := self._queue.get()) is not None:
                unwritten = memoryview(data)
                while unwritten:
                    unwritten = unwritten[os.write(descriptor, unwritten) :]
            return
        with suppress(RuntimeError):
            lost()
