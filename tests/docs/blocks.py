"""Parts of a page that a program writes: between `<!-- example:NAME -->` and `<!-- /example -->`.

What stands between the markers is compared with what the program writes today, and rewritten on demand. A page says
with the first word of its markers which program that is: "example" or "generated".
"""

import re
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

_BLOCK = re.compile(r"(<!-- (example|generated):([\w-]+) -->\n)(.*?)(<!-- /\2 -->)", re.DOTALL)


def blocks_of(text: str, kind: str) -> dict[str, str]:
    """Content by name of the blocks of one kind; a name that comes twice is an error."""
    found: dict[str, str] = {}
    for _, its_kind, name, content, _ in _BLOCK.findall(text):
        if its_kind == kind:
            assert name not in found, f"two blocks are called {kind}:{name}"
            found[name] = content
    return found


def with_blocks(text: str, kind: str, contents: Mapping[str, str]) -> str:
    """`text` with the content of those blocks replaced; blocks of other kinds and names stay."""

    def replaced(match: re.Match[str]) -> str:
        if match[2] != kind or match[3] not in contents:
            return match[0]
        return match[1] + contents[match[3]] + match[5]

    return _BLOCK.sub(replaced, text)


def without_blocks(text: str) -> str:
    """Return the page without its generated blocks and their markers.

    >>> without_blocks("a\\n<!-- example:x -->\\nb\\n<!-- /example -->\\nc\\n")
    'a\\n\\nc\\n'
    """
    return _BLOCK.sub("", text)


def keep_in_sync(page: Path, contents: Mapping[str, str], arguments: list[str]) -> int:
    """With `--write`, writes the generated blocks of a page; otherwise prints those that differ and says so (1)."""
    text = page.read_text(encoding="utf-8")
    if "--write" in arguments:
        page.write_text(with_blocks(text, "generated", contents), encoding="utf-8")
        return 0
    there = blocks_of(text, "generated")
    for name, content in contents.items():
        if there.get(name) != content:
            print(f"-- {name}\n{content}")
    return int(there != contents)


def table(head: tuple[str, ...], rows: list[tuple[object, ...]]) -> str:
    """A Markdown table; columns of numbers are aligned to the right.

    >>> print(table(("a", "b"), [("x", 1)]), end="")
    | a | b |
    |---|--:|
    | x | 1 |
    """
    numeric = [bool(rows) and all(_is_number(row[i]) for row in rows) for i in range(len(head))]
    lines = [" | ".join(head), "|".join("--:" if right else "---" for right in numeric)]
    lines = [f"| {lines[0]} |", f"|{lines[1]}|"]
    lines += [f"| {' | '.join(str(cell) for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def _is_number(cell: object) -> bool:
    return isinstance(cell, int | float) or bool(re.fullmatch(r"[-−]?[\d.,]+(e-?\d+)?|", str(cell)))
