"""Where the history of a repository is, and the order in which to visit its commits."""

import re
from collections.abc import Iterable
from pathlib import Path

from causalist.errors import GitError
from causalist.source.git import Running, locate
from causalist.source.roots import is_git_folder, is_work_tree

_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_BATCH = 500  # commits a call of git; arguments have a limit


def clone_places(clones: Path, repo: str) -> tuple[Path, Path]:
    """Where the clone of OWNER/NAME may be: OWNER+NAME/repo, OWNER/NAME."""
    return clones / repo.replace("/", "+") / "repo", clones / repo


def find_clone(clones: Path, repo: str) -> Path | None:
    """The first of those places that is itself a repository: bare, a `.git` folder or a work tree.

    A folder that merely lies inside of a repository is none: git would answer for the one around it.
    """
    for place in clone_places(clones, repo):
        if is_git_folder(place) or is_work_tree(place):
            return place
    return None


def oldest_first(git_dir: Path, commits: Iterable[str]) -> list[str]:
    """The distinct commits by time of commit, so that neighbours share most of their blobs; unknown ones last.

    The order decides what is parsed again, never a result; where git fails, it is the given one.
    """
    distinct = list(dict.fromkeys(commits))
    # Only full hashes: another name is not what git prints, and one with a dash would be read as an option.
    hashes = [commit for commit in distinct if _HASH.fullmatch(commit)]
    times: dict[str, int] = {}
    for start in range(0, len(hashes), _BATCH):
        batch = hashes[start : start + _BATCH]
        try:
            rows = Running(locate(git_dir), "rev-list", "--no-walk", "--ignore-missing", "--timestamp", *batch).finish()
        except GitError:
            return distinct
        if rows.code == 0:
            times.update((name, int(time)) for time, name in map(str.split, rows.output.decode("ascii").splitlines()))
    return sorted(distinct, key=lambda commit: times.get(commit, 1 << 62))
