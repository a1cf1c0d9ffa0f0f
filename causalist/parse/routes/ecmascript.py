"""Routes and events of JavaScript and TypeScript: Express, Koa, Fastify, Hono, Nest; `fetch`, axios; event emitters."""

import re
from collections.abc import Iterator

import tree_sitter

from causalist._internal.lazy import lazy_regex
from causalist.model.facts import MODULE_SCOPE, RouteFact, RouteForm
from causalist.model.node_ids import TYPE_KINDS, NodeKind
from causalist.parse.routes.searched_text import (
    ANY,
    Argument,
    MemberCall,
    RouteText,
    chain,
    is_client,
    literal,
    path_or_constant,
    requested_path,
    route_at,
)

_JS_CALL = lazy_regex(
    rb"\.\s*(?P<verb>get|post|put|patch|delete|del|options|head|all|use|route|register|prefix|mount|emit|on|once"
    rb"|addListener|addEventListener|setGlobalPrefix|basePath)\s*"
    rb"(?:<[^<>()]{0,120}(?:<[^<>()]{0,60}>)?[^<>()]{0,40}>)?\((?=\s*[\"'`{A-Za-z])"
)
_JS_FETCH = lazy_regex(rb"(?<![\w$.])(?P<name>fetch|\$fetch|useFetch|ofetch|axios|ky|got)\s*(?:<[^()]{0,80}>)?\(")
_JS_ROUTER = lazy_regex(rb"=\s*new\s+\w*(?:Router|Hono)\w*\s*(?:<[^()]{0,80}>)?\(")
# What a client gives under its own name: `const { get } = useApi()`, `httpGet`.
_JS_BARE = lazy_regex(
    rb"(?<![\w$.@])(?P<verb>get|post|put|patch|del|httpGet|httpPost|httpPut|httpPatch|httpDelete)"
    rb"(?:<[^()\n]{0,80}>)?\((?=\s*[\"'`]/)"
)
_FETCHING = lazy_regex(rb"etch\s*[(<]|axios\s*\(|ky\(|got\(")
_JS_DECORATOR = lazy_regex(rb"@(?P<name>Controller|Get|Post|Put|Patch|Delete|Head|Options|All|Sse)\s*\(")
_JS_FUNCTION = lazy_regex(r"(async\b\s*)?(function\b|\([^()]*(\([^()]*\)[^()]*)*\)\s*(:[^=]+)?=>|\w+\s*=>)")
_JS_MODULE = lazy_regex(r"""(?:require|import)\(\s*["'`]([^"'`]+)["'`]\s*\)""")
# Events of the platform: handlers of the same name have nothing to do with each other.
_PLATFORM_EVENTS = """
error data end close open finish drain readable message connect connection disconnect listening request response exit
uncaughtException unhandledRejection click change input submit focus blur keydown keyup keypress mousedown mouseup
mousemove mouseover mouseout mouseenter mouseleave resize scroll load unload beforeunload ready upgrade timeout abort
pipe unpipe SIGINT SIGTERM SIGHUP warning wheel touchstart touchmove touchend dragstart dragover drop dragend popstate
hashchange online offline storage select paste copy cut contextmenu dblclick
"""
# What a value is given to, before it.
_NAMED_VALUE = lazy_regex(
    rb"(?:(?<![\w$.])(?P<name>[\w$]+)\s*(?::[^=;\n]{0,60})?=|module\.exports\s*=|export\s+default)"
    rb"\s*(?:await\s+|new\s+)*$"
)
_WITHOUT_LITERAL = ("use", "route", "register", "mount", "setGlobalPrefix")
_EITHER = ("api", "client", "server", "instance", "session")  # names of clients and of routers
_WITH_BASE = ("http", "axios", "api", "apiclient")  # clients that often add the beginning of a path
_RELATIVE_PATH = lazy_regex(r"[a-z][\w-]*(?:/|\?|$)")
_MAX_CHAINED = 40  # calls in one chain
_CHAINED = ("get", "post", "put", "patch", "delete", "options", "head", "all", "use", "route", "param", "register")
_NOT_EVENTS = frozenset(_PLATFORM_EVENTS.split())


def read_ecmascript(source: RouteText) -> Iterator[tuple[int, RouteFact]]:
    """Yield the start and fact of each route, request and event of a JavaScript or TypeScript file."""
    if b"prefix" in source.data:
        for match in source.matches(_JS_ROUTER):
            arguments, _ = source.arguments(match.end())
            prefix = re.search(r"""prefix\s*:\s*["'`]([^"'`]*)["'`]""", arguments[0].text) if arguments else None
            name = _name_of_value(source, match.start() + 1)
            if prefix and name:
                yield route_at(source, match.start(), RouteForm.PREFIX, receiver=name, path=prefix[1])
    for match in source.matches(_JS_DECORATOR, "name"):
        yield from _nest(source, match)
    for match in source.matches(_JS_FETCH, "name") if _FETCHING.search(source.data) else ():
        arguments, _ = source.arguments(match.end())
        path = requested_path(source.literal(arguments[0].text)) if arguments else ""
        if path:
            method = re.search(r"""\bmethod\s*:\s*["'`](\w+)["'`]""", arguments[1].text) if len(arguments) > 1 else None
            yield route_at(source, match.start(), RouteForm.REQUEST, method=method[1] if method else "get", path=path)
    for match in (
        source.matches(_JS_BARE, "verb") if b"`/" in source.data or b"'/" in source.data or b'"/' in source.data else ()
    ):
        arguments, _ = source.arguments(match.end())
        path = requested_path(source.literal(arguments[0].text)) if arguments else ""
        if path and not (len(arguments) > 1 and _JS_FUNCTION.match(arguments[-1].text)):
            verb = match["verb"].decode().removeprefix("http").lower()
            yield route_at(source, match.start(), RouteForm.REQUEST, method=verb, path=path)
    for call in source.calls(_JS_CALL):
        yield from _ecmascript_call(source, call)


def _ecmascript_call(source: RouteText, call: MemberCall) -> Iterator[tuple[int, RouteFact]]:
    verb, start = call.verb, call.start
    is_literal = source.data[call.arguments : call.arguments + 50].lstrip()[:1] in (b'"', b"'", b"`")
    if not is_literal and call.receiver != ")" and verb not in _WITHOUT_LITERAL:
        return
    if not source.is_code(call.name):
        return
    receiver, path_before = _receiver(source, call)
    arguments, _ = source.arguments(call.arguments)
    if not arguments or not receiver:
        return
    first, last = source.literal(arguments[0].text), arguments[-1]
    if verb in ("emit", "on", "once", "addListener", "addEventListener"):
        if first and first not in _NOT_EVENTS and len(first) > 2 and "{}" not in first:
            if verb == "emit":
                yield route_at(source, start, RouteForm.EMIT, receiver=receiver, path=first)
            elif len(arguments) > 1:
                yield _with_handler(source, start, last, RouteForm.LISTEN, receiver=receiver, path=first)
        return
    if verb == "setGlobalPrefix":
        prefix = path_or_constant(arguments[0].text)
        if prefix:
            yield route_at(source, start, RouteForm.PREFIX, receiver="*", path=prefix)
    elif verb in ("prefix", "basePath") and first and first.startswith("/"):
        # `const api = new Hono().basePath("/api")` names a router of its own.
        named = re.search(rb"([\w$]+)\s*=\s*new\s+\w+\([^()]*\)\s*\.\s*$", source.data[max(0, start - 120) : call.name])
        yield route_at(source, start, RouteForm.PREFIX, receiver=named[1].decode() if named else receiver, path=first)
    elif verb == "register" and re.match(r"(fastify)?autoload\b", arguments[0].text, re.IGNORECASE):
        yield from _autoload(source, start, receiver, last)
    elif verb == "register" or verb == "mount":
        options_prefix = re.search(r"""prefix\s*:\s*["'`]([^"'`]*)["'`]""", last.text) if len(arguments) > 1 else None
        below = _find_mounted(arguments[0].text if first is None else last.text)
        if below:
            path = options_prefix[1] if options_prefix else first or ""
            yield route_at(source, start, RouteForm.MOUNT, receiver=receiver, path=path, handler=below)
    elif verb == "use" or (verb == "route" and len(arguments) > 1):
        below = _find_mounted(last.text)
        path = path_or_constant(arguments[0].text) if len(arguments) > 1 else ""
        if below and (path is None or path.startswith(("/", "=")) or not path):
            yield route_at(source, start, RouteForm.MOUNT, receiver=receiver, path=path or "", handler=below)
    elif verb == "route":
        if arguments[0].text.startswith("{"):
            yield from _route_object(source, start, receiver, arguments[0])
    else:
        if path_before is not None and first is None:  # app.route("/x").get(show)
            yield _with_handler(source, start, last, RouteForm.ROUTE, receiver=receiver, method=verb, path=path_before)
        elif first is None:
            return
        elif is_client(receiver) and not (receiver in _EITHER and _JS_FUNCTION.match(last.text)):
            has_base = receiver.rpartition(".")[2].lower().lstrip("_$") in _WITH_BASE
            path = requested_path(f"/{first}" if has_base and _RELATIVE_PATH.match(first) else first)
            if path:
                yield route_at(source, start, RouteForm.REQUEST, method=verb, path=path)
        elif (
            len(arguments) > 1
            and _is_handler(last.text)
            and (first.startswith(("/", "*")) or first == "" or re.search(r"router", receiver, re.IGNORECASE))
        ):
            yield _with_handler(source, start, last, RouteForm.ROUTE, receiver=receiver, method=verb, path=first)


def _is_handler(text: str) -> bool:
    return bool(_JS_FUNCTION.match(text) or chain(text))


def _receiver(source: RouteText, call: MemberCall) -> tuple[str, str | None]:
    """Return the chain that a call is made on, and the path of the `route(…)` before it in a chain of calls."""
    if call.receiver != ")":
        return call.receiver, None
    member = source.node(call.name).parent
    path: str | None = None
    for _ in range(_MAX_CHAINED):
        made_on = member.child_by_field_name("object") if member is not None else None
        if made_on is None:
            return "", None
        if made_on.type != "call_expression":
            return _name_of_value(source, made_on.start_byte) or _compact(source, made_on), path
        called = made_on.child_by_field_name("function")
        if called is None or called.type != "member_expression":
            return _name_of_value(source, made_on.start_byte) or f"{_compact(source, called)}()", path
        name = called.child_by_field_name("property")
        verb = source.text(name.start_byte, name.end_byte) if name is not None else ""
        if verb == "route" and path is None:
            arguments, _ = source.arguments(called.end_byte + 1)
            path = source.literal(arguments[0].text) if arguments else None
        if verb not in _CHAINED:  # `express.Router()`
            return _name_of_value(source, made_on.start_byte) or f"{_compact(source, called)}()", path
        member = called
    return "", None


def _compact(source: RouteText, node: tree_sitter.Node | None) -> str:
    text = "" if node is None else source.text(node.start_byte, min(node.end_byte, node.start_byte + 100))
    return re.sub(r"\s|\?", "", text)


def _name_of_value(source: RouteText, start: int) -> str:
    """Return the name that the value at `start` is given: `default` for what the file exports as a whole."""
    before = _NAMED_VALUE.search(source.data[max(0, start - 120) : start])
    return "" if before is None else (before["name"] or b"default").decode("utf-8", "replace")


def _find_mounted(text: str) -> str:
    """Return what is mounted: a chain, or `module:` and the module of `require("./users")`."""
    module = _JS_MODULE.search(text)
    if module:
        return f"module:{module[1]}"
    name = chain(text)
    return re.sub(r"\.(routes|middleware|callback|handler)$", "", name) if name else ""


def _autoload(source: RouteText, start: int, receiver: str, options: Argument) -> Iterator[tuple[int, RouteFact]]:
    """Yield the mount of a folder, whose plugins are below the paths of their folders."""
    folder = re.search(r"\bdir\s*:\s*(.*)", options.text)
    names = re.findall(r"""["'`]([\w./-]+)["'`]""", folder[1]) if folder else []
    prefix = re.search(r"""prefix\s*:\s*["'`]([^"'`]*)["'`]""", options.text)
    if names:
        below = "folder:" + "/".join(name.strip("./") for name in names)
        path = prefix[1] if prefix else ""
        yield route_at(source, start, RouteForm.MOUNT, receiver=receiver, path=path, handler=below)


def _route_object(source: RouteText, start: int, receiver: str, argument: Argument) -> Iterator[tuple[int, RouteFact]]:
    """Yield the routes of `fastify.route({ method: "GET", url: "/x", handler })`."""
    method = re.search(r"""\bmethod\s*:\s*(\[[^\]]*\]|["'`]\w+["'`])""", argument.text)
    path = re.search(r"""\b(?:url|path)\s*:\s*["'`]([^"'`]*)["'`]""", argument.text)
    handler = re.search(r"\bhandler\s*(?::\s*([A-Za-z_$][\w$.]*)\s*[,}]|[,}])", argument.text)
    if method and path:
        for each in re.findall(r"\w+", method[1]):
            yield route_at(
                source, start, RouteForm.ROUTE, receiver=receiver, method=each, path=path[1],
                handler=(handler[1] or "handler") if handler else "",
            )  # fmt: skip


def _nest(source: RouteText, match: "re.Match[bytes]") -> Iterator[tuple[int, RouteFact]]:
    """Yield the route or prefix that a decorator of a class or method gives."""
    arguments, _ = source.arguments(match.end())
    name, start = match["name"].decode(), match.start()
    definition = source.owner_at(start)
    if definition < 0:
        return
    is_type = source.definitions[definition].kind in TYPE_KINDS
    text = arguments[0].text if arguments else ""
    inside = re.search(r"""\bpath\s*:\s*(\[[^\]]*\]|["'`][^"'`]*["'`])""", text) if text.startswith("{") else None
    text = inside[1] if inside else text
    paths = re.findall(r"""["'`]([^"'`]*)["'`]""", text) if text.startswith("[") else [literal(text) or ""]
    if (name == "Controller") != is_type:
        return
    for path in paths:
        if is_type:
            yield route_at(source, start, RouteForm.PREFIX, path=path, definition=definition)
        else:
            method = {"All": ANY, "Sse": "GET"}.get(name, name)
            yield route_at(source, start, RouteForm.ROUTE, method=method, path=path, definition=definition)


def _with_handler(
    source: RouteText,
    byte: int,
    argument: Argument,
    form: RouteForm,
    *,
    receiver: str,
    path: str,
    method: str = "",
) -> tuple[int, RouteFact]:
    """Return a fact with its handler: the definition that the argument is a part of, or the chain that it is."""
    scope = source.scope(byte)
    if not _JS_FUNCTION.match(argument.text):
        name = chain(argument.text)
        return route_at(source, byte, form, receiver=receiver, method=method, path=path, handler=name, scope=scope)
    inner = source.scope(argument.start)
    own = source.definitions[inner] if inner >= 0 else None
    if own is not None and own.kind == NodeKind.HANDLER and own.start_byte >= byte - 200 and inner != MODULE_SCOPE:
        starts_here = own.start_byte <= argument.start and source.row(own.start_byte) >= source.row(byte) - 3
        around = own.parent if starts_here else inner
        if starts_here:
            return route_at(
                source, byte, form, receiver=receiver, method=method, path=path, definition=inner, scope=around
            )
    return route_at(source, byte, form, receiver=receiver, method=method, path=path, scope=scope)
