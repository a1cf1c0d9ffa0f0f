"""An MCP server over HTTP as a process, and raw requests to it."""

import http.client
import json
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from tests.servers.ready_process import ready
from tests.servers.wire import END_SECONDS, INITIALIZE, PATIENT, environment

TOKEN = "secret-for-tests"
ACCEPT = "application/json, text/event-stream"


class HttpServer:
    """`causalist serve mcp --http`, ready to be asked."""

    def __init__(self, *roots: Path, options: tuple[str, ...] = (), token: str = TOKEN, is_ready: bool = False) -> None:
        repos = [word for root in roots for word in ("--repo", str(root))]
        more = {"CAUSALIST_TOKEN": token} if token else {}
        words = [sys.executable, "-P", "-m", "causalist", "serve", "mcp", "--http", *repos, *PATIENT, *options]
        self.process = subprocess.Popen(
            ready(words) if is_ready else words,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(**more),
        )  # fmt: skip
        assert self.process.stderr is not None
        self.said = [self.process.stderr.readline().decode(), self.process.stderr.readline().decode()]
        match = re.search(r"http://127\.0\.0\.1:(\d+)/mcp", self.said[0])
        assert match, self.said
        self.port, self.url, self.token = int(match[1]), match[0], token
        self.errors: list[bytes] = []
        self._reader = threading.Thread(target=lambda: self.errors.extend(self.process.stderr or ()), daemon=True)
        self._reader.start()

    def __enter__(self) -> "HttpServer":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        code = self.process.wait(END_SECONDS)
        self._reader.join(END_SECONDS)
        return code

    def send(
        self,
        body: bytes | object,
        *,
        method: str = "POST",
        path: str = "/mcp",
        timeout: float = 30,
        **headers: str | None,
    ) -> tuple[int, dict[str, str], bytes]:
        """(status, headers, body) of one request. Headers are named with _ for -, None leaves one out."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        given: dict[str, str | None] = {
            "Host": f"127.0.0.1:{self.port}", "Authorization": f"Bearer {self.token}", "Accept": ACCEPT,
            "Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()},
        }  # fmt: skip
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in given.items():
                if value is not None:
                    connection.putheader(name, value)
            if "Content-Length" not in given and method == "POST":
                connection.putheader("Content-Length", str(len(data)))
            connection.endheaders(data if method == "POST" else None)
            response = connection.getresponse()
            return response.status, {k.lower(): v for k, v in response.getheaders()}, response.read()
        finally:
            connection.close()

    def open_session(self) -> str:
        """The handshake; returns the session's id."""
        start = {"jsonrpc": "2.0", "id": "start", "method": "initialize", "params": INITIALIZE}
        status, headers, body = self.send(start)
        assert status == 200, body
        session = headers["mcp-session-id"]
        done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert self.send(done, Mcp_Session_Id=session)[0] == 202
        return session

    def request(self, session: str, method: str, params: dict[str, Any], id: object = 1) -> dict[str, Any]:
        """The response to a request; progress before it is passed over."""
        message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        status, headers, body = self.send(message, Mcp_Session_Id=session)
        assert status == 200, (status, body)
        if headers["content-type"].startswith("application/json"):
            return dict(json.loads(body))
        events = [line[6:] for line in body.decode().splitlines() if line.startswith("data: ") and line[6:].strip()]
        answers = [message for event in events if (message := json.loads(event)).get("id") == id]
        assert len(answers) == 1, body
        return dict(answers[0])
