"""SQL, one module for each aggregate."""

from larder.repositories.baskets import BasketRepository
from larder.repositories.customers import CustomerRepository
from larder.repositories.orders import OrderRepository
from larder.repositories.products import ProductRepository
from larder.repositories.promotions import PromotionRepository

__all__ = ["BasketRepository", "CustomerRepository", "OrderRepository", "ProductRepository", "PromotionRepository"]
