"""Options of commands that read a repository, opening it for a command, and checks of optional extras."""

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import click

from causalist._internal.text_formatting import describe_age
from causalist.cli._output import emit_document, emit_lines, say, show_progress
from causalist.cli._run import NOTHING_FOUND, import_numpy
from causalist.errors import AmbiguousNode, CausalistError, ExtraMissing, NothingToIndex, ProofFailed, UsageError
from causalist.model.node_ids import NodeKind, split_id
from causalist.store.index_folder import FOLDER, INDEX_NAME

if TYPE_CHECKING:
    from causalist.index.options import RefreshCache
    from causalist.model.graph import Edge, Proof, Sighting
    from causalist.model.lookup import UnresolvedCall
    from causalist.model.scores import Hit
    from causalist.pipeline.repository import Repository


_MAX_STALE = 5  # calls that are listed
_MAX_MEANINGS = 8  # definitions of one name that are answered for
_NODE_ARGUMENTS = ("node", "source", "target")  # of a command
_ANSWERS = "causalist.answers"  # where the answers of an ambiguous name are kept
_IGNORES_RUNS = "causalist.ignores_runs"  # set by --no-observed
_WAITS, _NO_BACKGROUND = "causalist.waits", "causalist.no_background"  # set by --wait and --no-background
_PARTIAL = "causalist.partial"  # what a partial index has, for --json


class _Answer(NamedTuple):
    """Arguments of `print_result`."""

    document: Mapping[str, object] | None
    lines: tuple[str, ...]
    nothing: str
    is_found: bool


_Command = TypeVar("_Command", bound=Callable[..., Any])


def _check_folder(_: click.Context, __: click.Parameter, value: str | None) -> Path | None:
    if value is not None and not value.strip():
        raise click.BadParameter("must not be empty. Give a folder, or omit the option.")
    return None if value is None else Path(value)


def read_share(_: click.Context, __: click.Parameter, value: str | None) -> float | None:
    """Return the share that an option gives, in (0, 1]. Raises click.BadParameter."""
    if value is None:
        return None
    try:
        share = float(value.removesuffix("%")) / (100 if value.endswith("%") else 1)
    except ValueError:
        share = 0.0
    if not 0.0 < share <= 1.0:
        raise click.BadParameter(f"must be a share such as 25% or 0.25, not {value!r}.")
    return share


def _check_confidence(_: click.Context, __: click.Parameter, value: float) -> float:
    # click.FloatRange accepts NaN.
    if math.isnan(value) or not 0.0 <= value <= 1.0:
        raise click.BadParameter(f"must be between 0 and 1, not {value:g}.")
    return value


def repo_option(command: _Command) -> _Command:
    """Add --repo."""
    return click.option(
        "--repo",
        metavar="DIR",
        callback=_check_folder,
        help="Folder to index.  [default: the repository around the current folder]",
    )(command)


def repository_options(command: _Command) -> _Command:
    """Add --repo and --force."""
    force = click.option("--force", is_flag=True, help="Allow indexing a home directory or a file system root.")
    return repo_option(force(command))


def json_option(command: _Command) -> _Command:
    """Add --json as the argument `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(command)


def min_confidence_option(default: float, effect: str) -> Callable[[_Command], _Command]:
    """Return a decorator that adds --min-confidence."""
    return click.option(
        "--min-confidence", type=float, default=default, show_default=True, callback=_check_confidence, help=effect
    )


def open_repository(
    repo: Path | None,
    *,
    force: bool,
    processes: int | None = None,
    submodules: bool | None = None,
    when_empty: Callable[[NothingToIndex], Mapping[str, object]] | None = None,
    refresh_cache: "RefreshCache | None" = None,
    anew: bool = False,
    text: str | None = None,
    name: str = "",
    also: Sequence[str] = (),
) -> "Repository":
    """Return the repository in the folder `repo`, or around the current folder. Raises CausalistError.

    `when_empty` makes the document that is printed before NothingToIndex propagates, for --json. With `text` or
    the `name` of a definition, and without an index, only what that needs is parsed, and what the names `also` need;
    not with --wait.
    """
    start, is_exact = repo or Path(), repo is not None
    is_first = not _has_index(start)
    with show_progress(at_once=is_first) as progress:
        if is_first:
            progress("starting", 0, 0)  # before the imports, which take longer than users wait for a sign
        import_numpy()
        from causalist.index.options import IndexOptions
        from causalist.pipeline.repository import Repository

        options = IndexOptions(processes, progress, submodules, refresh_cache=refresh_cache, anew=anew)
        given = click.get_current_context().meta
        try:
            if (text is not None or name) and not given.get(_WAITS):
                background = not given.get(_NO_BACKGROUND)
                part = (
                    Repository.open_part(
                        start, text, exact_root=is_exact, force=force, options=options, background=background
                    )
                    if text is not None
                    else Repository.open_part_with(
                        start, name, also=also, exact_root=is_exact, force=force, options=options, background=background
                    )
                )
                if part is not None:
                    return part
            return Repository.open(start, exact_root=is_exact, force=force, options=options)
        except NothingToIndex as error:
            if when_empty is not None:
                emit_document(when_empty(error))
            raise


def _has_index(start: Path) -> bool:
    """Return True if a folder, or one around it, has an index of its own."""
    folder = start.absolute()
    return any(os.path.exists(each / FOLDER / INDEX_NAME) for each in (folder, *folder.parents))  # noqa: PTH110 - denied is False


def report_notes(repository: "Repository") -> None:
    """Report the notes of opening, such as an index that could not be written."""
    for note in repository.notes:
        say(f"note: {note.slug}: {note.detail}")


def require_extra(extra: str, package: str, least_major: int) -> None:
    """Check that `package` is installed in major version `least_major` or later. Raises ExtraMissing."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        installed = version(package)
    except PackageNotFoundError:
        what = f"{package}, which is not installed"
    else:
        major = installed.partition(".")[0]
        if major.isdecimal() and int(major) >= least_major:
            return
        what = f"{package} {least_major}, and {installed} is installed"
    raise ExtraMissing(f'this needs {what}; run: pip install "causalist[{extra}]"')


def lookup_options(command: _Command) -> _Command:
    """Add --repo, --force and --json."""
    return repository_options(json_option(command))


def observed_option(command: _Command) -> _Command:
    """Add --no-observed, which `open_for_lookup` obeys."""

    def ignore(context: click.Context, _: click.Parameter, value: bool) -> None:
        context.meta[_IGNORES_RUNS] = value

    return click.option(
        "--no-observed",
        is_flag=True,
        expose_value=False,
        callback=ignore,
        help="Use nothing that `observe` or `prove` found.",
    )(command)


def first_answer_options(command: _Command) -> _Command:
    """Add --wait and --no-background, which `open_repository` obeys."""

    def keep(name: str) -> Callable[[click.Context, click.Parameter, bool], None]:
        def callback(context: click.Context, _: click.Parameter, value: bool) -> None:
            context.meta[name] = value or context.meta.get(name, False)

        return callback

    waits = click.option(
        "--wait", is_flag=True, expose_value=False, callback=keep(_WAITS),
        help="Without an index, build it first instead of parsing only what is needed.",
    )  # fmt: skip
    alone = click.option(
        "--no-background", is_flag=True, expose_value=False, callback=keep(_NO_BACKGROUND),
        help="Without an index, leave no process behind that builds it.",
    )  # fmt: skip
    return waits(alone(command))


def limit_option(default: int, effect: str) -> Callable[[_Command], _Command]:
    """Return a decorator that adds --limit."""
    return click.option("--limit", type=click.IntRange(min=1), default=default, show_default=True, help=effect)


def open_for_lookup(
    repo: Path | None,
    *,
    force: bool,
    when_empty: Mapping[str, object] | None,
    anew: bool = False,
    name: str = "",
    also: Sequence[str] = (),
    is_enough: "Callable[[Repository], bool]" = lambda _: True,
) -> "Repository":
    """Return the repository after reporting the notes of opening it.

    `when_empty` is the document for an empty folder, None without --json. `anew` as in `IndexOptions`. With `name`, and
    without an index, only the files with that name or one of `also` and what they use are parsed, if these define it.
    The whole is opened if `is_enough` returns False for such a part or raises CausalistError.
    """
    document = when_empty
    when = None if document is None else lambda _: document
    repository = open_repository(repo, force=force, when_empty=when, anew=anew, name=name, also=also)
    if repository.n_parsed is not None:
        try:
            is_whole_needed = not is_enough(repository)
        except CausalistError:
            is_whole_needed = True
        if is_whole_needed:
            repository = open_repository(repo, force=force, when_empty=when, anew=anew)
    if repository.n_parsed is not None:
        given = click.get_current_context().meta
        given[_PARTIAL] = {"parsed": repository.n_parsed, "files": repository.info().files}
    report_notes(repository)
    return replace(repository, observations=None) if click.get_current_context().meta.get(_IGNORES_RUNS) else repository


def resolve_id(repository: "Repository", name: str) -> str:
    """Return the id of the node that `name` means.

    Assumptions are reported as a note. Raises UnknownNode, AmbiguousNode.
    """
    named = repository.resolve_name(name)
    if named.note:
        say(f"note: {named.note}")
    return repository.index.graph.nodes.ids[named.node]


def answer_each_meaning(command: _Command) -> _Command:
    """Make a command that takes NODE, or SOURCE and TARGET, answer for each definition of an ambiguous name.

    With --json the documents stand in a list `meanings`. Names of more definitions than anybody reads are refused. A
    definition for which the command has no use is left out with a note, unless it has none for any of them.
    """

    @wraps(command)
    def answer_all(**options: Any) -> None:
        context = click.get_current_context()
        answers: list[_Answer] = []
        readings, labels, reported = [options], list[str](), set[str]()
        refused: list[CausalistError] = []
        while readings:
            reading = readings.pop(0)
            try:
                command(**reading)
            except AmbiguousNode as error:
                named = next((key for key in _NODE_ARGUMENTS if reading.get(key) == error.name), None)
                if named is None or len(labels) + len(readings) + len(error.candidates) > _MAX_MEANINGS:
                    raise
                if error.name not in reported:
                    reported.add(error.name)
                    say(f"note: {len(error.candidates)} nodes are called {error.name!r}; each is answered for")
                    context.meta[_ANSWERS] = answers
                readings = [{**reading, named: each} for each in error.candidates] + readings
            except (UsageError, ProofFailed) as error:
                if not reported:
                    raise
                refused.append(error)
            else:
                given = [reading[key] or "" for key in _NODE_ARGUMENTS if key in reading]
                labels.append(" -> ".join(each if isinstance(each, str) else ", ".join(each) for each in given))
        if not reported:
            return
        if not answers and refused:
            raise refused[0]
        for refusal in refused:
            say(f"note: left out: {refusal}")
        if options["as_json"]:
            from causalist.serialize.lookup_documents import meanings_document

            emit_document(meanings_document(dict(answer.document or {}) for answer in answers))
        else:
            emit_lines(_format_meanings(labels, answers))
        if not any(answer.is_found for answer in answers):
            context.exit(NOTHING_FOUND)

    return cast(_Command, answer_all)


def _format_meanings(labels: "Sequence[str]", answers: "Sequence[_Answer]") -> Iterator[str]:
    """Yield the answers of each reading below what it names."""
    for i, (label, answer) in enumerate(zip(labels, answers, strict=True)):
        if i:
            yield ""
        yield f"{label}:"
        yield from (f"  {line}" if line else "" for line in answer.lines)
        if answer.nothing:
            yield f"  {answer.nothing}"


def report_unread(repository: "Repository", *nodes: str) -> None:
    """Say which files were not read and have the name of one of these nodes, so that they may use it."""
    from causalist.index.source_text import describe_unread

    note = describe_unread(repository.unread(*nodes))
    if note:
        say(note)


def print_result(
    document: Mapping[str, object] | None, lines: Iterable[str], nothing: str = "", *, is_found: bool = True
) -> None:
    """Print the document, or the lines without one. Exit 1 unless something is found.

    If `nothing` is not empty, nothing is found, and it is reported. Within `answer_each_meaning` all are kept instead.
    """
    is_found = is_found and not nothing
    partial = click.get_current_context().meta.get(_PARTIAL)
    if document is not None and partial is not None:
        document = {**document, "partial": partial}
    answers = click.get_current_context().meta.get(_ANSWERS)
    if answers is not None:
        answers.append(_Answer(document, tuple(lines) if document is None else (), nothing, is_found))
        return
    if document is not None:
        emit_document(document)
    else:
        emit_lines(lines)
    if nothing:
        say(nothing)
    if not is_found:
        click.get_current_context().exit(NOTHING_FOUND)


def describe_call(gap: "UnresolvedCall") -> str:
    """Return an unresolved call in words."""
    what = "what another call returns" if gap.name == "?" else f"something called {gap.name!r}"
    return f"{split_id(gap.node)[0]}:{gap.line}  {gap.node} calls {what}"


def describe_sighting(seen: "Sighting") -> str:
    """Return what runs saw of a call in words, with its age."""
    times = [f"{n:,} time{'s'[: n != 1]}{how}" for n, how in ((seen.n, ""), (seen.n_through, " indirectly")) if n]
    if times:
        return f"seen {' and '.join(times)} by `{seen.command}`, {describe_age(seen.time)} ago"
    runs = f"{seen.n_runs:,} run{'s'[: seen.n_runs != 1]}"
    return f"not seen in {runs} of its caller, by `{seen.command}`, {describe_age(seen.time)} ago"


def count_sightings(edge: "Edge") -> str:
    """Return how often a call was seen and how long ago, and that it is proven; "" without evidence."""
    sightings = []
    if edge.observed is not None:
        n = edge.observed.n + edge.observed.n_through
        how = f"seen {n:,}x" if n else f"unseen in {edge.observed.n_runs:,} runs"
        sightings.append(f"{how}, {describe_age(edge.observed.time)} ago")
    if edge.proven is not None:
        sightings.append(f"proven {describe_age(edge.proven.time)} ago")
    return ", ".join(sightings)


def describe_proof(proof: "Proof") -> str:
    """Return in words what broke with the target of an edge, with its age."""
    return f"proven by {proof.test}, which fails with {proof.node} {proof.mutant}, {describe_age(proof.time)} ago"


def report_stale_calls(repository: "Repository", source: str | None, target: str | None) -> None:
    """Say which calls were seen only before one of the two definitions changed; they count for nothing."""
    stale = repository.stale_calls(source, target)
    for each in stale[:_MAX_STALE]:
        say(
            f"note: stale, one of the two changed since: {each.source} -> {each.target}, {describe_sighting(each.seen)}"
        )
    if len(stale) > _MAX_STALE:
        say(f"note: and {len(stale) - _MAX_STALE} more stale calls; `causalist observe -- COMMAND` records anew")
    report_stale_proofs(repository, source, target)


def report_stale_proofs(repository: "Repository", source: str | None, target: str | None) -> None:
    """Say which edges were proven only before a definition changed; they count for nothing."""
    proofs = repository.stale_proofs(source, target)
    for proof in proofs[:_MAX_STALE]:
        say(f"note: stale, something changed since: {proof.source} -> {proof.target}, {describe_proof(proof.proof)}")
    if len(proofs) > _MAX_STALE:
        say(f"note: and {len(proofs) - _MAX_STALE} more stale proofs; `causalist prove NODE` tries anew")


def edge_location(edge: "Edge") -> str:
    """Return `path:line` of the use that an edge stands for: in the file of the source, of the target for a route."""
    path = split_id(edge.source)[0] or split_id(edge.target)[0]
    return path if edge.line is None else f"{path}:{edge.line}"


def node_location(hit: "Hit") -> str:
    """Return `path:line` of a node, `path` of a file, "" of an external node."""
    return hit.path if hit.kind == NodeKind.FILE.label or not hit.path else f"{hit.path}:{hit.start_row + 1}"
