"""Packages that files declare (`DeclaredTypes`) or that are folders (`FolderMap`), and names of packages from outside.

In: an import. Out: the files or the definition that it leads to, or the name of the package outside of the repository.

A declared type is known by its package and its nesting, wherever its file stands; of several with one name, as versions
of an example or source sets have them, the one nearest to the importing file counts. An import may hold in every file
of a project (`global using`) and may leave out the packages around that of its file.

Where packages are folders, a manifest says what the paths of a module's packages begin with. A repository may hold
several modules, put a folder in the place of a path (`replace`), and keep copies of others' packages below `vendor/`.
"""

import posixpath
import re
from collections.abc import Callable, Container, Mapping, Sequence

from causalist._internal.lazy import dataclass, field, lazy_regex
from causalist.graph.file_symbols import FileSymbols, function_around
from causalist.graph.imports.modules import OUTSIDE, ModuleTarget, is_known_elsewhere, shared_folders
from causalist.graph.resolution_results import Value, ValueKind
from causalist.graph.rules import RuleName
from causalist.model.facts import MODULE_SCOPE, FileFacts, Import, ImportKind, ManifestKey
from causalist.model.language_settings import LanguageSettings, ModuleSystem
from causalist.model.node_ids import CALLABLE_KINDS, FACADE, TYPE_KINDS, NodeKind


@dataclass(slots=True)
class DeclaredTypes:
    """Types by (family of languages, qualified name).

    Each has the numbers of its definitions, in the order of the files. Where packages hold functions, these and
    constants are there as well. `places` are folders of packages in which a loader of the program looks for types.
    """

    paths: Sequence[str] = ()
    types: dict[tuple[str, str], list[tuple[int, int]]] = field(default_factory=dict)  # -> (file, definition)
    # The same of types that stand in functions and blocks, which only their own files mean, if none has the name.
    local: dict[tuple[str, str], list[tuple[int, int]]] = field(default_factory=dict)
    packages: dict[tuple[str, str], list[int]] = field(default_factory=dict)  # -> files
    around: set[tuple[str, str]] = field(default_factory=set)  # namespaces, and those around them
    places: list[tuple[str, str]] = field(default_factory=list)  # (package, folder)
    # Types that hold, for other languages, what stands at the top of a file: (family, qualified name) -> files.
    facades: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    class_files: dict[int, int] = field(default_factory=dict)  # files that are classes -> these
    singletons: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # name -> file that says it, and path
    scripts: dict[str, str] = field(default_factory=dict)  # scene -> path of its class, or of another scene
    nodes: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # scene -> path of a node, and of its class
    uids: dict[str, str] = field(default_factory=dict)  # number -> path
    _scenes_of: dict[int, list[tuple[str, str]]] | None = None  # class of a file -> scenes with it, and where it is
    _numbers: dict[str, int] = field(default_factory=dict)  # files by path, where some are classes
    flat: set[str] = field(default_factory=set)  # families in which `A.B` is no member of `A`
    _nearest: dict[tuple[str, str, str], tuple[int, int]] = field(default_factory=dict)  # + folder of the importer
    # Packages and types by a name in them; all that are named as a whole; the parts of names of packages.
    _packages_with: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    _whole: dict[str, set[str]] = field(default_factory=dict)
    _package_parts: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def from_files(
        cls,
        files: Sequence[tuple[str, FileFacts]],
        firsts: Sequence[int],
        settings: Mapping[str, LanguageSettings],
    ) -> "DeclaredTypes":
        """Collect the types of all files; `firsts` are the numbers of each file's first definition."""
        result = cls([path for path, _ in files])
        for number, (path, facts) in enumerate(files):
            for key, value in facts.manifest:
                if key == ManifestKey.AUTOLOAD:
                    package, folder = value.split("\t")
                    result.places.append((package, posixpath.normpath(posixpath.join(posixpath.dirname(path), folder))))
                elif key == ManifestKey.NAMED:
                    result._add_resource(path, *value.split("\t")[:2])
            language = settings.get(facts.language)
            if language is None or language.modules.system is not ModuleSystem.DECLARED:
                continue
            if language.modules.file_classes and facts.definitions:
                result.class_files[number] = firsts[number]
            if language.modules.flat:
                result.flat.add(language.family)
            namespaces = language.modules.namespaces
            if not facts.package and not namespaces:
                continue  # such types can neither be imported nor qualified
            if language.modules.facade and any(d.parent < 0 and d.kind not in TYPE_KINDS for d in facts.definitions):
                facade = f"{facts.package}.{_facade_name(path, facts, language.modules.facade)}"
                result.facades.setdefault((language.family, facade), []).append(number)
            holds, is_marked = language.modules.holds_functions, language.modules.marked_folders
            result.packages.setdefault((language.family, facts.package), []).append(number)
            if namespaces:
                parts = facts.package.split(".")
                result.around.update((language.family, ".".join(parts[:i])) for i in range(1, len(parts) + 1))
            inside = {MODULE_SCOPE}  # definitions around which there are types alone
            for local, definition in enumerate(facts.definitions):
                # What a function declares is declared in the namespace, too.
                if is_marked and not is_known_elsewhere(path, facts, local):
                    continue
                is_own = (holds and definition.parent < 0) or (
                    namespaces
                    and not (definition.parent >= 0 and facts.definitions[definition.parent].kind not in CALLABLE_KINDS)
                )
                is_type = definition.kind in TYPE_KINDS or definition.kind == NodeKind.NAMESPACE
                if (is_type and definition.parent in inside) or is_own:
                    inside.add(local)
                    # `class A::B` is called `A::B`; what a function declares has its own name alone.
                    is_plain = is_own and not (language.modules.inclusion and definition.parent == MODULE_SCOPE)
                    called = definition.name if is_plain else definition.qualname
                    name = language.family, f"{facts.package}.{called}".lstrip(".")
                    declared = result.types
                    if is_type and language.modules.reopened and (function := function_around(facts, local)) >= 0:
                        outer = facts.definitions[function].qualname
                        name, declared = (name[0], definition.qualname.removeprefix(f"{outer}.")), result.local
                    declared.setdefault(name, []).append((number, firsts[number] + local))
        return result

    def _add_resource(self, path: str, name: str, written: str) -> None:
        """Note what a project, a scene or the file beside another one says in the language of Godot."""
        kind, _, rest = name.partition(":")
        if kind == "autoload":
            self.singletons.setdefault(rest, []).append((path, written))
        elif kind == "script":
            self.scripts[path] = written
        elif kind == "node":
            self.nodes.setdefault(path, []).append((rest, written))
        elif kind == "uid":
            self.uids.setdefault(name, path.removesuffix(".uid"))

    def find(self, language: str, name: str, importer: str) -> tuple[int, int] | None:
        """Return (file, definition) of the type with this qualified name that stands nearest to the file `importer`."""
        declarations = self.types.get((language, name))
        if not declarations:
            for each in self.local.get((language, name), ()):
                if self.paths[each[0]] == importer:
                    return each
            return self.find_resource(name, importer) if self.class_files and "." in name else None
        if len(declarations) == 1:
            return declarations[0]
        if language in self.flat and (own := [each for each in declarations if self.paths[each[0]] == importer]):
            return own[0]
        key = language, name, importer.rpartition("/")[0]
        nearest = self._nearest.get(key)
        if nearest is None:
            expected = self._expected_paths(name)
            loaded = [each for each in declarations if posixpath.splitext(self.paths[each[0]])[0] in expected]
            nearest = min(
                loaded or declarations, key=lambda each: (-shared_folders(importer, self.paths[each[0]]), each)
            )
            self._nearest[key] = nearest
        return nearest

    def bringing(self, settings: LanguageSettings | None, stars: Sequence[Import], name: str) -> Sequence[Import]:
        """Return the wildcard imports that may bring a name: of declared packages, those with it, and of types.

        Most lead out of the repository, and are not looked at for each name.
        """
        if settings is None or settings.modules.system is not ModuleSystem.DECLARED or self.class_files or "." in name:
            return stars
        if not self._packages_with:
            for family, whole in (*self.types, *self.local):
                package, _, last = whole.rpartition(".")
                self._packages_with.setdefault((family, last), set()).add(package)
                self._whole.setdefault(family, set()).add(whole)
            for family, whole in self.facades:
                self._whole.setdefault(family, set()).add(whole)
        packages = self._packages_with.get((settings.family, name), _NONE)
        whole_names = self._whole.get(settings.family, _NONE)
        return [star for star in stars if star.module in whole_names or star.module.strip(".") in packages]

    def is_part_of_package(self, language: str, name: str) -> bool:
        """Return True if a name is a part of that of any package that files declare."""
        if not self._package_parts:
            for family, package in self.packages:
                self._package_parts.setdefault(family, set()).update(package.split("."))
        return name in self._package_parts.get(language, _NONE)

    def find_resource(self, written: str, importer: str) -> tuple[int, int] | None:
        """Return (file, class) of the file that a path means in the file `importer`, or of a scene's outermost node.

        `res://` is the folder of the nearest file of a project, else the nearest folder around with such a file in it.
        """
        if not self._numbers:
            self._numbers = {path: number for number, path in enumerate(self.paths)}
        for _ in range(_MAX_SCENES):
            path = self._resource_path(written, importer)
            number = self._numbers.get(path, -1)
            if number in self.class_files:
                return number, self.class_files[number]
            if path not in self.scripts:
                return None
            written, importer = self.scripts[path], path
        return None

    def _resource_path(self, written: str, importer: str) -> str:
        folder = posixpath.dirname(importer)
        if written.startswith("uid://"):
            return self.uids.get(written, "")
        if not written.startswith("res://"):
            return posixpath.normpath(posixpath.join(folder, written))
        rest, around = posixpath.normpath(written.removeprefix("res://")), [folder]
        while folder:
            around.append(folder := posixpath.dirname(folder))
        roots = [each for each in around if f"{each}/{_PROJECT}".lstrip("/") in self._numbers]
        paths = [f"{each}/{rest}".lstrip("/") for each in (*roots[:1], *around)]
        return next((path for path in paths if path in self._numbers), "")

    def find_node(self, name: str, importer: str) -> tuple[int, int] | None:
        """Return (file, class) of a node that the class of a file names by its path in scenes, where these agree."""
        if self._scenes_of is None:
            self._scenes_of = {}
            for scene in sorted({*self.scripts, *self.nodes}):
                root = [("", self.scripts[scene])] if scene in self.scripts else []
                for at, written in (*root, *self.nodes.get(scene, ())):
                    own = self.find_resource(written, scene)
                    if own is not None and written.endswith(".gd"):
                        self._scenes_of.setdefault(own[0], []).append((scene, at))
        if _OF_ROOT in name:
            return self.find_singleton(name.partition(_OF_ROOT)[2].rstrip("_"), importer)
        found = set()
        for scene, at in self._scenes_of.get(self._numbers.get(importer, -1), ()):
            path = _path_of_node(name, at)
            nodes = [(_NO_NAME.sub("_", node), written) for node, written in self.nodes.get(scene, ())]
            exact = [written for node, written in nodes if node == path]
            alone = exact or [written for node, written in nodes if f"_{node}".endswith(f"_{path}")]
            if len(alone) == 1:
                found.add(self.find_resource(alone[0], scene))
        return found.pop() if len(found) == 1 else None

    def find_singleton(self, name: str, importer: str) -> tuple[int, int] | None:
        """Return (file, class) of the object that the project around the file `importer` has under a name."""
        name = _SINGLETON.sub("", name).strip("_") if "__" in name else name
        said = [each for each in self.singletons.get(name, ()) if _is_around(each[0], importer)]
        if not said:
            return None
        path, written = max(said, key=lambda each: (each[0].count("/"), each))
        return self.find_resource(written, path)

    def remove(self, key: tuple[str, str], definitions: Container[int]) -> None:
        """Remove some definitions of a type."""
        if key in self.types:
            self.types[key] = [each for each in self.types[key] if each[1] not in definitions]
            self._nearest.clear()

    def _expected_paths(self, name: str) -> set[str]:
        """Return the paths, without extensions, in which a loader looks for a type."""
        return {
            posixpath.normpath(posixpath.join(folder, name[len(package) :].strip(".").replace(".", "/")))
            for package, folder in self.places
            if not package or name.startswith(f"{package}.")
        }

    def find_facade(self, language: str, name: str, importer: str) -> int:
        """Return the file whose top a type with this qualified name stands for, the nearest to `importer`, or -1."""
        facades = self.facades.get((language, name), ())
        return min(facades, key=lambda each: (-shared_folders(importer, self.paths[each]), each), default=-1)

    def find_prefix(self, language: str, parts: Sequence[str], importer: str) -> tuple[int, int] | None:
        """Return the outermost type that a dotted chain begins with, and the number of parts that name it."""
        name, longest = "", None
        for count, part in enumerate(parts, 1):
            name = f"{name}.{part.rstrip('()')}" if name else part
            if (language, name) in self.types or (language, name) in self.local:
                declaration = self.find(language, name, importer)
                longest = (declaration[1], count) if declaration else None
                if language not in self.flat:
                    return longest
            if "(" in part:
                return longest
        return longest

    def find_imported_files(
        self, language: str, entry: Import, importer: str, used: frozenset[str]
    ) -> list[int] | None:
        """Return the files that an import in `importer` leads to, None if it leads out of the repository.

        Of a package as a whole these are the files of the types that the importer names; `used` are all names in it.
        """
        qualify_import = (
            f"{entry.module}.{entry.name}" if entry.kind == ImportKind.NAME and entry.module else entry.module
        )
        declaration = self.find(language, qualify_import, importer) or self.find(language, entry.module, importer)
        if declaration is not None:
            return [declaration[0]]
        if entry.kind != ImportKind.STAR or (language, entry.module) not in self.packages:
            return None
        submodules = [self.find(language, f"{entry.module}.{name}", importer) for name in sorted(used)]
        return sorted({each[0] for each in submodules if each is not None})


_NONE: frozenset[str] = frozenset()
_PROJECT = "project.godot"
_NO_NAME = lazy_regex(r"[^\w]")
_SINGLETON = lazy_regex(r"^Engine_get_singleton_")
_OF_ROOT = "_root_"  # in the path of a node that begins above all scenes


def _path_of_node(name: str, at: str) -> str:
    """Return the path in its scene of the node with a name, as a node at the path `at` says it.

    >>> _path_of_node("$A_B", ""), _path_of_node("$___A", "C/D"), _path_of_node("$et_node__A__", "C")
    ('A_B', 'C_A', 'C_A')
    """
    written = re.sub(r"^\$(?:et_node(?:_or_null)?__|_(?!_))?", "", name).rstrip("_")
    above = [each for each in at.split("/") if each]
    while written.startswith("___"):
        written, above = written[3:], above[:-1]
    return "_".join((*(_NO_NAME.sub("_", each) for each in above), written.strip("_")))


_MAX_SCENES = 8  # scenes of which each is one of the next


def _is_around(project: str, path: str) -> bool:
    """Return True for the file of a project in whose folder a file is, or below.

    >>> _is_around("a/project.godot", "a/b/c.gd"), _is_around("a/project.godot", "c.gd")
    (True, False)
    """
    folder = project.removesuffix(_PROJECT)
    return path.startswith(folder)


_Meanings = dict[tuple[int, str], list[int]]  # definitions by a namespace and a name in it
_MAX_PASSED = 100  # namespaces, of which each passes on what the one before asks for


@dataclass(slots=True)
class PassedNames:
    """Names that namespaces have by what they import, in languages whose namespaces pass that on.

    `find_own` returns the member of a definition by its name, or -1.
    """

    declared: DeclaredTypes
    files: Sequence[FileSymbols]
    file_of: Sequence[int]  # by definition
    find_own: Callable[[int, str], int]

    def find(self, file: int, scope: int, name: str) -> list[int]:
        """Return the definitions that the imports in `scope` of a file bind to a name: several where it is generic."""
        return self._find(file, scope, name, {}, 0)

    def find_in(self, namespace: tuple[int, int], name: str) -> list[int]:
        """Return what a name means to those who import a namespace, given as (file, definition)."""
        return self._find_in(namespace, name, {}, 0)

    # `known` has what names mean in namespaces that were asked before. Many namespaces import one another, and the
    # ways between them are far more than they are. One that is asked again on the way to itself adds nothing.

    def _find(self, file: int, scope: int, name: str, known: _Meanings, depth: int) -> list[int]:
        symbols = self.files[file]
        assert symbols.settings is not None
        found: dict[int, None] = {}
        for entry in symbols.facts.imports:
            is_star = entry.kind == ImportKind.STAR
            if entry.scope == scope and (is_star or entry.alias == name):
                namespace = self.declared.find(symbols.settings.family, entry.module, symbols.path)
                if namespace is not None:
                    meant = self._find_in(namespace, name if is_star else entry.name, known, depth)
                    found.update(dict.fromkeys(meant))
        return list(found)

    def _find_in(self, namespace: tuple[int, int], name: str, known: _Meanings, depth: int) -> list[int]:
        key = (namespace[1], name)
        if key in known:
            return known[key]
        own = self.find_own(namespace[1], name)
        known[key] = [own] if own >= 0 else []
        if depth <= _MAX_PASSED and (own < 0 or self._is_generic(own)):
            scope = namespace[1] - self.files[namespace[0]].first
            passed = self._find(namespace[0], scope, name, known, depth + 1)
            if own >= 0:
                passed = [own, *(each for each in passed if each != own and self._is_generic(each))]
            known[key] = passed
        return known[key]

    def _is_generic(self, number: int) -> bool:
        file = self.file_of[number]
        symbols = self.files[file]
        return symbols.facts.definitions[number - symbols.first].qualname in symbols.specifics


def _facade_name(path: str, facts: FileFacts, suffix: str) -> str:
    named = next((e.exported.removeprefix(FACADE) for e in facts.exports if e.exported.startswith(FACADE)), "")
    stem = posixpath.basename(path).partition(".")[0]
    return named or f"{stem[:1].upper()}{stem[1:]}{suffix}"


def cut_package_name(module: str, parts: int) -> str:
    """Return the package that an external import comes from, without types and cut to `parts` parts.

    >>> cut_package_name("java.util.Map", 3), cut_package_name("org.junit.jupiter.api.Assertions", 3)
    ('java.util', 'org.junit.jupiter')
    """
    name_parts: list[str] = []
    for part in module.split("."):
        if len(name_parts) == parts or (name_parts and part[:1].isupper()):
            break
        name_parts.append(part)
    return ".".join(name_parts)


_DOTTED = lazy_regex(r"[\w$.]+")


def first_names_in(facts: FileFacts) -> frozenset[str]:
    """Return the first names of all chains that a file uses."""
    result = {call.callee.lstrip("<").partition(".")[0].partition(">")[0].rstrip("()[]") for call in facts.calls}
    result.update(reference.name.partition("::")[0].partition(".")[0] for reference in facts.references)
    for written in (*(base.name for base in facts.bases), *(binding.type for binding in facts.bindings)):
        if "{" in written or "?" in written:  # a generic type, and what it is of
            result.update(name.partition(".")[0] for name in _DOTTED.findall(written))
        elif written:
            result.add(written.partition(".")[0].rstrip("[]"))
    return frozenset(result)


def external_package(entry: Import, settings: LanguageSettings | None, has_folders: bool) -> str:
    """Return the name of the package outside of the repository that an import leads to."""
    module = entry.module.strip("<>")
    if settings is not None and settings.modules.namespaces:
        return _external_namespace(entry, settings)
    if settings is not None and settings.modules.external_parts > 1:
        return cut_package_name(module, settings.modules.external_parts)
    if has_folders:
        return module
    if "/" in module:
        parts = module.split("/")
        return "/".join(parts[:2]) if module.startswith("@") else parts[0]
    return module.partition(".")[0] if not entry.level else "." * entry.level + module


def _external_namespace(entry: Import, settings: LanguageSettings) -> str:
    """Return the first parts of the path of an import.

    A name without a path belongs to the language, which is returned then.
    """
    if not entry.module:
        return settings.name
    return settings.names.path_separator.join(entry.module.split(".")[: settings.modules.external_parts])


def can_be_package_prefix(settings: LanguageSettings, value: Value, parts: Sequence[str]) -> bool:
    """Return True if an import may denote a package of the repository that contains the next name.

    Otherwise it denotes a type from outside.
    """
    return settings.modules.namespaces and value.kind is ValueKind.EXTERNAL and len(parts) > 1


_VENDOR = "vendor"
_SOURCES = ("src", "source", "code")  # folders that a collection is often named for otherwise
_TEST_STEM = "_test"  # ends the stem of a file of tests, and the name of a package of nothing but tests
_MAIN = "main"  # programs beside a package, such as those that generate a part of it
_MAJOR_VERSION = lazy_regex(r"v\d+")


@dataclass(slots=True)
class FolderMap:
    """Resolver of imports that name folders; build one with `FolderMap.from_files`."""

    modules: list[tuple[str, str]] = field(default_factory=list)  # (what paths begin with, folder)
    replaced: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # module folder -> (path, folder)
    package_at: dict[str, int] = field(default_factory=dict)  # folder -> the file that stands for its package
    collections: set[str] = field(default_factory=set)  # what begins paths of packages of the language
    listing: tuple[str, ...] = ()  # extensions of files whose imports may begin so
    _cache: dict[tuple[str, str], ModuleTarget] = field(default_factory=dict)

    @classmethod
    def from_files(
        cls, files: Sequence[tuple[str, FileFacts]], settings: Mapping[str, LanguageSettings]
    ) -> "FolderMap":
        """Build the map from import paths to folders of languages whose packages are folders."""
        result = cls()
        names: dict[str, dict[str, list[int]]] = {}
        for number, (path, facts) in enumerate(files):
            language = settings.get(facts.language)
            folder = posixpath.dirname(path)
            if language is not None and language.modules.system is ModuleSystem.FOLDER:
                names.setdefault(folder, {}).setdefault(facts.package, []).append(number)
                if language.modules.collections:
                    result.collections.update(language.modules.collections)
                    result.listing = language.modules.extensions
            for key, value in facts.manifest:
                if key == ManifestKey.MODULE:
                    result.modules.append((value, folder))
                elif key == ManifestKey.REPLACE:
                    written, _, target = value.partition("\t")
                    at = posixpath.normpath(posixpath.join(folder, target))
                    result.replaced.setdefault(folder, []).append((written, "" if at == "." else at))
        for folder, packages in names.items():
            best = min(packages, key=lambda name: (*_package_rank(name, packages[name], files), name))
            result.package_at[folder] = min(packages[best], key=lambda n: (_is_test(files[n][0]), files[n][0]))
        result.modules.sort(key=lambda m: (-len(m[0]), m[1].count("/"), m[1]))
        return result

    def resolve(self, importer: str, module: str) -> ModuleTarget:
        """Return the file that represents the package `module` in the file `importer`, or OUTSIDE."""
        key = (posixpath.dirname(importer), module)
        target = self._cache.get(key)
        if target is None:
            is_listing = bool(self.listing) and importer.endswith(self.listing)
            target = self._cache[key] = self._resolve(*key, is_listing)
        return target

    def _resolve(self, folder: str, module: str, is_listing: bool) -> ModuleTarget:
        if module.startswith(("./", "../")):
            return self._at(posixpath.normpath(posixpath.join(folder, module)), RuleName.PATH)
        folders = [folder]
        while folders[-1]:
            folders.append(posixpath.dirname(folders[-1]))
        if is_listing:
            return self._in_collection(folders, *module.rpartition(":")[::2])
        for each in folders:
            target = self._at(posixpath.join(each, _VENDOR, module), RuleName.PACKAGE)
            if target.file >= 0:
                return target
        # The longest path that fits counts, then what replaces it here, then the module around.
        own = next((each for each in folders if any(at == each for _, at in self.modules)), None)
        candidates = [(path, at, 0) for each in folders for path, at in self.replaced.get(each, ())]
        candidates += [(path, at, 1 if at == own else 2) for path, at in self.modules]
        for path, at, _ in sorted(candidates, key=lambda c: (-len(c[0]), c[2])):
            rest = _path_below(module, path)
            target = self._at(posixpath.join(at, rest), RuleName.PACKAGE) if rest is not None else OUTSIDE
            if target.file >= 0:
                return target
        return OUTSIDE

    def _in_collection(self, folders: Sequence[str], collection: str, module: str) -> ModuleTarget:
        """Return the package of a collection: a folder around the importer, whose name need not be that.

        The collections of the language are those of a repository that has them all.
        """
        if not collection:
            return self._at(posixpath.normpath(posixpath.join(folders[0], module)), RuleName.PATH)
        if collection in self.collections and not self.collections.issubset(
            each.partition("/")[0] for each in self.package_at
        ):
            return OUTSIDE
        names = [collection] if collection in self.collections else [collection, "", *_SOURCES]
        for each in folders:
            for name in names:
                target = self._at(posixpath.join(each, name, module), RuleName.PACKAGE)
                if target.file >= 0:
                    return target
        return OUTSIDE

    def _at(self, folder: str, rule: str) -> ModuleTarget:
        file = self.package_at.get("" if folder == "." else folder.rstrip("/").removeprefix("./"), -1)
        return ModuleTarget(file, rule) if file >= 0 else OUTSIDE


def _package_rank(name: str, numbers: Sequence[int], files: Sequence[tuple[str, FileFacts]]) -> tuple[bool, bool, int]:
    """Sort key of packages that share a folder: the one that an import means comes first."""
    return (
        name.endswith(_TEST_STEM) and all(_is_test(files[n][0]) for n in numbers),
        name == _MAIN,
        -len(numbers),
    )


def _is_test(path: str) -> bool:
    return posixpath.splitext(path)[0].endswith(_TEST_STEM)


def _path_below(module: str, prefix: str) -> str | None:
    """Return the rest of a package's path after the path of its module; None for a package of another module."""
    if module == prefix:
        return ""
    return module[len(prefix) + 1 :] if module.startswith(prefix + "/") else None


def local_name(entry: Import) -> str:
    """Return the name by which a file calls a package that it imports, as far as the path tells.

    >>> paths = ("net/http", "github.com/a/b/v2", "gopkg.in/yaml.v3", "github.com/a/go-b")
    >>> [local_name(Import(-1, 0, path, 0, "", "", 0)) for path in paths]
    ['http', 'b', 'yaml', 'b']
    """
    if entry.alias:
        return entry.alias
    parts = entry.module.rpartition(":")[2].split("/")
    last = parts[-2] if len(parts) > 1 and _MAJOR_VERSION.fullmatch(parts[-1]) else parts[-1]
    return re.sub(r"\.v\d+$", "", last).removeprefix("go-").removesuffix(".go").removesuffix("-go")


def share_imports(tables: Sequence[FileSymbols], declared: DeclaredTypes) -> None:
    """Qualify the wildcard imports of each file, and add those that another file of its project passes on."""
    for symbols in tables:
        if symbols.settings is not None and symbols.settings.modules.sees_enclosing_packages:
            symbols.stars[:] = [qualify_import(declared, symbols, star) for star in symbols.stars]
    _share_quoted(tables, declared)
    passed_on: dict[tuple[str, str], dict[str, Import]] = {}  # (language, project) -> module -> import
    ends = {end for symbols in tables if symbols.settings is not None for end in symbols.settings.modules.projects}
    if not ends:
        return
    folders = {posixpath.dirname(symbols.path) for symbols in tables if symbols.path.lower().endswith(tuple(ends))}
    below: dict[str, dict[str, Import]] = {}  # folder -> module -> import, of projects and of what they all read
    for symbols in tables:
        for key, module in symbols.facts.manifest:
            if key == ManifestKey.USING:
                star = Import(MODULE_SCOPE, ImportKind.REEXPORT_ALL, module, 0, "*", "", 0)
                below.setdefault(posixpath.dirname(symbols.path), {}).setdefault(module, star)
    reading = [symbols for symbols in tables if symbols.settings is not None and symbols.settings.modules.projects]
    for symbols in reading:
        for star in symbols.stars:
            if star.kind == ImportKind.REEXPORT_ALL:
                language, project = symbols.facts.language, find_project(symbols.path, folders)
                passed_on.setdefault((language, project), {}).setdefault(star.module, star)
    for symbols in reading if passed_on or below else ():
        own = {star.module for star in symbols.stars}
        project = find_project(symbols.path, folders)
        more = dict(passed_on.get((symbols.facts.language, project), {}))
        while below:
            for module, star in below.get(project, {}).items():
                more.setdefault(module, star)
            if not project:
                break
            project = posixpath.dirname(project)
        symbols.stars.extend(star for module, star in more.items() if module not in own)


def _share_quoted(tables: Sequence[FileSymbols], declared: DeclaredTypes) -> None:
    """Add to the wildcard imports of each file those that the functions of a module which it includes pass on."""
    quoting: dict[int, list[Import]] = {}
    for number, symbols in enumerate(tables):
        if symbols.settings is not None and symbols.settings.modules.quoted:
            passed = [star for star in symbols.stars if star.kind == ImportKind.REEXPORT_ALL]
            if passed:
                quoting[number] = passed
    for symbols in tables if quoting else ():
        if symbols.settings is None or not symbols.settings.modules.quoted:
            continue
        known, waiting = {star.module for star in symbols.stars}, list(symbols.stars)
        while waiting:
            found = declared.find(symbols.settings.family, waiting.pop().module, symbols.path)
            for star in quoting.get(found[0], ()) if found is not None else ():
                if star.module not in known:
                    known.add(star.module)
                    symbols.stars.append(star)
                    waiting.append(star)


def find_project(path: str, folders: set[str]) -> str:
    """Return the innermost of `folders` that encloses a file, or the folder of the file.

    >>> find_project("src/a/b/C.cs", {"src/a", ""}), find_project("src/a/b/C.cs", set())
    ('src/a', 'src/a/b')
    """
    folder = posixpath.dirname(path)
    while folder not in folders:
        if not folder:
            return posixpath.dirname(path)
        folder = posixpath.dirname(folder)
    return folder


def qualify_import(declared: DeclaredTypes, symbols: FileSymbols, entry: Import) -> Import:
    """Return an import with its full name: `using B` in the package A becomes A.B if there is such a package."""
    settings, package = symbols.settings, symbols.facts.package
    if settings is None or not settings.modules.sees_enclosing_packages:
        return entry
    while package:
        name = settings.family, f"{package}.{entry.module}"
        if name in declared.packages or name in declared.types:
            return entry._replace(module=name[1])
        package = package.rpartition(".")[0]
    return entry
