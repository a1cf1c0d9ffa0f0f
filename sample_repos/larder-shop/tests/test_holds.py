import unittest

from tests.shop import TestShop


class HoldsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.shop = TestShop()
        self.addCleanup(self.shop.shop.database.close)

    def test_what_is_in_a_basket_is_gone_for_others(self) -> None:
        self.shop.ask("POST", "/basket/lines", sku="brie", quantity=3)
        self.shop.cookies.clear()  # somebody else
        refused = self.shop.ask("POST", "/basket/lines", sku="brie")
        self.assertEqual((refused.status, refused.data["error"]["code"]), (409, "out_of_stock"))

    def test_an_abandoned_basket_gives_its_stock_back(self) -> None:
        self.shop.ask("POST", "/basket/lines", sku="brie", quantity=3)
        scheduler = self.shop.shop.scheduler()
        self.assertEqual(scheduler.run_due(), ["release holds"])
        self.assertEqual(self.shop.stock("brie"), 0)
        self.shop.wait(minutes=31)
        self.assertEqual(scheduler.run_due(), ["release holds"])
        self.assertEqual((self.shop.stock("brie"), self.shop.ask("GET", "/basket").data["lines"]), (3, []))

    def test_a_job_is_not_run_before_it_is_due(self) -> None:
        scheduler = self.shop.shop.scheduler()
        scheduler.run_due()
        self.assertEqual(scheduler.run_due(), [])
