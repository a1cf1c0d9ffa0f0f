"""Accounts."""

import sqlite3

from larder.errors import ShopError
from larder.models import Customer
from larder.repositories.base import Repository


class CustomerRepository(Repository):
    noun = "customer"

    def get(self, customer_id: int) -> Customer:
        row = self._db.row("SELECT * FROM customers WHERE id = ?", customer_id)
        if row is None:
            raise self.missing(customer_id)
        return _customer_of(row)

    def find_by_email(self, email: str) -> Customer | None:
        row = self._db.row("SELECT * FROM customers WHERE email = ?", email)
        return _customer_of(row) if row else None

    def add(self, email: str, password_hash: str, *, is_staff: bool = False) -> Customer:
        try:
            self._db.execute(
                "INSERT INTO customers (email, password_hash, is_staff) VALUES (?, ?, ?)",
                email, password_hash, int(is_staff),
            )  # fmt: skip
        except sqlite3.IntegrityError as error:
            raise ShopError("This address has an account already") from error
        added = self.find_by_email(email)
        assert added is not None
        return added


def _customer_of(row: sqlite3.Row) -> Customer:
    return Customer(row["id"], row["email"], row["password_hash"], bool(row["is_staff"]))
