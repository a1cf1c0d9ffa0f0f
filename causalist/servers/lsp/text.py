"""Text as an editor sees it: lines and characters on one side, bytes on the other.

The protocol ends a line at LF, CR LF or CR, and counts characters of a line in units of the encoding that was agreed on
(UTF-16 unless the client prefers another). Everything inside counts bytes of UTF-8. A position behind the end of its
line means the end, one in the middle of a character its beginning.
"""

import re
from bisect import bisect_right

from lsprotocol import types

_LINE_END = re.compile(rb"\r\n|\n|\r")
# Documents may hold lone surrogates, because JSON can.
_ERRORS = "surrogatepass"


class Text:
    """The content of a document in UTF-8, with positions in units of `encoding`."""

    def __init__(self, data: bytes, encoding: types.PositionEncodingKind | str = types.PositionEncodingKind.Utf16):
        self.data = data
        self.encoding = encoding
        self._starts: list[int] | None = None

    @property
    def starts(self) -> list[int]:
        """Where each line begins, in bytes; ascending, the first is 0."""
        if self._starts is None:
            self._starts = [0, *(match.end() for match in _LINE_END.finditer(self.data))]
        return self._starts

    def position(self, byte: int) -> types.Position:
        """Of a byte."""
        byte = max(0, min(byte, len(self.data)))
        line = bisect_right(self.starts, byte) - 1
        return types.Position(line, self._units(self.data[self.starts[line] : byte]))

    def range(self, start: int, end: int) -> types.Range:
        """Of bytes `start` up to `end`."""
        return types.Range(self.position(start), self.position(end))

    def byte(self, position: types.Position) -> int:
        """Of a position, wherever it is."""
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
        for character in text.decode("utf-8", _errors_of(text)):
            units += 2 if is_wide and character > "\uffff" else 1
            if units > position.character:
                break
            byte += len(character.encode("utf-8", _ERRORS))
        return start + byte

    def line(self, number: int) -> tuple[int, int]:
        """The first byte of a line, and the one behind its last character."""
        start = self.starts[number]
        if number + 1 == len(self.starts):
            return start, len(self.data)
        end = self.starts[number + 1]
        return start, start + len(self.data[start:end].rstrip(b"\r\n"))

    def edited(self, change: types.TextDocumentContentChangeEvent) -> "Text":
        """The text after a change."""
        new = change.text.encode("utf-8", _ERRORS)
        if isinstance(change, types.TextDocumentContentChangePartial):
            start, end = self.byte(change.range.start), self.byte(change.range.end)
            start, end = min(start, end), max(start, end)
            new = self.data[:start] + new + self.data[end:]
        return Text(new, self.encoding)

    def _units(self, text: bytes) -> int:
        if self.encoding == types.PositionEncodingKind.Utf8 or text.isascii():
            return len(text)
        decoded = text.decode("utf-8", _errors_of(text))
        if self.encoding == types.PositionEncodingKind.Utf32:
            return len(decoded)
        return len(decoded) + sum(character > "\uffff" for character in decoded)


def text_of(content: str, encoding: types.PositionEncodingKind | str) -> Text:
    """Of a document as it was opened."""
    return Text(content.encode("utf-8", _ERRORS), encoding)


def _errors_of(text: bytes) -> str:
    """How to decode what may be a lone surrogate, or a file in no encoding at all."""
    try:
        text.decode("utf-8", _ERRORS)
    except UnicodeDecodeError:
        return "replace"
    return _ERRORS
