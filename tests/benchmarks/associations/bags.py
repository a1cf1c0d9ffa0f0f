"""One repository -> bags of terms: what stands together in a commented definition, or in a commit and its message."""

import re
import subprocess
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from random import Random

from causalist.parse import parse_file
from causalist.rank.terms import split_word, stem

Bag = frozenset[str]

_SOURCES = (".py", ".js", ".mjs", ".jsx", ".ts", ".tsx", ".go", ".java", ".rs", ".php")
_CHANGED = ("py", "js", "ts", "tsx", "go", "java", "rs", "php", "rb", "c", "cpp", "h", "kt", "scala", "cs", "lua", "ex")
_NOT_WRITTEN = re.compile(r"vendor|node_modules|third_party|\.min\.|dist/|generated|_pb2|\.pb\.|migrations|testdata|fixtures")
_WORD = re.compile(r"[A-Za-z_]\w+")
_TRAILER = re.compile(r"^[A-Z][\w-]+-by:.*$|^(?:Change-Id|Closes|Fixes|Refs?)\b.*$", re.MULTILINE | re.IGNORECASE)
# No repository may drown the others.
_MOST_BYTES = 5_000_000
_MOST_COMMITS = 3_000
# Fewer terms say nothing of one another; more are lists, tables or changes of many things at once.
_TERMS = range(5, 151)
_FILE_BYTES = range(300, 200_000)
_DEFINITION_BYTES = range(80, 6_001)
_DIFF_BYTES = range(20, 12_001)
_MESSAGE_CHARACTERS = 1_500


def bags_of(git_dir: Path) -> list[Bag]:
    """Bags of the newest commit's definitions, then of the last commits that changed source files and nothing big."""
    return [bag for bag in (*_definitions(git_dir), *_commits(git_dir)) if len(bag) in _TERMS]


@lru_cache(maxsize=200_000)
def _parts(word: str) -> tuple[str, ...]:
    return tuple(stem(part) for part in split_word(word) if 2 <= len(part) <= 20 and part.isascii() and part.isalpha())


def _bag(words: Iterable[str]) -> Bag:
    return frozenset(part for word in words for part in _parts(word))


def _git(git_dir: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "--git-dir", git_dir, *arguments], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def _definitions(git_dir: Path) -> Iterator[Bag]:
    files = []
    for line in _git(git_dir, "ls-tree", "-r", "-l", "HEAD").splitlines():
        about, _, path = line.partition("\t")
        _, kind, blob, size = about.split()
        if kind == "blob" and path.endswith(_SOURCES) and int(size) in _FILE_BYTES and not _NOT_WRITTEN.search(path):
            files.append((blob, path, int(size)))
    Random(0).shuffle(files)
    read = 0
    for blob, path, size in files:
        read += size
        if read > _MOST_BYTES:
            return
        data = subprocess.run(["git", "--git-dir", git_dir, "cat-file", "blob", blob], capture_output=True, check=True)
        for definition in parse_file(path, data.stdout).definitions:
            text = data.stdout[definition.text_byte : definition.end_byte]
            if len(text) in _DEFINITION_BYTES and any(mark in text for mark in (b'"""', b"//", b"/*", b"# ")):
                yield _bag(_WORD.findall(text.decode("utf-8", "replace")))


def _commits(git_dir: Path) -> Iterator[Bag]:
    log = _git(
        git_dir, "log", "--no-merges", f"-n{_MOST_COMMITS}", "-p", "-U0", "--no-color", "--no-ext-diff",
        "--diff-filter=M", "--format=%x01%B%x02", "--", *(f"*.{ending}" for ending in _CHANGED),
    )  # fmt: skip
    for commit in log.split("\x01")[1:]:
        message, _, diff = commit.partition("\x02")
        said = _bag(_WORD.findall(_TRAILER.sub("", message)[:_MESSAGE_CHARACTERS]))
        if len(diff) in _DIFF_BYTES and len(said) >= 3:
            yield said | _bag(_WORD.findall("\n".join(_of_interest(diff))))


def _of_interest(diff: str) -> Iterator[str]:
    """Changed paths, changed lines, and where they stand."""
    for line in diff.split("\n"):
        if line.startswith("+++ b/"):
            yield line[6:].rpartition(".")[0]
        elif line.startswith("@@"):
            yield line.rpartition("@@")[2]
        elif line[:1] in ("+", "-") and not line.startswith(("+++", "---")):
            yield line
