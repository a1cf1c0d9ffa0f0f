"""`causalist memory`, end to end."""

import json
from collections.abc import Sequence
from pathlib import Path

import networkx
import pytest
from click.testing import CliRunner

from causalist.cli.memory import memory_command
from causalist.errors import UsageError
from causalist.memory import HippoIndex
from causalist.memory.walk import VARIANTS
from causalist.settings import SETTINGS
from tests.cli.commands import invoke, run, write_all

DOCS = {
    "docs/auth.md": "# Tokens\n\nJWT checks belong to the Identity Team.\n",
    "docs/people.md": "# People\n\nThe Identity Team is led by Alice Moreau.\n",
    "docs/food.md": "# Food\n\nLunch is at noon.\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_all(tmp_path, DOCS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_modes_and_variants_of_settings_and_options() -> None:
    choices = {each.name: each.choices for each in SETTINGS if each.section == "memory"}
    assert choices["mode"] == ("hippo", "dense", "sparse", "hybrid")
    assert tuple(VARIANTS) == choices["variant"] == ("log", "hipporag", "hipporag2")
    assert "[hippo|dense|sparse|hybrid]" in invoke("memory", "search", "--help").stdout


@pytest.mark.slow
def test_settings_count_where_no_option_is_given(folder: Path) -> None:
    invoke("memory", "add", "docs", cwd=folder)
    question = "Who leads the team of the JWT checks?"

    def search(*options: str) -> tuple[str, int]:
        document = json.loads(invoke("memory", "search", question, "--json", *options).stdout)
        return document["mode"], len(document["results"])

    assert search() == ("hippo", 2)
    (folder / "causalist.toml").write_text('[memory]\nmode = "sparse"\nlimit = 1\n', "utf-8")
    assert search() == ("sparse", 1)
    assert search("--mode", "hippo", "--limit", "2") == ("hippo", 2)
    assert search("--hops", "1")[0] == "hippo"
    (folder / "causalist.toml").write_text('[memory]\nmode = "magic"\n', "utf-8")
    done = invoke("memory", "search", question)
    assert done.code == 2 and "magic" in done.stderr


@pytest.mark.slow
def test_add_search_graph_and_stats(folder: Path) -> None:
    done = run("memory", "add", "docs", cwd=folder)
    assert (done.code, done.stdout, done.stderr) == (
        0, "3 documents, 3 passages: 3 new or changed, 0 removed\n", ""
    )  # fmt: skip
    done = invoke("memory", "search", "Who leads the team of the JWT checks?", "--json")
    assert done.code == 0
    document = json.loads(done.stdout)
    assert document["format_version"] == 1
    assert [each["passage"] for each in document["results"][:2]] == ["docs/auth.md#tokens", "docs/people.md#people"]
    assert document["results"][0]["entities"][0] in ("jwt", "identity_team")
    text = invoke("memory", "search", "JWT", "--limit", "1").stdout
    first, shown, why = text.splitlines()
    assert first.startswith("1. docs/auth.md#tokens  line 1  ") and first.endswith("  Tokens")
    assert (shown, why) == ("    JWT checks belong to the Identity Team.", "    (has JWT; through jwt, identity_team)")
    stats = json.loads(invoke("memory", "stats", "--json").stdout)
    assert (stats["passages"], stats["entities"]) == (3, 4)  # JWT, Identity Team, Alice Moreau, Lunch
    near = json.loads(invoke("memory", "graph", "--entity", "jwt", "--hops", "2", "--json").stdout)
    assert [each["entity"] for each in near["neighbors"]] == ["identity_team", "alice_moreau"]
    graph = networkx.node_link_graph(json.loads(invoke("memory", "graph").stdout), edges="links")
    assert {data["type"] for _, data in graph.nodes(data=True)} == {"chunk", "entity"}


def test_nothing_found_and_failures(folder: Path) -> None:
    assert "causalist memory add" in invoke("memory", "search", "x").failed("index-unreadable")
    invoke("memory", "add", "docs", "--memory", "m.db")
    done = invoke("memory", "search", "zebra", "--memory", "m.db", "--json")
    assert (done.code, json.loads(done.stdout)["results"]) == (1, [])
    invoke("memory", "search", " ", "--memory", "m.db").failed("empty-question")
    invoke("memory", "search", "x", "--memory", "m.db", "--variant", "best").failed("usage")
    invoke("memory", "search", "x", "--memory", "m.db", "--hops", "2", "--mode", "dense").failed("usage")
    invoke("memory", "graph", "--memory", "m.db", "--entity", "Nobody").failed("unknown-entity")
    (folder / "empty").mkdir()
    invoke("memory", "add", "empty").found_nothing("nothing-to-index")
    (folder / "m.db").write_bytes(b"SQLite format 3\0 but not really")
    invoke("memory", "stats", "--memory", "m.db").failed("index-unreadable")


def test_hops_and_modes(folder: Path) -> None:
    invoke("memory", "add", "docs")
    for options in (["--mode", "dense"], ["--mode", "sparse"], ["--mode", "hybrid"], ["--hops", "3"],
                    ["--alpha", "0.5"], ["--variant", "hipporag"]):  # fmt: skip
        done = invoke("memory", "search", "JWT of the Identity Team", *options)
        assert done.code == 0 and "docs/auth.md#tokens" in done.stdout, options


@pytest.mark.slow
def test_a_model_is_asked_once_and_what_it_takes_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llm", reason="llm, which asks models, is not installed")
    from tests.memory.fake_model import openai_model, serving

    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return "[]"

    with serving(answer) as address:
        monkeypatch.setattr("causalist.llm_answer.get_model", lambda name: openai_model(address))
        done = invoke("memory", "add", "docs", "--model", "fake")
        assert "3 new passages, 0 of them cached: 6 calls of the model, about" in done.stderr
        assert (done.code, len(asked)) == (0, 3)
        (folder / ".causalist" / "memory.db").unlink()
        again = invoke("memory", "add", "docs", "--model", "fake")
        assert "3 of them cached: 0 calls" in again.stderr and len(asked) == 3
        write_all(folder, {f"docs/more{i}.md": f"# More {i}\n\ntext" for i in range(60)})
        assert "with --yes" in invoke("memory", "add", "docs", "--model", "fake").failed("usage")
        assert len(asked) == 3


def test_answers_have_a_route_and_name_what_is_superseded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "old.md").write_text("# Tokens\n\nTokens are valid for 24 hours.\n")
    (tmp_path / "new.md").write_text("---\nsupersedes: old.md\n---\n# Tokens now\n\nTokens are valid for 8 hours.\n")
    (tmp_path / "secret.md").write_text("---\nvisible_to: ops\n---\n# Token key\n\nThe token key is 7.\n")
    wiki = "---\ncontradicts: new.md\nconfidence: 0.2\n---\n# Wiki\n\nTokens are valid for ever.\n"
    (tmp_path / "wiki.md").write_text(wiki)
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    assert runner.invoke(memory_command, ["add", "."]).exit_code == 0
    shown = runner.invoke(memory_command, ["answer", "How long are tokens valid?"]).stdout
    assert shown.startswith("route simple, confidence ")
    assert shown.index("new.md#tokens-now") < shown.index("old.md#tokens  Tokens  superseded by new.md\n")
    assert "secret" not in shown
    shown = runner.invoke(memory_command, ["search", "How long are tokens valid?", "--mode", "sparse"]).stdout
    assert "old.md#tokens" in shown and "  Tokens  superseded by new.md\n" in shown
    assert "  Wiki  contradicted by new.md#tokens-now\n" in shown
    readers = ["--reader", "ada", "--reader", "ops"]
    found = json.loads(runner.invoke(memory_command, ["answer", "token key", *readers, "--json"]).stdout)
    assert found["route"] == "lookup" and any(e["passage"].startswith("secret.md") for e in found["results"])
    assert runner.invoke(memory_command, ["answer", "quantum"]).exit_code == 1


def test_passages_and_documents_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.md").write_text("# One\n\nAda was here.\n\n# Two\n\nBob was here.\n")
    (tmp_path / "b.md").write_text("# Three\n\nEve was here.\n")
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    runner.invoke(memory_command, ["add", "."])
    done = runner.invoke(memory_command, ["remove", "a.md#one", "b.md", "--json"])
    assert json.loads(done.stdout)["removed"] == ["a.md#one", "b.md#three"]
    assert json.loads(runner.invoke(memory_command, ["stats", "--json"]).stdout)["passages"] == 1
    unknown = runner.invoke(memory_command, ["remove", "a.md#one"])
    assert isinstance(unknown.exception, UsageError)
    runner.invoke(memory_command, ["add", "."])  # what is still there comes back
    assert json.loads(runner.invoke(memory_command, ["stats", "--json"]).stdout)["passages"] == 3


@pytest.mark.slow
def test_superseding_documents_are_named_even_if_not_shown_but_never_hidden_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "old.md").write_text("# Zebra rule\n\nZebras get hay.\n")
    (tmp_path / "new.md").write_text("---\nsupersedes: [old.md]\nvisible_to: [ops]\n---\n# Feeding\n\nOats only.\n")
    monkeypatch.chdir(tmp_path)
    invoke("memory", "add", ".", cwd=tmp_path)
    for reader, superseding in ((), []), (("--reader", "ops"), ["new.md"]):
        found = json.loads(invoke("memory", "answer", "zebra rule hay", "--limit", "1", "--json", *reader).stdout)
        assert [(e["passage"], e["superseded_by"]) for e in found["results"]] == [("old.md#zebra-rule", superseding)]


@pytest.mark.slow
def test_what_one_reader_may_see_is_in_no_graph_of_others(folder: Path) -> None:
    write_all(folder, {"docs/key.md": "---\nvisible_to: [ops]\n---\n# Key\n\nThe Identity Team asks Vera Quist.\n"})
    invoke("memory", "add", "docs", cwd=folder)
    for command in ("graph", "export"):
        assert "vera_quist" not in invoke("memory", command).stdout
        assert "vera_quist" in invoke("memory", command, "--reader", "ops").stdout
    near = invoke("memory", "graph", "--entity", "Identity Team", "--json").stdout
    assert "alice_moreau" in near and "vera_quist" not in near and "docs/key.md" not in near
    assert "vera_quist" in invoke("memory", "graph", "--entity", "Identity Team", "--json", "--reader", "ops").stdout
    assert "Vera" in invoke("memory", "graph", "--entity", "Vera Quist").failed("unknown-entity")
    exported = json.loads(invoke("memory", "export").stdout)
    again = HippoIndex.from_node_link(exported)
    assert sorted(again.passage_ids) == ["docs/auth.md#tokens", "docs/food.md#food", "docs/people.md#people"]
    for name in ("docs/key.md", "docs/key.md#key"):  # as if there were none
        for reader in ((), ("--reader", "ada")):
            assert "no passage or document" in invoke("memory", "remove", name, *reader).failed("usage")
    assert json.loads(invoke("memory", "stats", "--json", "--reader", "ops").stdout)["passages"] == 4
    removed = json.loads(invoke("memory", "remove", "docs/key.md", "--reader", "ops", "--json").stdout)
    assert removed["removed"] == ["docs/key.md#key"]
    assert json.loads(invoke("memory", "stats", "--json", "--reader", "ops").stdout)["passages"] == 3


@pytest.mark.slow
def test_status_names_outdated_documents(folder: Path) -> None:
    invoke("memory", "add", "docs", cwd=folder)
    first = json.loads(invoke("memory", "status", "--json").stdout)
    assert (first["documents"], first["outdated"], first["passages"], first["feedback"]) == (3, [], 3, 0)
    write_all(folder, {"docs/food.md": "# Food\n\nLunch is at one.\n"})
    (folder / "docs" / "auth.md").unlink()
    assert json.loads(invoke("memory", "status", "--json").stdout)["outdated"] == ["docs/auth.md", "docs/food.md"]
    assert "docs/food.md" in invoke("memory", "status").stdout


@pytest.mark.slow
def test_documents_are_read_again_with_triples(folder: Path) -> None:
    invoke("memory", "add", "docs", cwd=folder)
    (folder / "t.jsonl").write_text('{"subject": "lunch", "predicate": "is at", "object": "noon"}\n')
    (folder / "docs/food.md").write_text("# Food\n\nLunch is at noon.\n")
    assert json.loads(invoke("memory", "stats", "--json").stdout)["triples"] == 0
    for changed in (3, 0):
        done = json.loads(invoke("memory", "add", "docs", "--triples", "t.jsonl", "--json").stdout)
        assert done["changed"] == changed
        assert json.loads(invoke("memory", "stats", "--json").stdout)["triples"] == 1
    both = ("memory", "add", "docs", "--triples", "t.jsonl", "--model", "fake")
    assert "exclude one another" in invoke(*both).failed("usage")


@pytest.mark.slow
def test_status_and_stats_leave_out_what_is_hidden(folder: Path) -> None:
    key = "---\nvisible_to: [ops]\n---\n# Key\n\nThe key.\n"
    write_all(folder, {"docs/key.md": key})
    invoke("memory", "add", "docs", cwd=folder)
    write_all(folder, {"docs/key.md": f"{key}It changed.\n"})
    for reader, n, outdated in (((), 3, []), (("--reader", "ops"), 4, ["docs/key.md"])):
        status = json.loads(invoke("memory", "status", "--json", *reader).stdout)
        assert (status["documents"], status["passages"], status["outdated"]) == (n, n, outdated)
        assert json.loads(invoke("memory", "stats", "--json", *reader).stdout)["passages"] == n


@pytest.mark.slow
def test_feedback_is_kept_and_counts(folder: Path) -> None:
    invoke("memory", "add", "docs", cwd=folder)
    question = "Who leads the Identity Team?"
    for n in range(1, 21):
        done = json.loads(invoke("memory", "feedback", question, "docs/people.md#people", "--json").stdout)
        assert (done["answers"], done["is_calibrated"]) == (n, n == 20)
    assert json.loads(invoke("memory", "answer", question, "--json").stdout)["is_calibrated"]
    assert json.loads(invoke("memory", "status", "--json").stdout)["feedback"] == 20
    assert "docs/food.md#x" in invoke("memory", "feedback", question, "docs/food.md#x").failed("usage")
    write_all(folder, {"docs/sure.md": "---\nconfidence: 0.9\n---\n# Sure\n\nThe Identity Team is led by Ada.\n"})
    invoke("memory", "add", "docs", cwd=folder)
    less = ("memory", "feedback", question, "docs/sure.md#sure", "--variant", "hipporag", "--route", "simple")
    assert invoke(*less, "--min-confidence", "0.9").code == 0
    write_all(folder, {"docs/sure.md": "---\nconfidence: 0.8\n---\n# Sure\n\nThe Identity Team is led by Ada.\n"})
    invoke("memory", "add", "docs", cwd=folder)
    assert "docs/sure.md#sure" in invoke(*less, "--min-confidence", "0.9").failed("usage")


@pytest.mark.slow
def test_settings_of_the_walk_and_the_weights(folder: Path) -> None:
    invoke("memory", "add", "docs", cwd=folder)

    def scores() -> list[float]:
        document = json.loads(invoke("memory", "search", "Who leads the team of the JWT checks?", "--json").stdout)
        return [each["score"] for each in document["results"]]

    before = scores()
    (folder / "causalist.toml").write_text("[memory]\nvector-weight = 0.9\n", "utf-8")
    assert scores() != before
    (folder / "causalist.toml").write_text("[memory]\nmeaning-weight = 0.0\n", "utf-8")
    assert scores() == before  # the query has a name
    (folder / "causalist.toml").write_text("[memory]\nalpha = 0.6\n", "utf-8")
    assert scores() != before
    (folder / "pyproject.toml").write_text("[tool.causalist.memory]\nlimit = 1\n", "utf-8")
    assert len(scores()) == 1
    (folder / "causalist.toml").write_text("[memory]\nrest-weight = 3.0\n", "utf-8")
    assert "rest-weight" in invoke("memory", "search", "JWT").failed("settings")


@pytest.mark.slow
def test_settings_of_entities(folder: Path) -> None:
    write_all(folder, {
        "docs/form.md": "# Form\n\nThe `serialisation_format` is kept by Bob Stone, Carl Lake and Dora Hill.\n",
        "docs/other.md": "# Other\n\nEve Moor wrote the `serialization_format`, as Fay Glen did.\n",
    })  # fmt: skip

    def counts(settings: str) -> tuple[int, int]:
        write_all(folder, {"pyproject.toml": f"[tool.causalist.memory]\n{settings}\n"})
        stats = json.loads(invoke("memory", "stats", "--json").stdout)
        return stats["mentions"], stats["similar_to"]

    invoke("memory", "add", "docs", cwd=folder)
    before = counts("")
    assert before[1] == 1 and counts("similarity-threshold = 0.95") == (before[0], 1)  # one slip in 20 letters
    assert counts("similarity-threshold = 0.96") == (before[0], 0)
    write_all(folder, {"pyproject.toml": "[tool.causalist.memory]\nmax-entities = 1\n"})
    invoke("memory", "add", "docs", cwd=folder)  # what was read with another limit is read again
    assert counts("max-entities = 1")[0] == 5  # one each
    write_all(folder, {"pyproject.toml": ""})
    invoke("memory", "add", "docs", cwd=folder)
    assert counts("") == before
    write_all(folder, {"pyproject.toml": "[tool.causalist.memory]\nsimilarity-threshold = 0.8\n"})
    assert "similarity-threshold" in invoke("memory", "stats").failed("settings")


class _Lengths:
    """Vectors from the letters of a text; counts the texts."""

    name, local = "lengths", True

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.texts += texts
        return [[1.0 + text.lower().count(letter) for letter in "aeiou"] for text in texts]


@pytest.mark.slow
def test_vectors_of_a_named_embedder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = _Lengths()
    monkeypatch.setattr("causalist.memory.document_sync.get_embedder", lambda name: embedder)
    invoke("memory", "add", "docs", cwd=folder)
    assert "no vectors" in invoke("memory", "search", "lunch", "--embedder", "lengths").failed("usage")
    assert invoke("memory", "add", "docs", "--embedder", "lengths").code == 0  # nothing changed but the vectors
    assert len(embedder.texts) >= 3
    embedder.texts.clear()
    found = json.loads(invoke("memory", "search", "eeee", "--mode", "dense", "--embedder", "lengths", "--json").stdout)
    assert len(found["results"]) == 3 and "eeee" in embedder.texts
    assert json.loads(invoke("memory", "status", "--json").stdout)["embedder"] == "lengths"
    embedder.texts.clear()
    monkeypatch.setenv("CAUSALIST_EMBEDDER", "other")
    embedder.name = "other"  # the memory has no vectors of it
    assert invoke("memory", "search", "eeee", "--mode", "dense").code == 1 and not embedder.texts
    embedder.name = "lengths"
    assert invoke("memory", "search", "eeee", "--mode", "dense").code == 0 and "eeee" in embedder.texts
    monkeypatch.delenv("CAUSALIST_EMBEDDER")
    assert "--embedder" in invoke("memory", "add", "docs").failed("usage")  # would lose the vectors
    write_all(folder, {"docs/food.md": "# Food\n\nLunch is at one.\n"})
    embedder.texts.clear()
    assert invoke("memory", "add", "docs", "--embedder", "lengths").code == 0
    assert [text for text in embedder.texts if "Lunch" in text] == ["# Food\n\nLunch is at one."]
    assert not any("JWT" in text for text in embedder.texts)  # unchanged passages keep theirs
    assert invoke("memory", "forget", "docs/food.md").stdout == "1 passages removed\n"
    assert invoke("memory", "answer", "eeee", "--embedder", "lengths").code == 0
    assert invoke("memory", "add", "docs", "--embedder", "none").code == 0
    assert json.loads(invoke("memory", "status", "--json").stdout)["embedder"] is None
