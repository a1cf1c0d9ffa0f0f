"""What looking things up in the graph returns: definitions with their source, trails between two nodes, neighbours,
verdicts, and what a change reaches.

What checking an index finds.

What `layers` returns: how a repository is layered, and where that is broken.

What a repository is, for somebody who has never seen it.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from causalist.model.graph import Edge
from causalist.model.scores import Hit, Hop


@dataclass(frozen=True, slots=True)
class Definition:
    """A node with its source and its place in the graph. `text` is "" where the file is no longer what was indexed;
    `stale` says that.

    `fan_in` counts the nodes outside of it that use it or what it contains, `fan_out` those inside the repository that
    it uses; `n_callers` and `n_callees` count the calls to and from the node itself. `outline` is what a file
    holds, in the order of its lines. `namesakes` are ids of other definitions of that name in the file. `overrides` and
    `overridden_by` are ids of methods, one step away."""

    hit: Hit
    text: str
    stale: bool
    role: str = "code"
    fan_in: int = 0
    fan_out: int = 0
    n_callers: int = 0
    n_callees: int = 0
    outline: tuple[Hit, ...] = ()
    namesakes: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    overridden_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trail:
    """The most probable way from one node to another. `hops[0]` is where it starts; `edges[i]` leads to `hops[i + 1]`
    (against its direction where that hop says "(back)"), so that there is one edge less than hops. `probability` is the
    product of the walk's entries along it. `forward` is true where every step follows a use from source to target."""

    hops: tuple[Hop, ...]
    probability: float
    edges: tuple[Edge, ...] = ()
    forward: bool = True


class Affected(NamedTuple):
    """A node that a change reaches: `depth` steps of use away, by the shortest way. `edge` is the first of that way,
    the use by which the node itself depends on what is one step nearer. `role` is that of its file; `layer` and `tier`
    are its own. `overridden_by` is "" or the method one step nearer, where the edge leads to a method that it
    overrides: the use may run it. `runs` is "" or the constructor or special method one step nearer, where the edge
    leads to its class: the use runs it, as certainly as the edge says."""

    node: str
    depth: int
    edge: Edge
    role: str = "code"
    overridden_by: str = ""
    layer: str | None = None
    tier: str | None = None
    runs: str = ""


class Impact(NamedTuple):
    """What changed since a commit, and what that reaches. `deleted` are paths of files that are gone: what used them
    cannot be looked up any more."""

    commit: str
    changed: tuple[str, ...]
    deleted: tuple[str, ...]
    affected: tuple[Affected, ...]


class Gap(NamedTuple):
    """A call of which only the name is known: `node` calls something named `name`, first in `line` (1-based) of its
    file, `n` times. What may be meant is unknown, which is another thing than nothing."""

    node: str
    name: str
    line: int
    n: int


class Direction(StrEnum):
    """Which edges of a node count: those that lead to it, those that leave it, or both."""

    IN = "in"
    OUT = "out"
    BOTH = "both"


class Neighbors(NamedTuple):
    """Edges of one kind, `hop` steps from a node, into or out of what is one step nearer: the most confident of `n`.
    `ends` has layer and tier of the end of each edge that is farther away, None for what lies outside."""

    hop: int
    direction: Direction
    kind: str
    n: int
    edges: tuple[Edge, ...]
    ends: tuple[tuple[str | None, str | None], ...]


class Known(StrEnum):
    """What can be said about an edge between two nodes."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class Reason(StrEnum):
    """Why a verdict is what it is, one for each thing that it can say.

    Yes: `uses`. Unknown: `weak` (there are edges, none is certain enough), `receiver` (something of that name is called
    on what is of no known type), `dispatch` (a method is called that the target overrides or implements), `unclear`
    (a member of that name is called on what is taken for something built in, outside, or without such a member). No:
    `elsewhere` (what is called by that name is something else), `outside` (a bare name is called that stands for
    nothing in the repository), `absent` (nothing of that name is called).
    """

    USES = "uses"
    WEAK = "weak"
    RECEIVER = "receiver"
    DISPATCH = "dispatch"
    UNCLEAR = "unclear"
    ELSEWHERE = "elsewhere"
    OUTSIDE = "outside"
    ABSENT = "absent"


class Basis(NamedTuple):
    """What the confidence of an edge rests on: the meaning of its rule, and how many edges by that rule were right and
    wrong where compilers and type checkers judged them, in how many repositories. `language` is "" where they are of
    all languages; nothing is counted where the rule was not measured for such edges."""

    meaning: str
    right: int
    wrong: int
    repositories: int
    language: str


class Site(NamedTuple):
    """A call as it is written: `line` is 1-based, `callee` a chain of names with "?" for a part that is none."""

    line: int
    callee: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether `source`, or something in it, uses `target`, or something in it.

    `edges` are the uses, most confident first, `bases` what they rest on, and `lines` their source lines ("" where a
    file changed). Without one that is confident enough, `sites` are the calls by the target's name in the source,
    `gaps` those that may mean the target and make the answer "unknown", `others` the edges that calls by that name
    make instead, and `calls` are what the source calls as far as that is known."""

    source: str
    target: str
    known: Known
    reason: Reason
    edges: tuple[Edge, ...] = ()
    lines: tuple[str, ...] = ()
    bases: tuple[Basis, ...] = ()
    sites: tuple[Site, ...] = ()
    gaps: tuple[Gap, ...] = ()
    others: tuple[Edge, ...] = ()
    calls: tuple[Edge, ...] = ()


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


class Used(NamedTuple):
    """A definition, and how many other nodes use it (with a confidence of at least 0.5)."""

    hit: Hit
    fan_in: int


class LayerSize(NamedTuple):
    """A layer with its files and definitions (those in files of another layer too), and the most used of these."""

    layer: str
    n_files: int
    n_definitions: int
    hottest: tuple[Used, ...]


class LayerUses(NamedTuple):
    """Code of `source` uses code of `target` in `n` ways: edges between their files and definitions."""

    source: str
    target: str
    n: int


class BackEdge(NamedTuple):
    """A use of a higher layer by a lower one, `steps` layers up."""

    edge: Edge
    source_layer: str
    target_layer: str
    steps: int


@dataclass(frozen=True, slots=True)
class Layering:
    """`sizes` hold the layers that there are, from the highest to the lowest and then those beside them; `uses` only
    pairs of them with an edge, in the order of `sizes`. `back_edges` stand by falling `steps`, then by falling
    confidence, then by source, target and kind."""

    sizes: tuple[LayerSize, ...]
    uses: tuple[LayerUses, ...]
    back_edges: tuple[BackEdge, ...]


class LanguageSize(NamedTuple):
    language: str
    n_files: int
    n_lines: int


class EntryPoint(NamedTuple):
    """Where others come in. `kind`: "command" (a program that installing brings), "import" (what importers name), "run"
    (a file that is run). `target` is the node or path, "" where the repository does not hold it."""

    kind: str
    name: str
    target: str


class Folder(NamedTuple):
    """A folder with code: `path` ends with "/", the root is "./". `share` of the importance of all code.
    `layer` is that of at least two thirds of its code files, "" where there is none such or it is logic."""

    path: str
    n_files: int
    share: float
    doc: str
    layer: str = ""


class KeyDefinition(NamedTuple):
    """A definition that much rests on, and the names of its most important members. `share` includes them."""

    hit: Hit
    share: float
    members: tuple[str, ...]


class Dependency(NamedTuple):
    """Code below `source` uses code below `target` in `n` ways: edges between their definitions."""

    source: str
    target: str
    n: int


class Aside(NamedTuple):
    """Files that are no code of the product: tests, documentation, examples and so on, and where most of them are."""

    role: str
    n_files: int
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """All parts stand best first, so that a beginning of each is the best that fits. `folders` hold a folder after the
    one that it is in. `summary` is what the package says of itself in a line, `paragraph` what its README does."""

    name: str
    commit: str | None
    summary: str
    paragraph: str
    languages: tuple[LanguageSize, ...]
    entries: tuple[EntryPoint, ...]
    folders: tuple[Folder, ...]
    definitions: tuple[KeyDefinition, ...]
    dependencies: tuple[Dependency, ...]
    asides: tuple[Aside, ...]


@dataclass(frozen=True, slots=True)
class Map:
    """An overview cut to a budget. `overview` holds just what `text` shows; `tokens` is never above `max_tokens`."""

    text: str
    tokens: int
    max_tokens: int
    format: str
    overview: Overview
