"""A fleet of many repositories, by renaming finished shards: `python -m tests.benchmarks.fleet.enlarge FOLDER NEW N`.

Each copy has another name and other bytes of its index, so that nothing of it is shared, and its rare words, those of
at most RARE repositories, end in its number, as if its symbols had been renamed. Texts are shared. Figures on such a
fleet say so.
"""

import argparse
import hashlib
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow as arrow
import pyarrow.parquet as parquet

from causalist.fleet import Fleet, FleetFile, Member
from causalist.fleet.members import add_members
from causalist.fleet.object_store import FleetStore
from causalist.store import read_index, write_index

RARE = 3


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("new")
    parser.add_argument("n", type=int)
    given = parser.parse_args()
    fleet = Fleet.open(given.folder)
    shards = [each for each in fleet.status().shards if each.is_ready]
    new = Path(given.new)
    new.mkdir(parents=True)
    store = FleetStore(str(new / "store"))
    words = {each.name: parquet.read_table(fleet.store.local_object(each.objects["words"], "words")) for each in shards}
    counts = Counter(term for table in words.values() for term in table.column("term").to_pylist())
    members = []
    for number in range(given.n):
        shard, copy = shards[number % len(shards)], number // len(shards)
        owner, _, name = shard.name.rpartition("/")
        renamed = shard.name if not copy else f"{owner}-{copy}/{name}-{copy}"
        objects = dict(shard.objects)
        for kind in ("index", "text", "words"):
            source = fleet.store.local_object(shard.objects[kind], kind)
            aside = new / kind
            if kind == "index" and copy:
                index = read_index(source)
                assert index is not None
                write_index(aside, replace(index, scanned_at=index.scanned_at + copy))
                objects[kind] = store.put_object(aside, kind)
            elif kind == "words" and copy:
                table = words[shard.name]
                terms = [f"{t}{copy}" if counts[t] <= RARE else t for t in table.column("term").to_pylist()]
                table = table.set_column(0, "term", arrow.array(terms, arrow.string())).sort_by("term")
                parquet.write_table(table, aside, compression="zstd")
                objects[kind] = store.put_object(aside, kind)
            else:
                target = new / "store" / "objects" / objects[kind][:2] / f"{objects[kind]}.{kind}"
                target.parent.mkdir(parents=True, exist_ok=True)
                if not target.exists():
                    shutil.copyfile(source, target)
        commit = shard.commit if not copy else hashlib.sha256(f"{shard.commit} {copy}".encode()).hexdigest()[:40]
        store.write_record(renamed, replace(shard, name=renamed, commit=commit, objects=objects).to_record())
        members.append(Member(renamed, str(new)))
    add_members(FleetFile(new / "fleet.toml", str(new / "store")), members)
    Fleet.open(new).write_tables()


if __name__ == "__main__":
    main()
