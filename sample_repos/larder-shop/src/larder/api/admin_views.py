"""`/admin`: for the shop's staff."""

from dataclasses import replace

from larder.api.cookies import Visitor
from larder.api.presenters import present_order, present_product
from larder.api.routing import Request, Response, Router
from larder.repositories import ProductRepository
from larder.services import RefundService


class AdminViews:
    def __init__(self, visitor: Visitor, refunds: RefundService, products: ProductRepository) -> None:
        self._visitor = visitor
        self._refunds = refunds
        self._products = products

    def register(self, router: Router) -> None:
        router.add("POST", "/admin/orders/:id/refund", self.refund)
        router.add("PUT", "/admin/products/:sku/stock", self.set_stock)

    def refund(self, request: Request) -> Response:
        self._visitor.staff(request)
        return Response(present_order(self._refunds.refund(request.parameters["id"])))

    def set_stock(self, request: Request) -> Response:
        self._visitor.staff(request)
        product = replace(self._products.get(request.parameters["sku"]), stock=int(request.json()["stock"]))
        self._products.save(product)
        return Response(present_product(product))
