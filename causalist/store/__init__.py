"""The index on disk: complete or absent."""

from typing import TYPE_CHECKING

from causalist._internal.lazy import exports

if TYPE_CHECKING:
    from causalist.store.cache_dir import (
        ANSWERS_NAME,
        BESIDE_LOCK,
        FEEDBACK_NAME,
        FOLDER,
        INDEX_NAME,
        WEIGHTS_NAME,
        cache_folder,
        is_read_only,
        locked,
        locked_folder,
        prepare_folder,
    )
    from causalist.store.facts_cache import MOST_BYTES, CacheState, FactsCache, Key, facts_path
    from causalist.store.facts_codec import (
        facts_from_bytes,
        facts_to_bytes,
        facts_with_bodies,
        interface_of_parts,
        parts_of_bytes,
    )
    from causalist.store.index_file import (
        Opened,
        Sums,
        Written,
        index_stamp,
        open_index,
        read_index,
        read_seen,
        write_index,
        write_seen,
    )

__all__ = [
    "ANSWERS_NAME",
    "BESIDE_LOCK",
    "FEEDBACK_NAME",
    "FOLDER",
    "INDEX_NAME",
    "MOST_BYTES",
    "WEIGHTS_NAME",
    "CacheState",
    "FactsCache",
    "Key",
    "Opened",
    "Sums",
    "Written",
    "cache_folder",
    "facts_from_bytes",
    "facts_path",
    "facts_to_bytes",
    "facts_with_bodies",
    "index_stamp",
    "interface_of_parts",
    "is_read_only",
    "locked",
    "locked_folder",
    "open_index",
    "parts_of_bytes",
    "prepare_folder",
    "read_index",
    "read_seen",
    "write_index",
    "write_seen",
]

__getattr__ = exports(
    __name__,
    {
        "facts_codec": "facts_from_bytes facts_to_bytes facts_with_bodies interface_of_parts parts_of_bytes",
        "facts_cache": "CacheState FactsCache Key MOST_BYTES facts_path",
        "cache_dir": "ANSWERS_NAME BESIDE_LOCK FEEDBACK_NAME FOLDER INDEX_NAME WEIGHTS_NAME cache_folder "
        "is_read_only locked locked_folder prepare_folder",
        "index_file": "Opened Sums Written index_stamp open_index read_index read_seen write_index write_seen",
    },
)
