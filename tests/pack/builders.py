"""Hand-built inputs for packs, and what reads the text format back by its fence rule."""

import re
from collections.abc import Sequence

from causalist.model.answer import PackHeader, PackInput, PackItem
from causalist.model.graph import Edge
from causalist.model.scores import Hit, Hop, Reason


def item(
    path: str,
    symbol: str | None,
    text: str,
    *,
    start: int = 1,
    score: float = 0.5,
    kind: str = "function",
    signature: str | None = None,
    reasons: Sequence[tuple[str, str]] = (("names", "retry"),),
    hops: Sequence[tuple[str, str | None]] = (),
    via: bool = False,
    needed: float | None = None,
) -> PackItem:
    """An item whose text starts in 1-based line `start`. `needed` is its score if it is not given."""
    lines = text.split("\n")
    hit = Hit(
        node=0,
        id=path if symbol is None else f"{path}::{symbol}",
        path=path,
        symbol=symbol,
        kind=kind,
        start_row=start - 1,
        end_row=start - 2 + len(lines),
        start_byte=0,
        end_byte=len(text),
        signature=lines[0] if signature is None else signature,
        doc="",
        score=score,
        pagerank=0.0,
        reasons=tuple(Reason(signal, 0.1, detail) for signal, detail in reasons),
        path_from_seed=tuple(Hop(node, edge, None, None) for node, edge in hops),
    )
    return PackItem(hit, text, via, needed=score if needed is None else needed)


def edge(source: str, target: str, kind: str = "calls", confidence: float = 0.97, line: int | None = 12) -> Edge:
    return Edge(source, target, kind, "import", confidence, line, 1)


def pack_input(
    *items: PackItem,
    edges: Sequence[Edge] = (),
    removed: Sequence[Edge] = (),
    query: str = "how long does it wait before a retry?",
    root: str = "/home/me/shop",
    commit: str | None = "0123456789abcdef",
    fills: bool = False,
) -> PackInput:
    return PackInput(PackHeader(query, root, commit, 400), _ranked(items), tuple(edges), tuple(removed), fills=fills)


def _ranked(items: Sequence[PackItem]) -> tuple[PackItem, ...]:
    """The items with the places that their scores give to those that are results."""
    order = sorted((-round(i.hit.score, 12), i.hit.id, n) for n, i in enumerate(items) if not i.via)
    ranks = {n: rank for rank, (_, _, n) in enumerate(order, start=1)}
    return tuple(item._replace(rank=ranks.get(n)) for n, item in enumerate(items))


def source_blocks(text: str) -> tuple[list[str], list[str]]:
    """(lines of the pack itself, quoted blocks): the first line of three or more backticks alone is the fence."""
    own: list[str] = []
    blocks: list[str] = []
    fence: str | None = None
    quoted: list[str] | None = None
    for line in text.split("\n"):
        if quoted is not None:
            if line == fence:
                blocks.append("\n".join(quoted))
                quoted = None
            else:
                quoted.append(line)
        elif re.fullmatch("`{3,}", line) and fence in (None, line):
            fence, quoted = line, []
        else:
            own.append(line)
    assert quoted is None, "a fence was left open"
    return own, blocks


def ranks_in_order(text: str) -> list[str]:
    """The ranks of the printed results, as they stand."""
    return re.findall(r"^── (#\d+) ", "\n".join(source_blocks(text)[0]), re.MULTILINE)
