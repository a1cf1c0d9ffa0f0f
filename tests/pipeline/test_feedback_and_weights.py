"""What is kept beside an index: remembered questions, feedback, learned weights; bounded, masked, never in the way."""

import json
import zlib
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from causalist.errors import IndexNotWritable, UsageError
from causalist.index.open import index_folders
from causalist.model.answer import AskOptions, Level
from causalist.pipeline import feedback_and_weights as beside
from causalist.pipeline.feedback_and_weights import FeedbackStore, signals_version, weights_document
from causalist.pipeline.guarded_steps import Session
from causalist.pipeline.repository import Repository
from causalist.rank import Weights, default_weights
from causalist.store import ANSWERS_NAME, FEEDBACK_NAME, FOLDER, INDEX_NAME, WEIGHTS_NAME

CODE = "def validate(token):\n    return token in ISSUED\n"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "tokens.py").write_text(CODE)
    (root / "mail.py").write_text("def send(token):\n    queue.put(token)\n")
    return root


def kept(root: Path) -> FeedbackStore:
    return FeedbackStore(index_folders(root))


def rows(root: Path, name: str) -> list[dict[str, object]]:
    """What is written, without the checksum that each row has."""
    written = [json.loads(line) for line in (root / FOLDER / name).read_text().splitlines()]
    for row in written:
        assert row.pop("checksum") == zlib.crc32(json.dumps(row).encode())
    return written


def louder(weights: Weights) -> Weights:
    """Other weights than the shipped ones, with other scores."""
    signals = {name: weight * 1.5 for name, weight in weights.definition.signals.items()}
    return replace(weights, definition=replace(weights.definition, signals=signals))


def learn_by_hand(root: Path) -> Repository:
    repository = Repository.open(root)
    assert repository.feedback_store is not None
    document = weights_document(louder(default_weights()), repository.index.version, "learned by hand", {"newer": 3})
    repository.feedback_store.write_weights(document)
    return Repository.open(root)


class TestQuestions:
    def test_an_answer_is_remembered_with_question_and_options(self, shop: Path) -> None:
        answer = Repository.open(shop).ask("validate a token", AskOptions(level=Level.FILE, include=("*.py",)))
        assert rows(shop, ANSWERS_NAME) == [
            {
                "answer_id": answer.answer_id,
                "query": "validate a token",
                "options": {"level": "file", "include": ["*.py"]},
            }
        ]
        assert kept(shop).find_question(answer.answer_id) == "validate a token"
        assert kept(shop).find_question("0" * 16) is None

    def test_nothing_is_remembered_where_that_is_switched_off(self, shop: Path) -> None:
        Repository.open(shop).ask("validate a token", remember=False)
        assert not (shop / FOLDER / ANSWERS_NAME).exists()
        (shop / "causalist.toml").write_text("[ask]\nremember = false\n")
        for session in (None, Session()):
            repository = replace(Repository.open(shop), session=session)
            for _ in range(2):
                assert repository.ask("validate a token").results
        assert not (shop / FOLDER / ANSWERS_NAME).exists()
        asked = Repository.open(shop).ask("validate a token", remember=True)
        assert [row["answer_id"] for row in rows(shop, ANSWERS_NAME)] == [asked.answer_id]

    def test_secrets_are_masked(self, shop: Path) -> None:
        secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
        Repository.open(shop).ask(f"where is the token {secret} validated")
        assert secret not in (shop / FOLDER / ANSWERS_NAME).read_text()
        assert "is the token" in str(rows(shop, ANSWERS_NAME)[0]["query"])

    def test_nothing_is_kept_of_an_answer_without_results(self, shop: Path) -> None:
        Repository.open(shop).ask("zzzz")
        assert not (shop / FOLDER / ANSWERS_NAME).exists()

    def test_only_the_last_ones_stay(self, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(beside._MAX_BYTES, ANSWERS_NAME, 2_000)
        monkeypatch.setitem(beside._MAX_ROWS, ANSWERS_NAME, 5)
        Repository.open(shop)
        for i in range(100):
            kept(shop).remember(f"{i:016}", f"question {i}", AskOptions())
            assert (shop / FOLDER / ANSWERS_NAME).stat().st_size <= 2_000
        assert kept(shop).find_question(f"{99:016}") == "question 99"
        assert kept(shop).find_question(f"{1:016}") is None

    def test_where_nothing_is_indexed_nothing_is_kept(self, shop: Path) -> None:
        kept(shop).remember("1", "a question", AskOptions())
        assert not (shop / FOLDER).exists()

    def test_a_link_is_not_followed(self, shop: Path, tmp_path: Path) -> None:
        Repository.open(shop)
        target = tmp_path / "elsewhere"
        target.write_text("precious")
        (shop / FOLDER / ANSWERS_NAME).symlink_to(target)
        kept(shop).remember("1", "a question", AskOptions())
        assert target.read_text() == "precious" and kept(shop).find_question("1") is None

    def test_damaged_rows_count_as_not_there(self, shop: Path) -> None:
        repository = Repository.open(shop)
        answer = repository.ask("validate a token")
        with (shop / FOLDER / ANSWERS_NAME).open("ab") as out:
            out.write(b'\xff\n[1]\n{"answer_id": 3}\n{"answer_id": "x", "query": 7}\n{"answer')
        assert kept(shop).find_question(answer.answer_id) == "validate a token"
        assert kept(shop).find_question("x") is None
        later = repository.ask("send mail").answer_id
        assert kept(shop).find_question(later) == "send mail", "a row that was cut off takes none with it"


class TestFeedback:
    def test_it_is_added_up(self, shop: Path) -> None:
        answer = Repository.open(shop).ask("validate a token").answer_id
        query, place = kept(shop).add_feedback_by_id(answer, ("tokens.py",), ())
        assert (query, place) == ("validate a token", shop / FOLDER / FEEDBACK_NAME)
        assert kept(shop).read_feedback() == [("validate a token", ("tokens.py",))]
        kept(shop).add_feedback_by_id(answer, ("mail.py",), ("tokens.py",))
        assert kept(shop).read_feedback() == [("validate a token", ("mail.py",))]
        kept(shop).add_feedback_by_id(answer, (), ("mail.py",))
        assert kept(shop).read_feedback() == []

    def test_a_changed_letter_is_no_other_file(self, shop: Path) -> None:
        answer = Repository.open(shop).ask("validate a token").answer_id
        for used in ("tokens.py", "mail.py"):
            kept(shop).add_feedback_by_id(answer, (used,), ())
        path = shop / FOLDER / FEEDBACK_NAME
        whole = path.read_text()
        path.write_text(whole.replace("mail.py", "nail.py"))
        assert kept(shop).read_feedback() == [("validate a token", ("tokens.py",))]
        path.write_text(whole.replace('"checksum"', '"checksun"', 1))
        assert kept(shop).read_feedback() == [("validate a token", ("mail.py",))]
        path.write_text(whole)
        assert kept(shop).read_feedback() == [("validate a token", ("mail.py", "tokens.py"))]

    def test_it_survives_a_rebuild(self, shop: Path) -> None:
        answer = Repository.open(shop).ask("validate a token").answer_id
        kept(shop).add_feedback_by_id(answer, ("tokens.py",), ())
        (shop / FOLDER / INDEX_NAME).unlink()
        (shop / "more.py").write_text("x = 1\n")
        Repository.open(shop)
        assert kept(shop).read_feedback() == [("validate a token", ("tokens.py",))]

    def test_an_unknown_answer(self, shop: Path) -> None:
        Repository.open(shop)
        with pytest.raises(UsageError, match="no stored answer has the id 'x'"):
            kept(shop).add_feedback_by_id("x", ("tokens.py",), ())
        assert not (shop / FOLDER / FEEDBACK_NAME).exists()

    def test_nowhere_to_write(self, shop: Path) -> None:
        with pytest.raises(IndexNotWritable, match="cannot store feedback"):
            kept(shop).add_feedback_by_id("x", ("tokens.py",), ())

    def test_a_folder_that_may_not_be_read(self, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        repository = Repository.open(shop)
        monkeypatch.setattr(beside.os, "access", lambda path, mode: False)
        answer = repository.ask("validate a token")
        assert answer.results and not (shop / FOLDER / ANSWERS_NAME).exists()
        with pytest.raises(IndexNotWritable, match=r"no writable index in .*"):
            kept(shop).add_feedback_by_id(answer.answer_id, ("tokens.py",), ())

    def test_what_others_wrote_is_not_trusted(self, shop: Path) -> None:
        Repository.open(shop)
        (shop / FOLDER / FEEDBACK_NAME).write_text(
            '{"answer_id": "a", "query": "q", "used": "tokens.py"}\n'
            '{"answer_id": "b", "query": "q", "used": [1, "m"]}\n'
        )
        assert kept(shop).read_feedback() == [("q", ("m",))]


class TestWeights:
    def test_they_rank_and_are_part_of_the_answer(self, shop: Path) -> None:
        before = Repository.open(shop).ask("validate a token")
        repository = learn_by_hand(shop)
        after = repository.ask("validate a token")
        assert repository.learned is not None and repository.weights == louder(default_weights())
        assert after.answer_id != before.answer_id
        assert after.results[0].score > before.results[0].score
        assert after.diagnostics == before.diagnostics
        assert repository.status().learned == "learned by hand"
        assert kept(shop).delete_weights() and not kept(shop).delete_weights()
        again = Repository.open(shop)
        assert again.ask("validate a token").answer_id == before.answer_id and again.status().learned is None

    def test_those_of_another_version_are_not_used(self, shop: Path) -> None:
        path = shop / FOLDER / WEIGHTS_NAME
        before = Repository.open(shop).ask("validate a token")
        learn_by_hand(shop)
        path.write_text(path.read_text().replace(signals_version(Repository.open(shop).index.version), "0" * 16))
        repository = Repository.open(shop)
        assert repository.learned is None and repository.weights == default_weights()
        answer = repository.ask("validate a token")
        assert answer.answer_id == before.answer_id
        assert [d.slug for d in answer.diagnostics] == ["learned-weights"]
        assert "other signals" in answer.diagnostics[0].detail

    @pytest.mark.parametrize(
        ("old", "new"),
        [("{", ""), ('"path": ', '"pith": '), ('"path": ', '"title": 0.1, "path": '), ('"path": ', '"path": -'),
         ('"code": 1.0', '"code": NaN'), ('"code": 1.0', '"code": "a"'), ('"signals": {', '"signals": 3, "others": {')],
    )  # fmt: skip
    def test_what_is_no_weights_file_is_not_used(self, shop: Path, old: str, new: str) -> None:
        learn_by_hand(shop)
        path = shop / FOLDER / WEIGHTS_NAME
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        repository = Repository.open(shop)
        assert repository.learned is None
        assert [note.detail.split(";")[0] for note in repository.notes] == ["not used: weights.json cannot be read"]

    def test_a_changed_digit_is_damage(self, shop: Path) -> None:
        learn_by_hand(shop)
        path = shop / FOLDER / WEIGHTS_NAME
        path.write_text(path.read_text().replace('"code": 1.0', '"code": 1.5'))
        repository = Repository.open(shop)
        assert repository.learned is None
        assert [note.detail.split(";")[0] for note in repository.notes] == ["not used: weights.json is damaged"]

    def test_they_say_where_they_come_from(self, shop: Path) -> None:
        learn_by_hand(shop)
        document = json.loads((shop / FOLDER / WEIGHTS_NAME).read_text())
        assert document["provenance"] == "learned by hand" and document["figures"] == {"newer": 3}
        assert document["file"] == json.loads(json.dumps(asdict(default_weights().file)))

    def test_a_commit_is_ranked_by_the_shipped_ones(self, shop: Path) -> None:
        learn_by_hand(shop)
        repository = Repository.from_index(shop, Repository.open(shop).index)
        assert repository.learned is not None
        assert Repository(shop, repository.index, repository.read).weights == default_weights()
