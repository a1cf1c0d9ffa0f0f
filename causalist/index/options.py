"""Options and types shared by all steps of indexing. Small, because every query imports it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from causalist._internal.lazy import dataclass

if TYPE_CHECKING:
    from causalist.index.refresh_cache import RefreshCache
    from causalist.model.source import FileEntry, SourceFile
    from causalist.source import Limits

# Raised when parsing changes what it gives for the same bytes.
PARSER_VERSION = 25


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
    nested repositories; None: as the stored index does, at first not. `limits`: limits of the scan; None: those of the
    repository's settings. `refresh_cache`: where a process keeps data that makes the next refresh of the same folder
    cheaper, at the cost of memory. `anew`: verify checksums and files even if nothing seems to have changed.
    """

    processes: int | None = None
    progress: Progress = ignore_progress
    submodules: bool | None = None
    limits: "Limits | None" = None
    refresh_cache: "RefreshCache | None" = None
    anew: bool = False
