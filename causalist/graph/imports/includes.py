"""Which file an `#include` means, without the search path that a build gives to the compiler.

A quoted name is looked for beside the including file, then in the folders around it and in those of them that hold
headers. What is left is the file whose path ends like that, the nearest of several. Angle brackets are looked up alike,
but for the headers of the language, which a repository may have substitutes for.
"""

import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from causalist.graph.imports.path_distance import as_ending, shared_folders
from causalist.model.facts import FileFacts, Import
from causalist.model.language import ModuleSettings


def included(
    importer: str,
    written: str,
    number: Mapping[str, int],
    ending: Mapping[str, Sequence[str]],
    settings: ModuleSettings,
) -> int:
    """The file that `written`, with its angle brackets, means in the file `importer`, or -1. `ending` has the paths of
    all files by their last part."""
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


class _Tables(Protocol):
    """What is asked of the tables of a file."""

    @property
    def facts(self) -> FileFacts: ...


@dataclass(slots=True)
class Inclusions:
    """Which files a file includes, directly and through others. `target` gives the (file, rule) of an import."""

    target: Callable[[int, Import], tuple[int, str]]
    files: Sequence[_Tables]
    _direct: dict[int, tuple[int, ...]] = field(default_factory=dict)
    _last: tuple[int, frozenset[int]] = (-1, frozenset())

    def of(self, file: int) -> frozenset[int]:
        """The file and all that it includes, with -1 if a quoted file is not there: it is made when the program is
        built, and may include anything. The answer for one file is kept: questions come file by file."""
        if self._last[0] != file:
            seen, waiting = {file}, [file]
            while waiting:
                new = [each for each in self._included(waiting.pop()) if each not in seen]
                seen.update(new)
                waiting += [each for each in new if each >= 0]
            self._last = file, frozenset(seen)
        return self._last[1]

    def _included(self, file: int) -> tuple[int, ...]:
        known = self._direct.get(file)
        if known is None:
            entries = self.files[file].facts.imports
            found = [(self.target(file, entry)[0], entry.module) for entry in entries]
            known = tuple(sorted({each for each, written in found if each >= 0 or not written.startswith("<")}))
            self._direct[file] = known
        return known
