"""Open the current index of a folder: the stored one if nothing changed, else a new one.

The modules that build an index are imported only when one is built: most queries find a current index, and importing
would cost more than the answer. A file with unchanged metadata is not read. If the fingerprint of the folder is the one
stored with the index, the folder is not scanned.

The status of an index is its path, its freshness before the refresh, and its distance from HEAD. Reasons say why it did
not match the files, counts how many files differ from the commit.
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from causalist._internal.stage_clock import stage
from causalist.errors import GitError, IndexNotWritable, IndexUnreadable, NothingToIndex
from causalist.index.freshness import (
    changed_files,
    has_same_files,
    has_same_left_out,
    index_version,
    matches_folder,
    searched_blobs,
)
from causalist.index.options import IndexOptions
from causalist.model.answer import CacheUse, IndexStatus, PreviousIndex, Staleness, StalenessReason
from causalist.model.index import Index
from causalist.model.source import Diagnostic, DiagnosticSlug, FileEntry, Scan, SourceFile
from causalist.source import (
    DEFAULT_LIMITS,
    FolderFingerprint,
    Limits,
    fingerprint_folder,
    fingerprint_walk,
    read_file,
    scan_folder,
    scan_walked,
    update_scan,
)
from causalist.source.git import work_tree_top
from causalist.store import (
    BACKGROUND_NAME,
    FOLDER,
    INDEX_NAME,
    cache_folder,
    has_version,
    hold_folder_lock,
    index_stamp,
    is_read_only,
    load_index,
    prepare_folder,
    read_index,
    read_seen,
    write_seen,
)

if TYPE_CHECKING:
    from causalist.index.options import RefreshCache
    from causalist.model.index import Commits
    from causalist.store import KnownChecksums

# A file that was written this shortly before may change again without other times.
_RACY_NS = 2_000_000_000
_MAX_FILES_NAMED = 3  # in a reason
_CHECKED = "checked"  # in a digest: the index was added up and found sound before the digest was kept


def is_current(scan: Scan, index: Index) -> bool:
    """Return True if an index holds and leaves out exactly the files of a scan, as far as metadata tells."""
    is_same = index.commit == scan.commit and index.version == index_version() and has_same_files(index, scan)
    return is_same and has_same_left_out(index, scan)


def index_folders(root: Path) -> tuple[Path, ...]:
    """Return the folders in which an index of `root` may be stored, the preferred one first."""
    return (root / FOLDER, cache_folder(root))


def has_index(root: Path) -> bool:
    """Return True if an index of `root` is stored that was made as this program makes them, or that is damaged."""
    version = index_version()
    return any(has_version(folder / INDEX_NAME, version) for folder in index_folders(root))


def open_index(root: Path, options: IndexOptions) -> tuple[Index, tuple[Diagnostic, ...]]:
    """Return the current index of a folder with its diagnostics: the stored one if nothing changed.

    A new index is stored in the folder itself, or in the user's cache folder if that is not writable. If neither is, a
    diagnostic says so and the index stays in memory. Raises NothingToIndex.
    """
    scanned_at = time.time_ns()
    limits = options.limits or DEFAULT_LIMITS
    notes: dict[Diagnostic, None] = {}
    folders = index_folders(root)
    stored_indexes = [_read_stored(index_folder, notes, options) for index_folder in folders]
    first = next((each for each in stored_indexes if each.stored is not None), None)
    previous = None if first is None else first.stored
    submodules = wants_submodules(root, options, previous)
    options = replace(options, submodules=submodules)
    known_commit = None if previous is None else previous.commit
    fingerprint = None if first is None else _compute_fingerprint(root, limits, first, submodules)
    if (
        fingerprint is not None
        and first is not None
        and not options.anew
        and fingerprint.digest == read_seen(first.place)
    ):
        # The digest is of the index file as well: since it was added up and found sound it has not changed.
        assert previous is not None
        return previous, tuple(notes)
    stored_indexes = [_verify_stored(each, notes) for each in stored_indexes]
    options.progress("scanning", 0, 0)
    with stage("scan"):
        scan = _scan_root(root, limits, submodules, known_commit, fingerprint, options.refresh_cache)
    previous = next((each.stored for each in stored_indexes if matches_folder(each.stored, scan)), None)
    for each in stored_indexes:
        if each.stored is not None and _is_usable(each.stored, scan, submodules):
            is_settled = fingerprint is not None and fingerprint.is_settled and _is_settled(each.stamp, scanned_at)
            if fingerprint is not None and is_settled and first is not None and each.place == first.place:
                write_seen(each.place, fingerprint.digest)
            return each.stored, tuple(notes)

    from causalist.index import build as building
    from causalist.store import FactsCache, facts_path, write_index

    def read(entry: FileEntry) -> SourceFile | str:
        return read_file(root, entry, limits)

    index: Index | None = None
    commits: Callable[[], Commits] | None = None
    problems: list[IndexNotWritable] = []
    for stored_index in stored_indexes:
        index_folder, is_new = stored_index.place, not os.path.lexists(stored_index.place)
        try:
            prepare_folder(index_folder)
            with hold_folder_lock(index_folder, root):
                stored = stored_index.stored
                if stored_index.stamp != index_stamp(index_folder / INDEX_NAME):
                    # Another process has just done the work.
                    stored = _verify_stored(_read_stored(index_folder, notes, options), notes).stored
                    if stored is not None and _is_usable(stored, scan, submodules):
                        return stored, tuple(notes)
                previous = stored if matches_folder(stored, scan) else previous
                commits = commits or building.defer_commits(root, scan, previous, notes, options)
                index = index or building.refresh_timestamps(scan, read, previous, scanned_at, submodules, commits)
                if index is None:
                    index = building.build_index_with_cache(
                        FactsCache(facts_path()), scan, read, previous, scanned_at, options, commits
                    )
                with stage("write"):
                    written = write_index(index_folder / INDEX_NAME, index, stored_index.sums)
                for folder in folders:
                    with suppress(OSError):
                        (folder / BACKGROUND_NAME).unlink(missing_ok=True)  # what it says of earlier attempts is over
                if options.refresh_cache is not None:
                    options.refresh_cache.file_stamp = written
            break
        except IndexNotWritable as error:
            problems.append(error)
        except NothingToIndex:
            if is_new:
                import shutil

                shutil.rmtree(index_folder, ignore_errors=True)
            raise
    else:
        notes[Diagnostic(DiagnosticSlug.INDEX_NOT_WRITABLE, f"{problems[0]}; the index is kept in memory only", -1)] = (
            None
        )
        commits = commits or building.defer_commits(root, scan, previous, notes, options)
        index = index or building.build_index(
            scan, read, FactsCache(facts_path()), previous, scanned_at, options, commits
        )
        return index, tuple(notes)
    if problems and not is_read_only(problems[0]):
        notes[
            Diagnostic(DiagnosticSlug.INDEX_NOT_WRITABLE, f"{problems[0]}; the index is kept in {folders[1]}", -1)
        ] = None
    return index, tuple(notes)


def stored_index_if_current(
    root: Path, options: IndexOptions, at_hand: Index | None = None, stored: bool = True
) -> Index | None:
    """Return `at_hand`, or else a stored index, if it matches the files as they are.

    Builds and writes nothing.
    """
    indexes = [] if at_hand is None else [at_hand]
    for folder in index_folders(root) if stored else ():
        with suppress(IndexUnreadable):
            index_at_place = read_index(folder / INDEX_NAME)
            indexes += [] if index_at_place is None else [index_at_place]
    scans: dict[bool, Scan] = {}
    for index in indexes:
        submodules = index.submodules if options.submodules is None else options.submodules
        if submodules not in scans:
            limits = options.limits or DEFAULT_LIMITS
            scans[submodules] = scan_folder(root, limits, submodules=submodules, known_commit=index.commit)
        if _is_usable(index, scans[submodules], submodules):
            return index
    return None


class _StoredIndex(NamedTuple):
    """The content of one folder that may store an index.

    `check` raises IndexUnreadable if the arrays are damaged.
    """

    place: Path
    stamp: tuple[int, ...] | None
    stored: Index | None
    sums: "KnownChecksums"
    check: Callable[[], None]


def wants_submodules(root: Path, options: IndexOptions, previous: Index | None) -> bool:
    """Return True if repositories inside of `root` are indexed too: as asked, or as the stored index has them.

    At first they are if `root` is in no repository itself: a folder of clones would otherwise hold nothing.
    """
    if options.submodules is not None:
        return options.submodules
    # A wish, which is all that is taken from an index before it is known to be of these files.
    return work_tree_top(root) is None if previous is None else previous.submodules


def _compute_fingerprint(
    root: Path, limits: Limits, stored_index: _StoredIndex, submodules: bool
) -> FolderFingerprint | None:
    """Return the fingerprint of the folder, or None if the index does not allow one.

    The index must be of this version, of the commit that is checked out, and without nested repositories.
    """
    index, stamp = stored_index.stored, stored_index.stamp
    if index is None or stamp is None or index.submodules != submodules or index.version != index_version():
        return None
    if index.commit is None:
        return fingerprint_walk(root, limits, (*stamp, _CHECKED, submodules))
    return None if submodules else fingerprint_folder(root, limits, index.commit, (*stamp, _CHECKED))


def _scan_root(
    root: Path,
    limits: Limits,
    submodules: bool,
    commit: str | None,
    fingerprint: FolderFingerprint | None,
    cache: "RefreshCache | None",
) -> Scan:
    """Return a scan of `root`, updated from the last scan if the fingerprints differ little."""
    scan = None
    if (
        fingerprint is not None
        and cache is not None
        and cache.cached_scan is not None
        and cache.cached_scan.limits == limits
    ):
        scan = update_scan(cache.cached_scan.fingerprint, cache.cached_scan.scan, fingerprint, limits)
    if scan is None and fingerprint is not None:
        scan = scan_walked(root, limits, fingerprint)
    if scan is None:
        listing = None if fingerprint is None else fingerprint.listing
        scan = scan_folder(root, limits, submodules=submodules, known_commit=commit, listing=listing)
    if cache is not None:
        from causalist.index.options import CachedScan

        cache.cached_scan = None if fingerprint is None else CachedScan(fingerprint, limits, scan)
    return scan if fingerprint is None else replace(scan, commit=commit)


def _is_usable(index: Index, scan: Scan, submodules: bool) -> bool:
    """Return True if an index is current and was built with this choice of `submodules`."""
    return index.submodules == submodules and is_current(scan, index)


def _read_stored(place: Path, notes: dict[Diagnostic, None], options: IndexOptions) -> _StoredIndex:
    sums: KnownChecksums = {}
    path = place / INDEX_NAME
    stamp = index_stamp(path)
    written = None if options.refresh_cache is None else options.refresh_cache.file_stamp
    try:
        opened = load_index(path, written, sums)
    except IndexUnreadable as error:
        _report_unreadable(error, notes)
        opened = None
    if opened is None:
        return _StoredIndex(place, stamp, None, sums, lambda: None)
    return _StoredIndex(place, opened.written, opened.content, sums, opened.check)


def _verify_stored(stored_index: _StoredIndex, notes: dict[Diagnostic, None]) -> _StoredIndex:
    """Return `stored_index`, without its index if that is damaged."""
    try:
        stored_index.check()
    except IndexUnreadable as error:
        _report_unreadable(error, notes)
        return stored_index._replace(stored=None)
    return stored_index


def _report_unreadable(error: IndexUnreadable, notes: dict[Diagnostic, None]) -> None:
    if not isinstance(error.__cause__, PermissionError):  # else of another owner
        notes[Diagnostic(error.slug, str(error), -1)] = None


def _is_settled(stamp: tuple[int, ...] | None, now: int) -> bool:
    """Return True if a later change of an index file would show in its stamp."""
    return stamp is not None and max(stamp[-2:]) < now - _RACY_NS


def stored_index_status(root: Path, options: IndexOptions) -> PreviousIndex:
    """Return the stored index of `root` before a refresh, with everything that makes it outdated.

    Builds and writes nothing. Raises what `scan_folder` raises.
    """
    stored_indexes: list[tuple[Path, Index]] = []
    unreadable: list[Staleness] = []
    for folder in index_folders(root):
        try:
            index = read_index(folder / INDEX_NAME)
        except IndexUnreadable as error:
            unreadable.append(Staleness(StalenessReason.UNREADABLE, str(error)))
            continue
        if index is not None:
            stored_indexes.append((folder / INDEX_NAME, index))
    if not stored_indexes:
        return PreviousIndex(None, tuple(unreadable[:1]) or (Staleness(StalenessReason.ABSENT, "there was no index"),))
    wished = options.submodules
    submodules = stored_indexes[0][1].submodules if wished is None else wished
    scan = scan_folder(root, options.limits or DEFAULT_LIMITS, submodules=submodules)
    indexes = [
        PreviousIndex(str(path), tuple(_find_reasons(index, scan, submodules))) for path, index in stored_indexes
    ]
    return min(indexes, key=lambda each: len(each.reasons))  # the one that is taken if one is current


def _find_reasons(index: Index, scan: Scan, submodules: bool) -> list[Staleness]:
    """List all reasons for which `is_current` would reject an index."""
    reasons: list[Staleness] = []
    if index.version != index_version():
        detail = f"made as {index.version}, this program and its grammars make {index_version()}"
        reasons.append(Staleness(StalenessReason.VERSION, detail))
    if not matches_folder(index, scan):
        reasons.append(
            Staleness(StalenessReason.FOREIGN, "made of other files than these; perhaps it was copied along with them")
        )
        return reasons
    if index.commit != scan.commit:
        reasons.append(
            Staleness(
                StalenessReason.COMMIT,
                f"{_short_commit(index.commit)} was checked out, now {_short_commit(scan.commit)} is",
            )
        )
    if index.submodules != submodules:
        detail = "wanted now, and not in it" if submodules else "in it, and not wanted now"
        reasons.append(Staleness(StalenessReason.SUBMODULES, f"repositories inside of this one are {detail}"))
    changed, unsettled = changed_files(index, scan)
    if changed:
        reasons.append(Staleness(StalenessReason.FILES, f"{_count_files(changed)} changed, new or gone", len(changed)))
    elif not has_same_left_out(index, scan):
        reasons.append(Staleness(StalenessReason.FILES, "other files are left out"))
    if unsettled:
        detail = (
            f"{_count_files(unsettled)} written so shortly before being read that the time does not tell a later change"
        )
        reasons.append(Staleness(StalenessReason.UNSETTLED, detail, len(unsettled)))
    return reasons


def index_status(
    root: Path, index: Index, read: Callable[[FileEntry], SourceFile | str], previous: PreviousIndex | None = None
) -> IndexStatus:
    """Return the status of the index in use. `previous` is the stored index before the refresh."""
    from causalist.store import MAX_CACHE_BYTES, FactsCache, facts_path

    files = [place / INDEX_NAME for place in index_folders(root)]
    stored = next((path for path in files if _is_stored_index(path, index)), None)
    cache = FactsCache(facts_path()).state()
    return IndexStatus(
        path=None if stored is None else str(stored),
        n_bytes=0 if stored is None else stored.stat().st_size,
        commit=index.commit,
        n_dirty=_count_dirty_files(root, index, read),
        found=previous,
        cache=None if cache is None else CacheUse(str(cache.path), cache.n_bytes, cache.n_entries, MAX_CACHE_BYTES),
    )


def _is_stored_index(path: Path, index: Index) -> bool:
    try:
        stored = read_index(path)
    except IndexUnreadable:
        return False
    return stored is not None and (stored.version, stored.scanned_at) == (index.version, index.scanned_at)


def _count_dirty_files(root: Path, index: Index, read: Callable[[FileEntry], SourceFile | str]) -> int | None:
    """Count files that differ from the commit or were deleted since; None without a commit.

    Also None if git cannot read the commit.
    """
    if index.commit is None:
        return None
    from causalist.source import changes_since

    try:
        changes = changes_since(root, index.commit, searched_blobs(index), read)
    except GitError:
        return None
    return len(changes.rows) + len(changes.deleted)


def _short_commit(commit: str | None) -> str:
    return "no commit" if commit is None else commit[:12]


def _count_files(paths: list[str]) -> str:
    more = ", …" if len(paths) > _MAX_FILES_NAMED else ""
    return f"{len(paths)} file{'s' if len(paths) > 1 else ''} ({', '.join(paths[:_MAX_FILES_NAMED])}{more})"


def measure_raw_parse(index: Index, read: Callable[[FileEntry], SourceFile | str]) -> float:
    """Return the seconds of processor time that tree-sitter alone takes for the files of an index that it reads."""
    from causalist.parse import dialect_of
    from causalist.parse.languages import load_parser

    sources = []
    for path, size in zip(index.manifest.paths, index.manifest.sizes.tolist(), strict=True):
        dialect = dialect_of(path)
        source = read(FileEntry(path, size, 0, "")) if dialect else ""
        if not isinstance(source, str):
            sources.append((load_parser(dialect).parser, source.data))
    start = time.process_time()
    for parser, data in sources:
        parser.parse(data)
    return time.process_time() - start
