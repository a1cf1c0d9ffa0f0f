"""What must never be in an index or an answer, from the folder to the pack, and how a choice is kept."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from causalist.errors import RefusedRoot
from causalist.index.options import IndexOptions
from causalist.pipeline.repository import Repository
from causalist.store import facts_path
from tests.pipeline.conftest import WorkTree
from tests.pipeline.sample import in_memory

# A word that stands in nothing else; whoever finds it has read what he should not.
WORD = "xylophonist"

SECRETS = {
    "secret": (".env", ".env.production", "deploy/id_ed25519", "tls/server.pem", "tls/server.key", "tls/ca.crt",
               ".ssh/config", "store.p12", "app.keystore", ".netrc", "secrets.yaml", "credentials.json", "prod.tfvars"),
    "binary": ("logo.png", "data.sqlite3", "tool"),
    "too large": ("big.py",),
    "UTF-16": ("wide.ps1",),
    "ignored by .causalistignore": ("private/notes.md", "draft.py"),
}  # fmt: skip


def content_of(name: str) -> bytes:
    text = f"{WORD} = '{WORD}'\n".encode()
    return {
        "tool": b"\0" + text,
        "big.py": text * 120_000,
        "wide.ps1": text.decode().encode("utf-32"),
    }.get(name, text)


@pytest.fixture
def guarded(tree: WorkTree, tmp_path: Path) -> WorkTree:
    """A repository with one of everything, tracked where git takes it."""
    for names in SECRETS.values():
        for name in names:
            tree.write(name, "").write_bytes(content_of(name))
    tree.write(".causalistignore", "private/\ndraft.py\n")
    tree.git("add", "-f", "-A", ".")
    tree.git("commit", "-q", "-m", "everything")
    tree.write(".gitignore", "local.py\n")
    tree.write("local.py", f"{WORD} = 1\n")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.py").write_text(f"{WORD} = 1\n")
    (tree.path / "leads-out.py").symlink_to(outside / "x.py")
    (tree.path / "folder-out").symlink_to(outside)
    (tree.path / "around").symlink_to(".")
    (tree.path / "again.py").symlink_to("app.py")
    return tree


def test_nothing_of_it_is_in_an_answer(guarded: WorkTree) -> None:
    repository = in_memory(guarded.path)
    status = repository.status()
    expected = {reason: len(names) for reason, names in SECRETS.items()} | {"link": 2, "link outside": 2}
    expected["ignored by .causalistignore"] = 2  # the folder counts once
    assert dict(status.skipped) == expected
    answer = repository.ask(f"where is the {WORD} and the order?")
    assert answer.results and answer.pack is not None
    files = {hit.path for hit in answer.results}
    assert not files & {name for names in SECRETS.values() for name in names}
    assert WORD not in answer.pack.text.partition("\n")[2]
    assert not [hit for hit in answer.results if WORD in hit.id]


def test_nothing_of_it_is_in_the_files_of_the_index(guarded: WorkTree) -> None:
    Repository.open(guarded.path, exact_root=True)
    written = {path.name: path.read_bytes() for path in (guarded.path / ".causalist").iterdir()}
    written["facts.db"] = facts_path().read_bytes()
    assert "index.bin" in written
    assert not [name for name, data in written.items() if WORD.encode() in data]
    assert [name for name, data in written.items() if b"checkout" in data]  # the search would have found it


def test_git_does_not_see_the_index(tree: WorkTree) -> None:
    Repository.open(tree.path, exact_root=True)
    assert (tree.path / ".causalist" / "index.bin").is_file()
    assert tree.git("status", "--porcelain", "--untracked-files=all", "--ignored=no") == ""
    tree.git("add", "-A", ".")
    assert tree.git("ls-files", ".causalist") == ""


def test_a_sparse_checkout_has_what_is_there(tree: WorkTree) -> None:
    tree.write("lib/a.py", "def far(): ...\n")
    tree.write("docs/b.md", "# Near\n")
    tree.commit()
    tree.git("sparse-checkout", "set", "--no-cone", "/docs/", "/app.py")
    repository = in_memory(tree.path)
    assert sorted(repository.index.manifest.paths) == ["app.py", "docs/b.md"]
    assert dict(repository.status().skipped) == {"not checked out": 3}  # README.md, lib/a.py, store.py


def test_a_linked_work_tree_is_indexed_by_itself(tree: WorkTree, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    tree.git("worktree", "add", "-q", str(linked))
    (linked / "only_here.py").write_text("def only_here(): ...\n")
    assert (linked / ".git").is_file()
    repository = Repository.open(linked / ".")
    assert repository.root == linked.resolve()
    assert "only_here.py" in list(repository.index.manifest.paths)
    assert "only_here.py" not in list(Repository.open(tree.path).index.manifest.paths)


@pytest.mark.parametrize("place", ["home", "root"])
def test_a_home_directory_and_the_file_system_are_refused_unless_forced(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "me"
    home.mkdir()
    (home / "a.py").write_text("x = 1\n")
    monkeypatch.setenv("HOME", str(home))
    with pytest.raises(RefusedRoot):
        Repository.open(home if place == "home" else Path("/"), exact_root=True)
    if place == "home":
        assert Repository.open(home, exact_root=True, force=True).info().files == 1


def with_submodule(tree: WorkTree, tmp_path: Path) -> None:
    library = WorkTree(tmp_path / "library")
    library.write("lib.py", "def borrowed(): ...\n")
    library.commit()
    tree.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.path), "vendored_lib")
    tree.write("app.py", "from vendored_lib.lib import borrowed\n\n\ndef checkout():\n    borrowed()\n")
    tree.commit()


def opened(tree: WorkTree, submodules: bool | None = None) -> Repository:
    return Repository.open(tree.path, exact_root=True, options=IndexOptions(submodules=submodules))


def borrows(repository: Repository) -> bool:
    return any(edge.target == "vendored_lib/lib.py::borrowed" for edge in repository.edges(kinds=("calls",)))


@pytest.mark.slow
def test_the_index_remembers_that_submodules_are_wanted(tree: WorkTree, tmp_path: Path) -> None:
    with_submodule(tree, tmp_path)
    assert not borrows(opened(tree))
    assert borrows(opened(tree, submodules=True))
    assert borrows(opened(tree))
    tree.write("store.py", "def changed(): ...\n")
    assert borrows(opened(tree))
    (tree.path / "vendored_lib" / "lib.py").write_text("def lent(): ...\n")
    assert not borrows(opened(tree))
    assert not [path for path in opened(tree, submodules=False).index.manifest.paths if "vendored_lib" in path]
    assert not [path for path in opened(tree).index.manifest.paths if "vendored_lib" in path]


def test_the_wish_is_kept_where_there_is_no_submodule_yet(tree: WorkTree, tmp_path: Path) -> None:
    opened(tree)
    assert opened(tree, submodules=True).index.submodules
    with_submodule(tree, tmp_path)
    assert borrows(opened(tree))


@pytest.mark.slow
def test_the_command_line_asks_for_submodules(tree: WorkTree, tmp_path: Path) -> None:
    with_submodule(tree, tmp_path)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "causalist", *arguments, "--repo", str(tree.path)]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout

    assert "1 submodule" in run("index")
    assert "submodule" not in run("index", "--submodules")
    assert "vendored_lib/lib.py::borrowed" in run("callees", "app.py::checkout")
    assert "1 submodule" in run("index", "--no-submodules")
