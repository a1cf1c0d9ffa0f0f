"""What a basket costs: subtotal, discount, delivery.

This module and `promotions` need each other: the price depends on the discount, and what a discount is worth depends on
the subtotal and on delivery. Each imports the other as a module and looks names up when it runs.
"""

from dataclasses import dataclass
from datetime import datetime

from larder.models import Basket, Line, Money
from larder.repositories import PromotionRepository
from larder.services import promotions
from larder.settings import Settings


@dataclass(frozen=True)
class Quote:
    subtotal: Money
    discount: Money
    delivery: Money
    code: str | None

    @property
    def total(self) -> Money:
        return self.subtotal - self.discount + self.delivery


class PriceList:
    def __init__(self, codes: PromotionRepository, settings: Settings) -> None:
        self._codes = codes
        self._settings = settings

    def quote(self, basket: Basket, now: datetime) -> Quote:
        """The price as of now; codes that ran out are ignored."""
        known = [promotion for code in basket.codes if (promotion := self._codes.find(code))]
        best = promotions.best_offer(basket, known, self._settings, now)
        worth = promotions.worth_of(best, basket, self._settings) if best else Money()
        return Quote(subtotal(basket.lines), worth, delivery_fee(basket, self._settings), best.code if best else None)


def subtotal(lines: tuple[Line, ...]) -> Money:
    total = Money()
    for line in lines:
        total += line.product.price * line.quantity
    return total


def delivery_fee(basket: Basket, settings: Settings) -> Money:
    """Nothing for an empty basket, and nothing from a certain subtotal on."""
    worth = subtotal(basket.lines)
    if not basket.lines or worth >= settings.free_delivery_from:
        return Money()
    return settings.delivery_fee
