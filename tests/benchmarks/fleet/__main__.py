"""Import edges between the packages of the corpus, against what the interpreters resolve.

    python -m tests.benchmarks.fleet.corpus FOLDER
    FOLDER/venv/bin/python tests/benchmarks/fleet/python_truth.py FOLDER/python > python.jsonl
    node tests/benchmarks/fleet/npm_truth.cjs FOLDER/npm FOLDER/node > npm.jsonl
    python -m tests.benchmarks.fleet FOLDER/python STORE python.jsonl [--half A|B] [--show N]

Indexes the packages into STORE, where they are not yet, and joins them. Three things are compared, each as a set: a
source file and the package that it imports, the file that an import loads, and the class or function that an imported
name is. Only packages with sources in FOLDER count, on both sides; files and definitions that the sources do not have
(compiled or generated ones) are counted apart. `--half` takes every other package as a source of edges.
"""

import argparse
import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow as arrow
import pyarrow.parquet as parquet

from causalist.fleet import FleetStore, Member, Shard, build_shard
from causalist.fleet.links.join import link_shards
from tests.benchmarks.edges.rust_sites import wilson
from tests.benchmarks.fleet.corpus import HELD_OUT

Pair = tuple[str, str, str, str]  # package, file; package, file or definition


def index_all(folder: Path, store: FleetStore) -> list[Shard]:
    """Return the shards of the packages below a folder; those that the store has are not built again."""
    shards = []
    manifests = sorted([*folder.glob("*"), *folder.glob("@*/*")])
    for place in (each for each in manifests if each.is_dir() and not each.name.startswith("@")):
        name = place.relative_to(folder).as_posix()
        if name in HELD_OUT:
            continue
        record = store.read_record(name.removeprefix("@"))
        if record is None:
            shard = build_shard(Member(name.removeprefix("@"), str(place)), place, store)
            store.write_record(shard.name, shard.to_record())
        else:
            shard = Shard.from_record(record)
        shards.append(shard)
    return shards


def indexed_files(shards: Iterable[Shard], store: FleetStore) -> dict[str, set[str]]:
    """Return the files of the index of each package. It leaves out build output, as most of `dist` is."""
    return {
        each.name: set(
            parquet.read_table(store.local_object(each.objects["text"], "text"), columns=["path"])["path"].to_pylist()
        )
        for each in shards
    }


def in_half(package: str, half: str) -> bool:
    """Return True for the packages of a half; of both for ""."""
    return not half or "AB"[hashlib.sha256(package.encode()).digest()[0] % 2] == half


def find_file(folder: Path, file: str, known: dict[tuple[Path, str], str]) -> str:
    """Return the path in the sources of an installed file, "" if they do not have it."""
    if (folder, file) not in known:
        places = [each for each in ("", "src/", "lib/", "python/") if (folder / f"{each}{file}").is_file()]
        found = [f"{places[0]}{file}"] if places else []
        if not found and folder.is_dir():
            name = file.rpartition("/")[2]
            below = (p.relative_to(folder).as_posix() for p in folder.rglob(name))
            found = sorted((p for p in below if f"/{p}".endswith(f"/{file}")), key=lambda p: (p.count("/"), p))
        known[folder, file] = found[0] if found else ""
    return known[folder, file]


def read_truth(path: Path, folder: Path, indexed: dict[str, set[str]], half: str) -> dict[str, set[Pair]]:
    """Return the pairs of each level, and those that do not count ("open")."""
    truth: dict[str, set[Pair]] = defaultdict(set)
    known: dict[tuple[Path, str], str] = {}
    for line in path.read_text().splitlines():
        row = json.loads(line)
        source = row["package"].removeprefix("@"), row["path"]
        if source[0] not in indexed or not in_half(source[0], half):
            continue
        if source[1] not in indexed[source[0]]:
            truth["not indexed"].add((*source, "", ""))
            continue
        place = folder / row.get("distribution", "")
        target = row.get("distribution", "").removeprefix("@")
        if row["state"] in ("own", "open"):
            truth["open"].add((*source, target, ""))
        if row["state"] != "found" or target not in indexed:
            continue
        truth["package"].add((*source, target, ""))
        there = find_file(place, row["file"], known)
        there = there if there in indexed[target] else ""
        truth["file" if there else "file not in sources"].add((*source, target, there or row["file"]))
        owner = row.get("definition_distribution", "")
        if owner in indexed and owner != row["package"]:
            there = find_file(folder / owner, row["definition_file"], known)
            there = there if there in indexed[owner] else ""
            name = "symbol" if there else "symbol not in sources"
            truth[name].add((*source, owner, f"{there or row['definition_file']}::{row['definition']}"))
    return truth


def found_pairs(table: "arrow.Table", half: str, endings: tuple[str, ...]) -> dict[str, set[Pair]]:
    """Return the pairs of each level among the edges from files that the interpreter runs."""
    found: dict[str, set[Pair]] = defaultdict(set)
    for row in table.select(["source_repository", "source", "target_repository", "target", "rule"]).to_pylist():
        source = row["source_repository"], row["source"].partition("::")[0]
        if not in_half(source[0], half) or not source[1].endswith(endings):
            continue
        if row["rule"] == "package-import":
            found["package"].add((*source, row["target_repository"], ""))
            found["file"].add((*source, row["target_repository"], row["target"]))
        elif row["rule"] == "symbol-import":
            found["symbol"].add((*source, row["target_repository"], row["target"]))
    return found


def report(level: str, right: int, n: int, what: str) -> str:
    """Return a line with a share and its interval."""
    low, high = wilson(right, max(n, 1))
    return f"{level:8} {what:10} {right:6} of {n:6}  {right / max(n, 1):.4f}  [{low:.4f}, {high:.4f}]"


def compare(found: dict[str, set[Pair]], truth: dict[str, set[Pair]], show: int, out: Callable[[str], None]) -> None:
    """Print precision and recall of each level, and some of what differs."""
    out(f"{len(truth['not indexed'])} files with imports are not indexed")
    open_ = {pair[:3] for pair in truth["open"]}
    for level in ("package", "file", "symbol"):
        there = {pair for pair in truth[level] if pair[:3] not in open_}
        have = {pair for pair in found[level] if pair[:3] not in open_}
        beside = truth[f"{level} not in sources"]
        if level == "symbol":  # constants and what decorators make have no definition that the interpreter tells
            told = {(*pair[:3], pair[3].rpartition("::")[2].rpartition(".")[2]) for pair in there | beside}
            have = {pair for pair in have if (*pair[:3], pair[3].rpartition("::")[2].rpartition(".")[2]) in told}
        if level == "file":
            gone = {pair[:3] for pair in beside}
            have = {pair for pair in have if pair in there or pair[:3] not in gone}
        right = have & there
        out(report(level, len(right), len(have), "precision"))
        out(report(level, len(right), len(there), "recall"))
        for name, pairs in (("too much", have - there), ("missing", there - have)):
            for pair in sorted(pairs, key=lambda p: hashlib.sha256("".join(p).encode()).digest())[:show]:
                out(f"    {name}: {pair[0]}:{pair[1]} -> {pair[2]}:{pair[3]}")
        if beside:
            out(f"    {len(beside)} more are not in the sources")


def main(arguments: Iterable[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.fleet")
    parser.add_argument("folder", type=Path)
    parser.add_argument("store")
    parser.add_argument("truth", type=Path)
    parser.add_argument("--half", choices=("A", "B"), default="")
    parser.add_argument("--show", type=int, default=0)
    given = parser.parse_args(None if arguments is None else list(arguments))
    shards = index_all(given.folder, FleetStore(given.store))
    start = time.process_time()
    table = link_shards(shards, FleetStore(given.store))
    n_imports = len({(r["source_repository"], r["source"], r["row"]) for r in table.to_pylist()})
    n_files = sum(each.n_files for each in shards)
    print(f"{len(shards)} packages, {n_files} files, {table.num_rows} edges from {n_imports} rows"
          f" in {time.process_time() - start:.1f} s of processor time")  # fmt: skip
    indexed = indexed_files(shards, FleetStore(given.store))
    truth = read_truth(given.truth, given.folder, indexed, given.half)
    endings = (".py",) if given.folder.name == "python" else (".js", ".cjs", ".mjs")
    compare(found_pairs(table, given.half, endings), truth, given.show, print)


if __name__ == "__main__":
    main()
