"""Giving money back."""

from larder.errors import ShopError
from larder.infra.payments import PaymentGateway
from larder.models import Order, OrderStatus
from larder.repositories import OrderRepository
from larder.services.inventory import InventoryService


class RefundService:
    def __init__(self, orders: OrderRepository, gateway: PaymentGateway, inventory: InventoryService) -> None:
        self._orders = orders
        self._gateway = gateway
        self._inventory = inventory

    def refund(self, order_id: str) -> Order:
        """The money first; the goods after it."""
        order = self._orders.get(order_id)
        if order.status not in (OrderStatus.PAID, OrderStatus.SHIPPED) or order.charge_id is None:
            raise ShopError(f"An order that is {order.status} cannot be refunded")
        self._gateway.give_back(order.charge_id, order.total)
        self._orders.set_status(order.id, OrderStatus.REFUNDED)
        self._inventory.restock(order.items)
        return self._orders.get(order.id)
