"""Question -> vector, by a small transformer in numpy, and its similarity to definitions.

The vector of a definition is the sum of the vectors of its terms, each times its occurrences to the power of
COUNT_POWER. A dot product with a sum is the sum of dot products: the score of a definition is a weighted sum over its
postings, divided by the norm of its vector. Only norms are stored.

The shipped file `question_encoder.bin` holds the transformer and the vectors of words. Its layout: magic, format number
and length of the header, the header (JSON: sizes, dtype, shape and offset of each array, and the origin of the
numbers), the arrays, each at a multiple of 64 bytes, and the SHA-256 digest of everything before it. It is mapped into
memory. Weights are integers of 8 bits with a scale for each row. `docs/question-encoder.md` says how the file was made.

The transformer has pre-norm layers with ReLU. Its input are the stems of all words of a question, stop words as well,
in their order. Its output is rounded to integers, so that dot products with rows of the table are exact sums: they are
the same whatever the number of rows or the order of addition.
"""

import hashlib
import json
import math
import mmap
import struct
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import dataclass, lazy_regex
from causalist.errors import ModelFailed
from causalist.model.index import LexicalIndex
from causalist.model.scores import Scores
from causalist.model.string_table import StringTable
from causalist.rank.sparse_product import csr_products
from causalist.rank.terms import hashes_of, split_word, stem

FILE_NAME = "question_encoder.bin"
MAGIC = b"causalist encoder\n"
FORMAT = 1
PREFIX = struct.Struct("<18sHI")  # magic, format, length of the header
DIGEST_BYTES = 32
ALIGNMENT = 64
_PAGE_BYTES = 4096  # the arrays begin at a multiple of it
MAX_WORDS = 40  # of a question; later ones are not read
# The largest number of a rounded output. With rows of 8 bits and 128 numbers, sums of products stay below 2^24, up to
# which 32-bit floats hold each integer.
OUTPUT_LEVELS = 511
_EPSILON = 1e-5

# Postings that are summed for one question: those of the terms with the largest products. So the time of a question
# does not grow with the repository. docs/benchmarks.md has the figures with fewer and with all.
MAX_SUMMED_POSTINGS = 250_000
_BLOCK_POSTINGS = 50_000
_MAX_COUNT = 1024
COUNT_POWER = 0.7
_COUNT_WEIGHTS = np.arange(_MAX_COUNT + 1.0) ** COUNT_POWER  # by occurrences
FILE_SHARE = 0.3  # what the similarity of its file adds to that of a definition
_BLOCK = 2_048  # definitions whose vectors are in memory at once

_WORD = lazy_regex(r"\w+")

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class QuestionEncoder:
    """The content of an encoder file.

    `stems` are sorted. `rows`, int8 (n_stems, n), times `scales`, float32 (n_stems,), are the vectors of words of code.
    `arrays` are the weights of the transformer by name.
    """

    header: Mapping[str, Any]
    stems: StringTable
    rows: NDArray[np.int8]
    scales: Floats
    arrays: Mapping[str, NDArray[Any]]

    def encode(self, question: str) -> NDArray[np.int16] | None:
        """Return the vector of a question, shape (n,), rounded to integers; None if it has no known word."""
        numbers = [number for word in words_of(question) if (number := self.stems.position(word)) >= 0][:MAX_WORDS]
        if not numbers:
            return None
        x = self.arrays["input"][numbers].astype(np.float32) * self.arrays["input.scale"][numbers, None]
        x = self._linear("enter", x) + self.arrays["positions"][: len(numbers)]
        for layer in range(int(self.header["layers"])):
            x = x + self._attend(f"layers.{layer}.", self._normalize(f"layers.{layer}.norm1", x))
            hidden = self._linear(f"layers.{layer}.up", self._normalize(f"layers.{layer}.norm2", x))
            x = x + self._linear(f"layers.{layer}.down", np.maximum(hidden, 0))
        result = self._linear("leave", self._normalize("norm", x).mean(axis=0))
        levels: NDArray[np.int16] = np.rint(result * (OUTPUT_LEVELS / max(float(np.abs(result).max()), 1e-9))).astype(
            np.int16
        )
        return levels

    def _attend(self, name: str, x: Floats) -> Floats:
        heads = int(self.header["heads"])
        n, width = x.shape
        q, k, v = self._linear(f"{name}qkv", x).reshape(n, 3, heads, width // heads).transpose(1, 2, 0, 3)
        scores = q @ k.transpose(0, 2, 1) / np.float32(np.sqrt(width // heads))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        seen = (scores / scores.sum(axis=-1, keepdims=True)) @ v
        return self._linear(f"{name}out", seen.transpose(1, 0, 2).reshape(n, width))

    def _linear(self, name: str, x: Floats) -> Floats:
        weights = self.arrays[name].astype(np.float32)
        result: Floats = (x @ weights.T) * self.arrays[f"{name}.scale"] + self.arrays[f"{name}.bias"]
        return result

    def _normalize(self, name: str, x: Floats) -> Floats:
        centered = x - x.mean(axis=-1, keepdims=True)
        deviation = np.sqrt((centered**2).mean(axis=-1, keepdims=True) + np.float32(_EPSILON))
        result: Floats = centered / deviation * self.arrays[f"{name}.weight"] + self.arrays[f"{name}.bias"]
        return result


def words_of(text: str) -> list[str]:
    """Return the stems of all words of a text, in their order."""
    return [stem(part) for word in _WORD.findall(text) for part in split_word(word)]


@lru_cache(maxsize=2)
def shipped_encoder(*, is_checked: bool = False) -> QuestionEncoder:
    """Return the encoder that comes with the program. Raises ModelFailed if its file is missing or damaged.

    Builds of an index check its digest, which reads all of the file: that takes longer than a question needs it for.
    Without the check, damage is found if the form or the length of the file is wrong.
    """
    return read_encoder(Path(__file__).with_name(FILE_NAME), is_checked=is_checked)


def read_encoder(path: Path, *, is_checked: bool = True) -> QuestionEncoder:
    """Return the content of an encoder file, mapped into memory; its digest is compared if `is_checked`.

    Raises ModelFailed.
    """
    try:
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise ModelFailed(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if len(data) < PREFIX.size + DIGEST_BYTES:
        raise ModelFailed(f"{path} is damaged: it has {len(data)} bytes; reinstall causalist")
    magic, number, length = PREFIX.unpack_from(data)
    if magic != MAGIC or number != FORMAT:
        raise ModelFailed(f"{path} is not a question encoder of format {FORMAT}; reinstall causalist")
    view = memoryview(data)
    if is_checked and hashlib.sha256(view[:-DIGEST_BYTES]).digest() != bytes(view[-DIGEST_BYTES:]):
        raise ModelFailed(f"{path} is damaged: its digest does not match; reinstall causalist")
    try:
        header = json.loads(bytes(view[PREFIX.size : PREFIX.size + length]))
        places = header.pop("arrays")
        ends = [offset + math.prod(shape) * np.dtype(dtype).itemsize for dtype, shape, offset in places.values()]
        if len(data) != -(-max(ends) // ALIGNMENT) * ALIGNMENT + DIGEST_BYTES:
            raise ModelFailed(f"{path} is damaged: it has {len(data)} bytes; reinstall causalist")
        arrays = {
            name: np.frombuffer(data, dtype=dtype, count=math.prod(shape), offset=offset).reshape(shape)
            for name, (dtype, shape, offset) in places.items()
        }
        stems = StringTable(arrays.pop("stems.blob"), arrays.pop("stems.offsets"))
        return QuestionEncoder(header, stems, arrays.pop("rows"), arrays.pop("rows.scale"), arrays)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelFailed(f"{path} is damaged: its header cannot be read; reinstall causalist") from error


def nearest_stems(question: str, n: int, encoder: QuestionEncoder) -> list[str]:
    """Return the `n` stems of code whose vectors agree most with that of a question, best first."""
    vector = encoder.encode(question)
    if vector is None:
        return []
    products = (encoder.rows.astype(np.float32) @ vector.astype(np.float32)) * encoder.scales
    order = np.lexsort((np.arange(len(products)), -products))[:n]
    return [encoder.stems[int(row)] for row in order]


def rows_of_terms(terms: StringTable, encoder: QuestionEncoder) -> NDArray[np.int64]:
    """Return the row of each term in the table of the encoder, -1 for a term that it lacks."""
    stem_hashes = _hashes(encoder.stems)
    order = np.argsort(stem_hashes)
    ordered = stem_hashes[order]
    hashes = _hashes(terms)
    at = np.minimum(np.searchsorted(ordered, hashes), len(ordered) - 1)
    result: NDArray[np.int64] = np.where(ordered[at] == hashes, order[at], -1)
    return result


# Rows of the terms of the last indexes: (terms, encoder, rows). A server asks the same index again.
_RECENT: list[tuple[StringTable, QuestionEncoder, NDArray[np.int64]]] = []
_MAX_CACHED_TABLES = 4


def _cached_rows(terms: StringTable, encoder: QuestionEncoder) -> NDArray[np.int64]:
    for table, by, rows in _RECENT:
        if table is terms and by is encoder:
            return rows
    rows = rows_of_terms(terms, encoder)
    _RECENT[:] = [(terms, encoder, rows), *_RECENT[: _MAX_CACHED_TABLES - 1]]
    return rows


def _hashes(table: StringTable) -> NDArray[np.uint64]:
    text = table.blob.tobytes() + b" " * 8
    return hashes_of(text, table.offsets[:-1].astype(np.int64), np.diff(table.offsets).astype(np.int64))


def compute_bag_norms(
    triples: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]],
    terms: StringTable,
    files: NDArray[np.int32],
    encoder: QuestionEncoder,
) -> tuple[Floats, Floats]:
    """Return the norms of the vectors of nodes, and those of the sums over the nodes of a file.

    Both have shape (n_nodes,); the second is 0 except file nodes. `triples` are all (document, term, count) rows of
    some files, ordered by term; `files` are the file nodes of all nodes, -1 outside of files. A norm does not depend on
    other files: terms are added in the order of their strings, and nodes in their own.
    """
    documents, numbers, counts = triples
    n_nodes = len(files)
    rows = rows_of_terms(terms, encoder)[numbers]
    has_vector = np.flatnonzero((rows >= 0) & (files[documents] >= 0))
    order = has_vector[np.argsort(documents[has_vector], kind="stable")]
    weights = _COUNT_WEIGHTS[np.minimum(counts[order], _MAX_COUNT)]
    starts = np.flatnonzero(np.diff(documents[order], prepend=-1))
    nodes = documents[order][starts]
    indptr = np.append(starts, len(order)).astype(np.int32)
    used, term_columns = _number_values(rows[order])
    table: NDArray[np.float64] = encoder.rows[used].astype(np.float64) * encoder.scales[used, None]
    file_nodes, places = _number_values(files[nodes])
    of_files = np.zeros((len(file_nodes), table.shape[1]))
    norms, file_norms = np.zeros(n_nodes, dtype=np.float32), np.zeros(n_nodes, dtype=np.float32)
    for start in range(0, len(nodes), _BLOCK):
        bounds: NDArray[np.int32] = indptr[start : start + _BLOCK + 1]
        entries = slice(bounds[0], bounds[-1])
        vectors = np.empty((len(bounds) - 1, table.shape[1]))
        csr_products(bounds - bounds[0], term_columns[entries], weights[entries], table, vectors)
        norms[nodes[start : start + _BLOCK]] = _norms(vectors)
        np.add.at(of_files, places[start : start + _BLOCK], vectors)  # one after the other, whatever the block
    file_norms[file_nodes] = _norms(of_files)
    return norms, file_norms


def _number_values(values: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return (the distinct values, ascending; the position of each value among them). No value is negative."""
    is_used = np.zeros(int(values.max(initial=-1)) + 1, dtype=np.bool_)
    is_used[values] = True
    positions = np.cumsum(is_used, dtype=np.int32) - np.int32(1)
    return np.flatnonzero(is_used), positions[values]


def _norms(vectors: NDArray[np.float64]) -> Floats:
    result: Floats = np.sqrt(np.add.reduce(vectors * vectors, axis=1)).astype(np.float32)
    return result


def bag_similarities(
    question: NDArray[np.int16], lexical: LexicalIndex, files: NDArray[np.int32], encoder: QuestionEncoder
) -> Scores:
    """Return the cosine of each node with the vector of a question, plus FILE_SHARE of that of its file.

    The result is 0 where the node's own cosine is not positive. `files` are the file nodes of all nodes. Raises
    ModelFailed.
    """
    if not len(lexical.bag_norms):
        raise ModelFailed(
            "the index was built without the question encoder; delete the folder .causalist to build it again"
        )
    rows = _cached_rows(lexical.terms, encoder)
    has_vector = np.flatnonzero(rows >= 0)
    exact = encoder.rows[rows[has_vector]].astype(np.float32) @ question.astype(np.float32)
    products = exact.astype(np.float64) * encoder.scales[rows[has_vector]]
    postings = lexical.definitions
    starts = postings.indptr[has_vector].astype(np.int64)
    lengths = postings.indptr[has_vector + 1] - starts
    sums = np.zeros(len(files))
    some = _strongest(products, lengths)
    # Arrays of a block stay in the cache of the processor. Sums are added in the order of the postings all the same.
    for block in np.array_split(some, 1 + int(lengths[some].sum()) // _BLOCK_POSTINGS):
        at = _ranges(starts[block], lengths[block])
        values = _COUNT_WEIGHTS.take(postings.counts[at], mode="clip") * np.repeat(products[block], lengths[block])
        np.add.at(sums, postings.documents[at], values)
    norm = float(np.sqrt((question.astype(np.float64) ** 2).sum()))
    own = _quotients(sums, lexical.bag_norms * norm)
    owners = np.maximum(files, 0)
    sums_of_files: Scores = np.bincount(owners, weights=sums, minlength=len(files)).astype(np.float64)
    of_file = _quotients(sums_of_files, lexical.file_bag_norms * norm)
    result: Scores = np.where(own > 0, np.maximum(own + FILE_SHARE * of_file[owners], 0.0), 0.0)
    return np.round(result, 6)


def _quotients(sums: Scores, norms: NDArray[Any]) -> Scores:
    result: Scores = np.divide(sums, norms, out=np.zeros(len(sums)), where=norms > 0)
    return result


def _strongest(products: Scores, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the positions, ascending, of the largest products that have MAX_SUMMED_POSTINGS postings together."""
    order = np.lexsort((np.arange(len(products)), -np.abs(products)))
    order = order[lengths[order] <= MAX_SUMMED_POSTINGS]  # a term that is nearly everywhere says nothing
    within = np.cumsum(lengths[order]) <= MAX_SUMMED_POSTINGS
    return np.sort(order[within])


def _ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return all positions of ranges, one range after the other."""
    ends = np.cumsum(lengths)
    return np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - ends + lengths, lengths)


def encoder_bytes(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the bytes of an encoder file with these arrays."""
    start, text = 0, b""
    while not text or PREFIX.size + len(text) > start:  # the header holds offsets, which depend on its length
        start = -(-(PREFIX.size + len(text)) // _PAGE_BYTES) * _PAGE_BYTES
        text = json.dumps({**header, "arrays": _places(arrays, start)}, sort_keys=True).encode()
    parts = [PREFIX.pack(MAGIC, FORMAT, len(text)), text, b"\0" * (start - PREFIX.size - len(text))]
    for _, array in sorted(arrays.items()):
        parts += [array.tobytes(), b"\0" * (-array.nbytes % ALIGNMENT)]
    data = b"".join(parts)
    return data + hashlib.sha256(data).digest()


def _places(arrays: Mapping[str, NDArray[Any]], start: int) -> dict[str, tuple[str, list[int], int]]:
    """Return (dtype, shape, offset) of each array; the first begins at `start`."""
    places = {}
    for name, array in sorted(arrays.items()):
        places[name] = array.dtype.str, list(array.shape), start
        start += -(-array.nbytes // ALIGNMENT) * ALIGNMENT
    return places
