"""Run the hook's work with a deadline, and start indexing in the background.

Failures of the work never reach the caller: it gets empty output. Background indexing is a separate process of low
priority that outlives the command.
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
# seconds after the deadline at which a child ends itself if its parent was killed
_GRACE_SECONDS = 2.0


def read_until(descriptor: int, deadline: float, most: int) -> bytes | None:
    """Return all bytes of a file descriptor up to its end.

    None if the end does not come before `deadline` (of `time.monotonic`), or if there are more than `most` bytes.
    """
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


def run_until(deadline: float, work: Callable[[], bytes], most: int) -> bytes:
    """Return the result of `work`, or b"" if it fails or misses `deadline` (of `time.monotonic`).

    The work runs in a forked process where the platform has fork, because running code can only be stopped with its
    process.
    """
    return _run_in_fork(deadline, work, most) if hasattr(os, "fork") else _run_in_thread(deadline, work)


def _run_in_fork(deadline: float, work: Callable[[], bytes], most: int) -> bytes:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _run_child(deadline, work, writing)
    os.close(writing)
    done: bytes | None = None
    try:
        done = read_until(reading, deadline, most)
        # The child exits right after the last byte.
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


def _run_child(deadline: float, work: Callable[[], bytes], writing: int) -> None:
    """Run the work in the child and exit. A timer ends the child even if its parent was killed."""
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
            _report_failure(error)
    finally:
        os._exit(code)


def _run_in_thread(deadline: float, work: Callable[[], bytes]) -> bytes:
    results: list[bytes] = []

    def run() -> None:
        try:
            results.append(work())
        except Exception as error:
            _report_failure(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(max(0.0, deadline - time.monotonic()))
    return results[0] if results else b""


def _report_failure(error: BaseException) -> None:
    from causalist.cli._output import say
    from causalist.errors import CausalistError

    slug = error.slug if isinstance(error, CausalistError) else type(error).__name__
    say(f"{slug}: {error}")
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error, file=sys.stderr)
    sys.stderr.flush()


_NICENESS = 10
# The hook that starts the process answers first.
_DELAY_SECONDS = 1.0
# The child uses the import path of its parent, without the current folder.
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from causalist.cli._hook_process import main; main(sys.argv[2])"
)


def start_indexing(root: Path) -> None:
    """Start a process that refreshes the index of `root`, unless one is running. Return at once."""
    paths = [path for path in sys.path if path]
    subprocess.Popen(
        [sys.executable, "-P", "-c", _START, json.dumps(paths), os.fspath(root)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def main(root: str) -> None:
    """Refresh the index of `root` at low priority: the entry point of the background process."""
    time.sleep(_DELAY_SECONDS)
    if hasattr(os, "nice"):
        with suppress(OSError):
            os.nice(_NICENESS)
    from filelock import FileLock, Timeout

    from causalist.errors import CausalistError
    from causalist.pipeline.first_answer import begin_index
    from causalist.pipeline.repository import Repository
    from causalist.store import cache_folder

    with suppress(CausalistError):
        if begin_index(Path(root)):
            return

    # The lock is in the user's cache folder, because repository files are untrusted.
    place = cache_folder(Path(root))
    lock = place.with_name(f"{place.name}.lock")
    with suppress(OSError, Timeout, CausalistError):
        lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock(lock, timeout=0):
            Repository.open(root, exact_root=True)
