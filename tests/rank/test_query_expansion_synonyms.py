"""Words that mean the same, by hand; and the list that is shipped."""

from importlib.resources import files as resource_files
from math import log1p

import pytest

from causalist.rank.lexical.query_expansion import (
    MAX_EXPANDED_WORDS,
    OTHER_WEIGHT,
    indirect_synonym_terms,
    replacement_words,
    synonym_terms,
)
from causalist.rank.query.query import parse_query, with_corpus_spelling
from causalist.rank.terms import STOP_WORDS
from tests.model.corpus import Def, corpus


def found(text: str, *words: str) -> dict[str, float]:
    c = corpus({"p.py": [Def("f", " ".join(words))]})
    return {c.lexical.terms[number]: weight for number, weight in synonym_terms(parse_query(text), c.lexical).items()}


def test_what_the_repository_says_for_a_word_of_the_question() -> None:
    assert found("what deletes orders", "remove", "purge", "order") == {"remov": 1.0, "purg": 1.0}


def test_a_word_that_is_asked_for_itself_is_no_synonym() -> None:
    assert found("delete or remove", "remove", "drop") == {"drop": 1.0}


def test_a_synonym_weighs_as_much_as_the_heaviest_word_that_it_stands_for() -> None:
    # A word of the title weighs 2, of the body 1.
    assert found("delete it\nand purge them", "remove") == {"remov": 2.0}


def test_of_a_long_question_the_title_alone_has_synonyms() -> None:
    body = " ".join(f"word{i}x" for i in range(MAX_EXPANDED_WORDS))
    assert found(f"delete it\n{body} create", "remove", "build") == {"remov": 2.0}
    assert found(f"delete {body}\nand so on", "remove") == {}


def test_what_is_written_apart_has_the_synonyms_of_the_word() -> None:
    lexical = corpus({"p.py": [Def("f", "log_in signin authenticate")]}).lexical
    question = with_corpus_spelling(parse_query("how does a user log in"), lexical)
    assert "log_in" in question.terms
    assert {lexical.terms[number] for number in synonym_terms(question, lexical)} >= {"signin"}


def others(text: str, **words: str) -> dict[str, float]:
    c = corpus({f"{name}.py": [Def(name, said)] for name, said in words.items()})
    return replacement_words(parse_query(text), c.lexical)


def test_other_words_of_both_lists_count_less_than_what_was_asked() -> None:
    found = others("simultaneous deletes", f="remove lock delete simultaneous", g="remove lock delete simultaneous")
    assert found["remov"] == found["lock"] == OTHER_WEIGHT
    assert "delet" not in found


def test_a_rarer_word_brings_no_more_than_the_one_that_it_stands_for() -> None:
    """Of six documents (three definitions, and their files for the words of the path) `delete` stands in three and
    `remove` in one."""
    found = others("what deletes orders", f="delete remove", g="delete", h="delete")
    rare, common = log1p((6 - 1 + 0.5) / 1.5), log1p((6 - 3 + 0.5) / 3.5)
    assert found["remov"] == pytest.approx(OTHER_WEIGHT * common / rare)


def test_who_asks_at_length_or_names_something_has_no_other_words() -> None:
    six = "alpha beta gamma delta epsilon zeta"
    assert "remov" in others(f"delete {six}", f="remove delete")
    assert others(f"delete {six} theta", f="remove delete") == {}
    assert others("delete orders\nof yesterday", f="remove delete") == {}
    assert others("delete an `Order`", f="remove delete") == {}


def test_the_list_has_groups_of_single_words_each_once() -> None:
    text = resource_files("causalist.rank.lexical").joinpath("synonyms.txt").read_text(encoding="utf-8")
    groups = [line.split() for line in text.splitlines()]
    assert len(groups) > 100
    for group in groups:
        assert len(group) > 1
        assert len(set(group)) == len(group)
        assert all(word.isascii() and word.islower() and word.isalnum() for word in group)
    assert len({frozenset(group) for group in groups}) == len(groups)


def led_to(text: str, *words: str) -> dict[str, float]:
    c = corpus({"p.py": [Def("f", " ".join(words))]})
    return {
        c.lexical.terms[number]: weight
        for number, weight in indirect_synonym_terms(parse_query(text), c.lexical).items()
    }


def test_a_word_of_a_question_leads_to_words_of_code_and_not_back() -> None:
    assert led_to("simultaneous saves", "lock", "parallel", "cookie") == {"lock": 1.0, "parallel": 1.0}
    assert "simultan" not in led_to("which lock", "simultaneous")


def test_leads_are_single_words_that_questions_look_for() -> None:
    text = resource_files("causalist.rank.lexical").joinpath("leads.txt").read_text(encoding="utf-8")
    lines = [line.split() for line in text.splitlines()]
    assert len(lines) > 400
    assert [line[0] for line in lines] == sorted({line[0] for line in lines})
    for line in lines:
        assert len(line) > 1
        assert len(set(line)) == len(line)
        assert all(word.isascii() and word.islower() and word.isalnum() for word in line)
        assert not STOP_WORDS.intersection(line)
