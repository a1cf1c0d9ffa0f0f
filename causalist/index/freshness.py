"""What metadata tells of the files of an index: which are as they were, and whether they are the ones it was made of.

In: an index and a scan. Nothing is read. A file is what it was if its size and its times are what they were, and if
these would be others had it changed since.

Which version of this program made an index.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from causalist.graph import shipped_confidences
from causalist.index import options
from causalist.model.graph import EdgeKind
from causalist.model.index import Index
from causalist.model.source import FileEntry, Scan
from causalist.model.string_table import StringTable
from causalist.parse import all_grammars
from causalist.rank import WalkWeights

# A file written this shortly before it was looked at may change again without a new time stamp.
_RACY_NS = 2_000_000_000


def blobs_of(index: Index) -> dict[str, str]:
    """The content of each file of an index by path, in its order; "" for what was read and is not searched."""
    return dict(zip(index.manifest.paths, index.manifest.blobs, strict=True))


def known_blobs(
    entries: Sequence[FileEntry], previous: Index | None, before: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Paths whose content is known without reading them: the entry says it, or size and times are as they were.
    `before`: the `blobs_of` the previous index, where they are at hand."""
    said = {entry.path: entry.blob for entry in entries if entry.blob is not None}
    if previous is None:
        return said
    before = blobs_of(previous) if before is None else before
    unknown = doubtful_files(entries, previous)
    if unknown is not None:
        known = dict(before)
        for i in unknown:
            del known[entries[i].path]
    else:
        manifest = previous.manifest
        stamps = zip(manifest.sizes.tolist(), manifest.mtimes.tolist(), manifest.ctimes.tolist(), strict=True)
        rows = zip(before, stamps, _settled(previous).tolist(), strict=True)
        then = {path: stamp for path, stamp, is_settled in rows if is_settled}
        now = ((entry.path, (entry.size, entry.mtime_ns, entry.ctime_ns)) for entry in entries)
        known = {path: before[path] for path, stamp in now if then.get(path) == stamp}
    return {**said, **known} if said else known


def doubtful_files(entries: Sequence[FileEntry], index: Index) -> list[int] | None:
    """Which of these files may be other than the index has them; None if it is not of just these paths."""
    manifest, n = index.manifest, len(entries)
    if len(manifest.paths) != n or not StringTable.from_strings(e.path for e in entries).same_as(manifest.paths):
        return None
    is_same = np.fromiter((e.ctime_ns for e in entries), np.int64, n) == manifest.ctimes
    is_same &= np.fromiter((e.mtime_ns for e in entries), np.int64, n) == manifest.mtimes
    is_same &= np.fromiter((e.size for e in entries), np.int64, n) == manifest.sizes
    doubtful: list[int] = np.flatnonzero(~(is_same & _settled(index))).tolist()
    return doubtful


def has_same_files(index: Index, scan: Scan) -> bool:
    """Whether an index is of just the files of a scan, each as it was."""
    manifest, kept = index.manifest, scan.entries
    # Files that were read and found unfit (binary, minified) are in the manifest without a blob.
    if len(manifest.paths) != len(kept):
        return False
    return (
        _are((e.ctime_ns for e in kept), manifest.ctimes)
        and _are((e.mtime_ns for e in kept), manifest.mtimes)
        and _are((e.size for e in kept), manifest.sizes)
        and bool(_settled(index).all())
        and StringTable.from_strings(entry.path for entry in kept).same_as(manifest.paths)
    )


def _are(values: Iterator[int], known: NDArray[np.int64]) -> bool:
    return bool(np.array_equal(np.fromiter(values, dtype=np.int64, count=len(known)), known))


def changed_files(index: Index, scan: Scan) -> tuple[list[str], list[str]]:
    """(files that are other than they were, new or gone; files that are as they were but may change without a trace),
    both by path. Without either `has_same_files` holds."""
    manifest = index.manifest
    stamps = zip(manifest.sizes.tolist(), manifest.mtimes.tolist(), manifest.ctimes.tolist(), strict=True)
    before = dict(zip(manifest.paths, stamps, strict=True))
    now = {entry.path: (entry.size, entry.mtime_ns, entry.ctime_ns) for entry in scan.entries}
    changed = {path for path in before.keys() | now.keys() if before.get(path) != now.get(path)}
    settled = zip(manifest.paths, _settled(index).tolist(), strict=True)
    return sorted(changed), [path for path, is_settled in settled if not is_settled and path not in changed]


def is_of_here(index: Index | None, scan: Scan) -> TypeGuard[Index]:
    """Whether an index was made of these very files, and did not come with them: whoever ships a repository can ship an
    index of it that says something else. One file that nobody has changed since is enough, because no two copies are of
    the same nanosecond; where the system does not tell, the index is believed."""
    if index is None:
        return False
    paths, ctimes = index.manifest.paths, index.manifest.ctimes
    is_told = False
    for entry in scan.entries:  # of which the first will mostly do
        if entry.ctime_ns:
            is_told = True
            place = paths.position(entry.path)
            if place >= 0 and ctimes[place] == entry.ctime_ns:
                return True
    return not is_told


def _settled(index: Index) -> NDArray[np.bool_]:
    """Files whose times would be others if they had changed after they were read."""
    ctimes, before = index.manifest.ctimes, index.scanned_at - _RACY_NS
    return np.asarray((index.manifest.mtimes < before) | ((ctimes > 0) & (ctimes < before)))


# Raised when linking or the lexical index change what they give for the same facts.
INDEX_VERSION = 22


def index_version() -> str:
    """Return the version of everything that an index depends on except its files. Other versions are rebuilt."""
    weights = WalkWeights()
    # Written out here: renaming the class or its fields must not change the version.
    walk = f"WalkWeights(forward={_format_weights(weights.forward)}, backward={_format_weights(weights.backward)})"
    own = f"{INDEX_VERSION}:{options.PARSER_VERSION}\n{walk}\n"
    return hashlib.sha256(own.encode() + shipped_confidences() + all_grammars()).hexdigest()[:16]


def _format_weights(weights: tuple[tuple[EdgeKind, float], ...]) -> str:
    return "(" + ", ".join(f"(<EdgeKind.{kind.name}: {kind.value}>, {weight!r})" for kind, weight in weights) + ")"
