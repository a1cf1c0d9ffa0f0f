"""Bytes to messages: lines of any length in any portions, and an answer to what is no message."""

import json
import os
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCRequest, JSONRPCResponse

from causalist.servers.mcp import server
from causalist.servers.mcp.server import open_streams, read_lines, read_message
from causalist.servers.protocol_pipes import Pipes


def portions(data: bytes, sizes: list[int]) -> Iterator[bytes]:
    for size in sizes:
        if data[:size]:
            yield data[:size]
        data = data[size:]
    if data:
        yield data
    while True:
        yield b""


@given(st.binary(max_size=60), st.lists(st.integers(1, 9), max_size=9))
def test_lines_do_not_depend_on_how_they_arrive(data: bytes, sizes: list[int]) -> None:
    arriving = portions(data, sizes)
    expected = data.split(b"\n")
    if not expected[-1]:
        expected.pop()
    assert list(read_lines(lambda: next(arriving))) == expected


@pytest.mark.parametrize("sizes", [[], [7], [10], [11], [12], [3] * 20])
def test_a_line_that_is_too_long_costs_only_itself(sizes: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MAX_MESSAGE_BYTES", 10)
    arriving = portions(b"0123456789\n0123456789a\nshort\n" + b"x" * 30, sizes)
    assert list(read_lines(lambda: next(arriving))) == [b"0123456789", None, b"short", None]


def refusal(line: bytes | None) -> dict[str, Any]:
    message = read_message(line)
    assert isinstance(message, JSONRPCError)
    document: dict[str, Any] = json.loads(message.model_dump_json(by_alias=True))
    assert document["jsonrpc"] == "2.0"
    return {"id": document["id"], "code": document["error"]["code"]}


def test_messages_are_read() -> None:
    for line in (b'{"jsonrpc":"2.0","id":1,"method":"ping"}', b' {"jsonrpc":"2.0","method":"x","params":{}} \r'):
        assert isinstance(read_message(line), SessionMessage)
    assert read_message(b"") is None and read_message(b" \r") is None


@pytest.mark.parametrize(
    "line", [b"{", b"\xff\xfe", b"\x00", b"[" * 100_000, b"'a'", b'{"jsonrpc":"2.0",}', b"\xef\xbb\xbf"]
)
def test_what_is_no_json(line: bytes) -> None:
    assert refusal(line) == {"id": None, "code": -32700}


@pytest.mark.parametrize(
    ("line", "id"),
    [
        (b"[]", None), (b"1", None), (b"null", None), (b'{"id": 7, "method": "ping"}', 7),
        (b'{"jsonrpc": "1.0", "id": "a", "method": "ping"}', "a"), (b'{"jsonrpc": "2.0", "id": 7, "method": 8}', 7),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', None),
        (b'{"jsonrpc": "2.0", "id": [1], "method": "ping"}', None),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', None),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', None),
        (b'{"jsonrpc": "2.0", "id": "\\ud800", "method": 1}', None),
    ],
)  # fmt: skip
def test_what_is_json_and_no_message(line: bytes, id: object) -> None:
    assert refusal(line) == {"id": id, "code": -32600}


def test_what_is_too_long() -> None:
    assert refusal(None) == {"id": None, "code": -32600}


def test_a_request_before_the_end_of_the_input_is_answered() -> None:
    """The SDK drops what it works on when its stream ends, so the stream outlives the input until the answer is out."""
    reading, client_writes = os.pipe()
    client_reads, writing = os.pipe()
    os.write(client_writes, b'{"jsonrpc":"2.0","id":7,"method":"ping"}\n')
    os.close(client_writes)

    async def serve() -> tuple[bool, bool]:
        async with open_streams(Pipes(reading, writing)) as (incoming, outgoing):
            request = await incoming.receive()
            assert isinstance(request, SessionMessage) and isinstance(request.message, JSONRPCRequest)
            with anyio.move_on_after(0.2) as open_still:
                await incoming.receive()
            await outgoing.send(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=request.message.id, result={})))
            with anyio.move_on_after(1.5) as open_after, pytest.raises(anyio.EndOfStream):
                await incoming.receive()
        return open_still.cancelled_caught, open_after.cancelled_caught

    assert anyio.run(serve) == (True, False)
    assert json.loads(os.read(client_reads, 1000)) == {"jsonrpc": "2.0", "id": 7, "result": {}}
    for each in (reading, client_reads, writing):
        os.close(each)
