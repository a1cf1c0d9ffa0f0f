"""Progress: nothing before 200 ms have passed, one line on a terminal, nothing left of it."""

import io
import os
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from causalist.cli._output import ProgressBar, ignore_progress, show_progress


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def shown(*, redraws: bool) -> tuple[io.StringIO, Clock, ProgressBar]:
    stream, clock = io.StringIO(), Clock()
    return stream, clock, ProgressBar(stream, redraws=redraws, clock=clock)


def test_quick_work_is_silent() -> None:
    stream, clock, progress = shown(redraws=True)
    for done in range(10):
        clock.now += 0.019
        progress("parsing", done, 10)
    progress.close()
    assert stream.getvalue() == ""


def test_one_line_is_drawn_over_and_wiped() -> None:
    stream, clock, progress = shown(redraws=True)
    for done in (1, 2, 3):
        clock.now += 1.0
        progress("parsing", done, 100)
        progress("parsing", done, 100)  # too soon to draw again
    progress("linking", 0, 0)
    progress.close()
    assert stream.getvalue() == (
        f"\r[{'.' * 24}]  parsing  1/100 files"
        f"\r[{'.' * 24}]  parsing  2/100 files  1.0/s  1:38 min left"
        f"\r[{'.' * 24}]  parsing  3/100 files  1.0/s  1:37 min left"
        f"\r{'linking'.ljust(len('[]  parsing  3/100 files  1.0/s  1:37 min left') + 24)}"
        f"\r{' ' * len('linking')}\r"
    )


def test_a_line_has_files_rate_and_time_left() -> None:
    stream, clock, progress = shown(redraws=True)
    progress("parsing", 0, 4000)
    clock.now += 10.0
    progress("parsing", 3000, 4000)  # 300 a second: 1,000 more take 3.3 s
    assert stream.getvalue() == f"\r[{'#' * 18}{'.' * 6}]  parsing  3,000/4,000 files  300/s  3 s left"


def test_files_that_were_known_before_do_not_count_for_the_rate() -> None:
    stream, clock, progress = shown(redraws=True)
    progress("parsing", 3000, 4000)
    clock.now += 10.0
    progress("parsing", 3500, 4000)  # 50 a second: 500 more take 10 s
    assert stream.getvalue().endswith("parsing  3,500/4,000 files  50/s  10 s left")


def test_without_redrawing_a_line_for_each_stage() -> None:
    stream, clock, progress = shown(redraws=False)
    for what in ("parsing", "parsing", "linking", "linking"):
        clock.now += 1.0
        progress(what, 1, 2)
    progress.close()
    assert stream.getvalue() == "parsing\nlinking\n"


LINE = f"[{'#' * 12}{'.' * 12}]  parsing  1/2 files"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("variable", "value", "redraws"), [("NO_COLOR", "1", False), ("TERM", "dumb", False), ("TERM", "xterm", True)]
)
def test_what_the_terminal_wants(variable: str, value: str, redraws: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv(variable, value)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("causalist.cli._output.SILENT_SECONDS", 0.0)
    with show_progress() as progress:
        progress("parsing", 1, 2)
    assert terminal.getvalue() == (f"\r{LINE}\r{' ' * len(LINE)}\r" if redraws else "parsing\n")


def test_work_that_is_known_to_be_long_is_shown_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("causalist.cli._output.SILENT_SECONDS", 3600.0)
    with show_progress() as progress:
        progress("starting", 0, 0)
    assert terminal.getvalue() == ""
    with show_progress(at_once=True) as progress:
        progress("starting", 0, 0)
    assert terminal.getvalue() == "starting\n"


def test_no_terminal_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in (io.StringIO(), None):
        monkeypatch.setattr(sys, "stderr", stream)
        with show_progress() as progress:
            assert progress is ignore_progress


_PARSES_SLOWLY = """
import sys, time
from causalist import parse
parse_file = parse.parse_file
def parse_slowly(path, data):
    time.sleep(0.2)
    return parse_file(path, data)
parse.parse_file = parse_slowly
from causalist.cli import main
sys.exit(main(["index", "--processes", "1", "--repo", sys.argv[1]]))
"""


def _hear_interrupts() -> None:
    """Undo what a shell does to commands behind `&`, and to all that they start: they ignore interrupts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_an_interrupted_index_goes_on_from_the_files_that_were_parsed(tmp_path: Path) -> None:
    """A terminal shows a bar; after its interrupt the facts of the parsed files are in the cache."""
    import pty

    root, cache = tmp_path / "project", tmp_path / "cache"
    root.mkdir()
    for number in range(100):
        (root / f"m{number:02}.py").write_text(f"def f{number}():\n    return {number}\n")
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "CI")}
    environment |= {"XDG_CACHE_HOME": str(cache), "TERM": "xterm"}
    outer, inner = pty.openpty()
    command = [sys.executable, "-c", _PARSES_SLOWLY, str(root)]
    with subprocess.Popen(
        command, stderr=inner, stdout=subprocess.PIPE, env=environment, preexec_fn=_hear_interrupts
    ) as child:
        os.close(inner)
        seen = b""
        while not re.search(rb"\] +parsing +[1-9]\d?/100 files", seen):
            seen += os.read(outer, 1000)
        child.send_signal(signal.SIGINT)
        assert child.wait(30) == 130
    os.close(outer)
    n_parsed = int(re.findall(rb"parsing +(\d+)/100 files", seen)[-1])
    (database,) = (cache / "causalist" / "facts").glob("facts-*.db")
    with closing(sqlite3.connect(database)) as connection:
        (n_stored,) = connection.execute("SELECT count(*) FROM facts").fetchone()
    assert n_parsed <= n_stored < 100
