"""`/accounts` and `/sessions`."""

from larder.api.cookies import CUSTOMER, Visitor
from larder.api.routing import Request, Response, Router
from larder.services import AccountService


class AccountViews:
    def __init__(self, visitor: Visitor, accounts: AccountService) -> None:
        self._visitor = visitor
        self._accounts = accounts

    def register(self, router: Router) -> None:
        router.add("POST", "/accounts", self.sign_up)
        router.add("POST", "/sessions", self.sign_in)
        router.add("DELETE", "/sessions", self.sign_out)

    def sign_up(self, request: Request) -> Response:
        customer = self._accounts.sign_up(request.text("email"), request.text("password"))
        return self._visitor.remember(Response({"id": customer.id}, status=201), CUSTOMER, str(customer.id))

    def sign_in(self, request: Request) -> Response:
        customer = self._accounts.sign_in(request.text("email"), request.text("password"))
        return self._visitor.remember(Response({"id": customer.id}), CUSTOMER, str(customer.id))

    def sign_out(self, request: Request) -> Response:
        return self._visitor.forget(Response(status=204), CUSTOMER)
