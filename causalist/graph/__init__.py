"""All facts -> the code graph."""

from typing import TYPE_CHECKING

from causalist._internal.lazy import exports

if TYPE_CHECKING:
    from causalist.graph._precision_file import shipped_confidences
    from causalist.graph.architecture_layers import fan_in
    from causalist.graph.build import LinkedPart, ParallelPlan, RelinkedGraph, build_graph, needs_bodies, relink
    from causalist.graph.invalidation import (
        InvalidationKeys,
        can_mention,
        forwarded_modules,
        forwards_module,
        invalidation_keys,
    )
    from causalist.graph.linker import Linker, LinkError
    from causalist.graph.rules import (
        GUESSES,
        RULES,
        Confidences,
        Evidence,
        RuleMeasurement,
        evidence_sort_key,
        load_confidences,
        read_confidences,
    )

__all__ = [
    "GUESSES",
    "RULES",
    "Confidences",
    "Evidence",
    "InvalidationKeys",
    "LinkError",
    "LinkedPart",
    "Linker",
    "ParallelPlan",
    "RelinkedGraph",
    "RuleMeasurement",
    "build_graph",
    "can_mention",
    "evidence_sort_key",
    "fan_in",
    "forwarded_modules",
    "forwards_module",
    "invalidation_keys",
    "load_confidences",
    "needs_bodies",
    "read_confidences",
    "relink",
    "shipped_confidences",
]

__getattr__ = exports(
    __name__,
    {
        "build": "LinkedPart ParallelPlan RelinkedGraph build_graph needs_bodies relink",
        "rules": "Confidences Evidence GUESSES RULES RuleMeasurement evidence_sort_key load_confidences "
        "read_confidences",
        "linker": "Linker LinkError",
        "invalidation": "InvalidationKeys can_mention forwarded_modules forwards_module invalidation_keys",
        "_precision_file": "shipped_confidences",
        "architecture_layers": "fan_in",
    },
)
