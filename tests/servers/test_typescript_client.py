"""The official TypeScript client drives every tool over standard input and output and over HTTP.

It runs where `node` and the package `@modelcontextprotocol/sdk` are: in CAUSALIST_NODE_MODULES, in `node_modules` at
the top of the checkout or beside the script, or among npm's global packages.
"""

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from causalist.servers.mcp.handlers import select_tools
from tests.cli.commands import CHECKOUT
from tests.servers.http_wire import HttpServer
from tests.servers.test_http import CALLS
from tests.servers.wire import command, environment

SCRIPT = Path(__file__).parent / "typescript" / "drive.mjs"
SDK = Path("@modelcontextprotocol") / "sdk" / "package.json"


@cache
def node_modules(wanted: Path = SDK) -> Path | None:
    """The folder of node's packages that has `wanted`."""
    places = [Path(os.environ.get("CAUSALIST_NODE_MODULES") or os.devnull)]
    places += [folder / "node_modules" for folder in (CHECKOUT, SCRIPT.parent)]
    npm = shutil.which("npm")
    if npm is not None:
        done = subprocess.run([npm, "root", "--global"], capture_output=True, text=True, timeout=60)
        places += [Path(line) for line in done.stdout.splitlines()[:1]]
    return next((place.resolve() for place in places if (place / wanted).is_file()), None)


@pytest.fixture(scope="module")
def modules() -> Path:
    if shutil.which("node") is None:
        pytest.skip("there is no node")
    found = node_modules()
    if found is None:
        pytest.skip("node has no package @modelcontextprotocol/sdk: npm install @modelcontextprotocol/sdk")
    return found


def drive(modules: Path, *arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        ["node", str(SCRIPT), *arguments], input=json.dumps(CALLS), capture_output=True, text=True, timeout=300,
        env=environment(CAUSALIST_NODE_MODULES=str(modules)),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert isinstance(document, dict)
    return document


def check(document: dict[str, Any]) -> None:
    assert document["server"]["name"] == "causalist"
    assert [tool["name"] for tool in document["listed"]] == list(select_tools("all"))
    for tool in document["listed"]:
        assert tool["annotations"]["readOnlyHint"] is (tool["name"] != "memory_update")
        assert tool["outputSchema"]["type"] == "object"
    for name, result in document["results"].items():
        if name in CALLS:  # the others need what this repository has not
            assert not result.get("isError") and result["structuredContent"]["text"], (name, result)
    assert "def with_tax(net):" in document["results"]["ask"]["content"][0]["text"]
    assert document["mistake"]["isError"] and document["mistake"]["content"][0]["text"].startswith("unknown-node: ")
    assert document["resources"][0]["uri"] == "causalist://map"
    assert "def print_invoice" in document["map"]["contents"][0]["text"]
    assert document["templates"][0]["uriTemplate"] == "causalist://node/{id}"
    assert "def with_tax" in document["prompt"]["messages"][0]["content"]["text"]


def test_over_standard_input_and_output(modules: Path, small: Path) -> None:
    check(drive(modules, "stdio", *command(small, "--tools", "all")))


@pytest.mark.skipif(sys.platform == "win32", reason="ends the server with signals")
def test_over_http(modules: Path, small: Path) -> None:
    with HttpServer(small, options=("--tools", "all")) as server:
        check(drive(modules, "http", server.url, server.token))
