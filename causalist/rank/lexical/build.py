"""Facts -> the lexical index, as postings for BM25; messages of commits -> terms as arrays.

After an edit, the postings of the previous index are spliced with those of the files that were read again. Nearly all
rows keep their content and order. So only changed rows are computed; all others are copied in as few pieces as
possible.

BM25 (Robertson and Zaragoza, 2009): `idf(t) = ln(1 + (N - df + 0.5) / (df + 0.5))`, and the impact of a document for t
is `idf(t) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean length))`. A question reads the postings of its terms
and nothing else.

A commit message that belongs to many files says little about each, so its words count 1 / files for every one of them.
Commits that were read before are taken from the previous index by their hashes. The result is the same as that of
reading all of them.
"""

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import plan_splice, unique_sorted
from causalist._internal.forked_task import trim_heap_on_free
from causalist._internal.lazy import dataclass
from causalist._internal.stage_clock import stage
from causalist.errors import ModelFailed
from causalist.model.facts import space_words
from causalist.model.graph import LinkedGraph
from causalist.model.index import CommitChange, Commits, LexicalIndex, Postings
from causalist.model.node_ids import NodeKind, unescape_name
from causalist.model.string_table import MergedTable, StringTable, merge_tables
from causalist.rank.lexical.bm25 import K1, ROWS_AT_ONCE
from causalist.rank.lexical.question_encoder import compute_bag_norms, shipped_encoder
from causalist.rank.lexical.word_counts import (
    Part,
    Terms,
    Triples,
    WordCounter,
    count_words,
    expand_to_terms,
    make_blocks,
    nodes_of_documents,
    sum_parts,
)
from causalist.rank.terms import STOP_WORDS, terms_of, terms_of_path

if TYPE_CHECKING:
    from causalist.model.facts import FileFacts


_MAX_RUNS = 8  # runs of numbers; with more, a table of all numbers is faster than comparing the array with each run
_NO_ROWS = np.zeros(0, dtype=np.int32)
_NO_COUNTS = np.zeros(0, dtype=np.uint16)
MAX_COUNT = int(np.iinfo(np.uint16).max)  # a hundred occurrences say what a million say
NO_POSTINGS = Postings(np.zeros(1, dtype=np.int32), _NO_ROWS, _NO_COUNTS, np.zeros(0), 0)


class PreviousPostings(NamedTuple):
    """Rows of earlier postings that are still valid, and the new numbers of their nodes.

    `gone`: rows of postings that are not kept, ascending, of the terms `gone_terms`. `nodes`: shape (n_nodes then,),
    the present index of each node, -1 if its rows are gone; nodes that stay are in the same order. `n_kept`: shape
    (n_terms then,), the number of kept rows of each term.
    """

    postings: Postings
    nodes: NDArray[np.int32]
    gone: NDArray[np.int64]
    gone_terms: NDArray[np.int64]
    n_kept: NDArray[np.int64]


def keep_rows(postings: Postings, nodes: NDArray[np.int32]) -> PreviousPostings:
    """Return the postings without the rows of the nodes that are -1."""
    removed_rows = _rows_of(postings.documents, nodes < 0)
    terms = np.searchsorted(postings.indptr, removed_rows, side="right") - 1
    n_kept = np.diff(postings.indptr) - np.bincount(terms, minlength=len(postings.indptr) - 1)
    return PreviousPostings(postings, nodes, removed_rows, terms, n_kept)


def join_postings(old: PreviousPostings, terms: MergedTable, new: Triples) -> Postings:
    """Return the kept rows and the new ones as one set of postings, without norms.

    The new rows belong to other documents and are ordered as `sum_rows` returns them. `terms` maps the earlier terms to
    their present positions. `with_norms` adds the norms.
    """
    documents, numbers, counts = new
    documents, weighted = documents.astype(np.int32, copy=False), _as_counts(counts)
    n_now = np.bincount(numbers, minlength=len(terms.table))
    stays = terms.old >= 0
    n_now[terms.old[stays]] += old.n_kept[stays]
    indptr = _offsets_of(n_now)
    then = old.postings
    if not len(then.documents):
        return Postings(indptr, documents, weighted, then.norms, 0)
    rows = plan_splice(len(then.documents), old.gone, old.gone_terms, _places(old, terms.old, documents, numbers))
    is_where_it_was = np.array_equal(np.maximum(old.nodes, 0), np.where(old.nodes < 0, 0, np.arange(len(old.nodes))))
    moved = then.documents if is_where_it_was else old.nodes.take(then.documents)
    return Postings(
        indptr,
        rows.of(moved, documents),
        rows.of(_as_counts(then.counts), weighted) if len(then.counts) else _NO_COUNTS,
        then.norms,
        0,
    )


def with_norms(columns: Postings, old: PreviousPostings, new: Triples, n_nodes: int, b: float) -> Postings:
    """Return the `join_postings` postings with the norms of BM25."""
    lengths = _summed_counts(new[0], _as_counts(new[2]), n_nodes)
    stays = old.nodes >= 0
    lengths[old.nodes[stays]] += _lengths(old.postings, b)[stays]
    norms, n_documents = _norms(lengths, b)
    return Postings(columns.indptr, columns.documents, columns.counts, norms, n_documents)


def without_counts(columns: Postings, n_documents: int) -> Postings:
    """Return postings that say whether a document has a term, but not how often."""
    return Postings(columns.indptr, columns.documents, _NO_COUNTS, np.zeros(0), n_documents)


def _as_counts(counts: NDArray[Any]) -> NDArray[np.uint16]:
    if counts.dtype == np.uint16:
        return counts
    clipped: NDArray[np.uint16] = np.minimum(counts, MAX_COUNT).astype(np.uint16)
    return clipped


def _offsets_of(lengths: NDArray[Any]) -> NDArray[np.int32]:
    indptr = np.zeros(len(lengths) + 1, dtype=np.int32)
    np.cumsum(lengths, out=indptr[1:])
    return indptr


def _rows_of(documents: NDArray[np.int32], is_one: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the ascending positions in `documents` of the rows whose document is set in `is_one`."""
    bounds = np.flatnonzero(np.diff(is_one, prepend=False, append=False))
    if len(bounds) > 2 * _MAX_RUNS:
        return np.flatnonzero(is_one.take(documents))
    is_row = np.zeros(len(documents), dtype=np.bool_)
    for first, end in bounds.reshape(-1, 2).tolist():
        is_in_run = documents >= first
        is_in_run &= documents < end
        is_row |= is_in_run
    return np.flatnonzero(is_row)


def _places(
    old: PreviousPostings, term_numbers: NDArray[np.int32], documents: NDArray[np.int32], numbers: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Return the earlier row before which each new row belongs. `term_numbers`: those of the earlier terms, now."""
    then = old.postings
    # A removed string gets the number of the one before it, so that both stay ascending.
    ascending = np.maximum.accumulate(term_numbers)
    before = np.searchsorted(ascending, numbers)  # terms
    is_known = np.append(ascending, -1)[before] == numbers
    low = then.indptr[before].astype(np.int64)
    high = np.where(is_known, then.indptr[np.minimum(before + 1, len(term_numbers))], low)
    first = np.searchsorted(np.maximum.accumulate(old.nodes), documents)  # earlier numbers
    while (is_open := low < high).any():
        middle = (low + high) // 2
        comes_after = is_open & (then.documents[np.minimum(middle, len(then.documents) - 1)] < first)
        low = np.where(comes_after, middle + 1, low)
        high = np.where(is_open & ~comes_after, middle, high)
    return low


def _lengths(postings: Postings, b: float) -> NDArray[np.float64]:
    """Shape (n_nodes,): the sum of the counts of each document. Read off its norm, where these are sums of them all."""
    n_nodes, total = len(postings.norms), int(np.add.reduce(postings.counts, dtype=np.int64))
    mean = total / max(postings.n_documents, 1)
    lengths = np.rint((postings.norms / K1 - (1 - b)) / b * mean)
    if lengths.sum() == total and np.array_equal(_norms(lengths, b)[0], postings.norms):
        return lengths
    return _summed_counts(postings.documents, postings.counts, n_nodes)


def _summed_counts(documents: NDArray[Any], counts: NDArray[Any], n_nodes: int) -> NDArray[np.float64]:
    lengths = np.zeros(n_nodes)
    for first in range(0, len(documents), ROWS_AT_ONCE):
        part = slice(first, first + ROWS_AT_ONCE)
        lengths += np.bincount(documents[part], weights=counts[part], minlength=n_nodes)
    return lengths


def _norms(lengths: NDArray[np.float64], b: float) -> tuple[NDArray[np.float64], int]:
    """Return (norms, number of documents with a length)."""
    n_documents = int(np.count_nonzero(lengths))
    mean = float(lengths.sum()) / max(n_documents, 1)
    relative = lengths / mean if n_documents else lengths
    return (K1 * (1 - b + b * relative)).astype(np.float64), n_documents


B_DEFINITION = 0.6  # chosen by hand: definitions vary in length for reasons other than verbosity
B_FILE = 0.75  # the usual default
# Occurrences in the body that one in a field is worth; chosen by hand, see docs/benchmarks.md.
WEIGHT_NAME = 3
WEIGHT_OUTER_NAME = 1
WEIGHT_PATH = 1
WEIGHT_PATH_IN_FILE = 3


class PreviousIndexRows(NamedTuple):
    """The lexical index of an earlier state of the repository, whose words of unchanged files are taken over.

    `nodes`: shape (n_nodes of that state,), where each node is now; -1 for nodes of files whose words are read again.
    Nodes that are kept stand in the same order as then.
    """

    lexical: LexicalIndex
    nodes: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class BodyTerms:
    """Terms of the words of some files, whose nodes need not be known.

    `documents`, `words` and `counts` are the rows of `count_words`. The terms of word i are
    `terms[indptr[i]:indptr[i + 1]]`, numbers of `strings`.
    """

    documents: NDArray[np.int32]
    words: NDArray[np.int32]
    counts: NDArray[np.int32]
    indptr: NDArray[np.int64]
    terms: NDArray[np.int32]
    strings: StringTable


def count_body(files: "Iterable[FileFacts]") -> BodyTerms:
    """Return the terms of the words of files, in their order."""
    with stage("words: counts"):
        (documents, numbers, counts), words = count_words(files)
    vocabulary = Terms()
    indptr, terms = vocabulary.terms_of_words(words)
    return BodyTerms(documents, numbers, counts, indptr, terms, StringTable.from_strings(vocabulary.strings()))


def build_lexical(
    files: "list[tuple[str, FileFacts]]",
    linked: LinkedGraph,
    previous_rows: PreviousIndexRows | None = None,
    counted: BodyTerms | None = None,
) -> LexicalIndex:
    """Return the lexical index of a repository.

    `files` are in the order in which the graph was built from them; their words are removed from them. Files whose
    facts came without words (`words` is None) must have `previous_rows`. The result does not depend on which files are
    kept and which are read. `counted` is what `count_body` returns for the files with words, where that is known.
    """
    numbers = [i for i, (_, facts) in enumerate(files) if facts.words is not None]
    if previous_rows is None and len(numbers) < len(files):
        raise ValueError("facts without words need an index to keep them from")
    graph = linked.graph
    file_of, n_nodes = graph.nodes.files, len(graph.nodes)
    vocabulary = Terms()
    body = _body(files, numbers, linked, vocabulary, counted)
    fresh = [(i, *files[i]) for i in numbers]
    if previous_rows is None:
        trim_heap_on_free(sum(facts.n_bytes for _, facts in files))
    searched = [each for each in fresh if not each[2].aside]
    own, outer = _names(searched, linked, vocabulary)
    path = _paths(searched, linked, vocabulary)
    path_of_documents = _spread_paths(path, file_of, graph.nodes.kinds)
    # Only terms that some document has are kept.
    strings = vocabulary.strings()
    used_numbers = np.flatnonzero(_mark_used_terms([each[1] for each in (body, own, outer, path)], len(strings)))
    previous = _previous_terms(previous_rows)
    terms = merge_tables(previous.terms, previous.is_used, [strings[i] for i in used_numbers.tolist()])
    rank = np.full(len(strings), -1, dtype=np.int32)
    rank[used_numbers] = terms.added
    for _, numbers_of_terms, _ in (body, own, outer, path, path_of_documents):
        np.take(rank, numbers_of_terms, out=numbers_of_terms)
    blocks = make_blocks((body, own, outer, path_of_documents), len(terms.table))
    words = blocks.part(body, 1)

    def rows(*parts: Part) -> Triples:
        return _concatenate_rows(list(sum_parts(parts, blocks, n_nodes)))

    def weighted_postings(old: PreviousPostings, b: float, new: Triples) -> Postings:
        return with_norms(join_postings(old, terms, new), old, new, n_nodes, b)

    old_definitions, old_files, old_paths, old_names = previous.tables
    # What is set aside does not make the words of others less rare.
    aside = [len(facts.definitions) + 1 for _, facts in files if facts.aside]
    paths = without_counts(join_postings(old_paths, terms, rows(blocks.part(path, 1))), len(files) - len(aside))
    symbol_names = without_counts(join_postings(old_names, terms, rows(blocks.part(own, 1))), n_nodes - sum(aside))
    names = (blocks.part(own, WEIGHT_NAME), blocks.part(outer, WEIGHT_OUTER_NAME))
    triples = rows(words, *names, blocks.part(path_of_documents, WEIGHT_PATH))
    definitions = weighted_postings(old_definitions, B_DEFINITION, triples)
    bag_norms, file_bag_norms = _bag_norms(triples, terms.table, file_of, previous_rows)
    del path_of_documents, triples
    np.take(file_of, body[0], out=body[0])  # a file has the words of its documents
    file_counts = weighted_postings(old_files, B_FILE, rows(words, blocks.part(path, WEIGHT_PATH_IN_FILE)))
    del body, words
    name_table, name_indptr, name_nodes = _name_table(fresh, linked, previous_rows)
    return LexicalIndex(
        terms=terms.table,
        definitions=definitions,
        files=file_counts,
        paths=paths,
        symbol_names=symbol_names,
        names=name_table,
        name_indptr=name_indptr,
        name_nodes=name_nodes,
        bag_norms=bag_norms,
        file_bag_norms=file_bag_norms,
    )


def with_longer_files(lexical: LexicalIndex, sizes: Mapping[int, int], n_bytes: int) -> LexicalIndex:
    """Return the index of files of which some are there with few of their words, with norms as if they had them all.

    `sizes` are the bytes of these by node, `n_bytes` those of all others together. A byte has as many words there as
    here. In `definitions` the mean length is that of the others: such a file has many definitions.
    """
    nodes = np.fromiter(sizes, np.int64, len(sizes))
    n_bytes_of = np.fromiter(sizes.values(), np.float64, len(sizes))

    def longer(postings: Postings, b: float, *, is_mean: bool) -> Postings:
        lengths = _summed_counts(postings.documents, postings.counts, len(postings.norms))
        is_whole = np.ones(len(lengths), dtype=np.bool_)
        is_whole[nodes] = False
        share = float(lengths[is_whole].sum()) / max(n_bytes, 1)
        lengths[nodes] = np.maximum(lengths[nodes], np.rint(share * n_bytes_of))
        counted = lengths if is_mean else lengths[is_whole]
        mean = float(counted.sum()) / max(int(np.count_nonzero(counted)), 1)
        norms = K1 * (1 - b + b * lengths / mean) if mean else postings.norms
        return Postings(postings.indptr, postings.documents, postings.counts, norms, postings.n_documents)

    def without_vectors(norms: NDArray[np.float32]) -> NDArray[np.float32]:
        """Of few words, the vector would be that of any question with these words."""
        norms = norms.copy()
        norms[nodes[nodes < len(norms)]] = 0.0
        return norms

    return replace(
        lexical,
        definitions=longer(lexical.definitions, B_DEFINITION, is_mean=False),
        files=longer(lexical.files, B_FILE, is_mean=True),
        bag_norms=without_vectors(lexical.bag_norms),
        file_bag_norms=without_vectors(lexical.file_bag_norms),
    )


def _bag_norms(
    triples: Triples, terms: StringTable, files: NDArray[np.int32], previous_rows: PreviousIndexRows | None
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the norms of `compute_bag_norms` for all nodes; those of kept nodes are taken over."""
    try:
        both = compute_bag_norms(triples, terms, files, shipped_encoder(is_checked=True))
    except ModelFailed:  # a question says so
        return np.zeros(0, dtype=np.float32), np.zeros(0, dtype=np.float32)
    if previous_rows is not None:
        kept = previous_rows.nodes >= 0
        old = previous_rows.lexical
        if len(old.bag_norms) < len(previous_rows.nodes):  # they could not be computed then
            return old.bag_norms, old.file_bag_norms
        for norms, before in zip(both, (old.bag_norms, old.file_bag_norms), strict=True):
            norms[previous_rows.nodes[kept]] = before[kept]
    return both


class _PreviousTerms(NamedTuple):
    """The kept data: a table of terms, a mask of the terms still used, and four tables of postings."""

    terms: StringTable
    is_used: NDArray[np.bool_]
    tables: tuple[PreviousPostings, ...]


def _previous_terms(previous_rows: PreviousIndexRows | None) -> _PreviousTerms:
    """Return the part of the earlier postings that is kept, or empty tables if `previous_rows` is None."""
    if previous_rows is None:
        nothing = keep_rows(NO_POSTINGS, np.zeros(0, dtype=np.int32))
        return _PreviousTerms(StringTable.from_strings(()), np.zeros(0, dtype=np.bool_), (nothing,) * 4)
    old = previous_rows.lexical
    tables = tuple(
        keep_rows(each, previous_rows.nodes) for each in (old.definitions, old.files, old.paths, old.symbol_names)
    )
    return _PreviousTerms(old.terms, np.any([each.n_kept > 0 for each in tables], axis=0), tables)


def _concatenate_rows(blocks: list[Triples]) -> Triples:
    """Return the rows of all blocks in one, and empty the list of blocks.

    Each block is released when it is copied, so that the whole and its parts are never in memory together.
    """
    n = sum(len(documents) for documents, _, _ in blocks)
    documents, numbers, counts = (np.empty(n, dtype=np.int32) for _ in range(3))
    end = n
    while blocks:
        block = blocks.pop()
        start = end - len(block[0])
        documents[start:end], numbers[start:end], counts[start:end] = block
        end = start
    return documents, numbers, counts


def _mark_used_terms(terms: Sequence[NDArray[np.int32]], n_terms: int) -> NDArray[np.bool_]:
    """Return a mask, of shape (n_terms,), of the terms whose numbers are in any of `terms`."""
    is_used = np.zeros(n_terms, dtype=np.bool_)
    for numbers in terms:
        is_used[numbers] = True
    return is_used


def _body(
    files: "list[tuple[str, FileFacts]]",
    which: Sequence[int],
    linked: LinkedGraph,
    vocabulary: Terms,
    counted: BodyTerms | None,
) -> Triples:
    """Remove the words from some files, and return (document, term, count) with a row for each term of a word."""
    nodes = nodes_of_documents(files, which, linked)
    taken = _take_words(files, which)
    counted = counted or count_body(taken)
    for _ in taken:  # where they were counted before
        pass
    vocabulary.numbers(counted.strings)
    rows = nodes[counted.documents], counted.words, counted.counts
    return expand_to_terms(rows, counted.indptr, counted.terms)


def _take_words(files: "list[tuple[str, FileFacts]]", which: Sequence[int]) -> "Iterator[FileFacts]":
    """Yield the facts of some files, and remove the words from these files."""
    for i in which:
        path, facts = files[i]
        files[i] = path, facts.without_words()
        yield facts


_Fresh = Sequence[tuple[int, str, "FileFacts"]]  # position among all files, path, facts with words


class _NameTerms:
    """Short texts that many nodes have; `texts` has their numbers."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}
        self._rows = array("i")  # node and text in turn

    def add(self, node: int, text: str) -> None:
        self._rows.append(node)
        self._rows.append(self.texts.setdefault(text, len(self.texts)))

    def rows(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return (nodes, texts), in the order in which they were added."""
        nodes, texts = np.array(self._rows, dtype=np.int32).reshape(-1, 2).T
        return nodes, texts

    def triples(self, read: Callable[[str], Iterable[str]], vocabulary: Terms) -> Triples:
        """Return (node, term, 1) for each term of each text."""
        numbers = [vocabulary.numbers(read(text)) for text in self.texts]
        indptr = np.zeros(len(numbers) + 1, dtype=np.int64)
        np.cumsum([len(terms) for terms in numbers], out=indptr[1:])
        nodes, texts = self.rows()
        terms = np.array([term for terms in numbers for term in terms], dtype=np.int32)
        return expand_to_terms((nodes, texts, np.ones(len(nodes), dtype=np.int32)), indptr, terms)


def _names(fresh: _Fresh, linked: LinkedGraph, vocabulary: Terms) -> tuple[Triples, Triples]:
    """Terms of the own names of definitions and headings, and of the names around them."""
    own, outer, titles = _NameTerms(), _NameTerms(), _NameTerms()
    around: dict[str, tuple[str, ...]] = {}  # the names around definitions, which many share
    for i, _, facts in fresh:
        nodes = linked.document_nodes[i].tolist()
        for node, definition in zip(nodes, facts.definitions, strict=False):
            if definition.kind == NodeKind.FIELD:
                continue  # found by its exact name only; its words count for its type
            own.add(node, definition.name)
            prefix = definition.qualname.rpartition(".")[0]
            if not prefix:
                continue
            if prefix not in around:
                around[prefix] = tuple(unescape_name(part) for part in prefix.split(".") if part)
            for name in around[prefix]:
                outer.add(node, name)
        for node, passage in zip(nodes[len(facts.definitions) :], facts.passages, strict=True):
            titles.add(node, passage.title)
    both = zip(own.triples(terms_of, vocabulary), titles.triples(_terms_of_title, vocabulary), strict=True)
    documents, terms, counts = (np.concatenate(columns) for columns in both)
    return (documents, terms, counts), outer.triples(terms_of, vocabulary)


def _terms_of_title(title: str) -> Iterable[str]:
    return dict.fromkeys(term for word in title.split() for term in terms_of(word))


def _paths(fresh: _Fresh, linked: LinkedGraph, vocabulary: Terms) -> Triples:
    paths = _NameTerms()
    for i, path, _ in fresh:
        paths.add(int(linked.file_nodes[i]), path)
    return paths.triples(terms_of_path, vocabulary)


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


def _pointers(terms: NDArray[Any], n_terms: int) -> NDArray[np.int32]:
    return _offsets_of(np.bincount(terms, minlength=n_terms))


def _name_table(
    fresh: _Fresh, linked: LinkedGraph, previous_rows: PreviousIndexRows | None
) -> tuple[StringTable, NDArray[np.int32], NDArray[np.int32]]:
    """Names in lower case with their nodes: those of files that were read, and of the nodes that are kept."""
    read = _NameTerms()
    for i, path, facts in fresh:
        base = path.rpartition("/")[2].lower()
        for name in dict.fromkeys((base, base.partition(".")[0])):
            read.add(int(linked.file_nodes[i]), name)
        nodes = linked.document_nodes[i].tolist()
        for node, definition in zip(nodes, facts.definitions, strict=False):
            read.add(node, definition.name.lower())
            if definition.kind == NodeKind.HANDLER:
                read.add(node, definition.name.partition(" ")[2].lower())
    table, numbers, kept_nodes = _previous_names(previous_rows)
    is_used = np.zeros(len(table), dtype=np.bool_)
    is_used[numbers] = True
    names = merge_tables(table, is_used, list(read.texts))
    read_nodes, texts = read.rows()
    all_numbers = np.concatenate([names.old[numbers], names.added[texts]])
    all_nodes = np.concatenate([kept_nodes, read_nodes])
    order = np.lexsort((all_nodes, all_numbers))
    return names.table, _pointers(all_numbers, len(names.table)), all_nodes[order]


def _previous_names(
    previous_rows: PreviousIndexRows | None,
) -> tuple[StringTable, NDArray[np.int64], NDArray[np.int32]]:
    """Return (a table of names, the name and the node of each pair that is kept)."""
    if previous_rows is None:
        return StringTable.from_strings(()), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
    old, nodes = previous_rows.lexical, previous_rows.nodes[previous_rows.lexical.name_nodes]
    numbers = np.repeat(np.arange(len(old.names)), np.diff(old.name_indptr))
    return old.names, numbers[nodes >= 0], nodes[nodes >= 0]


# Trailers: they name who signed, reviewed or imported a commit, not its content.
_TRAILER = re.compile(r"^(?:[A-Z][A-Za-z]*(?:-[A-Za-z]+)*-(?:by|on|Id|id)|git-svn-id)\s?:.*$", re.MULTILINE)
# Counts of `messages` are integers: a word in the message of a commit to a single file counts this many.
UNIT = 720

_Integers = NDArray[np.int64]
_Triples = tuple[_Integers, _Integers, _Integers]  # document, term, count


def merge_commits(names: Sequence[str], previous: Commits, fresh: Iterable[CommitChange]) -> Commits:
    """Return the commits `names`, newest first; each is in `previous` or among the `fresh` ones."""
    position_by_name = {name: i for i, name in enumerate(names)}
    new = sorted((position_by_name[change.name], change) for change in fresh)
    moved = np.array([position_by_name.get(name, -1) for name in previous.names], dtype=np.int64)
    n = len(names)
    times, n_files = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int32)
    stays = moved >= 0
    times[moved[stays]], n_files[moved[stays]] = previous.times[stays], previous.n_files[stays]
    for i, change in new:
        times[i], n_files[i] = change.time, change.n_files
    paths, touched, renames = _commit_paths(previous, moved, new)
    indptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(touched[:, 0], minlength=n), out=indptr[1:])
    terms, triples = _words(previous, moved, new)
    return Commits(
        names=StringTable.from_strings(names),
        times=times,
        n_files=n_files,
        paths=paths,
        indptr=indptr,
        files=touched[:, 1].astype(np.int32),
        renamed_in=renames[:, 0].astype(np.int32),
        before=renames[:, 1].astype(np.int32),
        after=renames[:, 2].astype(np.int32),
        terms=terms,
        words=_postings(triples, len(terms), n, 1),
    )


def message_postings(commits: Commits, indptr: NDArray[np.int64], files: NDArray[np.int32], n_files: int) -> Postings:
    """Return the terms of the messages of each file.

    `indptr` and `files` are those of the history.
    """
    words = commits.words
    documents, terms = words.documents.astype(np.int64), _terms_of_rows(words)
    share = np.maximum(np.rint(UNIT / np.maximum(commits.n_files, 1)).astype(np.int64), 1)
    repeats = np.diff(indptr)[documents]
    within = np.arange(int(repeats.sum())) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    flat = files[np.repeat(indptr[documents], repeats) + within].astype(np.int64)
    counts = np.repeat(words.counts.astype(np.int64) * share[documents], repeats)
    return _postings((flat, np.repeat(terms, repeats), counts), len(commits.terms), n_files, UNIT)


def _commit_paths(
    previous: Commits, moved: NDArray[np.int64], new: Sequence[tuple[int, CommitChange]]
) -> tuple[StringTable, NDArray[np.int64], NDArray[np.int64]]:
    """Return (paths; sorted rows (commit, path); sorted rows (commit, before, after))."""
    old_paths = list(previous.paths)
    number = {path: i for i, path in enumerate(old_paths)}
    for _, change in new:
        for path in chain(change.files, *change.renames):
            number.setdefault(path, len(number))
    owners = moved[np.repeat(np.arange(len(previous)), np.diff(previous.indptr))]
    touched = np.array([(i, number[path]) for i, change in new for path in change.files], dtype=np.int64)
    touched = np.concatenate([_rows(owners, previous.files), touched.reshape(-1, 2)])
    renames = np.array([(i, number[b], number[a]) for i, change in new for b, a in change.renames], dtype=np.int64)
    renames = np.concatenate(
        [_rows(moved[previous.renamed_in], previous.before, previous.after), renames.reshape(-1, 3)]
    )
    strings, rank = _sort_used(list(number), [touched[:, 1], renames[:, 1], renames[:, 2]])
    touched[:, 1], renames[:, 1:] = rank[touched[:, 1]], rank[renames[:, 1:]]
    return StringTable.from_strings(strings), _sorted_rows(touched), _sorted_rows(renames)


def _words(
    previous: Commits, moved: NDArray[np.int64], new: Sequence[tuple[int, CommitChange]]
) -> tuple[StringTable, _Triples]:
    """Return (terms; (commit, term, count), in which a pair may be in several rows).

    Messages are split into words as files are. Stop words and single letters are left out.
    """
    counter = WordCounter()
    for i, change in new:
        if change.files:
            counter.add(space_words(_TRAILER.sub("", change.message).encode("utf-8", "replace")), [i])
    terms = Terms()
    before = _rows(moved[previous.words.documents], _terms_of_rows(previous.words), previous.words.counts)
    before[:, 1] = np.array(terms.numbers(previous.terms), dtype=np.int64)[before[:, 1]]
    rows, words = counter.finish()
    fresh = np.stack(expand_to_terms(rows, *terms.terms_of_words(words)), axis=1).astype(np.int64)
    all_terms = terms.strings()
    is_kept = np.array([len(term) > 1 and term not in STOP_WORDS for term in all_terms], dtype=np.bool_)
    table = np.concatenate([before, fresh[is_kept[fresh[:, 1]]]])
    strings, rank = _sort_used(all_terms, [table[:, 1]])
    return StringTable.from_strings(strings), (table[:, 0], rank[table[:, 1]], table[:, 2])


def _rows(commits: NDArray[np.int64], *columns: NDArray[np.integer]) -> NDArray[np.int64]:
    """Columns side by side, of those commits that are still there."""
    stays = commits >= 0
    return np.stack([commits[stays], *(column[stays].astype(np.int64) for column in columns)], axis=1)


def _sorted_rows(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    return rows[np.lexsort(rows.T[::-1])]


def _sort_used(
    strings: Sequence[str], used_numbers: Sequence[NDArray[np.int64]]
) -> tuple[list[str], NDArray[np.int64]]:
    """Return (the strings that are used, sorted; the position of each of `strings` among them)."""
    kept_numbers = unique_sorted(np.concatenate(used_numbers)).tolist()
    order = sorted(kept_numbers, key=strings.__getitem__)
    rank = np.full(len(strings), -1, dtype=np.int64)
    rank[order] = np.arange(len(order))
    return [strings[i] for i in order], rank


def _terms_of_rows(postings: Postings) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(postings.indptr) - 1, dtype=np.int64), np.diff(postings.indptr))


def _postings(triples: _Triples, n_terms: int, n_documents: int, unit: int) -> Postings:
    """BM25 postings; equal (term, document) pairs are added up. A count of `unit` is one word."""
    documents, terms, counts = triples
    keys = terms * max(n_documents, 1) + documents
    order = np.argsort(keys, kind="stable")
    keys, counts = keys[order], counts[order]
    if len(keys):
        first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        keys, counts = keys[first], np.add.reduceat(counts, first)
    documents, terms = keys % max(n_documents, 1), keys // max(n_documents, 1)
    length = np.bincount(documents, weights=counts, minlength=n_documents)
    n_used = int(np.count_nonzero(length))
    mean = float(length.sum()) / max(n_used, 1)
    relative = length / mean if n_used else length
    norms = (K1 * unit * (1 - B_FILE + B_FILE * relative)).astype(np.float64)
    indptr = np.zeros(n_terms + 1, dtype=np.int32)
    np.cumsum(np.bincount(terms, minlength=n_terms), out=indptr[1:])
    return Postings(indptr, documents.astype(np.int32), counts.astype(np.int32), norms, n_used)
