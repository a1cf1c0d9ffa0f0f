"""Amounts in cents. There is one currency."""

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal


@dataclass(frozen=True, order=True)
class Money:
    cents: int = 0

    @classmethod
    def parse(cls, text: str) -> "Money":
        return cls(int((Decimal(text) * 100).to_integral_value(ROUND_HALF_EVEN)))

    def __add__(self, other: "Money") -> "Money":
        return Money(self.cents + other.cents)

    def __sub__(self, other: "Money") -> "Money":
        return Money(self.cents - other.cents)

    def __mul__(self, quantity: int) -> "Money":
        return Money(self.cents * quantity)

    def share(self, percent: int) -> "Money":
        """So many percent, rounded to the even cent, so that many small shares do not drift."""
        return Money(int((Decimal(self.cents) * percent / 100).to_integral_value(ROUND_HALF_EVEN)))

    def __str__(self) -> str:
        return f"{self.cents / 100:.2f}"
