"""The index of the files that one question needs, for a repository that has no index yet.

In: a scan, a reader of files, a question. Out: an `Index` that knows every file by its path and by the words of the
question, but only some of them by what they define and call.

All files are read once. Their bytes are searched for the words of the question, which gives the document frequencies.
The files that match best by words and paths are parsed, then those that they import or name, up to a limit in bytes, so
that the cost does not grow with the repository. A file that is not parsed stands in the index as a text of the words
that were counted: it can be found and imported.

The result depends on the files and the question alone.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import log1p
from posixpath import basename, splitext
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.forked_task import ForkedTask
from causalist._internal.lazy import dataclass
from causalist.errors import ModelFailed, NothingToIndex
from causalist.graph import build_graph
from causalist.index.build import build_manifest, collect_notes, describe_empty_scan
from causalist.index.collect import collect_facts, n_processes, name_facts, no_garbage_collection, preload_grammars
from causalist.index.freshness import count_left_out, index_version, known_kinds, path_marks
from causalist.index.history import build_history
from causalist.index.options import IndexOptions, Read
from causalist.model.facts import FileFacts, interface_of
from causalist.model.index import Commits, History, Index
from causalist.model.node_ids import Role
from causalist.model.role_by_path import role_of
from causalist.model.source import FileEntry, Scan, SourceFile, is_parsed
from causalist.model.string_table import StringTable
from causalist.parse import dialect_of, find_secrets, load_settings, mask_secrets, prose_kind
from causalist.rank import (
    ParsedQuery,
    TermFinder,
    WalkWeights,
    build_lexical,
    build_transition,
    nearest_stems,
    shipped_encoder,
    with_longer_files,
    words_to_count,
)
from causalist.rank.query.identifiers import MentionKind
from causalist.rank.terms import terms_of_path
from causalist.store import FactsCache

_MAX_WORDS = 48  # terms that are counted, the weightiest
_NEAREST, _NEAREST_WEIGHT = 16, 0.3  # terms near by the question encoder, relative to a word of the question
_MAX_NAMES = 24  # names of code in the question
# Bytes of code up to which the whole is built: 1.5 s of one processor. See docs/benchmarks.md.
_MIN_CODE_BYTES = 2_000_000
_MAX_COMPLETE_BYTES = 4_000_000  # of files with a name all of whose files are needed
_MIN_PARSED_BYTES = 900_000
_MAX_PARSED_BYTES = 3_000_000
_PARSED_SHARE = 0.04  # of the bytes of the repository
_FIRST_SHARE = 0.8  # of the bytes that are parsed: what the words choose; the rest is what that imports and names
_MAX_FILE_SHARE = 0.25  # a larger file is parsed only if the question names it
# Two processes count from so many bytes on: half a second. Opening a file costs as much as counting 3 kB.
_MIN_SHARED_BYTES, _BYTES_OF_A_READ = 40_000_000, 3_000
_BATCH_BYTES = 200_000  # of text whose words are counted at once
_MAX_COUNT = 40  # occurrences of a word in a file that count
_K1, _B = 1.2, 0.75
_PATH_WEIGHT = 1.0
_ROLE_FACTORS = {Role.CODE: 1.0, Role.TEST: 0.55, Role.DOCS: 0.55, Role.EXAMPLE: 0.5, Role.CONFIG: 0.4}
_OTHER_ROLE_FACTOR = 0.4
_NAMED = 3.0  # score of a file that has a name of the question, divided by how common it is
_NAMED_PATH = 100.0  # of a path that the question names
_MIN_SHARE = 0.02  # of the best score: what is below is not parsed
# Folders of sources, which the name of a package leaves out, and files that stand for the package.
_SOURCE_FOLDERS, _ROOT_STEMS = ("src", "lib"), ("__init__", "index", "lib", "main", "mod")
_MAX_MANIFEST_BYTES, _MAX_MANIFESTS = 65_536, 200


class Need(NamedTuple):
    """The needs of one question: the parsed question, and names all of whose files must be parsed."""

    question: ParsedQuery
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PartialIndex:
    """An index with `n_parsed` of `n_files` files. `parsed`: paths of the files whose secrets the index knows."""

    index: Index
    n_parsed: int
    n_files: int
    parsed: frozenset[str]

    def masking(self, read: Read) -> Read:
        """Return a reader that masks secrets where the index does not say where they are."""

        def mask(entry: FileEntry) -> SourceFile | str:
            source = read(entry)
            if isinstance(source, str) or entry.path in self.parsed:
                return source
            return replace(source, data=mask_secrets(source.data, find_secrets(source.data)))

        return mask


@dataclass(frozen=True, slots=True)
class _Counts:
    """Occurrences of words in some files, in their order.

    `counts`: shape (n_files, n_words). `has`: shape (n_files, n_names), True where the file has the name.
    """

    counts: NDArray[np.uint16]
    has: NDArray[np.bool_]
    sizes: NDArray[np.int64]  # bytes
    blobs: tuple[str, ...]
    unfit: tuple[str, ...]  # why a file is not searched; "" for all others
    spelled: tuple[str, ...]  # the first form of each word in these files, "" without one


def is_small(scan: Scan) -> bool:
    """Return True if the whole index of a scan costs little more than the part that a question needs."""
    return sum(entry.size for entry in scan.entries if dialect_of(entry.path)) <= _MIN_CODE_BYTES


def build_partial_index(
    scan: Scan,
    read: Read,
    cache: FactsCache,
    need: Need,
    scanned_at: int,
    options: IndexOptions,
    commits: Callable[[], Commits] = Commits,
) -> PartialIndex | None:
    """Return an index of the files in `scan` that a question needs.

    None if those that must be complete are too many to gain much. Raises NothingToIndex.
    """
    with no_garbage_collection():
        return _build(scan, read, cache, need, scanned_at, options, commits)


def _build(
    scan: Scan,
    read: Read,
    cache: FactsCache,
    need: Need,
    scanned_at: int,
    options: IndexOptions,
    commits: Callable[[], Commits],
) -> PartialIndex | None:
    words = _heaviest(_words_of(need.question), _MAX_WORDS)
    names = _names_of(need)
    counts = _count_in_processes(scan.entries, read, list(words), names, options)
    unfit = {entry.path: why for entry, why in zip(scan.entries, counts.unfit, strict=True) if why}
    fit = [i for i, why in enumerate(counts.unfit) if not why]
    if not fit:
        raise NothingToIndex(describe_empty_scan(scan, count_left_out(scan, sorted(unfit.items()))[0]))
    blobs = {scan.entries[i].path: counts.blobs[i] for i in fit}
    marks = path_marks(scan, read, None, {})
    kinds = known_kinds(scan, marks, blobs, None)
    if all(kinds.get(scan.entries[i].path) for i in fit):
        return None
    chooser = _Chooser(scan.entries, fit, kinds, counts, words, names, need)
    if chooser.n_complete_bytes > _MAX_COMPLETE_BYTES:
        return None
    facts, more = collect_facts(chooser.first(), dict(blobs), read, cache, options, kinds=kinds)
    again, more_again = collect_facts(chooser.second(facts), dict(blobs), read, cache, options, kinds=kinds)
    # What else uses them leads to these, also through what they export again and inherit: following what they call
    # themselves takes half of the time, and gains nothing.
    facts.update((path, interface_of(each)) for path, each in again.items())
    unfit.update(more | more_again)
    files = [
        (entry.path, facts.get(entry.path) or _stand_in(entry, kinds.get(entry.path, ""), counts, i))
        for i, entry in ((i, scan.entries[i]) for i in fit)
        if entry.path not in unfit
    ]
    options.progress("linking", 0, 0)
    linked = build_graph(files, load_settings(), links=scan.links)
    transition = build_transition(linked.graph, WalkWeights())
    options.progress("indexing words", 0, 0)
    lexical = build_lexical(files, linked)
    sizes = {scan.entries[i].path: int(counts.sizes[i]) for i in fit}
    searched = [n for n, (_, each) in enumerate(files) if not each.aside]
    lengths = {int(linked.file_nodes[n]): sizes[files[n][0]] for n in searched if files[n][0] not in facts}
    lexical = with_longer_files(lexical, lengths, sum(sizes[files[n][0]] for n in searched if files[n][0] in facts))
    skipped, examples = count_left_out(scan, sorted(unfit.items()))
    paths = StringTable.from_strings(entry.path for entry in scan.entries)
    index = Index(
        version=index_version(),
        commit=scan.commit,
        scanned_at=scanned_at,
        manifest=build_manifest(scan, paths, files, blobs, unfit, marks),
        graph=linked.graph,
        lexical=lexical,
        transition=transition,
        skipped=skipped,
        examples=examples,
        notes=collect_notes(files, dict(linked.troubles)),
        languages=dict(sorted(Counter([f.language or "text" for _, f in files if is_parsed(f.aside)]).items())),
        submodules=bool(options.submodules),
        history=build_history(commits(), [files[n][0] for n in searched], linked.file_nodes[searched], History()),
    )
    n_files = sum(is_parsed(each.aside) for _, each in files)
    n_parsed = sum(is_parsed(each.aside) for each in facts.values())
    return PartialIndex(index, n_parsed, n_files, frozenset(facts))


def _words_of(question: ParsedQuery) -> dict[str, float]:
    """Return weight by term: those of the question, and those that mean what it means."""
    words = words_to_count(question)
    weight = _NEAREST_WEIGHT * max(question.terms.values(), default=0.0)
    with suppress(ModelFailed):  # the answer says so
        for term in nearest_stems(question.prose, _NEAREST, shipped_encoder()):
            words.setdefault(term, weight)
    return words


def _heaviest(weights: Mapping[str, float], n: int) -> dict[str, float]:
    chosen = sorted(weights, key=lambda term: (-weights[term], term))[:n]
    return {term: weights[term] for term in sorted(chosen)}


def _names_of(need: Need) -> list[str]:
    """Return the names that the question mentions, and those that must be complete first."""
    question = need.question
    named = [part for mention in question.named for part in re.split(r"[./]", mention.text)]
    named += [frame.function for frame in question.frames]
    some = [name for name in dict.fromkeys(named) if len(name) > 2 and name.isidentifier()]
    return list(dict.fromkeys([*need.names, *some[:_MAX_NAMES]]))


# -- counting


def _count_in_processes(
    entries: Sequence[FileEntry], read: Read, words: Sequence[str], names: Sequence[str], options: IndexOptions
) -> _Counts:
    """Return the counts of all files. Another process counts half of many, all of few: this one loads grammars then."""
    total = sum(entry.size + _BYTES_OF_A_READ for entry in entries)
    if n_processes(options) < 2:
        return _count(entries, read, words, names)
    if total < _MIN_SHARED_BYTES:
        counted = ForkedTask(_Counts, lambda: _count(entries, read, words, names))
        preload_grammars((entry.path, entry.size) for entry in entries)
        return counted.result()
    half, size = 0, 0
    while 2 * size < total:
        size += entries[half].size + _BYTES_OF_A_READ
        half += 1
    other = ForkedTask(_Counts, lambda: _count(entries[half:], read, words, names))
    first = _count(entries[:half], read, words, names)
    second = other.result()
    return _Counts(
        np.concatenate([first.counts, second.counts]),
        np.concatenate([first.has, second.has]),
        np.concatenate([first.sizes, second.sizes]),
        first.blobs + second.blobs,
        first.unfit + second.unfit,
        tuple(a or b for a, b in zip(first.spelled, second.spelled, strict=True)),
    )


def _count(entries: Sequence[FileEntry], read: Read, words: Sequence[str], names: Sequence[str]) -> _Counts:
    counts = np.zeros((len(entries), len(words)), dtype=np.uint16)
    has = np.zeros((len(entries), len(names)), dtype=np.bool_)
    sizes = np.zeros(len(entries), dtype=np.int64)
    blobs, unfit = [""] * len(entries), [""] * len(entries)
    spelled = [""] * len(words)
    places = [w for w, word in enumerate(words) if word.isascii() and word.isalpha()]
    finder = TermFinder([words[w] for w in places])
    others = [(w, word.encode()) for w, word in enumerate(words) if w not in set(places)]
    sought = [name.encode("utf-8", "replace") for name in names]
    whole = [re.compile(rb"(?<![\w])" + re.escape(name) + rb"(?![\w])") for name in sought]
    batch: dict[int, bytes] = {}
    n_bytes = 0

    def count_batch() -> None:
        if batch:
            counts[np.ix_(list(batch), places)] = np.minimum(finder.count(list(batch.values())), _MAX_COUNT)
        batch.clear()

    for i, entry in enumerate(entries):
        source = read(entry)
        if not isinstance(source, SourceFile):
            unfit[i] = source
            continue
        data, blobs[i] = source.data, source.blob
        sizes[i] = len(data)
        for n, name in enumerate(sought):
            has[i, n] = name in data and whole[n].search(data) is not None
        if others:
            lowered = data.lower()
            for w, word in others:
                counts[i, w] = min(lowered.count(word), _MAX_COUNT)
                spelled[w] = words[w] if counts[i, w] else spelled[w]
        batch[i] = data
        n_bytes += len(data)
        if n_bytes >= _BATCH_BYTES:
            count_batch()
            n_bytes = 0
    count_batch()
    for w, form in zip(places, finder.forms, strict=True):
        spelled[w] = form
    return _Counts(counts, has, sizes, tuple(blobs), tuple(unfit), tuple(spelled))


# -- choosing


class _Chooser:
    """Choice of the files that are parsed, within a number of bytes."""

    def __init__(
        self,
        entries: Sequence[FileEntry],
        fit: Sequence[int],
        kinds: Mapping[str, str],
        counts: _Counts,
        words: Mapping[str, float],
        names: Sequence[str],
        need: Need,
    ) -> None:
        self._entries, self._found = entries, counts
        # Generated and repeated files have no words, but callers.
        self._fit = [i for i in fit if not kinds.get(entries[i].path)]
        having = np.flatnonzero(counts.has[:, : len(need.names)].any(axis=1)).tolist()
        self._complete = [i for i in having if is_parsed(kinds.get(entries[i].path, ""))]
        self.n_complete_bytes = int(counts.sizes[self._complete].sum())
        total = int(counts.sizes.sum())
        self._bytes = min(max(_MIN_PARSED_BYTES, int(_PARSED_SHARE * total)), _MAX_PARSED_BYTES)
        self._left = self._bytes
        self._chosen: dict[int, None] = {}
        self.scores = self._score(words, names, need.question)

    def first(self) -> list[FileEntry]:
        """Return the manifests, the files with a name that must be complete, and those that match best."""
        for i in self._complete:
            self._chosen[i] = None
        manifests = [i for i in self._fit if _is_manifest(self._entries[i])]
        self._chosen.update(dict.fromkeys(manifests[:_MAX_MANIFESTS]))
        self._take_best(self.scores, self._bytes * (1 - _FIRST_SHARE))
        return self._chosen_entries(())

    def second(self, facts: Mapping[str, FileFacts]) -> list[FileEntry]:
        """Return files that those of `first` import or name, whose facts are given, and further ones that match."""
        before = tuple(self._chosen)
        self._take_best(self._score_neighbors(facts), 0)
        self._take_best(self.scores, 0)
        return self._chosen_entries(before)

    def _chosen_entries(self, before: Iterable[int]) -> list[FileEntry]:
        return [self._entries[i] for i in sorted(self._chosen.keys() - set(before))]

    def _take_best(self, scores: Mapping[int, float], keep: float) -> None:
        """Choose files with the best scores until `keep` bytes are left."""
        order = sorted(scores, key=lambda i: (-scores[i], self._entries[i].path))
        least = _MIN_SHARE * max(scores.values(), default=0.0)
        for i in order:
            if scores[i] <= least or self._left <= keep:
                return
            if scores[i] >= _NAMED_PATH or self._found.sizes[i] <= _MAX_FILE_SHARE * self._bytes:
                self._take(i, self._left - keep)

    def _take(self, i: int, room: float) -> None:
        size = int(self._found.sizes[i])
        if i not in self._chosen and size <= room:
            self._chosen[i] = None
            self._left -= size

    def _score(self, words: Mapping[str, float], names: Sequence[str], question: ParsedQuery) -> dict[int, float]:
        word_counts, fit = self._found, np.array(self._fit)
        counts = word_counts.counts[fit].astype(np.float64)
        sizes = word_counts.sizes[fit].astype(np.float64)
        norms = _K1 * (1 - _B + _B * np.minimum(sizes / max(sizes.mean(), 1.0), 8.0))
        weights = np.array(list(words.values()))
        scores = np.zeros(len(fit))
        position = {term: w for w, term in enumerate(words)}
        rarity = [_rarity(int(np.count_nonzero(counts[:, w])), len(fit)) for w in range(len(words))]
        for w, weight in enumerate(weights):
            scores += weight * rarity[w] * counts[:, w] * (_K1 + 1) / (counts[:, w] + norms)
        of_paths = [set(terms_of_path(self._entries[i].path)) for i in self._fit]
        n_with = Counter(term for terms in of_paths for term in terms if term in words)
        for n, terms in enumerate(of_paths):
            for term in terms & words.keys():
                scores[n] += _PATH_WEIGHT * weights[position[term]] * _rarity(n_with[term], len(fit))
        top = max(float(scores.max(initial=0.0)), 1.0)
        is_test_asked = "test" in question.terms
        for n, i in enumerate(self._fit):
            role = role_of(self._entries[i].path)
            if not (is_test_asked and role is Role.TEST):
                scores[n] *= _ROLE_FACTORS.get(role, _OTHER_ROLE_FACTOR)
        for n in range(len(names)):
            having = np.flatnonzero(word_counts.has[fit, n])
            scores[having] += _NAMED * top / max(len(having), 1) ** 0.5
        tails = [frame.path for frame in question.frames]
        tails += [mention.text for mention in question.named if mention.kind is MentionKind.PATH]
        scored = {i: float(score) for i, score in zip(self._fit, scores, strict=True) if score > 0}
        for i in self._paths_named(tails):
            scored[i] = scored.get(i, 0.0) + _NAMED_PATH * top
        return {i: round(score, 9) for i, score in scored.items()}

    def _paths_named(self, tails: Iterable[str]) -> set[int]:
        """Return the files whose path ends like one of some paths."""
        wanted: dict[str, list[list[str]]] = {}
        for tail in tails:
            parts = [part.lower() for part in tail.split("/") if part not in ("", ".", "..")]
            if parts:
                wanted.setdefault(parts[-1], []).append(parts[::-1])
        result = set()
        for i in self._fit if wanted else ():
            own = self._entries[i].path.lower().split("/")[::-1]
            for key in {own[0], splitext(own[0])[0]}:
                for parts in wanted.get(key, ()):
                    if len(parts) == 1 or own[1:2] == parts[1:2]:
                        result.add(i)
        return result

    def _score_neighbors(self, facts: Mapping[str, FileFacts]) -> dict[int, float]:
        """Return scores of files by the scores of those that import or name them."""
        by_key: dict[str, list[int]] = {}
        for i in self._fit:
            path = self._entries[i].path
            if dialect_of(path):
                for key in _keys_of_file(path):
                    by_key.setdefault(key, []).append(i)
        number = {self._entries[i].path: i for i in self._fit}
        result: dict[int, float] = {}
        for path, file_facts in facts.items():
            score = self.scores.get(number[path], 0.0)
            if score <= 0 or not file_facts.language:
                continue
            folder = path.rpartition("/")[0]
            for key, share in _names_used(file_facts).items():
                targets = by_key.get(key, ())
                near = [i for i in targets if self._entries[i].path.rpartition("/")[0] == folder]
                for i in (near or targets) if len(near or targets) <= 8 else ():
                    if i not in self._chosen:
                        result[i] = result.get(i, 0.0) + score * share / len(near or targets)
        return {i: round(score, 9) for i, score in result.items()}


def _names_used(facts: FileFacts) -> dict[str, float]:
    """Return weight by key of the modules and types that a file imports or names."""
    result: dict[str, float] = {}
    for entry in facts.imports:
        parts = [part for part in re.split(r"[./\\:]+", entry.module) if part]
        for name in (*parts[-1:], entry.name):
            if len(name) > 1:
                result[_key_of(splitext(name)[0])] = 1.0
    for chain in (
        *(call.callee for call in facts.calls),
        *(r.name for r in facts.references),
        *(b.name for b in facts.bases),
    ):
        for name in re.findall(r"\w+", chain):
            if name[:1].isupper() and len(name) > 2:
                result.setdefault(_key_of(name), 0.5)
    return result


def _key_of(name: str) -> str:
    """Return a name without what differs between names of files and of types.

    >>> _key_of("NodePattern"), _key_of("node_pattern"), _key_of("node-pattern")
    ('nodepattern', 'nodepattern', 'nodepattern')
    """
    return name.replace("_", "").replace("-", "").lower()


def _keys_of_file(path: str) -> dict[str, None]:
    """Return the keys by which others import a file: of its name, of its folder, for its package that of the package.

    >>> list(_keys_of_file("crates/my_app/src/lib.rs")), list(_keys_of_file("shop/cart.py"))
    (['lib', 'src', 'myapp'], ['cart', 'shop'])
    """
    stem_of_file = splitext(basename(path))[0]
    folders = path.split("/")[-3:-1]
    names = [stem_of_file, folders[-1] if folders else ""]
    if len(folders) == 2 and folders[1] in _SOURCE_FOLDERS and stem_of_file in _ROOT_STEMS:
        names.append(folders[0])
    return dict.fromkeys(map(_key_of, names))


def _rarity(n_with: int, n: int) -> float:
    return log1p((n - n_with + 0.5) / (n_with + 0.5))


def _is_manifest(entry: FileEntry) -> bool:
    return entry.size <= _MAX_MANIFEST_BYTES and prose_kind(entry.path) == "manifest"


# -- files that are not parsed


def _stand_in(entry: FileEntry, kind: str, counts: _Counts, i: int) -> FileFacts:
    """Return the facts of a file that is not parsed: the words that were counted, of a `SetAside` its name alone."""
    if kind:
        return name_facts(kind, int(counts.sizes[i]))
    words = [
        (spelled.encode() + b" ") * int(n)
        for spelled, n in zip(counts.spelled, counts.counts[i].tolist(), strict=True)
        if n
    ]
    return FileFacts(language=dialect_of(entry.path), words=b"".join(words), n_bytes=int(counts.sizes[i]))
