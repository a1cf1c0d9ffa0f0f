"""Linking: all edges that leave a file, found by resolving what the file uses.

In: the facts of all files. Out: edges of containment, imports, bases, calls, references, reads, writes and mentions,
in an `EdgeCollector`. Tests and layers come later (`graph.build`).

An import of a package that is several files leads to those that define what the importing file uses of it. An import
for its side effects, or without a use, leads to the files with code that runs when the package is loaded, else to the
one file that stands for the package.

Reads and writes of state lead to constants and variables of files and to fields of types. A holder of which nothing is
known gives nothing; variants of enumerations are no state.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from causalist import errors
from causalist._internal.lazy import dataclass, field
from causalist._internal.stage_clock import stage
from causalist.graph.candidate_choice import NameCandidates, find_deferred
from causalist.graph.file_symbols import FileSymbols
from causalist.graph.imports.declared_packages import first_names_in, qualify_import
from causalist.graph.imports.modules import find_script
from causalist.graph.infer.inference import Inference
from causalist.graph.node_and_edge_arrays import EdgeCollector, NodeDrafts
from causalist.graph.program import Program
from causalist.graph.relations.mentions import MentionResolver
from causalist.graph.relations.message_handlers import CallingMacros
from causalist.graph.relations.overrides import OverrideFinder, StructuralTypes
from causalist.graph.resolution_results import Value, ValueKind
from causalist.graph.resolver import BaseLink, Resolver
from causalist.graph.rules import RuleName
from causalist.model.facts import MODULE_SCOPE, OPERATED, UNCOUNTED, AccessKind, FileFacts, Import, ImportKind, Lookup
from causalist.model.graph import EdgeKind
from causalist.model.language_settings import LanguageSettings, LookupSettings, ModuleSystem
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind, Role, declared_as, defining_path
from causalist.model.type_notation import DECORATED, STRING_TARGET, split_calls, split_generic, split_marks

_HOLDERS = frozenset(
    {ValueKind.INSTANCE, ValueKind.SUPER, ValueKind.DEFINITION, ValueKind.MODULE, ValueKind.PARTIAL_PACKAGE}
)
_FIRST_NAME = re.compile(r"\w+")


class AccessTarget(NamedTuple):
    """Definition that a part of a chain means. `is_last`: the part ends the chain."""

    definition: int
    rule: str
    is_last: bool


@dataclass(slots=True)
class AccessResolver:
    """State in all files of a program whose bases are known."""

    program: Program
    inference: Inference
    _used: dict[tuple[int, int, str, bool], tuple[AccessTarget, ...]] = field(default_factory=dict)

    def clear_cache(self) -> None:
        """Forget the cached targets of accesses."""
        self._used.clear()

    def find_targets(self, file: int, scope: int, chain: str, outer: bool = False) -> tuple[AccessTarget, ...]:
        """Return what the parts of a chain hold, from left to right, as far as it is known.

        With `outer` its first name means one of the file, whatever is bound around.
        """
        scope = self.inference.deciding_scope(file, scope, chain)
        key = file, scope, chain, outer
        cached = self._used.get(key)
        if cached is None:
            cached = self._used[key] = tuple(self._walk_chain(file, scope, chain, outer))
        return cached

    def find_function(self, file: int, scope: int, chain: str) -> AccessTarget | None:
        """Return the function or method that a whole chain denotes without a call, if known."""
        if "(" in chain or chain[:1] in "?<":
            return None
        settings = self.program.files[file].settings
        if settings is None or chain in settings.names.self_names or chain in settings.names.super_names:
            return None  # `super` alone stands for the constructor, and is what the next name belongs to
        value = self.inference.infer_chain(file, scope, chain)
        if value is None or value.kind is not ValueKind.DEFINITION:
            return None
        is_function = self.program.definition_of[value.number].kind in CALLABLE_KINDS
        return AccessTarget(value.number, value.rule, True) if is_function else None

    def _walk_chain(self, file: int, scope: int, chain: str, outer: bool) -> Iterator[AccessTarget]:
        settings = self.program.files[file].settings
        if settings is None or chain[:1] in "?<":
            return
        parts = chain.split(".")
        for i, part in enumerate(parts):
            name, marks = split_marks(part) if settings.types.prefixed else split_calls(part)
            if not name or name == "?":
                return
            if i == 0:
                access = self._find_bare_name(file, scope, name, settings, outer)
            else:
                holder = self._find_holder(file, scope, ".".join(parts[:i]))
                if holder is None:
                    return
                access = self._find_member(file, scope, holder, parts[:i], name)
            if access is not None:
                yield access._replace(is_last=i == len(parts) - 1)
            if marks:
                return  # what a call gives, or an element, is another thing

    def _find_bare_name(
        self, file: int, scope: int, name: str, settings: LanguageSettings, outer: bool
    ) -> AccessTarget | None:
        if name in settings.names.self_names or name in settings.names.super_names:
            return None
        if outer:
            number = self.program.files[file].by_qualname.get(name, -1)
            if number >= 0:
                return self._target_of_state(number, RuleName.SAME_FILE)
            target = self._target_of_value(self.inference.infer_chain(file, MODULE_SCOPE, name))
            if target is not None:
                return target
        return self._target_of_value(self.inference.infer_chain(file, scope, name))

    def _find_holder(self, file: int, scope: int, chain: str) -> Value | None:
        """Return the value of a chain that may hold something; None for what nothing is known of."""
        program = self.program
        holder = self.inference.infer_chain(file, scope, chain)
        if holder is None or holder.kind not in _HOLDERS:
            return None
        if holder.kind is not ValueKind.DEFINITION or program.is_type_like(holder.number):
            return holder
        if not program.is_value(holder.number):
            return None
        content = self.inference.content_of(holder.number)
        if content is None or content.kind is not ValueKind.INSTANCE:
            return None
        is_field = program.definition_of[holder.number].kind == NodeKind.FIELD
        return content._replace(rule=RuleName.ATTRIBUTE_TYPE) if is_field else content

    def _find_member(self, file: int, scope: int, holder: Value, before: list[str], name: str) -> AccessTarget | None:
        if holder.kind in (ValueKind.MODULE, ValueKind.PARTIAL_PACKAGE):
            return self._target_of_value(self.inference.infer_chain(file, scope, ".".join([*before, name])))
        for owner in (holder.number, *holder.also):
            target = self._find_in_type(
                owner, name, RuleName.CLASS_ATTRIBUTE if holder.kind is ValueKind.DEFINITION else holder.rule
            )
            if target is not None:
                return target
        return None

    def _find_in_type(self, owner: int, name: str, rule: str) -> AccessTarget | None:
        program = self.program
        number = program.find_hidden_field(owner, name)
        inherited = False
        if number < 0:
            number, inherited = program.find_member(owner, name)
        if inherited and rule == RuleName.SELF:
            rule = RuleName.INHERITED
        if number >= 0:
            return self._target_of_state(number, rule)
        return None

    def _target_of_value(self, value: Value | None) -> AccessTarget | None:
        return (
            self._target_of_state(value.number, value.rule)
            if value is not None and value.kind is ValueKind.DEFINITION
            else None
        )

    def _target_of_state(self, number: int, rule: str) -> AccessTarget | None:
        return AccessTarget(number, rule, False) if self.holds_state(number) else None

    def holds_state(self, number: int) -> bool:
        """Return True if a definition holds state; functions, types and enumeration variants do not."""
        program = self.program
        if not program.is_value(number):
            return False
        parent = program.parent(number)
        return parent < 0 or program.definition_of[parent].kind != NodeKind.ENUM


def matches_lookup(inference: Inference, file: int, lookup: Lookup, settings: LookupSettings) -> bool:
    """Return True if the receiver of a look-up by key matches `settings` and is not defined in the repository."""
    if not settings.modules and not settings.globals:
        return True
    head = lookup.head or _FIRST_NAME.findall(settings.word)[0]
    value = inference.infer_chain(file, lookup.scope, head)
    if value is None or value.kind is ValueKind.BUILTIN:
        return head in settings.globals
    return value.kind is ValueKind.EXTERNAL and (value.name in settings.modules or head in settings.globals)


_LOADED = "init"  # runs when the package is loaded


@dataclass(slots=True)
class PackageImports:
    """Files that imports of packages lead to. The uses of the last file asked for are kept."""

    program: Program
    _file: int = -1
    _members: dict[str, set[str]] = field(default_factory=dict)  # first name of a chain -> second names

    def has_folder_imports(self, file: int) -> bool:
        """Return True if a package in the language of a file is a folder."""
        settings = self.program.files[file].settings
        return settings is not None and settings.modules.system is ModuleSystem.FOLDER

    def files_of(self, file: int, target: int, entry: Import) -> list[int]:
        """Return the numbers of the files that an import in `file` of the package of the file `target` leads to."""
        if file != self._file:
            self._file, self._members = file, _members_of(self.program.files[file])
        program = self.program
        symbols = program.files[file]
        used: set[str] = set()
        if entry.kind == ImportKind.STAR:
            own = program.packages.find_definition
            used = {head for head in self._members if own(file, head, program.files) is None}
        else:
            for local, each in symbols.imports.get(MODULE_SCOPE, {}).items():
                if each is entry:
                    used = self._members.get(local, set())
        files = set()
        for name in used:
            number = program.packages.find_definition(target, name, program.files, asking=file)
            if number is not None:
                files.add(program.file_of[number])
        if not files:
            key = program.packages.package_of[target]
            assert key is not None
            files = {each for each in program.packages.files_of[key] if _LOADED in program.files[each].by_qualname}
        return sorted(files or {target})


def _members_of(symbols: FileSymbols) -> dict[str, set[str]]:
    facts = symbols.facts
    result: dict[str, set[str]] = {}
    for rows in (facts.calls, facts.references):
        for row in rows:
            _add(result, row[1])
    for base in facts.bases:
        _add(result, split_generic(base.name)[0])
    return result


def _add(members: dict[str, set[str]], chain: str) -> None:
    head, *rest = chain.split(".", 2)
    members.setdefault(split_marks(head)[0], set()).update(split_marks(each)[0] for each in rest[:1])


class LinkError(Exception):
    """A use in a file could not be followed to its end, by a defect of this program; says what was raised."""


@dataclass(slots=True)
class Linker:
    """Collector of the edges that leave files, all or some of them.

    The result for one file does not depend on which others were linked before it: every file begins with empty caches.
    A search that was cut short, because it led back to where it came from or too far, would be remembered otherwise as
    another file came to it.
    """

    program: Program
    resolver: Resolver
    drafts: NodeDrafts
    collector: EdgeCollector
    _types: tuple[list[BaseLink], list[tuple[int, int]]] | None = None  # bases, and (type, interface) by methods alone
    _imports: PackageImports = field(init=False)
    _accesses: AccessResolver = field(init=False)
    _macros: CallingMacros = field(init=False)
    _mentions: MentionResolver = field(init=False)
    _defined: dict[int, int] = field(init=False)  # what an interface file declares -> its definition, as drafts

    @classmethod
    def from_files(
        cls,
        files: Sequence[tuple[str, FileFacts]],
        settings: Mapping[str, LanguageSettings],
        links: Sequence[tuple[str, str]] = (),
    ) -> "Linker":
        """Build a linker of a repository; `settings` are by dialect name, `links` those of the scan."""
        program = Program.from_files(files, settings, links)
        return cls(program, Resolver(program), NodeDrafts(program), EdgeCollector())

    def __post_init__(self) -> None:
        self._imports = PackageImports(self.program)
        self._accesses = AccessResolver(self.program, self.resolver.inference)
        self._macros = CallingMacros(self.program, self.resolver.resolve)
        self._mentions = MentionResolver(self.program, self.drafts)
        self._defined = {
            self.drafts.of_definition(one): self.drafts.of_definition(other)
            for one, other in _declared_elsewhere(self.program)
        }

    def relink(self, changed: Mapping[int, FileFacts]) -> "Linker | None":
        """Return a linker of the same files, of which some changed and look the same from all others.

        It has no edges yet, and this one is not to be used any more. Returns None, with nothing changed, where the
        tables of one of these files do not follow from it alone (`Program.is_self_contained`).
        """
        if not all(self.program.is_self_contained(number) for number in changed):
            return None
        for number, facts in changed.items():
            self.program.replace_file(number, facts)
        self.resolver.name_candidates = NameCandidates(self.program)  # which know what stands in bodies
        return Linker(self.program, self.resolver, NodeDrafts(self.program), EdgeCollector(), self._types)

    def link(self, number: int) -> None:
        """Add all edges that leave a file except those of `add_bases` and those that follow from others.

        Raises LinkError with those of them in place that were found until then.
        """
        try:
            self._link(number)
        except Exception as error:
            if not errors.is_recoverable(error):
                raise
            self.resolver.discard()
            raise LinkError(type(error).__name__) from error

    def release_tables(self) -> None:
        """Drop references back to the program, so that its last use frees facts and tables.

        Nothing can be resolved after that.
        """
        self.program.packages.included = None
        self.resolver.release_tables()

    def _link(self, number: int) -> None:
        for document in self.drafts.documents(number):
            draft = self.drafts[document]
            self.collector.add(draft.parent, document, EdgeKind.CONTAINS, RuleName.CONTAINS, draft.start_row)
            # A function hands on the handlers in it. A file does as it is loaded, and a group of tests to run them.
            if draft.kind is NodeKind.HANDLER and draft.parent != draft.file and draft.role != Role.TEST:
                self.collector.add(draft.parent, document, EdgeKind.REFERENCES, RuleName.SAME_FILE, draft.start_row)
        facts = self.program.files[number].facts
        if not (facts.imports or facts.calls or facts.references or facts.bindings or facts.accesses
                or facts.lookups or facts.mentions):  # fmt: skip
            return  # data, and what is not parsed
        self.resolver.clear_cache()
        self._accesses.clear_cache()
        with stage("link: imports"):
            self._add_imports(number)
        with stage("link: uses"):
            self._add_uses(number)
            self._add_fixtures(number)
        with stage("link: states"):
            self._add_states(number)
        with stage("link: mentions"):
            for source, target, row in self._mentions.find_edges(number):
                self._add_edge(source, target.draft, EdgeKind.MENTIONS, target.rule, row, target.candidates)

    def add_bases(self, only: Collection[int] | None = None) -> None:
        """Add edges to bases and overridden methods that leave all files, or some. Call it before `link`."""
        file_of = self.program.file_of
        if self._types is None:
            derived = self.resolver.prepare()
            outside = self.resolver.inference.derived_from_outside
            self._types = derived, list(StructuralTypes(self.program).find_implementations(outside))
        derived, by_method_set = self._types
        for base in derived:
            owner, target = base.owner, base.target
            if only is not None and file_of[owner] not in only:
                continue
            is_interface = self.program.definition_of[target.definition].kind == NodeKind.INTERFACE
            derives = is_interface and self.program.definition_of[owner].kind != NodeKind.INTERFACE
            kind = EdgeKind.IMPLEMENTS if base.implements or derives else EdgeKind.EXTENDS
            if self.program.is_alias(target.definition):
                kind = EdgeKind.REFERENCES  # a type made of others, which may be less than they are: `Omit<A, "b">`
            row = self.resolver.current_row(base)
            self._add_edge(
                self.drafts.of_definition(owner), self.drafts.of_definition(target.definition), kind, target.rule, row
            )
        for owner, interface in by_method_set:
            if only is not None and file_of[owner] not in only:
                continue
            source, goal = self.drafts.of_definition(owner), self.drafts.of_definition(interface)
            self._add_edge(source, goal, EdgeKind.IMPLEMENTS, RuleName.METHOD_SET, self.drafts[source].start_row)
        for over in OverrideFinder(self.program).find(self.resolver.blocks(), by_method_set, only):
            if only is not None and file_of[over.method] not in only:
                continue
            source = self.drafts.of_definition(over.method)
            row = self.drafts[source].start_row
            self._add_edge(source, self.drafts.of_definition(over.base), EdgeKind.OVERRIDES, over.rule, row)

    def _add_imports(self, number: int) -> None:
        symbols = self.program.files[number]
        if symbols.settings is not None and symbols.settings.modules.system is ModuleSystem.DECLARED:
            self._add_declared_imports(number, symbols.settings)
            return
        has_headers = symbols.settings is not None and bool(symbols.settings.modules.headers)
        for entry in symbols.facts.imports:
            if entry.kind == ImportKind.TYPE:
                continue
            if has_headers and entry.kind == ImportKind.STAR:
                continue  # a namespace, which is no file
            target, rule = self.program.target_module(number, entry)
            if self._imports.has_folder_imports(number) and target >= 0:
                for file in self._imports.files_of(number, target, entry):
                    self._add_edge(number, file, EdgeKind.IMPORTS, rule, entry.row)
                continue
            below = self._imported_module(number, target, entry)
            if below >= 0:
                self._add_edge(number, below, EdgeKind.IMPORTS, RuleName.PATH, entry.row)
            elif target >= 0:
                self._add_edge(number, target, EdgeKind.IMPORTS, rule, entry.row)
            elif self.program.tree_paths.tree.has_file(number):
                package = self.program.tree_paths.find_target(number, entry)[2]
                if package:
                    self._add_external_edge(number, package, EdgeKind.IMPORTS, entry.row)
            elif symbols.settings is not None and not entry.level and not entry.module.startswith("."):
                external = self.program.external_resolution(number, entry)
                self._add_external_edge(number, external.name, EdgeKind.IMPORTS, entry.row)

    def _add_declared_imports(self, number: int, settings: LanguageSettings) -> None:
        symbols, declared = self.program.files[number], self.program.declared
        own = {each.name for each in symbols.facts.definitions if each.kind in TYPE_KINDS} if symbols.stars else ()
        used = first_names_in(symbols.facts).difference(own) if symbols.stars else frozenset()
        for entry in symbols.facts.imports:
            if entry.kind == ImportKind.SIDE_EFFECT:
                included = find_script(self.program.modules.number, symbols.path, entry.module, settings.modules)
                if included >= 0:
                    self._add_edge(number, included, EdgeKind.IMPORTS, RuleName.PATH, entry.row)
                elif settings.modules.folders and settings.modules.external_parts and entry.module[:1] not in "./":
                    self._add_external_edge(number, entry.module.partition("/")[0], EdgeKind.IMPORTS, entry.row)
                continue
            entry = qualify_import(declared, symbols, entry)
            files = declared.find_imported_files(settings.family, entry, symbols.path, used)
            if files is None and settings.modules.namespaces:
                files = self.resolver.name_lookup.find_imported_files(settings, symbols, entry) or None
            for target in files or ():
                self._add_edge(number, target, EdgeKind.IMPORTS, RuleName.PATH, entry.row)
            if files is None:
                package = self.program.external_resolution(number, entry)
                self._add_external_edge(number, package.name, EdgeKind.IMPORTS, entry.row)

    def _imported_module(self, number: int, package: int, entry: Import) -> int:
        """Return the module's file, not the package's, of `from package import module`, or -1."""
        symbols = self.program.files[number]
        if entry.kind not in (ImportKind.NAME, ImportKind.REEXPORT) or symbols.settings is None:
            return -1
        if package >= 0:
            if entry.name in self.program.files[package].by_qualname:
                return -1
            return self.program.modules.find_submodule(package, entry.name, symbols.settings.modules)
        return self.program.modules.find_namespace_submodule(
            symbols.path, entry.module, entry.level, entry.name, symbols.settings.modules
        )

    def _add_states(self, number: int) -> None:
        """Add reads and writes of state that a file's chains, accesses and look-ups by key make.

        The meaning of a chain as a whole is read where it is used.
        """
        symbols = self.program.files[number]
        facts = symbols.facts
        # Where types stand before the names, members that are handed on are references already.
        has_typed_references = symbols.settings is not None and symbols.settings.types.prefixed
        referenced = (
            {(each.scope, each.name, each.row) for each in facts.references} if has_typed_references else frozenset()
        )
        for access in facts.accesses:
            self._add_state(number, access.scope, access.name, access.row, access.how, "." not in access.name)
            if access.how == AccessKind.READ and (access.scope, access.name, access.row) not in referenced:
                self._add_function(number, access.scope, access.name, access.row)
        # `serve::run` is in the module of that name, whatever else is called so.
        is_path = symbols.settings is not None and bool(symbols.settings.names.path_separator)
        bare = {(a.scope, a.name) for a in facts.accesses if "." not in a.name}
        own = (
            symbols.settings.names.self_names if symbols.settings is not None else ()
        )  # which hold no value themselves
        written = (call for call in reversed(facts.calls) if call.arguments != OPERATED)
        chains = {(call.scope, call.callee): call.row for call in written}
        writes = {(a.scope, a.name, a.row) for a in facts.accesses if a.how == AccessKind.WRITE}
        for each in reversed(facts.references):
            if (each.scope, each.name, each.row) not in writes:
                chains[each.scope, each.name.partition("::")[0]] = each.row
        for (scope, chain), row in chains.items():
            head = chain.partition(".")[0]
            if bare and (scope, head) in bare:
                self._add_state(number, scope, chain, row, AccessKind.READ, True)
            elif "." in chain and (holder := chain.rpartition(".")[0]) not in own:
                self._add_state(number, scope, holder, row, AccessKind.READ, False)
                if not is_path:
                    self._add_function(number, scope, holder, row)
        for lookup in facts.lookups:
            assert symbols.settings is not None
            key_settings = symbols.settings.lookups[lookup.way]
            if matches_lookup(self.resolver.inference, number, lookup, key_settings):
                kind = EdgeKind.WRITES if lookup.writes else EdgeKind.READS
                rule = RuleName.NAMED_KEY if key_settings.modules or key_settings.globals else RuleName.KEY_OF_CONFIG
                source = self._scope_draft(number, lookup.scope)
                self._add_external_edge(source, f"{key_settings.kind}:{lookup.key}", kind, lookup.row, rule)

    def _add_state(self, number: int, scope: int, chain: str, row: int, how: int, is_outer: bool) -> None:
        source = self._scope_draft(number, scope)
        for used in self._accesses.find_targets(number, scope, chain, is_outer):
            target = self.drafts.of_definition(used.definition)
            if not used.is_last or how != AccessKind.WRITE:
                self._add_edge(source, target, EdgeKind.READS, used.rule, row)
            if used.is_last and how != AccessKind.READ:
                self._add_edge(source, target, EdgeKind.WRITES, used.rule, row)

    def _add_function(self, number: int, scope: int, chain: str, row: int) -> None:
        """Add a reference to the function or method that a chain is as a value.

        It may be handed on (`self.save`), asked for a member (`save.delay()`), or called by reading it, as a property
        is.
        """
        used = self._accesses.find_function(number, scope, chain)
        if used is not None:
            source, target = self._scope_draft(number, scope), self.drafts.of_definition(used.definition)
            if (source, target, int(EdgeKind.CALLS)) not in self.collector.edges:
                self._add_edge(source, target, EdgeKind.REFERENCES, used.rule, row)

    def _scope_draft(self, number: int, scope: int) -> int:
        return number if scope == MODULE_SCOPE else self.drafts.of_definition(self.program.files[number].first + scope)

    def _add_fixtures(self, number: int) -> None:
        """Add calls of the fixtures whose results tests get as parameters."""
        symbols = self.program.files[number]
        if symbols.settings is None or not symbols.settings.tests.fixtures or self.drafts[number].role != Role.TEST:
            return
        for binding in symbols.facts.bindings:
            if binding.scope >= 0 and not binding.value and binding.target.isidentifier():
                fixture = self.resolver.name_lookup.find_fixture(number, binding.scope, binding.target)
                if fixture >= 0:
                    source = self._scope_draft(number, binding.scope)
                    target = self.drafts.of_definition(fixture)
                    self._add_edge(source, target, EdgeKind.CALLS, RuleName.FIXTURE, binding.row)

    def _add_uses(self, number: int) -> None:
        symbols = self.program.files[number]
        self._add_decorators(number)
        n_writes = Counter((a.scope, a.name, a.row) for a in symbols.facts.accesses if a.how == AccessKind.WRITE)
        calls: dict[tuple[int, str, str, str], list[int]] = {}  # -> first row, number of sites
        for call in symbols.facts.calls:
            sites = calls.setdefault((call.scope, call.callee, call.arguments, call.values), [call.row, 0])
            sites[0] = min(sites[0], call.row)
            sites[1] += 1
        for (scope, callee, arguments, values), (row, n) in calls.items():
            if arguments == OPERATED:
                source = self._scope_draft(number, scope)
                for called, rule, candidates in self.resolver.inference.special_methods(number, scope, callee):
                    target = self.drafts.of_definition(called)
                    self._add_edge(source, target, EdgeKind.CALLS, rule, row, candidates, n)
                continue
            self._add_use(number, symbols.first, scope, callee, row, EdgeKind.CALLS, arguments, n=n, values=values)
        references: dict[tuple[int, str, bool], list[int]] = {}  # -> first row, number of sites
        for reference in symbols.facts.references:
            if self._macros.runs(number, reference):
                self._add_use(number, symbols.first, reference.scope, reference.name, reference.row, EdgeKind.CALLS)
                continue
            key = reference.scope, reference.name, reference.row
            reads = not n_writes or not n_writes[key]
            if not reads:
                n_writes[key] -= 1  # the use that is the writing
            sites = references.setdefault((reference.scope, reference.name, reads), [reference.row, 0])
            sites[0] = min(sites[0], reference.row)
            sites[1] += 1
        for (scope, name, reads), (row, n) in references.items():
            if name.startswith(STRING_TARGET):
                self._add_string_target(number, scope, name.removeprefix(STRING_TARGET), row, n)
            else:
                self._add_use(number, symbols.first, scope, name, row, EdgeKind.REFERENCES, reads=reads, n=n)

    def _add_decorators(self, number: int) -> None:
        """Add references of functions and classes to their decorators, which decide what their names mean."""
        symbols = self.program.files[number]
        decorators = [each for each in symbols.facts.bindings if each.target.startswith(DECORATED)]
        if not decorators:
            return
        named: dict[tuple[int, str], list[int]] = {}
        for local, definition in enumerate(symbols.facts.definitions):
            named.setdefault((definition.parent, definition.qualname.rpartition(".")[2]), []).append(local)
        for decorator in decorators:
            for local in named.get((decorator.scope, decorator.target.removeprefix(DECORATED)), ()):
                definition = symbols.facts.definitions[local]
                if not definition.start_row <= decorator.row <= definition.end_row:
                    continue
                targets, _ = self.resolver.resolve(
                    number, decorator.scope, decorator.value.removesuffix("()"), guess=True
                )
                for target in targets:
                    source, draft = self._scope_draft(number, local), self.drafts.of_definition(target.definition)
                    self._add_edge(source, draft, EdgeKind.REFERENCES, target.rule, decorator.row, target.candidates)

    def _add_string_target(self, number: int, scope: int, name: str, row: int, n: int) -> None:
        """Add a reference to the definition, or to the file of a build, whose name is in `n` strings."""
        lookup, settings = self.resolver.name_lookup, self.program.files[number].settings
        is_label = settings is not None and settings.modules.labels
        target, file = lookup.find_labelled(number, name) if is_label else (lookup.find_named(number, name), -1)
        source, draft = self._scope_draft(number, scope), self.drafts.of_definition(target) if target >= 0 else file
        if draft >= 0 and draft != source:
            self._add_edge(source, draft, EdgeKind.REFERENCES, RuleName.STRING_TARGET, row, n=n)

    def _add_use(
        self,
        file: int,
        first: int,
        scope: int,
        chain: str,
        row: int,
        kind: EdgeKind,
        arguments: str = UNCOUNTED,
        reads: bool = True,
        n: int = 1,
        values: str = "",
    ) -> None:
        guess = kind is EdgeKind.CALLS
        targets, package = self.resolver.resolve(file, scope, chain, guess=guess, arguments=arguments, values=values)
        source = file if scope == MODULE_SCOPE else self.drafts.of_definition(first + scope)
        if guess and (later := find_deferred(self.resolver.inference, file, scope, chain)) >= 0:
            self._add_edge(source, self.drafts.of_definition(later), EdgeKind.EMITS, RuleName.DEFERRED, row, n=n)
            return
        for target in targets:
            draft = self.drafts.of_definition(target.definition)
            called = kind
            if kind is EdgeKind.CALLS and (
                self.drafts[draft].kind in (NodeKind.CONSTANT, NodeKind.FIELD) or self._is_conversion(target.definition)
            ):
                called = EdgeKind.REFERENCES  # what the called value holds is not known, or it is no code
            if called is EdgeKind.REFERENCES and draft == source:
                continue
            self._add_edge(source, draft, called, target.rule, row, target.candidates, n)
            if called is EdgeKind.REFERENCES and reads and self._accesses.holds_state(target.definition):
                self._add_edge(source, draft, EdgeKind.READS, target.rule, row, target.candidates, n)
        is_open = guess and not package
        if is_open and targets:
            definitions = self.program.definition_of
            is_open = all(definitions[target.definition].kind == NodeKind.FIELD for target in targets)
        kept = self.resolver.kept.find(file, chain) if is_open else ()
        for function in kept:
            draft = self.drafts.of_definition(function)
            self._add_edge(source, draft, EdgeKind.CALLS, RuleName.KEPT, row, len(kept), n)
        if package:
            self._add_external_edge(source, package, kind, row, n=n)
        elif is_open and not targets and not kept and self.resolver.is_unknown(file, scope, chain, arguments):
            last = chain.rpartition(".")[2]
            self.collector.add_unresolved(source, "?" if last.endswith("()") else last, row, n)

    def _is_conversion(self, definition: int) -> bool:
        """Return True if a call of the definition is a type conversion."""
        settings, kind = (
            self.program.files[self.program.file_of[definition]].settings,
            self.program.definition_of[definition].kind,
        )
        if settings is not None and settings.name == "c":  # `(u8)(x)`: objects are not made by calling a type
            return kind in (NodeKind.TYPE, *TYPE_KINDS)
        if settings is not None and settings.modules.headers and kind in (NodeKind.TYPE, NodeKind.ENUM):
            return True  # of a name for a class that class is called, and an enumeration makes no object
        if settings is not None and settings.types.listed and kind == NodeKind.INTERFACE:  # `IShop(where)`
            return True
        return settings is not None and settings.types.prefixed and self.program.is_type(definition)

    def _add_edge(
        self, source: int, target: int, kind: EdgeKind, rule: str, row: int, candidates: int = 1, n: int = 1
    ) -> None:
        target = self._defined.get(target, target)
        if source == target and kind is not EdgeKind.CALLS:
            return
        self.collector.add(source, target, kind, rule, row, candidates, n)

    def _add_external_edge(
        self, source: int, package: str, kind: EdgeKind, row: int, rule: str = RuleName.EXTERNAL, n: int = 1
    ) -> None:
        self.collector.add(source, self.drafts.of_external(package), kind, rule, row, n=n)


def _declared_elsewhere(program: Program) -> Iterator[tuple[int, int]]:
    """Yield what files only declare, each with its definition in the file that has the bodies."""
    numbers = {symbols.path: number for number, symbols in enumerate(program.files)}
    for declaring in program.files:
        beside = numbers.get(defining_path(declaring.path))
        if beside is None:
            continue
        defining = program.files[beside]
        definitions = enumerate(defining.facts.definitions, defining.first)
        in_order = sorted(
            definitions, key=lambda pair: (pair[1].kind == NodeKind.FIELD, pair[0])
        )  # as ids are numbered
        last = {(each.qualname, declared_as(each.kind)): number for number, each in in_order}
        by_profile = {(each.qualname, _profile(program, number)): number for number, each in in_order}
        for number, each in enumerate(declaring.facts.definitions, declaring.first):
            if (other := last.get((each.qualname, declared_as(each.kind)))) is not None:
                yield number, by_profile.get((each.qualname, _profile(program, number)), other)


def _profile(program: Program, number: int) -> str:
    """Return the parameters of an overloaded definition where declarations hold in regions; "" for all others."""
    symbols = program.files[program.file_of[number]]
    if symbols.settings is None or not symbols.settings.names.regions:
        return declared_as(program.definition_of[number].kind).name
    taken = (each.rstrip("=").partition(":")[::2] for each in program.parameters.get(number, ()))
    return ";".join(f"{name}:{type_.rpartition('.')[2]}" for name, type_ in taken)
