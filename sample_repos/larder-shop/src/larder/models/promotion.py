"""A discount code and what it is good for."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from larder.models.money import Money


class PromotionKind(StrEnum):
    SHARE = "share"
    AMOUNT = "amount"
    DELIVERY = "delivery"


@dataclass(frozen=True)
class Promotion:
    code: str
    kind: PromotionKind
    value: int  # percent, or cents
    minimum: Money
    ends: datetime

    def is_running(self, now: datetime) -> bool:
        return now < self.ends
