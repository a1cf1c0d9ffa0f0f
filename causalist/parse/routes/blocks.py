"""Routes in blocks below one another: Phoenix, Ktor, and functional routes of Spring in Java and Kotlin.

The path of a route is that of the blocks around it, which are calls with a function or a `do` block. So the syntax tree
is walked from the outside, with the path so far.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import tree_sitter

from causalist._internal.lazy import lazy_regex
from causalist.model.facts import RouteFact, RouteForm
from causalist.parse.routes.searched_text import ANY, RouteText, chain, literal, route_at

_Found = Iterator[tuple[int, RouteFact]]
_MAX_DEPTH = 60  # blocks and calls around a route


def _text(source: RouteText, node: tree_sitter.Node | None) -> str:
    return source.text(node.start_byte, node.end_byte) if node is not None else ""


def _join(prefix: str, path: str) -> str:
    """Return a path below another.

    >>> _join("/api/", "/users"), _join("", "users"), _join("/api", "/")
    ('/api/users', '/users', '/api')
    """
    inner = path.strip("/")
    return f"{prefix.rstrip('/')}/{inner}" if inner else prefix or "/"


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
    paths = tuple(_join(a, b) for a, b in itertools.product(paths, own)) if own is not None else ()
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
            source, node.start_byte, RouteForm.ROUTE, method=method, path=_join(above, path), handler=handler
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
            full = _join(above, path) + (f"/:{parameter}" if has_id and not is_single else "")
            yield route_at(
                source, node.start_byte, RouteForm.ROUTE, method=method, path=_join(full, end),
                handler=f"{controller}#{action}",
            )  # fmt: skip


def _below_resources(source: RouteText, statement: _Statement, around: _Scope) -> _Scope:
    own = _phoenix_paths(source, statement.arguments[0], around) or ()
    name, parameter = _resource_names(source, statement)
    end = "" if _is_single(source, statement) else f"/:{name}_{parameter}"
    alias = statement.keywords.get("alias")
    paths = tuple(_join(above, path) + end for above, path in itertools.product(around.paths, own))
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
                path=_join(around.path, path or ""), handler=handler,
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
            inside = around._replace(path=_join(around.path, path or ""), method=verb[1] if verb else around.method)
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
                source, node.start_byte, RouteForm.ROUTE, method=name, path=_join(around.path, path),
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
            inside = around._replace(path=_join(around.path, predicate[1])) if predicate else around
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
                    prefix = _join(predicate[1], prefix) if predicate else prefix
            around = around.parent
        yield route_at(
            source, node.start_byte, RouteForm.ROUTE, receiver="()", method=name, path=_join(prefix, path or ""),
            handler=handler,
        )  # fmt: skip


def _java_arguments(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    given = node.child_by_field_name("arguments")
    return list(given.named_children) if given is not None else []


def _is_around(node: tree_sitter.Node, inner: tree_sitter.Node) -> bool:
    return node.start_byte <= inner.start_byte and inner.end_byte <= node.end_byte
