"""Look-ups in an index: names, edges, paths between two nodes, neighbors, and the impact of a change.

In: an `Index` or its `CodeGraph`, and names as people write them. Out: nodes, edges and the types of
`model/lookup.py`. Nothing here reads the repository, ranks for a question or prints.
"""

from typing import TYPE_CHECKING

from causalist._internal.lazy import exports

if TYPE_CHECKING:
    from causalist.navigate.affected_tests import count_probable_tests, find_tests_reaching, find_users_and_tests
    from causalist.navigate.dependency_order import expand_names, nodes_reached, order_dependencies
    from causalist.navigate.edges import (
        calls_from,
        calls_to,
        describe_definition,
        edges_to,
        find_graph_path,
        find_indirect_calls,
        find_path_of_edges,
        list_co_change_edges,
        list_neighbors,
        list_neighbors_and_derived,
        list_routes,
        mentions_of,
        references_to,
        select_edges,
        with_overloads_and_members,
    )
    from causalist.navigate.find import Filters, apply_filters, find_nodes, nodes_inside, select_definitions
    from causalist.navigate.impact import find_affected_nodes, find_nodes_of_rows, unite_affected
    from causalist.navigate.implicit_calls import find_overriding, is_run_unnamed
    from causalist.navigate.index_health import find_defects, list_layer_files, summarize_layers
    from causalist.navigate.likely_changes import find_files_changing_with, find_missing_files
    from causalist.navigate.marked_tests import mark_tests
    from causalist.navigate.names import ResolvedName, last_name, resolve_name
    from causalist.navigate.use_verification import find_completing_calls, verify_use

__all__ = [
    "Filters",
    "ResolvedName",
    "apply_filters",
    "calls_from",
    "calls_to",
    "count_probable_tests",
    "describe_definition",
    "edges_to",
    "expand_names",
    "find_affected_nodes",
    "find_completing_calls",
    "find_defects",
    "find_files_changing_with",
    "find_graph_path",
    "find_indirect_calls",
    "find_missing_files",
    "find_nodes",
    "find_nodes_of_rows",
    "find_overriding",
    "find_path_of_edges",
    "find_tests_reaching",
    "find_users_and_tests",
    "is_run_unnamed",
    "last_name",
    "list_co_change_edges",
    "list_layer_files",
    "list_neighbors",
    "list_neighbors_and_derived",
    "list_routes",
    "mark_tests",
    "mentions_of",
    "nodes_inside",
    "nodes_reached",
    "order_dependencies",
    "references_to",
    "resolve_name",
    "select_definitions",
    "select_edges",
    "summarize_layers",
    "unite_affected",
    "verify_use",
    "with_overloads_and_members",
]

__getattr__ = exports(
    __name__,
    {
        "implicit_calls": "find_overriding is_run_unnamed",
        "impact": "find_affected_nodes find_nodes_of_rows unite_affected",
        "affected_tests": "count_probable_tests find_tests_reaching find_users_and_tests",
        "edges": "calls_from calls_to describe_definition edges_to find_graph_path find_indirect_calls "
        "find_path_of_edges list_co_change_edges list_neighbors list_neighbors_and_derived list_routes "
        "mentions_of references_to select_edges with_overloads_and_members",
        "find": "Filters apply_filters find_nodes nodes_inside select_definitions",
        "marked_tests": "mark_tests",
        "use_verification": "find_completing_calls verify_use",
        "likely_changes": "find_files_changing_with find_missing_files",
        "index_health": "find_defects list_layer_files summarize_layers",
        "names": "ResolvedName last_name resolve_name",
        "dependency_order": "expand_names nodes_reached order_dependencies",
    },
)
