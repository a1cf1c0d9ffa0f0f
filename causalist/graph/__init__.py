"""All facts -> the code graph."""

from causalist.graph.build import build_graph

__all__ = ["build_graph"]
