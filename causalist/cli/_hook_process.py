"""Work that may take just so long and may go wrong in any way, without its caller ever noticing more than silence.

Indexing that nobody waits for: a process of its own, with a low priority, that outlives the command.
"""

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from causalist.cli._run import TRACEBACK

_CHUNK = 1 << 16
# By how much a child that nobody could end outlives its deadline.
_GRACE_SECONDS = 2.0


def read_until(descriptor: int, deadline: float, most: int) -> bytes | None:
    """All that a file descriptor holds until its end; None where that does not come before `deadline` (of
    `time.monotonic`), or where it is more than `most` bytes."""
    kept = bytearray()
    while len(kept) <= most:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([descriptor], [], [], left)[0]:
            return None
        chunk = os.read(descriptor, _CHUNK)
        if not chunk:
            return bytes(kept)
        kept += chunk
    return None


def outcome_before(deadline: float, work: Callable[[], bytes], most: int) -> bytes:
    """What `work` returns; nothing where it raises, crashes, or is not done before `deadline` (of `time.monotonic`).

    It runs in a process of its own where there are such, because nothing else can be ended while it computes.
    """
    return _forked(deadline, work, most) if hasattr(os, "fork") else _threaded(deadline, work)


def _forked(deadline: float, work: Callable[[], bytes], most: int) -> bytes:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work_and_end(deadline, work, writing)
    os.close(writing)
    done: bytes | None = None
    try:
        done = read_until(reading, deadline, most)
        # It ends right after the last byte.
        while done is not None and time.monotonic() < deadline:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return done if status == 0 else b""
            time.sleep(0.001)
    finally:
        os.close(reading)
        with suppress(OSError):
            os.kill(child, signal.SIGKILL)
    return b""


def _work_and_end(deadline: float, work: Callable[[], bytes], writing: int) -> None:
    """The child's whole life. It ends even if its parent was killed."""
    code = 1
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, max(0.01, deadline - time.monotonic()) + _GRACE_SECONDS)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        left = memoryview(work())
        while left:
            left = left[os.write(writing, left) :]
        code = 0
    except BaseException as error:
        with suppress(BaseException):
            _tell(error)
    finally:
        os._exit(code)


def _threaded(deadline: float, work: Callable[[], bytes]) -> bytes:
    results: list[bytes] = []

    def run() -> None:
        try:
            results.append(work())
        except Exception as error:
            _tell(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(max(0.0, deadline - time.monotonic()))
    return results[0] if results else b""


def _tell(error: BaseException) -> None:
    from causalist.cli._output import say
    from causalist.errors import CausalistError

    slug = error.slug if isinstance(error, CausalistError) else type(error).__name__
    say(f"{slug}: {error}")
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error, file=sys.stderr)
    sys.stderr.flush()


_NICENESS = 10
# Whoever started it is about to answer first.
_DELAY_SECONDS = 1.0
# It imports what its parent would, from where its parent would, and nothing from the current folder.
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from causalist.cli._hook_process import main; main(sys.argv[2])"
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
