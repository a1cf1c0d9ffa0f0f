"""Contents of a pack, chosen before it is written in any format, and a text of what is left out.

In: entries, edges, a way to price fragments, a budget. Out: a `Plan`: the items, the number of lines of each body, and
the edges. The prices of parts are added up, which is close to the price of the whole but not equal. `render` therefore
counts the finished text and plans again; no plan is guaranteed to fit.

Left-out items are named if there is room, else counted. Every format prints them.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import IntEnum
from typing import Protocol

from causalist._internal.lazy import dataclass
from causalist.model.answer import Omitted, OmittedPart, PackHeader
from causalist.model.graph import Edge
from causalist.pack.excerpts import Body, by_room, sensible_cut, shows_everything

# One-liners may take this share of the room before there is source; those that it does not hold come after the bodies,
# if anything is left. Chosen with the next two by tests/benchmarks/packs at 600 to 4,000 tokens: docs/packs.md.
ONE_LINER_SHARE = 0.5
# A body may take this share of what is left for bodies until every other body had its turn; then what remains goes to
# the cut ones, best first.
BODY_SHARE = 0.25
# That of a long body, which shows parts of itself: what one definition says less, others say more.
LONG_SHARE = 0.125
# Of a body this much has found room: then its share is doubled, if that holds the rest of it. A reader who is handed
# half of a definition opens the file all the same.
NEARLY_WHOLE_THRESHOLD = 0.5
# A cut body of fewer lines says less than the signature in its header already does.
MIN_BODY_LINES = 3
# To guess how many lines fit before the first count; source code has 3 to 4 characters a token.
CHARACTERS_PER_TOKEN = 3.5
# Text with more characters than this for each token of room is not even counted.
MAX_CHARACTERS_PER_TOKEN = 8

# Words for a confidence, from the least to which each applies. Of 3,522 held-out questions 91 % of the first, 63 % of
# the second and 47 % of the third had a right file among the first five; docs/ranking.md has the counts.
CERTAINTY = ((0.8, "likely"), (0.5, "uncertain"), (0.0, "a guess"))


@dataclass(frozen=True, slots=True)
class PackEntry:
    """One item, safe and cut to size.

    `order` counts all items best first; `rank` counts results only and is None for items that merely lie on a path
    (`via`) or stand for their file. `reasons` come strongest first; `way` is how the walk came here from a seed, ""
    where it began here, and `is_led` that this says as much as the reasons.
    """

    node: str  # the id as it is in the graph, for `Omitted`
    order: int
    rank: int | None
    via: bool
    id: str
    path: str
    symbol: str | None
    name: str  # short, unique in the pack
    kind: str
    start_line: int
    end_line: int
    signature: str
    reasons: tuple[str, ...]
    way: str
    is_led: bool
    body: Body

    @property
    def lines(self) -> str:
        return f"{self.start_line}-{self.end_line}" if self.end_line > self.start_line else f"{self.start_line}"


class DetailLevel(IntEnum):
    """Level of detail of an item's reasons: none, the strongest one, or all."""

    NOTHING = 0
    BRIEFLY = 1
    FULLY = 2


@dataclass(frozen=True, slots=True)
class PlannedItem:
    """An entry with the number of its body's lines that are printed, 0 for a one-liner, and how much of its reasons."""

    entry: PackEntry
    n_lines: int
    detail: DetailLevel

    @property
    def reasons(self) -> tuple[str, ...]:
        texts = tuple(text for text in self.entry.reasons if text)
        return texts if self.detail is DetailLevel.FULLY else texts[:1] if self.detail else ()

    @property
    def way(self) -> str:
        is_said = self.detail is DetailLevel.FULLY or (self.detail and (self.entry.is_led or not self.reasons))
        return self.entry.way if is_said else ""

    @property
    def why(self) -> str:
        return "; ".join(text for text in (*self.reasons, self.way) if text)


@dataclass(frozen=True, slots=True)
class Link:
    """An edge, safe; `source` and `target` are ids, the names are short."""

    edge: Edge
    source: str
    target: str
    source_name: str
    target_name: str
    path: str
    removed: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that a renderer prints.

    `question` and `repository` are safe and on one line. `list_omitted` says that there is room to name what was
    left out; its count is always printed. `every_link` is what `links` were chosen from, for a drawing in which an
    edge is a line without words.
    """

    header: PackHeader
    question: str
    repository: str
    commit: str | None
    legend: bool
    items: tuple[PlannedItem, ...]
    links: tuple[Link, ...]
    omitted: tuple[Omitted, ...]
    entries: tuple[PackEntry, ...]
    list_omitted: bool
    fence: str
    tokenizer: str
    every_link: tuple[Link, ...]

    @property
    def facts(self) -> str:
        """Return repository, commit, number of nodes and confidence of the answer, on one line."""
        commit = f" @ {self.commit}" if self.commit else ""
        stale = " (older than the files)" if self.header.stale else ""
        certainty = f"{self.certainty} · " if self.certainty else ""
        return f"{self.repository}{commit}{stale} · {certainty}{len(self.items)} of {self.header.n_nodes} nodes"

    @property
    def certainty(self) -> str:
        """The confidence in a word, with its number; "" where there is none."""
        value = self.header.confidence
        if value is None:
            return ""
        word = next(word for least, word in CERTAINTY if value >= least)
        return f"{word} ({value:.2f})"

    @property
    def order(self) -> str:
        return "In causal order" if self.header.causal else "Dependencies first"

    def size(self, tokens: int) -> str:
        """The count with its unit; the counter is named unless it is the default."""
        return f"{tokens} tokens" if self.tokenizer == "estimate" else f"{tokens} tokens ({self.tokenizer})"

    def counts(self) -> tuple[int, int, int]:
        """Return how many bodies, items and edges were left out."""
        kinds = [omission.what for omission in self.omitted]
        return kinds.count(OmittedPart.BODY), kinds.count(OmittedPart.ITEM), kinds.count(OmittedPart.EDGE)


class Renderer(Protocol):
    """A format. `document` must equal its frame plus the fragments, or nearly so: fragments are only priced.
    `shows_source` is false for drawings. `measured` is the part of a finished text or of a fragment that the budget
    covers: all of it, unless the format says otherwise.
    """

    shows_source: bool

    def measured(self, text: str) -> str: ...

    def document(self, plan: Plan, tokens: int) -> str: ...

    def item(self, shown: PlannedItem, fence: str) -> str: ...

    def link(self, link: Link) -> str: ...

    def omission_list(self, plan: Plan) -> str: ...


class Planner:
    """Plans for one input at several budgets; prices are counted once."""

    def __init__(
        self,
        bare: Plan,
        renderer: Renderer,
        counter: Callable[[str], int],
    ) -> None:
        self._bare = bare
        self._entries = bare.entries
        self._links = bare.every_link
        self._renderer = renderer
        self._counter = counter
        self._prices: dict[tuple[int, int], int] = {}
        self._link_prices: dict[int, int] = {}
        # Best first; the entries themselves stand in causal order.
        self._ranked = sorted(range(len(self._entries)), key=lambda number: self._entries[number].order)

    def plan(self, budget: float) -> Plan:
        """A plan whose parts cost at most `budget`, in the order of precedence: the frame with the header, files,
        one-liners best first as far as their share goes, bodies, each with the reason that says most, the other
        one-liners, such a reason for one-liners, edges where every item is there, all reasons of items with bodies, and
        the list of what was left out.
        """
        nothing = self._completed({}, set(), {})
        left = budget - self._counter(self._renderer.document(nothing, int(budget)))
        lines: dict[int, int] = {}
        # Where files were asked for, their places are the answer, and definitions inside show them.
        files = [number for number in self._ranked if self._entries[number].kind == "file"]
        left = self._list(files, lines, left, left)
        left = self._list(self._ranked, lines, left, left * ONE_LINER_SHARE)
        left = self._grow_bodies(lines, left)
        n_listed = len(lines)
        left = self._list(self._ranked, lines, left, left)
        if len(lines) > n_listed:
            left = self._grow_bodies(lines, left)
        detail: dict[int, DetailLevel] = {}
        left = self._tell(detail, [number for number in lines if not lines[number]], lines, DetailLevel.BRIEFLY, left)
        # Edges between items, some of which are missing, would come before what they are about.
        links = self._affordable_links(left) if len(lines) == len(self._entries) else set()
        left -= sum(self._link_prices[number] for number in links)
        sourced = [number for number in lines if lines[number] or not len(self._entries[number].body)]
        left = self._tell(detail, sourced, lines, DetailLevel.FULLY, left)
        plan = self._completed(lines, links, detail)
        if plan.omitted and self._counter(self._renderer.omission_list(plan)) <= left:
            plan = replace(plan, list_omitted=True)
        return plan

    def _list(self, numbers: Sequence[int], lines: dict[int, int], left: float, room: float) -> float:
        """Adds one-liners in the order of `numbers`, within `room` but for the very first, which is within `left`."""
        for number in numbers:
            if number in lines:
                continue
            price = self._price(number, 0)
            if price > (room if lines else left):
                break
            lines[number] = 0
            left -= price
            room -= price
        return left

    def _tell(
        self,
        detail: dict[int, DetailLevel],
        numbers: Sequence[int],
        lines: dict[int, int],
        level: DetailLevel,
        left: float,
    ) -> float:
        """Raises what is detail of some items to a level, best first, as far as it fits."""
        for number in sorted(numbers, key=lambda number: self._entries[number].order):
            now, more = self._shown(number, lines[number]), self._shown(number, lines[number], level)
            if now.why == more.why:
                continue
            price = self._counter(self._renderer.item(more, self._bare.fence)) - self._price(number, lines[number])
            if price > left:
                break
            left -= price
            detail[number] = level
        return left

    def _shown(self, number: int, n_lines: int, detail: DetailLevel = DetailLevel.NOTHING) -> PlannedItem:
        """An item, of which no less is detail than what always is: the reason that says most, beside a body and where
        there is none to show.
        """
        entry = self._entries[number]
        least = DetailLevel.NOTHING if not n_lines and (len(entry.body) or entry.via) else DetailLevel.BRIEFLY
        return PlannedItem(entry, n_lines, max(detail, least))

    def _grow_bodies(self, lines: dict[int, int], left: float) -> float:
        """Bodies best first, whole files after all others.

        First every body within its share, then the cut ones again with all that remains.
        """
        bodies = [number for number in self._ranked if number in lines and len(self._entries[number].body)]
        bodies.sort(key=lambda number: self._entries[number].kind == "file")
        for share, long_share in ((BODY_SHARE, LONG_SHARE), (1.0, 1.0)):
            for number in bodies:
                body = self._entries[number].body
                if lines[number] >= len(body):
                    continue
                paid = self._price(number, lines[number])
                room = left * (long_share if body.order else share)
                wanted = self._lines_within(number, paid + room)
                if NEARLY_WHOLE_THRESHOLD * len(body) <= wanted < len(body):
                    wanted = max(wanted, self._lines_within(number, paid + min(left, 2 * room)))
                if wanted > lines[number]:
                    left -= self._price(number, wanted) - paid
                    lines[number] = wanted
        return left

    def _lines_within(self, number: int, allowance: float) -> int:
        """The most lines of a body whose item costs at most `allowance`, cut where it makes sense; 0 for none."""
        body = self._entries[number].body
        room = allowance - self._price(number, 0)
        if room < 8:
            return 0
        characters = 0
        fitting = guess = 0
        for line in by_room(body):
            characters += len(line) + 1
            fitting += characters <= room * MAX_CHARACTERS_PER_TOKEN
            guess += characters <= room * CHARACTERS_PER_TOKEN
            if characters > room * MAX_CHARACTERS_PER_TOKEN:
                break
        if fitting == len(body) and characters <= room * 2 * CHARACTERS_PER_TOKEN:
            if self._price(number, fitting) <= allowance:
                return fitting
            guess = min(guess or fitting, fitting - 1)
        best = 0
        for _ in range(3):
            guess = min(guess, fitting)
            if guess <= best or guess < min(MIN_BODY_LINES, len(body)):
                break
            count = sensible_cut(body, guess)
            price = self._price(number, count)
            if price <= allowance:
                best = max(best, count)
                if price > 0.85 * allowance:
                    break
            guess = int(count * room * 0.97 / max(1, price - self._price(number, 0)))
        return best if best >= min(MIN_BODY_LINES, len(body)) else 0

    def _affordable_links(self, left: float) -> set[int]:
        """Numbers of the edges that fit, the most certain first, kept edges before removed ones."""
        chosen: set[int] = set()
        order = sorted(
            range(len(self._links)),
            key=lambda i: (self._links[i].removed, -self._links[i].edge.confidence, -self._links[i].edge.n, i),
        )
        for number in order:
            if number not in self._link_prices:
                self._link_prices[number] = self._counter(self._renderer.link(self._links[number]))
            left -= self._link_prices[number]
            if left < 0:
                break
            chosen.add(number)
        return chosen

    def _price(self, number: int, n_lines: int) -> int:
        key = (number, n_lines)
        if key not in self._prices:
            fragment = self._renderer.item(self._shown(number, n_lines), self._bare.fence)
            self._prices[key] = self._counter(fragment)
        return self._prices[key]

    def _completed(self, lines: dict[int, int], links: set[int], detail: dict[int, DetailLevel]) -> Plan:
        """The plan that shows these lines and edges, with everything else accounted for."""
        omitted: list[Omitted] = []
        for number, entry in enumerate(self._entries):
            if number not in lines:
                omitted.append(Omitted(entry.node, OmittedPart.ITEM))
            elif len(entry.body) and not shows_everything(entry.body, lines[number]):
                omitted.append(Omitted(entry.node, OmittedPart.BODY))
        for number, link in enumerate(self._links):
            if number not in links:
                omitted.append(Omitted(f"{link.edge.source} {link.edge.kind} {link.edge.target}", OmittedPart.EDGE))
        return replace(
            self._bare,
            items=tuple(
                self._shown(number, lines[number], detail.get(number, DetailLevel.NOTHING)) for number in sorted(lines)
            ),
            links=tuple(self._links[number] for number in sorted(links)),
            omitted=tuple(omitted),
        )


# How many names a group gives before it only counts.
MAX_LISTED_NAMES = 12


def describe_omissions(plan: Plan, quoted: Callable[[str], str] = str) -> str:
    """Return the text of what is left out, as far as the plan has room; "" if nothing is missing."""
    return list_omissions(plan, quoted) if plan.list_omitted else describe_counts(plan)


def list_omissions(plan: Plan, quoted: Callable[[str], str] = str) -> str:
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


def describe_counts(plan: Plan) -> str:
    """Return the numbers of left-out items, bodies and edges as text."""
    nouns = (("body", "bodies"), ("item", "items"), ("edge", "edges"))
    phrases = [_counted(count, one, many) for count, (one, many) in zip(plan.counts(), nouns, strict=True)]
    return ", ".join(phrase for phrase in phrases if phrase)


def _phrase(label: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - MAX_LISTED_NAMES} more" if len(names) > MAX_LISTED_NAMES else ""
    return f"{label} {', '.join(names[:MAX_LISTED_NAMES])}{more}"


def _mark(entry: PackEntry, quoted: Callable[[str], str]) -> str:
    return quoted(entry.name) if entry.rank is None else f"#{entry.rank}"


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}" if count else ""
