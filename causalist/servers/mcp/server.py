"""MCP server over standard input and output or HTTP, with the official SDK.

The handshake is answered while the index is still being built. `handlers` defines the answers, `http_server` the
transport over HTTP.

Over standard input and output, messages of JSON-RPC stand on one line each: in the pipes, out the two streams of the
server of the SDK. A line that is not a message is answered with a protocol error. Threads read and write, so that a
client that does not read blocks its own answers but not the event loop.
"""

import asyncio
import json
import math
import os
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)

from causalist.servers.deadline_process import ANSWER_SECONDS, ask_in_child
from causalist.servers.live_repository import Repositories
from causalist.servers.mcp.handlers import Handlers
from causalist.servers.protocol_pipes import Pipes, run_in_thread

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from causalist.servers.mcp.http_server import Address


# A thousand times the longest reasonable query.
MAX_MESSAGE_BYTES = 4_000_000  # bytes
_CHUNK = 1 << 16
# seconds to write the last answers at exit
_FLUSH_SECONDS = 0.5
# seconds to finish pending requests after the end of input: `echo REQUEST | causalist serve mcp`
_LAST_REQUESTS_SECONDS = 2.0

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def open_streams(pipes: Pipes) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """Yield the streams of a connection.

    The incoming stream ends with the client's input, or if the client stops reading answers.
    """
    received, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, to_send = anyio.create_memory_object_stream[SessionMessage](0)
    replies = outgoing.clone()
    loop = asyncio.get_running_loop()
    unanswered: set[RequestId] = set()
    all_answered, input_ended = asyncio.Event(), asyncio.Event()

    async def take(line: bytes | None) -> None:
        message = read_message(line)
        if isinstance(message, SessionMessage):
            if isinstance(message.message, JSONRPCRequest):
                unanswered.add(message.message.id)
                all_answered.clear()
            await received.send(message)
        elif message is not None:
            await replies.send(SessionMessage(message))

    async def take_end() -> None:
        await input_ended.wait()
        # The SDK cancels pending requests when the stream ends.
        if unanswered:
            with anyio.move_on_after(_LAST_REQUESTS_SECONDS):
                await all_answered.wait()
        received.close()
        replies.close()

    def read_all() -> None:
        try:
            for line in read_lines(partial(os.read, pipes.reading, _CHUNK)):
                # One line at a time: unread input stays in the pipe.
                asyncio.run_coroutine_threadsafe(take(line), loop).result()
        except (OSError, RuntimeError, anyio.ClosedResourceError, anyio.BrokenResourceError):
            pass
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(input_ended.set)

    async def write_all() -> None:
        try:
            async with to_send:
                async for message in to_send:
                    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await run_in_thread(partial(_write, pipes.writing, text.encode() + b"\n"))
                    if isinstance(message.message, JSONRPCResponse | JSONRPCError) and message.message.id is not None:
                        unanswered.discard(message.message.id)
                        if not unanswered:
                            all_answered.set()
        except OSError:
            received.close()

    async with anyio.create_task_group() as group:
        group.start_soon(write_all)
        group.start_soon(take_end)
        threading.Thread(target=read_all, daemon=True).start()
        try:
            yield incoming, outgoing
        finally:
            all_answered.set()
            input_ended.set()
            replies.close()
            outgoing.close()
            group.cancel_scope.deadline = anyio.current_time() + _FLUSH_SECONDS


def read_lines(read: Callable[[], bytes]) -> Iterator[bytes | None]:
    r"""Yield the lines of `read`, which returns b"" at the end; None stands for a line that is too long.

    >>> chunks = iter([b"a", b"b\nc", b"\nd", b""])
    >>> list(read_lines(lambda: next(chunks)))
    [b'ab', b'c', b'd']
    """
    kept = bytearray()
    too_long = False
    while chunk := read():
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            kept += part
            too_long = too_long or len(kept) > MAX_MESSAGE_BYTES
            yield None if too_long else bytes(kept)
            kept.clear()
            too_long = False
        kept += rest
        if len(kept) > MAX_MESSAGE_BYTES:
            kept.clear()
            too_long = True
    if kept or too_long:
        yield None if too_long else bytes(kept)


def read_message(line: bytes | None) -> SessionMessage | JSONRPCError | None:
    """Return a line as a message, or as the error that answers it; None for an empty line."""
    if line is None:
        return _refusal(None, INVALID_REQUEST, f"the message is longer than {MAX_MESSAGE_BYTES:,} bytes")
    if not line.strip():
        return None
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        # A request with an id of an invalid type would be taken for a notification.
        if not (isinstance(message, JSONRPCNotification) and b'"id"' in line and "id" in json.loads(line)):
            return SessionMessage(message)
    except (ValueError, RecursionError):
        pass
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return _refusal(None, PARSE_ERROR, "the message is not JSON in UTF-8, or is nested too deeply")
    return _refusal(_id_of(document), INVALID_REQUEST, "the message is JSON but not JSON-RPC 2.0")


def _id_of(document: object) -> RequestId | None:
    request_id = document.get("id") if isinstance(document, dict) else None
    is_id = isinstance(request_id, str) or (isinstance(request_id, int) and not isinstance(request_id, bool))
    if not is_id:
        return None
    try:
        str(request_id).encode()  # a lone surrogate cannot be sent back
    except ValueError:  # also: an integer with too many digits
        return None
    return request_id


def _refusal(id: RequestId | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=id, error=ErrorData(code=code, message=message))


def _write(descriptor: int, data: bytes) -> None:
    unwritten = memoryview(data)
    while unwritten:
        unwritten = unwritten[os.write(descriptor, unwritten) :]


_INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Options of a server.

    `ask_roots`: the client may name its open folders; otherwise `roots` are served. A call waits at most `wait_seconds`
    for the first index and `refresh_seconds` for a newer one; a question is answered within `answer_seconds`. Passages
    of the memory that only some readers may see are shown and changed for `readers`.
    """

    roots: tuple[Path, ...]
    version: str
    wait_seconds: float
    tools: str = "default"
    is_structured: bool = True
    ask_roots: bool = False
    refresh_seconds: float = math.inf
    answer_seconds: float = ANSWER_SECONDS
    readers: tuple[str, ...] = ()


def serve(serving: ServerOptions, pipes: Pipes) -> int:
    """Serve one client over pipes until it leaves or a signal arrives; return an exit code."""

    async def over_pipes(server: "Server[Any]", _: float) -> None:

        async with open_streams(pipes) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    return anyio.run(partial(_serve, serving, over_pipes))


def serve_http(serving: ServerOptions, address: "Address") -> int:
    """Serve clients over HTTP until a signal arrives; return an exit code."""

    async def over_http(server: "Server[Any]", wait_seconds: float) -> None:
        from causalist.servers.mcp.http_server import run

        await run(server, address, wait_seconds)

    return anyio.run(partial(_serve, serving, over_http))


async def _serve(serving: ServerOptions, over: "Callable[[Server[Any], float], Awaitable[None]]") -> int:
    repositories = Repositories(serving.roots, serving.refresh_seconds, partial(ask_in_child, serving.answer_seconds))

    async def work(group: TaskGroup) -> None:
        group.start_soon(repositories.prepare)
        handlers = Handlers(
            repositories,
            serving.version,
            serving.wait_seconds,
            serving.tools,
            serving.is_structured,
            serving.ask_roots,
            serving.roots if serving.ask_roots else (),
            serving.readers,
        )
        await over(handlers.server(), serving.wait_seconds)

    try:
        return await run_until_signal(work)
    finally:
        repositories.stop()


async def run_until_signal(work: "Callable[[TaskGroup], Awaitable[None]]") -> int:
    """Run `work` until it or a signal ends it; return an exit code."""
    code = 0

    def end(scope: anyio.CancelScope, with_code: int) -> None:
        nonlocal code
        code = with_code
        scope.cancel()

    async with anyio.create_task_group() as group:
        for name, with_code in (("SIGTERM", 0), ("SIGHUP", 0), ("SIGINT", _INTERRUPTED)):
            # Some platforms lack a signal or cannot handle it in an event loop.
            with suppress(AttributeError, NotImplementedError):
                loop = asyncio.get_running_loop()
                loop.add_signal_handler(getattr(signal, name), end, group.cancel_scope, with_code)
        await work(group)
        group.cancel_scope.cancel()
    return code
