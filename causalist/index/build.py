"""Build the index of a scan: files -> facts -> graph, words and history.

In: a scan, a reader of files, the cache of facts and the previous index. Out: an `Index`. A file whose metadata is
unchanged is not read, and content that was parsed before is not parsed again. The index is a function of paths, facts
and weights: order, process and time of the input do not matter.

`build_overlaid_index` builds the index that a folder would have if some files held other bytes (unsaved editor
buffers). It stores nothing. Files that the index does not have stay out, because only a saved file is known not to be
ignored.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from causalist._internal.forked_task import CAN_FORK, ForkedTask, trim_heap_on_free
from causalist._internal.lazy import dataclass
from causalist._internal.stage_clock import stage
from causalist.errors import GitError, IndexUnreadable, NothingToIndex
from causalist.graph import LinkedPart, ParallelPlan, build_graph, needs_bodies
from causalist.index.collect import collect_facts, is_worth_forks, n_processes, no_garbage_collection, reader_of
from causalist.index.freshness import (
    aside_of,
    blobs_of,
    count_left_out,
    index_version,
    known_blobs,
    known_kinds,
    links_of,
    marks_of,
    pair_table,
    path_marks,
    uncertain_files,
    unfit_files,
)
from causalist.index.graph_refresh import refresh_graph
from causalist.index.history import build_history, read_commits
from causalist.index.options import IndexOptions, Read
from causalist.model.facts import FileFacts, strip_uses
from causalist.model.graph import LinkedGraph, NodeTable
from causalist.model.index import Commits, FileNote, History, Index, Manifest, SecretSpans
from causalist.model.node_ids import NodeId, NodeKind, file_id
from causalist.model.source import Diagnostic, DiagnosticSlug, FileEntry, Scan, SourceFile, is_parsed
from causalist.model.string_table import StringTable
from causalist.parse import companions_of_missing, load_settings, lone_missing_languages, missing_language_of
from causalist.rank import (
    BodyTerms,
    PreviousIndexRows,
    PreviousTransition,
    WalkWeights,
    build_lexical,
    build_transition,
    count_body,
)
from causalist.source import MAX_COMMITS, BlobReader, Limits, blob_hash, classify, read_file
from causalist.store import FactsCache, facts_path, facts_with_bodies
from causalist.store.facts_cache import Key

# Processes that link: each comes to hold most of the tables for itself, which take five times the room of the source.
_MAX_LINKING_PROCESSES = 4
# An index that is larger says why. No repository of those in docs/benchmarks.md has more than 3.4 nodes a kilobyte.
_MIN_LARGE_NODES = 50_000  # nodes
_MAX_NODES_A_KILOBYTE = 12
_MAX_NODES_A_CODE_NODE = 10  # nodes of all, of text without a grammar above all, for each of code
_LARGE_SHARE = 0.8
# Of this much, linking takes a third of a second; what a process changes after a fork it copies, which takes a tenth.
_MIN_FORKED_COST = 200_000  # bytes of bodies as they are encoded
_MIN_SEVERAL_COST = 1_000_000  # for more than two processes
_BYTES_OF_USE = 30  # bytes that a use takes as it is encoded: 29.2 in click, 30.3 in caddy
# Above this many bytes of source, the tables of words of two processes are too large together.
_MAX_COUNTED_APART_BYTES = 8_000_000
_MAX_DUPLICATED_BYTES = 300_000_000  # bytes of source of which others than the first hold tables


def build_index(
    scan: Scan,
    read: Read,
    cache: FactsCache,
    previous: Index | None,
    scanned_at: int,
    options: IndexOptions,
    commits: Callable[[], Commits] = Commits,
) -> Index:
    """Return the index of everything in `scan`.

    `commits` is called at the end and gives the commits for the history. Raises NothingToIndex if no file can be
    searched.
    """
    with no_garbage_collection():
        return _build_index(scan, read, cache, previous, scanned_at, options, commits)


def _build_index(
    scan: Scan,
    read: Read,
    cache: FactsCache,
    previous: Index | None,
    scanned_at: int,
    options: IndexOptions,
    commits: Callable[[], Commits],
) -> Index:
    before = blobs_of(previous) if previous is not None else {}
    blobs = known_blobs(scan.entries, previous, before)
    same_version = previous is not None and previous.version == index_version()
    is_known = (
        previous is not None
        and same_version
        and not any(note.slug == DiagnosticSlug.NOT_LINKED for note in previous.notes)
    )
    unfit = _unsearchable_files(scan, read, blobs, previous) if previous and same_version else {}
    comparable = previous if same_version else None
    marks = path_marks(scan, read, comparable, blobs)
    kinds = known_kinds(scan, marks, blobs, comparable)
    then = aside_of(comparable) if comparable is not None else {}
    if comparable is not None and is_known:
        old_marks = marks_of(comparable)
        is_known = all(old_marks.get(path) == marks.get(path) for path in old_marks.keys() | marks if path in before)
    if not is_known and options.refresh_cache is not None:
        options.refresh_cache.drop()  # its facts may be of other kinds
    n_bytes = sum(entry.size for entry in scan.entries)
    bodies: dict[str, bytes | FileFacts] = {}
    unstored: list[tuple[Key, bytes]] = []
    again = refresh_graph(scan, blobs, before, read, cache, previous, options, kinds) if previous and is_known else None
    if again is not None:
        facts = again.facts
    else:
        trim_heap_on_free(n_bytes)
        indexed = _blobs_with_words(previous) if same_version else {}
        entries = [entry for entry in scan.entries if entry.path not in unfit]
        unread = {
            e.path
            for e in entries
            if e.path not in blobs or indexed.get(e.path) != blobs[e.path] or kinds.get(e.path) != then.get(e.path, "")
        }
        facts, more = collect_facts(
            entries, blobs, read, cache, options, kinds=kinds, words=unread, aside=bodies, unstored=unstored
        )
        unfit.update(more)
    skipped, examples = count_left_out(scan, sorted(unfit.items()))
    files = [(entry.path, facts[entry.path]) for entry in scan.entries if entry.path in facts]
    if not files:
        raise NothingToIndex(describe_empty_scan(scan, skipped))
    forked = _ForkedWork(files, cache, unstored, options)
    try:
        linked = again.relinked.linked if again is not None else _link_files(files, scan.links, bodies, options, forked)
    except BaseException:
        cache.put_many(unstored)  # the next run goes on from there
        raise
    if again is None:
        # Uses are most of what facts hold, and no longer needed. A refresh has read few of them.
        files = [(path, strip_uses(each)) for path, each in files]
        trim_heap_on_free(n_bytes)
    unchanged, kept = None, None
    if again is not None and previous is not None:
        unchanged = PreviousTransition(previous.transition, again.relinked.nodes, again.relinked.is_other)
        kept = PreviousIndexRows(previous.lexical, again.relinked.unread)
    with stage("walk"):
        transition = build_transition(linked.graph, WalkWeights(), before=unchanged)
    options.progress("indexing words", 0, 0)
    kept = kept or _match_previous_rows(files, linked, previous)
    facts.clear()
    with stage("words: postings"):
        lexical = build_lexical(files, linked, kept, forked.finish())
    cache.keep_only((blobs[path], reader_of(path, each.aside)) for path, each in files)
    searched = [number for number, (_, each) in enumerate(files) if not each.aside]
    with stage("history"):
        paths = [files[number][0] for number in searched]
        history = build_history(commits(), paths, linked.file_nodes[searched], usable_history(previous))
    return Index(
        version=index_version(),
        commit=scan.commit,
        scanned_at=scanned_at,
        manifest=build_manifest(scan, _build_path_table(scan, previous, before), files, blobs, unfit, marks),
        graph=linked.graph,
        lexical=lexical,
        transition=transition,
        skipped=skipped,
        examples=examples,
        notes=(*collect_notes(files, dict(linked.troubles)), *_note_languages(files), *_note_size(files)),
        languages=dict(sorted(Counter([f.language or "text" for _, f in files if is_parsed(f.aside)]).items())),
        submodules=bool(options.submodules),
        history=history,
    )


def build_manifest(
    scan: Scan,
    paths: StringTable,
    files: Sequence[tuple[str, FileFacts]],
    blobs: Mapping[str, str],
    unfit: Mapping[str, str],
    marks: Mapping[str, str],
) -> Manifest:
    """Return the manifest of a scan, whose paths are `paths`.

    `files` are those of the index with their facts. By path, `blobs` has the object name of the content, `unfit` the
    reason why a file is not searched, and `marks` what `path_marks` returns.
    """
    facts = dict(files)
    return Manifest(
        paths=paths,
        blobs=StringTable.from_strings(blobs.get(e.path, "") for e in scan.entries),
        sizes=np.fromiter((e.size for e in scan.entries), np.int64, len(scan.entries)),
        mtimes=np.fromiter((e.mtime_ns for e in scan.entries), np.int64, len(scan.entries)),
        ctimes=np.fromiter((e.ctime_ns for e in scan.entries), np.int64, len(scan.entries)),
        secrets=SecretSpans.from_spans([facts[e.path].secrets if e.path in facts else () for e in scan.entries]),
        unfit=StringTable.from_strings(unfit.get(e.path, "") for e in scan.entries),
        links=StringTable.from_strings(map("\0".join, scan.links)),
        marks=pair_table(marks),
        aside=pair_table({path: each.aside for path, each in files if each.aside}),
        kept=StringTable.from_strings(scan.kept),
    )


def _build_path_table(scan: Scan, previous: Index | None, before: Mapping[str, str]) -> StringTable:
    """Return the paths of a scan as a table, the previous one if they are the same.

    `before` has the paths of the previous index.
    """
    paths = [entry.path for entry in scan.entries]
    is_same = previous is not None and paths == list(before)
    return previous.manifest.paths if previous is not None and is_same else StringTable.from_strings(paths)


def _link_files(
    files: list[tuple[str, FileFacts]],
    links: Sequence[tuple[str, str]],
    bodies: dict[str, bytes | FileFacts],
    options: IndexOptions,
    forked: "_ForkedWork",
) -> LinkedGraph:
    """Return the graph of files. `bodies` has their bodies as they are encoded, or their facts with bodies.

    Empties `bodies`. If other processes link, `forked` begins with them.
    """
    settings = load_settings()
    spread = _plan_linking(files, [bodies.get(path, b"") for path, _ in files], options, forked)
    own, numbers = os.getpid(), count(1)

    def with_bodies(path: str, facts: FileFacts) -> FileFacts:
        if os.getpid() == own:  # others link as many meanwhile
            options.progress("linking", min(next(numbers) * spread.n, len(files)), len(files))
        return take_bodies(path, facts)

    def take_bodies(path: str, facts: FileFacts) -> FileFacts:
        stored = bodies.pop(path, None)
        if stored is None or isinstance(stored, FileFacts):
            return stored or facts
        with stage("decode"):
            return facts_with_bodies(facts, stored)

    for number, (path, facts) in enumerate(files):
        if needs_bodies(path, facts, settings):
            files[number] = path, take_bodies(path, facts)

    with stage("link: tables"):
        linked = build_graph(files, settings, with_bodies, spread, links)
    bodies.clear()  # of what another process has linked
    return linked


@dataclass(frozen=True, slots=True)
class _ForkedResult:
    """Words that were counted, and True if the facts are in the file of the cache."""

    counted: BodyTerms
    is_stored: bool


def _plan_linking(
    files: Sequence[tuple[str, FileFacts]],
    bodies: Sequence[bytes | FileFacts],
    options: IndexOptions,
    forked: "_ForkedWork",
) -> ParallelPlan:
    """Return how files are linked, with `bodies` as `_link_files` has them. `forked` begins with others that do."""

    def begin(work: Callable[[], LinkedPart]) -> Callable[[], LinkedPart]:
        forked.begin()
        return ForkedTask(LinkedPart, work).result

    costs, n_bytes = [_cost_of_linking(each) for each in bodies], sum(facts.n_bytes for _, facts in files)
    return ParallelPlan(_count_linking_processes(n_bytes, sum(costs), options), costs, begin)


def _cost_of_linking(bodies: bytes | FileFacts) -> int:
    """Return the bytes of bodies as they are encoded, which linking them takes time for; estimated for facts.

    >>> _cost_of_linking(b"[]"), _cost_of_linking(FileFacts(language="python"))
    (2, 0)
    """
    if not isinstance(bodies, FileFacts):
        return len(bodies)
    n = len(bodies.calls) + len(bodies.references) + len(bodies.accesses) + len(bodies.bindings)
    return n * _BYTES_OF_USE


class _ForkedWork:
    """Work that linking does not need, in another process: the last facts are stored, and words are counted.

    Without `begin`, or if that does not pay or takes too much memory, facts are stored in the end, and words are
    counted by who needs them.
    """

    def __init__(
        self,
        files: Sequence[tuple[str, FileFacts]],
        cache: FactsCache,
        unstored: Sequence[tuple[Key, bytes]],
        options: IndexOptions,
    ) -> None:
        self._files, self._cache, self._unstored, self._options = files, cache, unstored, options
        self._task: ForkedTask[_ForkedResult] | None = None

    def begin(self) -> None:
        """Begin the work. Just before another fork is best: this process copies what it changes once for both."""
        n_bytes = sum(facts.n_bytes for _, facts in self._files)
        if self._task is None and n_bytes <= _MAX_COUNTED_APART_BYTES:
            fresh = [facts for _, facts in self._files if facts.words is not None]
            self._task = ForkedTask(
                _ForkedResult, lambda: _ForkedResult(count_body(fresh), self._cache.put_many(self._unstored))
            )

    def finish(self) -> BodyTerms | None:
        """Return the words, if they were counted; the facts are in the cache then."""
        done = self._task.result() if self._task is not None else None
        if done is None or not done.is_stored:
            with stage("facts cache"):
                self._cache.put_many(self._unstored)
        return done.counted if done is not None else None


def _count_linking_processes(n_bytes: int, cost: int, options: IndexOptions) -> int:
    """Return the number of processes that link files of `n_bytes`, whose links cost as much (`_cost_of_linking`)."""
    if not CAN_FORK or cost < _MIN_FORKED_COST:
        return 1
    most = _MAX_LINKING_PROCESSES if cost >= _MIN_SEVERAL_COST else 2
    return min(n_processes(options), most, 1 + _MAX_DUPLICATED_BYTES // max(n_bytes, 1))


def collect_notes(files: Sequence[tuple[str, FileFacts]], troubles: Mapping[int, str]) -> tuple[FileNote, ...]:
    """Return the diagnostics of files, and of those that could not be linked: the reason by number."""
    notes: list[FileNote] = []
    for number, (path, facts) in enumerate(files):
        if not facts.diagnostics and number not in troubles:
            continue
        diagnostics = list(facts.diagnostics)
        if number in troubles:
            what = f"some of what it uses is not known, for a defect of this program ({troubles[number]})"
            diagnostics.append(Diagnostic(DiagnosticSlug.NOT_LINKED, what, 0))
        notes.extend(FileNote(path, each.slug, each.detail, each.row) for each in diagnostics)
    return tuple(notes)


def _note_languages(files: Sequence[tuple[str, FileFacts]]) -> tuple[FileNote, ...]:
    """Return a note for each language whose grammar is not installed: one, however many files it has."""
    counts: Counter[tuple[str, str]] = Counter()
    for path, facts in files:
        if not facts.language and (missing := missing_language_of(path)) is not None:
            companions = companions_of_missing().get(Path(path).suffix.lower())
            if companions is None or any(Path(other).suffix.lower() in companions for other, _ in files):
                counts[missing] += 1
            elif (lone := lone_missing_languages().get(Path(path).suffix.lower())) is not None:
                counts[lone] += 1
    notes: list[FileNote] = []
    for (language, extra), n in sorted(counts.items()):
        of = f"{n} file{'s' if n > 1 else ''} of {language}"
        what = f'{of} read as text; pip install "causalist[{extra}]" reads the code'
        note = Diagnostic(DiagnosticSlug.LANGUAGE_MISSING, what, -1)
        notes.append(FileNote(".", note.slug, note.detail, note.row))
    return tuple(notes)


def _note_size(files: Sequence[tuple[str, FileFacts]]) -> tuple[FileNote, ...]:
    """Return a note that says which folder an index is large for, if it is larger than its source explains."""
    counts = [(path, 1 + len(facts.definitions) + len(facts.passages), facts) for path, facts in files]
    n_nodes = sum(n for _, n, _ in counts)
    if n_nodes < _MIN_LARGE_NODES:
        return ()
    n_kilobytes = sum(facts.n_bytes for _, _, facts in counts if is_parsed(facts.aside)) / 1000
    n_of_code = sum(n for _, n, facts in counts if facts.language)
    is_dense = n_nodes > _MAX_NODES_A_KILOBYTE * n_kilobytes
    if not is_dense and n_nodes <= _MAX_NODES_A_CODE_NODE * n_of_code:
        return ()
    chosen = [each for each in counts if is_dense or not each[2].language]
    folder, share, n_files = "", sum(n for _, n, _ in chosen), len(chosen)
    while True:  # down to the folder that most of it is in
        below: Counter[str] = Counter()
        for path, n, _ in chosen:
            below[path[len(folder) :].partition("/")[0]] += n
        name, n = below.most_common(1)[0]
        inside = [each for each in chosen if each[0].startswith(f"{folder}{name}/")]
        if not inside or n < _LARGE_SHARE * share:
            break
        folder, chosen, n_files = f"{folder}{name}/", inside, len(inside)
    n = sum(n for _, n, _ in chosen)
    what = (
        f"{n_nodes / max(n_kilobytes, 1):.1f} a kB"
        if is_dense
        else f"{n_nodes / max(n_of_code, 1):.0f} for each of code"
    )
    detail = f"{n} of {n_nodes} nodes ({what}) are of {n_files} files here; deny or linguist-generated keeps them out"
    note = Diagnostic(DiagnosticSlug.LARGE_INDEX, detail, -1)
    return (FileNote(folder or ".", note.slug, note.detail, note.row),)


def usable_history(previous: Index | None) -> History:
    """Return the history of a previous index of this version, or an empty one."""
    return History() if previous is None or previous.version != index_version() else previous.history


def _match_previous_rows(
    files: Sequence[tuple[str, FileFacts]], linked: LinkedGraph, previous: Index | None
) -> PreviousIndexRows | None:
    """Map the nodes of the previous index to the new ones, for files whose facts came without words."""
    kept = {file_id(path) for path, facts in files if facts.words is None}
    if previous is None or not kept:
        return None
    then, now = (_nodes_of_files(graph.nodes, kept) for graph in (previous.graph, linked.graph))
    if len(then) != len(now):
        raise ValueError("the same facts made other nodes than before")
    nodes = np.full(len(previous.graph.nodes), -1, dtype=np.int32)
    nodes[then] = now  # both are sorted by id, hence in the same order
    return PreviousIndexRows(previous.lexical, nodes)


def _nodes_of_files(nodes: NodeTable, files: set[NodeId]) -> NDArray[np.int64]:
    """Positions of all nodes of these files, ascending."""
    is_wanted = np.zeros(len(nodes), dtype=np.bool_)
    file_nodes = np.flatnonzero(nodes.kinds == NodeKind.FILE)
    is_wanted[file_nodes] = [each in files for each in nodes.ids.some(file_nodes)]
    return np.flatnonzero((nodes.files >= 0) & is_wanted[np.maximum(nodes.files, 0)])


def _unsearchable_files(scan: Scan, read: Read, blobs: dict[str, str], previous: Index) -> dict[str, str]:
    """Return the reason by path for files that were not searchable before and still are not.

    Sets `blobs` of these files to "". Reads only files that may have changed without another time stamp.
    """
    before = dict(unfit_files(previous))
    unfit: dict[str, str] = {}
    for entry in scan.entries:
        if entry.path not in before:
            continue
        content = before[entry.path] if blobs.get(entry.path) == "" else read(entry)
        if isinstance(content, str):
            unfit[entry.path] = content
            blobs[entry.path] = ""
    return unfit


def refresh_timestamps(
    scan: Scan,
    read: Read,
    previous: Index | None,
    scanned_at: int,
    submodules: bool,
    commits: Callable[[], Commits],
) -> Index | None:
    """Return the previous index with new times and commit, or None if any content has changed.

    This covers commits and touched files.
    """
    if previous is None or previous.version != index_version():
        return None
    before, doubtful = previous.manifest, uncertain_files(scan.entries, previous)
    if doubtful is None or tuple(links_of(previous)) != scan.links:
        return None
    for i in doubtful:
        source = read(scan.entries[i])
        if source != before.unfit[i] if isinstance(source, str) else source.blob != before.blobs[i]:
            return None
    manifest = replace(
        previous.manifest,
        mtimes=np.array([e.mtime_ns for e in scan.entries], dtype=np.int64),
        ctimes=np.array([e.ctime_ns for e in scan.entries], dtype=np.int64),
        sizes=np.array([e.size for e in scan.entries], dtype=np.int64),
    )
    skipped, examples = count_left_out(scan, unfit_files(previous))
    past = previous.history
    history = build_history(commits(), list(past.paths), past.nodes, past)
    return replace(
        previous,
        manifest=manifest,
        scanned_at=scanned_at,
        commit=scan.commit,
        submodules=submodules,
        history=history,
        skipped=skipped,
        examples=examples,
    )


def build_commit_index(
    git_dir: Path, scan: Scan, cache: FactsCache | None, options: IndexOptions | None, previous: Index | None
) -> Index:
    """Return the index of a commit, read from git's objects.

    `previous` is the index of another commit, whose history is not read again. Raises NothingToIndex and GitError.
    """
    commits = read_commits(git_dir, scan.commit, usable_history(previous).commits)
    with BlobReader(git_dir) as reader:
        cache, options = cache or FactsCache(), options or IndexOptions(processes=1)
        return build_index(scan, reader.read, cache, None, 0, options, lambda: commits)


def build_index_with_cache(
    cache: FactsCache,
    scan: Scan,
    read: Read,
    previous: Index | None,
    scanned_at: int,
    options: IndexOptions,
    commits: Callable[[], Commits],
) -> Index:
    """Build the index; if cached facts are damaged, build it again without the cache."""
    try:
        return build_index(scan, read, cache, previous, scanned_at, options, commits)
    except (IndexError, KeyError, ValueError, IndexUnreadable):
        return build_index(scan, read, FactsCache(), None, scanned_at, options, commits)


def defer_commits(
    root: Path,
    scan: Scan,
    previous: Index | None,
    notes: dict[Diagnostic, None],
    options: IndexOptions,
    most: int = MAX_COMMITS,
) -> Callable[[], Commits]:
    """Return a function that gives the commits behind the files, the `most` newest.

    If git cannot read them (a clone without trees), the function adds a diagnostic to `notes` and returns none. If
    files are parsed in several processes, the commits are read meanwhile in another one.
    """
    stored_commits = usable_history(previous).commits
    is_first = scan.commit is not None and not len(stored_commits)
    is_worth_it = is_first and is_worth_forks(sum(entry.size for entry in scan.entries), options)
    past = ForkedTask(Commits, lambda: read_commits(root, scan.commit, stored_commits, most), wanted=is_worth_it)

    @cache
    def commits() -> Commits:
        try:
            with stage("history: git"):
                return past.result()
        except GitError as error:
            notes[Diagnostic(DiagnosticSlug.HISTORY_UNREADABLE, str(error), -1)] = None
            return Commits()

    return commits


def _blobs_with_words(previous: Index | None) -> Mapping[str, str]:
    """Return the blob of each file whose words an index of this version holds."""
    if previous is None or previous.version != index_version():
        return {}
    return blobs_of(previous)


def describe_empty_scan(scan: Scan, skipped: Mapping[str, int]) -> str:
    """Return why no file of a scan can be searched."""
    if not skipped:
        return "the folder holds no files to search; run in a folder with source code or documentation"
    reasons = ", ".join(f"{n} {reason}" for reason, n in sorted(skipped.items()))
    nested = "; `causalist index --submodules` reads the repositories inside" if "submodule" in skipped else ""
    return f"none of the files here can be searched ({reasons}); `causalist status` shows examples{nested}"


def build_overlaid_index(root: Path, saved: Index, contents: Mapping[str, bytes], limits: Limits) -> Index:
    """Return the index of `root` with `contents` by path in place of the saved bytes.

    Raises NothingToIndex if no file is left to search.
    """
    buffers = {path: data for path, data in contents.items() if saved.manifest.paths.position(path) >= 0}
    manifest = saved.manifest
    entries = [
        FileEntry(path, len(buffers[path]), mtime, blob_hash(buffers[path]))
        if path in buffers
        else FileEntry(path, size, mtime, blob)
        for path, size, mtime, blob in zip(
            manifest.paths, manifest.sizes.tolist(), manifest.mtimes.tolist(), manifest.blobs, strict=True
        )
    ]
    scan = Scan(tuple(entries), {}, {}, saved.commit, tuple(links_of(saved)), tuple(saved.manifest.kept))
    options = IndexOptions(processes=1, submodules=saved.submodules, limits=limits)
    read, cache = overlay_reader(root, buffers, limits), _ReadOnlyFactsCache(facts_path())
    index = build_index(scan, read, cache, saved, saved.scanned_at, options, lambda: saved.history.commits)
    return replace(index, skipped=saved.skipped, examples=saved.examples)


def overlay_reader(root: Path, contents: Mapping[str, bytes], limits: Limits) -> Read:
    """Return a reader of files that takes `contents` first, then the folder `root`."""

    def read(entry: FileEntry) -> SourceFile | str:
        data = contents.get(entry.path)
        if data is None:
            return read_file(root, entry, limits)
        reason = classify(entry.path, data, limits)
        return SourceFile(entry.path, data, blob_hash(data)) if reason is None else reason

    return read


class _ReadOnlyFactsCache(FactsCache):
    """A cache of facts that keeps new facts in memory only.

    Facts of every keystroke would fill the file.
    """

    def put_many(self, rows: Iterable[tuple[Key, bytes]]) -> bool:
        self._memory.update(rows)
        return False

    def keep_only(self, keys: Iterable[Key]) -> None:
        return None
