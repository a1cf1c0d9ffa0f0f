"""Unions of values, and values as found by another rule."""

from causalist.graph.resolution_results import (
    BUILTIN,
    UNKNOWN,
    Resolution,
    ResolutionKind,
    Value,
    ValueKind,
    value_of_resolution,
)
from causalist.graph.rules import RuleName

FUNCTION = Value(ValueKind.DEFINITION, 1, RuleName.IMPORT)
INSTANCE = Value(ValueKind.INSTANCE, 2, RuleName.ANNOTATION)
EXTERNAL = Value(ValueKind.EXTERNAL, -1, RuleName.EXTERNAL, "requests")


def test_a_union_has_each_value_once_in_order() -> None:
    union = Value.union([INSTANCE, FUNCTION, INSTANCE._replace(rule=RuleName.SELF), None])
    assert union == Value(ValueKind.UNION, -1, RuleName.ANNOTATION, parts=(INSTANCE, FUNCTION))


def test_a_union_of_one_value_is_that_value() -> None:
    assert Value.union([INSTANCE, None, UNKNOWN]) == INSTANCE


def test_unions_inside_of_a_union_are_opened() -> None:
    inner = Value.union([FUNCTION, INSTANCE])
    other = Value(ValueKind.INSTANCE, 3, RuleName.SELF)
    union = Value.union([inner, other])
    assert union is not None
    assert union.parts == (FUNCTION, INSTANCE, other)


def test_the_first_value_from_outside_stands_for_all() -> None:
    union = Value.union([BUILTIN, EXTERNAL, INSTANCE])
    assert union is not None
    assert union.parts == (BUILTIN, INSTANCE)
    assert Value.union([UNKNOWN, EXTERNAL, BUILTIN]) == EXTERNAL


def test_a_union_of_nothing_is_none() -> None:
    assert Value.union([None, None]) is None


def test_a_union_keeps_eight_values() -> None:
    union = Value.union(Value(ValueKind.INSTANCE, number, RuleName.SELF) for number in range(10))
    assert union is not None
    assert [part.number for part in union.parts] == [*range(8)]


def test_types_and_definitions_are_found_by_different_rules() -> None:
    sequence = INSTANCE.as_element_of_array()
    assert sequence == Value(ValueKind.SEQUENCE, -1, RuleName.ANNOTATION, parts=(INSTANCE, BUILTIN))
    moved = sequence.with_rule(RuleName.HELD)
    assert (moved.rule, moved.parts[0].rule, moved.parts[1].rule) == (RuleName.HELD, RuleName.HELD, "")
    assert FUNCTION.with_rule(RuleName.HELD) == FUNCTION
    assert FUNCTION.with_definition_rule(RuleName.HELD).rule == RuleName.HELD
    assert INSTANCE.with_definition_rule(RuleName.HELD) == INSTANCE


def test_functions_are_no_elements_of_arrays() -> None:
    assert FUNCTION.as_element_of_array().parts == (BUILTIN, BUILTIN)


def test_the_value_of_a_resolution_keeps_its_rule_unless_another_is_given() -> None:
    found = Resolution(ResolutionKind.MODULE, 4, RuleName.IMPORT, "a")
    assert value_of_resolution(found, "") == Value(ValueKind.MODULE, 4, RuleName.IMPORT, "a")
    assert value_of_resolution(found, RuleName.PATH).rule == RuleName.PATH
