"""Requests, responses, and which view answers which path."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from larder.errors import NotFound, ShopError


@dataclass
class Request:
    method: str
    path: str
    body: bytes = b""
    cookies: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)

    def json(self) -> dict[str, Any]:
        try:
            value = json.loads(self.body or b"{}")
        except ValueError as error:
            raise ShopError("The body is not JSON") from error
        if not isinstance(value, dict):
            raise ShopError("The body must be a JSON object")
        return value

    def text(self, key: str) -> str:
        value = self.json().get(key)
        if not isinstance(value, str) or not value:
            raise ShopError(f"{key} is missing")
        return value


@dataclass
class Response:
    data: Any = None
    status: int = 200
    cookies: dict[str, str] = field(default_factory=dict)


View = Callable[[Request], Response]


class Router:
    def __init__(self) -> None:
        self._routes: list[tuple[str, re.Pattern[str], View]] = []

    def add(self, method: str, path: str, view: View) -> None:
        """`:name` in the path matches one segment and becomes a parameter."""
        pattern = re.sub(r":(\w+)", r"(?P<\1>[^/]+)", path)
        self._routes.append((method, re.compile(pattern), view))

    def answer(self, request: Request) -> Response:
        for method, pattern, view in self._routes:
            found = pattern.fullmatch(request.path)
            if found and method == request.method:
                request.parameters = found.groupdict()
                return view(request)
        raise NotFound(f"There is nothing at {request.path}")
