"""Servers to talk to: a process with a plain JSON-RPC client, and repositories of any size."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import causalist
from causalist.store import FOLDER, hold_lock, prepare_folder
from tests.servers.ready_process import ready

CHECKOUT = Path(causalist.__file__).parents[1]
ANSWER_SECONDS = 60.0
END_SECONDS = 10.0
# As long as a slow machine may need; what is answered before that is tested on its own.
PATIENT = ("--wait", "60", "--refresh-wait", "60")

INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


def command(root: Path, *options: str) -> list[str]:
    return [sys.executable, "-P", "-m", "causalist", "serve", "mcp", "--repo", str(root), *PATIENT, *options]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(CHECKOUT), **more}


class RawServer:
    """`causalist serve mcp` as a process. Every line of its standard output is kept, parsed or not."""

    def __init__(self, root: Path, *options: str, program: list[str] | None = None, is_ready: bool = False) -> None:
        words = program or command(root, *options)
        if is_ready:
            words = ready(words)
        self._is_text_only = "--text-only" in words
        self.process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
        )  # fmt: skip
        self.lines: list[bytes] = []
        self.errors = b""
        self._arrived: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()
        self._next = 0

    def __enter__(self) -> "RawServer":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def notify(self, method: str, params: Mapping[str, object] | None = None) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params or {}}).encode() + b"\n")

    def request(self, method: str, params: Mapping[str, object] | None = None) -> dict[str, Any]:
        """The response to a request; what comes before it is passed over."""
        self._next += 1
        id = f"r{self._next}"
        self.write(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}).encode() + b"\n")
        return self.response(id)

    def response(self, id: object) -> dict[str, Any]:
        until = time.monotonic() + ANSWER_SECONDS
        while True:
            line = self._arrived.get(timeout=max(0.0, until - time.monotonic()))
            assert line is not None, f"the server ended: {self.errors.decode()}"
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == id and "method" not in message:
                return message

    def start(self) -> dict[str, Any]:
        """The handshake; returns what the server says of itself."""
        result = self.request("initialize", INITIALIZE)["result"]
        self.notify("notifications/initialized")
        assert isinstance(result, dict)
        return result

    def call(self, tool: str, /, **arguments: object) -> tuple[str, bool]:
        """The text of a tool's result, and whether it is an error."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})["result"]
        (content,) = result["content"]
        assert content["type"] == "text"
        if self._is_text_only:
            assert "structuredContent" not in result
        elif not result.get("isError"):
            assert result["structuredContent"]["text"] == content["text"]
        return content["text"], bool(result.get("isError"))

    def finish(self) -> int:
        """Closes standard input and waits for the end."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.wait()

    def wait(self) -> int:
        code = self.process.wait(END_SECONDS)
        for thread in self._threads:
            thread.join(END_SECONDS)
        return code

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            self._arrived.put(line)
        self._arrived.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self.errors = self.process.stderr.read()


def children_of(pid: int) -> list[int]:
    """Process ids below `pid`, all generations. Without the resource trackers of `multiprocessing`: one starts with the
    first process that is spawned and lives as long as its parent, so it is there if another test spawned one."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                status = (entry / "stat").read_text().rpartition(")")[2].split()
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if status[0] != "Z" and b"multiprocessing.resource_tracker" not in command:
                parents.setdefault(int(status[1]), []).append(int(entry.name))
    found, waiting = [], [pid]
    while waiting:
        below = parents.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def are_gone(pids: list[int]) -> bool:
    """Whether all of these processes end within a few seconds."""
    until = time.monotonic() + END_SECONDS
    while time.monotonic() < until:
        if not any(_is_alive(pid) for pid in pids):
            return True
        time.sleep(0.05)
    return False


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for_children(server: RawServer, number: int) -> list[int]:
    until = time.monotonic() + ANSWER_SECONDS
    while time.monotonic() < until:
        found = children_of(server.process.pid)
        if len(found) >= number:
            return found
        time.sleep(0.02)
    raise AssertionError("no process that indexes was started")


def write_large(folder: Path, n_files: int = 1500, n_steps: int = 40) -> Path:
    """A repository whose indexing takes many times as long as a handshake. With fewer than 40 methods in a file it is
    as large, and takes less time."""
    body = "".join(
        f"    def step_{i}(self, value):\n        return self.step_{(i + 1) % n_steps}(value + {i})\n\n"
        for i in range(n_steps)
    )
    body += f"    # {'=' * 68}\n" * (40 - n_steps)
    for number in range(n_files):
        part = folder / f"part_{number % 50:02}"
        part.mkdir(parents=True, exist_ok=True)
        (part / f"worker_{number}.py").write_text(f"class Worker{number}:\n{body}")
    return folder


@contextmanager
def indexing_waits(folder: Path) -> Iterator[None]:
    """Nothing indexes `folder` meanwhile: its lock is held."""
    prepare_folder(folder / FOLDER)
    with hold_lock(folder / FOLDER / "lock", 5.0, "busy"):
        yield


SIGNALS = [signal.SIGTERM, signal.SIGINT]
