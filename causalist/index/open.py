"""The current index of a folder: the stored one where nothing changed, else one that `building` makes.

What makes an index is imported when one is made: most questions find one that is current, and then it would cost more
than the answer. A file whose metadata has not changed is not read. Where all that a scan rests on is as it was when the
index was last found current, nothing is scanned.
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from causalist.errors import IndexNotWritable, IndexUnreadable, NothingToIndex
from causalist.index.freshness import has_same_files, index_version, is_of_here
from causalist.index.options import IndexOptions
from causalist.model.index import Index
from causalist.model.source import Diagnostic, FileEntry, Scan, SourceFile
from causalist.source import DEFAULT_LIMITS, Glance, Limits, glance_at, read_file, scan_folder, scan_since
from causalist.store import (
    FOLDER,
    INDEX_NAME,
    cache_folder,
    index_stamp,
    is_read_only,
    locked_folder,
    open_index,
    prepare_folder,
    read_index,
    read_seen,
    write_seen,
)

if TYPE_CHECKING:
    from causalist.index.refresh_cache import Retaining
    from causalist.model.index import Commits
    from causalist.store import Sums

# A file that was written this shortly before may change again without other times.
_RACY_NS = 2_000_000_000
_CHECKED = "checked"  # in a digest: the index was added up and found sound before the digest was kept


def is_current(scan: Scan, index: Index) -> bool:
    """Whether an index holds just the files of a scan, as far as their metadata tells."""
    return index.commit == scan.commit and index.version == index_version() and has_same_files(index, scan)


def index_places(root: Path) -> tuple[Path, ...]:
    """The folders in which an index of `root` may be stored, the preferred one first."""
    return (root / FOLDER, cache_folder(root))


def refreshed_index(root: Path, options: IndexOptions) -> tuple[Index, tuple[Diagnostic, ...]]:
    """The current index of a folder: the stored one if nothing changed, else a new one, stored if possible.

    It is stored in the folder itself, or in the user's cache folder where that cannot be written. Where neither can,
    a diagnostic says so, and the index stays in memory. Raises NothingToIndex.
    """
    scanned_at = time.time_ns()
    limits = options.limits or DEFAULT_LIMITS
    notes: dict[Diagnostic, None] = {}
    places = index_places(root)
    found = [_found(place, notes, options) for place in places]
    first = next((each for each in found if each.stored is not None), None)
    previous = None if first is None else first.stored
    # A wish, which is all that is taken from an index before it is known to be of these files.
    submodules = options.submodules if options.submodules is not None else previous is not None and previous.submodules
    options = replace(options, submodules=submodules)
    known_commit = None if previous is None else previous.commit
    glance = None if first is None or submodules else _glance(root, limits, first)
    if glance is not None and first is not None and not options.anew and glance.digest == read_seen(first.place):
        # The digest is of the index file as well: since it was added up and found sound it has not changed.
        assert previous is not None
        return previous, tuple(notes)
    found = [_checked(each, notes) for each in found]
    scan = _scanned(root, limits, submodules, known_commit, glance, options.retaining)
    previous = next((each.stored for each in found if is_of_here(each.stored, scan)), None)
    for each in found:
        if each.stored is not None and _serves(each.stored, scan, submodules):
            is_settled = glance is not None and glance.is_settled and _is_settled(each.stamp, scanned_at)
            if glance is not None and is_settled and first is not None and each.place == first.place:
                write_seen(each.place, glance.digest)
            return each.stored, tuple(notes)

    from causalist.index import build as building
    from causalist.store import FactsCache, facts_path, write_index

    def read(entry: FileEntry) -> SourceFile | str:
        return read_file(root, entry, limits)

    index: Index | None = None
    commits: Callable[[], Commits] | None = None
    problems: list[IndexNotWritable] = []
    for known in found:
        place, is_new = known.place, not os.path.lexists(known.place)
        try:
            prepare_folder(place)
            with locked_folder(place, root):
                stored = known.stored
                if known.stamp != index_stamp(place / INDEX_NAME):
                    # Another process has just done the work.
                    stored = _checked(_found(place, notes, options), notes).stored
                    if stored is not None and _serves(stored, scan, submodules):
                        return stored, tuple(notes)
                previous = stored if is_of_here(stored, scan) else previous
                commits = commits or building.reading_commits(root, scan, previous, notes, options)
                index = index or building.restamped_if_same(scan, read, previous, scanned_at, submodules, commits)
                if index is None:
                    index = building.made_with(
                        FactsCache(facts_path()), scan, read, previous, scanned_at, options, commits
                    )
                written = write_index(place / INDEX_NAME, index, known.sums)
                if options.retaining is not None:
                    options.retaining.written = written
            break
        except IndexNotWritable as error:
            problems.append(error)
        except NothingToIndex:
            if is_new:
                import shutil

                shutil.rmtree(place, ignore_errors=True)
            raise
    else:
        notes[Diagnostic("index-not-writable", f"{problems[0]}; the index is kept in memory only", -1)] = None
        commits = commits or building.reading_commits(root, scan, previous, notes, options)
        index = index or building.make_index(
            scan, read, FactsCache(facts_path()), previous, scanned_at, options, commits
        )
        return index, tuple(notes)
    if problems and not is_read_only(problems[0]):
        notes[Diagnostic("index-not-writable", f"{problems[0]}; the index is kept in {places[1]}", -1)] = None
    return index, tuple(notes)


def current_index(root: Path, options: IndexOptions, at_hand: Index | None = None, stored: bool = True) -> Index | None:
    """The index at hand, or else the `stored` one, if it is of the files as they are. Builds and writes nothing."""
    found = [] if at_hand is None else [at_hand]
    for place in index_places(root) if stored else ():
        with suppress(IndexUnreadable):
            known = read_index(place / INDEX_NAME)
            found += [] if known is None else [known]
    scans: dict[bool, Scan] = {}
    for index in found:
        submodules = index.submodules if options.submodules is None else options.submodules
        if submodules not in scans:
            limits = options.limits or DEFAULT_LIMITS
            scans[submodules] = scan_folder(root, limits, submodules=submodules, known_commit=index.commit)
        if _serves(index, scans[submodules], submodules):
            return index
    return None


class _Found(NamedTuple):
    """What is in a place where an index may be stored; `check` raises IndexUnreadable if it is damaged."""

    place: Path
    stamp: tuple[int, ...] | None
    stored: Index | None
    sums: "Sums"
    check: Callable[[], None]


def _glance(root: Path, limits: Limits, found: _Found) -> Glance | None:
    """The folder at a glance, if its index is of this program and of the commit that is checked out, and of no
    repositories inside."""
    index = found.stored
    if index is None or index.commit is None or found.stamp is None or index.submodules:
        return None
    return glance_at(root, limits, index.commit, (*found.stamp, _CHECKED)) if index.version == index_version() else None


def _scanned(
    root: Path, limits: Limits, submodules: bool, commit: str | None, glance: Glance | None, kept: "Retaining | None"
) -> Scan:
    """What `root` offers: after a glance that does not differ much from that of the time before, without a scan."""
    scan = None
    if glance is not None and kept is not None and kept.looked is not None and kept.looked.limits == limits:
        scan = scan_since(kept.looked.glance, kept.looked.scan, glance, limits)
    if scan is None:
        listing = None if glance is None else glance.listing
        scan = scan_folder(root, limits, submodules=submodules, known_commit=commit, listing=listing)
    if kept is not None:
        from causalist.index.refresh_cache import Looked

        kept.looked = None if glance is None else Looked(glance, limits, scan)
    return scan if glance is None else replace(scan, commit=commit)


def _serves(index: Index, scan: Scan, submodules: bool) -> bool:
    """Whether an index is what is wanted; one without the wish would forget it."""
    return index.submodules == submodules and is_current(scan, index)


def _found(place: Path, notes: dict[Diagnostic, None], options: IndexOptions) -> _Found:
    sums: Sums = {}
    path = place / INDEX_NAME
    stamp = index_stamp(path)
    written = None if options.retaining is None else options.retaining.written
    try:
        opened = open_index(path, written, sums)
    except IndexUnreadable as error:
        _tell(error, notes)
        opened = None
    if opened is None:
        return _Found(place, stamp, None, sums, lambda: None)
    return _Found(place, opened.written, opened.content, sums, opened.check)


def _checked(found: _Found, notes: dict[Diagnostic, None]) -> _Found:
    """What was found, if it is sound."""
    try:
        found.check()
    except IndexUnreadable as error:
        _tell(error, notes)
        return found._replace(stored=None)
    return found


def _tell(error: IndexUnreadable, notes: dict[Diagnostic, None]) -> None:
    if not isinstance(error.__cause__, PermissionError):  # else somebody else's
        notes[Diagnostic(error.slug, str(error), -1)] = None


def _is_settled(stamp: tuple[int, ...] | None, now: int) -> bool:
    """Whether a change of an index file would show in its stamp."""
    return stamp is not None and max(stamp[-2:]) < now - _RACY_NS
