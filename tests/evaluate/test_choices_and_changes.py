"""Small samples of two benchmarks: tests that are found for a definition, and files that change together."""

from pathlib import Path

import numpy as np
import pytest

from causalist.pipeline.repository import Repository
from tests.benchmarks.changed_together.__main__ import COMBINED, draw_cases, measure
from tests.benchmarks.changed_together.fit import collect, fit_logistic
from tests.benchmarks.test_choice.__main__ import draw_trials, read_runs
from tests.cli.commands import write_all
from tests.evaluate.clone_builders import git, make_history
from tests.navigate.test_coverage import write_database

A = "def rate():\n    return {}\n\n\ndef other():\n    return 0\n"
B = "from a import rate\n\n\ndef total():\n    return rate() * {}\n"
ALONE = "def alone():\n    return {}\n"


def changing_together(n: int) -> dict[str, str]:
    """The files of a state: two change in each, two others stay."""
    return {"a.py": A.format(n), "b.py": B.format(n), "c.py": ALONE.format(1), "d.py": ALONE.format(2)}


@pytest.mark.slow
def test_files_that_changed_together_are_foretold(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    make_history(clone, *((day, changing_together(day)) for day in range(1, 8)))
    found = measure(clone, 3, judged := [])
    # The only other file of each commit comes first by the commits before it, and by its use in one direction.
    assert found["history"] == found[COMBINED] == [1.0, 1.0, 1.0]
    assert len(found["impact"]) == 3 and set(found["impact"]) <= {0.0, 1.0}
    assert all(is_right for _, is_right in judged)


def test_weights_are_found_again() -> None:
    # The log odds of the draws are 1 + 2 x - y; the third column says nothing.
    drawn = np.random.default_rng(0)
    evidence = drawn.normal(size=(20_000, 3))
    chances = 1 / (1 + np.exp(-(1 + evidence @ [2.0, -1.0, 0.0])))
    found = fit_logistic(evidence, drawn.random(20_000) < chances)
    assert found == pytest.approx([1.0, 2.0, -1.0, 0.0], abs=0.08)


def test_evidence_of_each_changed_file(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    make_history(clone, *((day, changing_together(day)) for day in range(1, 5)))
    queries = collect(clone, 2)
    others = [[f"{name}.py" for name in names] for names in ("acd", "bcd")]  # of b.py and of a.py
    assert sorted(each.paths for each in queries) == [others[0], others[0], others[1], others[1]]
    assert all(each.is_right.tolist() == [True, False, False] for each in queries)


def test_a_query_is_the_definition_that_changed(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    make_history(clone, *((day, changing_together(day)) for day in range(1, 5)))
    cases = list(draw_cases(clone, 2, asks_definitions=True))
    assert {query for _, query, _ in cases} <= {"a.py::rate", "b.py::total"}
    assert all(right == ({"a.py", "b.py"} - {query.partition("::")[0]}) for _, query, right in cases)


def test_trials_of_a_suite(tmp_path: Path) -> None:
    write_all(tmp_path, {
        "shop.py": "def total(items):\n    return add(items)\n\n\ndef add(items):\n    return sum(items)\n",
        "test_shop.py": "from shop import add, total\n\ndef test_a():\n    total([1])\n\ndef test_b():\n    add([1])\n",
    })  # fmt: skip
    write_database(tmp_path / "runs", {
        str(tmp_path / "shop.py"): {"test_shop.py::test_a|run": [2, 6], "test_shop.py::test_b[1]|run": [6]},
        "/elsewhere/shop.py": {"test_shop.py::test_c|run": [2]},
    })  # fmt: skip
    trials, n_tests = draw_trials(
        Repository.open(tmp_path, exact_root=True), read_runs(tmp_path, tmp_path / "runs"), 40, 0
    )
    assert n_tests == 2
    assert {each.node: each.ran for each in trials} == {
        "shop.py::add": {"test_shop.py::test_a", "test_shop.py::test_b"},
        "shop.py::total": {"test_shop.py::test_a"},
    }
    assert {each.node: each.found for each in trials}["shop.py::total"] == ("test_shop.py::test_a",)


def test_a_shallow_clone_says_so(tmp_path: Path) -> None:
    make_history(tmp_path / "whole", *((day, changing_together(day)) for day in range(1, 4)))
    git(tmp_path, "clone", "-q", "--depth=2", (tmp_path / "whole").as_uri(), "shallow")
    assert Repository.open(tmp_path / "whole", exact_root=True).describe_missing_history() == ""
    said = Repository.open(tmp_path / "shallow", exact_root=True).describe_missing_history()
    assert said == "the clone is shallow: older commits are not counted"
