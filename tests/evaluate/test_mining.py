"""Which commits of a history are questions, and what is taken out of their messages."""

from pathlib import Path

import pytest

from causalist.errors import GitError
from causalist.evaluate.mining import clean_message, find_exclusion_reason, mine_questions
from tests.pasts import Past

CODE = "def total(items):\n    return sum(items)\n"


@pytest.fixture
def past(tmp_path: Path) -> Past:
    past = Past(tmp_path / "shop")
    past.commit(
        "start", {"shop/prices.py": CODE, "shop/carts.py": CODE, "tests/test_prices.py": CODE, "README.md": "#"}
    )
    return past


@pytest.mark.parametrize(
    ("message", "query"),
    [
        ("Round totals up (#12)", "Round totals up"),
        ("Round totals up, fixes #12 and closes acme/shop#3", "Round totals up, and"),
        ("fix(carts)!: round totals up", "round totals up"),
        ("net/http, url: round totals up", "round totals up"),
        ("[carts] Round totals up", "Round totals up"),
        ("all:", "all:"),
        ("Round totals: up", "Round totals: up"),
        ("* carts: round\n* prices: round", "* round\n* round"),
        ("Round up\n\nSee https://example.org/12.\nCo-authored-by: A <a@b.c>\nSigned-off-by: A", "Round up\n\nSee"),
        ("Move rounding from shop/prices.py to `carts.py`", "Move rounding from to ``"),
        ("Keep carts.pyi and my_carts.py", "Keep carts.pyi and my_carts.py"),
        ("Use color #12ab and C# 7", "Use color #12ab and C# 7"),
    ],
)
def test_what_gives_the_answer_away_is_taken_out(message: str, query: str) -> None:
    assert clean_message(message, ["shop/carts.py", "shop/prices.py"]) == query


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("Merge branch 'main' into rounding", "merge"),
        ('Revert "Round totals up"', "revert"),
        ("Round down again\n\nThis reverts commit 12ab.", "revert"),
        ("Bump actions/checkout from 3 to 4", "dependencies"),
        ("chore(deps): update pytest", "dependencies"),
        ("Update dependencies of the shop", "dependencies"),
        ("Release 1.2", "version"),
        ("Version 0.28.1", "version"),
        ("v2.3.0", "version"),
        ("Bump version of the shop", "version"),
        ("Run black on everything", "formatting"),
        ("style: sort imports", "formatting"),
        ("Fix linting of the shop", "formatting"),
        ("Upgrade Python formatter ruff", "formatting"),
        ("Reformat code", "formatting"),
        ("Formatting", "formatting"),
        ("Format dates as the user wants them", None),
        ("Support the format of older dates", None),
        ("Reject versions that do not exist", None),
        ("Merging two carts keeps both", None),
        ("Update the cart when packing ends", None),
    ],
)
def test_messages_that_are_no_question(message: str, reason: str | None) -> None:
    assert find_exclusion_reason(message) == reason


def test_questions_are_asked_of_the_parent(past: Past) -> None:
    start = past.head()
    first = past.commit("Round totals up to whole cents", {"shop/prices.py": CODE + "\n", "README.md": "# Shop"})
    second = past.commit(
        "prices: give discounts to old customers (#3)", {"shop/prices.py": CODE, "shop/carts.py": "A = 1\n"}
    )
    newest, older = mine_questions(past.path, 5).questions
    assert (older.id, older.commit, older.query) == (first, start, "Round totals up to whole cents")
    assert (newest.id, newest.commit, newest.query) == (second, first, "give discounts to old customers")
    assert older.gold_files == ("shop/prices.py",) and newest.gold_files == ("shop/carts.py", "shop/prices.py")
    assert older.hard and newest.hard and older.lang == "python"
    assert mine_questions(past.path, 1).questions == (newest,)
    assert mine_questions(past.path, 5, head=first).questions == (older,)


def test_what_is_no_question_is_counted(past: Past) -> None:
    past.commit("Explain how totals are rounded", {"README.md": "# Totals"})
    past.commit("Test how totals are rounded", {"tests/test_prices.py": "A = 1\n"})
    past.commit("Add a way to give discounts", {"shop/discounts.py": CODE, "shop/prices.py": "B = 1\n"})
    past.commit("Fix carts.py again now", {"shop/carts.py": "C = 1\n"})
    past.commit("Rename everything in one go", {f"shop/{name}.py": CODE for name in "abcd"})
    past.commit("Rename everything in one sweep", {f"shop/{name}.py": "D = 1\n" for name in "abcd"})
    past.commit("Prices of carts are kept", {"shop/prices.py": "E = 1\n"})
    past.commit("Prices of carts are kept", {"shop/prices.py": "F = 1\n"})
    mined = mine_questions(past.path, 9)
    assert [(q.query, q.hard) for q in mined.questions] == [("Prices of carts are kept", False)]
    assert mined.left_out == {"few words": 1, "many files": 2, "new files": 1, "no code": 2, "repeated": 1}


def test_a_file_that_went_away_is_no_answer(past: Past) -> None:
    past.commit("Drop carts that nobody uses", {"shop/carts.py": None, "shop/prices.py": "A = 1\n"})
    assert mine_questions(past.path, 9).left_out == {"new files": 1}


def test_merges_are_not_looked_at(past: Past) -> None:
    past.git("checkout", "-q", "-b", "side")
    side = past.commit("Round totals down for members", {"shop/prices.py": "A = 1\n"})
    past.git("checkout", "-q", "main")
    main = past.commit("Empty carts after the sale", {"shop/carts.py": "B = 1\n"}, time=9)
    past.git("merge", "-q", "--no-ff", "-m", "Round totals as members like it", "side", time=10)
    assert {question.id for question in mine_questions(past.path, 9).questions} == {side, main}


def test_no_history(tmp_path: Path) -> None:
    past = Past(tmp_path / "empty")
    with pytest.raises(GitError):
        mine_questions(past.path, 5)
    past.commit("the first state of all", {"a.py": CODE})
    assert mine_questions(past.path, 5).questions == ()
