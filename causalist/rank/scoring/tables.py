"""Signals by name: one array each, times a weight, and their sum.

An answer needs the sum of some twenty signals and a few single values of them. Neither needs an array for each signal
times its weight, nor, of signals of files, arrays with a place for every node: most nodes are no files.
"""

from collections.abc import Iterator, Mapping, Set

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]  # (n_nodes,), indexed by NodeIndex


class Table(Mapping[str, Scores]):
    """A mapping from names to arrays of shape (n_nodes,), which are made when they are asked for.

    `values` are of all nodes or, with `nodes` (ascending), of these alone: then they have shape (len(nodes),), and
    other nodes have 0. `weights`: factors by name, 0 where there is none; without them all are 1."""

    def __init__(
        self,
        values: Mapping[str, Scores],
        n_nodes: int,
        nodes: NDArray[np.int64] | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        self._values = values
        self._n_nodes = n_nodes
        self._nodes = nodes
        self._weights = weights
        self._sum: Scores | None = None
        self._before: Table | None = None  # what the last signal was added to, if one was

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, name: str) -> Scores:
        values = self._values[name]
        return self._spread(values if self._weights is None else values * self._weights.get(name, 0.0))

    def at(self, node: int) -> Iterator[tuple[str, float]]:
        """(name, value) of one node; nothing of a node that has no place."""
        place = node
        if self._nodes is not None:
            place = int(np.searchsorted(self._nodes, node))
            if place == len(self._nodes) or self._nodes[place] != node:
                return
        for name, values in self._values.items():
            yield name, float(values[place] * (1.0 if self._weights is None else self._weights.get(name, 0.0)))

    def weighed(self, weights: Mapping[str, float]) -> "Table":
        """The same signals with these weights in the place of theirs."""
        return Table(self._values, self._n_nodes, self._nodes, weights)

    def with_more(self, signals: "Table") -> "Table":
        """These signals without weights, and others of the same nodes."""
        return Table({**self._values, **signals._values}, self._n_nodes, self._nodes)

    def without(self, names: Set[str]) -> "Table":
        """The same signals but for some. Where these were added by `with_one`, the others are not summed again."""
        if names.isdisjoint(self._values):
            return self
        if self._before is not None:
            *_, last = self._values
            fewer = self._before.without(names)
            return fewer if last in names else fewer.with_one(last, self._values[last], (self._weights or {})[last])
        values = {name: values for name, values in self._values.items() if name not in names}
        return Table(values, self._n_nodes, self._nodes, self._weights)

    def with_one(self, name: str, values: Scores, weight: float = 1.0) -> "Table":
        """These signals and a last one of all nodes."""
        result = Table({**self._values, name: values}, self._n_nodes, None, {**(self._weights or {}), name: weight})
        result._sum = self._added_up() + values * weight if weight else self._added_up()
        result._before = self
        return result

    def summed(self, factors: Scores) -> Scores:
        """The sum of all signals times `factors`, both of shape (n_nodes,)."""
        total = self._added_up()
        return self._spread(total * (factors if self._nodes is None else factors[self._nodes]))

    def _added_up(self) -> Scores:
        """In their order, each times its weight; what has none adds nothing."""
        if self._sum is None:
            total = np.zeros(self._n_nodes if self._nodes is None else len(self._nodes))
            part = np.empty_like(total)
            for name, values in self._values.items():
                weight = 1.0 if self._weights is None else self._weights.get(name, 0.0)
                if weight:
                    total += np.multiply(values, weight, out=part)
            self._sum = total
        return self._sum

    def _spread(self, values: Scores) -> Scores:
        if self._nodes is None:
            return values
        result = np.zeros(self._n_nodes)
        result[self._nodes] = values
        return result
