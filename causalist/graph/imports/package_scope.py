"""Scopes that the files of one package share, and the files that a build without tags of its own takes.

In: the facts of all files. Out: the definition that a bare name means in a package, and its variants by build tag. A
package is a folder (with the name in the package clause, since tests may have one of their own), or the name that the
files declare wherever they stand. Scripts that run one another share a scope, too (`InclusionGraph`), and files that
are included make up modules (`IncludedModules`).

Of build tags (`//go:build !purego && linux`), names of platforms and compilers may hold or not. A version holds: every
tool chain of today has those asked for. Any other tag has to be asked for, which is rare: of two files that
define the same names, one `binary_log` and one `!binary_log`, nearly every build has the second.
"""

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from causalist._internal.lazy import dataclass, field, lazy_regex
from causalist.graph.file_symbols import FileSymbols
from causalist.graph.imports.modules import find_script, is_known_elsewhere, shared_folders
from causalist.graph.rules import MAX_CANDIDATES, MAX_VARIANTS
from causalist.model.facts import MODULE_SCOPE, FileFacts, Import, ImportKind, ManifestKey
from causalist.model.language_settings import LanguageSettings, ModuleSettings, ModuleSystem
from causalist.model.node_ids import TYPE_KINDS, NodeKind
from causalist.model.role_by_path import is_secondary

_TOKEN = lazy_regex(r"\s*(\|\||&&|[!()]|[\w.]+)")
_STRENGTH = {"||": 1, "&&": 2, "!": 3}
_PRIVATE = "private"  # a folder whose functions only the folder around it sees
_MAX_CHARACTERS = 1000  # characters; a longer expression is not read

Truth = bool | None  # None: it depends on the platform


def evaluate_tags(expression: str, platforms: Collection[str]) -> Truth:
    """Return True if an expression over tags holds where none of them is asked for.

    None: it depends on the platform, or is no expression.

    >>> expressions = ("fast", "!fast", "linux && !fast", "linux || !fast", "fast && go1.21", "(")
    >>> [evaluate_tags(each, {"linux"}) for each in expressions]
    [False, True, None, True, False, None]
    >>> evaluate_tags("go1.21", {"linux"}), evaluate_tags("!go1.21", {"linux"})
    (True, False)
    """
    return _evaluate(expression, lambda tag: None if tag in platforms else _is_version(tag))


def is_default_build(expression: str, usual: Collection[str]) -> bool:
    """Return True if a build expression holds on the default platform, whose tags are `usual`.

    >>> expressions = ("linux || js", "!linux", "!js && go1.21", "amd64 && fast", "(")
    >>> [is_default_build(each, {"linux", "amd64"}) for each in expressions]
    [True, False, True, False, True]
    """
    return _evaluate(expression, lambda tag: tag in usual or _is_version(tag)) is not False


def _is_version(tag: str) -> bool:
    return "." in tag


def _evaluate(expression: str, of_tag: Callable[[str], Truth]) -> Truth:
    values: list[Truth] = []
    operators: list[str] = []
    position = 0
    text = expression.strip()
    try:
        while position < len(text) <= _MAX_CHARACTERS:
            token = _TOKEN.match(text, position)
            if token is None:
                return None
            position = token.end()
            word = token[1]
            if word in ("(", "!"):
                operators.append(word)
            elif word == ")":
                while operators[-1] != "(":
                    _apply(operators.pop(), values)
                operators.pop()
            elif word in _STRENGTH:
                while operators and _STRENGTH.get(operators[-1], 0) >= _STRENGTH[word]:
                    _apply(operators.pop(), values)
                operators.append(word)
            else:
                values.append(of_tag(word))
        while operators:
            _apply(operators.pop(), values)
    except (IndexError, KeyError):
        return None
    return values[0] if len(values) == 1 else None


def _apply(operator: str, values: list[Truth]) -> None:
    if operator == "!":
        value = values.pop()
        values.append(None if value is None else not value)
    else:
        right, left = values.pop(), values.pop()
        values.append(_JOINED[operator](left, right))


def _or(left: Truth, right: Truth) -> Truth:
    return True if left or right else None if None in (left, right) else False


def _and(left: Truth, right: Truth) -> Truth:
    return False if left is False or right is False else None if None in (left, right) else True


_JOINED: dict[str, Callable[[Truth, Truth], Truth]] = {"||": _or, "&&": _and}

# `DEFINE(name) {…}`; in `PUBLIC(void) name(…)` the macro stands for the type.
_OF_MACRO = lazy_regex(r"[A-Z][A-Z0-9_]+\s*\(\s*[a-z_]\w*\s*(?:,|\)(?!\s*[\w*]))")
_OF_PACKAGE = lazy_regex(r'@\(?[^@]*\bprivate\s*=\s*"package"')  # though the names of its file are not
_ALIKE = "\0"  # begins names in small letters, for languages in which capitals do not matter
_NEVER_LINKED = frozenset({*TYPE_KINDS, NodeKind.TYPE, NodeKind.MACRO})

PackageKey = tuple[str, str, str]  # language, folder or "", name in the package clause


@dataclass(slots=True)
class PackageScopes:
    """Scopes that files share. `package_of[file]` is None where a file has a scope of its own.

    `files_of` lists files by path. `asked_for` are files that only builds with a tag of their own have, with their
    expression. `unusual` are others that builds for the usual platform do not have.
    """

    package_of: list[PackageKey | None] = field(default_factory=list)
    files_of: dict[PackageKey, list[int]] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)
    asked_for: dict[int, str] = field(default_factory=dict)
    unusual: set[int] = field(default_factory=set)
    included: Callable[[int], frozenset[int]] | None = None  # a file -> itself and the files that it includes
    library_of: dict[int, int] = field(default_factory=dict)  # files of libraries in parts -> the file that names them
    included_sources: set[str] = field(default_factory=set)  # paths of files that others include, though no headers
    _names: dict[PackageKey, dict[str, list[tuple[int, int]]]] = field(default_factory=dict)  # -> (file, definition)
    loaded: "InclusionGraph | None" = None  # files that scripts run in their own scope
    _module_folders: frozenset[str] | None = None
    _system_names: dict[str, frozenset[str]] = field(default_factory=dict)  # by language
    _variants: dict[int, list[tuple[int, int]]] = field(default_factory=dict)  # definition -> its namesakes, with files

    @classmethod
    def from_files(
        cls, files: Sequence[tuple[str, FileFacts]], settings: Mapping[str, LanguageSettings]
    ) -> "PackageScopes":
        """Group files by package."""
        result = cls(library_of=find_libraries(files, settings))
        for number, (path, facts) in enumerate(files):
            key = package_key(path, facts, settings.get(facts.language))
            if (library := result.library_of.get(number)) is not None:
                key = facts.language, files[library][0], ""
            result.package_of.append(key)
            result.paths.append(path)
            if key is not None:
                result.files_of.setdefault(key, []).append(number)
                modules = settings[facts.language].modules
                if modules.platforms:
                    result._read_tags(number, path, dict(facts.manifest).get(ManifestKey.BUILD, ""), modules)
        return result

    def find_definition(self, file: int, qualname: str, tables: Sequence[FileSymbols], asking: int = -1) -> int | None:
        """Return the definition `qualname` of the package that `file` belongs to.

        Of several, the one in the nearest file counts, else one that builds for the usual platform have, else the
        first. `asking` is the file in whose builds it stands, if that is not `file`.
        """
        key = self.package_of[file]
        definitions = self._names_of(key, tables).get(qualname) if key is not None else None
        settings = tables[file].settings
        if definitions is None and key is not None and settings is not None and settings.names.alike:
            definitions = self._names_of(key, tables).get(f"{_ALIKE}{qualname.lower()}")
        if definitions is None:
            return None
        if settings is not None and settings.names.alike and self.loaded is not None:
            definitions = self._loaded_by(file, qualname, definitions, settings.modules)
            if not definitions:
                return None
        if self.included is not None:
            definitions = self._without_system_names(file, qualname, definitions, tables)
            if not definitions:
                return None
        if self.included is not None and (
            hidden := {each for each in definitions if self._is_hidden(tables[each[0]], each)}
        ):
            included = self.included(file)
            near = [each for each in definitions if each[0] in included or each not in hidden]
            definitions = near or (definitions if -1 in included else [])
            if not definitions:
                return None
        settings = tables[file].settings
        if settings is not None and settings.modules.marked_folders:
            definitions = self._not_private(file, definitions)
            if not definitions:
                return None
        if len(definitions) > 1:
            definitions = self._in_builds_of(file if asking < 0 else asking, definitions)
            distance = {each: -shared_folders(self.paths[file], self.paths[each[0]]) for each in definitions}
            definitions = [min(definitions, key=lambda each: (distance[each], each[0] in self.unusual, each))]
        return definitions[0][1]

    def _loaded_by(
        self, file: int, name: str, definitions: list[tuple[int, int]], modules: ModuleSettings
    ) -> list[tuple[int, int]]:
        """Return those of several definitions that run with a file, if there are any, else all that it may mean.

        A function with the name of a command of the language is meant where it was loaded, or in the module around it.
        """
        assert self.loaded is not None
        reach = self.loaded.reach(file)
        if near := [each for each in definitions if each[0] in reach]:
            return near
        names = self._system_names.get(modules.extensions[0])
        if names is None:
            names = frozenset(each.lower() for each in modules.system_names)
            self._system_names[modules.extensions[0]] = names
        if name.lower() not in names:
            return definitions
        if self._module_folders is None:
            folders = {posixpath.dirname(path) for path in self.paths if path.lower().endswith(modules.extensions[1:])}
            self._module_folders = frozenset(folders)
        around = {each for each in _folders_around(self.paths[file]) if each in self._module_folders}
        return [each for each in definitions if not around.isdisjoint(_folders_around(self.paths[each[0]]))]

    def _not_private(self, file: int, definitions: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return those of a private folder that a file sees; else those in no such folder."""
        here, own, others = posixpath.dirname(self.paths[file]), list[tuple[int, int]](), list[tuple[int, int]]()
        for each in definitions:
            folder = posixpath.dirname(self.paths[each[0]])
            if posixpath.basename(folder) != _PRIVATE:
                others.append(each)
            elif here in (folder, posixpath.dirname(folder)):
                own.append(each)
        return own or others

    def _without_system_names(
        self, file: int, name: str, definitions: list[tuple[int, int]], tables: Sequence[FileSymbols]
    ) -> list[tuple[int, int]]:
        """Return the definitions that a file may mean by a name that headers of the system declare as well.

        These are those that it includes, and those that belong to a header that it includes, by their name.
        """
        settings = tables[file].settings
        if settings is None or self.included is None:
            return definitions
        names = self._system_names.get(settings.name)
        if names is None:
            names = self._system_names[settings.name] = frozenset(settings.modules.system_names)
        if name not in names:
            return definitions
        if not any(entry.module.startswith("<") for entry in tables[file].facts.imports):
            return definitions
        included = self.included(file)
        stems = {posixpath.splitext(posixpath.basename(self.paths[each]))[0] for each in included if each >= 0}
        stems -= {posixpath.splitext(posixpath.basename(self.paths[file]))[0]}
        stem = {each: posixpath.splitext(posixpath.basename(self.paths[each[0]]))[0] for each in definitions}
        return [each for each in definitions if each[0] in included or stem[each] in stems]

    def _read_tags(self, file: int, path: str, tags: str, modules: ModuleSettings) -> None:
        """Note the builds that a file is in, by an expression over tags or by the end of its name."""
        if tags and evaluate_tags(tags, modules.platforms) is False:
            self.asked_for[file] = tags
        elif not is_default_build(tags, modules.default_build_tags) or _stem_suffix(path) in set(
            modules.platforms
        ).difference(modules.default_build_tags):
            self.unusual.add(file)

    def are_apart(self, file: int, other: int) -> bool:
        """Return True for two files of which neither sees the private names of the other, where libraries have some."""
        library = self.library_of
        return file != other and library.get(file, file) != library.get(other, other)

    def is_asked_for(self, other: int, file: int) -> bool:
        """Return True if builds with `file` include `other` only if given a tag for it."""
        return other in self.asked_for and self.asked_for[other] != self.asked_for.get(file)

    def _in_builds_of(self, file: int, definitions: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return, of definitions of one name, those in the builds that a file is in; all where there is none.

        A file that has to be asked for is in builds with others that are asked for in the same way, rather than
        without.
        """
        same = [each for each in definitions if each[0] in self.asked_for and not self.is_asked_for(each[0], file)]
        return same or [each for each in definitions if each[0] not in self.asked_for] or definitions

    def _names_of(self, key: PackageKey, tables: Sequence[FileSymbols]) -> dict[str, list[tuple[int, int]]]:
        names = self._names.get(key)
        if names is None:
            names = self._names[key] = {}
            for each in self.files_of[key]:
                for name, number in tables[each].by_qualname.items():
                    if self._is_own(tables[each], number):
                        continue
                    names.setdefault(name, []).append((each, number))
                    if (settings := tables[each].settings) is not None and settings.names.alike:
                        names.setdefault(f"{_ALIKE}{name.lower()}", []).append((each, number))
            for name, several in names.items():
                if len(several) > 1 and not name.startswith(_ALIKE):
                    self._variants.update((number, several) for _, number in several)
        return names

    def _is_hidden(self, symbols: FileSymbols, file_and_definition: tuple[int, int]) -> bool:
        """Return True for a macro or a header's function: visible only to files that include its file."""
        if symbols.settings is None or not symbols.settings.modules.headers:
            return False
        definition, unshared = (
            symbols.facts.definitions[file_and_definition[1] - symbols.first],
            symbols.settings.names.file_private_pattern,
        )
        return definition.kind == NodeKind.MACRO or re.match(unshared, definition.signature) is not None

    def _is_own(self, symbols: FileSymbols, number: int) -> bool:
        """Return True for a definition without external linkage in a file that is not included by others."""
        settings = symbols.settings
        if settings is not None and settings.modules.marked_folders:
            return bool(symbols.facts.package) or not is_known_elsewhere(
                symbols.path, symbols.facts, number - symbols.first
            )
        if settings is not None and settings.modules.constraint_list:
            signature = symbols.facts.definitions[number - symbols.first].signature
            if any(key == ManifestKey.PRIVATE for key, _ in symbols.facts.manifest):
                return not _OF_PACKAGE.search(signature)
            return re.match(settings.names.file_private_pattern, signature) is not None
        if settings is None or not settings.modules.headers:
            return False
        definition = symbols.facts.definitions[number - symbols.first]
        if _OF_MACRO.match(definition.signature) and definition.kind != NodeKind.MACRO:
            return True  # a function that a macro makes of its argument has another name
        if symbols.path.lower().endswith(settings.modules.headers) or symbols.path in self.included_sources:
            return False
        if definition.kind in _NEVER_LINKED or definition.parent >= 0:
            return True
        unshared = settings.names.file_private_pattern
        return bool(unshared) and re.match(unshared, definition.signature) is not None

    def find_variants(
        self,
        definition: int,
        of_file: int,
        file: int,
        tables: Sequence[FileSymbols],
        fitting: Callable[[Sequence[int]], Sequence[int]] | None = None,
        is_linked: bool = False,
    ) -> list[int]:
        """Return the definitions that a use in `file` of a definition in `of_file` may mean.

        Of several definitions of one name in one folder, such as `open_linux` and `open_windows`, a build takes one.
        One in the same file, or in a file with the same ending of its stem, is meant; else all are candidates.
        `fitting` says which of several a call may mean. With `is_linked`, they may stand in several folders that are
        as near to `file`, such as `linux/open` and `windows/open`.
        """
        key = self.package_of[of_file]
        if key is None:
            return [definition]
        self._names_of(key, tables)
        definitions = self._variants.get(definition)
        if definitions is not None and is_linked:
            definitions = self._nearest_linked(of_file, file, definitions, tables)
        if definitions is None or len(definitions) > (MAX_VARIANTS if is_linked else MAX_CANDIDATES):
            return [definition]
        if not is_linked and len({posixpath.dirname(self.paths[each]) for each, _ in definitions}) > 1:
            return [definition]  # not alternatives of one build; the nearest was chosen
        if fitting is not None:
            variants = fitting([number for _, number in definitions])
            definitions = [each for each in definitions if each[1] in variants]
        definitions = self._in_builds_of(file, definitions)
        own = [number for each, number in definitions if each == file]
        ending = _stem_suffix(self.paths[file])
        same = [number for each, number in definitions if ending and _stem_suffix(self.paths[each]) == ending]
        return own or same or [number for _, number in definitions]

    def with_namesakes(
        self, file: int, several: list[int], file_of: Sequence[int], tables: Sequence[FileSymbols]
    ) -> list[int]:
        """Return functions of one name with those of the same name in headers that a file includes.

        What the source of such a header defines belongs to it. `file_of` gives the file of a definition.
        """
        for key in {self.package_of[file_of[each]] for each in several}:
            if key is not None:
                self._names_of(key, tables)
        definitions = next((self._variants[each] for each in several if each in self._variants), None)
        if definitions is None or self.included is None:
            return several
        included = self.included(file)
        stems = {posixpath.splitext(self.paths[each])[0] for each in included if each >= 0}
        found = dict.fromkeys(several)
        for each, number in definitions:
            if each in included or posixpath.splitext(self.paths[each])[0] in stems:
                symbols = tables[each]
                name = symbols.facts.definitions[number - symbols.first].qualname
                found.update(dict.fromkeys(symbols.callables.get(name, ())))
        return list(found)

    def _nearest_linked(
        self, of_file: int, file: int, definitions: list[tuple[int, int]], tables: Sequence[FileSymbols]
    ) -> list[tuple[int, int]]:
        """Return those of several definitions that may be linked to a file and are as near to it as that in `of_file`.

        Code is linked to no tests.
        """
        assert self.included is not None
        included, path = self.included(file), self.paths[file]
        definitions = [
            each for each in definitions if each[0] in included or not self._is_hidden(tables[each[0]], each)
        ]
        if not is_secondary(path) and not is_secondary(self.paths[of_file]):
            definitions = [each for each in definitions if not is_secondary(self.paths[each[0]])]
        nearest = shared_folders(path, self.paths[of_file])
        return [each for each in definitions if shared_folders(path, self.paths[each[0]]) == nearest]


def _stem_suffix(path: str) -> str:
    """Return the part of a file's stem after its last underscore."""
    return posixpath.splitext(posixpath.basename(path))[0].rpartition("_")[2] if "_" in posixpath.basename(path) else ""


def _folders_around(path: str) -> Iterator[str]:
    """Yield the folders around a file, the nearest first.

    >>> list(_folders_around("a/b/c.ps1"))
    ['a/b', 'a', '']
    """
    while path:
        path = posixpath.dirname(path)
        yield path


def package_key(path: str, facts: FileFacts, settings: LanguageSettings | None) -> PackageKey | None:
    """Return the package of a file, or None if its language has no scope wider than a file."""
    if settings is None:
        return None
    system = settings.modules.system
    if settings.modules.inclusion:
        return None  # types are everywhere, functions where their file is
    if system is ModuleSystem.FOLDER:
        return settings.name, posixpath.dirname(path), facts.package
    if system is ModuleSystem.INCLUDE:  # what is linked has one name in a program
        return settings.family, "", ""
    if settings.modules.marked_folders:  # what stands in a package is named with it, also there
        return settings.family, "", ""
    if system is ModuleSystem.DECLARED:  # files that do not say it are a package with their neighbours, or with all
        everywhere = facts.package or settings.modules.namespaces or settings.modules.shared
        return settings.family, "" if everywhere else posixpath.dirname(path), facts.package
    return None


def find_libraries(files: Sequence[tuple[str, FileFacts]], settings: Mapping[str, LanguageSettings]) -> dict[int, int]:
    """Return the file that names the parts of a library, for it and each part; the first one that does counts."""
    numbers: dict[str, int] = {}
    library_of: dict[int, int] = {}
    for number, (path, facts) in enumerate(files):
        language = settings.get(facts.language)
        if language is None or not language.modules.libraries:
            continue
        for entry in facts.imports:
            if entry.kind == ImportKind.SIDE_EFFECT:
                numbers = numbers or {each: i for i, (each, _) in enumerate(files)}
                part = numbers.get(posixpath.normpath(posixpath.join(posixpath.dirname(path), entry.module)), -1)
                if part >= 0 and part != number:
                    library_of.setdefault(part, number)
                    library_of.setdefault(number, number)
    return library_of


def share_with_parts(tables: Sequence[FileSymbols], library_of: Mapping[int, int]) -> None:
    """Let the parts of a library see what the file imports that names them."""
    for part, library in sorted(library_of.items()):
        if part == library:
            continue
        own, whole = tables[part], tables[library]
        folder, here = posixpath.dirname(whole.path), posixpath.dirname(own.path)

        def seen_from(entry: Import, folder: str = folder, here: str = here) -> Import:
            if ":" in entry.module:
                return entry
            at = posixpath.normpath(posixpath.join(folder, entry.module))
            return entry._replace(module=posixpath.relpath(at, here or "."))

        own.stars += [star for star in map(seen_from, whole.stars) if star not in own.stars]
        imports = own.imports.setdefault(MODULE_SCOPE, {})
        for name, entry in whole.imports.get(MODULE_SCOPE, {}).items():
            imports.setdefault(name, seen_from(entry))


@dataclass(slots=True)
class InclusionGraph:
    """Inclusions between files, for languages that say so."""

    paths: Sequence[str] = ()
    includes: dict[int, set[int]] = field(default_factory=dict)
    _tops: dict[int, list[int]] = field(default_factory=dict)  # of a file, those that lead to it
    _below: dict[tuple[int, ...], frozenset[int]] = field(default_factory=dict)  # what files include, by these files
    _reach: dict[int, frozenset[int]] = field(default_factory=dict)
    _nearest: dict[tuple[frozenset[int], str, tuple[str, str]], int] = field(default_factory=dict)

    @classmethod
    def from_files(cls, tables: Sequence[FileSymbols], numbers: dict[str, int]) -> "InclusionGraph":
        """Build the graph from the imports of files whose language includes text."""
        result = cls([symbols.path for symbols in tables])
        for file, symbols in enumerate(tables):
            if symbols.settings is None or not (symbols.settings.modules.inclusion or symbols.settings.names.alike):
                continue
            for entry in symbols.facts.imports:
                if entry.kind == ImportKind.SIDE_EFFECT:
                    target = find_script(numbers, symbols.path, entry.module, symbols.settings.modules)
                    if target >= 0:
                        result.includes.setdefault(file, set()).add(target)
        return result

    def find_nearest(self, file: int, name: tuple[str, str], several: Iterable[tuple[int, int]]) -> int:
        """Return the definition of the nearest file visible from `file`, or -1.

        `several` are the (file, definition) of `name`, a family of languages and a name: the same at each call.
        """
        path, visible = self.paths[file], self.reach(file)
        key = visible, posixpath.dirname(path), name
        if key not in self._nearest:
            included = [(-shared_folders(path, self.paths[each[0]]), each) for each in several if each[0] in visible]
            self._nearest[key] = min(included)[1][1] if included else -1
        return self._nearest[key]

    def reach(self, file: int) -> frozenset[int]:
        """Return `file`, all files that include it directly or indirectly, and everything that these include."""
        if file not in self._reach:
            if not self._tops:
                self._find_tops()
            tops = tuple(self._tops.get(file, (file,)))
            if tops not in self._below:
                self._below[tops] = frozenset[int]().union(*(self._below.get((top,), {top}) for top in tops))
            self._reach[file] = self._below[tops]
        return self._reach[file]

    def _find_tops(self) -> None:
        """Find the tops: files that nothing includes, and one of each circle that nothing else includes.

        What a file sees is what its tops lead to. Files of one top share an answer, as in a chain of inclusions.
        """
        for top in reversed(_by_end_of_visit(self.includes)):
            if top not in self._tops:  # what leads to it ended later, so that nothing else does
                self._below[top,] = frozenset(_closure(top, self.includes))
                for each in self._below[top,]:
                    self._tops.setdefault(each, []).append(top)


def _by_end_of_visit(leads_to: Mapping[int, set[int]]) -> list[int]:
    ended, begun, waiting = list[int](), set[int](), [(file, False) for file in leads_to]
    while waiting:
        file, is_end = waiting.pop()
        if is_end:
            ended.append(file)
        elif file not in begun:
            begun.add(file)
            waiting += [(file, True), *((each, False) for each in leads_to.get(file, ()))]
    return ended


def _closure(start: int, leads_to: Mapping[int, set[int]]) -> set[int]:
    reached, waiting = {start}, [start]
    while waiting:
        new = leads_to.get(waiting.pop(), set()) - reached
        reached |= new
        waiting += new
    return reached
