"""What a memory of very many passages needs: time, memory and disk to build, save, open, ask and add to.

    python -m tests.benchmarks.memory.large CLONES FILE [--passages 1000000] [--questions 100] [--stage build|ask|add]

Passages are those of the three public sets (`public.py`; CLONES has their repositories) and copies of them with other
names: in each copy every capitalized word is another capitalized word of the sets, or one made of syllables, so that
names, words and questions are new in each copy. Passages are made while they are added. `build` writes FILE, `ask` and
`add` open it, each in a process of its own; without `--stage` all run, one after the other.

Prints seconds (wall and processor), and peaks in MB: `anonymous` is what the process itself needs, `resident` has the
pages of mapped files too, which the system takes back when it needs them. recall@5 is that of the questions of the sets
among all passages.
"""

import argparse
import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from causalist.memory import HippoIndex
from tests.benchmarks.memory.public import READERS, SETS, passages_of

_NAME = re.compile(r"\b[A-Z][a-z]{3,}\b")
_SYLLABLES = [
    a + b
    for a in ["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v"]
    for b in ("a", "e", "i", "o", "u", "an", "er", "il")
]
_SECONDS_BETWEEN = 0.05
_N_ADDED = 12


def sets_of(clones: Path) -> tuple[list[dict[str, object]], list[tuple[str, set[str]]]]:
    """Return (passages of all sets, questions with the ids of their right passages)."""
    passages: list[dict[str, object]] = []
    asked: list[tuple[str, set[str]]] = []
    for name in SETS:
        sample = READERS[name](clones)
        number = {key: f"{name}{i:06}" for i, key in enumerate(sorted(sample.passages))}
        passages += [{**each, "id": f"{name}{each['id']}"} for each in passages_of(sample, "title")]
        asked += [(question, {number[key] for key in right}) for question, right in sorted(sample.questions.items())]
    random.Random(1).shuffle(asked)
    return passages, asked


def copies_of(passages: Sequence[dict[str, object]], n: int) -> Iterator[dict[str, object]]:
    """Yield n passages: those of the sets, then copies with other names."""
    words = sorted({word for each in passages for word in _NAME.findall(str(each["text"]))})
    copy = 0
    while n > 0:
        chance = random.Random(copy)
        others = list(words)
        chance.shuffle(others)
        made = ("".join(chance.choices(_SYLLABLES, k=chance.choice((3, 4)))).title() for _ in words)
        renamed = dict(
            zip(words, (m if chance.random() < 0.5 else o for o, m in zip(others, made, strict=True)), strict=True)
        )
        for each in passages[:n]:
            if not copy:
                yield each
                continue
            change = lambda match: renamed[match[0]]  # noqa: E731, B023
            metadata = {key: _NAME.sub(change, str(value)) for key, value in dict(each["metadata"]).items()}  # type: ignore[call-overload]
            yield {"id": f"{each['id']}-{copy:03}", "text": _NAME.sub(change, str(each["text"])), "metadata": metadata}
        n -= len(passages)
        copy += 1


class Peaks:
    """Peaks of the memory of this process in MB, since the last report."""

    def __init__(self) -> None:
        self.anonymous = self.resident = 0
        self._began = time.perf_counter(), time.process_time()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            self._look()
            time.sleep(_SECONDS_BETWEEN)

    def _look(self) -> None:
        now = dict(re.findall(r"(RssAnon|VmRSS):\s+(\d+)", Path("/proc/self/status").read_text(encoding="ascii")))
        self.anonymous = max(self.anonymous, int(now["RssAnon"]) // 1024)
        self.resident = max(self.resident, int(now["VmRSS"]) // 1024)

    def report(self, stage: str, more: str = "") -> None:
        self._look()
        wall, processor = time.perf_counter() - self._began[0], time.process_time() - self._began[1]
        print(f"{stage:28} {wall:8.1f} s, processor {processor:8.1f} s, anonymous {self.anonymous:6} MB, "
              f"resident {self.resident:6} MB {more}", flush=True)  # fmt: skip
        self._began = time.perf_counter(), time.process_time()
        self.anonymous = self.resident = 0
        self._look()


def build(clones: Path, file: Path, n: int) -> None:
    passages, asked = sets_of(clones)
    peaks = Peaks()
    index = HippoIndex()
    step = max(10_000, n // 20)

    def told() -> Iterator[dict[str, object]]:
        for i, each in enumerate(copies_of(passages, n), 1):
            yield each
            if i % step == 0:
                peaks.report(f"added {i:,}")

    index.build_from_passages(told())
    peaks.report("added all")
    index.retrieve(asked[0][0])
    peaks.report("first query", str(index.stats()))
    index.save(file)
    peaks.report("saved", f"{file.stat().st_size >> 20} MB on disk")


def ask(clones: Path, file: Path, n_questions: int) -> None:
    _, asked = sets_of(clones)
    peaks = Peaks()
    index = HippoIndex.load(file)
    peaks.report("opened", f"{len(index):,} passages")
    for mode in ("hippo", "sparse", "dense"):
        index.retrieve(asked[-1][0], mode=mode)
        peaks.report(f"first query, {mode}")
        wall, processor, recall = [], [], []
        for question, right in asked[:n_questions]:
            began = time.perf_counter(), time.process_time()
            found = index.retrieve(question, mode=mode, top_k=5)
            wall.append(time.perf_counter() - began[0])
            processor.append(time.process_time() - began[1])
            recall.append(len(right & {each.passage_id for each in found}) / len(right))
        told = [f"{name} {1000 * np.quantile(each, 0.5):.0f} ms, p95 {1000 * np.quantile(each, 0.95):.0f} ms"
                for name, each in (("wall", wall), ("processor", processor))]  # fmt: skip
        peaks.report(f"{n_questions} queries, {mode}", f"{'; '.join(told)}; recall@5 {100 * np.mean(recall):.1f} %")


def add(clones: Path, file: Path) -> None:
    passages, asked = sets_of(clones)
    peaks = Peaks()
    index = HippoIndex.load(file)
    for i, (each, (question, _)) in enumerate(zip(passages, asked[:_N_ADDED], strict=False)):
        index.add_passage(f"added {i}", f"Added{i} note. {each['text']}")
        index.retrieve(question)
        peaks.report("an addition and a query")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--passages", type=int, default=1_000_000)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--stage", choices=("build", "ask", "add"))
    given = parser.parse_args()
    if given.stage is None:
        for stage in ("build", "ask", "add"):
            subprocess.run([sys.executable, "-m", __spec__.name, *sys.argv[1:], "--stage", stage], check=True)
    elif given.stage == "build":
        build(given.clones, given.file, given.passages)
    elif given.stage == "ask":
        ask(given.clones, given.file, given.questions)
    else:
        add(given.clones, given.file)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
