"""Kills, full disks, damage, many at once, wrong clocks: a few of each.

`python -m tests.benchmarks.crash` does the same with more trials.
"""

import sys

import pytest

from tests.benchmarks.crash import clocks, damage, disks, kills, mixed
from tests.pipeline.sample import SAMPLES
from tests.trials import count_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes and disks are looked at as Linux shows them"),
]
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
