"""Names that cross a network or a build, not an import: routes, remote procedures, topics, images, workflows, tables.

In: an index with its files and facts. Out: `PublishedName` and `UsedName` rows of the kinds below. Routes and what
handles them are those of the graph. A request is a text that begins with a host or a slash where something is asked
for, put together from literals, variables and templates: what is no literal becomes `{}` in its path, and the names of
its variables and of its host are hints at who is asked. Everything else is found by the forms in which it is written.
"""

import itertools
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from enum import StrEnum

import numpy as np

from causalist.fleet.links.coordinates import ReadText
from causalist.fleet.links.published_and_used import PublishedName, UsedName
from causalist.fleet.links.shard_symbols import (
    CHAIN,
    COMMENT,
    IS_HOST,
    LITERAL,
    LOAD_HOST,
    MAX_BYTES,
    NAME_EXPRESSION,
    WRAPPER,
    FilePlace,
    NameValues,
    ShardProgram,
    TextValue,
    TextValues,
    expression_at,
    join_texts,
    read_settings,
)
from causalist.index.freshness import aside_of
from causalist.model.graph import EdgeKind
from causalist.model.index import Index
from causalist.model.node_ids import Role
from causalist.model.role_by_path import role_of
from causalist.parse.data_names.schemas import is_asyncapi, is_openapi, read_asyncapi, read_openapi


class ServiceKind(StrEnum):
    """Kinds of rows beside those of imports; the name of each row is compared."""

    ADDRESS = "address"  # of a setting: `to_name` is the host that it names
    GATEWAY = "gateway"  # the beginning of paths that are passed on: `to_name` is the host
    ROUTE = "route"  # "GET /users/{}"; `module` of a use holds hints at the host
    OPERATION = "operation"  # as a route, of an OpenAPI document
    RPC = "rpc"  # a service of an interface definition
    TOPIC = "topic"
    CHANNEL = "channel"  # as a topic, of a document of AsyncAPI
    IMAGE = "image"
    WORKFLOW = "workflow"  # "owner/name/path"
    SUBMODULE = "submodule"  # "owner/name", "../name" of the same owner
    TABLE = "table"


_ROUTE_NODE = "external:route:"
_PROPERTIES = re.compile(r"(?:^|/)(?:application|bootstrap)[\w-]*\.(?:ya?ml|properties)$")
_METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS")
_NOT_SERVED = (Role.TEST, Role.EXAMPLE, Role.DOCS)  # roles of files whose routes no other repository means
_MAX_OPEN = 2  # literal parts of a path that a parameter of a route may stand for


def service_rows(
    index: Index, program: ShardProgram, read: ReadText, paths: Sequence[str]
) -> tuple[list[PublishedName], list[UsedName]]:
    """Return what a repository offers and asks for beside imports."""
    published: list[PublishedName] = list(_published_routes(index))
    used: list[UsedName] = []
    clients: set[str] = set()
    own = {name for row in published for name in (row.name, f"ANY {row.name.partition(' ')[2]}")}
    # A folder with a Dockerfile is a service.
    own |= {f"@{path.lower().split('/')[-2]}" for path in paths if path.endswith("/Dockerfile")}
    places = [FilePlace(program, path, program.files.get(path)) for path in paths if role_of(path) is not Role.VENDORED]
    settings: dict[str, TextValue] = {}
    for place in places:
        for name, host, row, is_gateway in read_settings(place.path, read, settings):
            kind, name = (ServiceKind.GATEWAY, template_of(name)) if is_gateway else (ServiceKind.ADDRESS, name)
            published.append(PublishedName(kind, "", "", "", name, place.node, row, "", host))
    settings = {key: value for key, value in settings.items() if value.text}
    code = [place for place in places if place.is_code and role_of(place.path) is not Role.TEST]
    code = [place for place in code if len(read(place.path)) <= MAX_BYTES]
    values = {place.path: TextValues(place, read(place.path), settings) for place in code}
    set_in = _add_constants(values, settings)
    aside = aside_of(index)
    names = NameValues(read, (place.path for place in code), (each for each in paths if _PROPERTIES.search(each)))
    found: list[tuple[tuple[str, int], UsedName]] = []
    used_settings: set[str] = set()
    for place in places:
        if place.is_code:
            continue
        _read_configuration(place, place.path, read, published, used)
    for place in code:
        text = read(place.path)
        own_values, client = values.pop(place.path), list(_client_requests(place, text))
        used += client
        found += () if client else _requests(place, text, own_values, settings, own, used_settings)
        if "@FeignClient" in text:
            clients.add(place.node)
            used += _feign_requests(place, text)
        if not aside.get(place.path):  # code that is generated offers and uses all that a definition has
            _add_matches(_PUBLISHED, place, text, published, names)
            _add_matches(_USED, place, text, used, names)
    # What a request elsewhere is put together of is none by itself.
    parts = {set_in[name] for name in used_settings if name in set_in}
    used += (use for place, use in found if place not in parts)
    # What a client is declared with looks like a route.
    return [row for row in published if row.node.partition("::")[0] not in clients], used


def _add_constants(values: Mapping[str, TextValues], settings: dict[str, TextValue]) -> dict[str, tuple[str, int]]:
    """Add addresses that one file sets for others to settings, and return (file, row) of each."""
    found: dict[str, list[tuple[TextValue, str, int]]] = defaultdict(list)
    for path, each in values.items():
        for match in _TYPED_CLIENT.finditer(each.text) if "AddHttpClient" in each.text else ():
            found[f"{_CLIENT}{match[1]}"].append((TextValue(f"http://{match[2]}"), path, -1))
        for name, value, row in each.addresses():
            found[name].append((value, path, row))
    only = {name: some[0] for name, some in found.items() if len({each[0].text for each in some}) == 1}
    settings |= {name: value for name, (value, _, _) in only.items() if name not in settings}
    return {name: (path, row) for name, (_, path, row) in only.items()}


# -- routes


def _published_routes(index: Index) -> Iterator[PublishedName]:
    edges, nodes = index.graph.edges, index.graph.nodes
    for number in np.flatnonzero(edges.kinds == EdgeKind.ROUTES).tolist():
        source, target = nodes.ids[int(edges.sources[number])], nodes.ids[int(edges.targets[number])]
        if source.startswith(_ROUTE_NODE) and nodes.roles[int(edges.targets[number])] not in _NOT_SERVED:
            method, _, path = source.removeprefix(_ROUTE_NODE).partition(" ")
            yield PublishedName(ServiceKind.ROUTE, "", "", "", f"{method} {template_of(path)}", target, 0)


def template_of(path: str) -> str:
    """Return a path whose parameters are `{}`, without a slash at its end.

    >>> template_of("/users/:id/<int:n>/{x}/*/"), template_of("/")
    ('/users/{}/{}/{}/{}', '/')
    """
    parts = [each for each in path.split("/") if each]
    return "/" + "/".join("{}" if re.search(r"^[:*]|[{<]", each) else each for each in parts)


def routes_for(name: str) -> list[tuple[str, str]]:
    """Return (name of a route, words in front of its path) that may be meant by a request, the nearest first.

    A gateway may take the first parts of the path away, and parts of the request may be parameters of the route.

    >>> routes_for("GET /api/shop/items/{}")[:3]
    [('GET /api/shop/items/{}', ''), ('GET /shop/items/{}', 'api'), ('GET /items/{}', 'api shop')]
    """
    method, _, path = name.partition(" ")
    if path.endswith("/") and len(path) > 1:  # of what is put together, the first part
        return [*routes_for(name.rstrip("/")), *routes_for(f"{name}{{}}")]
    parts = [each for each in path.split("/") if each]
    routes = []
    for n_open in range(_MAX_OPEN + 1):
        for first in range(max(len(parts), 1)):
            rest = parts[first:]
            literal = [i for i, each in enumerate(rest) if each != "{}"]
            if len(literal) < n_open or (n_open == len(literal) and literal):
                continue
            for chosen in itertools.combinations(literal, n_open):
                route = "/" + "/".join("{}" if i in chosen else each for i, each in enumerate(rest))
                routes.append((f"{method} {route}", " ".join(each for each in parts[:first] if each != "{}")))
    return routes


_CHAIN_OF_NAMES = r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_]\w*)*(?:->\w+)*"
_TERM = rf"(?:{_CHAIN_OF_NAMES}(?:\([^()\n]{{0,80}}\))?(?:\[[^\[\]\n]{{0,40}}\])?|\([\w$. |?:'\"0-9]{{1,60}}\))"
_PREFIX = re.compile(r"(?<!\w)(?:[fFrRbBuU]{1,2}|[$@]{1,2})$")  # of a literal: f"", $@""
# A text beside one of these may be a path of a page as well as a request.
_WEAK = re.compile(r"url|uri|href|endpoint|open|path", re.IGNORECASE)
# A dot joins in PHP; before a name it is no member only with a space or a dollar behind it.
_NEXT = rf"\s*[+.]\s*(?:{LITERAL})|\s*(?:\+\s*|\.(?!\s*\w+\()\s+)(?:{_TERM})|\s*\.\$\w+(?:->\w+)*"
_JOINED = re.compile(rf"(?:(?:{_TERM})\s*(?:\+|\s\.)\s*){{0,4}}(?:{LITERAL})(?:{_NEXT}){{0,10}}")
_PART = re.compile(rf"({LITERAL})|({_TERM})")
_ASKING = re.compile(
    r"(?<![\w$])(get|post|put|delete|patch|head|fetch|request|requests|uri|url|href|axios|ajax|open|\$http|http\w*"
    r"|exchange|curl_init|endpoint|newrequest|newrequestwithcontext|urlopen|urljoin|\w*(?:url|uri|endpoint|path)|getjson"
    r"|getforobject|postforobject|getforentity|postforentity|\w*for(?:object|entity)|(?:get|post|put|delete|patch)\w{0,14}async)"
    r"(?:<[\w.<>, ?\[\]]{1,60}>)?"
    r"\W{1,12}$",
    re.IGNORECASE,
)
_URL = re.compile(
    r"(?:(?P<scheme>https?:)?//(?P<host>[^/]*)|(?P<base>(?:\{\})+))?"
    r"(?P<path>/?[\w.~{}:@*-]+(?:/[\w.~{}:@*-]*)*|/)?(?:[?#].*)?"
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_METHOD_BESIDE = re.compile(r"\b(?:method|type)['\"]?\s*[:=]\s*['\"](GET|POST|PUT|DELETE|PATCH)['\"]", re.IGNORECASE)
_METHOD_WORD = re.compile(
    r"(?<![A-Za-z])(get|post|put|delete|patch)(?=$|[A-Z]|async|json|for)|Http(Get|Post|Put|Delete|Patch)\b",
    re.IGNORECASE,
)
_METHOD_GIVEN = re.compile(
    r"[\"'](GET|POST|PUT|DELETE|PATCH)[\"'],\s*$|Method\.?(Get|Post|Put|Delete|Patch),\s*$", re.IGNORECASE
)
_ASSIGNED = re.compile(r"([\w$.]+)[\"'\]]*\s*=\s*[\w.]*\(?$")
# What is in front of the address among the arguments of a call.
_ARGUMENT = re.compile(
    r"\(\s*(?=[^\s])(?:(?:ctx|context\.\w+\(\)|(?:\w+\s*=\s*)?[\"']\w+[\"']|[\w.]*Method\.?\w+)\s*,\s*){0,2}(?:(?:url|uri)\s*[=:]\s*)?$"
)
_IS_SETTING = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_WRAPPED = re.compile(rf"(?<![\w.:])(?:{WRAPPER}\s*\(\s*){{1,2}}$")
_ASKED_NAME = re.compile(
    r"(?<![\w$])(?:(?P<word>\w{2,40})(?:<[\w.<>, ?\[\]]{1,60}>)?\(\s*"
    r"(?:(?:ctx|context\.\w+\(\)|[\"'](?:GET|POST|PUT|DELETE|PATCH)[\"']|[\w.]*Method\.?\w+)\s*,\s*){0,2}(?:(?:url|uri)\s*[=:]\s*)?"
    rf"|(?:url|uri)\s*:\s*)(?P<name>{CHAIN})(?=\s*[,)}}\n])"
)
_ASKING_CALL = re.compile(
    r"get|post|put|delete|patch|head|fetch|axios|urlopen|exchange|curl_init|getjson|\w*for(?:object|entity|location)"
    r"|(?:get|post|put|delete|patch)\w*async|uri|do(?:get|post)|\w*(?:http|request)\w*",
    re.IGNORECASE,
)
_STATIC = re.compile(r"\.(?:js|css|png|jpe?g|gif|svg|ico|html?|json|ya?ml|xml|md|txt|py|ts|woff2?|map|tpl|sh|jsp)$")


def _requests(
    place: FilePlace,
    text: str,
    values: TextValues,
    settings: Mapping[str, TextValue],
    own: Set[str],
    used_settings: set[str],
) -> Iterator[tuple[tuple[str, int], UsedName]]:
    """Yield the requests of a file, each with (file, row) of the variable that is set to it, row -1 if none is.

    Those to routes of the repository itself are left out. Settings that they use are added to `used_settings`.
    """
    registered = place.route_rows()
    base = _base_of(text, values, settings)
    found: list[tuple[int, UsedName]] = []  # with the row of the variable that is set there, -1 if none is
    for match in _JOINED.finditer(text):
        if "/" not in match[0] and not IS_HOST.search(match[0]):
            continue
        row = values.row_of(match.start())
        if row in registered or values.is_comment(match.start()):
            continue
        before = _PREFIX.sub("", text[max(0, match.start() - 80) : match.start()])
        expression = match[0]
        wrapped = _WRAPPED.search(before) if before.rstrip().endswith("(") else None
        if wrapped is not None:
            before = before[: wrapped.start()]
            expression = wrapped[0] + expression_at(text, match.start()) + ")" * wrapped[0].count("(")
        elif text.startswith((".format(", ".formatted(", " % ", " %("), match.end()):
            expression += expression_at(text, match.end())
        use = _request(place, text, match.span(), before, values.value(expression, row), base)
        if use is not None:
            found.append((-1 if before.rstrip().endswith("(") else row, use))
    for match in _ASKED_NAME.finditer(text):
        if match["word"] and not _ASKING_CALL.fullmatch(match["word"]):
            continue
        row = values.row_of(match.start())
        if row in registered or values.is_comment(match.start()):
            continue
        value = values.value(match["name"], row)
        if value.rows and "/" in value.text:
            before = match[0][: match.start("name") - match.start()]
            use = _request(place, text, match.span("name"), before, value, base, match["word"] or "")
            if use is not None:
                found.append((-1, use))
    for match in _FORWARDER.finditer(text) if "MapForwarder" in text else ():
        name, row = f"ANY {template_of(match['path'])}", values.row_of(match.start())
        words = " ".join([f"@{match['host']}", *words_of(match["host"])])
        found.append((-1, UsedName(ServiceKind.ROUTE, "", words, name, place.at(row), row)))
    used_settings |= values.used_settings
    for row, use in found:
        if row not in values.used and not _is_own(use, own):
            yield (place.path, row), use


def _request(
    place: FilePlace,
    text: str,
    span: tuple[int, int],
    before: str,
    value: TextValue,
    base: TextValue | None,
    word: str = "",
) -> UsedName | None:
    """Return the request for a text behind `before`, None if nothing is asked there; `word` is what is called."""
    parts = _URL.fullmatch(value.text)
    if parts is None or not parts["path"] or _STATIC.search(parts["path"]):
        return None
    given = _METHOD_GIVEN.search(before)
    before = _ARGUMENT.sub("(", before)
    asking = _ASKING.search(before.rstrip("([{ \n\t").rstrip() + " ") or _ASKING.search(before)
    word = word or (asking[1] if asking else "")
    is_called = bool(word and (value.rows or not _WEAK.search(word)))
    has_host = bool(parts["scheme"])
    if base is not None and is_called and not has_host and not parts["base"] and re.match(r"/|api/", parts["path"]):
        value = join_texts(base, value._replace(text=f"/{value.text.lstrip('/')}"))
        parts = _URL.fullmatch(value.text) or parts
        has_host = bool(parts["scheme"])
    if not (has_host or word):
        return None
    is_relative = not parts["base"] and not parts["path"].startswith("/")
    if not has_host and is_relative and not _is_relative(parts["path"], before):
        return None
    host = parts["host"] or ""
    method = _method_of(text, span[1], (given[1] or given[2]) if given else word, before)
    words = dict.fromkeys(words_of(host) + [word for name in value.names for word in words_of(name)])
    if assigned := _ASSIGNED.search(before):
        words.update(dict.fromkeys(words_of(assigned[1])))
    words.update(dict.fromkeys(f"${name}" for name in value.names if _IS_SETTING.fullmatch(name)))
    if word and not is_called and not has_host and not parts["base"]:
        words["?"] = None  # the path alone does not tell a request
    if host.strip("{}") and not host.startswith(("localhost", "127.", "0.0.0.0")):
        words = {f"@{host}": None, **words}  # no other service is asked
    path = template_of(parts["path"])
    is_first_part = parts["path"].endswith("/") or (has_host and not is_called)
    if is_first_part and path != "/" and not path.endswith("{}"):
        path += "/"  # what follows is put there elsewhere
    if path == "/" and not (is_called and has_host):
        return None
    row = text.count("\n", 0, span[0])
    return UsedName(ServiceKind.ROUTE, "", " ".join(words), f"{method} {path}", place.at(row), row)


def _is_relative(path: str, before: str) -> bool:
    is_api = re.match(r"(?:api|v\d+|rest|rpc|services?)/", path) or _ASKING_PAGE.search(before)
    return path.count("/") >= 1 and bool(is_api)


def _feign_requests(place: FilePlace, text: str) -> Iterator[UsedName]:
    """Yield what the interfaces ask for that are clients by their annotations."""
    client = _FEIGN.search(text)
    if client is None:
        return
    words = words_of(client[1])
    prefix = _FEIGN_PATH.search(client[0])
    for match in _MAPPING.finditer(text, client.end()):
        method = match[1].upper() if match[1] != "Request" else (_MAPPED_METHOD.search(match[2]) or ["", "ANY"])[1]
        path = re.search(r"\"([^\"]*)\"", match[2])
        row = text.count("\n", 0, match.start())
        name = template_of(f"{prefix[1] if prefix else ''}/{path[1] if path else ''}")
        yield UsedName(
            ServiceKind.ROUTE, "", " ".join([f"@{client[1]}", *words]), f"{method} {name}", place.at(row + 1), row
        )


_CLIENT_PATH = re.compile(
    r"[\"'`]\{\+baseurl\}(?P<path>/(?:[^\"'`{}?\n]|\{[^\"'`{}?\n]*\})*)"
    r"|\b(?:local_?[vV]ar_?[pP]ath|_?resource_path)\s*:?=\s*[^\n\"'`]{0,60}[\"'`](?P<given>/[^\"'`\n]*)[\"'`]"
)
_CLIENT_METHOD = re.compile(
    r"\b(?:HttpMethod|Method)\.(?P<kiota>GET|POST|PUT|DELETE|PATCH)\b|[\"'](?P<text>GET|POST|PUT|DELETE|PATCH)[\"']"
    r"|\b(?:http\.Method|HttpMethod\.|Method::)(?P<name>Get|Post|Put|Delete|Patch|GET|POST|PUT|DELETE|PATCH)\b"
)
_MAX_CLIENT_METHOD = 3_000  # characters of a method of a client that is generated


def _client_requests(place: FilePlace, text: str) -> Iterator[UsedName]:
    """Yield the requests of a client that Kiota or OpenAPI Generator made, with words of its folders and name as hints.

    Kiota has a file for each path with the methods in it; others have the path and its method in one function.
    """
    if "{+baseurl}" not in text and not re.search("(?i)local_?var_?path|resource_path", text):
        return
    folders = place.path.rpartition(".")[0].split("/")[-5:]
    hints = " ".join(dict.fromkeys(word for folder in folders for word in words_of(folder)))
    paths = list(_CLIENT_PATH.finditer(text))
    for i, match in enumerate(paths):
        is_kiota = match["path"] is not None
        end = paths[i + 1].start() if i + 1 < len(paths) else len(text)
        where = (0, len(text)) if is_kiota else (match.end(), min(end, match.end() + _MAX_CLIENT_METHOD))
        methods = list(_CLIENT_METHOD.finditer(text, *where))
        if not is_kiota and not methods:  # Go has the method in front
            methods = list(_CLIENT_METHOD.finditer(text, max(0, match.start() - 500), match.start()))[-1:]
        if is_kiota and i:
            break
        for method in methods if is_kiota else methods[:1]:
            row = text.count("\n", 0, method.start())
            name = next(filter(None, method.groups())).upper()
            path = template_of(match["path"] or match["given"])
            yield UsedName(ServiceKind.ROUTE, "", hints, f"{name} {path}", place.at(row), row)


def words_of(text: str) -> list[str]:
    """Return the words of a name, lower case.

    >>> words_of("getCustomerServiceUri"), words_of("vets-service.local:80")
    (['get', 'customer', 'service', 'uri'], ['vets', 'service', 'local', '80'])
    """
    return [word.lower() for word in _WORD.findall(text)]


def _method_of(text: str, end: int, word: str, before: str) -> str:
    if method := _METHOD_WORD.search(word):
        return str(next(filter(None, method.groups()))).upper()
    after = text[end : end + 160]
    beside = _METHOD_BESIDE.search(after) or _METHOD_BESIDE.search(before)
    if beside:
        return beside[1].upper()
    calls = re.findall(r"\.\s*(get|post|put|delete|patch)\s*\(\s*\)?", before[-60:], re.IGNORECASE)
    return calls[-1].upper() if calls else "ANY"


def _is_own(use: UsedName, own: Set[str]) -> bool:
    """Return True if `own` has the route, and the host is not told or the name of a service in it."""
    method = use.name.partition(" ")[0]
    names = {use.name, f"ANY {use.name.partition(' ')[2]}"} if method != "ANY" else {use.name}
    host = re.match(r"@[\w-]+", use.module)
    is_other = host[0].lower() not in own if host else re.search(r"[@$]|\b(?:host|ur[il]|addr)\b", use.module)
    return not is_other and not own.isdisjoint(names)


_ASKING_PAGE = re.compile(r"\b(?:ajax|axios|\$http|fetch|getJSON)\b")
_FEIGN = re.compile(r"@FeignClient\([^)]*?(?:(?:name|value|serviceId)\s*=\s*)?\"([\w.-]+)\"[^)]*\)")
_FEIGN_PATH = re.compile(r"\bpath\s*=\s*\"([^\"]*)\"")
_MAPPING = re.compile(r"@(Get|Post|Put|Delete|Patch|Request)Mapping\s*(\([^)]*\))")
_MAPPED_METHOD = re.compile(r"RequestMethod\.(\w+)")

# -- forms of other services

_TABLE_NAME = r"[`\"\[]?(?:[a-z]\w*[`\"\]]?\.[`\"\[]?)?([a-z]\w{3,60})\b(?!\s*[.(])"
# (kind, word that a file must have, form); the name is `name`, else the first group
_Form = tuple[ServiceKind, str, "re.Pattern[str]"]
_N = NAME_EXPRESSION
_RPC, _TOPIC, _TABLE_OF = ServiceKind.RPC, ServiceKind.TOPIC, ServiceKind.TABLE
_MANY = r"(?:\[\s*|(?:listOf|List\.of|asList|singleton\w*)\(\s*|\{\s*topics?:\s*\[?\s*)?"
_EMITTER = r"\s*\)\s*(?:[\w@]+\s+){0,3}(?:\w+\.)*\w*Emitter<"
_PUBLISHED: tuple[_Form, ...] = (
    (_RPC, "Server(", re.compile(r"\bRegister(\w+)Server\(")),
    (_RPC, "Servicer", re.compile(r"\badd_(\w+)Servicer_to_server\(")),
    (_RPC, "ImplBase", re.compile(r"(?:\bextends|[:,])\s*(?:\w+\.)*(?:\w+Grpc\.)?(\w+?)(?:Coroutine)?ImplBase\b")),
    (_RPC, "@GrpcService", re.compile(r"@GrpcService\b[^{}]{0,300}?\bimplements\s+(?:\w+\.)*(\w+)")),
    (_RPC, "Base", re.compile(r"\bclass\s+\w+\s*(?:\([^)]*\)\s*)?:\s*(?:\w+\.)*(\w+)\.\1Base\b")),
    (_RPC, "addService", re.compile(r"\.addService\(\s*(?:[\w$]+\.)*(\w+?)(?:Service)?\.service\b")),
    (_RPC, "addService", re.compile(r"\.addService\(\s*(?:[\w$]+\.)*(\w+)\.service\b")),
    (_RPC, "::Service", re.compile(r"(?:<\s*|\bpublic\s+)(?:\w+::)*(\w+)::Service\b")),
    (_RPC, "tonic", re.compile(r"\b(\w+)Server::(?:new|with_interceptor)\(")),
    (_TOPIC, "KafkaListener", re.compile(rf"@KafkaListener\([^)]*?topics\s*=\s*[\[{{]?\s*{_N}")),
    (_TOPIC, "RabbitListener", re.compile(rf"@RabbitListener\([^)]*?queues\s*=\s*[\[{{]?\s*{_N}")),
    (_TOPIC, "Listener", re.compile(rf"@(?:Jms|Sqs)Listener\((?:destination\s*=\s*|value\s*=\s*)?{_N}")),
    (_TOPIC, "@KafkaListener", re.compile(rf"@Topic\(\s*(?:value\s*=\s*)?{_N}")),
    (_TOPIC, "@Incoming", re.compile(rf"@Incoming\(\s*{_N}")),
    (_TOPIC, "ubscribe", re.compile(rf"\b[sS]ubscribe\(\s*{_MANY}{_N}")),
    (_TOPIC, "onsume", re.compile(rf"\b(?:[bB]asic_?)?[cC]onsume(?:Async)?\(\s*(?:queue\s*[=:]\s*)?{_N}")),
    (_TOPIC, "onsume", re.compile(rf"\.Consume\(\s*ctx,\s*\[\]string\{{\s*{_N}")),
    (_TOPIC, "ReaderConfig", re.compile(rf"\bReaderConfig\{{[^}}]{{0,400}}?\bTopic:\s*{_N}")),
    (_TOPIC, "KafkaConsumer", re.compile(rf"\bKafkaConsumer\(\s*{_N}")),
    (_TOPIC, "setQueueNames", re.compile(rf"\bsetQueueNames\(\s*(?:this\.)?{_N}")),
    (_TOPIC, "Pattern(", re.compile(rf"@(?:EventPattern|MessagePattern)\(\s*{_N}")),
    (_TOPIC, "AddSubscription<", re.compile(r"\bAddSubscription<\s*(?P<name>[A-Z]\w+)\s*,")),
    (_TOPIC, "IConsumer<", re.compile(r"\bIConsumer<\s*(?P<name>[A-Z]\w+)\s*>")),
    (_TOPIC, "IHandleMessages<", re.compile(r"\bIHandleMessages<\s*(?P<name>[A-Z]\w+)\s*>")),
    (_TABLE_OF, "TABLE", re.compile(r"\bCREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(?:\w+\.)?[`\"\[]?(\w{4,60})")),
    (_TABLE_OF, "able", re.compile(r"\b(?:create_table|[cC]reateTable)\b\(?\s*(?:name:\s*)?[:\"'](\w{4,60})")),
    (_TABLE_OF, "Schema::create", re.compile(r"\bSchema::create\(\s*[\"'](\w{4,60})")),
)
_USED: tuple[_Form, ...] = (
    (_RPC, "Client(", re.compile(r"\b(?:\w+\.)?New(\w+)Client\(\s*\w")),
    (_RPC, "Stub", re.compile(r"_grpc\.(\w+)Stub\(|\b([A-Z]\w+)Stub\(\s*(?:self\.)?\w*[cC]hannel")),
    (_RPC, "Stub", re.compile(r"\b(\w+)Grpc\.new\w*Stub\(")),
    (_RPC, "CoroutineStub", re.compile(r"\b(\w+)CoroutineStub\(")),
    (
        _RPC,
        "@GrpcClient",
        re.compile(
            r"@GrpcClient\b(?:\([^)]*\))?\s*(?:(?:private|protected|public|final|lateinit|va[lr])\s+)*(?:\w+\s*:\s*)?"
            r"(?:\w+Grpc\.)?([A-Z]\w+?)(?:(?:Blocking|Future|Coroutine)?Stub)?\b(?!\w*Grpc\.)"
        ),
    ),
    (_RPC, "Client", re.compile(r"\bnew\s+(?:\w+\.)*(\w+)\.\1Client\(|\bnew\s+(\w+)Client\(\s*\w*[cC]hannel\b")),
    (_RPC, "AddGrpcClient", re.compile(r"\bAddGrpcClient<\s*(?:\w+\.)*(\w+)\.\1Client\s*>")),
    (_RPC, "redentials", re.compile(r"\bnew\s+(?:[\w$]+[.\\])+(\w+?)(?:Client)?\([^;]{0,120}?[cC]redentials")),
    (_RPC, "redentials", re.compile(r"\bnew\s+(\w+)Client\([^;]{0,120}?[cC]redentials")),
    (_RPC, "tonic", re.compile(r"\b(\w+)Client::(?:connect|new|with_interceptor)\(")),
    (_RPC, "::", re.compile(r"\b(\w+)::(?:NewStub\(|Stub\.new\()")),
    (_TOPIC, "emplate", re.compile(rf"(?i:kafka|rabbit|jms|amqp)\w*\.(?:send|convertAndSend)\(\s*{_N}")),
    (_TOPIC, "convertAndSend", re.compile(rf"\bconvertAndSend\(\s*[^,()]{{1,80}},\s*{_N}\s*,")),
    (_TOPIC, "roducer", re.compile(rf"\b\w*[pP]roducer\.(?:send|[pP]roduce(?:Async)?|send_and_wait)\(\s*{_N}")),
    (_TOPIC, "roducer", re.compile(rf"\bproducer\.send\(\s*\{{\s*topic:\s*{_N}")),
    (_TOPIC, "ProducerRecord", re.compile(rf"\bProducerRecord(?:<[^>]*>)?\(\s*{_N}")),
    (_TOPIC, "Message{", re.compile(rf"\b(?:Producer|kafka\.)Message\{{[^}}]{{0,400}}?\bTopic:\s*{_N}")),
    (_TOPIC, "kafka.Writer", re.compile(rf"\bkafka\.Writer(?:Config)?\{{[^}}]{{0,400}}?\bTopic:\s*{_N}")),
    (_TOPIC, "ublish", re.compile(rf"\b\w*[pP]ublish\w*\((?:[^()]{{0,200}}?routing_?[kK]ey\s*[=:]\s*)?\s*{_N}")),
    (_TOPIC, "ublish", re.compile(rf"\b(?:basic_)?[pP]ublish\w*\((?:[^(),]{{0,80}},){{1,2}}\s*{_N}\s*[,)]")),
    (_TOPIC, "Send", re.compile(r"\bSend(?:Async)?(?:<[^<>]{0,80}>)?\(\s*new\s+(?P<name>[A-Z]\w+)\b")),
    (_TOPIC, "SaveEvent", re.compile(rf"\b\w*SaveEvent\w*\(\s*{_N}")),
    (_TOPIC, "Publish", re.compile(r"\bPublish\w*<\s*(?P<name>[A-Z]\w+)\s*>\(")),
    (_TOPIC, "sendToQueue", re.compile(rf"\bsendToQueue\(\s*{_N}")),
    (_TOPIC, "@nestjs/microservices", re.compile(rf"\.(?:emit|send)\(\s*{_N}")),
    (_TOPIC, "@KafkaClient", re.compile(rf"@Topic\(\s*(?:value\s*=\s*)?{_N}")),
    (_TOPIC, "@Outgoing", re.compile(rf"@Outgoing\(\s*{_N}")),
    (_TOPIC, "@Channel", re.compile(rf"@Channel\(\s*{_N}{_EMITTER}")),
    (
        _TABLE_OF,
        "Table(",
        re.compile(
            r"[@\[]Table\(\s*(?:name\s*=\s*)?\"(\w{4,60})\"|\bTable\(\s*[\"'](\w{4,60})[\"']\s*,\s*\w*(?i:meta)"
        ),
    ),
    (_TABLE_OF, "__tablename__", re.compile(r"\b__tablename__\s*=\s*[\"'](\w{4,60})[\"']")),
    (_TABLE_OF, "SELECT", re.compile(rf"\bSELECT\b[^;\"']{{1,400}}?\bFROM\s+{_TABLE_NAME}")),
    (_TABLE_OF, "INSERT", re.compile(rf"\bINSERT\s+(?:IGNORE\s+)?INTO\s+{_TABLE_NAME}")),
    (_TABLE_OF, "UPDATE", re.compile(rf"\bUPDATE\s+{_TABLE_NAME}[`\"]?\s+SET\b")),
)
_GENERAL = ("ubscribe", "ublish", "onsume")  # words of calls that are those of a broker beside one of these
_BROKER = re.compile(
    r"kafka|rabbit|amqp|pika|nats|mqtt|pulsar|pub_?sub|redis|jms|sqs|sns|stomp|event_?bus|bunny|microservices|masstransit"
    r"|integrationevent|nservicebus|reactive\.messaging|\bbus\b",
    re.IGNORECASE,
)
_COMMON_NAMES = {"health", "serverreflection", "reflection"}  # of services that most servers have
_CHANNEL_FORM = re.compile(r"@(Incoming|Outgoing|Channel)")


def _add_matches(
    forms: Iterable[_Form],
    place: FilePlace,
    text: str,
    rows: list[PublishedName] | list[UsedName],
    names: NameValues,
) -> None:
    is_broker = bool(_BROKER.search(text))
    for kind, word, form in forms:
        if word not in text or (word in _GENERAL and not is_broker):
            continue
        for match in form.finditer(text):
            row = text.count("\n", 0, match.start())
            line_start = text.rfind("\n", 0, match.start()) + 1
            if COMMENT.match(text[line_start : match.start() + 3]):
                continue
            name = match["name"] if "name" in form.groupindex else next(filter(None, match.groups()))
            found: tuple[str, ...] = (name,)
            if kind is ServiceKind.RPC:
                found = tuple(each for each in (_service_name(name),) if each not in _COMMON_NAMES)
            elif kind is ServiceKind.TABLE:
                found = (name.lower(),)
            elif kind is ServiceKind.TOPIC and _N in form.pattern:
                found = names.of(name, place.path)
                if channel := _CHANNEL_FORM.match(match[0]):
                    side = "incoming" if channel[1] == "Incoming" else "outgoing"
                    found = tuple(names.property_of(f"mp.messaging.{side}.{each}.topic") or each for each in found)
            for each in found:
                if forms is _PUBLISHED:
                    rows.append(PublishedName(kind, "", "", "", each, place.at(row), row))  # type: ignore[arg-type]
                else:
                    rows.append(UsedName(kind, "", "", each, place.at(row), row))  # type: ignore[arg-type]


def _service_name(name: str) -> str:
    """Return the name of a remote service without the word that some languages leave away.

    >>> _service_name("CartService"), _service_name("Cart"), _service_name("Service")
    ('cart', 'cart', 'service')
    """
    return (name.removesuffix("Service") or name).lower()


# -- configuration

_BASE = re.compile(
    r"\b(?:base_?url|BaseAddress|rootUri|prefixUrl|base_uri|LOCUST_HOST)[\"']?\s*(?:[:=(]|=\s*new\s+\w*\()\s*",
    re.IGNORECASE,
)
_LOAD_TEST = re.compile(r"\b(?:HttpUser|HttpLocust|FastHttpUser)\b")
_TYPED_CLIENT = re.compile(
    r"\bAddHttpClient<(?:\w+,\s*)?(\w+)>\([^;]{0,80}?\bBaseAddress\s*=\s*new\s*\w*\(\"(?:\w[\w+]*)://([\w.-]+)"
)
_CLIENT = "client "  # before the name of its class: a setting of its own
_CLASS = re.compile(r"\bclass\s+(\w+)")
_FORWARDER = re.compile(
    r"\bMapForwarder\(\s*\"[^\"\n]*\",\s*\"\w[\w+]*://(?P<host>[\w.-]+)[^\"\n]*\",\s*\"(?P<path>/[^\"\n]+)\""
)


def _base_of(text: str, values: TextValues, settings: Mapping[str, TextValue]) -> TextValue | None:
    """Return the address in front of the paths that a file asks for, None if it sets none or several."""
    if _LOAD_TEST.search(text) and LOAD_HOST in settings:
        return values.value(f'"{settings[LOAD_HOST].text}"', 0)
    typed = [settings[key] for name in _CLASS.findall(text) if (key := f"{_CLIENT}{name}") in settings]
    if typed:
        return typed[0]
    found = set()
    for match in _BASE.finditer(text):
        value = values.value(expression_at(text, match.end()), values.row_of(match.start()))
        if value.text.startswith(("http", "{}")):
            found.add(value)
    return found.pop() if len(found) == 1 else None


_BUILT_IMAGE = re.compile(r"\bdocker\s+(?:buildx\s+)?build\b[^\n]*?\s(?:-t|--tag)[ =]([\w./${}:-]+)")
_FROM = re.compile(r"^\s*FROM\s+(?:--platform=\S+\s+)?([\w./:@${}-]+)", re.MULTILINE | re.IGNORECASE)
_IMAGE = re.compile(r"^([ \t]*)(?:-[ \t]+)?image:[ \t]*[\"']?([\w./:@${}-]+)", re.MULTILINE)
_MAX_DOCUMENT = 1_000_000  # characters of an OpenAPI document
# The path of the first server, or of all operations in documents of version 2.
_BASE_PATH = re.compile(
    r"^[ \t]*[\"']?(?:basePath[\"']?\s*:\s*[\"']?|servers[\"']?\s*:[\s\[{-]*[\"']?url[\"']?\s*:\s*[\"']?(?:https?://[^/\s\"']+)?)(/[\w./-]+)",
    re.MULTILINE,
)
_USES = re.compile(r"^\s*(?:-\s+)?uses:\s*[\"']?([\w.-]+/[\w.-]+(?:/[\w./-]+)?)@", re.MULTILINE)
_SUBMODULE = re.compile(r"^[ \t]*url[ \t]*=[ \t]*\"?([^\s\"]+)", re.MULTILINE | re.IGNORECASE)
_TABLE = re.compile(
    r"\bCREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?[`\"]?(?:\w+[`\"]?\.[`\"]?)?([a-z]\w{3,60})\b", re.IGNORECASE
)


def image_name(image: str) -> str:
    """Return the name of an image without registry, tag and digest; "" if it has variables.

    >>> image_name("ghcr.io/acme/shop:1.2"), image_name("python:3.12-slim"), image_name("$X/y")
    ('acme/shop', 'python', '')
    """
    name = re.sub(r"@.*|:[^/]*$", "", image)
    first, _, rest = name.partition("/")
    name = rest if rest and ("." in first or ":" in first or first == "localhost") else name
    return "" if re.search(r"[${}]", name) else name.lower()


def _read_configuration(
    place: FilePlace, path: str, read: ReadText, published: list[PublishedName], used: list[UsedName]
) -> None:
    base = posixpath.basename(path).lower()
    is_yaml = base.endswith((".yml", ".yaml"))

    def use(kind: ServiceKind, name: str, at: int, text: str) -> None:
        row = text.count("\n", 0, at)
        used.append(UsedName(kind, "", "", name, place.at(row), row))

    def publish(kind: ServiceKind, name: str, at: int, text: str) -> None:
        row = text.count("\n", 0, at)
        published.append(PublishedName(kind, "", "", "", name, place.at(row), row))

    if path == ".gitmodules":  # git reads none in folders
        text = read(path)
        for match in _SUBMODULE.finditer(text):
            if "/" in (name := repository_name(match[1])):
                use(ServiceKind.SUBMODULE, name, match.start(1), text)
    elif base.startswith("dockerfile") or base.endswith(".dockerfile"):
        text = read(path)
        stages = {each.lower() for each in re.findall(r"\bAS\s+([\w.-]+)", text, re.IGNORECASE)}
        for match in _FROM.finditer(text):
            if (name := image_name(match[1])) and name not in stages:
                use(ServiceKind.IMAGE, name, match.start(), text)
    elif base in ("action.yml", "action.yaml"):
        published.append(PublishedName(ServiceKind.WORKFLOW, "", "", "", posixpath.dirname(path), place.node, 0))
    elif is_yaml or base.endswith(".json"):
        text = read(path) if is_yaml or "api" in base or "swagger" in base else ""
        if is_openapi(text) and len(text) <= _MAX_DOCUMENT:
            in_front = served[1] if (served := _BASE_PATH.search(text)) else ""
            for link in read_openapi(text):
                method, _, below = link.name.partition(" ")
                publish(ServiceKind.OPERATION, f"{method} {template_of(f'{in_front}/{below}')}", link.at, text)
        if is_asyncapi(text) and len(text) <= _MAX_DOCUMENT and role_of(path) is not Role.TEST:
            for at, is_sent, address in read_asyncapi(text):
                (use if is_sent else publish)(ServiceKind.CHANNEL, address, at, text)
        for match in _USES.finditer(text):
            use(ServiceKind.WORKFLOW, match[1], match.start(), text)
        if "/workflows/" in f"/{path}" and "workflow_call" in text:
            published.append(PublishedName(ServiceKind.WORKFLOW, "", "", "", path, place.node, 0))
        for match in _IMAGE.finditer(text):
            name = image_name(match[2])
            if name and (_is_built(text, match) or base.startswith("skaffold")):
                publish(ServiceKind.IMAGE, name, match.start(2), text)
            elif name:
                use(ServiceKind.IMAGE, name, match.start(2), text)
    elif base.endswith(".sql"):
        text = read(path)
        for match in _TABLE.finditer(text):
            publish(ServiceKind.TABLE, match[1].lower(), match.start(), text)
    elif base in ("makefile", "justfile") or base.endswith(".sh"):
        text = read(path)
        for match in _BUILT_IMAGE.finditer(text):
            if name := image_name(match[1]):
                publish(ServiceKind.IMAGE, name, match.start(), text)


def _is_built(text: str, match: "re.Match[str]") -> bool:
    """Return True if the service of a compose file that has an image is built there too."""
    indent = match[1]
    lines_before, lines_after = text[: match.start()].splitlines(), text[match.end() :].splitlines()[1:]
    for lines in (reversed(lines_before), iter(lines_after)):
        for line in lines:
            if line.strip() and not line.startswith(indent):
                break
            if re.match(rf"{indent}build:", line):
                return True
    return False


def repository_name(address: str) -> str:
    """Return "owner/name" of the address of a repository; ".." stands for the owner of the one that says it.

    >>> [repository_name(each) for each in ("https://host/acme/shop.git", "git@host:acme/shop", "../shop.git")]
    ['acme/shop', 'acme/shop', '../shop']
    """
    parts = re.split(r"[/:]", address.rstrip("/").removesuffix(".git"))
    return "/".join(parts[-2:])
