"""A walk over shards equals the walk over one graph, wherever the graph is cut."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("pyarrow")

import pyarrow as arrow

from causalist.errors import UsageError
from causalist.fleet.joined import COLUMNS, CrossEdges, GraphPart, join_graphs, joined_id, split_joined
from causalist.fleet.walk import ShardColumns, walk_across
from causalist.model.graph import CodeGraph, EdgeKind
from causalist.rank import WalkWeights, build_transition
from causalist.rank.pagerank import personalized_pagerank
from tests.graphs import EdgeSpec, make_graph
from tests.trials import count_of

pytestmark = pytest.mark.slow

WALKED = [EdgeKind.CALLS, EdgeKind.IMPORTS, EdgeKind.EXTENDS, EdgeKind.CO_CHANGES, EdgeKind.REFERENCES]


def shard(graph: CodeGraph) -> Any:
    return SimpleNamespace(graph=graph, transition=build_transition(graph, WalkWeights()))


def edge_table(rows: list[tuple]) -> Any:
    columns = zip(*rows, strict=True) if rows else [[] for _ in COLUMNS]
    types = [arrow.string()] * 6 + [arrow.float64(), arrow.int32(), arrow.int32()]
    return arrow.table(
        {name: arrow.array(list(values), kind) for name, values, kind in zip(COLUMNS, columns, types, strict=True)}
    )


@st.composite
def cut_graphs(draw: st.DrawFn) -> tuple[dict[str, Any], CrossEdges]:
    """Shards and the edges between them, of a random graph whose files are dealt out at random."""
    n_shards = draw(st.integers(1, 4))
    names = [f"org/r{i}" for i in range(n_shards)]
    files = [(draw(st.sampled_from(names)), f"f{i}.py") for i in range(draw(st.integers(1, 6)))]
    nodes = files + [(name, f"{file}::s{i}") for i in range(draw(st.integers(0, 8)))
                     for name, file in [draw(st.sampled_from(files))]]  # fmt: skip
    inside: dict[str, dict[tuple, EdgeSpec]] = {name: {} for name in names}
    across: dict[tuple, tuple] = {}
    for _ in range(draw(st.integers(0, 40))):
        (repo, source), (other, target) = draw(st.sampled_from(nodes)), draw(st.sampled_from(nodes))
        kind = draw(st.sampled_from(WALKED))
        confidence = draw(st.sampled_from([1.0, 0.9, 0.5, 0.1]))
        if repo == other:
            n = draw(st.integers(1, 3))
            spec = EdgeSpec(source, target, kind, confidence / n, n)
            inside[repo].setdefault((source, target, kind), spec)
        else:
            row = (repo, source, other, target, kind.label, "package", confidence, 3, 1)
            across.setdefault((repo, source, other, target, kind), row)
    shards = {
        name: shard(make_graph([node for repo, node in nodes if repo == name], inside[name].values()))
        for name in names
        if any(repo == name for repo, _ in nodes)
    }
    return shards, CrossEdges(edge_table(sorted(across.values())), list(shards))


def seeds_of(draw_from: np.random.Generator, shards: Mapping[str, Any]) -> dict[str, np.ndarray]:
    found = {name: draw_from.integers(0, 3, len(each.graph.nodes)).astype(float) for name, each in shards.items()}
    first = min(found)
    found[first][0] += 1.0
    return found


@settings(max_examples=count_of(60, 300), deadline=None)
@given(cut_graphs(), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.5, 0.85, 0.95]))
def test_is_the_walk_of_one_graph(case: tuple[dict[str, Any], CrossEdges], number: int, damping: float) -> None:
    shards, across = case
    seeds = seeds_of(np.random.default_rng(number), shards)
    columns = {name: ShardColumns.of(name, index, across) for name, index in shards.items()}
    found = walk_across(seeds, columns.get, damping=damping, epsilon=1e-10)
    joined = join_graphs([GraphPart(name, index) for name, index in shards.items()], across.between(list(shards)))
    start = np.zeros(len(joined.graph.nodes))
    for part, places in zip(joined.parts, joined.places, strict=True):
        start[places] = seeds[part.name]
    exact = personalized_pagerank(joined.transition, start / start.sum(), damping=damping, tolerance=1e-13).scores
    distance = sum(
        np.abs(found.scores[part.name] - exact[places]).sum()
        for part, places in zip(joined.parts, joined.places, strict=True)
    )
    assert distance <= 1e-5
    assert distance <= found.bound + 1e-9
    assert abs(sum(each.sum() for each in found.scores.values()) - 1.0) < 1e-9 and not found.unopened


@settings(max_examples=count_of(40, 200), deadline=None)
@given(cut_graphs())
def test_a_joined_graph_has_the_nodes_and_edges_of_its_parts(case: tuple[dict[str, Any], CrossEdges]) -> None:
    shards, across = case
    rows = across.between(list(shards))
    joined = join_graphs([GraphPart(name, index) for name, index in shards.items()], rows)
    ids = list(joined.graph.nodes.ids)
    assert ids == sorted(ids)
    wanted = {(joined_id(e.source_repo, e.source_node), joined_id(e.target_repo, e.target_node), e.kind) for e in rows}
    for name, index in shards.items():
        own = [index.graph.edge(i) for i in range(len(index.graph.edges))]
        wanted |= {(joined_id(name, e.source), joined_id(name, e.target), e.kind) for e in own}
    found = [joined.graph.edge(i) for i in range(len(joined.graph.edges))]
    assert {(e.source, e.target, e.kind) for e in found} == wanted
    assert len(found) == len(wanted)


def two_shards() -> tuple[dict[str, Any], CrossEdges]:
    """app/a.py::f calls lib/b.py::g, half sure."""
    shards = {"app": shard(make_graph(["a.py", "a.py::f"])), "lib": shard(make_graph(["b.py", "b.py::g"]))}
    rows = [("app", "a.py::f", "lib", "b.py::g", "calls", "package", 0.5, 3, 1)]
    return shards, CrossEdges(edge_table(rows), list(shards))


def test_half_a_link_carries_half() -> None:
    # f has one link, of weight 1 and confidence 1/2; g has one back, of weight 1/5 and confidence 1/2, D = 1/5. With
    # damping 1/2, x_f = 1 + x_g / 4 and x_g = x_f / 4, so that x = (16, 4) / 15 and r = (4/5, 1/5).
    shards, across = two_shards()
    columns = {name: ShardColumns.of(name, index, across) for name, index in shards.items()}
    found = walk_across({"app": np.array([0.0, 1.0])}, columns.get, damping=0.5, epsilon=1e-12)
    assert found.scores["app"].tolist() == pytest.approx([0.0, 0.8])
    assert found.scores["lib"].tolist() == pytest.approx([0.0, 0.2])


def test_two_rules_for_one_edge_are_one_edge() -> None:
    shards, _ = two_shards()
    row = ("app", "a.py::f", "lib", "b.py::g", "calls")
    across = CrossEdges(edge_table([(*row, "import", 0.25, 2, 1), (*row, "package", 0.5, 3, 1)]), list(shards))
    assert [(edge.rule, edge.confidence) for edge in across.between(["app", "lib"])] == [("package", 0.5)]
    columns = {name: ShardColumns.of(name, index, across) for name, index in shards.items()}
    found = walk_across({"app": np.array([0.0, 1.0])}, columns.get, damping=0.5, epsilon=1e-12)
    assert found.scores["lib"].tolist() == pytest.approx([0.0, 0.2])  # as with the second alone


def test_what_may_not_be_opened_keeps_its_mass() -> None:
    shards, across = two_shards()
    columns = {name: ShardColumns.of(name, index, across) for name, index in shards.items()}
    found = walk_across({"app": np.array([0.0, 1.0])}, columns.get, damping=0.5, epsilon=1e-12, max_shards=1)
    assert list(found.scores) == ["app"]
    assert found.unopened == {"lib": {"b.py::g": pytest.approx(0.2)}}  # 1 stays, 1/4 left: of 5/4
    assert found.bound > 0.1


def test_who_may_not_see_a_repository_walks_as_if_it_were_not_there() -> None:
    shards, _ = two_shards()
    rows = [("app", "a.py::f", "lib", "b.py::g", "calls", "package", 0.5, 3, 1)]
    across = CrossEdges(edge_table(rows), ["app"])
    columns = ShardColumns.of("app", shards["app"], across)
    assert columns.others == () and len(across) == 0


@pytest.mark.parametrize("epsilon", [0.0, 2.0])
def test_refuses_thresholds_out_of_range(epsilon: float) -> None:
    shards, across = two_shards()
    columns = ShardColumns.of("app", shards["app"], across)
    with pytest.raises(UsageError):
        walk_across({"app": np.ones(2)}, lambda _: columns, damping=0.5, epsilon=epsilon)


def test_ids_go_both_ways() -> None:
    for repository in ("a", "a/b"):
        for node in ("x.py", "x.py::C.m", "README.md#use", "external:os", "a%3A%3Ab.py::f"):
            assert split_joined(joined_id(repository, node)) == (repository, node)
