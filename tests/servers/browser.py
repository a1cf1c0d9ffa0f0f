"""A web server to talk to: a process, its address, plain requests with any header; and Chromium, if there is one."""

import http.client
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.servers.ready_process import ready
from tests.servers.wire import END_SECONDS, environment

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class WebServer:
    """`causalist serve web` as a process; several folders are given without --repo."""

    def __init__(self, root: Path, *more: Path, is_ready: bool = False) -> None:
        folders = [str(root), *map(str, more)] if more else ["--repo", str(root)]
        words = [sys.executable, "-P", "-m", "causalist", "serve", "web", *folders]
        self.process = subprocess.Popen(
            ready(words) if is_ready else words,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        parts = urlsplit(self.address)
        assert parts.port is not None, self.process.stderr and self.process.stderr.read()
        self.port = parts.port
        self.token = parse_qs(parts.query)["token"][0]
        self.origin = f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> "WebServer":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def end(self) -> int:
        self.process.terminate()
        return self.process.wait(END_SECONDS)

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """(status, headers by lower-case name, body). Without `headers`: those of a page of this server's own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            given = {"Authorization": f"Bearer {self.token}"} if headers is None else headers
            if body is not None and headers is None:
                given["Content-Type"] = "application/json"
            connection.request(method, path, body, given)
            response = connection.getresponse()
            return response.status, {k.lower(): v for k, v in response.getheaders()}, response.read()
        finally:
            connection.close()

    def call(self, path: str, document: object) -> tuple[int, Any]:
        """What comes back as JSON, once there is an index."""
        while True:
            status, _, body = self.request("POST", path, json.dumps(document).encode())
            if status != 202:
                return status, json.loads(body)


def needs_browser() -> Any:
    """Skips, and says why, where Chromium or Playwright is not there."""
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed, so that the page is not driven")
    return pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
