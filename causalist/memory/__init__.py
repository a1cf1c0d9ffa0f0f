"""Memory over free text: passages, the entities they share, and Personalized PageRank over both.

Names are loaded when they are first used: a query needs no pipeline.
"""

from typing import TYPE_CHECKING

from causalist._internal.lazy import exports

if TYPE_CHECKING:
    from causalist.memory.conflicts_and_confidence import ValidationSettings
    from causalist.memory.extractors import Entity, EntityExtractor, Extraction, RegexEntityExtractor, Triple
    from causalist.memory.index import HippoIndex
    from causalist.memory.pipeline import MemoryPipeline
    from causalist.memory.retrieval import RetrievalSettings, RetrievedPassage
    from causalist.memory.walk import VARIANTS, Variant

__all__ = [
    "VARIANTS",
    "Entity",
    "EntityExtractor",
    "Extraction",
    "HippoIndex",
    "MemoryPipeline",
    "RegexEntityExtractor",
    "RetrievalSettings",
    "RetrievedPassage",
    "Triple",
    "ValidationSettings",
    "Variant",
]

__getattr__ = exports(
    "causalist.memory",
    {
        "conflicts_and_confidence": "ValidationSettings",
        "extractors": "Entity EntityExtractor Extraction RegexEntityExtractor Triple",
        "index": "HippoIndex",
        "pipeline": "MemoryPipeline",
        "retrieval": "RetrievalSettings RetrievedPassage",
        "walk": "VARIANTS Variant",
    },
)
