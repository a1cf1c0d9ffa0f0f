"""Files that commits change together with a file, likeliest first."""

import json
from pathlib import Path

import pytest

from causalist.pipeline.repository import Repository
from causalist.servers.text_answers import impact_text
from tests.cli.commands import invoke
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


def test_commits_are_counted_and_one_common_commit_is_chance(repository: Repository) -> None:
    # Five commits changed app.py, three of them view.py too, one rare.py.
    (found,) = repository.changes_with("app.py::x")
    assert (found.file, found.changed, found.n_both, found.n_commits, found.role) == ("view.py", "app.py", 3, 5, "code")
    (back,) = repository.changes_with("view.py")
    assert (back.file, back.n_both, back.n_commits) == ("app.py", 3, 3)
    # Of three commits of two files: the strength is 3 / (5 + 2) and 3 / (3 + 2), nearly, and the odds six times that.
    assert found.probability == pytest.approx(18 / 7 / (1 + 18 / 7), abs=1e-4)
    assert back.probability == pytest.approx(18 / 5 / (1 + 18 / 5), abs=1e-4)


def test_files_that_are_changed_anyway_are_left_out(repository: Repository) -> None:
    assert repository.changes_with("app.py", "view.py") == ()


def test_a_file_without_history_or_outside_has_no_such_files(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("import os\n\nx = os.sep\n")
    repository = Repository.open(tmp_path)
    assert repository.changes_with("app.py") == ()
    assert repository.changes_with("external:os") == ()
    assert "no git history" in repository.describe_missing_history()


def test_with_history_nothing_is_missing(repository: Repository) -> None:
    assert repository.describe_missing_history() == ""


def test_interfaces_list_them_apart_from_the_users(repository: Repository) -> None:
    root = str(repository.root)
    done = invoke("impact", "app.py", "--repo", root)
    head, _, listed = done.stdout.partition("usually changes with it (history)\n")
    assert "view.py" not in head and listed.split() == ["view.py", "0.72", "3", "of", "5", "commits", "of", "app.py"]
    assert invoke("impact", "app.py", "--no-history", "--repo", root).code == 1  # nothing uses it
    document = json.loads(invoke("impact", "app.py", "--repo", root, "--json").stdout)
    assert document["affected"] == []
    assert document["changes_with"] == [
        {
            "file": "view.py",
            "evidence": "history",
            "changed": "app.py",
            "probability": 0.72,
            "n_both": 3,
            "n_commits": 5,
            "role": "code",
        }
    ]
    reply = impact_text(repository, "app.py", max_depth=None, min_confidence=0.0, max_tokens=500)
    assert reply.text.endswith("usually changes with it (history):\n  view.py  0.72, 3 of 5 commits\n")
