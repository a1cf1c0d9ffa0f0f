"""The table of measured precision as it is shipped, unread.

It is a module of its own because `index_version` hashes these bytes for each question, and `rules` would cost more.
"""

from functools import cache
from pathlib import Path


@cache
def shipped_confidences() -> bytes:
    """Return the bytes of `rule_precision.json`."""
    return Path(__file__).with_name("rule_precision.json").read_bytes()
