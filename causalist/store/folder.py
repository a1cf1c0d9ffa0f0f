"""Where an index lives: `.causalist/` in the root, which hides itself from git.

A repository is hostile input: what it ships under that name may be links that lead elsewhere. Nothing is written
through them.
"""

import os
import stat
import tempfile
from pathlib import Path

from causalist.errors import IndexNotWritable

FOLDER = ".causalist"
INDEX_NAME = "index.bin"
FACTS_NAME = "facts.db"
_WRITTEN = (".gitignore", "lock", INDEX_NAME, FACTS_NAME, f"{FACTS_NAME}-wal", f"{FACTS_NAME}-shm")


def prepare_folder(root: Path) -> Path:
    """Creates `.causalist/` with a `.gitignore` of its own. Raises IndexNotWritable."""
    folder = root / FOLDER
    try:
        folder.mkdir(exist_ok=True)
        if not stat.S_ISDIR(os.lstat(folder).st_mode):
            raise IndexNotWritable(f"cannot write {folder}: it is a link; remove it, or give the folder it leads to")
        for name in _WRITTEN:
            if not _is_ordinary(folder / name):
                raise IndexNotWritable(f"cannot write {folder / name}: it is no ordinary file; remove it")
        ignore = folder / ".gitignore"
        if not ignore.exists() or ignore.stat().st_size == 0:
            ignore.write_text("*\n", encoding="utf-8")
        # Permissions alone do not tell: the file system may be read-only or full.
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise IndexNotWritable(f"cannot write {folder}: {error.strerror or error}") from error
    return folder


def _is_ordinary(path: Path) -> bool:
    """Whether a file can stand there: nothing does, or one that is no link, folder or pipe."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return True
