"""Packs read back by a parser of each format, as far as a reader without our code could.

`read` says what a pack shows in the same terms for every format. It fails where the text is not what the format allows,
where a construct stands that no pack has (a link, a script, raw HTML, an element or a statement of another kind), and
where a page would ask the network for anything. Mermaid and Graphviz have no parser in Python; the grammar here is
narrower than theirs, line by line.
"""

import html
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from html.parser import HTMLParser

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.pack.builders import source_blocks


@dataclass(slots=True)
class Read:
    """`sources` are the quoted texts in order; None where the format shows none. `words` is all other text."""

    n_items: int
    sources: list[str] | None
    n_edges: int
    words: str = field(default="")


def read(text: str, format: str) -> Read:
    text.encode("utf-8")  # no lone surrogate
    return _READERS[format](text)


def _text(text: str) -> Read:
    own, blocks = source_blocks(text)
    for line in own:
        assert re.match(
            r"# |── |   why: |   called by: |   calls: |edges|  \S|left out: |Callers stand |[^─#`]|$", line
        ), line
    edges = [line for line in own if line.startswith("  ") and not line.startswith("   ")]
    # Below the definition that a query names, each use ends with its place.
    uses = sum(len(re.findall(r":\d+\)", line)) for line in own if re.match("   called by: |   calls: ", line))
    return Read(sum(line.startswith("── ") for line in own), blocks, len(edges) + uses, "\n".join(own))


def _json(text: str) -> Read:
    document = json.loads(text)
    assert list(document) == [
        "query", "repository", "commit", "stale", "n_nodes", "tokens", "tokenizer", "items", "edges", "removed_edges",
        "omitted",
    ]  # fmt: skip
    sources = [item.pop("text") for item in document["items"]]
    n_edges = len(document["edges"]) + len(document["removed_edges"])
    return Read(
        len(document["items"]), [s for s in sources if s is not None], n_edges, json.dumps(document, ensure_ascii=False)
    )


_BLOCKS = {"heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "fence", "bullet_list_open",
           "bullet_list_close", "list_item_open", "list_item_close"}  # fmt: skip


def _markdown(text: str) -> Read:
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    assert {token.type for token in tokens} <= _BLOCKS, [t for t in tokens if t.type not in _BLOCKS]
    inline = [child for token in tokens for child in token.children or []]
    # Escapes are merged into text; a soft break stands between the lines of the header.
    assert {child.type for child in inline} <= {"text", "code_inline", "softbreak"}, inline
    headings = [tokens[i + 1] for i, token in enumerate(tokens) if token.type == "heading_open"]
    assert [t.tag for t in tokens if t.type == "heading_open"] == ["h1"] + ["h2"] * (len(headings) - 1)
    titles = [_plain(heading) for heading in headings[1:]]
    sources = [token.content.removesuffix("\n") for token in tokens if token.type == "fence"]
    assert all(re.fullmatch("[a-z0-9]{0,10}", token.info) for token in tokens if token.type == "fence")
    n_edges = sum(token.type == "list_item_open" for token in tokens)
    n_items = sum(not title.startswith("Edges") for title in titles)
    return Read(n_items, sources, n_edges, "\n".join(_plain(t) for t in tokens if t.type == "inline"))


def _plain(token: Token) -> str:
    return "".join(child.content or "\n" for child in token.children or [])


def _xml(text: str) -> Read:
    pack = ET.fromstring(text)
    assert pack.tag == "pack" and not (pack.tail or "").strip()
    allowed = {
        "pack": {"repository", "commit", "stale", "shown", "nodes", "tokens", "tokenizer"},
        "query": set(),
        "note": set(),
        "item": {"rank", "via", "path", "lines", "symbol", "kind", "signature", "why"},
        "source": {"truncated"},
        "edges": set(),
        "edge": {"from", "to", "kind", "at", "confidence", "removed"},
        "omitted": {"bodies", "items", "edges"},
    }
    parents = {child: parent.tag for parent in pack.iter() for child in parent}
    for element in pack.iter():
        assert set(element.attrib) <= allowed[element.tag]
        assert parents.get(element) == {"pack": None, "source": "item", "edge": "edges"}.get(element.tag, "pack")
    sources = [element.text or "" for element in pack.iter("source")]
    assert all(s[0] == s[-1] == "\n" for s in sources)
    # A reader who is no parser finds as many ends as there are sources.
    assert text.count("</source>") == len(sources) and text.count("</item>") == len(sources)
    assert text.count("</pack>") == 1 and text.endswith("</pack>\n")
    words = [" ".join([*element.attrib.values(), (element.text or "") * (element.tag != "source")])
             for element in pack.iter()]  # fmt: skip
    return Read(len(pack.findall("item")), [s[1:-1] for s in sources], len(list(pack.iter("edge"))), "\n".join(words))


# A label of Mermaid as packs write it: entity codes for all that has a meaning, and line breaks of their own.
_LABEL = r'[^"#&<>;`\\%{}|\[\]\n]*(?:(?:#\d+;|<br/>)[^"#&<>;`\\%{}|\[\]\n]*)*'
_MERMAID = {
    "comment": rf"%% ({_LABEL})",
    "start": "flowchart TD",
    "group": rf'subgraph f\d+\["({_LABEL})"\]',
    "end": "end",
    "node": rf'n\d+\["({_LABEL})"\](?::::via)?',
    "edge": rf'n\d+ (?:-->|-\.->)\|"({_LABEL})"\| n\d+',
    "class": r"classDef via stroke-dasharray:4 3",
}


def _mermaid(text: str) -> Read:
    kinds: list[str] = []
    words: list[str] = []
    for line in text.removesuffix("\n").split("\n"):
        found = {kind: match for kind, rule in _MERMAID.items() if (match := re.fullmatch(rule, line))}
        assert len(found) == 1, line
        for kind, match in found.items():
            kinds.append(kind)
            words += [re.sub(r"#(\d+);", lambda m: chr(int(m[1])), group) for group in match.groups()]
    assert kinds.count("group") == kinds.count("end") and kinds.count("start") == 1
    assert not re.search(r"%%\s*\{|%%\{", text)
    return Read(kinds.count("node"), None, kinds.count("edge"), "\n".join(words))


_STRING = r'"((?:[^"\\\n]|\\.)*)"'
_DOT = {
    "start": "digraph pack {",
    "label": rf"label={_STRING};",
    "setting": r"labelloc=t;|node \[shape=box\];",
    "group": r"subgraph cluster_\d+ {",
    "end": "}",
    "node": rf"n\d+ \[label={_STRING}(?:, style=dashed)?\];",
    "edge": rf"n\d+ -> n\d+ \[label={_STRING}(?:, style=dashed, constraint=false)?\];",
}


def _dot(text: str) -> Read:
    kinds: list[str] = []
    words: list[str] = []
    for line in text.removesuffix("\n").split("\n"):
        found = {kind: match for kind, rule in _DOT.items() if (match := re.fullmatch(rule, line))}
        assert len(found) == 1, line
        for kind, match in found.items():
            kinds.append(kind)
            # The only escapes are those of a quote, of a backslash, and the end of a line of a label.
            assert all(re.fullmatch(r'(?:[^\\]|\\["\\n])*', group) for group in match.groups())
            words += [html.unescape(group.replace("\\n", " ")) for group in match.groups()]
    assert kinds.count("group") + 1 == kinds.count("end")
    return Read(kinds.count("node"), None, kinds.count("edge"), "\n".join(words))


_TAGS = {
    "html": {"lang"}, "head": set(), "meta": {"charset", "http-equiv", "content", "name"}, "title": set(),
    "style": set(), "body": set(), "header": set(), "h1": set(), "h2": set(), "h3": set(), "p": {"class"},
    "span": {"class"}, "main": set(), "nav": set(), "div": set(), "section": set(), "footer": set(),
    "article": {"id", "class"}, "ul": {"class"}, "ol": {"class"}, "li": {"class", "value"}, "code": set(),
    "a": {"href", "class"}, "svg": {"viewbox", "role", "aria-label"}, "defs": set(), "circle": {"cx", "cy", "r"},
    "marker": {"id", "viewbox", "refx", "refy", "markerwidth", "markerheight", "orient"}, "text": {"x", "y"},
    "path": {"class", "d", "marker-end"},
}  # fmt: skip


class _Page(HTMLParser):
    """All text by what holds it; fails at every tag or attribute that a page need not have."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.hrefs: list[str] = []
        self.sources: list[list[str]] = []
        self.words: list[str] = []
        self.style = ""
        self.policy = ""
        self.n_edges = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag in _TAGS, tag
        values = dict(attributes)
        assert set(values) <= _TAGS[tag], (tag, values)
        if tag != "meta":
            assert not any(re.search(r"//|:", value or "") for value in values.values()), values
        if tag == "a":
            self.hrefs.append(values["href"] or "")
        if values.get("id") and tag == "article":
            self.ids.append(values["id"] or "")
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"] or ""
        if tag == "ol":
            self.sources.append([])
        if tag == "li" and self.open[-1] == "ol":
            self.sources[-1].append("")
        if tag == "li" and self.open[-2:] == ["section", "ul"]:
            self.n_edges += 1
        if tag not in ("meta", "circle", "path"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag in ("circle", "path")
        self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "style":
            self.style += data
        elif self.open[-2:] == ["ol", "li"]:
            self.sources[-1][-1] += data
        else:
            self.words.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_pi(self, data: str) -> None:
        raise AssertionError(data)

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(data)


def page(text: str) -> _Page:
    parsed = _Page()
    parsed.feed(text)
    parsed.close()
    assert not parsed.open
    return parsed


def visible_text(text: str) -> str:
    """Everything that a page shows, its title included."""
    parsed = page(text)
    return "\n".join([*parsed.words, *("\n".join(lines) for lines in parsed.sources)])


def _html(text: str) -> Read:
    parsed = page(text)
    assert {href.removeprefix("#") for href in parsed.hrefs} <= set(parsed.ids)
    assert len(set(parsed.ids)) == len(parsed.ids)
    assert not re.search(r"url\(|@import|expression", parsed.style)
    sources = ["\n".join(lines) for lines in parsed.sources]
    return Read(text.count("<article"), sources, parsed.n_edges, "\n".join(parsed.words))


_READERS = {
    "text": _text,
    "json": _json,
    "markdown": _markdown,
    "xml": _xml,
    "mermaid": _mermaid,
    "dot": _dot,
    "html": _html,
}
