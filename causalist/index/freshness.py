"""Freshness of an index by metadata: unchanged files, and whether it was built from this folder.

In: an index and a scan. No file is read. A file is unchanged if its size and times are the same and a later change
would have altered them. `index_version` identifies the program version that builds an index.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from causalist.graph import shipped_confidences
from causalist.index import options
from causalist.index.options import Read
from causalist.model.graph import EdgeKind
from causalist.model.index import Index
from causalist.model.source import IS_SOURCE, FileEntry, Scan, is_parsed
from causalist.model.string_table import StringTable
from causalist.parse import all_grammars
from causalist.rank import WalkWeights
from causalist.source import pick_examples

# A file written this shortly before it was looked at may change again without a new time stamp.
_RACY_NS = 2_000_000_000


def blobs_of(index: Index) -> dict[str, str]:
    """Return the blob of each file of an index by path, in its order.

    The blob is "" for a file that was read and is not searchable.
    """
    return dict(zip(index.manifest.paths, index.manifest.blobs, strict=True))


def known_blobs(
    entries: Sequence[FileEntry], previous: Index | None, before: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the blob by path for files whose content is known without reading them.

    Either the entry has it, or size and times are unchanged. `before` is `blobs_of(previous)` if the caller has it.
    """
    blob_by_path = {entry.path: entry.blob for entry in entries if entry.blob is not None}
    if previous is None:
        return blob_by_path
    before = blobs_of(previous) if before is None else before
    unknown = uncertain_files(entries, previous)
    if unknown is not None:
        blobs = dict(before)
        for i in unknown:
            del blobs[entries[i].path]
    else:
        manifest = previous.manifest
        stamps = zip(manifest.sizes.tolist(), manifest.mtimes.tolist(), manifest.ctimes.tolist(), strict=True)
        rows = zip(before, stamps, _settled_files(previous).tolist(), strict=True)
        then = {path: stamp for path, stamp, is_settled in rows if is_settled}
        now = ((entry.path, (entry.size, entry.mtime_ns, entry.ctime_ns)) for entry in entries)
        blobs = {path: before[path] for path, stamp in now if then.get(path) == stamp}
    return {**blob_by_path, **blobs} if blob_by_path else blobs


def uncertain_files(entries: Sequence[FileEntry], index: Index) -> list[int] | None:
    """Return positions of files that may have changed; None if the index has other paths than `entries`."""
    manifest, n = index.manifest, len(entries)
    if len(manifest.paths) != n or not StringTable.from_strings(e.path for e in entries).same_as(manifest.paths):
        return None
    is_same = np.fromiter((e.ctime_ns for e in entries), np.int64, n) == manifest.ctimes
    is_same &= np.fromiter((e.mtime_ns for e in entries), np.int64, n) == manifest.mtimes
    is_same &= np.fromiter((e.size for e in entries), np.int64, n) == manifest.sizes
    doubtful: list[int] = np.flatnonzero(~(is_same & _settled_files(index))).tolist()
    return doubtful


def has_same_files(index: Index, scan: Scan) -> bool:
    """Return True if an index has exactly the files of a scan, each unchanged."""
    manifest, kept = index.manifest, scan.entries
    # Files that were read and found unfit (binary, minified) are in the manifest without a blob.
    if len(manifest.paths) != len(kept):
        return False
    return (
        _is_equal((e.ctime_ns for e in kept), manifest.ctimes)
        and _is_equal((e.mtime_ns for e in kept), manifest.mtimes)
        and _is_equal((e.size for e in kept), manifest.sizes)
        and bool(_settled_files(index).all())
        and StringTable.from_strings(entry.path for entry in kept).same_as(manifest.paths)
    )


def count_left_out(scan: Scan, unfit: Iterable[tuple[str, str]]) -> tuple[dict[str, int], dict[str, tuple[str, ...]]]:
    """Return the number of files left out and examples of them, both by reason.

    `unfit` has (path, reason) of files that were read and cannot be searched. The others are in the scan.
    """
    skipped, examples = dict(scan.skipped), {reason: list(paths) for reason, paths in scan.examples.items()}
    for path, reason in unfit:
        skipped[reason] = skipped.get(reason, 0) + 1
        examples.setdefault(reason, []).append(path)
    chosen = {reason: pick_examples(reason, paths) for reason, paths in sorted(examples.items())}
    return dict(sorted(skipped.items())), chosen


def has_same_left_out(index: Index, scan: Scan) -> bool:
    """Return True if a scan leaves out the files that an index left out, as far as these are named, and its links."""
    is_same = count_left_out(scan, unfit_files(index)) == (index.skipped, index.examples)
    return is_same and tuple(links_of(index)) == scan.links and tuple(index.manifest.kept) == scan.kept


def links_of(index: Index) -> Iterator[tuple[str, str]]:
    """Yield (path of a symbolic link, path that it leads to) as in the scan that an index was made from."""
    for each in index.manifest.links:
        path, _, leads_to = each.partition("\0")
        yield path, leads_to


def marks_of(index: Index) -> dict[str, str]:
    """Return what paths and attributes say of files by path: a `SetAside` or IS_SOURCE."""
    return _pairs(index.manifest.marks)


def aside_of(index: Index) -> dict[str, str]:
    """Return the `SetAside` of each generated or repeated file of an index by path."""
    return _pairs(index.manifest.aside)


def _pairs(table: StringTable) -> dict[str, str]:
    pairs = (each.partition("\0") for each in table)
    return {path: value for path, _, value in pairs}


def pair_table(value_by_path: Mapping[str, str]) -> StringTable:
    """Return a mapping of paths as a table of "path, zero, value", sorted."""
    return StringTable.from_strings(f"{path}\0{value}" for path, value in sorted(value_by_path.items()))


def path_marks(scan: Scan, read: Read, previous: Index | None, mark_by_path: Mapping[str, str]) -> dict[str, str]:
    """Return what paths, `.gitattributes` and settings say of the files of a scan by path: a `SetAside` or IS_SOURCE.

    `known` are the blobs of unchanged files. The settings overrule attributes, and these the paths.
    """
    from causalist.source.exclusion import make_matcher
    from causalist.source.generated import attribute_files, judge_files

    entries = {entry.path: entry for entry in scan.entries}
    paths = list(entries)
    places = attribute_files(paths)
    if (
        previous is not None
        and tuple(previous.manifest.kept) == scan.kept
        and all(mark_by_path.get(each) for each in places)
    ):
        before = blobs_of(previous)
        if list(before) == paths and all(before[each] == mark_by_path[each] for each in places):
            return marks_of(previous)
    contents = ((place, read(entries[place])) for place in places)
    marks = judge_files(paths, {place: each.data for place, each in contents if not isinstance(each, str)})
    is_source = make_matcher(scan.kept, "source")
    if is_source is not None:
        marks.update((path, IS_SOURCE) for path in paths if is_source(path))
    return marks


def known_kinds(scan: Scan, marks: Mapping[str, str], blobs: dict[str, str], previous: Index | None) -> dict[str, str]:
    """Return the `SetAside` of each file of which it is known, "" for source.

    Removes files from `blobs` whose content was not judged when they were last read.
    """
    then, before = (marks_of(previous), aside_of(previous)) if previous is not None else ({}, {})
    kinds: dict[str, str] = {}
    for entry in scan.entries:
        path = entry.path
        if path in marks:
            kinds[path] = "" if marks[path] == IS_SOURCE else marks[path]
        elif previous is not None and blobs.get(path):
            if path in then:
                del blobs[path]
            else:
                kinds[path] = before.get(path, "")
    return kinds


def searched_blobs(index: Index) -> Iterator[tuple[str, str]]:
    """Yield (path, blob) of each file of an index that is not known by its name alone."""
    aside = aside_of(index)
    for path, blob in zip(index.manifest.paths, index.manifest.blobs, strict=True):
        if is_parsed(aside.get(path, "")):
            yield path, blob


def unfit_files(index: Index) -> Iterator[tuple[str, str]]:
    """Yield (path, reason) of the files of an index that were read and cannot be searched."""
    manifest = index.manifest
    for i in np.flatnonzero(np.diff(manifest.unfit.offsets)).tolist():
        yield manifest.paths[i], manifest.unfit[i]


def _is_equal(values: Iterator[int], expected: NDArray[np.int64]) -> bool:
    return bool(np.array_equal(np.fromiter(values, dtype=np.int64, count=len(expected)), expected))


def changed_files(index: Index, scan: Scan) -> tuple[list[str], list[str]]:
    """Return (changed, new or deleted paths; paths that may change without another time stamp).

    Both are sorted. If both are empty, `has_same_files` is true.
    """
    manifest = index.manifest
    stamps = zip(manifest.sizes.tolist(), manifest.mtimes.tolist(), manifest.ctimes.tolist(), strict=True)
    before = dict(zip(manifest.paths, stamps, strict=True))
    now = {entry.path: (entry.size, entry.mtime_ns, entry.ctime_ns) for entry in scan.entries}
    changed = {path for path in before.keys() | now.keys() if before.get(path) != now.get(path)}
    settled = zip(manifest.paths, _settled_files(index).tolist(), strict=True)
    return sorted(changed), [path for path, is_settled in settled if not is_settled and path not in changed]


def matches_folder(index: Index | None, scan: Scan) -> TypeGuard[Index]:
    """Return True if an index was built from these very files and was not shipped with them.

    A repository may ship a misleading index of itself. One file with the same ctime suffices, because no two copies
    share a nanosecond. If the system reports no ctime, the index is trusted.
    """
    if index is None:
        return False
    paths, ctimes = index.manifest.paths, index.manifest.ctimes
    is_told = False
    for entry in scan.entries:  # of which the first will mostly do
        if entry.ctime_ns:
            is_told = True
            position = paths.position(entry.path)
            if position >= 0 and ctimes[position] == entry.ctime_ns:
                return True
    return not is_told


def _settled_files(index: Index) -> NDArray[np.bool_]:
    """Mark files whose times would differ if they had changed after they were read."""
    ctimes, before = index.manifest.ctimes, index.scanned_at - _RACY_NS
    return np.asarray((index.manifest.mtimes < before) | ((ctimes > 0) & (ctimes < before)))


# Raised when linking or the lexical index change what they give for the same facts.
INDEX_VERSION = 40


def index_version() -> str:
    """Return the version of everything that an index depends on except its files.

    Indexes of other versions are rebuilt.
    """
    weights = WalkWeights()
    # Written out here: renaming the class or its fields must not change the version.
    walk = f"WalkWeights(forward={_format_weights(weights.forward)}, backward={_format_weights(weights.backward)})"
    own = f"{INDEX_VERSION}:{options.PARSER_VERSION}\n{walk}\n"
    return hashlib.sha256(own.encode() + shipped_confidences() + all_grammars()).hexdigest()[:16]


def _format_weights(weights: tuple[tuple[EdgeKind, float], ...]) -> str:
    return "(" + ", ".join(f"(<EdgeKind.{kind.name}: {kind.value}>, {weight!r})" for kind, weight in weights) + ")"
