"""Calls of which nothing is known but the name are kept by that name; released linkers are freed."""

import gc
from pathlib import Path

import pytest

from causalist.graph.linker import Linker
from causalist.graph.program import Program
from causalist.parse import load_settings, parse_file
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


@pytest.mark.slow
def test_the_last_use_of_a_released_linker_frees_its_program() -> None:
    files = [
        ("a.py", parse_file("a.py", SOURCE.encode())),
        ("other.py", parse_file("other.py", b"def known(): pass\n")),
    ]
    linker = Linker.from_files(files, load_settings())
    linker.add_bases()
    linker.link(0)
    linker.release_tables()
    number = id(linker.program)
    gc.collect()
    gc.disable()  # what is freed from here on is freed without a search for circles of references
    try:
        del linker
        assert not any(isinstance(each, Program) and id(each) == number for each in gc.get_objects())
    finally:
        gc.enable()


TABLE = """class Table {
public:
    int* begin() { return data; }
    const int* begin() const { return data; }
};
"""
USES = """#include "table.h"
namespace {
const Table primes;
Table counts;
}
int first() { return *primes.begin(); }
int second() { return *counts.begin(); }
"""


@pytest.mark.slow
def test_a_constant_variable_calls_the_constant_one_of_two_methods(tmp_path: Path) -> None:
    graph = in_memory(write_all(tmp_path / "a", {"table.h": TABLE, "main.cc": USES})).index.graph
    edges, ids = graph.edges, graph.nodes.ids
    calls = {
        ids[source].partition("::")[2]: ids[target].partition("::")[2]
        for source, target, n in zip(
            edges.sources.tolist(), edges.targets.tolist(), edges.candidates.tolist(), strict=True
        )
        if ids[source] in ("main.cc::first", "main.cc::second") and n == 1 and ".begin" in ids[target]
    }
    assert calls == {"first": "Table.begin~2", "second": "Table.begin"}
