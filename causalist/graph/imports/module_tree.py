"""Modules that their parents declare: a tree that begins at a target's file and is joined by `mod name;`.

Comes in: the facts of all files. Goes out: which module every file and namespace is, and what each defines, imports
and declares; what a name means there is asked of `paths`. Files that nobody declares (a macro may do so) are taken for
modules of the folder in which they stand.
"""

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from causalist.graph.values import Found
from causalist.model.facts import MODULE_SCOPE, FileFacts, Import, ImportKind
from causalist.model.language import LanguageSettings, ModuleSettings, ModuleSystem
from causalist.model.symbols import NodeKind

_DEEPEST = 60  # modules above one another


class Module(NamedTuple):
    """A file, or a namespace in one: the number of its definition, -1 for the file itself."""

    file: int
    namespace: int = -1


class Tables(Protocol):
    """What is asked of the tables of a file."""

    @property
    def path(self) -> str: ...
    @property
    def facts(self) -> FileFacts: ...
    @property
    def first(self) -> int: ...
    @property
    def settings(self) -> LanguageSettings | None: ...
    @property
    def by_qualname(self) -> Mapping[str, int]: ...


@dataclass(slots=True)
class _Package:
    """One manifest with a package. `dependencies` maps local names to names of packages."""

    library: str
    root: int = -1  # file of the library
    dependencies: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class ModuleTree:
    """All trees of a repository; build one with `ModuleTree.of`. `file_of[d]` is the file of definition d."""

    files: Sequence[Tables]
    file_of: Sequence[int]
    number: dict[str, int]
    children: dict[Module, dict[str, Module]] = field(default_factory=dict)
    parents: dict[Module, Module] = field(default_factory=dict)
    items: dict[Module, dict[str, list[int]]] = field(default_factory=dict)
    uses: dict[tuple[int, int], dict[str, list[Import]]] = field(default_factory=dict)  # (file, scope) -> local name
    globs: dict[tuple[int, int], list[Import]] = field(default_factory=dict)
    macros: dict[Module, dict[str, list[int]]] = field(default_factory=dict)  # by the root of the tree
    _folders: dict[str, _Package] = field(default_factory=dict)
    _packages: dict[str, _Package] = field(default_factory=dict)  # by name
    _shared: dict[str, str] = field(default_factory=dict)  # names that a workspace gives to packages

    @classmethod
    def of(cls, files: Sequence[Tables], file_of: Sequence[int]) -> "ModuleTree":
        result = cls(files, file_of, {names.path: i for i, names in enumerate(files)})
        members = [i for i, names in enumerate(files) if system_of(names) is ModuleSystem.TREE]
        if not members:
            return result
        for file in members:
            result._add_names(file)
        roots = result._read_manifests(members)
        result._grow(roots)
        for file in members:  # not declared: known by the place
            if Module(file) not in result.parents and file not in roots:
                result._adopt(file)
                result._grow([file])
        for file in members:
            for name, number in result._macros_of(file):
                root = result.root_of(Module(file))
                result.macros.setdefault(root, {}).setdefault(name, []).append(number)
        return result

    def has(self, file: int) -> bool:
        """Whether a file is a module of a tree."""
        return system_of(self.files[file]) is ModuleSystem.TREE

    # -- the tree

    def _add_names(self, file: int) -> None:
        names = self.files[file]
        definitions = names.facts.definitions
        for local, definition in enumerate(definitions):
            around = definition.parent
            inside = definitions[around].qualname + "." if around != MODULE_SCOPE else ""
            if definition.qualname != inside + definition.name or definition.kind == NodeKind.MACRO:
                continue  # a member of a type that stands elsewhere
            if around == MODULE_SCOPE or definitions[around].kind == NodeKind.NAMESPACE:
                module = Module(file, names.first + around if around != MODULE_SCOPE else -1)
                self.items.setdefault(module, {}).setdefault(definition.name, []).append(names.first + local)
                if definition.kind == NodeKind.NAMESPACE:
                    self.parents[Module(file, names.first + local)] = module
        for entry in names.facts.imports:
            if entry.kind == ImportKind.STAR:
                self.globs.setdefault((file, entry.scope), []).append(entry)
            elif entry.kind == ImportKind.NAME:
                self.uses.setdefault((file, entry.scope), {}).setdefault(entry.alias, []).append(entry)

    def _macros_of(self, file: int) -> list[tuple[str, int]]:
        names = self.files[file]
        return [
            (definition.name, names.first + local)
            for local, definition in enumerate(names.facts.definitions)
            if definition.kind == NodeKind.MACRO
        ]

    def _read_manifests(self, members: Sequence[int]) -> list[int]:
        """The files at which trees begin, sorted by path."""
        patterns = {
            pattern: re.compile(re.escape(pattern).replace(r"\*", "[^/]*"))
            for file in members
            for pattern in modules_of(self.files[file]).targets
        }
        roots: set[int] = set()
        for names in self.files:
            manifest = names.facts.manifest
            folder = posixpath.dirname(names.path)
            local, _, path = next((v for k, v in manifest if k == "library"), "").partition("\t")
            if local:
                package = self._folders[folder] = _Package(local)
                self._packages.setdefault(next(v for k, v in manifest if k == "package"), package)
                package.dependencies.update(_pair(v) for k, v in manifest if k == "dependency")
                for candidate in (path, *patterns):
                    at = posixpath.normpath(posixpath.join(folder, candidate))
                    if candidate and package.root < 0 and candidate in (path, next(iter(patterns), "")):
                        package.root = self.number.get(at, -1)
                roots.update([package.root] if package.root >= 0 else [])
            for key, value in manifest:
                if key == "shared":
                    self._shared.setdefault(*_pair(value))
                elif key == "target":
                    target = self.number.get(posixpath.normpath(posixpath.join(folder, value)))
                    roots.update([] if target is None else [target])
        for file in members:
            path = self.files[file].path
            folder = self._package_folder(path)
            inside = path[len(folder) + 1 :] if folder else path
            if any(pattern.fullmatch(inside) for pattern in patterns.values()):
                roots.add(file)
        return sorted(roots)

    def _package_folder(self, path: str) -> str:
        """The folder of the nearest manifest above, or what stands above the sources where there is none."""
        folder = posixpath.dirname(path)
        while folder and folder not in self._folders:
            folder = posixpath.dirname(folder)
        if not folder and "" not in self._folders:
            parts = path.split("/")
            return "/".join(parts[: parts.index("src")]) if "src" in parts[:-1] else posixpath.dirname(path)
        return folder

    def _grow(self, roots: Sequence[int]) -> None:
        """Follows the declarations of modules from these files on."""
        waiting = [(file, True) for file in reversed(roots)]
        seen = set(roots)
        while waiting:
            file, is_root = waiting.pop()
            for entry in self.files[file].facts.imports:
                if entry.kind != ImportKind.MODULE:
                    continue
                module = self.module_at(file, entry.scope)
                child = self._declared(file, module, entry, is_root)
                if child < 0 or child == file:
                    continue
                self.children.setdefault(module, {}).setdefault(entry.alias or entry.module, Module(child))
                if child not in seen and Module(child) not in self.parents:
                    self.parents[Module(child)] = module
                    seen.add(child)
                    waiting.append((child, False))

    def _declared(self, file: int, module: Module, entry: Import, is_root: bool) -> int:
        """The file of a module that `entry` declares, or -1."""
        path = self.files[file].path
        folder, stem = posixpath.dirname(path), posixpath.splitext(posixpath.basename(path))[0]
        settings = modules_of(self.files[file])
        inner = [self._name(m) for m in self._namespaces(module)]
        own = [folder] if is_root or stem in settings.index_stems else [posixpath.join(folder, stem), folder]
        if entry.alias:  # the file is named
            base = posixpath.join(own[0], *inner) if inner else folder
            return self.number.get(posixpath.normpath(posixpath.join(base, entry.module)), -1)
        for each in own:
            at = posixpath.join(each, *inner, entry.module.removeprefix("r#"))
            for extension in settings.extensions:
                for candidate in (at + extension, *(f"{at}/{index}{extension}" for index in settings.index_stems)):
                    if candidate in self.number:
                        return self.number[candidate]
        return -1

    def _namespaces(self, module: Module) -> list[Module]:
        found: list[Module] = []
        while module.namespace >= 0:
            found.append(module)
            module = self.parents[module]
        return found[::-1]

    def _name(self, module: Module) -> str:
        names = self.files[module.file]
        return names.facts.definitions[module.namespace - names.first].name

    def _adopt(self, file: int) -> None:
        """Takes a file that nobody declares for a module of the file that stands for its folder."""
        path = self.files[file].path
        settings = modules_of(self.files[file])
        folder, stem = posixpath.dirname(path), posixpath.splitext(posixpath.basename(path))[0]
        if stem in settings.index_stems:
            folder, stem = posixpath.dirname(folder), posixpath.basename(folder)
        beside = [posixpath.basename(t) for t in settings.targets if "*" not in t and "/" in t]
        indexes = [f"{index}{extension}" for index in settings.index_stems for extension in settings.extensions]
        candidates = [posixpath.join(folder, name) for name in (*indexes, *beside)]
        candidates += [folder + extension for extension in settings.extensions if folder]
        for candidate in candidates:
            parent = self.number.get(candidate, -1)
            if parent >= 0 and parent != file and self.root_of(Module(parent)) != Module(file):
                self.children.setdefault(Module(parent), {}).setdefault(stem, Module(file))
                self.parents[Module(file)] = Module(parent)
                return

    def module_at(self, file: int, scope: int) -> Module:
        """The module around a scope of a file."""
        names = self.files[file]
        while scope != MODULE_SCOPE and names.facts.definitions[scope].kind != NodeKind.NAMESPACE:
            scope = names.facts.definitions[scope].parent
        return Module(file, names.first + scope if scope != MODULE_SCOPE else -1)

    def root_of(self, module: Module) -> Module:
        for _ in range(_DEEPEST):
            above = self.parents.get(module)
            if above is None:
                break
            module = above
        return module

    def extern(self, module: Module, name: str) -> Found | None:
        """The library of the repository that `name` means as the first part of a path, if any."""
        folder = self._package_folder(self.files[module.file].path)
        own = self._folders.get(folder)
        if own is None:
            return None
        package = own if name == own.library else None
        if package is None and name in own.dependencies:
            wanted = own.dependencies[name]
            package = self._packages.get(wanted) or self._packages.get(self._shared.get(name, ""))
        return Found("module", package.root, "package") if package is not None and package.root >= 0 else None


def modules_of(names: Tables) -> ModuleSettings:
    assert names.settings is not None
    return names.settings.modules


def system_of(names: Tables) -> ModuleSystem | None:
    return names.settings.modules.system if names.settings is not None else None


def _pair(value: str) -> tuple[str, str]:
    first, _, second = value.partition("\t")
    return first, second
