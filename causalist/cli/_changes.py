"""What `impact` and `tests` share: what changed, and what that reaches, as lines."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from causalist.cli._lookup import aligned, site_of
from causalist.cli._output import say

if TYPE_CHECKING:
    from causalist.model.navigate import Affected

_MOST_CHANGED = 10


def say_changes(revision: str, changed: Sequence[str], deleted: Sequence[str]) -> None:
    if changed:
        more = f" and {len(changed) - _MOST_CHANGED} more" if len(changed) > _MOST_CHANGED else ""
        say(f"changed since {revision}: {', '.join(changed[:_MOST_CHANGED])}{more}")
    if deleted:
        more = f" and {len(deleted) - _MOST_CHANGED} more" if len(deleted) > _MOST_CHANGED else ""
        say(f"note: what used deleted files is not known: {', '.join(deleted[:_MOST_CHANGED])}{more}")


def affected_rows(affected: "Sequence[Affected]", *, with_depth: bool = False) -> list[str]:
    """Each with the use that brings it in."""
    rows = []
    for each in affected:
        edge = each.edge
        depth = f" (depth {each.depth})" if with_depth else ""
        if each.overridden_by:
            depth = f", which {each.overridden_by} overrides{depth}"
        rows.append(
            (
                f"  {each.node}",
                f"{edge.kind} {edge.target}",
                f"{edge.rule} {edge.confidence:.2f}",
                site_of(edge) + depth,
            )
        )
    return aligned(rows)
