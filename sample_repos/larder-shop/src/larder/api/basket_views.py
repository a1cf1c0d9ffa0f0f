"""`/basket`."""

from larder.api.cookies import BASKET, Visitor
from larder.api.presenters import present_basket
from larder.api.routing import Request, Response, Router
from larder.infra.clock import Clock
from larder.models import Basket
from larder.services import BasketService, PriceList


class BasketViews:
    def __init__(self, visitor: Visitor, baskets: BasketService, prices: PriceList, clock: Clock) -> None:
        self._visitor = visitor
        self._baskets = baskets
        self._prices = prices
        self._clock = clock

    def register(self, router: Router) -> None:
        router.add("GET", "/basket", self.show)
        router.add("POST", "/basket/lines", self.add_line)
        router.add("DELETE", "/basket/lines/:sku", self.remove_line)
        router.add("POST", "/basket/codes", self.enter_code)

    def show(self, request: Request) -> Response:
        return self._answer(self._visitor.basket(request))

    def add_line(self, request: Request) -> Response:
        quantity = int(request.json().get("quantity", 1))
        return self._answer(self._baskets.add(self._visitor.basket(request), request.text("sku"), quantity))

    def remove_line(self, request: Request) -> Response:
        return self._answer(self._baskets.remove(self._visitor.basket(request), request.parameters["sku"]))

    def enter_code(self, request: Request) -> Response:
        return self._answer(self._baskets.enter_code(self._visitor.basket(request), request.text("code")))

    def _answer(self, basket: Basket) -> Response:
        response = Response(present_basket(basket, self._prices.quote(basket, self._clock())))
        return self._visitor.remember(response, BASKET, basket.id)
