"""What is set for a process by the command that it was started for."""

import gc
from collections.abc import Iterator

import pytest

from causalist.cli._run import prepare_process


@pytest.fixture(autouse=True)
def thresholds() -> Iterator[tuple[int, int, int]]:
    before = gc.get_threshold()
    yield before
    gc.set_threshold(*before)


@pytest.mark.parametrize("command", ["serve", "watch"])
def test_a_process_that_stays_collects_as_ever(command: str, thresholds: tuple[int, int, int]) -> None:
    """With rarer collections a server under load held half a gigabyte of former indexes."""
    prepare_process([command, "mcp"])
    assert gc.get_threshold() == thresholds


def test_a_process_for_one_answer_hardly_collects(thresholds: tuple[int, int, int]) -> None:
    prepare_process(["ask", "serve"])
    assert gc.get_threshold()[0] > 10 * thresholds[0]
