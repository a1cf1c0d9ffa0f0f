"""A shard answers as its repository does, and the same commit gives the same bytes."""

import os
from pathlib import Path

import pytest

pytest.importorskip("fsspec")
pytest.importorskip("pyarrow")

from causalist.fleet import Fleet, FleetStore, Member, build_shard, open_shard
from causalist.pipeline.repository import Repository
from causalist.store import FactsCache
from tests.fleet.repositories import commit_files


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    cart = "def total(lines):\n    return sum(map(price, lines))\n\n\ndef price(line):\n    return line.n\n"
    return commit_files(folder, {"cart.py": cart})


def test_a_shard_answers_as_the_commit_does(shop: Path, tmp_path: Path) -> None:
    store = FleetStore(str(tmp_path / "store"))
    shard = build_shard(Member("shop", str(shop)), shop, store, cache=FactsCache())
    alone = Repository.at_commit(shop, "HEAD")
    theirs = open_shard(shard, store).ask("where is the total of a cart computed")
    ours = alone.ask("where is the total of a cart computed")
    assert [hit.node for hit in theirs.results] == [hit.node for hit in ours.results]
    assert theirs.pack is not None and ours.pack is not None
    assert "return sum(map(price, lines))" in theirs.pack.text


def test_the_same_commit_gives_the_same_objects(shop: Path, tmp_path: Path) -> None:
    shards = [
        build_shard(Member("shop", str(shop)), shop, FleetStore(str(tmp_path / name)), cache=FactsCache())
        for name in ("a", "b")
    ]
    assert shards[0] == shards[1]
    assert {"index", "text"} <= set(shards[0].objects)


def test_only_what_changed_is_indexed_again(shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Fleet.add(tmp_path, [str(shop)])
    first = Fleet.open(tmp_path).index()
    built: list[str] = []
    monkeypatch.setattr("causalist.fleet.scheduling.build_shard", lambda *_: built.append("again"))
    assert Fleet.open(tmp_path).index() == first
    assert built == []


def test_a_failure_is_that_of_its_repository_alone(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    Fleet.add(tmp_path, [str(shop), str(tmp_path / "empty")])
    failed, ready = Fleet.open(tmp_path).index()
    assert (failed.name, failed.is_ready, failed.attempts) == ("empty", False, 1)
    assert failed.error.startswith("nothing-to-index: ")
    assert (ready.name, ready.is_ready, ready.error) == ("shop", True, "")


def test_a_folder_outside_of_git_gives_the_same_objects_whenever_it_was_written(tmp_path: Path) -> None:
    shards = []
    for name, seconds in (("a", 1_000_000_000), ("b", 1_700_000_000)):
        folder = tmp_path / name / "shop"
        folder.mkdir(parents=True)
        (folder / "cart.py").write_text("def total(lines):\n    return sum(lines)\n")
        os.utime(folder / "cart.py", (seconds, seconds))
        shards.append(build_shard(Member("shop", str(folder)), folder, FleetStore(str(tmp_path / name / "store"))))
    assert shards[0] == shards[1]
