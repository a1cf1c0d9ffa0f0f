"""One question, five doors, one answer: the library, the command line, agents, editors and browsers."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from causalist.model.answer import Answer, AskOptions
from causalist.pipeline.repository import Repository
from causalist.servers.text_answers import _TAIL_TOKENS
from tests.cli.commands import CHECKOUT, invoke
from tests.servers.browser import WebServer
from tests.servers.conftest import settle
from tests.servers.editor import Editor, edit
from tests.servers.wire import RawServer

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc"),
]

QUESTIONS = [
    "where does user authentication happen?",
    "verifyToken",
    "how does a task reach the database",
    "TokenRejectedError in src/security/jwt-verifier.ts",
    "overview of the architecture",
    "what happens when a webhook delivery fails?\n\nIt is tried again although the receiver said 410.",
]
TOP_K, MAX_TOKENS = 8, 12_000
# `── #2 src/app.ts:27-32  createApp  (function)`, as a pack lists its items
_ITEM = re.compile(r"^── (?:#(\d+) )?(\S+?):(\d+)(?:-\d+)?  ", re.MULTILINE)


class Said(NamedTuple):
    """What a door says: (node, score) of the results, best first, all nodes in causal order, and the edges."""

    results: list[tuple[str, float]]
    order: list[str]
    edges: list[tuple[str, str, str, float]]


def from_answer(answer: Answer) -> Said:
    return Said(
        [(hit.id, hit.score) for hit in answer.results],
        list(answer.order),
        [(edge.source, edge.target, edge.kind, edge.confidence) for edge in answer.edges],
    )


def from_document(document: dict[str, Any]) -> Said:
    return Said(
        [(result["node"], result["score"]) for result in document["results"]],
        document["order"],
        [(edge["source"], edge["target"], edge["kind"], edge["confidence"]) for edge in document["edges"]],
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import shutil

    copy = tmp_path_factory.mktemp("facade") / "taskboard-api"
    shutil.copytree(CHECKOUT / "sample_repos" / "taskboard-api", copy, ignore=shutil.ignore_patterns(".causalist"))
    settle(copy)
    return copy


@pytest.fixture(scope="module")
def known(folder: Path) -> dict[str, Answer]:
    """What the library says."""
    repository = Repository.open(folder, exact_root=True)
    options = AskOptions(top_k=TOP_K, max_tokens=MAX_TOKENS)
    return {question: repository.ask(question, options) for question in QUESTIONS}


def test_the_questions_are_worth_asking(known: dict[str, Answer]) -> None:
    """They go different ways and find different things, so that agreeing is no accident."""
    assert len({answer.route for answer in known.values()}) >= 3
    assert len({answer.results[0].id for answer in known.values()}) >= 4
    assert all(TOP_K >= len(answer.results) > TOP_K // 2 for answer in known.values())
    assert all(len(answer.order) >= len(answer.results) for answer in known.values())


def test_the_command_line(folder: Path, known: dict[str, Answer]) -> None:
    for question, answer in known.items():
        options = ("--repo", str(folder), "--top-k", str(TOP_K), "--max-tokens", str(MAX_TOKENS), "--json")
        done = invoke("ask", question, *options)
        assert done.code == 0, done.stderr
        document = json.loads(done.stdout)
        assert from_document(document) == from_answer(answer)
        assert answer.pack is not None and document["pack"]["text"] == answer.pack.text


def test_editors(folder: Path, known: dict[str, Answer]) -> None:
    async def drive(editor: Editor) -> None:
        await editor.begin(folder)
        for question, answer in known.items():
            document = await editor.own("ask", question=question, top_k=TOP_K, max_tokens=MAX_TOKENS)
            assert from_document(document) == from_answer(answer)
            assert answer.pack is not None and document["pack"]["text"] == answer.pack.text

    edit(drive)


@pytest.fixture(scope="module")
def browser(folder: Path) -> Iterator[WebServer]:
    with WebServer(folder, is_ready=True) as server:
        yield server


def test_browsers(browser: WebServer, known: dict[str, Answer]) -> None:
    for question, answer in known.items():
        status, found = browser.call("/api/ask", {"question": question, "top_k": TOP_K, "max_tokens": MAX_TOKENS})
        assert status == 200 and from_document(found["answer"]) == from_answer(answer)
        assert answer.pack is not None and found["answer"]["pack"]["text"] == answer.pack.text


def test_agents(folder: Path, known: dict[str, Answer]) -> None:
    """The structured part has nodes, scores and order; the text is the pack with its items, in its order."""
    with RawServer(folder, "--wait", "60", is_ready=True) as server:
        server.start()
        for question, answer in known.items():
            arguments = {"question": question, "top_k": TOP_K, "max_tokens": MAX_TOKENS}
            result = server.request("tools/call", {"name": "ask", "arguments": arguments})["result"]
            told = result["structuredContent"]
            said = from_answer(answer)
            assert [(node["id"], node["score"]) for node in told["nodes"]] == said.results
            assert told["order"] == said.order and told["confidence"] == answer.confidence
            nodes = Repository.open(folder, exact_root=True).index.graph.nodes
            expected = []
            # The text keeps a part of the budget for notes.
            options = AskOptions(top_k=TOP_K, max_tokens=MAX_TOKENS - _TAIL_TOKENS)
            pack = Repository.open(folder, exact_root=True).ask(question, options, remember=False).pack
            assert pack is not None
            for place in pack.places:
                path = re.split("::|#", place.node)[0]
                row = int(nodes.start_rows[nodes.ids.position(place.node)])
                expected.append((str(place.rank or ""), path, str(row + 1)))
            assert _ITEM.findall(result["content"][0]["text"]) == expected
