"""Words weigh the same and the encoder is silent unless a test says otherwise, so that sums can be worked by hand."""

import numpy as np
import pytest

from causalist.rank.query import word_weights as told
from causalist.rank.scoring import signals


@pytest.fixture(autouse=True)
def words_weigh_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(told, "_weights", lambda words: {})


@pytest.fixture(autouse=True)
def no_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        signals, "semantic_scores", lambda question, terms, lexical, files, by: (np.zeros(len(files)),) * 2
    )
