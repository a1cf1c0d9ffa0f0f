"""Conditions of definitions behind `#if`."""

import pytest

from causalist.parse import parse_file


def _conditions(text: str) -> dict[str, tuple[str, ...]]:
    facts = parse_file("a.c", text.encode())
    return {facts.definitions[i].name: conditions for i, conditions in facts.conditions}


def test_branches_deny_those_before_them() -> None:
    text = """\
#if defined(A) && !defined(B)
int one(void) { return 1; }
#elif C > 1
int two(void) { return 2; }
#else
int three(void) { return 3; }
#  ifndef D
int four(void) { return 4; }
#  endif
#endif
int five(void) { return 5; }
"""
    assert _conditions(text) == {
        "one": ("A", "!B", "A&&!B"),
        "two": ("!(A&&!B)", "C>1"),
        "three": ("!(A&&!B)", "!(C>1)"),
        "four": ("!(A&&!B)", "!(C>1)", "!D"),
    }


def test_the_guard_of_a_header_is_no_condition() -> None:
    guarded = "/* x */\n#ifndef A_H\n#define A_H\nint one(void) { return 1; }\n#endif\n"
    assert _conditions(guarded) == {}
    assert _conditions(guarded.replace("#define A_H\n", "")) == {"one": ("!A_H",)}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("0", ("0",)),
        ("1", ()),
        ("(defined A || defined B) /* of both */", ("A||B",)),
        ("A \\\n && B", ("A", "B", "A&&B")),
        ("defined(A) // why", ("A",)),
    ],
)
def test_conditions_are_written_alike(condition: str, expected: tuple[str, ...]) -> None:
    assert _conditions(f"#if {condition}\nint f(void) {{ return 1; }}\n#endif\n").get("f", ()) == expected


def test_no_conditions_where_branches_do_not_pair_up() -> None:
    assert _conditions("#if A\nint f(void) { return 1; }\n") == {}
    assert _conditions("int f(void) { return 1; }\n#endif\n") == {}


def test_a_directive_in_a_remark_is_none() -> None:
    assert _conditions("// as in #if A\nint f(void) { return 1; }\n") == {}
