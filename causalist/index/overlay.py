"""An index with other contents in the place of some files: what an editor holds and has not saved.

In: the index of a folder as it is saved, and bytes by path. Out: the index that the folder would have if the files held
these bytes, array by array. Nothing is written: what is parsed for it is forgotten. Files that the index does not
have stay out, because only a saved file is known not to be ignored.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from causalist.index.build import make_index
from causalist.index.collect import IndexOptions, Read
from causalist.model.index import Index
from causalist.model.source import FileEntry, Scan, SourceFile
from causalist.source import Limits, blob_hash, classify, read_file
from causalist.store import FactsCache, facts_path
from causalist.store.facts_cache import Key


def overlaid_index(root: Path, saved: Index, contents: Mapping[str, bytes], limits: Limits) -> Index:
    """The index of `root` with `contents` by path. Raises NothingToIndex if nothing is left to search."""
    buffers = {path: data for path, data in contents.items() if saved.manifest.paths.position(path) >= 0}
    manifest = saved.manifest
    entries = [
        FileEntry(path, len(buffers[path]), mtime, blob_hash(buffers[path]))
        if path in buffers
        else FileEntry(path, size, mtime, blob)
        for path, size, mtime, blob in zip(
            manifest.paths, manifest.sizes.tolist(), manifest.mtimes.tolist(), manifest.blobs, strict=True
        )
    ]
    scan = Scan(tuple(entries), {}, {}, saved.commit)
    options = IndexOptions(processes=1, submodules=saved.submodules, limits=limits)
    index = make_index(
        scan, reader_over(root, buffers, limits), _Unwritten(facts_path()), saved, saved.scanned_at, options,
        lambda: saved.history.commits,
    )  # fmt: skip
    return replace(index, skipped=saved.skipped, examples=saved.examples)


def reader_over(root: Path, contents: Mapping[str, bytes], limits: Limits) -> Read:
    """What reads a file: from `contents`, else from the folder `root`."""

    def read(entry: FileEntry) -> SourceFile | str:
        data = contents.get(entry.path)
        if data is None:
            return read_file(root, entry, limits)
        reason = classify(entry.path, data, limits)
        return SourceFile(entry.path, data, blob_hash(data)) if reason is None else reason

    return read


class _Unwritten(FactsCache):
    """What the file holds, and what is new in memory only: nobody wants facts of every key that was pressed."""

    def put_many(self, rows: Iterable[tuple[Key, bytes]]) -> None:
        self._memory.update(rows)

    def keep_only(self, keys: Iterable[Key]) -> None:
        return None
