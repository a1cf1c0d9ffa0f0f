"""Questions with an embedder: what it finds, what it is shown, and what happens where it fails."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from causalist.errors import ModelFailed, SettingsError, UsageError
from causalist.model.answer import AskOptions
from causalist.pipeline.repository import Repository
from causalist.rank.scoring.signals import N_NEAREST, dense_signal
from tests.cli.commands import CHECKOUT, invoke
from tests.embed import fake

# None of its words stands in the shop.
QUESTION = "annihilate a patron"
FAKE = AskOptions(embedder="fake")


def best(folder: Path, options: AskOptions) -> str:
    return Repository.open(folder, exact_root=True).ask(QUESTION, options).results[0].id


def test_what_shares_no_word_with_the_question_is_found_by_its_meaning(shop: Path) -> None:
    without = Repository.open(shop, exact_root=True).ask(QUESTION)
    assert not without.results and without.generators["dense"] is None
    answer = Repository.open(shop, exact_root=True).ask(QUESTION, FAKE)
    assert answer.results[0].id == "people.py::purge_client"
    assert "dense" in [reason.signal for reason in answer.results[0].reasons]
    assert "candidates.dense" in answer.timings_ms
    assert answer.answer_id != without.answer_id


def test_signals_grow_with_the_square_of_the_distance_from_the_median() -> None:
    """By hand: of 0.2, 0.4 and 0.8 the median is 0.4, so that 0.8 has 1; 0.6 would have (0.2 / 0.4)² = 0.25."""
    assert dense_signal(np.array([0.2, 0.0, 0.8, 0.4])).tolist() == [0.0, 0.0, 1.0, 0.0]
    assert dense_signal(np.array([0.2, 0.8, 0.6, 0.4, 0.1])).round(12).tolist() == [0.0, 1.0, 0.25, 0.0, 0.0]
    assert not dense_signal(np.zeros(3)).any() and not dense_signal(np.zeros(0)).any()
    many = dense_signal(np.linspace(0.1, 0.9, 10 * N_NEAREST))
    assert np.count_nonzero(many) == N_NEAREST and (np.flatnonzero(many) >= 9 * N_NEAREST).all()


def test_only_the_question_is_embedded_again(shop: Path) -> None:
    best(shop, FAKE)
    first = [text.splitlines()[0] for text in fake.shown]
    assert first == ["people.py bill", "people.py purge_client", "shelf.py other", "shelf.py store", QUESTION]
    fake.shown.clear()
    best(shop, FAKE)
    assert fake.shown == [QUESTION]
    # Another definition of the file moves; its text stays.
    (shop / "shelf.py").write_text("\n\n\ndef store(thing):\n    return thing\n\n\ndef other():\n    return 2\n")
    fake.shown.clear()
    best(shop, FAKE)
    assert [text.splitlines()[0] for text in fake.shown] == ["shelf.py other", QUESTION]


def test_an_embedder_that_fails_is_done_without_and_named(shop: Path) -> None:
    (shop / "notes.md").write_text("# How to annihilate a patron\n\nAsk somebody.\n")
    fake.failing_after.append(0)
    answer = Repository.open(shop, exact_root=True).ask(QUESTION, FAKE)
    assert answer.results and answer.generators["dense"] is None
    (note,) = [d.detail for d in answer.diagnostics if d.slug == "step-skipped"]
    assert note == "candidates.dense: model-failed: the embedder fake: failed: ConnectionError: nobody is there"
    done = invoke("ask", QUESTION, "--repo", str(shop), "--embedder", "fake", "--strict")
    assert done.code == 2 and "nobody is there" in done.stderr


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nobody", "there is no embedder 'nobody'; installed are broken, fake, llm, odd, openai, remote"),
        ("broken:x.bin", "the embedder broken:x.bin cannot be loaded: OSError: no file x.bin"),
        ("odd", "the embedder odd has no `name`, `local` and `embed`"),
        ("local:remote", "the embedder remote sends texts elsewhere, and 'local:remote' allows none that does"),
    ],
)
def test_embedders_that_are_none_are_said_to_be_missing(shop: Path, name: str, why: str) -> None:
    (shop / "notes.md").write_text("# How to annihilate a patron\n\nAsk somebody.\n")
    done = invoke("ask", QUESTION, "--repo", str(shop), "--embedder", name, "--json")
    assert done.code == 0
    details = [d["detail"] for d in json.loads(done.stdout)["diagnostics"] if d["slug"] == "step-skipped"]
    assert len(details) == 1 and details[0].startswith(f"candidates.dense: model-failed: {why}")
    assert invoke("index", "--repo", str(shop), "--embedder", name).failed("model-failed").count(why) == 1
    assert not fake.shown


def test_what_is_no_name_is_a_usage_error(shop: Path) -> None:
    for name in ("", "../x", "local:", ":x"):
        with pytest.raises(UsageError, match="is not a name"):
            Repository.open(shop, exact_root=True).ask(QUESTION, AskOptions(embedder=name))


def test_a_repository_can_choose_only_what_keeps_texts_here(shop: Path) -> None:
    (shop / "causalist.toml").write_text('[ask]\nembedder = "local:fake"\n')
    assert best(shop, AskOptions()) == "people.py::purge_client"
    fake.shown.clear()
    assert not Repository.open(shop, exact_root=True).ask(QUESTION, AskOptions(embedder="none")).results
    (shop / "causalist.toml").write_text('[ask]\nembedder = "local:remote"\n')
    notes = Repository.open(shop, exact_root=True).ask(QUESTION).diagnostics
    assert any("sends texts elsewhere" in note.detail for note in notes)
    for value in ('"remote"', '"fake"', '"local:fake:model"', "3"):
        (shop / "causalist.toml").write_text(f"[ask]\nembedder = {value}\n")
        with pytest.raises(SettingsError, match=r"\[ask\] embedder must be \"local:"):
            Repository.open(shop, exact_root=True)
    assert not fake.shown


def test_the_environment_chooses_before_the_repository(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (shop / "causalist.toml").write_text('[ask]\nembedder = "local:fake"\n')
    monkeypatch.setenv("CAUSALIST_EMBEDDER", "remote")
    assert best(shop, AskOptions(top_k=1)) == "people.py::purge_client"
    shown = json.loads(invoke("config", "--repo", str(shop), "--json").stdout)
    assert '"remote"' in json.dumps(shown) and "CAUSALIST_EMBEDDER" in json.dumps(shown)


def test_secrets_are_not_shown_to_an_embedder(shop: Path) -> None:
    secret = "AKIA" + "QWERTYUIOPASDF12"
    (shop / "keys.py").write_text(f'def purge(who):\n    return "{secret}"\n')
    best(shop, FAKE)
    (text,) = [text for text in fake.shown if text.startswith("keys.py")]
    assert "purge" in text and secret not in text


def test_an_index_can_be_made_with_its_vectors(shop: Path) -> None:
    done = invoke("index", "--repo", str(shop), "--embedder", "fake")
    assert (done.code, "vectors of fake: 4" in done.stdout) == (0, True), done.stderr
    fake.shown.clear()
    assert best(shop, FAKE) == "people.py::purge_client"
    assert fake.shown == [QUESTION]
    assert json.loads(invoke("index", "--repo", str(shop), "--json").stdout)["vectors"] is None


@pytest.mark.slow
def test_nothing_of_it_is_imported_where_none_is_chosen(shop: Path) -> None:
    script = (
        "import sys\nfrom causalist.pipeline.repository import Repository\n"
        "assert Repository.open(sys.argv[1], exact_root=True).ask('where is the bill').results\n"
        "late = ('causalist.embed', 'causalist.index.embedding_similarity')\n"
        "print([name for name in sys.modules if name.startswith(late)])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(shop)], cwd=CHECKOUT, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_server_lets_no_client_choose_who_is_sent_the_source() -> None:

    from causalist.serialize.answers import read_options

    with pytest.raises(UsageError, match="unknown option 'embedder'"):
        read_options(AskOptions(), {"embedder": "openai:x"})


def test_both_kinds_of_memory_take_the_same_embedder() -> None:
    from causalist.memory import HippoIndex

    index = HippoIndex(embedder=fake.local(""))
    index.add_passage("a", "How to purge a client.")
    index.add_passage("b", "Where the bill is.")
    assert index.retrieve("annihilate patron", mode="dense")[0].passage_id == "a"
    bad = HippoIndex(embedder=fake.local(""))
    fake.failing_after.append(0)
    with pytest.raises(ModelFailed, match="nobody is there"):
        bad.add_passage("a", "text")
