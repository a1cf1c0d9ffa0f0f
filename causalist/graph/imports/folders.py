"""From an import that names a package to the folder that holds it, where packages are folders.

A manifest at the root of a module says what the paths of its packages begin with; a repository may hold several
modules, put a folder in the place of a path (`replace`), and keep copies of others' packages below `vendor/`. All else
is outside. A package is known by one of its files here; which files an import leads to, its uses tell.
"""

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from causalist.graph.imports.modules import OUTSIDE, ModuleTarget
from causalist.model.facts import FileFacts, Import
from causalist.model.language import LanguageSettings, ModuleSystem

_VENDOR = "vendor"
_TEST_STEM = "_test"  # ends the stem of a file of tests, and the name of a package of nothing but tests
_MAIN = "main"  # programs beside a package, such as those that generate a part of it
_MAJOR_VERSION = re.compile(r"v\d+")


@dataclass(slots=True)
class FolderMap:
    """Resolves imports of packages; build one with `FolderMap.of`."""

    modules: list[tuple[str, str]] = field(default_factory=list)  # (what paths begin with, folder)
    replaced: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # module folder -> (path, folder)
    package_at: dict[str, int] = field(default_factory=dict)  # folder -> the file that stands for its package
    _cache: dict[tuple[str, str], ModuleTarget] = field(default_factory=dict)

    @classmethod
    def of(cls, files: Sequence[tuple[str, FileFacts]], settings: Mapping[str, LanguageSettings]) -> "FolderMap":
        result = cls()
        names: dict[str, dict[str, list[int]]] = {}
        for number, (path, facts) in enumerate(files):
            language = settings.get(facts.language)
            folder = posixpath.dirname(path)
            if language is not None and language.modules.system is ModuleSystem.FOLDER:
                names.setdefault(folder, {}).setdefault(facts.package, []).append(number)
            for key, value in facts.manifest:
                if key == "module":
                    result.modules.append((value, folder))
                elif key == "replace":
                    written, _, target = value.partition("\t")
                    at = posixpath.normpath(posixpath.join(folder, target))
                    result.replaced.setdefault(folder, []).append((written, "" if at == "." else at))
        for folder, packages in names.items():
            best = min(packages, key=lambda name: (*_rank(name, packages[name], files), name))
            result.package_at[folder] = min(packages[best], key=lambda n: (_is_test(files[n][0]), files[n][0]))
        result.modules.sort(key=lambda m: (-len(m[0]), m[1].count("/"), m[1]))
        return result

    def resolve(self, importer: str, module: str) -> ModuleTarget:
        """The file that stands for the package `module` in the file `importer`, or OUTSIDE."""
        key = (posixpath.dirname(importer), module)
        found = self._cache.get(key)
        if found is None:
            found = self._cache[key] = self._resolve(*key)
        return found

    def _resolve(self, folder: str, module: str) -> ModuleTarget:
        if module.startswith(("./", "../")):
            return self._at(posixpath.normpath(posixpath.join(folder, module)), "path")
        around = [folder]
        while around[-1]:
            around.append(posixpath.dirname(around[-1]))
        for each in around:
            found = self._at(posixpath.join(each, _VENDOR, module), "package")
            if found.file >= 0:
                return found
        # The longest path that fits counts, then what replaces it here, then the module around.
        own = next((each for each in around if any(at == each for _, at in self.modules)), None)
        candidates = [(path, at, 0) for each in around for path, at in self.replaced.get(each, ())]
        candidates += [(path, at, 1 if at == own else 2) for path, at in self.modules]
        for path, at, _ in sorted(candidates, key=lambda c: (-len(c[0]), c[2])):
            rest = _rest(module, path)
            found = self._at(posixpath.join(at, rest), "package") if rest is not None else OUTSIDE
            if found.file >= 0:
                return found
        return OUTSIDE

    def _at(self, folder: str, rule: str) -> ModuleTarget:
        file = self.package_at.get(folder.rstrip("/").removeprefix("./"), -1)
        return ModuleTarget(file, rule) if file >= 0 else OUTSIDE


def _rank(name: str, numbers: Sequence[int], files: Sequence[tuple[str, FileFacts]]) -> tuple[bool, bool, int]:
    """Where several packages share a folder, the one that an import means comes first."""
    return (
        name.endswith(_TEST_STEM) and all(_is_test(files[n][0]) for n in numbers),
        name == _MAIN,
        -len(numbers),
    )


def _is_test(path: str) -> bool:
    return posixpath.splitext(path)[0].endswith(_TEST_STEM)


def _rest(module: str, prefix: str) -> str | None:
    """What follows the path of a module in the path of its package; None for another module's package."""
    if module == prefix:
        return ""
    return module[len(prefix) + 1 :] if module.startswith(prefix + "/") else None


def local_name(entry: Import) -> str:
    """What a file calls a package that it imports without an alias, as far as the path tells.

    >>> paths = ("net/http", "github.com/a/b/v2", "gopkg.in/yaml.v3", "github.com/a/go-b")
    >>> [local_name(Import(-1, 0, path, 0, "", "", 0)) for path in paths]
    ['http', 'b', 'yaml', 'b']
    """
    if entry.alias:
        return entry.alias
    parts = entry.module.split("/")
    last = parts[-2] if len(parts) > 1 and _MAJOR_VERSION.fullmatch(parts[-1]) else parts[-1]
    return re.sub(r"\.v\d+$", "", last).removeprefix("go-").removesuffix(".go").removesuffix("-go")
