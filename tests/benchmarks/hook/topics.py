"""Is a prompt about the code of a repository? Prompts that fit the weights of the hook, and others that measure them.

`off_topic.txt` and `on_topic.txt` hold prompts under headings, the first by kind, the second by repository. The prompts
off topic and the repositories, in the order of the hashes of what they are, belong to the fit and to the measurement
by turns. So the measurement knows neither its prompts nor its repositories from the fit.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from causalist.cli.hook import (
    HOOK_BUDGETS,
    TopicEvidence,
    collect_topic_evidence,
    has_search_terms,
    open_stored_repository,
    topic_probability,
    topic_weights,
)
from causalist.model.answer import AskOptions, Level
from causalist.pipeline.repository import Repository
from tests.benchmarks.confidence.fit import fitted
from tests.docs.blocks import ROOT

WEIGHTS = ROOT / "causalist/cli/topic_weights.json"
HERE = Path(__file__).parent
SILENT_IN_FIT = 0.965  # of prompts off topic of the fit; the aim is 0.95
N_REPOSITORIES = 3  # of which each prompt off topic is asked
Z = 1.96  # of the normal distribution: both tails together hold 5 %


class TopicPrompt(NamedTuple):
    """One prompt; `heading` is the kind of one off topic, the repository of one on topic."""

    heading: str
    text: str


class Judged(NamedTuple):
    """One prompt asked of one repository.

    `evidence` is None if the hook does not rank the prompt or has too little confidence in its ranking. `is_drawn`: one
    of the rows that are counted, one for each prompt.
    """

    prompt: TopicPrompt
    repo: str
    is_on_topic: bool
    is_drawn: bool
    evidence: TopicEvidence | None

    @property
    def is_spoken(self) -> bool:
        return self.evidence is not None and topic_probability(self.evidence) >= topic_weights().threshold


def read_questions_of_others(file: Path, folder: Path) -> Iterator[Judged]:
    """Yield questions that were not written for this, those about repositories that `folder` holds."""
    by_repository: dict[str, list[TopicPrompt]] = defaultdict(list)
    for line in file.read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        text = question.get("question") or question["query"]
        by_repository[question["repo"]].append(TopicPrompt(question.get("kind", file.stem), text))
    for repo, prompts in by_repository.items():
        repository = open_repository(folder, repo)
        if repository is not None:
            for prompt in prompts:
                yield judge(repository, repo, prompt, True, True)


def read_requests_of_others(file: Path, folder: Path) -> Iterator[Judged]:
    """Yield requests to an assistant that were not written for this, each asked of one repository.

    `file` has a request in `instruction` in each line, and what it is about in `input`.
    """
    repositories = halves([prompt.heading for prompt in read_prompts("on_topic.txt")])[1]
    by_repository: dict[str, list[TopicPrompt]] = defaultdict(list)
    for line in file.read_text(encoding="utf-8").splitlines():
        request = json.loads(line)
        examples = request.get("instances") or [request]
        text = "\n".join(part for part in (request["instruction"], examples[0].get("input", "")) if part)
        by_repository[draw(text, repositories)[0]].append(TopicPrompt(file.stem, text))
    for repo, prompts in by_repository.items():
        repository = open_repository(folder, repo)
        if repository is not None:
            for prompt in prompts:
                yield judge(repository, repo, prompt, False, True)


def read_unseen(folder: Path) -> Iterator[Judged]:
    """Yield the prompts that were written after the fit: those on topic, and the others asked of every repository."""
    on, off = read_prompts("unseen_on_topic.txt"), read_prompts("unseen_off_topic.txt")
    repositories = sorted({prompt.heading for prompt in on})
    for repo in repositories:
        repository = open_repository(folder, repo)
        if repository is None:
            raise SystemExit(f"no current index of {repo} in {folder}")
        for prompt in on:
            if prompt.heading == repo:
                yield judge(repository, repo, prompt, True, True)
        for prompt in off:
            yield judge(repository, repo, prompt, False, draw(prompt.text, repositories)[0] == repo)


def open_repository(folder: Path, repo: str) -> Repository | None:
    root = (folder / repo.replace("/", "+")).resolve()
    return open_stored_repository(root, root)


def read_prompts(name: str) -> list[TopicPrompt]:
    heading, prompts = "", []
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            heading = line[3:]
        elif line and not line.startswith("# "):
            prompts.append(TopicPrompt(heading, line.replace("\\n", "\n")))
    return prompts


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def halves(texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """Those of the fit, and those that are held out."""
    order = sorted(set(texts), key=digest)
    return order[::2], order[1::2]


def draw(text: str, repositories: Sequence[str]) -> list[str]:
    """The repositories of which a prompt is asked; the first is the one that is counted."""
    return sorted(repositories, key=lambda repo: digest(repo + text))[:N_REPOSITORIES]


def judge_half(folder: Path, half: int) -> Iterator[Judged]:
    """Each prompt on topic asked of its repository, and each off topic of some repositories of its half."""
    off, on = read_prompts("off_topic.txt"), read_prompts("on_topic.txt")
    repositories = halves([prompt.heading for prompt in on])[half]
    chosen = set(halves([prompt.text for prompt in off])[half])
    for repo in repositories:
        repository = open_repository(folder, repo)
        if repository is None:
            raise SystemExit(f"no current index of {repo} in {folder}")
        for prompt in on:
            if prompt.heading == repo:
                yield judge(repository, repo, prompt, True, True)
        for prompt in off:
            if prompt.text in chosen and repo in (drawn := draw(prompt.text, repositories)):
                yield judge(repository, repo, prompt, False, drawn[0] == repo)


def judge(repository: Repository, repo: str, prompt: TopicPrompt, is_on_topic: bool, is_drawn: bool) -> Judged:
    evidence = None
    if has_search_terms(prompt.text):
        attempt = repository.attempt(prompt.text, AskOptions(level=Level.FILE))
        if (attempt.confidence or 0.0) >= HOOK_BUDGETS[-1].confidence:
            question = attempt.ranking.question
            evidence = collect_topic_evidence(prompt.text, question, attempt.confidence, repository.index)
    return Judged(prompt, repo, is_on_topic, is_drawn, evidence)


def fit_weights(rows: Sequence[Judged]) -> str:
    """topic_weights.json, fitted to rows; both classes weigh the same, and the threshold keeps SILENT_IN_FIT."""
    ranked = [(row, row.evidence) for row in rows if row.evidence is not None]
    on = [evidence for row, evidence in ranked if row.is_on_topic]
    off = [evidence for row, evidence in ranked if not row.is_on_topic]
    # Repeats the smaller class to the size of the larger one.
    more = [on[i % len(on)] for i in range(len(off))]
    features = np.array([*off, *more])
    right = np.arange(len(features)) >= len(off)
    (intercept,), weights = fitted(features, np.zeros(len(features), dtype=np.int64), right)
    logits = np.sort(np.array(off) @ weights + intercept)
    n_off = sum(not row.is_on_topic for row in rows)
    n_spoken = int((1 - SILENT_IN_FIT) * n_off)
    threshold = 1 / (1 + np.exp(-float(logits[len(logits) - 1 - n_spoken])))
    n_prompts = len({row.prompt for row in rows})
    data = {
        "provenance": (
            f"fitted on {n_prompts} prompts asked of {len({row.repo for row in rows})} repositories (logistic "
            "regression, ridge 1, no weight below 0, both classes weigh the same) by tests/benchmarks/hook"
        ),
        "intercept": round(float(intercept), 4),
        "threshold": round(float(np.ceil(threshold * 100) / 100), 4),
        "weights": {n: round(float(w), 4) for n, w in zip(TopicEvidence._fields, weights, strict=True)},
    }
    return json.dumps(data, indent=2) + "\n"


def wilson(n_right: int, n: int) -> str:
    """A share with its interval of 95 % (Wilson 1927)."""
    share = n_right / n
    center = (share + Z**2 / 2 / n) / (1 + Z**2 / n)
    spread = Z * (share * (1 - share) / n + (Z / 2 / n) ** 2) ** 0.5 / (1 + Z**2 / n)
    return f"{n_right} of {n}, {share:.1%} ({center - spread:.1%} to {center + spread:.1%})"


def report(rows: Sequence[Judged]) -> list[str]:
    """A table of both classes, then the kinds of prompts off topic that the hook answers."""
    on = [row for row in rows if row.is_on_topic]
    off = [row for row in rows if not row.is_on_topic]
    drawn = [row for row in off if row.is_drawn]
    lines = ["| prompts | as wanted |", "|---|--:|"]
    lines.append(f"| off topic, each of one repository: silent | {share_of(drawn, False)} |")
    lines.append(f"| off topic, each of three repositories: silent | {share_of(off, False)} |")
    lines.append(f"| on topic: code | {share_of(on, True)} |")
    lines += ["", "| kind, each of three repositories | silent |", "|---|--:|"]
    for kind in dict.fromkeys(row.prompt.heading for row in off):
        lines.append(f"| {kind} | {share_of([row for row in off if row.prompt.heading == kind], False)} |")
    return lines


def share_of(rows: Sequence[Judged], is_spoken: bool) -> str:
    return wilson(sum(row.is_spoken is is_spoken for row in rows), len(rows))
