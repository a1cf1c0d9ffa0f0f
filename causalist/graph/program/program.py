"""All files' tables of what they bind, and the following of imports and re-exports across files.

A definition is known here by a number that counts all definitions of all files in order; the graph's own numbering
(sorted ids) comes at the very end, in `edges`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from causalist.graph.file_symbols import FileNames, file_names
from causalist.graph.imports.folders import FolderMap, local_name
from causalist.graph.imports.includes import Inclusions
from causalist.graph.imports.inclusion import Inclusion
from causalist.graph.imports.module_tree import ModuleTree
from causalist.graph.imports.modules import ModuleMap
from causalist.graph.imports.outside import package_outside
from causalist.graph.imports.package_scope import PackageScopes
from causalist.graph.imports.packages import DeclaredTypes
from causalist.graph.imports.paths import PathNames
from causalist.graph.listed import Listed
from causalist.graph.program import namespaces
from causalist.graph.program.overloads import Literals, best, misfit
from causalist.graph.program.partial_types import overloads_of
from causalist.graph.values import Found
from causalist.model.facts import MODULE_SCOPE, Binding, Definition, FileFacts, Import, ImportKind
from causalist.model.language import LanguageSettings, ModuleSystem
from causalist.model.symbols import TYPE_KINDS, NodeKind

_DEEPEST = 20  # re-exports that are followed before a name is given up
_MOST_BASES = 200  # visits along the bases of one type; a cycle of bases ends here


@dataclass(slots=True)
class Program:
    """All files' tables. `file_of[d]` is the file of definition d, `definition_of[d]` its facts."""

    files: list[FileNames]
    modules: ModuleMap
    file_of: list[int]
    definition_of: list[Definition]
    methods: dict[str, list[int]]  # name -> methods of types, for receivers that nobody knows
    packages: PackageScopes
    declared: DeclaredTypes
    parameters: dict[int, tuple[str, ...]]  # of functions that are told apart by them
    literals: dict[str, Literals]  # by language
    paths: PathNames
    folders: FolderMap = field(default_factory=FolderMap)
    listed: Listed = field(default_factory=Listed)
    named_types: set[int] = field(default_factory=set)  # names for types that are made of others: `type A []B`
    attached: dict[tuple[int, str], list[int]] = field(default_factory=dict)  # (type, name) -> members of it elsewhere
    owner_of: dict[int, int] = field(default_factory=dict)  # such a member -> its type
    extended: dict[int, int] = field(default_factory=dict)  # functions of the module of that name -> what they are for
    canonical: dict[int, int] = field(default_factory=dict)  # types that may be reopened -> their first declaration
    inclusion: Inclusion = field(default_factory=Inclusion)
    bounds: dict[tuple[int, str], tuple[int, Binding]] = field(default_factory=dict)  # type parameters, by their type
    foreign: dict[tuple[int, str], dict[str, int]] = field(default_factory=dict)  # (trait, method) -> type -> method
    for_all: set[int] = field(default_factory=set)  # traits that are implemented for every type with some bound
    contracts: dict[int, frozenset[int]] = field(default_factory=dict)  # bases that a type has nothing from
    _traits: dict[str, list[int]] = field(default_factory=dict)
    known_exports: dict[tuple[int, str], Found | None] = field(default_factory=dict)
    _overloads: dict[tuple[int, str], list[int]] = field(default_factory=dict)
    _bases: dict[int, list[int]] = field(default_factory=dict)
    _mro: dict[int, tuple[int, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, files: Sequence[tuple[str, FileFacts]], settings: Mapping[str, LanguageSettings]) -> "Program":
        tables: list[FileNames] = []
        file_of: list[int] = []
        definition_of: list[Definition] = []
        methods: dict[str, list[int]] = {}
        for number, (path, facts) in enumerate(files):
            tables.append(file_names(path, facts, len(definition_of), settings.get(facts.language)))
            elsewhere = {local for local, _ in facts.owners}
            for local, definition in enumerate(facts.definitions):
                if definition.kind == NodeKind.METHOD and (definition.parent >= 0 or local in elsewhere):
                    methods.setdefault(definition.name, []).append(len(definition_of))
                file_of.append(number)
                definition_of.append(definition)
        scopes = PackageScopes.of(files, settings)
        result = cls(
            tables,
            ModuleMap.of(files, settings),
            file_of,
            definition_of,
            methods,
            scopes,
            DeclaredTypes.of(files, [table.first for table in tables], settings),
            {table.first + i: types for table in tables for i, types in table.facts.parameters},
            {each.name: dict(each.types.literals) for each in settings.values()},
            PathNames(ModuleTree.of(tables, file_of)),
            FolderMap.of(files, settings),
        )
        scopes.included = Inclusions(result.target_module, tables).of
        for names in tables:
            if names.settings is not None and names.settings.types.prefixed:
                types = (i for i in names.returns if names.facts.definitions[i].kind == NodeKind.TYPE)
                result.named_types.update(names.first + i for i in types)
            if names.has_folders:
                result.name_packages(names)
        for number, definition in enumerate(definition_of):
            parent = result.parent(number)
            if definition.kind == NodeKind.METHOD and parent >= 0 and definition_of[parent].kind == NodeKind.TRAIT:
                result._traits.setdefault(definition.name, []).append(parent)
        return result

    def name_packages(self, names: FileNames) -> None:
        """Packages are called what their own files say, whatever the path of the import ends with."""
        local: dict[str, Import] = {}
        for entry in names.facts.imports:
            if entry.kind == ImportKind.MODULE:
                file = self.folders.resolve(names.path, entry.module).file
                said = self.files[file].facts.package if file >= 0 else ""
                local.setdefault(entry.alias or said or local_name(entry), entry)
        names.imports[MODULE_SCOPE] = local

    def parent(self, definition: int) -> int:
        """Number of the enclosing definition, or -1."""
        local = self.definition_of[definition].parent
        return local if local < 0 else self.files[self.file_of[definition]].first + local

    def is_type(self, definition: int) -> bool:
        return self.definition_of[definition].kind in TYPE_KINDS or definition in self.named_types

    def is_like_a_type(self, definition: int) -> bool:
        """Whether it is a type, or a name for one that has members."""
        if self.is_type(definition):
            return True
        return self.definition_of[definition].kind == NodeKind.TYPE and self.has_members(definition)

    def is_value(self, definition: int) -> bool:
        """Whether it is a name for a value; an import may give it that value: `const a = require("a")`."""
        return self.definition_of[definition].kind in (NodeKind.CONSTANT, NodeKind.FIELD)

    def has_members(self, definition: int) -> bool:
        """Whether other definitions stand inside; they follow at once."""
        return definition + 1 < len(self.definition_of) and self.parent(definition + 1) == definition

    def enclosing_type(self, definition: int) -> int:
        """The innermost type that `definition` (itself included) belongs to, or -1."""
        while definition >= 0 and not self.is_type(definition):
            definition = self.owner_of.get(definition, self.parent(definition))
        return definition

    def attach(self, member: int, owner: int) -> None:
        """Makes a definition a member of a type that it does not stand in; the first of a name counts."""
        name = self.definition_of[member].name
        self.attached.setdefault((self.canonical.get(owner, owner), name), []).append(member)
        self.owner_of[member] = owner

    def enclosing_owner(self, definition: int) -> int:
        """The definition that `self` or `this` means inside of `definition`, or -1: the type around it; for
        `Owner.method = function`, the function or class Owner."""
        owner = self.enclosing_type(definition)
        if owner >= 0 or definition < 0:
            return owner
        definition = self.without_functions(definition)
        holder = self.definition_of[definition].qualname.rpartition(".")[0]
        # A method without a name before it stands in an object that the file exports or hands on.
        alone = definition if self.definition_of[definition].kind != NodeKind.METHOD else -1
        return self.files[self.file_of[definition]].by_qualname.get(holder, -1) if holder else alone

    def without_functions(self, definition: int) -> int:
        """The outermost function around a function with a plain name, or itself: a function inside of a method most
        often has the method's `this`, being an arrow function or called with it."""
        while (around := self.parent(definition)) >= 0 and around not in self.canonical:
            qualname, inside = self.definition_of[definition].qualname, self.definition_of[around].qualname
            if "." in qualname.removeprefix(f"{inside}.") or self.definition_of[definition].kind != NodeKind.FUNCTION:
                break
            definition = around
        return definition

    # -- imports

    def target_module(self, file: int, entry: Import) -> tuple[int, str]:
        """(file, rule) of the module that an import names; file is -1 outside of the repository."""
        names = self.files[file]
        if names.settings is None:
            return -1, "external"
        if names.settings.modules.system is ModuleSystem.DECLARED:
            leads_to = self.declared.imported_files(names.settings.family, entry, names.path, frozenset())
            return (leads_to[0], "path") if leads_to else (-1, "external")
        if self.paths.tree.has(file):
            return self.paths.target(file, entry)[:2]
        if names.has_folders:
            target = self.folders.resolve(names.path, entry.module)
        else:
            target = self.modules.resolve(names.path, entry.module, entry.level, names.settings.modules)
        return target.file, target.rule

    def follow(self, file: int, entry: Import, called: str | None = None) -> Found | None:
        """What the local name of an import means. None: the module is here but has no such name."""
        settings = self.files[file].settings
        assert settings is not None
        if settings.modules.system is ModuleSystem.DECLARED:
            return self._declared(file, entry, settings, called)
        if self.paths.tree.has(file):
            return self.paths.follow(file, entry)
        target, rule = self.target_module(file, entry)
        if entry.kind in (ImportKind.MODULE, ImportKind.REEXPORT_NAMESPACE):
            if target >= 0 and not entry.alias and "." in entry.module and self.files[file].imports_are_visible:
                # `import a.b.c` binds a; what it means is decided with the attributes that follow.
                return Found("module", target, "dotted")
            return Found("module", target, rule) if target >= 0 else self.outside(file, entry)
        if target < 0:
            path = self.files[file].path
            below = self.modules.namespace_submodule(path, entry.module, entry.level, entry.name, settings.modules)
            return Found("module", below, "path") if below >= 0 else self.outside(file, entry)
        head, _, rest = entry.name.partition(".")
        found = self.exported(target, head) or namespaces.of_whole(self, target, head, settings)
        if found is None and entry.kind == ImportKind.DEFAULT:
            return Found("module", target, "import")
        if found is not None and rest and found.kind == "definition":
            member = self.member(found.number, rest)
            return Found("definition", member, "import") if member >= 0 else None
        if found is not None and rest and found.kind == "value":
            return found._replace(name=f"{found.name}.{rest}")
        return found

    def _declared(self, file: int, entry: Import, settings: LanguageSettings, called: str | None) -> Found | None:
        """An import of a type, or of a member of a type."""
        path = self.files[file].path
        found = self.declared.find(settings.family, f"{entry.module}.{entry.name}".strip("."), path)
        if found is not None:
            return Found("definition", found[1], "import")
        owner = self.declared.find(settings.family, entry.module, path)
        if owner is None:
            return self.outside(file, entry)
        member, _ = self.find_member(owner[1], entry.name, called=called)
        return Found("definition", member, "import") if member >= 0 else None

    def outside(self, file: int, entry: Import) -> Found:
        """The package outside of the repository that an import comes from."""
        names = self.files[file]
        return Found("external", -1, "external", package_outside(entry, names.settings, names.has_folders))

    def exported(self, file: int, name: str, depth: int = 0) -> Found | None:
        """What `name` means to those who import it from `file`, through re-exports; None if it has no such name."""
        if (key := (file, name)) in self.known_exports:
            return self.known_exports[key]
        if depth > _DEEPEST:
            return None
        self.known_exports[key] = None  # a cycle of re-exports ends here
        found = self._find_exported(file, name, depth)
        self.known_exports[key] = found
        return found

    def _find_exported(self, file: int, name: str, depth: int) -> Found | None:
        names = self.files[file]
        local = names.exports.get(name, name)
        if "()" in local:
            return Found("value", file, "import", local)
        head, _, rest = local.partition(".")
        number = names.by_qualname.get(local)
        entry = names.imports.get(MODULE_SCOPE, {}).get(head)
        if number is not None and (entry is None or not self.is_value(number)):
            return Found("definition", number, "import")
        visible = name in names.exports or names.imports_are_visible
        if entry is not None and visible:
            found = self._pass_on(file, entry, depth)
            if found is None or not rest:
                return found
            return self._attribute(found, rest, depth)
        entry = names.reexports.get(name)
        if entry is not None:
            return self._pass_on(file, entry, depth)
        number = self.packages.definition(file, local, self.files)
        if number is not None:
            return Found("definition", number, "import")
        if name == "default" and names.exports and "default" not in names.exports:
            return None
        if names.is_shaped and local in names.bindings.get(MODULE_SCOPE, {}):  # bound in a condition: no constant
            return Found("value", file, "import", local)
        if names.settings is not None:
            below = self.modules.submodule(file, name, names.settings.modules)
            if below >= 0:
                return Found("module", below, "path")
        for star in () if names.has_folders else names.stars:
            target, _ = self.target_module(file, star)
            if target < 0 or target == file or name == "default":
                continue
            listed = self.files[target].facts.wildcard_exports
            if listed is not None and name not in listed:
                continue
            found = self.exported(target, name, depth + 1)
            if found is not None:
                rule = "re-export" if star.kind == ImportKind.REEXPORT_ALL else "star-import"
                return found._replace(rule=rule)
        return None

    def _pass_on(self, file: int, entry: Import, depth: int) -> Found | None:
        if entry.kind in (ImportKind.MODULE, ImportKind.REEXPORT_NAMESPACE):
            return self.follow(file, entry)
        target, _ = self.target_module(file, entry)
        if target < 0:
            return self.follow(file, entry)
        if target == file:  # a package that passes its own submodule on
            settings = self.files[file].settings
            below = self.modules.submodule(file, entry.name, settings.modules) if settings is not None else -1
            return Found("module", below, "path") if below >= 0 else None
        found = self.exported(target, entry.name, depth + 1)
        return found._replace(rule="re-export") if found and found.kind == "definition" else found

    def _attribute(self, found: Found, rest: str, depth: int) -> Found | None:
        if found.kind == "module":
            return self.exported(found.number, rest, depth + 1)
        if found.kind == "definition":
            member = self.member(found.number, rest)
            return found._replace(number=member) if member >= 0 else None
        return found

    # -- types

    def member(self, owner: int, name: str, called: str | None = None) -> int:
        """The definition `name` inside of `owner` itself, or -1.

        `called` are the arguments of a call as `Call.arguments` has them, None where the member is not called; a
        function that does not take them is not found."""
        qualname = f"{self.definition_of[owner].qualname}.{name}"
        names = self.files[self.file_of[owner]]
        if called is not None and qualname in names.callables:
            for number in names.callables[qualname]:
                if misfit(self.parameters.get(number), called, {}) is not None:
                    return number
        elif qualname in names.by_qualname:
            found = names.by_qualname[qualname]
            if called is None or not self._is_mere_value(names, found):
                return found
        for number in self.attached.get((self.canonical.get(owner, owner), name), ()):
            if called is None or misfit(self.parameters.get(number), called, {}) is not None:
                return number
        return -1

    def _is_mere_value(self, names: FileNames, definition: int) -> bool:
        """Whether a call by this name must mean another: functions stand apart from values that cannot be called."""
        apart = names.settings is not None and names.settings.names.callables_apart
        return apart and self.is_value(definition) and definition - names.first not in names.returns

    def bases(self, owner: int) -> list[int]:
        return self._bases.get(owner, [])

    def hidden_field(self, owner: int, name: str) -> int:
        """The field `name` of `owner` where a method has the same name, or -1."""
        return self.files[self.file_of[owner]].fields.get(f"{self.definition_of[owner].qualname}.{name}", -1)

    def traits_with(self, method: str) -> list[int]:
        """The traits that have a method of this name."""
        return self._traits.get(method, [])

    def only_in(self, trait: int, method: str) -> bool:
        """Whether all methods of this name are the trait's, or of types that implement it."""
        owners = (self.enclosing_type(d) for d in self.methods.get(method, ()))
        return all(owner < 0 or owner == trait or trait in self._bases.get(owner, ()) for owner in owners)

    def set_bases(self, owner: int, bases: list[int]) -> None:
        self._bases[owner] = bases
        self._mro.clear()

    def linear_bases(self, owner: int) -> tuple[int, ...]:
        """`owner` and its resolved bases, nearest first, each once; cycles end where they close.

        Depth first and left to right: Python's C3 order but for diamonds, in which a shared base comes last here too.
        """
        if (known := self._mro.get(owner)) is not None:
            return known
        last_seen: dict[int, None] = {}  # in the order of the last visit: a base shared by a diamond comes after both
        stack, steps = [owner], 0
        while stack and steps < _MOST_BASES:
            each = stack.pop()
            if each == owner and last_seen:
                continue
            steps += 1
            last_seen.pop(each, None)
            last_seen[each] = None
            stack.extend(reversed(self._bases.get(each, ())))
        result = self._mro[owner] = tuple(last_seen)
        return result

    def find_member(self, owner: int, name: str, skip_own: bool = False, called: str | None = None) -> tuple[int, bool]:
        """(definition, inherited) of member `name` of `owner` or of its bases, or (-1, False)."""
        hidden = self.contracts.get(owner, ())
        for base in self.linear_bases(owner)[1 if skip_own else 0 :]:
            number = self.member(base, name, called)
            if number >= 0 and base not in hidden:
                return number, base != owner
        return -1, False

    def overloads(self, function: int, arguments: str) -> list[int]:
        """The functions beside `function` that a call by its name may mean; `function` alone where names are unique."""
        same, elsewhere = overloads_of(self, function)
        settings = self.files[self.file_of[function]].settings
        if len(same) + len(elsewhere) < 2 or settings is None:
            return [function]
        found = self._overloads.get(key := (function, arguments))  # others of the name may have others beside them
        if found is None:
            literals = self.literals[settings.name]
            if elsewhere and not any(misfit(self.parameters.get(e), arguments, literals) is not None for e in same):
                same = [*same, *elsewhere]  # members of the type itself come first
            found = self._overloads[key] = best(same, self.parameters, arguments, literals)
        return found
