"""Growth with the number of files: time and memory of a first index, and of a cold answer, on synthetic monorepos."""

import json
import statistics
import time
from itertools import pairwise
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks.speed import monorepo, plots
from tests.benchmarks.speed.runs import ask, index, raw_parse
from tests.edits import begin

_ASKS = 3
MEASURES = {
    "index_cpu": "CPU of a first index, s",
    "raw_cpu": "CPU of the raw parse, s",
    "peak": "memory of a first index, MiB",
    "ask_cpu": "CPU of a cold answer, s",
}


def measure(sizes: list[int], kept: Path) -> None:
    """Adds to the rows in the file `kept`, JSON, one for each size; those that it has are not measured again."""
    rows: list[dict[str, float]] = json.loads(kept.read_text()) if kept.exists() else []
    for n_files in sorted(set(sizes) - {int(row["wanted"]) for row in rows}):
        rows.append(_measured(n_files))
        rows.sort(key=lambda row: row["wanted"])
        kept.write_text(json.dumps(rows, indent=1) + "\n")
        print({name: round(value, 3) for name, value in rows[-1].items()}, flush=True)
    tell(rows)


def _measured(n_files: int) -> dict[str, float]:
    with TemporaryDirectory() as folder:
        root, cache = Path(folder) / "monorepo", Path(folder) / "cache"
        root.mkdir()
        cache.mkdir()
        size = monorepo.write(root, n_files)
        begin(root)
        raw = raw_parse(root, cache)
        made = index(root, cache, 2, watch_memory=True)
        files, nodes, edges = map(int, made.output.split())
        time.sleep(2.2)
        ask(root, cache)
        asked = statistics.median(ask(root, cache).cpu for _ in range(_ASKS))
    return {
        "wanted": n_files, "files": files, "bytes": size, "nodes": nodes, "edges": edges, "raw_cpu": raw,
        "index_cpu": made.cpu, "index_wall": made.wall, "peak": made.peak, "ask_cpu": asked,
    }  # fmt: skip


def slope(rows: list[dict[str, float]], name: str) -> float:
    """Of a line through the logarithms, by least squares: 1 is linear growth."""
    points = [(log(row["files"]), log(row[name])) for row in rows]
    mean_x, mean_y = (statistics.fmean(each) for each in zip(*points, strict=True))
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


def tell(rows: list[dict[str, float]]) -> None:
    for name, title in MEASURES.items():
        steps = ", ".join(f"{_between(a, b, name):.2f}" for a, b in pairwise(rows))
        if len(rows) > 1:
            print(f"{title}: log-log slope {slope(rows, name):.2f} (from size to size: {steps})")


def _between(one: dict[str, float], other: dict[str, float], name: str) -> float:
    return log(other[name] / one[name]) / log(other["files"] / one["files"])


def draw(kept: Path, folder: Path) -> None:
    """A plot for each measure, from the rows in `kept`."""
    rows = json.loads(kept.read_text())
    folder.mkdir(parents=True, exist_ok=True)
    for name, title in MEASURES.items():
        points = [(row["files"], row[name]) for row in rows]
        text = plots.log_log(title, "files", points, slope(rows, name))
        (folder / f"{name.replace('_', '-')}.svg").write_text(text, encoding="utf-8")
