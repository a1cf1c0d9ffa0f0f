"""Which files a build takes that is given no tags of its own, by what the files say: `//go:build !purego && linux`.

Names of platforms and compilers may hold or not. A version holds: every tool chain of today has those asked for,
and what stands beside it, `!go1.21`, is kept for those who lag behind. Any other tag has to be asked for, and hardly
anybody does: of two files that define the same names, one `binary_log` and one `!binary_log`, nearly every build has
the second.
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
    >>> holds("go1.21", {"linux"}), holds("!go1.21", {"linux"})
    (True, False)
    """
    return _value(expression, lambda tag: None if tag in platforms else _is_version(tag))


def is_usual(expression: str, usual: Collection[str]) -> bool:
    """Whether an expression holds on the platform that programs usually run on, of which `usual` are all the tags.

    >>> [is_usual(e, {"linux", "amd64"}) for e in ("linux || js", "!linux", "!js && go1.21", "amd64 && fast", "(")]
    [True, False, True, False, True]
    """
    return _value(expression, lambda tag: tag in usual or _is_version(tag)) is not False


def _is_version(tag: str) -> bool:
    return "." in tag


def _value(expression: str, of_tag: Callable[[str], Truth]) -> Truth:
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
                values.append(of_tag(word))
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
