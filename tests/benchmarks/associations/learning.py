"""Bags of terms -> for each term, those that stand in the same company.

Counts of pairs become positive pointwise mutual information with smoothed contexts (Levy, Goldberg and Dagan, 2015:
the probability of a context to the power of 0.75), and a truncated singular value decomposition of that matrix gives each
term a vector, U times the root of the singular values. Terms are alike by the cosine of their vectors, if they also stand
together: vectors of rare terms are like many that have nothing to do with them.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds

from causalist.rank.terms import STOP_WORDS
from tests.benchmarks.associations.bags import Bag

DIMENSIONS = 128
MOST_NEIGHBOURS = 20
LEAST_COSINE = 0.45
LEAST_INFORMATION = 0.5
_LEAST_DOCUMENTS = 40
_LEAST_COUNT = 0.6  # of a pair, over all repositories; fewer are chance
_SMOOTHING = 0.75
_HEXADECIMAL = re.compile("[a-f]+")
# Names of projects, and words of grammars that stand beside everything.
LEFT_OUT = frozenset(
    """abseil alamofire astropy bash cat celeri chi circ clap cobra dateparser django ecto elixir eslint etcd fastapi flask fmt jackson
    kotlin kotlinx ktor libuv matplotlib nlohmann phoenix playwright poetri prometheus pydant pylint pytest rack rail retrofit scikit
    seaborn serd sklearn sphinx sympi tokio trpc typeorm vitest vue vuej xarray zod
    cls ctx def err errorf fn func impl let nil null printf println pub sprintf struct undefin var void const et ut sit est dolor
    ipsum lorem sed""".split()
)


def learn(repositories: Sequence[Sequence[Bag]]) -> Iterator[tuple[str, list[tuple[str, float]]]]:
    """(term, [(other, cosine)], best first) for the bags of each repository; terms sorted."""
    vocabulary = _vocabulary(repositories)
    information = _information(_counted(repositories, vocabulary))
    vectors = _vectors(information)
    fit = np.array([len(term) > 2 and term not in LEFT_OUT and not _HEXADECIMAL.fullmatch(term) for term in vocabulary])
    for number, term in enumerate(vocabulary):
        if not fit[number]:
            continue
        cosines = vectors @ vectors[number]
        together = information[number].toarray().ravel() >= LEAST_INFORMATION
        order = np.argsort(-np.where(fit & together, cosines, 0.0), kind="stable")[:MOST_NEIGHBOURS].tolist()
        kept = [(vocabulary[i], float(cosines[i])) for i in order if together[i] and cosines[i] >= LEAST_COSINE]
        if kept:
            yield term, kept


def _vocabulary(repositories: Sequence[Sequence[Bag]]) -> list[str]:
    """Terms of at least one repository in fifteen, and of four: what fewer use is their own jargon."""
    documents: Counter[str] = Counter()
    spread: Counter[str] = Counter()
    for bags in repositories:
        counts = Counter(term for bag in bags for term in bag)
        documents.update(counts)
        spread.update(term for term, n in counts.items() if n > 1)
    least = max(4, len(repositories) // 15)
    return sorted(
        term
        for term, n in spread.items()
        if n >= least and documents[term] >= _LEAST_DOCUMENTS and term not in STOP_WORDS
    )


def _counted(repositories: Sequence[Sequence[Bag]], vocabulary: Sequence[str]) -> Any:
    """Shape (n_terms, n_terms): the sum over repositories of the roots of their counts, so that none outweighs the
    others; a bag of n terms counts 1/n for each pair."""
    number = {term: i for i, term in enumerate(vocabulary)}
    total = sparse.csr_matrix((len(vocabulary), len(vocabulary)), dtype=np.float32)
    for bags in repositories:
        columns: list[int] = []
        starts = [0]
        values: list[float] = []
        for bag in bags:
            terms = sorted(number[term] for term in bag if term in number)
            columns += terms
            values += [max(len(terms), 1) ** -0.5] * len(terms)
            starts.append(len(columns))
        rows = sparse.csr_matrix(
            (np.array(values, np.float32), np.array(columns, np.int32), np.array(starts)), shape=(len(bags), len(number))
        )
        pairs = (rows.T @ rows).tocsr()
        pairs.data = np.sqrt(pairs.data)
        total = total + pairs
    total.setdiag(0)
    total.data[total.data < _LEAST_COUNT] = 0
    total.eliminate_zeros()
    return total


def _information(counts: Any) -> Any:
    """Shape (n_terms, n_terms), sparse: positive pointwise mutual information of a term (row) and a context."""
    row = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    context = row**_SMOOTHING
    context /= context.sum()
    pairs = counts.tocoo()
    information = np.log(pairs.data / row[pairs.row] / context[pairs.col])
    positive = information > 0
    kept = (information[positive], (pairs.row[positive], pairs.col[positive]))
    return sparse.csr_matrix(kept, shape=counts.shape)


def _vectors(information: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Shape (n_terms, DIMENSIONS), of length 1."""
    left, values, _ = svds(information, k=min(DIMENSIONS, information.shape[0] - 1), random_state=0)
    vectors = left * np.sqrt(values)
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12))
