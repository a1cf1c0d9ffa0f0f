"""What the best documents leave of a question: the words that they do not have, and the documents that do have them.

A question whose answer stands in several documents says a little of each. Plain retrieval adds up all words, so that
whatever says most of them comes first, and after it what says the same again. What a reader still lacks is what the
first document does not say.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from causalist.memory.snapshot import View
from causalist.memory.sparse_matrix import Floats

# Chosen on the tuning half of the benchmark; see the decisions.
_FIRST = 2  # best documents of which it is asked what they leave
_POWER = 6  # of their scores, scaled by the best
LONG = 10  # terms of a question that says more than one thing
_SHORTER = 2  # power by which what shorter ones leave counts less
_WHOLE = 0.3  # the share of the question's rarity above which what is left counts whole


@dataclass(frozen=True, slots=True)
class Remainder:
    """How much of what is left of the question each document has, `covered`, shape (documents,), and each passage by
    itself, `said`, shape (P,), both in [0, 1]; `lacking`: the terms that the best document does not have."""

    covered: Floats
    said: Floats
    lacking: tuple[int, ...]


def remainder_of(terms: Iterable[int], plain: Floats, view: View) -> Remainder | None:
    """What the best documents leave of the question; None where they leave nothing.

    `terms`: those of the question; `plain`: scores of all passages, shape (P,). With U the terms that a first document
    lacks, idf those of documents,

        c(d) = (sum of idf over U in d / sum of idf over U)^2

    is averaged over the _FIRST best documents, weighed by (score / best score)^_POWER. The same is done for passages in
    place of d, since who says two missing words in one place says more than who has them pages apart. Both are scaled
    down where U is a small part of the question (what is left of a question that one document answers is noise) and
    where the question has fewer than LONG terms: a short one says one thing, of which documents lack a word because
    they use another."""
    firsts, scores = _first_documents(plain, view)
    by_term = {term: _documents_with(term, view) for term in terms}
    lacking = tuple(t for t, has in by_term.items() if not has[firsts[0]]) if firsts else ()
    if not lacking:
        return None
    n = view.n_documents
    idf = {t: float(np.log1p((n - has.sum() + 0.5) / (has.sum() + 0.5))) for t, has in by_term.items()}
    weights = (scores / scores[0]) ** _POWER
    covered, said = np.zeros(n), np.zeros(view.arrays.n_passages)
    for document, weight in zip(firsts, weights.tolist(), strict=True):
        left = [t for t, has in by_term.items() if not has[document]]
        total = sum(idf[t] for t in left)
        if total > 0:
            share, part = np.zeros(n), np.zeros(len(said))
            for term in left:
                share[by_term[term]] += idf[term] / total
                part[_passages_with(term, view)] += idf[term] / total
            covered += weight * share**2
            said += weight * part**2
    amount = min(1.0, sum(idf[t] for t in lacking) / sum(idf.values()) / _WHOLE)
    scale = amount * min(1.0, len(by_term) / LONG) ** _SHORTER / float(weights.sum())
    return Remainder(covered * scale, said * scale, lacking)


def remainder_support(remainder: Remainder, view: View) -> tuple[Floats, Floats]:
    """What each passage gets, shapes (P,): of what its document covers, if it has a lacking term itself; and of what it
    says by itself."""
    says_it = np.zeros(view.arrays.n_passages, dtype=np.bool_)
    for term in remainder.lacking:
        says_it[_passages_with(term, view)] = True
    return np.where(says_it, remainder.covered[view.document_of], 0.0), remainder.said


def _first_documents(plain: Floats, view: View) -> tuple[list[int], Floats]:
    """The best documents by their best passages, best first, ties by number; and their scores."""
    best = np.zeros(view.n_documents)
    np.maximum.at(best, view.document_of, np.round(plain, 12))
    order = np.lexsort((np.arange(len(best)), -best))[:_FIRST]
    order = order[best[order] > 0]
    return order.tolist(), best[order]


def _passages_with(term: int, view: View) -> NDArray[np.int32]:
    postings = view.arrays.postings
    return postings.documents[int(postings.indptr[term]) : int(postings.indptr[term + 1])]


def _documents_with(term: int, view: View) -> NDArray[np.bool_]:
    has = np.zeros(view.n_documents, dtype=np.bool_)
    has[view.document_of[_passages_with(term, view)]] = True
    return has
