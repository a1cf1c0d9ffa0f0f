"""Text helpers: untrusted TOML, aligned columns, counted nouns and ages; text escaped for one output format each.

TOML is read in time linear in its length. Escaped text means that text and nothing else. `neutralize` makes any text
safe to print. The input of the other functions that escape has been through it: without control characters, and on one
line unless a function says otherwise.
"""

import re
import time
from collections.abc import Sequence
from typing import Any

from causalist._internal.lazy import lazy_regex

# The standard library's reader takes time in the cube of the parts of a key. Real files have less than a tenth of
# these.
_MAX_KEY_PARTS = 100
_LONG_KEY = lazy_regex(
    r"""(?<![\w"'.-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){%d}""" % _MAX_KEY_PARTS  # noqa: UP031
)


def read_toml(text: str) -> dict[str, Any]:
    r"""Return the tables of a file, with or without a byte order mark.

    Raises ValueError for invalid TOML or nesting that is too deep.

    >>> read_toml("[a]\nb.c = 1")
    {'a': {'b': {'c': 1}}}
    """
    import tomllib  # few answers read settings

    if _LONG_KEY.search(text):
        raise ValueError(f"a key has more than {_MAX_KEY_PARTS} parts")
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def find_table(document: Any, *keys: str) -> dict[str, Any]:
    """Return the table of a TOML or JSON document at a path of keys, {} if there is none.

    >>> find_table({"a": {"b": {"c": 1}}}, "a", "b"), find_table({"a": 1}, "a", "b")
    ({'c': 1}, {})
    """
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document if isinstance(document, dict) else {}


def align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return one line per row of cells, with columns aligned and two spaces apart.

    The last column is not padded.

    >>> align_columns([("a", "bcd", "e"), ("abc", "d", "f")])
    ['a    bcd  e', 'abc  d    f']
    """
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)] if rows else []
    return ["  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[-1]]).rstrip() for row in rows]


def count_noun(n: int, noun: str, spec: str = "") -> str:
    """Return a number with its noun, in the plural unless the number is 1. `spec` formats the number.

    >>> count_noun(1, "process"), count_noun(2, "repository"), count_noun(1200, "file", ",")
    ('1 process', '2 repositories', '1,200 files')
    """
    number = f"{n:{spec}}"
    if n == 1:
        return f"{number} {noun}"
    if noun.endswith("y"):
        return f"{number} {noun[:-1]}ies"
    return f"{number} {noun}{'es' if noun.endswith('s') else 's'}"


def describe_age(since: int) -> str:
    """Return the time that passed since a time in seconds, in its largest unit."""
    seconds = max(0, int(time.time()) - since)
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


# All ASCII characters that begin an inline construct of CommonMark or of the usual extensions.
_MARKDOWN = lazy_regex(r"[\\`*_{}\[\]<>#&~|$^=]")
_BACKTICKS = lazy_regex("`+")

_XML = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_XML_TEXT = lazy_regex("[&<]|(?<=]])>")
_XML_ATTRIBUTE = lazy_regex('[&<>"]')
# Above this many characters to escape, a CDATA section takes fewer tokens.
_MAX_ESCAPES = 2
# What a section must not hold in one piece: its own end, and anything that a reader who is no parser could take for a
# tag of the pack.
_CDATA_BREAKS = lazy_regex(
    r"]](?=>)|<(?=\s*/?\s*(?:pack|query|note|item|source|edges?|omitted)\b)|<(?=[!?])", re.IGNORECASE
)

# Characters that mean something in a quoted label of Mermaid, in a directive, or in the HTML that a label becomes.
_MERMAID = lazy_regex('["#&<>;`\\\\%{}|\\[\\]]')


def markdown_text(text: str) -> str:
    r"""Escape plain text for the middle of a line of Markdown.

    >>> print(markdown_text("what is __init__?"))
    what is \_\_init\_\_?
    """
    return _MARKDOWN.sub(r"\\\g<0>", text)


def code_span(text: str) -> str:
    """Return a code span that `text` cannot end; "" for "", because an empty span is invalid.

    >>> code_span("a`b"), code_span("`")
    ('``a`b``', '`` ` ``')
    """
    if not text:
        return ""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * (longest + 1)
    # One space on either side is taken off again, but not from a span of spaces only.
    pad = " " if text.strip() and (text[0] in " `" or text[-1] in " `") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def xml_attribute(text: str) -> str:
    """Escape the value of an attribute between double quotes."""
    return _XML_ATTRIBUTE.sub(lambda match: _XML[match[0]], text)


def xml_text(text: str) -> str:
    """Escape the content of an element, any number of lines, with entities or as CDATA, if shorter.

    A section is split inside of `]]>` and inside of anything that looks like markup of the pack, so that neither a
    parser nor a reader of the raw text can take source for the end of its element.

    >>> print(xml_text("a < b"), xml_text("<p></source></p>"))
    a &lt; b <![CDATA[<p><]]><![CDATA[/source></p>]]>
    """
    if len(_XML_TEXT.findall(text)) <= _MAX_ESCAPES:
        return _XML_TEXT.sub(lambda match: _XML[match[0]], text)
    return f"<![CDATA[{_CDATA_BREAKS.sub(lambda match: match[0] + ']]><![CDATA[', text)}]]>"


def html_text(text: str) -> str:
    """Escape the content of an element or of a quoted attribute, any number of lines."""
    import html  # its table of entities costs a millisecond

    return html.escape(text)


def mermaid_label(text: str) -> str:
    """Escape a label between double quotes with entity codes, which Mermaid writes `#35;`.

    >>> mermaid_label('a["b"] %%{init}')
    'a#91;#34;b#34;#93; #37;#37;#123;init#125;'
    """
    label = _MERMAID.sub(lambda match: f"#{ord(match[0])};", re.sub(r"\s", " ", text))
    # Mermaid takes the semicolon off what looks like a color in a statement `style x fill:#fff;`, labels included.
    return label.replace(":", "#58;") if "style" in label or "classDef" in label else label


def dot_string(text: str, *, is_label: bool = True) -> str:
    r"""Return a quoted string of Graphviz.

    Labels read backslashes and entities as escapes; an id is its node's label.

    >>> print(dot_string('say "a\\nb" & c'))
    "say \"a\\nb\" &amp; c"
    """
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text.replace("&", "&amp;") if is_label else text}"'


_UNSAFE = lazy_regex(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
    "|(?<=[\u200c\u200d])[\u200c\u200d]|(?<=[\u200c\u200d\ufe00-\ufe0f])[\ufe00-\ufe0f]"
)
_UNSAFE_ASCII = lazy_regex(r"[\x00-\x08\x0b-\x1f\x7f]")  # as it is for most text: compiled in a tenth of the time
_WHITE = lazy_regex(r"\s+")
ELLIPSIS = "…"


def neutralize(text: str) -> str:
    r"""Return `text` with every unsafe character as an escape; CR LF counts as a newline.

    >>> print(neutralize("a\x1b[31mb\u202ec\r\nd"))
    a\x1b[31mb\u202ec
    d
    """
    return (_UNSAFE_ASCII if text.isascii() else _UNSAFE).sub(_escape, text.replace("\r\n", "\n"))


def one_line(text: str, limit: int) -> str:
    r"""Return `text` on one line, safe, at most `limit` characters, with an ellipsis if it is cut.

    >>> one_line("def f(\n    a,\n)", 40), one_line("abcdef", 4)
    ('def f( a, )', 'abc…')
    """
    # White space first, so that a form feed becomes a space and not an escape; only the part that can show is cleaned.
    line = neutralize(_WHITE.sub(" ", text[: 8 * limit + 64]).strip())
    return line if len(line) <= limit else line[: max(0, limit - 1)] + ELLIPSIS[:limit]


def middle_cut(text: str, limit: int) -> str:
    """Shorten as `one_line` does, but in the middle, for paths and names: the end says most.

    >>> middle_cut("packages/core/src/auth/session.ts", 20)
    'packa…uth/session.ts'
    """
    if len(text) > 8 * limit + 64:
        text = text[: 4 * limit + 32] + text[-4 * limit - 32 :]
    line = neutralize(_WHITE.sub(" ", text).strip())
    if len(line) <= limit:
        return line
    if limit < 4:
        return ELLIPSIS[:limit]
    tail = (limit - 1) * 3 // 4
    return line[: limit - 1 - tail] + ELLIPSIS + line[len(line) - tail :]


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
