"""A name -> the embedder that is installed under it, and the two that are built in.

A name is that of an entry point of the group `causalist.embedders`, and what it is to load behind a colon:
`llm:text-embedding-3-small`. The entry point is a function from that part ("" where there is none) to an `Embedder`.
`local:NAME` is the same, and refused where it would send texts elsewhere.

Texts -> vectors of norm 1, or an error that says what the embedder gave instead.

Built in are models of the `llm` library and servers with OpenAI's protocol. Both need the extra `llm`, and both send
texts to the configured service.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalist.errors import CausalistError, ExtraMissing, ModelFailed, UsageError
from causalist.model.protocols import Embedder

GROUP = "causalist.embedders"
LOCAL = "local:"
_BUILT_IN = {"llm": "causalist.embed.registry:from_library", "openai": "causalist.embed.registry:from_server"}
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


_BATCH = 96  # texts of one request; the smallest limit among providers
_SECONDS = 60.0  # of one request
_RETRIES = 2


@dataclass(frozen=True, slots=True)
class LlmEmbedder:
    """An embedding model that the `llm` library knows, with its key handling."""

    name: str
    model: Any = field(repr=False)
    local: bool = False  # some plugins are, but none says so

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts, shape (n, d)."""
        size = min(self.model.batch_size or _BATCH, _BATCH)
        return np.array(list(self.model.embed_multi(texts, batch_size=size)), dtype=np.float32)


def from_library(model: str) -> LlmEmbedder:
    """Return the embedding model of that name, or `llm`'s default. Raises ExtraMissing, ModelFailed."""
    llm = _import_llm()
    name = model or llm.get_default_embedding_model()
    if not name:
        raise ModelFailed("no embedding model is chosen; name one as llm:NAME (`llm embed-models` lists them)")
    try:
        found = llm.get_embedding_model(name)
    except llm.UnknownModelError as error:
        raise ModelFailed(f"llm knows no embedding model {name!r}; `llm embed-models` lists those it knows") from error
    return LlmEmbedder(f"llm:{found.model_id}", found)


@dataclass(frozen=True, slots=True)
class OpenAIEmbedder:
    """A model of a server with OpenAI's protocol at `OPENAI_BASE_URL`."""

    name: str
    model: str
    client: Any = field(repr=False)
    local: bool = False

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts, shape (n, d)."""
        rows: list[list[float]] = []
        for start in range(0, len(texts), _BATCH):
            batch = list(texts[start : start + _BATCH])
            given = self.client.embeddings.create(model=self.model, input=batch, encoding_format="float").data
            rows += [each.embedding for each in sorted(given, key=lambda each: each.index)]
        return np.array(rows, dtype=np.float32)


def from_server(model: str) -> OpenAIEmbedder:
    """Return the model of that name at `OPENAI_BASE_URL`. Raises ExtraMissing, ModelFailed."""
    if not model:
        raise ModelFailed("no embedding model is named; write openai:NAME, such as openai:nomic-embed-text")
    llm = _import_llm()
    import openai

    base = os.environ.get("OPENAI_BASE_URL", "")
    key = llm.get_key(None, "openai", env="OPENAI_API_KEY")
    if not key and not base:
        raise ModelFailed("openai has no key; run `llm keys set openai`, or set OPENAI_API_KEY or OPENAI_BASE_URL")
    client = openai.OpenAI(api_key=key or "none", timeout=_SECONDS, max_retries=_RETRIES)
    return OpenAIEmbedder(f"openai:{model}" + (f"@{base}" if base else ""), model, client)


def _import_llm() -> Any:
    try:
        import llm
    except ImportError:
        raise ExtraMissing('this embedder needs llm, which asks models; run: pip install "causalist[llm]"') from None
    return llm
