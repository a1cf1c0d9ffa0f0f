"""The tools for documents."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from causalist.errors import IndexUnreadable, UnknownEntity, UsageError
from causalist.memory import HippoIndex
from causalist.memory.document_sync import MemoryFile
from causalist.model.answer import RetrievalMode
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


def _call(tool: str, repository: Repository, readers: Sequence[str] = (), **given: object) -> str:
    chosen = MEMORY_TOOLS[tool]
    return str(chosen.answer(repository, {**chosen.read(given), "readers": readers}))


def test_modes_of_the_tool() -> None:
    schema = MEMORY_TOOLS["hipporag_retrieve"].parameters["mode"].schema()
    assert schema["enum"] == ["execution", "planning", "brainstorming"]


def test_arguments_and_their_defaults() -> None:
    search, retrieve = MEMORY_TOOLS["memory_search_graph"], MEMORY_TOOLS["hipporag_retrieve"]
    assert search.read({"query": "x"}) == {"query": "x", "limit": 5, "use_graph": 1, "mode": None, "hops": 0}
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


def test_the_neighborhood_of_an_entity_has_nothing_hidden(repository: Repository) -> None:
    write_all(
        repository.root, {"docs/key.md": "---\nvisible_to: [ops]\n---\n# Key\n\nThe Identity Team asks Vera Quist.\n"}
    )
    MemoryFile.locate(None, repository.root).add([repository.root / "docs"])
    text = _call("get_entity_neighborhood", repository, entity_id="Identity Team", hops=2)
    assert text.startswith("Identity Team  entity, in 2 passages: docs/auth.md#tokens, docs/people.md#people\n")
    assert "alice_moreau  1 hop, co_occurrence\n" in text and "vera" not in text and "key.md" not in text
    with pytest.raises(UnknownEntity):
        _call("get_entity_neighborhood", repository, entity_id="Vera Quist")


def test_a_reader_of_the_server_sees_and_changes_what_it_may(repository: Repository, tmp_path: Path) -> None:
    key = {"passage_id": "key", "text": "---\r\nvisible_to: ops\r\n---\r\nThe Identity Team asks Vera Quist."}
    assert _call("memory_update", repository, action="add", **key) == "remembered\n"
    exported = tmp_path / ".causalist" / "memory.json"
    for readers, is_shown in (((), False), (("ada",), False), (("ada", "ops"), True)):
        for tool in ("memory_search_graph", "hipporag_retrieve"):
            assert ("Vera Quist" in _call(tool, repository, readers, query="who is Vera Quist")) is is_shown
        near = _call("get_entity_neighborhood", repository, readers, entity_id="Identity Team", hops=10)
        assert ("vera_quist" in near) is is_shown
        assert f"passages: {2 + is_shown}\n" in _call("memory_update", repository, readers, action="status")
        said = _call("memory_update", repository, readers, action="export")
        assert said == f"{2 + is_shown} passages and their graph as node-link JSON are in {exported}\n"
        assert ("key" in HippoIndex.from_node_link(json.loads(exported.read_text()))) is is_shown
    with pytest.raises(UsageError, match="'key' exists, and the readers of this server may not see it"):
        _call("memory_update", repository, action="add", passage_id="key", text="Mine.")
    with pytest.raises(UsageError, match="no passage or document 'key'"):
        _call("memory_update", repository, action="forget", passage_id="key")
    answered = {"action": "feedback", "passage_id": "key", "text": "who is Vera Quist"}
    assert _call("memory_update", repository, ("ops",), **answered) == "1 answer with feedback\n"
    assert _call("memory_update", repository, ("ops",), action="forget", passage_id="key") == "1 passage removed\n"


def test_hops_modes_and_time(repository: Repository) -> None:
    hidden = "printer"  # no word and no entity of the query is in the passage that two hops lead to
    write_all(repository.root, {"docs/rota.md": "# Rota\n\nAlice Moreau mends the printer.\n"})
    dated = "---\ntimestamp: {}\nconfidence: {}\n---\nThe door code is posted in the {}.\n"
    write_all(repository.root, {"docs/old.md": dated.format("2024-01-02", 1, "hall today"),
                                "docs/new.md": dated.format("2024-02-01", 0.3, "hall")})  # fmt: skip
    said = _call("memory_update", repository, action="add", passage_id="docs")
    assert said == "5 documents, 5 passages: 3 new or changed, 0 removed\n"
    for place in ("..", "/etc", "docs/../.."):
        with pytest.raises(UsageError, match="outside of the repository"):
            _call("memory_update", repository, action="add", passage_id=place)
    with pytest.raises(UsageError, match="'note 7' is no document or folder"):
        _call("memory_update", repository, action="add", passage_id="note 7")
    query = {"query": "JWT checks", "limit": 10}
    assert hidden not in _call("memory_search_graph", repository, **query, mode="sparse")
    assert hidden in _call("memory_search_graph", repository, **query, hops=2)
    with pytest.raises(UsageError, match="hops needs mode hippo"):
        _call("memory_search_graph", repository, **query, hops=2, use_graph=False)
    shown = {mode: _call("memory_search_graph", repository, **query, mode=mode) for mode in RetrievalMode}
    assert shown["hybrid"] == _call("memory_search_graph", repository, **query, use_graph=False)
    door = {"query": "door code posted hall today"}
    old, new = "docs/old.md", "docs/new.md"
    for options, first in (({}, old), ({"half_life": 3}, new), ({"min_confidence": 0.5}, old)):
        text = _call("hipporag_retrieve", repository, **door, **options)
        assert f"\n1. {first}, line " in text and ("docs/new.md" in text) is ("min_confidence" not in options)
    with pytest.raises(UsageError, match="now must be a time"):
        _call("hipporag_retrieve", repository, **door, now="yesterday")


def test_notes_are_remembered_and_forgotten(repository: Repository) -> None:
    note = {"passage_id": "note 1", "text": "The printer is on the third floor."}
    assert _call("memory_update", repository, action="add", **note) == "remembered\n"
    assert _call("memory_update", repository, action="add", **note) == "nothing changed\n"
    assert "1. note 1" in _call("memory_search_graph", repository, query="printer floor")
    MemoryFile.locate(None, repository.root).add([repository.root / "docs"])  # keeps notes of no document
    assert "1. note 1" in _call("memory_search_graph", repository, query="printer floor")
    write_all(repository.root, {"docs/auth.md": "# Tokens\n\nchanged\n"})
    status = _call("memory_update", repository, action="status")
    assert "passages: 3\n" in status and "outdated: 1\n" in status and "auth.md" not in status
    assert _call("memory_update", repository, action="forget", passage_id="note 1") == "1 passage removed\n"
    assert _call("memory_search_graph", repository, query="printer").startswith("nothing")
    for given in ({"action": "add", "passage_id": "docs/auth.md#tokens", "text": "x"}, {"action": "add"},
                  {"action": "feedback", "passage_id": "docs/auth.md#tokens"},
                  {"action": "forget", "passage_id": "nothing"}, {"action": "forget"}):  # fmt: skip
        with pytest.raises(UsageError):
            _call("memory_update", repository, **given)


def test_feedback_by_the_tool_counts(repository: Repository) -> None:
    given = {"action": "feedback", "passage_id": "docs/people.md#people", "text": "who leads the Identity Team"}
    assert _call("memory_update", repository, **given) == "1 answer with feedback\n"
    assert _call("memory_update", repository, **given) == "2 answers with feedback\n"
    with pytest.raises(UsageError):
        _call("memory_update", repository, **{**given, "passage_id": "docs/none.md"})


def test_the_tools_are_few_tokens_and_only_one_writes() -> None:
    listed = [{"name": n, "description": t.description, "inputSchema": t.schema()} for n, t in MEMORY_TOOLS.items()]
    assert count_tokens(json.dumps(listed)) <= 700
    assert [name for name, tool in MEMORY_TOOLS.items() if tool.is_writing] == ["memory_update"]


def test_superseded_and_contradicted_documents_are_marked(repository: Repository) -> None:
    moved = "---\nsupersedes: [docs/auth.md]\n---\n# Checks\n\nJWT checks moved.\n"
    odd = "---\ncontradicts: new.md\nconfidence: .1\n---\n# Odd\n\nNo JWT checks.\n"
    write_all(repository.root, {"docs/new.md": moved, "docs/odd.md": odd})
    MemoryFile.locate(None, repository.root).add([repository.root / "docs"])
    for tool in ("memory_search_graph", "hipporag_retrieve"):
        text = _call(tool, repository, query="JWT checks")
        assert "docs/auth.md#tokens, line 1  (superseded by docs/new.md; " in text
        assert "docs/odd.md#odd, line 5  (contradicted by docs/new.md#checks" in text


def test_a_title_that_the_text_does_not_begin_with_is_shown(tmp_path: Path) -> None:
    index = HippoIndex()
    index.add_passage("a", "Boats wait.", metadata={"title": "Harbour rules"})
    index.add_passage("b", "# Boats\n\nOne of the boats.", metadata={"title": "Boats"})
    write_all(tmp_path, {"app.py": DOCS["app.py"]})
    file = MemoryFile.locate(None, tmp_path).path
    file.parent.mkdir()
    index.save(file)
    shown = _call("memory_search_graph", Repository.open(tmp_path), query="boats").splitlines()
    heads = sorted(line.partition("  (")[0][3:] for line in shown if line[:2] in ("1.", "2."))
    assert heads == ["a, Harbour rules", "b"]


def test_the_embedder_of_the_server_serves_the_tools(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    class Vowels:
        name, local = "vowels", True

        def embed(self, texts: Sequence[str]) -> list[list[float]]:
            return [[1.0 + text.lower().count(letter) for letter in "aeiou"] for text in texts]

    monkeypatch.setattr("causalist.memory.document_sync.get_embedder", lambda name: Vowels())
    MemoryFile.locate(None, repository.root).add([repository.root / "docs"], embedder="vowels")
    note = {"action": "add", "passage_id": "note", "text": "The printer is upstairs."}
    with pytest.raises(UsageError, match="vowels, which CAUSALIST_EMBEDDER has to name"):
        _call("memory_update", repository, **note)
    monkeypatch.setenv("CAUSALIST_EMBEDDER", "vowels")
    assert _call("memory_update", repository, **note) == "remembered\n"
    found = _call("memory_search_graph", repository, query="uuuu", use_graph=False)
    assert found.startswith("1. ") and "3. " in found  # no word of the query is there


def test_notes_have_front_matter(repository: Repository) -> None:
    for name, note in (("old", "The printer is upstairs."), ("new", "---\nsupersedes: [old]\n---\nIt is downstairs.")):
        _call("memory_update", repository, action="add", passage_id=name, text=note)
    found = _call("memory_search_graph", repository, query="printer upstairs", limit=1)
    assert "1. old  (superseded by new)\n" in found and "supersedes" not in found
