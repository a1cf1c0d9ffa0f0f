"""Which roles a title asks for, and when a word is what a repository is about."""

import numpy as np
import pytest

from causalist.model.node_ids import NodeKind, Role
from causalist.model.role_by_path import role_of
from causalist.rank.query.query import parse_query
from causalist.rank.scoring.history_and_roles import (
    SUPERSEDED_FACTOR,
    USER_INTERFACE_FACTOR,
    queried_roles,
    superseded_factors,
    user_interface_factors,
)
from tests.model.corpus import Corpus, Def, corpus


def shop(n_mocks: int, n_others: int, n_tests: int = 3) -> Corpus:
    """Code with a word in the names of some definitions, and tests that all have it."""
    files = {
        "shop.py": [Def(f"mock_{i}") for i in range(n_mocks)] + [Def(f"sell_{i}") for i in range(n_others)],
        "test_shop.py": [Def(f"test_mock_{i}") for i in range(n_tests)],
        "notes.md": "",
    }
    return corpus(files, roles={"test_shop.py": Role.TEST, "notes.md": Role.DOCS})


def asked_for(c: Corpus, text: str) -> set[str]:
    return set(c.of(queried_roles(parse_query(text), c.graph, c.lexical)))


TESTS = {"test_shop.py", "test_shop.py::test_mock_0", "test_shop.py::test_mock_1", "test_shop.py::test_mock_2"}


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("which tests cover this", TESTS),
        ("which testing helper", TESTS),
        ("where is the test_client", TESTS),
        ("where are orders mocked", TESTS),
        ("where does it run", set()),
        ("login fails\nsee the tests", set()),  # the body only explains
        ("what does the guide say", {"notes.md"}),
    ],
)
def test_what_the_title_asks_for(text: str, asked: set[str]) -> None:
    assert asked_for(shop(1, 2), text) == asked


def test_a_repository_that_is_about_mocks_is_not_asked_for_tests_by_that_word() -> None:
    """From ten definitions of code and one in a hundred on; tests and the words of other roles do not count."""
    question = "why can a final class not be mocked"
    assert asked_for(shop(10, 990), question) == set()  # 10 of 1,000
    assert asked_for(shop(10, 991), question) == TESTS
    assert asked_for(shop(9, 1), question) == TESTS
    assert asked_for(shop(0, 1000, 3), question) == TESTS
    assert asked_for(shop(10, 990), "which tests cover a mocked class") == TESTS


@pytest.mark.parametrize(
    ("text", "is_asked"),
    [
        ("where are the tests of the summary", True),
        ("which tests cover the order", True),
        ("where is the Test for retries", True),
        ("unit tests", True),
        ("where is the order of columns tested", True),
        ("where are thresholds evaluated and the test aborted", False),
        ("how does a test run", False),
        ("login fails\nsee the tests of it", False),
    ],
)
def test_tests_of_something_are_asked_for_everywhere(text: str, is_asked: bool) -> None:
    about_tests = corpus(
        {"shop.py": [Def(f"test_{i}") for i in range(20)], "test_shop.py": [Def("test_mock")]},
        roles={"test_shop.py": Role.TEST},
    )
    assert ("test_shop.py" in asked_for(about_tests, text)) is is_asked


@pytest.mark.parametrize(
    ("text", "is_lower"),
    [
        ("who may close an order", True),
        ("I closed an order, where is it", True),
        ("close an order", False),  # search terms and messages of commits
        ("where is the button that closes an order", False),
        ("how is an order shown", False),
    ],
)
def test_what_draws_a_user_interface_counts_less_for_questions_that_do_not_name_it(text: str, is_lower: bool) -> None:
    drawing = ["web/Order.tsx", "web/hooks/useOrder.ts", "public/js/order.js", "views/order.html.erb"]
    deciding = ["server/order.ts", "web/hooks/orders.ts", "js/order.js", "order.rb"]
    c = corpus({path: [Def("close")] for path in (*drawing, *deciding)})
    lower = {id for path in drawing for id in (path, f"{path}::close")} if is_lower else set()
    factors = user_interface_factors(parse_query(text), c.graph)
    assert set(c.of(factors == USER_INTERFACE_FACTOR)) == lower
    assert set(factors.tolist()) <= {1.0, USER_INTERFACE_FACTOR}


def test_what_a_later_migration_makes_again_counts_less_unless_migrations_are_asked_for() -> None:
    """Numbers count as such; each folder has its own order; undoing makes nothing, in files and in parts of files."""
    view, function = Def("stock", "", NodeKind.STRUCT), Def("rank", "", NodeKind.FUNCTION)
    replaced = {
        "migrations/9.sql::stock", "migrations/10.sql::stock~2", "db/migrations/2023-01-01_a/up.sql::rank",
        "db/migrations/2024-01-01_b/down.sql::rank", "db/migrations/lite/1.sql::stock",
        "scripts/2025-01-01_a.sql::due",
    }  # fmt: skip
    files = {
        "migrations/9.sql": [view, Def("log", "", NodeKind.STRUCT)],
        "migrations/10.sql": [view, Def("stock~2", "", NodeKind.STRUCT)],
        "db/migrations/2023-01-01_a/up.sql": [function],
        "db/migrations/2024-01-01_b/up.sql": [function],
        "db/migrations/2024-01-01_b/down.sql": [function],
        "db/migrations/lite/1.sql": [view],
        "db/migrations/lite/2.sql": [view],
        "schema.sql": [view],  # perhaps what a new database began with
        "scripts/2025-01-01_a.sql": [Def("due", "", NodeKind.FUNCTION)],
        "sql/dbo/due.sql": [Def("due", "", NodeKind.FUNCTION)],
        "migrations/1_stock.py": [Def("stock", "", NodeKind.STRUCT)],
    }
    c = corpus(files, roles=dict.fromkeys([path for path in files if role_of(path) == Role.MIGRATION], Role.MIGRATION))
    nothing = np.zeros(len(c.graph.nodes), dtype=np.bool_)
    factors = superseded_factors(c.graph, nothing)
    assert set(c.of(factors == SUPERSEDED_FACTOR)) == replaced
    assert set(factors.tolist()) == {1.0, SUPERSEDED_FACTOR}
    assert superseded_factors(c.graph, queried_roles(parse_query("which migration"), c.graph, c.lexical)).min() == 1.0
