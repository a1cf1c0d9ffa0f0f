"""A memory that is not lost: bad passages, damaged files, killed and other writers, deleted folders."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from causalist.cli.memory import memory_command
from causalist.errors import IndexNotWritable, IndexUnreadable, UsageError
from causalist.memory import HippoIndex
from causalist.memory import saved_memory as storage
from causalist.memory.document_sync import MemoryFile
from causalist.memory.saved_memory import read_passages
from causalist.store import index_file
from tests.memory.test_index import _fingerprint
from tests.memory.test_saved_memory import _rich
from tests.memory.texts import team


def test_a_lone_surrogate_does_not_keep_the_rest_from_being_saved(tmp_path: Path) -> None:
    index = HippoIndex()
    index.build_from_passages(
        [
            {"id": "bad", "text": "The Led\ud800ger of Acme Corp", "metadata": {"title": "T\udfff", "k": ["\ud83d"]}},
            {"id": "good", "text": "Ada Byron keeps the Ledger."},
        ]
    )
    index.save(tmp_path / "memory.db")
    again = HippoIndex.load(tmp_path / "memory.db")
    assert again.passage_ids == ["bad", "good"]
    assert again.passage("bad") == ("The Led\ufffdger of Acme Corp", {"title": "T\ufffd", "k": ["\ufffd"]})
    with pytest.raises(UsageError, match="valid Unicode"):
        index.add_passage("\ud800", "text")


@pytest.mark.slow
def test_a_damaged_memory_is_read_again_by_the_command_that_found_it(tmp_path: Path) -> None:
    """300 files with a byte changed, or cut off: of each, all passages are found, or the rest with a note."""
    whole = tmp_path / "whole.db"
    team().save(whole)
    data, chance, n_kept = whole.read_bytes(), random.Random(1), 0
    known = set(team().passage_ids)
    for trial in range(300):
        file = tmp_path / "memory.db"
        broken = bytearray(data)
        if trial % 3:
            broken[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        else:
            broken = broken[: chance.randrange(len(data))]
        file.write_bytes(broken)
        notes: list[str] = []
        try:
            index = MemoryFile(file, tmp_path).open(note=notes.append)
        except IndexUnreadable:
            assert not read_passages(file)
            continue
        assert set(index.passage_ids) <= known
        assert notes or set(index.passage_ids) == known
        n_kept += set(index.passage_ids) == known
        if notes:
            assert HippoIndex.load(file).passage_ids == index.passage_ids
            assert (tmp_path / "memory.db.damaged").read_bytes() == bytes(broken)
            (tmp_path / "memory.db.damaged").unlink()
    assert n_kept >= 190  # all with a changed byte but a few in the schema or in a passage; the others were cut off


def test_a_command_says_what_it_read_again(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    team().save(file)
    data = bytearray(file.read_bytes())
    data[data.index(b"similar.keys")] ^= 1  # in the header
    file.write_bytes(data)
    run = CliRunner().invoke(memory_command, ["search", "Identity Team", "--memory", str(file)])
    assert run.exit_code == 0 and "passages of it were read again" in run.stderr
    assert CliRunner().invoke(memory_command, ["search", "Identity Team", "--memory", str(file)]).stderr == ""


def test_a_file_that_is_no_memory_is_made_anew_from_the_documents(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Ledger\n\nAda Byron keeps it.\n")
    file = tmp_path / "memory.db"
    file.write_bytes(b"no memory at all")
    notes: list[str] = []
    MemoryFile(file, tmp_path).add([tmp_path / "notes.md"], note=notes.append)
    assert len(notes) == 1 and "read again" in notes[0]
    assert len(HippoIndex.load(file)) == 1
    assert (tmp_path / "memory.db.damaged").read_bytes() == b"no memory at all"


def test_a_file_that_was_checked_is_not_checked_again_until_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, seen, checked = tmp_path / "memory.db", tmp_path / "memory.db.seen", []
    index = team()
    index.save(file)
    sum_of = index_file._checksum
    monkeypatch.setattr(index_file, "_checksum", lambda data: checked.append(len(data)) or sum_of(data))
    HippoIndex.load(file)
    assert not seen.exists()  # another change in the same moment would have the same times
    monkeypatch.setattr(index_file, "_TICK_NS", 0)
    HippoIndex.load(file)
    assert seen.exists() and checked
    checked.clear()
    assert _fingerprint(HippoIndex.load(file)) == _fingerprint(index)
    assert not checked
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(IndexUnreadable, match="damaged"):
        HippoIndex.load(file)
    assert checked


def test_a_killed_writer_leaves_no_file_for_ever(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left, own = tmp_path / f"memory.db.{ended.pid}.new", tmp_path / f"memory.db.{os.getppid()}.new"
    other, beside = tmp_path / f"other.db.{ended.pid}.new", tmp_path / f"memory.db.read.{ended.pid}.new"
    for each in (left, own, other, beside):
        each.write_bytes(b"half")
    team().save(tmp_path / "memory.db")
    assert not left.exists() and not beside.exists()
    assert own.exists() and other.exists()  # a living writer's, and another memory's


def test_two_writers_do_not_lose_each_others_work_silently(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    team().save(file)
    one, other = HippoIndex.load(file), HippoIndex.load(file)
    one.add_passage("one", "By the first writer.")
    one.save(file)
    one.add_passage("more", "By the first writer again.")
    one.save(file)
    other.add_passage("other", "By the second writer.")
    with pytest.raises(IndexNotWritable, match="another writer"):
        other.save(file)
    other.save(tmp_path / "copy.db")
    assert {"one", "more"} <= set(HippoIndex.load(file).passage_ids)


@pytest.mark.parametrize("is_listed", [True, False])
def test_a_deleted_folder_is_forgotten(tmp_path: Path, is_listed: bool) -> None:
    folder, kept = tmp_path / "docs", tmp_path / "kept"
    for each in (folder, kept):
        each.mkdir()
        (each / "a.md").write_text(f"# {each.name}\n\nAda Byron was here.\n")
    memory = MemoryFile(tmp_path / "memory.db", tmp_path)
    memory.add([folder, kept])
    if not is_listed:  # as after a repair of the memory
        (tmp_path / "memory.db.read").unlink()
    (folder / "a.md").unlink()
    folder.rmdir()
    done = memory.add([folder])
    assert done.removed == 1
    assert [p.partition("#")[0] for p in memory.open().passage_ids] == ["kept/a.md"]


@pytest.fixture
def grown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A memory with two appended changes: a new passage and a removed one; that one again, with other text."""
    monkeypatch.setattr(storage, "APPENDED_SHARE", 10.0)
    path = tmp_path / "memory.db"
    index = team()
    index.save(path)
    index.add_passage("new", "The JWT is checked by Ada Byron.", metadata={"path": "a.md"})
    gone = index.passage_ids[0]
    index.remove_passage(gone)
    index.save(path)
    index.add_passage(gone, "Ada Byron left the Identity Team.")
    index.save(path)
    return path


def _texts(index: HippoIndex) -> dict[str, str]:
    return {passage: index.passage(passage)[0] for passage in index.passage_ids}


def test_a_small_change_is_appended(grown: Path) -> None:
    whole = grown.with_name("whole.db")
    team().save(whole)
    data = grown.read_bytes()
    assert data.startswith(whole.read_bytes()) and 0 < len(data) - whole.stat().st_size < 2_000
    wanted = team()
    gone = wanted.passage_ids[0]
    wanted.add_passage("new", "The JWT is checked by Ada Byron.", metadata={"path": "a.md"})
    wanted.add_passage(gone, "Ada Byron left the Identity Team.")
    index = HippoIndex.load(grown)
    assert _fingerprint(index) == _fingerprint(wanted) and index.passage("new") == wanted.passage("new")
    index.save(grown)
    assert grown.read_bytes() == data  # nothing has changed
    index.save(grown.with_name("other.db"))
    assert _texts(HippoIndex.load(grown.with_name("other.db"))) == _texts(wanted)


@pytest.mark.slow
def test_every_changed_byte_of_an_appended_change_is_noticed(grown: Path) -> None:
    """With one byte changed the passages of the rest are found; of a file that is cut off, those before the change."""
    whole = grown.with_name("whole.db")
    team().save(whole)
    start, data = whole.stat().st_size, grown.read_bytes()
    before, after = _texts(HippoIndex.load(whole)), _texts(HippoIndex.load(grown))
    gone = min(before)
    between = {passage: text for passage, text in after.items() if passage != gone}
    seen = []
    for at in range(start, len(data)):
        grown.write_bytes(data[:at] + bytes([data[at] ^ 0x11]) + data[at + 1 :])
        with pytest.raises(IndexUnreadable):
            HippoIndex.load(grown)
        found = {each["id"] for each in read_passages(grown)}
        assert before.keys() - {gone} <= found <= after.keys()
        grown.write_bytes(data[:at])
        seen.append([before, between, after].index(_texts(HippoIndex.load(grown))))
    assert seen == sorted(seen) and set(seen) == {0, 1}


@pytest.mark.slow
def test_what_a_killed_writer_appended_is_overwritten(grown: Path) -> None:
    data = grown.read_bytes()
    before = _texts(HippoIndex.load(grown))
    grown.write_bytes(data + data[-300:-100])
    with pytest.raises(IndexUnreadable):
        HippoIndex.load(grown)  # no beginning of a change
    entry = data[data.rindex(storage._ENTRY_MARKER) :]
    for n in range(1, len(entry), 7):
        grown.write_bytes(data + entry[:n])
        index = HippoIndex.load(grown)
        assert _texts(index) == before
        index.add_passage("more", "By the next writer.")
        index.save(grown)
        assert _texts(HippoIndex.load(grown)) == {**before, "more": "By the next writer."}


def test_a_full_disk_leaves_the_memory_before(grown: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = grown.read_bytes()
    index, other = HippoIndex.load(grown), HippoIndex.load(grown)
    index.add_passage("more", "By the first writer.")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("causalist.memory.saved_memory.os.fsync", fail)
        with pytest.raises(IndexNotWritable, match="No space left"):
            index.save(grown)
    assert grown.read_bytes() == data
    index.save(grown)
    other.add_passage("other", "By the second writer.")
    with pytest.raises(IndexNotWritable, match="another writer"):
        other.save(grown)
    assert "more" in HippoIndex.load(grown) and "other" not in HippoIndex.load(grown)


def test_triples_and_notes_are_appended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "APPENDED_SHARE", 10.0)
    index = _rich()
    index.save(tmp_path / "m")
    size = (tmp_path / "m").stat().st_size
    index.add_passage("c", "odd Zeta meets Alpha", metadata={"references": ["a", "later"]})
    index.add_passage("later", "Zeta")
    index.save(tmp_path / "m")
    assert size < (tmp_path / "m").stat().st_size < size + 2_000
    again = HippoIndex.load(tmp_path / "m", entity_extractor=index.extractor)
    assert _fingerprint(again) == _fingerprint(index) and again.to_node_link() == index.to_node_link()
    assert again.diagnostics == index.diagnostics and again.diagnostics["c"]
