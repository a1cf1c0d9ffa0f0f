"""What every door that speaks HTTP checks before anything of a request is read as a question.

Such a door listens on the loopback interface, and yet everything that runs in a browser can reach it: a page of
another site by a form or a script, or by a name of its own that resolves to 127.0.0.1. So a request has to name the
server by an address of the loopback interface (`Host`), must not come from a page of another origin (`Origin`,
`Sec-Fetch-Site`), and has to bring the token that was made when the server started. Bodies are bounded, and so is the
time that they take.

`Guard` is ASGI middleware around an application that is in no danger then. It knows no framework.
"""

import asyncio
import hmac
import json
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

# Names of this machine that resolve to it and to nothing else, wherever the name came from.
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
MOST_BODY_BYTES = 1_000_000
MOST_BODY_SECONDS = 10.0
_TOKEN_BYTES = 24


def new_token() -> str:
    """A secret for one run of a server, safe in a URL."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


class Refusal(Exception):
    """An HTTP status and a sentence for whoever reads the response."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass(frozen=True, slots=True)
class Rules:
    """What is let in. `token` is None where none is asked for. A token is read from `Authorization: Bearer`, and for
    paths in `open_paths` not at all; where `cookie` is named, also from that cookie."""

    port: int
    token: str | None
    open_paths: frozenset[str] = frozenset()
    cookie: str | None = None
    most_body_bytes: int = MOST_BODY_BYTES
    most_body_seconds: float = MOST_BODY_SECONDS
    methods: frozenset[str] = frozenset({"GET", "HEAD", "POST"})
    names: tuple[str, ...] = field(default=LOOPBACK_NAMES)

    def check(self, method: str, path: str, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """Raises Refusal for a request that is none of this server's.

        >>> rules = Rules(port=80, token=None)
        >>> rules.check("GET", "/", [(b"host", b"127.0.0.1:80")])
        >>> rules.check("GET", "/", [(b"host", b"127.0.0.1:80"), (b"origin", b"http://evil.example")])
        Traceback (most recent call last):
        causalist.servers.http_guard.Refusal: cross-origin requests are not allowed
        """
        found = _single(headers)
        if method not in self.methods:
            raise Refusal(405, "this method is not allowed")
        if not self._is_own(found.get("host", "")):
            raise Refusal(421, "the Host header names another server. Use the address that the server printed.")
        origin = found.get("origin")
        if origin is not None and not self._is_own_origin(origin):
            raise Refusal(403, "cross-origin requests are not allowed")
        if found.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise Refusal(403, "cross-origin requests are not allowed")
        if self.token is not None and path not in self.open_paths and not self._brings_token(found):
            raise Refusal(401, "the token is missing or wrong. Use the address that the server printed.")

    def _is_own(self, host: str) -> bool:
        host = host.lower()
        return any(host == f"{name}:{self.port}" or (self.port == 80 and host == name) for name in self.names)

    def _is_own_origin(self, origin: str) -> bool:
        scheme, separator, host = origin.partition("://")
        return bool(separator) and scheme == "http" and self._is_own(host)

    def _brings_token(self, headers: Mapping[str, str]) -> bool:
        given = []
        scheme, _, value = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            given.append(value.strip())
        if self.cookie is not None:
            for part in headers.get("cookie", "").split(";"):
                name, _, value = part.strip().partition("=")
                if name == self.cookie:
                    given.append(value)
        return any(self.is_token(each) for each in given)

    def is_token(self, given: str) -> bool:
        """Whether this is the token, in a time that does not depend on how much of it is right."""
        return self.token is not None and hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())


class Guard:
    """Answers what `rules` refuse and hands on the rest, with a body that is complete and not too long. Every response
    gets `headers` beside its own."""

    def __init__(self, application: Application, rules: Rules, headers: Mapping[str, str]) -> None:
        self._application = application
        self._rules = rules
        self._headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
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
            await refuse(refusal, send_guarded)
            return
        given = False

        async def receive_body() -> Message:
            nonlocal given
            if given:
                return await receive()  # tells when the client leaves
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._application(scope, receive_body, send_guarded)

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """The whole body. Raises Refusal where it is too long or takes too long."""
        most = self._rules.most_body_bytes
        too_long = Refusal(413, f"the body is longer than {most:,} bytes")
        declared = _single(scope["headers"]).get("content-length", "")
        if declared.isdecimal() and int(declared) > most:
            raise too_long
        parts: list[bytes] = []
        length = 0
        try:
            async with asyncio.timeout(self._rules.most_body_seconds):
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


async def refuse(refusal: Refusal, send: Send) -> None:
    """The response to what is refused, as JSON."""
    body = json.dumps({"error": {"slug": "refused", "message": refusal.message}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if refusal.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def token_in_query(query: bytes) -> str | None:
    """The value of `token` in the query of a URL, by which a browser is handed it once."""
    return next((value for name, value in parse_qsl(query.decode("ascii", "replace")) if name == "token"), None)


def _single(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers by lower-case name. Of one that comes twice nothing is believed: who checks and who acts might each take
    another one. Raises Refusal."""
    found: dict[str, str] = {}
    for raw, value in headers:
        name = raw.decode("latin-1").lower()
        if name in found and name in ("host", "origin", "authorization", "content-length", "sec-fetch-site"):
            raise Refusal(400, f"the header {name} is given twice")
        if name == "cookie" and name in found:
            found[name] += "; " + value.decode("latin-1")
        else:
            found[name] = value.decode("latin-1")
    return found
