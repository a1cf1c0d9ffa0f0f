"""Messages: objects that are handed to what passes them on, and what handles them; names that queues and consoles run.

In: the text of a file, its definitions, and what its names are bound to. Out: facts of routes. `bus.dispatch(new
OrderPaid(id))` sends a message of a type. What handles it says so by an annotation, by a base such as
`INotificationHandler<OrderPaid>`, or by a method whose first parameter is one. Both ends are found by their form alone,
so that most are no messages. They count only if both ends mean the same type, which is found when the files are linked
(`graph.relations.message_handlers`). Commands, tasks and signals have names instead, each kind in a channel.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from causalist._internal.lazy import lazy_regex
from causalist.model.facts import Binding, Definition, RouteFact, RouteForm
from causalist.model.node_ids import CALLABLE_KINDS, TYPE_KINDS
from causalist.parse.routes.connected_signals import (
    PROCESS,
    read_actions,
    read_commands,
    read_events,
    read_live_events,
    read_process_calls,
    read_wired,
)
from causalist.parse.routes.ecmascript_blocks import actions_and_stores
from causalist.parse.routes.searched_text import (
    Argument,
    BoundTypes,
    RouteText,
    chain,
    keyword,
    literal,
    read_channels,
    route_at,
)

_Found = Iterator[tuple[int, RouteFact]]
COMMAND, TASK, JOB, SIGNAL, TOPIC = "command", "task", "job", "signal", "topic"  # kinds of names
_MAX_MESSAGES = 4  # arguments of a call that may be messages
_MAX_MESSAGE_BYTES = 600  # of the arguments of such a call
_MAX_HEAD_BYTES = 3_000  # of a type, before what stands in it
_MAX_LIST_BYTES = 40_000  # of a list of listeners
_MAX_TYPES = 12  # that one mark or list names
_HANDLING_NAMES = ("handle", "execute", "__invoke", "process", "run")  # of the method of a type that is registered


class _Notation(NamedTuple):
    """Forms of messages in the languages of a family.

    `sends` are words, one of which must occur if there are any, with a pattern that ends behind the bracket of a call
    that may send. What may not stand before a call without a receiver is `_NOT_BARE`. `made` fits an argument that
    makes an object. `marks` is an annotation of what handles messages.
    """

    sends: tuple[tuple[tuple[bytes, ...], "re.Pattern[bytes]"], ...]
    made: "re.Pattern[str]"
    marks: "re.Pattern[bytes] | None" = None


# Expressions begin with letters or a mark, which is searched many times as fast as what looks behind.
_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$")
_NOT_BARE = _WORD.union(b".>:")
_FACTORY = r"(?:of|from|create|make|new|for|with)\w*"
_PHP_VERBS = (
    rb"dispatch\w*|notify(?:Now)?|send(?:Now)?|queue|later|publish\w*|job|command|call|callSilent|chain|batch|bulk"
    rb"|record\w*|raise\w*"
)
_NOTATIONS = {
    "java": _Notation(
        (
            (
                (),
                lazy_regex(
                    rb"\.(?P<verb>publish\w*|post|postSticky|fire\w*|send|sendAndWait|dispatch\w*|execute|query"
                    rb"|callEvent|emit\w*)\((?=\s*[A-Za-z])"
                ),
            ),
            (
                (b"registerEvent(", b"apply(", b"raiseEvent(", b"publishEvent("),
                lazy_regex(rb"(?P<verb>registerEvent|apply|raiseEvent|publishEvent)\((?=\s*(?:new\b|[A-Z]))"),
            ),
        ),
        lazy_regex(rf"(?:new\s+)?(?P<type>[A-Z][\w.]*?)(?:<[^()]*>)?(?:\.{_FACTORY})?\("),
        lazy_regex(
            rb"@(?:\w+\.)*(?P<name>EventListener|TransactionalEventListener|ApplicationModuleListener|Subscribe"
            rb"|EventHandler|CommandHandler|QueryHandler|EventSourcingHandler|SagaEventHandler|KafkaHandler"
            rb"|RabbitHandler|DomainEventHandler)\b(?P<open>\s*\()?"
        ),
    ),
    "csharp": _Notation(
        (
            (
                (),
                lazy_regex(
                    rb"\.(?P<verb>(?:Send|Publish|Raise|Dispatch|Execute|Query|Enqueue|Push|Apply|Fire|Emit|Notify)\w*"
                    rb"|(?:Add|Register)\w*Event\w*)(?:<[^()\n]{1,120}>)?\((?=\s*(?:new\b|@?\w+\s*[,)]|[A-Z]\w*\.|this\.|\"))"
                ),
            ),
            (
                (b"Event(", b"EventAsync(", b"Apply(new", b"Raise("),
                lazy_regex(
                    rb"(?P<verb>(?:Add|Raise|Register|Publish|Send|Queue)\w*Event\w*|Apply|Raise)\((?=\s*[A-Za-z])"
                ),
            ),
        ),
        lazy_regex(rf"new\s+(?P<type>[A-Z][\w.]*)|(?P<made>[A-Z]\w*)\.(?i:{_FACTORY})\("),
    ),
    "ecmascript": _Notation(
        (
            (
                (b"ommandBus", b"ueryBus", b"ventBus", b"ispatch", b".publish", b"ediator", b".apply(new"),
                lazy_regex(
                    rb"\.(?P<verb>execute|publish|publishAll|dispatch|send|apply|raise|notify|handle|ask|query)"
                    rb"(?:<[^()\n]{1,120}>)?\((?=\s*[A-Za-z\[])"
                ),
            ),
            (
                (b"addEvent(new", b"addDomainEvent("),
                lazy_regex(rb"\.(?P<verb>addDomainEvent|addEvent)\((?=\s*[A-Za-z])"),
            ),
        ),
        lazy_regex(r"new\s+(?P<type>[A-Z][\w$.]*)"),
        lazy_regex(rb"@(?P<name>CommandHandler|QueryHandler|EventsHandler|EventHandler)\b(?P<open>\s*\()"),
    ),
    "php": _Notation(
        (
            (
                (),
                lazy_regex(
                    rb"->(?P<verb>" + _PHP_VERBS + rb"|(?<=[bB]us->)(?:handle|execute|query|ask)|(?<=ueue->)push)\s*\("
                    rb"(?=\s*[A-Za-z\[$\\])"
                ),
            ),
            (
                (),
                lazy_regex(rb"::(?P<verb>" + _PHP_VERBS + rb"|(?<=ueue::)push)\s*\((?=\s*[A-Za-z\[$\\])"),
            ),
            (
                (b"dispatch(", b"dispatch_", b"event(", b"broadcast("),
                lazy_regex(rb"(?P<verb>dispatch(?:_sync|_now)?|event|broadcast)\((?=\s*[A-Za-z$\\])"),
            ),
        ),
        lazy_regex(
            rf"\(?\s*(?:new\s+\\?(?P<type>[A-Z][\w\\]*)|\\?(?P<made>[A-Z][\w\\]*)::(?:class\b|{_FACTORY}\())"
        ),
    ),
}  # fmt: skip
# What else than handlers of messages has a method that a queue runs when the object is handed to it.
_OWN_METHODS = {
    "php": (
        (re.compile(r"dispatch|job|command|call|chain|batch|bulk|push"), "handle"),
        (
            re.compile(r"notify|send|queue|later"),
            "via|toMail|toDatabase|toBroadcast|toSlack|build|content|envelope",
        ),
    )
}  # fmt: skip
# The base of a handler with the type of what it handles: `IRequestHandler<GetUser, User>`, `Consumer<OrderPaid>`.
_HANDLING_BASE = lazy_regex(
    r"\w*(?:Handl|Consum|Listen|Subscri|Execut|Observ|Process|Receiv)\w*<\s*(?P<type>[A-Z][\w.]*)"
)
_TYPED_BEFORE = lazy_regex(
    r"(?:final\s+|in\s+|val\s+|@\w+(?:\([^()]*\))?\s+|\[[^\]]*\]\s*)*(?P<type>[A-Z][\w.]*)(?:<\s*(?P<inner>[A-Z][\w.]*)[^()]*>)?\??\s+@?\w+"
)
_TYPED_BEHIND = lazy_regex(
    r"(?:@\w+(?:\([^()]*\))?\s+)*\w+\??\s*:\s*(?P<type>[A-Z][\w.]*)(?:<\s*(?P<inner>[A-Z][\w.]*))?"
)
_TYPED_PHP = lazy_regex(
    r"(?:(?:private|protected|public|readonly)\s+)*\??(?P<type>\\?[A-Z][\w\\]*(?:\s*[|]\s*\\?[A-Z][\w\\]*)*)\s+\$"
)
_PHP_HANDLING = lazy_regex(r"handle|__invoke|(?:handle|on|apply|when)[A-Z]\w*")
_PHP_HANDLERS = lazy_regex(r"Handler|Listener|Subscriber|Projector|Reactor|Consumer")  # in the head of a class
_NEXT = lazy_regex(r"\bClosure\b|\bcallable\b|\$next\b")  # a parameter of a middleware
_TYPE_NAMES = lazy_regex(r"\\?([A-Z][\w\\.]*?)(?:::class|\.class|\b(?![\w.(]))")


def read_messages(family: str, source: RouteText, bindings: Sequence[Binding]) -> _Found:
    """Yield the start and fact of each message that may be sent or handled, and of each name that is run or runs."""
    notation = _NOTATIONS.get(family)
    if notation is not None:
        bound = BoundTypes(source, bindings)
        for words, pattern in notation.sends:
            if not words or any(word in source.data for word in words):
                yield from _read_sent(family, pattern, notation.made, source, bound)
        yield from _read_received(family, notation.marks, source)
        if family == "php" and b"::dispatch" in source.data:
            yield from _php_static(source)
    named = _NAMED.get(family)
    if named is not None:
        yield from named(source)


def last_part(name: str) -> str:
    r"""Return the last part of a qualified name.

    >>> last_part(r"App\Events\OrderPaid"), last_part("Create.Command")
    ('OrderPaid', 'Command')
    """
    return re.split(r"[\\.]", name)[-1]


# -- messages by their type


def _read_sent(
    family: str, pattern: "re.Pattern[bytes]", made: "re.Pattern[str]", source: RouteText, bound: BoundTypes
) -> _Found:
    data = source.data
    for match in pattern.finditer(data):
        start = match.start("verb")
        is_bare = start == match.start()
        if (is_bare and start and data[start - 1] in _NOT_BARE) or not source.is_code(start):
            continue
        verb = match["verb"].decode()
        arguments, _ = source.arguments(match.end(), _MAX_MESSAGE_BYTES)
        types: dict[str, None] = {}
        if family == "php" and verb == "dispatch" and len(arguments) > 1 and not _PHP_STAMPS.match(arguments[1].text):
            continue  # sent by a name
        is_argument = family == "php" and match[0].startswith(b"::")  # `Resize::dispatch($photo)` sends a Resize
        for each in arguments[:_MAX_MESSAGES]:
            types.update(dict.fromkeys(_types_made(made, each.text)))
            name = None if is_argument else _NAME.fullmatch(each.text)
            if name is not None and (type_ := bound.type_of(name[1], source.scope(start))):
                types[type_] = None
        methods = next((own for verbs, own in _OWN_METHODS.get(family, ()) if types and verbs.match(verb)), "")
        for type_ in list(types)[:_MAX_TYPES]:
            yield route_at(source, start, RouteForm.SEND, path=type_.replace("\\", "."), name=methods)


def _php_static(source: RouteText) -> _Found:
    """Yield what sends itself: `OrderPaid::dispatch($order)`."""
    for match in source.matches(_PHP_STATIC, "name"):
        type_ = match["name"].decode("utf-8", "replace").replace("\\", ".")
        yield route_at(source, match.start("name"), RouteForm.SEND, path=type_)


_NAME = lazy_regex(r"(?:await\s+)?(\$?\w+(?:(?:\.|->)\w+)?)")
_PHP_STAMPS = lazy_regex(r"\[|new\b|\.\.\.|array\(")  # what a message is sent with
_PHP_STATIC = lazy_regex(rb"(?P<name>[A-Z][\w\\]*)::dispatch\w*\(")


def _types_made(made: "re.Pattern[str]", text: str) -> Iterator[str]:
    """Yield the types that an argument makes objects of, all of a list."""
    found = made.finditer(text) if text.startswith("[") else filter(None, [made.match(text)])
    for match in found:
        yield next(each for name, each in match.groupdict().items() if each is not None and name in ("type", "made"))


def _read_received(family: str, marks: "re.Pattern[bytes] | None", source: RouteText) -> _Found:
    definitions = source.definitions
    handled = _types_of_bases(source)
    for number, each in enumerate(definitions if handled or family == "php" else ()):
        if each.kind not in CALLABLE_KINDS or each.parent < 0:
            continue
        types = handled.get(each.parent, ())
        if not types and (family != "php" or not _handles_in_php(source, each)):
            continue
        for type_ in _types_of_parameter(family, each.signature, each.name):
            if family == "php" or last_part(type_) in types:
                yield _make_receiving(source, number, type_)
    for match in source.matches(marks, "name") if marks is not None else ():
        owner = source.owner_at(match.start())
        if owner < 0:
            continue
        arguments = source.arguments(match.end())[0] if match["open"] else []
        said = [name for each in arguments for name in _TYPE_NAMES.findall(re.sub(r"^\w+\s*=\s*", "", each.text))]
        if definitions[owner].kind not in TYPE_KINDS:
            own = _types_of_parameter(family, definitions[owner].signature, definitions[owner].name)
            for type_ in dict.fromkeys([*(own or said), *(said if family == "java" else ())]):
                yield _make_receiving(source, owner, type_)
            continue
        method = _find_handling(source, owner)
        for type_ in said[:_MAX_TYPES] if method >= 0 else ():
            yield _make_receiving(source, method, type_)
    if family == "java" and b"@Observes" in source.data:
        for number, each in enumerate(definitions):
            inside = re.search(r"@Observes(?:Async)?(?:\([^()]*\))?\s+(.*)", each.signature, re.DOTALL)
            if inside and each.kind in CALLABLE_KINDS:
                for type_ in _types_of_parameter(family, f"{each.name}({inside[1]}", each.name):
                    yield _make_receiving(source, number, type_)


def _find_handling(source: RouteText, owner: int) -> int:
    """Return the method of a type that a framework calls, or -1."""
    return next((n for name in _HANDLING_NAMES if (n := source.members.get((owner, name), -1)) >= 0), -1)


def _handles_in_php(source: RouteText, method: Definition) -> bool:
    """Return True for a method with a name that frameworks call for a message of the type of its first parameter."""
    if method.name[0] not in "hoaw_" or not _PHP_HANDLING.fullmatch(method.name):
        return False
    if method.name != "handle" and method.signature.count("$") != 1:
        return False
    owner = source.definitions[method.parent]
    return method.name != "__invoke" or bool(
        _PHP_HANDLERS.search(source.text(owner.start_byte, owner.end_byte).partition("{")[0])
    )


_TYPE_PARAMETER = lazy_regex(r"[A-Z]\d?|T[A-Z]\w*")


def _make_receiving(source: RouteText, definition: int, type_: str) -> tuple[int, RouteFact]:
    own = source.definitions[definition]
    return route_at(
        source, own.start_byte, RouteForm.RECEIVE, path=type_.lstrip("\\").replace("\\", "."), definition=definition,
        scope=own.parent,
    )  # fmt: skip


def _types_of_bases(source: RouteText) -> dict[int, set[str]]:
    """Return the last names of the types that bases say a type handles, by its number."""
    handled: dict[int, set[str]] = {}
    for number, each in enumerate(source.definitions):
        if each.kind in TYPE_KINDS and "<" in each.signature:
            head = each.signature
            if head.endswith("…"):
                head = source.text(each.start_byte, min(each.end_byte, each.start_byte + _MAX_HEAD_BYTES))
                head = head[head.find(each.name) :].partition("{")[0]
            types = {last_part(match["type"]) for match in _HANDLING_BASE.finditer(head)}
            types = {type_ for type_ in types if not _TYPE_PARAMETER.fullmatch(type_)}
            if types:
                handled[number] = types
    return handled


def _types_of_parameter(family: str, signature: str, name: str) -> list[str]:
    """Return the types that the first parameter of a function may have, of its container as well.

    >>> _types_of_parameter("csharp", "Task Consume(ConsumeContext<OrderPaid> context)", "Consume")
    ['ConsumeContext', 'OrderPaid']
    >>> _types_of_parameter("php", "function handle(Paid|Refused $event)", "handle")
    ['Paid', 'Refused']
    """
    inside = signature.partition(f"{name}(")[2]
    if family == "php":
        match = _TYPED_PHP.match(inside.strip())
        is_next = _NEXT.search(inside) is not None
        return [] if match is None or is_next else [each.strip() for each in match["type"].split("|")]
    forms = (_TYPED_BEHIND, _TYPED_BEFORE) if family in ("ecmascript", "java") else (_TYPED_BEFORE,)
    match = next((found for form in forms if (found := form.match(inside.strip()))), None)
    return [] if match is None else [each for each in (match["type"], match["inner"]) if each]


# -- names: PHP

_PHP_COMMAND = lazy_regex(
    rb"\$(?:signature|name|defaultName)\s*=\s*['\"]\s*(?P<name>[\w:.-]+)|#\[(?:\w+\\)*AsCommand\(\s*(?:name:\s*)?['\"](?P<said>[\w:.-]+)"
    rb"|->setName\(\s*['\"](?P<set>[\w:.-]+)"
)
_PHP_RUN = lazy_regex(
    rb"(?:\bArtisan::(?:call|queue)|(?:->|Schedule::)command|->(?:call|callSilent|callSilently|artisan))\(\s*['\"](?P<name>[\w.-]*:?[\w:.-]+)"
)
_PHP_LISTENED = lazy_regex(rb"\$(?P<name>listen|observers)\s*=\s*\[")
_PHP_PAIRS = lazy_regex(
    r"(?P<key>\\?[A-Z][\w\\]*::\w+|['\"][\w.:\\*-]+['\"])\s*=>\s*(?P<values>\[(?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*\]|[^,\]]+)"
)
_PHP_LISTENER = lazy_regex(
    r"\\?([A-Z][\w\\]*)::class(?:\s*,\s*['\"](\w+)['\"]\s*\])?|['\"]\\?([A-Z][\w\\]*)@(\w+)['\"]"
)
_PHP_OBSERVE = lazy_regex(rb"(?P<type>[A-Z][\w\\]*)::observe\(|#\[(?P<by>ObservedBy)\(")
_PHP_LISTENING = lazy_regex(rb"(?:Event::|->)(?P<verb>listen|addListener)\(")
_PHP_NAMED_EVENT = lazy_regex(rb"(?P<verb>dispatch|fire|until|event)\(")
MODEL_EVENTS = (
    "retrieved|creating|created|updating|updated|saving|saved|deleting|deleted|trashed|forceDeleting|forceDeleted"
    "|restoring|restored|replicating"
)


def _php_names(source: RouteText) -> _Found:
    data, definitions = source.data, source.definitions
    yield from read_wired(source)
    if b"ommand" in data or b"artisan" in data or b"->call(" in data:
        for match in _PHP_COMMAND.finditer(data):
            byte = match.start()
            owner = source.owner_at(byte) if match["said"] else _type_around(source, source.scope(byte))
            method = _find_handling(source, owner)
            if owner >= 0 and definitions[owner].kind in TYPE_KINDS and method >= 0:
                name = (match["name"] or match["said"] or match["set"]).decode("utf-8", "replace")
                yield route_at(
                    source, definitions[method].start_byte, RouteForm.LISTEN, path=name, definition=method,
                    scope=owner, name=COMMAND,
                )  # fmt: skip
        is_run = any(word in data for word in (b"Artisan::", b"ommand(", b"->call", b"->artisan("))
        for match in source.matches(_PHP_RUN) if is_run else ():
            name = match["name"].decode("utf-8", "replace")
            yield route_at(source, match.start("name"), RouteForm.EMIT, path=name, name=COMMAND)
    for match in source.matches(_PHP_LISTENED) if b"$listen" in data or b"$observers" in data else ():
        end = source.arguments(match.end(), _MAX_LIST_BYTES)[1]
        text = source.text(match.end(), end)
        form = RouteForm.RECEIVE if match["name"] == b"listen" else RouteForm.OBSERVE
        for pair in _PHP_PAIRS.finditer(text):
            byte = match.end() + len(text[: pair.start()].encode())
            yield from _php_listeners(source, byte, form, pair["key"], pair["values"])
    if b"getSubscribedEvents" in data:
        yield from _php_subscribed(source)
    for match in source.matches(_PHP_OBSERVE) if b"bserve" in data else ():
        arguments, _ = source.arguments(match.end())
        owner = source.owner_at(match.start("by")) if match["by"] else -1
        type_ = match["type"].decode("utf-8", "replace") if match["type"] else owner >= 0 and definitions[owner].name
        if arguments and type_:
            yield from _php_listeners(source, match.start(), RouteForm.OBSERVE, f"{type_}::class", arguments[0].text)
    for match in source.matches(_PHP_LISTENING, "verb") if b"isten" in data else ():
        arguments, _ = source.arguments(match.end())
        if len(arguments) > 1:
            yield from _php_listeners(source, match.start(), RouteForm.RECEIVE, arguments[0].text, arguments[1].text)
    is_named = b"dispatch(" in data or b"event(" in data or b"fire(" in data
    for match in _PHP_NAMED_EVENT.finditer(data) if is_named else ():
        if data[match.start() - 1] in _WORD or not source.is_code(match.start()):
            continue
        for each in source.arguments(match.end())[0][:2]:
            if name := _php_event(each.text):
                yield route_at(source, match.start(), RouteForm.EMIT, path=name)


def _php_event(text: str) -> str:
    """Return the name of an event that is a string or a constant of a class, else ""."""
    constant = re.fullmatch(r"\\?(?:\w+\\)*([A-Z]\w*)::([A-Z][A-Z\d_]+)", text)
    name = f"{constant[1]}.{constant[2]}" if constant else literal(text) or ""
    return name if re.fullmatch(r"[\w.:-]{4,80}", name) and not name.startswith(("kernel.", "console.")) else ""


def _php_listeners(source: RouteText, byte: int, form: RouteForm, key: str, values: str) -> _Found:
    """Yield a fact for each listener that a key has: of a class, or of an event by its name."""
    is_type = key.endswith("::class")
    name = key.strip("\\'\"").removesuffix("::class").replace("\\", ".") if is_type else _php_event(key)
    for type_, method, other, at in _PHP_LISTENER.findall(values) if name else ():
        owner = (type_ or other).replace("\\", ".").rpartition(".")[2]
        if form == RouteForm.OBSERVE:
            yield route_at(source, byte, form, path=name, handler=owner, name=MODEL_EVENTS)
        else:
            handler = f"{owner}.{method or at or 'handle'}"
            form = RouteForm.RECEIVE if is_type else RouteForm.LISTEN
            yield route_at(source, byte, form, path=name, handler=handler)


def _php_subscribed(source: RouteText) -> _Found:
    definitions = source.definitions
    for each in definitions:
        if each.name != "getSubscribedEvents" or each.parent < 0:
            continue
        for pair in _PHP_PAIRS.finditer(
            source.text(each.start_byte, min(each.end_byte, each.start_byte + _MAX_LIST_BYTES))
        ):
            is_type = pair["key"].endswith("::class")
            key = (
                pair["key"].strip("\\").removesuffix("::class").replace("\\", ".")
                if is_type
                else _php_event(pair["key"])
            )
            for name in re.findall(r"""['"](\w+)['"]""", pair["values"]) if key else ():
                if (method := source.members.get((each.parent, name), -1)) >= 0:
                    form = RouteForm.RECEIVE if is_type else RouteForm.LISTEN
                    start = definitions[method].start_byte
                    yield route_at(source, start, form, path=key, definition=method, scope=each.parent)


def _type_around(source: RouteText, scope: int) -> int:
    while scope >= 0 and source.definitions[scope].kind not in TYPE_KINDS:
        scope = source.definitions[scope].parent
    return scope


# -- names: Python

_PY_TASK = lazy_regex(rb"@(?:\w+\.)*(?:shared_task|task|periodic_task|actor)\(")
_PY_SENT_TASK = lazy_regex(rb"\b(?P<verb>send_task|signature|subtask|s)\(\s*['\"](?P<name>[\w.:-]+)['\"]")
_PY_RECEIVER = lazy_regex(rb"@(?:\w+\.)?receiver\(")
_PY_CONNECT = lazy_regex(rb"\.(?P<verb>connect|send|send_robust|asend|asend_robust)\(")
_PY_RUN_COMMAND = lazy_regex(rb"\bcall_command\(\s*['\"](?P<name>\w+)['\"]")
_SAVING = frozenset({"pre_save", "post_save", "pre_delete", "post_delete", "m2m_changed", "pre_init", "post_init"})


def _python_names(source: RouteText) -> _Found:
    data, definitions = source.data, source.definitions
    for match in source.matches(_PY_TASK) if b"name=" in data and (b"task" in data or b"actor" in data) else ():
        owner, arguments = source.owner_at(match.start()), source.arguments(match.end())[0]
        name = source.literal(keyword(arguments, "name", "actor_name") or "")
        if owner >= 0 and name:
            yield route_at(
                source, match.start(), RouteForm.LISTEN, path=name, definition=owner, scope=definitions[owner].parent,
                name=TASK,
            )  # fmt: skip
    for match in source.matches(_PY_SENT_TASK, "verb") if b"task(" in data or b"signature(" in data else ():
        name = match["name"].decode()
        yield route_at(source, match.start("verb"), RouteForm.EMIT, path=name, name=TASK)
    for match in source.matches(_PY_RUN_COMMAND) if b"call_command(" in data else ():
        yield route_at(source, match.start(), RouteForm.EMIT, path=match["name"].decode(), name=COMMAND)
    for match in source.matches(_PY_RECEIVER) if b"receiver(" in data else ():
        owner, arguments = source.owner_at(match.start()), source.arguments(match.end())[0]
        if owner >= 0 and arguments:
            signals = keyword(arguments, "signal") or arguments[0].text
            yield from _py_receiver(source, match.start(), signals, arguments, owner, "")
    if b".connect(" not in data and b".send" not in data and b".asend(" not in data:
        return
    for call in source.calls(_PY_CONNECT):
        arguments, _ = source.arguments(call.arguments)
        signal = call.receiver.rpartition(".")[2]
        if not arguments or signal == ")" or not source.is_code(call.name):
            continue
        if call.verb == "connect":
            handler = chain(keyword(arguments, "receiver") or arguments[0].text)
            if handler and "(" not in arguments[0].text:
                yield from _py_receiver(source, call.start, signal, arguments, -1, handler)
        elif keyword(arguments, "sender") or arguments[0].text in ("self", "self.__class__", "cls"):
            yield route_at(source, call.start, RouteForm.EMIT, path=signal, name=SIGNAL)


def _py_receiver(
    source: RouteText, byte: int, signals: str, arguments: Sequence[Argument], definition: int, handler: str
) -> _Found:
    """Yield what handles signals, those of models as what observes the type that sends them."""
    scope = source.definitions[definition].parent if definition >= 0 else source.scope(byte)
    sender = keyword(arguments, "sender") or ""
    for each in re.findall(r"[A-Za-z_][\w.]*", signals)[:_MAX_TYPES]:
        name = each.rpartition(".")[2]
        if name not in _SAVING:
            yield route_at(
                source, byte, RouteForm.LISTEN, path=name, definition=definition, handler=handler, scope=scope,
                name=SIGNAL,
            )  # fmt: skip
        elif type_ := chain(sender) or literal(sender):
            yield route_at(
                source, byte, RouteForm.OBSERVE, path=type_.removesuffix(".through"), definition=definition,
                handler=handler, scope=scope,
            )  # fmt: skip


# -- names: JavaScript, Java, Ruby and Go

_JS_MARK = lazy_regex(rb"@(?P<name>OnEvent|Process|MessagePattern|EventPattern)\(")
_JS_CHANNELS = {"OnEvent": "", "Process": JOB, "MessagePattern": TOPIC, "EventPattern": TOPIC}
_JS_QUEUED = lazy_regex(rb"\.(?P<verb>add)\((?=\s*(?:['\"`]|[A-Z]))")
_JS_CONSTANT = lazy_regex(
    rb"\.(?P<verb>emit|emitAsync|on|once|addListener)\((?=\s*(?P<name>[A-Z]\w*(?:\.[A-Za-z_]\w*)+|[A-Z][A-Z\d]*_[A-Z\d_]+)(?:\(\))?\s*[,)])"
)
_JS_PROCESS = lazy_regex(rb"\bipc(?P<side>Main|Renderer)\.(?:handle|handleOnce|on|once)\(")
_JS_ASYNC = lazy_regex(rb"\.(?P<verb>emitAsync)\(\s*(?P<name>['\"`][\w.:-]+['\"`])")


def _read_name(text: str) -> str:
    """Return the text of a literal, or the last two parts of the name of a constant.

    >>> _read_name("'order.paid'"), _read_name("events.OrderEvents.PAID")
    ('order.paid', 'OrderEvents.PAID')
    """
    said = literal(text)
    return ".".join(chain(text).split(".")[-2:]) if said is None else said


def _js_names(source: RouteText) -> _Found:
    data = source.data
    yield from actions_and_stores(source)
    yield from read_process_calls(source)
    if b"@OnEvent" in data or b"@Process(" in data or b"Pattern(" in data:
        for match in source.matches(_JS_MARK, "name"):
            owner, arguments = source.owner_at(match.start()), source.arguments(match.end())[0]
            name = _read_name(arguments[0].text) if arguments else ""
            if owner >= 0 and name:
                yield route_at(
                    source, match.start(), RouteForm.LISTEN, path=name, definition=owner,
                    scope=source.definitions[owner].parent, name=_JS_CHANNELS[match["name"].decode()],
                )  # fmt: skip
    for match in source.matches(_JS_PROCESS) if b"ipcMain" in data or b"ipcRenderer" in data else ():
        arguments = source.arguments(match.end())[0]
        if len(arguments) > 1 and (said := literal(arguments[0].text)):
            channel = PROCESS if match["side"] == b"Main" else f"{PROCESS}:page"
            yield _listening(source, match.start(), arguments[1], said, channel)
    for call in source.calls(_JS_QUEUED) if b"ueue" in data else ():
        if "queue" in call.receiver.lower() and source.is_code(call.name):
            arguments, _ = source.arguments(call.arguments)
            if len(arguments) > 1 and (name := _read_name(arguments[0].text)):
                yield route_at(source, call.name, RouteForm.EMIT, path=name, name=JOB)
    for pattern in (_JS_CONSTANT, _JS_ASYNC) if b".emit" in data or b".on(" in data else ():
        for match in source.matches(pattern, "verb"):
            name = _read_name(match["name"].decode("utf-8", "replace"))
            if match["verb"].startswith(b"emit"):
                yield route_at(source, match.start("verb"), RouteForm.EMIT, path=name)
            elif name and len(arguments := source.arguments(match.end())[0]) > 1:
                yield _listening(source, match.start("verb"), arguments[1], name)


def _listening(source: RouteText, byte: int, argument: Argument, name: str, channel: str = "") -> tuple[int, RouteFact]:
    """Return a fact with what handles a name: the function that an argument is, or the chain that names one."""
    handler = chain(argument.text) if re.fullmatch(r"[\w$.:]+", argument.text) else ""
    inner = source.scope(argument.start)
    is_inside = inner >= 0 and source.definitions[inner].start_byte >= byte - 200 and not handler
    return route_at(
        source, byte, RouteForm.LISTEN, path=name, handler=handler, definition=inner if is_inside else -1, name=channel,
        scope=source.scope(byte),
    )  # fmt: skip


_JAVA_TOPIC = lazy_regex(rb"@(?P<name>KafkaListener|RabbitListener|JmsListener|SqsListener|StreamListener)\(")
_JAVA_SENT = lazy_regex(rb"\.(?P<verb>send|convertAndSend|sendDefault)\(")
_JAVA_SENDER = lazy_regex(r"kafka|rabbit|jms|amqp|sqs|template|producer", re.IGNORECASE)


def _java_names(source: RouteText) -> _Found:
    data = source.data
    for match in source.matches(_JAVA_TOPIC, "name") if b"Listener(" in data else ():
        owner, arguments = source.owner_at(match.start()), source.arguments(match.end())[0]
        given = keyword(arguments, "topics", "queues", "destination", "value") or (
            arguments[0].text if arguments else ""
        )
        for text in re.findall(r'"[^"\n]+"|[A-Za-z_][\w.]*', given):
            if owner >= 0 and (name := _read_name(text)):
                yield route_at(
                    source, match.start(), RouteForm.LISTEN, path=name, definition=owner,
                    scope=source.definitions[owner].parent, name=TOPIC,
                )  # fmt: skip
    is_sending = any(word in data for word in (b".send(", b".convertAndSend(", b".sendDefault("))
    for call in source.calls(_JAVA_SENT) if is_sending else ():
        if _JAVA_SENDER.search(call.receiver) and source.is_code(call.name):
            for each in source.arguments(call.arguments)[0][:2]:
                if name := _read_name(each.text):
                    yield route_at(source, call.name, RouteForm.EMIT, path=name, name=TOPIC)


_RB_EVENT = lazy_regex(
    rb"\b(?:(?P<emit>instrument|publish_event|publish|broadcast)|(?P<listen>subscribe|subscribes_to|on))[ (]\s*"
    rb"['\"](?P<name>\w+[.:/][\w.:/]+)['\"](?P<rest>[^\n]*)"
)


def _ruby_names(source: RouteText) -> _Found:
    data = source.data
    yield from read_actions(source)
    if not any(word in data for word in (b"instrument", b"publish", b"broadcast", b"subscribe")):
        return
    for match in source.matches(_RB_EVENT):
        name, byte = match["name"].decode("utf-8", "replace"), match.start()
        if match["emit"]:
            yield route_at(source, byte, RouteForm.EMIT, path=name)
            continue
        method = re.match(rb"\s*,\s*:(\w+[?!]?)", match["rest"])
        owner = _type_around(source, source.scope(byte))
        named = source.members.get((owner, method[1].decode()), -1) if method else -1
        if named >= 0 or not method:
            yield route_at(source, byte, RouteForm.LISTEN, path=name, definition=named)


_GO_EVENT = lazy_regex(
    rb"\.(?P<verb>Subscribe(?:Async|Once)?|Publish|Emit|On|AddListener)\(\s*(?P<name>\"[\w.:/-]+\"|(?:\w+\.)?[A-Z]\w*)\s*,"
)


def _go_names(source: RouteText) -> _Found:
    yield from read_channels(source)
    for match in source.matches(_GO_EVENT, "verb") if b"ublish(" in source.data or b"ubscribe" in source.data else ():
        name, verb = _read_name(match["name"].decode("utf-8", "replace")), match["verb"]
        if verb in (b"Publish", b"Emit"):
            yield route_at(source, match.start("verb"), RouteForm.EMIT, path=name)
            continue
        arguments, _ = source.arguments(match.start("name"))
        handler = next((each for each in arguments[1:] if re.fullmatch(r"[\w.]+", each.text)), None)
        if handler is not None:
            yield _listening(source, match.start("verb"), handler, name)


_NAMED = {
    "php": _php_names, "python": _python_names, "ecmascript": _js_names, "java": _java_names, "ruby": _ruby_names,
    "go": _go_names, "csharp": read_events, "elixir": read_live_events, "rust": read_commands,
}  # fmt: skip
