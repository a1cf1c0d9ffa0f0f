"""Git on a repository that may be hostile: arguments -> bytes, or a GitError with git's message.

No configuration of the repository or the environment may run a program, use the network, prompt on a terminal or change
the output format. The user's list of ignored names (`core.excludesFile`) stays in force: files hidden from git are
hidden from the index.

`head_commit` reads HEAD's commit from the files of a repository without starting git. It returns the result of `git
rev-parse HEAD`, or None if only git can tell.

Finding the root of a repository runs no program: every command starts with it, and starting git costs more than
checking a few folders.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from causalist._internal.lazy import dataclass, lazy_regex
from causalist.errors import GitError, RefusedRoot, RepositoryNotFound

if TYPE_CHECKING:
    import subprocess

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

# Users who isolate git's configuration (tests, build machines) mean ours as well. All other GIT_* variables are
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
    place: Sequence[str], arguments: Sequence[str], *, stdin: int, stderr: int, stdout: int | None = None
) -> "subprocess.Popen[bytes]":
    """Start git, with a pipe for its output by default. Raises GitMissing if there is none."""
    import subprocess  # many a question starts no git, and this import costs milliseconds

    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k in _KEPT_VARIABLES}
    options = [part for option in _OPTIONS for part in option.split(" ", 1)]
    try:
        return subprocess.Popen(
            [_find_program(), *options, *place, *arguments],
            stdin=stdin,
            stdout=subprocess.PIPE if stdout is None else stdout,
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

    def check(self, *codes: int) -> "CompletedGit":
        """Return self; raise GitError for an exit code other than 0 and `codes`."""
        if self.code not in (0, *codes):
            raise GitError(f"git {self.command} failed: {self.messages or f'exit code {self.code}'}")
        return self


class RunningGit:
    """A running git command, so that several can run at once."""

    def __init__(self, place: Sequence[str], *arguments: str) -> None:
        self._command = arguments[0]
        import subprocess

        self._process = start_git(place, arguments, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def finish(self) -> CompletedGit:
        """Wait for the end. Raises nothing, so that no other command is left behind."""
        output, messages = self._process.communicate()
        text = messages.decode("utf-8", "backslashreplace").strip()
        return CompletedGit(self._command, self._process.returncode, output, text)


_COMMIT = lazy_regex(rb"([0-9a-f]{40}(?:[0-9a-f]{24})?)\s*\Z")
# git itself takes more names than these.
_BRANCH = lazy_regex(rb"ref: (refs/heads/[\w.+/-]+)\s*\Z", re.ASCII)
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


def repositories_below(folder: Path, depth: int = 3) -> list[Path]:
    """Return the repositories at most `depth` folders below, sorted; nothing is looked for inside of one.

    Links are not followed, and folders that cannot be listed have none.
    """
    try:
        folders = sorted(p for p in folder.iterdir() if p.is_dir() and not p.is_symlink() and p.name != ".git")
    except OSError:
        return []
    repositories: list[Path] = []
    for each in folders:
        if is_git_folder(each) or is_work_tree(each):
            repositories.append(each)
        elif depth > 1:
            repositories += repositories_below(each, depth - 1)
    return repositories


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
