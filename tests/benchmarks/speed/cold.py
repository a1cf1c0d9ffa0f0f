"""A first index in terms of the raw parse of the same files in the same round: CPU with and without history, wall time
of one and of two processes (memory is not looked at: that takes a processor); and what Aider's map of them costs."""

import statistics
from pathlib import Path

from tests.benchmarks.speed.runs import copied, forget, index, raw_parse, run

# Aider's map of all files with grammars that it knows, as for a first question. What it costs to import is not counted.
_AIDER = """
import sys, time
from pathlib import Path
from aider.io import InputOutput
from aider.models import Model
from aider.repomap import RepoMap
root, names = sys.argv[1], Path(sys.argv[2]).read_text().splitlines()
made = RepoMap(map_tokens=1024, root=root, main_model=Model("gpt-4o"), io=InputOutput(yes=True, pretty=False))
start = time.process_time()
text = made.get_repo_map([], [f"{root}/{name}" for name in names])
print()
print(time.process_time() - start, len(text or ""))
"""
_NAMES = """
import sys
from pathlib import Path
from causalist.parse import dialect_of
from causalist.source import scan_folder
print("\\n".join(e.path for e in scan_folder(Path(sys.argv[1])).entries if dialect_of(e.path)))
"""


def measure(repository: Path, rounds: int, aider: str | None) -> None:
    ratios: dict[str, list[float]] = {}
    raws: list[float] = []
    with copied(repository) as (root, cache), copied(repository, history=False) as (bare, bare_cache):
        files = ""
        for _ in range(rounds):
            raw = raw_parse(root, cache)
            raws.append(raw)
            walls = {}
            for name, folder, at, processes in (
                ("without history", bare, bare_cache, 1),
                ("with history", root, cache, 1),
                ("with history, two processes", root, cache, 2),
            ):
                forget(folder, at)
                done = index(folder, at, processes)
                ratios.setdefault(f"CPU {name}", []).append(done.cpu / raw)
                walls[name] = done.wall
                files = done.output.strip()
            ratios.setdefault("wall of one process / two", []).append(
                walls["with history"] / walls["with history, two processes"]
            )
            if aider:
                ratios.setdefault("CPU of Aider's map", []).append(_aider(aider, bare, bare_cache) / raw)
    print(f"{repository.name}: {files} files, nodes, edges; raw parse {statistics.median(raws):.2f} s of CPU")
    for name, values in ratios.items():
        unit = "" if name.startswith("wall") else " x raw parse"
        print(f"  {name}: {statistics.median(values):.2f}{unit} ({min(values):.2f} to {max(values):.2f})")
    if aider:
        pairs = zip(ratios["CPU without history"], ratios["CPU of Aider's map"], strict=True)
        print(f"  CPU without history: {statistics.median(a / b for a, b in pairs):.2f} x Aider's map", flush=True)


def _aider(python: str, root: Path, cache: Path) -> float:
    import sys

    names = cache / "names.txt"
    names.write_text(run([sys.executable, "-c", _NAMES, str(root)], cache).output)
    for left in root.glob(".aider*"):  # its cache of tags
        run(["rm", "-r", str(left)], cache)
    return float(run([python, "-c", _AIDER, str(root), str(names)], cache).output.splitlines()[-1].split()[0])
