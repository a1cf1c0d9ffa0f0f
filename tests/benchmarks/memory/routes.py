"""How often `causalist.memory.retrieval` gives a query the route that a reader would choose.

    python -m tests.benchmarks.memory.routes [--public CLONES] [--wrong]

The questions are those of `tests/benchmarks/questions/memory_routes.tsv`. Rules were made with every second one, from
the first on; the others are the half that is judged. One author wrote questions and rules, so `--public` asks questions
that neither was made with: the sets of `public.py`, all of several hops, and the single-hop questions that those of
MuSiQue are composed of, as far as they are whole sentences. `--wrong` prints the questions with another route.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from causalist.memory.retrieval import choose_route
from tests.benchmarks.memory.public import READERS, SETS
from tests.benchmarks.memory.public import read as read_json

QUESTIONS = Path(__file__).parents[1] / "questions" / "memory_routes.tsv"


def read(file: Path) -> list[tuple[str, str]]:
    """Return (question, route) of each line."""
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return [(text, route) for route, _, text in (line.partition("\t") for line in lines)]


def single_hop(clones: Path) -> list[str]:
    """Return the whole single-hop questions of MuSiQue's development set."""
    steps = [step["question"] for each in read_json(clones, "lag", "data/musique/dev.json")
             for step in each["question_decomposition"]]  # fmt: skip
    return sorted({text for text in steps if ">>" not in text and "#" not in text})


def told(name: str, questions: Sequence[tuple[str, str]], *, wrong: bool) -> None:
    missed = [(text, route, choose_route(text).value) for text, route in questions]
    missed = [each for each in missed if each[1] != each[2]]
    confused = Counter(f"{route} as {given}" for _, route, given in missed)
    right = 100 * (1 - len(missed) / len(questions))
    print(f"{name:24}{len(questions):6}{right:7.1f} %   " + ", ".join(f"{k} {n}" for k, n in confused.most_common(4)))
    for text, route, given in missed if wrong else ():
        print(f"    {route} as {given}: {text}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--public", type=Path, metavar="CLONES")
    parser.add_argument("--wrong", action="store_true")
    given = parser.parse_args()
    questions = read(QUESTIONS)
    told("rules made with", questions[::2], wrong=given.wrong)
    told("judged", questions[1::2], wrong=given.wrong)
    if given.public:
        for name in SETS:
            sample = READERS[name](given.public)
            told(name, [(text, "multi_hop") for text in sorted(sample.questions)], wrong=given.wrong)
        told("single-hop of MuSiQue", [(text, "simple") for text in single_hop(given.public)], wrong=given.wrong)


if __name__ == "__main__":
    main()
