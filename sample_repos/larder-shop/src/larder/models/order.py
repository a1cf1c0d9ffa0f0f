"""A basket that was checked out, with the prices of that moment."""

from dataclasses import dataclass
from enum import StrEnum

from larder.models.money import Money


class OrderStatus(StrEnum):
    PENDING = "pending"
    PAID = "paid"
    FAILED = "failed"
    SHIPPED = "shipped"
    REFUNDED = "refunded"


@dataclass(frozen=True)
class Order:
    id: str
    customer_id: int
    total: Money
    status: OrderStatus
    items: tuple[tuple[str, int], ...]  # (sku, quantity)
    charge_id: str | None = None
