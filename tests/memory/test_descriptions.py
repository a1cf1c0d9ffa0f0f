"""docs/memory.md says under "Methods" which call gives each point of five descriptions: here each of them is made.

A row of the page without a check fails, and so does a check without a row. What is done otherwise by decision, and what
a benchmark says, is in OTHERWISE.
"""

import inspect
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from causalist._internal.stage_clock import MAX_FAILURES
from causalist.memory import (
    VARIANTS,
    Entity,
    Extraction,
    HippoIndex,
    MemoryPipeline,
    RegexEntityExtractor,
    RetrievalSettings,
    RetrievedPassage,
    Triple,
    ValidationSettings,
)
from causalist.memory.conflicts_and_confidence import MODES, recency_factors
from causalist.memory.entity_ids import entity_id
from causalist.memory.extractors import (
    ASKED_TYPES,
    MAX_ENTITIES,
    LLMEntityExtractor,
    SpacyEntityExtractor,
    normalize_extraction,
)
from causalist.memory.query_entities import build_seeds, link_query
from causalist.memory.retrieval import PUBLISHED, RRF_K, combine_signals, fuse_ranks
from causalist.memory.senses import SIMILARITY_THRESHOLD
from causalist.servers.mcp.more_tools import MEMORY_TOOLS
from tests.memory.texts import TEAM, team

QUESTION = "Who manages the team that handles JWT authentication?"
OTHERWISE = {"Wanted there: a distributed store", "100,000 passages", "Success above 70 %, retries below 10 %",
             "Top k, edges between them, topological order"}  # fmt: skip
CHECKS: dict[str, Callable[[], None]] = {}


def _point(beginning: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    def keep(check: Callable[[], None]) -> Callable[[], None]:
        CHECKS[beginning] = check
        return check

    return keep


class _Model:
    """Answers about entities, then about triples."""

    model_id = "told"

    def prompt(self, prompt: str, *, stream: bool = False) -> Any:
        triples = [("Identity Team", "handles", "JWT", 0.9), ("JWT", "is near", "Identity Team", 0.3)]
        names = [{"name": "JWT", "type": "concept"}, {"name": "Identity Team", "type": "org"}, {"name": "Made Up"}]
        said = [dict(zip(("subject", "predicate", "object", "confidence"), t, strict=True)) for t in triples]
        answer = json.dumps(said if "triple" in prompt.lower() else names)
        return SimpleNamespace(text=lambda: answer)


def _said(text: str) -> Extraction:
    return LLMEntityExtractor(_Model())(text)


@_point("Entities by open information extraction")
def _() -> None:
    assert ASKED_TYPES == ("person", "org", "location", "concept", "event", "artifact")
    assert [(e.name, e.type) for e in _said(TEAM["jwt"]).entities] == [("JWT", "concept"), ("Identity Team", "org")]


@_point("Triples with a confidence")
def _() -> None:
    assert [(t.subject, t.predicate, t.object) for t in _said(TEAM["jwt"]).triples] == [
        ("Identity Team", "handles", "JWT")
    ]


@_point("At least 2 characters")
def _() -> None:
    many = normalize_extraction([Entity(f"Name {i}") for i in range(30)] + [Entity("x")])
    assert len(many.entities) == MAX_ENTITIES == 20 and entity_id("x") == ""
    assert entity_id("  JSON  Web_Token ") == "json_web_token"


@_point("Counts, passage references, positions")
def _() -> None:
    known = team().entity("JWT")
    assert (known.occurrences, known.passages) == (1, ("jwt",))
    (edge,) = [e for e in team().to_node_link()["links"] if e["target"] == "entity:jwt" and e["type"] == "mentions"]
    assert (edge["count"], edge["positions"]) == (1, [TEAM["jwt"].index("JWT")])


@_point("Explicit, similarity, co-occurrence and passage edges")
def _() -> None:
    names = (Entity("Token Checks"), Entity("token check"), Entity("Team"))
    index = HippoIndex(entity_extractor=lambda text: Extraction(names, (Triple("Team", "runs", "token check", 0.7),)))
    index.add_passage("a", "x")
    edges = {(e["type"], e.get("predicate"), e.get("strength")) for e in index.to_node_link()["links"]}
    assert {("related_to", "runs", 0.7), ("similar_to", None, 1.0), ("related_to", None, 1.0)} <= edges
    assert ("mentions", None, None) in edges


@_point("Similarity at cosine 0.85")
def _() -> None:
    vectors = {"alpha": (1.0, 0.0), "beta": (0.9, 0.4358899), "gamma": (0.8, 0.6)}
    index = HippoIndex(
        entity_extractor=lambda text: [Entity(word) for word in text.split()],
        embedder=lambda texts: [vectors.get(text, (0.0, 1.0)) for text in texts],
    )
    index.add_passage("a", "alpha beta gamma")
    # cos(alpha, beta) = 0.9, cos(beta, gamma) = 0.9 * 0.8 + 0.4359 * 0.6 = 0.98, cos(alpha, gamma) = 0.8 < 0.85.
    assert SIMILARITY_THRESHOLD == 0.85
    assert {a: sorted(others) for a, others in index.synonym_graph().items()} == {
        "alpha": ["beta"], "beta": ["alpha", "gamma"], "gamma": ["beta"]
    }  # fmt: skip
    assert index.synonym_graph()["alpha"]["beta"] == pytest.approx(0.9, abs=1e-6)


@_point("Seeds: exact matches, then similar ones")
def _() -> None:
    index = team()
    for name, match in (("the Identity Team", 1.0), ("the Idendity Team", 1 - 1 / 13)):
        found = link_query(name, index.snapshot, index.extractor)
        assert found.matches == {index.snapshot.position_by_entity["identity_team"]: pytest.approx(match)}


@_point("Restart to the seeds, 0.15")
def _() -> None:
    given = inspect.signature(HippoIndex.retrieve).parameters
    assert (given["max_iter"].default, given["tol"].default) == (50, 1e-6)
    index = team()
    assert index.retrieve(QUESTION) == index.retrieve(QUESTION, ppr_alpha=0.15)
    assert index.retrieve(QUESTION)[0].ppr_score != index.retrieve(QUESTION, ppr_alpha=0.5)[0].ppr_score


@_point("Passage score as the sum of its entities'")
def _() -> None:
    index = team(settings=RetrievalSettings(top_k_entities=None))
    snapshot = index.snapshot
    seeds = build_seeds(link_query(QUESTION, snapshot, index.extractor), snapshot, index.variant, np.zeros(5))
    assert seeds is not None
    scores = snapshot.memory_walk(index.variant).pagerank(seeds, damping=0.85).scores
    found = index.retrieve(QUESTION)
    assert len({each.passage_id for each in found}) == len(found)
    own = [
        snapshot.position_by_entity[e]
        for e in ("jwt", "jwt_authentication", "identity_team")
        if e in snapshot.position_by_entity
    ]
    (jwt,) = [each for each in found if each.passage_id == "jwt"]
    assert jwt.ppr_score == pytest.approx(sum(scores[e] for e in own), abs=1e-9)


@_point("No seed: plain search")
def _() -> None:
    assert [(each.passage_id, each.origin) for each in team().retrieve("who is served at noon")] == [
        ("lunch", "fallback")
    ]


@_point("`top_k_entities` 20")
def _() -> None:
    assert (RetrievalSettings().top_k_entities, RetrievalSettings().expand_hops) == (20, 1)
    near = team(settings=RetrievalSettings(top_k_entities=1, expand_hops=0, combine_with_vector=False))
    assert len(near.retrieve("JWT")) < len(team(settings=RetrievalSettings(combine_with_vector=False)).retrieve("JWT"))


@_point("`combine_with_vector`")
def _() -> None:
    alone = team(settings=RetrievalSettings(combine_with_vector=False)).retrieve(QUESTION)
    assert all(each.score == each.ppr_score for each in alone)
    both = {each.passage_id: each.score for each in team(settings=PUBLISHED).retrieve(QUESTION)}
    assert both["jwt"] == pytest.approx(1.0)  # the best by words and by the walk, and every passage has entities


@_point("The graph's share grows")
def _() -> None:
    index = team(settings=PUBLISHED)
    for coverage in (1.0, 0.5):
        assert index.stats()["coverage"] == coverage
        walk_result = np.eye(len(index))[0]  # the walk likes the first passage, and words like none
        scores = combine_signals("x", walk_result, np.zeros(len(index)), index.snapshot, PUBLISHED)
        assert scores[0] == pytest.approx(0.7 * coverage)
        for i in range(5):
            index.add_passage(f"plain{i}", "nothing but small words here")


@_point("Tool `memory_search_graph")
def _() -> None:
    read = MEMORY_TOOLS["memory_search_graph"].read({"query": "x"})
    assert {"query": "x", "limit": 5, "use_graph": 1}.items() <= read.items()


@_point("Tool `hipporag_retrieve")
def _() -> None:
    assert list(MEMORY_TOOLS["hipporag_retrieve"].parameters)[:3] == ["query", "limit", "mode"]


@_point("`retrieve`, `retrieve_multi_hop`")
def _() -> None:
    assert inspect.signature(HippoIndex.retrieve_multi_hop).parameters["max_hops"].default == 3
    index = team(settings=RetrievalSettings(combine_with_vector=False))
    one, far = (link_query("JWT", index.snapshot, index.extractor).matches, index.retrieve_multi_hop("JWT"))
    assert len(one) == 1 and {"jwt", "lead"} <= {each.passage_id for each in far}


@_point("`expand_with_synonyms`")
def _() -> None:
    index = team()
    index.add_passage("more", "Both Identity Teams met.")
    assert index.expand_with_synonyms(["Identity Team"]) == ["identity_team", "identity_teams"]
    assert ("alice_moreau", 1) in [(each.entity, each.hops) for each in index.entity_neighborhood("Identity Team")]


@_point("PageRank; relaxed tolerance")
def _() -> None:
    index = team()
    seeds = np.zeros(len(index.snapshot.memory_walk(index.variant).graph.totals))
    seeds[0] = 1.0
    memory_walk = index.snapshot.memory_walk(index.variant)
    assert memory_walk.pagerank(seeds, damping=0.85).outcome == "converged"
    assert memory_walk.pagerank(seeds, damping=0.85, tolerance=1e-15, max_iterations=1).outcome in ("relaxed", "degree")


@_point("Nodes chunk, entity, concept")
def _() -> None:
    index = HippoIndex(entity_extractor=lambda text: Extraction((Entity("Alpha", "concept"), Entity("Beta"))))
    index.add_passage("a", "x")
    index.add_passage("b", "y", metadata={"references": ["a"]})
    graph = index.to_networkx()
    assert {data["type"] for _, data in graph.nodes(data=True)} == {"chunk", "entity", "concept"}
    assert {data["type"] for *_, data in graph.edges(data=True)} == {"mentions", "references", "related_to"}
    assert HippoIndex.from_networkx(graph).to_node_link() == index.to_node_link()
    assert HippoIndex.from_node_link(json.loads(json.dumps(index.to_node_link()))).passage_ids == ["a", "b"]


@_point("Canonical name, aliases, frequency")
def _() -> None:
    nodes = {node["id"]: node for node in team().to_node_link()["nodes"]}
    node = nodes["entity:identity_team"]
    assert (node["canonical_name"], node["aliases"], node["frequency"]) == ("Identity Team", [], 2)
    related = [e for e in team().to_node_link()["links"] if e["type"] == "related_to"]
    assert {"strength", "co_occurrence_count"} <= related[0].keys()


@_point("spaCy's entities")
def _() -> None:
    spans = [SimpleNamespace(text="Alice Moreau", label_="PERSON", start_char=0)]
    found = SpacyEntityExtractor(lambda text: SimpleNamespace(ents=spans))("Alice Moreau leads")
    assert [(e.name, e.type) for e in found.entities] == [("Alice Moreau", "person")]


@_point("Three tiers, modes")
def _() -> None:
    assert {mode.value: (len(tiers), n) for mode, (tiers, n) in MODES.items()} == {
        "execution": (2, 5), "planning": (3, 10), "brainstorming": (3, 20)
    }  # fmt: skip
    answer = MemoryPipeline(team()).run(QUESTION, mode="planning")
    assert set(answer.tiers) == {"plain", "graph", "probabilistic"}
    assert all(0 < hit.posterior.low < hit.posterior.mean < hit.posterior.high < 1 for hit in answer.hits)


@_point("Wanted there: a cache of results")
def _() -> None:
    index = team()
    memory_walk = index.snapshot.memory_walk(index.variant)
    seeds = np.eye(len(memory_walk.graph.totals))[:2]
    exact = [memory_walk.pagerank(row, damping=0.85).scores for row in seeds]
    memory_walk.pagerank(seeds[0], damping=0.85)
    assert memory_walk.hits == 1
    assert all(np.allclose(a.scores, b, atol=1e-6) for a, b in
               zip(memory_walk.pagerank_many(seeds, damping=0.85), exact, strict=True))  # fmt: skip
    roughly, error = memory_walk.approximate(seeds[0], damping=0.85, bound=0.1)
    assert np.abs(roughly.scores - exact[0]).sum() <= error + 1e-5 <= 0.1 + 1e-5
    index.add_passage("old", "JWT", metadata={"timestamp": "2024-01-01"})
    index.add_passage("new", "JWT", metadata={"timestamp": "2024-01-31"})
    factors = recency_factors(index.snapshot, ValidationSettings(half_life_days=30))
    assert factors[index.snapshot.position_by_passage["old"]] == pytest.approx(0.5)


@_point("Wanted there: senses of one name")
def _() -> None:
    assert team().entity("JWT").senses == ()  # test_count_matrices_senses.py has names with several senses


@_point("`HippoIndex(llm=None")
def _() -> None:
    assert {"llm", "entity_extractor", "embedder", "variant", "settings", "fact_filter"} <= set(
        inspect.signature(HippoIndex).parameters
    )
    assert isinstance(HippoIndex().extractor, RegexEntityExtractor)
    assert isinstance(HippoIndex(llm=_Model()).extractor, LLMEntityExtractor)


@_point("`add_passage`, incremental")
def _() -> None:
    index = team()
    before = index.to_node_link()
    index.add_passage("jwt", TEAM["jwt"])
    assert index.to_node_link() == before
    index.add_passage("jwt", TEAM["jwt"], metadata={"x": 1})
    assert index.passage("jwt")[1] == {"x": 1} and len(index) == 5
    built = HippoIndex()
    built.build_from_passages({"id": passage, "text": text} for passage, text in TEAM.items())
    assert built.to_node_link() == before


@_point("`retrieve(query, top_k=10")
def _() -> None:
    given = inspect.signature(HippoIndex.retrieve).parameters
    assert list(given)[1:7] == ["query", "top_k", "ppr_alpha", "max_iter", "tol", "mode"]
    assert given["top_k"].default == 10
    for mode in ("dense", "sparse", "hybrid", "hippo"):
        assert team().retrieve(QUESTION, mode=mode)[0].passage_id == "jwt"


@_point("`RetrievedPassage(")
def _() -> None:
    names = list(RetrievedPassage.__dataclass_fields__)
    assert names[:7] == ["passage_id", "text", "ppr_score", "entity_hits", "metadata", "score", "origin"]
    assert names[7:] == ["superseded_by", "contradicted_by"]


@_point("`RegexEntityExtractor`, offline")
def _() -> None:
    found = RegexEntityExtractor()("On 2024-05-01 Ada Byron read 24 hours of urn:x:42.")
    assert [(e.name, e.type) for e in found.entities] == [
        ("2024-05-01", "date"), ("Ada Byron", "entity"), ("24 hours", "measure"), ("urn:x:42", "iri")
    ]  # fmt: skip


@_point("Synonyms by edit distance")
def _() -> None:
    index = team()
    index.add_passage("slip", "So says the Idendity Team.")
    assert index.synonym_graph()["identity_team"] == {"idendity_team": pytest.approx(1 - 1 / 13)}


@_point("`synonym_graph`, `save`, `load`")
def _() -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for name in ("m.db", "m.json"):
            team().save(Path(folder) / name)
            assert HippoIndex.load(Path(folder) / name).to_node_link() == team().to_node_link()


@_point("Routes simple, multi_hop")
def _() -> None:
    pipeline = MemoryPipeline(team())
    for route in ("simple", "multi_hop", "exploratory"):
        assert pipeline.run(QUESTION, route=route).route.value == route
    assert pipeline.run(QUESTION, route="simple").route.value == "skip"  # nothing has changed since


@_point("Generators in parallel")
def _() -> None:
    assert RRF_K == 60
    assert fuse_ranks([np.array([2.0, 1.0]), np.array([1.0, 0.0])]).tolist() == [2 / 61, 1 / 62]


@_point("Temporal relevance, access")
def _() -> None:
    index = team()
    index.add_passage("mine", TEAM["jwt"] + " Once more.", metadata={"visible_to": ["ada"], "confidence": 0.4})

    def ids(**given: Any) -> set[str]:
        hits = MemoryPipeline(index, validation=ValidationSettings(**given)).run("JWT").hits
        return {hit.passage_id for hit in hits} & {"jwt", "mine"}

    assert ids() == {"jwt"} and ids(reader="ada") == {"jwt", "mine"}
    assert ids(reader="ada", min_confidence=0.5) == {"jwt"}
    assert ids(reader="ada", reflect=lambda question, texts: ["Once" in text for text in texts]) == {"mine"}


@_point("Distillation, learned from outcomes")
def _() -> None:
    pipeline = MemoryPipeline(team())
    answer = pipeline.run(QUESTION)
    before = {hit.passage_id: hit.posterior.mean for hit in answer.hits}
    assert pipeline.feedback(answer.answer_id, ["jwt"]) is None  # one answer teaches nothing yet
    again = {hit.passage_id: hit.posterior.mean for hit in pipeline.run(QUESTION).hits}
    assert again["jwt"] > before["jwt"]


@_point("`contradicts` edges")
def _() -> None:
    index = team()
    index.add_passage("late", "JWT Authentication is handled by the Platform Team.",
                      metadata={"contradicts": ["jwt"], "timestamp": "2024-01-02"})  # fmt: skip
    index.add_passage("jwt", TEAM["jwt"], metadata={"timestamp": "2024-01-01"})
    answer = MemoryPipeline(index).run("Who handles JWT Authentication?")
    order = [hit.passage_id for hit in answer.hits]
    assert order.index("late") < order.index("jwt")
    assert [(c.kept, c.against, c.reason) for c in answer.conflicts] == [("late", "jwt", "newer")]
    assert answer.hits[order.index("jwt")].contradicted_by == ("late",) and answer.hits[0].ranks


@_point("At most three attempts")
def _() -> None:
    answer = MemoryPipeline(team()).run("zebra")
    assert (answer.attempts, answer.is_partial, answer.hits) == (3, True, ())


@_point("`retrieval_confidence`")
def _() -> None:
    answer = MemoryPipeline(team()).run(QUESTION)
    assert 0 < answer.retrieval_confidence < 1 and not answer.is_calibrated


@_point("A circuit breaker around each stage")
def _() -> None:
    def broken(question: str, texts: Sequence[str]) -> Sequence[bool]:
        raise OSError("no network")

    pipeline = MemoryPipeline(team(), validation=ValidationSettings(reflect=broken))
    said = [pipeline.run(f"{QUESTION} {i}").diagnostics for i in range(MAX_FAILURES + 1)]
    assert "no network" in said[0][0] and "no network" not in said[-1][0].partition(":")[2].partition(":")[0]
    assert pipeline.run(QUESTION).hits


@_point("r = (1 − α) M r + α s")
def _() -> None:
    index = team()
    memory_walk = index.snapshot.memory_walk(VARIANTS["log"])
    seeds = np.zeros(len(memory_walk.graph.totals))
    seeds[index.snapshot.position_by_entity["jwt"]] = 1.0
    r = memory_walk.pagerank(seeds, damping=0.85).scores
    t = memory_walk.graph.transition
    m = np.zeros((len(r), len(r)))
    for row in range(len(r)):
        part = slice(int(t.indptr[row]), int(t.indptr[row + 1]))
        m[row, t.indices[part]] = t.weights[part]
    lost = 1.0 - (m @ r).sum()  # what columns lack to 1 returns to the seeds
    assert np.abs(0.85 * (m @ r + lost * seeds) + 0.15 * seeds - r).max() < 1e-6


@_point("Seeds as log(N / degree)")
def _() -> None:
    index = team()
    found = link_query("JWT and Identity Team", index.snapshot, index.extractor)
    seeds = build_seeds(found, index.snapshot, VARIANTS["log"], np.zeros(5))
    assert seeds is not None
    jwt, named_twice = (seeds[index.snapshot.position_by_entity[name]] for name in ("jwt", "identity_team"))
    n = len(seeds)
    assert jwt / named_twice == pytest.approx(np.log(n / 1) / np.log(n / 2))


@_point("Convergence at 1e-5")
def _() -> None:
    memory_walk = team().snapshot.memory_walk(VARIANTS["log"])
    seeds = np.zeros(len(memory_walk.graph.totals))
    seeds[0] = 1.0
    assert memory_walk.pagerank(seeds, damping=0.85).n_iterations <= 50


def _points() -> Iterator[str]:
    page = (Path(__file__).parents[2] / "docs" / "memory.md").read_text(encoding="utf-8")
    for line in page.partition("\n## Methods\n")[2].splitlines():
        if line.startswith("| ") and not line.startswith("| Point |"):
            yield line.split(" | ")[0].removeprefix("| ")


@pytest.mark.parametrize("point", list(_points()))
def test_each_point_of_the_page(point: str) -> None:
    if point in OTHERWISE:
        return
    (check,) = [check for beginning, check in CHECKS.items() if point.startswith(beginning)]
    check()


def test_no_check_without_a_point() -> None:
    points = list(_points())
    assert len(points) == len(set(points)) == len(CHECKS) + len(OTHERWISE)
    assert set(points) >= OTHERWISE
