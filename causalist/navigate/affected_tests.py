"""Tests that may run a node, by probability: what uses it, what their text names, and what runs with them.

In: a `CodeGraph`, nodes, the lexical index and the text of files. Out: tests with probabilities, and which nodes are
tests.

A call whose receiver has no known type may run any method of its name. Edges that say so are left out where many
methods share the name, and of a test it is not asked that the way is certain: that its text names a function, or has
the operator by which a special method runs, is evidence, too.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from math import exp, log, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import unique_sorted
from causalist._internal.lazy import lazy_regex
from causalist.model.graph import CodeGraph, Edge, EdgeKind
from causalist.model.index import LexicalIndex
from causalist.model.lookup import Affected
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind, Role, last_name, split_id
from causalist.navigate.edges import DISPATCHED, find_callers_of_others
from causalist.navigate.impact import (
    MIN_PROBABILITY,
    CallSites,
    Chains,
    NodeUses,
    find_affected_with_chains,
    find_depths_with_chains,
)
from causalist.navigate.implicit_calls import RUN_BY_CODE, class_of_constructor
from causalist.navigate.marked_tests import SETUP, mark_tests, paths_of
from causalist.parse import dialect_of, load_settings
from causalist.rank import find_nodes_with_words, rarity_of_shared_words

_DIRECT_SHARE = 0.9  # of what an edge `tests` says
# The share of tests that run what prepares or holds them: a set-up method, a group with what runs before each of its
# tests, a class of tests whose attributes name something, and the code of a file outside of all tests.
SETUP_SHARE = 0.95
SHARED_SHARE = 0.3  # of what runs once for many tests, for the first one that needs it
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
    `size` is that of the logarithm of the bytes of the test, of which `TYPICAL_SIZE` say nothing: a long one runs more.
    """

    bias: float
    way: float
    words: float
    maker: float
    named: float
    alike: float
    runs: float
    lacks: float
    size: float


# Fitted on 21 suites, see docs/benchmarks.md; `size` on 17 later.
TEST_WEIGHTS = TestWeights(
    bias=0.77, way=0.571, words=0.114, maker=0.491, named=2.073, alike=-1.069, runs=1.585, lacks=-0.615, size=0.07
)
TYPICAL_SIZE = 400
NAMED = "named-in-text"  # in place of a rule
_FIXTURE = lazy_regex(r"\bfixture\b")  # in the decorators of a function that prepares tests
_SHARED = lazy_regex(r"\bscope\s*=\s*[\"'](?:class|module|package|session)[\"']")
_AUTOMATIC = lazy_regex(r"\bautouse\s*=\s*True\b")
_ASKED = lazy_regex(r"\busefixtures\(([^)]*)\)")
_QUOTED = lazy_regex(r"[\"']([^\"']*)[\"']")
_NAMED_PROBABILITY = 0.018  # of a test by uses, if only its text names what it runs
# Of a test whose text names a function that runs the node, if no other function has that name. Chosen on twelve suites.
NEAR_SHARE = 0.16
_NEAR_PROBABILITY = 0.03  # of such a function
_MAX_ALIKE = 12  # functions of one name; of more, the name says nothing of one
_MAX_NAMED = 4  # such functions that count for a test
# What a list gains by its precision, in terms of its recall. Chosen on 14 suites, see docs/benchmarks.md.
PRECISION_WEIGHT = 1.8
_MAX_SUBJECTS = 40  # nodes whose names are looked for; of more, some name is in any test
_MAX_TYPES = 200  # above or below one type of tests
_MIN_ODDS = 1e-4


_RUNS = (*sorted(CALLABLE_KINDS), NodeKind.HANDLER)
_MAX_NAMING = 2000  # tests with the words of a name; of more, the name says nothing
_PRIVATE = lazy_regex(r"(?:(?:static|final|abstract|async|override|suspend|inline)\s+)*private\s")
_SPECIAL = lazy_regex(r"__\w+__")


class TestTexts:
    """Texts of the tests of a graph, of which `is_test` is the mask. `sites` has the lines of files."""

    def __init__(self, graph: CodeGraph, is_test: NDArray[np.bool_], lexical: LexicalIndex, sites: CallSites) -> None:
        self._graph = graph
        self._is_test = is_test
        self._lexical = lexical
        self._sites = sites
        self._families: dict[int, str] = {}  # by file
        self._names: dict[int, str] = {}
        self._naming: dict[tuple[str, str], list[int]] = {}  # by name and languages: many functions share these
        self._alike: dict[str, NDArray[np.int64]] = {}

    def find_naming(self, node: int) -> list[int]:
        """Return the tests, ascending, whose text has the last name of a function as a word of its own.

        A constructor has the name of its class. Other special methods have none, and names that very many tests have
        the words of say nothing, nor do tests in a language that is not used together with that of the function. Of a
        private function they name another one, and so do those that surely call another one of that name. In Go, a
        name with a small letter is that of something else in other folders. Methods that a framework calls are not
        called by their names.
        """
        name, signature = self.name_of(node), self._graph.nodes.signatures[node]
        if not name.isidentifier() or _SPECIAL.fullmatch(name) or self._graph.kind(node) not in CALLABLE_KINDS:
            return []
        if _PRIVATE.match(signature) and class_of_constructor(self._graph, node) < 0:
            return []
        family = self._family_of(node)
        if self._is_called_by_framework(node):
            return []
        if (name, family) not in self._naming:
            nodes = find_nodes_with_words(name, self._lexical)
            nodes = nodes[self._is_test[nodes] & np.isin(self._graph.nodes.kinds[nodes], _RUNS)]
            pattern = re.compile(rf"\b{re.escape(name)}\b")
            tests = nodes.tolist() if len(nodes) <= _MAX_NAMING else []
            self._naming[name, family] = [
                test for test in tests if self._family_of(test) == family and pattern.search(self._text(test))
            ]
        others = find_callers_of_others(self._graph, node, self._find_alike(name))
        path = split_id(self._graph.nodes.ids[node])[0]
        folder = path.rpartition("/")[0] if path.endswith(".go") and not name[0].isupper() else None
        return [
            test
            for test in self._naming[name, family]
            if test not in others and folder in (None, split_id(self._graph.nodes.ids[test])[0].rpartition("/")[0])
        ]

    def _is_called_by_framework(self, node: int) -> bool:
        owner = int(self._graph.nodes.parents[node])
        settings = load_settings().get(dialect_of(split_id(self._graph.nodes.ids[node])[0]))
        if owner < 0 or settings is None or self._graph.kind(owner) not in TYPE_KINDS:
            return False
        return any(fnmatchcase(last_name(self._graph.nodes.ids[owner]), each) for each in settings.handlers.types)

    def count_named(self, node: int) -> int:
        """Return the number of functions outside of tests that have the last name of one of them, at least 1."""
        alike = self._find_alike(self.name_of(node))
        return max(int((self._graph.nodes.roles[alike] != Role.TEST).sum()), 1)

    def _find_alike(self, name: str) -> NDArray[np.int64]:
        """Return the functions that have this last name."""
        position = self._lexical.names.position(name.lower())
        if name not in self._alike:
            first, last = self._lexical.name_indptr[position : position + 2].tolist() if position >= 0 else (0, 0)
            nodes = self._lexical.name_nodes[first:last].tolist()
            kinds = self._graph.nodes.kinds
            functions = [each for each in nodes if kinds[each] in CALLABLE_KINDS and self.name_of(each) == name]
            self._alike[name] = np.array(functions, dtype=np.int64)
        return self._alike[name]

    def name_of(self, node: int) -> str:
        """Return the last name of a function; of a constructor that of its class."""
        if node not in self._names:
            owner = class_of_constructor(self._graph, node)
            self._names[node] = last_name(self._graph.nodes.ids[owner if owner >= 0 else node])
        return self._names[node]

    def runs_operator(self, test: int, node: int) -> bool | None:
        """Return True if a test has code that runs such a special method; None if the node is none with such code."""
        written = RUN_BY_CODE.get(self.name_of(node))
        return None if written is None else re.search(written, self._text(test), re.MULTILINE) is not None

    def head(self, node: int) -> str:
        """Return the decorators of a definition."""
        return re.split(r"(?m)^\s*(?:async\s+)?(?:def|class)\b", self._text(node), maxsplit=1)[0]

    def find_asking(self, name: str) -> list[int]:
        """Return the tests, types and files of tests, ascending, that ask for a fixture by its name in a string."""
        nodes = self._graph.nodes
        found = find_nodes_with_words("usefixtures", self._lexical)
        kinds = [*_RUNS, *sorted(TYPE_KINDS), NodeKind.FILE]
        found = found[(nodes.roles[found] == Role.TEST) & np.isin(nodes.kinds[found], kinds)]
        asking = []
        for node in found.tolist():
            is_file = nodes.kinds[node] == NodeKind.FILE
            text = "\n".join(re.findall(r"(?m)^pytestmark\b.*", self._text(node))) if is_file else self.head(node)
            if any(name in _QUOTED.findall(each) for each in _ASKED.findall(text)):
                asking.append(node)
        return asking

    def _text(self, node: int) -> str:
        nodes = self._graph.nodes
        return "\n".join(self._sites.lines_around(node)[int(nodes.start_rows[node]) : int(nodes.end_rows[node]) + 1])

    def _family_of(self, node: int) -> str:
        """Return the languages that are used together with that of the node, "" for a node of none."""
        file = int(self._graph.nodes.files[node])
        if file not in self._families:
            settings = load_settings().get(dialect_of(split_id(self._graph.nodes.ids[node])[0]))
            self._families[file] = settings.family if settings is not None else ""
        return self._families[file]


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
    users_and_tests = find_users_and_tests(graph, changed, is_test, lexical=lexical, read_text=read_text, **limits)  # type: ignore[arg-type]
    return users_and_tests[1]


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
    texts = TestTexts(graph, is_test, lexical, sites) if lexical is not None and sites is not None else None
    uses, groups = NodeUses(graph, min_confidence, sites), _TestGroups(graph, is_test)
    affected, chains = find_affected_with_chains(graph, changed, max_depth, min_confidence, sites, uses)
    by_node = _with_samples(affected, chains)
    tests = _find_tests(graph, changed, by_node, groups, max_depth, min_confidence, texts)
    if lexical is not None and tests:
        makers = _probabilities_of_makers(graph, tests, chains, groups, uses)
        tests = _weigh(graph, changed, tests, makers, lexical, texts)
    return affected, tuple(sorted(tests.values(), key=lambda each: (-each.probability, each.depth, each.node)))


def _with_samples(affected: Sequence[Affected], chains: Chains) -> dict[int, Affected]:
    """Return the users by node, with the probabilities of all chains together."""
    sampled = chains.sample()
    users = zip(chains.users, affected, strict=True)
    return {node: each._replace(probability=sampled.get(node, each.probability)) for node, each in users}


def count_probable_tests(tests: Sequence[Affected]) -> int:
    """Return the number of tests, the most probable first, that the list of a function has.

    It is the one with the largest sum of the recall and `PRECISION_WEIGHT` times the precision that are expected of the
    list. Where the best tests are little sure, others that are hardly less so cost no precision; of equal sums the
    shortest list is taken.
    """
    chances = np.array([max(each.probability, _MIN_ODDS) for each in tests])
    if not len(chances):
        return 0
    expected = np.cumsum(chances)
    gains = expected / expected[-1] + PRECISION_WEIGHT * expected / np.arange(1, len(chances) + 1)
    return int(np.argmax(gains)) + 1


def _find_tests(
    graph: CodeGraph,
    changed: NDArray[np.int64],
    affected: Mapping[int, Affected],
    groups: "_TestGroups",
    max_depth: int | None,
    min_confidence: float,
    texts: TestTexts | None = None,
) -> dict[int, Affected]:
    """Return the tests among and around the `affected` of `changed`, by node, with probabilities by uses alone.

    With `texts`, tests whose text names one of them count, too. A file or class of tests is left out if a test in it is
    found.
    """
    chances = {node: each.probability for node, each in affected.items()}
    depths = {node: each.depth for node, each in affected.items()}
    found = _find_chances(graph, changed, chances, depths, groups, max_depth, min_confidence, texts)
    labels, test_by_node = {int(role): role.label for role in Role}, dict[int, Affected]()
    for test, chance in found.chances.items():
        each = affected.get(test)
        if test in found.direct:
            edge = graph.edge(found.direct[test])
            test_by_node[test] = affected[test]._replace(edge=edge, overridden_by="", runs="", probability=chance)
        elif each is not None:
            test_by_node[test] = each._replace(probability=chance)
        else:
            role, layer, tier = labels[int(graph.nodes.roles[test])], graph.layer(test), graph.tier(test)
            by = affected[found.runners[test]]
            test_by_node[test] = Affected(
                graph.nodes.ids[test], by.depth + 1, by.edge, role, "", layer, tier, "", chance, by.node
            )
    if texts is not None and min_confidence <= _NAMED_PROBABILITY:
        subjects = _outermost(graph, _subjects(graph, changed))
        if subjects:
            _add_naming_near(graph, affected, texts, groups.is_test, max_depth, test_by_node)
        _add_naming(graph, subjects, texts, test_by_node)
    return {node: test_by_node[node] for node in _without_holders(graph, list(test_by_node))}


class _Chances(NamedTuple):
    """The probability of tests; the edge `tests` of those that have one, and what runs with those that use nothing."""

    chances: dict[int, float]
    direct: dict[int, int]
    runners: dict[int, int]


def _find_chances(
    graph: CodeGraph,
    changed: NDArray[np.int64],
    chances: Mapping[int, float],
    depths: Mapping[int, int],
    groups: "_TestGroups",
    max_depth: int | None,
    min_confidence: float,
    texts: TestTexts | None = None,
) -> _Chances:
    """Return what uses alone say of the tests among and around users of `changed`."""
    edges, into = graph.edges, graph.edges_into(changed)
    into = into[(edges.kinds[into] == EdgeKind.TESTS) & (edges.confidences[into] >= min_confidence)]
    direct: dict[int, int] = {}
    for number in sorted(into.tolist(), key=lambda e: (-edges.confidences[e], e)):
        if int(edges.sources[number]) in chances:
            direct.setdefault(int(edges.sources[number]), number)
    of_tests, runners = dict[int, float](), dict[int, int]()
    for node, chance in chances.items():
        if node in direct:
            of_tests[node] = max(chance, float(edges.confidences[direct[node]]) * _DIRECT_SHARE)
        elif groups.is_test[node]:
            of_tests[node] = chance
    # Nodes ascend by their ids.
    for runner in sorted(filter(groups.may_run.__getitem__, chances), key=lambda n: (-chances[n], depths[n], n)):
        if max_depth is not None and depths[runner] >= max_depth:
            continue
        for test, share in groups.tests_of(runner, texts):
            chance = chances[runner] * share
            if test in of_tests:
                of_tests[test] = 1.0 - (1.0 - of_tests[test]) * (1.0 - chance)
            elif chance >= MIN_PROBABILITY:
                of_tests[test], runners[test] = chance, runner
    return _Chances(of_tests, direct, runners)


def _without_holders(graph: CodeGraph, tests: Sequence[int]) -> list[int]:
    """Return the tests without files and types that hold another one."""
    parents, around = graph.nodes.parents, set[int]()
    level = np.array(tests, dtype=np.int64)
    while len(level):
        level = unique_sorted(parents[level].astype(np.int64))
        level = np.array([each for each in level.tolist() if each >= 0 and each not in around], dtype=np.int64)
        around.update(level.tolist())
    return [test for test in tests if test not in around or graph.kind(test) in CALLABLE_KINDS]


def _subjects(graph: CodeGraph, changed: NDArray[np.int64]) -> list[int]:
    """Return those that changed whose names say something of tests: code if there is some, none of too many."""
    is_code = graph.nodes.roles[changed] != Role.TEST
    subjects: list[int] = (changed[is_code] if is_code.any() else changed).tolist()
    return subjects if len(subjects) <= _MAX_SUBJECTS else []


def _outermost(graph: CodeGraph, nodes: Sequence[int]) -> list[int]:
    return [node for node in nodes if int(graph.nodes.parents[node]) not in nodes]


def _add_naming(graph: CodeGraph, subjects: Sequence[int], texts: TestTexts, test_by_node: dict[int, Affected]) -> None:
    """Add the tests whose text names one of `subjects`, and which no chain of uses leads to."""
    nodes = graph.nodes
    for subject in subjects:
        for test in texts.find_naming(subject):
            if test in test_by_node or test == subject:
                continue
            row = int(nodes.start_rows[test]) + 1
            edge = Edge(nodes.ids[test], nodes.ids[subject], EdgeKind.TESTS.label, NAMED, _NAMED_PROBABILITY, row, 1)
            role, layer, tier = Role(int(nodes.roles[test])).label, graph.layer(test), graph.tier(test)
            test_by_node[test] = Affected(nodes.ids[test], 1, edge, role, "", layer, tier, "", _NAMED_PROBABILITY)


def _add_naming_near(
    graph: CodeGraph,
    affected: Mapping[int, Affected],
    texts: TestTexts,
    is_test: NDArray[np.bool_],
    max_depth: int | None,
    test_by_node: dict[int, Affected],
) -> None:
    """Count it for tests that their text names a function which runs a changed one.

    They may call it by a receiver of which nothing is known, so that no edge leads there. Only the most probable of
    these functions are looked for.
    """
    nodes = graph.nodes
    near = [
        (-each.probability, node)
        for node, each in affected.items()
        if each.probability >= _NEAR_PROBABILITY
        and nodes.roles[node] != Role.TEST
        and nodes.kinds[node] in CALLABLE_KINDS
        and (max_depth is None or each.depth < max_depth)
    ]
    named_by_test: dict[int, list[tuple[float, int]]] = {}
    for chance, node in sorted(near)[:_MAX_SUBJECTS]:
        n_alike = texts.count_named(node)
        if n_alike <= _MAX_ALIKE:
            users = set(graph.edges.sources[graph.edges_into(np.array([node]))].tolist())
            for test in (each for each in texts.find_naming(node) if each not in users):
                named_by_test.setdefault(test, []).append((-chance * NEAR_SHARE * 2 / (n_alike + 1), node))
    for test, chances in sorted(named_by_test.items()):
        best = chances[:_MAX_NAMED]
        chance = 1.0 - prod(1.0 - each for each, _ in best)
        earlier = test_by_node.get(test)
        if earlier is not None:
            chance = 1.0 - (1.0 - earlier.probability) * (1.0 - chance)
            test_by_node[test] = earlier._replace(probability=chance)
        elif chance > MIN_PROBABILITY / 10 and is_test[test]:
            node, row = best[0][1], int(nodes.start_rows[test]) + 1
            edge = Edge(nodes.ids[test], nodes.ids[node], EdgeKind.TESTS.label, NAMED, _NAMED_PROBABILITY, row, 1)
            role, layer, tier = Role(int(nodes.roles[test])).label, graph.layer(test), graph.tier(test)
            depth = affected[node].depth + 1
            test_by_node[test] = Affected(nodes.ids[test], depth, edge, role, "", layer, tier, "", chance)


def _probabilities_of_makers(
    graph: CodeGraph,
    tests: Mapping[int, Affected],
    chains: Chains,
    groups: "_TestGroups",
    uses: NodeUses,
) -> dict[int, float]:
    """Return the probability that a test makes an object of the class to which its way is dispatched.

    A call of a method that others override runs the one of the object's class: no test runs it that has no such object.
    Tests with another way are left out, and those of classes that no function is known to make, or code outside of
    functions makes.
    """
    ids, by_class, result = graph.nodes.ids, dict[int, dict[int, float] | None](), dict[int, float]()
    methods = dict[int | str, int]()
    for node, user in tests.items():
        runner = user.run_with or node
        if runner not in methods:
            methods[runner] = chains.dispatched_to(ids.position(user.run_with) if user.run_with else node)
        method = methods[runner]
        owner = int(graph.nodes.parents[method]) if method >= 0 else -1
        if owner < 0 or graph.kind(owner) not in TYPE_KINDS:
            continue
        if owner not in by_class:
            types = _with_derived(graph, owner)
            by_class[owner] = None
            if _is_made_in_functions(graph, types):
                depths, ways = find_depths_with_chains(uses, types)
                sampled = ways.sample()
                chances = {each: sampled.get(each, 0.0) for each in depths}
                found = _find_chances(graph, types, chances, depths, groups, None, uses.min_confidence).chances
                by_class[owner] = {each: found[each] for each in _without_holders(graph, list(found))}
        makers = by_class[owner]
        if makers is not None:
            result[node] = makers.get(node, 0.0)
    return result


def _with_derived(graph: CodeGraph, owner: int) -> NDArray[np.int64]:
    """Return a type and those that derive from it, ascending."""
    types, level = {owner}, [owner]
    while level and len(types) < _MAX_TYPES:
        numbers = graph.edges_into(np.array(level, dtype=np.int64))
        deriving = np.isin(graph.edges.kinds[numbers], (EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS))
        level = sorted(set(graph.edges.sources[numbers[deriving]].tolist()) - types)
        types.update(level)
    return np.array(sorted(types), dtype=np.int64)


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
    ids, subjects = graph.nodes.ids, _subjects(graph, changed)
    parts = (split_id(ids[node]) for node in subjects)
    names = [symbol or path.rpartition("/")[2].partition(".")[0] for path, symbol in parts]
    nodes = np.array(list(tests), dtype=np.int64)
    lacking = _rarity_of_lacking_words(names, lexical, nodes, len(graph.nodes)).tolist()
    weights = TEST_WEIGHTS
    outer = _outermost(graph, subjects)
    weighed: dict[int, Affected] = {}
    for (node, user), lacked in zip(tests.items(), lacking, strict=True):
        chance = min(max(user.probability, _MIN_ODDS), 1.0 - MIN_PROBABILITY)
        log_odds = log(chance / (1.0 - chance))
        maker = log(max(makers.get(node, 1.0), MIN_PROBABILITY))
        score = weights.bias + weights.way * log_odds - weights.words * lacked + weights.maker * maker
        if texts is not None and user.edge.rule == NAMED and user.depth == 1:
            n_alike = texts.count_named(ids.position(user.edge.target))
            score += weights.named + weights.alike * log(n_alike + 1)
        size = max(int(graph.nodes.end_bytes[node] - graph.nodes.start_bytes[node]), 1)
        score += weights.size * log(size / TYPICAL_SIZE)
        runs = texts.runs_operator(node, outer[0]) if texts is not None and len(outer) == 1 else None
        if runs is not None:
            score += weights.runs if runs else weights.lacks
        odds = exp(score)
        weighed[node] = user._replace(probability=odds / (1.0 + odds))
    return weighed


def _rarity_of_lacking_words(
    names: Sequence[str], lexical: LexicalIndex, nodes: NDArray[np.int64], n: int
) -> NDArray[np.float64]:
    """Return how much less of the words of a name each test has than the test that has most.

    Of several names, the odds that this takes from a test are the mean: a test of one of them need not know the others.
    Names of which no test has a word say nothing.
    """
    shares = (rarity_of_shared_words([name], lexical, nodes, n) for name in dict.fromkeys(names))
    kept = np.zeros(len(nodes))
    n_names = 0
    for share in shares:
        if share.any():
            kept += np.exp(TEST_WEIGHTS.words * (share - share.max()))
            n_names += 1
    return -np.log(kept / n_names) / TEST_WEIGHTS.words if n_names else kept


class _Groups:
    """Nodes by the node around them, each group ascending."""

    def __init__(self, nodes: NDArray[np.int64], around: NDArray[np.int32]) -> None:
        ordered = nodes[np.argsort(around[nodes], kind="stable")]
        self._nodes: list[int] = ordered.tolist()
        self._around: list[int] = around[ordered].tolist()

    def of(self, node: int) -> list[int]:
        """Return the nodes of a group."""
        return self._nodes[bisect_left(self._around, node) : bisect_right(self._around, node)]


class _TestGroups:
    """Tests that a runner runs together with what prepares or holds them, which no edge says."""

    def __init__(self, graph: CodeGraph, is_test: NDArray[np.bool_]) -> None:
        self._graph = graph
        self.is_test = is_test
        nodes = graph.nodes
        self._is_of_tests = nodes.roles == Role.TEST  # of others, no runner runs anything
        self.may_run: list[bool] = (
            self._is_of_tests & ~(is_test & np.isin(nodes.kinds, sorted(CALLABLE_KINDS)))
        ).tolist()
        self._found: dict[tuple[int, bool], list[tuple[int, float]]] = {}
        self._types: dict[tuple[int, bool], list[int]] = {}
        of_tests = np.flatnonzero(self._is_of_tests)
        self._members = _Groups(of_tests, nodes.parents)  # type or handler -> what stands in it
        self._in_files = _Groups(of_tests[is_test[of_tests]], nodes.files)  # file -> its tests
        self._bases: dict[int, list[int]] | None = None  # types of tests -> those that they extend
        self._deriving: dict[int, list[int]] = {}

    def tests_of(self, node: int, texts: TestTexts | None) -> list[tuple[int, float]]:
        """Return each test that runs with a node, with the share of such tests that run what the node runs."""
        key = node, texts is not None
        if key not in self._found:
            self._found[key] = list(self._find(node, texts)) if self.may_run[node] else []
        return self._found[key]

    def _find(self, node: int, texts: TestTexts | None) -> Iterator[tuple[int, float]]:
        nodes, kind = self._graph.nodes, self._graph.kind(node)
        if kind is NodeKind.HANDLER:
            yield from ((test, GROUP_SHARE) for test in self._tests_in(node))
        elif kind in TYPE_KINDS:
            yield from ((test, CLASS_SHARE) for test in self._tests_run_on(node))
        elif kind in CALLABLE_KINDS and SETUP.match((split_id(nodes.ids[node])[1] or "").rpartition(".")[2]):
            owner = int(nodes.parents[node])
            if owner >= 0 and nodes.kinds[owner] in TYPE_KINDS:
                heirs = dict.fromkeys([owner, *self._heirs(owner)])
                tests = dict.fromkeys(test for heir in heirs for test in self._tests_run_on(heir))
                yield from ((test, SETUP_SHARE) for test in tests)
            elif owner == int(nodes.files[node]):
                yield from ((test, SHARED_SHARE) for test in self._in_files.of(owner))
        elif kind in CALLABLE_KINDS and texts is not None:
            share = SHARED_SHARE if _SHARED.search(texts.head(node)) else SETUP_SHARE
            yield from ((test, share) for test in self._tests_prepared_by(node, texts))
        elif kind is NodeKind.FILE:
            yield from ((test, FILE_SHARE) for test in self._in_files.of(node))

    def _tests_prepared_by(self, node: int, texts: TestTexts) -> Iterator[int]:
        """Yield the tests that a fixture prepares which no parameter of theirs names."""
        nodes = self._graph.nodes
        path, symbol = split_id(nodes.ids[node])
        settings = load_settings().get(dialect_of(path))
        head = texts.head(node) if settings is not None and settings.tests.fixtures else ""
        if settings is None or not _FIXTURE.search(head):
            return
        folder, slash, name = path.rpartition("/")
        owner = int(nodes.parents[node])
        if _AUTOMATIC.search(head):
            asking = [owner]
            if owner == int(nodes.files[node]) and name == settings.tests.fixtures:
                below = paths_of(self._graph, self.is_test)
                asking = [file for file, each in below if each.startswith(folder + slash)]
        else:
            asking = [
                each
                for each in texts.find_asking((symbol or "").rpartition(".")[2])
                if nodes.ids[each].startswith(folder + slash if name == settings.tests.fixtures else path)
            ]
        for each in asking:
            if self.is_test[each] and nodes.kinds[each] in CALLABLE_KINDS:
                yield each
            elif nodes.kinds[each] == NodeKind.FILE:
                yield from self._in_files.of(each)
            elif nodes.kinds[each] in TYPE_KINDS:
                yield from dict.fromkeys(t for heir in (each, *self._heirs(each)) for t in self._tests_run_on(heir))

    def _tests_in(self, node: int) -> Iterator[int]:
        for each in self._members.of(node):
            if self.is_test[each]:
                yield each
            elif self._graph.nodes.kinds[each] == NodeKind.HANDLER:
                yield from self._tests_in(each)

    def _tests_run_on(self, owner: int) -> Iterator[int]:
        """Yield the tests of a type, its own and those that it inherits."""
        for each in (owner, *self._along(owner, is_up=True)):
            yield from (member for member in self._members.of(each) if self.is_test[member])

    def _heirs(self, owner: int) -> list[int]:
        return self._along(owner, is_up=False)

    def _along(self, owner: int, *, is_up: bool) -> list[int]:
        """Return the types of tests above or below a type."""
        if (owner, is_up) in self._types:
            return self._types[owner, is_up]
        if self._bases is None:
            self._bases, edges = {}, self._graph.edges
            kept = np.isin(edges.kinds, (EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS))
            kept &= self._is_of_tests[edges.sources] & self._is_of_tests[edges.targets]
            for source, target in zip(edges.sources[kept].tolist(), edges.targets[kept].tolist(), strict=True):
                self._bases.setdefault(source, []).append(target)
                self._deriving.setdefault(target, []).append(source)
        near, types, waiting = self._bases if is_up else self._deriving, dict[int, None](), [owner]
        while waiting and len(types) < _MAX_TYPES:
            new = [other for other in near.get(waiting.pop(), ()) if other not in types and other != owner]
            types.update(dict.fromkeys(new))
            waiting += dict.fromkeys(new)
        self._types[owner, is_up] = list(types)
        return self._types[owner, is_up]
