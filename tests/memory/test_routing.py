"""Routes of queries by their words."""

from pathlib import Path

import pytest

from causalist.memory.retrieval import choose_route
from tests.benchmarks.memory.routes import QUESTIONS, read

PUBLISHED_EXAMPLES = [
    ("Who manages the team that handles JWT authentication?", "multi_hop"),
    ("What decisions were influenced by beliefs that later turned out to be wrong?", "multi_hop"),
    ("Why is JWT authentication related to Alice Moreau?", "multi_hop"),
    ("How long are tokens valid?", "simple"),
]


@pytest.mark.parametrize(("query", "route"), PUBLISHED_EXAMPLES)
def test_questions_of_the_published_descriptions(query: str, route: str) -> None:
    assert choose_route(query).value == route


@pytest.mark.parametrize(
    ("query", "route"),
    [
        ("session.ttl", "lookup"),
        ("What is a canary release?", "lookup"),
        ("WHO IS TIMO RASK?", "lookup"),
        ("Which film came out first, Blue Meridian or The Tenth Gate?", "multi_hop"),
        ("Where was the director of Red Mill (film) born?", "multi_hop"),
        ("Who is the paternal grandfather of Olaf?", "multi_hop"),
        ("please give me an overview of vendors", "exploratory"),
        ("wo wird das Archiv aufbewahrt und wer hat den Schlüssel", "simple"),  # no rules for German
        ("", "lookup"),
    ],
)
def test_routes_by_hand(query: str, route: str) -> None:
    assert choose_route(query).value == route


def test_a_long_text_has_a_route_in_no_time() -> None:
    assert choose_route("is the of " * 100_000).value == "multi_hop"


def test_the_half_that_the_rules_were_not_made_with() -> None:
    questions = read(Path(QUESTIONS))
    assert len(questions) == 200
    judged = questions[1::2]
    assert sum(choose_route(text).value == route for text, route in judged) >= 0.9 * len(judged)
