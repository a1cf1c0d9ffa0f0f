"""Which version of this program made an index."""

import hashlib

from causalist.graph import shipped_confidences
from causalist.index import collect
from causalist.model.graph import EdgeKind
from causalist.parse import all_grammars
from causalist.rank import WalkWeights

# Raised when linking or the lexical index change what they give for the same facts.
INDEX_VERSION = 22


def index_version() -> str:
    """Return the version of everything that an index depends on except its files. Other versions are rebuilt."""
    weights = WalkWeights()
    # Written out here: renaming the class or its fields must not change the version.
    walk = f"WalkWeights(forward={_format_weights(weights.forward)}, backward={_format_weights(weights.backward)})"
    own = f"{INDEX_VERSION}:{collect.PARSER_VERSION}\n{walk}\n"
    return hashlib.sha256(own.encode() + shipped_confidences() + all_grammars()).hexdigest()[:16]


def _format_weights(weights: tuple[tuple[EdgeKind, float], ...]) -> str:
    return "(" + ", ".join(f"(<EdgeKind.{kind.name}: {kind.value}>, {weight!r})" for kind, weight in weights) + ")"
