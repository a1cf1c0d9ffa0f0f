"""Brackets and strings in the text of an expression: what closes what, and where separators stand outside of them."""

import re

STRING = re.compile(
    r"""[rRbBuUfFtT]{0,2}(?:'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")""",
    re.DOTALL,
)
_NEXT = {separator: re.compile(rf"[()\[\]{{}}'\"{separator}]") for separator in ("", ",", ":", "|")}
_NOTHING_INSIDE = re.compile(r"[^()\[\]{}'\"]*[)\]}]")
_STRING_OR_COMMENT = re.compile(rf"({STRING.pattern})|#[^\n]*", re.DOTALL)


def closing(text: str, start: int) -> int:
    """Position of the bracket that closes the one at `start`, or -1; kinds of brackets are not told apart.

    >>> closing("f(a, ')')", 1), closing("f(a", 1)
    (8, -1)
    """
    if found := _NOTHING_INSIDE.match(text, start + 1):
        return found.end() - 1
    depth, position, search = 0, start, _NEXT[""].search
    while found := search(text, position):
        position = found.end()
        character = found[0]
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if not depth:
                return position - 1
        else:
            string = STRING.match(text, position - 1)
            if string is None:
                return -1
            position = string.end()
    return -1


def split_outside(text: str, separator: str, most: int = 0) -> list[str]:
    """Split at separators (",", ":" or "|") outside of brackets and strings; only the first `most` parts, if not 0.

    >>> split_outside("a, f(b, c), 'd,'", ","), split_outside("a,b,c", ",", 2)
    (['a', ' f(b, c)', " 'd,'"], ['a', 'b'])
    """
    if separator not in text:
        return [text]
    parts: list[str] = []
    depth, start, position, search = 0, 0, 0, _NEXT[separator].search
    while found := search(text, position):
        position = found.end()
        character = found[0]
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character != separator:
            string = STRING.match(text, position - 1)
            position = string.end() if string else len(text)
        elif depth == 0:
            parts.append(text[start : position - 1])
            if len(parts) == most:
                return parts
            start = position
    return [*parts, text[start:]]


def without_comments(text: str) -> str:
    """The text without comments that a "#" starts.

    >>> without_comments("a + '#'  # b")
    "a + '#'  "
    """
    return _STRING_OR_COMMENT.sub(lambda found: found[1] or "", text) if "#" in text else text
