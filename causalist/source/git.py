"""Git on a repository that may be hostile: arguments -> bytes, or a GitError; its root, its HEAD and its log.

No configuration of the repository or the environment may run a program, use the network, prompt on a terminal or change
the output format. The user's list of ignored names (`core.excludesFile`) stays in force: files hidden from git are
hidden from the index.

`head_commit` reads HEAD's commit from the files of a repository without starting git. It returns the result of `git
rev-parse HEAD`, or None if only git can tell.

Finding the root of a repository runs no program: every command starts with it, and starting git costs more than
checking a few folders.

`read_changes` reads which files each commit changed, which it moved, and what its author wrote. Only ancestors count,
the newest `MAX_COMMITS` of them. Merges say nothing of their own. A commit without a parent is left out as well: it is
an import, or the place where a shallow clone was cut off. What is read of a commit depends on its name alone, so it
never has to be read again.
"""

import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from causalist._internal.lazy import dataclass
from causalist.errors import GitError, RefusedRoot, RepositoryNotFound
from causalist.model.index import CommitChange

_OPTIONS = (
    "-c core.quotepath=off",
    # Containers and shared disks have other owners. What an owner could do by configuration is closed below.
    "-c safe.directory=*",
    # A repository can name any program here, and `git ls-files` would run it.
    "-c core.fsmonitor=false",
    f"-c core.hooksPath={os.devnull}",
)

_ENVIRONMENT = {
    "LC_ALL": "C",
    "LANGUAGE": "",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # A partial clone would fetch what is missing, by a transport of the repository's choice.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    # A replaced object has another content than its name says.
    "GIT_NO_REPLACE_OBJECTS": "1",
}

# Whoever isolates git's configuration (tests, build machines) means ours as well. All other GIT_* variables are
# dropped: inside of a hook GIT_DIR and GIT_INDEX_FILE name another repository than the one that is asked about.
_KEPT_VARIABLES = frozenset({"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"})


_CURRENT_FOLDER_FIRST = os.name == "nt"


class GitMissing(GitError):
    """Git is not on the search path."""


def git_arguments(folder: Path) -> tuple[str, ...]:
    """Return the arguments that point git at a work tree or part of one, a `.git` or a bare repository."""
    if is_git_folder(folder) and not is_work_tree(folder):
        return ("--git-dir", os.fspath(folder))
    if work_tree_top(folder) is not None:
        return ("-C", os.fspath(folder))
    raise GitError(f"{folder} is not a git repository; give a work tree, its .git folder or a bare repository.")


def start_git(
    place: Sequence[str], arguments: Sequence[str], *, stdin: int, stderr: int, stdout: int = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    """Start git, with a pipe for its output by default. Raises GitMissing if there is none."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k in _KEPT_VARIABLES}
    options = [part for option in _OPTIONS for part in option.split(" ", 1)]
    try:
        return subprocess.Popen(
            [_find_program(), *options, *place, *arguments],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env=environment | _ENVIRONMENT,
        )
    except FileNotFoundError as error:
        raise GitMissing("git was not found on the search path; install it, or add its folder to PATH.") from error
    except OSError as error:
        raise GitError(f"git could not be started: {error}.") from error


def _find_program() -> str:
    """Return the program to start as git. Raises FileNotFoundError.

    Windows searches the current folder first, which may be the repository's.
    """
    if not _CURRENT_FOLDER_FIRST:
        return "git"
    for folder in os.get_exec_path():
        program = Path(folder, "git.exe")
        if program.is_absolute() and program.is_file():
            return os.fspath(program)
    raise FileNotFoundError("git.exe")


@dataclass(frozen=True, slots=True)
class CompletedGit:
    """Exit code and output of a git command."""

    command: str
    code: int
    output: bytes
    messages: str

    def accepted(self, *codes: int) -> "CompletedGit":
        """Return self; raise GitError for an exit code other than 0 and `codes`."""
        if self.code not in (0, *codes):
            raise GitError(f"git {self.command} failed: {self.messages or f'exit code {self.code}'}")
        return self


class RunningGit:
    """A running git command, so that several can run at once."""

    def __init__(self, place: Sequence[str], *arguments: str) -> None:
        self._command = arguments[0]
        self._process = start_git(place, arguments, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def finish(self) -> CompletedGit:
        """Wait for the end. Raises nothing, so that no other command is left behind."""
        output, messages = self._process.communicate()
        text = messages.decode("utf-8", "backslashreplace").strip()
        return CompletedGit(self._command, self._process.returncode, output, text)


_COMMIT = re.compile(rb"([0-9a-f]{40}(?:[0-9a-f]{24})?)\s*\Z")
# git itself takes more names than these.
_BRANCH = re.compile(rb"ref: (refs/heads/[\w.+/-]+)\s*\Z", re.ASCII)
_MAX_BYTES = 4096
_MAX_PACKED_BYTES = 50_000_000
_MAX_CONFIG_BYTES = 100_000


def head_commit(top: Path) -> str | None:
    """Return HEAD's commit in the work tree with the top `top`; None if only git can tell."""
    folder = git_folder(top)
    head = None if folder is None else _read_small_file(folder / "HEAD")
    if folder is None or head is None:
        return None
    at = _COMMIT.match(head)
    if at:
        return at[1].decode("ascii")
    branch = _BRANCH.match(head)
    if branch is None or b".." in branch[1]:
        return None
    shared = _read_small_file(folder / "commondir")
    common = folder if shared is None else folder / os.fsdecode(shared.strip())
    loose = _read_small_file(common / os.fsdecode(branch[1]))
    if loose is not None:
        at = _COMMIT.match(loose)
        return at[1].decode("ascii") if at else None
    packed = _read_small_file(common / "packed-refs", _MAX_PACKED_BYTES)
    row = re.search(rb"^([0-9a-f]{40,64}) " + re.escape(branch[1]) + rb"\r?$", packed or b"", re.MULTILINE)
    return row[1].decode("ascii") if row else None


def remote_name(top: Path) -> str:
    """Return the last part of the URL of a repository's remote `origin`, "" if it has none or only git can tell."""
    return re.split(r"[/:]", remote_address(top))[-1].removesuffix(".git")


def remote_address(top: Path) -> str:
    """Return the URL of a repository's remote `origin`, "" if it has none or only git can tell."""
    folder = git_folder(top) or top
    shared = _read_small_file(folder / "commondir")
    common = folder if shared is None else folder / os.fsdecode(shared.strip())
    config = _read_small_file(common / "config", _MAX_CONFIG_BYTES)
    is_origin = False
    for line in map(bytes.strip, (config or b"").splitlines()):
        key, equals, value = line.partition(b"=")
        if line.startswith(b"["):
            is_origin = line == b'[remote "origin"]'
        elif is_origin and equals and key.strip() == b"url":
            return value.strip().rstrip(b"/").decode("utf-8", "replace")
    return ""


def git_folder(top: Path) -> Path | None:
    """Return the folder with HEAD and the index of a work tree: `.git`, or the target of a `.git` file."""
    marker = top / ".git"
    if marker.is_dir():
        return marker
    content = _read_small_file(marker)
    if content is None or not content.startswith(b"gitdir: "):
        return None
    return top / os.fsdecode(content.removeprefix(b"gitdir: ").strip())


def _read_small_file(path: Path, most: int = _MAX_BYTES) -> bytes | None:
    """Return an ordinary file of at most `most` bytes; None for anything else, links too."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(most + 1)
    except OSError:
        return None
    return data if len(data) <= most else None


def find_root(start: Path) -> Path:
    """Return git's top level if `start` is in a work tree, else `start`; absolute, links resolved.

    A work tree that is the home directory (dotfiles under git) does not claim the folders below it: they would all be
    refused. Raises RepositoryNotFound.
    """
    try:
        folder = start.resolve(strict=True)
        is_folder = folder.is_dir()
    except FileNotFoundError as error:
        raise RepositoryNotFound(f"{start} does not exist. Give the folder of a repository.") from error
    except (OSError, RuntimeError, ValueError) as error:
        raise RepositoryNotFound(f"{start} cannot be reached ({error}). Give the folder of a repository.") from error
    if not is_folder:
        raise RepositoryNotFound(f"{start} is not a folder. Give the folder that contains it: {folder.parent}")
    if not os.access(folder, os.R_OK | os.X_OK):
        raise RepositoryNotFound(f"cannot list {start}: permission denied")
    return work_tree_top(folder) or folder


def relative_folder(root: Path, folder: Path) -> str:
    """Return the POSIX path of `folder` below `root`; "" for the root itself."""
    path = folder.resolve().relative_to(root).as_posix()
    return "" if path == "." else path


def refuse_root(root: Path) -> None:
    """Raise RefusedRoot for the root of a file system and for the home directory."""
    folder = root.resolve()
    if folder.parent == folder:
        raise RefusedRoot(f"{folder} is a file system root. Give the folder of a project.")
    if folder == _home():
        raise RefusedRoot(f"{folder} is a home directory. Give the folder of a project.")


def work_tree_top(folder: Path) -> Path | None:
    """Return the nearest folder at or above that git would take as top level, or None."""
    for candidate in (folder, *folder.parents):
        if is_work_tree(candidate):
            claims = candidate == folder or not _is_refused(candidate)
            return candidate if claims else None
    return None


def is_work_tree(folder: Path) -> bool:
    """Return True if `folder` has a `.git` that git accepts; an empty folder of that name is none."""
    marker = folder / ".git"
    try:
        if marker.is_file():
            with marker.open("rb") as file:
                return file.read(8) == b"gitdir: "
        return is_git_folder(marker)
    except OSError:
        return False


def is_git_folder(folder: Path) -> bool:
    """Return True if `folder` is a `.git`, a bare repository, or that of a linked work tree."""
    # HEAD may be a dangling link in old repositories, hence lexists.
    return os.path.lexists(folder / "HEAD") and ((folder / "objects").is_dir() or (folder / "commondir").is_file())


def _is_refused(folder: Path) -> bool:
    try:
        refuse_root(folder)
    except RefusedRoot:
        return True
    return False


def _home() -> Path | None:
    try:
        return Path.home().resolve()
    except (RuntimeError, OSError):
        return None


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
    matching: list[str] = []
    for start in range(0, len(paths), _PATHS_AT_ONCE):
        chosen = paths[start : start + _PATHS_AT_ONCE]
        arguments = ("grep", "--cached", "-l", "-z", "-w", "-F", *patterns, "--", *chosen)
        output = RunningGit(place, *arguments).finish().accepted(1).output
        matching += [os.fsdecode(path) for path in output.split(b"\0") if path]
    return matching


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
    change_by_commit = {change.name: change for change in _parse_changes(output.split(b"\0"), prefix)}
    yield from (change_by_commit.get(name) or CommitChange(name, 0, "", (), (), 0) for name in names)


def _run_through_file(place: Sequence[str], command: Sequence[str], asked: bytes) -> bytes | None:
    """Return git's output; None if git fails or there is no room for its output.

    Git writes commit by commit, and waking up for each takes as long as the rest of the work.
    """
    try:
        import tempfile

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
