"""Questions read against their repositories -> arrays from which any part of the signals ranks all of them at once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from causalist.evaluate.fit import MAX_RANKED_DEFINITIONS, MAX_RANKED_FILES, Example
from causalist.evaluate.mining import DEFINITION_KINDS
from causalist.evaluate.results import Ranks
from causalist.model.node_ids import NodeId, NodeKind, Role, file_id
from causalist.model.scores import Signal
from causalist.rank import LinearModel, Weights
from causalist.rank.scoring.signals import LEADING, effective_kinds, max_and_sum

Scores = NDArray[np.float64]
Numbers = NDArray[np.int64]

AGAIN = ("found file", "identifiers")  # what definitions have in the last pass alone, without the graph
LEADS = tuple(sorted(LEADING))
_SCORE_DECIMALS = 12
_BY_SCORE = 40  # candidates of a fit by the score
_BY_SIGNAL = 6  # and by each signal
_NOT_FITTED = (NodeKind.FILE, NodeKind.PASSAGE, NodeKind.FIELD)


@dataclass(frozen=True)
class Asked:
    """One question. n nodes are kept, m of them files.

    `definitions`: (n, signals of definitions), `files`: (m, signals of files but LEADS); `nodes`: (m,), the numbers of
    the files; `roles`: (n,), -1 where the question asks for the role; `kinds`: (n,); `owners`: (n,), the number of the
    file, -1 for none; `identifiers`: (n,), a signal of the last pass. `gold_*`: numbers of
    nodes, -1 for what is in no index."""

    data: str
    repo: str
    id: str
    definition_names: tuple[str, ...]
    file_names: tuple[str, ...]
    definitions: Scores
    files: Scores
    nodes: Numbers
    roles: Numbers
    kinds: Numbers
    owners: Numbers
    identifiers: Scores
    gold_files: tuple[int, ...]
    gold_definitions: tuple[int, ...]


def asked_of(data: str, repo: str, name: str, example: Example) -> Asked:
    """Return the arrays of one question."""
    kept = example.reading
    nodes, ids = kept.graph.nodes, kept.graph.nodes.ids
    files = np.flatnonzero(kept.is_file)
    return Asked(
        data,
        repo,
        name,
        tuple(kept.of_definitions),
        tuple(kept.of_files),
        np.stack([np.asarray(values) for values in kept.of_definitions.values()], axis=1),
        np.stack([np.asarray(values)[files] for values in kept.of_files.values()], axis=1),
        files.astype(np.int64),
        np.where(kept.asked, -1, nodes.roles.astype(np.int64)),
        effective_kinds(kept.graph).astype(np.int64),
        nodes.files.astype(np.int64),
        np.asarray(kept.identifiers),
        tuple(ids.position(NodeId(file_id(path))) for path in example.gold_files),
        tuple(ids.position(NodeId(each)) for each in example.gold_definitions),
    )


def fires(asked: Asked) -> frozenset[str]:
    """Return the signals that say something of any node."""
    found = {name for i, name in enumerate(asked.definition_names) if asked.definitions[:, i].any()}
    found |= {name for i, name in enumerate(asked.file_names) if asked.files[:, i].any()}
    found |= {"identifiers"} if asked.identifiers.any() else set()
    return frozenset(found | {Signal.KIND, "found file", *LEADS})


@dataclass(frozen=True)
class Model:
    """`names`: the signals that count; what else the weights name does not. `KIND` is one of them."""

    names: frozenset[str]
    weights: Weights


class Batch:
    """All questions below one another: N nodes, M files, each question's together and in its own order."""

    def __init__(self, asked: Sequence[Asked]) -> None:
        self.definition_names, self.file_names = asked[0].definition_names, asked[0].file_names
        if any((each.definition_names, each.file_names) != (self.definition_names, self.file_names) for each in asked):
            raise ValueError("the questions were read with different signals; read them all again")
        self.n = len(asked)
        n_nodes, n_files = [len(each.roles) for each in asked], [len(each.nodes) for each in asked]
        self.starts = np.cumsum([0, *n_nodes])  # of the nodes of each question, and the end
        self.file_starts = np.cumsum([0, *n_files])
        self.question = np.repeat(np.arange(self.n), n_nodes)
        self.file_question = np.repeat(np.arange(self.n), n_files)
        self.definitions = np.concatenate([each.definitions for each in asked])
        self.files = np.concatenate([each.files for each in asked])
        self.nodes = np.concatenate([each.nodes + start for each, start in zip(asked, self.starts, strict=False)])
        self.roles = np.concatenate([each.roles for each in asked])
        self.kinds = np.concatenate([each.kinds for each in asked])
        moved = zip(asked, self.starts, strict=False)
        self.owners = np.concatenate([np.where(each.owners < 0, -1, each.owners + start) for each, start in moved])
        self.identifiers = np.concatenate([each.identifiers for each in asked])
        self.gold_files = [each.gold_files for each in asked]
        self.gold_definitions = [each.gold_definitions for each in asked]
        self.is_file = np.zeros(len(self.roles), dtype=np.bool_)
        self.is_file[self.nodes] = True
        self.is_gold = np.zeros(len(self.roles), dtype=np.bool_)
        for start, each in zip(self.starts, asked, strict=False):
            self.is_gold[[start + node for node in (*each.gold_files, *each.gold_definitions) if node >= 0]] = True

    # -- passes

    def before(self, model: Model) -> tuple[Scores, Scores]:
        """(scores of definitions in the first pass, the same without the factors of roles)."""
        linear = self.definitions @ _vector(self.definition_names, model.weights.definition, model.names)
        if Signal.KIND in model.names:
            given = np.array([model.weights.definition.kind.get(kind.label, 0.0) for kind in NodeKind])
            linear = linear + given[self.kinds] * self.is_sized
        return linear * self._factors(model.weights.definition), linear

    def leading(self, before: Scores) -> Scores:
        """LEADS of each file by the scores of definitions; shape (M, 2)."""
        top = np.maximum.reduceat(before, self.starts[:-1])
        scaled = before / np.where(top > 0, top, 1.0)[self.question]
        best, total = max_and_sum(scaled**2, self.owners.astype(np.int32), len(before))
        best = np.sqrt(best)[self.nodes]
        values = {
            "leading definition": best,
            "leading definitions": np.minimum(total[self.nodes] / 3, 1.0),
        }
        return np.stack([values[name] for name in LEADS], axis=1)

    def of_files(self, model: Model, leading: Scores) -> Scores:
        """Scores of files."""
        linear = self.files @ _vector(self.file_names, model.weights.file, model.names)
        linear += leading @ _vector(LEADS, model.weights.file, model.names)
        found: Scores = linear * self._factors(model.weights.file)[self.nodes]
        return found

    def after(self, model: Model, before: Scores, linear: Scores, files: Scores) -> Scores:
        """Scores of definitions in the last pass, without the graph."""
        names, weights = model.names, model.weights.definition
        wanted = (self.owners >= 0) & (self.kinds != NodeKind.FIELD) & (before > 0)
        again = (self._of_file(self._scaled_files(files)), self.identifiers)
        for name, values in zip(AGAIN, again, strict=True):
            if name in names:
                linear = linear + values * wanted * weights.signals.get(name, 0.0)
        return linear * self._factors(weights)

    def ranks(self, files: Scores, after: Scores, chosen: Iterable[int]) -> list[tuple[Ranks, Ranks]]:
        """Places of the right files, and of the right definitions, of each question in `chosen`."""
        of_files: Scores = np.round(_spread(files, self.nodes, len(self.roles)), _SCORE_DECIMALS)
        of_definitions: Scores = np.round(after * ~self.is_file, _SCORE_DECIMALS)
        parts = {i: slice(self.starts[i], self.starts[i + 1]) for i in chosen}
        return [
            (
                _ranks(of_files[part], self.gold_files[i], MAX_RANKED_FILES),
                _ranks(of_definitions[part], self.gold_definitions[i], MAX_RANKED_DEFINITIONS),
            )
            for i, part in parts.items()
        ]

    # -- candidates of fits

    def definition_candidates(self, before: Scores) -> Numbers:
        """The definitions that lead by the score or by any signal of their question, ascending."""
        fits = np.flatnonzero(~np.isin(self.kinds, [int(kind) for kind in _NOT_FITTED]))
        return _leading(self.definitions, before, fits, self.question)

    def file_candidates(self, leading: Scores, files: Scores) -> Numbers:
        """Rows of the files that lead by the score or by any signal of their question, ascending."""
        return _leading(np.hstack([self.files, leading]), files, np.arange(len(files)), self.file_question)

    def kinds_table(self, nodes: Numbers) -> Scores:
        """One column for each kind that a weight is fitted to."""
        some = self.kinds[nodes][:, None] == np.array([int(kind) for kind in DEFINITION_KINDS])[None, :]
        sized: Scores = (some & self.is_sized[nodes][:, None]).astype(np.float64)
        return sized

    @cached_property
    def is_sized(self) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self.definitions[:, self.definition_names.index("size")] > 0
        return found

    # -- parts

    def _factors(self, linear: LinearModel) -> Scores:
        factors = np.array([*(linear.role.get(role.label, 1.0) for role in Role), 1.0])  # the last: asked for
        found: Scores = factors[self.roles]
        return found

    def _of_file(self, of_files: Scores) -> Scores:
        values: Scores = _spread(of_files, self.nodes, len(self.roles)).take(np.maximum(self.owners, 0))
        return values

    def _scaled_files(self, scores: Scores) -> Scores:
        top = np.maximum.reduceat(scores, self.file_starts[:-1])
        scaled: Scores = scores / np.where(top > 0, top, 1.0)[self.file_question]
        return scaled


def roles_table(roles: Numbers) -> Scores:
    """One column for each role; none of what the question asks for."""
    table: Scores = (roles[:, None] == np.arange(len(Role))[None, :]).astype(np.float64)
    return table


def _leading(table: Scores, score: Scores, among: Numbers, question: Numbers) -> Numbers:
    chosen = []
    for values, most in [(score, _BY_SCORE), *((column, _BY_SIGNAL) for column in table.T)]:
        some = among[values[among] > 0]
        some = some[np.lexsort((-values[some], question[some]))]
        place = np.arange(len(some)) - np.searchsorted(question[some], question[some])
        chosen.append(some[place < most])
    return np.unique(np.concatenate(chosen))


def _vector(names: Sequence[str], linear: LinearModel, counted: frozenset[str]) -> Scores:
    return np.array([linear.signals.get(name, 0.0) if name in counted else 0.0 for name in names])


def _spread(values: Scores, nodes: Numbers, n: int) -> Scores:
    every = np.zeros(n)
    every[nodes] = values
    return every


def _ranks(rounded: Scores, gold: Sequence[int], deepest: int) -> Ranks:
    found: list[int | None] = []
    for node in gold:
        if node < 0 or rounded[node] <= 0:
            found.append(None)
            continue
        before = np.count_nonzero(rounded > rounded[node]) + np.count_nonzero(rounded[:node] == rounded[node])
        found.append(int(before) + 1 if before < deepest else None)
    return tuple(found)
