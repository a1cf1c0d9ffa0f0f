"""Files that are set aside in public repositories, by kind: counts, bytes, and a drawn sample to read.

    python -m tests.benchmarks.generated.measure CLONES [--sample N] [--seed S] [--show KIND] [--misses N]

CLONES holds bare or full clones, one a folder `owner+name` (or `owner+name/repo`). `repositories.txt` lists the
repositories and commits that docs/benchmarks.md reports.
"""

import argparse
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from causalist.model.source import IS_SOURCE, SetAside
from causalist.source import as_utf8
from causalist.source.exclusion import classify, skip_reason_by_name
from causalist.source.generated import attribute_files, judge_content, judge_files

_LIST = Path(__file__).parent / "repositories.txt"


def git_dir(clones: Path, name: str) -> Path:
    """Return the git folder of a clone."""
    place = clones / name.replace("/", "+")
    return next((each for each in (place / "repo", place / ".git", place) if (each / "HEAD").exists()), place)


def read_blobs(place: Path, commit: str) -> Iterator[tuple[str, bytes]]:
    """Yield (path, content) of each file of a commit that the rules on names and sizes leave in."""
    rows = subprocess.run(["git", "-C", place, "ls-tree", "-r", "-z", "-l", commit], capture_output=True, check=True)
    files = []
    for row in rows.stdout.split(b"\0"):
        said, _, raw = row.partition(b"\t")
        words = said.split()
        if len(words) == 4 and words[0].startswith(b"100") and words[3].isdigit() and int(words[3]) <= 2_000_000:
            files.append((raw.decode("utf-8", "replace"), words[2]))
    with subprocess.Popen(
        ["git", "-C", place, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as reader:
        assert reader.stdin is not None and reader.stdout is not None
        for path, blob in files:
            reader.stdin.write(blob + b"\n")
            reader.stdin.flush()
            head = reader.stdout.readline().split()
            if len(head) < 3:  # not in this snapshot
                continue
            yield path, reader.stdout.read(int(head[2]) + 1)[:-1]


def judge(files: dict[str, bytes]) -> dict[str, str]:
    """Return the kind of each file as an index has it; "" for source."""
    kinds = judge_files(sorted(files), {path: files[path] for path in attribute_files(files)})
    for path, data in files.items():
        said = kinds.get(path, "")
        if said == IS_SOURCE:
            kinds[path] = ""
        elif not said:
            kinds[path] = (judge_content(path, data) or "") + ""
    return kinds


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("clones", type=Path)
    parser.add_argument("--sample", type=int, default=0, help="files to draw of each kind in each repository")
    parser.add_argument("--misses", type=int, default=0)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--show", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--list", type=Path, default=_LIST)
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    found: list[tuple[str, str, str, bytes]] = []
    others: list[tuple[str, str, str, bytes]] = []
    by_repository: dict[str, Counter[str]] = {}
    for line in options.list.read_text().split():
        name, _, commit = line.partition("@")
        if options.only and options.only not in name:
            continue
        place = git_dir(options.clones, name)
        files = {}
        for path, data in read_blobs(place, commit or "HEAD"):
            reason = skip_reason_by_name(path)
            text = as_utf8(data)
            if classify(path, text) is None and (reason is None or reason.value in set(SetAside)):
                files[path] = text
        for path, kind in judge(files).items():
            counts[kind] += 1
            sizes[kind] += len(files[path])
            by_repository.setdefault(name, Counter())[kind] += 1
            row = (kind, name, path, files[path][:3000])
            if kind:
                found.append(row)
            else:
                others.append(row)
        print(name, dict(by_repository.get(name, {})), file=sys.stderr)
    for kind, n in counts.most_common():
        print(f"{kind or 'source':25} {n:8,} files {sizes[kind]:14,} bytes")
    rng = random.Random(options.seed)
    chosen = []
    if options.sample:
        kinds = [options.show] if options.show else sorted(set(SetAside))
        for kind in kinds:
            for name in sorted(by_repository):
                some = sorted((row for row in found if row[:2] == (kind, name)), key=lambda row: row[2])
                chosen += rng.sample(some, min(options.sample, len(some)))
    if options.misses:
        chosen += rng.sample(sorted(others, key=lambda row: row[1:3]), options.misses)
    for kind, name, path, data in chosen:
        head = data.decode("utf-8", "replace")[:90].replace("\n", "⏎").replace("\t", " ")
        print(f"[{kind or 'SOURCE'}] {name} {path} ‖ {head}")


if __name__ == "__main__":
    main()
