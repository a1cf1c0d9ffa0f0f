"""The first paragraph of a README that says something, without its markup."""

import re

_FENCE = re.compile(r"^\s*(```|~~~)")
_UNDERLINE = re.compile(r"^\s*([=\-~^\"'`#*+])\1{2,}\s*$")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_HEADING_ELEMENT = re.compile(r"<(h[1-6]|picture|table|details|style|script)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_BADGE = re.compile(r"\[!\[[^\]\n]*\](?:\([^)\n]*\)|\[[^\]\n]*\])\](?:\([^)\n]*\)|\[[^\]\n]*\])[ \t]*\n?")
_IMAGE = re.compile(r"!\[[^\]]*\](\([^)]*\)|\[[^\]]*\])")
_LINK = re.compile(r"\[([^\[\]]+)\](\([^)]*\)|\[[^\]]*\])")
_RST_LINK = re.compile(r"`([^`<]+?)\s*<[^`>]*>`__?")
_RST_ROLE = re.compile(r":[a-z:+-]+:`~?([^`<]+?)(?:\s*<[^`>]*>)?`")
_RST_REFERENCE = re.compile(r"`([^`]+)`__?|\b(\w+)_(?![\w])")
_EMPHASIS = re.compile(r"(\*\*|__|(?<![\w*])[*_](?=\S))(.+?)(?:\1|(?<=\S)[*_](?![\w*]))")
_WORD = re.compile(r"[^\W\d_]{2,}")
_FEWEST_WORDS = 6
# A sentence that says what something is or does; the first that does so early is the one that matters.
_DEFINES = re.compile(r"\b(is an?|is the|are|provides?|lets|helps|allows|makes|implements)\b")
_EARLY = 4
# Documentation that ends without a full stop before this many characters is a title, and whole.
_SHORT_LINE = 60
_BYTES_READ = 20_000  # a README that has not said what it is by then does not


def first_paragraph(text: str) -> str:
    """What the text says first in a sentence, on one line; "" where it has none.

    Headings, badges, pictures, lists, tables, code, directives and lines of links are passed over.

    >>> first_paragraph("# Shop\\n\\n[![ci](x)](y)\\n\\n**Shop** is a seller of\\n[good things](u) for all.\\n\\nMore.")
    'Shop is a seller of good things for all.'
    """
    text = _COMMENT.sub("", text[:_BYTES_READ].replace("\r\n", "\n"))
    text = _BADGE.sub("", _HEADING_ELEMENT.sub("\n\n", text))
    found: list[str] = []
    for block in _blocks(text):
        said = _said(block)
        words = _WORD.findall(said)
        if len(words) >= _FEWEST_WORDS and sum(map(len, words)) > len(said) * 0.6:
            found.append(said)
    early = found[:_EARLY]
    return next((said for said in early if _DEFINES.search(said)), early[0] if early else "")


def first_sentence(text: str) -> str:
    """The first sentence of a line of documentation, without markup; an ellipsis where the line ends before it does.

    >>> first_sentence("Makes a :class:`~shop.Cart`. It is empty.")
    'Makes a Cart.'
    >>> first_sentence("Returned by ``bind`` and ``bind_to_environ`` of a map, and does most of the")
    'Returned by bind and bind_to_environ of a map, and does most of the …'
    """
    line = _RST_ROLE.sub(lambda match: match[1].rpartition(".")[2], " ".join(text.split()))
    line = line.replace("``", "").replace("`", "").rstrip(":")
    end = re.search(r"(?<![.\s][a-zA-Z])[.!?](?=\s+[A-Z(*])", line)
    if end:
        return line[: end.end()]
    return line if not line or line[-1] in ".!?" or len(line) < _SHORT_LINE else f"{line} …"


def _blocks(text: str) -> list[list[str]]:
    """Paragraphs as lines, without fenced code, front matter and indented blocks."""
    blocks: list[list[str]] = [[]]
    fence = ""
    lines = text.split("\n")
    if lines[0].strip() == "---" and "---" in (line.strip() for line in lines[1:]):
        lines = lines[1 + [line.strip() for line in lines[1:]].index("---") + 1 :]
    for line in lines:
        match = _FENCE.match(line)
        if match and (not fence or match[1] == fence):
            fence = "" if fence else match[1]
            blocks.append([])
        elif fence:
            continue
        elif not line.strip():
            blocks.append([])
        elif _UNDERLINE.match(line) and len(blocks[-1]) == 1:
            blocks[-1:] = [[]]  # what is underlined is a heading, also right above a paragraph
        else:
            blocks[-1].append(line)
    return [block for block in blocks if block]


def _said(block: list[str]) -> str:
    first = block[0]
    if first.startswith(("    ", "\t", ".. ", "|", "#", "- ", "* ", "+ ", "[")) and not _IMAGE.match(first):
        # A link at the beginning is a definition of a link or a badge; prose may begin with one all the same.
        if not (first.startswith("[") and _LINK.match(first) and not first.startswith("[!")):
            return ""
        if re.match(r"\[[^\]]+\]:", first):
            return ""
    if re.match(r"\d+[.)] ", first) or re.match(r"\s*>\s*\[!", first):
        return ""
    if any(_UNDERLINE.match(line) for line in block):
        return ""
    text = " ".join(line.lstrip("> ").strip() for line in block)
    text = _IMAGE.sub("", text)
    n_links = len(_LINK.findall(text)) + text.count("<a ")
    for pattern in (_LINK, _RST_LINK, _RST_ROLE):
        text = pattern.sub(r"\1", text)
    text = _RST_REFERENCE.sub(lambda match: match[1] or match[2], text)
    text = _TAG.sub("", text)
    text = _EMPHASIS.sub(r"\2", text).replace("``", "`")
    text = re.sub(r"\s*\[\]", "", " ".join(text.split()))
    # Navigation: hardly anything but links.
    return "" if n_links >= 3 and n_links * 4 > len(text.split()) else text
