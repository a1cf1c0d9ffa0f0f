"""Baskets: lines with the time until which they hold stock, and entered codes."""

from datetime import datetime

from larder.models import Basket, Line
from larder.repositories.base import Repository
from larder.repositories.products import product_of


class BasketRepository(Repository):
    noun = "basket"

    def get(self, basket_id: str) -> Basket:
        """An empty one if nothing was put into it yet."""
        lines = self._db.rows(
            "SELECT products.*, quantity, held_until FROM basket_lines JOIN products USING (sku)"
            " WHERE basket = ? ORDER BY sku",
            basket_id,
        )
        codes = self._db.rows("SELECT code FROM basket_codes WHERE basket = ? ORDER BY code", basket_id)
        return Basket(
            basket_id,
            tuple(Line(product_of(r), r["quantity"], datetime.fromisoformat(r["held_until"])) for r in lines),
            tuple(row["code"] for row in codes),
        )

    def put_line(self, basket_id: str, sku: str, quantity: int, held_until: datetime) -> None:
        self._db.execute(
            "INSERT INTO basket_lines VALUES (?, ?, ?, ?) ON CONFLICT (basket, sku) DO UPDATE SET"
            " quantity = quantity + excluded.quantity, held_until = excluded.held_until",
            basket_id, sku, quantity, held_until.isoformat(),
        )  # fmt: skip

    def drop_line(self, basket_id: str, sku: str) -> None:
        self._db.execute("DELETE FROM basket_lines WHERE basket = ? AND sku = ?", basket_id, sku)

    def add_code(self, basket_id: str, code: str) -> None:
        self._db.execute("INSERT OR IGNORE INTO basket_codes VALUES (?, ?)", basket_id, code)

    def clear(self, basket_id: str) -> None:
        self._db.execute("DELETE FROM basket_lines WHERE basket = ?", basket_id)
        self._db.execute("DELETE FROM basket_codes WHERE basket = ?", basket_id)

    def lines_past(self, moment: datetime) -> list[tuple[str, str, int]]:
        """(basket, sku, quantity) of lines whose time is over."""
        rows = self._db.rows(
            "SELECT basket, sku, quantity FROM basket_lines WHERE held_until < ? ORDER BY basket, sku",
            moment.isoformat(),
        )
        return [(row["basket"], row["sku"], row["quantity"]) for row in rows]
