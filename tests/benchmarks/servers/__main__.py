"""The MCP server under load, and what its first words cost.

    python -m tests.benchmarks.servers handshake|lsp REPOSITORY [--runs 5]
    python -m tests.benchmarks.servers malformed REPOSITORY [--inputs 500]
    python -m tests.benchmarks.servers load REPOSITORY [--clients 50] [--requests 2000] [--edits 20] [--refresh-wait 1]

`handshake`: processor seconds of the server's process from its start to the first answer to tools/list, in a copy of
the repository without an index; what indexes behind it is a process of its own and not counted. `lsp`: the same of
the language server, to the answer to `initialize`. `malformed`: random
lines, and messages with one part changed, over standard input and over HTTP; after each a ping has to be answered.
`load`: clients over HTTP, each with a session of its own, ask one question after another while a file of a copy is
edited. Counts errors; untrue answers, which do not know an edit that was complete before they were asked for and do not
name its file as one that they do not know; answers that do name it; and clients that were answered from an older index
than before. Prints memory by fifths of the run, and the times of requests against one client asking alone: of all
requests, and of warm questions (`ask`), which are the longest.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import string
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.servers.editor import command as editor_command
from tests.servers.http_wire import HttpServer
from tests.servers.malformed import NONE, cases
from tests.servers.wire import RawServer, environment

MARKER = "load_marker"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["handshake", "lsp", "malformed", "load"])
    parser.add_argument("repository", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--inputs", type=int, default=500)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--edits", type=int, default=20)
    parser.add_argument("--refresh-wait", type=float, default=1.0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        root = Path(folder) / arguments.repository.name
        shutil.copytree(arguments.repository, root, ignore=shutil.ignore_patterns(".causalist"), symlinks=True)
        run: Callable[[Path, argparse.Namespace], int] = globals()[arguments.what]
        return run(root, arguments)


def handshake(root: Path, arguments: argparse.Namespace) -> int:
    n_files = len(subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True).stdout.splitlines())
    seconds = []
    for _ in range(arguments.runs):
        shutil.rmtree(root / ".causalist", ignore_errors=True)
        with RawServer(root) as server:
            server.start()
            assert server.request("tools/list")["result"]["tools"]
            seconds.append(cpu_seconds(server.process.pid))
    print(f"{n_files} files under git; handshake to tools/list: {sorted(seconds)} s of CPU")
    print(f"median {statistics.median(seconds):.2f}, most {max(seconds):.2f}")
    return int(max(seconds) > 1.0)


def lsp(root: Path, arguments: argparse.Namespace) -> int:
    seconds = []
    capabilities: dict[str, Any] = {"workspace": {"workspaceFolders": True}}
    folder = {"uri": root.as_uri(), "name": root.name}
    params = {"processId": None, "rootUri": None, "capabilities": capabilities, "workspaceFolders": [folder]}
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()
    for _ in range(arguments.runs):
        shutil.rmtree(root / ".causalist", ignore_errors=True)
        process = subprocess.Popen(
            editor_command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
        )
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(message) + message)
        process.stdin.flush()
        length = int(process.stdout.readline().partition(b":")[2])
        while process.stdout.readline().strip():
            pass
        assert "capabilities" in json.loads(process.stdout.read(length))["result"]
        seconds.append(cpu_seconds(process.pid))
        process.kill()
        process.wait()
    print(f"start of the language server to its capabilities: {sorted(seconds)} s of CPU")
    print(f"median {statistics.median(seconds):.2f}, most {max(seconds):.2f}")
    return int(max(seconds) > 1.0)


def malformed(root: Path, arguments: argparse.Namespace) -> int:
    rng = random.Random(20)
    dead = 0
    lines = [random_line(rng) for _ in range(arguments.inputs)]
    with RawServer(root) as server:
        server.start()
        for number, line in enumerate(lines):
            ping = json.dumps({"jsonrpc": "2.0", "id": f"alive-{number}", "method": "ping"}).encode()
            server.write(line + b"\n" + ping + b"\n")
            dead += server.response(f"alive-{number}").get("result") != {}
        is_protocol = all(json.loads(line)["jsonrpc"] == "2.0" for line in server.lines)
        code = server.finish()
    print(f"standard input: {len(lines)} inputs, {dead} after which no ping was answered; nothing but protocol on "
          f"standard output: {is_protocol}; exit code {code}")  # fmt: skip
    statuses: dict[int, int] = {}
    with HttpServer(root) as web:
        session = web.open_session()
        for number, line in enumerate(lines):
            status = web.send(line, Mcp_Session_Id=session)[0]
            statuses[status] = statuses.get(status, 0) + 1
            dead += web.request(session, "ping", {}, id=f"alive-{number}").get("result") != {}
    print(
        f"HTTP: {len(lines)} bodies, statuses {dict(sorted(statuses.items()))}, {dead} pings without an answer in all"
    )
    return int(dead > 0 or not is_protocol or code != 0 or any(status >= 500 for status in statuses))


def random_line(rng: random.Random) -> bytes:
    """Bytes, text, or a message with one part changed; never a line end inside."""
    kind = rng.randrange(4)
    if kind == 0:
        data = rng.randbytes(rng.randrange(1, 2000))
    elif kind == 1:
        data = "".join(rng.choices(string.printable + '{}[]":,é☃\x00', k=rng.randrange(1, 2000))).encode()
    else:
        data = rng.choice([case for case in cases() if case.id is NONE or kind == 3]).line[:20_000]
        if data and rng.random() < 0.7:
            at = rng.randrange(len(data))
            data = data[:at] + rng.randbytes(rng.randrange(3)) + data[at + rng.randrange(4) :]
    return data.replace(b"\n", b" ").replace(b"\r", b" ")


def load(root: Path, arguments: argparse.Namespace) -> int:
    edited = root / "causalist_load_marker.py"
    names = [line.split("def ")[1].split("(")[0] for path in sorted(root.rglob("*.py"))[:400]
             for line in path.read_text(encoding="utf-8", errors="replace").splitlines()
             if line.startswith("def ") and "(" in line][:60]  # fmt: skip
    edited.write_text("def load_marker():\n    return 0\n")
    with HttpServer(root, options=("--wait", "600", "--refresh-wait", str(arguments.refresh_wait))) as server:
        pid = server.process.pid
        session = server.open_session()
        asked = [calls(names, number) for number in range(arguments.requests)]
        call(server, session, *asked[0])  # after the first index
        for number in range(5):  # what is loaded at the first question is not paid by the next
            call(server, session, "ask", {"question": f"what is loaded first {number}"})
        cpu = [cpu_seconds(pid)]
        alone = [timed(server, session, *each)[0] for each in asked[:40]]
        cpu.append(cpu_seconds(pid))
        own = [{"question": f"which code works out {name}", "max_tokens": 1000} for name in dict.fromkeys(names)]
        questions = [timed(server, session, "ask", each)[0] for each in own[:20]]
        cpu.append(cpu_seconds(pid))
        state = State(arguments.requests)
        threads = [
            threading.Thread(target=client, args=(server, asked, state, edited), daemon=True)
            for _ in range(arguments.clients)
        ]
        memory = [resident(pid)]
        start = time.monotonic()
        for thread in threads:
            thread.start()
        done_edits = 0
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.2)
            if done_edits < arguments.edits and state.n_done > done_edits * arguments.requests // arguments.edits:
                done_edits += 1
                # In one step: a file that is being written is for a moment without what was in it.
                (root.parent / "edited").write_text("def load_marker():\n    return 0\n" + "".join(
                    f"\n\ndef load_edit_{i}():\n    return load_marker()\n" for i in range(1, done_edits + 1)
                ))  # fmt: skip
                (root.parent / "edited").replace(edited)
                state.edit = done_edits
            if state.n_done > len(memory) * arguments.requests // 5:
                memory.append(resident(pid))
        memory.append(resident(pid))
        seconds = time.monotonic() - start
        cpu.append(cpu_seconds(pid))
        code = server.stop()
    each = [(cpu[1] - cpu[0]) / len(alone), (cpu[3] - cpu[2]) / len(asked), time.process_time() / len(asked)]
    print("CPU of the server for each request: alone {:.0f} ms, together {:.0f} ms; of the clients {:.0f} ms".format(
        *(1000 * part for part in each)
    ))  # fmt: skip
    times = sorted(state.times)
    p50, p95, p99 = (times[max(0, int(len(times) * share) - 1)] for share in (0.5, 0.95, 0.99))
    single, question = statistics.median(alone), statistics.median(questions)
    print(f"{arguments.clients} clients, {len(times)} requests, {done_edits} edits in {seconds:.1f} s, "
          f"{len(times) / seconds:.1f} a second")  # fmt: skip
    print(f"errors: {len(state.errors)} {state.errors[:3]}; untrue answers: {state.n_untrue}; from an older index than "
          f"before: {state.n_backwards}; exit code {code}")  # fmt: skip
    print("".join(f"untrue: {each}\n" for each in state.untrue), end="")
    print(f"of {state.n_marked} answers on the edited file {state.n_behind} say that they do not know the last edit; "
          f"of all {state.n_said_behind} say that they are from before one")  # fmt: skip
    print(f"memory (MB) at the start, by fifths, at the end: {[round(each / 1e6) for each in memory]}")
    print(f"one client alone: median {single * 1000:.0f} ms, of questions {question * 1000:.0f} ms")
    print(f"all clients: p50 {p50 * 1000:.0f} ms, p95 {p95 * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms")
    print(f"p99 is {p99 / single:.1f} times the median alone, {p99 / question:.1f} times a question alone")
    return int(bool(state.errors) or state.n_untrue > 0 or state.n_backwards > 0)


class State:
    """What the clients of a run share."""

    def __init__(self, n_requests: int) -> None:
        self.lock = threading.Lock()
        self.left = n_requests
        self.n_done = 0
        self.edit = 0  # the last one that is complete
        self.times: list[float] = []
        self.errors: list[str] = []
        self.untrue: list[str] = []  # some of those answers
        self.n_marked = self.n_behind = self.n_said_behind = self.n_untrue = self.n_backwards = 0


def calls(names: list[str], number: int) -> tuple[str, dict[str, Any]]:
    """One of the requests: an eighth asks whether the last edit is known."""
    rng = random.Random(number)
    kind = rng.randrange(8)
    name = rng.choice(names)
    if kind == 0:
        return "impact", {"name": MARKER, "max_tokens": 4000, "min_confidence": 0}
    if kind < 3:
        return "ask", {"question": f"where is {name.replace('_', ' ')} decided", "max_tokens": 1000}
    return ("symbol", {"name": name, "max_tokens": 800}) if kind < 6 else ("impact", {"name": name})


def client(server: HttpServer, asked: list[tuple[str, dict[str, Any]]], state: State, edited: Path) -> None:
    session = server.open_session()
    generation = 0
    while True:
        with state.lock:
            if not state.left:
                return
            state.left -= 1
            number = state.left
        tool, given = asked[number]
        is_marked = given.get("name") == MARKER
        edit = state.edit
        try:
            seconds, result = timed(server, session, tool, given)
        except Exception as error:
            with state.lock:
                state.errors.append(f"{type(error).__name__}: {error}"[:200])
                state.n_done += 1
            continue
        text = result["content"][0]["text"]
        knows_less = is_marked and edit > 0 and f"load_edit_{edit}" not in text
        if result.get("isError"):  # an ambiguous name, say; nothing stands beside the text
            coverage = {"generation": generation, "complete": "older than the files" not in text}
            says_so = edited.name in text
        else:
            coverage = result["structuredContent"]["coverage"]
            says_so = not coverage["complete"] and edited.name in coverage["behind_files"]
        with state.lock:
            state.times.append(seconds)
            state.n_done += 1
            state.n_marked += is_marked
            state.n_behind += knows_less and says_so
            state.n_untrue += knows_less and not says_so
            state.n_said_behind += not coverage["complete"]
            state.n_backwards += coverage["generation"] < generation
            if knows_less and not says_so and len(state.untrue) < 3:
                state.untrue.append(f"edit {edit}: {coverage} {text[:300]}")
            if text.startswith("internal: "):
                state.errors.append(text[:200])
        generation = max(generation, coverage["generation"])


def timed(server: HttpServer, session: str, tool: str, given: dict[str, Any]) -> tuple[float, dict[str, Any]]:
    start = time.monotonic()
    result = call(server, session, tool, given)
    return time.monotonic() - start, result


def call(server: HttpServer, session: str, tool: str, given: dict[str, Any]) -> dict[str, Any]:
    params = {"name": tool, "arguments": given}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    status, headers, body = server.send(message, timeout=600, Mcp_Session_Id=session)
    if status != 200:
        raise RuntimeError(f"status {status}: {body[:200]!r}")
    events = [body] if headers["content-type"].startswith("application/json") else [
        line[6:] for line in body.splitlines() if line.startswith(b"data: ") and line[6:].strip()
    ]  # fmt: skip
    (answer,) = [document for event in events if "result" in (document := json.loads(event))]
    return dict(answer["result"])


def cpu_seconds(pid: int) -> float:
    """Processor seconds of a process since its start, without those of processes that it started."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> int:
    """Bytes of memory that a process has for itself."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    sys.exit(main())
