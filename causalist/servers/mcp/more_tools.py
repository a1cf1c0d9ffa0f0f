"""The tools that `--tools all` adds: one for each question that the command line answers and the default ones do not.

Answers are lists of ids, which the next call takes, safe and within their budget.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from causalist.servers.mcp.tools import Arguments, Parameter, Tool, budget, name_unindexed, node_name
from causalist.servers.reply import Reply

if TYPE_CHECKING:
    from causalist.model.graph import Edge
    from causalist.pipeline.repository import Repository

_MOST_CALLS = 10


def _find(repository: "Repository", arguments: Arguments) -> Reply:
    from causalist.servers.text_answers import shown

    hits = repository.find(arguments["name"], limit=arguments["limit"])
    if not hits:
        return Reply(f"nothing is called {arguments['name']!r} or nearly so; `ask` finds what is meant in words\n")
    lines = [f"{shown(hit.id)}  {hit.kind}, line {hit.start_row + 1}" for hit in hits]
    return Reply("\n".join(lines) + "\n", [hit.id for hit in hits])


def _map(repository: "Repository", arguments: Arguments) -> Reply:
    return Reply(repository.map(max_tokens=arguments["max_tokens"]).text)


def _tests(repository: "Repository", arguments: Arguments) -> Reply:
    from causalist.servers.text_answers import bounded, listed_by_depth, named, shown

    node, note = named(repository, arguments["name"])
    found = repository.tests(node, max_depth=arguments["max_depth"], min_confidence=0.5)
    if not found:
        return Reply(bounded(f"{note}no test is known to reach {shown(node)}\n", arguments["max_tokens"]), [node])
    n_tests = f"{len(found)} test{'s'[: len(found) != 1]}"
    head = f"{note}{n_tests} of {shown(node)}, direct ones first\n"
    return Reply(listed_by_depth(head, found, arguments["max_tokens"]), [each.node for each in found])


def _state(repository: "Repository", arguments: Arguments) -> Reply:
    from causalist.servers.text_answers import bounded, named, shown

    node, note = named(repository, arguments["name"])
    writers, readers = repository.writers(node), repository.readers(node)
    if not writers and not readers:
        return Reply(bounded(f"{note}nothing is known that reads or writes {shown(node)}\n", arguments["max_tokens"]))
    text = f"{note}written by {len(writers)}:\n{_sources(writers)}read by {len(readers)}:\n{_sources(readers)}"
    nodes = dict.fromkeys(edge.source for edge in (*writers, *readers))
    return Reply(bounded(text, arguments["max_tokens"]), [node, *nodes])


def _neighbors(repository: "Repository", arguments: Arguments) -> Reply:
    from causalist.servers.text_answers import bounded, named, shown

    node, note = named(repository, arguments["name"])
    groups = repository.neighbors(node, hops=arguments["hops"])
    parts, nodes = [note], {node: None}
    for group in groups:
        away = "" if group.hop == 1 else f", {group.hop} steps away"
        parts.append(f"{'used by' if group.direction == 'in' else 'uses'}, {group.kind} ({group.n}){away}:\n")
        for edge in group.edges:
            other = edge.source if group.direction == "in" else edge.target
            nodes[other] = None
            via = f"  from {shown(edge.source)}" if group.hop > 1 and group.direction != "in" else ""
            parts.append(f"  {shown(other)}{via}, {edge.confidence:.2g}\n")
    text = "".join(parts) if groups else f"{note}{shown(node)} is linked with nothing\n"
    return Reply(bounded(text, arguments["max_tokens"]), list(nodes))


def _verify(repository: "Repository", arguments: Arguments) -> Reply:
    from causalist._internal.sanitize import one_line
    from causalist.servers.text_answers import bounded, named, shown

    (start, note), (end, other) = named(repository, arguments["name"]), named(repository, arguments["to"])
    verdict = repository.verify(start, end)
    lines = [f"{note}{other}{verdict.known.value}: {shown(start)} -> {shown(end)} ({verdict.reason.value})"]
    for edge, line in zip(verdict.edges[:_MOST_CALLS], verdict.lines, strict=False):
        lines.append(f"  line {edge.line}, {edge.kind}, {edge.rule} {edge.confidence:.2g}: `{one_line(line, 200)}`")
    lines += [f"  line {site.line}: {one_line(site.callee, 100)}(…)" for site in verdict.sites[:_MOST_CALLS]]
    if verdict.known != "yes" and verdict.calls:
        lines.append("  it is known to call " + ", ".join(shown(e.target) for e in verdict.calls[:_MOST_CALLS]))
    return Reply(bounded("\n".join(lines) + "\n", arguments["max_tokens"]), [start, end])


def _layers(repository: "Repository", arguments: Arguments) -> Reply:
    from causalist.servers.text_answers import bounded, shown

    found = repository.layers()
    lines = [f"{size.layer}: {size.n_files} files, {size.n_definitions} definitions" for size in found.sizes]
    lines.append(
        f"{len(found.back_edges)} uses lead from a lower layer to a higher one" + ":"[: bool(found.back_edges)]
    )
    for each in found.back_edges:
        edge = each.edge
        lines.append(
            f"  {each.source_layer} -> {each.target_layer}: {shown(edge.source)} {edge.kind} {shown(edge.target)}"
        )
    nodes = dict.fromkeys(each.edge.source for each in found.back_edges)
    return Reply(bounded("\n".join(lines) + "\n", arguments["max_tokens"]), list(nodes))


def _status(repository: "Repository", arguments: Arguments) -> Reply:
    from causalist.serialize.status import status_lines
    from causalist.servers.text_answers import bounded

    more = "; `causalist status --json` lists all"
    lines = status_lines(repository.status(), repository.standing(), is_refreshed=False, more_notes=more)
    return Reply(bounded("\n".join(lines) + "\n", arguments["max_tokens"]))


def _sources(edges: "Iterable[Edge]") -> str:
    from causalist.servers.text_answers import shown

    return "".join(f"  {shown(edge.source)}, line {edge.line}, {edge.confidence:.2g}\n" for edge in edges)


_ANY = "Name, qualified name, file, or id."

MORE_TOOLS: Mapping[str, Tool] = {
    "find": Tool(
        "Find a name",
        "Finds definitions by name or a part of a name, when you know roughly how it is spelled but not where it is.",
        {
            "name": node_name("All of a name or a part of it.", required=True),
            "limit": Parameter(int, "Most names listed.", 1, 100, 20),
        },
        _find,
        name_unindexed,
    ),
    "map": Tool(
        "Overview of the repository",
        "A one-page overview of the whole repository: what it is, its parts, entry points, most used definitions.",
        {"max_tokens": budget(2000)},
        _map,
    ),
    "tests": Tool(
        "Which tests cover it",
        "Lists the tests that cover a definition or file, directly or through others: what to run after an edit.",
        {
            "name": node_name(_ANY, required=True),
            "max_depth": Parameter(int, "Most steps away; without it all.", 1, 100),
            "max_tokens": budget(2000),
        },
        _tests,
    ),
    "state": Tool(
        "Who reads and writes a value",
        "Lists what reads and what writes (sets, assigns, mutates) a field, constant or variable.",
        {"name": node_name("A field, constant, or what contains some.", required=True), "max_tokens": budget(2000)},
        _state,
    ),
    "neighbors": Tool(
        "Everything linked with a node",
        "Lists every kind of link around a definition or file: imports, subclasses, overrides, references, mentions.",
        {
            "name": node_name(_ANY, required=True),
            "hops": Parameter(int, "How many steps away.", 1, 3, 1),
            "max_tokens": budget(2000),
        },
        _neighbors,
    ),
    "verify": Tool(
        "Check one claim of use",
        "Answers yes, no or unknown: does one definition really use another? Shows the line that proves it.",
        {
            "name": node_name("What is said to use the other.", required=True),
            "to": node_name("What is said to be used.", required=True),
            "max_tokens": budget(1000),
        },
        _verify,
    ),
    "layers": Tool(
        "Architecture layers",
        "Shows the layers of the architecture (ui, api, logic, data, infra) and violations: lower using higher ones.",
        {"max_tokens": budget(2000)},
        _layers,
    ),
    "status": Tool(
        "State of the index",
        "Says what is indexed: commit, files by language, what was left out or skipped and why.",
        {"max_tokens": budget(1000)},
        _status,
    ),
}
