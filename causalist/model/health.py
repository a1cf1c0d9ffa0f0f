"""What checking an index finds."""

from dataclasses import dataclass
from typing import NamedTuple

from causalist.model.lookup import Gap


class Finding(NamedTuple):
    """Something that is wrong with an index, or keeps it from being whole. `where` is a node, an edge or a place."""

    slug: str
    where: str
    detail: str


class Calls(NamedTuple):
    """Call sites of one language: those that lead to definitions by a rule, those that were guessed by name alone,
    those that lead outside, and those of which only the name is known. Calls of builtin functions are in none.
    `examples` are a few of the last, the names that are called most often first."""

    language: str
    resolved: int
    guessed: int
    outside: int
    unresolved: int
    examples: tuple[Gap, ...] = ()


class Unmeasured(NamedTuple):
    """A rule whose confidence was never measured: that of its kind of `evidence` is taken. `edges` go by it here."""

    rule: str
    evidence: str
    confidence: float
    edges: int


@dataclass(frozen=True, slots=True)
class Health:
    """`cycles` are files that import one another in circles, each as its sorted paths, the largest first. They are no
    findings: code may be meant that way."""

    findings: tuple[Finding, ...]
    calls: tuple[Calls, ...]
    cycles: tuple[tuple[str, ...], ...]
    unmeasured: tuple[Unmeasured, ...] = ()
