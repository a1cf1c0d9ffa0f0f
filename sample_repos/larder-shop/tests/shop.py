"""A shop in memory with a clock that stands still."""

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from larder import Settings, create_shop  # noqa: E402
from larder.api import Request, Response  # noqa: E402
from larder.infra.payments import AcceptingGateway  # noqa: E402
from larder.models import Money, Product  # noqa: E402

CARD = "4242424242424242"
DECLINED = "4000000000000002"


class TestShop:
    """Speaks to the application as one browser."""

    __test__ = False

    def __init__(self) -> None:
        self.now = datetime(2024, 5, 2, 9, 30, tzinfo=UTC)
        self.gateway = AcceptingGateway()
        self.shop = create_shop(Settings(database=":memory:"), lambda: self.now, self.gateway)
        self.shop.products.save(Product("olives", "Olives", Money.parse("7.50"), 20))
        self.shop.products.save(Product("brie", "Brie", Money.parse("12.00"), 3, fresh=True))
        self.application = self.shop.application()
        self.cookies: dict[str, str] = {}

    def ask(self, method: str, path: str, **body: Any) -> Response:
        response = self.application.handle(Request(method, path, json.dumps(body).encode(), dict(self.cookies)))
        self.cookies.update(response.cookies)
        return response

    def wait(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    def stock(self, sku: str) -> int:
        return self.shop.products.get(sku).stock
