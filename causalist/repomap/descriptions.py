"""Descriptions of a repository in its own words: from package manifests and READMEs.

In: the text of a file. Out: its description in one line, and for a manifest its declared entry points. Manifests are
untrusted data: parts with an unexpected shape are ignored.
"""

import configparser
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from causalist._internal.text_formatting import find_table, read_toml
from causalist.model.lookup import EntryPointKind


class ManifestEntry(NamedTuple):
    """`kind` and `name` as in `EntryPoint`; `target` as the manifest writes it."""

    kind: EntryPointKind
    name: str
    target: str


class PackageManifest(NamedTuple):
    """Name, description and entry points of a package, as its manifest declares them."""

    name: str = ""
    summary: str = ""
    entries: tuple[ManifestEntry, ...] = ()


NAMES = ("pyproject.toml", "package.json", "Cargo.toml", "go.mod", "setup.cfg", "composer.json")


_GO_MODULE = re.compile(r"^module\s+\"?([^\s\"]+)", re.MULTILINE)


def read_package_metadata(name: str, text: str) -> PackageManifest:
    """Return the contents of the manifest with that file name; an empty one if it cannot be read.

    >>> got = read_package_metadata("package.json", '{"name": "got", "description": "Requests", "bin": "cli.js"}')
    >>> got.name, got.summary, got.entries[0].target
    ('got', 'Requests', 'cli.js')
    """
    try:
        if name == "setup.cfg":
            return _setup_cfg(text)
        if name == "go.mod":
            module = _GO_MODULE.search(text)
            return PackageManifest(entries=(ManifestEntry(EntryPointKind.IMPORT, module[1], "."),) if module else ())
        data = json.loads(text) if name.endswith(".json") else read_toml(text)
    except (ValueError, RecursionError, configparser.Error):
        return PackageManifest()
    if not isinstance(data, dict):
        return PackageManifest()
    if name == "pyproject.toml":
        return _pyproject(data)
    if name == "Cargo.toml":
        package = find_table(data, "package")
        listed = data.get("bin")
        binaries = listed if isinstance(listed, list) else []
        entries = [
            ManifestEntry(EntryPointKind.COMMAND, _text(b, "name"), _text(b, "path"))
            for b in binaries
            if isinstance(b, dict)
        ]
        return PackageManifest(_text(package, "name"), _text(package, "description"), tuple(entries))
    return PackageManifest(_text(data, "name"), _text(data, "description"), tuple(_package_json(data)))


def _pyproject(data: dict[str, Any]) -> PackageManifest:
    project, poetry = find_table(data, "project"), find_table(data, "tool", "poetry")
    entries = [
        ManifestEntry(EntryPointKind.COMMAND, name, target)
        for table in (find_table(project, "scripts"), find_table(project, "gui-scripts"), find_table(poetry, "scripts"))
        for name, target in table.items()
        if isinstance(target, str)
    ]
    name = _text(project, "name") or _text(poetry, "name")
    return PackageManifest(name, _text(project, "description") or _text(poetry, "description"), tuple(entries))


def _package_json(data: dict[str, Any]) -> Iterator[ManifestEntry]:
    name = _text(data, "name")
    binaries = data.get("bin")
    if isinstance(binaries, list):  # composer.json
        yield from (
            ManifestEntry(EntryPointKind.COMMAND, path.rpartition("/")[2], path)
            for path in binaries
            if isinstance(path, str)
        )
    elif isinstance(binaries, str):
        yield ManifestEntry(EntryPointKind.COMMAND, name.rpartition("/")[2], binaries)
    elif isinstance(binaries, dict):
        yield from (
            ManifestEntry(EntryPointKind.COMMAND, key, path) for key, path in binaries.items() if isinstance(path, str)
        )
    if data.get("private") is True:
        return  # code outside cannot import it
    exports = data.get("exports")
    if isinstance(exports, str):
        yield ManifestEntry(EntryPointKind.IMPORT, name, exports)
    elif isinstance(exports, dict):
        paths = exports if any(key.startswith(".") for key in exports) else {".": exports}
        for key in [key for key in (".", *paths) if key in paths]:
            path = _condition(paths[key])
            if path and "*" not in key and not key.endswith(".json"):
                yield ManifestEntry(EntryPointKind.IMPORT, name + key.removeprefix("."), path)
                return  # the others lie below it
    elif isinstance(data.get("main"), str):
        yield ManifestEntry(EntryPointKind.IMPORT, name, data["main"])


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
        name, equals, target = line.partition("=")
        if equals:
            entries.append(ManifestEntry(EntryPointKind.COMMAND, name.strip(), target.strip()))
    summary = parser.get("metadata", "description", fallback="")
    return PackageManifest(parser.get("metadata", "name", fallback=""), summary, tuple(entries))


def _text(data: dict[str, Any], key: str) -> str:
    value = data.get(key)
    return " ".join(value.split()) if isinstance(value, str) else ""


_FENCE = re.compile(r"^\s*(```|~~~)")
_UNDERLINE = re.compile(r"^\s*([=\-~^\"'`#*+])\1{2,}\s*$")
_HASHES = re.compile(r"^ {0,3}(#{1,6})\s+(.*)$")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_ASIDE_BEGINNING = re.compile(r"<(!--|(?:picture|table|details|style|script)\b)", re.IGNORECASE)
# A heading holds no other, so that one that is never closed is read once.
_HEADING_ELEMENT = re.compile(r"<h([1-6])\b[^<>]*>((?:(?!<h[1-6]\b).)*?)</h\1\s*>", re.DOTALL | re.IGNORECASE)
_BLOCK_TAG = re.compile(r"</?(?:p|div|center|section|ul|ol|li|br|hr)\b[^<>]*>", re.IGNORECASE)
_BADGE = re.compile(r"\[!\[[^\]\n]*\](?:\([^)\n]*\)|\[[^\]\n]*\])\](?:\([^)\n]*\)|\[[^\]\n]*\])[ \t]*\n?")
_IMAGE = re.compile(r"!\[[^\]]*\](\([^)]*\)|\[[^\]]*\])")
_LINK = re.compile(r"\[([^\[\]]+)\](\([^)]*\)|\[[^\]]*\])")
_RST_LINK = re.compile(r"`([^`<]+?)\s*<[^`>]*>`__?")
_RST_ROLE = re.compile(r":[a-z:+-]{1,40}:`~?([^`<]+?)(?:\s*<[^`>]*>)?`")
_RST_REFERENCE = re.compile(r"`([^`]+)`__?|\b(\w+)_(?![\w])")
_ALL_EMPHASIS = re.compile(r"\s*_([^_\n]+)_\s*")  # else its end would be a reference
_EMPHASIS = re.compile(r"(\*\*|__|(?<![\w*])[*_](?=\S))(.+?)(?:\1|(?<=\S)[*_](?![\w*]))")
# A word, or two characters of a script without spaces between words.
_WORD = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]{2}|[^\W\d_\u3040-\u30ff\u4e00-\u9fff]{2,}")
_ADDRESS = re.compile(r"(?:&[a-z]{2,8};\s*)?\bhttps?://\S+")
_MIN_WORDS = 6
# A sentence that says what something is or does; the first that does so early is the one that matters.
_DEFINES = re.compile(r"\b(is an?|is the|are|provides?|lets|helps|allows|makes|implements)\b")
_KIND = re.compile(r"an?\s", re.IGNORECASE)  # "A server that …"
_MAX_WORDS_BEFORE_VERB = 4  # of a name, from the beginning of a paragraph
# Paragraphs that advertise, thank, warn, refer elsewhere or say how to install: what they mention, how they begin.
_NOTICE = re.compile(
    r"\b(?:we(?:['’]re| are)? (?:now )?hiring|join (?:our|us|the)\b|\d+\s?% (?:off|discount)|free trial|early bird"
    r"|sponsor(?:s|ed|ing|ship)?\b|our backers|supported by|brought to you by|check out (?:our|the|my) |new course"
    r"|sign up (?:for|now)|subscribe to (?:our|my|the)|donat(?:e|ions?)\b|buy me a|follow (?:us|me)\b"
    r"|star (?:us|this)\b"
    r"|read this in|other languages|translat(?:ed|ions?) (?:in|of this|are|by)|looking for (?:new )?maintainers?"
    r"|(?:is|are) (?:now available|easy to install)|(?:testing|beta|preview) version"
    r"|no longer (?:maintained|developed)|is (?:archived|deprecated)|has (?:been )?moved to"
    r"|(?:licensed|offered|released|distributed|available) under )",
    re.IGNORECASE,
)
_NOTICE_BEGINNING = re.compile(
    r"\W*(?:to (?:install|get started|build|run|use)\b|install(?:ation|ing)?\b|simply\b|alternative(?:ly)?\b|if you\b"
    r"|you can (?:install|download|find|use|try)\b|the (?:recommended|easiest|simplest|fastest) way\b|run\b|download\b"
    r"|see\b|visit\b|please\b|note\b|warning\b|important\b|(?:(?:full|the|official|more|our) )?documentation\b|docs\b"
    r"|copyright\b|licensed under|thanks to|thank you|this (?:is the readme|readme)|table of contents|requires\b"
    r"|requirements?\b|(?:official )?website\b|follow\b|try (?:it|the)\b|for (?:any|more|further|questions|help)\b)",
    re.IGNORECASE,
)
# Sections about something else than what the project does, by their headings.
_OTHER_SECTION = re.compile(
    r"\W*(?:the |our |how to )?(?:(?:gold|silver|bronze|platinum|premium|special) )?"
    r"(?:sponsor|support|backer|donat|licen[cs]e|contribut|install|download|get(?:ting)? (?:started|help|it)"
    r"|contact|deploy|quick ?start|usage|document|docs\b|(?:table of )?contents\b|build|develop|credits|team"
    r"|authors?\b|communit|thank"
    r"|acknowledg|requirement|prerequisite|source code|links\b|news\b|change|(?:we are )?hiring|careers?\b|translat"
    r"|screenshot|demo|upgrad|status|warning|security|languages\b)",
    re.IGNORECASE,
)
_MIN_SLOGAN_WORDS = 4  # right below the name, if nothing else says what the project is
_MIN_TITLE_WORDS = 4  # of a first heading that says what the project is if nothing else does
_SHORTCODE = re.compile(r"(?<![\w`]):[a-z0-9_+-]+:(?![\w`])")  # ":rocket:"
_NAME_LEADS = frozenset(["about", "introducing", "introduction", "is", "the", "to", "welcome", "what"])
_MAX_HEADING_WORDS = 12  # of a heading that bears a name; a longer one is a sentence
_MIN_NAME_CHARACTERS = 2
_VERSION = re.compile(r"v\d+")
_MAX_NAME_LEVEL = 3
_EARLY = 4
# Documentation that ends without a full stop before this many characters is a title, and whole.
_SHORT_LINE = 60
_MAX_README_BYTES = 40_000  # a README that has not said what it is by then does not


class _Block(NamedTuple):
    """A paragraph, or a heading of `level` 1 to 6; 0 is a paragraph."""

    level: int
    said: str


def first_paragraph(text: str, names: Iterable[str] = (), *, is_described: bool = False) -> str:
    r"""Return the paragraph of a README that says what the project is, on one line without markup; "" if none.

    It is the one below the first heading that bears one of the `names` of the project. Without such a heading it is the
    first that is a description; if the project is described elsewhere, only one that says what a thing of that name is.
    Headings, badges, pictures, lists, tables, code, directives, lines of links, advertisements, warnings and
    instructions are passed over.

    >>> first_paragraph("# Shop\n\n[![ci](x)](y)\n\n**Shop** is a seller of\n[good things](u) for all.\n\nMore.")
    'Shop is a seller of good things for all.'
    >>> first_paragraph("We sell the best hats in town.\n\n# Shop\n\nIt keeps the orders of one store.", ["shop"])
    'It keeps the orders of one store.'
    """
    keys = [key for name in names for key in _name_keys(name)]
    # A heading that says what the project is, as below a logo, is no title of what follows.
    blocks = [
        _Block(0, block.said) if block.level and _is_description(block.said, keys) and _names_itself(block.said, keys)
        else block
        for block in _read_blocks(text)
    ]  # fmt: skip
    at = _find_name(blocks, keys)
    own: list[_Block] = []
    if at is not None:
        level = blocks[at].level
        end = next((n for n in range(at + 1, len(blocks)) if 0 < blocks[n].level <= level), len(blocks))
        own = blocks[at + 1 : end]
        # A heading right below the name is its subtitle.
        if own and own[0].level and len(_WORD.findall(own[0].said)) >= _MIN_WORDS:
            own[0] = _Block(0, own[0].said)
    for part in (own, blocks):
        paragraphs = [paragraph for paragraph in _read_sections(part) if _is_description(paragraph, keys)][:_EARLY]
        if part is blocks and is_described:
            paragraphs = [paragraph for paragraph in paragraphs if _names_itself(paragraph, keys)]
        if paragraphs:
            return max(paragraphs, key=lambda paragraph: _rate_description(paragraph, keys))  # of equal ones the first
    if is_described:
        return ""
    slogan = own[0].said if own and not own[0].level else ""
    if len(_WORD.findall(slogan)) >= _MIN_SLOGAN_WORDS and not _is_notice(slogan):
        return slogan
    title = next((block.said for block in blocks if block.level == 1), "")
    if at is None and len(_WORD.findall(title)) >= _MIN_TITLE_WORDS:
        return title
    return next((block.said for block in blocks if not block.level and _is_description(block.said, keys)), "")


def _read_sections(blocks: Sequence[_Block]) -> Iterator[str]:
    """Yield the paragraphs of the sections that may describe the project."""
    left_out = 0  # the level of the heading of a section that is passed over
    for block in blocks:
        if not block.level:
            if not left_out:
                yield block.said
        elif not left_out or block.level <= left_out:
            left_out = block.level if _OTHER_SECTION.match(block.said) else 0


def _is_description(paragraph: str, keys: Sequence[str]) -> bool:
    paragraph = _ADDRESS.sub("", paragraph)
    words = _WORD.findall(paragraph)
    if len(words) < _MIN_WORDS or sum(map(len, words)) <= len(paragraph) * 0.6:
        return False
    return _names_itself(paragraph, keys) or not _is_notice(paragraph)


def _is_notice(paragraph: str) -> bool:
    return bool(_NOTICE.search(paragraph) or _NOTICE_BEGINNING.match(paragraph))


def _rate_description(paragraph: str, keys: Sequence[str]) -> int:
    """Return how much a paragraph looks like a description: 2, 1 or 0."""
    if _names_itself(paragraph, keys):
        return 2
    return int(bool(_DEFINES.search(paragraph) or _KIND.match(paragraph)))


def _names_itself(paragraph: str, keys: Sequence[str]) -> bool:
    """Return True if a paragraph begins with a name of the project and a verb that defines it."""
    verb = _DEFINES.search(paragraph)
    if verb is None:
        return False
    before = _key(paragraph[: verb.start()])
    few = len(paragraph[: verb.start()].split()) <= _MAX_WORDS_BEFORE_VERB
    return few and any(before.startswith(key) for key in keys)


def _find_name(blocks: Sequence[_Block], keys: Sequence[str]) -> int | None:
    """Return the first heading that is a name of the project, else the first that begins with one."""
    titles = [n for n, block in enumerate(blocks) if block.level]
    for n in titles:
        if blocks[n].level <= _MAX_NAME_LEVEL and _key(blocks[n].said) in keys:
            return n
    for n in titles:
        words = blocks[n].said.split()
        while words and _key(words[0]) in _NAME_LEADS:
            words = words[1:]
        has_lead = len(words) < len(blocks[n].said.split())
        title = _key(" ".join(words))
        is_short = len(words) <= _MAX_HEADING_WORDS
        if (has_lead or blocks[n].level == 1) and is_short and any(title.startswith(key) for key in keys):
            return n
    return None


def _key(text: str) -> str:
    """Return the letters and digits of a text in lower case."""
    return "".join(each for each in text.lower() if each.isalnum())


def _name_keys(name: str) -> Iterator[str]:
    """Yield what a heading may call a project of a name: all of it, and the last part of a path or a scope.

    >>> list(_name_keys("@acme/left-pad")), list(_name_keys("v2"))
    (['acmeleftpad', 'leftpad'], [])
    """
    for part in dict.fromkeys((name, re.split(r"[/+:]", name)[-1])):
        key = _key(part)
        if len(key) >= _MIN_NAME_CHARACTERS and not _VERSION.fullmatch(key):
            yield key


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


def _read_blocks(text: str) -> list[_Block]:
    """Return the headings and the paragraphs that say something, without markup."""
    text = _BADGE.sub("", _without_asides(text[:_MAX_README_BYTES].replace("\r\n", "\n").removeprefix("\ufeff")))
    text = _HEADING_ELEMENT.sub(lambda match: f"\n\n{'#' * int(match[1])} {' '.join(match[2].split())}\n\n", text)
    text = _BLOCK_TAG.sub("\n\n", text)
    blocks = []
    for level, lines in _split_blocks(text):
        block_text = _plain(" ".join(lines)) if level else _read_block(lines)
        if block_text:
            blocks.append(_Block(level, block_text))
    return blocks


def _without_asides(text: str) -> str:
    """Return a text without comments, pictures, tables and other elements that hold no prose; in linear time."""
    kept: list[str] = []
    at, unclosed = 0, set[str]()
    for match in _ASIDE_BEGINNING.finditer(text):
        name = match[1].lower()
        if match.start() < at or name in unclosed:
            continue
        closing = re.compile("-->" if name == "!--" else f"</{name}", re.IGNORECASE).search(text, match.end())
        if closing is None:
            unclosed.add(name)
            continue
        kept += [text[at : match.start()], "" if name == "!--" else "\n\n"]
        at = text.find(">", closing.start()) + 1 or len(text)
    return "".join([*kept, text[at:]])


def _split_blocks(text: str) -> list[tuple[int, list[str]]]:
    """Return headings with their level and paragraphs as lines, without fenced code and front matter."""
    blocks: list[tuple[int, list[str]]] = [(0, [])]
    fence = ""
    lines = text.split("\n")
    if lines[0].strip() == "---" and "---" in (line.strip() for line in lines[1:]):
        lines = lines[1 + [line.strip() for line in lines[1:]].index("---") + 1 :]
    underlines: list[str] = []  # of headings, in the order in which they first occur
    for line in lines:
        match = _FENCE.match(line)
        hashes = None if fence else _HASHES.match(line)
        if match and (not fence or match[1] == fence):
            fence = "" if fence else match[1]
            blocks.append((0, []))
        elif fence:
            continue
        elif not line.strip():
            blocks.append((0, []))
        elif hashes:
            blocks += [(len(hashes[1]), [hashes[2].rstrip("# \t")]), (0, [])]
        elif _UNDERLINE.match(line) and len(blocks[-1][1]) == 1:
            # What is underlined is a heading, also right above a paragraph.
            mark = line.strip()[0]
            if mark not in underlines:
                underlines.append(mark)
            blocks[-1:] = [(underlines.index(mark) + 1, blocks[-1][1]), (0, [])]
        elif _UNDERLINE.match(line) and not blocks[-1][1]:
            continue  # a rule, or the line above a heading
        else:
            blocks[-1][1].append(line)
    return [(min(level, 6), block) for level, block in blocks if block]


def _read_block(block: list[str]) -> str:
    first = block[0]
    if first.startswith(("    ", "\t", ".. ", "|", "- ", "* ", "+ ", "[")) and not _IMAGE.match(first):
        # A link at the beginning is a definition of a link or a badge; prose may begin with one all the same.
        if not (first.startswith("[") and _LINK.match(first) and not first.startswith("[!")):
            return ""
        if re.match(r"\[[^\]]+\]:", first):
            return ""
    if re.match(r"\d+[.)] ", first) or re.match(r"\s*>\s*\[!", first):
        return ""
    if any(_UNDERLINE.match(line) for line in block):
        return ""
    return _plain(" ".join(line.lstrip("> ").strip() for line in block))


def _plain(text: str) -> str:
    """Return a text without markup on one line, "" if it is hardly anything but links."""
    text = _SHORTCODE.sub("", _IMAGE.sub("", text))
    if emphasized := _ALL_EMPHASIS.fullmatch(text):
        text = emphasized[1]
    n_links = len(_LINK.findall(text)) + text.count("<a ")
    for pattern in (_LINK, _RST_LINK, _RST_ROLE):
        text = pattern.sub(r"\1", text)
    text = _RST_REFERENCE.sub(lambda match: match[1] or match[2], text)
    text = _TAG.sub("", text)
    text = _EMPHASIS.sub(r"\2", text).replace("``", "`")
    text = re.sub(r"\s*\[\](?:\(\))?", "", " ".join(text.split()))
    # Navigation: hardly anything but links.
    return "" if n_links >= 3 and n_links * 4 > len(text.split()) else text
