"""Signals of a second hop: passages that the best passages of a query lead to by name.

The first hop ranks passages by plain retrieval and by the names in the query that they define. From its best passages,
the sources, names lead on:

| Signal | In [0, 1], of a passage |
|---|---|
| `named` | rarity of the rarest name in the query that it defines |
| `definition` | it defines a name that a source names |
| `definition_rest` | the same, times its fit to the query terms that the source lacks |
| `shared` | a source names something rare that it names too, and the query does not |
| `shared_rest` | the same, times its fit to the query terms that the source lacks |
| `rest` | its fit to the query terms that a source lacks |

Each is the highest over the sources, a source counting by the square of its score, and a name by its rarity. The fit is
BM25 of the lacking terms, relative to the best passage, times their share of the rarity of the query.
"""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from causalist.memory.entity_linking import MAX_QUERY_CHARACTERS
from causalist.memory.matrix import Floats
from causalist.memory.names import Names, fold_words
from causalist.memory.walk import Snapshot
from causalist.rank.lexical.bm25 import bm25

# Chosen on samples of HotpotQA, 2WikiMultiHopQA and MuSiQue; see the decisions.
N_SOURCES = 5
_SOURCE_POWER = 2
_NAMED_WEIGHT = 0.5  # in the first hop, beside plain retrieval
_MAX_SHARED_PASSAGES = 300  # of a name that links passages which do not define it

BRIDGE_SIGNALS = ("named", "definition", "definition_rest", "shared", "shared_rest", "rest")
GRAPH_BRIDGES = ("definition", "definition_rest", "shared", "shared_rest")  # those that follow names


def score_bridges(text: str, terms: Iterable[int], plain: Floats, snapshot: Snapshot) -> Mapping[str, Floats]:
    """Return BRIDGE_SIGNALS by name, each of shape (P,).

    `terms`: positions of the query terms; `plain`: scores of plain retrieval, shape (P,).
    """
    names, n = snapshot.names, snapshot.arrays.n_passages
    found = {name: np.zeros(n) for name in BRIDGE_SIGNALS}
    number = snapshot.records.words.by_string
    words = [number.get(word, -1) for word in fold_words(text[:MAX_QUERY_CHARACTERS])]
    found["named"] = score_named(words, names, n)
    best = float(plain.max(initial=0.0))
    first = (plain / best if best > 0 else plain) + _NAMED_WEIGHT * found["named"]
    sources = _top(first, N_SOURCES)
    if not len(sources):
        return found
    weights = (first[sources] / first[sources[0]]) ** _SOURCE_POWER
    query_words = frozenset(words)
    fits = _Fits(terms, snapshot)
    for source, weight in zip(sources.tolist(), weights.tolist(), strict=True):
        rest = fits.score(source)
        reached, strength = _follow_definitions(source, names)
        definition = np.zeros(n)
        np.maximum.at(definition, reached, weight * strength)
        reached, strength = _follow_shared(source, query_words, names)
        shared = np.zeros(n)
        np.maximum.at(shared, reached, weight * strength)
        definition[source] = shared[source] = 0.0
        np.maximum(found["definition"], definition, out=found["definition"])
        np.maximum(found["shared"], shared, out=found["shared"])
        if rest is not None:
            np.maximum(found["definition_rest"], definition * rest, out=found["definition_rest"])
            np.maximum(found["shared_rest"], shared * rest, out=found["shared_rest"])
            np.maximum(found["rest"], weight * rest, out=found["rest"])
    return found


def score_named(words: Iterable[int], names: Names, n: int) -> Floats:
    """Return `named` of passages: rarity of a name in the query / root of the number of passages that define it."""
    found = np.zeros(n)
    for name in names.find(list(words)):
        passages = names.defining.row(name)
        np.maximum.at(found, passages, float(names.specificity[name]) / len(passages) ** 0.5)
    return found


def _follow_definitions(source: int, names: Names) -> tuple[NDArray[np.int64], Floats]:
    """Return (passages, strength) that define a name in the source: its rarity / number of definitions."""
    named = names.naming.row(source)
    passages, of = names.defining.gather(named)
    strength = names.specificity[named] / np.maximum(names.defining.sizes[named], 1)
    return passages, strength[of]


def _follow_shared(source: int, query_words: frozenset[int], names: Names) -> tuple[NDArray[np.int64], Floats]:
    """Return (passages, rarity) that name something which the source names and the query does not."""
    named = names.naming.row(source)
    named = named[names.named_by.sizes[named] <= _MAX_SHARED_PASSAGES]
    named = np.array([k for k in named.tolist() if not query_words.issuperset(names.words[k])], dtype=np.int64)
    passages, of = names.named_by.gather(named)
    return passages, names.specificity[named][of]


class _Fits:
    """Fit of passages to the query terms that a source lacks."""

    def __init__(self, terms: Iterable[int], snapshot: Snapshot) -> None:
        self._postings = postings = snapshot.arrays.postings
        self._n = snapshot.arrays.n_passages
        self._terms = sorted(terms)
        df = np.diff(postings.indptr)[self._terms] if self._terms else np.zeros(0)
        self._rarities = np.log1p((self._n - df + 0.5) / (df + 0.5))
        self._forward = snapshot.arrays.forward
        self._known: dict[tuple[int, ...], Floats | None] = {}

    def score(self, source: int) -> Floats | None:
        """Return the fit, shape (P,), in [0, 1]; None if the source lacks no term."""
        own = set(self._forward.row(source)[0].tolist())
        missing = tuple(i for i, term in enumerate(self._terms) if term not in own)
        if missing not in self._known:
            self._known[missing] = self._compute(missing)
        return self._known[missing]

    def _compute(self, missing: tuple[int, ...]) -> Floats | None:
        scores = bm25(self._postings, {self._terms[i]: 1.0 for i in missing}, self._n)
        best = float(scores.max(initial=0.0))
        if best <= 0:
            return None
        share = float(self._rarities[list(missing)].sum() / self._rarities.sum())
        return np.asarray(scores * (share / best), dtype=np.float64)


def _top(scores: Floats, most: int) -> NDArray[np.int64]:
    rounded = np.round(scores, 12)
    found = np.flatnonzero(rounded > 0)
    return found[np.argsort(-rounded[found], kind="stable")][:most]
