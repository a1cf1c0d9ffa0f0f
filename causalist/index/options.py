"""Options and types shared by all steps of indexing, and what a process keeps from one refresh to the next.

Small, because every query imports it.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from causalist._internal.lazy import dataclass

if TYPE_CHECKING:
    from causalist.graph import Linker
    from causalist.model.facts import FileFacts
    from causalist.model.source import FileEntry, Scan, SourceFile
    from causalist.source import FolderFingerprint, Limits
    from causalist.store import FileStamp, Key


# Raised when parsing changes what it gives for the same bytes.
PARSER_VERSION = 103


Read = Callable[["FileEntry"], "SourceFile | str"]


class Progress(Protocol):
    """A callback for progress."""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Report that `done` of `total` units of `what` are done; `total` 0: unknown."""
        ...


def ignore_progress(what: str, done: int, total: int) -> None:
    """Ignore progress."""
    return


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """Options of building and refreshing an index.

    `processes`: how many processes parse and link; None: one for each available processor. `submodules`: also index
    nested repositories; None: as the stored index does, at first only in a folder that is in no repository. `limits`:
    limits of the scan; None: those of the repository's settings. `refresh_cache`: where a process keeps data that makes
    the next refresh of the same folder cheaper, at the cost of memory. `anew`: verify checksums and files even if
    nothing seems to have changed.
    """

    processes: int | None = None
    progress: Progress = ignore_progress
    submodules: bool | None = None
    limits: "Limits | None" = None
    refresh_cache: "RefreshCache | None" = None
    anew: bool = False


@dataclass(frozen=True, slots=True)
class CachedLinker:
    """Facts by path of the contents `blobs`, without words and mostly without bodies, and their linker."""

    blobs: Mapping[str, str]
    facts: "Mapping[str, FileFacts]"
    linker: "Linker"


class CachedScan(NamedTuple):
    """A scan with its limits and the fingerprint that was taken before it."""

    fingerprint: "FolderFingerprint"
    limits: "Limits"
    scan: "Scan"


class RefreshCache:
    """Memory for cheaper refreshes of one folder: facts and tables, about an eighth more memory.

    From the first edit on that other files can see, also the encoded facts that are searched for names: about as many
    bytes as the source has, and none where these are too many.

    Pass one object in the options of each `Repository.open`. After an edit that other files cannot see, a refresh then
    takes less than half of the time. For one thread at a time.
    """

    def __init__(self) -> None:
        self._now: CachedLinker | None = None
        self.cached_scan: CachedScan | None = None
        self.file_stamp: FileStamp | None = None  # the last index
        # Interface and bodies of the last search for names: about as many bytes as the source has.
        self.encoded: dict[Key, tuple[bytes, bytes]] = {}

    def take(self) -> CachedLinker | None:
        """Remove and return the linker, if there is one.

        It is removed because use changes it, and a failed refresh must not leave it behind.
        """
        taken, self._now = self._now, None
        return taken

    def drop(self) -> None:
        """Release the linker, if there is one."""
        taken = self.take()
        if taken is not None:
            taken.linker.release_tables()

    def keep(self, retained: CachedLinker) -> None:
        """Store a linker for the next refresh."""
        self._now = retained
