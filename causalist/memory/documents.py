"""Documents -> passages: the sections of Markdown, reStructuredText, AsciiDoc, HTML, plain text and PDF.

A passage is a section without its subsections; a long one is cut between paragraphs. Its id is the path and the slug of
its heading, as ids of documentation in a code graph are; text before the first heading has the path alone. Links to
other documents become references, secrets are masked, and markup that says nothing is left out.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from causalist.errors import ExtraMissing, NothingToIndex, RepositoryNotFound
from causalist.memory.document_text import LARGEST_PDF, read_pdf
from causalist.memory.html_text import html_to_markdown
from causalist.parse import find_secrets, masked
from causalist.parse.prose import prose_kind, read_passages
from causalist.source import Limits, SkipReason, read_bytes, scan_folder

TEXT_SUFFIXES = (".md", ".mdx", ".markdown", ".rst", ".txt", ".text", ".adoc", ".asciidoc")
HTML_SUFFIXES = (".html", ".htm", ".xhtml")
PDF_SUFFIX = ".pdf"
_LONGEST = 3_000  # characters of a passage, but for paragraphs that are longer by themselves
_LINK = re.compile(r"!?\[([^\[\]]*)\]\(\s*<?([^()<>\s]*)>?(?:\s+[\"'][^\"']*[\"'])?\s*\)")
_ROLE = re.compile(
    r":(doc|ref|mod|class|func|meth|term|pep|rfc|attr|exc|data|keyword):`~?!?([^`<>]*?)(?:\s*<([^<>`]*)>)?`"
)
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_DATE = re.compile(r"^(?:date|last_updated|updated|created):\s*[\"']?(\d{4}-\d\d-\d\d(?:T[\d:]+Z?)?)", re.MULTILINE)
SUFFIXES = (*TEXT_SUFFIXES, *HTML_SUFFIXES, PDF_SUFFIX)
_LARGEST = 20_000_000  # bytes of a document that is no PDF
_LIMITS = Limits(max_file_bytes=_LARGEST)
_PROBE = 8_000  # bytes in which a text has no zero
_REPLACED = "\ufffd"
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")  # of UTF-16, as some editors write it


@dataclass(frozen=True, slots=True)
class Document:
    """A passage to be: `references` are ids of passages, or paths of documents, that it links to."""

    id: str
    text: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Found:
    """A document that there is. `root` and `path`: where; `name`: the same seen from the base; `is_named`: by itself,
    not as part of a folder."""

    name: str
    root: Path
    path: str
    is_named: bool

    @property
    def is_pdf(self) -> bool:
        return self.path.lower().endswith(PDF_SUFFIX)

    def data(self) -> bytes | str:
        """The content, or why it cannot be had."""
        most = LARGEST_PDF if self.is_pdf else _LARGEST
        data = (self.root / self.path).read_bytes() if self.is_named else read_bytes(self.root, self.path, most + 1)
        if isinstance(data, str):
            return data
        if len(data) > most:
            return SkipReason.TOO_LARGE.value
        is_binary = b"\0" in data[:_PROBE] and not data.startswith(_WIDE_MARKS)
        return SkipReason.BINARY.value if is_binary and not self.is_pdf else data


@dataclass(slots=True)
class Reading:
    """What was read: passages, paths of the documents, and what stayed out with the reason."""

    passages: list[Document] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)

    def add(self, found: Found, data: bytes | str) -> list[Document]:
        """The passages of a document, with references as they are written; added to those that are there. Raises what
        `read_documents` does."""
        try:
            if isinstance(data, str):
                raise NothingToIndex(f"{found.name} cannot be read: {data}")
            passages, note = (
                pdf_passages(found.name, data) if found.is_pdf else (passages_of(found.name, _decoded(data)), "")
            )
        except (NothingToIndex, ExtraMissing) as error:
            if found.is_named:
                raise
            self.skipped[found.name] = data if isinstance(data, str) else str(error).removeprefix(f"{found.name} ")
            return []
        if note:
            self.skipped[found.name] = note
        self.paths.append(found.name)
        self.passages += passages
        return passages

    def take(self, name: str, passages: list[Document], note: str) -> None:
        """Adds a document that was read before; `note`: what could not be read of it."""
        if note:
            self.skipped[name] = note
        if passages:
            self.paths.append(name)
            self.passages += passages

    def resolved(self) -> "Reading":
        """With references to passages that there are, sorted by document. Raises NothingToIndex where none is."""
        if not self.passages:
            why = "".join(f"; {name}: {reason}" for name, reason in list(self.skipped.items())[:3])
            raise NothingToIndex(f"no document was found; these are read: {', '.join(SUFFIXES)}{why}")
        return Reading(resolved(self.passages), self.paths, self.skipped)


def documents_in(places: Iterable[Path], base: Path, skipped: dict[str, str]) -> list[Found]:
    """The documents of folders, and files that are named, by name; each once. What stays out of a folder because of its
    size is put into `skipped`. Raises RepositoryNotFound."""
    found: dict[str, Found] = {}
    for place in places:
        if place.is_dir():
            root = place.resolve()
            scan = scan_folder(root, _LIMITS, also={PDF_SUFFIX: LARGEST_PDF})
            for path in scan.examples.get(SkipReason.TOO_LARGE.value, ()):
                if path.lower().endswith(SUFFIXES):
                    skipped[_named(root / path, base)] = SkipReason.TOO_LARGE.value
            for entry in scan.entries:
                if entry.path.lower().endswith(SUFFIXES):
                    name = _named(root / entry.path, base)
                    found.setdefault(name, Found(name, root, entry.path, False))
        elif place.is_file():
            whole = place.resolve()
            name = _named(whole, base)
            found[name] = Found(name, whole.parent, whole.name, True)
        else:
            raise RepositoryNotFound(f"{place} is neither a folder nor a file")
    return [found[name] for name in sorted(found)]


def read_documents(places: Iterable[Path], base: Path) -> Reading:
    """The documents below folders, and files that are named. Paths are relative to `base`, or absolute outside of it.

    What git or `.causalistignore` ignores, and what never is indexed, stays out of folders. A document that cannot be
    read stays out of a folder, with the reason in `skipped`; where it is named, that is an error. Raises
    RepositoryNotFound, NothingToIndex, ExtraMissing (PDF files need the extra `pdf`)."""
    reading = Reading()
    for found in documents_in(places, base, reading.skipped):
        reading.add(found, found.data())
    return reading.resolved()


def passages_of(path: str, text: str) -> list[Document]:
    """The passages of one document; references are still as they are written, seen from the root."""
    if path.lower().endswith(HTML_SUFFIXES):
        text = html_to_markdown(text)
        reader = f"{path}.md"
    else:
        reader = path if prose_kind(path) != "plain" else f"{path}.txt"
    dated = _DATE.search(text[:2_000]) if text.startswith("---") else None
    data = text.encode("utf-8", "surrogatepass")
    found: list[Document] = []
    sections = read_passages(reader, text)
    starts = sorted({s.start_byte for s in sections})
    first = starts[0] if starts else len(data)
    parts: list[tuple[str, str, int, int, int]] = [(path, "", 0, first, 1)]
    ends = dict(zip(starts, [*starts[1:], len(data)], strict=False))
    for section in sections:
        end = min(section.end_byte, ends[section.start_byte])
        parts.append((f"{path}#{section.slug}", section.title, section.start_byte, end, section.start_row + 1))
    for passage_id, title, start, end, line in parts:
        own = data[start:end].decode("utf-8", "replace").strip()
        if not re.search(r"\w", own):
            continue
        for i, (piece, links) in enumerate(_pieces(own, path)):
            metadata: dict[str, Any] = {"path": path, "line": line}
            if title:
                metadata["title"] = title
            if links:
                metadata["references"] = links
            if dated:
                metadata["timestamp"] = dated[1]
            text_of = piece if i == 0 or not title else f"{title}\n\n{piece}"
            found.append(Document(passage_id if i == 0 else f"{passage_id}~part{i + 1}", text_of, metadata))
    return found


def pdf_passages(path: str, data: bytes) -> tuple[list[Document], str]:
    """(the passages of a PDF file, a page each, and what could not be read of it)."""
    read = read_pdf(data, path)
    found: list[Document] = []
    for page in read.pages:
        text = _decoded(page.text.encode("utf-8", "replace"))
        title = page.title or (read.title if page.number == 1 else "")
        for i, (piece, _) in enumerate(_pieces(text, path)):
            metadata: dict[str, Any] = {"path": path, "page": page.number, **({"title": title} if title else {})}
            passage_id = f"{path}#page-{page.number}"
            found.append(Document(passage_id if i == 0 else f"{passage_id}~part{i + 1}", piece, metadata))
    return found, read.note


def resolved(passages: list[Document]) -> list[Document]:
    """References as ids of passages that there are: a section by its slug, a document by its first passage, what is
    called by a name by the only section of that title."""
    ids = {each.id for each in passages}
    first: dict[str, str] = {}
    titled: dict[str, list[str]] = {}
    for each in passages:
        first.setdefault(each.metadata["path"], each.id)
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
                return section if section in ids else first[candidate]
        return None

    found = []
    for each in passages:
        links = [t for link in each.metadata.get("references", ()) if (t := target(link)) and t != each.id]
        metadata = {key: value for key, value in each.metadata.items() if key != "references"}
        if links:
            metadata["references"] = list(dict.fromkeys(links))
        found.append(Document(each.id, each.text, metadata))
    return found


def _pieces(text: str, path: str) -> Iterator[tuple[str, list[str]]]:
    """(text without the targets of links, the targets) of the parts of a section, cut between paragraphs."""
    part: list[str] = []
    size = 0
    for paragraph in _paragraphs(text):
        if part and size + len(paragraph) > _LONGEST:
            yield _plain("\n\n".join(part), path)
            part, size = [], 0
        part.append(paragraph)
        size += len(paragraph)
    if part:
        yield _plain("\n\n".join(part), path)


def _paragraphs(text: str) -> list[str]:
    """Paragraphs; a fenced block is one with what stands before it."""
    found: list[str] = []
    is_open = False
    for paragraph in re.split(r"\n\s*\n", text):
        if is_open:
            found[-1] += f"\n\n{paragraph}"
        else:
            found.append(paragraph)
        is_open ^= len(_FENCE.findall(paragraph)) % 2 == 1
    return found


def _plain(text: str, path: str) -> tuple[str, list[str]]:
    links: dict[str, None] = {}

    def link(match: re.Match[str]) -> str:
        goal = _target(match[2], path)
        if goal and not match[0].startswith("!"):
            links[goal] = None
        return match[1]

    def role(match: re.Match[str]) -> str:
        shown, goal = match[2], match[3] or match[2]
        if match[1] == "doc":
            links[_target(goal, path) or goal] = None
        elif match[1] == "pep" and goal.strip().isdigit():
            links[_target(f"pep-{int(goal):04}", path) or goal] = None
            shown = f"PEP {shown}" if shown.strip().isdigit() else shown
        elif goal:
            links[f"::{goal}"] = None
        return shown if match[1] in ("doc", "ref", "term", "pep", "rfc") else f"`{shown}`"

    return _ROLE.sub(role, _LINK.sub(link, text)), list(links)


def _target(link: str, path: str) -> str | None:
    """A link as a path from the root, with its fragment; None where it leads elsewhere."""
    if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//", link) or not link:
        return None
    goal, _, fragment = unquote(link).partition("#")
    goal = goal.partition("?")[0]
    if not goal:
        return f"{path}#{fragment}" if fragment else None
    whole = goal.lstrip("/") if goal.startswith("/") else posixpath.join(posixpath.dirname(path), goal)
    whole = posixpath.normpath(whole)
    return f"{whole}#{fragment}" if fragment else whole


def _decoded(data: bytes) -> str:
    if data.startswith(_WIDE_MARKS):
        data = data.decode("utf-16", "replace").encode("utf-8")
    data = masked(data, find_secrets(data))
    text = data.decode("utf-8", "replace")
    if _REPLACED in text and not any(c > "\x7f" and c != _REPLACED for c in text):
        text = data.decode("cp1252", "replace")  # an older text: nothing beyond ASCII in it is UTF-8
    return text.replace("\r\n", "\n").removeprefix("\ufeff")


def _named(path: Path, base: Path) -> str:
    try:
        return path.relative_to(base.resolve()).as_posix()
    except ValueError:
        return path.as_posix()
