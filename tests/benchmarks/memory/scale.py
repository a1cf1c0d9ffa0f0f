"""A memory of many passages: how long it takes to build, to ask and to add to, and whether adding equals building.

    python -m tests.benchmarks.memory.scale FOLDER [--passages 100000] [--check 2000] [--questions 200]

Passages are made of paragraphs of the documents in FOLDER: two that follow one another, one from elsewhere, and a name
that three passages share. There are no vectors. Prints CPU seconds of building, and the quantiles of asking (after one
question that is not counted), of `add_passage`, and of adding a passage and asking at once, which updates the arrays.
Then an index of `--check` passages that was filled one
by one, in another order, with some removed and put back, is compared with one that was built: every score of every
question in every mode, to the last bit. Exits 1 where they differ. Times mean something on a quiet machine alone.
"""

import argparse
import random
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from causalist.memory import HippoIndex
from causalist.model.answer import RetrievalMode
from tests.benchmarks.memory.questions import pages_of

_SERIES = 1_000  # passages that are added between two questions
_ONES = 60  # passages that are added with a question after each


def paragraphs_of(folder: Path) -> list[str]:
    found: list[str] = []
    for _, text in sorted(pages_of(folder).items()):
        found += [part for part in re.split(r"\n\n+(?=\S)", text) if 40 < len(part) < 3_000]
    return found


def made(paragraphs: Sequence[str], n: int, seed: int) -> list[dict[str, object]]:
    chance = random.Random(seed)
    passages: list[dict[str, object]] = []
    for i in range(n):
        at = chance.randrange(len(paragraphs) - 2)
        parts = [*paragraphs[at : at + 2], chance.choice(paragraphs), f"Item{i % max(1, n // 3)}x"]
        passages.append({"id": f"p{i:07}", "text": "\n\n".join(parts)})
    return passages


def questions_of(paragraphs: Sequence[str], n: int) -> list[str]:
    chance = random.Random(2)
    return [" ".join(chance.choice(paragraphs).split()[:12]) for _ in range(n)]


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def told(name: str, values: Sequence[float]) -> None:
    median, p95 = np.quantile(values, [0.5, 0.95])
    print(f"{name:24} median {1000 * median:8.1f} ms   p95 {1000 * p95:8.1f} ms   most {1000 * max(values):8.1f} ms")


def is_equal(passages: Sequence[dict[str, object]], questions: Sequence[str]) -> bool:
    """Whether an index that was filled one by one, in another order, answers as one that was built."""
    built = HippoIndex()
    built.build_from_passages(passages)
    chance = random.Random(3)
    order = list(passages)
    chance.shuffle(order)
    grown = HippoIndex()
    for i, each in enumerate(order):
        grown.add_passage(str(each["id"]), str(each["text"]))
        if i % 7 == 0:
            grown.remove_passage(str(order[i // 2]["id"]))
        if i % 500 == 0:
            grown.retrieve(questions[0])
    for each in order:
        grown.add_passage(str(each["id"]), str(each["text"]))
    for mode in RetrievalMode:
        for question in questions:
            one, other = (
                [(r.passage_id, r.score, r.ppr_score) for r in index.retrieve(question, mode=mode, top_k=len(passages))]
                for index in (built, grown)
            )
            if one != other:
                print(f"differs: {mode}: {question}")
                return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--check", type=int, default=2_000)
    parser.add_argument("--questions", type=int, default=200)
    given = parser.parse_args()
    paragraphs = paragraphs_of(given.folder)
    passages, questions = made(paragraphs, given.passages, 1), questions_of(paragraphs, given.questions)
    index = HippoIndex()
    building = seconds(lambda: index.build_from_passages(passages))
    first = seconds(lambda: index.retrieve(questions[0]))
    print(f"{len(index):,} passages: built in {building:.1f} s, first question {first:.1f} s; {index.stats()}")
    for mode in RetrievalMode:
        index.retrieve(questions[0], mode=mode)
        told(mode, [seconds(lambda: index.retrieve(q, mode=mode)) for q in questions])  # noqa: B023
    more = made(paragraphs, _SERIES, 4)
    adding = [seconds(lambda: index.add_passage(f"new{i}", str(each["text"]))) for i, each in enumerate(more)]  # noqa: B023
    told("add_passage", adding)
    index.retrieve(questions[0])

    def add_and_ask(i: int, text: str) -> None:
        index.add_passage(f"next{i}", text)
        index.retrieve(questions[i % len(questions)])

    some = made(paragraphs, _ONES, 5)
    told("add_passage and ask", [seconds(lambda: add_and_ask(i, str(e["text"]))) for i, e in enumerate(some)])  # noqa: B023
    equal = is_equal(passages[: given.check], questions[:20])
    n = min(given.check, len(passages))
    print(f"one by one {'equals' if equal else 'DIFFERS FROM'} built, over {n:,} passages")
    return 0 if equal else 1


if __name__ == "__main__":
    raise SystemExit(main())
