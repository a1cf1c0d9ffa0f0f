"""Tests of a definition by what they ran: `causalist tests` after `causalist observe -- pytest`."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import invoke, write_all
from tests.observe.programs import store_of
from tests.review.test_review import commit, git

pytestmark = pytest.mark.slow

FILES = {
    "plug.py": """def bright(x):
    return x


def dim(x):
    return x


def run(name, x):
    return globals()[name](x)


def other(x):
    return x
""",
    "tests/test_plug.py": """import pytest

from plug import other, run


@pytest.fixture
def lamp():
    return run("dim", 1)


class TestRun:
    @pytest.mark.parametrize("n", [1, 2])
    def test_bright(self, n):
        assert run("bri" + "ght", n) == n

    def test_dim(self, lamp):
        assert lamp == 1


def test_other():
    assert other(1) == 1
""",
    "conftest.py": "import sys\nfrom pathlib import Path\n\nsys.path.insert(0, str(Path(__file__).parent))\n",
}
BRIGHT, DIM, OTHER = (
    f"tests/test_plug.py::{name}" for name in ("TestRun.test_bright", "TestRun.test_dim", "test_other")
)


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(write_all(tmp_path, FILES))
    for name in [name for name in os.environ if name.startswith(("PYTEST_", "COV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # loading those of this environment takes long
    done = invoke("observe", "--", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null",
                  "--rootdir", str(tmp_path), str(tmp_path))  # fmt: skip
    assert done.code == 0, done.stderr
    return tmp_path


def _tests_of(name: str, *more: str) -> dict[str, Any]:
    return {each["node"]: each for each in json.loads(invoke("tests", name, "--json", *more).stdout)["tests"]}


def test_what_each_test_ran(suite: Path) -> None:
    ran = {test: {each.id for each in versions} for test, (_, versions) in store_of(suite).tests.items()}
    assert ran == {
        BRIGHT: {"plug.py::run", "plug.py::bright"},
        DIM: {"plug.py::run", "plug.py::dim", "tests/test_plug.py::lamp"},  # with its fixture
        OTHER: {"plug.py::other"},
    }


def test_tests_that_ran_it_come_first_and_others_not(suite: Path) -> None:
    found = _tests_of("bright")
    assert list(found) == [BRIGHT]
    assert found[BRIGHT]["probability"] == 1.0
    assert BRIGHT not in _tests_of("bright", "--no-observed")
    assert list(_tests_of("dim")) == [DIM]


def test_a_changed_definition_counts_less(suite: Path) -> None:
    changed = FILES["plug.py"].replace("def bright(x):\n    return x", "def bright(x):\n    return +x")
    write_all(suite, {"plug.py": changed})
    assert _tests_of("bright")[BRIGHT]["probability"] == 0.7


def _reviewed() -> dict[str, float]:
    return {each["node"]: each["probability"] for each in json.loads(invoke("review", "--json").stdout)["tests"]}


def test_a_review_has_the_tests_that_ran_what_changed(suite: Path) -> None:
    """A change inside of functions leads no other test to them; one outside of them may."""
    git(suite, "init", "-q", "-b", "main")
    commit(suite)
    changed = FILES["plug.py"].replace("def bright(x):\n", "def bright(x, more=0):\n    x += more\n")
    write_all(suite, {"plug.py": changed})
    assert _reviewed() == {BRIGHT: 1.0}
    assert "    1.00  TestRun.test_bright  ran bright when it was observed\n" in invoke("review").stdout
    write_all(suite, {"plug.py": changed + "\n\nother = run\n"})
    assert OTHER in (outside := _reviewed()) and outside[BRIGHT] == 0.7
    write_all(suite, {"plug.py": changed})
    commit(suite)
    write_all(suite, {"plug.py": changed.replace("x += more", "x -= more")})
    assert _reviewed()[BRIGHT] == 0.7


def test_a_changed_test_is_not_left_out(suite: Path) -> None:
    assert OTHER not in _tests_of("run")
    text = FILES["tests/test_plug.py"].replace("assert other(1) == 1", "assert run('other', other(1)) == 1")
    write_all(suite, {"tests/test_plug.py": text})
    assert {BRIGHT, DIM, OTHER} <= _tests_of("run").keys()
