"""The tools for documents."""

from pathlib import Path

import pytest

from causalist.errors import IndexUnreadable, UsageError
from causalist.memory.documents import MemoryFile
from causalist.pack import count_tokens
from causalist.pipeline.repository import Repository
from causalist.servers.mcp.more_tools import MEMORY_TOOLS
from tests.cli.commands import write_all

DOCS = {
    "docs/auth.md": "# Tokens\n\nJWT checks belong to the Identity Team.\n\n```\ncode\n```\n",
    "docs/people.md": "# People\n\nThe Identity Team is led by Alice Moreau.\n",
    "app.py": "def f():\n    pass\n",
}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    write_all(tmp_path, DOCS)
    MemoryFile.locate(None, tmp_path).add([tmp_path / "docs"])
    return Repository.open(tmp_path)


def _call(tool: str, repository: Repository, **given: object) -> str:
    chosen = MEMORY_TOOLS[tool]
    return chosen.answer(repository, chosen.read(given))


def test_modes_of_the_tool() -> None:
    schema = MEMORY_TOOLS["hipporag_retrieve"].parameters["mode"].schema()
    assert schema["enum"] == ["execution", "planning", "brainstorming"]


def test_arguments_and_their_defaults() -> None:
    search, retrieve = MEMORY_TOOLS["memory_search_graph"], MEMORY_TOOLS["hipporag_retrieve"]
    assert search.read({"query": "x"}) == {"query": "x", "limit": 5, "use_graph": 1}
    assert retrieve.read({"query": "x", "mode": "planning"})["mode"] == "planning"
    for tool, given in ((search, {"query": "x", "use_graph": "yes"}), (retrieve, {"query": "x", "mode": "fast"}),
                        (search, {"query": "x", "limit": "few"}), (search, {"query": " "})):  # fmt: skip
        with pytest.raises(UsageError):
            tool.read(given)
    assert search.schema()["required"] == ["query"]


def test_passages_are_found_through_what_they_share(repository: Repository) -> None:
    text = _call("memory_search_graph", repository, query="Who leads the team of the JWT checks?")
    assert text.index("docs/auth.md#tokens") < text.index("docs/people.md#people")
    assert "identity_team" in text
    assert "````\n# Tokens" in text  # a longer fence than the one in the text
    assert "1. docs/auth.md#tokens" in _call("memory_search_graph", repository, query="JWT", use_graph=False, limit=1)
    assert _call("memory_search_graph", repository, query="zebra").startswith("nothing found")


def test_retrieval_says_how_sure_it_is(repository: Repository) -> None:
    text = _call("hipporag_retrieve", repository, query="who leads the Identity Team", mode="brainstorming")
    assert text.startswith("note: retrieval_confidence 0.")
    assert "not calibrated by feedback" in text and "relevant with " in text
    assert text.count("\n1. ") == 1 and "\n3. " not in text


def test_a_memory_that_changed_is_read_again(repository: Repository) -> None:
    assert _call("memory_search_graph", repository, query="printer").startswith("nothing")
    write_all(repository.root, {"docs/new.md": "# Printer\n\nThe printer is on the third floor.\n"})
    MemoryFile.locate(None, repository.root).add([repository.root / "docs"])
    assert "docs/new.md#printer" in _call("memory_search_graph", repository, query="printer")


def test_without_a_memory(tmp_path: Path) -> None:
    write_all(tmp_path, DOCS)
    with pytest.raises(IndexUnreadable, match="causalist memory add"):
        _call("memory_search_graph", Repository.open(tmp_path), query="x")


def test_answers_are_bounded(tmp_path: Path) -> None:
    write_all(tmp_path, {f"docs/{i}.md": f"# Ledger {i}\n\n{'Ledger of Acme Corp. ' * 90}" for i in range(40)})
    MemoryFile.locate(None, tmp_path).add([tmp_path / "docs"])
    repository = Repository.open(tmp_path)
    text = _call("memory_search_graph", repository, query="Ledger of Acme Corp", limit=40)
    assert count_tokens(text) <= 4_000
    assert "more; ask for fewer" in text
