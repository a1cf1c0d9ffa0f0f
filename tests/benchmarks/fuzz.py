"""Coverage-guided trials of what strangers send: source, indexes, and frames of the two servers. Needs `atheris`.

    python -m tests.benchmarks.fuzz parser|index|mcp|lsp --minutes 30 --corpus FOLDER

Each starts from seeds that it makes itself and keeps what reaches new code in the folder. `parser`: bytes in one of
the languages; the facts must be sound (`tests.parse.test_robustness`). `index`: an index whose arrays, header or file
are changed; it is refused or answers. `mcp`, `lsp`: messages to a server in this process; a ping after each must be
answered, and no answer may call itself a defect. An error of the program, an input of over 10 seconds and a lost ping
are findings: each kind is counted, its first input is kept in FOLDER/TARGET.findings, and the exit code is 1. Minutes
and seconds are of processor time, so that a busy machine tries as much as an idle one.
"""

import argparse
import asyncio
import json
import logging
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import anyio
import numpy as np

Target = Callable[[bytes], None]
SLOW_SECONDS = 10.0
HANGING_SECONDS = 120  # the process is ended then
N_INPUTS_OF_A_SERVER = 1000  # at least
ANSWERED_SECONDS = 0.01  # by the clock: the language server's answers are awaited so long, beyond that of its ping
_DEFECT = "This is a defect of Causalist"


class Finding(Exception):
    """An input that the program must not answer like this."""


class Findings:
    """Runs a target; counts the kinds of its errors, and keeps the first input of each in a folder."""

    def __init__(self, target: Target, folder: Path, processor_seconds: float) -> None:
        self._target, self._folder, self._processor_seconds = target, folder, processor_seconds
        self.kinds: Counter[str] = Counter()
        self.n_inputs = 0

    def __call__(self, data: bytes) -> None:
        self.n_inputs += 1
        if self.n_inputs % 16 == 0 and time.process_time() > self._processor_seconds:
            os.kill(os.getpid(), signal.SIGUSR1)  # libFuzzer ends, with its figures
        start = time.process_time()
        kind = self._kind_of_error(data)
        if kind is None and time.process_time() - start > SLOW_SECONDS:
            kind = "slow"
        if kind is None:
            return
        self.kinds[kind] += 1
        if self.kinds[kind] == 1:
            self._folder.mkdir(parents=True, exist_ok=True)
            name = sha256(kind.encode()).hexdigest()[:12]
            (self._folder / f"{name}.input").write_bytes(data)
            (self._folder / f"{name}.txt").write_text(f"{kind}\n", encoding="utf-8", errors="backslashreplace")
            print(f"finding: {kind}", flush=True)

    def _kind_of_error(self, data: bytes) -> str | None:
        try:
            self._target(data)
        except Finding as finding:
            return str(finding)[:300]
        except Exception as error:
            own = [each for each in traceback.extract_tb(error.__traceback__) if "causalist" in each.filename]
            return f"{type(error).__name__} in {own[-1].name if own else '?'}"
        return None


# -- source


def parser(_: Path) -> tuple[Target, Iterable[bytes]]:
    """Return the target and seeds: a byte that chooses the language, and a file."""
    from causalist.parse import load_grammar, load_settings, parse_source
    from causalist.parse.syntax_tree import ParseTooLong
    from tests.parse.test_robustness import assert_sound, samples

    names = sorted(load_settings())

    def target(data: bytes) -> None:
        if data:
            dialect = names[data[0] % len(names)]
            with suppress(ParseTooLong):  # the file is then read as text
                assert_sound(parse_source(data[1:], load_grammar(dialect)), data[1:])

    return target, _parser_seeds(names, samples())


def _parser_seeds(names: list[str], files: Iterable[tuple[str, bytes]]) -> Iterable[bytes]:
    from causalist.parse import dialect_of

    for path, content in files:
        dialect = dialect_of(path)
        if dialect in names:
            yield bytes([names.index(dialect)]) + content[:4000]


# -- indexes


def index(folder: Path) -> tuple[Target, Iterable[bytes]]:
    """Return the target and seeds: a byte that chooses arrays, header or file, and changes of it."""
    from causalist._internal.dataclass_arrays import Arrays, flatten, unflatten
    from causalist.errors import IndexUnreadable
    from causalist.model.index import Index
    from causalist.store import read_index, write_index
    from tests.benchmarks.foreign_indexes import make_index, outcome_of

    sound = make_index(folder)
    stored = folder / "index.bin"
    write_index(stored, sound)
    whole = stored.read_bytes()

    def changed_arrays(data: bytes) -> Index | IndexUnreadable:
        arrays: Arrays = {}
        header = flatten(sound, "index", arrays)
        names = sorted(arrays)
        while len(data) >= 8:
            name, how, at, value, data = data[0], data[1], data[2:4], data[4:8], data[8:]
            key = names[name % len(names)]
            arrays[key] = _change(arrays[key], how, int.from_bytes(at, "little"), value)
        if data:
            header = _change_header(header, data)
        try:
            return unflatten(Index, header, "index", arrays)
        except IndexUnreadable as error:
            return error

    def target(data: bytes) -> None:
        if not data:
            return
        if data[0] % 4:
            there = changed_arrays(data[1:])
        else:
            changed = bytearray(whole)
            for start in range(1, len(data) - 6, 7):
                at = int.from_bytes(data[start : start + 3], "little") % len(changed)
                changed[at : at + 4] = data[start + 3 : start + 7]
            stored.write_bytes(changed)
            try:
                read = read_index(stored)
            except IndexUnreadable:
                return
            if read is None:
                return
            there = read
        outcome = outcome_of(there, folder, "")
        if outcome not in ("refused", "answered"):
            raise Finding(outcome)

    seeds = [bytes([kind, *range(array, array + 8)]) for kind in range(4) for array in range(0, 240, 3)]
    return target, seeds


def _change(array: Any, how: int, at: int, value: bytes) -> Any:
    """Return an array with one of its values, its length or its type changed."""
    if how % 8 == 0:
        return array[: at % (len(array) + 1)]
    if how % 8 == 1:
        return np.concatenate([array, array[: at % 5]])
    if how % 8 == 2:
        with np.errstate(all="ignore"):
            return array.astype(("int32", "int64", "uint8", "float64", "bool", "float32", "uint16")[at % 7])
    changed = array.copy()
    if len(changed):
        flat = changed.reshape(-1).view(np.uint8)
        place = at % len(array) * array.itemsize
        room = min(4, array.itemsize)
        flat[place : place + room] = np.frombuffer(value, np.uint8)[:room]
    return changed


def _change_header(header: Any, data: bytes) -> Any:
    """Return the scalars of an index with a few bytes of their text changed, if that is JSON."""
    text = bytearray(json.dumps(header).encode())
    at = data[0] * len(text) // 256
    text[at : at + len(data) - 1] = data[1:]
    try:
        return json.loads(text)
    except ValueError:
        return header


# -- servers


def _small_repository(folder: Path) -> Path:
    from tests.benchmarks.foreign_indexes import make_index

    root = folder / "below" / "shop"
    root.mkdir(parents=True)
    make_index(root)
    return root


def mcp(folder: Path) -> tuple[Target, Iterable[bytes]]:
    """Return the target and seeds: lines for the MCP server, which offers all tools."""
    from mcp.shared.message import SessionMessage

    from causalist.servers.live_repository import Repositories
    from causalist.servers.mcp.handlers import Handlers, select_tools
    from causalist.servers.mcp.server import read_lines, read_message
    from tests.servers.malformed import cases

    loop = asyncio.new_event_loop()
    root = _small_repository(folder)
    ends: dict[str, Any] = {}

    async def start() -> None:
        repositories = Repositories((root,), math.inf)
        ends["prepare"] = asyncio.ensure_future(repositories.prepare())
        server = Handlers(repositories, "0", 60.0, "all").server()
        ends["in"], received = anyio.create_memory_object_stream[Any](math.inf)
        outgoing, ends["out"] = anyio.create_memory_object_stream[Any](math.inf)
        ends["task"] = asyncio.ensure_future(server.run(received, outgoing, server.create_initialization_options()))
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "f", "version": "1"}}
        await exchange([_call("initialize", about), _call("notifications/initialized", None)])
        await exchange([_call("tools/call", {"name": "ask", "arguments": {"question": "total of a cart"}}, 2)])
        while not list(root.glob(".causalist/*")):
            await asyncio.sleep(0.1)

    async def exchange(lines: Iterable[bytes | None]) -> None:
        for line in lines:
            message = read_message(line)
            if isinstance(message, SessionMessage):
                await ends["in"].send(message)
        ends["n"] = ends.get("n", 0) + 1
        ping = read_message(_call("ping", None, f"pong-{ends['n']}"))
        assert isinstance(ping, SessionMessage)
        await ends["in"].send(ping)
        while True:
            answer = (await ends["out"].receive()).message
            text = answer.model_dump_json(by_alias=True, exclude_unset=True)
            text.encode()
            if _DEFECT in text:
                raise Finding(text[text.index("internal: ") :][:200])
            if getattr(answer, "id", None) == f"pong-{ends['n']}":
                return

    def target(data: bytes) -> None:
        chunks = iter([data[at : at + 4096] for at in range(0, len(data), 4096)] + [b""])
        try:
            loop.run_until_complete(asyncio.wait_for(exchange(read_lines(lambda: next(chunks))), HANGING_SECONDS / 2))
        except TimeoutError:
            raise Finding("no answer to a ping") from None
        if ends["task"].done():
            raise Finding("the server has ended")

    loop.run_until_complete(start())
    names = select_tools("all")
    seeds = [case.line for case in cases() if len(case.line) < 4000]
    for name, tool in names.items():
        given = {key: _example(about) for key, about in tool.schema().get("properties", {}).items()}
        seeds.append(_call("tools/call", {"name": name, "arguments": given}, 1))
    return target, seeds


def _call(method: str, params: object, id: object = 1) -> bytes:
    about = {"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})}
    return json.dumps(about if method.startswith("notifications/") else {**about, "id": id}).encode()


def _example(schema: dict[str, Any]) -> object:
    if "enum" in schema:
        return schema["enum"][0]
    return {"integer": 500, "number": 0.5, "boolean": True, "array": ["total"]}.get(schema.get("type", ""), "total")


def lsp(folder: Path) -> tuple[Target, Iterable[bytes]]:
    """Return the target and seeds: frames for the language server, which has a document open."""
    from causalist.servers.lsp.protocol import frame_message, read_bodies
    from causalist.servers.lsp.server import LspServer

    logging.getLogger("pygls").setLevel(logging.CRITICAL + 1)
    loop = asyncio.new_event_loop()
    root = _small_repository(folder)
    # Seeds name the folder by a word, so that those that a run keeps fit the folder of the next run.
    word = b"file:///shop-root"
    uri = f"{word.decode()}/shop/cart.py"
    place = {"textDocument": {"uri": uri}, "position": {"line": 4, "character": 5}}
    now: dict[str, Any] = {"n": 0, "started": 0}

    class Writer:
        def write(self, data: bytes) -> None:
            body = data.partition(b"\r\n\r\n")[2]
            if _DEFECT.encode() in body:
                now["defect"] = body.decode()
            now["pong"] = now.get("pong") or (b'"pong-%d"' % now["n"] in body)

        def close(self) -> None:
            return None

    async def start() -> None:
        server = now["server"] = LspServer("0", root, 60.0)
        now["started"] = now["n"]
        server.protocol.set_writer(Writer())
        about = {
            "processId": None, "rootUri": None, "capabilities": {},
            "workspaceFolders": [{"uri": root.as_uri(), "name": "shop"}],
            "initializationOptions": {"definition": True, "references": True},
        }  # fmt: skip
        text = (root / "shop" / "cart.py").read_text()
        opened = {"textDocument": {"uri": uri, "languageId": "python", "version": 1, "text": text}}
        await exchange([_call("initialize", about), _note("initialized", {}), _note("textDocument/didOpen", opened)])
        while not all(folder.peek() for folder in server.folders):
            await asyncio.sleep(0.001)

    async def exchange(bodies: Iterable[bytes | None]) -> None:
        protocol = now["server"].protocol
        earlier = asyncio.all_tasks()
        for body in bodies:
            protocol.take(None if body is None else body.replace(word, root.as_uri().encode()))
            await asyncio.sleep(0)
        # A server that has ended would refuse what follows. A start takes longer than a hundred inputs.
        if protocol.exit_code is not None and now["n"] - now["started"] >= N_INPUTS_OF_A_SERVER:
            now["server"].stop()
            await start()
            return
        protocol.exit_code, protocol._shutdown = None, False
        now["n"] += 1
        now["pong"] = False
        protocol.take(_call("none/such", {}, f"pong-{now['n']}"))
        # What was asked is mostly answered before the next input.
        latest = time.monotonic() + ANSWERED_SECONDS
        while not now["pong"] or (asyncio.all_tasks() - earlier and time.monotonic() < latest):
            await asyncio.sleep(0.0002)
        if defect := now.pop("defect", None):
            raise Finding(defect[defect.index("internal: ") :][:200])

    def target(data: bytes) -> None:
        rest = [data]
        try:
            bodies = read_bodies(lambda _: rest.pop() if rest else b"")
            loop.run_until_complete(asyncio.wait_for(exchange(bodies), HANGING_SECONDS / 2))
        except TimeoutError:
            raise Finding("no answer to a ping") from None

    loop.run_until_complete(start())
    change = {
        "range": {"start": {"line": 1, "character": 2}, "end": {"line": 2, "character": 0}},
        "text": "def f():\n    return 'ä€🎉'\n",
    }
    item = {"name": "total", "kind": 12, "uri": uri, "range": {"start": place["position"], "end": place["position"]},
            "selectionRange": {"start": place["position"], "end": place["position"]}}  # fmt: skip
    both = [{"uri": uri, "version": 2}, [change]]
    messages = [
        _note("textDocument/didChange", {"textDocument": both[0], "contentChanges": both[1]}),
        _note("textDocument/didClose", {"textDocument": {"uri": uri}}),
        _note("textDocument/didSave", {"textDocument": {"uri": uri}}),
        _note("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri, "type": 2}]}),
        _note("$/cancelRequest", {"id": 1}),
        *(
            _call(f"textDocument/{name}", {**place, "context": {"includeDeclaration": True}})
            for name in ("hover", "definition", "references", "prepareCallHierarchy", "codeLens")
        ),
        _call("callHierarchy/incomingCalls", {"item": item}),
        _call("callHierarchy/outgoingCalls", {"item": item}),
        _call("codeLens/resolve", {"range": change["range"], "data": {"kind": "callers", "node": "a"}}),
        _call("workspace/symbol", {"query": "where is the total"}),
        _call("workspace/executeCommand", {"command": "causalist.callers", "arguments": [uri, "shop/cart.py::total"]}),
        *(
            _call(f"causalist/{name}", {"question": "total", "uri": uri, "node": "shop/cart.py::total", "line": 4})
            for name in ("ask", "context", "impact", "review")
        ),
        _call("shutdown", None),
        _note("exit", None),
    ]
    return target, [frame_message(message) for message in messages] + [
        b"".join(map(frame_message, messages[n : n + 3])) for n in range(0, len(messages) - 3, 3)
    ]


def _note(method: str, params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode()


TARGETS = {each.__name__: each for each in (parser, index, mcp, lsp)}


def main() -> int:
    """Run a target for a time, in a process that its end or a crash takes along, and print what was found."""
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("target", choices=list(TARGETS))
    given.add_argument("--minutes", type=float, default=30.0)
    given.add_argument("--corpus", type=Path, required=True)
    given.add_argument("--seed", type=int, default=1)
    given.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = given.parse_args()
    found = options.corpus / f"{options.target}.findings"
    if options.inside:
        _run(options, found)
    shutil.rmtree(found, ignore_errors=True)
    command = [sys.executable, "-m", "tests.benchmarks.fuzz", *sys.argv[1:], "--inside"]
    code = subprocess.run(command, check=False).returncode
    kinds = sorted(path.read_text(encoding="utf-8").strip() for path in found.glob("*.txt"))
    print(f"{options.target}: {len(kinds)} kinds of findings, exit code of the run {code}")
    for kind in kinds:
        print(f"  {kind}")
    return int(bool(kinds) or code != 0)


def _run(options: argparse.Namespace, found: Path) -> None:
    """Run a target; does not return, because the library ends the process."""
    import atheris

    corpus = options.corpus / options.target
    corpus.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        os.environ["XDG_CACHE_HOME"] = name
        with atheris.instrument_imports(include=["causalist"], enable_loader_override=False):
            target, seeds = TARGETS[options.target](Path(name))
        for seed in seeds:
            (corpus / sha256(seed).hexdigest()[:16]).write_bytes(seed)
        flags = {
            "timeout": HANGING_SECONDS, "seed": options.seed, "max_len": 8192,
            "rss_limit_mb": 6000, "print_final_stats": 1, "artifact_prefix": f"{options.corpus}/",
        }  # fmt: skip
        arguments = [sys.argv[0], str(corpus), *(f"-{name}={value}" for name, value in flags.items())]
        atheris.Setup(arguments, Findings(target, found, options.minutes * 60), internal_libfuzzer=True)
        atheris.Fuzz()


if __name__ == "__main__":
    raise SystemExit(main())
