"""How an index stands: where it lies, whether it was of the files as they are and why not, and how far these are from
their commit. Only `causalist status` asks; no answer waits for it."""

from collections.abc import Callable
from pathlib import Path

from causalist.errors import GitError, IndexUnreadable
from causalist.index.freshness import changed_files, index_version, is_of_here
from causalist.index.open import index_places
from causalist.index.options import IndexOptions
from causalist.model.answer import CacheUse, Found, Staleness, Standing
from causalist.model.index import Index
from causalist.model.source import FileEntry, Scan, SourceFile
from causalist.source import DEFAULT_LIMITS, changes_since, scan_folder
from causalist.store import INDEX_NAME, MOST_BYTES, FactsCache, facts_path, read_index

_MOST_NAMED = 3


def found_at(root: Path, options: IndexOptions) -> Found:
    """The stored index of `root` as it is before anybody refreshes it, and all that keeps it from being current.
    Nothing is built or written. Raises what the scan of a folder raises."""
    known: list[tuple[Path, Index]] = []
    unreadable: list[Staleness] = []
    for place in index_places(root):
        try:
            index = read_index(place / INDEX_NAME)
        except IndexUnreadable as error:
            unreadable.append(Staleness("unreadable", str(error)))
            continue
        if index is not None:
            known.append((place / INDEX_NAME, index))
    if not known:
        return Found(None, tuple(unreadable[:1]) or (Staleness("absent", "there was no index"),))
    wished = options.submodules
    submodules = known[0][1].submodules if wished is None else wished
    scan = scan_folder(root, options.limits or DEFAULT_LIMITS, submodules=submodules)
    found = [Found(str(path), tuple(_reasons(index, scan, submodules))) for path, index in known]
    return min(found, key=lambda each: len(each.reasons))  # the one that is taken if one is current


def _reasons(index: Index, scan: Scan, submodules: bool) -> list[Staleness]:
    """Everything that `indexing.is_current` would refuse an index for, in words."""
    reasons: list[Staleness] = []
    if index.version != index_version():
        detail = f"made as {index.version}, this program and its grammars make {index_version()}"
        reasons.append(Staleness("version", detail))
    if not is_of_here(index, scan):
        reasons.append(Staleness("foreign", "made of other files than these; perhaps it was copied along with them"))
        return reasons
    if index.commit != scan.commit:
        reasons.append(Staleness("commit", f"{_short(index.commit)} was checked out, now {_short(scan.commit)} is"))
    if index.submodules != submodules:
        detail = "wanted now, and not in it" if submodules else "in it, and not wanted now"
        reasons.append(Staleness("submodules", f"repositories inside of this one are {detail}"))
    changed, unsettled = changed_files(index, scan)
    if changed:
        reasons.append(Staleness("files", f"{_counted(changed)} changed, new or gone", len(changed)))
    if unsettled:
        detail = (
            f"{_counted(unsettled)} written so shortly before being read that the time does not tell a later change"
        )
        reasons.append(Staleness("unsettled", detail, len(unsettled)))
    return reasons


def standing_of(
    root: Path, index: Index, read: Callable[[FileEntry], SourceFile | str], found: Found | None = None
) -> Standing:
    """How the index stands that is in use now. `found` is what was there before it was refreshed."""
    files = [place / INDEX_NAME for place in index_places(root)]
    stored = next((path for path in files if _is_of(path, index)), None)
    cache = FactsCache(facts_path()).state()
    return Standing(
        path=None if stored is None else str(stored),
        n_bytes=0 if stored is None else stored.stat().st_size,
        commit=index.commit,
        n_dirty=_n_dirty(root, index, read),
        found=found,
        cache=None if cache is None else CacheUse(str(cache.path), cache.n_bytes, cache.n_entries, MOST_BYTES),
    )


def _is_of(path: Path, index: Index) -> bool:
    try:
        stored = read_index(path)
    except IndexUnreadable:
        return False
    return stored is not None and (stored.version, stored.scanned_at) == (index.version, index.scanned_at)


def _n_dirty(root: Path, index: Index, read: Callable[[FileEntry], SourceFile | str]) -> int | None:
    """Files whose lines are not those of the commit, and files of the commit that are gone; None where there is no
    commit, or where git cannot show it."""
    if index.commit is None:
        return None
    manifest = index.manifest
    try:
        changes = changes_since(root, index.commit, zip(manifest.paths, manifest.blobs, strict=True), read)
    except GitError:
        return None
    return len(changes.rows) + len(changes.deleted)


def _short(commit: str | None) -> str:
    return "no commit" if commit is None else commit[:12]


def _counted(paths: list[str]) -> str:
    more = ", …" if len(paths) > _MOST_NAMED else ""
    return f"{len(paths)} file{'s' if len(paths) > 1 else ''} ({', '.join(paths[:_MOST_NAMED])}{more})"
