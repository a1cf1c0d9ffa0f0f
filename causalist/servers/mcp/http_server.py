"""MCP over HTTP on the loopback interface, for clients that share one server.

`http_guard` checks each request first. Bodies, times, sessions and connections are limited.
"""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import uvicorn
from mcp.server.lowlevel import Server

from causalist.errors import UsageError
from causalist.servers.http_guard import (
    AccessRules,
    Application,
    Guard,
    Message,
    Receive,
    Refusal,
    Scope,
    Send,
    send_refusal,
)

PATH = "/mcp"
_METHODS = frozenset({"GET", "POST", "DELETE"})
MAX_BODY_BYTES = 4_000_000  # bytes, as over standard input
_MAX_SESSIONS = 256
_MAX_CONNECTIONS = 512
_IDLE_SECONDS = 1800.0
_ANSWER_SECONDS = 60.0  # beyond waiting for the index


@dataclass(frozen=True, slots=True)
class Address:
    """Listening socket, and the token that clients must send."""

    socket: socket.socket
    token: str

    @property
    def port(self) -> int:
        """Port of the socket."""
        return int(self.socket.getsockname()[1])

    @property
    def url(self) -> str:
        """URL of the endpoint."""
        return f"http://127.0.0.1:{self.port}{PATH}"


def listen(port: int, token: str) -> Address:
    """Return a listening socket on the loopback interface. Raises UsageError."""
    taken = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind(("127.0.0.1", port))
        taken.listen(_MAX_CONNECTIONS)  # early connections wait until everything is loaded
    except (OSError, OverflowError) as error:
        taken.close()
        raise UsageError(
            f"cannot listen on port {port} of 127.0.0.1: {error}. Choose another --port, or 0 for any free port."
        ) from error
    return Address(taken, token)


def rules_of(address: Address) -> AccessRules:
    """Return the rules of requests to an address."""
    return AccessRules(address.port, address.token, max_body_bytes=MAX_BODY_BYTES, methods=_METHODS)


async def run(server: Server[Any], address: Address, wait_seconds: float, rules: AccessRules | None = None) -> None:
    """Serve until cancelled. `rules` are those of requests; None: those of the address."""
    from mcp.server.transport_security import TransportSecuritySettings

    from causalist.servers.http_guard import TimelyProtocol

    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=MAX_BODY_BYTES,
        session_idle_timeout=_IDLE_SECONDS,
        max_sessions=_MAX_SESSIONS,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # the guard is stricter
    )
    app.router.redirect_slashes = False
    rules = rules or rules_of(address)
    config = uvicorn.Config(
        Guard(limit_duration(app, wait_seconds + _ANSWER_SECONDS), rules, {}),
        http=TimelyProtocol,
        log_level="critical",
        access_log=False,
        lifespan="on",
        limit_concurrency=_MAX_CONNECTIONS,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=1,
        server_header=False,
    )
    await _UvicornServer(config).serve(sockets=[address.socket])


class _UvicornServer(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # the caller handles signals


def limit_duration(app: Application, seconds: float) -> Application:
    """Return `app` with a time limit for answers to POST; event streams stay open."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await app(scope, receive, send)
            return
        has_begun = False

        async def send_message(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        with anyio.move_on_after(seconds) as waiting:
            await app(scope, receive, send_message)
        if waiting.cancelled_caught and not has_begun:
            await send_refusal(Refusal(408, "the request took too long"), send)

    return answer
