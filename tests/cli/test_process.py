"""What is set for a process by the command that it was started for."""

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from causalist.cli import _run
from causalist.cli._run import prepare_process


@pytest.fixture(autouse=True)
def thresholds() -> Iterator[tuple[int, int, int]]:
    """Those with which a process begins."""
    before, begun = gc.get_threshold(), (700, 10, 10)
    gc.set_threshold(*begun)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_run, "_is_prepared", False)
        yield begun
    gc.set_threshold(*before)


@pytest.mark.parametrize("command", ["serve", "watch"])
def test_a_process_that_stays_collects_as_ever(command: str, thresholds: tuple[int, int, int]) -> None:
    """With rarer collections a server under load held half a gigabyte of former indexes."""
    prepare_process([command, "mcp"])
    assert gc.get_threshold() == thresholds


def test_a_process_for_one_answer_hardly_collects(thresholds: tuple[int, int, int]) -> None:
    prepare_process(["ask", "serve"])
    assert gc.get_threshold()[0] > 10 * thresholds[0]


# The threads that a process has when numpy is loaded, and what of the environment is left.
_THREADS_OF = """
import os, sys
from causalist.cli._run import import_numpy, prepare_process
prepare_process(sys.argv[1].split())
import_numpy()
import numpy
print(len(os.listdir("/proc/self/task")), "OPENBLAS_NUM_THREADS" in os.environ, numpy.zeros(1).tolist())
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted as Linux tells them")
@pytest.mark.parametrize("command", ["ask", "learn", "memory search", "memory add --embedder", "serve"])
def test_numpy_has_threads_where_matrices_are_multiplied(command: str) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
    plain = [sys.executable, "-c", "import os, numpy; print(len(os.listdir('/proc/self/task')))"]
    usual = int(subprocess.run(plain, env=environment, capture_output=True, check=True, text=True).stdout)
    asked = [sys.executable, "-c", _THREADS_OF, command]
    found = subprocess.run(asked, env=environment, capture_output=True, check=True, text=True).stdout
    assert found == f"{1 if command in ('ask', 'memory search') else usual} False [0.0]\n"


def test_who_chose_a_number_of_threads_has_it() -> None:
    asked = [sys.executable, "-c", _THREADS_OF.replace("/proc/self/task", "/"), "ask"]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    found = subprocess.run(asked, env=environment, capture_output=True, check=True, text=True).stdout
    assert found.split()[1] == "True"
