"""The repositories that a server answers from: those it was started with, or those that its client has open."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from causalist.errors import CausalistError, UsageError
from causalist.servers.live.repository import LiveRepository

_MOST_REPOSITORIES = 32


class Repositories:
    """Repositories by a name that is short and unlike the others: the folder's, with `~2` behind the second."""

    def __init__(self, roots: Sequence[Path], refresh_seconds: float) -> None:
        self._refresh_seconds = refresh_seconds
        self._live: dict[Path, LiveRepository] = {}
        self.by_name: Mapping[str, LiveRepository] = {}
        self.serve_only(roots)

    def serve_only(self, roots: Iterable[Path]) -> bool:
        """Serves just these folders from now on; whether that is a change. What is known of one that stays is kept."""
        wanted = list(dict.fromkeys(roots))[:_MOST_REPOSITORIES]
        if wanted == list(self._live):
            return False
        for root in [root for root in self._live if root not in wanted]:
            self._live.pop(root).stop()
        self._live = {root: self._live.get(root) or LiveRepository(root, self._refresh_seconds) for root in wanted}
        named: dict[str, LiveRepository] = {}
        for root, live in self._live.items():
            name, number = root.name or str(root), 1
            while name in named:
                number += 1
                name = f"{root.name}~{number}"
            named[name] = live
        self.by_name = named
        return True

    def get(self, name: str | None) -> tuple[str, LiveRepository]:
        """(name, repository); without a name the first. Raises UsageError with the names that there are."""
        if not self.by_name:
            raise UsageError(
                "no repository is open: start the server in one, give --repo, or open a folder in the client"
            )
        if name is None:
            name = next(iter(self.by_name))
        if name not in self.by_name:
            raise UsageError(f"there is no repository {name[:80]!r}; there are {', '.join(self.by_name)}")
        return name, self.by_name[name]

    async def prepare(self) -> None:
        """Begins to index the first, before anyone asks; the others have their turn when they are asked for."""
        for live in list(self.by_name.values())[:1]:
            await live.prepare()

    def stop(self) -> None:
        for live in self._live.values():
            live.stop()


def folders_of(uris: Iterable[str]) -> list[Path]:
    """The repositories around the folders that a client's roots name; those that cannot be served are left out.

    >>> folders_of(["https://example.org/", "file:///nowhere/at/all", "nonsense"])
    []
    """
    from causalist.source import find_root, refuse_root

    found = []
    for uri in uris:
        parts = urlsplit(uri)
        if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
            continue
        with suppress(CausalistError, OSError, ValueError):
            root = find_root(Path(url2pathname(parts.path)))
            refuse_root(root)
            found.append(root)
    return found
