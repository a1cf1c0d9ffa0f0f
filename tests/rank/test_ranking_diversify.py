"""A list that is spread over files, worked out by hand."""

from collections import Counter
from math import ceil, exp, log, log1p

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalist.model.answer import AskOptions, Level, Route
from causalist.rank import ROUTES, choose, default_weights, parse_query, rank_question
from causalist.rank.pagerank import WalkWeights, build_transition
from causalist.rank.scoring.ranking import diversify
from tests.model.corpus import Def, corpus

SCORES = np.array([5.0, 4.8, 4.7, 4.5, 4.0])
FILES = np.array([9, 9, 9, 8, 7], dtype=np.int32)


NONE = np.full(5, -1, dtype=np.int32)


def test_a_further_result_of_a_file_has_to_be_better_by_the_toll() -> None:
    """5.0 is taken, then 4.5 of another file before 4.8 − 0.8 ln 2 = 4.25; 4.0 comes before 4.7 − 0.8 ln 3 = 3.82."""
    found = diversify(range(5), SCORES, FILES, NONE, 5, 0.8)
    assert list(found) == [0, 3, 1, 4, 2]
    assert list(found.values()) == pytest.approx([5.0, 4.5, 4.8 - 0.8 * log(2), 4.0, 4.7 - 0.8 * log(3)])
    assert list(diversify(range(5), SCORES, FILES, NONE, 2, 0.8)) == [0, 3]
    assert diversify([], SCORES, FILES, NONE, 5, 0.8) == {} == diversify(range(5), SCORES, FILES, NONE, 0, 0.8)


def test_an_enclosing_definition_gets_a_fixed_penalty() -> None:
    """1 lies in 2, which lies in 3, which lies in the file 0. The penalty of the file is nearly 0 here. A definition
    inside of a listed one gets no penalty: 4 lies in 3."""
    files, parents = np.zeros(5, dtype=np.int32), np.array([-1, 2, 3, 0, 3], dtype=np.int32)
    found = diversify(range(5), np.array([1.0, 5.0, 4.5, 4.0, 1.5]), files, parents, 5, 1e-9)
    assert {node: round(worth, 6) for node, worth in found.items()} == {1: 5.0, 2: 2.5, 3: 2.0, 4: 1.5, 0: 1.0}
    assert list(diversify([1, 2, 4], np.array([0.0, 5.0, 4.5, 0.0, 1.5]), files, parents, 5, 0.0)) == [1, 2, 4]


def test_without_a_penalty_the_order_is_by_score_and_index() -> None:
    assert list(diversify([4, 3, 2, 1, 0], SCORES, FILES, NONE, 5, 0.0)) == [0, 1, 2, 3, 4]
    assert list(diversify([2, 1, 0], np.ones(3), np.array([1, 2, 1], dtype=np.int32), NONE, 3, 0.5)) == [0, 1, 2]


@given(st.lists(st.tuples(st.floats(0.01, 20), st.integers(0, 4)), max_size=30), st.floats(0, 3), st.integers(0, 40))
def test_every_step_takes_the_best_remaining_node(rows: list[tuple[float, int]], penalty: float, most: int) -> None:
    scores, files = np.array([s for s, _ in rows]), np.array([f for _, f in rows], dtype=np.int32)
    found = diversify(range(len(rows)), scores, files, np.full(len(rows), -1, dtype=np.int32), most, penalty)
    assert len(found) == min(most, len(rows)) and all(worth > 0 for worth in found.values())
    taken: Counter[int] = Counter()
    left = set(range(len(rows)))
    for node, worth in found.items():

        def now(n: int) -> float:
            return max(float(scores[n]) - penalty * log1p(taken[int(files[n])]), 1e-6 * float(scores[n]))

        assert worth == now(node) and node == min(left, key=lambda n: (-round(now(n), 12), n))
        left.remove(node)
        taken[int(files[node])] += 1


def test_definitions_are_spread_and_files_are_not() -> None:
    """Two hundred functions of one file match the query, and one of another file matches it less well. The difference
    is less than the penalty of the last of them: t ln(1 + n) is below it for each n below e^(difference/t) − 1."""
    same = [Def(f"part_{i}", "token cache") for i in range(200)]
    c = corpus({"a.py": same, "b.py": [Def("other", "token cache and words w0 w1")]})
    question = parse_query("token cache")
    transition = build_transition(c.graph, WalkWeights())
    ranking = rank_question(question, c.graph, c.lexical, transition, default_weights(), AskOptions())
    first, last = (float(ranking.definitions[c.node(name)]) for name in ("a.py::part_0", "b.py::other"))

    def files(route: Route, level: Level = Level.SYMBOL) -> list[str]:
        chosen = choose(ranking, c.graph, transition, AskOptions(route=route, level=level, top_k=240))
        return [c.graph.nodes.ids[each.node].partition("::")[0] for each in chosen if not each.by_graph]

    for route in (Route.EXPLORATORY, Route.SIMPLE, Route.LOOKUP):
        before = ceil(exp((first - last) / ROUTES[route].diversity_penalty) - 1)
        assert 1 < before < 199
        assert files(route).index("b.py") == before
        assert files(route, Level.FILE) == ["a.py", "b.py"]
    assert ROUTES[Route.EXPLORATORY].diversity_penalty > ROUTES[Route.SIMPLE].diversity_penalty
