"""A folder on disk -> the files to index, by metadata alone, and the content of one file.

In a git work tree, git lists the files that it tracks or would track. Elsewhere, or without git, the folder is walked
with the same ignore files; files that are ignored and tracked are then missing. A folder skipped as a whole counts
once. `.git`, `.causalist` and files that git ignores never count. `read_file` judges content later.

Nested repositories (submodules, clones) are skipped unless asked for. Then git lists each of them, and the
`.causalistignore` files above it hold in it.

`ScanBuilder` collects a scan for folders and for git trees. It applies the rules on name and size, and sorts before it
cuts or counts, so that the order of files does not matter.

`read_file` returns the content and hash of a file, or the reason why it is skipped. Odd files raise nothing. The folder
may change between scan and read: links are not followed at any level, only regular files are read, and never more than
the limit.
"""

import errno
import hashlib
import os
import posixpath
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from causalist._internal.lazy import lazy_regex
from causalist.errors import GitError, RepositoryNotFound
from causalist.model.source import FileEntry, Scan, SourceFile
from causalist.source.exclusion import (
    ASIDE_REASONS,
    CODE_SUFFIXES,
    DEFAULT_LIMITS,
    FOLDER_MARKERS,
    FOLDERS_BESIDE,
    TELLING_REASONS,
    UNCOUNTED_FOLDERS,
    VENDORED_FOLDERS,
    Ignores,
    Limits,
    SkipReason,
    as_utf8,
    classify,
    ignores_above,
    make_matcher,
    max_bytes_of,
    read_ignore_file,
    skip_reason_by_name,
)
from causalist.source.git import (
    CompletedGit,
    GitMissing,
    RunningGit,
    head_commit,
    is_git_folder,
    is_work_tree,
    work_tree_top,
)

N_EXAMPLES = 3
MAX_UNREAD = 1_000  # files of code that are left out and listed
MAX_LINKS = 1_000  # symbolic links that are followed in names


class ScanBuilder:
    """Builder of one scan.

    Paths are POSIX, relative to the root; a folder skipped as a whole ends in "/".
    """

    def __init__(self, limits: Limits, also: Mapping[str, int] | None = None) -> None:
        """Start a scan.

        `also` maps lower-case suffixes of wanted binary files to their maximum size in bytes.
        """
        self._limits = limits
        self._also = also or {}
        self._denied = make_matcher(limits.deny)
        self._entries: dict[str, FileEntry] = {}
        self._skipped: dict[SkipReason, list[str]] = {}
        self._links: dict[str, str] = {}

    def skip(self, reason: SkipReason, path: str) -> None:
        """Count a skipped file, or a folder as one."""
        self._skipped.setdefault(reason, []).append(path)

    def offer(self, path: str, size: int, mtime_ns: int = 0, blob: str | None = None, ctime_ns: int = 0) -> None:
        """Add a regular file unless its name or size excludes it."""
        reason = skip_reason_by_name(path)
        if reason is None and self._denied is None and size <= self._limits.max_file_bytes:  # as nearly all files
            self._entries[path] = FileEntry(path, size, mtime_ns, blob, ctime_ns)
            return
        most = 0
        if reason is SkipReason.BINARY and self._also:
            most = self._also.get(posixpath.splitext(path)[1].lower(), 0)
            reason = None if most else reason
        if reason is None and self._denied is not None and self._denied(path):
            reason = SkipReason.DENIED
        if reason in ASIDE_REASONS and size <= self._limits.max_file_bytes:
            reason = None
        # No limit is below that of the settings: what the name allows is asked of the few files that are larger.
        least = most or self._limits.max_file_bytes
        if reason is None and size > least and size > (most or max_bytes_of(path, self._limits)):
            reason = SkipReason.TOO_LARGE
        if reason is None:
            self._entries[path] = FileEntry(path, size, mtime_ns, blob, ctime_ns)
        else:
            self.skip(reason, path)

    def add_link(self, path: str, target: bytes) -> None:
        """Keep a symbolic link with its `target` as written, unless that is outside, above it or hard to tell."""
        try:
            written = target.decode("utf-8").replace(os.sep, "/")
        except UnicodeDecodeError:
            return
        # Behind a name, ".." is above what that name leads to, which may be another link.
        if not written or written.startswith("/") or "/../" in written.lstrip("./") or written.endswith("/.."):
            return
        leads_to = posixpath.normpath(posixpath.join(posixpath.dirname(path), written))
        if leads_to != "." and not leads_to.startswith("../") and not f"{path}/".startswith(f"{leads_to}/"):
            self._links[path] = leads_to

    def scan(self, commit: str | None) -> Scan:
        """Return the scan, independent of the order in which files were added."""
        paths = sorted(self._entries)
        for path in paths[self._limits.max_files :]:
            self.skip(SkipReason.TOO_MANY, path)
        skipped = sorted(self._skipped.items())
        return Scan(
            entries=tuple(self._entries[path] for path in paths[: self._limits.max_files]),
            skipped={reason.value: len(skipped_paths) for reason, skipped_paths in skipped},
            examples={reason.value: pick_examples(reason, skipped_paths) for reason, skipped_paths in skipped},
            commit=commit,
            links=tuple(sorted(self._links.items())[:MAX_LINKS]),
            kept=self._limits.source,
        )


def to_printable(raw: bytes) -> str:
    r"""Return a printable name; bytes that are not UTF-8 become \xNN. Never a path again."""
    return raw.decode("utf-8", "backslashreplace")


def pick_examples(reason: str, paths: Iterable[str]) -> tuple[str, ...]:
    """Return the first paths in order, and all code up to a limit if it may use what is indexed."""
    ordered = sorted(paths)
    most = MAX_UNREAD if reason in TELLING_REASONS else 0
    code = [path for path in ordered[N_EXAMPLES:] if path.lower().endswith(CODE_SUFFIXES)] if most else []
    return (*ordered[:N_EXAMPLES], *code[:most])


GIT_IGNORE = ".gitignore"
OWN_IGNORE = ".causalistignore"
MAX_NESTED_REPOSITORIES = 200  # repositories inside of one; each costs two runs of git
TELLS_CHANGES = os.name != "nt"  # there it is when the file was made
_UNTRACKED, _NOT_CHECKED_OUT = b"?", b"S"  # tags of `git ls-files -t`
_UNLISTED = lazy_regex(r"^warning: could not open directory '(.*?)/?': ", re.MULTILINE, needs=("warning: could",))


def scan_folder(
    root: Path,
    limits: Limits = DEFAULT_LIMITS,
    *,
    submodules: bool = False,
    known_commit: str | None = None,
    also: Mapping[str, int] | None = None,
    listing: CompletedGit | None = None,
) -> Scan:
    """Return the files of `root` to index; with `submodules` also those of nested repositories.

    `also` maps suffixes of binary files that are wanted too to their maximum size in bytes; `read_bytes` reads them,
    `read_file` does not. If HEAD is at `known_commit`, which git has confirmed to exist, git is not asked for it, nor
    for the `listing` of `start_file_listing` if given.

    Raises RepositoryNotFound and GitError.
    """
    root = root.resolve()
    tally = ScanBuilder(limits, also)
    top = work_tree_top(root)
    if top is None and is_git_folder(root):
        raise RepositoryNotFound(f"{root} is a bare git repository, which has no files; clone it and ask in the clone.")
    nested: list[NestedRepository] | None = [] if submodules else None
    commit = None
    try:
        if top is None:
            raise GitMissing
        commit_at_hand = known_commit if known_commit and head_commit(top) == known_commit else None
        commit = _list_work_tree(_Folders.of_root(root, top), tally, nested, commit_at_hand, listing)
    except GitMissing:
        # Raised before anything is counted: git could not even be started.
        above = ignores_above(top or root, root, (GIT_IGNORE, OWN_IGNORE))
        # The files of the root are in `above`; a folder's own files are added when it is entered.
        start = ("", above[GIT_IGNORE], above[OWN_IGNORE])
        walked = walk_folders(root, _relative_prefix(root, top or root), start, tally.skip, nested)
        _offer_walked(root, walked, tally)
    if nested:
        _scan_nested(root, _relative_prefix(root, top or root), nested, tally)
    return tally.scan(commit)


class NestedRepository(NamedTuple):
    """A nested repository: its path below the root, and the `.causalistignore` rules above it."""

    path: str
    own: Ignores


def _scan_nested(root: Path, offset: str, nested: list[NestedRepository], tally: ScanBuilder) -> None:
    """Add files of nested repositories; those inside of them join the queue."""
    n_scanned = 0
    while nested:
        path, own = nested.pop(0)
        n_scanned += 1
        if n_scanned > MAX_NESTED_REPOSITORIES:
            tally.skip(SkipReason.SUBMODULE, path)
            continue
        try:
            _list_work_tree(_Folders(root / path, f"{path}/", f"{offset}{path}/", "", own), tally, nested)
        except GitMissing:
            _offer_walked(root, walk_folders(root, offset, (path, Ignores(), own), tally.skip, nested), tally)
        except GitError:
            # Its messages do not concern questions about the outer repository.
            tally.skip(SkipReason.UNREADABLE, f"{path}/")


def _list_work_tree(
    folders: "_Folders",
    tally: ScanBuilder,
    nested: list[NestedRepository] | None,
    known_commit: str | None = None,
    listing_done: CompletedGit | None = None,
) -> str | None:
    """Add the files of git's listing; return HEAD's commit or None if there is none yet.

    `known_commit` is HEAD's commit if the caller knows it.
    """
    head_done = None
    if not known_commit:
        head, listing = start_listing(folders.root)
        head_done, listing_done = head.finish(), listing.finish()
    elif listing_done is None:
        listing_done = start_file_listing(folders.root).finish()
    assert listing_done is not None
    # Exit code 1 says that there is no commit yet.
    commit = known_commit if head_done is None else head_done.check(1).output.decode("ascii").strip()
    listed = listing_done.check().output
    base = folders.base + b"/"
    # A conflict lists a path once for each side.
    for row in sorted(set(listed.split(b"\0")) - {b""}):
        raw, tag = row[2:], row[:1]
        # An ordinary file in a folder that is known, which most are; the rest is looked at more closely.
        if folders.takes_all(raw.rpartition(b"/")[0], tag != _UNTRACKED):
            with suppress(OSError, UnicodeDecodeError):
                status = os.lstat(base + raw)
                if stat.S_ISREG(status.st_mode):
                    ctime_ns = status.st_ctime_ns if TELLS_CHANGES else 0
                    path = folders.prefix + raw.decode("utf-8")
                    tally.offer(path, status.st_size, status.st_mtime_ns, ctime_ns=ctime_ns)
                    continue
        _offer_listed(raw, tag, folders, tally, nested)
    for folder in _UNLISTED.findall(listing_done.messages):
        if folder.startswith(folders.below_top):
            tally.skip(SkipReason.UNREADABLE, folders.prefix + folder.removeprefix(folders.below_top) + "/")
    return commit or None


def start_listing(root: Path) -> tuple[RunningGit, RunningGit]:
    """Start git twice: for HEAD's commit and for the list of files. Raises GitMissing."""
    git_options = ("-C", os.fspath(root))
    head = RunningGit(git_options, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
    return head, start_file_listing(root)


def start_file_listing(root: Path) -> RunningGit:
    """Start git for the list of files. Raises GitMissing."""
    # -t tells tracked files from others: a tracked node_modules is meant, an untracked one is forgotten.
    return RunningGit(("-C", os.fspath(root)), "ls-files", "-t", "-co", "--exclude-standard", "-z")


def _offer_listed(
    raw: bytes, tag: bytes, folders: "_Folders", tally: ScanBuilder, nested: list[NestedRepository] | None
) -> None:
    """Add one path of git's listing, which may be deleted, a link or a nested repository.

    `tag` is git's status letter of the path.
    """
    is_nested = raw.endswith(b"/")
    raw = raw.rstrip(b"/")
    location = _join_bytes(folders.base, raw)
    try:
        path = raw.decode("utf-8")
    except UnicodeDecodeError:
        if os.path.lexists(location):
            tally.skip(SkipReason.UNDECODABLE, folders.prefix + to_printable(raw))
        return
    if tag == _NOT_CHECKED_OUT and not os.path.lexists(location):
        tally.skip(SkipReason.SPARSE, folders.prefix + path)
        return
    ignores = folders.ignores_of(path.rpartition("/")[0], tag != _UNTRACKED, tally)
    if ignores is None:
        return
    try:
        status = os.lstat(location)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError:
        tally.skip(SkipReason.UNREADABLE, folders.prefix + path)
        return
    is_folder = is_nested or stat.S_ISDIR(status.st_mode)
    is_repository = is_folder and is_work_tree(folders.root / path)
    if is_folder and not is_nested and not is_repository and _has_entries(location):
        # A folder took the place of a tracked file, whose contents are listed by themselves.
        return
    full_path = folders.prefix + path
    if ignores.is_ignored(folders.offset + path, is_folder=is_folder):
        tally.skip(SkipReason.IGNORED, full_path + "/" * is_folder)
    elif is_repository and nested is not None:
        lines = read_ignore_file(_join_bytes(location, OWN_IGNORE.encode()))
        nested.append(NestedRepository(full_path, ignores.entering(folders.offset + path, lines)))
    elif is_folder:
        tally.skip(SkipReason.SUBMODULE, full_path)
    else:
        offer_file(folders.base, path, status, tally, folders.prefix)


class _Folders:
    """Folders of listed files; each is examined once, from the top down.

    `root` is the folder that git lists, `below_top` its path below the top of its work tree. `prefix` is its path below
    the root of the scan, `offset` its path below the first ignore file. Each ends in a slash or is empty.
    """

    def __init__(self, root: Path, prefix: str, offset: str, below_top: str, own: Ignores) -> None:
        self.root = root
        self.base = os.fsencode(root)
        self.prefix = prefix
        self.offset = offset
        self.below_top = below_top
        self._known: dict[tuple[str, bool], Ignores | None] = {("", True): own, ("", False): own}
        self._counted: set[str] = set()
        self._open: set[tuple[bytes, bool]] = set()  # of `_known`, those without any rules

    @classmethod
    def of_root(cls, root: Path, top: Path) -> "_Folders":
        offset = _relative_prefix(root, top)
        return cls(root, "", offset, offset, ignores_above(top, root, (OWN_IGNORE,))[OWN_IGNORE])

    def takes_all(self, folder: bytes, tracked: bool) -> bool:
        """Return True if no rule is known to exclude files of a folder."""
        return (folder, tracked) in self._open

    def ignores_of(self, folder: str, tracked: bool, tally: ScanBuilder) -> Ignores | None:
        """Return the ignore rules inside of `folder`, or None if its files are skipped."""
        ignores_by_folder = self._known
        if (folder, tracked) not in ignores_by_folder:
            # Not recursive: a hostile tree is deeper than Python's stack.
            end = -1
            above = ignores_by_folder["", tracked]
            while end < len(folder):
                end = folder.find("/", end + 1)
                end = len(folder) if end < 0 else end
                part = folder[:end]
                if (part, tracked) not in ignores_by_folder:
                    ignores_by_folder[part, tracked] = (
                        None if above is None else self._look(part, above, tracked, tally)
                    )
                above = ignores_by_folder[part, tracked]
        ignores = ignores_by_folder[folder, tracked]
        if ignores is not None and not ignores.levels:
            self._open.add((folder.encode(), tracked))
        return ignores

    def _look(self, folder: str, above: Ignores, tracked: bool, tally: ScanBuilder) -> Ignores | None:
        name = folder.rpartition("/")[2]
        if name in UNCOUNTED_FOLDERS:
            return None
        location = _join_bytes(self.base, folder.encode())
        try:
            # A link in the place of a folder leads elsewhere; to git, what was tracked below it is deleted.
            if not stat.S_ISDIR(os.lstat(location).st_mode):
                return None
        except OSError:
            return None
        reason = None
        if above.is_ignored(self.offset + folder, is_folder=True):
            reason = SkipReason.IGNORED
        elif not tracked and name in VENDORED_FOLDERS:
            reason = SkipReason.VENDORED
        if reason is not None:
            if folder not in self._counted:
                self._counted.add(folder)
                tally.skip(reason, f"{self.prefix}{folder}/")
            return None
        return above.entering(self.offset + folder, read_ignore_file(_join_bytes(location, OWN_IGNORE.encode())))


class WalkedFolder(NamedTuple):
    """A folder that a walk enters: where it is, all names in it, and each path below the root that is no folder."""

    location: bytes
    listed: set[str]
    files: list[tuple[str, "os.DirEntry[bytes]"]]


def walk_folders(
    root: Path,
    offset: str,
    start: tuple[str, Ignores, Ignores],
    skip: Callable[[SkipReason, str], None],
    nested: list[NestedRepository] | None,
) -> Iterator[WalkedFolder]:
    """Yield the folders of the disk that no rule excludes, without the files that are ignored.

    `start` is a folder below the root with the rules of git and our own inside it; `offset` is the path of the root
    below the first ignore file. `skip` is told what is left out, `nested` gets nested repositories.
    """
    base = os.fsencode(root)
    stack = [start]
    while stack:
        folder, git, own = stack.pop()
        location = _join_bytes(base, folder.encode()) if folder else base
        try:
            with os.scandir(location) as listing:
                entries = list(listing)
        except OSError as error:
            if not folder:
                raise RepositoryNotFound(f"{root} cannot be listed: {error.strerror}.") from error
            if not isinstance(error, (FileNotFoundError, NotADirectoryError)):
                skip(SkipReason.UNREADABLE, folder + "/")
            continue
        listed = {os.fsdecode(entry.name) for entry in entries}
        if folder:
            if ".git" in listed and folder != start[0] and is_work_tree(root / folder):
                if nested is None:
                    skip(SkipReason.SUBMODULE, folder)
                else:
                    lines = read_ignore_file(_join_bytes(location, OWN_IGNORE.encode()))
                    nested.append(NestedRepository(folder, own.entering(offset + folder, lines)))
                continue
            if not FOLDER_MARKERS.isdisjoint(listed):
                skip(SkipReason.VENDORED, folder + "/")
                continue
            if GIT_IGNORE in listed:
                git = git.entering(offset + folder, read_ignore_file(_join_bytes(location, GIT_IGNORE.encode())))
            if OWN_IGNORE in listed and folder != start[0]:
                own = own.entering(offset + folder, read_ignore_file(_join_bytes(location, OWN_IGNORE.encode())))
        prefix = f"{folder}/" if folder else ""
        files: list[tuple[str, os.DirEntry[bytes]]] = []
        for entry in entries:
            try:
                name = entry.name.decode("utf-8")
            except UnicodeDecodeError:
                skip(SkipReason.UNDECODABLE, f"{folder}/{to_printable(entry.name)}".lstrip("/"))
                continue
            path = prefix + name
            is_folder = _is_folder(entry)
            if (is_folder and name in UNCOUNTED_FOLDERS) or name == ".git":
                continue
            if git.levels and git.is_ignored(offset + path, is_folder=is_folder):
                continue
            if own.levels and own.is_ignored(offset + path, is_folder=is_folder):
                skip(SkipReason.IGNORED, path + "/" * is_folder)
            elif not is_folder:
                files.append((path, entry))
            elif name in VENDORED_FOLDERS or not FOLDERS_BESIDE.get(name, frozenset()).isdisjoint(listed):
                skip(SkipReason.VENDORED, path + "/")
            else:
                stack.append((path, git, own))
        yield WalkedFolder(location, listed, files)


def _offer_walked(root: Path, folders: Iterable[WalkedFolder], tally: ScanBuilder) -> None:
    base = os.fsencode(root)
    for path, entry in (each for folder in folders for each in folder.files):
        try:
            status = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        except OSError:
            tally.skip(SkipReason.UNREADABLE, path)
            continue
        offer_file(base, path, status, tally)


def offer_file(base: bytes, path: str, status: os.stat_result, tally: ScanBuilder, prefix: str = "") -> None:
    """Add anything but a folder. `path` is below `base`, `prefix` and `path` below the root."""
    full_path = prefix + path
    if stat.S_ISREG(status.st_mode):
        tally.offer(full_path, status.st_size, status.st_mtime_ns, None, status.st_ctime_ns if TELLS_CHANGES else 0)
    elif stat.S_ISLNK(status.st_mode):
        # realpath ends on circles, at a path on the circle.
        location = _join_bytes(base, path.encode())
        target = os.path.realpath(location)
        separator = os.fsencode(os.sep)
        inside = target == base or target.startswith(base.rstrip(separator) + separator)
        tally.skip(SkipReason.LINK if inside else SkipReason.LINK_OUTSIDE, full_path)
        with suppress(OSError):
            written = os.readlink(location)  # noqa: PTH115
            root = base.removesuffix(prefix.rstrip("/").encode()).rstrip(separator) + separator
            if written.startswith(root):
                written = b"../" * full_path.count("/") + written.removeprefix(root)
            tally.add_link(full_path, written)
    else:
        tally.skip(SkipReason.SPECIAL, full_path)


def _relative_prefix(root: Path, top: Path) -> str:
    """Return the path of `root` below `top` with a slash at its end; "" if they are the same."""
    return "".join(f"{part}/" for part in root.relative_to(top).parts)


def _join_bytes(base: bytes, path: bytes) -> bytes:
    """Join paths as bytes: the scan takes UTF-8 names whatever the locale says."""
    return base + b"/" + path


def _is_folder(entry: os.DirEntry[bytes]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _has_entries(location: bytes) -> bool:
    try:
        with os.scandir(location) as listing:
            return next(listing, None) is not None
    except OSError:
        return False


_FILE_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    # A pipe that took the file's place would wait for a writer for ever.
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)
# O_PATH opens folders that may be passed but not listed.
_FOLDER_FLAGS = _FILE_FLAGS | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_PATH", 0)
_ROOT_FLAGS = _FOLDER_FLAGS & ~getattr(os, "O_NOFOLLOW", 0)
_MAX_OPEN_FOLDERS = 64
_BY_STEPS = os.open in os.supports_dir_fd
_ON_WINDOWS = os.name == "nt"
# Names that mean a device in every folder, whatever their extension.
_DEVICES = frozenset({"CON", "PRN", "AUX", "NUL", *(f"{d}{n}" for d in ("COM", "LPT") for n in "123456789¹²³")})


def blob_hash(data: bytes) -> str:
    """Return git's SHA-1 object name of a blob with this content.

    >>> blob_hash(b"")
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def read_file(root: Path, entry: FileEntry, limits: Limits = DEFAULT_LIMITS) -> SourceFile | str:
    """Return the file as it is now, or the reason why it is skipped."""
    return _judge(entry.path, read_bytes(root, entry.path, max_bytes_of(entry.path, limits) + 1), limits)


def _judge(path: str, data: bytes | str, limits: Limits) -> SourceFile | str:
    if isinstance(data, str):
        return data
    text = as_utf8(data)
    reason = classify(path, text, limits)
    return SourceFile(path, text, blob_hash(data)) if reason is None else reason


class FolderReader:
    """Reader of many files below one root, which takes a third of the time of `read_file`, for one thread at once.

    Folders stay open; leaving the context closes them, and the next file opens them again.
    """

    def __init__(self, root: Path, limits: Limits = DEFAULT_LIMITS) -> None:
        self._root, self._limits = root, limits
        self._folders: dict[str, int] = {}  # descriptors by the path below the root, "" for the root itself

    def __enter__(self) -> "FolderReader":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._leave()

    def read(self, entry: FileEntry) -> SourceFile | str:
        """Return the file as it is now, or the reason why it is skipped, as `read_file` does."""
        if not _BY_STEPS:
            return read_file(self._root, entry, self._limits)
        n_bytes = max_bytes_of(entry.path, self._limits) + 1
        return _judge(entry.path, _or_reason(lambda: self._read(entry.path, n_bytes)), self._limits)

    def _read(self, path: str, n_bytes: int) -> bytes | None:
        _check(path.split("/"))
        if len(self._folders) >= _MAX_OPEN_FOLDERS:
            self._leave()
        folder, _, name = path.rpartition("/")
        return _read_regular(os.open(name.encode(), _FILE_FLAGS, dir_fd=self._descriptor(folder)), n_bytes)

    def _descriptor(self, folder: str) -> int:
        """Return the descriptor of a folder, opened step by step, so that none on the way can be a link."""
        known = self._folders.get(folder)
        if known is None:
            above, _, name = folder.rpartition("/")
            inside = {"dir_fd": self._descriptor(above)} if folder else {}
            known = os.open(name.encode() if folder else self._root, _FOLDER_FLAGS if folder else _ROOT_FLAGS, **inside)
            self._folders[folder] = known
        return known

    def _leave(self) -> None:
        for folder in self._folders.values():
            os.close(folder)
        self._folders.clear()


def read_bytes(root: Path, path: str, n_bytes: int) -> bytes | str:
    """Return the first `n_bytes` of a file below `root`, or the reason why they cannot be read.

    Links are not followed.
    """
    return _or_reason(lambda: _read_regular(_open(root, path.split("/")), n_bytes))


def _or_reason(read: Callable[[], bytes | None]) -> bytes | str:
    try:
        data = read()
    except (FileNotFoundError, NotADirectoryError):
        return SkipReason.VANISHED.value
    except OSError as error:
        is_link = error.errno in (errno.ELOOP, errno.EMLINK)
        return SkipReason.LINK.value if is_link else SkipReason.UNREADABLE.value
    except ValueError:
        return SkipReason.UNREADABLE.value
    return SkipReason.SPECIAL.value if data is None else data


def _read_regular(descriptor: int, n_bytes: int) -> bytes | None:
    """Return up to `n_bytes` of an open file, None if it is no regular one, and close it."""
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        data = os.read(descriptor, min(status.st_size + 1, n_bytes))
        if len(data) == min(status.st_size, n_bytes):  # one byte less than asked for, so there is no more
            return data
        with os.fdopen(descriptor, "rb", closefd=False) as file:  # it grew, or has no size
            return data + file.read(n_bytes - len(data))
    finally:
        os.close(descriptor)


def _open(root: Path, parts: list[str]) -> int:
    """Open a file folder by folder, so that no folder on the way can be a link that leads outside."""
    _check(parts)
    if not _BY_STEPS:
        return _open_checked(root, parts)
    # Names are UTF-8 on the disk whatever the locale: the scan took no others.
    folder = os.open(root, _ROOT_FLAGS)
    try:
        for part in parts[:-1]:
            inner = os.open(part.encode(), _FOLDER_FLAGS, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(parts[-1].encode(), _FILE_FLAGS, dir_fd=folder)
    finally:
        os.close(folder)


def _check(parts: list[str]) -> None:
    if any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"{'/'.join(parts)!r} is not a path inside of the root.")


def _open_checked(root: Path, parts: list[str]) -> int:
    """Open a file on systems without opening relative to a folder; a race with new links remains."""
    if _ON_WINDOWS and not all(map(_is_plain_on_windows, parts)):
        raise ValueError(f"{'/'.join(parts)!r} names something else than a file below the root on Windows.")
    path = root
    for part in parts:
        path = path / part
        if path.is_symlink():
            raise OSError(errno.ELOOP, "a link took the place of a file")
    return os.open(path, _FILE_FLAGS)


def _is_plain_on_windows(part: str) -> bool:
    r"""Return True if a name on Windows means a file: no drive, device, stream or shortened name.

    >>> names = ("a.py", "con.py", "C:", "a.py:stream", "b\\a.py", "dots.", "nul", "conan.py")
    >>> [name for name in names if _is_plain_on_windows(name)]
    ['a.py', 'conan.py']
    """
    stem = part.partition(".")[0].rstrip(" ").upper()
    is_forbidden = any(character in '\\/:*?"<>|' or character < " " for character in part)
    return not (is_forbidden or part.endswith((".", " ")) or stem in _DEVICES)
