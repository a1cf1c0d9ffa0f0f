"""A folder or a git tree -> source files: path, bytes and hash; ignore rules and limits.

`scan_folder` and `scan_commit` say what there is by metadata alone; `read_file` and `BlobReader` bring the content,
or the reason why it stays out. Nothing here parses, and nothing here writes. A file that stays out has one of the
reasons of `Reason`; it is never an error.
"""

from typing import TYPE_CHECKING

from causalist._internal.lazy import exports

if TYPE_CHECKING:
    from causalist.source.commit_scan import BlobReader, changes_since, scan_commit
    from causalist.source.content import blob_hash, read_bytes, read_file
    from causalist.source.exclusion import DEFAULT_LIMITS, Limits, Reason, classify
    from causalist.source.fingerprint import Glance, Rescan, glance_at, scan_since
    from causalist.source.folder_scan import scan_folder
    from causalist.source.git_log import ancestry, is_shallow, read_changes
    from causalist.source.roots import find_root, refuse_root, relative_folder
    from causalist.source.watch import wait_for_changes

__all__ = [
    "DEFAULT_LIMITS",
    "BlobReader",
    "Glance",
    "Limits",
    "Reason",
    "Rescan",
    "ancestry",
    "blob_hash",
    "changes_since",
    "classify",
    "find_root",
    "glance_at",
    "is_shallow",
    "read_bytes",
    "read_changes",
    "read_file",
    "refuse_root",
    "relative_folder",
    "scan_commit",
    "scan_folder",
    "scan_since",
    "wait_for_changes",
]

__getattr__ = exports(
    __name__,
    {
        "commit_scan": "BlobReader changes_since scan_commit",
        "content": "blob_hash read_bytes read_file",
        "folder_scan": "scan_folder",
        "fingerprint": "Glance Rescan glance_at scan_since",
        "git_log": "ancestry is_shallow read_changes",
        "roots": "find_root refuse_root relative_folder",
        "exclusion": "DEFAULT_LIMITS Limits Reason classify",
        "watch": "wait_for_changes",
    },
)
