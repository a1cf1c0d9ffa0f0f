"""Descriptions of a repository in its own words: from package manifests and READMEs.

In: the text of a file. Out: its description in one line, and for a manifest its declared entry points. Manifests are
untrusted data: parts with an unexpected shape are ignored.
"""

import configparser
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from causalist._internal.text import read_toml


class Declared(NamedTuple):
    """`kind` and `name` as in `EntryPoint`; `target` as the manifest writes it."""

    kind: str
    name: str
    target: str


class PackageManifest(NamedTuple):
    """Name, description and entry points of a package, as its manifest declares them."""

    name: str = ""
    summary: str = ""
    entries: tuple[Declared, ...] = ()


NAMES = ("pyproject.toml", "package.json", "Cargo.toml", "go.mod", "setup.cfg", "composer.json")


_GO_MODULE = re.compile(r"^module\s+\"?([^\s\"]+)", re.MULTILINE)


def read_package_metadata(name: str, text: str) -> PackageManifest:
    """Return the contents of the manifest with that file name; an empty one if it cannot be read.

    >>> read_package_metadata("package.json", '{"name": "got", "description": "Requests", "bin": "cli.js"}')
    PackageManifest(name='got', summary='Requests', entries=(Declared(kind='command', name='got', target='cli.js'),))
    """
    try:
        if name == "setup.cfg":
            return _setup_cfg(text)
        if name == "go.mod":
            module = _GO_MODULE.search(text)
            return PackageManifest(entries=(Declared("import", module[1], "."),) if module else ())
        data = json.loads(text) if name.endswith(".json") else read_toml(text)
    except (ValueError, RecursionError, configparser.Error):
        return PackageManifest()
    if not isinstance(data, dict):
        return PackageManifest()
    if name == "pyproject.toml":
        return _pyproject(data)
    if name == "Cargo.toml":
        package = _table(data, "package")
        listed = data.get("bin")
        binaries = listed if isinstance(listed, list) else []
        entries = [Declared("command", _text(b, "name"), _text(b, "path")) for b in binaries if isinstance(b, dict)]
        return PackageManifest(_text(package, "name"), _text(package, "description"), tuple(entries))
    return PackageManifest(_text(data, "name"), _text(data, "description"), tuple(_package_json(data)))


def _pyproject(data: dict[str, Any]) -> PackageManifest:
    project, poetry = _table(data, "project"), _table(_table(data, "tool"), "poetry")
    entries = [
        Declared("command", name, target)
        for table in (_table(project, "scripts"), _table(project, "gui-scripts"), _table(poetry, "scripts"))
        for name, target in table.items()
        if isinstance(target, str)
    ]
    name = _text(project, "name") or _text(poetry, "name")
    return PackageManifest(name, _text(project, "description") or _text(poetry, "description"), tuple(entries))


def _package_json(data: dict[str, Any]) -> Iterator[Declared]:
    name = _text(data, "name")
    binaries = data.get("bin")
    if isinstance(binaries, list):  # composer.json
        yield from (Declared("command", path.rpartition("/")[2], path) for path in binaries if isinstance(path, str))
    elif isinstance(binaries, str):
        yield Declared("command", name.rpartition("/")[2], binaries)
    elif isinstance(binaries, dict):
        yield from (Declared("command", key, path) for key, path in binaries.items() if isinstance(path, str))
    if data.get("private") is True:
        return  # nobody outside can import it
    exports = data.get("exports")
    if isinstance(exports, str):
        yield Declared("import", name, exports)
    elif isinstance(exports, dict):
        paths = exports if any(key.startswith(".") for key in exports) else {".": exports}
        for key in [key for key in (".", *paths) if key in paths]:
            path = _condition(paths[key])
            if path and "*" not in key and not key.endswith(".json"):
                yield Declared("import", name + key.removeprefix("."), path)
                return  # the others lie below it
    elif isinstance(data.get("main"), str):
        yield Declared("import", name, data["main"])


def _condition(value: Any) -> str:
    """Return the file that a conditional export selects for a module that is run."""
    for _ in range(4):
        if isinstance(value, str):
            return value
        if not isinstance(value, dict):
            return ""
        value = next((value[key] for key in ("source", "import", "default", "node", "require") if key in value), None)
    return ""


def _setup_cfg(text: str) -> PackageManifest:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    entries = []
    for line in parser.get("options.entry_points", "console_scripts", fallback="").splitlines():
        name, found, target = line.partition("=")
        if found:
            entries.append(Declared("command", name.strip(), target.strip()))
    summary = parser.get("metadata", "description", fallback="")
    return PackageManifest(parser.get("metadata", "name", fallback=""), summary, tuple(entries))


def _table(data: dict[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _text(data: dict[str, Any], key: str) -> str:
    value = data.get(key)
    return " ".join(value.split()) if isinstance(value, str) else ""


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
_MIN_WORDS = 6
# A sentence that says what something is or does; the first that does so early is the one that matters.
_DEFINES = re.compile(r"\b(is an?|is the|are|provides?|lets|helps|allows|makes|implements)\b")
_EARLY = 4
# Documentation that ends without a full stop before this many characters is a title, and whole.
_SHORT_LINE = 60
_MAX_README_BYTES = 20_000  # a README that has not said what it is by then does not


def first_paragraph(text: str) -> str:
    r"""Return the first paragraph of a README that is a sentence, on one line without markup; "" if none.

    Headings, badges, pictures, lists, tables, code, directives and lines of links are passed over.

    >>> first_paragraph("# Shop\n\n[![ci](x)](y)\n\n**Shop** is a seller of\n[good things](u) for all.\n\nMore.")
    'Shop is a seller of good things for all.'
    """
    text = _COMMENT.sub("", text[:_MAX_README_BYTES].replace("\r\n", "\n"))
    text = _BADGE.sub("", _HEADING_ELEMENT.sub("\n\n", text))
    found: list[str] = []
    for block in _blocks(text):
        said = _said(block)
        words = _WORD.findall(said)
        if len(words) >= _MIN_WORDS and sum(map(len, words)) > len(said) * 0.6:
            found.append(said)
    early = found[:_EARLY]
    return next((said for said in early if _DEFINES.search(said)), early[0] if early else "")


def first_sentence(text: str) -> str:
    """Return the first sentence of a line of documentation, without markup.

    An ellipsis follows if the line ends before the sentence does.

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
    """Return the paragraphs as lines, without fenced code, front matter and indented blocks."""
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
