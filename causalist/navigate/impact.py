"""Impact of a change: the direct and indirect users of a node, and the tests that reach it.

In: a `CodeGraph` and a node. Out: users by distance, and tests that test the node or reach it through its users.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from math import exp, log, prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.errors import UsageError
from causalist.model.graph import ORDERING_KINDS, CodeGraph, Edge, EdgeKind
from causalist.model.index import LexicalIndex
from causalist.model.lookup import Affected
from causalist.model.symbols import CALLABLE_KINDS, TYPE_KINDS, NodeKind, Role, file_id, split_id
from causalist.navigate.branches import UNKNOWN_SHARE, CallSites
from causalist.navigate.edges import DISPATCHED, find_overridden
from causalist.navigate.implicit_calls import class_of_constructor, edge_of, find_implicit_uses
from causalist.navigate.test_texts import TestTexts
from causalist.parse import dialect_of, load_settings
from causalist.rank import rarity_of_shared_words

if TYPE_CHECKING:
    from causalist.model.language import LanguageSettings

# Of several ways by which a node depends on another, the first is given.
_DIRECT, _CONSTRUCTOR, _OVERRIDDEN, _SPECIAL = range(4)

# The share of true uses of each kind that run: whoever runs the user also runs what it uses. Chosen on five suites with
# coverage of each test, see docs/benchmarks.md.
RUN_SHARES = {
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
DISPATCHED_SHARE = 0.4  # of calls of a method, to one that overrides it
CALLS_OF_TESTS_SHARE = 0.95  # which branch less
OWN_MEMBER_SHARE = 0.05  # of what a type says of its own functions, such as their decorators
_DIRECT_SHARE = 0.9  # of what an edge `tests` says
# The share of tests that run what prepares or holds them: a set-up method, a group with what runs before each of its
# tests, a class of tests whose attributes name something, and the code of a file outside of all tests.
SETUP_SHARE = 0.95
GROUP_SHARE = 0.8
CLASS_SHARE = 0.8
FILE_SHARE = 0.1


class TestWeights(NamedTuple):
    """Weights of the log odds that a test runs a node.

    `way` is that of the log odds by uses alone. `words` is that of the rarity of the words of the node's name that are
    in the text and in the name of the test, less that of the best test. `maker` is that of the logarithm of the
    probability that the test makes an object of the class to which the way is dispatched, if it is. `named` is that of
    tests of which only their text names the node, and `alike` that of the logarithm of the number of functions of that
    name, and 1, for these. `runs` and `lacks` are those of tests with and without the code that runs a special method.
    """

    bias: float
    way: float
    words: float
    maker: float
    named: float
    alike: float
    runs: float
    lacks: float


# Fitted on 21 suites, see docs/benchmarks.md.
TEST_WEIGHTS = TestWeights(
    bias=0.77, way=0.571, words=0.114, maker=0.491, named=2.073, alike=-1.069, runs=1.585, lacks=-0.615
)
NAMED = "named-in-text"  # in place of a rule
_NAMED_PROBABILITY = 0.018  # of a test by uses, if only its text names what it runs
# Tests of a function are probable if their odds are at least this share of the best ones.
PROBABLE_SHARE = 1 / 8
_PROVIDER = re.compile(r"^(?!.*\bvoid\b).*\bstatic\b", re.DOTALL)
_MAX_SUBJECTS = 40  # nodes whose names are looked for; of more, some name is in any test
_SETUP = re.compile(r"(?:async)?_?(?:set_?up|before|tear_?down|after|initiali[sz]e)", re.IGNORECASE)
_MAX_TYPES = 200  # above or below one type of tests
_LEAST_PROBABILITY = 0.01  # of a chain that is followed
_LEAST_ODDS = 1e-4


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
    and edges, but for sorting each level's edges. Raises UsageError for a depth below 1.
    """
    return _find_affected(graph, changed, max_depth, min_confidence)[0]


def _find_affected(
    graph: CodeGraph,
    changed: NDArray[np.int64],
    max_depth: int | None,
    min_confidence: float,
    sites: CallSites | None = None,
) -> tuple[tuple[Affected, ...], "_Chains"]:
    """Return the nodes of `find_affected_nodes`, and the chains of uses by which they run one of `changed`."""
    if max_depth is not None and max_depth < 1:
        raise UsageError(f"--max-depth must be at least 1, not {max_depth}")
    edges = graph.edges
    usable = np.isin(edges.kinds, sorted(ORDERING_KINDS)) & (edges.confidences >= min_confidence)
    reached = np.zeros(len(graph.nodes), dtype=np.bool_)
    frontier = np.unique(changed)
    reached[frontier] = True
    result: list[Affected] = []
    depth = 0
    while len(frontier) and (max_depth is None or depth < max_depth):
        depth += 1
        origin = find_overridden(graph, frontier.tolist(), min_confidence)
        through = graph.edges_into(np.array(sorted(origin), dtype=np.int64))
        through = through[np.isin(edges.kinds[through], DISPATCHED)]
        direct = graph.edges_into(frontier)
        direct, through = direct[usable[direct]], through[usable[through]]
        implicit = find_implicit_uses(graph, frontier.tolist(), min_confidence, is_chained=True)
        numbers = np.concatenate([direct, through, np.array([use.number for use in implicit], dtype=np.int64)])
        precedence = np.array(
            [_DIRECT] * len(direct)
            + [_OVERRIDDEN] * len(through)
            + [_CONSTRUCTOR if use.is_call else _SPECIAL for use in implicit]
        )
        confidences = edges.confidences[numbers]
        confidences[len(numbers) - len(implicit) :] = [use.confidence for use in implicit]
        order = np.lexsort((numbers, -confidences, precedence, edges.sources[numbers]))
        order = order[~reached[edges.sources[numbers[order]]]]
        frontier, first = np.unique(edges.sources[numbers[order]], return_index=True)
        reached[frontier] = True
        for node, at in zip(frontier.tolist(), order[first].tolist(), strict=True):
            edge, by, runs = graph.edge(int(numbers[at])), "", ""
            if precedence[at] == _OVERRIDDEN:
                by = graph.nodes.ids[origin[int(edges.targets[numbers[at]])]]
            elif precedence[at] != _DIRECT:
                use = implicit[at - (len(numbers) - len(implicit))]
                edge, runs = edge_of(graph, use), graph.nodes.ids[use.method]
            role = Role(int(graph.nodes.roles[node])).label
            layer, tier = graph.layer(node), graph.tier(node)
            result.append(Affected(graph.nodes.ids[node], depth, edge, role, by, layer, tier, runs))
    users = {graph.nodes.ids.position(each.node): each for each in result}
    chains = _find_chains(graph, changed, users, min_confidence, sites)
    chances = chains.probabilities
    return tuple(each._replace(probability=chances.get(node, 0.0)) for node, each in users.items()), chains


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
    for each in (each for found in affected for each in found):
        none[each.node] = none.get(each.node, 1.0) * (1.0 - each.probability)
        known = best.get(each.node)
        if known is None or (each.depth, -each.probability) < (known.depth, -known.probability):
            best[each.node] = each
    united = (each._replace(probability=1.0 - none[node]) for node, each in best.items() if node not in own)
    return tuple(sorted(united, key=lambda each: (each.depth, each.node)))


def find_nodes_of_rows(graph: CodeGraph, rows: Mapping[str, Sequence[tuple[int, int]]]) -> NDArray[np.int64]:
    """Return the innermost nodes of the given (first, last) 0-based rows of files, and their overloads, ascending.

    Rows in no definition or section belong to the file. Paths that are not in the graph are skipped.
    """
    nodes = graph.nodes
    found: set[int] = set()
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
            found.update(owner[first : last + 1].tolist())
    found.update([other for node in sorted(found) for other in graph.namesakes(node)])
    return np.array(sorted(found), dtype=np.int64)


def find_tests_reaching(
    graph: CodeGraph,
    changed: NDArray[np.int64],
    *,
    max_depth: int | None,
    min_confidence: float,
    lexical: LexicalIndex | None = None,
    read_text: Callable[[str], str] | None = None,
) -> tuple[Affected, ...]:
    """Return the tests that may run one of `changed`, the most probable first, then by depth and id.

    With `lexical`, probabilities know of the words of a test, too, and with `read_text`, which returns the text of a
    path, of the branches around calls. The edge of one that tests a changed node itself is
    that edge `tests`, if there is one. Raises UsageError for a depth below 1.
    """
    limits = {"max_depth": max_depth, "min_confidence": min_confidence}
    is_test = mark_tests(graph)
    found = find_users_and_tests(graph, changed, is_test, lexical=lexical, read_text=read_text, **limits)  # type: ignore[arg-type]
    return found[1]


def find_users_and_tests(
    graph: CodeGraph,
    changed: NDArray[np.int64],
    is_test: NDArray[np.bool_],
    *,
    max_depth: int | None,
    min_confidence: float,
    lexical: LexicalIndex | None = None,
    read_text: Callable[[str], str] | None = None,
) -> tuple[tuple[Affected, ...], tuple[Affected, ...]]:
    """Return (`find_affected_nodes`, `find_tests_reaching`) by one search; `is_test` is that of `mark_tests`."""
    sites = CallSites(graph, read_text) if read_text is not None else None
    is_known = lexical is not None and read_text is not None
    texts = TestTexts(graph, is_test, lexical, read_text) if is_known else None  # type: ignore[arg-type]
    affected, chains = _find_affected(graph, changed, max_depth, min_confidence, sites)
    found = _find_tests(graph, changed, affected, is_test, max_depth, min_confidence, texts)
    if lexical is not None and found:
        makers = _probabilities_of_makers(graph, found, chains, is_test, min_confidence, sites)
        found = _weigh(graph, changed, found, makers, lexical, texts)
    return affected, tuple(sorted(found.values(), key=lambda each: (-each.probability, each.depth, each.node)))


def count_probable_tests(tests: Sequence[Affected]) -> int:
    """Return the number of tests, the most probable first, with odds of at least `PROBABLE_SHARE` of the first."""
    chances = [min(each.probability, 1.0 - _LEAST_ODDS) for each in tests]
    least = PROBABLE_SHARE * chances[0] / (1.0 - chances[0]) if chances else 0.0
    return sum(chance / (1.0 - chance) >= least for chance in chances)


def _find_tests(
    graph: CodeGraph,
    changed: NDArray[np.int64],
    affected: Sequence[Affected],
    is_test: NDArray[np.bool_],
    max_depth: int | None,
    min_confidence: float,
    texts: TestTexts | None = None,
) -> dict[int, Affected]:
    """Return the tests among and around the `affected` of `changed`, with probabilities by uses alone.

    With `texts`, tests whose text names one of them count, too. A file or class of tests is left out if a test in it is
    found.
    """
    edges, ids = graph.edges, graph.nodes.ids
    says = (edges.kinds == EdgeKind.TESTS) & (edges.confidences >= min_confidence)
    into = graph.edges_into(changed)
    direct: dict[str, int] = {}
    for number in sorted(into[says[into]].tolist(), key=lambda e: (-edges.confidences[e], e)):
        direct.setdefault(ids[int(edges.sources[number])], number)
    found: dict[int, Affected] = {}
    for each in affected:
        node = ids.position(each.node)
        if each.node in direct:
            edge = graph.edge(direct[each.node])
            chance = max(each.probability, edge.confidence * _DIRECT_SHARE)
            found[node] = each._replace(edge=edge, overridden_by="", runs="", probability=chance)
        elif is_test[node]:
            found[node] = each
    run_by_runners = _TestGroups(graph, is_test)
    for each in sorted(affected, key=lambda each: (-each.probability, each.depth, each.node)):
        if max_depth is not None and each.depth >= max_depth:
            continue
        for test, share in run_by_runners.tests_of(ids.position(each.node)):
            known = found.get(test)
            chance = each.probability * share
            if known is not None:
                chance = 1.0 - (1.0 - known.probability) * (1.0 - chance)
                found[test] = known._replace(probability=chance)
            elif chance >= _LEAST_PROBABILITY:
                role, layer, tier = Role(int(graph.nodes.roles[test])).label, graph.layer(test), graph.tier(test)
                found[test] = Affected(
                    ids[test], each.depth + 1, each.edge, role, "", layer, tier, "", chance, each.node
                )
    if texts is not None and min_confidence <= _NAMED_PROBABILITY:
        _add_naming(graph, _outermost(graph, _subjects(graph, changed)), texts, found)
    around = {int(graph.nodes.parents[test]) for test in found}
    while more := {int(graph.nodes.parents[each]) for each in around if each >= 0} - around:
        around |= more
    runs = frozenset((*CALLABLE_KINDS, NodeKind.HANDLER))
    return {node: each for node, each in found.items() if node not in around or graph.kind(node) in runs}


def _subjects(graph: CodeGraph, changed: NDArray[np.int64]) -> list[int]:
    """Return those that changed whose names say something of tests: code if there is some, none of too many."""
    is_code = graph.nodes.roles[changed] != Role.TEST
    subjects: list[int] = (changed[is_code] if is_code.any() else changed).tolist()
    return subjects if len(subjects) <= _MAX_SUBJECTS else []


def _outermost(graph: CodeGraph, nodes: Sequence[int]) -> list[int]:
    return [node for node in nodes if int(graph.nodes.parents[node]) not in nodes]


def _add_naming(graph: CodeGraph, subjects: Sequence[int], texts: TestTexts, found: dict[int, Affected]) -> None:
    """Add the tests whose text names one of `subjects`, and which no chain of uses leads to."""
    nodes = graph.nodes
    for subject in subjects:
        for test in texts.find_naming(subject):
            if test in found or test == subject:
                continue
            row = int(nodes.start_rows[test]) + 1
            edge = Edge(nodes.ids[test], nodes.ids[subject], EdgeKind.TESTS.label, NAMED, _NAMED_PROBABILITY, row, 1)
            role, layer, tier = Role(int(nodes.roles[test])).label, graph.layer(test), graph.tier(test)
            found[test] = Affected(nodes.ids[test], 1, edge, role, "", layer, tier, "", _NAMED_PROBABILITY)


def _probabilities_of_makers(
    graph: CodeGraph,
    tests: Mapping[int, Affected],
    chains: "_Chains",
    is_test: NDArray[np.bool_],
    min_confidence: float,
    sites: CallSites | None,
) -> dict[int, float]:
    """Return the probability that a test makes an object of the class to which its way is dispatched.

    A call of a method that others override runs the one of the object's class: no test runs it that has no such object.
    Tests with another way are left out, and those of classes that no function is known to make, or code outside of
    functions makes.
    """
    ids, by_class, result = graph.nodes.ids, dict[int, dict[int, Affected] | None](), dict[int, float]()
    for node, each in tests.items():
        method = chains.dispatched_to(ids.position(each.run_with) if each.run_with else node)
        owner = int(graph.nodes.parents[method]) if method >= 0 else -1
        if owner < 0 or graph.kind(owner) not in TYPE_KINDS:
            continue
        if owner not in by_class:
            types = _with_derived(graph, owner)
            by_class[owner] = None
            if _is_made_in_functions(graph, types):
                users = _find_affected(graph, types, None, min_confidence, sites)[0]
                by_class[owner] = _find_tests(graph, types, users, is_test, None, min_confidence)
        makers = by_class[owner]
        if makers is not None:
            result[node] = makers[node].probability if node in makers else 0.0
    return result


def _with_derived(graph: CodeGraph, owner: int) -> NDArray[np.int64]:
    """Return a type and those that derive from it, ascending."""
    found, level = {owner}, [owner]
    while level and len(found) < _MAX_TYPES:
        numbers = graph.edges_into(np.array(level, dtype=np.int64))
        deriving = np.isin(graph.edges.kinds[numbers], (EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS))
        level = sorted(set(graph.edges.sources[numbers[deriving]].tolist()) - found)
        found.update(level)
    return np.array(sorted(found), dtype=np.int64)


def _is_made_in_functions(graph: CodeGraph, types: NDArray[np.int64]) -> bool:
    """Return True if something uses one of the types, and nothing that runs as code is loaded."""
    edges, nodes = graph.edges, graph.nodes
    numbers = graph.edges_into(types)
    users = edges.sources[numbers[np.isin(edges.kinds[numbers], DISPATCHED)]]
    is_inside = np.isin(nodes.kinds[users], sorted(CALLABLE_KINDS)) | (nodes.roles[users] == Role.TEST)
    return bool(len(users) and is_inside.all())


def _weigh(
    graph: CodeGraph,
    changed: NDArray[np.int64],
    tests: Mapping[int, Affected],
    makers: Mapping[int, float],
    lexical: LexicalIndex,
    texts: TestTexts | None,
) -> dict[int, Affected]:
    """Return the tests with probabilities by uses, makers, words and code of special methods.

    A test of a node mostly has the words of its name. Names of tests that changed beside code say nothing of others.
    """
    ids, shared = graph.nodes.ids, np.zeros(len(graph.nodes))
    subjects = _subjects(graph, changed)
    for node in subjects:
        path, symbol = split_id(ids[node])
        name = symbol or path.rpartition("/")[2].partition(".")[0]
        shared = np.maximum(shared, rarity_of_shared_words(name, lexical, len(graph.nodes)))
    most = max(float(shared[node]) for node in tests)
    weights = TEST_WEIGHTS
    outer = _outermost(graph, subjects)
    found: dict[int, Affected] = {}
    for node, each in tests.items():
        chance = min(max(each.probability, _LEAST_ODDS), 1.0 - _LEAST_PROBABILITY)
        way = log(chance / (1.0 - chance))
        maker = log(max(makers.get(node, 1.0), _LEAST_PROBABILITY))
        words = float(shared[node]) - most
        score = weights.bias + weights.way * way + weights.words * words + weights.maker * maker
        if texts is not None and each.edge.rule == NAMED:
            n_alike = texts.count_named(ids.position(each.edge.target))
            score += weights.named + weights.alike * log(n_alike + 1)
        runs = texts.runs_operator(node, outer[0]) if texts is not None and len(outer) == 1 else None
        if runs is not None:
            score += weights.runs if runs else weights.lacks
        odds = exp(score)
        found[node] = each._replace(probability=odds / (1.0 + odds))
    return found


class _Groups:
    """Nodes by the node around them, each group ascending."""

    def __init__(self, nodes: NDArray[np.int64], around: NDArray[np.int32]) -> None:
        order = np.argsort(around[nodes], kind="stable")
        self._nodes = nodes[order]
        self._around = around[self._nodes]

    def of(self, node: int) -> list[int]:
        """Return the nodes of a group."""
        first, last = np.searchsorted(self._around, (node, node + 1)).tolist()
        return [int(each) for each in self._nodes[first:last]]


class _TestGroups:
    """Tests that a runner runs together with what prepares or holds them, which no edge says."""

    def __init__(self, graph: CodeGraph, is_test: NDArray[np.bool_]) -> None:
        self._graph = graph
        self._is_test = is_test
        nodes = graph.nodes
        of_tests = np.flatnonzero(nodes.roles == Role.TEST)
        self._members = _Groups(of_tests, nodes.parents)  # type or handler -> what stands in it
        self._in_files = _Groups(of_tests[is_test[of_tests]], nodes.files)  # file -> its tests

    def tests_of(self, node: int) -> Iterator[tuple[int, float]]:
        """Yield each test that runs with `node`, with the share of such tests that run what `node` runs."""
        nodes = self._graph.nodes
        kind = NodeKind(int(nodes.kinds[node]))
        if nodes.roles[node] != Role.TEST or (self._is_test[node] and kind in CALLABLE_KINDS):
            return
        if kind == NodeKind.HANDLER:
            yield from ((test, GROUP_SHARE) for test in self._tests_in(node))
        elif kind in TYPE_KINDS:
            yield from ((test, CLASS_SHARE) for test in self._tests_run_on(node))
        elif kind in CALLABLE_KINDS and _SETUP.match((split_id(nodes.ids[node])[1] or "").rpartition(".")[2]):
            owner = int(nodes.parents[node])
            if owner >= 0 and nodes.kinds[owner] in TYPE_KINDS:
                heirs = dict.fromkeys([owner, *self._heirs(owner)])
                tests = dict.fromkeys(test for heir in heirs for test in self._tests_run_on(heir))
                yield from ((test, SETUP_SHARE) for test in tests)
        elif kind == NodeKind.FILE:
            yield from ((test, FILE_SHARE) for test in self._in_files.of(node))

    def _tests_in(self, node: int) -> Iterator[int]:
        for each in self._members.of(node):
            if self._is_test[each]:
                yield each
            elif self._graph.nodes.kinds[each] == NodeKind.HANDLER:
                yield from self._tests_in(each)

    def _tests_run_on(self, owner: int) -> Iterator[int]:
        """Yield the tests of a type, its own and those that it inherits."""
        for each in (owner, *self._along(owner, is_up=True)):
            yield from (member for member in self._members.of(each) if self._is_test[member])

    def _heirs(self, owner: int) -> list[int]:
        return self._along(owner, is_up=False)

    def _along(self, owner: int, *, is_up: bool) -> list[int]:
        """Return the types of tests above or below a type."""
        graph, found, waiting = self._graph, dict[int, None](), [owner]
        while waiting and len(found) < _MAX_TYPES:
            each = waiting.pop()
            numbers = graph.outgoing(each) if is_up else graph.edges_into(np.array([each])).tolist()
            for number in numbers:
                other = int(graph.edges.targets[number] if is_up else graph.edges.sources[number])
                is_new = other not in found and other != owner and graph.nodes.roles[other] == Role.TEST
                if is_new and graph.edges.kinds[number] in (EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS):
                    found[other] = None
                    waiting.append(other)
        return list(found)


def mark_tests(graph: CodeGraph) -> NDArray[np.bool_]:
    """Return the mask of tests, of shape (n_nodes,): what a runner of tests runs by itself.

    These are the sources of edges `tests`, functions of files of tests whose names say so, and handlers that are given
    to a function that declares a test: `it("…")`. Where a mark makes a method a test, those of types of tests that
    nothing calls count, too. A function inside of another is none: that one runs it.
    """
    edges, nodes = graph.edges, graph.nodes
    found = np.zeros(len(nodes), dtype=np.bool_)
    found[edges.sources[edges.kinds == EdgeKind.TESTS]] = True
    callables = np.isin(nodes.kinds, sorted(CALLABLE_KINDS)) & (nodes.roles == Role.TEST)
    is_handler = callables & ~found & (nodes.kinds == NodeKind.HANDLER)
    every, by_file = load_settings(), dict[int, "LanguageSettings | None"]()
    for file, path in _paths_of(graph, callables & ~found):
        by_file[file] = every.get(dialect_of(path))
    beginnings = _beginnings_of_tests(graph, found & callables)
    _mark_handlers(graph, is_handler, by_file, found)
    candidates = np.flatnonzero(callables & ~found & ~is_handler)
    rows = zip(candidates.tolist(), nodes.files[candidates].tolist(), nodes.ids.some(candidates), strict=True)
    for node, file, node_id in rows:
        settings, name = by_file[file], (node_id.partition("::")[2]).rpartition(".")[2]
        if settings is None or not name:
            continue
        if settings.tests.functions and re.fullmatch(settings.tests.functions, name):
            found[node] = True
        elif settings.tests.fixtures and beginnings:
            found[node] = name.partition("_")[0] in beginnings
        else:
            found[node] = bool(settings.tests.marks) and _is_run_by_runner(graph, node, name)
    runs = (NodeKind.FUNCTION, NodeKind.METHOD)
    is_inside = (nodes.parents >= 0) & np.isin(nodes.kinds[nodes.parents], runs)
    return found & ~(is_inside & np.isin(nodes.kinds, runs))


def _paths_of(graph: CodeGraph, mask: NDArray[np.bool_]) -> Iterator[tuple[int, str]]:
    """Yield (node, path) of the files of the nodes in a mask."""
    files = np.unique(graph.nodes.files[mask]).astype(np.int64)
    files = files[files >= 0]
    yield from zip(files.tolist(), (split_id(each)[0] for each in graph.nodes.ids.some(files)), strict=True)


def _mark_handlers(
    graph: CodeGraph,
    is_handler: NDArray[np.bool_],
    by_file: "Mapping[int, LanguageSettings | None]",
    found: NDArray[np.bool_],
) -> None:
    """Mark the handlers in a mask whose last name begins with a word for tests: `it returns nothing`.

    All are compared at once, because files of tests have more of them than of anything else.
    """
    nodes = graph.nodes
    handlers = np.flatnonzero(is_handler)
    if not len(handlers):
        return
    blob, offsets = nodes.ids.blob, nodes.ids.offsets
    files = nodes.files[handlers].astype(np.int64)
    ends = offsets[handlers + 1]
    symbols = offsets[handlers] + (offsets[files + 1] - offsets[files]) + len("::")
    dots = np.append(np.flatnonzero(blob == ord(".")), -1)
    starts = np.maximum(dots[np.searchsorted(dots[:-1], ends) - 1] + 1, symbols)
    words = {file: frozenset(s.handlers.tests) if s else frozenset() for file, s in by_file.items()}
    for word in sorted({word for each in words.values() for word in each}):
        has = np.array(sorted(file for file, each in words.items() if word in each), dtype=np.int64)
        encoded = np.frombuffer(word.encode(), dtype=np.uint8)
        after = starts + len(encoded)
        matches = np.isin(files, has) & (after <= ends)
        for i, letter in enumerate(encoded.tolist()):
            matches[matches] = blob[starts[matches] + i] == letter
        matches[matches] = (after[matches] == ends[matches]) | (
            blob[np.minimum(after[matches], len(blob) - 1)] == ord(" ")
        )
        found[handlers[matches]] = True


def _beginnings_of_tests(graph: CodeGraph, tests: NDArray[np.bool_]) -> frozenset[str]:
    """Return the first words of names of known tests that have them by settings of the runner: `it` of `it_opens`."""
    found: set[str] = set()
    for node in np.flatnonzero(tests).tolist():
        path, symbol = split_id(graph.nodes.ids[node])
        settings = load_settings().get(dialect_of(path))
        word, underscore, _ = (symbol or "").rpartition(".")[2].partition("_")
        if settings is None or not settings.tests.fixtures or not word or not underscore:
            continue
        if not re.fullmatch(settings.tests.functions, f"{word}_"):
            found.add(word)
    return frozenset(found)


def _is_run_by_runner(graph: CodeGraph, node: int, name: str) -> bool:
    """Return True for a method of a type of tests that nothing calls: the graph does not have the mark of a test.

    What is static and returns something gives tests their data.
    """
    nodes, edges = graph.nodes, graph.edges
    if _PROVIDER.search(nodes.signatures[node]):
        return False
    owner = int(nodes.parents[node])
    if nodes.kinds[node] != NodeKind.METHOD or owner < 0 or nodes.kinds[owner] not in TYPE_KINDS or _SETUP.match(name):
        return False
    into = graph.edges_into(np.array([node]))
    is_special = class_of_constructor(graph, node) >= 0 or bool(np.any(edges.kinds[into] == EdgeKind.CALLS))
    return not is_special and not any(edges.kinds[e] == EdgeKind.OVERRIDES for e in graph.outgoing(node))


class _Chains(NamedTuple):
    """The probability that each node runs one that changed, and the next node on its most probable chain of uses.

    `dispatched` are the nodes whose use of the next one is a call of what that overrides.
    """

    probabilities: dict[int, float]
    nearer: dict[int, int]
    dispatched: set[int]

    def dispatched_to(self, node: int) -> int:
        """Return the last node on the chain that a call of another one runs; -1 if there is none."""
        method, seen = -1, set[int]()
        while node in self.nearer and node not in seen:
            seen.add(node)
            method = self.nearer[node] if node in self.dispatched else method
            node = self.nearer[node]
        return method


def _find_chains(
    graph: CodeGraph,
    changed: NDArray[np.int64],
    users: Collection[int],
    min_confidence: float,
    sites: CallSites | None,
) -> _Chains:
    """Return the chains of uses by which `users` run one of `changed`.

    The probability is the product along the most probable chain of uses, of which each counts its confidence and the
    share of such uses that run (`RUN_SHARES`). Further uses by the same node count as if they were independent, also
    those that lead back to it, so that recursion raises the number a little.
    """
    best = dict.fromkeys(np.unique(changed).tolist(), 1.0)
    done: set[int] = set()
    waiting = [(-1.0, node) for node in best]
    shares: dict[int, list[float]] = {}
    nearer: dict[int, int] = {}
    dispatched: set[int] = set()
    while waiting:
        chance, node = heappop(waiting)
        if node in done:
            continue
        done.add(node)
        for source, share, is_dispatched in _users_of(graph, node, min_confidence, sites):
            if source in users:
                shares.setdefault(source, []).append(-chance * share)
                if -chance * share > max(best.get(source, 0.0), _LEAST_PROBABILITY):
                    best[source] = -chance * share
                    nearer[source] = node
                    (dispatched.add if is_dispatched else dispatched.discard)(source)
                    heappush(waiting, (chance * share, source))
    probabilities = {node: 1.0 - prod(1.0 - share for share in of_node) for node, of_node in shares.items()}
    return _Chains(probabilities, nearer, dispatched)


def _users_of(
    graph: CodeGraph, node: int, min_confidence: float, sites: CallSites | None
) -> Iterator[tuple[int, float, bool]]:
    """Yield the users of a node with the probability that they run it when they run, and if they call another one."""
    edges, roles = graph.edges, graph.nodes.roles
    for number in graph.edges_into(np.array([node])).tolist():
        source, kind = int(edges.sources[number]), EdgeKind(int(edges.kinds[number]))
        is_test_call = kind == EdgeKind.CALLS and roles[source] == Role.TEST
        share = CALLS_OF_TESTS_SHARE if is_test_call else RUN_SHARES.get(kind, 0.0)
        confidence = float(edges.confidences[number])
        if kind == EdgeKind.CALLS and not is_test_call and sites is not None:
            share = sites.share(number)
        if source == graph.nodes.parents[node] and graph.kind(source) in TYPE_KINDS:
            share = min(share, OWN_MEMBER_SHARE)
        if share and confidence >= min_confidence:
            yield source, share * confidence, False
    for base in find_overridden(graph, [node], min_confidence):
        numbers = graph.edges_into(np.array([base]))
        n_overriding = int(np.count_nonzero(edges.kinds[numbers] == EdgeKind.OVERRIDES))
        owner = int(graph.nodes.parents[base])
        # What has no body of its own runs its only implementation.
        is_sole = n_overriding == 1 and owner >= 0 and graph.nodes.kinds[owner] == NodeKind.INTERFACE
        share = RUN_SHARES[EdgeKind.CALLS] if is_sole else DISPATCHED_SHARE
        for number in numbers.tolist():
            if edges.kinds[number] in DISPATCHED:
                chance = share * float(edges.confidences[number])
                if sites is not None and roles[edges.sources[number]] != Role.TEST:
                    chance *= sites.share(number) / UNKNOWN_SHARE
                yield int(edges.sources[number]), min(chance, 1.0), not is_sole
    for use in find_implicit_uses(graph, [node], min_confidence, is_chained=True):
        source = int(edges.sources[use.number])
        is_test = roles[source] == Role.TEST
        share = RUN_SHARES[EdgeKind.CALLS] if sites is None else sites.share(use.number)
        yield source, use.confidence * (CALLS_OF_TESTS_SHARE if is_test else share), False
