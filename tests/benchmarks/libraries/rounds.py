"""Run the same task with several programs in turn, each in a process of its own, and print medians and ratios."""

import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.benchmarks.speed.runs import run

_MEASURED = ("wall", "cpu", "importing", "peak")


def compare(task: str, interpreters: Mapping[str, str], command: Sequence[object], rounds: int) -> None:
    """Print, for each program, medians over `rounds` and its ratio to the first program of the same round.

    A run is `interpreter script program task argument ...`; `command` has the script and the arguments."""
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in interpreters}
    for _ in range(rounds):
        for name, interpreter in interpreters.items():
            with TemporaryDirectory() as cache:
                words = [interpreter, str(command[0]), name, task, *map(str, command[1:])]
                done = run(words, Path(cache), watch_memory=True)
            result = json.loads(done.output)
            # Sampling sees child processes and misses short peaks of the process itself.
            runs[name].append(result | {"peak": max(done.peak, result["peak"])})
    first = next(iter(interpreters))
    for name, results in runs.items():
        medians = {key: statistics.median(each[key] for each in results) for key in _MEASURED}
        ratios = {
            key: statistics.median(
                each[key] / max(ours[key], 1e-9) for each, ours in zip(results, runs[first], strict=True)
            )
            for key in ("wall", "cpu")
        }
        print(
            f"{task:8} {name:10} {medians['wall']:8.3f} s wall ({ratios['wall']:.2f} x), {medians['cpu']:8.3f} s CPU "
            f"({ratios['cpu']:.2f} x), start {1000 * medians['importing']:.0f} ms CPU, {medians['peak']:.0f} MiB, "
            f"{results[0]['processes']} processes; {results[0]['found']}",
            flush=True,
        )
