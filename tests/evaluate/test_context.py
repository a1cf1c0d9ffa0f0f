"""Sufficiency of packs: gold lines against shown lines, worked by hand on a repository of two files."""

import json
from pathlib import Path

import pytest

from causalist.cli.eval_and_learn import ARMS as OFFERED
from causalist.errors import EvaluationError
from causalist.evaluate.context import (
    ARMS,
    ContextQuestion,
    GoldBlock,
    ShownParts,
    context_text,
    evaluate_context,
    read_context_questions,
    score_showing,
)
from causalist.index.options import ignore_progress
from tests.cli.commands import invoke
from tests.pasts import Past

SHOP = """def price(order):
    total = sum(order)

    return total * tax(order)


def tax(order):
    return 1.2
"""
BLOCKS = (GoldBlock("shop.py", "price", 1, 4, ((2, 4),)), GoldBlock("shop.py", "tax", 7, 8, ((8, 8),)))
QUESTION = ContextQuestion("q1", "me/shop", "0" * 40, "user", "what does an order cost?", "price tax", BLOCKS, ())


def lines_of(path: str) -> list[str]:
    return SHOP.split("\n") if path == "shop.py" else ["x = 1"] * 9


def test_a_line_without_letters_is_no_gold() -> None:
    """Gold are lines 2, 4 and 8: line 3 is blank. Lines 1 to 4 hold two of three."""
    showing = ShownParts(
        {"shop.py": {1, 2, 3, 4}, "other.py": {1, 2, 3, 4}}, (("shop.py", 1, 4), ("other.py", 1, 4)), 90
    )
    score = score_showing(QUESTION, showing, lines_of)
    assert (score.sufficient, score.decisive, score.cores_full, score.cores) == (False, 2 / 3, 1, 2)
    assert (score.tokens, score.items, score.off_file) == (90, 2, 0.5)
    # One of two files is right, and it is all gold files: 2 * 1/2 * 1 / (1/2 + 1).
    assert score.file_f1 == pytest.approx(2 / 3)
    # One of two blocks shown is a core, one of two cores is shown.
    assert score.block_f1 == pytest.approx(1 / 2)
    # Whole cores have the telling lines 1, 2, 4, 7, 8; 1, 2, 4 of them are among the seven telling lines shown.
    assert score.line_f1 == pytest.approx(2 * (3 / 7) * (3 / 5) / (3 / 7 + 3 / 5))


def test_all_decisive_lines_suffice_and_nothing_shown_does_not() -> None:
    assert score_showing(QUESTION, ShownParts({"shop.py": {2, 4, 8}}, (("shop.py", 1, 8),), 30), lines_of).sufficient
    nothing = score_showing(QUESTION, ShownParts({}, (), 10), lines_of)
    assert (nothing.sufficient, nothing.decisive, nothing.off_file, nothing.line_f1) == (False, 0.0, 0.0, 0.0)


@pytest.fixture
def clones(tmp_path: Path) -> tuple[Path, Path]:
    """(file of questions, folder of clones)."""
    past = Past(tmp_path / "clones" / "me+shop")
    commit = past.commit("shop", {"shop.py": SHOP, "notes.py": "def unrelated():\n    return 'holiday'\n"})
    cores = [
        {"path": b.path, "name": b.name, "start": b.start, "end": b.end, "decisive": [list(d) for d in b.decisive]}
        for b in BLOCKS
    ]
    row = {"id": "q1", "repo": "me/shop", "commit": commit, "kind": "user", "question": "what is the price of an order",
           "grep_words": "price tax", "core": cores}  # fmt: skip
    data = tmp_path / "questions.jsonl"
    data.write_text(json.dumps(row) + "\n")
    return data, tmp_path / "clones"


@pytest.mark.parametrize("arm", list(ARMS))
def test_each_arm_shows_the_price(arm: str, clones: tuple[Path, Path]) -> None:
    questions = read_context_questions(clones[0])
    (score,) = evaluate_context(questions, clones[1], {arm: ARMS[arm]}, 1000, ignore_progress)[arm]
    assert score.cores_full >= 1 and 0 < score.tokens <= 1000


def test_the_command_compares_arms(clones: tuple[Path, Path]) -> None:
    data, folder = (str(path) for path in clones)
    done = invoke("eval", "context", "--data", data, "--clones", folder, "--arm", "default", "--arm", "bm25")
    assert done.code == 0, done.stderr
    assert "| default | user | 1 |" in done.stdout and "| default − bm25 |" in done.stdout
    document = json.loads(invoke("eval", "context", "--data", data, "--clones", folder, "--json").stdout)
    (question,) = document["arms"]["default"]["questions"]
    assert question["id"] == "q1" and document["max_tokens"] == 4000


def test_the_command_offers_the_arms() -> None:
    assert tuple(ARMS) == OFFERED


def test_another_commit_is_an_error(clones: tuple[Path, Path]) -> None:
    questions = [each._replace(commit="f" * 40) for each in read_context_questions(clones[0])]
    with pytest.raises(EvaluationError, match="check out that commit"):
        evaluate_context(questions, clones[1], {"default": ARMS["default"]}, 1000, ignore_progress)


@pytest.mark.parametrize("text", ["", "{}\n", "[1]\n", "no json\n", '{"id": 1, "core": 2}\n'])
def test_a_file_without_gold_lines_says_what_it_needs(text: str, tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text(text)
    with pytest.raises(EvaluationError, match=r"one JSON object a line|it needs id, repo"):
        read_context_questions(tmp_path / "q.jsonl")


def test_options_of_other_measurements_are_refused(clones: tuple[Path, Path]) -> None:
    data, folder = (str(path) for path in clones)
    assert "context uses" in invoke("eval", "context", "--data", data, "--clones", folder, "--top-k", "9").stderr
    assert "require context" in invoke("eval", "--data", data, "--clones", folder, "--arm", "bm25").stderr


def test_the_table_has_a_row_for_each_kind() -> None:
    score = score_showing(QUESTION, ShownParts({"shop.py": {2, 4, 8}}, (), 30), lines_of)
    text = context_text({"default": [score, score._replace(kind="flow", sufficient=False)]}, 500)
    rows = [line.split("|")[2].strip() for line in text.splitlines() if line.startswith("| default")]
    assert rows == ["all", "user", "flow"]
