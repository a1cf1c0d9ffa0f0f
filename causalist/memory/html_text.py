"""HTML -> Markdown, as far as passages need it: headings, paragraphs, items, code, links. Nothing is fetched or run."""

from html.parser import HTMLParser

_BREAKS = frozenset(
    ("p", "div", "section", "article", "ul", "ol", "dl", "table", "tr", "blockquote", "figure", "main", "aside",
     "details", "summary", "br", "hr", "form", "fieldset")
)  # fmt: skip
_SILENT = frozenset(
    ("script", "style", "nav", "head", "template", "noscript", "svg", "button", "select", "iframe", "footer")
)
_MARKS = ("headerlink", "anchor", "sphinxsidebar", "related", "toctree")  # classes of what repeats on every page
_VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)


def html_to_markdown(html: str) -> str:
    """
    >>> html_to_markdown("<h1>One<a class=headerlink>¶</a></h1><p>see <a href='b.html'>two</a> <code>x</code>")
    '# One\\n\\nsee [two](b.html) `x`'
    """
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines = [
        " ".join(line.split()) if not line.startswith("    ") else line for line in "".join(reader.out).split("\n")
    ]
    text = "\n".join(lines)
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.strip()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.out: list[str] = []
        self._silent: list[str] = []  # open elements, from the one on that says nothing
        self._links: list[str | None] = []
        self._pre = 0

    def updatepos(self, i: int, j: int) -> int:
        """Nobody asks for line numbers, which take a tenth of the time to count."""
        return j

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if self._silent:
            if tag not in _VOID:
                self._silent.append(tag)
            return
        marks = given.get("class") or ""
        if tag in _SILENT or any(mark in marks.split() for mark in _MARKS):
            if tag not in _VOID:
                self._silent.append(tag)
        elif len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            self.out.append(f"\n\n{'#' * int(tag[1])} ")
        elif tag == "pre":
            self._pre += 1
            self.out.append("\n\n")
        elif tag == "code" and not self._pre:
            self.out.append("`")
        elif tag == "a":
            href = given.get("href")
            self._links.append(href)
            if href:
                self.out.append("[")
        elif tag in ("li", "dt"):
            self.out.append("\n\n- ")
        elif tag in ("td", "th", "dd"):
            self.out.append("\n")
        elif tag in _BREAKS:
            self.out.append("\n\n")

    def handle_endtag(self, tag: str) -> None:
        if self._silent:
            if tag in self._silent:
                while self._silent.pop() != tag:
                    pass
            return
        if tag == "pre" and self._pre:
            self._pre -= 1
            self.out.append("\n\n")
        elif tag == "code" and not self._pre:
            self.out.append("`")
        elif tag == "a" and self._links:
            href = self._links.pop()
            if href:
                self.out.append(f"]({href})")
        elif tag in _BREAKS or (len(tag) == 2 and tag[0] == "h"):
            self.out.append("\n\n")

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        if self._pre:
            self.out.append("\n".join(f"    {line}" for line in data.split("\n")))
        else:
            self.out.append(data.replace("\n", " "))
