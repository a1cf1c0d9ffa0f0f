"""Different things of one name: told apart where their neighbours differ, and nowhere else."""

import random

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from causalist.memory import HippoIndex, RetrievalSettings
from causalist.memory.senses import _find_components

PLANET = [
    "Near the Sun orbits Mercury. Messenger Probe saw craters on the planet.",
    "Messenger Probe measured how Mercury turns around the Sun, planet by planet.",
    "Of all planets Mercury is nearest to the Sun, says Messenger Probe about its orbit.",
    "Transit: in front of the Sun passes Mercury, a small planet with craters.",
]
CAR = [
    "The Mercury was a car that Ford Motor sold in Detroit with eight cylinders.",
    "At Ford Motor a Mercury got another engine, built in Detroit for dealers.",
    "Dealers in Detroit sold the Mercury and its engine, cylinders and all.",
]
OTHERS = ["The Kitchen Crew serves lunch.", "The Identity Team checks tokens."]


def _index(order: int = 0) -> HippoIndex:
    index = HippoIndex()
    texts = [*((f"planet{i}", t) for i, t in enumerate(PLANET)), *((f"car{i}", t) for i, t in enumerate(CAR)),
             *((f"other{i}", t) for i, t in enumerate(OTHERS))]  # fmt: skip
    random.Random(order).shuffle(texts)
    for passage, text in texts:
        index.add_passage(passage, text)
    return index


def test_two_things_of_one_name_are_two_entities() -> None:
    index = _index()
    found = index.entity("Mercury")
    assert found.senses == ("mercury_(1)", "mercury_(2)")
    assert (found.entity, found.name) == ("mercury", "Mercury")
    assert (found.occurrences, len(found.passages)) == (7, 7)
    # Four documents speak of the planet and three of the car: the planet is the first sense.
    assert index.entity("mercury_(1)").passages == ("planet0", "planet1", "planet2", "planet3")
    assert index.entity("mercury_(2)").passages == ("car0", "car1", "car2")
    car = {each.entity for each in index.entity_neighborhood("mercury_(2)")}
    assert {"detroit", "ford_motor"} <= car and not car & {"sun", "messenger_probe"}
    both = {each.entity for each in index.entity_neighborhood("Mercury")}
    assert {"detroit", "ford_motor", "sun", "messenger_probe"} <= both
    assert index.entity("Detroit").senses == ()


def test_the_walk_does_not_lead_from_one_to_the_other() -> None:
    index = _index()
    index.settings = RetrievalSettings(combine_with_vector=False)

    def first(question: str) -> list[str]:
        return [each.passage_id.rstrip("0123456789") for each in index.retrieve(question, top_k=3)]

    assert first("the engine of the Mercury") == ["car"] * 3
    assert first("the orbit of Mercury") == ["planet"] * 3
    (hit, *_) = index.retrieve("the engine of the Mercury")
    assert "mercury_(2)" in hit.entity_hits
    # Asked for by name alone it is both.
    assert {each.passage_id.rstrip("0123456789") for each in index.retrieve("Mercury")} == {"car", "planet"}


def test_senses_depend_on_no_history() -> None:
    expected = _index().to_node_link()
    for order in range(1, 5):
        index = _index(order)
        index.remove_passage("car1")
        assert index.entity("Mercury").senses == ()  # two documents are too few to be a sense
        index.add_passage("car1", CAR[1])
        assert index.to_node_link() == expected


def test_senses_travel() -> None:
    index = _index()
    again = HippoIndex.from_networkx(index.to_networkx())
    assert again.entity("Mercury") == index.entity("Mercury")
    assert [(r.passage_id, r.score) for r in again.retrieve("the engine of the Mercury")] == [
        (r.passage_id, r.score) for r in index.retrieve("the engine of the Mercury")
    ]


def test_what_means_one_thing_stays_one() -> None:
    index = HippoIndex()
    # One neighbour in common joins all of it, and so does being one document.
    for i, text in enumerate([*PLANET, *CAR]):
        index.add_passage(f"a{i}", text + (" Mercury Museum has both." if i in (0, 5) else ""))
    assert index.entity("Mercury").senses == ()
    index = HippoIndex()
    for i, text in enumerate([*PLANET, *CAR]):
        index.add_passage(f"a{i}", text, metadata={"path": f"{'both' if i in (0, 5) else i}.md"})
    assert index.entity("Mercury").senses == ()
    # The same subject in the same words, without a common name.
    index = HippoIndex()
    for i, name in enumerate(["Ada Byron", "Ada Byron", "Ada Byron", "Bob Cole", "Bob Cole", "Bob Cole"]):
        index.add_passage(f"a{i}", f"Into the Ledger, says {name}, go amounts, debts, interest and payments.")
    for i, text in enumerate(OTHERS):
        index.add_passage(f"b{i}", text)
    assert index.entity("Ledger").senses == ()


def test_dates_and_measures_mean_one_thing() -> None:
    index = HippoIndex()
    for i, text in enumerate([*PLANET, *CAR]):
        index.add_passage(f"a{i}", text.replace("Mercury", "2024-05-01"))
    assert index.entity("2024-05-01").senses == ()


def test_components_are_those_of_scipy() -> None:
    chance = np.random.default_rng(1)
    for _ in range(200):
        n, k = int(chance.integers(1, 60)), int(chance.integers(0, 60))
        node = chance.integers(0, n, k)
        key = np.unique(chance.integers(0, 30, k), return_inverse=True)[1]
        size = n + int(key.max(initial=-1)) + 1
        graph = coo_array((np.ones(k), (node, n + key)), shape=(size, size))
        labels = connected_components(graph, directed=False)[1][:n]
        first = np.unique(labels, return_index=True)[1][labels]
        assert _find_components(node, key, n).tolist() == first.tolist()
