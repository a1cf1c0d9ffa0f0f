"""See the package."""

import argparse
from pathlib import Path

import numpy as np

from causalist.memory import HippoIndex, RetrievalSettings
from causalist.memory.documents import read_documents
from causalist.memory.retrieval import SIGNALS
from causalist.model.answer import RetrievalMode
from tests.benchmarks.memory import asked
from tests.benchmarks.memory.multihop import measure, ranked_pages
from tests.benchmarks.memory.questions import Asked

_PASSAGES = 60


def read(file: Path) -> list[Asked]:
    lines = [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return [Asked(text, tuple(pages.split()), "by hand") for text, pages in lines]


def main() -> None:
    parser = argparse.ArgumentParser(description=asked.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--weights")
    parser.add_argument("--show", action="store_true", help="the first five pages for each question")
    given = parser.parse_args()
    settings = RetrievalSettings()
    if given.weights:
        values = [float(each) for each in given.weights.split(",")]
        settings = RetrievalSettings(
            **{f"{name}_weight": value for name, value in zip(SIGNALS, values, strict=True)}  # type: ignore[arg-type]
        )
    index = HippoIndex(settings=settings)
    index.build_from_passages(
        {"id": each.id, "text": each.text, "metadata": each.metadata}
        for each in read_documents([given.folder], given.folder.resolve()).passages
    )
    questions = read(given.file)
    for mode in RetrievalMode:
        answers = {
            q.text: [each.passage_id for each in index.retrieve(q.text, mode=mode, top_k=_PASSAGES)] for q in questions
        }
        figures = measure(questions, answers.__getitem__)
        first = []
        for question in questions:
            pages = ranked_pages(answers[question.text])
            first.append(max((1.0 / (1 + pages.index(p)) for p in question.gold if p in pages), default=0.0))
            if given.show and mode == "hippo":
                marked = [f"{'*' if page in question.gold else ' '}{page}" for page in pages[:5]]
                print(f"{question.text}\n    {'  '.join(marked)}")
        print(
            f"{mode:8} n {len(questions)}  recall@5 {figures.recall_at_5:.3f}  R-precision {figures.r_precision:.3f}  "
            f"success {figures.success:.3f}  MRR {np.mean(first):.3f}"
        )


if __name__ == "__main__":
    main()
