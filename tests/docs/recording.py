"""The moving picture of the README: commands as they are typed, and what they print, as an SVG without scripts.

    python -m tests.docs.recording

writes `docs/start.svg`. A viewer that does not move pictures, or a reader who wants none moved, sees its last state.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

from tests.cli.commands import run
from tests.docs.blocks import DOCS, ROOT

PICTURE = DOCS / "start.svg"
# The words of each command, and how many of its first lines are shown.
COMMANDS = (
    (["ask", "where does user authentication happen?", "--list", "--top-k", "6", "--color", "always"], 6),
    (["path", "TaskService.updateTask", "WebhookDispatcher.attempt"], 6),
    (["ask", "verifyToken", "--top-k", "1", "--max-tokens", "300", "--color", "always"], 20),
)
MAX_COLUMNS = 136
CHARACTER, LINE, MARGIN = 7.25, 17, 14  # of a monospaced font of 12 pixels
TYPING, PAUSE = 0.05, 1.2  # seconds for a character, and before the next command

_ESCAPE = re.compile(r"\x1b\]8;;[^\x1b]*\x1b\\|\x1b\[([\d;]*)m")
_COLORS = {"31": "#ff8f8f", "32": "#8fd694", "33": "#e5c07b", "34": "#7fb4ff", "35": "#d19cf0", "36": "#67c7d8"}
_VARYING = re.compile(r" @ [0-9a-f]{7,}| · \d+ tokens\b")  # the digits of the commit count as tokens
_STYLE = """
text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #d7dae0; white-space: pre; }
.p { fill: #8fd694; }
@keyframes a { from { opacity: 0; } }
@media (prefers-reduced-motion: no-preference) { g { animation: a 1ms step-end both; } }
"""


def colored(line: str) -> str:
    """Return a printed line as parts of a text of SVG, each with the color that it has on a terminal.

    >>> colored("a \\x1b[36mb<\\x1b[0m c")
    'a <tspan fill="#67c7d8">b&lt;</tspan> c'
    """
    parts, color, at = [], "", 0
    for match in (*_ESCAPE.finditer(line), None):
        text = escape(line[at : match.start() if match else len(line)], quote=False)
        if text:
            parts.append(f'<tspan fill="{color}">{text}</tspan>' if color else text)
        if match is None:
            break
        at = match.end()
        for code in (match[1] or "").split(";") if match[1] is not None else ():
            if code in _COLORS:
                color = _COLORS[code]
            elif code in ("", "0", "39"):
                color = ""
    return "".join(parts)


def draw(recorded: list[tuple[str, list[str]]]) -> str:
    """Return the picture of commands and the lines that they print."""
    parts: list[str] = []
    time, row = 0.5, 0

    def show(text: str, column: int = 0) -> None:
        place = f'x="{MARGIN + column * CHARACTER:g}" y="{MARGIN + (row + 1) * LINE - 5}"'
        parts.append(f'<g style="animation-delay:{time:.2f}s"><text {place}>{text}</text></g>')

    for command, lines in recorded:
        show('<tspan class="p">$</tspan>')
        for word in re.finditer(r"\S+", command):
            time += TYPING * (len(word[0]) + 1)
            show(escape(word[0], quote=False), word.start() + len("$ "))
        time += 0.2
        for line in lines:
            row += 1
            if line.strip():
                show(colored(line))
        time += PAUSE
        row += 2
    width, height = MAX_COLUMNS * CHARACTER + 2 * MARGIN, 2 * MARGIN + (row - 1) * LINE
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" width="{width:g}" height="{height}" '
        'role="img" aria-label="Commands of causalist and what they print">',
        f"<style>{_STYLE}</style>",
        f'<rect width="{width:g}" height="{height}" rx="8" fill="#1d2027"/>', *parts, "</svg>",
    ]) + "\n"  # fmt: skip


def record(folder: Path) -> str:
    """Return the picture of the commands in a repository."""
    recorded = []
    for words, n_lines in COMMANDS:
        done = run(*words, cwd=folder)
        if done.code != 0:
            raise SystemExit(done.stderr)
        shown = [f'"{word}"' if " " in word else word for word in words if word not in ("--color", "always")]
        lines = [_cut(_VARYING.sub("", line)) for line in done.stdout.rstrip("\n").split("\n")[:n_lines]]
        recorded.append((" ".join(["causalist", *shown]), lines))
    return draw(recorded)


def _cut(line: str) -> str:
    """A line of at most the columns of the picture; what is cut is marked."""
    if len(_ESCAPE.sub("", line)) <= MAX_COLUMNS:
        return line
    kept, columns, at = [], 0, 0
    for match in (*_ESCAPE.finditer(line), None):
        text = line[at : match.start() if match else len(line)][: max(0, MAX_COLUMNS - 1 - columns)]
        kept.append(text + (match[0] if match else ""))
        columns += len(text)
        at = match.end() if match else at
    return "".join(kept) + "…"


def make_repository(folder: Path) -> Path:
    """Return a copy of the sample repository, under git."""
    shutil.copytree(
        ROOT / "sample_repos/taskboard-api", folder, ignore=shutil.ignore_patterns(".causalist", "__pycache__")
    )
    for command in (
        ("init", "-q"),
        ("add", "-A"),
        ("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--no-gpg-sign", "-m", "sample"),
    ):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as parent:
        PICTURE.write_text(record(make_repository(Path(parent) / "taskboard-api")), encoding="utf-8")
    print(PICTURE, file=sys.stderr)
