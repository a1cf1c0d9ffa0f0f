"""An ordered subgraph and a token budget -> a context pack."""

from causalist.pack.render import MINIMUM_TOKENS, render_pack
from causalist.pack.tokens import Counter, count_tokens

__all__ = ["MINIMUM_TOKENS", "Counter", "count_tokens", "render_pack"]
