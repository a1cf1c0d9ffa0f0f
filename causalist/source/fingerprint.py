"""A folder at a glance: one digest of all that a scan of it would rest on, for less than the scan.

A scan asks git for a listing and judges every path in it. Here nothing is judged: the listing goes into the digest,
with the status of what is listed, of the folders on the way, and of the ignore files of our own, which git may not
list. Two equal digests mean equal scans. What would be skipped goes in as well, so that two others may mean equal ones.

A folder that is looked at again and again: what the last scan found, as long as a cheaper look tells that a scan
would find the same.

A scan asks git for a listing and then judges every path in it. Where git lists the same, only what the judgement rests
on besides has to be looked at: the status of the files whose names let them in, and the ignore files of our own,
which git may not list. Where there is no git, every look is a scan.
"""

import hashlib
import os
import stat
import time
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from causalist.errors import GitError
from causalist.model.source import FileEntry, Scan
from causalist.source import exclusion, folder_scan
from causalist.source.exclusion import Limits, name_reason
from causalist.source.folder_scan import OWN_IGNORE, scan_folder, started_listing
from causalist.source.git import Finished, GitMissing, head_commit
from causalist.source.roots import work_tree_top

# What changed this shortly before may change again without another time.
_RACY_NS = 2_000_000_000
_FROM_A_FOLDER = os.stat in os.supports_dir_fd and os.stat in os.supports_follow_symlinks
_NONE = -1  # of what cannot be looked at
_N_LISTED = 4  # numbers of each path that git lists


class Glance(NamedTuple):
    """`digest`: hexadecimal. `is_settled`: whether a change that comes after it shows in another digest. `listing`:
    what git said on the way, for `scan_folder`. `statuses`: mode, size and times of each path that it listed, then of
    everything else."""

    digest: str
    is_settled: bool
    listing: Finished
    statuses: "array[int]"


def glance_at(root: Path, limits: Limits, commit: str, also: tuple[object, ...]) -> Glance | None:
    """The folder `root` as a scan with these limits would meet it, without the repositories inside of it; `also` goes
    into the digest. None where HEAD is not known to be at `commit`, of which git has said before that it is there, or
    where git does not list the folder without complaint: then only a scan can say what there is."""
    root = root.resolve()
    top = work_tree_top(root)
    if top is None or head_commit(top) != commit:
        return None
    program = [_stamp(os.fsencode(module.__file__ or "")) for module in (folder_scan, exclusion)]
    now = time.time_ns()
    try:
        listing = folder_scan.started_files(root).finish()
    except GitMissing:
        return None
    if listing.code or listing.messages:
        return None
    numbers, latest = _statuses(os.fsencode(root), os.fsencode(top), listing.output)
    said = repr((os.fspath(root), os.fspath(top), commit, limits, also, program, len(listing.output)))
    digest = hashlib.sha256(said.encode("utf-8", "surrogatepass"))
    digest.update(listing.output)
    digest.update(numbers)
    return Glance(digest.hexdigest(), latest < now - _RACY_NS, listing, numbers)


def scan_since(before: Glance, scan: Scan, now: Glance, limits: Limits) -> Scan | None:
    """What `scan_folder` would find now, where `scan` is what it found after a glance `before`, with the same limits.
    None where more has changed than files that were taken then: that is for a scan to judge."""
    if now.listing.output != before.listing.output or len(now.statuses) != len(before.statuses):
        return None
    rows = _rows(now.listing.output)
    differing = np.flatnonzero(np.array(now.statuses) != np.array(before.statuses)) // _N_LISTED
    entries = list(scan.entries)
    for row in dict.fromkeys(differing.tolist()):
        if row >= len(rows):  # no file that git listed
            return None
        mode, size, mtime, ctime = now.statuses[_N_LISTED * row : _N_LISTED * (row + 1)]
        raw = rows[row][2:]
        at = bisect_left(entries, raw.decode("utf-8", "replace"), key=lambda entry: entry.path)
        was_taken = at < len(entries) and entries[at].path.encode() == raw
        if not (was_taken and mode != _NONE and stat.S_ISREG(mode) and size <= limits.max_file_bytes):
            return None
        entries[at] = FileEntry(entries[at].path, size, mtime, None, ctime if folder_scan.TELLS_CHANGES else 0)
    return replace(scan, entries=tuple(entries))


def _statuses(root: bytes, top: bytes, listed: bytes) -> tuple["array[int]", int]:
    """(mode, size and times of all that is listed; the mode of each folder with a listed file somewhere in it; the
    status of each ignore file of our own; the latest time among them)."""
    base = root + b"/"
    found: list[int] = []
    latest = 0
    paths, folders = _listed(listed)
    with _looking(root) as look:
        for path in paths:
            try:
                status = look(path)
            except OSError:
                found += (_NONE,) * _N_LISTED
                continue
            changed = status.st_ctime_ns
            found += (status.st_mode, status.st_size, status.st_mtime_ns, changed)
            if changed > latest:
                latest = changed
    numbers, ignore_file = array("q", found), b"/" + folder_scan.OWN_IGNORE.encode()
    for place in folders:
        try:
            numbers.append(os.lstat(base + place).st_mode)
        except OSError:
            numbers.append(_NONE)
        if os.access(base + place + ignore_file, os.F_OK):  # as in hardly any folder; an exception costs more
            latest = max(latest, _add(numbers, base + place + ignore_file))
    while len(root) > len(top):
        root = root.rpartition(b"/")[0]
        latest = max(latest, _add(numbers, root + ignore_file))
    return numbers, latest


@lru_cache(maxsize=1)
def _listed(output: bytes) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """(each path of a listing, the folders that they are in and those above). Kept for a process that looks again."""
    paths = tuple(row[2:].rstrip(b"/") for row in _rows(output))
    folders = {b"": None, **dict.fromkeys(path.rpartition(b"/")[0] for path in paths)}
    return paths, tuple(_with_folders_above(folders))


def _rows(listed: bytes) -> list[bytes]:
    return listed.removesuffix(b"\0").split(b"\0")


@contextmanager
def _looking(root: bytes) -> Iterator[Callable[[bytes], os.stat_result]]:
    """What looks at a path below `root`, without following links; a shorter way for the system where it has one."""
    folder = -1
    if _FROM_A_FOLDER:
        with suppress(OSError):  # it may be entered and not be read
            folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    if folder < 0:
        yield lambda path: os.lstat(root + b"/" + path)
        return
    try:
        yield partial(os.stat, dir_fd=folder, follow_symlinks=False)
    finally:
        os.close(folder)


def _with_folders_above(folders: dict[bytes, None]) -> Iterator[bytes]:
    """Each folder once, and those on the way to it, in a fixed order."""
    seen: set[bytes] = set()
    for folder in folders:
        while folder not in seen:
            seen.add(folder)
            yield folder
            folder = folder[: max(folder.rfind(b"/"), 0)]


def _add(numbers: "array[int]", place: bytes) -> int:
    stamp = _stamp(place)
    numbers.extend(stamp)
    return stamp[-1]


def _stamp(place: bytes) -> tuple[int, ...]:
    try:
        status = os.lstat(place)
    except OSError:
        return (_NONE,)
    return status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns


_OWN_IGNORE = OWN_IGNORE.encode()
# Mode, inode, size, and the nanoseconds of its times; of what has none the error, and zeros.
_Status = tuple[int, int, int, int, int]


class _Seen(NamedTuple):
    """What git said, and the status of everything else that a scan rests on, by place."""

    said: tuple[object, ...]
    places: Sequence[bytes]
    found: list[_Status]


class Rescan:
    """Scans of the folder `root` without the repositories inside of it. For one thread at a time."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._limits: Limits | None = None
        self._seen: _Seen | None = None
        self._scan: Scan | None = None

    def scan(self, limits: Limits) -> Scan:
        """As `scan_folder`; the very object of the last time where nothing has changed since. Raises as it does."""
        before = self._seen if limits == self._limits else None
        seen = self._looked(before)
        if self._scan is not None and seen is not None and seen == before:
            return self._scan
        # Looked at before it is scanned: what changes in between has another status at the next look.
        self._seen = None
        self._scan = scan_folder(self._root, limits)
        self._limits, self._seen = limits, seen
        return self._scan

    def _looked(self, before: _Seen | None) -> _Seen | None:
        """What there is to see now; None where git does not tell."""
        top = work_tree_top(self._root)
        if top is None:
            return None
        try:
            head, listing = started_listing(self._root)
        except GitError:
            return None
        done = (head.finish(), listing.finish())
        said = tuple((each.code, each.output, each.messages) for each in done)
        if before is not None and said == before.said:
            places = before.places
        else:
            places = tuple(_places(os.fsencode(self._root), top, done[1].output))
        return _Seen(said, places, [_status(place) for place in places])


def _places(root: bytes, top: Path, listed: bytes) -> Iterator[bytes]:
    """Of a listing, the paths whose status decides something; and where ignore files of our own may be."""
    folders = {b""}
    for row in set(listed.split(b"\0")) - {b""}:
        path = row[2:].rstrip(b"/")
        if row.endswith(b"/") or name_reason(path.decode("utf-8", "replace")) is None:
            yield root + b"/" + path
        folder = path.rpartition(b"/")[0]
        while folder not in folders:
            folders.add(folder)
            folder = folder.rpartition(b"/")[0]
    yield from (b"/".join((root, *filter(None, [folder]), _OWN_IGNORE)) for folder in folders)
    above = Path(os.fsdecode(root))
    while above != top and above != above.parent:
        above = above.parent
        yield os.fsencode(above) + b"/" + _OWN_IGNORE


def _status(place: bytes) -> _Status:
    try:
        status = os.lstat(place)
    except OSError as error:
        return (error.errno or -1, 0, 0, 0, 0)
    return status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
