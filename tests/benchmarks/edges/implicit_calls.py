"""How many constructors whose class is called have callers, and how often a use of a class runs its special methods.

    python -m tests.benchmarks.edges.implicit_calls clones/werkzeug clones/gson [--traces DIR]

For each repository: constructors of which something calls the class (or one that inherits them), those for which no
call leads to the constructor itself, and those that look-ups leave without callers. With `--traces`, DIR holds
NAME.json for each: what `tracer.py` recorded while the tests of that repository ran. Of functions that ran, and that
look-ups give as users of a method without an edge to it, it counts those that did run it.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from causalist.model.graph import CodeGraph, EdgeKind
from causalist.navigate import calls_to
from causalist.navigate.implicit_calls import class_of_constructor, find_implicit_uses
from causalist.pipeline.repository import Repository


def constructors(graph: CodeGraph) -> Iterator[int]:
    """Constructors that a call of a class runs."""
    for node in range(len(graph.nodes)):
        if class_of_constructor(graph, node) >= 0 and any(use.is_call for use in find_implicit_uses(graph, [node])):
            yield node


def direct_users(graph: CodeGraph, node: int) -> set[int]:
    """Nodes with an edge of a call to a node."""
    return {int(graph.edges.sources[e]) for e in graph.incoming(node) if graph.edges.kinds[e] == EdgeKind.CALLS}


def judge(graph: CodeGraph, root: Path, trace: Path) -> Counter[tuple[str, bool]]:
    """(sort of use, whether it ran the method) -> how many pairs of user and method."""

    def node_of(place: list[str]) -> int:
        if place[0].startswith("<"):  # code without a file
            return -1
        path = Path(place[0]).resolve().relative_to(root.resolve()).as_posix()
        parts = [part for part in place[1].split(".") if not part.startswith("<")]
        return graph.nodes.ids.position(f"{path}::{'.'.join(parts)}" if parts else path)

    recorded = json.loads(trace.read_text(encoding="utf-8"))
    ran = {node_of(place) for place in recorded["ran"]} - {-1}
    calls = {(node_of(user), node_of(method)) for user, method in recorded["calls"]}
    found: Counter[tuple[str, bool]] = Counter()
    for method in range(len(graph.nodes)):
        uses = find_implicit_uses(graph, [method])
        by_user = {int(graph.edges.sources[use.number]): use for use in reversed(uses)}  # the best one is the last
        for user in by_user.keys() & ran - direct_users(graph, method):
            kind = EdgeKind(int(graph.edges.kinds[by_user[user].number])).label
            sort = "constructor" if by_user[user].is_call else f"special method, by {kind}"
            found[sort, (user, method) in calls] += 1
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", nargs="+", type=Path)
    parser.add_argument("--traces", type=Path)
    arguments = parser.parse_args()
    judged: Counter[tuple[str, bool]] = Counter()
    for root in arguments.clones:
        graph = Repository.open(root).index.graph
        nodes = list(constructors(graph))
        n_before = sum(not direct_users(graph, node) for node in nodes)
        n_after = sum(not calls_to(graph, node) for node in nodes)
        print(f"{root.name}: {len(nodes)} constructors, without callers {n_before} before and {n_after} now")
        if arguments.traces is not None:
            judged += judge(graph, root, arguments.traces / f"{root.name}.json")
    for sort in sorted({sort for sort, _ in judged}):
        right, n = judged[sort, True], judged[sort, True] + judged[sort, False]
        print(f"{sort}: {right} of {n} ran it, {right / n:.1%}")


if __name__ == "__main__":
    main()
