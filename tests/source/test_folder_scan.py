"""What a folder offers, inside and outside of git."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from causalist.errors import GitError, RepositoryNotFound
from causalist.model.source import Scan
from causalist.source import Limits, scan_folder

ODD_NAMES = (
    "with space.py",
    "line\nfeed.py",
    "a#b.py",
    "100%.py",
    "a::b.py",
    "ünïcode.py",
    "-dash.py",
    '"q".py',
    "\\.py",
)


def paths(scan: Scan) -> list[str]:
    return [entry.path for entry in scan.entries]


@pytest.fixture(params=["git", "walk"])
def place(request: pytest.FixtureRequest, make_folder: Callable[[str], Any]) -> Any:
    """The same folder under git and without."""
    folder = make_folder("place")
    return folder.init() if request.param == "git" else folder


def test_entries_are_sorted_and_carry_metadata(place: Any) -> None:
    place.write_all({"b/z.py": "xyz", "a.py": "", "b.py": "1"})
    entries = scan_folder(place.path).entries
    assert [(entry.path, entry.size, entry.blob) for entry in entries] == [
        ("a.py", 0, None),
        ("b.py", 1, None),
        ("b/z.py", 3, None),
    ]
    assert entries[2].mtime_ns == (place.path / "b/z.py").stat().st_mtime_ns


def test_odd_names_come_back_as_they_are(place: Any) -> None:
    place.write_all(dict.fromkeys(ODD_NAMES, "x"))
    assert paths(scan_folder(place.path)) == sorted(ODD_NAMES)


def test_a_name_that_is_no_utf8_is_counted_and_shown_escaped(place: Any) -> None:
    place.write_all({"ok": "x"})
    (Path(os.fsdecode(os.fsencode(place.path) + b"/caf\xe9.py"))).write_text("x")
    scan = scan_folder(place.path)
    assert paths(scan) == ["ok"]
    assert scan.examples == {"undecodable name": ("caf\\xe9.py",)}


def test_links_are_skipped_wherever_they_lead(place: Any, tmp_path: Path) -> None:
    place.write_all({"src/a.py": "x"})
    (tmp_path / "outside.py").write_text("x")
    links = {
        "inside.py": "src/a.py",
        "folder": "src",
        "up.py": "../outside.py",
        "root": "/",
        "self": "self",
        "to": "fro",
    }
    links |= {"fro": "to", "src/circle": "..", "nowhere.py": "missing.py"}
    for name, target in links.items():
        (place.path / name).symlink_to(target)
    scan = scan_folder(place.path)
    assert paths(scan) == ["src/a.py"]
    assert scan.skipped == {"link": 7, "link outside": 2}
    assert scan.examples["link outside"] == ("root", "up.py")
    leading = {"folder": "src", "fro": "to", "inside.py": "src/a.py", "nowhere.py": "missing.py", "to": "fro"}
    assert scan.links == tuple(leading.items())


def test_a_link_is_known_with_where_it_leads_below_the_root(place: Any) -> None:
    place.write_all({"src/lib/a.py": "x"})
    links = {
        "src/near": "lib",
        "src/up": "../src/lib/",
        "src/away": str(place.path / "src" / "lib"),
        "src/lib/over": "..",
        "src/turning": "near/../lib",
    }
    for name, target in links.items():
        (place.path / name).symlink_to(target)
    assert scan_folder(place.path).links == (("src/away", "src/lib"), ("src/near", "src/lib"), ("src/up", "src/lib"))


def test_a_link_to_a_neighbour_with_the_same_beginning_is_outside(
    place: Any, make_folder: Callable[[str], Any]
) -> None:
    make_folder("place-two").write_all({"a.py": "x"})
    (place.path / "link.py").symlink_to("../place-two/a.py")
    assert scan_folder(place.path).skipped == {"link outside": 1}


def test_causalistignore_applies_at_every_level_and_counts_a_folder_once(place: Any) -> None:
    place.write_all({".causalistignore": "*.sql\n/data/\n", "a.sql": "x", "data/1.py": "x", "data/2.py": "x"})
    place.write_all({"lib/.causalistignore": "!keep.sql\n*.gen.py\n", "lib/keep.sql": "x", "lib/b.gen.py": "x"})
    place.write_all({"c.gen.py": "x", "lib/data/3.py": "x"})
    scan = scan_folder(place.path)
    assert paths(scan) == [".causalistignore", "c.gen.py", "lib/.causalistignore", "lib/data/3.py", "lib/keep.sql"]
    assert scan.skipped == {"ignored by .causalistignore": 3}
    assert scan.examples == {"ignored by .causalistignore": ("a.sql", "data/", "lib/b.gen.py")}


def test_a_linked_ignore_file_is_not_followed(place: Any, tmp_path: Path) -> None:
    (tmp_path / "patterns").write_text("*.py\n")
    place.write_all({"a.py": "x"})
    (place.path / ".causalistignore").symlink_to("../patterns")
    assert paths(scan_folder(place.path)) == ["a.py"]


def test_nested_gitignore_with_negation(place: Any) -> None:
    place.write_all({".gitignore": "*.log\nout/\n", "a.log": "x", "out/a.py": "x", "lib/.gitignore": "!keep.log\n"})
    place.write_all({"lib/keep.log": "x", "lib/b.log": "x", "lib/deep/keep.log": "x"})
    scan = scan_folder(place.path)
    assert paths(scan) == [".gitignore", "lib/.gitignore", "lib/deep/keep.log", "lib/keep.log"]
    assert scan.skipped == {}, "what git ignores is not counted"


def test_the_index_and_git_are_never_listed_nor_counted(place: Any) -> None:
    place.write_all({"a.py": "x", ".causalist/index.json": "x", "sub/.causalist/index.json": "x"})
    scan = scan_folder(place.path)
    assert (paths(scan), scan.skipped) == (["a.py"], {})


def test_secrets_binaries_and_big_files_are_skipped_by_name_and_size(place: Any) -> None:
    place.write_all({".env": "x", ".env.example": "x", "tls/server.key": "x", "logo.PNG": "x", "yarn.lock": "x"})
    place.write_all({"exact.txt": "x" * 100, "over.txt": "x" * 101, "app.min.js": "x"})
    place.write_all({"big/yarn.lock": "x" * 101})
    scan = scan_folder(place.path, Limits(max_file_bytes=100))
    assert paths(scan) == [".env.example", "app.min.js", "exact.txt", "yarn.lock"], "set aside later"
    assert scan.skipped == {"binary": 1, "lock file": 1, "secret": 2, "too large": 1}


def test_a_line_of_five_megabytes_is_too_large(place: Any) -> None:
    place.write_all({"bundle.js": b"a" * 5_000_000, "a.js": b"1"})
    scan = scan_folder(place.path)
    assert (paths(scan), scan.examples) == (["a.js"], {"too large": ("bundle.js",)})


def test_files_beyond_the_limit_are_counted_and_the_first_by_path_stay(place: Any) -> None:
    place.write_all({f"{letter}.py": "x" for letter in "fbdace"})
    scan = scan_folder(place.path, Limits(max_files=2))
    assert paths(scan) == ["a.py", "b.py"]
    # All code among them may use what is indexed, so that all of it is listed.
    left_out = ("c.py", "d.py", "e.py", "f.py")
    assert (scan.skipped, scan.examples) == ({"too many files": 4}, {"too many files": left_out})


def test_a_forgotten_node_modules_counts_once(place: Any) -> None:
    place.write_all({"web/node_modules/x/index.js": "x", "web/node_modules/y/index.js": "x", "web/a.js": "x"})
    scan = scan_folder(place.path)
    assert (paths(scan), scan.examples) == (["web/a.js"], {"vendored": ("web/node_modules/",)})


def test_a_nested_repository_is_a_submodule(place: Any, make_folder: Callable[[str], Any]) -> None:
    place.write_all({"a.py": "x"})
    inner = make_folder("place/inner").init()
    inner.write_all({"b.py": "x"}).commit()
    scan = scan_folder(place.path)
    assert (paths(scan), scan.examples) == (["a.py"], {"submodule": ("inner",)})


def test_an_empty_folder_named_git_makes_no_repository(place: Any) -> None:
    place.write_all({"lib/a.py": "x"})
    (place.path / "lib/.git").mkdir()
    scan = scan_folder(place.path)
    assert (paths(scan), scan.skipped) == (["lib/a.py"], {})


def test_scanning_opens_no_file(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    place.write_all({f"d{i}/{i}.py": "x" for i in range(20)})
    opened: list[str] = []
    real = os.open

    def watched(path: Any, *rest: Any, **more: Any) -> int:
        opened.append(os.fsdecode(path))
        return real(path, *rest, **more)

    monkeypatch.setattr(os, "open", watched)
    assert len(scan_folder(place.path).entries) == 20
    assert [path for path in opened if path.endswith(".py")] == []


@pytest.mark.slow
def test_a_tree_deeper_than_pythons_stack(place: Any) -> None:
    where = str(place.path)
    for _ in range(1_100):
        where += "/d"
        os.mkdir(where)  # noqa: PTH102 (pathlib is recursive here)
    Path(where, "a.py").write_text("x")
    assert paths(scan_folder(place.path)) == ["d/" * 1_100 + "a.py"]
    # Nor does pytest's own clean-up get along with such a depth.
    subprocess.run(["rm", "-r", str(place.path / "d")], check=True)


def test_a_scan_is_the_same_twice(place: Any) -> None:
    place.write_all({f"{i % 7}/{i}.{suffix}": "x" for i in range(40) for suffix in ("py", "png", "pem")})
    assert scan_folder(place.path) == scan_folder(place.path)


def test_a_folder_that_may_not_be_listed_is_unreadable(ordinary_folder: Any) -> None:
    for in_git in (False, True):
        folder, drop_rights = ordinary_folder
        folder.write_all({"a.py": "x", "closed/b.py": "x"})
        if in_git:
            folder.init()
        (folder.path / "closed").chmod(0)
        try:
            drop_rights()
            scan = scan_folder(folder.path)
            assert (paths(scan), scan.examples) == (["a.py"], {"unreadable": ("closed/",)})
        finally:
            if os.getuid() == 0:
                os.seteuid(0)
            (folder.path / "closed").chmod(0o755)


# --- git only ---


def test_the_commit_is_heads_full_hash_or_none(repository: Any, folder: Any) -> None:
    repository.write_all({"a.py": "x"})
    assert scan_folder(repository.path).commit is None
    assert scan_folder(repository.path).entries != ()
    commit = repository.commit()
    assert len(commit) == 40
    assert scan_folder(repository.path).commit == commit
    assert scan_folder(folder.write_all({"a.py": "x"}).path).commit is None


def test_tracked_files_count_even_if_ignored_and_deleted_ones_do_not(repository: Any) -> None:
    repository.write_all({".gitignore": "*.gen\n", "a.gen": "x", "gone.py": "x", "node_modules/own.js": "x"}).commit()
    repository.write_all({"b.gen": "x", "new.py": "x"})
    (repository.path / "gone.py").unlink()
    scan = scan_folder(repository.path)
    assert (paths(scan), scan.skipped) == ([".gitignore", "a.gen", "new.py", "node_modules/own.js"], {})


def test_a_subfolder_as_root_gives_paths_below_it_and_obeys_the_rules_above(repository: Any) -> None:
    repository.write_all({".gitignore": "*.log\n", ".causalistignore": "/app/old/\n*.sql\n", "top.py": "x"})
    repository.write_all(
        {"app/a.py": "x", "app/b.log": "x", "app/c.sql": "x", "app/old/d.py": "x", "app/sub/e.py": "x"}
    )
    scan = scan_folder(repository.path / "app")
    assert paths(scan) == ["a.py", "sub/e.py"]
    assert scan.examples == {"ignored by .causalistignore": ("c.sql", "old/")}


def test_submodules_are_skipped_whether_checked_out_or_not(repository: Any, make_folder: Callable[[str], Any]) -> None:
    library = make_folder("library").init()
    library.write_all({"l.py": "x"}).commit()
    add = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.path))
    repository.git(*add, "present")
    repository.git(*add, "absent")
    repository.write_all({"a.py": "x"}).commit()
    repository.git("submodule", "--quiet", "deinit", "-f", "absent")
    scan = scan_folder(repository.path)
    assert paths(scan) == [".gitmodules", "a.py"]
    assert scan.examples == {"submodule": ("absent", "present")}


def test_a_file_replaced_by_a_folder_is_no_submodule(repository: Any) -> None:
    repository.write_all({"thing": "x"}).commit()
    (repository.path / "thing").unlink()
    repository.write_all({"thing/a.py": "x"})
    scan = scan_folder(repository.path)
    assert (paths(scan), scan.skipped) == (["thing/a.py"], {})


def test_what_a_sparse_checkout_leaves_out_is_counted(repository: Any) -> None:
    repository.write_all({"lib/a.py": "x", "lib/b.py": "x", "app/a.py": "x", "c.py": "x"}).commit()
    repository.git("sparse-checkout", "set", "app")
    scan = scan_folder(repository.path)
    assert paths(scan) == ["app/a.py", "c.py"]
    assert (scan.skipped, scan.examples) == ({"not checked out": 2}, {"not checked out": ("lib/a.py", "lib/b.py")})


def test_a_bare_repository_has_nothing_to_scan(repository: Any, tmp_path: Path) -> None:
    repository.write_all({"a.py": "x"}).commit()
    repository.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    with pytest.raises(RepositoryNotFound, match="bare git repository"):
        scan_folder(tmp_path / "bare.git")


def test_a_folder_replaced_by_a_link_does_not_lead_outside(repository: Any, make_folder: Callable[[str], Any]) -> None:
    repository.write_all({"lib/a.py": "x"}).commit()
    elsewhere = make_folder("elsewhere").write_all({"a.py": "stolen"})
    (repository.path / "lib/a.py").unlink()
    (repository.path / "lib").rmdir()
    (repository.path / "lib").symlink_to(elsewhere.path)
    scan = scan_folder(repository.path)
    assert (paths(scan), scan.examples) == ([], {"link outside": ("lib",)})


def test_a_conflict_lists_its_file_once(repository: Any) -> None:
    repository.write_all({"a.py": "1"}).commit()
    trunk = repository.git("symbolic-ref", "--short", "HEAD")
    repository.git("checkout", "-q", "-b", "other")
    repository.write_all({"a.py": "2"}).commit()
    repository.git("checkout", "-q", trunk)
    repository.write_all({"a.py": "3"}).commit()
    with pytest.raises(subprocess.CalledProcessError):
        repository.git("merge", "-q", "other")
    assert paths(scan_folder(repository.path)) == ["a.py"]


def test_the_environment_of_a_hook_does_not_mislead(
    repository: Any, make_folder: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_folder("other").init().write_all({"other.py": "x"})
    commit = repository.write_all({"a.py": "x"}).commit()
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.path / ".git/index"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.path))
    scan = scan_folder(repository.path)
    assert (paths(scan), scan.commit) == (["a.py"], commit)


def test_a_repository_cannot_have_its_programs_run(repository: Any, tmp_path: Path) -> None:
    repository.write_all({"a.py": "x"}).commit()
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    repository.git("config", "core.fsmonitor", str(trap))
    subprocess.run(["git", "status"], cwd=repository.path, check=True, capture_output=True)
    assert (tmp_path / "sprung").exists(), "the trap works with git as it is"
    (tmp_path / "sprung").unlink()
    assert paths(scan_folder(repository.path)) == ["a.py"]
    assert not (tmp_path / "sprung").exists()


def test_the_owner_of_a_repository_does_not_matter(ordinary_folder: Any) -> None:
    folder, drop_rights = ordinary_folder
    folder.init().write_all({"a.py": "x"})
    commit = folder.commit()
    drop_rights()
    assert scan_folder(folder.path).commit == commit


def test_names_that_the_user_hides_from_git_stay_hidden(repository: Any) -> None:
    ignore = Path(os.environ["XDG_CONFIG_HOME"]) / "git/ignore"
    ignore.parent.mkdir(parents=True)
    ignore.write_text("private.md\n")
    repository.write_all({"private.md": "x", "a.py": "x"})
    assert paths(scan_folder(repository.path)) == ["a.py"]


def test_gits_own_words_are_in_the_error(repository: Any) -> None:
    repository.write_all({"a.py": "x"}).commit()
    (repository.path / ".git/index").write_bytes(b"damaged index file, long enough")
    with pytest.raises(GitError, match=r"git ls-files failed: .*index"):
        scan_folder(repository.path)


def test_without_git_the_folder_is_walked_with_the_same_rules(repository: Any, without_git: Any) -> None:
    repository.write_all({".gitignore": "*.log\n", "a.py": "x", "b.log": "x", "app/c.py": "x", "app/d.log": "x"}).init()
    expected = scan_folder(repository.path).entries
    without_git()
    assert scan_folder(repository.path).entries == expected
    assert paths(scan_folder(repository.path / "app")) == ["c.py"]


def test_pathspec_is_not_imported_where_git_does_the_ignoring(repository: Any) -> None:
    repository.write_all({".gitignore": "*.log\n", "a.py": "x"})
    program = (
        "import sys, pathlib; from causalist.source import scan_folder;"
        "n = len(scan_folder(pathlib.Path(sys.argv[1])).entries);"
        "sys.stdout.write(f'{n} {\"pathspec\" in sys.modules}')"
    )
    run = [sys.executable, "-c", program, str(repository.path)]
    checkout = Path(__file__).parents[2]
    assert subprocess.run(run, capture_output=True, text=True, check=True, cwd=checkout).stdout == "2 False"


# --- outside of git only ---


def test_environments_and_caches_are_known_by_what_they_hold(folder: Any) -> None:
    folder.write_all({"env/pyvenv.cfg": "", "env/lib/a.py": "x", "cache/CACHEDIR.TAG": "", "cache/b.py": "x"})
    folder.write_all({"__pycache__/a.py": "", ".venv/a.py": "", "a.py": "x"})
    scan = scan_folder(folder.path)
    assert paths(scan) == ["a.py"]
    assert (scan.skipped, scan.examples["vendored"]) == ({"vendored": 4}, (".venv/", "__pycache__/", "cache/"))


def test_a_build_folder_is_one_only_beside_the_tool_that_fills_it(folder: Any) -> None:
    folder.write_all({"src/build/a.py": "x", "web/package.json": "{}", "web/dist/b.js": "x", "rust/target/c.rs": "x"})
    scan = scan_folder(folder.path)
    assert paths(scan) == ["rust/target/c.rs", "src/build/a.py", "web/package.json"]
    assert scan.examples == {"vendored": ("web/dist/",)}


def test_pipes_and_sockets_are_special(folder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.write_all({"a.py": "x"})
    os.mkfifo(folder.path / "pipe.py")
    # The path of a socket is bounded to about 100 bytes.
    monkeypatch.chdir(folder.path)
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind("socket.py")
        scan = scan_folder(folder.path)
    assert (paths(scan), scan.examples) == (["a.py"], {"special file": ("pipe.py", "socket.py")})


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RepositoryNotFound, match="cannot be listed"):
        scan_folder(tmp_path / "missing")
