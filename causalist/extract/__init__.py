"""Scores -> the top-k subgraph without cycles, in causal order, with paths."""

from typing import TYPE_CHECKING

from causalist._internal.lazy import exports

if TYPE_CHECKING:
    from causalist.extract.ordered_subgraph import (
        extract_subgraph,
        hit_of,
        hops_between,
        lift_to_files,
        name_edge,
        order_subgraph,
        paths_from_seeds,
        select_acyclic,
        without_implied_edges,
    )
    from causalist.extract.relevance_model import (
        NeededNode,
        RelevanceInput,
        RelevanceModel,
        default_relevance,
        judge_relevance,
    )

__all__ = [
    "NeededNode",
    "RelevanceInput",
    "RelevanceModel",
    "default_relevance",
    "extract_subgraph",
    "hit_of",
    "hops_between",
    "judge_relevance",
    "lift_to_files",
    "name_edge",
    "order_subgraph",
    "paths_from_seeds",
    "select_acyclic",
    "without_implied_edges",
]

__getattr__ = exports(
    __name__,
    {
        "ordered_subgraph": "extract_subgraph hit_of hops_between lift_to_files name_edge order_subgraph "
        "paths_from_seeds select_acyclic without_implied_edges",
        "relevance_model": "NeededNode RelevanceInput RelevanceModel default_relevance judge_relevance",
    },
)
