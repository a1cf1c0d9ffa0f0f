"""Where clones are found, and the order of their commits."""

from pathlib import Path

from causalist.evaluate.mining import find_clone, sort_oldest_first
from tests.evaluate.clone_builders import git, make_history
from tests.evaluate.conftest import Clones


def test_both_layouts_are_found(clones: Clones) -> None:
    assert find_clone(clones.folder, "acme/shop") == clones.folder / "acme+shop" / "repo"
    assert find_clone(clones.folder, "acme/site") == clones.folder / "acme" / "site"
    assert find_clone(clones.folder, "acme/absent") is None


def test_folder_with_a_git_folder_of_another_name_is_a_clone(tmp_path: Path) -> None:
    make_history(tmp_path / "made", (1, {"a.py": "x = 1\n"}))
    (tmp_path / "acme").mkdir()
    (tmp_path / "made" / ".git").rename(tmp_path / "acme" / "lib")
    assert find_clone(tmp_path, "acme/lib") == tmp_path / "acme" / "lib"


def test_folder_inside_of_another_repository_is_no_clone(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "acme" / "shop").mkdir(parents=True)
    assert find_clone(tmp_path, "acme/shop") is None


def test_commits_are_visited_by_time_and_unknown_ones_last(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    third, first, second = make_history(folder, (3, {"a": "1"}), (1, {"a": "2"}), (2, {"a": "3"}))
    unknown = ["0" * 40, "HEAD", "--all"]
    assert sort_oldest_first(folder, [*unknown, third, first, third, second]) == [first, second, third, *unknown]
    assert sort_oldest_first(tmp_path / "absent", ["b", "a", "b"]) == ["b", "a"]
