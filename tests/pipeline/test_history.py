"""The past of a repository in its index: read once, never from elsewhere, and without what must not be shown."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from causalist._internal.forked_task import CAN_FORK
from causalist.index import collect
from causalist.index import history as history_module
from causalist.index.options import IndexOptions
from causalist.model.index import Commits
from causalist.pipeline.repository import Repository
from causalist.rank import history_terms, similar_commit_scores, similar_commits
from causalist.rank.terms import terms_of
from causalist.store import FOLDER, INDEX_NAME, read_index
from tests.indexes import differences, without_stamps
from tests.pasts import Past
from tests.pipeline.sample import in_memory

_TOKEN = "ghp_" + "a8Kd02LmQx7TzR4vYb1NcW9sEh3UjP6fGi5o"


@pytest.fixture
def past(tmp_path: Path) -> Past:
    made = Past(tmp_path / "project")
    made.write({".gitignore": ".causalist\n"})
    made.commit("begin", {"app.py": "def run():\n    pass\n", "store.py": "def save():\n    pass\n"})
    made.commit("Retry when the disk is full", {"store.py": "def save():\n    return 1\n"}, time=10)
    return made


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the commits that are read."""
    names: list[str] = []
    whole = history_module.read_changes

    def watched(root, wanted):
        names.extend(wanted)
        return whole(root, wanted)

    monkeypatch.setattr(history_module, "read_changes", watched)
    return names


def messages_like(repository: Repository, *words: str) -> dict[str, float]:
    past = repository.index.history
    terms = {term: 1.0 for word in words for term in terms_of(word)}
    scores = similar_commit_scores(history_terms(terms, past), past, len(repository.index.graph.nodes))
    return {repository.index.graph.nodes.ids[n]: float(scores[n]) for n in np.flatnonzero(scores).tolist()}


def check_fresh(repository: Repository) -> None:
    again = in_memory(repository.root)
    assert differences(without_stamps(repository.index), without_stamps(again.index)) == []


def test_a_word_that_only_a_message_says_leads_to_the_file(past: Past) -> None:
    repository = Repository.open(past.path)
    assert messages_like(repository, "disk") == {"store.py": 1.0}
    history = repository.index.history
    assert similar_commits(history_terms({"disk": 1.0}, history), history, int(history.nodes[2]), 3) == [past.head()]
    stored = read_index(past.path / FOLDER / INDEX_NAME)
    assert stored is not None
    assert differences(stored.history, history) == []
    assert not stored.history.files.flags.owndata, "arrays are mapped, not copied"


def test_a_refresh_reads_new_commits_only(past: Past, read: list[str]) -> None:
    first = past.head()
    Repository.open(past.path)
    assert read == [first]
    read.clear()
    past.write({"app.py": "def run():\n    return 2\n"})
    check = Repository.open(past.path)
    assert read == [], "an edit is no commit"
    new = past.commit("Stop early", {}, time=20)
    check = Repository.open(past.path)
    assert read == [new]
    assert messages_like(check, "early") == {"app.py": 1.0}
    check_fresh(check)


@pytest.mark.slow
def test_an_amended_commit_and_another_branch_replace_what_was_read(past: Past) -> None:
    Repository.open(past.path)
    past.git("commit", "-q", "--amend", "-m", "Save twice", time=30)
    amended = Repository.open(past.path)
    assert messages_like(amended, "disk") == {}
    assert messages_like(amended, "twice") == {"store.py": 1.0}
    check_fresh(amended)
    past.git("checkout", "-q", "-b", "side", "HEAD~1")
    past.commit("Run in the background", {"app.py": "def run():\n    return 3\n"}, time=40)
    side = Repository.open(past.path)
    assert messages_like(side, "twice", "background") == {"app.py": 1.0}
    check_fresh(side)
    past.git("rebase", "-q", "main", time=50)
    rebased = Repository.open(past.path)
    assert set(messages_like(rebased, "twice", "background")) == {"app.py", "store.py"}
    check_fresh(rebased)


def test_other_branches_tags_and_the_future_change_nothing(past: Past) -> None:
    before = Repository.at_commit(past.path, past.head())
    commit = past.head()
    past.commit("Later: tidy up", {"app.py": "x = 1\n"}, time=60)
    past.git("tag", "later")
    past.git("checkout", "-q", "--orphan", "unrelated")
    past.commit("Unrelated", {"app.py": "y = 1\n"}, time=70)
    assert differences(Repository.at_commit(past.path, commit).index, before.index) == []


def test_the_history_of_a_commit_is_that_of_its_checkout(past: Past) -> None:
    opened, snapshot = Repository.open(past.path), Repository.at_commit(past.path, past.head())
    assert differences(opened.index.history, snapshot.index.history) == []
    parent = Repository.at_commit(past.path, "HEAD~1", known=snapshot.index)
    assert differences(parent.index.history, Repository.at_commit(past.path, "HEAD~1").index.history) == []


def test_a_file_that_was_moved_keeps_its_past(past: Past) -> None:
    past.git("mv", "store.py", "disk.py")
    past.commit("Move", {}, time=80)
    assert messages_like(Repository.open(past.path), "full") == {"disk.py": 1.0}


def test_a_deepened_clone_is_read_again(past: Past, tmp_path: Path, read: list[str]) -> None:
    past.commit("Stop early", {"app.py": "def run():\n    return 2\n"}, time=20)
    past.git("clone", "-q", "--depth=1", f"file://{past.path}", str(tmp_path / "clone"))
    clone = tmp_path / "clone"
    assert messages_like(Repository.open(clone), "disk", "early") == {}
    subprocess.run(["git", "fetch", "-q", "--unshallow"], cwd=clone, check=True)
    (clone / "app.py").write_text("def run():\n    return 5\n")
    deep = Repository.open(clone)
    assert set(messages_like(deep, "disk", "early")) == {"app.py", "store.py"}
    check_fresh(deep)


def test_no_secret_of_a_message_is_kept(past: Past) -> None:
    past.commit(f"Drop the leaked token {_TOKEN}", {"app.py": "x = 2\n"}, time=90)
    repository = Repository.open(past.path)
    assert messages_like(repository, "leak") == {"app.py": 1.0}
    held = (past.path / FOLDER / INDEX_NAME).read_bytes()
    assert _TOKEN.lower().encode() not in held.lower()
    assert not [term for term in repository.index.history.commits.terms if term in _TOKEN.lower() and len(term) > 6]


def test_without_git_or_commits_there_is_no_history(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "app.py").write_text("x = 1\n")
    empty = Past(tmp_path / "empty")
    empty.write({"app.py": "x = 1\n"})
    for folder in (plain, empty.path):
        repository = Repository.open(folder)
        assert repository.notes == ()
        assert len(repository.index.history.commits) == 0
        assert messages_like(repository, "x") == {}


@pytest.mark.slow
def test_it_is_read_beside_where_several_processes_parse(
    past: Past, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collect, "_PARALLEL_THRESHOLD_BYTES", 0)
    monkeypatch.setattr(collect, "_PAIR_THRESHOLD_BYTES", 0)
    repository = Repository.open(past.path, options=IndexOptions(processes=2))
    assert messages_like(repository, "disk") == {"store.py": 1.0}
    assert len(read) == (0 if CAN_FORK else 2)
    check_fresh(repository)
    read.clear()
    past.commit("Save twice", {"store.py": "def save():\n    return 2\n"}, time=20)
    Repository.open(past.path, options=IndexOptions(processes=2))
    assert len(read) == 1, "one commit is read here"


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_a_history_that_cannot_be_read_is_told(past: Past, processes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collect, "_PARALLEL_THRESHOLD_BYTES", 0)
    tree = past.git("rev-parse", "HEAD~1^{tree}")
    (past.path / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    repository = Repository.open(past.path, options=IndexOptions(processes=processes))
    assert [note.slug for note in repository.notes] == ["history-unreadable"]
    assert differences(repository.index.history.commits, Commits()) == []
    assert "store.py::save" in list(repository.index.graph.nodes.ids)
    past.write({"app.py": "x = 3\n"})
    assert [note.slug for note in Repository.open(past.path).notes] == ["history-unreadable"], "it is tried again"
