"""Words that a repository writes otherwise; weights are the question's, 1 for each word of one line."""

import pytest

from causalist.rank.lexical.bm25 import bm25
from causalist.rank.lexical.query_expansion import other_terms
from causalist.rank.query.query import parse_query
from causalist.rank.terms import damerau_distance
from tests.model.corpus import Def, corpus

REPOSITORY = {
    "store.py": [Def("normalize", "color database timeout filesystem"), Def("close", "receive authentication color")],
    "pool.py": [Def("drain", "receive authentication database config normalize"), Def("login", "file token broken")],
    "disk.py": [Def("sync", "receive file system token broken stolen stoken")],
    "last.py": [Def("rest", "stolen stoken")],
    "idle.py": [Def("wait", "slow lazy app rep writeout read_in")],
}


def added(text: str) -> dict[str, float]:
    lexical = corpus(REPOSITORY).lexical
    question = parse_query(text)
    found = other_terms(question.prose, question.terms, lexical)
    return {lexical.terms[number]: weight for number, weight in found.items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("normalise", {"normal": 1.0}),
        ("colours", {"color": 1.0}),
        ("read too slowly", {"slow": 1.0}),
        ("loaded lazily", {"lazi": 1.0}),
        ("apply a reply", {}),  # no adverbs
        ("db", {"databas": 0.25}),
        ("cfg", {"config": 0.25}),
        ("it writes out", {"writeout": 0.5}),
        ("written out", {}),  # its stem is another
        ("what was read in", {"read_in": 0.5}),
        ("reads in", {"read_in": 0.5}),
        ("it timed out", {}),  # as the question says it: `particles`
        ("filetoken", {"file": 0.5, "token": 0.5}),
        ("authentcation", {"authent": 0.8}),
        ("recieve", {"receiv": 0.8}),
        ("receive", {}),  # as it stands
        ("zebra", {}),
        ("tokne", {"token": 0.8}),
        ("stoen", {"stolen": 0.4, "stoken": 0.4}),  # two are as near, and share the weight
        ("recv", {}),
    ],
)
def test_other_terms(text: str, expected: dict[str, float]) -> None:
    assert added(text) == pytest.approx(expected)


def test_a_word_that_the_repository_has_is_never_corrected() -> None:
    assert added("token broken stolen") == {}


def test_a_compound_finds_identifiers_that_write_it_apart() -> None:
    c = corpus({"walk.rs": [Def("build", "git_ignore gitIgnore"), Def("read", "gitignore git")]})
    question = parse_query("gitignore")
    found = other_terms(question.prose, question.terms, c.lexical)
    assert {c.lexical.terms[number]: w for number, w in found.items()} == {"git_ignore": 0.5, "gitignore": 0.5}


def test_what_three_terms_may_be_is_not_guessed() -> None:
    c = corpus({"a.py": [Def("f", "tokens1 barn born burn"), Def("g", "barn born burn")]})
    question = parse_query("byrn")
    assert other_terms(question.prose, question.terms, c.lexical) == {}


def test_a_slip_finds_what_was_meant() -> None:
    c = corpus(REPOSITORY)
    question = parse_query("authentcation")
    scores = bm25(c.lexical.definitions, other_terms(question.prose, question.terms, c.lexical), len(c.graph.nodes))
    assert set(c.of(scores)) == {"store.py::close", "pool.py::drain"}


@pytest.mark.parametrize(
    ("a", "b", "distance"),
    [("abc", "abc", 0), ("abc", "acb", 1), ("abc", "ab", 1), ("abc", "axc", 1), ("abcd", "badc", 2), ("abc", "xyz", 3)],
)
def test_slips(a: str, b: str, distance: int) -> None:
    assert damerau_distance(a, b, 2) == distance
    assert damerau_distance(b, a, 2) == distance
