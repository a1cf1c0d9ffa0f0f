"""Ids: what they are made of can be read from them again."""

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from causalist.model.node_ids import (
    NodeKind,
    Role,
    escape_path,
    external_id,
    file_id,
    section_id,
    split_id,
    symbol_id,
    unescape_path,
)

# Few characters, so that paths look like escapes of one another.
paths = st.text("%#:/.a235A", min_size=1, max_size=12) | st.text(st.characters(), min_size=1, max_size=12)
names = st.from_regex(r"[a-z_]\w{0,4}(\.[a-z_]\w{0,4}){0,2}", fullmatch=True)


@pytest.mark.slow
@given(paths)
@example("%3A%3A")
@example("%253A%23#::")
@example(":::")
def test_escaping_a_path_can_be_undone(path: str) -> None:
    escaped = escape_path(path)
    assert unescape_path(escaped) == path
    assert "#" not in escaped
    assert "::" not in escaped


@pytest.mark.slow
@given(paths, paths)
def test_two_paths_never_have_one_id(one: str, other: str) -> None:
    assert (file_id(one) == file_id(other)) == (one == other)


@given(paths, names)
def test_ids_are_split_into_what_they_were_made_of(path: str, name: str) -> None:
    assume(not path.startswith("external:"))
    assert split_id(file_id(path)) == (path, None)
    assert split_id(section_id(path, "how-to-start")) == (path, None)
    assert split_id(section_id(path, name)) == (path, None)
    if not path.endswith(":"):
        assert split_id(symbol_id(path, name)) == (path, name)


def test_a_path_that_ends_with_a_colon_is_a_known_gap() -> None:
    """`a:` and `f` should come back; the colon of the path goes to the symbol."""
    assert split_id(symbol_id("a:", "f")) == ("a", ":f")


def test_a_file_that_is_called_like_an_external_is_a_known_gap() -> None:
    """A file may be named `external:os`; its id is that of the package `os`."""
    assert file_id("external:os") == external_id("os")


@pytest.mark.parametrize(
    ("node", "path", "symbol"),
    [
        ("src/auth.py::Session.verify", "src/auth.py", "Session.verify"),
        ("src/auth.py::verify~2", "src/auth.py", "verify~2"),
        ("a%23b/50%25%3A%3Ax.py::f", "a#b/50%::x.py", "f"),
        ("README.md#usage~2", "README.md", None),
        ("src/auth.py#doc:Session.verify", "src/auth.py", None),
        ("external:os", "", None),
    ],
)
def test_ids_as_the_design_writes_them(node: str, path: str, symbol: str | None) -> None:
    assert split_id(node) == (path, symbol)


def test_labels_are_the_words_of_the_design() -> None:
    assert " ".join(kind.label for kind in NodeKind) == (
        "file namespace class interface struct enum trait function method field constant type macro passage entity "
        "external handler"
    )
    assert " ".join(role.label for role in Role) == "code test docs example config generated vendored migration"


def test_numbers_of_kinds_and_roles_are_what_index_files_hold() -> None:
    """A number that changes its meaning makes every index on disk wrong."""
    assert [int(kind) for kind in NodeKind] == list(range(17))
    assert [int(role) for role in Role] == list(range(8))
