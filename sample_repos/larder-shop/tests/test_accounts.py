import unittest

from tests.shop import TestShop


class AccountsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.shop = TestShop()
        self.addCleanup(self.shop.shop.database.close)

    def test_signing_in_needs_the_right_password(self) -> None:
        self.shop.ask("POST", "/accounts", email="ida@example.org", password="correct horse")
        self.shop.ask("DELETE", "/sessions")
        self.assertEqual(self.shop.ask("GET", "/orders").status, 401)
        wrong = self.shop.ask("POST", "/sessions", email="ida@example.org", password="battery staple")
        self.assertEqual(wrong.status, 401)
        self.assertEqual(self.shop.ask("POST", "/sessions", email="IDA@example.org", password="correct horse").status, 200)
        self.assertEqual(self.shop.ask("GET", "/orders").data, [])

    def test_a_forged_cookie_is_nobody(self) -> None:
        self.shop.cookies["customer"] = "1.0000"
        self.assertEqual(self.shop.ask("GET", "/orders").status, 401)

    def test_bodies_that_are_not_json_are_refused(self) -> None:
        from larder.api import Request

        self.assertEqual(self.shop.application.handle(Request("POST", "/accounts", b"{")).status, 400)
