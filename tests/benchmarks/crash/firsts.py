"""First answers and the processes in the background that they start: killed, without room, at once, of several users.

A question is asked by the command line of a process of its own (`tests.benchmarks.crash.command`). Whatever happened
before, it says no more than notes, its answer is that of a part or of a whole index that are made afresh, no process
remains when the index is there, and nothing lies about.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from causalist.errors import NothingToIndex
from causalist.index.history import read_commits
from causalist.index.options import IndexOptions
from causalist.index.question_index import Need, build_partial_index
from causalist.model.answer import AskOptions
from causalist.model.index import Commits
from causalist.pipeline.first_answer import NO_BACKGROUND, read_build
from causalist.pipeline.repository import Repository
from causalist.rank import parse_query
from causalist.serialize.answers import answer_document
from causalist.source import blob_hash, read_file, scan_folder
from causalist.source.git import work_tree_top
from causalist.store import BACKGROUND_NAME, INDEX_NAME, FactsCache
from tests.benchmarks.crash.child import QUESTION
from tests.benchmarks.crash.command import count_as_large
from tests.benchmarks.crash.disks import bounded, is_small_disk, small_disk
from tests.benchmarks.crash.site import Site, ended
from tests.edits import code_files
from tests.pipeline.sample import in_memory

_TOP = Path(__file__).parents[3]
_MOST_QUESTION_CALLS, _MOST_BUILD_CALLS = 130, 190  # that have to do with files, about
_TOP_K = 8
_PATIENCE = 300.0  # seconds
_BUILDER = b"first_answer import main"  # in the command line of a process in the background
_STRANGER = 65534  # nobody
_COMPARED = ("results", "edges", "removed_edges", "order", "confidence", "sufficiency")


class FirstSite(Site):
    """A `Site` whose index is often not there, with a folder for temporary files of its own."""

    def __init__(self, repository: Path, folder: Path, *, cache: Path | None = None) -> None:
        super().__init__(repository, folder, cache=cache)
        self.temporary = folder / "tmp"
        self.temporary.mkdir(exist_ok=True)
        count_as_large()

    def command(self, *arguments: str, environment: dict[str, str] | None = None, **more: Any) -> subprocess.Popen[str]:
        """A command in a process group of its own; what it starts in the background is not of this group."""
        given = {k: v for k, v in os.environ.items() if k not in ("CI", NO_BACKGROUND)}
        given |= {"XDG_CACHE_HOME": str(self.cache), "TMPDIR": str(self.temporary), **(environment or {})}
        return subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks.crash.command", *arguments],
            cwd=_TOP, env=given, process_group=0, text=True,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more,
        )  # fmt: skip

    def question(self, *before: str, options: Sequence[str] = (), **more: Any) -> subprocess.Popen[str]:
        asked = ("ask", QUESTION, "--json", "--top-k", str(_TOP_K), "--repo", str(self.root), *options)
        return self.command(*before, *asked, **more)

    # -- what is always true

    def heard(self, child: subprocess.Popen[str]) -> tuple[dict[str, Any], str]:
        """(the document that a command printed, its messages), which are notes alone."""
        out, messages = child.communicate(timeout=_PATIENCE)
        assert child.returncode in (0, 1), (child.returncode, messages)
        assert all(line.startswith("causalist: ") for line in messages.splitlines()), messages
        assert ended(child.pid), "a command left a process of its group behind"
        return json.loads(out), messages

    def check_answer(self, document: dict[str, Any]) -> str:
        """An answer is that of a part or of a whole index made afresh from the files. Returns which it is."""
        try:
            parsed = document["repository"]["parsed"] if document.get("repository") else None
            afresh = in_memory(self.root) if parsed is None else self._part()
        except NothingToIndex:
            assert not document["results"], document
            return "nothing"
        expected = json.loads(json.dumps(answer_document(afresh.ask(QUESTION, AskOptions(top_k=_TOP_K)))))
        assert [document[each] for each in _COMPARED] == [expected[each] for each in _COMPARED]
        return "whole" if parsed is None else "part"

    def _part(self) -> Repository:
        """The part that the question needs, made afresh."""
        submodules = work_tree_top(self.root) is None
        scan = scan_folder(self.root, submodules=submodules)
        commits = read_commits(self.root, scan.commit, Commits())
        made = build_partial_index(
            scan, lambda e: read_file(self.root, e), FactsCache(), Need(parse_query(QUESTION)), 0,
            IndexOptions(processes=1, submodules=submodules), lambda: commits,
        )  # fmt: skip
        assert made is not None
        return Repository(self.root, made.index, made.masking(lambda e: read_file(self.root, e)))

    def keep_contents(self) -> None:
        """What an index that is built meanwhile may be of."""
        for path in self.root.rglob("*"):
            parts = path.relative_to(self.root).parts
            if path.is_file() and not path.is_symlink() and not {".git", ".causalist"}.intersection(parts):
                data = path.read_bytes()
                (self.blobs / blob_hash(data)).write_bytes(data)

    def builders(self) -> list[int]:
        """Processes in the background of this repository."""
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                with suppress(OSError):
                    line = (folder / "cmdline").read_bytes()  # empty of what is dead
                    if _BUILDER in line and os.fsencode(self.root) in line.split(b"\0"):
                        found.append(int(folder.name))
        return found

    def check_none_remains(self) -> None:
        """All processes in the background end by themselves."""
        end = time.monotonic() + _PATIENCE
        # One that has only begun has no command line yet; beside other work it may stay so for long.
        while (builders := self.builders()) or self._is_building():
            assert time.monotonic() < end, f"{builders} remain"
            _hasten(builders)
            time.sleep(0.1)

    def _is_building(self) -> bool:
        with self.as_user():
            build = read_build(self.root)
        return build is not None and build.is_running

    def check_ends_well(self, chance: random.Random) -> Counter[str]:
        """The next question is answered, the index comes to be and is right, and nothing lies about."""
        self.check_stored()
        document, messages = self.heard(self.question())
        counts = Counter({self.check_answer(document): 1})
        assert "note: index-" not in messages, messages
        self.check_none_remains()
        self.check_stored()
        with self.as_user():
            build = read_build(self.root)
        assert build is None or not build.is_running, build
        counts["given up"] += build is not None  # it was ended twice
        if build is not None or chance.random() < 0.3:
            self.heard(self.command("index", "--json", "--repo", str(self.root)))
            with self.as_user():
                assert read_build(self.root) is None, (read_build(self.root), self.lying_about())
        again = self.check_answer(self.heard(self.question())[0])
        assert again != "part"
        self.check_stored()
        self.check_folder()
        self.check_databases()
        left = [path.name for path in self.temporary.iterdir()]
        assert not left, left
        return counts

    def lying_about(self) -> list[str]:
        """Files beside the index and in the cache, for messages."""
        return [str(path) for top in (self.root / ".causalist", self.cache) for path in top.rglob("*")]

    def forget(self, chance: random.Random) -> None:
        """There is no index any more; what lies beside it stays, or goes too."""
        everything = chance.random() < 0.3
        for path in sorted((self.root / ".causalist").glob("*")):
            if everything or path.name in (INDEX_NAME, "seen"):
                path.unlink()
        if everything and chance.random() < 0.5:
            for path in self.cache.rglob("*.db*"):
                path.unlink()


def _hasten(processes: Sequence[int]) -> None:
    """Give processes in the background a usual priority: else they wait for everybody else on this machine."""
    for process in processes:
        with suppress(OSError):
            os.sched_setscheduler(process, os.SCHED_OTHER, os.sched_param(0))
            os.setpriority(os.PRIO_PROCESS, process, 0)


def _each(
    repositories: Sequence[Path], count: int, seed: int, trial: Callable[[FirstSite, random.Random], Counter[str]]
) -> Counter[str]:
    """Does a trial so often, in copies of the repositories."""
    counts: Counter[str] = Counter()
    for number, repository in enumerate(repositories):
        n_here = count // len(repositories) + (number < count % len(repositories))
        with TemporaryDirectory() as folder:
            site, chance = FirstSite(repository, Path(folder)), random.Random(seed + number)
            for _ in range(n_here):
                counts.update(trial(site, chance))
    return counts


# -- kills


def kill(repositories: Sequence[Path], n_kills: int, seed: int) -> Counter[str]:
    """Questions that start a process are killed, and the processes that they start, at a random time or call."""
    counts: Counter[str] = Counter()
    left = n_kills
    while left > 0:
        more = _each(repositories, left, seed, _kill)
        counts.update(more)
        left -= more["killed"]
        seed += 1000
    return counts


def _kill(site: FirstSite, chance: random.Random) -> Counter[str]:
    for _ in range(chance.randrange(3)):
        site.edit(chance)
    site.forget(chance)
    site.keep_contents()
    way = chance.choice((_kill_question_at_call, _kill_question, _kill_build_at_call, _kill_build))
    what, is_killed = way(site, chance)
    return Counter({"killed": is_killed, "too late": not is_killed, what: 1}) + site.check_ends_well(chance)


def _kill_question_at_call(site: FirstSite, chance: random.Random) -> tuple[str, bool]:
    die = ("--die-at", str(chance.randrange(1, _MOST_QUESTION_CALLS)), str(site.root.parent))
    child = site.question(*die, *_pool(chance))
    return "question at a call", _is_killed(child)


def _kill_question(site: FirstSite, chance: random.Random) -> tuple[str, bool]:
    child = site.question(*_pool(chance))
    with suppress(subprocess.TimeoutExpired):
        child.wait(chance.random() * 2)
    child.send_signal(signal.SIGKILL)
    return "question", _is_killed(child)


def _kill_build_at_call(site: FirstSite, chance: random.Random) -> tuple[str, bool]:
    place = site.root / ".causalist"
    place.mkdir(exist_ok=True)
    die = ("--die-at", str(chance.randrange(1, _MOST_BUILD_CALLS)), str(site.root.parent))
    child = site.command(*die, *_pool(chance), "--build", str(site.root), str(place), "1", "0")
    return "build at a call", _is_killed(child)


def _kill_build(site: FirstSite, chance: random.Random) -> tuple[str, bool]:
    """The process that a question started, alone or with its children."""
    site.heard(site.question())
    _hasten(site.builders())
    time.sleep(chance.random() * 2)
    builders = site.builders()
    for process in builders if chance.random() < 0.5 else builders[:1]:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    return "build", bool(builders)


def _pool(chance: random.Random) -> tuple[str, ...]:
    return ("--pool",) if chance.random() < 0.4 else ()


def _is_killed(child: subprocess.Popen[str]) -> bool:
    child.wait()
    # Before its output is read: a worker that lives on holds that open.
    assert ended(child.pid), "workers outlived the process that started them"
    _, messages = child.communicate()
    assert "Traceback" not in messages, messages
    return child.returncode == -signal.SIGKILL


# -- no room


def fill(repositories: Sequence[Path], n_disks: int, seed: int) -> Counter[str]:
    """The first question is asked where there is little room or none."""
    counts: Counter[str] = Counter()
    for number, repository in enumerate(repositories):
        n_here = n_disks // len(repositories) + (number < n_disks % len(repositories))
        with small_disk() as folder, TemporaryDirectory() as elsewhere:
            site = FirstSite(repository, folder)
            site.blobs = Path(elsewhere)
            chance = random.Random(seed + number)
            for _ in range(n_here):
                # Now and then the cache of the user is on a disk of its own, with room.
                site.cache = folder / "cache" if chance.random() < 0.7 else Path(elsewhere) / "cache"
                site.cache.mkdir(exist_ok=True)
                counts.update(_fill(site, folder, chance))
    return counts


def _fill(site: FirstSite, disk: Path, chance: random.Random) -> Counter[str]:
    site.edit(chance)
    site.forget(chance)
    site.keep_contents()
    filler, is_disk = disk / "filler", is_small_disk(disk)
    left = chance.choice((0, chance.randrange(1 << 16), chance.randrange(1 << 19), chance.randrange(1 << 22)))
    if is_disk:
        status = os.statvfs(disk)
        with suppress(OSError), filler.open("wb") as out:
            out.write(bytes(max(0, status.f_bavail * status.f_frsize - left)))
        child = site.question()
    else:
        child = site.question(preexec_fn=partial(bounded, left))
    document, messages = site.heard(child)
    counts = Counter({f"{site.check_answer(document)} without room": 1, "full": 1})
    site.check_none_remains()
    site.check_stored()
    with site.as_user():
        build = read_build(site.root)
    assert build is None or build.failure
    counts["said so"] += "index-not-writable" in messages or bool(build and "No space left" in build.failure)
    filler.unlink(missing_ok=True)
    site.check_ends_well(chance)
    return counts


# -- at once


def ask_at_once(repositories: Sequence[Path], n_times: int, seed: int) -> Counter[str]:
    """Two questions and an index at once, of no index at all; then an edit while a process is in the background."""
    return _each(repositories, n_times, seed, _ask_at_once)


def _ask_at_once(site: FirstSite, chance: random.Random) -> Counter[str]:
    site.edit(chance)
    site.forget(chance)
    site.keep_contents()
    asked, indexed = [site.question()], None
    for _ in range(2):
        time.sleep(chance.choice((0.0, chance.random())))
        if indexed is None and chance.random() < 0.7:
            indexed = site.command("index", "--json", "--repo", str(site.root))
        else:
            asked.append(site.question())
    counts = Counter(site.check_answer(site.heard(each)[0]) for each in asked)
    if indexed is not None:
        site.heard(indexed)
    with site.as_user():
        build = read_build(site.root)
    # Nobody ended it.
    assert build is None or build.is_running, build
    if site.builders():
        for _ in range(chance.randrange(1, 3)):
            site.edit(chance)
        counts["edited meanwhile"] += 1
        site.keep_contents()
    site.check_none_remains()
    with site.as_user():
        build = read_build(site.root)
    # A folder in which nothing is left has no index.
    assert build is None or "nothing-to-index" in build.failure, build
    return counts + Counter({"times": 1}) + site.check_ends_well(chance)


# -- several users


def can_be_another() -> bool:
    """True if this process may start the same Python as another user."""
    try:
        return not subprocess.run([sys.executable, "-c", "import json"], user=_STRANGER, capture_output=True).returncode
    except OSError:
        return False


def share(repositories: Sequence[Path], n_times: int, seed: int) -> Counter[str]:
    """Two users ask about one folder, in which one of them may not write.

    This has to be root, with a Python that everybody may run.
    """
    if not can_be_another():
        return Counter({"not possible here": n_times})
    return _each(repositories, n_times, seed, _share)


def _share(site: FirstSite, chance: random.Random) -> Counter[str]:
    """The owner is this user. The other one has a cache of their own, in which they may write or not."""
    stranger = FirstSite.__new__(FirstSite)
    stranger.__dict__.update(site.__dict__)
    stranger.cache = site.root.parent / "cache-of-another"
    stranger.temporary = site.root.parent / "tmp-of-another"
    for folder in (stranger.cache, stranger.temporary):
        folder.mkdir(exist_ok=True)
        os.chown(folder, _STRANGER, _STRANGER)
    may_keep = chance.random() < 0.7
    stranger.cache.chmod(0o700 if may_keep else 0o500)
    _open_to_all(site.root.parent)
    site.edit(chance)
    site.forget(chance)
    site.keep_contents()
    _open_to_all(site.root.parent)
    as_stranger = {
        "user": _STRANGER, "group": _STRANGER, "extra_groups": [],
        "environment": {"HOME": str(stranger.cache), "PYTHONDONTWRITEBYTECODE": "1"},
    }  # fmt: skip
    counts: Counter[str] = Counter()
    order = chance.choice(("owner first", "stranger first", "at once", "after a kill"))
    if order == "after a kill":
        site.heard(site.question())
        for process in site.builders():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        site.check_none_remains()
    mine = site.question() if order in ("owner first", "at once") else None
    if mine is not None and order == "owner first":
        counts[site.check_answer(site.heard(mine)[0])] += 1
    theirs = stranger.question(**as_stranger)
    document, messages = stranger.heard(theirs)
    counts[f"{stranger.check_answer(document)} for a stranger"] += 1
    assert "note: index-not-writable" not in messages or not may_keep, messages
    if mine is not None and order == "at once":
        counts[site.check_answer(site.heard(mine)[0])] += 1
    site.check_none_remains()
    document, messages = stranger.heard(stranger.question(**as_stranger))
    kind = stranger.check_answer(document)
    counts[f"{kind} for a stranger again"] += 1
    # Their own process has built it, or the owner's; without a place to keep it there is none.
    assert kind != "part" or not may_keep, (order, messages)
    stranger.check_none_remains()
    counts += Counter({"times": 1, order: 1}) + site.check_ends_well(chance)
    stranger.check_folder()
    stranger.cache.chmod(0o700)
    _remove_below(stranger.cache)
    return counts


def _open_to_all(folder: Path) -> None:
    """Everybody may read, as in most folders of many users."""
    folder.chmod(0o755)


def _remove_below(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


# -- none wanted


def leave_alone(repositories: Sequence[Path], n_times: int, seed: int) -> Counter[str]:
    """Where no process is to be left behind none is, however a command ends."""
    return _each(repositories, n_times, seed, _leave_alone)


def _leave_alone(site: FirstSite, chance: random.Random) -> Counter[str]:
    site.edit(chance)
    site.forget(chance)
    settings = site.root / "causalist.toml"
    how = chance.choice(("--no-background", NO_BACKGROUND, "CI", "settings", "--wait"))
    if how == "settings":
        settings.write_text("[index]\nbackground = false\n")
    options = (how,) if how.startswith("-") else ()
    environment = {how: "true"} if how in (NO_BACKGROUND, "CI") else {}
    if not code_files(site.root):
        return Counter()
    child = site.question(options=options, environment=environment)
    if chance.random() < 0.3:
        with suppress(subprocess.TimeoutExpired):
            child.wait(chance.random())
        child.send_signal(signal.SIGKILL)
        _is_killed(child)
        kind = "killed"
    else:
        kind = site.check_answer(site.heard(child)[0])
        assert kind == "nothing" or (kind == "whole") == (how in ("CI", "--wait")), (kind, how)
    assert not site.builders(), how
    assert not (site.root / ".causalist" / BACKGROUND_NAME).exists(), how
    settings.unlink(missing_ok=True)
    site.keep_contents()
    return Counter({how: 1, kind: 1}) + site.check_ends_well(chance)
