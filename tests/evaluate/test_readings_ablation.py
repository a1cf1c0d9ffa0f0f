"""Arrays rank as the ranking does, and what is left out of them has no part in it."""

import numpy as np
import pytest

from causalist.evaluate.fit import Example, build_example, ranks_with, read_query_signals
from causalist.pipeline.repository import Repository
from causalist.rank import default_weights
from tests.benchmarks.signals.ablation import Gain, cell, gain
from tests.benchmarks.signals.arrays import Batch, Model, asked_of, fires
from tests.benchmarks.signals.refit import Questions, all_names
from tests.evaluate.conftest import Clones

QUESTIONS = {
    "validate the token": ("auth.py", "auth.py::validate"),
    "add an item to the cart": ("cart.py", "cart.py::add_item"),
    "total price": ("prices.py", "prices.py::total_price"),
    '"issued"': ("docs/tokens.md", "auth.py::validate"),
    "where is total_price": ("prices.py", "prices.py::total_price"),
}


@pytest.fixture(scope="module")
def examples(clones: Clones) -> list[Example]:
    shop, weights = Repository.at_commit(clones.folder / "acme+shop" / "repo", clones.shop[0]), default_weights()
    return [
        build_example(read_query_signals(shop, query, weights), weights, [path, "gone.py"], [definition])
        for query, (path, definition) in QUESTIONS.items()
    ]


@pytest.fixture(scope="module")
def batch(examples: list[Example]) -> Batch:
    return Batch([asked_of("shop", f"acme/{i}", str(i), each) for i, each in enumerate(examples)])


def ranked(batch: Batch, names: frozenset[str]) -> list[tuple[tuple[int | None, ...], tuple[int | None, ...]]]:
    model = Model(names, default_weights())
    before, linear = batch.before(model)
    files = batch.of_files(model, batch.leading(before))
    found = batch.ranks(files, batch.after(model, before, linear, files), range(batch.n))
    return [(tuple(of_files), tuple(definitions)) for of_files, definitions in found]


def test_with_all_signals_every_question_has_the_ranks_of_the_ranking(examples: list[Example], batch: Batch) -> None:
    expected = [ranks_with(each, default_weights()) for each in examples]
    assert any(each.files[0] is not None for each in expected)
    found = ranked(batch, frozenset(all_names(batch)))
    assert found == [(tuple(each.files), tuple(each.definitions)) for each in expected]


def test_without_any_signal_nothing_is_found(batch: Batch) -> None:
    assert ranked(batch, frozenset()) == [((None, None), (None,))] * batch.n


def test_a_literal_is_found_by_the_signal_of_literals_alone(batch: Batch) -> None:
    place = list(QUESTIONS).index('"issued"')
    assert ranked(batch, frozenset({"literal"}))[place][0][0] == 1
    assert ranked(batch, frozenset({"literal"}))[0][0][0] is None


def test_a_signal_fires_where_it_says_something(examples: list[Example]) -> None:
    first, *_, literal, named = (fires(asked_of("shop", "acme/shop", "1", each)) for each in examples)
    assert "text" in first and "literal" not in first
    assert "literal" in literal
    assert "mention" in named and "mention" not in first


def test_weights_of_what_is_left_out_are_not_fitted(examples: list[Example]) -> None:
    asked = [asked_of("shop", f"acme/{i}", str(i), each) for i, each in enumerate(examples)]
    questions = Questions(asked, [1] * len(asked), 2, default_weights())
    names = set(all_names(questions.batch)) - {"name share", "leading definitions"}
    fitted = questions.fitted(names)
    assert "name share" not in fitted.definition.signals and "leading definitions" not in fitted.file.signals
    assert {"text", "name", "literal"} <= fitted.definition.signals.keys()
    figures = questions.held_out(names)
    assert figures.shape == (len(asked), 2) and np.nanmax(figures) > 0


def test_a_gain_wins_by_its_whole_interval_on_enough_questions() -> None:
    more = np.column_stack([np.full(40, 0.5), np.full(40, np.nan)])
    less = np.column_stack([np.full(40, 0.25), np.full(40, np.nan)])
    found = gain(more, less, range(40))
    assert found.is_win and found.files == (0.25, 0.25, 0.25) and found.definitions is None
    assert not gain(more, less, range(29)).is_win
    assert not gain(less, more, range(40)).is_win
    assert cell(found.files) == "+25.0 [25.0–25.0]" and cell(None) == ""
    assert found.size == 0.25 and not found.is_within(0.005) and Gain(40, None, None).is_within(0.005)
