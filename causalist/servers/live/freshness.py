"""Whether an index is of the files as they are at this moment, and if not, which of them are not in it.

Names, sizes and times tell most of it. Files of which they do not (one that was written just before it was indexed, or
saved again as it was) are read and compared by content, as long as they are few: an index is made again for what
changed, and not for a time stamp.
"""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from causalist.model.index import Index
    from causalist.model.source import FileEntry, Scan
    from causalist.settings import Settings
    from causalist.source import Limits

_MOST_READ = 32  # more is left to the process that indexes
# A file that was read so long after its last change would have other times had it changed since.
_SETTLED_NS = 2_000_000_000

_Stamp = tuple[int, int, int]


class Look(NamedTuple):
    """What a look at the files found. `changed`: paths that are other, new or gone, sorted; `is_moved`: another commit
    is checked out. `is_current` without either, unless the index is of another version or without what is wanted."""

    is_current: bool
    changed: tuple[str, ...] = ()
    is_moved: bool = False


class Looks:
    """Looks at the files in the folder `root`, one after the other."""

    def __init__(self, root: Path) -> None:
        from causalist.source import IncrementalScan

        self._root = root
        self._rescan = IncrementalScan(root)
        self._same: dict[tuple[str, str], _Stamp] = {}  # by path and content: times for which no other is possible
        self._stored: dict[Path, tuple[int, ...]] = {}  # index files that are known not to be current
        self._last: tuple[Index, Scan, Look] | None = None

    def at(self, index: "Index") -> Look:
        """Whether `index` is current. Raises what a scan of a folder raises, and SettingsError."""
        settings, limits = self._settings()
        return self._judged(index, settings, self._scan(index, settings, limits), limits)

    def stored(self) -> "Index | None":
        """The stored index, if it is current; one that was looked at before is not read again."""
        from causalist.errors import IndexUnreadable
        from causalist.index.freshness import matches_folder
        from causalist.index.open import index_folders
        from causalist.store import INDEX_NAME, read_index

        settings, limits = self._settings()
        for place in index_folders(self._root):
            path = place / INDEX_NAME
            try:
                status = path.stat()
                stamp = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
                if self._stored.get(path) == stamp:
                    continue
                index = read_index(path)
            except (OSError, IndexUnreadable):
                continue
            if index is not None:
                scan = self._scan(index, settings, limits)
                if matches_folder(index, scan) and self._judged(index, settings, scan, limits).is_current:
                    return index
                self._stored[path] = stamp
        return None

    def _settings(self) -> "tuple[Settings, Limits]":
        from causalist.pipeline.repository import Repository

        settings = Repository.settings_at(self._root, exact_root=True)
        return settings, settings.limits()

    def _scan(self, index: "Index", settings: "Settings", limits: "Limits") -> "Scan":
        from causalist.source import scan_folder

        if self._submodules(index, settings):
            return scan_folder(self._root, limits, submodules=True)
        return self._rescan.scan(limits)

    def _submodules(self, index: "Index", settings: "Settings") -> bool:
        from causalist.index.options import IndexOptions

        wanted = settings.index_options(IndexOptions()).submodules
        return index.submodules if wanted is None else wanted

    def _judged(self, index: "Index", settings: "Settings", scan: "Scan", limits: "Limits") -> Look:
        from causalist.index.freshness import changed_files, index_version

        if self._last is not None and self._last[0] is index and self._last[1] is scan:
            look = self._last[2]
            if look.is_current or look.changed or look.is_moved:
                return look
        changed, unsettled = changed_files(index, scan)
        entries = {entry.path: entry for entry in scan.entries}
        blobs = dict(zip(index.manifest.paths, index.manifest.blobs, strict=True)) if changed or unsettled else {}
        doubtful = [path for path in changed if path in entries and path in blobs] + unsettled
        if len(doubtful) > _MOST_READ:
            same, sure = set[str](), True
        else:
            same, sure = self._unchanged([entries[path] for path in doubtful], blobs, limits)
        changed = [path for path in changed if path not in same]
        look = Look(
            is_current=not changed
            and same.issuperset(unsettled)
            and index.commit == scan.commit
            and index.version == index_version()
            and index.submodules == self._submodules(index, settings),
            changed=tuple(changed),
            is_moved=index.commit != scan.commit,
        )
        # What was read may change again without a trace, until it has not for a while.
        self._last = (index, scan, look) if sure or not look.is_current else None
        return look

    def _unchanged(self, doubtful: "list[FileEntry]", blobs: dict[str, str], limits: "Limits") -> tuple[set[str], bool]:
        """Paths of files whose content is what was indexed; and whether that holds until their times are others."""
        import time

        from causalist.source import read_file

        same, sure = set[str](), True
        for entry in doubtful:
            key = (entry.path, blobs[entry.path])
            stamp = (entry.size, entry.mtime_ns, entry.ctime_ns)
            if self._same.get(key) == stamp:
                same.add(entry.path)
                continue
            now = time.time_ns()
            source = read_file(self._root, entry, limits)
            if isinstance(source, str) or source.blob != blobs[entry.path]:
                continue
            same.add(entry.path)
            if max(stamp[1:]) < now - _SETTLED_NS:
                self._same = {known: value for known, value in self._same.items() if known[0] != entry.path}
                self._same[key] = stamp
            else:
                sure = False
        return same, sure
