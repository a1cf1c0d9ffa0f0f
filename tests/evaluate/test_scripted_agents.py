"""The scripted agents of the token benchmark: what a commit makes them look for, and when they stop."""

import subprocess
from pathlib import Path

from causalist.pack import count_tokens
from causalist.pipeline.repository import Repository
from tests.benchmarks.tokens.agents import AGENTS, NEAR, Reading, Source, Task, beside, hunks, read_near, read_task
from tests.fleet.repositories import commit_files

_BEFORE = {
    "shop/price.py": "import os\n\n\ndef price(item):\n    return 1\n\n\ndef discount(item):\n    return 0\n",
    "shop/cart.py": "def total():\n    return 1\n" * 60,
}
_AFTER = {
    "shop/price.py": "import re\n\n\ndef price(item):\n    return 2\n\n\ndef discount(item):\n    check(item)\n"
    "    return 0\n",
}


def test_hunks_have_old_lines_and_what_is_said() -> None:
    diff = "--- a/x\n+++ b/x\n@@ -3,2 +3 @@ f\n-a\n-b\n+c\n@@ -9,0 +9 @@\n+d\n"
    assert list(hunks(diff)) == [(3, 2, ["a", "b", "c"]), (9, 0, ["d"])]


def test_lines_beside_an_addition_say_something() -> None:
    assert list(beside(["a", "}", "", "b"], 2)) == [1, 4]
    assert list(beside(["", "b"], 1)) == [2]


def test_a_commit_is_a_task_that_all_agents_solve(tmp_path: Path) -> None:
    folder = commit_files(tmp_path / "shop", _BEFORE)
    commit_files(folder, _AFTER)
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True, check=True
    ).stdout.strip()
    task = read_task(folder, "some/shop", commit)
    assert task is not None
    # The import is left out; of the addition the line before or behind it is enough.
    assert task.units == (("shop/price.py", frozenset({5})), ("shop/price.py", frozenset({8, 9})))
    task = task._replace(query="the price of an item with its discount")
    repository = Repository.at_commit(folder, task.base)
    source = Source(repository)
    assert source.paths == ["shop/cart.py", "shop/price.py"]
    readings = {name: agent(task, repository, source) for name, agent in AGENTS.items()}
    for name, reading in readings.items():
        assert reading.is_done and reading.steps >= 1, name
        assert 8 in reading.lines["shop/price.py"] or 9 in reading.lines["shop/price.py"], name
    # Three words have hits, each in one file: three searches, and one file that is read whole around them.
    grep = readings["grep"]
    assert grep.steps == 4 and "shop/cart.py" not in grep.lines
    text = "\n".join(_BEFORE["shop/price.py"].split("\n"))
    listed = sum(count_tokens(f"shop/price.py:{n}") for n in (1, 2, 1))
    assert grep.tokens <= listed + count_tokens(f"shop/price.py:1\n{text}") + 3


def test_what_was_shown_leads_on(tmp_path: Path) -> None:
    """Around the lines of the first step; then the list is paid, and its short and early files come before the rest."""
    texts = {"a.py": 300, "b.py": 1000, "c.py": 20, "test_d.py": 5, "e.py": 5}
    folder = commit_files(tmp_path / "shop", {path: "x = 1\n" * n for path, n in texts.items()})
    source = Source(Repository.open(folder))
    reading = Reading(Task("", "", "", "", (("e.py", frozenset({1})),)))
    reading.lines["a.py"] |= {100, 101}
    read_near(reading, source, ["test_d.py", "b.py", "b.py", "c.py", "a.py"])
    # c.py: 5 * 121^.7 = 143; a.py: 6 * 401^.7 = 398; b.py: 4 * 1101^.7 = 539; the test last, then what is not listed.
    assert [path for path in reading.lines if path != "e.py"] == ["a.py", "c.py", "b.py", "test_d.py"]
    assert reading.steps == 1 + 1 + 4 + len(["a.py", "b.py", "c.py", "e.py"])
    near = Reading(Task("", "", "", "", (("a.py", frozenset({100 - NEAR})),)))
    near.lines["a.py"] |= {100, 101}
    read_near(near, source, ["b.py"])
    assert near.steps == 1 and near.lines["a.py"] == set(range(100 - NEAR, 101 + NEAR + 1))
