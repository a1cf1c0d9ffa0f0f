"""A folder that is looked at again and again: what the last scan found, as long as a cheaper look tells that a scan
would find the same.

A scan asks git for a listing and then judges every path in it. Where git lists the same, only what the judgement rests
on besides has to be looked at: the status of the files whose names let them in, and the ignore files of our own,
which git may not list. Where there is no git, every look is a scan.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from causalist.errors import GitError
from causalist.model.source import Scan
from causalist.source.exclusion import Limits, name_reason
from causalist.source.folder_scan import OWN_IGNORE, scan_folder, started_listing
from causalist.source.roots import work_tree_top

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
