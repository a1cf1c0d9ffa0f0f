"""Models as JSON."""

from typing import Any

from larder.models import Basket, Order, Product
from larder.services import Quote


def present_product(product: Product) -> dict[str, Any]:
    return {"sku": product.sku, "name": product.name, "price": str(product.price), "available": product.stock}


def present_basket(basket: Basket, quote: Quote) -> dict[str, Any]:
    return {
        "lines": [{"sku": line.product.sku, "quantity": line.quantity} for line in basket.lines],
        "subtotal": str(quote.subtotal),
        "discount": str(quote.discount),
        "delivery": str(quote.delivery),
        "total": str(quote.total),
        "code": quote.code,
    }


def present_order(order: Order) -> dict[str, Any]:
    return {"id": order.id, "status": order.status, "total": str(order.total), "items": [list(i) for i in order.items]}
