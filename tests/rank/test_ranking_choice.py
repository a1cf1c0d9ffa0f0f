"""Which nodes answer, given their scores: places for files that have none, and for what only the graph reaches."""

import numpy as np
import pytest

from causalist.model.answer import AskOptions, Level
from causalist.rank.query.query import ROUTES, Route
from causalist.rank.scoring.ranking import WEAK, _n_graph_slots, _with_best_files

# Nodes 0 to 7 are of file 10, 8 and 9 of file 11, 10 to 12 the files themselves.
OWNERS = np.array([10] * 8 + [11, 11] + [10, 11, 12], dtype=np.int32)
SCORES = np.array([9.0, 8, 7, 6, 5, 4, 3, 2, 1.0, 1.5, 0, 0, 0])
FOUND = {node: float(SCORES[node]) for node in range(8)}


def test_the_last_place_of_eight_goes_to_the_best_file_that_has_none() -> None:
    """By its best definition, which is 9; it stands behind what was found, with its own score."""
    found = _with_best_files(FOUND, 8, [10, 11, 12], SCORES, OWNERS)
    assert found == {**{node: FOUND[node] for node in range(7)}, 9: 1.5}
    assert list(found)[-1] == 9


def test_a_place_goes_back_where_no_other_file_has_a_definition() -> None:
    assert _with_best_files(FOUND, 8, [10, 12], SCORES, OWNERS) == FOUND
    assert _with_best_files({}, 8, [10, 12], np.zeros(13), OWNERS) == {}


def test_fewer_than_four_places_leave_none_to_files() -> None:
    """An eighth of four is half a place, and halves are rounded to what is even."""
    assert list(_with_best_files(FOUND, 4, [11], SCORES, OWNERS)) == [0, 1, 2, 3]
    assert list(_with_best_files(FOUND, 5, [11], SCORES, OWNERS)) == [0, 1, 2, 3, 9]


def test_what_stands_for_a_file_never_stands_before_what_was_found() -> None:
    """After the penalties, a found definition may score less than the best definition of another file."""
    scores = SCORES.copy()
    scores[9] = 50.0
    found = _with_best_files(FOUND, 8, [11], scores, OWNERS)
    assert list(found)[-1] == 9 and found[9] == pytest.approx(3.0) and found[9] < found[6]


def test_what_was_found_already_and_stands_for_its_file_has_one_place() -> None:
    found = {**FOUND, 9: 1.5}
    assert list(_with_best_files(found, 9, [10, 11], SCORES, OWNERS)) == [*range(8), 9]
    assert list(_with_best_files(found, 8, [10, 11], SCORES, OWNERS)) == [*range(7), 9]


@pytest.mark.parametrize("level", list(Level))
def test_words_keep_the_places_that_they_would_fill_well(level: Level) -> None:
    """A fifth of ten are two: those of the ninth and the tenth by words, or of nobody, where words found fewer."""
    weak = WEAK[level] * 10.0

    def places(*last: float) -> int:
        options = AskOptions(level=level, top_k=10)
        return _n_graph_slots(ROUTES[Route.SIMPLE], options, [10.0] * 8 + list(last))

    assert places(weak, weak) == 0
    assert places(weak, weak - 0.01) == 1 == places(weak)
    assert places(weak - 0.01, weak - 0.02) == 2 == places()


def test_a_question_for_a_way_keeps_all_its_places_for_the_graph() -> None:
    found = [10.0] * 10
    assert _n_graph_slots(ROUTES[Route.MULTI_HOP], AskOptions(top_k=10), found) == 3
    assert _n_graph_slots(ROUTES[Route.LOOKUP], AskOptions(top_k=10), found) == 0
    assert _n_graph_slots(ROUTES[Route.SIMPLE], AskOptions(top_k=10), []) == 2
