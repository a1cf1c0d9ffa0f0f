"""From a basket to a paid order."""

import uuid

from larder.errors import CardDeclined, ShopError
from larder.infra.clock import Clock
from larder.infra.mail import Outbox
from larder.infra.payments import PaymentGateway
from larder.models import Basket, Customer, Order, OrderStatus
from larder.repositories import BasketRepository, OrderRepository
from larder.services.pricing import PriceList


class CheckoutService:
    def __init__(
        self,
        baskets: BasketRepository,
        orders: OrderRepository,
        prices: PriceList,
        gateway: PaymentGateway,
        outbox: Outbox,
        clock: Clock,
    ) -> None:
        self._baskets = baskets
        self._orders = orders
        self._prices = prices
        self._gateway = gateway
        self._outbox = outbox
        self._clock = clock

    def place_order(self, basket: Basket, customer: Customer, card: str, order_id: str | None = None) -> Order:
        """Charges the card and stores the order. With the id of an earlier attempt nothing is charged twice."""
        if not basket.lines:
            raise ShopError("The basket is empty")
        quote = self._prices.quote(basket, self._clock())
        items = tuple((line.product.sku, line.quantity) for line in basket.lines)
        order = Order(order_id or uuid.uuid4().hex, customer.id, quote.total, OrderStatus.PENDING, items)
        self._orders.add(order)
        try:
            charge_id = self._gateway.charge(card, order.total, idempotency_key=order.id)
        except CardDeclined:
            self._orders.set_status(order.id, OrderStatus.FAILED)
            raise
        self._orders.set_status(order.id, OrderStatus.PAID, charge_id)
        self._baskets.clear(basket.id)  # the held stock is sold, so it is not given back
        self._outbox.send(customer.email, f"Your order {order.id[:8]}", f"Thank you! You paid {order.total}.")
        return self._orders.get(order.id)
