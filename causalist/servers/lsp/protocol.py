"""Language server protocol over two pipes: message framing, and pygls with stricter handling.

A message is a header with its length, an empty line, and that many bytes. Noise before a header is skipped, and so is a
body that is too long, so that the next message can be read. Every request gets a response, even if it is malformed,
early, late or unknown; every failure is one sentence. Documents are kept as `DocumentText`. Threads read and write, so
that a client that does not read cannot stop the server.
"""

import asyncio
import json
import logging
import os
import queue
import re
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import JsonRPCRequestMessage, LanguageServerProtocol, lsp_method

from causalist.servers.lsp.positions import DocumentText, encode_text
from causalist.servers.stdio_pipes import Pipes

if TYPE_CHECKING:
    from cattrs import Converter
    from pygls.lsp.server import LanguageServer

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
            # Its error would end the thread that reads, and nobody would get an answer.
            self.handle_message(message)
        except Exception as error:
            logging.getLogger(__name__).debug("malformed %s: %s", method, error)
            if id is not None:
                self._refuse(id, _INVALID_PARAMS, f"the parameters of {method[:100]} are invalid")

    def _take_response(self, document: dict[str, Any], id: int | str | None) -> None:
        future = self._request_futures.get(id) if id is not None else None
        if future is None or future.done():
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
                text = text.edited(change)
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
    found = document.get("id") if isinstance(document, dict) else None
    is_id = isinstance(found, str) or (isinstance(found, int) and not isinstance(found, bool))
    return found if is_id else None


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
                left = memoryview(data)
                while left:
                    left = left[os.write(descriptor, left) :]
            return
        with suppress(RuntimeError):
            lost()
