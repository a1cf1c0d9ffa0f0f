"""A plugin of pytest that records who runs special methods, for `implicit_calls.py`.

    cd clones/werkzeug
    TRACED=$PWD TRACE=../traces/werkzeug.json PYTHONPATH=.../tests/benchmarks/edges python -m pytest -p tracer

Only code below the folder TRACED counts: which functions ran, and which of them ran which special method, directly or
through code from elsewhere.
"""

import json
import os
import re
import sys
import threading
from functools import cache
from pathlib import Path
from types import CodeType, FrameType

_SPECIAL = re.compile(r"__\w+__")
_CALLS: set[tuple[tuple[str, str], tuple[str, str]]] = set()
_RAN: set[tuple[str, str]] = set()


@cache
def _is_inside(path: str) -> bool:
    if path.startswith("<") or "/site-packages/" in path:  # code without a file; what is installed
        return False
    return Path(path).resolve().is_relative_to(os.environ["TRACED"])


def _place(code: CodeType) -> tuple[str, str]:
    return code.co_filename, code.co_qualname


def _record(frame: FrameType, event: str, argument: object) -> None:
    if event != "call" or not _is_inside(frame.f_code.co_filename):
        return
    _RAN.add(_place(frame.f_code))
    if _SPECIAL.fullmatch(frame.f_code.co_name):
        user = frame.f_back
        while user is not None and not _is_inside(user.f_code.co_filename):
            user = user.f_back
        if user is not None:
            _CALLS.add((_place(user.f_code), _place(frame.f_code)))


def pytest_configure() -> None:
    sys.setprofile(_record)
    threading.setprofile(_record)


def pytest_sessionfinish() -> None:
    sys.setprofile(None)
    Path(os.environ["TRACE"]).write_text(json.dumps({"ran": sorted(_RAN), "calls": sorted(_CALLS)}), encoding="utf-8")
