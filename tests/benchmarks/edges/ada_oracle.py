"""Prints the calls of Ada sources as GNAT resolves them, for `language_oracle.py`.

    python -m tests.benchmarks.edges.ada_oracle CLONE [--without GLOB]... [--flag FLAG]... > calls.jsonl

Checks each body, and each specification that has no body, without linking. The cross-references in the library
information that the compiler writes mark calls of subprograms and entries. A body and its declaration are one thing:
the body is meant where there is one. A name that renames a subprogram, or that is an instance of a generic one, means
that one; if it is from outside of the repository, the renaming or instance itself is meant. An inherited operation is
that of the type above, a dispatching call is one of the operation of the type that is named. All other names are
written without targets, and so are calls of what a generic unit takes as a parameter. Operators are left out.

Of several files of one name a compiler takes the one beside the source, then the first folder by name: so does this
script. The exit status is 1 if less than half of the files compile.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Container, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import NamedTuple

_FLAGS = ("-c", "-gnatc", "-gnatws", "-gnat2022", "-gnatef")
_ENTITY = re.compile(r"(\d+)(\S)(\d+)[* ](\"[^\"]*\"|[\w.]+)(\S*)(.*)")
_USE = re.compile(r"(?:(\d+)\|)?(\d+)([A-Za-z<>=^])(<[^>]*>)?(\d+)")
_RENAMED = re.compile(r"=(\d+):(\d+)")
_INSTANCE = re.compile(r"\[(?:(\d+)\|)?(\d+)\]")
_FORMAL = re.compile(r"\bwith\s+(?:procedure|function)\s*$", re.IGNORECASE)
_CALLABLE = frozenset("UVYuvxy")  # letters of subprograms, entries, and generic and abstract subprograms
_CALLS = frozenset("sR")


class Place(NamedTuple):
    file: str
    line: int
    column: int


class Entity(NamedTuple):
    name: str
    letter: str
    renamed: Place | None  # where the name of what it renames stands
    instance: tuple[str, int] | None  # file and line of the generic unit
    uses: tuple[tuple[Place, str], ...]


def read_entities(text: str, main: str, path_of: Mapping[str, str]) -> Iterator[tuple[Place, Entity]]:
    """Yield the entities in library information, each by where it is declared; files from outside have no folder."""
    files = [line.split()[1] for line in text.split("\n") if line.startswith("D ")]
    files = [path_of.get(name, name) for name in files]
    here = ""
    lines: list[str] = []
    for line in text.split("\n"):
        if line.startswith(". ") and lines:
            lines[-1] += line[1:]
        else:
            lines.append(line)
    for line in lines:
        if line.startswith("X "):
            here = files[int(line.split()[1]) - 1]
        elif here and (found := _ENTITY.fullmatch(line)):
            row, letter, column, name, marks, uses = found.groups()
            renamed, instance = _RENAMED.match(marks), _INSTANCE.search(marks)
            at, places = here, list[tuple[Place, str]]()
            for use in _USE.finditer(uses):
                at = files[int(use[1]) - 1] if use[1] else at
                letter_of_use = "r" if use[4] else use[3]  # a body in another language
                places.append((Place(at, int(use[2]), int(use[5])), letter_of_use))
            generic = None
            if instance and letter in "UV":
                generic = files[int(instance[1]) - 1] if instance[1] else here, int(instance[2])
            yield (
                Place(here, int(row), int(column)),
                Entity(
                    name.lower(),
                    letter,
                    Place(here, int(renamed[1]), int(renamed[2])) if renamed else None,
                    generic,
                    tuple(places),
                ),
            )


class Calls:
    """All entities of a repository, and what calls of them mean."""

    def __init__(self, texts: Mapping[str, Sequence[str]], compiled: Container[str]) -> None:
        self._texts = texts
        self._compiled = compiled
        self._entities: dict[Place, Entity] = {}
        self._bodies: dict[Place, Place] = {}
        self._named: dict[Place, Place] = {}  # a use -> the declaration
        self._at_line: dict[tuple[str, int], Place] = {}  # generic subprograms

    def add(self, place: Place, entity: Entity) -> None:
        """Add what one compilation says of an entity."""
        known = self._entities.get(place)
        if known is not None:
            entity = known._replace(uses=tuple(dict.fromkeys((*known.uses, *entity.uses))))
        self._entities[place] = entity
        if entity.letter in _CALLABLE:
            if entity.letter in "uv":
                self._at_line[place.file, place.line] = place
            for use, letter in entity.uses:
                self._named[use] = place
                if letter == "b" and not self._is_no_body(use):
                    self._bodies[place] = use

    def _is_no_body(self, use: Place) -> bool:
        before = self._before(use).lower() if use.file in self._texts else ""
        return re.search(r"\baccept\s*$|\bpragma\b[^;]*$", before) is not None

    def _before(self, place: Place) -> str:
        lines = self._texts[place.file]
        expanded = lines[place.line - 1].expandtabs(8) if place.line <= len(lines) else ""
        return " ".join((*(lines[max(0, place.line - 3) : place.line - 1]), expanded[: place.column - 1]))

    def definition_of(self, place: Place) -> Place | None:
        """Return where what a call of an entity runs is defined; None for what is outside, or not known."""
        seen: set[Place] = set()
        while place not in seen:
            seen.add(place)
            entity, further = self._entities.get(place), None
            if entity is not None and entity.renamed is not None:
                further = self._named.get(entity.renamed)
            elif entity is not None and entity.instance is not None:
                further = self._at_line.get(entity.instance)
            if further is None or further.file not in self._texts:
                break
            place = further
        if place.file not in self._texts or _FORMAL.search(self._before(place)):
            return None
        return self._bodies.get(place, place)

    def _has_unknown_body(self, place: Place) -> bool:
        """Return True for what a specification declares whose body did not compile."""
        body = place.file.removesuffix(".ads") + ".adb"
        if not place.file.endswith(".ads") or body not in self._texts:
            return False
        # The compiler does not name the body of a generic function that is one expression.
        is_generic = self._entities[place].letter in "uv" if place in self._entities else False
        name = self._entities[place].name if is_generic else ""
        is_there = is_generic and re.search(rf"(?im)^\s*function\s+{name}\b", "\n".join(self._texts[body]))
        return body not in self._compiled or bool(is_there)

    def write(self) -> Iterator[dict[str, object]]:
        """Yield all uses of names in the order of the files."""
        sites: dict[tuple[str, int, str], dict[Place, None]] = {}
        unknown: set[tuple[str, int, str]] = set()
        for place, entity in sorted(self._entities.items()):
            for use, letter in entity.uses:
                if use.file not in self._texts or letter not in "rmsR" or not entity.name[0].isalpha():
                    continue
                name = entity.name.rpartition(".")[2]
                written = self._texts[use.file][use.line - 1].expandtabs(8)[use.column - 1 :].lower()
                if not re.match(rf"(?:[\w.]+\.)?{name}\b", written):
                    continue
                targets = sites.setdefault((use.file, use.line, name), {})
                if letter in _CALLS and entity.letter in _CALLABLE and (meant := self.definition_of(place)):
                    targets[meant] = None
                    if self._has_unknown_body(meant):
                        unknown.add((use.file, use.line, name))
        for (path, line, name), targets in sorted(sites.items()):
            if (path, line, name) in unknown:
                continue
            places = [[each.file, each.line] for each in targets]
            yield {"path": path, "line": line, "name": name, "local": False, "targets": places}


def compile_all(clone: Path, files: list[str], flags: list[str], out: Path) -> dict[str, tuple[str, dict[str, str]]]:
    """Return the library information of each file that compiles, with the paths of the files by their names."""
    names = {PurePosixPath(path).name for path in files}
    mains = [p for p in files if p.endswith(".adb") or PurePosixPath(p).with_suffix(".adb").name not in names]
    folders = sorted({str(PurePosixPath(path).parent) for path in files})
    by_folder = {folder: [p for p in files if str(PurePosixPath(p).parent) == folder] for folder in folders}
    texts = {path: (clone / path).read_text(encoding="latin-1") for path in mains}
    mains = [path for path in mains if not re.search(r"(?im)^\s*separate\s*\(", texts[path])]  # with their bodies

    def run(numbered: tuple[int, str]) -> tuple[str, str, str]:
        number, path = numbered
        own = out / str(number)
        own.mkdir()
        done = subprocess.run(
            ["gcc", *_FLAGS, *flags, *(f"-I{clone / folder}" for folder in folders), str(clone / path)],
            cwd=own, capture_output=True, text=True, errors="replace", check=False)  # fmt: skip
        made = sorted(own.glob("*.ali"))
        error = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr[:200])
        return path, made[0].read_text(encoding="latin-1") if made and not done.returncode else "", error

    results: dict[str, tuple[str, dict[str, str]]] = {}
    with ThreadPoolExecutor(2) as pool:
        for path, text, error in pool.map(run, enumerate(mains)):
            if not text:
                sys.stderr.write(f"not compiled: {path}: {error}\n")
                continue
            order = [str(PurePosixPath(path).parent), *folders]
            path_of: dict[str, str] = {}
            for each in (each for folder in order for each in by_folder[folder]):
                path_of.setdefault(PurePosixPath(each).name, each)
            results[path] = text, path_of
    sys.stderr.write(f"{len(results)} of {len(mains)} units compiled\n")
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clone", type=Path)
    parser.add_argument("--without", action="append", default=[], metavar="GLOB")
    parser.add_argument("--flag", action="append", default=[])
    arguments = parser.parse_args()
    clone = arguments.clone.resolve()
    listed = subprocess.run(["git", "-C", clone, "ls-files"], capture_output=True, text=True, check=True).stdout
    files = [p for p in listed.splitlines() if p.endswith((".ads", ".adb")) and (clone / p).is_file()]
    files = [p for p in files if not any(fnmatch(p, glob) for glob in arguments.without)]
    texts = {p: (clone / p).read_text(encoding="latin-1").split("\n") for p in files}
    with tempfile.TemporaryDirectory() as out:
        results = compile_all(clone, files, arguments.flag, Path(out))
        mains = len(list(Path(out).iterdir()))
    calls = Calls(texts, results)
    for path, (text, path_of) in sorted(results.items()):
        for place, entity in read_entities(text, path, path_of):
            calls.add(place, entity)
    for site in calls.write():
        sys.stdout.write(f"{json.dumps(site)}\n")
    return int(2 * len(results) < mains)


if __name__ == "__main__":
    sys.exit(main())
