"""Enums whose members are read as fast as any attribute."""

from enum import Enum
from typing import TypeVar

E = TypeVar("E", bound=Enum)


def with_direct_members(enum: type[E]) -> type[E]:
    """Return an enum whose members are plain attributes of the class, as they are from Python 3.12 on.

    Python 3.11 finds a member by a call of a function, ten times slower than an attribute. That shows where values are
    compared with members for each name of a repository.
    """
    for member in enum:
        type.__setattr__(enum, member.name, member)
    return enum
