"""What `readers` and `writers` share: edges to a value, one a line, or as a document."""

from pathlib import Path

from causalist.cli._lookup import finish, id_of, open_for_lookup
from causalist.cli.edges import edge_lines
from causalist.serialize.answers import calls_document


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
