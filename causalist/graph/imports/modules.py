"""Files that imports mean: included files, dotted names below package roots, paths with packages named by manifests.

In: the paths of all files and what their manifests say, then an import or an include as written. Out: the file that it
means, or `OUTSIDE`. `language.toml` chooses between the two systems of modules. A module that is no file of the
repository is external, and stays so: there is no search by similar names.

For files that include one another, `find_header` finds C headers and `find_script` scripts that run other scripts.
The search path that a build gives to the compiler is not known. A quoted name is looked for beside the including file,
then in the folders around it and in those of them that hold headers; of what is left, the nearest file whose path ends
like that counts. Angle brackets are looked up alike, except headers of the language, which a repository may replace.
"""

import posixpath
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from causalist._internal.lazy import dataclass, field
from causalist.graph.rules import RuleName
from causalist.model.facts import FileFacts, ManifestKey
from causalist.model.language_settings import LanguageSettings, ModuleSettings, ModuleSystem


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
    headers = [path for path in ending[posixpath.basename(name)] if f"/{path}".endswith(tail)]
    return (
        number[min(headers, key=lambda path: (-shared_folders(importer, path), path.count("/"), path))]
        if headers
        else -1
    )


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


def _upwards(folder: str) -> Iterator[str]:
    """Yield a folder and those around it.

    >>> list(_upwards("src/app"))
    ['src/app', 'src', '']
    """
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ""


def is_known_elsewhere(path: str, facts: FileFacts, local: int) -> bool:
    """Return True for the definition that a file is named for, and what is inside of a type of that name.

    A method in the folder of its class is known by its class alone.
    """
    definition = facts.definitions[local]
    stem = posixpath.splitext(posixpath.basename(path))[0]
    is_method = any(each == local for each, _ in facts.owners)
    return definition.parent < 0 and definition.name == stem and not is_method


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


# Folders that are often put on the import path although they hold no package marker themselves.
_SOURCE_FOLDERS = ("src", "lib", "python")
_DECLARATIONS = (".d.ts", ".d.mts", ".d.cts")  # end names of files that say what code elsewhere is like
_BUILD_FILES = ("BUILD.bazel", "BUILD", "BUCK", "TARGETS")  # end a package of a build and begin the next one
OWN_FILE = "@This()"  # with `modules.beside`: the module of a file, in the file itself
_MAX_EXTENDED = 20  # configurations that one takes over
_MAX_LINKED_STEPS = 3  # symbolic links in one path
_MAX_LINKED_PATHS = 20_000  # paths that lead through symbolic links


class ModuleTarget(NamedTuple):
    """File that an import means, by its position among the files; -1 for a module outside.

    `rule` names how it was found.
    """

    file: int
    rule: str


OUTSIDE = ModuleTarget(-1, RuleName.EXTERNAL)


class _Package(NamedTuple):
    """Package that a manifest names.

    `exports` are (pattern, targets) of what its manifest lets others import from below its name.
    """

    folder: str
    entries: tuple[str, ...]
    exports: tuple[tuple[str, tuple[str, ...]], ...]


class _DottedModule(NamedTuple):
    file: int
    root: str
    in_package: bool


class _Places(NamedTuple):
    """Files of one dotted name.

    `packages`: those that all may use, `sources`: those below a folder of sources. Both have the file that is meant in
    each folder. `by_root`: those that only files below a folder may use.
    """

    packages: dict[str, str]
    sources: dict[str, str]
    by_root: dict[str, list[str]]


@dataclass(slots=True)
class ModuleMap:
    """Resolver of modules for all files of a repository; build one with `ModuleMap.from_files`."""

    paths: Sequence[str]
    number: dict[str, int]
    dotted: dict[str, list[_DottedModule]] = field(default_factory=dict)
    packages: dict[str, _Package] = field(default_factory=dict)
    aliases: dict[str, list[tuple[str, tuple[str, ...]]]] = field(default_factory=dict)  # (pattern, targets) by folder
    renamed: dict[str, dict[str, str]] = field(default_factory=dict)  # name -> folder that says so -> meaning
    named: dict[str, list[tuple[str, str, str]]] = field(default_factory=dict)  # name -> (folder, file, mark)
    built: dict[str, str] = field(default_factory=dict)  # folder that a compiler fills -> folder of its sources
    wrapped: dict[str, list[str]] = field(default_factory=dict)  # folder -> modules around those of its files
    links: Sequence[tuple[str, str]] = ()  # (path of a symbolic link, path that it leads to)
    linked: dict[str, int] = field(default_factory=dict)  # paths that lead through one -> file
    _package_at: dict[str, str] = field(default_factory=dict)  # names of packages by folder, once they are asked for
    _places: dict[str, "_Places"] = field(default_factory=dict)  # by dotted name, once it is asked for
    _ending: dict[str, list[str]] = field(default_factory=dict)
    _cache: dict[tuple[str, str, int, tuple[str, ...]], ModuleTarget] = field(default_factory=dict)

    @classmethod
    def from_files(
        cls,
        files: Sequence[tuple[str, FileFacts]],
        settings: Mapping[str, LanguageSettings],
        links: Sequence[tuple[str, str]] = (),
    ) -> "ModuleMap":
        """Build the maps from module names to files of all files; `links` are those of the scan."""
        paths = [path for path, _ in files]
        result = cls(paths, {path: i for i, path in enumerate(paths)}, links=links)
        result.linked = _follow_links(result.number, links)
        result.number.update(result.linked)
        for path, i in result.linked.items():
            result.number.setdefault(_normalize_unicode(path), i)
        for i, path in enumerate(paths):
            result.number.setdefault(_normalize_unicode(path), i)
        for path, facts in files:
            for key, value in facts.manifest:
                if key == ManifestKey.WRAPPED:
                    result.wrapped.setdefault(posixpath.dirname(path), []).append(value)
        for i, (path, facts) in enumerate(files):
            language = settings.get(facts.language)
            if language is not None and language.modules.system is ModuleSystem.DOTTED:
                result._add_dotted(i, path, language.modules)
            if facts.manifest:
                result._add_manifest(path, facts.manifest)
        for path, i in result.linked.items():
            language = settings.get(files[i][1].language)
            if language is not None and language.modules.system is ModuleSystem.DOTTED:
                result._add_dotted(i, path, language.modules)
        manifests = {path: facts.manifest for path, facts in files if facts.manifest}
        for path in manifests:
            result._add_extended(path, manifests)
        for where, aliases in result.aliases.items():  # the longest pattern counts first
            result.aliases[where] = sorted(dict.fromkeys(aliases), key=lambda a: (-len(a[0].rstrip("*")), a[0]))
        return result

    def resolve(self, importer: str, module: str, level: int, settings: ModuleSettings) -> ModuleTarget:
        """Return the file that `module` denotes in the file `importer`, or OUTSIDE."""
        if settings.beside and module == OWN_FILE and importer in self.number:
            return ModuleTarget(self.number[importer], RuleName.PATH)
        module = _normalize_unicode(module)
        key = (importer.rpartition("/")[0], module, level, settings.extensions)
        target = self._cache.get(key)
        if target is None:
            target = self._resolve_from(importer, module, level, settings)
            for path, leads_to in self.links if target.file < 0 else ():  # the importer may be meant by another path
                if target.file < 0 and importer.startswith(f"{leads_to}/"):
                    target = self._resolve_from(path + importer[len(leads_to) :], module, level, settings)
            self._cache[key] = target
        return target

    def _resolve_from(self, importer: str, module: str, level: int, settings: ModuleSettings) -> ModuleTarget:
        if settings.system is ModuleSystem.DOTTED:
            return self._resolve_dotted(importer, module, level, settings)
        if settings.system is ModuleSystem.INCLUDE:
            file = find_header(importer, module, self.number, self._paths_by_name(), settings)
            return ModuleTarget(file, RuleName.PATH) if file >= 0 else OUTSIDE
        return self._resolve_path(posixpath.dirname(importer), module or "." * level, settings)

    def _paths_by_name(self) -> Mapping[str, Sequence[str]]:
        """Group paths by their last part."""
        if not self._ending:
            for path in (*self.paths, *self.linked):
                self._ending.setdefault(posixpath.basename(path), []).append(path)
        return self._ending

    # -- dotted modules

    def is_wrapper(self, module: str) -> bool:
        """Return True for the module of a library that no file stands for."""
        return any(module in each for each in self.wrapped.values())

    def _add_dotted(self, file: int, path: str, settings: ModuleSettings) -> None:
        stem, end = posixpath.splitext(path)
        if settings.mentioned and end != settings.extensions[0] and f"{stem}{settings.extensions[0]}" in self.number:
            return  # the interface of a module that is there
        for name, root, in_package in self._dotted_names(path, settings):
            self.dotted.setdefault(name, []).append(_DottedModule(file, root, in_package))

    def _dotted_names(self, path: str, settings: ModuleSettings) -> Iterator[tuple[str, str, bool]]:
        """Yield (name, root, True if all may use it) under which a file is imported."""
        stem, _ = posixpath.splitext(path)
        if settings.mentioned:
            folder, _, last = stem.rpartition("/")
            name = _normalize_unicode(last[:1].upper() + last[1:])
            root = folder
            while root and root not in self.wrapped:
                root = posixpath.dirname(root)
            if root not in self.wrapped:
                yield name, folder, True
                return
            around = self.wrapped[root]
            yield name, root, "*" in around or name in around
            for each in around:
                if each.isidentifier() and each != name:
                    yield f"{each}.{name}", root, True
            return
        if settings.anywhere:
            names = stem.split("/")
            first = len(names) - 1
            while first and names[first - 1][:1].isupper():
                first -= 1
            for at in range(first, len(names)):
                yield _normalize_unicode(".".join(names[at:])), "/".join(names[:at]), True
            return
        folder = posixpath.dirname(path)
        root = folder
        while root and self._is_package(root, settings):
            root = posixpath.dirname(root)
        in_package = root != folder
        roots = {root, ""}
        parts = path.split("/")
        for depth, part in enumerate(parts[:-1]):
            if part in _SOURCE_FOLDERS or part in settings.folders:
                roots.add("/".join(parts[: depth + 1]))
        for each in sorted(roots):
            relative = stem[len(each) + 1 :] if each else stem
            names = relative.split("/")
            if names[-1] in settings.index_stems:
                names.pop()
            if names:
                is_seen = in_package or each in ("", *_SOURCE_FOLDERS, *settings.folders)
                yield _normalize_unicode(".".join(names)), each, is_seen

    def has_rival(self, path: str, settings: ModuleSettings) -> bool:
        """Return True if another file may be imported in place of `path`, which need not exist.

        Such a file has the same place or the same module name.
        """
        for name, root, is_seen in self._dotted_names(path, settings):
            for other in self.dotted.get(name, ()) if settings.system is ModuleSystem.DOTTED else ():
                meets = is_seen or other.in_package or f"{root}/".startswith(f"{other.root}/")
                meets = meets or f"{other.root}/".startswith(f"{root}/")
                if self.paths[other.file] != path and meets:
                    return True
        ends = [*settings.extensions, *(f"/{i}{end}" for i in settings.index_stems for end in settings.extensions), ""]
        stems = {path.removesuffix(written) for written in settings.extensions} | {path}
        rivals = {f"{stem}{end}" for stem in stems for end in ends} - {path}
        return not rivals.isdisjoint(self.number)

    def _is_package(self, folder: str, settings: ModuleSettings) -> bool:
        return any(
            f"{folder}/{stem}{extension}" in self.number
            for stem in settings.index_stems
            for extension in settings.extensions
        )

    def _resolve_dotted(self, importer: str, module: str, level: int, settings: ModuleSettings) -> ModuleTarget:
        if level:
            base = posixpath.dirname(importer)
            for _ in range(level - 1):
                base = posixpath.dirname(base)
            target = posixpath.join(base, *module.split(".")) if module else base
            return self._find_file_or_index(target, settings, only_folder=not module)
        places = self._places.get(module)
        if places is None:
            places = self._places[module] = self._find_places(module)
        folder = posixpath.dirname(importer)
        above = [folder, *(folder[:at] for at in range(len(folder) - 1, 0, -1) if folder[at] == "/")] if folder else []
        # A script's neighbor is visible to its neighbors only.
        candidates = [path for each in above for path in places.by_root.get(each, ())]
        package = module.partition(".")[0]
        is_shared = any(f"/{source}/{package}/" in f"/{importer}" for source in _SOURCE_FOLDERS)
        for nearest in (places.packages, places.sources) if is_shared else (places.packages,):
            candidates += [nearest[each] for each in (*above, "") if each in nearest][:1]
        best = min(candidates, key=lambda path: (-shared_folders(importer, path), *_depth_first(path)), default=None)
        return ModuleTarget(self.number[best], RuleName.PATH) if best else OUTSIDE

    def _find_places(self, module: str) -> "_Places":
        places = _Places({}, {}, {})
        for entry in self.dotted.get(module, ()):
            path = self.paths[entry.file]
            if entry.in_package:
                _note_nearest(places.packages, path)
                continue
            places.by_root.setdefault(entry.root, []).append(path)
            # A package without index file, below a folder of sources, is one with the importer's.
            if "." in module and entry.root.rpartition("/")[2] in _SOURCE_FOLDERS:
                _note_nearest(places.sources, path)
        return places

    def find_submodule(self, package: int, name: str, settings: ModuleSettings) -> int:
        """Return the file of submodule `name` of the package whose index file is `package`, or -1."""
        path = self.paths[package]
        stem = posixpath.splitext(posixpath.basename(path))[0]
        if settings.system is not ModuleSystem.DOTTED or stem not in settings.index_stems:
            return -1
        return self._find_file_or_index(posixpath.join(posixpath.dirname(path), name), settings).file

    def find_namespace_submodule(
        self, importer: str, module: str, level: int, name: str, settings: ModuleSettings
    ) -> int:
        """Return the file of `from module import name` where the folder `module` has no index file, or -1."""
        if settings.system is not ModuleSystem.DOTTED:
            return -1
        return self.resolve(importer, f"{module}.{name}" if module else name, level, settings).file

    # -- paths

    def _resolve_path(self, folder: str, module: str, settings: ModuleSettings) -> ModuleTarget:
        if settings.labels:
            return self._resolve_label(folder, module, settings)
        if module.startswith("/"):
            return OUTSIDE
        if settings.libraries and ":" in module:
            return self._resolve_library(folder, module)
        is_beside = settings.libraries or (settings.beside and module.endswith(settings.extensions))
        if module.startswith(".") or is_beside:
            at = posixpath.normpath(posixpath.join(folder, module))
            return self._find_file_or_index(at, settings, only_folder=module.rpartition("/")[2] in ("", ".", ".."))
        if settings.beside:
            return self._resolve_named(folder, module)
        for where in _upwards(folder):  # the nearest configuration counts first
            for pattern, targets in self.aliases.get(where, ()):
                target = self._resolve_pattern(where, module, pattern, targets, settings)
                if target.file >= 0:
                    return target
        return self._resolve_renamed(folder, module, settings) or self._resolve_package(module, settings)

    def _resolve_label(self, folder: str, label: str, settings: ModuleSettings) -> ModuleTarget:
        """Return the file of a label."""
        if label.startswith("ext://"):  # of Tilt
            return self._find_file_or_index(f"{label[6:]}/Tiltfile", settings)
        found = (
            self._find_file_or_index(each.replace(":", "/"), settings) for each in self._places_of_label(folder, label)
        )
        return next((each for each in found if each.file >= 0), OUTSIDE)

    def find_labelled(self, importer: str, label: str) -> tuple[int, str, int]:
        """Return the file of the build that may declare what a label names, that name, and the file with it, or -1."""
        written = label if "//" in label or label[:1] == ":" else f":{label}"
        for place in self._places_of_label(posixpath.dirname(importer), written):
            package, colon, name = place.partition(":")
            if (build := self._find_build(package)) >= 0:
                name = name or posixpath.basename(package)
                return build, name, self.number.get(f"{package}/{name}".lstrip("/"), -1) if colon else -1
        return -1, "", -1

    def _places_of_label(self, folder: str, label: str) -> list[str]:
        """Return the paths, with a colon before the name, that a label may mean: `@repository//package:file`.

        A repository without a name is the nearest one, or one around it; a package without a name is the file's.
        """
        above, roots = list(_upwards(folder)), self.renamed.get("//", {})
        owner, in_root, rest = label.partition("//")
        if label.startswith("/") and owner:  # of Kurtosis
            owner, in_root, rest = "", "//", label[1:]
        elif (
            not in_root and label.count("/") > 2 and f"//{(package := '/'.join(label.split('/')[:3]))}" in self.renamed
        ):
            owner, in_root, rest = package, "//", label[len(package) + 1 :]
        if not in_root:
            packages = (each for each in above if self._find_build(each) >= 0) if label[:1] == ":" else ()
            places, rest = [next(iter(packages), folder), folder], label
        elif name := owner.lstrip("@"):
            renamed, own = self.renamed.get(f"//{name}", {}), next((each for each in above if each in roots), "")
            where = next((each for each in above if each in renamed), None)
            if where is None or (renamed[where] == "." and where != own):
                return []
            places = [posixpath.join(where, renamed[where])]
        else:
            places = [*(each for each in above if each in roots), ""]
        package, colon, name = rest.partition(":")
        paths = (posixpath.normpath(posixpath.join(each, package)) for each in places)
        return list(dict.fromkeys(f"{'' if path == '.' else path}{colon}{name}" for path in paths))

    def _find_build(self, package: str) -> int:
        """Return the file of the build that makes a folder a package, or -1."""
        return max(self.number.get(f"{package}/{name}".lstrip("/"), -1) for name in _BUILD_FILES)

    def _resolve_named(self, folder: str, module: str) -> ModuleTarget:
        """Return the file of the module that the nearest build gives this name, or the only one for other packages."""
        every = self.named.get(module, ())
        around = [each for each in every if f"{folder}/".startswith(f"{each[0]}/" if each[0] else "")]
        nearest = max((where for where, _, _ in around), key=len, default="")
        kept = [each for each in around if each[0] == nearest] if around else [each for each in every if each[2]]
        files = {posixpath.normpath(posixpath.join(where, file)) for where, file, _ in kept}
        path = files.pop() if len(files) == 1 else ""
        return ModuleTarget(self.number[path], RuleName.PACKAGE) if path in self.number else OUTSIDE

    def _resolve_library(self, folder: str, module: str) -> ModuleTarget:
        """Return the file of a library of the package that has this name; of several, that of the nearest one.

        A package that holds the importer is the nearest.
        """
        name, _, rest = module.partition("/")
        places = self.named.get(name, ())
        if not places:
            return OUTSIDE
        inside = {where: f"{folder}/".startswith(f"{where}/" if where else "") for where, _, _ in places}
        shared = {where: shared_folders(f"{folder}/", f"{where}/") for where in inside}
        where, sources, _ = min(places, key=lambda each: (-inside[each[0]], -shared[each[0]], each[0]))
        path = posixpath.normpath(posixpath.join(where, sources, rest))
        return ModuleTarget(self.number[path], RuleName.PACKAGE) if path in self.number else OUTSIDE

    def _resolve_renamed(self, folder: str, module: str, settings: ModuleSettings) -> ModuleTarget | None:
        """Return the file of a package by the name that the nearest manifest gives it; None for other names."""
        (name,) = _package_names(module)
        renamed = self.renamed.get(name, {})
        where = next((each for each in _upwards(folder) if each in renamed), None) if renamed else None
        if where is None:
            return None
        module_path, rest = renamed[where], module[len(name) :]
        if not module_path.startswith("."):
            return self._resolve_package(f"{module_path}{rest}", settings)
        at = posixpath.normpath(posixpath.join(where, module_path))
        if not self._package_at:
            self._package_at = {each.folder: package for package, each in reversed(self.packages.items())}
        if package := self._package_at.get(at):
            return self._resolve_package(f"{package}{rest}", settings)
        for entry in (rest, f"/src{rest}") if rest else ("/src/index", "", "/lib/index"):
            target = self._find_file_or_index(f"{at}{entry}", settings)
            if target.file >= 0:
                return ModuleTarget(target.file, RuleName.PACKAGE)
        return OUTSIDE

    def _resolve_pattern(
        self, folder: str, module: str, pattern: str, targets: tuple[str, ...], settings: ModuleSettings
    ) -> ModuleTarget:
        """Return the first existing target of the pattern relative to `folder`, if the pattern matches the module."""
        prefix, star, suffix = pattern.partition("*")
        if not (module.startswith(prefix) and module.endswith(suffix) if star else module == pattern):
            return OUTSIDE
        middle = module[len(prefix) : len(module) - len(suffix)] if star else ""
        for target in targets:
            for guess in (target, *_source_paths(target)):
                at = posixpath.normpath(posixpath.join(folder, guess.replace("*", middle, 1)))
                resolved = self._find_file_or_index(at, settings)
                if resolved.file >= 0:
                    return resolved
        return OUTSIDE

    def _resolve_package(self, module: str, settings: ModuleSettings) -> ModuleTarget:
        parts, declared = module.split("/"), OUTSIDE
        for length in (2, 1) if module.startswith("@") else (1,):
            name, rest = "/".join(parts[:length]), "/".join(parts[length:])
            if name not in self.packages:
                continue
            folder, entries, exports = self.packages[name]
            for pattern, targets in exports if rest else ():
                target = self._resolve_pattern(folder, rest, pattern, targets, settings)
                if target.file >= 0:
                    return ModuleTarget(target.file, RuleName.PACKAGE)
            wanted = (
                [f"{rest}", f"src/{rest}", f"source/{rest}", f"lib/{rest}"]
                if rest
                else [*entries, "src/index", "index", "source/index", "lib/index", "src/main"]
            )
            for entry in wanted:
                for guess in (entry, *_source_paths(entry)):
                    target = self._find_file_or_index(posixpath.normpath(posixpath.join(folder, guess)), settings)
                    if target.file < 0:
                        continue
                    if not self.paths[target.file].endswith(_DECLARATIONS):
                        return ModuleTarget(target.file, RuleName.PACKAGE)
                    if declared.file < 0:  # the code that it declares may be elsewhere
                        declared = ModuleTarget(target.file, RuleName.PACKAGE)
        return declared

    def _add_manifest(self, path: str, manifest: tuple[tuple[str, str], ...]) -> None:
        folder = posixpath.dirname(path)
        name = next((value for key, value in manifest if key == ManifestKey.NAME), "")
        if name:
            entries = tuple(v for k, v in manifest if k == ManifestKey.ENTRY)
            exports = [tuple(v.split("\t")) for k, v in manifest if k == ManifestKey.EXPORT]
            self.packages.setdefault(name, _Package(folder, entries, tuple((e[0], e[1:]) for e in exports)))
        for key, value in manifest:
            if key == ManifestKey.RENAMED:
                local, target = value.split("\t")
                self.renamed.setdefault(local, {}).setdefault(folder, target)
            elif key == ManifestKey.NAMED:
                name, file, mark = value.split("\t")
                self.named.setdefault(name, []).append((folder, file, mark))
        self._add_aliases(folder, folder, manifest)

    def _add_aliases(self, where: str, folder: str, manifest: tuple[tuple[str, str], ...]) -> None:
        """Add the names that a configuration in `folder` explains, for the files below `where`."""
        base = next((value for key, value in manifest if key == ManifestKey.BASE), "")
        for target in [value for key, value in manifest if key == ManifestKey.BUILT]:
            # A configuration that another takes over speaks of folders beside itself.
            out, source = (posixpath.normpath(posixpath.join(folder, part)) for part in target.split("\t"))
            if out not in (".", source) and not out.startswith("../"):
                source = "" if source == "." else source
                self.built[out] = min(self.built.get(out, source), source)
        here = posixpath.relpath(folder or ".", where or ".")
        for key, value in manifest:
            if key == ManifestKey.ALIAS:
                pattern, *targets = value.split("\t")
                paths = tuple(posixpath.join(here, base or ".", target) for target in targets)
                self.aliases.setdefault(where, []).append((pattern, paths))
        if base:
            self.aliases.setdefault(where, []).append(("*", (posixpath.join(here, base, "*"),)))

    def _add_extended(self, path: str, manifests: Mapping[str, tuple[tuple[str, str], ...]]) -> None:
        """Add the settings that a configuration takes from others, which it names by path or package."""
        where, visited, queue = posixpath.dirname(path), {path}, [path]
        while queue and len(visited) < _MAX_EXTENDED:
            current = queue.pop()
            for name in [value for key, value in manifests[current] if key == ManifestKey.EXTENDS]:
                package = next((p for p in _package_names(name) if p in self.packages), "")
                start = self.packages[package].folder if package else posixpath.dirname(current)
                if not package and not name.startswith("."):
                    continue
                at = posixpath.normpath(posixpath.join(start, name[len(package) :].lstrip("/") if package else name))
                extended = next((p for p in (at, f"{at}.json", f"{at}/tsconfig.json") if p in manifests), "")
                if extended and extended not in visited:
                    visited.add(extended)
                    queue.append(extended)
                    self._add_aliases(where, posixpath.dirname(extended), manifests[extended])

    def _find_file_or_index(self, target: str, settings: ModuleSettings, only_folder: bool = False) -> ModuleTarget:
        """Find the file `target`, with an extension added or exchanged, or the index file of that folder."""
        if target == ".." or target.startswith("../"):
            return OUTSIDE
        target = "" if target == "." else _normalize_unicode(target)
        file = OUTSIDE if only_folder else self._find_file(target, settings)
        if file.file >= 0:
            return file
        for stem in settings.index_stems:
            for extension in settings.extensions:
                path = f"{target}/{stem}{extension}".lstrip("/")
                if path in self.number:
                    return ModuleTarget(self.number[path], RuleName.PATH)
        for out in _upwards(posixpath.dirname(target)) if self.built else ():
            if out in self.built:
                return self._find_file(f"{self.built[out]}{target[len(out) :]}".lstrip("/"), settings)
        return OUTSIDE

    def _find_file(self, target: str, settings: ModuleSettings) -> ModuleTarget:
        number = self.number
        if target in number and settings.system is ModuleSystem.PATH:
            return ModuleTarget(number[target], RuleName.PATH)
        for written, sources in settings.compiled:
            if target.endswith(written):
                for extension in sources:
                    path = target[: -len(written)] + extension
                    if path in number:
                        return ModuleTarget(number[path], RuleName.PATH)
        if target:
            for extension in settings.extensions:
                if target + extension in number:
                    return ModuleTarget(number[target + extension], RuleName.PATH)
        return OUTSIDE


def _follow_links(number: Mapping[str, int], links: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Return the files by the paths that lead to them through symbolic links.

    >>> _follow_links({"core/a.py": 0, "b.py": 1}, [("app/core", "core"), ("all", "app"), ("c.py", "b.py")])
    {'app/core/a.py': 0, 'c.py': 1, 'all/core/a.py': 0}
    """
    file_by_path: dict[str, int] = {}
    fresh = number if links else {}
    for _ in range(_MAX_LINKED_STEPS):
        new: dict[str, int] = {}
        ordered = sorted(fresh)
        for path, leads_to in links:
            if leads_to in fresh:
                new[path] = fresh[leads_to]
            for at in range(bisect_left(ordered, f"{leads_to}/"), len(ordered)):
                if not ordered[at].startswith(f"{leads_to}/") or len(file_by_path) + len(new) >= _MAX_LINKED_PATHS:
                    break
                new[path + ordered[at][len(leads_to) :]] = fresh[ordered[at]]
        fresh = {path: file for path, file in new.items() if path not in number and path not in file_by_path}
        file_by_path.update(fresh)
    return file_by_path


def _depth_first(path: str) -> tuple[int, str]:
    """Return the key by which of two files of one module the first is meant."""
    return path.count("/"), path


def _note_nearest(nearest: dict[str, str], path: str) -> None:
    """Enter a path as the one that is meant in each folder above it, unless another one comes first there."""
    for at in (0, *(i for i, character in enumerate(path) if character == "/")):
        nearest_path = nearest.setdefault(path[:at], path)
        if _depth_first(path) < _depth_first(nearest_path):
            nearest[path[:at]] = path


def _source_paths(path: str) -> tuple[str, ...]:
    """Return the paths at which the source of a built file may be."""
    return path.replace("dist/", "src/", 1), path.replace("build/", "src/", 1)


def _package_names(module: str) -> list[str]:
    """Return the names of packages that a module may begin with.

    >>> _package_names("@a/b/c.json")
    ['@a/b']
    """
    parts = module.split("/")
    return ["/".join(parts[:2])] if module.startswith("@") else parts[:1]


def _normalize_unicode(text: str) -> str:
    """Compose letters and their accents (NFC): macOS decomposes them in file names, editors do not."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)
