"""Text of PDF and HTML files, front matter, checks of passages, and the names that a text defines.

The optional library pypdf reads PDF files. A PDF file stores lines, so paragraphs are rebuilt and running heads are
removed. A page has the outline titles of the sections that start on it as its title. PDF files are untrusted: every
exception of the library becomes an error with a reason, and sizes are limited. HTML keeps headings, paragraphs, list
items, code and links. Nothing is fetched or executed.
"""

import io
import json
import mmap
import re
import struct
import unicodedata
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from html.parser import HTMLParser
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalist._internal.lazy import lazy_regex
from causalist.errors import ExtraMissing, IndexUnreadable, NothingToIndex, UsageError
from causalist.memory.entity_ids import entity_id

MAX_PDF_BYTES = 100_000_000  # bytes
_MAX_PAGES = 5_000
_MAX_CHARACTERS = 20_000_000
_MIN_HEAD_SHARE = 0.5  # share of pages, at least 3, that repeat a running head
_FULL_LINE_SHARE = 0.7  # of the length of long lines; a shorter line ends a paragraph
_NUMBER = lazy_regex(r"\d+|\b[ivxlc]+\b")
_ITEM = lazy_regex(r"(?:[•◦▪·*–-]|\(?\d{1,3}[.)]|\d{1,2}(?:\.\d{1,2}){1,3}|\[\d+\])\s")
_CUT_WORD = lazy_regex(r"[^\W\d_]-$")


class Page(NamedTuple):
    """A page of a PDF file. `number` counts from 1; `title` is its outline title, or ""."""

    number: int
    title: str
    text: str


class Pdf(NamedTuple):
    """Text of a PDF file. `title` is from its metadata; `note` names the unreadable parts, or is ""."""

    title: str
    pages: tuple[Page, ...]
    note: str


def pdf_library_version() -> str:
    """Return the name and version of the PDF library, or "" if it is not installed."""
    try:
        import pypdf
    except ImportError:
        return ""
    return f"pypdf {pypdf.__version__}"


def read_pdf(data: bytes, path: str) -> Pdf:
    """Return the pages of a PDF file that have text.

    Raises ExtraMissing without the library. Raises NothingToIndex if the file has no text, needs a password or is not a
    PDF file.
    """
    try:
        import pypdf
    except ImportError:
        raise ExtraMissing(f'{path} is a PDF file; to read it run: pip install "causalist[pdf]"') from None
    if len(data) > MAX_PDF_BYTES:
        raise NothingToIndex(f"{path} is larger than {MAX_PDF_BYTES:,} bytes")
    with _silence_library():
        try:
            reader = pypdf.PdfReader(io.BytesIO(data))
            is_locked = reader.is_encrypted and not reader.decrypt("")
            n_pages = 0 if is_locked else len(reader.pages)
        except Exception as error:  # a damaged file can raise anything
            raise NothingToIndex(f"{path} cannot be read as PDF: {_format_error(error)}") from error
        if is_locked:
            raise NothingToIndex(f"{path} needs a password; save a copy without one")
        texts, n_failed = _read_pages(reader, min(n_pages, _MAX_PAGES))
        titles, title = _read_page_titles(reader, n_pages), _read_title(reader)
    texts = _without_running_heads(texts)
    pages = tuple(
        Page(number, titles.get(number, ""), text)
        for number, lines in sorted(texts.items())
        if re.search(r"\w", text := "\n\n".join(join_paragraphs(lines)))
    )
    if not pages:
        raise NothingToIndex(f"{path} has no text; run OCR on scanned pages first")
    notes = []
    if n_failed:
        notes.append(f"{n_failed} of {n_pages} pages cannot be read")
    if len(texts) + n_failed < n_pages:
        notes.append(f"only the first {len(texts) + n_failed} of {n_pages} pages were read")
    return Pdf(title, pages, "; ".join(notes))


def join_paragraphs(lines: Sequence[str]) -> list[str]:
    """Return the paragraphs of the lines of a page.

    >>> join_paragraphs(["The Ledger is kept by the Iden-", "tity Team in a book", "of its own.", "• one", "• two"])
    ['The Ledger is kept by the Identity Team in a book of its own.', '• one', '• two']
    """
    sizes = sorted(map(len, lines))
    full = _FULL_LINE_SHARE * sizes[int(0.9 * (len(sizes) - 1))] if sizes else 0.0
    paragraphs: list[str] = []
    before = ""
    for line in lines:
        starts_anew = not before or _ITEM.match(line) or (len(before) < full and not line[:1].islower())
        if starts_anew:
            paragraphs.append(line)
        elif _CUT_WORD.search(before) and line[:1].islower():
            paragraphs[-1] = paragraphs[-1][:-1] + line
        else:
            paragraphs[-1] += f" {line}"
        before = line
    return paragraphs


def _read_pages(reader: Any, n_pages: int) -> tuple[dict[int, list[str]], int]:
    """Return (lines by page number, number of unreadable pages)."""
    texts: dict[int, list[str]] = {}
    n_failed = size = 0
    for number in range(1, n_pages + 1):
        try:
            text = reader.pages[number - 1].extract_text()
        except Exception:  # a damaged page does not affect the others
            n_failed += 1
            continue
        size += len(text)
        if size > _MAX_CHARACTERS:
            break
        clean = text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "")
        texts[number] = [line for each in clean.splitlines() if (line := " ".join(each.split()))]
    return texts, n_failed


def _without_running_heads(texts: dict[int, list[str]]) -> dict[int, list[str]]:
    """Return the pages without running heads.

    A running head is among the first or last two lines and, except for its numbers, on half of the pages. A line with
    nothing but a number at these positions is removed too.
    """
    counts: dict[str, int] = {}
    for lines in texts.values():
        for shape in {_NUMBER.sub("#", line) for line in (*lines[:2], *lines[-2:])}:
            counts[shape] = counts.get(shape, 0) + 1
    least = max(3, _MIN_HEAD_SHARE * len(texts))
    repeated = {shape for shape, n in counts.items() if n >= least or shape == "#"}
    return {
        number: [
            line
            for i, line in enumerate(lines)
            if not ((i < 2 or i >= len(lines) - 2) and _NUMBER.sub("#", line) in repeated)
        ]
        for number, lines in texts.items()
    }


def _read_page_titles(reader: Any, n_pages: int) -> dict[int, str]:
    """Return the title of each page: outline titles that start on it, or else the previous one."""
    starts: dict[int, list[str]] = {}
    try:
        for entry in _flatten_outline(reader.outline):
            number = reader.get_destination_page_number(entry)
            if number is not None and 0 <= number < n_pages and entry.title:
                starts.setdefault(number + 1, []).append(" ".join(str(entry.title).split()))
    except Exception:  # a damaged or cyclic outline: pages have no titles
        return {}
    titles: dict[int, str] = {}
    title = ""
    for number in range(1, n_pages + 1):
        begun = starts.get(number, [])
        if begun or title:
            titles[number] = ("; ".join(begun) or title)[:200]
        title = begun[-1] if begun else title
    return titles


def _flatten_outline(outline: Any, depth: int = 0) -> Iterator[Any]:
    for entry in outline:
        if isinstance(entry, list):
            if depth < 20:
                yield from _flatten_outline(entry, depth + 1)
        else:
            yield entry


def _read_title(reader: Any) -> str:
    try:
        return " ".join(str(reader.metadata.title or "").split())[:200] if reader.metadata else ""
    except Exception:  # damaged metadata: the file has no title
        return ""


def _format_error(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text[:200] or type(error).__name__


@contextmanager
def _silence_library() -> Iterator[None]:
    """Silence the log of the PDF library; unreadable parts are reported as diagnostics instead."""
    import logging  # takes as long as all else that is imported for texts

    logger = logging.getLogger("pypdf")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)


_BLOCK_TAGS = frozenset(
    ("p", "div", "section", "article", "ul", "ol", "dl", "table", "tr", "blockquote", "figure", "main", "aside",
     "details", "summary", "br", "hr", "form", "fieldset")
)  # fmt: skip
_SKIPPED_TAGS = frozenset(
    ("script", "style", "nav", "head", "template", "noscript", "svg", "button", "select", "iframe", "footer")
)
_SKIPPED_CLASSES = (
    "headerlink",
    "anchor",
    "sphinxsidebar",
    "related",
    "toctree",
)  # classes of elements that repeat on every page
_TEMPLATE_CODE = lazy_regex(r"\{\{[^{}]{0,2000}\}\}|\{%[^{}]{0,2000}%\}")  # what a site is built with, not its text
_VOID_TAGS = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)


def html_to_markdown(html: str) -> str:
    r"""Return HTML text as Markdown.

    >>> html_to_markdown("<h1>One<a class=headerlink>¶</a></h1><p>see <a href='b.html'>two</a> <code>x</code>")
    '# One\n\nsee [two](b.html) `x`'
    """
    reader = _MarkdownBuilder()
    reader.feed(html)
    reader.close()
    lines = [
        " ".join(line.split()) if not line.startswith("    ") else line for line in "".join(reader.out).split("\n")
    ]
    text = "\n".join(lines)
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.strip()


class _MarkdownBuilder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.out: list[str] = []
        self._skipped: list[str] = []  # open elements from the first skipped one on
        self._links: list[str | None] = []
        self._pre = 0
        self._is_code = False

    def updatepos(self, i: int, j: int) -> int:
        """Skip counting line numbers, which takes a tenth of the parsing time."""
        return j

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if self._skipped:
            if tag not in _VOID_TAGS:
                self._skipped.append(tag)
            return
        marks = attributes.get("class") or ""
        if tag in _SKIPPED_TAGS or any(mark in marks.split() for mark in _SKIPPED_CLASSES):
            if tag not in _VOID_TAGS:
                self._skipped.append(tag)
        elif len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            self.out.append(f"\n\n{'#' * int(tag[1])} ")
        elif tag == "pre":
            self._pre += 1
            self.out.append("\n\n")
        elif tag == "code" and not self._pre:
            self._is_code = True
            self.out.append("`")
        elif tag == "a":
            href = attributes.get("href")
            self._links.append(href)
            if href:
                self.out.append("[")
        elif tag in ("li", "dt"):
            self.out.append("\n\n- ")
        elif tag in ("td", "th", "dd"):
            self.out.append("\n")
        elif tag in _BLOCK_TAGS:
            self.out.append("\n\n")

    def handle_endtag(self, tag: str) -> None:
        if self._skipped:
            if tag in self._skipped:
                while self._skipped.pop() != tag:
                    pass
            return
        if tag == "pre" and self._pre:
            self._pre -= 1
            self.out.append("\n\n")
        elif tag == "code" and not self._pre:
            self._is_code = False
            self.out.append("`")
        elif tag == "a" and self._links:
            href = self._links.pop()
            if href:
                self.out.append(f"]({href})")
        elif tag in _BLOCK_TAGS or (len(tag) == 2 and tag[0] == "h"):
            self.out.append("\n\n")

    def handle_data(self, data: str) -> None:
        if self._skipped:
            return
        if self._pre:
            self.out.append("\n".join(f"    {line}" for line in data.split("\n")))
        else:
            data = data if self._is_code else _TEMPLATE_CODE.sub(" ", data)
            self.out.append(data.replace("\n", " "))


_DATE = lazy_regex(
    r"^(?:timestamp|date|last_updated|updated|created)\s*[:=]\s*[\"']?(\d{4}-\d\d-\d\d(?:T[\d:]+Z?)?)", re.MULTILINE
)
_FRONT_MATTER = lazy_regex(r"[\s\ufeff]*(---|\+\+\+)[ \t\r]*\n(.*?)^(?:\1|\.\.\.)[ \t\r]*$", re.DOTALL | re.MULTILINE)
PATH_LISTS = ("contradicts", "supersedes")  # of documents, by path or by id of a passage
VISIBLE_TO = "visible_to"  # metadata key: readers of the passage; without it, everyone
NAME_LISTS = (VISIBLE_TO, *PATH_LISTS)
_COMMENT = lazy_regex(r"(?:^|\s)#.*")
_TABLE = lazy_regex(r"^\[[^\]\n]+\]", re.MULTILINE)
_MAX_FRONT_MATTER = 20_000  # characters


def front_matter(text: str) -> str:
    """Return the front matter that a text begins with, with its marks; "" if there is none."""
    block = _FRONT_MATTER.match(text[:_MAX_FRONT_MATTER])
    return "" if block is None else block[0]


def read_front_matter(text: str) -> dict[str, Any]:
    r"""Return what the front matter of a document says of all its passages.

    It is YAML between lines of `---`, or TOML between lines of `+++`. Keys: `title`, which headings replace, a time
    (`timestamp`, or the first of `date`, `last_updated`, `updated` and `created`), `confidence`, and the lists
    `visible_to`, `contradicts` and `supersedes`, in brackets, by commas or as list items. Case, hyphens for
    underscores, and comments do not matter. Other keys, and those of tables, are ignored.

    >>> read_front_matter("---\nvisible_to: [ops, ada]\nconfidence: 0.4\ndate: 2024-03-01\n---\nText")
    {'visible_to': ['ops', 'ada'], 'confidence': 0.4, 'timestamp': '2024-03-01'}
    """
    block = _FRONT_MATTER.match(text[:_MAX_FRONT_MATTER])
    if block is None:
        return {}
    metadata: dict[str, Any] = {}
    names: list[str] | None = None  # of the last list
    is_open = False  # its brackets are
    is_toml = block[1] == "+++"
    lines = (_TABLE.split(block[2])[0] if is_toml else block[2]).splitlines()
    for line in lines:
        key, colon, value = line.partition("=" if is_toml else ":")
        key = key.rstrip().lower().replace("-", "_")
        plain = _COMMENT.sub("", line).strip()
        if names is not None and (is_open or plain.startswith("-")):
            names += _split_names(plain.strip("[]") if is_open else plain[1:])
            is_open = is_open and "]" not in plain
        elif colon and key in NAME_LISTS:
            value = _COMMENT.sub("", value).strip()
            is_open = value.startswith("[") and "]" not in value
            names = metadata[key] = _split_names(value.strip("[]"))
        elif colon:
            names = None
            if key == "title" and (title := value.strip().strip("\"'")):
                metadata[key] = title
            elif key == "confidence" and re.fullmatch(
                r"[01](?:\.\d+)?|\.\d+", value := _COMMENT.sub("", value).strip()
            ):
                metadata[key] = min(1.0, float(value))
    dated = _DATE.search("\n".join(lines))
    return {**metadata, "timestamp": dated[1]} if dated else metadata


def _split_names(text: str) -> list[str]:
    return [name for each in text.split(",") if (name := each.strip().strip("\"'"))]


_SEPARATOR = lazy_regex(r"\s+[—–:-]+\s+|:\s")
_SPAN = lazy_regex(r"`([^`]{1,80})`")
_SECTION_NUMBER = lazy_regex(r"^\s*[\d.]+\s+")
_ARTICLE = lazy_regex(r"^(?:The|A|An)\s+")
_KIND_SUFFIX = lazy_regex(
    r"\s+(?:modules?|objects?|types?|functions?|packages?|class(?:es)?|statements?|librar(?:y|ies)|protocols?"
    r"|interfaces?|services?|teams?)$",
    re.IGNORECASE,
)
_TERM = lazy_regex(
    r"^[ \t]{0,8}-[ \t]+(?:(?:class|exception|async|classmethod|staticmethod|abstractmethod|coroutine|type|int|void"
    r"|const|static|struct|char)[ \t]+|\*){0,4}`?([\w.]{2,80})`?",
    re.MULTILINE,
)
_BRACKETS = lazy_regex(r"\s*\([^()]*\)\s*$")  # "Mercury (planet)" defines Mercury too
_MAX_DEFINED_TERMS = 200  # per passage
_MAX_HEADING = 120  # characters


def find_defined_names(text: str, title: object, leading: str = "") -> list[str]:
    r"""Return the ids of the names that a passage defines, in the order found.

    Without a title, its first line is one, if it is short and no sentence; without such a line, the name that it begins
    with, `leading`, is defined.

    >>> find_defined_names("- class csv.Sniffer()\n\nDeduces.", "13.1. `csv` — CSV File Reading")
    ['csv_—_csv_file_reading', 'csv', 'csv_file_reading', 'csv.sniffer']
    """
    names: dict[str, None] = {}
    heading = title if isinstance(title, str) and title.strip() else find_heading(text)
    if not heading:
        names[entity_id(leading)] = None
    else:
        whole = _SECTION_NUMBER.sub("", heading[:300])
        plain = _BRACKETS.sub("", whole)
        for part in (whole.replace("`", ""), plain, *_SEPARATOR.split(whole), *_SPAN.findall(whole)):
            name = _ARTICLE.sub("", part.replace("`", "").strip())
            names.update(dict.fromkeys((entity_id(name), entity_id(_KIND_SUFFIX.sub("", name)))))
    names.update(dict.fromkeys(entity_id(match[1]) for match in _TERM.finditer(text)))
    names.pop("", None)
    return list(names)[:_MAX_DEFINED_TERMS]


def find_heading(text: str) -> str:
    r"""Return the first line of a text if it is a heading: short, followed by others, no list item and no sentence.

    >>> find_heading("# Leave\n\nNew parents get 16 weeks."), find_heading("All get it.\nAsk Ada.")
    ('Leave', '')
    """
    line, _, more = text.lstrip().partition("\n")
    line = line.strip().lstrip("#=").strip()
    is_short = more.strip() and 0 < len(line) <= _MAX_HEADING
    return line if is_short and line[0] not in "-*+|>" and line[-1] not in ".,;!?…。！？" else ""


REFERENCES = "references"  # metadata key: ids of referenced passages
_MAX_ID_CHARACTERS = 2_000
_SURROGATE = lazy_regex("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    r"""Return a text in NFC, with U+FFFD for lone surrogates, which no file can hold.

    >>> clean_text("a\ud800b") == "a\ufffdb", clean_text("Zoe\u0308") == "Zo\xeb"
    (True, True)
    """
    if text.isascii():
        return text
    try:
        encoded = text.encode("utf-32-le")  # takes less time than a search
    except UnicodeEncodeError:
        text = _SURROGATE.sub("\ufffd", text)
    else:
        if len(text) >= _LONG_TEXT:
            return _normalize_parts(text, np.frombuffer(encoded, dtype="<u4"))
    return unicodedata.normalize("NFC", text)


_LONG_TEXT = 4_000  # characters
_FIRST_MARK = 0x300  # all characters before are in NFC, beside any other


def _normalize_parts(text: str, codes: NDArray[np.uint32]) -> str:
    """Return a text in NFC, given with its characters as numbers.

    Only characters that are not normal anywhere are looked at, each with those before it up to one that is.
    """
    high = np.flatnonzero(codes >= _FIRST_MARK)
    is_changing = np.zeros(int(codes.max(initial=0)) + 1, dtype=np.bool_)
    kinds = np.flatnonzero(np.bincount(codes[high]))
    is_changing[[code for code in kinds.tolist() if not _is_normal_anywhere(code)]] = True
    changing = high[is_changing[codes[high]]]
    breaks = np.flatnonzero(np.diff(changing) > 1) + 1
    parts, end = [], 0
    for run in np.split(changing, breaks) if len(changing) else ():
        first, last = max(int(run[0]) - 1, 0), int(run[-1]) + 1
        parts += [text[end:first], unicodedata.normalize("NFC", text[first:last])]
        end = last
    return "".join([*parts, text[end:]]) if parts else text


@lru_cache(maxsize=10_000)
def _is_normal_anywhere(code: int) -> bool:
    """Return True if a character is in NFC and composes with none before it: no mark, and no part of a syllable."""
    character = chr(code)
    return (
        code < 0x10000
        and not 0x1100 <= code < 0x1200
        and unicodedata.category(character)[0] != "M"
        and unicodedata.is_normalized("NFC", character)
    )


def _clean_value(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [_clean_value(each) for each in value]
    return {clean_text(k): _clean_value(v) for k, v in value.items()} if isinstance(value, dict) else value


def check_passage(passage_id: str, text: str, metadata: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the metadata as a plain copy without lone surrogates. Raises UsageError for an invalid passage."""
    if not isinstance(passage_id, str) or not passage_id.strip() or len(passage_id) > _MAX_ID_CHARACTERS:
        raise UsageError(f"a passage id must have 1 to {_MAX_ID_CHARACTERS} characters, not {str(passage_id)[:80]!r}")
    if _SURROGATE.search(passage_id):
        raise UsageError(f"a passage id must be valid Unicode, not {passage_id[:80]!r}")
    if not isinstance(text, str):
        raise UsageError(f"the text of {passage_id!r} must be a string, not {type(text).__name__}")
    if metadata is None:
        return {}
    try:
        if not isinstance(metadata, Mapping):
            raise TypeError("it is not a mapping")
        plain: dict[str, Any] = _clean_value(json.loads(json.dumps(dict(metadata), allow_nan=False)))
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"the metadata of {passage_id!r} cannot be stored as JSON: {error}") from error
    references = plain.get(REFERENCES, [])
    if not isinstance(references, list) or not all(isinstance(each, str) for each in references):
        raise UsageError(f"{REFERENCES!r} of {passage_id!r} must be a list of passage ids")
    for key in NAME_LISTS:
        if plain.get(key) is not None:
            if not _are_names(plain[key]):
                raise UsageError(f"{key!r} of {passage_id!r} must be a name or a list of names, not {plain[key]!r:.80}")
            plain[key] = list_names(plain[key])
    return plain


def _are_names(value: object) -> bool:
    names = list_names(value)
    return isinstance(names, list) and all(isinstance(each, str) and each.strip() for each in names)


def restore_passage(passage_id: str, text: str, plain: str) -> dict[str, Any]:
    """Return a passage of a file, with metadata in JSON, as `HippoIndex` takes it.

    An invalid list of names is empty, so that the passage is not lost and stays hidden. Raises ValueError, UsageError.
    """
    metadata = json.loads(plain)
    if isinstance(metadata, dict):
        metadata.update({key: [] for key in NAME_LISTS if not (metadata.get(key) is None or _are_names(metadata[key]))})
    return {"id": passage_id, "text": text, "metadata": check_passage(passage_id, text, metadata)}


def list_names(names: Any) -> Any:
    """Return names as they are; one name is a list of one, not of its letters."""
    return [names] if isinstance(names, str) else names


def is_visible(metadata: Mapping[str, Any], readers: Iterable[str]) -> bool:
    """Return True if one of the readers may see a passage. What is no list hides the passage from everyone."""
    allowed = list_names(metadata.get(VISIBLE_TO))
    return allowed is None or (isinstance(allowed, list) and any(reader in allowed for reader in list_names(readers)))


_ROW = struct.Struct("<4s4I")  # marker, CRC-32 of what follows it, and the lengths of id, text and metadata
ROW_MARKER = b"\xff\x00\xfeP"  # no UTF-8


def pack_passage(passage: str, text: str, metadata: Mapping[str, Any]) -> bytes:
    """Return a passage as one row of a file."""
    parts = [each.encode() for each in (passage, text, json.dumps(metadata))]
    body = struct.pack("<3I", *map(len, parts)) + b"".join(parts)
    return ROW_MARKER + struct.pack("<I", zlib.crc32(body)) + body


def unpack_passage(row: bytes | mmap.mmap, start: int = 0) -> tuple[str, str, str]:
    """Return (id, text, metadata as JSON) of a row that begins at `start`. Raises IndexUnreadable if it is damaged."""
    try:
        marker, checksum, *sizes = _ROW.unpack_from(row, start)
        ends = list(accumulate(sizes, initial=start + _ROW.size))
        if marker != ROW_MARKER or ends[-1] > len(row) or zlib.crc32(row[start + 8 : ends[-1]]) != checksum:
            raise ValueError("wrong checksum")
        passage, text, metadata = (row[a:b].decode() for a, b in pairwise(ends))
        return passage, text, metadata
    except (struct.error, ValueError) as error:
        raise IndexUnreadable(f"a passage of the memory is damaged: {error}") from error


def find_rows(data: bytes | mmap.mmap) -> Iterator[tuple[int, str, str, str]]:
    """Yield (place, id, text, metadata as JSON) of all whole rows anywhere in `data`."""
    start = data.find(ROW_MARKER)
    while start >= 0:
        with suppress(IndexUnreadable):
            yield (start, *unpack_passage(data, start))
        start = data.find(ROW_MARKER, start + 1)
