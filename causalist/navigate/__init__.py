"""Looking things up in an index: names, edges, trails between two nodes, what a change reaches.

In: an `Index` or its `CodeGraph`, and names as people write them. Out: nodes, edges and the types of
`model/navigate.py`. Nothing here reads the repository, ranks for a question or prints.
"""

from causalist.navigate.definitions import definition_of
from causalist.navigate.edges import calls_from, calls_to, chosen_edges
from causalist.navigate.find import find_nodes
from causalist.navigate.impact import affected_by
from causalist.navigate.names import Named, resolve
from causalist.navigate.trails import trail_between

__all__ = [
    "Named",
    "affected_by",
    "calls_from",
    "calls_to",
    "chosen_edges",
    "definition_of",
    "find_nodes",
    "resolve",
    "trail_between",
]
