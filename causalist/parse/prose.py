"""Prose -> passages: the sections of Markdown, reStructuredText and AsciiDoc, and the blocks of any other text.

A section reaches from its heading to the next heading of the same or a higher level and holds its subsections. The
headings follow CommonMark (ATX and setext, none inside fences), docutils (underlined titles, levels in the order in
which their underlines appear) and AsciiDoc (titles after equals signs). What a block is, `blocks` says.
"""

import re
import unicodedata
from typing import NamedTuple

from causalist.model.facts import Passage
from causalist.parse.blocks import read_blocks
from causalist.parse.manifests import is_manifest

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}\s*$")
_ASCIIDOC_HEADING = re.compile(r"(={1,6})\s+(\S.*)")
_ASCIIDOC_FENCE = re.compile(r"([-.=+*_/])\1{3,}")
_MARKUP = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|<[^>]+>|[`*_]")
_BULLET = re.compile(r"\s*(?:[-*+>|]|\d+[.)])\s?")

_LONGEST_SLUG = 60

# Kinds of text by the end of a file's name. "text" may have underlined titles. "data" is rows of values: each file is
# one document, because no part of it answers a question by itself.
_KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("markdown", (".md", ".mdx", ".markdown")),
    ("restructuredtext", (".rst",)),
    ("asciidoc", (".adoc", ".asciidoc")),
    ("text", (".txt", ".text")),
    (
        "data",
        (".csv", ".tsv", ".jsonl", ".ndjson", ".geojson", ".log", ".lock", ".snap", ".patch", ".diff", ".po", ".pot"),
    ),
)
BY_BLOCKS = frozenset({"plain", "manifest"})  # kinds of text without headings


class Heading(NamedTuple):
    """A heading in a row; level 1 is the highest."""

    row: int
    level: int
    title: str


def read_passages(path: str, text: str) -> tuple[Passage, ...]:
    """The passages of a file without a grammar; byte positions are those of `text` in UTF-8.

    Text before the first heading, prose without headings and text that is one block belong to the file itself.
    """
    lines = text.split("\n")
    # A byte order mark is no part of the first title, but its bytes count.
    shown = [lines[0].removeprefix("\ufeff"), *lines[1:]]
    kind = prose_kind(path)
    if kind == "markdown":
        return sections(lines, markdown_headings(shown))
    if kind == "restructuredtext":
        return sections(lines, _underlined_headings(shown))
    if kind == "asciidoc":
        return sections(lines, _marked_headings(shown))
    if kind == "text":
        headings = _underlined_headings(shown)
        return sections(lines, headings) if len(headings) > 1 else _blocks(lines)
    return () if kind == "data" else _blocks(lines)


def prose_kind(path: str) -> str:
    """ "markdown", "restructuredtext", "asciidoc", "text", "data", "manifest" for files that configure packages, or
    "plain"."""
    lower = path.lower()
    for kind, endings in _KINDS:
        if lower.endswith(endings):
            return kind
    return "manifest" if is_manifest(lower) else "plain"


def title_slug(title: str) -> str:
    """A heading as it stands in ids and links.

    >>> title_slug("Getting `started`: the *first* run!")
    'getting-started-the-first-run'
    """
    plain = unicodedata.normalize("NFC", _MARKUP.sub(lambda m: m[1] or "", title)).strip().lower()
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", plain)).strip("-") or "section"


def markdown_headings(lines: list[str]) -> list[Heading]:
    """The headings of Markdown, in order."""
    headings: list[Heading] = []
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
            headings.append(Heading(row, len(atx[1]), _plain(atx[2] or "")))
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
            headings.append(Heading(row - 1, 1 if setext[1][0] == "=" else 2, _plain(previous)))
    return headings


def _underlined_headings(lines: list[str]) -> list[Heading]:
    headings: list[Heading] = []
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
        headings.append(Heading(row - 2 if over else row - 1, styles.index(style) + 1, _plain(title)))
    return headings


def _marked_headings(lines: list[str]) -> list[Heading]:
    headings: list[Heading] = []
    fence = ""
    for row, raw in enumerate(lines):
        line = raw.rstrip()
        if fence:
            fence = "" if line == fence else fence
        elif _ASCIIDOC_FENCE.fullmatch(line):
            fence = line
        else:
            marked = _ASCIIDOC_HEADING.match(line)
            if marked:
                headings.append(Heading(row, len(marked[1]), _plain(marked[2])))
    return headings


def _plain(title: str) -> str:
    return " ".join(_MARKUP.sub(lambda m: m[1] or "", title).split())


def sections(lines: list[str], headings: list[Heading]) -> tuple[Passage, ...]:
    """One passage for each heading, up to the next one of its level or a higher one."""
    offsets = _offsets(lines)
    total = offsets[-1] - 1
    ends = [len(lines)] * len(headings)
    parents: list[int] = []
    around: list[int] = []  # the sections that are open
    for i, heading in enumerate(headings):
        while around and headings[around[-1]].level >= heading.level:
            ends[around.pop()] = heading.row
        parents.append(around[-1] if around else -1)
        around.append(i)
    slugs = _Slugs()
    return tuple(
        Passage(
            slug=slugs.take(title_slug(heading.title)),
            title=heading.title,
            parent=parent,
            start_byte=offsets[heading.row],
            end_byte=min(offsets[end], total),
            start_row=heading.row,
            end_row=max(end - 1, heading.row),
        )
        for heading, end, parent in zip(headings, ends, parents, strict=True)
    )


def _blocks(lines: list[str]) -> tuple[Passage, ...]:
    offsets = _offsets(lines)
    slugs = _Slugs()
    passages: list[Passage] = []
    for block in read_blocks(lines):
        end = block.end
        while end > block.start + 1 and not lines[end - 1].strip():
            end -= 1
        passages.append(
            Passage(
                slug=slugs.take(_line_slug(block.title)),
                title=block.title,
                parent=-1,
                start_byte=offsets[block.start],
                end_byte=min(offsets[end], offsets[-1] - 1),
                start_row=block.start,
                end_row=end - 1,
            )
        )
    return tuple(passages)


def _line_slug(title: str) -> str:
    """A line of any text as it stands in ids.

    >>> _line_slug("static int read_more(struct state *s)")
    'static-int-read_more-struct-state-s'
    """
    return (
        "-".join(re.findall(r"\w+", unicodedata.normalize("NFC", title).lower()))[:_LONGEST_SLUG].rstrip("-")
        or "section"
    )


class _Slugs:
    """Slugs of one file, each made unique."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def take(self, slug: str) -> str:
        self._seen[slug] = self._seen.get(slug, 0) + 1
        return slug if self._seen[slug] == 1 else f"{slug}~{self._seen[slug]}"


def _offsets(lines: list[str]) -> list[int]:
    """The byte at which each line starts in UTF-8, and one past the text and its last line's missing newline."""
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line.encode("utf-8", "surrogatepass")) + 1)
    return offsets
