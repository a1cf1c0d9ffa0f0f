"""Which file a file of tests is about, by hand, and what its text says of that file."""

from math import sqrt

import numpy as np
import pytest

from causalist.model.node_ids import Role
from causalist.rank.query.query import parse_query
from causalist.rank.scoring.history_and_roles import scores_from_tests, stem_under_test
from causalist.rank.scoring.signals import PriorFactors, compute_signals
from tests.model.corpus import Corpus, Def, corpus


def scored(c: Corpus, texts: dict[str, float], asked: bool = False) -> dict[str, float]:
    values = np.zeros(len(c.graph.nodes))
    for path, text in texts.items():
        values[c.node(path)] = text
    every = np.full(len(c.graph.nodes), asked)
    return c.of(scores_from_tests(values, every, c.graph, c.lexical))


def files(*paths: str) -> Corpus:
    tests = {path: Role.TEST for path in paths if "test" in path.lower() or "spec" in path.lower()}
    return corpus(dict.fromkeys(paths, "token"), roles=tests)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("tests/test_cookies.py", "cookies"),
        ("pool_test.go", "pool"),
        ("src/router.test.tsx", "router"),
        ("src/__tests__/router.js", "router"),
        ("spec/models/order_spec.rb", "order"),
        ("a/HtmlParserTests.cs", "htmlparser"),
        ("a/TestRunner.java", "runner"),
        ("a/ParserIT.java", "parser"),
        ("tests/test_pool_it.py", "pool"),
        ("a/Testing.java", "testing"),
        ("a/contest.py", "contest"),
        ("tests/tests.py", "tests"),
    ],
)
def test_the_name_without_what_marks_it_as_a_test(path: str, name: str) -> None:
    assert stem_under_test(path) == name


def test_a_file_has_the_best_text_of_its_tests() -> None:
    c = files(
        "src/cookies.py", "src/other.py", "tests/test_cookies.py", "tests/cookies_test.py", "tests/test_nothing.py"
    )
    texts = {
        "tests/test_cookies.py": 0.4,
        "tests/cookies_test.py": 0.9,
        "tests/test_nothing.py": 1.0,
        "src/other.py": 1.0,
    }
    assert scored(c, texts) == {"src/cookies.py": 0.9}


def test_a_private_module_is_tested_by_its_name() -> None:
    c = files("src/_pool.py", "tests/test_pool.py")
    assert scored(c, {"tests/test_pool.py": 0.5}) == {"src/_pool.py": 0.5}


def test_of_several_files_of_a_name_those_in_the_likest_folder_are_meant_and_share() -> None:
    c = files("a/x/views.py", "a/y/views.py", "b/views.py", "tests/a/test_views.py")
    assert scored(c, {"tests/a/test_views.py": 1.0}) == {"a/x/views.py": 1 / sqrt(2), "a/y/views.py": 1 / sqrt(2)}


def test_a_name_of_many_files_says_nothing() -> None:
    c = files(*(f"p{i}/index.ts" for i in range(7)), "test/index.test.ts")
    assert scored(c, {"test/index.test.ts": 1.0}) == {}


def test_tests_that_are_asked_for_are_no_witnesses() -> None:
    c = files("src/pool.py", "tests/test_pool.py")
    assert scored(c, {"tests/test_pool.py": 1.0}, asked=True) == {}


def test_the_signal_is_that_of_the_text_and_of_definitions_with_a_word() -> None:
    """tests/test_jar.py alone says `redirect`; in jar.py `keep` has a word of the question and `other` has none."""
    c = corpus(
        {
            "jar.py": [Def("keep", "cookie"), Def("other", "nothing")],
            "far.py": [Def("f", "cookie")],
            "tests/test_jar.py": [Def("t", "cookie redirect redirect")],
        },
        roles={"tests/test_jar.py": Role.TEST},
    )
    reading = compute_signals(parse_query("cookie after redirect"), c.graph, c.lexical, PriorFactors({}, {}))
    assert c.of(reading.first_files()["tests"]) == {"jar.py": 1.0}
    assert c.of(reading.definitions()["tests"]) == {"jar.py::keep": 1.0}
