"""HEAD's commit as the files of a repository tell it, without starting git.

What is answered here is what `git rev-parse HEAD` would say, or None: where a repository keeps its branches in another
way, or where HEAD is anything but a branch or a commit, git has to be asked.
"""

import os
import re
from pathlib import Path

_COMMIT = re.compile(rb"([0-9a-f]{40}(?:[0-9a-f]{24})?)\s*\Z")
# git itself takes more names than these.
_BRANCH = re.compile(rb"ref: (refs/heads/[\w.+/-]+)\s*\Z", re.ASCII)
_MOST_BYTES = 4096
_MOST_PACKED = 50_000_000


def head_commit(top: Path) -> str | None:
    """The commit that HEAD is at in the work tree whose top is `top`; None where only git can say."""
    folder = git_folder(top)
    head = None if folder is None else _read(folder / "HEAD")
    if folder is None or head is None:
        return None
    at = _COMMIT.match(head)
    if at:
        return at[1].decode("ascii")
    branch = _BRANCH.match(head)
    if branch is None or b".." in branch[1]:
        return None
    shared = _read(folder / "commondir")
    common = folder if shared is None else folder / os.fsdecode(shared.strip())
    loose = _read(common / os.fsdecode(branch[1]))
    if loose is not None:
        at = _COMMIT.match(loose)
        return at[1].decode("ascii") if at else None
    packed = _read(common / "packed-refs", _MOST_PACKED)
    row = re.search(rb"^([0-9a-f]{40,64}) " + re.escape(branch[1]) + rb"\r?$", packed or b"", re.MULTILINE)
    return row[1].decode("ascii") if row else None


def git_folder(top: Path) -> Path | None:
    """Where git keeps HEAD and the index of a work tree: `.git`, or where the file of that name leads to."""
    marker = top / ".git"
    if marker.is_dir():
        return marker
    said = _read(marker)
    if said is None or not said.startswith(b"gitdir: "):
        return None
    return top / os.fsdecode(said.removeprefix(b"gitdir: ").strip())


def _read(path: Path, most: int = _MOST_BYTES) -> bytes | None:
    """An ordinary file of no more than that; None for everything else, links too."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(most + 1)
    except OSError:
        return None
    return data if len(data) <= most else None
