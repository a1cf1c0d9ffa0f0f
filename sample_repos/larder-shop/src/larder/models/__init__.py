"""Plain values without behaviour towards the outside."""

from larder.models.basket import Basket, Line
from larder.models.catalog import Product
from larder.models.customer import Customer
from larder.models.money import Money
from larder.models.order import Order, OrderStatus
from larder.models.promotion import Promotion, PromotionKind

__all__ = ["Basket", "Customer", "Line", "Money", "Order", "OrderStatus", "Product", "Promotion", "PromotionKind"]
