"""An editor to drive the language server with: a process, and pygls's own client on its pipes."""

import asyncio
import queue
import sys
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient
from pygls.protocol import JsonRPCResponseMessage, default_converter

from tests.servers.ready_process import ready
from tests.servers.wire import environment

ALL = types.ClientCapabilities(
    general=types.GeneralClientCapabilities(position_encodings=[types.PositionEncodingKind.Utf16]),
    window=types.WindowClientCapabilities(
        work_done_progress=True, show_document=types.ShowDocumentClientCapabilities(True)
    ),
    workspace=types.WorkspaceClientCapabilities(
        code_lens=types.CodeLensWorkspaceClientCapabilities(refresh_support=True),
        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
        workspace_folders=True,
    ),
    text_document=types.TextDocumentClientCapabilities(
        hover=types.HoverClientCapabilities(content_format=[types.MarkupKind.Markdown, types.MarkupKind.PlainText])
    ),
)


class Editor(LanguageClient):
    """pygls's client, with what a server asks of an editor."""

    def __init__(self) -> None:
        super().__init__("editor", "1", converter_factory=_converter)
        self.progress: list[Any] = []
        self.logged: list[str] = []
        self.shown: list[types.ShowDocumentParams] = []
        self.registered: list[types.Registration] = []
        self.refreshes = 0

        @self.feature(types.PROGRESS)
        def _(params: types.ProgressParams) -> None:
            self.progress.append((params.token, params.value))

        @self.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)
        def _(params: types.WorkDoneProgressCreateParams) -> None:
            return None

        @self.feature(types.WINDOW_LOG_MESSAGE)
        def _(params: types.LogMessageParams) -> None:
            self.logged.append(params.message)

        @self.feature(types.WINDOW_SHOW_DOCUMENT)
        def _(params: types.ShowDocumentParams) -> types.ShowDocumentResult:
            self.shown.append(params)
            return types.ShowDocumentResult(True)

        @self.feature(types.CLIENT_REGISTER_CAPABILITY)
        def _(params: types.RegistrationParams) -> None:
            self.registered += params.registrations

        @self.feature(types.WORKSPACE_CODE_LENS_REFRESH)
        def _(params: Any) -> None:
            self.refreshes += 1

    async def begin(self, *folders: Path, options: Any = None, capabilities: Any = ALL) -> types.InitializeResult:
        named = [types.WorkspaceFolder(folder.as_uri(), folder.name) for folder in folders]
        result = await self.initialize_async(
            types.InitializeParams(capabilities=capabilities, workspace_folders=named, initialization_options=options)
        )
        self.initialized(types.InitializedParams())
        return result

    def open(self, path: Path, text: str | None = None) -> str:
        content = path.read_text() if text is None else text
        self.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(path.as_uri(), "python", 1, content))
        )
        return path.as_uri()

    def insert(self, uri: str, line: int, text: str, character: int = 0) -> None:
        at = types.Position(line, character)
        change = types.TextDocumentContentChangePartial(range=types.Range(at, at), text=text)
        self.text_document_did_change(
            types.DidChangeTextDocumentParams(types.VersionedTextDocumentIdentifier(2, uri), [change])
        )

    async def own(self, method: str, **params: Any) -> Any:
        """A request of our own; the result as plain JSON."""
        return await self.protocol.send_request_async(f"causalist/{method}", params)


def _converter() -> Any:
    """The client's own, but for results of which it does not know the type: these stay plain JSON."""
    converter = default_converter()
    converter.register_structure_hook(JsonRPCResponseMessage, lambda message, cls: cls(**message))
    return converter


def command(*options: str) -> list[str]:
    return [sys.executable, "-P", "-m", "causalist", "serve", "lsp", *options]


_SECONDS = 120.0  # for what one test does


def edit(
    drive: Callable[[Editor], Awaitable[None]],
    *options: str,
    stderr: bytes = b"",
    seconds: float | None = _SECONDS,
    is_ready: bool = True,
) -> Editor:
    """Runs an editor with a server of its own; the server ends as the protocol wants it, with nothing on stderr."""
    words = ready(command(*options)) if is_ready else command(*options)

    async def all_of_it() -> Editor:
        editor = Editor()
        await editor.start_io(*words, env=environment())
        process = editor._server
        assert process is not None and process.stderr is not None
        try:
            async with asyncio.timeout(seconds):
                await drive(editor)
                await editor.shutdown_async(None)
                editor.exit(None)
                assert await process.wait() == 0
                assert await process.stderr.read() == stderr
        finally:
            if process.returncode is None:
                process.kill()
            editor._stop_event.set()
        return editor

    return asyncio.run(all_of_it())


class SharedEditor:
    """An editor with a server of its own on one folder, for tests that change nothing there: it runs in a thread."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._work: queue.SimpleQueue[tuple[Callable[[Editor], Awaitable[None]], Future[None]] | None] = (
            queue.SimpleQueue()
        )
        self._end = Future[None]()
        threading.Thread(target=self._run, daemon=True).start()

    def drive(self, work: Callable[[Editor], Awaitable[None]]) -> None:
        done = Future[None]()
        self._work.put((work, done))
        wait((done, self._end), _SECONDS, FIRST_COMPLETED)
        if not done.done():
            self._end.result(0)  # why it ended, or that it takes too long
        done.result(0)

    def end(self) -> None:
        self._work.put(None)
        self._end.result()

    def _run(self) -> None:
        try:
            edit(self._take_work, seconds=None)
        except BaseException as error:
            self._end.set_exception(error)
        else:
            self._end.set_result(None)

    async def _take_work(self, editor: Editor) -> None:
        await editor.begin(self.folder)
        while each := await asyncio.to_thread(self._work.get):
            work, done = each
            editor.shown.clear()
            try:
                await work(editor)
            except BaseException as error:
                done.set_exception(error)
            else:
                done.set_result(None)


def at(line: int, character: int) -> types.Position:
    return types.Position(line, character)


def document(uri: str) -> types.TextDocumentIdentifier:
    return types.TextDocumentIdentifier(uri)
