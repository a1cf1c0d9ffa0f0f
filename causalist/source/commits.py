"""Commits in git's object store: the files of one, selected as those of a folder, their content, and the log.

`.gitignore` and `.causalistignore` do not count: committed files are tracked, and ignore files are wishes of a folder.
A link is skipped as "link" wherever it leads.

`changes_since` finds the lines of a folder's files that differ from a commit. Git gives the commit's files and their
content; the comparison is done here, because `git diff` runs programs that a repository configures as filters. Files
outside of the index are not compared.

`read_changes` reads which files each commit changed, which it moved, and what its author wrote. Only ancestors count,
the newest `MAX_COMMITS` of them. Merges say nothing of their own. A commit without a parent is left out as well: it is
an import, or the place where a shallow clone was cut off. What is read of a commit depends on its name alone, so it
never has to be read again.
"""

import contextlib
import os
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from causalist._internal.forked_task import unnamed_file
from causalist.errors import GitError
from causalist.model.index import CommitChange
from causalist.model.source import Changes, FileEntry, Scan, SourceFile
from causalist.source.exclusion import (
    DEFAULT_LIMITS,
    UNCOUNTED_FOLDERS,
    Limits,
    SkipReason,
    as_utf8,
    classify,
    max_bytes_of,
)
from causalist.source.folder_scan import MAX_LINKS, ScanBuilder, blob_hash, to_printable
from causalist.source.git import RunningGit, git_arguments, is_git_folder, is_work_tree, start_git, work_tree_top

_LINK_MODE = b"120000"
_SHA1_DIGITS = 40
_OBJECT_NAME = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
# git answers with "missing"; what matters is that it answers.
_PROBE = "0" * _SHA1_DIGITS
_CHUNK_BYTES = 1 << 16
_MAX_LINK_BYTES = 4_096


def scan_commit(git_dir: Path, commit: str, limits: Limits = DEFAULT_LIMITS) -> Scan:
    """Return the scan of `commit`, a hash or any name that git resolves to one. Raises GitError."""
    place = git_arguments(git_dir)
    full = resolve_commit(place, git_dir, commit)
    output = RunningGit(place, "ls-tree", "-r", "-l", "-z", "--full-tree", full).finish().check().output
    tally, links = ScanBuilder(limits), dict[str, str]()
    for row in output.split(b"\0"):
        if row:
            _offer_row(row, tally, links)
    if links:
        with BlobReader(git_dir, limits) as reader:
            for path, blob in sorted(links.items())[:MAX_LINKS]:
                tally.add_link(path, reader.read_link(blob))
    return tally.scan(full)


def resolve_commit(place: tuple[str, ...], git_dir: Path, commit: str) -> str:
    """Return the full hash of a commit by any name that git resolves. Raises GitError."""
    advice = "check the name with `git log`, or fetch it first (`git fetch --unshallow` in a shallow clone)"
    # A name that begins with a dash would be read as an option.
    if not commit or commit.startswith("-") or "\0" in commit:
        raise GitError(f"{commit!r} is not the name of a commit; {advice}.")
    verify = RunningGit(place, "rev-parse", "--quiet", "--verify", f"{commit}^{{commit}}")
    done = verify.finish()
    full = done.output.decode("utf-8", "replace").strip()
    # "^HEAD" is accepted as well, and answered with "^" before the hash.
    if done.code == 0 and _OBJECT_NAME.fullmatch(full):
        return full
    raise GitError(f"{git_dir} has no commit {commit!r}{f' ({done.messages})' if done.messages else ''}; {advice}.")


def _offer_row(row: bytes, tally: ScanBuilder, links: dict[str, str]) -> None:
    """Add one line of `git ls-tree -l`: mode, type, object, size, a tab, and the path; a link's blob to `links`."""
    description, _, raw = row.partition(b"\t")
    mode, kind, blob, size = description.split()
    try:
        path = raw.decode("utf-8")
    except UnicodeDecodeError:
        tally.skip(SkipReason.UNDECODABLE, to_printable(raw))
        return
    if not UNCOUNTED_FOLDERS.isdisjoint(path.split("/")[:-1]):
        return
    if kind == b"commit":
        tally.skip(SkipReason.SUBMODULE, path)
    elif mode == _LINK_MODE:
        tally.skip(SkipReason.LINK, path)
        links[path] = blob.decode("ascii")
    elif not size.isdigit():
        # "BAD" stands for an object that a partial or damaged clone does not have.
        tally.skip(SkipReason.UNREADABLE, path)
    else:
        tally.offer(path, int(size), 0, blob.decode("ascii"))


class BlobReader:
    """Reads the blobs of entries that `scan_commit` gave, over one git process, as a context manager.

    A blob that is missing or damaged is "unreadable"; GitError means that git itself cannot work here. With `entries`
    by path, those of their paths are read instead of the given ones; KeyError means that there is none.
    """

    def __init__(
        self, git_dir: Path, limits: Limits = DEFAULT_LIMITS, entries: Mapping[str, FileEntry] | None = None
    ) -> None:
        self._git_dir = git_dir
        self._entries = entries
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
        """Return the content with its hash, or the reason why it is skipped."""
        if not self._entered:
            raise RuntimeError("BlobReader.read is called outside of its with block")
        entry = entry if self._entries is None else self._entries[entry.path]
        if entry.blob is None or not _OBJECT_NAME.fullmatch(entry.blob):
            return SkipReason.UNREADABLE.value
        limit = max_bytes_of(entry.path, self._limits)
        if entry.size > limit:
            return SkipReason.TOO_LARGE.value
        content = self._answer(entry.blob, limit)
        if isinstance(content, SkipReason):
            return content.value
        text = as_utf8(content)
        reason = classify(entry.path, text, self._limits)
        if reason is not None:
            return reason
        blob = entry.blob if len(entry.blob) == _SHA1_DIGITS else blob_hash(content)
        return SourceFile(entry.path, text, blob)

    def read_link(self, blob: str) -> bytes:
        """Return where a symbolic link leads, as written; empty if git does not have it."""
        content = self._answer(blob, _MAX_LINK_BYTES)
        return b"" if isinstance(content, SkipReason) else content

    def _answer(self, blob: str, limit: int) -> bytes | SkipReason:
        """Return the bytes of a blob, or the reason why there are none."""
        for _ in range(2):
            if self._process is None:
                self._start()
            try:
                return self._ask(blob, limit)
            except (EOFError, BrokenPipeError):
                # git ends at a damaged object, or was ended from outside: then another process reads the blob.
                self._stop()
        return SkipReason.UNREADABLE

    def _ask(self, blob: str, limit: int) -> bytes | SkipReason:
        assert self._process is not None and self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(blob.encode("ascii") + b"\n")
        self._process.stdin.flush()
        answer = self._process.stdout
        header = answer.readline()
        if not header.endswith(b"\n"):
            raise EOFError
        words = header.split()
        if len(words) != 3:
            return SkipReason.UNREADABLE
        size = int(words[2])
        if words[1] != b"blob" or size > limit:
            _skip_bytes(answer, size + 1)
            return SkipReason.TOO_LARGE if words[1] == b"blob" else SkipReason.UNREADABLE
        data = answer.read(size + 1)
        if len(data) != size + 1:
            raise EOFError
        return data[:-1]

    def _start(self) -> None:
        # A file, since a pipe that is not emptied would stop git after 64 kB of messages.
        self._messages = unnamed_file()
        try:
            self._process = start_git(
                git_arguments(self._git_dir),
                ("cat-file", "--batch"),
                stdin=subprocess.PIPE,
                stderr=self._messages.fileno(),
            )
            self._ask(_PROBE, self._limits.max_file_bytes)
        except (EOFError, BrokenPipeError) as error:
            self._messages.seek(0)
            text = to_printable(self._messages.read(_CHUNK_BYTES)).strip()
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


def _skip_bytes(stream: IO[bytes], n_bytes: int) -> None:
    while n_bytes > 0:
        chunk = stream.read(min(n_bytes, _CHUNK_BYTES))
        if not chunk:
            raise EOFError
        n_bytes -= len(chunk)


# Aligning lines takes time with the product of their numbers; a rewritten part above this counts as changed as a whole.
_MAX_LINE_PAIRS = 4_000_000
_LINE_END = re.compile(rb"\r?\n")


def changes_since(
    root: Path, revision: str, indexed: Iterable[tuple[str, str]], read: Callable[[FileEntry], SourceFile | str]
) -> Changes:
    """Return the differences between `revision` and the folder, or those of a range of commits, in the folder's rows.

    A range is `A..B`, what differs between two commits, or `A...B`, what B has since it left A. Of an empty end, HEAD
    is meant. `indexed` are (path, blob) of the folder's files, `read` reads them. Raises GitError for an unknown
    revision and for a folder without git.
    """
    before, _, after = revision.partition("...")
    if after or revision.endswith("..."):
        before = _merge_base(root, before or "HEAD", after or "HEAD")
    elif ".." in revision:
        before, _, after = revision.partition("..")
    is_range = ".." in revision
    scan = scan_commit(root, (before or "HEAD") if is_range else revision)
    old_files = _below(root, scan)
    new_files = _below(root, scan_commit(root, after or "HEAD")) if is_range else {}
    rows: dict[str, tuple[tuple[int, int], ...]] = {}
    there: set[str] = set()
    with BlobReader(root) as reader:
        for path, blob in indexed:
            there.add(path)
            old, new = old_files.get(path), new_files.get(path)
            last = new.blob if new is not None else "" if is_range else blob
            if not blob or not last or (old is not None and old.blob == last):
                continue
            now = read(FileEntry(path, 0, 0))
            content = reader.read(new) if new is not None else now
            if isinstance(now, str) or isinstance(content, str):
                continue
            previous = reader.read(old) if old is not None else ""
            changed = changed_rows(b"" if isinstance(previous, str) else previous.data, content.data)
            if new is not None and last != blob:
                changed = _moved_rows(changed, content.data, now.data)
            if changed:
                rows[path] = changed
    gone = old_files if not is_range else {path for path in old_files if path not in new_files}
    deleted = tuple(sorted(path for path in gone if path not in there and not (root / path).exists()))
    return Changes(scan.commit or "", rows, deleted)


def _below(root: Path, scan: Scan) -> dict[str, FileEntry]:
    """Return the files of a commit below `root`, by their path from there."""
    top = work_tree_top(root) or root
    prefix = "" if top == root else f"{root.relative_to(top).as_posix()}/"
    return {entry.path.removeprefix(prefix): entry for entry in scan.entries if entry.path.startswith(prefix)}


def _merge_base(root: Path, one: str, other: str) -> str:
    place = git_arguments(root)
    ends = [resolve_commit(place, root, each) for each in (one, other)]
    result = RunningGit(place, "merge-base", *ends).finish()
    base = result.output.decode("ascii", "replace").strip()
    if not _OBJECT_NAME.fullmatch(base):
        raise GitError(f"{one} and {other} have no common commit; give a range A..B")
    return base


def _moved_rows(rows: Iterable[tuple[int, int]], before: bytes, after: bytes) -> tuple[tuple[int, int], ...]:
    r"""Return (first, last) rows of `after` at which rows of `before` are; rewritten rows are where they were.

    >>> _moved_rows([(0, 1)], b"a\nb\nc\n", b"new\na\nb\nc\n")
    ((1, 2),)
    """
    from difflib import SequenceMatcher

    old, new = _LINE_END.split(before), _LINE_END.split(after)
    given = tuple(rows)
    if len(old) * len(new) > _MAX_LINE_PAIRS:
        return ((0, len(new) - 1),) if given else ()
    moved: set[tuple[int, int]] = set()
    for tag, first, end, new_first, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for start, last in given:
            low, high = max(start, first), min(last, end - 1)
            if low <= high and tag == "equal":
                moved.add((new_first + low - first, new_first + high - first))
            elif low <= high and new_first < new_end:
                moved.add((new_first, new_end - 1))
    return tuple(sorted(moved))


def changed_rows(before: bytes, after: bytes) -> tuple[tuple[int, int], ...]:
    r"""Return (first, last) 0-based rows of `after` that are new or different, ascending.

    For deleted lines these are the row before and the row after. Line endings do not count.

    >>> changed_rows(b"a\nb\nc\nd\n", b"a\nX\nc\n"), changed_rows(b"a\r\n", b"a\n")
    (((1, 1), (2, 3)), ())
    """
    old, new = _LINE_END.split(before), _LINE_END.split(after)
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if not old and not new:
        return ()
    if len(old) * len(new) > _MAX_LINE_PAIRS:
        return ((start, start + len(new) - 1),)
    from difflib import SequenceMatcher  # no question needs it

    ranges: list[tuple[int, int]] = []
    for tag, _, _, first, behind in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag in ("insert", "replace"):
            ranges.append((start + first, start + behind - 1))
        elif tag == "delete":
            ranges.append((max(0, start + first - 1), start + first))
    return tuple(ranges)


# Beyond these a commit is no longer near to what is asked today; five years of a busy repository.
MAX_COMMITS = 5_000
# A commit that changes more files than this is formatting, a licence or a release.
MAX_FILES = 30
_MAX_MESSAGE_CHARACTERS = 4_000  # characters; what is longer is a log of other commits
_PATHS_AT_ONCE = 500  # paths in one command line
_MAX_TIME = 1 << 40  # seconds; a commit may claim any time

_FORMAT = "%x01%H%x00%ct%x00%B%x00"


def list_ancestors(root: Path, commit: str, most: int | None = None) -> list[str]:
    """Return names of the commits with one parent up to `commit`, newest first: `most`, or MAX_COMMITS.

    Raises GitError.
    """
    limit = f"--max-count={MAX_COMMITS if most is None else most}"
    arguments = ("--min-parents=1", "--max-parents=1", limit, commit, "--")
    done = RunningGit(git_arguments(root), "rev-list", *arguments).finish().check()
    return done.output.decode("ascii").split()


def blobs_with_words(root: Path, words: Sequence[str], paths: Sequence[str]) -> list[str]:
    """Return those of some paths below `root` whose content in git's index has one of the words.

    The files need not be checked out. Raises GitError.
    """
    patterns = [part for word in words for part in ("-e", word)]
    git_options = ("-C", os.fspath(root), "--literal-pathspecs")
    matching: list[str] = []
    for start in range(0, len(paths), _PATHS_AT_ONCE):
        chosen = paths[start : start + _PATHS_AT_ONCE]
        arguments = ("grep", "--cached", "-l", "-z", "-w", "-F", *patterns, "--", *chosen)
        output = RunningGit(git_options, *arguments).finish().check(1).output
        matching += [os.fsdecode(path) for path in output.split(b"\0") if path]
    return matching


def is_shallow(root: Path) -> bool:
    """Return True if the repository is a shallow clone. Raises GitError."""
    done = RunningGit(git_arguments(root), "rev-parse", "--is-shallow-repository").finish().check()
    return done.output.strip() == b"true"


def read_changes(root: Path, names: Sequence[str]) -> Iterator[CommitChange]:
    """Yield the changes of each of the commits `names`, in that order. Raises GitError."""
    if not names:
        return
    # No renames by likeness: that reads contents, which a partial clone does not have.
    what = ("--stdin", "-r", "-z", "-M100%", "--name-status", "--no-notes", "--encoding=UTF-8", f"--format={_FORMAT}")
    # Only newer versions of git can be told so by an option.
    command = ("-c", "diff.relative=false", "diff-tree", *what)
    asked = "".join(f"{name}\n" for name in names).encode("ascii")
    output = _run_through_file(git_arguments(root), command, asked)
    if output is None:
        output, error = _run_with_input(
            start_git(git_arguments(root), command, stdin=subprocess.PIPE, stderr=subprocess.PIPE), asked
        )
        if error:
            raise GitError(f"git diff-tree failed: {error}")
    prefix = _work_tree_prefix(root)
    # Of a commit that changed nothing git says nothing.
    change_by_commit = {change.name: change for change in _parse_changes(output.split(b"\0"), prefix)}
    yield from (change_by_commit.get(name) or CommitChange(name, 0, "", (), (), 0) for name in names)


def _run_through_file(place: Sequence[str], command: Sequence[str], asked: bytes) -> bytes | None:
    """Return git's output; None if git fails or there is no room for its output.

    Git writes commit by commit, and waking up for each takes as long as the rest of the work.
    """
    try:
        with unnamed_file() as file:
            pipe = subprocess.PIPE
            _, error = _run_with_input(start_git(place, command, stdin=pipe, stderr=pipe, stdout=file.fileno()), asked)
            file.seek(0)
            return None if error else file.read()
    except OSError:
        return None


def _run_with_input(process: subprocess.Popen[bytes], asked: bytes) -> tuple[bytes, str]:
    """Return (git's output, its error message)."""
    output, messages = process.communicate(asked)
    reason = messages.decode("utf-8", "backslashreplace").strip()
    return output, (reason or f"exit code {process.returncode}") if process.returncode else ""


def _work_tree_prefix(root: Path) -> str:
    """Return the path of `root` below the top of its work tree, with a slash at its end, or ""."""
    folder = root.resolve()
    top = work_tree_top(folder) if not is_git_folder(folder) or is_work_tree(folder) else None
    return "" if top is None else "".join(f"{part}/" for part in folder.relative_to(top).parts)


def _parse_changes(fields: Sequence[bytes], prefix: str) -> Iterator[CommitChange]:
    """Yield each commit of git's output.

    Fields: a mark with the name, the time, the message, an empty field, then (status, path or two) for each file. No
    field holds a NUL, so that a message or path is never taken for another field.
    """
    i, end = 0, len(fields)
    while i < end and fields[i].startswith(b"\x01"):
        name, time, message = fields[i][1:].decode("ascii"), int(fields[i + 1]), fields[i + 2]
        i += 4
        statuses: list[tuple[bytes, ...]] = []
        while i < end and (field := fields[i]) and not field.startswith(b"\x01"):
            status = field.lstrip(b"\n")[:1]
            if status in b"RC":
                statuses.append((status, fields[i + 1], fields[i + 2]))
                i += 3
            else:
                statuses.append((status, fields[i + 1]))
                i += 2
        yield _build_change(name, time, message, statuses, prefix)


def _build_change(
    name: str, time: int, message: bytes, statuses: Sequence[tuple[bytes, ...]], prefix: str
) -> CommitChange:
    """Return a commit with paths below `prefix`; other paths are left out."""
    paths: dict[bytes, list[str]] = {b"A": [], b"D": [], b"M": []}
    renames: list[tuple[str, str]] = []
    for status, *raw in statuses:
        if len(raw) == 1:  # nearly all
            try:
                path = raw[0].decode("utf-8")
            except UnicodeDecodeError:
                continue
            if path.startswith(prefix):
                paths.get(status, paths[b"M"]).append(path[len(prefix) :])
            continue
        try:
            named = [path.decode("utf-8") for path in raw]
        except UnicodeDecodeError:
            continue  # no file of the index is called that
        inside = [path.removeprefix(prefix) for path in named if path.startswith(prefix)]
        if status == b"R" and len(inside) == 2:
            renames.append((inside[0], inside[1]))
        elif status != b"R" or named[1].startswith(prefix):
            # A change of type, or what came here from outside of the folder, is a change of the file.
            paths[status if status in paths else b"M"] += inside[-1:]
    renames += _find_moves(paths[b"D"], paths[b"A"])
    files = sorted({*paths[b"A"], *paths[b"M"], *(after for _, after in renames)})
    return CommitChange(
        name,
        min(max(time, 0), _MAX_TIME),
        message.decode("utf-8", "replace").strip()[:_MAX_MESSAGE_CHARACTERS],
        tuple(files) if len(statuses) <= MAX_FILES else (),
        tuple(sorted(renames)),
        len(statuses),
    )


def _find_moves(deleted: Sequence[str], added: Sequence[str]) -> list[tuple[str, str]]:
    """Return files that moved to another folder with changes.

    A moved file is the only deleted and the only added one of its name.
    """
    if not deleted or not added:
        return []
    before, after = Counter(map(_file_name, deleted)), Counter(map(_file_name, added))
    to = {_file_name(path): path for path in added}
    return [(p, to[_file_name(p)]) for p in deleted if before[_file_name(p)] == 1 and after[_file_name(p)] == 1]


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]
