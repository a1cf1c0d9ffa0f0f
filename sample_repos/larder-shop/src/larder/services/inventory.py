"""Stock: a line in a basket holds its quantity until it is bought, removed or too old."""

import logging
from datetime import datetime, timedelta

from larder.infra.clock import Clock
from larder.infra.database import Database
from larder.repositories import BasketRepository, ProductRepository

log = logging.getLogger(__name__)


class InventoryService:
    def __init__(
        self, database: Database, products: ProductRepository, baskets: BasketRepository, clock: Clock, minutes: int
    ) -> None:
        self._db = database
        self._products = products
        self._baskets = baskets
        self._clock = clock
        self._hold = timedelta(minutes=minutes)

    def hold(self, basket_id: str, sku: str, quantity: int) -> datetime:
        """Takes the quantity out of the stock for a while; raises OutOfStock."""
        until = self._clock() + self._hold
        with self._db.transaction():
            self._products.change_stock(sku, -quantity)
            self._baskets.put_line(basket_id, sku, quantity, until)
        return until

    def give_back(self, basket_id: str, sku: str, quantity: int) -> None:
        """Ends a hold: the line goes, the stock comes back."""
        with self._db.transaction():
            self._baskets.drop_line(basket_id, sku)
            self._products.change_stock(sku, quantity)

    def give_back_overdue(self) -> int:
        """Ends all holds whose time is over and returns their number."""
        overdue = self._baskets.lines_past(self._clock())
        for basket_id, sku, quantity in overdue:
            self.give_back(basket_id, sku, quantity)
            log.info("%d of %s are back in stock", quantity, sku)
        return len(overdue)

    def restock(self, items: tuple[tuple[str, int], ...]) -> None:
        """Takes goods back that were sold, except fresh ones."""
        for sku, quantity in items:
            if not self._products.get(sku).fresh:
                self._products.change_stock(sku, quantity)
