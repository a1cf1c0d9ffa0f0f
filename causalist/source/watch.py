"""Wait for changes in a folder that may matter to its index.

Only folders with indexed files are watched, their new subfolders unless git ignores them, and the files that show a
move of HEAD: a build in an ignored folder causes no event and needs no watch. The result says only that something
changed; the scan finds out what. An extra or unknown event does no harm.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from causalist.errors import GitError, UsageError
from causalist.source.exclusion import UNCOUNTED_FOLDERS, VENDORED_FOLDERS
from causalist.source.git import RunningGit, git_folder, work_tree_top

_FIRST_CHECK_MS = 100  # after the watches are set: what changed before is seen then
_MAX_DEBOUNCE_FACTOR = 10  # edits that never end are looked at after so many times the quiet that is waited for
_GIT_NAMES = frozenset({"HEAD", "index", "packed-refs", "ORIG_HEAD"})


def wait_for_changes(root: Path, indexed: Callable[[], Iterable[str]], *, quiet_ms: int) -> Iterator[None]:
    """Yield once the watches are set, then each time that changes are followed by a quiet `quiet_ms`.

    `indexed` gives the paths of the indexed files; it is called again after each turn. If that needs other watches,
    they are set, and one more turn covers changes missed meanwhile. Ends by KeyboardInterrupt. Raises UsageError if the
    system refuses to watch.
    """
    from watchfiles import watch

    added: set[Path] = set()
    top = work_tree_top(root)
    git = None if top is None else git_folder(top)
    while True:
        folders = _list_folders(root, indexed(), added)
        is_new = True
        turns = watch(
            *folders,
            watch_filter=lambda _, path: _is_relevant(path, git),
            step=quiet_ms,
            debounce=_MAX_DEBOUNCE_FACTOR * quiet_ms,
            rust_timeout=_FIRST_CHECK_MS,
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
                    added.update(_find_new_folders(root, Path(name)))
                yield
                if _list_folders(root, indexed(), added) != folders:
                    break
        except OSError as error:
            raise UsageError(
                f"cannot watch {root}: {error.strerror or error}; raise the limit of watches, or do without: every "
                "command refreshes the index by itself"
            ) from error


def _list_folders(root: Path, indexed: Iterable[str], added: Iterable[Path]) -> list[Path]:
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


def _is_relevant(path: str, git: Path | None) -> bool:
    """`git` is where HEAD is kept, which for a linked work tree is a folder of the main repository."""
    folder, name = os.path.split(path)
    inside = os.path.basename(folder)  # noqa: PTH119
    if inside == ".git" or (git is not None and Path(folder) == git):
        return name in _GIT_NAMES
    return name not in UNCOUNTED_FOLDERS and inside not in UNCOUNTED_FOLDERS


def _find_new_folders(root: Path, path: Path) -> Iterator[Path]:
    """Yield the folders at or below a new path that are to be watched."""
    if path.is_symlink() or not path.is_dir() or path.name == ".git" or _is_excluded(root, path):
        return
    yield path
    with suppress(OSError):
        for entry in sorted(path.iterdir()):
            yield from _find_new_folders(root, entry)


def _is_excluded(root: Path, folder: Path) -> bool:
    if folder.name in UNCOUNTED_FOLDERS or folder.name in VENDORED_FOLDERS:
        return True
    if work_tree_top(root) is None:
        return False
    try:
        done = RunningGit(("-C", os.fspath(root)), "check-ignore", "-q", "--", os.fspath(folder)).finish()
    except GitError:
        return False
    return done.code == 0
