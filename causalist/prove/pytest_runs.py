"""Runs of pytest in a copy of the tree, and what the plugin said of them.

In: a copy, an interpreter, names of tests. Out: the end of each test with the frames of its failure. A process that
hangs in one test is ended after the time limit of a test; so is one that is not done at the deadline.
"""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from tempfile import gettempdir
from typing import Any, NamedTuple

from causalist.errors import ProofFailed
from causalist.prove.workspace import TreeCopy

_PLUGIN = "_causalist_prove"
_PAUSE_SECONDS = 0.02
_COLLECTION_SECONDS = 120.0  # until the first test begins, and after the last one
_VENVS = (".venv", "venv", "env")
_PROBE = """
import importlib.util, json, sys
found = {name: importlib.util.find_spec(name) is not None for name in ("pytest", "pytest_cov", "xdist")}
print(json.dumps({**found, "version": list(sys.version_info[:2])}))
"""

COLLECTION = "collect"  # in place of a test or a phase: what comes before any test
# path ("" for code from elsewhere), first line, name, 1 for a function, line that ran
Frame = tuple[str, int, str, int, int]


class Interpreter(NamedTuple):
    """The Python of a project, with the options of pytest that its plug-ins need."""

    program: str
    options: tuple[str, ...]


class Ended(NamedTuple):
    """The end of a test: "passed", "failed" or "skipped", in the phase `phase` of pytest. `test` is its id."""

    name: str
    test: str
    outcome: str
    phase: str
    seconds: float
    frames: tuple[Frame, ...]


@dataclass(slots=True)
class TestRun:
    """A run of pytest. `hung` is the test that did not end in time, "" if none; `tail` the end of the output."""

    ended: dict[str, Ended] = field(default_factory=dict)  # by name in pytest
    ran: dict[str, tuple[Frame, ...]] = field(default_factory=dict)  # frames around the function, by name, "" outside
    not_collected: dict[str, str] = field(default_factory=dict)  # text of the error by path
    loaded: tuple[bool, str] | None = None
    hung: str = ""
    is_over: bool = True  # False: the deadline came first
    code: int = 0
    tail: str = ""


class BrokenFunction(NamedTuple):
    """A function by its place: 1-based first and last line."""

    path: str
    first: int
    last: int
    name: str


class RunLimits(NamedTuple):
    """Seconds for one test, and the time of the monotonic clock at which all ends."""

    test_seconds: float
    deadline: float


def find_interpreter(root: Path, given: Path | None, running: str) -> Interpreter:
    """Return the Python that runs the tests: `given`, else that of the repository's environment, else `running`.

    Raises ProofFailed for one that does not start or has no pytest.
    """
    names = ("Scripts/python.exe",) if os.name == "nt" else ("bin/python",)
    own = (root / folder / name for folder in _VENVS for name in names)
    program = os.fspath(given) if given is not None else next((os.fspath(p) for p in own if p.exists()), running)
    try:
        done = subprocess.run(
            [program, "-c", _PROBE], capture_output=True, timeout=60, cwd=gettempdir(), stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
        found = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise ProofFailed(f"cannot run {program} as a Python ({error}); give one with --python") from error
    if not found["pytest"]:
        raise ProofFailed(f"{program} has no pytest; install it there, or give the project's Python with --python")
    if os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
        return Interpreter(program, ())
    options = [option for name, option in (("pytest_cov", "--no-cov"), ("xdist", "-n0")) if found[name]]
    return Interpreter(program, tuple(options))


def run_tests(
    copy: TreeCopy,
    python: Interpreter,
    target: BrokenFunction,
    files: Sequence[str],
    limits: RunLimits,
    *,
    tests: Sequence[str] = (),
    names: Sequence[str] = (),
    trace: bool = False,
) -> TestRun:
    """Run tests of some files: those with the ids `tests`, or with the `names` that pytest gave them.

    Without either, all of them run; without files, all that pytest finds.
    """
    inject, rows, plan = copy.folder / "inject", copy.folder / "rows.jsonl", copy.folder / "plan.json"
    inject.mkdir(exist_ok=True)
    shutil.copyfile(Path(__file__).with_name("plugin.py"), inject / f"{_PLUGIN}.py")
    rows.unlink(missing_ok=True)
    about = {
        "root": os.fspath(copy.root), "out": os.fspath(rows), "parent": os.getpid(), "tests": list(tests),
        "names": list(names), "node": list(target), "trace": trace,
    }  # fmt: skip
    plan.write_text(json.dumps(about), encoding="utf-8")
    given = ["-q", "--tb=no", "--maxfail=0", "--continue-on-collection-errors", f"--rootdir={copy.root}"]
    given += ["-o", f"cache_dir={copy.folder / 'cache'}", *python.options]
    command = [python.program, "-m", "pytest", "-p", _PLUGIN, *given, "--", *files]
    output = copy.folder / "output.txt"
    with output.open("wb") as out:
        process = subprocess.Popen(
            command,
            cwd=copy.root,
            env=_environment(copy, inject, plan, (target.path, *files)),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=os.name != "nt",
        )
    run = TestRun()
    try:
        _watch(process, rows, run, limits)
    finally:
        _end(process)
    run.code = process.returncode
    for row in _read_rows(rows):
        _take(run, row)
    run.tail = output.read_bytes()[-2000:].decode("utf-8", "replace")
    return run


def _environment(copy: TreeCopy, inject: Path, plan: Path, paths: Sequence[str]) -> dict[str, str]:
    """Return the environment of a run: imports find the copy before anything that is installed."""
    roots = [import_root(copy.root, path) for path in paths]
    roots += [copy.root / "src"] if (copy.root / "src").is_dir() else []
    before = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    search = [os.fspath(each) for each in (inject, *roots, copy.root)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return environment | {
        "PYTHONPATH": os.pathsep.join(dict.fromkeys([*search, *filter(None, before)])),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "CAUSALIST_PROVE": os.fspath(plan),
    }


def import_root(root: Path, path: str) -> Path:
    """Return the folder from which a file is imported: above its packages."""
    folder = root / PurePosixPath(path).parent
    while folder != root and (folder / "__init__.py").exists():
        folder = folder.parent
    return folder


def _watch(process: "subprocess.Popen[bytes]", rows: Path, run: TestRun, limits: RunLimits) -> None:
    """Wait for the end of a process, or give it up."""
    position, current, since = 0, "", time.monotonic()
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_PAUSE_SECONDS)
            return
        now = time.monotonic()
        if now >= limits.deadline:
            run.is_over = False
            return
        with suppress(OSError):
            size = rows.stat().st_size
            if size != position:
                with rows.open("rb") as file:
                    file.seek(position)
                    data = file.read()
                whole = data[: data.rfind(b"\n") + 1]
                position += len(whole)
                for line in whole.splitlines():
                    row = json.loads(line)
                    if row[0] in ("start", "end"):
                        current, since = (str(row[1]) if row[0] == "start" else ""), now
        if now - since > (limits.test_seconds if current else _COLLECTION_SECONDS):
            run.hung = current or COLLECTION
            return


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process and those that it started."""
    if os.name == "nt":
        process.kill()
    else:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _read_rows(path: Path) -> Iterator[list[Any]]:
    try:
        data = path.read_bytes()
    except OSError:
        return
    for line in data.split(b"\n"):
        with suppress(ValueError):
            row = json.loads(line)
            if isinstance(row, list):
                yield row


def _take(run: TestRun, row: list[Any]) -> None:
    """Take up one row of the plugin."""
    match row:
        case ["end", str(name), str(test), str(outcome), str(phase), seconds, list(frames)]:
            run.ended[name] = Ended(name, test, outcome, phase, float(seconds), _frames(frames))
        case ["ran", name, list(frames)]:
            run.ran[name or ""] = _frames(frames)
        case ["collect", str(path), str(text), _]:
            run.not_collected[path] = text
        case ["loaded", bool(own), str(other)]:
            run.loaded = own, other


def _frames(rows: Sequence[Sequence[Any] | None]) -> tuple[Frame, ...]:
    return tuple(
        ("", 0, "", 0, 0) if row is None else (str(row[0]), int(row[1]), str(row[2]), int(row[3]), int(row[4]))
        for row in rows
    )


def ends_by_test(run: TestRun) -> Mapping[str, list[Ended]]:
    """Return the ends of the tests of a run by the ids of the tests."""
    found: dict[str, list[Ended]] = {}
    for each in run.ended.values():
        found.setdefault(each.test, []).append(each)
    return found
