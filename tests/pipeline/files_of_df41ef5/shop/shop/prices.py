"""Prices of a shop."""


def discount(price: int, percent: int) -> int:
    """Return the price after a discount."""
    return price * (100 - percent) // 100
