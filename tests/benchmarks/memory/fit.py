"""Fits the weights of the signals of mode `hippo` (`RetrievalSettings`): on some sets of questions, judged on another.

    python -m tests.benchmarks.memory.fit [FOLDER ...] [--asked FOLDER=FILE.tsv ...] [--public CLONES] [--fix NAME=W]

FOLDER holds linked documents, with `:tuning` behind it for its tuning half alone (see `questions.py`). `--asked` adds
questions by hand (see `asked/`), all of them as one set, and `--public` the sets of `public.py`.

What is raised is the mean over the sets of: for questions over several passages, smooth recall among five + 0.4 *
smooth success among ten; for those over one page, 0.6 * (smooth recall + smooth R-precision). A right page at rank r,
from 0, counts 1 / (1 + e to (r - k + 0.5) / w) among k, with w = 1.2, 1.5 and 0.7; a question's success is the mean
over its right pages. The search starts from equal weights and changes one at a time by ever smaller factors.

Prints for each set recall@5, success (all right pages among ten) and R-precision, with the weights as they are, and
with those fitted to all *other* sets; then the weights fitted to everything. `--fix` leaves a weight at a value.
"""

import argparse
import pickle
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.memory import HippoIndex, RetrievalSettings
from causalist.memory.documents import read_documents
from causalist.memory.query_entities import build_seeds, link_query
from causalist.memory.retrieval import (
    GRAPH_SIGNALS,
    SIGNALS,
    Query,
    compute_signals,
    plain_mode,
    run_walk,
    score_plain,
    top_indices,
)
from tests.benchmarks.memory.asked.__main__ import read as read_asked
from tests.benchmarks.memory.multihop import prepared, ranked_pages
from tests.benchmarks.memory.public import READERS, SETS, passages_of
from tests.benchmarks.memory.questions import Asked

_CANDIDATES = 30  # passages of each signal, and of the weights as they are
_MOST = 200  # questions of a set that weights are fitted to; all are judged
_FACTORS = (3.0, 1.7, 1.3, 1.12)
_ROUNDS = 5  # with each factor, at most

Floats = NDArray[np.float64]


class Row(NamedTuple):
    """Candidates of a question: `values`, (n, SIGNALS); `page`, (n,), numbers of pages; `gold`, (pages,), right ones.

    `n_right` counts right pages that are no candidates as well.
    """

    values: Floats
    page: NDArray[np.int64]
    gold: NDArray[np.bool_]
    n_right: int
    is_multi: bool


class Stack:
    """Rows of a set, padded to one length."""

    def __init__(self, rows: Sequence[Row]) -> None:
        shape = (len(rows), max(len(row.page) for row in rows))
        self.values = np.zeros((*shape, len(SIGNALS)), dtype=np.float32)
        self.page = np.full(shape, -1)
        self.gold = np.zeros((len(rows), max(len(row.gold) for row in rows)), dtype=np.bool_)
        for i, row in enumerate(rows):
            self.values[i, : len(row.page)] = row.values
            self.page[i, : len(row.page)] = row.page
            self.gold[i, : len(row.gold)] = row.gold
        self.n_right = np.array([row.n_right for row in rows])
        self.is_multi = np.array([row.is_multi for row in rows])
        self._right = np.argwhere(self.gold)
        self._is_real = self.page >= 0
        self._place = (np.arange(len(rows))[:, None] * self.gold.shape[1] + self.page)[self._is_real]

    def ranks(self, weights: Floats) -> NDArray[np.int64]:
        """Return the rank of each right page, from 0, ties by number of the page."""
        scores = (self.values @ weights.astype(np.float32))[self._is_real]
        best = np.full(self.gold.size, -1.0, dtype=np.float32)
        np.maximum.at(best, self._place, scores)
        pages = best.reshape(self.gold.shape)
        question, page = self._right.T
        own, others = pages[question, page][:, None], pages[question]
        before = np.arange(pages.shape[1]) < page[:, None]
        return np.asarray(((others > own) | ((others == own) & before)).sum(axis=1), dtype=np.int64)

    def shares(self, marks: NDArray[np.float64]) -> Floats:
        """Return the mean mark of the right pages of each question; a right page that is no candidate has 0."""
        return np.bincount(self._right[:, 0], weights=marks, minlength=len(self.n_right)) / self.n_right

    def figures(self, weights: Floats) -> Floats:
        """Return (recall@5, success, R-precision) of each question, shape (questions, 3)."""
        ranks = self.ranks(weights)
        own = self.n_right[self._right[:, 0]]
        columns = [
            self.shares(1.0 * (ranks < 5)),
            self.shares(1.0 * (ranks < 10)) == 1.0,
            self.shares(1.0 * (ranks < own)),
        ]
        return np.stack(columns, axis=1).astype(np.float64)

    def value(self, weights: Floats) -> float:
        """Return what is raised."""
        ranks = self.ranks(weights)
        recall = self.shares(_smooth(ranks, 5, 1.2))
        total = 0.0
        if self.is_multi.any():
            total += float((recall + 0.4 * self.shares(_smooth(ranks, 10, 1.5)))[self.is_multi].mean())
        if not self.is_multi.all():
            precision = self.shares(_smooth(ranks, self.n_right[self._right[:, 0]], 0.7))
            total += 0.6 * float((recall + precision)[~self.is_multi].mean())
        return total


def _smooth(ranks: NDArray[np.int64], among: int | NDArray[np.int64], width: float) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(np.minimum((ranks - among + 0.5) / width, 50.0))), dtype=np.float64)


def rows_of(index: HippoIndex, asked: Sequence[Asked], weights: Floats) -> list[Row]:
    snapshot = index.snapshot
    pages = [ranked_pages([passage])[0] for passage in snapshot.arrays.passages]
    found = []
    for each in asked:
        plain = score_plain(each.text, snapshot, plain_mode(snapshot))
        seeds = build_seeds(link_query(each.text, snapshot, index.extractor), snapshot, index.variant, plain)
        walk_result = np.zeros(len(plain))
        if seeds is not None:
            walk_result = run_walk(Query(each.text, index.variant), seeds, snapshot).passages
        given = compute_signals(each.text, walk_result, plain, snapshot)
        values = np.stack([given.get(name, np.zeros(len(plain))) for name in SIGNALS], axis=1)
        columns = [values @ weights, *values.T]
        chosen = sorted({place for column in columns for place in top_indices(column, _CANDIDATES).tolist()})
        names, numbers = np.unique([pages[place] for place in chosen], return_inverse=True)
        gold = np.isin(names, each.gold)
        found.append(Row(values[chosen], numbers.astype(np.int64), gold, len(each.gold), each.kind == "multi"))
    return found


def fitted(sets: Sequence[Sequence[Row]], fixed: Mapping[int, float]) -> Floats:
    """Return the weights that raise the mean of `Stack.value` over the sets, divided by their sum."""
    stacks = [Stack(rows[:: -(-len(rows) // _MOST)]) for rows in sets]
    weights = np.ones(len(SIGNALS))
    weights[list(fixed)] = list(fixed.values())
    best = sum(stack.value(weights) for stack in stacks)
    free = [signal for signal in range(1, len(weights)) if signal not in fixed]  # the first one has weight 1
    for factor in _FACTORS:
        for _ in range(_ROUNDS):
            before = best
            for signal in free:
                for by in (factor, 1.0 / factor):
                    other = weights.copy()
                    other[signal] *= by
                    value = sum(stack.value(other) for stack in stacks)
                    if value > best + 1e-5:
                        weights, best = other, value
                        break
            if best == before:
                break
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def told(name: str, stack: Stack, weights: Floats) -> None:
    figures = stack.figures(weights)
    for kind, chosen in (("several", stack.is_multi), ("one", ~stack.is_multi)):
        if chosen.any():
            recall, success, precision = 100 * figures[chosen].mean(axis=0)
            print(f"{name:30}{kind:9}{chosen.sum():5}  {recall:8.1f} {success:9.1f} {precision:12.1f}", flush=True)


def read_sets(
    folders: Sequence[str], asked: Sequence[str], clones: Path | None, start: Floats
) -> Iterator[tuple[str, list[Row]]]:
    for each in folders:
        folder, _, half = each.partition(":")
        questions, passages = prepared(Path(folder))
        index = HippoIndex()
        index.build_from_passages(passages)
        chosen = questions.tuning if half else questions.tuning + questions.held_out
        yield folder[-18:], rows_of(index, chosen, start)
    by_hand: list[Row] = []
    for each in asked:
        folder, _, file = each.partition("=")
        index = HippoIndex()
        index.build_from_passages(
            {"id": p.id, "text": p.text, "metadata": p.metadata}
            for p in read_documents([Path(folder)], Path(folder).resolve()).passages
        )
        by_hand += rows_of(index, read_asked(Path(file)), start)
    if by_hand:
        yield "by hand", by_hand
    for name in SETS if clones else ():
        assert clones is not None
        sample = READERS[name](clones)
        index = HippoIndex()
        index.build_from_passages(passages_of(sample, "title"))
        number = {key: f"{i:06}" for i, key in enumerate(sorted(sample.passages))}
        items = sorted(sample.questions.items())
        yield name, rows_of(index, [Asked(q, tuple(number[k] for k in right), "multi") for q, right in items], start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", metavar="FOLDER[:tuning]")
    parser.add_argument("--asked", action="append", default=[], metavar="FOLDER=FILE.tsv")
    parser.add_argument("--public", type=Path, metavar="CLONES")
    parser.add_argument("--fix", action="append", default=[], metavar="NAME=WEIGHT")
    parser.add_argument("--cache", type=Path, help="file of the signals of all questions, written if it is missing")
    given = parser.parse_args()
    start = np.array(RetrievalSettings().weights)
    if given.cache and given.cache.is_file():
        sets = {name: [Row(*row) for row in rows] for name, rows in pickle.loads(given.cache.read_bytes()).items()}
    else:
        sets = dict(read_sets(given.folders, given.asked, given.public, start))
        if given.cache:
            given.cache.write_bytes(pickle.dumps({name: [tuple(row) for row in rows] for name, rows in sets.items()}))
    fixed = {SIGNALS.index(name): float(value) for name, _, value in (each.partition("=") for each in given.fix)}
    no_graph = dict.fromkeys((SIGNALS.index(name) for name in GRAPH_SIGNALS), 0.0)
    print(f"{'':30}{'pages':9}{'n':>5}  recall@5   success  R-precision")
    for name, rows in sets.items():
        stack, others = Stack(rows), [each for other, each in sets.items() if other != name]
        told(f"{name}, as it is", stack, start)
        if others:
            weights = fitted(others, fixed)
            told(f"{name}, left out", stack, weights)
            told(f"{name}, left out, no graph", stack, fitted(others, {**fixed, **no_graph}))
            print("    " + "  ".join(f"{s} {w:.3f}" for s, w in zip(SIGNALS, weights, strict=True)), flush=True)
    weights = fitted(list(sets.values()), fixed)
    for name, rows in sets.items():
        told(f"{name}, fitted", Stack(rows), weights)
    for signal, weight in zip(SIGNALS, weights, strict=True):
        print(f"{signal}_weight = {weight:.3f}")


if __name__ == "__main__":
    main()
