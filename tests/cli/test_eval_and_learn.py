"""`eval`: the door only; what is measured is tested with `evaluate`."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.commands import invoke


@pytest.fixture
def arguments(committed: Path, tmp_path: Path) -> tuple[str, ...]:
    """One question and the clone that it is asked of."""
    clone = tmp_path / "clones" / "owner" / "shop"
    clone.parent.mkdir(parents=True)
    committed.rename(clone)
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=clone, capture_output=True, text=True, check=True
    ).stdout.strip()
    row = {
        "id": "1", "repo": "owner/shop", "lang": "python", "base_commit": commit, "query": "price of an item with tax",
        "gold_files": ["shop/prices.py"], "hard": False,
    }  # fmt: skip
    data = tmp_path / "questions.jsonl"
    data.write_text(json.dumps(row) + "\n")
    return ("--data", str(data), "--clones", str(tmp_path / "clones"))


@pytest.mark.slow
def test_document(arguments: tuple[str, ...]) -> None:
    done = invoke("eval", *arguments, "--json")
    assert (done.code, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert done.stdout.count("\n") == 1 and document["format_version"] == 1
    assert document["settings"]["top_k"] == 20 and document["skipped"] == []


@pytest.mark.slow
def test_text(arguments: tuple[str, ...]) -> None:
    done = invoke("eval", *arguments, "--lang", "python", "--top-k", "10")
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.count("\n") > 1


def test_nothing_to_ask(arguments: tuple[str, ...]) -> None:
    invoke("eval", *arguments, "--lang", "cobol").failed("evaluation")


def test_no_data(tmp_path: Path) -> None:
    invoke("eval", "--data", str(tmp_path / "none.jsonl"), "--clones", str(tmp_path)).failed("evaluation")


@pytest.fixture
def asked(committed: Path) -> Path:
    """A repository whose newest commit is a question."""
    prices = committed / "shop" / "prices.py"
    prices.write_text(prices.read_text() + "\n\ndef rounded(price):\n    return round(price)\n")
    message = "Round the price of an item with tax"
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", *who, "commit", "-qam", message], cwd=committed, check=True)
    return committed


@pytest.mark.slow
def test_own_history_as_document(asked: Path) -> None:
    done = invoke("eval", "--from-git", "--repo", str(asked), "--json")
    assert (done.code, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document["settings"]["questions"] == 50
    assert [row["query"] for row in document["rows"]] == ["Round the price of an item with tax"]
    assert document["rows"][0]["gold_files"] == ["shop/prices.py"]


@pytest.mark.slow
def test_own_history_as_text(asked: Path) -> None:
    done = invoke("eval", "--from-git", "3", "--repo", str(asked))
    assert (done.code, done.stderr) == (0, "")
    assert "1 question from its history (of 3 wanted)" in done.stdout


def test_a_history_without_questions(committed: Path) -> None:
    done = invoke("eval", "--from-git", "--repo", str(committed), "--json")
    assert done.code == 1 and json.loads(done.stdout)["rows"] == []
    assert "no commit of its history is a question" in done.stderr
    done = invoke("eval", "--from-git", "--repo", str(committed))
    assert (done.code, done.stdout) == (1, "")


@pytest.mark.parametrize(
    "options",
    [(), ("--data", "x"), ("--clones", "x"), ("--from-git", "5", "--lang", "go"), ("--repo", "."), ("--from-git", "0")],
)
def test_options_that_do_not_go_together(options: tuple[str, ...]) -> None:
    done = invoke("eval", *options)
    assert done.code == 2 and done.stdout == ""


def test_default_number_of_questions() -> None:
    from causalist.cli.eval_and_learn import N_QUESTIONS
    from causalist.evaluate import own_history as own

    assert N_QUESTIONS == own.N_QUESTIONS
