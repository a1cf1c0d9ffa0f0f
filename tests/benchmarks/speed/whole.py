"""What a first index costs by stage, in terms of the raw parse of the same files in the same process.

For each repository the processor time of `causalist index --profile raw` without a cache, in one process; its stages;
and what does not get faster with more processes, from a run with eight. A run with eight processes counts the serial
part: what the first process does besides linking its own share. Eight processors would then need at least

    serial + parse / 8 + link / 4

since at most four processes link. Git reads the history beside all that.
"""

import json
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.speed.runs import copied, forget, run

_GROUPS = {
    "start": ("start",),
    "parse": ("parse: ", "prose: ", "compile", "read", "encode", "scan"),
    "link": ("link: ",),
    "words": ("words: ",),
    "history": ("history", "other processes"),
}
_PARALLEL_LINKING = ("link: files", "link: imports", "link: uses", "link: states", "link: mentions")


def measure(repositories: Sequence[Path], rounds: int) -> None:
    """Print a row for each repository, in terms of its raw parse, and the means."""
    columns = ("all", "without history", *_GROUPS, "rest", "serial", "of 8")
    print("repository".ljust(16), "raw s", *(name.rjust(max(len(name), 6)) for name in columns))
    rows = []
    for repository in repositories:
        with copied(repository) as (root, cache):
            found = [_one_round(root, cache) for _ in range(rounds)]
        row = {name: statistics.median(each[name] for each in found) for name in ("raw", *columns)}
        rows.append(row)
        _print_row(repository.name, row, columns)
    mean = {name: statistics.fmean(row[name] for row in rows) for name in ("raw", *columns)}
    _print_row("mean", mean, columns)


def _print_row(name: str, row: Mapping[str, float], columns: Sequence[str]) -> None:
    cells = (f"{row[each]:{max(len(each), 6)}.2f}" for each in columns)
    print(name.ljust(16), f"{row['raw']:5.2f}", *cells, flush=True)


def _one_round(root: Path, cache: Path) -> dict[str, float]:
    alone = _profile(root, cache, 1, raw=True)
    raw, stages = float(alone["raw_parse"]), alone["stages"]
    groups = {name: _sum_of(stages, begins) / raw for name, begins in _GROUPS.items()}
    whole = sum(stages.values()) / raw
    spread = _profile(root, cache, 8, raw=False)["stages"]
    serial = sum(s for name, s in spread.items() if name not in (*_PARALLEL_LINKING, "other processes", "decode")) / raw
    # Bodies are decoded where they are linked, the rest where it is collected; the first process decoded both.
    serial += spread.get("decode", 0.0) / raw
    linking = sum(stages.get(name, 0.0) for name in _PARALLEL_LINKING) / raw
    parsing = groups["parse"]
    return {
        "raw": raw,
        "all": whole,
        "without history": whole - groups["history"],
        **groups,
        "rest": whole - sum(groups.values()),
        "serial": serial,
        "of 8": serial + parsing / 8 + linking / 4,
    }


def _sum_of(stages: Mapping[str, float], begins: tuple[str, ...]) -> float:
    return sum(seconds for name, seconds in stages.items() if name.startswith(begins))


def _profile(root: Path, cache: Path, processes: int, *, raw: bool) -> dict[str, Any]:
    forget(root, cache)
    command = [sys.executable, "-m", "causalist", "index", "--repo", str(root), "--json", "--processes", str(processes)]
    output = run([*command, "--profile", *(["raw"] if raw else [])], cache).output
    found: dict[str, Any] = json.loads(output[output.index("{") :])
    return found
