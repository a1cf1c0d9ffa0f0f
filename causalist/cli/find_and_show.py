"""`causalist show`, `find`, `neighbors`, `path`, `similar` and `verify`: look up nodes and edges."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist._internal.text_formatting import align_columns
from causalist.cli._output import emit, say
from causalist.cli._repository import (
    answer_each_meaning,
    count_sightings,
    describe_call,
    describe_proof,
    describe_sighting,
    edge_location,
    first_answer_options,
    limit_option,
    lookup_options,
    min_confidence_option,
    node_location,
    observed_option,
    open_for_lookup,
    print_result,
    report_stale_calls,
    report_unread,
    resolve_id,
)
from causalist.cli._run import NOTHING_FOUND
from causalist.cli.callers_and_impact import describe_rule
from causalist.errors import UnreadNode
from causalist.model.graph import EdgeKind
from causalist.model.node_ids import NodeKind, split_id
from causalist.serialize.lookup_documents import (
    find_document,
    neighbors_document,
    path_document,
    show_document,
    similar_clusters_document,
    similar_document,
    verify_document,
)

if TYPE_CHECKING:
    from causalist.model.graph import Edge
    from causalist.model.lookup import (
        DefinitionDetails,
        GraphPath,
        LikeDefinition,
        Neighbors,
        RulePrecision,
        SimilarCluster,
        SimilarPair,
        UnresolvedCall,
        Verdict,
    )
    from causalist.model.scores import Hit
    from causalist.pipeline.repository import Repository

MAX_NAMES = 5


@click.command("show")
@click.argument("node")
@lookup_options
@first_answer_options
@answer_each_meaning
def show_command(node: str, repo: Path | None, force: bool, as_json: bool) -> None:
    """Show the location, the users and the source of NODE.

    A file is shown as an outline; `--json` also has its source. NODE is an id, the end of an id, a path, or a path with
    a line, which names the innermost definition there.

    \b
    Example:
      causalist show Session.verify
      causalist show src/auth.py:42
    """
    empty = show_document(None) if as_json else None
    repository = open_for_lookup(repo, force=force, when_empty=empty, name=node)
    definition = repository.show(resolve_id(repository, node))
    if definition.stale:
        say(f"note: stale: {definition.hit.path} changed since it was indexed; its source is not shown")
    print_result(show_document(definition) if as_json else None, _format_definition(definition))


def _format_definition(definition: "DefinitionDetails") -> Iterator[str]:
    """Yield a header with one fact per line, then the source or the outline."""
    hit = definition.hit
    yield f"{hit.kind}  {hit.id}"
    if hit.path:
        lines = f"{hit.start_row + 1}" if hit.start_row == hit.end_row else f"{hit.start_row + 1}-{hit.end_row + 1}"
        yield f"  at         {hit.path}:{lines}"
    if hit.signature:
        yield f"  signature  {' '.join(hit.signature.split())}"
    if hit.doc:
        yield f"  says       {hit.doc}"
    if definition.role != "code":
        yield f"  role       {definition.role}"
    if hit.layer and hit.tier:
        yield f"  layer      {hit.layer}, {hit.tier}"
    if definition.fan_in or definition.fan_out:
        yield f"  used by    {definition.fan_in} node{'s'[: definition.fan_in != 1]}, uses {definition.fan_out}"
    if definition.n_callers or definition.n_callees:
        yield f"  calls      {definition.n_callers} to it, {definition.n_callees} from it"
    if definition.overrides:
        yield f"  overrides  {', '.join(definition.overrides)}"
    if definition.overridden_by:
        n = len(definition.overridden_by)
        more = f" and {n - MAX_NAMES} more" if n > MAX_NAMES else ""
        yield f"  overridden by {', '.join(definition.overridden_by[:MAX_NAMES])}{more}"
    if definition.namesakes:
        yield f"  also       {', '.join(definition.namesakes)}"
    if definition.outline:
        yield ""
        yield from _format_outline(definition.outline)
    elif definition.text and hit.kind != NodeKind.FILE.label:
        yield ""
        yield from definition.text.splitlines()


def _format_outline(hits: "tuple[Hit, ...]") -> Iterator[str]:
    """Yield the definitions of a file, indented by nesting: line, signature and documentation."""
    from causalist._internal.text_formatting import one_line

    width = len(str(hits[-1].start_row + 1))
    around: list[Hit] = []
    for hit in hits:
        while around and hit.start_byte >= around[-1].end_byte:
            around.pop()
        name = hit.signature or hit.symbol or hit.id.rpartition("#")[2]
        doc = f"  — {one_line(hit.doc, 80)}" if hit.doc else ""
        yield f"{hit.start_row + 1:>{width}}  {'  ' * len(around)}{one_line(name, 100)}{doc}"
        around.append(hit)


@click.command("find")
@click.argument("name")
@lookup_options
@first_answer_options
@click.option("--kind", metavar="K", help="Only nodes of this kind: file, class, function, method, …")
@limit_option(20, "Maximum number of results.")
def find_command(name: str, repo: Path | None, force: bool, kind: str | None, limit: int, as_json: bool) -> None:
    """Find nodes by NAME or a similar name.

    Exact matches come first. Then come names that begin with NAME, names whose words begin with its words (AuthMw finds
    AuthMiddleware), and names that contain NAME or its letters in order. If there is none, names at a small edit
    distance are listed. Sections of documentation and external packages are included.

    \b
    Example:
      causalist find AuthMw
      causalist find Session.ver --kind method --limit 5
    """
    empty = find_document(name, ()) if as_json else None
    repository = open_for_lookup(repo, force=force, when_empty=empty, name=name)
    hits = repository.find(name, limit=limit, kind=kind)
    if not any((hit.symbol or "").rpartition(".")[2] == name for hit in hits):
        from causalist.index.source_text import describe_unread

        note = describe_unread(repository.unread_words(name), "define")
        if note:
            say(note)
    nothing = ""
    if not hits:
        of_kind = f" of kind {kind}" if kind else ""
        nothing = f"nothing{of_kind} has a name like {name!r}; `causalist ask` searches by topic"
    print_result(find_document(name, hits) if as_json else None, format_hits(hits), nothing)


def format_hits(hits: "tuple[Hit, ...]") -> list[str]:
    """Return `kind id path:line` of each hit, then signature and documentation."""
    from causalist._internal.text_formatting import one_line

    lines = []
    for hit in hits:
        texts = [text for text in (one_line(hit.signature, 100), one_line(hit.doc, 100)) if text]
        lines += ["  ".join(filter(None, (hit.kind, hit.id, node_location(hit)))), *(f"    {text}" for text in texts)]
    return lines


@click.command("neighbors")
@click.argument("node")
@lookup_options
@observed_option
@click.option("--hops", type=click.IntRange(min=1), default=1, show_default=True, help="Maximum number of hops.")
@click.option("--kind", "kinds", multiple=True, metavar="K", help="Only edges of this kind. Repeatable.")
@click.option("--direction", type=click.Choice(["in", "out", "both"]), default="both", show_default=True,
              help="Direction of the edges, seen from NODE.")  # fmt: skip
@limit_option(10, "Maximum number of edges per group.")
@answer_each_meaning
def neighbors_command(
    node: str,
    repo: Path | None,
    force: bool,
    hops: int,
    kinds: tuple[str, ...],
    direction: str,
    limit: int,
    as_json: bool,
) -> None:
    """Show the edges of NODE by direction and kind.

    Edges are sorted by confidence. An edge points from the user to the used node: `in` lists the users of NODE, `out`
    the nodes that NODE uses. `--kind co_changes` shows files that changed together with the file of NODE, `--kind
    similar` near-duplicates of NODE that a reader would likely merge with it.

    \b
    Example:
      causalist neighbors Session.verify
      causalist neighbors src/auth.py --hops 2 --kind imports --direction in
    """
    from causalist.model.lookup import Direction

    empty = neighbors_document(node, ()) if as_json else None
    repository = open_for_lookup(repo, force=force, when_empty=empty)
    name = resolve_id(repository, node)
    groups = repository.neighbors(name, hops=hops, kinds=kinds, direction=Direction(direction), limit=limit)
    nothing = "" if groups else f"{name} has no such edges"
    print_result(neighbors_document(name, groups) if as_json else None, _format_neighbors(groups, name), nothing)


def _format_neighbors(groups: "tuple[Neighbors, ...]", node: str) -> Iterator[str]:
    """Yield a heading per group, then one edge per line: other end, location, rule."""
    for number, group in enumerate(groups):
        if number:
            yield ""
        away = "" if group.hop == 1 else f", {group.hop} steps away"
        yield f"{group.direction.value} {group.kind} ({group.n}){away}"
        rows = []
        for edge in group.edges:
            other = edge.source if group.direction == "in" else edge.target
            is_similar = group.kind == EdgeKind.SIMILAR.label
            if group.hop > 1 or (is_similar and edge.source != node):
                other = f"{edge.source} -> {edge.target}"
            site = (
                f"{edge.n} commit{'s'[: edge.n != 1]}"
                if group.kind == EdgeKind.CO_CHANGES.label
                else edge_location(edge) * (not is_similar)
            )
            rows.append((f"  {edge.certainty:.3f}", describe_rule(edge), other, site, count_sightings(edge)))
        yield from align_columns(rows)
        if group.n > len(group.edges):
            yield f"  and {group.n - len(group.edges)} more"


MAX_UNRESOLVED_CALLS = 5


@click.command("path")
@click.argument("source")
@click.argument("target")
@lookup_options
@observed_option
@click.option("--at-least", type=click.Choice(["observed", "proven"]),
              help="Only edges that runs saw, or that are proven; the shortest path.")  # fmt: skip
@click.option("--format", "form", type=click.Choice(["text", "svg"]), default="text", show_default=True,
              help="As text or as a picture.")  # fmt: skip
@answer_each_meaning
def path_command(
    source: str, target: str, repo: Path | None, force: bool, at_least: str | None, form: str, as_json: bool
) -> None:
    """Show the most probable path from SOURCE to TARGET.

    A path follows uses, steps from a type or file to its members, and from a method to what overrides it. If no forward
    path exists, the command shows one with reversed edges, marked (back). Exit code 1 if there is no path; unresolved
    calls that could hide one are listed.

    \b
    Example:
      causalist path authenticateUser crypto-utils.ts::hmacDigest
    """
    empty = path_document(source, target, None, ()) if as_json else None
    repository = open_for_lookup(repo, force=force, when_empty=empty)
    start, end = resolve_id(repository, source), resolve_id(repository, target)
    if at_least is not None:
        _show_evident_path(repository, start, end, at_least, form, as_json)
        return
    trail = repository.path(start, end)
    gaps = repository.gaps(start, end) if trail is None or not trail.forward else ()
    if trail is None:
        report_unread(repository, end)
    hops = [] if trail is None else [hop.node for hop in trail.hops]
    for source, target in dict.fromkeys([(start, end), *pairwise(hops)]):
        report_stale_calls(repository, source, target)
    nothing = ""
    if trail is None and gaps:
        nothing = "\n".join(
            (
                f"no path from {start} to {end} is known, but these unresolved calls could hide one:",
                *_format_unresolved_calls(gaps),
            )
        )
    elif trail is None:
        nothing = f"the graph has no path from {start} to {end}"
    _print_path(start, end, trail, gaps, nothing, form, as_json)
    if trail is not None and not trail.forward:
        unknown = "; unresolved calls could hide one:\n" + "\n".join(_format_unresolved_calls(gaps)) if gaps else ""
        say(f"note: no forward path is known; this path reverses some edges{unknown}")


def _print_path(
    start: str, end: str, trail: "GraphPath | None", gaps: "tuple[UnresolvedCall, ...]", nothing: str, form: str,
    as_json: bool,
) -> None:  # fmt: skip
    if form == "svg" and trail is not None:
        from causalist.serialize.svg import draw_path

        emit(draw_path(start, end, trail))
        return
    if form == "svg":
        say(nothing)
        click.get_current_context().exit(NOTHING_FOUND)
    print_result(
        path_document(start, end, trail, gaps) if as_json else None, format_path(trail) if trail else (), nothing
    )


def _show_evident_path(repository: "Repository", start: str, end: str, at_least: str, form: str, as_json: bool) -> None:
    trail = repository.path_by_evidence(start, end, is_proven=at_least == "proven")
    report_stale_calls(repository, start, end)
    how = "observe -- pytest" if at_least == "observed" else f"prove {end}"
    nothing = "" if trail else f"no path of {at_least} edges from {start} to {end}; `causalist {how}` looks for them"
    _print_path(start, end, trail, (), nothing, form, as_json)


def _format_unresolved_calls(gaps: "tuple[UnresolvedCall, ...]") -> list[str]:
    more = (
        [f"  and {len(gaps) - MAX_UNRESOLVED_CALLS} more; --json lists all"] if len(gaps) > MAX_UNRESOLVED_CALLS else []
    )
    return [*(f"  {describe_call(gap)}" for gap in gaps[:MAX_UNRESOLVED_CALLS]), *more]


def format_path(trail: "GraphPath") -> Iterator[str]:
    """Yield the start of a path, one line for each hop, and its probability."""
    first, *others = trail.hops
    yield f"{first.node}  {first.path}:{first.line}" if first.path else first.node
    rows = []
    for hop, edge in zip(others, trail.edges, strict=True):
        site = f"{hop.path}:{hop.line}" if hop.line is not None else hop.path or ""
        rule = f"{edge.rule} {edge.confidence:.2f}"
        kind = "overridden by" if trail.forward and str(hop.edge).endswith(" (back)") else hop.edge
        rows.append((f"  {kind}", hop.node, site, "  ".join(filter(None, (rule, count_sightings(edge))))))
    yield from align_columns(rows)
    if others:
        yield f"probability {trail.probability:.2g}"


_MAX_PAIRS = 5  # of a cluster that are listed


@click.command("similar")
@click.argument("node", required=False)
@lookup_options
@click.option("--all", "everything", is_flag=True, help="Cluster the near-duplicates of the whole repository.")
@click.option("--min-similarity", type=click.FloatRange(0.5, 1.0), default=0.7, show_default=True,
              help="Minimum similarity of two definitions.")  # fmt: skip
@click.option("--min-lines", type=click.IntRange(min=1), default=6, show_default=True,
              help="Minimum number of lines of a definition.")  # fmt: skip
@click.option("--tests", is_flag=True, help="Include tests.")
@limit_option(20, "Maximum number of pairs, or of clusters.")
@answer_each_meaning
def similar_command(
    node: str | None,
    repo: Path | None,
    force: bool,
    everything: bool,
    min_similarity: float,
    min_lines: int,
    tests: bool,
    limit: int,
    as_json: bool,
) -> None:
    """Show near-duplicates of a definition or all of them.

    Functions are compared with functions and types with types, also those inside of NODE. Comments and space do not
    count. A `copy` has the same text, a `renamed` one other names or literals, a `changed` one edits. `merge` is the
    probability that a reader would merge them. What differs follows, as far as two lines tell: "-" and a line of the
    first, "+" and a line of the other.

    With --all instead of NODE, definitions that are like one of them are a cluster. The most duplicated lines come
    first.

    
    Example:
      causalist similar Session.verify
      causalist similar --all --min-similarity 0.9 --tests
    """
    if (node is None) != everything:
        raise click.UsageError("Give either NODE or --all.")
    empty = similar_document(node, ()) if node is not None else similar_clusters_document((), 0)
    repository = open_for_lookup(repo, force=force, when_empty=empty if as_json else None)
    if node is None:
        clusters, n = repository.similar_clusters(
            min_similarity=min_similarity, min_lines=min_lines, tests=tests, limit=limit
        )
        document = similar_clusters_document(clusters, n) if as_json else None
        print_result(document, _format_clusters(clusters, n), "" if n else "no near-duplicates were found")
        return
    name = resolve_id(repository, node)
    pairs = repository.similar(name, min_similarity=min_similarity, min_lines=min_lines, tests=tests)
    nothing = "" if pairs else f"nothing with a similarity of {min_similarity:g} to {name} was found"
    document = similar_document(name, pairs[:limit]) if as_json else None
    print_result(document, _format_pairs(pairs, limit, name), nothing)


def _format_pairs(pairs: "Sequence[SimilarPair]", limit: int, node: str) -> Iterator[str]:
    for pair in pairs[:limit]:
        one = "" if pair.one.node == node else f"{_like_location(pair.one)}  is like "
        yield f"{_likeness(pair)}  {one}{_like_location(pair.other)}"
        yield from (f"      {line}" for line in pair.differences)
    if len(pairs) > limit:
        yield f"and {len(pairs) - limit} more; --limit shows more of them"


def _format_clusters(clusters: "Sequence[SimilarCluster]", n: int) -> Iterator[str]:
    for number, cluster in enumerate(clusters):
        if number:
            yield ""
        yield f"{_like_location(cluster.first)}, and {cluster.n_lines} lines like it in {len(cluster.pairs)} more"
        for pair in cluster.pairs[:_MAX_PAIRS]:
            yield f"  {_likeness(pair)}  {_like_location(pair.other)}"
            yield from (f"        {line}" for line in pair.differences)
        if len(cluster.pairs) > _MAX_PAIRS:
            yield f"  and {len(cluster.pairs) - _MAX_PAIRS} more; --json lists all"
    if n > len(clusters):
        yield ""
        yield f"and {n - len(clusters):,} more clusters; --limit shows more of them"


def _likeness(pair: "SimilarPair") -> str:
    return f"{pair.similarity:.2f}  {pair.likeness.value:<7}  merge {pair.probability:.2f}"


def _like_location(each: "LikeDefinition") -> str:
    return f"{each.node}  {each.path}:{each.start_line}-{each.end_line}"


MAX_LISTED = 10


@click.command("verify")
@click.argument("source")
@click.argument("target")
@lookup_options
@first_answer_options
@observed_option
@min_confidence_option(0.5, "Minimum confidence of a use.")
@answer_each_meaning
def verify_command(
    source: str, target: str, repo: Path | None, force: bool, min_confidence: float, as_json: bool
) -> None:
    """Check if SOURCE uses TARGET: yes, no or unknown.

    Members of both count. Yes (exit code 0) lists the call sites and the measured precision of the rule that found each
    edge. No and unknown have exit code 1. Unknown means that SOURCE calls the name of TARGET on a receiver of unknown
    type, or calls a method that TARGET overrides, or that one of them is in a file that was not read.

    \b
    Example:
      causalist verify authenticateUser verifyToken
    """
    empty = verify_document(source, target, None) if as_json else None

    def has_use(part: "Repository") -> bool:
        """Return True if a part has a use. That it has none says nothing of the rest."""
        return part.verify(source, target, min_confidence=min_confidence).known == "yes"

    repository = open_for_lookup(repo, force=force, when_empty=empty, name=target, also=(source,), is_enough=has_use)
    try:
        start, end = resolve_id(repository, source), resolve_id(repository, target)
    except UnreadNode as error:
        say(f"note: {error}")
        start, end = source, target
    verdict = repository.verify(start, end, min_confidence=min_confidence)
    if verdict.known != "yes" and verdict.reason != "unread":
        report_unread(repository, end)
    if not any(edge.observed or edge.proven for edge in verdict.edges):
        report_stale_calls(repository, start, end)
    document = verify_document(start, end, verdict) if as_json else None
    print_result(document, _format_verdict(verdict), is_found=verdict.known == "yes")


def _format_verdict(verdict: "Verdict") -> Iterator[str]:
    yield f"{verdict.known.value}: {verdict.source} -> {verdict.target}"
    yield from _explain_verdict(verdict)
    rows = zip(verdict.edges, verdict.lines, verdict.bases, strict=True)
    for edge, line, basis in list(rows)[:MAX_LISTED]:
        yield f"  {edge_location(edge)}  {edge.kind}  {edge.rule} {edge.certainty:.2f}  {edge.source} -> {edge.target}"
        if line:
            yield f"    {line}"
        if edge.observed is not None:
            yield f"    {describe_sighting(edge.observed)}"
        if edge.proven is not None:
            yield f"    {describe_proof(edge.proven)}"
        if edge.rule.startswith(("observed", "proven")):
            yield f"    {basis.meaning}"
        else:
            yield f"    {basis.meaning}; {_describe_precision(basis, edge)}"
    if len(verdict.edges) > MAX_LISTED:
        yield f"  and {len(verdict.edges) - MAX_LISTED} more"
    if verdict.known != "yes" and verdict.calls:
        yield f"  it is known to call {', '.join(e.target for e in verdict.calls[:MAX_LISTED])}" + _count_rest(
            verdict.calls
        )


def _explain_verdict(verdict: "Verdict") -> Iterator[str]:
    """Yield the reasons for no and unknown, with locations."""
    path, name = split_id(verdict.source)[0], verdict.target.rpartition("::")[2].rpartition(".")[2]
    sites = [f"{path}:{site.line}  {site.callee}(…)" for site in verdict.sites[:MAX_LISTED]]
    match verdict.reason.value:
        case "weak":
            yield "  cannot be told: there are only edges of little confidence"
        case "receiver":
            yield from (
                f"  cannot be told: {describe_call(gap)} on what is of no known type"
                for gap in verdict.gaps[:MAX_LISTED]
            )
            yield from (f"    {site}" for site in sites)
        case "dispatch":
            for edge in verdict.others[:MAX_LISTED]:
                yield f"  cannot be told: {edge_location(edge)}  {edge.source} calls {edge.target}"
                yield "    the target overrides that; which of the two it is, is decided when it runs"
        case "elsewhere":
            for edge in verdict.others[:MAX_LISTED]:
                yield f"  {edge_location(edge)}  what it calls is {edge.target} ({edge.rule} {edge.confidence:.2f})"
        case "unclear":
            yield "  cannot be told: what it calls by that name is taken for something built in or outside"
            yield from (f"    {site}" for site in sites)
        case "written":
            yield "  cannot be told: the name stands in it, but not as a call that is followed"
            yield from (f"    {path}:{site.line}" for site in verdict.sites[:MAX_LISTED])
        case "kept":
            yield "  cannot be told: the target is handed on or kept as a value, and this is called there:"
            yield from (f"    {describe_call(gap)}" for gap in verdict.gaps[:MAX_LISTED])
        case "unread":
            yield "  cannot be told: one of the two is in a file that was not read"
        case "outside":
            yield "  what it calls by that name is nothing in the repository"
            yield from (f"    {site}" for site in sites)
        case "absent":
            yield (
                f"  it calls nothing named {name!r}"
                if "::" in verdict.target
                else "  it uses nothing that stands there"
            )


def _describe_precision(basis: "RulePrecision", edge: "Edge") -> str:
    """Return the measured precision of an edge's rule in words."""
    among = f"one of {edge.candidates} that may be meant; " if edge.candidates > 1 else ""
    if not basis.right + basis.wrong:
        return f"{among}how often that is right was not measured for {edge.kind}"
    where = f"{basis.repositories} repositor{'y' if basis.repositories == 1 else 'ies'}"
    where += f" ({basis.language})" if basis.language else ""
    return f"{among}right in {basis.right:,} of {basis.right + basis.wrong:,} that were checked, in {where}"


def _count_rest(listed: "Sequence[object]") -> str:
    return f" and {len(listed) - MAX_LISTED} more" if len(listed) > MAX_LISTED else ""
