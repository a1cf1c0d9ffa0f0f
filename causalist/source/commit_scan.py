"""A commit in git's object store -> the same selection as from a folder, without a checkout; and the blobs' content.

`.gitignore` and `.causalistignore` do not count here: what is committed is tracked, and the folder's own wishes belong
to the folder. A link is skipped as "link" wherever it leads, because finding out would mean reading it.
"""

import contextlib
import re
import subprocess
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from causalist.errors import GitError
from causalist.model.source import FileEntry, Scan, SourceFile
from causalist.source.content import blob_hash
from causalist.source.exclusion import DEFAULT_LIMITS, UNCOUNTED_FOLDERS, Limits, Reason, classify, largest
from causalist.source.git import Running, locate, start_git
from causalist.source.tally import Tally, printable

_LINK_MODE = b"120000"
_SHA1_DIGITS = 40
_OBJECT_NAME = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
# git answers with "missing"; what matters is that it answers.
_PROBE = "0" * _SHA1_DIGITS
_CHUNK_BYTES = 1 << 16


def scan_commit(git_dir: Path, commit: str, limits: Limits = DEFAULT_LIMITS) -> Scan:
    """What `commit` (a hash or any name that git resolves to one) offers for indexing. Raises GitError."""
    place = locate(git_dir)
    full = _resolve(place, git_dir, commit)
    output = Running(place, "ls-tree", "-r", "-l", "-z", "--full-tree", full).finish().accepted().output
    tally = Tally(limits)
    for row in output.split(b"\0"):
        if row:
            _offer_row(row, tally)
    return tally.scan(full)


def _resolve(place: tuple[str, ...], git_dir: Path, commit: str) -> str:
    advice = "check the name with `git log`, or fetch it first (`git fetch --unshallow` in a shallow clone)"
    # A name that begins with a dash would be read as an option.
    if not commit or commit.startswith("-") or "\0" in commit:
        raise GitError(f"{commit!r} is not the name of a commit; {advice}.")
    verify = Running(place, "rev-parse", "--quiet", "--verify", f"{commit}^{{commit}}")
    done = verify.finish()
    full = done.output.decode("utf-8", "replace").strip()
    # "^HEAD" is accepted as well, and answered with "^" before the hash.
    if done.code == 0 and _OBJECT_NAME.fullmatch(full):
        return full
    raise GitError(f"{git_dir} has no commit {commit!r}{f' ({done.messages})' if done.messages else ''}; {advice}.")


def _offer_row(row: bytes, tally: Tally) -> None:
    """One line of `git ls-tree -l`: mode, type, object, size, a tab, and the path."""
    description, _, raw = row.partition(b"\t")
    mode, kind, blob, size = description.split()
    try:
        path = raw.decode("utf-8")
    except UnicodeDecodeError:
        tally.skip(Reason.UNDECODABLE, printable(raw))
        return
    if not UNCOUNTED_FOLDERS.isdisjoint(path.split("/")[:-1]):
        return
    if kind == b"commit":
        tally.skip(Reason.SUBMODULE, path)
    elif mode == _LINK_MODE:
        tally.skip(Reason.LINK, path)
    elif not size.isdigit():
        # "BAD" stands for an object that a partial or damaged clone does not have.
        tally.skip(Reason.UNREADABLE, path)
    else:
        tally.offer(path, int(size), 0, blob.decode("ascii"))


class BlobReader:
    """Reads the blobs of entries that `scan_commit` gave, over one git process, as a context manager.

    A blob that is missing or damaged is "unreadable"; GitError means that git itself cannot work here.
    """

    def __init__(self, git_dir: Path, limits: Limits = DEFAULT_LIMITS) -> None:
        self._git_dir = git_dir
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._messages: IO[bytes] | None = None
        self._entered = False

    def __enter__(self) -> Self:
        self._start()
        self._entered = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._entered = False
        self._stop()

    def read(self, entry: FileEntry) -> SourceFile | str:
        """The content with its hash, or why it stays out."""
        if not self._entered:
            raise RuntimeError("BlobReader.read is called outside of its with block")
        if entry.blob is None or not _OBJECT_NAME.fullmatch(entry.blob):
            return Reason.UNREADABLE.value
        limit = largest(entry.path, self._limits)
        if entry.size > limit:
            return Reason.TOO_LARGE.value
        if self._process is None:
            self._start()
        try:
            found = self._ask(entry.blob, limit)
        except (EOFError, BrokenPipeError):
            # git ends at a damaged object. The next blob may be whole, for which another process is started.
            self._stop()
            return Reason.UNREADABLE.value
        if isinstance(found, Reason):
            return found.value
        reason = classify(entry.path, found, self._limits)
        if reason is not None:
            return reason
        blob = entry.blob if len(entry.blob) == _SHA1_DIGITS else blob_hash(found)
        return SourceFile(entry.path, found, blob)

    def _ask(self, blob: str, limit: int) -> bytes | Reason:
        assert self._process is not None and self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(blob.encode("ascii") + b"\n")
        self._process.stdin.flush()
        answer = self._process.stdout
        header = answer.readline()
        if not header.endswith(b"\n"):
            raise EOFError
        words = header.split()
        if len(words) != 3:
            return Reason.UNREADABLE
        size = int(words[2])
        if words[1] != b"blob" or size > limit:
            _pass_over(answer, size + 1)
            return Reason.TOO_LARGE if words[1] == b"blob" else Reason.UNREADABLE
        data = answer.read(size + 1)
        if len(data) != size + 1:
            raise EOFError
        return data[:-1]

    def _start(self) -> None:
        # Imported late: whoever indexes a folder needs no commit, and this import costs milliseconds.
        import tempfile

        # A file, since a pipe that nobody empties would stop git after 64 kB of messages.
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            self._process = start_git(
                locate(self._git_dir), ("cat-file", "--batch"), stdin=subprocess.PIPE, stderr=self._messages.fileno()
            )
            self._ask(_PROBE, self._limits.max_file_bytes)
        except (EOFError, BrokenPipeError) as error:
            self._messages.seek(0)
            text = printable(self._messages.read(_CHUNK_BYTES)).strip()
            self._stop()
            raise GitError(f"git cat-file failed: {text or 'it ended without a word'}") from error
        except GitError:
            self._stop()
            raise

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None and process.stdout is not None
            # What could not be written is of no interest any more.
            with contextlib.suppress(OSError):
                process.stdin.close()
            process.stdout.close()
            process.wait()
        if self._messages is not None:
            self._messages.close()
            self._messages = None


def _pass_over(stream: IO[bytes], n_bytes: int) -> None:
    while n_bytes > 0:
        chunk = stream.read(min(n_bytes, _CHUNK_BYTES))
        if not chunk:
            raise EOFError
        n_bytes -= len(chunk)
