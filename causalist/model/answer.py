"""The context pack: what is handed to a reader or a prompt.

The answer to a question, as every door receives it.
"""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import NamedTuple

from causalist._internal.lazy import dataclass
from causalist.model.graph import Edge
from causalist.model.index import FileNote
from causalist.model.scores import Hit
from causalist.model.source import Diagnostic


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


class Route(StrEnum):
    """How a question is answered; see docs/how-it-works.md."""

    LOOKUP = "lookup"
    SIMPLE = "simple"
    MULTI_HOP = "multi_hop"
    EXPLORATORY = "exploratory"
    SKIP = "skip"  # from the answers that are at hand, or not at all


class RetrievalMode(StrEnum):
    """Ranking method of a memory search; see docs/memory.md."""

    HIPPO = "hippo"
    DENSE = "dense"
    SPARSE = "sparse"
    HYBRID = "hybrid"


class GraphVariant(StrEnum):
    """Name of a memory graph and its seeding; `memory.walk.VARIANTS` has the parameters of each."""

    LOG = "log"
    HIPPORAG = "hipporag"
    HIPPORAG2 = "hipporag2"


class MemoryMode(StrEnum):
    """Breadth of an answer of the memory pipeline: its tiers, and the number of results of each tier."""

    EXECUTION = "execution"
    PLANNING = "planning"
    BRAINSTORMING = "brainstorming"


class Level(StrEnum):
    SYMBOL = "symbol"
    FILE = "file"


class RankMode(StrEnum):
    FUSED = "fused"
    PAGERANK = "pagerank"


class Order(StrEnum):
    CAUSAL = "causal"
    DEPENDENCIES_FIRST = "dependencies-first"


class Specificity(StrEnum):
    """How seeds are weighted by the number of their neighbours: log(N / degree), 1 / passage count, or not at all."""

    LOG = "log"
    PASSAGES = "passages"
    NONE = "none"


class Tokenizer(StrEnum):
    """What counts the tokens of a pack: an estimate without a vocabulary, or o200k exactly (the extra `tokens`)."""

    ESTIMATE = "estimate"
    O200K = "o200k"


NO_EMBEDDER = "none"  # the name of no embedder, where the settings name one


@dataclass(frozen=True, slots=True)
class AskOptions:
    """Settings of one question. `damping` is the probability of following an edge."""

    top_k: int = 20
    level: Level = Level.SYMBOL
    max_tokens: int = 4000
    format: str = "text"
    tokenizer: Tokenizer = Tokenizer.ESTIMATE
    route: Route | None = None
    rank: RankMode = RankMode.FUSED
    graph: bool = True
    order: Order = Order.CAUSAL
    damping: float = 0.85
    specificity: Specificity = Specificity.LOG
    approximate: float | None = None  # threshold of pushing; 0: an exact walk; None: exact up to a million nodes
    explain: bool = False  # say which seeds each hit's PageRank stems from
    include: tuple[str, ...] = ()  # patterns as in .gitignore; only what lies in such files answers
    exclude: tuple[str, ...] = ()
    scope: str | None = None  # the folder that ranks first; None: where the repository was opened
    embedder: str | None = None  # whose vectors count; NO_EMBEDDER: nobody's; None: as the settings say
    normalise: bool = False  # columns of the walk normalised to 1 instead of returning what they lack


@dataclass(frozen=True, slots=True)
class RepositoryInfo:
    """What was searched. `files` counts file nodes, `edges` edges inside the repository. `stale` is true when the
    files on disk are newer than the index that answered."""

    root: str
    commit: str | None
    files: int
    nodes: int
    edges: int
    stale: bool


@dataclass(frozen=True, slots=True)
class Status:
    """What is indexed: files by language, files left out by reason with `examples`, and what files made doubtful.
    `learned` says what the weights of this repository rest on; None where they are the shipped ones."""

    repository: RepositoryInfo
    version: str
    languages: Mapping[str, int]
    skipped: Mapping[str, int]
    examples: Mapping[str, tuple[str, ...]]
    notes: tuple[FileNote, ...]
    learned: str | None = None


class Staleness(NamedTuple):
    """One reason why an index was not current: "absent", "unreadable", "version", "foreign", "commit", "submodules",
    "files" or "unsettled". `n_files` is how many files it concerns, 0 for the index as a whole."""

    reason: str
    detail: str
    n_files: int = 0


class Found(NamedTuple):
    """The index that was stored before it was refreshed; `path` is None where there was none. It was current if there
    are no `reasons`."""

    path: str | None
    reasons: tuple[Staleness, ...]


class CacheUse(NamedTuple):
    """The file of facts that all repositories of the user share: bytes and entries in use, and the cap in bytes."""

    path: str
    n_bytes: int
    n_entries: int
    most_bytes: int


@dataclass(frozen=True, slots=True)
class Standing:
    """How an index stands. `path` is None for one in memory. `n_dirty` counts indexed files that differ from `commit`,
    with files of the commit that are gone; None where no commit is known. `found` is None if nobody looked before the
    index was refreshed."""

    path: str | None
    n_bytes: int
    commit: str | None
    n_dirty: int | None
    found: Found | None
    cache: CacheUse | None


@dataclass(frozen=True, slots=True)
class PageRankInfo:
    """How the walk ended. `bound` is how far in the L1 norm the PageRank can be from the exact one, None where it is
    exact up to `residual`."""

    iterations: int
    residual: float
    damping: float
    rung: str
    bound: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """`confidence` is the probability that one of the first five files is right; None for a pattern, and for a list by
    PageRank alone. `pagerank` is None when the graph was not walked. `order` holds ids of results and of the hops on
    their paths, in causal order; `via` are the latter. `timings_ms` has the six stages by name, each followed by its
    steps (`candidates.words`). `generators` says how many candidates each of them found, None where it was not run."""

    answer_id: str
    query: str
    route: Route
    confidence: float | None
    attempts: int
    repository: RepositoryInfo
    pagerank: PageRankInfo | None
    results: tuple[Hit, ...]
    edges: tuple[Edge, ...]
    removed_edges: tuple[Edge, ...]
    order: tuple[str, ...]
    via: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    timings_ms: Mapping[str, float]
    generators: Mapping[str, int | None] = field(default_factory=dict)
    pack: Pack | None = field(default=None)
