"""A repository to be damaged, with a cache of its own, and what is always true of it."""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from causalist.errors import NothingToIndex
from causalist.index.build import build_index
from causalist.index.history import read_commits
from causalist.index.open import index_folders
from causalist.index.options import IndexOptions
from causalist.model.index import Commits
from causalist.model.source import FileEntry, Scan, SourceFile
from causalist.pipeline.repository import Repository
from causalist.source import blob_hash
from causalist.store import BACKGROUND_LOCK, INDEX_NAME, FactsCache, read_index
from tests.benchmarks.crash.child import QUESTION, answer_digest, plain_index, told
from tests.edits import EDITS, SMALL_EDITS, begin, bring_back, code_files, git
from tests.indexes import digest
from tests.pipeline.sample import in_memory

_TOP = Path(__file__).parents[3]
_ALLOWED = frozenset(
    (".gitignore", "lock", INDEX_NAME, "seen", "answers.jsonl", "feedback.jsonl", "weights.json", "beside.lock",
     BACKGROUND_LOCK)
)  # fmt: skip
_SECONDS = 300.0


class Site:
    """A copy of `repository` below `folder`; the user's cache is in `folder` too, or in `cache`."""

    def __init__(self, repository: Path, folder: Path, *, cache: Path | None = None) -> None:
        self.root = folder / repository.name
        self.cache = cache or folder / "cache"
        self.blobs = folder / "blobs"
        for each in (self.cache, self.blobs):
            each.mkdir(exist_ok=True)
        shutil.copytree(repository, self.root, ignore=shutil.ignore_patterns(".causalist", ".git"), symlinks=True)
        begin(self.root)
        self._begun = git(self.root, "rev-parse", "HEAD").strip()
        self._n_files = len(code_files(self.root))
        self._checked: set[str] = set()

    def edit(self, chance: random.Random) -> str:
        # Edits delete more than they make; a folder that is all but empty tries nothing.
        if 2 * len(code_files(self.root)) < self._n_files:
            bring_back(self.root, self._begun)
        return chance.choice(EDITS if chance.random() < 0.5 else SMALL_EDITS)(self.root, chance)

    def start(self, *arguments: str, **more: Any) -> subprocess.Popen[bytes]:
        """A child in a process group of its own."""
        command = [sys.executable, "-m", "tests.benchmarks.crash.child", str(self.root), "--blobs", str(self.blobs)]
        environment = os.environ | {"XDG_CACHE_HOME": str(self.cache)}
        return subprocess.Popen(
            [*command, *arguments],
            cwd=_TOP,
            env=environment,
            process_group=0,  # not a session: these take the processor by themselves, whatever the parent's niceness
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more,
        )

    def ask(self, *arguments: str, **more: Any) -> list[dict[str, Any]]:
        """What a child says that nobody disturbs."""
        child = self.start(*arguments, **more)
        out, messages = child.communicate(timeout=_SECONDS)
        assert child.returncode == 0 and not messages, (child.returncode, messages.decode())
        return [json.loads(line) for line in out.splitlines()]

    @contextmanager
    def as_user(self) -> Iterator[None]:
        """This process with the cache of the site."""
        before = os.environ.get("XDG_CACHE_HOME")
        os.environ["XDG_CACHE_HOME"] = str(self.cache)
        try:
            yield
        finally:
            if before is None:
                del os.environ["XDG_CACHE_HOME"]
            else:
                os.environ["XDG_CACHE_HOME"] = before

    # -- what is always true

    def check_stored(self) -> None:
        """Whatever index is on the disk is complete, and what its files and its commit say."""
        with self.as_user():
            for place in index_folders(self.root):
                index = read_index(place / INDEX_NAME)
                if index is not None:
                    manifest = dict(zip(index.manifest.paths, index.manifest.blobs, strict=True))
                    self.check_generation(manifest, index.commit, digest(plain_index(index)), None)

    def check_generation(self, manifest: Mapping[str, str], commit: str | None, index: str, answer: str | None) -> None:
        """An index, and an answer from it, are what is made of those contents afresh."""
        named = repr((sorted(manifest.items()), commit, index, answer))
        if named in self._checked:
            return
        entries = tuple(FileEntry(path, 0, 0) for path in sorted(manifest))

        def read(entry: FileEntry) -> SourceFile | str:
            name = manifest[entry.path]
            if not name:
                return "unfit"
            data = (self.blobs / name).read_bytes()
            assert blob_hash(data) == name
            return SourceFile(entry.path, data, name)

        commits = read_commits(self.root, commit, Commits())
        scan = Scan(entries, {}, {}, commit)
        afresh = build_index(scan, read, FactsCache(), None, 0, IndexOptions(processes=1), lambda: commits)
        assert index == digest(plain_index(afresh)), "the index is not of one state"
        if answer is not None:
            rebuilt = Repository(self.root, afresh, read).ask(QUESTION)
            assert answer == answer_digest(rebuilt), "the answer is not of one state"
        self._checked.add(named)

    def check_recovered(self, *arguments: str, **more: Any) -> list[str]:
        """The next process answers from the files as they are. Returns its notes."""
        (said,) = self.ask(*arguments, **more)
        try:
            afresh = in_memory(self.root)
        except NothingToIndex:
            assert said == {"nothing": True}
            return ["nothing-to-index"]
        expected = told(afresh)
        assert (said["manifest"], said["commit"]) == (expected["manifest"], expected["commit"])
        assert said["index"] == expected["index"], "refreshed is not rebuilt"
        assert said["answer"] == expected["answer"]
        return list(said["notes"])

    def check_folder(self) -> None:
        """Nothing was left lying about, neither beside the files nor in the cache of the user."""
        kept = self.cache / "causalist" / "indexes"
        for place in (self.root / ".causalist", *(kept.iterdir() if kept.exists() else ())):
            strange = sorted({path.name for path in place.glob("*")} - _ALLOWED)
            assert not strange, {name: (place / name).read_bytes()[:400] for name in strange}

    def check_databases(self) -> None:
        for path in sorted(self.cache.rglob("*.db")):
            with suppress(sqlite3.OperationalError), closing(sqlite3.connect(path)) as connection:
                assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",), path


def ended(group: int, seconds: float = 10.0) -> bool:
    """Whether all processes of a group end by themselves within that time; they are ended otherwise."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not _members(group):
            return True
        time.sleep(0.02)
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
    return False


def _members(group: int) -> list[int]:
    """Living processes of a group; those that nobody has waited for yet are dead."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                if int(fields[2]) == group and fields[0] != "Z":
                    found.append(int(folder.name))
    return found
