r"""The text of a file as people know it, and line ends as tree-sitter and everything after it count them.

Rows are counted by line feeds, as git, grep and tree-sitter do; in `\r\n` the carriage return is white space before
one. A file whose only line ends are carriage returns has its lines too: there each counts as a line feed. In a file
with line feeds a lone carriage return is a character like any other.

Bytes that are not UTF-8 are input: what cannot be read is a question mark, and all positions stay as they are.
"""

import codecs

_NOTEBOOKS = (".ipynb",)


def with_line_feeds(data: bytes) -> bytes:
    """The same bytes, of the same length, with line feeds if the file has none and carriage returns end its lines.

    >>> with_line_feeds(b"a\\rb\\r"), with_line_feeds(b"a\\rb\\n"), with_line_feeds(b"a\\r\\nb")
    (b'a\\nb\\n', b'a\\rb\\n', b'a\\r\\nb')
    """
    return data.replace(b"\r", b"\n") if b"\r" in data and b"\n" not in data else data


def is_notebook(path: str) -> bool:
    return path.lower().endswith(_NOTEBOOKS)


def view_of(path: str, data: bytes) -> bytes:
    """The text of a file as people know it, with the same positions: a notebook's cells without the JSON around them,
    lines that only carriage returns end as lines, everything else as it is."""
    if is_notebook(path):
        from causalist.parse.embedded_code import read_notebook  # few files are, and an answer shows few files

        notebook = read_notebook(data)
        if notebook is not None:
            return notebook.view
    return with_line_feeds(data)


_QUESTION_MARKS = "causalist.question-marks"


def _question_marks(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "?" * (error.end - error.start), error.end


codecs.register_error(_QUESTION_MARKS, _question_marks)


def valid_utf8(data: bytes) -> bytes:
    """The same bytes with a question mark for each that is not UTF-8.

    A query that asks for the text of a node raises where that is not UTF-8.

    >>> valid_utf8(b"a\\xffb")
    b'a?b'
    """
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("utf-8", _QUESTION_MARKS).encode("utf-8")
    return data
