"""Signals and events to which code connects functions: those of Qt and of C#.

In: the text of a file. Out: facts of what emits a signal or event and of what is connected to one. Those of Qt have the
type that has the signal, where the code says it. `graph.relations.message_handlers` joins them.
"""

from collections.abc import Iterator

from causalist._internal.lazy import lazy_regex
from causalist.model.facts import RouteFact, RouteForm
from causalist.parse.routes.searched_text import RouteText, route_at

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
