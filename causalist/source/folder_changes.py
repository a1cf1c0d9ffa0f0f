"""Changes of a folder: a fingerprint, which tells whether it changed since a scan, and a wait for the next change.

A scan takes git's listing and judges every path. The fingerprint judges nothing: it covers the listing, the status of
the listed files, of their folders, and of our own ignore files, which git may not list. Equal digests mean equal scans.
It covers skipped files too, so that different digests may mean equal scans.

`IncrementalScan` scans a folder repeatedly. If git lists the same, it checks only the status of files that their names
let in and of our own ignore files, and returns the last scan if nothing differs. Without git every call is a scan.

`wait_for_changes` watches only folders with indexed files, their new subfolders unless git ignores them, and the files
that show a move of HEAD: a build in an ignored folder causes no event and needs no watch. The result says only that
something changed; the scan finds out what. An extra or unknown event does no harm.
"""

import hashlib
import os
import stat
import time
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from causalist.errors import GitError, UsageError
from causalist.model.source import FileEntry, Scan
from causalist.source import exclusion, folder_scan
from causalist.source.exclusion import UNCOUNTED_FOLDERS, VENDORED_FOLDERS, Limits, skip_reason_by_name
from causalist.source.folder_scan import OWN_IGNORE, scan_folder, start_listing
from causalist.source.git import CompletedGit, GitMissing, RunningGit, git_folder, head_commit, work_tree_top

# What changed this shortly before may change again without another time.
_RACY_NS = 2_000_000_000
_FROM_A_FOLDER = os.stat in os.supports_dir_fd and os.stat in os.supports_follow_symlinks
_NONE = -1  # of what cannot be looked at
_N_LISTED = 4  # numbers of each path that is listed
_IGNORE_FILES = (folder_scan.GIT_IGNORE, folder_scan.OWN_IGNORE)
_ANY_TEXT = ("utf-8", "surrogatepass")


class Walked(NamedTuple):
    """Result of a walk: what it leaves out, and the paths that it finds."""

    left_out: list[tuple[exclusion.SkipReason, str]]
    paths: list[str]


class FolderFingerprint(NamedTuple):
    """Digest of a folder with the data behind it.

    `digest` is hexadecimal. `is_settled` is True if a later change gives another digest. `listing` is git's output, for
    `scan_folder`, None without git: then there is `walked`. `statuses` has mode, size and times of each path that was
    listed or walked, then of everything else.
    """

    digest: str
    is_settled: bool
    listing: CompletedGit | None
    statuses: "array[int]"
    walked: Walked | None = None


def fingerprint_folder(root: Path, limits: Limits, commit: str, also: tuple[object, ...]) -> FolderFingerprint | None:
    """Return the fingerprint of `root` as a scan with these limits would see it, or None.

    Nested repositories are left out; `also` goes into the digest. None if HEAD is not at `commit`, which git has
    confirmed to exist, or if git does not list the folder without complaint.
    """
    root = root.resolve()
    top = work_tree_top(root)
    if top is None or head_commit(top) != commit:
        return None
    program = [_stamp_file(os.fsencode(module.__file__ or "")) for module in (folder_scan, exclusion)]
    now = time.time_ns()
    try:
        listing = folder_scan.start_file_listing(root).finish()
    except GitMissing:
        return None
    if listing.code or listing.messages:
        return None
    numbers, latest = _read_statuses(os.fsencode(root), os.fsencode(top), listing.output)
    identity = repr((os.fspath(root), os.fspath(top), commit, limits, also, program, len(listing.output)))
    digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass"))
    digest.update(listing.output)
    digest.update(numbers)
    return FolderFingerprint(digest.hexdigest(), latest < now - _RACY_NS, listing, numbers)


def fingerprint_walk(root: Path, limits: Limits, also: tuple[object, ...]) -> FolderFingerprint | None:
    """Return the fingerprint of a folder in no repository, as a scan with these limits would see it, or None.

    It follows the same walk, and judges no name. `also` goes into the digest. None if a repository is inside.
    """
    root = root.resolve()
    if work_tree_top(root) is not None:
        return None
    program = [_stamp_file(os.fsencode(module.__file__ or "")) for module in (folder_scan, exclusion)]
    now = time.time_ns()
    above = exclusion.ignores_above(root, root, _IGNORE_FILES)
    start = ("", above[folder_scan.GIT_IGNORE], above[OWN_IGNORE])
    walked, nested = Walked([], []), list[folder_scan.NestedRepository]()
    values: list[int] = []
    stamps: list[int] = []
    latest = 0
    for folder in folder_scan.walk_folders(root, "", start, lambda *each: walked.left_out.append(each), nested):
        if nested:
            break
        for name in _IGNORE_FILES:  # which may be ignored themselves
            if name in folder.listed:
                stamps += _stamp_file(folder.location + b"/" + name.encode())
                latest = max(latest, stamps[-1])
        for path, entry in folder.files:
            walked.paths.append(path)
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                values += (_NONE,) * _N_LISTED
                continue
            changed = status.st_ctime_ns
            values += (status.st_mode, status.st_size, status.st_mtime_ns, changed)
            if changed > latest:
                latest = changed
    if nested:
        return None
    numbers = array("q", values + stamps)
    said = [each for reason, path in walked.left_out for each in (reason.value, path)]
    identity = repr((os.fspath(root), limits, also, program, len(said), len(walked.paths)))
    digest = hashlib.sha256(identity.encode(*_ANY_TEXT))
    digest.update("\0".join((*said, *walked.paths)).encode(*_ANY_TEXT))
    digest.update(numbers)
    return FolderFingerprint(digest.hexdigest(), latest < now - _RACY_NS, None, numbers, walked)


def scan_walked(root: Path, limits: Limits, fingerprint: FolderFingerprint) -> Scan | None:
    """Return what `scan_folder` would give for a folder that was walked, or None if a new walk is needed."""
    if fingerprint.walked is None:
        return None
    tally, base = folder_scan.ScanBuilder(limits), os.fsencode(root.resolve())
    for reason, path in fingerprint.walked.left_out:
        tally.skip(reason, path)
    numbers = iter(fingerprint.statuses)
    for path, mode, size, mtime, changed in zip(fingerprint.walked.paths, *(numbers,) * _N_LISTED, strict=False):
        if mode == _NONE:
            return None
        if stat.S_ISREG(mode):
            tally.offer(path, size, mtime, None, changed if folder_scan.TELLS_CHANGES else 0)
            continue
        try:
            folder_scan.offer_file(base, path, os.lstat(base + b"/" + path.encode()), tally)
        except OSError:
            return None
    return tally.scan(None)


def update_scan(before: FolderFingerprint, scan: Scan, now: FolderFingerprint, limits: Limits) -> Scan | None:
    """Return the scan that `scan_folder` would give now, or None if a new scan is needed.

    `scan` followed the fingerprint `before`, with the same limits. Only changes of files that were in the scan are
    handled.
    """
    if now.listing is None or before.listing is None or len(now.statuses) != len(before.statuses):
        return None
    if now.listing.output != before.listing.output:
        return None
    rows = _split_rows(now.listing.output)
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


def _read_statuses(root: bytes, top: bytes, listed: bytes) -> tuple["array[int]", int]:
    """Return (status numbers, the latest time among them).

    The numbers are mode, size and times of each listed path, the mode of each folder on the way, and the status of our
    own ignore files.
    """
    base = root + b"/"
    values: list[int] = []
    latest = 0
    paths, folders = _list_paths(listed)
    with _open_lstat(root) as look:
        for path in paths:
            try:
                status = look(path)
            except OSError:
                values += (_NONE,) * _N_LISTED
                continue
            changed = status.st_ctime_ns
            values += (status.st_mode, status.st_size, status.st_mtime_ns, changed)
            if changed > latest:
                latest = changed
    numbers, ignore_file = array("q", values), b"/" + folder_scan.OWN_IGNORE.encode()
    for place in folders:
        try:
            numbers.append(os.lstat(base + place).st_mode)
        except OSError:
            numbers.append(_NONE)
        if os.access(base + place + ignore_file, os.F_OK):  # as in hardly any folder; an exception costs more
            latest = max(latest, _append_stamp(numbers, base + place + ignore_file))
    while len(root) > len(top):
        root = root.rpartition(b"/")[0]
        latest = max(latest, _append_stamp(numbers, root + ignore_file))
    return numbers, latest


@lru_cache(maxsize=1)
def _list_paths(output: bytes) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """Return (paths of a listing, their folders and those above). Cached for repeated calls."""
    paths = tuple(row[2:].rstrip(b"/") for row in _split_rows(output))
    folders = {b"": None, **dict.fromkeys(path.rpartition(b"/")[0] for path in paths)}
    return paths, tuple(_with_folders_above(folders))


def _split_rows(listed: bytes) -> list[bytes]:
    return listed.removesuffix(b"\0").split(b"\0")


@contextmanager
def _open_lstat(root: bytes) -> Iterator[Callable[[bytes], os.stat_result]]:
    """Give a function that returns the status of a path below `root` without following links.

    It is relative to an open folder where the system allows that, which is faster.
    """
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
    """Yield each folder once, and those above it, in a fixed order."""
    seen: set[bytes] = set()
    for folder in folders:
        while folder not in seen:
            seen.add(folder)
            yield folder
            folder = folder[: max(folder.rfind(b"/"), 0)]


def _append_stamp(numbers: "array[int]", place: bytes) -> int:
    stamp = _stamp_file(place)
    numbers.extend(stamp)
    return stamp[-1]


def _stamp_file(place: bytes) -> tuple[int, ...]:
    try:
        status = os.lstat(place)
    except OSError:
        return (_NONE,)
    return status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns


_OWN_IGNORE = OWN_IGNORE.encode()
# Mode, inode, size, and the nanoseconds of its times; of what has none the error, and zeros.
_Status = tuple[int, int, int, int, int]


class _ScanInputs(NamedTuple):
    """Git's output and the status of everything else that a scan depends on."""

    said: tuple[object, ...]
    places: Sequence[bytes]
    found: list[_Status]


class IncrementalScan:
    """Repeated scans of the folder `root` without nested repositories. For one thread at a time."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._limits: Limits | None = None
        self._seen: _ScanInputs | None = None
        self._scan: Scan | None = None

    def scan(self, limits: Limits) -> Scan:
        """Return what `scan_folder` does; the same object as before if nothing changed. Raises as it does."""
        before = self._seen if limits == self._limits else None
        seen = self._read_inputs(before)
        if self._scan is not None and seen is not None and seen == before:
            return self._scan
        # Looked at before it is scanned: what changes in between has another status at the next look.
        self._seen = None
        self._scan = scan_folder(self._root, limits)
        self._limits, self._seen = limits, seen
        return self._scan

    def _read_inputs(self, before: _ScanInputs | None) -> _ScanInputs | None:
        """Return the current inputs of a scan; None if git cannot list the folder."""
        top = work_tree_top(self._root)
        if top is None:
            return None
        try:
            head, listing = start_listing(self._root)
        except GitError:
            return None
        done = (head.finish(), listing.finish())
        outputs = tuple((each.code, each.output, each.messages) for each in done)
        if before is not None and outputs == before.said:
            places = before.places
        else:
            places = tuple(_list_places(os.fsencode(self._root), top, done[1].output))
        return _ScanInputs(outputs, places, [_read_status(place) for place in places])


def _list_places(root: bytes, top: Path, listed: bytes) -> Iterator[bytes]:
    """Yield the paths of a listing whose status matters, and possible paths of our own ignore files."""
    folders = {b""}
    for row in set(listed.split(b"\0")) - {b""}:
        path = row[2:].rstrip(b"/")
        if row.endswith(b"/") or skip_reason_by_name(path.decode("utf-8", "replace")) is None:
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


def _read_status(place: bytes) -> _Status:
    try:
        status = os.lstat(place)
    except OSError as error:
        return (error.errno or -1, 0, 0, 0, 0)
    return status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


_FIRST_CHECK_MS = 100  # after the watches are set: what changed before is seen then
_MAX_DEBOUNCE_FACTOR = 10  # edits that never end are looked at after so many times the quiet that is waited for
_GIT_NAMES = frozenset({"HEAD", "index", "packed-refs", "ORIG_HEAD"})


def wait_for_changes(root: Path, indexed: Callable[[], Iterable[str]], *, quiet_ms: int) -> Iterator[None]:
    """Yield once the watches are set, then each time that changes are followed by a quiet `quiet_ms`.

    `indexed` gives the paths of the indexed files; it is called again after each turn. If that needs other watches,
    they are set, and one more turn covers changes missed meanwhile. Ends by KeyboardInterrupt. Raises UsageError if the
    system refuses to watch.
    """
    from watchfiles import watch

    added: set[Path] = set()
    top = work_tree_top(root)
    git = None if top is None else git_folder(top)
    while True:
        folders = _list_folders(root, indexed(), added)
        is_new = True
        turns = watch(
            *folders,
            watch_filter=lambda _, path: _is_relevant(path, git),
            step=quiet_ms,
            debounce=_MAX_DEBOUNCE_FACTOR * quiet_ms,
            rust_timeout=_FIRST_CHECK_MS,
            yield_on_timeout=True,
            recursive=False,
        )
        try:
            for changes in turns:
                if not changes and not is_new:
                    continue
                is_new = False
                added = {each for each in added if each.is_dir()}
                for _, name in changes:
                    added.update(_find_new_folders(root, Path(name)))
                yield
                if _list_folders(root, indexed(), added) != folders:
                    break
        except OSError as error:
            raise UsageError(
                f"cannot watch {root}: {error.strerror or error}; raise the limit of watches, or do without: every "
                "command refreshes the index by itself"
            ) from error


def _list_folders(root: Path, indexed: Iterable[str], added: Iterable[Path]) -> list[Path]:
    """All folders on the way to indexed files, those that were added, and git's own."""
    names = {""}
    for path in indexed:
        folder = path.rpartition("/")[0]
        while folder and folder not in names:
            names.add(folder)
            folder = folder.rpartition("/")[0]
    folders = {root / name for name in names} | set(added)
    top = work_tree_top(root)
    own = None if top is None else git_folder(top)
    if own is not None:
        folders.add(own)
    return sorted(folder for folder in folders if folder.is_dir() and not folder.is_symlink())


def _is_relevant(path: str, git: Path | None) -> bool:
    """`git` is where HEAD is kept, which for a linked work tree is a folder of the main repository."""
    folder, name = os.path.split(path)
    inside = os.path.basename(folder)  # noqa: PTH119
    if inside == ".git" or (git is not None and Path(folder) == git):
        return name in _GIT_NAMES
    return name not in UNCOUNTED_FOLDERS and inside not in UNCOUNTED_FOLDERS


def _find_new_folders(root: Path, path: Path) -> Iterator[Path]:
    """Yield the folders at or below a new path that are to be watched."""
    if path.is_symlink() or not path.is_dir() or path.name == ".git" or _is_excluded(root, path):
        return
    yield path
    with suppress(OSError):
        for entry in sorted(path.iterdir()):
            yield from _find_new_folders(root, entry)


def _is_excluded(root: Path, folder: Path) -> bool:
    if folder.name in UNCOUNTED_FOLDERS or folder.name in VENDORED_FOLDERS:
        return True
    if work_tree_top(root) is None:
        return False
    try:
        done = RunningGit(("-C", os.fspath(root)), "check-ignore", "-q", "--", os.fspath(folder)).finish()
    except GitError:
        return False
    return done.code == 0
