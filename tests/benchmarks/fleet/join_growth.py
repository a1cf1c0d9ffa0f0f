"""Processor time of the join of links as a fleet grows, with copies of shards whose packages have other names.

    python -m tests.benchmarks.fleet.join_growth STORE FOLDER [--times 1 2 4 8]

Takes the link tables of the shards in STORE, writes copies of them to FOLDER in which the names of all modules and
packages have a number in front, so that each copy is a fleet of its own, and joins all of them.
"""

import argparse
import math
import resource
from pathlib import Path

import pyarrow as arrow
import pyarrow.compute as compute
import pyarrow.parquet as parquet

from causalist.fleet import FleetStore, Shard
from causalist.fleet.links.join import LinkTables, join_links

_RENAMED = ("package", "module", "to_module")


def rename(source: Path, target: Path, number: int) -> None:
    """Write a table whose modules and packages have a number in front, relative and empty names aside."""
    table = parquet.read_table(source)
    for i, name in enumerate(table.column_names):
        if name in _RENAMED:
            column = table[name]
            # A use may name several modules, with spaces between them.
            renamed = compute.replace_substring(column, " ", f" n{number}")
            renamed = compute.binary_join_element_wise(f"n{number}", renamed, "")
            table = table.set_column(i, name, compute.if_else(compute.equal(column, ""), column, renamed))
    parquet.write_table(table, target, compression="zstd")


def seconds() -> float:
    """Return the processor time of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.fleet.join_growth")
    parser.add_argument("store")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--times", type=int, nargs="+", default=[1, 2, 4, 8])
    given = parser.parse_args()
    store = FleetStore(given.store)
    records = (store.read_record(name) for name in store.record_names())
    shards = [Shard.from_record(each) for each in records if each is not None]
    given.folder.mkdir(parents=True, exist_ok=True)
    points = []
    for n in given.times:
        paths: dict[str, dict[str, Path]] = {"publishes": {}, "uses": {}}
        for number in range(n):
            for shard in shards:
                for kind, places in paths.items():
                    target = given.folder / f"{number}-{shard.objects[kind]}.{kind}"
                    if not target.exists():
                        rename(store.local_object(shard.objects[kind], kind), target, number)
                    places[f"n{number}/{shard.name}"] = target
        start = seconds()
        table: arrow.Table = join_links(LinkTables(paths["publishes"], paths["uses"]))
        used = seconds() - start
        points.append((n * len(shards), used))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
        print(f"{n * len(shards):6} repositories  {table.num_rows:8} edges  {used:6.2f} s"
              f"  {1000 * used / (n * len(shards)):.1f} ms each  peak {peak:.0f} MB")  # fmt: skip
    if len(points) > 1:
        (first, before), (last, after) = points[0], points[-1]
        print(f"growth exponent {math.log(after / before) / math.log(last / first):.2f}")


if __name__ == "__main__":
    main()
