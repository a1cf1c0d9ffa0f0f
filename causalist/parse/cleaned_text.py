r"""Text of a file for readers, with line ends as tree-sitter and all later steps count them; kinds of text by path.

Rows are counted by line feeds, as git, grep and tree-sitter do; in `\r\n` the carriage return is white space. If a file
has carriage returns and no line feed, each of them counts as a line feed. In a file with line feeds a lone carriage
return is a character like any other.

A byte that is not UTF-8 becomes a question mark; all positions stay.
"""

import codecs
import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache

from causalist._internal.lazy import lazy_regex

_NOTEBOOKS = (".ipynb",)
_COMPONENTS = (".vue", ".svelte")
RAILS_TEMPLATES = (".haml", ".slim")  # end names of templates that are Ruby without marks around it


def with_line_feeds(data: bytes) -> bytes:
    r"""Return the bytes with line feeds for carriage returns if the file has no line feed.

    >>> with_line_feeds(b"a\rb\r"), with_line_feeds(b"a\rb\n"), with_line_feeds(b"a\r\nb")
    (b'a\nb\n', b'a\rb\n', b'a\r\nb')
    """
    return data.replace(b"\r", b"\n") if b"\r" in data and b"\n" not in data else data


def is_notebook(path: str) -> bool:
    """Return True if the file extension is that of a notebook."""
    return path.lower().endswith(_NOTEBOOKS)


def is_component(path: str) -> bool:
    """Return True if the file extension is that of a component."""
    return path.lower().endswith(_COMPONENTS)


def view_of(path: str, data: bytes) -> bytes:
    """Return the text of a file as readers see it, with the same positions.

    A notebook becomes its cells without the JSON around them. Lines end with line feeds, as in `with_line_feeds`. Any
    other file stays as it is.
    """
    if is_notebook(path):
        from causalist.parse.embedded_code import read_notebook  # few files are, and an answer shows few files

        notebook = read_notebook(data)
        if notebook is not None:
            return notebook.view
    return with_line_feeds(data)


_LOCALE_FOLDER = lazy_regex(
    r"(?:^|/)_{0,2}(?:locales?|langs?|languages?|i18n|translations?|l10n|strings|messages|values)/", re.IGNORECASE
)
# Of all languages of a program the one that its keys and questions are written in.
_ENGLISH = lazy_regex(
    r"(?:^|[/._-])en(?:[_-]?(?:us|gb))?(?:[/._-]|$)|(?:^|/)messages\.properties$|(?:^|/)values/strings\.xml$"
    r"|/translation\.json$",
    re.IGNORECASE,
)
# Laravel's texts are the array that a file of code returns; its path is a part of their keys.
_TEXTS_IN_CODE = lazy_regex(r"(?:^|/)lang/en(?:[_-]\w{2,4})?/(?P<group>[\w/-]+)\.php$")
_LOCALE_ENDS = (".json", ".yml", ".yaml", ".properties", ".arb", ".xml", ".ini", ".ftl")
_TEMPLATE_ENDS = (
    ".html", ".htm", ".xhtml", ".jinja", ".jinja2", ".j2", ".twig", ".erb", ".haml", ".slim", ".ejs", ".hbs", ".pug",
    ".handlebars", ".mustache", ".cshtml", ".razor", ".liquid", ".tmpl", ".gohtml", ".tpl", ".heex", ".eex", ".njk",
)  # fmt: skip
_BY_END = {
    ".sql": "sql", ".pgsql": "sql", ".ddl": "sql", ".prisma": "prisma", ".proto": "proto", ".graphql": "graphql",
    ".graphqls": "graphql", ".gql": "graphql", ".tf": "terraform", ".mk": "make", ".yml": "yaml", ".yaml": "yaml",
    ".dockerfile": "docker", ".properties": "properties",
}  # fmt: skip
_ENV_FILE = lazy_regex(
    r"\.env(?:\.[\w.-]+)?|(?:[\w.-]+\.)?env(?:\.(?:example|sample|template|dist|test|local|prod\w*|dev\w*))?"
    r"|\.?env[-_.](?:example|sample|template)(?:\.\w+)?"
)
_BY_NAME = lazy_regex(
    r"(?P<docker>dockerfile[\w.-]*|[\w.-]+\.dockerfile|containerfile)|(?P<make>(?:gnu)?makefile(?:\.\w+)?)"
    r"|(?P<just>\.?justfile)|(?P<npm>package\.json)|(?P<procfile>procfile[\w.]*)"
)


def text_group(path: str) -> str:
    """Return what the keys of the texts begin with that a file of code returns, "" for a file without such.

    >>> text_group("resources/lang/en/auth.php"), text_group("lang/en-GB/shop/cart.php"), text_group("lang/de/auth.php")
    ('auth', 'shop/cart', '')
    """
    match = _TEXTS_IN_CODE.search(path) if path.endswith(".php") else None
    return match["group"] if match else ""


@lru_cache(maxsize=1 << 16)
def link_kind(path: str) -> str:
    """Return how names are read from a file without a grammar, "" for not at all.

    >>> link_kind("db/Schema.sql"), link_kind(".env.example"), link_kind("docker/Dockerfile.dev"), link_kind("a.txt")
    ('sql', 'env', 'docker', '')
    >>> link_kind("src/locales/en.json"), link_kind("src/locales/de.json"), link_kind("config/locales/en.yml")
    ('texts', '', 'texts')
    """
    lower = path.lower()
    name = lower.rpartition("/")[2]
    if name.endswith(_LOCALE_ENDS) and _LOCALE_FOLDER.search(lower):
        return "texts" if _ENGLISH.search(lower) else ""
    named = _BY_NAME.fullmatch(name)
    if named is not None:
        return str(named.lastgroup)
    if _ENV_FILE.fullmatch(name):
        return "env"
    if name.endswith(_TEMPLATE_ENDS):
        return "template"
    if name in ("openapi.json", "swagger.json"):
        return "yaml"
    return _BY_END.get(f".{name.rpartition('.')[2]}", "") if "." in name else ""


_QUESTION_MARKS = "causalist.question-marks"


def _question_marks(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "?" * (error.end - error.start), error.end


codecs.register_error(_QUESTION_MARKS, _question_marks)


def with_valid_utf8(data: bytes) -> bytes:
    r"""Return the bytes with a question mark for each that is not UTF-8.

    A query that asks for the text of a node raises if the text is not UTF-8.

    >>> with_valid_utf8(b"a\xffb")
    b'a?b'
    """
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("utf-8", _QUESTION_MARKS).encode("utf-8")
    return data


Span = tuple[int, int]  # first byte of a secret, and the byte behind its last

# Replaces a secret of any length wherever source is shown.
MASK = "*" * 8
_STARS = lazy_regex(r"\*{8,}", needs=("*" * 8,))
_LINE = re.compile(rb"[^\r\n]+")


def mask_secrets(data: bytes, spans: Sequence[Span]) -> bytes:
    """Return `data` with an asterisk for every byte of the spans but line ends.

    >>> mask_secrets(b"key = 'abc'", [(7, 10)])
    b"key = '***'"
    """
    if not spans:
        return data
    result = bytearray(data)
    for start, end in spans:
        result[start:end] = re.sub(rb"[^\r\n]", b"*", data[start:end])
    return bytes(result)


def shorten_masks(text: str) -> str:
    """Return the text of a masked file with every long run of asterisks as long as MASK.

    The length of a run must not tell the length of a secret.

    >>> shorten_masks("key = '****************'")
    "key = '********'"
    """
    return _STARS.sub(MASK, text)


def mask_range(data: bytes, start: int, end: int, spans: Sequence[Span]) -> bytes:
    """Return `data[start:end]` with MASK for each line of each secret.

    `spans` are those of the whole file, ascending and disjoint.

    >>> mask_range(b"key = 'abc' # x", 2, 11, [(7, 10)])
    b"y = '********'"
    """
    parts: list[bytes] = []
    position = start
    first = bisect_right(spans, start, key=lambda span: span[1])
    for begin, stop in spans[first:]:
        if begin >= end:
            break
        begin, stop = max(begin, start), min(stop, end)
        parts.append(data[position:begin])
        parts.append(_LINE.sub(MASK.encode(), data[begin:stop]))
        position = stop
    parts.append(data[position:end])
    return b"".join(parts)
