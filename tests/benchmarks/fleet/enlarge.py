"""A fleet of many repositories, by renaming finished shards.

    python -m tests.benchmarks.fleet.enlarge FOLDER NEW N [--share-indexes] [--no-tables]

Each copy has another name. Its rare words, those of at most RARE repositories, end in its number, as if its symbols had
been renamed, and so do the packages and modules that it publishes and uses, so that its edges lead to copies of the same
number. Texts are shared. So are indexes with `--share-indexes`, else each copy has other bytes of its own. Figures on
such a fleet say so.
"""

import argparse
import hashlib
import os
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow as arrow
import pyarrow.compute as compute
import pyarrow.parquet as parquet

from causalist.fleet import Fleet, Shard
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
            parquet.write_table(table, aside, compression="zstd")
        else:
            rename(self._place(shard, kind), aside, copy)
        return self._store.put_object(aside, kind)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("new", type=Path)
    parser.add_argument("n", type=int)
    parser.add_argument("--share-indexes", action="store_true")
    parser.add_argument("--no-tables", action="store_true", help="leave out the tables over the fleet")
    given = parser.parse_args()
    os.fsync = lambda _: None  # nothing is lost with a benchmark's store
    given.new.mkdir(parents=True)
    copies = Copies(Fleet.open(given.folder), given.new, share_indexes=given.share_indexes)
    n = len(copies.shards)
    names = sorted(copies.write(copies.shards[number % n], number // n) for number in range(given.n))
    rows = [f'[[repository]]\nname = "{name}"\nsource = "{given.new.resolve()}"\n' for name in names]
    (given.new / "fleet.toml").write_text("\n".join(['store = "store"\n', *rows]))
    if not given.no_tables:
        Fleet.open(given.new).write_tables()


if __name__ == "__main__":
    main()
