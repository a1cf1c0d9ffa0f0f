"""A plugin of pytest that writes down which code calls which, by `sys.settrace`: the oracle of `observe`.

    TRACED=/clones/sqlparse TRACE=/tmp/calls.json PYTHONPATH=.../tests/benchmarks/observe python -m pytest -p tracer

A pair is two places, (path, first line, name), of code below the folder TRACED with no frame between. It shares nothing
with the recorder: another hook of the interpreter, which is called in every function, and its own reading of paths.
"""

import json
import os
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType

_PAIRS: set[tuple[CodeType, CodeType]] = set()
_PAIRS_BY_ID: set[tuple[int, int]] = set()
_INSIDE: dict[str, str | None] = {}


def _path_of(code: CodeType) -> str | None:
    name = code.co_filename
    if name not in _INSIDE:
        path, root = Path(name), Path(os.environ["TRACED"])
        is_code = not name.startswith("<") and "site-packages" not in path.parts and path.suffix == ".py"
        is_inside = is_code and path.exists() and path.resolve().is_relative_to(root)
        _INSIDE[name] = path.resolve().relative_to(root).as_posix() if is_inside else None
    return _INSIDE[name]


def _trace(frame: FrameType, event: str, argument: object) -> None:
    caller, code = frame.f_back, frame.f_code
    if event != "call" or caller is None or (id(caller.f_code), id(code)) in _PAIRS_BY_ID:
        return
    is_generator = code.co_flags & 0x2A0
    if is_generator and frame.f_lineno != code.co_firstlineno:
        return  # it goes on where it was left
    if _path_of(code) is not None and _path_of(caller.f_code) is not None:
        _PAIRS_BY_ID.add((id(caller.f_code), id(code)))
        _PAIRS.add((caller.f_code, code))


def pytest_configure() -> None:
    threading.settrace(_trace)
    sys.settrace(_trace)


def pytest_unconfigure() -> None:
    sys.settrace(None)

    def place(code: CodeType) -> tuple[str | None, int, str]:
        return _path_of(code), code.co_firstlineno, code.co_name

    found = sorted({(place(a), place(b)) for a, b in list(_PAIRS)})
    Path(os.environ["TRACE"]).write_text(json.dumps(found), encoding="utf-8")
