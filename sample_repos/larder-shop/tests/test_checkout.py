import unittest

from tests.shop import CARD, DECLINED, TestShop


class CheckoutTest(unittest.TestCase):
    def setUp(self) -> None:
        self.shop = TestShop()
        self.addCleanup(self.shop.shop.database.close)
        self.shop.ask("POST", "/accounts", email="Ida@example.org", password="correct horse")
        self.shop.ask("POST", "/basket/lines", sku="brie", quantity=2)
        self.shop.ask("POST", "/basket/lines", sku="olives")

    def test_a_paid_order_empties_the_basket_and_keeps_the_stock_down(self) -> None:
        order = self.shop.ask("POST", "/checkout", card=CARD)
        self.assertEqual((order.status, order.data["status"], order.data["total"]), (201, "paid", "36.40"))
        self.assertEqual(self.shop.ask("GET", "/basket").data["lines"], [])
        self.assertEqual(self.shop.stock("brie"), 1)
        self.assertEqual(self.shop.shop.outbox.sent[0]["To"], "ida@example.org")

    def test_a_declined_card_leaves_the_basket(self) -> None:
        refused = self.shop.ask("POST", "/checkout", card=DECLINED)
        self.assertEqual((refused.status, refused.data["error"]["code"]), (402, "card_declined"))
        self.assertEqual(len(self.shop.ask("GET", "/basket").data["lines"]), 2)
        self.assertEqual([order["status"] for order in self.shop.ask("GET", "/orders").data], ["failed"])

    def test_a_repeated_charge_takes_the_money_once(self) -> None:
        parts = self.shop.shop
        first = parts.gateway.charge(CARD, parts.settings.delivery_fee, "order-1")
        self.assertEqual(parts.gateway.charge(CARD, parts.settings.delivery_fee, "order-1"), first)

    def test_a_refund_restocks_all_but_fresh_food(self) -> None:
        order = self.shop.ask("POST", "/checkout", card=CARD).data
        self.assertEqual(self.shop.ask("POST", f"/admin/orders/{order['id']}/refund").status, 403)
        self.shop.shop.refunds.refund(order["id"])
        self.assertEqual((self.shop.stock("olives"), self.shop.stock("brie")), (20, 1))
        self.assertEqual(self.shop.gateway.given_back, ["ch_1"])
