"""Where an index lives: `.causalist/` in the root, which hides itself from git, or else the user's cache.

A repository is hostile input: what it ships under that name may be links that lead elsewhere. Nothing is written
through them.
"""

import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from causalist.errors import IndexNotWritable

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

FOLDER = ".causalist"
INDEX_NAME = "index.bin"
SEEN_NAME = "seen"
# Beside the index: what is not made again with it.
ANSWERS_NAME = "answers.jsonl"
FEEDBACK_NAME = "feedback.jsonl"
WEIGHTS_NAME = "weights.json"
BESIDE_LOCK = "beside.lock"
_LOCK_SECONDS = 600.0  # how long to wait for another process that is indexing the same folder
_PAUSE_SECONDS = 0.05
_BESIDE = (ANSWERS_NAME, FEEDBACK_NAME, WEIGHTS_NAME, BESIDE_LOCK)
_WRITTEN = (".gitignore", "lock", INDEX_NAME, SEEN_NAME, *_BESIDE)
# Facts were kept here once; nothing reads them any more.
_OLD_FACTS = ("facts.db", "facts.db-wal", "facts.db-shm")


def cache_folder(root: Path) -> Path:
    """The folder in the user's cache that takes the index of `root` where `root` itself cannot be written.

    The root's path names it: two checkouts never share one.
    """
    import hashlib

    named = hashlib.sha256(os.fsencode(root)).hexdigest()[:24]
    return user_cache() / "indexes" / named


def user_cache() -> Path:
    """The folder of this program in the user's cache, which need not exist."""
    # What platformdirs would say, where it is plain: importing it takes longer than reading a small index.
    if sys.platform == "linux":
        for base in (os.environ.get("XDG_CACHE_HOME", ""), f"{os.environ.get('HOME', '')}/.cache"):
            if base.startswith("/") and base != "/.cache":
                return Path(base, "causalist")
    from platformdirs import user_cache_path

    return user_cache_path("causalist", appauthor=False)


def prepare_folder(folder: Path) -> None:
    """Creates the folder of an index, with a `.gitignore` of its own. Raises IndexNotWritable."""
    try:
        if folder.name == FOLDER:
            folder.mkdir(exist_ok=True)
        else:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not stat.S_ISDIR(os.lstat(folder).st_mode):
            raise IndexNotWritable(f"cannot write {folder}: it is a link; remove it, or give the folder it leads to")
        for name in _WRITTEN:
            if not _is_ordinary(folder / name):
                raise IndexNotWritable(f"cannot write {folder / name}: it is no ordinary file; remove it")
        ignore = folder / ".gitignore"
        if not ignore.exists() or ignore.stat().st_size == 0:
            ignore.write_text("*\n", encoding="utf-8")
        for name in _OLD_FACTS:
            (folder / name).unlink(missing_ok=True)
        # Permissions alone do not tell: the file system may be read-only or full.
        import tempfile

        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise IndexNotWritable(f"cannot write {folder}: {error.strerror or error}") from error


@contextmanager
def locked_folder(folder: Path, root: Path) -> Iterator[None]:
    """Holds the lock of an index of `root`. Raises IndexNotWritable where that cannot be had."""
    busy = f"another process has been indexing {root} for {_LOCK_SECONDS:.0f} s; wait for it or stop it"
    with locked(folder / "lock", _LOCK_SECONDS, busy):
        yield


@contextmanager
def locked(path: Path, patience: float, busy: str) -> Iterator[None]:
    """Holds the lock at `path`. Raises IndexNotWritable, which says `busy` where another process has had it for
    `patience` seconds."""
    try:
        let_go = _taken(path, patience)
    except TimeoutError:
        raise IndexNotWritable(busy) from None
    except OSError as error:
        raise IndexNotWritable(f"cannot lock {path.parent}: {error.strerror or error}") from error
    try:
        yield
    finally:
        let_go()


def _taken(path: Path, patience: float) -> Callable[[], object]:
    """Takes the lock that `filelock` would take of that file, and returns what lets it go. Where a lock is a call of
    the system it is called: importing that library takes longer than what is done meanwhile. Raises TimeoutError after
    `patience` seconds, and OSError."""
    if fcntl is None:
        return _taken_by_filelock(path, patience)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    due = time.monotonic() + patience
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return lambda: os.close(descriptor)
            except OSError as error:
                if error.errno not in (errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK):
                    break  # a file system without such locks: the library knows another way
            if time.monotonic() >= due:
                raise TimeoutError(str(path))
            time.sleep(_PAUSE_SECONDS)
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return _taken_by_filelock(path, patience)


def _taken_by_filelock(path: Path, patience: float) -> Callable[[], object]:
    from filelock import FileLock, Timeout

    lock = FileLock(path, timeout=patience)
    try:
        lock.acquire()
    except Timeout as error:
        raise TimeoutError(str(path)) from error
    return lock.release


def is_read_only(error: IndexNotWritable) -> bool:
    """Whether nobody needs to be told: a folder that one may not write is none of its owner's mistakes."""
    return isinstance(error.__cause__, OSError) and error.__cause__.errno in (errno.EACCES, errno.EPERM, errno.EROFS)


def _is_ordinary(path: Path) -> bool:
    """Whether a file can stand there: nothing does, or one that is no link, folder or pipe."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return True
