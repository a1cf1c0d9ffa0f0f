"""Who is asking: the basket of the browser and the customer behind it, from signed cookies."""

from larder.api.routing import Request, Response
from larder.errors import Forbidden, SignInRequired
from larder.infra.signing import Signer
from larder.models import Basket, Customer
from larder.repositories import CustomerRepository
from larder.services import BasketService

BASKET, CUSTOMER = "basket", "customer"


class Visitor:
    def __init__(self, signer: Signer, customers: CustomerRepository, baskets: BasketService) -> None:
        self._signer = signer
        self._customers = customers
        self._baskets = baskets

    def basket(self, request: Request) -> Basket:
        return self._baskets.open(self._read(request, BASKET))

    def customer(self, request: Request) -> Customer:
        customer_id = self._read(request, CUSTOMER)
        if customer_id is None:
            raise SignInRequired("Sign in first")
        return self._customers.get(int(customer_id))

    def staff(self, request: Request) -> Customer:
        customer = self.customer(request)
        if not customer.is_staff:
            raise Forbidden("This is for the shop's staff")
        return customer

    def remember(self, response: Response, name: str, value: str) -> Response:
        response.cookies[name] = self._signer.sign(value)
        return response

    def forget(self, response: Response, name: str) -> Response:
        response.cookies[name] = ""
        return response

    def _read(self, request: Request, name: str) -> str | None:
        return self._signer.open(request.cookies.get(name, ""))
