"""How much of a question a document says, whatever it says besides, and how much of a name a question says."""

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from causalist.model.lexical import LexicalIndex, Postings

Scores = NDArray[np.float64]  # (n_nodes,), indexed by NodeIndex

# Half of a question says little of what it means, and nearly all of it names the thing (docs/decisions/0030).
_SAID_BY_NAME = 4
_FEWEST_ASKED = 2


def covered_share(terms: Mapping[int, float], postings: Postings, n: int) -> Scores:
    """How much of the question's words a document has, each counted once by weight and rarity."""
    found, total = np.zeros(n), 0.0
    for term, weight in sorted(terms.items()):
        start, stop = int(postings.indptr[term]), int(postings.indptr[term + 1])
        value = weight * rarity(postings, term)
        found[postings.documents[start:stop]] += value
        total += value
    return found / total if total > 0 else found


def said_by_names(asked: Mapping[str, float], lexical: LexicalIndex, n: int) -> Scores:
    """How much of the question's own words a name has, to the power _SAID_BY_NAME; nothing where the repository has
    fewer than two of them, as one word is in many names."""
    known = {number: weight for term, weight in asked.items() if (number := lexical.terms.position(term)) >= 0}
    if len(known) < _FEWEST_ASKED:
        return np.zeros(n)
    share: Scores = covered_share(known, lexical.symbol_names, n) ** _SAID_BY_NAME
    return share


def share_of_names(terms: Collection[int], lexical: LexicalIndex, n: int) -> Scores:
    """The share of the words of a name that are among `terms`; the whole beside its parts does not count."""
    postings = lexical.symbol_names
    found = np.zeros(n)
    for term in sorted(terms):
        found[postings.documents[int(postings.indptr[term]) : int(postings.indptr[term + 1])]] += 1.0
    # Of names that the question has nothing of, nobody asks how long they are.
    asked = postings.documents[(found > 0).take(postings.documents)]
    length = np.bincount(asked, minlength=n)
    length = np.maximum(np.where(length > 1, length - 1, length), 1)
    return np.minimum(found / length, 1.0)


def rarity(postings: Postings, term: int) -> float:
    """The inverse document frequency of a term, as in BM25; above 0."""
    frequency = int(postings.indptr[term + 1] - postings.indptr[term])
    return float(np.log1p((postings.n_documents - frequency + 0.5) / (frequency + 0.5)))


def rarest_weight(terms: Mapping[int, float], lexical: LexicalIndex, n: int) -> float:
    """What a name or path has to say to say all: the weight of the question's three rarest terms.

    Scaled by the best instead, a name that shares one common word with the question would count in full wherever no
    name shares more.
    """
    frequency = np.diff(lexical.definitions.indptr)
    weights = sorted(
        (weight * float(np.log1p((n - frequency[t] + 0.5) / (frequency[t] + 0.5))) for t, weight in terms.items()),
        reverse=True,
    )
    return sum(weights[:3]) or 1.0
