"""Repository history and feedback -> learned weights, kept only if they rank unseen questions better.

The weights are fitted on the older questions, near the shipped ones, and compared with these on the newer ones, which
had no part in them. Most repositories have too few questions to tell a gain from chance; then nothing changes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from causalist.errors import GitError, UsageError
from causalist.evaluate.fit import Example, build_example, fit_weights, ranks_with, read_query_signals
from causalist.evaluate.metrics import Interval, bootstrap, metric_values
from causalist.evaluate.mining import mine_questions
from causalist.evaluate.own_history import history_root, pair_with_parents, with_definitions
from causalist.index.options import Progress
from causalist.pipeline.feedback_store import weights_document
from causalist.pipeline.repository import Repository
from causalist.rank import Weights, default_weights

N_QUESTIONS = 200
MIN_QUESTIONS = 20  # in all; fewer say nothing of either part
OLDER_SHARE = 0.7
# Of a learned weight's distance from the shipped one, per question. Chosen by hand: what is kept is measured anyway.
NEAR_RIDGE = 0.01
LEVEL = 0.90  # the lower limit of its interval is the 5th percentile


@dataclass(frozen=True, slots=True)
class Learning:
    """Result of learning from a repository.

    `shipped`, `learned` and `difference` are MRR over the `n_newer` questions, and the difference with its LEVEL
    interval. They are None if there were too few questions; then `document` is None too. `is_better`: the document is
    to be kept.
    """

    n_history: int
    n_feedback: int
    n_older: int
    n_newer: int
    shipped: float | None
    learned: float | None
    difference: Interval | None
    is_better: bool
    document: Mapping[str, Any] | None

    def decision(self) -> str:
        """Return one sentence with the result and its consequence."""
        asked = f"{self.n_history} questions from history and {self.n_feedback} from feedback"
        if self.shipped is None or self.learned is None or self.difference is None:
            needed = f"at least {MIN_QUESTIONS} are needed, in more than a few files"
            return f"{asked} are too few to learn from ({needed}), so the shipped weights stay"
        figures = (
            f"{asked}: on the newer {self.n_newer}, which had no part in the fit, MRR is {self.learned:.3f} with "
            f"learned and {self.shipped:.3f} with shipped weights (difference {self.difference.value:+.3f}, "
            f"{LEVEL:.0%} interval {self.difference.low:+.3f} to {self.difference.high:+.3f})"
        )
        if self.is_better:
            return f"{figures}; the learned weights are better"
        if self.difference.value > 0:
            return f"{figures}; that may be chance, so the shipped weights stay"
        return f"{figures}; that is no gain, so the shipped weights stay"


def learn(repository: Repository, n: int = N_QUESTIONS, *, progress: Progress) -> Learning:
    """Fit weights and compare them with the shipped ones; nothing is stored.

    Raises UsageError, and GitError where there is neither history nor feedback.
    """
    if n < 1:
        raise UsageError(f"--questions must be at least 1, not {n}")
    told = [] if repository.feedback_store is None else repository.feedback_store.read_feedback()
    past = _from_history(repository, n, progress, is_needed=not told)
    recent = _from_feedback(repository, told)
    older, newer = (past_part + said for past_part, said in zip(_split(past), _split(recent), strict=True))
    if len(older) + len(newer) < MIN_QUESTIONS:
        return Learning(len(past), len(recent), len(older), len(newer), None, None, None, False, None)
    start = default_weights()
    try:
        weights = fit_weights(older, start, ridge=NEAR_RIDGE, near=True)
    except ValueError:  # nothing wrong was ever near what was right
        return Learning(len(past), len(recent), len(older), len(newer), None, None, None, False, None)
    before, after = (metric_values([ranks_with(e, w).files for e in newer], ["MRR"]) for w in (start, weights))
    difference = bootstrap(after - before, level=LEVEL)[0]
    shipped, learned = float(before.mean()), float(after.mean())
    is_better = difference.value > 0 and difference.low > 0
    found = Learning(len(past), len(recent), len(older), len(newer), shipped, learned, difference, is_better, None)
    return _with_document(found, weights, repository)


def _with_document(found: Learning, weights: Weights, repository: Repository) -> Learning:
    assert found.difference is not None and found.shipped is not None and found.learned is not None
    provenance = (
        f"learned at commit {repository.index.commit} from the older {found.n_older} of {found.n_history} questions "
        f"from history and {found.n_feedback} from feedback; MRR on the other {found.n_newer}: {found.learned:.3f}, "
        f"with shipped weights {found.shipped:.3f}"
    )
    figures = {
        "older": found.n_older,
        "newer": found.n_newer,
        "mrr_shipped": round(found.shipped, 6),
        "mrr_learned": round(found.learned, 6),
        "difference": {key: round(value, 6) for key, value in found.difference._asdict().items()},
        "level": LEVEL,
    }
    document = weights_document(weights, repository.index.version, provenance, figures)
    return replace(found, document=document)


def _from_history(repository: Repository, n: int, progress: Progress, *, is_needed: bool) -> list[Example]:
    """Return examples from the newest `n` questions of the history, the oldest first."""
    root: Path = history_root(repository.root)
    try:
        questions = mine_questions(root, n).questions
    except GitError:
        if is_needed:
            raise
        return []
    weights = default_weights()
    found: list[Example] = []
    for question, state in pair_with_parents(root, questions, progress):
        if isinstance(state, Repository):
            known = with_definitions(root, question, state)
            reading = read_query_signals(state, known.query, weights)
            found.append(build_example(reading, weights, known.gold_files, known.gold_symbols))
    return found


def _from_feedback(repository: Repository, told: Sequence[tuple[str, tuple[str, ...]]]) -> list[Example]:
    """Examples from what was used, asked of the files as they are; files that are gone teach nothing."""
    weights, paths = default_weights(), set(repository.index.manifest.paths)
    found: list[Example] = []
    for query, used in told:
        there = [path for path in used if path in paths]
        if there:
            found.append(build_example(read_query_signals(repository, query, weights), weights, there, ()))
    return found


def _split(examples: list[Example]) -> tuple[list[Example], list[Example]]:
    at = round(OLDER_SHARE * len(examples))
    return examples[:at], examples[at:]
