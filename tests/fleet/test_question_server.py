"""`fleet serve mcp`: the tools over all repositories, and over HTTP those that the token of a request opens."""

import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

pytest.importorskip("fsspec")
pytest.importorskip("pyarrow")
pytest.importorskip("mcp")

from causalist.fleet.access import FleetView, digest_of
from causalist.pack import count_tokens
from causalist.servers.mcp.fleet import FLEET_TOOLS
from tests.fleet.test_question import make_fleet
from tests.servers.http_wire import HttpServer
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
    with RawServer(folder, program=program) as server:
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
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "causalist", "fleet", "serve", "mcp", "--http", "--fleet", str(folder)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
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
    handlers = FleetHandlers(fleet, "0")
    context = SimpleNamespace(request=None)
    first = handlers._view(context)
    assert handlers._view(context) is first
    assert call(first, "find", name="added_later").startswith("nothing has a name")
    (tmp_path / "src" / "money" / "more.py").write_text("def added_later():\n    return 1\n")
    fleet.index()
    second = handlers._view(context)
    assert call(second, "find", name="added_later").startswith("function  money:more.py::added_later")
