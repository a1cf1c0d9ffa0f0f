"""The table of confidences as it is shipped, unread."""

from functools import cache
from pathlib import Path


@cache
def shipped_confidences() -> bytes:
    return Path(__file__).with_name("rule_precision.json").read_bytes()
