"""Answers on a terminal: the ranked list, syntax colors, links to files, a pager; and an editor at a result.

Piped output does not come here. Colors obey NO_COLOR, TERM=dumb and --color. Repository text has no control characters
by then, so that only the sequences that are added here reach the terminal.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist._internal.text import align_columns
from causalist.cli._output import escape_controls
from causalist.errors import UsageError

if TYPE_CHECKING:
    from causalist.model.answer import Answer
    from causalist.model.scores import Hit

MAX_LISTED = 10  # results above the code
_HEADER = re.compile(r"── (?:#(?P<rank>\d+) )?(?P<path>\S.*?):(?P<first>\d+)(?:-\d+)?  (?P<rest>.*)")
_FENCE = re.compile(r"(`{3,})\S*")
# How editors are told of a line, by the name of their program. {0} is the path, {1} the line.
_EDITORS = {
    ("code", "code-insiders", "codium", "cursor", "windsurf"): ("--goto", "{0}:{1}"),
    ("subl", "zed", "zeditor", "hx", "helix"): ("{0}:{1}",),
    ("idea", "pycharm", "goland", "webstorm", "clion", "rider"): ("--line", "{1}", "{0}"),
    ("notepad++",): ("-n{1}", "{0}"),
}
_PLUS = ("+{1}", "{0}")  # vi, vim, nvim, nano, emacs, emacsclient, micro, kak, gedit and others


def is_colored(choice: str) -> bool:
    """Return True if stdout gets colors by --color, NO_COLOR and what stdout is."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout is not None and sys.stdout.isatty()


def list_results(answer: "Answer", root: Path, *, colored: bool, limit: int | None = None) -> list[str]:
    """Return a line for each result: rank, place, name, the best reason, score."""
    shown = answer.results[:limit]
    places = [f"{each.path}:{each.start_row + 1}" for each in shown]
    rows = [
        [f"#{rank}", place, each.symbol or f"({each.kind})", _reason_of(each), f"{each.score:.2f}"]
        for rank, (place, each) in enumerate(zip(places, shown, strict=True), 1)
    ]
    lines = [escape_controls(line) for line in align_columns(rows)]
    if colored:
        lines = [
            line.replace(escape_controls(place), _link(escape_controls(place), root, hit.path), 1)
            for line, place, hit in zip(lines, places, shown, strict=True)
        ]
    if len(answer.results) > len(shown):
        lines.append(f"and {len(answer.results) - len(shown)} more; --list shows all")
    return lines


def color_pack(text: str, root: Path) -> Iterator[str]:
    """Yield the lines of a text pack with colors: headings, links to files, code by its language."""
    path, fence, code = "", "", list[str]()
    for line in text.splitlines():
        if fence:
            if line == fence:
                yield from _color_code(code, path)
                yield click.style(line, dim=True)
                fence, code = "", []
            else:
                code.append(line)
            continue
        heading, opened = _HEADER.fullmatch(line), _FENCE.fullmatch(line)
        if heading is not None:
            path = heading["path"]
            place = line[heading.start("path") : heading.start("rest")].rstrip()
            rank = click.style(f"#{heading['rank']} ", fg="yellow", bold=True) if heading["rank"] else ""
            yield f"── {rank}{_link(place, root, path)}  {click.style(heading['rest'], bold=True)}"
        elif opened is not None:
            fence = opened[1]
            yield click.style(line, dim=True)
        else:
            yield click.style(line, bold=True) if line.startswith("# ") else line
    yield from _color_code(code, path)


def _color_code(lines: Sequence[str], path: str) -> list[str]:
    """Return lines of code with colors; as they are if their language is not known."""
    from pygments import highlight
    from pygments.formatters import TerminalFormatter
    from pygments.lexers import get_lexer_for_filename
    from pygments.util import ClassNotFound

    if not lines:
        return []
    try:
        lexer = get_lexer_for_filename(Path(path).name, stripnl=False, ensurenl=True)
    except ClassNotFound:
        return list(lines)
    colored = highlight("\n".join(lines), lexer, TerminalFormatter()).split("\n")[: len(lines)]
    return colored if len(colored) == len(lines) else list(lines)


def _link(text: str, root: Path, path: str) -> str:
    """Return a text that a terminal opens as a file, underlined where links are not known (OSC 8)."""
    address = (root / path).resolve().as_uri()
    return f"\x1b]8;;{address}\x1b\\{click.style(text, fg='cyan')}\x1b]8;;\x1b\\"


def _reason_of(hit: "Hit") -> str:
    """Return the first phrase for what speaks most for a result; "" if only its links do."""
    from causalist.pack.entries import reason_phrases

    return next(iter(reason_phrases(hit.reasons)), "")


def page(lines: Sequence[str]) -> None:
    """Show lines in the user's pager, as git does: $CAUSALIST_PAGER, $PAGER, or less, which ends if all fits."""
    pager = os.environ.get("CAUSALIST_PAGER") or os.environ.get("PAGER") or "less"
    text = "".join(f"{line}\n" for line in lines)
    words = shlex.split(pager)
    if not words or shutil.which(words[0]) is None or sys.stdout is None or not sys.stdout.isatty():
        click.echo(text, nl=False, color=True)
        return
    environment = os.environ | ({} if "LESS" in os.environ else {"LESS": "FRX"})
    process = subprocess.Popen(words, stdin=subprocess.PIPE, env=environment)
    try:
        process.communicate(text.encode("utf-8", "backslashreplace"))
    except (BrokenPipeError, KeyboardInterrupt):  # its user has seen enough
        process.wait()


def open_result(answer: "Answer", root: Path, rank: int) -> None:
    """Open a result in $VISUAL or $EDITOR at its line. Raises UsageError without one, and for a rank without result."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    words = shlex.split(editor)
    if not words:
        raise UsageError("--open needs $VISUAL or $EDITOR, such as EDITOR=vim")
    if not 1 <= rank <= len(answer.results):
        raise UsageError(f"--open {rank}: the answer has {len(answer.results)} results")
    hit = answer.results[rank - 1]
    try:
        done = subprocess.run([*words, *editor_arguments(words[0], root / hit.path, hit.start_row + 1)], check=False)
    except OSError as error:
        raise UsageError(f"{editor} could not be started: {error.strerror or error}") from error
    if done.returncode:
        raise UsageError(f"{editor} ended with exit code {done.returncode}")


def editor_arguments(program: str, path: Path, line: int) -> list[str]:
    """Return the arguments that open a file at a line.

    >>> editor_arguments("/usr/bin/vim", Path("/a.py"), 7), editor_arguments("code", Path("/a.py"), 7)
    (['+7', '/a.py'], ['--goto', '/a.py:7'])
    """
    name = Path(program).name.lower().removesuffix(".exe").removesuffix(".cmd")
    words = next((words for names, words in _EDITORS.items() if name in names), _PLUS)
    return [word.format(path, line) for word in words]
