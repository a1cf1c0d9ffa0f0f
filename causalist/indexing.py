"""Files -> facts -> index: the half of the pipeline that runs before any question.

A file whose metadata has not changed is not read, a content that was parsed before is not parsed again. The index is
a function of paths, facts and weights; nothing in it depends on the order, the process or the time in which they came.
"""

import hashlib
import multiprocessing
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from causalist.errors import NothingToIndex
from causalist.graph import build_graph
from causalist.model.facts import FileFacts
from causalist.model.index import FileNote, Index, Manifest
from causalist.model.source import FileEntry, Scan, SourceFile
from causalist.model.strings import StringTable
from causalist.parse import (
    dialect_of,
    grammar_version,
    load_grammar,
    load_settings,
    parse_source,
    parse_text,
    prose_kind,
)
from causalist.rank import WalkWeights, build_lexical, build_transition
from causalist.store import FactsCache, facts_from_bytes, facts_to_bytes

# Raised when parsing, linking or the lexical index change what they give for the same bytes.
PARSER_VERSION = 1
INDEX_VERSION = 1

Read = Callable[[FileEntry], SourceFile | str]

# Below this many bytes to parse, starting processes costs more than it saves.
_WORTH_PROCESSES = 1_500_000
_CHUNK_BYTES = 400_000
# A file written this shortly before it was looked at may change again without a new time stamp.
_RACY_NS = 2_000_000_000


class Progress(Protocol):
    """Told what is being done and how far it is; `total` is 0 where it is not known."""

    def __call__(self, what: str, done: int, total: int) -> None: ...


def _silent(what: str, done: int, total: int) -> None:
    return None


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """`processes`: how many parse at once; None: as many as there are processors that this process may use."""

    processes: int | None = None
    progress: Progress = _silent


def reader_of(path: str) -> str:
    """What reads the file: dialect and grammar version, or the kind of prose. Part of the key of cached facts."""
    dialect = dialect_of(path)
    if dialect:
        return f"{PARSER_VERSION}:{dialect}:{grammar_version(dialect)}"
    kind = prose_kind(path)
    # What a manifest says depends on its name: the same text is read otherwise as package.json and as tsconfig.json.
    name = path.lower().rpartition("/")[2] if kind == "manifest" else ""
    return f"{PARSER_VERSION}:text:{kind}:{name}"


def index_version() -> str:
    """Names everything but the files that an index depends on; another version is built again."""
    parts = [f"{INDEX_VERSION}:{PARSER_VERSION}"]
    parts += [f"{dialect}:{grammar_version(dialect)}" for dialect in sorted(load_settings())]
    parts.append(repr(WalkWeights()))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def known_blobs(entries: Sequence[FileEntry], previous: Index | None) -> dict[str, str]:
    """Paths whose content is known without reading them: the entry says it, or size and time are as they were."""
    known = {entry.path: entry.blob for entry in entries if entry.blob is not None}
    if previous is None:
        return known
    manifest = previous.manifest
    sizes, mtimes = manifest.sizes.tolist(), manifest.mtimes.tolist()
    before = {path: i for i, path in enumerate(manifest.paths)}
    for entry in entries:
        i = before.get(entry.path)
        if (
            i is not None
            and sizes[i] == entry.size
            and mtimes[i] == entry.mtime_ns
            and entry.mtime_ns < previous.scanned_at - _RACY_NS
        ):
            known[entry.path] = manifest.blobs[i]
    return known


def is_current(scan: Scan, index: Index) -> bool:
    """Whether an index holds just the files of a scan, as far as their metadata tells."""
    manifest = index.manifest
    if index.commit != scan.commit or index.version != index_version():
        return False
    kept = scan.entries
    # Files that were read and found unfit (binary, minified) are in the manifest without a blob.
    if len(manifest.paths) != len(kept):
        return False
    sizes = np.fromiter((e.size for e in kept), dtype=np.int64, count=len(kept))
    mtimes = np.fromiter((e.mtime_ns for e in kept), dtype=np.int64, count=len(kept))
    return (
        bool(np.array_equal(sizes, manifest.sizes))
        and bool(np.array_equal(mtimes, manifest.mtimes))
        and bool((mtimes < index.scanned_at - _RACY_NS).all())
        and all(a.path == b for a, b in zip(kept, manifest.paths, strict=True))
    )


def make_index(
    scan: Scan, read: Read, cache: FactsCache, previous: Index | None, scanned_at: int, options: IndexOptions
) -> Index:
    """The index of everything in `scan`. Raises NothingToIndex if no file has anything to search."""
    blobs = known_blobs(scan.entries, previous)
    skipped, examples = Counter(dict(scan.skipped)), {k: list(v) for k, v in scan.examples.items()}
    facts, unfit = _all_facts(scan.entries, blobs, read, cache, options)
    for path in sorted(unfit):
        skipped[unfit[path]] += 1
        if len(examples.setdefault(unfit[path], [])) < 3:
            examples[unfit[path]].append(path)
    files = [(entry.path, facts[entry.path]) for entry in scan.entries if entry.path in facts]
    if not files:
        raise NothingToIndex(_nothing(scan, skipped))
    options.progress("linking", 0, 0)
    linked = build_graph(files, load_settings())
    transition = build_transition(linked.graph, WalkWeights())
    options.progress("indexing words", 0, 0)
    lexical = build_lexical(files, linked)
    cache.keep_only((blobs[path], reader_of(path)) for path, _ in files)
    return Index(
        version=index_version(),
        commit=scan.commit,
        scanned_at=scanned_at,
        manifest=Manifest(
            paths=StringTable.from_strings(e.path for e in scan.entries),
            blobs=StringTable.from_strings(blobs.get(e.path, "") for e in scan.entries),
            sizes=np.array([e.size for e in scan.entries], dtype=np.int64),
            mtimes=np.array([e.mtime_ns for e in scan.entries], dtype=np.int64),
        ),
        graph=linked.graph,
        lexical=lexical,
        transition=transition,
        skipped=dict(sorted(skipped.items())),
        examples={key: tuple(value) for key, value in sorted(examples.items())},
        notes=tuple(FileNote(path, d.slug, d.detail, d.row) for path, f in files for d in f.diagnostics),
        languages=dict(sorted(Counter(f.language or "text" for _, f in files).items())),
    )


def restamped(index: Index, scan: Scan, scanned_at: int) -> Index:
    """The same index for files whose metadata changed but not their content."""
    manifest = replace(
        index.manifest,
        mtimes=np.array([e.mtime_ns for e in scan.entries], dtype=np.int64),
        sizes=np.array([e.size for e in scan.entries], dtype=np.int64),
    )
    return replace(index, manifest=manifest, scanned_at=scanned_at, commit=scan.commit)


def _all_facts(
    entries: Sequence[FileEntry], blobs: dict[str, str], read: Read, cache: FactsCache, options: IndexOptions
) -> tuple[dict[str, FileFacts], dict[str, str]]:
    """(facts by path, reason by path of files that are not searched); completes `blobs`."""
    by_key = cache.get_many((blobs[e.path], reader_of(e.path)) for e in entries if e.path in blobs)
    facts: dict[str, FileFacts] = {}
    unfit: dict[str, str] = {}
    fresh: list[tuple[str, bytes]] = []
    waiting: list[tuple[FileEntry, SourceFile]] = []
    for entry in entries:
        blob = blobs.get(entry.path)
        if blob is not None and (blob, reader_of(entry.path)) in by_key:
            facts[entry.path] = by_key[blob, reader_of(entry.path)]
            continue
        source = read(entry)
        if isinstance(source, str):
            unfit[entry.path] = source
            blobs.pop(entry.path, None)
            continue
        blobs[entry.path] = source.blob
        waiting.append((entry, source))
    known = cache.get_many((s.blob, reader_of(e.path)) for e, s in waiting)
    for entry, source in waiting:
        key = (source.blob, reader_of(entry.path))
        if key in known:
            facts[entry.path] = known[key]
        else:
            fresh.append((entry.path, source.data))
    stored: dict[tuple[str, str], bytes] = {}
    for path, encoded in _parse_all(fresh, options):
        stored[blobs[path], reader_of(path)] = encoded
        facts[path] = facts_from_bytes(encoded)
    cache.put_many(stored.items())
    return facts, unfit


def _parse_all(files: Sequence[tuple[str, bytes]], options: IndexOptions) -> Iterator[tuple[str, bytes]]:
    """(path, encoded facts) of each file, in order; in several processes when there is enough to do."""
    wanted = options.processes or _usable_processors()
    total = len(files)
    if wanted < 2 or sum(len(data) for _, data in files) < _WORTH_PROCESSES:
        for done, (path, data) in enumerate(files):
            options.progress("parsing", done, total)
            yield path, parse_encoded(path, data)
        return
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    done = 0
    with ProcessPoolExecutor(max_workers=wanted, mp_context=context) as pool:
        for chunk in pool.map(_parse_chunk, _chunks(files)):
            yield from chunk
            done += len(chunk)
            options.progress("parsing", done, total)


def parse_encoded(path: str, data: bytes) -> bytes:
    """Encoded facts of one file."""
    dialect = dialect_of(path)
    facts = parse_source(data, load_grammar(dialect)) if dialect else parse_text(path, data)
    return facts_to_bytes(facts)


def _parse_chunk(chunk: Sequence[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    return [(path, parse_encoded(path, data)) for path, data in chunk]


def _chunks(files: Iterable[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    chunk: list[tuple[str, bytes]] = []
    size = 0
    for path, data in files:
        chunk.append((path, data))
        size += len(data)
        if size >= _CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _usable_processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _nothing(scan: Scan, skipped: Counter[str]) -> str:
    if not skipped:
        return "the folder holds no files to search; run in a folder with source code or documentation"
    reasons = ", ".join(f"{n} {reason}" for reason, n in sorted(skipped.items()))
    return f"none of the files here can be searched ({reasons}); `causalist status` shows examples"
