"""Experiments: break a definition in several ways and see which tests notice.

In: the index of a repository, a function, the tests that may run it. Out: a `NodeRecord` and `ProvenEdge`s in the
store, which is written after each mutant, so that a run that is ended goes on where it was.

A test proves an edge to the function if it passes twice without a mutant, fails with it, fails with it again, and
passes without it once more. The second time it runs alone, unless the failure itself came out of the function: another
test that the mutant breaks may leave something behind that breaks this one. Then it has to fail and to pass three times
more, unless the mutant raises an error and the failure is that error: a test that ends by chance rarely does all that.
One that fails without a mutant at any time is left out.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from causalist.errors import ProofFailed, UsageError
from causalist.index.options import Progress
from causalist.index.source_text import SourceText
from causalist.model.graph import EdgeKind
from causalist.model.index import Index
from causalist.model.node_ids import CALLABLE_KINDS, NodeKind, Role, last_name, split_id
from causalist.navigate.marked_tests import mark_tests
from causalist.observe.command_runs import CodePlaces
from causalist.observe.observed_calls import Freshness, Version
from causalist.parse import dialect_of
from causalist.prove.mutants import Mutant, make_mutants, require_operators
from causalist.prove.proofs import (
    FAILED,
    FLAKY,
    HANGS,
    PASSED,
    PROVEN,
    RUNS,
    UNSURE,
    MutantRecord,
    NodeProof,
    NodeRecord,
    ProofStore,
    ProvenEdge,
    TestState,
    describe_mutant,
    read_proofs,
    save_record,
)
from causalist.prove.pytest_runs import (
    COLLECTION,
    BrokenFunction,
    EndedTest,
    Frame,
    Lab,
    PlainRuns,
    ProveOptions,
    RunLimits,
    TestRun,
    TreeCopy,
    describe_ends,
    run_tests,
)

_MAX_HANGING = 3  # tests that are left out one after another because they do not end
_TRACE_COST = 3.0  # times as long as without a trace
_BODY_MUTANTS = 2  # that take the whole body away
# A test that fails by chance, at worst at .6, then is a false proof of one of twelve mutants once in 250 times.
_MORE_ROUNDS = 3


class Subject(NamedTuple):
    """A function to break, the tests that may run it, and their files."""

    node: int
    target: BrokenFunction
    tests: tuple[str, ...]
    n_more_tests: int


def check_subject(index: Index, node: int) -> BrokenFunction:
    """Return the place of a function of Python that is no test. Raises UsageError for anything else."""
    nodes = index.graph.nodes
    node_id = nodes.ids[node]
    path, symbol = split_id(node_id)
    kind = NodeKind(int(nodes.kinds[node]))
    if kind is NodeKind.FILE:
        raise UsageError(
            f"{node_id} is a file; prove breaks one function or method. `causalist show` lists those of it"
        )
    if not path or kind not in CALLABLE_KINDS or not symbol:
        raise UsageError(f"{node_id} is a {kind.label}, and has no body; prove breaks one function or method")
    if dialect_of(path) != "python":
        raise UsageError(f"{path} is not Python; prove breaks functions of Python only")
    if mark_tests(index.graph)[node] or nodes.roles[node] == Role.TEST:
        raise UsageError(f"{node_id} belongs to the tests; prove breaks what they test")
    first, last = int(nodes.start_rows[node]) + 1, int(nodes.end_rows[node]) + 1
    return BrokenFunction(path, first, last, last_name(node_id))


def prove_nodes(
    index: Index,
    texts: SourceText,
    root: Path,
    folder: Path,
    names: Sequence[str],
    options: ProveOptions,
    choose_tests: Callable[[str], Sequence[str]],
    progress: Progress,
    failures: dict[str, str] | None = None,
) -> tuple[NodeProof, ...]:
    """Break each of the functions `names`, ids, and return what is known then.

    `folder` is that of the index. `choose_tests` returns the ids of the tests of a function, the most probable first.
    All are checked before anything runs. With `failures`, a function whose tests cannot be run is left out, and the
    reason is put there. Raises UsageError, ProofFailed, ExtraMissing and IndexNotWritable.

    Of several functions, first the whole body of each is taken away, then come the other mutants: much is known of all
    of them when the time is up.
    """
    ids = index.graph.nodes.ids
    targets = {name: check_subject(index, ids.position(name)) for name in names}
    require_operators()
    freshness = Freshness(index, texts)
    deadline = time.monotonic() + options.max_seconds
    subjects = []
    for name, target in targets.items():
        tests = [each for each in choose_tests(name) if _is_python_test(index, each)]
        chosen = tuple(tests[: options.max_tests])
        subjects.append(Subject(ids.position(name), target, chosen, len(tests) - len(chosen)))
    proofs: dict[str, NodeProof] = {}
    with Lab(index, freshness, root, folder, options, deadline, progress) as lab:
        experiments = {name: _Experiment(lab, subject) for name, subject in zip(targets, subjects, strict=True)}
        rounds = (_BODY_MUTANTS, options.max_mutants) if len(experiments) > 1 else (options.max_mutants,)
        for n_mutants in rounds:
            for name, experiment in experiments.items():
                if failures is not None and name in failures:
                    continue
                try:
                    proofs[name] = experiment.run(n_mutants)
                except ProofFailed as error:
                    if failures is None:
                        raise
                    failures[name] = str(error)
    return tuple(proofs.values())


def _is_python_test(index: Index, test: str) -> bool:
    nodes = index.graph.nodes
    node = nodes.ids.position(test)
    return node >= 0 and nodes.kinds[node] in CALLABLE_KINDS and dialect_of(split_id(test)[0]) == "python"


class _Baseline(NamedTuple):
    """Tests without a mutant: those to run by their names in pytest, and what is known of each test."""

    names: dict[str, str]
    states: dict[str, TestState]
    is_early: bool  # the function runs while tests are collected, too


class _Failure(NamedTuple):
    """A test that fails with a mutant. `way`: nodes from the test to the function, where the failure came out of it.

    `is_raised`: it is the error that the mutant raises.
    """

    name: str
    test: str
    way: tuple["_Step", ...]
    is_raised: bool


class _Step(NamedTuple):
    """A node that ran, and how it was run: by the one before, directly or by code from elsewhere, at a row."""

    node: int
    is_direct: bool
    is_import: bool
    row: int


class _Ends(NamedTuple):
    """Ends of tests with a mutant, by their ids, the failures that are proofs, and tests that failed without it."""

    outcomes: dict[str, str]
    proofs: list[_Failure]
    flaky: set[str]


class _Experiment:
    """The mutants of one function."""

    def __init__(self, lab: Lab, subject: Subject) -> None:
        self._lab, self._subject = lab, subject
        nodes = lab.index.graph.nodes
        self._id = nodes.ids[subject.node]
        self._python_paths = {p for p in lab.index.manifest.paths if dialect_of(p) == "python"}
        self._places = CodePlaces(lab.index.graph, self._python_paths)
        self._files = self._files_of(subject.tests)
        self._version = lab.freshness.version_of(self._id)
        self._edges: list[ProvenEdge] = []
        self._store = read_proofs((lab.folder,)) or ProofStore()
        self._baseline: _Baseline | None = None
        self._in_tests: tuple[Mutant, ...] = ()  # one more mutant, of a function that runs while tests are collected

    def run(self, n_mutants: int) -> NodeProof:
        """Run the undecided ones of the first mutants, and return the proofs of the function."""
        lab, target = self._lab, self._subject.target
        data = lab.freshness.text_of(target.path)
        if not data or not self._version.hash:
            raise ProofFailed(f"{target.path} changed while it was indexed; run the command again")
        mutants = make_mutants(data, target.name, target.first, target.last, lab.options.max_mutants)
        if not mutants:
            raise ProofFailed(f"{self._id} has no body that can be broken, or {target.path} is not valid Python")
        self._in_tests = make_mutants(data, target.name, target.first, target.last, 1, in_tests=True)
        record = self._known_record()
        if record is None or not self._is_decided(record, mutants[:n_mutants]):
            record = self._experiment(mutants[:n_mutants], record)
            if record.plain_runs is not None and self._is_decided(record, mutants):
                record.plain_runs = None
                self._save(record, [])
        return self._report(record, mutants)

    # -- what is known

    def _known_record(self) -> NodeRecord | None:
        """Return the record of this version of the function, as far as it still counts."""
        record = self._store.nodes.get(self._id)
        return record if record is not None and record.version == self._version else None

    def _is_decided(self, record: NodeRecord, mutants: Sequence[Mutant]) -> bool:
        if record.state != self._lab.state or not set(self._subject.tests) <= record.tests.keys():
            return False
        return all(record.is_decided(mutant.id, self._subject.tests) for mutant in mutants)

    def _report(self, record: NodeRecord, mutants: Sequence[Mutant]) -> NodeProof:
        is_open = any(test in record.tests and record.tests[test].left_out == RUNS for test in self._subject.tests) or (
            not record.tests and bool(self._subject.tests)
        )
        undecided = sum(is_open and not record.is_decided(mutant.id, self._subject.tests) for mutant in mutants)
        shown = NodeRecord(record.version, record.state, record.time, plain_runs=record.plain_runs)
        shown.mutants = {each.id: record.mutants[each.id] for each in mutants if each.id in record.mutants}
        for each in self._in_tests:  # if all of them pass, only the loading of code runs the function
            if each.id in record.mutants and set(record.mutants[each.id].outcomes.values()) - {PASSED}:
                shown.mutants = {each.id: record.mutants[each.id], **shown.mutants}
        shown.tests = {test: record.tests[test] for test in self._subject.tests if test in record.tests}
        store = read_proofs((self._lab.folder,)) or ProofStore()
        pairs = {
            pair
            for test in shown.tests
            if shown.proving(test)
            for pair in pairwise([test, *(each.id for each in shown.tests[test].way), self._id])
        }
        edges = tuple(
            edge
            for pair, edge in sorted(store.edges.items())
            if (edge.node == self._id or pair in pairs) and store.is_current(edge[:2], self._lab.freshness)
        )
        return NodeProof(self._id, shown, edges, undecided, self._subject.n_more_tests)

    # -- the tests without a mutant

    def _files_of(self, tests: Sequence[str]) -> tuple[str, ...]:
        """Return the files of tests, with those of types that inherit them."""
        graph = self._lab.index.graph
        nodes, edges = graph.nodes, graph.edges
        files: dict[str, None] = {}
        for test in tests:
            files.setdefault(split_id(test)[0])
            level = {int(nodes.parents[nodes.ids.position(test)])} - {-1}
            seen: set[int] = set()
            while level - seen:
                seen |= level
                numbers = graph.edges_into(np.array(sorted(level), dtype=np.int64))
                numbers = numbers[edges.kinds[numbers] == EdgeKind.EXTENDS]
                level = set(edges.sources[numbers].tolist())
                for each in sorted(level):
                    path = split_id(nodes.ids[each])[0]
                    if path in self._python_paths:
                        files.setdefault(path)
        return tuple(files)

    def _run(self, copy: TreeCopy, names: Sequence[str]) -> TestRun:
        """Run tests by their names in pytest."""
        lab, files = self._lab, tuple(dict.fromkeys(name.partition("::")[0] for name in names))
        limits = RunLimits(lab.options.test_seconds, lab.deadline)
        return run_tests(copy, lab.python, self._subject.target, files, limits, names=names)

    def _run_baseline(self, copy: TreeCopy, record: NodeRecord) -> _Baseline | None:
        """Return the tests that pass twice; None if time is up. Raises ProofFailed if none can be run at all.

        `record` keeps how far the runs got, and is saved.
        """
        runs = PlainRuns.decode(record.plain_runs, self._lab.plain_key)
        are_over = all(self._run_plainly(copy, runs, record, number) for number in (0, 1))
        return self._compare(runs) if are_over else None

    def _run_plainly(self, copy: TreeCopy, runs: PlainRuns, record: NodeRecord, number: int) -> bool:
        """Go on with one of the two runs without a mutant; return False if time is up.

        Tests that do not end are left out, one after another.
        """
        lab, tests, run, done = self._lab, self._subject.tests, runs.runs[number], runs.done[number]
        limits = RunLimits(lab.options.test_seconds * (_TRACE_COST if number else 1.0), lab.deadline)

        def keep(part: TestRun) -> None:
            run.add(part)
            self._keep_plain_runs(record, runs)

        while True:
            wanted = [each for each in tests if each not in runs.hanging and each not in done]
            if not wanted or len(runs.hanging) >= _MAX_HANGING:
                return True
            if time.monotonic() >= lab.deadline:
                return False
            part = run_tests(
                copy, lab.python, self._subject.target, self._files, limits,
                tests=wanted, done=run.ended.keys(), trace=bool(number), keep=keep,
            )  # fmt: skip
            copy.restore()
            run.add(part)
            stuck = self._id_of(part.hung, wanted) if part.hung else ""
            if stuck in wanted:
                runs.hanging.add(stuck)
            elif part.is_over:
                self._check_run(run)
                done.update(wanted)
            self._keep_plain_runs(record, runs)
            if not part.is_over:
                return False

    def _keep_plain_runs(self, record: NodeRecord, runs: PlainRuns) -> None:
        record.plain_runs = runs.encode()
        self._save(record, [])

    def _check_run(self, run: TestRun) -> None:
        """Raise ProofFailed if no test can be run, or not with the copy."""
        if run.hung == COLLECTION:
            raise ProofFailed(f"pytest does not end to collect the tests of {self._id}")
        if not run.ended and not run.not_collected and run.code not in (0, 5):
            last = "; ".join(run.tail.strip().splitlines()[-3:]) or f"exit code {run.code}"
            raise ProofFailed(f"pytest cannot run the tests of {self._id}: {last}")
        if run.loaded is not None and not run.loaded[0] and run.loaded[1]:
            raise ProofFailed(
                f"the tests import {run.loaded[1]} and not the copy of {self._subject.target.path}; "
                "give a Python with --python in which the project is not installed, or installed for editing"
            )

    def _id_of(self, name: str, tests: Sequence[str]) -> str:
        path, _, rest = name.partition("[")[0].partition("::")
        test_id = f"{path}::{rest.replace('::', '.')}"
        leaf = rest.rpartition("::")[2]
        return (
            test_id if test_id in tests else next((t for t in tests if t.endswith((f".{leaf}", f"::{leaf}"))), test_id)
        )

    def _compare(self, runs: PlainRuns) -> _Baseline:
        """Return the tests that passed in both runs and run the function."""
        first, second = runs.runs
        tests = set(self._subject.tests) - runs.hanging
        both = {name: (each, second.ended.get(name)) for name, each in first.ended.items() if each.test in tests}
        passing = {
            name: each.test
            for name, (each, again) in both.items()
            if each.outcome == "passed" and again is not None and again.outcome == "passed"
        }
        ran = {name for name in passing if name in second.ran}
        seen = self._with_file_mates(second.ran, passing)
        elsewhere = self._with_file_mates(second.started, passing)
        names = dict(passing)
        if ran and "" not in second.ran:
            names = {name: test for name, test in passing.items() if name in seen or name in elsewhere}
        states: dict[str, TestState] = {}
        for test in self._subject.tests:
            version = self._lab.freshness.version_of(test)
            own = [name for name, each in both.items() if each[0].test == test]
            running = [name for name in own if name in names]
            way = self._way_versions(second.ran.get(next((n for n in own if n in ran), ""), ()), test)
            if not self._lab.is_as_indexed(split_id(test)[0]):
                why = "its file changed since it was indexed"
                names = {name: each for name, each in names.items() if each != test}
            elif running:
                why = RUNS
            elif test in runs.hanging:
                why = "does not end in time without a mutant"
            elif test not in runs.done[1]:
                why = "was not tried, as others do not end in time without a mutant"
            elif not own:
                why = self._why_missing(test, first)
            elif any(name in passing for name in own):
                why = "does not run it"
            else:
                why = describe_ends([both[name] for name in own])
            is_unseen = why == RUNS and not any(name in seen for name in running)
            states[test] = TestState(version, why, way if why == RUNS else (), is_unseen)
        return _Baseline(names, states, "" in second.ran)

    def _with_file_mates(self, frames: Mapping[str, tuple[Frame, ...]], passing: Mapping[str, str]) -> set[str]:
        """Return the passing tests that have frames, and those of a file in which a fixture, not a test, has some.

        What a fixture made may have been kept for other tests of its file.
        """
        own = {name for name in passing if name in frames}
        shared = {n.partition("::")[0] for n in own if not self._starts_in_test(frames[n], passing[n])}
        return {name for name in passing if name in own or name.partition("::")[0] in shared}

    def _why_missing(self, test: str, run: TestRun) -> str:
        path = split_id(test)[0]
        error = run.not_collected.get(path)
        return f"cannot be collected: {error}" if error is not None else "pytest does not find it"

    def _starts_in_test(self, frames: Sequence[Frame], test: str) -> bool:
        node = self._lab.index.graph.nodes.ids.position(test)
        return any(frame[0] and self._places.find(frame[0], *frame[1:4]).node == node for frame in frames)

    # -- ways

    def _steps(self, frames: Sequence[Frame], test: str, n_more_lines: int) -> tuple[_Step, ...]:
        """Return the nodes on the way of frames from a test to the function; () if it is not among them."""
        graph, target = self._lab.index.graph, self._subject.target
        start = graph.nodes.ids.position(test)
        steps = [_Step(start, True, False, -1)]
        is_direct, row, is_begun = True, -1, False
        for path, line, name, is_function, at in frames:
            if not path:
                is_direct = False
                continue
            is_below = path == target.path and line > target.last
            first = line - n_more_lines if is_below else line
            code = self._places.find(path, first, name, is_function)
            here = at - n_more_lines if path == target.path and at > target.last else at
            if code.node == start and not is_begun:
                steps, is_begun = [_Step(start, True, False, -1)], True
                is_direct, row = True, here - 1
                continue
            if code.node < 0 or code.is_class:
                is_direct = False
                continue
            own = code.around if code.around >= 0 else code.node
            if own == steps[-1].node:
                row = here - 1  # a part of a definition that it runs itself
                continue
            is_whole = code.is_own and not code.is_import
            steps.append(_Step(code.node, is_direct and is_whole and (is_begun or len(steps) > 1), code.is_import, row))
            if code.node == self._subject.node:
                return tuple(steps)
            is_direct, row = True, here - 1
        return ()

    def _way_versions(self, frames: Sequence[Frame], test: str) -> tuple[Version, ...]:
        ids = self._lab.index.graph.nodes.ids
        steps = self._steps(frames, test, 0)
        return tuple(dict.fromkeys(self._lab.freshness.version_of(ids[step.node]) for step in steps[1:-1]))

    def _edges_of(self, way: Sequence[_Step], mutant: Mutant, test: str, now: int) -> list[ProvenEdge]:
        ids, edges = self._lab.index.graph.nodes.ids, []
        for (source, *_), step in pairwise(way):
            ends = [self._lab.freshness.version_of(ids[node]) for node in (source, step.node)]
            is_known = all(each.hash and self._lab.is_as_indexed(split_id(each.id)[0]) for each in ends)
            if source != step.node and is_known:
                what = describe_mutant(mutant.line, mutant.what)
                edges.append(ProvenEdge(ends[0], ends[1], step.is_direct, step.row, self._id, what, test, now))
        return edges

    # -- the mutants

    def _experiment(self, mutants: Sequence[Mutant], earlier: NodeRecord | None) -> NodeRecord:
        """Run the tests without and with mutants, and save what is found after each."""
        lab = self._lab
        record = NodeRecord(self._version, lab.state, int(time.time()))
        if not self._subject.tests:
            return self._save(record, [])
        copy = lab.copies(1)[0]
        if not lab.is_as_indexed(self._subject.target.path):
            raise ProofFailed(f"{self._subject.target.path} changed while it was copied; run the command again")
        lab.progress(f"tests of {self._id} without a mutant", 0, 0)
        kept = earlier if earlier is not None else record
        self._baseline = baseline = self._baseline or self._run_baseline(copy, kept)
        if baseline is None:
            return kept
        record.tests, record.plain_runs = baseline.states, kept.plain_runs
        wanted = {test for test, state in baseline.states.items() if state.left_out == RUNS}
        self._carry_over(record, earlier, wanted)
        record = self._save(record, [])
        if baseline.is_early:  # a mutant that breaks the collection shows no way, so that one that does not is first
            mutants = (*self._in_tests, *mutants)
        open_mutants = [each for each in mutants if not record.is_decided(each.id, wanted)]
        done = len(mutants) - len(open_mutants)
        # The first mutant mostly proves what there is. The others then prove only what is left, in any order.
        for batch in (open_mutants[:1], open_mutants[1:]):
            proven = {test for test in wanted if record.proving(test)}
            for mutant, mutant_record in self._run_batch(batch, baseline, record, proven):
                done += 1
                lab.progress(f"mutants of {self._id}", done, len(mutants))
                if mutant_record is None:
                    continue
                for test in mutant_record.flaky:
                    record.tests[test] = record.tests[test]._replace(left_out=FLAKY)
                before = record.mutants.get(mutant.id)
                merged = {**(before.outcomes if before is not None else {}), **mutant_record.outcomes}
                record.mutants[mutant.id] = MutantRecord(mutant.id, mutant.line, mutant.what, merged)
                now = int(time.time())
                edges = [
                    edge for each in mutant_record.proofs for edge in self._edges_of(each.way, mutant, each.test, now)
                ]
                record = self._save(record, edges)
        return record

    def _carry_over(self, record: NodeRecord, earlier: NodeRecord | None, wanted: set[str]) -> None:
        """Take outcomes of tests that are as they were, and reach the function the same way; keep flaky ones out."""
        for test, state in earlier.tests.items() if earlier is not None else ():
            if state.left_out == FLAKY and test in wanted and record.tests[test].version == state.version:
                record.tests[test] = state
                wanted.discard(test)
        same = (
            set()
            if earlier is None
            else {test for test in wanted if test in earlier.tests and earlier.tests[test] == record.tests[test]}
        )
        for each in earlier.mutants.values() if earlier is not None else ():
            outcomes = {test: outcome for test, outcome in each.outcomes.items() if test in same}
            if outcomes:
                record.mutants[each.id] = each._replace(outcomes=outcomes)

    def _save(self, record: NodeRecord, edges: Sequence[ProvenEdge]) -> NodeRecord:
        self._store = save_record(self._lab.folder, self._id, record, edges, self._lab.freshness)
        return record

    def _run_batch(
        self, mutants: Sequence[Mutant], baseline: _Baseline, record: NodeRecord, proven: set[str]
    ) -> "_Results":
        n_jobs = min(self._lab.options.jobs, len(mutants)) or 1
        return _Results(self, self._lab.copies(n_jobs), mutants, baseline, record, proven)

    def try_mutant(self, copy: TreeCopy, mutant: Mutant, names: Mapping[str, str], proven: set[str]) -> "_Ends | None":
        """Return how tests end with a mutant, and the failures that are proofs; None if none ended in time."""
        if not names or time.monotonic() >= self._lab.deadline:
            return None
        run = self._run_broken(copy, mutant, tuple(names))
        if not run.is_over:  # what ended counts, and the rest is left for the next run
            cut = {test for name, test in names.items() if name not in run.ended}
            names = {name: test for name, test in names.items() if test not in cut}
        outcomes: dict[str, str] = {}
        failing: dict[str, list[_Failure]] = {}
        for name, test in names.items():
            ended = run.ended.get(name)
            if ended is None and run.is_uncollected(name):
                ended = EndedTest(name, test, "failed", COLLECTION, 0.0, ())
            if ended is None:
                outcomes.setdefault(test, HANGS)
            elif ended.outcome == "failed":
                way = self._steps(ended.frames, test, mutant.n_more_lines)
                failing.setdefault(test, []).append(
                    _Failure(name, test, way, bool(way) and self._is_raised(ended, mutant))
                )
            elif outcomes.get(test) != HANGS:
                outcomes[test] = PASSED if ended.outcome == "passed" and outcomes.get(test) != UNSURE else UNSURE
        outcomes |= dict.fromkeys(failing, FAILED)
        # Of one test with several parameters, one that failed in the function itself.
        chosen = [next((f for f in each if f.way), each[0]) for each in failing.values() if each[0].test not in proven]
        proofs: list[_Failure] = []
        flaky: set[str] = set()
        for each, outcome in self._confirm(copy, mutant, chosen):
            if not outcome:
                del outcomes[each.test]  # it is left for the next run
            else:
                outcomes[each.test] = outcome if outcome == PROVEN else UNSURE
                proofs += [each] if outcome == PROVEN else []
                flaky |= {each.test} if outcome == FLAKY else set()
        return _Ends(outcomes, proofs, flaky) if outcomes else None

    def _is_raised(self, ended: EndedTest, mutant: Mutant) -> bool:
        """Return True if the failure is the error that a mutant raises at the start of the function."""
        target, (path, line, name, *_) = self._subject.target, ended.frames[-1]
        is_inside = path == target.path and name == target.name and target.first <= line <= target.last
        return mutant.is_raising and is_inside

    def _run_broken(self, copy: TreeCopy, mutant: Mutant, names: Sequence[str]) -> TestRun:
        copy.write(self._subject.target.path, mutant.data)
        run = self._run(copy, names)
        copy.restore()
        return run

    def _confirm(self, copy: TreeCopy, mutant: Mutant, failures: Sequence[_Failure]) -> Iterator[tuple[_Failure, str]]:
        """Yield each failure with its end: PROVEN, UNSURE if it does not happen again, FLAKY if without the mutant too.

        The end is "" if time was up.
        """
        together = tuple(each for each in failures if each.way)
        groups = ([together] if together else []) + [(each,) for each in failures if not each.way]
        ends = {each: end for group in groups for each, end in self._fail_again(copy, mutant, group).items()}
        for _ in range(_MORE_ROUNDS):
            open_failures = [each for each, end in ends.items() if end == PROVEN and not each.is_raised]
            ends |= self._fail_again(copy, mutant, open_failures)
        yield from ends.items()

    def _fail_again(self, copy: TreeCopy, mutant: Mutant, group: Sequence[_Failure]) -> dict[_Failure, str]:
        """Return how failures end that run once more with the mutant and without it, as `_confirm` says."""
        names = [each.name for each in group]
        if not group or time.monotonic() >= self._lab.deadline:
            return dict.fromkeys(group, "")
        broken, whole = self._run_broken(copy, mutant, names), self._run(copy, names)
        copy.restore()
        is_over = broken.is_over and whole.is_over
        ends: dict[_Failure, str] = {}
        for each in group:
            again, without = broken.ended.get(each.name), whole.ended.get(each.name)
            if not is_over and (again is None or without is None):
                ends[each] = ""
                continue
            is_broken = again.outcome == "failed" if again is not None else broken.is_uncollected(each.name)
            is_whole = without is not None and without.outcome == "passed"
            ends[each] = (PROVEN if is_broken else UNSURE) if is_whole else FLAKY
        return ends


class _Results:
    """Ends of the tests of mutants, in the order of the mutants, from as many workers as there are copies."""

    def __init__(
        self,
        experiment: _Experiment,
        copies: Sequence[TreeCopy],
        mutants: Sequence[Mutant],
        baseline: _Baseline,
        record: NodeRecord,
        proven: set[str],
    ) -> None:
        self._experiment, self._free, self._mutants = experiment, list(copies), mutants
        self._names, self._record, self._proven = baseline.names, record, proven
        self._n_jobs, self._is_stopped = len(copies), False

    def __iter__(self) -> Iterator[tuple[Mutant, _Ends | None]]:
        pool = ThreadPoolExecutor(self._n_jobs)
        try:
            yield from zip(self._mutants, pool.map(self._work, self._mutants), strict=True)
        finally:
            self._is_stopped = True
            pool.shutdown(cancel_futures=True)

    def _work(self, mutant: Mutant) -> _Ends | None:
        if self._is_stopped:
            return None
        copy = self._free.pop()
        try:
            earlier = self._record.mutants.get(mutant.id)
            decided = earlier.outcomes.keys() if earlier is not None else set()
            left_out = {test for test, state in self._record.tests.items() if state.left_out}
            names = {name: test for name, test in self._names.items() if test not in decided | left_out}
            return self._experiment.try_mutant(copy, mutant, names, self._proven)
        finally:
            self._free.append(copy)
