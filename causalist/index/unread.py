"""Files that were left out of an index, or parsed in part, and have a word: they may hold uses that no edge shows.

In: the folder of a repository, its index, and names. Out: the files, with the reason. They are searched at the time of
a question and by bytes, since nothing of them is in the index.
"""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from causalist.errors import GitError
from causalist.index.source_text import SourceText
from causalist.model.index import Index
from causalist.model.source import DiagnosticSlug, FileEntry, SourceFile
from causalist.source import SkipReason, as_utf8, blobs_with_words, read_bytes

MAX_BYTES = 20_000_000  # of one file
MAX_BYTES_OF_ALL = 200_000_000
_MAX_IN_PART = 200  # files with errors that are searched
IN_PART = "parsed in part"
_READ = (SkipReason.TOO_LARGE, SkipReason.WIDE, SkipReason.MINIFIED, SkipReason.TOO_MANY)


class UnreadFile(NamedTuple):
    """A file that was not read, or not all of it, and why."""

    path: str
    reason: str


def unread_files(
    root: Path, index: Index, names: Iterable[str], read: Callable[[FileEntry], SourceFile | str]
) -> tuple[UnreadFile, ...]:
    """Return the files with one of these words that are not in the index or only in part, by path.

    A file that cannot be read at all counts as one that has the word.
    """
    words = sorted({name for name in names if name})
    if not words:
        return ()
    pattern = re.compile(rb"(?<!\w)(?:" + b"|".join(re.escape(word.encode()) for word in words) + rb")(?!\w)")
    found, rest = [UnreadFile(path, SkipReason.UNREADABLE) for path in index.examples.get(SkipReason.UNREADABLE, ())], 0
    for reason in _READ:
        for path in index.examples.get(reason, ()):
            data = read_bytes(root, path, MAX_BYTES) if rest < MAX_BYTES_OF_ALL else b""
            if isinstance(data, bytes):
                rest += len(data)
                if pattern.search(as_utf8(data)):
                    found.append(UnreadFile(path, reason))
    not_here = index.examples.get(SkipReason.SPARSE, ())
    if not_here:
        try:
            found += [UnreadFile(path, SkipReason.SPARSE) for path in blobs_with_words(root, words, not_here)]
        except GitError:  # the commit is not there either
            found += [UnreadFile(path, SkipReason.SPARSE) for path in not_here]
    return tuple(sorted({*found, *_in_part(index, pattern, read)}))


def _in_part(
    index: Index, pattern: "re.Pattern[bytes]", read: Callable[[FileEntry], SourceFile | str]
) -> list[UnreadFile]:
    """Return the files with syntax errors whose row with the error has the word, or that are read in part."""
    rows: dict[str, list[int]] = {}
    for note in index.notes:
        if note.slug in (DiagnosticSlug.SYNTAX_ERROR, DiagnosticSlug.PARTLY_READ):
            rows.setdefault(note.path, []).append(note.row)
    found, texts = [], SourceText(index.manifest, read)
    for path in sorted(rows)[:_MAX_IN_PART]:
        lines = texts.read_bytes(path).split(b"\n")
        if any(0 <= row < len(lines) and pattern.search(lines[row]) for row in rows[path]):
            found.append(UnreadFile(path, IN_PART))
    return found
