"""Modules that their parents declare: a tree that begins at a target's file and is joined by `mod name;`.

In: the facts of all files. Out: the module that every file and namespace is, and what a path of names means there,
through declarations, imports, re-exports and globs. Files without a declaration (a macro may hide it) are taken for
modules of the folder in which they stand. Visibility is not asked: code that compiles names only what it sees. A name
that leads out of the repository is external and stays so.
"""

import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from causalist._internal.lazy import dataclass, field
from causalist.graph.file_symbols import FileSymbols
from causalist.graph.resolution_results import Resolution, ResolutionKind
from causalist.graph.rules import RuleName
from causalist.model.facts import MODULE_SCOPE, Import, ImportKind, ManifestKey
from causalist.model.language_settings import ModuleSettings, ModuleSystem
from causalist.model.node_ids import TYPE_KINDS, NodeKind

# Modules above one another; steps of paths, imports and globs below one another before a name is given up.
_MAX_DEPTH = 60
_MAX_GLOBS = 100  # imports of all names in one scope
_MAX_TRIES = 3


class Module(NamedTuple):
    """A file, or a namespace in one: the number of its definition, -1 for the file itself."""

    file: int
    namespace: int = -1


@dataclass(slots=True)
class _Package:
    """One manifest with a package. `dependencies` maps local names to names of packages."""

    library: str
    root: int = -1  # file of the library
    dependencies: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class ModuleTree:
    """All trees of a repository; build one with `ModuleTree.from_files`.

    `file_of[d]` is the file of definition d.
    """

    files: Sequence[FileSymbols]
    file_of: Sequence[int]
    number: dict[str, int]
    children: dict[Module, dict[str, Module]] = field(default_factory=dict)
    parents: dict[Module, Module] = field(default_factory=dict)
    items: dict[Module, dict[str, list[int]]] = field(default_factory=dict)
    uses: dict[tuple[int, int], dict[str, list[Import]]] = field(default_factory=dict)  # (file, scope) -> local name
    globs: dict[tuple[int, int], list[Import]] = field(default_factory=dict)
    macros: dict[Module, dict[str, list[int]]] = field(default_factory=dict)  # by the root of the tree
    _members: set[int] = field(default_factory=set)  # files that are modules of a tree
    _folders: dict[str, _Package] = field(default_factory=dict)
    _packages: dict[str, _Package] = field(default_factory=dict)  # by name
    _shared: dict[str, str] = field(default_factory=dict)  # names that a workspace gives to packages

    @classmethod
    def from_files(
        cls, files: Sequence[FileSymbols], file_of: Sequence[int], linked: Mapping[str, int]
    ) -> "ModuleTree":
        """Build the module trees of all files whose language declares modules.

        `linked` has files by paths that lead through symbolic links.
        """
        result = cls(files, file_of, {**linked, **{symbols.path: i for i, symbols in enumerate(files)}})
        members = [i for i, symbols in enumerate(files) if module_system(symbols) is ModuleSystem.TREE]
        result._members.update(members)
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

    def has_file(self, file: int) -> bool:
        """Return True if a file is a module of a tree."""
        return file in self._members

    # -- the tree

    def _add_names(self, file: int) -> None:
        symbols = self.files[file]
        definitions = symbols.facts.definitions
        for local, definition in enumerate(definitions):
            parent = definition.parent
            prefix = definitions[parent].qualname + "." if parent != MODULE_SCOPE else ""
            if definition.qualname != prefix + definition.name or definition.kind == NodeKind.MACRO:
                continue  # a member of a type that stands elsewhere
            if parent == MODULE_SCOPE or definitions[parent].kind == NodeKind.NAMESPACE:
                module = Module(file, symbols.first + parent if parent != MODULE_SCOPE else -1)
                self.items.setdefault(module, {}).setdefault(definition.name, []).append(symbols.first + local)
                if definition.kind == NodeKind.NAMESPACE:
                    self.parents[Module(file, symbols.first + local)] = module
        for entry in symbols.facts.imports:
            if entry.kind == ImportKind.STAR:
                self.globs.setdefault((file, entry.scope), []).append(entry)
            elif entry.kind == ImportKind.NAME:
                self.uses.setdefault((file, entry.scope), {}).setdefault(entry.alias, []).append(entry)

    def _macros_of(self, file: int) -> list[tuple[str, int]]:
        symbols = self.files[file]
        return [
            (definition.name, symbols.first + local)
            for local, definition in enumerate(symbols.facts.definitions)
            if definition.kind == NodeKind.MACRO
        ]

    def _read_manifests(self, members: Sequence[int]) -> list[int]:
        """Return the files at which trees begin, sorted by path."""
        patterns = {
            pattern: re.compile(re.escape(pattern).replace(r"\*", "[^/]*"))
            for file in members
            for pattern in module_settings(self.files[file]).targets
        }
        roots: set[int] = set()
        for symbols in self.files:
            manifest = symbols.facts.manifest
            folder = posixpath.dirname(symbols.path)
            local, _, path = next((v for k, v in manifest if k == ManifestKey.LIBRARY), "").partition("\t")
            if local:
                package = self._folders[folder] = _Package(local)
                self._packages.setdefault(next(v for k, v in manifest if k == ManifestKey.PACKAGE), package)
                package.dependencies.update(_split_pair(v) for k, v in manifest if k == ManifestKey.DEPENDENCY)
                for candidate in (path, *patterns):
                    at = posixpath.normpath(posixpath.join(folder, candidate))
                    if candidate and package.root < 0 and candidate in (path, next(iter(patterns), "")):
                        package.root = self.number.get(at, -1)
                roots.update([package.root] if package.root >= 0 else [])
            for key, value in manifest:
                if key == ManifestKey.SHARED:
                    self._shared.setdefault(*_split_pair(value))
                elif key == ManifestKey.TARGET:
                    target = self.number.get(posixpath.normpath(posixpath.join(folder, value)))
                    roots.update([] if target is None else [target])
        for file in members:
            path = self.files[file].path
            folder = self._package_folder(path)
            relative = path[len(folder) + 1 :] if folder else path
            if any(pattern.fullmatch(relative) for pattern in patterns.values()):
                roots.add(file)
        return sorted(roots)

    def _package_folder(self, path: str) -> str:
        """Return the folder of the nearest manifest above a file, else the parent of its source folder."""
        folder = posixpath.dirname(path)
        while folder and folder not in self._folders:
            folder = posixpath.dirname(folder)
        if not folder and "" not in self._folders:
            parts = path.split("/")
            return "/".join(parts[: parts.index("src")]) if "src" in parts[:-1] else posixpath.dirname(path)
        return folder

    def _grow(self, roots: Sequence[int]) -> None:
        """Follow the declarations of modules from these files on."""
        waiting = [(file, True) for file in reversed(roots)]
        visited = set(roots)
        while waiting:
            file, is_root = waiting.pop()
            for entry in self.files[file].facts.imports:
                if entry.kind != ImportKind.MODULE:
                    continue
                module = self.module_at(file, entry.scope)
                child = self._declared_file(file, module, entry, is_root)
                if child < 0 or child == file:
                    continue
                self.children.setdefault(module, {}).setdefault(entry.alias or entry.module, Module(child))
                if child not in visited and Module(child) not in self.parents:
                    self.parents[Module(child)] = module
                    visited.add(child)
                    waiting.append((child, False))

    def _declared_file(self, file: int, module: Module, entry: Import, is_root: bool) -> int:
        """Return the file of the module that `entry` declares, or -1."""
        path = self.files[file].path
        folder, stem = posixpath.dirname(path), posixpath.splitext(posixpath.basename(path))[0]
        settings = module_settings(self.files[file])
        inner = [self._name_of(m) for m in self._enclosing_namespaces(module)]
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

    def _enclosing_namespaces(self, module: Module) -> list[Module]:
        namespaces: list[Module] = []
        while module.namespace >= 0:
            namespaces.append(module)
            module = self.parents[module]
        return namespaces[::-1]

    def _name_of(self, module: Module) -> str:
        symbols = self.files[module.file]
        return symbols.facts.definitions[module.namespace - symbols.first].name

    def _adopt(self, file: int) -> None:
        """Make a file without a declaration a module of the file that stands for its folder."""
        path = self.files[file].path
        settings = module_settings(self.files[file])
        folder, stem = posixpath.dirname(path), posixpath.splitext(posixpath.basename(path))[0]
        if stem in settings.index_stems:
            folder, stem = posixpath.dirname(folder), posixpath.basename(folder)
        target_names = [posixpath.basename(t) for t in settings.targets if "*" not in t and "/" in t]
        indexes = [f"{index}{extension}" for index in settings.index_stems for extension in settings.extensions]
        candidates = [posixpath.join(folder, name) for name in (*indexes, *target_names)]
        candidates += [folder + extension for extension in settings.extensions if folder]
        for candidate in candidates:
            parent = self.number.get(candidate, -1)
            if parent >= 0 and parent != file and self.root_of(Module(parent)) != Module(file):
                self.children.setdefault(Module(parent), {}).setdefault(stem, Module(file))
                self.parents[Module(file)] = Module(parent)
                return

    def module_at(self, file: int, scope: int) -> Module:
        """Return the module that encloses a scope of a file."""
        symbols = self.files[file]
        while scope != MODULE_SCOPE and symbols.facts.definitions[scope].kind != NodeKind.NAMESPACE:
            scope = symbols.facts.definitions[scope].parent
        return Module(file, symbols.first + scope if scope != MODULE_SCOPE else -1)

    def root_of(self, module: Module) -> Module:
        """Return the root of the tree that a module belongs to."""
        for _ in range(_MAX_DEPTH):
            above = self.parents.get(module)
            if above is None:
                break
            module = above
        return module

    def find_library(self, module: Module, name: str) -> Resolution | None:
        """Return the library of the repository that `name` denotes as the first part of a path, if any."""
        folder = self._package_folder(self.files[module.file].path)
        own = self._folders.get(folder)
        if own is None:
            return None
        package = own if name == own.library else None
        if package is None and name in own.dependencies:
            wanted = own.dependencies[name]
            package = self._packages.get(wanted) or self._packages.get(self._shared.get(name, ""))
        return (
            Resolution(ResolutionKind.MODULE, package.root, RuleName.PACKAGE)
            if package is not None and package.root >= 0
            else None
        )


def module_settings(symbols: FileSymbols) -> ModuleSettings:
    """Return the module settings of the language of a file."""
    assert symbols.settings is not None
    return symbols.settings.modules


def module_system(symbols: FileSymbols) -> ModuleSystem | None:
    """Return the module system of the language of a file; None for prose and data."""
    return symbols.settings.modules.system if symbols.settings is not None else None


def _split_pair(value: str) -> tuple[str, str]:
    first, _, second = value.partition("\t")
    return first, second


_PATH_KINDS = TYPE_KINDS | {NodeKind.NAMESPACE, NodeKind.TYPE}  # what holds other names


@dataclass(slots=True)
class TreePathResolver:
    """Names in all modules of a tree."""

    tree: ModuleTree
    known: dict[tuple[Module, str, bool, bool], Resolution | None] = field(default_factory=dict)
    _busy: set[tuple[Module, str, bool, bool]] = field(default_factory=set)
    _targets: dict[tuple[Module, Import], Resolution | None] = field(default_factory=dict)
    _tries: dict[tuple[Module, Import], int] = field(default_factory=dict)  # how often they were searched in vain
    _cuts: int = 0  # how often a search met itself

    def clear_cache(self) -> None:
        """Drop all results, and the searches that did not end."""
        for each in (self.known, self._busy, self._targets, self._tries):
            each.clear()

    def find_visible(self, file: int, scope: int, name: str, path: bool) -> Resolution | None:
        """Return the meaning of a name inside of a file; with `path`, more names follow it, so that it holds others."""
        module = self.tree.module_at(file, scope)
        if name.endswith("!"):
            return self._find_macro(file, scope, name[:-1])
        symbols = self.tree.files[file]
        while scope != MODULE_SCOPE and symbols.first + scope != module.namespace:
            for entry in self.tree.globs.get((file, scope), ()):
                resolution = self._find_in_glob(module, entry, name, path)
                if resolution is not None:
                    return resolution._replace(rule=RuleName.STAR_IMPORT)
            scope = symbols.facts.definitions[scope].parent
        special = self._resolve_relative(module, name)
        if special is not None:
            return special
        resolution = self.find_in_module(module, name, path, inside=True)
        return (
            resolution._replace(rule=RuleName.SAME_FILE)
            if resolution is not None and resolution.rule == "own"
            else resolution
        )

    def is_visible(self, file: int, scope: int, definition: int, name: str) -> bool:
        """Return True if a definition is visible in a scope, including under another name."""
        resolution = self.find_visible(file, scope, name, True)
        if resolution is not None and resolution.kind is ResolutionKind.DEFINITION and resolution.number == definition:
            return True
        module = self.tree.module_at(file, scope)
        inner = module.namespace - self.tree.files[file].first if module.namespace >= 0 else MODULE_SCOPE
        for at in (scope, inner):
            for entries in self.tree.uses.get((file, at), {}).values():
                for entry in entries:
                    if entry.name == name and entry.alias != name:
                        target = self._resolve_import(module, entry, True)
                        if (
                            target is not None
                            and target.kind is ResolutionKind.DEFINITION
                            and target.number == definition
                        ):
                            return True
        resolution = self._find_in_function(file, scope, name)
        return (
            resolution is not None and resolution.kind is ResolutionKind.DEFINITION and resolution.number == definition
        )

    def _find_in_function(self, file: int, scope: int, name: str) -> Resolution | None:
        """Return the meaning of a name by an import inside of the functions around."""
        while scope != MODULE_SCOPE:
            for entry in self.tree.uses.get((file, scope), {}).get(name, ()):
                return self._resolve_import(self.tree.module_at(file, scope), entry, True)
            scope = self.tree.files[file].facts.definitions[scope].parent
        return None

    def follow_name(self, resolution: Resolution, name: str, path: bool) -> Resolution | None:
        """Return the meaning of `name` after what was found so far."""
        module = self.as_module(resolution.kind, resolution.number)
        if module is None:
            if resolution.kind is not ResolutionKind.DEFINITION:
                return resolution if resolution.kind is ResolutionKind.EXTERNAL else None
            member = self._find_member(resolution.number, name)
            return Resolution(ResolutionKind.DEFINITION, member, resolution.rule) if member >= 0 else None
        if name.endswith("!"):
            return self._first_macro(self.tree.root_of(module), name[:-1], module.file)
        if name in dict(module_settings(self.tree.files[module.file]).relative):
            return self._resolve_relative(module, name)
        inner = self.find_in_module(module, name, path)
        if inner is not None and inner.rule in ("own", RuleName.IMPORT):
            return inner._replace(rule=RuleName.MODULE_ATTRIBUTE if inner.rule == "own" else RuleName.RE_EXPORT)
        return inner

    def as_module(self, kind: ResolutionKind, number: int) -> Module | None:
        """Return the module that a value denotes, or None."""
        if kind is ResolutionKind.MODULE and self.tree.has_file(number):
            return Module(number)
        if kind is ResolutionKind.DEFINITION:
            file = self.tree.file_of[number]
            if self.tree.has_file(file) and (module := Module(file, number)) in self.tree.parents:
                return module
        return None

    def find_in_module(self, module: Module, name: str, path: bool, inside: bool = False) -> Resolution | None:
        """Return the meaning of a name in a module. The rule is "own" for what the module defines itself."""
        key = (module, name, path, inside)
        if key in self.known:
            return self.known[key]
        if key in self._busy or len(self._busy) > _MAX_DEPTH:
            self._cuts += 1
            return None
        before = self._cuts
        self._busy.add(key)
        result = self._search(module, name, path, inside)
        self._busy.discard(key)
        if result is not None or before == self._cuts or not self._busy:
            self.known[key] = result
        return result

    def _search(self, module: Module, name: str, path: bool, inside: bool) -> Resolution | None:
        own = self.tree.items.get(module, {}).get(name, [])
        chosen = [number for number in own if (self._kind_of(number) in _PATH_KINDS) == path] or ([] if path else own)
        if chosen and (path or self._kind_of(chosen[0]) != NodeKind.NAMESPACE):
            return Resolution(ResolutionKind.DEFINITION, chosen[0], "own")
        child = self.tree.children.get(module, {}).get(name)
        if child is not None and path:
            return Resolution(ResolutionKind.MODULE, child.file, RuleName.PATH)
        scope = module.namespace - self.tree.files[module.file].first if module.namespace >= 0 else MODULE_SCOPE
        outside: Resolution | None = None
        for entry in self.tree.uses.get((module.file, scope), {}).get(name, ()):
            resolution = self._resolve_import(module, entry, path)
            if resolution is not None and resolution.kind is not ResolutionKind.EXTERNAL:
                return _with_import_rule(resolution)
            outside = outside or resolution
        if outside is not None:
            return outside
        if child is not None:
            return Resolution(ResolutionKind.MODULE, child.file, RuleName.PATH)
        for entry in self.tree.globs.get((module.file, scope), ())[:_MAX_GLOBS]:
            resolution = self._find_in_glob(module, entry, name, path)
            if resolution is not None:
                return resolution._replace(rule=RuleName.STAR_IMPORT)
        if chosen or own:
            return Resolution(ResolutionKind.DEFINITION, (chosen or own)[0], "own")
        return self.tree.find_library(module, name) if inside else None

    def _find_in_glob(self, module: Module, entry: Import, name: str, path: bool) -> Resolution | None:
        where = self._find_glob_target(module, entry)
        return self.follow_name(where, name, path) if where is not None else None

    def _find_glob_target(self, module: Module, entry: Import) -> Resolution | None:
        """Return what all names are imported of; None if it is not in the repository.

        It may itself be imported by another of these imports. Where several lead to one another, a search that met
        itself may have missed something, so that it is repeated, but not for every order of them.
        """
        key = (module, entry)
        if key in self._targets:
            return self._targets[key]
        if key in self._tries and self._tries[key] < 0:  # under way
            self._cuts += 1
            return None
        before, tries = self._cuts, self._tries.get(key, 0) + 1
        self._tries[key] = -1
        where, _ = self.resolve_path(module, entry.module.split("."))
        self._tries[key] = tries
        if where is not None and where.kind is ResolutionKind.EXTERNAL:
            where = None
        if where is not None or before == self._cuts or tries >= _MAX_TRIES:
            self._targets[key] = where
        return where

    def _resolve_import(self, module: Module, entry: Import, path: bool) -> Resolution | None:
        names = [*entry.module.split("."), entry.name] if entry.module else [entry.name]
        return self.resolve_path(module, names, last_is_path=path)[0]

    def resolve_path(
        self, module: Module, names: Sequence[str], last_is_path: bool = True
    ) -> tuple[Resolution | None, int]:
        """Return the meaning of a path in a module, and the file that it leads to as far as it is known, or -1."""
        more = len(names) > 1 or last_is_path
        resolution = self._resolve_relative(module, names[0]) or self.find_in_module(
            module, names[0], more, inside=True
        )
        root = self.tree.root_of(module)
        if resolution is None and module != root:
            resolution = self.find_in_module(
                root, names[0], more
            )  # paths of imports begin at the root in older editions
        if resolution is None:
            is_relative = names[0] in dict(module_settings(self.tree.files[module.file]).relative)
            return (
                (None, -1)
                if is_relative
                else (Resolution(ResolutionKind.EXTERNAL, -1, RuleName.EXTERNAL, names[0]), -1)
            )
        reached = self._file_of(resolution)
        for i, name in enumerate(names[1:], 2):
            resolution = self.follow_name(resolution, name, i < len(names) or last_is_path)
            if resolution is None:
                return None, reached
            reached = self._file_of(resolution)
        return resolution, reached

    def _resolve_relative(self, module: Module, name: str) -> Resolution | None:
        meaning = dict(module_settings(self.tree.files[module.file]).relative).get(name)
        if meaning is None:
            return None
        target = {"root": self.tree.root_of(module), "here": module}.get(meaning) or self.tree.parents.get(module)
        if target is None:
            return None
        return (
            Resolution(ResolutionKind.MODULE, target.file, RuleName.PATH)
            if target.namespace < 0
            else Resolution(ResolutionKind.DEFINITION, target.namespace, RuleName.PATH)
        )

    def _find_macro(self, file: int, scope: int, name: str) -> Resolution | None:
        """Find a macro by its bare name: imported, of the same file, or of the same tree."""
        module = self.tree.module_at(file, scope)
        while True:
            for entry in self.tree.uses.get((file, scope), {}).get(name, ()):
                head = entry.module.partition(".")[0]
                where = self._resolve_relative(module, head) or (
                    self.find_in_module(module, head, True, inside=True) if head else None
                )
                if where is None or where.kind is ResolutionKind.EXTERNAL:
                    return Resolution(ResolutionKind.EXTERNAL, -1, RuleName.EXTERNAL, head or name)
                resolution = self._first_macro(self.tree.root_of(Module(self._file_of(where))), entry.name, file)
                return resolution._replace(rule=RuleName.IMPORT) if resolution is not None else None
            if scope == MODULE_SCOPE:
                break
            scope = self.tree.files[file].facts.definitions[scope].parent
        resolution = self._first_macro(self.tree.root_of(module), name, file)
        if resolution is not None:
            return resolution._replace(
                rule=RuleName.SAME_FILE if self.tree.file_of[resolution.number] == file else RuleName.PACKAGE_SCOPE
            )
        return None

    def _first_macro(self, root: Module, name: str, near: int) -> Resolution | None:
        numbers = self.tree.macros.get(root, {}).get(name, [])
        here = [number for number in numbers if self.tree.file_of[number] == near]
        return (
            Resolution(ResolutionKind.DEFINITION, (here or numbers)[0], RuleName.MODULE_ATTRIBUTE) if numbers else None
        )

    # -- imports

    def follow_import(self, file: int, entry: Import) -> Resolution | None:
        """Return the meaning of the local name of an import.

        None: it leads into the repository, to nothing that is seen.
        """
        resolution = self._resolve_import(self.tree.module_at(file, entry.scope), entry, False)
        return resolution and _with_import_rule(resolution)

    def find_target(self, file: int, entry: Import) -> tuple[int, str, str]:
        """Return the file that an import leads to or -1, the rule, and the package outside or ""."""
        module = self.tree.module_at(file, entry.scope)
        if entry.kind == ImportKind.MODULE:
            child = self.tree.children.get(module, {}).get(entry.alias or entry.module)
            return (child.file, RuleName.PATH, "") if child is not None else (-1, RuleName.PATH, "")
        names = [*entry.module.split("."), entry.name] if entry.module else [entry.name]
        if entry.kind == ImportKind.STAR:
            names.pop()
        resolution, reached = self.resolve_path(module, names, last_is_path=False) if names else (None, -1)
        if resolution is not None and resolution.kind is ResolutionKind.EXTERNAL:
            return -1, RuleName.EXTERNAL, resolution.name
        is_other = reached >= 0 and self.tree.root_of(Module(reached)) != self.tree.root_of(module)
        return reached, RuleName.PACKAGE if is_other else RuleName.PATH, ""

    # -- definitions

    def _file_of(self, resolution: Resolution) -> int:
        return (
            resolution.number
            if resolution.kind is ResolutionKind.MODULE
            else self.tree.file_of[resolution.number]
            if resolution.number >= 0
            else -1
        )

    def _kind_of(self, definition: int) -> int:
        symbols = self.tree.files[self.tree.file_of[definition]]
        return symbols.facts.definitions[definition - symbols.first].kind

    def _find_member(self, definition: int, name: str) -> int:
        symbols = self.tree.files[self.tree.file_of[definition]]
        return symbols.by_qualname.get(f"{symbols.facts.definitions[definition - symbols.first].qualname}.{name}", -1)


def _with_import_rule(resolution: Resolution) -> Resolution:
    """Return what a module has of its own as found by an import."""
    return (
        resolution._replace(rule=RuleName.IMPORT)
        if resolution.rule in ("own", RuleName.MODULE_ATTRIBUTE)
        else resolution
    )
