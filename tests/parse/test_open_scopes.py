"""Which variable a name means, and the text of token calls and use trees, at their edges."""

import pytest

from causalist.parse.syntax.arguments import callee_before
from causalist.parse.syntax.imports import read_use_tree
from causalist.parse.syntax.open_scopes import ShadowedNames


def test_a_variable_is_visible_after_its_statement_to_the_end_of_its_block() -> None:
    shadows = ShadowedNames()
    assert shadows.bind(0, "x", 5, 100) == "x'1"  # a parameter: to the end of the function
    shadows.on_block(10, 60)
    shadows.on_statement(30)
    assert shadows.bind(0, "x", 20, 100) == "x'2"
    found = [shadows.own_name(0, "x", at) for at in (4, 5, 25, 29, 30, 59, 60, 99, 100)]
    assert found == ["x", "x'1", "x'1", "x'1", "x'2", "x'2", "x'1", "x'1", "x"]
    assert shadows.own_name(1, "x", 40) == "x"  # another function
    assert shadows.own_chain(0, "x().y.z()", 40) == "x'2().y.z()"
    assert shadows.own_chain(0, "y.x", 40) == "y.x"


def test_a_loop_variable_is_not_visible_in_what_is_looped_over() -> None:
    shadows = ShadowedNames()
    shadows.on_block(0, 50)
    own = shadows.bind(0, "x", 4, 100)
    shadows.postpone(0, own, 20)
    assert [shadows.own_name(0, "x", at) for at in (4, 19, 20, 49, 50)] == ["x", "x", "x'1", "x'1", "x"]


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("a", [("", "a", "a")]),
        ("::a::b", [("a", "b", "b")]),
        ("a::b as c", [("a", "b", "c")]),
        ("a::*", [("a", "*", "")]),
        ("*", [("", "*", "")]),
        ("{a, b::c}", [("", "a", "a"), ("b", "c", "c")]),
        ("a::{b::{self as d, c}, e}, f", [("a", "b", "d"), ("a.b", "c", "c"), ("a", "e", "e"), ("", "f", "f")]),
        ("a::{b, /* c, */ d, // e\n}", [("a", "b", "b"), ("a", "d", "d")]),
        ("T as _", [("", "T", "_")]),
        ("a::r#type", [("a", "type", "type")]),
        ("}}{,as", []),
        ("", []),
        ("a::{{{b", [("a", "b", "b")]),
    ],
)
def test_leaves_of_use_trees(text: str, leaves: list[tuple[str, str, str]]) -> None:
    assert [tuple(leaf) for leaf in read_use_tree(text)] == leaves


@pytest.mark.parametrize(
    ("text", "chain"),
    [
        ("a(", "a"),
        ("x, a::b (", "a.b"),
        ("$crate::go(", "$crate.go"),
        ("x[0].go(", "?.go"),
        ("0..go(", "go"),
        ("vec![", "vec!"),
        ("a::b! {", "a.b!"),
        ("a[", ""),
        ("struct A(", ""),
        ("$f(", ""),
        ("1(", ""),
        ("(", ""),
        ("", ""),
    ],
)
def test_what_a_bracket_among_tokens_calls(text: str, chain: str) -> None:
    assert callee_before(text.encode(), max(len(text) - 1, 0))[1] == chain
