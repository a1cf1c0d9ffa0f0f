"""The commits behind a commit: which files each changed, which it moved, and what its author wrote.

Only ancestors count, the newest `MOST_COMMITS` of them. Merges say nothing of their own. A commit without a parent is
left out as well: it is an import, or the place where a shallow clone was cut off. What is read of a commit depends on
its name alone, so it never has to be read again.
"""

import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from causalist.errors import GitError
from causalist.model.index import Change
from causalist.source.git import Running, locate, start_git
from causalist.source.roots import is_git_folder, is_work_tree, work_tree_top

# Beyond these a commit is no longer near to what is asked today; five years of a busy repository.
MOST_COMMITS = 5_000
# A commit that changes more files than this is formatting, a licence or a release.
MOST_FILES = 30
_LONGEST_MESSAGE = 4_000  # characters; what is longer is a log of other commits
_LAST_TIME = 1 << 40  # seconds; a commit may claim any time

_FORMAT = "%x01%H%x00%ct%x00%B%x00"


def ancestry(root: Path, commit: str) -> list[str]:
    """Names of the commits with one parent behind and including `commit`, newest first. Raises GitError."""
    arguments = ("--min-parents=1", "--max-parents=1", f"--max-count={MOST_COMMITS}", commit, "--")
    done = Running(locate(root), "rev-list", *arguments).finish().accepted()
    return done.output.decode("ascii").split()


def is_shallow(root: Path) -> bool:
    """Whether the repository is cut off somewhere. Raises GitError."""
    done = Running(locate(root), "rev-parse", "--is-shallow-repository").finish().accepted()
    return done.output.strip() == b"true"


def read_changes(root: Path, names: Sequence[str]) -> Iterator[Change]:
    """What each of the commits `names` changed, in that order. Raises GitError."""
    if not names:
        return
    # No renames by likeness: that reads contents, which a partial clone does not have.
    what = ("--stdin", "-r", "-z", "-M100%", "--name-status", "--no-notes", "--encoding=UTF-8", f"--format={_FORMAT}")
    # Only newer versions of git can be told so by an option.
    command = ("-c", "diff.relative=false", "diff-tree", *what)
    asked = "".join(f"{name}\n" for name in names).encode("ascii")
    output = _through_a_file(locate(root), command, asked)
    if output is None:
        output, error = _told(start_git(locate(root), command, stdin=subprocess.PIPE, stderr=subprocess.PIPE), asked)
        if error:
            raise GitError(f"git diff-tree failed: {error}")
    prefix = _prefix(root)
    # Of a commit that changed nothing git says nothing.
    found = {change.name: change for change in _parsed(output.split(b"\0"), prefix)}
    yield from (found.get(name) or Change(name, 0, "", (), (), 0) for name in names)


def _through_a_file(place: Sequence[str], command: Sequence[str], asked: bytes) -> bytes | None:
    """What git says; None where it fails, or there is no room for what it says. It writes commit by commit, and to be
    woken for each takes as long as all that it has to do."""
    try:
        with tempfile.TemporaryFile() as file:
            pipe = subprocess.PIPE
            _, error = _told(start_git(place, command, stdin=pipe, stderr=pipe, stdout=file.fileno()), asked)
            file.seek(0)
            return None if error else file.read()
    except OSError:
        return None


def _told(process: subprocess.Popen[bytes], asked: bytes) -> tuple[bytes, str]:
    """(what git answers, why it failed)."""
    output, messages = process.communicate(asked)
    reason = messages.decode("utf-8", "backslashreplace").strip()
    return output, (reason or f"exit code {process.returncode}") if process.returncode else ""


def _prefix(root: Path) -> str:
    """The way from the top of the work tree to `root`, with a slash at its end; "" for the top and without a tree."""
    folder = root.resolve()
    top = work_tree_top(folder) if not is_git_folder(folder) or is_work_tree(folder) else None
    return "" if top is None else "".join(f"{part}/" for part in folder.relative_to(top).parts)


def _parsed(fields: Sequence[bytes], prefix: str) -> Iterator[Change]:
    """Each commit: a mark with its name, its time, its message, an empty field, then (status, path or two) for each
    file. No field holds a NUL, so that nothing a message or path says is taken for another field."""
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
        yield _change(name, time, message, statuses, prefix)


def _change(name: str, time: int, message: bytes, statuses: Sequence[tuple[bytes, ...]], prefix: str) -> Change:
    """Paths are below `prefix`, and what is not below it is no file of ours."""
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
    renames += _moved(paths[b"D"], paths[b"A"])
    files = sorted({*paths[b"A"], *paths[b"M"], *(after for _, after in renames)})
    return Change(
        name,
        min(max(time, 0), _LAST_TIME),
        message.decode("utf-8", "replace").strip()[:_LONGEST_MESSAGE],
        tuple(files) if len(statuses) <= MOST_FILES else (),
        tuple(sorted(renames)),
        len(statuses),
    )


def _moved(deleted: Sequence[str], added: Sequence[str]) -> list[tuple[str, str]]:
    """Files that went from one folder to another with changes on the way: the only ones of their name that the commit
    took away and the only ones that it brought."""
    if not deleted or not added:
        return []
    before, after = Counter(map(_base, deleted)), Counter(map(_base, added))
    to = {_base(path): path for path in added}
    return [(p, to[_base(p)]) for p in deleted if before[_base(p)] == 1 and after[_base(p)] == 1]


def _base(path: str) -> str:
    return path.rpartition("/")[2]
