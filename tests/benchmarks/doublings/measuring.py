"""Processor time and peak memory of a whole build, each in a process of its own."""

import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from causalist.index.build import build_index
from causalist.index.options import IndexOptions
from causalist.model.index import Index
from causalist.model.source import FileEntry, Scan, SourceFile
from causalist.parse import dialect_of, load_grammar, load_settings
from causalist.parse.syntax_tree import ParseTooLong, run_parser
from causalist.pipeline.repository import Repository
from causalist.source import blob_hash
from causalist.store import FactsCache

Files = Mapping[str, bytes]


class Cost(NamedTuple):
    """`cpu` and `raw` in seconds of processor time, `memory` in MiB above what the process held before.

    `raw` is the parse of tree-sitter alone, 0 without a grammar. `failure` says why there are no figures.
    """

    cpu: float
    raw: float
    memory: float
    failure: str = ""


def build(files: Files) -> Index:
    """Return the index of files, none of which is left out for its name or content, by one process."""
    entries = tuple(FileEntry(path, len(data), 1, blob_hash(data)) for path, data in sorted(files.items()))

    def read(entry: FileEntry) -> SourceFile:
        return SourceFile(entry.path, files[entry.path], blob_hash(files[entry.path]))

    return build_index(Scan(entries, {}, {}), read, FactsCache(), None, 0, IndexOptions(processes=1))


def asked(files: Files) -> Callable[[], None]:
    """Return a function that asks the index of files: a question, callers, callees and impact of some definitions."""
    index = build(files)
    by_blob = {blob_hash(data): SourceFile(path, data, blob_hash(data)) for path, data in files.items()}

    def read(entry: FileEntry) -> SourceFile:
        return replace(by_blob[blob_hash(files[entry.path])], path=entry.path)

    names = [index.graph.nodes.ids[i] for i in range(1, len(index.graph.nodes), 97)][:20]

    def ask() -> None:
        with TemporaryDirectory() as folder:
            repository = Repository(Path(folder), index, read)
            repository.ask("where is the word run of f1 m1 read", remember=False)
            for name in names:
                repository.callers(name)
                repository.callees(name)
                repository.impact(name)

    return ask


def raw_parse(files: Files) -> float:
    """Seconds of processor time that tree-sitter takes for the files that have a grammar."""
    read = [(load_grammar(dialect_of(path)).parser, data) for path, data in files.items() if dialect_of(path)]
    start = time.process_time()
    for parser, data in read:
        with suppress(ParseTooLong):
            run_parser(parser, data)
    return time.process_time() - start if read else 0.0


def load_all() -> None:
    """Load the grammars, so that no measured process does."""
    for dialect in load_settings():
        load_grammar(dialect)
    build({"a.py": b"def f(): ...\n"})


def cost(files: Files, seconds: int, *, questions: bool = False) -> Cost:
    """Return what a build costs, or questions to an index, in a process that ends after so many seconds of its time."""
    inlet, outlet = os.pipe()
    child = os.fork()
    if not child:
        os.close(inlet)
        status = 1
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
            work = asked(files) if questions else partial(build, files)
            held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            start = time.process_time()
            work()
            spent = time.process_time() - start
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            raw = raw_parse(files)
            os.write(outlet, json.dumps([spent, raw, (peak - held) / 1024]).encode())
            status = 0
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
        finally:
            os._exit(status)
    os.close(outlet)
    with os.fdopen(inlet, "rb") as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    if text:
        return Cost(*json.loads(text))
    code = os.waitstatus_to_exitcode(status)
    return Cost(
        0, 0, 0, f"ended after {seconds} s" if code in (-signal.SIGXCPU, -signal.SIGKILL) else f"failed ({code})"
    )
