"""Files that a change of a file is likely to change as well, with reasons."""

import json
from math import exp, log
from pathlib import Path

import pytest

from causalist.navigate.likely_changes import WITH_HISTORY
from causalist.pipeline.repository import Repository
from causalist.servers.text_answers import impact_text
from tests.cli.commands import invoke, write_all
from tests.pasts import Past


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    past = Past(tmp_path / "project")
    past.commit("begin", {"rare.py": "r = 1\n", ".gitignore": ".causalist\n"})
    for i in range(3):
        past.commit(f"both {i}", {"app.py": f"x = {i}\n", "view.py": f"v = {i}\n"}, time=10 + i)
    past.commit("alone", {"app.py": "x = 8\n"}, time=20)
    past.commit("once", {"app.py": "x = 9\n", "rare.py": "r = 2\n"}, time=30)
    return Repository.open(past.path)


ALL_OF_APP = 1 / 4 + 1 / 5 + 1 / 6 + 1 / 7 + 1 / 8 + 1 / 4  # five commits, the newest first, and the constant


def probability(together: float, idle: int) -> float:
    """The probability of a file without a word, name or use in common, by the formula of `likely_changes`."""
    odds = exp(WITH_HISTORY.bias + WITH_HISTORY.together * log(1 + together / 0.01) + WITH_HISTORY.idle * log(1 + idle))
    return odds / (1 + odds)


def test_commits_are_counted_and_new_ones_count_more(repository: Repository) -> None:
    # Of five commits of app.py the newest changed rare.py too, the oldest three view.py.
    view, rare = repository.changes_with("app.py::x")
    assert (view.file, view.changed, view.n_both, view.n_commits, view.role) == ("view.py", "app.py", 3, 5, "code")
    assert view.reasons == ("changed together in 3 of 5 commits",)
    # Two commits came after the last one of view.py.
    assert view.probability == pytest.approx(probability((1 / 6 + 1 / 7 + 1 / 8) / ALL_OF_APP, 2))
    assert (rare.file, rare.n_both, rare.reasons) == ("rare.py", 1, ("changed together in 1 of 5 commits",))
    assert rare.probability == pytest.approx(probability(1 / 4 / ALL_OF_APP, 0))
    (back,) = repository.changes_with("view.py")
    assert (back.file, back.n_both, back.n_commits) == ("app.py", 3, 3)
    assert back.probability == pytest.approx(probability(1 - 1 / 4 / (1 / 4 + 1 / 5 + 1 / 6 + 1 / 4), 0))


def test_files_are_left_out_by_commits_and_probability(repository: Repository) -> None:
    assert [each.file for each in repository.changes_with("app.py", least_commits=2)] == ["view.py"]
    assert [each.file for each in repository.changes_with("app.py", least_probability=0.12)] == ["view.py"]
    assert [each.file for each in repository.changes_with("view.py", least_probability=0.0)] == ["app.py", "rare.py"]


def test_files_that_are_changed_anyway_are_left_out(repository: Repository) -> None:
    assert [each.file for each in repository.changes_with("app.py", "view.py")] == ["rare.py"]
    assert repository.changes_with("app.py", "view.py", "rare.py") == ()


def test_without_history_words_names_and_uses_rank(tmp_path: Path) -> None:
    write_all(tmp_path, {
        "shop/basket.py":
            "def add_item(basket, item):\n    basket.append(item)\n\n\n"
            "def clear_basket(basket):\n    basket.clear()\n",
        "tests/test_basket.py":
            "from shop.basket import add_item\n\n\n"
            "def test_add_item():\n    basket = []\n    add_item(basket, 1)\n",
        "shop/mail.py": "import smtplib\n\n\ndef send(text):\n    return smtplib.SMTP().sendmail(text)\n",
        "shop/report.py": "from shop.basket import clear_basket\n\n\ndef summary():\n    return clear_basket([])\n",
    })  # fmt: skip
    repository = Repository.open(tmp_path, exact_root=True)
    ranked = repository.changes_with("shop/basket.py", least_probability=0.0)
    assert [each.file for each in ranked] == ["tests/test_basket.py", "shop/report.py", "shop/mail.py"]
    test, report, mail = ranked
    assert "same name" in test.reasons and "test_add_item calls add_item, certain" in test.reasons
    assert "summary calls clear_basket, certain" in report.reasons and mail.reasons == ("words in common: 1%",)
    assert all(each.n_both == each.n_commits == 0 for each in ranked)
    assert test.probability > report.probability > mail.probability


def test_a_file_without_history_or_outside_has_no_such_files(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("import os\n\nx = os.sep\n")
    repository = Repository.open(tmp_path)
    assert repository.changes_with("app.py") == ()
    assert repository.changes_with("external:os") == ()
    assert "no git history" in repository.describe_missing_history()


def test_with_history_nothing_is_missing(repository: Repository) -> None:
    assert repository.describe_missing_history() == ""


def test_interfaces_list_them_before_the_users(repository: Repository) -> None:
    root = str(repository.root)
    done = invoke("impact", "app.py", "--repo", root)
    lines = done.stdout.splitlines()
    assert lines[0] == "likely to change with it"
    assert lines[1] == "  view.py  0.12  changed together in 3 of 5 commits"
    assert invoke("impact", "app.py", "--no-history", "--repo", root).code == 1  # nothing uses it
    document = json.loads(invoke("impact", "app.py", "--repo", root, "--json").stdout)
    assert document["affected"] == []
    assert document["changes_with"][0] == {
        "file": "view.py",
        "evidence": "history",
        "changed": "app.py",
        "probability": round(probability((1 / 6 + 1 / 7 + 1 / 8) / ALL_OF_APP, 2), 4),
        "n_both": 3,
        "n_commits": 5,
        "role": "code",
        "reasons": ["changed together in 3 of 5 commits"],
    }
    reply = impact_text(repository, "app.py", max_depth=None, min_confidence=0.0, max_tokens=500)
    assert "likely to change with it:\n  view.py  0.12: changed together in 3 of 5 commits\n" in reply.text
