"""Processes that are measured: CPU of a process and of all that it started, wall time, and memory that is held at once
by all of them (the sum of PSS, so that what they share counts once; Linux only)."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

TOP = Path(__file__).parents[3]
QUESTION = "where is the configuration read"
_SAMPLE_SECONDS = 0.05


class Run(NamedTuple):
    """`cpu` and `wall` in seconds, `peak` in MiB (0 where it was not looked at)."""

    cpu: float
    wall: float
    peak: float
    output: str


def run(command: Sequence[str], cache: Path, *, watch_memory: bool = False) -> Run:
    """Runs a command to its end. Raises SystemExit with its messages where it fails."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(TOP)}
    with TemporaryDirectory() as folder, (Path(folder) / "out").open("w+b") as out:
        start = time.perf_counter()
        child = subprocess.Popen(command, stdout=out, stderr=out, env=environment, process_group=0, cwd=folder)
        peak = 0.0
        status, usage = 0, None
        while usage is None:
            if watch_memory:
                pid, status, usage_now = os.wait4(child.pid, os.WNOHANG)
                if pid:
                    usage = usage_now
                else:
                    peak = max(peak, held(child.pid))
                    time.sleep(_SAMPLE_SECONDS)
            else:
                _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode("utf-8", "replace")
    if child.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {child.returncode}:\n{text}")
    return Run(usage.ru_utime + usage.ru_stime, wall, peak, text)


def held(group: int) -> float:
    """MiB that the processes of a group hold."""
    total = 0
    for folder in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            if folder.name.isdigit() and os.getpgid(int(folder.name)) == group:
                rows = (folder / "smaps_rollup").read_text().splitlines()
                total += sum(int(row.split()[1]) for row in rows if row.startswith("Pss:"))
    return total / 1024


def python(code: str, *arguments: object) -> list[str]:
    return [sys.executable, "-c", code, *map(str, arguments)]


INDEX = """
import sys
from causalist.index.collect import IndexOptions
from causalist.pipeline.repository import Repository
info = Repository.open(sys.argv[1], exact_root=True, options=IndexOptions(processes=int(sys.argv[2]))).info()
print(info.files, info.nodes, info.edges)
"""

# Parses what the index parses, with the same grammars, and looks at nothing.
RAW_PARSE = """
import sys, time
from pathlib import Path
from causalist.parse import dialect_of, load_grammar
from causalist.source import read_file, scan_folder
root = Path(sys.argv[1])
files = []
for entry in scan_folder(root).entries:
    source = read_file(root, entry) if dialect_of(entry.path) else ""
    if not isinstance(source, str):
        files.append((load_grammar(dialect_of(entry.path)).parser, source.data))
start = time.process_time()
for parser, data in files:
    parser.parse(data)
print(time.process_time() - start, len(files), sum(len(data) for _, data in files))
"""


def index(root: Path, cache: Path, processes: int = 1, *, watch_memory: bool = False) -> Run:
    return run(python(INDEX, root, processes), cache, watch_memory=watch_memory)


def ask(root: Path, cache: Path) -> Run:
    return run([sys.executable, "-m", "causalist", "ask", QUESTION, "--repo", str(root)], cache)


def raw_parse(root: Path, cache: Path) -> float:
    """Seconds of CPU."""
    return float(run(python(RAW_PARSE, root), cache).output.split()[0])


@contextmanager
def copied(repository: Path, *, history: bool = True) -> Iterator[tuple[Path, Path]]:
    """A copy without an index, and an empty cache; both are gone afterwards."""
    with TemporaryDirectory() as folder:
        root, cache = Path(folder) / repository.name, Path(folder) / "cache"
        ignored = shutil.ignore_patterns(".causalist", *(() if history else (".git",)))
        shutil.copytree(repository, root, ignore=ignored, symlinks=True)
        cache.mkdir()
        yield root, cache


def forget(root: Path, cache: Path) -> None:
    """As if nothing had been indexed."""
    shutil.rmtree(root / ".causalist", ignore_errors=True)
    shutil.rmtree(cache)
    cache.mkdir()
