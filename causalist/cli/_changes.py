"""What `impact` and `tests` share: what changed, and what that reaches, as lines."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypedDict

import click

from causalist.cli._lookup import aligned, id_of, site_of
from causalist.cli._output import say

if TYPE_CHECKING:
    from causalist.model.lookup import Affected, Impact
    from causalist.pipeline.repository import Repository

_MOST_CHANGED = 10


class Limits(TypedDict):
    """How far and along which edges."""

    max_depth: int | None
    min_confidence: float


class Reached(NamedTuple):
    """`what` says in words what changed."""

    what: str
    changed: Sequence[str]
    deleted: Sequence[str]
    affected: "Sequence[Affected]"

    def nothing(self, message: str) -> str:
        """What is said where nothing is reached; "" where something is."""
        if self.affected:
            return ""
        return message if self.changed else f"no definition {self.what.removeprefix('what ')}"


def check_subject(node: str | None, revision: str | None) -> None:
    """Raises click.UsageError unless one of the two is given."""
    if (node is None) == (revision is None):
        raise click.UsageError("Give a NODE or --diff REV, one of the two.")


def reached(
    repository: "Repository",
    node: str | None,
    revision: str | None,
    of_node: "Callable[[str], Sequence[Affected]]",
    since: "Callable[[str], Impact]",
) -> Reached:
    """What a node reaches by `of_node`, or what differs from a commit by `since`; says what that is."""
    if revision is None:
        found = id_of(repository, node or "")
        return Reached(found, (found,), (), of_node(found))
    impact = since(revision)
    _say_changes(revision, impact.changed, impact.deleted)
    return Reached(f"what changed since {revision}", impact.changed, impact.deleted, impact.affected)


def _say_changes(revision: str, changed: Sequence[str], deleted: Sequence[str]) -> None:
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
