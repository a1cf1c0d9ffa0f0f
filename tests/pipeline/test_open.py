"""Opening a repository: the stored index is used while it is right, and never when it is not."""

import json
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from causalist.errors import NothingToIndex, RefusedRoot, RepositoryNotFound
from causalist.index import collect, options
from causalist.index import freshness as versions
from causalist.index import open as indexing
from causalist.index.open import is_current
from causalist.index.options import IndexOptions
from causalist.model.answer import AskOptions
from causalist.model.source import FileEntry, SourceFile
from causalist.parse import parse_file
from causalist.pipeline.repository import Repository
from causalist.source import Limits, read_file, scan_folder
from causalist.store import FOLDER, INDEX_NAME, FactsCache, facts_path, facts_to_bytes, read_index, write_index
from tests.indexes import arrays_of, differences, digest, without_stamps
from tests.pipeline.conftest import WorkTree
from tests.pipeline.sample import edges_of, in_memory, plain_answer

_ORDINARY_USER = 65534
_QUESTION = "where is an order saved?"


def symbols(repository: Repository) -> set[str]:
    return {node for node in repository.index.graph.nodes.ids if "::" in node}


def check_fresh(repository: Repository) -> None:
    """The repository answers as if its index had been built now."""
    again = in_memory(repository.root)
    assert differences(without_stamps(repository.index), without_stamps(again.index)) == []
    assert edges_of(repository) == edges_of(again)


def slugs(repository: Repository) -> list[str]:
    return [note.slug for note in repository.notes]


# -- reuse


def test_the_first_opening_builds_and_stores(tree: WorkTree, parsed: list[str]) -> None:
    repository = Repository.open(tree.path)
    assert sorted(parsed) == ["README.md", "app.py", "store.py"]
    assert repository.notes == ()
    assert repository.index.commit == tree.git("rev-parse", "HEAD").strip()
    stored = read_index(tree.path / FOLDER / INDEX_NAME)
    assert stored is not None
    assert differences(stored, repository.index) == []
    check_fresh(repository)


def test_the_second_opening_parses_and_writes_nothing(
    tree: WorkTree, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Repository.open(tree.path)
    parsed.clear()
    monkeypatch.setattr("causalist.index.build.build_index", lambda *_: pytest.fail("built again"))
    before = (tree.path / FOLDER / INDEX_NAME).stat()
    second = Repository.open(tree.path)
    assert parsed == []
    assert differences(first.index, second.index) == []
    assert (tree.path / FOLDER / INDEX_NAME).stat().st_ino == before.st_ino
    assert plain_answer(first.ask(_QUESTION)) == plain_answer(second.ask(_QUESTION))


def test_new_times_of_unchanged_files_are_noted_and_nothing_is_made_again(
    tree: WorkTree, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # One is known as binary by its name, the other only after it was read, as are files of one line.
    (tree.path / "logo.png").write_bytes(b"\x89PNG")
    (tree.path / "blob").write_bytes(b"\0\1\2")
    first = Repository.open(tree.path)
    assert first.index.skipped == {"binary": 2}
    for name in ("app.py", "logo.png", "blob"):
        os.utime(tree.path / name, ns=(10**18 + 5, 10**18 + 5))
    parsed.clear()
    with monkeypatch.context() as patched:
        patched.setattr("causalist.index.build.build_index", lambda *_: pytest.fail("built again"))
        second = Repository.open(tree.path)
    assert parsed == []
    assert differences(without_stamps(first.index), without_stamps(second.index)) == []
    assert second.index.manifest.mtimes.max() == 10**18 + 5


@pytest.mark.parametrize("first, then", [(b"\0 text", b"text"), (b"text", b"\0 text"), (b"\0 text", b"x" * 9_000)])
def test_a_file_that_was_not_fit_and_is_now_or_the_other_way_round(first: bytes, then: bytes, tree: WorkTree) -> None:
    (tree.path / "some.txt").write_bytes(first)
    Repository.open(tree.path)
    (tree.path / "some.txt").write_bytes(then)
    tree.write("app.py", "def other():\n    pass\n")
    check_fresh(Repository.open(tree.path))


def test_a_folder_inside_opens_the_whole_repository_unless_told_otherwise(tree: WorkTree) -> None:
    tree.write("inner/part.py", "def ship_order():\n    pass\n")
    assert Repository.open(tree.path / "inner").root == tree.path.resolve()
    part = Repository.open(tree.path / "inner", exact_root=True)
    assert symbols(part) == {"part.py::ship_order"}
    assert (tree.path / "inner" / FOLDER / INDEX_NAME).exists()


def test_a_plain_folder_needs_no_git(tmp_path: Path, parsed: list[str]) -> None:
    (tmp_path / "a.py").write_text("def save_order():\n    pass\n")
    os.utime(tmp_path / "a.py", ns=(10**18, 10**18))
    assert Repository.open(tmp_path).index.commit is None
    parsed.clear()
    assert symbols(Repository.open(tmp_path)) == {"a.py::save_order"}
    assert parsed == []


def test_folders_that_cannot_be_indexed_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RepositoryNotFound):
        Repository.open(tmp_path / "gone")
    with pytest.raises(NothingToIndex):
        Repository.open(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "a.py").write_text("def f():\n    pass\n")
    with pytest.raises(RefusedRoot):
        Repository.open(tmp_path)
    assert not (tmp_path / FOLDER / INDEX_NAME).exists()
    assert Repository.open(tmp_path, force=True).info().files == 1


# -- changes


def _edit(tree: WorkTree) -> None:
    tree.write("store.py", "def save_order(order):\n    return order\n\n\ndef drop_order():\n    pass\n")


def _edit_within_the_second(tree: WorkTree) -> None:
    """Same size, same time stamp: only that the file was young when it was looked at gives it away."""
    before = (tree.path / "store.py").stat()
    tree.write("store.py", "def sort_order(order):\n    return order\n")
    os.utime(tree.path / "store.py", ns=(before.st_mtime_ns, before.st_mtime_ns))
    after = (tree.path / "store.py").stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def _edit_same_size(tree: WorkTree) -> None:
    tree.write("store.py", "def sort_order(order):\n    return order\n")


def _add(tree: WorkTree) -> None:
    tree.write("deep/er/new.py", "from store import save_order\n")


def _delete(tree: WorkTree) -> None:
    (tree.path / "store.py").unlink()


def _rename(tree: WorkTree) -> None:
    (tree.path / "store.py").rename(tree.path / "shelf.py")


def _swap(tree: WorkTree) -> None:
    app, store = (tree.path / "app.py").read_text(), (tree.path / "store.py").read_text()
    tree.write("app.py", store)
    tree.write("store.py", app)


def _ignore(tree: WorkTree) -> None:
    tree.write(".causalistignore", "store.py\n")


def _empty(tree: WorkTree) -> None:
    tree.write("store.py", "")


def _binary(tree: WorkTree) -> None:
    (tree.path / "store.py").write_bytes(b"\0\1\2" * 100)


_CHANGES: dict[str, Callable[[WorkTree], None]] = {
    "edited": _edit,
    "edited, same size": _edit_same_size,
    "added": _add,
    "deleted": _delete,
    "renamed": _rename,
    "swapped": _swap,
    "ignored": _ignore,
    "emptied": _empty,
    "now binary": _binary,
}


@pytest.mark.parametrize("change", _CHANGES)
@pytest.mark.parametrize("age", ["old", "young"])
def test_changes_are_seen(change: str, age: str, tree: WorkTree, parsed: list[str]) -> None:
    if age == "young":
        for name in ("app.py", "store.py"):
            os.utime(tree.path / name)
    before = Repository.open(tree.path)
    parsed.clear()
    _CHANGES[change](tree)
    after = Repository.open(tree.path)
    assert len(parsed) <= 1, "what is known is not parsed again"
    assert digest(without_stamps(before.index)) != digest(without_stamps(after.index))
    check_fresh(after)
    check_fresh(Repository.open(tree.path))


@pytest.mark.skipif(os.name == "nt", reason="there no time tells that a file was replaced")
def test_files_that_trade_places_are_seen_though_size_and_time_stay(tree: WorkTree) -> None:
    one, other = tree.write("one.py", "def pack_parcel(): 1\n"), tree.write("two.py", "def send_parcel(): 1\n")
    tree.settle()
    Repository.open(tree.path)
    aside = tree.path / "aside"
    one.rename(aside)
    other.rename(one)
    aside.rename(other)
    check_fresh(Repository.open(tree.path))
    assert "one.py::send_parcel" in symbols(Repository.open(tree.path))


def test_files_of_the_future_are_read_once(tree: WorkTree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be said of their times, but of when they were changed."""
    for name in ("app.py", "store.py"):
        os.utime(tree.path / name, ns=(2**32 * 10**9, 2**32 * 10**9))
    index = replace(Repository.open(tree.path).index, scanned_at=time.time_ns() + 3 * 10**9)
    assert is_current(scan_folder(tree.path), index)


def _copied(tree: WorkTree, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tree.path, tmp_path / "copy"))


@pytest.mark.skipif(os.name == "nt", reason="there a copy cannot be told from its original")
def test_an_index_that_came_with_the_files_is_not_believed(tree: WorkTree, tmp_path: Path) -> None:
    """Whoever ships a repository could ship an index of it that says something else, with checksums that are right."""
    honest = Repository.open(tree.path).index
    folder = _copied(tree, tmp_path)
    scores = honest.transition.weights
    false = replace(honest, transition=replace(honest.transition, weights=scores / 2))
    words = honest.lexical.definitions
    false = replace(false, lexical=replace(honest.lexical, definitions=replace(words, counts=words.counts + 7)))
    write_index(folder / FOLDER / INDEX_NAME, false)
    for path in folder.rglob("*"):
        os.utime(path, ns=(10**18, 10**18))
    repository = Repository.open(folder)
    assert differences(without_stamps(repository.index), without_stamps(honest)) == []
    check_fresh(repository)


def test_a_change_within_the_clocks_second_is_seen(tree: WorkTree) -> None:
    os.utime(tree.path / "store.py")
    before = Repository.open(tree.path)
    _edit_within_the_second(tree)
    after = Repository.open(tree.path)
    assert "store.py::save_order" in symbols(before) and "store.py::sort_order" in symbols(after)
    check_fresh(after)


def test_a_file_that_changed_while_it_was_read_is_read_again(tree: WorkTree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the scan and the reading the file is replaced; the index holds the new text under the old stamp."""

    real = indexing.scan_folder

    def scan_then_edit(root: Path, limits: Limits, **options: object) -> object:
        scan = real(root, limits, **options)
        _edit(tree)
        return scan

    with monkeypatch.context() as patched:
        patched.setattr(indexing, "scan_folder", scan_then_edit)
        Repository.open(tree.path)
    tree.write("store.py", "def later():\n    pass\n")
    after = Repository.open(tree.path)
    assert "store.py::later" in symbols(after)
    check_fresh(after)


def test_a_commit_without_a_change_is_seen_and_parses_nothing(tree: WorkTree, parsed: list[str]) -> None:
    Repository.open(tree.path)
    parsed.clear()
    commit = tree.commit()
    after = Repository.open(tree.path)
    assert after.index.commit == commit
    assert parsed == []


def test_going_back_to_an_earlier_state_parses_nothing(tree: WorkTree, parsed: list[str]) -> None:
    first = Repository.open(tree.path)
    _edit(tree)
    tree.commit()
    Repository.open(tree.path)
    parsed.clear()
    tree.git("checkout", "-q", "HEAD~1")
    again = Repository.open(tree.path)
    assert parsed == []
    assert differences(without_stamps(first.index), without_stamps(again.index)) == []


def test_the_same_text_is_read_by_the_name_of_its_file(tree: WorkTree) -> None:
    """package.json and tsconfig.json mean different things by the same words; the cache must not mix them up."""
    text = '{"name": "shop", "main": "app.js", "compilerOptions": {"baseUrl": "src", "paths": {"@/*": ["lib/*"]}}}'
    tree.write("package.json", text)
    Repository.open(tree.path)
    tree.write("tsconfig.json", text)
    check_fresh(Repository.open(tree.path))
    assert collect.reader_of("package.json") != collect.reader_of("tsconfig.json")
    assert collect.reader_of("a/package.json") == collect.reader_of("b/package.json")


def test_a_current_index_is_told_by_metadata_alone(tree: WorkTree) -> None:
    index = Repository.open(tree.path).index
    assert is_current(scan_folder(tree.path), index)
    os.utime(tree.path / "app.py", ns=(10**18 + 1, 10**18 + 1))
    assert not is_current(scan_folder(tree.path), index)


# -- facts are the user's, not the folder's


def test_clones_and_work_trees_share_facts(tree: WorkTree, tmp_path: Path, parsed: list[str]) -> None:
    Repository.open(tree.path)
    tree.git("worktree", "add", "-q", str(tmp_path / "beside"))
    tree.git("clone", "-q", str(tree.path), str(tmp_path / "clone"))
    (tmp_path / "clone" / "more.py").write_text("def ship_order():\n    pass\n")
    parsed.clear()
    check_fresh(Repository.open(tmp_path / "beside"))
    assert parsed == ["README.md", "app.py", "store.py"], "by the comparison, not by the opening"
    parsed.clear()
    assert "more.py::ship_order" in symbols(Repository.open(tmp_path / "clone"))
    assert parsed == ["more.py"]


def test_a_cache_that_a_repository_ships_is_not_looked_at(tree: WorkTree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Facts of the right content by name and checksum, which say something else."""
    false = parse_file("store.py", b"def open_the_door(order):\n    return order\n")
    source = read_file(tree.path, FileEntry("store.py", 0, 0))
    assert isinstance(source, SourceFile)
    key = (source.blob, collect.reader_of("store.py"))
    (tree.path / FOLDER).mkdir()
    FactsCache(tree.path / FOLDER / "facts.db").put_many([(key, facts_to_bytes(false))])
    assert FactsCache(tree.path / FOLDER / "facts.db").get_many([key]) == {key: false}
    check_fresh(Repository.open(tree.path))
    assert not (tree.path / FOLDER / "facts.db").exists(), "where facts were once is nothing now"


# -- versions and damage


def test_another_version_of_the_program_builds_again(
    tree: WorkTree, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Repository.open(tree.path)
    parsed.clear()
    monkeypatch.setattr(versions, "INDEX_VERSION", versions.INDEX_VERSION + 1)
    linked = Repository.open(tree.path)
    assert linked.index.version != before.index.version
    assert parsed == [], "facts stay right when only the index is made differently"
    monkeypatch.setattr(options, "PARSER_VERSION", options.PARSER_VERSION + 1)
    again = Repository.open(tree.path)
    assert again.index.version != linked.index.version
    assert sorted(parsed) == ["README.md", "app.py", "store.py"]
    parsed.clear()
    assert Repository.open(tree.path).index.version == again.index.version
    assert parsed == []


@pytest.mark.parametrize("damage", ["truncated", "flipped", "foreign", "empty", "folder"])
def test_a_damaged_index_is_built_again(damage: str, tree: WorkTree, parsed: list[str]) -> None:
    first = Repository.open(tree.path)
    path = tree.path / FOLDER / INDEX_NAME
    data = path.read_bytes()
    damaged = {
        "truncated": data[:-1],
        "flipped": data[:-9] + bytes([data[-9] ^ 4]) + data[-8:],
        "foreign": b"hello\n" * 1000,
        "empty": b"",
        "folder": None,
    }[damage]
    path.unlink()
    if damaged is None:
        path.mkdir()
    else:
        path.write_bytes(damaged)
    parsed.clear()
    second = Repository.open(tree.path)
    assert "index-unreadable" in slugs(second)
    assert differences(without_stamps(first.index), without_stamps(second.index)) == []
    assert second.ask(_QUESTION).diagnostics == second.notes
    if damaged is not None:
        assert parsed == [], "the facts are not damaged"
        assert Repository.open(tree.path).notes == ()


def test_an_index_of_another_format_is_replaced_without_a_word(tree: WorkTree, parsed: list[str]) -> None:
    Repository.open(tree.path)
    path = tree.path / FOLDER / INDEX_NAME
    data = path.read_bytes()
    path.write_bytes(data[:16] + b"\1\0\0\0" + data[20:])
    parsed.clear()
    assert Repository.open(tree.path).notes == () and parsed == []
    check_fresh(Repository.open(tree.path))


def test_a_damage_is_reported_once(tree: WorkTree) -> None:
    Repository.open(tree.path)
    (tree.path / FOLDER / INDEX_NAME).write_bytes(b"x" * 100)
    assert slugs(Repository.open(tree.path)).count("index-unreadable") == 1


def test_damaged_facts_cost_time_only(tree: WorkTree, parsed: list[str]) -> None:
    Repository.open(tree.path)
    facts_path().write_bytes(b"no database at all" * 300)
    (tree.path / FOLDER / INDEX_NAME).unlink()
    parsed.clear()
    check_fresh(Repository.open(tree.path))
    assert len(parsed) >= 3
    parsed.clear()
    (tree.path / FOLDER / INDEX_NAME).unlink()
    Repository.open(tree.path)
    assert parsed == [], "the cache was begun anew"


# -- folders that cannot be written


@pytest.fixture
def ordinary(tree: WorkTree) -> Iterator[tuple[Path, Callable[[], None]]]:
    """A folder and a switch to a user whom permissions bind, because they do not bind root."""
    in_memory(tree.path).ask(_QUESTION)  # modules that are imported late may not be readable for that user
    is_root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        folder = Path(name) / "shop"
        folder.mkdir()
        for file in ("app.py", "store.py"):
            (folder / file).write_text((tree.path / file).read_text())
            os.utime(folder / file, ns=(10**18, 10**18))
        try:
            yield folder, lambda: os.seteuid(_ORDINARY_USER) if is_root else None
        finally:
            if is_root:
                os.seteuid(0)
            for path in [folder, *folder.rglob("*")]:
                path.chmod(0o755 if path.is_dir() else 0o644)


@pytest.fixture
def writable_cache(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache folder that everybody may write to."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        monkeypatch.setenv("XDG_CACHE_HOME", name)
        yield Path(name)


def test_a_read_only_folder_is_indexed_in_the_cache_folder(
    writable_cache: Path, ordinary: tuple[Path, Callable[[], None]], parsed: list[str]
) -> None:
    folder, become_ordinary = ordinary
    folder.chmod(0o555)
    become_ordinary()
    first = Repository.open(folder)
    assert first.notes == () and sorted(parsed) == ["app.py", "store.py"]
    assert not (folder / FOLDER).exists()
    (stored,) = writable_cache.rglob(INDEX_NAME)
    assert stored.parent.stat().st_mode & 0o777 == 0o700
    parsed.clear()
    again = Repository.open(folder)
    assert again.notes == () and parsed == []
    assert digest(again.index) == digest(first.index)


def test_a_stale_read_only_index_is_refreshed_in_the_cache_folder(
    writable_cache: Path, ordinary: tuple[Path, Callable[[], None]], parsed: list[str]
) -> None:
    folder, become_ordinary = ordinary
    Repository.open(folder)
    shutil.rmtree(writable_cache / "causalist")  # of another user
    (folder / "store.py").write_text("def keep_order():\n    pass\n")
    os.utime(folder / "store.py", ns=(10**18, 10**18))
    _make_read_only(folder)
    become_ordinary()
    assert "store.py::keep_order" in symbols(Repository.open(folder))
    parsed.clear()
    assert "store.py::keep_order" in symbols(Repository.open(folder))
    assert parsed == []


def test_two_read_only_folders_do_not_share_an_index(
    writable_cache: Path, ordinary: tuple[Path, Callable[[], None]]
) -> None:
    folder, become_ordinary = ordinary
    other = folder.parent / "other"
    other.mkdir()
    (other / "b.py").write_text("def resend(): pass\n")
    for each in (folder, other):
        each.chmod(0o555)
    become_ordinary()
    assert "app.py::checkout" in symbols(Repository.open(folder))
    assert symbols(Repository.open(other)) == {"b.py::resend"}
    assert len(list(writable_cache.rglob(INDEX_NAME))) == 2


def test_without_any_place_to_write_the_index_stays_in_memory(ordinary: tuple[Path, Callable[[], None]]) -> None:
    folder, become_ordinary = ordinary
    folder.chmod(0o555)
    become_ordinary()
    repository = Repository.open(folder)
    assert slugs(repository) == ["index-not-writable"]
    assert repository.ask(_QUESTION).results[0].id == "store.py::save_order"
    assert not (folder / FOLDER).exists()


def _make_read_only(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.chmod(0o555 if path.is_dir() else 0o444)
    folder.chmod(0o555)


def test_a_read_only_index_is_used_while_it_is_right(
    ordinary: tuple[Path, Callable[[], None]], parsed: list[str]
) -> None:
    folder, become_ordinary = ordinary
    for file in folder.iterdir():
        file.chmod(0o444)
    Repository.open(folder)
    _make_read_only(folder / FOLDER)
    folder.chmod(0o555)
    parsed.clear()
    become_ordinary()
    repository = Repository.open(folder)
    assert repository.notes == () and parsed == []


def test_a_stale_read_only_index_is_refreshed_in_memory_at_worst(
    ordinary: tuple[Path, Callable[[], None]],
) -> None:
    folder, become_ordinary = ordinary
    Repository.open(folder)
    stored = (folder / FOLDER / INDEX_NAME).read_bytes()
    (folder / "store.py").write_text("def keep_order():\n    pass\n")
    _make_read_only(folder)
    become_ordinary()
    repository = Repository.open(folder)
    assert slugs(repository) == ["index-not-writable"]
    assert "store.py::keep_order" in symbols(repository)
    assert (folder / FOLDER / INDEX_NAME).read_bytes() == stored


# -- processes and threads


@pytest.mark.slow
@pytest.mark.parametrize(("processes", "pool_from"), [(1, 0), (2, 0), (2, 1 << 40)], ids=["one", "pool", "pair"])
def test_the_number_of_processes_does_not_show(
    processes: int, pool_from: int, sample: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collect, "_PARALLEL_THRESHOLD_BYTES", pool_from)
    monkeypatch.setattr(collect, "_PAIR_THRESHOLD_BYTES", 0)
    monkeypatch.setattr(collect, "_CHUNK_BYTES", 5_000)
    again = in_memory(sample.root, processes)
    assert arrays_of(again.index).keys() == arrays_of(sample.index).keys()
    assert differences(again.index, sample.index) == []


def test_grammars_that_much_needs_are_there_before_processes_are(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    monkeypatch.setattr("causalist.parse.load_grammar", loaded.append)
    sizes = {"a.py": 90, "b.go": 9, "c.txt": 200, "lib/d.py": 1}
    collect.preload_grammars(sizes.items())
    assert loaded == ["python"]
    collect.preload_grammars([])
    assert loaded == ["python"]


def test_two_who_open_at_once_get_the_same(tree: WorkTree) -> None:
    found: list[Repository] = []
    threads = [threading.Thread(target=lambda: found.append(Repository.open(tree.path))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({digest(without_stamps(repository.index)) for repository in found}) == 1 and len(found) == 4
    assert all(repository.notes == () for repository in found)


def test_progress_is_told(tree: WorkTree) -> None:
    told: list[tuple[str, int, int]] = []
    Repository.open(tree.path, options=IndexOptions(processes=1, progress=lambda *row: told.append(row)))
    # Once before files are read and once for each file.
    assert [what for what, _, _ in told] == ["scanning", *["parsing"] * 4, *["linking"] * 3, "indexing words"]
    assert all(done <= total or not total for _, done, total in told)


def test_a_commit_gives_what_its_checkout_gives(tree: WorkTree) -> None:
    commit = tree.git("rev-parse", "HEAD").strip()
    opened = Repository.open(tree.path)
    at_commit = Repository.at_commit(tree.path / ".git", commit)
    assert differences(without_stamps(opened.index), without_stamps(at_commit.index)) == []
    one, other = plain_answer(opened.ask(_QUESTION)), plain_answer(at_commit.ask(_QUESTION))
    for answer in (one, other):
        del answer["pack"]  # names the folder
    assert one == other
    _edit(tree)
    assert symbols(Repository.at_commit(tree.path / ".git", commit)) == symbols(opened)


def test_text_of_a_file_that_changed_after_opening_is_not_cut_by_old_places(tree: WorkTree) -> None:
    repository = Repository.open(tree.path)
    tree.write("store.py", "# zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\n" * 3)
    pack = repository.ask(_QUESTION).pack
    assert pack is not None and "store.py" in pack.text
    assert "zzzz" not in pack.text


def test_a_getter_and_its_setter_take_one_place(tree: WorkTree) -> None:
    tree.write(
        "limits.py",
        "class Limits:\n    @property\n    def patience(self):\n        return self._patience\n\n"
        "    @patience.setter\n    def patience(self, seconds):\n        self._patience = seconds\n",
    )
    ids = [hit.id for hit in Repository.open(tree.path).ask("patience").results]
    assert sum(node.startswith("limits.py::Limits.patience") for node in ids) == 1


def test_a_notebook_is_shown_as_its_cells(tree: WorkTree) -> None:
    cells = [
        ("markdown", ["# Refunds\n", "\n", 'Who gets "money" back.']),
        ("code", ["def refund(order):\n", '    return f"{order}\\n"']),
    ]
    output = {"output_type": "stream", "text": ["x\n"] * 30}
    notebook = {"cells": [{"cell_type": kind, "outputs": [output], "source": text} for kind, text in cells]}
    tree.write("refunds.ipynb", json.dumps(notebook, indent=1) + "\n")
    answer = Repository.open(tree.path).ask("who gets a refund?", AskOptions(top_k=2))
    by_id = {hit.id: hit for hit in answer.results}
    assert set(by_id) == {"refunds.ipynb::refund", "refunds.ipynb#refunds"} and answer.pack is not None
    written = (tree.path / "refunds.ipynb").read_text().split("\n")
    assert "def refund" in written[by_id["refunds.ipynb::refund"].start_row]
    assert 'Who gets "money" back.\n' in answer.pack.text
    assert 'def refund(order):\n    return f"{order}\\n"\n' in answer.pack.text
    assert "output_type" not in answer.pack.text and "\n\n\n\n" not in answer.pack.text


# -- repositories inside


def test_a_folder_of_repositories_is_answered_over_all(tmp_path: Path) -> None:
    folder = tmp_path / "clones"
    for name in ("api", "web"):
        inner = WorkTree(folder / name)
        inner.write("main.py", f"def {name}_main():\n    return 1\n")
        inner.commit()
    repository = Repository.open(folder, exact_root=True)
    assert symbols(repository) == {"api/main.py::api_main", "web/main.py::web_main"}
    (folder / "web" / "more.py").write_text("def more():\n    return 2\n")
    again = Repository.open(folder, exact_root=True)
    assert "web/more.py::more" in symbols(again)
    asked = Repository.open(folder, exact_root=True, options=IndexOptions(submodules=True))
    assert edges_of(asked) == edges_of(again)
    with pytest.raises(NothingToIndex):
        Repository.open(folder, exact_root=True, options=IndexOptions(submodules=False))


def test_a_repository_of_repositories_says_how(tmp_path: Path) -> None:
    meta = WorkTree(tmp_path / "meta")
    inner = WorkTree(meta.path / "api")
    inner.write("main.py", "def api_main():\n    return 1\n")
    inner.commit()
    with pytest.raises(NothingToIndex, match=r"`causalist index --submodules` reads the repositories inside"):
        Repository.open(meta.path, exact_root=True)
