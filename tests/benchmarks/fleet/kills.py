"""Killed workers and schedulers while a fleet is indexed: nothing finished is lost, and the store ends the same.

    python -m tests.benchmarks.fleet.kills --clones DIR --repositories 100 --workers 20 --schedulers 5

Every repository below DIR is indexed once undisturbed, then again by a Dask scheduler with two workers in processes of
their own, of which one at random is killed (SIGKILL) at random times. After each kill, all records that were ready
before must be there. At the end the objects and records of both stores must be the same bytes. Facts are not shared.
"""

import argparse
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from causalist.fleet import Fleet, FleetStore, IndexingOptions

_TICK = 0.05


class Cluster:
    """A scheduler and two workers, each restarted after it was killed."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._folder = folder
        self._environment = environment
        self.start()

    def start(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        self.scheduler = self._run("distributed.cli.dask_scheduler", "--port", str(port), "--no-dashboard")
        self.workers = [self._start_worker() for _ in range(2)]

    def _start_worker(self) -> "subprocess.Popen[bytes]":
        options = ("--nworkers", "1", "--nthreads", "1", "--no-dashboard", "--death-timeout", "20")
        return self._run("distributed.cli.dask_worker", self.address, *options)

    def _run(self, module: str, *arguments: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", module, *arguments]
        with (self._folder / "dask.log").open("ab") as log:
            return subprocess.Popen(command, env=self._environment, cwd=self._folder, stdout=log, stderr=log)

    def kill_worker(self, chance: random.Random) -> None:
        """Kill the process that works, or together with its nanny, in which case another is started."""
        number = chance.randrange(2)
        nanny = self.workers[number]
        inner = psutil.Process(nanny.pid).children(recursive=True) if nanny.poll() is None else []
        if chance.random() < 0.5 and inner:
            inner[-1].send_signal(signal.SIGKILL)
            return
        end_with_children(nanny)
        self.workers[number] = self._start_worker()

    def kill_scheduler(self) -> None:
        self.stop()
        self.start()

    def stop(self) -> None:
        end_with_children(self.scheduler)
        for worker in self.workers:
            end_with_children(worker)


def end_with_children(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process and all that it started, and wait for its end."""
    below = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
    for each in (process, *below):
        try:
            each.send_signal(signal.SIGKILL)
        except (psutil.NoSuchProcess, ProcessLookupError):
            continue
    process.wait()


def ready_records(store: FleetStore) -> dict[str, object]:
    """Return the records of the repositories that are indexed."""
    found = {name: store.read_record(name) for name in store.record_names()}
    return {name: record for name, record in found.items() if record and record["objects"]}


def contents(store: Path) -> dict[str, bytes]:
    """Return the files of a store; what a killed process was writing is none."""
    files = [path for path in store.rglob("*") if path.is_file() and not path.name.endswith(".new")]
    return {path.relative_to(store).as_posix(): path.read_bytes() for path in files}


def main() -> None:
    """Run the trial and print what was lost and what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--repositories", type=int, default=100)
    parser.add_argument("--workers", type=int, default=20, help="how many workers are killed")
    parser.add_argument("--schedulers", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4.0, help="mean time between kills")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    chance = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for store in ("undisturbed", "disturbed"):
            (folder / store).mkdir()
            Fleet.add(folder / store, [str(given.clones)])
            text = (folder / store / "fleet.toml").read_text().split("[[repository]]")
            (folder / store / "fleet.toml").write_text("[[repository]]".join(text[: given.repositories + 1]))
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache1")
        start = time.monotonic()
        done = Fleet.open(folder / "undisturbed").index(options=IndexingOptions(workers=2))
        print(f"undisturbed: {len(done)} repositories, {sum(bool(s.error) for s in done)} failed, "
              f"{time.monotonic() - start:.0f} s")  # fmt: skip
        shutil.rmtree(folder / "cache1", ignore_errors=True)
        environment = os.environ | {"XDG_CACHE_HOME": str(folder / "cache2")}
        cluster = Cluster(folder, environment)
        kills = ["worker"] * given.workers + ["scheduler"] * given.schedulers
        chance.shuffle(kills)
        n_kills, n_lost, n_runs = 0, 0, 0
        n_finished = []  # shards at each kill
        store = FleetStore(str(folder / "disturbed" / "store"))
        try:
            while True:
                n_runs += 1
                command = [sys.executable, "-m", "causalist", "fleet", "index", "--scheduler", cluster.address]
                client = subprocess.Popen(command, env=environment, cwd=folder / "disturbed", stderr=subprocess.PIPE)
                end = time.monotonic() + chance.uniform(0.2, 2 * given.seconds)
                while client.poll() is None:
                    time.sleep(_TICK)
                    if not kills or time.monotonic() < end:
                        continue
                    before = ready_records(store)
                    n_finished.append(len(before))
                    kind = kills.pop()
                    n_kills += 1
                    cluster.kill_scheduler() if kind == "scheduler" else cluster.kill_worker(chance)
                    after = ready_records(store)
                    n_lost += sum(after.get(name) != record for name, record in before.items())
                    end = time.monotonic() + chance.uniform(0.2, 2 * given.seconds)
                failed = {n for n, r in ((n, store.read_record(n)) for n in store.record_names()) if r and r["error"]}
                if client.returncode == 0 and not failed:
                    break
                if n_runs > 100:
                    print("it does not end:", sorted(failed)[:5])
                    break
        finally:
            cluster.stop()
        same = contents(folder / "undisturbed" / "store") == contents(folder / "disturbed" / "store")
        print(f"{n_kills} kills, {n_runs} runs of the command, {n_lost} finished shards lost, "
              f"stores {'are the same bytes' if same else 'DIFFER'}, {len(kills)} kills left over")  # fmt: skip
        print(f"shards finished at the kills: {n_finished}")
        if not same:
            one, two = contents(folder / "undisturbed" / "store"), contents(folder / "disturbed" / "store")
            print("differ:", sorted(k for k in one.keys() | two.keys() if one.get(k) != two.get(k))[:10])


if __name__ == "__main__":
    main()
