"""uvicorn's HTTP protocol, with a limit on the time that a request's head may take.

uvicorn ends a connection that is idle between two requests, but waits for the first byte, and for the rest of a head,
as long as it takes: whoever opens connections and sends a byte a minute holds them all. How long a body may take is
the business of `http_guard`.
"""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0


class TimelyProtocol(H11Protocol):
    """Closes a connection whose next request has no complete head after `HEAD_SECONDS`, counted from the connection or
    from the head's first byte."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self.timeout_keep_alive_task is None:  # or else a request was answered at once
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._waiting is None:
            self._waiting = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
