"""The answer to a query as all servers and commands receive it, and the context pack."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import NamedTuple

from causalist._internal.lazy import dataclass
from causalist.model.graph import Edge
from causalist.model.index import FileNote
from causalist.model.scores import Hit, WalkOutcome
from causalist.model.source import Diagnostic


@dataclass(frozen=True, slots=True)
class PackHeader:
    """Head of a pack.

    `n_nodes` counts nodes of the repository; `commit` is None outside of git. `causal` is False if dependencies stand
    first. `confidence` and `sufficiency` are those of the answer, None if unknown.
    """

    query: str
    root: str
    commit: str | None
    n_nodes: int
    stale: bool = False
    causal: bool = True
    confidence: float | None = None
    sufficiency: float | None = None


class PackItem(NamedTuple):
    """A hit with its source text, from the indentation of its first line.

    `text` is "" if it could not be read. `via` marks a neighbor of a result that is no result itself. `rank` is the
    position among the results, the best one of what a function shows inside of it; None for `via` and for definitions
    that stand for their file. `snippet_lines` are (row, weight in the query) of a text so long that it may be cut,
    `uses` the rows where it uses other items. `needed` is the probability that a reader needs it. `link` is the edge
    that speaks for a neighbor.
    """

    hit: Hit
    text: str
    via: bool
    rank: int | None = None
    snippet_lines: tuple[tuple[int, float], ...] = ()
    uses: tuple[int, ...] = ()
    needed: float = 1.0
    link: Edge | None = None


@dataclass(frozen=True, slots=True)
class PackInput:
    """Everything a renderer may use.

    `items` are in the order of the pack. `strictness` is the factor of the least gain for which a body is shown. With
    `fills`, the budget is filled.
    """

    header: PackHeader
    items: tuple[PackItem, ...]
    edges: tuple[Edge, ...]
    removed_edges: tuple[Edge, ...]
    strictness: float = 1.0
    fills: bool = False


class PackFormat(StrEnum):
    """Format of a pack. A drawing has no source; a page shows a text with markup."""

    TEXT = "text"
    MARKDOWN = "markdown"
    XML = "xml"
    JSON = "json"
    MERMAID = "mermaid"
    DOT = "dot"
    HTML = "html"


class OmittedPart(StrEnum):
    """Parts of a pack that may be omitted."""

    ITEM = "item"
    BODY = "body"
    EDGE = "edge"


class Omitted(NamedTuple):
    """Something that did not fit into a pack."""

    node: str
    what: OmittedPart


class ShownRange(NamedTuple):
    """An item as a pack names it, with the ranges of lines in `shown` whose source the pack has.

    `path` is safe and perhaps shortened, lines are 1-based. `rank` is that of the result, None for others; `tokens` is
    what the item costs.
    """

    node: str
    path: str
    symbol: str | None
    kind: str
    start_line: int
    end_line: int
    shown: tuple[tuple[int, int], ...]
    rank: int | None = None
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Pack:
    """A rendered pack.

    `tokens` is the count of `text` by `tokenizer` or, for a page, of the text that it shows; never above `max_tokens`.
    `places` are the items of the text, in its order; `edges` are those that it prints.
    """

    text: str
    tokens: int
    max_tokens: int
    format: PackFormat
    omitted: tuple[Omitted, ...]
    tokenizer: str = "estimate"
    places: tuple[ShownRange, ...] = ()
    edges: tuple[Edge, ...] = ()


class Route(StrEnum):
    """Way to answer a query; see docs/how-it-works.md."""

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
    """Unit of ranking: symbols or files."""

    SYMBOL = "symbol"
    FILE = "file"


class RankMode(StrEnum):
    """Score that decides the rank."""

    FUSED = "fused"
    PAGERANK = "pagerank"


class Order(StrEnum):
    """Order of the pack."""

    CAUSAL = "causal"
    DEPENDENCIES_FIRST = "dependencies-first"


class Specificity(StrEnum):
    """Weight of seeds by degree: log(N / degree), 1 / number of passages, or none."""

    LOG = "log"
    PASSAGES = "passages"
    NONE = "none"


class Tokenizer(StrEnum):
    """Token counter of packs: an estimate without vocabulary, or exact o200k (extra `tokens`)."""

    ESTIMATE = "estimate"
    O200K = "o200k"


NO_EMBEDDER = "none"  # the name of no embedder, where the settings name one


@dataclass(frozen=True, slots=True)
class AskOptions:
    """Settings of one question. `damping` is the probability of following an edge."""

    top_k: int = 20
    level: Level = Level.SYMBOL
    max_tokens: int = 4000
    format: PackFormat = PackFormat.TEXT
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
    embedder: str | None = None  # whose vectors count; NO_EMBEDDER: none; None: as the settings say
    normalise: bool = False  # columns of the walk normalised to 1 instead of returning what they lack
    names: tuple[str, ...] = ()  # identifiers or words that the caller expects in the code
    semantic: bool = True  # whether the shipped question encoder counts; never beside an embedder
    fill: bool = False  # fill the budget instead of choosing the size of the pack


@dataclass(frozen=True, slots=True)
class RepositoryInfo:
    """Counts of the searched repository.

    `files` counts file nodes, `edges` edges inside the repository. `stale` is True if files on disk are newer than the
    index. `parsed` counts the parsed files of an index of what one question needs; None: all are parsed.
    """

    root: str
    commit: str | None
    files: int
    nodes: int
    edges: int
    stale: bool
    parsed: int | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """Content of an index: files by language, files left out by reason with `examples`, and notes.

    `learned` is the provenance of learned weights; None if the shipped ones are used. `aside` counts the generated and
    repeated files by `SetAside`, with `aside_examples`.
    """

    repository: RepositoryInfo
    version: str
    languages: Mapping[str, int]
    skipped: Mapping[str, int]
    examples: Mapping[str, tuple[str, ...]]
    notes: tuple[FileNote, ...]
    learned: str | None = None
    aside: Mapping[str, int] = field(default_factory=dict)
    aside_examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class StalenessReason(StrEnum):
    """Reasons for which an index is not current."""

    UNREADABLE = "unreadable"
    ABSENT = "absent"
    VERSION = "version"
    FOREIGN = "foreign"
    COMMIT = "commit"
    SUBMODULES = "submodules"
    FILES = "files"
    UNSETTLED = "unsettled"


class Staleness(NamedTuple):
    """One reason why an index was not current. `n_files` counts affected files, 0 for all of it."""

    reason: StalenessReason
    detail: str
    n_files: int = 0


class PreviousIndex(NamedTuple):
    """The stored index before a refresh; `path` is None if there was none.

    It was current if `reasons` is empty.
    """

    path: str | None
    reasons: tuple[Staleness, ...]


class CacheUse(NamedTuple):
    """The cache of facts that all repositories share: bytes and entries in use, and the limit in bytes."""

    path: str
    n_bytes: int
    n_entries: int
    most_bytes: int


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """Status of an index.

    `path` is None for one in memory. `n_dirty` counts indexed files that differ from `commit` and files of the commit
    that are deleted; None without a commit. `found` is None if nothing was checked before the refresh.
    """

    path: str | None
    n_bytes: int
    commit: str | None
    n_dirty: int | None
    found: PreviousIndex | None
    cache: CacheUse | None


@dataclass(frozen=True, slots=True)
class PageRankInfo:
    """End of a PageRank computation.

    `bound` is the maximum L1 distance to the exact PageRank, None if it is exact up to `residual`.
    """

    iterations: int
    residual: float
    damping: float
    outcome: WalkOutcome
    bound: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer to a query.

    `confidence` is the probability that one of the first five files is right, `sufficiency` that the pack is enough to
    answer; both are None for a pattern and for PageRank alone. `pagerank` is None if it was not computed. `order` holds
    ids of results and of the hops on their paths, in causal order; `via` are the hops. `timings_ms` has the six stages
    by name, each followed by its steps (`candidates.words`). `generators` has the number of candidates of each
    generator, None if it did not run.
    """

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
    sufficiency: float | None = None
