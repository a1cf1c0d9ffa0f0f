"""Runs of a command under observation, and what their record files say in terms of the graph.

In: the folder of an index, a command. Out: a folder `observe-<process>-<time>` with the recorder, which each Python
process below the command loads by a `sitecustomize` on PYTHONPATH, and later the files that it wrote. Such a folder is
deleted once it is in the store (`observed_calls.py`), so that what a killed run left is taken up by the next one.

A command may write profiles of coverage, too. These say what each test ran, but have no callers, so that no call comes
of them. `go test` writes one profile for all tests. After such a command each test is run once more, alone, as long as
that takes no longer than the command itself or `_MIN_SECONDS`; packages are compiled once.
"""

import json
import os
import re
import shutil
import subprocess
import time
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from causalist._internal.forked_task import is_alive
from causalist.errors import IndexNotWritable, UsageError
from causalist.model.graph import CodeGraph
from causalist.model.index import Index
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind, last_name, split_id
from causalist.navigate.coverage import TestNodes, definitions_by_test
from causalist.navigate.coverage_files import find_coverage_files
from causalist.navigate.marked_tests import mark_tests
from causalist.parse import dialect_of, find_secrets, mask_secrets

_GO_FOLDER = "go"
_NAMES = "tests.json"
_MIN_SECONDS = 10.0
_PACKAGES = "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}\t{{.Dir}}{{end}}"
# Of the flags of `go test`: those that take a value in the next argument if it is not given by "=".
_FLAGS_WITH_VALUE = frozenset({
    "-run", "-bench", "-benchtime", "-count", "-cpu", "-timeout", "-parallel", "-p", "-tags", "-mod", "-modfile", "-o",
    "-exec", "-covermode", "-coverpkg", "-coverprofile", "-ldflags", "-gcflags", "-skip", "-shuffle", "-vet", "-list",
    "-fuzz", "-fuzztime",
})  # fmt: skip


def run_go_tests(folder: Path, command: Sequence[str], environment: Mapping[str, str], seconds: float) -> int:
    """Run each test of the packages of a `go test` command with a profile in the folder of a run; return their number.

    `seconds` is the time that the command took. Nothing that fails here is an error of the command.
    """
    if len(command) < 2 or Path(command[0]).stem != "go" or command[1] != "test":
        return 0
    flags, packages = _split(command[2:])
    into, ends, names = folder / _GO_FOLDER, time.monotonic() + max(seconds, _MIN_SECONDS), dict[str, str]()
    with suppress(OSError, subprocess.SubprocessError):
        into.mkdir(exist_ok=True)
        listed = _output([command[0], "list", "-f", _PACKAGES, *packages], environment, ends)
        for number, line in enumerate(filter(None, listed.splitlines())):
            package, _, place = line.partition("\t")
            program = into / f"{number}.test"
            built = ["-c", "-cover", "-coverpkg=./...", *flags, "-o", str(program), package]
            _output([command[0], "test", *built], environment, ends)
            tests = _output([str(program), "-test.list", "^Test"], environment, ends, place).split()
            for test in tests:
                profile = into / f"{len(names)}.out"
                alone = [str(program), f"-test.run=^{test}$", f"-test.coverprofile={profile}"]
                _output(alone, environment, ends, place)
                names[profile.name] = test
                (into / _NAMES).write_text(json.dumps(names), encoding="utf-8")
            program.unlink(missing_ok=True)
    return len(names)


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the flags of a build and the packages of a `go test` command.

    >>> _split(["-v", "-run", "X", "-tags=a", "./..."])
    (['-tags=a'], ['./...'])
    """
    flags, packages, rest = list[str](), list[str](), list(arguments)
    while rest:
        word = rest.pop(0)
        if word in ("-args", "--args"):
            break
        name, equals, _ = word.partition("=")
        if not word.startswith("-"):
            packages.append(word)
            continue
        value = [rest.pop(0)] if not equals and name in _FLAGS_WITH_VALUE and rest else []
        if name in ("-tags", "-mod", "-modfile", "-race"):
            flags += [word, *value]
    return flags, packages


def _output(command: Sequence[str], environment: Mapping[str, str], ends: float, place: str | None = None) -> str:
    """Return what a command writes. Raises OSError, and SubprocessError once the time `ends`."""
    seconds_left = ends - time.monotonic()
    if seconds_left <= 0:
        raise subprocess.TimeoutExpired(list(command), 0.0)
    done = subprocess.run(
        list(command),
        env=dict(environment),
        cwd=place,
        capture_output=True,
        text=True,
        timeout=seconds_left,
        errors="replace",
    )
    return done.stdout


def read_profiles(folder: Path, since: int, index: Index, paths: Collection[str]) -> dict[int, set[int]]:
    """Return what each test ran, by data files at the usual places that are no older than `since`, in seconds.

    `paths` are those of the files that are as they were when the run began.
    """
    with suppress(OSError, ValueError):
        root = Path((folder / "files.txt").read_text(encoding="utf-8", errors="surrogateescape").partition("\0")[0])
        files: dict[Path, str] = {}
        for path in find_coverage_files(root, index.manifest.paths):
            with suppress(OSError):
                if path.stat().st_mtime >= since:
                    files[path] = ""
        names = folder / _GO_FOLDER / _NAMES
        if names.exists():
            written = json.loads(names.read_text(encoding="utf-8"))
            files |= {names.with_name(str(name)): str(test) for name, test in written.items()}
        if files:
            return definitions_by_test(
                index, files, paths, lambda path: (root / os.fspath(path)).read_text(encoding="utf-8", errors="replace")
            )
    return {}


_PREFIX = "observe-"
_ABOUT = "run.json"
_INJECTED = "inject"
_RECORDER = "_causalist_recorder.py"
_NODE_RECORDER = "recorder.cjs"
_NODE_DIALECTS = frozenset({"javascript", "typescript", "tsx"})
_DIALECTS = _NODE_DIALECTS | {"python"}
_FUNCTION = 0x1  # flag of code objects of functions: they have fast local variables
_MODULE = "<module>"
_HELD_KINDS = frozenset({NodeKind.CONSTANT, NodeKind.FIELD})

# Runs before the program. It steps out of the way of a `sitecustomize` that was there before.
_SITECUSTOMIZE = '''"""Loads the recorder of `causalist observe`, then the sitecustomize that would have been loaded."""

import os
import sys

_own = os.path.dirname(os.path.abspath(__file__))
try:
    sys.path[:] = [each for each in sys.path if os.path.abspath(each or ".") != _own]
    sys.path.insert(0, _own)
    import _causalist_recorder

    sys.path.remove(_own)
    _causalist_recorder.start(os.path.dirname(_own))
except Exception as error:
    sys.stderr.write("causalist observe: not recorded: %r\\n" % (error,))

from importlib.machinery import PathFinder  # noqa: E402

_spec = PathFinder.find_spec("sitecustomize", sys.path)
if _spec is not None and _spec.loader is not None and os.path.dirname(os.path.abspath(_spec.origin or "")) != _own:
    __file__, __spec__ = _spec.origin, _spec
    _spec.loader.exec_module(sys.modules[__name__])
'''


class RunFolder(NamedTuple):
    """A run that was begun: `command` without secrets, `time` in seconds, `blobs` of the files of code by path."""

    folder: Path
    command: str
    time: int
    process: int
    blobs: Mapping[str, str]


@dataclass(slots=True)
class ObservedCalls:
    """Calls of a run between nodes, by (caller, callee), and the nodes that ran in each test.

    `direct` counts calls without a frame between, `through` those by way of code from elsewhere. `n_runs` counts the
    starts of each callable. `rows` are the 0-based rows of a call, -1 if unknown.
    """

    direct: dict[tuple[int, int], int] = field(default_factory=lambda: defaultdict(int))
    through: dict[tuple[int, int], int] = field(default_factory=lambda: defaultdict(int))
    rows: dict[tuple[int, int], int] = field(default_factory=dict)
    n_runs: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    tests: dict[int, set[int]] = field(default_factory=dict)
    n_processes: int = 0


def begin_run(folder: Path, root: Path, index: Index, command: Sequence[str]) -> RunFolder:
    """Make the folder of a run below that of the index. Raises IndexNotWritable."""
    import shlex

    now = time.time_ns()
    run = folder / f"{_PREFIX}{os.getpid()}-{now:x}"
    blobs = {
        path: blob
        for path, blob in zip(index.manifest.paths, index.manifest.blobs, strict=True)
        if blob and dialect_of(path)
    }
    recorded = [path for path in blobs if dialect_of(path) in _DIALECTS]
    typed = shlex.join(command).encode("utf-8", "replace")
    shown = mask_secrets(typed, find_secrets(typed)).decode("utf-8", "replace")
    made = RunFolder(run, shown, now // 10**9, os.getpid(), blobs)
    about = {"command": made.command, "time": made.time, "process": made.process, "blobs": blobs}
    names = "\0".join((os.path.realpath(root), *recorded))
    try:
        (run / _INJECTED).mkdir(parents=True)
        (run / "files.txt").write_text(names, encoding="utf-8", errors="surrogateescape")
        (run / _INJECTED / "sitecustomize.py").write_text(_SITECUSTOMIZE, encoding="utf-8")
        shutil.copyfile(Path(__file__).with_name("recorder.py"), run / _INJECTED / _RECORDER)
        shutil.copyfile(Path(__file__).with_name(_NODE_RECORDER), run / _INJECTED / _NODE_RECORDER)
        (run / _ABOUT).write_text(json.dumps(about), encoding="utf-8")
    except OSError as error:
        raise IndexNotWritable(f"cannot write {run}: {error.strerror or error}") from error
    return made


def run_command(run: RunFolder, command: Sequence[str], stdout: int | None = None) -> int:
    """Run the command with the recorder on its path and return its exit code, as a shell gives it.

    `stdout` is the descriptor for its output, None for that of this process. Raises UsageError if it cannot be started.
    An interrupt reaches the command, and this process waits for its end.
    """
    environment = dict(os.environ)
    before = environment.get("PYTHONPATH", "")
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(run.folder / _INJECTED), before)))
    if any(dialect_of(path) in _NODE_DIALECTS for path in run.blobs):
        required = json.dumps(str(run.folder / _INJECTED / _NODE_RECORDER))  # quoted, as Node reads it
        environment["NODE_OPTIONS"] = " ".join(filter(None, (environment.get("NODE_OPTIONS"), f"--require {required}")))
    begun = time.monotonic()
    try:
        process = subprocess.Popen(list(command), env=environment, stdout=stdout)
    except OSError as error:
        raise UsageError(f"cannot run {command[0]!r}: {error.strerror or error}") from error
    while True:
        try:
            code = process.wait()
            break
        except KeyboardInterrupt:
            continue  # the command had it, too
    run_go_tests(run.folder, command, environment, time.monotonic() - begun)
    return code if code >= 0 else 128 - code


def abandoned_runs(folder: Path) -> tuple[RunFolder, ...]:
    """Return the runs below the folder of an index whose process has ended, the oldest first."""
    runs = []
    for path in sorted(folder.glob(f"{_PREFIX}*")):
        with suppress(OSError, ValueError, KeyError, TypeError):
            about = json.loads((path / _ABOUT).read_text(encoding="utf-8"))
            process = int(about["process"])
            if process == os.getpid() or not is_alive(process):
                blobs = {str(name): str(blob) for name, blob in about["blobs"].items()}
                runs.append(RunFolder(path, str(about["command"]), int(about["time"]), process, blobs))
    return tuple(sorted(runs, key=lambda run: (run.time, run.folder.name)))


def delete_run(run: RunFolder) -> None:
    """Delete the folder of a run, as far as that is possible."""
    shutil.rmtree(run.folder, ignore_errors=True)


def read_run(run: RunFolder, index: Index) -> ObservedCalls:
    """Return what the processes of a run recorded, between nodes of the index.

    Files that are others by now are left out: their lines may mean other definitions.
    """
    manifest = index.manifest
    present = dict(zip(manifest.paths, manifest.blobs, strict=True))
    same = {path for path, blob in run.blobs.items() if present.get(path) == blob}
    places, calls, tests = CodePlaces(index.graph, same), ObservedCalls(), dict[str, set[int]]()
    for path in sorted(run.folder.glob("*.rec")):
        calls.n_processes += 1
        codes: dict[int, _Code] = {}
        pairs: dict[tuple[int, int], tuple[int, int, int]] = {}
        for row in _read_rows(path):
            match row:
                case ["c", int(number), str(file), int(line), str(name), int(flags)]:
                    codes[number] = places.find(file, line, name, flags)
                case ["p", int(caller), int(callee), int(direct), int(through), int(line)]:
                    pairs[caller, callee] = direct, through, line
                case ["s", int(caller), int(callee), int(direct), int(through), int(line)]:
                    pairs[caller, callee] = _sum(pairs.get((caller, callee), (0, 0, 0)), (direct, through, line))
                case ["w", list(ran)]:
                    places.add_window({codes[each] for each in ran if each in codes}, calls)
                case ["t", str(test), list(ran)]:
                    ran_nodes = (codes[each].node for each in ran if each in codes)
                    tests.setdefault(_plain(test), set()).update(node for node in ran_nodes if node >= 0)
        for (caller, callee), (direct, through, line) in sorted(pairs.items()):
            if callee in codes and (caller < 0 or caller in codes):
                _add_pair(calls, codes.get(caller), codes[callee], direct, through, line)
    names = TestNodes(index).find(tests)
    for name, node in sorted(names.items()):
        calls.tests.setdefault(node, set()).update(tests[name] - {node})
    for node, nodes in read_profiles(run.folder, run.time, index, same).items():
        calls.tests.setdefault(node, set()).update(nodes)
    return calls


class _Code(NamedTuple):
    """The node of a code object, -1 for none. `is_own`: it is the body of the node, and no part such as a lambda."""

    node: int
    is_own: bool
    is_import: bool = False
    is_class: bool = False  # the body of a class, which runs where it stands
    around: int = -1  # the definition around it, where the node is a value that holds it
    is_sampled: bool = False  # how often it ran is not known


def _sum(a: tuple[int, int, int], b: tuple[int, int, int]) -> tuple[int, int, int]:
    return a[0] + b[0], a[1] + b[1], max(a[2], b[2])


def _add_pair(calls: ObservedCalls, caller: _Code | None, callee: _Code, direct: int, through: int, line: int) -> None:
    if callee.is_own and callee.node >= 0 and not callee.is_import and not callee.is_sampled:
        calls.n_runs[callee.node] += direct + through
    if caller is None or callee.node < 0 or callee.is_class:
        return
    source = caller.around if caller.around >= 0 else caller.node
    if source < 0 or (source == callee.node and not callee.is_own):
        return  # a part of a definition that it runs itself
    pair = source, callee.node
    # Code that a definition hands on belongs to it, but who runs it does not run the definition.
    if callee.is_own and not callee.is_import:
        calls.direct[pair] += direct
        calls.through[pair] += through
    else:
        calls.through[pair] += direct + through
    if line > 0:
        calls.rows.setdefault(pair, line - 1)


def _plain(test: str) -> str:
    """Return the name of a test of pytest without its parameters.

    >>> _plain("tests/test_a.py::TestB::test_c[a::b]")
    'tests/test_a.py::TestB::test_c'
    """
    return test.partition("[")[0]


def _read_rows(path: Path) -> Iterator[list[Any]]:
    """Yield the rows of intact lines of a record file."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        return
    for line in lines:
        with suppress(ValueError, RecursionError):
            checksum, data = int(line[:8], 16), line[9:]
            if zlib.crc32(data) == checksum:
                yield from json.loads(data)


class CodePlaces:
    """Nodes by the first lines of code objects."""

    def __init__(self, graph: CodeGraph, paths: set[str]) -> None:
        self._graph = graph
        self._in_file: dict[str, list[int]] = {path: [] for path in paths}
        nodes = graph.nodes
        kinds = sorted(CALLABLE_KINDS | TYPE_KINDS | _HELD_KINDS)
        for node in np.flatnonzero(np.isin(nodes.kinds, kinds)).tolist():
            path = split_id(nodes.ids[node])[0]
            if path in self._in_file:
                self._in_file[path].append(node)
        self._known: dict[tuple[str, int, str], _Code] = {}
        self._is_test = mark_tests(graph)

    def find(self, path: str, line: int, name: str, flags: int) -> _Code:
        """Return the node of a code object: lambdas and comprehensions are part of the definition around them."""
        key = path, line, name
        if key not in self._known:
            self._known[key] = self._find(path, line - 1, name, bool(flags & _FUNCTION))
        return self._known[key]

    def _find(self, path: str, row: int, name: str, is_function: bool) -> _Code:
        if dialect_of(path) in _NODE_DIALECTS:
            return self._find_in_script(path, row, name)
        graph, nodes = self._graph, self._graph.nodes
        file = nodes.ids.position(path)
        if path not in self._in_file or file < 0:
            return _Code(-1, False)
        if name == _MODULE:
            return _Code(file, True, is_import=True)
        around = [each for each in self._in_file[path] if nodes.start_rows[each] <= row <= nodes.end_rows[each]]
        around.sort(
            key=lambda each: (int(nodes.end_rows[each] - nodes.start_rows[each]), -int(nodes.start_bytes[each]))
        )
        callables = [each for each in around if graph.kind(each) in CALLABLE_KINDS]
        if is_function and not name.startswith("<"):
            own = [each for each in callables if last_name(nodes.ids[each]) == name]
            exact = [each for each in own if nodes.start_rows[each] == row]
            if own:
                return _Code((exact or own)[0], True)
        definitions = [each for each in around if graph.kind(each) not in _HELD_KINDS]
        inner = definitions[0] if definitions else file
        if name == "<lambda>" and around and around[0] not in definitions:
            return _Code(around[0], True, around=inner)  # a value that holds the function
        return _Code(inner, False, is_class=not is_function)

    def _find_in_script(self, path: str, row: int, name: str) -> _Code:
        """Return the node of a function of JavaScript; `row` is -1 where the line is not known."""
        graph, nodes = self._graph, self._graph.nodes
        if path not in self._in_file:
            return _Code(-1, False)
        callables = [each for each in self._in_file[path] if graph.kind(each) in CALLABLE_KINDS]
        plain = re.sub(r"^(?:get|set|static|async) ", "", name).rpartition(".")[2].lstrip("#")
        if row < 0:  # translated: only a name that one definition has tells
            own = [each for each in callables if plain and last_name(nodes.ids[each]).lstrip("#") == plain]
            return _Code(own[0], True, is_sampled=True) if len(own) == 1 else _Code(-1, False)
        around = [each for each in callables if nodes.start_rows[each] <= row <= nodes.end_rows[each]]
        around.sort(
            key=lambda each: (int(nodes.end_rows[each] - nodes.start_rows[each]), -int(nodes.start_bytes[each]))
        )
        for each in around:
            leaf = last_name(nodes.ids[each])
            parent = int(nodes.parents[each])
            is_constructor = leaf == "constructor" and parent >= 0 and last_name(nodes.ids[parent]) == plain
            is_handler = not plain and graph.kind(each) is NodeKind.HANDLER
            is_named = bool(plain) and (leaf.lstrip("#") == plain or is_constructor)
            if is_named or (is_handler and nodes.start_rows[each] == row):
                return _Code(each, True, is_sampled=True)
        return _Code(around[0], False, is_sampled=True) if around else _Code(-1, False)

    def add_window(self, codes: set[_Code], calls: ObservedCalls) -> None:
        """Add what ran between two borders of tests to the one test whose function is among it."""
        own = {code.node for code in codes if code.is_own and code.node >= 0}
        tests = {node for node in own if self._is_test[node]}
        if len(tests) == 1:
            (test,) = tests
            calls.tests.setdefault(test, set()).update(own - tests)
