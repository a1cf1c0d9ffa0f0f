"""Whose settings and permissions hold in a test."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ORDINARY_USER = 65534


@pytest.fixture(autouse=True)
def no_user_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Neither git nor the program finds settings of who runs the tests. Holds where a conftest imports it."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))


@contextmanager
def ordinary_user() -> Iterator[tuple[Path, Callable[[], None]]]:
    """A folder that anybody may enter, and a switch to a user whom permissions bind, because they do not bind root."""
    is_root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        try:
            yield Path(name), lambda: os.seteuid(ORDINARY_USER) if is_root else None
        finally:
            if is_root:
                os.seteuid(0)
            for path, folders, _ in os.walk(name):
                for inner in folders:
                    (Path(path) / inner).chmod(0o755)
