"""Orders and their items."""

import sqlite3

from larder.models import Money, Order, OrderStatus
from larder.repositories.base import Repository


class OrderRepository(Repository):
    noun = "order"

    def add(self, order: Order) -> None:
        with self._db.transaction():
            self._db.execute(
                "INSERT INTO orders VALUES (?, ?, ?, ?, ?)",
                order.id, order.customer_id, order.total.cents, order.status, order.charge_id,
            )  # fmt: skip
            for sku, quantity in order.items:
                self._db.execute("INSERT INTO order_items VALUES (?, ?, ?)", order.id, sku, quantity)

    def get(self, order_id: str) -> Order:
        row = self._db.row("SELECT * FROM orders WHERE id = ?", order_id)
        if row is None:
            raise self.missing(order_id)
        return self._order_of(row)

    def of_customer(self, customer_id: int) -> list[Order]:
        rows = self._db.rows("SELECT * FROM orders WHERE customer_id = ? ORDER BY rowid DESC", customer_id)
        return [self._order_of(row) for row in rows]

    def set_status(self, order_id: str, status: OrderStatus, charge_id: str | None = None) -> None:
        self._db.execute(
            "UPDATE orders SET status = ?, charge_id = coalesce(?, charge_id) WHERE id = ?",
            status, charge_id, order_id,
        )  # fmt: skip

    def _order_of(self, row: sqlite3.Row) -> Order:
        items = self._db.rows("SELECT sku, quantity FROM order_items WHERE order_id = ? ORDER BY sku", row["id"])
        return Order(
            row["id"],
            row["customer_id"],
            Money(row["total"]),
            OrderStatus(row["status"]),
            tuple((item["sku"], item["quantity"]) for item in items),
            row["charge_id"],
        )
