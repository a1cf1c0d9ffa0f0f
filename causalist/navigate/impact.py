"""Impact of a change: the direct and indirect users of a node, and how probably they run it.

In: a `CodeGraph`, nodes and the text of files. Out: users by distance, each with the probability of its chains of uses.

A call below conditions runs in a share of the runs of its function. Rows are read by their indentation, which code of
all languages has. A row is inside of each row above it that is indented less and that no row between them closes. Where
a file is not indented like that, calls have the share of those of which nothing is known.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from heapq import heappop, heappush
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import unique_sorted, unique_with_first
from causalist._internal.lazy import lazy_regex
from causalist.errors import UsageError
from causalist.model.graph import ORDERING_KINDS, RUN_RULES, CodeGraph, Edge, EdgeKind, rows_of
from causalist.model.lookup import Affected
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind, Role, file_id, split_id
from causalist.navigate.edges import DISPATCHED, find_overridden
from causalist.navigate.implicit_calls import ImplicitUse, ImplicitUses

# The share of runs of a caller that run a call inside of that many branches. Measured on suites with coverage of each
# test, see docs/benchmarks.md.
SHARES_BY_BRANCHES = (0.94, 0.7, 0.54, 0.5)
LOOP_SHARE = 0.95  # of what is in a loop, which may have nothing to do
UNKNOWN_SHARE = 0.7  # where the text is not known
_ALTERNATIVES = frozenset({"elif", "elsif", "elseif", "else", "case", "when"})
_BRANCHES = _ALTERNATIVES | {"if", "except", "catch", "rescue", "unless", "switch", "match", "select"}
_LOOPS = frozenset({"for", "foreach", "while", "until", "loop"})
_FIRST_WORD = re.compile(r"\w*")
_CLOSING = " \t})"
_COMMENTS = ("#", "//", "*", "/*")
_FAR = 1_000_000  # more than any row is indented
_IN_QUOTES = lazy_regex(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")


class CallSites:
    """Calls of a graph, by the number of their edge. `read_text` returns the text of a path."""

    def __init__(self, graph: CodeGraph, read_text: Callable[[str], str]) -> None:
        self._graph = graph
        self._read_text = read_text
        self._lines: dict[int, list[str]] = {}  # by file
        self._shares: dict[int, float] = {}

    def share(self, number: int) -> float:
        """Return the share of runs of a caller that run the call of an edge at its first row."""
        if number not in self._shares:
            self._shares[number] = self._find_share(number)
        return self._shares[number]

    def lines_around(self, node: int) -> list[str]:
        """Return the lines of the file of a node, which is read once."""
        file = int(self._graph.nodes.files[node])
        lines = self._lines.get(file)
        if lines is None:
            path = split_id(self._graph.nodes.ids[file])[0] if file >= 0 else ""
            lines = self._lines[file] = self._read_text(path).split("\n")
        return lines

    def _find_share(self, number: int) -> float:
        edges, nodes = self._graph.edges, self._graph.nodes
        source, row = int(edges.sources[number]), int(edges.rows[number])
        start, lines = int(nodes.start_rows[source]), self.lines_around(source)
        if not start <= row < len(lines):
            return UNKNOWN_SHARE
        n_branches, n_loops = _count_around(lines, start, row)
        if _first_word(lines[row].strip().lstrip(_CLOSING)) in _BRANCHES:
            name = split_id(nodes.ids[int(edges.targets[number])])[1] or ""
            n_branches += _is_behind_condition(lines[row], name.rpartition(".")[2])
        share = SHARES_BY_BRANCHES[min(n_branches, len(SHARES_BY_BRANCHES) - 1)]
        return share * LOOP_SHARE if n_loops else share


def _count_around(lines: Sequence[str], first: int, row: int) -> tuple[int, int]:
    """Return the numbers of the (branches, loops) behind row `first` that a row is inside of.

    >>> lines = ["def f():", "    if a:", "        for b in c:", "            d()", "    e()"]
    >>> _count_around(lines, 0, 3), _count_around(lines, 0, 4)
    ((1, 1), (0, 0))
    """
    n_branches = n_loops = 0
    text = lines[row].strip()
    is_code = text and not text.startswith(_COMMENTS)
    limit = len(lines[row]) - len(lines[row].lstrip()) if is_code else len(lines[row]) + _FAR
    for line in reversed(lines[first + 1 : row]):
        text = line.lstrip()
        indentation = len(line) - len(text)
        if indentation < limit and text and not text.startswith(_COMMENTS):
            limit = indentation
            word = _first_word(text.lstrip(_CLOSING))
            if word in _BRANCHES:
                n_branches += 1
            elif word in _LOOPS:
                n_loops += 1
    return n_branches, n_loops


def _first_word(text: str) -> str:
    """Return the letters, digits and underscores at the begin of a text."""
    return _FIRST_WORD.match(text)[0]  # type: ignore[index]


def _is_behind_condition(line: str, name: str) -> bool:
    """Return True if a row begins with a condition and has the name in what that decides.

    >>> _is_behind_condition("if (a) call();", "call"), _is_behind_condition("if (call(a)) {", "call")
    (True, False)
    >>> _is_behind_condition("elif call(a):", "call"), _is_behind_condition("if a: call()", "call")
    (True, True)
    """
    head = line.strip().lstrip(_CLOSING)
    word = _first_word(head)
    if word not in _BRANCHES:
        return False
    if word in _ALTERNATIVES:
        return True
    match = re.search(rf"\b{re.escape(name)}\b", head) if name else None
    depth, is_closed = 0, False
    for character in _IN_QUOTES.sub("", head[: match.start()]) if match else "":
        depth += (character in "([{") - (character in ")]}")
        is_closed = is_closed or (depth == 0 and character in ":)")
    return is_closed and depth == 0


_CALLS, _REFERENCES, _OVERRIDES = int(EdgeKind.CALLS), int(EdgeKind.REFERENCES), int(EdgeKind.OVERRIDES)
# Of several ways by which a node depends on another, the first is given.
_DIRECT, _CONSTRUCTOR, _OVERRIDDEN, _SPECIAL = range(4)

# The share of true uses of each kind that run: code that runs the user also runs what it uses. Chosen on five suites
# with coverage of each test, see docs/benchmarks.md.
RUN_SHARES: dict[int, float] = {
    EdgeKind.CALLS: UNKNOWN_SHARE,
    EdgeKind.REFERENCES: 0.4,
    EdgeKind.EXTENDS: 0.4,
    EdgeKind.IMPLEMENTS: 0.4,
    EdgeKind.READS: 0.8,
    EdgeKind.WRITES: 0.8,
    EdgeKind.ROUTES: 0.8,
    EdgeKind.EMITS: 0.6,
    EdgeKind.IMPORTS: 0.01,
}
_CALLS, _REFERENCES, _OVERRIDES = map(int, (EdgeKind.CALLS, EdgeKind.REFERENCES, EdgeKind.OVERRIDES))  # read often
FUNCTION_VALUE_SHARE = 0.85  # of references to functions, which are mostly handed on to what calls them
# Of calls of a method, to one that overrides it, by the least number of those that do, which share them. Of tests that
# ran such a caller in 16 suites, .36 ran the only one, .26 one of up to seven, and .11 one of more.
DISPATCHED_SHARES = {8: 0.12, 2: 0.28, 0: 0.36}
# Of constructors that the body of a class outside of functions calls. It runs as the file is loaded, mostly before all
# tests.
LOADING_SHARE = 0.1
CALLS_OF_TESTS_SHARE = 0.95  # of calls in tests, which have fewer branches
OWN_MEMBER_SHARE = 0.05  # of what a type says of its own functions, such as their decorators
MIN_PROBABILITY = 0.01  # of a chain that is followed
_N_SAMPLES = 256  # of which steps run; a multiple of 8
_N_AT_ONCE = 2048  # users whose samples are in memory
_N_ORDERS = 1024  # of samples, of which each step takes one: sorting anew for each takes most of the time


def find_affected_nodes(
    graph: CodeGraph, changed: NDArray[np.int64], *, max_depth: int | None, min_confidence: float
) -> tuple[Affected, ...]:
    """Return the nodes outside of `changed` that use one of it, directly or indirectly, by depth, then id.

    What calls a method that a reached one overrides is reached as well, because it may run that.

    What makes instances of a class runs its constructor and those of its bases; what uses a class may run its special
    methods.

    Edges below `min_confidence` do not count. Of several edges by which a node depends on what is one step nearer, a
    direct one is given before a call of a class, a call of what is overridden and another use of a class; of several
    such, the most confident (ties: the lowest number). Each has the probability that it runs one of `changed`. Breadth
    first, a level at a time: linear in nodes
    and edges, except sorting each level's edges. Raises UsageError for a depth below 1.
    """
    return find_affected_with_chains(graph, changed, max_depth, min_confidence)[0]


def find_affected_with_chains(
    graph: CodeGraph,
    changed: NDArray[np.int64],
    max_depth: int | None,
    min_confidence: float,
    sites: CallSites | None = None,
    uses: "NodeUses | None" = None,
) -> tuple[tuple[Affected, ...], "Chains"]:
    """Return the nodes of `find_affected_nodes`, and the chains of uses by which they run one of `changed`.

    `uses` are those of this graph, confidence and `sites`, which several searches may share.
    """
    if max_depth is not None and max_depth < 1:
        raise UsageError(f"--max-depth must be at least 1, not {max_depth}")
    edges = graph.edges
    uses = uses or NodeUses(graph, min_confidence, sites)
    users: dict[int, tuple[str, int, Edge, str, str, str | None, str | None, str]] = {}
    roles = {int(role): role.label for role in Role}
    for level in _find_levels(uses, changed, max_depth):
        numbers, implicit, n_direct = level.numbers, level.implicit, level.n_direct
        is_call = np.array([use.is_call for use in implicit], dtype=np.bool_)
        n_through = len(numbers) - len(implicit) - n_direct
        precedence = np.repeat((_DIRECT, _OVERRIDDEN, _SPECIAL), (n_direct, n_through, len(implicit)))
        precedence[len(numbers) - len(implicit) :][is_call] = _CONSTRUCTOR
        confidences = edges.confidences[numbers]
        confidences[len(numbers) - len(implicit) :] = [use.confidence for use in implicit]
        order = np.lexsort((numbers, -confidences, precedence, edges.sources[numbers]))
        order = order[level.is_new[order]]
        frontier, first = unique_with_first(edges.sources[numbers[order]].astype(np.int64))
        chosen = order[first]
        rows = zip(frontier.tolist(), graph.nodes.ids.some(frontier), graph.nodes.roles[frontier].tolist(), strict=True)
        places = zip(chosen.tolist(), precedence[chosen].tolist(), strict=True)
        uses_of_level = zip(graph.edges_of(numbers[chosen]), graph.layers_and_tiers(frontier), strict=True)
        for (node, node_id, role), (at, kind), (edge, where) in zip(rows, places, uses_of_level, strict=True):
            by = runs = ""
            if kind == _OVERRIDDEN:
                by = graph.nodes.ids[level.origin[int(edges.targets[numbers[at]])]]
            elif kind != _DIRECT:
                use = implicit[at - (len(numbers) - len(implicit))]
                edge, runs = edge._replace(confidence=use.confidence), graph.nodes.ids[use.method]
            users[node] = (node_id, level.depth, edge, roles[role], by, *where, runs)
    chains = _find_chains(uses, changed, users)
    chances = chains.probabilities
    return tuple(Affected(*row, chances.get(node, 0.0)) for node, row in users.items()), chains


def find_depths_with_chains(uses: "NodeUses", changed: NDArray[np.int64]) -> tuple[dict[int, int], "Chains"]:
    """Return the depth of each node of `find_affected_with_chains`, and the chains, in less time."""
    sources, depths = uses.graph.edges.sources, dict[int, int]()
    for level in _find_levels(uses, changed, None):
        depths.update(dict.fromkeys(unique_sorted(sources[level.numbers[level.is_new]]).tolist(), level.depth))
    return depths, _find_chains(uses, changed, depths)


class _Level(NamedTuple):
    """The edges `numbers` by which nodes of one depth use those of the last one; `is_new` is the mask of new users.

    The first `n_direct` lead to these nodes, the last ones are those of `implicit`. The others lead to methods that one
    of these nodes overrides: which one, `origin` says.
    """

    depth: int
    numbers: NDArray[np.int64]
    n_direct: int
    implicit: tuple[ImplicitUse, ...]
    origin: Mapping[int, int]
    is_new: NDArray[np.bool_]


def _find_levels(uses: "NodeUses", changed: NDArray[np.int64], max_depth: int | None) -> Iterator[_Level]:
    graph, edges, usable = uses.graph, uses.graph.edges, uses.usable
    reached = np.zeros(len(graph.nodes), dtype=np.bool_)
    frontier = unique_sorted(changed)
    reached[frontier] = True
    # Methods whose users are reached already: a deep chain of overriding methods is climbed once, not at each level.
    climbed: set[int] = set()
    depth = 0
    while len(frontier) and (max_depth is None or depth < max_depth):
        depth += 1
        origin = find_overridden(graph, frontier.tolist(), uses.min_confidence, climbed)
        climbed.update(origin, frontier.tolist())
        through = graph.edges_into(np.array(sorted(origin), dtype=np.int64))
        through = through[np.isin(edges.kinds[through], DISPATCHED)]
        direct = graph.edges_into(frontier)
        direct, through = direct[usable[direct]], through[usable[through]]
        implicit = uses.implicit.of_all(frontier.tolist())
        numbers = np.concatenate([direct, through, np.array([use.number for use in implicit], dtype=np.int64)])
        is_new = ~reached[edges.sources[numbers]]
        frontier = unique_sorted(edges.sources[numbers[is_new]])
        reached[frontier] = True
        yield _Level(depth, numbers, len(direct), implicit, origin, is_new)


def unite_affected(
    graph: CodeGraph, changed: Sequence[NDArray[np.int64]], affected: Sequence[Sequence[Affected]]
) -> tuple[Affected, ...]:
    """Return the nodes that run one of several sets of changed nodes, by depth, then id; none of these sets.

    `affected[i]` run `changed[i]`. The probability is 1 less the product of those that each is not run. The edge is the
    nearest one, of several the most probable.
    """
    own = {graph.nodes.ids[node] for each in changed for node in each.tolist()}
    best: dict[str, Affected] = {}
    none: dict[str, float] = {}
    for each in (each for of_one in affected for each in of_one):
        none[each.node] = none.get(each.node, 1.0) * (1.0 - each.probability)
        earlier = best.get(each.node)
        if earlier is None or (each.depth, -each.probability) < (earlier.depth, -earlier.probability):
            best[each.node] = each
    united = (each._replace(probability=1.0 - none[node]) for node, each in best.items() if node not in own)
    return tuple(sorted(united, key=lambda each: (each.depth, each.node)))


def find_nodes_of_rows(graph: CodeGraph, rows: Mapping[str, Sequence[tuple[int, int]]]) -> NDArray[np.int64]:
    """Return the innermost nodes of the given (first, last) 0-based rows of files, and their overloads, ascending.

    Rows in no definition or section belong to the file. Paths that are not in the graph are skipped.
    """
    nodes = graph.nodes
    members: set[int] = set()
    for path, ranges in rows.items():
        file = nodes.ids.position(file_id(path))
        if file < 0:
            continue
        definitions = np.flatnonzero(nodes.files == file)
        definitions = definitions[
            np.lexsort((definitions, -nodes.end_rows[definitions], nodes.start_bytes[definitions]))
        ]
        owner = np.full(int(nodes.end_rows[file]) + 2, file, dtype=np.int64)  # the innermost node of each row
        for node in definitions.tolist():
            owner[int(nodes.start_rows[node]) : int(nodes.end_rows[node]) + 1] = node
        for first, last in ranges:
            members.update(owner[first : last + 1].tolist())
    members = {graph.definition_of(node) for node in members}
    members.update([other for node in sorted(members) for other in graph.namesakes(node)])
    return np.array(sorted(members), dtype=np.int64)


class Chains(NamedTuple):
    """The probability that each node runs one that changed, and the next node on its most probable chain of uses.

    `dispatched` are the nodes whose use of the next one is a call of what that overrides. `users` are the nodes of the
    users, in their order. `steps` has, for each node from the nearest on, its users with the probability that they run
    it when they run.
    """

    probabilities: dict[int, float]
    nearer: dict[int, int]
    dispatched: set[int]
    users: tuple[int, ...]
    changed: tuple[int, ...]
    steps: dict[int, list[tuple[int, float]]]

    def sample(self) -> dict[int, float]:
        """Return the probability that each user runs one that changed by any of its chains.

        Chains that have a step in common do not count as if they were independent: in each of `_N_SAMPLES` samples a
        step of functions runs or does not. The last step of a chain counts with its probability.
        """
        orders = _orders()
        reached = dict.fromkeys(self.changed, (1 << _N_SAMPLES) - 1)
        runs: dict[int, list[tuple[int, int]]] = {}
        spread: dict[int, int] = {}  # what the users of a node know of it
        waiting = list(self.changed)
        n_drawn = 0
        while waiting:
            n_drawn += self._draw([n for n in dict.fromkeys(waiting) if n not in runs], orders, n_drawn, runs)
            level, waiting = waiting, []
            for node in level:
                if spread.get(node) == reached[node]:
                    continue
                spread[node] = reached[node]
                for source, mask in runs[node]:
                    earlier = reached.get(source, 0)
                    if (now := earlier | (reached[node] & mask)) != earlier:
                        reached[source] = now
                        waiting.append(source)
        return self._by_last_steps(reached)

    def _draw(
        self,
        nodes: Sequence[int],
        orders: NDArray[np.int16],
        n_drawn: int,
        runs: dict[int, list[tuple[int, int]]],
    ) -> int:
        """Write, for each node, its users that others use in turn, and in which samples they run it, as bits.

        Returns the number of these users.
        """
        inner = [[(user, share) for user, share in self.steps.get(n, ()) if user in self.steps] for n in nodes]
        shares = np.array([share for each in inner for _, share in each])
        # Each step runs in its share of the samples as nearly as they allow; chance decides only in which.
        chosen = orders[(_draw_numbers(_N_ORDERS * _N_SAMPLES + n_drawn, len(shares)) % _N_ORDERS).astype(np.int64)]
        bits = np.packbits(chosen < np.rint(shares * _N_SAMPLES).astype(np.int16)[:, None], axis=1).tobytes()
        n_bytes = _N_SAMPLES // 8
        masks = (int.from_bytes(bits[at : at + n_bytes], "big") for at in range(0, len(bits), n_bytes))
        runs.update((node, [(user, next(masks)) for user, _ in each]) for node, each in zip(nodes, inner, strict=True))
        return len(shares)

    def _by_last_steps(self, reached: Mapping[int, int]) -> dict[int, float]:
        """Return the probability of each user by the samples, as bits, in which what it uses runs one that changed."""
        rows = b"".join(reached.get(node, 0).to_bytes(_N_SAMPLES // 8, "big") for node in self.steps)
        samples = np.frombuffer(rows, dtype=np.uint8).reshape(-1, _N_SAMPLES // 8)
        steps = [step for each in self.steps.values() for step in each]
        users = np.array([user for user, _ in steps], dtype=np.int64)
        used = np.repeat(np.arange(len(samples)), list(map(len, self.steps.values())))
        order = np.argsort(users, kind="stable")
        users, used, shares = users[order], used[order], np.array([share for _, share in steps])[order]
        distinct, starts = np.unique(users, return_index=True)
        counts = np.diff(np.append(starts, len(users)))
        least = 1.0 / _N_SAMPLES  # what is rarer than a sample keeps the order of its best chain
        chances: dict[int, float] = {}
        most_first = np.argsort(-counts, kind="stable")  # those with a further step come before the others
        distinct, starts, counts = distinct[most_first], starts[most_first], counts[most_first]
        for first in range(0, len(distinct), _N_AT_ONCE):
            at, left = starts[first : first + _N_AT_ONCE], counts[first : first + _N_AT_ONCE]
            none = np.ones((len(at), _N_SAMPLES))
            for step in range(int(left[0])):
                taken = at[: np.searchsorted(-left, -step)] + step
                none[: len(taken)] *= 1.0 - shares[taken, None] * np.unpackbits(samples[used[taken]], axis=1)
            for user, mean in zip(
                distinct[first : first + _N_AT_ONCE].tolist(), none.mean(axis=1).tolist(), strict=True
            ):
                chances[user] = max(1.0 - mean, min(self.probabilities[user], least))
        return chances

    def dispatched_to(self, node: int) -> int:
        """Return the last node on the chain that a call of another one runs; -1 if there is none."""
        method, seen = -1, set[int]()
        while node in self.nearer and node not in seen:
            seen.add(node)
            method = self.nearer[node] if node in self.dispatched else method
            node = self.nearer[node]
        return method


@lru_cache(maxsize=1)
def _orders() -> NDArray[np.int16]:
    """Return `_N_ORDERS` orders of the samples."""
    drawn = _draw_numbers(0, _N_ORDERS * _N_SAMPLES).reshape(_N_ORDERS, _N_SAMPLES)
    return drawn.argsort(axis=1).astype(np.int16)


def _draw_numbers(first: int, n: int) -> NDArray[np.uint64]:
    """Return `n` numbers of the random generator SplitMix64 with seed 0, from the one at position `first` on.

    Those of numpy may differ by its version, and take time to import.

    >>> _draw_numbers(0, 2).tolist()
    [16294208416658607535, 7960286522194355700]
    """
    state = (np.arange(first + 1, first + n + 1, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


def _find_chains(uses: "NodeUses", changed: NDArray[np.int64], users: Collection[int]) -> Chains:
    """Return the chains of uses by which `users` run one of `changed`.

    The probability is the product along the most probable chain of uses, of which each counts its confidence and the
    share of such uses that run (`RUN_SHARES`). Further uses by the same node count as if they were independent, also
    those that lead back to it, so that recursion raises the number a little.
    """
    best = dict.fromkeys(unique_sorted(changed).tolist(), 1.0)
    done: set[int] = set()
    waiting = [(-1.0, node) for node in best]
    shares: dict[int, list[float]] = {}
    nearer: dict[int, int] = {}
    dispatched: set[int] = set()
    steps: dict[int, list[tuple[int, float]]] = {}
    while waiting:
        chance, node = heappop(waiting)
        if node in done:
            continue
        done.add(node)
        of_node = steps[node] = []
        if not uses.has(node):
            uses.prepare([node, *(other for _, other in waiting)])
        for source, share, is_dispatched in uses.of(node):
            if source in users:
                of_node.append((source, share))
                chance_of_source = -chance * share
                shares.setdefault(source, []).append(chance_of_source)
                if chance_of_source > MIN_PROBABILITY and chance_of_source > best.get(source, 0.0):
                    best[source] = chance_of_source
                    nearer[source] = node
                    (dispatched.add if is_dispatched else dispatched.discard)(source)
                    heappush(waiting, (chance * share, source))
    probabilities = {node: 1.0 - prod(1.0 - share for share in each) for node, each in shares.items()}
    return Chains(probabilities, nearer, dispatched, tuple(users), tuple(unique_sorted(changed).tolist()), steps)


class NodeUses:
    """Users of the nodes of a graph, with the probability that they run them; what was found once is kept."""

    def __init__(self, graph: CodeGraph, min_confidence: float, sites: CallSites | None) -> None:
        self.graph, self.min_confidence, self._sites = graph, min_confidence, sites
        self.implicit = ImplicitUses(graph, min_confidence, is_chained=True)
        edges = graph.edges
        is_sure = graph.certainties(np.arange(len(edges.kinds))) >= min_confidence
        self._is_test = graph.nodes.roles == Role.TEST
        # Code that was seen to call back into a test depends on no test: the test gave it the function.
        seen = [i for i, rule in enumerate(graph.rule_names) if rule in RUN_RULES]
        if seen:
            is_call_back = np.isin(edges.rules, seen) & self._is_test[edges.targets] & ~self._is_test[edges.sources]
            is_sure &= ~is_call_back
        self.usable = np.isin(edges.kinds, sorted(ORDERING_KINDS)) & is_sure
        overrides = np.flatnonzero((edges.kinds == EdgeKind.OVERRIDES) & (edges.confidences >= min_confidence))
        self._bases: dict[int, list[int]] = {}  # what each method overrides directly, in the order of the edges
        for source, base in zip(edges.sources[overrides].tolist(), edges.targets[overrides].tolist(), strict=True):
            self._bases.setdefault(source, []).append(base)
        self._calls: dict[int, tuple[tuple[int, float, bool], ...]] = {}  # of overridden methods
        can_run = np.zeros(max(EdgeKind) + 1, dtype=np.bool_)
        can_run[list(RUN_SHARES)] = True
        self._can_run = can_run[edges.kinds] & is_sure
        self._rows: dict[int, list[tuple[int, int, int, float]]] = {}
        self._users: dict[int, tuple[tuple[int, float, bool], ...]] = {}

    def has(self, node: int) -> bool:
        """Return True if `of` has what it needs."""
        return node in self._rows

    def prepare(self, nodes: Iterable[int]) -> None:
        """Read the edges into nodes: many at once take less time."""
        new = np.array([node for node in dict.fromkeys(nodes) if node not in self._rows], dtype=np.int64)
        places, owners = rows_of(self.graph.edges.incoming_indptr, new)
        numbers = self.graph.edges.incoming[places].astype(np.int64)
        kept = self._can_run[numbers]
        rows = self._list(numbers[kept])
        bounds = np.searchsorted(owners[kept], np.arange(len(new) + 1)).tolist()
        for place, node in enumerate(new.tolist()):
            self._rows[node] = rows[bounds[place] : bounds[place + 1]]

    def of(self, node: int) -> tuple[tuple[int, float, bool], ...]:
        """Return the users of a prepared node with the probability that they run it, and if they call another."""
        users = self._users.get(node)
        if users is None:
            users = self._users[node] = tuple(self._find(node))
        return users

    def _list(self, numbers: NDArray[np.int64]) -> list[tuple[int, int, int, float]]:
        """Return (number, source, kind, confidence) of edges."""
        edges = self.graph.edges
        columns = (numbers, edges.sources[numbers], edges.kinds[numbers], edges.confidences[numbers])
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def _find(self, node: int) -> Iterator[tuple[int, float, bool]]:
        graph, sites = self.graph, self._sites
        sources, is_test = graph.edges.sources, self._is_test
        parent = int(graph.nodes.parents[node])
        of_type = parent if parent >= 0 and graph.kind(parent) in TYPE_KINDS else -1
        is_function = graph.kind(node) in CALLABLE_KINDS
        for number, source, kind, confidence in self._rows[node]:
            is_call = kind == _CALLS
            share = RUN_SHARES[kind]
            if is_call and is_test[source]:
                share = CALLS_OF_TESTS_SHARE
            elif kind == _REFERENCES and is_function:
                share = FUNCTION_VALUE_SHARE
            elif is_call and sites is not None:
                share = sites.share(number)
            yield source, (min(share, OWN_MEMBER_SHARE) if source == of_type else share) * confidence, False
        if node in self._bases:
            for base in self._overridden(node):
                yield from self._calls_of_base(base)
        for use in self.implicit.of(node):
            source = int(sources[use.number])
            share = UNKNOWN_SHARE if sites is None else sites.share(use.number)
            share = CALLS_OF_TESTS_SHARE if is_test[source] else share
            if use.is_call and self._is_loaded(source):
                share = LOADING_SHARE
            yield source, use.confidence * share, False

    def _is_loaded(self, node: int) -> bool:
        """Return True for a class that stands in no function."""
        nodes = self.graph.nodes
        is_type = outer = nodes.kinds[node] in TYPE_KINDS
        while outer and nodes.parents[node] >= 0:
            node = int(nodes.parents[node])
            outer = nodes.kinds[node] in TYPE_KINDS
        return bool(is_type and nodes.kinds[node] not in CALLABLE_KINDS)

    def _overridden(self, node: int) -> Iterable[int]:
        """Return what `find_overridden` returns for one node: each method of a deep chain overrides all above it."""
        result: dict[int, None] = {}
        reached = [node]
        while reached:
            found: dict[int, None] = {}
            for each in reached:
                found.update((base, None) for base in self._bases.get(each, ()) if base not in result and base != node)
            result.update(found)
            reached = sorted(found)
        return result

    def _calls_of_base(self, base: int) -> tuple[tuple[int, float, bool], ...]:
        """Return what `of` yields for a call of an overridden method."""
        known = self._calls.get(base)
        if known is not None:
            return known
        graph, sites = self.graph, self._sites
        rows = self._list(graph.edges_into(np.array([base])))
        n_overriding = sum(kind == _OVERRIDES for _, _, kind, _ in rows)
        owner = int(graph.nodes.parents[base])
        # A method of an interface has no body: a call of it runs the only implementation.
        is_sole = n_overriding == 1 and owner >= 0 and graph.nodes.kinds[owner] == NodeKind.INTERFACE
        share = next(share for least, share in DISPATCHED_SHARES.items() if n_overriding >= least)
        share = RUN_SHARES[EdgeKind.CALLS] if is_sole else share
        calls = []
        for number, source, kind, confidence in rows:
            if kind in DISPATCHED:
                chance = share * confidence
                if sites is not None and not self._is_test[source]:
                    chance *= sites.share(number) / UNKNOWN_SHARE
                calls.append((source, min(chance, 1.0), not is_sole))
        self._calls[base] = tuple(calls)
        return self._calls[base]
