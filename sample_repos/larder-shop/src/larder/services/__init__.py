"""The rules of the shop. Nothing here knows of HTTP or SQL."""

from larder.services.accounts import AccountService
from larder.services.baskets import BasketService
from larder.services.checkout import CheckoutService
from larder.services.inventory import InventoryService
from larder.services.pricing import PriceList, Quote
from larder.services.refunds import RefundService

__all__ = [
    "AccountService",
    "BasketService",
    "CheckoutService",
    "InventoryService",
    "PriceList",
    "Quote",
    "RefundService",
]
