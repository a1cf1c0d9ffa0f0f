"""Shell commands of a page: those that tests run, and those that carry a reason why they are not run.

A comment `<!-- not run: REASON -->` on the line before a block exempts it. The block has to show the reason.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.docs.markdown import fenced_blocks

LANGUAGES = ("bash", "sh", "shell", "console")

# What a block that is not run has to contain.
REASONS = {
    "network": re.compile(r"\b(pip install|npm|npx|git clone)\b|\bgh |--(model|clones|embedder)\b|\bopenai:|\.\./"),
    "client": re.compile(r"\bcausalist (install|serve)\b"),
    "history": re.compile(r"--from-git\b|\bcausalist (feedback|learn)\b"),  # what a user's own repository has
    "minutes": re.compile(r"\bpytest\b|\btests\.benchmarks\b|\bjust\b"),
}
_MARKER = re.compile(r"^<!-- not run:(.*)-->\s*$")


@dataclass(frozen=True, slots=True)
class ShellBlock:
    """A block of commands; `reason` is "" if it is to be run, and `line` (1-based) where it begins."""

    text: str
    line: int
    reason: str


def shell_blocks(page: str) -> Iterator[ShellBlock]:
    """Yield the shell blocks of a page in order.

    >>> list(shell_blocks("<!-- not run: client -->\\n```bash\\ncausalist serve lsp\\n```\\n"))
    [ShellBlock(text='causalist serve lsp\\n', line=2, reason='client')]
    """
    lines = page.splitlines()
    for block in fenced_blocks(page):
        if block.language in LANGUAGES:
            marker = _MARKER.match(lines[block.line - 2]) if block.line > 1 else None
            yield ShellBlock(block.text, block.line, marker[1].strip() if marker else "")


def faults_of(page: str) -> list[str]:
    """Return what is wrong with the markers of a page."""
    faults = []
    used = set()
    for block in shell_blocks(page):
        used.add(block.line - 1)
        if block.reason and block.reason not in REASONS:
            faults.append(f"line {block.line - 1}: the reason is {block.reason!r}, not one of {', '.join(REASONS)}")
        elif block.reason and not REASONS[block.reason].search(block.text):
            faults.append(
                f"line {block.line}: nothing in the block shows the reason {block.reason!r}; remove the marker"
            )
    fenced = {
        number for block in fenced_blocks(page) for number in range(block.line, block.line + block.text.count("\n") + 2)
    }
    for number, line in enumerate(page.splitlines(), 1):
        if _MARKER.match(line) and number not in used and number not in fenced:
            faults.append(f"line {number}: no shell block follows the marker")
    return faults
