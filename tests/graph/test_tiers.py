"""How much rests on a node."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from causalist.graph.layers import fan_in, rank_tiers
from causalist.model.graph import EdgeKind
from causalist.model.symbols import NodeKind, Tier
from tests.graphs import make_graph


def labels(kinds: list[NodeKind], fan_ins: list[int]) -> list[str]:
    found = rank_tiers(np.array(kinds, dtype=np.uint8), np.array(fan_ins, dtype=np.int64))
    assert found.dtype == np.uint8
    return [Tier(tier).label for tier in found.tolist()]


def test_fan_in_counts_other_nodes_once_and_certain_uses_alone() -> None:
    ids = ["a.py", "a.py::f", "a.py::g", "a.py::h"]
    graph = make_graph(
        ids,
        [
            ("a.py", "a.py::f", EdgeKind.CONTAINS),
            ("a.py", "a.py::g", EdgeKind.CONTAINS),
            ("a.py", "a.py::h", EdgeKind.CONTAINS),
            ("a.py::g", "a.py::f", EdgeKind.CALLS),
            ("a.py::g", "a.py::f", EdgeKind.REFERENCES),  # the same node once more
            ("a.py::h", "a.py::f", EdgeKind.CALLS, 0.5),
            ("a.py::h", "a.py::g", EdgeKind.CALLS, 0.49),
            ("a.py::h", "a.py::h", EdgeKind.CALLS),
            ("a.py", "a.py::h", EdgeKind.MENTIONS),
            ("a.py", "a.py::g", EdgeKind.TESTS),
        ],
    )
    assert fan_in(graph.edges, 4).tolist() == [0, 2, 1, 0]


def test_ten_and_fifteen_per_cent_rounded_up_ties_by_node() -> None:
    # Of 20: the first 2 hot, 5 in all not leaf.
    fan_ins = [1, 9, 1, 7, 1, 1, 1] + [0] * 13
    expected = ["core", "hot", "core", "hot", "core", "leaf", "leaf"] + ["leaf"] * 13
    assert labels([NodeKind.FUNCTION] * 20, fan_ins) == expected
    # Of 21: 2.1 and 5.25 are rounded up to 3 and 6.
    expected = ["hot", "hot", "core", "hot", "core", "core", "leaf"] + ["leaf"] * 14
    assert labels([NodeKind.FUNCTION] * 21, [*fan_ins, 0]) == expected


def test_tiny_graphs() -> None:
    assert labels([], []) == []
    assert labels([NodeKind.CLASS], [0]) == ["leaf"]
    assert labels([NodeKind.CLASS], [1]) == ["hot"]
    assert labels([NodeKind.CLASS, NodeKind.METHOD], [1, 5]) == ["leaf", "hot"]


def test_files_are_ranked_among_files_and_the_rest_is_leaf() -> None:
    kinds = [NodeKind.FILE, NodeKind.FUNCTION, NodeKind.FILE, NodeKind.PASSAGE, NodeKind.EXTERNAL]
    assert labels(kinds, [1, 5, 2, 9, 99]) == ["leaf", "hot", "hot", "leaf", "leaf"]


@given(st.lists(st.integers(0, 5), max_size=60))
def test_nothing_of_a_lower_tier_is_used_more(fan_ins: list[int]) -> None:
    found = labels([NodeKind.FUNCTION] * len(fan_ins), fan_ins)
    by_tier = {tier: [n for n, each in zip(fan_ins, found, strict=True) if each == tier] for tier in set(found)}
    assert min(by_tier.get("hot", [9])) >= max(by_tier.get("core", [0]))
    assert min(by_tier.get("core", [9])) >= max(by_tier.get("leaf", [0])) or "core" not in by_tier
    assert len(by_tier.get("hot", [])) <= -(-len(fan_ins) // 10)
    assert len(by_tier.get("hot", [])) + len(by_tier.get("core", [])) <= -(-len(fan_ins) // 4)
