"""How an index stands, in lines: the same words at every door that shows them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from causalist.model.answer import Standing, Status

MOST_NOTES = 20


def status_lines(status: "Status", standing: "Standing", *, is_refreshed: bool, more_notes: str) -> list[str]:
    """What is indexed and how it stands. `is_refreshed`: what was out of date was brought up to date after it was
    looked at. `more_notes` says where notes are listed that do not fit here."""
    info = status.repository
    lines = [
        f"root      {info.root}",
        f"commit    {info.commit or 'none'}{_dirty(standing)}",
        *_index_lines(standing, is_refreshed),
        f"files     {info.files}: {counted(status.languages)}",
        f"graph     {info.nodes} nodes, {info.edges} edges",
        f"weights   {'as shipped' if status.learned is None else status.learned}",
        f"left out  {sum(status.skipped.values())}",
    ]
    for reason, n in status.skipped.items():
        examples = status.examples.get(reason, ())
        more = ", …" if n > len(examples) > 0 else ""
        lines.append(f"  {n} {reason}: {', '.join(examples)}{more}")
    lines.append(f"notes     {len(status.notes)}")
    for note in status.notes[:MOST_NOTES]:
        place = f"{note.path}:{note.row + 1}" if note.row >= 0 else note.path
        lines.append(f"  {place}: {note.slug}: {note.detail}")
    if len(status.notes) > MOST_NOTES:
        lines.append(f"  and {len(status.notes) - MOST_NOTES} more{more_notes}")
    return lines


def _dirty(standing: "Standing") -> str:
    if standing.n_dirty is None:
        return ""
    if standing.n_dirty == 0:
        return ", no file differs from it"
    return f", {standing.n_dirty} file{' differs' if standing.n_dirty == 1 else 's differ'} from it"


def _index_lines(standing: "Standing", is_refreshed: bool) -> list[str]:
    """Where the index and the cache lie, and how they are."""
    where = "in memory" if standing.path is None else f"{standing.path}, {_size(standing.n_bytes)}"
    reasons = standing.found.reasons if standing.found else ()
    state = "up to date"
    if reasons:
        state = "the stored index is not current:"
        if is_refreshed:
            state = "up to date, refreshed just now, because it was not:"
    lines = [f"index     {where}", f"state     {state}", *(f"  {each.reason}: {each.detail}" for each in reasons)]
    cache = standing.cache
    if cache is not None:
        used = f"{_size(cache.n_bytes)} of at most {_size(cache.most_bytes)}, {cache.n_entries} entries"
        lines.append(f"cache     {cache.path}, {used}")
    return lines


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.1f} MB"


def counted(counts: Mapping[str, int]) -> str:
    """Counts in words.

    >>> counted({"python": 3, "text": 1})
    '3 python, 1 text'
    """
    return ", ".join(f"{n} {name}" for name, n in counts.items())
