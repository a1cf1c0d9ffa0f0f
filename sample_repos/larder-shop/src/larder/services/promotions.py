"""Which discount code counts, and how much it takes off."""

from collections.abc import Sequence
from datetime import datetime

from larder.models import Basket, Money, Promotion, PromotionKind
from larder.services import pricing
from larder.settings import Settings


def best_offer(
    basket: Basket, offers: Sequence[Promotion], settings: Settings, now: datetime
) -> Promotion | None:
    """The one that saves most; codes do not add up."""
    usable = [offer for offer in offers if applies(offer, basket, now)]
    return max(usable, key=lambda offer: (worth_of(offer, basket, settings), offer.code), default=None)


def applies(offer: Promotion, basket: Basket, now: datetime) -> bool:
    return offer.is_running(now) and pricing.subtotal(basket.lines) >= offer.minimum


def worth_of(offer: Promotion, basket: Basket, settings: Settings) -> Money:
    """Never more than what it is taken from."""
    before = pricing.subtotal(basket.lines)
    match offer.kind:
        case PromotionKind.SHARE:
            return before.share(offer.value)
        case PromotionKind.AMOUNT:
            return min(Money(offer.value), before)
        case PromotionKind.DELIVERY:
            return pricing.delivery_fee(basket, settings)
