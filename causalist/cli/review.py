"""`causalist review`: a change as definitions, what it breaks, whom it touches, and what it forgot."""

import re
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import click

from causalist._internal.text_formatting import count_noun
from causalist.cli._output import emit, emit_document, emit_lines, say, show_progress
from causalist.cli._repository import (
    count_sightings,
    edge_location,
    limit_option,
    lookup_options,
    min_confidence_option,
    open_for_lookup,
    read_share,
)
from causalist.cli._run import NOTHING_FOUND, import_numpy
from causalist.errors import UsageError
from causalist.model.node_ids import split_id, unescape_name

if TYPE_CHECKING:
    from causalist.model.lookup import Affected, ChangesWith
    from causalist.pipeline.repository import Repository
    from causalist.prove import ProvenChange
    from causalist.review.broken_calls import BrokenCall
    from causalist.review.changes import ChangedDefinition
    from causalist.review.report import BrokenRule, HotSpot, Review
    from causalist.serialize.answers import Document

_T = TypeVar("_T")

CONDITION_HOLDS = 3  # exit code: one of --fail-on
_CONDITIONS = ("breaking", "secrets", "interface", "missing", "layers")
_MAX_TESTS = 20
_MAX_MISSING = 5
_MAX_PATHS = 12  # of one row, and names
_MIN_WHOLE = 3  # definitions of a file that came or went as a whole, of which more are one row
_MAX_SIGNATURE = 120  # of longer ones, equal parameters around those that differ are left out
_MIN_LEFT_OUT = 12
_WIDTH = 100  # of the lines of a terminal, but for names that are longer
_PROBABLE = 0.5
_UNLIKELY = 0.05  # users below are counted, not listed: mostly files that import one that changed
_MAX_PATCH_BYTES = 50_000_000
_ORDER = ("removed", "signature", "moved", "body", "added")
_HEADINGS = {
    "removed": "removed",
    "signature": "changed in signature",
    "moved": "moved or renamed",
    "body": "changed in body",
    "added": "added",
}


def _read_conditions(_: click.Context, __: click.Parameter, value: str | None) -> frozenset[str]:
    given = frozenset(word for word in (value or "").replace("|", ",").split(",") if word)
    unknown = sorted(given - {*_CONDITIONS})
    if unknown:
        raise click.BadParameter(f"{unknown[0]!r} is none of {', '.join(_CONDITIONS)}.")
    return given


@click.command("review")
@click.argument("revision", metavar="[REV|A..B]", required=False)
@lookup_options
@click.option("--staged", is_flag=True, help="Review what is staged instead of the working tree.")
@click.option("--patch", "patch", metavar="FILE", help="Review a unified diff on the files as they are; - is stdin.")
@click.option(
    "--format", "form", type=click.Choice(["text", "markdown", "github", "sarif", "svg"]), default="text",
    show_default=True,
    help="For a terminal, a pull request, annotations of GitHub, code scanning (SARIF 2.1.0), or as a picture.",
)  # fmt: skip
@click.option(
    "--fail-on", "conditions", metavar="LIST", callback=_read_conditions,
    help=f"Exit {CONDITION_HOLDS} if the review has one of these: {', '.join(_CONDITIONS)}.",
)  # fmt: skip
@click.option("--missing", "only_missing", is_flag=True, help="List only files that usually change too.")
@click.option("--pack", "as_pack", is_flag=True, help="Write the code that a reviewer needs, the change marked.")
@click.option(
    "--max-tokens", type=click.IntRange(min=200), default=8000, show_default=True, help="Token budget of --pack."
)
@click.option("--max-tests", type=click.IntRange(min=1), metavar="N", help="Maximum number of tests.  [default: 20]")
@click.option("--share", callback=read_share, metavar="P", help="Maximum share of all tests, such as 25%.")
@click.option("--max-depth", type=click.IntRange(min=1), metavar="N", help="Maximum number of steps to users.")
@min_confidence_option(0.0, "Minimum confidence of a use.")
@click.option("--prove", "is_proven", is_flag=True,
              help="Break the changed functions of Python and show which defects tests notice.")  # fmt: skip
@click.option("--max-mutants", type=click.IntRange(min=1), default=12, show_default=True, metavar="N",
              help="Maximum number of defects of a function of --prove.")  # fmt: skip
@click.option("--max-seconds", type=click.FloatRange(min=0, min_open=True), default=600.0, show_default=True,
              metavar="S", help="Maximum time of --prove; the next run goes on from there.")  # fmt: skip
@limit_option(20, "Maximum number of rows of each list but the tests.")
def review_command(
    revision: str | None,
    repo: Path | None,
    force: bool,
    as_json: bool,
    staged: bool,
    patch: str | None,
    form: str,
    conditions: frozenset[str],
    only_missing: bool,
    as_pack: bool,
    max_tokens: int,
    max_tests: int | None,
    share: float | None,
    max_depth: int | None,
    min_confidence: float,
    is_proven: bool,
    max_mutants: int,
    max_seconds: float,
    limit: int,
) -> None:
    """Show what a reviewer of a change needs.

    The change is the working tree against HEAD, a commit REV against its first parent, or a range. It is told as
    definitions, compared by their syntax: comments and white space are no change. Then come call sites that a changed
    signature breaks, users and tests by probability, and files that usually change too.

    Exit codes: 0 reviewed, 1 nothing changed (0 with --fail-on), 2 failure, 3 a condition of --fail-on holds.

    \b
    Example:
      causalist review main...HEAD --format markdown
      causalist review
      causalist review --staged --fail-on breaking,secrets
    """
    if sum((revision is not None, staged, patch is not None)) > 1:
        raise click.UsageError("Give only one of REV, --staged and --patch.")
    if is_proven and (staged or patch is not None):
        raise click.UsageError("--prove breaks the files as they are: leave out --staged and --patch.")
    if is_proven and not as_json and (as_pack or only_missing or form not in ("text", "markdown")):
        raise click.UsageError("--prove goes with --format text, markdown, and --json.")
    import_numpy()
    if revision is not None:
        from causalist.pipeline.repository import Repository

        review, after = Repository.review_revision(
            repo or Path(), revision, max_depth=max_depth, min_confidence=min_confidence
        )
    else:
        text = None if patch is None else _read_patch(patch)
        opened = open_for_lookup(repo, force=force, when_empty={} if as_json else None)
        review, after = opened.review(staged=staged, patch=text, max_depth=max_depth, min_confidence=min_confidence)
    for note in review.notes:
        say(f"note: {note}")
    if is_proven and after.observations is None:
        raise UsageError(f"--prove breaks the files as they are, and these are not those of {revision}: check it out")
    proofs, n_unproven = _prove(after, review, max_mutants, max_seconds) if is_proven else (None, 0)
    if n_unproven:
        functions = count_noun(n_unproven, "changed function")
        say(f"note: {functions} of other languages: not broken, because --prove knows only Python")
    n_tests = max_tests or _MAX_TESTS if share is None else max(1, int(share * review.n_tests))
    n_tests = min(n_tests, max_tests) if share is not None and max_tests else n_tests
    if as_json:
        from causalist.serialize.lookup_documents import review_document

        emit_document(review_document(review, limit, n_tests, proofs))
    elif as_pack:
        if review.files:
            emit(after.pack_review(review, max_tokens=max_tokens))
    elif only_missing:
        emit_lines(_format_missing(review, limit))
    elif form == "markdown":
        emit_lines(format_markdown(review, limit, n_tests, proofs or ()))
    elif form == "github":
        emit_lines(format_annotations(review))
    elif form == "svg":
        from causalist.serialize.svg import draw_review, uses_of_change

        if review.files:
            emit(draw_review(review, uses_of_change(review, after)))
    elif form == "sarif":
        emit_document(sarif_document(review))
    else:
        emit_lines(_format_review(review, limit, n_tests, proofs or ()))
    context = click.get_current_context()
    met = [each for each in _CONDITIONS if each in conditions and _holds(review, each)]
    if met:
        say(f"--fail-on: {', '.join(met)}")
        context.exit(CONDITION_HOLDS)
    if not review.files and not conditions:
        say(f"nothing changed between {_name(review.before)} and {_name(review.after)}")
        context.exit(NOTHING_FOUND)


def _prove(
    after: "Repository", review: "Review", max_mutants: int, max_seconds: float
) -> "tuple[tuple[ProvenChange, ...], int]":
    """Return (what tests notice of the changed functions of Python, the number of those of other languages)."""
    from causalist.prove import ProveOptions, find_subjects, prove_change

    names, n_others = find_subjects(after.index, review)
    options = ProveOptions(max_mutants=max_mutants, max_seconds=max_seconds)
    with show_progress() as progress:
        proofs = prove_change(
            names, lambda all_, failures: after.prove(*all_, options=options, progress=progress, failures=failures)
        )
    return proofs, n_others


def _describe_proof(proof: "ProvenChange") -> str:
    if proof.why:
        return proof.why
    verb = "is" if proof.n_noticed == 1 else "are"
    verdict = f"{proof.n_noticed} of {count_noun(proof.n_defects, 'defect')} {verb} noticed by tests"
    if proof.n_unnoticed == proof.n_defects:
        verdict = f"no test notices: {count_noun(proof.n_defects, 'defect')}"
    return verdict + (f"; {proof.n_undecided} not decided, time was up" if proof.n_undecided else "")


def _holds(review: "Review", condition: str) -> bool:
    holds = {
        "breaking": review.broken,
        "secrets": review.secrets,
        "interface": review.interface,
        "missing": review.missing,
        "layers": review.layers,
    }
    return bool(holds[condition])


def _read_patch(name: str) -> str:
    try:
        if name == "-":
            data = sys.stdin.buffer.read(_MAX_PATCH_BYTES + 1)
        else:
            with Path(name).open("rb") as file:
                data = file.read(_MAX_PATCH_BYTES + 1)
    except OSError as error:
        raise UsageError(f"cannot read the patch {name}: {error.strerror or error}") from error
    if len(data) > _MAX_PATCH_BYTES:
        raise UsageError(f"the patch {name} has more than {_MAX_PATCH_BYTES:,} bytes")
    return data.decode("utf-8", "surrogateescape")


def _name(side: str) -> str:
    return side[:10] if len(side) >= 40 and " " not in side else side or "nothing"


def _describe(change: "ChangedDefinition") -> str:
    """Return what happened to a definition, behind its name, but for its signatures."""
    from causalist.review.changes import ChangeKind

    if change.label == "file":
        return "imports" if change.is_import else "code outside of definitions"
    edited = ", its body too" if change.is_edited else ""
    if change.kind is ChangeKind.MOVED and change.old is not None:
        is_near = change.old.path == change.path
        return f"{change.label}, was {_short(change.old.node) if is_near else change.old.node}{edited}"
    return f"{change.label}{edited}" if change.kind is ChangeKind.SIGNATURE else change.label


def _signatures(change: "ChangedDefinition") -> tuple[str, str] | None:
    """Return the signatures before and after, each on one line; None if they did not change."""
    from causalist.review.changes import ChangeKind

    if change.kind is not ChangeKind.SIGNATURE or change.old is None or change.new is None:
        return None
    return _contrast(_on_one_line(change.old.head), _on_one_line(change.new.head))


def _contrast(old: str, new: str) -> tuple[str, str]:
    """Return two signatures without the parameters before and behind those that differ, if one is long.

    >>> _contrast("f(first, second, old)", "f(first, second, new)")
    ('f(first, second, old)', 'f(first, second, new)')
    >>> _contrast(f"f({'a, ' * 40}old)", f"f({'a, ' * 40}new, last)")
    ('f(…, old)', 'f(…, new, last)')
    """
    if max(len(old), len(new)) <= _MAX_SIGNATURE:
        return old, new
    n = next((i for i, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(len(old), len(new)))
    first, behind = old.find("(", 0, n) + 1, old.rfind(", ", 0, n) + 2
    if first and behind - first >= _MIN_LEFT_OUT:
        old, new = (f"{each[:first]}…, {each[behind:]}" for each in (old, new))
        n = first + 3
    most = min(len(old), len(new)) - n
    n_end = next((i for i in range(most) if old[-1 - i] != new[-1 - i]), most)
    comma, closing = old.find(", ", len(old) - n_end), old.rfind(")")
    if comma >= 0 and closing - comma >= _MIN_LEFT_OUT:
        old, new = (f"{each[: comma - len(old)]}, …{each[closing - len(old) :]}" for each in (old, new))
    return old, new


def _on_one_line(signature: str) -> str:
    """Return a signature without line breaks, and without white space and commas before its brackets.

    >>> _on_one_line("def f(\\n    a,\\n    b,\\n):")
    'def f(a, b):'
    """
    return re.sub(r",? ([)\]])", r"\1", re.sub(r"([(\[]) ", r"\1", " ".join(signature.split())))


class _WholeFile(NamedTuple):
    """Definitions of a file that came or went as a whole."""

    path: str
    names: tuple[str, ...]


def _group(review: "Review", changes: "Iterable[ChangedDefinition]") -> "list[ChangedDefinition | _WholeFile]":
    """Return the changes, with those of a file that came or went in one."""
    whole = {each.path for each in review.files if each.status in ("added", "removed")}
    groups: dict[str, list[ChangedDefinition]] = {}
    for each in changes:
        groups.setdefault(each.path, []).append(each)
    grouped: list[ChangedDefinition | _WholeFile] = []
    for path, inside in groups.items():
        is_one = path in whole and len(inside) > _MIN_WHOLE and len({each.kind for each in inside}) == 1
        grouped += [_WholeFile(path, tuple(map(_short, inside)))] if is_one else inside
    return grouped


def _by_kind(review: "Review", *, is_public: bool = False) -> "Iterator[tuple[str, list[ChangedDefinition]]]":
    """Yield (heading, changes) of the public interface, or of all else but files of which only imports changed."""
    shown = {id(each) for each in review.interface}
    for kind in _ORDER:
        changes = [each for each in review.definitions if each.kind == kind and not each.is_import]
        own = [each for each in changes if (id(each) in shown) == is_public]
        if own:
            yield f"{_HEADINGS[kind]}{', not public' if len(own) < len(changes) and not is_public else ''}", own


class _Row(NamedTuple):
    """A row of a section: `path` is printed once for all rows of a file, `more` are lines below the row."""

    path: str
    text: str
    more: tuple[str, ...] = ()


def _fit(path: str, text: str, reason: str) -> _Row:
    """Return the row with its reason behind it, or below it if both are too long for a line."""
    is_short = len(text) + len(reason) + 6 <= _WIDTH
    return _Row(path, f"{text}  {reason}" if is_short else text, () if is_short else tuple(_wrap(reason)))


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH - 14, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )  # fmt: skip


def _section(
    title: str, items: Sequence[_T], row_of: Callable[[_T], _Row], limit: int, option: str = "--limit"
) -> Iterator[str]:
    """Yield a section with a row for each of the first `limit` items; files come in the order of their first items."""
    if not items:
        return
    yield from ("", title)
    by_path: dict[str, list[_Row]] = {}
    for row in map(row_of, items[:limit]):
        by_path.setdefault(row.path, []).append(row)
    for path, rows in by_path.items():
        if path:
            yield f"  {path}"
        indent = "    " if path else "  "
        for row in rows:
            yield f"{indent}{row.text}"
            yield from (f"{indent}       {line}" for line in row.more)
    if len(items) > limit:
        yield f"  and {len(items) - limit} more; {option} shows more of them"


def _summary(review: "Review") -> str:
    counts = Counter(each.kind.value for each in review.definitions if each.label != "file")
    parts = [f"{counts[kind]} {_HEADINGS[kind]}" for kind in _ORDER if counts[kind]]
    n_outside = sum(each.label == "file" and not each.is_import for each in review.definitions)
    outside = f"; code outside of them in {count_noun(n_outside, 'file')}" if n_outside else ""
    sides = f"{_name(review.before)} -> {_name(review.after)}"
    return f"{sides}: {count_noun(len(review.files), 'file')}; definitions: {', '.join(parts) or 'none'}{outside}"


def _format_review(review: "Review", limit: int, n_tests: int, proofs: "Sequence[ProvenChange]" = ()) -> Iterator[str]:
    """Yield what a reviewer acts on, then what changed, then what that touches."""
    if not review.files:
        return
    yield _summary(review)
    yield from _section("call sites that no longer fit", review.broken, _broken_row, limit)
    yield from _section("secrets added", review.secrets, lambda each: _Row("", f"{each.path}:{each.line}"), limit)
    yield from _section("layer rules broken", review.layers, _rule_row, limit)
    public = [each for _, changes in _by_kind(review, is_public=True) for each in changes]
    yield from _section("public interface changed", _group(review, public), _interface_row, limit)
    yield from _format_missing(review, min(limit, _MAX_MISSING))
    yield from _section("hot spots", review.hot, _hot_row, limit)
    for heading, changes in _by_kind(review):
        yield from _section(heading, _group(review, changes), _definition_row, limit)
    yield from _section("defects tried in changed functions", proofs, _proof_row, limit)
    title = f"tests to run: {len(review.tests)} of {review.n_tests} may run it{_probably(review.tests)}"
    option = "--max-tests" if n_tests >= _MAX_TESTS else "--max-tests or --share"
    yield from _likely_section(title, review.tests, n_tests, option)
    title = f"users that may run what changed: {len(review.affected)}{_probably(review.affected)}"
    yield from _likely_section(title, review.affected, limit)
    yield from _section("other files", _list_others(review), _others_row, limit)


def _likely_section(title: str, affected: "Sequence[Affected]", limit: int, option: str = "--limit") -> Iterator[str]:
    """Yield a section of users or tests; very unlikely ones are counted."""
    likely = [each for each in affected if each.probability >= _UNLIKELY]
    yield from _section(title, likely, _user_row, limit, option)
    if n_unlikely := len(affected) - len(likely):
        if not likely:
            yield from ("", title)
        yield f"  {'and ' if likely else ''}{n_unlikely} below {_UNLIKELY}"


def _broken_row(each: "BrokenCall") -> _Row:
    return _fit("", f"{each.path}:{each.line}", f"{_short(each.node)} calls {_short(each.target)}: {each.why}")


def _rule_row(each: "BrokenRule") -> _Row:
    return _fit("", f"{each.path}:{each.line}", f"{_short(each.source)} uses {_short(each.target)}: {each.rule}")


def _interface_row(each: "ChangedDefinition | _WholeFile") -> _Row:
    if isinstance(each, _WholeFile):
        return _whole_row(each, "removed")
    row = _definition_row(each)
    return row._replace(text=f"{each.line:>5}  {_short(each)}  {_HEADINGS[each.kind.value]}: {_describe(each)}")


def _whole_row(each: _WholeFile, what: str) -> _Row:
    first, *further = _wrap(f"the file {what}, {count_noun(len(each.names), 'definition')}: {_some(each.names)}")
    return _Row(each.path, first, tuple(further))


def _some(names: Sequence[str]) -> str:
    """Return the first names, and how many there are besides."""
    more = f" and {len(names) - _MAX_PATHS} more" if len(names) > _MAX_PATHS else ""
    return f"{', '.join(names[:_MAX_PATHS])}{more}"


def _hot_row(each: "HotSpot") -> _Row:
    return _Row(split_id(each.node)[0], f"{_short(each.node)}  {_heat(each)}")


def _proof_row(each: "ProvenChange") -> _Row:
    return _fit(split_id(each.node)[0], _short(each.node), _describe_proof(each))


def _probably(affected: "Sequence[Affected]") -> str:
    n = sum(each.probability >= _PROBABLE for each in affected)
    return f", {n} of them probably" if 0 < n < len(affected) else ""


def _definition_row(each: "ChangedDefinition | _WholeFile") -> _Row:
    if isinstance(each, _WholeFile):
        return _whole_row(each, "as a whole")
    text = _describe(each) if each.label == "file" else f"{_short(each)}  {_describe(each)}"
    if (signatures := _signatures(each)) is None:
        return _Row(each.path, f"{each.line:>5}  {text}")
    signs = zip("-+", signatures, strict=True)
    return _Row(
        each.path, f"{each.line:>5}  {text}", tuple(line for sign, side in signs for line in _wrap(f"{sign} {side}"))
    )


def _others_row(note_and_paths: tuple[str, list[str]]) -> _Row:
    """Return one row for all files of a note."""
    note, paths = note_and_paths
    first, *further = _wrap(f"{note}: {_some(paths)}")
    return _Row("", first, tuple(further))


def _list_others(review: "Review") -> list[tuple[str, list[str]]]:
    """Return (note, files that have it) of the files that the definitions do not tell of."""
    by_note: dict[str, list[str]] = {}
    for each in review.files:
        if each.note or not each.has_code or each.status == "renamed":
            renamed = f" (was {each.before})" if each.status == "renamed" else ""
            status = f"{each.status}, " if each.status in ("added", "removed") else ""
            by_note.setdefault(f"{status}{each.note or 'renamed'}", []).append(f"{each.path}{renamed}")
    with_more = {each.path for each in review.definitions if not each.is_import}
    imports = [each.path for each in review.definitions if each.is_import and each.path not in with_more]
    if imports:
        by_note["imports alone"] = imports
    return list(by_note.items())


def _user_row(each: "Affected") -> _Row:
    path, symbol = split_id(each.node)
    return _fit(path or each.node, f"{each.probability:.2f}  {unescape_name(symbol or 'the file')}", _reason(each))


def _reason(each: "Affected") -> str:
    """Return why a change reaches a node: the use by which it depends on it."""
    from causalist.navigate.affected_tests import NAMED
    from causalist.navigate.coverage import OBSERVED

    if not each.depth:
        return "changed"
    if each.edge.rule == OBSERVED and each.edge.kind == "tests":  # no rule has a way
        return f"ran {_short(each.edge.target)} when it was observed"
    through = f" (overridden by {_short(each.overridden_by)})" if each.overridden_by else ""
    through = f" (in {_short(each.run_with)}, run with it)" if each.run_with else through
    edge = each.edge
    is_near = split_id(edge.source)[0] == split_id(each.node)[0] and edge.line is not None
    place = f"line {edge.line}" if is_near else edge_location(edge)
    use = "names" if edge.rule == NAMED else edge.kind  # of such tests, no code is known to run it
    seen = f", {sightings}" if (sightings := count_sightings(edge)) else ""
    return f"{use} {_short(edge.target)}, {place}{through}{seen}"


def _heat(spot: "HotSpot") -> str:
    return f"{count_noun(spot.n_users, 'user')}, its file in about {round(spot.n_commits)} recent commits"


def _format_missing(review: "Review", limit: int) -> Iterator[str]:
    def row_of(each: "ChangesWith") -> _Row:
        return _fit("", f"{each.probability:.2f}  {each.file}", _describe_history(each))

    yield from _section("usually changes too, and did not", review.missing, row_of, limit)


def _describe_history(each: "ChangesWith") -> str:
    name = each.changed.rpartition("/")[2]
    return f"changed in {each.n_both} of {count_noun(each.n_commits, 'commit')} of {name}"


def _short(node: "ChangedDefinition | str") -> str:
    """Return the name of a definition without its path, the path of a file."""
    node_id = node if isinstance(node, str) else node.node
    return unescape_name(node_id.partition("::")[2]) or node_id


def format_markdown(review: "Review", limit: int, n_tests: int, proofs: "Sequence[ProvenChange]" = ()) -> Iterator[str]:
    """Yield the review as a comment of a pull request; long lists are folded."""
    yield f"**Review** {_markdown(_summary(review))}"
    if review.broken:
        rows = [f"- `{e.path}:{e.line}` calls `{e.target}`: {_markdown(e.why)}" for e in review.broken]
        yield from _list("Call sites that no longer fit", rows, limit)
    if review.secrets:
        yield from _list("Secrets added", [f"- `{e.path}:{e.line}`" for e in review.secrets], limit)
    if review.layers:
        rows = [f"- `{e.path}:{e.line}` uses `{e.target}`: {_markdown(e.rule)}" for e in review.layers]
        yield from _list("Layer rules broken", rows, limit)
    if review.interface:
        public = [each for _, changes in _by_kind(review, is_public=True) for each in changes]
        rows = [_markdown_row(each, is_public=True) for each in _group(review, public)]
        yield from _list("Public interface changed", rows, limit)
    if review.missing:
        rows = [f"- {e.probability:.2f} `{e.file}` {_markdown(_describe_history(e))}" for e in review.missing]
        yield from _list("Usually changes too, and did not", rows, _MAX_MISSING)
    if review.hot:
        yield from _list("Hot spots", [f"- `{e.node}` {_heat(e)}" for e in review.hot], limit)
    yield from ("", "### Definitions", "")
    for heading, changes in _by_kind(review):
        yield from _fold(f"{heading} ({len(changes)})", [_markdown_row(e) for e in _group(review, changes)], limit)
    yield from _fold(
        "defects tried in changed functions", [f"- `{e.node}` {_markdown(_describe_proof(e))}" for e in proofs], limit
    )
    title = f"tests to run ({len(review.tests)} of {review.n_tests}{_probably(review.tests)})"
    likely = ([e for e in each if e.probability >= _UNLIKELY] for each in (review.tests, review.affected))
    tests, users = ([f"- {e.probability:.2f} `{e.node}` {_markdown(_reason(e))}" for e in each] for each in likely)
    yield from _fold(title, tests, n_tests)
    yield from _fold(f"users that may run it ({len(review.affected)}{_probably(review.affected)})", users, limit)
    others = [f"- {_markdown(note)}: {', '.join(f'`{p}`' for p in paths)}" for note, paths in _list_others(review)]
    yield from _fold("other files", others, limit)


def _markdown_row(each: "ChangedDefinition | _WholeFile", *, is_public: bool = False) -> str:
    if isinstance(each, _WholeFile):
        return f"- `{each.path}` {'removed' if is_public else 'as a whole'}: {_markdown(_some(each.names))}"
    heading = f"{_HEADINGS[each.kind.value]}: " if is_public else ""
    row = f"- `{each.node}` {heading}{_markdown(_describe(each))}"
    signatures = _signatures(each)
    return row if signatures is None else f"{row}: {_code(signatures[0])} → {_code(signatures[1])}"


def _code(text: str) -> str:
    """Return a text as code in Markdown, whatever marks it has."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence} {text} {fence}" if "`" in text else f"`{text}`"


def _list(title: str, rows: Sequence[str], limit: int) -> Iterator[str]:
    yield from ("", f"### {title} ({len(rows)})", "", *rows[:limit])
    if len(rows) > limit:
        yield f"- and {len(rows) - limit} more"


def _fold(title: str, rows: Sequence[str], limit: int) -> Iterator[str]:
    if rows:
        more = [f"- and {len(rows) - limit} more"] if len(rows) > limit else []
        yield from (f"<details><summary>{title}</summary>", "", *rows[:limit], *more, "", "</details>")


def _markdown(text: str) -> str:
    return text.replace("\\", "\\\\").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_").replace("|", "\\|")


def _findings(review: "Review") -> Iterator[tuple[str, str, str, int, str]]:
    """Yield (rule, level, path, 1-based line, message) of what stands at a line."""
    for each in review.broken:
        yield "broken-call", "error", each.path, each.line, f"calls {each.target}: {each.why}"
    for secret in review.secrets:
        yield "secret", "error", secret.path, secret.line, "this line looks like a secret"
    for rule in review.layers:
        yield "layers", "error", rule.path, rule.line, f"uses {rule.target}: {rule.rule}"
    for change in review.interface:
        if change.new is not None:
            signatures = _signatures(change)
            described = _describe(change) if signatures is None else "  ->  ".join(signatures)
            message = f"public interface changed: {described}"
            yield "interface", "warning", change.path, change.line, message


def format_annotations(review: "Review") -> Iterator[str]:
    """Yield commands that GitHub shows beside the lines of a pull request."""
    for rule, level, path, line, message in _findings(review):
        text = message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        place = path.replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
        yield f"::{level} file={place},line={line},title={rule}::{text}"


_RULES = {
    "broken-call": "A call that fitted the signature before the change and does not fit it now.",
    "secret": "A line that the change adds and that looks like a secret.",
    "layers": "An added use that the rules of layers of the repository forbid.",
    "interface": "A public definition with another signature or name.",
}


def sarif_document(review: "Review") -> "Document":
    """Return the findings of a review as SARIF 2.1.0."""
    from urllib.parse import quote

    results = [
        {
            "ruleId": rule,
            "level": level,
            "message": {"text": message},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": quote(path), "uriBaseId": "%SRCROOT%"},
                        "region": {"startLine": line},
                    }
                }
            ],
        }
        for rule, level, path, line, message in _findings(review)
    ]
    rules = [{"id": rule, "shortDescription": {"text": text}} for rule, text in _RULES.items()]
    driver = {"name": "causalist", "informationUri": "https://github.com/causalist/causalist", "rules": rules}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results, "columnKind": "unicodeCodePoints"}],
    }
