"""docs/languages.md says what the grammars, the measurements and the language cases say."""

import pytest

from causalist.parse import load_settings
from tests.benchmarks.edges.results import load_results
from tests.docs.blocks import blocks_of
from tests.docs.languages import PAGE, contents, title

AGAIN = "run `python -m tests.docs.languages --write`"


@pytest.fixture(scope="module")
def text() -> str:
    return PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(contents()))
def test_what_is_said_of_a_language_is_what_was_measured(name: str, text: str) -> None:
    assert blocks_of(text, "generated").get(name) == contents()[name], AGAIN


def test_every_language_has_a_section(text: str) -> None:
    languages = sorted({each.name for each in load_settings().values()})
    assert [name for name in blocks_of(text, "generated") if name != "overview"] == languages
    for name in languages:
        assert f"\n## {title(name)}\n" in text


def test_every_measured_repository_is_listed(text: str) -> None:
    for row in load_results()["repositories"]:
        assert f"{row['repository']} @ {row['commit'][:7]}" in text
