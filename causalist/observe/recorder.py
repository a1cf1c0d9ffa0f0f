"""The recorder of calls inside of an observed interpreter: which code of the repository called which.

It runs in the interpreter of the user, of any version from 3.8 on, which has no causalist: the file is copied into the
folder of a run and imports nothing but the standard library. `start` is called by the `sitecustomize` beside it.

One file for each process, `<process>-<number>.rec`, to which whole lines are appended: the CRC-32 of a JSON list, in
hexadecimal, and the list. A process that is killed loses what it saw since the last line. Rows of a list:

- `["c", number, file, first line, name, flags]` a code object
- `["p", caller, callee, direct, through, line]` counts so far of a pair; caller -1: no code of the repository above it
- `["t", test, [callee, …]]` code that ran while pytest ran a test
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import threading
import time
import zlib
from typing import Any

MAX_PAUSE_SECONDS = 0.5  # between two times that something is written, while something new is seen
_SHARE = 20.0  # of the time, writing takes one part
_TEST_VARIABLE = "PYTEST_CURRENT_TEST"
_GENERATORS = 0x20 | 0x80 | 0x200  # flags of generators, coroutines and asynchronous generators
_NOBODY = -1
_MIN_TOOL, _MAX_TOOL = 3, 5  # numbers of tools of sys.monitoring that no kind of tool claims


class Recorder:
    """Counts of calls of this process, and the file that they are appended to."""

    def __init__(self, folder: str) -> None:
        """Read which files count: below the first line of `files.txt`, those of the other lines."""
        self.folder = folder
        self.cwd = os.getcwd()
        with open(os.path.join(folder, "files.txt"), encoding="utf-8", errors="surrogateescape") as file:
            self.root, *names = file.read().split("\0")
        self.names = frozenset(names)
        self.is_inside: dict[str, bool] = {}  # by the file name of code
        self.known: dict[int, int] = {}  # number by id of a code object
        self.kept: list[Any] = []  # the code objects: an id is that of another object once the first is gone
        self.numbers: dict[tuple[str, int, str], int] = {}
        self.first: dict[int, int] = {}  # offset at which a generator starts
        self.rows: list[list[Any]] = []
        self.direct: dict[tuple[int, int], int] = {}
        self.through: dict[tuple[int, int], int] = {}
        self.lines: dict[tuple[int, int], int] = {}
        self.test = _read_test()
        self.ran: set[int] = set()
        self.lock = threading.RLock()
        self.begin_file()

    def begin_file(self) -> None:
        """Drop all counts, which after a fork are those of the parent, and begin a new file."""
        self.lock = threading.RLock()
        self.direct.clear()
        self.through.clear()
        self.written: dict[tuple[int, int], tuple[int, int]] = {}
        self.ran.clear()
        self.rows = [["c", number, *key, 0] for key, number in self.numbers.items()]
        for code in self.kept:
            number = self.known[id(code)]
            self.rows[number][-1] = code.co_flags
        self.due = 0.0
        self.process = os.getpid()
        stamp = time.time_ns() if hasattr(time, "time_ns") else int(time.time() * 1e9)
        self.path = os.path.join(self.folder, "%d-%x.rec" % (self.process, stamp))

    def look_at(self, name: str) -> bool:
        """Return True if code with this file name counts, and remember it."""
        inside = False
        if not name.startswith("<"):
            path = os.path.realpath(os.path.join(self.cwd, name))
            if path.startswith(self.root + os.sep):
                inside = path[len(self.root) + 1 :].replace(os.sep, "/") in self.names
        self.is_inside[name] = inside
        return inside

    def add_code(self, code: Any) -> int:
        """Return the number of a code object of the repository, -1 for another."""
        inside = self.is_inside.get(code.co_filename)
        if inside is None:
            inside = self.look_at(code.co_filename)
        if not inside:
            return _NOBODY
        with self.lock:
            path = os.path.realpath(os.path.join(self.cwd, code.co_filename))[len(self.root) + 1 :]
            key = (path.replace(os.sep, "/"), code.co_firstlineno, code.co_name)
            number = self.numbers.setdefault(key, len(self.numbers))
            if number == len(self.numbers) - 1:
                self.rows.append(["c", number, *key, code.co_flags])
            self.kept.append(code)
            self.known[id(code)] = number
        return number

    def add_first(self, number: int, frame: Any) -> tuple[int, bool]:
        """Return (the nearest caller of the repository, True if it called directly) of a frame's code."""
        number_by_code, is_direct = self.known, True
        while frame is not None:
            code = frame.f_code
            caller = number_by_code.get(id(code), _NOBODY)
            if caller < 0 and self.is_inside.get(code.co_filename, True):
                caller = self.add_code(code)
            if caller >= 0:
                self.lines.setdefault((caller, number), frame.f_lineno or 0)
                return caller, is_direct
            frame, is_direct = frame.f_back, False
        return _NOBODY, False

    def change_test(self) -> None:
        """Take the test that pytest names now."""
        name = _read_test()
        if name != self.test:
            with self.lock:
                if self.test and self.ran:
                    self.rows.append(["t", self.test, sorted(self.ran)])
                self.ran.clear()
                self.test = name
        self.flush_when_due()

    def flush_when_due(self) -> None:
        """Write what was counted, unless that was done a moment ago."""
        if time.monotonic() >= self.due:
            self.flush()

    def flush(self) -> None:
        """Append what was counted since the last time. Never raises: the program is not ours."""
        begun = time.monotonic()
        try:
            if self.process != os.getpid():  # a fork that nothing told of
                self.begin_file()
            with self.lock:
                rows, self.rows = self.rows, []
                if self.test and self.ran:
                    rows.append(["t", self.test, sorted(self.ran)])
                for pair in [*list(self.direct), *(pair for pair in list(self.through) if pair not in self.direct)]:
                    counts = self.direct.get(pair, 0), self.through.get(pair, 0)
                    if self.written.get(pair) != counts:
                        self.written[pair] = counts
                        rows.append(["p", *pair, *counts, self.lines.get(pair, 0)])
                if rows:
                    data = json.dumps(rows, separators=(",", ":")).encode("ascii")
                    line = b"%08x %s\n" % (zlib.crc32(data), data)
                    with open(self.path, "ab", buffering=0) as file:
                        file.write(line)
        except Exception:  # a full disk, or an interpreter that is ending
            pass
        now = time.monotonic()
        self.due = now + min(_SHARE * (now - begun), MAX_PAUSE_SECONDS)


def _read_test() -> str:
    """Return the test that pytest runs, without its phase; "" for none."""
    return os.environ.get(_TEST_VARIABLE, "").rpartition(" (")[0]


def _sets_test(code: Any) -> bool:
    return bool(code.co_name == "_update_current_test_var")  # of pytest's runner


def _watch(recorder: Recorder, disable: Any) -> Any:
    """Return the callback of sys.monitoring for started functions."""
    number_by_code, direct, through = recorder.known, recorder.direct, recorder.through
    ran, get_frame, waits = recorder.ran, sys._getframe, [False]

    def start(code: Any, offset: int) -> Any:
        number = number_by_code.get(id(code))
        if number is None:
            number = recorder.add_code(code)
            if number < 0:
                if _sets_test(code):  # the variable is set when it has run
                    waits[0] = True
                    return None
                return disable
        if waits[0]:
            waits[0] = False
            recorder.change_test()
        ran.add(number)
        try:
            frame: Any = get_frame(2)
        except ValueError:  # at the bottom of a thread
            frame = None
        else:
            pair = number_by_code.get(id(frame.f_code), _NOBODY), number
            if pair in direct:
                direct[pair] += 1
                return None
        caller, is_direct = recorder.add_first(number, frame)
        counts = direct if is_direct else through
        pair = caller, number
        if pair in counts:
            counts[pair] += 1
        else:
            counts[pair] = 1
            recorder.flush_when_due()
        return None

    return start


def _profile(recorder: Recorder) -> Any:
    """Return the function of sys.setprofile, for interpreters without sys.monitoring."""
    number_by_code, direct, through, inside = recorder.known, recorder.direct, recorder.through, recorder.is_inside
    ran, first, waits = recorder.ran, recorder.first, [False]

    def profile(frame: Any, event: str, argument: Any) -> None:
        if event != "call":
            return
        code = frame.f_code
        if inside.get(code.co_filename, True) is False:
            if _sets_test(code):
                waits[0] = True
            return
        number = number_by_code.get(id(code))
        if number is None:
            number = recorder.add_code(code)
            if number < 0:
                return
        if code.co_flags & _GENERATORS and first.setdefault(number, frame.f_lasti) != frame.f_lasti:
            return  # it goes on
        if waits[0]:
            waits[0] = False
            recorder.change_test()
        ran.add(number)
        back = frame.f_back
        if back is not None:
            pair = number_by_code.get(id(back.f_code), _NOBODY), number
            if pair in direct:
                direct[pair] += 1
                return
        caller, is_direct = recorder.add_first(number, back)
        counts = direct if is_direct else through
        pair = caller, number
        if pair in counts:
            counts[pair] += 1
        else:
            counts[pair] = 1
            recorder.flush_when_due()

    return profile


def _flush_before(recorder: Recorder, name: str, is_end: Any) -> None:
    """Make a function of `os` that ends this program write what was counted first."""
    end = getattr(os, name, None)
    if end is None:
        return

    def flush_and_end(*arguments: Any, **named: Any) -> Any:
        if is_end(*arguments):
            recorder.flush()
        return end(*arguments, **named)

    flush_and_end.__name__ = flush_and_end.__qualname__ = name
    flush_and_end.__module__ = "os"  # pickles name it by that
    setattr(os, name, flush_and_end)


def start(folder: str) -> Recorder:
    """Record the calls of this process, of its threads and of its forks into files of `folder`."""
    recorder = Recorder(folder)
    monitoring: Any = getattr(sys, "monitoring", None)
    tools = range(_MIN_TOOL, _MAX_TOOL + 1) if monitoring else ()
    tool = next((each for each in tools if monitoring.get_tool(each) is None), None)
    if tool is not None:
        monitoring.use_tool_id(tool, "causalist")
        monitoring.register_callback(tool, monitoring.events.PY_START, _watch(recorder, monitoring.DISABLE))
        monitoring.set_events(tool, monitoring.events.PY_START)
    else:
        profile = _profile(recorder)
        threading.setprofile(profile)
        sys.setprofile(profile)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=recorder.begin_file)
    atexit.register(recorder.flush)
    for name in ("_exit", "abort", "execv", "execve"):
        _flush_before(recorder, name, lambda *_: True)
    _flush_before(recorder, "kill", lambda pid=None, *_: pid in (os.getpid(), 0))
    return recorder
