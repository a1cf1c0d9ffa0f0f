"""An embedder whose vectors can be worked out by hand, installed as a package would be: by an entry point."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

# Words that mean the same; each row is a dimension, and the last dimension is 1 for every text.
CONCEPTS = (
    ("annihilate", "purge"),
    ("patron", "client"),
    ("keep", "store"),
    ("invoice", "bill"),
)

shown: list[str] = []  # every text that any fake was given
failing_after: list[int] = []  # how many texts are embedded before it fails; empty: all


class Fake:
    def __init__(self, name: str, local: bool) -> None:
        self.name, self.local = name, local

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if failing_after and len(shown) >= failing_after[0]:
            raise ConnectionError("nobody is there")
        shown.extend(texts)
        rows = []
        for text in texts:
            words = "".join(c if c.isalnum() else " " for c in text.lower()).split()
            rows.append([float(sum(words.count(word) for word in group)) for group in CONCEPTS] + [1.0])
        return np.array(rows, dtype=np.float32)


def local(model: str) -> Fake:
    return Fake(f"fake:{model}", True)


def remote(model: str) -> Fake:
    return Fake("remote", False)


def broken(model: str) -> Fake:
    raise OSError(f"no file {model}")


def no_embedder(model: str) -> object:
    return object()


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As pip leaves it: the metadata of a package on the path."""
    info = folder / "causalist_fake-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: causalist-fake\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[causalist.embedders]\nfake = tests.embed.fake:local\nremote = tests.embed.fake:remote\n"
        "broken = tests.embed.fake:broken\nodd = tests.embed.fake:no_embedder\nllm = tests.embed.fake:local\n"
    )
    monkeypatch.syspath_prepend(str(folder))
