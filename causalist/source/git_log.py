"""The commits behind a commit: which files each changed, which it moved, and what its author wrote.

Only ancestors count, the newest `MAX_COMMITS` of them. Merges say nothing of their own. A commit without a parent is
left out as well: it is an import, or the place where a shallow clone was cut off. What is read of a commit depends on
its name alone, so it never has to be read again.
"""

import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from causalist.errors import GitError
from causalist.model.index import CommitChange
from causalist.source.git import RunningGit, git_arguments, is_git_folder, is_work_tree, start_git, work_tree_top

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
    done = RunningGit(git_arguments(root), "rev-list", *arguments).finish().accepted()
    return done.output.decode("ascii").split()


def blobs_with_words(root: Path, words: Sequence[str], paths: Sequence[str]) -> list[str]:
    """Return those of some paths below `root` whose content in git's index has one of the words.

    The files need not be checked out. Raises GitError.
    """
    patterns = [part for word in words for part in ("-e", word)]
    place = ("-C", os.fspath(root), "--literal-pathspecs")
    found: list[str] = []
    for start in range(0, len(paths), _PATHS_AT_ONCE):
        chosen = paths[start : start + _PATHS_AT_ONCE]
        arguments = ("grep", "--cached", "-l", "-z", "-w", "-F", *patterns, "--", *chosen)
        output = RunningGit(place, *arguments).finish().accepted(1).output
        found += [os.fsdecode(path) for path in output.split(b"\0") if path]
    return found


def is_shallow(root: Path) -> bool:
    """Return True if the repository is a shallow clone. Raises GitError."""
    done = RunningGit(git_arguments(root), "rev-parse", "--is-shallow-repository").finish().accepted()
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
    found = {change.name: change for change in _parse_changes(output.split(b"\0"), prefix)}
    yield from (found.get(name) or CommitChange(name, 0, "", (), (), 0) for name in names)


def _run_through_file(place: Sequence[str], command: Sequence[str], asked: bytes) -> bytes | None:
    """Return git's output; None if git fails or there is no room for its output.

    Git writes commit by commit, and waking up for each takes as long as the rest of the work.
    """
    try:
        with tempfile.TemporaryFile() as file:
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
