"""The context pack: what is handed to a reader or a prompt."""

from typing import NamedTuple

from causalist._internal.lazy import dataclass
from causalist.model.graph import Edge
from causalist.model.scores import Hit


@dataclass(frozen=True, slots=True)
class PackHeader:
    """`n_nodes` of the repository; `commit` is None outside of git. `causal` is false where dependencies stand
    first. `confidence` is that of the answer, None where nobody knows."""

    query: str
    root: str
    commit: str | None
    n_nodes: int
    stale: bool = False
    causal: bool = True
    confidence: float | None = None


class PackItem(NamedTuple):
    """A hit with its source text, from the indentation of its first line on. `text` is "" where it could not be read;
    `via` marks a node that is here only because a hit's path runs through it. `rank` is the place among the results;
    None for `via` and for definitions that stand for the file they are in. `telling` are rows of the file, of a text so
    long that it may have to be cut, with what they weigh in the question: 0 for those where a definition inside of it
    begins."""

    hit: Hit
    text: str
    via: bool
    rank: int | None = None
    telling: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class PackInput:
    """Everything a renderer may use. `items` stand in causal order; ranks follow `hit.score`."""

    header: PackHeader
    items: tuple[PackItem, ...]
    edges: tuple[Edge, ...]
    removed_edges: tuple[Edge, ...]


class Omitted(NamedTuple):
    """Something that did not fit: `what` is "body", "item", "edge"."""

    node: str
    what: str


class Place(NamedTuple):
    """An item as a pack names it: `path` safe and perhaps shortened, lines 1-based. `shown` are the ranges of lines
    whose source the pack has under this item."""

    node: str
    path: str
    symbol: str | None
    kind: str
    start_line: int
    end_line: int
    shown: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Pack:
    """`tokens` is what the counter called `tokenizer` says of `text`, or, where the format is a page, of the text that
    the page shows; never above `max_tokens`. `places` are the items of the text, in its order."""

    text: str
    tokens: int
    max_tokens: int
    format: str
    omitted: tuple[Omitted, ...]
    tokenizer: str = "estimate"
    places: tuple[Place, ...] = ()
