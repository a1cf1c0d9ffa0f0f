"""All facts -> the code graph: nodes, containment, imports, bases, calls and references."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from causalist.graph.confidence import load_confidences
from causalist.graph.declared import names_in
from causalist.graph.edges import EdgeCollector, NodeDraft, finish
from causalist.graph.method_sets import implementations
from causalist.graph.names import Program
from causalist.graph.namespaces import imported_files as below_package
from causalist.graph.namespaces import included_file
from causalist.graph.overloads import UNCOUNTED
from causalist.graph.overrides import overrides
from causalist.graph.package_imports import PackageImports
from causalist.graph.resolve import Resolver
from causalist.graph.roles import role_of
from causalist.graph.spaces import is_alias
from causalist.graph.states import States, is_asked
from causalist.graph.tested import Tests
from causalist.model.facts import MODULE_SCOPE, AccessKind, Definition, FileFacts, Import, ImportKind
from causalist.model.graph import EdgeKind, LinkedGraph
from causalist.model.language import LanguageSettings, ModuleSystem
from causalist.model.symbols import TYPE_KINDS, NodeKind, Role, external_id, file_id, section_id, symbol_id


def build_graph(files: Sequence[tuple[str, FileFacts]], settings: Mapping[str, LanguageSettings]) -> LinkedGraph:
    """The graph of a repository. `files` are (path, facts) in any order; `settings` are by dialect name.

    The graph depends on the facts and paths alone.
    """
    order = sorted(range(len(files)), key=lambda i: files[i][0])
    if order != list(range(len(files))):
        linked = build_graph([files[i] for i in order], settings)
        given = np.argsort(np.array(order))
        return LinkedGraph(linked.graph, linked.file_nodes[given], tuple(linked.document_nodes[i] for i in given))
    program = Program.of(files, settings)
    builtin: dict[str, frozenset[str]] = {}
    for each in settings.values():
        builtin[each.family] = builtin.get(each.family, frozenset()) | frozenset(each.builtin_methods)
    resolver = Resolver(program, builtin)
    builder = _Builder(program, resolver)
    builder.add_nodes()
    builder.add_bases()
    for number in range(len(files)):
        builder.add_imports(number)
        builder.add_uses(number)
        builder.add_states(number)
    builder.add_tests()
    languages = [names.settings.name if names.settings else "" for names in program.files]
    graph, position = finish(builder.drafts, builder.collector, languages, load_confidences())
    return LinkedGraph(
        graph,
        position[: len(files)],
        tuple(position[np.array(nodes, dtype=np.int64)] for nodes in builder.document_drafts),
    )


class _Builder:
    """Drafts stand in this order: files, then each file's definitions and passages, then externals."""

    def __init__(self, program: Program, resolver: Resolver) -> None:
        self.program = program
        self.resolver = resolver
        self.collector = EdgeCollector()
        self.drafts: list[NodeDraft] = []
        self.document_drafts: list[list[int]] = []
        self.definition_draft: list[int] = []  # by global definition number
        self._externals: dict[str, int] = {}
        self._imports = PackageImports(program)
        self._states = States(program, resolver.values)

    def add_nodes(self) -> None:
        for number, names in enumerate(self.program.files):
            facts = names.facts
            self.drafts.append(
                NodeDraft(
                    file_id(names.path), NodeKind.FILE, role_of(names.path), number, -1,
                    0, facts.n_bytes, 0, max(facts.n_rows - 1, 0), "", facts.doc,
                )
            )  # fmt: skip
        for number, names in enumerate(self.program.files):
            facts, role = names.facts, self.drafts[number].role
            first, tests = len(self.drafts), frozenset(names.facts.tests)
            for local, repeat in enumerate(_repeats(facts.definitions)):
                definition = facts.definitions[local]
                parent = number if definition.parent == MODULE_SCOPE else first + definition.parent
                own_role = Role.TEST if local in tests else self.drafts[parent].role
                self._node(
                    NodeDraft(
                        symbol_id(names.path, definition.qualname + repeat), NodeKind(definition.kind), own_role,
                        number, parent, definition.start_byte, definition.end_byte, definition.start_row,
                        definition.end_row, definition.signature, definition.doc,
                    )
                )  # fmt: skip
            self.definition_draft.extend(range(first, len(self.drafts)))
            for passage in facts.passages:
                parent = number if passage.parent < 0 else first + len(facts.definitions) + passage.parent
                self._node(
                    NodeDraft(
                        section_id(names.path, passage.slug), NodeKind.PASSAGE, role, number, parent,
                        passage.start_byte, passage.end_byte, passage.start_row, passage.end_row,
                        passage.title, "",
                    )
                )  # fmt: skip
            self.document_drafts.append(list(range(first, len(self.drafts))))

    def _node(self, draft: NodeDraft) -> None:
        self.collector.add(draft.parent, len(self.drafts), EdgeKind.CONTAINS, "contains", draft.start_row)
        self.drafts.append(draft)

    def add_bases(self) -> None:
        for owner, target, implements, row in self.resolver.prepare():
            is_interface = self.program.definition_of[target.definition].kind == NodeKind.INTERFACE
            derives = is_interface and self.program.definition_of[owner].kind != NodeKind.INTERFACE
            kind = EdgeKind.IMPLEMENTS if implements or derives else EdgeKind.EXTENDS
            if is_alias(self.program, target.definition):
                kind = EdgeKind.REFERENCES  # a type made of others, which may be less than they are: `Omit<A, "b">`
            self._use(self.definition_draft[owner], self.definition_draft[target.definition], kind, target.rule, row)
        by_method_set = list(implementations(self.program, self.resolver.values.derived_from_outside))
        for owner, interface in by_method_set:
            source, goal = self.definition_draft[owner], self.definition_draft[interface]
            self._use(source, goal, EdgeKind.IMPLEMENTS, "method-set", self.drafts[source].start_row)
        for each in overrides(self.program, self.resolver.blocks(), by_method_set):
            source = self.definition_draft[each.method]
            row = self.drafts[source].start_row
            self._use(source, self.definition_draft[each.base], EdgeKind.OVERRIDES, each.rule, row)

    def add_tests(self) -> None:
        """What tests test, when all other edges are known."""
        tests = Tests(self.program, self.drafts, self.definition_draft, self.collector)
        for each in list(tests.edges()):
            self.collector.add(each.source, each.target, EdgeKind.TESTS, each.rule, each.row, each.candidates)

    def add_imports(self, number: int) -> None:
        names = self.program.files[number]
        if names.settings is not None and names.settings.modules.system is ModuleSystem.DECLARED:
            self._add_declared_imports(number, names.settings)
            return
        for entry in names.facts.imports:
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
                included = included_file(self.program.modules.number, names.path, entry.module)
                if included >= 0:
                    self._use(number, included, EdgeKind.IMPORTS, "path", entry.row)
                continue
            files = declared.imported_files(settings.name, entry, names.path, used)
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

    def add_states(self, number: int) -> None:
        """Who reads and writes what stands before the last name of a chain, what gets a value, what is asked for by a
        name. What a chain means as a whole is read where it is used."""
        names = self.program.files[number]
        facts = names.facts
        for access in facts.accesses:
            self._add_state(number, access.scope, access.name, access.row, access.how, "." not in access.name)
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
            target = self.definition_draft[used.definition]
            if not used.is_last or how != AccessKind.WRITE:
                self._use(source, target, EdgeKind.READS, used.rule, row)
            if used.is_last and how != AccessKind.READ:
                self._use(source, target, EdgeKind.WRITES, used.rule, row)

    def _scope_draft(self, number: int, scope: int) -> int:
        return number if scope == MODULE_SCOPE else self.definition_draft[self.program.files[number].first + scope]

    def add_uses(self, number: int) -> None:
        names = self.program.files[number]
        written = Counter((a.scope, a.name, a.row) for a in names.facts.accesses if a.how == AccessKind.WRITE)
        calls: dict[tuple[int, str, str], list[int]] = {}  # -> first row, number of sites
        for call in names.facts.calls:
            sites = calls.setdefault((call.scope, call.callee, call.arguments), [call.row, 0])
            sites[0] = min(sites[0], call.row)
            sites[1] += 1
        for (scope, callee, arguments), (row, n) in calls.items():
            self._add_use(number, names.first, scope, callee, row, EdgeKind.CALLS, arguments, n=n)
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
    ) -> None:
        guess = kind is EdgeKind.CALLS
        targets, package = self.resolver.resolve(file, scope, chain, guess=guess, arguments=arguments)
        source = file if scope == MODULE_SCOPE else self.definition_draft[first + scope]
        for target in targets:
            draft = self.definition_draft[target.definition]
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
        draft = self._externals.get(package)
        if draft is None:
            draft = self._externals[package] = len(self.drafts)
            self.drafts.append(
                NodeDraft(external_id(package), NodeKind.EXTERNAL, Role.CODE, -1, -1, 0, 0, 0, 0, "", "")
            )
        self.collector.add(source, draft, kind, rule, row, n=n)


def _repeats(definitions: Sequence[Definition]) -> list[str]:
    """What is added to the name of each definition so that no two are alike. Where a field shares its name with
    functions, these are meant by whoever asks for callers: the field stands back."""
    used: dict[str, int] = {}
    result = [""] * len(definitions)
    order = sorted(range(len(definitions)), key=lambda i: (definitions[i].kind == NodeKind.FIELD, i))
    for i in order:
        name = definitions[i].qualname
        used[name] = used.get(name, 0) + 1
        result[i] = "" if used[name] == 1 else f"~{used[name]}"
    return result
