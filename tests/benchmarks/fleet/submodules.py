"""Edges of submodules between the repositories of a fleet, against what git itself recorded.

    python -m tests.benchmarks.fleet.submodules FLEET

FLEET is the folder of an indexed fleet whose sources are local clones. A pair of repositories is right if git reads a
submodule in `.gitmodules` of the first, a commit is recorded at its path, and the address means the second: the same
owner and name, relative addresses beginning at the folder of the first. Where the clone of the second has the recorded
commit, that is printed: no name is needed to see that it is meant.
"""

import argparse
import posixpath
import subprocess
from pathlib import Path

from causalist.fleet import FleetStore
from causalist.fleet.links.join import link_shards
from causalist.fleet.members import read_fleet_file
from causalist.fleet.repository_shard import Shard
from tests.benchmarks.edges.rust_sites import wilson


def _git(source: str, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", source, *arguments], capture_output=True, text=True, check=False)
    return done.stdout


def _recorded(source: str) -> list[tuple[str, str]]:
    """Return (address, commit) of the submodules of the commit that HEAD is."""
    rows = (line.split(None, 3) for line in _git(source, "ls-tree", "-r", "HEAD").splitlines())
    commits = {path: commit for mode, _, commit, path in rows if mode == "160000"}
    settings: dict[str, dict[str, str]] = {}
    listed = _git(source, "config", "--blob", "HEAD:.gitmodules", "--get-regexp", r"^submodule\..*\.(path|url)$")
    for line in listed.splitlines():
        key, _, value = line.partition(" ")
        section, _, name = key.rpartition(".")
        settings.setdefault(section, {})[name] = value
    return [(each["url"], commits[each["path"]]) for each in settings.values() if each.get("path") in commits]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.fleet.submodules")
    parser.add_argument("fleet", type=Path)
    file = read_fleet_file(parser.parse_args().fleet / "fleet.toml")
    source_by_name = {each.name: each.source for each in file.members}
    listed, n_sections, confirmed = set(), 0, 0
    for name, source in source_by_name.items():
        for address, commit in _recorded(source):
            n_sections += 1
            whole = posixpath.normpath(f"host/{name}/{address}") if address.startswith(".") else address
            meant = "/".join(whole.removesuffix(".git").split("/")[-2:]).lower()
            target = next((each for each in source_by_name if each.lower() == meant), None)
            if target is not None:
                listed.add((name, target))
                confirmed += _git(source_by_name[target], "cat-file", "-t", commit).strip() == "commit"
    store = FleetStore(file.store)
    shards = [Shard.from_record(record) for each in source_by_name if (record := store.read_record(each)) is not None]
    edges = [row for row in link_shards(shards, store).to_pylist() if row["rule"] == "submodule"]
    found = {(row["source_repository"], row["target_repository"]) for row in edges}
    print(f"{n_sections} submodules, {len(listed)} of members, {confirmed} whose commit the member has")
    for what, n in (("precision", len(found)), ("recall", len(listed))):
        low, high = wilson(len(found & listed), n)
        print(f"{what:10} {len(found & listed)} of {n}  {len(found & listed) / max(n, 1):.3f}  [{low:.3f}, {high:.3f}]")
    for what, some in (("too much", found - listed), ("missing", listed - found)):
        for pair in sorted(some):
            print(f"    {what}: {' -> '.join(pair)}")


if __name__ == "__main__":
    main()
