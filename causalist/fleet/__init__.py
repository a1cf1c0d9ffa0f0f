"""Many repositories as one: an index of each in a shared store, edges between them, questions over all.

In: `fleet.toml`, which names repositories and a store. Out: an immutable shard of each repository, tables in Parquet,
answers. Needs the extra `fleet`; nothing that works on a single repository imports it.
"""

from typing import TYPE_CHECKING

from causalist._internal.lazy import exports

if TYPE_CHECKING:
    from causalist.fleet.access import FleetView
    from causalist.fleet.fleet import Fleet, FleetStatus, parse_size
    from causalist.fleet.members import FleetFile, Member, read_fleet_file
    from causalist.fleet.object_store import FleetStore
    from causalist.fleet.question import FleetAnswer, ask_fleet
    from causalist.fleet.repository_shard import Shard, build_shard, open_shard
    from causalist.fleet.scheduling import IndexingOptions

__all__ = [
    "Fleet",
    "FleetAnswer",
    "FleetFile",
    "FleetStatus",
    "FleetStore",
    "FleetView",
    "IndexingOptions",
    "Member",
    "Shard",
    "ask_fleet",
    "build_shard",
    "open_shard",
    "parse_size",
    "read_fleet_file",
]

__getattr__ = exports(
    __name__,
    {
        "access": "FleetView",
        "fleet": "Fleet FleetStatus parse_size",
        "members": "FleetFile Member read_fleet_file",
        "scheduling": "IndexingOptions",
        "question": "FleetAnswer ask_fleet",
        "repository_shard": "Shard build_shard open_shard",
        "object_store": "FleetStore",
    },
)
