"""The graph with what runs saw, and the commands that use it."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from causalist import Repository
from causalist.model.graph import CodeGraph
from causalist.observe import unseen_confidence
from causalist.servers.text_answers import symbol_text
from tests.cli.commands import invoke, write_all
from tests.observe.programs import ORDERS, PLUGINS, SHOP

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_all(tmp_path_factory.mktemp("shop"), SHOP)
    assert invoke("observe", "--repo", str(root), "--", sys.executable, str(root / "main.py")).code == 0
    return root


def test_the_formula_of_unseen_calls() -> None:
    """With Beta(1, 1), n runs without a call that there is have the probability 1 / (n + 1)."""
    for n in (0, 1, 4, 99):
        likelihood = 1 / (n + 1)
        assert unseen_confidence(0.8, n, 1.0, 1.0, 0.0) == pytest.approx(0.8 * likelihood / (0.8 * likelihood + 0.2))
    # Beta(1/2, 1/2) and one run: E[1 - t] = 1/2. Two runs: E[(1 - t)^2] = 3/8.
    assert unseen_confidence(0.5, 1, 0.5, 0.5, 0.0) == pytest.approx(0.5 / 1.5)
    assert unseen_confidence(0.5, 2, 0.5, 0.5, 0.0) == pytest.approx(0.375 / 1.375)
    # However often it was not seen, it may be one that nothing reaches: with 1/10, as sure as 9 to 1 becomes 9 to 10.
    assert unseen_confidence(0.9, 10**12, 1.0, 1.0, 0.1) == pytest.approx(0.9 * 0.1 / (0.9 * 0.1 + 0.1))
    assert unseen_confidence(1.0, 10**9) == 1.0 and 0.0 <= unseen_confidence(0.0, 5) == 0.0


def test_the_arrays_of_the_graph_are_in_order(shop: Path) -> None:
    repository = Repository.open(shop, exact_root=True)
    graph, before = repository.graph, repository.index.graph
    assert isinstance(graph, CodeGraph) and graph is repository.graph and len(graph.edges) > len(before.edges)
    edges = graph.edges
    triples = list(zip(edges.sources.tolist(), edges.targets.tolist(), edges.kinds.tolist(), strict=True))
    assert triples == sorted(set(triples))
    assert edges.indptr.tolist() == np.searchsorted(edges.sources, np.arange(len(graph.nodes) + 1)).tolist()
    for node in range(len(graph.nodes)):
        assert all(edges.sources[e] == node for e in graph.outgoing(node))
        assert list(graph.incoming(node)) == [e for e in range(len(edges)) if edges.targets[e] == node]
    old = {before.edge(e)[:4] for e in range(len(before.edges))}
    assert old <= {graph.edge(e)[:4] for e in range(len(edges))}


def test_calls_are_confirmed_added_and_lowered(shop: Path) -> None:
    repository = Repository.open(shop, exact_root=True)
    edges = {(e.source, e.target, e.kind): e for e in map(repository.graph.edge, range(len(repository.graph.edges)))}
    dynamic = edges[f"{ORDERS}run_plugin", f"{PLUGINS}gift", "calls"]
    assert (dynamic.rule, dynamic.confidence, dynamic.line) == ("observed", 1.0, 38)
    assert SHOP["shop/orders.py"].splitlines()[37] == "    return getattr(plugins, name)(order)"
    confirmed = edges["main.py::main", f"{ORDERS}fall", "calls"]
    assert (confirmed.rule, confirmed.confidence) == ("import", 1.0)
    assert confirmed.observed is not None and confirmed.observed[:3] == (1, 0, 1)
    made = edges["main.py::main", f"{ORDERS}Item", "calls"]  # by its constructor
    assert made.confidence == 1.0 and made.observed is not None and made.observed.n == 2
    by_base = edges[f"{ORDERS}check", f"{ORDERS}Item.price", "calls"]
    assert (by_base.confidence, by_base.observed is not None and by_base.observed.n) == (1.0, 2)
    rare = edges[f"{ORDERS}total", f"{PLUGINS}coupon", "calls"]
    plain = Repository.open(shop, exact_root=True).index.graph
    before = next(
        e.confidence for e in map(plain.edge, range(len(plain.edges))) if e[:3] == (rare.source, rare.target, "calls")
    )
    assert rare.confidence == pytest.approx(unseen_confidence(before, 1)) and rare.confidence < before
    assert rare.observed is not None and rare.observed[:3] == (0, 0, 1)
    # What is decorated is not lowered: it runs below its wrapper.
    wrapped = edges[f"{ORDERS}total", f"{ORDERS}check", "calls"]
    assert wrapped.observed is None and wrapped.confidence > 0.9


def test_code_that_calls_back_into_a_test_does_not_depend_on_it(tmp_path: Path) -> None:
    files = {
        "app.py": "def run(function):\n    return function()\n\n\ndef helper():\n    return 1\n",
        "tests/test_app.py": "import sys\n\nsys.path.append('.')\nimport app\n\n\n"
        "def call():\n    return app.helper()\n\n\ndef test_run():\n    assert app.run(call) == 1\n\n\ntest_run()\n",
    }
    root = write_all(tmp_path, files)
    assert invoke("observe", "--", sys.executable, "tests/test_app.py", cwd=root).code == 0
    assert _edges(root, "callers", "call")[0]["source"] == "app.py::run"  # it was seen to
    users = json.loads(invoke("impact", "helper", "--json", cwd=root).stdout)["affected"]
    assert {each["node"] for each in users} == {
        "tests/test_app.py::call",
        "tests/test_app.py::test_run",
        "tests/test_app.py",
    }


def _edges(shop: Path, *arguments: str) -> list[dict[str, object]]:
    done = invoke(*arguments, "--json", "--repo", str(shop))
    return json.loads(done.stdout)["edges"]


def test_callers_and_callees(shop: Path) -> None:
    (edge,) = _edges(shop, "callers", "gift")
    seen = edge["observed"]
    assert isinstance(seen, dict) and (edge["source"], edge["confidence"]) == (f"{ORDERS}run_plugin", 1.0)
    assert list(seen) == ["n", "n_through", "n_runs", "time", "command"] and seen["n"] == 1
    assert _edges(shop, "callers", "gift", "--no-observed") == []
    assert re.search(r"seen 1x, \d+ (?:s|min) ago", invoke("callers", "gift", "--repo", str(shop)).stdout)
    text = symbol_text(Repository.open(shop, exact_root=True), "gift", 2_000).text
    assert re.search(r"run_plugin, line 38, 1, seen 1x, \d+ (?:s|min) ago", text)
    assert "unseen in 1 runs" in invoke("callees", "total", "--repo", str(shop)).stdout


def test_verify(shop: Path) -> None:
    done = invoke("verify", "run_plugin", "gift", "--repo", str(shop))
    assert done.code == 0 and done.stdout.startswith(f"yes: {ORDERS}run_plugin -> {PLUGINS}gift\n")
    assert "seen 1 time by `" in done.stdout and " ago\n" in done.stdout
    assert invoke("verify", "run_plugin", "gift", "--no-observed", "--repo", str(shop)).code == 1


def test_path_and_neighbors(shop: Path) -> None:
    done = invoke("path", "main.py::main", f"{PLUGINS}wrap", "--json", "--repo", str(shop))
    document = json.loads(done.stdout)
    assert document["forward"] is True and [hop["node"] for hop in document["hops"]] == [
        "main.py::main", f"{ORDERS}total", f"{ORDERS}run_plugin", f"{PLUGINS}gift", f"{PLUGINS}wrap"
    ]  # fmt: skip
    without = invoke("path", "main.py::main", f"{PLUGINS}wrap", "--no-observed", "--json", "--repo", str(shop))
    assert json.loads(without.stdout)["forward"] is not True
    assert f"{ORDERS}run_plugin" in invoke("neighbors", "gift", "--direction", "in", "--repo", str(shop)).stdout


def test_impact(shop: Path) -> None:
    def affected(*more: str) -> set[str]:
        return {each["node"] for each in json.loads(
            invoke("impact", "wrap", "--json", "--repo", str(shop), *more).stdout)["affected"]}  # fmt: skip

    assert {f"{PLUGINS}gift", f"{ORDERS}run_plugin", f"{ORDERS}total", "main.py::main"} <= affected()
    assert f"{ORDERS}run_plugin" not in affected("--no-observed")
    assert re.search(r"seen 1x, \d+ (?:s|min) ago", invoke("impact", "wrap", "--repo", str(shop)).stdout)


def test_stale_calls_are_named_and_not_used(shop: Path) -> None:
    write_all(shop, {"shop/plugins.py": SHOP["shop/plugins.py"].replace("return wrap(order)", "return wrap( order )")})
    try:
        done = invoke("verify", "run_plugin", "gift", "--repo", str(shop))
        assert done.code == 1
        assert f"note: stale, one of the two changed since: {ORDERS}run_plugin -> {PLUGINS}gift, seen 1" in done.stderr
        stale = f"{ORDERS}run_plugin -> {PLUGINS}gift, seen 1 time by `"
        for arguments in (("callers", "gift"), ("callees", "run_plugin"), ("impact", "gift"), ("tests", "gift"),
                          ("path", "run_plugin", "gift")):  # fmt: skip
            assert stale in invoke(*arguments, "--repo", str(shop)).stderr, arguments
        repository = Repository.open(shop, exact_root=True)
        assert "note: 2 observed calls of it changed since" in symbol_text(repository, "gift", 2_000).text
    finally:
        write_all(shop, {"shop/plugins.py": SHOP["shop/plugins.py"]})


def test_questions_do_not_use_it(shop: Path, tmp_path: Path) -> None:
    other = write_all(tmp_path / shop.name, SHOP)
    documents = [
        json.loads(invoke("ask", "how does a plugin run", "--json", "--repo", str(root)).stdout)
        for root in (shop, other)
    ]
    for document in documents:
        document.pop("timings_ms"), document["repository"].pop("root", None)
    assert documents[0]["results"] == documents[1]["results"] and documents[0]["edges"] == documents[1]["edges"]
    assert documents[0]["pack"] == documents[1]["pack"]


def test_the_command_gives_its_exit_code_and_its_output(shop: Path) -> None:
    done = invoke("observe", "--repo", str(shop), "--", sys.executable, "-c", "raise SystemExit(7)")
    assert (done.code, done.stdout) == (7, "")
    assert "cannot run 'no-such-program'" in invoke("observe", "--repo", str(shop), "--", "no-such-program").failed(
        "usage"
    )
    assert invoke("observe", "--repo", str(shop)).code == 2
    assert invoke("observe", "--status", "--repo", str(shop), "--", "ls").code == 2
    document = json.loads(invoke("observe", "--status", "--json", "--repo", str(shop)).stdout)
    assert document["n_stale"] == 0 and document["n_direct"] == 15 and document["n_added"] >= 1
