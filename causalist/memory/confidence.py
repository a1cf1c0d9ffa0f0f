"""How likely the first document is right, from how far it leads the second by words.

With m = 1 - second / first, of the best scores of documents by BM25, the probability is 1 / (1 + e to -(A + B m)).
Fitted on 461 questions over four sets of documents, by a script that is not kept: docs/decisions/0009 has the figures.
"""

from math import exp

import numpy as np

from causalist.memory.snapshot import View
from causalist.memory.sparse_matrix import Floats

_A, _B = -0.258, 10.72
LEAST = 0.45  # below it another attempt is made: the first two documents are as good as each other


def confidence_of(words: Floats, view: View) -> float:
    """`words`: scores of passages by BM25, shape (P,). 0 where nothing matches; 1 at most."""
    documents = np.zeros(view.n_documents)
    np.maximum.at(documents, view.document_of, np.round(words, 12))
    best = float(documents.max(initial=0.0))
    if best <= 0:
        return 0.0
    second = float(np.partition(documents, -2)[-2]) if len(documents) > 1 else 0.0
    return 1.0 / (1.0 + exp(-(_A + _B * (1.0 - second / best))))
