"""How well own questions are answered that need two passages: decision records, runbooks, manuals, chat logs and mail.

    python -m tests.benchmarks.memory.two_passages CLONES [--kinds decisions,chat] [--misses] [--weights NAME=W ...]

CLONES holds clones or bare copies of the repositories in `SOURCES`, named `owner+name`; nothing is downloaded here.
The questions (`two_passages.tsv`) were written while the texts were read, before any was asked, and no weight is
fitted to them. A right passage is `path#heading` (any part of that section), `path@words` (the passage of that file
with these words) or `path` (any passage of the file), `or` between alternatives. Each repository is one memory.

Figures for each kind and for all: recall@5 and the share of questions with both passages among ten, each with a 95 %
interval (2,000 bootstrap samples of questions), for `sparse`, `hippo` and `hippo` without any signal of the graph; then
the difference of the graph, question by question.
"""

import argparse
import io
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from causalist.memory import HippoIndex, RetrievalSettings
from causalist.memory.documents import Document, read_documents
from tests.benchmarks.memory.public import Values, interval, without_graph

QUESTIONS = Path(__file__).with_name("two_passages.tsv")
_FIGURES = ("recall@5", "both in 10")


class Source(NamedTuple):
    """A repository: its kind, commit and folder; `only`: beginnings of the paths below it that are read."""

    kind: str
    commit: str
    folder: str
    only: tuple[str, ...] = ("",)


SOURCES: Mapping[str, Source] = {
    "alphagov/govuk-aws": Source(
        "decisions", "81ee9f6e91fd8692fbf751ecf980c671c13aa3c0", "docs/architecture/decisions"
    ),
    "opendatahub-io/architecture-decision-records": Source(
        "decisions", "6325c10cd2130be1adee9e3689f5692b34a596ba", "architecture-decision-records"
    ),
    "wagov-dtt/architecture-decision-records": Source("decisions", "3069657955d18e4c037812e07da22709e10db36b", ""),
    "openshift/runbooks": Source("runbooks", "82bd2d9d3789e76f8a8202f8a9ee0f0639cc5b73", "alerts"),
    "prometheus-operator/runbooks": Source("runbooks", "a685d14cf5128bb30e2bf935c3983decd772d885", "content/runbooks"),
    "restic/restic": Source("manuals", "a80be1478a4c537f8396e0db2b05120aa78f11e0", "doc"),
    "borgbackup/borg": Source("manuals", "fc74d5f643d17d5341e303cd5ed4ddeb425660f0", "docs"),
    "bitcoin-core-review-club/website": Source("chat", "ba66e4864367e74c793be621a8cbf1eafdda57a7", "_posts"),
    "qTox/qtox-irc-logs": Source("chat", "2c9e1784cfc3194ae0f3c1fcd8694b29cbe4a798", ""),
    "twisted/pipermail": Source("mail", "75a0ed20ffa55cc4354dc11e725a2f2c096f566c", "twisted-web", ("2004-", "2005-")),
    "riceissa/everything-list-1998-2009": Source("mail", "b3b6ccb6467ce984490e18628a2cdf5f3093d7cd", "", ("0",)),
}
KINDS = tuple(dict.fromkeys(source.kind for source in SOURCES.values()))


class Asked(NamedTuple):
    """A question, and what its right passages are called in the file."""

    text: str
    right: tuple[str, ...]


def questions() -> dict[str, list[Asked]]:
    """Questions by repository."""
    found: dict[str, list[Asked]] = {}
    for line in QUESTIONS.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("# "):
            repository, text, *right = line.split("\t")
            found.setdefault(repository, []).append(Asked(text, tuple(right)))
    return found


def texts(clones: Path, repository: str, into: Path) -> None:
    """Write the texts of a repository below `into`."""
    source, folder = SOURCES[repository], repository.replace("/", "+")
    root = next((each for each in (clones / folder / "repo", clones / folder) if each.is_dir()), None)
    if root is None:
        raise SystemExit(f"no clone of {repository} in {clones}")
    tree = f"{source.commit}:{source.folder}"
    git = ["git", "-C", str(root)]
    names = subprocess.run([*git, "ls-tree", "--name-only", tree], capture_output=True, text=True, check=False)
    if names.returncode:
        raise SystemExit(f"{root} has no {tree}: {names.stderr.strip()}")
    chosen = [name for name in names.stdout.splitlines() if name.startswith(source.only)]
    packed = subprocess.run([*git, "archive", tree, *chosen], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(into, filter="data")


def right_passages(name: str, passages: Sequence[Document]) -> frozenset[str]:
    """Return the ids that `name` stands for. Raises SystemExit if there are none."""
    found: set[str] = set()
    for each in name.split(" or "):
        path, _, words = each.partition("@")
        for passage in passages:
            own = passage.id.partition("~part")[0]
            if words:
                is_right = passage.metadata["path"] == path and words in passage.text
            else:
                is_right = each in (own, passage.metadata["path"])
            if is_right:
                found.add(passage.id)
    if not found:
        raise SystemExit(f"no passage is {name}")
    return frozenset(found)


def measure(
    index: HippoIndex,
    asked: Sequence[Asked],
    right: Mapping[str, frozenset[str]],
    mode: str,
    settings: RetrievalSettings,
) -> Values:
    """Return the figures of each question."""
    index.settings = settings
    rows = []
    for each in asked:
        found = [passage.passage_id for passage in index.retrieve(each.text, mode=mode, top_k=10)]
        at_5 = [bool(right[name] & set(found[:5])) for name in each.right]
        rows.append([np.mean(at_5), all(right[name] & set(found) for name in each.right)])
    return np.array(rows, dtype=np.float64)


def told(name: str, values: Values) -> str:
    parts = []
    for column in values.T:
        low, high = interval(column)
        parts.append(f"{100 * column.mean():6.1f} [{100 * low:5.1f}, {100 * high:5.1f}]")
    return f"{name:20}" + "  ".join(parts)


def tell_misses(index: HippoIndex, asked: Sequence[Asked], right: Mapping[str, frozenset[str]]) -> None:
    """Print each question with the ranks of its right passages, with the graph and without."""
    full = index.settings
    for each in asked:
        ranks = []
        for mode, settings in (("sparse", full), ("hippo", full), ("hippo", without_graph(full))):
            index.settings = settings
            found = [passage.passage_id for passage in index.retrieve(each.text, mode=mode, top_k=200)]
            ranks.append([next((i + 1 for i, one in enumerate(found) if one in right[name]), 0) for name in each.right])
        if ranks[1] != [1, 2] and ranks[1] != [2, 1]:
            print(f"  sparse {ranks[0]} hippo {ranks[1]} no graph {ranks[2]}  {each.text}\n      {each.right}")
    index.settings = full


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--misses", action="store_true", help="ranks of the right passages of each question")
    parser.add_argument("--weights", nargs="*", default=[], metavar="NAME=WEIGHT", help="others than the defaults")
    given = parser.parse_args()
    changed = {f"{name}_weight": float(value) for name, _, value in (each.partition("=") for each in given.weights)}
    full = replace(RetrievalSettings(), **changed)  # type: ignore[arg-type]
    rows = (("sparse", "sparse", full), ("hippo", "hippo", full), ("hippo, no graph", "hippo", without_graph(full)))
    by_kind: dict[str, dict[str, list[Values]]] = {}
    for repository, asked in questions().items():
        source = SOURCES[repository]
        if source.kind not in given.kinds.split(","):
            continue
        with tempfile.TemporaryDirectory() as folder:
            texts(given.clones, repository, Path(folder))
            passages = read_documents([Path(folder)], Path(folder).resolve()).passages
        right = {name: right_passages(name, passages) for each in asked for name in each.right}
        index = HippoIndex()
        index.build_from_passages({"id": p.id, "text": p.text, "metadata": p.metadata} for p in passages)
        print(f"{repository}: {len(index):,} passages, {len(asked)} questions", flush=True)
        for row, mode, settings in rows:
            values = measure(index, asked, right, mode, settings)
            by_kind.setdefault(source.kind, {}).setdefault(row, []).append(values)
        if given.misses:
            index.settings = full
            tell_misses(index, asked, right)
    print(f"{'':20}" + "  ".join(f"{figure:22}" for figure in _FIGURES))
    for kind in [*by_kind, "all"]:
        chosen = by_kind.values() if kind == "all" else [by_kind[kind]]
        values = {row: np.concatenate([part for each in chosen for part in each[row]]) for row, _, _ in rows}
        print(f"{kind}: {len(values['hippo'])} questions")
        for row, _, _ in rows:
            print(told(row, values[row]))
        print(told("graph - no graph", values["hippo"] - values["hippo, no graph"]), flush=True)


if __name__ == "__main__":
    main()
