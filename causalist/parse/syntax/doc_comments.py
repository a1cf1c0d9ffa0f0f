"""The first telling line of a docstring or comment."""

import html
import re
from collections.abc import Iterable

_LONGEST = 200
_STRING = re.compile(r"^[A-Za-z]{0,2}(\"\"\"|'''|\"|')(.*)", re.DOTALL)
_INLINE = re.compile(r"\{@\w+\s*([^{}]*)\}")
_TAG = re.compile(r"</?(?:b|i|em|strong|code|tt|a)\b[^<>]*>")
_BLOCK_TAG = re.compile(r"</?\w[^<>]*>")
_SENTENCE_END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)[.!?](?=\s)")
_COMMENT_EDGE = re.compile(r"^--\[=*\[\s*|^[\s/*#!-]+|[\s*/-]+$")
_SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)
_REFERENCE = re.compile(r"<(?:see|paramref|typeparamref)\b[^<>]*?\"(?:\w:)?([^\"]*)\"[^<>]*/>")
_BRIEF = re.compile(r"^[@\\](?:brief|short|details)\s+")
_LONGEST_COMMENT = 2000
_NOISE = re.compile(
    r"copyright|licen[cs]e|eslint|@ts-|prettier|@jsx|istanbul|SPDX|use strict|@flow|^region\b"
    r"|^MARK:|swiftlint:|ktlint"
    r"|^go:\w|^\+build|^nolint\b|frozen_string_literal|^rubocop:|^=begin\b|^typed: \w+$|^shellcheck \w+=",
    re.IGNORECASE,
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
        for line in (_BRIEF.sub("", _COMMENT_EDGE.sub("", raw)) for raw in comment.splitlines())
        if not line.startswith("@") and not _NOISE.search(line)
    )


def comment_sentence(comment: str) -> str:
    """The first sentence of a documentation comment, without markup; other comments give their first line.

    >>> comment_sentence("/**\\n * Opens the {@link Door}, which\\n * is <b>heavy</b>. More.\\n * @return it\\n */")
    'Opens the Door, which is heavy.'
    >>> comment_sentence('/// <summary>\\n/// Opens <see cref="Door"/>. More.\\n/// </summary>')
    'Opens Door.'
    """
    summary = _SUMMARY.search(comment[:_LONGEST_COMMENT]) if comment.startswith("///") else None
    if summary:
        comment = f"/**{summary[1]}"
    if not comment.startswith("/**"):
        return comment_line(comment)
    kept: list[str] = []
    for line in (_BRIEF.sub("", _COMMENT_EDGE.sub("", raw)) for raw in comment[:_LONGEST_COMMENT].splitlines()):
        if line.startswith("@") or (not line and kept):
            break
        kept += [line] if line else []
    kept = [_REFERENCE.sub(r"\1", line) for line in kept] if summary else kept
    text = _TAG.sub("", _INLINE.sub(lambda m: m[1].rpartition(" ")[2].lstrip("#").replace("#", "."), " ".join(kept)))
    text = " ".join(html.unescape(_BLOCK_TAG.sub(" ", text)).split())
    ended = _SENTENCE_END.search(text)
    text = text[: ended.end()] if ended else text
    return "" if _NOISE.search(text) else _first_line([text])


def comment_doc(how: str, data: bytes, start: int, end: int) -> str:
    """What the comment in this range says of the definition below it; `how` is the setting `comments.doc`."""
    if how not in ("comment", "sentence"):
        return ""
    text = data[start:end].decode("utf-8", "replace")
    if how == "comment":
        return comment_line(text)
    before = data[data.rfind(b"\n", 0, start) + 1 : start]
    return "" if before.strip() else comment_sentence(text)  # behind code it is about that code


def file_comment_line(comment: str) -> str:
    """As `comment_line`, for the comment at the top of a file: nothing from a licence header."""
    return "" if _NOISE.search(comment) or comment.startswith("#!") else comment_line(comment)


def _first_line(lines: Iterable[str]) -> str:
    for line in lines:
        text = " ".join(line.split())
        if text:
            return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return ""
