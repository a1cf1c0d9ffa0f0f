"""What `callers` and `callees` share: edges of calls, one a line, or as a document."""

from pathlib import Path

from causalist.cli._lookup import aligned, finish, id_of, open_for_lookup, site_of
from causalist.cli._wire import calls_document


def show_calls(
    node: str, *, incoming: bool, repo: Path | None, force: bool, min_confidence: float, as_json: bool
) -> None:
    """Prints the calls that lead to `node`, or those that it makes."""
    repository = open_for_lookup(repo, force=force, when_empty=calls_document(node, ()) if as_json else None)
    name = id_of(repository, node)
    known = repository.callers(name) if incoming else repository.callees(name)
    edges = [edge for edge in known if edge.confidence >= min_confidence]
    nothing = ""
    if not edges:
        calls = f"calls to {name}" if incoming else f"calls that {name} makes inside the repository"
        weaker = f" with a confidence of {min_confidence:g} or more; {len(known)} with less" if known else ""
        nothing = f"no {calls} are known{weaker}"
    # The call stands in the file of its source.
    rows = [(f"{e.confidence:.3f}", e.rule, f"{e.source} -> {e.target}", site_of(e)) for e in edges]
    finish(calls_document(name, edges) if as_json else None, aligned(rows), nothing)
