"""How well real questions over several passages are answered: HotpotQA, 2WikiMultiHopQA and MuSiQue.

    python -m tests.benchmarks.memory.public CLONES [--sets hotpotqa,2wiki,musique] [--text title|heading|none]

CLONES holds clones or bare copies of the repositories in `SOURCES`, named `owner+name`. They carry samples of the
three sets; nothing is downloaded here. Each set is one memory of all passages of its samples. A question is right with
all passages that its set marks as supporting. `--text`: the title as metadata and as the first line, as the first line
only, or left out.

Figures: recall@2, recall@5 and the share of questions with all right passages among ten, each with a 95 % interval
(2,000 bootstrap samples of questions), for `sparse`, `hippo`, `hippo` without PageRank and `hippo` without any signal
of the graph; then the difference of the graph, question by question, with its interval.
"""

import argparse
import json
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalist.memory import HippoIndex, RetrievalSettings
from causalist.memory.retrieval import GRAPH_SIGNALS

# The repositories that carry samples, and the commits that were read. The last four have questions alone.
SOURCES: Mapping[str, tuple[str, str]] = {
    "hippo": ("OSU-NLP-Group+HippoRAG", "c617143f01477243992a63b2e2151cc003dd3b21"),
    "hippo legacy": ("OSU-NLP-Group+HippoRAG", "b144c46df14cabe5f5822d8caded4bec5f709461"),
    "ircot": ("xindili-cmu+anlp-project-multihop", "df0d5757f42f098ab6026f40323e91c369307506"),
    "lag": ("peterbaile+lag", "eb253119caaef69b91d60ca26c672fd921d960df"),
    "migres": ("AdelWang+MIGRES", "1de6265c9ca1014054d6ba875738e785830908f8"),
    "agentic": ("chenyiqun+Agentic-RAG", "a6694e2ebfa1a3fcbbbe4a5607f6317ba70ddc40"),
    "search": ("GaurisankarJ+reason_over_search", "45495b576c768f0d5996789e2db29eaa285a3c54"),
    "searcher": ("msghik+SimpleDeepSearcher", "59d92a232699ae2fbb26a0f564909b2d272900f5"),
    "xquad": ("google-deepmind+xquad", "7d30520c717524000f0d9d2f9c10a069acd9d285"),
}
SETS = ("hotpotqa", "2wiki", "musique")
_SAMPLES = 2_000  # of the bootstrap
_FIGURES = ("recall@2", "recall@5", "all in 10")

Values = NDArray[np.float64]  # (questions, figures)


@dataclass(slots=True)
class Sample:
    """`passages`: id -> (title, text); `questions`: question -> ids of its right passages."""

    passages: dict[str, tuple[str, str]]
    questions: dict[str, tuple[str, ...]]

    def add(self, title: str, text: str, *, is_page: bool) -> str:
        """Add a passage, or find it. Return its id. `is_page`: a title names one passage."""
        text = " ".join(text.split())
        key = title if is_page else f"{title}\n{text}"
        self.passages.setdefault(key, (title, text))
        return key

    def ask(self, question: str, right: Iterable[str]) -> None:
        """Add a question if all its right passages are there."""
        keys = tuple(sorted(set(right)))
        if all(key in self.passages for key in keys):
            self.questions[" ".join(question.split())] = keys


def read(clones: Path, source: str, path: str, key: str | None = None) -> list[Any]:
    """Return the items of a JSON file (of the list under `key`), or of a file with one JSON value a line."""
    folder, commit = SOURCES[source]
    root = next((each for each in (clones / folder / "repo", clones / folder) if each.is_dir()), None)
    if root is None:
        raise SystemExit(f"no clone of {folder.replace('+', '/')} in {clones}")
    run = subprocess.run(["git", "-C", str(root), "show", f"{commit}:{path}"], capture_output=True, check=False)
    if run.returncode:
        raise SystemExit(f"{folder} has no {path} at {commit}: {run.stderr.decode(errors='replace').strip()}")
    text = run.stdout.decode()
    try:
        return list(json.loads(text) if key is None else json.loads(text)[key])
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]


def hotpotqa(clones: Path) -> Sample:
    sample = Sample({}, {})
    for each in read(clones, "ircot", "processed_data/hotpotqa/dev_subsampled.jsonl"):
        keys = [sample.add(c["title"], c["paragraph_text"], is_page=True) for c in each["contexts"]]
        right = [key for key, c in zip(keys, each["contexts"], strict=True) if c["is_supporting"]]
        sample.ask(each["question_text"], right)
    for each in [
        *read(clones, "migres", "data/hotpot.json"),
        *read(clones, "hippo legacy", "data/hotpotqa_train.json"),
    ]:
        for title, sentences in each["context"]:
            sample.add(title, "".join(sentences), is_page=True)
        sample.ask(each["question"], [title for title, _ in each["supporting_facts"]])
    return sample


def two_wiki(clones: Path) -> Sample:
    sample = Sample({}, {})
    for each in read(clones, "hippo", "reproduce/dataset/2wikimultihopqa_corpus.json"):
        sample.add(each["title"], each["text"], is_page=True)
    with_context = [each for each in read(clones, "migres", "data/wikihop.json") if "context" in each]
    for each in with_context:
        for title, sentences in each["context"]:
            sample.add(title, " ".join(sentences), is_page=True)
    for each in [*with_context, *read(clones, "lag", "data/wikihop/dev.json")]:
        sample.ask(each["question"], [title for title, _ in each["supporting_facts"]])
    return sample


def musique(clones: Path) -> Sample:
    sample = Sample({}, {})
    for each in [
        *read(clones, "hippo legacy", "data/musique_train.json"),
        *read(clones, "migres", "data/musique.json"),
    ]:
        keys = [sample.add(p["title"], p["paragraph_text"], is_page=False) for p in each["paragraphs"]]
        right = [key for key, p in zip(keys, each["paragraphs"], strict=True) if p["is_supporting"]]
        sample.ask(each["question"], right)
    return sample


READERS = {"hotpotqa": hotpotqa, "2wiki": two_wiki, "musique": musique}


def passages_of(sample: Sample, text: str) -> list[dict[str, Any]]:
    """Return the passages as `build_from_passages` reads them; ids do not tell the title."""
    found: list[dict[str, Any]] = []
    for number, key in enumerate(sorted(sample.passages)):
        title, body = sample.passages[key]
        found.append(
            {
                "id": f"{number:06}",
                "text": body if text == "none" else f"{title}\n{body}",
                "metadata": {"title": title} if text == "title" else {},
            }
        )
    return found


def without_graph(settings: RetrievalSettings, signals: Sequence[str] = GRAPH_SIGNALS) -> RetrievalSettings:
    return replace(settings, **{f"{name}_weight": 0.0 for name in signals})  # type: ignore[arg-type]


def measure(index: HippoIndex, sample: Sample, mode: str, settings: RetrievalSettings) -> tuple[Values, float]:
    """Return (figures by question, milliseconds of processor time a question)."""
    number = {key: f"{i:06}" for i, key in enumerate(sorted(sample.passages))}
    index.settings = settings
    rows, began = [], time.process_time()
    for question in sorted(sample.questions):
        right = {number[key] for key in sample.questions[question]}
        found = [each.passage_id for each in index.retrieve(question, mode=mode, top_k=10)]
        rows.append([len(right & set(found[:2])), len(right & set(found[:5])), len(right) * (right <= set(found))])
        rows[-1] = [value / len(right) for value in rows[-1]]  # type: ignore[misc]
    return np.array(rows, dtype=np.float64), 1000 * (time.process_time() - began) / max(1, len(rows))


def interval(values: Values) -> tuple[float, float]:
    """Return the 95 % interval of the mean, by the bootstrap."""
    chance = np.random.default_rng(1)
    means = values[chance.integers(0, len(values), (_SAMPLES, len(values)))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def told(name: str, values: Values) -> str:
    parts = []
    for column in values.T:
        low, high = interval(column)
        parts.append(f"{100 * column.mean():6.1f} [{100 * low:5.1f}, {100 * high:5.1f}]")
    return f"{name:24}" + "  ".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--text", choices=("title", "heading", "none"), default="title")
    given = parser.parse_args()
    full = RetrievalSettings()
    rows = (
        ("sparse", "sparse", full),
        ("hippo", "hippo", full),
        ("hippo, no PageRank", "hippo", without_graph(full, ("graph",))),
        ("hippo, no graph", "hippo", without_graph(full)),
    )
    for name in given.sets.split(","):
        sample = READERS[name](given.clones)
        index = HippoIndex()
        index.build_from_passages(passages_of(sample, given.text))
        print(f"{name}: {len(index):,} passages, {len(sample.questions)} questions")
        print(f"{'':24}" + "  ".join(f"{figure:22}" for figure in _FIGURES))
        by_row = {}
        for row, mode, settings in rows:
            by_row[row], spent = measure(index, sample, mode, settings)
            print(f"{told(row, by_row[row])}  {spent:5.1f} ms", flush=True)
        print(told("graph - no graph", by_row["hippo"] - by_row["hippo, no graph"]), flush=True)


if __name__ == "__main__":
    main()
