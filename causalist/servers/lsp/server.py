"""Language server: one connection, in addition to the server of a language.

The handshake is answered at once; separate processes index the folders. Lenses and hovers are answered from the
available index and requested again after a refresh. Without an index, questions, symbols and calls are answered from
the files that they need; other requests wait for it, with progress. Saved files and open documents are both included.
"""

import asyncio
import logging
import os
import signal
import sys
import time
import traceback
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer

from causalist.errors import CausalistError, UsageError
from causalist.servers.deadline_process import ANSWER_SECONDS
from causalist.servers.index_job import Stage
from causalist.servers.live_repository import Report
from causalist.servers.lsp import answers
from causalist.servers.lsp.answers import LensKind, ask_document, context_document, impact_answer, review_answer
from causalist.servers.lsp.folders import (
    LONG_SECONDS,
    PartSubject,
    WorkspaceFolder,
    WorkspaceFolders,
    file_uri,
    ignore_progress,
)
from causalist.servers.lsp.protocol import (
    DefinitionLocator,
    DocumentText,
    Protocol,
    RequestFailed,
    display_name,
    run,
    word_at,
)
from causalist.servers.protocol_pipes import Pipes, run_in_thread
from causalist.servers.text_answers import staleness_note

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

# seconds before progress is shown
_MIN_SECONDS = 0.4


class RequestProgress:
    """Work-done progress of one request; nothing is sent if the client gave no token."""

    def __init__(self, server: "LanguageServer", token: Any, title: str) -> None:
        self._server = server
        self._token = token if isinstance(token, str | int) and not isinstance(token, bool) else None
        self._title = title
        self._has_begun = False
        self._percent = -1

    async def __call__(self, stage: Stage) -> None:
        """Send a stage if its percentage has risen."""
        if self._token is None or int(stage.percent) <= self._percent:
            return
        self._percent = int(stage.percent)
        text = f"indexing: {stage}"
        if not self._has_begun:
            self._has_begun = True
            begin = types.WorkDoneProgressBegin(self._title, message=text, percentage=self._percent, cancellable=False)
            self._server.work_done_progress.begin(self._token, begin)
        else:
            report = types.WorkDoneProgressReport(message=text, percentage=self._percent)
            self._server.work_done_progress.report(self._token, report)

    def end(self) -> None:
        """End the progress, if it has begun."""
        if self._has_begun:
            self._server.work_done_progress.end(self._token or "", types.WorkDoneProgressEnd())


class ServerProgress:
    """Progress of work without a request, after a short delay, for clients that show it."""

    def __init__(self, server: "LanguageServer", title: str) -> None:
        self._server = server
        self._started_at = time.monotonic()
        self._token = str(uuid.uuid4())
        self._show_document = RequestProgress(server, self._token, title)
        window = getattr(server.client_capabilities, "window", None)
        self._is_wanted = bool(getattr(window, "work_done_progress", None))
        self._is_created = False

    async def __call__(self, stage: Stage) -> None:
        """Send a stage after a short delay."""
        if not self._is_wanted or time.monotonic() - self._started_at < _MIN_SECONDS:
            return
        if not self._is_created:
            try:
                await self._server.work_done_progress.create_async(self._token)
            except Exception:  # the client declined
                self._is_wanted = False
                return
            self._is_created = True
        await self._show_document(stage)

    def end(self) -> None:
        """End the progress and drop its token."""
        with suppress(Exception):  # the client is gone
            self._show_document.end()
        self._server.work_done_progress.tokens.pop(self._token, None)


# More concurrent answers would wait for the interpreter lock.
_ANSWERS_AT_ONCE = 2
# seconds without typing before open documents are indexed
_QUIET_SECONDS = 0.6
# seconds that a request waits for the first index before a part is parsed for it
_FIRST_SECONDS = 0.5
COMMANDS = {kind: f"causalist.{kind}" for kind in LensKind}
_LOCATIONS = {
    LensKind.CALLERS: answers.user_locations,
    LensKind.TESTS: answers.test_locations,
    LensKind.CHANGES: answers.companion_locations,
}

_Handler = Callable[[Any], Awaitable[Any]]


class LspServer(LanguageServer):
    """Language server for one client. `default` is served if the client names no folder."""

    protocol: Protocol

    def __init__(
        self, version: str, default: Path, wait_seconds: float, answer_seconds: float = ANSWER_SECONDS
    ) -> None:
        super().__init__("causalist", version, protocol_cls=Protocol)
        self._default = default
        self._wait_seconds = wait_seconds
        self._answering = asyncio.Semaphore(_ANSWERS_AT_ONCE)
        self._counting = asyncio.Semaphore(1)  # lenses, so that a hover does not wait for those of a whole screen
        self._places = DefinitionLocator()
        self._refused: dict[str, CausalistError] = {}
        self._commands = dict(COMMANDS)
        self._timer: asyncio.TimerHandle | None = None
        self._refreshing: set[asyncio.Task[None]] = set()
        self.folders = WorkspaceFolders(
            lambda: {uri: text.data for uri, text in self.protocol.documents.items()}, answer_seconds
        )
        self.protocol.changed = self._document_changed
        for method, handler, options in (
            (types.WORKSPACE_SYMBOL, self._symbols, types.WorkspaceSymbolOptions(work_done_progress=True)),
            (types.TEXT_DOCUMENT_CODE_LENS, self._lenses, types.CodeLensOptions(resolve_provider=True)),
            (types.CODE_LENS_RESOLVE, self._resolved_lens, None),
            (types.TEXT_DOCUMENT_HOVER, self._hover, None),
            (types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY, self._call_items, None),
            (types.CALL_HIERARCHY_INCOMING_CALLS, self._incoming, None),
            (types.CALL_HIERARCHY_OUTGOING_CALLS, self._outgoing, None),
            ("causalist/ask", partial(self._own, ask_document), None),
            ("causalist/context", partial(self._own, context_document), None),
            ("causalist/impact", partial(self._own, impact_answer), None),
            ("causalist/review", partial(self._own, review_answer), None),
        ):
            self._serve(method, handler, options)
        self._serve(types.TEXT_DOCUMENT_DID_SAVE, self._handle_saved, types.SaveOptions(include_text=False))
        self._serve(types.WORKSPACE_DID_CHANGE_WATCHED_FILES, self._handle_watched_files, None)
        self._serve(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, self._folders_changed, None)
        self._serve(types.INITIALIZED, self._handle_initialized, None)

        @self.feature(types.INITIALIZE)
        def initialize(params: types.InitializeParams) -> None:
            self._initialize(params)

        for kind, command in COMMANDS.items():
            self.command(command)(self._shows(kind))

    def stop(self) -> None:
        """Stop timers, tasks and folders."""
        if self._timer is not None:
            self._timer.cancel()
        for task in self._refreshing:
            task.cancel()
        self.folders.stop()

    def _serve(self, method: str, handler: _Handler, options: Any) -> None:
        async def answer(params: Any) -> Any:
            return await _explain_errors(handler, params)

        self.feature(method, options)(answer)

    # -- the connection

    def _initialize(self, params: types.InitializeParams) -> None:
        options = params.initialization_options
        options = options if isinstance(options, dict) else {}
        for kind in LensKind:
            command = options.get(f"{kind}Command")
            if isinstance(command, str) and command:
                self._commands[kind] = command
        if options.get("definition") is True:
            self._serve(types.TEXT_DOCUMENT_DEFINITION, self._definition, None)
        if options.get("references") is True:
            self._serve(types.TEXT_DOCUMENT_REFERENCES, self._references, None)
        named = [folder.uri for folder in params.workspace_folders or ()]
        root = params.root_uri or (params.root_path and uris.from_fs_path(params.root_path))
        for uri in named or [root or uris.from_fs_path(os.fspath(self._default)) or ""]:
            self._add(uri)

    async def _handle_initialized(self, params: Any) -> None:
        for error in self._refused.values():
            self.window_log_message(types.LogMessageParams(types.MessageType.Warning, f"{error.slug}: {error}"))
        watched = _capability(self, "workspace", "did_change_watched_files")
        if watched is not None and watched.dynamic_registration:
            options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher("**/*")])
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            self.client_register_capability(
                types.RegistrationParams([types.Registration("causalist-files", method, options)])
            )
        self._refresh_all()

    async def _folders_changed(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        for removed in params.event.removed:
            self.folders.remove(removed.uri)
        for added in params.event.added:
            self._add(added.uri)
        self._refresh_all()

    def _add(self, uri: str) -> None:
        try:
            self.folders.add(uri)
        except CausalistError as error:
            self._refused[uri] = error

    # -- staying current

    def _document_changed(self, uri: str) -> None:
        """Refresh the folders after typing pauses."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(_QUIET_SECONDS, self._refresh_all)

    async def _handle_saved(self, params: types.DidSaveTextDocumentParams) -> None:
        place = self.folders.place(params.text_document.uri)
        if place is not None:
            place[0].touch()
            self._refresh(place[0])

    async def _handle_watched_files(self, params: types.DidChangeWatchedFilesParams) -> None:
        for uri in {change.uri for change in params.changes}:
            place = self.folders.place(uri)
            # Ignore files that Causalist or git write.
            if place is not None and not place[1].startswith((".causalist/", ".git/")):
                place[0].touch()
                self._refresh(place[0])

    def _refresh_all(self) -> None:
        for folder in self.folders:
            self._refresh(folder)

    def _refresh(self, folder: WorkspaceFolder) -> None:
        if any(task.get_name() == str(folder.root) for task in self._refreshing) and not folder.is_due:
            return
        task = asyncio.get_running_loop().create_task(self._refresh_lenses(folder), name=str(folder.root))
        self._refreshing.add(task)
        task.add_done_callback(self._refreshing.discard)

    async def _refresh_lenses(self, folder: WorkspaceFolder) -> None:
        before = folder.peek()
        shown = ServerProgress(self, f"Indexing {folder.root.name}")
        try:
            await folder.view(LONG_SECONDS, shown)
        except CausalistError as error:
            self.window_log_message(types.LogMessageParams(types.MessageType.Warning, f"{error.slug}: {error}"))
        finally:
            shown.end()
        lenses = _capability(self, "workspace", "code_lens")
        if folder.peek() is not before and lenses is not None and lenses.refresh_support:
            self.workspace_code_lens_refresh(None)

    # -- answers

    async def _symbols(self, params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
        symbols: list[list[types.WorkspaceSymbol]] = []
        report = RequestProgress(self, params.work_done_token, "Looking for symbols")
        subject = PartSubject(params.query.strip(), len(params.query.split()) == 1)
        try:
            for folder in self.folders:
                shown = await self._current(folder, report, subject)
                if shown.note:
                    self.window_log_message(types.LogMessageParams(types.MessageType.Info, shown.note))
                symbols.append(await self._answer(partial(answers.find_symbols, shown, params.query)))
        finally:
            report.end()
        return merge_symbols(symbols)

    async def _lenses(self, params: types.CodeLensParams) -> list[types.CodeLens] | None:
        at = self._open(params.text_document.uri)
        if at is None:
            return None
        folder, path, text = at
        placed = await self._answer(partial(self._places.definitions, folder.peek(), path, text))
        return answers.code_lenses(folder.peek(), path, text, placed, params.text_document.uri)

    async def _resolved_lens(self, lens: types.CodeLens) -> types.CodeLens:
        data = lens.data if isinstance(lens.data, dict) else {}
        place = self.folders.place(str(data.get("uri")))
        repository = place[0].peek() if place is not None else None
        if repository is None:
            lens.command = types.Command(title="indexing …", command="")
            return lens
        node, uri, start = str(data.get("node")), str(data.get("uri")), lens.range.start
        named = str(data.get("lens"))
        kind = LensKind(named) if named in list(LensKind) else LensKind.CALLERS
        title_by_lens = place[0].lens_titles() if place is not None else {}
        if (kind, node) not in title_by_lens:
            async with self._counting:
                title_by_lens[kind, node] = await self._answer(partial(answers.lens_title, repository, kind, node))
        title, has_some = title_by_lens[kind, node]
        arguments = [uri, {"line": start.line, "character": start.character}, node]
        lens.command = types.Command(title, self._commands[kind] if has_some else "", arguments=arguments)
        return lens

    async def _hover(self, params: types.HoverParams) -> types.Hover | None:
        node_at = await self._node_at(params.text_document.uri, params.position)
        if node_at is None:
            return None
        shown, node, place = node_at
        formats = getattr(_capability(self, "text_document", "hover"), "content_format", None) or ()
        is_markdown = types.MarkupKind.Markdown in formats
        hover: types.Hover = await self._answer(partial(answers.build_hover, shown, node, place, markdown=is_markdown))
        return hover

    async def _call_items(self, params: types.CallHierarchyPrepareParams) -> list[types.CallHierarchyItem] | None:
        node_at = await self._node_at(params.text_document.uri, params.position, parses=True)
        if node_at is None:
            return None
        item = await self._answer(partial(answers.call_item, node_at[0], node_at[1]))
        return None if item is None else [item]

    async def _incoming(self, params: types.CallHierarchyIncomingCallsParams) -> Any:
        calls = await self._calls(answers.incoming_calls, params.item)
        await self._calls(self._log_unread, params.item)
        return calls

    async def _outgoing(self, params: types.CallHierarchyOutgoingCallsParams) -> Any:
        return await self._calls(answers.outgoing_calls, params.item)

    async def _calls(self, calls: Callable[[answers.DocumentView, str], Any], item: types.CallHierarchyItem) -> Any:
        place = self.folders.place(item.uri)
        node = item.data.get("node") if isinstance(item.data, dict) else None
        if place is None or not isinstance(node, str):
            return None
        shown = await self._current(place[0], ignore_progress, PartSubject(display_name(node), is_name=True))
        return await self._answer(partial(calls, shown, node))

    async def _definition(self, params: types.DefinitionParams) -> types.Location | None:
        node_at = await self._node_at(params.text_document.uri, params.position, parses=True)
        return None if node_at is None else await self._answer(partial(answers.definition_location, *node_at[:2]))

    async def _references(self, params: types.ReferenceParams) -> list[types.Location] | None:
        node_at = await self._node_at(params.text_document.uri, params.position, parses=True)
        if node_at is None:
            return None
        await self._answer(partial(self._log_unread, *node_at[:2]))
        return await self._answer(partial(answers.user_locations, *node_at[:2]))  # type: ignore[no-any-return]

    def _log_unread(self, shown: answers.DocumentView, node: str) -> None:
        """Log which files were not read and may use a node: a list of locations cannot say it."""
        note = answers.unread_note(shown, node)
        if note:
            self.window_log_message(types.LogMessageParams(types.MessageType.Info, note))

    def _shows(self, kind: LensKind) -> Callable[..., Awaitable[Any]]:
        async def show(*arguments: Any) -> Any:
            return await _explain_errors(partial(self._show_locations, kind), arguments)

        return show

    async def _show_locations(self, kind: LensKind, arguments: Any) -> list[types.Location]:
        """Return the locations that a lens counts, for its arguments `[uri, position, node]`.

        An editor that ignores the result is asked to show the first location.
        """
        place = self.folders.place(arguments[0]) if len(arguments) == 3 and isinstance(arguments[0], str) else None
        if place is None or not isinstance(arguments[2], str):
            raise UsageError("the command needs a URI below an open folder, a position and the id of a node")
        shown = await self._current(place[0], ignore_progress)
        locations: list[types.Location] = await self._answer(partial(_LOCATIONS[kind], shown, arguments[2]))
        window = _capability(self, "window", "show_document")
        if locations and window is not None and window.support:
            self.window_show_document(
                types.ShowDocumentParams(locations[0].uri, selection=locations[0].range, take_focus=True)
            )
        return locations

    async def _own(self, answer: Callable[..., Any], params: Any) -> Any:
        """Answer a request of Causalist's own: `params` are plain JSON with a `uri` that names the folder."""
        params = params if isinstance(params, dict) else {}
        uri = params.get("uri", (params.get("textDocument") or {}).get("uri"))
        folder = self._folder_of(uri)
        report = RequestProgress(self, params.get("workDoneToken"), "Causalist")
        question = params.get("question")
        is_question = answer in (ask_document, context_document) and isinstance(question, str)
        try:
            shown = await self._current(folder, report, PartSubject(str(question)) if is_question else None)
        finally:
            report.end()
        return await self._answer(partial(answer, shown, params))

    # -- parts of answers

    async def _answer(self, work: Callable[[], Any]) -> Any:
        async with self._answering:
            return await run_in_thread(work)

    async def _current(
        self, folder: WorkspaceFolder, report: Report, subject: PartSubject | None = None
    ) -> answers.DocumentView:
        """Return a folder's current view; without an index one of what `subject` needs, if that is less than the whole.

        Raises RequestFailed without either.
        """
        waits_less = subject is not None and folder.peek() is None
        view = await folder.view(min(_FIRST_SECONDS, self._wait_seconds) if waits_less else self._wait_seconds, report)
        if view.repository is None and subject is not None:
            part = await folder.part(subject)
            if part is not None:
                return self._shown_part(folder, part, is_logged=report is ignore_progress)
        if waits_less:  # for the whole, or for the open documents over it
            view = await folder.view(self._wait_seconds, report)
        if view.repository is None:
            raise RequestFailed(f"still indexing: {view.stage}; ask again in a few seconds")
        note = staleness_note(view).removeprefix("note: ").rstrip()
        if not note and folder.is_behind:
            note = "answered without the last changes of open documents; ask again for a current answer"
        if note and report is ignore_progress:  # a list of locations cannot say it
            self.window_log_message(types.LogMessageParams(types.MessageType.Info, note))
        return self._show_document(folder, view.repository)._replace(note=note)

    def _shown_part(self, folder: WorkspaceFolder, part: Any, *, is_logged: bool) -> answers.DocumentView:
        """Return the view of a part, with a note that says so. A list of locations cannot say it: then it is logged."""
        note = "; ".join(f"{each.slug}: {each.detail}" for each in part.notes)
        if folder.has_unsaved(part):
            note += "; answered without unsaved changes of open documents"
        if is_logged:
            self.window_log_message(types.LogMessageParams(types.MessageType.Info, note))
        return self._show_document(folder, part)._replace(note=note)

    async def _node_at(
        self, uri: str, position: types.Position, *, parses: bool = False
    ) -> tuple[answers.DocumentView, str, types.Range] | None:
        """Return (view, node, range of its name) at a position; None if nothing known is there.

        Without an index nothing is known, unless the request `parses` the files with the name.
        """
        at = self._open(uri)
        if at is None:
            return None
        folder, path, text = at
        repository = folder.peek()
        shown = None if repository is None else self._show_document(folder, repository)
        word = word_at(text, text.byte(position)) if shown is None and parses else None
        if word is not None:
            part = await folder.part(PartSubject(word[0], is_name=True))
            shown = None if part is None else self._shown_part(folder, part, is_logged=True)
        if shown is None:
            return None
        node_at = await self._answer(partial(self._places.node_at, shown.repository, path, text, position))
        return None if node_at is None else (shown, *node_at)

    def _show_document(self, folder: WorkspaceFolder, repository: Any) -> answers.DocumentView:
        def open_document(path: str) -> DocumentText | None:
            return self.protocol.documents.get(file_uri(folder, path))

        def path(uri: str) -> str | None:
            place = self.folders.place(uri)
            return place[1] if place is not None and place[0] is folder else None

        encoding = self.workspace.position_encoding or types.PositionEncodingKind.Utf16
        return answers.DocumentView(repository, open_document, partial(file_uri, folder), path, encoding, self._places)

    def _open(self, uri: str) -> tuple[WorkspaceFolder, str, DocumentText] | None:
        """Return an open document in one of the folders. Check the files if they are due."""
        place, text = self.folders.place(uri), self.protocol.documents.get(uri)
        if place is None or text is None:
            return None
        if place[0].is_due:
            self._refresh(place[0])
        return (*place, text)

    def _folder_of(self, uri: Any) -> WorkspaceFolder:
        folders = list(self.folders)
        if uri is None and len(folders) == 1:
            return folders[0]
        place = self.folders.place(f"{uri.rstrip('/')}/.") if isinstance(uri, str) else None
        if place is not None:
            return place[0]
        for error in self._refused.values():
            raise error
        named = ", ".join(folder.root.as_uri() for folder in folders) or "none is open"
        raise UsageError(f"uri must name an open folder or a file in one. Open folders: {named}")


def merge_symbols(symbols: list[list[types.WorkspaceSymbol]]) -> list[types.WorkspaceSymbol]:
    """Results of several folders: the best of each first, then the second of each, and so on."""
    longest = max(map(len, symbols), default=0)
    return [each[rank] for rank in range(longest) for each in symbols if rank < len(each)]


async def _explain_errors(handler: _Handler, params: Any) -> Any:
    """Return the answer of a handler. Raises RequestFailed with the error in one sentence."""
    try:
        return await handler(params)
    except RequestFailed:
        raise
    except CausalistError as error:
        raise RequestFailed(f"{error.slug}: {error}") from error
    except Exception as error:
        if os.environ.get("CAUSALIST_TRACEBACK"):
            traceback.print_exc(file=sys.stderr)
        advice = "This is a defect of Causalist; set CAUSALIST_TRACEBACK=1 to see the traceback on standard error."
        raise RequestFailed(f"internal: {type(error).__name__}: {error}. {advice}") from error


def _capability(server: LanguageServer, *names: str) -> Any:
    """Return a capability of the client, or None."""
    capability: Any = server.client_capabilities
    for name in names:
        capability = getattr(capability, name, None)
    return capability


def serve(default: Path, pipes: Pipes, *, version: str, wait_seconds: float, answer_seconds: float) -> int:
    """Serve the folders that the client names, else `default`; return an exit code.

    It ends when the client leaves or a signal arrives.
    """
    logging.getLogger("pygls").setLevel(logging.CRITICAL + 1)
    return asyncio.run(_serve(default, pipes, version, wait_seconds, answer_seconds))


async def _serve(default: Path, pipes: Pipes, version: str, wait_seconds: float, answer_seconds: float) -> int:
    server = LspServer(version, default, wait_seconds, answer_seconds)
    running = asyncio.ensure_future(run(server.protocol, pipes))
    for name in ("SIGTERM", "SIGHUP", "SIGINT"):
        # Some platforms lack a signal or cannot handle it in an event loop.
        with suppress(AttributeError, NotImplementedError):
            asyncio.get_running_loop().add_signal_handler(getattr(signal, name), running.cancel)
    try:
        return await running
    except asyncio.CancelledError:
        return 0
    finally:
        server.stop()
