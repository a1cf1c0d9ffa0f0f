"""Six stages: routes, tiers, validation, conflicts, attempts, circuits, feedback."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from causalist._internal.stage_clock import MAX_FAILURES, SKIPPED_RUNS
from causalist.errors import EmptyQuestion, UsageError
from causalist.memory import HippoIndex
from causalist.memory.conflicts_and_confidence import (
    FEATURES,
    MIN_FEEDBACK_QUERIES,
    MODES,
    Feedback,
    FeedbackRow,
    ValidationSettings,
    compute_level,
    learn_weights,
    recency_factors,
)
from causalist.memory.document_text import is_visible, restore_passage
from causalist.memory.pipeline import MemoryPipeline
from causalist.model.answer import MemoryMode, RetrievalMode
from tests.memory.texts import team

QUESTION = "Who manages the team that handles JWT authentication?"


def _index(passages: dict[str, tuple[str, dict[str, Any]]], **options: Any) -> HippoIndex:
    index = HippoIndex(**options)
    for passage, (text, metadata) in passages.items():
        index.add_passage(passage, text, metadata=metadata)
    return index


def _ids(answer: Any) -> list[str]:
    return [hit.passage_id for hit in answer.hits]


@pytest.mark.parametrize(
    ("query", "route", "generators"),
    [
        ("Identity Team lead", "lookup", {"sparse", "graph"}),
        ("Who leads the Identity Team?", "simple", {"sparse", "graph"}),
        ("Why does the JWT depend on the Identity Team?", "multi_hop", {"sparse", "graph"}),
        ("overview of Identity Team", "exploratory", {"sparse", "graph"}),
    ],
)
def test_the_route_says_which_generators_run(query: str, route: str, generators: set[str]) -> None:
    answer = MemoryPipeline(team()).run(query)
    assert answer.route.value == route
    assert set().union(*(hit.ranks for hit in answer.hits)) == generators
    forced = MemoryPipeline(team()).run(query, route="exploratory")
    assert forced.route.value == "exploratory"


def test_modes_have_their_tiers_and_sizes() -> None:
    index = HippoIndex()
    for i in range(60):
        index.add_passage(f"p{i:02}", f"The Ledger number {i} of Acme Corp.")
    for mode, (tiers, n) in MODES.items():
        answer = MemoryPipeline(index).run("the Ledger of Acme Corp", mode=mode.value, route="multi_hop")
        assert tuple(answer.tiers) == tiers
        assert {len(ids) for ids in answer.tiers.values()} == {n}
        assert set(_ids(answer)) == {passage for ids in answer.tiers.values() for passage in ids}
    assert [(mode.value, len(tiers), n) for mode, (tiers, n) in MODES.items()] == [
        ("execution", 2, 5), ("planning", 3, 10), ("brainstorming", 3, 20)
    ]  # fmt: skip


def test_hits_say_where_they_come_from() -> None:
    answer = MemoryPipeline(team()).run(QUESTION, route="multi_hop")
    hit = next(hit for hit in answer.hits if hit.passage_id == "lead")
    assert "identity_team" in hit.entity_hits
    assert hit.ppr_score > 0
    assert hit.ranks["graph"] <= 2
    assert hit.tiers
    assert 0 < hit.posterior.low < hit.posterior.mean < hit.posterior.high < 1
    assert set(answer.timings_ms) == {"route", "candidates", "validate", "distil", "assemble", "deliver"}


def test_the_same_question_skips_until_something_changes() -> None:
    index = team()
    pipeline = MemoryPipeline(index)
    first, again = pipeline.run(QUESTION), pipeline.run(QUESTION)
    assert first.route.value != "skip" and again.route.value == "skip"
    assert again.hits == first.hits and again.answer_id == first.answer_id
    index.add_passage("new", "The Identity Team handles JWT Authentication.")
    assert pipeline.run(QUESTION).route.value != "skip"
    with pytest.raises(UsageError, match="needs an earlier answer"):
        pipeline.run("never asked", route="skip")


def test_visibility_is_never_relaxed() -> None:
    mine, odd = ("secret plan of Acme Corp", {"visible_to": ["ann"]}), ("secret plan", {"visible_to": "ann"})
    index = _index({"mine": mine, "odd": odd})
    both = ["mine", "odd"]
    for reader, expected in ((None, []), ("bob", []), ("ann", both), (["bob", "ann"], both), ("nna", []), ((), [])):
        answer = MemoryPipeline(index, validation=ValidationSettings(reader=reader)).run("secret plan of Acme Corp")
        assert _ids(answer) == expected
        assert answer.is_partial == (not expected)
        assert answer.attempts == (1 if expected else 3)


@pytest.mark.parametrize("key", ["visible_to", "contradicts", "supersedes"])
def test_names_are_a_list_or_one(key: str) -> None:
    for odd in (5, "", " ", [5], ["ann", ""], {"ann": 1}):
        with pytest.raises(UsageError, match=f"'{key}' of 'a' must be a name or a list of names, not"):
            HippoIndex().add_passage("a", "The plan.", metadata={key: odd})
        kept = restore_passage("a", "The plan.", json.dumps({key: odd, "n": 1}))  # of a file: hidden, but not lost
        assert kept["metadata"] == {key: [], "n": 1}
        assert is_visible(kept["metadata"], "ann") is (key != "visible_to")
    index = _index({"a": ("The plan.", {key: "ann"}), "b": ("The plan, too.", {key: None})})
    assert index.passage("a")[1] == {key: ["ann"]} and index.passage("b")[1] == {key: None}
    seen = [each.passage_id for each in index.retrieve("plan", readers=())]
    assert seen == (["b"] if key == "visible_to" else ["a", "b"])


def test_age_and_confidence() -> None:
    index = _index(
        {
            "new": ("The door code is posted in the hall.", {"timestamp": "2024-02-01", "confidence": 0.3}),
            "old": ("The door code is posted in the hall today.", {"timestamp": "2024-01-02"}),
        }
    )
    factors = recency_factors(index.snapshot, ValidationSettings(half_life_days=10))
    assert factors.tolist() == [1.0, 0.125]  # 30 days, three half-lives
    later = recency_factors(index.snapshot, ValidationSettings(half_life_days=10, now="2024-02-11"))
    assert later == pytest.approx([0.5, 0.0625])
    sure = MemoryPipeline(index, validation=ValidationSettings(min_confidence=0.5)).run("door code posted hall")
    assert _ids(sure) == ["old"]
    with pytest.raises(UsageError):
        ValidationSettings(half_life_days=0)
    with pytest.raises(UsageError):
        ValidationSettings(now="yesterday")


def test_a_broadened_attempt_lifts_what_may_be_lifted() -> None:
    index = _index({"unsure": ("The door code is posted in the hall.", {"confidence": 0.1})})
    answer = MemoryPipeline(index, validation=ValidationSettings(min_confidence=0.5)).run("door code")
    assert (_ids(answer), answer.attempts, answer.is_partial) == (["unsure"], 2, False)


def test_nothing_found_is_partial_after_three_attempts() -> None:
    answer = MemoryPipeline(team()).run("zebra")
    assert (answer.hits, answer.attempts, answer.is_partial, answer.retrieval_confidence) == ((), 3, True, 0.0)
    assert MemoryPipeline(HippoIndex()).run("zebra").is_partial
    with pytest.raises(EmptyQuestion):
        MemoryPipeline(team()).run(" ")
    with pytest.raises(UsageError, match="execution, planning, brainstorming"):
        MemoryPipeline(team()).run("x", mode="fast")


@pytest.mark.parametrize(
    ("first", "second", "kept", "reason"),
    [
        ({"timestamp": "2024-01-01"}, {"timestamp": "2024-06-01"}, "b", "newer"),
        ({"timestamp": "2024-06-01"}, {"timestamp": "2024-01-01"}, "a", "newer"),
        ({"confidence": 0.9}, {"confidence": 0.4}, "a", "surer"),
        ({"confidence": 0.2}, {"confidence": 0.4}, "b", "surer"),
    ],
)
def test_contradictions_are_resolved_and_both_are_shown(
    first: dict[str, Any], second: dict[str, Any], kept: str, reason: str
) -> None:
    index = _index(
        {
            "a": ("Tokens are valid for 24 hours.", {**first, "contradicts": ["b", "missing"]}),
            "b": ("Tokens are valid for 8 hours.", second),
        }
    )
    answer = MemoryPipeline(index).run("how long are tokens valid")
    against = "ab".replace(kept, "")
    assert [(c.kept, c.against, c.reason) for c in answer.conflicts] == [(kept, against, reason)]
    assert _ids(answer) == [kept, against]
    assert answer.hits[1].contradicted_by == (kept,)
    for mode in RetrievalMode:
        found = index.retrieve("how long are tokens valid", mode=mode)
        assert {e.passage_id: (e.contradicted_by, e.superseded_by) for e in found} == {
            kept: ((), ()), against: ((kept,), ()),
        }  # fmt: skip


@pytest.mark.parametrize("stated", ["old", "old.md"])
def test_what_supersedes_another_wins_though_older_and_less_sure(stated: str) -> None:
    index = _index(
        {
            "old": ("Tokens are valid for 24 hours.", {"path": "old.md", "timestamp": "2026-01-01"}),
            "new": (
                "Tokens are valid for 8 hours.",
                {"supersedes": [stated], "timestamp": "2025-01-01", "confidence": 0.5},
            ),
        }
    )
    answer = MemoryPipeline(index).run("How long are tokens valid?")
    assert [(c.kept, c.against, c.reason) for c in answer.conflicts] == [("new", "old", "supersedes")]
    assert _ids(answer) == ["new", "old"] and answer.hits[1].contradicted_by == ("new",)
    found = index.retrieve("How long are tokens valid?")
    marks = {e.passage_id: (e.superseded_by, e.contradicted_by) for e in found}
    assert marks == {"new": ((), ()), "old": (("new",), ())}


def test_same_texts_are_shown_once() -> None:
    index = _index({"a": ("Lunch is at noon.", {}), "b": ("lunch  is at NOON.", {}), "c": ("Lunch is at one.", {})})
    answer = MemoryPipeline(index).run("when is lunch")
    assert answer.hits[0].same_text == ("b",)
    assert "b" not in _ids(answer)


def test_a_step_that_keeps_failing_is_passed_over() -> None:
    broken = {"now": True}
    calls = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        calls.append(list(texts))
        if broken["now"] and texts[0].startswith("ask"):
            raise ConnectionError("no model")
        return [[float(len(text)), 1.0] for text in texts]

    index = _index({"a": ("The Ledger of Acme Corp.", {})}, embedder=embed)
    pipeline = MemoryPipeline(index)
    for i in range(MAX_FAILURES):
        answer = pipeline.run(f"ask {i} Ledger", route="lookup")
        assert _ids(answer) == ["a"]  # sparse still works
        assert any("candidates.graph: skipped: model-failed: the embedder" in note for note in answer.diagnostics)
    n = len(calls)
    answer = pipeline.run("ask again Ledger", route="lookup")
    assert len(calls) == n
    assert any("not tried after 3 failures in a row" in note for note in answer.diagnostics)
    broken["now"] = False
    for i in range(SKIPPED_RUNS):
        answer = pipeline.run(f"ask once more {i} Ledger", route="lookup")
    assert answer.diagnostics == ()


def test_a_self_check_may_refuse_and_may_fail() -> None:
    asked = []

    def reflect(question: str, texts: Sequence[str]) -> list[bool]:
        asked.append(question)
        return [text.startswith("Lunch") for text in texts]

    index = _index({"a": ("Lunch is at noon.", {}), "c": ("The lunch room is cold.", {})})
    answer = MemoryPipeline(index, validation=ValidationSettings(reflect=reflect)).run("when is lunch")
    assert (_ids(answer), asked) == (["a"], ["when is lunch"])
    for bad in (lambda q, t: [True], lambda q, t: ["yes"] * len(t), lambda q, t: 1 / 0):
        answer = MemoryPipeline(index, validation=ValidationSettings(reflect=bad)).run("when is lunch")  # type: ignore[arg-type,return-value]
        assert set(_ids(answer)) == {"a", "c"}
        assert any("validate.reflect: skipped: model-failed" in note for note in answer.diagnostics)


def _rows(n: int, telling: int, seed: int = 0) -> list[FeedbackRow]:
    """Feedback in which the feature number `telling` is high for what is used, and the others are noise."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        features = rng.random((8, len(FEATURES)))
        used = np.zeros(8, dtype=np.bool_)
        used[int(np.argmax(features[:, telling]))] = True
        rows.append(FeedbackRow(features, tuple([4] * 8), used))
    return rows


def test_weights_are_learned_only_where_they_are_better() -> None:
    assert learn_weights(_rows(MIN_FEEDBACK_QUERIES - 1, FEATURES.index("sparse"))) is None
    learned = learn_weights(_rows(60, FEATURES.index("sparse")))
    assert learned is not None
    assert learned.learned > 0.8 > 0.5 > learned.heuristic
    assert max(learned.weights, key=lambda name: learned.weights[name]) == "sparse"
    # Fusion itself is what tells: nothing can be better.
    assert learn_weights(_rows(60, FEATURES.index("fused"))) is None


def test_feedback_moves_the_posterior_and_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "feedback.jsonl"
    pipeline = MemoryPipeline(team(), feedback=path)
    answer = pipeline.run("when is it served")
    before = answer.hits[0].posterior
    pipeline.feedback(answer.answer_id, [answer.hits[0].passage_id])
    again = MemoryPipeline(team(), feedback=path)
    after = again.run("when is it served").hits[0].posterior
    level = compute_level(list(answer.hits[0].ranks.values()))
    # Beta(mean * 4, (1 - mean) * 4) and one passage of that level that was used
    assert level == 0 and before.mean == 0.5
    assert after.mean == pytest.approx((2 + 1) / (4 + 1))
    assert after.high - after.low < before.high - before.low
    with pytest.raises(UsageError, match="among the last ones"):
        pipeline.feedback("nothing", [])
    path.write_text(path.read_text() + 'no JSON\n{"features": [[1]], "levels": [0], "used": [true]}\n[]\n')
    assert len(Feedback(path).rows) == 1


def test_learned_weights_decide_the_order() -> None:
    pipeline = MemoryPipeline(team())
    pipeline.store.rows += _rows(60, FEATURES.index("graph"))
    pipeline.learned = learn_weights(pipeline.store.rows)
    assert pipeline.learned is not None
    answer = pipeline.run(QUESTION, route="exploratory")
    graph = sorted(answer.hits, key=lambda hit: hit.ranks.get("graph", 99))
    assert answer.hits[0] == graph[0]


def test_answers_do_not_depend_on_threads_or_history() -> None:
    answers = []
    for _ in range(3):
        pipeline = MemoryPipeline(team())
        pipeline.run("something else about lunch")
        answers.append(pipeline.run(QUESTION, mode=MemoryMode.BRAINSTORMING, route="exploratory"))
    assert len({repr((a.hits, a.tiers, a.answer_id)) for a in answers}) == 1


def test_a_passage_that_two_lists_have_far_down_is_a_candidate_with_its_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passages 50 to 99 stand behind 50 others in each of two lists, which have no other in common: 2 / 111 is more
    than 1 / 61, so that fusion puts them first."""
    index = HippoIndex()
    for i in range(150):
        index.add_passage(f"p{i:03}", f"passage {i}")
    dense, sparse = np.arange(150, 0, -1.0), np.arange(1, 151.0)
    dense[100:], sparse[:50] = 0.0, 0.0
    sparse[50:100] = np.arange(50, 0, -1.0)
    monkeypatch.setattr(
        "causalist.memory.pipeline.score_plain", lambda query, snapshot, mode: dense if mode == "dense" else sparse
    )
    monkeypatch.setattr(
        "causalist.memory.pipeline.plain_mode", lambda snapshot: RetrievalMode.DENSE
    )  # as with an embedder
    answer = MemoryPipeline(index).run("passage", mode="planning", route="exploratory")
    assert answer.hits[0].passage_id == "p050"
    assert answer.hits[0].ranks == {"dense": 51, "sparse": 51}
