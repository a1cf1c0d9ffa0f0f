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


def test_document(arguments: tuple[str, ...]) -> None:
    done = invoke("eval", *arguments, "--json")
    assert (done.code, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert done.stdout.count("\n") == 1 and document["format_version"] == 1
    assert document["settings"]["top_k"] == 20 and document["skipped"] == []


def test_text(arguments: tuple[str, ...]) -> None:
    done = invoke("eval", *arguments, "--lang", "python", "--top-k", "10")
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.count("\n") > 1


def test_nothing_to_ask(arguments: tuple[str, ...]) -> None:
    invoke("eval", *arguments, "--lang", "cobol").failed("evaluation")


def test_no_data(tmp_path: Path) -> None:
    invoke("eval", "--data", str(tmp_path / "none.jsonl"), "--clones", str(tmp_path)).failed("evaluation")
