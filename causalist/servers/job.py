"""One run of the process that indexes, as its server sees it: how far it is, how it ended, how to end it.

A process of its own, because indexing holds the interpreter for long and takes memory that a server should not keep.
Nothing here knows an event loop; everything but `load` returns at once.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from causalist import errors
from causalist.errors import CausalistError, IndexingStopped

if TYPE_CHECKING:
    from causalist.model.facts import Diagnostic
    from causalist.model.index import Index

# The child imports what its server would, from where its server would, and nothing from the current folder.
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from causalist.servers.index_child import main; main(sys.argv[2:])"
)
_GRACE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Stage:
    """How far indexing is: `parsed` of `total` files, and what is being done. `total` is 0 before it is known."""

    what: str = "starting"
    parsed: int = 0
    total: int = 0

    def __str__(self) -> str:
        """In words.

        >>> str(Stage("parsing", 1200, 5300)), str(Stage("linking", 5300, 5300)), str(Stage())
        ('1200 of 5300 files parsed', '5300 of 5300 files parsed, now linking', 'looking for what has changed')
        """
        if not self.total:
            return "looking for what has changed" if self.what == "starting" else self.what
        now = "" if self.what == "parsing" else f", now {self.what}"
        return f"{self.parsed} of {self.total} files parsed{now}"

    @property
    def percent(self) -> float:
        """A guess, by how long the stages take in large repositories; it never falls."""
        if self.what == "parsing":
            return 60 * self.parsed / self.total if self.total else 0
        return {"starting": 0, "linking": 60, "indexing words": 90}.get(self.what, 60)


class IndexJob:
    """A started process; `buffers` is what `index_child.write_buffers` made, or None for the files as they are saved.
    Raises IndexingStopped if it cannot be started."""

    def __init__(self, root: Path, buffers: Path | None = None) -> None:
        self.stage = Stage()
        self.ended = threading.Event()
        self._root = root
        self._outcome: dict[str, object] = {}
        paths = [path for path in sys.path if path]
        command = [sys.executable, "-P", "-c", _START, json.dumps(paths), os.fspath(root)]
        command += [] if buffers is None else [os.fspath(buffers)]
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            raise IndexingStopped(f"cannot start {sys.executable} to index: {error.strerror or error}") from error
        threading.Thread(target=self._listen, daemon=True).start()

    def load(self) -> "tuple[Index, tuple[Diagnostic, ...]]":
        """The index that an ended job made, and notes on it. Raises the CausalistError that ended it."""
        from causalist.model.facts import Diagnostic
        from causalist.store import read_index

        place = self._outcome.get("index")
        if not isinstance(place, str):
            raise self._failure()
        index = read_index(Path(place))
        self._remove_temporary()
        if index is None:
            raise IndexingStopped(f"the index of {self._root} was removed just after it was made; ask again")
        notes = self._outcome.get("notes")
        return index, tuple(map(Diagnostic._make, notes)) if isinstance(notes, list) else ()

    def stop(self) -> None:
        """Ends the process and all that it started; what was complete on disk stays as it was."""
        if self.ended.is_set():  # its number may be another's by now
            self._remove_temporary()
            return
        for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
            # The process itself may be gone and its workers not.
            with suppress(OSError):
                if hasattr(os, "killpg"):
                    os.killpg(self._process.pid, number)
                else:
                    self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE_SECONDS)

    def _remove_temporary(self) -> None:
        """Removes an index that is stored nowhere else; what is mapped stays readable."""
        if self._outcome.get("is_temporary"):
            shutil.rmtree(Path(str(self._outcome["index"])).parent, ignore_errors=True)

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with suppress(ValueError, KeyError, TypeError):
                document = json.loads(line)
                if "what" not in document:
                    self._outcome = document
                elif document["what"] == "parsing":
                    self.stage = Stage("parsing", int(document["done"]), int(document["total"]))
                else:
                    self.stage = Stage(str(document["what"]), self.stage.total, self.stage.total)
        self._process.wait()
        self.ended.set()

    def _failure(self) -> CausalistError:
        slug, message = self._outcome.get("slug"), str(self._outcome.get("message"))
        if slug is None:
            code = self._process.returncode
            how = f"with exit code {code}" if code >= 0 else f"by signal {-code}"
            return IndexingStopped(
                f"the process that indexes {self._root} was ended {how}; ask again, or run `causalist index` to see why"
            )
        for each in vars(errors).values():
            if isinstance(each, type) and issubclass(each, CausalistError) and each.slug == slug:
                return each(message)
        return IndexingStopped(f"indexing failed: {message}; CAUSALIST_TRACEBACK=1 shows where")
