"""Items of a pack that repeat the source of others, and lines that use other items."""

import pytest

from causalist.extract import NeededNode
from causalist.model.graph import EdgeKind, SubgraphEdge
from causalist.pipeline.pack_items import MIN_PROBABILITY_USED, discount_repeated, find_uses
from tests.pack.builders import item

SYNC = "def open(self, name):\n    path = self.root / name\n    with path.open() as file:\n        return file.read()"
ASYNC = SYNC.replace("def open", "async def open")
OTHER = "def close(self):\n    for handle in self.handles:\n        handle.flush()\n        handle.release(LOCK, 3)"


def test_only_the_new_part_of_a_twin_is_needed() -> None:
    # SYNC has the words def open self name path self root name with path open as file return file read: 15 pairs, all
    # distinct. ASYNC has one pair more, "async def". So 15 of 16 pairs are in both, and 1/16 is new.
    items = [item("a.py", "open", SYNC, needed=0.8), item("b.py", "open", ASYNC, needed=0.4)]
    assert [each.needed for each in discount_repeated(items)] == [0.8, pytest.approx(0.4 / 16)]


def test_the_more_needed_twin_is_kept_wherever_it_stands() -> None:
    items = [item("b.py", "open", ASYNC, needed=0.4), item("a.py", "open", SYNC, needed=0.8)]
    assert [each.needed for each in discount_repeated(items)] == [pytest.approx(0.4 / 16), 0.8]


def test_other_texts_short_ones_and_unread_ones_stay() -> None:
    short = "def name(self):\n    return self.name_"
    items = [item("a.py", "open", SYNC, needed=0.8), item("c.py", "close", OTHER, needed=0.3)]
    items += [item("d.py", "x", short, needed=0.2), item("e.py", "x", short, needed=0.1)]
    items += [item("f.py", "y", "", needed=0.2), item("g.py", "y", "", needed=0.1)]
    assert discount_repeated(items) == items


def test_only_uses_of_what_is_needed_keep_their_lines() -> None:
    """Item 1 is needed and item 2 hardly; what an item uses of itself tells nothing."""
    needed = [NeededNode(7, 0.9), NeededNode(8, MIN_PROBABILITY_USED), NeededNode(9, MIN_PROBABILITY_USED - 0.01)]
    edges = [
        SubgraphEdge(source, target, EdgeKind.CALLS, 0, 1.0, 1, 1, row, -1)
        for source, target, row in ((0, 1, 30), (0, 1, 20), (0, 2, 40), (0, 0, 50), (2, 0, 60), (1, 0, -1))
    ]
    assert find_uses(needed, edges) == {0: (20, 30), 2: (60,)}
