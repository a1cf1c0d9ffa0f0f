"""The baselines that the ranking is compared with."""

import numpy as np
import pytest

from causalist.evaluate.results import FILE_SYSTEMS, SYMBOL_SYSTEMS, rank_by_whole_file_bm25
from causalist.pipeline.repository import Repository
from causalist.rank import impacts
from tests.evaluate.conftest import Clones


@pytest.fixture(scope="module")
def shop(clones: Clones) -> Repository:
    return Repository.at_commit(clones.folder / "acme+shop" / "repo", clones.shop[0])


def test_plain_bm25_has_no_opinion_on_tests_and_documentation(shop: Repository) -> None:
    # The documentation says "token" most often, and a plain BM25 puts it first.
    found = rank_by_whole_file_bm25(shop, "validate the token", 10)
    assert found[0] == "docs/tokens.md"
    assert set(found) == {"docs/tokens.md", "tests/test_auth.py", "auth.py"}


def test_code_only_leaves_out_what_is_not_code(shop: Repository) -> None:
    assert rank_by_whole_file_bm25(shop, "validate the token", 10, code_only=True) == ["auth.py"]


def test_a_repeated_term_counts_each_time_and_lists_are_cut(shop: Repository) -> None:
    # One "prices" and one "token": the short file wins. With "token" eight times, the files about tokens do.
    assert rank_by_whole_file_bm25(shop, "prices token", 10)[0] == "prices.py"
    often = rank_by_whole_file_bm25(shop, "prices token token token token token token token token", 10)
    assert often[0] == "docs/tokens.md"
    assert rank_by_whole_file_bm25(shop, "prices token", 1) == ["prices.py"]


def test_what_no_file_says_finds_nothing(shop: Repository) -> None:
    assert rank_by_whole_file_bm25(shop, "zebra the of", 10) == []


def test_scores_are_those_of_the_formula(shop: Repository) -> None:
    # "price" is in 2 of 5 files; with one term the order is that of tf / (tf + norm), so of the impacts themselves.
    files = shop.index.lexical.files
    term = shop.index.lexical.terms.position("price")
    documents, values = impacts(files, term)
    documents = documents[np.argsort(-values)]
    assert rank_by_whole_file_bm25(shop, "price", 10) == [shop.index.graph.nodes.ids[int(d)] for d in documents]
    assert len(documents) == 2


def test_systems_give_files_or_ids(shop: Repository) -> None:
    for system in FILE_SYSTEMS.values():
        assert "auth.py" in system(shop, "validate the token", 10)
    for system in SYMBOL_SYSTEMS.values():
        assert system(shop, "validate the token", 10)[0] == "auth.py::validate"
