"""A plan -> what it leaves out, in words: named where there is room, else counted. No format leaves it out."""

from collections.abc import Callable, Sequence

from causalist.model.pack import Omitted
from causalist.pack.plan import Entry, Plan

# How many names a group gives before it only counts.
MOST_NAMES = 12


def left_out(plan: Plan, quoted: Callable[[str], str] = str) -> str:
    """What the plan has room to say; "" where nothing is missing."""
    return named(plan, quoted) if plan.list_omitted else counted(plan)


def named(plan: Plan, quoted: Callable[[str], str] = str) -> str:
    """Names of what is missing; `quoted` makes a name safe for the format."""
    entries = {entry.node: entry for entry in plan.entries}
    cut = {shown.entry.node for shown in plan.items if shown.n_lines}

    def names(what: str) -> list[Omitted]:
        return sorted((o for o in plan.omitted if o.what == what), key=lambda o: entries[o.node].order)

    bodies = names("body")
    phrases = [
        _phrase("cut short", [_mark(entries[o.node], quoted) for o in bodies if o.node in cut]),
        _phrase("source", [_mark(entries[o.node], quoted) for o in bodies if o.node not in cut]),
        _phrase("items", [quoted(entries[o.node].name) for o in names("item")]),
        _counted(plan.counts()[2], "edge", "edges"),
    ]
    return "; ".join(phrase for phrase in phrases if phrase)


def counted(plan: Plan) -> str:
    """How much is missing."""
    nouns = (("body", "bodies"), ("item", "items"), ("edge", "edges"))
    phrases = [_counted(count, one, many) for count, (one, many) in zip(plan.counts(), nouns, strict=True)]
    return ", ".join(phrase for phrase in phrases if phrase)


def _phrase(label: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"{label} {', '.join(names[:MOST_NAMES])}{more}"


def _mark(entry: Entry, quoted: Callable[[str], str]) -> str:
    return quoted(entry.name) if entry.rank is None else f"#{entry.rank}"


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}" if count else ""
