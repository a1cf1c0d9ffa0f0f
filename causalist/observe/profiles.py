"""Profiles of coverage that a command wrote, and those of single tests of Go.

In: the folder of a run. Out: what each test ran. Coverage has no callers, so that no call comes of it.

`go test` writes one profile for all tests. After such a command each test is run once more, alone, as long as that
takes no longer than the command itself or `_LEAST_SECONDS`; packages are compiled once.
"""

import json
import os
import subprocess
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from causalist.model.index import Index
from causalist.navigate.coverage import definitions_by_test
from causalist.navigate.coverage_files import find_coverage_files

_GO_FOLDER = "go"
_NAMES = "tests.json"
_LEAST_SECONDS = 10.0
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
    into, ends, names = folder / _GO_FOLDER, time.monotonic() + max(seconds, _LEAST_SECONDS), dict[str, str]()
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
        each = rest.pop(0)
        if each in ("-args", "--args"):
            break
        name, equals, _ = each.partition("=")
        if not each.startswith("-"):
            packages.append(each)
            continue
        value = [rest.pop(0)] if not equals and name in _FLAGS_WITH_VALUE and rest else []
        if name in ("-tags", "-mod", "-modfile", "-race"):
            flags += [each, *value]
    return flags, packages


def _output(command: Sequence[str], environment: Mapping[str, str], ends: float, place: str | None = None) -> str:
    """Return what a command writes. Raises OSError, and SubprocessError once the time `ends`."""
    left = ends - time.monotonic()
    if left <= 0:
        raise subprocess.TimeoutExpired(list(command), 0.0)
    done = subprocess.run(
        list(command), env=dict(environment), cwd=place, capture_output=True, text=True, timeout=left, errors="replace"
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
