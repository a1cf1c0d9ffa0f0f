"""Folder of an index: `.causalist/` in the root, hidden from git, or else the user's cache.

A repository is hostile input: it may ship links under that name. Nothing is written through them.
"""

import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
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
FEEDBACK_LOCK = "beside.lock"
OBSERVED_NAME = "observed.jsonl"
OBSERVED_LOCK = "observed.lock"
PROVEN_NAME = "proven.jsonl"
PROVEN_LOCK = "proven.lock"
BACKGROUND_NAME = "background.json"  # the process that builds the index
BACKGROUND_LOCK = "background.lock"
BACKGROUND_STOP = "background.stop"  # exists while another process waits for that process
_LOCK_SECONDS = 600.0  # how long to wait for another process that is indexing the same folder
_DATA_LOCK_SECONDS = 60.0  # how long to wait for another process that writes user data
_PAUSE_SECONDS = 0.05
_SHORT_SECONDS = 0.2  # that a process in the background is waited for before it is asked to end
_BUSY = (errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK)  # what flock says of a lock that another process holds
_FEEDBACK_FILES = (ANSWERS_NAME, FEEDBACK_NAME, WEIGHTS_NAME, FEEDBACK_LOCK)
_OWN_FILES = (".gitignore", "lock", INDEX_NAME, SEEN_NAME, *_FEEDBACK_FILES, OBSERVED_NAME, OBSERVED_LOCK,
              PROVEN_NAME, PROVEN_LOCK, BACKGROUND_NAME, BACKGROUND_LOCK, BACKGROUND_STOP)  # fmt: skip
# Facts were kept here once; nothing reads them any more.
_OLD_FACTS = ("facts.db", "facts.db-wal", "facts.db-shm")


def cache_folder(root: Path) -> Path:
    """Return the folder in the user's cache for the index of `root`, for a `root` that is not writable.

    Its name is a hash of the path of the root, so that two checkouts never share one.
    """
    import hashlib

    named = hashlib.sha256(os.fsencode(root)).hexdigest()[:24]
    return user_cache() / "indexes" / named


def user_cache() -> Path:
    """Return the folder of this program in the user's cache; it may not exist."""
    # What platformdirs would say, where it is plain: importing it takes longer than reading a small index.
    if sys.platform == "linux":
        for base in (os.environ.get("XDG_CACHE_HOME", ""), f"{os.environ.get('HOME', '')}/.cache"):
            if base.startswith("/") and base != "/.cache":
                return Path(base, "causalist")
    from platformdirs import user_cache_path

    return user_cache_path("causalist", appauthor=False)


def prepare_folder(folder: Path) -> None:
    """Create the folder of an index with its own `.gitignore`. Raises IndexNotWritable."""
    try:
        if folder.name == FOLDER:
            folder.mkdir(exist_ok=True)
        else:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not stat.S_ISDIR(os.lstat(folder).st_mode):
            raise IndexNotWritable(f"cannot write {folder}: it is a link; remove it, or give the folder it leads to")
        for name in _OWN_FILES:
            if not _is_regular_or_absent(folder / name):
                raise IndexNotWritable(f"cannot write {folder / name}: it is not an ordinary file; remove it")
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
def hold_folder_lock(folder: Path, root: Path) -> Iterator[None]:
    """Hold the lock of an index of `root`. Raises IndexNotWritable if it cannot be acquired.

    A process in the background that holds it is asked to end: it has the lowest priority, so that it may take long.
    """
    busy = f"another process has been indexing {root} for {_LOCK_SECONDS:.0f} s; wait for it or stop it"
    path, stop = folder / "lock", folder / BACKGROUND_STOP
    with ExitStack() as stack:
        try:
            stack.enter_context(hold_lock(path, _SHORT_SECONDS, busy))
        except LockBusy:
            if is_locked(folder / BACKGROUND_LOCK):
                stack.callback(unlink_quietly, stop)
                with suppress(OSError):
                    os.close(os.open(stop, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            stack.enter_context(hold_lock(path, _LOCK_SECONDS, busy))
            unlink_quietly(stop)
        yield


def unlink_quietly(path: Path) -> None:
    """Delete a file if it is there and can be deleted."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


class LockBusy(IndexNotWritable):
    """Another process holds a lock."""


@contextmanager
def hold_lock(path: Path, patience: float, busy: str) -> Iterator[int | None]:
    """Hold the lock at `path`, and give its descriptor, with which a child would hold it too; None if there is none.

    Raises LockBusy, with the message `busy`, if another process has held it for `patience` seconds, and else
    IndexNotWritable.
    """
    try:
        descriptor, let_go = _acquire_lock(path, patience)
    except TimeoutError:
        raise LockBusy(busy) from None
    except OSError as error:
        raise IndexNotWritable(f"cannot lock {path.parent}: {error.strerror or error}") from error
    try:
        yield descriptor
    finally:
        let_go()


@contextmanager
def hold_data_file(path: Path, lock: str) -> Iterator[None]:
    """Prepare the folder of a file of user data and hold `lock`, a name beside it. Raises IndexNotWritable."""
    prepare_folder(path.parent)
    busy = f"another process has been writing {path.name} in {path.parent}; try again"
    with hold_lock(path.parent / lock, _DATA_LOCK_SECONDS, busy):
        yield


def delete_data_file(path: Path) -> bool:
    """Delete a file of user data; return True if there was one. Raises IndexNotWritable."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise IndexNotWritable(f"cannot remove {path}: {error.strerror or error}") from error
    return True


def is_locked(path: Path) -> bool:
    """Return True if a process holds the lock at `path`, which need not be writable for this one."""
    if fcntl is None:
        try:
            with hold_lock(path, 0.0, "busy"):
                return False
        except IndexNotWritable as error:
            return isinstance(error, LockBusy)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in _BUSY
    finally:
        os.close(descriptor)
    return False


def _acquire_lock(path: Path, patience: float) -> tuple[int | None, Callable[[], object]]:
    """Acquire the lock that `filelock` would acquire, and return its descriptor, if known, and its release function.

    Uses flock directly where it exists: importing the library takes longer than the work under the lock. Raises
    TimeoutError after `patience` seconds, and OSError.
    """
    if fcntl is None:
        return None, _acquire_filelock(path, patience)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    due = time.monotonic() + patience
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return descriptor, lambda: os.close(descriptor)
            except OSError as error:
                if error.errno not in _BUSY:
                    break  # a file system without such locks: the library knows another way
            if time.monotonic() >= due:
                raise TimeoutError(str(path))
            time.sleep(_PAUSE_SECONDS)
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None, _acquire_filelock(path, patience)


def _acquire_filelock(path: Path, patience: float) -> Callable[[], object]:
    from filelock import FileLock, Timeout

    lock = FileLock(path, timeout=patience)
    try:
        lock.acquire()
    except Timeout as error:
        raise TimeoutError(str(path)) from error
    return lock.release


def is_read_only(error: IndexNotWritable) -> bool:
    """Return True if the folder is not writable for this user (EACCES, EPERM, EROFS).

    Such a folder is normal, so no diagnostic is issued.
    """
    return isinstance(error.__cause__, OSError) and error.__cause__.errno in (errno.EACCES, errno.EPERM, errno.EROFS)


def _is_regular_or_absent(path: Path) -> bool:
    """Return True if the path is a regular file or does not exist."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return True


def replace_file(path: Path, data: bytes) -> None:
    """Replace a file by one that is wholly on the disk. Raises IndexNotWritable."""
    aside = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        for leftover in path.parent.glob(f"{path.name}.*.new"):  # of writers that were killed: the lock is ours
            leftover.unlink(missing_ok=True)
        with aside.open("xb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        aside.replace(path)
    except OSError as error:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise IndexNotWritable(f"cannot write {path}: {error.strerror or error}") from error
