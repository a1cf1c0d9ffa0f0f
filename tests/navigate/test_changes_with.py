"""Files that a change of a file is likely to change as well, with reasons."""

import json
from math import exp, log
from pathlib import Path

import pytest

from causalist.navigate.likely_changes import (
    WITH_HISTORY,
    WITHOUT_HISTORY,
    find_missing_files,
    gather_missing,
)
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
ROWS = log(1 + 1)  # the last row of a file of one line is 1


def probability(together: float, idle: int) -> float:
    """The probability of a file of one line without a word, name or use in common, in a history of five commits."""
    full, plain, idle_log = WITH_HISTORY, WITHOUT_HISTORY, log(1 + idle)
    odds_full = full.bias + full.together * log(1 + together / 0.01) + full.idle * idle_log
    odds = exp((5 * odds_full + 30 * plain.bias) / 35 + ROWS * (5 * full.size + 30 * plain.size) / 35)
    return odds / (1 + odds)


def test_commits_are_counted_and_new_ones_count_more(repository: Repository) -> None:
    # Of five commits of app.py the newest changed rare.py too, the oldest three view.py.
    view, rare = sorted(repository.changes_with("app.py::x", least_probability=0.0), key=lambda each: -each.n_both)
    assert (view.file, view.changed, view.n_both, view.n_commits, view.role) == ("view.py", "app.py", 3, 5, "code")
    assert view.reasons == ("changed together in 3 of 5 commits",)
    # Two commits came after the last one of view.py.
    assert view.probability == pytest.approx(probability((1 / 6 + 1 / 7 + 1 / 8) / ALL_OF_APP, 2))
    assert (rare.file, rare.n_both, rare.reasons) == ("rare.py", 1, ("changed together in 1 of 5 commits",))
    assert rare.probability == pytest.approx(probability(1 / 4 / ALL_OF_APP, 0))
    (back,) = repository.changes_with("view.py", least_commits=1, least_probability=0.0)
    assert (back.file, back.n_both, back.n_commits) == ("app.py", 3, 3)
    assert back.probability == pytest.approx(probability(1 - 1 / 4 / (1 / 4 + 1 / 5 + 1 / 6 + 1 / 4), 0))


def surprise(together: float, idle: int) -> float:
    """-ln(1 - p) of a file without a word, name or use in common, by the weights of a long history."""
    odds = WITH_HISTORY.bias + WITH_HISTORY.together * log(1 + together / 0.01) + WITH_HISTORY.idle * log(1 + idle)
    return log(1 + exp(odds))


def test_what_a_change_forgot_sums_over_what_it_has(repository: Repository) -> None:
    ids = repository.graph.nodes.ids
    of_app = (1 / 6 + 1 / 7 + 1 / 8) / ALL_OF_APP  # of the five commits of app.py, the oldest three
    one = gather_missing(repository.index, ["app.py"])
    assert one is not None
    # rare.py has one commit in common, and two are asked for.
    assert [(ids[node], ids[by]) for node, by in zip(one.nodes, one.reasons, strict=True)] == [("view.py", "app.py")]
    assert (one.n_both.tolist(), one.n_commits) == ([3], {ids.position("app.py"): 5})
    expected = [log(surprise(of_app, 2)), 1 / 2, log(1 + 2), log(1 + of_app / 0.01)]
    assert one.scaled[0].tolist() == pytest.approx(expected)
    two = gather_missing(repository.index, ["app.py", ".gitignore"])
    assert two is not None
    # The other one never changed with view.py, so that the sum has what the bias and the idle time say.
    expected = [log(surprise(of_app, 2) + surprise(0.0, 2)), 1 / 3, log(1 + 2), log(1 + of_app / 0.01)]
    assert two.scaled[0].tolist() == pytest.approx(expected)
    assert gather_missing(repository.index, ["rare.py"]) is None
    assert find_missing_files(repository.index, ["app.py", "view.py"], ["app.py"]) == ()


def test_files_are_left_out_by_commits_and_probability(repository: Repository) -> None:
    assert repository.changes_with("app.py") == ()  # so short a history is no reason
    assert [each.file for each in repository.changes_with("app.py", least_commits=2, least_probability=0.0)] == [
        "view.py"
    ]
    assert len(repository.changes_with("view.py", least_probability=0.0)) == 2


def test_files_that_are_changed_anyway_are_left_out(repository: Repository) -> None:
    found = repository.changes_with("app.py", "view.py", least_probability=0.0)
    assert [each.file for each in found] == ["rare.py"]
    assert repository.changes_with("app.py", "view.py", "rare.py", least_probability=0.0) == ()


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


def test_interfaces_list_them_before_the_users(tmp_path: Path) -> None:
    past = Past(tmp_path / "project")
    basket = "def add_item(basket, item):\n    basket.append(item)  # {}\n"
    test = "from basket import add_item\n\n\ndef test_add_item(basket, item):\n    add_item(basket, item)  # {}\n"
    past.commit("begin", {"mail.py": "def send(text):\n    return text\n", ".gitignore": ".causalist\n"})
    for i in range(4):
        past.commit(f"both {i}", {"basket.py": basket.format(i), "test_basket.py": test.format(i)}, time=10 + i)
    root = str(past.path)
    (likely,) = Repository.open(past.path).changes_with("basket.py")
    reasons = ("same name", "changed together in 4 of 4 commits", "test_add_item calls add_item, certain")
    assert set(reasons) < set(likely.reasons)
    lines = invoke("impact", "basket.py", "--repo", root).stdout.splitlines()
    said = f"test_basket.py  {likely.probability:.2f}"
    assert lines[:3] == ["likely to change with it", f"  {said}  {'; '.join(likely.reasons)}", ""]
    assert "likely" not in invoke("impact", "basket.py", "--no-history", "--repo", root).stdout
    document = json.loads(invoke("impact", "basket.py", "--repo", root, "--json").stdout)
    assert document["changes_with"] == [
        {
            "file": "test_basket.py",
            "evidence": "history",
            "changed": "basket.py",
            "probability": round(likely.probability, 4),
            "n_both": 4,
            "n_commits": 4,
            "role": "test",
            "reasons": list(likely.reasons),
        }
    ]
    reply = impact_text(Repository.open(past.path), "basket.py", max_depth=None, min_confidence=0.0, max_tokens=500)
    assert f"likely to change with it:\n  {said}: {'; '.join(likely.reasons)}\ntests:\n" in reply.text


def test_of_several_changed_files_the_one_that_says_so_is_named(tmp_path: Path) -> None:
    past = Past(tmp_path / "project")
    body = "def {0}_item({0}, item):\n    {0}.append(item)\n    return {0}\n"
    past.commit("begin", {".gitignore": ".causalist\n"})
    for i in range(4):
        pair = {
            f"{name}{end}.py": body.format(name) + f"# {i}\n" for name in ("basket", "mail") for end in ("", "_test")
        }
        past.commit(f"all {i}", pair, time=10 + i)
    past.write({f"{name}.py": body.format(name) + "z = 1\n" for name in ("basket", "mail")})
    done = invoke("impact", "--diff", "HEAD", "--repo", str(past.path))
    listed = [[line.split()[0], *line.split()[2:4]] for line in done.stdout.splitlines()[1:3]]
    assert sorted(listed) == [["basket_test.py", "with", "basket.py:"], ["mail_test.py", "with", "mail.py:"]]
