"""Weights for one repository: what they are learned from, and when they are kept."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from causalist.errors import GitError, UsageError
from causalist.evaluate import Learning, learn
from causalist.evaluate.own_history import MIN_QUESTIONS, N_LEARNING_QUESTIONS
from causalist.evaluate.results import Interval
from causalist.model.answer import AskOptions
from causalist.pipeline.repository import Repository
from causalist.rank import default_weights
from tests.pasts import Past

pytestmark = pytest.mark.slow

# Words that nothing else has.
THINGS = [
    first + last for first in ("bar", "lem", "tor", "vin", "dak") for last in ("bo", "ki", "mu", "nez", "pol", "ra")
]

# Lines that make the text of a page fit a question less than that of a store, so that only its name is ahead.
PAGE = "".join(f"    page.{part}({part}_color, {part}_width, {part}_height)\n" for part in ("header", "menu", "footer"))


def silent(what: str, done: int, total: int) -> None:
    """No progress."""


def past_of(folder: Path, n: int) -> Past:
    """Each question names a thing. The answer is never the page that is called like it, but always the store that has
    it twice in a comment: who trusts names is wrong each time."""
    past = Past(folder)
    files = {f"store/s{i}.py": _store(thing, 1) for i, thing in enumerate(THINGS)}
    files |= {f"pages/{thing}.py": f"def {thing}(page):\n{PAGE}    return page.drawn()\n" for thing in THINGS}
    past.commit("start", files)
    for i in range(n):
        past.commit(f"Wait longer before any {THINGS[i]} is over", {f"store/s{i}.py": _store(THINGS[i], 2)}, time=i + 1)
    return past


def _store(thing: str, wait: int) -> str:
    comment = f"# the {thing} of this row, a {thing} like any"
    return f"def keep(row):\n    {comment}\n    wait({wait})\n    return rows.put(row)\n"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return Repository.open(past_of(tmp_path_factory.mktemp("learn") / "shop", 30).path)


@pytest.fixture(scope="module")
def learning(repository: Repository) -> Learning:
    return learn(repository, progress=silent)


def test_the_newer_part_decides(learning: Learning) -> None:
    assert (learning.n_history, learning.n_feedback, learning.n_older, learning.n_newer) == (30, 0, 21, 9)
    assert learning.shipped is not None and learning.learned is not None and learning.difference is not None
    assert learning.difference.value == pytest.approx(learning.learned - learning.shipped)
    assert learning.is_better == (learning.difference.low > 0)


def test_a_bias_that_is_always_right_is_learned(learning: Learning) -> None:
    assert learning.is_better and learning.document is not None
    assert learning.document["figures"]["mrr_learned"] > learning.document["figures"]["mrr_shipped"]
    assert learning.decision().endswith("the learned weights are better")
    assert "the older 21 of 30 questions from history and 0 from feedback" in learning.document["provenance"]


def test_what_was_learned_ranks(repository: Repository, learning: Learning) -> None:
    assert learning.document is not None and repository.feedback_store is not None
    repository.feedback_store.write_weights(learning.document)
    again = Repository.open(repository.root)
    assert again.learned is not None and again.learned.provenance == learning.document["provenance"]
    assert again.weights.factors == default_weights().factors and again.weights.file != default_weights().file
    # What is measured is measured against the shipped weights, whatever is in use.
    assert learn(again, progress=silent) == learning
    repository.feedback_store.delete_weights()


def test_feedback_counts(tmp_path: Path) -> None:
    past = past_of(tmp_path / "shop", 12)
    repository = Repository.open(past.path)
    assert repository.feedback_store is not None
    assert not learn(repository, progress=silent).is_better
    for i, thing in enumerate(THINGS[:12]):
        repository.feedback_store.remember(str(i), f"what is done with the {thing}", AskOptions())
        repository.feedback_store.add_feedback_by_id(str(i), (f"store/s{i}.py", "gone.py"), ())
    repository.feedback_store.remember("gone", "where is what is gone", AskOptions())
    repository.feedback_store.add_feedback_by_id("gone", ("gone.py",), ())
    found = learn(repository, progress=silent)
    assert (found.n_history, found.n_feedback, found.n_older, found.n_newer) == (12, 12, 16, 8)


def test_too_little_history(tmp_path: Path) -> None:
    found = learn(Repository.open(past_of(tmp_path / "shop", 3).path), progress=silent)
    assert (found.n_history, found.is_better, found.document, found.difference) == (3, False, None, None)
    assert "3 questions from history and 0 from feedback are too few" in found.decision()


def test_without_git(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def keep(row):\n    pass\n")
    with pytest.raises(GitError):
        learn(Repository.open(tmp_path, exact_root=True), progress=silent)


def test_options(repository: Repository) -> None:
    with pytest.raises(UsageError, match="--questions must be at least 1, not 0"):
        learn(repository, 0, progress=silent)
    assert learn(repository, 19, progress=silent).n_history == 19 < MIN_QUESTIONS < N_LEARNING_QUESTIONS


def decided(value: float, low: float, learned: float) -> str:
    return Learning(40, 0, 28, 12, 0.5, learned, Interval(value, low, 0.2), low > 0, None).decision()


def test_what_may_be_chance_is_said_so() -> None:
    said: Iterable[tuple[str, str]] = (
        (decided(0.1, 0.01, 0.6), "the learned weights are better"),
        (decided(0.1, 0.0, 0.6), "that may be chance, so the shipped weights stay"),
        (decided(-0.1, -0.2, 0.4), "that is no gain, so the shipped weights stay"),
    )
    assert all(found.endswith(expected) for found, expected in said)
