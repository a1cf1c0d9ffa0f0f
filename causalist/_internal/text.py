"""TOML that may be anybody's -> its tables, in a time that grows with its length."""

import re
import tomllib
from typing import Any

# The standard library's reader takes time in the cube of the parts of a key. Nobody writes a tenth of these.
_MOST_PARTS = 100
_LONG_KEY = re.compile(
    r"""(?<![\w"'.-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){%d}""" % _MOST_PARTS  # noqa: UP031
)


def read_toml(text: str) -> dict[str, Any]:
    """The tables of a file, with or without a byte order mark. Raises ValueError for what is no TOML, or is nested too
    deeply to be read.

    >>> read_toml("[a]\\nb.c = 1")
    {'a': {'b': {'c': 1}}}
    """
    if _LONG_KEY.search(text):
        raise ValueError(f"a key has more than {_MOST_PARTS} parts")
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
