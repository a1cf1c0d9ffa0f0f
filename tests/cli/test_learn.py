"""`feedback` and `learn`: the doors only; what they do is tested with `beside` and `evaluate`."""

import json
from pathlib import Path

import pytest

from causalist.cli import eval_and_learn as learn_command
from causalist.evaluate import learn as learn_function
from causalist.store import ANSWERS_NAME, FEEDBACK_NAME, FOLDER, WEIGHTS_NAME
from tests.cli.commands import invoke
from tests.evaluate.test_own_history_learning import past_of

pytestmark = pytest.mark.slow


def asked(root: Path) -> str:
    done = invoke("ask", "price of an item with tax", "--repo", str(root), "--json")
    answer: str = json.loads(done.stdout)["answer_id"]
    return answer


def test_feedback_is_kept(committed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = asked(committed)
    done = invoke("feedback", answer, "--used", "shop/prices.py", "--repo", str(committed))
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout == "1 used, 0 not used, for: price of an item with tax\n"
    monkeypatch.chdir(committed / "shop")
    done = invoke("feedback", answer, "--not-used", "prices.py", "--json")
    assert (done.code, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document["not_used"] == ["shop/prices.py"] and document["query"] == "price of an item with tax"
    assert len((committed / FOLDER / FEEDBACK_NAME).read_text().splitlines()) == 2


def test_feedback_that_makes_no_sense(committed: Path) -> None:
    answer, where = asked(committed), ("--repo", str(committed))
    invoke("feedback", answer, *where).failed("usage")
    invoke("feedback", "", "--used", "shop/prices.py", *where).failed("usage")
    invoke("feedback", "0" * 16, "--used", "shop/prices.py", *where).failed("usage")
    message = invoke("feedback", answer, "--used", "shop/absent.py", *where).failed("usage")
    assert "'shop/absent.py' is not an indexed file" in message
    both = ("--used", "shop/prices.py", "--not-used", "./shop/prices.py")
    assert "is given as --used and as --not-used" in invoke("feedback", answer, *both, *where).failed("usage")
    assert not (committed / FOLDER / FEEDBACK_NAME).exists()


def test_questions_that_are_not_remembered(committed: Path) -> None:
    where, log = ("--repo", str(committed)), committed / FOLDER / ANSWERS_NAME
    assert invoke("ask", "price of an item", "--no-remember", *where).code == 0 and not log.exists()
    (committed / "causalist.toml").write_text("[ask]\nremember = false\n")
    answer = asked(committed)
    assert not log.exists()
    message = invoke("feedback", answer, "--used", "shop/prices.py", *where).failed("usage")
    assert "`remember = false` is set in the repository settings" in message
    assert invoke("ask", "price of an item with tax", "--remember", *where).code == 0 and log.exists()


def test_learn_keeps_what_is_better(tmp_path: Path) -> None:
    root = past_of(tmp_path / "shop", 30).path
    weights = root / FOLDER / WEIGHTS_NAME
    dry = invoke("learn", "--repo", str(root), "--dry-run")
    assert (dry.code, dry.stderr) == (0, "") and not weights.exists()
    assert "the learned weights are better" in dry.stdout and "dry run: the weights are not saved" in dry.stdout
    done = invoke("learn", "--repo", str(root), "--json")
    document = json.loads(done.stdout)
    assert (done.code, document["is_better"], document["file"]) == (0, True, str(weights))
    assert document["questions"] == {"history": 30, "feedback": 0, "older": 21, "newer": 9}
    assert json.loads(weights.read_text())["figures"] == document["figures"]
    status = json.loads(invoke("status", "--repo", str(root), "--json").stdout)
    assert status["learned_weights"].startswith("learned at commit ")
    assert "weights   learned at commit " in invoke("status", "--repo", str(root)).stdout
    assert invoke("learn", "--repo", str(root), "--reset").stdout.startswith("deleted the learned weights")
    assert not weights.exists()
    done = invoke("learn", "--repo", str(root), "--reset", "--json")
    assert (done.code, json.loads(done.stdout)) == (1, {"format_version": 1, "reset": False})


def test_learn_without_enough_history(committed: Path) -> None:
    done = invoke("learn", "--repo", str(committed))
    assert (done.code, done.stderr) == (1, "") and "are too few to learn from" in done.stdout
    done = invoke("learn", "--repo", str(committed), "--json")
    assert done.code == 1 and json.loads(done.stdout)["figures"] is None
    invoke("learn", "--repo", str(committed), "--reset", "--dry-run").failed("usage")


def test_learn_without_git(small: Path) -> None:
    invoke("learn", "--repo", str(small)).failed("git")


def test_default_number_of_questions() -> None:
    import inspect

    assert inspect.signature(learn_function).parameters["n"].default == learn_command.N_LEARNED_QUESTIONS
