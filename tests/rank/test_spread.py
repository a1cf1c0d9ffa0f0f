"""A list that is spread over files, worked out by hand."""

from collections import Counter
from math import ceil

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from causalist.model.answer import AskOptions, Level, Route
from causalist.rank import ROUTES, choose, default_weights, rank_question, read_question
from causalist.rank.spread import spread
from causalist.rank.walk import WalkWeights, build_transition
from tests.model.corpus import Def, corpus

SCORES = np.array([5.0, 4.8, 4.7, 4.5, 4.0])
FILES = np.array([9, 9, 9, 8, 7], dtype=np.int32)


def test_a_further_result_of_a_file_has_to_be_better_by_the_toll() -> None:
    """With 0.6: 5.0 is taken, then 4.5 of another file before 4.8 − 0.6 = 4.2, 4.0 before 4.7 − 1.2 = 3.5."""
    assert spread(range(5), SCORES, FILES, 5, 0.6) == {0: 5.0, 3: 4.5, 1: 4.2, 4: 4.0, 2: 3.5}
    assert list(spread(range(5), SCORES, FILES, 2, 0.6)) == [0, 3]
    assert spread([], SCORES, FILES, 5, 0.6) == {} == spread(range(5), SCORES, FILES, 0, 0.6)


def test_without_a_toll_it_is_the_order_of_scores_and_equal_ones_go_by_index() -> None:
    assert list(spread([4, 3, 2, 1, 0], SCORES, FILES, 5, 0.0)) == [0, 1, 2, 3, 4]
    assert list(spread([2, 1, 0], np.ones(3), np.array([1, 2, 1], dtype=np.int32), 3, 0.5)) == [0, 1, 2]


@given(st.lists(st.tuples(st.floats(0.01, 20), st.integers(0, 4)), max_size=30), st.floats(0, 3), st.integers(0, 40))
def test_every_step_takes_the_best_that_is_left(rows: list[tuple[float, int]], toll: float, most: int) -> None:
    scores, files = np.array([s for s, _ in rows]), np.array([f for _, f in rows], dtype=np.int32)
    found = spread(range(len(rows)), scores, files, most, toll)
    assert len(found) == min(most, len(rows)) and all(worth > 0 for worth in found.values())
    taken: Counter[int] = Counter()
    left = set(range(len(rows)))
    for node, worth in found.items():

        def now(n: int) -> float:
            return max(float(scores[n]) - toll * taken[int(files[n])], 1e-6 * float(scores[n]))

        assert worth == now(node) and node == min(left, key=lambda n: (-round(now(n), 12), n))
        left.remove(node)
        taken[int(files[node])] += 1


def test_only_the_exploratory_route_is_spread_and_only_over_definitions() -> None:
    """Forty functions of one file say what is asked for, and one of another file says it less well, by less than what
    the last of the forty have lost to the toll."""
    same = [Def(f"part_{i}", "token cache") for i in range(40)]
    c = corpus({"a.py": same, "b.py": [Def("other", "token cache and " + "words " * 20)]})
    question = read_question("token cache")
    transition = build_transition(c.graph, WalkWeights())
    ranking = rank_question(question, c.graph, c.lexical, transition, default_weights(), AskOptions())
    first, last = (float(ranking.definitions[c.node(name)]) for name in ("a.py::part_0", "b.py::other"))
    before = ceil((first - last) / ROUTES[Route.EXPLORATORY].spread)
    assert 1 < before < 39

    def files(route: Route, level: Level = Level.SYMBOL) -> list[str]:
        chosen = choose(ranking, c.graph, transition, AskOptions(route=route, level=level, top_k=120))
        return [c.graph.nodes.ids[each.node].partition("::")[0] for each in chosen if not each.by_graph]

    assert files(Route.SIMPLE).index("b.py") == 40
    assert files(Route.EXPLORATORY).index("b.py") == before
    assert files(Route.EXPLORATORY, Level.FILE) == files(Route.SIMPLE, Level.FILE)
