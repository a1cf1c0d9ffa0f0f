"""Probability that a definition is needed: own evidence, edges, chains of calls; by hand on graphs of a few nodes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causalist.extract import relevance_model
from causalist.extract.relevance_model import (
    ALIKE_SHARE,
    BETWEEN_NEED,
    CALLEE_SHARE,
    EDGE_FEATURES,
    MAX_VALUE_LINES,
    NAMED_NEED,
    NEXT_CALL_SHARE,
    OWN_FEATURES,
    VALUE_SHARE,
    RelevanceInput,
    RelevanceModel,
    default_relevance,
    edge_features,
    judge_relevance,
    own_features,
    word_pool,
)
from causalist.model.graph import EdgeKind
from causalist.model.node_ids import NodeKind, Role
from tests.graphs import EdgeSpec, NodeSpec, make_graph, random_graphs

CHAIN = make_graph(
    [
        "a.py",
        NodeSpec("a.py::best", end_row=9),
        NodeSpec("a.py::helper", start_row=10, end_row=19),
        NodeSpec("a.py::deeper", start_row=20, end_row=29),
        NodeSpec("a.py::stub", start_row=30, end_row=30),
        NodeSpec("a.py::doubtful", start_row=40, end_row=49),
        NodeSpec("a.py::check", start_row=50, end_row=59, role=Role.TEST),
    ],
    [
        EdgeSpec("a.py::best", "a.py::helper", confidence=0.99),
        EdgeSpec("a.py::helper", "a.py::deeper", confidence=0.99),
        EdgeSpec("a.py::best", "a.py::stub", confidence=0.99),
        EdgeSpec("a.py::best", "a.py::doubtful", confidence=0.2),
        EdgeSpec("a.py::best", "a.py::check", confidence=0.99),
    ],
)
NODE = {name: CHAIN.nodes.ids.position(f"a.py::{name}") for name in ("best", "helper", "deeper", "stub", "doubtful")}


def only_rank(constant: float) -> RelevanceModel:
    """A model that knows the rank alone: what words did not find gets hardly anything."""
    own = np.zeros(len(OWN_FEATURES) + 1)
    own[OWN_FEATURES.index("rank")], own[-1] = -5.0, constant
    edges = np.concatenate([own[:-1], np.zeros(len(EDGE_FEATURES)), own[-1:]])
    return RelevanceModel(own, edges, own)


def ask(scores: dict[int, float]) -> RelevanceInput:
    definitions = np.zeros(len(CHAIN.nodes))
    for node, score in scores.items():
        definitions[node] = score
    ranked = sorted(scores, key=lambda node: -scores[node])
    return RelevanceInput(CHAIN, definitions, np.zeros(len(CHAIN.nodes)), ranked, frozenset(), 0.5, no_terms)


def no_terms(nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of a query without terms."""
    return np.zeros(0), np.zeros((len(nodes), 0), dtype=np.bool_)


def test_what_the_best_calls_gets_a_share() -> None:
    """P(best) = 1 / (1 + e^0) = 1/2. Each callee has one user, log2(1 + 1) = 1, and an edge of 0.99."""
    needed = {each.node: each for each in judge_relevance(ask({NODE["best"]: 3.0}), only_rank(0.0))}
    assert needed[NODE["best"]].probability == pytest.approx(0.5)
    helper = CALLEE_SHARE * 0.5 * 0.99
    assert needed[NODE["helper"]].probability == pytest.approx(helper)
    assert needed[NODE["deeper"]].probability == pytest.approx(NEXT_CALL_SHARE * helper * 0.99)
    assert needed[NODE["helper"]].source == NODE["best"]
    assert CHAIN.edge(needed[NODE["deeper"]].edge).source == "a.py::helper"


@pytest.mark.parametrize("use_edges", [True, False])
def test_a_function_that_the_caller_named_is_likely_needed(use_edges: bool) -> None:
    given = ask({NODE["best"]: 3.0})._replace(named={NODE["stub"]: 0.5, NODE["best"]: 0.01})
    needed = {each.node: each.probability for each in judge_relevance(given, only_rank(0.0), use_edges=use_edges)}
    assert needed[NODE["stub"]] == pytest.approx(NAMED_NEED / 2)
    assert needed[NODE["best"]] == pytest.approx(0.5)  # what words say of it is more


def test_what_joins_two_given_names_is_needed() -> None:
    """`joins` calls `p` and is called by `q`."""
    names = ("p", "q", "joins", "aside")
    nodes = [NodeSpec(f"a.py::{name}", start_row=10 * i, end_row=10 * i + 9) for i, name in enumerate(names)]
    edges = [EdgeSpec("a.py::joins", "a.py::p", confidence=0.5), EdgeSpec("a.py::q", "a.py::joins")]
    graph = make_graph(["a.py", *nodes], [*edges, EdgeSpec("a.py::aside", "a.py::q")])
    node = {name: graph.nodes.ids.position(f"a.py::{name}") for name in names}
    named = {node["p"]: 1.0, node["q"]: 0.5}
    pool, found = relevance_model.follow_named(graph, named, np.array(list(named)), np.full(2, 0.4), {})
    value = dict(zip(pool.tolist(), found.tolist(), strict=True))
    # `p` gives 1.0 * 0.5 and `q` 0.5 * 1.0.
    assert value.pop(node["joins"]) == pytest.approx(BETWEEN_NEED * 0.5)
    assert value == dict.fromkeys(named, 0.4)


def test_only_caller_of_a_needed_function_is_needed() -> None:
    """`r` has one caller beside a test and itself, `s` two; `t` is hardly needed, and the caller of `u` is more so."""
    names = ("r", "s", "t", "u", "only", "one", "two", "rare", "known")
    nodes = [NodeSpec(f"a.py::{name}", start_row=10 * i, end_row=10 * i + 9) for i, name in enumerate(names)]
    test = NodeSpec("a.py::test", start_row=90, end_row=99, role=Role.TEST)
    pairs = [("test", "r"), ("r", "r"), ("one", "s"), ("two", "s"), ("rare", "t"), ("known", "u")]
    edges = [EdgeSpec(f"a.py::{source}", f"a.py::{target}") for source, target in pairs]
    graph = make_graph(["a.py", *nodes, test], [*edges, EdgeSpec("a.py::only", "a.py::r", confidence=0.8)])
    node = {name: graph.nodes.ids.position(f"a.py::{name}") for name in names}
    before = {node["r"]: 0.4, node["s"]: 0.4, node["t"]: 0.09, node["u"]: 0.2, node["known"]: 0.3}
    gave: dict[int, tuple[int, int]] = {}
    pool, found = relevance_model.follow_only_callers(
        graph, {}, np.array(list(before)), np.array(list(before.values())), gave
    )
    value = dict(zip(pool.tolist(), found.tolist(), strict=True))
    assert value.pop(node["only"]) == pytest.approx(0.5 * 0.4 * 0.8)
    assert value == before
    assert gave[node["only"]][0] == node["r"] and graph.edge(gave[node["only"]][1]).source == "a.py::only"
    named = {node["t"]: 0.5}  # then only what was named counts, here with the need of half a name
    pool, found = relevance_model.follow_only_callers(
        graph, named, np.array(list(before)), np.array(list(before.values())), gave
    )
    value = dict(zip(pool.tolist(), found.tolist(), strict=True))
    assert value.pop(node["rare"]) == pytest.approx(0.5 * NAMED_NEED * 0.5)
    assert value == before


def test_two_definitions_of_one_name_are_one_end() -> None:
    """`user` calls both overloads of `put`, which says nothing of what a second name would."""
    names = ("Box.put", "Box.put~2", "user", "other")
    nodes = ["a.py::Box", *(NodeSpec(f"a.py::{name}", start_row=i, end_row=i) for i, name in enumerate(names))]
    edges = [EdgeSpec(f"a.py::{name}", f"a.py::Box.put{end}") for name in ("user", "other") for end in ("", "~2")]
    graph = make_graph(["a.py", *nodes], edges)
    named = {graph.nodes.ids.position(f"a.py::Box.put{end}"): 0.5 for end in ("", "~2")}
    pool, _ = relevance_model.follow_named(graph, named, np.array(list(named)), np.full(2, 0.2), {})
    assert set(pool.tolist()) == set(named)


def test_callees_divide_the_share_and_a_hub_gets_less() -> None:
    """`own` has one user, `hub` three: certainties 1 / log2(2) = 1 and 1 / log2(4) = 1/2, in all 1.5."""
    names = ("best", "own", "hub", "other", "third")
    nodes = [NodeSpec(f"a.py::{name}", start_row=10 * i, end_row=10 * i + 9) for i, name in enumerate(names)]
    users = [EdgeSpec(f"a.py::{name}", "a.py::hub") for name in ("best", "other", "third")]
    graph = make_graph(["a.py", *nodes], [EdgeSpec("a.py::best", "a.py::own"), *users])
    best, own, hub = (graph.nodes.ids.position(f"a.py::{name}") for name in ("best", "own", "hub"))
    pool, found = relevance_model.follow_calls(graph, np.array([best]), np.array([0.6]), {})
    value = dict(zip(pool.tolist(), found.tolist(), strict=True))
    assert value[own] == pytest.approx(CALLEE_SHARE * 0.6 / 1.5)
    assert value[hub] == pytest.approx(CALLEE_SHARE * 0.6 * 0.5 / 1.5)


def test_a_call_of_a_declared_method_leads_to_what_overrides_it() -> None:
    """Two classes override it, so that each gets half of what the call gives; a double of a test is none of them."""
    methods = [NodeSpec(f"a.py::{name}", start_row=10 * i, end_row=10 * i + 9) for i, name in enumerate("pqr")]
    double = NodeSpec("a.py::double", start_row=40, end_row=49, role=Role.TEST)
    graph = make_graph(
        ["a.py", NodeSpec("a.py::best", start_row=90, end_row=99), *methods, double],
        [
            EdgeSpec("a.py::best", "a.py::p"),
            EdgeSpec("a.py::q", "a.py::p", EdgeKind.OVERRIDES),
            EdgeSpec("a.py::r", "a.py::p", EdgeKind.OVERRIDES),
            EdgeSpec(double.id, "a.py::p", EdgeKind.OVERRIDES),
        ],
    )
    best, *ends = (graph.nodes.ids.position(f"a.py::{name}") for name in ("best", "p", "q", "r"))
    pool, found = relevance_model.follow_calls(graph, np.array([best]), np.array([0.6]), {})
    value = dict(zip(pool.tolist(), found.tolist(), strict=True))
    each = CALLEE_SHARE * 0.6 / np.log2(1 + 4) / 2  # the call and three overriding methods enter the declared one
    assert [value.get(end, 0.0) for end in ends] == [0.0, pytest.approx(each), pytest.approx(each)]


def test_what_overrides_and_does_nothing_is_left_out_where_another_does_something() -> None:
    """`idle` has three lines and no call; of `one`, only what is idle overrides it."""
    names = ("best", "p", "idle", "busy", "used", "one", "none")
    nodes = [NodeSpec(f"a.py::{name}", start_row=10 * i, end_row=10 * i + 2) for i, name in enumerate(names)]
    pairs = {("best", "p"): EdgeKind.CALLS, ("best", "one"): EdgeKind.CALLS, ("busy", "used"): EdgeKind.CALLS}
    pairs |= dict.fromkeys([("idle", "p"), ("busy", "p"), ("none", "one")], EdgeKind.OVERRIDES)
    edges = [EdgeSpec(f"a.py::{one}", f"a.py::{other}", kind) for (one, other), kind in pairs.items()]
    graph = make_graph(["a.py", *nodes], edges)
    best = graph.nodes.ids.position("a.py::best")
    pool, _ = relevance_model.follow_calls(graph, np.array([best]), np.array([0.6]), {})
    assert {graph.nodes.ids[node] for node in pool.tolist()} == {f"a.py::{n}" for n in ("best", "busy", "used", "none")}


def test_loggers_are_not_followed_but_logs_of_something_are() -> None:
    """`log/event.go` has functions of two levels, `models/log.py` none; what logs calls its like."""
    where = {
        "a.go": ("best",), "log/event.go": ("Event.Tag", "Event.Warn", "Event.Debug"), "models/log.py": ("WorkoutLog",),
    }  # fmt: skip
    ids = [f"{path}::{name}" for path, names in where.items() for name in names]
    nodes = [NodeSpec(each, NodeKind.METHOD, start_row=10 * i, end_row=10 * i + 9) for i, each in enumerate(ids)]
    edges = [EdgeSpec("a.go::best", each) for each in ids if "Debug" not in each and "best" not in each]
    graph = make_graph([*where, *nodes], [*edges, EdgeSpec("log/event.go::Event.Warn", "log/event.go::Event.Debug")])

    def reached(name: str) -> set[str]:
        start = np.array([graph.nodes.ids.position(name)])
        followed, _ = relevance_model.follow_calls(graph, start, np.array([0.6]), {})
        linked, _ = relevance_model.with_neighbors(graph, start, np.array([0.6]))
        assert set(followed.tolist()) <= set(linked.tolist())
        return {graph.nodes.ids[node] for node in linked.tolist()}

    assert reached("a.go::best") == {"a.go::best", "models/log.py::WorkoutLog"}
    assert "log/event.go::Event.Debug" in reached("log/event.go::Event.Warn")


def test_a_request_and_an_event_lead_to_what_handles_them() -> None:
    """The route has one handler, 0.9 * 0.8; the event another, 0.6; each has one user, and they share 1.32."""
    names = ("best", "handler", "listener")
    nodes = [NodeSpec(f"a.py::{name}", start_row=10 * i, end_row=10 * i + 9) for i, name in enumerate(names)]
    route = "external:route:GET /tasks"
    graph = make_graph(
        ["a.py", *nodes, NodeSpec(route, kind=NodeKind.EXTERNAL)],
        [
            EdgeSpec("a.py::best", route, EdgeKind.ROUTES, confidence=0.9),
            EdgeSpec(route, "a.py::handler", EdgeKind.ROUTES, confidence=0.8),
            EdgeSpec("a.py::best", "a.py::listener", EdgeKind.EMITS, confidence=0.6),
        ],
    )
    best, handler, listener = (graph.nodes.ids.position(f"a.py::{name}") for name in names)
    gave: dict[int, tuple[int, int]] = {}
    pool, found = relevance_model.follow_calls(graph, np.array([best]), np.array([0.6]), gave)
    value = dict(zip(pool.tolist(), found.tolist(), strict=True))
    assert value[handler] == pytest.approx(CALLEE_SHARE * 0.6 * 0.72 / 1.32)
    assert value[listener] == pytest.approx(CALLEE_SHARE * 0.6 * 0.6 / 1.32)
    assert gave[handler][0] == best and graph.edge(gave[handler][1]).source == route


def test_short_constants_that_the_best_reads_get_a_share() -> None:
    """`LIMIT` has one reader, log2(1 + 1) = 1, `SHARED` three, log2(1 + 3) = 2; `TABLE` is too long.

    The two divide the share.
    """
    constants = [
        NodeSpec("a.py::_LOG", start_row=89, kind=NodeKind.CONSTANT),
        NodeSpec("a.py::LIMIT", start_row=90, kind=NodeKind.CONSTANT),
        NodeSpec("a.py::SHARED", start_row=91, kind=NodeKind.CONSTANT),
        NodeSpec("a.py::TABLE", start_row=92, end_row=92 + MAX_VALUE_LINES, kind=NodeKind.CONSTANT),
    ]
    others = [
        NodeSpec(f"a.py::{name}", start_row=10 * i, end_row=10 * i + 9) for i, name in enumerate(("best", "x", "y"))
    ]
    graph = make_graph(
        ["a.py", *others, *constants],
        [
            *(EdgeSpec("a.py::best", f"a.py::{name}", EdgeKind.READS) for name in ("LIMIT", "SHARED", "TABLE", "_LOG")),
            *(EdgeSpec(f"a.py::{name}", "a.py::SHARED", EdgeKind.READS) for name in ("x", "y")),
        ],
    )
    best, limit, shared, table = (graph.nodes.ids.position(f"a.py::{n}") for n in ("best", "LIMIT", "SHARED", "TABLE"))
    pool, found = relevance_model.follow_values(graph, np.array([best]), np.array([0.6]), {})
    value = dict(zip(pool.tolist(), found.tolist(), strict=True))
    share = VALUE_SHARE * 0.6 / 2
    assert value == {best: 0.6, limit: pytest.approx(share), shared: pytest.approx(share / 2)}
    assert table not in value
    unlikely, _ = relevance_model.follow_values(graph, np.array([best]), np.array([relevance_model.MIN_SOURCE / 2]), {})
    assert unlikely.tolist() == [best]


def test_of_nodes_that_match_alike_the_better_count_more() -> None:
    """`stub` has the terms of `best`; `deeper` has others, and `helper` got its probability from `best`."""
    has = {NODE["best"]: (1, 1, 0), NODE["stub"]: (1, 1, 0), NODE["helper"]: (1, 1, 0), NODE["deeper"]: (0, 1, 1)}

    def terms_of(nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.array([0.5, 0.3, 0.2]), np.array([has[node] for node in nodes.tolist()], dtype=np.bool_)

    judged = [
        relevance_model.NeededNode(NODE["best"], 0.5),
        relevance_model.NeededNode(NODE["helper"], 0.4, NODE["best"], 0),
        relevance_model.NeededNode(NODE["stub"], 0.3),
        relevance_model.NeededNode(NODE["deeper"], 0.2),
    ]
    found = relevance_model.discount_alike(ask({NODE["best"]: 3.0})._replace(terms_of=terms_of), judged)
    values = {each.node: each.probability for each in found}
    assert values[NODE["best"]] == 0.5 and values[NODE["helper"]] == 0.4 and values[NODE["deeper"]] == 0.2
    assert values[NODE["stub"]] == pytest.approx(0.3 * ALIKE_SHARE**2)  # it is like both `best` and `helper`


def test_stubs_doubtful_calls_and_tests_are_not_followed() -> None:
    needed = {each.node: each.probability for each in judge_relevance(ask({NODE["best"]: 3.0}), only_rank(0.0))}
    for other in (NODE["stub"], NODE["doubtful"], CHAIN.nodes.ids.position("a.py::check")):
        assert needed.get(other, 0.0) < 1e-6


def test_accessors_are_not_followed_but_short_functions_are() -> None:
    """`get` reads a field of its class, `digest` one of nothing; `load` reads it, too, and calls."""
    members = ("get", "digest", "load")
    methods = [NodeSpec(f"a.py::C.{name}", start_row=30 + 5 * i, end_row=34 + 5 * i) for i, name in enumerate(members)]
    field = NodeSpec("a.py::C.field", NodeKind.FIELD, start_row=29, end_row=29)
    graph = make_graph(
        ["a.py", NodeSpec("a.py::best", end_row=9), NodeSpec("a.py::C", NodeKind.CLASS, 20, 60), field, *methods],
        [
            *(EdgeSpec("a.py::best", f"a.py::C.{name}") for name in members),
            EdgeSpec("a.py::C.get", "a.py::C.field", EdgeKind.READS),
            EdgeSpec("a.py::C.load", "a.py::C.field", EdgeKind.READS),
            EdgeSpec("a.py::C.load", "a.py::C.digest"),
        ],
    )
    best, *ends = (graph.nodes.ids.position(f"a.py::{name}") for name in ("best", *(f"C.{name}" for name in members)))
    pool, _ = relevance_model.follow_calls(graph, np.array([best]), np.array([0.6]), {})
    assert [end in pool for end in ends] == [False, True, True]


def test_without_edges_only_what_words_found_is_judged() -> None:
    needed = judge_relevance(ask({NODE["best"]: 3.0, NODE["stub"]: 1.0}), only_rank(0.0), use_edges=False)
    assert [each.node for each in needed] == [NODE["best"], NODE["stub"]]
    assert all(each.source == each.edge == -1 for each in needed)


def test_an_unlikely_source_gives_nothing() -> None:
    """P(best) = 1 / (1 + e^4) = 0.018 is below the least that is followed."""
    needed = {each.node: each.probability for each in judge_relevance(ask({NODE["best"]: 3.0}), only_rank(-4.0))}
    assert needed[NODE["best"]] < relevance_model.MIN_SOURCE
    assert needed.get(NODE["helper"], 0.0) < 1e-6


def test_own_features_by_hand() -> None:
    given = ask({NODE["best"]: 3.0, NODE["stub"]: 1.0})
    pool = word_pool(given)
    own = own_features(given, pool)
    assert pool.tolist() == [NODE["best"], NODE["stub"]]
    column = {name: own[:, i].tolist() for i, name in enumerate(OWN_FEATURES)}
    assert column["rank"] == [0.0, pytest.approx(np.log(2))]
    assert column["gap"] == [0.0, 2.0]
    assert column["odds"] == pytest.approx([1 / (1 + np.exp(-2)), np.exp(-2) / (1 + np.exp(-2))])
    assert column["lines"] == pytest.approx([np.log(11), np.log(2)])
    assert column["confidence"] == [0.5, 0.5]


def test_edge_features_by_hand() -> None:
    """helper is called by best: 1/2 * 0.99 / log2(2). best is seen from helper, whose probability is 0."""
    pool = np.array([NODE["best"], NODE["helper"]])
    features, gave = edge_features(CHAIN, pool, np.array([0.5, 0.0]), np.array([1.0, 0.25]))
    column = {name: features[:, i].tolist() for i, name in enumerate(EDGE_FEATURES)}
    assert column["calls out"] == [0.0, pytest.approx(0.495)]
    assert column["calls in"] == [0.0, 0.0]
    assert column["sure edge"] == [0.0, 0.5] and column["sure and said"] == [0.0, 0.125]
    assert column["same file"] == [0.0, 0.5] and column["all edges"] == [0.0, pytest.approx(0.495)]
    assert column["fan-in"] == [0.0, pytest.approx(np.log(2))]
    assert gave[NODE["helper"]][0] == NODE["best"]


def test_what_ranks_lower_is_nearly_as_likely_in_a_question_without_words_of_the_code() -> None:
    """Functions of 20 lines in first and tenth place, 2 of distance in score: the first is less far ahead."""
    lead = {}
    for by_meaning in (False, True):
        own = np.zeros((2, len(OWN_FEATURES)))
        for name, values in (("rank", np.log1p([0, 9])), ("gap", [0, 2]), ("lines", np.log1p([20, 20]))):
            own[:, OWN_FEATURES.index(name)] = values
        for name in ("is callable", "is code"):
            own[:, OWN_FEATURES.index(name)] = 1
        own[:, OWN_FEATURES.index("confidence")] = 0.4
        first, tenth = relevance_model.logistic(own, default_relevance(by_meaning=by_meaning).words)
        lead[by_meaning] = first / tenth
    assert lead[False] > 2 * lead[True] > 2


@pytest.mark.parametrize("by_meaning", [False, True])
def test_an_edge_never_speaks_against_a_node_but_for_its_users(by_meaning: bool) -> None:
    edges = default_relevance(by_meaning=by_meaning).edges[len(OWN_FEATURES) : -1]
    assert all(weight >= 0 for name, weight in zip(EDGE_FEATURES, edges, strict=True) if name != "fan-in")


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_probabilities_are_such_and_sorted_on_any_graph(data: st.DataObject) -> None:
    graph = data.draw(random_graphs())
    scores = np.array(data.draw(st.lists(st.floats(0, 9), min_size=len(graph.nodes), max_size=len(graph.nodes))))
    scores[graph.nodes.files < 0] = 0.0
    ranked = [int(node) for node in np.argsort(-scores, kind="stable")[:5] if scores[node] > 0]
    given_ = RelevanceInput(graph, scores, scores, ranked, frozenset(), 0.4, no_terms)
    needed = judge_relevance(given_, default_relevance())
    values = [each.probability for each in needed]
    assert all(0.0 <= value <= 1.0 for value in values)
    assert values == sorted(values, reverse=True)
    assert len({each.node for each in needed}) == len(needed) and set(ranked) <= {each.node for each in needed}
    assert needed == judge_relevance(given_, default_relevance())
    assert EdgeKind.CONTAINS not in {int(graph.edges.kinds[each.edge]) for each in needed if each.edge >= 0}
