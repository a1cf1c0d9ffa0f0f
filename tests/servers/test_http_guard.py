"""Requests that a door which speaks HTTP lets in, and what it says to the others."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from causalist.servers.http_guard import AccessRules, Guard, Message, Receive, Refusal, Scope, Send, new_token

PORT = 8123
TOKEN = "a-token-that-nobody-guesses"
OWN = [(b"host", b"127.0.0.1:8123")]
BEARER = [(b"authorization", f"Bearer {TOKEN}".encode())]


def status_of(
    *headers: tuple[bytes, bytes], method: str = "GET", path: str = "/ask", rules: AccessRules | None = None
) -> int:
    try:
        (rules or AccessRules(port=PORT, token=TOKEN)).check(method, path, headers)
    except Refusal as refusal:
        assert refusal.message
        return refusal.status
    return 200


class TestHost:
    @pytest.mark.parametrize("host", ["127.0.0.1:8123", "localhost:8123", "LocalHost:8123", "[::1]:8123"])
    def test_addresses_of_this_machine(self, host: str) -> None:
        assert status_of((b"host", host.encode()), *BEARER) == 200

    @pytest.mark.parametrize(
        "host",
        [
            "127.0.0.1", "127.0.0.1:8124", "127.0.0.1:8123.evil.example", "evil.example:8123", "localhost:8123:8123",
            "127.0.0.1.evil.example:8123", "", "0.0.0.0:8123", "[::]:8123", "127.0.0.1:8123@evil.example",
        ],
    )  # fmt: skip
    def test_a_name_that_an_attacker_lets_point_here(self, host: str) -> None:
        assert status_of((b"host", host.encode()), *BEARER) == 421

    def test_none_and_two(self) -> None:
        assert status_of(*BEARER) == 421
        assert status_of(*OWN, (b"Host", b"evil.example"), *BEARER) == 400

    def test_the_usual_port_may_be_left_out(self) -> None:
        assert status_of((b"host", b"localhost"), rules=AccessRules(port=80, token=None)) == 200


class TestOrigin:
    @pytest.mark.parametrize("origin", ["http://127.0.0.1:8123", "http://localhost:8123"])
    def test_own(self, origin: str) -> None:
        assert status_of(*OWN, (b"origin", origin.encode()), *BEARER) == 200

    @pytest.mark.parametrize(
        "origin",
        ["http://evil.example", "null", "", "https://127.0.0.1:8123", "http://127.0.0.1:3000", "file://",
         "http://127.0.0.1:8123.evil.example"],
    )  # fmt: skip
    def test_of_others(self, origin: str) -> None:
        assert status_of(*OWN, (b"origin", origin.encode()), *BEARER) == 403

    @pytest.mark.parametrize(
        ("site", "status"), [("none", 200), ("same-origin", 200), ("same-site", 403), ("cross-site", 403)]
    )
    def test_what_the_browser_says(self, site: str, status: int) -> None:
        assert status_of(*OWN, (b"sec-fetch-site", site.encode()), *BEARER) == status


class TestToken:
    @pytest.mark.parametrize(
        "value", [b"", b"Bearer", b"Bearer ", b"Bearer a-token", b"Basic " + TOKEN.encode(), b"Bearer \xff\xfe"]
    )
    def test_wrong_ones(self, value: bytes) -> None:
        assert status_of(*OWN, (b"authorization", value)) == 401

    def test_missing_and_not_asked_for(self) -> None:
        assert status_of(*OWN) == 401
        assert status_of(*OWN, rules=AccessRules(port=PORT, token=None)) == 200
        opened = AccessRules(port=PORT, token=TOKEN, open_paths=frozenset({"/"}))
        assert status_of(*OWN, path="/", rules=opened) == 200
        assert status_of(*OWN, path="/ask", rules=opened) == 401
        assert status_of((b"host", b"evil.example"), path="/", rules=opened) == 421

    def test_from_a_cookie_only_where_there_is_one(self) -> None:
        cookie = (b"cookie", f"a=b; door={TOKEN}; c".encode())
        assert status_of(*OWN, cookie) == 401
        assert status_of(*OWN, cookie, rules=AccessRules(port=PORT, token=TOKEN, cookie="door")) == 200
        assert status_of(*OWN, (b"cookie", b"door=x"), rules=AccessRules(port=PORT, token=TOKEN, cookie="door")) == 401

    def test_tokens_differ_and_are_long(self) -> None:
        tokens = {new_token() for _ in range(100)}
        assert len(tokens) == 100 and all(len(each) >= 32 for each in tokens)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get"])
def test_other_methods(method: str) -> None:
    assert status_of(*OWN, *BEARER, method=method) == 405


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    message = await receive()
    headers = [(b"x-own", b"1"), (b"cache-control", b"mine")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": message["body"]})


def exchanged(messages: Iterator[Message] | list[Message], *headers: tuple[bytes, bytes], **limits: Any) -> Any:
    """(status, headers, body) of what a guarded application that echoes answers."""
    sent: list[Message] = []
    waiting = iter(messages)

    async def receive() -> Message:
        message = next(waiting, None)
        if message is None:
            await asyncio.sleep(60)
            raise AssertionError
        return message

    async def send(message: Message) -> None:
        sent.append(message)

    guard = Guard(
        echo, AccessRules(port=PORT, token=TOKEN, **limits), {"Cache-Control": "no-store", "X-Frame-Options": "DENY"}
    )
    scope = {"type": "http", "method": "POST", "path": "/ask", "headers": [*OWN, *BEARER, *headers]}
    asyncio.run(guard(scope, receive, send))
    return sent[0]["status"], dict(sent[0]["headers"]), b"".join(each.get("body", b"") for each in sent[1:])


def part(body: bytes, more: bool = False) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


class TestBody:
    def test_parts_are_joined_and_headers_are_added(self) -> None:
        status, headers, body = exchanged([part(b"ab", True), part(b"", True), part(b"c")])
        assert (status, body) == (200, b"abc")
        assert headers == {b"x-own": b"1", b"cache-control": b"mine", b"x-frame-options": b"DENY"}

    def test_too_long_as_declared_and_as_sent(self) -> None:
        declared = exchanged([part(b"x" * 11)], (b"content-length", b"11"), max_body_bytes=10)
        sent = exchanged([part(b"x" * 6, True), part(b"x" * 5)], max_body_bytes=10)
        for status, headers, body in (declared, sent):
            assert status == 413
            assert json.loads(body)["error"]["message"] == "the body is longer than 10 bytes"
            assert headers[b"cache-control"] == b"no-store"
        assert exchanged([part(b"x" * 10)], max_body_bytes=10)[0] == 200

    def test_too_slow(self) -> None:
        assert exchanged([part(b"x", True)], max_body_seconds=0.05)[0] == 408

    def test_a_client_that_leaves(self) -> None:
        assert exchanged([part(b"x", True), {"type": "http.disconnect"}])[0] == 400


def test_what_is_refused_never_reaches_the_application() -> None:
    async def unreachable(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        raise AssertionError("the body of a refused request is not read")

    guard = Guard(unreachable, AccessRules(port=PORT, token=TOKEN), {})
    asyncio.run(guard({"type": "http", "method": "POST", "path": "/", "headers": OWN}, receive, send))
    assert sent[0]["status"] == 401 and (b"www-authenticate", b"Bearer") in sent[0]["headers"]
    sent.clear()
    asyncio.run(guard({"type": "websocket", "headers": OWN}, receive, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]
