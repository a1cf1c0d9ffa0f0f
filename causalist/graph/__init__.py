"""All facts -> the code graph."""

from typing import TYPE_CHECKING

from causalist._internal.lazy import exports

if TYPE_CHECKING:
    from causalist.graph._precision_file import shipped_confidences
    from causalist.graph.build import build_graph
    from causalist.graph.confidence import Confidences, Measured, load_confidences, read_confidences
    from causalist.graph.incremental import Relinked, needs_bodies, relink
    from causalist.graph.linker import Linker, NotLinked
    from causalist.graph.parts import Part, Spread
    from causalist.graph.presence import Presence, may_mention, passed_modules, passes_on, presence_of
    from causalist.graph.rules import GUESSES, RULES, Evidence, strength
    from causalist.graph.tiers import fan_in

__all__ = [
    "GUESSES",
    "RULES",
    "Confidences",
    "Evidence",
    "Linker",
    "Measured",
    "NotLinked",
    "Part",
    "Presence",
    "Relinked",
    "Spread",
    "build_graph",
    "fan_in",
    "load_confidences",
    "may_mention",
    "needs_bodies",
    "passed_modules",
    "passes_on",
    "presence_of",
    "read_confidences",
    "relink",
    "shipped_confidences",
    "strength",
]

__getattr__ = exports(
    __name__,
    {
        "build": "build_graph",
        "confidence": "Confidences Measured load_confidences read_confidences",
        "linker": "Linker NotLinked",
        "parts": "Part Spread",
        "presence": "Presence may_mention passed_modules passes_on presence_of",
        "incremental": "Relinked needs_bodies relink",
        "rules": "GUESSES RULES Evidence strength",
        "_precision_file": "shipped_confidences",
        "tiers": "fan_in",
    },
)
