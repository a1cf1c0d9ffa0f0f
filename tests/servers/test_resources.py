"""Resources, the prompt, roots, and several repositories in one server, by the official client."""

import json
import sys
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import mcp.types as types
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from tests.cli.commands import write_all
from tests.cli.conftest import SMALL
from tests.servers.conftest import settle
from tests.servers.ready_process import ready
from tests.servers.wire import PATIENT, RawServer, environment, indexing_waits

pytestmark = pytest.mark.slow

OTHER = {"site/pages.py": "def render_page(title):\n    '''A page of the site.'''\n    return title\n"}


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    roots = write_all(tmp_path / "shop", SMALL), write_all(tmp_path / "site", OTHER)
    for root in roots:
        settle(root)
    return roots


@asynccontextmanager
async def session_of(*options: str, cwd: Path, roots: list[Path] | None = None) -> AsyncIterator[ClientSession]:
    async def list_roots(_: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=root.as_uri()) for root in roots or []])

    program, *arguments = ready([sys.executable, "-P", "-m", "causalist", "serve", "mcp", *PATIENT, *options])
    parameters = StdioServerParameters(command=program, args=arguments, env=environment(), cwd=cwd)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of roots, which the next version of the protocol does without
        async with stdio_client(parameters) as (reading, writing):
            callback = list_roots if roots is not None else None
            async with ClientSession(reading, writing, list_roots_callback=callback) as session:
                await session.initialize()
                yield session


async def text_of(session: ClientSession, tool: str, **arguments: object) -> str:
    result = await session.call_tool(tool, arguments)
    (content,) = result.content
    assert content.type == "text"
    return content.text


class TestResources:
    def test_the_map_and_a_node(self, small: Path) -> None:
        async def drive() -> None:
            async with session_of("--repo", str(small), cwd=small) as session:
                (listed,) = (await session.list_resources()).resources
                assert str(listed.uri) == "causalist://map" and listed.mime_type == "text/plain"
                (content,) = (await session.read_resource("causalist://map")).contents
                assert isinstance(content, types.TextResourceContents) and "def print_invoice" in content.text
                (template,) = (await session.list_resource_templates()).resource_templates
                assert template.uri_template == "causalist://node/{id}"
                for id in (quote("shop/prices.py::price_of", safe=""), "shop/prices.py::price_of", "price_of"):
                    (content,) = (await session.read_resource(f"causalist://node/{id}")).contents
                    assert isinstance(content, types.TextResourceContents)
                    assert content.text.startswith("# shop/prices.py::price_of\n")
                for uri in ("causalist://node/", "causalist://node/nowhere_at_all", "causalist://maps", "file:///etc"):
                    with pytest.raises(MCPError) as caught:
                        await session.read_resource(uri)
                    assert str(caught.value).partition(":")[0] in ("usage", "unknown-node")

        anyio.run(drive)


class TestPrompt:
    def test_a_task_comes_with_code(self, small: Path) -> None:
        async def drive() -> None:
            async with session_of("--repo", str(small), cwd=small) as session:
                (prompt,) = (await session.list_prompts()).prompts
                assert prompt.name == "begin" and [a.name for a in prompt.arguments or []] == ["task"]
                got = await session.get_prompt("begin", {"task": "change how tax is added to a price"})
                (message,) = got.messages
                assert message.role == "user" and message.content.type == "text"
                assert message.content.text.startswith("change how tax is added to a price\n\n")
                assert "def with_tax(net):" in message.content.text
                for name, arguments in (("begin", {"task": " "}), ("begin", {}), ("end", {"task": "x"})):
                    with pytest.raises(MCPError):
                        await session.get_prompt(name, arguments)

        anyio.run(drive)


class TestSeveral:
    def test_each_call_names_one(self, two: tuple[Path, Path]) -> None:
        async def drive() -> None:
            options = [word for root in two for word in ("--repo", str(root))]
            async with session_of(*options, cwd=two[0]) as session:
                for tool in (await session.list_tools()).tools:
                    assert tool.input_schema["properties"]["repository"]["enum"] == ["shop", "site"]
                    assert "repository" not in tool.input_schema["required"]
                assert "def price_of" in await text_of(session, "symbol", name="price_of")
                assert "def render_page" in await text_of(session, "symbol", name="render_page", repository="site")
                unknown = await text_of(session, "symbol", name="render_page", repository="shop")
                assert unknown.startswith("unknown-node: ")
                for wrong in ("elsewhere", 7):
                    assert (await text_of(session, "ask", question="x", repository=wrong)).startswith("usage: ")
                result = await session.call_tool("ask", {"question": "page title", "repository": "site"})
                assert result.structured_content is not None
                assert result.structured_content["coverage"]["repository"] == "site"
                uris = [str(each.uri) for each in (await session.list_resources()).resources]
                assert uris == ["causalist://map", "causalist://map/site"]
                (content,) = (await session.read_resource("causalist://map/site")).contents
                assert isinstance(content, types.TextResourceContents) and "def render_page" in content.text
                (content,) = (await session.read_resource("causalist://node/render_page?repository=site")).contents
                assert isinstance(content, types.TextResourceContents) and "def render_page" in content.text

        anyio.run(drive)

    def test_one_takes_no_name(self, small: Path) -> None:
        with RawServer(small, is_ready=True) as server:
            server.start()
            text, failed = server.call("ask", question="price", repository="small")
            assert failed and text.startswith("usage: unknown argument 'repository'")

    def test_folders_of_one_name(self, tmp_path: Path) -> None:
        roots = [write_all(tmp_path / part / "app", OTHER) for part in ("a", "b")]

        async def drive() -> None:
            options = [word for root in roots for word in ("--repo", str(root))]
            async with session_of(*options, cwd=tmp_path) as session:
                tool = (await session.list_tools()).tools[0]
                assert tool.input_schema["properties"]["repository"]["enum"] == ["app", "app~2"]

        anyio.run(drive)


class TestRoots:
    def test_what_the_client_has_open_is_served(self, two: tuple[Path, Path], tmp_path: Path) -> None:
        """Though the server was started elsewhere, in a folder of no interest."""
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()

        async def drive() -> None:
            async with session_of(cwd=elsewhere, roots=[two[1]]) as session:
                assert "def render_page" in await text_of(session, "symbol", name="render_page")
            async with session_of(cwd=elsewhere, roots=list(two)) as session:
                assert "def price_of" in await text_of(session, "symbol", name="price_of")
                tool = (await session.list_tools()).tools[0]
                assert tool.input_schema["properties"]["repository"]["enum"] == ["shop", "site"]
            assert not (elsewhere / ".causalist").exists()

        anyio.run(drive)

    def test_a_change_of_roots_is_followed(self, two: tuple[Path, Path]) -> None:
        roots = [two[0]]

        async def drive() -> None:
            async with session_of(cwd=two[0], roots=roots) as session:
                assert "def price_of" in await text_of(session, "symbol", name="price_of")
                roots[:] = [two[1]]
                await session.send_roots_list_changed()
                assert "def render_page" in await text_of(session, "symbol", name="render_page")

        anyio.run(drive)

    def test_without_any_the_current_folder_counts(self, two: tuple[Path, Path]) -> None:
        async def drive() -> None:
            async with session_of(cwd=two[0]) as session:
                assert "def price_of" in await text_of(session, "symbol", name="price_of")
            roots: list[Path] = []
            async with session_of(cwd=two[0], roots=roots) as session:
                assert "def price_of" in await text_of(session, "symbol", name="price_of")
                for none in ([Path("/nowhere/at/all")], [Path("/")]):
                    for roots[:], shown in (([two[1]], "render_page"), (none, "price_of")):
                        await session.send_roots_list_changed()
                        assert f"def {shown}" in await text_of(session, "symbol", name=shown)

        anyio.run(drive)

    def test_a_folder_that_is_named_goes_before_what_is_open(self, two: tuple[Path, Path]) -> None:
        async def drive() -> None:
            async with session_of("--repo", str(two[0]), cwd=two[1], roots=[two[1]]) as session:
                assert "def price_of" in await text_of(session, "symbol", name="price_of")

        anyio.run(drive)

    def test_from_a_home_directory(self, two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
        """Editors start servers there; it is not served, but what is open is."""
        home = two[0].parent
        monkeypatch.setenv("HOME", str(home))

        async def drive() -> None:
            async with session_of(cwd=home, roots=[two[1]]) as session:
                assert "def render_page" in await text_of(session, "symbol", name="render_page")
            async with session_of(cwd=home) as session:
                assert (await text_of(session, "ask", question="x")).startswith("usage: no repository is open")
            assert not (home / ".causalist").exists()

        anyio.run(drive)


def test_text_only(small: Path) -> None:
    async def drive() -> None:
        async with session_of("--repo", str(small), "--text-only", cwd=small) as session:
            assert all(tool.output_schema is None for tool in (await session.list_tools()).tools)
            result = await session.call_tool("symbol", {"name": "price_of"})
            assert result.structured_content is None

    anyio.run(drive)


def test_the_answer_says_what_it_covers(several: Path) -> None:
    with indexing_waits(several), RawServer(several, "--wait", "0", is_ready=True) as server:
        server.start()
        result = server.request("tools/call", {"name": "ask", "arguments": {"question": "worker"}})["result"]
        coverage = result["structuredContent"]["coverage"]
        assert coverage["complete"] is False and coverage["indexing"]
        assert 0 < coverage["files"] < 900, "those that the question needs"
        assert {node["kind"] for node in result["structuredContent"]["nodes"]} == {"class"} and json.dumps(coverage)
        result = server.request("tools/call", {"name": "impact", "arguments": {"name": "worker"}})["result"]
        coverage = result["structuredContent"]["coverage"]
        assert coverage["files"] == 0 and result["structuredContent"]["nodes"] == []
