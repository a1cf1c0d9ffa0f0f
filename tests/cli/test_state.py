"""`readers` and `writers`."""

import json
from pathlib import Path

import pytest

from tests.cli.commands import invoke, run, write_all
from tests.confidences import said

FILES = {
    "state.py": (
        "import os\n\nlimit = 3\n\n\ndef grow():\n    global limit\n    limit = int(os.environ['LIMIT'])\n\n\n"
        "def left():\n    return limit\n"
    ),
    "box.py": (
        "import state\n\n\nclass Box:\n    size: int = 0\n\n    def fill(self):\n        self.size = state.limit\n\n\n"
        "def use(box: Box):\n    return box.size\n"
    ),
}


@pytest.fixture
def stateful(tmp_path: Path) -> Path:
    return write_all(tmp_path / "stateful", FILES)


@pytest.mark.slow
def test_lines(stateful: Path) -> None:
    done = run("readers", "state.py::limit", cwd=stateful)
    assert (done.code, done.stderr) == (0, "")
    assert sorted(line.split() for line in done.stdout.splitlines()) == sorted(
        [
            [said("same-file", 3), "same-file", "state.py::left", "->", "state.py::limit", "state.py:12"],
            [said("module-attribute", 3), "module-attribute", "box.py::Box.fill", "->", "state.py::limit", "box.py:8"],
        ]
    )
    assert run("writers", "limit", cwd=stateful).stdout.split()[2] == "state.py::grow"


def test_what_a_type_holds_from_outside(stateful: Path) -> None:
    document = json.loads(invoke("readers", "Box", "--json", "--repo", str(stateful)).stdout)
    assert list(document) == ["format_version", "node", "edges"]
    (edge,) = document["edges"]
    assert (edge["source"], edge["target"], edge["kind"]) == ("box.py::use", "box.py::Box.size", "reads")
    inside = json.loads(invoke("writers", "Box.size", "--json", "--repo", str(stateful)).stdout)
    assert [each["source"] for each in inside["edges"]] == ["box.py::Box.fill"]


@pytest.mark.parametrize("name", ["env:LIMIT", "external:env:LIMIT", "LIMIT"])
def test_environment_variables(name: str, stateful: Path) -> None:
    done = invoke("readers", name, "--repo", str(stateful))
    assert done.code == 0 and "state.py::grow -> external:env:LIMIT" in done.stdout


def test_none(stateful: Path) -> None:
    done = invoke("writers", "env:LIMIT", "--repo", str(stateful))
    assert (done.code, done.stdout) == (1, "")
    assert "nothing is known that writes external:env:LIMIT" in done.stderr
    done = invoke("readers", "limit", "--min-confidence", "0.9999", "--json", "--repo", str(stateful))
    assert done.code == 1 and json.loads(done.stdout)["edges"] == []
    assert "; 2 with less" in done.stderr
    invoke("readers", "nowhere", "--repo", str(stateful)).failed("unknown-node")
