"""Two versions of each file that a change touches, from git objects, a folder or a patch.

Renamed files are paired by their content: the same bytes, or at least half of the lines. Git is asked for objects
only, because `git diff` on a work tree runs programs that a repository configures as filters.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from causalist._internal.lazy import lazy_regex
from causalist.errors import GitError, UsageError
from causalist.model.source import FileEntry, SourceFile
from causalist.source import BlobReader, as_utf8, blob_hash, read_bytes
from causalist.source.generated import judge_content
from causalist.source.git import RunningGit, git_arguments, head_commit, work_tree_top

_MIN_COMMON = 0.5  # of the lines of two files of which one is the other renamed
_MAX_PAIRS = 10_000  # removed and added files whose lines are compared
_MAX_BYTES = 1_000_000  # of a file that is no code and is compared
_HUNK = lazy_regex(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_SUBMODULE = b"160000"
_LINK = b"120000"
_NO_FILE = b"000000"
_EMPTY_BLOB = blob_hash(b"")


class FileVersions(NamedTuple):
    """A file before and after a change.

    A path is "" on the side where the file does not exist; contents are None there and where they cannot be read, for
    the reason `note` ("binary", "submodule", "link", ...).
    """

    before: str
    after: str
    old: bytes | None
    new: bytes | None
    note: str = ""

    @property
    def path(self) -> str:
        """The path after the change, before it for a removed file."""
        return self.after or self.before


class _TreeEntry(NamedTuple):
    mode: bytes
    blob: str


def resolve_commit(root: Path, name: str) -> str:
    """Return the hash of a commit. Raises GitError."""
    return _read_hashes(root, name, "rev-parse", "--quiet", "--verify")[0]


def resolve_with_parent(root: Path, name: str) -> tuple[str, str | None]:
    """Return (the hash of a commit, that of its first parent or None for a root), of one process. Raises GitError."""
    hashes = _read_hashes(root, name, "rev-list", "--parents", "--max-count=1")
    return hashes[0], hashes[1] if len(hashes) > 1 else None


def first_parent(root: Path, commit: str) -> str | None:
    """Return the first parent of a commit; None for a root. Raises GitError."""
    return resolve_with_parent(root, commit)[1]


def _read_hashes(root: Path, name: str, *command: str) -> list[str]:
    """Return the hashes that a command of git prints of a commit. Raises GitError."""
    if not name or name.startswith(("-", "^")) or "\0" in name:
        raise GitError(f"{name!r} is not the name of a commit; check the name with `git log`.")
    end = ("--",) if command[0] == "rev-list" else ()
    done = RunningGit(git_arguments(root), *command, f"{name}^{{commit}}", *end).finish()
    hashes = done.output.decode("ascii", "replace").split()
    if done.code or not hashes or not all(re.fullmatch(r"[0-9a-f]{40,64}", each) for each in hashes):
        branches = RunningGit(
            git_arguments(root), "for-each-ref", "--sort=-committerdate", "--count=3",
            "--format=%(if)%(symref)%(then)%(else)%(refname:short)%(end)", "refs/heads", "refs/remotes",
        ).finish()  # fmt: skip
        named = ", ".join(branches.output.decode("utf-8", "replace").split())
        advice = f"there are {named}; " if named and not branches.code else ""
        raise GitError(f"{root} has no commit {name!r}; {advice}check the name with `git log`, or fetch it first.")
    return hashes


def merge_base(root: Path, one: str, other: str) -> str:
    """Return the best common ancestor of two commits. Raises GitError."""
    done = RunningGit(git_arguments(root), "merge-base", one, other).finish()
    if done.code:
        raise GitError(f"{one} and {other} have no common ancestor; give two revisions with two dots (A..B).")
    return done.output.decode("ascii").split()[0]


def is_checked_out(root: Path, commit: str) -> bool:
    """Return True if the files of a work tree are those of a commit, and there are no others but ignored ones."""
    if work_tree_top(root) is None or head_commit(root) != commit:
        return False
    given = ("status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=none")
    done = RunningGit(git_arguments(root), *given).finish()
    return done.code == 0 and not done.output


def compare_commits(root: Path, before: str | None, after: str) -> list[FileVersions]:
    """Return the files that differ between two commits; None stands for nothing at all. Raises GitError."""
    if before is None:
        return _compare_stored(root, {}, _list_tree(root, after))
    given = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--full-index", before, after, "--")
    parts = RunningGit(git_arguments(root), *given).finish().check().output.split(b"\0")
    sides: tuple[dict[str, _TreeEntry], dict[str, _TreeEntry]] = {}, {}
    for about, path in zip(parts[::2], parts[1::2], strict=False):
        old_mode, new_mode, old_blob, new_blob, _ = about.removeprefix(b":").split()
        for side, mode, blob in zip(sides, (old_mode, new_mode), (old_blob, new_blob), strict=True):
            if mode != _NO_FILE:
                side[path.decode("utf-8", "replace")] = _TreeEntry(mode, blob.decode("ascii"))
    return _compare_stored(root, *(_below(root, side) for side in sides))


def compare_staged(root: Path, before: str) -> list[FileVersions]:
    """Return the files that differ between a commit and git's index. Raises GitError."""
    done = RunningGit(git_arguments(root), "ls-files", "--stage", "-z", "--full-name").finish().check()
    staged: dict[str, _TreeEntry] = {}
    for row in done.output.split(b"\0"):
        about, _, path = row.partition(b"\t")
        parts = about.split()
        if len(parts) == 3 and parts[2] == b"0":
            staged[path.decode("utf-8", "replace")] = _TreeEntry(parts[0], parts[1].decode("ascii"))
    return _compare_stored(root, _list_tree(root, before), _below(root, staged))


def compare_folder(
    root: Path, before: str, files: Iterable[tuple[str, str]], read: Callable[[FileEntry], SourceFile | str]
) -> list[FileVersions]:
    """Return the files that differ between a commit and a folder.

    `files` are (path, blob) of the files that are indexed, which `read` reads. Tracked files outside of them are
    compared by their bytes. Raises GitError.
    """
    stored, indexed = _list_tree(root, before), dict(files)
    versions: list[FileVersions] = []
    with BlobReader(root) as reader:
        for path in sorted({*stored, *indexed}):
            old = stored.get(path)
            if old is not None and (old.blob == indexed.get(path) or old.mode == _SUBMODULE):
                continue
            content, note = _read_stored(reader, path, old)
            if path in indexed:
                new, reason = _read_reviewable(path, read(FileEntry(path, 0, 0)))
            else:
                raw = read_bytes(root, path, _MAX_BYTES * 20)
                if raw == "link" or (old is not None and old.mode == _LINK):
                    continue
                if isinstance(raw, bytes) and old is not None and blob_hash(raw) == old.blob:
                    continue
                new, reason = (None, note or "not read") if isinstance(raw, bytes) else (None, raw)
            if reason == "vanished":
                versions.append(FileVersions(path, "", content, None, note))
            elif content is None or new is None or _plain(content) != _plain(new):
                here = "" if old is None else path
                versions.append(FileVersions(here, path, content, new, note or reason))
    return pair_renamed(versions)


def _plain(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")


def _list_tree(root: Path, commit: str | None) -> dict[str, _TreeEntry]:
    if commit is None:
        return {}
    done = RunningGit(git_arguments(root), "ls-tree", "-r", "-z", "--full-tree", commit).finish().check()
    blob_by_path: dict[str, _TreeEntry] = {}
    for row in done.output.split(b"\0"):
        about, _, path = row.partition(b"\t")
        parts = about.split()
        if len(parts) == 3:
            blob_by_path[path.decode("utf-8", "replace")] = _TreeEntry(parts[0], parts[2].decode("ascii"))
    return _below(root, blob_by_path)


def _below(root: Path, stored: Mapping[str, _TreeEntry]) -> dict[str, _TreeEntry]:
    """Return the files below `root`, by their paths there."""
    top = work_tree_top(root)
    prefix = "" if top is None or top.resolve() == root.resolve() else f"{root.resolve().relative_to(top.resolve())}/"
    prefix = prefix.replace("\\", "/")
    return {path[len(prefix) :]: each for path, each in stored.items() if path.startswith(prefix)}


def _compare_stored(
    root: Path, before: Mapping[str, _TreeEntry], after: Mapping[str, _TreeEntry]
) -> list[FileVersions]:
    versions: list[FileVersions] = []
    with BlobReader(root) as reader:
        for path in sorted({*before, *after}):
            old, new = before.get(path), after.get(path)
            if old is not None and new is not None and old.blob == new.blob:
                continue
            first, note = _read_stored(reader, path, old)
            second, other = _read_stored(reader, path, new)
            versions.append(FileVersions(path if old else "", path if new else "", first, second, note or other))
    return pair_renamed(versions)


def _read_stored(reader: BlobReader, path: str, stored: _TreeEntry | None) -> tuple[bytes | None, str]:
    """Return (content, reason why it cannot be read) of a file in git."""
    if stored is None:
        return None, ""
    if stored.mode in (_SUBMODULE, _LINK):
        return None, "submodule" if stored.mode == _SUBMODULE else "link"
    if stored.blob == _EMPTY_BLOB:
        return b"", ""
    read = reader.read(FileEntry(path, 0, 0, stored.blob))
    return _read_reviewable(path, read)


def _read_reviewable(path: str, read: SourceFile | str) -> tuple[bytes | None, str]:
    """Return (content, reason why it is not reviewed) of a file that was read."""
    if isinstance(read, str):
        return None, read
    kind = judge_content(path, read.data)
    return (None, kind.value) if kind is not None else (read.data, "")


def pair_renamed(files: Sequence[FileVersions]) -> list[FileVersions]:
    """Return the files with each removed one joined to the added one that it became, by path."""
    removed = [each for each in files if not each.after and each.old]
    added = [each for each in files if not each.before and each.new]
    shares: list[tuple[float, bool, str, str]] = []
    if len(removed) * len(added) <= _MAX_PAIRS:
        lines = {each.path: Counter(each.old.splitlines()) for each in removed if each.old}
        others = {each.path: Counter(each.new.splitlines()) for each in added if each.new}
        for old in removed:
            for new in added:
                if old.path.rpartition(".")[2] != new.path.rpartition(".")[2]:
                    continue
                one, two = lines[old.path], others[new.path]
                share = 2 * (one & two).total() / max(one.total() + two.total(), 1)
                same_name = old.path.rpartition("/")[2] == new.path.rpartition("/")[2]
                if share >= _MIN_COMMON:
                    shares.append((-share, not same_name, old.path, new.path))
    became: dict[str, str] = {}
    for _, _, before, after in sorted(shares):
        if before not in became and after not in became.values():
            became[before] = after
    contents = {each.path: each.new for each in added}
    joined = [
        each._replace(after=became[each.before], new=contents[became[each.before]])
        if not each.after and each.before in became
        else each
        for each in files
        if each.before or each.after not in became.values()
    ]
    return sorted(joined, key=lambda each: each.path)


def apply_patch(patch: str, read: Callable[[str], bytes | None]) -> list[FileVersions]:
    """Return the files that a unified diff changes; `read` gives the content of a file before it, None for none.

    Raises UsageError with the hunk that does not apply.
    """
    versions: list[FileVersions] = []
    parts = re.split(r"(?m)^(?=diff --git )", patch)
    if not any(part.startswith("diff --git ") for part in parts):
        parts = re.split(r"(?m)^(?=--- .*\n\+\+\+ )", patch)
    for part in parts:
        version = _apply_part(part, read)
        if version is not None:
            versions.append(version)
    if not versions:
        raise UsageError("the patch changes no file; it must be a unified diff as `git diff` writes it.")
    return pair_renamed(versions)


def _path_in(header: str, mark: str) -> str:
    path = header.removeprefix(mark).split("\t")[0].strip().strip('"')
    if path == "/dev/null":
        return ""
    path = path[2:] if path[:2] in ("a/", "b/", "i/", "w/", "c/") else path
    if path.startswith("/") or ".." in path.split("/"):
        raise UsageError(f"the patch names {path!r}, which is outside of the repository.")
    return path


def _apply_part(part: str, read: Callable[[str], bytes | None]) -> FileVersions | None:
    lines = part.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    before = after = ""
    is_named = is_binary = False
    hunks: list[tuple[str, list[str]]] = []
    for line in lines:
        if _HUNK.match(line):
            hunks.append((line, []))
        elif hunks:
            if line[:1] in (" ", "+", "-", "\\") or not line.strip("\r"):
                hunks[-1][1].append(line or " ")
        elif line.startswith("--- "):
            before, is_named = _path_in(line, "--- "), True
        elif line.startswith("+++ "):
            after = _path_in(line, "+++ ")
        elif line.startswith("rename from "):
            before, is_named = line.removeprefix("rename from ").strip(), True
        elif line.startswith("rename to "):
            after = line.removeprefix("rename to ").strip()
        elif line.startswith(("Binary files", "GIT binary patch")):
            is_binary = True
    header = re.match(r"diff --git a/(.+) b/(.+)", lines[0].rstrip("\r")) if lines else None
    if is_binary and header:
        return FileVersions(header[1], header[2], None, None, "binary")
    if not is_named and header and any(line.startswith(("new file", "deleted file")) for line in lines):
        is_new = any(line.startswith("new file") for line in lines)  # an empty file has no hunks
        return FileVersions("" if is_new else header[1], header[2] if is_new else "", b"", b"")
    if not is_named:
        return None
    old = read(before) if before else None
    if before and old is None:
        raise UsageError(f"the patch does not apply: it changes {before}, and there is no such file.")
    if not before and after and read(after) is not None:
        raise UsageError(f"the patch does not apply: it adds {after}, and there is such a file already.")
    new = _apply_hunks(after or before, as_utf8(old or b""), hunks)
    return FileVersions(before, after, old, new if after else None)


def _apply_hunks(path: str, data: bytes, hunks: Sequence[tuple[str, Sequence[str]]]) -> bytes:
    text = data.decode("utf-8", "surrogateescape")
    end = "\r\n" if "\r\n" in text else "\n"
    lines = text.replace("\r\n", "\n").split("\n")
    shift = 0
    for header, rows in hunks:
        numbers = _HUNK.match(header)
        assert numbers is not None
        n_old, n_new = int(numbers[2] or 1), int(numbers[4] or 1)
        old: list[str] = []
        new: list[str] = []
        for row in rows:
            kind, rest = row[:1], row[1:].rstrip("\r")
            if kind in (" ", "-") and len(old) < n_old:
                old.append(rest)
            if kind in (" ", "+") and len(new) < n_new:
                new.append(rest)
        wanted = max(int(numbers[1]) - (1 if n_old else 0), 0) + shift
        at = next((p for p in _near(wanted, len(lines)) if lines[p : p + len(old)] == old), None)
        if at is None or len(old) != n_old or len(new) != n_new:
            there = lines[wanted : wanted + len(old)]
            differs = next((i for i, (a, b) in enumerate(zip(old, there, strict=False)) if a != b), 0)
            has = repr(there[differs]) if differs < len(there) else "no such line"
            expects = repr(old[differs]) if old else "nothing"
            what = f"line {wanted + differs + 1} should be {expects}; the file has {has}"
            raise UsageError(f"the patch does not apply: hunk {header!r} of {path}: {what}.")
        lines[at : at + len(old)] = new
        shift = at + len(new) - len(old) - (wanted - shift)
    return end.join(lines).encode("utf-8", "surrogateescape")


def _near(wanted: int, n_lines: int) -> Iterable[int]:
    """Yield the positions of lines, the nearest to `wanted` first."""
    for distance in range(max(wanted, n_lines - wanted) + 1):
        for position in dict.fromkeys((wanted + distance, wanted - distance)):
            if 0 <= position <= n_lines:
                yield position
