"""`serve mcp --http`: the official client, several at once, and everything that has to be refused."""

import json
import random
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import httpx2 as httpx
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from causalist.servers.mcp.handlers import select_tools
from tests.cli.commands import run, write_all
from tests.cli.conftest import SMALL
from tests.servers.conftest import settle
from tests.servers.http_wire import TOKEN, HttpServer
from tests.servers.wire import INITIALIZE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="ends the server with signals"),
]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_all(tmp_path_factory.mktemp("http") / "shop", SMALL)
    settle(folder)
    return folder


@pytest.fixture(scope="module")
def server(shop: Path) -> Iterator[HttpServer]:
    with HttpServer(shop, options=("--tools", "all"), is_ready=True) as started:
        yield started


CALLS: dict[str, dict[str, object]] = {
    "ask": {"question": "what does an invoice cost with tax"}, "symbol": {"name": "price_of"},
    "impact": {"name": "with_tax"}, "find": {"name": "price"}, "map": {}, "tests": {"name": "with_tax"},
    "state": {"name": "shop/prices.py"}, "neighbors": {"name": "price_of"},
    "verify": {"name": "price_of", "to": "with_tax"}, "layers": {}, "topo": {}, "status": {},
}  # fmt: skip


async def client(url: str, token: str = TOKEN) -> httpx.AsyncClient:
    return httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}, trust_env=False, timeout=30)


class TestOfficialClient:
    def test_every_tool_resource_and_prompt(self, server: HttpServer) -> None:
        async def drive() -> None:
            async with (
                await client(server.url) as http,
                streamable_http_client(server.url, http_client=http) as (reading, writing, *_),
                ClientSession(reading, writing) as session,
            ):
                assert (await session.initialize()).server_info.name == "causalist"
                listed = [each.name for each in (await session.list_tools()).tools]
                assert set(CALLS) <= set(listed) == set(select_tools("all"))
                for tool, arguments in CALLS.items():
                    result = await session.call_tool(tool, arguments)  # checks the structured part as well
                    assert not result.is_error and result.structured_content, (tool, result.content)
                (resource,) = (await session.list_resources()).resources
                (content,) = (await session.read_resource(resource.uri)).contents
                assert "shop/" in content.text
                (prompt,) = (await session.list_prompts()).prompts
                got = await session.get_prompt(prompt.name, {"task": "change the tax"})
                assert "def with_tax" in got.messages[0].content.text

        anyio.run(drive)

    def test_many_at_once(self, server: HttpServer) -> None:
        async def ask(number: int) -> None:
            async with (
                await client(server.url) as http,
                streamable_http_client(server.url, http_client=http) as (reading, writing, *_),
                ClientSession(reading, writing) as session,
            ):
                await session.initialize()
                result = await session.call_tool("symbol", {"name": ("price_of", "with_tax", "Cart.total")[number % 3]})
                assert not result.is_error

        async def drive() -> None:
            async with anyio.create_task_group() as group:
                for number in range(12):
                    group.start_soon(ask, number)

        anyio.run(drive)


START = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}


class TestRefused:
    @pytest.mark.parametrize(
        ("headers", "status"),
        [
            ({"Host": "evil.example"}, 421), ({"Host": "127.0.0.1"}, 421), ({"Host": "127.0.0.1:1"}, 421),
            ({"Host": None}, 400), ({"Host": "127.0.0.1:PORT.evil.example"}, 421),
            ({"Host": "evil.example:PORT"}, 421), ({"Origin": "http://evil.example"}, 403),
            ({"Origin": "null"}, 403), ({"Origin": "https://127.0.0.1:PORT"}, 403),
            ({"Origin": "http://127.0.0.1:PORT.evil.example"}, 403), ({"Origin": ""}, 403),
            ({"Authorization": None}, 401), ({"Authorization": "Bearer"}, 401), ({"Authorization": TOKEN}, 401),
            ({"Authorization": f"Bearer {TOKEN}x"}, 401), ({"Authorization": f"Basic {TOKEN}"}, 401),
            ({"Authorization": "Bearer \xff"}, 401), ({"Content_Type": "text/plain"}, 400),
        ],
    )  # fmt: skip
    def test_before_anything_is_looked_at(
        self, headers: dict[str, str | None], status: int, server: HttpServer
    ) -> None:
        given = {name: value and value.replace("PORT", str(server.port)) for name, value in headers.items()}
        assert server.send(START, **given)[0] == status

    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
    def test_its_own_names_are_fine(self, host: str, server: HttpServer) -> None:
        own = f"{host}:{server.port}"
        assert server.send(START, Host=own, Origin=f"http://{own}")[0] == 200

    @pytest.mark.parametrize("path", ["/", "/mcp/", "/mcp/../x", "/x", "/mcp%00"])
    def test_other_paths(self, path: str, server: HttpServer) -> None:
        assert server.send(START, path=path)[0] == 404

    @pytest.mark.parametrize("method", ["PUT", "PATCH", "OPTIONS", "HEAD"])
    def test_other_methods(self, method: str, server: HttpServer) -> None:
        assert server.send(b"", method=method)[0] == 405

    def test_a_body_that_is_too_long(self, server: HttpServer) -> None:
        assert server.send(b"", Content_Length="99999999")[0] == 413
        alive(server)

    @pytest.mark.parametrize(
        "body",
        [b"", b"{", b"\xff\xfe", b"[" * 50_000, b"null", b"[]", b'{"jsonrpc":"2.0"}', b'"ping"', b"\x00" * 1000,
         b'{"jsonrpc":"1.0","id":1,"method":"ping"}', b'{"jsonrpc":"2.0","id":1,"method":7}'],
    )  # fmt: skip
    def test_bodies_that_are_no_message(self, body: bytes, server: HttpServer) -> None:
        session = server.open_session()
        assert 400 <= server.send(body, Mcp_Session_Id=session)[0] < 500
        alive(server)

    @pytest.mark.parametrize("session", ["", "nonsense", "../..", "x" * 5000])
    def test_sessions_that_are_none(self, session: str, server: HttpServer) -> None:
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        assert server.send(ping, Mcp_Session_Id=session)[0] in (400, 404)

    def test_bytes_that_are_no_http(self, server: HttpServer) -> None:
        rng = random.Random(7)
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", server.port), timeout=10) as wire:
                wire.sendall(rng.randbytes(rng.randrange(1, 300)))
        alive(server)


def alive(server: HttpServer) -> None:
    session = server.open_session()
    assert server.request(session, "ping", {})["result"] == {}


def test_a_token_is_made_up_and_shown_once(shop: Path) -> None:
    with HttpServer(shop, token="", is_ready=True) as server:
        assert server.said[1].startswith("causalist: token: ")
        server.token = server.said[1].split()[-1]
        assert len(server.token) >= 24
        alive(server)
        server.token = ""
        assert server.send(START)[0] == 401


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_the_end_is_prompt(number: signal.Signals, code: int, shop: Path) -> None:
    with HttpServer(shop) as server:
        alive(server)
        assert server.stop(number) == code
        assert server.process.stdout is not None and server.process.stdout.read() == b""
        assert server.errors == []


def test_a_port_that_is_taken_is_named(server: HttpServer, shop: Path) -> None:
    done = run("serve", "mcp", "--http", "--port", str(server.port), "--repo", str(shop), cwd=shop)
    assert "Choose another --port" in done.failed("usage")


def test_only_the_loopback_interface_is_listened_on(server: HttpServer) -> None:
    name = f"{server.port:04X}"
    listening = [
        line.split()[1] for table in ("/proc/net/tcp", "/proc/net/tcp6") if Path(table).exists()
        for line in Path(table).read_text().splitlines()[1:] if line.split()[1].endswith(f":{name}")
        and line.split()[3] == "0A"
    ]  # fmt: skip
    assert listening == [f"0100007F:{name}"]


def test_changes_are_seen_by_the_next_call(shop: Path, tmp_path: Path) -> None:
    root = write_all(tmp_path / "edited", SMALL)
    with HttpServer(root, options=("--refresh-wait", "60"), is_ready=True) as server:
        session = server.open_session()

        def callers() -> str:
            result = server.request(session, "tools/call", {"name": "symbol", "arguments": {"name": "price_of"}})
            return str(json.dumps(result))

        assert "called by 1:" in callers()
        (root / "shop" / "gifts.py").write_text("from shop.prices import price_of\n\n\ndef wrap(i):\n    price_of(i)\n")
        assert "called by 2:" in callers()
        (root / "shop" / "gifts.py").unlink()
        time.sleep(0.01)
        assert "called by 1:" in callers()
