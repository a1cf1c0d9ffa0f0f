"""Which lines of a folder's files differ from a commit.

Git is asked for the commit's files and their content alone: comparing is done here, because `git diff` runs the
programs that a repository names as filters. What stays out of the index is not compared.
"""

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from causalist.model.source import Changes, FileEntry, SourceFile
from causalist.source.commit_scan import BlobReader, scan_commit
from causalist.source.roots import work_tree_top

# Aligning lines takes time with the product of their numbers; a rewritten part above this counts as changed as a whole.
_MOST_PAIRS = 4_000_000
_LINE_END = re.compile(rb"\r?\n")


def changes_since(
    root: Path, revision: str, indexed: Iterable[tuple[str, str]], read: Callable[[FileEntry], SourceFile | str]
) -> Changes:
    """What differs between `revision` and the folder. `indexed` are (path, blob) of the folder's files, `read` brings
    their content. Raises GitError for an unknown revision and for a folder without git."""
    scan = scan_commit(root, revision)
    top = work_tree_top(root) or root
    prefix = "" if top == root else f"{root.relative_to(top).as_posix()}/"
    before = {entry.path.removeprefix(prefix): entry for entry in scan.entries if entry.path.startswith(prefix)}
    rows: dict[str, tuple[tuple[int, int], ...]] = {}
    there: set[str] = set()
    with BlobReader(root) as reader:
        for path, blob in indexed:
            there.add(path)
            entry = before.get(path)
            if not blob or (entry is not None and entry.blob == blob):
                continue
            now = read(FileEntry(path, 0, 0))
            if isinstance(now, str):
                continue
            old = reader.read(entry) if entry is not None else ""
            changed = changed_rows(b"" if isinstance(old, str) else old.data, now.data)
            if changed:
                rows[path] = changed
    deleted = tuple(sorted(path for path in before if path not in there and not (root / path).exists()))
    return Changes(scan.commit or "", rows, deleted)


def changed_rows(before: bytes, after: bytes) -> tuple[tuple[int, int], ...]:
    """(first, last) 0-based rows of `after` that are new or other, ascending; where lines were taken away, the row
    before and the row behind. Endings of lines do not count.

    >>> changed_rows(b"a\\nb\\nc\\nd\\n", b"a\\nX\\nc\\n"), changed_rows(b"a\\r\\n", b"a\\n")
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
    if len(old) * len(new) > _MOST_PAIRS:
        return ((start, start + len(new) - 1),)
    from difflib import SequenceMatcher  # no question needs it

    found: list[tuple[int, int]] = []
    for tag, _, _, first, behind in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag in ("insert", "replace"):
            found.append((start + first, start + behind - 1))
        elif tag == "delete":
            found.append((max(0, start + first - 1), start + first))
    return tuple(found)
