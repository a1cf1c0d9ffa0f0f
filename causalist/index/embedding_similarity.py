"""Similarity of a query to definitions and passages, by an embedder.

Vectors are stored next to the index, each under a hash of its text: after an edit only definitions with another text
are embedded again. An embedder gets the text as people do, with secrets masked.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from causalist.embed import DIGEST, VectorFile, embed_texts, get_embedder, read_vectors, vector_file_name, write_vectors
from causalist.errors import DeadlinePassed, IndexNotWritable
from causalist.index.options import Progress, Read, ignore_progress
from causalist.index.source_text import SourceText
from causalist.model.index import Index
from causalist.model.node_ids import NodeKind, Role, split_id
from causalist.model.protocols import NO_STEPS, Embedder, Steps
from causalist.model.scores import Scores

# Raised when the texts of the same definitions become others.
_TEXT_VERSION = 1
# Characters of a text that are embed_texts: what is more, most models cut off.
MAX_TEXT_CHARACTERS = 2_000
_BATCH = 256  # texts that are embed_texts, and then kept whatever happens to the next ones
_BLOCK = 4096  # rows of which cosines are taken at once
_SKIPPED_KINDS = (NodeKind.FILE, NodeKind.FIELD, NodeKind.ENTITY, NodeKind.EXTERNAL)
_SKIPPED_ROLES = (Role.GENERATED, Role.VENDORED)


def defer_similarities(
    question: str,
    embedder: str,
    index: Index,
    read: Read,
    folders: tuple[Path, ...],
    progress: Progress = ignore_progress,
    steps: Steps = NO_STEPS,
) -> Callable[[], Scores]:
    """Return a function that computes the similarities of a query to all nodes."""

    def find_similar() -> Scores:
        vectors = IndexVectors(index, SourceText(index.manifest, read), get_embedder(embedder), folders)
        return vectors.similarities(question, progress, steps.in_time)

    return find_similar


def update_vectors(
    embedder: str, index: Index, read: Read, folders: tuple[Path, ...], progress: Progress = ignore_progress
) -> int:
    """Embed definitions and passages without a vector; return the number that have one.

    Raises ModelFailed, ExtraMissing and UsageError.
    """
    vectors = IndexVectors(index, SourceText(index.manifest, read), get_embedder(embedder), folders)
    return int(np.count_nonzero(vectors.current(progress).rows >= 0))


def _always_continue() -> bool:
    return True


@dataclass(frozen=True)
class IndexVectors:
    """Vectors of an index by one embedder. `folders` are those of the index, the preferred one first."""

    index: Index
    texts: SourceText
    embedder: Embedder
    folders: tuple[Path, ...] = ()

    def similarities(
        self, question: str, progress: Progress = ignore_progress, go_on: Callable[[], bool] = _always_continue
    ) -> Scores:
        """Return the cosine of each definition and passage with the query, 0 if it is negative.

        Raises ModelFailed, and DeadlinePassed if `go_on` returns False. Vectors computed until then are stored.
        """
        stored = self.current(progress, go_on)
        result = np.zeros(len(self.index.graph.nodes))
        has = stored.rows >= 0
        if not has.any():
            return result
        (asked,) = embed_texts(self.embedder, [question[:MAX_TEXT_CHARACTERS]], stored.matrix.shape[1])
        cosines = _compute_cosines(stored.matrix[: stored.n_live], asked)
        # A repeated run may differ in the last bits; what is compared may not.
        result[self._nodes[has]] = np.round(np.maximum(cosines[stored.rows[has]], 0.0), 6)
        return result

    def current(self, progress: Progress = ignore_progress, go_on: Callable[[], bool] = _always_continue) -> VectorFile:
        """Return vectors of the current index; missing ones are embedded and stored.

        Raises ModelFailed and DeadlinePassed; vectors computed until then are stored.
        """
        name = vector_file_name(self.embedder.name)
        vector_files = [read_vectors(folder / name, self.embedder.name) for folder in self.folders]
        for stored in vector_files:
            if stored is not None and stored.stamp == self._stamp and len(stored.rows) == len(self._nodes):
                return stored
        before = next((stored for stored in vector_files if stored is not None), None)
        filled = _VectorTable(before)
        places = [self._place(node) for node in self._nodes.tolist()]
        digests = dict(filled.texts_of(places))
        try:
            self._embed(places, digests, filled, progress, go_on)
        except BaseException:
            if filled.n_new:
                self._store(name, filled.to_file(self.embedder.name, "", places, digests))
            raise
        result = filled.to_file(self.embedder.name, self._stamp, places, digests)
        self._store(name, result)
        return result

    def _embed(
        self,
        places: Sequence[bytes],
        digests: dict[bytes, bytes],
        filled: "_VectorTable",
        progress: Progress,
        go_on: Callable[[], bool],
    ) -> None:
        unknown = [i for i, place in enumerate(places) if place not in digests]
        waiting: dict[bytes, str] = {}
        done = 0

        def flush() -> None:
            nonlocal done
            if not go_on():
                raise DeadlinePassed(f"{len(unknown) - done} of {len(places)} definitions have no vector yet")
            if waiting:
                filled.add(list(waiting), embed_texts(self.embedder, list(waiting.values()), filled.dimensions))
                done += len(waiting)
                waiting.clear()
            progress("embedding", min(done, len(unknown)), len(unknown))

        for i, text in self._texts_of(unknown):
            digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST).digest()
            digests[places[i]] = digest
            if digest not in filled and digest not in waiting:
                waiting[digest] = text
                if len(waiting) == _BATCH:
                    flush()
        flush()

    def _texts_of(self, numbers: Sequence[int]) -> Iterator[tuple[int, str]]:
        """Yield (number, text) of nodes, reading each file once.

        Nodes of a file must be adjacent. Files that changed since they were indexed yield nothing.
        """
        nodes = self.index.graph.nodes
        last, data = -1, b""
        for i in numbers:
            node = int(self._nodes[i])
            path = self._paths[int(nodes.files[node])]
            if nodes.files[node] != last:
                last, data = int(nodes.files[node]), self.texts.read_bytes(path)
            if data:
                start, end = int(nodes.start_bytes[node]), int(nodes.end_bytes[node])
                body = data[start : min(end, start + 4 * MAX_TEXT_CHARACTERS)].decode("utf-8", "replace")
                symbol = split_id(nodes.ids[node])[1] or ""
                yield i, f"{path} {symbol}\n{body}"[:MAX_TEXT_CHARACTERS]

    def _place(self, node: int) -> bytes:
        """Return the key of a span of file content.

        Another file with the same content and name has the same key.
        """
        nodes = self.index.graph.nodes
        blob = self._blobs.get(self._paths[int(nodes.files[node])], "")
        identity = f"{blob} {int(nodes.start_bytes[node])} {int(nodes.end_bytes[node])} {nodes.ids[node]}"
        key = str(_TEXT_VERSION).encode()
        return hashlib.blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=DIGEST, key=key).digest()

    @cached_property
    def _nodes(self) -> NDArray[np.int64]:
        """Nodes that have vectors, by id, so that those of a file are adjacent."""
        nodes = self.index.graph.nodes
        kept = (nodes.files >= 0) & ~np.isin(nodes.kinds, _SKIPPED_KINDS) & ~np.isin(nodes.roles, _SKIPPED_ROLES)
        return np.flatnonzero(kept)

    @cached_property
    def _paths(self) -> Mapping[int, str]:
        nodes = self.index.graph.nodes
        return {int(n): split_id(nodes.ids[int(n)])[0] for n in np.flatnonzero(nodes.kinds == NodeKind.FILE)}

    @cached_property
    def _blobs(self) -> Mapping[str, str]:
        manifest = self.index.manifest
        return dict(zip(manifest.paths, manifest.blobs, strict=True))

    @cached_property
    def _stamp(self) -> str:
        digest = hashlib.sha256(f"{_TEXT_VERSION} {self.index.version}".encode())
        for table in (self.index.manifest.paths, self.index.manifest.blobs):
            digest.update(table.blob.tobytes())
        return digest.hexdigest()[:32]

    def _store(self, name: str, stored: VectorFile) -> None:
        """Write the vectors next to the index, or nowhere if no folder is writable."""
        for folder in self.folders:
            if folder.is_dir() and not folder.is_symlink():
                with suppress(IndexNotWritable):
                    write_vectors(folder / name, stored)
                    return


class _VectorTable:
    """Vectors by text digest: those that are stored and new ones."""

    def __init__(self, before: VectorFile | None) -> None:
        self._before = before
        self._known = {} if before is None else {text.tobytes(): row for row, text in enumerate(before.texts)}
        self._new: dict[bytes, NDArray[np.float16]] = {}

    def __contains__(self, text: bytes) -> bool:
        return text in self._known or text in self._new

    @property
    def n_new(self) -> int:
        return len(self._new)

    @property
    def dimensions(self) -> int | None:
        if self._before is not None and len(self._before.matrix):
            return int(self._before.matrix.shape[1])
        return next((len(row) for row in self._new.values()), None)

    def texts_of(self, places: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Yield (place, text digest) of places whose text is known without reading it and has a vector."""
        if self._before is None:
            return
        row_of = {p.tobytes(): int(r) for p, r in zip(self._before.places, self._before.rows, strict=True) if r >= 0}
        for place in places:
            if place in row_of:
                yield place, self._before.texts[row_of[place]].tobytes()

    def add(self, texts: Sequence[bytes], rows: NDArray[np.float32]) -> None:
        self._new.update(zip(texts, rows.astype(np.float16), strict=True))

    def to_file(self, embedder: str, stamp: str, places: Sequence[bytes], digests: Mapping[bytes, bytes]) -> VectorFile:
        """Return all vectors in stored form: live ones by text, then recent ones.

        There are at most as many recent ones as live ones; they help when a branch is checked out again.
        """
        live = sorted({text for text in digests.values() if text in self})
        there = set(live)
        others = [text for text in (*self._new, *self._known) if text not in there][: len(live)]
        texts = [*live, *others]
        row_of = {text: row for row, text in enumerate(live)}
        n = self.dimensions or 1
        matrix = np.stack([self._row(text) for text in texts]) if texts else np.zeros((0, n), dtype=np.float16)
        rows = [row_of.get(digests.get(place, b""), -1) for place in places]
        return VectorFile(
            embedder,
            stamp,
            len(live),
            np.frombuffer(b"".join(places), dtype=np.uint8).reshape(-1, DIGEST),
            np.array(rows, dtype=np.int32),
            np.frombuffer(b"".join(texts), dtype=np.uint8).reshape(-1, DIGEST),
            matrix,
        )

    def _row(self, text: bytes) -> NDArray[np.float16]:
        if text in self._new or self._before is None:
            return self._new[text]
        row: NDArray[np.float16] = self._before.matrix[self._known[text]]
        return row


def _compute_cosines(matrix: NDArray[np.float16], vector: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the cosines of unit rows with a unit vector, shape (n,).

    Computed row by row: sums of a BLAS depend on the number of rows.
    """
    cosines = np.empty(len(matrix))
    for start in range(0, len(matrix), _BLOCK):
        block = matrix[start : start + _BLOCK].astype(np.float32)
        cosines[start : start + _BLOCK] = np.add.reduce(block * vector, axis=1)
    return cosines
