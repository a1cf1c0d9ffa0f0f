"""Functions inside of short functions: shown in their place, with their edges."""

from pathlib import Path

from causalist.model.answer import AskOptions
from causalist.model.graph import SubgraphEdge
from causalist.pipeline.pack_items import MAX_WHOLE_LINES, edges_with_inner
from causalist.pipeline.repository import Repository
from tests.graphs import EdgeSpec, NodeSpec, make_graph

HANDLERS = """\
class Handlers {
    private void processPositions(Context context, Position position) {
        chain.start(position, new Callback() {
            @Override
            public void processed(boolean filtered) {
                if (!filtered) {
                    processEvents(context, position);
                }
            }
        });
    }

    private void processEvents(Context context, Position position) {
        events.notify(position);
        queue.finish(context);
    }
}
"""


def test_a_callback_stands_inside_of_its_function(tmp_path: Path) -> None:
    (tmp_path / "Handlers.java").write_text(HANDLERS, encoding="utf-8")
    answer = Repository.open(tmp_path).ask("positions processed before events", AskOptions())
    assert answer.pack is not None
    shown = {item.node.rpartition("::")[2]: item for item in answer.pack.places}
    assert not any("Callback" in name for name in shown)
    assert shown["Handlers.processPositions"].shown == ((2, 11),)
    ranks = {hit.symbol: rank for rank, hit in enumerate(answer.results, start=1)}
    first = min(rank for symbol, rank in ranks.items() if symbol and symbol.startswith("Handlers.processPositions"))
    assert shown["Handlers.processPositions"].rank == first
    # The call is made by the callback.
    assert [(edge.source, edge.target) for edge in answer.pack.edges] == [
        ("Handlers.java::Handlers.processPositions", "Handlers.java::Handlers.processEvents")
    ]


def _edges(length: int) -> list[SubgraphEdge]:
    """Edges among `outer`, which has `length` lines and `inner` inside, and `end`; `inner` calls `end` at line 3."""
    nodes = [
        NodeSpec("a.py::outer", end_row=length - 1),
        NodeSpec("a.py::outer.inner", start_row=2, end_row=4),
        NodeSpec("a.py::end", start_row=100, end_row=109),
    ]
    graph = make_graph(
        ["a.py", *nodes],
        [
            EdgeSpec("a.py::outer", "a.py::outer.inner"),
            EdgeSpec("a.py::outer.inner", "a.py::outer"),
            EdgeSpec("a.py::outer.inner", "a.py::end", row=3),
        ],
    )
    return edges_with_inner(graph, [graph.nodes.ids.position(f"a.py::{name}") for name in ("end", "outer")])


def test_edges_from_the_inside_of_a_short_function_are_its_own() -> None:
    """Those between the function and its inside say nothing; a long function does not show all of its inside."""
    (edge,) = _edges(MAX_WHOLE_LINES)
    assert (edge.source, edge.target, edge.row) == (1, 0, 3)
    assert _edges(MAX_WHOLE_LINES + 1) == []
