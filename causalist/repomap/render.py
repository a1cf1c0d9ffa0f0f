"""An `Overview` -> a text that fits a token budget.

Parts are taken in one fixed order, a bit of each kind at a time, and the longest beginning of that order that fits is
drawn: the finished text is what is counted, so the budget holds whatever is in it.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from causalist._internal.text_formatting import one_line
from causalist.errors import BudgetTooSmall, UsageError
from causalist.model.lookup import Dependency, FolderSummary, KeyDefinition, Map, Overview
from causalist.model.scores import Hit
from causalist.pack.tokens import Counter, count_tokens
from causalist.repomap.descriptions import first_sentence

_MAX_PARTS = 2000
# What a newcomer needs first, and then in turns. Chosen by hand, by reading maps of six repositories.
_FIRST = ("languages", "summary", *["folders"] * 4, "paragraph", *["definitions"] * 8, "asides", "entries", "entries")
_FIRST += (*["folders"] * 4, *["dependencies"] * 4)
_TURN = ("definitions", "folders", "definitions", "entries", "folders", "definitions", "dependencies")
_MAX_SIGNATURE_CHARACTERS = 80
_MAX_DOC_CHARACTERS = 90
_MAX_PARAGRAPH_CHARACTERS = 400
_MAX_NAME_CHARACTERS = 120
_NESTED = 0.5  # how much less a use counts between a folder and one in it: that they belong together is seen anyway
_MIN_DEPENDENCIES = 2  # a single use between two folders says nothing of how they are built


def draw_map(overview: Overview, *, max_tokens: int, format: str, counter: Counter = count_tokens) -> Map:
    """Return the map of a repository in at most `max_tokens` as `counter` counts them.

    Raises UsageError for an unknown format, BudgetTooSmall if not even the heading fits.
    """
    if format not in FORMATS:
        raise UsageError(f"unknown format {format!r}; known are {', '.join(FORMATS)}")
    order = _order(overview)
    low, high = 0, len(order)
    best: tuple[str, int, Overview] | None = None
    while low <= high:
        middle = (low + high) // 2
        chosen = _beginning(overview, order[:middle])
        text = FORMATS[format](chosen)
        tokens = counter(text)
        if tokens <= max_tokens:
            best, low = (text, tokens, chosen), middle + 1
        else:
            high = middle - 1
    if best is None:
        raise BudgetTooSmall(f"{max_tokens} tokens do not hold the heading of a map; raise --max-tokens")
    text, tokens, chosen = best
    return Map(text, tokens, max_tokens, format, chosen)


def _order(overview: Overview) -> list[str]:
    """Return the names of the parts in the order in which entries are taken, each repeated once for each entry."""
    n_left = {
        "summary": 1 if overview.summary else 0,
        "paragraph": 1 if overview.paragraph else 0,
        "languages": 1,
        "asides": 1 if overview.asides else 0,
        "entries": len(overview.entries),
        "folders": len(overview.folders),
        "definitions": len(overview.definitions),
        "dependencies": len(overview.dependencies),
    }

    def parts() -> Iterator[str]:
        yield from _FIRST
        while any(n_left[part] > 0 for part in _TURN):
            yield from _TURN

    order = []
    for part in parts():
        if n_left[part] > 0:
            n_left[part] -= 1
            order.append(part)
        if len(order) == _MAX_PARTS:
            break
    return order


def _beginning(overview: Overview, order: Sequence[str]) -> Overview:
    """Return the overview with at most as many entries of each part as `order` names."""
    n = {part: order.count(part) for part in set(order)}
    folders = overview.folders[: n.get("folders", 0)]
    shown = {folder.path for folder in folders}
    merged: dict[tuple[str, str], int] = {}
    for each in overview.dependencies:
        pair = (_shown_around(each.source, shown), _shown_around(each.target, shown))
        if pair[0] != pair[1]:
            merged[pair] = merged.get(pair, 0) + each.n
    apart = [p for p in merged if merged[p] >= _MIN_DEPENDENCIES and all(p)]
    apart.sort(key=lambda pair: (-merged[pair] * (_NESTED if _is_nested(*pair) else 1.0), pair))
    taken = sorted(apart[: n.get("dependencies", 0)], key=lambda pair: (-merged[pair], pair))
    return replace(
        overview,
        summary=overview.summary if "summary" in n else "",
        paragraph=overview.paragraph if "paragraph" in n else "",
        languages=overview.languages if "languages" in n else (),
        asides=overview.asides if "asides" in n else (),
        entries=overview.entries[: n.get("entries", 0)],
        folders=folders,
        definitions=overview.definitions[: n.get("definitions", 0)],
        dependencies=tuple(Dependency(*pair, merged[pair]) for pair in taken),
    )


def _is_nested(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def _shown_around(path: str, shown: set[str]) -> str:
    """Return the innermost shown folder that contains a path, "" for none."""
    folder = path
    while folder and folder not in shown:
        folder = folder.rstrip("/").rpartition("/")[0]
        folder = f"{folder}/" if folder else ""
    return folder


class _Style:
    """Markup of the parts of a map: plain text or Markdown."""

    def __init__(self, *, markdown: bool) -> None:
        self.markdown = markdown

    def title(self, text: str) -> str:
        return f"# {text}" if self.markdown else text

    def heading(self, text: str) -> str:
        return f"## {text}\n" if self.markdown else f"{text}:"

    def item(self, depth: int, text: str) -> str:
        return f"{'  ' * depth}- {text}" if self.markdown else f"{'  ' * (depth + 1)}{text}"

    def code(self, text: str) -> str:
        if not self.markdown:
            return text
        fence = "``" if "`" in text else "`"
        return f"{fence} {text} {fence}" if "`" in text else f"`{text}`"

    def prose(self, text: str) -> str:
        """Return text of the repository, escaped so that it cannot begin an HTML element or a Markdown link."""
        return text.replace("<", "&lt;").replace("[", "\\[") if self.markdown else text


def _draw(overview: Overview, style: _Style) -> str:
    summary = style.prose(one_line(overview.summary, _MAX_PARAGRAPH_CHARACTERS))
    commit = f" @ {overview.commit[:7]}" if overview.commit else ""
    lines = [style.title(f"{one_line(overview.name, _MAX_NAME_CHARACTERS)}{commit}{': ' if summary else ''}{summary}")]
    if overview.paragraph and one_line(overview.paragraph, _MAX_PARAGRAPH_CHARACTERS) != summary:
        lines += ["", style.prose(one_line(overview.paragraph, _MAX_PARAGRAPH_CHARACTERS))]
    if overview.languages:
        sizes = [
            f"{s.language} {s.n_files:,} file{'s'[: s.n_files != 1]}, {s.n_lines:,} lines" for s in overview.languages
        ]
        lines += ["", "; ".join(sizes)]
    if overview.asides:
        asides = [
            _count(a.n_files, a.role) + (f" in {', '.join(a.places)}" if a.places else "") for a in overview.asides
        ]
        lines.append("; ".join(one_line(aside, _MAX_NAME_CHARACTERS) for aside in asides))
    if overview.entries:
        lines += ["", style.heading("entry points")]
        lines += [style.item(0, _entry(e.kind, e.name, e.target, style)) for e in overview.entries]
    if overview.folders or overview.definitions:
        lines += ["", style.heading("code, most important first")]
        lines += _tree(overview.folders, overview.definitions, style)
    if overview.dependencies:
        lines += ["", style.heading("who uses whom, how often (a folder without those below it that are listed)")]
        for each in overview.dependencies:
            source, target = (style.code(one_line(path, _MAX_NAME_CHARACTERS)) for path in (each.source, each.target))
            lines.append(style.item(0, f"{source} -> {target} {each.n:,}"))
    return "\n".join(lines) + "\n"


_ASIDES = {
    "test": "{} test file{}",
    "docs": "{} file{} of documentation",
    "example": "{} file{} of examples",
    "generated": "{} generated file{}",
    "vendored": "{} vendored file{}",
    "migration": "{} migration{}",
}


def _count(n: int, role: str) -> str:
    return _ASIDES.get(role, f"{{}} {role} file{{}}").format(f"{n:,}", "s"[: n != 1])


def _entry(kind: str, name: str, target: str, style: _Style) -> str:
    named = f"{kind} {style.code(one_line(name, _MAX_NAME_CHARACTERS))}"
    return f"{named}  {style.code(one_line(target, _MAX_NAME_CHARACTERS))}" if target else named


def _tree(folders: Sequence[FolderSummary], definitions: Sequence[KeyDefinition], style: _Style) -> Iterator[str]:
    """Yield the folders by importance, each followed by its shown files with their definitions."""
    shown = {folder.path for folder in folders}
    by_folder: dict[str, dict[str, list[KeyDefinition]]] = {}
    for definition in definitions:
        path = definition.hit.path
        folder = _shown_around(f"{path.rpartition('/')[0]}/" if "/" in path else "./", shown)
        by_folder.setdefault(folder, {}).setdefault(path, []).append(definition)
    for each in _nest_folders(folders):
        doc = f": {style.prose(one_line(each.doc, _MAX_DOC_CHARACTERS))}" if each.doc else ""
        n_files = f"{each.n_files:,} file{'s'[: each.n_files != 1]}"
        layer = f", {each.layer}" if each.layer else ""
        yield style.item(0, f"{style.code(one_line(each.path, _MAX_NAME_CHARACTERS))} ({n_files}{layer}){doc}")
        yield from _files(by_folder.pop(each.path, {}), each.path, style)
    for files in by_folder.values():
        yield from _files(files, "", style)


def _nest_folders(folders: Sequence[FolderSummary]) -> list[FolderSummary]:
    """Return the folders as a tree: each directly after its enclosing folder, siblings in the given order."""
    shown = {folder.path for folder in folders}
    inside: dict[str, list[FolderSummary]] = {}
    for folder in folders:
        above = _shown_around(f"{folder.path.rstrip('/').rpartition('/')[0]}/".lstrip("/"), shown - {folder.path})
        inside.setdefault(above, []).append(folder)

    def walk(path: str) -> Iterator[FolderSummary]:
        for folder in inside.get(path, ()):
            yield folder
            yield from walk(folder.path)

    return list(walk(""))


def _files(files: Mapping[str, Sequence[KeyDefinition]], folder: str, style: _Style) -> Iterator[str]:
    for path, definitions in files.items():
        yield style.item(
            1, style.code(one_line(path.removeprefix("" if folder == "./" else folder), _MAX_NAME_CHARACTERS))
        )
        for definition in definitions:
            hit = definition.hit
            line = style.code(one_line(_signature(hit), _MAX_SIGNATURE_CHARACTERS))
            if hit.doc:
                line += f" — {style.prose(one_line(first_sentence(hit.doc), _MAX_DOC_CHARACTERS))}"
            if definition.members:
                line += f" [{', '.join(definition.members)}]"
            yield style.item(2, line)


def _signature(hit: Hit) -> str:
    """Return the signature without a trailing comment."""
    return re.sub(r":?\s*(#|//)\s.*$", "", hit.signature, count=1, flags=re.DOTALL) or hit.symbol or ""


def _text(overview: Overview) -> str:
    return _draw(overview, _Style(markdown=False))


def _markdown(overview: Overview) -> str:
    return _draw(overview, _Style(markdown=True))


def _json(overview: Overview) -> str:
    return json.dumps(as_data(overview), ensure_ascii=False) + "\n"


def as_data(overview: Overview) -> dict[str, object]:
    """Return the overview as plain data, with 1-based lines."""
    return {
        "name": one_line(overview.name, _MAX_NAME_CHARACTERS),
        "commit": overview.commit,
        "summary": one_line(overview.summary, _MAX_PARAGRAPH_CHARACTERS) or None,
        "paragraph": one_line(overview.paragraph, _MAX_PARAGRAPH_CHARACTERS) or None,
        "languages": [each._asdict() for each in overview.languages],
        "entries": [{**each._asdict(), "target": each.target or None} for each in overview.entries],
        "folders": [
            {
                **each._asdict(),
                "share": round(each.share, 4),
                "doc": one_line(each.doc, _MAX_DOC_CHARACTERS) or None,
                "layer": each.layer or None,
            }
            for each in overview.folders
        ],
        "definitions": [
            {
                "node": each.hit.id,
                "kind": each.hit.kind,
                "line": each.hit.start_row + 1,
                "signature": one_line(_signature(each.hit), _MAX_SIGNATURE_CHARACTERS) or None,
                "doc": one_line(first_sentence(each.hit.doc), _MAX_DOC_CHARACTERS) or None,
                "share": round(each.share, 4),
                "members": list(each.members),
            }
            for each in overview.definitions
        ],
        "dependencies": [each._asdict() for each in overview.dependencies],
        "asides": [{**each._asdict(), "places": list(each.places)} for each in overview.asides],
    }


FORMATS: Mapping[str, Callable[[Overview], str]] = MappingProxyType(
    {"text": _text, "markdown": _markdown, "json": _json}
)
