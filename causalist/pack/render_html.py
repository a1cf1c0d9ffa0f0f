"""The `html` format: one page that needs nothing else, neither a script nor the network, to be read.

A Content-Security-Policy in the page forbids everything but its own style sheet, so that nothing could be loaded or run
even if escaping had a hole. Everything that comes from the repository is escaped text. The budget covers the text that
the page shows; its markup is free.
"""

import html
import re
from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256

from causalist._internal.escape import html_text
from causalist.pack._page_style import STYLE
from causalist.pack.arcs import drawing, label
from causalist.pack.excerpts import numbered_lines
from causalist.pack.omissions import left_out, named
from causalist.pack.plan import Link, Plan, Shown

# Neither the style sheet nor tags are text; no attribute holds ">".
_MARKUP = re.compile(r"<style>.*?</style>|<[^>]*>", re.DOTALL)
_POLICY = "; ".join(
    (
        "default-src 'none'",
        f"style-src 'sha256-{b64encode(sha256(STYLE.encode()).digest()).decode()}'",
        "base-uri 'none'",
        "form-action 'none'",
    )
)

_LEGEND = "Arcs lead from what uses to what is used; blue: calls, pale: contains, dashed: set aside to break a cycle."


class HtmlRenderer:
    shows_source = True

    def measured(self, text: str) -> str:
        return html.unescape(_MARKUP.sub(" ", text))

    def document(self, plan: Plan, tokens: int) -> str:
        numbers: dict[str, int] = {}
        for shown in plan.items:
            numbers.setdefault(shown.entry.node, len(numbers))
        question = html_text(plan.question)
        parts = [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<meta name="referrer" content="no-referrer">\n<title>{question}</title>\n'
            f"<style>{STYLE}</style>\n</head>\n<body>\n"
            f"<header>\n<h1>{question}</h1>\n{_facts(plan, tokens)}</header>\n<main>\n"
        ]
        picture = drawing(plan, numbers)
        legend = f'<p class="note">{_LEGEND}</p>\n' if plan.legend and "<path" in picture else ""
        parts.append(f"<nav>\n{picture}{legend}</nav>\n<div>\n" if picture else "<div>\n")
        seen: set[str] = set()
        for shown in plan.items:
            node = shown.entry.node
            parts.append(_article(shown, None if node in seen else numbers[node]))
            seen.add(node)
        for title, removed in (("Edges", False), ("Edges set aside to break cycles", True)):
            lines = [_link(link, numbers) for link in plan.links if link.removed is removed]
            if lines:
                parts.append(f'<section>\n<h3>{title}</h3>\n<ul class="edges">\n{"".join(lines)}</ul>\n</section>\n')
        missing = left_out(plan)
        parts.append(f"<footer>\nLeft out: {html_text(missing)}\n</footer>\n" if missing else "")
        parts.append("</div>\n</main>\n</body>\n</html>\n")
        return "".join(parts)

    def item(self, shown: Shown, fence: str) -> str:
        return label(10, shown) + _article(shown, 10)

    def link(self, link: Link) -> str:
        return _link(link, {})

    def omission_list(self, plan: Plan) -> str:
        return f"Left out: {html_text(named(plan))}"


def _facts(plan: Plan, tokens: int) -> str:
    commit = f" @ {plan.commit}" if plan.commit else ""
    stale = ' · <span class="stale">older than the files</span>' if plan.header.stale else ""
    count = f"{len(plan.items)} of {plan.header.n_nodes} nodes · {plan.size(tokens)}"
    facts = f'<p class="facts">{html_text(plan.repository + commit)}{stale} · {html_text(count)}</p>\n'
    note = f'<p class="note">{plan.order}. Dashed items only lie on a path to a result.</p>\n' if plan.legend else ""
    return facts + note


def _article(shown: Shown, number: int | None) -> str:
    """`number` is None where an item of the same id has the anchor."""
    entry = shown.entry
    anchor = "" if number is None else f' id="i{number}"'
    rank = "" if entry.rank is None else f'<span class="rank">{entry.rank}</span>'
    name = html_text(entry.symbol if entry.symbol is not None else entry.name)
    place = "" if entry.symbol is None and name == html_text(entry.path) else f"{html_text(entry.path)}:"
    parts = [
        f"<article{anchor}{' class=via' if entry.via else ''}>\n"
        f'<h2>{rank}{name} <span class="kind">{html_text(entry.kind)}</span></h2>\n'
        f'<p class="place">{place or "lines "}{entry.lines}</p>\n'
    ]
    if entry.signature and not (shown.n_lines and entry.body.first_row):
        parts.append(f'<p class="sig"><code>{html_text(entry.signature)}</code></p>\n')
    parts.append(_list(shown.reasons))
    parts.append(f'<p class="way">{html_text(shown.way)}</p>\n' if shown.way else "")
    if shown.n_lines:
        lines = "".join(_line(number, text) for number, text in numbered_lines(entry.body, shown.n_lines))
        parts.append(f'<ol class="source">\n{lines}</ol>\n')
    parts.append("</article>\n")
    return "".join(parts)


def _list(texts: Iterable[str]) -> str:
    items = "".join(f"<li>{html_text(text)}</li>\n" for text in texts)
    return f'<ul class="why">\n{items}</ul>\n' if items else ""


def _line(number: int | None, text: str) -> str:
    # A line without characters would collapse; a number before it keeps it as high as the others.
    opening = '<li class="gap">' if number is None else f'<li value="{number}">'
    return f"{opening}{html_text(text)}</li>\n"


def _link(link: Link, numbers: dict[str, int]) -> str:
    def end(node: str, name: str) -> str:
        return f'<a href="#i{numbers[node]}">{html_text(name)}</a>' if node in numbers else html_text(name)

    edge = link.edge
    site = f"{link.path}:{edge.line}, " if edge.line is not None else ""
    return (
        f"<li>{end(edge.source, link.source_name)} <span>{html_text(edge.kind)}</span> "
        f"{end(edge.target, link.target_name)} <span>({html_text(site)}{edge.confidence:.2g})</span></li>\n"
    )
