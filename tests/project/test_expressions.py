"""No regular expression of the project takes time out of all proportion to its text."""

import re
import time

import pytest

from tests import trials
from tests.project import expressions
from tests.project.ambiguity import faults_of
from tests.project.expressions import Expression, complaints, seconds_of

# In the first, a backslash matches both branches: it let a question hang.
EXPONENTIAL = [
    r'"""(?:\\[\s\S]|(?!""")[\s\S]){0,4000}"""',
    r"(a+)+$",
    r"(?:a|a)+$",
    r"x(\w|\w\w)+!",
    r"(?:a*)*b",
    r"(?:x(?:a*)?)*$",
    r"(?:\s*\w+\s*)*;",
    r"(?:ab|a(?:ba|b))+c",
]
POLYNOMIAL = [r"\s*x?\s*$", r"\w+\d+!", r"x*,?x*,?x*;"]
LINEAR = [
    r'"""(?:\\[\s\S]|(?!""")[^\\]){0,4000}"""',
    r"(?:a|b)+$",
    r"(?:a+,)+$",
    r'[^"]*"',
    r"(?:\w+\.)*\w+",
    r"(?>\w+)+x",
    r"(?:[a-f]++|b)*+",
    r"/\*(?:[^*]|\*(?!/))*\*/",
    r"(?:ab|ac)*",
]


@pytest.mark.slow
@pytest.mark.parametrize("pattern", EXPONENTIAL)
def test_what_goes_round_in_two_ways_is_found_and_the_text_shows_it(pattern: str) -> None:
    """Two rounds more take at least twice as long."""
    (fault,) = faults_of(pattern)
    assert fault.kind == "exponential"

    def seconds(n: int) -> float:
        began = time.process_time()
        re.compile(pattern, re.DOTALL).match(fault.lead + fault.text * n + "\0")
        return time.process_time() - began

    n = 1
    while seconds(n) < 0.02:
        n += 1
        assert n < 60
    assert seconds(n + 2) > 2 * 0.02


@pytest.mark.parametrize("pattern", POLYNOMIAL)
def test_two_loops_that_share_a_text_are_found(pattern: str) -> None:
    assert {fault.kind for fault in faults_of(pattern)} == {"polynomial"}


@pytest.mark.parametrize("pattern", LINEAR)
def test_nothing_is_found_where_nothing_is(pattern: str) -> None:
    assert faults_of(pattern) == []


def test_bytes_and_what_looks_ahead_are_looked_at_too() -> None:
    assert [fault.kind for fault in faults_of(rb"(?=(?:a|a)+$)x")] == ["exponential"]


@pytest.mark.slow
def test_a_bad_expression_is_complained_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expressions, "_MOST_SECONDS", 0.05)  # of the cube of the length: what is just below grows fast
    (said,) = complaints([Expression(EXPONENTIAL[0], 0, ("a.py", "b.py")), Expression("a+b", 0, ("c.py",))])
    assert said.startswith("a.py, b.py: ") and "exponential" in said
    slow = complaints([Expression(r"\s*\s*\s*x", 0, ("a.py",))])
    assert slow and all(said.endswith("slow") for said in slow)


@pytest.mark.slow
@pytest.mark.parametrize("part", expressions.JUSTIFIED)
def test_what_is_justified_is_there_and_quick(part: str) -> None:
    (each,) = [each for each in expressions.all_expressions() if isinstance(each.pattern, str) and part in each.pattern]
    assert expressions.is_justified(each)
    assert all(seconds_of(each, fault) < 0.1 for fault in faults_of(each.pattern, each.flags))


@pytest.mark.slow
def test_expressions_are_found_wherever_they_are() -> None:
    """On import, when first used, in a function, in settings and in a query."""
    by_pattern = {each.pattern: each.places for each in expressions.all_expressions()}
    assert "causalist/rank/lexical/printed_messages.py" in by_pattern[r"\w+"]
    places = {place for each in by_pattern.values() for place in each}
    assert any(place.startswith("grammars/go/language.toml tests.functions") for place in places)
    assert any(place == "grammars/java/tags.scm" for place in places)
    trait = by_pattern[r"<\s*+(.+?)(?:\s++as\s++([\w:]+)(?:<.*>)?)?\s*+>::(\w.*)"]
    assert trait == ("causalist/parse/syntax/chains.py",)


def test_what_was_not_checked_before_is_checked() -> None:
    known = next(each for each in expressions.written_in_grammars())
    both = [Expression(known[0], known[1], ()), Expression(r"(never|seen)+before", 0, ())]
    assert expressions.unchecked(both) == both[1:]


@pytest.mark.slow
def test_no_expression_of_the_project_may_take_very_long() -> None:
    everything = expressions.all_expressions()
    assert complaints(everything if trials.is_full else expressions.unchecked(everything)) == []
    assert len(everything) > 500


@pytest.mark.slow
def test_texts_of_another_analyser_are_measured() -> None:
    """25 letters go round `(a+)+` in 2 to the 24 ways; the flags are those of the expression."""
    flags = {"ignorecase": True, "multiline": False, "dotall": False, "verbose": False}
    attacks = [
        {"pattern": r"(a+)+$", "flags": flags, "places": ["here"], "attack": "A" * 25 + "!"},
        {"pattern": r"a+$", "flags": flags, "places": ["there"], "attack": "A" * 40 + "!"},
    ]
    (slow,) = expressions.slow_attacks(attacks)
    assert slow.startswith("here: ")
