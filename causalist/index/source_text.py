"""Source text as it may be shown: the one place where an answer reads the repository.

In: an index, a way to read its files, hits. Out: their text, and which files are no longer what was indexed. Secrets
are masked by the spans that were found when a file was parsed, so that nothing is searched for again.
"""

from collections.abc import Callable

from causalist.model.index import Manifest
from causalist.model.scores import Hit
from causalist.model.source import Diagnostic, FileEntry, SourceFile
from causalist.model.symbols import split_id
from causalist.parse import masked, shown, view_of

_MOST_NAMED = 3  # changed files that the diagnostic names


class Texts:
    """Source text of hits, each file read once. A file that is no longer what was indexed has no text: the spans of
    the index would cut it in the wrong places."""

    def __init__(self, manifest: Manifest, read: Callable[[FileEntry], SourceFile | str]) -> None:
        self._manifest = manifest
        self._read = read
        self._files: dict[str, bytes] = {}
        self.changed: list[str] = []
        self.seen: dict[str, None] = {}  # paths of all files that were read

    def of(self, hit: Hit) -> str:
        """The text of a hit from the indentation of its first line on; "" where its file changed."""
        data = self._content(hit.path)
        line = data.rfind(b"\n", 0, hit.start_byte) + 1
        before = data[line : hit.start_byte]
        # A definition in the middle of a line is shown as far in as the line is.
        indent = before[: len(before) - len(before.lstrip())]
        text = shown(data, hit.start_byte, min(hit.end_byte, len(data)), self._secrets(hit.path))
        return (indent + text).decode("utf-8", "replace")

    def read(self, path: str) -> None:
        """Reads a file of which text is going to be shown."""
        self._content(path)

    def whole(self, path: str) -> str:
        """The text of a file, which is not kept; "" where it changed. Secrets are as long as they are in the file."""
        return self.content(path).decode("utf-8", "replace")

    def content(self, path: str) -> bytes:
        """The bytes of a file, which are not kept, as spans of the index cut them; b"" where it changed."""
        return self._files.get(path) or self._read_again(path)

    def line(self, node_id: str, line: int | None) -> str:
        """A line (1-based) of the file that a node lies in, without white space around it; "" where there is none."""
        if line is None:
            return ""
        path = split_id(node_id)[0]
        data = self._content(path)
        lines = data.split(b"\n", line)
        if line > len(lines):
            return ""
        start = sum(map(len, lines[: line - 1])) + line - 1
        return shown(data, start, start + len(lines[line - 1]), self._secrets(path)).decode("utf-8", "replace").strip()

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        if not self.changed:
            return ()
        n_more = len(self.changed) - _MOST_NAMED
        named = ", ".join(self.changed[:_MOST_NAMED]) + (f" and {n_more} more" if n_more > 0 else "")
        return (Diagnostic("stale", f"changed since they were indexed, shown without their source: {named}", -1),)

    def _content(self, path: str) -> bytes:
        if path not in self._files:
            self._files[path] = self._read_again(path)
        return self._files[path]

    def _secrets(self, path: str) -> list[tuple[int, int]]:
        return self._manifest.secrets.of(self._manifest.paths.position(path))

    def _read_again(self, path: str) -> bytes:
        self.seen[path] = None
        indexed = self._manifest.blobs[self._manifest.paths.position(path)]
        if not indexed:
            return b""  # found unfit when it was indexed
        source = self._read(FileEntry(path, 0, 0))
        if not isinstance(source, str) and source.blob == indexed:
            return masked(view_of(path, source.data), self._secrets(path))
        if path not in self.changed:
            self.changed.append(path)
        return b""
