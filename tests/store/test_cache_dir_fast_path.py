"""Locks and the user's cache folder without the libraries that take long to import: what those would say."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from causalist.errors import IndexNotWritable
from causalist.store.cache_dir import hold_lock, user_cache

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

    from causalist.store import cache_dir as folder

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
