"""The walk obeys ignore files as git does; git itself is the judge."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causalist.source import scan_folder
from causalist.source.exclusion import Ignores
from tests.trials import count_of

FILES = (
    *("a.py", "b.txt", "#note", "!bang", "x y.py", "trail ", "line\nfeed", "A.PY", "é.py", "[b]", "a\\b"),
    *("a/a.py", "a/b/c.py", "a/b/keep", "a/keep/secret/x.py", "keep/secret/x.py", "secret/keep/x.py", "secret/y"),
    *("lib/a/b.py", "lib/b/a/c.txt", "lib/line\nfeed/a.py", "foo/bar/baz/1.py", "foo/2.py", "foo/bar/3.txt", "b/b/b/b"),
)

TABLE = (
    *(
        "*.py",
        "/*.py",
        "a",
        "a/",
        "/a",
        "a/b",
        "a/b/",
        "**/b",
        "a/**",
        "a/**/c.py",
        "**",
        "**/",
        "*/",
        "*",
        "/*",
        "lib/**/",
    ),
    *(
        "\\#note",
        "#note",
        "\\!bang",
        "!bang",
        "x y.py",
        "trail ",
        "trail\\ ",
        "*\\",
        "line*",
        "line?feed",
        "[ab]*",
        "[!a]*",
    ),
    *(
        "[^a]*",
        "[a-",
        "\\[b]",
        "[[:alpha:]]",
        "a\\\\b",
        "/",
        "//",
        "!",
        "",
        " ",
        "***",
        "a//",
        "./a",
        "é*",
        "*.PY",
        "b?*",
    ),
    *(
        "*\n!*.py",
        "*\n!*/\n!*.py",
        "secret/\n!keep/",
        "a\n!a/b",
        "/*\n!/a",
        "a/*\n!a/b/",
        "a/*\n!a/b/\na/b/*\n!a/b/keep",
    ),
    *(
        "*/\n!b/",
        "/a/b\n!*/",
        "foo/*\n!foo/bar/",
        "foo/**\n!foo/bar/\n!foo/bar/baz/",
        "*.py\r\nb\r\n",
        "\ufeffa.py",
        "a\tb\t",
    ),
)

_PART = st.sampled_from(["a", "b", "foo", "*", "**", "?", "*.py", "[ab]", "[!a]", "keep", "secret", "b*", "\\a", "lib"])
_PATTERN = st.builds(
    lambda sign, lead, parts, tail: sign + lead + "/".join(parts) + tail,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/"]),
    st.lists(_PART, min_size=1, max_size=3),
    st.sampled_from(["", "", "/", " "]),
)
_IGNORE_FILE = st.lists(_PATTERN, max_size=5).map("\n".join)


def check(folder_type: Any, ignore_files: dict[str, str]) -> None:
    """Scans the same files with git and without."""
    with tempfile.TemporaryDirectory() as name:
        folder = folder_type(Path(name) / "folder").init()
        folder.write_all(dict.fromkeys(FILES, ""))
        folder.write_all({f"{where}/.gitignore".lstrip("/"): text for where, text in ignore_files.items()})
        by_git = [entry.path for entry in scan_folder(folder.path).entries]
        shutil.rmtree(folder.path / ".git")
        assert [entry.path for entry in scan_folder(folder.path).entries] == by_git


@pytest.mark.parametrize("patterns", TABLE)
def test_walk_agrees_with_git_on_known_forms(folder_type: Any, patterns: str) -> None:
    check(folder_type, {"": patterns})


@pytest.mark.parametrize(
    "files",
    [
        {"": "*.py\n", "a": "!*.py\n", "a/b": "*.py\n"},
        {"": "a/b/c.py\n", "a": "!b/\n!b/c.py\n"},
        {"a": "/keep\nb/\n", "lib": "a\n"},
        {"": "keep/\n", "a/keep": "!*\n"},
        {"foo": "*\n!bar/\n", "foo/bar": "!3.txt\n"},
    ],
)
def test_walk_agrees_with_git_on_several_levels(folder_type: Any, files: dict[str, str]) -> None:
    check(folder_type, files)


@pytest.mark.slow
@settings(max_examples=count_of(25, 60), deadline=None)
@given(top=_IGNORE_FILE, inner=_IGNORE_FILE)
def test_walk_agrees_with_git_on_drawn_patterns(folder_type: Any, top: str, inner: str) -> None:
    check(folder_type, {"": top, "a": inner})


def test_known_gap_a_slash_in_brackets_is_taken_for_a_level() -> None:
    # To git "[a/b]" is one bracket and ignores "a" and "b"; pathspec splits at the slash first.
    assert not Ignores().entering("", b"[a/b]\n").is_ignored("a", is_folder=False)


def test_unreadable_patterns_leave_the_others_in_force() -> None:
    rules = Ignores().entering("", b"[z-a]\n\xff\xfe\n***/[\n!\n//\n*.log\n")
    assert rules.is_ignored("a.log", is_folder=False)
    assert not rules.is_ignored("a.py", is_folder=False)
