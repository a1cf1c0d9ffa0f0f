"""Files of a folder or a git tree, and diagnostics."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from causalist._internal.lazy import dataclass, lazy_regex


class SetAside(StrEnum):
    """Kind of text that is generated or repeated.

    Such a file has no passages and no weight in ranking. Its name and its literals are found, and what it defines is
    resolved if it is code that others may call (`DEFINING_KINDS`).
    """

    LOCK_FILE = "lock file"
    MINIFIED = "minified"
    BUNDLE = "bundle"
    SOURCE_MAP = "source map"
    GENERATED = "generated"
    DOCUMENTATION = "generated documentation"
    SNAPSHOT = "snapshot"
    DATA = "data"
    TRANSLATION = "translation"
    COPY = "vendored copy"


DEFINING_KINDS = frozenset({SetAside.GENERATED, SetAside.COPY})
IS_SOURCE = "source"  # said of a file that no rule may set aside


def is_parsed(kind: str) -> bool:
    """Return True if a file of this `SetAside`, or of "", has facts beyond its name."""
    return not kind or kind in DEFINING_KINDS


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file that will be indexed, known by its metadata alone.

    `path` is POSIX and relative to the root. `blob` is git's object name of the content if it is known without
    reading (a git tree knows it, a folder does not). `mtime_ns` is 0 for files of a git tree. `ctime_ns` is when
    the file was last changed in any way, which programs cannot set; 0 where the system does not tell.
    """

    path: str
    size: int
    mtime_ns: int
    blob: str | None = None
    ctime_ns: int = 0


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file with its content. `blob` is git's SHA-1 object name of `data`."""

    path: str
    data: bytes
    blob: str


@dataclass(frozen=True, slots=True)
class Scan:
    """The files of a folder or tree.

    `entries` are sorted by path; `skipped` counts files by reason; `examples` names up to three paths for each reason.
    `links` are (path of a symbolic link, path that it leads to), sorted, both below the root; whether anything is there
    is not asked. `kept` are the patterns of files that the settings call source.
    """

    entries: tuple[FileEntry, ...]
    skipped: Mapping[str, int]
    examples: Mapping[str, tuple[str, ...]]
    commit: str | None = None
    links: tuple[tuple[str, str], ...] = ()
    kept: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Changes:
    """Differences between a commit and a folder.

    `rows` has (first, last) 0-based rows of each changed file as it is now, `deleted` the paths of deleted files.
    """

    commit: str
    rows: Mapping[str, tuple[tuple[int, int], ...]]
    deleted: tuple[str, ...]


class DiagnosticSlug(StrEnum):
    """Slugs of diagnostics; each has an entry in docs/messages.md."""

    SYNTAX_ERROR = "syntax-error"
    NOT_UTF_8 = "not-utf-8"
    NOT_A_NOTEBOOK = "not-a-notebook"
    PARSE_TOO_LONG = "parse-too-long"
    NOT_UNDERSTOOD = "not-understood"
    LANGUAGE_MISSING = "language-missing"
    NOT_LINKED = "not-linked"
    MORE_MATCHES = "more-matches"
    PARTLY_READ = "partly-read"
    STALE = "stale"
    STEP_SKIPPED = "step-skipped"
    NOT_CACHED = "not-cached"
    HISTORY_UNREADABLE = "history-unreadable"
    LEARNED_WEIGHTS = "learned-weights"
    BROADENED = "broadened"
    FILTERED_OUT = "filtered-out"
    DEADLINE = "deadline"
    COPIES_LEFT_OUT = "copies-left-out"
    INDEX_NOT_WRITABLE = "index-not-writable"
    LARGE_INDEX = "large-index"
    PARTIAL = "partial"


class Diagnostic(NamedTuple):
    """A problem or doubt beside a result; `slug` leads to an entry in docs/messages.md."""

    slug: str
    detail: str
    row: int


_HISTORY = lazy_regex(
    r"(?:^|/)(?:change-?s|changelogs?|history|news|newsfragments|whatsnew|releases?|release[-_]?notes|upgrading"
    r"|migrat\w+)(?:$|[/.])|(?:^|/)[^/]*(?:changelog|release[-_]notes)[^/]*$",
    re.IGNORECASE,
)


def is_history(path: str) -> bool:
    """Return True for a path of prose that says what changed, such as a changelog."""
    return _HISTORY.search(path) is not None
