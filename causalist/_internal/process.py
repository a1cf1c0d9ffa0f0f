"""Work that is done in a process beside this one, while this one goes on.

A fork starts at once and has all that this process has; what it found comes back in a file, so that it ends when it is
done, whenever that is asked for. Where there is no fork to be had, or it ends without a result, the work is done here
when the result is asked for: that costs time, and changes nothing.
"""

import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from causalist._internal.arrays import Arrays, flatten, unflatten

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

T = TypeVar("T")

# Forking is quick, but macOS's own libraries do not bear it, and Windows has none.
CAN_FORK = sys.platform == "linux"

_PREFIX = "result"


class Meanwhile(Generic[T]):
    """The result of `work`, a `kind` of frozen dataclass that can be stored, which depends on nothing that happens
    later. It is begun at once where it is `wanted` and can be; what it raises is raised by `result`."""

    def __init__(self, kind: type[T], work: Callable[[], T], *, wanted: bool = True) -> None:
        self._kind = kind
        self._work = work
        self._under_way = _begun(work) if wanted and CAN_FORK else None

    def result(self) -> T:
        """Waits for it. To be asked for once."""
        if self._under_way is not None:
            process, file = self._under_way
            self._under_way = None
            with file:
                process.join()
                if process.exitcode == 0:
                    with suppress(EOFError):  # it was told to end, which is no failure of its own
                        return _read(self._kind, file)
        return self._work()


def _begun(work: Callable[[], Any]) -> "tuple[BaseProcess, IO[bytes]] | None":
    # Here, not above: an answer with nothing changed begins nothing.
    import multiprocessing
    import tempfile

    try:
        file = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed where it is read
    except OSError:
        return None
    # A daemon is ended with this process, if that ends in order.
    process = multiprocessing.get_context("fork").Process(target=_told, args=(work, file), daemon=True)
    process.start()
    return process, file


def end_with_parent() -> None:
    """Lets a worker end when the process that started it is killed: it would wait for more work for ever, or go on with
    what nobody waits for."""
    import multiprocessing
    import threading

    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _told(work: Callable[[], Any], file: IO[bytes]) -> None:
    """The life of the process beside. What goes wrong in it is found out by who waits, and not told twice."""
    code = 1
    try:
        end_with_parent()
        arrays: Arrays = {}
        scalars = flatten(work(), _PREFIX, arrays)
        header = json.dumps([list(arrays), scalars]).encode()
        for array in (np.frombuffer(header, dtype=np.uint8), *arrays.values()):
            np.save(file, array, allow_pickle=False)
        file.flush()
        code = 0
    except BaseException:
        pass
    finally:
        os._exit(code)


def _read(kind: type[T], file: IO[bytes]) -> T:
    file.seek(0)
    names, scalars = json.loads(np.load(file).tobytes())
    return unflatten(kind, scalars, _PREFIX, {name: np.load(file) for name in names})
