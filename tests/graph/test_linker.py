"""Calls of which nothing is known but the name are kept by that name."""

from pathlib import Path

from tests.cli.commands import write_all
from tests.pipeline.sample import in_memory

SOURCE = """\
import json
from other import known


class Shop:
    def run(self, order, callback):
        order.ship()
        order.ship()
        callback()
        order.handler()()
        known()
        json.dumps(order)
        len(order)
        self.close()

    def close(self):
        pass
"""


def test_unknown_receivers_variables_and_computed_values(tmp_path: Path) -> None:
    graph = in_memory(write_all(tmp_path / "a", {"a.py": SOURCE, "other.py": "def known():\n    pass\n"})).index.graph
    unresolved = graph.unresolved
    rows = [
        (graph.nodes.ids[source], unresolved.texts[name], n, row + 1)
        for source, name, n, row in zip(
            unresolved.sources.tolist(), unresolved.names.tolist(), unresolved.counts.tolist(),
            unresolved.rows.tolist(), strict=True,
        )
    ]  # fmt: skip
    # `known`, `json.dumps`, `len` and `self.close` are known, each in its way.
    assert rows == [
        ("a.py::Shop.run", "?", 1, 10),
        ("a.py::Shop.run", "callback", 1, 9),
        ("a.py::Shop.run", "handler", 1, 10),
        ("a.py::Shop.run", "ship", 2, 7),
    ]
