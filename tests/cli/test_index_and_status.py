"""`index` and `status`: what is said of an index, for people and for programs."""

import json
from pathlib import Path

from tests.cli.commands import invoke, left_behind, run, write_all

STATUS = [
    "format_version",
    "repository",
    "index_version",
    "learned_weights",
    "languages",
    "skipped",
    "examples",
    "notes",
    "diagnostics",
]


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
    assert list(document) == [*STATUS, "seconds"]
    assert document["languages"] == {"python": 3, "text": 1}
    assert document["seconds"] > 0


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
