"""Signals by hand: scales, factors of role and kind; the sum; and the weights that are shipped."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib.resources import files as resource_files
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalist.model.graph import EdgeKind
from causalist.model.node_ids import NodeKind, Role
from causalist.model.scores import Signal, TextMatches
from causalist.rank.lexical.bm25 import bm25
from causalist.rank.query.query import parse_query
from causalist.rank.scoring import signals
from causalist.rank.scoring.fusion import (
    LinearModel,
    WeightedSignals,
    Weights,
    default_weights,
    fuse,
    reasons_of,
    weigh_signals,
    with_signal,
    with_support,
)
from causalist.rank.scoring.signals import (
    PRIORS,
    PriorFactors,
    QuerySignals,
    compute_signals,
    max_and_sum,
    terms_in_vocabulary,
)
from tests.model.corpus import WORDS, Corpus, Def, Section, corpora, corpus, facts_of
from tests.pasts import change, past_of

FLOAT32 = 1e-6  # impacts are kept as float32
NO_FACTORS = PriorFactors({}, {})


def reading(
    c: Corpus, text: str, matched: Mapping[int, TextMatches] | None = None, factors: PriorFactors = NO_FACTORS
) -> QuerySignals:
    return compute_signals(parse_query(text), c.graph, c.lexical, factors, matched)


def of_definitions(c: Corpus, text: str, matched: Mapping[int, TextMatches] | None = None) -> dict[str, np.ndarray]:
    return reading(c, text, matched).definitions()


def of_files(c: Corpus, text: str, matched: Mapping[int, TextMatches] | None = None) -> dict[str, np.ndarray]:
    return reading(c, text, matched).first_files()


def shipped_signals(c: Corpus, text: str, matched: Mapping[int, TextMatches] | None = None) -> WeightedSignals:
    return weigh_signals(parse_query(text), c.graph, c.lexical, default_weights(), matched)


# -- coverage of names and paths


def test_names_are_measured_by_the_three_rarest_terms() -> None:
    """5 nodes; alpha, beta, gamma and delta stand in one document each: idf = ln(1 + 4.5 / 1.5) = ln 4, so that
    3 ln 4 is all that a name has to say: two of the words are 2/3 of it."""
    c = corpus({"p.py": [Def("alphaBeta")], "q.py": [Def("gamma"), Def("delta")]})
    names = c.of(of_definitions(c, "alpha beta gamma delta")["name"])
    assert names == pytest.approx({"p.py::alphaBeta": 2 / 3, "q.py::gamma": 1 / 3, "q.py::delta": 1 / 3}, rel=FLOAT32)


def test_a_name_that_says_more_than_that_says_all() -> None:
    """One term more than the three, each ln 4; and with `alphabeta` as written, a fifth."""
    c = corpus({"p.py": [Def("alphaBetaGammaDelta")], "q.py": [Def("x"), Def("y")]})
    assert c.of(of_definitions(c, "alpha beta gamma delta")["name"]) == {"p.py::alphaBetaGammaDelta": 1.0}
    names = c.of(of_definitions(c, "alpha beta")["name"])
    assert names == pytest.approx({"p.py::alphaBetaGammaDelta": 1.0}, rel=FLOAT32)


def test_a_common_word_is_not_among_the_rarest_and_weights_count() -> None:
    """6 nodes. alpha, beta, gamma stand in 1 document: ln(1 + 5.5 / 1.5) = ln 14/3. common in 3: ln(1 + 3.5 / 3.5)
    = ln 2 in bodies; as a name in one: ln 14/3 there. In the title a word weighs 2, in the body 1.
    All: 2 ln 14/3 (alpha) + 2 ln 14/3 (beta) + ln 14/3 (gamma), without the ln 2 of common.
    """
    parts = [Def("alpha"), Def("beta"), Def("gamma", "common"), Def("common", "common")]
    c = corpus({"p.py": facts_of("common", parts), "q.py": ""})
    names = c.of(of_definitions(c, "alpha beta\ngamma common")["name"])
    expected = {"p.py::alpha": 2 / 5, "p.py::beta": 2 / 5, "p.py::gamma": 1 / 5, "p.py::common": 1 / 5}
    assert names == pytest.approx(expected, rel=FLOAT32)


def test_paths_are_measured_by_the_rarest_terms_as_well() -> None:
    """4 nodes. web stands in 1 of 3 paths: ln 8/3. In text it stands in 1 of the documents, among 4 nodes:
    ln(1 + 3.5 / 1.5) = ln 10/3, as beta and gamma do. A definition has the path of its file."""
    c = corpus({"web.py": "", "p.py": [Def("beta")], "q.py": "gamma"})
    expected = log(8 / 3) / (3 * log(10 / 3))
    assert c.of(of_files(c, "web beta gamma")["path"]) == pytest.approx({"web.py": expected}, rel=FLOAT32)
    assert c.of(of_definitions(c, "web beta gamma")["path"]) == pytest.approx({"web.py": expected}, rel=FLOAT32)
    inside = corpus({"web.py": [Def("f"), Def("f.size", "", NodeKind.FIELD)]})
    assert set(inside.of(of_definitions(inside, "web")["path"])) == {"web.py", "web.py::f"}


# -- from definitions to files


def test_best_and_sum_of_five_by_hand() -> None:
    """File 0: 7 + 6 + 5 + 4 + 3, without 2 and 1. File 8: 2. Node 10 belongs to no file."""
    scores = np.array([1.0, 7, 2, 6, 3, 5, 4, 0, 0, 2, 9])
    files = np.array([0, 0, 0, 0, 0, 0, 0, 0, 8, 8, -1], dtype=np.int32)
    best, total = max_and_sum(scores, files, 11)
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
    best, total = max_and_sum(scores, files, n)
    assert best.tolist() == [max(held[i], default=0.0) for i in range(n)]
    assert np.allclose(total, [sum(sorted(held[i])[-5:]) for i in range(n)], rtol=1e-15)


def test_what_stands_in_a_file_counts_for_it() -> None:
    c = corpus({"p.py": [Def("tokenCache", "tokenCache"), Def("other")], "q.py": [Def("q1")]})
    text = "what is `tokenCache` then"
    files, definitions = of_files(c, text), of_definitions(c, text)
    assert c.of(files["name"]) == {"p.py": c.of(definitions["name"])["p.py::tokenCache"]}
    assert c.of(files["mention"]) == {"p.py": 1.0}


def test_text_is_scaled_by_the_best() -> None:
    c = corpus({"p.py": "cache token", "q.py": "token other words", "r.py": "words"})
    raw = bm25(c.lexical.files, terms_in_vocabulary(parse_query("token cache"), c.lexical), 3)
    text = of_files(c, "token cache")["text"]
    assert text.tolist() == pytest.approx((raw / raw[0]).tolist(), rel=1e-12)
    assert text[0] == 1.0
    assert 0 < text[1] < 1
    assert text[2] == 0


# -- signals of definitions


def test_the_share_of_a_name_counts_its_parts_and_not_the_whole_beside_them() -> None:
    c = corpus({"p.py": [Def("tokenCache"), Def("tokenCacheSizeLimit"), Def("token"), Def("other")]})
    share = c.of(of_definitions(c, "token cache")["name share"])
    assert share == {"p.py::tokenCache": 1.0, "p.py::tokenCacheSizeLimit": 0.5, "p.py::token": 1.0}


def test_an_abbreviation_is_no_share_of_a_name() -> None:
    c = corpus({"p.py": [Def("auth"), Def("authentication")]})
    assert c.of(of_definitions(c, "authentication")["name share"]) == {"p.py::authentication": 1.0}


def test_how_much_of_a_question_a_name_says() -> None:
    """Of 4 nodes, the file among them, token is in the names of 3, idf ln(1 + 1.5 / 3.5); cache and limit are in one
    each, idf ln(1 + 3.5 / 1.5)."""
    c = corpus({"p.py": [Def("tokenCache"), Def("tokenLimit"), Def("token")]})
    assert c.lexical.symbol_names.n_documents == 4
    token, other = log(1 + 1.5 / 3.5), log(1 + 3.5 / 1.5)
    both = (token + other) / (token + 2 * other)
    assert c.of(of_definitions(c, "token cache limit")["name coverage"]) == pytest.approx(
        {"p.py::tokenCache": both**4, "p.py::tokenLimit": both**4, "p.py::token": (token / (token + 2 * other)) ** 4},
        rel=FLOAT32,
    )
    # A word that the repository does not have is no part of it; one word alone is in too many names.
    assert c.of(of_definitions(c, "token cache zebra")["name coverage"])["p.py::tokenCache"] == pytest.approx(1.0)
    assert c.of(of_definitions(c, "token zebra")["name coverage"]) == {}


def test_what_is_called_as_the_question_says_comes_first() -> None:
    """Its file says no word of it, and a long function of a file that is named so has all of them."""
    long = "expired share link bundle cleanup " * 3
    c = corpus({
        "share/link/bundle.py": [Def("open", long), Def("close", long), Def("send", long), Def("Share", long)],
        "tasks.py": [Def("cleanup_expired_share_link_bundles", "now"), Def("other", "later")],
    })  # fmt: skip
    question = "who does cleanup of expired share link bundles"
    best = max(
        c.of(fuse(weigh_signals(parse_query(question), c.graph, c.lexical, default_weights()))[0]).items(),
        key=lambda e: e[1],
    )
    assert best[0] == "tasks.py::cleanup_expired_share_link_bundles"


def test_in_the_last_pass_a_definition_has_its_file_as_it_is_judged_then() -> None:
    c = corpus({"p.py": [Def("f")], "q.py": [Def("g")]})
    scores = np.zeros(len(c.graph.nodes))
    scores[c.node("p.py")], scores[c.node("q.py")] = 1.0, 4.0
    before = np.where(np.array(c.graph.nodes.ids) == "p.py", 0.0, 2.0)  # of the module-level code no word led to
    found = reading(c, "token").definitions_again(scores, before)
    assert c.of(found["found file"]) == {"p.py::f": 0.25, "q.py": 1.0, "q.py::g": 1.0}


def test_identifiers_are_the_share_of_the_names_that_stand_in_a_definition() -> None:
    """`send_mail` and `queue_size` are named, both in one document, so that each is half; `size` alone is neither, and
    short names and paths are none."""
    parts = [Def("f", "send_mail"), Def("g", "size"), Def("h", "queue_size fmt mail")]
    c = corpus({"p.py": parts, "lib/mail.py": ""})
    text = "`send_mail` beside `queue_size` and `fmt` in lib/mail"
    ones = np.ones(len(c.graph.nodes))
    found = reading(c, text).definitions_again(ones, ones)
    assert c.of(found["identifiers"]) == pytest.approx({"p.py::f": 0.5, "p.py::h": 0.5})


def test_a_synonym_counts_beside_what_was_asked() -> None:
    """`erase` is asked for; q.py says `delete`, as rare as `erase` in p.py: as much in a signal of its own, and 0.4 of
    it in the text."""
    c = corpus({"p.py": [Def("f", "erase")], "q.py": [Def("g", "delete")], "r.py": [Def("h", "erase delete")]})
    signals = of_definitions(c, "erase")
    assert c.of(signals["synonyms"]).keys() == {"q.py::g", "r.py::h"}
    assert signals["synonyms"][c.node("q.py::g")] == signals["text"][c.node("p.py::f")]
    assert signals["text"][c.node("q.py::g")] == pytest.approx(0.4 * signals["text"][c.node("p.py::f")])
    assert signals["text"][c.node("r.py::h")] == 1.0
    named = of_definitions(c, "erase `Store`")
    assert c.of(named["text"]).keys() == {"p.py::f", "r.py::h"}
    common = corpus({"p.py": [Def("f", "erase")], **{f"q{i}.py": [Def("g", "delete")] for i in range(5)}})
    beside = of_definitions(common, "erase")["synonyms"]
    assert 0 < beside[common.node("q0.py::g")] < 0.5  # a word that stands everywhere says little


def test_length_counts_by_its_logarithm_where_a_word_says_anything() -> None:
    """A row of 400 at most: ln 2 / ln 401. Module-level code has the rows that its definitions leave."""
    c = corpus({"p.py": facts_of("token", [Def("f", "token"), Def("g")])})
    size = c.of(of_definitions(c, "token")["size"])
    assert size == pytest.approx({"p.py::f": log(2) / log(401)})
    long = replace(c.graph.nodes, end_rows=np.where(np.array(c.graph.nodes.ids) == "p.py", 999, 0).astype(np.int32))
    whole = replace(c, linked=replace(c.linked, graph=replace(c.graph, nodes=long)))
    assert c.of(of_definitions(whole, "token")["size"])["p.py"] == 1.0


def test_a_file_has_its_best_definition_and_the_five_best() -> None:
    """Squares, so that many weak ones are worth less than one strong one: 1 + 1/4 of at most 3; the best by itself."""
    c = corpus({"p.py": [Def("f"), Def("g")], "q.py": [Def("h")]})
    scores = np.zeros(len(c.graph.nodes))
    for name, value in (("p.py::f", 4.0), ("p.py::g", 2.0), ("q.py::h", 1.0)):
        scores[c.node(name)] = value
    signals = reading(c, "token").files(scores)
    assert c.of(signals["leading definition"]) == {"p.py": 1.0, "q.py": 0.25}
    assert c.of(signals["leading definitions"]) == pytest.approx({"p.py": 1.25 / 3, "q.py": 1 / 16 / 3})


# -- the sum


def test_the_score_is_the_sum_times_the_role() -> None:
    """Signals 1 and 0.5 with weights 2 and 3 make 3.5; a test counts 0.1 of it."""
    role, file_role = np.array([1.0, 0.1]), np.array([1.0, 0.5])
    definition = {"text": np.array([1.0, 1.0]) * 2.0, "name": np.array([0.5, 0.5]) * 3.0}
    made = WeightedSignals(definition, {"path": np.array([0.2, 1.0]) * 5.0}, role, file_role, np.ones(2))
    definitions, files = fuse(made)
    assert definitions.tolist() == pytest.approx([3.5, 0.35], rel=1e-15)
    assert files.tolist() == pytest.approx([1.0, 2.5], rel=1e-15)
    assert made.contributions(1, is_file=False) == [("text", 0.2), ("name", pytest.approx(0.15))]
    assert made.contributions(1, is_file=True) == [("path", 2.5)]


def test_each_weight_scales_its_own_signal() -> None:
    parts = [Def("tokenCache", "token cache"), Def("tokenCache.get", "token memoize ttl")]
    paths = {"token/cache.py": parts, "q.py": "token", "test_cache.py": "token"}
    c = corpus(paths, roles={"test_cache.py": Role.TEST})
    past = past_of("xy", change("A", "x", "cache"), change("B", "y", "token"))
    past = replace(past, nodes=np.array([c.node("q.py"), c.node("token/cache.py")], dtype=np.int32))
    text = 'what is `tokenCache` of the token cache, expiry\n  File "token/cache.py", line 1, in tokenCache'
    matched = {c.node("q.py"): TextMatches(1, (0,), "token")}
    shipped = default_weights()
    definition = LinearModel({n: i + 2.0 for i, n in enumerate(shipped.definition.signals)}, {}, {"function": 7.0})
    file = LinearModel({n: i + 3.0 for i, n in enumerate(shipped.file.signals)}, {}, {})
    weights = Weights(definition, file, NO_FACTORS)
    near = np.linspace(0.1, 0.9, len(c.graph.nodes))
    question = parse_query(text)
    weighted = weigh_signals(question, c.graph, c.lexical, weights, matched, past, similarities=lambda: near)
    own = compute_signals(question, c.graph, c.lexical, NO_FACTORS, matched, past, similarities=lambda: near)
    plain = own.definitions()
    in_first = {name: values * definition.signals[name] for name, values in plain.items()}
    in_first["kind"] = weighted.definition["kind"]
    nothing = np.zeros(len(c.graph.nodes))
    last = own.definitions_again(sum(weighted.file.values(), nothing), sum(in_first.values(), nothing))
    for name, values in {**plain, **last}.items():
        assert values.any() == (name != "semantic"), name  # the question has exact evidence
        assert weighted.definition[name].tolist() == (values * definition.signals[name]).tolist()
    assert c.of(weighted.definition["kind"])["token/cache.py::tokenCache"] == 7.0
    again = own.files(sum(in_first.values(), np.zeros(len(c.graph.nodes))))
    for name, values in again.items():
        assert values.any() == (name != "semantic"), name
        # They follow from sums, which are added in another order here.
        expected = (values * file.signals[name]).tolist()
        assert weighted.file[name].tolist() == pytest.approx(expected, rel=1e-12)


def test_matches_of_a_pattern_count_by_the_logarithm_of_their_number() -> None:
    """One match of at most three: 1/2 + 1/2 ln 2 / ln 4 = 3/4; a file has those of all its nodes together."""
    c = corpus({"p.py": [Def("f"), Def("g")], "q.py": "token"})
    matched = {c.node("p.py::f"): TextMatches(3, (0,), ""), c.node("p.py::g"): TextMatches(1, (5,), "")}
    assert c.of(of_definitions(c, "'token'", matched)["literal"]) == pytest.approx({"p.py::f": 1.0, "p.py::g": 0.75})
    assert c.of(of_files(c, "'token'", matched)["literal"]) == pytest.approx({"p.py": 1.0})
    # Nothing but a pattern is asked for: what does not match has no other signal either.
    assert c.of(of_definitions(c, "'token'", matched)["text"]) == {}
    assert c.of(of_files(c, "'token'", matched)["text"]) == {}


def test_what_the_graph_gives_is_a_signal_of_definitions() -> None:
    """Weight 0.5; files have none."""
    c = corpus({"p.py": [Def("f")], "q.py": ""})
    weights = replace(default_weights(), definition=LinearModel({"graph": 0.5}, {}, {}))
    signals = with_support(shipped_signals(c, "token"), np.array([0.0, 1.0, 0.5]), weights)
    assert c.of(signals.definition["graph"]) == pytest.approx({"p.py::f": 0.5, "q.py": 0.25})
    assert "graph" not in signals.file


# -- roles and kinds

TWINS = {"one.py": [Def("token_cache", "token")], "two.py": [Def("token_cache", "token")]}


def twins(role: Role, text: str) -> tuple[float, float]:
    """How much less a file of some role counts than the same one with code: (its definition, it as a whole)."""
    c = corpus(TWINS, roles={"two.py": role})
    definitions, files = fuse(shipped_signals(c, text))
    assert definitions[c.node("one.py::token_cache")] > 0
    ratio = definitions[c.node("two.py::token_cache")] / definitions[c.node("one.py::token_cache")]
    return ratio, files[c.node("two.py")] / files[c.node("one.py")]


@pytest.mark.parametrize("role", [r for r in Role if r is not Role.CODE])
def test_what_is_not_code_counts_less(role: Role) -> None:
    """At most the factor of its role: a definition's file has its own in it already, and a file's definitions have
    theirs."""
    shipped = default_weights()
    definition, file = twins(role, "token cache")
    assert 0 < definition <= shipped.definition.role[role.label]
    assert 0 < file <= shipped.file.role[role.label]
    assert definition < 1
    assert file < 1


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
    assert twins(other, text)[0] < 1
    assert twins(role, f"token cache\n{text}")[0] < 1


FACTORS = default_weights().factors


@pytest.mark.parametrize(("text", "factor"), [("token cache", 0.6), ("where is the token cache", 0.6 * 0.5)])
@pytest.mark.parametrize("kind", [NodeKind.INTERFACE, NodeKind.TYPE, NodeKind.CONSTANT])
def test_declarations_count_less_for_their_file_above_all_for_behaviour(
    kind: NodeKind, text: str, factor: float
) -> None:
    """0.6 by kind, and half of that for a question about what happens."""
    c = corpus({"p.py": [Def("tokenCache", "token", kind)], "q.py": [Def("tokenCache", "token")]})
    read = reading(c, text, factors=FACTORS)
    assert read.kind.tolist() == pytest.approx([1.0, factor, 1.0, 1.0])
    files = read.first_files()
    declared, runs = files["name"][[c.node("p.py"), c.node("q.py")]]
    assert declared == pytest.approx(factor * runs)
    assert runs > 0


def test_methods_of_interfaces_are_declarations_and_those_of_classes_are_not() -> None:
    parts = [
        *(Def("Cache", "", NodeKind.INTERFACE), Def("Cache.refill", "", NodeKind.METHOD)),
        *(Def("Store", "", NodeKind.CLASS), Def("Store.refill", "", NodeKind.METHOD)),
    ]
    c = corpus({"p.ts": parts})
    kind = dict(zip(c.graph.nodes.ids, reading(c, "cache", factors=FACTORS).kind.tolist(), strict=True))
    assert kind == {
        "p.ts": 1.0,
        "p.ts::Cache": 0.6,
        "p.ts::Cache.refill": 0.6,
        "p.ts::Store": 1.0,
        "p.ts::Store.refill": 1.0,
    }
    given = c.of(shipped_signals(c, "cache refill").definition["kind"])
    weights = default_weights().definition.kind
    assert given.get("p.ts::Cache.refill", 0.0) == weights.get("interface", 0.0)
    assert given["p.ts::Store.refill"] == weights["method"]


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
    factors = PriorFactors({}, {"declarations only": 0.5})
    plain = reading(c, "what token", factors=factors).first_files()["text"][c.node("p.x")]
    asked = reading(c, "where is the token", factors=factors).first_files()["text"][c.node("p.x")]
    best = reading(c, "what token", factors=factors).first_files()["text"][c.node("q.x")]
    assert plain == 1.0  # twice: the best
    assert asked == pytest.approx(1.0 if runs else 0.5 / max(best, 0.5))


# -- terms and reasons


def test_words_that_the_repository_lacks_are_not_known() -> None:
    c = corpus({"p.py": "token auth req"})
    terms = c.lexical.terms
    known = terms_in_vocabulary(parse_query("token unknown authentication request"), c.lexical)
    assert known == {terms.position("token"): 1.0, terms.position("auth"): 0.25, terms.position("req"): 0.25}
    assert terms_in_vocabulary(parse_query("entirely unknown"), c.lexical) == {}


@pytest.mark.parametrize(("text", "is_on"), [("token cache", True), ('"token" cache', False)])
def test_the_encoder_counts_where_nothing_exact_is_asked(
    text: str, is_on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    c = corpus({"p.py": [Def("f", "token")], "q.py": [Def("g", "cache")]})
    near = np.linspace(0.1, 0.9, len(c.graph.nodes))
    monkeypatch.setattr(signals, "semantic_scores", lambda *_: (near, np.zeros(len(near))))
    matched = {c.node("p.py"): TextMatches(1, (0,), "token")} if not is_on else None
    weighted = weigh_signals(parse_query(text), c.graph, c.lexical, default_weights(), matched)
    weight = default_weights().definition.signals["semantic"]
    assert weighted.definition["semantic"].tolist() == (near * weight * is_on).tolist()
    off = weigh_signals(parse_query(text), c.graph, c.lexical, default_weights(), matched, is_semantic=False)
    assert not off.definition["semantic"].any()


def test_reasons_name_the_words_as_they_were_asked_those_that_weigh_most_first() -> None:
    """cache stands in one of three files, token in two: cache weighs more."""
    c = corpus({"p.py": "caches token", "q.py": "token", "r.py": "other"})
    question = parse_query("Token caching")
    weights = replace(default_weights(), file=LinearModel({"text": 1.0}, {}, {}))
    signals = weigh_signals(question, c.graph, c.lexical, weights)
    (reason,) = reasons_of(0, 0, signals, question, c.lexical, is_file=True)
    assert reason == ("text", 1.0, "caching, token")


def test_at_most_four_reasons_each_with_its_share_of_the_score_and_none_that_no_question_gives() -> None:
    c = corpus({"token/cache.py": [Def("tokenCache", "token cache")], "q.py": "token"})
    question = parse_query("what is `tokenCache` of the token cache")
    signals = shipped_signals(c, question.text)
    node, file = c.node("token/cache.py::tokenCache"), c.node("token/cache.py")
    definitions, files = fuse(signals)
    for is_file, at, scores in ((False, node, definitions), (True, file, files)):
        reasons = reasons_of(at, file, signals, question, c.lexical, is_file=is_file)
        assert len(reasons) == 4
        values = [r.value for r in reasons]
        assert values == sorted(values, reverse=True)
        assert values == [round(v, 6) for name, v in signals.contributions(at, is_file) if name not in PRIORS][:4]
        assert sum(v for _, v in signals.contributions(at, is_file)) == pytest.approx(scores[at], rel=1e-12)
    named = {r.signal: r.detail for r in reasons_of(node, file, signals, question, c.lexical, is_file=False)}
    # The words of the path stand in the file's module-level code as well; tokenCache in one document alone.
    assert named["text"] == "tokenCache, cache, token"


# -- properties

questions = st.lists(
    st.sampled_from([*WORDS, "where", "is", "tests", "\n", "`auth`", "src/auth.py", "Token.login", "authentication"])
).map(" ".join)


@given(corpora(linked=True), questions)
@pytest.mark.slow
def test_scores_are_finite_and_not_negative(c: Corpus, text: str) -> None:
    signals = shipped_signals(c, text)
    n = len(c.graph.nodes)
    for scores in fuse(signals):
        assert scores.shape == (n,)
        assert np.isfinite(scores).all()
        assert (scores >= 0).all()
        assert not scores[c.graph.nodes.kinds == NodeKind.EXTERNAL].any()
    shipped = default_weights()
    most = {**shipped.definition.signals, "kind": max(shipped.definition.kind.values())}
    for table, weights in ((signals.definition, most), (signals.file, shipped.file.signals)):
        for name, values in table.items():
            assert (values >= 0).all()
            assert (values <= weights[name] + 1e-12).all()
    files = fuse(signals)[1]
    assert not files[c.graph.nodes.kinds != NodeKind.FILE].any()


@given(corpora(linked=True))
@pytest.mark.slow
def test_unknown_words_score_nothing(c: Corpus) -> None:
    definitions, files = fuse(shipped_signals(c, "zebra giraffe\n`gnu` okapi.run zoo/emu.py"))
    assert not definitions.any()
    assert not files.any()


@given(corpora(linked=True), questions)
@pytest.mark.slow
def test_a_score_is_explained_to_the_last_part(c: Corpus, text: str) -> None:
    signals = shipped_signals(c, text)
    definitions, files = fuse(signals)
    for node in range(len(c.graph.nodes)):
        assert sum(v for _, v in signals.contributions(node, is_file=False)) == pytest.approx(
            definitions[node], abs=1e-12
        )
        assert sum(v for _, v in signals.contributions(node, is_file=True)) == pytest.approx(files[node], abs=1e-12)


# -- what is shipped


def shipped() -> dict:
    return json.loads(resource_files("causalist.rank.scoring").joinpath("weights.json").read_text(encoding="utf-8"))


def test_the_weights_say_where_they_come_from() -> None:
    data = shipped()
    assert set(data) == {"provenance", "factors", "definition", "file"}
    assert "questions" in data["provenance"]
    weights = default_weights()
    assert weights.definition == LinearModel(*(data["definition"][part] for part in ("signals", "role", "kind")))
    assert weights.file == LinearModel(data["file"]["signals"], data["file"]["role"], {})
    assert weights.factors == PriorFactors(data["factors"]["role"], data["factors"]["declarations"])


def test_every_weight_is_that_of_a_signal_and_every_signal_has_one() -> None:
    """A misspelt name would be a signal without weight: nothing would fail, and the ranking would be worse."""
    weights = default_weights()
    c = corpus({"p.py": ""})
    signals = with_support(shipped_signals(c, "token"), np.zeros(1), weights)
    signals = with_signal(signals, Signal.USES_NAMED, np.zeros(1), weights)
    assert {*weights.definition.signals, "kind"} == set(signals.definition)
    assert set(weights.file.signals) == set(signals.file)
    assert set(weights.file.signals) >= set(of_files(c, "token"))
    for linear in (weights.definition, weights.file):
        assert set(linear.role) == {role.label for role in Role}
    assert set(weights.factors.kind) == {"interface", "type", "constant", "declarations only"}
    assert set(weights.definition.kind) <= {kind.label for kind in NodeKind}


def test_weights_are_not_negative_and_factors_lie_in_0_to_1() -> None:
    weights = default_weights()
    for linear in (weights.definition, weights.file):
        assert all(value >= 0 for value in [*linear.signals.values(), *linear.kind.values()])
        assert linear.signals["text"] > 0
        assert all(0 < value <= 1 for value in linear.role.values())
        assert linear.role["code"] == 1.0
    assert all(0 < value <= 1 for value in weights.factors.kind.values())


def test_edges_do_not_change_what_words_say() -> None:
    files: Mapping[str, Iterable[Def]] = {"p.py": [Def("tokenCache")], "q.py": [Def("verify", "token")]}
    edges = [("p.py::tokenCache", "q.py::verify", EdgeKind.CALLS), ("p.py", "external:os", EdgeKind.IMPORTS)]
    one, other = corpus(files), corpus(files, edges)
    assert [one.of(s) for s in fuse(shipped_signals(one, "token"))] == [
        other.of(s) for s in fuse(shipped_signals(other, "token"))
    ]
