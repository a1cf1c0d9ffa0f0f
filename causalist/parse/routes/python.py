"""Routes of Python: Flask, FastAPI, Starlette, Django and its REST framework, Falcon; requests and test clients."""

import re
from collections.abc import Iterator

from causalist.model.facts import MODULE_SCOPE, RouteFact, RouteForm
from causalist.model.symbols import TYPE_KINDS
from causalist.parse.routes.source import (
    ANY,
    MemberCall,
    RouteText,
    chain,
    is_client,
    keyword,
    literal,
    path_or_constant,
    requested_path,
    route_at,
)

_PY_DECORATOR = re.compile(
    rb"@(?P<receiver>[\w.]+)\.(?P<verb>route|get|post|put|patch|delete|head|options|websocket|api_route"
    rb"|websocket_route|trace)\("
)
_FAKES = re.compile(rb"\b(?:mocks?|mocker|responses|respx\w*|httpretty|requests_mock|monkeypatch)$")
_PY_ROUTER = re.compile(rb"=\s*(?:\w+\.)*(?P<made>\w*(?:Blueprint|Router|Namespace|Api))\(")
_MAKING_ROUTERS = re.compile(rb"Blueprint\(|Router\(|Namespace\(|Api\(")
_PY_NAME = re.compile(rb"(?P<name>[\w.]+)\s*(?::\s*[\w.]+\s*)?$")
_PY_MOUNT = re.compile(
    rb"\.(?P<verb>include_router|register_blueprint|mount|add_url_rule|add_api_route|add_route|register|add_\w*resource"
    rb"|add_namespace)\("
)
_PY_PATH = re.compile(rb"(?<![\w.])(?P<verb>path|re_path|url)\(")
_PY_LIST = re.compile(rb"^(?P<name>\w+)\s*(?::[^=\n]+)?\+?=\s*(?:\w+\()?[\[(]", re.MULTILINE)
_PY_CLIENT = re.compile(rb"""\.(?P<verb>get|post|put|patch|delete|head|options|request|open)\((?=\s*[furbFURB]?["'])""")


def read_python(source: RouteText) -> Iterator[tuple[int, RouteFact]]:
    """Yield the start and fact of each route and request of a Python file."""
    for match in source.matches(_PY_DECORATOR, "verb"):
        arguments, _ = source.arguments(match.end())
        path = source.literal(arguments[0].text) if arguments else None
        path = literal(keyword(arguments, "path", "rule") or "") if path is None else path
        definition = source.decorated(match.start("receiver"))
        if (
            path is None
            or definition < 0
            or _FAKES.search(match["receiver"])
            or (path and not path.startswith(("/", "<", "{")))
        ):
            continue
        verb = match["verb"].decode()
        if source.definitions[definition].kind in TYPE_KINDS:
            yield from _routes_of_class(source, match, path, definition)
            continue
        given = re.findall(r"""["'](\w+)["']""", keyword(arguments, "methods") or "")
        methods = given or (
            ["GET"] if verb in ("route", "api_route") else ["WS" if verb.startswith("websocket") else verb]
        )
        for method in methods:
            yield route_at(
                source, match.start("receiver"), RouteForm.ROUTE, receiver=match["receiver"].decode(), method=method,
                path=path, definition=definition, scope=source.definitions[definition].parent,
            )  # fmt: skip
    yield from _python_routers(source)
    for call in source.calls(_PY_MOUNT):
        if source.is_code(call.name):
            yield from _python_mount(source, call)
    if b"urlpatterns" in source.data or re.search(rb"\binclude\(", source.data):
        yield from _django(source)
    for call in source.calls(_PY_CLIENT):
        if is_client(call.receiver) and source.is_code(call.name):
            arguments, _ = source.arguments(call.arguments)
            verb, texts = call.verb, [source.literal(each.text) for each in arguments[:2]]
            if verb == "request" and len(texts) > 1 and texts[0]:
                verb, texts = texts[0], texts[1:]
            elif verb == "open":
                verb = literal(keyword(arguments, "method") or "") or "get"
            path = requested_path(texts[0]) if texts else ""
            if path:
                yield route_at(source, call.name, RouteForm.REQUEST, method=verb, path=path)


def _python_routers(source: RouteText) -> Iterator[tuple[int, RouteFact]]:
    if not _MAKING_ROUTERS.search(source.data):
        return
    for match in source.matches(_PY_ROUTER, "made"):
        lowest = max(0, match.start() - 100)
        named = _PY_NAME.search(source.data[lowest : match.start()])
        if named is None:
            continue
        name, start = named["name"].decode("utf-8", "replace"), lowest + named.start("name")
        arguments, _ = source.arguments(match.end())
        prefix = path_or_constant(keyword(arguments, "url_prefix", "prefix", "path"))
        if prefix:
            yield route_at(source, start, RouteForm.PREFIX, receiver=name, path=prefix)
        if match["made"] == b"Api" and arguments and (parent := chain(arguments[0].text)):
            yield route_at(source, start, RouteForm.MOUNT, receiver=parent, handler=name)


def _routes_of_class(
    source: RouteText, match: "re.Match[bytes]", path: str, definition: int
) -> Iterator[tuple[int, RouteFact]]:
    """Yield a route for each method of a class that has the name of one of HTTP."""
    for number, each in enumerate(source.definitions):
        if each.parent == definition and each.name in ("get", "post", "put", "patch", "delete", "head", "options"):
            yield route_at(
                source, match.start("receiver"), RouteForm.ROUTE, receiver=match["receiver"].decode(),
                method=each.name, path=path, definition=number, scope=source.definitions[definition].parent,
            )  # fmt: skip


def _python_mount(source: RouteText, call: MemberCall) -> Iterator[tuple[int, RouteFact]]:
    receiver, verb, start = call.receiver, call.verb, call.start
    arguments, _ = source.arguments(call.arguments)
    if not arguments:
        return
    if verb in ("include_router", "register_blueprint", "add_namespace"):
        prefix = path_or_constant(keyword(arguments, "url_prefix", "prefix", "path"))
        if prefix is None and verb == "add_namespace" and len(arguments) > 1:
            prefix = literal(arguments[1].text)
        below = chain(arguments[0].text)
        if below:
            form = RouteForm.MOUNT if prefix is None or verb != "register_blueprint" else RouteForm.MOUNT_AT
            yield route_at(source, start, form, receiver=receiver, path=prefix or "", handler=below)
    elif verb == "mount":
        path, below = literal(arguments[0].text), chain(arguments[1].text) if len(arguments) > 1 else ""
        if path is not None and below:
            yield route_at(source, start, RouteForm.MOUNT, receiver=receiver, path=path, handler=below)
    elif verb == "register":  # routers of Django REST framework
        path, view = literal(arguments[0].text), chain(arguments[1].text) if len(arguments) > 1 else ""
        if path is not None and view and not path.startswith("/"):
            for method, below in (
                ("GET", ""),
                ("POST", ""),
                ("GET", "{pk}/"),
                ("PUT", "{pk}/"),
                ("PATCH", "{pk}/"),
                ("DELETE", "{pk}/"),
            ):
                full = f"{path.strip('^$/')}/{below}"
                yield route_at(
                    source, start, RouteForm.ROUTE, receiver=receiver, method=method, path=full, handler=view
                )
    else:
        path = literal(arguments[0].text)
        view = keyword(arguments, "view_func", "endpoint") or next(
            (each.text for each in arguments[1:] if chain(each.text) and literal(each.text) is None), ""
        )
        if verb.endswith("resource"):
            view, path = arguments[0].text, literal(arguments[1].text) if len(arguments) > 1 else None
        given = re.findall(r"""["'](\w+)["']""", keyword(arguments, "methods") or "") or [
            ANY if verb.endswith("resource") else "GET"
        ]
        name = chain(view)
        if path is not None and name:
            for method in given:
                yield route_at(
                    source, start, RouteForm.ROUTE, receiver=receiver, method=method, path=path,
                    handler=re.sub(r"\.as_view$", "", name),
                )  # fmt: skip


def _django(source: RouteText) -> Iterator[tuple[int, RouteFact]]:
    """Yield the routes and mounts of lists of `path(…)`; what is nested in `include([…])` is below its path."""
    around: list[tuple[int, str]] = []  # (end, path) of the calls that are open
    lists = [
        (each.start(), source.arguments(each.end(), len(source.data))[1], each["name"].decode())
        for each in _PY_LIST.finditer(source.data)
    ]
    for match in source.matches(_PY_PATH, "verb"):
        arguments, end = source.arguments(match.end())
        if len(arguments) < 2:
            continue
        text = literal(arguments[0].text)
        if text is None and not arguments[1].text.startswith("include"):
            continue
        text = (text or "").removeprefix("{}")  # a prefix from the settings, which is mostly empty
        if match["verb"] != b"path":
            text = _path_of_pattern(text)
        while around and around[-1][0] <= match.start():
            around.pop()
        path = "".join(each for _, each in around) + text
        included = re.match(r"include\(\s*(.*)\)\s*$", arguments[1].text, re.DOTALL)
        start = match.start("verb")
        held = next((name for first, last, name in reversed(lists) if first <= start < last), "")
        receiver = "" if held == "urlpatterns" else held
        if included is None:
            view = re.sub(r"\.as_view$", "", chain(arguments[1].text))
            if view:
                yield route_at(
                    source,
                    start,
                    RouteForm.ROUTE,
                    receiver=receiver,
                    method=ANY,
                    path=path,
                    handler=view,
                    scope=MODULE_SCOPE,
                )
            continue
        inner = included[1].lstrip("(").strip()
        module, name = literal(re.split(r"\s*,", inner)[0]), chain(re.split(r"[,)]", inner)[0])
        if module:
            below = f"module:{module}"
            yield route_at(
                source, start, RouteForm.MOUNT, receiver=receiver, path=path, handler=below, scope=MODULE_SCOPE
            )
        elif name:
            below = re.sub(r"\.urls$", "", name)
            yield route_at(
                source, start, RouteForm.MOUNT, receiver=receiver, path=path, handler=below, scope=MODULE_SCOPE
            )
        else:
            around.append((end, text))


def _path_of_pattern(pattern: str) -> str:
    r"""Return the path that a regular expression of Django stands for.

    >>> _path_of_pattern(r"^users/(?P<pk>\d+)/$")
    'users/<pk>/'
    """
    path = re.sub(r"\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)", r"<\1>", pattern)
    path = re.sub(r"\((?!\?)(?:[^()])*\)", "<>", path)
    return re.sub(r"[\^$]|\\Z|\\A|\?$", "", path).replace("\\", "")
