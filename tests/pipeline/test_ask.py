"""What an answer promises, on the sample repository and on small ones."""

import dataclasses
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from causalist.errors import EmptyQuestion, UnknownNode, UsageError
from causalist.extract import NeededNode
from causalist.model.answer import Answer, AskOptions, Level, Order, RankMode, Route, Specificity, Tokenizer
from causalist.model.graph import ORDERING_KINDS, CodeGraph, EdgeKind
from causalist.model.node_ids import NodeKind
from causalist.pipeline.answer_notes import sufficiency_of
from causalist.pipeline.repository import Repository
from causalist.rank import Ranking, default_weights, parse_query, rank_question
from tests.pipeline.sample import CHAIN, HUBS, QUESTIONS, WHERE_AUTH, in_memory, plain_answer

_EACH_LEVEL = pytest.mark.parametrize("level", list(Level))
_EACH_QUESTION = pytest.mark.parametrize("question", QUESTIONS)
_EVERYTHING = 100_000


def ids(answer: Answer) -> list[str]:
    return [hit.id for hit in answer.results]


def ranking_of(repository: Repository, question: str, options: AskOptions) -> Ranking:
    """The ranking behind an answer, as the pipeline makes it."""
    index = repository.index
    return rank_question(
        parse_query(question), index.graph, index.lexical, index.transition, default_weights(), options
    )


def text_of(repository: Repository, path: str) -> str:
    return (repository.root / path).read_text().lower()


# -- the question that names nothing


def test_the_end_of_the_chain_says_nothing_of_the_question(sample: Repository) -> None:
    """What makes the sample worth asking: flat search cannot find the last two, and would find the hubs."""
    for path in CHAIN[1:]:
        assert "auth" not in text_of(sample, path) and "user" not in text_of(sample, path), path
    for path, word in (("src/types.ts", "authentication"), ("src/main.ts", "auth")):
        assert "user" in text_of(sample, path) and word in text_of(sample, path), path


def test_the_chain_is_found_and_no_hub_stands_before_it(sample: Repository) -> None:
    found = ids(sample.ask(WHERE_AUTH, AskOptions(top_k=8, level=Level.FILE)))
    assert set(CHAIN) <= set(found)
    last = max(found.index(path) for path in CHAIN)
    assert [hub for hub in HUBS if hub in found[:last]] == []


def test_the_chain_stands_in_causal_order(sample: Repository) -> None:
    answer = sample.ask(WHERE_AUTH, AskOptions(top_k=8, level=Level.FILE))
    places = [answer.order.index(path) for path in CHAIN]
    assert places == sorted(places)
    assert answer.pack is not None
    heads = [line for line in answer.pack.text.splitlines() if line.startswith("──") and "(file)" in line]
    places = [next(i for i, line in enumerate(heads) if path in line) for path in CHAIN]
    assert places == sorted(places)

    backwards = sample.ask(WHERE_AUTH, AskOptions(top_k=8, level=Level.FILE, order=Order.DEPENDENCIES_FIRST))
    places = [backwards.order.index(path) for path in CHAIN]
    assert places == sorted(places, reverse=True)


@_EACH_QUESTION
@pytest.mark.parametrize("rank", list(RankMode))
def test_pushing_far_enough_answers_as_the_exact_walk(question: str, rank: RankMode, sample: Repository) -> None:
    exact = sample.ask(question, AskOptions(rank=rank))
    pushed = sample.ask(question, AskOptions(rank=rank, approximate=1e-8))
    assert ids(pushed)[:10] == ids(exact)[:10]
    if exact.pagerank is not None:
        assert pushed.pagerank is not None and pushed.pagerank.bound is not None
        assert (exact.pagerank.bound, pushed.pagerank.outcome) == (None, "approximate")
        assert 0 < pushed.pagerank.bound < 1e-3


def test_specificity_keeps_the_seeds_away_from_hubs(sample: Repository) -> None:
    graph = sample.index.graph
    share = {}
    for specificity in (Specificity.LOG, Specificity.NONE):
        options = AskOptions(top_k=8, level=Level.FILE, specificity=specificity)
        ranking = ranking_of(sample, WHERE_AUTH, options)
        hubs = [graph.nodes.ids.position(path) for path in HUBS]
        share[specificity] = sum(float(ranking.seeds[graph.nodes.files == hub].sum()) for hub in hubs)
    assert share[Specificity.LOG] > 0
    assert share[Specificity.NONE] >= 1.25 * share[Specificity.LOG], share


# -- what every answer promises


@_EACH_QUESTION
@_EACH_LEVEL
def test_results_are_ranked_distinct_and_inside_the_repository(question: str, level: Level, sample: Repository) -> None:
    answer = sample.ask(question, AskOptions(level=level))
    assert 0 < len(answer.results) <= 20
    assert len(set(ids(answer))) == len(answer.results)
    scores = [hit.score for hit in answer.results]
    assert scores == sorted(scores, reverse=True) and scores[-1] > 0
    for hit in answer.results:
        assert hit.kind != "external" and not hit.id.startswith("external:")
        assert (hit.kind == "file" and hit.symbol is None) or level is Level.SYMBOL
        assert (sample.root / hit.path).is_file()
        assert hit.reasons, hit.id
        assert 0 <= hit.pagerank <= 1


@pytest.mark.slow
@_EACH_QUESTION
@_EACH_LEVEL
def test_everything_that_is_returned_was_reached(question: str, level: Level, sample: Repository) -> None:
    for mode in RankMode:
        options = AskOptions(top_k=_EVERYTHING, level=level, rank=mode)
        answer = sample.ask(question, options)
        assert len(answer.results) < len(sample.index.graph.nodes)
        for hit in answer.results:
            assert hit.score > 0
            assert any(reason.value > 0 for reason in hit.reasons), hit.id


def test_nodes_that_nothing_reaches_are_not_returned(tmp_path: Path) -> None:
    (tmp_path / "mail.py").write_text("from letter import fold\n\ndef send_invoice():\n    fold()\n")
    (tmp_path / "letter.py").write_text("def fold():\n    pass\n")
    (tmp_path / "island.py").write_text("def swim():\n    pass\n")
    repository = in_memory(tmp_path)
    for mode in RankMode:
        answer = repository.ask("where is an invoice sent?", AskOptions(top_k=50, rank=mode))
        assert "mail.py::send_invoice" in ids(answer)
        assert not [node for node in ids(answer) if node.startswith("island.py")]
    by_walk = ids(repository.ask("where is an invoice sent?", AskOptions(top_k=50, rank=RankMode.PAGERANK)))
    assert "letter.py::fold" in by_walk


@_EACH_QUESTION
@_EACH_LEVEL
def test_a_path_starts_at_a_seed_and_follows_edges(question: str, level: Level, sample: Repository) -> None:
    options = AskOptions(level=level)
    graph = sample.index.graph
    seeds = ranking_of(sample, question, options).seeds
    linked = {(edge.source, edge.target, edge.kind) for edge in sample.edges(everything=True)}
    n_walked = 0
    for hit in sample.ask(question, options).results:
        path = hit.path_from_seed
        if not path:
            continue
        assert path[0].edge is None
        assert seeds[graph.nodes.ids.position(path[0].node)] > 0
        for before, hop in pairwise(path):
            n_walked += 1
            assert hop.edge is not None
            kind = hop.edge.removesuffix(" (back)")
            ends = (hop.node, before.node) if hop.edge.endswith(" (back)") else (before.node, hop.node)
            assert (*ends, kind) in linked, hop
            if hop.line is not None:
                assert hop.path is not None
                assert 1 <= hop.line <= (sample.root / hop.path).read_text().count("\n") + 1
        end = graph.nodes.ids.position(path[-1].node)
        assert end == hit.node if level is Level.SYMBOL else int(graph.nodes.files[end]) == hit.node
    assert n_walked > 0


@_EACH_QUESTION
@_EACH_LEVEL
def test_the_order_holds_each_node_once_and_respects_every_kept_edge(
    question: str, level: Level, sample: Repository
) -> None:
    answer = sample.ask(question, AskOptions(level=level))
    assert sorted(answer.order) == sorted([*ids(answer), *answer.via])
    assert len(set(answer.order)) == len(answer.order)
    place = {node: i for i, node in enumerate(answer.order)}
    removed = set(answer.removed_edges)
    assert removed <= set(answer.edges)
    ordering = {kind.label for kind in ORDERING_KINDS}
    for edge in answer.edges:
        if edge.kind in ordering and edge not in removed and edge.source != edge.target:
            assert place[edge.source] < place[edge.target], edge


def _lifted(graph: CodeGraph, inside: set[str]) -> dict[tuple[str, str, str], tuple[float, int]]:
    """(source file, target file, kind) -> (highest confidence, sum of sites), the slow way."""
    expected: dict[tuple[str, str, str], tuple[float, int]] = defaultdict(lambda: (0.0, 0))
    names, files = graph.nodes.ids, graph.nodes.files
    for number in range(len(graph.edges)):
        edge = graph.edge(number)
        ends = [int(files[names.position(node)]) for node in (edge.source, edge.target)]
        if min(ends) < 0 or ends[0] == ends[1] or edge.kind == EdgeKind.CONTAINS.label:
            continue
        source, target = names[ends[0]], names[ends[1]]
        if source in inside and target in inside:
            confidence, n = expected[source, target, edge.kind]
            expected[source, target, edge.kind] = (max(confidence, edge.confidence), n + edge.n)
    return dict(expected)


@_EACH_QUESTION
def test_edges_of_files_are_lifted_from_their_definitions(question: str, sample: Repository) -> None:
    answer = sample.ask(question, AskOptions(level=Level.FILE))
    found = {(edge.source, edge.target, edge.kind): (edge.confidence, edge.n) for edge in answer.edges}
    assert len(found) == len(answer.edges)
    lifted = _lifted(sample.index.graph, set(answer.order))
    used = {(source, target) for source, target, kind in lifted if kind in ("imports", "calls", "references")}
    repeats = {key for key in lifted if key[2] in ("reads", "tests") and key[:2] in used}
    assert found == {key: value for key, value in lifted.items() if key not in repeats}


@pytest.mark.slow
@_EACH_QUESTION
def test_rank_pagerank_is_the_pure_method(question: str, sample: Repository) -> None:
    graph = sample.index.graph
    for level in Level:
        options = AskOptions(level=level, rank=RankMode.PAGERANK)
        ranking = ranking_of(sample, question, options)
        assert ranking.pagerank is not None
        scores = ranking.pagerank.scores
        answer = sample.ask(question, options)
        assert len(answer.results) == 20
        best = []
        for hit in answer.results:
            inside = graph.nodes.files == hit.node if level is Level.FILE else graph.nodes.ids.position(hit.id)
            best.append(float(scores[inside].sum()))
            assert hit.score == pytest.approx(best[-1], abs=1e-12)
        assert best == sorted(best, reverse=True)
        if level is Level.SYMBOL:
            walkable = scores[graph.nodes.kinds != NodeKind.EXTERNAL]
            assert min(best) >= sorted(walkable, reverse=True)[19] - 1e-12


def test_without_the_graph_nothing_is_walked(sample: Repository) -> None:
    answer = sample.ask(WHERE_AUTH, AskOptions(graph=False))
    assert answer.pagerank is None and answer.results
    assert {hit.pagerank for hit in answer.results} == {0.0}
    assert not [hit for hit in answer.results if hit.reasons[0].signal == "pagerank"]


@_EACH_LEVEL
def test_more_places_than_nodes(level: Level, sample: Repository) -> None:
    answer = sample.ask(WHERE_AUTH, AskOptions(top_k=_EVERYTHING, level=level))
    n_files = sample.info().files
    assert 20 < len(answer.results) <= (n_files if level is Level.FILE else sample.info().nodes)
    assert answer.pack is not None and answer.pack.tokens <= answer.pack.max_tokens


@pytest.mark.parametrize("top_k", [1, 2, 3, 5])
def test_few_places_hold_the_best(top_k: int, sample: Repository) -> None:
    first = ids(sample.ask(WHERE_AUTH, AskOptions(level=Level.FILE)))[0]
    found = ids(sample.ask(WHERE_AUTH, AskOptions(top_k=top_k, level=Level.FILE)))
    assert len(found) == top_k and found[0] == first


# -- questions that are none, and options out of range


@pytest.mark.parametrize("question", ["", " ", "\n\t  "])
def test_an_empty_question_is_refused(question: str, sample: Repository) -> None:
    with pytest.raises(EmptyQuestion, match="causalist ask"):
        sample.ask(question)


@pytest.mark.parametrize("question", ["zyzzyva qwertyuiop", "???", "the of and", "\0\ud800", "名前"])
@_EACH_LEVEL
def test_unknown_words_find_nothing(question: str, level: Level, sample: Repository) -> None:
    for mode in RankMode:
        answer = sample.ask(question, AskOptions(level=level, rank=mode))
        assert answer.results == () and answer.pack is None and answer.pagerank is None
        assert answer.edges == () and answer.order == () and answer.via == ()
        assert answer.answer_id


@pytest.mark.parametrize(
    "options",
    [{"top_k": 0}, {"top_k": -1}, {"damping": -0.1}, {"damping": 1.0}, {"damping": float("nan")}, {"max_tokens": 1}],
)
def test_options_out_of_range_are_usage_errors(options: dict[str, Any], sample: Repository) -> None:
    with pytest.raises(UsageError):
        sample.ask(WHERE_AUTH, AskOptions(**options))


def test_an_unknown_format_is_a_usage_error(sample: Repository) -> None:
    with pytest.raises(UsageError):
        sample.ask(WHERE_AUTH, AskOptions(format="papyrus"))


def test_specificity_by_passages(sample: Repository) -> None:
    assert sample.ask(WHERE_AUTH, AskOptions(specificity=Specificity.PASSAGES)).results


# -- the id of an answer

_OTHER_OPTIONS: dict[str, Any] = {
    "top_k": 7,
    "level": Level.FILE,
    "max_tokens": 3999,
    "format": "json",
    "route": Route.EXPLORATORY,
    "rank": RankMode.PAGERANK,
    "graph": False,
    "order": Order.DEPENDENCIES_FIRST,
    "damping": 0.5,
    "specificity": Specificity.NONE,
    "explain": True,
    "tokenizer": Tokenizer.O200K,
    "include": ("src/",),
    "exclude": ("docs/",),
    "scope": "src/security",
    "normalise": True,
    "approximate": 1e-6,
    "embedder": "nobody",
    "names": ("verifyToken",),
    "semantic": False,
    "fill": True,
}


@pytest.mark.slow
def test_the_same_answer_has_the_same_id(sample: Repository) -> None:
    one, other = sample.ask(WHERE_AUTH), in_memory(sample.root).ask(WHERE_AUTH)
    assert one.answer_id == other.answer_id
    assert plain_answer(one) == plain_answer(other)


@pytest.mark.slow
def test_every_option_changes_the_id(sample: Repository) -> None:
    fields = {field.name for field in dataclasses.fields(AskOptions)}
    assert fields == _OTHER_OPTIONS.keys(), "a new option needs a line in this test"
    found = {sample.ask(WHERE_AUTH).answer_id, sample.ask(WHERE_AUTH + "?").answer_id}
    for name, value in _OTHER_OPTIONS.items():
        found.add(sample.ask(WHERE_AUTH, AskOptions(**{name: value})).answer_id)
    assert len(found) == 2 + len(fields)


def test_a_change_of_any_file_changes_the_id(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def save_order():\n    pass\n")
    before = in_memory(tmp_path).ask("save order").answer_id
    (tmp_path / "b.py").write_text("")
    added = in_memory(tmp_path).ask("save order").answer_id
    (tmp_path / "b.py").write_text("x = 1\n")
    assert len({before, added, in_memory(tmp_path).ask("save order").answer_id}) == 3


def test_an_unknown_name_lists_what_has_its_last_part(sample: Repository) -> None:
    with pytest.raises(UnknownNode, match=r"src/security/jwt-verifier\.ts::verifyToken"):
        sample.resolve("Verifier.verifyToken")
    with pytest.raises(UnknownNode, match="ids look like"):
        sample.resolve("Verifier.noSuchThing")


def test_names_bring_the_code_that_the_query_does_not_name(sample: Repository) -> None:
    query = "why is a visitor turned away"
    named = sample.ask(query, AskOptions(names=("verifyToken,verifySignature",)))
    assert "src/security/jwt-verifier.ts" not in [hit.path for hit in sample.ask(query).results[:3]]
    assert named.results[0].path == "src/security/jwt-verifier.ts" and named.query == query
    assert named.pack is not None and named.pack.text.startswith(f"# {query}\n")
    # Spaces and commas separate alike, and a list of names is one list.
    assert [hit.id for hit in sample.ask(query, AskOptions(names=("verifyToken", "verifySignature"))).results] == [
        hit.id for hit in named.results
    ]


def test_names_leave_a_pattern_as_it_is(sample: Repository) -> None:
    assert [hit.id for hit in sample.ask('"wrong-issuer"', AskOptions(names=("verifyToken",))).results] == [
        hit.id for hit in sample.ask('"wrong-issuer"').results
    ]


def test_too_many_names_are_refused(sample: Repository) -> None:
    with pytest.raises(UsageError, match=r"--names must have at most 2,000 characters in all, not 3,000"):
        sample.ask("why", AskOptions(names=("x" * 3000,)))


def test_a_pack_stops_where_more_is_not_worth_it_and_fills_on_request(sample: Repository) -> None:
    chosen, filled = sample.ask(WHERE_AUTH).pack, sample.ask(WHERE_AUTH, AskOptions(fill=True)).pack
    assert chosen is not None and filled is not None
    assert chosen.tokens < 3000 < 3500 < filled.tokens <= 4000
    shown = {item.node for item in chosen.places if item.shown}
    assert {f"src/middleware/auth-middleware.ts::{name}" for name in ("authenticateUser", "acceptToken")} <= shown
    assert "src/security/jwt-verifier.ts::verifyToken" in shown


def test_items_of_a_pack_say_what_it_shows(sample: Repository) -> None:
    pack = sample.ask(WHERE_AUTH).pack
    assert pack is not None
    printed = {line.strip() for line in pack.text.split("\n")}
    for item in pack.places:
        lines = (sample.root / item.path).read_text().split("\n")
        for first, last in item.shown:
            assert item.start_line <= first <= last <= item.end_line
            # A definition may begin and end in the middle of a line.
            inner = range(max(first, item.start_line + 1), min(last + 1, item.end_line))
            assert [n for n in inner if lines[n - 1].strip() not in printed] == [], item.node
    assert sum(item.tokens for item in pack.places) <= 1.1 * pack.tokens
    assert {edge.source for edge in pack.edges} | {edge.target for edge in pack.edges} <= {i.node for i in pack.places}


def test_sufficiency_counts_what_the_encoder_finds() -> None:
    # odds = 7.23 * 0.5 + 1.13 * 0.8 - 6.96 = -2.441, so 1 / (1 + e^2.441) = 0.0801, and 0.2 + 0.6 * 0.0801 = 0.2481
    needed = [NeededNode(7, 0.8), NeededNode(3, 0.1)]
    assert sufficiency_of(0.5, needed, uses_similarity=False) == pytest.approx(0.0801, abs=1e-4)
    assert sufficiency_of(0.5, needed, uses_similarity=True) == pytest.approx(0.2481, abs=1e-4)
    assert sufficiency_of(None, needed, uses_similarity=True) is None
    assert sufficiency_of(0.0, [], uses_similarity=True) == 0.0


def test_encoder_takes_part_in_questions_without_names(sample: Repository) -> None:
    question = "where does user authentication happen"
    by_meaning = sample.attempt(question, AskOptions()).ranking
    by_words = sample.attempt(question, AskOptions(semantic=False)).ranking
    assert by_meaning.uses_similarity and not by_words.uses_similarity


def test_sufficiency_follows_confidence(sample: Repository) -> None:
    likely, guess = sample.ask(WHERE_AUTH), sample.ask("what happens to the moon")
    assert likely.sufficiency is not None and likely.pack is not None
    assert f"enough {likely.sufficiency:.2f}" in likely.pack.text
    if guess.sufficiency is not None and guess.pack is not None:
        assert guess.sufficiency < likely.sufficiency and "--names" in guess.pack.text
    assert sample.ask('"wrong-issuer"').sufficiency is None
