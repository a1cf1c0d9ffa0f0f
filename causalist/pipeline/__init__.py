"""The stages put together: a query -> an answer. `Repository` is the facade of the library."""

from typing import TYPE_CHECKING

from causalist._internal.lazy import exports

if TYPE_CHECKING:
    from causalist.model.answer import AskOptions
    from causalist.pipeline.repository import Repository

__all__ = ["AskOptions", "Repository"]

__getattr__ = exports(__name__, {"repository": "AskOptions Repository"})
