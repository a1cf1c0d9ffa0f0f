"""`causalist observe` records which definitions call which while a command runs; `causalist prove` breaks a function.

Proof is made in a copy of the work tree, and shows which tests notice.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist._internal.text_formatting import align_columns, count_noun, describe_age
from causalist.cli._output import emit_document, emit_lines, say, show_progress
from causalist.cli._repository import (
    answer_each_meaning,
    lookup_options,
    open_for_lookup,
    print_result,
    resolve_id,
)
from causalist.cli._run import NOTHING_FOUND
from causalist.serialize.lookup_documents import prove_document

if TYPE_CHECKING:
    from causalist.model.lookup import ObservedRun, ObservedStatus
    from causalist.prove import NodeProof


_MAX_RUNS_LISTED = 10


@click.command("observe", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@lookup_options
@click.option("--status", "is_status", is_flag=True, help="Show what was recorded; run nothing.")
@click.option("--forget", "is_forgotten", is_flag=True, help="Delete what was recorded; run nothing.")
def observe_command(
    command: tuple[str, ...],
    repo: Path | None,
    force: bool,
    is_status: bool,
    is_forgotten: bool,
    as_json: bool,
) -> None:
    """Run COMMAND and record the calls that happen.

    It is recorded which definitions of the repository call which. All processes of Python and Node that COMMAND starts
    are recorded, in the current folder and with the current environment; of Node, samples. It is also recorded what
    each test runs: of pytest, node --test, mocha, jest and go test, and of what writes coverage data that tells tests
    apart. callers, callees, neighbors, path, verify, impact and tests then confirm calls that were seen, add
    those that no rule finds, and lower those that never happen. A call counts until one of its two definitions changes.

    The exit code is that of COMMAND. With --json, its output goes to stderr.

    \b
    Example:
      causalist observe -- pytest -q
      causalist observe --status
    """
    if bool(command) + is_status + is_forgotten != 1:
        raise click.UsageError("Give either a command, such as `causalist observe -- pytest`, or --status or --forget.")
    repository = open_for_lookup(repo, force=force, when_empty={} if as_json else None)
    if is_forgotten:
        was_there = repository.forget_observed()
        _report(None, as_json, "forgot what was recorded" if was_there else "nothing was recorded")
        return
    code = 0
    if command:
        sys.stdout.flush()
        code, status = repository.observe(command, sys.stderr.fileno() if as_json else None)
    else:
        status = repository.observed_status()
    if command and not as_json:
        for line in _format_status(status, n_runs=1):
            say(line)
    elif status is None:
        _report(None, as_json, "nothing was recorded; `causalist observe -- COMMAND` records calls")
        code = NOTHING_FOUND
    else:
        _report(status, as_json, "")
    if code:
        click.get_current_context().exit(code)


def _report(status: "ObservedStatus | None", as_json: bool, message: str) -> None:
    if as_json:
        from causalist.serialize.lookup_documents import observed_document

        emit_document(observed_document(status))
    elif status is not None:
        emit_lines(_format_status(status, n_runs=_MAX_RUNS_LISTED))
    if message:
        say(message)


def _format_status(status: "ObservedStatus | None", n_runs: int) -> Iterator[str]:
    """Yield counts, then the last runs."""
    if status is None:
        yield "nothing was recorded: no process of Python or Node ran code of the repository"
        return
    runs = status.runs[-n_runs:][::-1]
    if status.killed:
        yield (
            f"{count_noun(len(status.killed), 'run')} ended before the calls were stored; the next "
            "`causalist observe -- COMMAND` takes them up"
        )
        yield from _format_runs(status.killed[-n_runs:][::-1])
        if not status.runs:
            return
    yield (
        f"{count_noun(status.n_direct, 'call', ',')} between definitions seen, {status.n_through:,} more through "
        f"other code, {status.n_tests:,} tests"
    )
    yield (
        f"{status.n_confirmed:,} confirm an edge, {status.n_added:,} are new, {status.n_lowered:,} edges were not seen "
        f"and are lowered, {status.n_stale:,} calls are stale"
    )
    yield from _format_runs(runs)
    if runs and not runs[0].n_processes and not status.n_tests:
        yield (
            "no process of the last run ran code of the repository; one of Python without PYTHONPATH or site, or of "
            "Node without NODE_OPTIONS, is not seen"
        )


def _format_runs(runs: "Sequence[ObservedRun]") -> list[str]:
    return align_columns(
        [(f"  {describe_age(run.time)} ago", count_noun(run.n_processes, "process", ","), run.command) for run in runs]
    )


_MAX_LISTED = 20


@click.command("prove")
@click.argument("node", required=False)
@lookup_options
@click.option("--python", type=click.Path(path_type=Path), metavar="PATH",
              help="Python of the project, with pytest.  [default: that of .venv, venv or env of the repository, "
              "else the active or the running one]")  # fmt: skip
@click.option("--jobs", type=click.IntRange(min=1, max=64), default=1, show_default=True, metavar="N",
              help="Number of mutants to run at the same time.")  # fmt: skip
@click.option("--max-mutants", type=click.IntRange(min=1), default=12, show_default=True, metavar="N",
              help="Maximum number of mutants.")  # fmt: skip
@click.option("--max-tests", type=click.IntRange(min=1), default=30, show_default=True, metavar="N",
              help="Maximum number of tests; the most probable first.")  # fmt: skip
@click.option("--max-seconds", type=click.FloatRange(min=0, min_open=True), default=600.0, show_default=True,
              metavar="S", help="Maximum time; the next run goes on from there.")  # fmt: skip
@click.option("--test-seconds", type=click.FloatRange(min=0, min_open=True), default=20.0, show_default=True,
              metavar="S", help="Time limit of one test.")  # fmt: skip
@click.option("--forget", "is_forgotten", is_flag=True, help="Delete what was proven; run nothing.")
@answer_each_meaning
def prove_command(
    node: str | None,
    repo: Path | None,
    force: bool,
    python: Path | None,
    jobs: int,
    max_mutants: int,
    max_tests: int,
    max_seconds: float,
    test_seconds: float,
    is_forgotten: bool,
    as_json: bool,
) -> None:
    """Break NODE in several ways and show which tests notice.

    NODE is a function or method of Python. In a copy of the work tree, its body is changed by one small defect at a
    time, and the tests that `causalist tests` ranks run with it. A test that fails only with a defect needs NODE: that
    is proven, and so are the calls that the failure went through. callers, tests, neighbors and path then show it;
    `causalist path A B --at-least proven` uses nothing else. A proof counts until one of its definitions changes.

    What is decided is kept, so that the next run goes on. Exit code 1 if nothing is proven.

    \b
    Example:
      causalist prove Session.verify --jobs 2
      causalist prove src/auth.py:42 --max-seconds 60 --json
    """
    if (node is None) != is_forgotten:
        raise click.UsageError("Give either NODE or --forget.")
    repository = open_for_lookup(repo, force=force, when_empty=prove_document(node or "", None) if as_json else None)
    if is_forgotten:
        was_there = repository.forget_proofs()
        if as_json:
            emit_document(prove_document("", None))
        say("forgot what was proven" if was_there else "nothing was proven")
        return
    from causalist.prove import ProveOptions

    name = resolve_id(repository, node or "")
    # A relative path is one from here, and the name of a program is looked up.
    program = python.absolute() if python is not None and len(python.parts) > 1 else python
    options = ProveOptions(program, jobs, max_mutants, max_tests, max_seconds, test_seconds)
    with show_progress() as progress:
        (proof,) = repository.prove(name, options=options, progress=progress)
    print_result(prove_document(name, proof) if as_json else None, _format_proof(proof), _nothing(proof))


def _nothing(proof: "NodeProof") -> str:
    """Return why nothing is proven, "" if something is."""
    record = proof.record
    if any(record.proving(test) for test in record.tests):
        return ""
    if not record.tests and proof.n_undecided:
        n_ended = sum(len(run["ended"]) for run in (record.plain_runs or {"runs": ()})["runs"])
        what_next = f"{count_noun(n_ended, 'run', ',')} of a test kept; run the command again" if n_ended else (
            "give more with --max-seconds"
        )  # fmt: skip
        return f"time was up before the tests of {proof.node} had run twice without a mutant; {what_next}"
    if not record.tests:
        return f"no test is known to reach {proof.node}; `causalist observe -- pytest` finds more of them"
    if not _list_tried(proof):
        return f"no test that passes is known to run {proof.node}"
    if proof.n_undecided:
        return f"time was up before anything of {proof.node} was proven; run the command again"
    if all(map(record.is_in_doubt, _list_tried(proof))):
        return f"nothing is proven: no test was seen to run {proof.node}, and none fails when it is broken"
    return f"nothing is proven: no test notices when {proof.node} is broken"


def _list_tried(proof: "NodeProof") -> list[str]:
    return [test for test, state in proof.record.tests.items() if not state.left_out]


def _format_proof(proof: "NodeProof") -> Iterator[str]:
    """Yield counts, then proven tests and edges, mutants that no test notices, and tests that were left out."""
    from causalist.prove import describe_mutant

    record = proof.record
    mutants = list(record.mutants.values())
    tried = _list_tried(proof)
    in_doubt = [test for test in tried if record.is_in_doubt(test)]
    unnoticed = [each for each in mutants
                 if set(each.outcomes.values()) == {"passed"} and record.is_decided(each.id, record.tests)]  # fmt: skip
    unnoticed = unnoticed if len(in_doubt) < len(tried) else []
    proven = [(test, of_test) for test in record.tests if (of_test := record.proving(test))]
    if tried:
        counts = f"{count_noun(len(mutants), 'mutant')}, {count_noun(len(tried), 'test')}"
        yield f"{proof.node}: {counts}, {len(proven)} proven to need it ({describe_age(record.time)} ago)"
    if proven:
        yield from ("", "proven: the test fails only with the mutant")
        yield from align_columns(
            [
                (f"  {test}", count_noun(len(of_test), "mutant"), describe_mutant(of_test[0].line, of_test[0].what))
                for test, of_test in proven[:_MAX_LISTED]
            ]
        )
        yield from _more(len(proven))
    if proof.edges:
        yield from ("", "edges on the way of a failure")
        yield from align_columns([(f"  {e.source.id} -> {e.target.id}", "call" if e.is_direct else "through other code")
                                  for e in proof.edges[:_MAX_LISTED]])  # fmt: skip
        yield from _more(len(proof.edges))
    if unnoticed:
        yield from ("", "no test notices")
        yield from (f"  {describe_mutant(each.line, each.what)}" for each in unnoticed[:_MAX_LISTED])
        yield from _more(len(unnoticed))
    if in_doubt:
        yield from ("", "not seen to run it, and no mutant is noticed; another process may run it")
        yield from (f"  {test}" for test in in_doubt[:_MAX_LISTED])
        yield from _more(len(in_doubt))
    aside = [(f"  {test}", state.left_out) for test, state in record.tests.items() if state.left_out]
    if aside:
        yield from ("", "left out")
        yield from align_columns(aside[:_MAX_LISTED])
        yield from _more(len(aside))
    if proof.n_more_tests:
        yield from ("", f"{count_noun(proof.n_more_tests, 'test')} not tried, less probable; --max-tests takes more")
    if proof.n_undecided and tried:
        yield from ("", f"{count_noun(proof.n_undecided, 'mutant')} not decided: time was up; the next run goes on")


def _more(n: int) -> Iterator[str]:
    if n > _MAX_LISTED:
        yield f"  and {n - _MAX_LISTED} more; --json lists all"
