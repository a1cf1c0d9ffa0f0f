"""A name of several definitions is answered for each of them, where nothing is changed by it."""

import json
from pathlib import Path

import pytest

from causalist.errors import AmbiguousNode
from causalist.pipeline.repository import Repository
from causalist.servers.mcp.handlers import _answer_with_note
from causalist.servers.mcp.tools import TOOLS
from tests.cli.commands import invoke, write_all

STORE = (
    "class Store:\n    def put(self, key):\n        return key\n\n\n"
    "class Memory(Store):\n    def put(self, key):\n        return save(key)\n\n\n"
    "def save(key):\n    return key\n\n\ndef go():\n    Memory().put(1)\n"
)
MEMORY, BASE = "lib/store.py::Memory.put", "lib/store.py::Store.put"


@pytest.fixture
def stores(tmp_path: Path) -> Path:
    return write_all(tmp_path, {"lib/store.py": STORE})


def test_each_below_its_id(stores: Path) -> None:
    done = invoke("callers", "put", cwd=stores)
    assert done.code == 0
    assert "note: 2 nodes are called 'put'; each is answered for" in done.stderr
    above, below = done.stdout.split("\n\n")
    assert above.splitlines()[0] == f"{MEMORY}:" and f"lib/store.py::go -> {MEMORY}" in above
    assert below.splitlines() == [f"{BASE}:", f"  no calls to {BASE} are known"]


@pytest.mark.parametrize("command", ["callees", "impact", "show", "readers", "writers", "tests", "neighbors"])
def test_every_look_up_of_one_name(stores: Path, command: str) -> None:
    done = invoke(command, "put", cwd=stores)
    assert done.code == (1 if command in ("readers", "writers", "tests") else 0)
    assert f"{MEMORY}:\n" in done.stdout and f"\n\n{BASE}:\n" in done.stdout


def test_documents_stand_in_a_list(stores: Path) -> None:
    document = json.loads(invoke("callers", "put", "--json", cwd=stores).stdout)
    assert [each["node"] for each in document["meanings"]] == [MEMORY, BASE]
    assert document["meanings"][0] == json.loads(invoke("callers", MEMORY, "--json", cwd=stores).stdout)


def test_one_that_a_command_has_no_use_for_is_left_out(stores: Path) -> None:
    write_all(stores, {"lib/names.py": "put = 1\n"})
    done = invoke("similar", "put", "--min-lines", "2", cwd=stores)
    assert done.code != 2 and done.stdout.splitlines()[0] == f"{MEMORY}:"
    assert "note: left out: lib/names.py::put has no function or type of 2 lines or more" in done.stderr
    assert "::put has no function" in invoke("similar", "put", "--min-lines", "99", cwd=stores).failed("usage")


def test_many_are_refused(tmp_path: Path) -> None:
    write_all(tmp_path, {"a.py": "".join(f"class C{i}:\n    def put(self): ...\n\n\n" for i in range(9))})
    done = invoke("callers", "put", cwd=tmp_path)
    assert (done.code, done.stdout) == (2, "")
    first, *candidates = done.stderr.splitlines()
    assert first.startswith("causalist: ambiguous-node: 9 nodes are called 'put'")
    assert candidates[0] == "  a.py::C0.put  method, line 2"


def test_each_pair_of_two_names(stores: Path) -> None:
    done = invoke("verify", "go", "put", cwd=stores)
    assert done.code == 0  # of the two pairs, one is a yes
    above, below = done.stdout.split("\n\n")
    assert above.splitlines()[:2] == [f"go -> {MEMORY}:", f"  yes: lib/store.py::go -> {MEMORY}"]
    assert below.splitlines()[1] == f"  no: lib/store.py::go -> {BASE}"
    assert invoke("verify", "put", "go", cwd=stores).code == 1
    both = invoke("path", "put", "put", cwd=stores)
    assert both.stderr.count("note: 2 nodes are called 'put'") == 1
    assert [line for line in both.stdout.splitlines() if line.endswith(":")] == [
        f"{a} -> {b}:" for a in (MEMORY, BASE) for b in (MEMORY, BASE)
    ]


def test_pairs_stand_in_a_list(stores: Path) -> None:
    document = json.loads(invoke("path", "go", "put", "--json", cwd=stores).stdout)
    assert [each["target"] for each in document["meanings"]] == [MEMORY, BASE]


def test_tools_of_agents(stores: Path) -> None:
    repository, tool = Repository.open(stores, exact_root=True), TOOLS["symbol"]
    reply = _answer_with_note(tool.answer, tool.read({"name": "put"}), "", repository, "")
    assert reply.text.startswith("note: 2 nodes are called 'put'; each is answered for\n")
    assert "called by 1" in reply.text and BASE in reply.text
    pair = _answer_with_note(tool.answer, tool.read({"name": "go", "to": "put"}), "", repository, "")
    assert pair.text.startswith("note: 2 nodes are called 'put'") and MEMORY in pair.text
    with pytest.raises(AmbiguousNode):
        _answer_with_note(tool.answer, tool.read({"name": "put", "max_tokens": 300}), "", repository, "")
