"""Scores -> the top-k subgraph without cycles, in causal order, with paths."""

from causalist.extract.order import order_subgraph
from causalist.extract.paths import paths_from_seeds
from causalist.extract.subgraph import extract_subgraph, lift_to_files

__all__ = ["extract_subgraph", "lift_to_files", "order_subgraph", "paths_from_seeds"]
