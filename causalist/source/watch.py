"""Waiting until something in a folder changes that may matter to its index.

Only folders that hold indexed files are watched, their new subfolders unless git ignores them, and what tells that HEAD
moved: a build in an ignored folder wakes nobody, and costs no watches. That something changed is all that is said; what
did is seen by metadata, so that an event too many or of a kind that nobody knows does no harm.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from causalist.errors import GitError, UsageError
from causalist.source.exclusion import UNCOUNTED_FOLDERS, VENDORED_FOLDERS
from causalist.source.git import Running, git_folder
from causalist.source.roots import work_tree_top

_FIRST_LOOK_MS = 100  # after the watches are set: what changed before is seen then
_LONGEST_FACTOR = 10  # edits that never end are looked at after so many times the quiet that is waited for
_GIT_NAMES = frozenset({"HEAD", "index", "packed-refs", "ORIG_HEAD"})


def wait_for_changes(root: Path, indexed: Callable[[], Iterable[str]], *, quiet_ms: int) -> Iterator[None]:
    """Yields once the watches are set, then each time that nothing has changed for `quiet_ms` after something did.

    `indexed` gives the paths of the files that are indexed now; it is asked again after each turn, and where that asks
    for other watches, these are set, and what was missed meanwhile is looked for by one more turn. Ends by
    KeyboardInterrupt. Raises UsageError where the system refuses to watch.
    """
    from watchfiles import watch

    added: set[Path] = set()
    top = work_tree_top(root)
    git = None if top is None else git_folder(top)
    while True:
        folders = _folders(root, indexed(), added)
        is_new = True
        turns = watch(
            *folders,
            watch_filter=lambda _, path: _matters(path, git),
            step=quiet_ms,
            debounce=_LONGEST_FACTOR * quiet_ms,
            rust_timeout=_FIRST_LOOK_MS,
            yield_on_timeout=True,
            recursive=False,
        )
        try:
            for changes in turns:
                if not changes and not is_new:
                    continue
                is_new = False
                added = {each for each in added if each.is_dir()}
                for _, name in changes:
                    added.update(_new_folders(root, Path(name)))
                yield
                if _folders(root, indexed(), added) != folders:
                    break
        except OSError as error:
            raise UsageError(
                f"cannot watch {root}: {error.strerror or error}; raise the limit of watches, or do without: every "
                "command refreshes the index by itself"
            ) from error


def _folders(root: Path, indexed: Iterable[str], added: Iterable[Path]) -> list[Path]:
    """All folders on the way to indexed files, those that were added, and git's own."""
    names = {""}
    for path in indexed:
        folder = path.rpartition("/")[0]
        while folder and folder not in names:
            names.add(folder)
            folder = folder.rpartition("/")[0]
    found = {root / name for name in names} | set(added)
    top = work_tree_top(root)
    own = None if top is None else git_folder(top)
    if own is not None:
        found.add(own)
    return sorted(folder for folder in found if folder.is_dir() and not folder.is_symlink())


def _matters(path: str, git: Path | None) -> bool:
    """`git` is where HEAD is kept, which for a linked work tree is a folder of the main repository."""
    folder, name = os.path.split(path)
    inside = os.path.basename(folder)  # noqa: PTH119
    if inside == ".git" or (git is not None and Path(folder) == git):
        return name in _GIT_NAMES
    return name not in UNCOUNTED_FOLDERS and inside not in UNCOUNTED_FOLDERS


def _new_folders(root: Path, path: Path) -> Iterator[Path]:
    """A folder that appeared, and those inside of it, unless what is in it stays out."""
    if path.is_symlink() or not path.is_dir() or path.name == ".git" or _stays_out(root, path):
        return
    yield path
    with suppress(OSError):
        for entry in sorted(path.iterdir()):
            yield from _new_folders(root, entry)


def _stays_out(root: Path, folder: Path) -> bool:
    if folder.name in UNCOUNTED_FOLDERS or folder.name in VENDORED_FOLDERS:
        return True
    if work_tree_top(root) is None:
        return False
    try:
        done = Running(("-C", os.fspath(root)), "check-ignore", "-q", "--", os.fspath(folder)).finish()
    except GitError:
        return False
    return done.code == 0
