"""The graph after an edit, where most files are as they were in the previous index and look the same from outside.

In: the files of a scan and the previous index. Out: what `indexing` needs in place of the facts of everything, or None
where everything has to be linked: other files than before, a file that cannot be told from what it was, or one that
changed in what others may see of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from causalist.collect import IndexOptions, Read, collect_facts, reader_of
from causalist.graph import Relinked, needs_bodies, relink
from causalist.model.facts import FileFacts
from causalist.model.index import Index
from causalist.model.interface import same_interface
from causalist.model.source import FileEntry
from causalist.parse import load_settings
from causalist.store import FactsCache


class Refreshed(NamedTuple):
    """Facts by path, those of files that did not change without words and mostly without bodies; why files are not
    searched; the graph."""

    facts: dict[str, FileFacts]
    unfit: dict[str, str]
    relinked: Relinked


def refreshed(
    entries: Sequence[FileEntry],
    blobs: dict[str, str],
    read: Read,
    cache: FactsCache,
    previous: Index,
    options: IndexOptions,
) -> Refreshed | None:
    """`previous` is an index of this version; completes `blobs`, which are known by path."""
    before = dict(zip(previous.manifest.paths, previous.manifest.blobs, strict=True))
    if len(entries) != len(before) or any(entry.path not in before for entry in entries):
        return None
    # A file that was not searched and now is, or the other way round, is one more or less.
    edited = [entry for entry in entries if blobs.get(entry.path) != before[entry.path]]
    if len(edited) > len(entries) // 2 or not all(before[entry.path] for entry in edited):
        return None
    new, unfit = collect_facts(edited, blobs, read, cache, options)
    if unfit or not _look_the_same(new, before, cache):
        return None
    changed = {path for path in new if blobs[path] != before[path]}
    facts, unfit = collect_facts(entries, blobs, read, cache, options, words=changed, bodies=changed)
    if facts.keys() != {path for path, blob in before.items() if blob}:
        return None
    settings = load_settings()
    told = {path for path, each in facts.items() if path not in changed and needs_bodies(path, each, settings)}
    facts.update(collect_facts([e for e in entries if e.path in told], blobs, read, cache, options, words=())[0])
    # The same content may stand elsewhere, where it changed.
    facts = {path: each if path in changed else replace(each, words=(), counts=None) for path, each in facts.items()}
    files = [(entry.path, facts[entry.path]) for entry in entries if entry.path in facts]
    numbers = {i for i, (path, _) in enumerate(files) if path in changed}
    return Refreshed(facts, unfit, relink(files, settings, previous.graph, numbers))


def _look_the_same(new: Mapping[str, FileFacts], before: Mapping[str, str], cache: FactsCache) -> bool:
    """Whether no file looks different from outside than the content that it had before, as far as that is known."""
    keys = {path: (before[path], reader_of(path)) for path in new}
    old = cache.get_many(keys.values(), words=False)
    return all(keys[path] in old and same_interface(old[keys[path]], facts) for path, facts in new.items())
