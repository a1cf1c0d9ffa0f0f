"""Observed calls beside the index: complete, or as they were before.

`observed.jsonl` has two lines: the format and the CRC-32 of the second one, and a JSON document. It is written under
another name and renamed over the old file, under a lock. The index does not depend on it.

Each call keeps the hashes of both definitions as they were when it was seen, so that one whose definition changed since
is known to be stale. Calls of the graph that a caller never made while it ran are kept with count 0: they existed then.
"""

import hashlib
import json
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from causalist.errors import IndexNotWritable
from causalist.index.source_text import SourceText
from causalist.model.graph import CodeGraph, EdgeKind
from causalist.model.index import Index
from causalist.model.lookup import ObservedRun
from causalist.model.symbols import CALLABLE_KINDS, split_id
from causalist.observe.likeness import likely_calls
from causalist.observe.runs import ObservedCalls, RunFolder, abandoned_runs, delete_run, read_run
from causalist.store import OBSERVED_LOCK, OBSERVED_NAME, hold_lock, prepare_folder
from causalist.store.cache_dir import replace_file

FORMAT_VERSION = 1
MAX_RUNS = 200  # that are remembered by their command
_PATIENCE_SECONDS = 60.0
_MAX_BYTES = 512 << 20
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Version(NamedTuple):
    """A definition as it was: its id and the hash of its text."""

    id: str
    hash: str


class CallCount(NamedTuple):
    """Calls of one version of a definition by another, 0 for one that the graph has and nobody made.

    `n_through` counts those by way of code from elsewhere. `row` is the 0-based row of one, -1 if unknown. `run` is the
    position of the last run that saw one, or that saw none.
    """

    source: Version
    target: Version
    n: int
    n_through: int
    row: int
    run: int


class LikelyCall(NamedTuple):
    """A call that no run saw, with the probability that one version of a definition makes it of another."""

    source: Version
    target: Version
    probability: float


@dataclass(slots=True)
class ObservedStore:
    """Calls that runs saw. Definitions in `calls`, `n_runs` and `tests` are known by id; later versions replace."""

    runs: list[ObservedRun] = field(default_factory=list)
    blobs: dict[Version, str] = field(default_factory=dict)  # the file in which a version was seen
    n_runs: dict[str, tuple[Version, int]] = field(default_factory=dict)  # starts of callables
    calls: dict[tuple[str, str], CallCount] = field(default_factory=dict)
    tests: dict[str, tuple[Version, tuple[Version, ...]]] = field(default_factory=dict)  # what ran in each
    likely: list[LikelyCall] = field(default_factory=list)  # by source and target


class Freshness:
    """Hashes of definitions as they are now. `texts` reads the files of the index."""

    def __init__(self, index: Index, texts: SourceText) -> None:
        self._index = index
        self._texts = texts
        self._hashes: dict[str, str] = {}
        self._data: dict[str, bytes] = {}
        self._blobs = dict(zip(index.manifest.paths, index.manifest.blobs, strict=True))

    def is_current(self, version: Version, blob: str) -> bool:
        """Return True if a definition is as it was: its file is the same, or else its own text."""
        path = split_id(version.id)[0]
        if blob and self._blobs.get(path) == blob:
            return True
        return bool(version.hash) and self.hash_of(version.id) == version.hash

    def blob_of(self, node_id: str) -> str:
        """Return the name of the content of a definition's file, "" for none."""
        return self._blobs.get(split_id(node_id)[0], "")

    def hash_of(self, node_id: str) -> str:
        """Return the hash of the text of a definition with line feeds only, "" if there is none."""
        if node_id not in self._hashes:
            text = self.text_of(node_id).replace(b"\r\n", b"\n")
            self._hashes[node_id] = hashlib.sha256(text).hexdigest()[:16] if text else ""
        return self._hashes[node_id]

    def version_of(self, node_id: str) -> Version:
        """Return a definition as it is now."""
        return Version(node_id, self.hash_of(node_id))

    def text_of(self, node_id: str) -> bytes:
        """Return the text of a definition, all of a file; b"" if there is none or the file changed since."""
        nodes = self._index.graph.nodes
        node, path = nodes.ids.position(node_id), split_id(node_id)[0]
        if node < 0 or path not in self._blobs:
            return b""
        if path not in self._data:
            self._data[path] = self._texts.read_bytes(path)
        data = self._data[path]
        return data if nodes.files[node] == node else data[int(nodes.start_bytes[node]) : int(nodes.end_bytes[node])]


def take_up_runs(folder: Path, index: Index, texts: SourceText) -> tuple[ObservedRun, ...]:
    """Put the ended runs below the folder of an index into its store and delete them; return them.

    A run that ends between the two is not counted twice. Raises IndexNotWritable; then all is as it was.
    """
    with _hold(folder):
        waiting = abandoned_runs(folder)
        if not waiting:
            return ()
        store = read_store((folder,)) or ObservedStore()
        done = {run.name for run in store.runs}
        freshness = Freshness(index, texts)
        taken = []
        for run in waiting:
            if run.folder.name not in done:
                add_run(store, run, read_run(run, index), index, freshness)
                taken.append(store.runs[-1])
        if taken:
            add_likely_calls(store, index.graph, freshness)
            replace_file(folder / OBSERVED_NAME, _encode(store))
        for run in waiting:
            delete_run(run)
    return tuple(taken)


def forget(folder: Path) -> bool:
    """Delete what was observed; return True if there was anything. Raises IndexNotWritable."""
    with _hold(folder):
        waiting, path = abandoned_runs(folder), folder / OBSERVED_NAME
        for run in waiting:
            delete_run(run)
        try:
            path.unlink()
        except FileNotFoundError:
            return bool(waiting)
        except OSError as error:
            raise IndexNotWritable(f"cannot remove {path}: {error.strerror or error}") from error
    return True


@contextmanager
def _hold(folder: Path) -> Iterator[None]:
    prepare_folder(folder)
    busy = f"another process has been writing {OBSERVED_NAME} in {folder}; try again"
    with hold_lock(folder / OBSERVED_LOCK, _PATIENCE_SECONDS, busy):
        yield


def add_run(store: ObservedStore, run: RunFolder, seen: ObservedCalls, index: Index, freshness: Freshness) -> None:
    """Add the calls of a run to the store."""
    ids, number = index.graph.nodes.ids, len(store.runs)
    store.runs.append(ObservedRun(run.folder.name, run.command, run.time, seen.n_processes))

    def version(node: int) -> Version:
        found = freshness.version_of(ids[node])
        store.blobs[found] = freshness.blob_of(ids[node])
        return found

    for node, n in sorted(seen.n_runs.items()):
        own = version(node)
        before, n_before = store.n_runs.get(own.id, (own, 0))
        store.n_runs[own.id] = own, n + (n_before if before == own else 0)
    pairs = sorted(seen.direct.keys() | seen.through.keys())
    for source, target in [*pairs, *sorted(_calls_not_made(index.graph, seen, freshness))]:
        pair = source, target
        n, n_through = seen.direct.get(pair, 0), seen.through.get(pair, 0)
        added = CallCount(version(source), version(target), n, n_through, seen.rows.get(pair, -1), number)
        known = store.calls.get((ids[source], ids[target]))
        if known is not None and known[:2] == added[:2]:
            if not n + n_through and known.n + known.n_through:
                continue  # seen before
            added = added._replace(
                n=n + known.n, n_through=n_through + known.n_through, row=added.row if added.row >= 0 else known.row
            )
        store.calls[ids[source], ids[target]] = added
    for test, ran in sorted(seen.tests.items()):
        own = version(test)
        versions = {version(node) for node in sorted(ran)}
        known_test = store.tests.get(own.id)
        if known_test is not None and known_test[0] == own:
            changed = {each.id for each in versions}
            versions |= {each for each in known_test[1] if each.id not in changed}
        store.tests[own.id] = own, tuple(sorted(versions))


def add_likely_calls(store: ObservedStore, graph: CodeGraph, freshness: Freshness) -> None:
    """Replace the likely calls of the store by those that follow from what it has of definitions as they are now."""
    ids = graph.nodes.ids

    def is_as_it_was(version: Version) -> bool:
        return ids.position(version.id) >= 0 and freshness.is_current(version, store.blobs.get(version, ""))

    current = [call for call in store.calls.values() if is_as_it_was(call.source) and is_as_it_was(call.target)]
    seen = {(ids.position(call.source.id), ids.position(call.target.id)) for call in current if call.n}
    ran = {ids.position(version.id) for version, _ in store.n_runs.values() if is_as_it_was(version)}
    ran |= {ids.position(call.target.id) for call in current if call.n_through and "::" not in call.target.id}
    likely = likely_calls(graph, lambda node: freshness.text_of(ids[node]), seen, ran)
    store.likely = [
        LikelyCall(freshness.version_of(ids[source]), freshness.version_of(ids[target]), probability)
        for (source, target), probability in sorted(likely.items())
    ]
    for call in store.likely:
        for version in call[:2]:
            store.blobs[version] = freshness.blob_of(version.id)


def _calls_not_made(graph: CodeGraph, seen: ObservedCalls, freshness: Freshness) -> set[tuple[int, int]]:
    """Return the calls of functions that the graph has for a function that ran, and that were not seen.

    Those that would not be seen as calls of their caller are left out: what is decorated may run below its wrapper, and
    the body of a generator or coroutine where that is iterated over.
    """
    edges, kinds = graph.edges, graph.nodes.kinds
    numbers = graph.edges_out_of(np.array(sorted(seen.n_runs), dtype=np.int64))
    is_call = (edges.kinds[numbers] == EdgeKind.CALLS) & np.isin(kinds[edges.targets[numbers]], sorted(CALLABLE_KINDS))
    numbers = numbers[is_call]
    found = set(zip(edges.sources[numbers].tolist(), edges.targets[numbers].tolist(), strict=True))
    found -= seen.direct.keys() | seen.through.keys()
    texts = {target: freshness.text_of(graph.nodes.ids[target]).lstrip() for _, target in found}
    aside = {target for target, text in texts.items() if text.startswith((b"@", b"async ")) or b"yield" in text}
    return {pair for pair in found if pair[1] not in aside}


def read_store(folders: Sequence[Path]) -> ObservedStore | None:
    """Return what is kept in the first of the folders that has something; None if none has, or it is damaged."""
    for folder in folders:
        with suppress(OSError):
            descriptor = os.open(folder / OBSERVED_NAME, _OPEN_FLAGS)
            with os.fdopen(descriptor, "rb") as file:
                head, _, body = file.read(_MAX_BYTES).partition(b"\n")
            with suppress(ValueError, KeyError, TypeError, IndexError, RecursionError):
                about = json.loads(head)
                if about["format"] == FORMAT_VERSION and about["checksum"] == zlib.crc32(body):
                    return _decode(json.loads(body))
            return None
    return None


def _encode(store: ObservedStore) -> bytes:
    used = {store.runs[call.run] for call in store.calls.values()}
    kept = [run for i, run in enumerate(store.runs) if run in used or i >= len(store.runs) - MAX_RUNS]
    places = {run: i for i, run in enumerate(kept)}
    blobs = {blob: i for i, blob in enumerate(sorted(set(store.blobs.values())))}
    named = {each for call in store.calls.values() for each in call[:2]}
    named |= {version for version, _ in store.n_runs.values()}
    named |= {each for test, ran in store.tests.values() for each in (test, *ran)}
    named |= {each for call in store.likely for each in call[:2]}
    versions = {version: i for i, version in enumerate(sorted(named))}
    document: dict[str, Any] = {
        "runs": kept,
        "blobs": list(blobs),
        "definitions": [[*version, blobs.get(store.blobs.get(version, ""), -1)] for version in versions],
        "n_runs": sorted([versions[version], n] for version, n in store.n_runs.values()),
        "calls": sorted(
            [
                versions[call.source],
                versions[call.target],
                call.n,
                call.n_through,
                call.row,
                places[store.runs[call.run]],
            ]
            for call in store.calls.values()
        ),
        "tests": sorted([versions[test], [versions[each] for each in ran]] for test, ran in store.tests.values()),
        "likely": sorted([versions[call.source], versions[call.target], call.probability] for call in store.likely),
    }
    body = json.dumps(document, separators=(",", ":")).encode("ascii") + b"\n"
    return json.dumps({"format": FORMAT_VERSION, "checksum": zlib.crc32(body)}).encode("ascii") + b"\n" + body


def _decode(document: Any) -> ObservedStore:
    store, blobs = ObservedStore(), document["blobs"]
    store.runs = [
        ObservedRun(str(name), str(command), int(time), int(n)) for name, command, time, n in document["runs"]
    ]
    versions = [Version(str(each[0]), str(each[1])) for each in document["definitions"]]
    store.blobs = {
        version: str(blobs[each[2]]) if each[2] >= 0 else ""
        for version, each in zip(versions, document["definitions"], strict=True)
    }
    store.n_runs = {versions[number].id: (versions[number], int(n)) for number, n in document["n_runs"]}
    for source, target, n, n_through, row, run in document["calls"]:
        call = CallCount(versions[source], versions[target], int(n), int(n_through), int(row), int(run))
        store.runs[call.run]
        store.calls[call.source.id, call.target.id] = call
    store.tests = {
        versions[test].id: (versions[test], tuple(versions[each] for each in ran)) for test, ran in document["tests"]
    }
    store.likely = [
        LikelyCall(versions[source], versions[target], float(probability))
        for source, target, probability in document.get("likely", ())
    ]
    return store
