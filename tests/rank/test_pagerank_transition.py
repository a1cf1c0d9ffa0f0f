"""The matrix of a graph that differs from an earlier one in some edges and nodes: that of the graph by itself."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalist._internal import dataclass_arrays as spliced
from causalist.model.graph import CodeGraph, EdgeKind
from causalist.rank import PreviousTransition, WalkWeights, build_transition
from tests.graphs import EdgeSpec, make_graph, random_graphs

_WEIGHTS = (
    WalkWeights(),
    WalkWeights(((EdgeKind.CALLS, 1.0),), ()),
    WalkWeights(((EdgeKind.CONTAINS, 0.3), (EdgeKind.SIMILAR, 2.0)), ((EdgeKind.CONTAINS, 3.0),)),
)


def _edges(graph: CodeGraph) -> list[EdgeSpec]:
    ids, edges = list(graph.nodes.ids), graph.edges
    return [
        EdgeSpec(
            ids[edges.sources[i]],
            ids[edges.targets[i]],
            EdgeKind(int(edges.kinds[i])),
            float(edges.confidences[i]),
            int(edges.candidates[i]),
        )
        for i in range(len(edges))
    ]


@st.composite
def _states(draw: st.DrawFn) -> tuple[CodeGraph, CodeGraph]:
    """Two graphs that have some of the nodes and edges of a third one."""
    whole = draw(random_graphs(max_nodes=14, max_links=40))
    states = []
    for _ in range(2):
        edges = [edge for edge in _edges(whole) if draw(st.integers(0, 5))]
        used = {name for edge in edges for name in edge[:2]}
        nodes = [name for name in whole.nodes.ids if name in used or name.endswith(".py") or draw(st.booleans())]
        states.append(make_graph(nodes, edges))
    return states[0], states[1]


def _unchanged(before: CodeGraph, after: CodeGraph, weights: WalkWeights) -> PreviousTransition:
    then, now = set(_edges(before)), set(_edges(after))
    touched = {name for edge in then ^ now for name in edge[:2]}
    touched |= {name.split("::")[0] for name in set(before.nodes.ids) - set(after.nodes.ids)}
    is_other = [name in touched or before.nodes.ids.position(name) < 0 for name in after.nodes.ids]
    nodes = np.array([after.nodes.ids.position(name) for name in before.nodes.ids], dtype=np.int32)
    return PreviousTransition(build_transition(before, weights), nodes, np.array(is_other, dtype=np.bool_))


@pytest.mark.slow
@pytest.mark.parametrize("most_pieces", [10_000, 0])
@given(states=_states(), weights=st.sampled_from(_WEIGHTS))
def test_columns_that_are_as_they_were_may_be_taken_over(
    most_pieces: int, states: tuple[CodeGraph, CodeGraph], weights: WalkWeights
) -> None:
    before, after = states
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(spliced, "_MAX_PIECES", most_pieces)
        made = build_transition(after, weights, before=_unchanged(before, after, weights))
    whole = build_transition(after, weights)
    for field in fields(whole):
        one, other = getattr(made, field.name), getattr(whole, field.name)
        assert (one.dtype, one.tolist()) == (other.dtype, other.tolist()), field.name


def test_a_matrix_of_the_same_edges_is_the_one_of_before() -> None:
    graph = make_graph(["a.py", "a.py::f", "b.py"], [("a.py::f", "b.py")])
    before = build_transition(graph, WalkWeights())
    nodes, all_again = np.arange(3, dtype=np.int32), np.ones(3, dtype=np.bool_)
    again = build_transition(graph, WalkWeights(), before=PreviousTransition(before, nodes, all_again))
    assert again.indices is before.indices
    assert again.weights is before.weights
