"""Optional steps that fail inside of a server process: the answer does without, says so, and stops trying."""

import json
import sys
from pathlib import Path

import pytest

from causalist._internal.stage_clock import MAX_FAILURES
from tests.pipeline.sample import copy_sample
from tests.pipeline.test_guarded_steps import OPTIONAL, QUESTION
from tests.servers.conftest import settle
from tests.servers.wire import RawServer

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="runs a server with its own import path"),
]

_SKIPPED_RUNS = 6  # of the server here: it is asked as often
# A server in which each of these functions raises as long as a file says so: the line `NAME KIND`.
_PROGRAM = """
import importlib, json, pathlib, sys
from causalist.errors import ConvergenceError

switch, targets, root = pathlib.Path(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3]

def guarded(name, real):
    def call(*given, **more):
        wanted, _, kind = switch.read_text().partition(" ")
        if wanted == name:
            raise ConvergenceError("made to fail") if kind == "known" else ZeroDivisionError("made to fail")
        return real(*given, **more)
    return call

for name, target in targets.items():
    module, _, function = target.rpartition(".")
    module = importlib.import_module(module)
    setattr(module, function, guarded(name, getattr(module, function)))

from causalist._internal import stage_clock
stage_clock.SKIPPED_RUNS = int(sys.argv[4])
from causalist.cli import main
main(["serve", "mcp", "--wait", "60", "--refresh-wait", "60", "--repo", root])
"""
# No agent asks for a scope or for the seeds of a hit.
STEPS = {name: at for name, at in OPTIONAL.items() if name not in ("validate.scope", "assemble.attribution")}


def note_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("note: step-skipped: ")]


def test_each_step_may_fail_and_what_keeps_failing_is_passed_over(tmp_path: Path) -> None:
    root = copy_sample(tmp_path)
    settle(root)
    switch = tmp_path / "switch"
    switch.write_text("")
    program = [sys.executable, "-P", "-c", _PROGRAM, str(switch), json.dumps(STEPS), str(root), str(_SKIPPED_RUNS)]
    with RawServer(root, program=program) as server:
        server.start()
        # No two questions are the same, so that none is answered from the cache.
        whole, is_error = server.call("ask", question=QUESTION, top_k=5)
        assert not is_error and "auth-middleware.ts" in whole and note_of(whole) == []
        switch.write_text("candidates.words known")
        assert server.call("ask", question=QUESTION, top_k=5) == (whole, False)  # at hand
        for number, step in enumerate(STEPS):
            switch.write_text(f"{step} known")
            text, is_error = server.call("ask", question=QUESTION, top_k=6 + number)
            assert not is_error and "auth-middleware.ts" in text, step
            assert note_of(text) == [f"note: step-skipped: {step}: convergence: made to fail"]

        switch.write_text("candidates.history unknown")
        for number in range(MAX_FAILURES):
            text, is_error = server.call("ask", question=QUESTION, top_k=30 + number)
            assert is_error and "internal: ZeroDivisionError: made to fail" in text
        text, is_error = server.call("ask", question=QUESTION, top_k=40)
        (note,) = note_of(text)
        assert not is_error and "auth-middleware.ts" in text
        assert "not tried after 3 failures in a row" in note and f"{_SKIPPED_RUNS - 1} more times" in note

        switch.write_text("")
        for number in range(_SKIPPED_RUNS - 1):
            text, _ = server.call("ask", question=QUESTION, top_k=41 + number, max_tokens=300)
        again, is_error = server.call("ask", question=QUESTION, top_k=4)
        assert not is_error and "auth-middleware.ts" in again and note_of(again) == []
        assert server.finish() == 0
