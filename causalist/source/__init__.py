"""A folder or a git tree -> source files: path, bytes and hash; ignore rules and limits.

`scan_folder` and `scan_commit` say what there is by metadata alone; `read_file` and `BlobReader` bring the content,
or the reason why it stays out. Nothing here parses, and nothing here writes. A file that stays out has one of the
reasons of `SkipReason`; it is never an error.
"""

from typing import TYPE_CHECKING

from causalist._internal.lazy import exports

if TYPE_CHECKING:
    from causalist.source.commits import (
        MAX_COMMITS,
        BlobReader,
        blobs_with_words,
        changes_since,
        is_shallow,
        list_ancestors,
        read_changes,
        scan_commit,
    )
    from causalist.source.exclusion import DEFAULT_LIMITS, Limits, SkipReason, as_utf8, classify
    from causalist.source.folder_changes import (
        FolderFingerprint,
        IncrementalScan,
        fingerprint_folder,
        fingerprint_walk,
        scan_walked,
        update_scan,
        wait_for_changes,
    )
    from causalist.source.folder_scan import FolderReader, blob_hash, pick_examples, read_bytes, read_file, scan_folder
    from causalist.source.git import find_root, refuse_root, relative_folder, remote_name

__all__ = [
    "DEFAULT_LIMITS",
    "MAX_COMMITS",
    "BlobReader",
    "FolderFingerprint",
    "FolderReader",
    "IncrementalScan",
    "Limits",
    "SkipReason",
    "as_utf8",
    "blob_hash",
    "blobs_with_words",
    "changes_since",
    "classify",
    "find_root",
    "fingerprint_folder",
    "fingerprint_walk",
    "is_shallow",
    "list_ancestors",
    "pick_examples",
    "read_bytes",
    "read_changes",
    "read_file",
    "refuse_root",
    "relative_folder",
    "remote_name",
    "scan_commit",
    "scan_folder",
    "scan_walked",
    "update_scan",
    "wait_for_changes",
]

__getattr__ = exports(
    __name__,
    {
        "commits": "BlobReader MAX_COMMITS blobs_with_words changes_since is_shallow list_ancestors "
        "read_changes scan_commit",
        "folder_scan": "FolderReader blob_hash pick_examples read_bytes read_file scan_folder",
        "folder_changes": "FolderFingerprint IncrementalScan fingerprint_folder fingerprint_walk scan_walked "
        "update_scan wait_for_changes",
        "git": "find_root refuse_root relative_folder remote_name",
        "exclusion": "DEFAULT_LIMITS Limits SkipReason as_utf8 classify",
    },
)
