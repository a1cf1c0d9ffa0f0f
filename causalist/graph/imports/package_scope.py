"""Languages whose files share one scope with the other files of their package.

A package is a folder (and the name in the package clause, since tests may have one of their own), or the name that the
files declare wherever they stand.
"""

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from causalist.graph.imports.build_tags import holds, is_usual
from causalist.graph.imports.path_distance import shared_folders
from causalist.graph.rules import MOST_CANDIDATES
from causalist.model.facts import FileFacts
from causalist.model.language import LanguageSettings, ModuleSettings, ModuleSystem
from causalist.model.symbols import TYPE_KINDS, NodeKind

_NEVER_LINKED = frozenset({*TYPE_KINDS, NodeKind.TYPE, NodeKind.MACRO})

PackageKey = tuple[str, str, str]  # language, folder or "", name in the package clause


class _Tables(Protocol):
    """What is asked of the tables of a file."""

    @property
    def path(self) -> str: ...

    @property
    def by_qualname(self) -> Mapping[str, int]: ...

    @property
    def first(self) -> int: ...

    @property
    def facts(self) -> FileFacts: ...

    @property
    def settings(self) -> LanguageSettings | None: ...


@dataclass(slots=True)
class PackageScopes:
    """Which files share a scope. `package_of[file]` is None where files stand alone; `files_of` lists files by path;
    `asked_for` are files that only builds with a tag of their own have, with what they say of it; `unusual` are others
    that builds for the usual platform do not have."""

    package_of: list[PackageKey | None] = field(default_factory=list)
    files_of: dict[PackageKey, list[int]] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)
    asked_for: dict[int, str] = field(default_factory=dict)
    unusual: set[int] = field(default_factory=set)
    included: Callable[[int], frozenset[int]] | None = None  # a file -> itself and the files that it includes
    _names: dict[PackageKey, dict[str, list[tuple[int, int]]]] = field(default_factory=dict)  # -> (file, definition)
    _variants: dict[int, list[tuple[int, int]]] = field(default_factory=dict)  # definition -> its namesakes, with files

    @classmethod
    def of(cls, files: Sequence[tuple[str, FileFacts]], settings: Mapping[str, LanguageSettings]) -> "PackageScopes":
        result = cls()
        for number, (path, facts) in enumerate(files):
            key = package_key(path, facts, settings.get(facts.language))
            result.package_of.append(key)
            result.paths.append(path)
            if key is not None:
                result.files_of.setdefault(key, []).append(number)
                modules = settings[facts.language].modules
                if modules.platforms:
                    result._read_tags(number, path, dict(facts.manifest).get("build", ""), modules)
        return result

    def definition(self, file: int, qualname: str, tables: Sequence[_Tables], asking: int = -1) -> int | None:
        """The definition `qualname` of the package that `file` belongs to; of several the one in the nearest file, or
        else one that builds for the usual platform have, or else the first. `asking` is the file in whose builds it
        stands, if that is not `file`."""
        key = self.package_of[file]
        found = self._names_of(key, tables).get(qualname) if key is not None else None
        if found is None:
            return None
        if self.included is not None and (hidden := {each for each in found if self._is_hidden(tables[each[0]], each)}):
            seen = self.included(file)
            near = [each for each in found if each[0] in seen or each not in hidden]
            found = near or (found if -1 in seen else [])
            if not found:
                return None
        if len(found) > 1:
            found = self._in_builds_of(file if asking < 0 else asking, found)
            distance = {each: -shared_folders(self.paths[file], self.paths[each[0]]) for each in found}
            found = [min(found, key=lambda each: (distance[each], each[0] in self.unusual, each))]
        return found[0][1]

    def _read_tags(self, file: int, path: str, tags: str, modules: ModuleSettings) -> None:
        """Notes in which builds a file is that says so by an expression over tags, or by the end of its name."""
        if tags and holds(tags, modules.platforms) is False:
            self.asked_for[file] = tags
        elif not is_usual(tags, modules.usual) or _ending(path) in set(modules.platforms).difference(modules.usual):
            self.unusual.add(file)

    def is_asked_for(self, other: int, file: int) -> bool:
        """Whether builds that have a file have another one only if they are given a tag for it."""
        return other in self.asked_for and self.asked_for[other] != self.asked_for.get(file)

    def _in_builds_of(self, file: int, found: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """What stands in the builds that a file is in, of definitions of one name; all where nothing does. A file that
        has to be asked for is in builds with others that are asked for in the same way, rather than without."""
        same = [each for each in found if each[0] in self.asked_for and not self.is_asked_for(each[0], file)]
        return same or [each for each in found if each[0] not in self.asked_for] or found

    def _names_of(self, key: PackageKey, tables: Sequence[_Tables]) -> dict[str, list[tuple[int, int]]]:
        names = self._names.get(key)
        if names is None:
            names = self._names[key] = {}
            for each in self.files_of[key]:
                for name, number in tables[each].by_qualname.items():
                    if self._is_own(tables[each], number):
                        continue
                    names.setdefault(name, []).append((each, number))
            for several in names.values():
                if len(several) > 1:
                    self._variants.update((number, several) for _, number in several)
        return names

    def _is_hidden(self, names: _Tables, found: tuple[int, int]) -> bool:
        """Whether files know nothing of a definition unless they include its file: a macro, a function of a header."""
        if names.settings is None or not names.settings.modules.headers:
            return False
        definition, unshared = names.facts.definitions[found[1] - names.first], names.settings.names.unshared
        return definition.kind == NodeKind.MACRO or re.match(unshared, definition.signature) is not None

    @staticmethod
    def _is_own(names: _Tables, number: int) -> bool:
        """Whether other files know nothing of a definition: it is not linked, and its file is none to be included."""
        settings = names.settings
        if settings is None or not settings.modules.headers or names.path.lower().endswith(settings.modules.headers):
            return False
        definition = names.facts.definitions[number - names.first]
        if definition.kind in _NEVER_LINKED or definition.parent >= 0:
            return True
        unshared = settings.names.unshared
        return bool(unshared) and re.match(unshared, definition.signature) is not None

    def variants(
        self,
        definition: int,
        of_file: int,
        file: int,
        tables: Sequence[_Tables],
        fitting: Callable[[Sequence[int]], Sequence[int]] | None = None,
    ) -> list[int]:
        """What a use in `file` of a definition in `of_file` may mean: of several definitions of one name in one folder
        a build takes one, such as `open_linux` or `open_windows`. One in the same file, or in a file with the same
        ending of its stem, is meant; else all are candidates. `fitting` says which of several a call may mean."""
        key = self.package_of[of_file]
        if key is None:
            return [definition]
        self._names_of(key, tables)
        found = self._variants.get(definition)
        if found is None or len(found) > MOST_CANDIDATES:
            return [definition]
        if len({posixpath.dirname(self.paths[each]) for each, _ in found}) > 1:
            return [definition]  # not alternatives of one build; the nearest was chosen
        if fitting is not None:
            kept = fitting([number for _, number in found])
            found = [each for each in found if each[1] in kept]
        found = self._in_builds_of(file, found)
        own = [number for each, number in found if each == file]
        ending = _ending(self.paths[file])
        same = [number for each, number in found if ending and _ending(self.paths[each]) == ending]
        return own or same or [number for _, number in found]


def _ending(path: str) -> str:
    """What stands behind the last underscore of a file's stem."""
    return posixpath.splitext(posixpath.basename(path))[0].rpartition("_")[2] if "_" in posixpath.basename(path) else ""


def package_key(path: str, facts: FileFacts, settings: LanguageSettings | None) -> PackageKey | None:
    """The package of a file, or None where its language has no scope wider than a file."""
    if settings is None:
        return None
    system = settings.modules.system
    if settings.modules.inclusion:
        return None  # types are everywhere, functions where their file is
    if system is ModuleSystem.FOLDER:
        return settings.name, posixpath.dirname(path), facts.package
    if system is ModuleSystem.INCLUDE:  # what is linked has one name in a program
        return settings.family, "", ""
    if system is ModuleSystem.DECLARED:  # files that do not say it are a package with their neighbours, or with all
        everywhere = facts.package or settings.modules.namespaces or settings.modules.shared
        return settings.family, "" if everywhere else posixpath.dirname(path), facts.package
    return None
