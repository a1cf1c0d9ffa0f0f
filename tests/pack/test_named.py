"""A query of one name: the definition stands first, then its callers and its callees on one line each."""

import pytest

from causalist.model.answer import PackInput
from causalist.pack import render_pack
from tests.pack.builders import edge, item, pack_input, source_blocks


def given(query: str, n_callers: int = 2) -> PackInput:
    callers = [item(f"c{n}.py", f"run_{n}", f"run_{n}()", score=0.5 - n / 100) for n in range(n_callers)]
    return pack_input(
        *callers,
        item("parse.py", "Reader.parse_query", "def parse_query(text): ...", score=0.9),
        item("words.py", "split", "def split(text): ...", score=0.2),
        item("other.py", "parse_query_text", "def parse_query_text(): ...", score=0.1),
        edges=[
            *(edge(f"c{n}.py::run_{n}", "parse.py::Reader.parse_query", line=n + 3) for n in range(n_callers)),
            edge("parse.py::Reader.parse_query", "words.py::split", line=7),
            edge("parse.py::Reader.parse_query", "words.py::split", "references", line=8),
        ],
        query=query,
    )


def heads(text: str) -> list[str]:
    return [line.split("  ")[1] for line in source_blocks(text)[0] if line.startswith("── ")]


@pytest.mark.parametrize("query", ["parse_query", "`parse_query`", "parse_query()", "Reader.parse_query"])
def test_the_definition_stands_first(query: str) -> None:
    text = render_pack(given(query), max_tokens=2000, format="text").text
    assert heads(text)[0] == "Reader.parse_query" and sorted(heads(text)[1:3]) == ["run_0", "run_1"]
    lines = source_blocks(text)[0]
    first = lines.index("   called by: run_0 (c0.py:3), run_1 (c1.py:4)")
    assert lines[first + 1] == "   calls: split (parse.py:7)"
    assert f"{query} first; otherwise callers stand before what they call" in text
    # What these lines say is not said again.
    assert [line for line in lines if " calls " in line and line.startswith("  ")] == []
    assert "  Reader.parse_query references split (parse.py:8, 0.97)" in lines


@pytest.mark.parametrize(
    "query", ["where is parse_query called", "query", "Writer.parse_query", "parse query", "split text"]
)
def test_other_queries_keep_the_order(query: str) -> None:
    text = render_pack(given(query), max_tokens=2000, format="text").text
    assert "called by" not in text and heads(text)[0].startswith("run_")


def test_more_callers_than_a_line_holds() -> None:
    text = render_pack(given("parse_query", n_callers=11), max_tokens=4000, format="text").text
    (line,) = (line for line in text.split("\n") if line.startswith("   called by: "))
    assert line.endswith("run_7 (c7.py:10) and 3 more")


def test_the_users_of_a_type_are_those_of_its_members() -> None:
    pack = pack_input(
        item("a.py", "main", "def main(): ...", score=0.3),
        item("b.py", "Box", "class Box: ...", score=0.8, kind="class"),
        item("b.py", "Box.open", "def open(self): ...", start=5, score=0.2),
        edges=[edge("a.py::main", "b.py::Box.open"), edge("b.py::Box.open", "b.py::Box")],
        query="Box",
    )
    text = render_pack(pack, max_tokens=2000, format="text").text
    assert heads(text)[0] == "Box" and "   called by: main (a.py:12)\n" in text and "   calls: " not in text


def test_a_file_is_meant_if_no_definition_has_the_name() -> None:
    pack = pack_input(
        item("a.py", "main", "def main(): ...", score=0.9),
        item("src/ferry.py", None, "import a", score=0.2, kind="file"),
        query="ferry",
    )
    text = render_pack(pack, max_tokens=2000, format="text").text
    assert text.index("src/ferry.py") < text.index("a.py:1  main")


@pytest.mark.parametrize("budget", [120, 150, 200, 300, 500])
def test_the_budget_holds(budget: int) -> None:
    pack = render_pack(given("parse_query", n_callers=30), max_tokens=budget, format="text")
    assert pack.tokens <= budget
