"""Probability that a reader needs a definition to answer a query, from its rank, its words and its edges to other hits.

In: the graph, scores of all nodes, the hits in rank order. Out: hits and neighbors of hits, the most needed first. A
logistic model judges first what words found. Then it judges again, twice, with the most that one edge of each kind and
direction gives: the probability of the neighbor times the confidence of the edge, less where many use the target. At
last, what a needed node calls, and a short constant that it reads, gets at least a share of its probability, and of
nodes of a file that match the query alike the better ones count more.

Weights and their provenance stand in `relevance.json`; docs/packs.md has figures.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import select_first
from causalist._internal.lazy import dataclass
from causalist.model.graph import LINK_RULES, ROUTE_KINDS, CodeGraph, EdgeKind
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind, Role, split_id
from causalist.model.scores import Scores

MAX_POOL = 60  # nodes that words found
MAX_SOURCES = 12  # nodes whose neighbors are considered
MAX_NEIGHBORS = 60  # of one node, the most certain first
N_ROUNDS = 2
N_CHAIN_STEPS = 4  # calls that are followed
CALLEE_SHARE = 0.7  # of the need of a node, for all that it calls
NEXT_CALL_SHARE = 0.95  # of what a call gave, for all that is called next
MIN_CALLEE_LINES = 3  # of a declaration without a body there is nothing to read
MAX_ACCESSOR_LINES = 5  # of a callee that calls nothing and uses a field of its class: its name says what it does
MIN_SOURCE = 0.05  # need of a node whose calls are followed
MIN_FOLLOWED = 0.005  # probability that a call must give to be followed; an item below it is not printed
MIN_CALL_CONFIDENCE = 0.3  # of a call that is followed
MAX_OVERRIDING = 4  # methods that a call of the overridden one may mean
# Of a function whose name the caller gave beside the question. 0.2 to 0.6 hardly differ on 90 open questions.
NAMED_NEED = 0.4
BETWEEN_NEED = 0.2  # of what lies between the functions of two given names
MAX_CALLERS_BETWEEN = 12  # of a named function whose callers are looked at
# Of the need of a node, for its only caller, which says when the node runs. 0.3 hardly differs on 15 flows.
ONLY_CALLER_SHARE = 0.5
MIN_CALLED = 0.1  # need of a node whose only caller counts
VALUE_SHARE = 0.3  # of the need of a node, for all short constants that it reads
MAX_VALUE_LINES = 6  # of such a constant; longer ones are judged as other neighbors are
# Of the need of a node, for all that names in it stand for in other languages: more for what says some of the query.
NAME_SHARE, SAID_NAME_SHARE = 0.2, 0.6
MIN_NAME_SAID = 0.4  # of the query, by weight of its terms
MAX_NAMING = 8  # nodes that use one name; more say nothing of a query
LOGGERS = frozenset({"log", "logger", "logging", "slog"})  # names of what says nothing of what a program does
LEVELS = frozenset({"debug", "info", "warn", "warning", "error", "fatal", "trace", "verbose", "critical"})  # of loggers
MIN_LOGGING = 2  # functions of a logger's file that are named by a level or by logs
MAX_COMPARED = 60  # nodes that are compared by their terms
MIN_ALIKE = 0.9  # of the terms of two nodes, by weight, that both have, if they match alike
ALIKE_SHARE = 0.6
_DECIMALS = 9  # of scores that are compared
_NO_RANK = 100  # of what words did not find
_SURE = 0.9  # confidence of an edge that is certain
_SAID_DECAY = 2.5  # distance of scores at which a node says 1/e of what the best one says

_CALLABLE = np.array([*CALLABLE_KINDS])
_READING = np.array([EdgeKind.REFERENCES, EdgeKind.READS])
_CALLING = np.array([EdgeKind.CALLS, *ROUTE_KINDS])
_LEADING_KINDS = frozenset({EdgeKind.CALLS, EdgeKind.REFERENCES, *ROUTE_KINDS})
_USING = np.array([EdgeKind.READS, EdgeKind.WRITES])
_GROUPS: tuple[tuple[str, tuple[EdgeKind, ...]], ...] = (
    ("calls", (EdgeKind.CALLS,)),
    ("references", (EdgeKind.REFERENCES,)),
    ("types", (EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS, EdgeKind.OVERRIDES)),
    ("values", (EdgeKind.READS, EdgeKind.WRITES)),
    ("tests", (EdgeKind.TESTS,)),
)
_GROUP_OF = np.full(len(EdgeKind), -1, dtype=np.int64)
for _number, (_, _kinds) in enumerate(_GROUPS):
    _GROUP_OF[list(_kinds)] = _number

OWN_FEATURES = (
    "rank",
    "gap",
    "odds",
    "file rank",
    "by graph",
    "is callable",
    "is type",
    "is value",
    "is passage",
    "is file",
    "is code",
    "lines",
    "confidence",
)
EDGE_FEATURES = (
    *(f"{name} {way}" for name, _ in _GROUPS for way in ("out", "in")),
    "same file",
    "same type",
    "sure edge",
    "sure and said",
    "between",
    "all edges",
    "fan-in",
)


class NeededNode(NamedTuple):
    """A node with the probability that it is needed.

    `source` is the node that gave it most over an edge and `edge` the number of that edge; both are -1 if words found
    it and no edge says more.
    """

    node: int
    probability: float
    source: int = -1
    edge: int = -1


@dataclass(frozen=True, slots=True)
class RelevanceModel:
    """Weights, the constant last: of the first round, of the later rounds, and of the only round without a graph."""

    words: Scores  # (n_own + 1,)
    edges: Scores  # (n_own + n_edge + 1,)
    alone: Scores  # (n_own + 1,)


@lru_cache(maxsize=2)
def default_relevance(*, by_meaning: bool = False) -> RelevanceModel:
    """Return the shipped model: of queries that say words of the code, or of those that the question encoder reads."""
    data = json.loads(Path(__file__).with_name("relevance.json").read_text(encoding="utf-8"))

    def weights(part: str, *names: str) -> Scores:
        own = {**data[part], **(data["by meaning"][part] if by_meaning else {})}
        return np.array([own[name] for name in (*names, "constant")])

    both = weights("words", *OWN_FEATURES), weights("edges", *OWN_FEATURES, *EDGE_FEATURES)
    return RelevanceModel(*both, weights("alone", *OWN_FEATURES))


class RelevanceInput(NamedTuple):
    """Scores and hits of a ranking.

    `definitions` and `files` are scores of all nodes, `ranked` the hits best first, of which the last may be
    `by_graph`: reached by PageRank alone. `confidence` is that of the answer. `terms_of`
    returns, for n nodes, the share of each term in the query, (n_terms,), and which node has which term, (n, n_terms).
    `named` are definitions whose name the caller gave, with the share of each in its name. `is_word`: the query is one
    word, and a pack lists the callers of what has that name in a line.
    """

    graph: CodeGraph
    definitions: Scores
    files: Scores
    ranked: Sequence[int]
    by_graph: frozenset[int]
    confidence: float
    terms_of: Callable[[NDArray[np.int64]], tuple[Scores, NDArray[np.bool_]]]
    named: Mapping[int, float] = MappingProxyType({})
    is_word: bool = False


def judge_relevance(given: RelevanceInput, model: RelevanceModel, *, use_edges: bool = True) -> list[NeededNode]:
    """Return hits and their neighbors with probabilities, the highest first."""
    pool, standing = word_pool(given), word_standing(given)
    own = own_features(given, pool, standing)
    probabilities = logistic(own, model.words if use_edges else model.alone)
    if not use_edges:
        pool, probabilities = raise_named(given.named, pool, probabilities)
        return discount_alike(given, _sort_pool(pool, probabilities, {}))
    gave: dict[int, tuple[int, int]] = {}
    for _ in range(N_ROUNDS):
        pool, probabilities = with_neighbors(given.graph, pool, probabilities)
        own = own_features(given, pool, standing)
        features, gave = edge_features(given.graph, pool, probabilities, said_share(own))
        probabilities = logistic(np.hstack([own, features]), model.edges)
    pool, probabilities = raise_named(given.named, pool, probabilities)
    pool, probabilities = follow_named(given.graph, given.named, pool, probabilities, gave)
    pool, probabilities = follow_calls(given.graph, pool, probabilities, gave)
    if not given.is_word:
        pool, probabilities = follow_only_callers(given.graph, given.named, pool, probabilities, gave)
    pool, probabilities = follow_values(given.graph, pool, probabilities, gave)
    pool, probabilities = follow_shared_names(given, pool, probabilities, gave)
    return discount_alike(given, _sort_pool(pool, probabilities, gave))


def raise_named(
    named: Mapping[int, float], pool: NDArray[np.int64], probabilities: Scores
) -> tuple[NDArray[np.int64], Scores]:
    """Return the pool with the named definitions, none of them below NAMED_NEED times its share of the name."""
    if not named:
        return pool, probabilities
    value = dict(zip(pool.tolist(), probabilities.tolist(), strict=True))
    for node, share in named.items():
        value[node] = max(value.get(node, 0.0), NAMED_NEED * share)
    return np.array(list(value), dtype=np.int64), np.array(list(value.values()))


def follow_named(
    graph: CodeGraph,
    named: Mapping[int, float],
    pool: NDArray[np.int64],
    probabilities: Scores,
    gave: dict[int, tuple[int, int]],
) -> tuple[NDArray[np.int64], Scores]:
    """Return the pool with the functions that lead from one given name to another.

    Who expects both ends in the code needs what joins them. Such a function is needed at least by BETWEEN_NEED times
    the second largest share of a name that an edge gives it.
    """
    edges, nodes = graph.edges, graph.nodes
    value = dict(zip(pool.tolist(), probabilities.tolist(), strict=True))
    # For each function beside named ones: (share, named node, edge) by name. Two definitions of a name are one end.
    ends_of: dict[int, dict[str, tuple[float, int, int]]] = {}

    def look_at(other: int, node: int, number: int) -> None:
        is_alike = nodes.kinds[other] in CALLABLE_KINDS and nodes.roles[other] == nodes.roles[node]
        if edges.kinds[number] in _LEADING_KINDS and is_alike and other not in named:
            share = named[node] * float(edges.confidences[number]) / int(edges.candidates[number])
            name = re.split(r"[.:]", nodes.ids[node])[-1].partition("~")[0]
            ends = ends_of.setdefault(other, {})
            ends[name] = max(ends.get(name, (0.0, 0, 0)), (share, node, number))

    for node in named:
        for number in range(int(edges.indptr[node]), int(edges.indptr[node + 1])):
            look_at(int(edges.targets[number]), node, number)
        back = edges.incoming[edges.incoming_indptr[node] : edges.incoming_indptr[node + 1]]
        if len(back) <= MAX_CALLERS_BETWEEN:
            for number in back.tolist():
                look_at(int(edges.sources[number]), node, number)
    for other, ends in ends_of.items():
        if len(ends) > 1:
            (_, node, number), (share, _, _) = sorted(ends.values(), reverse=True)[:2]
            if BETWEEN_NEED * share > value.get(other, 0.0):
                value[other] = BETWEEN_NEED * share
                gave[other] = (node, number)
    return np.array(list(value), dtype=np.int64), np.array(list(value.values()))


class _OnlyCaller(NamedTuple):
    """The only function that calls another, the certainty of the surest call, and the number of that edge."""

    node: int
    certainty: float
    edge: int


def _only_caller(graph: CodeGraph, node: int) -> _OnlyCaller | None:
    """Return the only function of the same role that calls a node, None if there are several or none."""
    edges, nodes = graph.edges, graph.nodes
    back = edges.incoming[edges.incoming_indptr[node] : edges.incoming_indptr[node + 1]]
    calls = [
        number
        for number in back[np.isin(edges.kinds[back], _CALLING)].tolist()
        if nodes.kinds[edges.sources[number]] in CALLABLE_KINDS
        and nodes.roles[edges.sources[number]] == nodes.roles[node]
        and edges.sources[number] != node
    ]
    callers = {int(edges.sources[number]) for number in calls}
    if len(callers) != 1:
        return None
    certainty, number = max((float(edges.confidences[each]) / int(edges.candidates[each]), each) for each in calls)
    return _OnlyCaller(callers.pop(), certainty, number)


def discount_alike(given: RelevanceInput, judged: Sequence[NeededNode]) -> list[NeededNode]:
    """Return the nodes with lower probabilities for those that match the query as better ones of the same file do.

    Ten routes that match alike hardly answer a query together. Each better node of the file with nearly the same terms
    of the query leaves ALIKE_SHARE of the probability, unless one of the two gave the other its probability.
    """
    nodes, first = given.graph.nodes, judged[:MAX_COMPARED]
    shares, has = given.terms_of(np.array([each.node for each in first], dtype=np.int64))
    result = list(judged)
    for i, candidate in enumerate(first):
        total = float(shares[has[i]].sum())
        if not total:
            continue
        for j, better in enumerate(first[:i]):
            if nodes.files[better.node] != nodes.files[candidate.node] or better.node == candidate.source:
                continue
            both, either = float(shares[has[i] & has[j]].sum()), float(shares[has[i] | has[j]].sum())
            if both >= MIN_ALIKE * either and better.source != candidate.node:
                result[i] = result[i]._replace(probability=result[i].probability * ALIKE_SHARE)
    return sorted(result, key=lambda each: (-round(each.probability, 9), each.node))


def follow_calls(
    graph: CodeGraph, pool: NDArray[np.int64], probabilities: Scores, gave: dict[int, tuple[int, int]]
) -> tuple[NDArray[np.int64], Scores]:
    """Return the pool with what its most needed nodes call, which is needed at least by a share of that.

    The callees of a node divide the share by the certainty of each call and the logarithm of its fan-in: a callee that
    many use says little of a query. The rest of the pool keeps its probabilities.
    """
    value = dict(zip(pool.tolist(), probabilities.tolist(), strict=True))
    best = sorted(value, key=lambda node: (-round(value[node], 9), node))[:MAX_SOURCES]
    sources = {node: value[node] for node in best if value[node] >= MIN_SOURCE}
    fan_in = np.diff(graph.edges.incoming_indptr)
    share = CALLEE_SHARE
    for _ in range(N_CHAIN_STEPS):
        reached: dict[int, float] = {}
        for node, probability in sources.items():
            callees = _callees(graph, node, fan_in)
            total = max(1.0, sum(certainty for certainty, _ in callees.values()))
            for other, (certainty, number) in callees.items():
                least = share * probability * certainty / total
                if least > max(value.get(other, 0.0), MIN_FOLLOWED):
                    value[other] = reached[other] = least
                    gave[other] = (node, number)
        sources, share = reached, NEXT_CALL_SHARE
    return np.array(list(value), dtype=np.int64), np.array(list(value.values()))


def follow_only_callers(
    graph: CodeGraph,
    named: Mapping[int, float],
    pool: NDArray[np.int64],
    probabilities: Scores,
    gave: dict[int, tuple[int, int]],
) -> tuple[NDArray[np.int64], Scores]:
    """Return the pool with the only callers of needed functions, which are needed at least by a share of that.

    A job that one scheduler starts is hardly understood without the line that starts it. Of many callers each says
    little. Where the caller of a question gave names, only those of named functions count, by NAMED_NEED: such a
    question leaves less open, and what was found beside the names is in the way.
    """
    value = dict(zip(pool.tolist(), probabilities.tolist(), strict=True))
    if named:
        needs = {node: NAMED_NEED * share for node, share in named.items()}
    else:
        needs = {node: need for node, need in value.items() if need >= MIN_CALLED}
    for node, need in needs.items():
        caller = _only_caller(graph, node) if graph.nodes.kinds[node] in CALLABLE_KINDS else None
        if caller is None:
            continue
        least = ONLY_CALLER_SHARE * need * caller.certainty
        if least > value.get(caller.node, 0.0):
            value[caller.node] = least
            gave[caller.node] = (node, caller.edge)
    return np.array(list(value), dtype=np.int64), np.array(list(value.values()))


def follow_values(
    graph: CodeGraph, pool: NDArray[np.int64], probabilities: Scores, gave: dict[int, tuple[int, int]]
) -> tuple[NDArray[np.int64], Scores]:
    """Return the pool with the short constants that its most needed nodes read, needed at least by a share of that.

    "How many" and "how long" are answered by a constant, which has hardly a word of the query and costs a line. All
    that a node reads divides its share. Less is left where many read it, and loggers get nothing.
    """
    edges, nodes = graph.edges, graph.nodes
    value = dict(zip(pool.tolist(), probabilities.tolist(), strict=True))
    best = sorted(value, key=lambda node: (-round(value[node], 9), node))[:MAX_SOURCES]
    fan_in = np.diff(edges.incoming_indptr)
    for node in best:
        if value[node] < MIN_SOURCE:
            break
        numbers = np.arange(edges.indptr[node], edges.indptr[node + 1])
        targets = edges.targets[numbers]
        is_read = np.isin(edges.kinds[numbers], _READING) & (nodes.kinds[targets] == NodeKind.CONSTANT)
        is_read &= nodes.end_rows[targets] - nodes.start_rows[targets] < MAX_VALUE_LINES
        read = [
            (number, target)
            for number, target in zip(numbers[is_read].tolist(), targets[is_read].tolist(), strict=True)
            if re.split(r"[.:]", nodes.ids[target])[-1].strip("_").lower() not in LOGGERS
            and not _is_of_logger(graph, target)
        ]
        for number, target in read:
            certainty = float(edges.confidences[number]) / int(edges.candidates[number])
            least = VALUE_SHARE * value[node] * certainty / len(read) / float(np.log2(1 + max(1, int(fan_in[target]))))
            if least > max(value.get(target, 0.0), MIN_FOLLOWED):
                value[target] = least
                gave[target] = (node, number)
    return np.array(list(value), dtype=np.int64), np.array(list(value.values()))


def follow_shared_names(
    given: RelevanceInput, pool: NDArray[np.int64], probabilities: Scores, gave: dict[int, tuple[int, int]]
) -> tuple[NDArray[np.int64], Scores]:
    """Return the pool and its probabilities with the nodes that share a name with its most needed nodes.

    Such nodes are the view of a template, the table of a model, and the code that shows a text. They divide the
    probability of the needed node by the certainty of their edges. Nodes that match the query get more of it.
    """
    value = dict(zip(pool.tolist(), probabilities.tolist(), strict=True))
    is_link = _link_mask(given.graph.rule_names)
    best = sorted(value, key=lambda node: (-round(value[node], 9), node))[:MAX_SOURCES]
    for node in best:
        if value[node] < MIN_SOURCE:
            break
        others = _named_by(given.graph, node, is_link)
        if not others:
            continue
        shares, has = given.terms_of(np.array(list(others), dtype=np.int64))
        total = max(1.0, sum(certainty for certainty, _ in others.values()))
        for (other, (certainty, number)), terms in zip(others.items(), has, strict=True):
            share = SAID_NAME_SHARE if float(shares[terms].sum()) >= MIN_NAME_SAID else NAME_SHARE
            least = share * value[node] * certainty / total
            if least > max(value.get(other, 0.0), MIN_FOLLOWED):
                value[other] = least
                gave[other] = (node, number)
    return np.array(list(value), dtype=np.int64), np.array(list(value.values()))


@lru_cache(maxsize=4)
def _link_mask(rule_names: tuple[str, ...]) -> NDArray[np.bool_]:
    """Return a mask over rules of those of names that code and data share, shape (n_rules,)."""
    return np.array([name in LINK_RULES for name in rule_names])


def _named_by(graph: CodeGraph, node: int, is_link: NDArray[np.bool_]) -> dict[int, tuple[float, int]]:
    """Return (certainty, edge) by node of nodes that share a name with `node`, through the node of a name if any."""
    edges, nodes = graph.edges, graph.nodes
    best_by_end: dict[int, tuple[float, int]] = {}

    def ends(of: int) -> list[tuple[int, int, float]]:
        numbers = np.concatenate([graph.edges_out_of(np.array([of])), graph.edges_into(np.array([of]))])
        numbers = numbers[is_link[edges.rules[numbers]]]
        others = np.where(edges.sources[numbers] == of, edges.targets[numbers], edges.sources[numbers])
        certainties = edges.confidences[numbers]
        return list(zip(others.tolist(), numbers.tolist(), certainties.tolist(), strict=True))

    linked = ends(node)
    for other, number, certainty in linked if len(linked) <= MAX_COMPARED else ():
        reached = [(other, number, certainty)]
        if nodes.kinds[other] == NodeKind.EXTERNAL:
            users = ends(other)
            reached = [(end, at, certainty * more) for end, at, more in users if end != node]
            if len(reached) > MAX_NAMING:
                continue
        elif len(ends(other)) > MAX_COMPARED:
            continue
        for end, at, likely in reached:
            is_shown = nodes.kinds[end] != NodeKind.EXTERNAL and nodes.roles[end] != Role.TEST
            if is_shown and nodes.parents[node] != end and likely > best_by_end.get(end, (0.0, 0))[0]:
                best_by_end[end] = likely, at
    return best_by_end


def _callees(graph: CodeGraph, node: int, fan_in: NDArray[np.int64]) -> dict[int, tuple[float, int]]:
    """Return the certainty, relative to the fan-in, and the number of the edge for each definition that a node calls.

    A call of a method that a few classes override means what they do. What a request or an event of the node reaches is
    called, too.
    """
    edges, nodes = graph.edges, graph.nodes
    numbers = np.arange(edges.indptr[node], edges.indptr[node + 1])
    targets = edges.targets[numbers]
    is_call = (edges.kinds[numbers] == EdgeKind.CALLS) & (edges.confidences[numbers] >= MIN_CALL_CONFIDENCE)
    is_call &= np.isin(nodes.kinds[targets], _CALLABLE) & (targets != node)
    best_by_callee: dict[int, tuple[float, int]] = {}
    is_logger = _is_of_logger(graph, node)
    for number, target in zip(numbers[is_call].tolist(), targets[is_call].tolist(), strict=True):
        certainty = float(edges.confidences[number]) / int(edges.candidates[number])
        certainty /= float(np.log2(1 + max(1, int(fan_in[target]))))
        # Test doubles override, too, and are no part of what the program does.
        overriding = [each for each in _overriding(graph, target) if nodes.roles[each] == nodes.roles[node]]
        ends = overriding if 0 < len(overriding) <= MAX_OVERRIDING else [target]
        for other in ends:
            n_lines = int(nodes.end_rows[other] - nodes.start_rows[other]) + 1
            if n_lines < MIN_CALLEE_LINES or nodes.roles[other] != nodes.roles[node]:
                continue
            if n_lines <= MAX_ACCESSOR_LINES and _is_accessor(graph, other):
                continue
            if not is_logger and _is_of_logger(graph, other):
                continue
            value = certainty / len(ends)
            if value > best_by_callee.get(other, (0.0, 0))[0]:
                best_by_callee[other] = value, number
    for number, target, certainty in _find_handlers(graph, numbers[np.isin(edges.kinds[numbers], ROUTE_KINDS)]):
        value = certainty / float(np.log2(1 + max(1, int(fan_in[target]))))
        if (
            target != node
            and nodes.roles[target] == nodes.roles[node]
            and value > best_by_callee.get(target, (0.0, 0))[0]
        ):
            best_by_callee[target] = value, number
    return best_by_callee


def _is_accessor(graph: CodeGraph, node: int) -> bool:
    """Return True if a function calls nothing and reads or sets a field of its class."""
    edges, parents = graph.edges, graph.nodes.parents
    own = slice(edges.indptr[node], edges.indptr[node + 1])
    kinds = edges.kinds[own]
    is_field = np.isin(kinds, _USING) & (parents[edges.targets[own]] == parents[node])
    return bool(is_field.any() and not (kinds == EdgeKind.CALLS).any())


def _find_handlers(graph: CodeGraph, numbers: NDArray[np.int64]) -> list[tuple[int, int, float]]:
    """Return (edge, definition, certainty) for what requests and events reach, over a route where there is one."""
    edges, kinds = graph.edges, graph.nodes.kinds
    handlers = []
    for number in numbers.tolist():
        target = int(edges.targets[number])
        certainty = float(edges.confidences[number]) / int(edges.candidates[number])
        if kinds[target] != NodeKind.EXTERNAL:
            handlers.append((number, target, certainty))
            continue
        for onward in range(int(edges.indptr[target]), int(edges.indptr[target + 1])):
            handler = int(edges.targets[onward])
            if edges.kinds[onward] in ROUTE_KINDS and kinds[handler] != NodeKind.EXTERNAL:
                likely = float(edges.confidences[onward]) / int(edges.candidates[onward])
                handlers.append((onward, handler, certainty * likely))
    return handlers


def _overriding(graph: CodeGraph, node: int) -> list[int]:
    """Return the methods that override a method, without those that do nothing where others do something."""
    edges = graph.edges
    numbers = edges.incoming[int(edges.incoming_indptr[node]) : int(edges.incoming_indptr[node + 1])]
    overriding: list[int] = edges.sources[numbers[edges.kinds[numbers] == EdgeKind.OVERRIDES]].tolist()
    return [each for each in overriding if _does_something(graph, each)] or overriding


def _does_something(graph: CodeGraph, node: int) -> bool:
    """Return False for a short function that calls nothing of the repository."""
    edges, nodes = graph.edges, graph.nodes
    own = slice(edges.indptr[node], edges.indptr[node + 1])
    called = edges.targets[own][edges.kinds[own] == EdgeKind.CALLS]
    is_long = bool(nodes.end_rows[node] - nodes.start_rows[node] >= MAX_ACCESSOR_LINES)
    return is_long or bool((nodes.kinds[called] != NodeKind.EXTERNAL).any())


def _is_of_logger(graph: CodeGraph, node: int) -> bool:
    """Return True if a file, its folder or a type is called a logger and functions of the file are, too, or by levels.

    A logger is called everywhere, and says nothing of what a program does. A log of workouts has other functions.
    """
    nodes = graph.nodes
    path, name = split_id(nodes.ids[node].lower())
    folder, _, own = path.rpartition("/")
    if LOGGERS.isdisjoint((own.partition(".")[0], folder.rpartition("/")[2], re.split(r"[.:]", name or "")[0])):
        return False
    inner = np.flatnonzero((nodes.files == nodes.files[node]) & np.isin(nodes.kinds, _CALLABLE))
    names = [re.split(r"[.:]", nodes.ids[each])[-1].lstrip("_").lower() for each in inner.tolist()]
    n_logging = sum(each in LEVELS or each.startswith("log") for each in names)
    return bool(n_logging >= MIN_LOGGING)


def _sort_pool(pool: NDArray[np.int64], probabilities: Scores, gave: dict[int, tuple[int, int]]) -> list[NeededNode]:
    order = np.lexsort((pool, -np.round(probabilities, 9)))
    return [NeededNode(int(pool[i]), float(probabilities[i]), *gave.get(int(pool[i]), (-1, -1))) for i in order]


def logistic(features: Scores, weights: Scores) -> Scores:
    """Return probabilities; the last weight is the constant."""
    result: Scores = 1.0 / (1.0 + np.exp(-(features @ weights[:-1] + weights[-1])))
    return result


def said_share(own: Scores) -> Scores:
    """Return how much of the query each node says, from 0 to 1, by the distance of its score from the best one."""
    share: Scores = np.exp(-own[:, OWN_FEATURES.index("gap")] / _SAID_DECAY)
    return share


def word_pool(given: RelevanceInput) -> NDArray[np.int64]:
    """Return the hits, then the best of what else words found."""
    scores = given.definitions
    best = select_first(scores, np.flatnonzero(scores > 0), MAX_POOL, _DECIMALS)
    return np.array(list(dict.fromkeys([*given.ranked, *best.tolist()])), dtype=np.int64)


class WordStanding(NamedTuple):
    """Ranks of nodes and of files by their scores, the highest score, and the sum of all odds to it."""

    rank_of: Mapping[int, int]
    file_rank_of: Mapping[int, int]
    top: float
    odds: float


def word_standing(given: RelevanceInput) -> WordStanding:
    """Return what `own_features` needs of the whole repository."""
    nodes, scores, files = given.graph.nodes, given.definitions, given.files
    rank_of = {node: i for i, node in enumerate(given.ranked)}
    order = select_first(scores, np.flatnonzero(scores > 0), _NO_RANK, _DECIMALS)
    for i, node in enumerate(order.tolist()):
        rank_of.setdefault(node, max(i, len(given.ranked)))
    top = float(scores.max(initial=0.0))
    file_nodes = np.flatnonzero((nodes.kinds == NodeKind.FILE) & (files > 0))
    file_order = select_first(files, file_nodes, _NO_RANK, _DECIMALS)
    file_rank_of = {file: i for i, file in enumerate(file_order.tolist())}
    return WordStanding(rank_of, file_rank_of, top, float(np.exp(scores[order] - top).sum()))


def own_features(given: RelevanceInput, pool: NDArray[np.int64], standing: WordStanding | None = None) -> Scores:
    """Return what is known of each node without edges, shape (n, n_own); `standing` if it is at hand."""
    nodes, scores = given.graph.nodes, given.definitions
    rank_of, file_rank_of, top, all_odds = standing or word_standing(given)
    ranks = np.array([rank_of.get(node, _NO_RANK) for node in pool.tolist()], dtype=np.float64)
    odds = np.where(scores[pool] > 0, np.exp(scores[pool] - top), 0.0) / max(all_odds, 1e-9)
    owner = nodes.files[pool]
    file_ranks = np.array([file_rank_of.get(file, _NO_RANK) for file in owner.tolist()], dtype=np.float64)
    kinds = nodes.kinds[pool]
    lines = nodes.end_rows[pool] - nodes.start_rows[pool] + 1
    columns = [
        np.log1p(ranks),
        np.where(scores[pool] > 0, np.minimum(top - scores[pool], 10.0), 10.0),
        odds,
        np.log1p(file_ranks),
        np.isin(pool, list(given.by_graph)),
        np.isin(kinds, [*CALLABLE_KINDS]),
        np.isin(kinds, [*TYPE_KINDS]),
        np.isin(kinds, [NodeKind.FIELD, NodeKind.CONSTANT, NodeKind.TYPE]),
        kinds == NodeKind.PASSAGE,
        kinds == NodeKind.FILE,
        nodes.roles[pool] == Role.CODE,
        np.log1p(lines),
        np.full(len(pool), given.confidence),
    ]
    return np.stack([column.astype(np.float64) for column in columns], axis=1)


def with_neighbors(
    graph: CodeGraph, pool: NDArray[np.int64], probabilities: Scores
) -> tuple[NDArray[np.int64], Scores]:
    """Return the pool with what the most probable nodes are linked to, which has probability 0 so far."""
    extended_pool = dict.fromkeys(pool.tolist())
    order = np.lexsort((pool, -np.round(probabilities, 9)))[:MAX_SOURCES]
    for node in pool[order].tolist():
        is_logger = _is_of_logger(graph, node)
        for other, _, is_back in _links(graph, node):
            if other not in extended_pool and (is_logger or is_back or not _is_of_logger(graph, other)):
                extended_pool[other] = None
    extended = np.array(list(extended_pool), dtype=np.int64)
    return extended, np.append(probabilities, np.zeros(len(extended) - len(pool)))


def _links(graph: CodeGraph, node: int) -> list[tuple[int, int, bool]]:
    """Return (other end, number of the edge, is the edge walked backward), the most certain first."""
    edges, kinds = graph.edges, graph.nodes.kinds
    out = np.arange(edges.indptr[node], edges.indptr[node + 1])
    back = edges.incoming[edges.incoming_indptr[node] : edges.incoming_indptr[node + 1]].astype(np.int64)
    numbers = np.concatenate([out, back])
    others = np.concatenate([edges.targets[out], edges.sources[back]])
    is_back = np.concatenate([np.zeros(len(out), dtype=np.bool_), np.ones(len(back), dtype=np.bool_)])
    used = (_GROUP_OF[edges.kinds[numbers]] >= 0) & ~np.isin(kinds[others], [NodeKind.EXTERNAL, NodeKind.FILE])
    used &= others != node
    numbers, others, is_back = numbers[used], others[used], is_back[used]
    order = np.lexsort((numbers, is_back, -edges.confidences[numbers] / edges.candidates[numbers]))[:MAX_NEIGHBORS]
    return list(zip(others[order].tolist(), numbers[order].tolist(), is_back[order].tolist(), strict=True))


def edge_features(
    graph: CodeGraph, pool: NDArray[np.int64], probabilities: Scores, query_share: Scores
) -> tuple[Scores, dict[int, tuple[int, int]]]:
    """Return what edges say of each node of the pool, shape (n, n_edge), and (source, edge) that says most of it.

    `query_share`, shape (n,), is how much of the query the node itself says, from 0 to 1.
    """
    position = {node: i for i, node in enumerate(pool.tolist())}
    column_of = {name: i for i, name in enumerate(EDGE_FEATURES)}
    features = np.zeros((len(pool), len(EDGE_FEATURES)))
    missing = np.ones(len(pool))  # the product of what each edge leaves
    gave: dict[int, tuple[int, int]] = {}
    most: dict[int, float] = {}
    edges, nodes = graph.edges, graph.nodes
    fan_in = np.diff(edges.incoming_indptr)
    order = np.lexsort((pool, -np.round(probabilities, 9)))[:MAX_SOURCES]
    owners, parents = nodes.files[pool], nodes.parents[pool]
    is_member = np.isin(nodes.kinds[np.maximum(parents, 0)], [*TYPE_KINDS]) & (parents >= 0)
    sure = column_of["sure edge"]
    for source in order.tolist():
        node, probability = int(pool[source]), float(probabilities[source])
        others = np.arange(len(pool)) != source
        for column, here in (
            (column_of["same file"], (owners == owners[source]) & others),
            (column_of["same type"], (parents == parents[source]) & is_member & others),
        ):
            features[here, column] = np.maximum(features[here, column], probability)
        for other, number, is_back in _links(graph, node):
            at = position.get(other)
            if at is None:
                continue
            target = node if is_back else other
            certainty = float(edges.confidences[number]) / float(np.sqrt(edges.candidates[number]))
            value = probability * certainty / np.log2(1.0 + max(1, int(fan_in[target])))
            column = 2 * int(_GROUP_OF[edges.kinds[number]]) + is_back
            features[at, column] = max(features[at, column], value)
            missing[at] *= 1.0 - value
            if certainty > _SURE:
                features[at, sure] = max(features[at, sure], probability)
            if value > most.get(other, 0.0):
                most[other] = value
                gave[other] = (node, number)
    n_groups = 2 * len(_GROUPS)
    along, back = features[:, 0:n_groups:2].max(axis=1), features[:, 1:n_groups:2].max(axis=1)
    features[:, column_of["sure and said"]] = features[:, sure] * query_share
    features[:, column_of["between"]] = np.minimum(along, back)
    features[:, column_of["all edges"]] = 1.0 - missing
    features[:, column_of["fan-in"]] = np.log1p(fan_in[pool])
    return features, gave
