"""Progress: nothing before a second has passed, one line on a terminal, nothing left of it."""

import io
import sys

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
        clock.now += 0.09
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
        "\rparsing 1/100\rparsing 2/100\rparsing 3/100\rlinking      \r" + " " * len("linking") + "\r"
    )


def test_without_redrawing_a_line_for_each_stage() -> None:
    stream, clock, progress = shown(redraws=False)
    for what in ("parsing", "parsing", "linking", "linking"):
        clock.now += 1.0
        progress(what, 1, 2)
    progress.close()
    assert stream.getvalue() == "parsing\nlinking\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("variable", "value", "redraws"), [("NO_COLOR", "1", False), ("TERM", "dumb", False), ("TERM", "xterm", True)]
)
def test_what_the_terminal_wants(variable: str, value: str, redraws: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv(variable, value)
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr("causalist.cli._output.SILENT_SECONDS", 0.0)
    with show_progress() as progress:
        progress("parsing", 1, 2)
    assert sys.stderr.getvalue() == ("\rparsing 1/2\r           \r" if redraws else "parsing\n")  # type: ignore[attr-defined]


def test_no_terminal_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in (io.StringIO(), None):
        monkeypatch.setattr(sys, "stderr", stream)
        with show_progress() as progress:
            assert progress is ignore_progress
