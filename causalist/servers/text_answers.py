"""Text answers for agents: pipeline results -> text within a token budget, with structured content.

Source code appears in packs, inside fences. Everything else is ids, which the next call accepts, escaped and cut to one
line. Lists count the items that they omit.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from causalist._internal.text_formatting import count_noun, describe_age, middle_cut, neutralize, one_line
from causalist.errors import UnknownNode
from causalist.model.answer import AskOptions, PackFormat, PackHeader, PackInput, PackItem
from causalist.model.graph import Edge, EdgeKind
from causalist.model.lookup import Affected, DefinitionDetails, GraphPath, UnresolvedCall
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS, NodeKind, Role, split_id
from causalist.navigate import find_overriding
from causalist.pack import MINIMUM_TOKENS, count_tokens, render_pack

if TYPE_CHECKING:
    from causalist.pipeline.repository import Repository
    from causalist.servers.live_repository import LiveView

_MAX_NODES = 100
_MAX_FILES_NAMED = 3  # files in a note
_MAX_STALE_FILES = 20


class FileExcerpt(NamedTuple):
    """Lines of a file that was read as text only; rows are 0-based."""

    path: str
    start_row: int
    end_row: int


class Reply(NamedTuple):
    """Answer of a tool: `text` for the agent, and data for structured content.

    `nodes` are ids by importance. `confidence`, `scores` (of the nodes) and `order` (causal) belong to the answer of a
    query. Without an index, `excerpts` replace nodes, and `n_files` is the number of files read; or the nodes are those
    of `part`, which has what this question needs.
    """

    text: str
    nodes: Sequence[str] = ()
    confidence: float | None = None
    excerpts: Sequence[FileExcerpt] = ()
    n_files: int = 0
    scores: Sequence[float] = ()
    order: Sequence[str] = ()
    part: "Repository | None" = None


# Output schema of all tools. An agent pays for each of its words once a tool, so that it says what fields there are and
# no more; docs/mcp.md describes them.
_TEXT, _LIST = {"type": "string"}, {"type": "array"}
OUTPUT_SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "text": _TEXT,
        "nodes": {**_LIST, "items": {"type": "object", "required": ["id", "kind", "path", "start_line", "end_line"]}},
        "order": {**_LIST, "items": _TEXT},
        "confidence": {"type": ["number", "null"]},
        "coverage": {"type": "object", "required": ["repository", "commit", "files", "complete", "behind", "indexing"]},
    },
    "required": ["text", "nodes", "order", "confidence", "coverage"],
}


def structured_content(reply: Reply, view: "LiveView", name: str) -> dict[str, Any]:
    """Return a reply as a document of OUTPUT_SCHEMA. `name` is the name of the repository."""
    repository = view.repository or reply.part
    n_files = reply.n_files
    if repository is not None:
        n_files = repository.info().files if repository.n_parsed is None else repository.n_parsed
    nodes = [_excerpt_document(each) for each in reply.excerpts[:_MAX_NODES]]
    if repository is not None:
        scores: Sequence[float | None] = reply.scores or [None] * len(reply.nodes)
        nodes = [_node_document(repository, *each) for each in zip(reply.nodes, scores, strict=True)][:_MAX_NODES]
    changed = () if view.behind is None else view.behind.changed
    indexing = None if view.stage is None else str(view.stage)
    if indexing is None and view.failure is not None:
        indexing = f"{view.failure.slug}: {view.failure}"
    return {
        "text": reply.text,
        "nodes": nodes,
        "order": [neutralize(each) for each in reply.order[:_MAX_NODES]],
        "confidence": reply.confidence,
        "coverage": {
            "repository": neutralize(name),
            "commit": None if repository is None else repository.index.commit,
            "files": n_files,
            "complete": view.repository is not None and view.behind is None and view.failure is None,
            "generation": view.generation,
            "behind": len(changed),
            "behind_files": [neutralize(path) for path in changed[:_MAX_STALE_FILES]],
            "indexing": None if indexing is None else neutralize(indexing),
        },
    }


def staleness_note(view: "LiveView") -> str:
    """Return the first line of an answer from a stale index; "" if the index is current."""
    from causalist._internal.text_formatting import middle_cut

    if view.repository is None or (view.behind is None and view.failure is None):
        return ""
    changed = () if view.behind is None else view.behind.changed
    named = ", ".join(middle_cut(path, 60) for path in changed[:_MAX_FILES_NAMED]) + ", …" * (
        len(changed) > _MAX_FILES_NAMED
    )
    what = f"{len(changed)} changed {'file is' if len(changed) == 1 else 'files are'} not in it ({named})"
    if not changed:
        what = "another commit is checked out" if view.behind is not None and view.behind.is_moved else ""
    if view.failure is not None:
        why = neutralize(f"{view.failure.slug}: {view.failure}")[:200]
    else:
        why = f"still indexing: {view.stage}; ask again for a current answer"
    return f"note: answered from an index that is older than the files; {what}{'; ' * bool(what)}{why}\n"


def indexing_message(view: "LiveView", *, is_answered: bool = False) -> str:
    """Return the progress of the first index: as a note of a text-only answer, or as the whole answer."""
    far = f"indexing: {0 if view.stage is None else view.stage.percent:.0f} % ({view.stage})"
    if is_answered:
        return f"note: still {far}; ask again for an answer from the graph\n"
    return f"still {far}. No answer is possible yet; call again in a few seconds.\n"


def _excerpt_document(excerpt: FileExcerpt) -> dict[str, Any]:

    path = neutralize(excerpt.path)
    rows = {"start_line": excerpt.start_row + 1, "end_line": excerpt.end_row + 1}
    return {"id": path, "kind": "file", "path": path, **rows, "score": None}


def _node_document(repository: "Repository", id: str, score: float | None) -> dict[str, Any]:
    from causalist.extract import hit_of

    graph = repository.index.graph
    hit = hit_of(graph, graph.nodes.ids.position(id), 0.0, 0.0, ())
    return {
        "id": neutralize(hit.id),
        "kind": hit.kind,
        "path": neutralize(hit.path),
        "start_line": hit.start_row + 1,
        "end_line": hit.end_row + 1,
        "score": score,
    }


# A pack lists each result before any source, so many results in a small budget would leave no source.
_TOKENS_PER_RESULT, _MIN_RESULTS, _MAX_RESULTS = 200, 5, 20
# Tokens reserved for the lines after a pack, if the budget is large enough for both.
_TAIL_TOKENS = 110
_MIN_TOKENS_WITH_TAIL = 500
# Share of the budget for the lists of a definition before its source is added.
_LISTS_SHARE = 0.4
_MAX_CHANGES_WITH = 10
_MAX_EDGES_LISTED = 40  # callers, or callees
_MAX_HINTS = 3
_MAX_UNRESOLVED_CALLS = 5
_MAX_SUGGESTIONS = 8
_MAX_NAMES = 20
_ID_CHARACTERS = 200
_LAST_LINE_TOKENS = 60
_TEST = Role.TEST.label
_HINT_KINDS = {kind.label for kind in (*CALLABLE_KINDS, *TYPE_KINDS)}


def ask_text(
    repository: "Repository", question: str, max_tokens: int, top_k: int | None, options: AskOptions | None = None
) -> Reply:
    """Return the pack for a query, its notes, and ids to continue with. `options` has names, patterns and scope."""
    if top_k is None:
        top_k = min(_MAX_RESULTS, max(_MIN_RESULTS, max_tokens // _TOKENS_PER_RESULT))
    room = max_tokens - _TAIL_TOKENS if max_tokens >= _MIN_TOKENS_WITH_TAIL else max_tokens
    answer = repository.ask(question, replace(options or AskOptions(), top_k=top_k, max_tokens=room))
    if answer.pack is None:
        info = answer.repository
        return Reply(
            f"nothing found: no word of the query occurs in the {info.files} files that were searched; "
            "try a name or another word of the code"
        )
    tail = [f"note: {d.slug}: {one_line(d.detail, 300)}" for d in answer.diagnostics]
    ids = [hit.id for hit in answer.results if hit.kind in _HINT_KINDS and hit.id == format_node(hit.id)][:_MAX_HINTS]
    if ids:
        tail.append(f"next: symbol or impact with an id: {', '.join(ids)}")
    return Reply(
        _append_lines(answer.pack.text, tail, max_tokens),
        [hit.id for hit in answer.results],
        answer.confidence,
        scores=[hit.score for hit in answer.results],
        order=answer.order,
    )


def format_unread(repository: "Repository", *nodes: str) -> str:
    """Return a line that names the files that were not read and may use one of these nodes; "" for none."""
    from causalist.index.source_text import describe_unread

    note = describe_unread(repository.unread(*nodes))
    return f"{neutralize(note)}\n" if note else ""


def _format_stale(repository: "Repository", node: str) -> str:
    """Return a note on calls that runs saw before one of the two definitions changed, "" for none."""
    stale = {(each.source, each.target): each for each in (*repository.stale_calls(node, None),
                                                          *repository.stale_calls(None, node))}  # fmt: skip
    if not stale:
        return ""
    last = max(each.seen.time for each in stale.values())
    calls = count_noun(len(stale), "observed call")
    return f"note: {calls} of it changed since at one end and count for nothing; last seen {describe_age(last)} ago\n"


def symbol_text(repository: "Repository", name: str, max_tokens: int) -> Reply:
    """Return a definition with its source, callers or users, and callees; for a file, its outline."""
    node, note = resolve_name(repository, name)
    note += format_unread(repository, node) + _format_stale(repository, node)
    definition = repository.show(node)
    is_callable = definition.hit.kind in {kind.label for kind in CALLABLE_KINDS}
    if is_callable:
        users = repository.callers(node)
    else:
        users = tuple(affected.edge for affected in repository.impact(node, max_depth=1))
    is_test = _test_predicate(repository)
    users = tuple(sorted(users, key=lambda edge: (is_test(edge.source), -edge.confidence, edge.source, edge.kind)))
    n_tests = sum(is_test(edge.source) for edge in users)
    used = f"{'called' if is_callable else 'used'} by {len(users) or 'nothing that is known'}" + _format_test_count(
        n_tests
    )
    through = repository.callers_through(node)
    handed_on = repository.references(node) if is_callable else ()
    nodes = repository.index.graph.nodes
    uses = tuple(edge for edge in through if nodes.kinds[nodes.ids.position(edge.target)] in TYPE_KINDS)
    through = tuple(edge for edge in through if edge not in uses)
    asides = [(f"called through what it overrides by {len(through)}", through)] if through else []
    asides += [(f"may be run, without its name, by {len(uses)} that use its class", uses)] if uses else []
    asides += [(f"handed on or kept, without a call, by {len(handed_on)}", handed_on)] if handed_on else []
    mentions = repository.documentation(node)
    asides += [(f"mentioned in documentation, in {count_noun(len(mentions), 'section')}", mentions)] if mentions else []
    callees = repository.callees(node)
    overriding = find_overriding(repository.index.graph, callees)
    calls = f"calls {len(callees) or 'nothing in this repository'}" if callees or is_callable else ""

    def lists(room: int) -> str:
        below = [_format_use(edge, edge.target, node) for edge in callees]
        least = count_tokens(_format_list(calls, below, room // 3))
        above = _format_list(used, [_format_use(edge, edge.source, node) for edge in users], room - least)
        for heading, edges in asides:
            uses = [_format_use(edge, edge.source, node) for edge in edges]
            above += _format_list(heading, uses, room - least - count_tokens(above))
        above += _format_list(calls, below, room - count_tokens(above))
        instead = [f"  {format_node(by)}  for {format_node(each)}\n" for each, run in overriding.items() for by in run]
        heading = f"{len(instead)} override what it calls and may run instead"
        return above + (_format_list(heading, instead, room - count_tokens(above)) if instead else "")

    def body(room: int) -> str:
        if definition.outline:
            return _format_outline(definition, room)
        return _render_node_pack(repository, node, [definition], (), max(room, MINIMUM_TOKENS[PackFormat.TEXT])) + "\n"

    text = lists(int(max_tokens * _LISTS_SHARE))
    source = note + body(max_tokens - count_tokens(text) - count_tokens(note) - 4)
    # The lists get the tokens that the source did not use.
    longer = lists(max_tokens - count_tokens(source) - 4)
    around = [node, *(edge.source for edge in users), *(edge.target for edge in callees)]
    whole = _first_within_budget([f"{source}{longer}", f"{source}{text}", source], max_tokens)
    return Reply(whole, list(dict.fromkeys(around)))


def path_text(repository: "Repository", name: str, to: str, max_tokens: int) -> Reply:
    """Return the most probable path between two definitions, with source if it is a forward path."""
    (start, note), (end, other_note) = resolve_name(repository, name), resolve_name(repository, to)
    lead = note + other_note
    if start == end:
        return Reply(truncate_to_budget(f"{lead}both names mean {format_node(start)}\n", max_tokens), [start])
    trail = repository.path(start, end)
    if trail is None or not trail.forward:
        lead += format_unread(repository, end)
    if trail is None or not trail.forward:
        gaps = repository.gaps(start, end)
        lead += f"no chain of uses is known from {format_node(start)} to {format_node(end)}" + _format_unresolved_calls(
            gaps
        )
        back = repository.path(end, start)
        if back is not None and back.forward:
            trail, start, end = back, end, start
            lead += "the other way round there is one:\n"
        elif trail is None:
            return Reply(
                truncate_to_budget(f"{lead}nothing else that is known connects them\n", max_tokens), [start, end]
            )
        else:
            text = f"{lead}what connects them, partly against a use:\n{_format_path(trail)}"
            return Reply(truncate_to_budget(text, max_tokens), [hop.node for hop in trail.hops])
    path_lines, on_it = lead + _format_path(trail), [hop.node for hop in trail.hops]
    room = max_tokens - count_tokens(path_lines) - 4
    if room < MINIMUM_TOKENS[PackFormat.TEXT]:
        return Reply(truncate_to_budget(path_lines, max_tokens), on_it)
    definitions = [each for each in (repository.show(hop.node) for hop in trail.hops) if each.hit.path]  # no routes
    # Priority for the budget: both ends, then nodes near the start.
    for rank, position in enumerate(dict.fromkeys([0, len(definitions) - 1, *range(1, len(definitions) - 1)])):
        definition = definitions[position]
        # A file on the path needs no source.
        text = "" if definition.hit.kind == NodeKind.FILE.label else definition.text
        definitions[position] = replace(definition, hit=replace(definition.hit, score=1 / (1 + rank)), text=text)
    pack = _render_node_pack(repository, f"from {start} to {end}", definitions, (), room)
    return Reply(_first_within_budget([f"{path_lines}\n{pack}", path_lines], max_tokens), on_it)


def impact_text(
    repository: "Repository", name: str, *, max_depth: int | None, min_confidence: float, max_tokens: int
) -> Reply:
    """Return the files likely to change with one or several nodes, then their users, direct and indirect, by depth."""
    nodes, note = resolve_names(repository, name)
    named = ", ".join(map(format_node, nodes))
    note += format_unread(repository, *nodes)
    affected = repository.impact(*nodes, max_depth=max_depth, min_confidence=min_confidence)
    n_doubtful = len(repository.impact(*nodes, max_depth=max_depth)) - len(affected) if min_confidence else 0
    doubt = f"{n_doubtful} more by less certain uses; min_confidence=0 lists them" if n_doubtful else ""
    mentions = [edge for edge in repository.documentation(*nodes) if edge.confidence >= min_confidence]
    prose = f"mentioned in documentation, in {count_noun(len(mentions), 'section')}"
    prose = (
        _format_list(prose, [_format_use(each, each.source, nodes[0]) for each in mentions], max_tokens // 5)
        if mentions
        else ""
    )
    missing = repository.describe_missing_history()
    together = [
        f"  {format_node(each.file)}  {each.probability:.2f}: {one_line('; '.join(each.reasons), _ID_CHARACTERS)}\n"
        for each in repository.changes_with(*nodes, affected=affected)[:_MAX_CHANGES_WITH]
    ]
    likely = _format_list("likely to change with it", together, max_tokens // 4) if together else ""
    prose += f"note: {missing}\n" if missing and (together or not affected) else ""
    if not affected:
        nothing = f"nothing is known to depend on {named}" + (f" ({doubt})" if doubt else "")
        return Reply(truncate_to_budget(f"{note}{nothing}\n{likely}{prose}", max_tokens), [*nodes])
    n_files = len({split_id(each.node)[0] for each in affected})
    n_tests = sum(each.role == _TEST for each in affected)
    head = (
        f"{note}{count_noun(len(affected), 'node')} in {count_noun(n_files, 'file')}{_format_test_count(n_tests)} "
        f"{'depend' if len(affected) > 1 else 'depends'} on {named}, "
        f"at most {count_noun(affected[-1].depth, 'step')} away" + (f"; {doubt}" if doubt else "")
    )
    text = list_by_depth(f"{head}\n{likely}", affected, max_tokens - count_tokens(prose) - 1 if prose else max_tokens)
    return Reply(f"{text}{prose}", [*nodes, *(each.node for each in affected)])


def truncate_to_budget(text: str, max_tokens: int) -> str:
    """Return the whole lines of `text` that fit, and the number of omitted lines.

    A first line that is too long by itself is cut.
    """
    if count_tokens(text) <= max_tokens:
        return text
    lines = text.split("\n")

    def shorten(kept: int) -> str:
        return "\n".join([*lines[:kept], f"… {len(lines) - kept} more lines"])

    # Token counts grow with lines, except that a tokenizer may merge tokens across lines.
    kept = bisect_left(range(1, len(lines)), True, key=lambda n: count_tokens(shorten(n)) > max_tokens)
    while kept and count_tokens(shorten(kept)) > max_tokens:
        kept -= 1
    if kept:
        return shorten(kept)
    # No tokenizer gives a character more than one token for each of its at most four bytes.
    return f"{lines[0][: max(0, max_tokens // 4 - 1)]}…"


def list_by_depth(head: str, affected: Sequence[Affected], max_tokens: int) -> str:
    """Return a list of nodes within the budget: code by depth, then tests. Omitted nodes are counted."""
    own = [each for each in affected if each.role != _TEST]
    tests = [each for each in affected if each.role == _TEST]
    room = max_tokens - count_tokens(head) - _LAST_LINE_TOKENS
    parts = [head]
    counts: list[str] = []
    for depth in sorted({each.depth for each in own}):
        layer = [each for each in own if each.depth == depth]
        lines = _fit_lines(f"{count_noun(depth, 'step')}:\n", _format_affected(layer), room)
        room -= sum(count_tokens(line) + 1 for line in lines)
        parts += lines
        if len(lines) - 1 < len(layer):
            counts.append(f"{len(layer) - max(0, len(lines) - 1)} at {count_noun(depth, 'step')}")
            room = 0
    lines = _fit_lines("tests:\n", _format_affected(tests), room)
    parts += lines
    if len(lines) - 1 < len(tests):
        counts.append(f"{count_noun(len(tests) - max(0, len(lines) - 1), 'test')}")
    if counts:
        named = ", ".join([*counts[:3], "…", counts[-1]] if len(counts) > 4 else counts)
        parts.append(f"left out: {named}; raise max_tokens or give max_depth\n")
    return truncate_to_budget("".join(parts), max_tokens)


def _fit_lines(title: str, lines: Sequence[str], room: int) -> list[str]:
    """Return the title and the lines that fit; [] if no line fits."""
    room -= count_tokens(title) + 1
    kept: list[str] = []
    for line in lines:
        room -= count_tokens(line) + 1
        if room < 0:
            break
        kept.append(line)
    return [title, *kept] if kept else []


def _format_affected(affected: Sequence[Affected]) -> list[str]:
    """Return one text per node with the edge that reaches it.

    Consecutive nodes of one file are grouped below its path.
    """
    n_alike = Counter(split_id(each.node)[0] for each in affected if "::" in each.node)
    lines: list[str] = []
    above = ""
    for each in affected:
        path, separator, symbol = each.node.partition("::")
        is_grouped = bool(separator) and n_alike[split_id(each.node)[0]] > 1
        line = f"  {format_node(path)}::\n" if is_grouped and above != path else ""
        line += f"    {format_node(symbol)}" if is_grouped else f"  {format_node(each.node)}"
        target = split_id(each.edge.target)[1] or each.edge.target
        depth = f", {count_noun(each.depth, 'step')} away" if each.role == _TEST and each.depth > 1 else ""
        by = f", which {format_node(each.overridden_by)} overrides" if each.overridden_by else ""
        by = f", which runs {format_node(each.runs)}" if each.runs else by
        by = f" in {format_node(each.run_with)}, run with it" if each.run_with else by
        lines.append(f"{line}  {each.edge.kind} {format_node(target)}{_format_confidence(each.edge)}{by}{depth}\n")
        above = path if is_grouped else ""
    return lines


def _format_path(trail: GraphPath) -> str:
    """Return the hops of a path, one per line."""
    n_steps = len(trail.hops) - 1
    how = ", each uses the next" if trail.forward and n_steps > 1 else ""
    lines = [f"{count_noun(n_steps, 'step')}{how}:", f"  {format_node(trail.hops[0].node)}"]
    for hop, edge in zip(trail.hops[1:], trail.edges, strict=True):
        kind = hop.edge or ""
        is_back = kind.endswith(" (back)")
        arrow = f"← {edge.kind}" if is_back else f"→ {edge.kind}"
        arrow = "→ overridden by" if is_back and trail.forward else arrow
        lines.append(f"  {arrow} {format_node(hop.node)}{_format_confidence(edge)}")
    return "\n".join(lines) + "\n"


def resolve_name(repository: "Repository", name: str) -> tuple[str, str]:
    """Return the id that a name means, and a note on assumptions. Raises UnknownNode, AmbiguousNode."""
    try:
        resolved = repository.resolve_name(name)
    except UnknownNode as error:
        near = [format_node(hit.id) for hit in repository.find(name, limit=_MAX_SUGGESTIONS)]
        if not near or "\n" in str(error):  # the error already lists names
            raise
        listed = "\n  ".join(near)
        raise UnknownNode(f"no node is called {name!r}; similar names:\n  {listed}") from error
    note = f"note: {one_line(resolved.note, 300)}\n" if resolved.note else ""
    return repository.index.graph.nodes.ids[resolved.node], note


def resolve_names(repository: "Repository", text: str) -> tuple[tuple[str, ...], str]:
    """Return the ids that a text means, and a note: one name, or several with commas between. Raises as above."""
    try:
        node, note = resolve_name(repository, text)
    except UnknownNode:
        names = [name.strip() for name in text.split(",") if name.strip()]
        if len(names) < 2:
            raise
        resolved = [resolve_name(repository, name) for name in names[:_MAX_NAMES]]
        return tuple(dict.fromkeys(node for node, _ in resolved)), "".join(note for _, note in resolved)
    return (node,), note


def _format_outline(definition: DefinitionDetails, room: int) -> str:
    """Return the definitions of a file, one per line."""
    inside = [hit for hit in definition.outline if hit.kind != NodeKind.FIELD.label]
    lines = [f"  {format_node(hit.symbol or hit.id)}  {hit.kind}, line {hit.start_row + 1}\n" for hit in inside]
    return _format_list(
        f"{format_node(definition.hit.id)}:: ({count_noun(len(lines), 'definition')})", lines, room, most=len(lines)
    )


def _format_unresolved_calls(gaps: Sequence[UnresolvedCall]) -> str:
    """Return the unresolved calls that could complete a path."""
    if not gaps:
        return ";\n"
    lines = [
        f"  {format_node(gap.node)}, line {gap.line}, calls "
        + ("what another call returns" if gap.name == "?" else f"something called {one_line(gap.name, 80)}")
        for gap in gaps[:_MAX_UNRESOLVED_CALLS]
    ]
    more = [f"  and {len(gaps) - _MAX_UNRESOLVED_CALLS} more"] if len(gaps) > _MAX_UNRESOLVED_CALLS else []
    return ", but one cannot be ruled out:\n" + "\n".join([*lines, *more]) + "\n"


def _render_node_pack(
    repository: "Repository",
    title: str,
    definitions: Iterable[DefinitionDetails],
    edges: tuple[Edge, ...],
    max_tokens: int,
) -> str:
    given = tuple(definitions)
    info = repository.info()
    header = PackHeader(
        title, repository.root.name, info.commit, info.nodes, stale=any(each.stale for each in given), causal=True
    )
    items = tuple(PackItem(each.hit, each.text, False) for each in given)
    return render_pack(PackInput(header, items, edges, ()), max_tokens=max_tokens, format=PackFormat.TEXT).text


def _format_list(title: str, lines: Sequence[str], room: int, *, most: int = _MAX_EDGES_LISTED) -> str:
    """Return a titled list of the lines that fit, and the number of omitted lines."""
    if not lines:
        return f"{title}\n" if title else ""
    head = f"{title}:\n"
    tokens_left = room - count_tokens(head) - 8
    kept: list[str] = []
    for line in lines[:most]:
        tokens_left -= count_tokens(line) + 1
        if tokens_left < 0:
            break
        kept.append(line)
    rest = len(lines) - len(kept)
    return head + "".join(kept) + (f"  and {rest} more\n" if rest else "")


def _test_predicate(repository: "Repository") -> Callable[[str], bool]:
    """Return a function that is True for nodes in test files."""
    nodes = repository.index.graph.nodes
    return lambda node: bool(nodes.roles[nodes.ids.position(node)] == Role.TEST)


def _format_test_count(number: int) -> str:
    return f" ({number} in tests)" if number else ""


def _format_use(edge: Edge, other: str, node: str) -> str:
    """Return one line of a list: the other end of an edge, location and confidence.

    The target is named if it is a member of `node`.
    """
    kind = "" if edge.kind == EdgeKind.CALLS.label else f"  {edge.kind}"
    inside = "" if node in (edge.source, edge.target) else f"  {format_node(split_id(edge.target)[1] or edge.target)}"
    return f"  {format_node(other)}{kind}{inside}{_format_confidence(edge)}\n"


def _format_confidence(edge: Edge) -> str:
    line = f", line {edge.line}" if edge.line is not None else ""
    return f"{line}, {edge.confidence:.2g}{format_sighting(edge)}"


def format_sighting(edge: Edge) -> str:
    """Return how often runs saw a call and how long ago, "" if they say nothing of it."""
    if edge.observed is None:
        return ""
    n = edge.observed.n + edge.observed.n_through
    how = f"seen {n:,}x" if n else f"unseen in {edge.observed.n_runs:,} runs"
    return f", {how}, {describe_age(edge.observed.time)} ago"


def format_node(node: str) -> str:
    """Return an id, escaped and cut to one line."""
    return middle_cut(node, _ID_CHARACTERS)


def _append_lines(text: str, tail: Iterable[str], max_tokens: int) -> str:
    """Return `text` with the lines of `tail` that fit, in order."""
    for line in tail:
        longer = f"{text.rstrip()}\n{neutralize(line)}\n"
        if count_tokens(longer) <= max_tokens:
            text = longer
    return text


def _first_within_budget(texts: Sequence[str], max_tokens: int) -> str:
    """Return the first text that fits, or the last text cut to fit."""
    for text in texts:
        if count_tokens(text) <= max_tokens:
            return text
    return truncate_to_budget(texts[-1], max_tokens)
