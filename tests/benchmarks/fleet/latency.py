"""Seconds of questions over a fleet: `python -m tests.benchmarks.fleet.latency FOLDER [--questions N] [--from FLEET]`.

Questions are those from READMEs of `choose`, of the fleet FLEET if the one in FOLDER is made of copies. One process
asks all of them twice: the first time shards are opened as they are needed, the second time the last ones are open
already. Then `causalist fleet ask` is started anew for a few. Wall and processor time: the machine may be shared.
"""

import argparse
import resource
import subprocess
import sys
import time

import numpy as np

from causalist.fleet import Fleet
from causalist.fleet.access import FleetView
from causalist.fleet.question import ask_fleet
from tests.benchmarks.fleet.choose import make_questions

COLD = 8


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _report(title: str, seconds: list[float]) -> None:
    p50, p95, most = np.percentile(seconds, [50, 95, 100])
    print(f"{title}: n {len(seconds)}, p50 {p50:.3f} s, p95 {p95:.3f} s, most {most:.3f} s")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--from", dest="origin", default="")
    given = parser.parse_args()
    origin = Fleet.open(given.origin or given.folder)
    questions = [q.text for q in make_questions(FleetView.of(origin.file, origin.store))][: given.questions]
    fleet = Fleet.open(given.folder)
    view = FleetView.of(fleet.file, fleet.store)
    began = time.perf_counter()
    print(f"{len(view.catalog)} repositories; tables opened in {time.perf_counter() - began:.3f} s")
    for title in ("choice, first time", "choice, second time"):
        wall, cpu = [], []
        for question in questions:
            began, used = time.perf_counter(), _cpu()
            view.catalog.choose(question, 5, view.across)
            wall.append(time.perf_counter() - began)
            cpu.append(_cpu() - used)
        _report(f"{title}, wall", wall)
        _report(f"{title}, processor", cpu)
    for title in ("first time", "second time"):
        wall, cpu = [], []
        for question in questions:
            began, used = time.perf_counter(), _cpu()
            ask_fleet(view, question)
            wall.append(time.perf_counter() - began)
            cpu.append(_cpu() - used)
        _report(f"{title}, wall", wall)
        _report(f"{title}, processor", cpu)
    cold = []
    for question in questions[:COLD]:
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "causalist", "fleet", "ask", "--fleet", given.folder, question],
            check=True, capture_output=True,
        )  # fmt: skip
        cold.append(time.perf_counter() - began)
    _report("new process, wall", cold)
    print(f"memory at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB")


if __name__ == "__main__":
    main()
