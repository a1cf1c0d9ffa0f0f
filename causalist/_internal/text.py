"""Untrusted TOML -> its tables, in time linear in its length."""

import re
import tomllib
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
    if _LONG_KEY.search(text):
        raise ValueError(f"a key has more than {_MAX_KEY_PARTS} parts")
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
