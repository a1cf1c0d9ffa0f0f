"""Facts -> the lexical index, and BM25 over it.

BM25 (Robertson and Zaragoza, 2009): `idf(t) = ln(1 + (N - df + 0.5) / (df + 0.5))`, and a document's impact for t is
`idf(t) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean length))`. Impacts are computed when the index is
built, so that a question only adds up the postings of its terms.
"""

from collections.abc import Mapping, Sequence
from posixpath import splitext

import numpy as np
from numpy.typing import NDArray

from causalist.model.facts import MODULE_SCOPE, FileFacts
from causalist.model.graph import LinkedGraph
from causalist.model.lexical import LexicalIndex, Postings
from causalist.model.strings import StringTable
from causalist.model.symbols import NodeKind
from causalist.rank.terms import terms_of

K1 = 1.2  # the usual default
B_DEFINITION = 0.6  # chosen by hand: definitions vary in length for reasons other than verbosity
B_FILE = 0.75  # the usual default
# How many occurrences in the body a field is worth; chosen by hand, see docs/benchmarks.md.
WEIGHT_NAME = 3.0
WEIGHT_OUTER_NAME = 1.0
WEIGHT_PATH = 1.0
WEIGHT_PATH_IN_FILE = 3.0

_Triples = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]  # document, term, weighted count


def build_lexical(files: Sequence[tuple[str, FileFacts]], linked: LinkedGraph) -> LexicalIndex:
    """The lexical index of a repository; `files` in the order in which the graph was built from them."""
    vocabulary = _Vocabulary()
    documents, words, counts = _occurrences(files, linked, vocabulary)
    names = _names(files, linked, vocabulary)
    paths = _paths(files, linked, vocabulary)
    order = vocabulary.sorted_order()
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))

    def sort(triples: _Triples) -> _Triples:
        return triples[0], rank[triples[1]], triples[2]

    body = sort(vocabulary.expand(documents, words, counts))
    own, outer = sort(names[0]), sort(names[1])
    path = sort(paths)
    n_terms = len(order)
    graph = linked.graph
    file_of = graph.nodes.files.astype(np.int64)
    path_of_documents = _spread_paths(path, file_of, graph.nodes.kinds)
    definitions = _bm25(
        _concatenate([(body, 1.0), (own, WEIGHT_NAME), (outer, WEIGHT_OUTER_NAME), (path_of_documents, WEIGHT_PATH)]),
        n_terms,
        B_DEFINITION,
    )
    whole = (file_of[body[0]], body[1], body[2])
    files_index = _bm25(_concatenate([(whole, 1.0), (path, WEIGHT_PATH_IN_FILE)]), n_terms, B_FILE)
    terms = StringTable.from_strings(vocabulary.terms[i] for i in order)
    name_table, name_indptr, name_nodes = _name_table(files, linked)
    return LexicalIndex(
        terms=terms,
        definitions=definitions,
        files=files_index,
        paths=_idf_postings(path, n_terms, len(files)),
        symbol_names=_idf_postings(own, n_terms, len(graph.nodes)),
        names=name_table,
        name_indptr=name_indptr,
        name_nodes=name_nodes,
    )


def bm25(postings: Postings, terms: Mapping[int, float], n_nodes: int) -> NDArray[np.float64]:
    """Scores of all nodes, shape (n_nodes,): the weighted sum of the impacts of `terms` (number -> weight)."""
    scores = np.zeros(n_nodes, dtype=np.float64)
    for term, weight in sorted(terms.items()):
        start, stop = int(postings.indptr[term]), int(postings.indptr[term + 1])
        # A document stands at most once in a term's postings, so plain indexing adds each once.
        scores[postings.documents[start:stop]] += weight * postings.impacts[start:stop]
    return scores


class _Vocabulary:
    """Numbers for terms, and the terms of each word."""

    def __init__(self) -> None:
        self.terms: list[str] = []
        self._number: dict[str, int] = {}
        self._words: dict[str, int] = {}
        self._word_terms: list[tuple[int, ...]] = []

    def word(self, word: str) -> int:
        number = self._words.get(word)
        if number is None:
            number = self._words[word] = len(self._word_terms)
            self._word_terms.append(tuple(self.term(t) for t in terms_of(word)))
        return number

    def term(self, term: str) -> int:
        number = self._number.get(term)
        if number is None:
            number = self._number[term] = len(self.terms)
            self.terms.append(term)
        return number

    def sorted_order(self) -> NDArray[np.int64]:
        return np.array(sorted(range(len(self.terms)), key=self.terms.__getitem__), dtype=np.int64)

    def expand(self, documents: NDArray[np.int64], words: NDArray[np.int64], counts: NDArray[np.float64]) -> _Triples:
        """(document, word, count) -> (document, term, count), one for each term of the word."""
        lengths = np.array([len(t) for t in self._word_terms], dtype=np.int64)
        flat = np.array([t for terms in self._word_terms for t in terms], dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]) if len(lengths) else lengths
        repeats = lengths[words]
        total = int(repeats.sum())
        before = np.cumsum(repeats) - repeats
        within = np.arange(total, dtype=np.int64) - np.repeat(before, repeats)
        terms = flat[np.repeat(starts[words], repeats) + within]
        return np.repeat(documents, repeats), terms, np.repeat(counts, repeats)


def _occurrences(files: Sequence[tuple[str, FileFacts]], linked: LinkedGraph, vocabulary: _Vocabulary) -> _Triples:
    documents: list[NDArray[np.int64]] = []
    words: list[NDArray[np.int64]] = []
    counts: list[NDArray[np.float64]] = []
    for i, (_, facts) in enumerate(files):
        if not facts.counts:
            continue
        numbers = np.array([vocabulary.word(w) for w in facts.words], dtype=np.int64)
        rows = np.array(facts.counts, dtype=np.int64)
        nodes = linked.document_nodes[i]
        # Position -1 is the file itself, appended at the end so that the index -1 finds it.
        of_document = np.append(nodes, linked.file_nodes[i]).astype(np.int64)
        assert MODULE_SCOPE == -1
        documents.append(of_document[rows[:, 0]])
        words.append(numbers[rows[:, 1]])
        counts.append(rows[:, 2].astype(np.float64))
    if not documents:
        empty = np.zeros(0, dtype=np.int64)
        return empty, empty, np.zeros(0)
    return np.concatenate(documents), np.concatenate(words), np.concatenate(counts)


def _names(
    files: Sequence[tuple[str, FileFacts]], linked: LinkedGraph, vocabulary: _Vocabulary
) -> tuple[_Triples, _Triples]:
    """Terms of the own names of definitions and headings, and of the names around them."""
    own: list[tuple[int, int]] = []
    outer: list[tuple[int, int]] = []
    for i, (_, facts) in enumerate(files):
        nodes = linked.document_nodes[i].tolist()
        for node, definition in zip(nodes, facts.definitions, strict=False):
            if definition.kind == NodeKind.FIELD:
                continue  # found by its exact name only; its words count for its type
            own.extend((node, vocabulary.term(t)) for t in terms_of(definition.name))
            around = definition.qualname.rpartition(".")[0]
            outer.extend((node, vocabulary.term(t)) for part in around.split(".") if part for t in terms_of(part))
        for node, passage in zip(nodes, facts.passages, strict=False):
            found = dict.fromkeys(t for word in passage.title.split() for t in terms_of(word))
            own.extend((node, vocabulary.term(t)) for t in found)
    return _as_triples(own), _as_triples(outer)


def _paths(files: Sequence[tuple[str, FileFacts]], linked: LinkedGraph, vocabulary: _Vocabulary) -> _Triples:
    rows: list[tuple[int, int]] = []
    for i, (path, _) in enumerate(files):
        found = dict.fromkeys(t for part in splitext(path)[0].split("/") for t in terms_of(part))
        rows.extend((int(linked.file_nodes[i]), vocabulary.term(t)) for t in found)
    return _as_triples(rows)


def _spread_paths(path: _Triples, file_of: NDArray[np.int64], kinds: NDArray[np.uint8]) -> _Triples:
    """Path terms of files as terms of all their documents."""
    order = np.argsort(path[0], kind="stable")
    documents, terms = path[0][order], path[1][order]
    nodes = np.flatnonzero((file_of >= 0) & (kinds != NodeKind.EXTERNAL) & (kinds != NodeKind.FIELD))
    first = np.searchsorted(documents, file_of[nodes], side="left")
    last = np.searchsorted(documents, file_of[nodes], side="right")
    repeats = last - first
    within = np.arange(int(repeats.sum())) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    picked = terms[np.repeat(first, repeats) + within]
    return np.repeat(nodes, repeats), picked, np.ones(len(picked))


def _as_triples(rows: list[tuple[int, int]]) -> _Triples:
    array = np.array(rows, dtype=np.int64).reshape(-1, 2)
    return array[:, 0], array[:, 1], np.ones(len(array))


def _concatenate(parts: Sequence[tuple[_Triples, float]]) -> _Triples:
    return (
        np.concatenate([p[0] for p, _ in parts]),
        np.concatenate([p[1] for p, _ in parts]),
        np.concatenate([p[2] * weight for p, weight in parts]),
    )


def _summed(triples: _Triples) -> _Triples:
    """Equal (term, document) pairs added up, sorted by term, then document."""
    documents, terms, counts = triples
    if not len(documents):
        return triples
    width = int(documents.max()) + 1
    keys, inverse = np.unique(terms * width + documents, return_inverse=True)
    summed = np.bincount(inverse, weights=counts, minlength=len(keys)).astype(np.float64)
    return (keys % width).astype(np.int64), (keys // width).astype(np.int64), summed


def _bm25(triples: _Triples, n_terms: int, b: float) -> Postings:
    documents, terms, counts = _summed(triples)
    if not len(documents):
        return Postings(np.zeros(n_terms + 1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32))
    length = np.bincount(documents, weights=counts)
    n_documents = int(np.count_nonzero(length))
    norm = K1 * (1 - b + b * length[documents] / (length.sum() / n_documents))
    frequency = np.bincount(terms, minlength=n_terms)
    idf = np.log1p((n_documents - frequency + 0.5) / (frequency + 0.5))
    impacts = idf[terms] * counts * (K1 + 1) / (counts + norm)
    return _postings(documents, terms, impacts, n_terms)


def _idf_postings(triples: _Triples, n_terms: int, n_documents: int) -> Postings:
    documents, terms, _ = _summed(triples)
    frequency = np.bincount(terms, minlength=n_terms)
    idf = np.log1p((n_documents - frequency + 0.5) / (frequency + 0.5))
    return _postings(documents, terms, idf[terms], n_terms)


def _postings(
    documents: NDArray[np.int64], terms: NDArray[np.int64], impacts: NDArray[np.float64], n_terms: int
) -> Postings:
    indptr = np.zeros(n_terms + 1, dtype=np.int64)
    np.cumsum(np.bincount(terms, minlength=n_terms), out=indptr[1:])
    return Postings(indptr, documents.astype(np.int32), impacts.astype(np.float32))


def _name_table(
    files: Sequence[tuple[str, FileFacts]], linked: LinkedGraph
) -> tuple[StringTable, NDArray[np.int64], NDArray[np.int32]]:
    nodes_of: dict[str, set[int]] = {}
    for i, (path, facts) in enumerate(files):
        base = path.rpartition("/")[2].lower()
        for name in {base, base.partition(".")[0]}:
            nodes_of.setdefault(name, set()).add(int(linked.file_nodes[i]))
        for node, definition in zip(linked.document_nodes[i].tolist(), facts.definitions, strict=False):
            nodes_of.setdefault(definition.name.lower(), set()).add(node)
    names = sorted(nodes_of)
    indptr = np.zeros(len(names) + 1, dtype=np.int64)
    np.cumsum([len(nodes_of[n]) for n in names], out=indptr[1:])
    nodes = [node for name in names for node in sorted(nodes_of[name])]
    return StringTable.from_strings(names), indptr, np.array(nodes, dtype=np.int32)
