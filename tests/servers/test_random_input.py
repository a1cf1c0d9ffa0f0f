"""Random lines and messages with one part changed leave the server answering.

A sample with a fixed seed; `python -m tests.benchmarks.servers malformed REPOSITORY` sends 500 of them both ways.
"""

import json
import random
import sys
from pathlib import Path

import pytest

from tests.benchmarks.servers.__main__ import random_line
from tests.servers.http_wire import HttpServer
from tests.servers.wire import RawServer

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="ends the server with signals"),
]
LINES = [random_line(random.Random(seed)) for seed in range(60)]


def test_over_standard_input(small: Path) -> None:
    with RawServer(small, is_ready=True) as server:
        server.start()
        for number, line in enumerate(LINES):
            ping = json.dumps({"jsonrpc": "2.0", "id": f"alive-{number}", "method": "ping"}).encode()
            server.write(line + b"\n" + ping + b"\n")
            assert server.response(f"alive-{number}")["result"] == {}, line
        assert "with_tax" in server.call("symbol", name="price_of")[0]
        assert server.finish() == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in server.lines) and b"Traceback" not in server.errors


def test_over_http(small: Path) -> None:
    with HttpServer(small, is_ready=True) as server:
        session = server.open_session()
        for number, line in enumerate(LINES):
            status, _, body = server.send(line, Mcp_Session_Id=session)
            assert status < 500 and b"Traceback" not in body, line
            assert server.request(session, "ping", {}, id=f"alive-{number}")["result"] == {}, line
        result = server.request(session, "tools/call", {"name": "symbol", "arguments": {"name": "price_of"}})
        assert "with_tax" in result["result"]["content"][0]["text"]
        assert server.stop() == 0 and server.errors == []
