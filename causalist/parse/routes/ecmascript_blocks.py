"""Routes and events of JavaScript and TypeScript, and routes in blocks below one another in other languages.

Those are Express, Koa, Fastify, Hono, Nest, `fetch`, axios and event emitters; then Phoenix, Ktor, and functional
routes of Spring in Java and Kotlin. The path of a route in blocks is that of the blocks around it, which are calls with
a function or a `do` block. So the syntax tree is walked from the outside, with the path so far.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import tree_sitter

from causalist._internal.lazy import lazy_regex
from causalist.model.facts import MODULE_SCOPE, RouteFact, RouteForm
from causalist.model.node_ids import TYPE_KINDS, NodeKind
from causalist.parse.routes.connected_signals import read_described_requests
from causalist.parse.routes.searched_text import (
    ANY,
    Argument,
    MemberCall,
    RouteText,
    add_path,
    chain,
    excepted_routes,
    is_client,
    literal,
    name_of_value,
    path_or_constant,
    requested_path,
    route_at,
)

_Found = Iterator[tuple[int, RouteFact]]
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
_JS_DECORATOR = lazy_regex(rb"@(?P<name>Controller|Get|Post|Put|Patch|Delete|Head|Options|All|Sse|Version)\s*\(")
_NEST_VERSIONS = lazy_regex(rb"\.\s*enableVersioning\s*\(")
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
            name = name_of_value(source, match.start() + 1)
            if prefix and name:
                yield route_at(source, match.start(), RouteForm.PREFIX, receiver=name, path=prefix[1])
    for match in source.matches(_JS_DECORATOR, "name"):
        yield from _nest(source, match)
    for match in source.matches(_NEST_VERSIONS) if b"enableVersioning" in source.data else ():
        arguments, _ = source.arguments(match.end())
        text = arguments[0].text if arguments else ""
        if "VersioningType." not in text or "VersioningType.URI" in text:
            prefix = re.search(r"""\bprefix\s*:\s*(?:false|["'`]([^"'`]*)["'`])""", text)
            before = (prefix[1] or "") if prefix else "v"
            for version in _versions_in(text, "defaultVersion") or [""]:
                yield route_at(source, match.start(), RouteForm.VERSION, receiver="*", path=version, handler=before)
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
    yield from read_described_requests(source)
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
        left_out = re.search(r"\bexclude\s*:\s*\[(.*)\]", last.text, re.DOTALL) if len(arguments) > 1 else None
        if prefix:
            said = "\n".join(excepted_routes(left_out[1])) if left_out else ""
            yield route_at(source, start, RouteForm.PREFIX, receiver="*", path=prefix, name=said)
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
            return name_of_value(source, made_on.start_byte) or _compact(source, made_on), path
        called = made_on.child_by_field_name("function")
        if called is None or called.type != "member_expression":
            return name_of_value(source, made_on.start_byte) or f"{_compact(source, called)}()", path
        name = called.child_by_field_name("property")
        verb = source.text(name.start_byte, name.end_byte) if name is not None else ""
        if verb == "route" and path is None:
            arguments, _ = source.arguments(called.end_byte + 1)
            path = source.literal(arguments[0].text) if arguments else None
        if verb not in _CHAINED:  # `express.Router()`
            return name_of_value(source, made_on.start_byte) or f"{_compact(source, called)}()", path
        member = called
    return "", None


def _compact(source: RouteText, node: tree_sitter.Node | None) -> str:
    text = "" if node is None else source.text(node.start_byte, min(node.end_byte, node.start_byte + 100))
    return re.sub(r"\s|\?", "", text)


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
    for version in _versions_in(f"version: {text}" if name == "Version" else text, "version"):
        yield route_at(source, start, RouteForm.VERSION, path=version, definition=definition)
    inside = re.search(r"""\bpath\s*:\s*(\[[^\]]*\]|["'`][^"'`]*["'`])""", text) if text.startswith("{") else None
    text = inside[1] if inside else text
    paths = re.findall(r"""["'`]([^"'`]*)["'`]""", text) if text.startswith("[") else [literal(text) or ""]
    if (name == "Controller") != is_type or name == "Version":
        return
    for path in paths:
        if is_type:
            yield route_at(source, start, RouteForm.PREFIX, path=path, definition=definition)
        else:
            method = {"All": ANY, "Sse": "GET"}.get(name, name)
            yield route_at(source, start, RouteForm.ROUTE, method=method, path=path, definition=definition)


def _versions_in(text: str, option: str) -> list[str]:
    """Return the versions that an option names, "" for one that is none."""
    value = re.search(rf"""\b{option}\s*:\s*(\[[^\]]*\]|["'`][^"'`]*["'`]|VERSION_NEUTRAL)""", text)
    return re.findall(r"""["'`]([^"'`]*)["'`]""", value[1].replace("VERSION_NEUTRAL", "''")) if value else []


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


# -- routes in blocks

_MAX_DEPTH = 60  # blocks and calls around a route


def _text(source: RouteText, node: tree_sitter.Node | None) -> str:
    return source.text(node.start_byte, node.end_byte) if node is not None else ""


# -- Phoenix

_PHOENIX_VERBS = frozenset({"get", "post", "put", "patch", "delete", "options", "head", "connect", "trace"})
_RESOURCES = (
    ("index", "GET", "", False), ("edit", "GET", "/edit", True), ("new", "GET", "/new", False),
    ("show", "GET", "", True), ("create", "POST", "", False), ("update", "PATCH", "", True),
    ("update", "PUT", "", True), ("delete", "DELETE", "", True),
)  # fmt: skip
_SINGLE = ("edit", "new", "show", "create", "update", "delete")  # actions of one resource without an id
_ATOM = lazy_regex(r":(\w+[?!]?)")
_UPPER = lazy_regex(r"(?<=[a-z0-9])(?=[A-Z])")


class _Scope(NamedTuple):
    paths: tuple[str, ...] = ("",)
    alias: str = ""
    variables: tuple[tuple[str, tuple[str, ...]], ...] = ()  # names that a loop gives one of several paths


class _Statement(NamedTuple):
    """Call without a receiver: its positional arguments and keywords, and its block."""

    name: str
    arguments: list[tree_sitter.Node]
    keywords: dict[str, tree_sitter.Node]
    block: tree_sitter.Node | None


def read_phoenix(source: RouteText) -> _Found:
    """Yield the start and fact of each route of a router of Phoenix."""
    yield from _phoenix_block(source, source.root, _Scope(), 0)


def _phoenix_block(source: RouteText, node: tree_sitter.Node, around: _Scope, depth: int) -> _Found:
    if depth > _MAX_DEPTH:
        return
    for each in node.named_children:
        statement = _statement(source, each) if each.type == "call" else None
        if statement is None:
            if each.named_child_count:
                yield from _phoenix_block(source, each, around, depth + 1)
            continue
        name, arguments, _, block = statement
        inside = around
        if name == "for":
            inside = _with_variables(source, arguments, around)
        elif name == "scope":
            inside = _phoenix_scope(source, statement, around)
        elif name in ("resources", "resource") and len(arguments) > 1:
            yield from _phoenix_resources(source, each, statement, around)
            inside = _below_resources(source, statement, around)
        elif name in _PHOENIX_VERBS or name in ("live", "match"):
            yield from _phoenix_route(source, each, statement, around)
        if block is not None:
            yield from _phoenix_block(source, block, inside, depth + 1)


def _statement(source: RouteText, node: tree_sitter.Node) -> _Statement | None:
    target = node.child_by_field_name("target")
    if target is None or target.type != "identifier":
        return None
    given = next((each for each in node.named_children if each.type == "arguments"), None)
    block = next((each for each in node.named_children if each.type == "do_block"), None)
    arguments = [each for each in given.named_children if each.type != "keywords"] if given is not None else []
    keywords: dict[str, tree_sitter.Node] = {}
    for each in given.named_children if given is not None else ():
        for pair in each.named_children if each.type == "keywords" else ():
            key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
            if key is not None and value is not None:
                keywords[_text(source, key).strip(": \n")] = value
    return _Statement(_text(source, target), arguments, keywords, block)


def _with_variables(source: RouteText, arguments: Sequence[tree_sitter.Node], around: _Scope) -> _Scope:
    """Return a scope in which the variables of a loop over literal strings are known."""
    variables = list(around.variables)
    for each in arguments:
        name, _, values = _text(source, each).partition("<-")
        listed = re.findall(r'"([^"#]*)"', values)
        is_literal = not re.sub(r'"[^"#]*"', "", values).strip(" \t\r\n[],")
        if name.strip().isidentifier() and listed and is_literal:
            variables.append((name.strip(), tuple(listed)))
    return around._replace(variables=tuple(variables))


def _phoenix_paths(source: RouteText, node: tree_sitter.Node, around: _Scope) -> tuple[str, ...] | None:
    """Return the paths that an argument may be; None for a computed one."""
    text = _text(source, node)
    value = dict(around.variables).get(text)
    path = literal(text) if value is None and "#{" not in text else None
    return value or ((path,) if path is not None else None)


def _phoenix_scope(source: RouteText, statement: _Statement, around: _Scope) -> _Scope:
    arguments, keywords = statement.arguments, statement.keywords
    paths, alias = around.paths, around.alias
    at = keywords.get("path") or next((each for each in arguments if each.type != "alias"), None)
    own = _phoenix_paths(source, at, around) if at is not None and at.type != "atom" else ("",)
    paths = tuple(add_path(a, b) for a, b in itertools.product(paths, own)) if own is not None else ()
    named = keywords.get("alias") or next((each for each in arguments if each.type == "alias"), None)
    if named is not None:
        text = _text(source, named)
        alias = "" if text in ("false", "nil") else f"{alias}.{text}".strip(".")
    return around._replace(paths=paths, alias=alias)


def _phoenix_route(source: RouteText, node: tree_sitter.Node, statement: _Statement, around: _Scope) -> _Found:
    arguments, verb = statement.arguments, statement.name
    methods = [verb.upper()]
    if verb == "match":
        atoms = _ATOM.findall(_text(source, arguments[0])) if arguments else []
        methods, arguments = [each.upper() for each in atoms] or [ANY], arguments[1:]
    elif verb == "live":
        methods = ["GET"]
    own = _phoenix_paths(source, arguments[0], around) if len(arguments) > 1 else None
    if own is None or arguments[1].type != "alias":
        return
    action = _ATOM.fullmatch(_text(source, arguments[2])) if len(arguments) > 2 else None
    module = f"{around.alias}.{_text(source, arguments[1])}".strip(".")
    handler = f"{module}#{action[1] if action and verb != 'live' else ''}"
    for method, (above, path) in itertools.product(methods, itertools.product(around.paths, own)):
        yield route_at(
            source, node.start_byte, RouteForm.ROUTE, method=method, path=add_path(above, path), handler=handler
        )


def _resource_names(source: RouteText, statement: _Statement) -> tuple[str, str]:
    """Return the name of one resource and that of its parameter."""
    named, parameter = statement.keywords.get("name"), statement.keywords.get("param")
    controller = _text(source, statement.arguments[1]).rpartition(".")[2].removesuffix("Controller")
    name = (literal(_text(source, named)) if named is not None else None) or _UPPER.sub("_", controller).lower()
    return name, (literal(_text(source, parameter)) if parameter is not None else None) or "id"


def _is_single(source: RouteText, statement: _Statement) -> bool:
    return statement.name == "resource" or _text(source, statement.keywords.get("singleton")) == "true"


def _phoenix_resources(source: RouteText, node: tree_sitter.Node, statement: _Statement, around: _Scope) -> _Found:
    arguments, keywords = statement.arguments, statement.keywords
    own = _phoenix_paths(source, arguments[0], around)
    if own is None:
        return
    only, but = (set(_ATOM.findall(_text(source, keywords.get(key)))) for key in ("only", "except"))
    controller = f"{around.alias}.{_text(source, arguments[1])}".strip(".")
    _, parameter = _resource_names(source, statement)
    is_single = _is_single(source, statement)
    for action, method, end, has_id in _RESOURCES:
        if ("only" in keywords and action not in only) or action in but or (is_single and action not in _SINGLE):
            continue
        for above, path in itertools.product(around.paths, own):
            full = add_path(above, path) + (f"/:{parameter}" if has_id and not is_single else "")
            yield route_at(
                source, node.start_byte, RouteForm.ROUTE, method=method, path=add_path(full, end),
                handler=f"{controller}#{action}",
            )  # fmt: skip


def _below_resources(source: RouteText, statement: _Statement, around: _Scope) -> _Scope:
    own = _phoenix_paths(source, statement.arguments[0], around) or ()
    name, parameter = _resource_names(source, statement)
    end = "" if _is_single(source, statement) else f"/:{name}_{parameter}"
    alias = statement.keywords.get("alias")
    paths = tuple(add_path(above, path) + end for above, path in itertools.product(around.paths, own))
    below = f"{around.alias}.{_text(source, alias)}".strip(".") if alias is not None else around.alias
    return around._replace(paths=paths, alias=below)


# -- Ktor, and the functional routes of Spring in Kotlin

_KTOR = lazy_regex(rb"\bio\.ktor\.server\.|\bio\.ktor\.routing\b")
_KTOR_VERBS = ("get", "post", "put", "patch", "delete", "head", "options", "webSocket", "sse")
_SPRING_FUNCTIONAL = lazy_regex(rb"\bspringframework\.web\.(?:reactive\.|servlet\.)?function\b")
_SPRING_VERBS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_ROUTE_FUNCTION = lazy_regex(r"\bfun\s+(?:<[^>]*>\s*)?(?:Route|Routing)\.")
_HTTP_METHOD = lazy_regex(r"HttpMethod\.(\w+)")
_PATH_OF_PREDICATE = lazy_regex(r'"(/[^"\n]*)"')


class _KotlinBlock(NamedTuple):
    path: str = ""
    method: str = ""
    kind: str = ""  # "ktor" or "spring" inside of routes
    function: int = -1  # byte in the function around


def read_kotlin_blocks(source: RouteText) -> _Found:
    """Yield the start and fact of each route of Ktor, and of each functional one of Spring in Kotlin."""
    is_ktor, is_spring = (bool(each.search(source.data)) for each in (_KTOR, _SPRING_FUNCTIONAL))
    if is_ktor or is_spring:
        yield from _kotlin_block(source, source.root, _KotlinBlock(), is_ktor, 0)


def _kotlin_block(source: RouteText, node: tree_sitter.Node, around: _KotlinBlock, is_ktor: bool, depth: int) -> _Found:
    if depth > 3 * _MAX_DEPTH:
        return
    for child in node.named_children:
        if child.type == "function_declaration":
            head = source.text(child.start_byte, min(child.end_byte, child.start_byte + 300)).partition("{")[0]
            kind = "ktor" if is_ktor and _ROUTE_FUNCTION.search(head) else ""
            yield from _kotlin_block(source, child, _KotlinBlock(kind=kind), is_ktor, depth + 1)
            continue
        if child.type != "call_expression":
            if child.named_child_count:
                yield from _kotlin_block(source, child, around, is_ktor, depth + 1)
            continue
        name, _, _, body = _kotlin_call(source, child)
        if not around.kind:
            kind = "ktor" if is_ktor and name == "routing" else "spring" if name in ("router", "coRouter") else ""
            inside = around._replace(kind=kind) if body is not None and kind else around
            yield from _kotlin_block(
                source, body if inside.kind and body is not None else child, inside, is_ktor, depth + 1
            )
        elif around.kind == "ktor":
            yield from _ktor_call(source, child, around, depth)
        else:
            yield from _spring_call(source, child, around, depth)


def _kotlin_call(
    source: RouteText, node: tree_sitter.Node
) -> tuple[str, str, list[tree_sitter.Node], tree_sitter.Node | None]:
    """Return the name of a call, the text before the dot, its arguments and the function behind it."""
    body = next((each for each in node.named_children if each.type == "annotated_lambda"), None)
    callee = node.named_children[0] if node.named_children else None
    arguments: list[tree_sitter.Node] = []
    for each in node.named_children:
        if each.type == "value_arguments":
            arguments = list(each.named_children)
    if body is not None and callee is not None and callee.type == "call_expression":
        name, receiver, arguments, inner = _kotlin_call(source, callee)
        return name, receiver, arguments, body if inner is None else inner
    text = _text(source, callee)
    receiver, _, name = (
        text.rpartition(".") if callee is not None and callee.type == "navigation_expression" else ("", "", text)
    )
    return name.strip(), receiver.strip(), arguments, body


def _ktor_call(source: RouteText, node: tree_sitter.Node, around: _KotlinBlock, depth: int) -> _Found:
    name, receiver, arguments, body = _kotlin_call(source, node)
    texts = [_text(source, each) for each in arguments]
    path = literal(re.sub(r"^path\s*=\s*", "", texts[0])) if texts else ""
    has_path = path is not None and "$" not in path
    if receiver:  # `get("/a") { … }.describe { … }`
        yield from _kotlin_block(source, node, around, True, depth + 1) if "{" in receiver else ()
        return
    if name in _KTOR_VERBS and not receiver and (body is not None or len(arguments) > 1):
        if has_path and (texts or "<" not in _text(source, node).partition("{")[0]):  # a type may hold the path
            method = {"webSocket": "WS", "sse": "GET"}.get(name, name)
            handler = chain(texts[1]) if body is None else ""
            yield route_at(
                source, node.start_byte, RouteForm.ROUTE, receiver="()", method=method,
                path=add_path(around.path, path or ""), handler=handler,
            )  # fmt: skip
    elif name == "handle" and not receiver and body is not None:
        method = around.method or ANY
        yield route_at(source, node.start_byte, RouteForm.ROUTE, receiver="()", method=method, path=around.path or "/")
    elif body is not None:
        inside = around
        if name == "route":
            if not has_path:
                return
            verb = _HTTP_METHOD.search(" ".join(texts[1:]))
            inside = around._replace(path=add_path(around.path, path or ""), method=verb[1] if verb else around.method)
        elif name == "method":
            verb = _HTTP_METHOD.search(" ".join(texts))
            inside = around._replace(method=verb[1] if verb else ANY)
        elif name in ("resource", "location"):  # whose type has the path
            return
        yield from _kotlin_block(source, body, inside, True, depth + 1)
    elif re.fullmatch(r"[a-z]\w*", name):
        yield route_at(source, node.start_byte, RouteForm.MOUNT, receiver="()", path=around.path or "/", handler=name)


def _spring_call(source: RouteText, node: tree_sitter.Node, around: _KotlinBlock, depth: int) -> _Found:
    name, receiver, arguments, body = _kotlin_call(source, node)
    texts = [_text(source, each) for each in arguments]
    if name in _SPRING_VERBS and not receiver:
        path = literal(texts[0]) if texts else ""
        if path is not None and "$" not in path:
            handler = chain(texts[-1]) if len(texts) > 1 else ""
            yield route_at(
                source, node.start_byte, RouteForm.ROUTE, method=name, path=add_path(around.path, path),
                handler=handler, receiver="()",
            )  # fmt: skip
    elif body is not None:
        inside = around
        callee = node.named_children[0]
        if callee.type == "call_expression" and callee.named_children:
            callee = callee.named_children[0]
        if callee.type not in ("identifier", "navigation_expression"):  # `(GET("/a") or GET("/b")) { … }`
            yield from _kotlin_block(source, callee, around, False, depth + 1)
        if name == "nest":
            predicate = _PATH_OF_PREDICATE.search(receiver)
            inside = around._replace(path=add_path(around.path, predicate[1])) if predicate else around
        yield from _kotlin_block(source, body, inside, False, depth + 1)


# -- functional routes of Spring in Java


def read_spring_functions(source: RouteText) -> _Found:
    """Yield the start and fact of each functional route of Spring in Java."""
    if not _SPRING_FUNCTIONAL.search(source.data):
        return
    stack = [source.root]
    while stack:
        node = stack.pop()
        stack += reversed(node.named_children)
        name = _text(source, node.child_by_field_name("name")) if node.type == "method_invocation" else ""
        arguments = _java_arguments(node) if name in _SPRING_VERBS else []
        path = literal(_text(source, arguments[0])) if arguments else None
        if path is None and not (name in _SPRING_VERBS and len(arguments) == 1 and "string" not in arguments[0].type):
            continue
        handler = chain(_text(source, arguments[-1])) if len(arguments) > 1 or path is None else ""
        prefix, around = "", node.parent
        while around is not None:
            if around.type == "method_invocation":
                called, given = _text(source, around.child_by_field_name("name")), _java_arguments(around)
                at = next((i for i, each in enumerate(given) if _is_around(each, node)), -1)
                if called in ("route", "andRoute") and at == 0 and len(given) > 1:
                    handler = chain(_text(source, given[1]))
                elif called in ("path", "nest", "andNest") and at > 0:
                    predicate = _PATH_OF_PREDICATE.search(_text(source, given[0]))
                    prefix = add_path(predicate[1], prefix) if predicate else prefix
            around = around.parent
        yield route_at(
            source, node.start_byte, RouteForm.ROUTE, receiver="()", method=name, path=add_path(prefix, path or ""),
            handler=handler,
        )  # fmt: skip


def _java_arguments(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    given = node.child_by_field_name("arguments")
    return list(given.named_children) if given is not None else []


def _is_around(node: tree_sitter.Node, inner: tree_sitter.Node) -> bool:
    return node.start_byte <= inner.start_byte and inner.end_byte <= node.end_byte


ACTION, STORE = "action", "store"  # kinds of names: actions of NgRx; what stores of Vuex run
_ACTIONS = lazy_regex(rb"import\s*(?:\{([^{}]*)\}|\*\s*as\s+(\w+))\s*from\s*['\"][^'\"\n]*[aA]ction[^'\"\n]*['\"]")
_HANDLED_ACTION = lazy_regex(rb"(?<![\w$.])(?P<name>on|ofType)\((?=\s*[A-Za-z_$])")
# Expressions begin with letters, which is searched many times as fast as what looks behind.
_STORE_NAME = rb"\(\s*(?:['\"](?P<name>[\w$/-]+)['\"]|(?:\w+\.)?(?P<constant>[A-Z][A-Z\d_]+)\b)"
_STORE_CALLS = (lazy_regex(rb"(?P<verb>dispatch)" + _STORE_NAME), lazy_regex(rb"(?P<verb>commit)" + _STORE_NAME))
_STORE_GET = lazy_regex(rb"etters\[\s*['\"](?P<name>[\w$/-]+)['\"]\s*\]")
_STORE_MAP = lazy_regex(rb"map(?P<verb>Actions|Mutations|Getters)\((?=\s*['\"\[{])")
_MARKS, _MAX_GAP_BYTES = (b"_", b"$"), 80
_STORE_LITERAL = lazy_regex(r"['\"]([\w$/-]+)['\"](?!\s*:)")
_ROOT = lazy_regex(rb"[^;\n]{0,40}(?:\n[^;\n]{0,80}){0,8}?root:\s*true")


def actions_and_stores(source: RouteText) -> _Found:
    """Yield what makes and handles actions of NgRx, and what asks stores of Vuex for a function by its name."""
    data = source.data
    if b"@ngrx/" in data:
        names: set[str] = set()
        for match in _ACTIONS.finditer(data):
            listed = (match[1] or match[2]).decode("utf-8", "replace").split(",")
            names.update(each.split(" as ")[-1].strip() for each in listed)
        for match in source.matches(_HANDLED_ACTION):
            for each in source.arguments(match.end())[0]:
                if not (name := chain(each.text)):
                    break  # the function
                scope = source.scope(match.start())
                yield route_at(source, match.start(), RouteForm.LISTEN, path=name, definition=scope, name=ACTION)
        made = "|".join(re.escape(each) for each in sorted(names) if each)
        pattern = re.compile(rf"(?<![\w$.])(?P<name>(?:{made})(?:\.[\w$]+)?)\(".encode()) if made else None
        for match in source.matches(pattern) if pattern is not None else ():
            yield route_at(source, match.start(), RouteForm.EMIT, path=match["name"].decode(), name=ACTION)
    if not any(
        word in data for word in (b"commit(", b"dispatch(", b"mapActions(", b"mapMutations(", b"etters(", b"etters[")
    ):
        return
    for match in (each for pattern in _STORE_CALLS for each in source.matches(pattern)):
        before = data[max(0, match.start() - _MAX_GAP_BYTES) : match.start()]
        if before[-1:].isalnum() or before[-1:] in _MARKS:
            continue
        is_own = before.rstrip()[-1:] != b"." and not _ROOT.match(data, match.end())
        path = f"{match['verb'].decode()}:{(match['name'] or match['constant']).decode()}"
        yield route_at(source, match.start(), RouteForm.EMIT, receiver="" if is_own else "*", path=path, name=STORE)
    for match in source.matches(_STORE_GET):
        ahead = data[max(0, match.start() - 2) : match.start() - 1]
        is_own = not (ahead.isalnum() or ahead in (*_MARKS, b"."))
        path = f"get:{match['name'].decode()}"
        yield route_at(source, match.start(), RouteForm.EMIT, receiver="" if is_own else "*", path=path, name=STORE)
    for match in source.matches(_STORE_MAP):
        arguments = source.arguments(match.end())[0]
        space = literal(arguments[0].text) if len(arguments) > 1 else None
        verb = {b"Actions": "dispatch", b"Mutations": "commit"}.get(match["verb"], "get")
        for name in _STORE_LITERAL.findall(arguments[-1].text if arguments else ""):
            path = f"{verb}:{f'{space}/' if space else ''}{name}"
            yield route_at(source, match.start(), RouteForm.EMIT, receiver="*", path=path, name=STORE)
