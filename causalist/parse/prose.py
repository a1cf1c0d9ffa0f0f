"""Prose -> passages: the sections of Markdown and reStructuredText, and paragraphs' worth of any other text.

A section reaches from its heading to the next heading of the same or a higher level and holds its subsections. The
headings follow CommonMark (ATX and setext, none inside fences) and docutils (underlined titles, levels in the order
in which their underlines appear).
"""

import re
import unicodedata
from typing import NamedTuple

from causalist.model.facts import Passage
from causalist.parse.manifests import is_manifest

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}\s*$")
_MARKUP = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|<[^>]+>|[`*_]")
_BULLET = re.compile(r"\s*(?:[-*+>|]|\d+[.)])\s?")

MARKDOWN = (".md", ".mdx", ".markdown")
RESTRUCTURED = (".rst",)


class _Heading(NamedTuple):
    row: int
    level: int
    title: str


def read_passages(path: str, text: str) -> tuple[Passage, ...]:
    """The passages of a prose file; byte positions are those of `text` in UTF-8, from its first heading on.

    Text before the first heading, and files without headings, belong to the file itself.
    """
    lines = text.split("\n")
    # A byte order mark is no part of the first title, but its bytes count.
    shown = [lines[0].removeprefix("\ufeff"), *lines[1:]]
    kind = prose_kind(path)
    if kind == "markdown":
        headings = _markdown_headings(shown)
    elif kind == "restructuredtext":
        headings = _underlined_headings(shown)
    else:
        return ()
    return _sections(lines, headings)


def prose_kind(path: str) -> str:
    """ "markdown", "restructuredtext", "manifest" for files that configure packages, or "plain"."""
    lower = path.lower()
    if lower.endswith(MARKDOWN):
        return "markdown"
    if lower.endswith(RESTRUCTURED):
        return "restructuredtext"
    return "manifest" if is_manifest(lower) else "plain"


def title_slug(title: str) -> str:
    """A heading as it stands in ids and links.

    >>> title_slug("Getting `started`: the *first* run!")
    'getting-started-the-first-run'
    """
    plain = unicodedata.normalize("NFC", _MARKUP.sub(lambda m: m[1] or "", title)).strip().lower()
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", plain)).strip("-") or "section"


def _markdown_headings(lines: list[str]) -> list[_Heading]:
    headings: list[_Heading] = []
    fence = ""
    start = 0
    if lines and lines[0].rstrip() == "---":  # front matter
        end = next((i for i, line in enumerate(lines[1:60], 1) if line.rstrip() in ("---", "...")), 0)
        start = end + 1 if end else 0
    for row in range(start, len(lines)):
        line = lines[row].rstrip("\r")
        fenced = _FENCE.match(line)
        if fence:
            if fenced and fenced[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            continue
        if fenced:
            fence = fenced[1]
            continue
        atx = _ATX.match(line)
        if atx:
            headings.append(_Heading(row, len(atx[1]), _plain(atx[2] or "")))
            continue
        setext = _SETEXT.match(line)
        previous = lines[row - 1].strip() if row > start else ""
        # A paragraph of one line becomes a title; lists, quotes and tables do not.
        if (
            setext
            and previous
            and not _BULLET.match(previous)
            and not _ATX.match(previous)
            and (row < 2 or not lines[row - 2].strip())
        ):
            headings.append(_Heading(row - 1, 1 if setext[1][0] == "=" else 2, _plain(previous)))
    return headings


def _underlined_headings(lines: list[str]) -> list[_Heading]:
    headings: list[_Heading] = []
    styles: list[str] = []
    for row in range(1, len(lines)):
        title = lines[row - 1].rstrip()
        under = _UNDERLINE.match(lines[row])
        if not under or not title or title[0].isspace() or _UNDERLINE.match(title):
            continue
        if len(lines[row].rstrip()) < min(len(title), 4):
            continue
        over = row >= 2 and lines[row - 2].rstrip() == lines[row].rstrip()
        style = under[1] + ("^" if over else "")
        if style not in styles:
            styles.append(style)
        headings.append(_Heading(row - 2 if over else row - 1, styles.index(style) + 1, _plain(title)))
    return headings


def _plain(title: str) -> str:
    return " ".join(_MARKUP.sub(lambda m: m[1] or "", title).split())


def _sections(lines: list[str], headings: list[_Heading]) -> tuple[Passage, ...]:
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line.encode("utf-8", "surrogatepass")) + 1)
    total = offsets[-1] - 1
    passages: list[Passage] = []
    seen: dict[str, int] = {}
    open_sections: list[int] = []
    for i, heading in enumerate(headings):
        end_row = next((h.row for h in headings[i + 1 :] if h.level <= heading.level), len(lines))
        while open_sections and headings[open_sections[-1]].level >= heading.level:
            open_sections.pop()
        slug = title_slug(heading.title)
        seen[slug] = seen.get(slug, 0) + 1
        passages.append(
            Passage(
                slug=slug if seen[slug] == 1 else f"{slug}~{seen[slug]}",
                title=heading.title,
                parent=open_sections[-1] if open_sections else -1,
                start_byte=offsets[heading.row],
                end_byte=min(offsets[end_row], total),
                start_row=heading.row,
                end_row=max(end_row - 1, heading.row),
            )
        )
        open_sections.append(i)
    return tuple(passages)
