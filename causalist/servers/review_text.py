"""A review of a change as text for agents, within a budget of tokens.

In: a review. Out: sections in the order of what a reviewer acts on, ids that the next call accepts, counts of what is
left out. No source code is shown: whoever asks for a review has the change.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from causalist._internal.escape import middle_cut, one_line
from causalist._internal.text import count_noun
from causalist.model.lookup import Affected
from causalist.pack import count_tokens
from causalist.servers.text_answers import Reply, format_node, truncate_to_budget

if TYPE_CHECKING:
    from causalist.pipeline.repository import Repository
    from causalist.review.report import Review

_MAX_ROWS = 40  # of one section
_MAX_MISSING = 5
_PLACE_CHARACTERS = 300
_WHY_CHARACTERS = 200
_KINDS = ("signature", "removed", "moved", "body", "added")


def review_text(repository: "Repository", revision: str | None, max_tokens: int) -> Reply:
    """Return the review of the files as they are against HEAD, or of a commit or range. Raises GitError."""
    if revision is None:
        review, _ = repository.review()
    else:
        review, _ = repository.review_revision(repository.root, revision)
    if not review.files:
        return Reply("nothing changed\n")
    notes = "".join(f"note: {one_line(note, 300)}\n" for note in review.notes)
    n_files, n_definitions = len(review.files), len(review.definitions)
    text = f"{notes}{count_noun(n_files, 'file')} changed, {count_noun(n_definitions, 'definition')}\n"
    for title, rows in _list_sections(review):
        text += _fit_section(title, rows, max_tokens - count_tokens(text))
    reached = [each.node for each in (*review.tests, *review.affected)]
    nodes = dict.fromkeys([*(each.node for each in review.definitions), *reached])
    return Reply(truncate_to_budget(text, max_tokens), list(nodes))


def _list_sections(review: "Review") -> list[tuple[str, list[str]]]:
    def place(path: str, line: int) -> str:
        return f"{middle_cut(path, _PLACE_CHARACTERS)}:{line}"

    def users(found: Sequence[Affected]) -> list[str]:
        return [f"{each.probability:.2f} {format_node(each.node)}" for each in found]

    why = _WHY_CHARACTERS
    broken = [f"{place(e.path, e.line)} calls {format_node(e.target)}: {one_line(e.why, why)}" for e in review.broken]
    rules = [f"{place(e.path, e.line)} uses {format_node(e.target)}: {one_line(e.rule, why)}" for e in review.layers]
    missing = [
        f"{format_node(e.file)}  {e.probability:.2f}, {e.n_both} of {e.n_commits} commits of {format_node(e.changed)}"
        for e in review.missing[:_MAX_MISSING]
    ]
    return [
        ("calls that no longer fit", broken),
        ("layer rules broken", rules),
        ("lines that look like secrets", [place(each.path, each.line) for each in review.secrets]),
        ("usually changes too, and did not", missing),
        *((_title(kind), [format_node(e.node) for e in review.definitions if e.kind == kind]) for kind in _KINDS),
        ("tests to run, the most probable first", users(review.tests)),
        ("users that may run what changed", users(review.affected)),
    ]


def _title(kind: str) -> str:
    return {"signature": "changed in signature", "body": "changed in body", "moved": "moved or renamed"}.get(kind, kind)


def _fit_section(title: str, rows: Sequence[str], room: int) -> str:
    """Return the rows that fit, and the number of the others; no section takes more than half of the room."""
    if not rows:
        return ""
    head = f"{title} ({len(rows)}):\n"
    left, kept = room // 2 - count_tokens(head) - 8, list[str]()
    for row in rows[:_MAX_ROWS]:
        left -= count_tokens(row) + 3
        if left < 0:
            break
        kept.append(f"  {row}\n")
    rest = len(rows) - len(kept)
    return head + "".join(kept) + (f"  and {rest} more\n" if rest else "")
