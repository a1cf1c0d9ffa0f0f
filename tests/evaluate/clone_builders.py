"""Small git repositories with a history, and data files about them."""

import json
import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from causalist.evaluate import Report, evaluate

_WHO = {"NAME": "A", "EMAIL": "a@example.org"}


def git(folder: Path, *arguments: str, day: int = 1) -> str:
    """Runs git without settings of the user, on a day of January 2024."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    environment |= {f"GIT_{role}_{k}": v for role in ("AUTHOR", "COMMITTER") for k, v in _WHO.items()}
    environment |= {f"GIT_{role}_DATE": f"2024-01-{day:02}T00:00:00Z" for role in ("AUTHOR", "COMMITTER")}
    done = subprocess.run(["git", *arguments], cwd=folder, env=environment, capture_output=True, check=True)
    return done.stdout.decode().strip()


def make_history(folder: Path, *states: tuple[int, Mapping[str, str]]) -> list[str]:
    """A work tree with one commit for each (day, all files at that time); their hashes."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    hashes = []
    for day, files in states:
        git(folder, "rm", "-rq", "--ignore-unmatch", ".")
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", "state", day=day)
        hashes.append(git(folder, "rev-parse", "HEAD"))
    return hashes


def row(**changes: Any) -> dict[str, Any]:
    return {
        "id": "q",
        "repo": "acme/shop",
        "lang": "python",
        "base_commit": "0" * 40,
        "query": "validate the token",
        "gold_files": ["auth.py"],
        "hard": False,
    } | changes


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def check(data: Path, clones: Path, **options: Any) -> Report:
    """The report, with options of `evaluate`."""
    return evaluate(data, clones, **{"progress": lambda what, done, total: None} | options)
