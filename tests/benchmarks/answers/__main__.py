"""Fit of the probability that a reader needs a definition (`causalist/extract/relevance.json`).

    python -m tests.benchmarks.answers QUESTIONS... --clones DIR [--write]
    python -m tests.benchmarks.answers --asked QUESTIONS --clones DIR [--write]

Each question is asked in three ways: as it is, by its code words alone, and with these as names. A node is needed if it
is the innermost one around a decisive line. Repositories are judged by models of the others: the printed shares are
those of needed nodes whose whole bodies, of 60 lines at most, fit into 3,400 tokens in the order of the model.
`--write` fits on all questions.

`--asked` fits what differs for questions that the question encoder reads, where the confidence is low. A line has a
repository and, for functions of it, questions in words that the code does not say, as `encoder/asked.jsonl`. Only
functions such as were drawn for questions are compared, so all that is told of them here is where they rank.

`open.jsonl` is for fitting; `sealed.jsonl` was not asked before everything else was chosen.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from causalist.evaluate.context import ContextQuestion, find_work_tree, read_context_questions
from causalist.extract import relevance_model
from causalist.extract.relevance_model import (
    EDGE_FEATURES,
    OWN_FEATURES,
    RelevanceInput,
    RelevanceModel,
    default_relevance,
    edge_features,
    judge_relevance,
    own_features,
    said_share,
    with_neighbors,
    word_pool,
)
from causalist.model.answer import AskOptions
from causalist.model.graph import CodeGraph
from causalist.model.node_ids import CALLABLE_KINDS, NodeKind, Role, split_id, unescape_path
from causalist.pipeline.pack_items import sure_share
from causalist.pipeline.repository import Repository
from causalist.pipeline.retries import RankingAttempt
from causalist.rank import terms_of_nodes

Scores = NDArray[np.float64]
L2 = 1.0
TOKENS, TOKENS_PER_LINE, MAX_LINES = 3400, 10, 60
# More users than others is the only thing that edges may say against a node.
FREE = ("fan-in",)
# What the place of a function in the ranking says, and lengths of the functions that were drawn for questions.
MEANING_FEATURES = ("rank", "gap", "odds", "file rank", "lines", "confidence")
MIN_ASKED_LINES, MAX_ASKED_LINES = 5, 90


class Row(NamedTuple):
    """A question asked in one way: what is needed, and the rankings with and without the graph."""

    question: ContextQuestion
    way: str
    needed: frozenset[int]
    given: RelevanceInput
    without_graph: RelevanceInput


def collect(questions: Sequence[ContextQuestion], clones: Path) -> list[Row]:
    by_repository: dict[str, list[ContextQuestion]] = defaultdict(list)
    for question in questions:
        by_repository[question.repo].append(question)
    rows = []
    for repo, group in by_repository.items():
        repository = Repository.open(find_work_tree(clones, repo), exact_root=True)
        nodes_by_path = group_nodes(repository.index.graph)
        for question in group:
            needed = needed_nodes(question, repository.index.graph, nodes_by_path)
            for way, text, names in ways_to_ask(question):
                given, alone = (rank(repository, text, names, graph=graph) for graph in (True, False))
                rows.append(Row(question, way, needed, given, alone))
        print(f"{repo}: {len(group)} questions", flush=True)
    return rows


def ways_to_ask(question: ContextQuestion) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return (name of the way, query, names)."""
    return [
        ("question", question.question, ()),
        ("words", question.names, ()),
        ("names", question.question, (question.names,)),
    ]


def rank(repository: Repository, text: str, names: tuple[str, ...], *, graph: bool) -> RelevanceInput:
    attempt = repository.attempt(text, AskOptions(graph=graph, names=names))
    return rank_of(repository, attempt)


def rank_of(repository: Repository, attempt: RankingAttempt) -> RelevanceInput:
    return RelevanceInput(
        repository.index.graph,
        attempt.ranking.definitions,
        attempt.ranking.files,
        [each.node for each in attempt.chosen],
        frozenset(each.node for each in attempt.chosen if each.by_graph),
        attempt.confidence or 0.0,
        partial(terms_of_nodes, attempt.ranking.question, repository.index.lexical),
    )


def group_nodes(graph: CodeGraph) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = defaultdict(list)
    for node, kind in enumerate(graph.nodes.kinds.tolist()):
        if kind not in (NodeKind.EXTERNAL, NodeKind.PASSAGE):
            groups[unescape_path(split_id(graph.nodes.ids[node])[0])].append(node)
    return groups


def needed_nodes(question: ContextQuestion, graph: CodeGraph, by_path: dict[str, list[int]]) -> frozenset[int]:
    starts, ends = graph.nodes.start_rows, graph.nodes.end_rows
    needed = set()
    for block in question.core:
        for line in block.lines:
            around = [n for n in by_path.get(block.path, ()) if starts[n] <= line - 1 <= ends[n]]
            if around:
                needed.add(min(around, key=lambda n: (int(ends[n] - starts[n]), n)))
    return frozenset(needed)


def fit(
    features: Scores,
    is_needed: Scores,
    never_negative: Sequence[int] = (),
    offset: Scores | float = 0.0,
    counts: Scores | float = 1.0,
) -> Scores:
    """Return weights, the constant last. `offset` are known odds of each row, `counts` how much it counts."""
    mean, deviation = features.mean(axis=0), features.std(axis=0)
    deviation[deviation == 0] = 1.0
    scaled = (features - mean) / deviation

    def loss(weights: Scores) -> tuple[float, Scores]:
        odds = scaled @ weights[:-1] + weights[-1] + offset
        error = counts * (1.0 / (1.0 + np.exp(-odds)) - is_needed)
        each = counts * (np.logaddexp(0.0, odds) - is_needed * odds)
        value = float(each.sum() + 0.5 * L2 * (weights[:-1] ** 2).sum())
        return value, np.append(scaled.T @ error + L2 * weights[:-1], error.sum())

    n = features.shape[1]
    bounds = [(0.0 if i in never_negative else None, None) for i in range(n)] + [(None, None)]
    found = minimize(loss, np.zeros(n + 1), jac=True, method="L-BFGS-B", bounds=bounds).x
    weights = found[:-1] / deviation
    return np.append(weights, found[-1] - float((weights * mean).sum()))


def train(rows: Sequence[Row]) -> RelevanceModel:
    words = _fit_own([(row.given, row.needed) for row in rows])
    alone = _fit_own([(row.without_graph, row.needed) for row in rows])
    names = (*OWN_FEATURES, *EDGE_FEATURES)
    never_negative = [i for i, name in enumerate(names) if name in EDGE_FEATURES and name not in FREE]
    edges: Scores | None = None
    for _ in range(2):
        parts, needed = [], []
        for row in rows:
            pool = word_pool(row.given)
            own = own_features(row.given, pool)
            probabilities = relevance_model.logistic(own, words)
            for step in range(1 if edges is None else 2):
                pool, probabilities = with_neighbors(row.given.graph, pool, probabilities)
                own = own_features(row.given, pool)
                found, _ = edge_features(row.given.graph, pool, probabilities, said_share(own))
                if edges is not None and step == 0:
                    probabilities = relevance_model.logistic(np.hstack([own, found]), edges)
            parts.append(np.hstack([own, found]))
            needed.append(np.array([node in row.needed for node in pool.tolist()], dtype=np.float64))
        edges = fit(np.vstack(parts), np.concatenate(needed), never_negative)
    assert edges is not None
    return RelevanceModel(words, edges, alone)


def collect_asked(path: Path, clones: Path) -> list[Row]:
    """Return the questions of a file of `encoder/asked.jsonl`'s form that the question encoder reads."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        data = json.loads(line)
        repo, _, commit = data["repository"].partition("@")
        repository = Repository.open(find_work_tree(clones, repo), exact_root=True)
        nodes = repository.index.graph.nodes
        for node, questions in data["asked"].items():
            needed = frozenset({nodes.ids.position(node)})
            for text in questions:
                question = ContextQuestion(node, repo, commit, "user", text, "", (), ())
                attempt = repository.attempt(text, AskOptions())
                if attempt.ranking.uses_similarity:
                    # The first hits are hardly others without the graph.
                    given = rank_of(repository, attempt)
                    rows.append(Row(question, "asked", needed, given, given))
        print(f"{repo}: {len(data['asked'])} functions", flush=True)
    return rows


def train_by_meaning(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Return the weights that differ from the shipped ones, by part of the model."""
    base = default_relevance()
    shares = [sure_share(row.given.confidence) for row in rows]
    changed: dict[str, Scores] = {}

    def blend(part: str, share: float) -> Scores:
        own: Scores = getattr(base, part)
        return share * own + (1.0 - share) * changed.get(part, own)

    def refit(part: str, parts: Sequence[tuple[Scores, Scores]]) -> None:
        features, needed = np.vstack([each[0] for each in parts]), np.concatenate([each[1] for each in parts])
        counts = np.concatenate([np.full(len(y), 1.0 - s) for (_, y), s in zip(parts, shares, strict=True)])
        # Functions were drawn evenly from all lengths, and people ask more of long ones: half of what lengths tell.
        both = []
        for names in (MEANING_FEATURES, [name for name in MEANING_FEATURES if name != "lines"]):
            weights = getattr(base, part).copy()
            free = [OWN_FEATURES.index(name) for name in names]
            weights[[*free, -1]] = 0.0
            weights[[*free, -1]] = fit(features[:, free], needed, (), features @ weights[:-1], counts)
            both.append(weights)
        changed[part] = np.mean(both, axis=0)

    def compared(row: Row, graph: CodeGraph, pool: NDArray[np.int64], features: Scores) -> tuple[Scores, Scores]:
        nodes = graph.nodes
        n_lines = nodes.end_rows[pool] - nodes.start_rows[pool] + 1
        here = np.isin(nodes.kinds[pool], [*CALLABLE_KINDS]) & (nodes.roles[pool] == Role.CODE)
        here &= (n_lines >= MIN_ASKED_LINES) & (n_lines <= MAX_ASKED_LINES)
        return features[here], np.isin(pool[here], [*row.needed]).astype(np.float64)

    for part in ("words", "alone"):
        own = []
        for row in rows:
            given = row.given if part == "words" else row.without_graph
            pool = word_pool(given)
            own.append(compared(row, given.graph, pool, own_features(given, pool)))
        refit(part, own)
    for n_rounds in (1, 2):
        found = []
        for row, share in zip(rows, shares, strict=True):
            graph, pool = row.given.graph, word_pool(row.given)
            probabilities = relevance_model.logistic(own_features(row.given, pool), blend("words", share))
            for _ in range(n_rounds):
                pool, probabilities = with_neighbors(graph, pool, probabilities)
                features = own_features(row.given, pool)
                linked, _ = edge_features(graph, pool, probabilities, said_share(features))
                features = np.hstack([features, linked])
                probabilities = relevance_model.logistic(features, blend("edges", share))
            found.append(compared(row, graph, pool, features))
        refit("edges", found)
    names = (*MEANING_FEATURES, "constant")
    columns = [*(OWN_FEATURES.index(name) for name in MEANING_FEATURES), -1]
    return {
        part: {name: round(float(changed[part][i]), 4) + 0.0 for name, i in zip(names, columns, strict=True)}
        for part in ("words", "edges", "alone")
    }


def _fit_own(rows: Sequence[tuple[RelevanceInput, frozenset[int]]]) -> Scores:
    parts, needed = [], []
    for given, wanted in rows:
        pool = word_pool(given)
        parts.append(own_features(given, pool))
        needed.append(np.array([node in wanted for node in pool.tolist()], dtype=np.float64))
    return fit(np.vstack(parts), np.concatenate(needed))


def share_within_budget(order: Sequence[int], row: Row) -> tuple[float, bool]:
    nodes, left, shown = row.given.graph.nodes, TOKENS, set()
    for node in order:
        n_lines = min(int(nodes.end_rows[node] - nodes.start_rows[node]) + 1, MAX_LINES)
        if n_lines * TOKENS_PER_LINE + 20 <= left:
            left -= n_lines * TOKENS_PER_LINE + 20
            shown.add(node)
    return len(shown & row.needed) / max(1, len(row.needed)), row.needed <= shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", nargs="*", type=Path)
    parser.add_argument("--asked", type=Path)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.asked is not None:
        asked = collect_asked(arguments.asked, arguments.clones)
        found = train_by_meaning(asked)
        print(json.dumps(found, indent=1))
        if arguments.write:
            names = ", ".join(dict.fromkeys(row.question.repo for row in asked))
            write_by_meaning(found, f"{len(asked)} questions of {names}")
        return
    questions = [question for path in arguments.questions for question in read_context_questions(path)]
    rows = collect(questions, arguments.clones)
    results: dict[tuple[str, str, str], list[tuple[float, bool]]] = defaultdict(list)
    for repo in dict.fromkeys(row.question.repo for row in rows):
        model = train([row for row in rows if row.question.repo != repo])
        for row in rows:
            if row.question.repo != repo:
                continue
            for name, order in (
                ("rank order", list(row.given.ranked)),
                ("graph", [each.node for each in judge_relevance(row.given, model)]),
                ("no graph", [each.node for each in judge_relevance(row.without_graph, model, use_edges=False)]),
            ):
                for kind in ("all", row.question.kind):
                    results[row.way, kind, name].append(share_within_budget(order, row))
    print("| asked by | kind | order | n | needed nodes shown | all shown |\n|---|---|---|--:|--:|--:|")
    for (way, kind, name), values in sorted(results.items()):
        share, whole = np.array(values, dtype=np.float64).mean(axis=0)
        print(f"| {way} | {kind} | {name} | {len(values)} | {share:.2f} | {whole:.2f} |")
    if arguments.write:
        write(train(rows), f"{len(questions)} questions of {', '.join(dict.fromkeys(q.repo for q in questions))}")


def write(model: RelevanceModel, provenance: str) -> None:
    names = {"words": OWN_FEATURES, "edges": (*OWN_FEATURES, *EDGE_FEATURES), "alone": OWN_FEATURES}
    data: dict[str, object] = {"provenance": f"python -m tests.benchmarks.answers, {provenance}"}
    for part, features in names.items():
        weights = getattr(model, part).tolist()
        data[part] = {name: round(w, 4) + 0.0 for name, w in zip((*features, "constant"), weights, strict=True)}
    path = Path(relevance_model.__file__).with_name("relevance.json")
    data["by meaning"] = json.loads(path.read_text(encoding="utf-8"))["by meaning"]
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def write_by_meaning(found: dict[str, dict[str, float]], provenance: str) -> None:
    path = Path(relevance_model.__file__).with_name("relevance.json")
    data = json.loads(path.read_text(encoding="utf-8"))
    data["by meaning"] = {"provenance": f"python -m tests.benchmarks.answers --asked, {provenance}", **found}
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
