"""What the folder looked like when its index was last found current: a digest beside the index, which saves a scan.

The digest is of the index file as well (`index_stamp`), so that it says nothing of another one. Nobody needs it: where
it cannot be read or written, the folder is scanned.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path

from causalist.store.cache_dir import SEEN_NAME

_MOST_BYTES = 200
_OPEN_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def index_stamp(path: Path) -> tuple[int, ...] | None:
    """What another file in the place of an index would have otherwise; None where there is none."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def read_seen(folder: Path) -> str | None:
    """The digest that is kept in the folder of an index."""
    with suppress(OSError, UnicodeDecodeError):
        descriptor = os.open(folder / SEEN_NAME, os.O_RDONLY | _OPEN_FLAGS)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(_MOST_BYTES).decode("ascii").strip()
    return None


def write_seen(folder: Path, digest: str) -> None:
    """Keeps a digest in the folder of an index, if that can be written. Nothing is followed."""
    aside = folder / f"{SEEN_NAME}.{os.getpid()}.new"
    with suppress(OSError):
        if not stat.S_ISDIR(os.lstat(folder).st_mode):
            return
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OPEN_FLAGS, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(f"{digest}\n".encode("ascii"))
            aside.replace(folder / SEEN_NAME)
        except OSError:
            aside.unlink(missing_ok=True)
