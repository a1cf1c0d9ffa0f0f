"""Lines that each test of a Go module runs, as JSON in the form of coverage.py.

    python -m tests.benchmarks.test_choice.go_suite CLONE OUT

Each package of tests is built once with counters in all packages of the module; then each of its tests runs alone.
A test is `FILE::NAME`. Needs a Go tool chain and the module's dependencies.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

_BLOCK = re.compile(r"(.+):(\d+)\.\d+,(\d+)\.\d+ \d+ (\d+)")
_TEST = re.compile(r"^func (Test\w*|Example\w*)\(", re.MULTILINE)
_SECONDS = 120  # for one test


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clone", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    clone = arguments.clone.resolve()
    module = json.loads(_go(clone, "list", "-m", "-json"))["Path"]
    contexts: dict[str, dict[str, list[str]]] = {}
    n_tests = n_failed = 0
    for folder in _go(clone, "list", "-f", "{{.Dir}}", "./...").split():
        for name, test in tests_of(Path(folder), clone):
            blocks = run_test(clone, Path(folder), name)
            n_tests, n_failed = n_tests + 1, n_failed + (blocks is None)
            for path, first, last in blocks or ():
                lines = contexts.setdefault(path.removeprefix(f"{module}/"), {})
                for line in range(first, last + 1):
                    lines.setdefault(str(line), []).append(test)
    files = {
        path: {
            "executed_lines": sorted(map(int, lines)),
            "missing_lines": [],
            "contexts": {line: sorted(set(tests)) for line, tests in lines.items()},
        }
        for path, lines in sorted(contexts.items())
    }
    arguments.out.write_text(json.dumps({"meta": {"show_contexts": True}, "files": files}))
    sys.stdout.write(f"{n_tests} tests, of which {n_failed} failed\n")
    return 0


def tests_of(folder: Path, clone: Path) -> list[tuple[str, str]]:
    """Return the name of each test of a package, and its name with its file."""
    return [
        (name, f"{path.relative_to(clone).as_posix()}::{name}")
        for path in sorted(folder.glob("*_test.go"))
        for name in _TEST.findall(path.read_text(errors="replace"))
    ]


def run_test(clone: Path, folder: Path, name: str) -> list[tuple[str, int, int]] | None:
    """Return (path, first, last) of the blocks that a test ran, None if it failed before it wrote any."""
    with tempfile.TemporaryDirectory() as work:
        profile, binary = Path(work) / "profile", _binary(clone, folder)
        try:
            subprocess.run(
                [binary, f"-test.run=^{name}$", f"-test.coverprofile={profile}"],
                cwd=folder, capture_output=True, timeout=_SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return None
        if not profile.is_file():
            return None
        matches = map(_BLOCK.fullmatch, profile.read_text().splitlines())
        return [(match[1], int(match[2]), int(match[3])) for match in matches if match and match[4] != "0"]


_BINARIES: dict[Path, str] = {}


def _binary(clone: Path, folder: Path) -> str:
    if folder not in _BINARIES:
        target = Path(tempfile.mkdtemp()) / "package.test"
        _go(clone, "test", "-c", "-cover", "-coverpkg=./...", "-o", str(target), f"./{folder.relative_to(clone)}")
        _BINARIES[folder] = str(target)
    return _BINARIES[folder]


def _go(clone: Path, *arguments: str) -> str:
    return subprocess.run(["go", *arguments], cwd=clone, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
