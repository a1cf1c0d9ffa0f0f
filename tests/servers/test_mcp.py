"""The server as its clients meet it: a process, and the protocol on its pipes."""

import json
import re
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from causalist.pack import count_tokens
from causalist.pipeline.repository import Repository
from causalist.servers.mcp.tools import TOOLS
from causalist.servers.text_answers import OUTPUT_SCHEMA
from tests.confidences import said_briefly
from tests.servers.malformed import NONE, cases
from tests.servers.ready_process import ready
from tests.servers.wire import (
    ANSWER_SECONDS,
    CHECKOUT,
    PATIENT,
    RawServer,
    are_gone,
    children_of,
    command,
    environment,
    indexing_waits,
    wait_for_children,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc"),
]

IMPORT, SAME_FILE = said_briefly("import"), said_briefly("same-file")


def parameters(words: list[str]) -> StdioServerParameters:
    program, *arguments = words
    return StdioServerParameters(command=program, args=arguments, env=environment())


class TestOfficialClient:
    def test_all_tools(self, small: Path) -> None:
        async def drive() -> None:
            async with (
                stdio_client(parameters(command(small))) as (reading, writing),
                ClientSession(reading, writing) as session,
            ):
                started = await session.initialize()
                assert started.server_info.name == "causalist"
                assert started.instructions and str(small) in started.instructions
                listed = {each.name: each for each in (await session.list_tools()).tools}
                assert list(listed) == list(TOOLS)
                for name, each in listed.items():
                    assert each.input_schema == TOOLS[name].schema() and each.description == TOOLS[name].description
                    assert each.annotations is not None and each.output_schema == OUTPUT_SCHEMA
                    hints = each.annotations
                    assert hints.read_only_hint and hints.idempotent_hint and hints.open_world_hint is False

                async def call(tool: str, /, **arguments: object) -> tuple[str, bool]:
                    result = await session.call_tool(tool, arguments)
                    (content,) = result.content
                    assert content.type == "text"
                    assert result.is_error or result.structured_content["text"] == content.text
                    return content.text, result.is_error

                text, failed = await call("ask", question="what does an invoice cost with tax", max_tokens=900)
                assert not failed and text.startswith("# what does an invoice cost with tax\n")
                assert "def with_tax(net):" in text and "next: symbol or impact with an id: " in text
                assert count_tokens(text) <= 900

                text, failed = await call("symbol", name="price_of")
                assert not failed and "return with_tax(item.net)" in text
                assert f"called by 1:\n  shop/cart.py::Cart.total, line 8, {IMPORT}\n" in text
                assert f"calls 1:\n  shop/prices.py::with_tax, line 3, {SAME_FILE}\n" in text

                text, failed = await call("symbol", name="print_invoice", to="with_tax")
                assert not failed and text.startswith("3 steps, each uses the next:\n  shop/report.py::print_invoice\n")

                text, failed = await call("impact", name="with_tax")
                assert not failed and "shop/report.py::print_invoice  calls Cart.total, line 5, " in text

                text, failed = await call("symbol", name="total")
                assert not failed and "# shop/cart.py::Cart.total\n" in text and "# shop/report.py::total\n" in text
                assert await call("symbol", name="total", max_tokens=300) == (
                    "ambiguous-node: 2 nodes are called 'total'; use one of these ids:\n"
                    "  shop/cart.py::Cart.total  method, line 7\n  shop/report.py::total  function, line 8",
                    True,
                )
                text, failed = await call("ask", question="qqzzqq")
                assert not failed and text.startswith("nothing found: no word of the query occurs in the 4 files")

        anyio.run(drive)

    def test_progress_while_indexing(self, large: Path) -> None:
        told: list[tuple[float, float | None, str | None]] = []

        async def drive() -> None:
            enough = anyio.Event()

            async def tell(progress: float, total: float | None, message: str | None) -> None:
                told.append((progress, total, message))
                if sum("files parsed" in (message or "") for _, _, message in told) == 2:
                    enough.set()

            async with (
                stdio_client(parameters(ready(command(large, "--wait", "600")))) as (reading, writing),
                ClientSession(reading, writing) as session,
                anyio.create_task_group() as group,
            ):
                await session.initialize()

                async def ask() -> None:
                    await session.call_tool("ask", {"question": "worker"}, progress_callback=tell)

                group.start_soon(ask)
                with anyio.fail_after(60):
                    await enough.wait()
                group.cancel_scope.cancel()

        anyio.run(drive)
        values = [progress for progress, _, _ in told]
        assert values == sorted(set(values)) and all(total == 100 for _, total, _ in told)
        assert told[-1][2] is not None and re.fullmatch(r"indexing: \d+ of 1500 files parsed", told[-1][2])


class TestWhileIndexing:
    def test_every_tool_says_how_far_it_is_and_the_protocol_goes_on(self, several: Path) -> None:
        with indexing_waits(several), RawServer(several, "--wait", "0") as server:
            server.start()
            wait_for_children(server, 1)
            for name in TOOLS:
                key = "question" if name == "ask" else "name"
                text, failed = server.call(name, **{key: "worker"})
                assert "still indexing: " in text.split("\n")[0] and not failed
                if name == "impact":
                    assert "call again in a few seconds" in text
                else:
                    assert "worker_" in text and re.search(r"(all|\d+ of) 900 files", text), text
            assert server.call("ask", question="") == ("usage: question must not be empty", True)
            assert [tool["name"] for tool in server.request("tools/list")["result"]["tools"]] == list(TOOLS)
            assert server.request("ping")["result"] == {}
            assert not (several / ".causalist" / "index.bin").exists()

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, None])
    def test_the_end_is_prompt_and_leaves_no_process(self, number: signal.Signals | None, large: Path) -> None:
        with RawServer(large) as server:
            server.start()
            server.write(
                b'{"jsonrpc":"2.0","id":"w","method":"tools/call","params":{"name":"ask","arguments":{"question":"x"}}}\n'
            )
            # The process that indexes and its workers, or just itself where there is one processor.
            below = wait_for_children(server, 1)
            time.sleep(0.5)
            below = sorted({*below, *children_of(server.process.pid)})
            asked_at = time.monotonic()
            if number is None:
                code = server.finish()
            else:
                server.process.send_signal(number)
                code = server.wait()
            assert time.monotonic() - asked_at < 5
            assert code == (130 if number is signal.SIGINT else 0)
            assert are_gone(below)
        assert server.errors == b""
        left = {path.name for path in (large / ".causalist").iterdir()} if (large / ".causalist").exists() else set()
        assert not {name for name in left if name.endswith(".new")} and "index.bin" not in left

    def test_a_killed_server_takes_its_processes_along(self, large: Path) -> None:
        with RawServer(large) as server:
            server.start()
            below = wait_for_children(server, 1)
            server.process.kill()
            assert are_gone(below)


class TestMalformed:
    def test_goes_on_after_every_one(self, small: Path) -> None:
        sent = cases()
        assert len(sent) >= 200
        ids = [case.id for case in sent if case.id is not NONE]
        assert len(set(map(repr, ids))) == len(ids)
        with RawServer(small, is_ready=True) as server:
            server.start()
            assert server.call("ask", question="price")[1] is False
            for number, case in enumerate(sent):
                server.write(
                    case.line
                    + b"\n"
                    + json.dumps({"jsonrpc": "2.0", "id": f"alive-{number}", "method": "ping"}).encode()
                    + b"\n"
                )
                assert server.response(f"alive-{number}")["result"] == {}, case.line[:200]
            text, failed = server.call("symbol", name="price_of")
            assert not failed and "with_tax" in text
            assert server.finish() == 0
        answered: Counter[str] = Counter()
        for line in server.lines:
            message: dict[str, Any] = json.loads(line)
            assert message["jsonrpc"] == "2.0" and ("result" in message) != ("error" in message)
            answered[repr(message["id"])] += 1
            assert b"Traceback" not in line and b"internal: " not in line and b'File \\"' not in line
        for id in ids:
            assert answered[repr(id)] == 1, id
        # Lines that are no messages are refused one by one, not passed over.
        assert answered["None"] >= 80
        assert b"Traceback" not in server.errors

    def test_before_the_handshake(self, small: Path) -> None:
        with RawServer(small, is_ready=True) as server:
            for case in cases()[:12]:
                server.write(case.line + b"\n")
            assert "error" in server.request("tools/call", {"name": "ask", "arguments": {"question": "price"}})
            assert server.start()["serverInfo"]["name"] == "causalist"
            assert server.call("ask", question="price")[1] is False


# Everything that could write to standard output from within: a print, the file descriptor, a program.
NOISE = """
import os, subprocess, sys
from dataclasses import replace
from causalist.cli import main
from causalist.servers.mcp import tools

def noisy(answer):
    def answered(repository, arguments):
        print("a stray print", flush=True)
        os.write(1, b"a stray write\\n")
        subprocess.run(["sh", "-c", "echo a stray program; cat"], check=True)
        sys.stdout.write("never flushed")
        return answer(repository, arguments)
    return answered

tools.TOOLS = {name: replace(tool, answer=noisy(tool.answer)) for name, tool in tools.TOOLS.items()}
main(["serve", "mcp", "--wait", "60", "--refresh-wait", "60", "--repo", sys.argv[1]])
"""


def test_standard_output_carries_the_protocol_and_nothing_else(small: Path) -> None:
    with RawServer(small, program=[sys.executable, "-P", "-c", NOISE, str(small)]) as server:
        server.start()
        for number in range(3):
            # The program reads its standard input to the end: what it gets must not be the next message.
            assert "with_tax" in server.call("ask", question="price with tax", max_tokens=1000 + number)[0]
        assert server.finish() == 0
    for line in server.lines:
        assert json.loads(line)["jsonrpc"] == "2.0"
    assert server.errors.count(b"a stray print") == server.errors.count(b"a stray program") == 3


BROKEN = """
import sys
from dataclasses import replace
from causalist.cli import main
from causalist.servers.mcp import tools

def fail(repository, arguments):
    raise KeyError("deep inside")

tools.TOOLS = {name: replace(tool, answer=fail) for name, tool in tools.TOOLS.items()}
main(["serve", "mcp", "--wait", "60", "--refresh-wait", "60", "--repo", sys.argv[1]])
"""


def test_a_defect_is_a_result_that_says_so(small: Path) -> None:
    with RawServer(small, program=[sys.executable, "-P", "-c", BROKEN, str(small)]) as server:
        server.start()
        for _ in range(2):
            text, failed = server.call("ask", question="price")
            assert failed and text.startswith("internal: KeyError: 'deep inside'\nThis is a defect of Causalist")
        assert server.finish() == 0
    assert b"Traceback" not in server.errors


def test_a_call_that_is_cancelled_is_not_answered(large: Path) -> None:
    with RawServer(large) as server:
        server.start()
        params = {"name": "ask", "arguments": {"question": "worker"}}
        server.write(
            json.dumps({"jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": params}).encode() + b"\n"
        )
        wait_for_children(server, 1)
        server.notify("notifications/cancelled", {"requestId": "c"})
        assert server.request("ping")["result"] == {}
        assert server.finish() == 0
    assert not [line for line in server.lines if json.loads(line).get("id") == "c"]


class TestRefresh:
    def test_the_same_question_is_answered_anew_after_a_change_and_only_then(self, small: Path) -> None:
        with RawServer(small, "--refresh-wait", "60", is_ready=True) as server:
            server.start()
            asked = [server.call("symbol", name="with_tax")[0] for _ in range(2)]
            assert asked[0] == asked[1] and "net * 1.2" in asked[0]
            text = (small / "shop" / "prices.py").read_text()
            (small / "shop" / "prices.py").write_text(text.replace("1.2", "1.3"))
            assert "net * 1.3" in server.call("symbol", name="with_tax")[0]

    def test_changes_are_seen_by_the_next_call(self, small: Path) -> None:
        with RawServer(small, "--refresh-wait", "60", is_ready=True) as server:
            server.start()
            assert "with_tax" in server.call("symbol", name="price_of")[0]
            (small / "shop" / "gifts.py").write_text(
                "from shop.prices import price_of\n\n\ndef wrap(item):\n    return price_of(item)\n"
            )
            assert "called by 2:" in server.call("symbol", name="price_of")[0]
            (small / "shop" / "gifts.py").unlink()
            assert "called by 1:" in server.call("symbol", name="price_of")[0]

    def test_an_answer_from_before_a_change_says_so_until_the_newer_index_is_there(self, small: Path) -> None:
        with RawServer(small, "--refresh-wait", "0", is_ready=True) as server:
            server.start()
            server.call("symbol", name="price_of")
            (small / "shop" / "gifts.py").write_text(
                "from shop.prices import price_of\n\n\ndef wrap(item):\n    return price_of(item)\n"
            )
            generations = []
            until = time.monotonic() + ANSWER_SECONDS
            while time.monotonic() < until:
                arguments = {"name": "price_of"}
                result = server.request("tools/call", {"name": "symbol", "arguments": arguments})["result"]
                text, coverage = result["content"][0]["text"], result["structuredContent"]["coverage"]
                generations.append(coverage["generation"])
                if coverage["complete"]:
                    break
                assert coverage["behind"] == 1 and coverage["behind_files"] == ["shop/gifts.py"]
                assert text.startswith("note: answered from an index that is older than the files; 1 changed file is "
                                       "not in it (shop/gifts.py); still indexing: ")  # fmt: skip
                assert "called by 1:" in text and coverage["indexing"]
            assert len(generations) > 1 and generations == [*[1] * (len(generations) - 1), 2]
            assert "called by 2:" in text and not text.startswith("note:")

    def test_an_index_that_is_there_is_used(self, small: Path) -> None:
        Repository.open(small, exact_root=True)
        with RawServer(small, "--wait", "0", is_ready=True) as server:
            server.start()
            assert "with_tax" in server.call("symbol", name="price_of")[0]

    def test_nothing_to_index_is_told_until_there_is_something(self, tmp_path: Path) -> None:
        with RawServer(tmp_path, is_ready=True) as server:
            server.start()
            text, failed = server.call("ask", question="price")
            assert failed and text.startswith("nothing-to-index: the folder holds no files to search")
            (tmp_path / "a.py").write_text("def price():\n    return 1\n")
            text, failed = server.call("ask", question="price")
            assert not failed and "def price()" in text


def test_a_client_that_does_not_read_stops_only_its_own_answers(small: Path) -> None:
    """Answers that nobody takes fill the pipe; the server still ends when it is told to."""
    import subprocess

    process = subprocess.Popen(
        command(small), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment()
    )
    assert process.stdin is not None
    try:
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n' * 1000)
        process.stdin.flush()
        for i in range(300):
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": i, "method": "x" * 2000}).encode() + b"\n")
        process.stdin.flush()
    finally:
        process.terminate()
    assert process.wait(10) == 0


def test_the_working_folder_is_not_imported_from(small: Path) -> None:
    for name in ("numpy", "mcp", "causalist"):
        (small / name).mkdir()
        (small / name / "__init__.py").write_text("raise SystemExit('was run')\n")
    program = [sys.executable, "-P", "-m", "causalist", "serve", "mcp", *PATIENT]
    import os

    before = Path.cwd()
    os.chdir(small)
    try:
        with RawServer(small, program=program) as server:
            server.start()
            assert "with_tax" in server.call("symbol", name="price_of")[0]
            assert server.finish() == 0
    finally:
        os.chdir(before)
    assert b"was run" not in server.errors
    assert CHECKOUT.exists()
