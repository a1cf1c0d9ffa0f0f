"""Edges from tests to tested code, by calls and by names: `test_http.py` tests `http.py`.

In: the drafts of all nodes, with their roles, and the edges found so far. Out: edges `tests`, from a test to the tested
code. A test is a function if names or marks tell which functions are tests, a handler that is given to a function of a
test framework, and elsewhere the whole file. A test also tests the callees of its helpers, which are functions in tests
that are no tests themselves. Longer chains of calls are not followed.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from causalist._internal.lazy import dataclass, field
from causalist.graph.file_symbols import FileSymbols, TestSubject
from causalist.graph.node_and_edge_arrays import EdgeSites, NodeDrafts
from causalist.graph.program import Program
from causalist.graph.rules import GUESSES, RuleName
from causalist.model.facts import Definition
from causalist.model.graph import EdgeKind
from causalist.model.language_settings import LanguageSettings, ModuleSystem
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind, Role

_MAX_SUBJECTS = 3  # more files whose names fit equally well tell nothing
# Folders that say that tests or sources stand in them, and nothing of what these are about.
_PLAIN_FOLDERS = frozenset(
    {
        "test",
        "tests",
        "testing",
        "__tests__",
        "spec",
        "specs",
        "unit",
        "integration",
        "e2e",
        "src",
        "lib",
        "main",
        "java",
    }
)
FoundEdge = tuple[tuple[int, int, int], EdgeSites]  # (source, target, kind), as the collector has them
_Call = tuple[int, int, int]  # a test, what is called, row of the call in the test
_USES = frozenset({EdgeKind.CALLS, EdgeKind.IMPORTS, EdgeKind.REFERENCES, EdgeKind.EXTENDS})


class TestEdge(NamedTuple):
    """Edge from a test to tested code, both drafts; `row` is that of the first call or name in the test."""

    source: int
    target: int
    rule: str
    row: int
    candidates: int


@dataclass(slots=True)
class TestEdgeFinder:
    """Tests of a program. Files are drafts by their own numbers."""

    program: Program
    drafts: NodeDrafts
    _test_of: dict[int, int] = field(default_factory=dict)  # draft -> the test that it belongs to, itself perhaps

    def find_edges(self, edges: Iterable[FoundEdge], only: Collection[int] | None = None) -> Iterator[TestEdge]:
        """Yield the edges of tests; `edges` are all other edges.

        With `only`, what the tests in these files test: then `edges` may be the edges that leave them, and the calls of
        what they call in files of tests.
        """
        edges = list(edges)
        files = range(len(self.program.files)) if only is None else sorted({*only, *self._files_of_edges(edges)})
        for number in files:
            symbols = self.program.files[number]
            if symbols.settings is not None and (self._is_test_file(number) or symbols.facts.tests):
                self._find_tests(number, symbols, symbols.settings)
        calls, helped, used = self._group_uses(edges)
        subjects = self._find_subjects(used, range(len(self.program.files)) if only is None else only)
        yield from self._edges_of_calls(calls, subjects)
        for test, target, row in helped:
            yield TestEdge(test, target, RuleName.TEST_HELPER, row, 1)
        for test, files in subjects.items():
            for each in files:
                rule = RuleName.TEST_FILE if (test, each) in used else RuleName.TEST_NAME
                yield TestEdge(test, each, rule, used.get((test, each), 0), len(files))
                yield from self._edges_of_types(test, each)

    def _files_of_edges(self, edges: Iterable[FoundEdge]) -> Iterator[int]:
        """Yield the files with incoming or outgoing edges that may matter to tests."""
        for (source, target, _), _ in edges:
            yield self.drafts[source].file
            if self.drafts[target].role == Role.TEST:
                yield self.drafts[target].file

    def _is_test_file(self, number: int) -> bool:
        return self.drafts[number].role == Role.TEST

    def _find_tests(self, number: int, symbols: FileSymbols, settings: LanguageSettings) -> None:
        tests = settings.tests
        is_one = self._is_test_file(number) and not (tests.functions or tests.mark or tests.marks)
        if is_one:
            self._test_of[number] = number
        functions = self.program.test_pattern(number)
        function_pattern = re.compile(functions) if functions and self._is_test_file(number) else None
        marked = set(symbols.facts.tests)
        marked.update(r.scope for r in symbols.facts.references if r.name.rpartition(".")[2] in tests.marks)
        for local, definition in enumerate(symbols.facts.definitions):
            draft = self.drafts.of_definition(symbols.first + local)
            parent = number if definition.parent < 0 else self.drafts.of_definition(symbols.first + definition.parent)
            if self._is_test_file(number) and (
                _is_test_handler(definition, settings) or _is_test_method(definition, settings)
            ):
                self._test_of[draft] = draft
            elif parent in self._test_of:
                self._test_of[draft] = self._test_of[parent]
            elif definition.kind in CALLABLE_KINDS and (
                local in marked or (function_pattern is not None and function_pattern.fullmatch(definition.name))
            ):
                self._test_of[draft] = draft

    def _group_uses(self, edges: Iterable[FoundEdge]) -> tuple[list[_Call], list[_Call], dict[tuple[int, int], int]]:
        """Return calls of tests, calls that helpers make for them, and first rows by (file of tests, used file)."""
        calls: list[_Call] = []
        helped: list[_Call] = []
        by_helper: dict[int, list[int]] = {}
        used: dict[tuple[int, int], int] = {}
        drafts = self.drafts
        for (source, target, kind), sites in edges:
            if kind not in _USES or drafts[target].kind == NodeKind.EXTERNAL:
                continue
            if sites.rule in GUESSES:
                continue
            if drafts[target].role == Role.TEST:
                if kind == EdgeKind.CALLS and source in self._test_of and target not in self._test_of:
                    helped.append((self._test_of[source], target, sites.row))
                continue
            file = drafts[source].file
            if self._is_test_file(file):
                pair = file, drafts[target].file
                used[pair] = min(sites.row, used.get(pair, sites.row))
            if kind == EdgeKind.CALLS and source in self._test_of:
                calls.append((self._test_of[source], target, sites.row))
            elif kind == EdgeKind.CALLS and drafts[source].role == Role.TEST:
                by_helper.setdefault(source, []).append(target)
        helped_to = [(test, target, row) for test, helper, row in helped for target in by_helper.get(helper, ())]
        return calls, helped_to, used

    def _edges_of_calls(self, calls: Sequence[_Call], subjects: Mapping[int, Sequence[int]]) -> Iterator[TestEdge]:
        for test, target, row in calls:
            file, other = self.drafts[test].file, self.drafts[target].file
            is_subject = file == other or other in subjects.get(file, ()) or self._is_named_in(test, target)
            yield TestEdge(test, target, RuleName.TEST_SUBJECT if is_subject else RuleName.TEST_CALL, row, 1)

    def _is_named_in(self, test: int, target: int) -> bool:
        """Return True if the name of a test contains the name of its callee: `test_parse_date`, `parse_date`."""
        name, called = (
            _normalize_name(self.drafts[each].id.rpartition("::")[2].rpartition(".")[2]) for each in (test, target)
        )
        return len(called) > 3 and called in name and "::" in self.drafts[test].id

    # -- names

    def _find_subjects(self, used: Mapping[tuple[int, int], int], files: Iterable[int]) -> dict[int, list[int]]:
        """Return the files that each of these test files is named after, by test file."""
        tests = [number for number in files if self._is_test_file(number)]
        if not tests:
            return {}
        by_name = self.program.file_groups.subjects(self.program.files)
        result: dict[int, list[int]] = {}
        for number in tests:
            symbols = self.program.files[number]
            if symbols.settings is not None:
                subjects = self._find_subjects_of_file(number, symbols.path, symbols.settings, by_name, used)
                if subjects:
                    result[number] = subjects
        return result

    def _find_subjects_of_file(
        self,
        number: int,
        path: str,
        settings: LanguageSettings,
        by_name: Mapping[tuple[str, str], Sequence[TestSubject]],
        used: Mapping[tuple[int, int], int],
    ) -> list[int]:
        *folders, file = path.split("/")
        stem = file.rpartition(".")[0]
        for pattern in settings.tests.names:
            before, _, after = pattern.partition("*")
            if not (stem.startswith(before) and stem.endswith(after)) or len(stem) <= len(pattern) - 1:
                continue
            name = stem[len(before) : len(stem) - len(after)]
            if name in settings.modules.index_stems and folders:
                name = folders.pop()
            name = name.lstrip("_")
            candidates = by_name.get((settings.family, name), ())
            if settings.modules.system is ModuleSystem.FOLDER:
                near = [
                    c for c in candidates if self.program.files[c.number].path.rpartition("/")[0] == "/".join(folders)
                ]
            else:
                near = _nearest(
                    _distinctive_folders(folders),
                    candidates,
                    {c.number for c in candidates if (number, c.number) in used},
                )
            if pattern == "*":  # the same name may be chance
                near = [c for c in near if (number, c.number) in used]
            if near:
                return [c.number for c in near] if len(near) <= _MAX_SUBJECTS else []
        return []

    def _edges_of_types(self, test: int, file: int) -> Iterator[TestEdge]:
        """Types in a file of tests that are named after one of the file that is tested."""
        symbols, others = self.program.files[test], self.program.files[file]
        assert symbols.settings is not None
        for local, definition in enumerate(symbols.facts.definitions):
            if definition.kind not in TYPE_KINDS or definition.parent >= 0:
                continue
            for pattern in symbols.settings.tests.names:
                before, _, after = pattern.partition("*")
                name = definition.name
                if pattern == "*" or not (name.startswith(before) and name.endswith(after)):
                    continue
                target = others.by_qualname.get(name[len(before) : len(name) - len(after)], -1)
                if target >= 0 and self.program.is_type(target):
                    source = self.drafts.of_definition(symbols.first + local)
                    yield TestEdge(
                        source, self.drafts.of_definition(target), RuleName.TEST_FILE, definition.start_row, 1
                    )
                    break


def _is_test_handler(definition: Definition, settings: LanguageSettings) -> bool:
    return definition.kind == NodeKind.HANDLER and definition.name.partition(" ")[0] in settings.handlers.tests


def _is_test_method(definition: Definition, settings: LanguageSettings) -> bool:
    methods = settings.tests.methods
    return bool(methods) and definition.kind == NodeKind.METHOD and bool(re.fullmatch(methods, definition.name))


def _normalize_name(name: str) -> str:
    return name.replace("_", "").lower()


def _distinctive_folders(folders: Sequence[str]) -> tuple[str, ...]:
    return tuple(each for each in folders if each and each.lower() not in _PLAIN_FOLDERS)


def _nearest(folders: tuple[str, ...], candidates: Sequence[TestSubject], used: set[int]) -> list[TestSubject]:
    """Return the subjects that the tests use, if any, of them those with the most folders in common.

    Folders are compared from the end first.
    """
    ranked = [
        ((c.number in used, *_count_common_folders(folders, _distinctive_folders(c.folder.split("/")))), c)
        for c in candidates
    ]
    best = max((rank for rank, _ in ranked), default=(False, 0, 0))
    return [c for rank, c in ranked if rank == best]


def _count_common_folders(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[int, int]:
    """Count the folders that are the same from the end, and from the beginning."""
    return _common_prefix_length(a[::-1], b[::-1]), _common_prefix_length(a, b)


def _common_prefix_length(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    n = 0
    for one, other in zip(a, b, strict=False):
        if one != other:
            break
        n += 1
    return n
