"""Indexing that nobody waits for: a process of its own, with a low priority, that outlives the command."""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

_NICENESS = 10
# Whoever started it is about to answer first.
_DELAY_SECONDS = 1.0
# It imports what its parent would, from where its parent would, and nothing from the current folder.
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from causalist.cli._background import main; main(sys.argv[2])"
)


def start_indexing(root: Path) -> None:
    """Begins to bring the index of `root` up to date, unless another such process is at it. Returns at once."""
    paths = [path for path in sys.path if path]
    subprocess.Popen(
        [sys.executable, "-P", "-c", _START, json.dumps(paths), os.fspath(root)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def main(root: str) -> None:
    """That process."""
    time.sleep(_DELAY_SECONDS)
    if hasattr(os, "nice"):
        with suppress(OSError):
            os.nice(_NICENESS)
    from filelock import FileLock, Timeout

    from causalist.errors import CausalistError
    from causalist.pipeline.repository import Repository
    from causalist.store import cache_folder

    # Among the user's own files, because nothing in a repository is to be trusted.
    place = cache_folder(Path(root))
    lock = place.with_name(f"{place.name}.lock")
    with suppress(OSError, Timeout, CausalistError):
        lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock(lock, timeout=0):
            Repository.open(root, exact_root=True)
