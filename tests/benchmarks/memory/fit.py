"""Fits the weights of the signals of mode `hippo` (`RetrievalSettings`) on made questions.

    python -m tests.benchmarks.memory.fit PYTHON:tuning TRAEFIK SYNAPSE TANSTACK

Each argument is a folder of linked documents, with `:tuning` its tuning half alone (see `questions.py`). What is
raised, over all folders, each weighed by the square root of its number of questions: for questions over several pages
the sum of a smooth recall and of a smooth success (a right page at rank r, counted from 0, is worth
1 / (1 + e to (r - 6) / 2); a question, by its worst page, 1 / (1 + e to (r - 9.5) / 2)); for those over one page the
mean of R-precision and recall@5. Ranks are what a likelihood of the first place does not see: it gives up on the page
that is hardest to find. The search changes one weight at a time by ever smaller factors. Prints the figures of
four-fold cross-validation, by folder, beside those of the weights as they are, and the weights fitted to everything.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from causalist.memory import HippoIndex, RetrievalSettings
from causalist.memory.entity_linking import build_seeds, link_query
from causalist.memory.retrieval import SIGNALS, Query, compute_signals, plain_mode, run_walk, score_plain, top_indices
from tests.benchmarks.memory.multihop import prepared, ranked_pages
from tests.benchmarks.memory.questions import Asked

_CANDIDATES = 40  # passages of each signal, and of the weights as they are
_FACTORS = (1.35, 1.15, 1.07)
_ROUNDS = 6  # with each factor, at most
_FOLDS = 4

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """The candidates of a question: `values`, shape (n, SIGNALS), and `page`, shape (n,), numbers of pages; `gold`:
    which pages are right, shape (pages,); `n_right` counts those that are no candidates as well."""

    values: Floats
    page: NDArray[np.int64]
    gold: NDArray[np.bool_]
    n_right: int
    is_multi: bool


@dataclass(frozen=True, slots=True)
class Stack:
    """Rows below one another; pages are numbered on."""

    values: Floats
    page: NDArray[np.int64]
    gold: NDArray[np.bool_]
    question: NDArray[np.int64]  # of each page
    first: NDArray[np.int64]  # page of each question
    n_right: NDArray[np.int64]
    is_multi: NDArray[np.bool_]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> "Stack":
        sizes = np.array([len(row.gold) for row in rows])
        first = np.cumsum(sizes) - sizes
        return cls(
            np.concatenate([row.values for row in rows]),
            np.concatenate([row.page + start for row, start in zip(rows, first, strict=True)]),
            np.concatenate([row.gold for row in rows]),
            np.repeat(np.arange(len(rows)), sizes),
            first,
            np.array([row.n_right for row in rows]),
            np.array([row.is_multi for row in rows]),
        )

    def ranks(self, weights: Floats) -> NDArray[np.int64]:
        """Of each page, from 0."""
        scores = np.zeros(len(self.gold))
        np.maximum.at(scores, self.page, np.round(self.values @ weights, 9))
        order = np.lexsort((np.arange(len(scores)), -scores, self.question))
        ranks = np.empty(len(scores), dtype=np.int64)
        ranks[order] = np.arange(len(scores)) - self.first[self.question[order]]
        return ranks

    def shares(self, marks: Floats) -> Floats:
        """The mean of marks of right pages, by question; a right page that is no candidate has 0."""
        return np.bincount(self.question, weights=marks * self.gold, minlength=len(self.n_right)) / self.n_right

    def figures(self, weights: Floats) -> Floats:
        """(recall@5, R-precision, success) by question, shape (questions, 3)."""
        ranks = self.ranks(weights)
        recall = self.shares(ranks < 5)
        precision = self.shares(ranks < self.n_right[self.question])
        return np.stack([recall, precision, self.shares(ranks < 10) == 1.0], axis=1).astype(np.float64)

    def value(self, weights: Floats, share: Floats) -> float:
        ranks = self.ranks(weights)
        found = np.bincount(self.question[self.gold], minlength=len(self.n_right))
        worst = np.zeros(len(self.n_right))
        np.maximum.at(worst, self.question[self.gold], ranks[self.gold])
        worst[found < self.n_right] = 1_000.0
        smooth = self.shares(1.0 / (1.0 + np.exp(np.minimum(ranks - 6.0, 100.0) / 2.0)))
        success = 1.0 / (1.0 + np.exp(np.minimum(worst - 9.5, 100.0) / 2.0))
        figures = self.figures(weights)
        multi, single = share * self.is_multi, share * ~self.is_multi
        several = multi @ (smooth + success) / multi.sum()
        return float(several + single @ (figures[:, 0] + figures[:, 1]) / 2.0 / single.sum())


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


def fitted(folders: Sequence[Sequence[Row]], start: Floats) -> Floats:
    stack = Stack.of([row for rows in folders for row in rows])
    share = np.concatenate([np.full(len(rows), len(rows) ** -0.5) for rows in folders])
    weights = np.maximum(start / start.sum(), 0.01)
    best = stack.value(weights, share)
    for factor in _FACTORS:
        for _ in range(_ROUNDS):
            before = best
            for signal in range(len(weights)):
                for by in (factor, 1.0 / factor):
                    other = weights.copy()
                    other[signal] *= by
                    other /= other.sum()
                    value = stack.value(other, share)
                    if value > best + 1e-6:
                        weights, best = other, value
            if best == before:
                break
    return weights


def told(name: str, rows: Sequence[Row], figures: Floats) -> None:
    multi = np.array([row.is_multi for row in rows])
    for kind, chosen in (("several", multi), ("one", ~multi)):
        recall, precision, success = figures[chosen].mean(axis=0)
        print(f"{name:32}{kind:9}{chosen.sum():5}  {recall:8.3f} {precision:12.3f} {success:9.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="FOLDER[:tuning]")
    given = parser.parse_args()
    start = np.array(RetrievalSettings().weights)
    folders: list[list[Row]] = []
    for each in given.folders:
        folder, _, half = each.partition(":")
        questions, passages = prepared(Path(folder))
        index = HippoIndex()
        index.build_from_passages(passages)
        asked = questions.tuning if half else questions.tuning + questions.held_out
        folders.append(rows_of(index, asked, start))
    print(f"{'':32}{'pages':9}{'n':>5}  recall@5  R-precision   success")
    folds = [fitted([[r for i, r in enumerate(rows) if i % _FOLDS != k] for rows in folders], start)
             for k in range(_FOLDS)]  # fmt: skip
    for name, rows in zip(given.folders, folders, strict=True):
        stack = Stack.of(rows)
        told(f"{name[-18:]} as it is", rows, stack.figures(start))
        told(f"{name[-18:]} cross-val.", rows, _left_out(stack, folds))
    for signal, weight in zip(SIGNALS, fitted(folders, start), strict=True):
        print(f"{signal}_weight = {weight:.3f}")


def _left_out(stack: Stack, folds: Sequence[Floats]) -> Floats:
    by_fold = np.stack([stack.figures(weights) for weights in folds])
    n = np.arange(len(stack.n_right))
    return np.asarray(by_fold[n % _FOLDS, n], dtype=np.float64)


if __name__ == "__main__":
    main()
