"""Escape text for one output format each: the result means that text and nothing else.

The input has been through `neutralise`: without control characters, and on one line unless a function says otherwise.
"""

import html
import re

# All ASCII characters that begin an inline construct of CommonMark or of the usual extensions.
_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>#&~|$^=]")
_BACKTICKS = re.compile("`+")

_XML = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_XML_TEXT = re.compile("[&<]|(?<=]])>")
_XML_ATTRIBUTE = re.compile('[&<>"]')
# Above this many characters to escape, a CDATA section takes fewer tokens.
_MAX_ESCAPES = 2
# What a section must not hold in one piece: its own end, and anything that a reader who is no parser could take for a
# tag of the pack.
_CDATA_BREAKS = re.compile(
    r"]](?=>)|<(?=\s*/?\s*(?:pack|query|note|item|source|edges?|omitted)\b)|<(?=[!?])", re.IGNORECASE
)

# Characters that mean something in a quoted label of Mermaid, in a directive, or in the HTML that a label becomes.
_MERMAID = re.compile('["#&<>;`\\\\%{}|\\[\\]]')


def markdown_text(text: str) -> str:
    r"""Escape plain text for the middle of a line of Markdown.

    >>> print(markdown_text("what is __init__?"))
    what is \_\_init\_\_?
    """
    return _MARKDOWN.sub(r"\\\g<0>", text)


def code_span(text: str) -> str:
    """Return a code span that `text` cannot end; "" for "", because an empty span is invalid.

    >>> code_span("a`b"), code_span("`")
    ('``a`b``', '`` ` ``')
    """
    if not text:
        return ""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * (longest + 1)
    # One space on either side is taken off again, but not from a span of spaces only.
    pad = " " if text.strip() and (text[0] in " `" or text[-1] in " `") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def xml_attribute(text: str) -> str:
    """Escape the value of an attribute between double quotes."""
    return _XML_ATTRIBUTE.sub(lambda match: _XML[match[0]], text)


def xml_text(text: str) -> str:
    """Escape the content of an element, any number of lines, with entities or as CDATA, if shorter.

    A section is split inside of `]]>` and inside of anything that looks like markup of the pack, so that neither a
    parser nor a reader of the raw text can take source for the end of its element.

    >>> print(xml_text("a < b"), xml_text("<p></source></p>"))
    a &lt; b <![CDATA[<p><]]><![CDATA[/source></p>]]>
    """
    if len(_XML_TEXT.findall(text)) <= _MAX_ESCAPES:
        return _XML_TEXT.sub(lambda match: _XML[match[0]], text)
    return f"<![CDATA[{_CDATA_BREAKS.sub(lambda match: match[0] + ']]><![CDATA[', text)}]]>"


def html_text(text: str) -> str:
    """Escape the content of an element or of a quoted attribute, any number of lines."""
    return html.escape(text)


def mermaid_label(text: str) -> str:
    """Escape a label between double quotes with entity codes, which Mermaid writes `#35;`.

    >>> mermaid_label('a["b"] %%{init}')
    'a#91;#34;b#34;#93; #37;#37;#123;init#125;'
    """
    label = _MERMAID.sub(lambda match: f"#{ord(match[0])};", re.sub(r"\s", " ", text))
    # Mermaid takes the semicolon off what looks like a colour in a statement `style x fill:#fff;`, labels included.
    return label.replace(":", "#58;") if "style" in label or "classDef" in label else label


def dot_string(text: str, *, is_label: bool = True) -> str:
    r"""Return a quoted string of Graphviz.

    Labels read backslashes and entities as escapes; an id is its node's label.

    >>> print(dot_string('say "a\\nb" & c'))
    "say \"a\\nb\" &amp; c"
    """
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text.replace("&", "&amp;") if is_label else text}"'
