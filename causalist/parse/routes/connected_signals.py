"""Signals and events to which code connects functions, and what templates, settings and queries name of the code.

In: the text of a file. Out: facts of what emits a signal or event and of what is connected to one. Those of Qt have the
type that has the signal, where the code says it. `graph.relations.message_handlers` joins them. Routes and prefixes
that settings of Symfony say, and references to relations that queries of Laravel name.

A template names a function in the form of its framework: `wire:click="save"`, `data-action="click->menu#open"`. Such a
fact is an `EMIT` with the framework as the kind of its name; `graph.relations.route_conventions` knows the type meant.
"""

import re
from collections.abc import Iterator

from causalist._internal.lazy import lazy_regex
from causalist.model.facts import MODULE_SCOPE, Reference, RouteFact, RouteForm
from causalist.model.node_ids import CALLABLE_KINDS
from causalist.parse.cleaned_text import RAILS_TEMPLATES
from causalist.parse.routes.searched_text import (
    ANY,
    PY_LINK,
    RouteText,
    linked_name,
    rails_links,
    requested_path,
    route_at,
)

SLOT, DELEGATE = "slot", "delegate"  # kinds of names: signals of Qt, events of C#
_QT_EMITTED = lazy_regex(
    rb"\b(?:emit|Q_EMIT)\s+(?P<of>(?:[A-Za-z_][\w:]*(?:\(\))?(?:->|\.))*+)(?P<name>[A-Za-z_]\w*)\("
)
_QT_CONNECTED = lazy_regex(rb"\bconnect\(")
_QT_MEMBER = lazy_regex(
    r"(?:\w+(?:<[^<>]*>)?(?:::of)?\()?&(?:\w+::)*(?P<type>\w+)::(?P<name>\w+)|(?P<form>SIGNAL|SLOT)\(\s*(?P<named>\w+)"
)
# Signals of the library: where the type of the sender is not stated, it is rarely one of the repository.
_QT_PLATFORM = lazy_regex(
    "accepted|activated|changed|clicked|currentIndexChanged|destroyed|editingFinished|error|finished|pressed|readyRead"
    "|rejected|released|returnPressed|started|stateChanged|textChanged|timeout|toggled|triggered|valueChanged"
)


def read_signals(source: RouteText) -> Iterator[tuple[int, RouteFact]]:
    """Yield what is connected to signals of Qt, and where these are emitted; the receiver is the type of the signal."""
    data = source.data
    for match in source.matches(_QT_EMITTED, "name") if b"emit" in data or b"Q_EMIT" in data else ():
        own = _class_around(source, match.start()) if match["of"] in (b"", b"this->") else ""
        name = match["name"].decode()
        yield route_at(source, match.start(), RouteForm.EMIT, receiver=own, path=name, name=SLOT)
    for match in source.matches(_QT_CONNECTED) if b"SIGNAL(" in data or b"::" in data else ():
        arguments = [each for each in source.arguments(match.end())[0] if not each.text.startswith("Qt::")]
        signal = _QT_MEMBER.match(arguments[1].text) if len(arguments) > 2 else None
        if signal is None or signal["form"] == "SLOT":
            continue
        own = _class_around(source, match.start())
        type_ = signal["type"] or (own if arguments[0].text == "this" else "")
        slot = _QT_MEMBER.match(arguments[-1].text)
        if slot is not None and slot["form"]:
            is_own = slot["form"] == "SLOT" and (len(arguments) == 3 or arguments[2].text == "this")
            handler = f"{own}.{slot['named']}" if is_own and own else ""
        else:
            handler = f"{slot['type']}.{slot['name']}" if slot is not None else ""
        name = signal["name"] or signal["named"]
        if (handler or arguments[-1].text.startswith("[")) and (type_ or not _QT_PLATFORM.fullmatch(name)):
            yield route_at(
                source, match.start(), RouteForm.LISTEN, receiver=type_, path=name, handler=handler, name=SLOT
            )


def _class_around(source: RouteText, byte: int) -> str:
    scope = source.scope(byte)
    return source.definitions[scope].qualname.rpartition(".")[0].rpartition(".")[2] if scope >= 0 else ""


_CS_CONNECTED = lazy_regex(rb"\+=\s*(?:new\s+[\w.<>?]+\()?(?P<handler>(?:this\.)?(?:[A-Z]|[a-z]\w*_)[\w.]*)\)?\s*;")
_CS_INVOKED = lazy_regex(rb"\.Invoke\(")
_CS_NAME = lazy_regex(rb"(?<![\w])(?P<name>[A-Z]\w*)\s*\??$")
_MAX_NAME_BYTES = 100
# Events of windows and timers: handlers of the same name have nothing to do with each other.
_CS_PLATFORM = frozenset(
    b"Activated Click Closed Closing CollectionChanged Deactivated Disposed Elapsed Exited Load Loaded PropertyChanged"
    b" Shown TextChanged Tick Unloaded ValueChanged".split()
)


def read_events(source: RouteText) -> Iterator[tuple[int, RouteFact]]:
    """Yield what is connected to events, and where these are invoked."""
    data = source.data
    for pattern, form in ((_CS_CONNECTED, RouteForm.LISTEN), (_CS_INVOKED, RouteForm.EMIT)):
        for match in pattern.finditer(data):
            named = _CS_NAME.search(data[max(0, match.start() - _MAX_NAME_BYTES) : match.start()])
            if named is None or named["name"] in _CS_PLATFORM or not source.is_code(match.start()):
                continue
            handler = match["handler"].decode("utf-8", "replace") if form == RouteForm.LISTEN else ""
            yield route_at(
                source, match.start(), form, path=named["name"].decode(), handler=handler.removeprefix("this."),
                name=DELEGATE,
            )  # fmt: skip


# -- relations that queries name

_RELATED = lazy_regex(
    rb"(?:::|->)\s*(?P<verb>with(?:Count|WhereHas)?|(?:or)?[wW]here(?:Doesnt)?Has|whereRelation|(?:doesnt)?[hH]ave|has"
    rb"|load(?:Missing|Count)?)\(\s*(?=[\[\"'])"
)
_RELATING = (b">with", b":with", b"hereHas(", b"tHave(", b">has(", b":has(", b">load", b"whereRel")  # a call has one
_QUERIED = lazy_regex(r"(?<![\w$>:\\])(?:\\?(?:\w+\\)*(?P<type>[A-Z]\w*)::|(?P<variable>\$\w+)->(?=$))")
_RELATION = lazy_regex(r"""[\[,(]\s*["'](?P<name>[a-z]\w*)[\w.:, ]*["']""")
_MAX_QUERY_BYTES = 1_500  # of the calls before one that names relations


def read_relations(source: RouteText) -> Iterator[Reference]:
    """Yield what queries of Laravel name of the model that they begin with: `Shop::query()->with('doors')`."""
    for match in source.matches(_RELATED, "verb") if any(word in source.data for word in _RELATING) else ():
        before = re.split(r"[;{}]", source.text(max(0, match.start() - _MAX_QUERY_BYTES), match.start("verb")))[-1]
        roots = list(_QUERIED.finditer(before))
        between = before[roots[-1].end() :] if roots else "("
        arguments, _ = source.arguments(match.end())
        if between.count("(") != between.count(")") or not arguments:
            continue
        is_several = match["verb"].startswith((b"with", b"load")) and match["verb"] != b"withWhereHas"
        text = "(" + ",".join(each.text for each in (arguments if is_several else arguments[:1]))
        root = roots[-1]["type"] or roots[-1]["variable"]
        for relation in _RELATION.finditer(text):
            yield Reference(source.scope(match.start()), f"{root}.{relation['name']}", source.row(match.start()))


# -- what templates, scenes and pages name

SCENE, PAGE, WIRE, ACTION, LIVE, HELPER, PROCESS = "scene", "page", "wire", "stimulus", "live", "helper", "process"
SERVER = "server"
_TEMPLATE_LINK = lazy_regex(rb"\{%-?\s*(?P<verb>url)\s+[\"'](?P<name>[\w.:-]+)[\"']")
_CONNECTION = lazy_regex(rb"^\[connection\b(?P<rest>[^\n]*)", re.MULTILINE)
_QUOTED = lazy_regex(rb"\b(\w+)=\"([^\"]*)\"")
_TAG = lazy_regex(
    rb"<!--.*?-->|<(?P<close>/)?(?P<name>[\w.:]+)(?P<rest>(?:[^<>\"'/]|/(?!>)|\"[^\"]*\"|'[^']*')*+)(?P<alone>/)?>",
    re.DOTALL,
)
_ATTRIBUTE = lazy_regex(rb"(?P<name>[\w.:]+)\s*=\s*(?:\"(?P<value>[^\"]*)\"|'(?P<other>[^']*)')")
_DATA_TYPE = lazy_regex(rb"(?:\{x:Type\s+)?(?:\w+:)?([A-Z]\w*)\}?")
_DESIGNED = lazy_regex(rb"\{d:Design(?:Instance|Data)[\w\s=]*?(?:\w+:)?([A-Z]\w*)\b.*")
_NOTHING = lazy_regex(rb"(?!)()")
_SHOWN = {b"x:DataType": _DATA_TYPE, b"DataType": _DATA_TYPE, b"d:DataContext": _DESIGNED}  # attributes that say a type
_BOUND = lazy_regex(
    rb"\{(?P<form>Binding|CompiledBinding|ReflectionBinding|x:Bind)\s+!*(?:Path=)?!*(?P<path>[A-Za-z_]\w*)(?![\w\s]*=)"
)
_BOUND_ABOVE = lazy_regex(rb"\(\((?:\w+:)?(?P<type>[A-Z]\w*)\)(?:\w+\.)*DataContext\)\.(?P<path>[A-Za-z_]\w*)")
_ELSEWHERE = (b"ElementName", b"RelativeSource", b"Source=", b"$parent", b"$self")  # another object than the data
_EVENT = lazy_regex(
    rb"(?:\w+\.)?\w*(?:Click|Loaded|Changed|Pressed|Released|Tapped|Open(?:ed|ing)|Clos(?:ed|ing)|Down|Up|Enter(?:ed)?|Leave"
    rb"|Exited|Drop|Focus|Completed|Invoked|Requested|Executed|[cC]hecked|Initialized|Move|Wheel|Activated|Selected"
    rb"|Started|Finished)"
)
_METHOD = lazy_regex(rb"[A-Za-z_]\w*")
_WIRED = lazy_regex(
    rb"wire:(?!model|key|loading|target|ignore|navigate|dirty|offline|transition|id|snapshot|cloak|current|stream|replace"
    rb"|confirm|show|text|bind|ref|sort:|effects|initial)[\w.-]+\s*=\s*[\"'](?P<name>[A-Za-z_]\w*)(?=[\"'(;\s])|\$wire\.(?P<called>[a-z_]\w*)\("
)
# Expressions begin with letters or marks, which is searched many times as fast as what looks behind.
_ACTIONS = (
    (b"->", lazy_regex(rb"->(?<=[\w.:@\]+-]->)(?P<name>[a-z][a-z0-9_-]*#[a-z_]\w*)")),
    (b"action", lazy_regex(rb"action(?:=|:\s*|[\"']\s*=>\s*)[\"'](?P<name>[a-z][a-z0-9_-]*#[a-z_]\w*)")),
    (b"data-controller=", lazy_regex(rb"data-controller=[\"'](?P<name>[a-z][a-z0-9_ -]*)[\"']")),
)
_LIVE_EVENT = lazy_regex(
    rb"\bphx-(?!value|update|hook|target|debounce|throttle|ref|page|track|feedback|disable|mounted|remove|connected"
    rb"|disconnected)[a-z-]+=\{?\s*\"(?P<name>[\w.:-]+)\"|\bJS\.push\((?:[^\"()\n]*,\s*)?\"(?P<pushed>[\w.:-]+)\""
)
_LIVE_HANDLER = lazy_regex(rb"\bdef handle_event\(\s*\"(?P<name>[^\"\n]+)\"")
_SERVER_CALL = lazy_regex(
    rb"(?P<piped>\|>\s*)?\b(?:GenServer\.(?P<how>call|cast)|send|Process\.send_after)\((?=(?P<own>self\(\))?)"
)
_SERVER_HANDLER = lazy_regex(rb"\bdef handle_(?P<how>call|cast|info)\(\s*\{?\s*:(?P<tag>\w+[?!]?)")
_MESSAGE_TAG = lazy_regex(r"\{?\s*:(\w+[?!]?)\s*(?:,|\}|$)")
_MODULE_NAME = lazy_regex(r"[A-Z][\w.]*")
_WORDS_OF_CODE = lazy_regex(
    rb"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|(?<![\w.:@$])(?P<word>[a-z_]\w*[?!]?)(?![\w:]|\s*=[^=~>])"
)
_KEYWORDS = frozenset(
    b"if unless else elsif end do while until for in and or not nil true false case when then yield self super begin"
    b" rescue".split()
)
_SHORT = lazy_regex(rb"^[ \t]*(?:[%.#][\w.#%-]*(?:\{[^}\n]*\}|\([^)\n]*\))?)?[=-][ \t]*(?P<code>[^\n]*)$", re.MULTILINE)
_BOUND_IN_BLOCK = lazy_regex(rb"\|([a-z_][\w, ]*)\||^[ \t]*(?:<%-?|-)?[ \t]*([a-z_]\w*) = ", re.MULTILINE)
_GIVEN = lazy_regex(rb"\(| +(?:[\"':@\[]|(?!(?:if|unless|and|or|do|in|end|then)\b)[A-Za-z_])")  # arguments of a call
_MAX_HELPERS = 400  # words of one template


def _code_between_marks(data: bytes) -> list[tuple[int, int]]:
    """Return where the Ruby in a template starts and ends, without its comments.

    >>> _code_between_marks(b"<% a %><%# b %><%= c %><% d")
    [(2, 5), (17, 21)]
    """
    spans, start = list[tuple[int, int]](), data.find(b"<%")
    while start >= 0:
        if data[start + 2 : start + 3] == b"#":
            start = data.find(b"<%", start + 2)
            continue
        end = data.find(b"%>", start + 2)
        if end < 0:
            break
        spans.append((start + 2, end))
        start = data.find(b"<%", end + 2)
    return spans


def read_template_links(path: str, data: bytes) -> tuple[RouteFact, ...]:
    """Return the names of routes that a template asks the paths of, and what it names of the code.

    Templates are those of Django, Jinja, ERB, Haml or Slim; scenes of Godot and pages in XAML count as such.
    """
    links = [
        (match.start(), RouteFact(MODULE_SCOPE, RouteForm.LINK, "", "", linked_name(match), "", -1, 0))
        for pattern, word in ((_TEMPLATE_LINK, b"{%"), (PY_LINK, b"url_for"))
        for match in (pattern.finditer(data) if word in data and b"{" in data else ())
    ]
    spans = [(0, len(data))] if path.lower().endswith(RAILS_TEMPLATES) else []
    spans += _code_between_marks(data) if not spans else []
    links += _bound_names(path.lower(), data)
    links += _settings_of_symfony(data) if _SYMFONY_FILE.search(path) else []
    for start, end in spans:
        for byte, name, verb in rails_links(data[start:end]):
            links.append((start + byte, RouteFact(MODULE_SCOPE, RouteForm.LINK, "", verb, name, "", -1, 0)))
    row, last, facts = 0, 0, list[RouteFact]()
    for byte, fact in sorted(links):
        row, last = row + data.count(b"\n", last, byte), byte
        facts.append(fact._replace(row=row))
    return tuple(facts)


_SYMFONY_FILE = lazy_regex(r"(?:^|/)config/(?:routes?|routing)(?:/[\w/.-]+)?\.ya?ml$")
_SYMFONY_BLOCK = lazy_regex(
    rb"^[\w'\".-]+:[ \t]*(?:#[^\n]*)?\n(?P<rest>(?:[ \t]+[^\n]*\n|(?:#[^\n]*)?\n)++)", re.MULTILINE
)
_SYMFONY_SAID = lazy_regex(
    rb"^[ \t]+(?P<key>resource|prefix|path|methods?|_?controller):[ \t]*(?P<value>[^\n#]*)"
    rb"|[{,][ \t]*(?P<inner>path|_controller):[ \t]*(?P<held>[^,}\n]*)",
    re.MULTILINE,
)


def _settings_of_symfony(data: bytes) -> Iterator[tuple[int, RouteFact]]:
    """Yield the routes that a file of settings of Symfony has, and the prefixes of the classes in a folder."""
    for block in _SYMFONY_BLOCK.finditer(data + b"\n"):
        said: dict[str, str] = {}
        for each in _SYMFONY_SAID.finditer(block["rest"]):
            key, value = (each["key"], each["value"]) if each["key"] else (each["inner"], each["held"])
            text = value.decode("utf-8", "replace").strip().strip("'\"")
            said.setdefault(key.decode().lstrip("_"), text)
        resource = said.get("resource", "")
        if "resource" in said:
            resource = resource if resource[:1] not in ("", "{") else said.get("path", "")
            folder, prefix = resource.partition("*")[0].rstrip("/"), said.get("prefix", "")
            if folder and folder[0] != "@" and "%" not in folder and prefix[:1] != "{":
                fact = RouteFact(MODULE_SCOPE, RouteForm.MOUNT, "", "", prefix, f"types:{folder}", -1, 0)
                yield block.start(), fact
        elif said.get("path") and "\\" in said.get("controller", ""):
            type_, _, method = said["controller"].partition("::")
            handler = f"{type_.strip(chr(92)).replace(chr(92), '.')}#{method or '__invoke'}"
            for verb in re.findall(r"[A-Z]+", said.get("methods", said.get("method", "")).upper()) or [ANY]:
                fact = RouteFact(MODULE_SCOPE, RouteForm.ROUTE, "", verb, said["path"], handler, -1, 0)
                yield block.start(), fact


def _bound_names(path: str, data: bytes) -> Iterator[tuple[int, RouteFact]]:
    """Yield the byte and fact of what a text that is no code names of the code; rows are not set."""
    if path.endswith(".tscn"):
        for match in _CONNECTION.finditer(data):
            said = dict(_QUOTED.findall(match["rest"]))
            if b"method" in said and b"to" in said:
                yield match.start(), _make_name(SCENE, said[b"method"], said[b"to"])
    elif path.endswith((".xaml", ".axaml")):
        yield from _page_names(data)
    elif path.endswith(".heex"):
        for match in _LIVE_EVENT.finditer(data):
            yield match.start(), _make_name(LIVE, match["name"] or match["pushed"])
    else:
        for byte, name in _actions(data):
            yield byte, _make_name(ACTION, name)
    if path.endswith((".erb", *RAILS_TEMPLATES)):
        is_short = path.endswith(RAILS_TEMPLATES)
        spans = [each.span("code") for each in _SHORT.finditer(data)] if is_short else _code_between_marks(data)
        stem = path.rpartition("/")[2].partition(".")[0].lstrip("_").encode()
        seen = _KEYWORDS | {
            stem,
            *(name for bound in _BOUND_IN_BLOCK.findall(data) for each in bound for name in each.split(b", ")),
        }
        n_kept = len(seen) + _MAX_HELPERS
        for start, end in spans:
            for word in _WORDS_OF_CODE.finditer(data, start, end):
                name = word["word"]
                if name is None or name in seen or len(seen) >= n_kept:
                    continue
                if b"_" in name or _GIVEN.match(data, word.end()):  # else it is rather a variable
                    seen |= {name}
                    yield word.start(), _make_name(HELPER, name)


def _make_name(kind: str, name: bytes, receiver: bytes = b"") -> RouteFact:
    said = receiver.decode("utf-8", "replace")
    return RouteFact(MODULE_SCOPE, RouteForm.EMIT, said, "", name.decode("utf-8", "replace"), "", -1, 0, kind)


def _actions(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the byte and the name of each action of Stimulus, `menu#open`, and of each controller, `menu#`."""
    for word, pattern in _ACTIONS if (b"#" in data and b"action" in data) or b"data-controller" in data else ():
        for match in pattern.finditer(data) if word in data else ():
            for name in match["name"].split():
                yield match.start(), name if b"#" in name else name + b"#"


def _page_names(data: bytes) -> Iterator[tuple[int, RouteFact]]:
    """Yield what a page in XAML names: handlers of the type behind it, and members of the data that it shows."""
    own, types, seen, before = b"", [b""], set[tuple[bytes, bytes]](), b""
    for tag in _TAG.finditer(data):
        if tag["name"] is None:
            continue
        if tag["close"]:
            if len(types) > 1:
                types.pop()
            continue
        shown = types[-1]
        attributes = [
            (each["name"], each["value"] or each["other"] or b"", each.start())
            for each in _ATTRIBUTE.finditer(tag["rest"])
        ]
        for name, value, _ in attributes:
            if name == b"x:Class":
                own = value.rpartition(b".")[2]
            elif said := _SHOWN.get(name, _NOTHING).fullmatch(value):
                shown = said[1]
        if not tag["alone"]:
            types.append(shown)
        elif types[-1] == b"" and before.endswith(b".DataContext"):
            types[:] = [tag["name"].rpartition(b":")[2]] * len(types)  # `<Page.DataContext><vm:Shop/>`
        before = tag["name"]
        for name, value, at in attributes:
            above, bound = _BOUND_ABOVE.search(value), _BOUND.match(value)
            if above is not None:
                receiver, path = above["type"], above["path"]
            elif bound is not None and not any(word in value for word in _ELSEWHERE):
                receiver, path = own + b"|" if bound["form"] == b"x:Bind" else shown or own + b"?", bound["path"]
            elif value[:1].isalpha() and _METHOD.fullmatch(value) and _EVENT.fullmatch(name):
                receiver, path = own + b"|", value
            else:
                continue
            if receiver not in (b"|", b"?") and (receiver, path) not in seen:
                seen.add((receiver, path))
                yield tag.start("rest") + at, _make_name(PAGE, path, receiver)


_INVOKED = lazy_regex(
    rb"\binvoke(?:<[^()\n]{0,120}>)?\(\s*[\"'`](?P<name>[\w|:-]+)[\"'`]|\bipcRenderer\.(?:invoke|send|sendSync)\(\s*[\"'`](?P<sent>[\w:./-]+)[\"'`]|\bwebContents\.send\(\s*[\"'`](?P<shown>[\w:./-]+)[\"'`]"
)
_COMMANDS = lazy_regex(rb"#\[(?:\w+::)*command\b")


def read_process_calls(source: RouteText) -> Iterator[tuple[int, RouteFact]]:
    """Yield what a page asks of the process that shows it by a name, with Tauri and Electron."""
    if any(word in source.data for word in (b"invoke(", b"invoke<", b"ipcRenderer", b"webContents")):
        for match in source.matches(_INVOKED):
            name = (match["name"] or match["sent"] or match["shown"]).decode()
            kind = PROCESS if not match["shown"] else f"{PROCESS}:page"
            yield route_at(source, match.start(), RouteForm.EMIT, path=name.rpartition("|")[2], name=kind)


def read_commands(source: RouteText) -> Iterator[tuple[int, RouteFact]]:
    """Yield the functions that a page may ask for, of Tauri."""
    for match in source.matches(_COMMANDS) if b"command" in source.data else ():
        owner = source.scope(match.start())
        if owner >= 0 and source.definitions[owner].kind in CALLABLE_KINDS:
            name = source.definitions[owner].name
            yield route_at(source, match.start(), RouteForm.LISTEN, path=name, definition=owner, name=PROCESS)


_DESCRIBED = lazy_regex(
    rb"(?<![\w$])(?P<name>(?:cy|axios|\$|jQuery|wx|uni|this\.\$?(?:http|axios))\.(?:request|ajax)|axios|request|\$http|service)"
    rb"(?:<[^()<>\n]{0,80}>)?\(\s*(?=\{)"
)
_DESCRIBED_PATH = lazy_regex(r"""\burl\s*:\s*(?P<text>"[^"\n]*"|'[^'\n]*'|`[^`]*`)(?P<more>\s*\+)?""")
_NESTED = lazy_regex(r"(?<!\$)\{[^{}]*\}")
_DESCRIBED_METHOD = lazy_regex(r"""\b(?:method|type)\s*:\s*["'`](?P<verb>[A-Za-z]{3,7})["'`]""")


def read_described_requests(source: RouteText) -> Iterator[tuple[int, RouteFact]]:
    """Yield the requests whose method and path an object says: `axios({ method: "post", url: "/users" })`."""
    for match in source.matches(_DESCRIBED, "name") if b"url" in source.data else ():
        arguments = source.arguments(match.end())[0]
        options = _NESTED.sub("", arguments[0].text[1:-1]) if arguments else ""
        said = _DESCRIBED_PATH.search(options)
        path = requested_path((source.literal(said["text"]) or "") + "{}" * bool(said["more"])) if said else ""
        if path:
            method = _DESCRIBED_METHOD.search(options)
            verb = method["verb"] if method else "get"
            yield route_at(source, match.start(), RouteForm.REQUEST, method=verb, path=path)


def read_live_events(source: RouteText) -> Iterator[tuple[int, RouteFact]]:
    """Yield the events of pages of Phoenix and the messages of servers, and what handles them."""
    data = source.data
    for match in _LIVE_EVENT.finditer(data) if b"phx-" in data or b"JS.push" in data else ():
        name = (match["name"] or match["pushed"]).decode()
        yield route_at(source, match.start(), RouteForm.EMIT, path=name, name=LIVE)
    for match in source.matches(_LIVE_HANDLER) if b"handle_event" in data else ():
        scope = source.scope(match.start())
        if scope >= 0 and source.definitions[scope].name == "handle_event":
            name = match["name"].decode("utf-8", "replace")
            yield route_at(source, match.start(), RouteForm.LISTEN, path=name, definition=scope, name=LIVE)
    if b"GenServer" in data:
        yield from _read_server_messages(source)


def _read_server_messages(source: RouteText) -> Iterator[tuple[int, RouteFact]]:
    """Yield the messages that functions send to a server of OTP, by their tags, and the callbacks that handle them.

    Messages that a process sends without a call count only if it sends them to itself.
    """
    for match in source.matches(_SERVER_CALL):
        how = match["how"].decode() if match["how"] else "info"
        arguments = source.arguments(match.end())[0]
        position = 0 if match["piped"] else 1
        tag = _MESSAGE_TAG.match(arguments[position].text) if len(arguments) > position else None
        if tag is not None and (match["how"] or match["own"]):
            server = "" if match["piped"] else arguments[0].text
            receiver = server if _MODULE_NAME.fullmatch(server) else ""
            path = f"{how}:{tag[1]}"
            yield route_at(source, match.start(), RouteForm.EMIT, path=path, receiver=receiver, name=SERVER)
    for match in source.matches(_SERVER_HANDLER):
        scope = source.scope(match.start())
        how = match["how"].decode()
        if scope >= 0 and source.definitions[scope].name == f"handle_{how}":
            path = f"{how}:{match['tag'].decode()}"
            yield route_at(source, match.start(), RouteForm.LISTEN, path=path, definition=scope, name=SERVER)


def read_wired(source: RouteText) -> Iterator[tuple[int, RouteFact]]:
    """Yield the methods of components of Livewire that a template in PHP names."""
    for match in _WIRED.finditer(source.data) if b"wire" in source.data else ():
        name = (match["name"] or match["called"]).decode()
        yield route_at(source, match.start(), RouteForm.EMIT, path=name, scope=MODULE_SCOPE, name=WIRE)


def read_actions(source: RouteText) -> Iterator[tuple[int, RouteFact]]:
    """Yield the actions of Stimulus that helpers of templates name."""
    for byte, name in _actions(source.data):
        yield route_at(source, byte, RouteForm.EMIT, path=name.decode(), name=ACTION)
