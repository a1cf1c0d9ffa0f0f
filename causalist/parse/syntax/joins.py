"""Languages that join names with other marks than a dot -> the same bytes with dots, as long as before.

`$this->door::open()` is `$this .door .open()` for whoever reads chains of names. Strings and comments are not spared:
what is shown of them comes from the text as it is.
"""

import re
from collections.abc import Sequence
from functools import cache

_NAME_FOLLOWS = r"(?=\s*[\w$])"


@cache
def _pattern(joins: Sequence[str]) -> "re.Pattern[bytes]":
    longest_first = sorted(joins, key=lambda each: (-len(each), each))
    return re.compile(f"(?:{'|'.join(map(re.escape, longest_first))}){_NAME_FOLLOWS}".encode())


def with_dots(data: bytes, joins: tuple[str, ...]) -> bytes:
    """`data` with a dot at the end of each of `joins` that a name follows, and spaces before the dot.

    >>> with_dots(b"$a?->b(A::$c, \\\\A\\\\B::d) . '\\\\''", ("->", "?->", "::", "::$", "\\\\"))
    b"$a  .b(A  .c, .A.B .d) . '\\\\''"
    """
    if not joins:
        return data
    return _pattern(joins).sub(lambda m: b".".rjust(len(m[0])), data)
