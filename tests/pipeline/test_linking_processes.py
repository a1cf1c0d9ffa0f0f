"""How many processes link: as many as may, not too many, and fewer where they would hold too much."""

from dataclasses import replace

import pytest

from causalist._internal.forked_task import CAN_FORK
from causalist.index.build import _count_linking_processes
from causalist.index.options import IndexOptions
from causalist.parse import parse_file


@pytest.mark.skipif(not CAN_FORK, reason="one links where there is no fork")
@pytest.mark.parametrize(
    ("megabytes", "processes", "n"),
    [
        (1, 8, 1),  # not worth it
        (10, 1, 1),
        (10, 2, 2),
        (10, 8, 4),
        (100, 8, 4),  # the tables of 300 MB in three others
        (150, 8, 3),
        (290, 8, 2),
        (310, 8, 1),
        (310, 2, 1),
    ],
)
def test_how_many_processes_link(megabytes: int, processes: int, n: int) -> None:
    facts = replace(parse_file("a.py", b"x = 1\n"), n_bytes=megabytes * 500_000)
    assert _count_linking_processes([("a.py", facts), ("b.py", facts)], IndexOptions(processes=processes)) == n
