"""A table of strings against a plain list."""

import bisect

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from causalist.model.string_table import StringTable, merge_tables

# All code points: control characters, lone surrogates, what stands beyond the basic plane; and few letters, so that
# prefixes and duplicates happen.
any_string = st.text(st.characters(), max_size=6) | st.text("ab\ud800\U0001f600\uffff", max_size=4)
lists = st.lists(any_string, max_size=12)


@pytest.mark.slow
@given(lists)
@example(["", "", ""])
@example(["\ud83d\ude00", "\U0001f600"])  # two lone surrogates are not the character that they would make in UTF-16
def test_a_table_is_the_list_that_it_was_made_from(strings: list[str]) -> None:
    table = StringTable.from_strings(iter(strings))
    assert list(table) == strings
    assert [table[i] for i in range(len(strings))] == strings
    assert len(table) == len(strings)
    assert b"".join(table.raw(i) for i in range(len(table))) == table.blob.tobytes()


@given(lists)
def test_there_is_nothing_before_the_first_and_behind_the_last(strings: list[str]) -> None:
    table = StringTable.from_strings(strings)
    for i in (-1, len(strings)):
        with pytest.raises(IndexError):
            table[i]


@given(lists, any_string)
@example(["\ud800", "\ue000", "\uffff", "\U00010000"], "\U00010000")  # the order of code points, not of UTF-16
def test_position_against_a_sorted_list(strings: list[str], wanted: str) -> None:
    strings = sorted(set(strings))
    table = StringTable.from_strings(strings)
    assert [table.position(s) for s in strings] == list(range(len(strings)))
    assert table.position(wanted) == (strings.index(wanted) if wanted in strings else -1)


@given(lists)
def test_position_finds_the_first_of_equal_strings(strings: list[str]) -> None:
    strings = sorted(strings)
    table = StringTable.from_strings(strings)
    assert [table.position(s) for s in strings] == [bisect.bisect_left(strings, s) for s in strings]


@given(lists, any_string)
@example(["a", "ab", "ab", "b"], "ab")
@example(["a", "b"], "")
@example([], "a")
def test_prefix_range_against_a_sorted_list(strings: list[str], prefix: str) -> None:
    strings = sorted(strings)
    found = StringTable.from_strings(strings).prefix_range(prefix)
    assert [strings[i] for i in found] == [s for s in strings if s.startswith(prefix)]
    assert found.start == bisect.bisect_left(strings, prefix)


@given(lists)
def test_every_beginning_of_a_string_finds_it(strings: list[str]) -> None:
    strings = sorted(strings)
    table = StringTable.from_strings(strings)
    for i, string in enumerate(strings):
        assert all(i in table.prefix_range(string[:length]) for length in range(len(string) + 1))


@given(lists, lists, st.data())
def test_taking_against_plain_lists(strings: list[str], more: list[str], data: st.DataObject) -> None:
    every = [*strings, *more]
    order = data.draw(st.lists(st.integers(0, len(every) - 1)) if every else st.just([]))
    taken = StringTable.from_strings(strings).take(np.array(order, dtype=np.int64), more)
    assert list(taken) == [every[i] for i in order]


@given(lists, lists, st.data())
def test_merging_against_plain_lists(strings: list[str], more: list[str], data: st.DataObject) -> None:
    before = sorted(set(strings))
    kept = data.draw(st.lists(st.booleans(), min_size=len(before), max_size=len(before)))
    result = merge_tables(StringTable.from_strings(before), np.array(kept, dtype=np.bool_), more)
    expected = sorted({*more, *(string for string, stays in zip(before, kept, strict=True) if stays)})
    assert list(result.table) == expected
    assert result.table.blob.dtype == np.uint8 and result.table.offsets.dtype == np.int32
    assert result.added.tolist() == [expected.index(string) for string in more]
    assert result.old.tolist() == [expected.index(string) if string in expected else -1 for string in before]
