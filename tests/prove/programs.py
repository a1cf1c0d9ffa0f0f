"""A program with tests whose failures are worked out by hand."""

SHOP = {
    "src/shop/__init__.py": "",
    "src/shop/prices.py": '''"""Prices."""

import functools


def logged(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return function(*arguments)

    return wrapper


def vat(amount):
    """Return the tax."""
    if amount < 0:
        raise ValueError("negative")
    return amount * 0.5


@logged
def gross(amount):
    return amount + vat(amount)


class Cart:
    def __init__(self, items):
        self.items = [gross(item) for item in items]

    def total(self):
        return sum(self.items)


def guarded(amount):
    try:
        return vat(amount)
    except Exception:
        return 0


def sold(names):
    yield from names


def shout(text):
    return text


def lonely():
    return 1
''',
    "tests/test_prices.py": """import unittest

import pytest

from shop.prices import Cart, gross, guarded, shout, sold, vat


@pytest.fixture
def cart():
    return Cart([1, 2])


def test_total(cart):
    assert cart.total() == 4.5


@pytest.mark.parametrize("net, paid", [(10, 15), (20, 30)])
def test_gross(net, paid):
    assert gross(net) == paid


class TestVat(unittest.TestCase):
    def test_negative(self):
        with self.subTest("elsewhere"):
            self.skipTest("only this part")
        with pytest.raises(ValueError):
            vat(-1)


def test_guarded():
    assert guarded(10) == 5


def test_guarded_loosely():
    assert guarded(10) != 7


def test_fails_always():
    assert vat(1) == 7


def test_is_skipped():
    pytest.skip("not here")
    vat(1)


def test_sold():
    assert list(sold("ab")) == ["a", "b"]


def test_shout_is_not_looked_at():
    try:
        shout("a")
    except RuntimeError:
        pass
""",
}
PRICES = "src/shop/prices.py::"
TESTS = "tests/test_prices.py::"
# Tests that need `vat`. The one that is content with any number does not notice that the call fails.
NEED_VAT = {f"{TESTS}{name}" for name in ("test_total", "test_gross", "TestVat.test_negative", "test_guarded")}
# Uses between the tests and `vat` when it raises. What `guarded` catches comes out of nothing.
VAT_EDGES = {
    (f"{TESTS}test_total", f"{TESTS}cart", False),
    (f"{TESTS}cart", f"{PRICES}Cart.__init__", True),
    (f"{PRICES}Cart.__init__", f"{PRICES}logged.wrapper", True),
    (f"{TESTS}test_gross", f"{PRICES}logged.wrapper", True),
    (f"{PRICES}logged.wrapper", f"{PRICES}gross", True),
    (f"{PRICES}gross", f"{PRICES}vat", True),
    (f"{TESTS}TestVat.test_negative", f"{PRICES}vat", True),
}
