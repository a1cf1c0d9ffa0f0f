"""Installed embedders by name; texts -> unit vectors; vectors of one embedder as a file beside an index.

Nothing here is imported unless an embedder is chosen.

A name is that of an entry point of the group `causalist.embedders`, and what it is to load behind a colon:
`llm:text-embedding-3-small`. The entry point is a function from that part ("" where there is none) to an `Embedder`.
`local:NAME` is the same, and refused where it would send texts elsewhere.

Texts -> vectors of norm 1, or an error that says what the embedder gave instead.

Built in are models of the `llm` library and servers with OpenAI's protocol. Both need the extra `llm`, and both send
texts to the configured service.

The file of vectors is complete, or as it was: magic, length and CRC-32 of the header, the header (JSON), then the
arrays, each at a multiple of 64 bytes. It is written aside and renamed over the old one. It is data that a repository
may ship: nothing in it is trusted to be of any size or type, and what makes no sense counts as not there. Reading maps
it.
"""

import hashlib
import json
import mmap
import os
import re
import stat
import struct
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from causalist.errors import CausalistError, ExtraMissing, IndexNotWritable, ModelFailed, UsageError
from causalist.model.protocols import Embedder

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "causalist.embedders"
LOCAL = "local:"
_BUILT_IN = {"llm": "causalist.embed:from_library", "openai": "causalist.embed:from_server"}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_MAX_REASON_CHARACTERS = 300  # characters of what a plugin says of itself


def check_name(name: str) -> None:
    """Raise UsageError for an invalid name of an embedder, installed or not."""
    if not _NAME.fullmatch(name.removeprefix(LOCAL).partition(":")[0]):
        raise UsageError(f"--embedder {name!r} is not a name; write one such as llm:text-embedding-3-small")


@lru_cache(maxsize=8)
def get_embedder(name: str) -> Embedder:
    """Return the embedder of that name, loaded once a process.

    Raises UsageError, ModelFailed and ExtraMissing.
    """
    check_name(name)
    plain = name.removeprefix(LOCAL)
    plugin, _, model = plain.partition(":")
    entry = _list_embedders().get(plugin)
    if entry is None:
        installed = ", ".join(sorted(_list_embedders())) or "none"
        raise ModelFailed(f"there is no embedder {plugin!r}; installed are {installed} (entry points of {GROUP})")
    try:
        embedder = entry.load()(model)
    except CausalistError:
        raise
    except Exception as error:  # whatever a plugin raises
        raise ModelFailed(f"the embedder {plain} cannot be loaded: {reason_of(error)}") from error
    if not isinstance(embedder, Embedder):
        raise ModelFailed(f"the embedder {plain} has no `name`, `local` and `embed`; docs/embedders.md has an example")
    if name.startswith(LOCAL) and not embedder.local:
        raise ModelFailed(
            f"the embedder {plain} sends texts elsewhere, and {name!r} allows none that does; to use it, "
            f"name it with --embedder {plain} or in CAUSALIST_EMBEDDER"
        )
    return embedder


def reason_of(error: BaseException) -> str:
    """Return the message of an error on one line of limited length."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= _MAX_REASON_CHARACTERS else f"{text[:_MAX_REASON_CHARACTERS]}…"


def _list_embedders() -> "dict[str, EntryPoint]":
    from importlib.metadata import EntryPoint, entry_points  # takes as long as opening a memory

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
        embedding_model = llm.get_embedding_model(name)
    except llm.UnknownModelError as error:
        raise ModelFailed(f"llm knows no embedding model {name!r}; `llm embed-models` lists those it knows") from error
    return LlmEmbedder(f"llm:{embedding_model.model_id}", embedding_model)


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


DIGEST = 16  # bytes of the hashes that name texts and places
_MAGIC = b"causalist vec 1\n"
_PREFIX = struct.Struct("<16sII")  # magic, length of the header, its CRC-32
_ALIGNMENT = 64
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_ARRAYS = ("places", "rows", "texts", "matrix")
_DTYPES = {"places": "uint8", "rows": "int32", "texts": "uint8", "matrix": "float16"}


@dataclass(frozen=True, slots=True)
class VectorFile:
    """Vectors of an index by one embedder.

    `places`, (n, DIGEST): keys of spans, sorted; `rows`, (n,): the row of each vector, -1 if there is none yet.
    `texts`, (m, DIGEST): digests of embedded texts, sorted up to `n_live`, then those no longer in the index; `matrix`,
    (m, d): unit vectors. `stamp` names the index for which they are complete, "" for none.
    """

    embedder: str
    stamp: str
    n_live: int
    places: NDArray[np.uint8]
    rows: NDArray[np.int32]
    texts: NDArray[np.uint8]
    matrix: NDArray[np.float16]


def vector_file_name(embedder: str) -> str:
    """Return the name of the file with an embedder's vectors."""
    return f"vectors-{hashlib.sha256(embedder.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}.bin"


def read_vectors(path: Path, embedder: str) -> VectorFile | None:
    """Return the vectors at `path`; None if there are none of this embedder or they are unreadable."""
    try:
        return _decode_vectors(_map_file(path), embedder)
    except (OSError, KeyError, TypeError, ValueError, AttributeError, RecursionError, struct.error):
        return None


def write_vectors(path: Path, stored: VectorFile) -> None:
    """Write the vectors atomically. Raises IndexNotWritable and then changes nothing."""
    places: dict[str, list[object]] = {}
    blobs: list[bytes | memoryview] = []
    offset = 0
    for name in _ARRAYS:
        array = np.ascontiguousarray(getattr(stored, name))
        data = array.reshape(-1).view(np.uint8).data
        padding = -offset % _ALIGNMENT
        blobs += [b"\0" * padding, data]
        offset += padding
        places[name] = [list(array.shape), offset, zlib.crc32(data)]
        offset += len(data)
    document = {"embedder": stored.embedder, "stamp": stored.stamp, "n_live": stored.n_live, "arrays": places}
    header = json.dumps(document).encode()
    header += b" " * (-(_PREFIX.size + len(header)) % _ALIGNMENT)
    aside = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        aside.unlink(missing_ok=True)
        with aside.open("xb") as out:
            out.write(_PREFIX.pack(_MAGIC, len(header), zlib.crc32(header)))
            out.write(header)
            out.writelines(blobs)
        aside.replace(path)
    except BaseException as error:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise IndexNotWritable(f"cannot write {path}: {error.strerror or error}") from error
        raise


def _map_file(path: Path) -> mmap.mmap | bytes:
    descriptor = os.open(path, _OPEN_FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("no ordinary file")
        if os.name == "nt":  # a mapped file could not be replaced there
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                return file.read()
        return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
    finally:
        os.close(descriptor)


def _decode_vectors(mapped: mmap.mmap | bytes, embedder: str) -> VectorFile:
    magic, length, checksum = _PREFIX.unpack_from(mapped)
    base = _PREFIX.size + length
    header = mapped[_PREFIX.size : base]
    if magic != _MAGIC or zlib.crc32(header) != checksum:
        raise ValueError("no vectors")
    document = json.loads(header)
    if document["embedder"] != embedder:
        raise ValueError("of another embedder")
    view, arrays = memoryview(mapped), {}
    for name in _ARRAYS:
        shape, offset, crc = document["arrays"][name]
        kind = np.dtype(_DTYPES[name])
        count = int(np.prod(shape, dtype=np.int64))
        start = base + offset
        if zlib.crc32(view[start : start + count * kind.itemsize]) != crc:
            raise ValueError("damaged")
        arrays[name] = np.frombuffer(mapped, dtype=kind, count=count, offset=start).reshape(shape)
    stored = VectorFile(embedder, str(document["stamp"]), int(document["n_live"]), **arrays)
    n, m = len(stored.places), len(stored.texts)
    if (
        stored.places.shape != (n, DIGEST)
        or stored.texts.shape != (m, DIGEST)
        or stored.rows.shape != (n,)
        or stored.matrix.ndim != 2
        or len(stored.matrix) != m
        or not 0 <= stored.n_live <= m
        or (n and not (int(stored.rows.min()) >= -1 and int(stored.rows.max()) < m))
    ):
        raise ValueError("of shapes that do not fit")
    return stored
