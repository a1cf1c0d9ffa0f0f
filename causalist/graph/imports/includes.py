"""Files that include one another: C headers, and scripts that run other scripts.

In: what an include statement says and the paths of all files. Out: the file that it means (`find_header` for headers,
`find_script` for scripts), and all files that one reaches (`HeaderReach` for headers, `InclusionGraph` for scripts).

The search path that a build gives to the compiler is not known. A quoted name is looked for beside the including file,
then in the folders around it and in those of them that hold headers; of what is left, the nearest file whose path ends
like that counts. Angle brackets are looked up alike, but for headers of the language, which a repository may replace.
"""

import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from causalist.graph.file_symbols import FileSymbols
from causalist.model.facts import Import, ImportKind
from causalist.model.language import ModuleSettings


def find_header(
    importer: str,
    written: str,
    number: Mapping[str, int],
    ending: Mapping[str, Sequence[str]],
    settings: ModuleSettings,
) -> int:
    """Return the file that `written`, with its angle brackets, means in the file `importer`, or -1.

    `ending` has the paths of all files by their last part.
    """
    published, name = written.startswith("<"), posixpath.normpath(written.strip('<>" '))
    if posixpath.basename(name) not in ending or (published and name in settings.outside):
        return -1
    folder = posixpath.dirname(importer)
    if not published and (at := posixpath.normpath(posixpath.join(folder, name))) in number:
        return number[at]
    while True:
        for below in ("", *settings.include_folders):
            at = posixpath.normpath(posixpath.join(folder, below, name))
            if at in number:
                return number[at]
        if not folder:
            break
        folder = posixpath.dirname(folder)
    tail = as_ending(name)
    found = [path for path in ending[posixpath.basename(name)] if f"/{path}".endswith(tail)]
    return (
        number[min(found, key=lambda path: (-shared_folders(importer, path), path.count("/"), path))] if found else -1
    )


@dataclass(slots=True)
class HeaderReach:
    """Files that a file includes, directly and through others.

    `target` gives the (file, rule) of an import.
    """

    target: Callable[[int, Import], tuple[int, str]]
    files: Sequence[FileSymbols]
    _direct: dict[int, tuple[int, ...]] = field(default_factory=dict)
    _last: tuple[int, frozenset[int]] = (-1, frozenset())

    def reach(self, file: int) -> frozenset[int]:
        """Return the file and all that it includes, with -1 if a quoted file is missing.

        A missing file is made when the program is built, and may include anything. The answer for one file is kept,
        because questions come file by file.
        """
        if self._last[0] != file:
            seen, queue = {file}, [file]
            while queue:
                new = [each for each in self._find_included(queue.pop()) if each not in seen]
                seen.update(new)
                queue += [each for each in new if each >= 0]
            self._last = file, frozenset(seen)
        return self._last[1]

    def _find_included(self, file: int) -> tuple[int, ...]:
        cached = self._direct.get(file)
        if cached is None:
            entries = self.files[file].facts.imports
            found = [(self.target(file, entry)[0], entry.module) for entry in entries]
            cached = tuple(sorted({each for each, written in found if each >= 0 or not written.startswith("<")}))
            self._direct[file] = cached
        return cached


def find_script(paths: dict[str, int], importer: str, written: str, settings: ModuleSettings) -> int:
    """Return the file that a statement includes by its path, or -1.

    The path is seen from the folder of the importing file, or from the next folder around it that has such a file,
    because programs put the folder in front in many ways.
    """
    folder = posixpath.dirname(importer)
    ends = ("", *settings.extensions) if settings.inclusion else ("",)
    while True:
        for below in ("", *settings.folders):
            for end in ends:
                at = posixpath.normpath(posixpath.join(folder, below, f"{written.lstrip('/')}{end}"))
                if at in paths and at != importer:
                    return paths[at]
        if not folder:
            return -1
        folder = posixpath.dirname(folder)


@dataclass(slots=True)
class InclusionGraph:
    """Inclusions between files, for languages that say so."""

    paths: Sequence[str] = ()
    includes: dict[int, set[int]] = field(default_factory=dict)
    included_by: dict[int, set[int]] = field(default_factory=dict)
    _reach: dict[int, frozenset[int]] = field(default_factory=dict)
    _below: dict[frozenset[int], frozenset[int]] = field(default_factory=dict)  # what files include, by these files

    @classmethod
    def from_files(cls, tables: Sequence[FileSymbols], numbers: dict[str, int]) -> "InclusionGraph":
        """Build the graph from the imports of files whose language includes text."""
        result = cls([symbols.path for symbols in tables])
        for file, symbols in enumerate(tables):
            if symbols.settings is None or not symbols.settings.modules.inclusion:
                continue
            for entry in symbols.facts.imports:
                if entry.kind == ImportKind.SIDE_EFFECT:
                    target = find_script(numbers, symbols.path, entry.module, symbols.settings.modules)
                    if target >= 0:
                        result.includes.setdefault(file, set()).add(target)
                        result.included_by.setdefault(target, set()).add(file)
        return result

    def find_nearest(self, file: int, several: Iterable[tuple[int, int]]) -> int:
        """Return the definition of the nearest file visible from `file`, or -1; candidates are (file, definition)."""
        included = [each for each in several if each[0] in self.reach(file)]
        path = self.paths[file]
        return min(included, key=lambda each: (-shared_folders(path, self.paths[each[0]]), each))[1] if included else -1

    def reach(self, file: int) -> frozenset[int]:
        """Return `file`, all files that include it directly or indirectly, and everything that these include."""
        found = self._reach.get(file)
        if found is None:
            # Whoever includes a file includes it again: many files share one answer.
            including = frozenset(_closure(set(self.included_by.get(file, {file})), self.included_by))
            found = self._below.get(including)
            if found is None:
                found = self._below[including] = frozenset(_closure(set(including), self.includes))
            self._reach[file] = found
        return found


def _closure(start: set[int], leads_to: Mapping[int, set[int]]) -> set[int]:
    found, waiting = set(start), sorted(start)
    while waiting:
        new = leads_to.get(waiting.pop(), set()) - found
        found |= new
        waiting.extend(sorted(new))
    return found


def shared_folders(a: str, b: str) -> int:
    """Count the folders that two paths have in common, from the root.

    >>> shared_folders("src/app/auth.py", "src/app/web/auth.py"), shared_folders("src/a.py", "a.py")
    (2, 0)
    """
    count = 0
    for x, y in zip(a.split("/")[:-1], b.split("/")[:-1], strict=False):
        if x != y:
            break
        count += 1
    return count


def as_ending(written: str) -> str:
    """Return the ending of paths that a relative path may mean, from whichever folder it is seen.

    >>> as_ending("../lib/./a.h"), as_ending("/.config/a.yml")
    ('/lib/a.h', '/.config/a.yml')
    """
    path = posixpath.normpath(written)
    while path.startswith("../"):
        path = path.removeprefix("../")
    return "/" + path.removeprefix("/")
