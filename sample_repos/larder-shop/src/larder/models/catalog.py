"""What can be bought."""

from dataclasses import dataclass

from larder.models.money import Money


@dataclass(frozen=True)
class Product:
    sku: str
    name: str
    price: Money
    stock: int
    fresh: bool = False  # cannot be sold again once it left the house
