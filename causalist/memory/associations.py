"""Which words go with which in this corpus: what `dense` retrieval means where no embedder is given.

Counts are those of passages and hence integers; they become weights when a question asks. Two words are associated by
positive pointwise mutual information (Church and Hanks 1990) with a smoothed distribution of contexts (Levy et al.
2015). A question's vector holds its words and what goes with them; a passage's its words; both weighed by rarity.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from causalist.memory.arrays import MemoryArrays
from causalist.memory.sparse_matrix import Floats

_SMOOTHING = 0.75
_FEWEST = 2  # passages that two words share
_MOST_PASSAGES = 2_000  # of a word whose company is looked at; more frequent ones go with everything
_MOST_ASSOCIATES = 50  # of a word
ASSOCIATE_WEIGHT = 0.3  # of the closest associate, where the word itself has 1; chosen on the benchmark's tuning half


@dataclass(slots=True)
class Associations:
    """Word associations of one state of the index."""

    arrays: MemoryArrays
    idf: Floats = field(init=False)  # (T,)
    _weights: Floats = field(init=False)  # by posting, the passage's vector scaled to length 1
    _smoothed: Floats = field(init=False)
    _known: dict[int, tuple[NDArray[np.int64], Floats]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        postings = self.arrays.postings
        frequency = np.diff(postings.indptr).astype(np.float64)
        self.idf = np.log1p(self.arrays.n_passages / np.maximum(frequency, 1.0))
        weights = (1.0 + np.log(postings.counts)) * np.repeat(self.idf, np.diff(postings.indptr))
        squares = np.bincount(postings.documents, weights=weights * weights, minlength=self.arrays.n_passages)
        self._weights = weights / np.sqrt(np.maximum(squares, 1e-300))[postings.documents]
        smoothed = frequency**_SMOOTHING
        self._smoothed = smoothed / max(float(np.add.reduce(smoothed)), 1e-300)

    def of(self, term: int) -> tuple[NDArray[np.int64], Floats]:
        """(terms, association in (0, 1]) that go with a term, closest first; itself left out."""
        found = self._known.get(term)
        if found is None:
            found = self._known[term] = self._counted(term)
        return found

    def _counted(self, term: int) -> tuple[NDArray[np.int64], Floats]:
        postings = self.arrays.postings
        documents = postings.documents[postings.indptr[term] : postings.indptr[term + 1]]
        none = np.zeros(0, dtype=np.int64), np.zeros(0)
        if not _FEWEST <= len(documents) <= _MOST_PASSAGES:
            return none
        terms, _, _ = self.arrays.forward.gathered(documents)
        shared = np.bincount(terms, minlength=len(self.arrays.terms))
        shared[term] = 0
        others = np.flatnonzero(shared >= _FEWEST)
        if not len(others):
            return none
        # log(p(other | term) / p_smoothed(other)); divided by its largest possible value it lies in (0, 1].
        information = np.log(shared[others] / len(documents) / self._smoothed[others])
        information *= shared[others] / (shared[others] + 1.0)  # discounted where there is little to count
        positive = information > 0
        others, information = others[positive], information[positive]
        best = np.lexsort((others, -information))[:_MOST_ASSOCIATES]
        if not len(best):
            return none
        return others[best], information[best] / float(information[best[0]])

    def scores(self, terms: Iterable[tuple[int, float]]) -> Floats:
        """Cosines of all passages with a question, shape (P,); `terms`: number and weight of each of its terms."""
        arrays = self.arrays
        vector = np.zeros(len(arrays.terms))
        for term, weight in sorted(terms):
            vector[term] += weight * self.idf[term]
            others, association = self.of(term)
            vector[others] += weight * ASSOCIATE_WEIGHT * association * self.idf[others]
        used = np.flatnonzero(vector)
        found = np.zeros(arrays.n_passages)
        norm = float(np.sqrt(np.add.reduce(vector * vector)))
        for term in used.tolist():
            part = slice(int(arrays.postings.indptr[term]), int(arrays.postings.indptr[term + 1]))
            found[arrays.postings.documents[part]] += vector[term] * self._weights[part]
        scores: Floats = found / norm if norm else found
        return scores
