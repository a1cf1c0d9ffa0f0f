"""All facts -> the code graph."""

from typing import TYPE_CHECKING

from causalist._internal.lazy import exports

if TYPE_CHECKING:
    from causalist.graph._precision_file import shipped_confidences
    from causalist.graph.build import Part, Spread, build_graph
    from causalist.graph.incremental import Relinked, needs_bodies, relink
    from causalist.graph.invalidation import Presence, may_mention, passed_modules, passes_on, presence_of
    from causalist.graph.layers import fan_in
    from causalist.graph.linker import Linker, NotLinked
    from causalist.graph.rules import (
        GUESSES,
        RULES,
        Confidences,
        Evidence,
        Measured,
        load_confidences,
        read_confidences,
        strength,
    )

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
        "build": "Part Spread build_graph",
        "rules": "Confidences Evidence GUESSES Measured RULES load_confidences read_confidences strength",
        "linker": "Linker NotLinked",
        "invalidation": "Presence may_mention passed_modules passes_on presence_of",
        "incremental": "Relinked needs_bodies relink",
        "_precision_file": "shipped_confidences",
        "layers": "fan_in",
    },
)
