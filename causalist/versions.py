"""Which version of this program made an index."""

import hashlib

from causalist import collect
from causalist.graph import shipped_confidences
from causalist.parse import all_grammars
from causalist.rank import WalkWeights

# Raised when linking or the lexical index change what they give for the same facts.
INDEX_VERSION = 22


def index_version() -> str:
    """Names everything but the files that an index depends on; another version is built again."""
    own = f"{INDEX_VERSION}:{collect.PARSER_VERSION}\n{WalkWeights()!r}\n"
    return hashlib.sha256(own.encode() + shipped_confidences() + all_grammars()).hexdigest()[:16]
