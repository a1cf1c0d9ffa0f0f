"""What a scan has met so far: files offered and files skipped -> a `Scan`.

Folders and git trees meet files in different orders and decide alike: the rules that depend on name and size alone
are applied here, and everything is sorted before it is cut or counted.
"""

import posixpath
from collections.abc import Callable, Iterable, Mapping

from causalist.errors import UsageError
from causalist.model.source import FileEntry, Scan
from causalist.source.exclusion import Limits, Reason, largest, name_reason

N_EXAMPLES = 3


class Tally:
    """Collects one scan. Paths are POSIX, relative to the root; a folder skipped as a whole ends in "/"."""

    def __init__(self, limits: Limits, also: Mapping[str, int] | None = None) -> None:
        """`also`: suffixes, in lower case, of files that are binary and wanted all the same, with the largest size in
        bytes that they may have."""
        self._limits = limits
        self._also = also or {}
        self._denied = _matcher(limits.deny)
        self._entries: dict[str, FileEntry] = {}
        self._skipped: dict[Reason, list[str]] = {}

    def skip(self, reason: Reason, path: str) -> None:
        """Counts a file, or a folder as one, that stays out."""
        self._skipped.setdefault(reason, []).append(path)

    def offer(self, path: str, size: int, mtime_ns: int = 0, blob: str | None = None, ctime_ns: int = 0) -> None:
        """Takes a regular file unless its name or size keeps it out."""
        reason = name_reason(path)
        most = 0
        if reason is Reason.BINARY and self._also:
            most = self._also.get(posixpath.splitext(path)[1].lower(), 0)
            reason = None if most else reason
        if reason is None and self._denied is not None and self._denied(path):
            reason = Reason.DENIED
        # No limit is below that of the settings: what the name allows is asked of the few files that are larger.
        least = most or self._limits.max_file_bytes
        if reason is None and size > least and size > (most or largest(path, self._limits)):
            reason = Reason.TOO_LARGE
        if reason is None:
            self._entries[path] = FileEntry(path, size, mtime_ns, blob, ctime_ns)
        else:
            self.skip(reason, path)

    def scan(self, commit: str | None) -> Scan:
        """The result, independent of the order in which files were met."""
        paths = sorted(self._entries)
        for path in paths[self._limits.max_files :]:
            self.skip(Reason.TOO_MANY, path)
        skipped = sorted(self._skipped.items())
        return Scan(
            entries=tuple(self._entries[path] for path in paths[: self._limits.max_files]),
            skipped={reason.value: len(found) for reason, found in skipped},
            examples={reason.value: _first(found) for reason, found in skipped},
            commit=commit,
        )


def _matcher(patterns: tuple[str, ...]) -> Callable[[str], bool] | None:
    """Whether one of the patterns matches a path; None without patterns. Raises UsageError for what is no pattern."""
    if not patterns:
        return None
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(patterns).match_file
    except ValueError as error:
        raise UsageError(f"deny: {error}; write patterns as in .gitignore") from error


def printable(raw: bytes) -> str:
    """A name for people. What is not UTF-8 is shown as \\xNN, and is never turned back into a path."""
    return raw.decode("utf-8", "backslashreplace")


def _first(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(paths)[:N_EXAMPLES])
