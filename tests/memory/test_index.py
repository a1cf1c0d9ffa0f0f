"""Adding, replacing, removing and asking."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causalist.errors import EmptyQuestion, UnknownEntity, UsageError
from causalist.memory import Entity, Extraction, HippoIndex, Triple
from causalist.model.answer import RetrievalMode
from tests.memory.texts import TEAM, team

QUESTION = "Who manages the team that handles JWT authentication?"


def test_the_second_hop_is_found_by_the_graph_and_not_by_words() -> None:
    index = team()
    ranks = {mode: [each.passage_id for each in index.retrieve(QUESTION, mode=mode)] for mode in RetrievalMode}
    assert ranks["hippo"][:2] == ["jwt", "lead"]
    # "managed" and "team" stand in several passages: words alone do not tell which one is meant.
    lead = next(each for each in index.retrieve(QUESTION) if each.passage_id == "lead")
    assert "identity_team" in lead.entity_hits
    assert lead.ppr_score > 0


def test_modes() -> None:
    index = team()
    for mode in ("dense", "sparse", "hybrid"):
        found = index.retrieve("who serves lunch at noon", mode=mode)
        assert found[0].passage_id == "lunch"
        assert {each.origin for each in found} == {mode}
        assert all(each.ppr_score == 0 for each in found)


def test_dense_finds_what_stands_with_the_words_of_the_question() -> None:
    """ "penguin" and "Antarctica" stand together in two passages, so that a third one about Antarctica is near."""
    index = HippoIndex()
    for i, text in enumerate(
        ["penguin antarctica ice", "penguin antarctica fish", "antarctica is cold", "desert sand"]
    ):
        index.add_passage(str(i), text)
    assert "2" in [each.passage_id for each in index.retrieve("penguin", mode="dense")]
    assert "2" not in [each.passage_id for each in index.retrieve("penguin", mode="sparse")]
    assert "3" not in [each.passage_id for each in index.retrieve("penguin", mode="dense")]


def test_no_entity_means_plain_retrieval() -> None:
    found = team().retrieve("served at noon")
    assert found[0].passage_id == "lunch"
    assert {each.origin for each in found} == {"fallback"}


def test_nothing_fits() -> None:
    assert team().retrieve("zebra") == []
    assert HippoIndex().retrieve("zebra") == []
    with pytest.raises(EmptyQuestion):
        team().retrieve("  ")


def _fingerprint(index: HippoIndex) -> list[Any]:
    """Every score to its last bit."""
    found: list[Any] = [index.stats(), index.synonym_graph()]
    for question in (QUESTION, "Kitchen Crews lunch", "Identity Teams", "alice"):
        for mode in RetrievalMode:
            for each in index.retrieve(question, mode=mode, top_k=50):
                found.append((mode, each.passage_id, each.score.hex(), each.ppr_score.hex(), tuple(each.entity_hits)))
        found += [each.score.hex() for each in index.retrieve_multi_hop(question)]
    found += [
        index.snapshot.associations.associates_of(t)[1].tobytes() for t in range(len(index.snapshot.arrays.terms))
    ]
    return found


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(TEAM)), st.sampled_from(["add", "change", "remove"])), max_size=12))
def test_any_history_equals_building_afresh(history: list[tuple[str, str]]) -> None:
    index = HippoIndex()
    now: dict[str, str] = {}
    for passage, action in history:
        if action == "remove":
            assert index.remove_passage(passage) == (passage in now)
            now.pop(passage, None)
        else:
            now[passage] = TEAM[passage] + (" See Kitchen Crews of Acme." if action == "change" else "")
            index.add_passage(passage, now[passage])
        if passage == "jwt":
            index.retrieve("JWT")  # asking in between changes nothing
    afresh = HippoIndex()
    afresh.build_from_passages([{"id": passage, "text": text} for passage, text in sorted(now.items())])
    assert _fingerprint(index) == _fingerprint(afresh)


def test_adding_again_changes_nothing_or_the_metadata() -> None:
    index = team()
    before, generation = _fingerprint(index), index.snapshot
    index.add_passage("jwt", TEAM["jwt"])
    assert index.snapshot is generation
    index.add_passage("jwt", TEAM["jwt"], metadata={"by": "me"})
    assert index.passage("jwt") == (TEAM["jwt"], {"by": "me"})
    assert _fingerprint(index) == before
    assert len(index) == len(TEAM)


def test_extractors_are_asked_once_for_each_text() -> None:
    asked: list[str] = []

    def extractor(text: str) -> list[Entity]:
        asked.append(text)
        return [Entity(word) for word in text.split() if word[0].isupper()]

    index = HippoIndex(entity_extractor=extractor)
    for _ in range(3):
        index.add_passage("a", "Alpha beta")
    index.add_passage("a", "Alpha beta", metadata={"x": 1})
    assert asked == ["Alpha beta"]


@pytest.mark.parametrize(
    ("passage", "message"),
    [
        ({"id": "", "text": "x"}, "1 to 2000"),
        ({"id": "a", "text": 3}, "must be a string"),
        ({"text": "x"}, "id, text"),
        ({"id": "a", "text": "x", "metadata": {"f": float("nan")}}, "as JSON"),
        ({"id": "a", "text": "x", "metadata": {"references": "b"}}, "must be a list"),
        ({"id": "a", "text": "x", "metadata": [1]}, "not a mapping"),
    ],
)
def test_what_is_no_passage_is_refused(passage: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        HippoIndex().build_from_passages([passage])


def test_references_are_walked() -> None:
    index = HippoIndex()
    index.add_passage("a", "About the Alpha Engine.", metadata={"references": ["b", "missing", "a"]})
    index.add_passage("b", "The Beta Gear turns.")
    assert index.stats()["references"] == 1
    assert [each.passage_id for each in index.retrieve("Alpha Engine")] == ["a", "b"]
    index.add_passage("a", "About the Alpha Engine.")
    assert index.stats()["references"] == 0
    assert [each.passage_id for each in index.retrieve("Alpha Engine")] == ["a"]


def test_synonyms() -> None:
    index = HippoIndex()
    index.add_passage("a", "We keep Access Tokens.")
    index.add_passage("b", "An `access_token` is short. `other_thing` is not.")
    assert index.synonym_graph() == {"access_token": {"access_tokens": 1.0}, "access_tokens": {"access_token": 1.0}}
    assert index.expand_with_synonyms(["Access Tokens"]) == ["access_token", "access_tokens"]
    assert {each.passage_id for each in index.retrieve("`access_tokens`")} == {"a", "b"}


def test_the_limit_of_entities_is_one_of_passages() -> None:
    names = " ".join(f"We saw Name{letter} there." for letter in "ABCDEFGHIJKLMNOPQRSTUVWX")
    texts = ("Ada Byron met Bob Stone. Ada Byron left.", "Bob Stone stayed.", names)
    for most, found in ((1, [1, 1, 1]), (30, [2, 1, 24])):
        index = HippoIndex(max_entities=most)
        index.build_from_passages({"id": str(i), "text": text} for i, text in enumerate(texts))
        assert index.snapshot.arrays.mentions.sizes.tolist() == found
        assert len(index.extractor("Ada Byron or Bob Stone").entities) == 2  # queries have no such limit


def test_at_most_ten_similar_entities_that_choose_each_other() -> None:
    index = HippoIndex(entity_extractor=lambda text: [Entity(text)])
    names = ["access token", "access tokens", "access-token", "access-tokens", "token access", "tokens access",
             "token-access", "tokens-access", "access; token", "access; tokens", "access, token", "access/token",
             "access/tokens", "token/access"]  # fmt: skip
    order = names[:]
    random.Random(1).shuffle(order)
    for name in order:
        index.add_passage(name, name)
    graph = index.synonym_graph()
    assert max(len(others) for others in graph.values()) == 10
    assert all(a in graph[b] for a, others in graph.items() for b in others)


def test_neighbourhood_and_what_is_known_of_an_entity() -> None:
    index = team()
    near = index.entity_neighborhood("JWT Authentication", hops=2)
    assert [(each.entity, each.hops, each.kinds) for each in near] == [
        ("identity_team", 1, ("co_occurrence",)),
        ("jwt", 1, ("co_occurrence",)),
        ("alice_moreau", 2, ("co_occurrence",)),
    ]
    info = index.entity("identity team")
    assert (info.name, info.occurrences, info.passages) == ("Identity Team", 2, ("jwt", "lead"))
    with pytest.raises(UnknownEntity, match="similar: identity_team"):
        index.entity("identity teams")


def test_types_and_aliases_are_those_said_most() -> None:
    index = HippoIndex(entity_extractor=lambda text: [Entity(*part.split(":")) for part in text.split("|")])
    index.add_passage("a", "Acme Corp:org|ACME corp:entity")
    index.add_passage("b", "ACME corp:entity")
    info = index.entity("acme corp")
    assert (info.type, info.name, info.aliases) == ("org", "ACME corp", ("ACME corp", "Acme Corp"))


def test_multi_hop_seeds_what_is_further_away() -> None:
    chain = {f"p{i}": f"The {'ABCDE'[i]}aaa Unit feeds the {'ABCDE'[i + 1]}aaa Unit." for i in range(4)}
    index = HippoIndex()
    index.build_from_passages([{"id": k, "text": v} for k, v in chain.items()])
    scores = {hops: {r.passage_id: r.ppr_score for r in index.retrieve_multi_hop("Aaaa Unit", max_hops=hops)}
              for hops in (1, 3)}  # fmt: skip
    assert index.retrieve("Aaaa Unit")[0].passage_id == "p0"
    assert scores[3]["p3"] > scores[1]["p3"] > 0
    with pytest.raises(UsageError, match="hops must be from 1 to 10, not 0"):
        index.retrieve_multi_hop("Aaaa Unit", max_hops=0)


def test_explicit_relations_lead_where_no_passage_is_shared() -> None:
    def extractor(text: str) -> Extraction:
        known = {"one": Extraction((Entity("Ada"), Entity("Mill")), (Triple("Ada", "built", "Mill", 0.9),))}
        return known.get(text, Extraction((Entity("Mill"),) if "mill" in text.lower() else ()))

    index = HippoIndex(entity_extractor=extractor)
    index.add_passage("p", "one")
    index.add_passage("q", "the mill stands still")
    assert index.stats()["triples"] == 1
    assert [n.kinds for n in index.entity_neighborhood("Ada")] == [("co_occurrence", "related_to")]
    assert {each.passage_id for each in index.retrieve("mill")} == {"p", "q"}


def _embed(texts: Sequence[str]) -> list[list[float]]:
    """Two meanings: what flies, and what swims."""
    flying, swimming = ("plane", "aircraft", "wing"), ("boat", "ship", "sail")
    rows = []
    for text in texts:
        words = text.lower().replace(".", "").split()
        rows.append([sum(w in flying for w in words) + 0.01, sum(w in swimming for w in words) + 0.01])
    return rows


def test_an_embedder_stands_in_for_words_and_names() -> None:
    index = HippoIndex(embedder=_embed, entity_extractor=lambda text: [Entity(w) for w in text.split() if w.istitle()])
    texts = {"a": "the Plane lands", "b": "an Aircraft starts", "c": "a Boat rests"}
    index.build_from_passages([{"id": k, "text": v} for k, v in texts.items()])
    assert [each.passage_id for each in index.retrieve("wing", mode="dense")][:2] == ["a", "b"]
    (similarity,) = index.synonym_graph()["plane"].values()
    assert similarity == pytest.approx(1.0)
    assert set(index.synonym_graph()) == {"plane", "aircraft"}
    one_by_one = HippoIndex(embedder=_embed, entity_extractor=index.extractor)
    for key in sorted(texts, reverse=True):
        one_by_one.add_passage(key, texts[key])
        one_by_one.retrieve("Plane")
    for mode in RetrievalMode:
        assert index.retrieve("Plane Boat", mode=mode) == one_by_one.retrieve("Plane Boat", mode=mode)
    index.remove_passage("b")
    assert index.synonym_graph() == {}


def test_embedders_that_do_not_embed_are_refused() -> None:
    for bad in (lambda t: [], lambda t: [[float("nan")]], lambda t: [[[1.0]]]):
        with pytest.raises(UsageError, match="embedder returned"):
            HippoIndex(embedder=bad).add_passage("a", "text")  # type: ignore[arg-type]


def test_a_view_is_in_alphabetical_order() -> None:
    index = team()
    arrays = index.snapshot.arrays
    assert list(arrays.passages) == sorted(TEAM)
    assert arrays.entities == sorted(arrays.entities)
    assert np.array_equal(arrays.mentions.transpose().transpose().values, arrays.mentions.values)
