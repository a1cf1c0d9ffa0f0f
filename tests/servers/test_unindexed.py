"""Answers before there is an index: which files, which lines, and what they say of how much was read."""

import math
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from causalist.errors import NothingToIndex
from causalist.pack import count_tokens
from causalist.servers import unindexed
from causalist.servers.index_job import Stage
from causalist.servers.live_repository import LiveView
from causalist.servers.text_answers import OUTPUT_SCHEMA, FileExcerpt, indexing_message, structured_content
from causalist.servers.unindexed import ask_files, find_name
from tests.cli.commands import write_all
from tests.servers.ready_process import ready
from tests.servers.wire import command, environment, indexing_waits

pytestmark = pytest.mark.slow

LONG = 60.0
FILES = {
    "src/refunds.py": "import money\n\n\n\ndef refund(order):\n    return money.back(order)\n",
    "src/orders.py": "def order(item):\n    return item\n\n# nothing else\n" + "x = 1\n" * 30,
    "tests/test_refunds.py": "def test_refund():\n    refund(order)\n",
    "docs/manual.md": "# Manual\n\nHow a refund of an order is made.\n",
    "src/empty.py": "pass\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write_all(tmp_path / "shop", FILES)


def test_files_are_ranked_and_shown_where_the_words_are(shop: Path) -> None:
    reply = ask_files(shop, "How are refunds of orders made?", 2000, None, LONG)
    # Code goes first: `made` is in the manual alone, whose score counts half, as that of the test does.
    assert [each.path for each in reply.excerpts[:2]] == ["src/refunds.py", "docs/manual.md"]
    assert {each.path for each in reply.excerpts} == FILES.keys() - {"src/empty.py"}
    assert reply.excerpts[0] == FileExcerpt("src/refunds.py", 3, 6) and reply.n_files == 5
    assert reply.text.startswith("note: all 5 files, read as text, best match first; definitions and their users are")
    assert "── #1 src/refunds.py:4-7\n   words: refund, order\n```\n\ndef refund(order):\n" in reply.text


def test_a_score_worked_out_by_hand(shop: Path) -> None:
    """Of `refund`: twice as a word of the path's, three each, and once in the text of src/refunds.py."""
    matches, read = unindexed._search_files(shop, ["refund"], LONG)
    (match,) = [each for each in matches if each.path == "src/refunds.py"]
    assert match.counts == {"refund": 4} and read.n_read == 5
    sizes = [len(text.encode()) for text in FILES.values()]
    mean = sum(sizes) / 5
    expected = 0.5 * 4 * 2.2 / (4 + 1.2 * (0.25 + 0.75 * sizes[0] / mean))
    assert math.isclose(unindexed._score(match, {"refund": 0.5}, mean), expected)


def test_the_same_files_give_the_same_answer(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the time that it takes; with less time it is that of the files that were read."""
    assert ask_files(shop, "refund", 900, None, LONG) == ask_files(shop, "refund", 900, None, 2 * LONG)
    moments = iter(range(100))
    monkeypatch.setattr(unindexed.time, "monotonic", lambda: float(next(moments)))
    # The clock is looked at once at the start and once before each file: two are read until 2.5 seconds are over.
    some = ask_files(shop, "refund order", 900, None, 2.5)
    assert some.n_files == 2 and "note: 2 of 5 files, code first, read as text, best match first" in some.text
    assert [each.path for each in some.excerpts] == ["src/orders.py"]


def test_secrets_are_masked_and_fences_hold(tmp_path: Path) -> None:
    token = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
    shop = write_all(tmp_path / "shop", {"a.py": f'REFUND = "{token}"\ntext = """\n```\nrefund ````\n"""\n'})
    for reply in (ask_files(shop, "refund", 900, None, LONG), find_name(shop, "REFUND", 900, LONG)):
        assert token not in reply.text and "********" in reply.text
    assert ask_files(shop, "refund", 900, None, LONG).text.count("`````") == 2


@pytest.mark.parametrize("max_tokens", [200, 260, 400])
def test_budgets(shop: Path, max_tokens: int) -> None:
    for reply in (
        ask_files(shop, "refund order", max_tokens, None, LONG),
        find_name(shop, "order", max_tokens, LONG),
    ):
        assert count_tokens(reply.text) <= max_tokens and reply.excerpts


def test_where_a_name_is_written(shop: Path) -> None:
    reply = find_name(shop, "src/orders.py::order", 900, LONG)
    head, *lines = reply.text.rstrip("\n").split("\n")
    assert head.startswith("note: where 'order' occurs, 1 of 5 lines look like definitions and come first; all 5 files")
    assert lines == [
        "src/orders.py:1: def order(item):",
        "src/refunds.py:5: def refund(order):",
        "src/refunds.py:6: return money.back(order)",
        "docs/manual.md:3: How a refund of an order is made.",
        "tests/test_refunds.py:2: refund(order)",
    ]
    assert reply.excerpts[0] == FileExcerpt("src/orders.py", 0, 0)
    part = find_name(shop, "REFUNDS", 900, LONG).text
    assert part == "'REFUNDS' does not occur in all 5 files, read as text\n"
    part = find_name(shop, "Mone", 900, LONG).text
    assert part.startswith("note: where 'Mone' is part of a word, 0 of 2 lines look like definitions")
    assert part.endswith("src/refunds.py:1: import money\nsrc/refunds.py:6: return money.back(order)\n")


def test_nothing_is_found(shop: Path, tmp_path: Path) -> None:
    assert ask_files(shop, "qqzzqq", 900, None, LONG).text == (
        "no word of the query occurs in all 5 files, read as text\n"
    )
    assert find_name(shop, "qqzzqq", 900, LONG).text == "'qqzzqq' does not occur in all 5 files, read as text\n"
    (tmp_path / "void").mkdir()
    with pytest.raises(NothingToIndex):
        ask_files(tmp_path / "void", "refund", 900, None, LONG)


def test_the_structured_part(shop: Path) -> None:
    view = LiveView(None, stage=Stage("parsing", 2, 5))
    reply = ask_files(shop, "refund", 900, None, LONG)
    document = structured_content(reply, view, "shop")
    jsonschema.validate(document, dict(OUTPUT_SCHEMA))
    assert document["nodes"][0] == {
        "id": "src/refunds.py", "kind": "file", "path": "src/refunds.py", "start_line": 4, "end_line": 7, "score": None,
    }  # fmt: skip
    coverage = document["coverage"]
    assert (coverage["files"], coverage["complete"], coverage["generation"]) == (5, False, 0)
    assert coverage["indexing"] == "2 of 5 files parsed"
    assert indexing_message(view, is_answered=True) == (
        "note: still indexing: 24 % (2 of 5 files parsed); ask again for an answer from the graph\n"
    )


def test_a_client_that_asks_during_the_first_index(several: Path) -> None:
    """The files that the question needs are parsed, and what needs all of them says that it has to wait."""

    hidden = "---\nvisible_to: ops\n---\nAda is here."

    async def drive() -> tuple[Any, Any, Any, Any, Any, Any]:
        options = ("--wait", "0.2", "--tools", "all", "--reader", "eve", "--reader", "ops")
        program, *arguments = ready(command(several, *options))
        parameters = StdioServerParameters(command=program, args=arguments, env=environment())
        async with (
            stdio_client(parameters) as (reading, writing),
            ClientSession(reading, writing) as session,
        ):
            await session.initialize()
            ask = {"question": "where is step_7 of worker 77", "max_tokens": 600}
            answers = [
                await session.call_tool("ask", ask),
                await session.call_tool("symbol", {"name": "Worker77"}),
                await session.call_tool("impact", {"name": "Worker77"}),
                await session.call_tool("memory_update", {"action": "add", "passage_id": "a", "text": hidden}),
                await session.call_tool("memory_search_graph", {"query": "Ada"}),
            ]
            prompt = await session.get_prompt("begin", {"task": "change worker 77"})
            return *answers, prompt

    with indexing_waits(several):
        asked, symbol, impact, remembered, shown, prompt = anyio.run(drive)
    for each in (asked, symbol, impact, remembered, shown):
        coverage = each.structured_content["coverage"]
        assert not each.is_error and coverage["complete"] is False and coverage["indexing"], each
    text = asked.content[0].text
    assert text.startswith("note: still indexing: ") and count_tokens(text) <= 600
    assert 0 < asked.structured_content["coverage"]["files"] < 900
    assert "part_27/worker_77.py::Worker77.step_7" in [node["id"] for node in asked.structured_content["nodes"]]
    assert "no process builds" not in symbol.content[0].text  # this one does
    assert "note: partial: " in symbol.content[0].text and "part_27/worker_77.py::Worker77" in symbol.content[0].text
    assert "No answer is possible yet" in impact.content[0].text
    assert remembered.content[0].text == "remembered\n"  # it needs no index
    assert "Ada is here." in shown.content[0].text  # to a reader of the server
    assert "still indexing: " in prompt.messages[0].content.text and "worker_" in prompt.messages[0].content.text
