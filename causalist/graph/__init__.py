"""All facts -> the code graph."""

from causalist.graph.build import build_graph
from causalist.graph.co_changes import changes_of, co_changes, touched_files
from causalist.graph.confidence import Confidences, Measured, load_confidences, read_confidences
from causalist.graph.relinking import Relinked, needs_bodies, relink
from causalist.graph.rules import GUESSES, RULES, Evidence, strength
from causalist.graph.tiers import fan_in

__all__ = [
    "GUESSES",
    "RULES",
    "Confidences",
    "Evidence",
    "Measured",
    "Relinked",
    "build_graph",
    "changes_of",
    "co_changes",
    "fan_in",
    "load_confidences",
    "needs_bodies",
    "read_confidences",
    "relink",
    "strength",
    "touched_files",
]
