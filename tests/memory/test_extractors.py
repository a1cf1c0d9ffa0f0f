"""Names, patterns, and names that are near."""

import random
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causalist.errors import UsageError
from causalist.memory import HippoIndex, document_text, extractors
from causalist.memory.defined_names import fold_run, fold_words, split_text
from causalist.memory.document_text import clean_text
from causalist.memory.entity_ids import entity_id
from causalist.memory.extractors import (
    MAX_ENTITIES,
    Entity,
    Extraction,
    HandedTriples,
    RegexEntityExtractor,
    Triple,
    normalize_extraction,
)
from causalist.memory.senses import SIMILARITY_THRESHOLD, NameSimilarity, stem_key
from causalist.rank.terms import damerau_distance
from tests.trials import count_of


def _names(text: str) -> list[tuple[str, str]]:
    return [(entity.name, entity.type) for entity in RegexEntityExtractor()(text).entities]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The New York office of Acme Corp", [("New York", "entity"), ("Acme Corp", "entity")]),
        ("the Bank of England said", [("Bank of England", "entity")]),
        ("call `retry()` or use --max-time", [("retry()", "identifier"), ("--max-time", "identifier")]),
        ("see https://example.org/a?b=1.", [("https://example.org/a?b=1", "iri")]),
        ("on 2024-05-01 and 3 May 2021", [("2024-05-01", "date"), ("3 May 2021", "date")]),
        ("at most 24 hours, 5 mg or 80 %", [("24 hours", "measure"), ("5 mg", "measure"), ("80 %", "measure")]),
        ("in os.path and asyncio.sleep()", [("os.path", "identifier"), ("asyncio.sleep()", "identifier")]),
        ("parseJson, HttpClient and max_age", [("parseJson", "identifier"), ("HttpClient", "identifier"),
                                               ("max_age", "identifier")]),
        # A capital at the beginning of a sentence says nothing, unless the word has one elsewhere as well.
        ("Tokens expire. Tokens are checked.", []),
        ("Redis is fast. We use Redis.", [("Redis", "entity"), ("Redis", "entity")]),
        ("Use Python 3.12 here", [("Python 3.12", "entity")]),
        ("nothing to see", []),
        # Capitals of any script, without the words that a sentence begins with.
        ("В Казани живёт Анна Петрова. Она работает в НИИ Связи.",
         [("Казани", "entity"), ("Анна Петрова", "entity"), ("НИИ Связи", "entity")]),
        ("Ο Γιώργος Παπαδόπουλος ζει στην Αθήνα.", [("Γιώργος Παπαδόπουλος", "entity"), ("Αθήνα", "entity")]),
        ("the home of José Álvarez in Île Royale", [("José Álvarez", "entity"), ("Île Royale", "entity")]),
        ("on the 3rd of March, 2021 or 2021/03/04, for 24h or 5 hrs",
         [("3rd of March, 2021", "date"), ("2021/03/04", "date"), ("24h", "measure"), ("5 hrs", "measure")]),
    ],
)  # fmt: skip
def test_patterns(text: str, expected: list[tuple[str, str]]) -> None:
    assert _names(text) == expected


def test_entities_know_where_they_stand() -> None:
    text = "Ask Alice Smith about the `JWT` check of Acme Corp."
    for entity in RegexEntityExtractor()(text).entities:
        assert text[entity.start :].startswith(entity.name)


_PIECES = st.sampled_from(
    [*"aBZ  \n09.:/->()_'’é\u0301Ж東٣½\0,;", "May", " 12 ", " 2024", "2024-05-01", "http:", "urn:x", "::", "()", " ms",
     "the", " is ", "IBM", "(IBM)", "--opt", "-x", "fooBar", "3Com", "'s", "1/2/2024", "`a b`"]
)  # fmt: skip


@settings(max_examples=count_of(60, 300), deadline=None)
@given(st.lists(_PIECES, max_size=40).map("".join))
def test_a_long_text_is_read_as_a_short_one(text: str) -> None:
    found = []
    for limit in (0, len(text) + 1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(extractors, "_LONG_TEXT", limit)
            found.append(RegexEntityExtractor()(text))
    assert found[0] == found[1]


@settings(max_examples=count_of(60, 300), deadline=None)
@given(
    st.text(
        alphabet="aé \u0301\u0323\u0338\u0340<Åﬁ東\u1100\u1161\u11a8가ガ\u3099\u0915\u093c\u2f800𝅗\U0001d165",
        max_size=40,
    )
)
def test_the_parts_of_a_long_text_are_normalized_as_the_whole(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document_text, "_LONG_TEXT", 0)
        assert clean_text(text) == unicodedata.normalize("NFC", text)


@settings(max_examples=count_of(60, 300), deadline=None)
@given(st.text(alphabet="aB _.'1\nßİé\u0301\u0338<ﬁ½Ж東京กา\ud800\u2028", max_size=60))
def test_runs_have_the_words_of_a_text(text: str) -> None:
    assert [word for run in split_text(text) for word in fold_run(run)] == fold_words(text)


@settings(max_examples=count_of(25, 60), deadline=None)
@given(st.text(alphabet="aB `.-_/:()1\n\0é\ud800", max_size=300))
def test_any_text_is_read(text: str) -> None:
    for entity in RegexEntityExtractor()(text).entities:
        assert entity_id(entity.name)


def test_hostile_text_takes_time_in_proportion() -> None:
    """Each of these would keep a pattern that tries all ways busy for hours."""
    for piece in (
        "A" * 50_000,
        "Aa " * 20_000,
        "a." * 30_000,
        "`" * 30_000,
        "1" * 50_000,
        "a_" * 30_000,
        "--a-" * 9_000,
    ):
        RegexEntityExtractor()(piece)


def test_at_most_twenty_the_most_frequent_first() -> None:
    names = [f"Name{i:02}x" for i in range(25)]
    found = normalize_extraction([Entity(name) for name in names] + [Entity(names[24])])
    kept = {entity_id(entity.name) for entity in found.entities}
    assert len(kept) == MAX_ENTITIES
    assert kept == {entity_id(name) for name in [*names[:19], names[24]]}


def test_triples_need_two_entities_and_a_confidence() -> None:
    entities = (Entity("Alice"), Entity("Team"))
    good = Triple("alice", "leads", "TEAM", 0.9)
    bad = [Triple("alice", "is", "Alice"), Triple("alice", "knows", "Bob"), good._replace(confidence=0.0)]
    assert normalize_extraction(Extraction(entities, (good, *bad))).triples == (good,)


def test_short_and_empty_names_are_none() -> None:
    assert [entity_id(name) for name in ("a", "", " -- ", "x" * 121, "C#", "ab")] == ["", "", "", "", "", "ab"]
    assert entity_id("c++") == "c++"


def _pairs(names: list[str]) -> dict[tuple[str, str], float]:
    near = NameSimilarity()
    for name in names:
        near.add(name)
    return near.pairs


def test_near_names() -> None:
    names = ["access_token", "access_tokens", "token_access", "authentication", "authentification", "get_name",
             "set_name", "python_3.10", "python_3.11", "c++", "c",
             "serialisation_format", "serialization_format"]  # fmt: skip
    pairs = _pairs(names)
    assert pairs == {
        ("access_token", "access_tokens"): 1.0,
        ("access_token", "token_access"): 1.0,
        ("access_tokens", "token_access"): 1.0,
        # two letters of 16 are too much
        ("authentication", "authentification"): 1 - 2 / 16,
        ("serialisation_format", "serialization_format"): 1 - 1 / 20,
    }


@pytest.mark.slow
def test_near_words_are_those_that_comparing_all_finds() -> None:
    """Against comparing every pair, for words that differ by random edits."""
    rng = random.Random(7)
    words = set()
    for _ in range(60):
        word = [rng.choice("abcde") for _ in range(rng.randint(7, 16))]
        words.add("".join(word))
        for _ in range(3):
            other = list(word)
            for _ in range(rng.randint(1, 2)):
                at = rng.randrange(len(other) - 1)
                kind = rng.randrange(4)
                if kind == 0:
                    other[at] = "f"
                elif kind == 1:
                    del other[at]
                elif kind == 2:
                    other.insert(at, "f")
                else:
                    other[at], other[at + 1] = other[at + 1], other[at]
            words.add("".join(other))
    names = sorted(word for word in words if len(word) >= 7)
    expected = {}
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            longer = max(len(a), len(b))
            distance = damerau_distance(a, b, 2)
            if stem_key(a) == stem_key(b):
                expected[a, b] = 1.0
            elif distance <= min(2, 15 * longer // 100) and 1 - distance / longer >= SIMILARITY_THRESHOLD:
                expected[a, b] = 1 - distance / longer
    assert len(expected) > 50
    assert _pairs(names) == expected
    shuffled = names[:]
    rng.shuffle(shuffled)
    assert _pairs(shuffled) == expected


def test_dates_and_measures_have_one_id_each() -> None:
    same = (
        ("2024-03-01", "1 March 2024", "March 1, 2024", "Mar 1st 2024", "1st of March, 2024", "2024/03/01"),
        ("10 ms", "10ms", "10-ms", "10 milliseconds"),
        ("24 hours", "24 h", "24-hour", "24 hrs", "24h"),
        ("1500 mb", "1,500 MB", "1500 megabytes"),
        ("50 %", "50%", "50 percent"),
    )
    for name, *others in same:
        assert {entity_id(other) for other in others} == {entity_id(name)} == {name.replace(" ", "_")}
    assert len({entity_id(each) for each in ("1.5 s", "15 s", "1,5 s")}) == 3


def test_an_abbreviation_leads_to_the_name_that_the_text_gives_it() -> None:
    index = HippoIndex()
    index.add_passage("full", "The International Token Office (ITO) was founded in Bern. It has a library.")
    index.add_passage("short", "Ada Byron was the first head of the ITO.")
    index.add_passage("other", "The Kitchen Crew (led by Bob) serves lunch in Bern.")
    assert [(each.entity, each.kinds) for each in index.entity_neighborhood("ITO")][:1] == [
        ("international_token_office", ("co_occurrence", "related_to"))
    ]
    found = index.retrieve("Where was the office founded that Ada Byron was the head of?", top_k=2)
    assert [each.passage_id for each in found] == ["short", "full"]
    assert index.stats()["triples"] == 1


def test_an_abbreviation_in_any_script() -> None:
    found = RegexEntityExtractor()("Этим занят Европейский Союз (ЕС).")
    assert [(each.subject, each.object) for each in found.triples] == [("Европейский Союз", "ЕС")]


def test_a_name_in_any_script_leads_to_a_second_hop() -> None:
    index = HippoIndex()
    index.add_passage("team", "Проверкой токенов занят Отдел Связи.")
    index.add_passage("lead", "Уже год Отдел Связи возглавляет Анна Петрова.")
    index.add_passage("food", "Обед готовит Павел Кузнецов.")
    assert [each.entity for each in index.entity_neighborhood("анна петрова")] == ["отдел_связи"]
    assert [each.passage_id for each in index.retrieve("Кто возглавляет Отдел Связи?", top_k=2)] == ["lead", "team"]


def test_titles_of_persons_belong_to_no_name() -> None:
    found = RegexEntityExtractor()("We asked Dr Ada Byron and Mr Bob Stone, then Sir Isaac Newton.")
    assert [entity.name for entity in found.entities] == ["Ada Byron", "Bob Stone", "Isaac Newton"]


def test_triples_that_are_handed_over_count_where_both_names_are(tmp_path: Path) -> None:
    path = tmp_path / "triples.jsonl"
    path.write_text(
        '{"subject": "token checks", "predicate": "belong to", "object": "the night crew"}\n\n'
        '{"subject": "the night crew", "predicate": "reports to", "object": "Ada", "confidence": 0.5}\n'
    )
    index = HippoIndex(entity_extractor=HandedTriples.read(path))
    index.add_passage("checks", "Token checks belong to the night crew.")
    index.add_passage("lead", "Since May, the night crew has reported to Ada.")
    index.add_passage("other", "The night crews of Adam check tokens.")
    assert index.stats()["triples"] == 2
    near = {each.entity: (each.hops, each.kinds) for each in index.entity_neighborhood("token checks", hops=2)}
    kinds = ("co_occurrence", "related_to")
    assert near == {"the_night_crew": (1, kinds), "ada": (2, kinds)}
    for wrong in ("{", "[1]", '{"subject": "a"}', '{"subject": "ab", "predicate": "is", "object": "ab"}'):
        path.write_text(f"\n{wrong}\n")
        with pytest.raises(UsageError, match=r"line 2 of .* is no triple: "):
            HandedTriples.read(path)
    with pytest.raises(UsageError, match="cannot read triples"):
        HandedTriples.read(tmp_path / "none.jsonl")
