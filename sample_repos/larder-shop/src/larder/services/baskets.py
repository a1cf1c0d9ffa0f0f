"""Filling and emptying baskets."""

import uuid

from larder.errors import ShopError
from larder.models import Basket
from larder.repositories import BasketRepository, PromotionRepository
from larder.services.inventory import InventoryService

MOST_OF_ONE = 24


class BasketService:
    def __init__(self, baskets: BasketRepository, codes: PromotionRepository, inventory: InventoryService) -> None:
        self._baskets = baskets
        self._codes = codes
        self._inventory = inventory

    def open(self, basket_id: str | None) -> Basket:
        """The basket of a browser, a new one for a new browser."""
        return self._baskets.get(basket_id or uuid.uuid4().hex)

    def add(self, basket: Basket, sku: str, quantity: int) -> Basket:
        there = sum(line.quantity for line in basket.lines if line.product.sku == sku)
        if quantity < 1 or there + quantity > MOST_OF_ONE:
            raise ShopError(f"Between 1 and {MOST_OF_ONE} of one product can be ordered")
        self._inventory.hold(basket.id, sku, quantity)
        return self._baskets.get(basket.id)

    def remove(self, basket: Basket, sku: str) -> Basket:
        for line in basket.lines:
            if line.product.sku == sku:
                self._inventory.give_back(basket.id, sku, line.quantity)
        return self._baskets.get(basket.id)

    def enter_code(self, basket: Basket, code: str) -> Basket:
        promotion = self._codes.find(code)
        if promotion is None:
            raise ShopError("This code is not known")
        self._baskets.add_code(basket.id, promotion.code)
        return self._baskets.get(basket.id)
