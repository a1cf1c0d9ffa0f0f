"""Look-ups in an index: names, edges, paths between two nodes, neighbors, and the impact of a change.

In: an `Index` or its `CodeGraph`, and names as people write them. Out: nodes, edges and the types of
`model/navigate.py`. Nothing here reads the repository, ranks for a question or prints.
"""

from typing import TYPE_CHECKING

from causalist._internal.lazy import exports

if TYPE_CHECKING:
    from causalist.navigate.edges import (
        as_one,
        calls_from,
        calls_through,
        calls_to,
        chosen_edges,
        edges_to,
        mentions_of,
        references_to,
    )
    from causalist.navigate.filters import Filters, apply_filters, nodes_inside
    from causalist.navigate.find import find_nodes
    from causalist.navigate.impact import affected_by, nodes_of_rows, tests_reaching
    from causalist.navigate.lint import health_of, layering_of
    from causalist.navigate.names import ResolvedName, resolve_name
    from causalist.navigate.neighbors import changes_with, definition_of, neighbors_in, neighbors_of, trail_between
    from causalist.navigate.verify import gaps_between, verdict_on

__all__ = [
    "Filters",
    "ResolvedName",
    "affected_by",
    "apply_filters",
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
    "resolve_name",
    "tests_reaching",
    "trail_between",
    "verdict_on",
]

__getattr__ = exports(
    __name__,
    {
        "neighbors": "changes_with definition_of neighbors_in neighbors_of trail_between",
        "impact": "affected_by nodes_of_rows tests_reaching",
        "edges": "as_one calls_from calls_through calls_to chosen_edges edges_to mentions_of references_to",
        "find": "find_nodes",
        "verify": "gaps_between verdict_on",
        "lint": "health_of layering_of",
        "names": "ResolvedName resolve_name",
        "filters": "Filters apply_filters nodes_inside",
    },
)
