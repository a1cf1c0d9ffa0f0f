"""What a process that refreshes the same index often keeps from one time to the next.

Without it everything is read and put into tables again for every edit. Nothing of it is written anywhere, and none of
it is used for other files than those that it was made of.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from causalist.model.facts import FileFacts

if TYPE_CHECKING:
    from causalist.graph import Linker
    from causalist.model.source import Scan
    from causalist.source import Glance, Limits
    from causalist.store import Written


@dataclass(frozen=True, slots=True)
class Retained:
    """Facts by path, without words and mostly without bodies, of the contents `blobs`, and a linker of them."""

    blobs: Mapping[str, str]
    facts: Mapping[str, FileFacts]
    linker: "Linker"


class Looked(NamedTuple):
    """What a scan found, with which limits, and the glance that it came after."""

    glance: "Glance"
    limits: "Limits"
    scan: "Scan"


class Retaining:
    """Room for what makes refreshes of one folder cheaper: facts and tables, about an eighth more memory than without.

    One object is given to `Repository.open` by its options each time; after an edit that other files cannot see it then
    takes less than half of the time. For one thread at a time.
    """

    def __init__(self) -> None:
        self._now: Retained | None = None
        self.looked: Looked | None = None
        self.written: Written | None = None  # the last index

    def take(self) -> Retained | None:
        """What is kept, which is no longer kept: it changes with use, and what fails on the way must not stay."""
        taken, self._now = self._now, None
        return taken

    def keep(self, retained: Retained) -> None:
        self._now = retained
