"""Runs of pytest in copies of a work tree, and what the plugin said of them.

Copies are in the cache of the user, and code may be broken in them. In: the root of a repository. Out: a folder with
one copy that stays as it is and one for each worker, which is put right after each run. The work tree itself is only
read. What a killed process left is removed by the next one. Copied is what git tracks or shows as untracked, with
changes that are not committed, and ignored files beside tracked ones, such as generated modules and compiled
extensions. Without git, it is all but hidden folders and environments.

A run takes a copy, an interpreter, and names of tests. It gives the end of each test with the frames of its failure. A
process that hangs in one test is ended after the time limit of a test; so is one that is not done at the deadline.
"""

import hashlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from tempfile import gettempdir
from typing import Any, NamedTuple

from causalist._internal.forked_task import is_alive
from causalist.errors import CausalistError, GitError, IndexNotWritable, ProofFailed
from causalist.index.options import Progress
from causalist.model.index import Index
from causalist.observe.observed_calls import Freshness
from causalist.prove.proofs import FLAKY
from causalist.source.git import RunningGit, git_arguments, work_tree_top
from causalist.store import FOLDER
from causalist.store.index_folder import user_cache

_ABOUT = "about.json"
_SKIPPED = frozenset(
    (".git", ".hg", ".svn", FOLDER, "__pycache__", "node_modules", ".tox", ".nox", ".mypy_cache", ".ruff_cache",
     ".pytest_cache", ".hypothesis", ".eggs")
)  # fmt: skip
_MAX_IGNORED_BYTES = 64 << 20  # of one ignored file


class Stamp(NamedTuple):
    """Metadata by which a file of a copy is known to be as it was made."""

    size: int
    mtime: int
    mode: int


class Workspace:
    """Copies of the tree below `root`. `close` removes them."""

    def __init__(self, root: Path) -> None:
        self._root = root
        parent = user_cache() / "prove"
        self.folder = parent / f"{os.getpid()}-{time.time_ns():x}"
        try:
            parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _remove_abandoned(parent)
            self.folder.mkdir(mode=0o700)
            (self.folder / _ABOUT).write_text(json.dumps({"process": os.getpid()}), encoding="utf-8")
            _copy(root, self.folder / "tree", _paths(root))
        except OSError as error:
            self.close()
            raise IndexNotWritable(f"cannot copy {root} to {self.folder}: {error.strerror or error}") from error
        except CausalistError:
            self.close()
            raise

    @property
    def tree(self) -> Path:
        """The copy that stays as it is."""
        return self.folder / "tree"

    def digest(self) -> str:
        """Return a hash of the paths and contents of all files."""
        total = hashlib.sha256()
        for path, stamp in sorted(_scan(self.tree)):
            file = self.tree / path
            data = os.fsencode(file.readlink()) if stat.S_ISLNK(stamp.mode) else file.read_bytes()
            total.update(os.fsencode(path) + b"\0" + hashlib.sha256(data).digest())
        return total.hexdigest()[:16]

    def make_copy(self, number: int) -> "TreeCopy":
        """Return the copy of a worker."""
        return TreeCopy(self, self.folder / f"{number}")

    def close(self) -> None:
        """Remove the copies."""
        shutil.rmtree(self.folder, ignore_errors=True)


class TreeCopy:
    """One copy of a tree, in which tests run."""

    def __init__(self, workspace: Workspace, folder: Path) -> None:
        self._workspace = workspace
        self.root = folder / "tree"
        self.folder = folder  # for what belongs to a run and not to the tree
        folder.mkdir()
        shutil.copytree(workspace.tree, self.root, symlinks=True)
        self._stamps = dict(_scan(self.root))

    def write(self, path: str, data: bytes) -> None:
        """Replace the content of a file."""
        target = self.root / path
        target.unlink(missing_ok=True)  # it may be a link
        target.write_bytes(data)

    def restore(self) -> None:
        """Make all files as they were, and remove others."""
        present = dict(_scan(self.root))
        for path in present.keys() - self._stamps.keys():
            with suppress(OSError):
                (self.root / path).unlink()
        for path, stamp in self._stamps.items():
            if present.get(path) != stamp:
                source, target = self._workspace.tree / path, self.root / path
                target.parent.mkdir(parents=True, exist_ok=True)
                if target.is_dir() and not target.is_symlink():
                    shutil.rmtree(target, ignore_errors=True)
                target.unlink(missing_ok=True)
                shutil.copy2(source, target, follow_symlinks=False)
                self._stamps[path] = _stamp(target)


def _stamp(path: Path) -> Stamp:
    status = path.lstat()
    return Stamp(status.st_size, status.st_mtime_ns, status.st_mode)


def _scan(root: Path) -> Iterator[tuple[str, Stamp]]:
    """Yield the path below `root` and the stamp of each file."""
    for folder, names, files in os.walk(root):
        names.sort()
        links = [name for name in names if Path(folder, name).is_symlink()]
        for name in sorted((*files, *links)):
            path = Path(folder, name)
            with suppress(OSError):
                yield path.relative_to(root).as_posix(), _stamp(path)


def _paths(root: Path) -> Iterator[str]:
    """Yield the paths below `root` that are copied."""
    if work_tree_top(root) is None:
        yield from _walk(root)
        return
    try:
        listed = _list_files(root, "-c", "-o", "--exclude-standard")
        ignored = _list_files(root, "-o", "-i", "--exclude-standard")
    except GitError:
        yield from _walk(root)
        return
    yield from listed
    folders = {str(PurePosixPath(path).parent) for path in listed}
    for path in ignored:
        place = PurePosixPath(path)
        is_beside = str(place.parent) in folders and not _SKIPPED & set(place.parts)
        with suppress(OSError):
            if is_beside and (root / path).lstat().st_size <= _MAX_IGNORED_BYTES:
                yield path


def _list_files(root: Path, *arguments: str) -> list[str]:
    done = RunningGit(git_arguments(root), "ls-files", "-z", *arguments).finish().check()
    return sorted({os.fsdecode(each) for each in done.output.split(b"\0") if each})


def _walk(root: Path) -> Iterator[str]:
    for folder, names, files in os.walk(root):
        here = Path(folder)
        names[:] = sorted(n for n in names if n not in _SKIPPED and not (here / n / "pyvenv.cfg").exists())
        links = [name for name in names if (here / name).is_symlink()]
        yield from sorted((here / name).relative_to(root).as_posix() for name in (*files, *links))


def _copy(root: Path, target: Path, paths: Iterator[str]) -> None:
    """Copy files. Links that lead out of the tree become what they lead to, if that is a file."""
    target.mkdir()
    real = Path(os.path.realpath(root))
    for path in paths:
        source, made = root / path, target / path
        try:
            mode = source.lstat().st_mode
        except FileNotFoundError:
            continue  # deleted and not committed
        if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)) or _SKIPPED & set(PurePosixPath(path).parts[:1]):
            continue
        made.parent.mkdir(parents=True, exist_ok=True)
        if stat.S_ISLNK(mode):
            leads, end = source.readlink(), Path(os.path.realpath(source))
            if not leads.is_absolute() and end.is_relative_to(real):
                made.symlink_to(leads)
            elif end.is_file():
                shutil.copyfile(end, made)
            continue
        try:
            shutil.copy2(source, made)
        except FileNotFoundError:
            continue
        made.chmod(stat.S_IMODE(mode) | stat.S_IRUSR | stat.S_IWUSR)


def _remove_abandoned(parent: Path) -> None:
    """Remove the copies of processes that have ended."""
    for folder in sorted(parent.iterdir()):
        process = folder.name.partition("-")[0]
        if process.isdigit() and not is_alive(int(process)):
            for _ in range(_REMOVALS):  # tests of a killed process write on until they see that it has ended
                shutil.rmtree(folder, ignore_errors=True)
                if not folder.exists():
                    break
                time.sleep(_REMOVAL_SECONDS)


_PLUGIN = "_causalist_prove"
_PAUSE_SECONDS = 0.02
_REMOVALS, _REMOVAL_SECONDS = 8, 0.1
_COLLECTION_SECONDS = 120.0  # until the first test begins, and after the last one
_KEEP_SECONDS = 5.0
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


class EndedTest(NamedTuple):
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

    ended: dict[str, EndedTest] = field(default_factory=dict)  # by name in pytest
    ran: dict[str, tuple[Frame, ...]] = field(default_factory=dict)  # frames around the function, by name, "" outside
    started: dict[str, tuple[Frame, ...]] = field(default_factory=dict)  # around the start of a process, by name
    not_collected: dict[str, str] = field(default_factory=dict)  # text of the error by path
    loaded: tuple[bool, str] | None = None
    hung: str = ""
    is_over: bool = True  # False: the deadline came first
    code: int = 0
    tail: str = ""

    def add(self, part: "TestRun") -> None:
        """Take up a run of tests of the same kind; of how it ended, that of `part` counts."""
        self.ended |= part.ended
        self.ran |= part.ran
        self.started |= part.started
        self.not_collected |= part.not_collected
        self.loaded, self.hung, self.is_over = part.loaded, part.hung, part.is_over
        self.code, self.tail = part.code, part.tail

    def is_uncollected(self, name: str) -> bool:
        """Return True if a test did not begin, because its file, or all of pytest, could not be loaded."""
        is_loaded = bool(self.ended) or bool(self.hung) or self.code not in (2, 3, 4)
        return name.partition("::")[0] in self.not_collected or not is_loaded


@dataclass(slots=True)
class PlainRuns:
    """Runs of tests without a mutant as far as they got: a plain one, then one with a trace.

    `key` is a hash of what they depend on. `done` has the ids of the tests of which each run is over, and `hanging`
    those that do not end.
    """

    key: str
    runs: tuple[TestRun, TestRun] = field(default_factory=lambda: (TestRun(), TestRun()))
    done: tuple[set[str], set[str]] = field(default_factory=lambda: (set(), set()))
    hanging: set[str] = field(default_factory=set)

    def encode(self) -> dict[str, Any]:
        """Return a JSON document, with each frame once."""
        numbers: dict[Frame, int] = {}

        def number(frames: dict[str, tuple[Frame, ...]]) -> list[list[Any]]:
            return [[name, [numbers.setdefault(f, len(numbers)) for f in of]] for name, of in sorted(frames.items())]

        runs = [
            {
                "ended": [[each.name, each.test, each.outcome] for _, each in sorted(run.ended.items())],
                "ran": number(run.ran),
                "started": number(run.started),
                "not_collected": dict(sorted(run.not_collected.items())),
                "done": sorted(done),
            }
            for run, done in zip(self.runs, self.done, strict=True)
        ]
        frames = [list(each) for each in numbers]
        return {"key": self.key, "runs": runs, "hanging": sorted(self.hanging), "frames": frames}

    @classmethod
    def decode(cls, document: dict[str, Any] | None, key: str) -> "PlainRuns":
        """Return what a document has; nothing of one with another key."""
        found = cls(key)
        if document is None or document["key"] != key:
            return found
        frames = _frames(document["frames"])
        found.hanging.update(document["hanging"])
        for run, done, kept in zip(found.runs, found.done, document["runs"], strict=True):
            done.update(kept["done"])
            run.ended = {name: EndedTest(name, test, end, "", 0.0, ()) for name, test, end in kept["ended"]}
            run.ran = {name: tuple(frames[i] for i in of) for name, of in kept["ran"]}
            run.started = {name: tuple(frames[i] for i in of) for name, of in kept["started"]}
            run.not_collected = dict(kept["not_collected"])
        return found


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
    """Return the Python that runs the tests: `given`, else that of the repository's or the active environment.

    Without any, it is `running`.

    Raises ProofFailed for one that does not start or has no pytest.
    """
    names = ("Scripts/python.exe",) if os.name == "nt" else ("bin/python",)
    active = [Path(os.environ["VIRTUAL_ENV"])] if os.environ.get("VIRTUAL_ENV") else []
    own = (folder / name for folder in (*(root / each for each in _VENVS), *active) for name in names)
    program = os.fspath(given) if given is not None else next((os.fspath(p) for p in own if p.exists()), running)
    try:
        done = subprocess.run(
            [program, "-c", _PROBE], capture_output=True, timeout=60, cwd=gettempdir(), stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
        about = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise ProofFailed(f"cannot run {program} as a Python ({error}); give one with --python") from error
    if not about["pytest"]:
        raise ProofFailed(f"{program} has no pytest; install it there, or give the project's Python with --python")
    if os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
        return Interpreter(program, ())
    options = [option for name, option in (("pytest_cov", "--no-cov"), ("xdist", "-n0")) if about[name]]
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
    done: Collection[str] = (),
    trace: bool = False,
    keep: Callable[[TestRun], None] | None = None,
) -> TestRun:
    """Run tests of some files: those with the ids `tests`, or with the `names` that pytest gave them.

    Without either, all of them run; without files, all that pytest finds. Those with the names `done` are left out.
    `keep` gets what is known so far now and then.
    """
    inject, rows, plan = copy.folder / "inject", copy.folder / "rows.jsonl", copy.folder / "plan.json"
    inject.mkdir(exist_ok=True)
    shutil.copyfile(Path(__file__).with_name("plugin.py"), inject / f"{_PLUGIN}.py")
    rows.unlink(missing_ok=True)
    about = {
        "root": os.fspath(copy.root), "out": os.fspath(rows), "parent": os.getpid(), "tests": list(tests),
        "names": list(names), "done": sorted(done), "node": list(target), "trace": trace,
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
        _watch(process, rows, run, limits, keep)
    finally:
        _end(process)
    run.code = process.returncode
    _take_all(run, rows)
    run.tail = output.read_bytes()[-2000:].decode("utf-8", "replace")
    return run


def _environment(copy: TreeCopy, inject: Path, plan: Path, paths: Sequence[str]) -> dict[str, str]:
    """Return the environment of a run: imports find the copy before anything that is installed."""
    roots = [import_root(copy.root, path) for path in paths]
    roots += [copy.root / "src"] if (copy.root / "src").is_dir() else []
    before = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    search = [os.fspath(each) for each in (inject, *roots, copy.root)]
    # By the second one a mutant knows that a test runs; `prove` itself may run in a test.
    left_out = ("GIT_", "PYTEST_CURRENT_TEST")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
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


def _watch(
    process: "subprocess.Popen[bytes]",
    rows: Path,
    run: TestRun,
    limits: RunLimits,
    keep: Callable[[TestRun], None] | None,
) -> None:
    """Wait for the end of a process, or give it up."""
    position, current, since = 0, "", time.monotonic()
    kept, kept_at = 0, since
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
                complete = data[: data.rfind(b"\n") + 1]
                position += len(complete)
                for line in complete.splitlines():
                    row = json.loads(line)
                    if row[0] in ("start", "end"):
                        current, since = (str(row[1]) if row[0] == "start" else ""), now
        if keep is not None and position != kept and now - kept_at >= _KEEP_SECONDS:
            part = TestRun(is_over=False)
            _take_all(part, rows)
            keep(part)
            kept, kept_at = position, now
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


def _take_all(run: TestRun, rows: Path) -> None:
    for row in _read_rows(rows):
        _take(run, row)


def _take(run: TestRun, row: list[Any]) -> None:
    """Take up one row of the plugin."""
    match row:
        case ["end", str(name), str(test), str(outcome), str(phase), seconds, list(frames)]:
            run.ended[name] = EndedTest(name, test, outcome, phase, float(seconds), _frames(frames))
        case ["ran", name, list(frames)]:
            run.ran[name or ""] = _frames(frames)
        case ["started", str(name), list(frames)]:
            run.started[name] = _frames(frames)
        case ["collect", str(path), str(text), _]:
            run.not_collected[path] = text
        case ["loaded", bool(own), str(other)]:
            run.loaded = own, other


def describe_ends(ends: Sequence[tuple[EndedTest, EndedTest | None]]) -> str:
    """Return in words why a test that ended does not count."""
    outcomes = {each.outcome if each is not None else "missing" for pair in ends for each in pair}
    if any(again is None or one.outcome != again.outcome for one, again in ends):
        return FLAKY
    return "is skipped" if outcomes == {"skipped"} else "fails without a mutant"


def _frames(rows: Sequence[Sequence[Any] | None]) -> tuple[Frame, ...]:
    return tuple(
        ("", 0, "", 0, 0) if row is None else (str(row[0]), int(row[1]), str(row[2]), int(row[3]), int(row[4]))
        for row in rows
    )


@dataclass(frozen=True, slots=True)
class ProveOptions:
    """Bounds of an experiment. `python` None: that of the repository's environment, or the running one."""

    python: Path | None = None
    jobs: int = 1
    max_mutants: int = 12
    max_tests: int = 30
    max_seconds: float = 600.0
    test_seconds: float = 20.0


class Lab:
    """Copies of the tree, made when they are needed, and the interpreter of the project."""

    def __init__(
        self,
        index: Index,
        freshness: Freshness,
        root: Path,
        folder: Path,
        options: ProveOptions,
        deadline: float,
        progress: Progress,
    ) -> None:
        self.index, self.freshness, self.root, self.folder = index, freshness, root, folder
        self.options, self.deadline, self.progress = options, deadline, progress
        manifest = index.manifest
        state = "\n".join(f"{path}\t{blob}" for path, blob in zip(manifest.paths, manifest.blobs, strict=True))
        self.state = hashlib.sha256(state.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self._python: Interpreter | None = None
        self._workspace: Workspace | None = None
        self._copies: list[TreeCopy] = []
        self._digest = ""

    def __enter__(self) -> "Lab":
        return self

    def __exit__(self, *_: object) -> None:
        if self._workspace is not None:
            self._workspace.close()

    @property
    def python(self) -> Interpreter:
        """The interpreter of the project, looked for once."""
        if self._python is None:
            self._python = find_interpreter(self.root, self.options.python, sys.executable)
        return self._python

    def copies(self, n: int) -> list[TreeCopy]:
        """Return `n` copies of the tree. Raises IndexNotWritable, ProofFailed."""
        if self._workspace is None:
            self._workspace = Workspace(self.root)
        while len(self._copies) < n:
            self._copies.append(self._workspace.make_copy(len(self._copies)))
        return self._copies[:n]

    @property
    def plain_key(self) -> str:
        """A hash of all that a run without a mutant depends on: the whole copy, the interpreter and the limit."""
        if not self._digest:
            self.copies(1)
            assert self._workspace is not None
            parts = "\n".join((self._workspace.digest(), *map(str, self.python), str(self.options.test_seconds)))
            self._digest = hashlib.sha256(parts.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        return self._digest

    def is_as_indexed(self, path: str) -> bool:
        """Return True if the copy of a file is what the index has."""
        indexed_text = self.freshness.text_of(path)
        try:
            return bool(indexed_text) and (self.copies(1)[0].root / path).read_bytes() == indexed_text
        except OSError:
            return False
