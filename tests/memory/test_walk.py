"""PageRank over memory graphs: by hand, against a dense solve, against igraph."""

from typing import Any

import numpy as np
import pytest

from causalist.errors import UsageError
from causalist.memory.count_matrices import build_arrays, count_cooccurrences
from causalist.memory.extractors import Entity, Extraction, Triple
from causalist.memory.index import HippoIndex
from causalist.memory.matrix_splices import Matrix
from causalist.memory.query_entities import build_seeds, link_query
from causalist.memory.retrieval import RetrievalSettings
from causalist.memory.walk import VARIANTS, MemoryWalk, Variant, build_walk_graph, get_variant


def _extractor(text: str) -> Extraction:
    """Words with a capital are entities; `A>B` is a triple between two of them, `A>B:0.5` with that confidence."""
    entities, triples = [], []
    for word in text.split():
        subject, arrow, rest = word.partition(">")
        name, _, confidence = rest.partition(":")
        entities += [Entity(each) for each in (subject, name) if each]
        if arrow:
            triples.append(Triple(subject, "to", name, float(confidence or 1)))
    return Extraction(tuple(entities), tuple(triples))


def _index(texts: dict[str, str], variant: str = "log", **options: Any) -> HippoIndex:
    index = HippoIndex(entity_extractor=_extractor, variant=variant, **options)
    for passage, text in texts.items():
        index.add_passage(passage, text)
    return index


PLAIN = RetrievalSettings(top_k_entities=None, combine_with_vector=False)


def test_log_variant_by_hand() -> None:
    """Two entities share a passage, one of them has a passage of its own: Aa - p - Bb - q.

    D: Aa 1, Bb 2, p 2, q 1. With x = s + d M x, seeds Aa alone, d = 1/2, unscaled:
        Aa = 1 + 1/4 p,  p = 1/2 Aa + 1/4 Bb,  Bb = 1/4 p + 1/2 q,  q = 1/4 Bb
    gives Bb = 2/7 p, then p (1 - 1/14) = 1/2 Aa, p = 7/13 Aa, Aa (1 - 7/52) = 1, Aa = 52/45, p = 28/45, Bb = 8/45,
    q = 2/45, together 90/45 = 2 = 1 / (1 - d). Scaled to 1: Aa 26/45, Bb 4/45, so that p, which names both, has 30/45
    and q, which names Bb, 4/45.
    """
    index = _index({"p": "Aa Bb", "q": "Bb"}, settings=PLAIN)
    found = index.retrieve("Aa", ppr_alpha=0.5, tol=1e-12)
    assert [(each.passage_id, round(each.ppr_score, 9)) for each in found] == [
        ("p", round(30 / 45, 9)),
        ("q", round(4 / 45, 9)),
    ]
    assert found[0].entity_hits == ["aa", "bb"]


def test_specificity_is_the_logarithm_of_nodes_by_degree() -> None:
    """Aa stands in three passages, Bb in one: five nodes, degrees 3 and 1, so seeds as log(5/3) to log(5)."""
    index = _index({"p": "Aa", "q": "Aa", "r": "Aa Bb"})
    seeds = build_seeds(link_query("Aa Bb", index.snapshot, _extractor), index.snapshot, index.variant, np.zeros(3))
    assert seeds is not None
    expected = np.array([np.log(5 / 3), np.log(5)])
    assert seeds[:2] == pytest.approx(expected / expected.sum(), abs=1e-12)
    assert not seeds[2:].any()


def test_hipporag_by_hand() -> None:
    """Entities alone: Aa - Bb by co-occurrence in two passages and a triple of confidence 1/2, Bb - Cc by one passage.

    C: AaBb 2.5, BbCc 1, so D = 2.5, 3.5, 1. Question Aa, Cc: specificity 1/2 and 1/1, seeds 1/3 and 2/3; d = 1/2:
        a = 1/3 + 5/14 b,  b = 1/2 a + 1/2 c,  c = 2/3 + 1/7 b
    a + c = 1 + 1/2 b and b = 1/2 (a + c), so b = 2/3; a = 12/21, c = 16/21, sum 42/21; scaled: 6/21, 7/21, 8/21.
    """
    index = _index({"p": "Aa>Bb:0.5", "q": "Aa Bb", "r": "Bb Cc"}, "hipporag", settings=PLAIN)
    found = index.retrieve("Aa Cc", tol=1e-12)
    assert {each.passage_id: round(each.ppr_score, 9) for each in found} == {
        "p": round(13 / 21, 9),
        "q": round(13 / 21, 9),
        "r": round(15 / 21, 9),
    }
    assert [each.passage_id for each in found] == ["r", "p", "q"]


def test_hipporag2_by_hand() -> None:
    """One fact, Aa to Bb, in p; q names Bb. Facts are linked by their words: "aa" of "aa to bb".

    The fact's score is scaled to 1; Aa stands in one passage, Bb in two: seeds 1 and 1/2. Plain retrieval finds p
    alone, which gets 0.05. Seeds (Aa, Bb, p, q) = (1, 1/2, 1/20, 0) / 1.55 = (20, 10, 1, 0) / 31.
    Links: Aa-Bb 1, Aa-p 1, Bb-p 1, Bb-q 1, so D = 2, 3, 2, 1 and d = 1/2:
        a = 20/31 + b/6 + p/4,  b = 10/31 + a/4 + p/4 + q/2,  p = 1/31 + a/4 + b/6,  q = b/6
    """
    index = _index({"p": "Aa>Bb", "q": "Bb"}, "hipporag2", settings=PLAIN)
    matrix = np.array([[0, 1 / 6, 1 / 4, 0], [1 / 4, 0, 1 / 4, 1 / 2], [1 / 4, 1 / 6, 0, 0], [0, 1 / 6, 0, 0]])
    exact = np.linalg.solve(np.eye(4) - matrix, np.array([20, 10, 1, 0]) / 31)
    found = index.retrieve("aa", tol=1e-12)
    scores = {each.passage_id: each.ppr_score for each in found}
    assert scores == pytest.approx({"p": exact[2] / exact.sum(), "q": exact[3] / exact.sum()}, abs=1e-9)


def test_hipporag2_without_a_fact_is_plain_retrieval() -> None:
    index = _index({"p": "Aa Bb word", "q": "Bb"}, "hipporag2")
    (found,) = index.retrieve("word")
    assert (found.passage_id, found.origin, found.ppr_score) == ("p", "fallback", 0.0)


def test_a_filter_may_refuse_facts() -> None:
    asked = []

    def refuse(question: str, facts: Any) -> list[Triple]:
        asked.append((question, list(facts)))
        return []

    index = _index({"p": "Aa>Bb", "q": "Bb"}, "hipporag2", fact_filter=refuse)
    assert {each.origin for each in index.retrieve("aa")} == {"fallback"}
    assert asked == [("aa", [Triple("aa", "to", "bb", 1.0)])]
    invented = _index({"p": "Aa>Bb"}, "hipporag2", fact_filter=lambda q, f: [Triple("x", "y", "z")])
    with pytest.raises(UsageError, match="not given"):
        invented.retrieve("aa")


def _random_index(seed: int, variant: str, n_passages: int = 40) -> HippoIndex:
    rng = np.random.default_rng(seed)
    names = [f"N{i}x" for i in range(30)]
    texts = {}
    for i in range(n_passages):
        words = [names[k] for k in rng.integers(0, len(names), rng.integers(1, 6))]
        pair = rng.choice(len(names), 2, replace=False)
        words.append(f"{names[pair[0]]}>{names[pair[1]]}:{rng.uniform(0.2, 1):.3f}")
        texts[f"p{i:02}"] = " ".join(words)
    return _index(texts, variant)


@pytest.mark.parametrize("variant", list(VARIANTS))
@pytest.mark.parametrize("damping", [0.3, 0.5, 0.85, 0.97])
def test_agrees_with_a_dense_solve(variant: str, damping: float) -> None:
    graph = build_walk_graph(_random_index(3, variant).snapshot.arrays, VARIANTS[variant])
    t = graph.transition
    n = len(graph.totals)
    dense = np.zeros((n, n))
    rows = np.repeat(np.arange(n), np.diff(t.indptr))
    dense[rows, t.indices] = t.weights
    seeds = np.zeros(n)
    seeds[[0, 5]] = 0.25, 0.75
    exact = np.linalg.solve(np.eye(n) - damping * dense, seeds)
    result = MemoryWalk(graph).pagerank(seeds, damping=damping, tolerance=1e-12, max_iterations=1000)
    assert result.outcome == "converged"
    assert result.scores == pytest.approx(exact / exact.sum(), abs=1e-10)


@pytest.mark.parametrize("variant", ["hipporag", "hipporag2"])
@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_igraph_prpack(variant: str, seed: int) -> None:
    igraph = pytest.importorskip("igraph", reason="igraph, the reference for PageRank, is not installed")
    snapshot = _random_index(seed, variant).snapshot
    graph = build_walk_graph(snapshot.arrays, VARIANTS[variant])
    edges, weights = _edges(snapshot.arrays, VARIANTS[variant])
    reference = igraph.Graph(n=len(graph.totals), edges=edges)
    seeds = np.zeros(len(graph.totals))
    seeds[[1, 4, 9]] = 0.2, 0.5, 0.3
    expected = reference.personalized_pagerank(
        directed=False, damping=0.5, reset=seeds.tolist(), weights=weights, implementation="prpack"
    )
    result = MemoryWalk(graph).pagerank(seeds, damping=0.5, tolerance=1e-10, max_iterations=500)
    assert result.scores == pytest.approx(expected, abs=1e-6)


def _edges(arrays: Any, variant: Variant) -> tuple[list[tuple[int, int]], list[float]]:
    """The undirected weighted edges of a normalised variant, from the arrays alone."""
    found: dict[tuple[int, int], float] = {}

    def add(a: int, b: int, weight: float) -> None:
        key = (min(a, b), max(a, b))
        found[key] = found.get(key, 0.0) + weight

    for row in range(arrays.n_entities):
        for column, value in zip(*arrays.explicit.row(row), strict=True):
            add(row, int(column), float(value))
        for column, value in zip(*arrays.similar.row(row), strict=True):
            if row < column:
                add(row, int(column), float(value))
    for p in range(arrays.n_passages):
        own = arrays.mentions.row(p)[0].tolist()
        if variant.has_passages:
            for e in own:
                add(e, arrays.n_entities + p, 1.0)
        else:
            for i, a in enumerate(own):
                for b in own[i + 1 :]:
                    add(a, b, 1.0)
    return list(found), list(found.values())


def test_several_questions_in_one_product() -> None:
    memory_walk = MemoryWalk(build_walk_graph(_random_index(1, "log").snapshot.arrays, VARIANTS["log"]))
    n = len(memory_walk.graph.totals)
    seeds = np.random.default_rng(0).random((4, n))
    together = memory_walk.pagerank_many(seeds, damping=0.85, tolerance=1e-11, max_iterations=500)
    for row, result in zip(seeds, together, strict=True):
        alone = memory_walk.pagerank(row, damping=0.85, tolerance=1e-11, max_iterations=500)
        assert result.scores == pytest.approx(alone.scores, abs=1e-9)


@pytest.mark.parametrize("bound", [0.5, 0.1, 0.01, 1e-4])
def test_an_approximation_keeps_its_bound(bound: float) -> None:
    memory_walk = MemoryWalk(build_walk_graph(_random_index(2, "log").snapshot.arrays, VARIANTS["log"]))
    seeds = np.zeros(len(memory_walk.graph.totals))
    seeds[3] = 1.0
    exact = memory_walk.pagerank(seeds, damping=0.85, tolerance=1e-13, max_iterations=1000).scores
    result, stated = memory_walk.approximate(seeds, damping=0.85, bound=bound)
    assert np.abs(result.scores - exact).sum() <= stated <= bound


def test_results_are_remembered_until_something_changes() -> None:
    index = _index({"p": "Aa Bb", "q": "Bb"})
    first = index.retrieve("Aa")
    assert index.retrieve("Aa") == first
    assert index.snapshot.memory_walk(index.variant).hits == 1
    index.add_passage("r", "Aa Cc")
    assert {each.passage_id for each in index.retrieve("Aa")} == {"p", "q", "r"}


def test_where_too_few_iterations_are_allowed_the_rungs_say_so() -> None:
    memory_walk = MemoryWalk(build_walk_graph(_random_index(2, "log").snapshot.arrays, VARIANTS["log"]))
    seeds = np.zeros(len(memory_walk.graph.totals))
    seeds[0] = 1.0
    assert memory_walk.pagerank(seeds, damping=0.85, tolerance=1e-9, max_iterations=30).outcome == "converged"
    assert memory_walk.pagerank(seeds, damping=0.85, tolerance=1e-9, max_iterations=12).outcome == "relaxed"
    assert memory_walk.pagerank(seeds, damping=0.85, tolerance=1e-9, max_iterations=1).outcome == "degree"


def test_what_is_out_of_range_is_said() -> None:
    index = _index({"p": "Aa"})
    for bad in ({"ppr_alpha": 0.0}, {"ppr_alpha": 1.5}, {"max_iter": 0}, {"tol": 0.0}, {"top_k": 0}, {"mode": "best"}):
        with pytest.raises(UsageError):
            index.retrieve("Aa", **bad)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="log, hipporag, hipporag2"):
        get_variant("pagerank")


def test_co_occurrences_count_passages() -> None:
    arrays = _index({"p": "Aa Bb Aa", "q": "Bb Aa", "r": "Cc"}).snapshot.arrays
    rows, columns, shared = count_cooccurrences(arrays)
    assert (rows.tolist(), columns.tolist(), shared.tolist()) == ([0], [1], [2.0])


def test_entries_at_one_place_are_added_in_any_order() -> None:
    values = [0.1, 0.7, 1e-17, 0.3]
    rows, columns = np.array([1, 1, 0, 1]), np.array([2, 2, 0, 2])
    one = Matrix.from_entries(rows, columns, np.array(values), (2, 3))
    order = [3, 0, 2, 1]
    two = Matrix.from_entries(rows[order], columns[order], np.array(values)[order], (2, 3))
    assert one.values.tobytes() == two.values.tobytes()
    assert one.indptr.tolist() == [0, 1, 2] and one.indices.tolist() == [0, 2]
    assert build_arrays(_index({}).records).n_passages == 0
