"""Work beside: the result is that of the work, wherever it was done."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from causalist._internal.forked_task import CAN_FORK, ForkedTask
from causalist._internal.lazy import dataclass
from causalist.errors import GitError
from causalist.model.string_table import StringTable
from tests.indexes import differences

beside = pytest.mark.skipif(not CAN_FORK, reason="everything is done when it is asked for")


@dataclass(frozen=True, slots=True)
class Found:
    """The process that found it, and something of every kind."""

    process: int
    names: StringTable
    data: np.ndarray


def found(size: int = 3) -> Found:
    return Found(os.getpid(), StringTable.from_strings(["é", "", "\udc80"]), np.arange(size, dtype=np.int32))


@pytest.mark.slow
@beside
def test_it_is_found_in_a_process_of_its_own() -> None:
    """Larger than a pipe holds: it ends although nobody has asked yet."""
    work = ForkedTask(Found, lambda: found(5_000_000))
    assert work._under_way is not None
    process = work._under_way[0]
    deadline = time.monotonic() + 30
    while process.is_alive():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    result = work.result()
    assert result.process == process.pid != os.getpid()
    assert differences(result.names, found().names) == []
    assert (result.data.dtype, result.data.tolist()[:3], len(result.data)) == (np.int32, [0, 1, 2], 5_000_000)


def test_what_is_not_wanted_beside_is_found_here() -> None:
    assert ForkedTask(Found, found, wanted=False).result().process == os.getpid()


def test_what_it_raises_is_raised_where_it_is_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    def fail() -> Found:
        raise GitError("no such commit")

    work = ForkedTask(Found, fail)
    with pytest.raises(GitError, match="no such commit"):
        work.result()
    assert capfd.readouterr() == ("", "")


@beside
def test_a_process_that_is_killed_costs_nothing_but_time(tmp_path: Path) -> None:
    began, own = tmp_path / "began", os.getpid()

    def waiting() -> Found:
        if os.getpid() != own:
            began.touch()
            signal.pause()
        return found()

    work = ForkedTask(Found, waiting)
    assert work._under_way is not None
    process = work._under_way[0]
    while not began.exists():
        time.sleep(0.01)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    assert work.result().process == own


@beside
def test_a_process_that_is_told_to_end_is_not_believed(tmp_path: Path) -> None:
    own = os.getpid()

    def ended() -> Found:
        if os.getpid() != own:
            os._exit(0)  # as a handler of SIGTERM does that it has from this process
        return found()

    assert ForkedTask(Found, ended).result().process == own


@beside
def test_it_does_not_go_on_when_nobody_waits_any_more(tmp_path: Path) -> None:
    told = tmp_path / "process"
    program = (
        "import os, pathlib, signal, sys, time\n"
        "from causalist._internal.forked_task import ForkedTask\n"
        "from causalist.model.index import Commits\n"
        "def work():\n"
        "    pathlib.Path(sys.argv[1] + '.new').write_text(str(os.getpid()))\n"
        "    os.rename(sys.argv[1] + '.new', sys.argv[1])\n"
        "    time.sleep(600)\n"
        "ForkedTask(Commits, work)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(told)]) as parent:
        deadline = time.monotonic() + 60
        while not told.exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        parent.kill()
    process = int(told.read_text())
    while _is_running(process):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _is_running(process: int) -> bool:
    """Whether it is there and no mere entry that nobody has asked about."""
    try:
        return "State:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


@beside
@pytest.mark.parametrize("place", ["causalist._internal.forked_task.unnamed_file", "numpy.save"])
def test_without_room_for_the_result_it_is_found_here(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(place, full)
    assert ForkedTask(Found, found).result().process == os.getpid()
