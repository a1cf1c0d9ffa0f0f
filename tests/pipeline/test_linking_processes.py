"""How many processes link: as many as may, not too many, and fewer where they would hold too much."""

import pytest

from causalist._internal.forked_task import CAN_FORK
from causalist.index.build import _count_linking_processes
from causalist.index.options import IndexOptions


@pytest.mark.skipif(not CAN_FORK, reason="one links where there is no fork")
@pytest.mark.parametrize(
    ("megabytes", "kilobytes", "processes", "n"),
    [
        (1, 150, 8, 1),  # not worth it
        (1, 400, 8, 2),  # not worth more
        (10, 150, 8, 1),  # most of it is text
        (10, 4_000, 1, 1),
        (10, 4_000, 2, 2),
        (10, 4_000, 8, 4),
        (100, 40_000, 8, 4),  # the tables of 300 MB in three others
        (150, 60_000, 8, 3),
        (290, 100_000, 8, 2),
        (310, 100_000, 8, 1),
        (310, 100_000, 2, 1),
    ],
)
def test_how_many_processes_link(megabytes: int, kilobytes: int, processes: int, n: int) -> None:
    options = IndexOptions(processes=processes)
    assert _count_linking_processes(megabytes * 1_000_000, kilobytes * 1_000, options) == n
