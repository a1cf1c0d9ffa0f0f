"""Routes of Python and Ruby: Flask, FastAPI, Starlette, Django and its REST framework, Falcon, Rails; requests."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import tree_sitter

from causalist._internal.lazy import dataclass, field, lazy_regex
from causalist.model.facts import MODULE_SCOPE, RouteFact, RouteForm
from causalist.model.node_ids import TYPE_KINDS
from causalist.parse.routes.searched_text import (
    ANY,
    MAX_ARGUMENT_BYTES,
    PLURALS,
    PY_LINK,
    PY_LINKING,
    SINGULARS,
    MemberCall,
    RouteText,
    chain,
    inflect,
    is_client,
    keyword,
    linked_name,
    literal,
    path_or_constant,
    rails_links,
    requested_path,
    route_at,
)

_PY_DECORATOR = lazy_regex(
    rb"@(?P<receiver>[\w.]+)\.(?P<verb>route|get|post|put|patch|delete|head|options|websocket|api_route"
    rb"|websocket_route|trace)\("
)
_FAKES = lazy_regex(rb"\b(?:mocks?|mocker|responses|respx\w*|httpretty|requests_mock|monkeypatch)$")
_PY_ROUTER = lazy_regex(rb"=\s*(?:\w+\.)*(?P<made>\w*(?:Blueprint|Router|Namespace|Api))\(")
_MAKING_ROUTERS = lazy_regex(rb"Blueprint\(|Router\(|Namespace\(|Api\(")
_PY_NAME = lazy_regex(rb"(?P<name>[\w.]+)\s*(?::\s*[\w.]+\s*)?$")
_PY_MOUNT = lazy_regex(
    rb"\.(?P<verb>include_router|register_blueprint|mount|add_url_rule|add_api_route|add_route|register|add_\w*resource"
    rb"|add_namespace)\("
)
_PY_PATH = lazy_regex(rb"(?<![\w.])(?P<verb>path|re_path|url)\(|\*(?P<router>\w+)\.urls\b")
_PY_NAMESPACE = lazy_regex(r"""\bnamespace\s*=\s*["'](\w+)["']""")
_PY_SPACE_OF_LIST = lazy_regex(r"""\(.*,\s*["'](\w+)["']\s*,?\s*\)""", re.DOTALL)
_PY_APP_NAME = lazy_regex(rb"^app_name\s*=\s*[\"'](?P<name>\w+)[\"']", re.MULTILINE)
_PY_WRAPPED = lazy_regex(r"(?P<decorator>[\w.]+(?:\([^()]*\))?)\((?P<view>[A-Za-z_][\w.]*(?:\(.*\))?)\)", re.DOTALL)
_PY_WRAPPER = lazy_regex(r"required|require_|exempt|cache|csrf|vary|gzip|xframe|decorat|permission|admin_view|protect")
_PY_REST = (("GET", ""), ("POST", ""), *((each, "{pk}/") for each in ("GET", "PUT", "PATCH", "DELETE")))
_PY_ACTIONS = lazy_regex(r"""["'](\w+)["']\s*:\s*["'](\w+)["']""")  # in `as_view({"get": "list"})`
_PY_ACTION = lazy_regex(rb"@(?:\w+\.)?(?P<verb>action|detail_route|list_route)\(")
_PY_LIST = lazy_regex(rb"^(?P<name>\w+)\s*(?::[^=\n]+)?\+?=\s*(?:\w+\()?[\[(]", re.MULTILINE)
_PY_CLIENT = lazy_regex(rb"""\.(?P<verb>get|post|put|patch|delete|head|options|request|open)\((?=\s*[furbFURB]?["'])""")


def read_python(source: RouteText) -> Iterator[tuple[int, RouteFact]]:
    """Yield the start and fact of each route and request of a Python file."""
    for match in source.matches(_PY_DECORATOR, "verb"):
        arguments, _ = source.arguments(match.end())
        path = source.literal(arguments[0].text) if arguments else None
        path = literal(keyword(arguments, "path", "rule") or "") if path is None else path
        definition = source.owner_at(match.start("receiver"))
        if path is None or definition < 0 or _FAKES.search(match["receiver"]):
            continue
        if path and not path.startswith(("/", "<", "{")):
            continue
        verb = match["verb"].decode()
        if source.definitions[definition].kind in TYPE_KINDS:
            yield from _routes_of_class(source, match, path, definition)
            continue
        given = re.findall(r"""["'](\w+)["']""", keyword(arguments, "methods") or "")
        name = literal(keyword(arguments, "endpoint", "name") or "") or source.definitions[definition].name
        methods = given or (
            ["GET"] if verb in ("route", "api_route") else ["WS" if verb.startswith("websocket") else verb]
        )
        for method in methods:
            yield route_at(
                source, match.start("receiver"), RouteForm.ROUTE, receiver=match["receiver"].decode(), method=method,
                path=path, definition=definition, scope=source.definitions[definition].parent, name=name,
            )  # fmt: skip
    if b"detail" in source.data:
        yield from _python_actions(source)
    yield from _python_routers(source)
    for call in source.calls(_PY_MOUNT):
        if source.is_code(call.name):
            yield from _python_mount(source, call)
    is_including = b"include(" in source.data and re.search(rb"\binclude\(", source.data)
    if is_including or b"urlpatterns" in source.data:
        yield from _django(source)
    for match in source.matches(PY_LINK, "verb") if any(word in source.data for word in PY_LINKING) else ():
        yield route_at(source, match.start("verb"), RouteForm.LINK, path=linked_name(match))
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


def _python_actions(source: RouteText) -> Iterator[tuple[int, RouteFact]]:
    """Yield what methods of classes of Django REST framework say of the routes that they add to those of the class."""
    for match in source.matches(_PY_ACTION, "verb"):
        definition = source.owner_at(match.start("verb"))
        if definition < 0 or source.definitions[definition].parent < 0:
            continue
        arguments, _ = source.arguments(match.end())
        said = literal(keyword(arguments, "url_path") or "") or source.definitions[definition].name
        path = _path_of_pattern(said).strip("/")
        given = re.findall(r"""["'](\w+)["']|HTTPMethod\.(\w+)""", keyword(arguments, "methods") or "")
        for method in [quoted or constant for quoted, constant in given] or ["GET"]:
            is_of_one = match["verb"] == b"detail_route" or keyword(arguments, "detail") == "True"
            full, at = f"{'{pk}/' if is_of_one else ''}{path}/", match.start("verb")
            yield route_at(source, at, RouteForm.DECLARED, method=method, path=full, definition=definition)


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
        if match["made"].endswith(b"Blueprint") and arguments and (space := source.literal(arguments[0].text)):
            yield route_at(source, start, RouteForm.NAMESPACE, receiver=name, path=space)
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
            space = literal(keyword(arguments, "name") or "") or ""
            yield route_at(source, start, form, receiver=receiver, path=prefix or "", handler=below, name=space)
    elif verb == "mount":
        path, below = literal(arguments[0].text), chain(arguments[1].text) if len(arguments) > 1 else ""
        if path is not None and below:
            yield route_at(source, start, RouteForm.MOUNT, receiver=receiver, path=path, handler=below)
    elif verb == "register":  # routers of Django REST framework
        path, view = literal(arguments[0].text), chain(arguments[1].text) if len(arguments) > 1 else ""
        if path is not None and view and not path.startswith("/"):
            base = literal(keyword(arguments, "basename", "base_name") or "")
            for method, below in _PY_REST:
                name = f"{base}-{'detail' if below else 'list'}" if base else ""
                yield route_at(
                    source, start, RouteForm.ROUTE, receiver=receiver, method=method,
                    path=f"{path.strip('^$/')}/{below}", handler=view, name=name,
                )  # fmt: skip
            full = f"{path.strip('^$/')}/"
            yield route_at(source, start, RouteForm.DECLARED_AT, receiver=receiver, path=full, handler=view)
    else:
        path = literal(arguments[0].text)
        view = keyword(arguments, "view_func", "endpoint") or next(
            (each.text for each in arguments[1:] if chain(each.text) and literal(each.text) is None), ""
        )
        if verb.endswith("resource"):
            view, path = arguments[0].text, literal(arguments[1].text) if len(arguments) > 1 else None
        given = re.findall(r"""["'](\w+)["']""", keyword(arguments, "methods") or "") or [
            ANY if verb.endswith("resource") or ".as_view(" in view else "GET"
        ]
        name = chain(view)
        endpoint = literal(keyword(arguments, "endpoint", "name") or "")
        if endpoint is None and verb == "add_url_rule":
            endpoint = literal(arguments[1].text) if len(arguments) > 1 else None
            made = re.search(r"""\.as_view\(\s*["']([\w.-]+)["']""", view)
            endpoint = endpoint or (made[1] if made else name.rpartition(".")[2])
        elif endpoint is None and verb.endswith("resource"):
            endpoint = name.rpartition(".")[2].lower()
        if path is not None and name:
            for method in given:
                yield route_at(
                    source, start, RouteForm.ROUTE, receiver=receiver, method=method, path=path,
                    handler=re.sub(r"\.as_view$", "", name), name=endpoint or "",
                )  # fmt: skip


def _django(source: RouteText) -> Iterator[tuple[int, RouteFact]]:
    """Yield the routes and mounts of lists of `path(…)`; what is nested in `include([…])` is below its path."""
    around: list[tuple[int, str, str]] = []  # (end, path, namespace) of the calls that are open
    for named in source.matches(_PY_APP_NAME):
        yield route_at(source, named.start(), RouteForm.NAMESPACE, path=named["name"].decode(), scope=MODULE_SCOPE)
    lists = [
        (each.start(), source.arguments(each.end(), len(source.data))[1], each["name"].decode())
        for each in _PY_LIST.finditer(source.data)
    ]
    for match in source.matches(_PY_PATH):
        while around and around[-1][0] <= match.start():
            around.pop()
        if match["router"]:  # in a list: its routes
            above, below = "".join(each for _, each, _ in around), match["router"].decode()
            yield route_at(source, match.start(), RouteForm.MOUNT, path=above, handler=below, scope=MODULE_SCOPE)
            continue
        arguments, end = source.arguments(match.end())
        if end - match.end() > MAX_ARGUMENT_BYTES:  # a long list of what is included
            arguments, end = source.arguments(match.end(), len(source.data))
        if len(arguments) < 2:
            continue
        text = literal(arguments[0].text)
        if text is None and not arguments[1].text.startswith("include"):
            continue
        text = (text or "").removeprefix("{}")  # a prefix from the settings, which is mostly empty
        if match["verb"] != b"path":
            text = _path_of_pattern(text)
        path = "".join(each for _, each, _ in around) + text
        spaces = [each for _, _, each in around if each]
        included = re.match(r"include\(\s*(.*)\)\s*$", arguments[1].text, re.DOTALL)
        start = match.start("verb")
        list_name = next((name for first, last, name in reversed(lists) if first <= start < last), "")
        receiver = "" if list_name == "urlpatterns" else list_name
        if included is None:
            view = re.sub(r"\.as_view$", "", chain(_unwrap_view(arguments[1].text)))
            name = source.literal(keyword(arguments, "name") or "")
            name = ":".join([*spaces, name]) if name else ""
            said = _PY_ACTIONS.findall(arguments[1].text) if ".as_view({" in arguments[1].text else ()
            for method, action in (said or [(ANY, "")]) if view else ():
                yield route_at(
                    source, start, RouteForm.ROUTE, receiver=receiver, method=method, path=path,
                    handler=f"{view}.{action}" if action else view, scope=MODULE_SCOPE, name=name,
                )  # fmt: skip
            continue
        inner = included[1].lstrip("(").strip()
        space = _PY_NAMESPACE.search(included[1]) or _PY_SPACE_OF_LIST.match(included[1])
        space_name = space[1] if space else ""
        module, name = literal(re.split(r"\s*,", inner)[0]), chain(re.split(r"[,)]", inner)[0])
        below = f"module:{module}" if module else re.sub(r"\.urls$", "", name)
        if below:
            yield route_at(
                source, start, RouteForm.MOUNT, receiver=receiver, path=path, handler=below, scope=MODULE_SCOPE,
                name=":".join([*spaces, space_name]).strip(":"),
            )  # fmt: skip
        else:
            around.append((end, text, space_name))


def _unwrap_view(view: str) -> str:
    """Return the view inside of decorators: `login_required(views.show)` is `views.show`.

    >>> _unwrap_view("cache_page(60)(login_required(show))"), _unwrap_view("V.as_view(x=1)"), _unwrap_view("views.show")
    ('show', 'V.as_view(x=1)', 'views.show')
    """
    while (wrapped := _PY_WRAPPED.fullmatch(view)) is not None and ".as_view" not in wrapped["decorator"]:
        if ".as_view" not in wrapped["view"] and not _PY_WRAPPER.search(wrapped["decorator"]):
            break  # what makes a view of something else
        view = wrapped["view"].strip()
    return view


def _path_of_pattern(pattern: str) -> str:
    r"""Return the path that a regular expression of Django stands for.

    >>> _path_of_pattern(r"^users/(?P<pk>\d+)/$")
    'users/<pk>/'
    """
    path = re.sub(r"\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)", r"<\1>", pattern)
    path = re.sub(r"\((?!\?)(?:[^()])*\)", "<>", path)
    return re.sub(r"[\^$]|\\Z|\\A|\?$", "", path).replace("\\", "")


# -- Rails

_RAILS_TEST = lazy_regex(rb"\bdescribe\b|\bRSpec\b|\bIntegrationTest\b")
# Files that others draw begin with a statement of routes; namespaces alone are of Rake as well.
_RAILS_DRAWN = lazy_regex(
    rb"\b[rR]outes\.draw\b|^resources?[ (]+:"
    rb"|^(?:namespace|scope)[ (]+[:\"'][^\n]*\n\s*(?:resources?|get|post)[ (]+[:\"']",
    re.MULTILINE,
)
# With a block it is a route of Sinatra.
_RAILS_REQUEST = lazy_regex(
    rb"^[ \t]*+(?P<verb>get|post|put|patch|delete)[ (]\s*+[\"'](?P<path>/[^\"'\n]*+)[\"'](?![^\n]*\bdo\b)", re.MULTILINE
)
_RAILS_VERBS = ("get", "post", "put", "patch", "delete", "options", "match", "root")
_MEMBER_ACTIONS = (
    ("edit", "GET", "/edit"), ("show", "GET", ""), ("update", "PATCH", ""), ("update", "PUT", ""),
    ("destroy", "DELETE", ""),
)  # fmt: skip
_CANONICAL = ("index", "create", "new", "show", "update", "destroy")  # actions that no name of a route has
_METHOD_LEVELS = ("collection", "member", "new")  # blocks whose canonical actions have no name and no path of their own
_RAILS_SHORTHAND = lazy_regex(r"/?[-\w]+/[-\w/]+")  # a path that names its controller and action
_MAX_RAILS_DEPTH = 30  # blocks in blocks, and concerns in concerns


class _RailsResource(NamedTuple):
    """Resources, or one, as a statement of routes declares them; `path` is the last part of that of the collection."""

    path: str
    controller: str
    plural: str
    singular: str
    parameter: str
    is_single: bool

    @property
    def collection_name(self) -> str:
        if self.is_single:
            return self.singular
        return f"{self.plural}_index" if self.plural == self.singular else self.plural


class _RailsScope(NamedTuple):
    """Scope of statements of routes.

    `path` is that of all below, `module` that of the controllers with a slash at its end, `prefix` that of names,
    `level` the word of the block around, `resource` the innermost one. `options` are those of a scope for resources.
    """

    path: str = ""
    module: str = ""
    prefix: str = ""
    controller: str = ""
    action: str = ""
    level: str = ""
    resource: _RailsResource | None = None
    shallow: bool = False
    base: tuple[str, str] = ("", "")  # path and prefix outside of all resources, for shallow ones
    options: tuple[tuple[str, tuple[str, ...]], ...] = ()


class _RailsCall(NamedTuple):
    """Call in a file of routes: `options` are the pairs with simple keys, `paths` the others: `"/a" => "b#c"`."""

    word: str
    node: tree_sitter.Node
    given: tuple[str, ...]
    options: dict[str, tree_sitter.Node]
    paths: tuple[tuple[str, tree_sitter.Node], ...]
    block: tree_sitter.Node | None

    def option(self, name: str) -> str | None:
        """Return the text of an option that is a string or symbol, None for others and for none."""
        return _rails_text(self.options.get(name))

    def names(self, name: str) -> tuple[str, ...] | None:
        """Return the names that an option lists, None without it."""
        node = self.options.get(name)
        return None if node is None else _rails_texts(node)

    def has(self, name: str) -> bool:
        """Return True if an option is `true`."""
        node = self.options.get(name)
        return node is not None and node.type == "true"


def _rails_text(node: tree_sitter.Node | None) -> str | None:
    """Return the text of a string, a symbol or a part of `%i[…]`; None for anything else, as with values put in."""
    if node is None or node.type not in ("string", "simple_symbol", "delimited_symbol", "bare_symbol", "bare_string"):
        return None
    text = (node.text or b"").decode("utf-8", "replace")
    if node.type == "simple_symbol":
        return text[1:]
    if any(child.type == "interpolation" for child in node.named_children):
        return None
    return text.lstrip(":").strip("\"'")


def _rails_texts(node: tree_sitter.Node) -> tuple[str, ...]:
    several = node.named_children if node.type in ("array", "symbol_array", "string_array") else [node]
    return tuple(text for text in map(_rails_text, several) if text is not None)


def _rails_call(node: tree_sitter.Node) -> _RailsCall | None:
    """Return what a statement without a receiver calls, with its arguments; None for other statements."""
    if node.type == "identifier":
        return _RailsCall((node.text or b"").decode(), node, (), {}, (), None)
    method = node.child_by_field_name("method")
    receiver = node.child_by_field_name("receiver")
    if node.type != "call" or method is None or (receiver is not None and b"draw" not in (method.text or b"")):
        return None
    given, options, paths = list[str](), dict[str, tree_sitter.Node](), list[tuple[str, tree_sitter.Node]]()
    arguments = node.child_by_field_name("arguments")
    queue = list(arguments.named_children) if arguments is not None else []
    while queue:
        argument = queue.pop(0)
        key, value = argument.child_by_field_name("key"), argument.child_by_field_name("value")
        if argument.type == "hash":
            queue[:0] = argument.named_children
        elif argument.type != "pair":
            given += _rails_texts(argument) or ([f"={(argument.text or b'').decode('utf-8', 'replace')}"])
        elif key is not None and value is not None:
            name = (key.text or b"").decode("utf-8", "replace").lstrip(":") if "symbol" in key.type else None
            if name is not None:
                options[name.strip("\"'")] = value
            else:
                paths.append((_rails_text(key) or f"={(key.text or b'').decode('utf-8', 'replace')}", value))
    word = (method.text or b"").decode("utf-8", "replace")
    return _RailsCall(word, node, tuple(given), options, tuple(paths), node.child_by_field_name("block"))


@dataclass(slots=True)
class _RailsReader:
    """Routes of one file by the rules of Rails for paths, controllers and names."""

    source: RouteText
    found: list[tuple[int, RouteFact]] = field(default_factory=list)
    concerns: dict[str, tree_sitter.Node] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def read(self, body: tree_sitter.Node, scope: _RailsScope, depth: int = 0) -> None:
        """Read the statements of a block, and of the branches in it."""
        if depth > _MAX_RAILS_DEPTH:
            return
        for node in body.named_children:
            call = _rails_call(node)
            if call is not None:
                self._statement(call, scope, depth)
            elif node.type not in ("comment", "call"):
                self.read(node, scope, depth + 1)  # an `if` and its like

    def _block(self, call: _RailsCall, scope: _RailsScope, depth: int) -> None:
        body = call.block.child_by_field_name("body") if call.block is not None else None
        if body is not None:
            self.read(body, scope, depth + 1)

    def _statement(self, call: _RailsCall, scope: _RailsScope, depth: int) -> None:
        word = call.word
        if word in _RAILS_VERBS and call.node.type == "call":
            self._verb(call, scope, depth)
        elif word in ("namespace", "scope", "controller"):
            self._block(call, self._open_scope(call, scope), depth)
        elif word in ("resources", "resource"):
            for name in call.given:
                if not name.startswith("="):
                    self._resources(call, name, scope, depth)
        elif word in ("member", "collection", "new") and scope.resource is not None:
            self._block(call, self._at(scope, word), depth)
        elif word == "nested" and scope.resource is not None:
            self._block(call, self._nest_scope(scope), depth)
        elif word == "shallow":
            self._block(call, scope._replace(shallow=True), depth)
        elif word == "concern" and call.given and call.block is not None:
            self.concerns[call.given[0]] = call.block
        elif word == "concerns":
            self._concerns(call.given, scope, depth)
        elif word == "mount":
            self._mount(call, scope)
        elif word not in ("direct", "resolve", "default_url_options"):
            self._block(call, scope, depth)

    def _open_scope(self, call: _RailsCall, scope: _RailsScope) -> _RailsScope:
        """Return the scope inside of `namespace`, `scope` or `controller`."""
        own = "/".join(each for each in call.given if not each.startswith("="))
        if call.word == "controller":
            return scope._replace(controller=own)
        is_namespace = call.word == "namespace"
        path, module, prefix = call.option("path"), call.option("module"), call.option("as")
        path = own if "path" not in call.options else path or ""
        module = own if module is None and is_namespace else module
        prefix = own.replace("/", "_") if prefix is None and is_namespace and "as" not in call.options else prefix
        if is_namespace and scope.level in ("resources", "resource"):
            scope = self._nest_scope(scope)
        kept = tuple((name, call.names(name) or ()) for name in ("only", "except") if name in call.options)
        inner = scope._replace(
            path=_join_paths(scope.path, path),
            module=f"{scope.module}{module.strip('/')}/" if module else scope.module,
            prefix="_".join(filter(None, (scope.prefix, prefix))),
            controller=call.option("controller") or scope.controller,
            action=call.option("action") or scope.action,
            shallow=scope.shallow or call.has("shallow"),
            options=kept or scope.options,
        )
        return inner if scope.resource is not None else inner._replace(base=(inner.path, inner.prefix))

    def _resources(self, call: _RailsCall, name: str, scope: _RailsScope, depth: int) -> None:
        is_single = call.word == "resource"
        if scope.level in ("resources", "resource"):
            scope = self._nest_scope(scope)
        *folders, last = name.split("/")
        if folders:
            scope = scope._replace(
                path=_join_paths(scope.path, "/".join(folders)), module=scope.module + "/".join(folders) + "/"
            )
        alias, path = call.option("as") or last, call.option("path")
        plural = inflect(last, PLURALS) if is_single else alias
        resource = _RailsResource(
            path=last if path is None else path,
            controller=call.option("controller") or (plural if is_single else last),
            plural=plural,
            singular=alias if is_single else inflect(alias, SINGULARS),
            parameter=call.option("param") or "id",
            is_single=is_single,
        )
        module = call.option("module")
        outer = scope._replace(module=f"{scope.module}{module}/" if module else scope.module, controller="")
        inner = outer._replace(
            path=_join_paths(outer.path, resource.path),
            level=call.word,
            resource=resource,
            shallow=scope.shallow or call.has("shallow"),
        )
        options = dict(scope.options)
        options.update((name, call.names(name) or ()) for name in ("only", "except") if name in call.options)
        inner = inner._replace(options=())

        def takes(action: str) -> bool:
            if "only" in options:
                return action in options["only"]
            return action not in options.get("except", ())

        self._concerns(call.names("concerns") or (), inner, depth)
        self._block(call, inner, depth)
        collection, member, new = (self._at(inner, level) for level in ("collection", "member", "new"))
        if not is_single and takes("index"):
            self._add(call.node, "GET", collection, "index", collection.path)
        if not is_single and takes("create"):
            self._add(call.node, "POST", collection, "create", collection.path)
        if takes("new"):
            self._add(call.node, "GET", new, "new", new.path)
        for action, method, end in _MEMBER_ACTIONS:
            if takes(action):
                self._add(call.node, method, member, action, f"{member.path}{end}")
        if is_single and takes("create"):  # the last one, so that it has no name if another has that
            self._add(call.node, "POST", collection, "create", collection.path)

    def _at(self, scope: _RailsScope, level: str) -> _RailsScope:
        """Return the scope of members, of the collection, or of new ones, of the resource of `scope`."""
        resource = scope.resource
        assert resource is not None
        if level == "new":
            return scope._replace(level=level, path=f"{scope.path}/new")
        if level == "collection" or resource.is_single:
            return scope._replace(level=level)
        path, prefix = scope.path, scope.prefix
        if scope.shallow:
            path, prefix = _join_paths(scope.base[0], resource.path), scope.base[1]
        return scope._replace(level=level, path=f"{path}/:{resource.parameter}", prefix=prefix)

    def _nest_scope(self, scope: _RailsScope) -> _RailsScope:
        """Return the scope of what is nested in the resource of `scope`."""
        resource = scope.resource
        assert resource is not None
        path, prefix = scope.path, scope.prefix
        if scope.shallow:
            path, prefix = _join_paths(scope.base[0], resource.path), scope.base[1]
        if not resource.is_single:
            path = f"{path}/:{resource.singular}_{resource.parameter}"
        return scope._replace(level="nested", path=path, prefix="_".join(filter(None, (prefix, resource.singular))))

    def _concerns(self, names: Sequence[str], scope: _RailsScope, depth: int) -> None:
        for name in names:
            block = self.concerns.get(name)
            body = block.child_by_field_name("body") if block is not None else None
            if body is not None:
                self.read(body, scope, depth + 1)

    def _mount(self, call: _RailsCall, scope: _RailsScope) -> None:
        at = call.option("at") or next((_rails_text(value) for _, value in call.paths), None)
        if at is not None:
            self._emit(call.node, ANY, _join_paths(scope.path, at), "", call.option("as") or "")

    def _verb(self, call: _RailsCall, scope: _RailsScope, depth: int) -> None:
        on = call.option("on")
        if on is not None and scope.resource is not None:
            scope = self._at(scope, on) if on in ("member", "collection", "new") else scope
        elif scope.level == "resources":
            scope = self._nest_scope(scope)
        elif scope.level == "resource":
            scope = self._at(scope, "member")
        via = call.names("via") or ()
        methods = [ANY if each == "all" else each.upper() for each in via] if call.word == "match" else []
        methods = methods or [ANY if call.word == "match" else call.word.upper()]
        said_to = call.options.get("to")
        to, as_ = _rails_text(said_to), call.option("as")
        if said_to is None and scope.controller and scope.action:
            to = f"{scope.controller}#{scope.action}"
        is_unnamed = "as" in call.options and as_ is None
        if call.word == "root":
            to = to or next(iter(call.given), None)
            to = to or next((_rails_text(value) for _, value in call.paths), None)
            name = self._name(scope, as_ or "root", None)
            self._emit(call.node, "GET", scope.path or "/", self._handler(scope, to, None), name)
            return
        written = [(each, said_to, to) for each in call.given]
        written += [(path, value, _rails_text(value)) for path, value in call.paths]
        for route_name, node, target in written:
            if route_name.startswith("="):
                continue
            is_symbol = any(
                (argument.text or b"").decode("utf-8", "replace") == f":{route_name}"
                for argument in (call.node.child_by_field_name("arguments") or call.node).named_children
            )
            action = route_name.replace("-", "_") if re.fullmatch(r"[\w\-/]+", route_name) else None
            implied = call.option("action") or (action if action and "/" not in action else None)
            plain = route_name.removesuffix("(.:format)")
            if node is None and target is None and call.option("action") is None and _RAILS_SHORTHAND.fullmatch(plain):
                target = re.sub(r"/([^/]*)$", r"#\1", plain.removeprefix("/")).replace("-", "_")
            if target is None and node is not None:
                handler = ""  # a redirection, a lambda or an application
            else:
                handler = self._handler(scope, target, implied, call.option("controller"))
            is_own = is_symbol and route_name in _CANONICAL and scope.level in _METHOD_LEVELS
            path = scope.path if is_own else _join_paths(scope.path, plain)
            path = _join_paths(scope.path, call.option("path") or "") if "path" in call.options and is_symbol else path
            name = "" if is_unnamed else self._name(scope, as_, action)
            for method in methods:
                self._emit(call.node, method, path or "/", handler, name)
        if call.block is not None:
            self._block(call, scope, depth)

    def _handler(self, scope: _RailsScope, to: str | None, action: str | None, controller: str | None = None) -> str:
        own = controller or scope.controller or (scope.resource.controller if scope.resource is not None else "")
        if to and "#" in to:
            named, _, action = to.partition("#")
            own = named or own
        elif to:
            action = to
        if not action or not (own or scope.module):
            return ""
        if not own:
            return f"{scope.module.rstrip('/')}#{action}"
        return f"{own[1:]}#{action}" if own.startswith("/") else f"{scope.module}{own}#{action}"

    def _name(self, scope: _RailsScope, as_: str | None, action: str | None) -> str:
        """Return the name of a route, or "" if it has none."""
        is_canonical = action in _CANONICAL and scope.level in _METHOD_LEVELS
        prefix = as_ if as_ is not None else action if action and not is_canonical else ""
        prefix = re.sub(r"^_+|_+$", "", prefix.replace("-", "_").replace("/", "_"))
        resource = scope.resource
        if resource is not None and not (as_ or action):
            return ""
        single = resource.singular if resource is not None else ""
        several = resource.collection_name if resource is not None else ""
        parts = {
            "nested": (scope.prefix, prefix),
            "collection": (prefix, scope.prefix, several),
            "new": (prefix, "new", scope.prefix, single),
            "member": (prefix, scope.prefix, single),
        }.get(scope.level, (scope.prefix, single, prefix))
        name = "_".join(filter(None, parts))
        if as_ is None and (not re.fullmatch(r"_?[a-z_]\w*", name, re.IGNORECASE) or name in self.taken):
            return ""
        return name

    def _add(self, node: tree_sitter.Node, method: str, scope: _RailsScope, action: str, path: str) -> None:
        self._emit(node, method, path, self._handler(scope, None, action), self._name(scope, None, action))

    def _emit(self, node: tree_sitter.Node, method: str, path: str, handler: str, name: str) -> None:
        if name:
            self.taken.add(name)
        path = re.sub(r"/+", "/", path.replace("(.:format)", "")) or "/"
        if not re.fullmatch(r"/(?:\(+[^()]+\))+", path):  # the slash before what may be missing is missing with it
            path = re.sub(r"/(\(+)/?", r"\1/", path)
        self.found.append(
            route_at(
                self.source, node.start_byte, RouteForm.ROUTE, method=method, path=path, handler=handler,
                scope=MODULE_SCOPE, name=name,
            )
        )  # fmt: skip


def read_rails(source: RouteText) -> Iterator[tuple[int, RouteFact]]:
    """Yield the start and fact of each route of a Ruby file that draws routes, and of each request of a test."""
    if _RAILS_DRAWN.search(source.data):
        reader = _RailsReader(source)
        reader.read(source.root, _RailsScope())
        yield from reader.found
        return
    for byte, name, verb in rails_links(source.data):
        if source.is_code(byte):
            yield route_at(source, byte, RouteForm.LINK, method=verb, path=name)
    for match in source.matches(_RAILS_REQUEST, "verb") if _RAILS_TEST.search(source.data) else ():
        path = requested_path(re.sub(r"#\{[^{}]*\}", "{}", match["path"].decode("utf-8", "replace")))
        if path:
            yield route_at(source, match.start("verb"), RouteForm.REQUEST, method=match["verb"].decode(), path=path)


def _join_paths(path: str, below: str) -> str:
    return f"{path.rstrip('/')}/{below.strip('/')}" if below.strip("/") else path
