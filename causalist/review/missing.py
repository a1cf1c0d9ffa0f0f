"""Files that usually change together with those of a change, and did not.

In: the index after the change and the changed files. Out: `ChangesWith`, at most three and mostly none. A file is named
by what the history says of it and each changed file, how lately, and how much it uses them. With commits weighted by
age (`w`), `both` those that changed it and a changed file r:

    often   = max over r of  w(both) / (w(commits of r) + 1)
    any     = 1 - product over r of  1 - w(both) / (w(commits of r) + 2)
    shared  = log(1 + 5 * sum over commits of  w * changed files in it / (files in it - 1))
    recent  = max over r of the share of the last three commits of r that are in both
    churn   = log(1 + w(commits of the file))
    uses    = log(1 + edges from it into changed files)

and `folder`, 1 if a changed file is in the same folder, and `few`, 1 / (1 + changed files). The probability is logistic
in them. It is that of the file being the one that a commit leaves out, if it leaves out one.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist.index.history import compute_decay
from causalist.model.index import Index
from causalist.model.lookup import ChangesWith
from causalist.model.symbols import Role, file_id, split_id


class MissingWeights(NamedTuple):
    """Weights of the log odds that a file is the one that is missing."""

    bias: float
    often: float
    any: float
    shared: float
    recent: float
    churn: float
    uses: float
    folder: float
    few: float


# Fitted on 1,087 commits of five repositories, see docs/benchmarks.md.
MISSING_WEIGHTS = MissingWeights(
    bias=-8.07, often=3.12, any=0.98, shared=0.91, recent=0.66, churn=-0.36, uses=0.26, folder=0.63, few=7.37
)
LEAST_BEST = 0.2  # of the best file: below it nothing is said
LEAST_OTHER = 0.1  # of the files beside it
MAX_MISSING = 3
LEAST_COMMON = 2  # commits with one of the changed files
_RECENT = 3


def find_missing_files(index: Index, paths: Iterable[str], coded: Iterable[str]) -> tuple[ChangesWith, ...]:
    """Return the files that commits usually change together with those in `coded`, and that are none of `paths`.

    The likeliest first, then by path. The reason that is given is the changed file with which it changed most often.
    """
    history, nodes = index.history, index.graph.nodes
    read = read_signals(index, coded)
    if read is None:
        return ()
    counts, signals = read
    weights = MISSING_WEIGHTS
    chances = 1.0 / (1.0 + np.exp(-(weights.bias + signals @ np.array(weights[1:]))))
    own = {str(file_id(path)) for path in paths}
    found: list[ChangesWith] = []
    for place in np.flatnonzero((chances >= LEAST_OTHER) & (counts.n_both >= LEAST_COMMON)).tolist():
        node = int(history.nodes[place])
        role, file, reason = Role(int(nodes.roles[node])), nodes.ids[node], int(counts.reasons[place])
        if file in own or role not in (Role.CODE, Role.TEST):
            continue
        changed, n_commits = nodes.ids[int(history.nodes[reason])], int(np.count_nonzero(history.files == reason))
        n_both = int(counts.n_both[place])
        found.append(ChangesWith(file, changed, n_both, n_commits, float(chances[place]), role.label))
    found.sort(key=lambda each: (-each.probability, each.file))
    return tuple(found[:MAX_MISSING]) if found and found[0].probability >= LEAST_BEST else ()


def read_signals(index: Index, changed: Iterable[str]) -> tuple["Common", NDArray[np.float64]] | None:
    """Return what the files of the history have in common with changed ones, and the signals of each.

    The signals have shape (n_files, 8), in the order of `MissingWeights` behind the bias. None if the history knows
    none of the changed files.
    """
    history, nodes = index.history, index.graph.nodes
    given = np.array(
        sorted({n for n in (nodes.ids.position(file_id(path)) for path in changed) if n >= 0}), dtype=np.int64
    )
    places = np.searchsorted(history.nodes, given)
    is_known = places < len(history)
    is_known[is_known] = history.nodes[places[is_known]] == given[is_known]
    if not is_known.any():
        return None
    counts = _count_common(index, places[is_known])
    return counts, _signals(index, given, places[is_known], counts)


class Common(NamedTuple):
    """Counts and shares that each file of the history, shape (n_files,), has in common with the changed ones.

    `n_both` are the commits in common with `reasons`, the changed file with which it changed most often.
    """

    often: NDArray[np.float64]
    any: NDArray[np.float64]
    shared: NDArray[np.float64]
    recent: NDArray[np.float64]
    n_both: NDArray[np.int64]
    reasons: NDArray[np.int64]


def _count_common(index: Index, places: NDArray[np.int64]) -> Common:
    history = index.history
    n_files, n_commits, files = len(history), len(history.indptr) - 1, history.files
    owners = np.repeat(np.arange(n_commits), np.diff(history.indptr))
    decay = compute_decay(history.commits)
    is_given = np.zeros(n_files, dtype=np.bool_)
    is_given[places] = True
    hits = np.bincount(owners[is_given[files]], minlength=n_commits)
    weight = decay * hits / np.maximum(history.commits.n_files - 1, 1)
    often, none = np.zeros(n_files), np.ones(n_files)
    recent = np.zeros(n_files)
    n_both, reasons = np.zeros(n_files, dtype=np.int64), np.full(n_files, -1, dtype=np.int64)
    for place in places.tolist():
        own = owners[files == place]  # newest first
        of_own = np.zeros(n_commits)
        of_own[own] = decay[own]
        together = np.bincount(files, weights=of_own[owners], minlength=n_files)
        total = float(decay[own].sum())
        share = together / (total + 1.0)
        none *= 1.0 - together / (total + 2.0)
        is_better = share > often
        both = np.bincount(files[np.isin(owners, own)], minlength=n_files)
        often[is_better], reasons[is_better], n_both[is_better] = share[is_better], place, both[is_better]
        last = np.bincount(files[np.isin(owners, own[:_RECENT])], minlength=n_files)
        recent = np.maximum(recent, last / _RECENT)
    shared = np.log1p(5.0 * np.bincount(files, weights=weight[owners], minlength=n_files))
    return Common(often, 1.0 - none, shared, recent, n_both, reasons)


def _signals(index: Index, given: NDArray[np.int64], places: NDArray[np.int64], common: Common) -> NDArray[np.float64]:
    history, graph = index.history, index.graph
    nodes, edges = graph.nodes, graph.edges
    is_given = np.zeros(len(nodes) + 1, dtype=np.bool_)  # the last one stands for nodes without a file
    is_given[given] = True
    sources, targets = nodes.files[edges.sources], nodes.files[edges.targets]
    uses = is_given[targets] & (sources >= 0) & (sources != targets)
    n_uses = np.bincount(sources[uses], minlength=len(nodes))[history.nodes]
    folders = [split_id(node)[0].rpartition("/")[0] for node in nodes.ids.some(history.nodes.astype(np.int64))]
    changed = {folders[place] for place in places.tolist()}
    in_folder = np.fromiter((folder in changed for folder in folders), np.float64, len(folders))
    few = np.full(len(history), 1.0 / (1.0 + len(given)))
    churn = np.log1p(history.churn)
    return np.column_stack(
        [common.often, common.any, common.shared, common.recent, churn, np.log1p(n_uses), in_folder, few]
    )
