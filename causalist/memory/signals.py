"""What speaks for a passage, signal by signal, and what mode `hippo` makes of it: a weighed sum that explains itself.

| Signal | In [0, 1] |
|---|---|
| `vector` | plain retrieval (vectors, or BM25 without an embedder), by the best |
| `graph` | the PageRank of the passage's entities, by the best |
| `definition` | how much its document defines of what the best passages name |
| `remainder` | how much its document has of what the best documents leave of the question |
| `own_remainder` | how much it has of that by itself |
| `document` | BM25 of its document as a whole, by the best; for passages with a word of the question |
| `share` | the square of the share of the question's rarity that its words have |

Weights are those of `RetrievalSettings`, in proportion to their sum, so that a score is in [0, 1] as well. The defaults
are fitted by `python -m tests.benchmarks.memory.fit`.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from causalist.memory.entity_linking import known_terms
from causalist.memory.remainder import LONG, remainder_of, remainder_support
from causalist.memory.snapshot import View
from causalist.memory.sparse_matrix import Floats
from causalist.rank.lexical.bm25 import K1

if TYPE_CHECKING:
    from causalist.memory.retrieval import RetrievalSettings

SIGNALS = ("vector", "graph", "definition", "remainder", "own_remainder", "document", "share")
OF_THE_GRAPH = ("graph", "definition")  # weighed by the share of passages with entities
_OF_LONG_QUESTIONS = ("graph", "definition", "document", "share")
_SOURCES = 2  # best passages by words whose entities are followed to their definitions
_POWER = 3  # of their scores, scaled by the best; with _SOURCES chosen on the tuning half of the benchmark
_DIGITS = 12  # scores are compared rounded, then by passage id


def combined(text: str, graph: Floats, plain: Floats, view: View, settings: "RetrievalSettings") -> Floats:
    """Scores of all passages, shape (P,), in [0, 1]; `graph` and `plain`: those of a walk and of plain retrieval.

    The weights of the walk and of definitions are multiplied with the share of passages that have entities, and all but
    those of remainders, which see to it themselves, with the question's length as far as it is below LONG terms: what
    a short question says stands in one place mostly. What they lack to their whole is plain retrieval's."""
    if not settings.combine_with_vector:
        return graph
    total = sum(settings.weights)
    shares = dict(zip(SIGNALS, (weight / total for weight in settings.weights), strict=True))
    shares.update((name, shares[name] * view.coverage) for name in OF_THE_GRAPH)
    amount = min(1.0, len(known_terms(text, view)) / LONG) if settings.by_length else 1.0
    shares.update((name, shares[name] * amount) for name in _OF_LONG_QUESTIONS)
    shares["vector"] += 1.0 - sum(shares.values())
    found = signals(text, graph, plain, view, [name for name in SIGNALS if shares[name] > 0])
    scores = np.zeros(view.arrays.n_passages)
    for name in SIGNALS:
        if name in found:
            scores += shares[name] * found[name]
    return scores


def signals(
    text: str, graph: Floats, plain: Floats, view: View, wanted: Iterable[str] = SIGNALS
) -> Mapping[str, Floats]:
    """The signals that are wanted, by name, each of shape (P,)."""
    wanted = set(wanted)
    found = {"vector": _by_best(plain), "graph": _by_best(graph)}
    if "definition" in wanted:
        found["definition"] = definition_support(plain, view)
    terms = known_terms(text, view)
    if wanted & {"remainder", "own_remainder"}:
        remainder = remainder_of(terms, plain, view)
        if remainder is not None:
            found["remainder"], found["own_remainder"] = remainder_support(remainder, view)
    if wanted & {"document", "share"}:
        found["document"], found["share"] = word_support(terms, view)
    return {name: found[name] for name in SIGNALS if name in wanted and name in found}


def word_support(terms: Iterable[int], view: View) -> tuple[Floats, Floats]:
    """(`document`, `share`) of passages. With N documents of which df have a term, a term's rarity is
    ln(1 + (N - df + 0.5) / (df + 0.5)), the idf of BM25."""
    postings, document_of, n = view.arrays.postings, view.document_of, view.n_documents
    whole, said, total = np.zeros(n), np.zeros(view.arrays.n_passages), 0.0
    for term in terms:
        part = slice(int(postings.indptr[term]), int(postings.indptr[term + 1]))
        passages = postings.documents[part]
        documents, of = np.unique(document_of[passages], return_inverse=True)
        counts = np.bincount(of, weights=postings.counts[part])
        rarity = float(np.log1p((n - len(documents) + 0.5) / (len(documents) + 0.5)))
        whole[documents] += rarity * counts * (K1 + 1) / (counts + view.document_norms[documents])
        said[passages] += rarity
        total += rarity
    if not total:
        return whole[document_of], said
    return np.where(said > 0, _by_best(whole)[document_of], 0.0), np.asarray((said / total) ** 2, dtype=np.float64)


def definition_support(plain: Floats, view: View) -> Floats:
    """How much each passage's document defines of what the best passages name, shape (P,), in [0, 1].

    With a the scores of the best passages, x = sum over them of a for each entity that they name, divided by the number
    of documents which define it; a document gets the sum of x over what it defines, and the square root of that, scaled
    by the best, goes to its passages that share a word with the question."""
    arrays = view.arrays
    found = np.zeros(arrays.n_passages)
    top = best_of(plain, _SOURCES)
    if not len(top) or not len(arrays.defines.indices):
        return found
    weights = (plain[top] / plain[top[0]]) ** _POWER
    entities, _, source = arrays.mentions.gathered(top)
    x = np.bincount(entities, weights=weights[source], minlength=arrays.n_entities)
    named = np.flatnonzero(x)
    documents, _, of = view.definers.gathered(named)
    share = x[named] / np.maximum(np.diff(view.definers.indptr)[named], 1)
    by_document = np.bincount(documents, weights=share[of], minlength=view.n_documents)
    best = float(by_document.max(initial=0.0))
    if best > 0:
        found = np.sqrt(by_document / best)[view.document_of] * (plain > 0)
    return np.asarray(found, dtype=np.float64)


def best_of(scores: Floats, most: int) -> NDArray[np.int64]:
    """The positions of the highest scores above 0, best first, ties by position, which is that of the passage id."""
    rounded = np.round(scores, _DIGITS)
    found = np.flatnonzero(rounded > 0)
    if len(found) > 4 * most:
        edge = np.partition(rounded[found], len(found) - most)[len(found) - most]
        found = found[rounded[found] >= edge]
    return found[np.argsort(-rounded[found], kind="stable")][:most]


def _by_best(scores: Floats) -> Floats:
    best = float(scores.max(initial=0.0))
    return scores / best if best > 0 else scores
