"""Program: the symbol tables of all files, with imports and re-exports followed across files.

In: the facts of all files. Out: meanings of imports and exported names, members along bases, overloads. A definition is
known here by a number that counts all definitions of all files in order; the graph's own numbering (sorted ids) comes
at the very end, in `tables`. Names that need a place in a file are looked up in `name_lookup`.

A type that is declared several times, in one file or more, is one type with all members of its declarations. Each
declaration is a definition of its own. The first one, in the order of the files, those of tests and examples last,
stands for the type where something is known of it as a whole. A member is looked for in the declaration that was
found, and then in all of them in that order.
"""

import re
from collections.abc import Mapping, Sequence
from fnmatch import translate

from causalist._internal.lazy import dataclass, field
from causalist.graph.file_symbols import FileGroups, FileSymbols, build_file_symbols, members_of_objects, settings_of
from causalist.graph.imports.declared_packages import (
    DeclaredTypes,
    FolderMap,
    PassedNames,
    external_package,
    local_name,
)
from causalist.graph.imports.included_modules import HeaderReach, IncludedModules
from causalist.graph.imports.module_tree import ModuleTree, TreePathResolver
from causalist.graph.imports.modules import ModuleMap
from causalist.graph.imports.package_scope import InclusionGraph, PackageScopes
from causalist.graph.overload_fit import Literals, best_overloads, literals_of, misfit
from causalist.graph.resolution_results import Resolution, ResolutionKind
from causalist.graph.rules import RuleName
from causalist.model.facts import MODULE_SCOPE, Binding, Definition, FileFacts, Import, ImportKind, ManifestKey
from causalist.model.graph import linearize
from causalist.model.language_settings import LanguageSettings, ModuleSystem
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind, accessor_names

_MAX_DEPTH = 20  # re-exports that are followed before a name is given up
_PLAIN = (NodeKind.FUNCTION, NodeKind.HANDLER)  # functions without a `this` of their own, as a rule
# Of several files of settings in a folder, a runner of tests reads the first.
_SETTINGS = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")


def _rank_of_settings(path: str) -> tuple[int, str]:
    name = path.rpartition("/")[2]
    return _SETTINGS.index(name) if name in _SETTINGS else len(_SETTINGS), path


def _pattern_of_names(names: str) -> str:
    r"""Return the regular expression of names that begin with one of several, or match one that is a pattern.

    >>> _pattern_of_names("it_ *_test")
    'it_.*|(?s:.*_test)\\Z'
    """
    return "|".join(translate(name) if set(name) & set("*?[") else f"{re.escape(name)}.*" for name in names.split())


@dataclass(slots=True)
class Program:
    """Symbol tables of all files: `file_of[d]` is the file of definition d, `definition_of[d]` its facts."""

    files: list[FileSymbols]
    modules: ModuleMap
    file_of: list[int]
    definition_of: list[Definition]
    methods: dict[str, list[int]]  # name -> methods of types, for receivers of unknown type
    members_of_objects: dict[str, list[int]]  # name -> functions that are given to a member: `app.use = function () {}`
    packages: PackageScopes
    declared: DeclaredTypes
    parameters: dict[int, tuple[str, ...]]  # of functions that are told apart by them
    literals: dict[str, Literals]  # by language; none where these have types that convert
    tree_paths: TreePathResolver
    folders: FolderMap = field(default_factory=FolderMap)
    included: IncludedModules = field(default_factory=IncludedModules)
    file_groups: FileGroups = field(default_factory=FileGroups)
    named_types: set[int] = field(default_factory=set)  # names for types that are made of others: `type A []B`
    attached: dict[tuple[int, str], list[int]] = field(default_factory=dict)  # (type, name) -> members of it elsewhere
    owner_of: dict[int, int] = field(default_factory=dict)  # such a member -> its type
    extended_functions: set[int] = field(default_factory=set)  # functions that are the types of such members
    extended: dict[int, int] = field(default_factory=dict)  # functions of the module of that name -> what they are for
    # Types that share their name with types of another number of type parameters -> all of these, by that number.
    arities: dict[int, dict[int, int]] = field(default_factory=dict)
    canonical: dict[int, int] = field(default_factory=dict)  # types that may be reopened -> their first declaration
    inclusion: InclusionGraph = field(default_factory=InclusionGraph)
    bounds: dict[tuple[int, str], tuple[int, Binding]] = field(default_factory=dict)  # type parameters, by their type
    foreign: dict[tuple[int, str], dict[str, int]] = field(default_factory=dict)  # (trait, method) -> type -> method
    for_all: set[int] = field(default_factory=set)  # traits that are implemented for every type with some bound
    has_messages: bool = False  # in some language methods are called by messages
    contracts: dict[int, frozenset[int]] = field(default_factory=dict)  # bases that a type has nothing from
    _traits: dict[str, list[int]] = field(default_factory=dict)
    test_names: dict[str, str] = field(default_factory=dict)  # folder -> regular expression of names of tests below it
    test_files: dict[str, str] = field(default_factory=dict)  # the same for names of files of tests
    known_exports: dict[tuple[int, str], Resolution | None] = field(default_factory=dict)
    _overloads: dict[tuple[int, str], list[int]] = field(default_factory=dict)
    _bases: dict[int, list[int]] = field(default_factory=dict)
    _mro: dict[int, tuple[int, ...]] = field(default_factory=dict)
    _derived: dict[int, list[int]] = field(default_factory=dict)  # type -> types with it as a direct base

    @classmethod
    def from_files(
        cls,
        files: Sequence[tuple[str, FileFacts]],
        settings: Mapping[str, LanguageSettings],
        links: Sequence[tuple[str, str]] = (),
    ) -> "Program":
        """Build the symbol tables of all files and number their definitions; `links` are those of the scan."""
        tables: list[FileSymbols] = []
        file_of: list[int] = []
        definition_of: list[Definition] = []
        methods: dict[str, list[int]] = {}
        of_objects: dict[str, list[int]] = {}
        for number, (path, facts) in enumerate(files):
            tables.append(build_file_symbols(path, facts, len(definition_of), settings.get(facts.language)))
            elsewhere = {local for local, _ in facts.owners}
            member_names = members_of_objects(facts, settings.get(facts.language))
            for local, definition in enumerate(facts.definitions):
                if definition.kind == NodeKind.METHOD and (definition.parent >= 0 or local in elsewhere):
                    methods.setdefault(definition.name, []).append(len(definition_of))
                elif local in member_names:
                    of_objects.setdefault(definition.name, []).append(len(definition_of))
                file_of.append(number)
                definition_of.append(definition)
        scopes = PackageScopes.from_files(files, settings)
        modules = ModuleMap.from_files(files, settings, links)
        result = cls(
            tables,
            modules,
            file_of,
            definition_of,
            methods,
            of_objects,
            scopes,
            DeclaredTypes.from_files(files, [table.first for table in tables], settings),
            {table.first + i: types for table in tables for i, types in table.facts.parameters},
            {each.name: literals_of(each) for each in settings_of(tables)},
            TreePathResolver(ModuleTree.from_files(tables, file_of, modules.linked)),
            FolderMap.from_files(files, settings),
            IncludedModules(tables, modules.number, file_of),
        )
        result.parameters.update(FileSymbols.complete(tables))
        for path, facts in sorted(files, key=lambda each: _rank_of_settings(each[0])):
            for key, names in facts.manifest:
                if key == ManifestKey.TESTS:
                    result.test_names.setdefault(path.rpartition("/")[0], _pattern_of_names(names))
                if key == ManifestKey.TEST_FILES:
                    result.test_files.setdefault(path.rpartition("/")[0], "|".join(map(translate, names.split())))
        result.has_messages = any(each.settings is not None and each.settings.types.messages for each in tables)
        scopes.included = HeaderReach(result.target_module, tables).reach
        scopes.included_sources = {
            tables[target].path
            for number, symbols in enumerate(tables)
            if symbols.settings is not None and symbols.settings.modules.system is ModuleSystem.INCLUDE
            for entry in symbols.facts.imports
            if not entry.module.rstrip(">").lower().endswith(symbols.settings.modules.headers)
            and (target := result.target_module(number, entry)[0]) >= 0
        }
        for symbols in tables:
            if symbols.settings is not None and symbols.settings.types.prefixed:
                types = (i for i in symbols.returns if symbols.facts.definitions[i].kind == NodeKind.TYPE)
                result.named_types.update(symbols.first + i for i in types)
            if symbols.has_folder_imports:
                result.bind_package_names(symbols)
        for number, definition in enumerate(definition_of):
            parent = result.parent(number)
            if definition.kind == NodeKind.METHOD and parent >= 0 and definition_of[parent].kind == NodeKind.TRAIT:
                result._traits.setdefault(definition.name, []).append(parent)
        return result

    def is_named_test(self, symbols: FileSymbols) -> bool:
        """Return True for a file that settings of the folders around it make one of tests, by its name."""
        return bool(re.fullmatch(self._setting_around(symbols, self.test_files, "(?!)"), symbols.path.split("/")[-1]))

    def test_pattern(self, file: int) -> str:
        """Return the regular expression of names of tests in a file, by settings of the folders around it if any."""
        own = self.files[file].settings
        return self._setting_around(self.files[file], self.test_names, own.tests.functions if own else "")

    @staticmethod
    def _setting_around(symbols: FileSymbols, by_folder: Mapping[str, str], default: str) -> str:
        folder = symbols.path if symbols.settings is not None and symbols.settings.tests.fixtures else ""
        while folder and by_folder:
            if (folder := folder.rpartition("/")[0]) in by_folder:
                return by_folder[folder]
        return default

    def bind_package_names(self, symbols: FileSymbols) -> None:
        """Bind imported packages by the names that their own files declare, or by their folders in collections."""
        local, listing = dict[str, Import](), self.folders.listing
        for entry in symbols.facts.imports:
            if entry.kind == ImportKind.MODULE:
                file = -1 if symbols.path.endswith(listing) else self.folders.resolve(symbols.path, entry.module).file
                declared_name = self.files[file].facts.package if file >= 0 else ""
                local.setdefault(entry.alias or declared_name or local_name(entry), entry)
        symbols.imports[MODULE_SCOPE] = local

    def parent(self, definition: int) -> int:
        """Return the number of the enclosing definition, or -1."""
        local = self.definition_of[definition].parent
        return local if local < 0 else self.files[self.file_of[definition]].first + local

    @property
    def is_mixed(self) -> bool:
        """Return True if there are files of which other languages know the top by a type."""
        return bool(self.declared.facades)

    def is_facade(self, file: int) -> bool:
        """Return True for a file of which other languages know the top by a type."""
        settings = self.files[file].settings
        return settings is not None and bool(settings.modules.facade)

    def is_type(self, definition: int) -> bool:
        """Return True for a type, including a named type."""
        return self.definition_of[definition].kind in TYPE_KINDS or definition in self.named_types

    def is_type_like(self, definition: int) -> bool:
        """Return True for a type, and for a type's name that has members."""
        if self.is_type(definition):
            return True
        return self.definition_of[definition].kind == NodeKind.TYPE and self.has_members(definition)

    def is_value(self, definition: int) -> bool:
        """Return True for the name of a value; an import may give it that value: `const a = require("a")`."""
        return self.definition_of[definition].kind in (NodeKind.CONSTANT, NodeKind.FIELD)

    def as_type(self, definition: int) -> int:
        """Return the type with the name of a value, where both may have it; else the definition itself."""
        symbols = self.files[self.file_of[definition]]
        return symbols.types.get(self.definition_of[definition].qualname, definition) if symbols.types else definition

    def is_type_only(self, definition: int) -> bool:
        """Return True for a type that cannot be called, in a language that separates types from values."""
        settings = self.files[self.file_of[definition]].settings
        kind = self.definition_of[definition].kind
        return settings is not None and settings.names.types_apart and kind in (NodeKind.INTERFACE, NodeKind.TYPE)

    def is_alias(self, definition: int) -> bool:
        """Return True for an alias of a type that is defined elsewhere; nothing derives from an alias."""
        return self.definition_of[definition].kind == NodeKind.TYPE and self.is_type_only(definition)

    def is_object_method(self, definition: int) -> bool:
        """Return True for a method of an object without a type: no bare name denotes it."""
        if self.definition_of[definition].kind != NodeKind.METHOD:
            return False
        parent = self.parent(definition)
        return parent < 0 or not self.is_type(parent)

    def is_constructor(self, definition: int) -> bool:
        """Return True for a constructor function: one with members, in a language that assigns them to functions."""
        symbols = self.files[self.file_of[definition]]
        if symbols.settings is None or not symbols.settings.names.assigned_infixes:
            return False
        if self.definition_of[definition].qualname in symbols.holders or definition in self.extended_functions:
            return True
        return len(self.linear_bases(definition)) > 1

    def has_members(self, definition: int) -> bool:
        """Return True if other definitions are nested in this one; they have the next numbers."""
        return definition + 1 < len(self.definition_of) and self.parent(definition + 1) == definition

    def enclosing_type(self, definition: int) -> int:
        """Return the innermost type that contains `definition`, itself included, or -1."""
        while definition >= 0 and not self.is_type(definition):
            definition = self.owner_of.get(definition, self.parent(definition))
        return definition

    def attach_member(self, member: int, owner: int) -> None:
        """Make a definition a member of a type that it does not stand in; the first of a name counts."""
        name = self.definition_of[member].name
        self.attached.setdefault((self.canonical.get(owner, owner), name), []).append(member)
        self.owner_of[member] = owner
        if not self.is_type(owner):
            self.extended_functions.add(owner)

    def enclosing_owner(self, definition: int) -> int:
        """Return the definition that `self` or `this` means inside of `definition`, or -1.

        It is the type around it; for `Owner.method = function`, the function or class Owner.
        """
        owner = self.enclosing_type(definition)
        if owner >= 0 or definition < 0:
            return owner
        definition = self.outermost_function(definition)
        if definition in self.owner_of:
            return self.owner_of[definition]
        if self.definition_of[definition].kind == NodeKind.HANDLER:
            return -1  # the code that runs it decides
        holder = self.definition_of[definition].qualname.rpartition(".")[0]
        # A method without a name before it stands in an object that the file exports or hands on.
        alone = definition if self.definition_of[definition].kind != NodeKind.METHOD else -1
        return self.files[self.file_of[definition]].by_qualname.get(holder, -1) if holder else alone

    def outermost_function(self, definition: int) -> int:
        """Return the outermost function around a function with a plain name, or itself.

        A function inside of a method most often has the method's `this`, being an arrow function or called with it.
        """
        while (enclosing := self.parent(definition)) >= 0 and enclosing not in self.canonical:
            qualname, outer_qualname = self.definition_of[definition].qualname, self.definition_of[enclosing].qualname
            if "." in qualname.removeprefix(f"{outer_qualname}.") or self.definition_of[definition].kind not in _PLAIN:
                break
            definition = enclosing
        return definition

    # -- imports

    def target_module(self, file: int, entry: Import) -> tuple[int, str]:
        """Return (file, rule) of the module that an import names; file is -1 outside of the repository."""
        symbols = self.files[file]
        if symbols.settings is None:
            return -1, RuleName.EXTERNAL
        if symbols.settings.names.dispatched and entry.kind != ImportKind.SIDE_EFFECT:
            return self.included.find_file(file, entry), RuleName.PATH
        if symbols.settings.modules.system is ModuleSystem.DECLARED:
            leads_to = self.declared.find_imported_files(symbols.settings.family, entry, symbols.path, frozenset())
            return (leads_to[0], RuleName.PATH) if leads_to else (-1, RuleName.EXTERNAL)
        if self.tree_paths.tree.has_file(file):
            return self.tree_paths.find_target(file, entry)[:2]
        if symbols.has_folder_imports:
            target = self.folders.resolve(symbols.path, entry.module)
        else:
            target = self.modules.resolve(symbols.path, entry.module, entry.level, symbols.settings.modules)
            head, dot, _ = entry.module.partition(".")
            if target.file < 0 and dot and symbols.settings.modules.mentioned:
                target = self.modules.resolve(symbols.path, head, 0, symbols.settings.modules)
        return target.file, target.rule

    def follow_import(self, file: int, entry: Import, called: str | None = None) -> Resolution | None:
        """Return the meaning of the local name of an import; None if the module is here but has no such name."""
        settings = self.files[file].settings
        assert settings is not None
        if settings.modules.system is ModuleSystem.DECLARED:
            return self._follow_declared(file, entry, settings, called)
        if self.tree_paths.tree.has_file(file):
            return self.tree_paths.follow_import(file, entry)
        if settings.modules.mentioned and entry.kind == ImportKind.MODULE:
            head = entry.module.partition(".")[0]
            module = self.modules.resolve(self.files[file].path, head, 0, settings.modules)
            if module.file >= 0:
                return Resolution(ResolutionKind.MODULE, module.file, module.rule)
            external = self.external_resolution(file, entry)
            return external._replace(rule="dotted") if self.modules.is_wrapper(head) else external
        target, rule = self.target_module(file, entry)
        if entry.kind in (ImportKind.MODULE, ImportKind.REEXPORT_NAMESPACE):
            if target >= 0 and not entry.alias and "." in entry.module and self.files[file].has_visible_imports:
                # `import a.b.c` binds a; what it means is decided with the attributes that follow.
                return Resolution(ResolutionKind.MODULE, target, "dotted")
            found = Resolution(ResolutionKind.MODULE, target, rule)
            return found if target >= 0 else self.external_resolution(file, entry)
        if target < 0:
            path = self.files[file].path
            below = self.modules.find_namespace_submodule(path, entry.module, entry.level, entry.name, settings.modules)
            return (
                Resolution(ResolutionKind.MODULE, below, RuleName.PATH)
                if below >= 0
                else self.external_resolution(file, entry)
            )
        head, _, rest = entry.name.partition(".")
        result = self.find_exported(target, head) or self._member_of_whole(target, head, settings)
        if result is None and entry.kind == ImportKind.DEFAULT:
            return Resolution(ResolutionKind.MODULE, target, RuleName.IMPORT)
        if result is not None and rest and result.kind is ResolutionKind.DEFINITION:
            member = self.find_own_member(result.number, rest)
            return Resolution(ResolutionKind.DEFINITION, member, RuleName.IMPORT) if member >= 0 else None
        if result is not None and rest and result.kind is ResolutionKind.VALUE:
            return result._replace(name=f"{result.name}.{rest}")
        return result

    def _member_of_whole(self, file: int, name: str, settings: LanguageSettings) -> Resolution | None:
        """Return the member of the value that a file exports as a whole, if it exports nothing else."""
        if settings.modules.system is not ModuleSystem.DOTTED or not settings.modules.require:
            return None
        exported = self.find_exported(file, "default")
        number = (
            self.find_own_member(exported.number, name)
            if exported is not None and exported.kind is ResolutionKind.DEFINITION
            else -1
        )
        return Resolution(ResolutionKind.DEFINITION, number, RuleName.IMPORT) if number >= 0 else None

    def _follow_declared(
        self, file: int, entry: Import, settings: LanguageSettings, called: str | None
    ) -> Resolution | None:
        """Follow an import of a type, or of a member of a type."""
        path = self.files[file].path
        whole = entry.module if settings.modules.file_classes else f"{entry.module}.{entry.name}".strip(".")
        declaration = self.declared.find(settings.family, whole, path)
        if declaration is not None:
            return Resolution(ResolutionKind.DEFINITION, declaration[1], RuleName.IMPORT)
        owner = self.declared.find(settings.family, entry.module, path)
        if owner is None and self.is_mixed:
            facade = self.declared.find_facade(settings.family, f"{entry.module}.{entry.name}", path)
            if facade >= 0:
                return Resolution(ResolutionKind.MODULE, facade, RuleName.IMPORT)
            facade = self.declared.find_facade(settings.family, entry.module, path)
            member = self.facade_member(facade, entry.name) if facade >= 0 else -1
            if member >= 0:
                return Resolution(ResolutionKind.DEFINITION, member, RuleName.IMPORT)
        if owner is None:
            return self.external_resolution(file, entry)
        member, _ = self.find_member(owner[1], entry.name, called=called)
        if member < 0 and settings.modules.passing:
            member = next(iter(self.passed_names.find_in(owner, entry.name)), -1)
        return Resolution(ResolutionKind.DEFINITION, member, RuleName.IMPORT) if member >= 0 else None

    @property
    def passed_names(self) -> PassedNames:
        """Names that namespaces have by what they import."""
        return PassedNames(self.declared, self.files, self.file_of, self.find_own_member)

    def facade_member(self, file: int, name: str, called: str | None = None) -> int:
        """Return the function or value at the top of a file that another language knows by this name, or -1.

        The object that an extension is called on is the first argument there. A value is known by its accessors.
        """
        symbols = self.files[file]
        for local, definition in enumerate(symbols.facts.definitions):
            is_own = definition.parent < 0 and definition.kind not in TYPE_KINDS
            if is_own and definition.name in (name, *accessor_names(name, is_called=True)):
                is_extension = any(each == local for each, _ in symbols.facts.owners)
                arguments = called[1:] if called and is_extension else called
                number = symbols.first + local
                if arguments is None or misfit(self.parameters.get(number), arguments, {}) is not None:
                    return number
        return -1

    def external_resolution(self, file: int, entry: Import) -> Resolution:
        """Return the external package that an import comes from."""
        symbols = self.files[file]
        return Resolution(
            ResolutionKind.EXTERNAL,
            -1,
            RuleName.EXTERNAL,
            external_package(entry, symbols.settings, symbols.has_folder_imports),
        )

    def find_exported(self, file: int, name: str, depth: int = 0) -> Resolution | None:
        """Return the meaning of `name` to those who import it from `file`, through re-exports, or None."""
        if (key := (file, name)) in self.known_exports:
            return self.known_exports[key]
        if depth > _MAX_DEPTH:
            return None
        self.known_exports[key] = None  # a cycle of re-exports ends here
        result = self._find_exported(file, name, depth)
        self.known_exports[key] = result
        return result

    def is_hidden(self, file: int, name: str) -> bool:
        """Return True if a file lists what everything of it is, and `name` is not listed."""
        symbols = self.files[file]
        listed = symbols.facts.wildcard_exports
        return listed is not None and name not in listed and not symbols.passes_nothing_on

    def _find_exported(self, file: int, name: str, depth: int) -> Resolution | None:
        symbols = self.files[file]
        local = symbols.exports.get(name, name)
        if "()" in local:
            return Resolution(ResolutionKind.VALUE, file, RuleName.IMPORT, local)
        head, _, rest = local.partition(".")
        number = symbols.by_qualname.get(local)
        if symbols.passes_nothing_on and name not in (symbols.facts.wildcard_exports or (name,)):
            number = None
        entry = symbols.imports.get(MODULE_SCOPE, {}).get(head)
        if number is not None and (entry is None or not self.is_value(number)):
            return Resolution(ResolutionKind.DEFINITION, number, RuleName.IMPORT)
        visible = name in symbols.exports or symbols.has_visible_imports
        if entry is not None and visible:
            resolution = self._follow_reexport(file, entry, depth)
            if resolution is None or not rest:
                return resolution
            return self._follow_attribute(resolution, rest, depth)
        if (entry := symbols.reexports.get(name)) is not None:
            return self._follow_reexport(file, entry, depth)
        number = self.packages.find_definition(file, local, self.files)
        if number is not None:
            return Resolution(ResolutionKind.DEFINITION, number, RuleName.IMPORT)
        if name == "default" and symbols.exports and "default" not in symbols.exports:
            return None
        bound = symbols.bindings.get(MODULE_SCOPE, {}).get(local)  # in a condition or by a pattern: no constant
        if bound is not None and (symbols.is_shaped or bound.value.endswith(f".{local}")):
            return Resolution(ResolutionKind.VALUE, file, RuleName.IMPORT, local)
        if symbols.settings is not None:
            below = self.modules.find_submodule(file, name, symbols.settings.modules)
            if below >= 0:
                return Resolution(ResolutionKind.MODULE, below, RuleName.PATH)
        is_mentioned = symbols.settings is not None and symbols.settings.modules.mentioned
        for star in () if symbols.has_folder_imports or is_mentioned else symbols.stars:
            if star.kind == ImportKind.STAR and symbols.passes_nothing_on:
                continue
            target, _ = self.target_module(file, star)
            if target < 0 or target == file or (name == "default" and not symbols.has_visible_imports):
                continue
            if self.is_hidden(target, name):
                continue
            resolution = self.find_exported(target, name, depth + 1)
            if resolution is not None:
                rule = RuleName.RE_EXPORT if star.kind == ImportKind.REEXPORT_ALL else RuleName.STAR_IMPORT
                return resolution._replace(rule=rule)
        return None

    def _follow_reexport(self, file: int, entry: Import, depth: int) -> Resolution | None:
        if entry.kind in (ImportKind.MODULE, ImportKind.REEXPORT_NAMESPACE):
            return self.follow_import(file, entry)
        target, _ = self.target_module(file, entry)
        if target < 0:
            return self.follow_import(file, entry)
        if target == file:  # a package that passes its own submodule on
            settings = self.files[file].settings
            below = self.modules.find_submodule(file, entry.name, settings.modules) if settings is not None else -1
            return Resolution(ResolutionKind.MODULE, below, RuleName.PATH) if below >= 0 else None
        resolution = self.find_exported(target, entry.name, depth + 1)
        return (
            resolution._replace(rule=RuleName.RE_EXPORT)
            if resolution and resolution.kind is ResolutionKind.DEFINITION
            else resolution
        )

    def _follow_attribute(self, resolution: Resolution, rest: str, depth: int) -> Resolution | None:
        if resolution.kind is ResolutionKind.MODULE:
            return self.find_exported(resolution.number, rest, depth + 1)
        if resolution.kind is ResolutionKind.DEFINITION:
            member = self.find_own_member(resolution.number, rest)
            return resolution._replace(number=member) if member >= 0 else None
        return resolution

    # -- types

    def find_own_member(self, owner: int, name: str, called: str | None = None) -> int:
        """Return the definition `name` directly inside of `owner`, or -1.

        `called` are the arguments of a call as in `Call.arguments`, or None; a function that refuses them is skipped.
        """
        qualname = f"{self.definition_of[owner].qualname}.{name}"
        symbols = self.files[self.file_of[owner]]
        if called is not None and qualname in symbols.callables:
            for number in symbols.callables[qualname]:
                if misfit(self.parameters.get(number), called, {}) is not None and self._is_inside(number, owner):
                    return number
        elif qualname in symbols.by_qualname:
            member = symbols.by_qualname[qualname]
            if (called is None or not self._is_plain_value(symbols, member)) and self._is_inside(member, owner):
                return member
        for number in self.attached.get((self.canonical.get(owner, owner), name), ()):
            if called is None or misfit(self.parameters.get(number), called, {}) is not None:
                return number
        return -1

    def _is_inside(self, member: int, owner: int) -> bool:
        """Return False if a member belongs to another type of the name of `owner`."""
        if owner not in self.arities:
            return True
        parent = self.parent(member)
        return self.canonical.get(parent, parent) == self.canonical.get(owner, owner)

    def of_arity(self, number: int, n_parameters: int) -> int:
        """Return the type of the name of a type that has so many type parameters, or the type itself."""
        namesakes = self.arities.get(number)
        return namesakes.get(n_parameters, number) if namesakes is not None else number

    def _is_plain_value(self, symbols: FileSymbols, definition: int) -> bool:
        """Return True if a call by this name must denote another definition, since this one is a plain value."""
        has_overloads = symbols.settings is not None and symbols.settings.names.callables_apart
        is_plain = has_overloads and self.is_value(definition) and definition - symbols.first not in symbols.returns
        return is_plain and not (symbols.labeled and self.definition_of[self.parent(definition)].kind == NodeKind.ENUM)

    def bases_of(self, owner: int) -> list[int]:
        """Return the direct bases of a type."""
        return self._bases.get(owner, [])

    def find_hidden_field(self, owner: int, name: str) -> int:
        """Return the field `name` of `owner` if a method has the same name, or -1."""
        return self.files[self.file_of[owner]].fields.get(f"{self.definition_of[owner].qualname}.{name}", -1)

    def traits_with(self, method: str) -> list[int]:
        """Return the traits that have a method of this name."""
        return self._traits.get(method, [])

    def is_only_in(self, trait: int, method: str) -> bool:
        """Return True if all methods of this name belong to the trait or to types that implement it."""
        owners = (self.enclosing_type(d) for d in self.methods.get(method, ()))
        return all(owner < 0 or owner == trait or trait in self._bases.get(owner, ()) for owner in owners)

    def family_of(self, file: int) -> str:
        """Return the family of languages of a file, "" for prose and data."""
        settings = self.files[file].settings
        return settings.family if settings is not None else ""

    def set_bases(self, owner: int, bases: list[int]) -> None:
        """Set the direct bases of a type and drop all cached resolution orders."""
        self._bases[owner] = bases
        self._mro.clear()
        self._derived.clear()

    def types_below(self, owner: int) -> list[int]:
        """Return the types that derive from `owner`, each once, those that do it directly first."""
        if not self._derived:
            for derived, bases in sorted(self._bases.items()):
                for base in bases:
                    self._derived.setdefault(base, []).append(derived)
        types: dict[int, None] = {}
        waiting = [*self._derived.get(owner, ())]
        for derived in waiting:
            if derived not in types and derived != owner:
                types[derived] = None
                waiting += self._derived.get(derived, ())
        return list(types)

    def linear_bases(self, owner: int) -> tuple[int, ...]:
        """Return `owner` and its resolved bases, nearest first, each once; cycles end where they close.

        The order is that of `linearize`.
        """
        if (cached := self._mro.get(owner)) is None:
            cached = self._mro[owner] = linearize(owner, lambda each: self._bases.get(each, ()))
        return cached

    def find_member(self, owner: int, name: str, skip_own: bool = False, called: str | None = None) -> tuple[int, bool]:
        """Return (definition, inherited) of member `name` of `owner` or of its bases, or (-1, False)."""
        hidden = self.contracts.get(owner, ())
        for base in self.linear_bases(owner)[1 if skip_own else 0 :]:
            number = self.find_own_member(base, name, called)
            if number >= 0 and base not in hidden:
                return number, base != owner
        if name[:1] == "_" and self.has_messages and called is None:  # what holds the property of that name
            held = self.find_member(owner, name[1:])
            return held if held[0] >= 0 and self.is_value(held[0]) else (-1, False)
        return -1, False

    def select_overloads(self, function: int, arguments: str) -> list[int]:
        """Return the overloads of `function` that a call may denote; `function` alone if names are unique."""
        same, elsewhere = self.overloads_of(function)
        settings = self.files[self.file_of[function]].settings
        if len(same) + len(elsewhere) < 2 or settings is None:
            return [function]
        overloads = self._overloads.get(key := (function, arguments))  # others of the name may have others beside them
        if overloads is None:
            literals = self.literals[settings.name]
            fits = any(misfit(self.parameters.get(e), arguments, literals) is not None for e in same)
            if elsewhere and (settings.modules.headers or not fits):  # members of the type itself come first
                same = [*same, *(each for each in elsewhere if each not in same)]
            overloads = self._overloads[key] = best_overloads(same, self.parameters, arguments, literals)
        return overloads

    def overloads_of(self, function: int) -> tuple[list[int], list[int]]:
        """Return the functions with the name of `function` where it is declared, and those attached to its type.

        The first are of all declarations of the type. Both are empty where one name means one function.
        """
        definition = self.definition_of[function]
        same = self.files[self.file_of[function]].callables.get(definition.qualname, [])
        if (extended := self.extended.get(function)) is not None:
            if extended >= 0:  # of any class of the package
                package = self.files[self.file_of[function]].facts.package
                several = self.methods.get(definition.name, ())
                same = [each for each in several if self.files[self.file_of[each]].facts.package == package]
            return [each for each in same if self.extended.get(each) == extended], []
        owner = self.owner_of.get(function, self.parent(function))
        if owner in self.arities:
            same = [each for each in same if self._is_inside(each, owner)]
        first = self.canonical.get(owner, owner)
        elsewhere = self.attached.get((first, definition.name), []) if same else []
        elsewhere = [each for each in elsewhere if self.definition_of[each].kind in CALLABLE_KINDS]
        return (elsewhere, []) if elsewhere and owner in self.canonical else (same, elsewhere)

    def enumeration_around(self, constant: int) -> int:
        """Return the enumeration in which a constant stands that belongs to what is around it, or -1."""
        symbols = self.files[self.file_of[constant]]
        if symbols.settings is None or not symbols.settings.modules.headers:
            return -1
        definitions = symbols.facts.definitions
        wanted, at = definitions[constant - symbols.first], constant - symbols.first - 1
        while at >= 0 and definitions[at].kind == NodeKind.CONSTANT:
            at -= 1
        is_around = at >= 0 and definitions[at].kind == NodeKind.ENUM and definitions[at].end_byte >= wanted.end_byte
        return symbols.first + at if is_around else -1

    # -- files that changed and look the same from all others (`graph.invalidation`)

    def is_self_contained(self, number: int) -> bool:
        """Return True if the tables of a file get no imports or parameters from facts of other files."""
        settings = self.files[number].settings
        own = settings.modules if settings is not None else None
        is_open = own is not None and (own.sees_enclosing_packages or own.projects or own.pasted)
        is_open = is_open or (settings is not None and settings.names.regions)
        return not (is_open or self.files[number].completed or number in self.packages.library_of)

    def replace_file(self, number: int, facts: FileFacts) -> None:
        """Put `facts` in the place of those of a self-contained file; other files see no difference."""
        symbols = self.files[number]
        if len(facts.definitions) != len(symbols.facts.definitions):
            raise ValueError("a file with other definitions does not look the same")
        replacement = build_file_symbols(symbols.path, facts, symbols.first, symbols.settings)
        replacement.opened_namespaces = symbols.opened_namespaces  # which other files have a part in
        if (settings := symbols.settings) is not None and settings.modules.quoted:
            replacement.stars = symbols.stars  # in which others pass on theirs
        for each in FileSymbols.__slots__:  # others refer to this very object
            setattr(symbols, each, getattr(replacement, each))
        if symbols.has_folder_imports:
            self.bind_package_names(symbols)
        self.definition_of[symbols.first : symbols.first + len(facts.definitions)] = facts.definitions
