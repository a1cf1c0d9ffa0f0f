"""Signals by name against plain arrays."""

import numpy as np
import pytest

from causalist.rank.scoring.signals import SignalTable

# Three nodes of five are files.
FILES = np.array([0, 2, 3])
TEXT, PATH = np.array([0.5, 0.0, 0.25]), np.array([1.0, 0.125, 0.0])


def test_of_some_nodes_the_others_have_nothing() -> None:
    table = SignalTable({"text": TEXT, "path": PATH}, 5, FILES)
    assert list(table) == ["text", "path"] and len(table) == 2
    assert table["text"].tolist() == [0.5, 0, 0, 0.25, 0]
    assert dict(table.values_at(2)) == {"text": 0.0, "path": 0.125}
    assert dict(table.values_at(1)) == dict(table.values_at(4)) == {}
    assert table.weighted_sum(np.array([2.0, 9, 9, 1, 9])).tolist() == [3.0, 0, 1.125, 0.25, 0]


def test_a_signal_counts_by_its_weight_and_without_one_not_at_all() -> None:
    table = SignalTable({"text": TEXT, "path": PATH}, 5, FILES).with_weights({"text": 3.0, "other": 1.0})
    assert table["text"].tolist() == [1.5, 0, 0, 0.75, 0]
    assert not table["path"].any()
    assert dict(table.values_at(0)) == {"text": 1.5, "path": 0.0}
    assert table.weighted_sum(np.ones(5)).tolist() == [1.5, 0, 0, 0.75, 0]


def test_more_signals_take_the_place_of_those_of_the_same_name() -> None:
    table = SignalTable({"text": TEXT}, 5, FILES).with_more(SignalTable({"path": PATH, "text": PATH}, 5, FILES))
    assert table["text"].tolist() == table["path"].tolist() == [1.0, 0, 0.125, 0, 0]


@pytest.mark.parametrize("summed_before", [False, True])
def test_one_more_counts_whole(summed_before: bool) -> None:
    table = SignalTable({"text": np.arange(5.0)}, 5, weights={"text": 0.5})
    if summed_before:
        table.weighted_sum(np.ones(5))
    more = table.with_one("graph", np.array([0.0, 1, 0, 0, 2]))
    assert more["graph"].tolist() == [0.0, 1, 0, 0, 2]
    assert more.weighted_sum(np.full(5, 2.0)).tolist() == [0.0, 3, 2, 3, 8]
    assert table.weighted_sum(np.ones(5)).tolist() == [0.0, 0.5, 1, 1.5, 2]
    assert dict(more.values_at(4)) == {"text": 2.0, "graph": 2.0}


def test_one_more_with_a_weight() -> None:
    more = (
        SignalTable({"text": np.arange(3.0)}, 3)
        .with_one("name", np.array([0.0, 2, 0]), 0.5)
        .with_one("size", TEXT[:3], 0)
    )
    assert more.weighted_sum(np.ones(3)).tolist() == [0.0, 2, 2]
    assert more["name"].tolist() == [0.0, 1, 0] and more["size"].tolist() == [0.0, 0, 0]


@pytest.mark.parametrize(
    ("names", "left"),
    [
        ({"c"}, {"a": 0.1, "b": 0.2, "d": 0.8}),
        ({"d"}, {"a": 0.1, "b": 0.2, "c": 0.6}),
        ({"a", "d"}, {"b": 0.2, "c": 0.6}),
        ({"a", "b", "c", "d"}, {}),
        ({"e"}, {"a": 0.1, "b": 0.2, "c": 0.6, "d": 0.8}),
    ],
)
def test_without_some(names: set[str], left: dict[str, float]) -> None:
    """The same to the last digit as without them from the beginning, whether they were there at first or added."""
    first = SignalTable({"a": np.full(2, 0.1), "b": np.full(2, 0.2)}, 2, weights={"a": 1.0, "b": 1.0})
    table = first.with_one("c", np.full(2, 0.3), 2.0).with_one("d", np.full(2, 0.4), 2.0).without(names)
    assert {name: values[0] for name, values in table.items()} == left
    assert table.weighted_sum(np.ones(2)).tolist() == [sum(left.values())] * 2


def test_sums_are_added_in_the_order_of_the_names() -> None:
    """As one would add the arrays, to the last digit: 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1."""
    parts = {name: np.full(5, value) for name, value in (("a", 0.1), ("b", 0.2), ("c", 0.3))}
    assert SignalTable(parts, 5).weighted_sum(np.ones(5))[0] == 0.1 + 0.2 + 0.3 != 0.3 + 0.2 + 0.1
