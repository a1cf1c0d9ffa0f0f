"""Words counted by arrays, against words counted one by one; and the terms of many words, against those of each."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from causalist.model.facts import Definition, FileFacts, space_words
from causalist.model.graph import LinkedGraph
from causalist.rank.lexical import word_counts as counting
from causalist.rank.lexical.word_counts import TermFinder, Terms, count_words, nodes_of_documents
from causalist.rank.terms import split_word, stem, terms_of
from tests.model.counted import counted

# Letters and digits of several scripts and sizes in UTF-8, marks of each size, and what only looks like a letter.
PIECES = [
    "a",
    "bb",
    "_x",
    "7",
    "é",
    "ß",
    "İ",
    "字",
    "🎈",
    "𝒳",
    "٣",
    "²",
    "—",
    "\xa0",
    " ",
    "\n",
    "Ab",
    "ABc",
    "\u0301",
    "x" * 9,
]


def facts_with(text: str, spans: list[tuple[int, int]]) -> FileFacts:
    definitions = tuple(
        Definition(f"d{i}", f"d{i}", 2, -1, start, end, 0, 0, "", "", start) for i, (start, end) in enumerate(spans)
    )
    return FileFacts(language="", definitions=definitions, words=space_words(text.encode()))


def counts_of(files: list[FileFacts]) -> list[Counter[tuple[int, str]]]:
    """As `counted` has them, of each file; nodes are numbers without a gap, and no two files share one."""
    sizes = [1 + len(facts.definitions) for facts in files]
    file_nodes = (np.cumsum(sizes) - sizes).astype(np.int32) if sizes else np.zeros(0, dtype=np.int32)
    documents = tuple(
        np.arange(node + 1, node + size, dtype=np.int32) for node, size in zip(file_nodes.tolist(), sizes, strict=True)
    )
    linked = LinkedGraph(None, file_nodes, documents)  # type: ignore[arg-type]
    (numbers, words, counts), distinct = count_words(files)
    nodes = nodes_of_documents([("f", facts) for facts in files], range(len(files)), linked)[numbers]
    assert len(set(distinct)) == len(distinct)
    assert len(set(zip(nodes.tolist(), words.tolist(), strict=True))) == len(nodes)
    found: list[Counter[tuple[int, str]]] = [Counter() for _ in files]
    for node, word, n in zip(nodes.tolist(), words.tolist(), counts.tolist(), strict=True):
        file = int(np.searchsorted(file_nodes, node, side="right")) - 1
        found[file][node - int(file_nodes[file]) - 1, distinct[word].decode()] = n
    return found


@st.composite
def files(draw: st.DrawFn) -> FileFacts:
    pieces = draw(st.lists(st.sampled_from(PIECES), max_size=40))
    ends = np.cumsum([0, *(len(piece.encode()) for piece in pieces)]).tolist()
    spans: list[tuple[int, int]] = []

    def divide(low: int, high: int, depth: int) -> None:
        cuts = sorted(draw(st.lists(st.integers(low, high), max_size=4, unique=True)))
        for start, end in zip(cuts[::2], cuts[1::2], strict=False):
            spans.append((ends[start], ends[end]))
            if depth < 3 and draw(st.booleans()):
                divide(start, end, depth + 1)

    divide(0, len(pieces), 0)
    return facts_with("".join(pieces), spans)


@given(st.lists(files(), max_size=4), st.sampled_from([1, 200_000]))
def test_words_are_counted_as_one_by_one(made: list[FileFacts], at_once: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_BATCH_BYTES", at_once)
        assert counts_of(made) == [counted(facts) for facts in made]


def test_words_of_a_thousand_lengths_and_likenesses_are_told_apart() -> None:
    """Up to the longest, alike but for one character at each place: 64 * 65 / 2 + 64 words."""
    words = ["a" * n for n in range(1, 65)] + [
        "a" * i + "b" + "a" * (n - i - 1) for n in range(1, 65) for i in range(n)
    ]
    (found,) = counts_of([facts_with(" ".join(words), [])])
    assert len(found) == len(words) == 2144
    assert set(found.values()) == {1}


@pytest.mark.parametrize("letter", ["a", "é", "字", "𝒳"])
def test_runs_longer_than_64_characters_are_data(letter: str) -> None:
    (found,) = counts_of([facts_with(f"{letter * 64} {letter * 65} end", [])])
    assert found == {(-1, letter * 64): 1, (-1, "end"): 1}


def test_a_word_ends_where_a_document_does() -> None:
    (found,) = counts_of([facts_with("aabbcc", [(2, 4)])])
    assert found == {(-1, "aa"): 1, (0, "bb"): 1, (-1, "cc"): 1}


def test_a_span_that_goes_beyond_its_text_takes_nothing_of_the_next_one() -> None:
    found = counts_of([facts_with("aa bb", [(3, 99)]), facts_with("cc", [])])
    assert found == [{(-1, "aa"): 1, (0, "bb"): 1}, {(-1, "cc"): 1}]


WORDS = st.text(st.sampled_from("aAbZz09_éÉßİı字²٣५xYsS"), min_size=1, max_size=50)


@given(st.lists(WORDS, unique=True, max_size=20))
@example(
    [
        "HTTPServer2",
        "getUsers",
        "_private",
        "__init__",
        "E108",
        "utf8",
        "ABc",
        "ABs",
        "ABCsD",
        "aBs",
        "aB",
        "A",
        "x" * 41,
        "É" * 41 + "a",
    ]
)
def test_terms_of_many_words_are_those_of_each(words: list[str]) -> None:
    terms = Terms()
    indptr, flat = terms.terms_of_words([word.encode() for word in words])
    strings = terms.strings()
    assert len(set(strings)) == len(strings)
    found = [[strings[t] for t in flat[indptr[i] : indptr[i + 1]]] for i in range(len(words))]
    assert [sorted(each) for each in found] == [sorted(terms_of(word)) for word in words]


@given(
    st.lists(st.text("abiyngHOPhopes _.2\né", max_size=60), min_size=1, max_size=5),
    st.sets(st.sampled_from(["hope", "hop", "happi", "a", "ab", "hopi", "in", "h"]), min_size=1),
)
def test_a_finder_counts_the_parts_with_a_stem(texts: list[str], terms: set[str]) -> None:
    finder = TermFinder(sorted(terms))
    expected = [
        [sum(stem(part) == term for part in split_word(text)) for term in sorted(terms)]
        for text in (text.replace("\n", " ") for text in texts)
    ]
    assert finder.count([text.encode() for text in texts]).tolist() == expected
    assert [bool(form) for form in finder.forms] == [any(column) for column in zip(*expected, strict=True)]
