"""A tree of imported paths -> its leaves: `a::{self, b::{c as d, e::*}}` imports a, a::b::c as d and all of a::b::e."""

import re
from typing import NamedTuple

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_TOKEN = re.compile(r"::|=>|[{},*]|(?:r#)?[^\W\d]\w*", re.ASCII)


class Leaf(NamedTuple):
    """`path` joined with dots, the `name` that is taken from there ("*" for all), and the local name."""

    path: str
    name: str
    alias: str


def use_tree(text: str) -> list[Leaf]:
    """The leaves in the order in which they stand. What is broken gives fewer leaves.

    >>> [leaf for leaf in use_tree("a::{self, b::{c as d, e::*}}")]
    [Leaf(path='', name='a', alias='a'), Leaf(path='a.b', name='c', alias='d'), Leaf(path='a.b.e', name='*', alias='')]
    """
    leaves: list[Leaf] = []
    stack: list[list[str]] = []  # the path before each open brace
    path: list[str] = []
    alias, aliased = "", False

    def close() -> None:
        nonlocal alias, aliased
        outer = stack[-1] if stack else []
        if len(path) > len(outer) or (path and path[-1] == "*"):
            names = path[:-1] if path[-1] == "self" and len(path) > 1 else path
            if names[-1] == "*":
                leaves.append(Leaf(".".join(names[:-1]), "*", ""))
            else:
                leaves.append(Leaf(".".join(names[:-1]), names[-1], alias or names[-1]))
        path[:] = outer
        alias, aliased = "", False

    tokens = _TOKEN.findall(_COMMENT.sub(" ", text))
    for token in tokens[1:] if tokens[:1] == ["import"] else tokens:
        if token == "::":
            continue
        if token == "{":
            stack.append(list(path))
        elif token == ",":
            close()
        elif token == "}":
            close()
            if stack:
                stack.pop()
            path[:] = stack[-1] if stack else []
        elif token in ("as", "=>"):
            aliased = True
        elif aliased:
            alias = token.removeprefix("r#")
        else:
            path.append("*" if token == "_" else token.removeprefix("r#"))
    close()
    return leaves
