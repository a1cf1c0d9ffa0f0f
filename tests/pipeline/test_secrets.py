"""Secrets that are hidden in a repository come out nowhere: not in a pack, a document or an export, and not in a byte
of what is kept on disk."""

import json
from pathlib import Path

import pytest

from causalist.cli.ask import FORMATS
from causalist.cli.graph_overviews import FORMATS as GRAPH_FORMATS
from causalist.index.source_text import SourceText
from causalist.model.source import FileEntry, SourceFile
from causalist.parse import MASK
from causalist.pipeline.repository import Repository
from causalist.source import read_file
from causalist.store import facts_path
from tests.cli.commands import invoke, run
from tests.pipeline.sample import copy_sample
from tests.planted import parts_of, plant, planted

pytestmark = pytest.mark.slow

N_PLANTED = 46
# They lead to the files with the secrets, by their names and by what stands around them.
QUESTIONS = (
    "connect with apiKey clientSecret access_token AWS_SECRET_ACCESS_KEY DB_PASSWORD",
    "leak retries export sign curl cell_type scratch header config",
)


@pytest.fixture(scope="module")
def hidden() -> set[str]:
    parts = {part for secret in planted(N_PLANTED) for text in secret.secrets for part in parts_of(text)}
    assert len({secret.kind for secret in planted(N_PLANTED)}) >= 20 and len(parts) > 150
    return parts


@pytest.fixture(scope="module")
def leaky(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = copy_sample(tmp_path_factory.mktemp("leaky"))
    plant(folder, planted(N_PLANTED))
    done = run("index", "--repo", ".", cwd=folder)
    assert done.code == 0, done.stderr
    return folder


def check(text: str, hidden: set[str]) -> None:
    found = sorted(part for part in hidden if part in text)
    assert not found, found


def test_the_files_are_indexed_and_hold_the_secrets(leaky: Path, hidden: set[str]) -> None:
    files = [p.read_text() for p in leaky.rglob("*leak*") if p.is_file()]
    assert len(files) == N_PLANTED
    assert sum(any(part in text for part in hidden) for text in files) == N_PLANTED
    status = json.loads(run("status", "--repo", ".", "--json", cwd=leaky).stdout)
    indexed = run("graph", "export", "--format", "node-link", "--repo", ".", cwd=leaky).stdout
    assert sum(f"leak{n}" in indexed for n in range(N_PLANTED)) == N_PLANTED, status["skipped"]


@pytest.mark.parametrize("form", FORMATS)
def test_no_pack_shows_one(form: str, leaky: Path, hidden: set[str]) -> None:
    for level in ("symbol", "file"):
        for question in QUESTIONS:
            done = invoke("ask", question, "--repo", str(leaky), "--format", form, "--level", level, "--top-k", "80",
                       "--max-tokens", "60000")  # fmt: skip
            assert done.code == 0, done.stderr
            check(done.stdout + done.stderr, hidden)
            if form not in ("mermaid", "dot") and level == "symbol":
                assert MASK in done.stdout and "leak" in done.stdout


def test_no_other_door_shows_one(leaky: Path, hidden: set[str]) -> None:
    repository = Repository.open(leaky)
    nodes = [node for node in repository.index.graph.nodes.ids if "leak" in node.lower()]
    assert len(nodes) >= 3 * N_PLANTED // 2
    for node in nodes:
        done = invoke("show", node, "--repo", str(leaky))
        assert done.code == 0, done.stderr
        check(done.stdout + done.stderr, hidden)
    for arguments in (("map",), ("ask", "/(?i)(key|token|password|secret).{0,200}/")):
        done = invoke(*arguments, "--repo", str(leaky))
        assert done.code == 0, done.stderr
        check(done.stdout + done.stderr, hidden)


def test_a_secret_cannot_be_looked_up(leaky: Path) -> None:
    secret = next(p for p in planted(N_PLANTED) if p.kind == "GitHub").text
    done = invoke("ask", f'"{secret}"', "--repo", str(leaky), "--json")
    assert json.loads(done.stdout)["results"] == []


def test_no_document_holds_one(leaky: Path, hidden: set[str]) -> None:
    for level in ("symbol", "file"):
        done = invoke("ask", QUESTIONS[0], "--repo", str(leaky), "--json", "--level", level, "--top-k", "80")
        assert len(json.loads(done.stdout)["results"]) >= 20
        check(done.stdout + done.stderr, hidden)


@pytest.mark.parametrize("form", list(GRAPH_FORMATS))
def test_no_export_holds_one(form: str, leaky: Path, hidden: set[str]) -> None:
    done = invoke("graph", "export", "--all", "--format", form, "--repo", str(leaky))
    assert done.code == 0 and "leak" in done.stdout
    check(done.stdout + done.stderr, hidden)


def test_no_byte_on_disk_holds_one(leaky: Path, hidden: set[str]) -> None:
    (leaky / ".causalist" / "index.bin").unlink(missing_ok=True)
    Repository.open(leaky)  # with a cache of facts that is empty
    files = [p for p in (leaky / ".causalist").iterdir() if p.is_file()]
    assert "index.bin" in {p.name for p in files} and facts_path().stat().st_size > 10_000
    for path in [*files, facts_path()]:
        data = path.read_bytes()
        lower = data.lower()
        found = sorted(part for part in hidden if part.encode() in data or part.lower().encode() in lower)
        assert not found, (path.name, found)


def test_a_changed_file_is_shown_without_its_source_until_it_is_indexed_again(leaky: Path) -> None:
    """Spans belong to a content: what is read later is masked by them only where it is the same."""
    repository = Repository.open(leaky)
    path = "config/leak8.yaml"
    texts = SourceText(repository.index.manifest, repository.read)
    assert texts.read_text(path).count("\n") == 3 and "****" in texts.read_text(path)
    assert texts.get_line(path, 3).endswith(f': "{MASK}"')

    def changed(entry: FileEntry) -> SourceFile | str:
        source = read_file(repository.root, entry)
        assert isinstance(source, SourceFile)
        return SourceFile(entry.path, b"x" + source.data, "0" * 40)

    texts = SourceText(repository.index.manifest, changed)
    assert texts.read_text(path) == texts.get_line(path, 3) == ""
    assert texts.changed_paths == [path]
