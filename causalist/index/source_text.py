"""Source text as it may be shown: the one place where an answer reads the repository.

In: an index, a way to read its files, hits. Out: their text, and which files are no longer what was indexed. Secrets
are masked by the spans that were found when a file was parsed, so that nothing is searched for again.
"""

from collections.abc import Callable

from causalist.model.index import Manifest
from causalist.model.scores import Hit
from causalist.model.source import Diagnostic, DiagnosticSlug, FileEntry, SourceFile
from causalist.model.symbols import split_id
from causalist.parse import mask_range, mask_secrets, view_of

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
            return mask_secrets(view_of(path, source.data), self._secrets(path))
        if path not in self.changed_paths:
            self.changed_paths.append(path)
        return b""
