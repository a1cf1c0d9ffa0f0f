"""Handlers, which are called by the string that is given with them, as people look for them."""

import dataclasses
from pathlib import Path

import pytest

from causalist.pipeline.repository import Repository
from tests.cli.commands import invoke, write_all
from tests.pipeline.sample import in_memory

_FILES = {
    "src/locks.ts": (
        "export function openLock(key: string) {\n  return key;\n}\n"
        "export function shutLock(key: string) {\n  return key;\n}\n"
    ),
    "src/api.ts": (
        'import { openLock, shutLock } from "./locks";\n\n'
        'api.post("locks.open", async (context) => {\n'
        "  context.body = openLock(context.key);\n"
        "});\n\n"
        'api.post("locks.shut", async (context) => {\n'
        "  context.body = shutLock(context.key);\n"
        "});\n\n"
        'web.get("/locks/:key", (request, response) => {\n'
        "  response.send(openLock(request.key));\n"
        "});\n"
    ),
    "src/Bell.vue": (
        "<template><p>Bell</p></template>\n<script>\n"
        'import { shutLock } from "./locks";\n'
        'bus.on("rung", (key) => {\n'
        "  shutLock(key);\n"
        "});\n</script>\n"
    ),
    "test/locks.test.ts": (
        'import { openLock } from "../src/locks";\n\n'
        'describe("openLock", () => {\n'
        '  it("opens a lock with its key v1.2", () => {\n'
        '    expect(openLock("a")).toBe("a");\n'
        "  });\n});\n"
    ),
}
_OPENS = "test/locks.test.ts::describe openLock.it opens a lock with its key v1%2E2"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_all(tmp_path_factory.mktemp("handlers") / "repo", _FILES)


@pytest.fixture(scope="module")
def repository(root: Path) -> Repository:
    return in_memory(root)


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("locks.open", "src/api.ts::post locks%2Eopen"),
        ("post locks.open", "src/api.ts::post locks%2Eopen"),
        ("src/api.ts::post locks.shut", "src/api.ts::post locks%2Eshut"),
        ("/locks/:key", "src/api.ts::get /locks/:key"),
        ("rung", "src/Bell.vue::on rung"),
        ("opens a lock with its key v1.2", _OPENS),
        # What is tested has the name, and the group of its tests only the title.
        ("openLock", "src/locks.ts::openLock"),
        ("describe openLock", "test/locks.test.ts::describe openLock"),
    ],
)
def test_a_handler_is_found_by_its_title(repository: Repository, name: str, node: str) -> None:
    assert repository.find(name)[0].id == node
    resolved = dataclasses.replace(repository, folder="").resolve_name(name)
    assert repository.index.graph.nodes.ids[resolved.node] == node


def test_calls_start_at_the_handlers(root: Path) -> None:
    lines = [line.split() for line in invoke("callers", "openLock", "--repo", str(root)).stdout.splitlines()]
    places = sorted(line[-1] for line in lines)
    assert places == ["src/api.ts:12", "src/api.ts:4", "test/locks.test.ts:5"]
    text = invoke("callers", "openLock", "--repo", str(root)).stdout
    assert "src/api.ts::post locks%2Eopen -> " in text and "src/api.ts::get /locks/:key -> " in text
    assert f"{_OPENS} -> " in text


def test_the_case_is_the_test_and_not_its_file(root: Path) -> None:
    lines = invoke("tests", "openLock", "--repo", str(root)).stdout.splitlines()
    assert lines[0] == "1 test"
    assert lines[2].split(maxsplit=1)[1].startswith(f"{_OPENS}  tests src/locks.ts::openLock")


def test_a_handler_answers_for_its_lines(repository: Repository) -> None:
    first = repository.ask("locks.shut").results[0]
    assert first.id == "src/api.ts::post locks%2Eshut"
    assert repository.ask("where is /locks/:key answered").results[0].id == "src/api.ts::get /locks/:key"
    nodes = repository.index.graph.nodes
    at = nodes.ids.position(first.id)
    assert (nodes.start_rows[at], nodes.end_rows[at]) == (6, 8)
    assert nodes.signatures[at] == 'api.post("locks.shut", async (context)'
