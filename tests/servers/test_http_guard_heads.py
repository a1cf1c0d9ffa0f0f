"""The time that the head of a request may take, on connections as they come."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvicorn

from causalist.servers import http_guard
from causalist.servers.http_guard import TimelyProtocol

HEAD = 0.4
REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def slow_answer(scope: Any, receive: Any, send: Any) -> None:
    """Answers after longer than a head may take."""
    await asyncio.sleep(2 * HEAD)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


def served(drive: Callable[[int], Awaitable[None]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_guard, "HEAD_SECONDS", HEAD)

    async def run() -> None:
        listening = socket.socket()
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        config = uvicorn.Config(slow_answer, http=TimelyProtocol, log_level="critical", lifespan="off")
        server = uvicorn.Server(config)
        serving = asyncio.ensure_future(server._serve([listening]))
        while not server.started:
            await asyncio.sleep(0.01)
        try:
            await asyncio.wait_for(drive(listening.getsockname()[1]), 30)
        finally:
            server.should_exit = True
            await serving

    asyncio.run(run())


async def is_closed(reader: asyncio.StreamReader) -> bool:
    """Whether the server ends the connection without a word."""
    try:
        return await asyncio.wait_for(reader.read(), 20) == b""
    except ConnectionResetError:
        return True


def test_a_connection_that_says_nothing_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    async def drive(port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await is_closed(reader)
        writer.close()

    served(drive, monkeypatch)


def test_a_head_that_comes_byte_by_byte_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"GET / HTTP/1.1\r\nX: ")
        while True:
            writer.write(b"a")
            await asyncio.sleep(HEAD / 8)

    async def drive(port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        dripping = asyncio.ensure_future(drip(writer))
        assert await is_closed(reader)
        dripping.cancel()
        writer.close()

    served(drive, monkeypatch)


@pytest.mark.slow
def test_an_answer_may_take_longer_and_the_next_head_has_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async def drive(port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(2):
            await asyncio.sleep(HEAD / 4)
            writer.write(REQUEST)
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200 ") and await reader.readexactly(2) == b"ok"
        await asyncio.sleep(2 * HEAD)  # between requests the other limit holds
        writer.write(REQUEST[:10])
        assert await is_closed(reader)
        writer.close()

    served(drive, monkeypatch)
