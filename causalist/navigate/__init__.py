"""Looking things up in an index: names, edges, trails between two nodes, neighbours, and what a change reaches.

In: an `Index` or its `CodeGraph`, and names as people write them. Out: nodes, edges and the types of
`model/navigate.py`. Nothing here reads the repository, ranks for a question or prints.
"""

from typing import TYPE_CHECKING

from causalist._internal.lazy import exports

if TYPE_CHECKING:
    from causalist.navigate.co_changes import changes_with, neighbors_in
    from causalist.navigate.coverage import tests_reaching
    from causalist.navigate.definitions import definition_of
    from causalist.navigate.dispatch import calls_through
    from causalist.navigate.edges import calls_from, calls_to, chosen_edges, edges_to, mentions_of, references_to
    from causalist.navigate.filters import View, nodes_inside, view_of
    from causalist.navigate.find import find_nodes
    from causalist.navigate.gaps import gaps_between
    from causalist.navigate.impact import affected_by, nodes_of_rows
    from causalist.navigate.layers import layering_of
    from causalist.navigate.lint import health_of
    from causalist.navigate.names import Named, resolve
    from causalist.navigate.neighbors import neighbors_of
    from causalist.navigate.reach import as_one
    from causalist.navigate.trails import trail_between
    from causalist.navigate.verify import verdict_on

__all__ = [
    "Named",
    "View",
    "affected_by",
    "as_one",
    "calls_from",
    "calls_through",
    "calls_to",
    "changes_with",
    "chosen_edges",
    "definition_of",
    "edges_to",
    "find_nodes",
    "gaps_between",
    "health_of",
    "layering_of",
    "mentions_of",
    "neighbors_in",
    "neighbors_of",
    "nodes_inside",
    "nodes_of_rows",
    "references_to",
    "resolve",
    "tests_reaching",
    "trail_between",
    "verdict_on",
    "view_of",
]

__getattr__ = exports(
    __name__,
    {
        "co_changes": "changes_with neighbors_in",
        "coverage": "tests_reaching",
        "definitions": "definition_of",
        "dispatch": "calls_through",
        "edges": "calls_from calls_to chosen_edges edges_to mentions_of references_to",
        "find": "find_nodes",
        "gaps": "gaps_between",
        "lint": "health_of",
        "impact": "affected_by nodes_of_rows",
        "layers": "layering_of",
        "names": "Named resolve",
        "neighbors": "neighbors_of",
        "reach": "as_one",
        "filters": "View nodes_inside view_of",
        "trails": "trail_between",
        "verify": "verdict_on",
    },
)
