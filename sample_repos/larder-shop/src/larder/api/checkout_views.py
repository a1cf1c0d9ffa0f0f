"""`/checkout` and `/orders`."""

from larder.api.cookies import Visitor
from larder.api.presenters import present_order
from larder.api.routing import Request, Response, Router
from larder.errors import NotFound
from larder.repositories import OrderRepository
from larder.services import CheckoutService


class CheckoutViews:
    def __init__(self, visitor: Visitor, checkout: CheckoutService, orders: OrderRepository) -> None:
        self._visitor = visitor
        self._checkout = checkout
        self._orders = orders

    def register(self, router: Router) -> None:
        router.add("POST", "/checkout", self.pay)
        router.add("GET", "/orders", self.show_all)
        router.add("GET", "/orders/:id", self.show)

    def pay(self, request: Request) -> Response:
        customer = self._visitor.customer(request)
        order = self._checkout.place_order(self._visitor.basket(request), customer, request.text("card"))
        return Response(present_order(order), status=201)

    def show_all(self, request: Request) -> Response:
        customer = self._visitor.customer(request)
        return Response([present_order(order) for order in self._orders.of_customer(customer.id)])

    def show(self, request: Request) -> Response:
        customer = self._visitor.customer(request)
        order = self._orders.get(request.parameters["id"])
        if order.customer_id != customer.id and not customer.is_staff:
            raise NotFound("There is no such order")  # does not tell that somebody else has it
        return Response(present_order(order))
