"""Each text belongs to the innermost definition around it, and to nothing else."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalist.model.facts import FileFacts
from causalist.parse import parse_file
from causalist.parse.words import count_words
from tests.parse.facts_of import facts_of


def words_of(facts: FileFacts, document: int) -> dict[str, int]:
    return {facts.words[c.word]: c.n for c in facts.counts if c.document == document}


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


@st.composite
def nested_spans(draw: st.DrawFn) -> tuple[bytes, list[tuple[int, int]]]:
    data = " ".join(draw(st.lists(st.sampled_from(["a", "bb", "é", "_x", "7"]), max_size=30))).encode()
    cuts = [i for i in range(len(data) + 1) if data[i : i + 1] in (b" ", b"")]
    spans: list[tuple[int, int]] = []

    def divide(low: int, high: int, depth: int) -> None:
        inside = [c for c in cuts if low <= c <= high]
        if depth > 3 or len(inside) < 2:
            return
        for start, end in zip(inside[::2], inside[1::2], strict=False):
            if draw(st.booleans()):
                spans.append((start, end))
                divide(start + 1, end - 1, depth + 1)

    divide(0, len(data), 0)
    return data, spans


@given(nested_spans())
def test_documents_sum_up_to_the_whole(case: tuple[bytes, list[tuple[int, int]]]) -> None:
    data, spans = case
    words, counts = count_words(data, spans)
    total: Counter[str] = Counter()
    for count in counts:
        total[words[count.word]] += count.n
    assert total == Counter(re.findall(r"\w+", data.decode()))
    assert list(words) == sorted(set(words))
    for i, (start, end) in enumerate(spans):
        own = sum(c.n for c in counts if c.document == i)
        nested = [(s, e) for s, e in spans if start <= s and e <= end]
        within = sum(c.n for c in counts if c.document >= 0 and spans[c.document] in nested)
        assert own <= within == len(re.findall(r"\w+", data[start:end].decode()))
