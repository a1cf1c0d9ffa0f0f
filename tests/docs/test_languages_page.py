"""The pages of languages and of edges by language say what grammars, measurements and language cases say."""

import pytest

from tests.benchmarks.edges.results import load_results
from tests.docs.blocks import blocks_of
from tests.docs.languages import MEASURED, PAGE, contents, languages, measured, title

AGAIN = "run `python -m tests.docs.languages --write`"
PREFIX = "edges-"


@pytest.fixture(scope="module")
def text() -> str:
    return PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page_of_edges() -> str:
    return MEASURED.read_text(encoding="utf-8")


def test_the_overview_and_the_gaps_are_current(text: str) -> None:
    assert blocks_of(text, "generated") == contents(), AGAIN


@pytest.mark.parametrize("name", sorted(measured()))
def test_the_measured_edges_of_a_language_are_current(name: str, page_of_edges: str) -> None:
    assert blocks_of(page_of_edges, "generated").get(name) == measured()[name], AGAIN


def test_no_language_is_measured_that_is_not_there(page_of_edges: str) -> None:
    blocks = {name for name in blocks_of(page_of_edges, "generated") if name.startswith(PREFIX)}
    assert blocks == set(measured())


def test_every_language_has_a_section(text: str) -> None:
    for name in languages():
        assert f"\n## {title(name)}\n" in text


def test_every_measured_repository_is_listed(page_of_edges: str) -> None:
    for row in load_results()["repositories"]:
        assert f"{row['repository']} @ {row['commit'][:7]}" in page_of_edges
