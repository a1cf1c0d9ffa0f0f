"""Wall time and peak memory from nothing to the first answer or map, of Causalist and of tools that are used alike.

    python -m tests.benchmarks.peers.first_map REPOSITORY... --venvs DIR [--runs 3] [--question TEXT]

DIR holds a virtual environment for each tool, named like its package: `aider-chat`, `code-review-graph`, `semble`,
`codebase-memory`; those that are missing are left out. Each run reads a fresh copy of a work tree with its
history, has an empty home, and is a process of its own; the tools take turns. Peak memory is the largest sum over the
process and all its descendants, sampled every 20 ms, of the memory that each does not share plus its part of what is
shared (PSS). Causalist answers a question without an index and leaves no process. `whole` builds its index first.
Aider makes its map of all files it knows, called as a library, which leaves out its own start. Semble has no model here
(`semble_peer`): that time is missing from its figures. Without a network a tool that downloads a binary cannot run.
"""

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_PEER = Path(__file__).with_name("semble_peer.py")
_AIDER = """
import sys, subprocess, os
from aider.repomap import RepoMap
class Model:
    def token_count(self, text): return len(text) // 4
class Io:
    def __getattr__(self, name): return lambda *a, **k: None
    def read_text(self, name, silent=False):
        try: return open(name, encoding="utf-8").read()
        except (OSError, UnicodeError): return None
root = sys.argv[1]
names = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True).stdout.split("\\0")
files = [os.path.join(root, name) for name in names if name and os.path.isfile(os.path.join(root, name))]
print(RepoMap(map_tokens=1024, root=root, main_model=Model(), io=Io()).get_repo_map([], files))
"""
_SAMPLE_SECONDS = 0.02


class Cost(NamedTuple):
    """Seconds of wall and of processor, MiB at most, and how it ended."""

    wall: float
    cpu: float
    peak: float
    code: int


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--venvs", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=600, help="after which a run is stopped")
    parser.add_argument("--question", default="where is the configuration read")
    parser.add_argument("--only", nargs="*", default=[], help="names of tools")
    wanted = parser.parse_args()
    for root in wanted.repositories:
        found: dict[str, list[Cost]] = {}
        for _ in range(wanted.runs):
            with tempfile.TemporaryDirectory() as folder:
                place = Path(folder)
                for name, (command, text) in commands(place / "tree", wanted.venvs, wanted.question).items():
                    if wanted.only and name not in wanted.only:
                        continue
                    copy_tree(root, place / "tree")
                    found.setdefault(name, []).append(run(command, text, place, wanted.seconds))
                    shutil.rmtree(place / "tree")
                    shutil.rmtree(place / "home", ignore_errors=True)
        for name, costs in found.items():
            cost = [statistics.median(column) for column in zip(*costs, strict=True)]
            ended = "" if not any(each.code for each in costs) else f", ended with {[each.code for each in costs]}"
            print(
                f"{root.name} {name}: {cost[0]:.1f} s wall, {cost[1]:.1f} s CPU, {cost[2]:.0f} MiB{ended}", flush=True
            )


def commands(tree: Path, venvs: Path, question: str) -> Mapping[str, tuple[list[str], str]]:
    """Return (command, standard input) by tool."""
    path = str(tree)
    ours = [sys.executable, "-m", "causalist"]
    job = json.dumps({"folder": path, "questions": [question]})
    every = {
        "causalist": ([*ours, "ask", question, "--repo", path, "--no-background"], ""),
        "causalist whole": ([*ours, "ask", question, "--repo", path, "--wait"], ""),
        "aider-chat": ([str(venvs / "aider-chat/bin/python"), "-c", _AIDER, path], ""),
        "code-review-graph": ([str(venvs / "code-review-graph/bin/code-review-graph"), "build", "--repo", path], ""),
        "semble": ([str(venvs / "semble/bin/python"), str(_PEER)], job),
        "codebase-memory": ([str(venvs / "codebase-memory/bin/ai-memory"), "scan"], ""),
    }
    return {name: each for name, each in every.items() if Path(each[0][0]).exists()}


def copy_tree(root: Path, tree: Path) -> None:
    """Write what is checked out, with its history, and without what a tool left there."""
    subprocess.run(["git", "clone", "-q", "--shared", str(root.resolve()), str(tree)], check=True)


def run(command: Sequence[str], text: str, place: Path, seconds: float) -> Cost:
    """Return the cost of a command with an empty home below `place`."""
    home = place / "home"
    home.mkdir()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    environment.pop("CI", None)
    before, began = os.times(), time.perf_counter()
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True,
        cwd=place / "tree", env=environment, start_new_session=True,
    )  # fmt: skip
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        process.stdin.write(text)
        process.stdin.close()
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(map(_memory_of, _tree_of(process.pid))))
        if time.perf_counter() - began > seconds:
            os.killpg(process.pid, signal.SIGKILL)
        time.sleep(_SAMPLE_SECONDS)
    wall, after = time.perf_counter() - began, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Cost(wall, cpu, peak / 1024, process.returncode)


def _tree_of(pid: int) -> list[int]:
    """Return a process and all its descendants."""
    found = [pid]
    for each in found:
        for task in _listed(f"/proc/{each}/task"):
            with suppress(OSError):
                found += map(int, Path(f"/proc/{each}/task/{task}/children").read_text(encoding="ascii").split())
    return found


def _listed(path: str) -> list[str]:
    with suppress(OSError):
        return os.listdir(path)  # noqa: PTH208 - names alone
    return []


def _memory_of(pid: int) -> int:
    """Return the KiB of a process, its part of shared pages included."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0


if __name__ == "__main__":
    main()
