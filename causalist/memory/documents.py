"""Documents -> passages, and excerpts of passages.

Documents are Markdown, reStructuredText, AsciiDoc, HTML, plain text and PDF. A passage is a section without its
subsections, below the titles of those around it; a long section is split between paragraphs, a long paragraph between
lines. The id of a passage is the path and the slug of its heading, as for documentation in a code graph; text before
the first heading has the path as its id. Links to other documents become references, secrets are masked, and link
targets and roles are removed. Of a passage that is shown, an excerpt is the part that matches a query best.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from causalist.errors import ExtraMissing, NothingToIndex, RepositoryNotFound
from causalist.memory.defined_names import run_terms
from causalist.memory.document_text import (
    MAX_PDF_BYTES,
    PATH_LISTS,
    front_matter,
    html_to_markdown,
    read_front_matter,
    read_pdf,
)
from causalist.model.facts import Passage
from causalist.parse import find_secrets, mask_secrets
from causalist.parse.prose import prose_kind, read_passages, title_slug
from causalist.rank.terms import STOP_WORDS
from causalist.source import Limits, SkipReason, read_bytes, scan_folder

TEXT_SUFFIXES = (".md", ".mdx", ".markdown", ".rst", ".txt", ".text", ".adoc", ".asciidoc")
HTML_SUFFIXES = (".html", ".htm", ".xhtml")
PDF_SUFFIX = ".pdf"
_MAX_PASSAGE_CHARACTERS = 3_000  # characters of a passage, except for a single longer line or fenced block
_LINK = re.compile(r"!?\[([^\[\]]*)\]\(\s*<?([^()<>\s]*)>?(?:\s+[\"'][^\"']*[\"'])?\s*\)")
_ROLE = re.compile(
    r":(doc|ref|mod|class|func|meth|term|pep|rfc|attr|exc|data|keyword):`~?!?([^`<>]*?)(?:\s*<([^<>`]*)>)?`"
)
# Links of reStructuredText, to an address or to a title, and of AsciiDoc.
_HYPERLINK = re.compile(r"(?<![`:])`([^`<>]+?)(?:\s*<([^`<>\s]+)>)?`__?(?!\w)")
_MACRO = re.compile(r"\b(?:link|xref):([^\s\[\]]+)\[([^\[\]]*)\]")
# Links of Markdown by label, and what their labels mean, except for footnotes; code has neither.
_CODE = r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)|(?P<tick>`+)[^`\n]+(?P=tick)"
_MEANING_OF_LABEL = re.compile(
    rf"{_CODE}|^ {{0,3}}\[(?!\^)(?P<label>[^\[\]\n]{{1,200}})\]:[ \t]*<?(?P<target>[^\s<>]+)>?"
    r"(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*$",
    re.DOTALL | re.MULTILINE,
)
_LABELED = re.compile(
    rf"{_CODE}|(?<!\\)\[(?P<text>(?:[^\[\]\\`]|`[^`\n]*`){{1,300}})\](?:\[(?P<label>[^\[\]\n]{{0,200}})\])?(?![\[(:])",
    re.DOTALL | re.MULTILINE,
)
_LINE_WITH_WORDS = re.compile(r"^.*\w.*$", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
SUFFIXES = (*TEXT_SUFFIXES, *HTML_SUFFIXES, PDF_SUFFIX)
_MAX_BYTES = 20_000_000  # bytes of a document other than PDF
_LIMITS = Limits(max_file_bytes=_MAX_BYTES)
_PROBE_BYTES = 8_000  # bytes; a zero byte among them marks a binary file
_REPLACEMENT = "\ufffd"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")  # byte order marks of UTF-16, which some editors write


@dataclass(frozen=True, slots=True)
class Document:
    """A passage before extraction; `references` in its metadata are passage ids or document paths that it links to."""

    id: str
    text: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DocumentFile:
    """A document on disk: `path` below `root`, and `name` as seen from the base.

    `is_named` is true if the file was named itself, not found in a folder.
    """

    name: str
    root: Path
    path: str
    is_named: bool

    @property
    def is_pdf(self) -> bool:
        """True for a PDF file."""
        return self.path.lower().endswith(PDF_SUFFIX)

    def read(self) -> bytes | str:
        """Return the content, or the reason for not reading it."""
        most = MAX_PDF_BYTES if self.is_pdf else _MAX_BYTES
        data = (self.root / self.path).read_bytes() if self.is_named else read_bytes(self.root, self.path, most + 1)
        if isinstance(data, str):
            return data
        if len(data) > most:
            return SkipReason.TOO_LARGE.value
        is_binary = b"\0" in data[:_PROBE_BYTES] and not data.startswith(_UTF16_MARKS)
        return SkipReason.BINARY.value if is_binary and not self.is_pdf else data


@dataclass(slots=True)
class DocumentSet:
    """Documents that were read: passages, paths, and skipped documents with the reason."""

    passages: list[Document] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)

    def add(self, file: DocumentFile, data: bytes | str) -> list[Document]:
        """Add a document and return its passages, with references as written.

        Raises what `read_documents` raises.
        """
        try:
            if isinstance(data, str):
                raise NothingToIndex(f"{file.name} cannot be read: {data}")
            passages, note = (
                split_pdf(file.name, data) if file.is_pdf else (split_document(file.name, _decode(data)), "")
            )
        except (NothingToIndex, ExtraMissing) as error:
            if file.is_named:
                raise
            self.skipped[file.name] = data if isinstance(data, str) else str(error).removeprefix(f"{file.name} ")
            return []
        if note:
            self.skipped[file.name] = note
        self.paths.append(file.name)
        self.passages += passages
        return passages

    def add_unchanged(self, name: str, passages: list[Document], note: str) -> None:
        """Add a document that was read before; `note` names its unreadable parts."""
        if note:
            self.skipped[name] = note
        if passages or not note:
            self.paths.append(name)
            self.passages += passages

    def with_resolved_references(self) -> "DocumentSet":
        """Return the set with references resolved to passage ids. Raises NothingToIndex if there are no passages."""
        if not self.passages:
            why = "".join(f"; {name}: {reason}" for name, reason in list(self.skipped.items())[:3])
            raise NothingToIndex(f"no document found; readable formats: {', '.join(SUFFIXES)}{why}")
        return DocumentSet(resolve_references(self.passages), self.paths, self.skipped)


def find_documents(places: Iterable[Path], base: Path, skipped: dict[str, str]) -> list[DocumentFile]:
    """Return the documents below folders and the named files, each once, sorted by name.

    Documents of a folder that are too large are added to `skipped`. Raises RepositoryNotFound.
    """
    by_name: dict[str, DocumentFile] = {}
    for place in places:
        if place.is_dir():
            root = place.resolve()
            scan = scan_folder(root, _LIMITS, also={PDF_SUFFIX: MAX_PDF_BYTES})
            for path in scan.examples.get(SkipReason.TOO_LARGE.value, ()):
                if path.lower().endswith(SUFFIXES):
                    skipped[_display_path(root / path, base)] = SkipReason.TOO_LARGE.value
            for entry in scan.entries:
                if entry.path.lower().endswith(SUFFIXES):
                    name = _display_path(root / entry.path, base)
                    by_name.setdefault(name, DocumentFile(name, root, entry.path, False))
        elif place.is_file():
            resolved = place.resolve()
            name = _display_path(resolved, base)
            by_name[name] = DocumentFile(name, resolved.parent, resolved.name, True)
        else:
            raise RepositoryNotFound(f"{place} is neither a folder nor a file")
    return [by_name[name] for name in sorted(by_name)]


def read_documents(places: Iterable[Path], base: Path) -> DocumentSet:
    """Return the documents below folders and the named files, with paths relative to `base` or absolute outside of it.

    Files that git or `.causalistignore` ignores, and files that are never indexed, are left out of folders. An
    unreadable document of a folder is in `skipped` with the reason; an unreadable named document is an error. Raises
    RepositoryNotFound, NothingToIndex, ExtraMissing (PDF files need the extra `pdf`).
    """
    reading = DocumentSet()
    for file in find_documents(places, base, reading.skipped):
        reading.add(file, file.read())
    return reading.with_resolved_references()


def split_document(path: str, text: str) -> list[Document]:
    """Return the passages of a document; references are as written, relative to the root."""
    matter = read_front_matter(text)
    for key in PATH_LISTS:
        if key in matter:
            matter[key] = _with_paths_from(posixpath.dirname(path), matter[key])
    if path.lower().endswith(HTML_SUFFIXES):
        text = html_to_markdown(text[len(front_matter(text)) :])
        reader = f"{path}.md"
    else:
        reader = path if prose_kind(path) != "plain" else f"{path}.txt"
        text = _with_inline_links(text) if prose_kind(path) == "markdown" else text
    data = text.encode("utf-8", "surrogatepass")
    passages: list[Document] = []
    sections = read_passages(reader, text)
    starts = sorted({s.start_byte for s in sections})
    first = starts[0] if starts else len(data)
    start = len(front_matter(text).encode("utf-8", "surrogatepass"))  # no passage of its own
    parts: list[tuple[str, str, str, int, int, int]] = [(path, "", "", start, first, 1 + data[:start].count(b"\n"))]
    ends = dict(zip(starts, [*starts[1:], len(data)], strict=False))
    for section, around in zip(sections, _titles_around(sections, str(matter.get("title", ""))), strict=True):
        end = min(section.end_byte, ends[section.start_byte])
        slug, line = f"{path}#{section.slug}", section.start_row + 1
        parts.append((slug, section.title, around, section.start_byte, end, line))
    with_parts = {section.parent for section in sections}
    empty: list[str] = []  # titles of the sections just before that have no text of their own
    for number, (passage_id, title, around, start, end, line) in enumerate(parts, -1):
        section_text = data[start:end].decode("utf-8", "replace").strip()
        if not re.search(r"\w", section_text):
            continue
        if title and number in with_parts and len(_LINE_WITH_WORDS.findall(section_text)) == 1:
            empty.append(title)
            continue
        section_text = f"{around}\n\n{section_text}" if around else section_text
        for i, (piece, links) in enumerate(_split_section(section_text, path)):
            metadata: dict[str, Any] = {**matter, "path": path, "line": line}
            if title:
                metadata["title"] = ": ".join([*empty, title])
            if links:
                metadata["references"] = links
            text_of = piece if i == 0 or not title else f"{_join_titles(around, title)}\n\n{piece}"
            passages.append(Document(passage_id if i == 0 else f"{passage_id}~part{i + 1}", text_of, metadata))
        empty = []
    return passages


def _titles_around(sections: Sequence[Passage], title: str) -> list[str]:
    """Return the titles of the sections around each section, outermost first; `title` is that of the document.

    Many sections are called alike ("Decision", "Usage"), and do not say what of.
    """
    found: list[str] = []
    for section in sections:
        if section.parent >= 0:
            found.append(_join_titles(found[section.parent], sections[section.parent].title))
        else:
            found.append("" if title.casefold() in section.title.casefold() else title)
    return found


def _join_titles(*titles: str) -> str:
    return " > ".join(filter(None, titles))


def _with_paths_from(folder: str, names: Sequence[str]) -> list[str]:
    """Return names of documents as written, and as paths from the root if they are meant from a folder."""
    return list(dict.fromkeys([*names, *(posixpath.normpath(posixpath.join(folder, name)) for name in names)]))


def split_pdf(path: str, data: bytes) -> tuple[list[Document], str]:
    """Return (passages of a PDF file, note on its unreadable parts); a passage is a page or a part of one."""
    read = read_pdf(data, path)
    passages: list[Document] = []
    for page in read.pages:
        text = _decode(page.text.encode("utf-8", "replace"))
        title = page.title or (read.title if page.number == 1 else "")
        for i, (piece, _) in enumerate(_split_section(text, path)):
            metadata: dict[str, Any] = {"path": path, "page": page.number, **({"title": title} if title else {})}
            passage_id = f"{path}#page-{page.number}"
            passages.append(Document(passage_id if i == 0 else f"{passage_id}~part{i + 1}", piece, metadata))
    return passages, read.note


def resolve_references(passages: list[Document]) -> list[Document]:
    """Return the passages with references resolved to passage ids.

    A link with a fragment means the section of that slug, or the first one in it, a link to a document its first
    passage. A name means the only section of that title.
    """
    ids = {each.id for each in passages}
    first: dict[str, str] = {}
    titled: dict[str, list[str]] = {}
    for each in passages:
        path, title = each.metadata["path"], each.metadata.get("title", "")
        first.setdefault(path, each.id)
        for above in title.split(": ")[:-1]:  # of sections without text
            first.setdefault(f"{path}#{title_slug(above)}", each.id)
        if "title" in each.metadata and "~part" not in each.id:
            titled.setdefault(each.metadata["title"].lower(), []).append(each.id)

    def target(link: str) -> str | None:
        path, _, slug = link.partition("#")
        if link in ids:
            return link
        if link.startswith("::"):
            named = titled.get(link[2:].lower(), [])
            return named[0] if len(named) == 1 else None
        for candidate in (path, *(f"{path}{suffix}" for suffix in (*TEXT_SUFFIXES, *HTML_SUFFIXES)),
                          f"{path}/index.md", f"{path}/README.md"):  # fmt: skip
            if candidate in first:
                section = f"{candidate}#{slug}"
                return section if section in ids else first.get(section, first[candidate])
        return None

    resolved = []
    for each in passages:
        links = [t for link in each.metadata.get("references", ()) if (t := target(link)) and t != each.id]
        metadata = {key: value for key, value in each.metadata.items() if key != "references"}
        if links:
            metadata["references"] = list(dict.fromkeys(links))
        resolved.append(Document(each.id, each.text, metadata))
    return resolved


def _split_section(text: str, path: str) -> Iterator[tuple[str, list[str]]]:
    """Yield (text without link targets, link targets) of each part of a section."""
    part: list[str] = []
    size = 0
    for paragraph in chain.from_iterable(map(_split_lines, _split_paragraphs(text))):
        if part and size + len(paragraph) > _MAX_PASSAGE_CHARACTERS:
            yield _strip_links("\n\n".join(part), path)
            part, size = [], 0
        part.append(paragraph)
        size += len(paragraph)
    if part:
        yield _strip_links("\n\n".join(part), path)


def _split_paragraphs(text: str) -> list[str]:
    """Return the paragraphs; a fenced block belongs to the paragraph before it."""
    paragraphs: list[str] = []
    is_open = False
    for paragraph in re.split(r"\n\s*\n", text):
        if is_open:
            paragraphs[-1] += f"\n\n{paragraph}"
        else:
            paragraphs.append(paragraph)
        is_open ^= len(_FENCE.findall(paragraph)) % 2 == 1
    return paragraphs


def _split_lines(paragraph: str) -> list[str]:
    """Return a paragraph, cut between lines if it is too long: logs of chats have no empty lines."""
    if len(paragraph) <= _MAX_PASSAGE_CHARACTERS or _FENCE.search(paragraph):
        return [paragraph]
    pieces: list[list[str]] = [[]]
    size = 0
    for line in paragraph.split("\n"):
        if pieces[-1] and size + len(line) > _MAX_PASSAGE_CHARACTERS:
            pieces.append([])
            size = 0
        pieces[-1].append(line)
        size += len(line) + 1
    return ["\n".join(piece) for piece in pieces]


def _with_inline_links(text: str) -> str:
    """Return Markdown with links by label as links with an address; the lines that give these are empty."""
    targets = {_fold_label(match["label"]): match["target"] for match in reversed([*_MEANING_OF_LABEL.finditer(text)])
               if match["label"]}  # fmt: skip
    if not targets:
        return text

    def link(match: re.Match[str]) -> str:
        target = targets.get(_fold_label(match["label"] or match["text"])) if match["text"] else None
        return match[0] if target is None else f"[{match['text']}]({target.replace('(', '%28').replace(')', '%29')})"

    return _LABELED.sub(link, _MEANING_OF_LABEL.sub(lambda match: "" if match["label"] else match[0], text))


def _fold_label(label: str) -> str:
    return " ".join(label.split()).casefold()


def _strip_links(text: str, path: str) -> tuple[str, list[str]]:
    links: dict[str, None] = {}

    def link(match: re.Match[str]) -> str:
        goal = _link_target(match[2], path)
        if goal and not match[0].startswith("!"):
            links[goal] = None
        return match[1]

    def role(match: re.Match[str]) -> str:
        shown, goal = match[2], match[3] or match[2]
        if match[1] == "doc":
            links[_link_target(goal, path) or goal] = None
        elif match[1] == "pep" and goal.strip().isdigit():
            links[_link_target(f"pep-{int(goal):04}", path) or goal] = None
            shown = f"PEP {shown}" if shown.strip().isdigit() else shown
        elif goal:
            links[f"::{goal}"] = None
        return shown if match[1] in ("doc", "ref", "term", "pep", "rfc") else f"`{shown}`"

    def hyperlink(match: re.Match[str]) -> str:
        goal = _link_target(match[2], path) if match[2] else f"::{' '.join(match[1].split())}"
        if goal:
            links[goal] = None
        return match[1]

    def macro(match: re.Match[str]) -> str:
        if goal := _link_target(match[1], path):
            links[goal] = None
        return match[2] or match[1]

    text = _HYPERLINK.sub(hyperlink, _ROLE.sub(role, _LINK.sub(link, text)))
    return _MACRO.sub(macro, text), list(links)


def _link_target(link: str, path: str) -> str | None:
    """Return a link as a path from the root, with its fragment; None if it leads outside of the documents."""
    if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//", link) or not link:
        return None
    goal, _, fragment = unquote(link).partition("#")
    goal = goal.partition("?")[0]
    if not goal:
        return f"{path}#{fragment}" if fragment else None
    target = goal.lstrip("/") if goal.startswith("/") else posixpath.join(posixpath.dirname(path), goal)
    target = posixpath.normpath(target)
    return f"{target}#{fragment}" if fragment else target


def _decode(data: bytes) -> str:
    if data.startswith(_UTF16_MARKS):
        data = data.decode("utf-16", "replace").encode("utf-8")
    data = mask_secrets(data, find_secrets(data))
    text = data.decode("utf-8", "replace")
    if _REPLACEMENT in text and not any(c > "\x7f" and c != _REPLACEMENT for c in text):
        text = data.decode("cp1252", "replace")  # older encoding: no byte beyond ASCII is valid UTF-8
    return text.replace("\r\n", "\n").removeprefix("\ufeff")


def _display_path(path: Path, base: Path) -> str:
    try:
        return path.relative_to(base.resolve()).as_posix()
    except ValueError:
        return path.as_posix()


# -- excerpts

_WORD = re.compile(r"[^\W_]\w*")
_BREAK = re.compile(r"(?<=[.!?:;])\s+|\n+|\s\|\s")  # between sentences, lines and cells
# A heading, with the titles around it before; or these alone, before a later part of a section.
_HEADING = re.compile(r"\A(?:[^\n]+\n\n)?(?:#{1,6} [^\n]*\n+|[^\n]+\n[=~^\"'`*+-]{3,}\n+)|\A[^\n]+ > [^\n]+\n\n")
_MARKS = re.compile(r"^[\s|#>*-]+|[\s|]+$")


class Excerpt(NamedTuple):
    """Excerpt of a passage; `words` are the query words that the passage contains, as the query writes them."""

    text: str
    words: tuple[str, ...]


def find_excerpt(text: str, query: str, *, names: Iterable[str] = (), length: int = 240) -> Excerpt:
    r"""Return an excerpt of about `length` characters in one line, starting at a sentence.

    An ellipsis marks omitted text at either end. A query word counts 1; a word of `names` (entity ids) counts 0.5.

    >>> find_excerpt("# Leave\n\nIt is fair. New parents get 16 weeks. Ask Ada.", "How many weeks?", length=28)
    Excerpt(text='… New parents get 16 weeks. …', words=('weeks',))
    """
    body = _HEADING.sub("", text, count=1) or text
    query_terms = _query_terms(query)
    name_weights = {term: 0.5 for name in names for term in _split_terms(name.replace("_", " "))}
    weights = {**name_weights, **dict.fromkeys(query_terms, 1.0)}
    parts = [part for raw in _BREAK.split(body) if (part := " ".join(_MARKS.sub("", raw).split()))]
    terms_by_part = [set(_split_terms(part)) & weights.keys() for part in parts]
    matched_terms = set().union(*terms_by_part) | (set(_split_terms(text)) & query_terms.keys())
    words = tuple(dict.fromkeys(query_terms[term] for term in query_terms if term in matched_terms))
    best, first, last = -1.0, 0, 0
    for start in range(len(parts)):
        size, shown_terms, end = 0, set[str](), start
        while end < len(parts) and (end == start or size + len(parts[end]) <= length):
            size += len(parts[end]) + 1
            shown_terms |= terms_by_part[end]
            end += 1
        value = sum(weights[term] for term in sorted(shown_terms))
        if value > best:
            best, first, last = value, start, end
    shown = " ".join(parts[first:last])
    is_cut = len(shown) > 2 * length
    if is_cut:
        shown = _cut_around_match(shown, weights, length)
    before, behind = "… " if first and not shown.startswith("…") else "", " …" if last < len(parts) or is_cut else ""
    return Excerpt(f"{before}{shown}{behind}", words)


def _cut_around_match(text: str, weights: dict[str, float], length: int) -> str:
    """Return a part of a long sentence around the first query word."""
    for match in _WORD.finditer(text):
        if weights.keys() & set(run_terms(match[0])):
            start = max(0, match.start() - length // 4)
            start = text.rfind(" ", 0, start) + 1 if start else 0
            shown = text[start : start + length]
            return ("… " if start else "") + (shown.rpartition(" ")[0] or shown)
    return text[:length].rpartition(" ")[0] or text[:length]


def _query_terms(query: str) -> dict[str, str]:
    """Return the terms of the query, each with the word that contains it."""
    words = _WORD.findall(query)
    content_words = [word for word in words if word.lower() not in STOP_WORDS] or words
    word_by_term: dict[str, str] = {}
    for word in content_words:
        for term in run_terms(word, is_query=True):
            word_by_term.setdefault(term, word)
    return word_by_term


def _split_terms(text: str) -> list[str]:
    return [term for word in _WORD.findall(text) for term in run_terms(word)]
