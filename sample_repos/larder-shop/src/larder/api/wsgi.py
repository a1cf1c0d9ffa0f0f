"""The WSGI application: one request in, one JSON response out."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from http import HTTPStatus
from http.cookies import SimpleCookie
from typing import TYPE_CHECKING, Any

from larder.api import catalog_views
from larder.api.account_views import AccountViews
from larder.api.admin_views import AdminViews
from larder.api.basket_views import BasketViews
from larder.api.checkout_views import CheckoutViews
from larder.api.cookies import Visitor
from larder.api.routing import Request, Response, Router
from larder.errors import ShopError

if TYPE_CHECKING:
    from larder.app import Shop

log = logging.getLogger(__name__)

LARGEST_BODY = 64 * 1024


def build_router(shop: Shop) -> Router:
    visitor = Visitor(shop.signer, shop.customers, shop.baskets)
    router = Router()
    catalog_views.register(router, shop.products)
    BasketViews(visitor, shop.baskets, shop.prices, shop.clock).register(router)
    CheckoutViews(visitor, shop.checkout, shop.orders).register(router)
    AccountViews(visitor, shop.accounts).register(router)
    AdminViews(visitor, shop.refunds, shop.products).register(router)
    return router


class Application:
    def __init__(self, router: Router) -> None:
        self._router = router

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        response = self.handle(read_request(environ))
        body = b"" if response.data is None else json.dumps(response.data).encode()
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        headers += [("Set-Cookie", f"{n}={v}; HttpOnly; SameSite=Lax; Path=/") for n, v in response.cookies.items()]
        start_response(f"{response.status} {HTTPStatus(response.status).phrase}", headers)
        return [body]

    def handle(self, request: Request) -> Response:
        """Errors of the shop become their status; all others are logged and become 500."""
        try:
            return self._router.answer(request)
        except ShopError as error:
            return Response({"error": {"code": error.code, "message": str(error)}}, status=error.status)
        except Exception:
            log.exception("%s %s failed", request.method, request.path)
            return Response({"error": {"code": "internal", "message": "Something went wrong"}}, status=500)


def read_request(environ: dict[str, Any]) -> Request:
    length = min(int(environ.get("CONTENT_LENGTH") or 0), LARGEST_BODY)
    cookies = {name: morsel.value for name, morsel in SimpleCookie(environ.get("HTTP_COOKIE", "")).items()}
    return Request(environ["REQUEST_METHOD"], environ.get("PATH_INFO", "/"), environ["wsgi.input"].read(length), cookies)
