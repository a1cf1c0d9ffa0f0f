"""The other sample repositories, against answers that were worked out by reading them (`expected_answers.toml`)."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from causalist.model.answer import AskOptions, Level
from causalist.pipeline.repository import Repository
from tests.pipeline.sample import copy_sample, in_memory
from tests.pipeline.test_golden import check_golden, rank_rows, written

EXPECTED = tomllib.loads((Path(__file__).parent / "expected_answers.toml").read_text(encoding="utf-8"))
GRAMMAR_OF = {"larder-shop": "python", "lookout": "go"}
TOP_K = 10


@pytest.fixture(scope="module")
def sample_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Repository]:
    made: dict[str, Repository] = {}

    def get(name: str) -> Repository:
        if name not in made:
            made[name] = in_memory(copy_sample(tmp_path_factory.mktemp("sample"), name))
        return made[name]

    return get


def questions(name: str) -> list[dict[str, Any]]:
    return [question for question in EXPECTED["question"] if question["repository"] == name]


@pytest.mark.slow
@pytest.mark.parametrize("question", EXPECTED["question"], ids=lambda q: q["query"])
def test_answers(question: dict[str, Any], sample_of: Callable[[str], Repository]) -> None:
    repository = sample_of(question["repository"])
    answer = repository.ask(question["query"], AskOptions(top_k=TOP_K, level=Level.FILE))
    found = [hit.id for hit in answer.results]
    assert not [path for path in question["files"] if path not in found], found
    assert not [path for path in question.get("missed", ()) if path in found], "found now: move it to files"
    places = [answer.order.index(path) for path in question["order"]]
    assert places == sorted(places), answer.order
    assert {(e.source, e.target, e.kind) for e in answer.removed_edges} == {tuple(e) for e in question["removed"]}
    definitions = [hit.id for hit in repository.ask(question["query"], AskOptions(top_k=TOP_K)).results]
    assert not [symbol for symbol in question["symbols"] if symbol not in definitions], definitions


@pytest.mark.parametrize("name", list(GRAMMAR_OF))
def test_edges(name: str, sample_of: Callable[[str], Repository]) -> None:
    repository = sample_of(name)
    there = {(e.source, e.target) for e in repository.edges(kinds=("calls",), min_confidence=0.5)}
    assert not [edge for edge in EXPECTED["edges"][name] if tuple(edge) not in there]


@pytest.mark.slow
def test_ranks_of_the_shop(sample_of: Callable[[str], Repository], update_golden: bool) -> None:
    rows = rank_rows(sample_of("larder-shop"), [q["query"] for q in questions("larder-shop")])
    check_golden("larder-shop.ranks.csv", written(rows), update_golden)


def test_pack_of_the_shop(sample_of: Callable[[str], Repository], update_golden: bool) -> None:
    query = questions("larder-shop")[0]["query"]
    pack = sample_of("larder-shop").ask(query, AskOptions(top_k=6, level=Level.FILE)).pack
    assert pack is not None
    check_golden("larder-shop.price.file.txt", pack.text, update_golden)
