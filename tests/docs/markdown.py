"""Just enough Markdown for the tests: fenced blocks, headings with their anchors, links."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.docs.blocks import DOCS, ROOT

_FENCE = re.compile(r"^( {0,3})(`{3,}|~{3,})\s*([\w-]*)")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)(?:\s+#+)?\s*$")
_ANCHOR = re.compile(r"<a (?:id|name)=\"([^\"]+)\"")
_LINK = re.compile(r"(?<!\\)\[(?:[^\]\[]|\[[^\]]*\])*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)|^\[[^\]]+\]:\s+(\S+)", re.M)
_CODE_SPAN = re.compile(r"(`+)(?:.*?[^`])\1(?!`)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Fenced:
    """A fenced block: `language` is the first word of its info string, `line` (1-based) where it begins."""

    language: str
    text: str
    line: int


def pages() -> list[Path]:
    """All pages that are documentation of the project."""
    return sorted([*ROOT.glob("*.md"), *(page for page in DOCS.rglob("*.md") if "node_modules" not in page.parts)])


def fenced_blocks(text: str) -> list[Fenced]:
    """The fenced blocks of a page, in order.

    >>> fenced_blocks("a\\n```bash\\nls\\n```\\n")
    [Fenced(language='bash', text='ls\\n', line=2)]
    """
    return [block for block in _parts(text) if isinstance(block, Fenced)]


def prose(text: str) -> str:
    """The page without its fenced blocks."""
    return "".join(part for part in _parts(text) if isinstance(part, str))


def _parts(text: str) -> Iterator[str | Fenced]:
    fence, language, start = "", "", 0
    inside: list[str] = []
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        matched = _FENCE.match(line)
        if fence:
            if matched and matched[2].startswith(fence) and not line.strip().strip(fence[0]):
                yield Fenced(language, "".join(inside), start)
                fence, inside = "", []
            else:
                inside.append(line)
        elif matched:
            fence, language, start = matched[2], matched[3], number
        else:
            yield line
    assert not fence, f"the fence of line {start} is never closed"


def anchors(text: str) -> set[str]:
    """What links to a place in the page may name: headings as GitHub writes them, and explicit anchors.

    >>> sorted(anchors("# The `a.b` table\\n## Why?\\n## Why?\\n"))
    ['the-ab-table', 'why', 'why-1']
    """
    found: set[str] = set()
    plain = prose(text)
    for line in plain.splitlines():
        heading = _HEADING.match(line)
        if not heading:
            continue
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
        slug = re.sub(r"[^\w\- ]", "", title.replace("`", "").lower()).strip().replace(" ", "-")
        number, unique = 0, slug
        while unique in found:
            number += 1
            unique = f"{slug}-{number}"
        found.add(unique)
    return found | set(_ANCHOR.findall(plain))


def links(text: str) -> list[str]:
    """Targets of all links and images outside of code.

    >>> links("[a](b.md#c) `[no](x)` ![i](<d.png>)")
    ['b.md#c', 'd.png']
    """
    return [a or b for a, b in _LINK.findall(_CODE_SPAN.sub("", prose(text)))]
