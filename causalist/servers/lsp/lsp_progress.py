"""Work-done progress of the language server protocol: how far indexing is, where the client wants to know."""

import time
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from causalist.servers.live.index_job import Stage

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

# What is over sooner is not worth a bar.
_SHORTEST_SECONDS = 0.4


class RequestProgress:
    """Reports of one request; nothing is sent where the client gave no token."""

    def __init__(self, server: "LanguageServer", token: Any, title: str) -> None:
        self._server = server
        self._token = token if isinstance(token, str | int) and not isinstance(token, bool) else None
        self._title = title
        self._has_begun = False
        self._percent = -1

    async def __call__(self, stage: Stage) -> None:
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
        if self._has_begun:
            self._server.work_done_progress.end(self._token or "", types.WorkDoneProgressEnd())


class ServerProgress:
    """Reports that nobody asked for, once they have gone on for a moment, to clients that show such."""

    def __init__(self, server: "LanguageServer", title: str) -> None:
        self._server = server
        self._started_at = time.monotonic()
        self._token = str(uuid.uuid4())
        self._shown = RequestProgress(server, self._token, title)
        window = getattr(server.client_capabilities, "window", None)
        self._is_wanted = bool(getattr(window, "work_done_progress", None))
        self._is_created = False

    async def __call__(self, stage: Stage) -> None:
        if not self._is_wanted or time.monotonic() - self._started_at < _SHORTEST_SECONDS:
            return
        if not self._is_created:
            try:
                await self._server.work_done_progress.create_async(self._token)
            except Exception:  # the client declined
                self._is_wanted = False
                return
            self._is_created = True
        await self._shown(stage)

    def end(self) -> None:
        with suppress(Exception):  # the client is gone
            self._shown.end()
        self._server.work_done_progress.tokens.pop(self._token, None)
