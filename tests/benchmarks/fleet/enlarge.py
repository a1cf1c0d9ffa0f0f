"""A fleet of many repositories, by renaming finished shards.

    python -m tests.benchmarks.fleet.enlarge FOLDER NEW N [--share-indexes] [--no-tables]
    python -m tests.benchmarks.fleet.enlarge FOLDER NEW N --tables

Each copy has another name. Its rare words, those of at most RARE repositories, end in its number, as if its symbols had
been renamed. So do the packages and modules that it publishes and uses, so that its edges lead to copies of the same
number. Texts are shared. So are indexes with `--share-indexes`, else each copy has other bytes of its own. With
`--tables` only the tables over the fleet are made, with as many copies of their rows, and nothing of each repository:
enough to ask. Figures on such a fleet say so.
"""

import argparse
import hashlib
import json
import os
import resource
import shutil
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as arrow
import pyarrow.compute as compute
import pyarrow.parquet as parquet

from causalist.fleet import Fleet, Shard
from causalist.fleet.choice import REPOSITORIES, WORDS, write_sorted
from causalist.fleet.links.join import LINKS
from causalist.fleet.object_store import FleetStore
from causalist.store import read_index, write_index
from tests.benchmarks.fleet.join_growth import rename

RARE = 3


class Copies:
    """Writes renamed copies of the shards of a fleet to another store."""

    def __init__(self, fleet: Fleet, new: Path, *, share_indexes: bool) -> None:
        self.shards = [each for each in fleet.status().shards if each.is_ready]
        self._origin, self._new, self._share_indexes = fleet.store, new, share_indexes
        self._store = FleetStore(str(new / "store"))
        self._words = {each.name: parquet.read_table(self._place(each, "words")) for each in self.shards}
        counts = Counter(t for table in self._words.values() for t in table.column("term").to_pylist())
        rare = arrow.array([t for t, n in counts.items() if n <= RARE], arrow.string())
        self._is_rare = {n: compute.is_in(table.column("term"), value_set=rare) for n, table in self._words.items()}

    def write(self, shard: Shard, copy: int) -> str:
        """Write a copy, copy 0 being the shard itself, and return its name."""
        owner, slash, name = shard.name.rpartition("/")
        renamed = shard.name if not copy else f"{owner}-{copy}{slash}{name}-{copy}" if slash else f"{name}-{copy}"
        objects = {kind: self._object(shard, kind, copy) for kind in shard.objects}
        commit = shard.commit if not copy else hashlib.sha256(f"{shard.commit} {copy}".encode()).hexdigest()[:40]
        self._store.write_record(renamed, replace(shard, name=renamed, commit=commit, objects=objects).to_record())
        return renamed

    def _place(self, shard: Shard, kind: str) -> Path:
        return self._origin.local_object(shard.objects[kind], kind)

    def _object(self, shard: Shard, kind: str, copy: int) -> str:
        digest, aside = shard.objects[kind], self._new / kind
        if not copy or kind == "text" or (kind == "index" and self._share_indexes):
            target = self._new / "store" / "objects" / digest[:2] / f"{digest}.{kind}"
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists():
                shutil.copyfile(self._place(shard, kind), target)
            return digest
        if kind == "index":
            index = read_index(self._place(shard, kind))
            assert index is not None
            write_index(aside, replace(index, scanned_at=index.scanned_at + copy))
        elif kind == "words":
            table = self._words[shard.name]
            terms = table.column("term")
            other = compute.binary_join_element_wise(terms, str(copy), "")
            terms = compute.if_else(self._is_rare[shard.name], other, terms)
            table = table.set_column(0, "term", terms).sort_by("term")
            # By its contents it would be recognized as a copy.
            about = {key: json.loads(value) | {"sketch": []} for key, value in table.schema.metadata.items()}
            table = table.replace_schema_metadata({key: json.dumps(value) for key, value in about.items()})
            parquet.write_table(table, aside, compression="zstd")
        else:
            rename(self._place(shard, kind), aside, copy)
        return self._store.put_object(aside, kind)


class TableCopies:
    """Writes the tables of a fleet with `n` renamed copies of all rows to another store, which shares its objects."""

    def __init__(self, fleet: Fleet, new: Path, n: int) -> None:
        self._new, self._n = new, n
        self._tables = {
            name: parquet.read_table(fleet.store.local_table(name)) for name in (WORDS, REPOSITORIES, LINKS)
        }
        (new / "store" / "tables").mkdir(parents=True)
        (new / "store" / "objects").symlink_to(Path(fleet.file.store).resolve() / "objects")

    def write(self) -> list[str]:
        """Write the tables and return the names of all repositories."""
        repositories = self._tables[REPOSITORIES]
        copies = [self._with_names(repositories, ("name",), copy) for copy in range(self._n)]
        if "sketch" in repositories.column_names:  # by it they would be recognized as copies
            at, kind = repositories.column_names.index("sketch"), repositories.schema.field("sketch")
            unknown = arrow.array([[]] * len(repositories), kind.type)
            copies[1:] = [each.set_column(at, kind, unknown) for each in copies[1:]]
        names = arrow.concat_tables(copies).column("name").to_pylist()
        order = sorted(range(len(names)), key=names.__getitem__)
        place = np.empty(len(names), dtype=np.int32)
        place[order] = np.arange(len(names), dtype=np.int32)
        self._write(REPOSITORIES, arrow.concat_tables(copies).take(arrow.array(order)))
        words = self._tables[WORDS]
        counts = words.group_by("term").aggregate([("repository", "count")])
        rare = counts.filter(compute.less_equal(counts["repository_count"], RARE)).column("term").combine_chunks()
        is_rare = compute.is_in(words.column("term"), value_set=rare)
        began = time.process_time()
        with parquet.ParquetWriter(self._new / "unsorted", words.schema) as writer:
            for copy in range(self._n):
                terms = words.column("term")
                terms = compute.if_else(is_rare, compute.binary_join_element_wise(terms, str(copy), ""), terms)
                numbers = place[copy * len(repositories) + np.asarray(words.column("repository").to_numpy())]
                table = words.set_column(0, "term", terms if copy else words.column("term"))
                writer.write_table(table.set_column(1, "repository", arrow.array(numbers)))
        target = self._new / "store" / "tables" / f"{WORDS}.parquet"
        write_sorted(self._new / "unsorted", target, self._new)
        print(f"{len(words) * self._n} rows of words sorted in {time.process_time() - began:.1f} s, peak "
              f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB")  # fmt: skip
        (self._new / "unsorted").unlink()
        ends = ("source_repository", "target_repository")
        links = [self._with_names(self._tables[LINKS], ends, copy) for copy in range(self._n)]
        joined = arrow.concat_tables(links)
        self._write(LINKS, joined.sort_by([(name, "ascending") for name in joined.column_names]))
        return sorted(names)

    def _with_names(self, table: arrow.Table, columns: tuple[str, ...], copy: int) -> arrow.Table:
        for name in columns if copy else ():
            renamed = compute.binary_join_element_wise(table.column(name), f"x{copy}", "-")
            table = table.set_column(table.column_names.index(name), name, renamed)
        return table

    def _write(self, name: str, table: arrow.Table) -> None:
        parquet.write_table(table, self._new / "store" / "tables" / f"{name}.parquet", compression="zstd")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("new", type=Path)
    parser.add_argument("n", type=int)
    parser.add_argument("--share-indexes", action="store_true")
    parser.add_argument("--no-tables", action="store_true", help="leave out the tables over the fleet")
    parser.add_argument("--tables", action="store_true", help="make the tables over the fleet alone")
    given = parser.parse_args()
    os.fsync = lambda _: None  # nothing is lost with a benchmark's store
    given.new.mkdir(parents=True)
    fleet = Fleet.open(given.folder)
    if given.tables:
        names = TableCopies(fleet, given.new, given.n // len(fleet.file.members)).write()
    else:
        copies = Copies(fleet, given.new, share_indexes=given.share_indexes)
        n = len(copies.shards)
        names = sorted(copies.write(copies.shards[number % n], number // n) for number in range(given.n))
    rows = [f'[[repository]]\nname = "{name}"\nsource = "{given.new.resolve()}"\n' for name in names]
    (given.new / "fleet.toml").write_text("\n".join(['store = "store"\n', *rows]))
    if not given.no_tables and not given.tables:
        Fleet.open(given.new).write_tables()


if __name__ == "__main__":
    main()
