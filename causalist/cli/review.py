"""`causalist review`: a change as definitions, what it breaks, whom it touches, and what it forgot."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist._internal.text_formatting import align_columns, count_noun
from causalist.cli._output import emit, emit_document, emit_lines, say, show_progress
from causalist.cli._repository import (
    edge_location,
    limit_option,
    lookup_options,
    min_confidence_option,
    open_for_lookup,
)
from causalist.cli._run import NOTHING_FOUND, import_numpy
from causalist.cli.callers_and_impact import read_share
from causalist.errors import UsageError
from causalist.serialize.answers import Document
from causalist.serialize.lookup_documents import review_document

if TYPE_CHECKING:
    from causalist.model.lookup import Affected
    from causalist.pipeline.repository import Repository
    from causalist.prove import ProvenChange
    from causalist.review.changes import ChangedDefinition
    from causalist.review.report import Review

CONDITION_HOLDS = 3  # exit code: one of --fail-on
_CONDITIONS = ("breaking", "secrets", "interface", "missing", "layers")
_MAX_TESTS = 20
_MAX_MISSING = 5
_MAX_PATHS = 6  # of one line
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
    if is_proven and (revision is not None or staged or patch is not None):
        raise click.UsageError("--prove breaks the files as they are: leave out REV, --staged and --patch.")
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
    proofs, n_unproven = _prove(after, review, max_mutants, max_seconds) if is_proven else (None, 0)
    if n_unproven:
        functions = count_noun(n_unproven, "changed function")
        say(f"note: {functions} of other languages: not broken, because --prove knows only Python")
    n_tests = max_tests or _MAX_TESTS if share is None else max(1, int(share * review.n_tests))
    n_tests = min(n_tests, max_tests) if share is not None and max_tests else n_tests
    if as_json:
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
            names, options, lambda name, bounds: after.prove(name, options=bounds, progress=progress)[0]
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
    """Return what happened to a definition, behind its id."""
    from causalist.review.changes import ChangeKind

    if change.label == "file":
        return "imports or code outside of definitions"
    if change.old is None or change.new is None:
        return change.label
    if change.kind is ChangeKind.MOVED:
        edited = ", edited" if change.is_edited else ""
        return f"{change.label}, was {change.old.node}{edited}"
    if change.kind is ChangeKind.SIGNATURE:
        edited = "; its body, too" if change.is_edited else ""
        return f"{change.old.signature}  ->  {change.new.signature}{edited}"
    return change.label


def _by_kind(review: "Review") -> "Iterator[tuple[str, list[ChangedDefinition]]]":
    for kind in _ORDER:
        definitions = [each for each in review.definitions if each.kind == kind]
        if definitions:
            yield kind, definitions


def _section(title: str, lines: Sequence[str], limit: int) -> Iterator[str]:
    if lines:
        yield from ("", title, *lines[:limit])
        if len(lines) > limit:
            yield f"  and {len(lines) - limit} more; --limit shows more of them"


def _summary(review: "Review") -> str:
    counts = Counter(each.kind.value for each in review.definitions)
    parts = [f"{counts[kind]} {_HEADINGS[kind]}" for kind in _ORDER if counts[kind]]
    n_files = f"{len(review.files)} file{'s' if len(review.files) != 1 else ''}"
    return f"{_name(review.before)} -> {_name(review.after)}: {n_files}; definitions: {', '.join(parts) or 'none'}"


def _format_review(review: "Review", limit: int, n_tests: int, proofs: "Sequence[ProvenChange]" = ()) -> Iterator[str]:
    if not review.files:
        return
    yield _summary(review)
    broken = align_columns([(f"  {e.path}:{e.line}", e.target, e.why) for e in review.broken])
    yield from _section("call sites that no longer fit", broken, limit)
    yield from _section("secrets added", [f"  {each.path}:{each.line}" for each in review.secrets], limit)
    rules = [(f"  {e.path}:{e.line}", f"{e.source} uses {e.target}", e.rule) for e in review.layers]
    yield from _section("layer rules broken", align_columns(rules), limit)
    for kind, changes in _by_kind(review):
        rows = [(f"  {each.path}:{each.line}", _short(each), _describe(each)) for each in changes]
        yield from _section(_HEADINGS[kind], align_columns(rows), limit)
    yield from _section("other files", _format_others(review), limit)
    yield from _section(
        f"users that may run what changed ({len(review.affected)}, the most probable first)",
        _format_users(review.affected),
        limit,
    )
    yield from _section(
        f"tests to run ({len(review.tests)} of {review.n_tests} may run it)", _format_users(review.tests), n_tests
    )
    proven = [(f"  {each.node}", _describe_proof(each)) for each in proofs]
    yield from _section("defects tried in changed functions", align_columns(proven), limit)
    yield from _format_missing(review, min(limit, _MAX_MISSING))
    hot = [f"  {e.node}  {e.n_users} users, its file in {e.n_commits:g} recent commits" for e in review.hot]
    yield from _section("hot spots", hot, limit)
    public = [f"  {each.node}" for each in review.interface]
    yield from _section("public interface changed", public, limit)


def _format_others(review: "Review") -> list[str]:
    """Return the files that the definitions do not tell of, those with one note on one line."""
    by_note: dict[str, list[str]] = {}
    for each in review.files:
        if each.note or not each.has_code or each.status == "renamed":
            renamed = f" (was {each.before})" if each.status == "renamed" else ""
            status = f"{each.status}, " if each.status in ("added", "removed") else ""
            by_note.setdefault(f"{status}{each.note or 'renamed'}", []).append(f"{each.path}{renamed}")
    return [
        f"  {note}: {', '.join(paths[:_MAX_PATHS])}"
        + (f" and {len(paths) - _MAX_PATHS} more" if len(paths) > _MAX_PATHS else "")
        for note, paths in by_note.items()
    ]


def _format_users(affected: "Sequence[Affected]") -> list[str]:
    return [f"  {each.probability:.2f}  {each.node}  {_reason(each)}" for each in affected]


def _reason(each: "Affected") -> str:
    """Return why a change reaches a node: the use by which it depends on it."""
    if not each.depth:
        return "changed itself"
    through = f" (overridden by {each.overridden_by})" if each.overridden_by else ""
    through = f" (in {each.run_with}, run with it)" if each.run_with else through
    return f"{each.edge.kind} {each.edge.target}, {edge_location(each.edge)}{through}"


def _format_missing(review: "Review", limit: int) -> Iterator[str]:
    rows = [
        (f"  {each.file}", f"{each.probability:.2f}", f"{each.n_both} of {each.n_commits} commits of {each.changed}")
        for each in review.missing
    ]
    yield from _section("usually changes too, and did not (history)", align_columns(rows), limit)


def _short(change: "ChangedDefinition") -> str:
    return change.node.partition("::")[2] or change.node


def _status(status: str, before: str) -> str:
    return f"renamed from {before}" if status == "renamed" else status


def format_markdown(review: "Review", limit: int, n_tests: int, proofs: "Sequence[ProvenChange]" = ()) -> Iterator[str]:
    """Yield the review as a comment of a pull request; long lists are folded."""
    yield f"**Review** {_markdown(_summary(review))}"
    if review.broken:
        yield from ("", f"### Call sites that no longer fit ({len(review.broken)})", "")
        yield from (f"- `{e.path}:{e.line}` calls `{e.target}`: {_markdown(e.why)}" for e in review.broken[:limit])
    if review.secrets:
        yield from ("", "### Secrets added", "", *(f"- `{e.path}:{e.line}`" for e in review.secrets[:limit]))
    if review.layers:
        yield from ("", f"### Layer rules broken ({len(review.layers)})", "")
        yield from (f"- `{e.path}:{e.line}` uses `{e.target}`: {_markdown(e.rule)}" for e in review.layers[:limit])
    yield from ("", "### Definitions", "")
    for kind, changes in _by_kind(review):
        rows = [f"- `{each.node}` {_markdown(_describe(each))}" for each in changes[:limit]]
        more = [f"- and {len(changes) - limit} more"] if len(changes) > limit else []
        yield from _fold(f"{_HEADINGS[kind]} ({len(changes)})", rows + more)
    users = [f"- {e.probability:.2f} `{e.node}`" for e in review.affected[:limit]]
    yield from _fold(f"users that may run it ({len(review.affected)})", users)
    tests = [f"- {e.probability:.2f} `{e.node}`" for e in review.tests[:n_tests]]
    yield from _fold(f"tests to run ({len(review.tests)})", tests)
    proven = [f"- `{e.node}` {_markdown(_describe_proof(e))}" for e in proofs]
    yield from _fold("defects tried in changed functions", proven)
    missing = [
        f"- {e.probability:.2f} `{e.file}`: {e.n_both} of {e.n_commits} commits of `{e.changed}`"
        for e in review.missing[:_MAX_MISSING]
    ]
    yield from _fold("usually changes too, and did not", missing)


def _fold(title: str, rows: Iterable[str]) -> Iterator[str]:
    rows = list(rows)
    if rows:
        yield from (f"<details><summary>{title}</summary>", "", *rows, "", "</details>")


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
            message = f"public interface changed: {_describe(change)}"
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


def sarif_document(review: "Review") -> Document:
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
