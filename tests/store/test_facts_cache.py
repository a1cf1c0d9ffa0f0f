"""The cache of facts: it may lose time, never facts and never an answer."""

import os
import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from causalist.model.facts import Definition, FileFacts, Reference
from causalist.store import FOLDER, FactsCache, facts_cache, facts_to_bytes, facts_with_bodies, prepare_folder
from causalist.store.facts_cache import FACTS_FORMAT, Key

_ROOT = Path(__file__).parents[2]


def facts(n: int) -> FileFacts:
    return FileFacts("python", (Definition(f"f{n}", f"f{n}", 7, -1, 0, n, 0, n, "def", "ü\ud800", 0),), n_bytes=n)


def key(n: int, reader: str = "1:python") -> Key:
    return f"{n:040x}", reader


def filled(path: Path | None, count: int) -> FactsCache:
    cache = FactsCache(path)
    cache.put_many((key(n), facts_to_bytes(facts(n))) for n in range(count))
    return cache


def known(cache: FactsCache, count: int) -> list[int]:
    """Numbers of the facts that are found; each is checked to be the right one."""
    found = cache.get_many(key(n) for n in range(count))
    for n in range(count):
        assert found.get(key(n)) in (None, facts(n))
    return [n for n in range(count) if key(n) in found]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    prepare_folder(tmp_path / FOLDER)
    return tmp_path / FOLDER / "facts.db"


@pytest.mark.parametrize("place", ["memory", "disk"])
def test_what_was_put_is_found(place: str, path: Path) -> None:
    cache = filled(path if place == "disk" else None, 1200)  # more than one query takes
    assert known(cache, 1300) == list(range(1200))
    assert path.exists() == (place == "disk")
    assert cache.get_many([key(1, "2:python"), key(1), key(1)]) == {key(1): facts(1)}
    assert cache.get_many([]) == {}


def test_the_disk_outlives_the_object(path: Path) -> None:
    filled(path, 10)
    assert known(FactsCache(path), 12) == list(range(10))


def test_the_same_content_has_facts_for_each_reader(path: Path) -> None:
    cache = FactsCache(path)
    cache.put_many([(key(1, "a"), facts_to_bytes(facts(1))), (key(1, "b"), facts_to_bytes(facts(2)))])
    assert FactsCache(path).get_many([key(1, "a"), key(1, "b")]) == {key(1, "a"): facts(1), key(1, "b"): facts(2)}


def test_later_facts_replace_earlier_ones(path: Path) -> None:
    cache = filled(path, 3)
    cache.put_many([(key(1), facts_to_bytes(facts(9)))])
    assert cache.get_many([key(1)]) == {key(1): facts(9)}


def test_facts_may_come_without_their_words(path: Path) -> None:
    whole = replace(facts(1), words=b"a  b a")
    FactsCache(path).put_many([(key(1), facts_to_bytes(whole))])
    assert FactsCache(path).get_many([key(1)]) == {key(1): whole}
    assert FactsCache(path).get_many([key(1)], words=False) == {key(1): replace(whole, words=None)}


def test_bodies_may_come_apart(path: Path) -> None:
    whole = replace(facts(1), words=b"a a", references=(Reference(-1, "b", 0),))
    FactsCache(path).put_many([(key(1), facts_to_bytes(whole))])
    for words in (True, False):
        ((name, (interface, bodies)),) = FactsCache(path).get_parts([key(1), key(2)], words=words).items()
        assert (name, interface.references, interface.words is None) == (key(1), (), not words)
        assert facts_with_bodies(interface, bodies).references == whole.references


def test_facts_take_less_room_than_their_bytes(path: Path) -> None:
    whole = replace(facts(1), words=b"load row save " * 1000)
    FactsCache(path).put_many([(key(1), facts_to_bytes(whole))])
    with closing(sqlite3.connect(path)) as connection:
        (size,) = connection.execute("SELECT length(interface) + length(bodies) + length(words) FROM facts").fetchone()
    assert size < len(facts_to_bytes(whole)) / 5
    assert FactsCache(path).get_many([key(1)]) == {key(1): whole}


def test_no_file_appears_before_there_is_something_to_keep(path: Path) -> None:
    assert known(FactsCache(path), 3) == []
    assert not path.exists()


def test_what_was_not_used_for_longest_goes_when_there_is_too_much(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    days = iter(range(20_000, 30_000))
    day = next(days)
    monkeypatch.setattr(facts_cache, "_today", lambda: day)
    for first in range(0, 1500, 500):
        FactsCache(path).put_many((key(n), facts_to_bytes(facts(n))) for n in range(first, first + 500))
        day = next(days)
    assert known(FactsCache(path), 100) == list(range(100)), "and so they are young again"
    size = path.stat().st_size
    cache = FactsCache(path)
    cache.keep_only([key(600)])
    state = cache.state()
    assert state is not None and state.n_entries == 1500, "there is room"
    monkeypatch.setattr(facts_cache, "MAX_CACHE_BYTES", size // 2)
    cache.keep_only([key(600)])
    kept = known(FactsCache(path), 1500)
    assert {*range(100), 600} <= set(kept) and kept[-1] == 1499
    assert not set(kept) & set(range(100, 500))
    assert path.stat().st_size < 0.6 * size


def test_facts_of_another_format_are_forgotten(path: Path) -> None:
    filled(path, 5)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"PRAGMA user_version = {FACTS_FORMAT + 1}")
    assert known(FactsCache(path), 5) == []
    assert known(filled(path, 5), 5) == list(range(5))


def test_files_of_other_versions_stay_while_somebody_uses_them(tmp_path: Path) -> None:
    old, beside, young = tmp_path / "facts-1.db", tmp_path / "facts-1.db-wal", tmp_path / "facts-99999.db"
    for other in (old, beside, young):
        other.write_bytes(b"x")
    for other in (old, beside):
        os.utime(other, (1, 1))
    filled(tmp_path / f"facts-{FACTS_FORMAT}.db", 3)
    assert young.exists() and not old.exists() and not beside.exists()


def test_facts_under_the_name_of_others_are_not_believed(path: Path) -> None:
    filled(path, 3)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE facts SET interface = (SELECT interface FROM facts WHERE blob = ?) WHERE blob = ?",
                           (key(1)[0], key(2)[0]))  # fmt: skip
    assert known(FactsCache(path), 3) == [0, 1]


def test_the_state_says_how_much_there_is(path: Path) -> None:
    assert FactsCache().state() is None
    assert FactsCache(path).state() == (path, 0, 0)
    filled(path, 7)
    state = FactsCache(path).state()
    assert state is not None and state.n_entries == 7 and state.n_bytes == path.stat().st_size


# -- damage


def _rest(path: Path) -> list[Path]:
    return [path.with_name(path.name + suffix) for suffix in ("-wal", "-shm")]


@pytest.mark.parametrize(
    "content", [b"", b"x", b"no database\n" * 500, bytes(8192), b"SQLite format 3\0" + bytes(4080)]
)
def test_a_file_that_is_no_database_is_begun_anew(content: bytes, path: Path) -> None:
    path.write_bytes(content)
    cache = FactsCache(path)
    assert known(cache, 5) == []
    cache.put_many((key(n), facts_to_bytes(facts(n))) for n in range(5))
    assert known(cache, 5) == list(range(5))
    assert known(FactsCache(path), 5) == list(range(5)), "the next process finds them on the disk"


@pytest.mark.slow
def test_damage_costs_time_only(path: Path) -> None:
    filled(path, 60)
    for rest in _rest(path):
        assert not rest.exists()
    whole = path.read_bytes()
    chance = random.Random(5)
    n_lost = 0
    for trial in range(80):
        damaged = bytearray(whole)
        for _ in range(chance.choice([1, 20])):
            damaged[chance.randrange(min(len(damaged), chance.choice([200, 10**9])))] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged[: chance.randrange(len(damaged))] if trial % 5 == 0 else damaged)
        cache = FactsCache(path)
        n_lost += 60 - len(known(cache, 60))
        cache.put_many((key(n), facts_to_bytes(facts(n))) for n in range(60))
        cache.keep_only(key(n) for n in range(60))
        # SQLite does not notice keys out of order; a page of such rows stays lost, and is parsed each time.
        assert len(known(cache, 60)) > 20, trial
        for rest in _rest(path):
            rest.unlink(missing_ok=True)
    assert n_lost > 0


def test_a_schema_of_someone_else_is_survived(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE facts (blob TEXT COLLATE NOCASE, reader INTEGER, data TEXT, more BLOB)")
        connection.execute(f"PRAGMA user_version = {FACTS_FORMAT}")
        connection.execute("INSERT INTO facts VALUES ('A', 3, 'text', NULL)")
    cache = FactsCache(path)
    assert cache.get_many([("a", "3"), ("A", "3")]) == {}
    cache.put_many([(key(1), facts_to_bytes(facts(1)))])
    assert known(cache, 2) == [1]


def test_a_locked_file_is_left_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(path, 3)
    with closing(sqlite3.connect(path)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        monkeypatch.setattr(facts_cache, "_LOCKED_SECONDS", 0.05)
        cache = filled(path, 5)
        assert known(cache, 5) == list(range(5)), "in memory"
        holder.rollback()
    assert known(FactsCache(path), 5) == list(range(3))


def test_what_sqlite_does_not_wait_for_is_tried_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, n_refused = FactsCache._connect_checked, 0

    def refusing(self: FactsCache) -> sqlite3.Connection:
        nonlocal n_refused
        n_refused += 1
        if n_refused % 3:
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY_RECOVERY
            raise error
        return real(self)

    monkeypatch.setattr(FactsCache, "_connect_checked", refusing)
    filled(path, 3)
    assert known(FactsCache(path), 3) == [0, 1, 2] and n_refused == 6


# -- others at the same time

_WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from causalist.store import FactsCache, facts_to_bytes
from tests.store.test_facts_cache import facts, key, known
first, path = int(sys.argv[1]), Path(sys.argv[2])
sys.stdin.readline()
for n in range(first, 300, 3):
    cache = FactsCache(path)
    cache.put_many([(key(n), facts_to_bytes(facts(n)))])
    known(cache, 300)
"""


@pytest.mark.slow
def test_processes_that_write_at_once_lose_nothing(path: Path) -> None:
    code = _WRITER.format(root=str(_ROOT))
    writers = [
        subprocess.Popen([sys.executable, "-c", code, str(first), str(path)], stdin=subprocess.PIPE, cwd=_ROOT)
        for first in range(3)
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    assert known(FactsCache(path), 300) == list(range(300))
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_folder_that_is_read_only_is_survived(path: Path) -> None:
    filled(path, 3)
    if os.geteuid() == 0:
        # Permissions do not bind root; a path below a file cannot be written by anyone.
        path = path / "facts.db"
    else:
        path.parent.chmod(0o500)
    try:
        cache = filled(path, 5)
        assert known(cache, 5) == list(range(5))
        cache.keep_only([key(1)])
        assert known(cache, 5) == list(range(5))
    finally:
        if os.geteuid():
            path.parent.chmod(0o700)
