"""Question -> vector, by a small transformer in numpy, and its similarity to definitions.

The vector of a definition is the sum of the vectors of its terms, each times its occurrences to the power of
COUNT_POWER. A dot product with a sum is the sum of dot products: the score of a definition is a weighted sum over its
postings, divided by the norm of its vector. Only norms are stored.

The shipped file `question_encoder.bin` holds the transformer and the vectors of words. Its layout: magic, format number
and length of the header, the header (JSON: sizes, dtype, shape and offset of each array, and the origin of the
numbers), the arrays, each at a multiple of 64 bytes, and the SHA-256 digest of everything before it. It is mapped into
memory. Weights are integers of 4 bits, two in a byte, with a scale for each row of a group of columns.
`docs/question-encoder.md` says how the file was made.

The transformer is that of BERT with fewer layers. Its input are the pieces of all words of a question, stop words as
well, in their order, between two edges. Its output is rounded to integers, so that dot products with rows of the table
are exact sums: they are the same whatever the number of rows or the order of addition.
"""

import hashlib
import json
import math
import mmap
import struct
import unicodedata
from collections.abc import Callable, Mapping, Sequence
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
FORMAT = 2
PREFIX = struct.Struct("<18sHI")  # magic, format, length of the header
DIGEST_BYTES = 32
ALIGNMENT = 64
_PAGE_BYTES = 4096  # the arrays begin at a multiple of it
MAX_PIECES = 46  # of a question; later ones are not read
MIN_NAMED = 5  # definitions that a word names which a question is encoded without; chosen by hand
KNOWN_SHARE = 0.75  # the questions of all benchmarks have 0.85 and more
# The largest number of a rounded output. With rows of 4 bits and 128 numbers, sums of products stay below 2^24, up to
# which 32-bit floats hold each integer.
OUTPUT_LEVELS = 511
_EPSILON = 1e-12
_GELU = float(np.sqrt(2 / np.pi)), 0.044715

# Postings that are summed for one question: those of the terms with the largest products. So the time of a question
# does not grow with the repository. docs/benchmarks.md has the figures with fewer and with all.
MAX_SUMMED_POSTINGS = 250_000
_BLOCK_POSTINGS = 50_000
_MAX_COUNT = 1024
COUNT_POWER = 0.7
_COUNT_WEIGHTS = np.arange(_MAX_COUNT + 1.0) ** COUNT_POWER  # by occurrences
_LONGEST_PIECE = 20  # characters
N_SIMILAR, MIN_COSINE = 32, 0.4  # terms for a word of a question; docs/benchmarks.md has what else was tried
N_NEAR_WORDS, MIN_NEAR_COSINE = 4, 0.2  # that a reason names
# Keywords are in most function bodies, so training brought them near to all questions. They explain no hit.
_WORDS_OF_SYNTAX = {
    "async", "await", "class", "const", "def", "defp", "end", "export", "fn", "fun", "func", "function", "let",
    "private", "protected", "public", "return", "returns", "self", "static", "string", "sub", "this", "val", "var",
    "void",
}  # fmt: skip
# Added to the norm of a definition: one of few words needs more in common with a question to be as similar.
NORM_OFFSET = np.float32(2.0)
FILE_SHARE = 0.3  # what the similarity of its file adds to that of a definition
# OpenBLAS computes a product of up to so many multiplications in one thread. Several threads wait for one another in
# turns: beside other busy processes a question then took 0.8 s instead of 12 ms.
_SERIAL_PRODUCTS = 1 << 18
# Rows of weights and pieces of a question that are multiplied at once; a group has 128 columns.
_TILE, _TOKENS = 128, 16
_BLOCK = 2_048  # definitions whose vectors are in memory at once

_WORD = lazy_regex(r"\w+")
_PART = lazy_regex(r"[^\W_]+|[^\w\s]|_")  # what BERT takes apart: words and single signs

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class QuestionEncoder:
    """The content of an encoder file.

    `stems` are sorted. `rows`, uint8 (n_stems, n / 2), see `unpack`, times `scales`, float32 (n_stems,), are the
    vectors of words of code. `pieces`, sorted, is the vocabulary of questions. `arrays` are the weights of the
    transformer by name.
    """

    header: Mapping[str, Any]
    stems: StringTable
    pieces: StringTable
    rows: NDArray[np.uint8]
    scales: Floats
    arrays: Mapping[str, NDArray[Any]]

    def is_understood(self, question: str) -> bool:
        """Return False if fewer than KNOWN_SHARE of the words are known: another language, or names alone."""
        words = words_of(question)
        n_known = sum(self.stems.position(word) >= 0 for word in words)
        return n_known >= KNOWN_SHARE * max(len(words), 1)

    def encode(self, question: str) -> NDArray[np.int16] | None:
        """Return the vector of a question, shape (n,), rounded to integers.

        None if it is not understood.
        """
        if not self.is_understood(question):
            return None
        places = self.arrays["pieces.places"][pieces_of(question, self.pieces.position)]
        x = self._vectors([0, *places.tolist(), 1])
        x = self._normalize("norm", x + self.arrays["positions"][: len(x)])
        for layer in range(int(self.header["layers"])):
            name = f"layers.{layer}."
            x = self._normalize(f"{name}norm1", x + self._attend(name, x))
            x = self._normalize(f"{name}norm2", x + self._linear(f"{name}down", _gelu(self._linear(f"{name}up", x))))
        pooled = x.sum(axis=0)
        pooled /= max(float(np.sqrt(pooled @ pooled)), 1e-9)
        leave = self.arrays["leave"].astype(np.float32)
        result = np.einsum("ij,j->i", leave, pooled) * self.arrays["leave.scale"] + self.arrays["leave.bias"]
        levels: NDArray[np.int16] = np.rint(result * (OUTPUT_LEVELS / max(float(np.abs(result).max()), 1e-9))).astype(
            np.int16
        )
        return levels

    def _vectors(self, places: list[int]) -> Floats:
        """Return the vectors of pieces: frequent ones have rows, others a number of a code vector for each part."""
        rows, codes, vectors = (self.arrays[name] for name in ("input", "codes", "code vectors"))
        result: Floats = np.empty((len(places), 2 * rows.shape[1]), dtype=np.float32)
        for i, place in enumerate(places):
            if place < len(rows):
                result[i] = unpack(rows[place]) * self.arrays["input.scale"][place]
            else:
                chosen = vectors[np.arange(len(vectors)), codes[place - len(rows)]]
                result[i] = (chosen * self.arrays["code vectors.scale"]).ravel() + self.arrays["codes.mean"]
        return result

    def _attend(self, name: str, x: Floats) -> Floats:
        heads = int(self.header["heads"])
        n, width = x.shape
        q, k, v = self._linear(f"{name}qkv", x).reshape(n, 3, heads, width // heads).transpose(1, 2, 0, 3)
        scores = q @ k.transpose(0, 2, 1) / np.float32(np.sqrt(width // heads))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        seen = (scores / scores.sum(axis=-1, keepdims=True)) @ v
        return self._linear(f"{name}out", seen.transpose(1, 0, 2).reshape(n, width))

    def _linear(self, name: str, x: Floats) -> Floats:
        """Return the product with a matrix, stored in groups of columns with a scale for each row of a group."""
        weights = unpack(self.arrays[name]).astype(np.float32)
        n_groups, n_rows, width = weights.shape
        n_blocks = n_rows // _TILE if n_rows % _TILE == 0 else 1
        tiles = weights.reshape(n_groups, n_blocks, n_rows // n_blocks, width)
        # A column for each piece: OpenBLAS multiplies so three times faster than with a row for each.
        columns = x.T.reshape(n_groups, 1, width, len(x))
        scales = self.arrays[f"{name}.scale"].astype(np.float32)[:, :, None]
        result: Floats = np.empty((len(x), n_rows), dtype=np.float32)
        for start in range(0, len(x), _TOKENS):
            products = tiles @ np.ascontiguousarray(columns[..., start : start + _TOKENS])
            result[start : start + _TOKENS] = (products.reshape(n_groups, n_rows, -1) * scales).sum(axis=0).T
        result += self.arrays[f"{name}.bias"]
        return result

    def _normalize(self, name: str, x: Floats) -> Floats:
        centered = x - x.mean(axis=-1, keepdims=True)
        deviation = np.sqrt((centered**2).mean(axis=-1, keepdims=True) + np.float32(_EPSILON))
        result: Floats = centered / deviation * self.arrays[f"{name}.weight"] + self.arrays[f"{name}.bias"]
        return result


def _gelu(x: Floats) -> Floats:
    outer, inner = _GELU
    within: Floats = np.tanh(np.float32(outer) * x * (1 + np.float32(inner) * x * x)).astype(np.float32, copy=False)
    return x * (within + 1) * np.float32(0.5)


def pieces_of(text: str, find: Callable[[str], int]) -> list[int]:
    """Return the numbers of the pieces of a text, at most MAX_PIECES, as BERT takes words apart.

    `find` returns the number of a piece, -1 for one that the vocabulary lacks; pieces inside of words begin with "##".
    Words that have no pieces are left out.
    """
    plain = unicodedata.normalize("NFD", text.lower())
    result: list[int] = []
    for word in _PART.findall("".join(c for c in plain if unicodedata.category(c) != "Mn")):
        found: list[int] = []
        start = 0
        while start < len(word):
            mark = "##" if start else ""
            for end in range(min(len(word), start + _LONGEST_PIECE), start, -1):
                if (number := find(mark + word[start:end])) >= 0:
                    found.append(number)
                    start = end
                    break
            else:
                found.clear()
                break
        result += found
        if len(result) >= MAX_PIECES:
            break
    return result[:MAX_PIECES]


def pack(numbers: NDArray[np.int8]) -> NDArray[np.uint8]:
    """Return integers from -8 to 7, two in each byte; the low halves of all bytes of a row come first."""
    halves: NDArray[np.uint8] = (numbers.astype(np.int16) + 8).astype(np.uint8)
    width = halves.shape[-1] // 2
    return halves[..., :width] | (halves[..., width:] << np.uint8(4))


def unpack(packed: NDArray[np.uint8]) -> NDArray[np.int8]:
    """Return the integers that `pack` was given, shape (..., 2 * width) for (..., width)."""
    width = packed.shape[-1]
    result = np.empty((*packed.shape[:-1], 2 * width), dtype=np.int8)
    result[..., :width] = packed & 15
    result[..., width:] = packed >> 4
    result -= 8
    return result


def words_of(text: str) -> list[str]:
    """Return the stems of all words of a text, in their order."""
    return [stem(part) for word in _WORD.findall(text) for part in split_word(word)]


@lru_cache(maxsize=2)
def shipped_encoder(*, is_checked: bool = False) -> QuestionEncoder:
    """Return the encoder that comes with the program. Raises ModelFailed if its file is missing or damaged.

    Builds of an index check its digest. A question does not, because reading the whole file takes longer than an answer
    needs for the rest of it.
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
        pieces = StringTable(arrays.pop("pieces.blob"), arrays.pop("pieces.offsets"))
        return QuestionEncoder(header, stems, pieces, arrays.pop("rows"), arrays.pop("rows.scale"), arrays)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelFailed(f"{path} is damaged: its header cannot be read; reinstall causalist") from error


def nearest_stems(question: str, n: int, encoder: QuestionEncoder) -> list[str]:
    """Return the `n` stems of code whose vectors agree most with that of a question, best first."""
    vector = encode_once(question, encoder)
    if vector is None:
        return []
    products = (unpack(encoder.rows).astype(np.float32) @ vector.astype(np.float32)) * encoder.scales
    order = np.lexsort((np.arange(len(products)), -products))[:n]
    return [encoder.stems[int(row)] for row in order]


# The last questions with their vectors: the signal and its reasons want the same one.
_ENCODED: list[tuple[str, QuestionEncoder, NDArray[np.int16] | None]] = []


def without_unknown_names(question: str, lexical: LexicalIndex, encoder: QuestionEncoder) -> str:
    """Return a question without words that the encoder lacks and at least MIN_NAMED definitions have in their names.

    Such a word, `timesheet` in a program that keeps time, would be taken apart into pieces that mean something else. It
    finds by itself what it names. A question of which too few words are known stays as it is.
    """
    if not encoder.is_understood(question):
        return question
    names = lexical.symbol_names

    def is_left_out(word: str) -> bool:
        parts = split_word(word)
        number = lexical.terms.position(stem(parts[0])) if len(parts) == 1 else -1
        if number < 0 or encoder.stems.position(stem(parts[0])) >= 0:
            return False
        return int(names.indptr[number + 1] - names.indptr[number]) >= MIN_NAMED

    return _WORD.sub(lambda word: "" if is_left_out(word[0]) else word[0], question)


def encode_once(question: str, encoder: QuestionEncoder) -> NDArray[np.int16] | None:
    """Return the vector of a question, from a cache for the last ones; None for one that cannot be encoded."""
    for text, by, vector in _ENCODED:
        if text == question and by is encoder:
            return vector
    vector = encoder.encode(question)
    _ENCODED[:] = [(question, encoder, vector), *_ENCODED[: _MAX_CACHED_TABLES - 1]]
    return vector


def near_words(question: str, text: str, encoder: QuestionEncoder) -> list[str]:
    """Return the words of a text whose vectors are nearest to that of a question, the nearest first.

    They are N_NEAR_WORDS at most, with a cosine of MIN_NEAR_COSINE and more, and no words of syntax.
    """
    vector = encode_once(question, encoder)
    if vector is None:
        return []
    word_by_row: dict[int, str] = {}
    for word in _WORD.findall(text):
        for part in split_word(word):
            if len(part) < 3 or part.lower() in _WORDS_OF_SYNTAX:
                continue
            if (row := encoder.stems.position(stem(part))) >= 0:
                word_by_row.setdefault(row, part)
    if not word_by_row:
        return []
    rows = unpack(encoder.rows[list(word_by_row)]).astype(np.float64)
    lengths = np.sqrt((rows * rows).sum(axis=1) * float((vector.astype(np.float64) ** 2).sum()))
    cosines = np.round((rows * vector).sum(axis=1) / np.maximum(lengths, 1.0), 6)
    words = list(word_by_row.values())
    order = sorted(range(len(words)), key=lambda i: (-cosines[i], words[i]))[:N_NEAR_WORDS]
    return [words[i] for i in order if cosines[i] >= MIN_NEAR_COSINE]


def rows_of_terms(terms: StringTable, encoder: QuestionEncoder) -> NDArray[np.int64]:
    """Return the row of each term in the table of the encoder, -1 for a term that it lacks."""
    stem_hashes = _hashes(encoder.stems)
    order = np.argsort(stem_hashes)
    ordered = stem_hashes[order]
    hashes = _hashes(terms)
    at = np.minimum(np.searchsorted(ordered, hashes), len(ordered) - 1)
    result: NDArray[np.int64] = np.where(ordered[at] == hashes, order[at], -1)
    return result


@dataclass(frozen=True, slots=True)
class VocabularyVectors:
    """Vectors of those terms of a repository that the encoder knows.

    `numbers` are the terms, ascending. `integers`, int8 (n, width), times `scales` are their vectors.
    """

    numbers: NDArray[np.int64]
    integers: NDArray[np.int8]
    scales: Floats

    def products(self, vector: NDArray[Any]) -> Floats:
        """Return the products of all `integers` with a vector of integers: exact sums in any order of addition."""
        result: Floats = np.einsum("ij,j->i", self.integers.astype(np.float32), vector.astype(np.float32))
        return result


# Of the last indexes, as a server asks the same index again.
_RECENT: list[tuple[StringTable, QuestionEncoder, VocabularyVectors]] = []
_MAX_CACHED_TABLES = 4


def vectors_of_terms(terms: StringTable, encoder: QuestionEncoder) -> VocabularyVectors:
    """Return the vectors of the terms of a repository, from a cache for the last ones."""
    for table, by, vectors in _RECENT:
        if table is terms and by is encoder:
            return vectors
    rows = rows_of_terms(terms, encoder)
    numbers = np.flatnonzero(rows >= 0)
    vectors = VocabularyVectors(numbers, unpack(encoder.rows[rows[numbers]]), encoder.scales[rows[numbers]])
    _RECENT[:] = [(terms, encoder, vectors), *_RECENT[: _MAX_CACHED_TABLES - 1]]
    return vectors


def similar_terms(
    words: Sequence[str], terms: StringTable, encoder: QuestionEncoder
) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Return, for each word, (terms of a repository that mean about the same, cosines of their vectors with its own).

    Terms are at most N_SIMILAR numbers with a cosine of MIN_COSINE and more, the most similar first, without the word
    itself. A word that the encoder does not know has none.
    """
    vectors = vectors_of_terms(terms, encoder)
    rows = [encoder.stems.position(word) for word in words]
    known = unpack(encoder.rows[[max(row, 0) for row in rows]]).astype(np.float32)
    integers = vectors.integers.astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", integers, integers, dtype=np.float64))
    step = max(_SERIAL_PRODUCTS // max(known.size, 1), 1)
    blocks = [integers[start : start + step] @ known.T for start in range(0, len(integers), step)]
    products = np.concatenate([np.zeros((0, len(known)), dtype=np.float32), *blocks]).T.astype(np.float64)
    result = []
    for word, row, vector, product in zip(words, rows, known, products, strict=True):
        cosines = product / (lengths * np.sqrt(float(vector @ vector)))
        near = np.flatnonzero((cosines >= MIN_COSINE) & (vectors.numbers != terms.position(word)))
        if row < 0:
            near = near[:0]
        near = near[np.argsort(-cosines[near], kind="stable")][:N_SIMILAR]
        result.append((vectors.numbers[near], cosines[near]))
    return result


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
    table: NDArray[np.float64] = unpack(encoder.rows[used]).astype(np.float64) * encoder.scales[used, None]
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


def bag_cosines(
    question: NDArray[np.int16],
    terms: StringTable,
    entries: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]],
    encoder: QuestionEncoder,
) -> Scores:
    """Return the cosines of bags of words with the vector of a question, at least 0.

    `entries` are (bag, term, count), ordered by bag; the bags have the numbers from 0 on. Terms are added in their
    order.
    """
    bags, numbers, counts = entries
    rows = rows_of_terms(terms, encoder)
    table: NDArray[np.float64] = unpack(encoder.rows[np.maximum(rows, 0)]).astype(np.float64)
    table *= np.where(rows < 0, 0.0, encoder.scales[rows])[:, None]
    order = np.lexsort((numbers, bags))
    indptr = np.searchsorted(bags[order], np.arange(int(bags.max(initial=-1)) + 2)).astype(np.int32)
    vectors = np.empty((len(indptr) - 1, table.shape[1]))
    weights = _COUNT_WEIGHTS[np.minimum(counts[order], _MAX_COUNT)]
    csr_products(indptr, numbers[order].astype(np.int32), weights, table, vectors)
    asked = question.astype(np.float64)
    lengths = np.sqrt(np.add.reduce(vectors * vectors, axis=1) * float((asked * asked).sum()))
    cosines: Scores = np.round(_quotients(np.add.reduce(vectors * asked, axis=1), lengths), 6)
    return np.maximum(cosines, 0.0)


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
    """Return the similarity of each node to the vector of a question, plus FILE_SHARE of the cosine of its file.

    A similarity is a cosine in which NORM_OFFSET is added to the norm of the node. The result is 0 where it is not
    positive, and where a node has no norm: in a part of an index, files that are not parsed have few of their words.
    `files` are the file nodes of all nodes. Raises ModelFailed.
    """
    if not len(lexical.bag_norms):
        raise ModelFailed(
            "the index was built without the question encoder; delete the folder .causalist to build it again"
        )
    vectors = vectors_of_terms(lexical.terms, encoder)
    has_vector = vectors.numbers
    products = vectors.products(question).astype(np.float64) * vectors.scales
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
    own = _quotients(sums, np.where(lexical.bag_norms > 0, lexical.bag_norms + NORM_OFFSET, 0.0) * norm)
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
