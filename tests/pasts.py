"""Small git repositories with a history, and histories made by hand."""

import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from causalist.index.history import build_history, read_commits
from causalist.model.index import CommitChange, Commits, History
from causalist.rank import merge_commits

DAY = 86_400


class Past:
    """A work tree whose commits are told one by one; no setting of the user takes part. Times are in seconds."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, time: int = 0) -> str:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        for role in ("AUTHOR", "COMMITTER"):
            environment |= {f"GIT_{role}_NAME": "A", f"GIT_{role}_EMAIL": "a@example.org"}
            environment[f"GIT_{role}_DATE"] = f"@{1_700_000_000 + time} +0000"
        done = subprocess.run(["git", *arguments], cwd=self.path, env=environment, capture_output=True, check=True)
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def write(self, files: Mapping[str, str | None]) -> None:
        """None takes a file away."""
        for name, text in files.items():
            target = self.path / name
            if text is None:
                target.unlink()
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")

    def commit(self, message: str, files: Mapping[str, str | None], *, time: int = 0) -> str:
        self.write(files)
        self.git("add", "-A", ".")
        self.git(
            "commit", "-q", "--allow-empty", "--allow-empty-message", "--cleanup=verbatim", "-m", message, time=time
        )
        return self.head()

    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    def commits(self, known: Commits | None = None) -> Commits:
        return read_commits(self.path, self.head(), Commits() if known is None else known)


def change(name: str, files: Iterable[str], message: str = "", *, time: int = 0, n_files: int | None = None,
           renames: Iterable[tuple[str, str]] = ()) -> CommitChange:  # fmt: skip
    touched = tuple(sorted(files))
    return CommitChange(name, time, message, touched, tuple(renames), len(touched) if n_files is None else n_files)


def commits_of(*changes: CommitChange) -> Commits:
    """Newest first."""
    return merge_commits([each.name for each in changes], Commits(), changes)


def past_of(paths: Iterable[str], *changes: CommitChange) -> History:
    """The history of files whose nodes are 0, 1, 2, …; newest commit first."""
    names = sorted(paths)
    return build_history(commits_of(*changes), names, np.arange(len(names), dtype=np.int32), History())
