"""Folders to index, away from the user's settings; the sample repository is indexed once."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from causalist import parse
from causalist.model.facts import FileFacts
from causalist.pipeline.repository import Repository
from tests.pipeline.sample import copy_sample, in_memory


@pytest.fixture(autouse=True)
def no_user_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """The sample repository, for tests that only ask."""
    return in_memory(copy_sample(tmp_path_factory.mktemp("sample")))


class WorkTree:
    """A git work tree under test."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True)
        self.git("init", "-q")

    def git(self, *arguments: str) -> str:
        user = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        return subprocess.run(
            ["git", *user, *arguments], cwd=self.path, capture_output=True, check=True, text=True
        ).stdout

    def write(self, name: str, text: str) -> Path:
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return target

    def commit(self) -> str:
        self.git("add", "-A", ".")
        self.git("commit", "-q", "--allow-empty", "-m", "x")
        return self.git("rev-parse", "HEAD").strip()

    def settle(self) -> None:
        """Makes all files look written long ago, so that their metadata is trusted."""
        for path in self.path.rglob("*"):
            if path.is_file() and ".git" not in path.parts:
                os.utime(path, ns=(10**18, 10**18))


@pytest.fixture
def tree(tmp_path: Path) -> WorkTree:
    tree = WorkTree(tmp_path / "project")
    tree.write("app.py", "from store import save_order\n\n\ndef checkout(order):\n    save_order(order)\n")
    tree.write("store.py", "def save_order(order):\n    return order\n")
    tree.write("README.md", "# Shop\n\nOrders are saved.\n")
    tree.commit()
    tree.settle()
    return tree


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths that are parsed, in order; the test may clear it."""
    paths: list[str] = []
    real: Callable[[str, bytes], FileFacts] = parse.parse_file

    def counted(path: str, data: bytes) -> FileFacts:
        paths.append(path)
        return real(path, data)

    monkeypatch.setattr(parse, "parse_file", counted)
    return paths
