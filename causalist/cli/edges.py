"""What `callers` and `callees` share: edges of calls, one a line, or as a document.

What `readers` and `writers` share: edges to a value, one a line, or as a document.

`causalist callees`: the calls that a node makes.

`causalist callers`: the calls that lead to a node.

`causalist readers`: what reads a value.

`causalist writers`: what gives a value.
"""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from causalist.cli._lookup import aligned, finish, id_of, lookup_options, open_for_lookup, site_of
from causalist.cli._repository import min_confidence_option
from causalist.model.symbols import TYPE_KINDS
from causalist.serialize.answers import callers_document, calls_document

if TYPE_CHECKING:
    from causalist.model.graph import Edge


def show_callees(node: str, *, repo: Path | None, force: bool, min_confidence: float, as_json: bool) -> None:
    """Prints the calls that `node` makes."""
    repository = open_for_lookup(repo, force=force, when_empty=calls_document(node, ()) if as_json else None)
    name = id_of(repository, node)
    known = repository.callees(name)
    edges = [edge for edge in known if edge.confidence >= min_confidence]
    nothing = _nothing(f"calls that {name} makes inside the repository", len(known), min_confidence)
    finish(calls_document(name, edges) if as_json else None, edge_lines(edges), "" if edges else nothing)


def show_callers(node: str, *, repo: Path | None, force: bool, min_confidence: float, as_json: bool) -> None:
    """Prints the calls that lead to `node`, and apart from them those of what it overrides, uses of the class of a
    special method, who names it without a call, and which documentation mentions it."""
    repository = open_for_lookup(repo, force=force, when_empty=callers_document(node, (), (), ()) if as_json else None)
    name = id_of(repository, node)
    known = (
        repository.callers(name),
        repository.callers_through(name),
        repository.references(name),
        repository.documentation(name),
    )
    edges, through, references, documents = ([e for e in each if e.confidence >= min_confidence] for each in known)
    found = edges or through or references or documents
    nothing = "" if found else _nothing(f"calls to {name}", sum(map(len, known)), min_confidence)
    document = callers_document(name, edges, through, references, documents) if as_json else None
    nodes = repository.index.graph.nodes
    types = {e.target for e in through if nodes.kinds[nodes.ids.position(e.target)] in TYPE_KINDS}
    finish(document, _callers(edges, through, types, references, documents), nothing)


def edge_lines(edges: "Sequence[Edge]") -> list[str]:
    """One edge a line: certainty, rule, ends, and where it is written, which is in the file of its source."""
    return aligned([(f"{e.confidence:.3f}", e.rule, f"{e.source} -> {e.target}", site_of(e)) for e in edges])


def _callers(
    edges: "Sequence[Edge]",
    through: "Sequence[Edge]",
    types: Collection[str],
    references: "Sequence[Edge]",
    documents: "Sequence[Edge]",
) -> Iterator[str]:
    """Calls, then those through overridden methods and classes, then other uses. `types` are those classes."""
    yield from edge_lines(edges)
    for base in sorted({edge.target for edge in through}):
        if edges or base != min(edge.target for edge in through):
            yield ""
        how = "who uses this may run it without its name" if base in types else "which it overrides"
        yield f"through {base}, {how}"
        yield from edge_lines([edge for edge in through if edge.target == base])
    if references:
        if edges or through:
            yield ""
        yield "named without a call: handed on, kept, or used as a type"
        yield from edge_lines(references)
    if documents:
        if edges or through or references:
            yield ""
        yield "mentioned in documentation"
        yield from edge_lines(documents)


def _nothing(calls: str, n_known: int, min_confidence: float) -> str:
    weaker = f" with a confidence of {min_confidence:g} or more; {n_known} with less" if n_known else ""
    return f"no {calls} are known{weaker}"


def show_users(node: str, kind: str, *, repo: Path | None, force: bool, min_confidence: float, as_json: bool) -> None:
    """Prints the edges of one kind, "reads" or "writes", that lead to `node` or to what it contains."""
    repository = open_for_lookup(repo, force=force, when_empty=calls_document(node, ()) if as_json else None)
    name = id_of(repository, node)
    known = repository.readers(name) if kind == "reads" else repository.writers(name)
    edges = [edge for edge in known if edge.confidence >= min_confidence]
    weaker = f" with a confidence of {min_confidence:g} or more; {len(known)} with less" if known else ""
    finish(
        calls_document(name, edges) if as_json else None,
        edge_lines(edges),
        "" if edges else f"nothing is known that {kind} {name}{weaker}",
    )


@click.command("callees")
@click.argument("node")
@lookup_options
@min_confidence_option(0.0, "Minimum confidence of a call.")
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
@min_confidence_option(0.0, "Minimum confidence of a call.")
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


@click.command("readers")
@click.argument("node")
@lookup_options
@min_confidence_option(0.0, "Minimum confidence of a use.")
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
