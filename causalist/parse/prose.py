"""Text without a grammar -> passages, and prose -> mentions of code.

Sections: a section reaches from its heading to the next heading of the same or a higher level, and contains its
subsections. Headings follow CommonMark (ATX and setext, none inside fences), docutils (underlined titles, levels in the
order of their first underline) and AsciiDoc (titles after equals signs).

Blocks: any other text is cut by its layout. A block begins at a line with less indentation than the lines after it: a
function, a section, a top-level key, a statement, a paragraph. Comments belong to the code below them. A long block is
cut one indentation further in; short neighbors share a passage. Text without such structure stays whole: no part of a
log, word list or table answers a query. The rules know no language.

Mentions: names are read from code spans, links, cross-references and directives of documentation tools (`:class:`, `..
autofunction::`, `:::`). In code blocks, names are called chains, imported names and type names. Plain words are not
read: `the client` may be any client. `graph` resolves mentions.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from causalist._internal.lazy import lazy_regex
from causalist.model.facts import Definition, Mention, MentionForm, Passage
from causalist.parse.manifests import is_manifest

# Rows of a passage. On development questions in languages without a grammar 8 to 20 and 40 to 80 rows could not be told
# apart; shorter and longer ones found less.
MIN_PASSAGE_ROWS = 10
MAX_PASSAGE_ROWS = 60
MAX_PASSAGES = 200  # in one file; a file with more is a data dump
_MAX_TITLE_CHARACTERS = 100
_MAX_TITLE_ROWS = 60
_MAX_MEAN_LINE_CHARACTERS = 1000  # bytes a line on average beyond which a file is data
_TAB = 4
_MAX_COLUMN = 100  # further in all lines count as equally far: no hand indents like that

# What ends a block or goes on with it: it never begins one.
_CLOSER = lazy_regex(
    r"[)\]}>,;|&]|</|(?:\{%-?\s*)?(?:end(?:if|for|foreach|while|switch|with|block|macro|function|def)?|else|elif|elsif"
    r"|elseif|rescue|ensure|catch|finally|fi|done|esac)\b"
)
# What belongs to the line that follows: comments, attributes, annotations.
_LEAD = lazy_regex(
    r"//|#(?!\s*(?:define|include|import|pragma|undef)\b)|--|;|%|@[\w.]+(?:\(.*\))?\s*$|\[\w[^\]]*\]\s*$"
)
_CONDITION = lazy_regex(r"#\s*(?:if|ifdef|ifndef|else|elif|endif|region|endregion)\b")
_SECTION = lazy_regex(r"\[[^\]]+\]\s*$")
_QUOTED_KEY = lazy_regex(r"^([\"'])([^\"']+)\1\s*([:=])\s*")
_ONLY_WORDS = lazy_regex(r"\w+(?: [\w*&]+)?")
_TELLING = lazy_regex(r"[^\W\d_]{2}|\w{3}")


class Block(NamedTuple):
    """Rows `start` to `end` (exclusive), and the line that describes them."""

    start: int
    end: int
    title: str


def read_blocks(lines: list[str]) -> list[Block]:
    """Return the passages of a text, in order; none if it fits into one or shows no structure.

    They are contiguous, from the first line to the last.
    """
    if len(lines) <= MAX_PASSAGE_ROWS or sum(map(len, lines)) > _MAX_MEAN_LINE_CHARACTERS * len(lines):
        return []
    layout = _Layout(lines)
    least, most = MIN_PASSAGE_ROWS, MAX_PASSAGE_ROWS
    while True:
        blocks = layout.cut_passages(0, len(lines), 0, least, most)
        if len(blocks) <= MAX_PASSAGES:
            return blocks if len(blocks) > 1 else []
        least, most = 2 * least, 2 * most


class _Layout:
    """Columns of all lines, and flags for lines that cannot begin a block."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.columns: list[int] = []  # -1 for a blank line
        self.leads: list[bool] = []
        self.closers: list[bool] = []
        comment = ""  # end mark of the open comment
        code = 0  # column of the last line that is not blank
        for line in lines:
            text = line.strip()
            column = min(len(line[: len(line) - len(line.lstrip())].expandtabs(_TAB)), _MAX_COLUMN) if text else -1
            lead = closer = False
            if comment:
                lead = True
            elif text.startswith(("/*", "<!--")):
                lead = True
                comment = "*/" if text[0] == "/" else "-->"
            elif _CONDITION.match(text):  # a directive begins at the left margin in any context
                column, closer = code, True
            elif text:
                closer = _CLOSER.match(text) is not None
                lead = _LEAD.match(text) is not None and not (column == 0 and _SECTION.match(text))
            if comment and comment in text:
                comment = ""
            if text:
                code = column
            self.columns.append(column)
            self.leads.append(lead)
            self.closers.append(closer)

    def cut_passages(self, start: int, end: int, column: int, least: int, most: int) -> list[Block]:
        """Return the passages of rows `start` to `end`, whose blocks begin in `column` or further right."""
        starts = self._starts(start, end, column)
        while len(starts) == 1:
            column = min((c for c in self.columns[start + 1 : end] if c > column), default=-1)
            if column < 0:
                return [Block(start, end, self._title(start, end))]
            starts = self._starts(start, end, column)
        blocks = [Block(a, b, self._title(a, b)) for a, b in zip(starts, [*starts[1:], end], strict=True)]
        result: list[Block] = []
        run: list[Block] = []
        for block in blocks:
            if block.end - block.start > most:
                result += _merge_short_blocks(run, least, most)
                run = []
                result += self.cut_passages(block.start, block.end, column + 1, least, most)
            else:
                run.append(block)
        return result + _merge_short_blocks(run, least, most)

    def _starts(self, start: int, end: int, column: int) -> list[int]:
        """Return the rows that begin a block in `column`. `start` is always the first."""
        starts = [start]
        for row in range(start + 1, end):
            if self.columns[row] != column or self.closers[row]:
                continue
            before = self.columns[row - 1]
            if 0 <= before < column or (self.leads[row - 1] and before >= 0):
                continue  # goes on with the line that opens its block, or with a comment
            if before != column or self.closers[row - 1] or (column == 0 and _SECTION.match(self.lines[row])):
                starts.append(row)
        return starts

    def _title(self, start: int, end: int) -> str:
        """Return the first informative line of code, else the first comment."""
        spoken = ""
        for row in range(start, min(end, start + _MAX_TITLE_ROWS)):
            text = " ".join(self.lines[row].split())
            if not _TELLING.search(text):
                continue
            if not self.leads[row] and not self.closers[row]:
                below = self.lines[row + 1] if row + 1 < end and self.columns[row + 1] == self.columns[row] else ""
                if _ONLY_WORDS.fullmatch(text) and _TELLING.search(below):
                    text += " " + " ".join(below.split())  # `static int`, and the name
                return _strip_opening(text)
            spoken = spoken or text.strip("/*#!-;%<>\"' ")
        first = next((line.strip() for line in self.lines[start:end] if line.strip()), "")
        return (spoken or first)[:_MAX_TITLE_CHARACTERS].rstrip()


def _strip_opening(line: str) -> str:
    """Return a line without an opening bracket, the quotes of a key or the brackets of a tag.

    >>> lines = ('"scripts": {', "<dependencies>", "#include <stdio.h>", "int main(void) {")
    >>> [_strip_opening(line) for line in lines]
    ['scripts', 'dependencies', '#include <stdio.h>', 'int main(void)']
    """
    text = line.strip("<>") if line[0] == "<" else line
    text = _QUOTED_KEY.sub(r"\2\3 ", text, count=1)
    return text.lstrip("{%|\\ ").rstrip("([{:=,%} ")[:_MAX_TITLE_CHARACTERS].rstrip()


def _merge_short_blocks(blocks: list[Block], least: int, most: int) -> list[Block]:
    """Return blocks with short neighbors merged. A merged block has the title of its longest member."""
    groups: list[list[Block]] = []
    for i, block in enumerate(blocks):
        start = groups[-1][0].start if groups else block.start
        # A short block joins the next one; a short last block joins the one before.
        short = block.start - start < least or (i + 1 == len(blocks) and block.end - block.start < least)
        if groups and short and block.end - start <= most:
            groups[-1].append(block)
        else:
            groups.append([block])
    return [Block(g[0].start, g[-1].end, max(g, key=lambda b: b.end - b.start).title) for g in groups]


_ATX = lazy_regex(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_FENCE = lazy_regex(r" {0,3}(`{3,}|~{3,})")
_SETEXT = lazy_regex(r" {0,3}(=+|-+)[ \t]*$")
_UNDERLINE = lazy_regex(r"([=\-~^\"'`#*+.:_])\1{2,}\s*$")
_ASCIIDOC_HEADING = lazy_regex(r"(={1,6})\s+(\S.*)")
_ASCIIDOC_FENCE = lazy_regex(r"([-.=+*_/])\1{3,}")
_MARKUP = lazy_regex(r"!?\[([^\]]*)\]\([^)]*\)|<[^>]+>|[`*_]")
_BULLET = lazy_regex(r"\s*(?:[-*+>|]|\d+[.)])\s?")

_MAX_SLUG_CHARACTERS = 60


class ProseKind(StrEnum):
    """Kinds of text without a grammar; a MANIFEST configures packages."""

    MARKDOWN = "markdown"
    RESTRUCTUREDTEXT = "restructuredtext"
    ASCIIDOC = "asciidoc"
    TEXT = "text"
    DATA = "data"
    MANIFEST = "manifest"
    PLAIN = "plain"


# Kinds of text by the end of a file's name. TEXT may have underlined titles. DATA is rows of values: each file is
# one document, because no part of it answers a question by itself.
_KINDS: tuple[tuple[ProseKind, tuple[str, ...]], ...] = (
    (ProseKind.MARKDOWN, (".md", ".mdx", ".markdown")),
    (ProseKind.RESTRUCTUREDTEXT, (".rst",)),
    (ProseKind.ASCIIDOC, (".adoc", ".asciidoc")),
    (ProseKind.TEXT, (".txt", ".text")),
    (
        ProseKind.DATA,
        (".csv", ".tsv", ".jsonl", ".ndjson", ".geojson", ".log", ".lock", ".snap", ".patch", ".diff", ".po", ".pot"),
    ),
)
BY_BLOCKS = frozenset({ProseKind.PLAIN, ProseKind.MANIFEST})  # kinds of text without headings


class Heading(NamedTuple):
    """Heading in a row; level 1 is the highest."""

    row: int
    level: int
    title: str


def read_passages(path: str, text: str) -> tuple[Passage, ...]:
    """Return the passages of a file without a grammar; byte positions are those of `text` in UTF-8.

    Text before the first heading, prose without headings and text that is one block belong to the file itself.
    """
    lines = text.split("\n")
    # A byte order mark is no part of the first title, but its bytes count.
    shown = [lines[0].removeprefix("\ufeff"), *lines[1:]]
    kind = prose_kind(path)
    if kind == ProseKind.MARKDOWN:
        return read_sections(lines, markdown_headings(shown))
    if kind == ProseKind.RESTRUCTUREDTEXT:
        return read_sections(lines, _underlined_headings(shown))
    if kind == ProseKind.ASCIIDOC:
        return read_sections(lines, _marked_headings(shown))
    if kind == ProseKind.TEXT:
        headings = _underlined_headings(shown)
        return read_sections(lines, headings) if len(headings) > 1 else _read_block_passages(lines)
    return () if kind == ProseKind.DATA else _read_block_passages(lines)


def prose_kind(path: str) -> ProseKind:
    """Return the kind of a text by its path."""
    lower = path.lower()
    for kind, endings in _KINDS:
        if lower.endswith(endings):
            return kind
    return ProseKind.MANIFEST if is_manifest(lower) else ProseKind.PLAIN


def title_slug(title: str) -> str:
    """Return a heading in the form of ids and links.

    >>> title_slug("Getting `started`: the *first* run!")
    'getting-started-the-first-run'
    """
    plain = unicodedata.normalize("NFC", _MARKUP.sub(lambda m: m[1] or "", title)).strip().lower()
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", plain)).strip("-") or "section"


def markdown_headings(lines: list[str]) -> list[Heading]:
    """Return the headings of Markdown, in order."""
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
            headings.append(Heading(row, len(atx[1]), _plain_title(atx[2] or "")))
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
            headings.append(Heading(row - 1, 1 if setext[1][0] == "=" else 2, _plain_title(previous)))
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
        headings.append(Heading(row - 2 if over else row - 1, styles.index(style) + 1, _plain_title(title)))
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
                headings.append(Heading(row, len(marked[1]), _plain_title(marked[2])))
    return headings


def _plain_title(title: str) -> str:
    return " ".join(_MARKUP.sub(lambda m: m[1] or "", title).split())


def read_sections(lines: list[str], headings: list[Heading]) -> tuple[Passage, ...]:
    """Return one passage for each heading, up to the next one of its level or a higher one."""
    offsets = _line_offsets(lines)
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


def _read_block_passages(lines: list[str]) -> tuple[Passage, ...]:
    offsets = _line_offsets(lines)
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
    """Return a line of any text in the form of ids.

    >>> _line_slug("static int read_more(struct state *s)")
    'static-int-read_more-struct-state-s'
    """
    return (
        "-".join(re.findall(r"\w+", unicodedata.normalize("NFC", title).lower()))[:_MAX_SLUG_CHARACTERS].rstrip("-")
        or "section"
    )


class _Slugs:
    """Slugs of one file, each made unique."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def take(self, slug: str) -> str:
        self._seen[slug] = self._seen.get(slug, 0) + 1
        return slug if self._seen[slug] == 1 else f"{slug}~{self._seen[slug]}"


def _line_offsets(lines: list[str]) -> list[int]:
    """Return the start of each line in UTF-8 bytes, then the length of the text plus one."""
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line.encode("utf-8", "surrogatepass")) + 1)
    return offsets


_MENTION_KINDS = frozenset({ProseKind.MARKDOWN, ProseKind.RESTRUCTUREDTEXT, ProseKind.ASCIIDOC, ProseKind.TEXT})
_MAX_NAME_CHARACTERS = 120  # longer text is no name
_MAX_MENTIONS = 20_000  # a file with more is generated
_MENTION_FENCE = lazy_regex(r"\s{0,3}(`{3,}|~{3,})")
_MENTION_ASCIIDOC_FENCE = lazy_regex(r"(-{4,}|`{3,})$")
_ROLE = lazy_regex(
    r":(?:[a-z]+:)?(?:class|func|meth|method|mod|attr|exc|data|obj|const|type|function|member|macro|struct|enum|var)"
    r":`[~!]?(?:[^`<>]*<([^`<>]+)>|([^`<>]+))`"
)
_SPAN = lazy_regex(r"(?<![`\w:])(`{1,2})(?!`)([^`\n]+?)\1(?!`)")
_LINK = lazy_regex(r"\]\(<?(\.{0,2}/?[\w@+-][\w@+./-]*\.\w{1,10})(?:#[\w-]*)?>?\)")
_DIRECTIVE = lazy_regex(
    r"(\s*)\.\. (?:[a-z]+:)?(auto)?(module|currentmodule|class|exception|function|method|attribute|data|decorator"
    r"|classmethod|staticmethod|property)::\s+(?:async\s+)?([\w.]+)"
)
_AUTODOC = lazy_regex(r"\s*::: +([\w.]+)\s*$")
_FROM = lazy_regex(r"\s*(?:>>> )?from ([\w.]+) import \(?([\w, ]+)")
_BRACES = lazy_regex(r"\b(?:import|require)\b[^{]*\{([\w$, ]+)\}|\{([\w$, ]+)\} *= *(?:await )?(?:import|require)\(")
# Chains, and words in which a capital follows a small letter or which a bracket follows. What looks like one may be a
# megabyte of data: no part of it is read over and over.
_CHAIN = lazy_regex(
    r"(?<![\w./-])(?:[A-Za-z_]\w*+(?:(?:\.|::)[A-Za-z_]\w*+){1,20}"
    r"|[A-Z](?:(?=\w*?[a-z][A-Z])|(?=\w*+\()(?=\w*?[a-z]))\w*+)(?![\w/-])"
)
_LITERAL = lazy_regex(r"\"[^\"\n]*\"|'[^'\n]*'|`[^`\n]*`")
_CODE_BLOCK = lazy_regex(r"\s*\.\. (?:code-block|code|sourcecode|testcode|doctest)::")
_CONTENT = ("method", "attribute", "classmethod", "staticmethod", "property")  # of a class around


def read_mentions(kind: ProseKind, text: str, passages: Sequence[Passage]) -> tuple[Mention, ...]:
    """Return the names in prose of that kind, each once a passage and form, in text order."""
    if kind not in _MENTION_KINDS or not ("`" in text or "](" in text or "::" in text):
        return ()
    lines = text.split("\n")
    inside = _innermost_passages(passages, len(lines))
    rows: dict[tuple[int, int, str], int] = {}
    for row, form, name in _find_names(lines, kind):
        if 1 < len(name) <= _MAX_NAME_CHARACTERS:
            rows.setdefault((inside[row], form, name), row)
            if len(rows) > _MAX_MENTIONS:
                return ()
    return tuple(Mention(passage, form, name, row) for (passage, form, name), row in rows.items())


def read_doc_mentions(definitions: Sequence[Definition]) -> tuple[Mention, ...]:
    """Return the names in the first documentation line of each definition."""
    rows: dict[tuple[int, int, str], int] = {}
    for number, definition in enumerate(definitions):
        if "`" in definition.doc:
            for form, name in _find_marked_names(definition.doc):
                if 1 < len(name) <= _MAX_NAME_CHARACTERS:
                    rows.setdefault((number, form, name), definition.start_row)
    return tuple(Mention(document, form, name, row) for (document, form, name), row in rows.items())


def _find_marked_names(line: str) -> Iterator[tuple[MentionForm, str]]:
    """Yield cross-references and code spans.

    >>> [name for _, name in _find_marked_names("Asks :func:`~app.check` and ``Session.verify``, not `it is`.")]
    ['app.check', 'Session.verify', 'it is']
    """
    if ":`" in line:
        yield from ((MentionForm.ROLE, (m[1] or m[2]).strip()) for m in _ROLE.finditer(line))
        line = _ROLE.sub(" ", line)
    yield from ((MentionForm.SPAN, match[2].strip()) for match in _SPAN.finditer(line))


def _innermost_passages(passages: Sequence[Passage], n_rows: int) -> list[int]:
    """Return the innermost passage of each row, or -1. Inner passages come after outer ones."""
    inside = [-1] * (n_rows + 1)
    for number, passage in enumerate(passages):
        end = min(passage.end_row + 1, n_rows)
        inside[passage.start_row : end] = [number] * max(0, end - passage.start_row)
    return inside


def _find_names(lines: Sequence[str], kind: ProseKind) -> Iterator[tuple[int, MentionForm, str]]:
    """Yield (row, form, name). Indented text below a code block directive of reStructuredText is code."""
    is_rest = kind == ProseKind.RESTRUCTUREDTEXT
    opens = _MENTION_ASCIIDOC_FENCE if kind == ProseKind.ASCIIDOC else _MENTION_FENCE
    fence = ""
    block = -1  # indentation of the line that began a block in reStructuredText
    module = ""
    owner = (-1, "")  # indentation and name of the class that is described
    for row, line in enumerate(lines):
        if not line or line.isspace():
            continue
        if fence:
            if line.strip().startswith(fence):
                fence = ""
            else:
                yield from ((row, MentionForm.EXAMPLE, name) for name in _find_names_in_code(line))
            continue
        if is_rest:
            indent = len(line) - len(line.lstrip())
            if block >= 0 and indent > block:
                yield from ((row, MentionForm.EXAMPLE, name) for name in _find_names_in_code(line))
                continue
            block = -1
            if "::" in line:
                if (directive := _DIRECTIVE.match(line)) is not None:
                    what, name = directive[3], directive[4]
                    if what in ("module", "currentmodule"):
                        module = name
                    elif what in _CONTENT and indent > owner[0] >= 0:
                        name = f"{owner[1]}.{name}"
                    elif module and not directive[2]:
                        name = f"{module}.{name}"
                    if what in ("class", "exception"):
                        owner = (indent, name)
                    yield row, MentionForm.ROLE, name
                    continue
                if _CODE_BLOCK.match(line) or (line.rstrip().endswith("::") and not line.lstrip().startswith("..")):
                    block = indent
        elif "```" in line or "~~~" in line or "----" in line:
            opened = opens.match(line)
            if opened is not None:
                fence = opened[1]
                continue
        elif ":::" in line and (autodoc := _AUTODOC.match(line)) is not None:
            yield row, MentionForm.ROLE, autodoc[1]
            continue
        if "`" in line:
            yield from ((row, form, name) for form, name in _find_marked_names(line))
        if "](" in line:
            yield from ((row, MentionForm.LINK, match[1]) for match in _LINK.finditer(line))


def _find_names_in_code(line: str) -> Iterator[str]:
    """Yield chains, imported names and words with an inner capital in a line of an example."""
    if "import" in line or "require" in line:
        if (imported := _FROM.match(line)) is not None:
            yield from (f"{imported[1]}.{name.split()[0]}" for name in imported[2].split(",") if name.split())
            return
        for match in _BRACES.finditer(line):
            yield from (name.split()[0] for name in (match[1] or match[2]).split(",") if name.split())
    if '"' in line or "'" in line or "`" in line:
        line = _LITERAL.sub("''", line)
    yield from (match[0] for match in _CHAIN.finditer(line))
