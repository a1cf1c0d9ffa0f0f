"""Linking in several processes: what was found for some of the files, as arrays that another process can take over.

What is found for one file does not depend on which others were linked before it (`Linker`), so that files may be linked
anywhere. A part is taken over in the order in which it would have been found here, which makes the graph the same.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.graph.layering import say_layers
from causalist.graph.linker import Linker, NotLinked
from causalist.graph.rules import RULE_NAMES, RULE_NUMBER
from causalist.graph.tables import EdgeCollector
from causalist.model.facts import FileFacts
from causalist.model.graph import EdgeKind
from causalist.model.symbols import NO_LAYER

_ROWS = 10_000  # that are numbers of Python at once


@dataclass(frozen=True, slots=True)
class Part:
    """What leaves some files. `edges`: shape (n, 7), a row (source, target, kind, rule, row, candidates, sites) for
    each in the order found, by drafts; `unresolved`: shape (n, 3), (source, sites, row) of the calls of
    `unresolved_names`; `says`: shape (n, 2), (draft, layer). `externals` are those found on the way, in order, of which
    the first is the draft `first_external`. `troubles`: the files of which not all was found, and what went wrong."""

    edges: NDArray[np.int32]
    unresolved: NDArray[np.int32]
    unresolved_names: tuple[str, ...]
    externals: tuple[str, ...]
    first_external: int
    says: NDArray[np.int32]
    troubled: tuple[int, ...]
    troubles: tuple[str, ...]


Bring = Callable[[str, FileFacts], FileFacts]
Begin = Callable[[Callable[[], Part]], Callable[[], Part]]


class Spread(NamedTuple):
    """How linking is spread: over `n` processes, by the `costs` of files relative to each other, in their order.
    `begin` starts work beside this process, which has all that this one has, and returns what waits for its result."""

    n: int
    costs: Sequence[int]
    begin: Begin


def link_files(
    linker: Linker, bring: Bring, packages: Mapping[str, str], spread: Spread | None = None
) -> list[tuple[int, str]]:
    """Links all files, each with the bodies that `bring` gives it, and returns those of which not all was found, with
    what went wrong, in order."""
    if spread is None:
        return list(_linked(linker, bring, packages, range(len(linker.program.files))))
    own, *others = _ranges(spread)
    waiting = [spread.begin(partial(_part, linker, bring, packages, numbers)) for numbers in others]
    troubles = list(_linked(linker, bring, packages, own))
    for result in waiting:
        troubles += _taken_over(linker, result())
    return troubles


def _linked(linker: Linker, bring: Bring, packages: Mapping[str, str], numbers: range) -> Iterator[tuple[int, str]]:
    for number in numbers:
        names = linker.program.files[number]
        with names.opened_with(bring(names.path, names.facts)):
            try:
                linker.link(number)
            except NotLinked as error:  # all other files have their edges
                yield number, str(error)
            say_layers(linker.program, linker.drafts, packages, number)


def _ranges(spread: Spread) -> list[range]:
    """Neighbours that cost about the same together, none of them empty but for want of files."""
    sums = np.array(list(accumulate(spread.costs)), dtype=np.float64)
    if not len(sums) or sums[-1] <= 0:
        return [range(len(sums))]
    ends = np.searchsorted(sums, sums[-1] * np.arange(1, spread.n) / spread.n) + 1
    bounds = sorted({0, *ends.tolist(), len(sums)})
    return [range(a, b) for a, b in pairwise(bounds)]


def _part(linker: Linker, bring: Bring, packages: Mapping[str, str], numbers: range) -> Part:
    """Links `numbers` apart from what the linker has collected so far."""
    drafts, before, n_known = linker.drafts, linker.collector, len(linker.drafts.externals)
    linker.collector = found = EdgeCollector()
    try:
        troubles = list(_linked(linker, bring, packages, numbers))
    finally:
        linker.collector = before
    rows = ((*k, RULE_NUMBER[s.rule], s.row, s.candidates, s.count) for k, s in found.edges.items())
    edges = np.fromiter(chain.from_iterable(rows), dtype=np.int32, count=7 * len(found.edges))
    unresolved = [(source, *sites) for (source, _), sites in found.unresolved.items()]
    said = [
        (draft, drafts[draft].says)
        for number in numbers
        for draft in (number, *drafts.documents(number))
        if draft in drafts and drafts[draft].says != NO_LAYER
    ]
    return Part(
        edges=edges.reshape(-1, 7),
        unresolved=np.array(unresolved, dtype=np.int32).reshape(-1, 3),
        unresolved_names=tuple(name for _, name in found.unresolved),
        externals=tuple(drafts.externals)[n_known:],
        first_external=drafts.n_written + n_known,
        says=np.array(said, dtype=np.int32).reshape(-1, 2),
        troubled=tuple(number for number, _ in troubles),
        troubles=tuple(error for _, error in troubles),
    )


def _taken_over(linker: Linker, part: Part) -> Iterator[tuple[int, str]]:
    drafts, collector = linker.drafts, linker.collector
    kinds, first = list(EdgeKind), part.first_external
    externals = [drafts.external(name) for name in part.externals]
    for start in range(0, len(part.edges), _ROWS):
        for source, target, kind, rule, row, candidates, n in part.edges[start : start + _ROWS].tolist():
            here = target if target < first else externals[target - first]
            collector.add(source, here, kinds[kind], RULE_NAMES[rule], row, candidates, n)
    for name, (source, n, row) in zip(part.unresolved_names, part.unresolved.tolist(), strict=True):
        collector.add_unresolved(source, name, row, n)
    for draft, layer in part.says.tolist():
        drafts[draft].says = layer
    return zip(part.troubled, part.troubles, strict=True)
