"""The best of many scores against a sort of all of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from causalist._internal.dataclass_arrays import select_first, select_top, unique_sorted

# Many are the same, some only when they are rounded.
SCORES = st.lists(st.sampled_from([0.0, -1.0, 4e-13, 1e-12, 0.25, 0.25 + 3e-13, 0.25 - 3e-13, 40.0, 40.0 + 1e-12]))


def by_sorting(scores: np.ndarray, nodes: list[int]) -> list[int]:
    return sorted(nodes, key=lambda node: (-round(float(scores[node]), 12), node))


@given(SCORES, st.integers(0, 6))
def test_the_first_are_those_of_a_whole_sort(values: list[float], k: int) -> None:
    scores = np.array(values)
    nodes = [i for i in range(len(values)) if i % 5]
    assert select_first(scores, np.array(nodes, dtype=np.int64), k).tolist() == by_sorting(scores, nodes)[:k]


@given(SCORES, st.integers(0, 6))
def test_the_best_are_above_zero_when_they_are_rounded(values: list[float], k: int) -> None:
    scores = np.array(values)
    nodes = [i for i in range(len(scores)) if round(float(scores[i]), 12) > 0]
    assert select_top(scores, k) == by_sorting(scores, nodes)[:k]


@given(st.lists(st.integers(-3, 3)))
def test_each_once_in_order(values: list[int]) -> None:
    assert unique_sorted(np.array(values, dtype=np.int32)).tolist() == sorted(set(values))
