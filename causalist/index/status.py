"""Status of an index: its path, its freshness before the refresh, and its distance from HEAD.

Reasons say why it did not match the files, counts how many files differ from the commit. Only `causalist status`
computes it.
"""

import time
from collections.abc import Callable
from pathlib import Path

from causalist.errors import GitError, IndexUnreadable
from causalist.index.freshness import changed_files, has_same_left_out, index_version, matches_folder, searched_blobs
from causalist.index.open import index_folders
from causalist.index.options import IndexOptions
from causalist.model.answer import CacheUse, IndexStatus, PreviousIndex, Staleness, StalenessReason
from causalist.model.index import Index
from causalist.model.source import FileEntry, Scan, SourceFile
from causalist.source import DEFAULT_LIMITS, changes_since, scan_folder
from causalist.store import INDEX_NAME, MAX_CACHE_BYTES, FactsCache, facts_path, read_index

_MAX_FILES_NAMED = 3


def stored_index_status(root: Path, options: IndexOptions) -> PreviousIndex:
    """Return the stored index of `root` before a refresh, with everything that makes it outdated.

    Builds and writes nothing. Raises what `scan_folder` raises.
    """
    stored_indexes: list[tuple[Path, Index]] = []
    unreadable: list[Staleness] = []
    for place in index_folders(root):
        try:
            index = read_index(place / INDEX_NAME)
        except IndexUnreadable as error:
            unreadable.append(Staleness(StalenessReason.UNREADABLE, str(error)))
            continue
        if index is not None:
            stored_indexes.append((place / INDEX_NAME, index))
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
    """List all reasons for which `index.open.is_current` would reject an index."""
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
    """Return the status of the index in use. `found` is the stored index before the refresh."""
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
