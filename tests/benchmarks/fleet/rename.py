"""Renamed copies of repositories, as sources.

    python -m tests.benchmarks.fleet.rename SOURCE NEW N [--seed 1]

SOURCE and NEW are folders with one folder or bare mirror for each repository. NEW gets a folder for each source as it
is, without its history, and renamed copies of these in turn until there are N. In a copy the names that a declaration
gives in any file of the repository end in letters of its own, everywhere in its texts, and so do names of packages in
manifests. Words of languages stay, as do names of three letters or fewer and paths. Figures on such copies say so.
"""

import argparse
import random
import re
import shutil
import string
import subprocess
import tarfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

_DECLARED = re.compile(
    rb"\b(?:def|class|function|func|fn|interface|struct|trait|enum|type|module|namespace|package|const|let|var|val|sub|"
    rb"subroutine|procedure|library|contract|void|int|bool|string|String|boolean|double|float|static|data)\s+"
    rb"([A-Za-z_]\w{3,})"
)
_PACKAGES = re.compile(rb'^\s*"?(?:name|module)"?\s*[:=]?\s*"?([\w@./-]{4,})"?,?\s*$', re.MULTILINE)
_MANIFESTS = {"package.json", "pyproject.toml", "Cargo.toml", "go.mod", "composer.json"}
_WORD = re.compile(rb"[A-Za-z_]\w{3,}")
# Words that stand behind one of the above and are no name of the repository.
_KEPT = set(
    b"""abstract alias async await bool boolean break case catch char class const constexpr continue data default
    delete double else enum explicit export extends extern false final float for from function implements import
    inline internal interface long module mutable mutating namespace native null object open operator override package
    private protected public readonly record return sealed self short signed static string String struct super switch
    template this throw throws trait true type typename typeof union unsigned using virtual void volatile where while
    with yield then begin subroutine procedure precision intent integer real logical character""".split()
)
_MAX_TEXT = 2_000_000  # bytes of a file that is renamed; others are copied


def rename(folder: Path, ending: bytes) -> None:
    """Rename what the files of a folder declare, in place."""
    texts = dict(_texts(folder))
    names = {name for text in texts.values() for name in _DECLARED.findall(text)} - _KEPT
    packages = {
        name
        for path, text in texts.items()
        if path.name in _MANIFESTS
        for name in _PACKAGES.findall(text)
        if name not in _KEPT
    }
    quoted = sorted(packages, key=lambda each: (-len(each), each))
    any_package = re.compile(b"|".join(map(re.escape, quoted)) or b"(?!)")
    for path, text in texts.items():
        changed = _WORD.sub(lambda m: m[0] + ending if m[0] in names else m[0], text)
        changed = any_package.sub(lambda m: m[0] + b"-" + ending.lower(), changed)
        if changed != text:
            path.write_bytes(changed)


def _texts(folder: Path) -> Iterator[tuple[Path, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= _MAX_TEXT:
            text = path.read_bytes()
            if b"\0" not in text[:8000]:
                yield path, text


def _copy(source: Path, target: Path) -> None:
    if (source / "HEAD").is_file() and (source / "objects").is_dir():
        packed = subprocess.run(["git", "--git-dir", source, "archive", "HEAD"], capture_output=True, check=True).stdout
        target.mkdir(parents=True)
        with tarfile.open(fileobj=BytesIO(packed)) as archive:
            archive.extractall(target, filter="data")
    else:
        shutil.copytree(source, target, symlinks=True)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("n", type=int)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    sources = sorted(each for each in given.source.iterdir() if each.is_dir())
    drawn = random.Random(given.seed)
    for number in range(given.n):
        copy, place = divmod(number, len(sources))
        target = given.new / (sources[place].name + (f"-{copy}" if copy else ""))
        _copy(sources[place], target)
        if copy:
            rename(target, "".join(drawn.choices(string.ascii_uppercase, k=3)).encode())


if __name__ == "__main__":
    main()
