"""An ordered subgraph and a token budget -> a context pack."""

from typing import TYPE_CHECKING

from causalist._internal.lazy import exports

if TYPE_CHECKING:
    from causalist.pack.excerpts import FOLD_THRESHOLD
    from causalist.pack.plan import strictness_of
    from causalist.pack.render import MINIMUM_TOKENS, check_budget, render_pack
    from causalist.pack.tokens import Counter, count_tokens, get_counter

__all__ = [
    "FOLD_THRESHOLD",
    "MINIMUM_TOKENS",
    "Counter",
    "check_budget",
    "count_tokens",
    "get_counter",
    "render_pack",
    "strictness_of",
]

__getattr__ = exports(
    __name__,
    {
        "excerpts": "FOLD_THRESHOLD",
        "plan": "strictness_of",
        "render": "MINIMUM_TOKENS check_budget render_pack",
        "tokens": "Counter count_tokens get_counter",
    },
)
