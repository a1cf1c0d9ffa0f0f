"""Check whether an index matches the files, and list the files that differ.

Names, sizes and times decide most cases. Files for which they do not (written right before indexing, or saved without a
change) are read and compared by content if they are few, so that a changed time stamp alone causes no refresh.
"""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from causalist.model.index import Index
    from causalist.model.source import FileEntry, Scan
    from causalist.settings import Settings
    from causalist.source import Limits

_MAX_FILES_READ = 32  # files; more are left to the indexing process
# ns between a change and a read after which any later change gets a different time stamp
_SETTLED_NS = 2_000_000_000

_Stamp = tuple[int, int, int]


class FreshnessReport(NamedTuple):
    """Result of a check. `changed` are paths of changed, new and deleted files, sorted.

    `is_moved`: another commit is checked out. `is_current` can be false without either if the index has another version
    or other options.
    """

    is_current: bool
    changed: tuple[str, ...] = ()
    is_moved: bool = False


class FreshnessChecker:
    """Checks of the files in the folder `root`, with results of earlier checks."""

    def __init__(self, root: Path) -> None:
        from causalist.source import IncrementalScan

        self._root = root
        self._rescan = IncrementalScan(root)
        self._same: dict[tuple[str, str], _Stamp] = {}  # by path and content hash: times that prove the content
        self._stored: dict[Path, tuple[int, ...]] = {}  # stamps of index files that are not current
        self._last: tuple[Index, Scan, FreshnessReport] | None = None

    def check(self, index: "Index") -> FreshnessReport:
        """Compare `index` with the files. Raises the errors of a folder scan, and SettingsError."""
        settings, limits = self._settings()
        return self._compare(index, settings, self._scan(index, settings, limits), limits)

    def current_stored_index(self) -> "Index | None":
        """Return the stored index if it is current; a file that was not current is not read again."""
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
                if matches_folder(index, scan) and self._compare(index, settings, scan, limits).is_current:
                    return index
                self._stored[path] = stamp
        return None

    def _settings(self) -> "tuple[Settings, Limits]":
        from causalist.pipeline.repository import Repository

        settings = Repository.settings_at(self._root, exact_root=True)
        return settings, settings.limits()

    def _scan(self, index: "Index", settings: "Settings", limits: "Limits") -> "Scan":
        from causalist.source import scan_folder

        if self._wants_submodules(index, settings):
            return scan_folder(self._root, limits, submodules=True)
        return self._rescan.scan(limits)

    def _wants_submodules(self, index: "Index", settings: "Settings") -> bool:
        from causalist.index.options import IndexOptions

        wanted = settings.index_options(IndexOptions()).submodules
        return index.submodules if wanted is None else wanted

    def _compare(self, index: "Index", settings: "Settings", scan: "Scan", limits: "Limits") -> FreshnessReport:
        from causalist.index.freshness import changed_files, has_same_left_out, index_version

        if self._last is not None and self._last[0] is index and self._last[1] is scan:
            look = self._last[2]
            if look.is_current or look.changed or look.is_moved:
                return look
        changed, unsettled = changed_files(index, scan)
        entries = {entry.path: entry for entry in scan.entries}
        blobs = dict(zip(index.manifest.paths, index.manifest.blobs, strict=True)) if changed or unsettled else {}
        doubtful = [path for path in changed if path in entries and path in blobs] + unsettled
        if len(doubtful) > _MAX_FILES_READ:
            same, sure = set[str](), True
        else:
            same, sure = self._unchanged([entries[path] for path in doubtful], blobs, limits)
        changed = [path for path in changed if path not in same]
        look = FreshnessReport(
            is_current=not changed
            and same.issuperset(unsettled)
            and index.commit == scan.commit
            and index.version == index_version()
            and has_same_left_out(index, scan)
            and index.submodules == self._wants_submodules(index, settings),
            changed=tuple(changed),
            is_moved=index.commit != scan.commit,
        )
        # A recently written file may change again without a new time stamp.
        self._last = (index, scan, look) if sure or not look.is_current else None
        return look

    def _unchanged(self, doubtful: "list[FileEntry]", blobs: dict[str, str], limits: "Limits") -> tuple[set[str], bool]:
        """Return paths with unchanged content, and True if their times prove this from now on."""
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
