"""A name, or a part of one -> the nodes that bear it, best first."""

from causalist.extract import hit_of
from causalist.model.index import Index
from causalist.model.scores import Hit
from causalist.model.symbols import NodeKind, Role

# How well a name fits, best first; a hit's score is the place counted from the end, so that it falls with the fit.
_FITS = ("exact", "prefix", "inside")


def find_nodes(index: Index, name: str, limit: int) -> tuple[Hit, ...]:
    """At most `limit` nodes whose last name, file name or file stem is `name`, begins with it or holds it, whatever
    the case.

    Better fits come first, then code before tests and documentation, then what more other nodes are linked with, then
    by id. `score` is 1 for an exact fit and less for others.
    """
    wanted = name.strip().lower().rpartition("::")[2].rpartition(".")[2] or name.strip().lower()
    if not wanted:
        return ()
    lexical, nodes = index.lexical, index.graph.nodes
    fit_of: dict[int, int] = {}
    for at, known in enumerate(lexical.names):
        if wanted not in known:
            continue
        fit = 0 if known == wanted else 1 if known.startswith(wanted) else 2
        for node in lexical.name_nodes[lexical.name_indptr[at] : lexical.name_indptr[at + 1]].tolist():
            fit_of[node] = min(fit, fit_of.get(node, fit))
    degrees = index.transition.degrees

    def place(node: int) -> tuple[int, bool, bool, int, int]:
        is_aside = nodes.roles[node] != Role.CODE
        return fit_of[node], is_aside, bool(nodes.kinds[node] == NodeKind.FIELD), -int(degrees[node]), node

    best = sorted(fit_of, key=place)[:limit]
    return tuple(hit_of(index.graph, node, 1 - fit_of[node] / len(_FITS), 0.0, ()) for node in best)
