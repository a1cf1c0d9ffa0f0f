"""`causalist callers`, `callees`, `readers` and `writers`: edges of one node, one per line or as JSON."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist._internal.text import align_columns
from causalist.cli._repository import (
    answer_each_meaning,
    count_sightings,
    edge_location,
    first_answer_options,
    lookup_options,
    min_confidence_option,
    observed_option,
    open_for_lookup,
    print_result,
    report_stale_calls,
    report_unread,
    resolve_id,
)
from causalist.model.symbols import TYPE_KINDS, split_id
from causalist.serialize.answers import callers_document, calls_document
from causalist.serialize.lookups import routes_document

if TYPE_CHECKING:
    from causalist.model.graph import Edge


def show_callees(node: str, *, repo: Path | None, force: bool, min_confidence: float, as_json: bool) -> None:
    """Print the calls that `node` makes."""
    empty = calls_document(node, ()) if as_json else None
    repository = open_for_lookup(repo, force=force, when_empty=empty, name=node)
    name = resolve_id(repository, node)
    all_edges = repository.callees(name)
    edges = [edge for edge in all_edges if edge.certainty >= min_confidence]
    report_stale_calls(repository, name, None)
    nothing = _empty_message(f"calls that {name} makes inside the repository", len(all_edges), min_confidence)
    print_result(calls_document(name, edges) if as_json else None, format_edges(edges), "" if edges else nothing)


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
    print_result(document, format_callers(edges, through, types, references, documents), nothing)


def format_edges(edges: "Sequence[Edge]") -> list[str]:
    """Return one line per edge: confidence, rule, ends, and location in the file of its source.

    Of functions between which a build chooses, the confidence is that of all, and the rule says how many there are.
    """
    return align_columns(
        [
            (f"{e.certainty:.3f}", describe_rule(e), f"{e.source} -> {e.target}", edge_location(e), count_sightings(e))
            for e in edges
        ]
    )


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
) -> Iterator[str]:
    """Yield direct calls, calls through overridden methods and classes, then other uses.

    `types` are those classes.
    """
    yield from format_edges(edges)
    for base in sorted({edge.target for edge in through}):
        if edges or base != min(edge.target for edge in through):
            yield ""
        how = "who uses this may run it without its name" if base in types else "which it overrides"
        yield f"through {base}, {how}"
        yield from format_edges([edge for edge in through if edge.target == base])
    named, routed = ([e for e in references if (e.kind == "references") == is_named] for is_named in (True, False))
    is_first = not edges and not through
    for title, listed in (
        ("named without a call: handed on, kept, or used as a type", named),
        ("through routes and events", routed),
        ("mentioned in documentation", documents),
    ):
        if listed:
            if not is_first:
                yield ""
            is_first = False
            yield title
            yield from format_edges(listed)


def _empty_message(calls: str, n_known: int, min_confidence: float) -> str:
    weaker = f" with a confidence of {min_confidence:g} or more; {n_known} with less" if n_known else ""
    return f"no {calls} are known{weaker}"


def show_users(node: str, kind: str, *, repo: Path | None, force: bool, min_confidence: float, as_json: bool) -> None:
    """Print the edges of one kind, "reads" or "writes", to `node` or its members."""
    repository = open_for_lookup(repo, force=force, when_empty=calls_document(node, ()) if as_json else None)
    name = resolve_id(repository, node)
    all_edges = repository.readers(name) if kind == "reads" else repository.writers(name)
    edges = [edge for edge in all_edges if edge.certainty >= min_confidence]
    report_unread(repository, name)
    weaker = f" with a confidence of {min_confidence:g} or more; {len(all_edges)} with less" if all_edges else ""
    print_result(
        calls_document(name, edges) if as_json else None,
        format_edges(edges),
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
    """Show the calls that NODE makes inside the repository.

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
