"""An answer that is due: what it does without, and that it says so."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from causalist.errors import UsageError
from causalist.index.source_text import SourceText
from causalist.model.answer import Answer, AskOptions, Level
from causalist.model.protocols import NoSteps
from causalist.model.scores import Transition
from causalist.pipeline.repository import Repository
from causalist.pipeline.text_search import find_matches
from causalist.rank import parse_query
from causalist.rank.pagerank import personalized_pagerank
from tests.pipeline.sample import WHERE_AUTH, in_memory, plain_answer

OVER = 1e-9  # seconds; over before anything was done
PLENTY = 1000.0


class Hurried(NoSteps):
    """Time is up after `looks` looks at it."""

    def __init__(self, looks: int) -> None:
        self.looks = looks
        self.told: list[str] = []

    def seconds_left(self) -> float:
        self.looks -= 1
        return float(self.looks >= 0)

    def in_time(self) -> bool:
        return self.seconds_left() > 0

    def leave_out(self, what: str) -> None:
        self.told.append(what)


def left_out(answer: Answer) -> str:
    (note,) = [d.detail for d in answer.diagnostics if d.slug == "deadline"]
    return note


@pytest.mark.slow
def test_with_plenty_of_time_the_answer_is_the_same(sample: Repository) -> None:
    for options in (AskOptions(), AskOptions(level=Level.FILE, explain=True)):
        hurried, whole = sample.ask(WHERE_AUTH, options, deadline=PLENTY), sample.ask(WHERE_AUTH, options)
        assert plain_answer(hurried) == plain_answer(whole) and hurried.diagnostics == whole.diagnostics


@pytest.mark.slow
@pytest.mark.parametrize("level", list(Level))
def test_when_time_is_up_words_still_answer(level: Level, sample: Repository) -> None:
    answer = sample.ask(WHERE_AUTH, AskOptions(level=level, explain=True), deadline=OVER)
    assert answer.results[0].path == "src/middleware/auth-middleware.ts"
    assert answer.answer_id == sample.ask(WHERE_AUTH, AskOptions(level=level, explain=True)).answer_id
    assert answer.pagerank is None and answer.pack is not None
    said = left_out(answer)
    unread = re.search(r"the source of (\d+) of (\d+) files$", said)
    assert said.startswith("left out to answer within 1e-09 s: candidates.files, candidates.names, ")
    assert "candidates.pagerank" in said and unread is not None and unread[1] == unread[2] != "0"
    assert "```" not in answer.pack.text  # no source
    assert answer.generators["words"] and answer.generators["history"] is None
    assert [d.slug for d in answer.diagnostics] == ["deadline"]


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf")])
def test_what_is_no_time_is_refused(seconds: float, sample: Repository) -> None:
    with pytest.raises(UsageError, match="--deadline"):
        sample.ask(WHERE_AUTH, deadline=seconds)


def test_the_walk_stops_where_it_stands() -> None:
    """Half a link from 0 to 1, damping 1/2: from (1, 0) the first step is 1/2 (0, 1/2) + (1/2 · 1/2 + 1/2) s =
    (3/4, 1/4), which moves 1/2."""
    m = Transition(
        np.array([0, 0, 1], np.int32), np.array([0], np.int32), np.array([0.5]), np.ones(2, np.int32), np.ones(2, bool)
    )
    seeds = np.array([1.0, 0.0])
    answers = iter([True, False])
    once = personalized_pagerank(m, seeds, damping=0.5, should_continue=lambda: next(answers))
    assert (once.scores.tolist(), once.n_iterations, once.residual, once.outcome) == ([0.75, 0.25], 1, 0.5, "stopped")
    never = personalized_pagerank(m, seeds, should_continue=lambda: False)
    assert (never.scores.tolist(), never.n_iterations, never.outcome) == ([1.0, 0.0], 0, "stopped")


def test_files_that_were_not_looked_at_are_counted(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.py").write_text("mark = 1\n")
    repository = in_memory(tmp_path)
    texts = SourceText(repository.index.manifest, repository.read)
    (pattern,) = parse_query('"mark"').patterns
    steps = Hurried(2)
    found = find_matches(pattern, repository.index, texts, steps)
    assert [repository.index.graph.nodes.ids[n].partition("::")[0] for n in found] == ["a.py", "b.py"]
    assert steps.told == ["1 of 3 files in which to look for 'mark'"]


def test_an_expression_that_takes_long_ends_with_the_time(sample: Repository) -> None:
    answer = sample.ask("/(t+)+$/", deadline=OVER)
    assert "files in which to look for '(t+)+$'" in left_out(answer)


def test_an_index_that_is_behind_is_stale(sample: Repository) -> None:
    answer = replace(sample, behind=True).ask(WHERE_AUTH)
    assert answer.repository.stale and answer.pack is not None and "older than the files" in answer.pack.text
    assert not sample.ask(WHERE_AUTH).repository.stale
