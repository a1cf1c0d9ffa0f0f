"""MCP server over standard input and output or HTTP, with the official SDK.

The handshake is answered while the index is still being built. `handlers` defines the answers, `stdio` and
`http_server` the transports.
"""

import asyncio
import math
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from causalist.servers.live.repository import Repositories
from causalist.servers.mcp.handlers import Handlers
from causalist.servers.stdio_pipes import Pipes
from causalist.servers.supervisor import ANSWER_SECONDS, ask_in_child

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from causalist.servers.mcp.http_server import Address

_INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Options of a server.

    `ask_roots`: the client may name its open folders; otherwise `roots` are served. A call waits at most `wait_seconds`
    for the first index and `refresh_seconds` for a newer one; a question is answered within `answer_seconds`.
    """

    roots: tuple[Path, ...]
    version: str
    wait_seconds: float
    tools: str = "default"
    is_structured: bool = True
    ask_roots: bool = False
    refresh_seconds: float = math.inf
    answer_seconds: float = ANSWER_SECONDS


def serve(serving: ServerOptions, pipes: Pipes) -> int:
    """Serve one client over pipes until it leaves or a signal arrives; return an exit code."""
    from causalist.servers.mcp.stdio import open_streams

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
    code = 0

    def end(scope: anyio.CancelScope, with_code: int) -> None:
        nonlocal code
        code = with_code
        scope.cancel()

    try:
        async with anyio.create_task_group() as group:
            for name, with_code in (("SIGTERM", 0), ("SIGHUP", 0), ("SIGINT", _INTERRUPTED)):
                # Some platforms lack a signal or cannot handle it in an event loop.
                with suppress(AttributeError, NotImplementedError):
                    loop = asyncio.get_running_loop()
                    loop.add_signal_handler(getattr(signal, name), end, group.cancel_scope, with_code)
            group.start_soon(repositories.prepare)
            handlers = Handlers(
                repositories,
                serving.version,
                serving.wait_seconds,
                serving.tools,
                serving.is_structured,
                serving.ask_roots,
                serving.roots if serving.ask_roots else (),
            )
            await over(handlers.server(), serving.wait_seconds)
            group.cancel_scope.cancel()
    finally:
        repositories.stop()
    return code
