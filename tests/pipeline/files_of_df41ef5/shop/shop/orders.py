"""Orders of a shop."""

from shop.prices import discount


def total(prices: list[int], percent: int) -> int:
    """Return what an order costs after the discount."""
    return sum(discount(each, percent) for each in prices)
