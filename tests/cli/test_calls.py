"""`callers` and `callees`."""

import json
from pathlib import Path

import pytest

from causalist.pipeline.repository import Repository
from causalist.servers.text_answers import path_text
from tests.cli.commands import invoke, write_all
from tests.confidences import said


def test_callers_by_name(small: Path) -> None:
    done = invoke("callers", "with_tax", cwd=small)
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.split() == [
        said("same-file", 3), "same-file",
        "shop/prices.py::price_of", "->", "shop/prices.py::with_tax", "shop/prices.py:3",
    ]  # fmt: skip


def test_columns_are_aligned(small: Path) -> None:
    lines = invoke("callees", "print_invoice", "--repo", str(small)).stdout.splitlines()
    assert len(lines) == 2
    assert len({line.index(" shop/report.py:") for line in lines}) == 1


def test_document(small: Path) -> None:
    done = invoke("callees", "shop/prices.py::price_of", "--repo", str(small), "--json")
    document = json.loads(done.stdout)
    assert list(document) == ["format_version", "node", "edges", "overriding"]
    assert document["node"] == "shop/prices.py::price_of"
    (edge,) = document["edges"]
    assert list(edge) == ["source", "target", "kind", "rule", "confidence", "line", "n"]
    assert (edge["target"], edge["kind"], edge["line"]) == ("shop/prices.py::with_tax", "calls", 3)


def test_none(small: Path) -> None:
    done = invoke("callers", "print_invoice", "--repo", str(small))
    assert (done.code, done.stdout) == (1, "")
    assert done.stderr == "causalist: no calls to shop/report.py::print_invoice are known\n"
    done = invoke("callees", "with_tax", "--repo", str(small), "--json")
    assert done.code == 1
    assert json.loads(done.stdout) == {
        "format_version": 1,
        "node": "shop/prices.py::with_tax",
        "edges": [],
        "overriding": {},
    }
    assert "no calls that shop/prices.py::with_tax makes" in done.stderr


def test_min_confidence(small: Path) -> None:
    done = invoke("callers", "with_tax", "--repo", str(small), "--min-confidence", "1")
    assert (done.code, done.stdout) == (1, "")
    assert "confidence of 1 or more; 1 with less" in done.stderr


@pytest.mark.slow
def test_ids_of_a_sample(taskboard_copy: Path) -> None:
    done = invoke("callers", "src/middleware/auth-middleware.ts::acceptToken", "--repo", str(taskboard_copy))
    assert done.code == 0 and "::authenticateUser -> " in done.stdout


def test_callers_of_what_is_overridden_stand_apart(tmp_path: Path) -> None:
    files = {
        "base.py": "class Store:\n    def save(self): ...\n\n\ndef keep(store: Store):\n    store.save()\n",
        "disk.py": "from base import Store\n\n\nclass Disk(Store):\n    def save(self): ...\n",
    }
    repository = write_all(tmp_path / "stores", files)
    done = invoke("callers", "Disk.save", cwd=repository)
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "through base.py::Store.save, which it overrides",
        f"{said('annotation', 3)}  annotation  base.py::keep -> base.py::Store.save  base.py:6",
    ]
    document = json.loads(invoke("callers", "Disk.save", "--repo", str(repository), "--json").stdout)
    assert document["edges"] == []
    assert [(e["source"], e["target"]) for e in document["through"]] == [("base.py::keep", "base.py::Store.save")]
    done = invoke("callees", "keep", cwd=repository)
    assert done.stdout.splitlines()[1:] == [
        "",
        "in place of base.py::Store.save, what overrides it may run",
        "  disk.py::Disk.save",
    ]
    document = json.loads(invoke("callees", "keep", "--repo", str(repository), "--json").stdout)
    assert document["overriding"] == {"base.py::Store.save": ["disk.py::Disk.save"]}
    assert "→ overridden by" in path_text(Repository.open(repository), "keep", "Disk.save", 500).text
    impact = invoke("impact", "Disk.save", cwd=repository)
    assert "calls base.py::Store.save" in impact.stdout and "which disk.py::Disk.save overrides" in impact.stdout
    done = invoke("callers", "Disk.save", "--repo", str(repository), "--min-confidence", "0.9999")
    assert (done.code, done.stdout) == (1, "") and "0.9999 or more; 1 with less" in done.stderr
    shown = invoke("show", "Disk.save", cwd=repository).stdout
    assert "  overrides  base.py::Store.save\n" in shown
    assert "overridden by disk.py::Disk.save" in invoke("show", "Store.save", cwd=repository).stdout


@pytest.mark.slow
def test_a_function_that_is_only_handed_on_is_found_where_it_is_named(tmp_path: Path) -> None:
    files = {
        "jobs.py": "from functools import partial\n\n\ndef tidy(x): ...\n\n\ndef run(items):\n"
        "    return list(map(tidy, items))\n\n\nlater = partial(tidy, 1)\n",
        "jobs.ts": "export function onClick() {}\nexport function start(el: Element) {\n"
        "    el.addEventListener('x', onClick)\n}\n",
    }
    repository = write_all(tmp_path / "jobs", files)
    done = invoke("callers", "tidy", cwd=repository)
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "named without a call: handed on, kept, or used as a type",
        f"{said('same-file', 3)}  same-file  jobs.py -> jobs.py::tidy       jobs.py:11",
        f"{said('same-file', 3)}  same-file  jobs.py::run -> jobs.py::tidy  jobs.py:8",
    ]
    document = json.loads(invoke("callers", "onClick", "--repo", str(repository), "--json").stdout)
    assert (document["edges"], document["through"]) == ([], [])
    assert [(e["source"], e["kind"], e["line"]) for e in document["references"]] == [
        ("jobs.ts::start", "references", 3)
    ]


def test_users_of_the_class_of_a_special_method_stand_apart(tmp_path: Path) -> None:
    text = "class Bell:\n    def __init__(self): ...\n    def __str__(self): ...\n\n\ndef ring():\n    return Bell()\n"
    repo = write_all(tmp_path / "repo", {"bell.py": text})
    made = invoke("callers", "Bell.__init__", "--repo", str(repo))
    assert made.stdout.split() == [
        said("same-file", 3), "same-file", "bell.py::ring", "->", "bell.py::Bell", "bell.py:7",
    ]  # fmt: skip
    printed = invoke("callers", "Bell.__str__", "--repo", str(repo))
    assert printed.code == 0
    head, line = printed.stdout.splitlines()
    assert head == "through bell.py::Bell, who uses this may run it without its name"
    assert line.endswith("same-file  bell.py::ring -> bell.py::Bell  bell.py:7")
    document = json.loads(invoke("callers", "Bell.__str__", "--repo", str(repo), "--json").stdout)
    assert list(document) == ["format_version", "node", "edges", "through", "references", "documentation"]
    assert (document["edges"], [edge["source"] for edge in document["through"]]) == ([], ["bell.py::ring"])
    reached = invoke("impact", "Bell.__init__", "--repo", str(repo)).stdout.splitlines()
    assert reached[-1].endswith("bell.py:7, which runs bell.py::Bell.__init__")
