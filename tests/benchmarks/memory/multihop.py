"""How well questions that need several pages are answered, by mode; see `questions.py` for how they are made.

    python -m tests.benchmarks.memory.multihop FOLDER [--half tuning|held-out] [--variant V]

FOLDER holds linked documents, for example the HTML of Python's own documentation as the Debian package `python3.11-doc`
ships it. Pages are ranked by their best passages. Figures: recall@5, R-precision (the share of right pages among as
many as are right), success (all right pages among the first ten), for hippo, sparse, dense (word associations of the
documents: no embedder) and hybrid; and how often `MemoryPipeline` tries again.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from causalist.memory import HippoIndex, MemoryPipeline
from causalist.memory.documents import resolve_references, split_document
from causalist.model.answer import RetrievalMode
from tests.benchmarks.memory.questions import Asked, Questions, make, pages_of

LEFT_OUT = ("genindex", "py-modindex", "search", "contents", "whatsnew/changelog")  # pages that list other pages
_PASSAGES = 60  # that pages are taken from


@dataclass(frozen=True, slots=True)
class Figures:
    recall_at_5: float
    r_precision: float
    success: float


def prepared(root: Path) -> tuple[Questions, list[dict[str, object]]]:
    """(questions, passages without the links that the questions are made of)."""
    pages = {path: text for path, text in pages_of(root).items() if not path.startswith(LEFT_OUT)}
    questions = make(pages)
    found = []
    for path in sorted(pages):
        found += split_document(path, (root / path).read_text(encoding="utf-8", errors="replace"))
    page = {each.id: str(each.metadata["path"]) for each in found}
    both = questions.withheld | {(b, a) for a, b in questions.withheld}
    passages: list[dict[str, object]] = []
    for each in resolve_references(found):
        links = [r for r in each.metadata.get("references", ()) if (page[each.id], page[r]) not in both]
        metadata = {**each.metadata, "references": links}
        passages.append({"id": each.id, "text": each.text, "metadata": metadata})
    return questions, passages


def ranked_pages(passages: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(each.partition("#")[0].partition("~part")[0] for each in passages))


def measure(asked: Sequence[Asked], retrieve: Callable[[str], list[str]]) -> Figures:
    values = []
    for question in asked:
        found, gold = ranked_pages(retrieve(question.text)), set(question.gold)
        first = found[: len(gold)]
        values.append(
            (len(gold & set(found[:5])) / len(gold), len(gold & set(first)) / len(gold), gold <= set(found[:10]))
        )
    mean = np.array(values, dtype=np.float64).mean(axis=0)
    return Figures(*(float(v) for v in mean))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=("tuning", "held-out"), default="held-out")
    parser.add_argument("--variant", default="log")
    given = parser.parse_args()
    questions, passages = prepared(given.folder)
    index = HippoIndex(variant=given.variant)
    index.build_from_passages(passages)
    asked = questions.tuning if given.half == "tuning" else questions.held_out
    print(f"{index.stats()}")
    print(f"{'':12}{'kind':8}{'n':>5}{'recall@5':>10}{'R-prec.':>9}{'success':>9}{'ms':>7}")
    for mode in RetrievalMode:
        for kind in ("multi", "single"):
            chosen = [each for each in asked if each.kind == kind]
            began = time.process_time()
            figures = measure(
                chosen,
                lambda q: [r.passage_id for r in index.retrieve(q, mode=mode, top_k=_PASSAGES)],  # noqa: B023
            )
            spent = 1000 * (time.process_time() - began) / len(chosen)
            print(
                f"{mode:12}{kind:8}{len(chosen):5}{figures.recall_at_5:10.3f}{figures.r_precision:9.3f}"
                f"{figures.success:9.3f}{spent:7.1f}"
            )
    pipeline = MemoryPipeline(index)
    answers = [pipeline.run(each.text) for each in asked]
    again = sum(each.attempts > 1 for each in answers)
    print(f"MemoryPipeline, mode execution: {again} of {len(answers)} questions took more than one attempt")


if __name__ == "__main__":
    main()
