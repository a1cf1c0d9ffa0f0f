"""Entry of the stage: an ordered subgraph and a token budget -> a pack in one of the formats.

The counter in use counts the finished text as a whole; a plan that turns out too long is made again for less. A format
is one module with a renderer, and one line in `_RENDERERS`. Each format has a smallest budget, in tokens, below which a
pack would carry no information.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType

from causalist.errors import BudgetTooSmall, UsageError
from causalist.model.answer import Pack, PackFormat, PackInput, ShownRange
from causalist.pack.entries import bare_plan
from causalist.pack.excerpts import shown_ranges
from causalist.pack.plan import Plan, PlannedItem, Planner, Renderer
from causalist.pack.tokens import ESTIMATE, Counter, count_tokens

# Enough for a header, a short one-liner (without source, drawn, or keys of a document) and the count of what was
# left out. For `html` the budget covers the text that the page shows, not its markup.
MINIMUM_TOKENS: Mapping[PackFormat, int] = MappingProxyType(
    {
        PackFormat.TEXT: 100,
        PackFormat.MARKDOWN: 110,
        PackFormat.XML: 150,
        PackFormat.JSON: 200,
        PackFormat.MERMAID: 110,
        PackFormat.DOT: 150,
        PackFormat.HTML: 150,
    }
)


def check_budget(max_tokens: int, format: str) -> None:
    """Raise UsageError for an unknown format and BudgetTooSmall below the format's entry in MINIMUM_TOKENS."""
    if format not in MINIMUM_TOKENS:
        raise UsageError(f"unknown format {format!r}; known are {', '.join(sorted(MINIMUM_TOKENS))}")
    minimum = MINIMUM_TOKENS[PackFormat(format)]
    if max_tokens < minimum:
        raise BudgetTooSmall(f"a {format} pack needs at least {minimum} tokens, not {max_tokens}")


# Module and class of each format's renderer: an answer has one format, and loads no other.
_RENDERERS: Mapping[PackFormat, tuple[str, str]] = MappingProxyType(
    {
        PackFormat.TEXT: ("render_text", "TextRenderer"),
        PackFormat.MARKDOWN: ("render_text", "MarkdownRenderer"),
        PackFormat.XML: ("render_data", "XmlRenderer"),
        PackFormat.JSON: ("render_data", "JsonRenderer"),
        PackFormat.MERMAID: ("render_data", "MermaidRenderer"),
        PackFormat.DOT: ("render_data", "DotRenderer"),
        PackFormat.HTML: ("render_html", "HtmlRenderer"),
    }
)


@cache
def _renderer(format: str) -> Renderer:
    module, name = _RENDERERS[PackFormat(format)]
    renderer: Renderer = getattr(import_module(f"causalist.pack.{module}"), name)()
    return renderer


# Prices of parts add up to more than the price of the whole, by this much on average for the default counter.
FIRST_GUESS = 1.06
MAX_PLANS = 4
# Less than this share of the budget is not worth another plan.
TOLERATED_SLACK = 0.03
# How far texts are cut when even the shortest plan is too long, as an absurd path or question makes it.
SCALES = (1.0, 0.5, 0.25, 0.1, 0.0)


def render_pack(
    pack_input: PackInput,
    *,
    max_tokens: int,
    format: str,
    counter: Counter = count_tokens,
    tokenizer: str = ESTIMATE,
) -> Pack:
    """Return the pack for `pack_input`.

    It is never above `max_tokens` as `counter` counts its text (for `html`: the text that the page shows). `tokenizer`
    is what the pack calls the counter.

    Raises UsageError for an unknown format and BudgetTooSmall below the format's entry in MINIMUM_TOKENS, or where
    `counter` finds even an empty pack too long.
    """
    return planned_pack(pack_input, max_tokens=max_tokens, format=format, counter=counter, tokenizer=tokenizer)[0]


def planned_pack(
    pack_input: PackInput,
    *,
    max_tokens: int,
    format: str,
    counter: Counter = count_tokens,
    tokenizer: str = ESTIMATE,
) -> tuple[Pack, Plan]:
    """Return what `render_pack` returns, and what the pack shows."""
    check_budget(max_tokens, format)
    renderer = _renderer(format)

    def priced(text: str) -> int:
        return counter(renderer.measured(text))

    fallback: tuple[str, int, Plan] | None = None
    for scale in SCALES:
        bare = bare_plan(pack_input, max_tokens, scale, with_source=renderer.shows_source, tokenizer=tokenizer)
        best = _best(Planner(bare, renderer, priced), renderer, priced, max_tokens)
        if best is not None and (best[2].items or not pack_input.items):
            fallback = best
            break
        fallback = fallback or best
    if fallback is None:
        raise BudgetTooSmall(f"with this counter, {max_tokens} tokens do not hold the header of a {format} pack")
    text, tokens, plan = fallback
    pack = Pack(
        text=text,
        tokens=tokens,
        max_tokens=max_tokens,
        format=PackFormat(format),
        omitted=plan.omitted,
        tokenizer=tokenizer,
        places=tuple(
            _place(shown, priced(renderer.item(shown, plan.fence)) if renderer.shows_source else 0)
            for shown in plan.items
        ),
        edges=tuple(link.edge for link in plan.links),
    )
    return pack, plan


def _place(shown: PlannedItem, tokens: int) -> ShownRange:
    entry = shown.entry
    ranges = shown_ranges(entry.body, shown.n_lines) if shown.n_lines else ()
    place = (entry.node, entry.path, entry.symbol, entry.kind, entry.start_line, entry.end_line)
    return ShownRange(*place, ranges, entry.rank, tokens)


def _best(planner: Planner, renderer: Renderer, counter: Counter, max_tokens: int) -> tuple[str, int, Plan] | None:
    """Return the fullest plan found whose finished text fits; None if not even the barest does."""
    best: tuple[str, int, Plan] | None = None
    budget, too_much = max_tokens * FIRST_GUESS, float("inf")
    for _ in range(MAX_PLANS):
        plan = planner.plan(budget)
        text, tokens = _written(plan, renderer, counter, max_tokens)
        if tokens > max_tokens:
            too_much = min(too_much, budget)
            budget *= 0.98 * max_tokens / tokens
            continue
        if best is None or tokens > best[1]:
            best = (text, tokens, plan)
        slack = max_tokens - tokens
        if not plan.fills or not plan.omitted or slack <= TOLERATED_SLACK * max_tokens:
            break
        budget = min(budget * max_tokens / max(tokens, 1), (budget + too_much) / 2)
    while best is None and budget >= 1:
        budget /= 2
        plan = planner.plan(budget)
        text, tokens = _written(plan, renderer, counter, max_tokens)
        if tokens <= max_tokens:
            best = (text, tokens, plan)
    return best


def _written(plan: Plan, renderer: Renderer, counter: Counter, max_tokens: int) -> tuple[str, int]:
    """Return the finished text with its own count in the header.

    The count depends on itself by the length of its digits only, so that one repetition settles it. What is
    returned is always the count of the text that is returned.
    """
    text = renderer.document(plan, max_tokens)
    tokens = counter(text)
    for _ in range(3):
        if tokens > max_tokens:
            break
        text = renderer.document(plan, tokens)
        again = counter(text)
        if again == tokens:
            break
        tokens = again
    return text, tokens
