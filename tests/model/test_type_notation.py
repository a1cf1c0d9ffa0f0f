"""What the builders of the notation write, its splitters take apart again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from causalist.model.language_settings import ShapeSettings, TypeSettings
from causalist.model.type_notation import (
    Mark,
    Shape,
    array_of,
    as_member,
    as_tuple_item,
    bounds_of,
    callable_of,
    class_of,
    closing_bracket,
    field_of,
    index_mark,
    mapping_of,
    record_of,
    result_mark,
    sequence_of,
    split_chain_part,
    split_marks,
    split_top,
    split_type,
    tuple_of,
    union_of_names,
    with_marks,
    without_item_braces,
    wrapped_in,
)

WORDS = st.from_regex(r"[a-zA-Z_]\w{0,5}", fullmatch=True)
NAMES = st.lists(WORDS, min_size=1, max_size=3).map(".".join)
MARKS = st.one_of(st.sampled_from(Mark), st.integers(0, 99).map(index_mark), st.integers(0, 99).map(result_mark))
PREFIXED, PLAIN = TypeSettings(prefixed=True), TypeSettings()


def _compounds(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    unions = st.lists(inner, min_size=2, max_size=3, unique=True).map(union_of_names).map(as_member)
    held = st.one_of(inner, unions)
    fields = st.one_of(NAMES, st.builds(field_of, WORDS, held))
    return st.one_of(
        st.builds(sequence_of, held, st.one_of(st.just(""), held)),
        st.builds(mapping_of, held, held),
        st.builds(callable_of, held),
        st.builds(tuple_of, st.lists(held, min_size=2, max_size=3)),
        st.builds(record_of, st.lists(fields, min_size=1, max_size=3)),
        st.builds(class_of, NAMES),
    )


TYPES = st.recursive(NAMES, _compounds, max_leaves=8)


@pytest.mark.slow
@given(TYPES, TYPES)
def test_sequences_and_mappings_hold_what_they_are_built_of(first: str, second: str) -> None:
    assert split_type(sequence_of(first)) == (Shape.SEQUENCE, [first, ""])
    assert split_type(sequence_of(first, second)) == (Shape.SEQUENCE, [first, second])
    assert split_type(mapping_of(first, second)) == (Shape.MAPPING, [second, first])


@given(TYPES)
def test_functions_hold_their_result(result: str) -> None:
    assert split_type(callable_of(result)) == (Shape.CALLABLE, [result])


@pytest.mark.slow
@given(st.lists(TYPES, min_size=1, max_size=4))
def test_tuples_hold_their_items(items: list[str]) -> None:
    assert split_type(tuple_of(items)) == (Shape.TUPLE, items)


@given(st.lists(st.one_of(NAMES, st.builds(field_of, WORDS, TYPES)), min_size=1, max_size=4))
def test_records_hold_their_fields(fields: list[str]) -> None:
    assert split_type(record_of(fields)) == (Shape.RECORD, fields)


@given(NAMES)
def test_names_hold_nothing_and_classes_their_name(name: str) -> None:
    assert split_type(name) == (Shape.NONE, [])
    assert split_type(class_of(name)) == (Shape.CLASS, [name])


@pytest.mark.slow
@given(st.lists(TYPES, min_size=2, max_size=6, unique=True))
def test_unions_hold_their_members_alone_and_inside_of_other_types(members: list[str]) -> None:
    union = union_of_names(members)
    assert split_type(union) == (Shape.UNION, members)
    assert split_type(as_member(union)) == (Shape.UNION, members)
    assert split_type(sequence_of(as_member(union))) == (Shape.SEQUENCE, [as_member(union), ""])


@pytest.mark.slow
@given(TYPES, TYPES)
def test_a_bracket_closes_at_the_end_of_what_it_opens(inner: str, rest: str) -> None:
    written = tuple_of([inner])
    assert closing_bracket(written + rest, 0) == len(written) - 1


@given(WORDS, st.lists(MARKS, max_size=4))
def test_marks_come_back_in_order(name: str, marks: list[str]) -> None:
    assert split_marks(with_marks(name, *marks)) == (name, marks)
    assert split_chain_part(with_marks(name, *marks), PREFIXED) == (name, marks)
    assert split_chain_part(with_marks(name, *marks), PLAIN, ShapeSettings(sequences=("list",))) == (name, marks)


@given(WORDS, st.lists(st.sampled_from([Mark.CALL, Mark.ITEM]), max_size=4))
def test_other_languages_have_calls_and_items(name: str, marks: list[str]) -> None:
    assert split_chain_part(with_marks(name, *marks), PLAIN) == (name, marks)


@given(st.lists(NAMES, min_size=1, max_size=4, unique=True), MARKS)
def test_each_alternative_gets_the_marks(chains: list[str], mark: str) -> None:
    assert split_top(with_marks(union_of_names(chains), mark), "|") == [chain + mark for chain in chains]


@given(st.lists(st.lists(NAMES, min_size=1, max_size=3, unique=True).map(union_of_names), min_size=1, max_size=3))
def test_items_of_tuples_may_have_alternatives(values: list[str]) -> None:
    written = tuple_of(map(as_tuple_item, values))
    assert [without_item_braces(item) for item in split_top(written[1:-1], ",")] == values


def test_forms_are_those_of_stored_facts() -> None:
    """A facts cache on disk has these strings: a change of one needs another PARSER_VERSION."""
    assert sequence_of(as_member("B|C"), "K") == "[K]<B|C>"
    assert mapping_of("str", sequence_of("T")) == "{str}[]T"
    assert callable_of(tuple_of(["T", "error"])) == "()(T,error)"
    assert record_of([field_of("a", "T"), "U"]) == "struct{a:T,U}"
    assert wrapped_in("Arc", wrapped_in("Vec", array_of("T"))) == "Arc?Vec?T[]"
    assert bounds_of(["A", "B"]) == "A+B"
    assert [*Mark] == ["()", "[]", "[k]", "[*]", "[#]", "^", "%", "!", "&"]
