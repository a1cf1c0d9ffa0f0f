"""A Dask cluster in several network namespaces, as on several machines: the store gets the bytes of one process.

    python -m tests.benchmarks.fleet.namespaces --list FILE --workers 4

FILE has a repository in each line. Its repositories are indexed by one process, and then with `--scheduler`: `dask
scheduler`, each `dask worker` and the command have a namespace and an address of their own, with a bridge between them
in another one. They share the file system alone. With `--cut`, one worker loses its network while it works and another
its process. Everything is taken down at the end, also after an error or a signal; the network of the machine is not
touched. It needs Linux, `ip` and the right to create namespaces.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import psutil

from causalist.fleet import Fleet, FleetStore
from tests.benchmarks.fleet.kills import contents, end_with_children, ready_records

_PORT = 8786
_START_SECONDS = 60.0
_WAIT = """
import sys
from distributed import Client
Client(sys.argv[1], timeout=float(sys.argv[3])).wait_for_workers(int(sys.argv[2]), float(sys.argv[3]))
"""


class NetworkRefused(Exception):
    """Namespaces cannot be made here."""


class Network:
    """Namespaces with an address each, 10.77.0.1 and up, and a bridge between them. Raises NetworkRefused."""

    def __init__(self, names: list[str]) -> None:
        self._names = {name: f"causalist-{os.getpid()}-{name}" for name in ("bridge", *names)}
        self.address = {name: f"10.77.0.{i}" for i, name in enumerate(names, 1)}

    def __enter__(self) -> "Network":
        try:
            for name in self._names.values():
                _run_ip("netns", "add", name)
                _run_ip("-n", name, "link", "set", "lo", "up")
            bridge = self._names["bridge"]
            _run_ip("-n", bridge, "link", "add", "br0", "type", "bridge")
            _run_ip("-n", bridge, "link", "set", "br0", "up")
            for name, address in self.address.items():
                inside, port = self._names[name], f"to-{name}"
                _run_ip("-n", bridge, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", inside)
                _run_ip("-n", bridge, "link", "set", port, "master", "br0", "up")
                _run_ip("-n", inside, "address", "add", f"{address}/24", "dev", "eth0")
                _run_ip("-n", inside, "link", "set", "eth0", "up")
        except BaseException:
            self._take_down()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._take_down()

    def command(self, name: str, *command: str) -> list[str]:
        """Return a command as it runs in a namespace."""
        return ["ip", "netns", "exec", self._names[name], *command]

    def cut(self, name: str) -> None:
        """Take the network from a namespace."""
        _run_ip("-n", self._names["bridge"], "link", "set", f"to-{name}", "down")

    def _take_down(self) -> None:
        for name in self._names.values():
            with suppress(OSError):
                subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def _run_ip(*arguments: str) -> None:
    try:
        done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    except OSError as error:
        raise NetworkRefused(f"`ip` does not run: {error}") from error
    if done.returncode:
        raise NetworkRefused(f"ip {' '.join(arguments)}: {done.stderr.strip()}")


class Cluster:
    """A scheduler and workers, started by the commands of Dask in the namespaces of a network."""

    def __init__(self, network: Network, workers: list[str], folder: Path, environment: dict[str, str]) -> None:
        self._network = network
        self._workers = workers
        self._folder = folder
        self._environment = environment
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self.address = f"tcp://{network.address['scheduler']}:{_PORT}"

    def __enter__(self) -> "Cluster":
        try:
            self._start("scheduler", "scheduler", "--port", str(_PORT), "--no-dashboard")
            for name in self._workers:
                self._start(name, "worker", self.address, "--nthreads", "1", "--no-dashboard", "--memory-limit", "2GB")
            self._wait()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def seconds(self, name: str) -> float:
        """Return the processor time of a worker so far, with its nanny; 0 after its end."""
        process = self._running[name]
        total = 0.0
        for each in _family(process) if process.poll() is None else ():
            times = each.cpu_times()
            total += times.user + times.system
        return total

    def end(self, name: str) -> None:
        """Kill a worker and its nanny."""
        end_with_children(self._running[name])

    def _start(self, name: str, *arguments: str) -> None:
        command = self._network.command(name, sys.executable, "-m", "dask", *arguments)
        with (self._folder / f"{name}.log").open("ab") as log:
            self._running[name] = subprocess.Popen(
                command, env=self._environment, cwd=self._folder, stdout=log, stderr=log
            )

    def _wait(self) -> None:
        """Wait until all workers have reported to the scheduler. Raises TimeoutError with the end of a log."""
        command = self._network.command(
            "client", sys.executable, "-c", _WAIT, self.address, str(len(self._workers)), str(_START_SECONDS)
        )
        done = subprocess.run(command, env=self._environment, capture_output=True, check=False)
        if done.returncode:
            logs = "".join(path.read_text()[-1000:] for path in sorted(self._folder.glob("*.log")))
            raise TimeoutError(f"the workers did not come within {_START_SECONDS:g} s:\n{logs}")

    def _end(self) -> None:
        for process in reversed(self._running.values()):
            end_with_children(process)


def _family(process: "subprocess.Popen[bytes]") -> list[psutil.Process]:
    return [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]


def make_list(folder: Path, listed: Path) -> Path:
    """Make a fleet of the repositories in a list and return its folder."""
    folder.mkdir()
    Fleet.add(folder, listed=listed.resolve())
    return folder


def index_alone(folder: Path, environment: dict[str, str]) -> float:
    """Index a fleet in one process and return the seconds that it took."""
    start = time.monotonic()
    command = [sys.executable, "-m", "causalist", "fleet", "index", "--workers", "0"]
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def index_on_cluster(
    folder: Path, network: Network, cluster: Cluster, environment: dict[str, str], cuts: list[str]
) -> float:
    """Index a fleet on a cluster and return the seconds; of `cuts`, one loses its network and one its process."""
    start = time.monotonic()
    command = [sys.executable, "-m", "causalist", "fleet", "index", "--scheduler", cluster.address]
    client = subprocess.Popen(
        network.command("client", *command), cwd=folder, env=environment, stdout=subprocess.DEVNULL
    )
    store = FleetStore(str(folder / "store"))
    try:
        while client.poll() is None:
            time.sleep(0.1)
            if cuts and ready_records(store):
                network.cut(cuts[0])
                cluster.end(cuts[1])
                cuts = []
    finally:
        end_with_children(client)
    if client.returncode:
        raise RuntimeError(f"the command ended with {client.returncode}")
    return time.monotonic() - start


def main() -> int:
    """Index both ways, print times and whether the bytes are the same; return 1 if they are not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", type=Path, required=True, dest="listed")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--cut", action="store_true", help="take the network of one worker, and end another")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was made is taken down
    workers = [f"worker{i}" for i in range(1, given.workers + 1)]
    network = Network(["scheduler", "client", *workers])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            with network:
                alone, spread = (make_list(folder / each, given.listed) for each in ("alone", "spread"))
                seconds = index_alone(alone, os.environ | {"XDG_CACHE_HOME": str(folder / "cache1")})
                print(f"one process: {len(Fleet.open(alone).file.members)} repositories, {seconds:.1f} s", flush=True)
                environment = os.environ | {"XDG_CACHE_HOME": str(folder / "cache2")}
                with Cluster(network, workers, folder, environment) as cluster:
                    before = {each: cluster.seconds(each) for each in workers}
                    cuts = workers[:2] if given.cut else []
                    seconds = index_on_cluster(spread, network, cluster, environment, cuts)
                    work = [f"{max(0.0, cluster.seconds(each) - before[each]):.1f}" for each in workers]
                print(
                    f"{len(workers)} workers: {seconds:.1f} s; processor time of each: {', '.join(work)} s", flush=True
                )
        except NetworkRefused as error:
            print(f"skipped, because network namespaces cannot be made here: {error}")
            return 0
        one, two = contents(alone / "store"), contents(spread / "store")
        different = sorted(key for key in one.keys() | two.keys() if one.get(key) != two.get(key))
        print(
            f"{len(one)} files, " + (f"{len(different)} DIFFER: {different[:5]}" if different else "all the same bytes")
        )
        return 1 if different or not one else 0


if __name__ == "__main__":
    sys.exit(main())
