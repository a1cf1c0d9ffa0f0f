"""What the recorder sees: each case is a program whose calls are known by hand."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from causalist import Repository
from causalist.observe import begin_run, read_run
from causalist.observe.command_runs import abandoned_runs
from tests.cli.commands import write_all
from tests.observe.programs import CALLS, SHOP, named_calls, observe

pytestmark = pytest.mark.slow


def _is_usable(python: str) -> bool:
    return subprocess.run([python, "-c", ""], capture_output=True).returncode == 0


# Beside this interpreter others that are there: of both ways to record, and the oldest one that is supported.
PYTHONS = [sys.executable, *filter(None, map(shutil.which, ("python3.8", "python3.12", "python3.13")))]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write_all(tmp_path, SHOP)


@pytest.mark.parametrize("python", PYTHONS)
def test_all_calls_of_a_program(shop: Path, python: str) -> None:
    if not _is_usable(python):
        pytest.skip("not an interpreter that is installed")
    assert named_calls(shop, observe(shop, "main.py", python=python)) == CALLS


def test_starts_of_functions_are_counted(shop: Path) -> None:
    found = observe(shop, "main.py")
    ids = Repository.open(shop, exact_root=True).index.graph.nodes.ids
    n_runs = {ids[node].rpartition("::")[2]: n for node, n in found.n_runs.items()}
    assert (n_runs["fall"], n_runs["Item.price"], n_runs["total"], n_runs["steps"]) == (3, 2, 1, 1)
    assert "Base.price" not in n_runs and "coupon" not in n_runs


def _calls(root: Path, code: str, **files: str) -> dict[tuple[str, str], tuple[int, int]]:
    write_all(root, {"a.py": code, **{name.replace("_py", ".py"): text for name, text in files.items()}})
    return named_calls(root, observe(root, "a.py"))


def test_threads_and_code_from_elsewhere_in_between(tmp_path: Path) -> None:
    code = """
import contextlib
import threading


def work():
    return step()


def step():
    return 1


@contextlib.contextmanager
def opened():
    yield step()


def main():
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    with opened():
        pass


main()
"""
    assert _calls(tmp_path, code) == {
        ("a.py", "a.py::main"): (1, 0),
        ("a.py::work", "a.py::step"): (1, 0),  # the thread begins in code from elsewhere, below nobody
        ("a.py::main", "a.py::opened"): (0, 1),
        ("a.py::opened", "a.py::step"): (1, 0),
    }


def test_coroutines_and_a_generator_that_goes_on(tmp_path: Path) -> None:
    code = """
import asyncio


async def inner():
    await asyncio.sleep(0)
    return 1


async def outer():
    await inner()


def numbers():
    yield 1
    yield 2


def first(iterator):
    return next(iterator)


def second(iterator):
    return next(iterator)


def main():
    asyncio.run(outer())
    iterator = numbers()
    first(iterator), second(iterator)


main()
"""
    assert _calls(tmp_path, code) == {
        ("a.py", "a.py::main"): (1, 0),
        ("a.py::main", "a.py::outer"): (0, 1),
        ("a.py::outer", "a.py::inner"): (1, 0),
        ("a.py::main", "a.py::first"): (1, 0),
        ("a.py::main", "a.py::second"): (1, 0),
        ("a.py::first", "a.py::numbers"): (1, 0),
    }


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_forks_and_other_processes_each_count(tmp_path: Path) -> None:
    code = """
import multiprocessing
import os
import subprocess
import sys


def in_fork():
    return 1


def in_child():
    return 1


def in_pool():
    return 1


def main():
    if os.fork() == 0:
        in_fork()
        os._exit(0)
    os.wait()
    worker = multiprocessing.get_context("fork").Process(target=in_pool)
    worker.start()
    worker.join()
    subprocess.run([sys.executable, "a.py", "child"], check=True)


if sys.argv[1:]:
    in_child()
else:
    main()
"""
    assert _calls(tmp_path, code) == {
        ("a.py", "a.py::main"): (1, 0),
        ("a.py::main", "a.py::in_fork"): (1, 0),
        ("a.py::main", "a.py::in_pool"): (0, 1),
        ("a.py", "a.py::in_child"): (1, 0),
    }


def test_a_lambda_that_others_run_is_a_part_of_what_holds_it(tmp_path: Path) -> None:
    code = """
def apply(function):
    return function()


def give():
    return apply(lambda: 1)


double = lambda x: 2 * x


class Table:
    size = double(2)


give()
"""
    assert _calls(tmp_path, code) == {
        ("a.py", "a.py::give"): (1, 0),
        ("a.py::give", "a.py::apply"): (1, 0),
        ("a.py::apply", "a.py::give"): (0, 1),  # a part of it, and no call of it
        ("a.py::Table", "a.py::double"): (1, 0),
    }


def test_a_sitecustomize_that_was_there_still_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = write_all(tmp_path / "other", {"sitecustomize.py": "import builtins\nbuiltins.was_here = __file__\n"})
    root = write_all(tmp_path / "root", {"a.py": "def f():\n    return was_here\n\n\nassert 'other' in f()\n"})
    monkeypatch.setenv("PYTHONPATH", str(other))
    assert named_calls(root, observe(root, "a.py")) == {("a.py", "a.py::f"): (1, 0)}


def test_functions_of_os_can_still_be_pickled(tmp_path: Path) -> None:
    code = """
import os
import pickle


def f():
    return pickle.loads(pickle.dumps(os.kill)) is os.kill


assert f()
"""
    assert _calls(tmp_path, code) == {("a.py", "a.py::f"): (1, 0)}


def test_the_program_does_not_see_the_recorder_on_its_path(tmp_path: Path) -> None:
    code = "import sys\n\n\ndef f():\n    return 1\n\n\nassert not any('observe-' in each for each in sys.path)\nf()\n"
    assert _calls(tmp_path, code) == {("a.py", "a.py::f"): (1, 0)}


@pytest.mark.skipif(os.name == "nt", reason="no such signal on this system")
def test_a_killed_process_loses_its_tail_only(tmp_path: Path) -> None:
    code = """
import time


def early():
    return 1


def tick():
    print("ready", flush=True)


time.sleep(0.6)
early()
time.sleep(0.6)
tick()
while True:
    time.sleep(0.1)
"""
    root = write_all(tmp_path, {"a.py": code})
    repository = Repository.open(root, exact_root=True)
    run = begin_run(root / ".causalist", root, repository.index, ["python", "a.py"])
    environment = os.environ | {"PYTHONPATH": str(run.folder / "inject")}
    with subprocess.Popen(
        [sys.executable, "a.py"], cwd=root, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGKILL)
    assert named_calls(root, read_run(run, repository.index)) == {
        ("a.py", "a.py::early"): (1, 0),
        ("a.py", "a.py::tick"): (1, 0),
    }
    (record,) = run.folder.glob("*.rec")
    record.write_bytes(record.read_bytes()[:-5])  # the last line, which was being written
    assert named_calls(root, read_run(run, repository.index)) == {("a.py", "a.py::early"): (1, 0)}
    assert [each.folder for each in abandoned_runs(root / ".causalist")] == [run.folder]


def test_what_changes_while_it_runs_is_left_out(tmp_path: Path) -> None:
    code = "import b\n\n\ndef f():\n    return 1\n\n\nf()\nb.g()\nopen('b.py', 'a').write('\\n\\n')\n"
    root = write_all(tmp_path, {"a.py": code, "b.py": "def g():\n    return 1\n"})
    repository = Repository.open(root, exact_root=True)
    run = begin_run(root / ".causalist", root, repository.index, ["python", "a.py"])
    environment = os.environ | {"PYTHONPATH": str(run.folder / "inject")}
    subprocess.run([sys.executable, "a.py"], cwd=root, env=environment, check=True)
    assert named_calls(root, read_run(run, Repository.open(root, exact_root=True).index)) == {
        ("a.py", "a.py::f"): (1, 0)
    }
