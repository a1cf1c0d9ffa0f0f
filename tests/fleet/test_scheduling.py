"""Tasks on workers of their own: failures and lost processes cost their repository alone."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed")
pytest.importorskip("pyarrow")

from causalist.errors import FleetError
from causalist.fleet import Fleet, IndexingOptions, Member
from causalist.fleet.scheduling import index_in_time, index_member, index_members, local_place
from causalist.index.options import ignore_progress
from tests.benchmarks.fleet.poison import GOOD, good_alone, make_all
from tests.fleet.repositories import commit_files

pytestmark = pytest.mark.slow


def _fleet_of(folder: Path, names: list[str]) -> Fleet:
    for name in names:
        commit_files(folder / name, {"code.py": f"def run_{name}():\n    return 1\n"})
    Fleet.add(folder, [str(folder / name) for name in names])
    return Fleet.open(folder)


def end_worker_of_bad(member: Member, address: str, options: IndexingOptions) -> dict[str, Any]:
    """Do as `index_in_time`, but end the process for one repository."""
    if member.name == "bad":
        os._exit(1)
    return index_in_time(member, address, options)


def hang_at_bad(member: Member, address: str, options: IndexingOptions) -> dict[str, Any]:
    import causalist.fleet.scheduling as scheduling

    if member.name == "bad":
        scheduling.index_member = lambda *_: time.sleep(60)  # type: ignore[assignment]
    try:
        return index_in_time(member, address, options)
    finally:
        scheduling.index_member = index_member


@pytest.mark.slow
def test_workers_give_what_one_process_gives(tmp_path: Path) -> None:
    alone = _fleet_of(tmp_path / "alone", ["a", "b", "c"]).index()
    spread = _fleet_of(tmp_path / "spread", ["a", "b", "c"]).index(options=IndexingOptions(workers=2))
    assert [each.objects["text"] for each in spread] == [each.objects["text"] for each in alone]
    assert [each.name for each in spread] == ["a", "b", "c"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "seconds", "reason"),
    [(end_worker_of_bad, 60.0, "it ended its worker"), (hang_at_bad, 3.0, "it took more than 3 s")],
)
def test_a_repository_that_takes_its_worker_along_fails_alone(
    tmp_path: Path, task: Any, seconds: float, reason: str
) -> None:
    fleet = _fleet_of(tmp_path, ["bad", "one", "two"])
    options = IndexingOptions(workers=2, seconds=seconds)
    shards = {
        each.name: each for each in index_members(fleet.file.members, fleet.file.store, options, ignore_progress, task)
    }
    assert reason in shards["bad"].error and not shards["bad"].is_ready
    assert shards["one"].is_ready and shards["two"].is_ready
    assert fleet.shard("bad") == shards["bad"]  # it is in the record as well
    assert all(each.is_ready and not each.error for each in fleet.index())


def test_a_scheduler_that_does_not_answer_is_named(tmp_path: Path) -> None:
    fleet = _fleet_of(tmp_path, ["a"])
    with pytest.raises(FleetError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1"):
        fleet.index(options=IndexingOptions(scheduler="tcp://127.0.0.1:1"))


def test_an_address_is_cloned_once_and_fetched_then(tmp_path: Path) -> None:
    origin = commit_files(tmp_path / "origin", {"a.py": "def first():\n    pass\n"})
    member = Member("origin", origin.as_uri())
    options = IndexingOptions(clones=str(tmp_path / "clones"))
    address = str(tmp_path / "store")
    first = index_member(member, address, options)
    commit_files(origin, {"b.py": "def second():\n    pass\n"})
    second = index_member(member, address, options)
    assert (first["error"], second["error"]) == ("", "")
    assert first["commit"] != second["commit"]
    assert [each.name for each in (tmp_path / "clones").glob("*.git")] == [
        local_place(member, tmp_path / "clones").name
    ]


def test_a_failure_keeps_the_last_index(tmp_path: Path) -> None:
    fleet = _fleet_of(tmp_path, ["a"])
    (first,) = fleet.index()
    (tmp_path / "a").rename(tmp_path / "gone")
    (second,) = fleet.index()
    assert second.objects == first.objects and second.attempts == 1
    assert second.error == f"usage: {tmp_path / 'a'} is not a folder any more"
    (tmp_path / "gone").rename(tmp_path / "a")
    assert fleet.index() == (first,)


def test_a_poisoned_repository_costs_itself_alone(tmp_path: Path) -> None:
    make_all(tmp_path / "fleet", n_bytes=10**8)
    fleet = Fleet.open(tmp_path / "fleet")
    shards = {each.name: each for each in fleet.index()}
    assert {name: shards[name] for name in GOOD} == good_alone(tmp_path / "fleet")
    assert not any(each.error for each in shards.values())
    # The large file, links and the pipe are left out, and nothing else is.
    assert (shards["large"].n_files, shards["cyclic"].n_files, shards["deep"].n_files) == (1, 1, 7)
    assert fleet.open_repository("large").ask("sound").results[0].id == "sound.py::sound"


def test_clean_deletes_what_no_record_names(tmp_path: Path) -> None:
    fleet = _fleet_of(tmp_path, ["a", "b"])
    fleet.index()
    left = tmp_path / "store" / "records" / "a.json.999999999.new"
    left.write_text("{")
    a, b = (set(fleet.shard(name).objects.items()) for name in ("a", "b"))
    assert fleet.remove(["a"]).clean() == len(a - b) + 1
    assert not left.exists()
    assert Fleet.open(tmp_path).open_repository("b").ask("run b").results[0].id == "code.py::run_b"


def test_nothing_of_one_repository_loads_the_extra() -> None:
    code = "import sys, causalist.cli, causalist.pipeline.repository, causalist.servers; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"dask", "distributed", "fsspec", "pyarrow", "duckdb", "causalist.fleet"} & set(loaded)
