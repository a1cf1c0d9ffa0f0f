"""The default token counter against an exact o200k tokenizer.

    pip install bpe-openai
    python -m tests.benchmarks.tokens DIR... [--pieces 20000]

Takes pieces of 50 to 20,000 characters (log-uniform lengths, fixed seed) from the text files below the folders, and
prints by file type how far the estimate is above the truth on average and how often it is below."""

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Iterator
from math import exp, log
from pathlib import Path

from causalist.pack import count_tokens

_SUFFIXES = (".py", ".ts", ".tsx", ".js", ".md", ".rst", ".json", ".toml")
_SHORTEST, _LONGEST = 50, 20_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--pieces", type=int, default=20_000)
    arguments = parser.parse_args()
    try:
        import bpe_openai
    except ImportError:
        raise SystemExit("the exact tokenizer is missing: pip install bpe-openai") from None
    exact = bpe_openai.get_encoding("o200k_base")
    excess: dict[str, list[float]] = defaultdict(list)
    for suffix, text in pieces(arguments.folders, arguments.pieces):
        truth = len(exact.encode_ordinary(text))
        if truth:
            error = count_tokens(text) / truth - 1
            excess["all"].append(error)
            excess[suffix].append(error)
    sys.stdout.write("| pieces | number | mean excess | under-counts |\n|---|---|---|---|\n")
    for name, errors in sorted(excess.items(), key=lambda item: -len(item[1])):
        under = sum(error < 0 for error in errors) / len(errors)
        sys.stdout.write(f"| {name} | {len(errors)} | {sum(errors) / len(errors):.1%} | {under:.2%} |\n")
    return 0


def pieces(folders: list[Path], n: int) -> Iterator[tuple[str, str]]:
    """(suffix, text) of n pieces, the same for the same files."""
    files = sorted(
        path for folder in folders for path in folder.rglob("*") if path.suffix in _SUFFIXES and path.is_file()
    )
    files = [path for path in files if ".git" not in path.parts and path.stat().st_size >= _SHORTEST]
    if not files:
        raise SystemExit(f"no text files below {', '.join(map(str, folders))}")
    chance = random.Random(0)
    for _ in range(n):
        path = chance.choice(files)
        text = path.read_text(encoding="utf-8", errors="replace")
        length = round(exp(chance.uniform(log(_SHORTEST), log(_LONGEST))))
        start = chance.randrange(max(len(text) - length, 0) + 1)
        yield path.suffix, text[start : start + length]


if __name__ == "__main__":
    sys.exit(main())
