"""The graph as a whole: nodes, ids, arrays; facts and paths alone decide, however many processes link."""

import os
import random
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causalist._internal.forked_task import CAN_FORK, ForkedTask
from causalist.graph import LinkedPart, Linker, LinkError, ParallelPlan, build_graph, load_confidences
from causalist.graph.build import _split_by_cost
from causalist.graph.rules import GUESSES, RULE_NAMES
from causalist.model.facts import FileFacts
from causalist.model.graph import CodeGraph, EdgeKind, LinkedGraph
from causalist.model.node_ids import NodeKind, external_id
from causalist.parse import dialect_of, load_grammar, load_settings, parse_file, parse_source, parse_text
from tests.indexes import differences
from tests.trials import count_of

_SAMPLE = Path(__file__).resolve().parents[2] / "sample_repos" / "taskboard-api"


def facts_of(path: str, data: bytes) -> FileFacts:
    dialect = dialect_of(path)
    return parse_source(data, load_grammar(dialect)) if dialect else parse_text(path, data)


def link(files: dict[str, str]) -> LinkedGraph:
    return build_graph([(path, facts_of(path, text.encode())) for path, text in sorted(files.items())], load_settings())


@pytest.fixture(scope="module")
def sample() -> list[tuple[str, FileFacts]]:
    paths = sorted(p for p in _SAMPLE.rglob("*") if p.is_file())
    return [(p.relative_to(_SAMPLE).as_posix(), facts_of(p.name, p.read_bytes())) for p in paths]


def arrays(graph: CodeGraph) -> list[np.ndarray]:
    nodes, edges = graph.nodes, graph.edges
    tables = [nodes.ids, nodes.signatures, nodes.docs]
    found = [a for t in tables for a in (t.blob, t.offsets)]
    for table in (nodes, edges):
        found += [v for n in table.__slots__ if isinstance(v := getattr(table, n), np.ndarray)]
    return found


def assert_equal(a: CodeGraph, b: CodeGraph) -> None:
    assert all(np.array_equal(x, y) and x.dtype == y.dtype for x, y in zip(arrays(a), arrays(b), strict=True))
    assert a.rule_names == b.rule_names


def assert_invariants(linked: LinkedGraph, n_files: int) -> None:
    """What model/graph.py promises of every graph."""
    graph = linked.graph
    nodes, edges, n = graph.nodes, graph.edges, len(graph.nodes)
    ids = list(nodes.ids)
    assert ids == sorted(set(ids))
    rows = list(zip(edges.sources.tolist(), edges.targets.tolist(), edges.kinds.tolist(), strict=True))
    assert rows == sorted(set(rows))
    for pointers, column in ((edges.indptr, edges.sources), (edges.incoming_indptr, edges.targets[edges.incoming])):
        assert len(pointers) == n + 1 and pointers[0] == 0 and pointers[-1] == len(edges)
        assert all((column[pointers[i] : pointers[i + 1]] == i).all() for i in range(n))
    assert sorted(edges.incoming.tolist()) == list(range(len(edges)))
    incoming = [(rows[e][1], rows[e][0], rows[e][2]) for e in edges.incoming.tolist()]
    assert incoming == sorted(incoming)
    assert ((edges.confidences > 0) & (edges.confidences <= 1)).all() and (edges.counts >= 1).all()
    assert (edges.candidates >= 1).all() and (edges.rows >= -1).all()
    for number in range(len(edges)):
        file = int(nodes.files[edges.sources[number]])
        settings = load_settings().get(dialect_of(nodes.ids[file])) if file >= 0 else None
        rule, kind = RULE_NAMES[edges.rules[number]], EdgeKind(edges.kinds[number])
        language = settings.name if settings else ""
        shared = load_confidences().confidence_of(rule, kind, language) / edges.candidates[number]
        is_limited = rule in GUESSES and load_confidences().max_confidence(rule, language) < 1
        assert edges.confidences[number] == (min(shared, 0.49) if is_limited else shared)
    is_file = nodes.kinds == NodeKind.FILE
    is_external = nodes.kinds == NodeKind.EXTERNAL
    assert is_file.sum() == n_files == len(linked.file_nodes) == len(linked.document_nodes)
    assert (nodes.files[is_file] == np.flatnonzero(is_file)).all() and (nodes.files[is_external] == -1).all()
    assert ((nodes.parents == -1) == (is_file | is_external)).all()
    contained = edges.targets[edges.kinds == EdgeKind.CONTAINS]
    assert sorted(contained.tolist()) == np.flatnonzero(~(is_file | is_external)).tolist()
    inside = edges.sources[edges.kinds == EdgeKind.CONTAINS]
    assert np.array_equal(nodes.parents[contained], inside)
    assert set(edges.kinds[is_external[edges.sources]].tolist()) <= {EdgeKind.ROUTES}


@pytest.mark.slow
def test_the_sample_repository(sample: list[tuple[str, FileFacts]]) -> None:
    linked = build_graph(sample, load_settings())
    assert_invariants(linked, len(sample))
    assert linked.graph.rule_names == RULE_NAMES
    for (path, facts), node, documents in zip(sample, linked.file_nodes, linked.document_nodes, strict=True):
        assert linked.graph.nodes.ids[int(node)] == path
        for i, document in enumerate(documents.tolist()):
            assert linked.graph.nodes.files[document] == node
            start = (facts.definitions or facts.passages)[i].start_byte
            assert linked.graph.nodes.start_bytes[document] == start


def test_the_order_of_files_does_not_matter(sample: list[tuple[str, FileFacts]]) -> None:
    linked = build_graph(sample, load_settings())
    assert_equal(linked.graph, build_graph(sample, load_settings()).graph)
    shuffled = list(sample)
    random.Random(3).shuffle(shuffled)
    other = build_graph(shuffled, load_settings())
    assert_equal(linked.graph, other.graph)
    for (path, _), node, documents in zip(shuffled, other.file_nodes, other.document_nodes, strict=True):
        at = [p for p, _ in sample].index(path)
        assert node == linked.file_nodes[at] and np.array_equal(documents, linked.document_nodes[at])


def test_odd_paths_are_escaped_in_ids() -> None:
    graph = link({"a#b/50%::c.py": "def f(): g()\ndef g(): ...\n", "d#.md": "# A #1\n"}).graph
    assert list(graph.nodes.ids) == [
        "a%23b/50%25%3A%3Ac.py",
        "a%23b/50%25%3A%3Ac.py::f",
        "a%23b/50%25%3A%3Ac.py::g",
        "d%23.md",
        "d%23.md#a-1",
    ]


def test_sites_are_counted_and_the_strongest_rule_counts() -> None:
    graph = link({"a.py": "class A:\n  def m(self): ...\ndef f(x, y: A):\n  x.m()\n  y.m()\n\n  y.m()\n"}).graph
    (call,) = [e for i in range(len(graph.edges)) if (e := graph.edge(i)).kind == "calls"]
    assert (call.source, call.target, call.rule, call.n, call.line) == ("a.py::f", "a.py::A.m", "annotation", 3, 4)


def test_nothing_to_link() -> None:
    empty = build_graph([], load_settings())
    assert (len(empty.graph.nodes), len(empty.graph.edges), len(empty.file_nodes)) == (0, 0, 0)
    assert_invariants(link({"a.txt": "words", "b.py": ""}), 2)


_LINES = [
    "import a", "from a import f", "from .b import *", "from . import c", "import pkg.b as b", "class A(B): x: A = 1",
    "class B(A):\n    def m(self): return self.m() or super().m()", "def f(x: A): x.m(); f(); b.g()", "y = A()",
    "def g():\n    y.m()\n    def f(): g()\n    return f", "__all__ = ['f', 'A']", "z = y.n.m()", "def A(): return B",
]  # fmt: skip
_SCRIPT_LINES = [
    'import a, { f as g } from "./a"', 'export * from "./b"', 'export { f as default } from "./a"', "const y = new A()",
    "export class A extends B { m(): A { return this.m() } get p(): B { return this.p.m() } }", "exports.f = f",
    "export class B extends A { constructor(private a: A) { super() } n() { this.a.m() } }",
    "module.exports = { f, A }", "function f(x: A) { x.p.m(); f(); y.m() }", 'const b = require("./b").f',
    "const o = { f() { this.f() } }",
    "b.f()",
]  # fmt: skip


@settings(max_examples=count_of(40, 150), deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["a.py", "pkg/__init__.py", "pkg/a.py", "pkg/b.py", "src/c.py"]),
        st.lists(st.sampled_from(_LINES), max_size=6).map("\n".join),
        max_size=4,
    ),
    st.dictionaries(
        st.sampled_from(["a.ts", "b.js", "b/index.ts", "c.tsx"]),
        st.lists(st.sampled_from(_SCRIPT_LINES), max_size=6).map("\n".join),
        max_size=4,
    ),
    st.randoms(use_true_random=False),
)
@pytest.mark.slow
def test_any_program_gives_a_sound_graph(python: dict[str, str], script: dict[str, str], chance: random.Random) -> None:
    files = [(path, facts_of(path, text.encode())) for path, text in {**python, **script}.items()]
    linked = build_graph(files, load_settings())
    assert_invariants(linked, len(files))
    chance.shuffle(files)
    assert_equal(linked.graph, build_graph(files, load_settings()).graph)


FILES = {
    "app/a.py": "import os\nfrom app.b import Base\n"
    "class A(Base):\n  def go(self, x):\n    self.run(); os.chdir(); x.lost()\n",
    "app/b.py": "import json\nclass Base:\n  def run(self, x):\n    json.dumps(1); x.gone()\n",
    "app/c.py": "import os, json, re\nfrom app.a import A\ndef main():\n  A().run(); re.compile('x'); os.getcwd()\n",
    "app/d.py": "from app.c import main\nmain()\n",
    "tests/test_a.py": "from app.a import A\ndef test_run():\n  A().run()\n",
    "web/controllers/users.ts": "import x from 'express'\nexport class UsersController { list() { x() } }\n",
}


def beside(work: Callable[[], LinkedPart]) -> Callable[[], LinkedPart]:
    return ForkedTask(LinkedPart, work).result


def later(work: Callable[[], LinkedPart]) -> Callable[[], LinkedPart]:
    return work


@pytest.fixture(name="files")
def parsed_files() -> list[tuple[str, FileFacts]]:
    return [(path, parse_file(path, text.encode())) for path, text in sorted(FILES.items())]


@pytest.mark.parametrize("begin", [pytest.param(beside, marks=pytest.mark.skipif(not CAN_FORK, reason="fork")), later])
@pytest.mark.parametrize("n", [2, 3, 50])
def test_the_graph_is_the_same(
    files: list[tuple[str, FileFacts]], n: int, begin: Callable[[Callable[[], LinkedPart]], Callable[[], LinkedPart]]
) -> None:
    whole = build_graph(files, load_settings())
    spread = build_graph(files, load_settings(), spread=ParallelPlan(n, [1] * len(files), begin))
    assert differences(spread.graph, whole.graph) == []
    assert [nodes.tolist() for nodes in spread.document_nodes] == [nodes.tolist() for nodes in whole.document_nodes]
    externals = {external_id(name) for name in ("os", "json", "re", "express")}
    assert externals <= {spread.graph.edge(i).target for i in range(len(spread.graph.edges))}
    assert sorted(spread.graph.unresolved.texts) == ["gone", "lost"]


def test_what_goes_wrong_beside_is_told_in_order(
    files: list[tuple[str, FileFacts]], monkeypatch: pytest.MonkeyPatch
) -> None:
    link = Linker.link

    def fails(self: Linker, number: int) -> None:
        link(self, number)
        if number in (1, 2, 5):
            raise LinkError(f"of {number}")

    monkeypatch.setattr(Linker, "link", fails)
    whole = build_graph(files, load_settings())
    spread = build_graph(files, load_settings(), spread=ParallelPlan(3, [1] * len(files), later))
    assert whole.troubles == spread.troubles == ((1, "of 1"), (2, "of 2"), (5, "of 5"))
    assert differences(spread.graph, whole.graph) == []


@pytest.mark.skipif(not CAN_FORK, reason="fork")
def test_a_process_that_is_killed_is_not_missed(
    files: list[tuple[str, FileFacts]], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, own, link = build_graph(files, load_settings()), os.getpid(), Linker.link

    def killed(self: Linker, number: int) -> None:
        if os.getpid() != own:
            os.kill(os.getpid(), signal.SIGKILL)
        link(self, number)

    monkeypatch.setattr(Linker, "link", killed)
    spread = build_graph(files, load_settings(), spread=ParallelPlan(2, [1] * len(files), beside))
    assert differences(spread.graph, whole.graph) == []


@given(st.lists(st.integers(0, 50), max_size=40), st.integers(1, 9))
def test_ranges_hold_every_file_once(costs: list[int], n: int) -> None:
    ranges = _split_by_cost(ParallelPlan(n, costs, later))
    assert [number for each in ranges for number in each] == list(range(len(costs)))
    assert len(ranges) <= n and (not costs or all(map(len, ranges)))
    # No part costs more than its share and the file with which it goes over that.
    assert all(sum(costs[i] for i in each) <= sum(costs) / n + max(costs) for each in ranges if costs and any(costs))
