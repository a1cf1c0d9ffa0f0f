"""Lexical scores of documents and names for the terms of a query, and snippet lines.

The scores measure how much of a query a document contains, and how much of a name a query contains. Snippet lines are
the lines of a long definition that match a query best; a pack shows them instead of the whole.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from causalist.model.scores import Scores
from causalist.rank.terms import terms_of

if TYPE_CHECKING:  # memory over text needs no index of code, nor a parser of questions about it
    from causalist.model.index import LexicalIndex, Postings
    from causalist.rank.query.query import ParsedQuery

# Rows per batch. Smaller arrays are reused by the allocator; larger ones are requested from the system one by one
# (`_internal.forked_task`), which costs more than the sum.
ROWS_AT_ONCE = 30_000
K1 = 1.2  # the usual default

# A name with half of the query's words is weak evidence, one with nearly all is strong (docs/decisions/0028).
_NAME_COVERAGE_POWER = 4
_MIN_QUERY_TERMS = 2
MAX_COMPARED_TERMS = 24  # of a query, where nodes are compared by the terms that they have


class _Slices(Protocol):
    """Numbers of which slices are read."""

    def __getitem__(self, key: slice, /) -> NDArray[Any]:
        """Return the entries of a slice."""


class SlicedPostings(Protocol):
    """Postings, of which the documents of some terms are read; `model.index.Postings` describes the fields."""

    @property
    def indptr(self) -> NDArray[np.int32]:
        """First posting of each term, and the end."""

    @property
    def documents(self) -> _Slices:
        """Documents by term."""

    @property
    def counts(self) -> _Slices:
        """Occurrences of each posting."""

    @property
    def norms(self) -> NDArray[np.float64]:
        """Norms of documents."""

    @property
    def n_documents(self) -> int:
        """Number of documents."""


def query_coverage(terms: Mapping[int, float], postings: SlicedPostings, n: int) -> Scores:
    """Return the share of the words of a query that each document has.

    Each word counts once, by its weight and rarity.
    """
    matched, total = np.zeros(n), 0.0
    for term, weight in sorted(terms.items()):
        start, stop = int(postings.indptr[term]), int(postings.indptr[term + 1])
        value = weight * rarity(postings, term)
        matched[postings.documents[start:stop]] += value
        total += value
    return matched / total if total > 0 else matched


def name_coverage(query_terms: Mapping[str, float], lexical: "LexicalIndex", n: int) -> Scores:
    """Return the share of the query's own words that each name has, to the power _NAME_COVERAGE_POWER.

    All scores are 0 where the repository has fewer than two of these words, as one word is in many names.
    """
    weight_by_number = {
        number: weight for term, weight in query_terms.items() if (number := lexical.terms.position(term)) >= 0
    }
    if len(weight_by_number) < _MIN_QUERY_TERMS:
        return np.zeros(n)
    share: Scores = query_coverage(weight_by_number, lexical.symbol_names, n) ** _NAME_COVERAGE_POWER
    return share


def name_share(terms: Collection[int], lexical: "LexicalIndex", n: int) -> Scores:
    """Return the share of the words of each name that are among `terms`.

    The term for the whole name beside its parts does not count.
    """
    postings = lexical.symbol_names
    matched = np.zeros(n)
    for term in sorted(terms):
        matched[postings.documents[int(postings.indptr[term]) : int(postings.indptr[term + 1])]] += 1.0
    # The length is needed only for names with a match.
    matched_documents = postings.documents[(matched > 0).take(postings.documents)]
    length = np.bincount(matched_documents, minlength=n)
    length = np.maximum(np.where(length > 1, length - 1, length), 1)
    return np.minimum(matched / length, 1.0)


def rarity(postings: SlicedPostings, term: int) -> float:
    """Return the inverse document frequency of a term, as in BM25; it is above 0."""
    frequency = int(postings.indptr[term + 1] - postings.indptr[term])
    return float(np.log1p((postings.n_documents - frequency + 0.5) / (frequency + 0.5)))


def rarity_of_shared_words(
    names: Iterable[str], lexical: "LexicalIndex", nodes: NDArray[np.int64], n: int
) -> NDArray[np.float64]:
    """Return the sum of the rarities of the words of a name that each of `nodes` has, the largest of several names.

    A word in the text of a node counts once, and once more in its name. There are `n` nodes in all.
    """
    row_of_node = np.full(n, -1)
    row_of_node[nodes] = np.arange(len(nodes))
    largest, known = np.zeros(len(nodes)), dict[tuple[int, bool], NDArray[np.int64]]()
    for name in names:
        rarities = np.zeros(len(nodes))
        words = {term for word in re.findall(r"\w+", name) for term in terms_of(word)}
        for number in sorted(lexical.terms.position(term) for term in words):
            for is_name in (False, True) if number >= 0 else ():
                if (number, is_name) not in known:  # names of one repository have many words in common
                    postings = lexical.symbol_names if is_name else lexical.definitions
                    documents = postings.documents[int(postings.indptr[number]) : int(postings.indptr[number + 1])]
                    rows = row_of_node[documents]
                    known[number, is_name] = rows[rows >= 0]
                rarities[known[number, is_name]] += rarity(lexical.definitions, number)
        largest = np.maximum(largest, rarities)
    return largest


def find_nodes_with_words(name: str, lexical: "LexicalIndex") -> NDArray[np.int64]:
    """Return the nodes, ascending, that have all words of a name in their text; none if the name has no words."""
    nodes: NDArray[np.int64] | None = None
    for term in sorted({term for word in re.findall(r"\w+", name) for term in terms_of(word)}):
        number, postings = lexical.terms.position(term), lexical.definitions
        if number < 0:
            return np.zeros(0, dtype=np.int64)
        documents = postings.documents[int(postings.indptr[number]) : int(postings.indptr[number + 1])]
        if nodes is None:
            nodes = documents.astype(np.int64)
        else:  # `np.intersect1d` imports `numpy.ma`, which takes longer than all of this
            nodes = nodes[np.isin(nodes, documents, kind="table")]
    return np.zeros(0, dtype=np.int64) if nodes is None else nodes


def terms_of_nodes(
    question: "ParsedQuery", lexical: "LexicalIndex", nodes: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return (the share of each term in the query, which node has which term in its text or name).

    The shapes are (n_terms,) and (n, n_terms). Shares are by weight and rarity and sum to 1; only the
    MAX_COMPARED_TERMS weightiest terms count.
    """
    texts, names = lexical.definitions, lexical.symbol_names
    numbers = {lexical.terms.position(term): weight for term, weight in sorted(question.terms.items())}
    weights = {number: weight * rarity(texts, number) for number, weight in numbers.items() if number >= 0}
    first = sorted(weights, key=lambda number: (-weights[number], number))[:MAX_COMPARED_TERMS]
    has = np.zeros((len(nodes), len(first)), dtype=np.bool_)
    for column, term in enumerate(first):
        for postings in (texts, names):
            documents = postings.documents[int(postings.indptr[term]) : int(postings.indptr[term + 1])]
            if len(documents):
                at = np.minimum(np.searchsorted(documents, nodes), len(documents) - 1)
                has[:, column] |= documents[at] == nodes
    shares = np.array([weights[term] for term in first])
    return shares / max(float(shares.sum()), 1e-9), has


def max_idf_weight(terms: Mapping[int, float], lexical: "LexicalIndex", n: int) -> float:
    """Return the weight at which a name or path counts in full.

    This is the weight of the query's three rarest terms.

    Scaled by the best instead, a name that shares one common word with the query would count in full wherever no
    name shares more.
    """
    frequency = np.diff(lexical.definitions.indptr)
    weights = sorted(
        (weight * float(np.log1p((n - frequency[t] + 0.5) / (frequency[t] + 0.5))) for t, weight in terms.items()),
        reverse=True,
    )
    return sum(weights[:3]) or 1.0


def impacts(postings: SlicedPostings, term: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return (documents, score of each for the term), both of shape (n,).

    The score follows the BM25 formula. Postings without counts give the idf.
    """
    start, stop = int(postings.indptr[term]), int(postings.indptr[term + 1])
    documents = postings.documents[start:stop]
    frequency = stop - start
    idf = float(np.log1p((postings.n_documents - frequency + 0.5) / (frequency + 0.5)))
    if not len(postings.norms):
        return documents, np.full(frequency, idf)
    counts = postings.counts[start:stop].astype(np.float64)
    return documents, idf * counts * (K1 + 1) / (counts + postings.norms[documents])


def impact_on(postings: "Postings", term: int, document: int) -> float:
    """Return the score of one document for the term, equal to its value in `impacts`.

    The score is 0 if the document does not have the term.
    """
    start, stop = int(postings.indptr[term]), int(postings.indptr[term + 1])
    at = start + int(np.searchsorted(postings.documents[start:stop], document))
    if at == stop or postings.documents[at] != document:
        return 0.0
    frequency = stop - start
    idf = float(np.log1p((postings.n_documents - frequency + 0.5) / (frequency + 0.5)))
    if not len(postings.norms):
        return idf
    count = float(postings.counts[at])
    return idf * count * (K1 + 1) / (count + float(postings.norms[document]))


def bm25(postings: SlicedPostings, terms: Mapping[int, float], n_nodes: int) -> NDArray[np.float64]:
    """Return the scores of all nodes, shape (n_nodes,).

    A score is the weighted sum of the impacts of `terms` (number -> weight).
    """
    scores = np.zeros(n_nodes, dtype=np.float64)
    for term, weight in sorted(terms.items()):
        documents, values = impacts(postings, term)
        # A document occurs at most once in the postings of a term, so plain indexing adds each once.
        scores[documents] += weight * values
    return scores


def find_nodes_by_name(name: str, lexical: "LexicalIndex") -> list[int]:
    """Return the nodes whose last name, title, file name or file stem is `name`, ignoring case."""
    at = lexical.names.position(name.lower())
    if at < 0:
        return []
    return [int(n) for n in lexical.name_nodes[lexical.name_indptr[at] : lexical.name_indptr[at + 1]]]


_WORD = re.compile(r"\w+")


class SnippetLines:
    """Search for the lines of a definition that match one query best.

    The weight of a line is the sum over the distinct query terms in it, by their weight and rarity:

        sum over terms of weight * ln(1 + (N - df + 1/2) / (df + 1/2))        as in BM25, over N documents
    """

    def __init__(self, question: "ParsedQuery", lexical: "LexicalIndex") -> None:
        postings = lexical.definitions
        self._weights: dict[str, float] = {}
        for term, weight in {**question.abbreviations, **question.terms}.items():
            number = lexical.terms.position(term)
            if number >= 0:
                having = int(postings.indptr[number + 1] - postings.indptr[number])
                rarity = np.log1p((postings.n_documents - having + 0.5) / (having + 0.5))
                self._weights[term] = weight * float(rarity)
        self._terms: dict[str, tuple[str, ...]] = {}
        beginnings = "|".join(sorted({_beginning(term) for term in self._weights}))
        self._may_have = re.compile(beginnings)

    def find(self, text: str) -> Mapping[int, float]:
        """Weight by line (0 for the first), of those that have any."""
        words = set(_WORD.findall(text))
        unknown = words - self._terms.keys()
        if unknown:
            self._learn(unknown)
        known_words = {word for word in words if self._terms[word]}
        if not known_words:
            return {}
        # Few words of a text are query words: search for each, and count the lines up to it.
        occurrences = sorted((offset, word) for word in known_words for offset in _places(word, text))
        terms: dict[int, set[str]] = {}
        row = counted = 0
        for offset, word in occurrences:
            row += text.count("\n", counted, offset)
            counted = offset
            terms.setdefault(row, set()).update(self._terms[word])
        return {row: sum(self._weights[term] for term in sorted(there)) for row, there in terms.items()}

    def _learn(self, words: Iterable[str]) -> None:
        """Find the terms of the query that each of some words contains."""
        may_have = self._may_have.search
        for word in words:
            if word.isascii() and not may_have(word):  # as nearly all words
                self._terms[word] = ()
            else:
                self._terms[word] = tuple(term for term in terms_of(word) if term in self._weights)


def _beginning(term: str) -> str:
    """Return an expression for what ASCII words that have a term contain, where a part of theirs begins.

    A stem keeps the first two letters of a part, but `dying` becomes `die`.

    >>> [bool(re.search(_beginning("read"), word)) for word in ("re", "isRead", "READ", "is_read", "stored")]
    [True, True, True, True, False]
    """
    first, second = term[:1], "" if term[1:] == "ie" else term[1:2]
    either = f"[{re.escape(second)}{re.escape(second.upper())}]" if second else ""
    return f"{re.escape(first.upper())}{either}|(?<![a-zA-Z]){re.escape(first)}{either}"


def _places(word: str, text: str) -> Iterator[int]:
    """Yield the offsets in `text` where `word` stands as a whole word."""
    offset = text.find(word)
    while offset >= 0:
        end = offset + len(word)
        if not (_is_inside(text[offset - 1 : offset]) or _is_inside(text[end : end + 1])):
            yield offset
        offset = text.find(word, end)


def _is_inside(character: str) -> bool:
    r"""Return True if the character belongs to a word, as `\w` defines it.

    The empty string does not belong to a word.
    """
    return character.isalnum() or character == "_"
