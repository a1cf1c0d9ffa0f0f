"""Kills, full disks, damage, many at once, wrong clocks: a few of each.

`python -m tests.benchmarks.crash` does the same with more trials.
"""

import sys

import pytest

from causalist.index import question_index
from tests.benchmarks.crash import clocks, damage, disks, firsts, kills, mixed
from tests.pipeline.sample import SAMPLES
from tests.trials import count_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes and disks are looked at as Linux shows them"),
]


@pytest.fixture(autouse=True)
def small_repositories_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """The trials let first answers take parts of small repositories, in this process as well: only for their time."""
    for name in ("_MIN_CODE_BYTES", "_MIN_PARSED_BYTES"):
        monkeypatch.setattr(question_index, name, getattr(question_index, name))


_SMALL = [SAMPLES / "larder-shop"]


def test_killed_processes_leave_complete_indexes_and_nothing_else() -> None:
    assert kills.run(_SMALL, 2, 11, at_random_times=False)["killed"] == 2


def test_full_disks_cost_no_answer() -> None:
    assert sum(disks.run(_SMALL, 1, 12)[kind] for kind in ("full", "limited")) == 1


def test_damaged_files_are_found_and_made_again() -> None:
    assert damage.run(_SMALL, 2, 13)["damaged"] == 2


def test_indexers_and_askers_at_once_see_complete_states() -> None:
    assert mixed.run(_SMALL, 2.0, 14)["answers"] >= 6


def test_wrong_clocks_hide_no_change() -> None:
    n = count_of(1, 2)
    assert clocks.run(_SMALL, n, 15).total() == n


def test_killed_questions_and_builds_lose_nothing() -> None:
    """With these seeds a question and a build are killed at a call."""
    for seed in (24, 52):
        assert firsts.kill(_SMALL, count_of(1, 2), seed)["killed"] >= 1


def test_first_answers_need_no_room() -> None:
    assert firsts.fill(_SMALL, 1, 22)["full"] == 1


def test_first_questions_and_an_index_at_once_end_well() -> None:
    assert firsts.ask_at_once(_SMALL, 1, 23)["times"] == 1


@pytest.mark.skipif(not firsts.can_be_another(), reason="this has to be root, with a Python for everybody")
def test_two_users_of_one_folder_get_answers() -> None:
    n = count_of(1, 4)
    assert firsts.share(_SMALL, n, 24)["times"] == n


def test_no_process_is_left_where_none_is_wanted() -> None:
    assert firsts.leave_alone(_SMALL, count_of(1, 5), 25).total() > 0
