"""Files -> facts: what was parsed before comes from the cache, the rest is parsed, in several processes if there is
enough to do.
"""

import gc
import os
import sys
from collections import deque
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from types import ModuleType
from typing import TYPE_CHECKING

from causalist._internal.process import CAN_FORK, end_with_parent
from causalist.index import options as index_options
from causalist.index.options import IndexOptions, Read

# Whatever parses is imported when something is parsed: an answer from an index that is current needs none of it.
if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

    from causalist.model.facts import FileFacts
    from causalist.model.source import FileEntry, SourceFile
    from causalist.store import FactsCache, Key

    _Parsing = Future[list[tuple[str, bytes]]]


# Below this many bytes to parse, starting processes costs more than it saves.
_WORTH_PROCESSES = 1_500_000
_CHUNK_BYTES = 400_000
# Of sources that are read, or facts that are written, at once.
_GROUP_BYTES = 4_000_000
_READY_SHARE = 0.1  # of the bytes of a language: it is worth its grammar before there are processes
_START_METHOD = "fork" if CAN_FORK else "spawn"


def reader_of(path: str) -> str:
    """What reads the file, and in which version. Part of the key of cached facts."""
    from causalist.parse import reader_of as parse_reader

    return f"{index_options.PARSER_VERSION}:{parse_reader(path)}"


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Facts are millions of small objects without cycles; looking for cycles among them takes a sixth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if gc.get_freeze_count() == 0:  # else somebody else uses that
                # All objects count as old ones then: the next look at young ones would meet everything made meanwhile.
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def collect_facts(
    entries: "Sequence[FileEntry]",
    blobs: dict[str, str],
    read: Read,
    cache: "FactsCache",
    options: IndexOptions,
    *,
    words: Container[str] | None = None,
    bodies: Container[str] | None = None,
    aside: "dict[str, bytes] | None" = None,
) -> "tuple[dict[str, FileFacts], dict[str, str]]":
    """(facts by path, reason by path of files that are not searched); completes `blobs`.

    Only files in `words` and `bodies`, all if these are None, come with theirs for certain; others may have them where
    they are parsed, or have the content of one that does. With `aside` none comes with its bodies: these are put there
    by path as they are encoded, which takes a fifth of the room (`store.facts_with_bodies`).
    """
    keys = {e.path: (blobs[e.path], reader_of(e.path)) for e in entries if e.path in blobs}
    by_key: dict[tuple[str, str], tuple[FileFacts, bytes]] = {}
    for wanted in ((False, False), (False, True), (True, False), (True, True)):  # more comes after less
        some = [
            key
            for path, key in keys.items()
            if (words is None or path in words, bodies is None or path in bodies) == wanted
        ]
        by_key.update(_known(cache, some, *wanted, aside is not None) if some else {})
    facts: dict[str, FileFacts] = {}
    unfit: dict[str, str] = {}
    waiting: list[FileEntry] = []

    def take(path: str, known: "tuple[FileFacts, bytes]") -> None:
        facts[path] = known[0]
        if aside is not None:
            aside[path] = known[1]

    for entry in entries:
        blob = blobs.get(entry.path)
        if blob is not None and (blob, reader_of(entry.path)) in by_key:
            take(entry.path, by_key[blob, reader_of(entry.path)])
        else:
            waiting.append(entry)
    by_key.clear()

    def fresh() -> Iterator[tuple[str, bytes]]:
        """Contents that nobody parsed before. Read as they are asked for: together they are larger than the facts."""
        for some in _groups(waiting):
            sources: list[SourceFile] = []
            for entry in some:
                source = read(entry)
                if isinstance(source, str):
                    unfit[entry.path] = source
                    blobs.pop(entry.path, None)
                else:
                    blobs[entry.path] = source.blob
                    sources.append(source)
            of_sources = [(each.blob, reader_of(each.path)) for each in sources]
            known = _known(cache, of_sources, True, True, aside is not None)
            for source, key in zip(sources, of_sources, strict=True):
                if key in known:
                    take(source.path, known[key])
                else:
                    yield source.path, source.data

    stored: list[tuple[Key, bytes]] = []
    size = 0
    for path, parsed, encoded in _parse_all(fresh(), len(waiting), options):
        take(path, (parsed, b"") if parsed and aside is None else _decoded(encoded, bodies=aside is None))
        stored.append(((blobs[path], reader_of(path)), encoded))
        size += len(encoded)
        if size >= _GROUP_BYTES:
            cache.put_many(stored)
            stored, size = [], 0
    cache.put_many(stored)
    return facts, unfit


def _known(
    cache: "FactsCache", keys: "Sequence[Key]", words: bool, bodies: bool, aside: bool
) -> "dict[Key, tuple[FileFacts, bytes]]":
    """(facts, b"") by key; with `aside` (facts without bodies, these as they are encoded)."""
    if aside:
        return cache.get_parts(keys, words=words)
    return {key: (facts, b"") for key, facts in cache.get_many(keys, words=words, bodies=bodies).items()}


def _decoded(encoded: bytes, bodies: bool) -> "tuple[FileFacts, bytes]":
    from causalist.store import facts_from_bytes, interface_of_parts, parts_of_bytes

    return (facts_from_bytes(encoded), b"") if bodies else interface_of_parts(parts_of_bytes(encoded))


def _groups(entries: "Sequence[FileEntry]") -> "Iterator[list[FileEntry]]":
    """Files that are read together, in order."""
    group: list[FileEntry] = []
    size = 0
    for entry in entries:
        group.append(entry)
        size += entry.size
        if size >= _GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _parse_all(
    files: Iterator[tuple[str, bytes]], most: int, options: IndexOptions
) -> "Iterator[tuple[str, FileFacts | None, bytes]]":
    """(path, facts where they are at hand, encoded facts) of each file, in order; in several processes when there is
    enough to do. There are at most so many files."""
    from causalist.parse import parse_file
    from causalist.store import facts_to_bytes

    wanted = n_processes(options)
    first: list[tuple[str, bytes]] = []
    size = 0
    while wanted > 1 and size < _WORTH_PROCESSES and (file := next(files, None)) is not None:
        first.append(file)
        size += len(file[1])
    done = 0
    if wanted < 2 or size < _WORTH_PROCESSES:
        for path, data in chain(first, files):
            options.progress("parsing", done, most)
            facts = parse_file(path, data)
            yield path, facts, facts_to_bytes(facts)
            done += 1
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    if _START_METHOD == "fork":
        _make_ready(first)
    context = multiprocessing.get_context(_START_METHOD)
    with ProcessPoolExecutor(max_workers=wanted, mp_context=context, initializer=end_with_parent) as pool:
        chunks = _chunks(chain(first, files))
        del first
        # Two for each process: one that it works at, and one that waits for it. More would only take room.
        under_way = deque(_submitted(pool, islice(chunks, 2 * wanted)))
        while under_way:
            parsed = under_way.popleft().result()
            under_way.extend(_submitted(pool, islice(chunks, 1)))
            for path, encoded in parsed:
                yield path, None, encoded
            done += len(parsed)
            options.progress("parsing", done, most)
    options.progress("parsing", most, most)


def _make_ready(files: Sequence[tuple[str, bytes]]) -> None:
    """Loads the grammars that much of these files needs: each process that is forked has them then, and compiling the
    query of one takes up to a quarter of a second. What few files need is left to the process that meets them."""
    from causalist.parse import dialect_of, load_grammar

    sizes: dict[str, int] = {}
    for path, data in files:
        dialect = dialect_of(path)
        sizes[dialect] = sizes.get(dialect, 0) + len(data)
    for dialect, size in sizes.items():
        if dialect and size > _READY_SHARE * sum(sizes.values()):
            load_grammar(dialect)


def is_worth_processes(n_bytes: int, options: IndexOptions) -> bool:
    """Whether there is enough to do for several processes, and these are allowed."""
    return n_bytes >= _WORTH_PROCESSES and n_processes(options) > 1


def _submitted(pool: "ProcessPoolExecutor", chunks: Iterable[list[tuple[str, bytes]]]) -> "Iterator[_Parsing]":
    for chunk in chunks:
        with _no_main_module():
            yield pool.submit(_parse_chunk, chunk)


@contextmanager
def _no_main_module() -> Iterator[None]:
    """Keeps new processes from importing the program that uses this library: it may do everything when imported, and
    parsing needs nothing of it. A fork imports nothing."""
    main = sys.modules["__main__"]
    if _START_METHOD != "fork":
        sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _parse_chunk(chunk: Sequence[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    from causalist.parse import parse_file
    from causalist.store import facts_to_bytes

    with no_garbage_collection():
        return [(path, facts_to_bytes(parse_file(path, data))) for path, data in chunk]


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


def n_processes(options: IndexOptions) -> int:
    """How many may parse at once: one where this process is a worker itself that may have no others."""
    started = sys.modules.get("multiprocessing")
    if started is not None and started.current_process().daemon:
        return 1
    if options.processes is not None:
        return options.processes
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
