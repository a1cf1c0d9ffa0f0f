"""Data that a process keeps between refreshes of one index.

Without it, every edit reads all facts and builds all tables again. Nothing of it is stored, and none of it is used for
other files than those it was built from.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from causalist.model.facts import FileFacts

if TYPE_CHECKING:
    from causalist.graph import Linker
    from causalist.model.source import Scan
    from causalist.source import FolderFingerprint, Limits
    from causalist.store import FileStamp


@dataclass(frozen=True, slots=True)
class CachedLinker:
    """Facts by path of the contents `blobs`, without words and mostly without bodies, and their linker."""

    blobs: Mapping[str, str]
    facts: Mapping[str, FileFacts]
    linker: "Linker"


class CachedScan(NamedTuple):
    """A scan with its limits and the fingerprint that was taken before it."""

    fingerprint: "FolderFingerprint"
    limits: "Limits"
    scan: "Scan"


class RefreshCache:
    """Memory for cheaper refreshes of one folder: facts and tables, about an eighth more memory.

    Pass one object in the options of each `Repository.open`. After an edit that other files cannot see, a refresh then
    takes less than half of the time. For one thread at a time.
    """

    def __init__(self) -> None:
        self._now: CachedLinker | None = None
        self.cached_scan: CachedScan | None = None
        self.file_stamp: FileStamp | None = None  # the last index

    def take(self) -> CachedLinker | None:
        """Remove and return the linker, if there is one.

        It is removed because use changes it, and a failed refresh must not leave it behind.
        """
        taken, self._now = self._now, None
        return taken

    def keep(self, retained: CachedLinker) -> None:
        """Store a linker for the next refresh."""
        self._now = retained
