"""Each text belongs to the innermost definition around it, and to nothing else."""

import pytest

from causalist.parse import parse_file
from tests.model.counted import words_of
from tests.parse.facts_of import facts_of


def test_text_belongs_to_the_innermost_definition() -> None:
    facts = facts_of("alpha = 1\nclass A:\n    beta\n    def m(self):\n        gamma; gamma\n    delta\nepsilon\n")
    named = {d.qualname: i for i, d in enumerate(facts.definitions)}
    assert words_of(facts, named["A"]) == {"class": 1, "A": 1, "beta": 1, "delta": 1}
    assert words_of(facts, named["A.m"]) == {"def": 1, "m": 1, "self": 1, "gamma": 2}
    assert words_of(facts, -1) == {"epsilon": 1}


def test_fields_belong_to_their_type_and_long_runs_to_nothing() -> None:
    facts = facts_of(f"class A:\n    size = {'9' * 65}\n")
    assert words_of(facts, 0) == {"class": 1, "A": 1, "size": 1}


BODY = "{c} licence\n\n{d} outer\n{head} {{\n  {d} inner\n  {d} more\n  {mark}{m}\n  {c} loose\n\n  {n}\n}}\n"
ABOVE = [
    ("a.java", {"d": "//", "head": "class A", "mark": "@Old\n  ", "m": "void m() {}", "n": "int n() {}"}),
    ("a.ts", {"d": "//", "head": "export class A", "mark": "", "m": "m() { old }", "n": "n() {}"}),
    ("a.rs", {"d": "///", "head": "trait A", "mark": "#[old]\n  ", "m": "fn m() {}", "n": "fn n() {}"}),
    ("a.go", {"d": "//", "head": "func A()", "mark": "", "m": "type m struct{}", "n": "type n struct{}"}),
]


@pytest.mark.parametrize(("path", "text"), ABOVE)
def test_the_comment_right_above_belongs_to_the_definition(path: str, text: dict[str, str]) -> None:
    facts = parse_file(path, BODY.format(c="//", **text).encode())
    named = {d.qualname: words_of(facts, i) for i, d in enumerate(facts.definitions)}
    comments = ("licence", "outer", "inner", "more", "loose")
    told = {name: [word for word in comments if word in words] for name, words in named.items()}
    assert told == {"A": ["outer", "loose"], "A.m": ["inner", "more"], "A.n": []}
    assert "licence" in words_of(facts, -1)


def test_a_comment_above_a_line_belongs_to_its_first_definition() -> None:
    facts = parse_file("a.ts", b"// both\nclass A { m() {} }\n// pair\nconst x = () => 1, y = () => 2\n")
    assert [d.qualname for i, d in enumerate(facts.definitions) if {"both", "pair"} & set(words_of(facts, i))] == [
        "A",
        "x",
    ]
