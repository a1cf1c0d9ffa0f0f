"""`index` and `status`: what is said of an index, for people and for programs."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from causalist.index import open as opening
from causalist.store import FactsCache, facts_path
from tests.cli.commands import invoke, left_behind, run, write_all

STATUS = [
    "format_version",
    "repository",
    "index_version",
    "learned_weights",
    "languages",
    "skipped",
    "examples",
    "aside",
    "aside_examples",
    "notes",
    "diagnostics",
    "index",
    "facts_cache",
    "observed",
    "proven",
]


@pytest.mark.slow
def test_index_says_what_is_in_it(small: Path) -> None:
    write_all(small, {"logo.png": b"\x89PNG", "broken.py": "def price(:\n"})
    done = run("index", "--processes", "1", cwd=small)
    assert (done.code, done.stderr) == (0, "")
    files, graph, left_out, notes, time = done.stdout.splitlines()
    assert files == "5 files: 4 python, 1 text"
    assert "nodes" in graph and "edges" in graph
    assert left_out == "left out: 1 binary"
    assert notes.startswith("notes: 1 syntax-error")
    assert time.endswith(str(small))
    assert (small / ".causalist" / "index.bin").exists() and left_behind(small) == []


def test_index_document(small: Path) -> None:
    document = json.loads(invoke("index", "--repo", str(small), "--json").stdout)
    assert list(document) == [*STATUS, "seconds", "vectors"]
    assert document["languages"] == {"python": 3, "text": 1}
    assert document["seconds"] > 0
    assert (document["index"], document["facts_cache"]) == (None, None)


def test_status_document(small: Path) -> None:
    write_all(small, {"broken.py": "x = 1\ndef price(:\n", **{f"{i}.png": b"\x89" for i in range(5)}})
    done = invoke("status", "--repo", str(small), "--json")
    document = json.loads(done.stdout)
    assert done.code == 0 and list(document) == STATUS
    assert document["skipped"] == {"binary": 5}
    assert document["examples"] == {"binary": ["0.png", "1.png", "2.png"]}
    (note,) = document["notes"]
    assert list(note) == ["path", "slug", "detail", "line"]
    assert (note["path"], note["slug"], note["line"]) == ("broken.py", "syntax-error", 2)


def test_status_for_people(small: Path) -> None:
    write_all(small, {f"{i}.png": b"\x89" for i in range(5)})
    lines = invoke("status", "--repo", str(small)).stdout.splitlines()
    assert lines[0].split() == ["root", str(small)]
    assert "  5 binary: 0.png, 1.png, 2.png, …" in lines
    assert lines[-1].split() == ["notes", "0"]


def test_status_follows_changes(small: Path) -> None:
    first = json.loads(invoke("status", "--repo", str(small), "--json").stdout)
    write_all(small, {"new.py": "def fresh(): pass\n"})
    second = json.loads(invoke("status", "--repo", str(small), "--json").stdout)
    assert second["repository"]["files"] == first["repository"]["files"] + 1


def settled(folder: Path) -> Path:
    """The folder with files whose times lie so far back that they tell every later change: the system's time of the
    last change is not asked for."""
    for path in folder.rglob("*"):
        if path.is_file() and ".git/" not in str(path):
            os.utime(path, ns=(10**18, 10**18))
    return folder


def status_of(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(invoke("status", "--repo", str(folder), "--json").stdout)
    return document


def reasons(document: dict[str, Any]) -> list[str]:
    return [each["reason"] for each in document["index"]["reasons"]]


class TestWhyTheIndexWasNotCurrent:
    def test_there_was_none(self, small: Path) -> None:
        document = status_of(settled(small))
        assert reasons(document) == ["absent"] and document["index"]["was_current"] is False

    def test_it_was_current(self, small: Path) -> None:
        status_of(settled(small))
        index = status_of(small)["index"]
        assert (index["was_current"], index["reasons"]) == (True, [])
        lines = invoke("status", "--repo", str(small)).stdout.splitlines()
        assert "state     up to date" in lines

    def test_files_changed(self, small: Path) -> None:
        status_of(settled(small))
        write_all(small, {"new.py": "def fresh(): pass\n", "shop/cart.py": "class Cart:\n    pass\n"})
        (small / "README.md").unlink()
        for name in ("new.py", "shop/cart.py"):
            os.utime(small / name, ns=(10**18, 10**18))
        done = invoke("status", "--repo", str(small))
        assert "state     up to date, refreshed just now, because it was not:" in done.stdout
        assert "  files: 3 files (README.md, new.py, shop/cart.py) changed, new or gone" in done.stdout.splitlines()
        assert status_of(small)["index"]["was_current"] is True

    def test_another_commit(self, committed: Path) -> None:
        before = status_of(settled(committed))["index"]["commit"]
        name = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        subprocess.run(["git", *name, "commit", "-q", "--allow-empty", "-m", "second"], cwd=committed, check=True)
        document = status_of(committed)
        (reason,) = document["index"]["reasons"]
        after = document["index"]["commit"]
        assert reason["reason"] == "commit" and before != after
        assert reason["detail"] == f"{before[:12]} was checked out, now {after[:12]} is"

    def test_another_version(self, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        was = status_of(settled(small))["index_version"]
        monkeypatch.setattr(opening, "index_version", lambda: "other")
        (reason,) = status_of(small)["index"]["reasons"]
        assert reason["reason"] == "version" and was in reason["detail"] and "other" in reason["detail"]

    def test_damaged(self, small: Path) -> None:
        status_of(small)
        (small / ".causalist" / "index.bin").write_bytes(b"no index")
        assert reasons(status_of(small)) == ["unreadable"]

    def test_copied_from_elsewhere(self, small: Path, tmp_path: Path) -> None:
        status_of(settled(small))
        subprocess.run(["cp", "-r", str(small), str(tmp_path / "copy")], check=True)
        assert reasons(status_of(tmp_path / "copy")) == ["foreign"]


def test_status_counts_what_differs_from_the_commit(committed: Path) -> None:
    assert status_of(committed)["index"]["dirty_files"] == 0
    write_all(committed, {"shop/prices.py": "def price_of(item):\n    return 1\n", "untracked.py": "x = 1\n"})
    (committed / "README.md").unlink()
    assert status_of(committed)["index"]["dirty_files"] == 3
    lines = invoke("status", "--repo", str(committed)).stdout.splitlines()
    assert lines[1].endswith(", 3 files differ from it")


def test_no_commit_no_dirty_files(small: Path) -> None:
    index = status_of(small)["index"]
    assert (index["commit"], index["dirty_files"]) == (None, None)


def test_status_says_where_things_lie(small: Path) -> None:
    document = status_of(small)
    file = small / ".causalist" / "index.bin"
    assert (document["index"]["path"], document["index"]["bytes"]) == (str(file), file.stat().st_size)
    cache = document["facts_cache"]
    assert Path(cache["path"]) == facts_path() and cache["max_bytes"] == 1_073_741_824
    # Three modules and a page, each under its content.
    state = FactsCache(facts_path()).state()
    assert state is not None and cache["entries"] == state.n_entries >= 4 and cache["bytes"] == state.n_bytes > 0
    lines = invoke("status", "--repo", str(small)).stdout
    assert f"cache     {cache['path']}, " in lines and "of at most 1073.7 MB" in lines
