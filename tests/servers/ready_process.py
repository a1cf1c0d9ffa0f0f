"""Servers and commands that start in a moment: forked from a process that has imported what they need.

`ready` takes the words that start one (`python -P -m causalist serve ...`) and gives others for the same. What these
run imports nothing: it hands its pipes, folder, environment and words to the process that forks, passes signals on, and
ends as the server ends; a server whose client has killed it is killed. Importing the SDK of a protocol takes a second
of the processor, several times what a small test asks of its server. The usual words are for tests of starting, of
ending, of what is imported, and of what is below a process.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

_MODULES = {
    "mcp": ("causalist.servers.mcp.server", "causalist.servers.mcp.handlers", "causalist.pipeline.repository"),
    "lsp": ("causalist.servers.lsp.server", "causalist.pipeline.repository"),
    "web": ("causalist.servers.web", "uvicorn", "causalist.pipeline.repository"),
    "other": ("causalist.cli._repository", "causalist.pipeline.repository", "numpy"),
}
_MOST_BYTES = 1 << 18
_IS_POSSIBLE = sys.platform == "linux"


def ready(words: list[str]) -> list[str]:
    """Words for the command that `words` run, `python -m causalist ...`."""
    at = words.index("causalist")
    assert words[0] == sys.executable and words[at - 1] == "-m"
    if not _IS_POSSIBLE:
        return words
    own = words[at + 1 :]
    kind = own[own.index("serve") + 1] if "serve" in own[:2] else "other"
    return [sys.executable, "-I", "-S", __file__, "hand-over", _start(kind, os.getpid()), *own]


@cache
def _start(kind: str, process: int) -> str:
    """Return the address of the process that forks, one for each worker of a run. It is nobody's child, and ends with
    this one."""
    address = f"causalist-tests-{process}-{kind}"
    reading, writing = os.pipe()
    atexit.register(os.close, writing)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "OPENBLAS_NUM_THREADS": "1"}
    words = [sys.executable, "-P", __file__, "fork", address, str(reading), *_MODULES[kind]]
    subprocess.run(words, cwd="/", env=environment, pass_fds=(reading,), stdin=subprocess.DEVNULL, check=True)
    os.close(reading)
    return address


def _hand_over(address: str, words: list[str]) -> int:
    """Have a server forked; return how it ended."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as wire:
        wire.connect(f"\0{address}")
        told = json.dumps([words, str(Path.cwd()), dict(os.environ)]).encode()
        socket.send_fds(wire, [told], [0, 1, 2])
        empty = os.open(os.devnull, os.O_RDWR)
        for number in range(3):  # the pipes end when the server closes them
            os.dup2(empty, number)
        for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(each, lambda number, _: wire.send(bytes([number])))
        code = int.from_bytes(wire.recv(8), "little", signed=True)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def _fork_servers(address: str, alive: int, modules: list[str]) -> bool:
    """Fork a server for each that asks. True: this process is one, as its words and pipes say."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(f"\0{address}")
    listening.listen(16)
    if os.fork():
        os._exit(0)  # who connects from now on is answered, if not at once
    os.setsid()
    for name in modules:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    waiting = selectors.DefaultSelector()
    waiting.register(alive, selectors.EVENT_READ)
    waiting.register(listening, selectors.EVENT_READ)
    while True:
        for key, _ in waiting.select():
            if key.fileobj is listening:
                wire, _ = listening.accept()
                told, descriptors, _, _ = socket.recv_fds(wire, _MOST_BYTES, 3)
                if not told:
                    continue
                pid = os.fork()
                if pid == 0:
                    _become(descriptors, *json.loads(told))
                    return True
                for each in descriptors:
                    os.close(each)
                ended = os.pidfd_open(pid)
                waiting.register(ended, selectors.EVENT_READ, (pid, wire, ended))
                waiting.register(wire, selectors.EVENT_READ, (pid, wire, ended))
            elif key.data is None:  # the pipe of the process of the tests
                for pid, _, _ in {each.data for each in waiting.get_map().values() if each.data}:
                    os.kill(pid, signal.SIGKILL)
                return False
            else:
                _serve(waiting, key, *key.data)


def _serve(waiting: selectors.BaseSelector, key: Any, pid: int, wire: socket.socket, ended: int) -> None:
    """A signal for a server, its client's end, or its own."""
    if key.fileobj is wire and wire in waiting.get_map():
        number = wire.recv(1)
        os.kill(pid, number[0] if number else signal.SIGKILL)
        if not number:
            waiting.unregister(wire)
            wire.close()
    elif key.fileobj == ended and ended in waiting.get_map():
        _, status = os.waitpid(pid, 0)
        if wire.fileno() >= 0:
            with suppress(OSError):  # its client has gone meanwhile
                wire.send(os.waitstatus_to_exitcode(status).to_bytes(8, "little", signed=True))
            waiting.unregister(wire)
            wire.close()
        waiting.unregister(ended)
        os.close(ended)


def _become(descriptors: list[int], words: list[str], folder: str, environment: dict[str, str]) -> None:
    for number, each in enumerate(descriptors):
        os.dup2(each, number)
    os.closerange(3, 1024)
    sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["causalist", *words]


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["hand-over", address, *words]:
            sys.exit(_hand_over(address, words))
        case ["fork", address, alive, *modules]:
            if _fork_servers(address, int(alive), modules):
                runpy.run_module("causalist", run_name="__main__", alter_sys=True)
