"""Messages of commits -> terms as arrays, for each commit and for each file that is there now.

A message that belongs to many files says little about each, so its words count 1 / files for every one of them. What
was read before is taken over by the names of commits; the result does not depend on what is taken over and what is
new.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from causalist.model.facts import spaced
from causalist.model.index import CommitChange, Commits, Postings
from causalist.model.string_table import StringTable
from causalist.rank.lexical.bm25 import K1
from causalist.rank.lexical.build import B_FILE
from causalist.rank.lexical.word_counts import Terms, WordCounter, expand_to_terms
from causalist.rank.terms import STOP_WORDS

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
    paths, touched, renames = _paths(previous, moved, new)
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


def _paths(
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
            counter.add(spaced(_TRAILER.sub("", change.message).encode("utf-8", "replace")), [i])
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
    kept_numbers = np.unique(np.concatenate(used_numbers)).tolist()
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
