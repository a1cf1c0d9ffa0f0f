r"""Repository text made safe to print: it cannot drive a terminal or hide content.

Control characters other than newline and tab, bidirectional controls, invisible and tag characters (they hide text from
readers), lone surrogates and the noncharacters U+FFFE and U+FFFF become escapes such as `\\x1b`. Nothing is dropped.
Joiners (U+200C, U+200D) and variation selectors stay, because scripts and emoji need them, but only the first of a run:
more are invisible. Fences are not handled here.
"""

import re

from causalist._internal.lazy import lazy_regex

_UNSAFE = lazy_regex(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
    "|(?<=[\u200c\u200d])[\u200c\u200d]|(?<=[\u200c\u200d\ufe00-\ufe0f])[\ufe00-\ufe0f]"
)
_UNSAFE_ASCII = lazy_regex(r"[\x00-\x08\x0b-\x1f\x7f]")  # as it is for most text: compiled in a tenth of the time
_WHITE = lazy_regex(r"\s+")
ELLIPSIS = "…"


def neutralise(text: str) -> str:
    r"""Return `text` with every unsafe character as an escape; CR LF counts as a newline.

    >>> print(neutralise("a\x1b[31mb\u202ec\r\nd"))
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
    line = neutralise(_WHITE.sub(" ", text[: 8 * limit + 64]).strip())
    return line if len(line) <= limit else line[: max(0, limit - 1)] + ELLIPSIS[:limit]


def middle_cut(text: str, limit: int) -> str:
    """Shorten as `one_line` does, but in the middle, for paths and names: the end says most.

    >>> middle_cut("packages/core/src/auth/session.ts", 20)
    'packa…uth/session.ts'
    """
    if len(text) > 8 * limit + 64:
        text = text[: 4 * limit + 32] + text[-4 * limit - 32 :]
    line = neutralise(_WHITE.sub(" ", text).strip())
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
