"""The index on disk: complete or absent."""

from typing import TYPE_CHECKING

from causalist._internal.lazy import exports

if TYPE_CHECKING:
    from causalist.store.facts_cache import (
        MAX_CACHE_BYTES,
        CacheState,
        FactsCache,
        Key,
        decode_interface,
        encode_facts,
        facts_from_bytes,
        facts_path,
        facts_to_bytes,
        facts_with_bodies,
        split_parts,
    )
    from causalist.store.index_file import (
        FileStamp,
        KnownChecksums,
        LoadedIndex,
        has_version,
        index_stamp,
        load_index,
        read_index,
        read_seen,
        write_index,
        write_seen,
    )
    from causalist.store.index_folder import (
        ANSWERS_NAME,
        BACKGROUND_LOCK,
        BACKGROUND_NAME,
        BACKGROUND_STOP,
        FEEDBACK_LOCK,
        FEEDBACK_NAME,
        FOLDER,
        INDEX_NAME,
        OBSERVED_LOCK,
        OBSERVED_NAME,
        PROVEN_LOCK,
        PROVEN_NAME,
        WEIGHTS_NAME,
        LockBusy,
        cache_folder,
        delete_data_file,
        hold_data_file,
        hold_folder_lock,
        hold_lock,
        is_locked,
        is_read_only,
        prepare_folder,
        unlink_quietly,
    )

__all__ = [
    "ANSWERS_NAME",
    "BACKGROUND_LOCK",
    "BACKGROUND_NAME",
    "BACKGROUND_STOP",
    "FEEDBACK_LOCK",
    "FEEDBACK_NAME",
    "FOLDER",
    "INDEX_NAME",
    "MAX_CACHE_BYTES",
    "OBSERVED_LOCK",
    "OBSERVED_NAME",
    "PROVEN_LOCK",
    "PROVEN_NAME",
    "WEIGHTS_NAME",
    "CacheState",
    "FactsCache",
    "FileStamp",
    "Key",
    "KnownChecksums",
    "LoadedIndex",
    "LockBusy",
    "cache_folder",
    "decode_interface",
    "delete_data_file",
    "encode_facts",
    "facts_from_bytes",
    "facts_path",
    "facts_to_bytes",
    "facts_with_bodies",
    "has_version",
    "hold_data_file",
    "hold_folder_lock",
    "hold_lock",
    "index_stamp",
    "is_locked",
    "is_read_only",
    "load_index",
    "prepare_folder",
    "read_index",
    "read_seen",
    "split_parts",
    "unlink_quietly",
    "write_index",
    "write_seen",
]

__getattr__ = exports(
    __name__,
    {
        "facts_cache": "CacheState FactsCache Key MAX_CACHE_BYTES decode_interface encode_facts facts_from_bytes "
        "facts_path facts_to_bytes facts_with_bodies split_parts",
        "index_folder": "ANSWERS_NAME BACKGROUND_LOCK BACKGROUND_NAME BACKGROUND_STOP FEEDBACK_LOCK FEEDBACK_NAME "
        "FOLDER INDEX_NAME LockBusy OBSERVED_LOCK OBSERVED_NAME PROVEN_LOCK PROVEN_NAME WEIGHTS_NAME cache_folder "
        "delete_data_file hold_data_file hold_folder_lock hold_lock is_locked is_read_only prepare_folder "
        "unlink_quietly",
        "index_file": "FileStamp KnownChecksums LoadedIndex has_version index_stamp load_index read_index read_seen "
        "write_index write_seen",
    },
)
