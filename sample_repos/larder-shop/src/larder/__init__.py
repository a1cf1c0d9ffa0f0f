"""The web shop."""

from larder.app import Shop, create_shop
from larder.settings import Settings

__all__ = ["Settings", "Shop", "create_shop"]
__version__ = "1.6.0"
