"""Shards that come from elsewhere are verified; damaged ones are refused and leave nothing."""

import json
from itertools import islice
from pathlib import Path

import pytest

pytest.importorskip("fsspec")
pytest.importorskip("pyarrow")
pytest.importorskip("cryptography")

from click.testing import CliRunner

from causalist.cli import main
from causalist.errors import FleetError
from causalist.fleet import Fleet, FleetStore
from causalist.fleet.repository_shard import (
    copy_shards,
    install_index,
    read_private_key,
    read_public_key,
    write_key_pair,
)
from causalist.index.options import IndexOptions
from causalist.pipeline.repository import Repository
from tests.benchmarks.foreign_indexes import damaged_indexes, make_index, outcome_of
from tests.fleet.repositories import commit_files

pytestmark = pytest.mark.slow


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    folder = tmp_path / "first"
    shop = commit_files(folder / "shop", {"cart.py": "def total(lines):\n    return sum(lines)\n"})
    Fleet.add(folder, [str(shop)])
    fleet = Fleet.open(folder)
    fleet.index()
    return fleet


def _damage_object(store: Path, kind: str) -> Path:
    (path,) = store.rglob(f"*.{kind}")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    return path


def test_what_is_pushed_can_be_pulled(fleet: Fleet, tmp_path: Path) -> None:
    copy_shards(fleet.store, FleetStore(str(tmp_path / "other")))
    (tmp_path / "second").mkdir()
    Fleet.pull(tmp_path / "second", FleetStore(str(tmp_path / "other")))
    second = Fleet.open(tmp_path / "second")
    assert second.shard("shop") == fleet.shard("shop")
    assert second.index() == fleet.index()  # without a source it stays as it is
    assert second.open_repository("shop").ask("total").results[0].id == "cart.py::total"


def test_a_store_in_memory_is_read_through_the_cache(fleet: Fleet, tmp_path: Path) -> None:
    copy_shards(fleet.store, FleetStore("memory://bucket/fleet"))
    there = FleetStore("memory://bucket/fleet", tmp_path / "cache")
    digest = fleet.shard("shop").objects["index"]
    local = there.local_object(digest, "index")
    assert local.is_relative_to(tmp_path / "cache")
    assert local.read_bytes() == fleet.store.local_object(digest, "index").read_bytes()


@pytest.mark.parametrize("kind", ["index", "text"])
def test_a_damaged_object_is_refused(fleet: Fleet, tmp_path: Path, kind: str) -> None:
    other = tmp_path / "other"
    copy_shards(fleet.store, FleetStore(str(other)))
    _damage_object(other, kind)
    (tmp_path / "second").mkdir()
    with pytest.raises(FleetError, match="another SHA-256"):
        Fleet.pull(tmp_path / "second", FleetStore(str(other)))
    assert not (tmp_path / "second" / "fleet.toml").exists()
    assert FleetStore(str(tmp_path / "second" / "store")).record_names() == []


def test_only_what_the_key_signed_is_pulled(fleet: Fleet, tmp_path: Path) -> None:
    public = read_public_key(write_key_pair(tmp_path / "key"))
    stranger = read_public_key(write_key_pair(tmp_path / "stranger"))
    other = FleetStore(str(tmp_path / "other"))
    copy_shards(fleet.store, other)
    target = FleetStore(str(tmp_path / "target"))
    with pytest.raises(FleetError, match="no signature"):
        copy_shards(other, target, verifier=public)
    copy_shards(fleet.store, other, signer=read_private_key(tmp_path / "key"))
    with pytest.raises(FleetError, match="a signature of another key"):
        copy_shards(other, target, verifier=stranger)
    record = other.read_record("shop")
    assert record is not None
    other.write_record("shop", {**record, "commit": "0" * 40})
    with pytest.raises(FleetError, match="a signature of another key"):
        copy_shards(other, target, verifier=public)
    assert target.record_names() == []
    other.write_record("shop", record)
    assert [shard.name for shard in copy_shards(other, target, verifier=public)] == ["shop"]
    assert (tmp_path / "key").stat().st_mode & 0o077 == 0


def test_a_record_of_another_name_is_refused(fleet: Fleet, tmp_path: Path) -> None:
    record = fleet.store.read_record("shop")
    assert record is not None
    fleet.store.write_record("bank", record)
    with pytest.raises(FleetError, match=r"the record of bank in .* is that of shop"):
        copy_shards(fleet.store, FleetStore(str(tmp_path / "other")), ["bank"])


def test_an_index_that_somebody_else_built_is_used(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))  # no facts of any file are at hand
    clone = commit_files(tmp_path / "clone" / "shop", {"cart.py": "def total(lines):\n    return sum(lines)\n"})
    install_index(clone, fleet.store, "shop")
    parsed: list[str] = []
    monkeypatch.setattr("causalist.index.build.collect_facts", lambda *_, **__: parsed.append("all"))
    opened = Repository.open(clone, options=IndexOptions(processes=1))
    assert opened.ask("total").results[0].id == "cart.py::total"
    assert parsed == []


def test_changes_since_it_was_built_are_read(fleet: Fleet, tmp_path: Path) -> None:
    clone = commit_files(tmp_path / "clone" / "shop", {"cart.py": "def sum_up(lines):\n    return sum(lines)\n"})
    install_index(clone, fleet.store, "shop")
    opened = Repository.open(clone, options=IndexOptions(processes=1))
    alone = Repository.open(commit_files(tmp_path / "alone" / "shop", {"cart.py": (clone / "cart.py").read_text()}))
    assert list(opened.index.graph.nodes.ids) == list(alone.index.graph.nodes.ids) == ["cart.py", "cart.py::sum_up"]


def test_the_command_names_what_the_store_has(fleet: Fleet, tmp_path: Path) -> None:
    clone = commit_files(tmp_path / "clone", {"a.py": "A = 1\n"})
    run = CliRunner().invoke(main, ["index", "--repo", str(clone), "--from", fleet.file.store, "--as", "bank"])
    assert run.exit_code == 2
    assert "has no repository bank; it has: shop" in run.output
    run = CliRunner().invoke(main, ["index", "--repo", str(clone), "--from", fleet.file.store])
    assert run.exit_code == 2 and "was cloned from no known address" in run.output
    assert not (clone / ".causalist").exists()


def test_damaged_indexes_with_right_checksums_are_refused_or_answer(tmp_path: Path) -> None:
    """A seeded sample of `python -m tests.benchmarks.foreign_indexes`."""
    index = make_index(tmp_path)
    outcomes = [outcome_of(damaged, tmp_path, what) for what, damaged in islice(damaged_indexes(index, seed=7), 60)]
    assert set(outcomes) == {"refused", "answered"}
    assert outcomes.count("refused") >= 20


def test_a_record_is_json_that_names_its_format(fleet: Fleet) -> None:
    (path,) = Path(fleet.file.store, "records").glob("*.json")
    record = json.loads(path.read_text())
    path.write_text(json.dumps({**record, "format": 99}))
    with pytest.raises(FleetError, match="of another version"):
        fleet.shard("shop")
    path.write_text("{")
    with pytest.raises(FleetError, match="damaged"):
        fleet.shard("shop")
    assert fleet.index()[0].is_ready  # it is made again
