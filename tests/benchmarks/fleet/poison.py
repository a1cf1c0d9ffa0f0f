"""Poisoned repositories beside good ones: `python -m tests.benchmarks.fleet.poison FOLDER [--bytes N] [--workers N]`.

Makes repositories that are hard to index, each next to nothing else, and two good ones in FOLDER; indexes all; prints
for each how it ended and what it took; and compares the good ones with those of a store of their own, byte by byte. A
large file is sparse. Its repository is a folder, as git would have to read it all before anything is tried.
"""

import argparse
import os
import time
from collections.abc import Mapping
from pathlib import Path

from causalist.fleet import Fleet, IndexingOptions, Shard

GOOD = ("good", "well")
_DEEP = 20_000
_NAMES = (b"-rf", b"a b", b"new\nline.py", b"\xff\xfe.py", b"q'\"`$(x).py", b"esc\x1b[2J.py", b"external:os.py",
          b"colon:1.py", b"x" * 250 + b".py", b"%2e%2e%2fup.py", b"CON.py", b"back\\slash.py")  # fmt: skip


def make_large(place: Path, n_bytes: int) -> None:
    """Write a sparse file of code of a size, and one that is sound."""
    place.mkdir(parents=True)
    with (place / "large.py").open("wb") as file:
        file.write(b"def large():\n    return 1\n")
        file.truncate(n_bytes)
    (place / "sound.py").write_text("def sound():\n    return 1\n")


def make_deep(place: Path) -> None:
    """Write files that nest deeper than a stack, in several languages, and folders that do."""
    place.mkdir(parents=True)
    nested = {
        "brackets.py": f"x = {'[' * _DEEP}{']' * _DEEP}\n",
        "calls.js": f"{'f(' * _DEEP}{')' * _DEEP};\n",
        "objects.json": f"{'[' * _DEEP}{']' * _DEEP}\n",
        "blocks.c": f"int main() {'{' * _DEEP}{'}' * _DEEP}\n",
        "ifs.py": "".join(f"{' ' * i}if a{i}:\n" for i in range(900)) + " " * 900 + "pass\n",
        "sum.py": f"x = {' + '.join('1' for _ in range(_DEEP))}\n",
    }
    for name, text in nested.items():
        (place / name).write_text(text)
    folder = place
    for number in range(300):
        folder = folder / f"d{number}"
    folder.mkdir(parents=True)
    (folder / "deep.py").write_text("def deep():\n    return 1\n")


def make_cyclic(place: Path) -> None:
    """Make links that lead to themselves, to their own folder, above it and to what never ends."""
    place.mkdir(parents=True)
    (place / "a.py").write_text("def a():\n    return 1\n")
    for link, target in {"self.py": "self.py", "one.py": "two.py", "two.py": "one.py", "here": ".", "up": "..",
                         "zero.py": "/dev/zero"}.items():  # fmt: skip
        (place / link).symlink_to(target)
    os.mkfifo(place / "pipe.py")


def make_hostile(place: Path) -> None:
    """Write files whose names are no text, hold control characters, or look like options, ids and paths."""
    place.mkdir(parents=True)
    for name in _NAMES:
        Path(os.fsdecode(os.fsencode(place) + b"/" + name)).write_text("def named():\n    return 1\n")


def make_all(folder: Path, n_bytes: int) -> None:
    """Make all poisoned repositories and the good ones, and a fleet of them."""
    make_large(folder / "large", n_bytes)
    make_deep(folder / "deep")
    make_cyclic(folder / "cyclic")
    make_hostile(folder / "hostile")
    for name in GOOD:
        (folder / name).mkdir()
        (folder / name / "code.py").write_text(f"def run_{name}():\n    return 1\n")
    Fleet.add(folder, [str(folder / name) for name in ("large", "deep", "cyclic", "hostile", *GOOD)])


def good_alone(folder: Path) -> Mapping[str, Shard]:
    """Return the shards of the good repositories in a store of their own in another folder."""
    alone = folder.with_name(f"{folder.name}-alone")
    Fleet.add(alone, [str(folder / name) for name in GOOD])
    return {each.name: each for each in Fleet.open(alone).index()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--bytes", type=int, default=10**9)
    parser.add_argument("--workers", type=int, default=0)
    given = parser.parse_args()
    make_all(given.folder, given.bytes)
    fleet = Fleet.open(given.folder)
    if given.workers:
        shards = {each.name: each for each in fleet.index(options=IndexingOptions(workers=given.workers))}
    else:
        shards = {}
        for member in fleet.file.members:
            began = time.process_time()
            (shards[member.name],) = fleet.index([member.name])
            print(f"{member.name}: {time.process_time() - began:.2f} s of processor time")
    for name, shard in shards.items():
        print(f"{name}: {shard.n_files} files, {shard.n_nodes} nodes{', ' if shard.error else ''}{shard.error}")
    alone = good_alone(given.folder)
    print("the good ones are", "the same bytes" if all(shards[name] == alone[name] for name in GOOD) else "DIFFERENT")


if __name__ == "__main__":
    main()
