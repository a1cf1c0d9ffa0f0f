"""Types in the signatures of methods, written so that two signatures can be compared: without the names of parameters,
each type by the one name that it has everywhere."""

import re
from collections.abc import Callable

_TOKEN = re.compile(r"[()\[\]{},]")
_NAMED = re.compile(r"([^\W\d]\w*)\s+(\S.*)")
_TYPE_WORDS = frozenset({"chan", "func", "map", "struct", "interface"})
DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)?")
_FUNCTION = re.compile(r"\bfunc\s*\(")
CUT = "…"  # ends a signature that is not kept as a whole


def comparable(signature: str, name: str, known_as: Callable[[str], str] = str) -> str:
    """The types of parameters and results in a method's signature; `known_as` gives a type's name one meaning
    everywhere.

    >>> comparable("func (s *S) Get(a, b int, f func(x int) error) (*p.T, error)", "Get")
    '(int,int,func(int)(error))(*p.T,error)'
    >>> comparable("Get(int, int, func(x int) error) (t *p.T, err error)", "Get")
    '(int,int,func(int)(error))(*p.T,error)'
    """
    matched = re.search(rf"(?:^|\)\s*|\s){re.escape(name)}\(", signature)
    if matched is None or CUT in signature:
        return CUT
    return _function(signature[matched.end() - 1 :], known_as)


def _function(text: str, known_as: Callable[[str], str]) -> str:
    """The types of `(a, b A) (c C)`."""
    end = _closing(text, 0)
    results = text[end + 1 :].strip()
    if results.startswith("(") and _closing(results, 0) == len(results) - 1:
        results = results[1:-1]
    return f"({_types(text[1:end], known_as)})({_types(results, known_as)})"


def _types(text: str, known_as: Callable[[str], str]) -> str:
    parts = [part for part in map(str.strip, _split(text)) if part]
    named = [_NAMED.fullmatch(part) for part in parts]
    if any(n and n[1] not in _TYPE_WORDS for n in named):
        written = ""
        types: list[str] = []
        for part, name in zip(reversed(parts), reversed(named), strict=True):
            written = name[2] if name and name[1] not in _TYPE_WORDS else written or part
            types.insert(0, written)
        parts = types
    return ",".join(_plain(part, known_as) for part in parts)


def _plain(text: str, known_as: Callable[[str], str]) -> str:
    inner = _FUNCTION.search(text)
    if inner:
        return _plain(text[: inner.start()], known_as) + "func" + _function(text[inner.end() - 1 :], known_as)
    text = re.sub(r"\s*([()\[\]{},])\s*", r"\1", text.replace("interface{}", "any").replace("interface {}", "any"))
    return DOTTED.sub(lambda matched: known_as(matched[0]), text)


def _closing(text: str, start: int) -> int:
    depth = 0
    for token in _TOKEN.finditer(text, start):
        depth += (token[0] in "([{") - (token[0] in ")]}")
        if depth == 0:
            return token.start()
    return len(text)


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for token in _TOKEN.finditer(text):
        depth += (token[0] in "([{") - (token[0] in ")]}")
        if token[0] == "," and depth == 0:
            parts.append(text[start : token.start()])
            start = token.end()
    return [*parts, text[start:]]
