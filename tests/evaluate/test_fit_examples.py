"""What is kept of a reading ranks as the whole does; fitting takes the signals that there are."""

import pytest

from causalist.evaluate.fit import FIXED, Example, build_example, fit_weights, ranks_with, read_query_signals
from causalist.evaluate.results import metric_values
from causalist.model.answer import AskOptions, Level
from causalist.model.node_ids import split_id
from causalist.pipeline.repository import Repository
from causalist.rank import default_weights
from tests.evaluate.conftest import Clones

QUESTIONS = {"validate the token": "auth.py", "add an item to the cart": "cart.py", "total price": "prices.py"}


@pytest.fixture(scope="module")
def shop(clones: Clones) -> Repository:
    return Repository.at_commit(clones.folder / "acme+shop" / "repo", clones.shop[0])


def example(shop: Repository, query: str, files: list[str], definitions: list[str]) -> Example:
    weights = default_weights()
    return build_example(read_query_signals(shop, query, weights), weights, files, definitions)


@pytest.mark.parametrize("query", [*QUESTIONS, '"issued"', "nothing of this stands there", "docs on tokens"])
def test_ranks_are_those_of_the_ranking(shop: Repository, query: str) -> None:
    files = [split_id(node)[0] for node in shop.rank_nodes(query, AskOptions(level=Level.FILE, graph=False))]
    nodes = shop.rank_nodes(query, AskOptions(graph=False))
    definitions = [node for node in nodes if split_id(node)[1] is not None][:6]
    found = ranks_with(example(shop, query, files or ["auth.py"], definitions), default_weights())
    assert found.files == (tuple(range(1, len(files) + 1)) if files else (None,))
    # Module-level code has places of its own among definitions, but is no definition.
    assert list(found.definitions) == sorted(rank for rank in found.definitions if rank is not None)


def test_what_is_in_no_index_is_never_found(shop: Repository) -> None:
    missing = example(shop, "validate the token", ["auth.py", "gone.py"], ["auth.py::validate", "gone.py::f"])
    found = ranks_with(missing, default_weights())
    assert (found.files, found.definitions) == ((1, None), (1, None))


def test_many_right_definitions_teach_files_only(shop: Repository) -> None:
    many = example(shop, "validate the token", ["auth.py"], [f"auth.py::f{i}" for i in range(7)])
    assert many.gold_definitions == () and not many.candidates.gold.any()


def test_fitting_keeps_what_is_fixed_and_improves_the_likelihood(shop: Repository) -> None:
    start = default_weights()
    gold = {"auth.py": "auth.py::validate", "cart.py": "cart.py::add_item", "prices.py": "prices.py::total_price"}
    examples = [example(shop, query, [path], [gold[path]]) for query, path in QUESTIONS.items()]
    fitted = fit_weights(examples, start)
    for before, after in ((start.definition, fitted.definition), (start.file, fitted.file)):
        assert {n: w for n, w in after.signals.items() if n in FIXED} == {
            n: w for n, w in before.signals.items() if n in FIXED
        }
        assert all(weight >= 0 for weight in after.signals.values())
    assert set(fitted.definition.signals) - FIXED == set(examples[0].reading.of_definitions) - FIXED
    assert fitted.factors is start.factors
    ranks = [ranks_with(each, fitted).definitions for each in examples]
    assert metric_values(ranks, ["any@1", "NDCG@10"]).tolist() == [[1.0, 1.0]] * 3
