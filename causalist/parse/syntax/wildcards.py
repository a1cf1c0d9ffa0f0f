"""The variable that lists what a wildcard import brings (`__all__`) -> the names, as far as they are written out."""

import re
from collections.abc import Iterable

_NAME = re.compile(r"[\"']([^\"']+)[\"']")
_LIST = r"\s*(\[[^\[\]]*\]|\([^()]*\))[ \t]*(?=\)|$|#|;)"


def listed_names(text: str, variable: str) -> tuple[str, ...] | None:
    """The names that a file lists in `variable`; None where it does not list any, or not only in literals.

    >>> listed_names("__all__ = ['a']\\n__all__ += ['b']", "__all__"), listed_names("__all__ = x.__all__", "__all__")
    (('a', 'b'), None)
    """
    at = re.compile(rf"^[ \t]*{re.escape(variable)}(?:[ \t]*(?::[^=\n]*)?(\+?=)|\.(extend|append)\()", re.MULTILINE)
    found: list[str] | None = None
    for each in at.finditer(text):
        if each[2] == "append":
            names: Iterable[str] = _NAME.findall(text[each.end() : each.end() + 100].partition(")")[0])
        else:
            values = re.compile(_LIST, re.MULTILINE).match(text, each.end())
            if values is None:
                return None
            names = _NAME.findall(re.sub(r"#[^\n]*", "", values[1]))
        found = [*names] if found is None or each[1] == "=" else [*found, *names]
    return None if found is None else tuple(dict.fromkeys(found))
