"""Names that passages define, found in all passages, and the second hop over them; by hand, in several scripts."""

from math import log1p

import numpy as np
import pytest

from causalist.memory import HippoIndex
from causalist.memory.defined_names import fold_words, is_name
from causalist.memory.query_entities import terms_in_vocabulary
from causalist.memory.retrieval import score_bridges, score_plain
from causalist.memory.walk import Snapshot
from causalist.model.answer import RetrievalMode


def index_of(passages: dict[str, str]) -> HippoIndex:
    index = HippoIndex()
    for passage, text in passages.items():
        index.add_passage(passage, text)
    return index


def linked(snapshot: Snapshot, passage: str, words: str) -> list[str]:
    """Ids of the passages that define what the passage calls `words`."""
    number = snapshot.records.words.by_string
    (name,) = snapshot.names.find([number[word] for word in fold_words(words)])
    assert name in snapshot.names.naming.row(snapshot.position_by_passage[passage]).tolist()
    return [snapshot.arrays.passages[p] for p in snapshot.names.defining.row(name).tolist()]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The O'Neill-Smith report, v2.1", ["the", "o", "neill", "smith", "report", "v2", "1"]),
        ("Straße ÉCOLE", ["strasse", "ecole"]),
        ("caf\u00e9 cafe\u0301", ["cafe", "cafe"]),  # composed and decomposed
        ("Ёлка Й", ["елка", "и"]),
        ("Ἀθῆναι Σίσυφος", ["αθηναι", "σισυφοσ"]),  # the final sigma is a sigma
        ("東京タワー", ["東", "京", "タ", "ワ", "ー"]),
        ("서울 시청", ["서울", "시청"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("القَاهِرة", ["القاهرة"]),
        ("ＩＢＭ ﬁle", ["ibm", "file"]),
    ],
)
def test_words_without_case_and_accents(text: str, words: list[str]) -> None:
    assert fold_words(text) == words


def test_what_may_be_a_name() -> None:
    assert is_name(["ledger"]) and is_name(["the", "wall"]) and is_name(["東", "京"])
    assert not is_name(["the"]) and not is_name(["x"]) and not is_name(["1984"]) and not is_name([])
    assert not is_name(["of", "the"]) and not is_name(["w"] * 9)


@pytest.mark.parametrize(
    ("heading", "text", "name"),
    [
        ("Ledger", "A clerk reads it. Ledger entries are dated.", "ledger"),  # at the start of a sentence
        ("Blue Book", "Every miller signs the blue book at dawn.", "blue book"),  # in lower case
        ("Mercury (planet)", "It is as dense as Mercury is.", "mercury"),
        ("Kraków", "The fair of Krakow is in May.", "krakow"),
        ("Москва", "Поезд идёт в москва завтра.", "москва"),
        ("Ἀθῆναι", "Ὁδός εἰς Αθηναι.", "αθηναι"),
        ("東京", "昨日は東京に行きました。", "東京"),
        ("北京大学", "他在北京大学读书。", "北京大学"),
        ("서울", "우리는 서울 에 산다.", "서울"),
        ("القاهرة", "زرت القَاهِرة أمس.", "القاهرة"),
        ("हिन्दी", "वह हिन्दी बोलता है।", "हिन्दी"),
    ],
)
def test_a_name_is_found_in_any_script_and_place(heading: str, text: str, name: str) -> None:
    snapshot = index_of({"about": f"{heading}\nx y z", "names": text, "other": "lunch at noon"}).snapshot
    assert linked(snapshot, "names", name) == ["about"]


def test_a_longer_name_hides_the_shorter_ones_inside_of_it() -> None:
    passages = {"a": "York\ncity", "b": "New York\nother city", "c": "They met in New York.", "d": "York is older."}
    snapshot = index_of(passages).snapshot
    number = snapshot.records.words.by_string
    york, new_york = (snapshot.names.find([number[w] for w in each.split()])[0] for each in ("york", "new york"))
    named = {p: set(snapshot.names.naming.row(snapshot.position_by_passage[p]).tolist()) for p in passages}
    assert new_york in named["c"] and york not in named["c"] and york in named["d"]


BRIDGE = {
    "film": "Red Mill (film)\nA drama by Ada Byron.",
    "person": "Ada Byron\nShe was born in Leeds.",
    "note": "Leeds has a canal. Ada Byron swam there.",
    "lunch": "Lunch\nServed at noon.",
    "supper": "Supper\nServed at eight.",
}


def test_signals_of_the_second_hop_by_hand() -> None:
    """The question names the film. Its passage names Ada Byron, which one passage defines and three name, of five.

    The film has no word of "born": the two passages that name Ada Byron are asked for it, and one has it.
    """
    snapshot = index_of(BRIDGE).snapshot
    question = "Where was the director of Red Mill born?"
    terms = terms_in_vocabulary(question, snapshot)
    plain = score_plain(question, snapshot, RetrievalMode.SPARSE)
    place = {passage: i for i, passage in enumerate(snapshot.arrays.passages)}
    found = score_bridges(question, terms, plain, snapshot)
    single = log1p(4.5 / 1.5)
    byron = log1p(2.5 / 3.5) / single
    assert found["named"] == pytest.approx([1.0 if i == place["film"] else 0.0 for i in range(5)])
    # The film is the best passage of the first hop, with weight 1; its definition of Ada Byron is the person.
    assert found["definition"][place["person"]] == pytest.approx(byron)
    assert found["definition"][place["lunch"]] == 0.0
    assert found["shared"][place["note"]] == pytest.approx(byron)
    # "born" is the term that the film lacks; it is as rare as "mill" and "red". "director" is in no passage.
    assert len(terms) == 3
    assert found["rest"][place["person"]] == pytest.approx(1 / 3)
    assert found["definition_rest"][place["person"]] == pytest.approx(byron / 3)
    assert found["shared_rest"][place["note"]] == 0.0
    assert all(each.min() >= 0 and each.max() <= 1 for each in found.values())


def test_no_word_in_common_is_no_hop() -> None:
    snapshot = index_of(BRIDGE).snapshot
    found = score_bridges("quantum", {}, np.zeros(5), snapshot)
    assert not any(each.any() for each in found.values())


def test_a_name_that_nobody_defines_links_passages_too() -> None:
    """`a` leads to `b` over the canal, which is in both texts and in no title."""
    texts = {"a": "The miller of Ossett uses the Barnsley Canal.", "b": "Freight on the Barnsley Canal is coal.",
             "c": "Bread is baked.", "d": "Coal is dear."}  # fmt: skip
    found = index_of(texts).retrieve("What does the route of the miller of Ossett carry?", top_k=3)
    assert [each.passage_id for each in found][:2] == ["a", "b"]


def test_any_history_gives_the_same_names() -> None:
    built, grown = index_of(BRIDGE), HippoIndex()
    for passage in reversed(BRIDGE):
        grown.add_passage(passage, "Other words first")
        grown.add_passage(passage, BRIDGE[passage])
    question = "Where was the director of Red Mill born?"
    one, other = ([(r.passage_id, r.score) for r in index.retrieve(question)] for index in (built, grown))
    assert one == other


@pytest.mark.parametrize("words_at_once", [1, 4, 1_000])
def test_a_search_in_blocks_finds_names_in_every_passage(monkeypatch: pytest.MonkeyPatch, words_at_once: int) -> None:
    monkeypatch.setattr("causalist._internal.dataclass_arrays.ENTRIES_AT_ONCE", words_at_once)
    texts = {"a": "Blue Mill\nIt grinds.", "b": "the miller of blue mill sleeps", "c": "no mill", "d": "",
             "e": "again blue mill, blue mill"}  # fmt: skip
    snapshot = index_of(texts).snapshot
    number = snapshot.records.words.by_string
    (name,) = snapshot.names.find([number["blue"], number["mill"]])
    assert snapshot.names.named_by.row(name).tolist() == [0, 1, 4]
