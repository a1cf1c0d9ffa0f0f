"""MCP over HTTP on the loopback interface, for clients that share one server.

What a web page or another user of the machine could send is refused before anything else looks at it: a Host or an
Origin that is not this server's own, and a request without the token. Bodies and times are bounded.
"""

import hmac
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from causalist.errors import UsageError

PATH = "/mcp"
LONGEST_BODY = 4_000_000  # bytes, as over standard input
_MOST_SESSIONS = 256
_MOST_CONNECTIONS = 512
_IDLE_SECONDS = 1800.0
_BODY_SECONDS = 10.0  # for a client to send its request
_ANSWER_SECONDS = 60.0  # beyond waiting for the index
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen (0: any free port) and what clients have to show."""

    socket: socket.socket
    token: str

    @property
    def port(self) -> int:
        return int(self.socket.getsockname()[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{PATH}"


def listen(port: int, token: str) -> Address:
    """Takes a port of the loopback interface. Raises UsageError."""
    taken = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind(("127.0.0.1", port))
        taken.listen(_MOST_CONNECTIONS)  # whoever comes before everything is loaded waits
    except (OSError, OverflowError) as error:
        taken.close()
        raise UsageError(f"cannot listen on port {port} of 127.0.0.1: {error}; give another --port, or 0") from error
    return Address(taken, token)


async def run(server: Server[Any], address: Address, wait_seconds: float) -> None:
    """Serves until it is cancelled."""
    from mcp.server.transport_security import TransportSecuritySettings

    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=LONGEST_BODY,
        session_idle_timeout=_IDLE_SECONDS,
        max_sessions=_MOST_SESSIONS,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # `Guard` is stricter
    )
    guarded = Guard(app, address.port, address.token, wait_seconds + _ANSWER_SECONDS)
    config = uvicorn.Config(
        guarded,
        log_level="critical",
        access_log=False,
        lifespan="on",
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=1,
        server_header=False,
    )
    await _Quiet(config).serve(sockets=[address.socket])


class _Quiet(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # whoever runs it handles them


class Guard:
    """Passes on what comes from a client with the token, and answers everything else itself."""

    def __init__(self, app: ASGIApp, port: int, token: str, seconds: float) -> None:
        self._app = app
        self._hosts = {f"{host}:{port}".encode() for host in _LOOPBACK}
        self._token = f"Bearer {token}".encode()
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        if scope["method"] != "POST":  # a stream of what the server has to say stays open
            await self._app(scope, receive, send)
            return
        await self._bounded(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        hosts, origins = headers.get(b"host", []), headers.get(b"origin", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return 421, "this server answers to its own name only: 127.0.0.1 or localhost, with the port"
        if any(origin.removeprefix(b"http://").lower() not in self._hosts for origin in origins):
            return 403, "requests of other web pages are not answered"
        given = headers.get(b"authorization", [])
        if len(given) != 1 or not hmac.compare_digest(given[0], self._token):
            return 401, "the header Authorization has to be: Bearer and the token that the server showed at its start"
        if scope["path"] != PATH:
            return 404, f"there is nothing but {PATH}"
        return None

    async def _bounded(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_read, is_answered = False, False

        async def taken() -> Message:
            nonlocal is_read
            if is_read:
                return await receive()
            with anyio.fail_after(_BODY_SECONDS):
                message = await receive()
            is_read = message["type"] != "http.request" or not message.get("more_body", False)
            return message

        async def sent(message: Message) -> None:
            nonlocal is_answered
            is_answered = True
            await send(message)

        try:
            with anyio.fail_after(self._seconds):
                await self._app(scope, taken, sent)
        except TimeoutError:
            if not is_answered:
                await _refuse(send, 408, "the request took too long")


async def _refuse(send: Send, status: int, reason: str) -> None:
    body = f"{reason}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": [*headers, (b"connection", b"close")]})
    await send({"type": "http.response.body", "body": body})
