"""The first telling line of a docstring or comment."""

import re
from collections.abc import Iterable

_LONGEST = 200
_STRING = re.compile(r"^[A-Za-z]{0,2}(\"\"\"|'''|\"|')(.*)", re.DOTALL)
_COMMENT_EDGE = re.compile(r"^[\s/*#!-]+|[\s*/-]+$")
_NOISE = re.compile(
    r"copyright|licen[cs]e|eslint|@ts-|prettier|@jsx|istanbul|SPDX|use strict|@flow|^region\b", re.IGNORECASE
)


def string_line(literal: str) -> str:
    """First line with text of a string literal.

    >>> string_line("r'''\\n  Opens the door.\\n\\n  More.'''")
    'Opens the door.'
    """
    matched = _STRING.match(literal)
    if not matched:
        return ""
    body = matched[2]
    if body.endswith(matched[1]):
        body = body[: -len(matched[1])]
    return _first_line(body.splitlines())


def comment_line(comment: str) -> str:
    """First line with text of a comment block; markers, tags and linters' orders are passed over.

    >>> comment_line("/**\\n * Opens the door.\\n * @param key which\\n */")
    'Opens the door.'
    """
    return _first_line(
        line
        for line in (_COMMENT_EDGE.sub("", raw) for raw in comment.splitlines())
        if not line.startswith("@") and not _NOISE.search(line)
    )


def file_comment_line(comment: str) -> str:
    """As `comment_line`, for the comment at the top of a file: nothing from a licence header."""
    return "" if _NOISE.search(comment) or comment.startswith("#!") else comment_line(comment)


def _first_line(lines: Iterable[str]) -> str:
    for line in lines:
        text = " ".join(line.split())
        if text:
            return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return ""
