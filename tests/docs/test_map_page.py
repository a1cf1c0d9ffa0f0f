"""docs/map.md shows what the program draws."""

import re

import pytest

from tests.docs import map_page
from tests.docs.blocks import blocks_of


@pytest.mark.slow
def test_the_map_of_the_sample_is_real() -> None:
    page = map_page.PAGE.read_text(encoding="utf-8")
    assert blocks_of(page, "generated")["sample"] == map_page.sample(), "run `python -m tests.docs.map_page --write`"


def test_the_other_maps_name_their_commits() -> None:
    page = map_page.PAGE.read_text(encoding="utf-8")
    blocks = blocks_of(page, "generated")
    assert set(blocks) == {"sample", *map_page.PUBLIC}
    for name, (_, commit, max_tokens) in map_page.PUBLIC.items():
        assert f" @ {commit[:7]}" in blocks[name]
        assert re.search(rf"--max-tokens {max_tokens}` at commit `{commit[:8]}`", page)
