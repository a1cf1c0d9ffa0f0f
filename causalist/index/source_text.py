"""Source text as it may be shown: the one place where an answer reads the repository.

In: an index, a way to read its files, hits. Out: their text, which files are no longer what was indexed, and which
files that the index left out hold a word. Secrets are masked by the spans that were found when a file was parsed, so
that nothing is searched for again.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from causalist.errors import GitError
from causalist.model.index import Index, Manifest
from causalist.model.node_ids import split_id
from causalist.model.scores import Hit
from causalist.model.source import Diagnostic, DiagnosticSlug, FileEntry, SetAside, SourceFile, is_parsed
from causalist.parse import mask_range, mask_secrets, view_of
from causalist.source import SkipReason
from causalist.source.exclusion import CODE_SUFFIXES

_MAX_FILES_NAMED = 3  # changed files that the diagnostic names


class SourceText:
    """Source text of hits; each file is read once.

    A file that changed since it was indexed has no text, because the spans of the index would cut it in wrong places.
    `changed_paths` lists such files, `read_paths` all files that were read.
    """

    def __init__(self, manifest: Manifest, read: Callable[[FileEntry], SourceFile | str]) -> None:
        self._manifest = manifest
        self._read = read
        self._files: dict[str, bytes] = {}
        self.changed_paths: list[str] = []
        self.read_paths: dict[str, None] = {}  # paths of all files that were read

    def get_text(self, hit: Hit) -> str:
        """Return the text of a hit, from the indentation of its first line; "" if its file changed."""
        data = self._content(hit.path)
        line = data.rfind(b"\n", 0, hit.start_byte) + 1
        before = data[line : hit.start_byte]
        # A definition in the middle of a line is shown as far in as the line is.
        indent = before[: len(before) - len(before.lstrip())]
        text = mask_range(data, hit.start_byte, min(hit.end_byte, len(data)), self._secrets(hit.path))
        return (indent + text).decode("utf-8", "replace")

    def load(self, path: str) -> None:
        """Read a file whose text will be shown."""
        self._content(path)

    def read_text(self, path: str) -> str:
        """Return the text of a file without caching it; "" if it changed.

        Masks of secrets have the length of the secrets.
        """
        return self.read_bytes(path).decode("utf-8", "replace")

    def read_bytes(self, path: str) -> bytes:
        """Return the bytes of a file that the spans of the index refer to; b"" if it changed.

        The bytes are not cached.
        """
        return self._files.get(path) or self._read_again(path)

    def get_line(self, node_id: str, line: int | None) -> str:
        """Return a line (1-based) of the file of a node, stripped; "" if there is none."""
        if line is None:
            return ""
        path = split_id(node_id)[0]
        data = self._content(path)
        lines = data.split(b"\n", line)
        if line > len(lines):
            return ""
        start = sum(map(len, lines[: line - 1])) + line - 1
        return (
            mask_range(data, start, start + len(lines[line - 1]), self._secrets(path))
            .decode("utf-8", "replace")
            .strip()
        )

    def _is_known_by_name(self, path: str) -> bool:
        rows = self._manifest.aside.prefix_range(f"{path}\0")
        return bool(rows) and not is_parsed(self._manifest.aside[rows[0]].partition("\0")[2])

    def holds(self, path: str, literal: str) -> bool:
        """Return True if a file as it is now has a literal, which may be part of a secret."""
        source = self._read(FileEntry(path, 0, 0))
        return not isinstance(source, str) and literal.encode() in source.data

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Return one diagnostic that names changed files, if there are any."""
        if not self.changed_paths:
            return ()
        n_more = len(self.changed_paths) - _MAX_FILES_NAMED
        named = ", ".join(self.changed_paths[:_MAX_FILES_NAMED]) + (f" and {n_more} more" if n_more > 0 else "")
        return (
            Diagnostic(
                DiagnosticSlug.STALE, f"changed since they were indexed, shown without their source: {named}", -1
            ),
        )

    def _content(self, path: str) -> bytes:
        if path not in self._files:
            self._files[path] = self._read_again(path)
        return self._files[path]

    def _secrets(self, path: str) -> list[tuple[int, int]]:
        return self._manifest.secrets.of(self._manifest.paths.position(path))

    def _read_again(self, path: str) -> bytes:
        self.read_paths[path] = None
        indexed = self._manifest.blobs[self._manifest.paths.position(path)]
        if not indexed:
            return b""  # found unfit when it was indexed
        source = self._read(FileEntry(path, 0, 0))
        if not isinstance(source, str) and source.blob == indexed:
            if self._is_known_by_name(path):  # it was not searched for secrets yet
                from causalist.parse import find_secrets

                return mask_secrets(source.data, find_secrets(source.data))
            return mask_secrets(view_of(path, source.data), self._secrets(path))
        if path not in self.changed_paths:
            self.changed_paths.append(path)
        return b""


_MAX_UNREAD_BYTES = 20_000_000  # of one file that the index left out
_MAX_UNREAD_BYTES_OF_ALL = 200_000_000
_MAX_UNREAD_NAMED = 3
_MAX_IN_PART = 200  # files with errors that are searched
_IN_PART = "parsed in part"
_CODE_BY_NAME = (SetAside.MINIFIED, SetAside.BUNDLE)  # code that is not parsed
_SEARCHED = (SkipReason.TOO_LARGE, SkipReason.WIDE, SkipReason.MINIFIED, SkipReason.TOO_MANY)


class UnreadFile(NamedTuple):
    """A file that was not read, or not all of it, and why."""

    path: str
    reason: str


def describe_unread(unread: Sequence[UnreadFile], may: str = "use") -> str:
    """Return a note that names files that were not read and what they `may` do; "" for none; without a line end."""
    if not unread:
        return ""
    named = ", ".join(f"{each.path} ({each.reason})" for each in unread[:_MAX_UNREAD_NAMED])
    more = f" and {len(unread) - _MAX_UNREAD_NAMED} more" if len(unread) > _MAX_UNREAD_NAMED else ""
    files = "1 file that was not read has" if len(unread) == 1 else f"{len(unread)} files that were not read have"
    return f"note: {files} this name and may {may} it: {named}{more}"


def unread_files(
    root: Path, index: Index, names: Iterable[str], read: Callable[[FileEntry], SourceFile | str]
) -> tuple[UnreadFile, ...]:
    """Return the files with one of these words that are not in the index or only in part, by path.

    A file that cannot be read at all counts as one that has the word.
    """
    from causalist.source import as_utf8, blobs_with_words, read_bytes  # an answer needs none of them

    words = sorted({name for name in names if name})
    if not words:
        return ()
    pattern = re.compile(rb"(?<!\w)(?:" + b"|".join(re.escape(word.encode()) for word in words) + rb")(?!\w)")
    unread, n_bytes = (
        [UnreadFile(path, SkipReason.UNREADABLE) for path in index.examples.get(SkipReason.UNREADABLE, ())],
        0,
    )
    unsearched: list[tuple[str, str]] = [
        (path, reason) for reason in _SEARCHED for path in index.examples.get(reason, ())
    ]
    aside = (each.partition("\0") for each in index.manifest.aside)
    unsearched += [
        (path, kind) for path, _, kind in aside if kind in _CODE_BY_NAME and path.lower().endswith(CODE_SUFFIXES)
    ]
    for path, reason in unsearched:
        data = read_bytes(root, path, _MAX_UNREAD_BYTES) if n_bytes < _MAX_UNREAD_BYTES_OF_ALL else b""
        if isinstance(data, bytes):
            n_bytes += len(data)
            if pattern.search(as_utf8(data)):
                unread.append(UnreadFile(path, reason))
    not_here = index.examples.get(SkipReason.SPARSE, ())
    if not_here:
        try:
            unread += [UnreadFile(path, SkipReason.SPARSE) for path in blobs_with_words(root, words, not_here)]
        except GitError:  # the commit is not there either
            unread += [UnreadFile(path, SkipReason.SPARSE) for path in not_here]
    return tuple(sorted({*unread, *_in_part(index, pattern, read)}))


def _in_part(
    index: Index, pattern: "re.Pattern[bytes]", read: Callable[[FileEntry], SourceFile | str]
) -> list[UnreadFile]:
    """Return the files with syntax errors whose row with the error has the word, or that are read in part."""
    rows: dict[str, list[int]] = {}
    for note in index.notes:
        if note.slug in (DiagnosticSlug.SYNTAX_ERROR, DiagnosticSlug.PARTLY_READ):
            rows.setdefault(note.path, []).append(note.row)
    unread, texts = [], SourceText(index.manifest, read)
    for path in sorted(rows)[:_MAX_IN_PART]:
        lines = texts.read_bytes(path).split(b"\n")
        if any(0 <= row < len(lines) and pattern.search(lines[row]) for row in rows[path]):
            unread.append(UnreadFile(path, _IN_PART))
    return unread
