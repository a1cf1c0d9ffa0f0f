"""An index and an embedder -> how near each definition and passage is to a question.

The vectors lie beside the index, each under a hash of the text that it was made from: after an edit only definitions
whose own text changed are embedded again. Texts are shown to an embedder as they are to people, with secrets masked.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from causalist.embed import Stored, embedded, embedder_called, read_vectors, vectors_name, write_vectors
from causalist.embed.vector_file import DIGEST
from causalist.errors import DeadlinePassed, IndexNotWritable
from causalist.index.options import Progress, Read, silent
from causalist.index.source_text import Texts
from causalist.model.index import Index
from causalist.model.protocols import UNWATCHED, Embedder, Steps
from causalist.model.symbols import NodeKind, Role, split_id

Scores = NDArray[np.float64]  # (n_nodes,), indexed by NodeIndex

# Raised when the texts of the same definitions become others.
_TEXT_VERSION = 1
# Characters of a text that are embedded: what is more, most models cut off.
LONGEST_TEXT = 2_000
_BATCH = 256  # texts that are embedded, and then kept whatever happens to the next ones
_BLOCK = 4096  # rows of which cosines are taken at once
_SKIPPED_KINDS = (NodeKind.FILE, NodeKind.FIELD, NodeKind.ENTITY, NodeKind.EXTERNAL)
_SKIPPED_ROLES = (Role.GENERATED, Role.VENDORED)


def similarities_to(
    question: str,
    embedder: str,
    index: Index,
    read: Read,
    folders: tuple[Path, ...],
    progress: Progress = silent,
    steps: Steps = UNWATCHED,
) -> Callable[[], Scores]:
    """What `Vectors.similarities` says of a question by the embedder of that name, once it is asked for."""

    def found() -> Scores:
        vectors = Vectors(index, Texts(index.manifest, read), embedder_called(embedder), folders)
        return vectors.similarities(question, progress, steps.in_time)

    return found


def brought_up_to_date(
    embedder: str, index: Index, read: Read, folders: tuple[Path, ...], progress: Progress = silent
) -> int:
    """How many definitions and passages have a vector, after those that had none were embedded. Raises ModelFailed,
    ExtraMissing and UsageError."""
    vectors = Vectors(index, Texts(index.manifest, read), embedder_called(embedder), folders)
    return int(np.count_nonzero(vectors.current(progress).rows >= 0))


def _always() -> bool:
    return True


@dataclass(frozen=True)
class Vectors:
    """Those of an index by one embedder. `folders`: where the index may be stored, the preferred one first."""

    index: Index
    texts: Texts
    embedder: Embedder
    folders: tuple[Path, ...] = ()

    def similarities(self, question: str, progress: Progress = silent, go_on: Callable[[], bool] = _always) -> Scores:
        """The cosine of each definition and passage with the question, 0 where it is negative. Raises ModelFailed,
        and DeadlinePassed where `go_on` says no; what was embedded until then is kept."""
        stored = self.current(progress, go_on)
        result = np.zeros(len(self.index.graph.nodes))
        has = stored.rows >= 0
        if not has.any():
            return result
        (asked,) = embedded(self.embedder, [question[:LONGEST_TEXT]], stored.matrix.shape[1])
        cosines = _cosines(stored.matrix[: stored.n_live], asked)
        # A repeated run may differ in the last bits; what is compared may not.
        result[self._nodes[has]] = np.round(np.maximum(cosines[stored.rows[has]], 0.0), 6)
        return result

    def current(self, progress: Progress = silent, go_on: Callable[[], bool] = _always) -> Stored:
        """The vectors of the index as it is; what is missing is embedded and stored. Raises ModelFailed and
        DeadlinePassed; what was embedded until then is stored."""
        name = vectors_name(self.embedder.name)
        known = [read_vectors(folder / name, self.embedder.name) for folder in self.folders]
        for stored in known:
            if stored is not None and stored.stamp == self._stamp and len(stored.rows) == len(self._nodes):
                return stored
        before = next((stored for stored in known if stored is not None), None)
        filled = _Filled(before)
        places = [self._place(node) for node in self._nodes.tolist()]
        digests = dict(filled.texts_of(places))
        try:
            self._embed(places, digests, filled, progress, go_on)
        except BaseException:
            if filled.n_new:
                self._store(name, filled.stored(self.embedder.name, "", places, digests))
            raise
        result = filled.stored(self.embedder.name, self._stamp, places, digests)
        self._store(name, result)
        return result

    def _embed(
        self,
        places: Sequence[bytes],
        digests: dict[bytes, bytes],
        filled: "_Filled",
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
                filled.add(list(waiting), embedded(self.embedder, list(waiting.values()), filled.dimensions))
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
        """(number, text) of nodes, each file read once; nodes of a file stand together. Nothing of a file that changed
        since it was indexed."""
        nodes = self.index.graph.nodes
        last, data = -1, b""
        for i in numbers:
            node = int(self._nodes[i])
            path = self._paths[int(nodes.files[node])]
            if nodes.files[node] != last:
                last, data = int(nodes.files[node]), self.texts.content(path)
            if data:
                start, end = int(nodes.start_bytes[node]), int(nodes.end_bytes[node])
                body = data[start : min(end, start + 4 * LONGEST_TEXT)].decode("utf-8", "replace")
                said = split_id(nodes.ids[node])[1] or ""
                yield i, f"{path} {said}\n{body}"[:LONGEST_TEXT]

    def _place(self, node: int) -> bytes:
        """What names a stretch of a file's content: another file of the same content has the same, if it is called
        alike."""
        nodes = self.index.graph.nodes
        blob = self._blobs.get(self._paths[int(nodes.files[node])], "")
        said = f"{blob} {int(nodes.start_bytes[node])} {int(nodes.end_bytes[node])} {nodes.ids[node]}"
        key = str(_TEXT_VERSION).encode()
        return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=DIGEST, key=key).digest()

    @cached_property
    def _nodes(self) -> NDArray[np.int64]:
        """The nodes that have vectors, by id, which puts those of a file together."""
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

    def _store(self, name: str, stored: Stored) -> None:
        """Where the index is; nowhere, if nothing can be written there: then it is done again."""
        for folder in self.folders:
            if folder.is_dir() and not folder.is_symlink():
                with suppress(IndexNotWritable):
                    write_vectors(folder / name, stored)
                    return


class _Filled:
    """Vectors by the text that they were made from: those that are known, and those that come in."""

    def __init__(self, before: Stored | None) -> None:
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
        """(place, text) of those places whose text is known without reading it, and has a vector."""
        if self._before is None:
            return
        row_of = {p.tobytes(): int(r) for p, r in zip(self._before.places, self._before.rows, strict=True) if r >= 0}
        for place in places:
            if place in row_of:
                yield place, self._before.texts[row_of[place]].tobytes()

    def add(self, texts: Sequence[bytes], rows: NDArray[np.float32]) -> None:
        self._new.update(zip(texts, rows.astype(np.float16), strict=True))

    def stored(self, embedder: str, stamp: str, places: Sequence[bytes], digests: Mapping[bytes, bytes]) -> Stored:
        """Everything as it is stored: what is there now, by text, and behind it what was there lately, no more of it
        than of the former: a branch that is left is often come back to."""
        live = sorted({text for text in digests.values() if text in self})
        there = set(live)
        others = [text for text in (*self._new, *self._known) if text not in there][: len(live)]
        texts = [*live, *others]
        row_of = {text: row for row, text in enumerate(live)}
        n = self.dimensions or 1
        matrix = np.stack([self._row(text) for text in texts]) if texts else np.zeros((0, n), dtype=np.float16)
        rows = [row_of.get(digests.get(place, b""), -1) for place in places]
        return Stored(
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


def _cosines(matrix: NDArray[np.float16], vector: NDArray[np.float32]) -> NDArray[np.float64]:
    """Of rows of norm 1 with a vector of norm 1, shape (n,). Row by row: the sums of a BLAS depend on how many rows
    there are."""
    found = np.empty(len(matrix))
    for start in range(0, len(matrix), _BLOCK):
        block = matrix[start : start + _BLOCK].astype(np.float32)
        found[start : start + _BLOCK] = np.add.reduce(block * vector, axis=1)
    return found
