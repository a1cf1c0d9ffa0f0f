"""Root of a repository and refused folders: a path -> a path or a helpful error.

No program runs here. Every command starts with this, and starting git costs more than checking a few folders.
"""

import os
from pathlib import Path

from causalist.errors import RefusedRoot, RepositoryNotFound


def find_root(start: Path) -> Path:
    """Return git's top level if `start` is in a work tree, else `start`; absolute, links resolved.

    A work tree that is the home directory (dotfiles under git) does not claim the folders below it: they would all be
    refused. Raises RepositoryNotFound.
    """
    try:
        folder = start.resolve(strict=True)
        is_folder = folder.is_dir()
    except FileNotFoundError as error:
        raise RepositoryNotFound(f"{start} does not exist. Give the folder of a repository.") from error
    except (OSError, RuntimeError, ValueError) as error:
        raise RepositoryNotFound(f"{start} cannot be reached ({error}). Give the folder of a repository.") from error
    if not is_folder:
        raise RepositoryNotFound(f"{start} is not a folder. Give the folder that contains it: {folder.parent}")
    if not os.access(folder, os.R_OK | os.X_OK):
        raise RepositoryNotFound(f"cannot list {start}: permission denied")
    return work_tree_top(folder) or folder


def relative_folder(root: Path, folder: Path) -> str:
    """Return the POSIX path of `folder` below `root`; "" for the root itself."""
    path = folder.resolve().relative_to(root).as_posix()
    return "" if path == "." else path


def refuse_root(root: Path) -> None:
    """Raise RefusedRoot for the root of a file system and for the home directory."""
    folder = root.resolve()
    if folder.parent == folder:
        raise RefusedRoot(f"{folder} is a file system root. Give the folder of a project.")
    if folder == _home():
        raise RefusedRoot(f"{folder} is a home directory. Give the folder of a project.")


def work_tree_top(folder: Path) -> Path | None:
    """Return the nearest folder at or above that git would take as top level, or None."""
    for candidate in (folder, *folder.parents):
        if is_work_tree(candidate):
            claims = candidate == folder or not _is_refused(candidate)
            return candidate if claims else None
    return None


def is_work_tree(folder: Path) -> bool:
    """Return True if `folder` has a `.git` that git accepts; an empty folder of that name is none."""
    marker = folder / ".git"
    try:
        if marker.is_file():
            with marker.open("rb") as file:
                return file.read(8) == b"gitdir: "
        return is_git_folder(marker)
    except OSError:
        return False


def is_git_folder(folder: Path) -> bool:
    """Return True if `folder` is a `.git`, a bare repository, or that of a linked work tree."""
    # HEAD may be a dangling link in old repositories, hence lexists.
    return os.path.lexists(folder / "HEAD") and ((folder / "objects").is_dir() or (folder / "commondir").is_file())


def _is_refused(folder: Path) -> bool:
    try:
        refuse_root(folder)
    except RefusedRoot:
        return True
    return False


def _home() -> Path | None:
    try:
        return Path.home().resolve()
    except (RuntimeError, OSError):
        return None
