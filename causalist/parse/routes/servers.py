"""Routes of Java, C#, Go, Rust, PHP: Spring, JAX-RS, ASP.NET, gin, echo, chi, axum, actix, Laravel, Slim, Symfony."""

import itertools
import re
from collections.abc import Iterator

from causalist._internal.lazy import lazy_regex
from causalist.model.facts import RouteFact, RouteForm
from causalist.model.node_ids import TYPE_KINDS, NodeKind
from causalist.parse.routes.ecmascript_blocks import read_kotlin_blocks, read_spring_functions
from causalist.parse.routes.searched_text import (
    ANY,
    MAX_ARGUMENT_BYTES,
    Argument,
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

_Found = Iterator[tuple[int, RouteFact]]
_QUOTED = lazy_regex(r'"([^"\n]*)"')
_MAX_BEFORE_BYTES = 160  # of a statement before a call

# -- Spring

_SPRING = lazy_regex(rb"@(?P<name>Request|Get|Post|Put|Patch|Delete)Mapping\b(?P<call>\s*\()?")
_SPRING_PATH = lazy_regex(r'(?:^|\b(?:value|path)\s*=)\s*(\{[^}]*\}|\[[^\]]*\]|"[^"]*")')
_MOCK_MVC = lazy_regex(rb"\b(?P<verb>get|post|put|patch|delete)\(\s*(?=\")")


def read_java(source: RouteText) -> _Found:
    """Yield the start and fact of each route and request of a Java or Kotlin file."""
    yield from _spring(source)
    yield from _jax_rs(source)
    yield from read_spring_functions(source)
    yield from read_kotlin_blocks(source)
    for pattern, word in _JAVA_CLIENTS:
        for match in source.matches(pattern, "verb") if word in source.data else ():
            arguments, _ = source.arguments(match.end())
            path = requested_path(literal(arguments[0].text)) if arguments else ""
            if path:
                method = match["verb"].decode().removesuffix("For").upper()
                yield route_at(source, match.start(), RouteForm.REQUEST, method=method, path=path)


def _spring(source: RouteText) -> _Found:
    is_client = b"@FeignClient" in source.data or b"@HttpExchange" in source.data  # interfaces that ask
    for match in source.matches(_SPRING, "name"):
        definition = source.owner_at(match.start("name"))
        if definition < 0:
            continue
        inside = ""
        if match["call"]:
            _, end = source.arguments(match.end())
            inside = source.text(match.end(), end - 1).strip()
        written = _SPRING_PATH.search(inside)
        paths = _QUOTED.findall(written[1]) if written else []
        if inside and not paths and re.search(r"(?:^|\b(?:value|path)\s*=)\s*[\w(]", inside) and "method" not in inside:
            continue  # a path that is computed
        name = match["name"].decode()
        methods = re.findall(r"\b(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\b", inside) if name == "Request" else [name]
        is_type = source.definitions[definition].kind in TYPE_KINDS
        for path in paths or [""]:
            for method in [""] if is_type else methods or [ANY]:
                if is_client:
                    if not is_type and (asked := requested_path(path)):
                        yield route_at(
                            source, match.start(), RouteForm.REQUEST, method=method, path=asked, scope=definition
                        )
                    continue
                form = RouteForm.PREFIX if is_type else RouteForm.ROUTE
                yield route_at(source, match.start(), form, method=method, path=path, definition=definition)


# -- JAX-RS, and clients

_JAX = lazy_regex(rb"@(?P<name>Path|ApplicationPath|GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\b(?P<call>\s*\()?")
_JAX_SERVLET = lazy_regex(rb"new\s+ServletContainer\([^()]*+\)\s*+\)\s*+,\s*+\"(?P<path>/[^\"*]*+)\*\"")
_JAX_WORDS = lazy_regex(rb"\.ws\.rs\b|\bretrofit2?\b|ServletContainer\(")
_PATTERN = lazy_regex(r"\{\s*(\w+)\s*:[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")  # `{id: [0-9]+}`
_JAVA_CLIENTS = (
    (_MOCK_MVC, b"perform("),
    (lazy_regex(rb"(?:\)|RestAssured)\s*\.\s*(?P<verb>get|post|put|patch|delete)\(\s*(?=\")"), b"restassured"),
    (lazy_regex(rb"(?i:rest\w*)\.(?P<verb>get|post|put|patch|delete)(?:For)?\w*\(\s*(?=\")"), b"RestTemplate"),
    (lazy_regex(rb"\.(?P<verb>get|post|put|patch|delete)\(\)\s*\.uri\(\s*(?=\")"), b".uri("),
)


def _jax_rs(source: RouteText) -> _Found:
    """Yield routes by the annotations of JAX-RS, and the requests of Retrofit, whose methods are given the path."""
    if not _JAX_WORDS.search(source.data):
        return
    paths: dict[int, str | None] = {}
    methods: list[tuple[int, int, str]] = []
    for match in source.matches(_JAX, "name"):
        name, definition = match["name"].decode(), source.owner_at(match.start("name"))
        arguments = source.arguments(match.end())[0] if match["call"] else []
        path = path_or_constant(arguments[0].text) if arguments else None
        if definition < 0:
            continue
        if name == "ApplicationPath":
            if path:
                yield route_at(source, match.start(), RouteForm.PREFIX, receiver="*", path=path)
        elif name == "Path":
            paths[definition] = None if path is None else _PATTERN.sub(r"{\1}", path)
            if source.definitions[definition].kind in TYPE_KINDS and path is not None:
                yield route_at(
                    source, match.start(), RouteForm.PREFIX, path=paths[definition] or "", definition=definition
                )
        elif path is not None:
            asked = requested_path(f"/{path.lstrip('/')}")
            if asked:
                yield route_at(source, match.start(), RouteForm.REQUEST, method=name, path=asked, scope=definition)
        else:
            methods.append((match.start(), definition, name))
    for start, definition, name in methods:
        path = paths.get(definition, "")
        if path is None:  # it is computed
            continue
        form = RouteForm.ROUTE if source.definitions[definition].parent in paths else RouteForm.INHERITED
        yield route_at(source, start, form, method=name, path=path, definition=definition)
    for match in _JAX_SERVLET.finditer(source.data):
        yield route_at(source, match.start(), RouteForm.PREFIX, receiver="*", path=match["path"].decode().rstrip("/"))


# -- ASP.NET

_ASP = lazy_regex(
    rb"(?<=[\[,\s])(?P<name>Route|Http(?:Get|Post|Put|Patch|Delete|Head|Options))\b(?P<call>\s*\()?(?=[\](,\s\"])"
)
_ASP_MAP = lazy_regex(rb"\.(?P<verb>MapGet|MapPost|MapPut|MapPatch|MapDelete|MapGroup)\(\s*(?=\")")
_ASP_CLIENT = lazy_regex(
    rb"\.(?P<verb>Get|Post|Put|Patch|Delete)(?:String|FromJson|AsJson|Stream|ByteArray)?Async\s*(?:<[^<>()]*>)?\(\s*(?=\$?\")"
)


def read_aspnet(source: RouteText) -> _Found:
    """Yield the start and fact of each route and request of a C# file."""
    by_definition: dict[int, list[tuple[str, str | None, int]]] = {}
    for match in _ASP.finditer(source.data):
        around = source.node(match.start("name")).parent
        definition = source.owner_at(match.start("name")) if around is not None and around.type == "attribute" else -1
        if definition >= 0:
            arguments = source.arguments(match.end())[0] if match["call"] else []
            path = literal(arguments[0].text) if arguments else None
            by_definition.setdefault(definition, []).append((match["name"].decode(), path, match.start()))
    for definition, attributes in by_definition.items():
        own = source.definitions[definition]
        if own.kind in TYPE_KINDS:
            for _, path, at in attributes:
                if path is not None:
                    yield route_at(source, at, RouteForm.PREFIX, path=path, definition=definition)
            continue
        named = next((path for name, path, _ in attributes if name == "Route" and path is not None), None)
        for name, path, at in attributes:
            if name == "Route":
                continue
            full = (path if path is not None else named or "").replace("[action]", own.name)
            full = f"~/{full.lstrip('~/')}" if full.startswith(("/", "~/")) else full
            yield route_at(
                source, at, RouteForm.ROUTE, method=name.removeprefix("Http"), path=full, definition=definition
            )
    for call in source.calls(_ASP_MAP):
        arguments, _ = source.arguments(call.arguments)
        path = literal(arguments[0].text) if arguments else None
        if path is None or not source.is_code(call.name):
            continue
        if call.verb == "MapGroup":
            name = _bound_name(source, call.start)
            if name:
                yield route_at(source, call.start, RouteForm.MOUNT, receiver=call.receiver, path=path, handler=name)
        elif len(arguments) > 1:
            yield route_at(
                source, call.start, RouteForm.ROUTE, receiver=call.receiver, method=call.verb.removeprefix("Map"),
                path=path, handler=chain(arguments[-1].text),
            )  # fmt: skip
    for call in source.calls(_ASP_CLIENT):
        arguments, _ = source.arguments(call.arguments)
        path = requested_path(literal(arguments[0].text)) if arguments else ""
        if path and re.search("client", call.receiver, re.IGNORECASE):
            yield route_at(source, call.name, RouteForm.REQUEST, method=call.verb, path=path)


def _bound_name(source: RouteText, start: int) -> str:
    """Return the name that the value at `start` is given, or ""."""
    before = source.data[max(0, start - _MAX_BEFORE_BYTES) : start]
    named = re.search(rb"(?P<name>\w+)\s*(?::\s*[\w<>:]+\s*)?:?=\s*&?$", before)
    return named["name"].decode("utf-8", "replace") if named else ""


# -- Go

_GO = lazy_regex(
    rb"\.(?P<verb>GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|Any|Handle|HandleFunc|Get|Post|Put|Patch|Delete|Head|Options"
    rb"|Group|Route|Mount|PathPrefix|Match)\(\s*(?:\[\]string\{(?P<methods>[^{}]*)\}\s*,\s*)?(?=\")"
)
_GO_GROUPS = ("Group", "Route", "PathPrefix")
_MAX_CHAINED = 20  # calls in one chain
_GO_REGISTER = lazy_regex(
    rb"(?<![\w.])(?P<function>(?:[a-z]\w*\.)?[A-Za-z]\w*)\(\s*(?P<given>[a-z&*][\w.&*, \t]{0,160})"
    rb"(?P<group>\.Group\(\s*\"(?P<path>[^\"]*)\"\s*\))?\s*[,)]"
)
_GO_METHODS = lazy_regex(rb"\s*\.Methods\(([^()]*)\)")
_GO_ROUTER = lazy_regex(
    rb"(?P<name>\w++)\s*:?=\s*"
    rb"(?:gin\.(?:Default|New)|echo\.New|chi\.NewRouter|mux\.NewRouter|fiber\.New|http\.NewServeMux)\("
)
_GO_MAKING = (b"gin.", b"echo.New", b"chi.NewRouter", b"mux.NewRouter", b"fiber.New", b"http.NewServeMux")


def read_go(source: RouteText) -> _Found:
    """Yield the start and fact of each route and request of a Go file."""
    yield from _go_requests(source)
    yield from _go_built_routes(source)
    made = _GO_ROUTER.finditer(source.data) if any(word in source.data for word in _GO_MAKING) else ()
    routers = {match["name"].decode() for match in made}
    around: list[tuple[int, int, str]] = []  # (start, end, path) of functions that are given a part of the routes
    calls = [call for call in source.calls(_GO) if source.is_code(call.name)]
    for call in calls:
        arguments, end = source.arguments(call.arguments, len(source.data))
        if call.verb in ("Route", "Group") and len(arguments) > 1 and "func" in arguments[-1].text[:6]:
            around.append((call.arguments, end, literal(arguments[0].text) or ""))
    for call in calls:
        arguments, end = source.arguments(call.arguments)
        path = literal(arguments[0].text) if arguments else None
        if path is None or any(first == call.arguments for first, _, _ in around):
            continue
        verb, prefix = call.verb, "".join(each for first, last, each in around if first < call.start < last)
        receiver, below = _go_receiver(source, call)
        call = call._replace(receiver=receiver)
        prefix += below
        if verb in _GO_GROUPS:
            name = _bound_name(source, call.start)
            if name:
                routers.add(name)
                path = prefix + path
                yield route_at(source, call.start, RouteForm.MOUNT, receiver=call.receiver, path=path, handler=name)
            continue
        if len(arguments) < 2:
            continue
        handler = chain(re.sub(r"^(?:http|gin|echo)\.(?:HandlerFunc|WrapF|WrapH)\((.*)\)$", r"\1", arguments[-1].text))
        if verb == "Mount":
            path = prefix + path
            yield route_at(source, call.start, RouteForm.MOUNT, receiver=call.receiver, path=path, handler=handler)
            continue
        methods = [verb if verb not in ("Any", "Handle", "HandleFunc") else ANY]
        if verb == "Match":
            named = re.findall(r'"([A-Z]+)"|http\.Method(\w+)', source.text(call.name, call.arguments))
            methods = [(quoted or constant).upper() for quoted, constant in named]
        if spelled := re.match(r"([A-Z]+) (/.*)", path):
            methods, path = [spelled[1]], spelled[2]
        elif verb in ("Handle", "HandleFunc") and (methods_call := _GO_METHODS.match(source.data, end)):
            methods = re.findall(r"\w+", methods_call[1].decode().replace("http.Method", "")) or methods
        if path and not path.startswith("/"):
            if receiver not in routers or not verb.isupper():
                continue
            path = f"/{path}"
        for method in methods:
            yield route_at(
                source, call.start, RouteForm.ROUTE, receiver=call.receiver, method=method, path=prefix + path,
                handler=handler,
            )  # fmt: skip
    for match in _GO_REGISTER.finditer(source.data) if routers or (calls and b".Group(" in source.data) else ():
        names, function = re.split(r"[\s,&*]+", match["given"].decode()), match["function"].decode()
        router = names[-1] if match["group"] else next((each for each in names if each in routers), "")
        if router and source.is_code(match.start("function")):
            below = (match["path"] or b"").decode()
            yield route_at(source, match.start(), RouteForm.MOUNT, receiver=router, path=below, handler=function)


# The builder of gorilla/mux: `r.Methods("GET").Path("/x").Handler(h)`, in either order.
_GO_BUILT = lazy_regex(
    rb"""(?P<receiver>\b\w+)(?P<steps>(?:\s*\.\s*(?:Methods|Path|PathPrefix)\([^()\n]*\)){2,3})\s*\.\s*Handler(?:Func)?\("""
)


def _go_built_routes(source: RouteText) -> _Found:
    for match in _GO_BUILT.finditer(source.data) if b"Methods(" in source.data else ():
        steps = dict(re.findall(r"(Methods|Path)\w*\(([^()]*)\)", match["steps"].decode("utf-8", "replace")))
        path = literal(steps.get("Path", "").strip())
        if path is None or "Methods" not in steps or not source.is_code(match.start("receiver")):
            continue
        arguments, _ = source.arguments(match.end())
        handler = chain(arguments[0].text) if arguments else ""
        paths = [path, f"{path.rstrip('/')}/*"] if b"PathPrefix" in match["steps"] else [path]
        for method, each in itertools.product(re.findall(r'(?:"|http\.Method)(\w+)', steps["Methods"]), paths):
            yield route_at(
                source, match.start(), RouteForm.ROUTE, receiver=match["receiver"].decode(), method=method.upper(),
                path=each, handler=handler,
            )  # fmt: skip


_GO_REQUEST = lazy_regex(rb"\.(?P<verb>NewRequest(?:WithContext)?|Get|Head|Post|PostForm|Put|Patch|Delete)\(")
_GO_FORMATTED = lazy_regex(r'fmt\.Sprintf\(\s*("(?:[^"\\\n]|\\.)*")(?:[^()"]|"[^"\n]*"|\([^()]*\))*\)')
_GO_PART = lazy_regex(r'"(?:[^"\\\n]|\\.)*"|`[^`]*`|\+|[^"`+]+')
_GO_DIRECTIVE = lazy_regex(r"%[-+#0 ]*\d*(?:\.\d+)?[a-zA-Z]")


def _go_requests(source: RouteText) -> _Found:
    """Yield the requests to a client, or to a handler in a test, whose path is a literal or can be composed."""
    for call in source.calls(_GO_REQUEST):
        makes_request = call.verb.startswith("NewRequest")
        is_asked = call.receiver in ("http", "httptest") if makes_request else is_client(call.receiver)
        if not is_asked or not source.is_code(call.name):
            continue
        arguments = source.arguments(call.arguments)[0][:3]
        method = call.verb.removesuffix("Form")
        if makes_request:
            named = [re.fullmatch(r'"([A-Z]+)"|http\.Method(\w+)', each.text) for each in arguments]
            at = next((i for i, each in enumerate(named) if each), None)
            if at is None:
                continue
            method = (named[at] or [""])[0].strip('"').removeprefix("http.Method")
            arguments = arguments[at + 1 :]
        for argument in arguments[:2]:
            path = requested_path(_go_text(source, argument.text, call.start))
            if path and path != "/":  # many tests give "/" to a handler of their own
                yield route_at(source, call.start, RouteForm.REQUEST, method=method, path=path)
                break


def _go_text(source: RouteText, text: str, byte: int) -> str:
    """Return the text of an expression or of a variable's value, with `{}` for parts that are no literals."""
    if re.fullmatch(r"[a-z]\w*", text):
        scope = source.scope(byte)
        first = source.definitions[scope].start_byte if scope >= 0 else byte
        values = re.findall(rf"(?<![\w.]){text}\s*:?=\s*([^\n=][^\n]*)", source.text(first, byte))
        text = values[-1].strip() if values else ""
    text = _GO_FORMATTED.sub(lambda formatted: _GO_DIRECTIVE.sub("{}", formatted[1]), text)
    parts = [part.strip() for part in _GO_PART.findall(text)]
    return "".join(part[1:-1] if part[0] in '"`' else "{}" for part in parts if part and part != "+")


def _go_receiver(source: RouteText, call: MemberCall) -> tuple[str, str]:
    """Return the chain that a call is made on, and the path of the groups in a chain of calls before it."""
    if call.receiver != ")":
        return call.receiver, ""
    member, path = source.node(call.name).parent, ""
    for _ in range(_MAX_CHAINED):
        made_on = member.child_by_field_name("operand") if member is not None else None
        if made_on is None or made_on.type != "call_expression":
            return ("" if made_on is None else chain(source.text(made_on.start_byte, made_on.end_byte))), path
        called = made_on.child_by_field_name("function")
        name = called.child_by_field_name("field") if called is not None else None
        if called is None or name is None:
            return "", path
        if source.text(name.start_byte, name.end_byte) in _GO_GROUPS:
            arguments, _ = source.arguments(called.end_byte + 1)
            path = (literal(arguments[0].text) or "" if arguments else "").rstrip("/") + path
        member = called
    return "", path


# -- Rust

_RUST = lazy_regex(rb"\.\s*(?P<verb>route|nest|merge|nest_service)\(")
_RUST_ATTRIBUTE = lazy_regex(rb"#\[(?:\w+::)*(?P<verb>get|post|put|patch|delete|head|options)\(\s*(?=\")")
_RUST_DECLARED = lazy_regex(rb"#\[(?:utoipa::)?path\(\s*(?P<verb>[a-z]+\b(?:\([a-z,\s]*\))?)\s*,")
_RUST_ROUTES = lazy_regex(rb"\.\s*(?P<verb>routes)\(\s*(?:\w+::)*routes!\(")
_RUST_FUNCTION = lazy_regex(rb"\n[ \t]*(?:pub\b(?:\([^()]*\))?\s+)?(?:async\s+|unsafe\s+)*(?P<fn>fn)\s")
_NEW_ROUTERS = ("Router::new()", "OpenApiRouter::new()")
_RUST_METHOD = lazy_regex(r"\b(get|post|put|patch|delete|head|options|any)\(\s*([A-Za-z_][\w:]*)?")


def read_rust(source: RouteText) -> _Found:
    """Yield the start and fact of each route and request of a Rust file.

    The routes of a function without a name for its router are those of the function.
    """
    yield from _rust_requests(source)
    for match in source.matches(_RUST_ATTRIBUTE, "verb"):
        arguments, _ = source.arguments(match.end())
        definition, path = source.owner_at(match.start("verb")), literal(arguments[0].text) if arguments else None
        if definition >= 0 and path is not None:
            yield route_at(
                source, match.start(), RouteForm.ROUTE, method=match["verb"].decode(), path=path, definition=definition
            )
    for match in source.matches(_RUST_DECLARED, "verb"):
        arguments, _ = source.arguments(match.end())
        path, definition = literal(keyword(arguments, "path") or ""), -1
        if behind := _RUST_FUNCTION.search(source.data, match.end(), match.end() + MAX_ARGUMENT_BYTES):
            fitting = [
                i for i, each in enumerate(source.definitions) if each.start_byte <= behind.start("fn") < each.end_byte
            ]
            definition = fitting[-1] if fitting else -1
        for method in re.findall(r"\b(?!method\b)[a-z]+", match["verb"].decode()) if path is not None else ():
            yield route_at(
                source, match.start(), RouteForm.DECLARED, method=method, path=path or "", definition=definition
            )
    for call in source.calls(_RUST_ROUTES):
        for argument in source.arguments(call.arguments)[0] if source.is_code(call.name) else ():
            if function := chain(argument.text):
                receiver = _rust_router(source, call)
                yield route_at(source, call.name, RouteForm.DECLARED_AT, receiver=receiver, handler=function)
    calls = [call for call in source.calls(_RUST) if source.is_code(call.name)]
    nested = []
    for call in calls:
        arguments, end = source.arguments(call.arguments, len(source.data))
        if call.verb == "nest" and len(arguments) > 1 and arguments[1].text.startswith(_NEW_ROUTERS):
            nested.append((call.arguments, end, literal(arguments[0].text) or ""))
    for call in calls:
        arguments, _ = source.arguments(call.arguments)
        if not arguments:
            continue
        prefix = "".join(path for first, last, path in nested if first < call.name < last)
        receiver = _rust_router(source, call)
        if call.verb == "merge":
            below = chain(arguments[0].text)
            if below:
                yield route_at(source, call.name, RouteForm.MOUNT, receiver=receiver, path=prefix, handler=below)
            continue
        path = literal(arguments[0].text)
        if path is None or len(arguments) < 2:
            continue
        if call.verb != "route":
            below = chain(arguments[1].text)
            if below and not below.endswith("Router.new"):
                yield route_at(source, call.name, RouteForm.MOUNT, receiver=receiver, path=prefix + path, handler=below)
            continue
        for method, handler in _RUST_METHOD.findall(arguments[1].text):
            yield route_at(
                source, call.name, RouteForm.ROUTE, receiver=receiver, method=ANY if method == "any" else method,
                path=prefix + path, handler=handler.replace("::", "."),
            )  # fmt: skip


_RUST_CALL = lazy_regex(rb"\.\s*(?P<verb>uri|get|post|put|patch|delete|head)\(")
_RUST_MADE = lazy_regex(rb"Request::(?P<verb>get|post|put|patch|delete|head)\(")
_RUST_METHOD_SAID = lazy_regex(
    r"\bMethod::([A-Z]+)|\.method\(\s*\"([A-Z]+)\"|Request::(get|post|put|patch|delete|head)\("
)
_RUST_TEXT = lazy_regex(r'&?\s*(?:format!\(\s*)?"((?:[^"\\\n]|\\.)*)"')
_MAX_CHAIN_BYTES = 400  # before and behind a path, in which its method stands


def _rust_requests(source: RouteText) -> _Found:
    """Yield the requests to a client, or to a service in a test, whose path is a literal or can be composed."""
    calls = [(call.name, call.arguments, call.verb, call.receiver) for call in source.calls(_RUST_CALL)]
    calls += [(each.start("verb"), each.end(), each["verb"].decode(), "") for each in _RUST_MADE.finditer(source.data)]
    for start, inside, verb, receiver in calls:
        if receiver and verb != "uri" and not is_client(receiver):
            continue
        arguments, end = source.arguments(inside)
        text = _RUST_TEXT.match(arguments[0].text) if len(arguments) == 1 else None
        path = requested_path(re.sub(r"\{[^{}]*\}", "{}", text[1])) if text else ""
        if not path or path == "/" or not source.is_code(start):
            continue
        if verb == "uri":
            before = source.text(max(0, start - _MAX_CHAIN_BYTES), start)
            behind = source.text(end, end + _MAX_CHAIN_BYTES)
            method = _RUST_METHOD_SAID.search(re.split(r"[;{}]", before)[-1] + re.split(r"[;{}]", behind)[0])
            verb = next(filter(None, method.groups())) if method else "get"
        yield route_at(source, start, RouteForm.REQUEST, method=verb, path=path)


def _rust_router(source: RouteText, call: MemberCall) -> str:
    """Return the name of the router that a chain of calls makes, `()` for that of the function around."""
    node = source.node(call.name)
    while node.parent is not None and node.parent.type in ("field_expression", "call_expression", "field_identifier"):
        node = node.parent
    name = _bound_name(source, node.start_byte)
    if name:
        return name
    written = source.text(node.start_byte, node.start_byte + 40)
    base = re.match(r"([a-z_]\w*)\s*\.", written)
    return base[1] if base else "()"


# -- PHP: Laravel, Lumen, Slim and attributes of Symfony; requests of test cases and clients

_PHP_VERB = r"get|post|put|patch|delete|options|any|match|map|resource|resources|apiResource|apiResources|singleton"
# A chain of the facade, `Route::middleware('x')->get(`, or of a router that is given: `$router->get(`.
_PHP_REGISTRATION = lazy_regex(
    rf"(?<![\w$\\])(?P<base>Route::|\$(?:app|router|group|routes?|r)->)(?P<verb>{_PHP_VERB}|group)\(".encode()
)
_PHP_CHAINED = lazy_regex(rf"->\s*(?P<verb>{_PHP_VERB}|group)\(".encode())
_PHP_CHAIN_START = lazy_regex(r"(?<![\w$\\])Route::\w+\(|\$(?:app|router|group|routes?)->\w+\(")
_MAX_PHP_CHAIN_BYTES = 600  # of the calls before one of a chain
_PHP_PREFIX = lazy_regex(r"""(?:\bprefix\(\s*|["']prefix["']\s*=>\s*)(["'])(?P<path>[^"'\n]*)\1""")
_PHP_CONTROLLER = lazy_regex(r"\bcontroller\(\s*(?P<name>\\?\w[\w\\]*)::class")
_PHP_CLASS = lazy_regex(r"\\?(?P<name>\w[\w\\]*)::class")
_PHP_PAIR = lazy_regex(r"""\[\s*\\?(?P<name>\w[\w\\]*)::class\s*,\s*["'](?P<method>\w+)["']\s*,?\s*\]""")
_PHP_AT = lazy_regex(r"""["']\\?(?P<name>[\w\\]+)[@:](?P<method>\w+)["']""")
_PHP_WORDS = lazy_regex(r"""["']([\w-]+)["']""")
# What the routes of a resource do, with the rest of the path: `{}` stands for the name of the parameter.
_PHP_ACTIONS = (
    ("index", "GET", ""), ("create", "GET", "/create"), ("store", "POST", ""), ("show", "GET", "/{}"),
    ("edit", "GET", "/{}/edit"), ("update", "PUT", "/{}"), ("update", "PATCH", "/{}"), ("destroy", "DELETE", "/{}"),
)  # fmt: skip
_SYMFONY = lazy_regex(rb"#\[(?:[^\]\n]*,\s*)?(?P<name>(?:\w+\\)*Route)\(")
_PHP_TESTED = lazy_regex(
    rb"(?:\$this|\$(?:\w+->)*\w*[cC]lient|\)|\$(?:\w+->)*http|Http::\w+\([^()\n]*\)|Http)\s*(?:->|::)\s*"
    rb"(?P<verb>get|post|put|patch|delete|json|call|request)(?P<rest>Json|As)?\("
)


def read_php(source: RouteText) -> _Found:
    """Yield the start and fact of each route and request of a PHP file."""
    yield from _php_registrations(source)
    yield from _php_attributes(source)
    yield from _php_requests(source)


# -- Laravel, Lumen, Slim


def _php_registrations(source: RouteText) -> _Found:
    """Yield the routes that calls of a router register. Its groups are functions, whose routes have their prefix."""
    calls = []
    for match in source.matches(_PHP_REGISTRATION, "verb"):
        calls.append((match.start(), match["verb"].decode(), match.end(), match["base"] != b"Route::"))
    for match in source.matches(_PHP_CHAINED, "verb"):
        start = _php_start_of_chain(source, match.start())
        if start >= 0:
            calls.append((start, match["verb"].decode(), match.end(), False))
    around: list[tuple[int, int, str, str]] = []  # (start, end, prefix, controller) of the functions of groups
    for start, verb, inside, is_given in calls:
        if verb == "group":
            arguments, end = source.arguments(inside, len(source.data))
            written = source.text(start, inside) + "".join(each.text for each in arguments[:-1])
            below = _php_joined(*(each["path"] for each in _PHP_PREFIX.finditer(written)))
            if is_given and arguments and (path := literal(arguments[0].text)):
                below = path  # Slim: `$app->group('/users', function …)`
            group_controller = _PHP_CONTROLLER.search(written)
            around.append((inside, end, below, group_controller["name"] if group_controller else ""))
    for start, verb, inside, _ in calls:
        if verb == "group":
            continue
        arguments, end = source.arguments(inside)
        groups = sorted(each for each in around if each[0] <= start < each[1])
        above = [each["path"] for each in _PHP_PREFIX.finditer(source.text(start, inside))]
        prefix = _php_joined(*(each[2] for each in groups), *above)
        controller = next((each[3] for each in reversed(groups) if each[3]), "")
        if verb in ("resource", "apiResource", "singleton"):
            behind = source.text(end, end + _MAX_PHP_CHAIN_BYTES).split(";")[0]
            yield from _php_resource(source, start, verb, arguments, prefix, behind)
        elif verb in ("resources", "apiResources"):
            for written in re.findall(r"""(["'][\w./-]+["'])\s*=>\s*([\w\\]+::class)""", arguments[0].text):
                pair = [Argument(text, start, start) for text in written]
                yield from _php_resource(source, start, verb.removesuffix("s"), pair, prefix, "")
        else:
            methods = [ANY if verb == "any" else verb.upper()]
            if verb in ("match", "map") and arguments:
                methods = re.findall(r"""["'](\w+)["']""", arguments.pop(0).text)
            path = literal(arguments[0].text) if arguments else None
            if path is None or len(arguments) < 2:
                continue
            handler, definition = _php_handler(source, arguments[1], controller, start, end)
            for method in methods:
                yield route_at(
                    source, start, RouteForm.ROUTE, receiver="default", method=method, path=_php_joined(prefix, path),
                    handler=handler, definition=definition,
                )  # fmt: skip


def _php_start_of_chain(source: RouteText, arrow: int) -> int:
    """Return the start of the chain of a router that an arrow continues, or -1."""
    first = max(0, arrow - _MAX_PHP_CHAIN_BYTES)
    statement = re.split(r";|\{\s*\n", source.text(first, arrow))[-1]
    starts = list(_PHP_CHAIN_START.finditer(statement))
    if not starts or starts[-1].end() != starts[0].end():
        return -1
    between = statement[starts[0].start() :]
    if between.count("(") != between.count(")"):  # an arrow inside of the arguments
        return -1
    return arrow - len(between.encode())


def _php_handler(source: RouteText, argument: Argument, controller: str, start: int, end: int) -> tuple[str, int]:
    """Return the chain of what handles a route, and the definition of a function that is given; "" and -1 for none."""
    for pattern in (_PHP_PAIR, _PHP_AT):
        pair = pattern.match(argument.text)
        if pair:
            return f"{pair['name'].rpartition(chr(92))[2]}.{pair['method']}", -1
    class_name = _PHP_CLASS.match(argument.text)
    if class_name:
        return f"{class_name['name'].rpartition(chr(92))[2]}.__invoke", -1
    method = literal(argument.text)
    if controller and method:
        return f"{controller.rpartition(chr(92))[2]}.{method}", -1
    for number, each in enumerate(source.definitions):
        if each.kind == NodeKind.HANDLER and start <= each.start_byte < end:
            return "", number
    return "", -1


def _php_resource(
    source: RouteText, start: int, verb: str, arguments: list[Argument], prefix: str, behind: str
) -> _Found:
    """Yield the routes of `Route::resource('photos.comments', CommentController::class)`."""
    name = literal(arguments[0].text) if arguments else None
    class_name = _PHP_CLASS.search(arguments[1].text) if len(arguments) > 1 else None
    if not name or class_name is None:
        return
    *above, last = name.strip("/").split(".")
    path = _php_joined(prefix, *(f"{each}/{{{_php_parameter(each)}}}" for each in above), last)
    written = behind + "".join(each.text for each in arguments[2:])
    only, left_out = _php_listed(written, "only"), _php_listed(written, "except")
    for action, method, rest in _PHP_ACTIONS:
        if action in ("create", "edit") and verb == "apiResource":
            continue
        if (only and action not in only) or action in left_out:
            continue
        if verb == "singleton" and (action in ("index", "create", "store", "destroy")):
            continue
        parameter = "" if verb == "singleton" else f"{{{_php_parameter(last)}}}"
        full = _php_joined(path, rest.replace("{}", parameter))
        handler = f"{class_name['name'].rpartition(chr(92))[2]}.{action}"
        yield route_at(
            source, start, RouteForm.ROUTE, receiver="default", method=method, path=full, handler=handler
        )  # fmt: skip


def _php_listed(text: str, name: str) -> list[str]:
    """Return the words that `only` or `except` lists, as a call or a key."""
    matched = re.search(rf"""\b{name}(?:\(|["']\s*=>)\s*(\[[^\]]*\]|[^()]*)""", text)
    return _PHP_WORDS.findall(matched[1]) if matched else []


def _php_parameter(name: str) -> str:
    """Return the name of the parameter of a resource.

    >>> [_php_parameter(name) for name in ("photos", "playlist-folders", "categories", "addresses")]
    ['photo', 'playlist_folder', 'category', 'address']
    """
    name = name.rpartition("/")[2].replace("-", "_")
    for ending, singular in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("ss", "ss")):
        if name.endswith(ending):
            return name.removesuffix(ending) + singular
    return name.removesuffix("s")


def _php_joined(*parts: str) -> str:
    path = "/".join(part.strip("/") for part in parts if part.strip("/"))
    return f"/{path}"


# -- Symfony


def _php_attributes(source: RouteText) -> _Found:
    for match in source.matches(_SYMFONY, "name"):
        definition = source.owner_at(match.start("name"))
        arguments, _ = source.arguments(match.end())
        if definition < 0 or not arguments:
            continue
        path = literal(keyword(arguments, "path") or arguments[0].text) or ""
        if not path and not keyword(arguments, "name"):
            continue
        if source.definitions[definition].kind in TYPE_KINDS:
            is_invoked = any(each.name == "__invoke" and each.parent == definition for each in source.definitions)
            form = RouteForm.ROUTE if is_invoked else RouteForm.PREFIX
            if not is_invoked:
                yield route_at(source, match.start(), form, path=path, definition=definition)
                continue
        methods = re.findall(r"""["'](\w+)["']|METHOD_(\w+)""", keyword(arguments, "methods") or "")
        for quoted, constant in methods or [(ANY, "")]:
            yield route_at(
                source, match.start(), RouteForm.ROUTE, method=quoted or constant, path=path, definition=definition
            )


# -- requests


def _php_requests(source: RouteText) -> _Found:
    """Yield what a test case asks of its application, and a client of a server."""
    is_test = b"extends" in source.data and b"Test" in source.data
    for match in source.matches(_PHP_TESTED, "verb"):
        arguments, _ = source.arguments(match.end())
        verb, receiver = match["verb"].decode(), match[0].split(b"->")[0].split(b"::")[0].strip()
        if receiver in (b"$this", b")") and not (is_test or match["rest"]):
            continue
        if verb in ("json", "call", "request"):
            verb = literal(arguments.pop(0).text) or "" if arguments else ""
        text = _php_text_of(arguments[0].text) if arguments else None
        if text is not None and not text.startswith(("/", "{}", "http")) and re.match(r"[\w-]+/", text):
            text = f"/{text}"
        path = requested_path(text)
        if path and path != "/" and verb:
            yield route_at(source, match.start(), RouteForm.REQUEST, method=verb, path=path)


def _php_text_of(text: str) -> str | None:
    """Return the text of a string, with `{}` for what is put into it or joined to it.

    >>> _php_text_of('"api/songs/{$song->id}"'), _php_text_of("'api/songs/' . $id . '/x'"), _php_text_of("$url")
    ('api/songs/{}', 'api/songs/{}/x', None)
    """
    parts = [literal(part.strip()) for part in re.split(r"\s\.\s", text)]
    if parts[0] is None and len(parts) < 2:
        return None
    joined = "".join("{}" if part is None else part for part in parts)
    return re.sub(r"\{\$[^{}]*\}|\$\w+(?:->\w+)?", "{}", joined)
