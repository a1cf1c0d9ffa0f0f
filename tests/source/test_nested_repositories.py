"""Submodules and clones inside of a repository: skipped, or listed when they are asked for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from causalist.source import folder_scan as folder_module
from causalist.source import read_file, scan_folder

ALLOWED = ("-c", "protocol.file.allow=always")


def paths(place: Any) -> list[str]:
    return [entry.path for entry in scan_folder(place.path, submodules=True).entries]


@pytest.fixture
def library(make_folder: Callable[[str], Any]) -> Any:
    """A repository with a file that it ignores and one that it keeps for itself."""
    made = make_folder("library").init()
    made.write_all({"l.py": "x = 1\n", "deep/m.py": "y = 1\n", ".gitignore": "*.log\n"}).commit()
    return made


@pytest.fixture
def outer(repository: Any, library: Any) -> Any:
    """A repository with a submodule that is there and one that is not."""
    for name in ("libs/present", "absent"):
        repository.git(*ALLOWED, "submodule", "--quiet", "add", str(library.path), name)
    repository.write_all({"a.py": "x = 1\n"}).commit()
    repository.git("submodule", "--quiet", "deinit", "-f", "absent")
    return repository


def test_submodules_that_are_checked_out_are_listed_when_asked_for(outer: Any) -> None:
    present = outer.path / "libs" / "present"
    (present / "new.py").write_text("z = 1\n")
    (present / "noise.log").write_text("x\n")
    (present / ".env").write_text("TOKEN=1\n")
    scan = scan_folder(outer.path, submodules=True)
    listed = [f"libs/present/{name}" for name in (".gitignore", "deep/m.py", "l.py", "new.py")]
    assert [entry.path for entry in scan.entries] == [".gitmodules", "a.py", *listed]
    assert scan.examples == {"secret": ("libs/present/.env",), "submodule": ("absent",)}
    assert all(not isinstance(read_file(outer.path, entry), str) for entry in scan.entries)
    assert scan.commit == outer.git("rev-parse", "HEAD")


@pytest.mark.slow
def test_submodules_of_submodules_are_listed_too(outer: Any, make_folder: Callable[[str], Any]) -> None:
    top = make_folder("top").init()
    top.git(*ALLOWED, "submodule", "--quiet", "add", str(outer.path), "outer")
    top.git(*ALLOWED, "submodule", "--quiet", "update", "--init", "--recursive")
    assert "outer/libs/present/deep/m.py" in paths(top)


def test_a_clone_inside_is_listed_whether_git_knows_it_or_not(
    repository: Any, folder: Any, library: Any, without_git: Callable[[], None]
) -> None:
    for place in (repository, folder):
        place.write_all({"a.py": "x = 1\n"}).git("clone", "-q", str(library.path), str(place.path / "lib"))
        (place.path / "lib" / "noise.log").write_text("x\n")
    expected = ["a.py", "lib/.gitignore", "lib/deep/m.py", "lib/l.py"]
    assert paths(repository) == paths(folder) == expected
    assert scan_folder(folder.path).examples == {"submodule": ("lib",)}
    without_git()
    assert paths(repository) == paths(folder) == expected


def test_the_ignore_files_of_the_outer_repository_hold_inside(outer: Any) -> None:
    outer.write_all({".causalistignore": "libs/present/deep/\nnothing\n", "libs/present/.causalistignore": "l.py\n"})
    scan = scan_folder(outer.path, submodules=True)
    names = [entry.path for entry in scan.entries if entry.path.startswith("libs/")]
    assert names == ["libs/present/.causalistignore", "libs/present/.gitignore"]
    assert scan.examples["ignored by .causalistignore"] == ("libs/present/deep/", "libs/present/l.py")
    outer.write_all({".causalistignore": "libs/\n"})
    assert scan_folder(outer.path, submodules=True).examples["ignored by .causalistignore"] == ("libs/",)


def test_git_ignores_of_the_outer_repository_end_at_the_inner_one(
    repository: Any, library: Any, without_git: Callable[[], None]
) -> None:
    repository.write_all({"a.py": "x = 1\n", ".gitignore": "l.py\n"})
    repository.git("clone", "-q", str(library.path), str(repository.path / "lib"))
    assert "lib/l.py" in paths(repository)
    without_git()
    assert "lib/l.py" in paths(repository)


def test_a_subfolder_as_root_lists_what_is_below_it(outer: Any) -> None:
    scan = scan_folder(outer.path / "libs", submodules=True)
    assert [entry.path for entry in scan.entries] == [f"present/{n}" for n in (".gitignore", "deep/m.py", "l.py")]


def test_a_git_file_that_leads_to_another_repository_brings_none_of_its_names(
    repository: Any, make_folder: Callable[[str], Any]
) -> None:
    private = make_folder("private").init().write_all({"diary.py": "x = 1\n", "a.py": "x = 1\n"})
    private.commit()
    repository.write_all({"trap/.git": f"gitdir: {private.path}/.git\n", "trap/b.py": "x = 1\n", "c.py": "x = 1\n"})
    scan = scan_folder(repository.path, submodules=True)
    assert [entry.path for entry in scan.entries] == ["c.py", "trap/b.py"]
    assert "diary" not in repr(scan)


def test_a_damaged_repository_inside_does_not_stop_the_others(repository: Any, library: Any) -> None:
    repository.write_all({"a.py": "x = 1\n"})
    for name in ("bad", "good"):
        repository.git("clone", "-q", str(library.path), str(repository.path / name))
    (repository.path / "bad" / ".git" / "index").write_bytes(b"no index")
    scan = scan_folder(repository.path, submodules=True)
    assert {"a.py", "good/l.py"} <= {entry.path for entry in scan.entries}
    assert scan.examples == {"unreadable": ("bad/",)}


def test_there_is_an_end_to_repositories_in_repositories(
    repository: Any, folder_type: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_module, "MAX_NESTED_REPOSITORIES", 3)
    place: Path = repository.path
    for depth in range(6):
        (place / "x.py").write_text("x = 1\n")
        place = folder_type(place / f"r{depth}").init().path
        (place / "y.py").write_text("y = 1\n")
    scan = scan_folder(repository.path, submodules=True)
    assert [entry.path for entry in scan.entries if entry.path.endswith("y.py")] == [
        "r0/r1/r2/y.py",
        "r0/r1/y.py",
        "r0/y.py",
    ]
    assert scan.examples == {"submodule": ("r0/r1/r2/r3",)}
