"""Contents of a pack, chosen before it is written in any format, and a text of what is left out.

In: entries, edges, a way to price fragments, a budget. Out: a `Plan`: the items, the number of lines of each body, and
the edges. The prices of parts are added up, which is close to the price of the whole but not equal. `render` therefore
counts the finished text and plans again; no plan is guaranteed to fit.

Left-out items are named if there is room, else counted. Every format prints them.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from typing import Protocol

from causalist._internal.lazy import dataclass, lazy_regex
from causalist.model.answer import Omitted, OmittedPart, PackHeader
from causalist.model.graph import Edge
from causalist.model.node_ids import NodeKind
from causalist.pack.excerpts import Body, by_room, sensible_cut, shows_everything

# Shares and thresholds were chosen by tests/benchmarks/answers on open questions; docs/packs.md has the figures.
# The most of the budget that one body takes before every other body had its turn.
BODY_SHARE = 0.4
MIN_BODY_SHARE = 0.25
SHARE_BY_NEED = 1.0
# Of equally needed bodies the shorter come first: need is divided by the length to this power.
LENGTH_EXPONENT = 0.3
MAX_GAIN_CHARACTERS = 4000
# A body is worth its tokens if the probability that it is needed is above this, for each 1,000 tokens.
MIN_GAIN = 0.015
# A body that is less probable than this is not printed, however short it is.
MIN_NEEDED = 0.01
# Both hold up to this budget and fall with the square of a larger one: who gives more room takes what is less likely.
USUAL_BUDGET = 4000
# Without a request to fill the budget, a cut body grows with what remains only above this.
MIN_NEEDED_TO_GROW = 0.15
# Of a body this much has found room: then its share is doubled, if that holds the rest of it. A reader who is handed
# half of a definition opens the file all the same.
NEARLY_WHOLE_THRESHOLD = 0.5
# A cut body of fewer lines says less than the signature in its header already does.
MIN_BODY_LINES = 3
MIN_LONG_BODY_LINES = 12  # of a very long one, although fewer tell something
# Items without source, and edges, that are printed after the bodies; each kind takes at most a share of the budget.
MAX_ONE_LINERS = 8
ONE_LINER_SHARE = 0.08
# A body of so few lines and tokens stands in the place of its one-liner, which would cost nearly as much.
MAX_TINY_LINES = 6
MAX_TINY_TOKENS = 40
MAX_LINKS = 12
LINK_SHARE = 0.08
REST_SHARE = 0.03  # of the budget that bodies leave to one-liners and edges
# Headers and reasons take at most this share of what is printed; reasons are left out first.
OVERHEAD_SHARE = 0.08
MIN_REST_TOKENS = 200  # of one-liners, edges and reasons in a pack without source, as far as the budget holds them
MAX_SMALL_REASON_TOKENS = 200  # of reasons in a small pack, where a share would leave none
# To guess how many lines fit before the first count; source code has 3 to 4 characters a token.
CHARACTERS_PER_TOKEN = 3.5
MAX_GUESSES = 3  # of the number of lines that fit, if one of them does
# Text with more characters than this for each token of room is not even counted.
MAX_CHARACTERS_PER_TOKEN = 8

# A query of one name: `token`, `Cache.get`, `cache::get()`.
_FILE = NodeKind.FILE.label
_NAME = lazy_regex(r"`?([\w$]+(?:(?:\.|::|#)[\w$]+)*)(?:\(\))?`?")

# Words for a confidence, from the least to which each applies. Of 3,522 held-out questions 91 % of the first, 63 % of
# the second and 47 % of the third had a right file among the first five; docs/ranking.md has the counts.
CERTAINTY = ((0.8, "likely"), (0.5, "uncertain"), (0.0, "a guess"))


@dataclass(frozen=True, slots=True)
class PackEntry:
    """One item, safe and cut to size.

    `order` counts all items, the most `needed` first; `rank` is the position among the results, None for neighbors of
    results and for items that stand for their file. `needed` is the probability that a reader needs it. `reasons` come
    strongest first; `way` is how the walk came here from a seed, ""
    where it began here, and `is_led` that this says as much as the reasons.
    """

    node: str  # the id as it is in the graph, for `Omitted`
    order: int
    rank: int | None
    via: bool
    needed: float
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
        """First and last line of the item as text."""
        return f"{self.start_line}-{self.end_line}" if self.end_line > self.start_line else f"{self.start_line}"


CONTAINS = "contains"  # kind of edges that names say already
HARDLY_ENOUGH = 0.35  # a sufficiency below which a pack says what would help


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
        """The reasons that are printed."""
        texts = tuple(text for text in self.entry.reasons if text)
        return texts if self.detail is DetailLevel.FULLY else texts[:1] if self.detail else ()

    @property
    def way(self) -> str:
        """The path from the seed as far as it is printed."""
        is_said = self.detail is DetailLevel.FULLY or (self.detail and (self.entry.is_led or not self.reasons))
        return self.entry.way if is_said else ""

    @property
    def why(self) -> str:
        """Everything that is printed of the reasons, on one line."""
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

    `question` and `repository` are safe and on one line. `strictness` is the factor of the least gain for which a body
    is shown; with `fills`, the budget is filled. `every_link` is what
    `links` were chosen from, for a drawing in which an edge is a line without words.
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
    strictness: float
    fills: bool
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
        enough = self.header.sufficiency
        return f"{word} ({value:.2f})" if enough is None else f"{word} ({value:.2f}) · enough {enough:.2f}"

    @property
    def order(self) -> str:
        """The order of connected items as a sentence."""
        return "Callers stand before what they call" if self.header.causal else "Dependencies stand first"

    @property
    def hint(self) -> str:
        """The advice for a pack that is hardly enough, "" for others."""
        enough = self.header.sufficiency
        if enough is None or enough >= HARDLY_ENOUGH:
            return ""
        return "Hardly enough: identifiers or words expected in the code would help (--names)."

    def size(self, tokens: int) -> str:
        """Return the count with its unit; the counter is named unless it is the default."""
        return f"{tokens} tokens" if self.tokenizer == "estimate" else f"{tokens} tokens ({self.tokenizer})"

    def counts(self) -> tuple[int, int, int]:
        """Return how many bodies, items and edges were left out."""
        kinds = [omission.what for omission in self.omitted]
        return kinds.count(OmittedPart.BODY), kinds.count(OmittedPart.ITEM), kinds.count(OmittedPart.EDGE)


class Renderer(Protocol):
    """A format.

    A document must equal its frame plus the fragments, or nearly so, because fragments are only priced. `shows_source`
    is False for drawings.
    """

    shows_source: bool

    def select_measured(self, text: str) -> str:
        """Return the part of a finished text or of a fragment that the budget covers."""
        ...

    def document(self, plan: Plan, tokens: int) -> str:
        """Return the finished text, with `tokens` as its count."""
        ...

    def item(self, shown: PlannedItem, fence: str) -> str:
        """Return the fragment of an item."""
        ...

    def link(self, link: Link) -> str:
        """Return the fragment of an edge."""
        ...


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
        """Return a plan whose parts cost at most `budget`.

        In the order of precedence: the header, files that were asked for, bodies, the most needed first, as long as
        they are worth their tokens, one-liners for what else may be needed, edges, and reasons.
        """
        nothing = self._complete_plan({}, set(), {})
        tokens_left = budget - self._counter(self._renderer.document(nothing, int(budget)))
        lines: dict[int, int] = {}
        # Where files were asked for, their places are the answer, and definitions inside show them.
        files = [number for number in self._ranked if self._entries[number].kind == _FILE]
        if any(not len(self._entries[number].body) for number in files):
            tokens_left = self._list(files, lines, tokens_left, len(files))
        # One-liners and edges say how the bodies belong together: they keep a part of the budget.
        kept = min(REST_SHARE * budget, tokens_left) if self._renderer.shows_source else 0.0
        tokens_left = self._grow_bodies(lines, tokens_left - kept, budget) + kept
        if not self._bare.fills:
            # A small pack without source would hold nothing at all.
            least = 0 if lines else MIN_REST_TOKENS
            tokens_left = min(tokens_left, max(least, (ONE_LINER_SHARE + LINK_SHARE + OVERHEAD_SHARE) * budget))
        if not lines:
            tokens_left = self._list(self._ranked, lines, tokens_left, len(self._ranked))
        room = min(tokens_left, ONE_LINER_SHARE * budget)
        tokens_left -= room - self._list(self._ranked, lines, room, MAX_ONE_LINERS)
        links = self._affordable_links(min(tokens_left, LINK_SHARE * budget), lines)
        tokens_left -= sum(self._link_prices[number] for number in links)
        detail: dict[int, DetailLevel] = {}
        sourced = [number for number in lines if lines[number] or not len(self._entries[number].body)]
        heads = sum(self._price(number, 0) for number in lines)
        spent = sum(self._price(number, n_lines) for number, n_lines in lines.items())
        room = min(tokens_left, max(OVERHEAD_SHARE * spent - heads, MAX_SMALL_REASON_TOKENS - OVERHEAD_SHARE * spent))
        room = self._tell(detail, sourced, lines, DetailLevel.BRIEFLY, room)
        self._tell(detail, sourced, lines, DetailLevel.FULLY, room)
        return self._complete_plan(lines, links, detail)

    def _list(self, numbers: Sequence[int], lines: dict[int, int], tokens_left: float, most: int) -> float:
        """Add at most `most` one-liners in the order of `numbers`, and return what is left."""
        for number in numbers:
            entry = self._entries[number]
            # That its definitions are shown says more than that there is the file.
            if number in lines or (entry.kind == _FILE and len(entry.body)):
                continue
            price = self._price(number, 0)
            if price > tokens_left or not most:
                break
            lines[number] = 0
            n_lines = len(entry.body)
            if 0 < n_lines <= MAX_TINY_LINES and entry.needed >= MIN_NEEDED and entry.kind != _FILE:
                with_body = self._price(number, n_lines)
                if with_body <= min(tokens_left, price + MAX_TINY_TOKENS):
                    lines[number], price = n_lines, with_body
            tokens_left -= price
            most -= 1
        return tokens_left

    def _tell(
        self,
        detail: dict[int, DetailLevel],
        numbers: Sequence[int],
        lines: dict[int, int],
        level: DetailLevel,
        tokens_left: float,
    ) -> float:
        """Raise the detail of some items to a level, best first, as far as it fits."""
        for number in sorted(numbers, key=lambda number: self._entries[number].order):
            now = self._plan_item(number, lines[number], detail.get(number, DetailLevel.NOTHING))
            more = self._plan_item(number, lines[number], level)
            if now.why == more.why:
                continue
            before, after = (self._counter(self._renderer.item(each, self._bare.fence)) for each in (now, more))
            price = after - before
            if price > tokens_left:
                break
            tokens_left -= price
            detail[number] = level
        return tokens_left

    def _plan_item(self, number: int, n_lines: int, detail: DetailLevel = DetailLevel.NOTHING) -> PlannedItem:
        # Why a neighbor or a file is named without its source is all that it says.
        entry = self._entries[number]
        is_bare = not n_lines and (entry.via or (entry.kind == _FILE and not len(entry.body)))
        return PlannedItem(entry, n_lines, max(detail, DetailLevel.BRIEFLY if is_bare else DetailLevel.NOTHING))

    def _grow_bodies(self, lines: dict[int, int], tokens_left: float, budget: float) -> float:
        """Give room to bodies, the most needed first, and return what is left.

        First every body within its share, if it is worth its tokens, then the cut ones again with all that remains.
        """
        fills, strictness = self._bare.fills, strictness_of(budget)
        least_gain = self._bare.strictness * strictness * MIN_GAIN
        bodies = self._by_gain()
        for is_first in (True, False):
            for number in bodies:
                entry = self._entries[number]
                had = lines.get(number, 0)
                # Long documentation takes the room of other code; of the most needed body it is part of the answer.
                whole = len(entry.body) - (0 if fills or not entry.order else entry.body.n_prose)
                if had >= whole or not (is_first or had or fills):
                    continue
                if not is_first and not fills and entry.needed < MIN_NEEDED_TO_GROW:
                    continue
                if is_first and not fills and entry.needed < strictness * MIN_NEEDED and lines:
                    continue
                paid = self._price(number, had) if number in lines else 0
                share = min(BODY_SHARE, max(MIN_BODY_SHARE, SHARE_BY_NEED * entry.needed))
                room = min(tokens_left, share * budget if is_first else tokens_left)
                wanted = self._lines_within(number, paid + room)
                if NEARLY_WHOLE_THRESHOLD * whole <= wanted < whole:
                    wanted = max(wanted, self._lines_within(number, paid + min(tokens_left, 2 * room)))
                wanted = min(wanted, whole)
                if entry.body.n_telling and not fills and wanted < whole:
                    wanted = min(wanted, max(entry.body.n_telling, MIN_LONG_BODY_LINES))
                if wanted <= had:
                    continue
                price = self._price(number, wanted)
                if is_first and not fills and lines and entry.needed < least_gain * price / 1000:
                    continue
                tokens_left -= price - paid
                lines[number] = wanted
        return tokens_left

    def _by_gain(self) -> list[int]:
        """Return bodies, the best first: the most needed, of equally needed ones the shorter."""

        def gain(number: int) -> float:
            entry = self._entries[number]
            characters = sum(map(len, entry.body.lines)) + 80
            return -entry.needed / math.pow(min(characters, MAX_GAIN_CHARACTERS), LENGTH_EXPONENT)

        bodies = [number for number in self._ranked if len(self._entries[number].body)]
        return bodies[:1] + sorted(bodies[1:], key=lambda number: (gain(number), self._entries[number].order))

    def _lines_within(self, number: int, allowance: float) -> int:
        """Return the most lines of a body whose item costs at most `allowance`, cut at a sensible line; 0 for none."""
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
        best = n_tries = 0
        least = min(MIN_BODY_LINES, len(body))
        while True:
            guess = min(guess, fitting)
            if guess <= best or guess < least:
                break
            count = sensible_cut(body, guess)
            price = self._price(number, count)
            if price <= allowance:
                best = max(best, count)
                if price > 0.85 * allowance:
                    break
            guess = int(count * room * 0.97 / max(1, price - self._price(number, 0)))
            n_tries += 1
            if n_tries >= MAX_GUESSES:
                if best or count <= least:
                    break
                # Filled gaps make the price of a folded body rise in steps, which shares of it miss.
                guess = min(guess, max(least, count // 2))
        return best if best >= least else 0

    def _affordable_links(self, tokens_left: float, lines: Mapping[int, int]) -> set[int]:
        """Return numbers of the edges that fit, of shown items, those first that are certain and join needed items."""
        shown = {self._entries[number].node for number in lines}
        sourced = {self._entries[number].node for number, n_lines in lines.items() if n_lines}
        chosen: set[int] = set()
        needed = {entry.node: entry.needed for entry in self._entries}

        def weight(edge: Edge) -> float:
            return round(edge.confidence * needed[edge.source] * needed[edge.target], 9)

        order = sorted(
            (
                i
                for i, link in enumerate(self._links)
                if {link.edge.source, link.edge.target} <= shown and (link.edge.kind != CONTAINS or not sourced)
            ),
            key=lambda i: (
                not {self._links[i].edge.source, self._links[i].edge.target} <= sourced,
                self._links[i].removed,
                -weight(self._links[i].edge),
                -self._links[i].edge.n,
                i,
            ),
        )
        for number in order[: None if self._bare.fills else MAX_LINKS]:
            if number not in self._link_prices:
                self._link_prices[number] = self._counter(self._renderer.link(self._links[number]))
            tokens_left -= self._link_prices[number]
            if tokens_left < 0:
                break
            chosen.add(number)
        return chosen

    def _lay_out(self, lines: Mapping[int, int]) -> list[int]:
        """Return shown items in the order of the pack.

        Items with source stand by need, each behind what leads to it, except module-level code, which leads to
        everything. What an item leads to directly follows it, if all else that leads there is placed; constants
        follow whatever reads them. Lines without source come last, by need. A drawing, a list of files and items
        that are all needed alike keep the given order.
        """
        sourced = [number for number in self._ranked if lines.get(number)]
        if (
            len({entry.needed for entry in self._entries}) < 2
            or not sourced
            or any(not len(self._entries[n].body) and self._entries[n].kind == _FILE for n in lines)
        ):
            return sorted(lines)
        number_of = {self._entries[number].node: number for number in sourced}
        before: dict[int, set[int]] = {number: set() for number in sourced}
        behind: dict[int, set[int]] = {number: set() for number in sourced}
        for link in self._links:
            ends = sorted(number_of.get(node, -1) for node in (link.edge.source, link.edge.target))
            if link.edge.kind != CONTAINS and ends[0] >= 0 and ends[0] != ends[1]:
                if self._entries[ends[0]].kind != _FILE:
                    before[ends[1]].add(ends[0])
                behind[ends[0]].add(ends[1])
        placed: dict[int, None] = {}

        def place(number: int, *, with_all: bool) -> None:
            placed[number] = None
            for other in sorted(behind[number]):
                is_wanted = with_all or self._entries[other].kind == "constant"
                if is_wanted and other not in placed and before[other] <= placed.keys():
                    place(other, with_all=False)

        for number in sourced:
            leading = _reach(number, before) - placed.keys() if number not in placed else set()
            for each in sorted(leading):
                place(each, with_all=each == number)
        return [*placed, *(number for number in self._ranked if number in lines and not lines[number])]

    def _begin_with_named(self, order: list[int]) -> list[int]:
        """Return `order` with the definitions first that a query of one name means."""
        named = {entry.node for entry in find_named(self._bare.question, [self._entries[n] for n in order])}
        return sorted(order, key=lambda number: self._entries[number].node not in named) if named else order

    def _price(self, number: int, n_lines: int) -> int:
        key = (number, n_lines)
        if key not in self._prices:
            fragment = self._renderer.item(self._plan_item(number, n_lines), self._bare.fence)
            self._prices[key] = self._counter(fragment)
        return self._prices[key]

    def _complete_plan(self, lines: dict[int, int], links: set[int], detail: dict[int, DetailLevel]) -> Plan:
        """Return the plan that shows these lines and edges, with everything else accounted for."""
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
                self._plan_item(number, lines[number], detail.get(number, DetailLevel.NOTHING))
                for number in self._begin_with_named(self._lay_out(lines))
            ),
            links=tuple(self._links[number] for number in sorted(links)),
            omitted=tuple(omitted),
        )


def _reach(start: int, links: Mapping[int, set[int]]) -> set[int]:
    """Return what can be reached from `start` over some links, itself among it."""
    reached, waiting = {start}, [start]
    while waiting:
        more = links[waiting.pop()] - reached
        reached |= more
        waiting.extend(more)
    return reached


def strictness_of(budget: float) -> float:
    """Return the factor of the least probabilities at a budget: 1 up to the usual one, less beyond."""
    return min(1.0, USUAL_BUDGET / max(1.0, budget)) ** 2


def find_named(question: str, entries: Sequence[PackEntry]) -> list[PackEntry]:
    """Return the entries that a query of one name means.

    These are the definitions of that name, else files of that name; none if the query is more than a name.
    """
    match = _NAME.fullmatch(question)
    if match is None:
        return []
    parts = _parts(match[1])
    named = [entry for entry in entries if _parts(entry.symbol or "")[-len(parts) :] == parts]
    if named or len(parts) > 1:
        return named
    return [e for e in entries if e.kind == _FILE and e.path.rpartition("/")[2].partition(".")[0] == parts[0]]


def _parts(symbol: str) -> list[str]:
    """Return the names of which a qualified name consists, without the number of an overload."""
    return re.split(r"\.|::|#", symbol.partition("~")[0])


def describe_omissions(plan: Plan) -> str:
    """Return the numbers of left-out items, bodies and edges as text, "" if nothing is missing."""
    nouns = (("body", "bodies"), ("item", "items"), ("edge", "edges"))
    phrases = [_count_noun(count, one, many) for count, (one, many) in zip(plan.counts(), nouns, strict=True)]
    return ", ".join(phrase for phrase in phrases if phrase)


def _count_noun(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}" if count else ""
