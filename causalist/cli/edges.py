"""What `callers` and `callees` share: edges of calls, one a line, or as a document."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from causalist.cli._lookup import aligned, finish, id_of, open_for_lookup, site_of
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
    """Prints the calls that lead to `node`, and apart from them those of what it overrides, who names it without a
    call, and which documentation mentions it."""
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
    finish(document, _callers(edges, through, references, documents), nothing)


def edge_lines(edges: "Sequence[Edge]") -> list[str]:
    """One edge a line: certainty, rule, ends, and where it is written, which is in the file of its source."""
    return aligned([(f"{e.confidence:.3f}", e.rule, f"{e.source} -> {e.target}", site_of(e)) for e in edges])


def _callers(
    edges: "Sequence[Edge]", through: "Sequence[Edge]", references: "Sequence[Edge]", documents: "Sequence[Edge]"
) -> Iterator[str]:
    yield from edge_lines(edges)
    for base in sorted({edge.target for edge in through}):
        if edges or base != min(edge.target for edge in through):
            yield ""
        yield f"through {base}, which it overrides"
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
