"""The steps of an answer: timed, guarded, and what a process remembers of those that fail."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from causalist._internal.stage_clock import MAX_FAILURES, SKIPPED_RUNS, Circuits
from causalist.errors import CausalistError, ConvergenceError
from causalist.model.answer import Answer, AskOptions, Level
from causalist.model.protocols import STAGES
from causalist.pipeline.guarded_steps import Session, StepTimer
from causalist.pipeline.repository import Repository
from causalist.rank import GENERATORS
from tests.pipeline.sample import WHERE_AUTH, plain_answer

# A question that every generator has something to do for.
QUESTION = 'why does authenticateUser say "signature mismatch" when a token is removed?'
# Where each optional step goes wrong: what it calls, where that is looked up.
OPTIONAL = {
    "candidates.literals": "causalist.pipeline.text_search.find_all_matches",
    "candidates.words": "causalist.rank.scoring.signals.identifier_scores",
    "candidates.files": "causalist.rank.scoring.signals.files_that_run",
    "candidates.tests": "causalist.rank.scoring.signals.scores_from_tests",
    "candidates.names": "causalist.rank.scoring.signals.name_share",
    "candidates.mentions": "causalist.rank.scoring.signals.mention_scores",
    "candidates.frames": "causalist.rank.scoring.signals.frame_scores",
    "candidates.synonyms": "causalist.rank.scoring.signals.synonym_terms",
    "candidates.history": "causalist.rank.scoring.signals.history_signals",
    "candidates.graph": "causalist.rank.scoring.ranking.definition_support",
    "candidates.pagerank": "causalist.rank.scoring.ranking.seed_distribution",
    "candidates.places": "causalist.rank.scoring.graph_evidence._file_specificity",
    "validate.roles": "causalist.rank.scoring.signals.queried_roles",
    "validate.scope": "causalist.pipeline.retries.boost_scope",
    "distil.weights": "causalist.rank.scoring.fusion.definition_signals",
    "assemble.duplicates": "causalist.rank.scoring.ranking._without_repeats",
    "assemble.conflicts": "causalist.pipeline.answer_notes.without_implied_edges",
    "assemble.attribution": "causalist.rank.seed_shares",
    "deliver.confidence": "causalist.pipeline.retries.confidence_of",
}
_EACH_STEP = pytest.mark.parametrize("step", OPTIONAL)
OPTIONS = AskOptions(explain=True, scope="src", top_k=8)


def failing(error: Exception) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


def skipped(answer: Answer) -> list[str]:
    return [d.detail for d in answer.diagnostics if d.slug == "step-skipped"]


# -- time


def test_every_stage_and_step_is_timed(sample: Repository) -> None:
    answer = sample.ask(QUESTION, OPTIONS)
    timings = answer.timings_ms
    assert [name for name in timings if "." not in name] == list(STAGES)
    assert set(OPTIONAL) <= set(timings)
    ran = GENERATORS.keys() - {"dense"}  # no embedder is chosen
    assert {f"candidates.{name}" for name in ran} <= set(timings)
    assert {"assemble.paths", "assemble.extraction", "assemble.order", "deliver.packing"} <= set(timings)
    for stage in STAGES:
        inside = [spent for name, spent in timings.items() if name.startswith(f"{stage}.")]
        assert timings[stage] >= sum(inside) - 0.001 * (len(inside) + 1), stage
    assert answer.generators.keys() == GENERATORS.keys()
    assert {name for name, found in answer.generators.items() if found is not None} == ran


def test_stages_take_turns_without_counting_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand, a second for each look at the clock: distil begins at 1, its step at 2; candidates inside of that from 3
    to 4; the step ends at 5, distil at 6. Distil took 5 seconds, one of them elsewhere."""
    now = iter(range(1, 20))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(now)))
    clock = StepTimer()
    with clock.timed("distil"), clock.timed("distil.weights"), clock.timed("candidates.words"):
        pass
    spent = {name: value / 1000 for name, value in clock.milliseconds.items() if value}
    assert spent == {"candidates": 1, "candidates.words": 1, "distil": 4, "distil.weights": 2}


def test_a_step_that_is_done_again_adds_up(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(1, 20))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(now)))
    clock = StepTimer()
    for _ in range(2):
        with pytest.raises(ValueError), clock.timed("route.read"):
            raise ValueError
    assert clock.milliseconds["route.read"] == clock.milliseconds["route"] == 2000


# -- guarded steps


@pytest.mark.slow
@_EACH_STEP
def test_a_step_that_fails_is_skipped_and_named(step: str, sample: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OPTIONAL[step], failing(ConvergenceError("made to fail")))
    for level in Level:
        answer = sample.ask(QUESTION, replace(OPTIONS, level=level))
        assert answer.results and answer.pack is not None
        assert [text.partition(":")[0] for text in skipped(answer)] == [step]
        assert skipped(answer)[0] == f"{step}: convergence: made to fail"
        name = step.removeprefix("candidates.")
        if name in GENERATORS:
            assert answer.generators[name] is None
        assert "src/middleware/auth-middleware.ts" in [hit.path for hit in answer.results][:5]


@_EACH_STEP
def test_what_nobody_foresaw_goes_its_way(step: str, sample: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OPTIONAL[step], failing(ZeroDivisionError("made to fail")))
    with pytest.raises(ZeroDivisionError, match="made to fail"):
        sample.ask(QUESTION, OPTIONS)


@pytest.mark.parametrize(
    "needed",
    [
        "causalist.pipeline.repository.read_question_and_names",
        "causalist.pipeline.repository.paths_from_seeds",
        "causalist.pipeline.answer_notes.extract_subgraph",
        "causalist.pipeline.answer_notes.order_subgraph",
        "causalist.pipeline.answer_notes.render_pack",
    ],
)
def test_what_has_to_be_is_not_skipped(needed: str, sample: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needed, failing(ConvergenceError("made to fail")))
    with pytest.raises(ConvergenceError):
        sample.ask(QUESTION, OPTIONS)


def test_what_is_all_there_is_is_not_skipped(sample: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern that cannot be looked for is not found nowhere, and a list by PageRank needs the walk."""
    monkeypatch.setattr("causalist.pipeline.text_search.find_all_matches", failing(ConvergenceError("made to fail")))
    with pytest.raises(ConvergenceError):
        sample.ask('"signature mismatch"')
    with pytest.raises(CausalistError):
        sample.ask("/[/")
    monkeypatch.setattr(OPTIONAL["candidates.pagerank"], failing(ConvergenceError("made to fail")))
    from causalist.model.answer import RankMode

    with pytest.raises(ConvergenceError):
        sample.ask(WHERE_AUTH, AskOptions(rank=RankMode.PAGERANK))


def test_without_weights_places_add_up(sample: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """The best by one signal alone has 1 / (60 + 1) of it, the second 1 / (60 + 2)."""
    monkeypatch.setattr(OPTIONAL["distil.weights"], failing(ConvergenceError("made to fail")))
    answer = sample.ask(WHERE_AUTH, AskOptions(graph=False, top_k=4))
    scores = [hit.score for hit in answer.results]
    assert scores == sorted(scores, reverse=True) and 1 / 61 <= scores[0] <= 6 / 61
    assert answer.results[0].reasons[0].signal == "places"


# -- circuits


def test_a_circuit_opens_is_tried_again_and_closes() -> None:
    circuits = Circuits()
    for _ in range(MAX_FAILURES):
        assert circuits.passes_over("a") == ""
        circuits.record_failure("a", "it broke")
    for left in range(SKIPPED_RUNS - 1, -1, -1):
        assert circuits.passes_over("a") == (
            f"not tried after {MAX_FAILURES} failures in a row, the last one it broke; tried again after {left} more "
            "times"
        )
        assert circuits.passes_over("b") == ""
    assert circuits.passes_over("a") == ""  # the trial
    assert circuits.passes_over("a") != ""  # somebody else meanwhile
    circuits.record_failure("a", "again")
    assert "4 failures in a row, the last one again" in circuits.passes_over("a")
    for _ in range(SKIPPED_RUNS - 1):
        assert circuits.passes_over("a")
    assert circuits.passes_over("a") == ""
    circuits.record_success("a")
    circuits.record_failure("a", "once")
    assert circuits.passes_over("a") == ""


def test_a_failure_now_and_then_opens_nothing() -> None:
    circuits = Circuits()
    for _ in range(3 * MAX_FAILURES):
        for _ in range(MAX_FAILURES - 1):
            circuits.record_failure("a", "it broke")
            assert circuits.passes_over("a") == ""
        circuits.record_success("a")


@pytest.mark.slow
def test_a_process_passes_over_what_keeps_failing(sample: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what nobody foresaw: the first answers fail, the next one does without."""
    served = replace(sample, session=Session())
    whole = sample.ask(WHERE_AUTH)
    calls: list[int] = []

    def fail(*_: object, **__: object) -> None:
        calls.append(1)
        raise ZeroDivisionError("made to fail")

    with monkeypatch.context() as patched:
        patched.setattr(OPTIONAL["candidates.history"], fail)
        for _ in range(MAX_FAILURES):
            with pytest.raises(ZeroDivisionError):
                served.ask(WHERE_AUTH)
        answers = [served.ask(WHERE_AUTH) for _ in range(SKIPPED_RUNS)]  # none is kept: they could be better
        assert len(calls) == MAX_FAILURES
        for number, answer in enumerate(answers, 1):
            (why,) = skipped(answer)
            assert why.startswith("candidates.history: not tried after 3 failures in a row, the last one ZeroDivision")
            assert f"tried again after {SKIPPED_RUNS - number} more times" in why
        with pytest.raises(ZeroDivisionError):
            served.ask(WHERE_AUTH)
        assert len(calls) == MAX_FAILURES + 1
        assert skipped(served.ask(WHERE_AUTH))
    for _ in range(SKIPPED_RUNS - 1):
        served.ask(WHERE_AUTH)
    again = served.ask(WHERE_AUTH)
    assert again.diagnostics == whole.diagnostics and plain_answer(again) == plain_answer(whole)
