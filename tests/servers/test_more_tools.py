"""The tools that `--tools all` adds, on four files whose answers are worked out by hand, and on a sample repository."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from causalist.errors import GitError
from causalist.pack import count_tokens
from causalist.pipeline.repository import Repository
from causalist.servers.index_job import Stage
from causalist.servers.live_repository import FreshnessReport, LiveView
from causalist.servers.mcp.handlers import select_tools
from causalist.servers.mcp.tools import TOOLS
from causalist.servers.text_answers import OUTPUT_SCHEMA, Reply, staleness_note, structured_content
from tests.cli.commands import CHECKOUT, write_all
from tests.cli.conftest import SMALL
from tests.edits import git

ALL = select_tools("all")
FILES = {
    **SMALL,
    "shop/rate.py": (
        "COUNT = 0\n\n\ndef bump():\n    global COUNT\n    COUNT = 1\n\n\ndef report():\n    return COUNT\n"
    ),
    "tests/test_prices.py": (
        "from shop.prices import with_tax\n\n\ndef test_with_tax():\n    assert with_tax(10) == 12\n"
    ),
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return Repository.open(write_all(tmp_path_factory.mktemp("shop"), FILES), exact_root=True)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    folder = tmp_path_factory.mktemp("samples") / "taskboard-api"
    shutil.copytree(CHECKOUT / "sample_repos" / "taskboard-api", folder, ignore=shutil.ignore_patterns(".causalist"))
    return Repository.open(folder, exact_root=True)


def call(repository: Repository, tool: str, **arguments: Any) -> Reply:
    reply = ALL[tool].answer(repository, ALL[tool].read(arguments))
    assert isinstance(reply, Reply)
    return reply


def test_there_are_those_of_the_command_line() -> None:
    more = ["find", "map", "tests", "review", "state", "neighbors", "verify", "layers", "topo", "similar", "status"]
    assert list(ALL)[:14] == [*TOOLS, *more]
    assert list(select_tools("default")) == ["ask", "symbol", "impact"]


def test_review(tmp_path: Path) -> None:
    """What is expected follows from the change: a parameter more, one call and its test."""
    folder = write_all(tmp_path / "shop", FILES)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    prices = FILES["shop/prices.py"].replace("def with_tax(", "def with_tax(currency, ")
    write_all(folder, {"shop/prices.py": prices})
    repository = Repository.open(folder, exact_root=True)
    text = call(repository, "review").text
    lines = text.splitlines()
    assert lines[:2] == ["1 file changed, 1 definition", "calls that no longer fit (2):"]
    at = lines.index("changed in signature (1):")
    assert lines[at : at + 4] == [
        "changed in signature (1):", "  shop/prices.py::with_tax", "tests to run, the most probable first (1):",
        next(line for line in lines if line.endswith("tests/test_prices.py::test_with_tax")),
    ]  # fmt: skip
    assert call(repository, "review", revision="HEAD").text.startswith("note: it has no parent")
    for budget in (200, 300):
        assert count_tokens(call(repository, "review", max_tokens=budget).text) <= budget
    with pytest.raises(GitError):
        call(repository, "review", revision="no-such-branch")


def test_find(shop: Repository) -> None:
    reply = call(shop, "find", name="with_tax")
    assert reply.text.splitlines()[0] == "shop/prices.py::with_tax  function, line 6"
    assert reply.nodes[0] == "shop/prices.py::with_tax"
    assert "no node has a name like 'zzzqq'" in call(shop, "find", name="zzzqq").text


def test_map(shop: Repository) -> None:
    text = call(shop, "map", max_tokens=400).text
    assert "shop/" in text and count_tokens(text) <= 400


def test_tests(shop: Repository) -> None:
    reply = call(shop, "tests", name="with_tax")
    assert reply.text.startswith("1 test of shop/prices.py::with_tax, the most probable first\n")
    assert reply.nodes == ["tests/test_prices.py::test_with_tax"]
    assert call(shop, "tests", name="print_invoice").text.startswith("no test is known to reach shop/report.py::print_")


def test_state(shop: Repository) -> None:
    text = call(shop, "state", name="COUNT").text
    written, _, read = text.partition("read by ")
    assert "shop/rate.py::bump, line 6" in written
    assert read.startswith("1:\n  shop/rate.py::report, line 10")


def test_neighbors(shop: Repository) -> None:
    reply = call(shop, "neighbors", name="price_of")
    assert "used by, calls (1):\n  shop/cart.py::Cart.total, " in reply.text
    assert "uses, calls (1):\n  shop/prices.py::with_tax, " in reply.text
    assert {"shop/cart.py::Cart.total", "shop/prices.py::with_tax"} <= set(reply.nodes)


def test_verify(shop: Repository) -> None:
    yes = call(shop, "verify", name="price_of", to="with_tax").text
    assert yes.startswith("yes: shop/prices.py::price_of -> shop/prices.py::with_tax")
    assert "`return with_tax(item.net)`" in yes
    assert call(shop, "verify", name="with_tax", to="price_of").text.startswith("no: ")


def test_topo(shop: Repository) -> None:
    reply = call(shop, "topo", names="shop tests/test_prices.py")
    lines = reply.text.splitlines()
    assert lines[0].endswith(", dependencies first")
    assert lines.index("  shop/prices.py") < lines.index("  tests/test_prices.py")
    assert reply.nodes[-1] == lines[-1].strip()
    changed = call(shop, "topo", names="shop/rate.py::bump")
    assert changed.text == "1 definition, dependencies first\n  shop/rate.py::bump\n"


def test_similar(tmp_path: Path) -> None:
    body = "".join(f"    total = total * {n} + len(items) - {n}\n" for n in range(2, 9)) + "    return total\n"
    other = "\n\ndef other():\n    return 1\n"
    write_all(tmp_path, {"a.py": f"def one(items, total):\n{body}", "b.py": f"def two(items, total):\n{body}{other}"})
    reply = call(Repository.open(tmp_path, exact_root=True), "similar", name="one")
    first, second = reply.text.splitlines()
    assert first == "1 near-duplicate of a.py::one"
    assert second.startswith("  0.92 renamed, merge 0.67  b.py::two, lines 1-9; ") and "one -> two" in second
    assert reply.nodes == ["a.py::one", "b.py::two"]


def test_layers_and_status(sample: Repository) -> None:
    layers = call(sample, "layers").text
    assert "logic: " in layers and "from a lower layer to a higher one" in layers
    status = call(sample, "status").text
    info = sample.info()
    assert f"files     {info.files}: " in status and f"graph     {info.nodes} nodes, {info.edges} edges\n" in status
    assert f"{sample.root}/.causalist/index.bin, " in status and "\nstate     up to date\n" in status


ARGUMENTS: dict[str, dict[str, Any]] = {
    "ask": {"question": "where is a token verified"}, "symbol": {"name": "verifyToken"},
    "impact": {"name": "verifyToken"}, "find": {"name": "token"}, "map": {}, "tests": {"name": "verifyToken"},
    "state": {"name": "src/security/jwt-verifier.ts"}, "neighbors": {"name": "verifyToken", "hops": 2},
    "verify": {"name": "acceptToken", "to": "verifyToken"}, "layers": {}, "topo": {},
    "similar": {"name": "verifyToken"}, "status": {},
}  # fmt: skip


@pytest.mark.parametrize("tool", list(ARGUMENTS))
@pytest.mark.parametrize("max_tokens", [200, 700])
def test_budget_and_structure(tool: str, max_tokens: int, sample: Repository) -> None:
    given = {**ARGUMENTS[tool], **({"max_tokens": max_tokens} if "max_tokens" in ALL[tool].parameters else {})}
    reply = call(sample, tool, **given)
    assert reply.text.strip() and (tool == "find" or count_tokens(reply.text) <= max_tokens)
    document = structured_content(reply, LiveView(sample, 3), "taskboard-api")
    jsonschema.validate(json.loads(json.dumps(document)), dict(OUTPUT_SCHEMA))
    for node in document["nodes"]:
        assert sample.resolve(node["id"]) >= 0 and node["start_line"] <= node["end_line"]
    assert document["coverage"] == {
        "repository": "taskboard-api", "commit": None, "files": sample.info().files, "complete": True, "generation": 3,
        "behind": 0, "behind_files": [], "indexing": None,
    }  # fmt: skip


def test_what_an_answer_is_about(sample: Repository) -> None:
    reply = call(sample, "symbol", name="verifyToken")
    changed = tuple(f"src/{n:02}.ts" for n in range(30))
    view = LiveView(sample, 3, FreshnessReport(False, changed), Stage("parsing", 12, 30))
    document = structured_content(reply, view, "x")
    first = document["nodes"][0]
    assert first == {
        "id": "src/security/jwt-verifier.ts::verifyToken", "kind": "function",
        "path": "src/security/jwt-verifier.ts", "start_line": 41, "end_line": 47, "score": None,
    }  # fmt: skip
    assert document["coverage"]["complete"] is False and document["coverage"]["indexing"] == "12 of 30 files parsed"
    assert 0 < (call(sample, "ask", question="where is a token verified").confidence or 0) < 1
    assert document["coverage"]["behind"] == 30 and document["coverage"]["behind_files"] == [*changed[:20]]
    assert staleness_note(view) == (
        "note: answered from an index that is older than the files; 30 changed files are not in it (src/00.ts, "
        "src/01.ts, src/02.ts, …); still indexing: 12 of 30 files parsed; ask again for a current answer\n"
    )
    assert "; another commit is checked out; still indexing" in staleness_note(
        replace(view, behind=FreshnessReport(False, (), True))
    )
    assert staleness_note(LiveView(sample, 3)) == "" == staleness_note(LiveView(None, stage=Stage()))
    jsonschema.validate(structured_content(Reply("not yet"), LiveView(None, stage=Stage()), "x"), dict(OUTPUT_SCHEMA))


@pytest.mark.parametrize("name", list(ALL))
def test_descriptions_are_short(name: str) -> None:
    assert 40 <= len(ALL[name].description) <= 240 and len(ALL[name].title) <= 40
    jsonschema.Draft202012Validator.check_schema(ALL[name].schema())


def test_all_of_them_cost_an_agent_little() -> None:
    listed = [{"name": n, "description": t.description, "inputSchema": t.schema()} for n, t in ALL.items()]
    assert count_tokens(json.dumps(listed)) < 2600


def test_the_output_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(dict(OUTPUT_SCHEMA))
