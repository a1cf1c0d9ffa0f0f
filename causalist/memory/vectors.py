"""Vectors of an embedder: of passages and of entity names, each asked for once.

An embedder is a function from texts to vectors; which model is behind it, and what leaves the machine, is the caller's
decision. A cosine is summed element by element in double precision, because the sums of a BLAS depend on the shape of
the matrices: added one by one or all at once, the same two vectors have the same cosine.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from causalist.errors import CausalistError, ModelFailed, UsageError
from causalist.memory.entities import Embedder
from causalist.memory.similarity import THRESHOLD
from causalist.model import protocols as embedding

_BATCH = 64
_BLOCK = 1024
_SLACK = 1e-4  # candidates of the fast product that are looked at exactly


@dataclass(slots=True)
class Vectors:
    """`passages` by passage id, `entities` by entity id; all of one length, scaled to norm 1, float32."""

    embedder: Embedder
    passages: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    entities: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    pairs: dict[tuple[str, str], float] = field(default_factory=dict)  # entities at least THRESHOLD near
    _compared: list[str] = field(default_factory=list)

    def of(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Vectors of texts. Raises UsageError for what is no vector, ModelFailed."""
        found: list[NDArray[np.float32]] = []
        for start in range(0, len(texts), _BATCH):
            batch = list(texts[start : start + _BATCH])
            rows = self._embedded(batch)
            if len(rows) != len(batch):
                raise UsageError(f"the embedder gave {len(rows)} vectors for {len(batch)} texts")
            found += [self._checked(row) for row in rows]
        return found

    def _embedded(self, batch: list[str]) -> list[NDArray[np.float64]]:
        try:
            embed = self.embedder.embed if isinstance(self.embedder, embedding.Embedder) else self.embedder
            return [np.asarray(row, dtype=np.float64) for row in embed(batch)]
        except CausalistError:
            raise
        except Exception as error:  # whatever a provider raises
            raise ModelFailed(f"the embedder failed: {type(error).__name__}: {str(error)[:200]}") from error

    def _checked(self, row: NDArray[np.float64]) -> NDArray[np.float32]:
        known = next(iter(self.passages.values()), None)
        if (
            row.ndim != 1
            or not len(row)
            or not np.isfinite(row).all()
            or (known is not None and len(known) != len(row))
        ):
            raise UsageError(f"the embedder gave an array of shape {row.shape}; all vectors are finite, of one length")
        norm = float(np.sqrt(np.add.reduce(row * row)))
        return (row / norm if norm else row).astype(np.float32)

    def matrix(self, passages: Sequence[str]) -> NDArray[np.float32]:
        """(P, d)."""
        return np.stack([self.passages[each] for each in passages]) if passages else np.zeros((0, 1), dtype=np.float32)

    def compare(self, names: Sequence[str]) -> None:
        """Brings `pairs` up to these entities: those that are new with all."""
        new = [name for name in names if name not in self.entities]
        for name, vector in zip(new, self.of([name.replace("_", " ") for name in new]), strict=True):
            self.entities[name] = vector
        compared = set(self._compared)
        fresh = [name for name in self.entities if name not in compared]
        everything = self._compared + fresh
        if not fresh:
            return
        matrix = np.stack([self.entities[name] for name in everything])
        for start in range(len(self._compared), len(everything), _BLOCK):
            rows = np.arange(start, min(start + _BLOCK, len(everything)))
            near = matrix[rows] @ matrix[: int(rows[-1]) + 1].T >= THRESHOLD - _SLACK
            for i, j in np.argwhere(near).tolist():
                if rows[i] > j:
                    self._pair(everything[int(rows[i])], everything[j])
        self._compared = everything

    def _pair(self, a: str, b: str) -> None:
        cosine = float(cosines(self.entities[a][None, :], self.entities[b])[0])
        if cosine >= THRESHOLD:
            self.pairs[(a, b) if a < b else (b, a)] = min(cosine, 1.0)

    def near(self, vector: NDArray[np.float32], live: Mapping[str, int], most: int) -> dict[str, float]:
        """The live entities at least THRESHOLD near a vector, the nearest `most` of them."""
        names = sorted(name for name in self.entities if name in live)
        if not names:
            return {}
        values = cosines(np.stack([self.entities[name] for name in names]), vector)
        order = np.argsort(-values, kind="stable")[:most]
        return {names[i]: min(float(values[i]), 1.0) for i in order.tolist() if values[i] >= THRESHOLD}


def cosines(matrix: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float64]:
    """Of rows of norm 1 with a vector of norm 1, shape (n,)."""
    if not len(matrix):
        return np.zeros(0)
    if matrix.shape[1] != len(vector):
        raise UsageError(f"the question's vector has {len(vector)} numbers; those of the index have {matrix.shape[1]}")
    found = np.empty(len(matrix))
    for start in range(0, len(matrix), _BLOCK):
        block = matrix[start : start + _BLOCK].astype(np.float64)
        found[start : start + _BLOCK] = np.add.reduce(block * vector.astype(np.float64), axis=1)
    return found
