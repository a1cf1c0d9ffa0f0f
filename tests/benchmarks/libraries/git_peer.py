"""`git_peer.py PROGRAM TASK REPO PATHS`: one task over a git repository, with Causalist, GitPython or pygit2.

It runs in an environment that may have only one of the three, so that each is imported where it is used.

history  files that each of the newest 5,000 commits with one parent changed
blobs    content of the files of HEAD that the file PATHS names, one a line: those that Causalist would index
status   files of the work tree that differ from the index, and untracked files
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.benchmarks.libraries.measuring import report

TASKS = ("history", "blobs", "status")
_N_COMMITS = 5_000


def readable_paths(repo: Path) -> list[str]:
    """Return the paths of HEAD that Causalist would index."""
    from causalist.source import BlobReader, scan_commit

    with BlobReader(repo) as reader:
        return [e.path for e in scan_commit(repo, "HEAD").entries if not isinstance(reader.read(e), str)]


def causalist(task: str, repo: Path, wanted: frozenset[str]) -> Callable[[], object]:
    from causalist.source import BlobReader, list_ancestors, read_changes, scan_commit
    from causalist.source.git import RunningGit, git_arguments

    def history() -> object:
        changes = list(read_changes(repo, list_ancestors(repo, "HEAD")[:_N_COMMITS]))
        return f"{len(changes)} commits, {sum(change.n_files for change in changes)} files"

    def blobs() -> object:
        n_files = n_bytes = 0
        with BlobReader(repo) as reader:
            for entry in scan_commit(repo, "HEAD").entries:
                source = reader.read(entry)
                if not isinstance(source, str) and entry.path in wanted:
                    n_files, n_bytes = n_files + 1, n_bytes + len(source.data)
        return f"{n_files} files, {n_bytes} bytes"

    def status() -> object:
        done = RunningGit(git_arguments(repo), "status", "--porcelain", "-z", "--untracked-files=all").finish().check()
        return f"{len([row for row in done.output.split(bytes(1)) if row])} files"

    return {"history": history, "blobs": blobs, "status": status}[task]


def gitpython(task: str, repo: Path, wanted: frozenset[str]) -> Callable[[], object]:
    import git

    repository: Any = git.Repo(repo)

    def history() -> object:
        commits = list(repository.iter_commits("HEAD", max_count=_N_COMMITS, min_parents=1, max_parents=1))
        n_files = sum(len(commit.parents[0].diff(commit)) for commit in commits)
        return f"{len(commits)} commits, {n_files} files"

    def blobs() -> object:
        n_files = n_bytes = 0
        for item in repository.head.commit.tree.traverse():
            if item.type == "blob" and item.path in wanted:
                n_files, n_bytes = n_files + 1, n_bytes + len(item.data_stream.read())
        return f"{n_files} files, {n_bytes} bytes"

    def status() -> object:
        changed = {diff.a_path for diff in [*repository.index.diff("HEAD"), *repository.index.diff(None)]}
        return f"{len(changed) + len(repository.untracked_files)} files"

    return {"history": history, "blobs": blobs, "status": status}[task]


def pygit2(task: str, repo: Path, wanted: frozenset[str]) -> Callable[[], object]:
    import pygit2

    repository: Any = pygit2.Repository(str(repo))

    def history() -> object:
        n_commits = n_files = 0
        for commit in repository.walk(repository.head.target, pygit2.enums.SortMode.TIME):
            if len(commit.parent_ids) == 1:
                n_commits += 1
                n_files += sum(1 for _ in repository.diff(commit.parents[0], commit).deltas)
                if n_commits == _N_COMMITS:
                    break
        return f"{n_commits} commits, {n_files} files"

    def blobs() -> object:
        n_files = n_bytes = 0
        trees = [("", repository.head.peel().tree)]
        while trees:
            folder, tree = trees.pop()
            for item in tree:
                if item.type_str == "tree":
                    trees.append((f"{folder}{item.name}/", item))
                elif item.type_str == "blob" and f"{folder}{item.name}" in wanted:
                    n_files, n_bytes = n_files + 1, n_bytes + len(item.data)
        return f"{n_files} files, {n_bytes} bytes"

    def status() -> object:
        return f"{len(repository.status(untracked_files='all'))} files"

    return {"history": history, "blobs": blobs, "status": status}[task]


if __name__ == "__main__":
    program = {"causalist": causalist, "gitpython": gitpython, "pygit2": pygit2}[sys.argv[1]]
    paths = frozenset(Path(sys.argv[4]).read_text(encoding="utf-8").splitlines())
    report(lambda: program(sys.argv[2], Path(sys.argv[3]), paths))
