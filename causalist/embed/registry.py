"""A name -> the embedder that is installed under it.

A name is that of an entry point of the group `causalist.embedders`, and what it is to load behind a colon:
`llm:text-embedding-3-small`. The entry point is a function from that part ("" where there is none) to an `Embedder`.
`local:NAME` is the same, and refused where it would send texts elsewhere.

Texts -> vectors of norm 1, or an error that says what the embedder gave instead.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points

import numpy as np
from numpy.typing import NDArray

from causalist.errors import CausalistError, ModelFailed, UsageError
from causalist.model.protocols import Embedder

GROUP = "causalist.embedders"
LOCAL = "local:"
_BUILT_IN = {"llm": "causalist.embed.providers:from_library", "openai": "causalist.embed.providers:from_server"}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_MAX_REASON_CHARACTERS = 300  # characters of what a plugin says of itself


def check_name(name: str) -> None:
    """Raise UsageError for an invalid name of an embedder, installed or not."""
    if not _NAME.fullmatch(name.removeprefix(LOCAL).partition(":")[0]):
        raise UsageError(f"--embedder {name!r} is no name; write one such as llm:text-embedding-3-small")


@lru_cache(maxsize=8)
def get_embedder(name: str) -> Embedder:
    """Return the embedder of that name, loaded once a process.

    Raises UsageError, ModelFailed and ExtraMissing.
    """
    check_name(name)
    plain = name.removeprefix(LOCAL)
    plugin, _, model = plain.partition(":")
    found = _installed().get(plugin)
    if found is None:
        known = ", ".join(sorted(_installed())) or "none"
        raise ModelFailed(f"there is no embedder {plugin!r}; installed are {known} (entry points of {GROUP})")
    try:
        embedder = found.load()(model)
    except CausalistError:
        raise
    except Exception as error:  # whatever a plugin raises
        raise ModelFailed(f"the embedder {plain} cannot be loaded: {reason_of(error)}") from error
    if not isinstance(embedder, Embedder):
        raise ModelFailed(f"the embedder {plain} has no `name`, `local` and `embed`; docs/embedders.md has an example")
    if name.startswith(LOCAL) and not embedder.local:
        raise ModelFailed(
            f"the embedder {plain} sends texts elsewhere, and {name!r} allows none that does; whoever wants "
            f"it to names it with --embedder {plain} or in CAUSALIST_EMBEDDER"
        )
    return embedder


def reason_of(error: BaseException) -> str:
    """Return the message of an error on one line of limited length."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= _MAX_REASON_CHARACTERS else f"{text[:_MAX_REASON_CHARACTERS]}…"


def _installed() -> dict[str, EntryPoint]:
    # Those that come with this program are there in a checkout, too, and no package takes their names.
    built_in = {name: EntryPoint(name, where, GROUP) for name, where in _BUILT_IN.items()}
    return {each.name: each for each in entry_points(group=GROUP)} | built_in


def embed_texts(embedder: Embedder, texts: Sequence[str], dimensions: int | None = None) -> NDArray[np.float32]:
    """Return unit vectors of texts, shape (n, d); zeros if the embedder finds nothing in a text.

    `dimensions` is the d of existing vectors. Raises ModelFailed.
    """
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
