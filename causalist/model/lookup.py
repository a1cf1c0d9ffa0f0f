"""Results of look-ups in the graph: definitions, paths, neighbors, verdicts, impact.

Also the results of `lint`, `layers` and `map`.
"""

from enum import StrEnum
from typing import NamedTuple

from causalist._internal.lazy import dataclass
from causalist.model.graph import Edge
from causalist.model.scores import Hit, Hop


@dataclass(frozen=True, slots=True)
class DefinitionDetails:
    """A node with its source and its neighborhood in the graph.

    `text` is "" and `stale` True if the file changed since it was indexed. `fan_in` counts the nodes outside of it that
    use it or its members, `fan_out` those inside the repository that it uses; `n_callers` and `n_callees` count the
    calls to and from the node itself. `outline` is the content of a file, in the order of its lines. `namesakes` are
    ids of other definitions of that name in the file. `overrides` and `overridden_by` are ids of methods, one step
    away.
    """

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
class GraphPath:
    """The most probable path from one node to another.

    `edges[i]` leads from `hops[i]` to `hops[i + 1]` (against its direction if that hop says "(back)"). `probability` is
    the product of the transition entries along it. `forward` is True if every step follows a use from source to target.
    """

    hops: tuple[Hop, ...]
    probability: float
    edges: tuple[Edge, ...] = ()
    forward: bool = True


class Affected(NamedTuple):
    """A node that a change reaches, `depth` steps of use away on the shortest path.

    `edge` is the use by which the node depends on a node one step nearer. `role` is that of its file; `layer` and
    `tier` are its own. `overridden_by` is "" or the method one step nearer, if the edge leads to a method that it
    overrides: the use may run it. `runs` is "" or the constructor or special method one step nearer, if the edge leads
    to its class: the use runs it, as certainly as the edge says. `run_with` is "" or what runs with a test and has the
    edge in its place: a set-up method, or the group, class or file of the test. `probability` is that of a run of the
    node, 0 where nothing asks for it.
    """

    node: str
    depth: int
    edge: Edge
    role: str = "code"
    overridden_by: str = ""
    layer: str | None = None
    tier: str | None = None
    runs: str = ""
    probability: float = 0.0
    run_with: str = ""


class ChangesWith(NamedTuple):
    """A file that changes together with a changed one.

    Of the `n_commits` that changed `changed`, `n_both` changed `file` too. `probability` is that the next change of
    `changed` changes `file`, from the history, the uses between them, and their words and names. `role` is that of
    `file`. `reasons` say in a few words what speaks for it, the strongest first.
    """

    file: str
    changed: str
    n_both: int
    n_commits: int
    probability: float
    role: str = "code"
    reasons: tuple[str, ...] = ()


class CoverageReport(NamedTuple):
    """Lines of a definition that ran, and tests that ran it, by coverage data.

    `files` are the data files, below the root those that are there. `n_ran` of `n_lines` lines ran in some test;
    `n_lines` is 0 where the data has only lines that ran. `n_tests` tests ran it, None where the data does not tell
    tests apart. `n_unsure` tests did not run it, but may by now, because they or code on their way to it changed.
    `is_stale` is True if the file of the definition changed after the data was `written`, a local date and time.
    """

    files: tuple[str, ...]
    format: str
    n_ran: int
    n_lines: int
    n_tests: int | None
    n_unsure: int
    is_stale: bool
    written: str


class TestChoice(NamedTuple):
    """Tests that may run a definition, the most probable first, with what coverage data says of it, if anything.

    `problems` are sentences on data files that cannot be read, or were named and have no line of the definition.
    `n_probable` is the number of the first that are probable beside the very first; None if that is not known.
    """

    tests: tuple[Affected, ...]
    coverage: CoverageReport | None = None
    problems: tuple[str, ...] = ()
    n_probable: int | None = None


class ObservedRun(NamedTuple):
    """A run of a command: `time` is its start in seconds, `name` that of its folder."""

    name: str
    command: str
    time: int
    n_processes: int


class ObservedStatus(NamedTuple):
    """Calls that runs saw: counts of pairs of definitions, and the runs, the oldest first.

    `n_direct` pairs called each other, `n_through` only by way of code from outside of the repository; `n_confirmed` of
    both are of edges that a rule finds, `n_added` of others. `n_lowered` edges were not seen while their callers ran.
    `n_stale` calls were seen before one of the two definitions changed. `n_tests` counts tests whose code is known.
    `killed` runs ended before their calls were put there, which the next run does, the oldest first.
    """

    runs: tuple[ObservedRun, ...]
    n_direct: int
    n_through: int
    n_confirmed: int
    n_added: int
    n_lowered: int
    n_stale: int
    n_tests: int
    killed: tuple[ObservedRun, ...] = ()


class ProvenStatus(NamedTuple):
    """Functions that were broken, pairs of a test and a function that it needs, and edges that are proven.

    `n_stale` of the pairs and edges are of definitions that changed since, and count no more.
    """

    n_functions: int
    n_tests: int
    n_edges: int
    n_stale: int


class Impact(NamedTuple):
    """Changes since a commit and the nodes that they reach.

    `deleted` are paths of deleted files, whose users cannot be looked up any more.
    """

    commit: str
    changed: tuple[str, ...]
    deleted: tuple[str, ...]
    affected: tuple[Affected, ...]


class ServedRoute(NamedTuple):
    """A method and path of HTTP, the node that handles it, the 1-based line of that, and what requests the path."""

    method: str
    path: str
    handler: str
    line: int
    requests: tuple[str, ...]


class UnresolvedCall(NamedTuple):
    """A call with a known name only.

    `node` calls something named `name`, first in `line` (1-based) of its file, `n` times. Its target is unknown, which
    is different from none.
    """

    node: str
    name: str
    line: int
    n: int


class Direction(StrEnum):
    """Edges of a node that count: incoming, outgoing or both."""

    IN = "in"
    OUT = "out"
    BOTH = "both"


class Neighbors(NamedTuple):
    """Edges of one kind, `hop` steps from a node: the most confident of `n`.

    They lead into or out of the node one step nearer. `ends` has layer and tier of the farther end of each edge, None
    outside of the repository.
    """

    hop: int
    direction: Direction
    kind: str
    n: int
    edges: tuple[Edge, ...]
    ends: tuple[tuple[str | None, str | None], ...]


class Certainty(StrEnum):
    """Certainty of an edge between two nodes."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class VerdictReason(StrEnum):
    """Reason of a verdict.

    Yes: `uses`. Unknown: `weak` (there are edges, none is confident enough), `receiver` (something of that name is
    called on a receiver of unknown type), `dispatch` (a method is called that the target overrides or implements),
    `unclear` (a member of that name is called on a receiver taken for something built in, external, or without such a
    member), `written` (the name stands in the source other than as a call), `kept` (the target is handed on or kept as
    a value, and the source calls unknown values), `unread` (one of the two is in a file that the index leaves
    out). No: `elsewhere` (calls by that name have another target),
    `outside` (a bare name is called that means nothing in the repository), `absent` (nothing of that name is called).
    """

    USES = "uses"
    WEAK = "weak"
    RECEIVER = "receiver"
    DISPATCH = "dispatch"
    UNCLEAR = "unclear"
    WRITTEN = "written"
    KEPT = "kept"
    UNREAD = "unread"
    ELSEWHERE = "elsewhere"
    OUTSIDE = "outside"
    ABSENT = "absent"


class RulePrecision(NamedTuple):
    """Measured precision of an edge's rule.

    `meaning` describes the rule; `right` and `wrong` count its edges that compilers and type checkers confirmed or
    refuted, in `repositories`. `language` is "" for all languages; the counts are 0 if the rule was not measured for
    such edges.
    """

    meaning: str
    right: int
    wrong: int
    repositories: int
    language: str


class CallSite(NamedTuple):
    """A call as written: `line` is 1-based, `callee` a chain of names with "?" for a part without name."""

    line: int
    callee: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """Answer to whether `source` or its members use `target` or its members.

    `edges` are the uses, most confident first, `bases` the precision of their rules, and `lines` their source lines (""
    if a file changed). Without a confident edge, `sites` are the calls by the target's name in the source, `gaps` those
    that may mean the target and make the answer "unknown", `others` the edges of calls by that name to other targets,
    and `calls` the known calls of the source.
    """

    source: str
    target: str
    known: Certainty
    reason: VerdictReason
    edges: tuple[Edge, ...] = ()
    lines: tuple[str, ...] = ()
    bases: tuple[RulePrecision, ...] = ()
    sites: tuple[CallSite, ...] = ()
    gaps: tuple[UnresolvedCall, ...] = ()
    others: tuple[Edge, ...] = ()
    calls: tuple[Edge, ...] = ()


class Finding(NamedTuple):
    """A defect of an index. `where` is a node, an edge or a position."""

    slug: str
    where: str
    detail: str


class ResolutionCounts(NamedTuple):
    """Call sites of one language by resolution.

    They are resolved by a rule, guessed by name alone, to external targets, or unresolved. Calls of builtin functions
    do not count. `examples` are a few unresolved ones, the most frequent names first.
    """

    language: str
    resolved: int
    guessed: int
    outside: int
    unresolved: int
    examples: tuple[UnresolvedCall, ...] = ()


class UnmeasuredRule(NamedTuple):
    """A rule without measured confidence, which has that of its `evidence`; `edges` counts its edges."""

    rule: str
    evidence: str
    confidence: float
    edges: int


@dataclass(frozen=True, slots=True)
class Health:
    """Result of `lint`.

    `cycles` are files that import one another, each as its sorted paths, the largest first. They are no findings: code
    may be designed that way.
    """

    findings: tuple[Finding, ...]
    calls: tuple[ResolutionCounts, ...]
    cycles: tuple[tuple[str, ...], ...]
    unmeasured: tuple[UnmeasuredRule, ...] = ()


class UsedDefinition(NamedTuple):
    """A definition and the number of other nodes that use it (with confidence of at least 0.5)."""

    hit: Hit
    fan_in: int


class LayerSize(NamedTuple):
    """A layer with its files and definitions (also those in files of another layer), and the most used."""

    layer: str
    n_files: int
    n_definitions: int
    hottest: tuple[UsedDefinition, ...]


class LayerUses(NamedTuple):
    """Uses of code of `target` by code of `source`: `n` edges between their files and definitions."""

    source: str
    target: str
    n: int


class BackEdge(NamedTuple):
    """A use of a higher layer by a lower one, `steps` layers up."""

    edge: Edge
    source_layer: str
    target_layer: str
    steps: int


class LayerFile(NamedTuple):
    """A file with definitions of a layer, and the uses of them from other layers and of other layers by them."""

    path: str
    n_definitions: int
    n_used: int
    n_uses: int


@dataclass(frozen=True, slots=True)
class Layering:
    """Layers of a repository.

    `sizes` hold the layers from the highest to the lowest, then those beside them; `uses` only pairs with an edge, in
    the order of `sizes`. `back_edges` are sorted by falling `steps`, falling confidence, then source, target and kind.
    """

    sizes: tuple[LayerSize, ...]
    uses: tuple[LayerUses, ...]
    back_edges: tuple[BackEdge, ...]


class LanguageSize(NamedTuple):
    """Files and lines of one language."""

    language: str
    n_files: int
    n_lines: int


class EntryPointKind(StrEnum):
    """Ways into a repository."""

    COMMAND = "command"  # an installed program
    IMPORT = "import"  # a module to import
    RUN = "run"  # a file to run


class EntryPoint(NamedTuple):
    """Entry point of a repository. `target` is the node or path, "" if it is outside of the repository."""

    kind: EntryPointKind
    name: str
    target: str


class FolderSummary(NamedTuple):
    """A folder with code: `path` ends with "/", the root is "./".

    `share` is its part of the importance of all code. `layer` is that of at least two thirds of its code files, "" if
    there is none such or it is logic.
    """

    path: str
    n_files: int
    share: float
    doc: str
    layer: str = ""


class KeyDefinition(NamedTuple):
    """An important definition and the names of its most important members. `share` includes them."""

    hit: Hit
    share: float
    members: tuple[str, ...]


class Dependency(NamedTuple):
    """Uses of code below `target` by code below `source`: `n` edges between their definitions."""

    source: str
    target: str
    n: int


class RoleFolder(NamedTuple):
    """Files outside of the product (tests, documentation, examples), and where most of them are."""

    role: str
    n_files: int
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """Summary of a repository.

    All parts are sorted best first, so that a prefix of each is the best that fits. `folders` hold a folder after its
    parent. `summary` is the package's own description in a line, `paragraph` that of its README.
    """

    name: str
    commit: str | None
    summary: str
    paragraph: str
    languages: tuple[LanguageSize, ...]
    entries: tuple[EntryPoint, ...]
    folders: tuple[FolderSummary, ...]
    definitions: tuple[KeyDefinition, ...]
    dependencies: tuple[Dependency, ...]
    asides: tuple[RoleFolder, ...]


@dataclass(frozen=True, slots=True)
class Map:
    """An overview cut to a budget.

    `overview` holds exactly what `text` shows; `tokens` is never above `max_tokens`.
    """

    text: str
    tokens: int
    max_tokens: int
    format: str
    overview: Overview


class OrderLevel(StrEnum):
    """Unit of a dependency order."""

    FILE = "file"
    DEFINITION = "definition"
    FOLDER = "folder"


class OrderedItem(NamedTuple):
    """One item of a dependency order: a file, definition or folder.

    `node` is its id, of a folder its path with "/" at the end; `line` is 1-based, None except definitions. `depth` is
    the length of the longest chain of uses below it, where a cycle counts as one; `cycle` is the position of its cycle
    among those of the order, None for none. `uses` are the items that it uses, `n_users` counts those that use it.
    """

    node: str
    kind: str
    path: str
    line: int | None
    depth: int
    cycle: int | None
    uses: tuple[str, ...]
    n_users: int


class CycleCut(NamedTuple):
    """A use to remove so that a cycle ends.

    `source` and `target` are items. `confidence` is the joint certainty of the `n` call sites and other uses between
    them, as if these were independent; `edge` is the most confident of them.
    """

    source: str
    target: str
    confidence: float
    n: int
    edge: Edge


class DependencyCycle(NamedTuple):
    """Items that use one another, in order, and the uses without which no cycle is left, the weakest first."""

    members: tuple[str, ...]
    cuts: tuple[CycleCut, ...]


@dataclass(frozen=True, slots=True)
class DependencyOrder:
    """Items of a repository, dependencies before dependents.

    Without the cuts of its cycles, every use leads to an earlier item. `left_out` counts the files of the set that were
    left out, by their role; `notes` are sentences on what was taken for granted; `deleted` are paths of the change that
    exist no more.
    """

    level: OrderLevel
    items: tuple[OrderedItem, ...]
    cycles: tuple[DependencyCycle, ...]
    left_out: tuple[tuple[str, int], ...] = ()
    notes: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()


class Likeness(StrEnum):
    """Form of a near-duplicate.

    `copy`: the same text except comments and space. `renamed`: the same except names and literals. `changed`: with
    edits.
    """

    COPY = "copy"
    RENAMED = "renamed"
    CHANGED = "changed"


class LikeDefinition(NamedTuple):
    """A definition that is like another; lines are 1-based, the last one is included."""

    node: str
    kind: str
    path: str
    start_line: int
    end_line: int


class SimilarPair(NamedTuple):
    """Two definitions that are alike.

    `similarity` is in [0, 1]. `callees` is the share of called names that both have, None if one calls nothing that is
    known. `differences` say in a few lines what differs. `probability` is that of a reader merging them, or having them
    share code.
    """

    one: LikeDefinition
    other: LikeDefinition
    similarity: float
    likeness: Likeness
    callees: float | None
    differences: tuple[str, ...]
    probability: float


class SimilarCluster(NamedTuple):
    """A definition and those that are like it, the most similar first; `n_lines` counts the lines of these."""

    first: LikeDefinition
    pairs: tuple[SimilarPair, ...]
    n_lines: int
