"""Repositories to serve, away from the user's settings."""

import os
from pathlib import Path

import pytest

from tests.cli.commands import write_all
from tests.cli.conftest import SMALL
from tests.servers.wire import write_large


@pytest.fixture(autouse=True)
def no_user_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in [name for name in os.environ if name.startswith(("GIT_", "CAUSALIST_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Four files without git, written long ago, so that their metadata is trusted."""
    folder = write_all(tmp_path / "small", SMALL)
    settle(folder)
    return folder


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """What takes many seconds to index."""
    return write_large(tmp_path / "large")


@pytest.fixture
def several(tmp_path: Path) -> Path:
    """What is not parsed whole for a question, which is enough where no index is made: its lock is held."""
    return write_large(tmp_path / "several", 900, 10)


def settle(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, ns=(10**18, 10**18))
