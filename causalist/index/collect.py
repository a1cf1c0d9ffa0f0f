"""Facts of files: from the cache where their content was parsed before, else by parsing.

Parsing runs in several processes if there is enough to do.
"""

import gc
import os
import sys
from collections import deque
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, islice
from types import ModuleType
from typing import TYPE_CHECKING

from causalist._internal.forked_task import CAN_FORK, ForkedTask, end_with_parent, split_batches
from causalist._internal.lazy import dataclass
from causalist._internal.stage_clock import stage
from causalist.index import options as index_options
from causalist.index.options import IndexOptions, Read
from causalist.model.node_ids import NodeKind
from causalist.model.source import is_parsed
from causalist.source.generated import judge_content

# Whatever parses is imported when something is parsed: an answer from an index that is current needs none of it.
if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

    import numpy as np
    from numpy.typing import NDArray

    from causalist.model.facts import FileFacts
    from causalist.model.source import FileEntry, SourceFile
    from causalist.store import FactsCache, Key

    _Parsing = Future[list[tuple[str, bytes]]]
    _Content = tuple[str, bytes, str]  # path, bytes, `SetAside` or ""
    _Known = tuple[FileFacts, FileFacts | bytes]  # without bodies, and with them or the encoded bodies


# Below this many bytes to parse, starting processes costs more than it saves; one that is forked costs less.
_PARALLEL_THRESHOLD_BYTES = 1_500_000
_PAIR_THRESHOLD_BYTES = 150_000
_OWN_SHARE = 0.56  # of these that the parent parses: the other has to start, and hands over what it parsed
_CHUNK_BYTES = 400_000
# Of sources that are read, or facts that are written, at once.
_GROUP_BYTES = 4_000_000
UNKNOWN = "unknown"  # no kind of file
_MAX_CONSTANTS_ASIDE = 200  # of a generated or copied file; one with more is a table, of which hardly any is used
_KEPT_BYTES = 24_000_000  # of encoded facts that are kept as they were parsed until they are linked
_PRELOAD_SHARE = 0.1  # of the bytes of a language: it is worth its grammar before there are processes
_START_METHOD = "fork" if CAN_FORK else "spawn"


def reader_of(path: str, kind: str = "") -> str:
    """Return the name and version of the reader of a file, part of the key of cached facts.

    `kind` is the `SetAside` of a file that is not read as source.
    """
    from causalist.parse import reader_of as parse_reader

    reader = f"{index_options.PARSER_VERSION}:{parse_reader(path)}"
    return f"{reader}:{kind}" if kind else reader


def name_facts(kind: str, size: int) -> "FileFacts":
    """Return the facts of a file that is known by its name alone: all that `is_parsed` denies."""
    from causalist.model.facts import FileFacts

    return FileFacts(language="", n_bytes=size, aside=kind)


def _parse_as(path: str, data: bytes, kind: str) -> "FileFacts":
    """Return the facts of a file of a kind that is parsed.

    Generated code has neither words nor passages. Of what it uses, calls are kept: with references and accesses, the
    index of a repository with 9 MB of generated Go has 1.6 times the edges.
    """
    from causalist.model.facts import without_constants
    from causalist.parse import parse_file

    facts = parse_file(path, data)
    if not kind:
        return facts
    if facts.language:
        if sum(each.kind == NodeKind.CONSTANT for each in facts.definitions) > _MAX_CONSTANTS_ASIDE:
            facts = without_constants(facts)
        return replace(
            facts, aside=kind, words=b"", passages=(), mentions=(), references=(), accesses=(), lookups=(), links=()
        )
    return replace(facts, aside=kind, words=b"", passages=(), mentions=(), links=(), doc="")


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Disable garbage collection for the block.

    Facts are millions of small objects without cycles; searching them for cycles takes a sixth of the time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if gc.get_freeze_count() == 0:  # else another process uses that
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
    kinds: dict[str, str] | None = None,
    words: Container[str] | None = None,
    bodies: Container[str] | None = None,
    aside: "dict[str, bytes | FileFacts] | None" = None,
    unstored: "list[tuple[Key, bytes]] | None" = None,
) -> "tuple[dict[str, FileFacts], dict[str, str]]":
    """(facts by path, reason by path of files that are not searched); completes `blobs` and `kinds`.

    `kinds` has the `SetAside` of each file of which it is known, "" for source; the content tells that of others.

    Only files in `words` and `bodies`, all if these are None, come with theirs for certain; others may have them where
    they are parsed, or have the content of one that does. With `aside` none comes with its bodies. Of those that this
    process parsed the facts with bodies are put there by path, as long as they are few. Of others the bodies as they
    are encoded are put there, which takes a fifth of the room (`store.facts_with_bodies`).

    The last facts that were parsed are not stored in `cache` but put into `unstored`, if that is given.
    """
    kinds = {} if kinds is None else kinds
    keys = {
        e.path: (blobs[e.path], reader_of(e.path, kinds[e.path]))
        for e in entries
        if e.path in blobs and is_parsed(kinds.get(e.path, UNKNOWN))
    }
    by_key: dict[tuple[str, str], _Known] = {}
    for wanted in ((False, False), (False, True), (True, False), (True, True)):  # more comes after less
        some = [
            key
            for path, key in keys.items()
            if (words is None or path in words, bodies is None or path in bodies) == wanted
        ]
        by_key.update(_get_cached(cache, some, *wanted, aside is not None) if some else {})
    facts: dict[str, FileFacts] = {}
    unfit: dict[str, str] = {}
    waiting: list[FileEntry] = []

    def take(path: str, cached: "_Known") -> None:
        facts[path] = cached[0]
        if aside is not None and cached[1]:
            aside[path] = cached[1]

    for entry in entries:
        key = keys.get(entry.path)
        if key is not None and key in by_key:
            take(entry.path, by_key[key])
        elif entry.path in blobs and not is_parsed(kinds.get(entry.path, "")):
            take(entry.path, (name_facts(kinds[entry.path], entry.size), b""))
        else:
            waiting.append(entry)
    by_key.clear()

    def fresh() -> "Iterator[_Content]":
        """Yield content without cached facts.

        Files are read on demand, because together they are larger than their facts.
        """
        for some in _split_groups(waiting):
            options.progress("parsing", len(facts), len(entries))
            sources: list[SourceFile] = []
            for entry in some:
                with stage("read"):
                    source = read(entry)
                if isinstance(source, str):
                    unfit[entry.path] = source
                    blobs.pop(entry.path, None)
                    continue
                blobs[entry.path] = source.blob
                kind = kinds.get(entry.path)
                if kind is None:
                    kind = kinds[entry.path] = judge_content(entry.path, source.data) or ""
                if is_parsed(kind):
                    sources.append(source)
                else:
                    take(entry.path, (name_facts(kind, entry.size), b""))
            of_sources = [(each.blob, reader_of(each.path, kinds[each.path])) for each in sources]
            with stage("facts cache"):
                cached = _get_cached(cache, of_sources, True, True, aside is not None)
            for source, key in zip(sources, of_sources, strict=True):
                if key in cached:
                    take(source.path, cached[key])
                else:
                    yield source.path, source.data, kinds[source.path]

    stored: list[tuple[Key, bytes]] = []
    size = n_kept = 0

    def store() -> None:
        nonlocal size
        with stage("facts cache"):
            cache.put_many(stored)
        stored.clear()
        size = 0

    try:
        for path, parsed, encoded in _parse_all(fresh(), options):
            if parsed is not None and aside is None:
                take(path, (parsed[1], b""))
            elif parsed is not None and n_kept < _KEPT_BYTES:
                take(path, parsed)
                n_kept += len(encoded)
            else:
                with stage("decode"):
                    take(path, _decode_facts(encoded, bodies=aside is None))
            stored.append(((blobs[path], reader_of(path, kinds[path])), encoded))
            size += len(encoded)
            options.progress("parsing", len(facts), len(entries))
            if size >= _GROUP_BYTES:
                store()
        if unstored is not None:
            unstored += stored
            stored.clear()
    finally:
        store()  # also of a run that is interrupted: the next one goes on from there
    return facts, unfit


def _get_cached(
    cache: "FactsCache", keys: "Sequence[Key]", words: bool, bodies: bool, aside: bool
) -> "dict[Key, _Known]":
    """(facts, b"") by key; with `aside` (facts without bodies, these as they are encoded)."""
    if aside:
        return {**cache.get_parts(keys, words=words)}
    return {key: (facts, b"") for key, facts in cache.get_many(keys, words=words, bodies=bodies).items()}


def _decode_facts(encoded: bytes, bodies: bool) -> "_Known":
    from causalist.store import decode_interface, facts_from_bytes, split_parts

    return (facts_from_bytes(encoded), b"") if bodies else decode_interface(split_parts(encoded))


def _split_groups(entries: "Sequence[FileEntry]") -> "Iterator[list[FileEntry]]":
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
    files: "Iterator[_Content]", options: IndexOptions
) -> "Iterator[tuple[str, tuple[FileFacts, FileFacts] | None, bytes]]":
    """Yield (path, facts without bodies and with them or None, encoded facts) of each file, in order.

    Uses several processes if there is enough to do; facts are None where another process parsed the file. After an
    interrupt it yields what these are at, and then raises.
    """
    from causalist.store import encode_facts

    wanted = n_processes(options)
    first: list[_Content] = []
    size = 0
    while wanted > 1 and size < _PARALLEL_THRESHOLD_BYTES and (file := next(files, None)) is not None:
        first.append(file)
        size += len(file[1])
    if wanted > 1 and CAN_FORK and _PAIR_THRESHOLD_BYTES <= size < _PARALLEL_THRESHOLD_BYTES:
        yield from _parse_in_two(first)
        return
    if wanted < 2 or size < _PARALLEL_THRESHOLD_BYTES:
        for path, data, kind in chain(first, files):
            with stage("parse: rest"):
                facts = _parse_as(path, data, kind)
            with stage("encode"):
                encoded, interface = encode_facts(facts)
            yield path, (interface, facts), encoded
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    if _START_METHOD == "fork":
        preload_grammars((path, len(data)) for path, data, _ in first)
    context = multiprocessing.get_context(_START_METHOD)
    with ProcessPoolExecutor(max_workers=wanted, mp_context=context, initializer=_begin_worker) as pool:
        chunks = split_batches(chain(first, files), _count_bytes, _CHUNK_BYTES)
        del first
        # Two for each process: one that it works at, and one that waits for it. More would only take room.
        under_way = deque(_submit_chunks(pool, islice(chunks, 2 * wanted)))
        while under_way:
            try:
                parsed = under_way[0].result()
            except KeyboardInterrupt:
                for each in [each for each in under_way if not each.cancel()]:
                    for path, encoded in each.result():
                        yield path, None, encoded
                raise
            under_way.popleft()
            under_way.extend(_submit_chunks(pool, islice(chunks, 1)))
            for path, encoded in parsed:
                yield path, None, encoded


@dataclass(frozen=True, slots=True)
class _EncodedFacts:
    """Encoded facts of files one after the other, and the length of each in bytes."""

    data: "NDArray[np.uint8]"
    lengths: "NDArray[np.int64]"


def _parse_in_two(files: "list[_Content]") -> "Iterator[tuple[str, tuple[FileFacts, FileFacts] | None, bytes]]":
    """Yield as `_parse_all` does; a forked process parses the second half meanwhile.

    It has the files and the grammars already, so that it starts at once. The first file of code and the first of text
    are parsed before, so that both have what parsing imports and compiles.
    """
    import numpy as np

    from causalist.parse import dialect_of
    from causalist.store import encode_facts

    preload_grammars((path, len(data)) for path, data, _ in files)
    n_first, size, total = 0, 0, sum(len(data) for _, data, _ in files)
    while size < _OWN_SHARE * total:
        size += len(files[n_first][1])
        n_first += 1
    first_of_kind: dict[bool, int] = {}
    for i, (path, _, _) in enumerate(files[:n_first]):
        first_of_kind.setdefault(bool(dialect_of(path)), i)
    before = {i: _parse_as(*files[i]) for i in first_of_kind.values()}

    def parse_rest() -> _EncodedFacts:
        parsed = [encoded for _, encoded in _parse_chunk(files[n_first:])]
        lengths = np.array([len(each) for each in parsed], dtype=np.int64)
        return _EncodedFacts(np.frombuffer(b"".join(parsed), dtype=np.uint8), lengths)

    rest = ForkedTask(_EncodedFacts, parse_rest, wanted=n_first < len(files))
    for i, (path, data, kind) in enumerate(files[:n_first]):
        with stage("parse: rest"):
            facts = before.pop(i, None) or _parse_as(path, data, kind)
        with stage("encode"):
            encoded, interface = encode_facts(facts)
        yield path, (interface, facts), encoded
    rest_facts = rest.result()
    joined, start = rest_facts.data.tobytes(), 0
    for (path, _, _), length in zip(files[n_first:], rest_facts.lengths.tolist(), strict=True):
        yield path, None, joined[start : start + length]
        start += length


def _begin_worker() -> None:
    """Leave an interrupt of the terminal, which all processes get, to the parent."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()


def preload_grammars(files: Iterable[tuple[str, int]]) -> None:
    """Load the grammars of much of some files, (path, bytes), so that forked processes share them.

    Compiling the query of a grammar takes up to a quarter of a second. A grammar of few files is left to the process
    that needs it.
    """
    from causalist.parse import dialect_of, load_grammar

    sizes: dict[str, int] = {}
    for path, n_bytes in files:
        dialect = dialect_of(path)
        sizes[dialect] = sizes.get(dialect, 0) + n_bytes
    for dialect, size in sizes.items():
        if dialect and size > _PRELOAD_SHARE * sum(sizes.values()):
            load_grammar(dialect)


def is_worth_forks(n_bytes: int, options: IndexOptions) -> bool:
    """Return True if there is enough to do for forked processes and the options allow them."""
    return CAN_FORK and n_bytes >= _PAIR_THRESHOLD_BYTES and n_processes(options) > 1


def _submit_chunks(pool: "ProcessPoolExecutor", chunks: "Iterable[list[_Content]]") -> "Iterator[_Parsing]":
    for chunk in chunks:
        with _no_main_module():
            yield pool.submit(_parse_chunk, chunk)


@contextmanager
def _no_main_module() -> Iterator[None]:
    """Keep new processes from importing the program that uses this library.

    That program may have side effects at import, and parsing needs nothing of it. A fork imports nothing.
    """
    main = sys.modules["__main__"]
    if _START_METHOD != "fork":
        sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _parse_chunk(chunk: "Sequence[_Content]") -> list[tuple[str, bytes]]:
    from causalist.store import facts_to_bytes

    with no_garbage_collection():
        return [(path, facts_to_bytes(_parse_as(path, data, kind))) for path, data, kind in chunk]


def _count_bytes(file: "_Content") -> int:
    return len(file[1])


def n_processes(options: IndexOptions) -> int:
    """Return the number of processes that may parse at once; 1 inside of a daemon process."""
    started = sys.modules.get("multiprocessing")
    if started is not None and started.current_process().daemon:
        return 1
    if options.processes is not None:
        return options.processes
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
