"""The smallest budget of each format of packs, in tokens: what says something."""

from collections.abc import Mapping
from types import MappingProxyType

from causalist.errors import BudgetTooSmall, UsageError

# Enough for a header, a short one-liner (without source, drawn, or keys of a document) and the count of what was
# left out. For `html` the budget covers the text that the page shows, not its markup.
MINIMUM_TOKENS: Mapping[str, int] = MappingProxyType(
    {"text": 100, "markdown": 110, "xml": 150, "json": 200, "mermaid": 110, "dot": 150, "html": 150}
)


def check_budget(max_tokens: int, format: str) -> None:
    """Raises UsageError for an unknown format and BudgetTooSmall below the format's entry in MINIMUM_TOKENS."""
    if format not in MINIMUM_TOKENS:
        raise UsageError(f"unknown format {format!r}; known are {', '.join(sorted(MINIMUM_TOKENS))}")
    minimum = MINIMUM_TOKENS[format]
    if max_tokens < minimum:
        raise BudgetTooSmall(f"a {format} pack needs at least {minimum} tokens, not {max_tokens}")
