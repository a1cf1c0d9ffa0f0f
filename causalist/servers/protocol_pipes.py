"""Event loops of servers: standard input and output reserved for a protocol, and blocking work in daemon threads.

After `claim_pipes`, file descriptor 1 is standard error and 0 is empty. No stray print, C library or child process can
write between messages or consume them.
"""

import asyncio
import os
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from causalist.errors import UsageError


@dataclass(frozen=True, slots=True)
class Pipes:
    """File descriptors of the protocol."""

    reading: int
    writing: int


def claim_pipes() -> Pipes:
    """Reserve standard input and output for the protocol. Raises UsageError if one is closed."""
    try:
        # A closed descriptor would be reused by the first duplicate.
        os.fstat(0)
        os.fstat(1)
        pipes = Pipes(os.dup(0), os.dup(1))
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        try:
            os.dup2(2, 1)
        except OSError:  # standard error is closed
            os.dup2(nothing, 1)
        os.close(nothing)
    except OSError as error:
        raise UsageError(f"standard input and output must be open: {error.strerror or error}") from error
    return pipes


_Result = TypeVar("_Result")
_Work = Callable[[], None]

# idle threads to keep: starting a thread takes longer than many answers
_MAX_IDLE_THREADS = 8


class _ThreadPool:
    """Pool of daemon threads without an upper bound: work never waits for a thread."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[_Work] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._n_idle = 0

    def begin(self, work: _Work) -> None:
        """Run `work` in an idle thread or in a new one."""
        with self._lock:
            if self._n_idle:
                self._n_idle -= 1
                self._waiting.put(work)
                return
        threading.Thread(target=self._run, args=(work,), daemon=True).start()

    def _run(self, work: _Work) -> None:
        while True:
            work()
            with self._lock:
                if self._n_idle >= _MAX_IDLE_THREADS:
                    return
                self._n_idle += 1
            work = self._waiting.get()


_pool = _ThreadPool()


async def run_in_thread(work: Callable[[], _Result]) -> _Result:
    """Run `work` in a daemon thread and return its result. Program exit does not wait for it."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[_Result] = loop.create_future()

    def settle(result: _Result | None, error: Exception | None) -> None:
        if future.done():  # the request was cancelled
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result: _Result | None = None
        failure: Exception | None = None
        try:
            result = work()
        except Exception as error:
            failure = error
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, result, failure)

    _pool.begin(run)
    return await future
