"""What somebody is about to buy."""

from dataclasses import dataclass, field
from datetime import datetime

from larder.models.catalog import Product


@dataclass(frozen=True)
class Line:
    product: Product
    quantity: int
    held_until: datetime


@dataclass(frozen=True)
class Basket:
    id: str
    lines: tuple[Line, ...] = ()
    codes: tuple[str, ...] = field(default=())
