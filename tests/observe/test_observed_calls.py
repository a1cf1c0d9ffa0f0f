"""What is kept of runs, and what no longer counts: the store survives kills, and versions decide what is stale."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from causalist import Repository
from causalist.cli import COMMANDS
from causalist.observe import ObservedStore, read_store, stale_calls
from causalist.observe.observed_calls import is_current
from causalist.store import OBSERVED_NAME
from tests.cli.commands import CHECKOUT, invoke, write_all
from tests.observe.programs import CALLS, ORDERS, PLUGINS, SHOP, freshness_of, store_of

pytestmark = pytest.mark.slow
RARE = (f"{ORDERS}total", f"{PLUGINS}coupon")  # a call that is written, and that no run makes


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder in which `main.py` was observed once."""
    assert "observe" in COMMANDS
    root = write_all(tmp_path, SHOP)
    _observe(root)
    return root


def _observe(root: Path) -> None:
    done = invoke("observe", "--repo", str(root), "--", sys.executable, str(root / "main.py"))
    assert done.code == 0, done.stderr


def _counts(store: ObservedStore) -> dict[tuple[str, str], tuple[int, int]]:
    return {pair: (call.n, call.n_through) for pair, call in store.calls.items() if call.n + call.n_through}


def _stale(root: Path) -> set[tuple[str, str]]:
    return {(each.source, each.target) for each in stale_calls(store_of(root), freshness_of(root))}


def test_a_run_is_kept_and_a_second_one_is_added(shop: Path) -> None:
    assert _counts(store_of(shop)) == CALLS
    _observe(shop)
    twice = store_of(shop)
    assert _counts(twice) == {pair: (2 * n, 2 * through) for pair, (n, through) in CALLS.items()}
    assert [run.n_processes for run in twice.runs] == [1, 1]
    assert twice.n_runs[f"{ORDERS}fall"][1] == 6
    assert not list((shop / ".causalist").glob("observe-*"))


def test_calls_that_are_written_and_never_made_are_kept_with_count_0(shop: Path) -> None:
    store = store_of(shop)
    assert {pair for pair, call in store.calls.items() if not call.n + call.n_through} == {RARE}
    write_all(shop, {"main.py": SHOP["main.py"].replace('Item("b")]', 'Item("b")], is_rare=True')})
    _observe(shop)
    assert _counts(store_of(shop))[RARE] == (1, 0)
    write_all(shop, {"main.py": SHOP["main.py"]})
    _observe(shop)
    assert _counts(store_of(shop))[RARE] == (1, 0)  # seen before


def test_only_calls_of_a_changed_definition_are_stale(shop: Path) -> None:
    assert _stale(shop) == set()
    text = SHOP["shop/plugins.py"]
    write_all(
        shop, {"shop/plugins.py": "# a line more\n" + text.replace("return wrap(order)", "return wrap(order) or 1")}
    )
    gift = f"{PLUGINS}gift"
    of_the_file = ("shop/orders.py", "shop/plugins.py")  # all of it is its text
    assert _stale(shop) == {(f"{ORDERS}run_plugin", gift), (gift, f"{PLUGINS}wrap"), of_the_file}
    _observe(shop)
    assert _stale(shop) == set()
    assert _counts(store_of(shop))[gift, f"{PLUGINS}wrap"] == (1, 0)  # of the new version


def test_other_line_ends_are_no_change(shop: Path) -> None:
    for name, text in SHOP.items():
        (shop / name).write_bytes(text.replace("\n", "\r\n").encode())
    assert _stale(shop) == set()


def test_a_definition_that_is_gone_is_stale(shop: Path) -> None:
    write_all(shop, {"shop/plugins.py": SHOP["shop/plugins.py"].replace("def wrap", "def wrapped")})
    assert (f"{PLUGINS}gift", f"{PLUGINS}wrap") in _stale(shop)
    store = store_of(shop)
    assert not is_current(store.calls[f"{PLUGINS}gift", f"{PLUGINS}wrap"], store, freshness_of(shop))


def test_a_damaged_file_counts_as_none(shop: Path) -> None:
    path = shop / ".causalist" / OBSERVED_NAME
    whole = path.read_bytes()
    for damaged in (whole[:-3], whole.replace(b'"n_runs"', b'"n_rums"'), b"", b"[]\n[]\n", b'{"format":99}\n{}\n'):
        path.write_bytes(damaged)
        assert read_store((path.parent,)) is None
        assert invoke("verify", "run_plugin", "gift", "--repo", str(shop)).code == 1


def test_the_index_does_not_depend_on_it(shop: Path) -> None:
    index = shop / ".causalist" / "index.bin"
    for name in SHOP:
        os.utime(shop / name, (10**9, 10**9))  # as old as in most folders: times of a moment ago are checked again
    Repository.open(shop, exact_root=True)
    before = index.read_bytes()
    _observe(shop)
    assert index.read_bytes() == before
    index.unlink()
    rebuilt = Repository.open(shop, exact_root=True)
    assert (shop / ".causalist" / OBSERVED_NAME).exists() and _stale(shop) == set()
    assert all(rebuilt.index.graph.edge(e).observed is None for e in range(len(rebuilt.index.graph.edges)))


def test_forget(shop: Path) -> None:
    assert invoke("observe", "--forget", "--repo", str(shop)).stderr == "causalist: forgot what was recorded\n"
    assert read_store((shop / ".causalist",)) is None
    assert invoke("observe", "--forget", "--repo", str(shop)).stderr == "causalist: nothing was recorded\n"
    assert invoke("observe", "--status", "--repo", str(shop)).code == 1


@pytest.mark.skipif(os.name == "nt", reason="no such signal on this system")
def test_killing_the_observer_at_any_time_loses_nothing(shop: Path) -> None:
    """What was there stays; what a killed run had written is taken up by the next one."""
    slow = SHOP["main.py"].replace("    main()\n", "    main()\n    import time\n    time.sleep(60)\n")
    write_all(shop, {"slow.py": slow})
    Repository.open(shop, exact_root=True)
    before = _counts(store_of(shop))
    draw = random.Random(5)
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    for program, longest in (("slow.py", 2.0), ("main.py", 2.5), ("main.py", 2.5), ("main.py", 2.5)):
        command = [sys.executable, "-m", "causalist", "observe", "--", sys.executable, program]
        process = subprocess.Popen(
            command, cwd=shop, env=environment, stderr=subprocess.DEVNULL, start_new_session=True
        )
        time.sleep(draw.uniform(0.2, longest))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        now = _counts(store_of(shop))
        assert all(now[pair] >= counts for pair, counts in before.items())
        before = now
    _observe(shop)
    assert not list((shop / ".causalist").glob("observe-*"))
    assert not list((shop / ".causalist").glob(f"{OBSERVED_NAME}.*"))
    fall = (f"{ORDERS}fall", f"{ORDERS}fall")
    assert _counts(store_of(shop))[fall][0] >= before[fall][0] + 2


def test_a_run_that_was_killed_counts_once(shop: Path) -> None:
    """Also if it was put into the store, and its folder could not be deleted any more."""
    from causalist.index.source_text import SourceText
    from causalist.observe import begin_run, run_command, take_up_runs

    repository = Repository.open(shop, exact_root=True)
    folder, texts = shop / ".causalist", SourceText(repository.index.manifest, repository.read)
    run = begin_run(folder, shop, repository.index, ["main"])
    assert run_command(run, [sys.executable, str(shop / "main.py")]) == 0
    records = {path.name: path.read_bytes() for path in run.folder.glob("*.rec")}
    about = (run.folder / "run.json").read_bytes()
    listed = invoke("observe", "--status", "--repo", str(shop)).stdout
    assert "\n1 run ended before the calls were stored; the next `causalist observe -- COMMAND`" in f"\n{listed}"
    assert "  main\n" in listed and "\nobserved  " in (said := invoke("status", "--repo", str(shop)).stdout)
    assert " calls and 0 tests in 1 run, 1 more killed; 0 stale\n" in said
    assert len(take_up_runs(folder, repository.index, texts)) == 1
    twice = _counts(store_of(shop))
    run.folder.mkdir()
    document = json.loads(invoke("status", "--json", "--repo", str(shop)).stdout)
    assert document["observed"] == {
        "runs": 2, "killed": 0, "calls": sum(bool(n) for n, _ in CALLS.values()),
        "calls_through": sum(not n for n, _ in CALLS.values()), "stale": 0, "tests": 0,
    }  # fmt: skip
    assert document["proven"] is None
    write_all(run.folder, {**records, "run.json": about})
    assert take_up_runs(folder, repository.index, texts) == ()
    assert _counts(store_of(shop)) == twice == {p: (2 * n, 2 * m) for p, (n, m) in CALLS.items()}
    assert not run.folder.exists()


def test_secrets_of_a_command_are_masked(shop: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    done = invoke("observe", "--repo", str(shop), "--", sys.executable, str(shop / "main.py"), f"--token={token}")
    kept = (shop / ".causalist" / OBSERVED_NAME).read_text()
    assert done.code == 0 and token not in kept + done.stderr and "--token=****" in kept


def test_a_run_of_another_that_goes_on_is_left_alone(shop: Path) -> None:
    folder = shop / ".causalist" / f"observe-{os.getppid()}-1"
    folder.mkdir()
    about = {"command": "x", "time": 1, "process": os.getppid(), "blobs": {}}
    (folder / "run.json").write_text(json.dumps(about))
    _observe(shop)
    assert folder.exists()
