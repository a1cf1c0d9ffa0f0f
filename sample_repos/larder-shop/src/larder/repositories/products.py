"""Products and their stock."""

import sqlite3

from larder.errors import OutOfStock
from larder.models import Money, Product
from larder.repositories.base import Repository


class ProductRepository(Repository):
    noun = "product"

    def get(self, sku: str) -> Product:
        row = self._db.row("SELECT * FROM products WHERE sku = ?", sku)
        if row is None:
            raise self.missing(sku)
        return product_of(row)

    def list(self) -> list[Product]:
        return [product_of(row) for row in self._db.rows("SELECT * FROM products ORDER BY name")]

    def save(self, product: Product) -> None:
        self._db.execute(
            "INSERT INTO products VALUES (?, ?, ?, ?, ?) ON CONFLICT (sku) DO UPDATE SET"
            " name = excluded.name, price = excluded.price, stock = excluded.stock, fresh = excluded.fresh",
            product.sku, product.name, product.price.cents, product.stock, int(product.fresh),
        )  # fmt: skip

    def change_stock(self, sku: str, difference: int) -> None:
        """Raises OutOfStock if it would fall below zero; in one statement, so that two shoppers cannot both win."""
        changed = self._db.execute(
            "UPDATE products SET stock = stock + ? WHERE sku = ? AND stock + ? >= 0", difference, sku, difference
        )
        if not changed:
            raise OutOfStock(f"Not enough of {self.get(sku).name} is left")


def product_of(row: sqlite3.Row) -> Product:
    return Product(row["sku"], row["name"], Money(row["price"]), row["stock"], bool(row["fresh"]))
