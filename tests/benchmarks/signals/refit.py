"""Arrays of questions and the signals that count -> weights of other repositories, and what they make of each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha1

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize  # type: ignore[import-untyped]

from causalist.evaluate.fit import FIXED, RIDGE
from causalist.evaluate.mining import DEFINITION_KINDS
from causalist.evaluate.results import Ranks, metric_values
from causalist.model.node_ids import Role
from causalist.model.scores import Signal
from causalist.rank import LinearModel, Weights
from causalist.rank.scoring.answer_confidence import Penalty, StackedCandidates, loss_of
from tests.benchmarks.signals.arrays import AGAIN, LEADS, Asked, Batch, Model, Numbers, Scores, roles_table

# Their weights are chosen by hand: commits teach the one nothing, and the other too little (decisions 23 and 28).
BY_HAND = FIXED | {"name coverage"}
METRIC = "NDCG@10"
_ROLE_RIDGE = 2e-3
_SMALLEST_FACTOR = -3.0
_ITERATIONS = 100
_TOLERANCE = 1e-7  # relative, of the loss


class Questions:
    """All questions with their candidates; `counts`: how much each counts in a fit; repositories are divided into
    `n_folds` parts."""

    def __init__(self, asked: Sequence[Asked], counts: Sequence[float], n_folds: int, start: Weights) -> None:
        self.asked, self.counts, self.start = asked, np.array(counts, dtype=np.float64), start
        self.batch = Batch(asked)
        self.n_folds = n_folds
        repos = sorted({each.repo for each in asked}, key=lambda repo: sha1(repo.encode()).digest())
        place = {repo: i % n_folds for i, repo in enumerate(repos)}
        self.fold = np.array([place[each.repo] for each in asked])
        self._warm: dict[tuple[int, str], LinearModel] = {}
        every = Model(frozenset(all_names(self.batch)), start)
        before, _ = self.batch.before(every)
        leading = self.batch.leading(before)
        self._definitions = self.batch.definition_candidates(before)
        self._files = self.batch.file_candidates(leading, self.batch.of_files(every, leading))

    def held_out(self, names: Iterable[str]) -> Scores:
        """Return (NDCG@10 of files, of definitions or NaN) of each question, by weights that are fitted on the other
        folds with the signals `names` alone; shape (questions, 2)."""
        model, result = Model(frozenset(names), self.start), np.full((len(self.asked), 2), np.nan)
        for n in range(self.n_folds):
            chosen = np.flatnonzero(self.fold == n).tolist()
            for i, (files, definitions) in zip(chosen, self._ranked(model, self.fold != n, n, chosen), strict=True):
                result[i, 0] = metric_values([files], [METRIC])[0, 0]
                if definitions:
                    result[i, 1] = metric_values([definitions], [METRIC])[0, 0]
        return result

    def fitted(self, names: Iterable[str]) -> Weights:
        """Return the weights of the signals `names` that are fitted on all questions."""
        model = Model(frozenset(names), self.start)
        return self._fitted(model, np.ones(len(self.asked), dtype=np.bool_), -1)[0].weights

    def _ranked(
        self, model: Model, taught: NDArray[np.bool_], fold: int, chosen: Sequence[int]
    ) -> list[tuple[Ranks, Ranks]]:
        model, before, linear, leading = self._fitted(model, taught, fold)
        files = self.batch.of_files(model, leading)
        return self.batch.ranks(files, self.batch.after(model, before, linear, files), chosen)

    def _fitted(self, model: Model, taught: NDArray[np.bool_], fold: int) -> tuple[Model, Scores, Scores, Scores]:
        """(the model with weights of definitions, then of files, fitted on what is `taught`, and what it gives:
        scores of definitions, the same without roles, leads of files)."""
        batch = self.batch
        nodes = self._definitions[taught[batch.question[self._definitions]]]
        names = [name for name in batch.definition_names if name in model.names - BY_HAND]
        values = batch.definitions[nodes][:, [batch.definition_names.index(name) for name in names]]
        kinds = [kind.label for kind in DEFINITION_KINDS] if Signal.KIND in model.names else []
        if kinds:
            values = np.hstack([values, batch.kinds_table(nodes)])
        linear = self._fit(values, nodes, batch.question[nodes], names, kinds, (fold, "definition"))
        model = Model(model.names, replace(model.weights, definition=_with_hand(linear, self.start.definition)))
        before, plain = batch.before(model)
        leading = batch.leading(before)
        rows = self._files[taught[batch.file_question[self._files]]]
        own = [name for name in batch.file_names if name in model.names - BY_HAND]
        leads = [name for name in LEADS if name in model.names]
        values = batch.files[rows][:, [batch.file_names.index(name) for name in own]]
        values = np.hstack([values, leading[rows][:, [LEADS.index(name) for name in leads]]])
        linear = self._fit(values, batch.nodes[rows], batch.file_question[rows], [*own, *leads], [], (fold, "file"))
        return (
            Model(model.names, replace(model.weights, file=_with_hand(linear, self.start.file))),
            before,
            plain,
            leading,
        )

    def _fit(
        self,
        values: Scores,
        nodes: Numbers,
        question: Numbers,
        names: Sequence[str],
        kinds: Sequence[str],
        warm: tuple[int, str],
    ) -> LinearModel:
        """The weights that make the right ones of `nodes` likeliest; `question`: of each, ascending."""
        gold = self.batch.is_gold[nodes]
        n_right = np.bincount(question[gold], minlength=len(self.asked))
        is_telling = (n_right > 0) & (np.bincount(question, minlength=len(self.asked)) > n_right)
        kept = is_telling[question]
        values, gold, question = values[kept], gold[kept], question[kept]
        telling, starts, own = np.unique(question, return_index=True, return_inverse=True)
        given = StackedCandidates(
            np.ascontiguousarray(values),
            roles_table(self.batch.roles[nodes[kept]]),
            gold,
            own.astype(np.int64),
            starts.astype(np.int64),
            n_right[telling] / self.counts[telling],
        )
        n = len(names) + len(kinds)
        like = self._warm.get(warm) or getattr(self.start, warm[1])
        first = [like.signals.get(name, 0.0) for name in names] + [like.kind.get(kind, 0.0) for kind in kinds]
        factors = np.clip(np.log([like.role.get(role.label, 1.0) for role in Role]), _SMALLEST_FACTOR, 0.0)
        bounds: list[tuple[float, float | None]] = [(0.0, None)] * n
        bounds += [(0.0, 0.0) if role is Role.CODE else (_SMALLEST_FACTOR, 0.0) for role in Role]
        found = minimize(
            loss_of,
            np.concatenate([first, factors]),
            args=(given, n, Penalty(np.zeros(n + len(Role)), RIDGE, _ROLE_RIDGE)),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": _ITERATIONS, "ftol": _TOLERANCE},
        ).x
        linear = LinearModel(
            dict(zip(names, map(float, found), strict=False)),
            {role.label: float(np.exp(found[n + role])) for role in Role},
            dict(zip(kinds, map(float, found[len(names) : n]), strict=True)),
        )
        self._warm.setdefault(warm, linear)
        return linear


def all_names(batch: Batch) -> list[str]:
    """Return every signal that can be left out, in the order of the passes."""
    return list(dict.fromkeys([*batch.file_names, *LEADS, *batch.definition_names, *AGAIN, Signal.KIND]))


def _with_hand(fitted: LinearModel, start: LinearModel) -> LinearModel:
    hand: Mapping[str, float] = {name: weight for name, weight in start.signals.items() if name in BY_HAND}
    return replace(fitted, signals={**fitted.signals, **hand})
