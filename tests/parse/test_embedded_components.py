"""Components: scripts inside of markup, with the lines of the file. What they mean is in tests/languages/components."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causalist.parse import parse_file
from causalist.parse.embedded_code import read_component
from causalist.source.exclusion import DEFAULT_LIMITS, classify


def test_lines_are_those_of_the_file() -> None:
    text = '<template>\n  <p/>\n</template>\n\n<script lang="ts">\nexport function f(): void {\n  g()\n}\n</script>\n'
    facts = parse_file("A.vue", text.encode())
    assert (facts.language, facts.diagnostics, facts.n_rows) == ("typescript", (), 10)
    assert [(d.qualname, d.start_row, d.end_row) for d in facts.definitions] == [("f", 5, 7), ("default", 0, 9)]
    assert [(c.callee, c.scope, c.row) for c in facts.calls] == [("g", 0, 6)]
    start, end = facts.definitions[0].start_byte, facts.definitions[0].end_byte
    assert text.encode()[start:end] == b"export function f(): void {\n  g()\n}"


def test_the_first_closing_tag_counts() -> None:
    facts = parse_file("A.vue", b"<script>\nf('</script>')\ng()\n</script>\n")
    assert [c.callee for c in facts.calls] == [] and [d.slug for d in facts.diagnostics] == ["syntax-error"]
    escaped = parse_file("A.vue", b"<script>\nf('<\\/script>')\ng()\n</script>\n")
    assert [(c.callee, c.row) for c in escaped.calls] == [("f", 1), ("g", 2)] and escaped.diagnostics == ()


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("<script>\nf()", ["f"]),
        ("<script", []),
        ("<script lang='ts\nf()</script>", []),
        ("<script/>f()<script>g()</script>", ["g"]),
        ("<SCRIPT>f()</SCRIPT>", ["f"]),
        ("<script>f()</script><script>g()</script>", ["f", "g"]),
        ("<script>f(</script><script>g()</script>", ["f", "g"]),
        ("<!-- <script>f()</script> --><script>g()</script>", ["g"]),
        ("<!-- <script>f()</script>", []),
        ("<style><script></style><script>g()</script>", ["g"]),
        ("<scripts>f()</scripts>", []),
        ('<script lang="coffee">f = -> g()</script>', []),
        ("", []),
    ],
)
def test_where_scripts_are(text: str, calls: list[str]) -> None:
    facts = parse_file("A.vue", text.encode())
    assert [c.callee for c in facts.calls] == calls
    assert facts.definitions[-1].qualname == "default"


def test_a_script_in_a_file_of_its_own_is_imported() -> None:
    facts = parse_file("A.vue", b'<template/>\n<script src="./a.ts"></script>\n')
    assert [(i.module, i.row) for i in facts.imports] == [("./a.ts", 1)]


def test_bytes_that_are_no_utf_8() -> None:
    facts = parse_file("A.vue", b"<script>\nf()\n</script>\n<p>caf\xe9 {{ f() }}</p>\n")
    assert [c.callee for c in facts.calls] == ["f"]


def test_a_large_notebook_is_taken_and_a_large_script_is_not() -> None:
    data = b"x" * (DEFAULT_LIMITS.max_file_bytes + 1)
    assert classify("a.ipynb", data) is None and classify("a.vue", data) == "too large"
    assert classify("a.ipynb", data * 8) == "too large"


_PARTS = (
    "<script> </script> <script\tlang='ts'> <style> </style> <!-- --> \n <template> </template> f() é \" { } < > @a='f'"
)


@settings(deadline=None)
@given(st.lists(st.sampled_from(_PARTS.split(" "))))
def test_views_are_as_long_as_the_file(parts: list[str]) -> None:
    data = "".join(parts).encode()
    component = read_component(data)
    for view in (component.view, component.markup):
        assert len(view) == len(data)
        assert [i for i, c in enumerate(view) if c == 10] == [i for i, c in enumerate(data) if c == 10]
    facts = parse_file("A.vue", data)
    assert facts.n_bytes == len(data)
    assert all(0 <= c.row < facts.n_rows for c in facts.calls)
