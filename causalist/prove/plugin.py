"""The plugin of pytest inside of the interpreter of the project: runs some tests and says how each ended.

It runs in the interpreter of the user, of any version from 3.8 on, which has no causalist: the file is copied beside a
plan and imports nothing but pytest and the standard library. The plan, a JSON file that `CAUSALIST_PROVE` names, has

- `root`, the folder of the copy; `out`, the file for the rows; `parent`, the process that waits for them
- `tests`: the ids of the tests to run (`path::Class.name`), or `names`: their names in pytest; all without either;
  `done`: names that are left out of these
- `node`: path, first and last line and name of a function; with `trace`, its first run in each test is recorded

Rows are JSON lists, one a line:

- `["start", name]` a test begins
- `["end", name, test, outcome, phase, seconds, frames]`: `frames` are those of the failure, from the test inwards
- `["ran", name, frames]` the frames around the first run of the function, `name` null outside of tests
- `["started", name, frames]` those around the first start of another process in a test, with `trace`
- `["collect", path, text, frames]` a file whose tests cannot be collected
- `["loaded", own, other]` True if the file of the function was loaded from the copy; else where from, if at all

A frame is `[path, first line, name, flags, line]`, or null for code from elsewhere.
"""

import inspect
import json
import os
import sys
import threading
import time
from typing import Any, Dict, List, Optional, Set, Tuple  # what Python 3.8 has

import pytest

_FUNCTION = 0x1
# What starts another process and says so; a fork goes on with the trace. What `multiprocessing` spawns says nothing.
_STARTS = frozenset(["subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.startfile"])
_SPAWNING = "spawnv_passfds"


class _Runner:
    def __init__(self, plan: Dict[str, Any]) -> None:
        self.root = os.path.join(os.path.realpath(plan["root"]), "")
        self.plan = plan
        self.tests = set(plan.get("tests") or ())
        self.names = set(plan.get("names") or ())
        self.done = set(plan.get("done") or ())
        self.is_all = not self.tests and not self.names
        self.out = os.open(plan["out"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.ids: Dict[str, str] = {}
        self.paths: Dict[str, str] = {}
        self.found: Dict[str, List[Any]] = {}
        self.current: Optional[str] = None
        self.ran: Set[Optional[str]] = set()
        self.starting: Set[str] = set()
        self.is_node: Dict[Any, bool] = {}

    def write(self, *row: object) -> None:
        os.write(self.out, (json.dumps(row) + "\n").encode("ascii"))

    def path_of(self, file: str) -> str:
        """Return the path of a file below the copy, "" for another."""
        if file not in self.paths:
            real = os.path.realpath(file)
            inside = real.startswith(self.root) and not file.startswith("<")  # <frozen runpy> is no file
            self.paths[file] = real[len(self.root) :].replace(os.sep, "/") if inside else ""
        return self.paths[file]

    # -- which tests

    def ids_of(self, item: Any) -> List[str]:
        """Return the ids that a test may have: by where its function stands, and by its name."""
        path, _, rest = item.nodeid.partition("[")[0].partition("::")
        ids = [path + "::" + rest.replace("::", ".")]
        function: Any = getattr(item, "obj", None)
        try:
            function = inspect.unwrap(getattr(function, "__func__", function))
            code = function.__code__
            stands_in = self.path_of(code.co_filename)
            if stands_in:
                ids.insert(0, stands_in + "::" + function.__qualname__)
        except (AttributeError, ValueError):
            pass
        return ids

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: Any, items: List[Any]) -> None:
        kept: List[Any] = []
        deselected: List[Any] = []
        for item in items:
            ids = self.ids_of(item)
            known_ids = [each for each in ids if each in self.tests]
            self.ids[item.nodeid] = (known_ids or ids)[0]
            wanted = self.is_all or (item.nodeid in self.names if self.names else bool(known_ids))
            (kept if wanted and item.nodeid not in self.done else deselected).append(item)
        if deselected:
            items[:] = kept
            config.hook.pytest_deselected(items=deselected)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            text = str(report.longrepr).strip().splitlines()
            self.write("collect", report.nodeid.partition("::")[0], text[-1][:300] if text else "", [])

    # -- how they end

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> Any:
        self.current = item.nodeid
        self.found[item.nodeid] = ["passed", "call", 0.0, []]
        self.write("start", item.nodeid)
        yield
        self.current = None
        self.write("end", item.nodeid, self.ids.get(item.nodeid, ""), *self.found.pop(item.nodeid))

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        outcome = yield
        report, ended = outcome.get_result(), self.found.get(item.nodeid)
        if ended is None:
            return
        ended[2] += report.duration
        if report.failed and ended[0] != "failed":
            frames = [] if call.excinfo is None else self.frames_of(call.excinfo.value)
            ended[:2], ended[3] = ["failed", report.when], frames
        elif report.skipped and ended[0] == "passed":
            ended[:2] = ["skipped", report.when]
        elif report.passed and ended[:2] == ["skipped", "call"] and report.when == "call":
            ended[:2] = ["passed", "call"]  # only a subtest was skipped: the report of the test itself comes last

    def row_of(self, frame: Any, line: int) -> Optional[List[Any]]:
        code = frame.f_code
        path = self.path_of(code.co_filename)
        return [path, code.co_firstlineno, code.co_name, code.co_flags & _FUNCTION, line] if path else None

    def frames_of(self, error: Any) -> List[Any]:
        """Return the frames of an error, then those of what caused it, where these go on from one of the first."""
        frames: List[Tuple[Any, int]] = []
        seen: Set[int] = set()
        while error is not None and id(error) not in seen:
            seen.add(id(error))
            own: List[Tuple[Any, int]] = []
            traceback = error.__traceback__
            while traceback is not None:
                own.append((traceback.tb_frame, traceback.tb_lineno))
                traceback = traceback.tb_next
            if not frames:
                frames = own
            elif own:
                place = next((i for i, (frame, _) in enumerate(frames) if frame is own[0][0]), -1)
                if place < 0:
                    break
                frames = frames[:place] + own
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__) or error.__context__
        return self.shorten([self.row_of(frame, line) for frame, line in frames])

    @staticmethod
    def shorten(rows: List[Any]) -> List[Any]:
        """Return the frames from the first of the copy on, one null for all code from elsewhere in between."""
        shortened: List[Any] = []
        for row in rows:
            if row is not None or (shortened and shortened[-1] is not None):
                shortened.append(row)
        while shortened and shortened[-1] is None:
            shortened.pop()
        return shortened[:400]

    # -- what runs the function

    def start_trace(self) -> None:
        sys.addaudithook(self.audit)
        threading.setprofile(self.profile)
        sys.setprofile(self.profile)

    def profile(self, frame: Any, event: str, _: Any) -> None:
        if event != "call":
            return
        code = frame.f_code
        is_node = self.is_node.get(code)
        if is_node is None:
            path, first, last, name = self.plan["node"]
            is_node = code.co_name == name and first <= code.co_firstlineno <= last
            is_node = is_node and self.path_of(code.co_filename) == path
            self.is_node[code] = is_node
        if is_node and self.current not in self.ran:
            self.ran.add(self.current)
            self.write("ran", self.current, self.frames_around(frame))
        if code.co_name == _SPAWNING:
            self.note_start(frame)

    def audit(self, event: str, _: Any) -> None:
        if event in _STARTS:
            self.note_start(sys._getframe(1))

    def note_start(self, frame: Any) -> None:
        """Say that a test starts a process."""
        if self.current and self.current not in self.starting:
            self.starting.add(self.current)
            self.write("started", self.current, self.frames_around(frame))

    def frames_around(self, frame: Any) -> List[Any]:
        rows = []
        while frame is not None:
            rows.append(self.row_of(frame, frame.f_lineno))
            frame = frame.f_back
        return self.shorten(rows[::-1])

    def pytest_sessionfinish(self) -> None:
        sys.setprofile(None)
        path = self.plan["node"][0]
        own, other, end = False, "", "/" + (path[4:] if path.startswith("src/") else path)
        for module in list(sys.modules.values()):
            file = getattr(module, "__file__", None)
            if not isinstance(file, str) or os.path.basename(file) != os.path.basename(path):
                continue
            if self.path_of(file) == path:
                own = True
            elif os.path.realpath(file).replace(os.sep, "/").endswith(end):
                other = os.path.realpath(file)
        self.write("loaded", own, other)


def _end_with(parent: int) -> None:
    """End this process when the one that waits for it was killed."""
    while os.getppid() == parent:
        time.sleep(0.3)
    os._exit(3)


def pytest_configure(config: Any) -> None:
    """Begin to watch the tests of the plan."""
    with open(os.environ["CAUSALIST_PROVE"], encoding="utf-8") as file:
        plan = json.load(file)
    if os.name != "nt":
        threading.Thread(target=_end_with, args=(plan["parent"],), daemon=True).start()
    runner = _Runner(plan)
    config.pluginmanager.register(runner, "causalist-prove")
    if plan.get("trace"):
        runner.start_trace()
