"""Copies of a work tree in the cache of the user, in which code may be broken.

In: the root of a repository. Out: a folder with one copy that stays as it is and one for each worker, which is put
right after each run. The work tree itself is only read. What a killed process left is removed by the next one.

Copied is what git tracks or shows as untracked, with changes that are not committed, and ignored files beside tracked
ones, such as generated modules and compiled extensions. Without git, it is all but hidden folders and environments.
"""

import json
import os
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from causalist._internal.process import is_alive
from causalist.errors import CausalistError, GitError, IndexNotWritable
from causalist.source.git import RunningGit, git_arguments, work_tree_top
from causalist.store import FOLDER
from causalist.store.cache_dir import user_cache

_ABOUT = "about.json"
_SKIPPED = frozenset(
    (".git", ".hg", ".svn", FOLDER, "__pycache__", "node_modules", ".tox", ".nox", ".mypy_cache", ".ruff_cache",
     ".pytest_cache", ".hypothesis", ".eggs")
)  # fmt: skip
_MAX_IGNORED_BYTES = 64 << 20  # of one ignored file


class Stamp(NamedTuple):
    """Metadata by which a file of a copy is known to be as it was made."""

    size: int
    mtime: int
    mode: int


class Workspace:
    """Copies of the tree below `root`. `close` removes them."""

    def __init__(self, root: Path) -> None:
        self._root = root
        parent = user_cache() / "prove"
        self.folder = parent / f"{os.getpid()}-{time.time_ns():x}"
        try:
            parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _remove_abandoned(parent)
            self.folder.mkdir(mode=0o700)
            (self.folder / _ABOUT).write_text(json.dumps({"process": os.getpid()}), encoding="utf-8")
            _copy(root, self.folder / "tree", _paths(root))
        except OSError as error:
            self.close()
            raise IndexNotWritable(f"cannot copy {root} to {self.folder}: {error.strerror or error}") from error
        except CausalistError:
            self.close()
            raise

    @property
    def tree(self) -> Path:
        """The copy that stays as it is."""
        return self.folder / "tree"

    def make_copy(self, number: int) -> "TreeCopy":
        """Return the copy of a worker."""
        return TreeCopy(self, self.folder / f"{number}")

    def close(self) -> None:
        """Remove the copies."""
        shutil.rmtree(self.folder, ignore_errors=True)


class TreeCopy:
    """One copy of a tree, in which tests run."""

    def __init__(self, workspace: Workspace, folder: Path) -> None:
        self._workspace = workspace
        self.root = folder / "tree"
        self.folder = folder  # for what belongs to a run and not to the tree
        folder.mkdir()
        shutil.copytree(workspace.tree, self.root, symlinks=True)
        self._stamps = dict(_scan(self.root))

    def write(self, path: str, data: bytes) -> None:
        """Replace the content of a file."""
        target = self.root / path
        target.unlink(missing_ok=True)  # it may be a link
        target.write_bytes(data)

    def restore(self) -> None:
        """Make all files as they were, and remove others."""
        present = dict(_scan(self.root))
        for path in present.keys() - self._stamps.keys():
            with suppress(OSError):
                (self.root / path).unlink()
        for path, stamp in self._stamps.items():
            if present.get(path) != stamp:
                source, target = self._workspace.tree / path, self.root / path
                target.parent.mkdir(parents=True, exist_ok=True)
                if target.is_dir() and not target.is_symlink():
                    shutil.rmtree(target, ignore_errors=True)
                target.unlink(missing_ok=True)
                shutil.copy2(source, target, follow_symlinks=False)
                self._stamps[path] = _stamp(target)


def _stamp(path: Path) -> Stamp:
    found = path.lstat()
    return Stamp(found.st_size, found.st_mtime_ns, found.st_mode)


def _scan(root: Path) -> Iterator[tuple[str, Stamp]]:
    """Yield the path below `root` and the stamp of each file."""
    for folder, names, files in os.walk(root):
        names.sort()
        links = [name for name in names if Path(folder, name).is_symlink()]
        for name in sorted((*files, *links)):
            path = Path(folder, name)
            with suppress(OSError):
                yield path.relative_to(root).as_posix(), _stamp(path)


def _paths(root: Path) -> Iterator[str]:
    """Yield the paths below `root` that are copied."""
    if work_tree_top(root) is None:
        yield from _walk(root)
        return
    try:
        listed = _list_files(root, "-c", "-o", "--exclude-standard")
        ignored = _list_files(root, "-o", "-i", "--exclude-standard")
    except GitError:
        yield from _walk(root)
        return
    yield from listed
    folders = {str(PurePosixPath(path).parent) for path in listed}
    for path in ignored:
        place = PurePosixPath(path)
        is_beside = str(place.parent) in folders and not _SKIPPED & set(place.parts)
        with suppress(OSError):
            if is_beside and (root / path).lstat().st_size <= _MAX_IGNORED_BYTES:
                yield path


def _list_files(root: Path, *arguments: str) -> list[str]:
    done = RunningGit(git_arguments(root), "ls-files", "-z", *arguments).finish().accepted()
    return sorted({os.fsdecode(each) for each in done.output.split(b"\0") if each})


def _walk(root: Path) -> Iterator[str]:
    for folder, names, files in os.walk(root):
        here = Path(folder)
        names[:] = sorted(n for n in names if n not in _SKIPPED and not (here / n / "pyvenv.cfg").exists())
        links = [name for name in names if (here / name).is_symlink()]
        yield from sorted((here / name).relative_to(root).as_posix() for name in (*files, *links))


def _copy(root: Path, target: Path, paths: Iterator[str]) -> None:
    """Copy files. Links that lead out of the tree become what they lead to, if that is a file."""
    target.mkdir()
    real = Path(os.path.realpath(root))
    for path in paths:
        source, made = root / path, target / path
        try:
            mode = source.lstat().st_mode
        except FileNotFoundError:
            continue  # deleted and not committed
        if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)) or _SKIPPED & set(PurePosixPath(path).parts[:1]):
            continue
        made.parent.mkdir(parents=True, exist_ok=True)
        if stat.S_ISLNK(mode):
            leads, end = source.readlink(), Path(os.path.realpath(source))
            if not leads.is_absolute() and end.is_relative_to(real):
                made.symlink_to(leads)
            elif end.is_file():
                shutil.copyfile(end, made)
            continue
        try:
            shutil.copy2(source, made)
        except FileNotFoundError:
            continue
        made.chmod(stat.S_IMODE(mode) | stat.S_IRUSR | stat.S_IWUSR)


def _remove_abandoned(parent: Path) -> None:
    """Remove the copies of processes that have ended."""
    for folder in sorted(parent.iterdir()):
        process = folder.name.partition("-")[0]
        if process.isdigit() and not is_alive(int(process)):
            shutil.rmtree(folder, ignore_errors=True)
