"""What metadata tells of the files of an index: which are as they were, and whether they are the ones it was made of.

In: an index and a scan. Nothing is read. A file is what it was if its size and its times are what they were, and if
these would be others had it changed since.
"""

from collections.abc import Sequence
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from causalist.model.index import Index
from causalist.model.source import FileEntry, Scan
from causalist.model.strings import StringTable

# A file written this shortly before it was looked at may change again without a new time stamp.
_RACY_NS = 2_000_000_000


def known_blobs(entries: Sequence[FileEntry], previous: Index | None) -> dict[str, str]:
    """Paths whose content is known without reading them: the entry says it, or size and times are as they were."""
    known = {entry.path: entry.blob for entry in entries if entry.blob is not None}
    if previous is None:
        return known
    manifest = previous.manifest
    stamps = zip(manifest.sizes.tolist(), manifest.mtimes.tolist(), manifest.ctimes.tolist(), strict=True)
    rows = zip(manifest.paths, manifest.blobs, stamps, _settled(previous).tolist(), strict=True)
    before = {path: (stamp, blob) for path, blob, stamp, is_settled in rows if is_settled}
    for entry in entries:
        then = before.get(entry.path)
        if then is not None and then[0] == (entry.size, entry.mtime_ns, entry.ctime_ns):
            known[entry.path] = then[1]
    return known


def has_same_files(index: Index, scan: Scan) -> bool:
    """Whether an index is of just the files of a scan, each as it was."""
    manifest, kept = index.manifest, scan.entries
    # Files that were read and found unfit (binary, minified) are in the manifest without a blob.
    if len(manifest.paths) != len(kept):
        return False
    sizes, mtimes, ctimes = (
        np.fromiter(values, dtype=np.int64, count=len(kept))
        for values in ((e.size for e in kept), (e.mtime_ns for e in kept), (e.ctime_ns for e in kept))
    )
    return (
        bool(np.array_equal(sizes, manifest.sizes))
        and bool(np.array_equal(mtimes, manifest.mtimes))
        and bool(np.array_equal(ctimes, manifest.ctimes))
        and bool(_settled(index).all())
        and StringTable.from_strings(entry.path for entry in kept).same_as(manifest.paths)
    )


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
    changed = {entry.path: entry.ctime_ns for entry in scan.entries if entry.ctime_ns}
    then = zip(index.manifest.paths, index.manifest.ctimes.tolist(), strict=True)
    return not changed or any(changed.get(path) == ctime for path, ctime in then)


def _settled(index: Index) -> NDArray[np.bool_]:
    """Files whose times would be others if they had changed after they were read."""
    ctimes, before = index.manifest.ctimes, index.scanned_at - _RACY_NS
    return np.asarray((index.manifest.mtimes < before) | ((ctimes > 0) & (ctimes < before)))
