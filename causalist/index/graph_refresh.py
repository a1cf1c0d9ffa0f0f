"""Refresh of the graph after an edit, if most files are unchanged and look the same to other files.

In: the files of a scan and the previous index. Out: facts and the graph, or None if everything must be linked: the old
content of a file is unknown, or the change affects too many files or cannot be followed by names. Added and deleted
files are such changes (`graph.invalidation`).
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import numpy as np

from causalist._internal.forked_task import reset_trim_threshold
from causalist.graph import (
    InvalidationKeys,
    LinkError,
    RelinkedGraph,
    can_mention,
    forwarded_modules,
    forwards_module,
    invalidation_keys,
    needs_bodies,
    relink,
)
from causalist.graph.invalidation import UNNAMED_EXPORTS, InterfaceChange, compare_interfaces, dependent_names
from causalist.index.collect import collect_facts, name_facts, reader_of
from causalist.index.freshness import aside_of, links_of
from causalist.index.options import CachedLinker, IndexOptions, Read, RefreshCache
from causalist.model.facts import FileFacts, has_same_interface, interface_of
from causalist.model.graph import CodeGraph
from causalist.model.index import Index
from causalist.model.language_settings import LanguageSettings, ModuleSystem
from causalist.model.node_ids import NodeKind, file_id, split_id
from causalist.model.source import FileEntry, Scan, is_parsed
from causalist.parse import load_settings
from causalist.store import FactsCache, Key

_MAX_AFFECTED_SHARE = 0.3  # of all files: above that, searching for them costs more than it saves
_MAX_FILES_MOVED = 32  # files that came or went
_MAX_ENCODED_BYTES = 64_000_000  # that a process keeps to search them again: of 60 MB of source
_MAX_CHANGED_NAMES = 32  # that are searched for: looking for more takes longer than linking everything
# What may stand before a name in JSON: no part of a longer one, but the end of an escape looks like that.
_WORD_START = rb"(?:(?<![A-Za-z0-9_])|(?<=\\[bfnrt])|(?<=\\u[0-9a-f]{4}))"


class RefreshedGraph(NamedTuple):
    """Facts by path and the relinked graph.

    Facts of unchanged files have no words and mostly no bodies.
    """

    facts: dict[str, FileFacts]
    relinked: RelinkedGraph


def refresh_graph(
    scan: Scan,
    blobs: dict[str, str],
    before: Mapping[str, str],
    read: Read,
    cache: FactsCache,
    previous: Index,
    options: IndexOptions,
    kinds: dict[str, str],
) -> RefreshedGraph | None:
    """Return the graph and facts of the files of `scan`, or None if everything must be linked.

    `previous` is an index of this version with the contents `before`. Completes `blobs`, known by path; "" marks files
    that are not searchable. Completes `kinds`, the `SetAside` of each file of which it is known.
    """
    if options.refresh_cache is not None:
        reset_trim_threshold()
    retained = options.refresh_cache.take() if options.refresh_cache is not None else None
    refreshed = _try_refresh(scan, blobs, before, read, cache, previous, options, kinds, retained)
    if retained is not None and (refreshed is None or refreshed.relinked.linker.program is not retained.linker.program):
        retained.linker.release_tables()
    if refreshed is not None:
        linker = refreshed.relinked.linker
        if options.refresh_cache is None:
            linker.release_tables()
        else:
            facts = {names.path: names.facts for names in linker.program.files}
            options.refresh_cache.keep(CachedLinker(_drop_unsearched(blobs), facts, linker))
    return refreshed


def _drop_unsearched(blobs: Mapping[str, str]) -> Mapping[str, str]:
    """Return `blobs` without files that are not searchable."""
    return {path: blob for path, blob in blobs.items() if blob} if "" in blobs.values() else dict(blobs)


def _try_refresh(
    scan: Scan,
    blobs: dict[str, str],
    before: Mapping[str, str],
    read: Read,
    cache: FactsCache,
    previous: Index,
    options: IndexOptions,
    kinds: dict[str, str],
    retained: CachedLinker | None,
) -> RefreshedGraph | None:
    if tuple(links_of(previous)) != scan.links:
        return None
    entries: Sequence[FileEntry] = scan.entries
    # What was not searched and now is, or the other way round, is one file more or less.
    then, now = (map(each.get, [entry.path for entry in entries]) for each in (before, blobs))
    edited = [entry for entry, old, new in zip(entries, then, now, strict=True) if new != (old or "")]
    before = _drop_unsearched(before)
    unfit_now = {entry.path for entry in edited if blobs.get(entry.path) == "" and entry.path in before}
    gone = sorted((before.keys() - {entry.path for entry in entries}) | unfit_now)
    if len(edited) > len(entries) // 2 or len(gone) > _MAX_FILES_MOVED:
        return None
    new, unfit = collect_facts(edited, blobs, read, cache, options, kinds=kinds)
    settings = load_settings()
    seen = None if unfit else _compare_visible(new, before, gone, cache, settings, aside_of(previous))
    # A link may give what came or went a name that no search would find.
    if seen is None or (seen.moved and scan.links):
        return None
    changed = {path for path in new if blobs[path] != before.get(path)}
    affected: set[str] | None = set()
    if seen.names or seen.said or seen.moved:
        read_as = ((e.path, kinds.get(e.path, "")) for e in entries if blobs.get(e.path))
        searched = {path: (blobs[path], reader_of(path, kind)) for path, kind in read_as if is_parsed(kind)}
        searched = {path: key for path, key in searched.items() if path not in changed}
        encoded = _read_encoded(searched.values(), cache, options.refresh_cache)
        affected = None if encoded is None else _find_dependent_files(seen, searched, encoded, cache, settings)
        if affected is not None and gone:
            affected.update(path for path in _files_with_edges_to(gone, previous.graph) if path in searched)
    if affected is None or len(affected) > len(entries) * _MAX_AFFECTED_SHARE:
        return None
    again = changed | affected
    entries = [entry for entry in entries if blobs[entry.path]]
    facts_before, blobs_before = (retained.facts, retained.blobs) if retained is not None else ({}, {})
    is_of_before = blobs_before == before
    if is_of_before:
        kept = facts_before.keys() - again.union(gone)
    else:
        kept = {path for path in facts_before if path not in again and blobs_before[path] == blobs.get(path)}
    unread = [entry for entry in entries if entry.path not in kept]
    facts, unfit = collect_facts(unread, blobs, read, cache, options, kinds=kinds, words=changed, bodies=again)
    if unfit:
        return None
    with_bodies = {path for path, each in facts.items() if path not in again and needs_bodies(path, each, settings)}
    entries_told = [e for e in entries if e.path in with_bodies]
    facts.update(collect_facts(entries_told, blobs, read, cache, options, kinds=kinds, words=())[0])
    # The same content may stand elsewhere, where it changed.
    worded = [path for path, each in facts.items() if path not in changed and each.words is not None]
    facts.update((path, facts[path].without_words()) for path in worded)
    facts.update(zip(kept, map(facts_before.__getitem__, kept), strict=True))
    files = [(entry.path, facts[entry.path]) for entry in entries if entry.path in facts]
    numbers = {path: i for i, (path, _) in enumerate(files) if path in again}
    is_same = not (seen.differing or seen.moved) and is_of_before
    try:
        linked = relink(
            files,
            settings,
            previous.graph,
            {numbers[path] for path in changed},
            {numbers[path] for path in affected},
            seen.moved,
            retained.linker if retained is not None and is_same else None,
            scan.links,
        )
    except LinkError:
        return None  # what links everything says which files are concerned
    return RefreshedGraph(facts, linked)


class _VisibleChanges(NamedTuple):
    """Changes that other files can see.

    `differing` are paths of files with another interface. `names` are names that other files may use, `said` those that
    only prose mentions. `interfaces` are the old and new interfaces of changed files, `moved` the keys of added and
    deleted files.
    """

    differing: set[str]
    names: set[str]
    said: set[str]
    interfaces: list[FileFacts]
    moved: list[InvalidationKeys]


def _compare_visible(
    new: Mapping[str, FileFacts],
    before: Mapping[str, str],
    gone: Sequence[str],
    cache: FactsCache,
    settings: Mapping[str, LanguageSettings],
    kinds: Mapping[str, str],
) -> _VisibleChanges | None:
    """Compare interfaces of changed files with those of their old contents, which were of `kinds` by path.

    Returns None if an old interface is unknown or a change cannot be followed by names.
    """
    keys = {path: (before[path], reader_of(path, kinds.get(path, ""))) for path in (*new, *gone) if path in before}
    facts_by_key = cache.get_many(keys.values(), words=False)
    old = {path: facts_by_key.get(key) for path, key in keys.items()}
    old.update((path, name_facts(kinds[path], 0)) for path in keys if not is_parsed(kinds.get(path, "")))
    seen = _VisibleChanges(set(), set(), set(), [], [])
    moved = [(path, old[path]) for path in gone]
    moved += [(path, facts) for path, facts in new.items() if path not in before]
    for path, facts in moved:
        presence = None if facts is None else invalidation_keys(path, facts, settings)
        if facts is None or presence is None:
            return None
        seen.moved.append(presence)
        seen.interfaces.append(interface_of(facts))
    for path, facts in new.items():
        if path not in before:
            continue
        then = old[path]
        if then is None or then.aside != facts.aside:
            return None
        interfaces = interface_of(then), interface_of(facts)
        seen.interfaces.extend(interfaces)
        if has_same_interface(then, facts):
            continue
        seen.differing.add(path)
        language = settings.get(facts.language)
        if forwarded_modules(path, then, language) != forwarded_modules(path, facts, language):
            return None
        change = compare_interfaces(then, facts, language)
        if change is None or (language is not None and not _has_named_dependents(change, language)):
            return None
        seen.said.update(change.prose_names)
        made = (dependent_names(each, language, frozenset(), change.variables) for each in interfaces)
        seen.names.update(change.names, *made)
    return seen


def _has_named_dependents(change: InterfaceChange, language: LanguageSettings) -> bool:
    """Return True if every use that depends on a change names what changed.

    In structural type systems a type satisfies an interface without naming it. In module trees visibility decides which
    methods exist.
    """
    if language.modules.system is ModuleSystem.TREE:
        return False
    return not language.types.structural or change.kinds <= {NodeKind.FUNCTION, NodeKind.CONSTANT, NodeKind.HANDLER}


def _read_encoded(
    keys: Collection[Key], cache: FactsCache, kept: RefreshCache | None
) -> Mapping[Key, tuple[bytes, bytes]] | None:
    """Return interface and bodies of all keys as JSON, or None if some are unknown.

    A process that stays keeps them: decompressing them takes longer than searching them.
    """
    before = {} if kept is None else kept.encoded
    encoded = {key: before[key] for key in keys if key in before}
    encoded.update(cache.get_encoded(key for key in keys if key not in encoded))
    if kept is not None:
        n_bytes = sum(len(interface) + len(bodies) for interface, bodies in encoded.values())
        kept.encoded = encoded if n_bytes <= _MAX_ENCODED_BYTES else {}
    return encoded if all(key in encoded for key in keys) else None


def _find_dependent_files(
    seen: _VisibleChanges,
    keys: Mapping[str, Key],
    encoded: Mapping[Key, tuple[bytes, bytes]],
    cache: FactsCache,
    settings: Mapping[str, LanguageSettings],
) -> set[str] | None:
    """Return unchanged files that may depend on the changes, or None if there are too many names.

    `keys` by path of unchanged files, all of which are in `encoded`, as `_read_encoded` returns it.

    These are files with one of the names in their facts, with the name of a thing built from such a thing, and files
    that may refer to an added or deleted file.
    """
    facts_by_key: dict[Key, FileFacts] = {}
    names = seen.names.union(*({each.stem, *each.names} for each in seen.moved))
    waiting = set(names)
    while waiting:
        has_one = _make_name_finder(waiting)
        dependent_keys = [key for key, (interface, _) in encoded.items() if has_one(interface)]
        facts_by_key.update(
            cache.get_many((key for key in dependent_keys if key not in facts_by_key), words=False, bodies=False)
        )
        interfaces = [facts_by_key[key] for key in dependent_keys]
        several = (
            dependent_names(each, settings.get(each.language), waiting) for each in (*interfaces, *seen.interfaces)
        )
        resting = set().union(*several)
        passed_on = _forwarded_names([each for each in seen.moved if each.stem in waiting], interfaces)
        if passed_on is None:
            return None
        waiting = (resting | passed_on) - names
        names |= waiting
        if len(names) > _MAX_CHANGED_NAMES or not names.isdisjoint(UNNAMED_EXPORTS):
            return None
    has_one = _make_name_finder(names)
    guessed = _make_name_finder(set().union(*(each.guessed for each in seen.moved)), ending=True)
    mentioned = _make_name_finder(seen.said.union(*(each.mentioned for each in seen.moved)))
    naming = {key for key, parts in encoded.items() if any(map(has_one, parts)) or guessed(parts[1])}
    return {
        path
        for path, key in keys.items()
        if key in naming or (can_mention(path, key[1].split(":", 2)[1] in settings) and mentioned(encoded[key][1]))
    }


def _forwarded_names(moved: Sequence[InvalidationKeys], facts: Sequence[FileFacts]) -> set[str] | None:
    """Return names of moved files that modules with wildcard exports pass on, or None if unknown."""
    names: set[str] = set()
    for each in moved:
        ways = [forwards_module(one, each.stem) for one in facts]
        if any(is_sought for _, is_sought in ways):
            return None
        if any(is_whole for is_whole, _ in ways):
            if each.passed_on is None:
                return None
            names |= each.passed_on
    return names


def _files_with_edges_to(gone: Sequence[str], graph: CodeGraph) -> set[str]:
    """Return the files with edges to deleted files."""
    nodes, edges = graph.nodes, graph.edges
    of_file = np.zeros(len(nodes) + 1, dtype=np.bool_)
    of_file[[nodes.ids.position(file_id(path)) for path in gone]] = True
    targets = of_file[nodes.files[edges.targets]]
    sources = np.unique(nodes.files[edges.sources[targets]])
    return {split_id(nodes.ids[node])[0] for node in sources.tolist()}


def _make_name_finder(names: AbstractSet[str], *, ending: bool = False) -> Callable[[bytes], bool]:
    """Return a test of whether JSON contains one of these names as a whole word.

    With `ending` the name must end a string. An escape before the name may look like a letter.
    """
    after = rb'"' if ending else rb"(?![A-Za-z0-9_])"
    words = [
        (each + after if ending else each, re.compile(_WORD_START + re.escape(each) + after))
        for each in (name.encode() for name in sorted(names))
    ]
    return lambda text: any(name in text and word.search(text) is not None for name, word in words)
