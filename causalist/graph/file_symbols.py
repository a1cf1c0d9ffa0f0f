"""Symbol tables of single files: the names that a file binds, and groups of files by path and language.

In: the facts of one file, or the tables of all. Out: `FileSymbols`, and for all files their ids, folders and the names
that tests may be called after. A definition is known by a number that counts all definitions of all files. Nothing here
looks into another file.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import dataclass, field
from causalist.model.facts import MODULE_SCOPE, Binding, FileFacts, Import, ImportKind
from causalist.model.language_settings import LanguageSettings, ModuleSystem
from causalist.model.node_ids import (
    CALLABLE_KINDS,
    CLASS_LEVEL,
    DECLARED,
    EXTENDED,
    FIXTURE_PREFIX,
    OPENED,
    SEVERAL,
    TYPE_KINDS,
    NodeId,
    NodeKind,
    Role,
    file_id,
)
from causalist.model.role_by_path import role_of
from causalist.model.type_notation import CLASS_BODY, NARROWED, bounds_of

# Fields have getters of the same name, macros are found in another way; both are looked up by themselves.
_MEMBERS = (NodeKind.METHOD,)  # a function of the name of one before hides that
_GIVE_WAY = (NodeKind.FIELD, NodeKind.MACRO)
_REDEFINED = (NodeKind.FUNCTION, NodeKind.CONSTANT, NodeKind.NAMESPACE)
_NOTHING: set[str] = set()
_MAX_UNDECIDED = 60  # scopes around a name of which none decides what it means
_ANYWHERE = -2  # in place of a scope: all of a file
_MERE_TYPES = (NodeKind.INTERFACE, NodeKind.TYPE)  # of which nothing is left when the program runs


@dataclass(slots=True)
class FileSymbols:
    """Symbol tables of one file. All definition numbers are global."""

    path: str
    facts: FileFacts
    first: int  # number of the file's first definition
    settings: LanguageSettings | None
    by_qualname: dict[str, int] = field(default_factory=dict)
    types: dict[str, int] = field(default_factory=dict)  # types that share their name with a value
    fields: dict[str, int] = field(default_factory=dict)  # those that have the name of a method
    imports: dict[int, dict[str, Import]] = field(default_factory=dict)  # scope -> local name -> import
    stars: list[Import] = field(default_factory=list)
    reexports: dict[str, Import] = field(default_factory=dict)
    exports: dict[str, str] = field(default_factory=dict)
    fixtures: set[str] = field(default_factory=set)  # qualified names of functions that make them
    checked: dict[int, list[str]] = field(default_factory=dict)  # scope -> members whose type it checks
    bindings: dict[int, dict[str, Binding]] = field(default_factory=dict)  # scope -> name -> first telling binding
    several: dict[tuple[int, str], list[Binding]] = field(default_factory=dict)  # telling ones of names that have more
    returns: dict[int, str] = field(default_factory=dict)  # position in the file -> name of the returned type
    holders: set[str] = field(default_factory=set)  # qualified names that got members by assignment
    is_shaped: bool = False  # annotations and values say what collections, tuples and unions hold
    callables: dict[str, list[int]] = field(default_factory=dict)  # where they stand apart: qualname -> all of them
    namespace_aliases: dict[str, str] = field(default_factory=dict)
    opened_namespaces: tuple[str, ...] = ()  # those that are part of the names of what they hold, innermost first
    decided: dict[tuple[int, str], int] = field(default_factory=dict)  # (scope, head of a chain) -> scope to read it in
    redefined: dict[str, list[int]] = field(default_factory=dict)  # where the last before a use counts
    owned: set[int] = field(default_factory=set)  # positions of those that see members of what they do not stand in
    declared: dict[str, str] = field(default_factory=dict)  # qualified name -> parameters of a body elsewhere
    completed: dict[int, list[Binding]] = field(default_factory=dict)  # functions with what is declared of them apart
    specifics: dict[str, list[str]] = field(default_factory=dict)  # qualified name -> procedures that it stands for
    aliases: dict[int, list[str]] = field(default_factory=dict)  # position -> types of it in other branches of `#if`
    class_level: set[str] = field(default_factory=set)  # qualified names of methods that a class itself has
    extended: dict[str, list[str]] = field(default_factory=dict)  # type -> modules whose methods its class has
    _named: dict[int, set[str]] = field(default_factory=dict)  # scope -> names that something in it has
    _written_bases: dict[int, list[str]] | None = None  # by definition of the file; made when first asked

    @contextmanager
    def use_facts(self, facts: FileFacts) -> Iterator[None]:
        """Use facts with bodies while the file is linked, where its tables were made of its interface."""
        before = self.facts, self.bindings, self.several, self.decided, self._named, self.checked
        self.facts, self.bindings, self.several, self.decided, self._named, self.checked = facts, {}, {}, {}, {}, {}
        _add_bindings(self, facts)
        _add_completed(self)
        try:
            yield
        finally:
            self.facts, self.bindings, self.several, self.decided, self._named, self.checked = before

    @staticmethod
    def complete(files: "Sequence[FileSymbols]") -> Iterator[tuple[int, tuple[str, ...]]]:
        """Give bodies the names that a module declares for them, and yield the parameters of each, by its number.

        What modules of one name declare differently is left out.
        """
        declared: dict[str, str] = {}
        for symbols in files:
            for qualname, text in symbols.declared.items():
                declared[qualname] = text if declared.get(qualname, text) == text else ""
        for symbols in files if declared else ():
            if symbols.settings is None or not symbols.settings.names.several:
                continue
            for position, each in enumerate(symbols.facts.definitions):
                text = declared.get(each.qualname, "") if each.kind == NodeKind.FUNCTION else ""
                if not text or not _MODULE_PROCEDURE.match(each.signature):
                    continue
                names, parameters, returned = text.split(">")
                symbols.completed[position] = [
                    Binding(position, name, re.split(r"[(\[]", type_)[0], f"={type_}", each.start_row)
                    for name, _, type_ in (one.partition(":") for one in names.split(";") if one)
                ]
                if returned:
                    symbols.returns[position] = returned
                _add_completed(symbols)
                yield symbols.first + position, tuple(parameters.split(";")) if parameters else ()

    @property
    def has_folder_imports(self) -> bool:
        """True if imports name folders."""
        return self.settings is not None and self.settings.modules.system is ModuleSystem.FOLDER

    @property
    def labeled(self) -> bool:
        """True if arguments have labels, and cases of an enumeration may hold values."""
        return self.settings is not None and self.settings.names.labeled

    @property
    def is_index(self) -> bool:
        """True if the file stands for its folder."""
        stem = posixpath.splitext(posixpath.basename(self.path))[0]
        return self.settings is not None and stem in self.settings.modules.index_stems

    @property
    def has_visible_imports(self) -> bool:
        """True if importers see what a module imports, as in Python; those of an ECMAScript module see its exports."""
        modules = self.settings.modules if self.settings is not None else None
        is_open = modules is not None and (modules.system is ModuleSystem.DOTTED or modules.beside)
        return is_open and not self.passes_nothing_on

    @property
    def passes_nothing_on(self) -> bool:
        """True if importers see of what a module imports only what it exports."""
        return self.settings is not None and (self.settings.modules.anywhere or self.settings.modules.libraries)

    def find_checked(self, scope: int, chain: str) -> str:
        """Return the member whose type a scope checks and with which a chain begins, or ""."""
        if scope not in self.checked:
            return ""
        return next((each for each in self.checked[scope] if chain.startswith(f"{each}.")), "")

    def deciding_scope(self, scope: int, name: str) -> int:
        """Return the first scope from `scope` outwards that may decide what `name` means.

        Code that gives nothing that name decides nothing, nor does a type whose names are not seen by the code in
        it.
        """
        assert self.settings is not None
        definitions, visible = self.facts.definitions, self.settings.names
        if visible.unseen and name in self._names_in(_ANYWHERE):
            return scope  # the place of the use decides
        skips = not (visible.members_are_visible or visible.class_scope_is_visible)
        for _ in range(_MAX_UNDECIDED):  # a scope further in gives the same
            if (
                scope < 0
                or definitions[scope].kind in TYPE_KINDS
                or name in self._names_in(scope)
                or scope in self.owned
                or self.runs_in_body(definitions[scope].parent, name)  # there it means something else
            ):
                break
            scope = definitions[scope].parent
            while skips and scope >= 0 and definitions[scope].kind in TYPE_KINDS:
                scope = definitions[scope].parent
        return scope

    def bases_written(self, definition: int) -> list[str]:
        """Return the names of the bases that a type of the file has in its source; `definition` is a global number."""
        if self._written_bases is None:
            self._written_bases = {}
            for base in self.facts.bases:
                self._written_bases.setdefault(base.definition, []).append(base.name)
        return self._written_bases.get(definition - self.first, [])

    def runs_in_body(self, scope: int, name: str) -> bool:
        """Return True for a bare name that the body of a type runs itself, and no instance of it."""
        words = self.bindings.get(scope, {}).get(CLASS_BODY)
        return words is not None and name in words.value.split()

    def _names_in(self, scope: int) -> set[str]:
        if not self._named:
            is_unseen = self.settings is not None and self.settings.names.unseen
            for position, definition in enumerate(self.facts.definitions):
                if is_unseen:
                    for at in (position, _ANYWHERE):  # it is not seen from in there, nor from what stands before
                        self._named.setdefault(at, set()).add(definition.name)
                if definition.parent >= 0:
                    last = definition.qualname.rpartition(".")[2]
                    self._named.setdefault(definition.parent, set()).update((definition.name, last))
            for position, bindings in self.bindings.items():
                self._named.setdefault(position, set()).update(target.removeprefix(NARROWED) for target in bindings)
            for position, imports in self.imports.items():
                self._named.setdefault(position, set()).update(imports)
            self._named.setdefault(MODULE_SCOPE, set())
        return self._named.get(scope, _NOTHING)


def build_file_symbols(path: str, facts: FileFacts, first: int, settings: LanguageSettings | None) -> FileSymbols:
    """Build the symbol tables of one file."""
    symbols = FileSymbols(path, facts, first, settings, returns=dict(facts.returns))
    symbols.is_shaped = settings is not None and bool(settings.shapes.sequences)
    has_overloads = settings is not None and settings.names.has_overloads
    declaring = settings.names.declaring if settings is not None else ()
    if settings is not None and settings.modules.headers:
        symbols.opened_namespaces = find_opened_namespaces(facts)
    types_apart = settings is not None and settings.names.types_apart
    assigned = settings is not None and bool(settings.names.assigned_prefixes)
    if settings is not None and settings.names.members_are_visible:
        symbols.owned = {position for position, _ in facts.owners}
    is_mentioned = settings is not None and settings.modules.mentioned
    is_passing = settings is not None and settings.modules.passing
    is_opened = settings is not None and settings.modules.opened
    if is_mentioned or is_passing or is_opened:
        symbols.owned = {entry.scope for entry in facts.imports if entry.kind == ImportKind.STAR}
    if is_passing or is_opened:  # other parts of a namespace decide, too
        symbols.owned.update(i for i, each in enumerate(facts.definitions) if each.kind == NodeKind.NAMESPACE)
    suite = settings.tests.suite if settings is not None else ""
    explicit = settings.names.explicit_pattern if settings is not None else ""
    implementing = {i for block in facts.implementations for i in range(block.first, block.end)}
    for i, definition in enumerate(facts.definitions):
        if definition.kind == NodeKind.HANDLER:
            continue  # which nothing can name
        if suite and definition.kind in CALLABLE_KINDS and re.match(suite, definition.signature):
            continue  # code never calls `TEST(Name) {…}`, nor `TEST_F(Suite, Name) {…}` as a member of the suite
        is_member = explicit and definition.kind in (NodeKind.METHOD, NodeKind.FIELD)
        if is_member and f".{definition.name}" in definition.signature and re.match(explicit, definition.signature):
            continue  # code calls `void ISaver.Save() {…}` by the interface, which has a member of this name
        if definition.parent == MODULE_SCOPE and "." in definition.qualname:
            symbols.holders.add(definition.qualname.rpartition(".")[0])
        if has_overloads and definition.kind in (_MEMBERS if is_opened else CALLABLE_KINDS):
            is_declared = definition.signature.startswith(declaring)
            if not is_declared:
                symbols.callables.setdefault(definition.qualname, []).append(first + i)
            if settings is not None and settings.names.callables_apart:
                continue
            named = symbols.by_qualname.setdefault(definition.qualname, first + i)
            if facts.definitions[named - first].signature.startswith(declaring) and not is_declared:
                symbols.by_qualname[definition.qualname] = first + i
            if not types_apart or facts.definitions[named - first].kind in CALLABLE_KINDS:
                continue
        before = symbols.by_qualname.setdefault(definition.qualname, first + i) - first
        if before == i:
            continue
        kinds = facts.definitions[before].kind, definition.kind
        if kinds == (NodeKind.TYPE, NodeKind.TYPE) and settings is not None and settings.modules.headers:
            symbols.aliases.setdefault(before, []).append(symbols.returns.get(i, ""))
        if NodeKind.FIELD in kinds and kinds[0] != kinds[1]:
            symbols.fields.setdefault(definition.qualname, first + (before if kinds[0] == NodeKind.FIELD else i))
        if settings is not None and settings.names.several and NodeKind.CLASS in kinds and kinds[0] != kinds[1]:
            of_class = first + (before if kinds[0] == NodeKind.CLASS else i)
            symbols.types[definition.qualname] = of_class
            symbols.by_qualname[definition.qualname] = 2 * first + before + i - of_class
            continue  # a generic name that makes instances
        if types_apart and kinds[0] in _MERE_TYPES and kinds[1] not in _MERE_TYPES:
            symbols.types[definition.qualname] = symbols.by_qualname[definition.qualname]
            symbols.by_qualname[definition.qualname] = first + i
            continue
        if types_apart and kinds[1] in _MERE_TYPES and kinds[0] not in _MERE_TYPES:
            symbols.types.setdefault(definition.qualname, first + i)
            continue
        parent = facts.definitions[definition.parent].kind if definition.parent >= 0 else NodeKind.NAMESPACE
        if is_mentioned and parent == NodeKind.NAMESPACE and kinds[1] in _REDEFINED:
            symbols.redefined.setdefault(definition.qualname, [first + before]).append(first + i)
            symbols.by_qualname[definition.qualname] = first + i  # what is defined again hides what was before
            continue
        if assigned and kinds[0] == NodeKind.CONSTANT and kinds[1] in CALLABLE_KINDS:
            symbols.by_qualname[definition.qualname] = first + i  # `var f; f = function () {}`
            continue
        gives_way = kinds[0] in _GIVE_WAY or (before in implementing and i not in implementing)
        if gives_way and kinds[1] not in _GIVE_WAY:
            symbols.by_qualname[definition.qualname] = first + i
    holds_functions = settings is not None and settings.modules.holds_functions
    for qualname, same in symbols.callables.items():  # a bare name means what is no member, or a property
        parent = facts.definitions[same[0] - first].parent
        if holds_functions or parent == MODULE_SCOPE or facts.definitions[parent].kind not in TYPE_KINDS:
            symbols.by_qualname.setdefault(qualname, same[0])
    for entry in facts.imports:
        if entry.kind == ImportKind.STAR and entry.alias:
            symbols.namespace_aliases[entry.alias] = entry.module
        elif entry.kind in (ImportKind.STAR, ImportKind.REEXPORT_ALL):
            symbols.stars.append(entry)
        elif entry.kind in (ImportKind.REEXPORT, ImportKind.REEXPORT_NAMESPACE):
            symbols.reexports.setdefault(entry.alias, entry)
        elif entry.kind != ImportKind.SIDE_EFFECT:
            local = entry.alias or entry.module.partition(".")[0]
            scope = MODULE_SCOPE if settings is not None and settings.modules.pasted else entry.scope
            symbols.imports.setdefault(scope, {}).setdefault(local, entry)
    for export in facts.exports:
        if export.exported.startswith(SEVERAL):
            symbols.specifics.setdefault(export.exported.removeprefix(SEVERAL), []).append(export.local)
            continue
        if export.exported.startswith(OPENED):
            continue
        if export.exported.startswith(CLASS_LEVEL):
            symbols.class_level.add(export.local)
            continue
        if export.exported.startswith(EXTENDED):
            symbols.extended.setdefault(export.exported.removeprefix(EXTENDED), []).append(export.local)
            continue
        if export.exported.startswith(DECLARED):
            symbols.declared[export.exported.removeprefix(DECLARED)] = export.local
            continue
        symbols.exports.setdefault(export.exported, export.local)
        if export.exported.startswith(FIXTURE_PREFIX):
            symbols.fixtures.add(export.local)
    _add_bindings(symbols, facts)
    if settings is not None and settings.modules.file_classes and facts.definitions and not names_own_class(facts):
        del symbols.by_qualname[facts.definitions[0].qualname]  # no name but its path leads to it
    return symbols


def settings_of(files: Iterable[FileSymbols]) -> list[LanguageSettings]:
    """Return the settings of the languages of some files, one for each language: reading those of all takes 50 ms."""
    return list({each.settings.name: each.settings for each in files if each.settings is not None}.values())


def names_own_class(facts: FileFacts) -> bool:
    """Return True for a file that is a class and names it itself."""
    return re.match(r"(?:.* )?class_name\b", facts.definitions[0].signature) is not None


def members_of_objects(facts: FileFacts, settings: LanguageSettings | None) -> frozenset[int]:
    """Return the numbers of functions of a file that are given to a member of an object: `app.use = function () {}`."""
    if settings is None or not settings.names.assigned_prefixes:
        return frozenset()
    around = facts.definitions
    return frozenset(
        i
        for i, each in enumerate(around)
        if each.kind == NodeKind.FUNCTION
        and "." in each.qualname
        and (each.parent < 0 or around[each.parent].kind not in CALLABLE_KINDS)
    )


def _add_bindings(symbols: FileSymbols, facts: FileFacts) -> None:
    has_unions = symbols.settings is not None and symbols.settings.types.unions
    has_branches = symbols.settings is not None and bool(symbols.settings.modules.headers)
    for binding in facts.bindings:
        scope = symbols.bindings.setdefault(binding.scope, {})
        previous = scope.get(binding.target)
        if previous is None or not (previous.type or previous.value):
            scope[binding.target] = binding
            if binding.target[:1] == NARROWED and "." in binding.target:
                symbols.checked.setdefault(binding.scope, []).append(binding.target[1:])
        elif binding.target[:1] == NARROWED and has_unions and binding.type not in previous.type.split("+"):
            scope[binding.target] = previous._replace(type=bounds_of((previous.type, binding.type)))
        elif (symbols.is_shaped and (binding.type or binding.value)) or (
            # Of a type or file, it stands in another branch of `#if`.
            has_branches
            and binding.type not in ("", previous.type)
            and (binding.target[:1] == "." or binding.scope == MODULE_SCOPE)
        ):
            symbols.several.setdefault((binding.scope, binding.target), [previous]).append(binding)


_MODULE_PROCEDURE = re.compile(r"module\s+procedure\b", re.IGNORECASE)


def _add_completed(symbols: FileSymbols) -> None:
    for position, bindings in symbols.completed.items():
        own = symbols.bindings.setdefault(position, {})
        for binding in bindings:
            own.setdefault(binding.target, binding)


def find_opened_namespaces(facts: FileFacts) -> tuple[str, ...]:
    """Return the namespaces whose names a file may use alone, the innermost first.

    These are the ones in which its top definitions stand, with those around them, and those that it uses as a whole.
    """
    owners = dict(facts.owners)
    namespaces: set[str] = set()
    for i, definition in enumerate(facts.definitions):
        if definition.parent == MODULE_SCOPE and "." in definition.qualname:
            namespace = definition.qualname.removesuffix(f".{definition.name}")
            namespace = namespace.removesuffix(owners[i]).rstrip(".") if i in owners else namespace
            while namespace:
                namespaces.add(namespace)
                namespace = namespace.rpartition(".")[0]
    used = [entry.module for entry in facts.imports if entry.kind == ImportKind.STAR and not entry.alias]
    return (*sorted(namespaces, key=lambda each: (-each.count("."), each)), *dict.fromkeys(used))


def open_inner_namespaces(files: Sequence[FileSymbols]) -> None:
    """Add the namespaces that files name from inside of others, where some file has a namespace of that name.

    In `namespace a`, `using namespace b` means `a::b`, and what `int b::f() {…}` holds is in `a::b`.
    """
    known = {namespace for symbols in files for namespace in symbols.opened_namespaces}
    stars = {star.module for symbols in files for star in symbols.stars} if known else set()
    inside: dict[str, set[str]] = {}  # namespace -> those of `stars` that are known in it
    for n_parts in {1 + star.count(".") for star in stars}:
        for namespace in known:
            around, *last = namespace.rsplit(".", n_parts)
            if len(last) == n_parts and (star := ".".join(last)) in stars:
                inside.setdefault(around, set()).add(star)
    for symbols in files if known else ():
        opened, definitions = symbols.opened_namespaces, symbols.facts.definitions
        owners = {definitions[i].qualname.removesuffix(f".{definitions[i].name}") for i, _ in symbols.facts.owners}
        inner = sorted((owners & known).difference(opened), key=lambda each: (-each.count("."), each))
        modules = {star.module for star in symbols.stars} if inside else set()
        used = {f"{each}.{star}" for each in opened if each in inside for star in modules & inside[each]}
        if inner or used:
            symbols.opened_namespaces = (*inner, *opened, *sorted(used.difference(opened, inner)))


class TestSubject(NamedTuple):
    """File that tests may be named after.

    `folder` is where the file stands, or where the folder does that it stands for.
    """

    number: int
    folder: str


class FolderIds(NamedTuple):
    """Numbers of folders.

    `of_file`: shape (n_files,), the number of the folder of each file. `is_code`: true for files in a language with a
    grammar.
    """

    of_file: NDArray[np.int64]
    n: int
    is_code: NDArray[np.bool_]


@dataclass(slots=True)
class FileGroups:
    """Groups of the files of one program, made when first used. The files are given each time."""

    _ids: tuple[NodeId, ...] | None = None
    _folders: FolderIds | None = None
    _subjects: dict[tuple[str, str], list[TestSubject]] | None = None

    def ids(self, files: Sequence[FileSymbols]) -> tuple[NodeId, ...]:
        """Return the id of each file, computed on the first call."""
        if self._ids is None:
            self._ids = tuple(file_id(each.path) for each in files)
        return self._ids

    def folders(self, files: Sequence[FileSymbols]) -> FolderIds:
        """Return the folder number of each file, computed on the first call."""
        if self._folders is None:
            numbers: dict[str, int] = {}
            of_file = [numbers.setdefault(each.path.rpartition("/")[0], len(numbers)) for each in files]
            is_code = np.array([each.settings is not None for each in files], dtype=np.bool_)
            self._folders = FolderIds(np.array(of_file, dtype=np.int64), len(numbers), is_code)
        return self._folders

    def subjects(self, files: Sequence[FileSymbols]) -> Mapping[tuple[str, str], Sequence[TestSubject]]:
        """Return the files of code that tests may be named after, by language and name."""
        if self._subjects is None:
            self._subjects = {}
            for number, symbols in enumerate(files):
                settings = symbols.settings
                if settings is not None and settings.tests.names and role_of(symbols.path) == Role.CODE:
                    folder, _, file = symbols.path.rpartition("/")
                    name = file.partition(".")[0]
                    if name in settings.modules.index_stems and folder:
                        folder, _, name = folder.rpartition("/")  # the file stands for its folder
                    key = settings.family, name.lstrip("_")
                    self._subjects.setdefault(key, []).append(TestSubject(number, folder))
        return self._subjects


def chains_of_parts(facts: FileFacts) -> list[str]:
    """Return the names of several parts that a file uses."""
    chains = [call.callee for call in facts.calls] + [reference.name for reference in facts.references]
    chains += [base.name for base in facts.bases] + [binding.type for binding in facts.bindings]
    return [chain for chain in chains if "." in chain]


def function_around(facts: FileFacts, number: int) -> int:
    """Return the innermost function or block with a name that a definition stands in, or -1."""
    parent = facts.definitions[number].parent
    while parent >= 0 and facts.definitions[parent].kind not in CALLABLE_KINDS:
        parent = facts.definitions[parent].parent
    return parent
