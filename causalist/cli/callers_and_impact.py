"""`causalist callers`, `callees`, `routes`, `readers`, `writers`, `impact` and `tests`: edges and their reach.

Edges are printed one per line or as JSON; `impact` and `tests` start from a node or from the changes since a commit.
"""

import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict

import click

from causalist._internal.text_formatting import align_columns
from causalist.cli._output import emit, say
from causalist.cli._repository import (
    answer_each_meaning,
    count_sightings,
    edge_location,
    first_answer_options,
    limit_option,
    lookup_options,
    min_confidence_option,
    observed_option,
    open_for_lookup,
    print_result,
    read_share,
    report_stale_calls,
    report_unread,
    resolve_id,
)
from causalist.cli._run import NOTHING_FOUND
from causalist.model.graph import EdgeKind
from causalist.model.node_ids import TYPE_KINDS, split_id
from causalist.serialize.answers import callees_document, callers_document, calls_document
from causalist.serialize.lookup_documents import impact_document, routes_document, tests_document

if TYPE_CHECKING:
    from causalist.model.graph import Edge
    from causalist.model.lookup import Affected, ChangesWith, CoverageReport, Impact, TestChoice
    from causalist.pipeline.repository import Repository

_MAX_CHANGES_LISTED = 10
_MAX_TESTS = 50
_MIN_TESTS = 10  # that are listed if there are so many, the last of them as far less probable
_MAX_CHANGES_WITH = 10


class ImpactLimits(TypedDict):
    """Bounds of an impact search: depth and edge confidence."""

    max_depth: int | None
    min_confidence: float


class ChangeImpact(NamedTuple):
    """Affected nodes of a change. `what` describes the change in words."""

    what: str
    changed: Sequence[str]
    deleted: Sequence[str]
    affected: "Sequence[Affected]"

    def nothing(self, message: str) -> str:
        """Return the message for an empty result; "" if something is affected."""
        if self.affected:
            return ""
        return message if self.changed else f"no definition {self.what.removeprefix('what ')}"


def read_nodes(_: click.Context, __: click.Parameter, value: tuple[str, ...]) -> str | tuple[str, ...] | None:
    """Return one name as it is, several as a tuple, and None for none."""
    return value if len(value) > 1 else value[0] if value else None


def check_subject(node: str | tuple[str, ...] | None, revision: str | None) -> None:
    """Check that exactly one of the two is given. Raises click.UsageError."""
    if (node is None) == (revision is None):
        raise click.UsageError("Give either NODE or --diff REV.")


def find_impact(
    repository: "Repository",
    node: str | tuple[str, ...] | None,
    revision: str | None,
    of_nodes: "Callable[..., Sequence[Affected]]",
    since: "Callable[[str], Impact]",
) -> ChangeImpact:
    """Return the impact of nodes by `of_nodes`, or of the changes since a commit by `since`.

    Changes since a commit are reported on stderr.
    """
    if revision is None:
        given = (node,) if isinstance(node, str) else node or ("",)
        nodes = tuple(dict.fromkeys(resolve_id(repository, each) for each in given))
        report_unread(repository, *nodes)
        return ChangeImpact(", ".join(nodes), nodes, (), of_nodes(*nodes))
    impact = since(revision)
    _report_changes(revision, impact.changed, impact.deleted)
    return ChangeImpact(f"what changed since {revision}", impact.changed, impact.deleted, impact.affected)


def _report_changes(revision: str, changed: Sequence[str], deleted: Sequence[str]) -> None:
    if changed:
        more = f" and {len(changed) - _MAX_CHANGES_LISTED} more" if len(changed) > _MAX_CHANGES_LISTED else ""
        say(f"changed since {revision}: {', '.join(changed[:_MAX_CHANGES_LISTED])}{more}")
    if deleted:
        more = f" and {len(deleted) - _MAX_CHANGES_LISTED} more" if len(deleted) > _MAX_CHANGES_LISTED else ""
        say(f"note: what used deleted files is not known: {', '.join(deleted[:_MAX_CHANGES_LISTED])}{more}")


def format_affected(affected: "Sequence[Affected]", *, with_depth: bool = False) -> list[str]:
    """Return one line per affected node with the edge that reaches it."""
    rows = []
    for user in affected:
        edge = user.edge
        depth = f" (depth {user.depth})" if with_depth else ""
        if user.overridden_by:
            depth = f", which {user.overridden_by} overrides{depth}"
        elif user.runs:
            depth = f", which runs {user.runs}{depth}"
        elif user.run_with:
            depth = f" in {user.run_with}, run with it{depth}"
        rows.append(
            (
                f"  {user.node}",
                f"{edge.kind} {edge.target}",
                f"{edge.rule} {edge.confidence:.2f}",
                "  ".join(filter(None, (edge_location(edge) + depth, count_sightings(edge)))),
            )
        )
    return align_columns(rows)


@click.command("impact")
@click.argument("node", nargs=-1, callback=read_nodes, metavar="[NODE]...")
@lookup_options
@observed_option
@click.option("--diff", "revision", metavar="REV", help="Analyze the changes between this commit and the working tree.")
@click.option("--max-depth", type=click.IntRange(min=1), metavar="N", help="Maximum number of steps.")
@min_confidence_option(0.0, "Minimum confidence of a use.")
@limit_option(50, "Maximum number of affected nodes, of tests, and of mentions; nearest first.")
@click.option("--no-history", is_flag=True, help="Leave out files that are likely to change with NODE's file.")
@click.option("--format", "form", type=click.Choice(["text", "svg"]), default="text", show_default=True,
              help="As text, or the users and tests as a picture.")  # fmt: skip
@answer_each_meaning
def impact_command(
    node: str | tuple[str, ...] | None,
    repo: Path | None,
    force: bool,
    revision: str | None,
    max_depth: int | None,
    min_confidence: float,
    limit: int,
    no_history: bool,
    form: str,
    as_json: bool,
) -> None:
    """Show what a change of NODE affects.

    First come the files that are likely to change with the file of NODE, with the probability and the reasons: common
    commits, uses, words and names. Affected are the direct and indirect users of NODE and its members; tests are listed
    separately. Callers of a method that NODE overrides may run NODE and are included. A call of a class runs its
    constructor. Documentation that mentions NODE or its members follows. Of several NODEs, users of any count, with the
    probability that they run one of them. Use --diff instead of NODE to analyze all changed definitions. `blast` is
    another name of this command.

    \b
    Example:
      causalist impact Session.verify --max-depth 2
      causalist impact --diff main --min-confidence 0.5
    """
    check_subject(node, revision)
    empty = impact_document((), (), 0, ()) if as_json else None
    repository = open_for_lookup(repo, force=force, when_empty=empty)
    limits: ImpactLimits = {"max_depth": max_depth, "min_confidence": min_confidence}
    impact = find_impact(
        repository, node, revision, partial(repository.impact, **limits), partial(repository.impact_since, **limits)
    )
    if form == "svg":
        _draw(impact)
        return
    mentions = [edge for edge in repository.documentation(*impact.changed) if edge.confidence >= min_confidence]
    together = () if no_history else repository.changes_with(*impact.changed, affected=impact.affected)
    together = together[: min(limit, _MAX_CHANGES_WITH)]
    missing = "" if no_history or not impact.changed else repository.describe_missing_history()
    if missing and (together or not impact.affected):
        say(f"note: {missing}")
    for each in impact.changed:
        report_stale_calls(repository, None, each)
    nothing = "" if mentions or together else impact.nothing(f"nothing is known to use {impact.what}")
    affected = impact.affected
    shown = select_nearest(affected, limit)
    document = (
        impact_document(impact.changed, impact.deleted, len(affected), shown, mentions[:limit], together)
        if as_json
        else None
    )
    lines = chain(_format_changes_with(together), format_impact(affected, shown), format_mentions(mentions, limit))
    print_result(document, lines, nothing)


def _draw(impact: ChangeImpact) -> None:
    """Print the affected nodes as a picture; exit with 1 if there are none."""
    if not impact.affected:
        say(impact.nothing(f"nothing is known to use {impact.what}"))
        click.get_current_context().exit(NOTHING_FOUND)
    from causalist.serialize.svg import draw_impact

    emit(draw_impact(impact.changed, impact.affected, impact.what))


def _format_changes_with(together: "Sequence[ChangesWith]") -> Iterator[str]:
    """Yield the files that probably change as well, each with its probability and reasons.

    Of several changed files, the one that says so is named.
    """
    if together:
        is_one = len({each.changed for each in together}) == 1
        rows = [
            (
                f"  {each.file}",
                f"{each.probability:.2f}",
                ("" if is_one else f"with {each.changed}: ") + "; ".join(each.reasons),
            )
            for each in together
        ]
        yield from ("likely to change with it", *align_columns(rows), "")


def format_mentions(mentions: "Sequence[Edge]", limit: int) -> Iterator[str]:
    """Yield the documentation that may need an update."""
    if mentions:
        yield from ("", "mentioned in documentation", *(f"  {line}" for line in format_edges(mentions[:limit])))
    if len(mentions) > limit:
        yield f"  and {len(mentions) - limit} more; --limit shows more of them"


def select_nearest(affected: "Sequence[Affected]", limit: int) -> "list[Affected]":
    """Return at most `limit` nodes of code and `limit` tests, so that many tests hide no code.

    The most probable are chosen, and come first among those of one depth.
    """
    ranked = sorted(affected, key=lambda each: (-each.probability, each.depth, each.node))
    tests = [each for each in ranked if each.role == "test"][:limit]
    others = [each for each in ranked if each.role != "test"][:limit]
    return sorted((*tests, *others), key=lambda each: (each.depth, -each.probability, each.node))


def format_impact(affected: "Sequence[Affected]", shown: "Sequence[Affected]") -> Iterator[str]:
    """Yield counts, then code by depth, then tests, each with the edge that reaches it."""
    n_tests = sum(each.role == "test" for each in affected)
    if affected:
        yield f"{len(affected)} affected, {n_tests} of them in tests"
        reached = Counter(each.layer for each in affected if each.layer and each.role != "test")
        if reached:
            hot = sum(each.tier == "hot" for each in affected if each.role != "test")
            by_layer = ", ".join(f"{layer} {n}" for layer, n in sorted(reached.items(), key=lambda e: (-e[1], e[0])))
            yield f"by layer: {by_layer}; {hot} of them hot"
    for depth in sorted({each.depth for each in shown}):
        own = [each for each in shown if each.depth == depth and each.role != "test"]
        if own:
            yield from ("", f"depth {depth}", *format_affected(own))
    tests = [each for each in shown if each.role == "test"]
    if tests:
        yield from ("", "tests", *format_affected(tests, with_depth=True))
    if len(affected) > len(shown):
        yield f"and {len(affected) - len(shown)} more; --limit shows more of them"


@click.command("tests")
@click.argument("node", nargs=-1, callback=read_nodes, metavar="[NODE]...")
@lookup_options
@observed_option
@click.option("--diff", "revision", metavar="REV", help="Analyze the changes between this commit and the working tree.")
@click.option(
    "--max-depth", type=click.IntRange(min=1), metavar="N",
    help="Maximum number of steps; 1 lists direct tests of NODE.",
)  # fmt: skip
@min_confidence_option(0.0, "Minimum confidence of a use.")
@click.option(
    "--limit", "--max", "limit", type=click.IntRange(min=1), metavar="N",
    help="Maximum number of tests; the most probable first.  [default: 50, without --share]",
)  # fmt: skip
@click.option(
    "--share", callback=read_share, metavar="P",
    help="Maximum share of all tests of the repository, such as 25% or 0.25.",
)  # fmt: skip
@click.option(
    "--coverage", "coverage", multiple=True, type=click.Path(path_type=Path), metavar="FILE",
    help="Coverage data to read. Repeatable.  [default: at the usual places, such as .coverage and lcov.info]",
)  # fmt: skip
@click.option("--no-coverage", is_flag=True, help="Read no coverage data.")
@answer_each_meaning
def tests_command(
    node: str | tuple[str, ...] | None,
    repo: Path | None,
    force: bool,
    revision: str | None,
    max_depth: int | None,
    min_confidence: float,
    limit: int | None,
    share: float | None,
    coverage: tuple[Path, ...],
    no_coverage: bool,
    as_json: bool,
) -> None:
    """Show the tests that may run NODE.

    The most probable come first: those that call NODE or its members, then those that reach NODE through other code.
    The number is the probability that the test runs NODE, or one of several. Of functions, tests far less probable than
    the best one are left out. Use --diff instead of NODE for all changed definitions, and --limit or --share for what
    there is time to run, less probable ones too.

    Coverage data of coverage.py, lcov, Istanbul, JaCoCo, Go or Cobertura decides where it tells tests apart: tests that
    ran NODE come first, others of the same run are left out, unless they or code on their way changed since. Else the
    lines of NODE that ran are counted.

    \b
    Example:
      causalist tests Session.verify
      causalist tests --diff main --share 25% --json
    """
    check_subject(node, revision)
    empty = tests_document((), (), 0, ()) if as_json else None
    repository = open_for_lookup(repo, force=force, when_empty=empty)
    limits: ImpactLimits = {"max_depth": max_depth, "min_confidence": min_confidence}
    files = () if no_coverage else coverage or None
    choices: list[TestChoice] = []

    def of_nodes(*names: str) -> "Sequence[Affected]":
        choices.append(repository.choose_tests(*names, coverage=files, **limits))
        return choices[0].tests

    def since(commit: str) -> "Impact":
        impact, choice = repository.choose_tests_since(commit, coverage=files, **limits)
        choices.append(choice)
        return impact._replace(affected=choice.tests)

    reached = find_impact(repository, node, revision, of_nodes, since)
    for each in reached.changed:
        report_stale_calls(repository, None, each)
    report = choices[0].coverage if choices else None
    for problem in choices[0].problems if choices else ():
        say(f"note: {problem}")
    steps = "" if max_depth is None else " in 1 step" if max_depth == 1 else f" in {max_depth} steps"
    nothing = reached.nothing(f"no test is known to reach {reached.what}{steps}")
    tests = reached.affected
    n_shown = _count_shown(repository, limit, share)
    n_more = 0
    if limit is None and share is None and choices and choices[0].n_probable is not None:
        n_shown = min(n_shown, choices[0].n_probable)
        n_more = max(_MIN_TESTS - n_shown, 0)
    shown = tests[:n_shown]
    document = tests_document(reached.changed, reached.deleted, len(tests), shown, report) if as_json else None
    print_result(document, format_tests(tests, shown, report, n_more), nothing)


def format_tests(
    tests: "Sequence[Affected]", shown: "Sequence[Affected]", report: "CoverageReport | None", n_more: int = 0
) -> Iterator[str]:
    """Yield what coverage data says, then the tests, the most probable first, each with the edge that reaches it.

    Behind those to be shown stand `n_more` far less probable ones.
    """
    if report is not None:
        from causalist.navigate.coverage import describe_coverage

        yield describe_coverage(report)
    if tests:
        yield f"{len(tests)} tests, the most probable first" if len(tests) > 1 else "1 test"
        yield ""
    listed = tests[: len(shown) + n_more]
    for number, (each, line) in enumerate(zip(listed, format_affected(listed, with_depth=True), strict=True)):
        if number == len(shown):
            yield "far less probable"
        yield f"  {each.probability:.2f}{line}"
    if len(tests) > len(listed):
        yield f"and {len(tests) - len(listed)} more; --limit shows more of them"


def _count_shown(repository: "Repository", limit: int | None, share: float | None) -> int:
    """Return the number of tests to show; a share of the suite is at least one test."""
    if share is None:
        return limit or _MAX_TESTS
    n_tests = max(1, int(share * repository.count_tests()))
    return n_tests if limit is None else min(limit, n_tests)


def show_callees(node: str, *, repo: Path | None, force: bool, min_confidence: float, as_json: bool) -> None:
    """Print the calls that `node` makes."""
    from causalist.navigate import find_overriding

    empty = callees_document(node, (), {}) if as_json else None
    repository = open_for_lookup(repo, force=force, when_empty=empty, name=node)
    name = resolve_id(repository, node)
    all_edges = repository.callees(name)
    edges = [edge for edge in all_edges if edge.certainty >= min_confidence]
    overriding = find_overriding(repository.index.graph, edges)
    report_stale_calls(repository, name, None)
    nothing = _empty_message(f"calls that {name} makes inside the repository", len(all_edges), min_confidence)
    lines = [*format_edges(edges, name), *_format_overriding(overriding)]
    document = callees_document(name, edges, overriding) if as_json else None
    print_result(document, lines, "" if edges else nothing)


_MAX_OVERRIDING = 10  # methods listed that may run in place of one callee


def _format_overriding(overriding: "Mapping[str, Sequence[str]]") -> Iterator[str]:
    """Yield, for each callee, what may run in its place."""
    for callee, methods in overriding.items():
        yield ""
        yield f"in place of {callee}, what overrides it may run"
        yield from (f"  {each}" for each in methods[:_MAX_OVERRIDING])
        if len(methods) > _MAX_OVERRIDING:
            yield f"  and {len(methods) - _MAX_OVERRIDING} more; --json lists all"


def show_callers(node: str, *, repo: Path | None, force: bool, min_confidence: float, as_json: bool) -> None:
    """Print the calls to `node`, then indirect uses in separate lists.

    These are calls of overridden methods, uses of the class of a special method, uses without a call, and documentation
    that mentions the node.
    """
    empty = callers_document(node, (), (), ()) if as_json else None
    repository = open_for_lookup(repo, force=force, when_empty=empty, name=node)
    name = resolve_id(repository, node)
    all_edges = (
        repository.callers(name),
        repository.callers_through(name),
        repository.references(name),
        repository.documentation(name),
    )
    edges, through, references, documents = ([e for e in each if e.certainty >= min_confidence] for each in all_edges)
    has_callers = edges or through or references or documents
    report_unread(repository, name)
    report_stale_calls(repository, None, name)
    nothing = "" if has_callers else _empty_message(f"calls to {name}", sum(map(len, all_edges)), min_confidence)
    document = callers_document(name, edges, through, references, documents) if as_json else None
    nodes = repository.index.graph.nodes
    types = {e.target for e in through if nodes.kinds[nodes.ids.position(e.target)] in TYPE_KINDS}
    print_result(document, format_callers(edges, through, types, references, documents, name), nothing)


def format_edges(edges: "Sequence[Edge]", asked: str = "") -> list[str]:
    """Return one line per edge: confidence, rule, ends, and location in the file of its source.

    Of functions between which a build chooses, the confidence is that of all, and the rule says how many there are. On
    a terminal a line does not repeat the node that was asked for.
    """
    known = asked if sys.stdout is not None and sys.stdout.isatty() else ""
    return align_columns(
        [(f"{e.certainty:.3f}", describe_rule(e), _ends(e, known), edge_location(e), count_sightings(e)) for e in edges]
    )


def _ends(edge: "Edge", known: str) -> str:
    """Return both ends of an edge, or the other one if one is known."""
    if known and known in (edge.source, edge.target):
        return edge.target if edge.source == known else edge.source
    return f"{edge.source} -> {edge.target}"


def describe_rule(edge: "Edge") -> str:
    """Return the rule of an edge, with the number of functions between which a build chooses."""
    from causalist.model.graph import BUILD_VARIANT

    return f"{edge.rule}, one of {edge.candidates}" if edge.rule == BUILD_VARIANT else edge.rule


def format_callers(
    edges: "Sequence[Edge]",
    through: "Sequence[Edge]",
    types: Collection[str],
    references: "Sequence[Edge]",
    documents: "Sequence[Edge]",
    asked: str = "",
) -> Iterator[str]:
    """Yield direct calls, calls through overridden methods and classes, then other uses of the node that is `asked`.

    `types` are those classes.
    """
    yield from format_edges(edges, asked)
    for base in sorted({edge.target for edge in through}):
        if edges or base != min(edge.target for edge in through):
            yield ""
        how = "who uses this may run it without its name" if base in types else "which it overrides"
        yield f"through {base}, {how}"
        yield from format_edges([edge for edge in through if edge.target == base], base if asked else "")
    named, routed = (
        [e for e in references if (e.kind == EdgeKind.REFERENCES.label) == is_named] for is_named in (True, False)
    )
    is_first = not edges and not through
    for title, listed in (
        ("named without a call: handed on, kept, or used as a type", named),
        ("through routes, events and queued jobs", routed),
        ("mentioned in documentation", documents),
    ):
        if listed:
            if not is_first:
                yield ""
            is_first = False
            yield title
            yield from format_edges(listed, asked)


def _empty_message(calls: str, n_known: int, min_confidence: float) -> str:
    weaker = f" with a confidence of {min_confidence:g} or more; {n_known} with less" if n_known else ""
    return f"no {calls} are known{weaker}"


def show_users(node: str, kind: str, *, repo: Path | None, force: bool, min_confidence: float, as_json: bool) -> None:
    """Print the edges of one kind, "reads" or "writes", to `node` or its members."""
    repository = open_for_lookup(repo, force=force, when_empty=calls_document(node, ()) if as_json else None)
    name = resolve_id(repository, node)
    all_edges = repository.readers(name) if kind == EdgeKind.READS.label else repository.writers(name)
    edges = [edge for edge in all_edges if edge.certainty >= min_confidence]
    report_unread(repository, name)
    weaker = f" with a confidence of {min_confidence:g} or more; {len(all_edges)} with less" if all_edges else ""
    print_result(
        calls_document(name, edges) if as_json else None,
        format_edges(edges, name),
        "" if edges else f"nothing is known that {kind} {name}{weaker}",
    )


@click.command("callees")
@click.argument("node")
@lookup_options
@first_answer_options
@observed_option
@min_confidence_option(0.0, "Minimum confidence of a call.")
@answer_each_meaning
def callees_command(node: str, repo: Path | None, force: bool, min_confidence: float, as_json: bool) -> None:
    """Show what NODE calls, emits or queues inside the repository.

    NODE is an id, the end of an id, a path, or a path with a line. One call per line, sorted by confidence.

    \b
    Example:
      causalist callees Session.verify --min-confidence 0.5
      causalist callees src/auth.py:42
    """
    show_callees(node, repo=repo, force=force, min_confidence=min_confidence, as_json=as_json)


@click.command("callers")
@click.argument("node")
@lookup_options
@first_answer_options
@observed_option
@min_confidence_option(0.0, "Minimum confidence of a call.")
@answer_each_meaning
def callers_command(node: str, repo: Path | None, force: bool, min_confidence: float, as_json: bool) -> None:
    """Show the calls to NODE.

    NODE is an id, the end of an id, a path, or a path with a line. One call per line, sorted by confidence. Calls of a
    method that NODE overrides may run NODE and are listed below the name of that method. Calls of a class are calls of
    its constructor. For a special method, such as an operator, the uses of its class are listed separately. Uses that
    name NODE without a call follow, such as a function passed as an argument. Sections of documentation that mention
    NODE or its members come last.

    \b
    Example:
      causalist callers src/auth.py::Session.verify
    """
    show_callers(node, repo=repo, force=force, min_confidence=min_confidence, as_json=as_json)


@click.command("routes")
@click.argument("text", nargs=-1)
@lookup_options
def routes_command(text: tuple[str, ...], repo: Path | None, force: bool, as_json: bool) -> None:
    """List the routes that the repository serves.

    Each comes with what handles it. With TEXT, those whose method and path contain all of its words. The paths are
    those of the registrations below the prefixes of their routers, as the framework writes them. Routes whose paths are
    computed are not known.

    \b
    Example:
      causalist routes post /users
    """
    repository = open_for_lookup(repo, force=force, when_empty=routes_document(()) if as_json else None)
    routes = repository.routes(" ".join(text))
    lines = align_columns(
        [(each.method, each.path, each.handler, f"{split_id(each.handler)[0]}:{each.line}") for each in routes]
    )
    like = f" with {' '.join(text)!r}" if text else ""
    print_result(routes_document(routes) if as_json else None, lines, "" if routes else f"no routes{like} are known")


@click.command("readers")
@click.argument("node")
@lookup_options
@min_confidence_option(0.0, "Minimum confidence of a use.")
@answer_each_meaning
def readers_command(node: str, repo: Path | None, force: bool, min_confidence: float, as_json: bool) -> None:
    """Show the code that reads NODE.

    NODE is a variable of a file, a field, an environment variable (env:NAME) or a configuration key (config:KEY), given
    as for callers. For a type or file, readers outside of it of any of its values are shown. One reader per line,
    sorted by confidence.

    \b
    Example:
      causalist readers Session.timeout
      causalist readers env:DATABASE_URL
    """
    show_users(node, "reads", repo=repo, force=force, min_confidence=min_confidence, as_json=as_json)


@click.command("writers")
@click.argument("node")
@lookup_options
@min_confidence_option(0.0, "Minimum confidence of a use.")
@answer_each_meaning
def writers_command(node: str, repo: Path | None, force: bool, min_confidence: float, as_json: bool) -> None:
    """Show the code that writes NODE.

    A write assigns NODE or an element of it, or changes it by an operator. Changes by a method of the value are not
    tracked. NODE is given as for readers.

    \b
    Example:
      causalist writers Session.timeout
      causalist writers src/registry.py::HANDLERS --json
    """
    show_users(node, "writes", repo=repo, force=force, min_confidence=min_confidence, as_json=as_json)
