"""Which definitions are read for a message: by hand, in small repositories."""

from causalist.model.node_ids import Role
from causalist.rank.lexical.printed_messages import find_printers, message_terms
from tests.model.corpus import Corpus, Def, Section, corpus

WORDS = "no such user anna in the shop"


def printers(c: Corpus, message: str = WORDS, most: int = 10) -> list[str]:
    return [c.graph.nodes.ids[n] for n in find_printers(message, c.graph, c.lexical, most)]


def test_who_has_the_words_in_longer_runs_comes_first() -> None:
    files = {
        "a.py": [Def("apart", "no x user x in x shop the anna")],
        "b.py": [Def("find", "no such user in the shop")],
        "c.py": [Def("part", "in the shop")],
        "d.py": [Def("other", "user shop anna")],
    }
    # Words are counted, not their places: of what `apart` has "user anna in the shop" stands together in a message, of
    # `find` "no such user" and "in the shop", of `other` "user anna" alone.
    assert printers(corpus(files)) == ["a.py::apart", "b.py::find", "c.py::part", "d.py::other"]
    assert printers(corpus(files), most=1) == ["a.py::apart"]


def test_of_equal_ones_the_shorter_comes_first() -> None:
    files = {
        "a.py": [Def("giant", "no such user in the shop " + "x y z " * 50)],
        "b.py": [Def("small", "no such user in the shop")],
    }
    assert printers(corpus(files)) == ["b.py::small", "a.py::giant"]


def test_tests_do_not_print_and_pages_come_last() -> None:
    files = {
        "a.md": [Section("a", "", WORDS)],
        "b.py": [Def("find", "in the shop x y z")],
        "c.py": [Def("test", WORDS)],
        "d.po": WORDS,
    }
    found = printers(corpus(files, roles={"a.md": Role.DOCS, "c.py": Role.TEST}))
    assert found == ["b.py::find", "a.md#a", "d.po"]


def test_nothing_is_read_for_words_that_nobody_has() -> None:
    files = {"a.py": [Def("find", "no such user in the shop")]}
    assert printers(corpus(files), "quite another thing") == []
    assert printers(corpus(files), "such his shop") == []  # no two in a row
    assert printers(corpus(files), "") == []
    assert printers(corpus({}), WORDS) == []


def test_a_word_of_several_parts_is_looked_for_as_a_whole() -> None:
    files = {"a.py": [Def("f", "maxRetries limit 7")], "b.py": [Def("g", "max limit 7")]}
    assert printers(corpus(files), "maxRetries limit") == ["a.py::f"]


def test_the_words_of_a_message() -> None:
    assert message_terms('Order "a-7" NOT found: %') == ["order", "a", "7", "not", "found"]
    assert len(message_terms("word " * 1000)) == 64
