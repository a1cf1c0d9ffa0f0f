"""Memory over free text: passages, the entities they share, and Personalized PageRank over both."""

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
