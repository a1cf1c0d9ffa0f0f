"""Line ends as tree-sitter and everything after it count them.

Rows are counted by line feeds, as git, grep and tree-sitter do; in `\\r\\n` the carriage return is white space before
one. A file whose only line ends are carriage returns has its lines too: there each counts as a line feed. In a file
with line feeds a lone carriage return is a character like any other.
"""


def with_line_feeds(data: bytes) -> bytes:
    """The same bytes, of the same length, with line feeds if the file has none and carriage returns end its lines.

    >>> with_line_feeds(b"a\\rb\\r"), with_line_feeds(b"a\\rb\\n"), with_line_feeds(b"a\\r\\nb")
    (b'a\\nb\\n', b'a\\rb\\n', b'a\\r\\nb')
    """
    return data.replace(b"\r", b"\n") if b"\r" in data and b"\n" not in data else data
