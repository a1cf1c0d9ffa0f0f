"""Ignore files at every level -> is this path ignored? pathspec translates patterns, git's order of rules is kept here.

pathspec alone judges a path as a whole, so that `!keep/` brings back `keep/secret/x` although `secret/` is ignored.
Git judges level by level: the path's own name, never a name above it, because a folder that is ignored is not
entered. A mark at the end of pattern and path makes pathspec do the same. Not covered: a bracket with a slash inside.
"""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from causalist._internal.lazy import dataclass

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# Patterns end where the name ends, which lets nothing match by a folder above. No pattern can contain this by chance.
_MARK = "\x01"
# Stands in for a line feed in names: a pattern never holds one, and pathspec's "." does not match one.
_LINE_FEED = "\x02"

# A file of patterns beyond this size is an attack.
MAX_IGNORE_BYTES = 1_000_000

_POSIX_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "lower": "a-z",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
    "space": " \t",
    "blank": " \t",
}


@dataclass(frozen=True, slots=True)
class _Level:
    """The patterns of one folder. `prefix` is the folder's path with a slash at its end, "" for the top."""

    prefix: str
    files: "GitIgnoreSpec"
    folders: "GitIgnoreSpec"


@dataclass(frozen=True, slots=True)
class Ignores:
    """The ignore files from the top down to one folder. `levels` are deepest first: the first that speaks decides."""

    levels: tuple[_Level, ...] = ()

    def ignored(self, path: str, *, is_folder: bool) -> bool:
        """Whether the path itself is ignored; the folders above it have been asked before."""
        if not self.levels:
            return False
        marked = path.replace("\n", _LINE_FEED) + _MARK
        for level in self.levels:
            spec = level.folders if is_folder else level.files
            include = spec.check_file(marked[len(level.prefix) :]).include
            if include is not None:
                return include
        return False

    def entering(self, folder: str, lines: bytes | None) -> "Ignores":
        """The same with what the ignore file of `folder` says ("" is the top)."""
        if not lines:
            return self
        prefix = f"{folder}/" if folder else ""
        return Ignores((_level(prefix, lines), *self.levels))


def read_ignore_file(path: bytes) -> bytes | None:
    """The content, or None. A link is not followed, as git does not: its target may lie outside."""
    if not os.access(path, os.F_OK):  # as in nearly every folder; an exception costs more
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    try:
        with os.fdopen(descriptor, "rb") as file:
            return file.read(MAX_IGNORE_BYTES)
    except OSError:
        return None


def ignores_above(top: Path, root: Path, names: tuple[str, ...]) -> dict[str, Ignores]:
    """For each name of an ignore file, what the folders from `top` down to and including `root` say.

    Paths are relative to `top`.
    """
    found = {name: Ignores() for name in names}
    parts = root.relative_to(top).parts
    for depth in range(len(parts) + 1):
        folder = "/".join(parts[:depth])
        for name in names:
            lines = read_ignore_file(os.fsencode(top.joinpath(*parts[:depth]) / name))
            found[name] = found[name].entering(folder, lines)
    return found


def _level(prefix: str, lines: bytes) -> _Level:
    # Imported late: inside of git repositories git does the ignoring, and the import costs more than a scan.
    from pathspec import GitIgnoreSpec

    files: list[object] = []
    folders: list[object] = []
    for raw in lines.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").split("\n"):
        rewritten = _rewrite(raw.removesuffix("\r"))
        if rewritten is None:
            continue
        pattern, only_folders = rewritten
        try:
            compiled = list(GitIgnoreSpec.from_lines([pattern]).patterns)
        except (ValueError, re.error):
            # Git takes what it cannot read as matching nothing.
            continue
        folders.extend(compiled)
        if not only_folders:
            files.extend(compiled)
    return _Level(prefix, GitIgnoreSpec(files), GitIgnoreSpec(folders))  # type: ignore[arg-type]


def _rewrite(line: str) -> tuple[str, bool] | None:
    """The line with the mark at its end, and whether it speaks of folders only; None if it says nothing.

    >>> _rewrite("!build/"), _rewrite("a/**"), _rewrite("# note")
    (('!build\\x01', True), ('a/**/*\\x01', False), None)
    """
    while line.endswith(" ") and not line.endswith("\\ "):
        line = line[:-1]
    if not line or line.startswith("#"):
        return None
    if (len(line) - len(line.rstrip("\\"))) % 2:
        return None
    only_folders = line.endswith("/")
    line = line.removesuffix("/")
    negation = "!" if line.startswith("!") else ""
    body = line[len(negation) :]
    if not body:
        return None
    if body == "**" or body.endswith("/**"):
        body += "/*"
    body = re.sub(r"\[:([a-z]+):\]", lambda found: _POSIX_CLASSES.get(found[1], found[0]), body)
    return negation + body + _MARK, only_folders
