"""Which files a build takes that is given no tags of its own, by what the files say: `//go:build !purego && linux`.

Names of platforms, compilers and versions may hold or not. Any other tag has to be asked for, and hardly anybody does:
of two files that define the same names, one `binary_log` and one `!binary_log`, nearly every build has the second.
"""

import re
from collections.abc import Callable, Collection

_TOKEN = re.compile(r"\s*(\|\||&&|[!()]|[\w.]+)")
_STRENGTH = {"||": 1, "&&": 2, "!": 3}
_LONGEST = 1000  # characters; a longer expression is not read

Truth = bool | None  # None: it depends on the platform


def holds(expression: str, platforms: Collection[str]) -> Truth:
    """Whether an expression over tags holds where none of them is asked for; None as well for what is no expression.

    >>> [holds(e, {"linux"}) for e in ("fast", "!fast", "linux && !fast", "linux || !fast", "fast && go1.21", "(")]
    [False, True, None, True, False, None]
    """
    values: list[Truth] = []
    operators: list[str] = []
    position = 0
    text = expression.strip()
    try:
        while position < len(text) <= _LONGEST:
            token = _TOKEN.match(text, position)
            if token is None:
                return None
            position = token.end()
            word = token[1]
            if word in ("(", "!"):
                operators.append(word)
            elif word == ")":
                while operators[-1] != "(":
                    _apply(operators.pop(), values)
                operators.pop()
            elif word in _STRENGTH:
                while operators and _STRENGTH.get(operators[-1], 0) >= _STRENGTH[word]:
                    _apply(operators.pop(), values)
                operators.append(word)
            else:
                values.append(None if word in platforms or "." in word else False)
        while operators:
            _apply(operators.pop(), values)
    except (IndexError, KeyError):
        return None
    return values[0] if len(values) == 1 else None


def _apply(operator: str, values: list[Truth]) -> None:
    if operator == "!":
        value = values.pop()
        values.append(None if value is None else not value)
    else:
        right, left = values.pop(), values.pop()
        values.append(_JOINED[operator](left, right))


def _either(left: Truth, right: Truth) -> Truth:
    return True if left or right else None if None in (left, right) else False


def _both(left: Truth, right: Truth) -> Truth:
    return False if left is False or right is False else None if None in (left, right) else True


_JOINED: dict[str, Callable[[Truth, Truth], Truth]] = {"||": _either, "&&": _both}
