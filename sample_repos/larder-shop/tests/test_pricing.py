import unittest
from datetime import timedelta

from tests.shop import TestShop

from larder.models import Money, Promotion, PromotionKind


class PricingTest(unittest.TestCase):
    def setUp(self) -> None:
        self.shop = TestShop()
        self.addCleanup(self.shop.shop.database.close)

    def promise(self, code: str, kind: PromotionKind, value: int, minimum: str = "0") -> None:
        ends = self.shop.now + timedelta(hours=1)
        self.shop.shop.promotions.save(Promotion(code, kind, value, Money.parse(minimum), ends))

    def test_delivery_is_free_from_a_certain_subtotal(self) -> None:
        small = self.shop.ask("POST", "/basket/lines", sku="olives", quantity=2).data
        self.assertEqual((small["subtotal"], small["delivery"], small["total"]), ("15.00", "4.90", "19.90"))
        large = self.shop.ask("POST", "/basket/lines", sku="olives", quantity=6).data
        self.assertEqual((large["subtotal"], large["delivery"]), ("60.00", "0.00"))

    def test_only_the_best_code_counts(self) -> None:
        self.promise("TENTH", PromotionKind.SHARE, 10)
        self.promise("FIVER", PromotionKind.AMOUNT, 500)
        self.shop.ask("POST", "/basket/lines", sku="olives", quantity=2)
        self.shop.ask("POST", "/basket/codes", code="tenth")
        basket = self.shop.ask("POST", "/basket/codes", code="fiver").data
        self.assertEqual((basket["discount"], basket["code"]), ("5.00", "FIVER"))

    def test_a_code_for_delivery_is_worth_the_fee(self) -> None:
        self.promise("VAN", PromotionKind.DELIVERY, 0)
        self.shop.ask("POST", "/basket/codes", code="van")
        basket = self.shop.ask("POST", "/basket/lines", sku="brie").data
        self.assertEqual((basket["discount"], basket["total"]), ("4.90", "12.00"))

    def test_a_code_that_ran_out_does_not_count(self) -> None:
        self.promise("TENTH", PromotionKind.SHARE, 10)
        self.shop.ask("POST", "/basket/codes", code="tenth")
        self.shop.ask("POST", "/basket/lines", sku="brie")
        self.shop.wait(minutes=61)
        self.assertEqual(self.shop.ask("GET", "/basket").data["discount"], "0.00")

    def test_shares_are_rounded_to_even_cents(self) -> None:
        self.assertEqual(Money(125).share(10), Money(12))
        self.assertEqual(Money(135).share(10), Money(14))
