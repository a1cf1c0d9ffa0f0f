"""`/products`."""

from larder.api.presenters import present_product
from larder.api.routing import Request, Response, Router
from larder.repositories import ProductRepository


def register(router: Router, products: ProductRepository) -> None:
    def show_all(request: Request) -> Response:
        return Response([present_product(product) for product in products.list()])

    def show(request: Request) -> Response:
        return Response(present_product(products.get(request.parameters["sku"])))

    router.add("GET", "/products", show_all)
    router.add("GET", "/products/:sku", show)
