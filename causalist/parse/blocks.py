"""Text that no grammar reads -> passages, cut where the layout shows that something begins.

A block begins at a line that stands further left than what follows it: a function, a section, a top-level key, a
statement, a paragraph. Comments go with what they stand above. A block that is too long is cut in the same way one
indentation further in, and neighbours that are too short share a passage. What has no such structure stays whole:
logs, word lists and tables answer no question by their parts. No language is known here.
"""

import re
from typing import NamedTuple

# Rows of a passage. On development questions in languages without a grammar 8 to 20 and 40 to 80 rows could not be told
# apart; shorter and longer ones found less.
LEAST_ROWS = 10
MOST_ROWS = 60
MOST_PASSAGES = 200  # of one file: a dump of a database is no book
_LONGEST_TITLE = 100
_TITLE_ROWS = 60
_LONGEST_LINE = 1000  # bytes a line on average beyond which a file is data
_TAB = 4
_LAST_COLUMN = 100  # further in all lines count as equally far: no hand indents like that

# What ends a block or goes on with it: it never begins one.
_CLOSER = re.compile(
    r"[)\]}>,;|&]|</|(?:\{%-?\s*)?(?:end(?:if|for|foreach|while|switch|with|block|macro|function|def)?|else|elif|elsif"
    r"|elseif|rescue|ensure|catch|finally|fi|done|esac)\b"
)
# What belongs to the line that follows: comments, attributes, annotations.
_LEAD = re.compile(
    r"//|#(?!\s*(?:define|include|import|pragma|undef)\b)|--|;|%|@[\w.]+(?:\(.*\))?\s*$|\[\w[^\]]*\]\s*$"
)
_CONDITION = re.compile(r"#\s*(?:if|ifdef|ifndef|else|elif|endif|region|endregion)\b")
_SECTION = re.compile(r"\[[^\]]+\]\s*$")
_QUOTED_KEY = re.compile(r"^([\"'])([^\"']+)\1\s*([:=])\s*")
_ONLY_WORDS = re.compile(r"\w+(?: [\w*&]+)?")
_TELLING = re.compile(r"[^\W\d_]{2}|\w{3}")


class Block(NamedTuple):
    """Rows `start` to `end` (exclusive), and the line that tells what they are."""

    start: int
    end: int
    title: str


def read_blocks(lines: list[str]) -> list[Block]:
    """The passages of a text, in order; none where it fits into one or shows no structure.

    They follow one another without a gap, from the first line to the last.
    """
    if len(lines) <= MOST_ROWS or sum(map(len, lines)) > _LONGEST_LINE * len(lines):
        return []
    layout = _Layout(lines)
    least, most = LEAST_ROWS, MOST_ROWS
    while True:
        found = layout.cut(0, len(lines), 0, least, most)
        if len(found) <= MOST_PASSAGES:
            return found if len(found) > 1 else []
        least, most = 2 * least, 2 * most


class _Layout:
    """Columns of all lines, and which of them can begin a block."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.columns: list[int] = []  # -1 for a blank line
        self.leads: list[bool] = []
        self.closers: list[bool] = []
        comment = ""  # what ends the comment that is open
        code = 0  # column of the last line that is not blank
        for line in lines:
            text = line.strip()
            column = min(len(line[: len(line) - len(line.lstrip())].expandtabs(_TAB)), _LAST_COLUMN) if text else -1
            lead = closer = False
            if comment:
                lead = True
            elif text.startswith(("/*", "<!--")):
                lead = True
                comment = "*/" if text[0] == "/" else "-->"
            elif _CONDITION.match(text):  # a directive stands at the left whatever is around it
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

    def cut(self, start: int, end: int, column: int, least: int, most: int) -> list[Block]:
        """The passages of rows `start` to `end`, whose blocks begin in `column` or further to the right."""
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
                result += _merged(run, least, most)
                run = []
                result += self.cut(block.start, block.end, column + 1, least, most)
            else:
                run.append(block)
        return result + _merged(run, least, most)

    def _starts(self, start: int, end: int, column: int) -> list[int]:
        """The rows that begin a block in `column`, `start` always among them."""
        found = [start]
        for row in range(start + 1, end):
            if self.columns[row] != column or self.closers[row]:
                continue
            before = self.columns[row - 1]
            if 0 <= before < column or (self.leads[row - 1] and before >= 0):
                continue  # goes on with the line that opens its block, or with a comment
            if before != column or self.closers[row - 1] or (column == 0 and _SECTION.match(self.lines[row])):
                found.append(row)
        return found

    def _title(self, start: int, end: int) -> str:
        """The first line that tells something, before all comments; else the first comment."""
        spoken = ""
        for row in range(start, min(end, start + _TITLE_ROWS)):
            text = " ".join(self.lines[row].split())
            if not _TELLING.search(text):
                continue
            if not self.leads[row] and not self.closers[row]:
                below = self.lines[row + 1] if row + 1 < end and self.columns[row + 1] == self.columns[row] else ""
                if _ONLY_WORDS.fullmatch(text) and _TELLING.search(below):
                    text += " " + " ".join(below.split())  # `static int`, and the name
                return _bare(text)
            spoken = spoken or text.strip("/*#!-;%<>\"' ")
        first = next((line.strip() for line in self.lines[start:end] if line.strip()), "")
        return (spoken or first)[:_LONGEST_TITLE].rstrip()


def _bare(line: str) -> str:
    """A line without what only opens a block, quotes a key or marks a tag.

    >>> _bare('"scripts": {'), _bare("<dependencies>"), _bare("#include <stdio.h>"), _bare("int main(void) {")
    ('scripts', 'dependencies', '#include <stdio.h>', 'int main(void)')
    """
    text = line.strip("<>") if line[0] == "<" else line
    text = _QUOTED_KEY.sub(r"\2\3 ", text, count=1)
    return text.lstrip("{%|\\ ").rstrip("([{:=,%} ")[:_LONGEST_TITLE].rstrip()


def _merged(blocks: list[Block], least: int, most: int) -> list[Block]:
    """Short neighbours in one passage, which has the title of the longest of them."""
    groups: list[list[Block]] = []
    for i, block in enumerate(blocks):
        start = groups[-1][0].start if groups else block.start
        # What is short goes with what follows; the last goes with what is before.
        short = block.start - start < least or (i + 1 == len(blocks) and block.end - block.start < least)
        if groups and short and block.end - start <= most:
            groups[-1].append(block)
        else:
            groups.append([block])
    return [Block(g[0].start, g[-1].end, max(g, key=lambda b: b.end - b.start).title) for g in groups]
