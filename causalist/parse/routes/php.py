"""Routes of PHP: Laravel, Lumen, Slim and attributes of Symfony; requests of test cases and clients."""

import re
from collections.abc import Iterator

from causalist.model.facts import RouteFact, RouteForm
from causalist.model.symbols import TYPE_KINDS, NodeKind
from causalist.parse.routes.source import (
    ANY,
    Argument,
    RouteText,
    keyword,
    literal,
    requested_path,
    route_at,
)

_Found = Iterator[tuple[int, RouteFact]]
_VERB = r"get|post|put|patch|delete|options|any|match|map|resource|resources|apiResource|apiResources|singleton"
# A chain of the facade, `Route::middleware('x')->get(`, or of a router that is given: `$router->get(`.
_REGISTRATION = re.compile(
    rf"(?<![\w$\\])(?P<base>Route::|\$(?:app|router|group|routes?|r)->)(?P<verb>{_VERB}|group)\(".encode()
)
_CHAINED = re.compile(rf"->\s*(?P<verb>{_VERB}|group)\(".encode())
_CHAIN_START = re.compile(r"(?<![\w$\\])Route::\w+\(|\$(?:app|router|group|routes?)->\w+\(")
_MAX_CHAIN_BYTES = 600  # of the calls before one of a chain
_PREFIX = re.compile(r"""(?:\bprefix\(\s*|["']prefix["']\s*=>\s*)(["'])(?P<path>[^"'\n]*)\1""")
_CONTROLLER = re.compile(r"\bcontroller\(\s*(?P<name>\\?\w[\w\\]*)::class")
_CLASS = re.compile(r"\\?(?P<name>\w[\w\\]*)::class")
_PAIR = re.compile(r"""\[\s*\\?(?P<name>\w[\w\\]*)::class\s*,\s*["'](?P<method>\w+)["']\s*,?\s*\]""")
_AT = re.compile(r"""["']\\?(?P<name>[\w\\]+)[@:](?P<method>\w+)["']""")
_WORDS = re.compile(r"""["']([\w-]+)["']""")
# What the routes of a resource do, with the rest of the path: `{}` stands for the name of the parameter.
_ACTIONS = (
    ("index", "GET", ""), ("create", "GET", "/create"), ("store", "POST", ""), ("show", "GET", "/{}"),
    ("edit", "GET", "/{}/edit"), ("update", "PUT", "/{}"), ("update", "PATCH", "/{}"), ("destroy", "DELETE", "/{}"),
)  # fmt: skip
_SYMFONY = re.compile(rb"#\[(?:[^\]\n]*,\s*)?(?P<name>(?:\w+\\)*Route)\(")
_TESTED = re.compile(
    rb"(?:\$this|\$(?:\w+->)*\w*[cC]lient|\)|\$(?:\w+->)*http|Http::\w+\([^()\n]*\)|Http)\s*(?:->|::)\s*"
    rb"(?P<verb>get|post|put|patch|delete|json|call|request)(?P<rest>Json|As)?\("
)


def read_php(source: RouteText) -> _Found:
    """Yield the start and fact of each route and request of a PHP file."""
    yield from _registrations(source)
    yield from _attributes(source)
    yield from _requests(source)


# -- Laravel, Lumen, Slim


def _registrations(source: RouteText) -> _Found:
    """Yield the routes that calls of a router register. Its groups are functions, whose routes have their prefix."""
    calls = []
    for match in source.matches(_REGISTRATION, "verb"):
        calls.append((match.start(), match["verb"].decode(), match.end(), match["base"] != b"Route::"))
    for match in source.matches(_CHAINED, "verb"):
        start = _start_of_chain(source, match.start())
        if start >= 0:
            calls.append((start, match["verb"].decode(), match.end(), False))
    around: list[tuple[int, int, str, str]] = []  # (start, end, prefix, controller) of the functions of groups
    for start, verb, inside, is_given in calls:
        if verb == "group":
            arguments, end = source.arguments(inside, len(source.data))
            written = source.text(start, inside) + "".join(each.text for each in arguments[:-1])
            below = _joined(*(each["path"] for each in _PREFIX.finditer(written)))
            if is_given and arguments and (path := literal(arguments[0].text)):
                below = path  # Slim: `$app->group('/users', function …)`
            held = _CONTROLLER.search(written)
            around.append((inside, end, below, held["name"] if held else ""))
    for start, verb, inside, _ in calls:
        if verb == "group":
            continue
        arguments, end = source.arguments(inside)
        groups = sorted(each for each in around if each[0] <= start < each[1])
        above = [each["path"] for each in _PREFIX.finditer(source.text(start, inside))]
        prefix = _joined(*(each[2] for each in groups), *above)
        controller = next((each[3] for each in reversed(groups) if each[3]), "")
        if verb in ("resource", "apiResource", "singleton"):
            behind = source.text(end, end + _MAX_CHAIN_BYTES).split(";")[0]
            yield from _resource(source, start, verb, arguments, prefix, behind)
        elif verb in ("resources", "apiResources"):
            for written in re.findall(r"""(["'][\w./-]+["'])\s*=>\s*([\w\\]+::class)""", arguments[0].text):
                pair = [Argument(text, start, start) for text in written]
                yield from _resource(source, start, verb.removesuffix("s"), pair, prefix, "")
        else:
            methods = [ANY if verb == "any" else verb.upper()]
            if verb in ("match", "map") and arguments:
                methods = re.findall(r"""["'](\w+)["']""", arguments.pop(0).text)
            path = literal(arguments[0].text) if arguments else None
            if path is None or len(arguments) < 2:
                continue
            handler, definition = _handler(source, arguments[1], controller, start, end)
            for method in methods:
                yield route_at(
                    source, start, RouteForm.ROUTE, receiver="default", method=method, path=_joined(prefix, path),
                    handler=handler, definition=definition,
                )  # fmt: skip


def _start_of_chain(source: RouteText, arrow: int) -> int:
    """Return the start of the chain of a router that an arrow continues, or -1."""
    first = max(0, arrow - _MAX_CHAIN_BYTES)
    statement = re.split(r";|\{\s*\n", source.text(first, arrow))[-1]
    found = list(_CHAIN_START.finditer(statement))
    if not found or found[-1].end() != found[0].end():
        return -1
    between = statement[found[0].start() :]
    if between.count("(") != between.count(")"):  # an arrow inside of the arguments
        return -1
    return arrow - len(between.encode())


def _handler(source: RouteText, argument: Argument, controller: str, start: int, end: int) -> tuple[str, int]:
    """Return the chain of what handles a route, and the definition of a function that is given; "" and -1 for none."""
    for pattern in (_PAIR, _AT):
        pair = pattern.match(argument.text)
        if pair:
            return f"{pair['name'].rpartition(chr(92))[2]}.{pair['method']}", -1
    held = _CLASS.match(argument.text)
    if held:
        return f"{held['name'].rpartition(chr(92))[2]}.__invoke", -1
    method = literal(argument.text)
    if controller and method:
        return f"{controller.rpartition(chr(92))[2]}.{method}", -1
    for number, each in enumerate(source.definitions):
        if each.kind == NodeKind.HANDLER and start <= each.start_byte < end:
            return "", number
    return "", -1


def _resource(source: RouteText, start: int, verb: str, arguments: list[Argument], prefix: str, behind: str) -> _Found:
    """Yield the routes of `Route::resource('photos.comments', CommentController::class)`."""
    name = literal(arguments[0].text) if arguments else None
    held = _CLASS.search(arguments[1].text) if len(arguments) > 1 else None
    if not name or held is None:
        return
    *above, last = name.strip("/").split(".")
    path = _joined(prefix, *(f"{each}/{{{_parameter(each)}}}" for each in above), last)
    written = behind + "".join(each.text for each in arguments[2:])
    only, left_out = _listed(written, "only"), _listed(written, "except")
    for action, method, rest in _ACTIONS:
        if action in ("create", "edit") and verb == "apiResource":
            continue
        if (only and action not in only) or action in left_out:
            continue
        if verb == "singleton" and (action in ("index", "create", "store", "destroy")):
            continue
        parameter = "" if verb == "singleton" else f"{{{_parameter(last)}}}"
        full = _joined(path, rest.replace("{}", parameter))
        handler = f"{held['name'].rpartition(chr(92))[2]}.{action}"
        yield route_at(
            source, start, RouteForm.ROUTE, receiver="default", method=method, path=full, handler=handler
        )  # fmt: skip


def _listed(text: str, name: str) -> list[str]:
    """Return the words that `only` or `except` lists, as a call or a key."""
    matched = re.search(rf"""\b{name}(?:\(|["']\s*=>)\s*(\[[^\]]*\]|[^()]*)""", text)
    return _WORDS.findall(matched[1]) if matched else []


def _parameter(name: str) -> str:
    """Return the name of the parameter of a resource.

    >>> _parameter("photos"), _parameter("playlist-folders"), _parameter("categories"), _parameter("addresses")
    ('photo', 'playlist_folder', 'category', 'address')
    """
    name = name.rpartition("/")[2].replace("-", "_")
    for ending, singular in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("ss", "ss")):
        if name.endswith(ending):
            return name.removesuffix(ending) + singular
    return name.removesuffix("s")


def _joined(*parts: str) -> str:
    path = "/".join(part.strip("/") for part in parts if part.strip("/"))
    return f"/{path}"


# -- Symfony


def _attributes(source: RouteText) -> _Found:
    for match in source.matches(_SYMFONY, "name"):
        definition = source.decorated(match.start("name"))
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


def _requests(source: RouteText) -> _Found:
    """Yield what a test case asks of its application, and a client of a server."""
    is_test = b"extends" in source.data and b"Test" in source.data
    for match in source.matches(_TESTED, "verb"):
        arguments, _ = source.arguments(match.end())
        verb, receiver = match["verb"].decode(), match[0].split(b"->")[0].split(b"::")[0].strip()
        if receiver in (b"$this", b")") and not (is_test or match["rest"]):
            continue
        if verb in ("json", "call", "request"):
            verb = literal(arguments.pop(0).text) or "" if arguments else ""
        text = _text_of(arguments[0].text) if arguments else None
        if text is not None and not text.startswith(("/", "{}", "http")) and re.match(r"[\w-]+/", text):
            text = f"/{text}"
        path = requested_path(text)
        if path and path != "/" and verb:
            yield route_at(source, match.start(), RouteForm.REQUEST, method=verb, path=path)


def _text_of(text: str) -> str | None:
    """Return the text of a string, with `{}` for what is put into it or joined to it.

    >>> _text_of('"api/songs/{$song->id}"'), _text_of("'api/songs/' . $id . '/x'"), _text_of("$url")
    ('api/songs/{}', 'api/songs/{}/x', None)
    """
    parts = [literal(part.strip()) for part in re.split(r"\s\.\s", text)]
    if parts[0] is None and len(parts) < 2:
        return None
    joined = "".join("{}" if part is None else part for part in parts)
    return re.sub(r"\{\$[^{}]*\}|\$\w+(?:->\w+)?", "{}", joined)
