"""How often `choose_route` gives a query the route that a reader would choose; fits its weights.

    python -m tests.benchmarks.memory.routes [--public CLONES] [--wrong] [--left-out | --write]

The questions are those of `tests/benchmarks/questions/memory_routes.tsv`. One author wrote these and the patterns, so
`--public` asks questions of public sets: those of several hops, and single-hop ones that MuSiQue is composed of or that
people asked. CLONES holds the repositories of `public.py`. Every second question of a set may be read and fitted, from
the first on; the others are judged. Questions of `public.py` are in no other set.

`--left-out`: judge each set by weights that never saw one of its kind. `--write`: fit the weights and write
`causalist/memory/route_weights.json`. `--wrong`: print the questions with another route.
"""

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array

from causalist.memory import pipeline
from causalist.memory.pipeline import build_route_features, choose_route
from tests.benchmarks.memory.public import READERS, SETS
from tests.benchmarks.memory.public import read as read_json

QUESTIONS = Path(__file__).parents[1] / "questions" / "memory_routes.tsv"
WEIGHTS = Path(pipeline.__file__).with_name("route_weights.json")
MULTI_HOP, SIMPLE = "multi_hop", "simple"
_MOST = 3_500  # questions of a set that are fitted
_LEAST = 20  # questions that have a feature
_FEATURES = 1_500  # that are kept
_RIDGE = 5e-4


class Questions(NamedTuple):
    """Questions of one route. `weight`: of the set in the fit, 0 for one that is only judged."""

    route: str
    texts: list[str]
    weight: float
    family: str  # sets that are left out together

    @property
    def fitted(self) -> list[str]:
        """Every second question, at most _MOST of them."""
        return sorted(self.texts[::2], key=lambda text: hashlib.blake2b(text.encode()).digest())[:_MOST]

    @property
    def judged(self) -> list[str]:
        return self.texts[1::2] if self.weight else self.texts


def read(file: Path) -> list[tuple[str, str]]:
    """Return (question, route) of each line."""
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return [(text, route) for route, _, text in (line.partition("\t") for line in lines)]


def single_hop(clones: Path) -> list[str]:
    """Return the whole single-hop questions of MuSiQue's development set."""
    steps = [step["question"] for each in read_json(clones, "lag", "data/musique/dev.json")
             for step in each["question_decomposition"]]  # fmt: skip
    return sorted({text for text in steps if ">>" not in text and "#" not in text})


def asked(clones: Path, source: str, path: str) -> list[str]:
    """Return the questions of a file, under the key that it uses."""
    found = []
    for each in read_json(clones, source, path):
        plain = each.get("extra_info", each)
        found.append(plain.get("question") or plain.get("Question") or plain["Prompt"])
    return found


def squad(clones: Path) -> list[str]:
    pages = read_json(clones, "xquad", "xquad.en.json", key="data")
    return [qa["question"] for page in pages for part in page["paragraphs"] for qa in part["qas"]]


def public_sets(clones: Path) -> dict[str, Questions]:
    """Return the questions of public sets by name; those of `public.py` first, which are in no other one."""
    sets = {name: Questions(MULTI_HOP, sorted(READERS[name](clones).questions), 0.5, name) for name in SETS}
    sets["single-hop of MuSiQue"] = Questions(SIMPLE, single_hop(clones), 1.5, "musique single")
    seen = {text for each in sets.values() for text in each.texts}
    more = (
        ("HotpotQA, more", MULTI_HOP, 2.0, "hotpotqa", asked(clones, "agentic", "data/hotpot_qa/test.jsonl")),
        ("2WikiMultiHopQA, more", MULTI_HOP, 1.0, "2wiki",
         asked(clones, "agentic", "data/2wikimultihop_qa/2wikimultihop_test_questions_and_answers.json")),
        ("MuSiQue, more", MULTI_HOP, 1.0, "musique",
         asked(clones, "agentic", "data/musique/musique_train_questions_and_answers.json")),
        ("Bamboogle", MULTI_HOP, 0.0, "bamboogle", asked(clones, "agentic", "data/bamboogle/test.jsonl")),
        ("FRAMES", MULTI_HOP, 0.0, "frames", asked(clones, "searcher", "data/frames.json")),
        ("Natural Questions", SIMPLE, 0.5, "nq", asked(clones, "agentic", "data/nq/test.jsonl")),
        ("AmbigNQ", SIMPLE, 1.0, "nq", asked(clones, "agentic", "data/ambig_qa/train.jsonl")),
        ("PopQA", SIMPLE, 0.5, "popqa", asked(clones, "search", "data_subsample/popqa/test.jsonl")),
        ("SQuAD", SIMPLE, 0.5, "squad", squad(clones)),
        ("TriviaQA", SIMPLE, 0.1, "trivia", asked(clones, "search", "data_subsample/triviaqa/test.jsonl")),
    )  # fmt: skip
    for name, route, weight, family, texts in more:
        kept = sorted({" ".join(text.replace('""', '"').split()) for text in texts} - seen)
        sets[name] = Questions(route, kept, weight, family)
    return sets


def own_sets() -> dict[str, Questions]:
    """Return the own questions of the two routes that the weights tell apart."""
    questions = read(QUESTIONS)
    return {f"own, {route}": Questions(route, [text for text, its in questions if its == route], 0.3, "own")
            for route in (MULTI_HOP, SIMPLE)}  # fmt: skip


def fitted(sets: Sequence[Questions]) -> tuple[float, dict[str, float]]:
    """Return (constant, weights of features): a logistic regression in which both routes weigh the same.

    All features that enough questions have are fitted, then those again that moved the decisions most.
    """
    rows, is_multi, weights = [], [], []
    for each in sets:
        texts = each.fitted
        rows += [build_route_features(text) for text in texts]
        is_multi += [each.route == MULTI_HOP] * len(texts)
        weights += [each.weight / len(texts)] * len(texts)
    y, weight = np.where(is_multi, 1.0, -1.0), np.array(weights)
    for sign in (1.0, -1.0):
        weight[y == sign] /= 2 * weight[y == sign].sum()
    counts = Counter(feature for row in rows for feature in row)
    features = sorted(each for each, n in counts.items() if n >= _LEAST)
    constant, values, matrix = _solve(rows, features, y, weight)
    moved = np.abs(values) * np.sqrt(np.asarray(matrix.T @ weight))
    best = np.lexsort((np.arange(len(features)), -np.round(moved, 9)))[:_FEATURES]
    features = sorted(features[i] for i in best.tolist())
    constant, values, _ = _solve(rows, features, y, weight)
    return constant, dict(zip(features, values.tolist(), strict=True))


def _solve(
    rows: Sequence[Sequence[str]], features: Sequence[str], y: np.ndarray, weight: np.ndarray
) -> tuple[float, np.ndarray, csr_array]:
    number = {feature: i for i, feature in enumerate(features)}
    entries = [[number[each] for each in row if each in number] for row in rows]
    indptr = np.concatenate([[0], np.cumsum([len(each) for each in entries])])
    indices = np.array([each for row in entries for each in row], dtype=np.int64)
    matrix = csr_array((np.ones(len(indices)), indices, indptr), shape=(len(rows), len(features)))

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        margin = y * (matrix @ values[1:] + values[0])
        pull = -weight * y / (1 + np.exp(np.minimum(margin, 700)))
        slope = np.concatenate([[pull.sum()], matrix.T @ pull + _RIDGE * values[1:]])
        return float((weight * np.logaddexp(0, -margin)).sum() + _RIDGE / 2 * (values[1:] ** 2).sum()), slope

    found = minimize(loss, np.zeros(len(features) + 1), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    return float(found.x[0]), found.x[1:], matrix


def write(sets: Mapping[str, Questions]) -> None:
    constant, weights = fitted([each for each in sets.values() if each.weight])
    names = [name for name, each in sets.items() if each.weight]
    origin = "python -m tests.benchmarks.memory.routes --public CLONES --write"
    data = {
        "provenance": f"{origin}, on every second question of {', '.join(names)}",
        "intercept": round(constant, 3),
        "weights": {name: round(value, 3) for name, value in weights.items()},
    }
    WEIGHTS.write_text(json.dumps(data, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    pipeline.route_weights.cache_clear()


def told(name: str, questions: Sequence[tuple[str, str]], *, wrong: bool = False) -> None:
    missed = [(text, route, choose_route(text).value) for text, route in questions]
    missed = [each for each in missed if each[1] != each[2]]
    confused = Counter(f"{route} as {given}" for _, route, given in missed)
    right = 100 * (1 - len(missed) / len(questions))
    print(f"{name:24}{len(questions):6}{right:7.1f} %   " + ", ".join(f"{k} {n}" for k, n in confused.most_common(4)))
    for text, route, given in missed if wrong else ():
        print(f"    {route} as {given}: {text}")


def told_by_weights(name: str, questions: Questions, constant: float, weights: Mapping[str, float]) -> None:
    """Print how many questions the weights alone judge right."""
    sums = [constant + sum(weights.get(each, 0.0) for each in build_route_features(t)) for t in questions.judged]
    right = np.mean([(value > 0) == (questions.route == MULTI_HOP) for value in sums])
    print(f"{name:24}{len(sums):6}{100 * right:7.1f} %   by weights of other sets", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--public", type=Path, metavar="CLONES")
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--left-out", action="store_true")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    sets = public_sets(given.public) if given.public else {}
    everything = {**sets, **own_sets()}
    if given.write:
        if not sets:
            parser.error("--write needs --public")
        write(everything)
    questions = read(QUESTIONS)
    told("may be read", questions[::2], wrong=given.wrong)
    told("judged", questions[1::2], wrong=given.wrong)
    for name, each in sets.items():
        told(name, [(text, each.route) for text in each.judged], wrong=given.wrong)
    for family in dict.fromkeys(each.family for each in sets.values() if each.weight and given.left_out):
        others = [each for each in everything.values() if each.weight and each.family != family]
        constant, weights = fitted(others)
        for name, each in sets.items():
            if each.family == family:
                told_by_weights(name, each, constant, weights)


if __name__ == "__main__":
    main()
