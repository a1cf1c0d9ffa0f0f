"""Pages of others in a real browser that try to reach the servers of this machine: the servers refuse each attempt.

The user has opened the page of Causalist in the same browser, so that its cookie is there to be abused. Pages come from
another site, from another port of this machine (the same site to a browser, which then sends the cookie), and from a
frame without an origin. A name that resolves to 127.0.0.1 stands for DNS rebinding.
"""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.cli.commands import write_all
from tests.cli.conftest import SMALL
from tests.servers.browser import CHROMIUM, WebServer, needs_browser
from tests.servers.conftest import settle
from tests.servers.http_wire import HttpServer
from tests.trials import part_of

pytestmark = pytest.mark.slow

OTHER_SITE = "evil.example"

# What a page tries, as the body of an async function of TARGET, the address of a server. It returns what it could read.
_ASK = "JSON.stringify({question: 'what does an invoice cost'})"
ATTEMPTS = {
    "fetch": "return (await fetch(TARGET + '/api/status', {credentials: 'include'})).text()",
    "fetch without cookies": "return (await fetch(TARGET + '/api/status')).text()",
    "fetch blindly": "return (await fetch(TARGET + '/api/status', {mode: 'no-cors', credentials: 'include'})).text()",
    "fetch the page": "return (await fetch(TARGET + '/', {credentials: 'include'})).text()",
    "post JSON": f"return (await fetch(TARGET + '/api/ask', {{method: 'POST', credentials: 'include', body: {_ASK}, "
    "headers: {'Content-Type': 'application/json'}})).text()",
    "post text blindly": "return (await fetch(TARGET + '/api/ask', {method: 'POST', mode: 'no-cors', "
    f"credentials: 'include', body: {_ASK}}})).text()",
    "post with a guessed token": "return (await fetch(TARGET + '/api/ask', {method: 'POST', "
    f"headers: {{Authorization: 'Bearer x'}}, body: {_ASK}}})).text()",
    "post by another method": "return (await fetch(TARGET + '/api/ask', {method: 'PUT', body: '{}'})).text()",
    "request of the old kind": "return await new Promise((done, fail) => { const x = new XMLHttpRequest(); "
    "x.open('GET', TARGET + '/api/status'); x.withCredentials = true; x.onload = () => done(x.responseText); "
    "x.onerror = fail; x.send(); })",
    "beacon": f"navigator.sendBeacon(TARGET + '/api/ask', new Blob([{_ASK}], {{type: 'text/plain'}})); await wait(); "
    "return ''",
    "form": "send({enctype: 'text/plain', method: 'POST', action: TARGET + '/api/ask'}, '{\"question\": \"x', '\"}'); "
    "await wait(); return framed()",
    "form that gets": "send({method: 'GET', action: TARGET + '/'}, 'token', 'x'); await wait(); return framed()",
    "frame": "const f = add('iframe', {src: TARGET + '/'}); await wait(); return f.contentDocument.body.innerText",
    "object": "add('object', {data: TARGET + '/'}); await wait(); return ''",
    "image": "await new Promise((done, fail) => add('img', {src: TARGET + '/icon.svg', onload: done, onerror: fail})); "
    "return 'loaded'",
    "script": "await new Promise((done, fail) => add('script', {src: TARGET + '/app.js', onload: done, "
    "onerror: fail})); return 'loaded'",
    "style sheet": "await new Promise((done, fail) => add('link', {rel: 'stylesheet', href: TARGET + '/app.css', "
    "onload: done, onerror: fail})); return 'loaded'",
    "prefetch": "add('link', {rel: 'prefetch', href: TARGET + '/api/status'}); await wait(); return ''",
    "events": "await new Promise((done, fail) => { const e = new EventSource(TARGET + '/api/status', "
    "{withCredentials: true}); e.onopen = done; e.onerror = (x) => { e.close(); fail(x); }; }); return 'opened'",
    "socket": "await new Promise((done, fail) => { const s = new WebSocket(TARGET.replace('http', 'ws') + "
    "'/api/status'); s.onopen = done; s.onerror = fail; }); return 'opened'",
    "worker": "const code = `fetch('${TARGET}/api/status', {credentials: 'include'}).then((r) => r.text())"
    ".then(postMessage, () => postMessage(''))`; return await new Promise((done) => { const w = new Worker("
    "URL.createObjectURL(new Blob([code]))); w.onmessage = (e) => done(e.data); })",
    "script of a worker": "const w = new Worker(URL.createObjectURL(new Blob([`importScripts('${TARGET}/app.js'); "
    "postMessage('loaded')`]))); return await new Promise((done, fail) => { w.onmessage = (e) => done(e.data); "
    "w.onerror = fail; })",
    "redirect": "return (await fetch('/redirect?to=' + encodeURIComponent(TARGET + '/api/status'), "
    "{credentials: 'include', mode: 'no-cors'})).text()",
    "tools of MCP": "return (await fetch(TARGET + '/mcp', {method: 'POST', mode: 'no-cors', credentials: 'include', "
    'body: \'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}\'})).text()',
}
_PAGE = """<!doctype html><meta charset="utf-8"><title>hostile</title><script>
const wait = () => new Promise((done) => setTimeout(done, 400));
function add(tag, given) {
  const e = Object.assign(document.createElement(tag), given);
  document.documentElement.append(e);
  return e;
}
function send(given, name, value) {
  const frame = add("iframe", {name: "f" + Math.random()}), form = add("form", {...given, target: frame.name});
  form.append(Object.assign(document.createElement("input"), {type: "hidden", name, value}));
  window.last = frame; form.submit();
}
const framed = () => window.last.contentDocument.body.innerText;
</script>"""


class _Hostile(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        wanted = urlsplit(self.path)
        if wanted.path == "/redirect":
            self.send_response(307)
            self.send_header("Location", parse_qs(wanted.query)["to"][0])
            self.end_headers()
            return
        body = _PAGE.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        if wanted.path == "/sandboxed":  # a page without an origin
            self.send_header("Content-Security-Policy", "sandbox allow-scripts allow-forms")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def hostile_port() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hostile)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    folder = write_all(tmp_path_factory.mktemp("hostile") / "small", SMALL)
    settle(folder)
    with WebServer(folder, is_ready=True) as server:
        yield server


@pytest.fixture(scope="module")
def mcp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    folder = write_all(tmp_path_factory.mktemp("hostile") / "small", SMALL)
    with HttpServer(folder, is_ready=True) as server:
        yield server


@pytest.fixture(scope="module")
def context(web: WebServer) -> Iterator[Any]:
    """A browser in which the user has opened the page; it leaves the refusal of others to the servers."""
    playwright = needs_browser()
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(
            executable_path=CHROMIUM,
            args=[
                "--no-sandbox", f"--host-resolver-rules=MAP {OTHER_SITE} 127.0.0.1",
                "--disable-features=LocalNetworkAccessChecks,PrivateNetworkAccessSendPreflights",
            ],
        )  # fmt: skip
        context = browser.new_context()
        page = context.new_page()
        page.goto(web.address)
        page.wait_for_selector("#counts:not(:empty)")
        yield context
        browser.close()


class Tab:
    """A page with a record of its requests: one for all attempts, because a new one takes longer than an attempt."""

    def __init__(self, context: Any) -> None:
        self.page = context.new_page()
        self._urls: dict[str, list[str]] = {}
        self._statuses: list[tuple[str, int]] = []
        session = context.new_cdp_session(self.page)
        session.send("Network.enable")
        session.on("Network.requestWillBeSent", self._note_request)
        session.on(
            "Network.responseReceivedExtraInfo",
            lambda event: self._statuses.append((event["requestId"], event["statusCode"])),
        )

    def _note_request(self, event: dict[str, Any]) -> None:
        self._urls.setdefault(event["requestId"], []).append(event["request"]["url"])

    def tried(self, page_url: str, target: str, attempt: str) -> tuple[str, list[int]]:
        """What an attempt of a page could read, and the statuses that the target answered, also where the browser hides
        them from the page. Requests of workers are not seen."""
        self.page.goto(page_url)
        self._urls.clear()  # what is left of the attempt before has no address any more
        self._statuses.clear()
        read = self.page.evaluate(
            f"async () => {{ const TARGET = {target!r}; try {{ return String(await (async () => {{ {attempt} }})() || "
            "''); } catch { return ''; } }"
        )
        self.page.wait_for_timeout(50)  # the events of the last request
        return read, [
            status for request, status in self._statuses
            if any(url.startswith(f"{target}/") for url in self._urls.get(request, []))
            and status not in (301, 302, 307)
        ]  # fmt: skip


@pytest.fixture(scope="module")
def tab(context: Any) -> Tab:
    return Tab(context)


# Each attempt from one place, and each place with a third of the attempts; `--full-trials` has all from all.
_PLACES = (OTHER_SITE, "127.0.0.1", "sandboxed")
_TRIED = [(place, name) for i, name in enumerate(ATTEMPTS) for place in part_of(_PLACES, i, len(_PLACES))]


@pytest.mark.parametrize(("place", "attempt"), _TRIED)
def test_a_page_of_others_is_refused(
    place: str, attempt: str, tab: Tab, web: WebServer, mcp: HttpServer, hostile_port: int
) -> None:
    target = f"http://127.0.0.1:{mcp.port}" if attempt == "tools of MCP" else web.origin
    page = f"http://{place}:{hostile_port}/" if place != "sandboxed" else f"http://127.0.0.1:{hostile_port}/sandboxed"
    # A browser keeps some from being sent at all, or sends them elsewhere than to the page's own session.
    is_seen = "worker" not in attempt and attempt not in ("prefetch", "socket", "beacon")
    for _ in range(4 if is_seen else 1):  # the browser does not always tell of the request of a frame
        read, statuses = tab.tried(page, target, ATTEMPTS[attempt])
        assert read == ""
        if statuses:
            break
    assert all(400 <= status < 500 for status in statuses), statuses
    assert statuses or not is_seen, "it has not been tried"


def test_there_are_many_attempts_and_the_page_of_the_server_makes_them_all(
    tab: Tab, web: WebServer, mcp: HttpServer
) -> None:
    """The same requests succeed where the page is the server's own: the attempts can succeed."""
    assert len(ATTEMPTS) >= 20
    for name in ("fetch", "fetch the page", "post JSON", "request of the old kind", "image", "style sheet"):
        read, statuses = tab.tried(f"{web.origin}/", web.origin, f"{_HELPERS}{ATTEMPTS[name]}")
        assert read and statuses[-1] == 200, (name, statuses)


_HELPERS = (
    "const add = (tag, given) => { const e = Object.assign(document.createElement(tag), given); "
    "document.head.append(e); return e; }; "
)


class TestRebinding:
    """A name of the attacker that resolves to 127.0.0.1 makes a page of the attacker the server's own to a browser."""

    def test_the_page(self, context: Any, web: WebServer) -> None:
        page = context.new_page()
        response = page.goto(f"http://{OTHER_SITE}:{web.port}/")
        assert response.status == 421 and "names another server" in page.content()
        page.close()

    @pytest.mark.parametrize("path", ["/api/status", "/app.js", "/?token=x"])
    def test_what_it_fetches(self, path: str, context: Any, web: WebServer) -> None:
        page = context.new_page()
        page.goto(f"http://{OTHER_SITE}:{web.port}/")
        status = page.evaluate("async (path) => (await fetch(path, {credentials: 'include'})).status", path)
        page.close()
        assert status == 421

    def test_even_with_the_token(self, context: Any, web: WebServer, mcp: HttpServer) -> None:
        for port, token, path in ((web.port, web.token, "/api/status"), (mcp.port, mcp.token, "/mcp")):
            page = context.new_page()
            page.goto(f"http://{OTHER_SITE}:{port}/")
            status = page.evaluate(
                "async ([path, token]) => (await fetch(path, {headers: {Authorization: 'Bearer ' + token}})).status",
                [path, token],
            )
            page.close()
            assert status == 421


def test_an_opened_window_cannot_be_read(context: Any, web: WebServer, hostile_port: int) -> None:
    page = context.new_page()
    page.goto(f"http://{OTHER_SITE}:{hostile_port}/")
    with context.expect_page() as opened:
        page.evaluate("url => { window.w = window.open(url); }", f"{web.origin}/")
    opened.value.wait_for_load_state()
    assert "cross-origin" in opened.value.content()
    assert page.evaluate("() => { try { return w.document.title; } catch { return 'refused'; } }") in ("refused", "")
    opened.value.close()
    page.close()


def test_a_cookie_is_out_of_reach_of_scripts(context: Any, web: WebServer, tmp_path: Path) -> None:
    (cookie,) = [each for each in context.cookies() if each["name"] == f"causalist-{web.port}"]
    assert cookie["httpOnly"] is True and cookie["sameSite"] == "Strict"
    page = context.new_page()
    page.goto(f"{web.origin}/")
    assert page.evaluate("document.cookie") == ""
    page.close()
