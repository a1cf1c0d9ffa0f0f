"""A name as people write it -> the one node that it means."""

from causalist.errors import AmbiguousNode, UnknownNode
from causalist.model.index import Index
from causalist.rank import nodes_named

_MOST_SUGGESTED = 20  # namesakes that the message about an unknown node lists


def resolve(index: Index, name: str) -> int:
    """The node with the id `name`, or the only one with that qualified or last name.

    Raises UnknownNode, or AmbiguousNode with the candidates.
    """
    ids = index.graph.nodes.ids
    exact = ids.position(name)
    if exact >= 0:
        return exact
    last = name.rpartition("::")[2].rpartition(".")[2] if "/" not in name.rpartition("::")[2] else name
    found = nodes_named(last, index.lexical) or nodes_named(name.rpartition("/")[2], index.lexical)
    matching = [n for n in found if _names_end(ids[n], name)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        listed = "\n".join(f"  {ids[n]}" for n in matching[:_MOST_SUGGESTED])
        raise AmbiguousNode(f"{len(matching)} nodes are called {name!r}; use one of these ids:\n{listed}")
    if 0 < len(found) <= _MOST_SUGGESTED:
        listed = "\n".join(f"  {ids[n]}" for n in found)
        raise UnknownNode(f"nothing here is called {name!r}; by its last name there is:\n{listed}")
    raise UnknownNode(f"nothing here is called {name!r}; ids look like src/auth.py::Session.verify")


def _names_end(node_id: str, name: str) -> bool:
    """Whether an id ends with `name` at a boundary of its parts."""
    if node_id == name:
        return True
    return node_id.endswith(name) and node_id[-len(name) - 1] in "/.:#"
