"""What the shipped table says of calls in Python, for tests that read it in an answer. It changes with every fit."""

from causalist.graph import load_confidences
from causalist.model.graph import EdgeKind


def said(rule: str, digits: int = 2) -> str:
    """As commands write it."""
    return f"{load_confidences().confidence_of(rule, EdgeKind.CALLS, 'python'):.{digits}f}"


def said_briefly(rule: str) -> str:
    """As servers and packs write it: 1 is 1."""
    return f"{load_confidences().confidence_of(rule, EdgeKind.CALLS, 'python'):.2g}"


IMPORT = said("import")
SAME_FILE = said("same-file")
