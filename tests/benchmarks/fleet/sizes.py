"""Costs of fleets of several sizes.

    python -m tests.benchmarks.fleet.sizes index FLEET [--workers N]     # what is not indexed yet
    python -m tests.benchmarks.fleet.sizes tables FLEET                  # the tables over the fleet alone
    python -m tests.benchmarks.fleet.sizes ask FLEET [--from FLEET] [--questions N]
    python -m tests.benchmarks.fleet.sizes fit FILE                      # exponents over the lines of several runs

Each run prints one line of JSON. Seconds are processor time, of children too, unless their name ends in `_wall`, as
the machine may be shared. Questions are those of READMEs of `--from`, for a fleet of copies. `fit` prints, for each
figure that grows, the exponent of the least squares line through the logarithms of sizes and figures, over all sizes
and over the last two.
"""

import argparse
import json
import math
import resource
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from causalist.fleet import Fleet, FleetStore, FleetView, IndexingOptions, ask_fleet
from causalist.fleet.choice import REPOSITORIES, WORDS
from causalist.fleet.links.join import LINKS
from tests.benchmarks.fleet.choose import make_questions

Row = dict[str, Any]
_FIXED = {"repositories", "questions", "workers", "failed", "seconds_of_workers"}  # what does not grow


def _seconds() -> float:
    parts = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in parts)


@contextmanager
def _timed(row: Row, name: str) -> Iterator[None]:
    began, used = time.perf_counter(), _seconds()
    yield
    row[name] = round(_seconds() - used, 4)
    row[f"{name}_wall"] = round(time.perf_counter() - began, 3)


def _sizes(store: FleetStore) -> Row:
    shards = [record for name in store.record_names() if (record := store.read_record(name))]
    row: Row = {"repositories": len(shards), "files": sum(each["n_files"] for each in shards)}
    for kind in ("index", "text", WORDS, "publishes", "uses"):
        paths = [store.local_object(each["objects"][kind], kind) for each in shards if kind in each["objects"]]
        row[f"{kind}_bytes"] = sum(path.stat().st_size for path in paths)
    for name in (WORDS, REPOSITORIES, LINKS):
        path = store.local_table(name)
        row[f"table_{name}_bytes"] = path.stat().st_size if path else 0
    return row


def _peaks(row: Row) -> None:
    row["peak_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)
    row["peak_of_a_worker_mb"] = round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3)


class _Watch(threading.Thread):
    """Samples the processor time of the processes that this one started."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.seconds: dict[int, float] = {}

    def run(self) -> None:
        while True:
            for process in psutil.Process().children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    used = process.cpu_times()
                    self.seconds[process.pid] = used.user + used.system + used.children_user + used.children_system
            time.sleep(0.5)


def measure_index(fleet: Fleet, workers: int) -> Row:
    """Return what it costs to index the members that are not yet."""
    before = {each.name for each in fleet.status().shards}
    row: Row = {"workers": workers}
    watch = _Watch()
    watch.start()
    with _timed(row, "index"):
        done = fleet.index(options=IndexingOptions(workers=workers))
    new = [each for each in done if each.name not in before]
    row |= {"new": len(new), "new_files": sum(each.n_files for each in new), "failed": sum(bool(e.error) for e in done)}
    row["index_per_1000_files"] = round(1000 * row["index"] / max(row["new_files"], 1), 3)
    row["seconds_of_workers"] = sorted((round(each, 1) for each in watch.seconds.values()), reverse=True)[:workers]
    _peaks(row)
    return row | _sizes(fleet.store)


def measure_tables(fleet: Fleet) -> Row:
    """Return what it costs to write the tables over the fleet."""
    row: Row = {}
    with _timed(row, "tables"):
        fleet.write_tables()
    _peaks(row)
    return row | _sizes(fleet.store)


def measure_questions(folder: Path, origin: Path, n: int) -> Row:
    """Return what it costs to open a fleet, to choose from it and to ask it."""
    first = Fleet.open(origin)
    questions = [q.text for q in make_questions(FleetView.of(first.file, first.store))][:n]
    row: Row = {"questions": len(questions)}
    with _timed(row, "open_list"):
        fleet = Fleet.open(folder)
    view = FleetView.of(fleet.file, fleet.store)
    with _timed(row, "open_catalog"):
        row["repositories"] = len(view.catalog)
    with _timed(row, "open_edges"):
        row["edges"] = len(view.across)
    with _timed(row, "find"):
        view.catalog.with_names_like("tokenizer")
    for title, ask in (
        ("choose_first", lambda question: view.catalog.choose(question, 5, view.across)),
        ("choose", lambda question: view.catalog.choose(question, 5, view.across)),
        ("ask_first", lambda question: ask_fleet(view, question)),
        ("ask", lambda question: ask_fleet(view, question)),
    ):
        seconds, walls = [], []
        for question in questions:
            began, used = time.perf_counter(), _seconds()
            ask(question)
            seconds.append(_seconds() - used)
            walls.append(time.perf_counter() - began)
        for percent in (50, 95):
            row[f"{title}_p{percent}"] = round(float(np.percentile(seconds, percent)), 4)
            row[f"{title}_p{percent}_wall"] = round(float(np.percentile(walls, percent)), 3)
    _peaks(row)
    return row


def fit(path: Path) -> None:
    """Print the growth exponents of the figures in the lines of a file, by the number of repositories."""
    rows = [json.loads(line) for line in path.read_text().splitlines() if line.startswith("{")]
    for name in sorted(
        {name for row in rows for name in row}
        - {"repositories", "questions", "workers", "failed", "seconds_of_workers"}
    ):
        points = sorted({row["repositories"]: row[name] for row in rows if row.get(name, 0) > 0}.items())
        if len(points) > 1:
            x, y = (np.log([point[i] for point in points]) for i in (0, 1))
            slope, start = np.polyfit(x, y, 1)
            worst = float(np.abs(y - slope * x - start).max())
            last = (y[-1] - y[-2]) / (x[-1] - x[-2])
            print(f"{name:24} {slope:5.2f} (off by at most {100 * (math.exp(worst) - 1):.0f} %), last two {last:5.2f}: "
                  f"{', '.join(f'{n}: {value:g}' for n, value in points)}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("index", "tables", "ask", "fit"))
    parser.add_argument("place", type=Path)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--from", dest="origin", type=Path, default=None)
    parser.add_argument("--questions", type=int, default=20)
    given = parser.parse_args()
    if given.what == "fit":
        fit(given.place)
    elif given.what == "ask":
        print(json.dumps(measure_questions(given.place, given.origin or given.place, given.questions)))
    elif given.what == "tables":
        print(json.dumps(measure_tables(Fleet.open(given.place))))
    else:
        print(json.dumps(measure_index(Fleet.open(given.place), given.workers)))


if __name__ == "__main__":
    main()
