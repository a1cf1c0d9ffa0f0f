"""The edges of a program: containment, imports, bases, calls, references, reads and writes, file by file."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from causalist import errors
from causalist.graph.drafts import Drafts
from causalist.graph.guesses import Guesses
from causalist.graph.imports.packages import names_in
from causalist.graph.imports.projects import whole
from causalist.graph.package_imports import PackageImports
from causalist.graph.program.namespaces import imported_files as below_package
from causalist.graph.program.namespaces import included_file
from causalist.graph.program.overloads import UNCOUNTED
from causalist.graph.program.program import Program
from causalist.graph.program.replaced import is_by_itself, replace_file
from causalist.graph.program.spaces import is_alias
from causalist.graph.relations.accesses import States, is_asked
from causalist.graph.relations.mentions import Mentions
from causalist.graph.relations.overrides import overrides
from causalist.graph.relations.structural_types import implementations
from causalist.graph.resolver import Derived, Resolver
from causalist.graph.tables import EdgeCollector
from causalist.model.facts import MODULE_SCOPE, AccessKind, FileFacts, Import, ImportKind
from causalist.model.graph import EdgeKind
from causalist.model.language import LanguageSettings, ModuleSystem
from causalist.model.symbols import TYPE_KINDS, NodeKind


class NotLinked(Exception):
    """What a file uses could not be followed to its end, which is a defect of this program; says what was raised."""


@dataclass(slots=True)
class Linker:
    """Collects the edges that leave files, all or some of them.

    What is found for one file does not depend on which others were linked before it: every file begins with nothing
    looked up. What was cut short because it led back to where it came from, or too far, would be remembered otherwise
    as the other file came to it.
    """

    program: Program
    resolver: Resolver
    drafts: Drafts
    collector: EdgeCollector
    _types: tuple[list[Derived], list[tuple[int, int]]] | None = None  # bases, and (type, interface) by methods alone
    _imports: PackageImports = field(init=False)
    _states: States = field(init=False)
    _mentions: Mentions = field(init=False)

    @classmethod
    def of(cls, files: Sequence[tuple[str, FileFacts]], settings: Mapping[str, LanguageSettings]) -> "Linker":
        """A linker of a repository; `settings` are by dialect name."""
        program = Program.of(files, settings)
        builtin: dict[str, frozenset[str]] = {}
        for each in settings.values():
            builtin[each.name] = frozenset(each.builtin_methods)
        return cls(program, Resolver(program, builtin), Drafts(program), EdgeCollector())

    def __post_init__(self) -> None:
        self._imports = PackageImports(self.program)
        self._states = States(self.program, self.resolver.values)
        self._mentions = Mentions(self.program, self.drafts)

    def again(self, changed: Mapping[int, FileFacts]) -> "Linker | None":
        """A linker of the same files, of which some changed and look the same from all others (`model.interface`). It
        has no edges yet, and this one is not to be used any more. None, with nothing changed, where the tables of one
        of these files do not follow from it alone."""
        if not all(is_by_itself(self.program, number) for number in changed):
            return None
        for number, facts in changed.items():
            replace_file(self.program, number, facts)
        self.resolver.guesses = Guesses(self.program)  # which know what stands in bodies
        return Linker(self.program, self.resolver, Drafts(self.program), EdgeCollector(), self._types)

    def link(self, number: int) -> None:
        """All edges that leave a file but for those of `add_bases` and those that follow from others. Raises NotLinked
        with those of them in place that were found until then."""
        try:
            self._link(number)
        except Exception as error:
            if not errors.is_survived(error):
                raise
            self.resolver.abandon()
            raise NotLinked(type(error).__name__) from error

    def release(self) -> None:
        """Lets go of what refers back to the program, so that facts and tables are freed with its last use. Nothing is
        asked any more."""
        self.program.packages.included = None

    def _link(self, number: int) -> None:
        self.resolver.forget()
        self._states.forget()
        for document in self.drafts.documents(number):
            draft = self.drafts[document]
            self.collector.add(draft.parent, document, EdgeKind.CONTAINS, "contains", draft.start_row)
        self._add_imports(number)
        self._add_uses(number)
        self._add_states(number)
        for source, meant, row in self._mentions.edges(number):
            self._use(source, meant.draft, EdgeKind.MENTIONS, meant.rule, row, meant.candidates)

    def add_bases(self, only: Collection[int] | None = None) -> None:
        """What types are made of, and what overrides what: edges that leave all files, or some. Comes before `link`."""
        file_of = self.program.file_of
        if self._types is None:
            derived = self.resolver.prepare()
            outside = self.resolver.values.derived_from_outside
            self._types = derived, list(implementations(self.program, outside))
        derived, by_method_set = self._types
        for each in derived:
            owner, target = each.owner, each.target
            if only is not None and file_of[owner] not in only:
                continue
            is_interface = self.program.definition_of[target.definition].kind == NodeKind.INTERFACE
            derives = is_interface and self.program.definition_of[owner].kind != NodeKind.INTERFACE
            kind = EdgeKind.IMPLEMENTS if each.implements or derives else EdgeKind.EXTENDS
            if is_alias(self.program, target.definition):
                kind = EdgeKind.REFERENCES  # a type made of others, which may be less than they are: `Omit<A, "b">`
            row = self.resolver.row(each)
            self._use(self.drafts.definition(owner), self.drafts.definition(target.definition), kind, target.rule, row)
        for owner, interface in by_method_set:
            if only is not None and file_of[owner] not in only:
                continue
            source, goal = self.drafts.definition(owner), self.drafts.definition(interface)
            self._use(source, goal, EdgeKind.IMPLEMENTS, "method-set", self.drafts[source].start_row)
        for over in overrides(self.program, self.resolver.blocks(), by_method_set, only):
            if only is not None and file_of[over.method] not in only:
                continue
            source = self.drafts.definition(over.method)
            row = self.drafts[source].start_row
            self._use(source, self.drafts.definition(over.base), EdgeKind.OVERRIDES, over.rule, row)

    def _add_imports(self, number: int) -> None:
        names = self.program.files[number]
        if names.settings is not None and names.settings.modules.system is ModuleSystem.DECLARED:
            self._add_declared_imports(number, names.settings)
            return
        has_headers = names.settings is not None and bool(names.settings.modules.headers)
        for entry in names.facts.imports:
            if entry.kind == ImportKind.TYPE:
                continue
            if has_headers and entry.kind == ImportKind.STAR:
                continue  # a namespace, which is no file
            target, rule = self.program.target_module(number, entry)
            if self._imports.has_folders(number) and target >= 0:
                for file in self._imports.files_of(number, target, entry):
                    self._use(number, file, EdgeKind.IMPORTS, rule, entry.row)
                continue
            below = self._imported_module(number, target, entry)
            if below >= 0:
                self._use(number, below, EdgeKind.IMPORTS, "path", entry.row)
            elif target >= 0:
                self._use(number, target, EdgeKind.IMPORTS, rule, entry.row)
            elif self.program.paths.tree.has(number):
                package = self.program.paths.target(number, entry)[2]
                if package:
                    self._external(number, package, EdgeKind.IMPORTS, entry.row)
            elif names.settings is not None and not entry.level and not entry.module.startswith("."):
                found = self.program.outside(number, entry)
                self._external(number, found.name, EdgeKind.IMPORTS, entry.row)

    def _add_declared_imports(self, number: int, settings: LanguageSettings) -> None:
        names, declared = self.program.files[number], self.program.declared
        own = {each.name for each in names.facts.definitions if each.kind in TYPE_KINDS} if names.stars else ()
        used = names_in(names.facts).difference(own) if names.stars else frozenset()
        for entry in names.facts.imports:
            if entry.kind == ImportKind.SIDE_EFFECT:
                included = included_file(self.program.modules.number, names.path, entry.module, settings.modules)
                if included >= 0:
                    self._use(number, included, EdgeKind.IMPORTS, "path", entry.row)
                elif settings.modules.folders and settings.modules.external_parts and entry.module[:1] not in "./":
                    self._external(number, entry.module.partition("/")[0], EdgeKind.IMPORTS, entry.row)
                continue
            entry = whole(declared, names, entry)
            files = declared.imported_files(settings.family, entry, names.path, used)
            if files is None and settings.modules.namespaces:
                files = below_package(self.program, settings, names, entry) or None
            for target in files or ():
                self._use(number, target, EdgeKind.IMPORTS, "path", entry.row)
            if files is None:
                package = self.program.outside(number, entry)
                self._external(number, package.name, EdgeKind.IMPORTS, entry.row)

    def _imported_module(self, number: int, package: int, entry: Import) -> int:
        """`from package import module` names the module's file, not the package's."""
        names = self.program.files[number]
        if entry.kind not in (ImportKind.NAME, ImportKind.REEXPORT) or names.settings is None:
            return -1
        if package >= 0:
            if entry.name in self.program.files[package].by_qualname:
                return -1
            return self.program.modules.submodule(package, entry.name, names.settings.modules)
        return self.program.modules.namespace_submodule(
            names.path, entry.module, entry.level, entry.name, names.settings.modules
        )

    def _add_states(self, number: int) -> None:
        """Who reads and writes what stands before the last name of a chain, what gets a value, what is asked for by a
        name. What a chain means as a whole is read where it is used."""
        names = self.program.files[number]
        facts = names.facts
        # Where types stand before the names, members that are handed on are references already.
        is_told = names.settings is not None and names.settings.types.prefixed
        told = {(each.scope, each.name, each.row) for each in facts.references} if is_told else frozenset()
        for access in facts.accesses:
            self._add_state(number, access.scope, access.name, access.row, access.how, "." not in access.name)
            if access.how == AccessKind.READ and (access.scope, access.name, access.row) not in told:
                self._add_function(number, access.scope, access.name, access.row)
        # `serve::run` is in the module of that name, whatever else is called so.
        is_path = names.settings is not None and bool(names.settings.names.path_separator)
        bare = {(a.scope, a.name) for a in facts.accesses if "." not in a.name}
        own = names.settings.names.self_names if names.settings is not None else ()  # which hold no value themselves
        chains = {(call.scope, call.callee): call.row for call in reversed(facts.calls)}
        written = {(a.scope, a.name, a.row) for a in facts.accesses if a.how == AccessKind.WRITE}
        for each in reversed(facts.references):
            if (each.scope, each.name, each.row) not in written:
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
            assert names.settings is not None
            way = names.settings.lookups[lookup.way]
            if is_asked(self.resolver.values, number, lookup, way):
                kind = EdgeKind.WRITES if lookup.writes else EdgeKind.READS
                rule = "named-key" if way.modules or way.globals else "key-of-config"
                source = self._scope_draft(number, lookup.scope)
                self._external(source, f"{way.kind}:{lookup.key}", kind, lookup.row, rule)

    def _add_state(self, number: int, scope: int, chain: str, row: int, how: int, is_outer: bool) -> None:
        source = self._scope_draft(number, scope)
        for used in self._states.used(number, scope, chain, is_outer):
            target = self.drafts.definition(used.definition)
            if not used.is_last or how != AccessKind.WRITE:
                self._use(source, target, EdgeKind.READS, used.rule, row)
            if used.is_last and how != AccessKind.READ:
                self._use(source, target, EdgeKind.WRITES, used.rule, row)

    def _add_function(self, number: int, scope: int, chain: str, row: int) -> None:
        """The function or method that a chain is as a value: handed on (`self.save`), asked for a member
        (`save.delay()`), or called by reading it, as a property is."""
        used = self._states.function(number, scope, chain)
        if used is not None:
            source, target = self._scope_draft(number, scope), self.drafts.definition(used.definition)
            if (source, target, int(EdgeKind.CALLS)) not in self.collector.edges:
                self._use(source, target, EdgeKind.REFERENCES, used.rule, row)

    def _scope_draft(self, number: int, scope: int) -> int:
        return number if scope == MODULE_SCOPE else self.drafts.definition(self.program.files[number].first + scope)

    def _add_uses(self, number: int) -> None:
        names = self.program.files[number]
        written = Counter((a.scope, a.name, a.row) for a in names.facts.accesses if a.how == AccessKind.WRITE)
        calls: dict[tuple[int, str, str, str], list[int]] = {}  # -> first row, number of sites
        for call in names.facts.calls:
            sites = calls.setdefault((call.scope, call.callee, call.arguments, call.values), [call.row, 0])
            sites[0] = min(sites[0], call.row)
            sites[1] += 1
        for (scope, callee, arguments, values), (row, n) in calls.items():
            self._add_use(number, names.first, scope, callee, row, EdgeKind.CALLS, arguments, n=n, values=values)
        for reference in names.facts.references:
            key = reference.scope, reference.name, reference.row
            reads = not written or not written[key]
            if not reads:
                written[key] -= 1  # the use that is the writing
            self._add_use(
                number, names.first, reference.scope, reference.name, reference.row, EdgeKind.REFERENCES, reads=reads
            )

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
        source = file if scope == MODULE_SCOPE else self.drafts.definition(first + scope)
        for target in targets:
            draft = self.drafts.definition(target.definition)
            called = kind
            if kind is EdgeKind.CALLS and (
                self.drafts[draft].kind in (NodeKind.CONSTANT, NodeKind.FIELD) or self._converts(target.definition)
            ):
                called = EdgeKind.REFERENCES  # what the called value holds is not known, or it is no code
            if called is EdgeKind.REFERENCES and draft == source:
                continue
            self._use(source, draft, called, target.rule, row, target.candidates, n)
            if called is EdgeKind.REFERENCES and reads and self._states.holds(target.definition):
                self._use(source, draft, EdgeKind.READS, target.rule, row, target.candidates, n)
        if package:
            self._external(source, package, kind, row, n=n)
        elif kind is EdgeKind.CALLS and not targets and self.resolver.is_unknown(file, scope, chain, arguments):
            last = chain.rpartition(".")[2]
            self.collector.add_unresolved(source, "?" if last.endswith("()") else last, row, n)

    def _converts(self, definition: int) -> bool:
        """Whether what looks like a call of the definition says of which type a value is."""
        settings = self.program.files[self.program.file_of[definition]].settings
        return settings is not None and settings.types.prefixed and self.program.is_type(definition)

    def _use(
        self, source: int, target: int, kind: EdgeKind, rule: str, row: int, candidates: int = 1, n: int = 1
    ) -> None:
        if source == target and kind is not EdgeKind.CALLS:
            return
        self.collector.add(source, target, kind, rule, row, candidates, n)

    def _external(
        self, source: int, package: str, kind: EdgeKind, row: int, rule: str = "external", n: int = 1
    ) -> None:
        self.collector.add(source, self.drafts.external(package), kind, rule, row, n=n)
