"""What the shipped table says of calls in Python, for tests that read it in an answer. It changes with every fit."""

from causalist.graph import load_confidences
from causalist.model.graph import EdgeKind


def said(rule: str, digits: int = 2) -> str:
    """As commands and servers write it."""
    return f"{load_confidences().of(rule, EdgeKind.CALLS, 'python'):.{digits}f}"


IMPORT = said("import")
SAME_FILE = said("same-file")
