"""Options of an index, and types that all steps of indexing share. Small, because every answer imports it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from causalist._internal.lazy import dataclass

if TYPE_CHECKING:
    from causalist.index.refresh_cache import Retaining
    from causalist.model.source import FileEntry, SourceFile
    from causalist.source import Limits

# Raised when parsing changes what it gives for the same bytes.
PARSER_VERSION = 23


Read = Callable[["FileEntry"], "SourceFile | str"]


class Progress(Protocol):
    """Told what is being done and how far it is; `total` is 0 where it is not known."""

    def __call__(self, what: str, done: int, total: int) -> None: ...


def silent(what: str, done: int, total: int) -> None:
    return None


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """`processes`: how many parse and link at once; None: as many as there are processors that this process may use.

    `submodules`: whether repositories inside of this one are indexed too; None: as the index has it, at first not.
    `limits`: what is taken of a folder; None: what its own settings say. `retaining`: where a process keeps what makes
    the next refresh of the same folder cheaper, if it wants to spend the memory. `anew`: a stored index is added up and
    compared with its files whatever was found before.
    """

    processes: int | None = None
    progress: Progress = silent
    submodules: bool | None = None
    limits: "Limits | None" = None
    retaining: "Retaining | None" = None
    anew: bool = False
