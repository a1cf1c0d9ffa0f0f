"""Locks and the user's cache folder without the libraries that take long to import: what those would say."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from causalist.errors import IndexNotWritable
from causalist.store.index_folder import (
    BACKGROUND_LOCK,
    BACKGROUND_STOP,
    hold_folder_lock,
    hold_lock,
    is_locked,
    user_cache,
)

_BUSY = "somebody has it"
_FILELOCK = "import sys, filelock\nlock = filelock.FileLock(sys.argv[1], timeout=0)\n"


@pytest.mark.parametrize("cache", ["/somewhere/else", "", "relative"])
def test_the_cache_folder_is_that_of_platformdirs(cache: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from platformdirs import user_cache_path

    monkeypatch.setenv("XDG_CACHE_HOME", cache)
    assert user_cache() == user_cache_path("causalist", appauthor=False)


def test_a_home_that_is_none_is_left_to_platformdirs(monkeypatch: pytest.MonkeyPatch) -> None:
    from platformdirs import user_cache_path

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    for home in ("", "relative"):
        monkeypatch.setenv("HOME", home)
        assert user_cache() == user_cache_path("causalist", appauthor=False)


def test_a_lock_keeps_filelock_out_and_is_let_go(tmp_path: Path) -> None:
    path = tmp_path / "beside.lock"

    def others() -> int:
        code = f"{_FILELOCK}try:\n    lock.acquire()\nexcept filelock.Timeout:\n    sys.exit(3)"
        return subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode

    with hold_lock(path, 0.0, _BUSY):
        assert others() == 3
        with pytest.raises(IndexNotWritable, match=_BUSY), hold_lock(path, 0.0, _BUSY):
            pass
    assert others() == 0


def test_filelock_keeps_out(tmp_path: Path) -> None:
    path = tmp_path / "beside.lock"
    code = f"{_FILELOCK}lock.acquire()\nprint('held', flush=True)\nsys.stdin.read()"
    command = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None and holder.stdout.readline().strip() == b"held"
        with pytest.raises(IndexNotWritable, match=_BUSY), hold_lock(path, 0.1, _BUSY):
            pass


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_lock_is_seen_without_being_taken(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "beside.lock"
    assert not is_locked(path) and not path.exists()
    with hold_lock(path, 0.0, _BUSY):
        path.chmod(mode)
        assert is_locked(path)
    assert not is_locked(path)


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors are not inherited there")
def test_a_child_that_inherits_a_lock_holds_it(tmp_path: Path) -> None:
    path = tmp_path / "beside.lock"
    with hold_lock(path, 0.0, _BUSY) as descriptor:
        assert descriptor is not None
        command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
        child = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=(descriptor,))
    assert is_locked(path)
    child.communicate()
    assert not is_locked(path)


def test_who_waits_for_a_process_in_the_background_asks_it_to_end(tmp_path: Path) -> None:
    stop, waiting = tmp_path / BACKGROUND_STOP, threading.Event()

    def wait() -> None:
        with hold_folder_lock(tmp_path, tmp_path):
            assert not stop.exists()
        waiting.set()

    other = threading.Thread(target=wait)
    with hold_lock(tmp_path / BACKGROUND_LOCK, 0.0, _BUSY), hold_lock(tmp_path / "lock", 0.0, _BUSY):
        other.start()
        due = time.monotonic() + 30
        while not stop.exists() and time.monotonic() < due:
            time.sleep(0.01)
        assert stop.exists() and not waiting.is_set()
    other.join(30)
    assert waiting.is_set() and not stop.exists()


def test_nobody_else_is_asked_to_end(tmp_path: Path) -> None:
    ended = threading.Event()

    def wait() -> None:
        with hold_folder_lock(tmp_path, tmp_path):
            ended.set()

    other = threading.Thread(target=wait)
    with hold_lock(tmp_path / "lock", 0.0, _BUSY):
        other.start()
        time.sleep(0.5)
        assert not (tmp_path / BACKGROUND_STOP).exists()
    other.join(30)
    assert ended.is_set()


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "beside.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(IndexNotWritable, match="cannot lock"), hold_lock(tmp_path / "beside.lock", 0.0, _BUSY):
        pass
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there it is always so")
def test_a_file_system_without_such_locks_is_left_to_filelock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import errno
    import fcntl

    from causalist.store import index_folder as folder

    asked: list[Path] = []

    def refused(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    def taken(path: Path, patience: float) -> Callable[[], object]:
        asked.append(path)
        return asked.clear

    monkeypatch.setattr(fcntl, "flock", refused)
    monkeypatch.setattr(folder, "_acquire_filelock", taken)
    with hold_lock(tmp_path / "lock", 0.0, _BUSY):
        assert asked == [tmp_path / "lock"]
    assert not asked
