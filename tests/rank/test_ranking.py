"""From scores to the list: matches, places that are kept for what only PageRank reached, and what is never returned."""

import time
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalist._internal.dataclass_arrays import select_top
from causalist.model.answer import AskOptions, Level, RankMode, Route, Specificity
from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.node_ids import NodeKind, Role, split_id
from causalist.model.protocols import NO_STEPS
from causalist.model.scores import TextMatches, Transition
from causalist.rank.pagerank import WalkWeights, build_transition, personalized_pagerank
from causalist.rank.query.query import ROUTES, parse_query
from causalist.rank.scoring.fusion import Ranking, WeightedSignals, default_weights
from causalist.rank.scoring.graph_evidence import GraphSlot, graph_slots
from causalist.rank.scoring.ranking import (
    Selection,
    _best_matches,
    best_definitions_in,
    choose,
    rank_question,
    reasons_for,
)
from tests.graphs import EdgeSpec, NodeSpec, make_graph
from tests.model.corpus import WORDS, Corpus, Def, corpora, corpus

CALLS = WalkWeights(((EdgeKind.CALLS, 1.0),), ())  # forward only, so that sums stay short
WALK = 1e-4  # the walk stops at a step of 1e-5


class Told:
    """A graph whose words are told: `found` are scores of nodes, a file's is the best of its own; `seeds` start the
    walk along calls. Files without a node are left alone in the graph: they only make the others more specific."""

    def __init__(
        self,
        nodes: list[str | NodeSpec],
        edges: list[tuple],
        found: Mapping[str, float],
        *,
        seeds: Mapping[str, float] | None = None,
        kind: Mapping[str, float] | None = None,
        role: Mapping[str, float] | None = None,
        route: Route = Route.SIMPLE,
    ) -> None:
        files = sorted({split_id(n if isinstance(n, str) else n.id)[0] for n in nodes} - {""})
        told = [n if isinstance(n, NodeSpec) else NodeSpec(n) for n in nodes]
        told += [NodeSpec(f) for f in files if f not in {n.id for n in told}]
        self.graph: CodeGraph = make_graph(told, [EdgeSpec(*e) for e in edges])
        self.transition = build_transition(self.graph, CALLS)
        n = len(self.graph.nodes)
        definitions, whole, start = np.zeros(n), np.zeros(n), np.zeros(n)
        for name, score in found.items():
            definitions[self.node(name)] = score
            file = self.node(split_id(name)[0])
            whole[file] = max(whole[file], score)
        for name, share in (seeds if seeds is not None else found).items():
            start[self.node(name)] = share
        factors = {"role": np.ones(n), "kind": np.ones(n)}
        for table, given_ in (("role", role), ("kind", kind)):
            for name, value in (given_ or {}).items():
                factors[table][self.node(name)] = value
        walk = personalized_pagerank(self.transition, start) if start.any() else None
        question = replace(parse_query("some words of a question"), route=route)
        seeds_ = start / start.sum() if start.any() else start
        signals = WeightedSignals({}, {}, factors["role"], factors["role"], factors["role"] ** 3 * factors["kind"])
        self.ranking = Ranking(question, definitions, whole, signals, {}, seeds_, walk)

    def node(self, node_id: str) -> int:
        position = self.graph.nodes.ids.position(node_id)
        assert position >= 0, node_id
        return position

    def ids(self, node: int) -> str:
        return self.graph.nodes.ids[node]

    def taken(self, n_places: int) -> list[GraphSlot]:
        return graph_slots(self.ranking, self.graph, self.transition, AskOptions(), n_places, True, NO_STEPS)

    def chosen(self, **options: object) -> list[Selection]:
        return choose(self.ranking, self.graph, self.transition, AskOptions(**options))  # type: ignore[arg-type]

    def names(self, chosen: list[Selection]) -> list[str]:
        return [self.graph.nodes.ids[c.node] for c in chosen]

    def by_graph(self, **options: object) -> list[str]:
        return self.names([c for c in self.chosen(**options) if c.by_graph])


# -- matches


def test_matches_are_the_odds_against_the_best() -> None:
    """A score is a logarithm of odds: e to the distance from the best. That a name says it all is no part of it."""
    c = corpus({"p.py": [Def("tokenCache", "token cache"), Def("cache")], "q.py": [Def("other", "token")]})
    ranking = ask(c, "token cache", graph=0.0)
    named = ranking.signals.definition["name coverage"] * ranking.signals.role
    assert named[c.node("p.py::tokenCache")] == default_weights().definition.signals["name coverage"]
    scores = ranking.definitions - named
    best = scores.max()
    expected = {i: exp(s - best) for i, s in enumerate(scores.tolist()) if s > 0}
    assert len(expected) == 3  # nothing is given to what no word is in
    assert ranking.matches == pytest.approx(expected, rel=1e-12)
    assert max(ranking.matches.values()) == 1.0


def test_the_50_best_match_externals_never() -> None:
    """Scores fall from 60 to 1; the best is external here, and the 50 best of the others are those above 9."""
    transition = Transition(
        np.zeros(61, np.int32), np.zeros(0, np.int32), np.zeros(0), np.ones(60, np.int32), np.arange(60) > 0
    )
    matches = _best_matches(np.arange(60, 0, -1.0), transition)
    assert matches == pytest.approx({i: exp(1 - i) for i in range(1, 51)}, rel=1e-12)


def test_matches_of_scores_that_are_equal_when_rounded_do_not_exceed_1() -> None:
    """The first by id of what compares as equal need not be the largest; a match above 1 is refused by the walk."""
    transition = Transition(
        np.zeros(3, np.int32), np.zeros(0, np.int32), np.zeros(0), np.ones(2, np.int32), np.ones(2, bool)
    )
    matches = _best_matches(np.array([1.7, 1.7 + 3e-13]), transition)
    assert matches[1] == 1.0
    assert 0 < matches[0] <= 1.0


# -- places that are kept


def chain(*, extra: int = 2, found: Mapping[str, float] | None = None, route: Route = Route.SIMPLE) -> Told:
    """a calls b, b calls c, c calls d; a is found by words, and so are `extra` files that nothing links."""
    nodes = [f"{x}.py::{x}" for x in "abcd"] + [f"x{i}.py" for i in range(extra)]
    edges = [("a.py::a", "b.py::b"), ("b.py::b", "c.py::c"), ("c.py::c", "d.py::d")]
    words = {"a.py::a": 1.0, **{f"x{i}.py": 0.35 - i / 100 for i in range(extra)}}
    return Told(nodes, edges, found or words, seeds={"a.py::a": 1.0}, route=route)


def test_kept_places_by_hand() -> None:
    """a calls b, b calls c; d is linked with nothing. Of the walk from a: r in the shares 1, 0.85, 0.85^2 = 0.7225.

    First place. Links: b with 2 of 4 files, c with 1: specificity ln 4/2 and ln 4/1, of each the root.
        b: 0.85 sqrt(ln 2) = 0.7077,  c: 0.7225 sqrt(ln 4) = 0.8507. c is linked with b alone, which no word found, so
        that it does not belong; of b's two links one leads to a. b, over the sum of r 2.5725: 0.2751.
    Then b joins the seeds: 0.7 a + 0.3 b. Shares: a 0.7, b 0.595 + 0.3, c 0.50575 + 0.255, together 2.35575.
        c: 0.76075 sqrt(ln 4) / 2.35575 = 0.3802. What came first stays first, so that it has what b has.
    They stand behind the last that words found: the file of a, with 0.6 less 0.7 ln 2, the penalty of a second node
    of a file.
    """
    told = Told(
        ["a.py::a", "b.py::b", "c.py::c", "d.py"],
        [("a.py::a", "b.py::b"), ("b.py::b", "c.py::c")],
        {"a.py::a": 1.0, "a.py": 0.6},
        seeds={"a.py::a": 1.0},
    )
    taken = told.taken(2)
    assert [(told.ids(place.file), told.ids(place.entry)) for place in taken] == [
        ("b.py", "b.py::b"),
        ("c.py", "c.py::c"),
    ]
    assert [place.reach for place in taken] == pytest.approx([0.85 * sqrt(log(2)) / 2.5725] * 2, abs=WALK)
    assert taken[1].reach < taken[0].reach
    chosen = told.chosen(top_k=10)
    assert told.names(chosen) == ["a.py::a", "a.py", "b.py::b", "c.py::c"]
    assert [c.score for c in chosen] == pytest.approx([1.0, *[0.6 - 0.7 * log(2)] * 3], abs=1e-8)
    assert [c.by_graph for c in chosen] == [False, False, True, True]
    assert chosen[2].score < chosen[1].score  # behind, not beside


def test_a_chain_is_followed_because_what_is_taken_becomes_a_seed() -> None:
    """a calls b and four others, these with confidence 0.8; b calls c, c calls d. Of 8 files, b and c are linked with
    2, d and the others with 1. From a: b 0.17, c 0.1445, d 0.1228, each other 0.136, times the root of ln 8/2 or
    ln 8: b 0.200, c 0.170, d 0.177, others 0.196. When b has joined, the others have 0.7 of that, and c
    (0.7 0.1445 + 0.3 0.85) 1.177 = 0.419; d has 0.437 and waits for c, with which alone it is linked."""
    others = [f"o{i}.py::o" for i in range(4)]
    edges = [("a.py::a", "b.py::b"), ("b.py::b", "c.py::c"), ("c.py::c", "d.py::d")]
    edges += [("a.py::a", o, EdgeKind.CALLS, 0.8) for o in others]
    told = Told(["a.py::a", "b.py::b", "c.py::c", "d.py::d", *others], edges, {"a.py::a": 1.0})
    walk = told.ranking.pagerank
    assert walk is not None
    share = walk.scores / walk.scores[told.node("a.py::a")]
    reach = {n: share[told.node(n)] * sqrt(log(8 / k)) for n, k in (("b.py::b", 2), ("d.py::d", 1), (others[0], 1))}
    assert list(reach.values()) == pytest.approx([0.200, 0.177, 0.196], abs=1e-3)
    assert told.by_graph(top_k=15) == ["b.py::b", "c.py::c", "d.py::d"]
    assert told.by_graph(top_k=5) == ["b.py::b"]


def test_what_everything_uses_gets_no_place() -> None:
    """Nine functions of nine files call log: of its 9 links one leads to what was found, 0.11 of them and less than
    0.12. With eight it is 0.125, and the file belongs."""
    for n, expected in ((9, []), (8, ["log.py::log"])):
        users = ["a.py::a", *(f"u{i}.py::u" for i in range(n - 1))]
        told = Told([*users, "log.py::log"], [(user, "log.py::log") for user in users], {"a.py::a": 1.0})
        assert told.by_graph(top_k=10) == expected


def test_a_file_that_everything_is_linked_with_gets_none_even_by_what_few_use() -> None:
    """a alone calls odd, which stands in a file that 13 files are linked with: 1/13 = 0.077 < 0.08; 1/12 = 0.083."""
    for n, expected in ((13, []), (12, ["tools.py::odd"])):
        users = ["a.py::a", *(f"u{i}.py::u" for i in range(n - 1))]
        edges = [("a.py::a", "tools.py::odd"), *((user, "tools.py::even") for user in users[1:])]
        told = Told([*users, "tools.py::odd", "tools.py::even"], edges, {"a.py::a": 1.0})
        assert told.by_graph(top_k=10) == expected


def test_the_entry_is_what_other_files_give_most_and_not_module_level_code() -> None:
    nodes = ["a.py::a", "b.py::first", "b.py::second", "b.py", "c.py"]
    edges = [
        ("a.py::a", "b.py::first", EdgeKind.CALLS, 0.5),
        ("a.py::a", "b.py::second", EdgeKind.CALLS, 0.9),
        ("a.py::a", "b.py"),
    ]
    assert Told(nodes, edges, {"a.py::a": 1.0}).by_graph(top_k=10) == ["b.py::second"]
    assert Told(nodes, edges[2:], {"a.py::a": 1.0}).by_graph(top_k=10) == ["b.py"]


def test_what_belongs_but_is_hardly_reached_gets_no_place() -> None:
    """b and far are called by a, far with a confidence of 0.1: 0.1 of what b has. far is behind 0.2 of it, and only
    takes part where b is found by words."""
    nodes, edges = (
        ["a.py::a", "b.py::b", "far.py::far"],
        [("a.py::a", "b.py::b"), ("a.py::a", "far.py::far", EdgeKind.CALLS, 0.1)],
    )
    assert Told(nodes, edges, {"a.py::a": 1.0}).by_graph(top_k=10) == ["b.py::b"]
    found = {"a.py::a": 1.0, "b.py::b": 0.5}
    assert Told(nodes, edges, found, seeds={"a.py::a": 1.0}).by_graph(top_k=10) == ["far.py::far"]


@pytest.mark.parametrize(
    ("route", "top_k", "kept"),
    [
        (Route.LOOKUP, 10, 0),
        (Route.SIMPLE, 10, 2),
        (Route.EXPLORATORY, 10, 2),
        (Route.MULTI_HOP, 10, 3),
        (Route.SIMPLE, 5, 1),
        (Route.SIMPLE, 2, 0),
        (Route.MULTI_HOP, 2, 1),
        (Route.MULTI_HOP, 1, 0),  # one place always belongs to words
    ],
)
def test_routes_keep_places(route: Route, top_k: int, kept: int) -> None:
    for told, options in (
        (chain(extra=15, route=route), {}),
        (chain(extra=15, route=Route.SIMPLE), {"route": route}),  # a forced route decides
    ):
        for level in Level:
            chosen = told.chosen(top_k=top_k, level=level, **options)
            assert [c.by_graph for c in chosen] == [False] * (top_k - kept) + [True] * kept


def test_places_that_nothing_reaches_go_to_words() -> None:
    told = Told(
        ["a.py::a", *(f"x{i}.py" for i in range(9))], [], {"a.py::a": 1.0, **{f"x{i}.py": 0.35 for i in range(9)}}
    )
    chosen = told.chosen(top_k=10)
    assert len(chosen) == 10
    assert not any(c.by_graph for c in chosen)


@pytest.mark.parametrize(("confidence", "taken"), [(0.6, True), (0.25, False)])
def test_what_is_reached_much_less_than_the_first_gets_no_place(confidence: float, taken: bool) -> None:
    """a calls b, surely, and c with less confidence: each gets half of it. Reach below 0.4 of b's goes to words.

    When b has joined the seeds, a has 0.7 of them, and so has c of what it had: with confidence 0.6 it has about
    0.42 of the first reach and more by what returns, with 0.25 about 0.18.
    """
    told = Told(
        ["a.py::a", "b.py::b", "c.py::c", "d.py", "x0.py", "x1.py"],
        [("a.py::a", "b.py::b", EdgeKind.CALLS, 1.0), ("a.py::a", "c.py::c", EdgeKind.CALLS, confidence)],
        {"a.py::a": 1.0, "x0.py": 0.5, "x1.py": 0.4},
        seeds={"a.py::a": 1.0},
    )
    assert told.by_graph(top_k=10) == (["b.py::b", "c.py::c"] if taken else ["b.py::b"])
    assert told.by_graph(top_k=5) == ["b.py::b"]


def test_files_that_words_found_are_not_reached() -> None:
    told = Told(
        ["a.py::a", "b.py::b", "b.py::word", "c.py::c", "d.py"],
        [("a.py::a", "b.py::b"), ("b.py::word", "c.py::c")],
        {"a.py::a": 1.0, "b.py::word": 0.1},
    )
    assert told.by_graph(top_k=10) == ["c.py::c"]
    assert told.by_graph(top_k=10, level=Level.FILE) == ["c.py"]


@pytest.mark.parametrize(("n_others", "by_graph"), [(7, ["b.py::b"]), (6, [])])
def test_files_that_words_show_get_no_place_of_the_graph(n_others: int, by_graph: list[str]) -> None:
    """Two of ten places are kept. b is the ninth file by words, which do not show it, or the eighth, which they do."""
    found = {"a.py::a": 1.0, "b.py::b": 0.01, **{f"x{i:02}.py": 0.5 for i in range(n_others)}}
    told = Told(["a.py::a", "b.py::b", *list(found)[2:]], [("a.py::a", "b.py::b")], found, seeds={"a.py::a": 1.0})
    assert told.by_graph(top_k=10) == by_graph


def test_a_node_has_one_place_even_if_words_found_it_as_well() -> None:
    found = {"a.py::a": 1.0, "b.py::b": 0.01, **{f"x{i:02}.py": 0.5 for i in range(19)}}
    told = Told(["a.py::a", "b.py::b", *list(found)[2:]], [("a.py::a", "b.py::b")], found, seeds={"a.py::a": 1.0})
    names = told.names(told.chosen(top_k=30))
    assert len(names) == len(set(names)) == 21
    assert names[-1] == "b.py::b"


def test_what_all_files_use_explains_nothing() -> None:
    """log is called by all 4 other files, check by one: the roots of ln 5/4 and ln 5/2 are 0.47 and 0.96. The walk
    reaches log from a and from check, 0.425 + 0.85 * 0.425, check from a alone, 0.425."""
    nodes = ["a.py::a", "log.py::log", "check.py::check", "x.py::x", "y.py::y"]
    edges = [(f"{x}.py::{x}", "log.py::log") for x in ("a", "x", "y", "check")] + [("a.py::a", "check.py::check")]
    told = Told(nodes, edges, {"a.py::a": 1.0})
    walk = told.ranking.pagerank
    assert walk is not None
    assert walk.scores[told.node("log.py::log")] > 1.8 * walk.scores[told.node("check.py::check")]
    assert told.by_graph(top_k=5) == ["check.py::check"]


@pytest.mark.parametrize(("factor", "first"), [(0.9, "t.py"), (0.7, "b.py")])
def test_the_factor_of_the_role_counts_three_times(factor: float, first: str) -> None:
    """The walk reaches t with confidence 1 and b with 0.5: 0.9^3 = 0.73 is more than that, 0.7^3 = 0.34 is less."""
    told = Told(
        ["a.py::a", "b.py::b", "t.py::t", "z.py"],
        [("a.py::a", "b.py::b", EdgeKind.CALLS, 0.5), ("a.py::a", "t.py::t", EdgeKind.CALLS, 1.0)],
        {"a.py::a": 1.0},
        role={"t.py::t": factor},
    )
    assert told.by_graph(top_k=5, level=Level.FILE) == [first]


def test_the_factor_of_the_kind_counts_once() -> None:
    told = Told(
        ["a.py::a", "b.py::b", "t.py::t", "z.py"],
        [("a.py::a", "b.py::b", EdgeKind.CALLS, 0.5), ("a.py::a", "t.py::t", EdgeKind.CALLS, 1.0)],
        {"a.py::a": 1.0},
        kind={"t.py::t": 0.6},
    )
    assert told.by_graph(top_k=5, level=Level.FILE) == ["t.py"]


def test_a_file_is_reached_by_all_of_its_nodes() -> None:
    """a calls b, and c and d of one file with 0.6 each: 1.2 in the sum."""
    told = Told(
        ["a.py::a", "b.py::b", "cd.py::c", "cd.py::d", "z.py"],
        [("a.py::a", "b.py::b"), *(("a.py::a", f"cd.py::{x}", EdgeKind.CALLS, 0.6) for x in "cd")],
        {"a.py::a": 1.0},
    )
    assert told.by_graph(top_k=5, level=Level.FILE) == ["cd.py"]
    assert told.by_graph(top_k=5) == ["cd.py::c"]  # both get the same: the first by id


def test_a_file_is_entered_where_others_call_it_not_where_its_mass_gathers() -> None:
    """a calls b.enter, which calls b.loop, which calls itself: r(loop) = 0.85 r(enter) / 0.15."""
    told = Told(
        ["a.py::a", "b.py::enter", "b.py::loop", "z.py"],
        [("a.py::a", "b.py::enter"), ("b.py::enter", "b.py::loop"), ("b.py::loop", "b.py::loop")],
        {"a.py::a": 1.0},
    )
    walk = told.ranking.pagerank
    assert walk is not None
    assert walk.scores[told.node("b.py::loop")] > 5 * walk.scores[told.node("b.py::enter")]
    assert told.by_graph(top_k=5) == ["b.py::enter"]
    assert told.by_graph(top_k=5, level=Level.FILE) == ["b.py"]


def test_a_definition_stands_for_its_file_rather_than_module_level_code() -> None:
    edges = [("a.py::a", "b.py", EdgeKind.CALLS, 1.0), ("a.py::a", "b.py::b", EdgeKind.CALLS, 0.1)]
    told = Told(["a.py::a", "b.py::b", "z.py"], edges, {"a.py::a": 1.0})
    assert told.by_graph(top_k=5) == ["b.py::b"]
    told = Told(["a.py::a", "b.py::b", "z.py"], edges[:1], {"a.py::a": 1.0})
    assert told.by_graph(top_k=5) == ["b.py"]


# -- the list


def test_ties_go_by_id() -> None:
    """Scores that differ by less than 5e-13 are equal; k cuts among equals by id as well."""
    found = {"c.py": 0.5, "a.py": 0.5 - 1e-14, "d.py": 0.5 + 1e-14, "b.py": 0.5, "e.py": 0.4, "f.py": 0.6}
    told = Told(list(found), [], found, seeds={})
    assert told.names(told.chosen(top_k=10)) == ["f.py", "a.py", "b.py", "c.py", "d.py", "e.py"]
    assert told.names(told.chosen(top_k=3)) == ["f.py", "a.py", "b.py"]
    assert told.names(told.chosen(top_k=1)) == ["f.py"]


@given(st.lists(st.sampled_from([0.0, 1e-13, 0.3, 0.3 + 1e-14, 0.3 + 1e-9, 0.7]), max_size=60), st.integers(0, 8))
def test_the_best_k_against_sorting(scores: list[float], k: int) -> None:
    expected = sorted((i for i, s in enumerate(scores) if round(s, 12) > 0), key=lambda i: (-round(scores[i], 12), i))
    assert select_top(np.array(scores), k) == expected[:k]


def test_files_and_definitions_are_two_lists() -> None:
    told = chain(extra=1)
    assert told.names([c for c in told.chosen(top_k=4) if not c.by_graph]) == ["a.py::a", "x0.py"]
    assert told.names([c for c in told.chosen(top_k=4, level=Level.FILE) if not c.by_graph]) == ["a.py", "x0.py"]


def test_without_the_graph_words_have_all_places() -> None:
    told = chain(extra=15)
    told.ranking = replace(told.ranking, pagerank=None)
    for level in Level:
        chosen = told.chosen(top_k=10, level=level)
        assert len(chosen) == 10
        assert not any(c.by_graph for c in chosen)
    assert told.chosen(rank=RankMode.PAGERANK) == []


def test_pagerank_alone_orders_by_r_and_files_by_their_sum() -> None:
    """r in the shares a 1, b 0.85 (two halves in b.py), c 0.7225 from each half together."""
    told = Told(
        ["a.py::a", "b.py::b1", "b.py::b2", "c.py::c", "external:os"],
        [*(("a.py::a", f"b.py::b{i}") for i in (1, 2)), *((f"b.py::b{i}", "c.py::c") for i in (1, 2))],
        {"a.py::a": 1.0, "c.py::c": 0.9},
        seeds={"a.py::a": 1.0},
    )
    chosen = told.chosen(rank=RankMode.PAGERANK)
    assert told.names(chosen) == ["a.py::a", "c.py::c", "b.py::b1", "b.py::b2"]
    assert [c.score * 2.5725 for c in chosen] == pytest.approx([1.0, 0.7225, 0.425, 0.425], abs=WALK)
    files = told.chosen(rank=RankMode.PAGERANK, level=Level.FILE)
    assert told.names(files) == ["a.py", "b.py", "c.py"]
    assert [c.score * 2.5725 for c in files] == pytest.approx([1.0, 0.85, 0.7225], abs=WALK)
    assert told.names(told.chosen(rank=RankMode.PAGERANK, top_k=2)) == ["a.py::a", "c.py::c"]


# -- what stands for a file, and why


def test_the_best_two_definitions_stand_for_a_file() -> None:
    nodes = ["a.py::f", "a.py::g", "a.py::h", "a.py::none", NodeSpec("a.py::x", NodeKind.FIELD)]
    found = {"a.py": 0.95, "a.py::x": 0.9, "a.py::g": 0.5, "a.py::h": 0.7, "a.py::f": 0.5}
    told = Told(nodes, [], found, seeds={})
    inside = best_definitions_in(told.chosen(level=Level.FILE), told.ranking, told.graph, told.transition)
    assert {told.graph.nodes.ids[f]: [told.graph.nodes.ids[n] for n in ns] for f, ns in inside.items()} == {
        "a.py": ["a.py::h", "a.py::f"]
    }


def test_where_only_the_graph_led_the_entries_stand_for_a_file() -> None:
    told = Told(
        ["a.py::a", "b.py::enter", "b.py::loop", "b.py::second", "z.py"],
        [
            *(("a.py::a", "b.py::enter"), ("a.py::a", "b.py::second", EdgeKind.CALLS, 0.5)),
            *(("b.py::enter", "b.py::loop"), ("b.py::loop", "b.py::loop")),
        ],
        {"a.py::a": 1.0},
    )
    chosen = told.chosen(level=Level.FILE, top_k=5)
    inside = best_definitions_in(chosen, told.ranking, told.graph, told.transition)
    assert inside[told.node("b.py")] == [told.node("b.py::enter"), told.node("b.py::second")]


def test_reasons_of_what_only_the_graph_reached() -> None:
    c = corpus(
        {"a.py": [Def("tokenCache")], "b.py": [Def("verify")], "z.py": ""}, [("a.py::tokenCache", "b.py::verify")]
    )
    ranking = ask(c, "how is a token cached")
    chosen = choose(ranking, c.graph, build_transition(c.graph, WalkWeights()), AskOptions())
    found = {c.graph.nodes.ids[x.node]: reasons_for(x, ranking, c.graph, c.lexical, Level.SYMBOL) for x in chosen}
    (reason,) = found["b.py::verify"]
    assert ranking.pagerank is not None
    assert reason.signal == "pagerank"
    assert reason.value == round(float(ranking.pagerank.scores[c.node("b.py::verify")]), 9) > 0
    # Whoever is called gives to who calls: nothing was found that has more of it.
    assert {r.signal for r in found["a.py::tokenCache"]} == {"name coverage", "text", "found file", "graph"}


def test_who_calls_what_is_named_counts_unless_the_graph_is_off() -> None:
    """`send` is named; two definitions say as much of the question, and one of them calls it."""
    parts = {"a.py": [Def("send", "mail")], "b.py": [Def("one", "queue"), Def("two", "queue")]}
    c = corpus({**parts, "c.py": ""}, [("b.py::two", "a.py::send")])
    ranking = ask(c, "the queue holds back `send`")
    weight = default_weights().definition.signals["uses named"]
    assert c.of(ranking.signals.definition["uses named"]) == {"b.py::two": weight}
    assert ranking.definitions[c.node("b.py::two")] > ranking.definitions[c.node("b.py::one")]
    without = ask(c, "the queue holds back `send`", AskOptions(graph=False))
    assert "uses named" not in without.signals.definition
    assert without.definitions[c.node("b.py::two")] == without.definitions[c.node("b.py::one")]


def test_a_file_says_which_of_its_definitions_leads() -> None:
    c = corpus({"a.py": [Def("C", "", NodeKind.CLASS), Def("C.tokenCache", "token cache"), Def("other", "token")]})
    ranking = ask(c, "how is a token cached")
    told = reasons_for(Selection(c.node("a.py"), 1.0, False), ranking, c.graph, c.lexical, Level.FILE)
    details = {r.signal: r.detail for r in told}
    assert details["leading definition"] == "C.tokenCache"


# -- whole questions


def ask(c: Corpus, text: str, options: AskOptions = AskOptions(), **weights: float) -> Ranking:  # noqa: B008
    shipped = default_weights()
    if weights:
        definition = replace(shipped.definition, signals={**shipped.definition.signals, **weights})
        shipped = replace(shipped, definition=definition)
    transition = build_transition(c.graph, WalkWeights())
    return rank_question(parse_query(text), c.graph, c.lexical, transition, shipped, options)


def test_what_the_question_does_not_say_is_reached_over_the_graph() -> None:
    """The example of the design: middleware -> verifier -> primitives, of which only the first says auth."""
    c = corpus(
        {
            "auth_middleware.ts": [Def("requireAuth", "auth request")],
            "jwt_verifier.ts": [Def("verify", "signature")],
            "crypto_utils.ts": [Def("hmac", "bytes")],
            "mail.ts": [Def("send", "letter")],
        },
        [
            ("auth_middleware.ts::requireAuth", "jwt_verifier.ts::verify"),
            ("jwt_verifier.ts::verify", "crypto_utils.ts::hmac"),
        ],
    )
    for level, names in (
        (Level.SYMBOL, ["jwt_verifier.ts::verify", "crypto_utils.ts::hmac"]),
        (Level.FILE, ["jwt_verifier.ts", "crypto_utils.ts"]),
    ):
        options = AskOptions(level=level)
        chosen = choose(ask(c, "where does auth happen"), c.graph, build_transition(c.graph, WalkWeights()), options)
        assert sorted(c.graph.nodes.ids[x.node] for x in chosen if x.by_graph) == sorted(names)
        assert c.graph.nodes.ids[chosen[0].node].startswith("auth_middleware.ts")
        assert "mail.ts" not in {split_id(c.graph.nodes.ids[x.node])[0] for x in chosen}


def test_tests_stand_behind_what_they_test_unless_the_question_asks_for_them() -> None:
    files = {"cache.py": [Def("token_cache", "token cache")], "test_cache.py": [Def("test_token_cache", "token cache")]}
    c = corpus(files, roles={"test_cache.py": Role.TEST})
    transition = build_transition(c.graph, WalkWeights())
    for level in Level:
        options = AskOptions(level=level, graph=False)
        for text, first in (("token cache", "cache.py"), ("which tests cover the token cache", "test_cache.py")):
            best = choose(ask(c, text, options), c.graph, transition, options)[0]
            assert split_id(c.graph.nodes.ids[best.node])[0] == first


def test_what_others_give_counts_for_what_words_found() -> None:
    """Of two that say token once the one that the best definition calls is better; one without a word of the question
    is not in the score at all."""
    files = {"a.py": [Def("tokenCache", "token cache")], "b.py": [Def("put", "token")], "c.py": [Def("get", "token")]}
    edges = [("a.py::tokenCache", "c.py::get"), ("a.py::tokenCache", "d.py::verify")]
    c = corpus({**files, "d.py": [Def("verify")]}, edges)
    put, get, verify = (c.node(name) for name in ("b.py::put", "c.py::get", "d.py::verify"))
    off = ask(c, "token cache", AskOptions(graph=False))
    assert off.definitions[put] == off.definitions[get]
    on = ask(c, "token cache")
    # It is given about as much as what calls it; put has only what it gives itself, through its file.
    assert on.definitions[get] - off.definitions[get] > 0.9 * default_weights().definition.signals["graph"]
    assert on.definitions[put] - off.definitions[put] < 0.5
    assert on.definitions[verify] == off.definitions[verify] == 0
    assert on.files.tolist() == off.files.tolist()


def test_a_literal_text_is_found_where_it_stands_whatever_the_graph_says() -> None:
    c = corpus({"a.py": [Def("f", "token")], "b.py": [Def("g", "token")]}, [("a.py::f", "b.py::g")])
    matched = {c.node("a.py::f"): TextMatches(1, (0,), "")}
    transition = build_transition(c.graph, WalkWeights())
    question = parse_query("'token'")
    on = rank_question(question, c.graph, c.lexical, transition, default_weights(), AskOptions(), matched)
    assert c.of(on.definitions).keys() == {"a.py::f"}
    assert c.of(on.files).keys() == {"a.py"}
    assert not on.signals.definition.get("graph", np.zeros(1)).any()


def test_specificity_weighs_seeds() -> None:
    """Two definitions that match alike; hub has three neighbours, leaf has one, of 9 nodes."""
    callers = {f"c{i}.py": [Def("c")] for i in range(3)}
    files = {"hub.py": [Def("token")], "leaf.py": [Def("token")], **callers}
    edges = [*((f"c{i}.py::c", "hub.py::token") for i in range(3)), ("c0.py::c", "leaf.py::token")]
    c = corpus(files, edges)
    hub, leaf = c.node("hub.py::token"), c.node("leaf.py::token")

    def ratio(specificity: Specificity) -> float:
        seeds = ask(c, "token", AskOptions(specificity=specificity)).seeds
        return float(seeds[hub] / seeds[leaf])

    assert len(c.graph.nodes) == 10
    assert ratio(Specificity.LOG) == pytest.approx(log(10 / 3) / log(10 / 1))
    assert ratio(Specificity.NONE) == pytest.approx(1.0)
    assert ratio(Specificity.PASSAGES) == pytest.approx(1.0)  # no passage mentions either


def test_damping_is_the_probability_of_following_an_edge() -> None:
    c = corpus({"a.py": [Def("tokenCache")], "b.py": [Def("verify")]}, [("a.py::tokenCache", "b.py::verify")])
    low, high = (ask(c, "token cache", AskOptions(damping=d)).pagerank for d in (0.0, 0.85))
    assert low is not None
    assert high is not None
    assert low.scores[c.node("b.py::verify")] == 0
    assert high.scores[c.node("b.py::verify")] > 0.1


said = st.lists(st.sampled_from([*WORDS, "where", "why", "tests", "overview", "\n", "src/auth.py", "zebra"])).map(
    " ".join
)
options = st.builds(
    AskOptions,
    top_k=st.integers(1, 8),
    level=st.sampled_from(Level),
    route=st.none() | st.sampled_from(Route),
    rank=st.sampled_from(RankMode),
    graph=st.booleans(),
    damping=st.sampled_from([0.0, 0.5, 0.85]),
    specificity=st.sampled_from(Specificity),
)


@pytest.mark.slow
@given(corpora(linked=True), said, options)
def test_any_answer(c: Corpus, text: str, asked: AskOptions) -> None:
    transition = build_transition(c.graph, WalkWeights())
    ranking = ask(c, text, asked)
    chosen = choose(ranking, c.graph, transition, asked)
    nodes, scores = [x.node for x in chosen], [x.score for x in chosen]
    kinds = c.graph.nodes.kinds[nodes]
    assert len(nodes) == len(set(nodes)) <= asked.top_k
    assert all(np.isfinite(s) and s > 0 for s in scores)
    # Fused scores compare as they are rounded.
    assert all(a >= b - 1e-12 for a, b in pairwise(scores))
    assert not (kinds == NodeKind.EXTERNAL).any()
    if asked.level is Level.FILE:
        assert (kinds == NodeKind.FILE).all()
    assert (ranking.pagerank is not None) == (asked.graph and bool(ranking.matches))
    assert ranking.seeds.sum() == pytest.approx(1.0 if ranking.pagerank is not None else 0.0)
    if not asked.graph:
        assert not any(x.by_graph for x in chosen)
    if asked.rank is RankMode.FUSED:
        assert [x.by_graph for x in chosen] == sorted(x.by_graph for x in chosen)
        table = ranking.files if asked.level is Level.FILE else ranking.definitions
        found = [(x.score, table[x.node]) for x in chosen if not x.by_graph]
        if ROUTES[asked.route or ranking.question.route].diversity_penalty and asked.level is Level.SYMBOL:
            assert all(score <= whole for score, whole in found)  # less a penalty
        else:
            assert all(score == whole for score, whole in found)
        assert sum(x.by_graph for x in chosen) <= max(0.3 * asked.top_k + 0.5, 0)
        if (asked.route or ranking.question.route) is Route.LOOKUP:
            assert not any(x.by_graph for x in chosen)
    elif ranking.pagerank is not None and asked.level is Level.SYMBOL:
        assert scores == [ranking.pagerank.scores[n] for n in nodes]
    for x in chosen:
        assert all(reason.value >= 0 for reason in reasons_for(x, ranking, c.graph, c.lexical, asked.level))
    inside = best_definitions_in(chosen, ranking, c.graph, transition)
    assert all(c.graph.nodes.files[n] == f for f, found in inside.items() for n in found)
    assert all(len(found) <= 2 for found in inside.values())


@pytest.mark.slow
@given(corpora(linked=True), options)
def test_unknown_words_find_nothing(c: Corpus, asked: AskOptions) -> None:
    ranking = ask(c, "zebra giraffe", asked)
    assert ranking.pagerank is None
    assert ranking.matches == {}
    assert not ranking.definitions.any()
    assert not ranking.files.any()
    assert not ranking.seeds.any()
    assert choose(ranking, c.graph, build_transition(c.graph, WalkWeights()), asked) == []


def test_hostile_questions_are_ranked_in_time() -> None:
    """Thousands of names, paths and abbreviations that the repository has or nearly has."""
    c = corpus({f"p{i}/index.ts": [Def("index", "index"), Def("verify")] for i in range(60)})
    words = " ".join(f"p{i}/index.ts verify.index{i} index_{i} {'abcdefghij' * 5}{i}" for i in range(400))
    start = time.process_time()
    ranking = ask(c, words)
    assert choose(ranking, c.graph, build_transition(c.graph, WalkWeights()), AskOptions())
    assert time.process_time() - start < 5.0
