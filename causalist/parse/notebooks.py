"""Jupyter notebooks -> the text of their cells at the place where it stands in the file.

A notebook is JSON, and each line of a cell is a string in it. The view has as many bytes as the file; every string of
a cell is decoded where it stands, and all else (keys, outputs, pictures) is blank. Where each line of a cell has a line
of the file, as Jupyter writes it, the view has the file's lines, and a line of a cell begins where its line begins.
Where several share one, as in JSON without line breaks, the view starts a line for each, and its own lines count.
"""

import json
import re
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any, NamedTuple

_DEFAULT_LANGUAGE = ".py"  # of a notebook that does not say; most are

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\],:]', re.DOTALL)
_BLANK = bytes(c if c == 10 else 32 for c in range(256))
_SOURCES = ("source", "input")  # the second is what older notebooks call it
# Orders to the shell around the kernel. A whole cell of another language is no code of the notebook's.
_CELL_ORDER = re.compile(rb"\s*%%(?!time\b|timeit\b|capture\b|prun\b)")
_ORDER = re.compile(rb"^[ \t]*(?:%%?[A-Za-z_]|[!?]).*$|^[ \t]*[\w.]+\?{1,2}[ \t]*$", re.MULTILINE)
_LONGEST_KEY = 100


@dataclass(slots=True)
class Cell:
    """`kind` is "code", "markdown" or "raw"; `strings` are the bytes of its source, quotes included."""

    kind: str = ""
    strings: list[tuple[int, int]] = field(default_factory=list)


class Notebook(NamedTuple):
    """`view` shows all cells, `code` only what a grammar can read of the code cells; both are as long as the file.
    `language` is a file's ending with its dot, or a name. `markdown` has (first, last row) of each such cell."""

    view: bytes
    code: bytes
    language: str
    markdown: tuple[tuple[int, int], ...]


def read_notebook(data: bytes) -> Notebook | None:
    """The views of a notebook; None if the bytes are none."""
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells", notebook.get("worksheets")), list):
        return None
    cells = _cells(data)
    in_lines = _stand_in_lines(data, cells)
    view = bytearray(data.translate(_BLANK))
    written = [[_write(view, data, string, in_lines) for string in cell.strings] for cell in cells]
    code = bytearray(view.translate(_BLANK))
    for cell, ranges in zip(cells, written, strict=True):
        if cell.kind != "code" or not ranges or _CELL_ORDER.match(view[ranges[0][0] : ranges[0][1]]):
            continue
        for start, end in ranges:
            code[start:end] = _ORDER.sub(lambda m: b" " * len(m[0]), bytes(view[start:end]))
    newlines = [m.start() for m in re.finditer(rb"\n", view)]
    markdown = tuple(
        (bisect_left(newlines, ranges[0][0]), bisect_left(newlines, ranges[-1][1]))
        for cell, ranges in zip(cells, written, strict=True)
        if cell.kind == "markdown" and ranges
    )
    return Notebook(bytes(view), bytes(code), _language(notebook), markdown)


def _language(notebook: dict[str, Any]) -> str:
    metadata = notebook.get("metadata")
    if isinstance(metadata, dict):
        for part, key in (("language_info", "file_extension"), ("language_info", "name"), ("kernelspec", "language")):
            section = metadata.get(part)
            if isinstance(section, dict) and isinstance(section.get(key), str) and section[key]:
                return str(section[key]).lower()
    return _DEFAULT_LANGUAGE


def _cells(data: bytes) -> list[Cell]:
    """The cells of a notebook that is known to be JSON, with the places of their strings."""
    cells: list[Cell] = []
    stack: list[list[Any]] = []  # of each open object or array: is it an object, the key that is open in it
    cell_depth = 0  # of the object that is a cell; 0 outside of one
    is_key = False
    for token in _TOKEN.finditer(data):
        mark = data[token.start()]
        if mark in b"{[":
            # Cells lie in the notebook, or in one of its sheets; what outputs call cells lies deeper.
            if mark == 123 and not cell_depth and len(stack) in (2, 4) and not stack[-1][0] and stack[-2][1] == "cells":
                cell_depth = len(stack) + 1
                cells.append(Cell())
            stack.append([mark == 123, ""])
            is_key = mark == 123
        elif mark in b"}]":
            if len(stack) == cell_depth:
                cell_depth = 0
            stack.pop()
            is_key = False
        elif mark == 44:
            is_key = bool(stack) and stack[-1][0]
        elif mark == 58:
            is_key = False
        elif is_key:
            stack[-1][1] = _text(data, token.span()) if token.end() - token.start() < _LONGEST_KEY else ""
        elif cell_depth and len(stack) == cell_depth:
            if stack[-1][1] == "cell_type":
                cells[-1].kind = _text(data, token.span())
            elif stack[-1][1] in _SOURCES:
                cells[-1].strings.append(token.span())
        elif cell_depth and len(stack) == cell_depth + 1 and not stack[-1][0] and stack[-2][1] in _SOURCES:
            cells[-1].strings.append(token.span())
    return cells


def _text(data: bytes, string: tuple[int, int]) -> str:
    """What a JSON string says. Its UTF-8 is never longer than what is written, quotes left aside."""
    text = str(json.loads(data[string[0] : string[1]]))
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", " ")


def _stand_in_lines(data: bytes, cells: list[Cell]) -> bool:
    """Whether no two lines of cells stand in one line of the file."""
    last = -1
    for cell in cells:
        for start, end in cell.strings:
            line = data.rfind(b"\n", 0, start) + 1
            if line <= last or "\n" in _text(data, (start, end)).removesuffix("\n"):
                return False
            last = start
    return True


def _write(view: bytearray, data: bytes, string: tuple[int, int], in_lines: bool) -> tuple[int, int]:
    """Writes what a string says over it, at the start of a line. Returns where it stands in the view."""
    start, end = string
    text = _text(data, string).removesuffix("\n").encode("utf-8", "replace")
    if in_lines:
        at = data.rfind(b"\n", 0, start) + 1
    else:
        view[start] = 10
        at = start + 1
    view[at : at + len(text)] = text
    return at, max(at + len(text), end)
