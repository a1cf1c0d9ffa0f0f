"""A process that indexes a repository and asks, for others to disturb: `python -m tests.benchmarks.crash.child ROOT`.

It prints a JSON object a line: what it answered, and from which index. `--blobs` keeps the content of every file that
it reads, under git's name, so that somebody else can build that very index again. With `--die-at N` it ends by SIGKILL
at the N-th of its calls that have to do with files.
"""

import argparse
import dataclasses
import hashlib
import json
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

from causalist.errors import NothingToIndex
from causalist.index import collect
from causalist.index.options import IndexOptions
from causalist.model.answer import Answer
from causalist.model.index import Index
from causalist.model.string_table import StringTable
from causalist.pipeline.repository import Repository
from causalist.source import folder_scan
from tests.indexes import digest, without_stamps

QUESTION = "what is retried when a delivery to a user fails?"
_EVENTS = ("open", "os.", "shutil.", "sqlite3.", "tempfile.", "mmap.", "fcntl.", "subprocess.")


def plain_index(index: Index) -> Index:
    """What follows from the contents and the commit alone: nothing of when and where it was made, and nothing of files
    that are not searched."""
    plain = without_stamps(index)
    manifest = dataclasses.replace(
        plain.manifest, sizes=np.zeros_like(plain.manifest.sizes), unfit=StringTable.from_strings(())
    )
    return dataclasses.replace(plain, manifest=manifest, skipped={}, examples={}, submodules=False)


def told(repository: Repository) -> dict[str, object]:
    """An answer and the index behind it, as JSON."""
    answer = repository.ask(QUESTION)
    manifest = repository.index.manifest
    return {
        "commit": repository.index.commit,
        "manifest": dict(zip(manifest.paths, manifest.blobs, strict=True)),
        "index": digest(plain_index(repository.index)),
        "answer": answer_digest(answer),
        "results": [hit.id for hit in answer.results],
        "notes": [note.slug for note in repository.notes],
    }


def answer_digest(answer: Answer) -> str:
    """Names an answer but for its text, which is of the files as they are now."""
    parts = (answer.results, answer.edges, answer.removed_edges, answer.order, answer.via, answer.confidence)
    return hashlib.sha256(repr(parts).encode("utf-8", "backslashreplace")).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=Path)
    parser.add_argument("--blobs", type=Path)
    parser.add_argument("--die-at", type=int)
    parser.add_argument("--pool", action="store_true", help="parse in several processes however little there is")
    parser.add_argument("--clock", type=int, default=0, help="seconds by which the clock is wrong")
    parser.add_argument("--repeat", type=float, help="go on for so many seconds")
    wanted = parser.parse_args()
    if wanted.blobs is not None:
        _keep_blobs(wanted.blobs)
    if wanted.pool:
        collect._PARALLEL_THRESHOLD_BYTES = 0
        collect._CHUNK_BYTES = 20_000
    if wanted.clock:
        _set_clock(wanted.clock)
    if wanted.die_at is not None:
        die_at(wanted.die_at, wanted.root.parent, wanted.blobs)
    end = time.monotonic() + (wanted.repeat or 0.0)
    while True:
        try:
            document = told(
                Repository.open(wanted.root, exact_root=True, options=IndexOptions(processes=2 if wanted.pool else 1))
            )
        except NothingToIndex:
            document = {"nothing": True}
        print(json.dumps(document), flush=True)
        if time.monotonic() >= end:
            return


def _keep_blobs(folder: Path) -> None:
    real = folder_scan.blob_hash

    def kept(data: bytes) -> str:
        name = real(data)
        if not (folder / name).exists():
            aside = folder / f"{name}.{os.getpid()}"
            aside.write_bytes(data)
            aside.replace(folder / name)
        return name

    folder_scan.blob_hash = kept


def _set_clock(offset: int) -> None:
    real, real_ns = time.time, time.time_ns
    time.time = lambda: real() + offset
    time.time_ns = lambda: real_ns() + offset * 10**9


def die_at(number: int, below: Path, but: Path) -> None:
    """Modules, grammars and kept contents are opened too; to die there says nothing."""
    left, own = number, os.getpid()

    def count(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        if not event.startswith(_EVENTS) or os.getpid() != own:
            return
        named = os.fsdecode(arguments[0]) if arguments and isinstance(arguments[0], str | bytes) else str(below)
        if named.startswith(str(below)) and not named.startswith(str(but)):
            left -= 1
            if left == 0:
                os.kill(own, signal.SIGKILL)

    sys.addaudithook(count)


if __name__ == "__main__":
    main()
