"""Words weigh the same unless a test says otherwise, so that what they add up to can be worked out by hand."""

import pytest

from causalist.rank.query import phrases as told


@pytest.fixture(autouse=True)
def words_weigh_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(told, "_weights", lambda words: {})
