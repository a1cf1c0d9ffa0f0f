"""Routes, events and messages: what code registers, requests and emits by a path, name or type.

In: the text of a file, its syntax tree and its definitions. Out: facts of routes, in the order of the file. A framework
is known by the form of its registrations, not by an import: `@app.route("/users")`, `router.get("/users", list)`,
`path("users/", views.list)`. The text is searched by regular expressions, since few files have a match. A match counts
only where the tree has code. What a path is below, such as the prefix of a router in another file, is found when the
files are linked (`graph.relations.routes`).
"""

import re
from collections.abc import Callable, Iterator, Sequence

from causalist._internal.lazy import lazy_regex
from causalist.model.facts import Binding, RouteFact
from causalist.parse.routes.connected_signals import read_signals
from causalist.parse.routes.ecmascript_blocks import read_ecmascript, read_phoenix
from causalist.parse.routes.messages import read_messages
from causalist.parse.routes.python_ruby import read_python, read_rails
from causalist.parse.routes.searched_text import RouteText, read_computed_names
from causalist.parse.routes.servers import read_aspnet, read_go, read_java, read_php, read_rust

_Reader = Callable[[RouteText], Iterator[tuple[int, RouteFact]]]
_READERS: dict[str, _Reader] = {
    "ecmascript": read_ecmascript,
    "python": read_python,
    "java": read_java,
    "csharp": read_aspnet,
    "go": read_go,
    "rust": read_rust,
    "ruby": read_rails,
    "php": read_php,
    "c": read_signals,
    "elixir": read_phoenix,
}
# What at least one word of must occur, so that most files are not searched any further.
_WORDS: dict[str, "re.Pattern[bytes]"] = {
    "ecmascript": lazy_regex(
        rb"\.\s*(?:get|post|put|patch|delete|all|use|route|register|emit|on|once|head|options|setGlobalPrefix|enableVersioning)\s*[(<]"
        rb"|fetch\s*[(<]|(?:request|ajax|axios|http|service)\s*(?:<[^()<>\n]{0,80}>)?\(\s*\{|@Controller|(?:get|post|put|patch|del|http[A-Z][a-z]+)\(\s*[\"'`]/"
    ),
    "python": lazy_regex(rb"\.(?:route|get|post|put|patch|delete|request|api_route|websocket|open|include_router"
                         rb"|register_blueprint|add_url_rule|add_resource|register|mount)\(|urlpatterns|include\("
                         rb"|reverse(?:_lazy)?\(|redirect\(|@(?:\w+\.)?action\(|url_(?:path_)?for\(|resolve_url\(|Blueprint\("),
    "java": lazy_regex(
        rb"Mapping\b|perform\(|\.ws\.rs\b|retrofit2?\.http\b|ServletContainer\(|restassured|RestTemplate|\.uri\("
        rb"|RouterFunction|(?:coR|r)outer\s*\{|io\.ktor\.(?:server\.)?routing\b"
    ),
    "csharp": lazy_regex(
        rb"Http(?:Get|Post|Put|Patch|Delete)\b|Route\(|\.Map(?:Get|Post|Put|Patch|Delete|Group)\(|Client\w*\.\w+Async"
    ),
    "go": lazy_regex(
        rb"\.(?:GET|POST|PUT|PATCH|DELETE|HandleFunc|Handle|Group|Route|Get|Post|Mount)\(\s*\"|\.(?:Group|Match|Methods)\("
        rb"|\bhttp(?:test)?\.(?:NewRequest|Get|Post|Head)|(?i:client|request|http|api|agent)\.(?:Get|Post|Put|Patch|Delete)\("
    ),
    "rust": lazy_regex(rb"\.\s*(?:routes?|nest|merge)\(|utoipa|#\[(?:\w+::)*(?:get|post|put|patch|delete)\("
                       rb"|\.uri\(|Request::\w+\(|client\s*\.\s*(?:get|post|put|patch|delete|head)\("),
    "php": lazy_regex(
        rb"Route::|\$(?:app|router|group|routes?|r)->\w+\(|#\[[^\]\n]*Route\(|Http::|[cC]lient->|->(?:get|post|put|patch|delete)\w*\("
    ),
    "c": lazy_regex(rb"\b(?:emit|Q_EMIT)\s|\bconnect\("),
    "elixir": lazy_regex(rb"\bPhoenix\.Router\b|,\s*:router\b|\bscope\s*\(?\s*\"/"),
    "ruby": lazy_regex(
        rb"outes\.draw\b|_(?:path|url)\b|^(?:resources?|namespace|scope)[ (]+[:\"']"
        rb"|\b(?:get|post|put|patch|delete)[ (][\"']/",
        re.MULTILINE,
    ),
}  # fmt: skip
# Parts of these words, for languages in which the expressions take long: texts are found many times as fast.
_PARTS: dict[str, tuple[bytes, ...]] = {
    "c": (b"emit", b"Q_EMIT", b"connect("),
    "java": (b"Mapping", b"perform(", b".ws.rs", b".http", b"ServletContainer(", b"restassured", b"RestTemplate",
             b".uri(", b"RouterFunction", b"outer", b"io.ktor."),
    "ruby": (b"outes.draw", b"_path", b"_url", b"resource", b"namespace", b"scope", b' "/', b" '/", b'("/', b"('/"),
}  # fmt: skip
# Other parts begin with a dot, which is looked for first.
_MEMBERS: dict[str, "re.Pattern[bytes]"] = {
    "ecmascript": lazy_regex(
        rb"\.\s*(?:get|post|put|patch|delete|all|use|route|register|emit|on|once|head|options|setGlobalPrefix|enableVersioning)\s*[(<]"
    ),
    "go": lazy_regex(
        rb"\.(?:GET|POST|PUT|PATCH|DELETE|Handle|Group|Route|Mount|Match|Methods|NewRequest|Get|Post|Head|Put|Patch|Delete)"
    ),
}
_OTHER_PARTS = {"ecmascript": (b"fetch", b"@Controller", b'"/', b"'/", b"`/")}


def _may_have_routes(family: str, data: bytes) -> bool:
    """Return False for a file in which `_WORDS` finds nothing, as far as that is seen at once."""
    if family in _PARTS:
        return any(part in data for part in _PARTS[family])
    if family not in _MEMBERS:
        return True
    return any(part in data for part in _OTHER_PARTS.get(family, ())) or bool(_MEMBERS[family].search(data))


def read_routes(family: str, source: RouteText, bindings: Sequence[Binding] = ()) -> tuple[RouteFact, ...]:
    """Return the routes, the events, the messages and the look-ups by a computed name of a file, by position.

    `bindings` say the types of names.
    """
    data = source.data
    facts = list(read_computed_names(family, source))
    reader = _READERS.get(family)
    if reader is not None and _may_have_routes(family, data) and _WORDS[family].search(data):
        facts += reader(source)
    facts += read_messages(family, source.renew(), bindings)
    return tuple(route for _, route in sorted(facts, key=lambda pair: pair[0]))
