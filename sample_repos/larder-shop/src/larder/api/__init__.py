"""HTTP."""

from larder.api.routing import Request, Response, Router
from larder.api.wsgi import Application, build_router

__all__ = ["Application", "Request", "Response", "Router", "build_router"]
