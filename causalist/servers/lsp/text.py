"""Text of an editor's document: conversion between positions and bytes.

A line ends at LF, CR LF or CR. The protocol counts characters of a line in units of the negotiated encoding (UTF-16 by
default); Causalist counts bytes of UTF-8. A position after the end of its line means the end, and one inside a
character means its start.
"""

import re
from bisect import bisect_right

from lsprotocol import types

_LINE_END = re.compile(rb"\r\n|\n|\r")
# Documents may hold lone surrogates, because JSON can.
_ERRORS = "surrogatepass"


class DocumentText:
    """Content of a document in UTF-8, with positions in units of `encoding`."""

    def __init__(self, data: bytes, encoding: types.PositionEncodingKind | str = types.PositionEncodingKind.Utf16):
        self.data = data
        self.encoding = encoding
        self._starts: list[int] | None = None

    @property
    def starts(self) -> list[int]:
        """Start byte of each line, ascending; the first is 0."""
        if self._starts is None:
            self._starts = [0, *(match.end() for match in _LINE_END.finditer(self.data))]
        return self._starts

    def position(self, byte: int) -> types.Position:
        """Return the position of a byte."""
        byte = max(0, min(byte, len(self.data)))
        line = bisect_right(self.starts, byte) - 1
        return types.Position(line, self._units(self.data[self.starts[line] : byte]))

    def range(self, start: int, end: int) -> types.Range:
        """Return the range of the bytes `start` up to `end`."""
        return types.Range(self.position(start), self.position(end))

    def byte(self, position: types.Position) -> int:
        """Return the byte of a position, which may be out of range."""
        if position.line < 0:
            return 0
        if position.line >= len(self.starts):
            return len(self.data)
        start, end = self.line(position.line)
        text = self.data[start:end]
        if self.encoding == types.PositionEncodingKind.Utf8:
            byte = min(max(0, position.character), len(text))
            while 0 < byte < len(text) and 0x80 <= text[byte] < 0xC0:
                byte -= 1
            return start + byte
        if text.isascii():
            return start + min(max(0, position.character), len(text))
        units = byte = 0
        is_wide = self.encoding == types.PositionEncodingKind.Utf16
        for character in text.decode("utf-8", _error_handler(text)):
            units += 2 if is_wide and character > "\uffff" else 1
            if units > position.character:
                break
            byte += len(character.encode("utf-8", _ERRORS))
        return start + byte

    def line(self, number: int) -> tuple[int, int]:
        """Return the first byte of a line and the byte after its last character."""
        start = self.starts[number]
        if number + 1 == len(self.starts):
            return start, len(self.data)
        end = self.starts[number + 1]
        return start, start + len(self.data[start:end].rstrip(b"\r\n"))

    def edited(self, change: types.TextDocumentContentChangeEvent) -> "DocumentText":
        """Return the text after a change."""
        new = change.text.encode("utf-8", _ERRORS)
        if isinstance(change, types.TextDocumentContentChangePartial):
            start, end = self.byte(change.range.start), self.byte(change.range.end)
            start, end = min(start, end), max(start, end)
            new = self.data[:start] + new + self.data[end:]
        return DocumentText(new, self.encoding)

    def _units(self, text: bytes) -> int:
        if self.encoding == types.PositionEncodingKind.Utf8 or text.isascii():
            return len(text)
        decoded = text.decode("utf-8", _error_handler(text))
        if self.encoding == types.PositionEncodingKind.Utf32:
            return len(decoded)
        return len(decoded) + sum(character > "\uffff" for character in decoded)


def encode_text(content: str, encoding: types.PositionEncodingKind | str) -> DocumentText:
    """Return the text of a document as it was opened."""
    return DocumentText(content.encode("utf-8", _ERRORS), encoding)


def _error_handler(text: bytes) -> str:
    """Return the decoding error handler for lone surrogates, or for text in another encoding."""
    try:
        text.decode("utf-8", _ERRORS)
    except UnicodeDecodeError:
        return "replace"
    return _ERRORS
