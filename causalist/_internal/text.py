"""Text helpers: untrusted TOML read in time linear in its length, aligned columns, counted nouns, and ages."""

import re
import time
from collections.abc import Sequence
from typing import Any

# The standard library's reader takes time in the cube of the parts of a key. Nobody writes a tenth of these.
_MAX_KEY_PARTS = 100
_LONG_KEY = re.compile(
    r"""(?<![\w"'.-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){%d}""" % _MAX_KEY_PARTS  # noqa: UP031
)


def read_toml(text: str) -> dict[str, Any]:
    r"""Return the tables of a file, with or without a byte order mark.

    Raises ValueError for invalid TOML or nesting that is too deep.

    >>> read_toml("[a]\nb.c = 1")
    {'a': {'b': {'c': 1}}}
    """
    import tomllib  # few answers read settings

    if _LONG_KEY.search(text):
        raise ValueError(f"a key has more than {_MAX_KEY_PARTS} parts")
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return one line per row of cells, with columns aligned and two spaces apart.

    The last column is not padded.

    >>> align_columns([("a", "bcd", "e"), ("abc", "d", "f")])
    ['a    bcd  e', 'abc  d    f']
    """
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)] if rows else []
    return ["  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[-1]]).rstrip() for row in rows]


def count_noun(n: int, noun: str, spec: str = "") -> str:
    """Return a number with its noun, in the plural unless the number is 1. `spec` formats the number.

    >>> count_noun(1, "process"), count_noun(2, "repository"), count_noun(1200, "file", ",")
    ('1 process', '2 repositories', '1,200 files')
    """
    number = f"{n:{spec}}"
    if n == 1:
        return f"{number} {noun}"
    if noun.endswith("y"):
        return f"{number} {noun[:-1]}ies"
    return f"{number} {noun}{'es' if noun.endswith('s') else 's'}"


def describe_age(since: int) -> str:
    """Return the time that passed since a time in seconds, in its largest unit."""
    seconds = max(0, int(time.time()) - since)
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
