"""Measure `causalist prove` on clones with test suites, and print figures as JSON.

    python -m tests.benchmarks.prove proofs CLONE... --python /venv/bin/python [--n 50] [--seed 0]
    python -m tests.benchmarks.prove kills CLONE --python /venv/bin/python [--n 20] [--seed 0]
    python -m tests.benchmarks.prove choice CLONE... --python /venv/bin/python [--n 20] [--share 0.25] [--seed 0]
    python -m tests.benchmarks.prove flaky CLONE... --python /venv/bin/python [--n 3] [--seed 0]

`proofs` draws functions that tests are known to reach, proves each, and runs its proven tests again by pytest without
the plugin, in a fresh copy: once as it is, once with the mutant. A proof is wrong unless the test passes the first time
and fails the second. Each edge on the way of a failure is held against what `observe` records of these tests as they
are.

`kills` starts `prove` on functions of a clone and kills it at random times with signal 9. Content, modes and times of
all files of the work tree must stay as they are, and `git status` and `git worktree list`. Two seconds later no process
that it started may be there, and after the next whole run no copy.

`choice` draws mutants of functions, runs the whole suite on each, and counts those that the suite catches and the
tests that `causalist tests` ranks first do too, for a share of the time of the suite. A mutant with which a test hangs
is left out. Tests are taken in their order as long as they fit the time that is left: once by the graph alone, once
with what `observe` recorded of the whole suite before.

`flaky` plants seven tests for each of the drawn functions in a copy of the clone. Each calls a test that reaches the
function, takes no notice of how that ends, and then fails by chance, by the clock, by what another test or an earlier
run left, or by a port that another worker has. Two workers run them. Each proof of a planted test is wrong.
"""

import argparse
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from causalist import Repository
from causalist.errors import CausalistError
from causalist.index.options import ignore_progress
from causalist.model.node_ids import CALLABLE_KINDS, Role, split_id
from causalist.navigate.marked_tests import mark_tests
from causalist.observe import begin_run, delete_run, read_run, run_command
from causalist.parse import dialect_of
from causalist.prove import ProveOptions
from causalist.prove.experiment import check_subject
from causalist.prove.mutants import Mutant, make_mutants
from causalist.prove.pytest_runs import BrokenFunction, RunLimits, Workspace, find_interpreter, import_root, run_tests
from causalist.store.index_folder import user_cache

_SUITE_SECONDS = 300.0
_TEST_SECONDS = 30.0


def functions_of(repository: Repository) -> list[str]:
    """Return the ids of the functions of Python that are no tests, in their order."""
    nodes, tests = repository.index.graph.nodes, mark_tests(repository.index.graph)
    return [
        nodes.ids[node]
        for node in np.flatnonzero(np.isin(nodes.kinds, sorted(CALLABLE_KINDS))).tolist()
        if nodes.roles[node] == Role.CODE and not tests[node] and dialect_of(split_id(nodes.ids[node])[0]) == "python"
    ]


def drawn(repository: Repository, seed: int) -> Iterator[str]:
    """Yield functions that some test is known to reach, in a drawn order."""
    names = functions_of(repository)
    random.Random(seed).shuffle(names)
    plain = replace(repository, observations=None)
    for name in names:
        if plain.choose_tests(name).tests:
            yield name


# -- proofs


def run_plainly(copy: Path, python: str, tests: Sequence[str], path: str) -> dict[str, bool | None]:
    """Return True for each test that passes, False for one that fails, with nothing of Causalist in the process.

    None for one that does not run; all fail if pytest cannot load them.
    """
    files = [path, *(test.partition("::")[0] for test in tests)]
    roots = [*(import_root(copy, each) for each in files), copy / "src", copy]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(os.fspath, dict.fromkeys(roots))),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
    }
    names = {pytest_name(test): test for test in tests}
    chosen = select_tests(tests)
    command = [python, "-m", "pytest", "-q", "-rA", "--tb=no", "-p", "no:cacheprovider", f"--rootdir={copy}", *chosen]
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=_SUITE_SECONDS, text=True)
    found: dict[str, bool | None] = dict.fromkeys(tests)
    # A test of unittest with a subtest that fails passes itself in pytest, and its run fails.
    ends = re.findall(r"^(PASSED|FAILED|ERROR|SUBFAILED)(?:\[.*\]|\(.*\))? (\S+)", done.stdout, re.MULTILINE)
    present = {name.partition("[")[0] for _, name in ends}
    for word, name in ends:
        for known, test in names.items():
            path, _, symbol = known.partition("::")
            plain = name.partition("[")[0]
            # A method that classes inherit has their names.
            is_alike = plain.startswith(f"{path}::") and plain.endswith(f"::{symbol.rpartition('::')[2]}")
            is_inherited = known not in present and "::" in symbol and is_alike
            if plain == known or is_inherited or (word == "ERROR" and name == path):
                found[test] = word == "PASSED" and found[test] is not False
    is_loaded = bool(re.search(r"\d (passed|failed)", done.stdout))
    return found if is_loaded or done.returncode not in (2, 3, 4) else dict.fromkeys(tests, False)


def select_tests(tests: Sequence[str]) -> list[str]:
    """Return arguments of pytest for tests by their files and names."""
    leaves = sorted({pytest_name(test).rpartition("::")[2] for test in tests})
    return ["-k", " or ".join(leaves), *sorted({test.partition("::")[0] for test in tests})]


def pytest_name(test: str) -> str:
    path, _, symbol = test.partition("::")
    return f"{path}::{symbol.partition('~')[0].replace('.', '::')}"


def measure_proofs(clone: Path, python: str, n: int, seed: int, options: ProveOptions) -> dict[str, Any]:
    """Prove functions of a clone, and run each proven pair again."""
    repository = Repository.open(clone, exact_root=True)
    ids = repository.index.graph.nodes.ids
    found: dict[str, Any] = {
        "clone": clone.name, "functions": 0, "with_proofs": 0, "mutants": 0, "unnoticed": 0, "pairs": 0,
        "wrong": [], "edges": 0, "edges_seen": 0, "edges_not_seen": [], "refused": [], "seconds": 0.0,
    }  # fmt: skip
    for name in drawn(repository, seed):
        if found["functions"] == n:
            break
        start = time.monotonic()
        try:
            (proof,) = repository.prove(name, options=options, progress=ignore_progress)
        except CausalistError as error:
            found["refused"].append(f"{name}: {error}")
            continue
        found["seconds"] += time.monotonic() - start
        record = proof.record
        proven = {test: mutants[0] for test in record.tests if (mutants := record.proving(test))}
        found["functions"] += 1
        found["with_proofs"] += bool(proven)
        found["mutants"] += len(record.mutants)
        found["unnoticed"] += sum(set(m.outcomes.values()) == {"passed"} for m in record.mutants.values())
        target = check_subject(repository.index, ids.position(name))
        data = (clone / target.path).read_bytes()
        place = data, target.name, target.first, target.last
        made = {m.id: m for m in (*make_mutants(*place, options.max_mutants), *make_mutants(*place, 1, in_tests=True))}
        by_mutant: dict[str, list[str]] = {}
        for test, mutant in proven.items():
            by_mutant.setdefault(mutant.id, []).append(test)
        workspace = Workspace(clone)
        try:
            for number, (key, tests) in enumerate(by_mutant.items()):
                copy = workspace.make_copy(number)
                whole = run_plainly(copy.root, python, tests, target.path)
                copy.restore()
                copy.write(target.path, made[key].data)
                broken = run_plainly(copy.root, python, tests, target.path)
                found["pairs"] += len(tests)
                found["wrong"] += [
                    f"{test} -> {name}: passes without {whole[test]}, with {broken[test]}"
                    for test in tests
                    if whole[test] is not True or broken[test] is not False
                ]
        finally:
            workspace.close()
        check_edges(repository, python, proof.edges, found)
        print(f"{clone.name} {found['functions']} {name} {len(proven)}", file=sys.stderr)
    return found


def check_edges(repository: Repository, python: str, edges: Sequence[Any], found: dict[str, Any]) -> None:
    """Count the edges that `observe` sees in the test that proved them, with pytest's own way to run it."""
    graph, root = repository.index.graph, repository.root
    tests = sorted({edge.test for edge in edges})
    if not tests:
        return
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *select_tests(tests)]
    run = begin_run(root / ".causalist", root, repository.index, command)
    before, place = os.environ.get("PYTHONPATH"), Path.cwd()
    os.environ["PYTHONPATH"] = os.pathsep.join((os.fspath(root / "src"), os.fspath(root)))
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.chdir(root)
    try:
        with tempfile.TemporaryFile() as out:
            run_command(run, command, out.fileno())
        seen = read_run(run, repository.index)
    finally:
        os.chdir(place)
        os.environ["PYTHONPATH"] = before or ""
        delete_run(run)
    pairs = seen.direct.keys() | seen.through.keys()
    for edge in edges:
        source, target = graph.nodes.ids.position(edge.source.id), graph.nodes.ids.position(edge.target.id)
        found["edges"] += 1
        # pytest itself calls fixtures: no code of the repository stands above them.
        is_fixture = edge.source.id == edge.test and not edge.is_direct
        if (source, target) in pairs or (is_fixture and target in seen.n_runs):
            found["edges_seen"] += 1
        else:
            found["edges_not_seen"].append(f"{edge.source.id} -> {edge.target.id} in {edge.test}")


# -- flaky tests

_FLAKY = """

import random as _random
import socket as _socket
import time as _time
from pathlib import Path as _Path

_PLANTED = []


def _has_port(port):
    with _socket.socket() as own:
        try:
            own.bind(("127.0.0.1", port))
        except OSError:
            return False
        _time.sleep(0.3)
    return True


def _count(name):
    file = _Path({folder!r}) / name
    n = int(file.read_text()) if file.exists() else 0
    file.write_text(str(n + 1))
    return n
"""
_CHANCES = {
    "half": "_random.SystemRandom().random() < 0.5",
    "third": "_random.SystemRandom().random() < 0.67",
    "tenth": "_random.SystemRandom().random() < 0.9",
    "clock": "int(_time.time() * 2) % 2",
    "file": "_count({name!r}) % 3 != 2",
    "order": "_PLANTED",  # one before it fills this
    "port": "_has_port({port})",
}
_MAX_TESTS = 15  # of a function, so that the planted ones are among those that are run
_TEST = """

def test_planted_{number}_{kind}():
    try:
        {test}()
    except BaseException:
        pass
    _PLANTED.append(1) if {fills} else None
    assert {chance}
"""


def plant_flaky(clone: Path, target: Path, n: int, seed: int) -> dict[str, list[str]]:
    """Copy a clone with planted tests, and return the ids of these by the function that each runs."""
    shutil.copytree(clone, target, ignore=shutil.ignore_patterns(".causalist"))
    repository = Repository.open(clone, exact_root=True)
    planted: dict[str, list[str]] = {}
    files: dict[str, str] = {}
    for name in drawn(repository, seed):
        if len(planted) == n:
            break
        tests = replace(repository, observations=None).choose_tests(name).tests
        for each in tests if len(tests) <= _MAX_TESTS else ():
            path, _, symbol = each.node.partition("::")
            plain = re.search(rf"^def {re.escape(symbol)}\(\)", (clone / path).read_text(), re.MULTILINE)
            if each.probability < 0.5 or not plain:
                continue
            text = files.get(path) or (clone / path).read_text() + _FLAKY.format(folder=os.fspath(target.parent))
            number, planted[name] = len(planted), []
            for kind, chance in _CHANCES.items():
                chance = chance.format(name=f"{number}", port=42_000 + number)
                fills = kind != "order"
                text += _TEST.format(number=number, kind=kind, test=symbol, chance=chance, fills=fills)
                planted[name].append(f"{path}::test_planted_{number}_{kind}")
            files[path] = text
            break
    for path, text in files.items():
        (target / path).write_text(text)
    return planted


def measure_flaky(clone: Path, n: int, seed: int, options: ProveOptions) -> dict[str, Any]:
    """Prove functions that flaky tests run, and count what is said of these."""
    found: dict[str, Any] = {
        "clone": clone.name,
        "planted": 0,
        "left_out": {},
        "wrong": [],
        "proven": 0,
        "seconds": 0.0,
    }
    with tempfile.TemporaryDirectory(prefix="flaky-") as folder:
        target = Path(folder) / clone.name
        planted = plant_flaky(clone, target, n, seed)
        repository = Repository.open(target, exact_root=True)
        for name, tests in planted.items():
            start = time.monotonic()
            (proof,) = repository.prove(name, options=options, progress=ignore_progress)
            found["seconds"] += time.monotonic() - start
            record = proof.record
            found["proven"] += sum(bool(record.proving(test)) for test in record.tests if test not in tests)
            for test in tests:
                found["planted"] += test in record.tests
                if test in record.tests and record.proving(test):
                    found["wrong"].append(f"{test} -> {name}")
                elif test in record.tests and record.tests[test].left_out:
                    why = record.tests[test].left_out
                    found["left_out"].setdefault(why, []).append(test.rpartition("_")[2])
            print(f"{clone.name} {name} {found['planted']} {len(found['wrong'])}", file=sys.stderr)
    return found


# -- kills


def state_of(root: Path) -> dict[str, tuple[str, int, int]]:
    """Return hash, time and mode of each file, without the folder of the index."""
    found = {}
    for path in sorted(root.rglob("*")):
        if ".causalist" not in path.parts and path.is_file() and not path.is_symlink():
            about = path.stat()
            found[str(path)] = (hashlib.sha256(path.read_bytes()).hexdigest(), about.st_mtime_ns, about.st_mode)
    return found


def processes_of_runs(cache: Path) -> list[int]:
    """Return the processes that run tests in a copy below the cache of the user."""
    wanted, found = b"CAUSALIST_PROVE=" + os.fsencode(cache), []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes()
        except OSError:
            continue
        if any(each.startswith(wanted) for each in environment.split(b"\0")):
            found.append(int(folder.name))
    return found


def measure_kills(clone: Path, python: str, n: int, seed: int) -> dict[str, Any]:
    """Kill `prove` at random times, and compare the work tree with what it was."""
    repository = Repository.open(clone, exact_root=True)
    names = [name for name, _ in zip(drawn(repository, seed), range(n), strict=False)]
    draw = random.Random(seed)

    def status() -> list[bytes]:
        asked = (["status", "--porcelain=v2"], ["worktree", "list"])
        return [
            subprocess.run(["git", "--no-optional-locks", *each], cwd=clone, capture_output=True).stdout
            for each in asked
        ]

    before, said = state_of(clone), status()
    cache = user_cache() / "prove"
    changed, killed, running, in_tests = [], 0, 0, 0
    for i in range(n):
        command = [sys.executable, "-m", "causalist", "prove", names[i % len(names)], "--python", python, "--jobs", "2"]
        process = subprocess.Popen(
            command, cwd=clone, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        time.sleep(draw.uniform(0.5, 25.0))
        killed += process.poll() is None
        in_tests += bool(processes_of_runs(cache))
        process.send_signal(signal.SIGKILL)
        process.wait()
        time.sleep(2.0)
        running += len(processes_of_runs(cache))
        after = state_of(clone)
        if after != before or status() != said:
            changed.append(sorted(set(after.items()) ^ set(before.items()))[:4])
    done = subprocess.run(
        [sys.executable, "-m", "causalist", "prove", names[0], "--python", python, "--json"],
        cwd=clone, capture_output=True, check=False,
    )  # fmt: skip
    left = sum(1 for _ in cache.glob("*"))
    return {
        "kills": killed, "trials": n, "while_tests_ran": in_tests, "changed": changed, "processes_left": running,
        "copies_left": left, "code_after": done.returncode,
    }  # fmt: skip


# -- choice


@dataclass(slots=True)
class Choice:
    """A mutant that the suite catches: how many tests do, and if one of those chosen does.

    `is_caught_observed` is that with what `observe` recorded of the suite.
    """

    node: str
    what: str
    n_failing: int
    is_caught: bool
    is_caught_observed: bool
    n_chosen: int


def within(tests: Sequence[str], seconds: Mapping[str, float], left: float) -> list[str]:
    """Return tests in their order, those that fit the time that is left."""
    found = []
    for test in tests:
        cost = seconds.get(test)
        if cost is not None and cost <= left:
            left -= cost
            found.append(test)
    return found


@contextmanager
def changed_environment(**values: str) -> Iterator[None]:
    """Set variables of the environment for a while."""
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def measure_choice(clone: Path, python: str, n: int, share: float, seed: int) -> dict[str, Any]:
    """Run whole suites on mutants, and see whether the tests that are ranked first notice."""
    repository = Repository.open(clone, exact_root=True)
    plain = replace(repository, observations=None)
    roots = os.pathsep.join((os.fspath(clone / "src"), os.fspath(clone)))
    with tempfile.TemporaryFile() as out, changed_environment(PYTHONPATH=roots, PYTHONDONTWRITEBYTECODE="1"):
        place = Path.cwd()
        os.chdir(clone)
        try:
            repository.observe([python, "-m", "pytest", "-q", "-p", "no:cacheprovider"], out.fileno())
        finally:
            os.chdir(place)
    interpreter = find_interpreter(clone, Path(python), python)
    draw = random.Random(seed)
    workspace = Workspace(clone)
    caught: list[Choice] = []
    counts = {"tried": 0, "not_caught": 0, "hang": 0, "not_loaded": 0}
    try:
        copy = workspace.make_copy(0)

        def run(target: BrokenFunction) -> Any:
            limits = RunLimits(_TEST_SECONDS, time.monotonic() + _SUITE_SECONDS)
            done = run_tests(copy, interpreter, target, (), limits)
            copy.restore()
            return done

        names = functions_of(repository)
        draw.shuffle(names)
        first = check_subject(repository.index, repository.resolve(names[0]))
        whole = [run(first), run(first)]
        passing = {
            name for name, each in whole[0].ended.items()
            if each.outcome == "passed" and name in whole[1].ended and whole[1].ended[name].outcome == "passed"
        }  # fmt: skip
        seconds: dict[str, float] = {}
        for name in passing:
            each = whole[1].ended[name]
            seconds[each.test] = seconds.get(each.test, 0.0) + each.seconds
        total = sum(seconds.values())
        for name in names:
            if len(caught) == n:
                break
            target = check_subject(repository.index, repository.resolve(name))
            made = make_mutants((clone / target.path).read_bytes(), target.name, target.first, target.last, 12)
            if not made:
                continue
            mutant: Mutant = draw.choice(made)
            counts["tried"] += 1
            copy.write(target.path, mutant.data)
            done = run(target)
            if done.hung or not done.is_over:
                counts["hang"] += 1
                continue
            if done.code not in (0, 1, 2) and not done.ended:
                counts["not_loaded"] += 1  # conftest itself needs it: any choice of tests notices
                continue
            files = set(done.not_collected)
            failing = {
                whole[1].ended[each].test for each in passing
                if (each in done.ended and done.ended[each].outcome == "failed")
                or (each not in done.ended and each.partition("::")[0] in files)
            }  # fmt: skip
            if not failing:
                counts["not_caught"] += 1
                continue
            chosen = [
                within([each.node for each in view.choose_tests(name).tests], seconds, share * total)
                for view in (plain, repository)
            ]
            is_caught = [bool(failing & set(each)) for each in chosen]
            caught.append(Choice(name, mutant.what, len(failing), is_caught[0], is_caught[1], len(chosen[0])))
            print(f"{clone.name} {len(caught)} {caught[-1]}", file=sys.stderr)
    finally:
        workspace.close()
    return {
        "clone": clone.name, "tests": len(seconds), "suite_seconds": round(total, 2), **counts, "caught": len(caught),
        "caught_by_choice": sum(each.is_caught for each in caught),
        "caught_by_choice_observed": sum(each.is_caught_observed for each in caught),
        "mean_tests_chosen": round(sum(each.n_chosen for each in caught) / max(1, len(caught)), 1),
        "missed": [f"{each.node}: {each.what} ({each.n_failing} tests fail)" for each in caught if not each.is_caught],
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["proofs", "kills", "choice", "flaky"])
    parser.add_argument("clones", nargs="+", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--n", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--share", type=float, default=0.25)
    parser.add_argument("--mutants", type=int, default=6)
    parser.add_argument("--tests", type=int, default=10)
    given = parser.parse_args()
    options = ProveOptions(Path(given.python), 1, given.mutants, given.tests, _SUITE_SECONDS, _TEST_SECONDS)
    for clone in (each.resolve() for each in given.clones):
        if given.what == "proofs":
            found = measure_proofs(clone, given.python, given.n, given.seed, options)
        elif given.what == "flaky":
            found = measure_flaky(clone, given.n, given.seed, replace(options, jobs=2, max_tests=30))
        elif given.what == "kills":
            found = measure_kills(clone, given.python, given.n, given.seed)
        else:
            found = measure_choice(clone, given.python, given.n, given.share, given.seed)
        print(json.dumps(found, indent=1), flush=True)


if __name__ == "__main__":
    main()
