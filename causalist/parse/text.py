"""The text of a file as people know it, and line ends as tree-sitter and everything after it count them.

Rows are counted by line feeds, as git, grep and tree-sitter do; in `\\r\\n` the carriage return is white space before
one. A file whose only line ends are carriage returns has its lines too: there each counts as a line feed. In a file
with line feeds a lone carriage return is a character like any other.
"""

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
        from causalist.parse.notebooks import read_notebook  # few files are, and an answer shows few files

        notebook = read_notebook(data)
        if notebook is not None:
            return notebook.view
    return with_line_feeds(data)
