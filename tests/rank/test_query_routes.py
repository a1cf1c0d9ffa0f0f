"""The table of routes is what the ranking reads."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TypeVar

import pytest

from causalist.model.answer import AskOptions, Route
from causalist.model.protocols import NoSteps
from causalist.rank import GENERATORS, ROUTES, Ranking, default_weights, parse_query, rank_question
from causalist.rank.pagerank import WalkWeights, build_transition
from tests.model.corpus import Def, corpus

_T = TypeVar("_T")
# `remove` has `delete` among its synonyms; `loadToken` is written out.
QUESTION = "how to remove what loadToken keeps"


class Told(NoSteps):
    def __init__(self) -> None:
        self.order: list[str] = []
        self.counts: dict[str, int] = {}

    def timed(self, name: str) -> AbstractContextManager[None]:
        self.order.append(name)
        return nullcontext()

    def optional(self, name: str, work: Callable[[], _T], without: Callable[[], _T]) -> _T:
        self.order.append(name)
        return work()

    def record_count(self, name: str, n: int) -> None:
        self.counts[name] = n


def ranked(route: Route = Route.SIMPLE) -> tuple[Ranking, Mapping[str, int], list[str]]:
    c = corpus({"a.py": [Def("loadToken", "token keeps"), Def("drop", "delete it")], "b.py": [Def("idle")]})
    told = Told()
    question = replace(parse_query(QUESTION), route=route)
    transition = build_transition(c.graph, WalkWeights())
    ranking = rank_question(
        question, c.graph, c.lexical, transition, default_weights(), AskOptions(), None, None, None, told
    )
    return ranking, told.counts, told.order


def test_every_route_that_makes_an_answer_has_a_row() -> None:
    assert set(ROUTES) == set(Route)
    for plan in ROUTES.values():
        assert set(plan.generators) <= set(GENERATORS)
        assert 0.0 <= plan.graph_share < 1.0


def test_generators_run_in_the_order_of_the_table() -> None:
    _, _, order = ranked()
    ran = [name.removeprefix("candidates.") for name in order if name.startswith("candidates.")]
    # What stands in the files is looked for by the pipeline, which can read them; terms and places are no generators.
    # Neither an embedder nor the encoder says anything here.
    expected = [name for name in GENERATORS if name not in ("literals", "dense", "semantic")]
    assert [name for name in ran if name in expected] == sorted(expected, key=ran.index)
    assert set(ran) - {"terms"} == set(expected)


@pytest.mark.parametrize(
    ("generator", "signals"),
    [
        ("words", ("text",)),
        ("names", ("path", "name", "name share", "name coverage")),
        ("mentions", ("mention",)),
        ("synonyms", ("synonyms",)),
        ("graph", ("graph",)),
    ],
)
def test_a_generator_that_the_row_leaves_out_is_not_run(
    generator: str, signals: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = ROUTES[Route.SIMPLE]
    with_it, counts, _ = ranked()
    assert generator in counts
    if generator not in ("names", "graph"):  # nothing is linked here, and `path` alone is another matter
        assert any(with_it.signals.definition[name].any() for name in signals)
    left = tuple(name for name in plan.generators if name != generator)
    monkeypatch.setitem(ROUTES, Route.SIMPLE, replace(plan, generators=left))  # type: ignore[misc]
    without, counts, order = ranked()
    assert generator not in counts and f"candidates.{generator}" not in order
    assert not any(without.signals.definition[name].any() for name in signals)


def test_a_route_without_the_walk_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = ROUTES[Route.SIMPLE]
    assert ranked()[0].pagerank is not None
    left = tuple(name for name in plan.generators if name != "pagerank")
    monkeypatch.setitem(ROUTES, Route.SIMPLE, replace(plan, generators=left))  # type: ignore[misc]
    assert ranked()[0].pagerank is None


def test_names_decide_on_the_route_that_says_so() -> None:
    for route, plan in ROUTES.items():
        looked_up = ranked(route)[0].signals.definition["looked up"]
        assert looked_up.any() == plan.names_decide


def test_the_counts_are_candidates() -> None:
    """By hand: words of the question stand in loadToken alone, which is also the one thing that is named; `delete` and
    `drop`, other words for `remove`, in the other one. Their file has the words of both."""
    _, counts, _ = ranked()
    assert counts["mentions"] == 1
    assert counts["words"] == 1
    assert counts["files"] == 1
    assert counts["synonyms"] == 2
