"""Answers on a terminal: what is added there, and nothing of it in a pipe."""

import os
import re
import sys
from pathlib import Path

import pytest

from causalist import Repository
from causalist.cli._ask_output import color_pack, editor_arguments, is_colored, page
from causalist.cli.callers_and_impact import format_edges
from tests.cli.commands import invoke, run

_CONTROL = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;;[^\x1b]*\x1b\\")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    total = "def total(lines):\n    return sum(lines)\n"
    (tmp_path / "cart.py").write_text(f"{total}\n\ndef show_total(lines):\n    return total(lines)\n")
    return tmp_path


def test_a_list_has_rank_place_name_reason_and_score(shop: Path) -> None:
    done = invoke("ask", "total of lines", "--repo", str(shop), "--list")
    first = done.stdout.splitlines()[0].split()
    assert first[:3] == ["#1", "cart.py:1", "total"]
    assert "matches" in first and float(first[-1]) > 0
    assert "def total" not in done.stdout


def test_colors_change_no_text(shop: Path) -> None:
    plain = invoke("ask", "total of lines", "--repo", str(shop)).stdout
    colored = invoke("ask", "total of lines", "--repo", str(shop), "--color", "always").stdout
    assert "\x1b" not in plain
    assert "\x1b[" in colored and f"\x1b]8;;{(shop / 'cart.py').as_uri()}\x1b\\" in colored
    assert _CONTROL.sub("", colored).endswith(plain)


def test_code_of_an_unknown_language_stays_as_it_is(tmp_path: Path) -> None:
    pack = "── #1 notes.xyzzy:1-2  notes  (file)\n```\nint main() { return 0; }\n```\n"
    assert "int main() { return 0; }" in list(color_pack(pack, tmp_path))


def test_a_fence_ends_at_one_as_long(tmp_path: Path) -> None:
    pack = "── a.md:1-3  a  (passage)\n````\n```\ncode\n```\n````\n── b.py:1  b  (function)\n```\nx = 1\n```\n"
    assert [_CONTROL.sub("", line) for line in color_pack(pack, tmp_path)] == pack.splitlines()


@pytest.mark.parametrize(("variable", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_color_is_off_where_the_user_says_so(variable: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert is_colored("auto")
    monkeypatch.setenv(variable, value)
    assert not is_colored("auto") and is_colored("always") and not is_colored("never")


@pytest.mark.slow
def test_an_editor_opens_a_result_at_its_line(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    script = shop / "editor"
    script.write_text(f'#!/bin/sh\necho "$@" > {shop / "told"}\n')
    script.chmod(0o755)
    done = run("ask", "show_total", "--open", cwd=shop, EDITOR=str(script))
    assert (done.code, done.stdout) == (0, "")
    assert (shop / "told").read_text() == f"+5 {shop / 'cart.py'}\n"


def test_without_an_editor_or_result_the_message_says_so(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    assert "EDITOR=vim" in invoke("ask", "total", "--repo", str(shop), "--open").failed("usage")
    monkeypatch.setenv("EDITOR", "true")
    assert "results" in invoke("ask", "total", "--repo", str(shop), "--open", "99").failed("usage")
    monkeypatch.setenv("EDITOR", "false")
    assert "exit code 1" in invoke("ask", "total", "--repo", str(shop), "--open").failed("usage")


def test_editors_are_told_of_the_line_in_their_way() -> None:
    path = Path("/a.py")
    assert editor_arguments("emacsclient", path, 3) == ["+3", "/a.py"]
    assert editor_arguments("/opt/zed", path, 3) == ["/a.py:3"]
    assert editor_arguments("idea", path, 3) == ["--line", "3", "/a.py"]


def test_a_pager_that_is_not_there_is_no_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PAGER", "no-such-program-anywhere")
    page(["one", "two"])
    assert capsys.readouterr().out == "one\ntwo\n"


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="a terminal of POSIX")
def test_a_real_terminal_gets_the_list_and_colors(shop: Path) -> None:
    import pty

    read, write = pty.openpty()
    import subprocess

    environment = {**os.environ, "TERM": "xterm", "PYTHONPATH": str(Path.cwd())}
    environment.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "causalist", "ask", "total of lines", "--repo", str(shop)]
    process = subprocess.Popen(command, stdout=write, stderr=subprocess.DEVNULL, env=environment)
    os.close(write)
    text = b""
    while True:
        try:
            more = os.read(read, 65536)
        except OSError:
            break
        if not more:
            break
        text += more
    assert process.wait() == 0
    shown = text.decode()
    assert _CONTROL.sub("", shown).startswith("#1  cart.py:1")
    assert "\x1b[" in shown and "def" in shown


def test_a_terminal_does_not_repeat_the_node_that_was_asked_for(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edges = Repository.open(shop, exact_root=True).callers("total")
    asked = edges[0].target
    piped = format_edges(edges, asked)
    assert f"{edges[0].source} -> {asked}" in piped[0]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert edges[0].source in (shown := format_edges(edges, asked))[0] and asked not in shown[0]
    assert format_edges(edges, "another") == piped
