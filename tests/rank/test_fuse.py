"""Signals by hand: scales, coverage, factors of role and kind; and the weights that are shipped."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from importlib.resources import files as resource_files
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalist.model.graph import EdgeKind
from causalist.model.scores import Matched
from causalist.model.symbols import NodeKind, Role
from causalist.rank.fuse import (
    Signals,
    Weights,
    default_weights,
    fused,
    known_terms,
    lexical_signals,
    reasons_of,
    with_support,
)
from causalist.rank.fuse import _best_and_sum as best_and_sum
from causalist.rank.lexical import bm25
from causalist.rank.question import read_question
from tests.model.corpus import WORDS, Corpus, Def, Section, corpora, corpus, facts_of

FLOAT32 = 1e-6  # impacts are kept as float32
# Every signal at its own value, no factors: what is tested is then what was computed.
PLAIN = Weights(
    dict.fromkeys(["text", "name", "file text", "path", "mention", "literal", "graph"], 1.0),
    dict.fromkeys(["text", "best definition", "definitions", "path", "name", "mention", "literal", "graph"], 1.0),
    {},
    {"declarations only": 1.0},
)


def signals_of(c: Corpus, text: str, weights: Weights = PLAIN, matched: Mapping[int, Matched] | None = None) -> Signals:
    return lexical_signals(read_question(text), c.graph, c.lexical, weights, matched)


def only(signal: str, *, role: Mapping[str, float] | None = None, kind: Mapping[str, float] | None = None) -> Weights:
    """Weights that leave one signal of definitions and files."""
    return Weights({signal: 1.0}, {signal: 1.0}, role or {}, {"declarations only": 1.0, **(kind or {})})


# -- coverage of names and paths


def test_names_are_measured_by_the_three_rarest_terms() -> None:
    """5 nodes; alpha, beta, gamma and delta stand in one document each: idf = ln(1 + 4.5 / 1.5) = ln 4, so that
    3 ln 4 is all that a name has to say: two of the words are 2/3 of it."""
    c = corpus({"p.py": [Def("alphaBeta")], "q.py": [Def("gamma"), Def("delta")]})
    names = c.of(signals_of(c, "alpha beta gamma delta").definition["name"])
    assert names == pytest.approx({"p.py::alphaBeta": 2 / 3, "q.py::gamma": 1 / 3, "q.py::delta": 1 / 3}, rel=FLOAT32)


def test_a_name_that_says_more_than_that_says_all() -> None:
    """One term more than the three, each ln 4; and with `alphabeta` as written, a fifth."""
    c = corpus({"p.py": [Def("alphaBetaGammaDelta")], "q.py": [Def("x"), Def("y")]})
    assert c.of(signals_of(c, "alpha beta gamma delta").definition["name"]) == {"p.py::alphaBetaGammaDelta": 1.0}
    names = c.of(signals_of(c, "alpha beta").definition["name"])
    assert names == pytest.approx({"p.py::alphaBetaGammaDelta": 1.0}, rel=FLOAT32)


def test_a_common_word_is_not_among_the_rarest_and_weights_count() -> None:
    """6 nodes. alpha, beta, gamma stand in 1 document: ln(1 + 5.5 / 1.5) = ln 14/3. common in 3: ln(1 + 3.5 / 3.5)
    = ln 2 in bodies; as a name in one: ln 14/3 there. In the title a word weighs 2, in the body 1.
    All: 2 ln 14/3 (alpha) + 2 ln 14/3 (beta) + ln 14/3 (gamma), without the ln 2 of common.
    """
    parts = [Def("alpha"), Def("beta"), Def("gamma", "common"), Def("common", "common")]
    c = corpus({"p.py": facts_of("common", parts), "q.py": ""})
    names = c.of(signals_of(c, "alpha beta\ngamma common").definition["name"])
    expected = {"p.py::alpha": 2 / 5, "p.py::beta": 2 / 5, "p.py::gamma": 1 / 5, "p.py::common": 1 / 5}
    assert names == pytest.approx(expected, rel=FLOAT32)


def test_paths_are_measured_by_the_rarest_terms_as_well() -> None:
    """4 nodes. web stands in 1 of 3 paths: ln 8/3. In text it stands in 1 of the documents, among 4 nodes:
    ln(1 + 3.5 / 1.5) = ln 10/3, as beta and gamma do. A definition has the path of its file."""
    c = corpus({"web.py": "", "p.py": [Def("beta")], "q.py": "gamma"})
    expected = log(8 / 3) / (3 * log(10 / 3))
    signals = signals_of(c, "web beta gamma")
    assert c.of(signals.file["path"]) == pytest.approx({"web.py": expected}, rel=FLOAT32)
    assert c.of(signals.definition["path"]) == pytest.approx({"web.py": expected}, rel=FLOAT32)
    inside = corpus({"web.py": [Def("f"), Def("f.size", "", NodeKind.FIELD)]})
    assert set(inside.of(signals_of(inside, "web").definition["path"])) == {"web.py", "web.py::f"}


# -- from definitions to files


def test_best_and_sum_of_five_by_hand() -> None:
    """File 0: 7 + 6 + 5 + 4 + 3, without 2 and 1. File 8: 2. Node 10 belongs to no file."""
    scores = np.array([1.0, 7, 2, 6, 3, 5, 4, 0, 0, 2, 9])
    files = np.array([0, 0, 0, 0, 0, 0, 0, 0, 8, 8, -1], dtype=np.int32)
    best, total = best_and_sum(scores, files, 11)
    assert best.tolist() == [7, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0]
    assert total.tolist() == [25, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0]


@given(st.lists(st.tuples(st.integers(-1, 4), st.sampled_from([0.0, 0.5, 1.0, 1.0, 3.0])), max_size=30))
def test_best_and_sum_of_five_against_sorting(rows: list[tuple[int, float]]) -> None:
    n = len(rows) + 5
    scores = np.array([0.0] * 5 + [score for _, score in rows])
    files = np.array([*range(5), *(file for file, _ in rows)], dtype=np.int32)
    held: dict[int, list[float]] = defaultdict(list)
    for file, score in rows:
        if file >= 0:
            held[file].append(score)
    best, total = best_and_sum(scores, files, n)
    assert best.tolist() == [max(held[i], default=0.0) for i in range(n)]
    assert np.allclose(total, [sum(sorted(held[i])[-5:]) for i in range(n)], rtol=1e-15)


def test_what_stands_in_a_file_counts_for_it() -> None:
    c = corpus({"p.py": [Def("tokenCache", "tokenCache"), Def("other")], "q.py": [Def("q1")]})
    signals = signals_of(c, "what is `tokenCache` then")
    name = c.of(signals.definition["name"])["p.py::tokenCache"]
    assert c.of(signals.file["name"]) == {"p.py": name}
    assert c.of(signals.file["mention"]) == {"p.py": 1.0}
    assert c.of(signals.file["best definition"]) == {"p.py": 1.0}
    # Each definition and the module-level code have the text of their file as a whole, fields and externals have not.
    assert c.of(signals.definition["file text"]) == dict.fromkeys(["p.py", "p.py::tokenCache", "p.py::other"], 1.0)


def test_text_is_scaled_by_the_best() -> None:
    c = corpus({"p.py": "cache token", "q.py": "token other words", "r.py": "words"})
    raw = bm25(c.lexical.files, known_terms(read_question("token cache"), c.lexical), 3)
    signals = signals_of(c, "token cache")
    assert signals.file["text"].tolist() == pytest.approx((raw / raw[0]).tolist(), rel=1e-12)
    assert signals.file["text"][0] == 1.0
    assert 0 < signals.file["text"][1] < 1
    assert signals.file["text"][2] == 0


# -- the sum


def test_the_score_is_the_weighted_sum_times_the_role() -> None:
    """Signals 1 and 0.5 with weights 2 and 3 make 3.5; a test counts 0.1 of it."""
    c = corpus({"p.py": "", "t.py": ""}, roles={"t.py": Role.TEST})
    weights = Weights({"text": 2.0, "name": 3.0}, {"path": 5.0}, {"test": 0.1}, {"declarations only": 1.0})
    role = signals_of(c, "x", weights).role
    assert role.tolist() == [1.0, 0.1]
    definition = {"text": np.array([1.0, 1.0]) * 2.0, "name": np.array([0.5, 0.5]) * 3.0}
    made = Signals(definition, {"path": np.array([0.2, 1.0]) * 5.0}, role, np.ones(2))
    definitions, files = fused(made, c.graph)
    assert definitions.tolist() == pytest.approx([3.5, 0.35], rel=1e-15)
    assert files.tolist() == pytest.approx([1.0, 0.5], rel=1e-15)
    assert made.of(1, is_file=False) == [("text", 0.2), ("name", pytest.approx(0.15))]
    assert made.of(1, is_file=True) == [("path", 0.5)]


def test_each_weight_scales_its_own_signal() -> None:
    c = corpus({"token/cache.py": [Def("tokenCache", "token cache")], "q.py": "token"})
    text = "what is `tokenCache` of the token cache"
    matched = {c.node("q.py"): Matched(1, (0,), "token")}
    plain = signals_of(c, text, matched=matched)
    names = [n for n in PLAIN.definition if n != "graph"]
    weights = Weights(
        {n: i + 2.0 for i, n in enumerate(names)}, {n: i + 3.0 for i, n in enumerate(plain.file)}, {}, PLAIN.kind
    )
    weighted = signals_of(c, text, weights, matched)
    for i, name in enumerate(names):
        assert plain.definition[name].any()
        assert weighted.definition[name].tolist() == (plain.definition[name] * (i + 2.0)).tolist()
    for i, name in enumerate(plain.file):
        assert plain.file[name].any()
        assert weighted.file[name].tolist() == (plain.file[name] * (i + 3.0)).tolist()


def test_matches_of_a_pattern_count_by_the_logarithm_of_their_number() -> None:
    """One match of at most three: 1/2 + 1/2 ln 2 / ln 4 = 3/4; a file has those of all its nodes together."""
    c = corpus({"p.py": [Def("f"), Def("g")], "q.py": "token"})
    matched = {c.node("p.py::f"): Matched(3, (0,), ""), c.node("p.py::g"): Matched(1, (5,), "")}
    signals = signals_of(c, "'token'", only("literal"), matched)
    assert c.of(signals.definition["literal"]) == pytest.approx({"p.py::f": 1.0, "p.py::g": 0.75})
    assert c.of(signals.file["literal"]) == pytest.approx({"p.py": 1.0})
    # Nothing but a pattern is asked for: what does not match has no other signal either.
    assert c.of(signals_of(c, "'token'", PLAIN, matched).definition["text"]) == {}


def test_support_is_scaled_by_the_best_and_summed_over_a_file() -> None:
    """p.py: 0.1 + 0.3, q.py: 0.2. Scaled: definitions by 0.3, files by 0.4; weights 0.5 and 2."""
    c = corpus({"p.py": [Def("f")], "q.py": ""})
    support = np.array([0.1, 0.3, 0.2])
    weights = Weights({"graph": 0.5}, {"graph": 2.0}, {}, PLAIN.kind)
    signals = with_support(signals_of(c, "token", weights), support, c.graph, weights)
    assert c.of(signals.definition["graph"]) == pytest.approx({"p.py": 1 / 6, "p.py::f": 1 / 2, "q.py": 1 / 3})
    assert c.of(signals.file["graph"]) == pytest.approx({"p.py": 2.0, "q.py": 1.0})


# -- roles and kinds

TWINS = {"one.py": [Def("token_cache", "token")], "two.py": [Def("token_cache", "token")]}


def twins(role: Role, text: str) -> tuple[float, float]:
    """How much less a file of some role counts than the same one with code: (its definition, it as a whole)."""
    c = corpus(TWINS, roles={"two.py": role})
    definitions, files = fused(signals_of(c, text, default_weights()), c.graph)
    assert definitions[c.node("one.py::token_cache")] > 0
    ratio = definitions[c.node("two.py::token_cache")] / definitions[c.node("one.py::token_cache")]
    # The best and the sum of a file's definitions have the factor in them already.
    weights = default_weights().file
    twice = weights["best definition"] + weights["definitions"]
    rest = files[c.node("one.py")] - twice
    factor = default_weights().role[role.label] if ratio < 1 else 1.0
    assert files[c.node("two.py")] == pytest.approx(factor * (rest + twice * factor))
    return ratio, files[c.node("two.py")] / files[c.node("one.py")]


@pytest.mark.parametrize("role", [r for r in Role if r is not Role.CODE])
def test_what_is_not_code_counts_less(role: Role) -> None:
    definition, file = twins(role, "token cache")
    assert definition == pytest.approx(default_weights().role[role.label])
    assert 0 < file < definition < 1


@pytest.mark.parametrize(
    ("role", "text"),
    [
        (Role.TEST, "which tests cover the token cache"),
        (Role.TEST, "testing of the token cache"),
        (Role.TEST, "token fixture cache"),
        (Role.DOCS, "documentation of the token cache"),
        (Role.DOCS, "token cache in the README"),
        (Role.EXAMPLE, "examples of a token cache"),
        (Role.CONFIG, "token cache in CI"),
        (Role.CONFIG, "packaging of the token cache"),
        (Role.MIGRATION, "migration of the token cache"),
        (Role.GENERATED, "generated token cache"),
        (Role.VENDORED, "vendored token cache"),
    ],
)
def test_a_question_about_a_role_does_not_make_it_count_less(role: Role, text: str) -> None:
    assert twins(role, text) == (1.0, 1.0)
    # Asking for one role says nothing about another, and the body of a question does not ask.
    other = Role.DOCS if role is Role.TEST else Role.TEST
    assert twins(other, text)[0] == pytest.approx(default_weights().role[other.label])
    assert twins(role, f"token cache\n{text}")[0] == pytest.approx(default_weights().role[role.label])


@pytest.mark.parametrize(("text", "factor"), [("token cache", 0.6), ("where is the token cache", 0.6 * 0.5)])
@pytest.mark.parametrize("kind", [NodeKind.INTERFACE, NodeKind.TYPE, NodeKind.CONSTANT])
def test_declarations_count_less_above_all_for_behaviour(kind: NodeKind, text: str, factor: float) -> None:
    """0.6 by kind, and half of that for a question about what happens: of the text and of the name."""
    c = corpus({"p.py": [Def("tokenCache", "token", kind)], "q.py": [Def("tokenCache", "token")]})
    signals = signals_of(c, text, default_weights())
    assert signals.kind.tolist() == pytest.approx([1.0, factor, 1.0, 1.0])
    for name in ("text", "name"):
        declared, runs = signals.definition[name][[c.node("p.py::tokenCache"), c.node("q.py::tokenCache")]]
        assert declared == pytest.approx(factor * runs)
        assert runs > 0


def test_methods_of_interfaces_are_declarations_and_those_of_classes_are_not() -> None:
    parts = [
        *(Def("Cache", "", NodeKind.INTERFACE), Def("Cache.get", "", NodeKind.METHOD)),
        *(Def("Store", "", NodeKind.CLASS), Def("Store.get", "", NodeKind.METHOD)),
    ]
    c = corpus({"p.ts": parts})
    kind = dict(zip(c.graph.nodes.ids, signals_of(c, "cache", default_weights()).kind.tolist(), strict=True))
    assert kind == {"p.ts": 1.0, "p.ts::Cache": 0.6, "p.ts::Cache.get": 0.6, "p.ts::Store": 1.0, "p.ts::Store.get": 1.0}


@pytest.mark.parametrize(
    ("parts", "runs"),
    [
        ([Def("f")], True),
        ([Def("C", "", NodeKind.CLASS), Def("C.m", "", NodeKind.METHOD)], True),
        ([Section("usage", "Usage")], True),
        ([Def("I", "", NodeKind.INTERFACE), Def("I.m", "", NodeKind.METHOD)], False),
        ([Def("C", "", NodeKind.CLASS), Def("LIMIT", "", NodeKind.CONSTANT), Def("T", "", NodeKind.TYPE)], False),
        ([], False),
    ],
)
def test_files_that_only_declare_count_half_for_behaviour(parts: list[Def | Section], runs: bool) -> None:
    c = corpus({"p.x": facts_of("token token", parts), "q.x": facts_of("other", [Def("run", "token")])})
    weights = only("text", kind={"declarations only": 0.5})
    plain = signals_of(c, "what token", weights).file["text"][c.node("p.x")]
    asked = signals_of(c, "where is the token", weights).file["text"][c.node("p.x")]
    best = signals_of(c, "what token", weights).file["text"][c.node("q.x")]
    assert plain == 1.0  # twice: the best
    assert asked == pytest.approx(1.0 if runs else 0.5 / max(best, 0.5))


# -- terms and reasons


def test_words_that_the_repository_lacks_are_not_known() -> None:
    c = corpus({"p.py": "token auth req"})
    terms = c.lexical.terms
    known = known_terms(read_question("token unknown authentication request"), c.lexical)
    assert known == {terms.position("token"): 1.0, terms.position("auth"): 0.25, terms.position("req"): 0.25}
    assert known_terms(read_question("entirely unknown"), c.lexical) == {}


def test_reasons_name_the_words_as_they_were_asked_those_that_weigh_most_first() -> None:
    """cache stands in one of three files, token in two: cache weighs more."""
    c = corpus({"p.py": "caches token", "q.py": "token", "r.py": "other"})
    question = read_question("Token caching")
    signals = lexical_signals(question, c.graph, c.lexical, only("text"))
    (reason,) = reasons_of(0, 0, signals, question, c.lexical, is_file=True)
    assert reason == ("text", 1.0, "caching, token")


def test_at_most_four_reasons_each_with_its_share_of_the_score() -> None:
    c = corpus({"token/cache.py": [Def("tokenCache", "token cache")], "q.py": "token"})
    question = read_question("what is `tokenCache` of the token cache")
    signals = lexical_signals(question, c.graph, c.lexical, default_weights())
    node, file = c.node("token/cache.py::tokenCache"), c.node("token/cache.py")
    definitions, files = fused(signals, c.graph)
    for is_file, at, scores in ((False, node, definitions), (True, file, files)):
        reasons = reasons_of(at, file, signals, question, c.lexical, is_file=is_file)
        assert len(reasons) == 4
        values = [r.value for r in reasons]
        assert values == sorted(values, reverse=True)
        assert values == [round(v, 6) for _, v in signals.of(at, is_file)[:4]]
        assert sum(v for _, v in signals.of(at, is_file)) == pytest.approx(scores[at], rel=1e-12)
    named = {r.signal: r.detail for r in reasons_of(node, file, signals, question, c.lexical, is_file=False)}
    assert named["mention"] == ""
    assert named["name"] == "cache, token, tokenCache"  # equal weights: by term


# -- properties

questions = st.lists(
    st.sampled_from([*WORDS, "where", "is", "tests", "\n", "`auth`", "src/auth.py", "Token.login", "authentication"])
).map(" ".join)


@given(corpora(linked=True), questions)
def test_scores_are_finite_and_not_negative(c: Corpus, text: str) -> None:
    signals = signals_of(c, text, default_weights())
    n = len(c.graph.nodes)
    for scores in fused(signals, c.graph):
        assert scores.shape == (n,)
        assert np.isfinite(scores).all()
        assert (scores >= 0).all()
        assert not scores[c.graph.nodes.kinds == NodeKind.EXTERNAL].any()
    for table, weights in ((signals.definition, default_weights().definition), (signals.file, default_weights().file)):
        for name, values in table.items():
            assert (values >= 0).all()
            assert (values <= weights[name] + 1e-12).all()
    files = fused(signals, c.graph)[1]
    assert not files[c.graph.nodes.kinds != NodeKind.FILE].any()


@given(corpora(linked=True))
def test_unknown_words_score_nothing(c: Corpus) -> None:
    signals = signals_of(c, "zebra giraffe\n`gnu` okapi.run zoo/emu.py", default_weights())
    definitions, files = fused(signals, c.graph)
    assert not definitions.any()
    assert not files.any()


@given(corpora(linked=True), questions)
def test_a_score_is_explained_to_the_last_part(c: Corpus, text: str) -> None:
    signals = signals_of(c, text, default_weights())
    definitions, files = fused(signals, c.graph)
    for node in range(len(c.graph.nodes)):
        assert sum(v for _, v in signals.of(node, is_file=False)) == pytest.approx(definitions[node], abs=1e-12)
        assert sum(v for _, v in signals.of(node, is_file=True)) == pytest.approx(files[node], abs=1e-12)


# -- what is shipped


def shipped() -> dict:
    return json.loads(resource_files("causalist.rank").joinpath("weights.json").read_text(encoding="utf-8"))


def test_the_weights_say_where_they_come_from() -> None:
    data = shipped()
    assert set(data) == {"provenance", "definition", "file", "role", "kind"}
    assert "questions" in data["provenance"]
    assert default_weights() == Weights(data["definition"], data["file"], data["role"], data["kind"])


def test_every_weight_is_that_of_a_signal_and_every_signal_has_one() -> None:
    """A misspelt name would be a signal without weight: nothing would fail, and the ranking would be worse."""
    weights = default_weights()
    c = corpus({"p.py": ""})
    signals = with_support(signals_of(c, "token", weights), np.zeros(1), c.graph, weights)
    assert set(weights.definition) == set(signals.definition)
    assert set(weights.file) == set(signals.file)
    assert set(weights.role) == {role.label for role in Role}
    assert set(weights.kind) == {"interface", "type", "constant", "declarations only"}
    assert {k for k in weights.kind if k != "declarations only"} <= {kind.label for kind in NodeKind}


def test_weights_are_not_negative_and_factors_lie_in_0_to_1() -> None:
    weights = default_weights()
    for table in (weights.definition, weights.file):
        assert all(value >= 0 for value in table.values())
        assert table["text"] > 0
    for table in (weights.role, weights.kind):
        assert all(0 < value <= 1 for value in table.values())
    assert weights.role["code"] == 1.0


def test_the_graph_has_no_weight_in_the_score() -> None:
    """Decision 4 (docs/decisions/0004-graph-places.md): it has places of its own. A weight above 0 has to be measured
    first, and then the decision is to be rewritten."""
    assert default_weights().definition["graph"] == 0.0
    assert default_weights().file["graph"] == 0.0


def test_edges_do_not_change_what_words_say() -> None:
    files: Mapping[str, Iterable[Def]] = {"p.py": [Def("tokenCache")], "q.py": [Def("verify", "token")]}
    edges = [("p.py::tokenCache", "q.py::verify", EdgeKind.CALLS), ("p.py", "external:os", EdgeKind.IMPORTS)]
    one, other = corpus(files), corpus(files, edges)
    assert [one.of(s) for s in fused(signals_of(one, "token"), one.graph)] == [
        other.of(s) for s in fused(signals_of(other, "token"), other.graph)
    ]
