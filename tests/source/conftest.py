"""Folders and git repositories to scan; no user settings of git take part."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.users import no_user_settings as no_user_settings
from tests.users import ordinary_user


class Folder:
    """A folder under test, with git at hand."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    def write_all(self, files: dict[str, str] | dict[str, bytes]) -> "Folder":
        for name, content in files.items():
            target = self.path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)
        return self

    def git(self, *arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.path, capture_output=True, check=True)
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def init(self) -> "Folder":
        self.git("init", "-q")
        return self

    def commit(self) -> str:
        self.git("add", "-A", "-f", ".")
        self.git("-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "x")
        return self.git("rev-parse", "HEAD")


@pytest.fixture(scope="session")
def folder_type() -> type[Folder]:
    """The class itself, for tests that draw many examples and need a new folder for each."""
    return Folder


@pytest.fixture
def make_folder(tmp_path: Path) -> Callable[[str], Folder]:
    return lambda name: Folder(tmp_path / name)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A folder outside of git."""
    return Folder(tmp_path / "folder")


@pytest.fixture
def repository(tmp_path: Path) -> Folder:
    """A git work tree without a commit."""
    return Folder(tmp_path / "repository").init()


@pytest.fixture
def without_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], None]:
    """Takes git off the search path."""

    def hide() -> None:
        empty = tmp_path / "empty-path"
        empty.mkdir()
        monkeypatch.setenv("PATH", str(empty))

    return hide


@pytest.fixture
def ordinary_folder() -> Iterator[tuple[Folder, Callable[[], None]]]:
    """A folder and a switch to a user whom permissions bind, because they do not bind root."""
    with ordinary_user() as (place, switch):
        yield Folder(place / "folder"), switch
