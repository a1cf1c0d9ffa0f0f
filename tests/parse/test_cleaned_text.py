"""Files from Windows and from old Macs: the same definitions, lines and passages as with line feeds."""

import pytest

from causalist.model.facts import FileFacts
from causalist.parse import parse_text
from tests.model.counted import counted
from tests.parse.facts_of import facts_of

PYTHON = (
    '"""The file."""\nimport b\n\n\ndef f(x):\n    """Says.\n\n    More.\n    """\n'
    "    return b.g(x)\n\n\nclass C:\n    y = 1\n"
)
TYPESCRIPT = (
    "/** The file. */\nimport { g } from './b'\n\n// Says\n// more.\nexport function f(x: string) {\n  return g(x)\n}\n"
)
MARKDOWN = "# Title\n\ntext\n\n```\n# no title\n```\n\nSecond\n------\n\nmore\n"
RESTRUCTURED = "Title\n=====\n\ntext\n\nSecond\n------\n\nmore\n"
ENDS = {"windows": "\r\n", "old mac": "\r"}


def what_it_says(facts: FileFacts) -> list[object]:
    """Everything but byte positions."""
    definitions = [(d[:4], d.start_row, d.end_row, d.signature, d.doc) for d in facts.definitions]
    passages = [(p.slug, p.title, p.parent, p.start_row, p.end_row) for p in facts.passages]
    return [definitions, passages, facts.calls, facts.imports, facts.bindings, facts.doc, facts.n_rows, counted(facts)]


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize(("text", "dialect"), [(PYTHON, "python"), (TYPESCRIPT, "typescript")])
def test_source_says_the_same_with_other_line_ends(text: str, dialect: str, end: str) -> None:
    data = text.replace("\n", end).encode()
    other = facts_of(data, dialect)
    assert what_it_says(other) == what_it_says(facts_of(text, dialect))
    assert other.n_bytes == len(data)
    f = next(d for d in other.definitions if d.qualname == "f")
    assert data[f.start_byte : f.end_byte].decode().replace(end, "\n") in text


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize(("text", "path"), [(MARKDOWN, "a.md"), (RESTRUCTURED, "a.rst")])
def test_prose_says_the_same_with_other_line_ends(text: str, path: str, end: str) -> None:
    data = text.replace("\n", end).encode()
    other = parse_text(path, data)
    assert [p.title for p in other.passages] == ["Title", "Second"]
    assert what_it_says(other) == what_it_says(parse_text(path, text.encode()))
    second = other.passages[1]
    assert data[second.start_byte : second.end_byte].decode() == text[text.index("Second") :].replace("\n", end)


def test_a_lone_carriage_return_among_line_feeds_ends_no_line() -> None:
    facts = facts_of("def f():\n    return 'a\rb'\n\n\ndef g(): ...\n")
    assert [(d.qualname, d.start_row) for d in facts.definitions] == [("f", 0), ("g", 4)]
    assert facts.n_rows == 6


@pytest.mark.parametrize(("text", "path"), [(MARKDOWN, "a.md"), (RESTRUCTURED, "a.rst")])
def test_a_byte_order_mark_belongs_to_no_title_but_its_bytes_count(text: str, path: str) -> None:
    data = b"\xef\xbb\xbf" + text.encode()
    marked = parse_text(path, data)
    assert [(p.title, p.start_row) for p in marked.passages] == [("Title", 0), ("Second", text.count("\n") - 4)]
    assert data[marked.passages[1].start_byte :].startswith(b"Second")
    assert marked.doc == "Title"


def test_a_byte_order_mark_hides_no_definition_and_no_documentation() -> None:
    facts = facts_of("\ufeff" + PYTHON)
    assert what_it_says(facts)[0] == what_it_says(facts_of(PYTHON))[0]
    assert facts.doc == "The file."
    manifest = '{"name": "shop", "main": "a.js"}'
    assert parse_text("package.json", b"\xef\xbb\xbf" + manifest.encode()).manifest == (
        ("name", "shop"),
        ("entry", "a.js"),
    )
