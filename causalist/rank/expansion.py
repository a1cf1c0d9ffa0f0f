"""What fits a question best -> words that stand beside its own (pseudo-relevance feedback; Rocchio 1971).

Who asks about "a second call when the first is slow" shares with the code that hedges only words that stand
everywhere. What fits these words best, tests and documentation as well, says "hedging" besides, and so do the files
that are meant.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from causalist.model.graph import CodeGraph
from causalist.model.lexical import LexicalIndex, Postings
from causalist.model.symbols import NodeKind, Role
from causalist.rank._order import SCORE_DECIMALS, first_by
from causalist.rank._sums import ROWS_AT_ONCE
from causalist.rank.languages import files_that_run

Scores = NDArray[np.float64]  # (n_nodes,), indexed by NodeIndex

EXPANSION = "expansion"  # the signal
# Chosen on short questions; 5 to 20 and 10 to 25 are alike (docs/decisions/0023).
N_SOURCES = 8
N_WORDS = 15
MOST_COUNTED = 3.0  # occurrences of a word in a source; more say no more
_MOST_SEARCHED = 400  # terms in whose rows a node is searched for
_FEWEST_SEARCHED = 512  # rows of such a term
_FEWEST_WITH = 2  # documents that have a word; what stands in one leads nowhere else


def expansion_terms(text: Scores, terms: Mapping[int, float], lexical: LexicalIndex) -> dict[int, float]:
    """Weight by number, in (0, 1], of the N_WORDS words that say most of the N_SOURCES best nodes by `text`. With t
    the number of times that a word stands in a source, and df the documents of N that have it:

        sum over sources of text^2 * min(t, MOST_COUNTED) * ln(N / df),  divided by the largest

    `text`: shape (n_nodes,), how well definitions and passages fit, 0 for what may not be read. `terms`: the numbers of
    the question's own words, which are not looked for again."""
    postings = lexical.definitions
    best = first_by(text, np.flatnonzero(text > 0), N_SOURCES)
    if not len(best):
        return {}
    share = np.zeros(len(text))
    share[best] = (text[best] / text[best[0]]) ** 2
    rows = _rows_of(best[share[best] > 0], postings)
    numbers = np.searchsorted(postings.indptr, rows, side="right") - 1
    said = share[postings.documents[rows]] * np.minimum(postings.counts[rows], MOST_COUNTED)
    frequency = np.diff(postings.indptr)
    values = np.bincount(numbers, weights=said, minlength=len(frequency))
    values *= np.log(postings.n_documents / np.maximum(frequency, 1)) * (frequency >= _FEWEST_WITH)
    values[list(terms)] = 0.0
    rounded = np.round(values, SCORE_DECIMALS)
    words = np.flatnonzero(rounded > 0)
    words = words[np.lexsort((words, -rounded[words]))][:N_WORDS]
    return {int(word): float(values[word] / values[words[0]]) for word in words}


def _rows_of(nodes: NDArray[np.int64], postings: Postings) -> NDArray[np.int64]:
    """Where in `postings.documents` any of a few `nodes` stands, ascending. In the rows of the terms that stand
    everywhere, which are most of all, it is searched for; the rest is looked through, some rows at once: there are
    dozens for each node of the repository, and room for something about all of them takes longer to get than it takes
    to look at them."""
    documents, indptr = postings.documents, postings.indptr.astype(np.int64)
    least = max(_FEWEST_SEARCHED, len(documents) // _MOST_SEARCHED)
    many = np.flatnonzero(np.diff(indptr) > least)
    found = [_searched(nodes, documents, indptr[many], indptr[many + 1])]
    starts, stops = np.append(0, indptr[many + 1]).tolist(), np.append(indptr[many], len(documents)).tolist()
    for start, stop in zip(starts, stops, strict=True):
        for first in range(start, stop, ROWS_AT_ONCE):
            some = documents[first : min(first + ROWS_AT_ONCE, stop)]
            is_there, one = np.zeros((2, len(some)), dtype=np.bool_)
            for node in nodes.astype(documents.dtype):
                is_there |= np.equal(some, node, out=one)
            found.append(first + np.flatnonzero(is_there))
    return np.sort(np.concatenate(found))


def _searched(
    nodes: NDArray[np.int64], documents: NDArray[np.int32], starts: NDArray[np.int64], stops: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Where nodes stand in the rows `starts[i]:stops[i]`, which ascend and are never empty: by halves, in all at
    once."""
    if not len(starts):
        return np.zeros(0, dtype=np.int64)
    low, high = (np.repeat(each[:, None], len(nodes), axis=1) for each in (starts, stops - 1))
    for _ in range(int((stops - starts).max()).bit_length()):
        middle = (low + high) >> 1
        is_behind = documents[middle] < nodes
        low = np.minimum(np.where(is_behind, middle + 1, low), stops[:, None] - 1)
        high = np.where(is_behind, high, middle)
    is_there: NDArray[np.bool_] = documents[low] == nodes
    return low[is_there]


def may_gain(graph: CodeGraph, asked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Shape (n_nodes,): files of code that do something, and those whose role is `asked` for. A file that only declares
    shares words with all that uses it."""
    code = (graph.nodes.kinds == NodeKind.FILE) & (asked | (graph.nodes.roles == Role.CODE))
    result: NDArray[np.bool_] = code & files_that_run(graph)
    return result
