"""The language server while things change: edits, saves, folders, an index that is still being made, noise."""

import asyncio
import json
import os
import random
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from causalist.servers.lsp.protocol import frame_message, read_bodies
from tests.cli.commands import write_all
from tests.servers.conftest import settle
from tests.servers.editor import Editor, at, command, document, edit
from tests.servers.ready_process import ready
from tests.servers.wire import are_gone, children_of, environment, indexing_waits

pytestmark = pytest.mark.slow


async def names(editor: Editor, query: str) -> list[str]:
    found = await editor.workspace_symbol_async(types.WorkspaceSymbolParams(query))
    return [each.data["node"] for each in found or ()]


async def lens_titles(editor: Editor, uri: str) -> dict[int, str]:
    """Those of callers, by line."""
    lenses = await editor.text_document_code_lens_async(types.CodeLensParams(document(uri)))
    callers = [each for each in lenses or () if each.data["lens"] == "callers"]
    resolved = [await editor.code_lens_resolve_async(each) for each in callers]
    return {each.range.start.line: each.command.title for each in resolved if each.command}


def test_50_requests_in_flight_are_all_answered_and_are_right(small: Path) -> None:
    """Sent at once, with an edit in the middle: what was asked after it knows it."""

    async def drive(editor: Editor) -> None:
        await editor.begin(small)
        await names(editor, "price_of")  # there is an index
        uri = editor.open(small / "shop" / "prices.py")
        hover = types.HoverParams(document(uri), at(0, 5))
        kinds = [
            lambda: names(editor, "price_of"),
            lambda: editor.own("ask", question="what does an invoice cost with tax", top_k=3),
            lambda: editor.text_document_hover_async(hover),
            lambda: editor.own("impact", node="with_tax"),
            lambda: editor.text_document_code_lens_async(types.CodeLensParams(document(uri))),
        ]
        before = [asyncio.ensure_future(kinds[number % 5]()) for number in range(25)]
        editor.insert(uri, 8, "\n\ndef refund_of(item):\n    return -price_of(item)\n")
        after = [asyncio.ensure_future(kinds[number % 5]()) for number in range(20)]
        after += [asyncio.ensure_future(names(editor, "refund_of")) for _ in range(5)]
        answers = await asyncio.wait_for(asyncio.gather(*before, *after), 100)
        assert len(answers) == 50 and all(answers), answers
        for number, answer in enumerate(answers[:45]):
            kind = (number if number < 25 else number - 25) % 5
            if kind == 0:
                assert answer[0] == "shop/prices.py::price_of"
            if kind == 1:
                assert answer["results"] and answer["pack"]["text"]
            if kind == 2:
                assert "The price of an item with tax" in answer.contents.value
            if kind == 3:
                assert "shop/prices.py::price_of" in [each["node"] for each in answer["affected"]]
        assert answers[45:] == [["shop/prices.py::refund_of"]] * 5

    edit(drive)


class TestUnsaved:
    def test_counts_and_is_forgotten_when_it_is_closed(self, small: Path) -> None:
        async def drive(editor: Editor) -> None:
            await editor.begin(small)
            assert await names(editor, "refund_of") == []
            uri = editor.open(small / "shop" / "prices.py")
            editor.insert(uri, 0, "def refund_of(item):\n    return -price_of(item)\n\n\n")
            assert await names(editor, "refund_of") == ["shop/prices.py::refund_of"]
            asked = await editor.own("ask", question="how much is a refund of an item")
            assert asked["results"][0]["node"] == "shop/prices.py::refund_of"
            # The source that is shown is what the editor holds.
            assert "return -price_of(item)" in asked["pack"]["text"] and asked["repository"]["stale"] is False
            # Lenses stand where the definitions stand now, and count the new caller.
            assert await lens_titles(editor, uri) == {0: "no callers known", 4: "2 callers", 9: "1 caller"}
            hover = await editor.text_document_hover_async(types.HoverParams(document(uri), at(1, 14)))
            assert hover is not None and "The price of an item" in hover.contents.value  # type: ignore[union-attr]
            assert "refund_of" not in (small / "shop" / "prices.py").read_text()
            editor.text_document_did_close(types.DidCloseTextDocumentParams(document(uri)))
            assert await names(editor, "refund_of") == []

        edit(drive)

    def test_every_kind_of_change(self, small: Path) -> None:
        """Ranges, several in one message, the whole text; then what the server holds is what the editor holds."""

        async def drive(editor: Editor) -> None:
            await editor.begin(small)
            uri = editor.open(small / "shop" / "prices.py")
            first = types.TextDocumentContentChangePartial(range=types.Range(at(0, 4), at(0, 12)), text="cost_of")
            second = types.TextDocumentContentChangePartial(range=types.Range(at(0, 4), at(0, 4)), text="whole_")
            identifier = types.VersionedTextDocumentIdentifier(2, uri)
            editor.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [first, second]))
            assert await names(editor, "whole_cost_of") == ["shop/prices.py::whole_cost_of"]
            whole = types.TextDocumentContentChangeWholeDocument("def nothing_else():\n    pass\n")
            editor.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [whole]))
            assert await names(editor, "nothing_else") == ["shop/prices.py::nothing_else"]
            assert await names(editor, "whole_cost_of") == []

        edit(drive)


class TestSaved:
    def test_saves_and_watched_files_are_seen(self, small: Path) -> None:
        async def drive(editor: Editor) -> None:
            await editor.begin(small)
            assert await names(editor, "refund_of") == []
            assert [each.method for each in editor.registered] == [types.WORKSPACE_DID_CHANGE_WATCHED_FILES]
            path = small / "shop" / "prices.py"
            uri = editor.open(path)
            before = editor.refreshes
            path.write_text(path.read_text() + "\n\ndef refund_of(item):\n    return -price_of(item)\n")
            editor.insert(uri, 6, "\n\ndef refund_of(item):\n    return -price_of(item)\n", 21)
            editor.text_document_did_save(types.DidSaveTextDocumentParams(document(uri)))
            assert await names(editor, "refund_of") == ["shop/prices.py::refund_of"]
            await until(lambda: editor.refreshes > before)
            (small / "shop" / "added.py").write_text("def added_elsewhere():\n    pass\n")
            change = types.FileEvent((small / "shop" / "added.py").as_uri(), types.FileChangeType.Created)
            editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))
            assert await names(editor, "added_elsewhere") == ["shop/added.py::added_elsewhere"]

        edit(drive)


class TestEncodings:
    @pytest.mark.parametrize(
        ("offered", "agreed", "character"),
        # `x = "😀é"; price_of(x)`: behind 10 characters, of which one has 2 units or 4 bytes, another 2 bytes.
        [(["utf-8", "utf-16"], "utf-8", 14), (["utf-32"], "utf-32", 10), (None, "utf-16", 11), (["odd"], "utf-16", 11)],
    )
    def test_negotiated(self, offered: list[str] | None, agreed: str, character: int, small: Path) -> None:
        general = types.GeneralClientCapabilities(position_encodings=offered)  # type: ignore[arg-type]
        (small / "shop" / "faces.py").write_text(
            'from shop.prices import price_of\n\n\ndef smile():\n    x = "😀é"; price_of(x)\n'
        )

        async def drive(editor: Editor) -> None:
            started = await editor.begin(small, capabilities=types.ClientCapabilities(general=general))
            assert started.capabilities.position_encoding == agreed
            assert await names(editor, "price_of")
            uri = editor.open(small / "shop" / "faces.py")
            start = 4 + character
            hover = await editor.text_document_hover_async(types.HoverParams(document(uri), at(4, start)))
            assert hover is not None and hover.range == types.Range(at(4, start), at(4, start + 8))
            # Behind the character that has several units, so that a wrong unit would cut it or another one.
            editor.insert(uri, 4, "_of_all", start + 8)
            editor.insert(uri, 4, "def price_of_all(x): pass\n    ", 4)
            asked = await names(editor, "price_of_all")
            assert asked == ["shop/faces.py::smile.price_of_all"]

        edit(drive)


class TestFolders:
    def test_several_come_and_go(self, small: Path, tmp_path: Path) -> None:
        other = write_all(tmp_path / "other", {"bank.py": "def price_of(share):\n    return share\n"})
        settle(other)

        async def drive(editor: Editor) -> None:
            await editor.begin(small, other)
            assert sorted(await names(editor, "price_of")) == ["bank.py::price_of", "shop/prices.py::price_of"]
            with pytest.raises(JsonRpcException, match="uri must name an open folder"):
                await editor.own("ask", question="price")
            asked = await editor.own("ask", question="price", uri=other.as_uri())
            assert asked["repository"]["root"] == str(other)
            asked = await editor.own("ask", question="price", uri=(small / "shop" / "cart.py").as_uri())
            assert asked["repository"]["root"] == str(small)
            gone = types.WorkspaceFoldersChangeEvent([], [types.WorkspaceFolder(small.as_uri(), "small")])
            editor.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(gone))
            assert await names(editor, "price_of") == ["bank.py::price_of"]
            back = types.WorkspaceFoldersChangeEvent([types.WorkspaceFolder(small.as_uri(), "small")], [])
            editor.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(back))
            assert len(await names(editor, "price_of")) == 2

        edit(drive)

    def test_a_home_directory_is_refused_and_said(self, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(small))

        async def drive(editor: Editor) -> None:
            await editor.begin(small)
            with pytest.raises(JsonRpcException, match="refused-root: "):
                await editor.own("ask", question="price")
            uri = editor.open(small / "shop" / "cart.py")
            assert await editor.text_document_hover_async(types.HoverParams(document(uri), at(7, 21))) is None
            await until(lambda: any(text.startswith("refused-root: ") for text in editor.logged))
            assert not (small / ".causalist").exists()

        edit(drive)


class TestWhileIndexing:
    def test_the_handshake_does_not_wait_and_progress_is_shown(self, large: Path) -> None:
        async def drive(editor: Editor) -> None:
            started = time.monotonic()
            await editor.begin(large)
            assert time.monotonic() - started < 20 and not (large / ".causalist" / "index.bin").exists()
            uri = editor.open(large / "part_00" / "worker_0.py")
            # In passing: what is known without an index, at once.
            lenses = await editor.text_document_code_lens_async(types.CodeLensParams(document(uri)))
            assert lenses is not None and len(lenses) == 41
            resolved = await editor.code_lens_resolve_async(lenses[0])
            assert resolved.command is not None and resolved.command.title == "indexing …"
            assert await editor.text_document_hover_async(types.HoverParams(document(uri), at(0, 8))) is None
            # Asked for what needs the whole: waits as long as it may, and says how far it is.
            with pytest.raises(JsonRpcException, match="still indexing: ") as raised:
                await editor.own("impact", node="Worker7", workDoneToken="mine")
            assert raised.value.code == -32803
            mine = [value for token, value in editor.progress if token == "mine"]
            assert [value["kind"] for value in map(as_plain, mine)][:1] == ["begin"]
            assert as_plain(mine[-1])["kind"] == "end"
            await until(lambda: any("files parsed" in str(as_plain(value)) for _, value in editor.progress))
            # A request that is cancelled is answered with just that, and at once.
            waiting = asyncio.ensure_future(
                editor.protocol.send_request_async(types.WORKSPACE_SYMBOL, types.WorkspaceSymbolParams("x"), "c1")
            )
            await asyncio.sleep(0.1)
            editor.cancel_request(types.CancelParams("c1"))
            with pytest.raises(JsonRpcException) as raised:
                await asyncio.wait_for(waiting, 5)
            assert raised.value.code == -32800
            assert not (large / ".causalist" / "index.bin").exists()

        edit(drive, "--wait", "1")

    def test_questions_symbols_and_calls_are_answered_from_what_they_need(self, several: Path) -> None:
        """One file makes an instance of the class in another one; nothing uses the classes of the others."""
        shop = "from part_00.worker_0 import Worker0\n\n\ndef sell():\n    return Worker0()\n"
        write_all(several, {"shop.py": shop})

        async def drive(editor: Editor) -> None:
            await editor.begin(several)
            uri = editor.open(several / "part_00" / "worker_0.py")
            assert (await names(editor, "sell"))[0] == "shop.py::sell"
            assert "partial: " in editor.logged[-1] and "of 901 files parsed" in editor.logged[-1]
            asked = await editor.own("ask", question="where does the shop sell a worker", top_k=3)
            assert "shop.py::sell" in [each["node"] for each in asked["results"]]
            assert [each["slug"] for each in asked["diagnostics"]] == ["partial"]
            assert 0 < asked["repository"]["parsed"] < asked["repository"]["files"] == 901
            text = await editor.own("context", question="where does the shop sell a worker")
            assert "return Worker0()" in text["text"] and text["notes"][0].startswith("partial: ")
            # Two files have the name.
            item = types.CallHierarchyPrepareParams(document(uri), at(0, 8))
            (found,) = await editor.text_document_prepare_call_hierarchy_async(item) or ()
            assert found.data == {"node": "part_00/worker_0.py::Worker0"}
            incoming = types.CallHierarchyIncomingCallsParams(found)
            (call,) = await editor.call_hierarchy_incoming_calls_async(incoming) or ()
            assert call.from_.data == {"node": "shop.py::sell"}
            assert "partial: 2 of 901 files parsed, those with the name" in editor.logged[-1]
            # What is typed and not saved is not read, and the log says so.
            editor.insert(uri, 0, "def fire():\n    pass\n\n\n")
            await names(editor, "sell")
            assert "; answered without unsaved changes of open documents" in editor.logged[-1]

        with indexing_waits(several):
            edit(drive)


class Raw:
    """The server as a process, spoken to in bytes."""

    def __init__(self, folder: Path, *, is_ready: bool = False) -> None:
        words = command("--repo", str(folder))
        self.process = subprocess.Popen(
            ready(words) if is_ready else words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=environment(), bufsize=0,
        )  # fmt: skip
        assert self.process.stdin is not None and self.process.stdout is not None
        self._next = 0
        self.output = b""
        self._bodies = read_bodies(self._read)

    def __enter__(self) -> "Raw":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def _read(self, n: int) -> bytes:
        assert self.process.stdout is not None
        data = os.read(self.process.stdout.fileno(), n)
        self.output += data
        return data

    def send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def messages(self) -> Iterator[dict[str, Any]]:
        for body in self._bodies:
            assert body is not None
            yield json.loads(body)

    def ask(self, method: str, params: object = None, **more: object) -> dict[str, Any]:
        self._next += 1
        message = {"jsonrpc": "2.0", "id": f"r{self._next}", "method": method, "params": params, **more}
        self.send(frame_message(json.dumps(message).encode()))
        return next(each for each in self.messages() if each.get("id") == message["id"] and "method" not in each)

    def tell(self, method: str, params: object = None) -> None:
        self.send(frame_message(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode()))


class TestHostile:
    @pytest.mark.parametrize("more", [{}, {"result": {}}, {"error": {"code": 1, "message": "no"}}])
    def test_a_response_to_the_own_request(self, more: dict[str, Any], small: Path) -> None:
        """The library keeps what it answers under the same ids as what it asks."""
        request = {"jsonrpc": "2.0", "id": "mine", "method": "workspace/symbol", "params": {"query": "price_of"}}
        with Raw(small, is_ready=True) as server:
            server.ask("initialize", {"capabilities": {}, "rootUri": small.as_uri(), "processId": None})
            sent = (request, {"jsonrpc": "2.0", "id": "mine", **more})
            server.send(b"".join(frame_message(json.dumps(each).encode()) for each in sent))
            answer = next(each for each in server.messages() if each.get("id") == "mine")
            assert answer["result"][0]["data"]["node"] == "shop/prices.py::price_of"
            assert "result" in server.ask("workspace/symbol", {"query": "price_of"})

    def test_random_frames_and_requests_leave_it_answering(self, small: Path) -> None:
        """500 inputs, from a fixed seed: noise, cut and nested JSON, known methods with parameters of any shape."""
        chance = random.Random(7)
        uri = (small / "shop" / "cart.py").as_uri()
        methods = [
            "workspace/symbol", "textDocument/codeLens", "codeLens/resolve", "textDocument/hover",
            "textDocument/prepareCallHierarchy", "callHierarchy/incomingCalls", "callHierarchy/outgoingCalls",
            "workspace/executeCommand", "causalist/ask", "causalist/context", "causalist/impact",
            "textDocument/didOpen",
            "textDocument/didChange", "textDocument/didSave", "textDocument/didClose", "$/cancelRequest", "$/setTrace",
            "workspace/didChangeWatchedFiles", "workspace/didChangeWorkspaceFolders", "window/workDoneProgress/cancel",
            "textDocument/unknown", "", "initialize",
        ]  # fmt: skip
        values: list[Any] = [
            None, 0, -1, 2**70, 1.5, "", "x", uri, "file:///", True, [], {}, [1], {"uri": uri}, {"uri": 5}, "\ud800",
            {"line": -1, "character": 2**40}, {"line": 7, "character": 21}, {"line": "x"}, [{"text": "x"}],
            [{"range": {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}, "text": "é"}],
            {"data": {"node": "shop/cart.py::Cart.total"}, "uri": uri}, "shop/cart.py::Cart.total", "causalist.callers",
        ]  # fmt: skip
        keys = ["textDocument", "position", "query", "item", "command", "arguments", "question", "node",
                "contentChanges", "changes", "event", "data", "range", "max_tokens", "top_k", "id", "token",
                "uri"]  # fmt: skip

        def one() -> bytes:
            kind = chance.random()
            if kind < 0.15:
                return chance.randbytes(chance.randrange(60)) + b"\r\n\r\n"
            if kind < 0.25:
                return frame_message(chance.randbytes(chance.randrange(60)))
            params = {key: chance.choice(values) for key in chance.sample(keys, chance.randrange(6))}
            message: dict[str, Any] = {"jsonrpc": "2.0", "method": chance.choice(methods), "params": params}
            if chance.random() < 0.2:
                message["params"] = chance.choice(values)
            if chance.random() < 0.7:
                message["id"] = chance.choice([chance.randrange(1000), f"i{chance.randrange(9)}", None, 1.5, [], True])
            if chance.random() < 0.1:
                del message[chance.choice(list(message))]
            body = json.dumps(message).encode()
            if kind < 0.35:
                body = body[: chance.randrange(len(body))]
            if kind > 0.98:
                body = b"[" * 5000 + b"]" * 5000
            return frame_message(body)

        with Raw(small, is_ready=True) as server:
            assert server.ask("workspace/symbol", {"query": "x"})["error"]["code"] == -32002
            started = server.ask("initialize", {"capabilities": {}, "rootUri": small.as_uri(), "processId": None})
            assert started["result"]["serverInfo"]["name"] == "causalist"
            server.tell("initialized", {})
            for odd in ({}, [], None, 1.5, {"id": {}}):
                server.tell("$/cancelRequest", {"id": odd})
                assert "result" in server.ask("workspace/symbol", {"query": "price_of"})
            for number in range(500):
                server.send(one())
                if number % 50 == 49:
                    answer = server.ask("workspace/symbol", {"query": "price_of"})
                    found = [each["data"]["node"] for each in answer["result"]]
                    assert found[:1] == ["shop/prices.py::price_of"]
            for value in values:
                for params in (value, {"staged": value}, {"limit": value, "max_depth": value}):
                    assert server.ask("causalist/review", params)["error"]["code"] in (-32602, -32803)  # no git here
            # One that never gets an answer would be waited for for ever.
            for number, odd in enumerate([{}, {"params": 5}, {"params": {}}]):
                message = {"jsonrpc": "2.0", "id": 5000 + number, "method": "workspace/symbol", **odd}
                server.send(frame_message(json.dumps(message).encode()))
                answer = next(each for each in server.messages() if each.get("id") == 5000 + number)
                assert answer["error"]["code"] == -32602, (odd, answer)
            assert server.ask("shutdown")["result"] is None
            assert server.ask("workspace/symbol", {"query": "x"})["error"]["code"] == -32600
            server.tell("exit")
            assert server.process.wait(10) == 0
            for _ in server.messages():
                pass
            # Nothing but frames came out.
            rest = server.output
            assert b"".join(frame_of(rest)) == rest
            assert server.process.stderr is not None and server.process.stderr.read() == b""

    @pytest.mark.parametrize("way", ["close", "SIGTERM", "exit"])
    def test_the_end_leaves_no_process(self, way: str, large: Path) -> None:
        with Raw(large) as server:
            server.ask("initialize", {"capabilities": {}, "rootUri": large.as_uri(), "processId": None})
            server.tell("initialized", {})
            deadline = time.monotonic() + 30
            below: list[int] = []
            while not below and time.monotonic() < deadline:
                below = children_of(server.process.pid)
                time.sleep(0.02)
            assert below
            asked_at = time.monotonic()
            if way == "close":
                assert server.process.stdin is not None
                server.process.stdin.close()
            elif way == "exit":
                server.tell("exit")
            else:
                server.process.terminate()
            # exit without shutdown is an error, says the protocol
            assert server.process.wait(10) == (1 if way == "exit" else 0)
            assert time.monotonic() - asked_at < 5 and are_gone(below)
            assert server.process.stderr is not None and server.process.stderr.read() == b""


def frame_of(output: bytes) -> Iterator[bytes]:
    """What of the output is frames, as it was sent."""
    pattern = re.compile(rb"Content-Length: (\d+)\r\n(?:Content-Type: [^\r\n]+\r\n)?\r\n")
    at_byte = 0
    while match := pattern.match(output, at_byte):
        end = match.end() + int(match[1])
        yield output[at_byte:end]
        at_byte = end


def as_plain(value: Any) -> dict[str, Any]:
    known = ("kind", "message")
    return value if isinstance(value, dict) else {key: getattr(value, key) for key in known if hasattr(value, key)}


async def until(is_so: Any) -> None:
    """Waits for a few seconds until something holds."""
    deadline = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)
