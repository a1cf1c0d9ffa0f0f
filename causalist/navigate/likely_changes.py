"""Files that a change of a node probably changes as well, with the reasons, and those that a whole change forgot.

In: an `Index`, changed nodes and their users, or changed files. Out: `ChangesWith`, likeliest first.

One logistic model joins the evidence. With `x` as `ChangeEvidence` names it:

    log odds = bias + together * ln(1 + x / COMMON_UNIT) + words * sqrt(x) + name * x + use * x + idle * ln(1 + x)
               + size * ln(1 + x)

The weights are between `WITH_HISTORY` and `WITHOUT_HISTORY`, which has no use for commits: with n commits in the
repository they are (n * WITH_HISTORY + EQUAL_COMMITS * WITHOUT_HISTORY) / (n + EQUAL_COMMITS), so that the history of a
shallow clone counts for little. Nothing is learned from the repository that is asked about.

That a file is the one that a change forgot, if it forgot one, follows from the same probabilities p of all n files that
it has, by `WITH_HISTORY`, because only files with common commits are named:

    log odds = bias + any * ln(sum of -ln(1 - p)) + few / (1 + n) + idle * ln(1 + commits since the file changed)
               + together * ln(1 + x / COMMON_UNIT), of the changed file with the largest x
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.dataclass_arrays import unique_sorted, unique_with_first
from causalist.model.graph import EdgeKind, rows_of
from causalist.model.index import History, Index, Postings
from causalist.model.lookup import Affected, ChangesWith
from causalist.model.node_ids import NodeKind, Role, file_id, split_id
from causalist.navigate.impact import RUN_SHARES
from causalist.parse import dialect_of

MIN_PROBABILITY = 0.1  # of a file that is listed
_CERTAIN = 0.95  # confidence of a use that is called certain
_MIN_PART = 0.25  # log odds, of a reason that is told
_MIN_WORDS = 0.1  # likewise, the cosine: most files of a language share that many
_RANK_OFFSET = 4  # the newest commits of a file weigh 1/4, 1/5, 1/6, ...
_COMMON_PRIOR = 0.25  # keeps a file with one commit from certainty: a commit more that had no other file
_COMMON_UNIT = 0.01
# What names of tests have beside the name of what they test.
_TEST_WORDS = frozenset(
    ("test", "tests", "spec", "specs", "it", "testing", "e2e", "fixtures", "benchmark", "bench", "unit")
)
_WORD_OR_END = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|\n")
_USES = {"calls": "calls", "references": "refers to", "reads": "reads", "writes": "writes", "imports": "imports",
         "extends": "extends", "implements": "implements", "overrides": "overrides", "tests": "tests",
         "routes": "requests", "emits": "emits"}  # fmt: skip


class ChangeWeights(NamedTuple):
    """Weights of the log odds that a change of one file changes another; see this module."""

    bias: float
    together: float
    words: float
    name: float
    use: float
    idle: float
    size: float


# Fitted on commits of 12 repositories, see "Files that change together" in docs/benchmarks.md. What did not win is 0.
WITH_HISTORY = ChangeWeights(bias=-4.565, together=0.815, words=4.153, name=0.83, use=0.395, idle=-0.347, size=0.0)
WITHOUT_HISTORY = ChangeWeights(bias=-8.63, together=0.0, words=8.262, name=1.249, use=0.531, idle=0.0, size=0.438)


class MissingWeights(NamedTuple):
    """Weights of the log odds that a file is the one that a change forgot; see this module."""

    bias: float
    any: float
    few: float
    idle: float
    together: float


# Fitted on commits of five repositories, see "Review of a change" in docs/benchmarks.md.
MISSING_WEIGHTS = MissingWeights(bias=-6.228, any=1.546, few=9.524, idle=0.396, together=0.543)
MIN_BEST = 0.2  # of the best missing file: below it nothing is said
MIN_OTHER = 0.1  # of the files beside it
MAX_MISSING = 3
MIN_COMMON = 2  # commits with one of the changed files
EQUAL_COMMITS = 30  # of 10, 30 and 100 the best on histories of six of them that were cut after 1 to 300 commits


class ChangeEvidence(NamedTuple):
    """Evidence for each of n files, each of shape (n,).

    `together` is the share of the changed file's commits that changed the other one too. Newer ones count more, the
    r-th 1 / (r + 4), and a commit of m other files 1 / sqrt(m). `words` is the cosine of the words of both files, by
    rarity, `name` that of the words of their names. `use` is the probability that the other one runs what changed,
    `idle` the number of commits of the repository since the other one changed, and `size` that of its lines.
    """

    together: NDArray[np.float64]
    words: NDArray[np.float64]
    name: NDArray[np.float64]
    use: NDArray[np.float64]
    idle: NDArray[np.float64]
    size: NDArray[np.float64]


def find_files_changing_with(
    index: Index,
    changed: Sequence[int],
    affected: Sequence[Affected],
    least_commits: int = 0,
    least_probability: float | None = None,
) -> tuple[ChangesWith, ...]:
    """Return the files of code and tests that change together with the files of `changed`, likeliest first.

    They have `least_commits` commits in common with one of them and at least `least_probability` (None:
    `MIN_PROBABILITY`). `affected` are the
    users of `changed`. Ties: by path. A file that changes with several of the changed ones is given once, with the
    likeliest.
    """
    nodes = index.graph.nodes
    owners = sorted({int(owner) for owner in nodes.files[list(changed)].tolist() if owner >= 0})
    if not owners:
        return ()
    least = MIN_PROBABILITY if least_probability is None else least_probability
    weights = weigh_history(len(index.history.commits))
    files = _Files(index, owners)
    users = _find_users(affected)
    commits = _CommonCommits(index.history, files.nodes)
    best: dict[str, ChangesWith] = {}
    for owner in owners:
        common = commits.of(owner)
        evidence = files.collect(owner, files.uses_of(users), common)
        parts = scale_evidence(evidence) * np.array(weights[1:])
        chances = 1.0 / (1.0 + np.exp(-(parts.sum(axis=1) + weights.bias)))
        for row in np.flatnonzero((chances >= least) & (common.counts >= least_commits)).tolist():
            node, chance = int(files.nodes[row]), float(chances[row])
            file = nodes.ids[node]
            if node in owners or (file in best and chance <= best[file].probability):
                continue
            n_both = int(common.counts[row])
            reasons = _tell_reasons(parts[row], evidence, row, common, users.get(files.paths[row]))
            role = Role(int(nodes.roles[node])).label
            best[file] = ChangesWith(file, nodes.ids[owner], n_both, common.n_commits, chance, role, reasons)
    return tuple(sorted(best.values(), key=lambda each: (-each.probability, each.file)))


def find_missing_files(index: Index, paths: Iterable[str], coded: Iterable[str]) -> tuple[ChangesWith, ...]:
    """Return the files that probably change together with those in `coded`, and that are none of `paths`.

    At most `MAX_MISSING`, the likeliest first, then by path, and mostly none: they have `MIN_COMMON` commits in
    common with one of the changed files, which is given as the reason. The probability is that of being the file that
    the change forgot, if it forgot one.
    """
    nodes = index.graph.nodes
    own = {str(file_id(path)) for path in paths}
    evidence = gather_missing(index, coded)
    if evidence is None:
        return ()
    chances = 1.0 / (1.0 + np.exp(-(MISSING_WEIGHTS.bias + evidence.scaled @ np.array(MISSING_WEIGHTS[1:]))))
    missing: list[ChangesWith] = []
    for row in np.flatnonzero(chances >= MIN_OTHER).tolist():
        node, reason = int(evidence.nodes[row]), int(evidence.reasons[row])
        if nodes.ids[node] not in own:
            n_both, n_commits, chance = int(evidence.n_both[row]), evidence.n_commits[reason], float(chances[row])
            role = Role(int(nodes.roles[node])).label
            missing.append(ChangesWith(nodes.ids[node], nodes.ids[reason], n_both, n_commits, chance, role))
    missing.sort(key=lambda each: (-each.probability, each.file))
    return tuple(missing[:MAX_MISSING]) if missing and missing[0].probability >= MIN_BEST else ()


class MissingEvidence(NamedTuple):
    """Evidence that a change forgot each of n files, which have commits in common with what it changed.

    `scaled`, of shape (n, 4), is what the weights behind the bias multiply. `n_both` are the commits in common with
    the changed file `reasons`, with which it changes most probably. `n_commits` are those of each changed file.
    """

    nodes: NDArray[np.int64]
    scaled: NDArray[np.float64]
    n_both: NDArray[np.int64]
    reasons: NDArray[np.int64]
    n_commits: dict[int, int]


def gather_missing(index: Index, changed: Iterable[str]) -> MissingEvidence | None:
    """Return what speaks for files of code and tests that a change of the files `changed` forgot; None for nothing."""
    nodes, history = index.graph.nodes, index.history
    places = (nodes.ids.position(file_id(path)) for path in changed)
    owners = sorted({place for place in places if place >= 0})
    if not owners:
        return None
    among = _find_partners(history, owners)
    among = among[np.isin(nodes.roles[among], (Role.CODE, Role.TEST))]
    if not len(among):
        return None
    files = _Files(index, owners, among)
    if not len(files.nodes):  # what changes together has no language
        return None
    nothing, best = np.zeros(len(files.nodes)), np.full(len(files.nodes), -np.inf)
    n_both, reasons = np.zeros(len(files.nodes), dtype=np.int64), np.zeros(len(files.nodes), dtype=np.int64)
    idle, together, n_commits = np.zeros(len(files.nodes)), np.zeros(len(files.nodes)), dict[int, int]()
    most = np.zeros(len(files.nodes), dtype=np.int64)
    commits = _CommonCommits(history, files.nodes)
    for owner, uses in zip(owners, _find_direct_uses(index, owners, files.nodes), strict=True):
        common = commits.of(owner)
        evidence = files.collect(owner, uses, common)
        odds = scale_evidence(evidence) @ np.array(WITH_HISTORY[1:]) + WITH_HISTORY.bias
        nothing += np.logaddexp(0.0, odds)  # -ln(1 - p)
        is_better = (odds > best) & (common.counts > 0)
        best[is_better], reasons[is_better], n_both[is_better] = odds[is_better], owner, common.counts[is_better]
        idle, together = evidence.idle, np.maximum(together, evidence.together)
        n_commits[owner], most = common.n_commits, np.maximum(most, common.counts)
    few = np.full(len(nothing), 1.0 / (1.0 + len(owners)))
    scaled = np.column_stack([np.log(nothing), few, np.log1p(idle), np.log1p(together / _COMMON_UNIT)])
    kept = (most >= MIN_COMMON) & ~np.isin(files.nodes, owners, kind="table")
    return MissingEvidence(files.nodes[kept], scaled[kept], n_both[kept], reasons[kept], n_commits)


def _find_partners(history: History, owners: Sequence[int]) -> NDArray[np.int64]:
    """Return the files with at least `MIN_COMMON` commits of one of `owners`, ascending."""
    commits = np.repeat(np.arange(len(history.indptr) - 1), np.diff(history.indptr))
    is_partner = np.zeros(len(history), dtype=np.bool_)
    is_own = np.zeros(len(history.indptr) - 1, dtype=np.bool_)
    for row in np.flatnonzero(np.isin(history.nodes, owners, kind="table")).tolist():
        own = commits[history.files == row]
        is_own[own] = True
        is_partner |= np.bincount(history.files[is_own[commits]], minlength=len(history)) >= MIN_COMMON
        is_own[own] = False
    return history.nodes[is_partner].astype(np.int64)


def _find_direct_uses(index: Index, owners: Sequence[int], files: NDArray[np.int64]) -> Iterator[NDArray[np.float64]]:
    """Yield, for each of `owners`, the probability that a use of it by each of `files` runs."""
    nodes, edges = index.graph.nodes, index.graph.edges
    shares = np.zeros(max(EdgeKind) + 1)
    for kind, share in RUN_SHARES.items():
        shares[kind] = share
    targets = nodes.files[edges.targets]
    between = np.flatnonzero(np.isin(targets, owners, kind="table") & (nodes.files[edges.sources] >= 0))
    sources, targets = nodes.files[edges.sources[between]], targets[between]
    chances = shares[edges.kinds[between]] * edges.confidences[between]
    for owner in owners:
        best = np.zeros(len(nodes))
        is_use = targets == owner
        np.maximum.at(best, sources[is_use], chances[is_use])
        yield best[files]


def weigh_history(n_commits: int) -> ChangeWeights:
    """Return the weights for a repository with so many commits.

    >>> weigh_history(0) == WITHOUT_HISTORY, round(weigh_history(30).use, 3)
    (True, 0.463)
    """
    share = n_commits / (n_commits + EQUAL_COMMITS)
    pairs = zip(WITH_HISTORY, WITHOUT_HISTORY, strict=True)
    return ChangeWeights(*(share * full + (1.0 - share) * plain for full, plain in pairs))


def gather_evidence(index: Index, owner: int, affected: Iterable[Affected]) -> tuple[list[str], ChangeEvidence]:
    """Return the paths of all files of code, and what speaks for each when the file `owner` changes."""
    files = _Files(index, [owner])
    uses = files.uses_of(_find_users(affected))
    return files.paths, files.collect(owner, uses, _CommonCommits(index.history, files.nodes).of(owner))


def scale_evidence(evidence: ChangeEvidence) -> NDArray[np.float64]:
    """Return what the weights of a model multiply, of shape (n, 6), in the order of `ChangeEvidence`."""
    return np.column_stack(
        [
            np.log1p(evidence.together / _COMMON_UNIT),
            np.sqrt(evidence.words),
            evidence.name,
            evidence.use,
            np.log1p(evidence.idle),
            np.log1p(evidence.size),
        ]
    )


class _Common(NamedTuple):
    """Commits of the changed file that changed each of n others too, and the commits since each changed at all."""

    together: NDArray[np.float64]  # (n,), see `ChangeEvidence`
    counts: NDArray[np.int64]  # (n,)
    idle: NDArray[np.int64]  # (n,)
    n_commits: int


class _CommonCommits:
    """Commits in common of files with nodes `files`, which ascend; what one changed file does not decide is kept."""

    def __init__(self, history: History, files: NDArray[np.int64]) -> None:
        n, n_all = len(files), len(history.indptr) - 1
        self._history, self._n = history, n
        self._is_empty = not len(history) or not n_all or not n
        self._idle = np.full(n, n_all, dtype=np.int64)
        if self._is_empty:
            return
        row_of_file = np.searchsorted(files, history.nodes)
        row_of_file = np.where(
            (row_of_file < n) & (files[np.minimum(row_of_file, n - 1)] == history.nodes), row_of_file, -1
        )
        self._touched = row_of_file[history.files]
        self._commits = np.repeat(np.arange(n_all), np.diff(history.indptr))
        is_indexed = self._touched >= 0
        touched_files, first = unique_with_first(self._touched[is_indexed])  # the newest commit comes first
        self._idle[touched_files] = self._commits[is_indexed][first]

    def of(self, owner: int) -> _Common:
        """Return what the commits of the file `owner` say of the files."""
        history, n = self._history, self._n
        together, counts = np.zeros(n), np.zeros(n, dtype=np.int64)
        if self._is_empty:
            return _Common(together, counts, self._idle, 0)
        row = int(np.searchsorted(history.nodes, owner))
        is_known = row < len(history) and history.nodes[row] == owner
        own = self._commits[history.files == (row if is_known else -1)]  # newest first
        rows, ranks = rows_of(history.indptr, own)
        weights = 1.0 / (np.arange(len(own)) + _RANK_OFFSET)
        n_others = np.maximum(history.commits.n_files[own] - 1, 1)
        shares = weights / np.sqrt(n_others)
        touched = self._touched[rows]
        kept = touched >= 0
        others = touched[kept]
        counts += np.bincount(others, minlength=n)
        together += np.bincount(others, weights=shares[ranks[kept]], minlength=n) / (weights.sum() + _COMMON_PRIOR)
        return _Common(together, counts, self._idle, len(own))


class _Files:
    """The files of code of an index, or those of `among`, with what does not depend on the changed ones (`owners`)."""

    def __init__(self, index: Index, owners: Sequence[int], among: NDArray[np.int64] | None = None) -> None:
        nodes = index.graph.nodes
        every = np.flatnonzero(nodes.kinds == NodeKind.FILE).astype(np.int64)
        paths = [split_id(node)[0] for node in nodes.ids.some(every)]
        is_asked = np.full(len(nodes), among is None, dtype=np.bool_)
        is_asked[owners if among is None else among] = True
        asked = is_asked[every].tolist()
        is_kept = [each and bool(dialect_of(path)) for path, each in zip(paths, asked, strict=True)]
        self.nodes = every[np.array(is_kept, dtype=np.bool_)]
        self.paths = [path for path, keeps in zip(paths, is_kept, strict=True) if keeps]
        self._ids = nodes.ids
        self._sizes = nodes.end_rows[self.nodes].astype(np.float64)
        compared = unique_sorted(np.concatenate([self.nodes, np.array(owners, dtype=np.int64)]))
        self._words = _WordVectors(index.lexical.files, len(every), compared, len(nodes))
        names = [frozenset(words) for words in split_stems(paths)]
        counts = Counter(chain.from_iterable(names))
        self._rarity = {word: float(np.log(len(paths) / n)) + 0.1 for word, n in counts.items()}
        self._names = [name for name, keeps in zip(names, is_kept, strict=True) if keeps]

    def uses_of(self, users: Mapping[str, Affected]) -> NDArray[np.float64]:
        """Return the probability that each file runs what changed, which its user in `users` has."""
        return np.array([users[path].probability if path in users else 0.0 for path in self.paths])

    def collect(self, owner: int, uses: NDArray[np.float64], common: _Common) -> ChangeEvidence:
        """Return what speaks for each file when the file `owner` changes; `uses` has shape (n,)."""
        path = split_id(self._ids[owner])[0]
        return ChangeEvidence(
            together=common.together,
            words=self._words.compare(owner)[self.nodes],
            name=self._compare_names(frozenset(split_stem(path))),
            use=uses,
            idle=common.idle.astype(np.float64),
            size=self._sizes,
        )

    def _compare_names(self, own: frozenset[str]) -> NDArray[np.float64]:
        weight = sum(self._rarity.get(word, 0.0) for word in sorted(own))
        similarities = np.zeros(len(self._names))
        for row, name in enumerate(self._names):
            shared = own & name
            if shared:
                both = sum(self._rarity[word] for word in sorted(shared))
                similarities[row] = both / np.sqrt(weight * sum(self._rarity[word] for word in sorted(name)))
        return similarities


class _WordVectors:
    """Vectors of the words of files: (1 + ln count) * ln((n + 1) / (files with the word + 0.5)), at least 0.

    Only those of the nodes `compared` are held, of `n_files` files and `n_nodes` nodes.
    """

    def __init__(self, postings: Postings, n_files: int, compared: NDArray[np.int64], n_nodes: int) -> None:
        is_compared = np.zeros(n_nodes, dtype=np.bool_)
        is_compared[compared] = True
        kept = np.flatnonzero(is_compared[postings.documents])
        frequency = np.diff(postings.indptr)
        rarity = np.maximum(np.log((n_files + 1) / (frequency + 0.5)), 0.0)
        self._documents = postings.documents[kept]
        self._terms = np.searchsorted(postings.indptr, kept, side="right") - 1
        counts = np.maximum(postings.counts[kept], 1) if len(postings.counts) else np.ones(len(kept))
        self._weights = (1.0 + np.log(counts)) * rarity[self._terms]
        self._n_terms, self._n_nodes = len(frequency), n_nodes
        self._norms = np.sqrt(np.bincount(self._documents, weights=self._weights**2, minlength=n_nodes))

    def compare(self, node: int) -> NDArray[np.float64]:
        """Return the cosine of each compared node with one of them, of shape (n_nodes,); 0 for other nodes."""
        own = self._documents == node
        vector = np.zeros(self._n_terms)
        vector[self._terms[own]] = self._weights[own]
        dots = np.bincount(self._documents, weights=self._weights * vector[self._terms], minlength=self._n_nodes)
        scale = self._norms * self._norms[node]
        cosines: NDArray[np.float64] = np.divide(dots, scale, out=np.zeros(self._n_nodes), where=scale > 0)
        return cosines


def split_stem(path: str) -> tuple[str, ...]:
    """Return the words of the name of a file, without those that only say that it is a test.

    >>> split_stem("src/HTTPServer_test.go"), split_stem("a/test.py")
    (('http', 'server'), ('test',))
    """
    return split_stems([path])[0]


def split_stems(paths: Sequence[str]) -> list[tuple[str, ...]]:
    """Return `split_stem` of each path, in less time than one by one."""
    names = [path.rpartition("/")[2] for path in paths]
    stems = [name if name.startswith(".") else name.partition(".")[0] for name in names]
    parts = _WORD_OR_END.findall("\n".join(stem.replace("\n", " ") for stem in stems) + "\n")
    word_lists: list[tuple[str, ...]] = []
    for line in " ".join(parts).lower().split("\n")[:-1]:
        words = line.split()
        if not _TEST_WORDS.isdisjoint(words):
            words = [each for each in words if each not in _TEST_WORDS] or words
        word_lists.append(tuple(words))
    return word_lists


def _find_users(affected: Iterable[Affected]) -> dict[str, Affected]:
    """Return the node of each file that most probably runs what changed, by path."""
    best: dict[str, Affected] = {}
    for each in sorted(affected, key=lambda each: (-each.probability, each.depth, each.node)):
        best.setdefault(split_id(each.node)[0], each)
    return best


def _tell_reasons(
    parts: NDArray[np.float64], evidence: ChangeEvidence, place: int, common: _Common, user: Affected | None
) -> tuple[str, ...]:
    """Return the reasons for a file, the strongest first."""
    part_by_name = dict(zip(ChangeEvidence._fields, parts.tolist(), strict=False))
    reasons: list[tuple[float, str]] = []
    if common.counts[place]:
        n_both = int(common.counts[place])
        reasons.append((part_by_name["together"], f"changed together in {n_both} of {common.n_commits} commits"))
    if user is not None:
        reasons.append((max(part_by_name["use"], _MIN_PART if user.depth == 1 else 0.0), describe_use(user)))
    if evidence.name[place] >= 0.5:
        reasons.append((part_by_name["name"], "same name" if evidence.name[place] > 0.999 else "like name"))
    if evidence.words[place] > 0:
        is_told = evidence.words[place] >= _MIN_WORDS
        reasons.append((part_by_name["words"] if is_told else 0.0, f"words in common: {evidence.words[place]:.0%}"))
    reasons.sort(key=lambda each: -each[0])
    return tuple(text for part, text in reasons if part >= _MIN_PART) or tuple(text for _, text in reasons[:1])


def describe_use(user: Affected) -> str:
    """Return how a node uses what changed, in a few words.

    >>> from causalist.model.graph import Edge
    >>> edge = Edge("a.py::f", "b.py::C.g", "calls", "import", 0.97, 3, 1)
    >>> describe_use(Affected("a.py::f", 1, edge)), describe_use(Affected("a.py::f", 2, edge, probability=0.4))
    ('f calls C.g, certain', 'f uses it in 2 steps, 0.40')
    """
    path, symbol = split_id(user.node)
    name = symbol or path.rpartition("/")[2]
    if user.depth > 1:
        return f"{name} uses it in {user.depth} steps, {user.probability:.2f}"
    edge = user.edge
    target_path, target = split_id(edge.target)
    sure = "certain" if edge.confidence >= _CERTAIN else f"{edge.confidence:.2f}"
    return f"{name} {_USES.get(edge.kind, 'uses')} {target or target_path.rpartition('/')[2]}, {sure}"
