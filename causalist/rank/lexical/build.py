"""Facts -> the lexical index, and BM25 over it.

BM25 (Robertson and Zaragoza, 2009): `idf(t) = ln(1 + (N - df + 0.5) / (df + 0.5))`, and a document's impact for t is
`idf(t) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean length))`. A question reads the
postings of its terms and nothing else.
"""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from posixpath import splitext
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.heap import return_what_is_freed
from causalist.model.graph import LinkedGraph
from causalist.model.lexical import LexicalIndex, Postings
from causalist.model.string_table import StringTable, merged
from causalist.model.symbols import NodeKind
from causalist.rank.lexical._postings import K1 as K1
from causalist.rank.lexical._postings import NO_POSTINGS, KeptRows, joined, kept_rows, with_norms, without_counts
from causalist.rank.lexical._sums import Part, Triples, added_up, blocks_of
from causalist.rank.lexical.splitting import Terms, expanded
from causalist.rank.lexical.word_counts import count_words
from causalist.rank.terms import terms_of

if TYPE_CHECKING:
    from causalist.model.facts import FileFacts

B_DEFINITION = 0.6  # chosen by hand: definitions vary in length for reasons other than verbosity
B_FILE = 0.75  # the usual default
# How many occurrences in the body a field is worth; chosen by hand, see docs/benchmarks.md.
WEIGHT_NAME = 3
WEIGHT_OUTER_NAME = 1
WEIGHT_PATH = 1
WEIGHT_PATH_IN_FILE = 3


class Kept(NamedTuple):
    """The lexical index of an earlier state of the repository, whose words of unchanged files are taken over.

    `nodes`: shape (n_nodes of that state,), where each node is now; -1 for nodes of files whose words are read again.
    Nodes that are kept stand in the same order as then.
    """

    lexical: LexicalIndex
    nodes: NDArray[np.int32]


def build_lexical(files: "list[tuple[str, FileFacts]]", linked: LinkedGraph, kept: Kept | None = None) -> LexicalIndex:
    """The lexical index of a repository; `files` in the order in which the graph was built from them. Their words are
    taken out of them.

    Files whose facts came without words (`words` is None) have to be among those `kept`. The result does not depend on
    what is kept and what is read.
    """
    numbers = [i for i, (_, facts) in enumerate(files) if facts.words is not None]
    if kept is None and len(numbers) < len(files):
        raise ValueError("facts without words need an index to keep them from")
    graph = linked.graph
    file_of, n_nodes = graph.nodes.files, len(graph.nodes)
    vocabulary = Terms()
    body = _body(files, numbers, linked, vocabulary)
    fresh = [(i, *files[i]) for i in numbers]
    if kept is None:
        return_what_is_freed()
    own, outer = _names(fresh, linked, vocabulary)
    path = _paths(fresh, linked, vocabulary)
    path_of_documents = _spread_paths(path, file_of, graph.nodes.kinds)
    # Only terms that some document has are kept.
    strings = vocabulary.strings()
    used = np.flatnonzero(_used([each[1] for each in (body, own, outer, path)], len(strings)))
    taken = _taken_over(kept)
    terms = merged(taken.terms, taken.is_used, [strings[i] for i in used.tolist()])
    rank = np.full(len(strings), -1, dtype=np.int32)
    rank[used] = terms.added
    for _, numbers_of_terms, _ in (body, own, outer, path, path_of_documents):
        np.take(rank, numbers_of_terms, out=numbers_of_terms)
    blocks = blocks_of((body, own, outer, path_of_documents), len(terms.table))
    words = blocks.part(body, 1)

    def rows(*parts: Part) -> Triples:
        return _in_one(list(added_up(parts, blocks, n_nodes)))

    def counted(old: KeptRows, b: float, new: Triples) -> Postings:
        return with_norms(joined(old, terms, new), old, new, n_nodes, b)

    old_definitions, old_files, old_paths, old_names = taken.tables
    paths = without_counts(joined(old_paths, terms, rows(blocks.part(path, 1))), len(files))
    symbol_names = without_counts(joined(old_names, terms, rows(blocks.part(own, 1))), n_nodes)
    names = (blocks.part(own, WEIGHT_NAME), blocks.part(outer, WEIGHT_OUTER_NAME))
    found = rows(words, *names, blocks.part(path_of_documents, WEIGHT_PATH))
    definitions = counted(old_definitions, B_DEFINITION, found)
    del path_of_documents, found
    np.take(file_of, body[0], out=body[0])  # the words of files are those of their documents
    whole = counted(old_files, B_FILE, rows(words, blocks.part(path, WEIGHT_PATH_IN_FILE)))
    del body, words
    name_table, name_indptr, name_nodes = _name_table(fresh, linked, kept)
    return LexicalIndex(
        terms=terms.table,
        definitions=definitions,
        files=whole,
        paths=paths,
        symbol_names=symbol_names,
        names=name_table,
        name_indptr=name_indptr,
        name_nodes=name_nodes,
    )


def impacts(postings: Postings, term: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """(documents, what each gets for the term), both of shape (n,); see the formula above. Without counts: the idf."""
    start, stop = int(postings.indptr[term]), int(postings.indptr[term + 1])
    documents = postings.documents[start:stop]
    frequency = stop - start
    idf = float(np.log1p((postings.n_documents - frequency + 0.5) / (frequency + 0.5)))
    if not len(postings.norms):
        return documents, np.full(frequency, idf)
    counts = postings.counts[start:stop]
    return documents, idf * counts * (K1 + 1) / (counts + postings.norms[documents])


def impact_on(postings: Postings, term: int, document: int) -> float:
    """What one document gets for the term, as `impacts` has it; 0 where it does not have the term."""
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


def bm25(postings: Postings, terms: Mapping[int, float], n_nodes: int) -> NDArray[np.float64]:
    """Scores of all nodes, shape (n_nodes,): the weighted sum of the impacts of `terms` (number -> weight)."""
    scores = np.zeros(n_nodes, dtype=np.float64)
    for term, weight in sorted(terms.items()):
        documents, values = impacts(postings, term)
        # A document stands at most once in a term's postings, so plain indexing adds each once.
        scores[documents] += weight * values
    return scores


def nodes_named(name: str, lexical: LexicalIndex) -> list[int]:
    """Nodes whose last name, file name or file stem is `name`, whatever the case."""
    at = lexical.names.position(name.lower())
    if at < 0:
        return []
    return [int(n) for n in lexical.name_nodes[lexical.name_indptr[at] : lexical.name_indptr[at + 1]]]


class _Taken(NamedTuple):
    """What is kept: a table of terms, which of them are still used, and the four tables of postings."""

    terms: StringTable
    is_used: NDArray[np.bool_]
    tables: tuple[KeptRows, ...]


def _taken_over(kept: Kept | None) -> _Taken:
    """What of the postings is kept."""
    if kept is None:
        nothing = kept_rows(NO_POSTINGS, np.zeros(0, dtype=np.int32))
        return _Taken(StringTable.from_strings(()), np.zeros(0, dtype=np.bool_), (nothing,) * 4)
    old = kept.lexical
    tables = tuple(kept_rows(each, kept.nodes) for each in (old.definitions, old.files, old.paths, old.symbol_names))
    return _Taken(old.terms, np.any([each.n_kept > 0 for each in tables], axis=0), tables)


def _in_one(blocks: list[Triples]) -> Triples:
    """The rows of all blocks, of which nothing is left: the whole and its parts are never there at once."""
    n = sum(len(documents) for documents, _, _ in blocks)
    documents, numbers, counts = (np.empty(n, dtype=np.int32) for _ in range(3))
    end = n
    while blocks:
        block = blocks.pop()
        start = end - len(block[0])
        documents[start:end], numbers[start:end], counts[start:end] = block
        end = start
    return documents, numbers, counts


def _used(terms: Sequence[NDArray[np.int32]], n_terms: int) -> NDArray[np.bool_]:
    """Which terms are among these."""
    is_used = np.zeros(n_terms, dtype=np.bool_)
    for numbers in terms:
        is_used[numbers] = True
    return is_used


def _body(files: "list[tuple[str, FileFacts]]", which: Sequence[int], linked: LinkedGraph, terms: Terms) -> Triples:
    """(document, term, count) of the words of some files, from which they are taken: a row for each term of a word."""
    rows, words = count_words(files, which, linked)
    return expanded(rows, *terms.of_words(words))


_Fresh = Sequence[tuple[int, str, "FileFacts"]]  # position among all files, path, facts with words


class _Said:
    """Short texts that many nodes have; `texts` has their numbers."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}
        self._rows = array("i")  # node and text in turn

    def add(self, node: int, text: str) -> None:
        self._rows.append(node)
        self._rows.append(self.texts.setdefault(text, len(self.texts)))

    def rows(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """(nodes, texts), in the order in which they were added."""
        nodes, texts = np.array(self._rows, dtype=np.int32).reshape(-1, 2).T
        return nodes, texts

    def triples(self, read: Callable[[str], Iterable[str]], vocabulary: Terms) -> Triples:
        """(node, term, 1) for each term that is read from each text."""
        found = [vocabulary.numbers(read(text)) for text in self.texts]
        indptr = np.zeros(len(found) + 1, dtype=np.int64)
        np.cumsum([len(terms) for terms in found], out=indptr[1:])
        nodes, texts = self.rows()
        terms = np.array([term for terms in found for term in terms], dtype=np.int32)
        return expanded((nodes, texts, np.ones(len(nodes), dtype=np.int32)), indptr, terms)


def _names(fresh: _Fresh, linked: LinkedGraph, vocabulary: Terms) -> tuple[Triples, Triples]:
    """Terms of the own names of definitions and headings, and of the names around them."""
    own, outer, titles = _Said(), _Said(), _Said()
    for i, _, facts in fresh:
        nodes = linked.document_nodes[i].tolist()
        for node, definition in zip(nodes, facts.definitions, strict=False):
            if definition.kind == NodeKind.FIELD:
                continue  # found by its exact name only; its words count for its type
            own.add(node, definition.name)
            for part in filter(None, definition.qualname.split(".")[:-1]):
                outer.add(node, part)
        for node, passage in zip(nodes[len(facts.definitions) :], facts.passages, strict=True):
            titles.add(node, passage.title)
    both = zip(own.triples(terms_of, vocabulary), titles.triples(_terms_of_title, vocabulary), strict=True)
    documents, terms, counts = (np.concatenate(columns) for columns in both)
    return (documents, terms, counts), outer.triples(terms_of, vocabulary)


def _terms_of_title(title: str) -> Iterable[str]:
    return dict.fromkeys(term for word in title.split() for term in terms_of(word))


def _paths(fresh: _Fresh, linked: LinkedGraph, vocabulary: Terms) -> Triples:
    paths = _Said()
    for i, path, _ in fresh:
        paths.add(int(linked.file_nodes[i]), path)
    return paths.triples(_terms_of_path, vocabulary)


def _terms_of_path(path: str) -> Iterable[str]:
    return dict.fromkeys(term for part in splitext(path)[0].split("/") for term in terms_of(part))


def _spread_paths(path: Triples, file_of: NDArray[np.int32], kinds: NDArray[np.uint8]) -> Triples:
    """Path terms of files as terms of all their documents."""
    order = np.argsort(path[0], kind="stable")
    documents, terms = path[0][order], path[1][order]
    nodes = np.flatnonzero((file_of >= 0) & (kinds != NodeKind.EXTERNAL) & (kinds != NodeKind.FIELD))
    first = np.searchsorted(documents, file_of[nodes], side="left")
    last = np.searchsorted(documents, file_of[nodes], side="right")
    repeats = last - first
    within = np.arange(int(repeats.sum())) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    picked = terms[np.repeat(first, repeats) + within]
    return np.repeat(nodes.astype(np.int32), repeats), picked, np.ones(len(picked), dtype=np.int32)


def _pointers(terms: NDArray[Any], n_terms: int) -> NDArray[np.int64]:
    indptr = np.zeros(n_terms + 1, dtype=np.int64)
    np.cumsum(np.bincount(terms, minlength=n_terms), out=indptr[1:])
    return indptr


def _name_table(
    fresh: _Fresh, linked: LinkedGraph, kept: Kept | None
) -> tuple[StringTable, NDArray[np.int64], NDArray[np.int32]]:
    """Names in lower case with their nodes: those of files that were read, and of the nodes that are kept."""
    read = _Said()
    for i, path, facts in fresh:
        base = path.rpartition("/")[2].lower()
        for name in dict.fromkeys((base, base.partition(".")[0])):
            read.add(int(linked.file_nodes[i]), name)
        nodes = linked.document_nodes[i].tolist()
        for node, definition in zip(nodes, facts.definitions, strict=False):
            read.add(node, definition.name.lower())
    table, numbers, kept_nodes = _kept_names(kept)
    is_used = np.zeros(len(table), dtype=np.bool_)
    is_used[numbers] = True
    names = merged(table, is_used, list(read.texts))
    read_nodes, texts = read.rows()
    all_numbers = np.concatenate([names.old[numbers], names.added[texts]])
    all_nodes = np.concatenate([kept_nodes, read_nodes])
    order = np.lexsort((all_nodes, all_numbers))
    return names.table, _pointers(all_numbers, len(names.table)), all_nodes[order]


def _kept_names(kept: Kept | None) -> tuple[StringTable, NDArray[np.int64], NDArray[np.int32]]:
    """(a table of names, the name and the node of each pair that is kept)."""
    if kept is None:
        return StringTable.from_strings(()), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
    old, nodes = kept.lexical, kept.nodes[kept.lexical.name_nodes]
    numbers = np.repeat(np.arange(len(old.names)), np.diff(old.name_indptr))
    return old.names, numbers[nodes >= 0], nodes[nodes >= 0]
