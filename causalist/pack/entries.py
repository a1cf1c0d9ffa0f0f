"""Input of a pack -> entries and links that are safe to print and of limited length.

Reasons become phrases for people: `says token, user; linked to others that fit` instead of names of signals. Signals
with the same meaning to a reader share a phrase, which is printed once, at the position of their sum. Names and values
of the signals are in the answer itself, and in `--explain`.

Node names are shortened: an edge says `Session.verify`, not its id, unless two items of the pack share the name.
"""

from collections import Counter as Tally
from collections.abc import Sequence
from operator import itemgetter

from causalist._internal.escape import middle_cut, one_line
from causalist._internal.lazy import dataclass, lazy_regex
from causalist.model.answer import PackInput, PackItem
from causalist.model.graph import Edge
from causalist.model.scores import Hit, Reason, Signal
from causalist.model.symbols import split_id
from causalist.pack.excerpts import EMPTY, bodies
from causalist.pack.plan import MAX_CHARACTERS_PER_TOKEN, Link, PackEntry, Plan

# The signal of what only the graph led to, and that of what words found and the graph supports.
LEADING = Signal.PAGERANK
_SUPPORT = Signal.GRAPH

# (with a detail, without one), by signal; `{}` is the detail.
_TEXT = ("says {}", "its words fit")
_NAME = ("named for {}", "its name fits")
_HOLDS = ("holds {}", "its own lines fit")
_FILE = ("its file leads: {}", "its file leads")
PHRASES = {
    Signal.TEXT: _TEXT,
    Signal.NAME: _NAME,
    Signal.NAME_SHARE: _NAME,
    Signal.NAME_COVERAGE: _NAME,
    Signal.PATH: ("{} in its path", "its path fits"),
    Signal.FOUND_FILE: _FILE,
    Signal.IDENTIFIERS: ("has {}", "has names from the question"),
    Signal.USES_NAMED: ("uses {}", "uses what the question names"),
    Signal.LEADING_DEFINITION: _HOLDS,
    Signal.LEADING_DEFINITIONS: _HOLDS,
    Signal.MENTION: ("the question names it: {}", "the question names it"),
    Signal.LOOKED_UP: ("it is what is asked for: {}", "it is what is asked for"),
    Signal.LITERAL: ("matches {}", "matches"),
    Signal.FRAME: ("in the traceback: {}", "in the traceback"),
    Signal.SYNONYMS: ("says it in other words: {}", "says it in other words"),
    Signal.INDIRECT_SYNONYMS: ("says what such code says: {}", "says what such code says"),
    Signal.TESTS: ("its tests say {}", "its tests fit"),
    Signal.MESSAGES: ("commits to it say {}", "commits to it say so"),
    Signal.SIMILAR_COMMITS: ("changed by similar commits {}", "changed by similar commits"),
    Signal.DENSE: ("near in meaning: {}", "near in meaning"),
    Signal.SEMANTIC: ("its words mean {}", "its words mean what the question means"),
    Signal.GRAPH: ("linked to {}", "linked to others that fit"),
    Signal.PAGERANK: ("{}", "reached over the graph"),
}


def reason_phrases(reasons: Sequence[Reason], linked: Sequence[str] = ()) -> tuple[str, ...]:
    """Return reasons as phrases, the strongest first.

    If graph evidence is the strongest, it stays first. The names that a result is linked to (`linked`) come after the
    first phrase with words of the query, since those can be checked at a glance. So does "its file leads", which all
    definitions of the file share. A signal without a phrase is printed by its name.

    >>> words, named = Reason(Signal.TEXT, 0.5, "agent"), Reason(Signal.NAME, 1.0, "")
    >>> graph, found_file = Reason(Signal.GRAPH, 2.0, ""), Reason(Signal.FOUND_FILE, 3.0, "")
    >>> reason_phrases([found_file, Reason(Signal.TEXT, 1.5, "token, user")])
    ('says token, user', 'its file leads')
    >>> reason_phrases([found_file, graph, words])
    ('says agent', 'its file leads', 'linked to others that fit')
    >>> reason_phrases([graph], ["load", "save"])
    ('linked to load, save',)
    >>> reason_phrases([graph, named, words], ["load"])
    ('says agent', 'linked to load', 'its name fits')
    >>> reason_phrases([graph, named, words])
    ('its name fits', 'says agent', 'linked to others that fit')
    """
    details: dict[tuple[str, str], list[str]] = {}
    given: dict[tuple[str, str], float] = {}
    for reason in reasons:
        phrase = PHRASES.get(reason.signal, (f"{reason.signal}: {{}}", reason.signal))
        details.setdefault(phrase, []).append(", ".join(linked) if reason.signal == _SUPPORT else reason.detail)
        given[phrase] = given.get(phrase, 0.0) + reason.value
    leads = [PHRASES[LEADING]] if LEADING in (reason.signal for reason in reasons[:1]) else []
    order = dict.fromkeys([*leads, *(phrase for phrase, _ in sorted(given.items(), key=itemgetter(1), reverse=True))])
    said = [(phrase, _joined([detail for detail in details[phrase] if detail])) for phrase in order]
    links = [each for each in said if each[0] == PHRASES[_SUPPORT]]
    if links and not links[0][1]:
        # That it is linked to something says little beside anything else.
        said = [*(each for each in said if each not in links), *links]
    if said and said[0][0] in (PHRASES[_SUPPORT], _FILE):
        words = [each for each in said if each[1] and each[0] not in (PHRASES[_SUPPORT], _FILE)]
        said = list(dict.fromkeys([*words[:1], *said]))
    return tuple(with_detail.replace("{}", detail) if detail else bare for (with_detail, bare), detail in said)


def _joined(details: Sequence[str]) -> str:
    """Details of signals that say the same: lists of words become one, each word once."""
    if len(details) < 2:
        return "".join(details)
    return ", ".join(dict.fromkeys(part for detail in details for part in detail.split(", ")))


# More says little: the strongest signals come first.
MAX_REASONS = 4
# A pack this small has no room for the line that explains it.
SMALLEST_WITH_LEGEND = 400
SMALLEST_FENCE = 3

_BACKTICKS = lazy_regex("`+", needs=("`",))
_PASSIVE = {
    "calls": "called by",
    "references": "used by",
    "extends": "extended by",
    "implements": "implemented by",
    "overrides": "overridden by",
    "reads": "read by",
    "writes": "written by",
    "tests": "tested by",
    "routes": "handles",
    "emits": "reached by",
}
_BACK = " (back)"
_CONTAINS = "contains"
_MAX_LINKED_NAMES = 2  # others that a reason names


@dataclass(frozen=True, slots=True)
class EntryLimits:
    """The most characters of a text that a pack quotes on one line."""

    question: int
    name: int
    signature: int
    reason: int

    @classmethod
    def for_budget(cls, max_tokens: int, scale: float) -> "EntryLimits":
        """Small budgets cut earlier; `scale` below 1 is for input so odd that even that is too long."""
        cut = max(0.0, scale)
        return cls(
            question=int(cut * min(200, max(32, max_tokens // 4))),
            name=int(cut * min(160, max(48, max_tokens // 4))),
            signature=int(cut * min(160, max(40, max_tokens // 8))),
            reason=int(cut * min(120, max(32, max_tokens // 8))),
        )


def bare_plan(pack_input: PackInput, max_tokens: int, scale: float, *, with_source: bool, tokenizer: str) -> Plan:
    """Return a plan that shows nothing yet but knows every entry, and the edges it may show."""
    header, items = pack_input.header, pack_input.items
    limits = EntryLimits.for_budget(max_tokens, scale)
    order = sorted(
        range(len(items)),
        key=lambda i: (-round(items[i].needed, 9), -round(items[i].hit.score, 12), items[i].hit.id, i),
    )
    orders = {number: place for place, number in enumerate(order)}
    names = _names(pack_input, limits.name)
    labels = [_label(item, names) for item in items]
    linked = _linked(pack_input, names)
    texts = [EMPTY] * len(items)
    if with_source and scale >= 1:
        texts = bodies(items, labels, max_tokens * MAX_CHARACTERS_PER_TOKEN)
    entries = tuple(
        PackEntry(
            node=item.hit.id,
            order=orders[number],
            rank=item.rank,
            via=item.via,
            needed=round(item.needed, 9),
            id=middle_cut(item.hit.id, 2 * limits.name),
            path=middle_cut(item.hit.path, limits.name),
            symbol=None if item.hit.symbol is None else middle_cut(item.hit.symbol, limits.name),
            name=names[item.hit.id],
            kind=one_line(item.hit.kind, 24),
            start_line=item.hit.start_row + 1,
            end_line=item.hit.end_row + 1,
            signature=_signature(item.hit, limits.signature),
            reasons=_reasons(item, linked.get(item.hit.id, ()), names, limits),
            way=_way(item.hit, names),
            is_led=bool(item.hit.reasons) and item.hit.reasons[0].signal == LEADING,
            body=texts[number],
        )
        for number, item in enumerate(items)
    )
    longest = max((len(m[0]) for e in entries for line in e.body.lines for m in _BACKTICKS.finditer(line)), default=0)
    removed = set(pack_input.removed_edges)
    kept = (edge for edge in pack_input.edges if edge not in removed)
    links = [_link(edge, names, limits, removed=False) for edge in kept]
    links += [_link(edge, names, limits, removed=True) for edge in pack_input.removed_edges]
    return Plan(
        header=header,
        question=one_line(header.query, limits.question),
        repository=_repository(header.root, min(60, limits.name)),
        commit=None if header.commit is None else one_line(header.commit[:7], 7),
        legend=max_tokens >= SMALLEST_WITH_LEGEND and scale >= 1,
        items=(),
        links=(),
        omitted=(),
        entries=entries,
        fills=pack_input.fills,
        fence="`" * max(SMALLEST_FENCE, longest + 1),
        tokenizer=tokenizer,
        every_link=tuple(links),
    )


def _label(item: PackItem, names: dict[str, str]) -> str:
    """Return the name by which other items refer to `item`."""
    return names[item.hit.id] if item.rank is None else f"#{item.rank} {names[item.hit.id]}"


def _names(pack_input: PackInput, limit: int) -> dict[str, str]:
    """Return a short name for every id that the pack may mention; the id itself where the name is not unique."""
    ids: dict[str, None] = {}
    for item in pack_input.items:
        ids[item.hit.id] = None
        ids.update((hop.node, None) for hop in item.hit.path_from_seed)
    links = [item.link for item in pack_input.items if item.link is not None]
    for edge in (*pack_input.edges, *pack_input.removed_edges, *links):
        ids.update(((edge.source, None), (edge.target, None)))
    short = {node: split_id(node)[1] or node for node in ids}
    count = Tally(short.values())
    return {node: middle_cut(name if count[name] == 1 else node, limit) or "?" for node, name in short.items()}


def _signature(hit: Hit, limit: int) -> str:
    return one_line(hit.signature or hit.doc, limit)


def _reasons(item: PackItem, linked: Sequence[str], names: dict[str, str], limits: EntryLimits) -> tuple[str, ...]:
    phrases = list(reason_phrases(item.hit.reasons[:MAX_REASONS], linked))
    if item.link is not None:
        phrases.insert(0, _describe_link(item, item.link, names))
    return tuple(one_line(phrase, limits.reason) for phrase in phrases)


def _describe_link(item: PackItem, edge: Edge, names: dict[str, str]) -> str:
    """Return the edge as a phrase about the item: `called by A`, `calls B`."""
    if edge.source == item.hit.id:
        return f"{edge.kind} {names[edge.target]}"
    return f"{_PASSIVE.get(edge.kind, edge.kind)} {names[edge.source]}"


def _linked(pack_input: PackInput, names: dict[str, str]) -> dict[str, list[str]]:
    """Return the names of the best items that each item has an edge to or from, without what contains it."""
    best = sorted(pack_input.items, key=lambda item: (-round(item.hit.score, 12), item.hit.id))
    place = {item.hit.id: number for number, item in enumerate(best)}
    others: dict[str, set[int]] = {}
    for edge in pack_input.edges:
        if edge.kind != _CONTAINS and edge.source != edge.target and {edge.source, edge.target} <= place.keys():
            others.setdefault(edge.source, set()).add(place[edge.target])
            others.setdefault(edge.target, set()).add(place[edge.source])
    return {
        node: [names[best[number].hit.id] for number in sorted(numbers)[:_MAX_LINKED_NAMES]]
        for node, numbers in others.items()
    }


def _way(hit: Hit, names: dict[str, str]) -> str:
    """Return the path from the seed as text.

    In `via calls: A → B ← C`, B ← C says that C calls B. With several kinds of edges, each stands behind the node that
    it leads to.
    """
    hops = hit.path_from_seed
    if len(hops) < 2:
        return ""
    kinds = {(hop.edge or "").removesuffix(_BACK) for hop in hops[1:]}
    parts = [names[hops[0].node]]
    for hop in hops[1:]:
        edge = hop.edge or ""
        arrow = "←" if edge.endswith(_BACK) else "→"
        kind = "" if len(kinds) == 1 else f" ({one_line(edge.removesuffix(_BACK), 24)})"
        parts.append(f"{arrow} {names[hop.node]}{kind}")
    only = f" {one_line(kinds.pop(), 24)}" if len(kinds) == 1 else ""
    return f"via{only}: {' '.join(parts)}"


def _link(edge: Edge, names: dict[str, str], limits: EntryLimits, *, removed: bool) -> Link:
    return Link(
        edge=edge._replace(kind=one_line(edge.kind, 24)),
        source=middle_cut(edge.source, 2 * limits.name),
        target=middle_cut(edge.target, 2 * limits.name),
        source_name=names[edge.source],
        target_name=names[edge.target],
        path=middle_cut(_last_part(split_id(edge.source)[0]), limits.name),
        removed=removed,
    )


def _repository(root: str, limit: int) -> str:
    """Return the name of the folder; an odd one is written as a path, because it begins a line of some formats."""
    name = middle_cut(_last_part(root), limit)
    return name if not name or name[0].isalnum() or limit < 4 else f"./{name}"


def _last_part(path: str) -> str:
    """Return the name of a folder or file, for either kind of separator."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2] or path
