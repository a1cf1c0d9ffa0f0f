"""Somebody with an account."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Customer:
    id: int
    email: str
    password_hash: str
    is_staff: bool = False
