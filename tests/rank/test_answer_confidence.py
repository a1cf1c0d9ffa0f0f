"""How sure an answer is: four features worked out by hand, and a model in which each can only raise it."""

from dataclasses import replace
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalist.model.answer import AskOptions, Level
from causalist.model.index import History
from causalist.rank import default_weights, parse_query, rank_question
from causalist.rank.pagerank import WalkWeights, build_transition
from causalist.rank.scoring.answer_confidence import (
    Calibration,
    CalibrationFeatures,
    calibration_features,
    confidence_of,
    default_calibration,
)
from causalist.rank.scoring.fusion import Ranking
from tests.model.corpus import Corpus, Def, corpus

SHARE = st.floats(0, 1)
FILES = ["a.py", "b.py", "c.py", "d.py"]


def shop() -> Corpus:
    """Four files: "token" stands in two of them, "expired" in one, "session" in all."""
    return corpus(
        {
            "a.py": [Def("f", "token expired session")],
            "b.py": [Def("g", "token session")],
            "c.py": [Def("h", "session")],
            "d.py": [Def("i", "session")],
        }
    )


def ranked(question: str, scores: dict[str, float] | None = None) -> tuple[Ranking, Corpus]:
    """A ranking by the question's words; `scores` of files replace what they gave, with every signal of files."""
    made = shop()
    transition = build_transition(made.graph, WalkWeights())
    ranking = rank_question(
        parse_query(question), made.graph, made.lexical, transition, default_weights(), AskOptions()
    )
    if scores is not None:
        files = np.zeros(len(made.graph.nodes))
        for path, score in scores.items():
            files[made.graph.nodes.ids.position(path)] = score
        ranking = replace(ranking, files=files, signals=replace(ranking.signals, file={}))
    return ranking, made


def test_the_lead_is_the_share_of_the_odds_of_three_files() -> None:
    """Of each file the best definition counts: 3, 2, 1 and 1, whatever else stands in the first."""
    ranking, made = ranked("token")
    definitions = np.zeros(len(made.graph.nodes))
    for name, score in {"a.py": 1.0, "a.py::f": 3.0, "b.py::g": 2.0, "c.py::h": 1.0, "d.py::i": 1.0}.items():
        definitions[made.node(name)] = score
    ranking = replace(ranking, definitions=definitions)
    evidence = calibration_features(ranking, made.graph, made.lexical)
    assert evidence is not None
    assert evidence.lead == pytest.approx((1 + exp(-1) + exp(-2)) / (1 + exp(-1) + 2 * exp(-2)))


def test_words_are_those_that_the_repository_has() -> None:
    ranking, made = ranked("token expired zebra", {"a.py": 1.0})
    evidence = calibration_features(ranking, made.graph, made.lexical)
    assert evidence is not None and evidence.words == pytest.approx(log(3))


def test_coverage_counts_rare_words_more() -> None:
    """Of four files two have `token` and one `expired`: idf is ln(1 + (4 - n + 1/2) / (n + 1/2))."""
    token, expired = log(1 + 2.5 / 2.5), log(1 + 3.5 / 1.5)
    for first, found in (("a.py", token + expired), ("b.py", token), ("c.py", 0.0)):
        ranking, made = ranked("token expired", {path: 2.0 if path == first else 1.0 for path in FILES})
        evidence = calibration_features(ranking, made.graph, made.lexical)
        assert evidence is not None and evidence.coverage == pytest.approx(found / (token + expired)), first


def test_the_score_is_that_of_the_first_file_and_counts_up_to_ten() -> None:
    """The corpus has no past, so that what messages would add on average comes to it."""
    for scores, counted in (({"a.py": 3.5, "b.py": 2.0}, 3.5 + 1.4), ({"a.py": 3.0, "c.py": 17.0}, 10.0)):
        ranking, made = ranked("token", scores)
        evidence = calibration_features(ranking, made.graph, made.lexical)
        assert evidence is not None and evidence.score == pytest.approx(counted)


@pytest.mark.parametrize(("n_commits", "counted"), [(0, 4.9), (19, 4.9), (20, 3.5)])
def test_messages_are_missed_only_where_there_is_hardly_any_past(n_commits: int, counted: float) -> None:
    """Thirty further commits touched what is gone."""
    ranking, made = ranked("token", {"a.py": 3.5, "b.py": 2.0})
    past = History(indptr=np.array([*range(n_commits), *[n_commits] * 31], dtype=np.int64))
    evidence = calibration_features(replace(ranking, history=past), made.graph, made.lexical)
    assert evidence is not None and evidence.score == pytest.approx(counted)


def test_the_probability_is_logistic() -> None:
    model = Calibration(
        {"lead": 2.0, "words": 1.0, "coverage": 0.5, "score": 0.25}, {Level.SYMBOL: -2.0, Level.FILE: -1.0}
    )
    assert model.probability(CalibrationFeatures(0.5, 0.0, 0.0, 4.0), Level.SYMBOL) == pytest.approx(
        0.5
    )  # -2 + 1 + 1 = 0
    assert model.probability(CalibrationFeatures(0.5, 1.0, 0.0, 0.0), Level.FILE) == pytest.approx(1 / (1 + exp(-1)))


@given(SHARE, st.floats(0, 6), SHARE, st.floats(0, 10), SHARE, st.sampled_from(Level))
def test_more_evidence_never_makes_less_sure(
    lead: float, words: float, coverage: float, score: float, more: float, level: Level
) -> None:
    model = default_calibration()
    less = CalibrationFeatures(lead, words, coverage, score)
    for better in (replace_(less, place, more) for place in range(len(less))):
        assert 0 < model.probability(less, level) <= model.probability(better, level) < 1


def replace_(evidence: CalibrationFeatures, place: int, more: float) -> CalibrationFeatures:
    return CalibrationFeatures(*(value + more * (i == place) for i, value in enumerate(evidence)))


def test_nothing_found_is_certain_to_be_wrong_and_a_pattern_is_not_judged() -> None:
    ranking, made = ranked("zebra")
    assert confidence_of(ranking, made.graph, made.lexical, Level.FILE) == 0.0
    ranking, made = ranked('"token"')
    assert confidence_of(ranking, made.graph, made.lexical, Level.FILE) is None


def test_a_file_that_says_it_all_is_surer_than_four_that_are_alike() -> None:
    sure, made = ranked("token expired")
    vague, _ = ranked("session")
    levels = [confidence_of(r, made.graph, made.lexical, Level.SYMBOL) for r in (sure, vague)]
    assert levels[0] is not None and levels[1] is not None and levels[0] > levels[1]
