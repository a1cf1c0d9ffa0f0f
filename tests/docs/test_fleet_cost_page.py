"""docs/fleet-cost.md shows the costs that the measured figures give."""

from tests.benchmarks.fleet.cost import PAGE, blocks
from tests.docs.blocks import blocks_of

AGAIN = "run `python -m tests.benchmarks.fleet.cost --write`, read the diff, and mend the sentences around it"


def test_the_costs_are_those_of_the_figures() -> None:
    assert blocks_of(PAGE.read_text(encoding="utf-8"), "generated") == blocks(), AGAIN
