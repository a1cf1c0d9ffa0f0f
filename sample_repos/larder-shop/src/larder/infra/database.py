"""The SQLite file: its tables, and transactions."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

SCHEMA = """
CREATE TABLE IF NOT EXISTS products (
    sku TEXT PRIMARY KEY, name TEXT NOT NULL, price INTEGER NOT NULL, stock INTEGER NOT NULL CHECK (stock >= 0),
    fresh INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS basket_lines (
    basket TEXT NOT NULL, sku TEXT NOT NULL REFERENCES products, quantity INTEGER NOT NULL CHECK (quantity > 0),
    held_until TEXT NOT NULL, PRIMARY KEY (basket, sku));
CREATE TABLE IF NOT EXISTS basket_codes (basket TEXT NOT NULL, code TEXT NOT NULL, PRIMARY KEY (basket, code));
CREATE TABLE IF NOT EXISTS promotions (
    code TEXT PRIMARY KEY, kind TEXT NOT NULL, value INTEGER NOT NULL, minimum INTEGER NOT NULL, ends TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS customers (
    id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, password_hash TEXT NOT NULL, is_staff INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS orders (
    id TEXT PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers, total INTEGER NOT NULL,
    status TEXT NOT NULL, charge_id TEXT);
CREATE TABLE IF NOT EXISTS order_items (
    order_id TEXT NOT NULL REFERENCES orders, sku TEXT NOT NULL, quantity INTEGER NOT NULL,
    PRIMARY KEY (order_id, sku));
CREATE TABLE IF NOT EXISTS job_runs (job TEXT PRIMARY KEY, last_run TEXT NOT NULL);
"""


class Database:
    """One connection. Statements outside of `transaction` are committed at once."""

    def __init__(self, path: str) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.row_factory = sqlite3.Row
        self._connection.execute("PRAGMA foreign_keys = ON")
        self._connection.executescript(SCHEMA)

    def execute(self, statement: str, *values: object) -> int:
        """How many rows were changed."""
        return self._connection.execute(statement, values).rowcount

    def rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        return self._connection.execute(query, values).fetchall()

    def row(self, query: str, *values: object) -> sqlite3.Row | None:
        return next(iter(self.rows(query, *values)), None)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing. May be nested; the outermost one decides."""
        if self._connection.in_transaction:
            yield
            return
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def close(self) -> None:
        self._connection.close()
