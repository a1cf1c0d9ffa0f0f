"""Access checks and time limits of HTTP servers on the loopback interface.

Every web page in a browser can reach the loopback interface, by a form, a script, or a host name that resolves to
127.0.0.1. Therefore a request must name the server by a loopback address (`Host`), must not come from another origin
(`Origin`, `Sec-Fetch-Site`), and must have the token of this run. Size and time of bodies are limited. The guard is
ASGI middleware that depends on no framework.

uvicorn closes idle connections between requests, but it waits without limit for the first byte and the rest of a head,
so that slow clients can hold all connections. `TimelyProtocol` limits the time of heads.
"""

import asyncio
import hashlib
import hmac
import json
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

# Host names that always resolve to this machine.
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
MAX_BODY_BYTES = 1_000_000
MAX_BODY_SECONDS = 10.0
_TOKEN_BYTES = 24


def new_token() -> str:
    """Return a random token for one run of a server, safe in a URL."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


class Refusal(Exception):
    """HTTP status and message for a refused request."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass(frozen=True, slots=True)
class AccessRules:
    """Conditions for a request. `token` None requires no token.

    The token is read from `Authorization: Bearer` and, if `cookie` is given, from that cookie, where it is quoted as in
    a URL. Paths in `open_paths` need no token.
    """

    port: int
    token: str | None
    open_paths: frozenset[str] = frozenset()
    cookie: str | None = None
    max_body_bytes: int = MAX_BODY_BYTES
    max_body_seconds: float = MAX_BODY_SECONDS
    methods: frozenset[str] = frozenset({"GET", "HEAD", "POST"})
    names: tuple[str, ...] = field(default=LOOPBACK_NAMES)

    def check(self, method: str, path: str, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """Check a request. Raises Refusal.

        >>> rules = AccessRules(port=80, token=None)
        >>> rules.check("GET", "/", [(b"host", b"127.0.0.1:80")])
        >>> rules.check("GET", "/", [(b"host", b"127.0.0.1:80"), (b"origin", b"http://evil.example")])
        Traceback (most recent call last):
        causalist.servers.http_guard.Refusal: cross-origin requests are not allowed
        """
        single = _single_headers(headers)
        if method not in self.methods:
            raise Refusal(405, "this method is not allowed")
        if not self._is_own(single.get("host", "")):
            raise Refusal(421, "the Host header names another server. Use the address that the server printed.")
        origin = single.get("origin")
        if origin is not None and not self._is_own_origin(origin):
            raise Refusal(403, "cross-origin requests are not allowed")
        if single.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise Refusal(403, "cross-origin requests are not allowed")
        if self.token is not None and path not in self.open_paths and self._find_token(single) is None:
            raise Refusal(401, "the token is missing or wrong. Use the address that the server printed.")

    def _is_own(self, host: str) -> bool:
        host = host.lower()
        return any(host == f"{name}:{self.port}" or (self.port == 80 and host == name) for name in self.names)

    def _is_own_origin(self, origin: str) -> bool:
        scheme, separator, host = origin.partition("://")
        return bool(separator) and scheme == "http" and self._is_own(host)

    def token_of(self, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """Return the valid token that a request brings, "" if there is none. Raises Refusal as `check`."""
        return self._find_token(_single_headers(headers)) or ""

    def _find_token(self, headers: Mapping[str, str]) -> str | None:
        given = []
        scheme, _, value = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            given.append(value.strip())
        if self.cookie is not None:
            for part in headers.get("cookie", "").split(";"):
                name, _, value = part.strip().partition("=")
                if name == self.cookie:
                    given.append(unquote(value))
        return next((each for each in given if self.is_token(each)), None)

    def is_token(self, given: str) -> bool:
        """Return True if this is the token; the comparison takes constant time."""
        return self.token is not None and hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())


@dataclass(frozen=True, slots=True)
class TokenRules(AccessRules):
    """Rules of requests with one of several tokens, of which the SHA-256 are known, in hexadecimal digits."""

    digests: tuple[str, ...] = ()

    def is_token(self, given: str) -> bool:
        """Return True if this is one of the tokens; all are compared."""
        digest = hashlib.sha256(given.encode("utf-8", "replace")).hexdigest()
        return sum(hmac.compare_digest(each, digest) for each in self.digests) > 0


class Guard:
    """ASGI middleware that refuses requests by its rules and passes on the others with a complete body.

    `headers` are added to every response.
    """

    def __init__(self, application: Application, rules: AccessRules, headers: Mapping[str, str]) -> None:
        self._application = application
        self._rules = rules
        self._headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request and pass it on, or send the refusal."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name for name, _ in message.get("headers", ())}
                message["headers"] = [*message.get("headers", ()), *(h for h in self._headers if h[0] not in own)]
            await send(message)

        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        try:
            self._rules.check(scope["method"], scope["path"], scope["headers"])
            body = await self._body(scope, receive)
        except Refusal as refusal:
            await send_refusal(refusal, send_guarded)
            return
        given = False

        async def receive_body() -> Message:
            nonlocal given
            if given:
                return await receive()  # reports a disconnect
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._application(scope, receive_body, send_guarded)

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """Return the whole body. Raises Refusal if it is too long or too slow."""
        most = self._rules.max_body_bytes
        too_long = Refusal(413, f"the body is longer than {most:,} bytes")
        declared = _single_headers(scope["headers"]).get("content-length", "")
        if declared.isdecimal() and int(declared) > most:
            raise too_long
        parts: list[bytes] = []
        length = 0
        try:
            async with asyncio.timeout(self._rules.max_body_seconds):
                while True:
                    message = await receive()
                    if message["type"] != "http.request":
                        raise Refusal(400, "the request ended early")
                    parts.append(message.get("body", b""))
                    length += len(parts[-1])
                    if length > most:
                        raise too_long
                    if not message.get("more_body", False):
                        return b"".join(parts)
        except TimeoutError:
            raise Refusal(408, "the request took too long") from None


async def send_refusal(refusal: Refusal, send: Send) -> None:
    """Send the response of a refusal as JSON."""
    body = json.dumps({"error": {"slug": "refused", "message": refusal.message}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if refusal.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def read_token(query: bytes) -> str | None:
    """Return the value of `token` in the query of a URL, or None."""
    return next((value for name, value in parse_qsl(query.decode("ascii", "replace")) if name == "token"), None)


def _single_headers(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers by lower-case name. Raises Refusal if a security-relevant header is repeated.

    Otherwise the check and the application could use different values.
    """
    value_by_name: dict[str, str] = {}
    for raw, value in headers:
        name = raw.decode("latin-1").lower()
        if name in value_by_name and name in ("host", "origin", "authorization", "content-length", "sec-fetch-site"):
            raise Refusal(400, f"the header {name} is given twice")
        if name == "cookie" and name in value_by_name:
            value_by_name[name] += "; " + value.decode("latin-1")
        else:
            value_by_name[name] = value.decode("latin-1")
    return value_by_name


HEAD_SECONDS = 10.0


class TimelyProtocol(H11Protocol):
    """Protocol that closes a connection if the next head is incomplete after `HEAD_SECONDS`.

    The time is counted from the connection or from the first byte of the head.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer of the first head."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Stop the timer once a head is complete, else start it."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self.timeout_keep_alive_task is None:  # otherwise a request was answered immediately
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._waiting is None:
            self._waiting = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
