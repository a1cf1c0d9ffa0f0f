"""Running git on a repository that may be hostile: arguments in, bytes out, or a GitError with git's own words.

Nothing that the repository or the environment configures may run a program, reach the network, ask on a terminal or
change the format of an answer. The user's own list of ignored names (`core.excludesFile`) stays in force: what a
person hides from git is hidden from the index.

HEAD's commit as the files of a repository tell it, without starting git.

What is answered here is what `git rev-parse HEAD` would say, or None: where a repository keeps its branches in another
way, or where HEAD is anything but a branch or a commit, git has to be asked.
"""

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from causalist._internal.lazy import dataclass
from causalist.errors import GitError
from causalist.source.roots import is_git_folder, is_work_tree, work_tree_top

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
    """There is no git on the search path."""


def locate(folder: Path) -> tuple[str, ...]:
    """The arguments that point git at `folder`: a work tree or a part of one, a `.git` folder, a bare repository."""
    if is_git_folder(folder) and not is_work_tree(folder):
        return ("--git-dir", os.fspath(folder))
    if work_tree_top(folder) is not None:
        return ("-C", os.fspath(folder))
    raise GitError(f"{folder} is not a git repository; give a work tree, its .git folder or a bare repository.")


def start_git(
    place: Sequence[str], arguments: Sequence[str], *, stdin: int, stderr: int, stdout: int = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    """Starts git, with a pipe for its output unless told otherwise; raises GitMissing where there is none."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k in _KEPT_VARIABLES}
    options = [part for option in _OPTIONS for part in option.split(" ", 1)]
    try:
        return subprocess.Popen(
            [_program(), *options, *place, *arguments],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env=environment | _ENVIRONMENT,
        )
    except FileNotFoundError as error:
        raise GitMissing("git was not found on the search path; install it, or add its folder to PATH.") from error
    except OSError as error:
        raise GitError(f"git could not be started: {error}.") from error


def _program() -> str:
    """What is started as git. Raises FileNotFoundError.

    Windows looks for a bare name in the current folder first, and that may be the repository's.
    """
    if not _CURRENT_FOLDER_FIRST:
        return "git"
    for folder in os.get_exec_path():
        program = Path(folder, "git.exe")
        if program.is_absolute() and program.is_file():
            return os.fspath(program)
    raise FileNotFoundError("git.exe")


@dataclass(frozen=True, slots=True)
class Finished:
    """How a git command ended."""

    command: str
    code: int
    output: bytes
    messages: str

    def accepted(self, *codes: int) -> "Finished":
        """Itself; raises GitError for an exit code other than 0 and `codes`."""
        if self.code not in (0, *codes):
            raise GitError(f"git {self.command} failed: {self.messages or f'exit code {self.code}'}")
        return self


class Running:
    """A git command on its way, so that several can run at once."""

    def __init__(self, place: Sequence[str], *arguments: str) -> None:
        self._command = arguments[0]
        self._process = start_git(place, arguments, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def finish(self) -> Finished:
        """Waits for the end; raises nothing, so that no other command is left behind."""
        output, messages = self._process.communicate()
        text = messages.decode("utf-8", "backslashreplace").strip()
        return Finished(self._command, self._process.returncode, output, text)


_COMMIT = re.compile(rb"([0-9a-f]{40}(?:[0-9a-f]{24})?)\s*\Z")
# git itself takes more names than these.
_BRANCH = re.compile(rb"ref: (refs/heads/[\w.+/-]+)\s*\Z", re.ASCII)
_MOST_BYTES = 4096
_MOST_PACKED = 50_000_000


def head_commit(top: Path) -> str | None:
    """The commit that HEAD is at in the work tree whose top is `top`; None where only git can say."""
    folder = git_folder(top)
    head = None if folder is None else _read(folder / "HEAD")
    if folder is None or head is None:
        return None
    at = _COMMIT.match(head)
    if at:
        return at[1].decode("ascii")
    branch = _BRANCH.match(head)
    if branch is None or b".." in branch[1]:
        return None
    shared = _read(folder / "commondir")
    common = folder if shared is None else folder / os.fsdecode(shared.strip())
    loose = _read(common / os.fsdecode(branch[1]))
    if loose is not None:
        at = _COMMIT.match(loose)
        return at[1].decode("ascii") if at else None
    packed = _read(common / "packed-refs", _MOST_PACKED)
    row = re.search(rb"^([0-9a-f]{40,64}) " + re.escape(branch[1]) + rb"\r?$", packed or b"", re.MULTILINE)
    return row[1].decode("ascii") if row else None


def git_folder(top: Path) -> Path | None:
    """Where git keeps HEAD and the index of a work tree: `.git`, or where the file of that name leads to."""
    marker = top / ".git"
    if marker.is_dir():
        return marker
    said = _read(marker)
    if said is None or not said.startswith(b"gitdir: "):
        return None
    return top / os.fsdecode(said.removeprefix(b"gitdir: ").strip())


def _read(path: Path, most: int = _MOST_BYTES) -> bytes | None:
    """An ordinary file of no more than that; None for everything else, links too."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(most + 1)
    except OSError:
        return None
    return data if len(data) <= most else None
