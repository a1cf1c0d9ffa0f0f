"""Answers questions about a code base with the code itself.

>>> from causalist import AskOptions, Level
>>> AskOptions(level=Level.FILE).max_tokens
4000

`Repository.open(".").ask("where does auth happen?").pack.text` is the whole of it. Names are loaded when they are first
used, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from causalist.errors import CausalistError
    from causalist.index.options import IndexOptions, RefreshCache
    from causalist.model.answer import Answer, AskOptions, Level, Order, RankMode, Route, Specificity
    from causalist.model.graph import Edge
    from causalist.model.scores import Hit
    from causalist.pipeline.repository import Repository

__all__ = [
    "Answer",
    "AskOptions",
    "CausalistError",
    "Edge",
    "Hit",
    "IndexOptions",
    "Level",
    "Order",
    "RankMode",
    "RefreshCache",
    "Repository",
    "Route",
    "Specificity",
]

_HOME = {
    "Answer": "causalist.model.answer",
    "AskOptions": "causalist.model.answer",
    "CausalistError": "causalist.errors",
    "Edge": "causalist.model.graph",
    "Hit": "causalist.model.scores",
    "IndexOptions": "causalist.index.options",
    "Level": "causalist.model.answer",
    "Order": "causalist.model.answer",
    "RankMode": "causalist.model.answer",
    "Repository": "causalist.pipeline.repository",
    "RefreshCache": "causalist.index.options",
    "Route": "causalist.model.answer",
    "Specificity": "causalist.model.answer",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'causalist' has no attribute {name!r}")
