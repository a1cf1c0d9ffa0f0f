"""Content of the web page beside the documents of `--json`: colors of source, questions to start with, elements of SVG.

Everything is plain data: the page sets it as text and never as markup.
"""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from causalist.model.symbols import Role
from causalist.serialize.lookups import node_document

if TYPE_CHECKING:
    from pygments.lexer import Lexer

    from causalist.model.lookup import Affected, EntryPoint, Overview, ServedRoute
    from causalist.pipeline.repository import Repository

# Beyond these, source is shown without colors: regular expressions of a lexer may take long on hostile text.
_MAX_COLORED_LINES = 2_000
_MAX_COLORED_CHARACTERS = 120_000
_MAX_LINE_CHARACTERS = 1_000

# Types of tokens that have a color, the more special first: the class of the page that shows them.
_CLASSES = (
    ("Comment", "c"), ("Keyword", "k"), ("Literal.String", "s"), ("Literal.Number", "m"), ("Name.Function", "f"),
    ("Name.Class", "f"), ("Name.Decorator", "d"), ("Name.Builtin", "b"), ("Name.Tag", "k"), ("Name.Attribute", "b"),
    ("Operator.Word", "k"), ("Generic.Heading", "f"), ("Generic.Subheading", "f"),
)  # fmt: skip
# Files whose definitions are those of another language.
_SCRIPTED = (".vue", ".svelte", ".astro", ".html")

_MAX_QUESTIONS = 6
_MAX_DEFINITIONS = 40  # whose documentation gives questions
_MAX_WORDS = 9
# Methods of requests, the ones that change something first.
_METHODS = ("POST", "PUT", "PATCH", "GET", "ANY", "DELETE")
# Headings that say nothing of the code.
_PLAIN_HEADING = re.compile(
    r"\b(?:api|changelog|contents|contribut\w+|credits|development|documentation|examples?|faq|features|install\w*|"
    r"introduction|license|links|notes|overview|quickstart|readme|reference|requirements|setup|support|tests?|testing|"
    r"usage)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?:;](?:\s|$)| [-–—] ")
# "Sends the e-mail" says what does it; the first word of a noun phrase is no verb.
_THIRD_PERSON = re.compile(r"[A-Z][a-z]{2,}(?<!s)s\b")
_NOUNS = re.compile(
    r"(?:always|class|errors|failures|options|perhaps|routes|rows|settings|shapes|tests|this|types|values)\b"
)


def color_source(path: str, text: str) -> list[list[int | str]]:
    """Return lengths and classes in turn for each line: `[5, "k", 1, ""]` is a keyword of five characters, and a space.

    Lengths are in UTF-16 units, as scripts of pages count. The list is empty if the language is not known or the text
    is too long; lines after the limit are missing.
    """
    lines = text.split("\n")[:_MAX_COLORED_LINES]
    text = "\n".join(lines)[:_MAX_COLORED_CHARACTERS]
    lexer = _find_lexer(path, text)
    if lexer is None or any(len(line) > _MAX_LINE_CHARACTERS for line in lines):
        return []
    colored: list[list[int | str]] = [[]]
    for _, kind, value in lexer.get_tokens_unprocessed(text + "\n"):
        shown = _class_of(str(kind).removeprefix("Token."))
        for i, part in enumerate(value.split("\n")):
            if i:
                colored.append([])
            if not part:
                continue
            length = len(part.encode("utf-16-le", "surrogatepass")) // 2
            line = colored[-1]
            if line and line[-1] == shown:
                line[-2] = int(line[-2]) + length
            else:
                line += [length, shown]
    return colored[: len(lines)]


def _find_lexer(path: str, text: str) -> "Lexer | None":
    from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
    from pygments.util import ClassNotFound

    name = path.rpartition("/")[2]
    if name.endswith(_SCRIPTED) and not text.lstrip().startswith("<"):
        return get_lexer_by_name("typescript")
    try:
        lexer = get_lexer_for_filename(name)
    except ClassNotFound:
        return None
    # A definition of PHP has no opening tag.
    return get_lexer_by_name("php", startinline=True) if lexer.name == "PHP" and "<?" not in text else lexer


def _class_of(kind: str) -> str:
    return next((shown for prefix, shown in _CLASSES if kind == prefix or kind.startswith(f"{prefix}.")), "")


def overview_document(repository: "Repository") -> dict[str, object]:
    """Return what the page shows before the first question: the map in short, and questions of this repository."""
    overview = repository.map(max_tokens=4_000).overview
    return {
        "name": overview.name,
        "summary": overview.summary,
        "paragraph": overview.paragraph,
        "languages": [[each.language, each.n_files, each.n_lines] for each in overview.languages[:6]],
        "entries": [
            {"kind": each.kind, "name": each.name, "node": each.target} for each in overview.entries[:8] if each.target
        ],
        "definitions": [node_document(each.hit) for each in overview.definitions[:12]],
        "questions": [text for text, _ in find_questions(repository, overview)],
    }


def find_questions(repository: "Repository", overview: "Overview") -> list[tuple[str, str]]:
    """Return (question, node that it comes from) of this repository, at most six.

    They come in turn from headings of its documentation that name important definitions, from what these say of
    themselves, from its routes and from its entry points.
    """
    known = [each.hit for each in overview.definitions[:_MAX_DEFINITIONS]]
    sources = [
        _headings(repository, [hit.id for hit in known]),
        ((question, hit.id) for hit in known if (question := _question_of(hit.doc))),
        _route_questions(repository),
        ((f"what does the command {each.name} run", each.target) for each in _entries(overview, "command")),
        ((f"what happens in {each.name}", each.target) for each in _entries(overview, "run")),
    ]
    found: list[tuple[str, str]] = []
    while sources and len(found) < _MAX_QUESTIONS:
        for source in tuple(sources):
            chosen = next((each for each in source if not _is_repeated(each, found)), None)
            if chosen is None:
                sources.remove(source)
            elif len(found) < _MAX_QUESTIONS:
                found.append(chosen)
    return found


def _entries(overview: "Overview", kind: str) -> list["EntryPoint"]:
    return [each for each in overview.entries if each.kind == kind and each.target]


def _is_repeated(each: tuple[str, str], found: Iterable[tuple[str, str]]) -> bool:
    return any(each[0] == question or each[1] == node for question, node in found)


def _route_questions(repository: "Repository") -> Iterator[tuple[str, str]]:
    """Yield (question, handler) for the routes of the product, requests that change something first."""

    def order(route: "ServedRoute") -> tuple[int, int, str]:
        place = _METHODS.index(route.method) if route.method in _METHODS else len(_METHODS)
        return place, -route.path.count("/"), route.path

    for route in sorted(repository.routes(), key=order):
        if repository.show(route.handler).role == Role.CODE.label:
            yield f"what handles {route.method} {route.path}", route.handler


def _headings(repository: "Repository", nodes: list[str]) -> Iterator[tuple[str, str]]:
    """Yield (heading, definition) of documentation that names one of `nodes` and shares a word with its name."""
    if not nodes:
        return
    for edge in repository.documentation(*nodes):
        heading = repository.show(edge.source).hit.signature.lstrip("#=* ").strip()
        words = heading.split()
        name = edge.target.rpartition("::")[2].lower()
        is_told = all(word.isascii() and not word.strip("`").endswith((")", ":")) for word in words)
        is_shared = any(len(word) > 4 and word.lower()[:-2] in name for word in words)
        is_plain = _PLAIN_HEADING.search(heading) is not None
        if 2 <= len(words) <= _MAX_WORDS and is_told and is_shared and not is_plain:
            yield heading.replace("`", ""), edge.target


def _question_of(doc: str) -> str:
    """Return the first sentence of a documentation comment as a question; "" if it makes none.

    >>> _question_of("Sends the reminder e-mail. It may fail.")
    'what sends the reminder e-mail'
    >>> _question_of("Full-text search over tasks, with an index.")
    'full-text search over tasks'
    >>> _question_of("See above.")
    ''
    """
    sentence = _SENTENCE_END.split(doc.strip(), maxsplit=1)[0].split(",")[0].strip()
    words = sentence.split()
    if (
        not 3 <= len(words) <= _MAX_WORDS
        or not words[0][:1].isalpha()
        or not sentence.isascii()
        or re.search("`|//", sentence)
    ):
        return ""
    plain = words[0] if words[0][1:] != words[0][1:].lower() else words[0].lower()
    lowered = " ".join([plain, *words[1:]])
    is_verb = _THIRD_PERSON.fullmatch(words[0]) is not None and _NOUNS.match(plain) is None
    return f"what {lowered}" if is_verb else lowered


def list_tests(tests: "Iterable[Affected]", n: int) -> list[dict[str, object]]:
    """Return the first `n` tests that may run a definition, with the steps and the probability of each."""
    return [
        {"node": each.node, "depth": each.depth, "probability": round(each.probability, 4)}
        for each, _ in zip(tests, range(n), strict=False)
    ]


def svg_elements(svg: str) -> list[Any]:
    """Return [tag, attributes, children …] of each element: the page makes no markup of text."""
    from xml.etree import ElementTree

    def plain(element: ElementTree.Element) -> list[Any]:
        tag = element.tag.rpartition("}")[2]
        text = (element.text or "").strip()
        return [tag, dict(element.attrib), *([text] if text else []), *map(plain, element)]

    return plain(ElementTree.fromstring(svg))
