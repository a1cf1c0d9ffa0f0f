"""Built-in embedders: models of the `llm` library, and servers with OpenAI's protocol.

Both need the extra `llm`, and both send texts to the configured service.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalist.errors import ExtraMissing, ModelFailed

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
