"""All facts -> the code graph, linked by one process or by several.

In: (path, facts) of all files. Out: a `LinkedGraph`. What is found for one file does not depend on which others were
linked before it (`Linker`), so that files may be linked anywhere. What another process found is taken over in the order
in which it would have been found here, which makes the graph the same.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.stages import stage
from causalist.graph.layers import LayerAssigner
from causalist.graph.linker import Linker, LinkError
from causalist.graph.relations.routes import RouteEdgeFinder
from causalist.graph.relations.tests import TestEdgeFinder
from causalist.graph.rules import RULE_NAMES, RULE_NUMBER, load_confidences
from causalist.graph.tables import EdgeCollector, finish_graph
from causalist.model.facts import FileFacts
from causalist.model.graph import EdgeKind, LinkedGraph
from causalist.model.language import LanguageSettings
from causalist.model.symbols import NO_LAYER

_ROWS = 10_000  # that are numbers of Python at once


@dataclass(frozen=True, slots=True)
class LinkedPart:
    """Edges that leave some files, as arrays that another process can take over.

    `edges`: shape (n, 7), a row (source, target, kind, rule, row, candidates, sites) for each in the order found, by
    drafts. `unresolved`: shape (n, 3), (source, sites, row) of the calls of `unresolved_names`. `says`: shape (n, 2),
    (draft, layer). `externals` are those found on the way, in order, of which the first is the draft `first_external`.
    `troubles` says what went wrong in the files `troubled`.
    """

    edges: NDArray[np.int32]
    unresolved: NDArray[np.int32]
    unresolved_names: tuple[str, ...]
    externals: tuple[str, ...]
    first_external: int
    says: NDArray[np.int32]
    troubled: tuple[int, ...]
    troubles: tuple[str, ...]


Bring = Callable[[str, FileFacts], FileFacts]
Begin = Callable[[Callable[[], LinkedPart]], Callable[[], LinkedPart]]


class ParallelPlan(NamedTuple):
    """Distribution of linking over `n` processes, by the relative `costs` of files in their order.

    `begin` starts work in another process, which has all that this one has, and returns what waits for its result.
    """

    n: int
    costs: Sequence[int]
    begin: Begin


def link_files(
    linker: Linker, bring: Bring, layers: LayerAssigner, spread: ParallelPlan | None = None
) -> list[tuple[int, str]]:
    """Link all files, each with the bodies that `bring` gives it.

    Returns those of which not all was found, with what went wrong, in order.
    """
    if spread is None:
        return list(_link_each(linker, bring, layers, range(len(linker.program.files))))
    own, *others = _split_by_cost(spread)
    waiting = [spread.begin(partial(_link_part, linker, bring, layers, numbers)) for numbers in others]
    troubles = list(_link_each(linker, bring, layers, own))
    for result in waiting:
        troubles += _merge_part(linker, result())
    return troubles


def _link_each(linker: Linker, bring: Bring, layers: LayerAssigner, numbers: range) -> Iterator[tuple[int, str]]:
    for number in numbers:
        symbols = linker.program.files[number]
        with symbols.use_facts(bring(symbols.path, symbols.facts)):
            try:
                linker.link(number)
            except LinkError as error:  # all other files have their edges
                yield number, str(error)
            layers.assign_own(number)


def _split_by_cost(spread: ParallelPlan) -> list[range]:
    """Return ranges of consecutive files of about equal cost; a range is empty only if there are too few files."""
    sums = np.array(list(accumulate(spread.costs)), dtype=np.float64)
    if not len(sums) or sums[-1] <= 0:
        return [range(len(sums))]
    ends = np.searchsorted(sums, sums[-1] * np.arange(1, spread.n) / spread.n) + 1
    bounds = sorted({0, *ends.tolist(), len(sums)})
    return [range(a, b) for a, b in pairwise(bounds)]


def _link_part(linker: Linker, bring: Bring, layers: LayerAssigner, numbers: range) -> LinkedPart:
    """Link `numbers` apart from what the linker has collected so far."""
    drafts, before, n_known = linker.drafts, linker.collector, len(linker.drafts.externals)
    linker.collector = found = EdgeCollector()
    try:
        troubles = list(_link_each(linker, bring, layers, numbers))
    finally:
        linker.collector = before
    rows = ((*k, RULE_NUMBER[s.rule], s.row, s.candidates, s.count) for k, s in found.edges.items())
    edges = np.fromiter(chain.from_iterable(rows), dtype=np.int32, count=7 * len(found.edges))
    unresolved = [(source, *sites) for (source, _), sites in found.unresolved.items()]
    layers_by_draft = [
        (draft, drafts[draft].says)
        for number in numbers
        for draft in (number, *drafts.documents(number))
        if draft in drafts and drafts[draft].says != NO_LAYER
    ]
    return LinkedPart(
        edges=edges.reshape(-1, 7),
        unresolved=np.array(unresolved, dtype=np.int32).reshape(-1, 3),
        unresolved_names=tuple(name for _, name in found.unresolved),
        externals=tuple(drafts.externals)[n_known:],
        first_external=drafts.n_written + n_known,
        says=np.array(layers_by_draft, dtype=np.int32).reshape(-1, 2),
        troubled=tuple(number for number, _ in troubles),
        troubles=tuple(error for _, error in troubles),
    )


def _merge_part(linker: Linker, part: LinkedPart) -> Iterator[tuple[int, str]]:
    drafts, collector = linker.drafts, linker.collector
    kinds, first = list(EdgeKind), part.first_external
    externals = [drafts.of_external(name) for name in part.externals]
    for start in range(0, len(part.edges), _ROWS):
        for source, target, kind, rule, row, candidates, n in part.edges[start : start + _ROWS].tolist():
            here = target if target < first else externals[target - first]
            collector.add(source, here, kinds[kind], RULE_NAMES[rule], row, candidates, n)
    for name, (source, n, row) in zip(part.unresolved_names, part.unresolved.tolist(), strict=True):
        collector.add_unresolved(source, name, row, n)
    for draft, layer in part.says.tolist():
        drafts[draft].says = layer
    return zip(part.troubled, part.troubles, strict=True)


def _keep_facts(path: str, facts: FileFacts) -> FileFacts:
    return facts


def build_graph(
    files: Sequence[tuple[str, FileFacts]],
    settings: Mapping[str, LanguageSettings],
    with_bodies: Callable[[str, FileFacts], FileFacts] = _keep_facts,
    spread: ParallelPlan | None = None,
    links: Sequence[tuple[str, str]] = (),
) -> LinkedGraph:
    """Build the graph of a repository from (path, facts) pairs in any order; `settings` are by dialect name.

    Files may come without their bodies, except those that `needs_bodies` selects. Then `with_bodies` has to supply
    the bodies. It is called once for each file, and its result is kept only while that file is linked, since bodies
    take more memory than all other facts. `spread` gives the number of processes that link, each a range of files in
    the order of their paths. `links` are those of the scan. The graph depends on the facts, paths and links alone.
    """
    order = sorted(range(len(files)), key=lambda i: files[i][0])
    if order != list(range(len(files))):
        linked = build_graph([files[i] for i in order], settings, with_bodies, links=links)
        original_order = np.argsort(np.array(order))
        nodes = tuple(linked.document_nodes[i] for i in original_order)
        troubles_given = tuple((order[number], error) for number, error in linked.troubles)
        return LinkedGraph(linked.graph, linked.file_nodes[original_order], nodes, troubles_given)
    linker = Linker.from_files(files, settings, links)
    documents = [linker.drafts.documents(number) for number in range(len(files))]
    with stage("link: bases"):
        linker.add_bases()
    layers = LayerAssigner(linker.program, linker.drafts)
    with stage("link: files"):
        troubles = link_files(linker, with_bodies, layers, spread)
    tests = TestEdgeFinder(linker.program, linker.drafts)
    with stage("link: tests"):
        tested = list(tests.find_edges(linker.collector.edges.items()))
    for each in tested:
        linker.collector.add(each.source, each.target, EdgeKind.TESTS, each.rule, each.row, each.candidates)
    routes = RouteEdgeFinder(linker.program, linker.drafts)
    with stage("link: routes"):
        routed = list(routes.find_edges(linker.collector.edges.items()))
    for route in routed:
        linker.collector.add(route.source, route.target, route.kind, route.rule, route.row, route.candidates)
    languages = [symbols.settings.name if symbols.settings else "" for symbols in linker.program.files]
    with stage("link: graph"):
        graph, position = finish_graph(linker.drafts.all_drafts(), linker.collector, languages, load_confidences())
    file_nodes = position[: len(files)]
    linked = LinkedGraph(
        layers.complete(graph, file_nodes),
        file_nodes,
        tuple(position[np.array(each, dtype=np.int64)] for each in documents),
        tuple(troubles),
    )
    linker.release_tables()
    return linked
