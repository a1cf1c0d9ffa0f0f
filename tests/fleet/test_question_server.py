"""`fleet serve mcp`: the tools over all repositories, and over HTTP those that the token of a request opens."""

import json
import re
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest

pytest.importorskip("fsspec")
pytest.importorskip("pyarrow")
pytest.importorskip("mcp")
pytest.importorskip("starlette")

import tests.fleet.test_question_access  # noqa: F401  # which adds the source `secret`
from causalist.fleet.access import FleetView, FleetViews, digest_of
from causalist.fleet.question import ask_fleet
from causalist.pack import count_tokens
from causalist.serialize.answers import answer_document
from causalist.servers.mcp.fleet import FLEET_TOOLS
from tests.fleet.test_question import make_fleet
from tests.servers.browser import WebServer
from tests.servers.http_wire import HttpServer
from tests.servers.ready_process import ready
from tests.servers.wire import RawServer, environment

pytestmark = pytest.mark.slow

TOTAL, ROUND = "shop:shop/invoice.py::total_of_invoice", "money:money/rounding.py::round_amount"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fleet")
    make_fleet(folder, ["money", "shop", "zoo"])
    return folder


@pytest.fixture(scope="module")
def view(folder: Path) -> FleetView:
    from causalist.fleet import Fleet

    fleet = Fleet.open(folder)
    return FleetView.of(fleet.file, fleet.store)


def call(view: FleetView, tool: str, **arguments: object) -> str:
    found = FLEET_TOOLS[tool].answer(view, FLEET_TOOLS[tool].read(arguments))
    return found if isinstance(found, str) else found.text


def test_a_question_is_answered_within_its_budget(view: FleetView) -> None:
    text = call(view, "ask", question="where is the total of an invoice computed", max_tokens=600)
    assert "def total_of_invoice" in text and "asked: shop (" in text
    assert count_tokens(text) <= 600


def test_a_definition_is_shown_with_its_callers_in_other_repositories(view: FleetView) -> None:
    text = call(view, "symbol", name="round_amount")
    assert "return round(amount, places)" in text
    assert TOTAL in text and "called by 2" in text


def test_a_path_is_shown_across_repositories(view: FleetView) -> None:
    text = call(view, "symbol", name="checkout", to="round_amount")
    assert text.index("def checkout") < text.index("def total_of_invoice") < text.index("def round_amount")


def test_impact_reaches_other_repositories(view: FleetView) -> None:
    text = call(view, "impact", name="round_amount")
    assert TOTAL in text and "shop:shop/cart.py::checkout" in text


def test_names_are_found(view: FleetView) -> None:
    assert call(view, "find", name="round_amount").splitlines()[0] == f"function  {ROUND}  line 1"


def test_a_client_on_standard_input_is_served(folder: Path) -> None:
    program = [sys.executable, "-P", "-m", "causalist", "fleet", "serve", "mcp", "--fleet", str(folder)]
    with RawServer(folder, program=program, is_ready=True) as server:
        server.start()
        tools = server.request("tools/list")["result"]["tools"]
        assert [each["name"] for each in tools] == list(FLEET_TOOLS)
        found = server.request("tools/call", {"name": "find", "arguments": {"name": "plan_feeding"}})["result"]
        assert found["content"][0]["text"] == "function  zoo:zoo/feeding.py::plan_feeding  line 1"
        wrong = server.request("tools/call", {"name": "symbol", "arguments": {"name": "nowhere"}})["result"]
        assert wrong["isError"] and wrong["content"][0]["text"].startswith("unknown-node: ")
        assert server.finish() == 0


class FleetServer(HttpServer):
    """`causalist fleet serve mcp --http`, ready to be asked."""

    def __init__(self, folder: Path) -> None:
        words = [sys.executable, "-P", "-m", "causalist", "fleet", "serve", "mcp", "--http", "--fleet", str(folder)]
        self.process = subprocess.Popen(
            ready(words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
        )  # fmt: skip
        assert self.process.stderr is not None
        self.said = [self.process.stderr.readline().decode(), self.process.stderr.readline().decode()]
        match = re.search(r"http://127\.0\.0\.1:(\d+)/mcp", self.said[0])
        assert match, self.said
        self.port, self.url, self.token = int(match[1]), match[0], "of all"
        self.errors: list[bytes] = []
        self._reader = threading.Thread(target=lambda: self.errors.extend(self.process.stderr or ()), daemon=True)
        self._reader.start()


@pytest.mark.skipif(sys.platform == "win32", reason="ends the server with signals")
def test_a_request_sees_what_its_token_opens(tmp_path: Path) -> None:
    make_fleet(tmp_path, ["money", "shop", "zoo"])
    rules = "".join(
        f'\n[[access]]\ntoken = "{digest_of(token)}"\nrepositories = {names}\n'
        for token, names in (("of all", '["*"]'), ("of the zoo", '["zoo"]'))
    )
    (tmp_path / "fleet.toml").write_text((tmp_path / "fleet.toml").read_text() + rules)
    with FleetServer(tmp_path) as server:
        session = server.open_session()

        def find(name: str, token: str) -> str:
            server.token = token
            given = {"name": "find", "arguments": {"name": name}}
            return str(server.request(session, "tools/call", given)["result"]["content"][0]["text"]).splitlines()[0]

        assert find("round_amount", "of all") == f"function  {ROUND}  line 1"
        assert find("round_amount", "of the zoo") == "nothing has a name like 'round_amount'"
        assert find("plan_feeding", "of the zoo") == "function  zoo:zoo/feeding.py::plan_feeding  line 1"
        server.token = "of a stranger"
        assert server.send({"jsonrpc": "2.0", "id": 1, "method": "ping"}, Mcp_Session_Id=session)[0] == 401


def test_a_server_sees_what_was_indexed_meanwhile(tmp_path: Path) -> None:
    from types import SimpleNamespace

    from causalist.servers.mcp.fleet import FleetHandlers

    fleet = make_fleet(tmp_path, ["money"])
    handlers = FleetHandlers(FleetViews(fleet.file, fleet.store), "0")
    context = SimpleNamespace(request=None)
    first = handlers._view(context)
    assert handlers._view(context) is first
    assert call(first, "find", name="added_later").startswith("nothing has a name")
    (tmp_path / "src" / "money" / "more.py").write_text("def added_later():\n    return 1\n")
    fleet.index()
    second = handlers._view(context)
    assert call(second, "find", name="added_later").startswith("function  money:more.py::added_later")


# -- the page


class FleetPage(WebServer):
    """`causalist fleet serve web`, asked with a token."""

    def __init__(self, folder: Path, token: str | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "causalist", "fleet", "serve", "web", "--fleet", str(folder)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        parts = urlsplit(self.address)
        assert parts.port is not None, self.process.stderr and self.process.stderr.read()
        self.port = parts.port
        self.token = parse_qs(parts.query)["token"][0] if token is None else token

    def names(self) -> list[str]:
        status, _, body = self.request("GET", "/api/repositories")
        assert status == 200
        return [each["name"] for each in json.loads(body)["repositories"]]


def without_clock(value: object) -> object:
    if isinstance(value, dict):
        return {key: without_clock(each) for key, each in value.items() if key != "timings_ms"}
    return [without_clock(each) for each in value] if isinstance(value, list) else value


TOKEN = "of the shop; with blanks"
REQUESTS: list[tuple[str, dict[str, object]]] = [
    ("/api/ask", {"question": "where is the total of an invoice computed", "repository": "shop"}),
    ("/api/ask", {"question": "round_amount_twice of the secret ledger"}),
    ("/api/ask", {"question": "amounts", "repository": "secret"}),
    ("/api/ask", {"question": "amounts", "repository": "nowhere"}),
    ("/api/ask", {"question": "where is the total of an invoice computed", "repository": "*"}),
    ("/api/ask", {"question": "round_amount_twice of the hidden ledger", "repository": "*"}),
    ("/api/node", {"node": "money:money.py::round_amount", "repository": "*"}),
    ("/api/node", {"node": "secret:secret/ledger.py::total_of_invoice", "repository": "*"}),
    ("/api/node", {"node": "nowhere:secret/ledger.py::total_of_invoice", "repository": "*"}),
    ("/api/tests", {"node": "shop:shop/invoice.py::total_of_invoice", "repository": "*"}),
    ("/api/overview", {"repository": "*"}),
    ("/api/node", {"node": "secret/ledger.py::total_of_invoice", "repository": "secret"}),
    ("/api/node", {"node": "secret/ledger.py::total_of_invoice", "repository": "shop"}),
    ("/api/node", {"node": "secret:secret/ledger.py::total_of_invoice", "repository": "shop"}),
    ("/api/node", {"node": "total_of_invoice", "repository": "shop"}),
    ("/api/node", {"node": "round_amount", "repository": "money"}),
    ("/api/node", {"node": "ledger", "repository": "money"}),
    ("/api/tests", {"node": "round_amount", "repository": "money"}),
    ("/api/tests", {"node": "round_amount_twice", "repository": "secret"}),
    ("/api/overview", {"repository": "shop"}),
    ("/api/overview", {"repository": "secret"}),
    ("/api/picture", {"view": "impact", "node": "round_amount", "repository": "money"}),
    ("/api/picture", {"view": "topo", "repository": "secret"}),
    ("/api/picture", {"view": "review", "repository": "shop"}),
    ("/api/review", {"repository": "secret"}),
    ("/api/review", {"repository": "money"}),
]


@pytest.mark.skipif(sys.platform == "win32", reason="ends the server with signals")
def test_the_page_tells_nothing_of_a_hidden_repository(tmp_path: Path) -> None:
    """Every answer has the bytes that it has in a fleet without that repository."""
    told = []
    for place, members in (("with", ["money", "secret", "shop"]), ("without", ["money", "shop"])):
        folder = tmp_path / place / "fleet"
        folder.mkdir(parents=True)
        make_fleet(folder, members)
        rules = "".join(
            f'\n[[access]]\ntoken = "{digest_of(token)}"\nrepositories = {names}\n'
            for token, names in ((TOKEN, '["money", "shop"]'), ("of all", '["*"]'), ("of none", '["other"]'))
        )
        (folder / "fleet.toml").write_text((folder / "fleet.toml").read_text() + rules)
        with FleetPage(folder, TOKEN) as page:
            assert "token=" not in page.address
            assert page.names() == ["money", "shop"]
            answers = [(page.request("GET", f"/api/status?repository={name}")) for name in ("shop", "secret", "x", "*")]
            own = [(status, without_clock(json.loads(body))) for status, _, body in answers]
            own += [(status, without_clock(found)) for status, found in (page.call(*each) for each in REQUESTS)]
            told.append(own)
            # The cookie of the address opens the same.
            status, headers, _ = page.request(
                "GET", f"/?token={quote(TOKEN)}&q=x", headers={"Host": f"127.0.0.1:{page.port}"}
            )
            assert status == 303 and headers["location"] == "/?q=x"
            cookie = headers["set-cookie"].partition(";")[0]
            status, _, body = page.request("GET", "/api/repositories", headers={"Cookie": cookie})
            assert [each["name"] for each in json.loads(body)["repositories"]] == ["money", "shop"]
            page.token = "of all"
            assert page.names() == members
            status, found = page.call(
                "/api/node", {"node": "secret/ledger.py::total_of_invoice", "repository": "secret"}
            )
            assert (status == 200 and "total_of_invoice" in str(found)) == ("secret" in members)
            page.token = "of none"
            status, _, body = page.request("GET", "/api/repositories")
            assert (status, json.loads(body)["error"]["message"]) == (
                400, "no repository of the fleet is indexed and open to this token",
            )  # fmt: skip
            (folder / "fleet.toml").write_text((folder / "fleet.toml").read_text().replace(digest_of("of none"), ""))
            assert page.request("GET", "/api/repositories")[0] == 400  # a token that is withdrawn opens nothing
            page.token = ""
            assert page.request("GET", "/api/repositories")[0] == 401
            page.token = "of a stranger"
            assert page.request("GET", "/api/repositories")[0] == 401
            assert page.request("GET", "/?token=of+a+stranger")[0] == 200  # the page itself, and no cookie
    assert told[0] == told[1]
    for (_, document), (_, found) in zip(REQUESTS, told[0][4:], strict=True):
        if "secret" not in str(document):
            assert "secret" not in str(found)
    statuses = [status for status, _ in told[0]]
    assert statuses[:4] == [200, 400, 400, 200] and 500 not in statuses and statuses.count(200) > 6


@pytest.mark.skipif(sys.platform == "win32", reason="ends the server with signals")
def test_the_page_shows_what_the_shard_answers(folder: Path, view: FleetView) -> None:
    with FleetPage(folder) as page:
        assert page.names() == ["money", "shop", "zoo"]
        status, found = page.call(
            "/api/ask", {"question": "where is the total of an invoice computed", "repository": "shop"}
        )
        known = answer_document(view.repository("shop").ask("where is the total of an invoice computed"))
        assert status == 200
        assert without_clock(found["answer"]) == without_clock(json.loads(json.dumps(known)))
        status, found = page.call("/api/node", {"node": "shop/invoice.py::total_of_invoice", "repository": "shop"})
        assert status == 200 and "def total_of_invoice" in str(found["node"])
        status, _, body = page.request("GET", "/api/status?repository=shop")
        told = json.loads(body)
        assert (told["name"], told["repository"]["root"], told["index"]) == ("shop", "", None)
        assert told["files"] == len(view.repository("shop").index.manifest.paths)
        status, found = page.call("/api/review", {"repository": "shop"})
        assert status == 400 and "has no files to compare with" in found["error"]["message"]
        # All repositories: the answer of `fleet ask`, whose ids open what they name.
        question = "where is the total of an invoice computed"
        status, found = page.call("/api/ask", {"question": question, "repository": "*"})
        whole = ask_fleet(view, question)
        assert status == 200
        # A page has a deadline, so that the walk and what depends on it may be bounded; the results are the same.
        assert [each["node"] for each in found["answer"]["results"]] == [each.id for each in whole.answer.results]
        assert found["asked"] == [each.name for each in whole.repositories]
        first = found["answer"]["results"][0]
        assert (first["node"], first["path"]) == ("shop:shop/invoice.py::total_of_invoice", "shop:shop/invoice.py")
        assert set(found["nodes"]) >= set(found["answer"]["order"])
        status, found = page.call("/api/node", {"node": first["node"], "repository": "*"})
        assert status == 200 and (found["node"]["node"], found["node"]["path"]) == (first["node"], first["path"])
        for end in ("callers", "callees"):
            assert all(edge["source"].startswith(("shop:", "external:shop:")) for edge in found[end]["edges"])
        status, found = page.call("/api/node", {"node": "shop/invoice.py::total_of_invoice", "repository": "*"})
        assert status == 400 and "must begin with a repository" in found["error"]["message"]
        status, _, body = page.request("GET", "/api/status?repository=*")
        assert json.loads(body)["files"] == sum(view.catalog.columns["n_files"])
        page.token = "wrong"
        assert page.request("GET", "/api/repositories")[0] == 401
        assert page.end() == 0
