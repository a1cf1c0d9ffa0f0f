"""The server of the page: what it answers, and what it refuses."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from causalist.pipeline.repository import Repository
from causalist.serialize.answers import answer_document
from causalist.serialize.lookup_documents import show_document
from tests.cli.commands import invoke, write_all
from tests.cli.conftest import SMALL
from tests.servers.browser import WebServer
from tests.servers.conftest import settle
from tests.servers.wire import are_gone, children_of, environment, indexing_waits

PAGE = Path(__file__).parents[2] / "causalist" / "servers" / "page"
QUESTION = "what does an invoice cost with tax"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[WebServer, Path]]:
    folder = write_all(tmp_path_factory.mktemp("web") / "small", SMALL)
    settle(folder)
    with WebServer(folder) as server:
        yield server, folder


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    folder = tmp_path_factory.mktemp("several")
    settle(write_all(folder / "shop", {"a.py": "def pay(invoice):\n    return invoice.total\n"}))
    settle(write_all(folder / "bank", {"b.py": "def pay(account):\n    return account.sum\n"}))
    settle(write_all(folder / "more" / "shop", {"c.py": "def lend(book):\n    return book\n"}))
    with WebServer(folder / "shop", folder / "bank", folder / "more" / "shop", is_ready=True) as server:
        yield server


class TestAnswers:
    def test_are_those_of_the_facade(self, served: tuple[WebServer, Path]) -> None:
        server, folder = served
        status, found = server.call("/api/ask", {"question": QUESTION, "top_k": 4})
        repository = Repository.open(folder, exact_root=True)
        known = answer_document(repository.ask(QUESTION, replace(repository.settings.ask_options(), top_k=4)))
        for document in (found["answer"], known):
            del document["timings_ms"]
        assert status == 200 and found["answer"] == json.loads(json.dumps(known))
        assert set(found["answer"]["order"]) <= set(found["nodes"]) and found["stage"] is None

        status, found = server.call("/api/node", {"node": "shop/prices.py::price_of"})
        assert status == 200
        assert found["node"] == json.loads(json.dumps(show_document(repository.show("shop/prices.py::price_of"))))
        assert [edge["source"] for edge in found["callers"]["edges"]] == ["shop/cart.py::Cart.total"]
        assert [edge["target"] for edge in found["callees"]["edges"]] == ["shop/prices.py::with_tax"]
        status, _, body = server.request("GET", "/api/status")
        told = json.loads(body)
        assert (status, told["name"], told["files"]) == (200, "small", 4)
        done = json.loads(invoke("status", "--repo", str(folder), "--json").stdout)
        # The cache of facts is that of the user, whom the server and this process do not share.
        assert {key: told[key] for key in done.keys() - {"facts_cache"}} == {
            key: value for key, value in done.items() if key != "facts_cache"
        }
        assert done["index"]["was_current"] is True and told["facts_cache"].keys() == done["facts_cache"].keys()

    @pytest.mark.parametrize(
        ("path", "document", "status", "message"),
        [
            ("/api/ask", {}, 400, "question must be a string, not None"),
            ("/api/ask", {"question": "  "}, 400, "empty"),
            ("/api/ask", {"question": "x", "colour": "red"}, 400, "unknown option 'colour'"),
            ("/api/ask", {"question": "x", "top_k": -1}, 400, "top"),
            ("/api/ask", {"question": "x" * 20_001}, 400, "at most 20,000 characters"),
            ("/api/ask", [], 400, "the body must be a JSON object"),
            ("/api/node", {"node": 5}, 400, "the request must have one key"),
            ("/api/tests", {}, 400, "the request must have one key"),
            ("/api/tests", {"node": "nothing"}, 422, "nothing here is called"),
            ("/api/overview", {"node": "a"}, 400, "the request takes nothing"),
            ("/api/picture", {}, 400, "view must be one of impact, path, topo, review"),
            ("/api/picture", {"view": "path", "node": "a"}, 400, "the picture path takes node and to: ids of nodes"),
            ("/api/picture", {"view": "topo", "node": "a"}, 400, "the picture topo takes nothing: ids of nodes"),
            ("/api/picture", {"view": "impact", "node": "nothing"}, 422, "nothing here is called"),
            ("/api/node", {"node": "nothing"}, 422, "nothing here is called"),
            ("/api/review", {"revision": "HEAD"}, 400, "the request takes nothing"),
            ("/api/review", {}, 422, "not a git repository"),
            ("/api/picture", {"view": "review"}, 422, "not a git repository"),
        ],
    )
    def test_mistakes_are_sentences(
        self, path: str, document: object, status: int, message: str, served: tuple[WebServer, Path]
    ) -> None:
        found, body = served[0].call(path, document)
        assert found == status and message in body["error"]["message"], body

    @pytest.mark.slow
    def test_while_there_is_no_index(self, several: Path) -> None:
        with indexing_waits(several), WebServer(several) as server:
            status, _, body = server.request("POST", "/api/ask", b'{"question": "worker"}')
            answer = json.loads(body)["answer"]
            assert status == 200 and 0 < answer["repository"]["parsed"] < answer["repository"]["files"] == 900
            assert answer["diagnostics"][0]["slug"] == "partial"
            status, _, body = server.request("POST", "/api/node", b'{"node": "part_27/worker_77.py::Worker77"}')
            assert status == 202 and set(json.loads(body)["indexing"]) == {"stage", "percent"}
            deadline = time.monotonic() + 30
            while not (below := children_of(server.process.pid)):
                assert time.monotonic() < deadline
            assert server.end() == 0 and are_gone(below)


class TestSeveral:
    """Two repositories with a definition of the same name."""

    @pytest.mark.slow
    def test_each_answers_for_itself(self, both: WebServer) -> None:
        status, _, body = both.request("GET", "/api/repositories")
        named = [(each["name"], Path(each["root"]).parent.name) for each in json.loads(body)["repositories"]]
        assert status == 200 and [name for name, _ in named] == ["shop", "bank", "shop~2"] and named[2][1] == "more"
        for name, node in (("shop", "a.py::pay"), ("bank", "b.py::pay"), ("shop~2", "c.py::lend")):
            question = {"question": "what does pay or lend return", "repository": name}
            status, found = both.call("/api/ask", question)
            results = [result["node"] for result in found["answer"]["results"]]
            assert status == 200 and node in results and all(each.startswith(node[:4]) for each in results)
            assert both.call("/api/node", {"node": node, "repository": name})[1]["node"]["node"] == node
            told = json.loads(both.request("GET", f"/api/status?repository={name}")[2])
            assert told["name"] == name.partition("~")[0] and told["files"] == 1
            assert both.call("/api/overview", {"repository": name})[1]["name"] == told["name"]

    def test_what_another_has_is_not_found(self, both: WebServer) -> None:
        for path, document in (
            ("/api/node", {"node": "b.py::pay"}),
            ("/api/tests", {"node": "b.py::pay"}),
            ("/api/picture", {"view": "impact", "node": "b.py::pay"}),
        ):
            assert both.call(path, {**document, "repository": "bank"})[0] == 200
            for other in ("shop", "shop~2"):
                assert both.call(path, {**document, "repository": other})[0] == 422
        assert both.call("/api/node", {"node": "a.py::pay"})[0] == 200  # without a name: the first

    @pytest.mark.parametrize("name", ["nowhere", "", 5, None, ["bank"], "../bank"])
    def test_unknown_names(self, name: object, both: WebServer) -> None:
        status, found = both.call("/api/overview", {"repository": name})
        if name is None:
            assert status == 200
        else:
            assert status == 400 and "repository" in found["error"]["message"]


class TestRefusals:
    def test_without_the_token(self, served: tuple[WebServer, Path]) -> None:
        server = served[0]
        for path in ("/api/status", "/api/ask", "/api/nothing", "/elsewhere"):
            assert server.request("GET", path, headers={})[0] == 401
        for token in ("x", "", server.token[:-1], server.token + "x"):
            assert server.request("GET", "/api/status", headers={"Authorization": f"Bearer {token}"})[0] == 401
            assert server.request("GET", f"/?token={token}", headers={})[1].get("set-cookie") is None

    def test_the_token_becomes_a_cookie(self, served: tuple[WebServer, Path]) -> None:
        server = served[0]
        status, headers, _ = server.request("GET", f"/?token={server.token}&q=a+b%26c&node=x", headers={})
        assert status == 303 and headers["location"] == "/?q=a+b%26c&node=x"
        cookie = headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=strict" in cookie and "Path=/" in cookie
        assert server.request("GET", "/api/status", headers={"Cookie": cookie.partition(";")[0]})[0] == 200

    @pytest.mark.parametrize(
        ("headers", "status"),
        [
            ({"Host": "evil.example"}, 421),
            ({"Host": "127.0.0.1:1"}, 421),
            ({"Origin": "http://evil.example"}, 403),
            ({"Origin": "null"}, 403),
            ({"Sec-Fetch-Site": "cross-site"}, 403),
            ({"Sec-Fetch-Site": "same-site"}, 403),
        ],
    )
    def test_other_sites(self, headers: dict[str, str], status: int, served: tuple[WebServer, Path]) -> None:
        server = served[0]
        given = {"Authorization": f"Bearer {server.token}", **headers}
        assert server.request("GET", "/api/status", headers=given)[0] == status
        assert server.request("GET", "/", headers=headers)[0] == status

    def test_bodies(self, served: tuple[WebServer, Path]) -> None:
        server = served[0]
        assert server.request("POST", "/api/ask", b"x" * 1_000_001)[0] == 413
        assert server.request("POST", "/api/ask", b"{" * 100_000)[0] == 400
        assert server.request("POST", "/api/ask", b"\xff\xfe")[0] == 400
        form = {"Authorization": f"Bearer {server.token}", "Content-Type": "text/plain"}
        assert server.request("POST", "/api/ask", b'{"question": "x"}', headers=form)[0] == 400
        assert server.request("PUT", "/api/ask", b"{}")[0] == 405
        assert server.request("GET", "/api/ask")[0] == 405

    def test_every_response_forbids_what_it_can(self, served: tuple[WebServer, Path]) -> None:
        server = served[0]
        for path, given in (("/", {}), ("/app.js", {}), ("/api/status", None), ("/api/status", {}), ("/nothing", None)):
            _, headers, _ = server.request("GET", path, headers=given)  # type: ignore[arg-type]
            policy = headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy and "data:" not in policy
            assert headers["x-content-type-options"] == "nosniff" and headers["cache-control"] == "no-store"
            assert headers["x-frame-options"] == "DENY" and headers["referrer-policy"] == "no-referrer"
            assert "access-control-allow-origin" not in headers and "server" not in headers

    def test_noise_leaves_it_answering(self, served: tuple[WebServer, Path]) -> None:
        server = served[0]
        for noise in (
            b"\x00" * 100,
            b"GET / HTTP/9.9\r\n\r\n",
            b"GET  \r\n",
            b"A" * 100_000,
            b"POST / HTTP/1.1\r\nHost:",
        ):
            with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
                connection.sendall(noise)
        assert server.request("GET", "/api/status")[0] == 200


@pytest.mark.skipif(os.name == "nt", reason="permissions are others there")
class TestSharedMachine:
    def test_no_command_line_has_the_token(self, served: tuple[WebServer, Path]) -> None:
        """All users see the command lines of all processes."""
        server = served[0]
        assert server.request("GET", "/api/status")[0] == 200
        processes = [server.process.pid, *children_of(server.process.pid)]
        listed = subprocess.run(
            ["ps", "-o", "args=", "-p", ",".join(map(str, processes))], capture_output=True, text=True
        )
        assert "causalist" in listed.stdout and server.token not in listed.stdout

    @pytest.mark.slow
    def test_what_is_kept_for_the_user_is_the_users_alone(self, tmp_path: Path) -> None:
        """However loose the mask of new files is."""
        folder = write_all(tmp_path / "small", SMALL)
        settle(folder)
        cache = tmp_path / "cache"
        done = subprocess.run(
            [sys.executable, "-P", "-m", "causalist", "ask", "what does an invoice cost", "--repo", str(folder)],
            env=environment(XDG_CACHE_HOME=str(cache)), capture_output=True, umask=0,
        )  # fmt: skip
        assert done.returncode == 0
        kept = [path for path in cache.rglob("*") if path.is_file()]
        closed = [path for path in cache.rglob("*") if path.is_dir() and path.stat().st_mode & 0o077 == 0]
        assert kept and all(any(outer in closed for outer in path.parents) for path in kept)
        assert (folder / ".causalist" / "answers.jsonl").stat().st_mode & 0o077 == 0  # what was asked


class TestPage:
    def test_holds_nothing_that_makes_markup_of_text(self) -> None:
        script = (PAGE / "app.js").read_text()
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "DOMParser",
                    "srcdoc", "javascript:", "setTimeout(\"", "createContextualFragment"):  # fmt: skip
            assert way not in script, way

    def test_needs_nothing_from_elsewhere(self) -> None:
        for path in PAGE.iterdir():
            text = path.read_text().replace("http://www.w3.org/2000/svg", "")
            # Addresses of editors, and the expression that finds their scheme.
            text = re.sub(r"(?:vscode|cursor|zed|idea|myeditor)://|:\\/\\//i", "", text)
            assert "//" not in text.replace("// ", ""), path.name
            assert "@import" not in text and "url(" not in text.replace("url(#arrow)", "")
        page = (PAGE / "index.html").read_text()
        assert "style=" not in page and "onclick" not in page and page.count("<script") == 1


class TestCommand:
    def test_a_port_that_is_taken(self, small: Path, served: tuple[WebServer, Path]) -> None:
        done = invoke("serve", "web", "--repo", str(small), "--port", str(served[0].port))
        assert f"cannot listen on port {served[0].port}" in done.failed("usage")

    def test_folders_and_repo(self, small: Path) -> None:
        done = invoke("serve", "web", str(small), "--repo", str(small))
        assert done.code == 2 and "either with --repo or without it" in done.stderr

    @pytest.mark.slow
    def test_a_folder_of_repositories(self, tmp_path: Path) -> None:
        for name in ("a", "deep/b"):
            folder = write_all(tmp_path / "projects" / name, SMALL)
            subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
        (tmp_path / "projects" / "notes").mkdir()
        with WebServer(tmp_path / "projects", tmp_path / "projects" / "a", is_ready=True) as server:
            served = json.loads(server.request("GET", "/api/repositories")[2])["repositories"]
            assert [each["name"] for each in served] == ["a", "b"]

    @pytest.mark.slow
    @pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
    def test_ends_at_a_signal(self, number: signal.Signals, code: int, small: Path) -> None:
        with WebServer(small) as server:
            assert server.request("GET", "/", headers={})[0] == 200
            server.process.send_signal(number)
            assert server.process.wait(10) == code
            assert server.process.stdout is not None and server.process.stdout.read() == ""
