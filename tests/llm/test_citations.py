"""Citations: which are read, which are wrong, and what is held back of a stream."""

import pytest

from causalist.llm_answer import CitationChecker
from causalist.model.answer import ShownRange

PLACES = (
    ShownRange("src/auth.py::Session", "src/auth.py", "Session", "class", 5, 40, ((5, 9),)),
    ShownRange("src/auth.py::Session.verify", "src/auth.py", "Session.verify", "method", 10, 31, ((10, 31),)),
    ShownRange("app/[id]/[[...rest]]/page.tsx::Page", "app/[id]/[[...rest]]/page.tsx", "Page", "function", 1, 9, ()),
    ShownRange("my notes.md", "my notes.md", None, "file", 1, 3, ((1, 3),)),
    ShownRange("Makefile", "Makefile", None, "file", 1, 7, ((1, 7),)),
)


def check(text: str, size: int) -> tuple[str, list[tuple[str, str | None, bool]]]:
    """(what is printed, (citation, node, shown) of each), fed in pieces of `size`."""
    checker = CitationChecker(PLACES)
    out = "".join(checker.feed(text[i : i + size]) for i in range(0, len(text), size)) + checker.close()
    return out, [(c.text, c.place and c.place.node, c.shown) for c in checker.citations]


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    ("text", "printed", "cited"),
    [
        ("See [src/auth.py:10-31].", None, [("src/auth.py:10-31", "src/auth.py::Session.verify", True)]),
        ("[src/auth.py:12]", None, [("src/auth.py:12", "src/auth.py::Session.verify", True)]),
        # Of the class around it, whose lines 32 to 40 the pack does not show.
        ("[src/auth.py:33-35]", None, [("src/auth.py:33-35", "src/auth.py::Session", False)]),
        ("[src/auth.py:8-12]", None, [("src/auth.py:8-12", "src/auth.py::Session", True)]),
        ("[app/[id]/[[...rest]]/page.tsx:2]", None,
         [("app/[id]/[[...rest]]/page.tsx:2", "app/[id]/[[...rest]]/page.tsx::Page", False)]),
        ("[my notes.md:1-3]", None, [("my notes.md:1-3", "my notes.md", True)]),
        ("[`src/auth.py:L10–L12`]", "[src/auth.py:10-12]",
         [("src/auth.py:10-12", "src/auth.py::Session.verify", True)]),
        ("[Makefile:3, src/auth.py:5; src/gone.py:1-2]",
         "[Makefile:3, src/auth.py:5, not in the context: src/gone.py:1-2]",
         [("Makefile:3", "Makefile", True), ("src/auth.py:5", "src/auth.py::Session", True),
          ("src/gone.py:1-2", None, False)]),
        ("[src/auth.py:4-12]", "[not in the context: src/auth.py:4-12]", [("src/auth.py:4-12", None, False)]),
        ("[src/auth.py:39-41]", "[not in the context: src/auth.py:39-41]", [("src/auth.py:39-41", None, False)]),
        ("[src/auth.py:31-10]", "[not in the context: src/auth.py:31-10]", [("src/auth.py:31-10", None, False)]),
        ("[src/auth.py:0]", "[not in the context: src/auth.py:0]", [("src/auth.py:0", None, False)]),
        ("[Auth.py:10]", "[not in the context: Auth.py:10]", [("Auth.py:10", None, False)]),
        ("[a/[x]/b.ts:3]", "[not in the context: a/[x]/b.ts:3]", [("a/[x]/b.ts:3", None, False)]),
        ("[the check [src/auth.py:12] of it]", None, [("src/auth.py:12", "src/auth.py::Session.verify", True)]),
        # No citations.
        ("items[i:10], m[0][1:3], [12:30], a[b], [link](x), [ ], [[", None, []),
        ("[open\n[src/auth.py:12", None, []),
        ("[" * 3000 + "src/auth.py:12]", None, [("src/auth.py:12", "src/auth.py::Session.verify", True)]),
        # A terminal is not driven, and CR LF is one newline wherever it is cut.
        ("a\x1b[31mb\r\nc\r", "a\\x1b[31mb\nc\\x0d", []),
    ],
)  # fmt: skip
def test_citations(text: str, printed: str | None, cited: list[tuple[str, str | None, bool]], size: int) -> None:
    assert check(text, size) == (text if printed is None else printed, cited)


def test_a_citation_counts_once_and_in_order() -> None:
    _, cited = check("[Makefile:1] [src/auth.py:12] [Makefile:1]", 5)
    assert [text for text, *_ in cited] == ["Makefile:1", "src/auth.py:12"]


def test_only_what_may_become_a_citation_is_held_back() -> None:
    checker = CitationChecker(PLACES)
    assert checker.feed("It is checked [src/au") == "It is checked "
    assert checker.feed("th.py:12") == ""
    assert checker.feed("] and then") == "[src/auth.py:12] and then"
    assert checker.feed(" [x") == " "
    assert checker.feed(" " * 2000) == "[x" + " " * 2000


def test_without_items_every_citation_is_wrong() -> None:
    checker = CitationChecker(())
    assert checker.feed("[a.py:1]") == "[not in the context: a.py:1]"


@pytest.mark.slow
def test_no_list_of_citations_takes_long() -> None:
    hostile = "[" + "Makefile:1, " * 80 + "x"
    for text in (hostile + "]", hostile, "[a:1" * 5000, "[[a]" * 5000, "[" + "a:1-" * 5000):
        checker = CitationChecker(PLACES)
        out = "".join(checker.feed(text[i : i + 50]) for i in range(0, len(text), 50)) + checker.close()
        assert out == text and checker.citations == ()
