"""Languages whose files share one scope with the other files of their package.

A package is a folder (and the name in the package clause, since tests may have one of their own), or the name that the
files declare wherever they stand.
"""

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from causalist.graph.modules import shared_folders
from causalist.model.facts import FileFacts
from causalist.model.language import LanguageSettings, ModuleSystem

PackageKey = tuple[str, str, str]  # language, folder or "", name in the package clause


class _Tables(Protocol):
    """What is asked of the tables of a file."""

    @property
    def by_qualname(self) -> Mapping[str, int]: ...


@dataclass(slots=True)
class PackageScopes:
    """Which files share a scope. `package_of[file]` is None where files stand alone; `files_of` lists files by path."""

    package_of: list[PackageKey | None] = field(default_factory=list)
    files_of: dict[PackageKey, list[int]] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)
    _names: dict[PackageKey, dict[str, list[tuple[int, int]]]] = field(default_factory=dict)  # -> (file, definition)

    @classmethod
    def of(cls, files: Sequence[tuple[str, FileFacts]], settings: Mapping[str, LanguageSettings]) -> "PackageScopes":
        result = cls()
        for number, (path, facts) in enumerate(files):
            key = package_key(path, facts, settings.get(facts.language))
            result.package_of.append(key)
            result.paths.append(path)
            if key is not None:
                result.files_of.setdefault(key, []).append(number)
        return result

    def definition(self, file: int, qualname: str, tables: Sequence[_Tables]) -> int | None:
        """The definition `qualname` of the package that `file` belongs to; of several the one in the nearest file, or
        else in the first."""
        key = self.package_of[file]
        if key is None:
            return None
        names = self._names.get(key)
        if names is None:
            names = self._names[key] = {}
            for each in self.files_of[key]:
                for name, number in tables[each].by_qualname.items():
                    names.setdefault(name, []).append((each, number))
        found = names.get(qualname)
        if found is None:
            return None
        if len(found) > 1:
            found = [min(found, key=lambda each: (-shared_folders(self.paths[file], self.paths[each[0]]), each))]
        return found[0][1]


def package_key(path: str, facts: FileFacts, settings: LanguageSettings | None) -> PackageKey | None:
    """The package of a file, or None where its language has no scope wider than a file."""
    if settings is None:
        return None
    system = settings.modules.system
    if system is ModuleSystem.FOLDER:
        return settings.name, posixpath.dirname(path), facts.package
    if system is ModuleSystem.DECLARED:  # files that do not say it are a package with their neighbours
        return settings.name, "" if facts.package else posixpath.dirname(path), facts.package
    return None
