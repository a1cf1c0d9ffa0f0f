"""What checking an index finds."""

from dataclasses import dataclass
from typing import NamedTuple


class Finding(NamedTuple):
    """Something that is wrong with an index, or keeps it from being whole. `where` is a node, an edge or a place."""

    slug: str
    where: str
    detail: str


class Calls(NamedTuple):
    """Call sites of one language: those that lead to definitions by a rule, those that were guessed by name alone,
    those that lead outside, and those of which only the name is known. Calls of builtin functions are in none."""

    language: str
    resolved: int
    guessed: int
    outside: int
    unresolved: int


@dataclass(frozen=True, slots=True)
class Health:
    """`cycles` are files that import one another in circles, each as its sorted paths, the largest first. They are no
    findings: code may be meant that way."""

    findings: tuple[Finding, ...]
    calls: tuple[Calls, ...]
    cycles: tuple[tuple[str, ...], ...]
