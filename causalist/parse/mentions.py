"""Prose -> the names of code that stand in it: where a writer marked something as code, and nowhere else.

Read are code spans, links, cross-references and directives of documentation tools (`:class:`, `.. autofunction::`,
`:::`), and in blocks of code what is called by a name of several parts, what is imported, and names of types. Plain
words say nothing: `the client` may be any. Whether a name means something in the repository is decided in
`graph.mentioned`.
"""

import re
from collections.abc import Iterator, Sequence

from causalist.model.facts import Definition, Mention, MentionForm, Passage

_KINDS = frozenset({"markdown", "restructuredtext", "asciidoc", "text"})
_LONGEST = 120  # characters of what is taken for a name
_MOST = 20_000  # mentions of a file: what has more is made by a program
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_ASCIIDOC_FENCE = re.compile(r"(-{4,}|`{3,})$")
_ROLE = re.compile(
    r":(?:[a-z]+:)?(?:class|func|meth|method|mod|attr|exc|data|obj|const|type|function|member|macro|struct|enum|var)"
    r":`[~!]?(?:[^`<>]*<([^`<>]+)>|([^`<>]+))`"
)
_SPAN = re.compile(r"(?<![`\w:])(`{1,2})(?!`)([^`\n]+?)\1(?!`)")
_LINK = re.compile(r"\]\(<?(\.{0,2}/?[\w@+-][\w@+./-]*\.\w{1,10})(?:#[\w-]*)?>?\)")
_DIRECTIVE = re.compile(
    r"(\s*)\.\. (?:[a-z]+:)?(auto)?(module|currentmodule|class|exception|function|method|attribute|data|decorator"
    r"|classmethod|staticmethod|property)::\s+(?:async\s+)?([\w.]+)"
)
_AUTODOC = re.compile(r"\s*::: +([\w.]+)\s*$")
_FROM = re.compile(r"\s*(?:>>> )?from ([\w.]+) import \(?([\w, ]+)")
_BRACES = re.compile(r"\b(?:import|require)\b[^{]*\{([\w$, ]+)\}|\{([\w$, ]+)\} *= *(?:await )?(?:import|require)\(")
# Chains, and words in which a capital follows a small letter or which a bracket follows. What looks like one may be a
# megabyte of data: no part of it is read over and over.
_CHAIN = re.compile(
    r"(?<![\w./-])(?:[A-Za-z_]\w*+(?:(?:\.|::)[A-Za-z_]\w*+){1,20}"
    r"|[A-Z](?:(?=\w*?[a-z][A-Z])|(?=\w*+\()(?=\w*?[a-z]))\w*+)(?![\w/-])"
)
_LITERAL = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|`[^`\n]*`")
_CODE_BLOCK = re.compile(r"\s*\.\. (?:code-block|code|sourcecode|testcode|doctest)::")
_CONTENT = ("method", "attribute", "classmethod", "staticmethod", "property")  # of a class around


def read_mentions(kind: str, text: str, passages: Sequence[Passage]) -> tuple[Mention, ...]:
    """The names in prose of that kind (`prose.prose_kind`), each once a passage and form, in the order of the text."""
    if kind not in _KINDS or not ("`" in text or "](" in text or "::" in text):
        return ()
    lines = text.split("\n")
    inside = _innermost(passages, len(lines))
    found: dict[tuple[int, int, str], int] = {}
    for row, form, name in _names(lines, kind):
        if 1 < len(name) <= _LONGEST:
            found.setdefault((inside[row], form, name), row)
            if len(found) > _MOST:
                return ()
    return tuple(Mention(passage, form, name, row) for (passage, form, name), row in found.items())


def documented_mentions(definitions: Sequence[Definition]) -> tuple[Mention, ...]:
    """The names in the first lines of the documentation of definitions."""
    found: dict[tuple[int, int, str], int] = {}
    for number, definition in enumerate(definitions):
        if "`" in definition.doc:
            for form, name in _marked(definition.doc):
                if 1 < len(name) <= _LONGEST:
                    found.setdefault((number, form, name), definition.start_row)
    return tuple(Mention(document, form, name, row) for (document, form, name), row in found.items())


def _marked(line: str) -> Iterator[tuple[MentionForm, str]]:
    """Cross-references and code spans.

    >>> [name for _, name in _marked("Asks :func:`~app.check` and ``Session.verify``, not `it is`.")]
    ['app.check', 'Session.verify', 'it is']
    """
    if ":`" in line:
        yield from ((MentionForm.ROLE, (m[1] or m[2]).strip()) for m in _ROLE.finditer(line))
        line = _ROLE.sub(" ", line)
    yield from ((MentionForm.SPAN, match[2].strip()) for match in _SPAN.finditer(line))


def _innermost(passages: Sequence[Passage], n_rows: int) -> list[int]:
    """The innermost passage of each row; those inside of others come after them."""
    inside = [-1] * (n_rows + 1)
    for number, passage in enumerate(passages):
        end = min(passage.end_row + 1, n_rows)
        inside[passage.start_row : end] = [number] * max(0, end - passage.start_row)
    return inside


def _names(lines: Sequence[str], kind: str) -> Iterator[tuple[int, MentionForm, str]]:
    """(row, form, name). What is indented below the mark of a block of code in reStructuredText is such a block."""
    is_rest = kind == "restructuredtext"
    opens = _ASCIIDOC_FENCE if kind == "asciidoc" else _FENCE
    fence = ""
    block = -1  # indentation of what began a block in reStructuredText
    module = ""
    owner = (-1, "")  # indentation and name of the class that is described
    for row, line in enumerate(lines):
        if not line or line.isspace():
            continue
        if fence:
            if line.strip().startswith(fence):
                fence = ""
            else:
                yield from ((row, MentionForm.EXAMPLE, name) for name in _in_code(line))
            continue
        if is_rest:
            indent = len(line) - len(line.lstrip())
            if block >= 0 and indent > block:
                yield from ((row, MentionForm.EXAMPLE, name) for name in _in_code(line))
                continue
            block = -1
            if "::" in line:
                if (told := _DIRECTIVE.match(line)) is not None:
                    what, name = told[3], told[4]
                    if what in ("module", "currentmodule"):
                        module = name
                    elif what in _CONTENT and indent > owner[0] >= 0:
                        name = f"{owner[1]}.{name}"
                    elif module and not told[2]:
                        name = f"{module}.{name}"
                    if what in ("class", "exception"):
                        owner = (indent, name)
                    yield row, MentionForm.ROLE, name
                    continue
                if _CODE_BLOCK.match(line) or (line.rstrip().endswith("::") and not line.lstrip().startswith("..")):
                    block = indent
        elif "```" in line or "~~~" in line or "----" in line:
            opened = opens.match(line)
            if opened is not None:
                fence = opened[1]
                continue
        elif ":::" in line and (told := _AUTODOC.match(line)) is not None:
            yield row, MentionForm.ROLE, told[1]
            continue
        if "`" in line:
            yield from ((row, form, name) for form, name in _marked(line))
        if "](" in line:
            yield from ((row, MentionForm.LINK, match[1]) for match in _LINK.finditer(line))


def _in_code(line: str) -> Iterator[str]:
    """Chains, imported names and words with an inner capital in a line of an example."""
    if "import" in line or "require" in line:
        if (told := _FROM.match(line)) is not None:
            yield from (f"{told[1]}.{name.split()[0]}" for name in told[2].split(",") if name.split())
            return
        for match in _BRACES.finditer(line):
            yield from (name.split()[0] for name in (match[1] or match[2]).split(",") if name.split())
    if '"' in line or "'" in line or "`" in line:
        line = _LITERAL.sub("''", line)
    yield from (match[0] for match in _CHAIN.finditer(line))
