"""The state of a repository at a commit, with the index that was kept of it."""

from pathlib import Path

from causalist.evaluate.results import SnapshotFacts
from causalist.model.index import Index
from causalist.model.source import FileEntry, SourceFile
from causalist.pipeline.repository import Repository
from causalist.source import BlobReader, scan_commit
from causalist.store import read_index, write_index


def at_commit(
    git_dir: Path, repo: str, commit: str, cache: SnapshotFacts, known: Index | None, indexes: Path | None
) -> Repository:
    """The repository at a commit; its index is kept in the folder `indexes`, if one is given."""
    stored = None if indexes is None else indexes / f"{repo.replace('/', '+')}@{commit}.idx"
    if stored is None or not stored.exists():
        repository = Repository.at_commit(git_dir, commit, cache=cache, known=known)
        if stored is not None:
            stored.parent.mkdir(parents=True, exist_ok=True)
            write_index(stored, repository.index)
        return repository
    blobs: dict[str, FileEntry] = {}

    def read(entry: FileEntry) -> SourceFile | str:
        if not blobs:  # listed when the first is read: few questions need any
            blobs.update({each.path: each for each in scan_commit(git_dir, commit).entries})
        with BlobReader(git_dir) as reader:
            return reader.read(blobs[entry.path])

    return Repository(git_dir, read_index(stored), read)
