"""Texts -> vectors of norm 1, or an error that says what the embedder gave instead."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from causalist.embed.registry import reason_of
from causalist.errors import CausalistError, ModelFailed
from causalist.model.embedding import Embedder


def embedded(embedder: Embedder, texts: Sequence[str], dimensions: int | None = None) -> NDArray[np.float32]:
    """Shape (n, d), rows of norm 1, or 0 where the embedder finds nothing in a text. Raises ModelFailed.

    `dimensions`: the d that vectors have which are there already."""
    try:
        rows = np.asarray(embedder.embed(list(texts)), dtype=np.float32)
    except CausalistError:
        raise
    except Exception as error:  # whatever a provider raises
        raise ModelFailed(f"the embedder {embedder.name} failed: {reason_of(error)}") from error
    if rows.ndim != 2 or len(rows) != len(texts) or not rows.shape[1] or not np.isfinite(rows).all():
        raise ModelFailed(
            f"the embedder {embedder.name} gave an array of shape {rows.shape} for {len(texts)} texts; "
            "one row of finite numbers for each is needed"
        )
    if dimensions is not None and rows.shape[1] != dimensions:
        raise ModelFailed(
            f"the embedder {embedder.name} gave vectors of {rows.shape[1]} numbers, and {dimensions} before; one that "
            "changes needs another name"
        )
    norms = np.sqrt(np.add.reduce(rows.astype(np.float64) ** 2, axis=1))
    result: NDArray[np.float32] = (rows / np.where(norms > 0, norms, 1.0)[:, None]).astype(np.float32)
    return result
