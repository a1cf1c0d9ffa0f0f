"""Enums whose members are plain attributes."""

from enum import StrEnum

from causalist._internal.lazy import with_direct_members


@with_direct_members
class _Color(StrEnum):
    RED = "red"
    BLUE = "blue"


def test_members_are_attributes_of_the_class() -> None:
    assert vars(_Color)["RED"] is _Color("red")
    assert _Color.BLUE is _Color["BLUE"]


def test_the_enum_stays_an_enum() -> None:
    assert list(_Color) == ["red", "blue"]
    assert f"{_Color.RED}" == "red"
    assert _Color.RED.name == "RED"
