"""What git says of commits: which files each changed and moved, whatever names and messages look like."""

import subprocess
from pathlib import Path
from typing import IO

import pytest

from causalist.errors import GitError
from causalist.model.index import CommitChange
from causalist.source import commits as history_module
from causalist.source import is_shallow, list_ancestors, read_changes
from tests.pasts import Past


@pytest.fixture
def past(tmp_path: Path) -> Past:
    made = Past(tmp_path / "past")
    made.commit("begin", {"a.py": "a = 1\n", "lib/b.py": "b = 1\n", "lib/c.py": "c = 1\n"})
    return made


def changes(past: Past, revision: str = "HEAD") -> list[CommitChange]:
    return list(read_changes(past.path, list_ancestors(past.path, past.git("rev-parse", revision))))


def test_a_commit_names_what_it_added_and_modified(past: Past) -> None:
    name = past.commit("Add d, change a, drop c", {"a.py": "a = 2\n", "d.py": "d\n", "lib/c.py": None}, time=7)
    (found,) = changes(past)
    # The file that is gone counts, and has nothing to say any more.
    assert found == CommitChange(name, 1_700_000_007, "Add d, change a, drop c", ("a.py", "d.py"), (), 3)


def test_the_first_commit_and_merges_say_nothing(past: Past) -> None:
    past.git("checkout", "-q", "-b", "side")
    side = past.commit("on the side", {"lib/b.py": "b = 2\n"}, time=1)
    past.git("checkout", "-q", "main")
    main = past.commit("on main", {"a.py": "a = 2\n"}, time=2)
    past.git("merge", "-q", "--no-ff", "-m", "merge it", "side", time=3)
    assert [change.name for change in changes(past)] == [main, side]


def test_only_ancestors_count(past: Past) -> None:
    first = past.commit("one", {"a.py": "a = 2\n"}, time=1)
    later = past.commit("two", {"a.py": "a = 3\n"}, time=2)
    past.git("branch", "other")
    past.git("tag", "v1")
    past.git("reset", "-q", "--hard", first)
    assert [change.name for change in changes(past)] == [first]
    assert [change.name for change in changes(past, "other")] == [later, first]


def test_a_commit_without_changes_is_known_as_one(past: Past) -> None:
    name = past.commit("nothing", {})
    assert changes(past) == [CommitChange(name, 0, "", (), (), 0)]


def test_moves_are_renames_even_with_changes_on_the_way(past: Past) -> None:
    past.write({"lib/b.py": None, "lib/c.py": None})
    past.commit("Move", {"src/b.py": "b = 1\n", "src/c.py": "something else altogether\n"})
    (found,) = changes(past)
    assert found.renames == (("lib/b.py", "src/b.py"), ("lib/c.py", "src/c.py"))
    assert found.files == ("src/b.py", "src/c.py")


def test_of_two_files_of_one_name_none_is_said_to_have_moved(past: Past) -> None:
    past.commit("more", {"x/same.py": "1\n" * 9, "y/same.py": "2\n" * 9})
    past.write({"x/same.py": None, "y/same.py": None})
    past.commit("where to?", {"z/same.py": "3\n" * 9})
    assert changes(past)[0].renames == ()
    assert changes(past)[0].files == ("z/same.py",)


def test_a_mass_edit_names_no_file_but_what_it_moved(past: Past) -> None:
    n = history_module.MAX_FILES
    past.write({"a.py": None})
    past.commit("Format", {"moved/a.py": "a = 1\n"} | {f"f{i}.py": f"{i}\n" for i in range(n)})
    (found,) = changes(past)
    assert (found.files, found.n_files) == ((), n + 1)
    assert found.renames == (("a.py", "moved/a.py"),)
    past.commit("Just below", {f"f{i}.py": f"new {i}\n" for i in range(n)}, time=1)
    assert len(changes(past)[0].files) == n


def test_no_more_commits_than_the_bound(past: Past, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [past.commit(f"{i}", {"a.py": f"a = {i}\n"}, time=i) for i in (2, 3, 4)]
    monkeypatch.setattr(history_module, "MAX_COMMITS", 2)
    assert [change.name for change in changes(past)] == [names[2], names[1]]


@pytest.mark.parametrize("message", [
    "", "\n\n", "\x01" + "0" * 40, "M\na.py\n\nA\nlie.py", ":100644 100644 M\tlie.py", "ünïcödé ✓", "%H%x00%B",
])  # fmt: skip
def test_no_message_is_taken_for_something_else(past: Past, message: str) -> None:
    name = past.commit(message, {"a.py": "a = 2\n"}, time=5)
    (found,) = changes(past)
    assert (found.name, found.files, found.n_files) == (name, ("a.py",), 1)
    assert found.message == message.strip()


def test_no_name_is_taken_for_something_else(past: Past) -> None:
    names = ("\x01" + "0" * 40, "two\nlines.py", "M", ' "quoted".py', "grün.py", "-n")
    past.commit("odd", {name: f"{name}\n" for name in names})
    (found,) = changes(past)
    assert found.files == tuple(sorted(names))


def test_a_long_message_is_cut_and_one_in_another_encoding_is_read(past: Past) -> None:
    past.commit("word " * 2000, {"a.py": "a = 2\n"})
    assert len(changes(past)[0].message) == 4000
    past.write({"a.py": "a = 3\n"})
    past.git("add", "-A")
    subprocess.run(
        ["git", "-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "i18n.commitEncoding=ISO-8859-1",
         "commit", "-q", "-F", "-"], cwd=past.path, input="grün".encode("latin-1"), check=True,
    )  # fmt: skip
    assert changes(past)[0].message == "grün"


def test_a_folder_of_a_repository_has_what_happened_in_it(past: Past) -> None:
    past.commit("both", {"a.py": "a = 2\n", "lib/b.py": "b = 2\n"}, time=1)
    past.write({"a.py": None})
    past.commit("in", {"lib/a.py": "a = 2\n"}, time=2)
    names = list_ancestors(past.path / "lib", past.head())
    assert [(c.files, c.renames, c.n_files) for c in read_changes(past.path / "lib", names)] == [
        (("a.py",), (), 1),
        (("b.py",), (), 2),
    ]


def test_a_shallow_clone_knows_no_more_than_it_has(past: Past, tmp_path: Path) -> None:
    names = [past.commit(f"{i}", {"a.py": f"a = {i}\n"}, time=i) for i in (2, 3, 4)]
    past.git("clone", "-q", "--depth=2", f"file://{past.path}", str(tmp_path / "shallow"))
    shallow = tmp_path / "shallow"
    assert is_shallow(shallow)
    assert not is_shallow(past.path)
    # The older of the two was cut off from its parent: it would seem to add every file.
    assert [c.name for c in read_changes(shallow, list_ancestors(shallow, names[2]))] == [names[2]]


def test_a_clone_without_blobs_has_the_same_history(past: Past, tmp_path: Path) -> None:
    past.write({"lib/b.py": None})
    past.commit("move", {"src/b.py": "b = 1\nb = 2\n"})
    past.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "partial"
    past.git("clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{past.path}", str(clone))
    assert list(read_changes(clone, list_ancestors(clone, past.head()))) == changes(past)


def test_linked_work_trees_and_bare_repositories_have_the_history_of_their_head(past: Past, tmp_path: Path) -> None:
    first = past.commit("one", {"a.py": "a = 2\n"}, time=1)
    past.commit("two", {"a.py": "a = 3\n"}, time=2)
    past.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"), first)
    past.git("clone", "-q", "--bare", str(past.path), str(tmp_path / "bare"))
    for place in (tmp_path / "linked", tmp_path / "bare", past.path / ".git"):
        (found,) = read_changes(place, list_ancestors(place, first))
        assert (found.name, found.files) == (first, ("a.py",))


@pytest.mark.parametrize("setting", [
    ("log.showSignature", "true"), ("diff.renames", "copies"), ("diff.noprefix", "true"), ("diff.relative", "true"),
    ("core.quotepath", "true"), ("i18n.logOutputEncoding", "UTF-16"), ("format.pretty", "oneline"),
    ("diff.external", "touch ran"), ("color.ui", "always"), ("diff.ignoreSubmodules", "all"),
])  # fmt: skip
def test_no_setting_of_the_repository_changes_what_is_read(past: Past, setting: tuple[str, str]) -> None:
    past.write({"a.py": None})
    past.commit("grün", {"lib/grün.py": "a = 1\n", "lib/b.py": "b = 2\n"})
    before = changes(past)
    past.git("config", *setting)
    assert changes(past) == before
    assert not (past.path / "ran").exists()


def test_notes_and_replaced_commits_do_not_count(past: Past) -> None:
    name = past.commit("true", {"a.py": "a = 2\n"}, time=1)
    before = changes(past)
    past.git("notes", "add", "-m", "a note", name)
    past.commit("false", {"lib/b.py": "b = 3\n"}, time=2)
    other = past.head()
    past.git("reset", "-q", "--hard", name)
    past.git("replace", name, other)
    assert changes(past) == before


def test_an_unknown_commit_is_an_error(past: Past) -> None:
    with pytest.raises(GitError, match="rev-list failed"):
        list_ancestors(past.path, "0" * 40)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("room", ["full", "none"])
def test_without_room_for_a_file_the_history_is_read_all_the_same(
    past: Past, room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    past.commit("Change a", {"a.py": "a = 2\n"})
    expected = changes(past)
    assert len(expected) == 1
    asked = []

    def file() -> IO[bytes]:
        asked.append(room)
        if room == "none":
            raise OSError(28, "No space left on device")
        return Path("/dev/full").open("r+b", buffering=0)

    monkeypatch.setattr(history_module, "unnamed_file", file)
    assert changes(past) == expected
    assert asked
